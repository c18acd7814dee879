"""Read responses from sources: find the files, recognise their shape, read and assemble them."""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from podium.data.formats.containers import open_records, shared_engine
from podium.data.formats.files import find_files, local_files, split_label
from podium.data.formats.lm_eval_layout import SAMPLE_FIELDS, Samples, sample_rows
from podium.errors import DataError, UsageError, named_in_errors
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_texts
from podium.responses import lm_eval_samples as lm_eval
from podium.responses import response_tables as tables
from podium.responses.answers import (
    ONLY_REASONING,
    QuestionRow,
    ResponseRow,
    Row,
    Sheet,
    name_models,
    stem,
)
from podium.responses.collection import Responses, add_pending, assemble, questions_in
from podium.responses.transcripts import ANSWER_ALONE, Show
from podium.scorers.reasoning import Policy, check_policy, strip_reasoning
from podium.storage.remote import urls_in_errors, with_urls, without_secrets
from podium.text import some

Part: TypeAlias = tuple[Path, Sequence[Row] | None]
"""A file and its rows; None if it holds no responses."""


class Shape(NamedTuple):
    """A known shape of tables: a column of each required set, and no excluded one; `accepts` tests
    a table with such columns further."""

    name: str
    read: Callable[[Sheet], Sequence[Row]]
    required: Sequence[Iterable[str]]
    excluded: Iterable[str] = ()
    accepts: Callable[[Sheet], bool] = lambda sheet: True  # noqa: ARG005

    def has_columns(self, columns: Set[str]) -> bool:
        """Return whether a table with these columns may have this shape."""
        return all(columns & {*names} for names in self.required) and not columns & {*self.excluded}

    def fits(self, sheet: Sheet) -> bool:
        """Return whether a table has this shape."""
        return self.has_columns(sheet.columns) and self.accepts(sheet)


ITEM, INSTRUCTION, RESPONSE = (tables.NAMES[name] for name in ("item", "instruction", "response"))
BATTLE = ("model_a", "model_b")
"""Columns of a table of verdicts, whose column `response` counts the responses to an item."""
NOT_QUESTIONS = (*RESPONSE, *tables.NAMES["model"], *BATTLE, "messages", "choices")
ARENA_HARD_ITEM, ARENA_HARD_MODEL = ("uid", "question_id"), ("model", "model_id")
SAMPLES = [*([name] for name in SAMPLE_FIELDS), ("resps", "filtered_resps")]
ANSWERS = [ARENA_HARD_ITEM, ("choices", "messages"), ARENA_HARD_MODEL]
OUTPUTS = [["instruction"], ["output"], ["generator"]]
SHAPES = (
    Shape(
        "lm-eval samples of generated text",
        lm_eval.read_responses_in_samples,
        SAMPLES,
        accepts=lm_eval.is_generated,
    ),
    Shape("arena-hard answers", tables.read_arena_hard_answers, ANSWERS),
    Shape(
        "AlpacaEval outputs", tables.read_alpaca_outputs, OUTPUTS, excluded=("id", "item", "uid")
    ),
    Shape(
        "a row per response (instruction or id, response, model)",
        tables.read_responses_table,
        [RESPONSE, (*ITEM, *INSTRUCTION)],
        excluded=BATTLE,
    ),
    Shape("arena-hard questions", tables.read_arena_hard_questions, [ARENA_HARD_ITEM, ["turns"]]),
    Shape(
        "a row per item (id, instruction)",
        tables.read_instructions,
        [ITEM, INSTRUCTION],
        excluded=NOT_QUESTIONS,
    ),
)
"""The first shape that fits is taken."""
PROMPTS = (
    *SHAPES,
    Shape(
        "a row per prompt (instruction, and an id or none)", tables.read_instructions, [INSTRUCTION]
    ),
)
"""Shapes of tables of prompts."""


@dataclass(frozen=True, slots=True)
class FileReader:
    """A reader of a host's log files: which it `accepts`, how to `read` one, and which to `choose`
    (with notes)."""

    suffixes: tuple[str, ...]
    accepts: Callable[[Path], bool]
    read: Callable[[Path, Show], Iterable[ResponseRow]]
    choose: Callable[[Sequence[Path]], tuple[Sequence[Path], Sequence[Notice]]] | None = None


@urls_in_errors()
def read_responses(
    *sources: str | Path,
    readers: Sequence[FileReader] = (),
    reasoning: Policy = "strip",
    prompts: Sequence[QuestionRow] = (),
    on_demand: Sequence[str] = (),
    show: Show = ANSWER_ALONE,
    optional: bool = False,
) -> Responses:
    """Read responses from files, folders or globs of any known shape, each optionally `label=path`
    with a model's name.

    Tables without responses give the questions; `reasoning` before an answer is part of it with
    `keep`; models of `on_demand` can be asked `prompts` (by default the items of the sources) for
    responses that no source holds; `show` says what a response of an agent is: its answer or its
    transcript. With `optional`, the sources need not hold any: other files are skipped, whether
    named or found, and without responses there are no items.
    """
    strips, show = check_policy(reasoning), replace(show, reasoning=reasoning)
    parts: list[Part] = []
    notes: list[Notice] = []
    owners: dict[str, str] = {}
    for source in map(str, sources):
        of_source, more = _read_source(source, readers, show=show, optional=optional)
        if not optional:
            _reject_repeated_models(owners, source, _rows_in(of_source))
        parts += of_source
        notes += more
    rows, tasks, prompts = _name_tasks(_rows_in(parts), prompts)
    answers = [row for row in rows if isinstance(row, ResponseRow)]
    if not answers and not optional and not (on_demand and (prompts or rows)):
        raise _nothing_read(sources, on_demand, notes)
    if strips:
        answers, stripped = _without_reasoning(answers)
        notes += stripped
    questions = [*prompts, *(row for row in rows if isinstance(row, QuestionRow))]
    if on_demand:
        answers, asked = add_pending(answers, questions, prompts, on_demand)
        notes += asked
    responses = assemble(answers, questions + _questions_beside(answers, questions))
    skipped = [str(path) for path, held in parts if held is None]
    if skipped:
        notes.append(Notice("files-without-responses", {"files": skipped}))
    files = sorted(str(path) for path, held in parts if held is not None)
    notes += responses.notes
    return replace(
        responses,
        sources=tuple(map(with_urls, files)),
        notes=tuple(note.map_texts(with_urls) for note in notes),
        tasks=tasks,
    )


def _nothing_read(
    sources: Sequence[str | Path], on_demand: Sequence[str], notes: Sequence[Notice]
) -> UsageError:
    """Return the error for sources without responses, or without prompts for models on demand."""
    lack = f"responses in {without_secrets(some(sources))}"
    if not sources:
        lack = "prompts were named for the role models: give a file, a task or a dataset (-T prompts=...)"
        lack = (
            lack if on_demand else "responses were named: give files or folders (-T responses=...)"
        )
    return UsageError("; ".join([f"no {lack}", *notice_texts(notes)]))


@urls_in_errors()
def read_prompts(
    *sources: str | Path, readers: Sequence[FileReader] = ()
) -> tuple[list[QuestionRow], list[Notice]]:
    """Read questions and notes from whatever `read_responses` reads, and from tables of prompts
    without ids."""
    read = [_read_source(source, readers, PROMPTS) for source in map(str, sources)]
    rows = [row for parts, _ in read for row in _rows_in(parts)]
    return questions_in(rows), [note for _, notes in read for note in notes]


def _name_tasks(
    rows: Sequence[Row], prompts: Sequence[QuestionRow]
) -> tuple[Sequence[Row], tuple[str, ...], Sequence[QuestionRow]]:
    """Return rows, tasks and prompts; with several tasks, items get the task in their id, as ids
    may be alike."""
    names = {
        row.question.task if isinstance(row, ResponseRow) else row.task for row in (*rows, *prompts)
    }
    tasks = tuple(sorted(task for task in names if task is not None))
    if len(tasks) < 2:
        return rows, tasks, prompts

    def rename(row: QuestionRow) -> QuestionRow:
        task = row.task
        return (
            row
            if task is None
            else replace(row, item=f"{task}:{row.item}", category=row.category or task)
        )

    named = [
        replace(row, question=rename(row.question)) if isinstance(row, ResponseRow) else rename(row)
        for row in rows
    ]
    return named, tasks, list(map(rename, prompts))


def _without_reasoning(answers: Sequence[ResponseRow]) -> tuple[list[ResponseRow], list[Notice]]:
    """Return the answers without reasoning, and a note on how many had some."""
    stripped, changed = list(answers), dict[int, str]()
    for k, each in enumerate(answers):
        if (
            each.text
            and not (each.work and each.work.shown)
            and (text := strip_reasoning(each.text)) != each.text
        ):
            stripped[k] = replace(each, text=text or None, reason=None if text else ONLY_REASONING)
            changed[k] = text
    fields = {
        "reasoning": len(changed),
        "responses": len(answers),
        "unfinished": sum(not text for text in changed.values()),
    }
    return stripped, [Notice("reasoning-left-out", fields)] if changed else []


def _rows_in(parts: Iterable[Part]) -> list[Row]:
    return [row for _, rows in parts for row in rows or ()]


def _read_source(
    source: str,
    readers: Sequence[FileReader],
    shapes: Sequence[Shape] = SHAPES,
    show: Show = ANSWER_ALONE,
    *,
    optional: bool = False,
) -> tuple[list[Part], list[Notice]]:
    """Read the files of a source; also return notes. With `optional`, a named file may be of no
    known shape, too."""
    suffixes = tuple(suffix for reader in readers for suffix in reader.suffixes)
    named_files = find_files(source, suffixes)
    place = local_files(named_files)
    files, rest, notes = lm_eval.find_newest_samples(place)
    parts: list[Part] = []
    for file in files:
        lines = sample_rows(file.path)
        sheet, cut = _sheet_of_samples(file, lines, show)
        is_asked = (
            file.path in place.paths[-1:]
            and not place.searched
            and all(rows is None for _, rows in parts)
        )
        rows = _parse_rows(sheet, SHAPES[:1], optional=optional or not is_asked)
        parts.append((file.path, rows))
        notes += [] if rows is None else cut
    left_out: set[Path] = set()
    for reader in [reader for reader in readers if reader.choose]:
        own = [
            path for path in rest if path.name.endswith(reader.suffixes) and reader.accepts(path)
        ]
        counted, remarks = reader.choose(own) if reader.choose and own else (own, ())
        left_out |= {*own} - {*counted}
        notes += remarks
    for path in [path for path in rest if path not in left_out]:
        rows = _read_file(
            path, place.label, readers, shapes, show, optional=optional or place.searched
        )
        parts.append((path, rows))
    return parts, notes


def _sheet_of_samples(
    file: Samples, lines: Iterable[tuple[str, dict[str, Any] | None]], show: Show
) -> tuple[Sheet, list[Notice]]:
    """Return the table of a samples file of lm-eval, and a note on a last line that is cut off."""
    rows = list(lines)
    whole = {place.removeprefix("line "): row for place, row in rows if row is not None}
    frame = pd.DataFrame(list(whole.values()), index=pd.Index(list(whole), name="line"))
    cut = [
        Notice("cut-off-line", {"path": str(file.path), "place": place, "task": ""})
        for place, row in rows
        if row is None
    ]
    return Sheet(file.path, file.model, frame, show), cut


def _read_file(
    path: Path,
    label: str | None,
    readers: Sequence[FileReader],
    shapes: Sequence[Shape] = SHAPES,
    show: Show = ANSWER_ALONE,
    *,
    optional: bool,
) -> Sequence[Row] | None:
    """Read the rows of a file; None if it is optional and of no known shape."""
    with named_in_errors(path):
        for reader in readers:
            if path.name.endswith(reader.suffixes) and reader.accepts(path):
                return name_models(reader.read(path, show), label)
        records = open_records(path, shared_engine())
        if optional and not any(shape.has_columns(records.columns.keys()) for shape in shapes):
            # The names of the columns show it: the rows need not be read.
            return None
        sheet = Sheet(path, label, records.frame(), show)
    return _parse_rows(sheet, shapes, optional=optional)


def _parse_rows(sheet: Sheet, shapes: Sequence[Shape], *, optional: bool) -> Sequence[Row] | None:
    """Read a table by the first shape that fits; if none does, return None if it is optional, else
    raise DataError."""
    shape = next((shape for shape in shapes if len(sheet.frame) and shape.fits(sheet)), None)
    if shape is not None:
        with named_in_errors(sheet.path):
            return name_models(shape.read(sheet), sheet.label, stem(sheet.path))
    if optional:
        return None
    known = ", ".join(shape.name for shape in SHAPES[:3])
    remedy = f"give a row per response with the columns instruction (or id), response and model; or {known}"
    if shapes is PROMPTS:
        remedy = "give a row per prompt with the columns id and instruction"
    columns, what = (
        some(sorted(sheet.columns)) or "(none)",
        "prompts" if shapes is PROMPTS else "responses",
    )
    problem = (
        f"no {what} in the columns {columns}"
        if len(sheet.frame)
        else f"no row below the header {columns}"
    )
    raise DataError(problem, source=str(sheet.path), remedy=remedy)


def _reject_repeated_models(owners: dict[str, str], source: str, rows: Iterable[Row]) -> None:
    """Record the source of each model in `owners`; UsageError if another source has a model of the
    same name."""
    for name in sorted({row.model for row in rows if isinstance(row, ResponseRow)}):
        if name in owners:
            labels = [
                f"{name}-{k}={split_label(each)[1]}"
                for k, each in enumerate((owners[name], source), 1)
            ]
            remedy = f"label them ({' '.join(labels)}), or, if they are parts of one, give them as one folder or glob"
            raise UsageError(
                f"two sources hold a model {name!r}: {owners[name]} and {source}; {remedy}"
            )
        owners[name] = source


def _questions_beside(
    answers: Sequence[ResponseRow], questions: Sequence[QuestionRow]
) -> list[QuestionRow]:
    """Read arena-hard's file of questions beside the answers, for answers without instructions."""
    known = {question.item for question in questions}
    lacking = [answer.question for answer in answers if answer.question.instruction is None]
    folders = sorted(
        {Path(question.source).parent for question in lacking if question.item not in known}
    )
    places = {folder / "question.jsonl" for start in folders for folder in (start, start.parent)}
    files = [
        _read_file(path, None, (), optional=True) or [] for path in sorted(places) if path.is_file()
    ]
    return [row for rows in files for row in rows if isinstance(row, QuestionRow)]
