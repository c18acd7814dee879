"""Assemble the questions and answers of many files into one collection, and check that they agree."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from podium.responses.answers import ABSENT, QuestionRow, ResponseRow, Row, normal_text
from podium.responses.collection import Item, Responses, response_key
from podium.text import some

AGREE = ("instruction", "reference", "system", "category", "media")
"""Fields on which all rows of an item must agree."""
PENDING = "not asked yet"
"""Reason of a response that can still be asked for."""


def assemble(answers: Sequence[ResponseRow], questions: Sequence[QuestionRow]) -> Responses:
    """Assemble answers by item, model and number, with questions beside; DataError if rows contradict each other."""
    cells = _answers_by_model(answers)
    # Questions first, then the models by name, so that the order of sources does not matter.
    asked: dict[str, list[QuestionRow]] = defaultdict(list)
    in_order = sorted(answers, key=lambda answer: answer.model)
    for question in [*questions, *(answer.question for answer in in_order)]:
        asked[question.item].append(question)
    times: dict[str, int] = {}
    for answer in answers:
        times[answer.question.item] = max(times.get(answer.question.item, 1), answer.number)
    items = tuple(replace(_item_of(rows), responses=times[item]) for item, rows in asked.items() if item in times)
    several, most = sum(item.responses > 1 for item in items), max((item.responses for item in items), default=1)
    silent = [item for item in asked if item not in times]
    notes = [f"{len(silent)} questions without a response were left out: {some(silent, most=5)}"] if silent else []
    if several:
        note = f"{several:,} items have up to {most} responses of a model (epochs, repeats)"
        notes.append(f"{note}: the first meets the first, the second the second, ...")
    keys = [key for item in items for key in item.keys]
    reasons = {name: {key: row[key].reason if key in row else ABSENT for key in keys} for name, row in cells}
    pending = {name: frozenset(key for key, why in own.items() if why == PENDING) for name, own in reasons.items()}
    missing = {name: {key: why for key, why in own.items() if why and why != PENDING} for name, own in reasons.items()}
    return Responses(
        items=items,
        texts={name: {key: each.text for key, each in row.items() if each.text is not None} for name, row in cells},
        missing=missing,
        pending={name: keys for name, keys in pending.items() if keys},
        work={name: {key: each.work for key, each in row.items() if each.work and each.text} for name, row in cells},
        notes=(*notes, *_note_renderings(asked)),
    )


def _answers_by_model(answers: Sequence[ResponseRow]) -> list[tuple[str, dict[str, ResponseRow]]]:
    """Return the answers by response key of each model, sorted by model; DataError for a second one of the same key."""
    cells: dict[str, dict[str, ResponseRow]] = defaultdict(dict)
    for answer in answers:
        first = cells[answer.model].setdefault(response_key(answer.question.item, answer.number), answer)
        if first is not answer:
            problem = f"a second response of {answer.model!r} to item {answer.question.item!r}"
            remedy = "keep one of the two, or label the models: one=path other=path"
            raise answer.question.error(f"{problem}; the first is in {first.question.place}", remedy)
    return sorted(cells.items())


def _item_of(rows: Sequence[QuestionRow]) -> Item:
    """Return the item that its rows describe; DataError if they contradict each other."""
    fixed = [row for row in rows if not row.rendered]
    said = {name: _common_value(name, rows if name in ("reference", "category") else fixed) for name in AGREE}
    rendered = [row for row in rows if row.rendered and row.instruction is not None]
    if said["instruction"] is None and rendered:
        # The shortest rendering is nearest to the bare question, whatever the order of files.
        shortest = min(rendered, key=lambda row: (len(row.instruction or ""), row.instruction, row.system or ""))
        said |= {"instruction": shortest.instruction, "system": said["system"] or shortest.system}
    instruction = said.pop("instruction")
    if instruction is None or not instruction.strip():
        remedy = "give the questions too: a file with a row per item that holds its id and its instruction"
        raise rows[0].error(f"item {rows[0].item!r} has no instruction", remedy)
    return Item(rows[0].item, instruction, said["category"], said["reference"], said["system"], said["media"])


def _common_value(name: str, rows: Sequence[QuestionRow]) -> str | None:
    """Return the value of a field on which all rows agree, None if it is empty; DataError if they do not."""
    speaking = [(row, getattr(row, name)) for row in rows if getattr(row, name) is not None]
    if not speaking:
        return None
    first, value = speaking[0]
    for row, other in speaking[1:]:
        if normal_text(other) != normal_text(value):
            lines = (" ".join(text.split()) for text in (other, value))
            here, there = (repr(line if len(line) <= 60 else f"{line[:57]}...") for line in lines)
            problem = f"item {row.item!r} has another {name} here ({here}) than in {first.place} ({there})"
            remedy = "responses can be compared only where models were asked the same"
            raise row.error(problem, f"{remedy}: rename the ids, or give the right file")
    return value


def _note_renderings(asked: dict[str, list[QuestionRow]]) -> list[str]:
    """Return a note on items whose instruction was rendered by different templates."""
    rendered = {item: [row.instruction for row in rows if row.rendered] for item, rows in asked.items()}
    several = [item for item, texts in rendered.items() if len({normal_text(text) for text in texts if text}) > 1]
    words = f"{len(several)} items were put to models in different words (templates differ)"
    return [f"{words}; the judge is shown the shortest: {some(several, most=5)}"] if several else []


def questions_in(rows: Iterable[Row]) -> list[QuestionRow]:
    """Return the questions of all rows."""
    return [row.question if isinstance(row, ResponseRow) else row for row in rows]


def add_pending(
    answers: Sequence[ResponseRow],
    questions: Sequence[QuestionRow],
    prompts: Sequence[QuestionRow],
    models: Sequence[str],
) -> tuple[list[ResponseRow], list[str]]:
    """Return the answers with a pending one for each item (of the prompts, if any) that a model lacks, and notes."""
    items: dict[str, QuestionRow] = {}
    for question in prompts or [*questions, *questions_in(answers)]:
        items.setdefault(question.item, question)
    known = [each for each in answers if each.question.item in items]
    notes = []
    if len(known) < len(answers):
        notes.append(f"{len(answers) - len(known):,} responses are to none of the {len(items):,} prompts, and left out")
    rows = [each for each in known if each.text is not None or each.model not in models]
    for name in models:
        there = {each.question.item for each in rows if each.model == name and each.number == 1}
        if there:
            notes.append(f"{name}: {len(there):,} responses are recorded; {len(items) - len(there):,} can be asked for")
        rows += [ResponseRow(asked, name, None, PENDING) for item, asked in items.items() if item not in there]
    return rows, notes
