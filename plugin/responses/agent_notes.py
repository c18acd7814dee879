"""What a judge is shown of agents, in sentences: answers alone, transcripts, and what is left out of them."""

from collections.abc import Callable, Iterator

from podium.responses.collection import Responses
from podium.responses.transcripts import AgentWork, Show
from podium.text import some

UNEVEN = 0.05
"""Difference of two models' shares of cut transcripts from which a note names them."""
MORE = "-T transcript_tokens=N shows more"
Test = Callable[[AgentWork], bool]


def share_of_transcripts(responses: Responses, show: Show, context: str) -> Iterator[str]:
    """Yield a sentence on how many responses are shown as transcripts, if any are; `context` says why these are shorter
    than asked."""
    whole = sum(map(len, responses.texts.values()))
    shown, models, _ = _count_work(responses, lambda work: work.shown)
    if shown:
        limit = f"at most {show.tokens:,} tokens{context}"
        yield (
            f"{shown:,} of {whole:,} responses ({shown / whole:.0%}) are shown as transcripts of {limit}: {models}; "
            "-T show=answer shows the last message alone"
        )


def notes_on_work(responses: Responses) -> Iterator[str]:
    """Yield sentences on what the judge is not shown: all but the last message, or what is cut out of transcripts."""
    whole = sum(map(len, responses.texts.values()))
    hidden, models, _ = _count_work(responses, lambda work: not work.shown and (work.calls > 0 or work.turns > 1))
    if hidden:
        calls, _, _ = _count_work(responses, lambda work: not work.shown and work.calls > 0)
        what = "tool calls" if calls == hidden else "tool calls or several turns" if calls else "several turns"
        only = f"and the judge is shown only the last message ({models})"
        yield f"{hidden:,} of {whole:,} responses hold {what}, {only}; -T show=transcript shows all of it"
    shown, _, _ = _count_work(responses, lambda work: work.shown)
    cut, models, shares = _count_work(responses, lambda work: work.cut > 0, lambda work: work.shown)
    if cut:
        lost = sum(work.cut for own in responses.work.values() for work in own.values())
        remedies = {work.limit or MORE for own in responses.work.values() for work in own.values() if work.cut}
        number = f"{cut:,} of {shown:,} transcripts are cut to fit ({models}): {lost:,} characters are left out"
        yield "; ".join([number, *sorted(remedies)])
        (least, low), *_, (most, high) = sorted([*shares.items()] * 2, key=lambda share: share[1])
        if high - low >= UNEVEN:
            often = f"transcripts of {most} are cut more often ({high:.0%}) than those of {least} ({low:.0%})"
            yield f"{often}: the judge sees less of its work"
    if long := _count_work(responses, lambda work: not work.fits)[0]:
        yield f"{long:,} final answers are longer than a transcript may be, and shown whole"


def _count_work(responses: Responses, test: Test, among: Test | None = None) -> tuple[int, str, dict[str, float]]:
    """Count the responses that pass a test, among all with a text or those that pass another: in all, by model in
    words, and as a share by model."""
    counts = {}
    for name, own in responses.work.items():
        number = len(responses.texts[name]) if among is None else sum(map(among, own.values()))
        if number:
            counts[name] = sum(map(test, own.values())), number
    words = some([f"{name} {passed:,} of {number:,}" for name, (passed, number) in counts.items()], most=10)
    shares = {name: passed / number for name, (passed, number) in counts.items()}
    return sum(passed for passed, _ in counts.values()), words, shares
