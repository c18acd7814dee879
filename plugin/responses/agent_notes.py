"""What a judge is shown of agents, in sentences: answers alone, transcripts, and what is left out of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from podium.responses.collection import Responses
from podium.responses.transcripts import AgentWork, Show
from podium.text import some

UNEVEN = 0.05
"""Difference of two models' shares of cut transcripts from which a note names them."""
Test = Callable[[AgentWork], bool]


@dataclass(frozen=True, slots=True)
class Share:
    """How many responses pass a test, in all and by model, each with the number that it was counted among."""

    by_model: dict[str, tuple[int, int]]

    @property
    def total(self) -> int:
        """The number in all."""
        return sum(passed for passed, _ in self.by_model.values())

    def __str__(self) -> str:
        return some([f"{name} {passed:,} of {number:,}" for name, (passed, number) in self.by_model.items()], most=10)


def share_of_transcripts(responses: Responses, show: Show, context: str) -> Iterator[str]:
    """Yield a sentence on how many responses are shown as transcripts, if any are; `context` says why these are shorter
    than asked."""
    whole, shown = sum(map(len, responses.texts.values())), _count_work(responses, lambda work: work.shown)
    if shown.total:
        share = f"{shown.total:,} of {whole:,} responses ({shown.total / whole:.0%})"
        limit = f"at most {show.tokens:,} tokens{context}"
        yield f"{share} are shown as transcripts of {limit}: {shown}; -T show=answer shows the last message alone"


def notes_on_work(responses: Responses) -> Iterator[str]:
    """Yield sentences on what the judge is not shown: all but the last message, or what is cut out of transcripts."""
    whole = sum(map(len, responses.texts.values()))
    hidden = _count_work(responses, lambda work: not work.shown and (work.calls > 0 or work.turns > 1))
    if hidden.total:
        calls = _count_work(responses, lambda work: not work.shown and work.calls > 0).total
        what = "tool calls" if calls == hidden.total else "tool calls or several turns" if calls else "several turns"
        yield (
            f"{hidden.total:,} of {whole:,} responses hold {what}, and the judge is shown only the last message "
            f"({hidden}); -T show=transcript shows all of it"
        )
    cut = _count_work(responses, lambda work: work.cut > 0, lambda work: work.shown)
    if cut.total:
        lost = sum(work.cut for own in responses.work.values() for work in own.values())
        shown = sum(number for _, number in cut.by_model.values())
        number = f"{cut.total:,} of {shown:,} transcripts are cut to fit ({cut})"
        yield f"{number}: {lost:,} characters are left out; -T transcript_tokens=N shows more"
    rates = sorted((passed / number, name) for name, (passed, number) in cut.by_model.items())
    if cut.total and rates[-1][0] - rates[0][0] >= UNEVEN:
        (low, least), (high, most) = rates[0], rates[-1]
        often = f"transcripts of {most} are cut more often ({high:.0%}) than those of {least} ({low:.0%})"
        yield f"{often}: the judge sees less of its work"
    if long := _count_work(responses, lambda work: not work.fits).total:
        yield f"{long:,} final answers are longer than a transcript may be, and shown whole"


def _count_work(responses: Responses, test: Test, among: Test | None = None) -> Share:
    """Count the responses that pass a test, among all with a text or those that pass another."""
    counts = {}
    for name, own in responses.work.items():
        number = len(responses.texts[name]) if among is None else sum(map(among, own.values()))
        if number:
            counts[name] = sum(map(test, own.values())), number
    return Share(counts)
