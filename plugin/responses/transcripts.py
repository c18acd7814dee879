"""Transcripts of agents: typed turns in, plain text out, within a budget of tokens.

A piece of the text begins with its name and a colon at the start of a line. Its further lines
begin with `> `, so that nothing in a piece can begin another.
"""

import re
from bisect import bisect_left
from collections import defaultdict
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
    """A tool that was called, with its arguments as text, and a sub-agent's turns."""

    id: str
    name: str
    arguments: str
    inner: Sequence["Turn"] = ()


class Turn(NamedTuple):
    """A message of the assistant, a tool, the user or the system.

    Attributes:
        role: who wrote it.
        text: its text; of a tool, the result or error of a call.
        calls: tool calls of the assistant.
        call_id: of a tool, the id of the call that it answers.
        failed: of a tool, whether the text is an error.
    """

    role: Literal["assistant", "tool", "user", "system"]
    text: str
    calls: tuple[Call, ...] = ()
    call_id: str | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class AgentWork:
    """What a model did for a response.

    Attributes:
        calls: number of tool calls.
        turns: number of turns of the assistant.
        shown: whether a judge is shown the transcript.
        cut: characters that are left out of the transcript.
        fits: whether the transcript fits its budget of tokens.
        limit: why no option shows more; empty if one does.
    """

    calls: int
    turns: int
    shown: bool = False
    cut: int = 0
    fits: bool = True
    limit: str = ""


class Piece(NamedTuple):
    """A text of a transcript.

    Attributes:
        name: what the text is, such as `result 1.2`.
        text: the text, without what is left out.
        turn: number of its turn.
        cut: number of characters that are left out.
        head: number of characters before those left out.
    """

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
        """Tokens of `shown_text` and the end of its last line.

        A cut counts as the longest note on it.
        """
        characters = len(self.name) + len(": \n") + len(self.text)
        characters += len(NEXT_LINE[1:]) * self.text.count("\n")
        if self.cut:
            characters += NOTE_LENGTH
        return characters / CHARACTERS_PER_TOKEN

    def shorten(self, most: int) -> "Piece":
        """Return the piece with at most `most` characters, cut in the middle."""
        cut = len(self.text) - most
        if cut <= NOTE_LENGTH:
            return self
        head = (most + 1) // 2
        return self._replace(text=self.text[:head] + self.text[head + cut :], cut=cut, head=head)


@dataclass(frozen=True, slots=True)
class Show:
    """What of a model's work a judge is shown.

    Attributes:
        mode: the `answer`, the `transcript`, or the transcript where tools were called (`auto`).
        tokens: budget of a transcript.
        room: tokens that the responses and their instruction may fill of the judge's context; None
            if unknown.
        responses: number of responses in a prompt.
        reasoning: whether reasoning is removed (`strip`) or shown (`keep`).
        limit: the context that `room` is of, in words; empty if it is only assumed.

    Raises:
        UsageError: the mode is unknown, or the budget is not a whole number of 1 or more.
    """

    mode: Mode = "answer"
    tokens: int = TOKENS
    room: int | None = None
    responses: int = 2
    reasoning: Policy = "strip"
    limit: str = ""

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            modes = ", ".join(get_args(Mode))
            raise UsageError(f"show={self.mode}: there is no such choice; available: {modes}")
        if isinstance(self.tokens, bool) or not isinstance(self.tokens, int) or self.tokens < 1:
            raise UsageError(f"transcript_tokens={self.tokens}: give a whole number, 1 or more")

    def shows(self, turns: Sequence[Turn]) -> bool:
        """Return whether a judge is shown the transcript of these turns."""
        if self.mode == "auto":
            return any(turn.calls for turn in turns)
        return self.mode == "transcript"

    def build_response(
        self, turns: Sequence[Turn], answer: str, beside: int
    ) -> tuple[str, AgentWork]:
        """Return what a judge is shown of a response, and what the model did for it.

        Args:
            turns: the messages after the instruction.
            answer: the final answer.
            beside: characters of the instruction and what goes with it.
        """
        calls = sum(len(turn.calls) for turn in turns)
        work = AgentWork(calls, sum(turn.role == "assistant" for turn in turns))
        if not self.shows(turns):
            return answer, work
        if self.reasoning == "strip":
            turns = [_without_reasoning_of_turn(turn) for turn in turns]
            answer = strip_reasoning(answer)
        shown = [*until_answer(turns)]
        if shown and shown[-1].role == "assistant" and shown[-1].text.strip() == answer.strip():
            shown[-1] = shown[-1]._replace(text="")  # it stands at the end
        budget = self.tokens
        limit = ""
        if self.room is not None:
            room = int((self.room - beside / CHARACTERS_PER_TOKEN) / self.responses)
            if room <= budget:
                budget = room
                limit = self.limit
        pieces, cut, fits = fit_pieces([*_pieces_of(shown)], answer, budget)
        return render(pieces, answer), replace(work, shown=True, cut=cut, fits=fits, limit=limit)


def _without_reasoning_of_turn(turn: Turn) -> Turn:
    """Return a turn; one of the assistant without its reasoning."""
    return turn._replace(text=strip_reasoning(turn.text)) if turn.role == "assistant" else turn


ANSWER_ALONE = Show()


def until_answer(turns: Sequence[Turn]) -> Sequence[Turn]:
    """Return the turns until the final answer, a last text of the assistant without calls.

    What others say after it is no work of the model. Without a final answer, these are all turns.
    """
    for k in reversed(range(len(turns))):
        turn = turns[k]
        if turn.role == "tool":
            return turns
        if turn.role == "assistant":
            is_answer = turn.text.strip() and not turn.calls
            return turns[: k + 1] if is_answer else turns
    return turns


def _pieces_of(
    turns: Iterable[Turn], outer: str = "", within: int | None = None
) -> Iterator[Piece]:
    """Yield the texts of turns, named by the numbers of turn and call.

    Texts of a sub-agent are indented.

    Args:
        turns: the turns.
        outer: of a sub-agent, the number of its call and a dot, with which its numbers begin.
        within: of a sub-agent, the turn of its call, to which its texts belong.
    """
    number = 0
    number_of_call: dict[str, str] = {}
    for turn in turns:
        if turn.role == "assistant":
            number += 1
        outer_turn = within or max(number, 1)
        text = escape_controls(turn.text)
        if turn.role == "tool":
            kind = "error" if turn.failed else "result"
            call_number = number_of_call.get(turn.call_id or "", f"{outer}{number}")
            yield Piece(f"{kind} {call_number}", text, outer_turn)
        elif turn.text.strip() and turn.role == "assistant":
            yield Piece(f"turn {outer}{number}", text, outer_turn)
        elif turn.text.strip():
            yield Piece(f"{turn.role} {outer}{number + 1}", text, outer_turn)
        for k, call in enumerate(turn.calls, 1):
            call_number = f"{outer}{number}.{k}"
            number_of_call[call.id] = call_number
            text_of_call = escape_controls(f"{call.name} {call.arguments}".rstrip())
            yield Piece(f"call {call_number}", text_of_call, outer_turn)
            for piece in _pieces_of(call.inner, f"{call_number}.", outer_turn):
                yield piece._replace(text="  " + piece.text.replace("\n", "\n  "))


def fit_pieces(pieces: Sequence[Piece], answer: str, budget: int) -> tuple[list[Piece], int, bool]:
    """Cut pieces to fit a budget of tokens beside the answer.

    The longest results are cut in the middle first, then the oldest turns. At last the oldest
    turns are left out, with a note.

    Returns:
        The pieces, the number of characters left out, and whether they fit.
    """
    kept = [*pieces]
    excess = sum(piece.cost for piece in pieces) + Piece(ANSWER, answer, 0).cost - budget
    if excess <= 0 or not pieces:
        return kept, 0, excess <= 0
    results = [k for k, piece in enumerate(pieces) if piece.name.startswith(("result", "error"))]
    places_of_turn: defaultdict[int, list[int]] = defaultdict(list)
    for k, piece in enumerate(pieces):
        places_of_turn[piece.turn].append(k)
    turns = [places_of_turn[turn] for turn in sorted(places_of_turn)]
    for group in (results, *turns):
        if excess <= 0:
            break
        costs = [kept[k].cost for k in group]
        longest = _longest_that_saves([pieces[k] for k in group], excess, costs)
        for k in group:
            short = pieces[k].shorten(min(longest, len(kept[k].text)))
            excess -= kept[k].cost - short.cost
            kept[k] = short
    if excess <= 0:
        return kept, sum(piece.cut for piece in kept), True
    last_left_out = 0
    characters = 0
    calls = 0
    excess += NOTE_LENGTH / CHARACTERS_PER_TOKEN
    for group in turns:
        if excess <= 0:
            break
        excess -= sum(kept[k].cost for k in group)
        last_left_out = pieces[group[0]].turn
        characters += sum(len(pieces[k].text) for k in group)
        calls += sum(CALL.fullmatch(pieces[k].name) is not None for k in group)
    later = [piece for piece in kept if piece.turn > last_left_out]
    name = f"turns 1 to {last_left_out} {LEFT_OUT}"
    note = Piece(name, f"{characters:,} characters; tool calls: {calls:,}", last_left_out)
    return [note, *later], characters + sum(piece.cut for piece in later), excess <= 0


def _longest_that_saves(pieces: Sequence[Piece], excess: float, costs: Sequence[float]) -> int:
    """Return the largest number of characters per piece that saves `excess` tokens.

    It is SHORTEST if no number saves so much.

    Args:
        pieces: the whole pieces, which are cut in the middle.
        excess: the tokens to save.
        costs: the tokens of the pieces now.
    """

    def saves_too_little(most: int) -> bool:
        saved = (
            cost - min(cost, piece.shorten(most).cost)
            for piece, cost in zip(pieces, costs, strict=True)
        )
        return excess > sum(saved)

    longer = range(SHORTEST + 1, max((len(piece.text) for piece in pieces), default=SHORTEST) + 1)
    return SHORTEST + bisect_left(longer, True, key=saves_too_little)


def render(pieces: Sequence[Piece], answer: str) -> str:
    """Write pieces and the final answer; an answer without text is left out."""
    texts = [piece.shown_text for piece in pieces]
    if answer.strip():
        texts.append(Piece(ANSWER, escape_controls(answer), 0).shown_text)
    return "\n".join(texts)


def read_pieces(transcript: str) -> list[tuple[str, str]]:
    """Return name (`result 1.2`) and text of each piece of a transcript that `render` wrote."""
    noted = re.sub(rf"\n({LEFT_OUT}: .*)", rf"{NEXT_LINE}[\1]", transcript)
    parts = [piece.partition(": ") for piece in re.split(rf"\n(?!{NEXT_LINE[1:]})", noted)]
    return [(name, text.replace(NEXT_LINE, "\n")) for name, _, text in parts if name]


def plain_text(transcript: str) -> str:
    """Return a transcript that `render` wrote as humans read it: each piece under its name."""
    return "\n\n".join(f"[{name}]\n{text}" for name, text in read_pieces(transcript))


def work_in(transcript: str) -> AgentWork:
    """Return what a model did by the transcript that `render` wrote.

    The turn of the answer does not count.
    """
    calls = 0
    characters_cut = 0
    for characters, calls_left_out in NOTE.findall(transcript):
        characters_cut += _count_in_note(characters)
        calls += _count_in_note(calls_left_out)
    last_turn = 0
    for name, _ in read_pieces(transcript):
        calls += CALL.fullmatch(name) is not None
        turn = OWN_TURN.match(name)
        if turn:
            last_turn = max(last_turn, int(turn[1]))
    return AgentWork(calls, last_turn, shown=True, cut=characters_cut)


def _count_in_note(text: str) -> int:
    """Return a number of a note, which has commas; 0 for an empty text."""
    return int(text.replace(",", "") or 0)
