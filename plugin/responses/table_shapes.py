"""Read tables of responses and of questions, whose shape is known by the names of their columns."""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from podium.data.formats.bad_rows import BadRow
from podium.data.formats.containers import open_records, shared_engine
from podium.data.formats.lm_eval_layout import SAMPLE_FIELDS
from podium.errors import DataError, named_in_errors
from podium.responses import lm_eval_samples as lm_eval
from podium.responses import response_tables as tables
from podium.responses.answers import QuestionRow, Row, Sheet, name_models, stem
from podium.responses.response_files import NO_GROUPS, FileRows, RowForm
from podium.wording import some


class Shape(NamedTuple):
    """A known shape of tables.

    Attributes:
        name: description of the shape, for error messages.
        read: function that reads the rows of such a table.
        required: sets of column names; the table must have a column of each set.
        excluded: names of columns that the table must not have.
        accepts: function that tests the content of a table that has the right columns.
    """

    name: str
    read: Callable[[Sheet], Sequence[Row]]
    required: Sequence[Iterable[str]]
    excluded: Iterable[str] = ()
    accepts: Callable[[Sheet], bool] = lambda sheet: True  # noqa: ARG005

    def has_columns(self, columns: Set[str]) -> bool:
        """Return whether a table with these columns may have this shape."""
        if columns & {*self.excluded}:
            return False
        return all(columns & {*names} for names in self.required)

    def fits(self, sheet: Sheet) -> bool:
        """Return whether a table has this shape, by its columns and its content."""
        return self.has_columns(sheet.columns) and self.accepts(sheet)


ITEM_COLUMNS = tables.COLUMN_NAMES["item"]
INSTRUCTION_COLUMNS = tables.COLUMN_NAMES["instruction"]
RESPONSE_COLUMNS = tables.COLUMN_NAMES["response"]
"""Names that the columns of ids, instructions and responses may have."""
BATTLE_COLUMNS = ("model_a", "model_b")
"""Columns of a table of verdicts. Its column `response` is a number, not a text."""
COLUMNS_OF_NO_QUESTIONS = (
    *RESPONSE_COLUMNS,
    *tables.COLUMN_NAMES["model"],
    *BATTLE_COLUMNS,
    "messages",
    "choices",
)
"""Columns that a table of questions does not have."""
ARENA_HARD_ITEM = ("uid", "question_id")
ARENA_HARD_MODEL = ("model", "model_id")
"""Names that the columns of the id and of the model may have in arena-hard's files."""
SAMPLES_COLUMNS = [*([name] for name in SAMPLE_FIELDS), ("resps", "filtered_resps")]
ANSWERS_COLUMNS = [ARENA_HARD_ITEM, ("choices", "messages"), ARENA_HARD_MODEL]
OUTPUTS_COLUMNS = [["instruction"], ["output"], ["generator"]]
"""`Shape.required` of lm-eval's samples, of arena-hard's answers and of AlpacaEval's outputs."""
SHAPE_OF_SAMPLES = Shape(
    "lm-eval samples of generated text",
    read=lm_eval.read_responses_in_samples,
    required=SAMPLES_COLUMNS,
    accepts=lm_eval.is_generated,
)
"""The shape of lm-eval's samples, whose files are found by their names."""
SHAPES = (
    SHAPE_OF_SAMPLES,
    Shape("arena-hard answers", read=tables.read_arena_hard_answers, required=ANSWERS_COLUMNS),
    Shape(
        "AlpacaEval outputs",
        read=tables.read_alpaca_outputs,
        required=OUTPUTS_COLUMNS,
        excluded=("id", "item", "uid"),
    ),
    Shape(
        "a row per response (instruction or id, response, model)",
        read=tables.read_responses_table,
        required=[RESPONSE_COLUMNS, (*ITEM_COLUMNS, *INSTRUCTION_COLUMNS)],
        excluded=BATTLE_COLUMNS,
    ),
    Shape(
        "arena-hard questions",
        read=tables.read_arena_hard_questions,
        required=[ARENA_HARD_ITEM, ["turns"]],
    ),
    Shape(
        "a row per item (id, instruction)",
        read=tables.read_instructions,
        required=[ITEM_COLUMNS, INSTRUCTION_COLUMNS],
        excluded=COLUMNS_OF_NO_QUESTIONS,
    ),
)
"""Shapes of tables of responses and questions. A table is read by the first shape that fits."""
PROMPT_SHAPES = (
    *SHAPES,
    Shape(
        "a row per prompt (instruction, and an id or none)",
        read=tables.read_instructions,
        required=[INSTRUCTION_COLUMNS],
    ),
)
"""Shapes of tables of prompts, which may lack ids. The first shape that fits is used."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table of responses or questions.

    Attributes:
        path: the file.
        label: the user's name for the model; None for the names in the file.
        shapes: the shapes that are tried in order.
    """

    path: Path
    label: str | None = None
    shapes: Sequence[Shape] = SHAPES

    def read(self, form: RowForm, *, optional: bool) -> FileRows:
        """Read the rows of the table, with the names of their models set.

        `rows` of the result is None if the table has no known shape and `optional` is True.

        Args:
            form: says how agents are shown, which column has the groups of items, and whether a few
                malformed rows are left out.
            optional: whether a table of no known shape is skipped.

        Raises:
            UsageError: the label is for one model, and the table has several.
            DataError: the table cannot be read, or has no known shape and is not optional.
        """
        # A list takes the malformed rows, which are an error without it.
        bad_rows: list[BadRow] | None = [] if form.skips_bad_rows else None
        records = open_records(self.path, shared_engine(), bad_rows)
        has_shape = any(shape.has_columns(records.columns.keys()) for shape in self.shapes)
        if optional and not has_shape:
            # The names of the columns already show that no shape fits. So the rows, which take
            # longer, are not read.
            return FileRows(self.path, None)
        sheet = Sheet(self.path, self.label, records.frame(), show=form.show, cluster=form.cluster)
        return FileRows(self.path, rows_of_sheet(sheet, self.shapes, optional=optional))


def rows_of_sheet(sheet: Sheet, shapes: Sequence[Shape], *, optional: bool) -> Sequence[Row] | None:
    """Read a table by the first shape that fits.

    Returns:
        The rows, with the names of their models set. A response without a model is named by its
        file. None if no shape fits and the table is optional.

    Raises:
        DataError: no shape fits and the table is not optional; an empty table fits none.
    """
    if len(sheet.frame):
        for shape in shapes:
            if shape.fits(sheet):
                return name_models(shape.read(sheet), sheet.label, stem(sheet.path))
    if optional:
        return None
    if shapes is PROMPT_SHAPES:
        kind_of_rows = "prompts"
        remedy = "give a row per prompt with the columns id and instruction"
    else:
        kind_of_rows = "responses"
        others = ", ".join(shape.name for shape in SHAPES[:3])
        remedy = (
            "give a row per response with the columns instruction (or id), response and model; or "
            f"{others}"
        )
    columns = some(sorted(sheet.columns)) or "(none)"
    problem = f"no row below the header {columns}"
    if len(sheet.frame):
        problem = f"no {kind_of_rows} in the columns {columns}"
    raise DataError(problem, source=str(sheet.path), remedy=remedy)


def questions_beside(files: Iterable[Path]) -> list[QuestionRow]:
    """Read the questions of arena-hard that stand beside files of answers.

    They stand in the file `question.jsonl`, in the folder of the answers or in its parent. All
    questions of such a file are returned. The result is empty if there is no such file.

    Raises:
        DataError: a file with questions cannot be read.
    """
    paths = set()
    for file in files:
        folder = file.parent
        paths |= {folder / "question.jsonl", folder.parent / "question.jsonl"}
    rows: list[Row] = []
    for path in sorted(paths):
        if path.is_file():
            with named_in_errors(path):
                rows += TableFile(path).read(NO_GROUPS, optional=True).rows or []
    return [row for row in rows if isinstance(row, QuestionRow)]
