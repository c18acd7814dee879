"""Transcripts of agents: typed turns in, plain text out, piece by piece, within a budget of tokens.

A piece begins with its name and a colon at the start of a line, and its further lines begin with `>
`: nothing in a piece can begin another."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

from podium.errors import UsageError
from podium.scorers.prompt import ANSWER, CHARACTERS_PER_TOKEN, NEXT_LINE, escape_controls
from podium.scorers.reasoning import Policy, strip_reasoning

Mode = Literal["answer", "transcript", "auto"]
TOKENS = 8_000
"""Budget of a transcript."""
SHORTEST = 200
"""Characters that a cut leaves of a text, half of them at either end."""
LEFT_OUT = "left out"
AS_RECORDED = "the log holds no more of them"
"""Why no option shows more of the transcripts in a tournament's log."""
CALL = re.compile(r"call [0-9]+\.[0-9]+")
"""The name of a call of the agent itself."""
OWN_TURN = re.compile(r"(?:turns 1 to|turn|call|result|error) ([0-9]+)")
"""The beginning of the name of a piece of the agent's turns."""
NOTE = re.compile(
    rf"^(?:turns 1 to [0-9]+ )?{LEFT_OUT}: ([0-9,]+) characters(?:; tool calls: ([0-9,]+))?$",
    re.MULTILINE,
)
"""The line that says how much of a piece, or of the oldest turns, is left out."""
NOTE_LENGTH = 80
"""Characters of the longest note."""


class Call(NamedTuple):
    """A tool that was called, with its arguments as text, and the turns of the sub-agent that it
    started."""

    id: str
    name: str
    arguments: str
    inner: Sequence["Turn"] = ()


class Turn(NamedTuple):
    """A message: of the assistant, with its calls; of a tool, the result or error of a call; of the
    user or system."""

    role: Literal["assistant", "tool", "user", "system"]
    text: str
    calls: tuple[Call, ...] = ()
    call_id: str | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class AgentWork:
    """What a model did for a response: tool calls and turns; whether the judge is shown them, and
    how many characters the response then lacks to fit its budget, if it does (`fits`); `limit` is
    why no option shows more, else empty."""

    calls: int
    turns: int
    shown: bool = False
    cut: int = 0
    fits: bool = True
    limit: str = ""


class Piece(NamedTuple):
    """A text of a transcript, the number of its turn, and the characters that are left out after
    `head`."""

    name: str
    text: str
    turn: int
    cut: int = 0
    head: int = 0

    @property
    def shown_text(self) -> str:
        """The piece as it stands in a transcript."""
        parts = [self.text[: self.head], self.text[self.head :]] if self.cut else [self.text]
        note = f"\n{LEFT_OUT}: {self.cut:,} characters{NEXT_LINE}"
        return f"{self.name}: " + note.join(part.replace("\n", NEXT_LINE) for part in parts)

    @property
    def cost(self) -> float:
        """Tokens of `shown_text` and the end of its last line, a cut with those of the longest
        note."""
        added = (
            len(": \n")
            + len(NEXT_LINE[1:]) * self.text.count("\n")
            + (NOTE_LENGTH if self.cut else 0)
        )
        return (len(self.name) + len(self.text) + added) / CHARACTERS_PER_TOKEN

    def shorten(self, most: int) -> "Piece":
        """Return the piece with at most `most` characters, cut in the middle."""
        lost, head = len(self.text) - most, (most + 1) // 2
        if lost <= NOTE_LENGTH:
            return self
        return self._replace(text=self.text[:head] + self.text[head + lost :], cut=lost, head=head)


@dataclass(frozen=True, slots=True)
class Show:
    """What of a model's work a judge is shown: the answer, the transcript, or the transcript where
    tools were called (`auto`). `room` is what two responses and their instruction may fill of the
    judge's context, None if unknown; `limit` says which context, unless it is only assumed."""

    mode: Mode = "answer"
    tokens: int = TOKENS
    room: int | None = None
    responses: int = 2
    reasoning: Policy = "strip"
    limit: str = ""

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise UsageError(
                f"show={self.mode}: there is no such choice; available: {', '.join(get_args(Mode))}"
            )
        if isinstance(self.tokens, bool) or not isinstance(self.tokens, int) or self.tokens < 1:
            raise UsageError(f"transcript_tokens={self.tokens}: give a whole number, 1 or more")

    def shows(self, turns: Sequence[Turn]) -> bool:
        """Return whether a judge is shown the transcript of these turns."""
        return self.mode == "transcript" or (
            self.mode == "auto" and any(turn.calls for turn in turns)
        )

    def build_response(
        self, turns: Sequence[Turn], answer: str, beside: int
    ) -> tuple[str, AgentWork]:
        """Return what a judge is shown of turns and answer beside so many characters of the item,
        and the work."""
        calls = sum(len(turn.calls) for turn in turns)
        work = AgentWork(calls, sum(turn.role == "assistant" for turn in turns))
        if not self.shows(turns):
            return answer, work
        if self.reasoning == "strip":
            said = {
                k: strip_reasoning(turn.text)
                for k, turn in enumerate(turns)
                if turn.role == "assistant"
            }
            turns = [turn._replace(text=said.get(k, turn.text)) for k, turn in enumerate(turns)]
            answer = strip_reasoning(answer)
        done = [*until_answer(turns)]
        if done and done[-1].role == "assistant" and done[-1].text.strip() == answer.strip():
            done[-1] = done[-1]._replace(text="")  # it stands at the end
        pieces = [*_pieces_of(done)]
        left, limit = self.tokens, ""
        room = (
            left
            if self.room is None
            else int((self.room - beside / CHARACTERS_PER_TOKEN) / self.responses)
        )
        if self.room is not None and room <= left:
            left, limit = room, self.limit
        kept, cut, fits = fit_pieces(pieces, answer, left)
        return render(kept, answer), replace(work, shown=True, cut=cut, fits=fits, limit=limit)


ANSWER_ALONE = Show()


def until_answer(turns: Sequence[Turn]) -> Sequence[Turn]:
    """Return the turns until the final answer, a last text of the assistant without calls: what
    others say after it is no work of the model."""
    last = max(
        (k for k, turn in enumerate(turns) if turn.role in ("assistant", "tool")), default=-1
    )
    is_answer = (
        last >= 0
        and turns[last].role == "assistant"
        and turns[last].text.strip()
        and not turns[last].calls
    )
    return turns[: last + 1] if is_answer else turns


def _pieces_of(
    turns: Iterable[Turn], outer: str = "", within: int | None = None
) -> Iterator[Piece]:
    """Yield the texts of turns, named by the numbers of turn and call; those of a sub-agent,
    indented, belong to the turn `within` and are numbered after `outer`, the numbers of their
    call."""
    number, numbers = 0, dict[str, str]()
    for turn in turns:
        number += turn.role == "assistant"
        own = within or max(number, 1)
        if turn.role == "tool":
            kind = "error" if turn.failed else "result"
            place = numbers.get(turn.call_id or "", f"{outer}{number}")
            yield Piece(f"{kind} {place}", escape_controls(turn.text), own)
        elif turn.text.strip():
            said = (
                f"turn {outer}{number}"
                if turn.role == "assistant"
                else f"{turn.role} {outer}{number + 1}"
            )
            yield Piece(said, escape_controls(turn.text), own)
        for k, call in enumerate(turn.calls, 1):
            numbers[call.id] = f"{outer}{number}.{k}"
            yield Piece(
                f"call {numbers[call.id]}",
                escape_controls(f"{call.name} {call.arguments}".rstrip()),
                own,
            )
            for piece in _pieces_of(call.inner, f"{numbers[call.id]}.", own):
                yield piece._replace(text="  " + piece.text.replace("\n", "\n  "))


def fit_pieces(pieces: Sequence[Piece], answer: str, budget: int) -> tuple[list[Piece], int, bool]:
    """Cut pieces to fit a budget of tokens beside the answer; return them, the characters left out
    and whether they fit. The longest results are cut in the middle first, then the oldest turns,
    which are left out at last."""
    kept, excess = (
        [*pieces],
        sum(piece.cost for piece in pieces) + Piece(ANSWER, answer, 0).cost - budget,
    )
    if excess <= 0 or not pieces:
        return kept, 0, excess <= 0
    results = [k for k, piece in enumerate(pieces) if piece.name.startswith(("result", "error"))]
    turns = [
        [k for k, piece in enumerate(pieces) if piece.turn == turn]
        for turn in sorted({p.turn for p in pieces})
    ]
    for group in (results, *turns):
        if excess > 0:
            most = _longest_that_saves(
                [pieces[k] for k in group], excess, [kept[k].cost for k in group]
            )
            for k in group:
                short = pieces[k].shorten(min(most, len(kept[k].text)))
                excess -= kept[k].cost - short.cost
                kept[k] = short
    if excess <= 0:
        return kept, sum(piece.cut for piece in kept), True
    gone, lost, calls = 0, 0, 0
    excess += NOTE_LENGTH / CHARACTERS_PER_TOKEN
    for group in turns:
        if excess > 0:
            excess -= sum(kept[k].cost for k in group)
            lost, gone = lost + sum(len(pieces[k].text) for k in group), pieces[group[0]].turn
            calls += sum(CALL.fullmatch(pieces[k].name) is not None for k in group)
    kept = [piece for piece in kept if piece.turn > gone]
    note = Piece(
        f"turns 1 to {gone} {LEFT_OUT}", f"{lost:,} characters; tool calls: {calls:,}", gone
    )
    return [note, *kept], lost + sum(piece.cut for piece in kept), excess <= 0


def _longest_that_saves(pieces: Sequence[Piece], excess: float, costs: Sequence[float]) -> int:
    """Return the largest number of characters to which pieces are cut that saves `excess` tokens;
    at least SHORTEST."""

    def saves_too_little(most: int) -> bool:
        return excess > sum(
            cost - min(cost, own.shorten(most).cost)
            for own, cost in zip(pieces, costs, strict=True)
        )

    longer = range(SHORTEST + 1, max((len(piece.text) for piece in pieces), default=SHORTEST) + 1)
    return SHORTEST + bisect_left(longer, True, key=saves_too_little)


def render(pieces: Sequence[Piece], answer: str) -> str:
    """Write pieces and the final answer; an answer without text is left out."""
    whole = [*pieces, *([Piece(ANSWER, escape_controls(answer), 0)] if answer.strip() else [])]
    return "\n".join(piece.shown_text for piece in whole)


def read_pieces(transcript: str) -> list[tuple[str, str]]:
    """Return name (`result 1.2`) and text of each piece of a transcript that `render` wrote."""
    noted = re.sub(rf"\n({LEFT_OUT}: .*)", rf"{NEXT_LINE}[\1]", transcript)
    parts = [piece.partition(": ") for piece in re.split(rf"\n(?!{NEXT_LINE[1:]})", noted)]
    return [(name, text.replace(NEXT_LINE, "\n")) for name, _, text in parts if name]


def plain_text(transcript: str) -> str:
    """Return a transcript that `render` wrote as humans read it: each piece under its name."""
    return "\n\n".join(f"[{name}]\n{text}" for name, text in read_pieces(transcript))


def work_in(transcript: str) -> AgentWork:
    """Return what a model did by the transcript that `render` wrote; the turn of the answer does
    not count."""
    cuts = [
        [int(number.replace(",", "") or 0) for number in numbers]
        for numbers in NOTE.findall(transcript)
    ]
    names = [name for name, _ in read_pieces(transcript)]
    calls = sum(CALL.fullmatch(name) is not None for name in names) + sum(gone for _, gone in cuts)
    turns = [int(own[1]) for name in names if (own := OWN_TURN.match(name))]
    return AgentWork(calls, max(turns, default=0), True, sum(lost for lost, _ in cuts))
