"""Files that responses are read from, and what is read of them.

Each kind of file is a record with the same method `read`: a log of a host (`LogFile`), samples of
lm-eval (`samples_files.SamplesFile`) and a table (`table_shapes.TableFile`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from podium.notices.notice import Notice
from podium.responses.answers import ResponseRow, Row, name_models
from podium.responses.transcripts import ANSWER_ALONE, Show
from podium.run_record import RunRecord


class RowForm(NamedTuple):
    """What is read of rows besides their texts and names.

    Attributes:
        show: says whether the response of an agent is its answer or its transcript.
        cluster: the column with the groups of items; None if items have no groups.
        skips_bad_rows: whether malformed rows of tables are left out if they are few, as they are
            where verdicts are read (`open_records`). Whoever reads the verdicts counts and names
            them.
    """

    show: Show = ANSWER_ALONE
    cluster: str | None = None
    skips_bad_rows: bool = False


NO_GROUPS = RowForm()
"""Answers of agents alone, no groups of items, and no malformed rows."""


class FileRows(NamedTuple):
    """What was read from a file.

    Attributes:
        path: the file.
        rows: rows of the file; None if the file was skipped because it holds no responses.
        run: the run that wrote the file, if a host recorded it.
        notes: notes on the reading.
    """

    path: Path
    rows: Sequence[Row] | None
    run: RunRecord | None = None
    notes: Sequence[Notice] = ()


class ResponseFile(Protocol):
    """A file that responses are read from, of any kind."""

    @property
    def path(self) -> Path:
        """The file."""

    def read(self, form: RowForm, *, optional: bool) -> FileRows:
        """Read the rows of the file, with the names of their models set.

        Args:
            form: what is read of the rows.
            optional: whether a file without responses is skipped.

        Raises:
            UsageError: the user's label is for one model, and the file has several.
            DataError: the file cannot be read, or has no responses and is not optional. If the
                error does not name the file, the caller adds it.
        """


class UnansweredRun(NamedTuple):
    """A run of which no sample finished: model, task, and why its responses are missing."""

    model: str
    task: str
    reason: str


@dataclass(frozen=True, slots=True)
class ChosenLogs:
    """The log files of a host that are read.

    Attributes:
        names: the name of the model of each log that is read, by path; None if the names in the log
            are kept.
        runs: settings of the runs whose items are paired by what was asked, by path.
        notes: notes on the choice.
        clusters: the column with the groups of items of each log that is read, by path; None if it
            has none.
        unanswered: the runs of which no sample finished; their logs are not read.
    """

    names: Mapping[Path, str | None]
    runs: Mapping[Path, RunRecord]
    notes: Sequence[Notice]
    clusters: Mapping[Path, str | None] = field(default_factory=dict)
    unanswered: Sequence[UnansweredRun] = ()


@dataclass(frozen=True, slots=True)
class FileReader:
    """A reader of a host's log files.

    Attributes:
        suffixes: endings of the names of its files.
        accepts: function that returns whether a file is such a log.
        read: function that reads the responses in a file.
        choose: function that returns which files are to be read. Its argument has, for each source,
            the label or None of each file by path. If the function is None, all files are read.
    """

    suffixes: tuple[str, ...]
    accepts: Callable[[Path], bool]
    read: Callable[[Path, RowForm], Iterable[ResponseRow]]
    choose: Callable[[Sequence[Mapping[Path, str | None]]], ChosenLogs] | None = None

    def is_log(self, path: Path) -> bool:
        """Return whether a file is such a log, by its name and its content."""
        return path.name.endswith(self.suffixes) and self.accepts(path)


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log of a host that is read. It is never skipped.

    Attributes:
        path: the log.
        reader: the reader of the host's logs.
        model: the name of the log's model; None if the names in the log are kept.
        run: the run that wrote the log; None if it is not recorded.
    """

    path: Path
    reader: FileReader
    model: str | None
    run: RunRecord | None

    def read(self, form: RowForm, *, optional: bool) -> FileRows:  # noqa: ARG002
        """Read the responses in the log, with the names of their models set.

        `form` says what is read of the rows besides their texts. `optional` has no effect.

        Raises:
            UsageError: the log has a label for one model, and holds several.
            DataError: the log cannot be read.
        """
        rows = name_models(self.reader.read(self.path, form), self.model)
        return FileRows(self.path, rows, self.run)
