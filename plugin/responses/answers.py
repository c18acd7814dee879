"""Rows of questions and responses, and the cells of a file that they are read from."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from unicodedata import normalize

import numpy as np

from podium.data.formats.lm_eval_documents import AskedDocument
from podium.data.item_columns import short_values
from podium.errors import DataError, UsageError
from podium.printable import shorten
from podium.responses.transcripts import ANSWER_ALONE, AgentWork, Show
from podium.text import text_of
from podium.wording import some

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question that was read from a row of a file. A field is None if the row does not say it.

    Attributes:
        item: id of the item.
        instruction: what the models were asked.
        category: label of the item.
        reference: a correct answer.
        system: the system prompt.
        source: path of the file.
        row: the place of the row in the file, for messages, such as `line 3`.
        media: images, audio or files, as the host's JSON.
        rendered: whether the instruction is a prompt that a template wrote around the question.
        task: name of the task.
        choices: the choices of a question of multiple choice; empty if there are none, or if the
            row does not say.
        id_scope: for rows without a category, a label such as the subject: ids may be unique only
            among the rows with the same label.
        document: the document of lm-eval that the question is made of; None if the question is not
            from a samples file.
        group: the group of the item, such as the passage that it is about; None if no column of
            groups was asked for.
        columns: further short values of the item by column, such as a passage or a level.
    """

    item: str
    instruction: str | None
    category: str | None = None
    reference: str | None = None
    system: str | None = None
    source: str = ""
    row: str = ""
    media: str | None = None
    rendered: bool = False
    task: str | None = None
    choices: tuple[str, ...] = ()
    id_scope: str | None = None
    document: AskedDocument | None = None
    group: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def question(self) -> "QuestionRow":
        """The question of the row, which is the row itself; as `ResponseRow.question`."""
        return self

    @property
    def length(self) -> int:
        """Number of characters that a judge may be shown in addition to the responses."""
        return sum(len(text) for text in (self.instruction, self.reference, self.system) if text)

    @property
    def place(self) -> str:
        """File and row, for messages."""
        return ", ".join(part for part in (self.source, self.row) if part)

    def error(self, problem: str, remedy: str) -> DataError:
        """Return an error that names the file and the row of the question, if they are known."""
        return DataError(problem, remedy=remedy, source=self.source or None, row=self.row or None)


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """A model's response to a question, or the reason why it has no text.

    Attributes:
        question: the question.
        model: name of the model. If the file does not name it, it is empty until `name_models`
            sets it.
        text: the response; None if there is no text to judge.
        reason: why there is no text; None if there is one.
        number: number of the response among those of the model to this question, from 1.
        work: what the model did for the response; None if the file does not say.
    """

    question: QuestionRow
    model: str
    text: str | None
    reason: str | None = None
    number: int = 1
    work: AgentWork | None = None


Row: TypeAlias = QuestionRow | ResponseRow
"""What a row of a file is read as: a response with its question, or a question alone."""
EMPTY_RESPONSE = "empty response"
ERRORED = "errored"
INVALIDATED = "invalidated"
ABSENT = "no response"
ONLY_REASONING = "only reasoning"
UNSEEN_MEDIA = "media that are not in the file"
"""Reasons why a response has no text (`ResponseRow.reason`)."""


def build_response(
    question: QuestionRow,
    model: str | None,
    text: str | None,
    *,
    errored: bool = False,
    number: int = 1,
    work: AgentWork | None = None,
) -> ResponseRow:
    """Return a response row, with a reason in place of the text if there is no text to judge.

    The reason is `ERRORED` if `errored` is True, whatever the text is, and `EMPTY_RESPONSE` if the
    text is None or blank. If `model` is None, the row has an empty name.
    """
    reason = None
    if errored:
        reason = ERRORED
    elif not text or not text.strip():
        reason = EMPTY_RESPONSE
    return ResponseRow(
        question,
        model=model or "",
        text=None if reason else text,
        reason=reason,
        number=number,
        work=work,
    )


def name_models(rows: Iterable[Row], label: str | None, default_name: str = "") -> list[Row]:
    """Set the names of the models in the rows of a file; questions are not changed.

    Args:
        rows: the rows of the file.
        label: the user's name for the model; None to keep the names in the file.
        default_name: name of the model of rows that name none, if there is no label.

    Raises:
        UsageError: there is a label, and the file has several models.
    """
    rows = list(rows)
    names = sorted({row.model for row in rows if isinstance(row, ResponseRow) and row.model})
    if label is not None and len(names) > 1:
        raise UsageError(
            f"the label {label!r} stands for one model, and the file holds {len(names)}: "
            f"{some(names, most=5)}; leave the label out"
        )
    for k, row in enumerate(rows):
        if isinstance(row, ResponseRow):
            rows[k] = replace(row, model=label or row.model or default_name)
    return rows


def id_of(instruction: str) -> str:
    """Return an id that is a hash of the instruction's text.

    Texts that differ only in Unicode form, line ends or outer blanks have the same id.
    """
    digest = hashlib.sha256(normal_text(instruction).encode("utf-8", "surrogatepass"))
    return f"i-{digest.hexdigest()[:12]}"


def normal_text(text: str) -> str:
    """Return a text in Unicode form NFC, with Unix line ends and without outer blanks."""
    return normalize("NFC", text).replace("\r\n", "\n").strip()


@dataclass(frozen=True, slots=True)
class Sheet:
    """The table in a file.

    Attributes:
        path: path of the file.
        label: the user's name for the model of the file; None if there is none.
        frame: the table. Its index counts the rows of the file; the name of the index says in
            which unit, such as `line`.
        show: says whether the response of an agent is its answer or its transcript.
        cluster: the column with the groups of items; None if items have no groups.
    """

    path: Path
    label: str | None
    frame: "pd.DataFrame"
    show: Show = ANSWER_ALONE
    cluster: str | None = None

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns."""
        return frozenset(map(str, self.frame.columns))

    def records(self) -> Iterator["Record"]:
        """Yield the rows as records, with arrays in cells converted to lists."""
        rows = self.frame.to_dict("records")
        for place, cells in zip(self.frame.index, rows, strict=True):
            by_column = {str(column): _as_lists(cell) for column, cell in cells.items()}
            row = f"{self.frame.index.name} {place}"
            yield Record(source=str(self.path), row=row, cells=by_column, cluster=self.cluster)


@dataclass(frozen=True, slots=True)
class Record:
    """A row of a file.

    Attributes:
        source: path of the file.
        row: the place of the row in the file, for messages, such as `line 3`.
        cells: the values by column.
        cluster: the column with the groups of items; None if items have no groups.
    """

    source: str
    row: str
    cells: Mapping[str, Any]
    cluster: str | None = None

    def cell_name(self, column: str | None) -> str | None:
        """Return a cell as a name or id; None if it is empty or there is no such column.

        Numbers are written as text.

        Raises:
            DataError: the name has half of a surrogate pair.
        """
        name = None if column is None else text_of(self.cells.get(column))
        return None if name is None else self._check_encodable(name)

    def text(self, column: str | None) -> str | None:
        """Return a cell that must be text; None if it is null or there is no such column.

        An empty text is returned as it is.

        Raises:
            DataError: the cell is neither text nor null, or cannot be written as UTF-8.
        """
        return None if column is None else self.as_text(column, self.cells.get(column))

    def as_text(self, name: str, value: Any) -> str | None:
        """Return a value that must be text; None if it is null or NaN.

        Args:
            name: name of the value, for error messages.
            value: the value.

        Raises:
            DataError: the value is neither text nor null, or is a text that cannot be written as
                UTF-8.
        """
        if isinstance(value, str):
            return self._check_encodable(value)
        if is_empty(value):
            return None
        raise self.error(
            f"{name} is not text: {shorten(str(value))!r}", f"write the {name} as a string"
        )

    def _check_encodable(self, text: str) -> str:
        """Check that a text can be written as UTF-8, and return it unchanged.

        Raises:
            DataError: the text has half of a surrogate pair.
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            problem = f"half a surrogate pair, which no text can hold: {text[error.start]!r}"
            remedy = "replace it by U+FFFD, or write the response again with the whole character"
            raise self.error(problem, remedy) from None
        return text

    def question(self, item: str, instruction: str | None, **further_fields: Any) -> QuestionRow:
        """Return a question that was read from this row, with its item's group and columns.

        Args:
            item: id of the item.
            instruction: what the models were asked; None if the row does not say it.
            further_fields: other fields of `QuestionRow`. They replace the group and the columns.
        """
        about: dict[str, Any] = {
            "group": self.cell_name(self.cluster),
            "columns": short_values(self.cells),
        }
        about |= further_fields
        return QuestionRow(item, instruction, source=self.source, row=self.row, **about)

    def error(self, problem: str, remedy: str) -> DataError:
        """Return an error that names this file and row."""
        return DataError(problem, remedy=remedy, source=self.source, row=self.row)


def _as_lists(cell: Any) -> Any:
    """Convert the arrays in a cell, which come from nested columns of Parquet files, to lists."""
    if isinstance(cell, np.ndarray):
        return [_as_lists(value) for value in cell.tolist()]
    if isinstance(cell, dict):
        return {key: _as_lists(value) for key, value in cell.items()}
    return cell


def is_empty(value: Any) -> bool:
    """Return whether a cell is None, NaN or the NA of pandas."""
    import pandas as pd

    is_nan = isinstance(value, float) and isnan(value)
    return value is None or is_nan or value is pd.NA


def stem(path: Path) -> str:
    """Return a file's name without its last suffix and without `.gz` after it."""
    name = path.name.removesuffix(".gz")
    return name.rpartition(".")[0] or name
