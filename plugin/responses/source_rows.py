"""Find the files of sources, and read the rows of responses and questions in them.

A source is a file, a folder or a glob. lm-eval's samples and hosts' logs are recognised; every
other file is taken for a table.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from podium.data.formats.files import find_files, local_files
from podium.errors import PodiumError, UsageError, named_in_errors
from podium.hookspecs import SourceFiles
from podium.notices.notice import Notice
from podium.responses.answers import ResponseRow, Row
from podium.responses.response_files import (
    NO_GROUPS,
    ChosenLogs,
    FileReader,
    FileRows,
    LogFile,
    ResponseFile,
    RowForm,
    UnansweredRun,
)
from podium.responses.samples_files import NewestSamples, SamplesFile, find_newest_samples
from podium.responses.table_shapes import PROMPT_SHAPES, SHAPES, Shape, TableFile
from podium.run_record import RunRecord


@dataclass(frozen=True, slots=True)
class SourceRows:
    """The rows of all sources, and what is known of their files.

    Attributes:
        rows: the rows, in the order of the sources.
        runs: the runs that hosts recorded, by the file of their rows.
        files: the files that have rows, in the order in which they were read.
        skipped: the files that were skipped because they hold no responses.
        cluster: the column with the groups of items: the one that the user named, or else the one
            by which all logs cluster their own standard errors. None if there is neither, because
            a file is no log, or because logs have different ones.
        unanswered: the runs of which no sample finished; their logs are not read.
        notes: notes on the reading.
    """

    rows: Sequence[Row]
    runs: Mapping[str, RunRecord]
    files: Sequence[Path]
    skipped: Sequence[Path]
    cluster: str | None
    unanswered: Sequence[UnansweredRun]
    notes: Sequence[Notice]


class FoundSource(NamedTuple):
    """The files of a source that responses are read from.

    Attributes:
        name: the source as typed.
        path: the same without its label.
        files: the files, in the order in which they are read: lm-eval's samples come first.
        needed: the files that the user named. Each of them must have responses.
        last_samples: the samples file that the user named last. It must have responses if no other
            samples file of the source has. None if no samples file was named last.
        notes: notes on the runs that the samples are of.
    """

    name: str
    path: str
    files: Sequence[ResponseFile]
    needed: Set[Path]
    last_samples: Path | None
    notes: Sequence[Notice]


class FoundFiles(NamedTuple):
    """The files of all sources that responses are read from.

    Attributes:
        sources: the files of each source.
        cluster: the column by which all logs cluster their own standard errors; None if there is a
            file that is no log, or if logs have different ones.
        unanswered: the runs of which no sample finished; their logs are not read.
        notes: notes on the choice of logs.
    """

    sources: Sequence[FoundSource]
    cluster: str | None
    unanswered: Sequence[UnansweredRun]
    notes: Sequence[Notice]


def read_source_rows(
    sources: Sequence[str | Path],
    readers: Sequence[FileReader],
    form: RowForm,
    *,
    optional: bool = False,
    for_prompts: bool = False,
) -> SourceRows:
    """Find the files of sources, and read their rows. The files of a URL are downloaded.

    Files of a folder are found if they are tables, or if their suffix is one of the readers'. Logs
    that their reader does not choose are left out.

    Args:
        sources: the sources; each may be written `label=path`, with a name for the model.
        readers: readers of hosts' log files.
        form: what is read of rows. If it names no column of groups, the one of the logs is read.
        optional: whether files without responses are skipped even if the user named them.
        for_prompts: whether only the questions count. Tables may then lack ids, and sources may
            have models of the same name.

    Raises:
        UsageError: a source has no file, or runs of a model are in several folders; or two sources
            have models of the same name, unless `optional` or `for_prompts` is set.
        DataError: a file cannot be read, or has no responses and `optional` is False.
    """
    files = _find_files_of_sources(
        [*map(str, sources)], readers, PROMPT_SHAPES if for_prompts else SHAPES
    )
    if form.cluster is None and not for_prompts:
        form = form._replace(cluster=files.cluster)
    parts: list[FileRows] = []
    notes: list[Notice] = []
    owners: dict[str, FoundSource] = {}  # source by model
    for source in files.sources:
        parts_of_source = _read_source(source, form, optional=optional)
        if not optional and not for_prompts:
            _reject_repeated_models(owners, source, _rows_in(parts_of_source))
        parts += parts_of_source
        notes += source.notes
        for part in parts_of_source:
            notes += part.notes
    return SourceRows(
        rows=_rows_in(parts),
        runs={str(part.path): part.run for part in parts if part.rows and part.run},
        files=[part.path for part in parts if part.rows is not None],
        skipped=[part.path for part in parts if part.rows is None],
        cluster=form.cluster,
        unanswered=files.unanswered,
        notes=[*notes, *files.notes],
    )


def why_unread(skipped: Sequence[Path], readers: Sequence[FileReader]) -> list[str]:
    """Return why the first of the files that were skipped in folders has no responses.

    The file is read again as if it were named alone. The list has the text of the error, if there
    is one; it is empty if no file was skipped.
    """
    try:
        read_source_rows(skipped[:1], readers, NO_GROUPS)
    except PodiumError as error:
        return [str(error)]
    return []


def _find_files_of_sources(
    sources: Sequence[str], readers: Sequence[FileReader], shapes: Sequence[Shape]
) -> FoundFiles:
    """Find the files of sources, let readers choose among their logs, and download those of URLs.

    Args:
        sources: the sources as typed.
        readers: readers of hosts' log files.
        shapes: known shapes of tables.
    """
    suffixes = tuple(suffix for reader in readers for suffix in reader.suffixes)
    places = [local_files(find_files(source, suffixes)) for source in sources]
    reader_of_log = _readers_of_logs(places, readers)
    chosen_logs = _choose_logs_of_readers(places, readers, reader_of_log)
    found_sources = []
    for source, place, samples in zip(sources, places, find_newest_samples(places), strict=True):
        found_sources.append(
            _files_of_source(source, place, samples, reader_of_log, chosen_logs, shapes)
        )
    paths = {path for place in places for path in place.paths}
    columns = {*chosen_logs.clusters.values()}
    has_one_column = len(columns) == 1 and paths <= reader_of_log.keys()
    return FoundFiles(
        sources=found_sources,
        cluster=columns.pop() if has_one_column else None,
        unanswered=chosen_logs.unanswered,
        notes=chosen_logs.notes,
    )


def _readers_of_logs(
    places: Sequence[SourceFiles], readers: Sequence[FileReader]
) -> dict[Path, FileReader]:
    """Return the first reader of each file that is a log of a host; other files are left out."""
    reader_of_log = {}
    for place in places:
        for path in place.paths:
            reader = next((reader for reader in readers if reader.is_log(path)), None)
            if reader is not None:
                reader_of_log[path] = reader
    return reader_of_log


def _choose_logs_of_readers(
    places: Sequence[SourceFiles],
    readers: Sequence[FileReader],
    reader_of_log: Mapping[Path, FileReader],
) -> ChosenLogs:
    """Let each reader choose which of its logs in all sources are read; all if it does not choose.

    The names of logs that are read without a choice are the labels of their sources.
    """
    names: dict[Path, str | None] = {}
    runs: dict[Path, RunRecord] = {}
    clusters: dict[Path, str | None] = {}
    notes: list[Notice] = []
    unanswered: list[UnansweredRun] = []
    for reader in readers:
        logs = []
        for place in places:
            logs_of_place = [path for path in place.paths if reader_of_log.get(path) is reader]
            logs.append(dict.fromkeys(logs_of_place, place.label))
        if not any(logs):
            continue
        if reader.choose is None:
            for label_of_log in logs:
                names |= label_of_log
            continue
        chosen_logs = reader.choose(logs)
        names |= chosen_logs.names
        runs |= chosen_logs.runs
        clusters |= chosen_logs.clusters
        notes += chosen_logs.notes
        unanswered += chosen_logs.unanswered
    return ChosenLogs(names, runs, notes, clusters, unanswered)


def _files_of_source(
    name: str,
    place: SourceFiles,
    samples: NewestSamples,
    reader_of_log: Mapping[Path, FileReader],
    chosen_logs: ChosenLogs,
    shapes: Sequence[Shape],
) -> FoundSource:
    """Return the files of a source that responses are read from, each with the way to read it.

    Args:
        name: the source as typed.
        place: the local files of the source.
        samples: the samples files of lm-eval among them.
        reader_of_log: the reader of each log of a host.
        chosen_logs: which of these logs are read.
        shapes: known shapes of tables.
    """
    files: list[ResponseFile] = [SamplesFile(file) for file in samples.files]
    tables = set()
    for path in samples.others:
        reader = reader_of_log.get(path)
        if reader is None:
            tables.add(path)
            files.append(TableFile(path, place.label, shapes))
        elif path in chosen_logs.names:
            run = chosen_logs.runs.get(path)
            files.append(LogFile(path, reader, chosen_logs.names[path], run))
    last_samples = None
    if not place.searched:
        last_samples = next(
            (file.path for file in samples.files if file.path == place.paths[-1]), None
        )
    return FoundSource(
        name=name,
        path=name.removeprefix(f"{place.label or ''}="),
        files=files,
        needed=set() if place.searched else tables,
        last_samples=last_samples,
        notes=samples.notes,
    )


def _read_source(source: FoundSource, form: RowForm, *, optional: bool) -> list[FileRows]:
    """Read the files of a source, in order.

    A file that must have responses (`FoundSource.needed`, `FoundSource.last_samples`) is skipped
    without them only if `optional` is True. Any other file without responses is skipped.

    Raises:
        DataError: a file cannot be read, or has no responses although it must. The error names it.
    """
    parts: list[FileRows] = []
    for file in source.files:
        is_last = file.path == source.last_samples
        is_needed = file.path in source.needed
        if is_last and all(part.rows is None for part in parts):
            is_needed = True
        with named_in_errors(file.path):
            parts.append(file.read(form, optional=optional or not is_needed))
    return parts


def _reject_repeated_models(
    owners: dict[str, FoundSource], source: FoundSource, rows: Iterable[Row]
) -> None:
    """Reject a source that has a model of an earlier source.

    Args:
        owners: source of each model that was read before; the models of this source are added in
            place.
        source: the source.
        rows: its rows.

    Raises:
        UsageError: another source has a model of the same name.
    """
    models = {row.model for row in rows if isinstance(row, ResponseRow)}
    for name in sorted(models):
        if name in owners:
            first = owners[name]
            remedy = (
                f"label them ({name}-1={first.path} {name}-2={source.path}), or, "
                "if they are parts of one, give them as one folder or glob"
            )
            raise UsageError(
                f"two sources hold a model {name!r}: {first.name} and {source.name}; {remedy}"
            )
        owners[name] = source


def _rows_in(parts: Iterable[FileRows]) -> list[Row]:
    """Return the rows of all files."""
    return [row for part in parts for row in part.rows or ()]
