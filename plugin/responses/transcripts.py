"""Transcripts of agents: turns are written as plain text that fits a budget of tokens.

A transcript consists of pieces, such as `turn 1`, `call 1.1`, `result 1.1` and `answer`. A piece
begins with its name and a colon at the start of a line. Its further lines begin with `> `, so that
no text within a piece can begin another piece.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

from podium.errors import UsageError
from podium.scorers.prompt import ANSWER_NAME, CHARACTERS_PER_TOKEN, NEXT_LINE, escape_controls
from podium.scorers.reasoning import Policy, strip_reasoning
from podium.wording import quantity

Mode = Literal["answer", "transcript", "auto"]
"""What a judge is shown; see `Show.mode`."""
DEFAULT_BUDGET = 8_000
"""Default budget of a transcript, in tokens."""
SHORTEST_CUT_TEXT = 200
"""Smallest number of characters that a text keeps if it is cut, half of them at either end."""
LEFT_OUT = "left out"
"""Words with which a note on a cut begins, or the name of a piece that replaces turns ends."""
AS_RECORDED = "the log holds no more of them"
"""`AgentWork.limit` of transcripts in a tournament's log: no option can show more of them."""
OWN_CALL = re.compile(r"call [0-9]+\.[0-9]+")
"""The name of a call of the agent itself. Calls of sub-agents have more numbers: `call 1.2.1.1`."""
OWN_TURN = re.compile(r"(?:turns 1 to|turn|call|result|error) (?P<number>[0-9]+)")
"""The beginning of the name of a piece, with the number of the agent's turn, such as `call 1`."""
CUT_NOTE = re.compile(
    rf"^(?:turns 1 to [0-9]+ )?{LEFT_OUT}: (?P<characters>[0-9,]+) characters"
    r"(?:; tool calls: (?P<calls>[0-9,]+))?$",
    re.MULTILINE,
)
"""A line such as `left out: 1,200 characters`, or such as
`turns 1 to 3 left out: 1,200 characters; tool calls: 4`."""
NOTE_LENGTH = 80
"""Largest number of characters of a note. A text is not cut unless the cut is longer than this."""


class Call(NamedTuple):
    """A call of a tool.

    Attributes:
        id: the id by which a result names its call.
        name: the name of the tool.
        arguments: the arguments, as text.
        inner: the turns of a sub-agent, if the call started one.
    """

    id: str
    name: str
    arguments: str
    inner: Sequence["Turn"] = ()


class Turn(NamedTuple):
    """A message of the assistant, a tool, the user or the system.

    Attributes:
        role: who wrote the message.
        text: the text; in a message of a tool, it is the result or the error of a call.
        calls: tool calls of the assistant.
        call_id: in a message of a tool, the id of the call that it answers.
        failed: in a message of a tool, whether the text is an error.
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
        shown: whether a judge is shown the transcript, and not only the answer.
        cut: number of characters that are left out of the transcript.
        fits: whether the transcript fits its budget of tokens.
        limit: why the user cannot have more of the transcript shown; empty if an option allows it.
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
        turn: number of the turn that it belongs to.
        cut: number of characters that are left out.
        head: number of characters of `text` before the cut.
    """

    name: str
    text: str
    turn: int
    cut: int = 0
    head: int = 0

    @property
    def shown_text(self) -> str:
        """The piece as it is written in a transcript, with its name and a note on a cut."""
        parts = [self.text]
        if self.cut:
            parts = [self.text[: self.head], self.text[self.head :]]
        # The note stands between the two parts; a piece without a cut has one part and no note.
        note = f"\n{LEFT_OUT}: {quantity(self.cut, 'character')}{NEXT_LINE}"
        return f"{self.name}: " + note.join(part.replace("\n", NEXT_LINE) for part in parts)

    @property
    def cost(self) -> float:
        """Estimated number of tokens of `shown_text` and the end of its last line.

        The note on a cut counts as `NOTE_LENGTH` characters.
        """
        characters = len(self.name) + len(": \n") + len(self.text)
        characters += len(NEXT_LINE[1:]) * self.text.count("\n")
        if self.cut:
            characters += NOTE_LENGTH
        return characters / CHARACTERS_PER_TOKEN

    def shorten(self, length: int) -> "Piece":
        """Return the piece with `length` characters of its text, both ends kept and the middle cut.

        The piece is returned unchanged if the cut would have at most `NOTE_LENGTH` characters.
        """
        cut = len(self.text) - length
        if cut <= NOTE_LENGTH:
            return self
        head = (length + 1) // 2
        text = self.text[:head] + self.text[head + cut :]
        return self._replace(text=text, cut=cut, head=head)


@dataclass(frozen=True, slots=True)
class Show:
    """What a judge is shown of a model's work.

    Attributes:
        mode: the judge is shown the `answer`, or the `transcript`. With `auto`, it is shown the
            transcript if the model called tools, else the answer.
        tokens: budget of a transcript, in tokens.
        room: number of tokens in the judge's context for the responses and their instruction; None
            if unknown.
        responses: number of responses in a prompt.
        reasoning: whether reasoning is removed (`strip`) or shown (`keep`).
        limit: description of the judge's context, for `AgentWork.limit`; empty if the size of the
            context is only assumed.

    Raises:
        UsageError: the mode is unknown, or the budget is not a whole number of 1 or more.
    """

    mode: Mode = "answer"
    tokens: int = DEFAULT_BUDGET
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
        self, turns: Sequence[Turn], answer: str, other_characters: int
    ) -> tuple[str, AgentWork]:
        """Return the text that a judge is shown of a response, and what the model did for it.

        If no transcript is shown, the text is `answer`, unchanged. Otherwise, the text is the
        transcript, cut to `tokens`, or to the room in the judge's context if that is less.
        Reasoning is removed from the transcript if `reasoning` is `strip`.

        Args:
            turns: the messages after the instruction.
            answer: the final answer.
            other_characters: number of characters of the other texts in the prompt, such as the
                instruction.
        """
        calls = sum(len(turn.calls) for turn in turns)
        own_turns = [turn for turn in turns if turn.role == "assistant"]
        work = AgentWork(calls, len(own_turns))
        if not self.shows(turns):
            return answer, work
        if self.reasoning == "strip":
            turns = [_without_reasoning_of_turn(turn) for turn in turns]
            answer = strip_reasoning(answer)
        shown_turns = [*turns_until_answer(turns)]
        last_turn = shown_turns[-1] if shown_turns else None
        if last_turn and last_turn.role == "assistant":
            is_answer = last_turn.text.strip() == answer.strip()
            if is_answer:
                # The transcript ends with the answer, so the last turn does not repeat it.
                shown_turns[-1] = last_turn._replace(text="")
        budget = self.tokens
        limit = ""
        if self.room is not None:
            room = int((self.room - other_characters / CHARACTERS_PER_TOKEN) / self.responses)
            if room <= budget:
                budget = room
                limit = self.limit
        pieces, cut, fits = fit_pieces([*_pieces_of(shown_turns)], answer, budget)
        return render(pieces, answer), replace(work, shown=True, cut=cut, fits=fits, limit=limit)


def _without_reasoning_of_turn(turn: Turn) -> Turn:
    """Remove the reasoning from a turn of the assistant; return other turns unchanged."""
    return turn._replace(text=strip_reasoning(turn.text)) if turn.role == "assistant" else turn


ANSWER_ALONE = Show()
"""Shows only the answer."""


def turns_until_answer(turns: Sequence[Turn]) -> Sequence[Turn]:
    """Return the turns up to the final answer; all turns if there is no final answer.

    The final answer is the last turn of the assistant, provided that it has a text and no calls,
    and that no turn of a tool follows. Turns of the user or the system after the final answer are
    left out, since they are not work of the model.
    """
    for place in reversed(range(len(turns))):
        turn = turns[place]
        if turn.role == "tool":
            return turns
        if turn.role == "assistant":
            is_answer = turn.text.strip() and not turn.calls
            return turns[: place + 1] if is_answer else turns
    return turns


def _pieces_of(
    turns: Iterable[Turn], number_prefix: str = "", calling_turn: int | None = None
) -> Iterator[Piece]:
    """Yield the pieces of turns. Their names have the numbers of turn and call, as `result 1.2`.

    Only turns of the assistant are counted; a message of the user or the system gets the number of
    the next turn of the assistant. A message without a text makes no piece, except a result. A
    result whose call is unknown gets only the number of the turn. The pieces of a sub-agent follow
    its call, and are indented.

    Args:
        turns: the turns of the agent, or of a sub-agent.
        number_prefix: for a sub-agent, the number of its call and a dot (`1.2.`), with which the
            numbers of its pieces begin.
        calling_turn: for a sub-agent, the number of the agent's turn that called it.
    """
    number = 0
    number_of_call: dict[str, str] = {}
    for turn in turns:
        if turn.role == "assistant":
            number += 1
        outer_turn = calling_turn or max(number, 1)
        text = escape_controls(turn.text)
        if turn.role == "tool":
            kind = "error" if turn.failed else "result"
            call_number = number_of_call.get(turn.call_id or "", f"{number_prefix}{number}")
            yield Piece(f"{kind} {call_number}", text=text, turn=outer_turn)
        elif turn.text.strip() and turn.role == "assistant":
            yield Piece(f"turn {number_prefix}{number}", text=text, turn=outer_turn)
        elif turn.text.strip():
            yield Piece(f"{turn.role} {number_prefix}{number + 1}", text=text, turn=outer_turn)
        for k, call in enumerate(turn.calls, 1):
            call_number = f"{number_prefix}{number}.{k}"
            number_of_call[call.id] = call_number
            call_text = escape_controls(f"{call.name} {call.arguments}".rstrip())
            yield Piece(f"call {call_number}", text=call_text, turn=outer_turn)
            for piece in _pieces_of(call.inner, f"{call_number}.", outer_turn):
                yield piece._replace(text="  " + piece.text.replace("\n", "\n  "))


def fit_pieces(pieces: Sequence[Piece], answer: str, budget: int) -> tuple[list[Piece], int, bool]:
    """Cut pieces so that they and the answer fit a budget of tokens.

    First, the longest results and errors are cut in the middle, then all pieces turn by turn, the
    oldest turn first. If this is not enough, the oldest turns are left out and replaced by a note.
    The answer is never cut.

    Args:
        pieces: the pieces of a transcript, not cut yet.
        answer: the final answer, which counts in the budget.
        budget: largest number of tokens.

    Returns:
        The pieces, the number of characters left out, and whether pieces and answer fit.
    """
    cut_pieces = [*pieces]
    # `excess` is the number of tokens above the budget.
    cost_of_answer = Piece(ANSWER_NAME, answer, turn=0).cost
    excess = sum(piece.cost for piece in pieces) + cost_of_answer - budget
    if excess <= 0 or not pieces:
        return cut_pieces, 0, excess <= 0
    results = [k for k, piece in enumerate(pieces) if piece.name.startswith(("result", "error"))]
    places_of_turn: defaultdict[int, list[int]] = defaultdict(list)
    for k, piece in enumerate(pieces):
        places_of_turn[piece.turn].append(k)
    turns = [places_of_turn[turn] for turn in sorted(places_of_turn)]
    for places in (results, *turns):
        if excess <= 0:
            break
        costs = [cut_pieces[k].cost for k in places]
        longest = _longest_that_saves([pieces[k] for k in places], excess, costs)
        for k in places:
            shortened = pieces[k].shorten(min(longest, len(cut_pieces[k].text)))
            excess -= cut_pieces[k].cost - shortened.cost
            cut_pieces[k] = shortened
    if excess <= 0:
        return cut_pieces, sum(piece.cut for piece in cut_pieces), True
    last_left_out = 0
    characters = 0
    calls = 0
    excess += NOTE_LENGTH / CHARACTERS_PER_TOKEN
    for places in turns:
        if excess <= 0:
            break
        excess -= sum(cut_pieces[k].cost for k in places)
        last_left_out = pieces[places[0]].turn
        characters += sum(len(pieces[k].text) for k in places)
        names = [pieces[k].name for k in places]
        calls += sum(OWN_CALL.fullmatch(name) is not None for name in names)
    later = [piece for piece in cut_pieces if piece.turn > last_left_out]
    name = f"turns 1 to {last_left_out} {LEFT_OUT}"
    note = Piece(name, f"{quantity(characters, 'character')}; tool calls: {calls:,}", last_left_out)
    return [note, *later], characters + sum(piece.cut for piece in later), excess <= 0


def _longest_that_saves(pieces: Sequence[Piece], excess: float, costs: Sequence[float]) -> int:
    """Return the largest number of characters per piece that saves `excess` tokens.

    The result is `SHORTEST_CUT_TEXT` if even this number does not save enough.

    Args:
        pieces: the whole pieces, which will be cut in the middle.
        excess: number of tokens to save.
        costs: present numbers of tokens of the pieces, which may have been cut before.
    """

    def saves_too_little(length: int) -> bool:
        """Return whether cuts to this length save fewer tokens than `excess`."""
        saved = (
            cost - min(cost, piece.shorten(length).cost)
            for piece, cost in zip(pieces, costs, strict=True)
        )
        return excess > sum(saved)

    longest = max((len(piece.text) for piece in pieces), default=SHORTEST_CUT_TEXT)
    longer = range(SHORTEST_CUT_TEXT + 1, longest + 1)
    # The first of the longer lengths that saves too little; the result is the length before it.
    return SHORTEST_CUT_TEXT + bisect_left(longer, True, key=saves_too_little)


def render(pieces: Sequence[Piece], answer: str) -> str:
    """Return the text of a transcript: the pieces, then the final answer unless it is blank."""
    texts = [piece.shown_text for piece in pieces]
    if answer.strip():
        texts.append(Piece(ANSWER_NAME, escape_controls(answer), turn=0).shown_text)
    return "\n".join(texts)


def read_pieces(transcript: str) -> list[tuple[str, str]]:
    """Return the name, such as `result 1.2`, and the text of each piece of a transcript.

    The final answer is the last piece. A note on a cut is put in square brackets within its text.

    Args:
        transcript: a transcript that `render` wrote.
    """
    # A line without `> ` begins a piece. Notes on cuts have none, so they get it first.
    noted = re.sub(rf"\n({LEFT_OUT}: .*)", rf"{NEXT_LINE}[\1]", transcript)
    start_of_piece = rf"\n(?!{NEXT_LINE[1:]})"
    names_and_texts = []
    for piece in re.split(start_of_piece, noted):
        name, _, text = piece.partition(": ")
        if name:
            names_and_texts.append((name, text.replace(NEXT_LINE, "\n")))
    return names_and_texts


def write_pieces(pieces: Iterable[tuple[str, str]]) -> str:
    """Return the transcript of which `read_pieces` gave the pieces.

    Notes on cuts stay in square brackets, so that they are a part of the texts.
    """
    lines = []
    for name, text in pieces:
        further_lines_marked = text.replace("\n", NEXT_LINE)
        lines.append(f"{name}: {further_lines_marked}")
    return "\n".join(lines)


def plain_text(transcript: str) -> str:
    """Return a transcript that `render` wrote in a form for humans: each piece under its name."""
    return "\n\n".join(f"[{name}]\n{text}" for name, text in read_pieces(transcript))


def work_in(transcript: str) -> AgentWork:
    """Return what a model did, as a transcript that `render` wrote shows it.

    The notes on cuts say how many calls are left out; these are counted, too. Calls of sub-agents
    are not counted. The number of turns is the highest number in the names of pieces, so that a
    turn that has only the final answer is not counted. `shown` is True, and `fits` and `limit` have
    their defaults.
    """
    calls = 0
    characters_cut = 0
    for note in CUT_NOTE.finditer(transcript):
        characters_cut += _count_in_note(note["characters"])
        calls += _count_in_note(note["calls"] or "0")
    last_turn = 0
    for name, _ in read_pieces(transcript):
        if OWN_CALL.fullmatch(name):
            calls += 1
        turn = OWN_TURN.match(name)
        if turn:
            last_turn = max(last_turn, int(turn["number"]))
    return AgentWork(calls, last_turn, shown=True, cut=characters_cut)


def _count_in_note(text: str) -> int:
    """Return the number in a note as an int: 1200 for `1,200`."""
    return int(text.replace(",", ""))
