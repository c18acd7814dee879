"""Questions and answers of many files into one collection: what belongs together must agree."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from podium.errors import DataError, UsageError
from podium.responses.answers import ABSENT, Answer, Question, normal
from podium.responses.collection import Item, Responses
from podium.text import some

AGREE = ("instruction", "reference", "system", "category")
"""What all rows about one item must say alike, where they say it."""


def assembled(answers: Sequence[Answer], questions: Sequence[Question]) -> Responses:
    """Put answers together, by item and entrant; questions fill in what the answers' files do not say.

    Questions that nobody answered are left out, with a note.

    Raises:
        DataError: two responses of one entrant to one item, rows of one item that contradict each other, or an
            item without instruction.
    """
    cells = _by_entrant(answers)
    answered = {one.question.item for one in answers}
    asked = _by_item([*questions, *_in_order(answers)])
    items = tuple(_item(rows) for item, rows in asked.items() if item in answered)
    silent = [item for item in asked if item not in answered]
    notes = [f"{len(silent)} questions that nobody answered were left out: {some(silent, most=5)}"] if silent else []
    notes += _renderings(asked)
    return Responses(
        items=items,
        texts={name: {item: one.text for item, one in row.items() if one.text is not None} for name, row in cells},
        missing={name: _missing(row, items) for name, row in cells},
        notes=tuple(notes),
    )


def _in_order(answers: Iterable[Answer]) -> list[Question]:
    """Return the questions of the first entrant by name, then what others add: the order of sources is no matter."""
    return [one.question for one in sorted(answers, key=lambda one: one.entrant)]


def _by_entrant(answers: Sequence[Answer]) -> list[tuple[str, dict[str, Answer]]]:
    cells: dict[str, dict[str, Answer]] = {}
    for one in answers:
        row = cells.setdefault(one.entrant, {})
        if one.question.item in row:
            raise _twice(row[one.question.item], one)
        row[one.question.item] = one
    return sorted(cells.items())


def _twice(first: Answer, second: Answer) -> DataError:
    return second.question.error(
        f"a second response of {second.entrant!r} to item {second.question.item!r}; "
        f"the first is in {first.question.place}",
        "keep one of the two, or tell the entrants apart with labels: one=path other=path",
    )


def _by_item(questions: Iterable[Question]) -> dict[str, list[Question]]:
    asked: dict[str, list[Question]] = {}
    for one in questions:
        asked.setdefault(one.item, []).append(one)
    return asked


def _item(rows: Sequence[Question]) -> Item:
    """Return the item that all its rows describe."""
    fixed = [one for one in rows if not one.rendered]
    said = {name: _agreed(name, rows if name in ("reference", "category") else fixed) for name in AGREE}
    rendered = _shortest([one for one in rows if one.rendered])
    if said["instruction"] is None and rendered is not None:
        said |= {"instruction": rendered.instruction, "system": said["system"] or rendered.system}
    instruction = said.pop("instruction")
    if instruction is None or not instruction.strip():
        raise rows[0].error(
            f"item {rows[0].item!r} has no instruction",
            "give the questions too: a file with a row per item that holds its id and its instruction",
        )
    return Item(rows[0].item, instruction, **said)


def _agreed(name: str, rows: Sequence[Question]) -> str | None:
    """Return what all rows say that say anything.

    Raises:
        DataError: two of them differ.
    """
    first: Question | None = None
    for one in rows:
        value = getattr(one, name)
        if value is None:
            continue
        if first is None:
            first = one
        elif normal(getattr(first, name)) != normal(value):
            raise one.error(
                f"item {one.item!r} has another {name} here ({_start(value)}) than in {first.place} "
                f"({_start(getattr(first, name))})",
                "responses can be compared only where entrants were asked the same: rename the ids, or give the "
                "right file",
            )
    return None if first is None else getattr(first, name)


def _start(text: str) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else f"{line[:57]}...")


def _shortest(rows: Sequence[Question]) -> Question | None:
    """Return the rendering nearest to the bare question; which one does not depend on the order of files."""
    told = [one for one in rows if one.instruction is not None]
    return min(told, key=lambda one: (len(one.instruction or ""), one.instruction, one.system or ""), default=None)


def _renderings(asked: dict[str, list[Question]]) -> list[str]:
    """Note the items that templates rendered in several ways."""
    several = [
        item
        for item, rows in asked.items()
        if len({normal(one.instruction) for one in rows if one.rendered and one.instruction}) > 1
    ]
    if not several:
        return []
    return [
        f"{len(several)} items were put to entrants in different words (templates differ); the judge is shown the "
        f"shortest: {some(several, most=5)}"
    ]


def _missing(row: dict[str, Answer], items: Iterable[Item]) -> dict[str, str]:
    """Return why there is nothing to judge, by item."""
    reasons = {one.id: row[one.id].reason if one.id in row else ABSENT for one in items}
    return {item: reason for item, reason in reasons.items() if reason is not None}


def renamed(answers: Iterable[Answer], label: str | None) -> list[Answer]:
    """Call the one entrant of some answers by its label.

    Raises:
        UsageError: there are several.
    """
    answers = list(answers)
    names = sorted({one.entrant for one in answers})
    if label is None:
        return answers
    if len(names) > 1:
        raise UsageError(
            f"the label {label!r} stands for one entrant, and the file holds {len(names)}: {some(names, most=5)}; "
            "leave the label out"
        )
    return [replace(one, entrant=label) for one in answers]
