"""Sources in, responses out: find the files, recognise them, read, and put together."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from podium.errors import DataError, UsageError, named_in_errors
from podium.formats.containers import read_records
from podium.formats.files import find_files, local_files, split_label
from podium.responses import alpaca_eval, arena_hard, lm_eval, plain
from podium.responses.answers import ONLY_REASONING, QuestionRow, ResponseRow, Row, Sheet, name_models, stem
from podium.responses.assembly import add_pending, assemble, questions_in
from podium.responses.collection import Responses
from podium.scorers.reasoning import Policy, check_policy, strip_reasoning
from podium.storage.remote import urls_in_errors, with_urls, without_secrets
from podium.text import some

QUESTIONS = "question.jsonl"
"""Where arena-hard keeps the questions: beside the folder of answers, or in it."""
Part: TypeAlias = tuple[Path, Sequence[Row] | None]
"""A file and its rows; None of one that holds no responses."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A known shape of tables.

    Attributes:
        name: for humans.
        fits: whether a file has it.
        read: its rows.
    """

    name: str
    fits: Callable[[Sheet], bool]
    read: Callable[[Sheet], Sequence[Row]]


SHAPES = (
    Shape("lm-eval samples of generated text", lm_eval.fits, lm_eval.read),
    Shape("arena-hard answers", arena_hard.holds_answers, arena_hard.read),
    Shape("AlpacaEval outputs", alpaca_eval.fits, alpaca_eval.read),
    Shape("a row per response (instruction or id, response, model)", plain.holds_responses, plain.read),
    Shape("arena-hard questions", arena_hard.holds_questions, arena_hard.read_questions),
    Shape("a row per item (id, instruction)", plain.holds_instructions, plain.read_instructions),
)
"""The first that fits is taken."""
PROMPTS = (
    *SHAPES,
    Shape(
        "a row per prompt (instruction, and an id or none)",
        lambda sheet: bool(sheet.columns & {*plain.NAMES["instruction"]}),
        plain.read_instructions,
    ),
)
"""Where only what is asked matters."""


@dataclass(frozen=True, slots=True)
class FileReader:
    """A reader of files that are no tables; hosts bring one for their own logs.

    Attributes:
        suffixes: of the files that it may claim, as `.eval`; folders are searched for them, too.
        claims: whether a file of such a suffix is its own.
        read: what is in the file. A question's `source` and `row` name the place, its `item` the id.
        choose: which of its files in a source count, and notes of the others; by default all do.
    """

    suffixes: tuple[str, ...]
    claims: Callable[[Path], bool]
    read: Callable[[Path], Iterable[ResponseRow]]
    choose: Callable[[Sequence[Path]], tuple[Sequence[Path], Sequence[str]]] | None = None


@urls_in_errors()
def read_responses(
    *sources: str | Path,
    readers: Sequence[FileReader] = (),
    reasoning: Policy = "strip",
    prompts: Sequence[QuestionRow] = (),
    on_demand: Sequence[str] = (),
) -> Responses:
    """Read the responses of models, from files of any known shape.

    Args:
        sources: files, folders or globs, each optionally `label=path`; the label names the model. Files with a row
            per item and no responses say what was asked.
        readers: further readers, asked before the known shapes.
        reasoning: whether what a model thought before it answered is part of its response (`keep`) or not.
        prompts: what models are asked on demand; by default the items of the sources.
        on_demand: models that can be asked for the responses that no source holds.
    """
    parts: list[Part] = []
    notes: list[str] = []
    owners: dict[str, str] = {}
    for source in map(str, sources):
        own, remarks = _read_source(source, readers)
        _refuse_namesakes(owners, source, _rows_in(own))
        parts += own
        notes += remarks
    rows, skipped = _rows_in(parts), [str(path) for path, held in parts if held is None]
    named = {row.question.task if isinstance(row, ResponseRow) else row.task for row in (*rows, *prompts)}
    tasks = tuple(sorted(task for task in named if task is not None))
    if len(tasks) > 1:
        rows, prompts = [_with_task(row) for row in rows], questions_in(map(_with_task, prompts))
    answers = [row for row in rows if isinstance(row, ResponseRow)]
    if not answers and not (on_demand and (prompts or rows)):
        unnamed = "responses were named: give files or folders (-T responses=...)"
        if on_demand:
            unnamed = "prompts were named for the role models: give a file, a task or a dataset (-T prompts=...)"
        lack = f"responses in {without_secrets(some(sources))}" if sources else unnamed
        raise UsageError("; ".join([f"no {lack}", *notes]))
    if check_policy(reasoning):
        answers, stripped = _without_reasoning(answers)
        notes += [stripped] if stripped else []
    questions = [*prompts, *(row for row in rows if isinstance(row, QuestionRow))]
    if on_demand:
        answers, asked = add_pending(answers, questions, prompts, on_demand)
        notes += asked
    responses = assemble(answers, questions + _questions_beside(answers, questions))
    notes += [f"{len(skipped)} files hold no responses and were skipped: {some(skipped)}"] if skipped else []
    files = sorted(str(path) for path, held in parts if held is not None)
    notes += responses.notes
    return replace(responses, sources=tuple(map(with_urls, files)), notes=tuple(map(with_urls, notes)), tasks=tasks)


@urls_in_errors()
def read_prompts(*sources: str | Path, readers: Sequence[FileReader] = ()) -> tuple[list[QuestionRow], list[str]]:
    """Read what was or is to be asked, from whatever `read_responses` takes, and from tables of prompts without ids.

    Returns:
        The questions, and notes for humans.
    """
    read = [_read_source(source, readers, PROMPTS) for source in map(str, sources)]
    rows = [row for parts, _ in read for row in _rows_in(parts)]
    return questions_in(rows), [note for _, notes in read for note in notes]


def _with_task(row: Row) -> Row:
    """Name the task in the id of an item: two tasks may number theirs alike."""
    if isinstance(row, ResponseRow):
        question = _with_task(row.question)
        return replace(row, question=question) if isinstance(question, QuestionRow) else row
    return row if row.task is None else replace(row, item=f"{row.task}:{row.item}", category=row.category or row.task)


def _without_reasoning(answers: Sequence[ResponseRow]) -> tuple[list[ResponseRow], str | None]:
    """Return the answers without reasoning, and a note that says of how many it was taken."""
    texts = [each.text and strip_reasoning(each.text) for each in answers]
    changed = sum(text != each.text for text, each in zip(texts, answers, strict=True))
    unfinished = sum(text == "" for text in texts)
    shown = [
        each if text == each.text else replace(each, text=text or None, reason=None if text else ONLY_REASONING)
        for text, each in zip(texts, answers, strict=True)
    ]
    note = f"{changed:,} of {len(answers):,} responses begin with reasoning, which the judge is not shown"
    note += f" ({unfinished:,} hold nothing else)" if unfinished else ""
    return shown, f"{note}; reasoning=keep shows it" if changed else None


def _rows_in(parts: Iterable[Part]) -> list[Row]:
    """Return all rows of some files."""
    return [row for _, rows in parts for row in rows or ()]


def _read_source(
    source: str, readers: Sequence[FileReader], shapes: Sequence[Shape] = SHAPES
) -> tuple[list[Part], list[str]]:
    """Return what the files of a source hold, and notes for humans."""
    place = local_files(find_files(source, tuple(suffix for reader in readers for suffix in reader.suffixes)))
    files, rest, said = lm_eval.find_samples(place)
    parts: list[Part] = []
    notes = [*said]
    for file in files:
        sheet, cut = lm_eval.read_rows(file)
        is_asked = file.path in place.paths[-1:] and not place.searched and all(rows is None for _, rows in parts)
        rows = _rows_of(sheet, SHAPES[:1], optional=not is_asked)
        parts.append((file.path, rows))
        notes += [] if rows is None else cut
    left_out: set[Path] = set()
    for reader in [reader for reader in readers if reader.choose]:
        own = [path for path in rest if path.name.endswith(reader.suffixes) and reader.claims(path)]
        counted, remarks = reader.choose(own) if reader.choose and own else (own, ())
        left_out |= {*own} - {*counted}
        notes += remarks
    for path in [path for path in rest if path not in left_out]:
        parts.append((path, _read_file(path, place.label, readers, shapes, optional=place.searched)))
    return parts, notes


def _read_file(
    path: Path, label: str | None, readers: Sequence[FileReader], shapes: Sequence[Shape] = SHAPES, *, optional: bool
) -> Sequence[Row] | None:
    """Return what a file holds; None where it is nothing known and was not named."""
    with named_in_errors(path):
        for reader in readers:
            if path.name.endswith(reader.suffixes) and reader.claims(path):
                return name_models(reader.read(path), label)
        sheet = Sheet(path, label, read_records(path))
    return _rows_of(sheet, shapes, optional=optional)


def _rows_of(sheet: Sheet, shapes: Sequence[Shape], *, optional: bool) -> Sequence[Row] | None:
    """Read a file by the first shape that fits; None where none does and it was not named."""
    shape = next((shape for shape in shapes if len(sheet.frame) and shape.fits(sheet)), None)
    if shape is not None:
        with named_in_errors(sheet.path):
            return name_models(shape.read(sheet), sheet.label, stem(sheet.path))
    if optional:
        return None
    known = ", ".join(shape.name for shape in SHAPES[:3])
    what, remedy = "responses", f"response with the columns instruction (or id), response and model; or {known}"
    if shapes is PROMPTS:
        what, remedy = "prompts", "prompt with the columns id and instruction"
    columns = some(sorted(sheet.columns)) or "(none)"
    problem = f"no {what} in the columns {columns}" if len(sheet.frame) else f"no row below the header {columns}"
    raise DataError(problem, source=str(sheet.path), remedy=f"give a row per {remedy}")


def _refuse_namesakes(owners: dict[str, str], source: str, rows: Iterable[Row]) -> None:
    """Remember which source a model is from."""
    for name in sorted({row.model for row in rows if isinstance(row, ResponseRow)}):
        if name in owners:
            labels = [f"{name}-{k}={split_label(each)[1]}" for k, each in enumerate((owners[name], source), 1)]
            raise UsageError(
                f"two sources hold a model {name!r}: {owners[name]} and {source}; tell them apart with labels "
                f"({' '.join(labels)}), or, if they are parts of one, give them as one folder or glob"
            )
        owners[name] = source


def _questions_beside(answers: Sequence[ResponseRow], questions: Sequence[QuestionRow]) -> list[QuestionRow]:
    """Read arena-hard's questions from where they lie, for answers that do not say what they answer."""
    known = {question.item for question in questions}
    lacking = [answer.question for answer in answers if answer.question.instruction is None]
    folders = sorted({Path(question.source).parent for question in lacking if question.item not in known})
    places = {folder / QUESTIONS for start in folders for folder in (start, start.parent)}
    files = [_read_file(path, None, (), optional=True) or [] for path in sorted(places) if path.is_file()]
    return [row for rows in files for row in rows if isinstance(row, QuestionRow)]
