"""Find the files of sources, and decide how responses are read from each.

A source is a file, a folder or a glob. lm-eval's samples and hosts' logs are recognised; every
other file is taken for a table.
"""

from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from podium.data.formats.files import find_files, local_files
from podium.hookspecs import SourceFiles
from podium.notices.notice import Notice
from podium.responses.response_files import (
    ChosenLogs,
    FileReader,
    LogFile,
    ResponseFile,
    UnansweredRun,
)
from podium.responses.samples_files import NewestSamples, SamplesFile, find_newest_samples
from podium.responses.table_shapes import SHAPES, Shape, TableFile
from podium.run_record import RunRecord


class FoundSource(NamedTuple):
    """The files of a source that responses are read from.

    Attributes:
        name: the source as typed.
        files: the files, in the order in which they are read: lm-eval's samples come first.
        needed: the files that the user named. Each of them must have responses.
        last_samples: the samples file that the user named last. It must have responses if no other
            samples file of the source has. None if no samples file was named last.
        notes: notes on the runs that the samples are of.
    """

    name: str
    files: Sequence[ResponseFile]
    needed: Set[Path]
    last_samples: Path | None
    notes: Sequence[Notice]


class FoundFiles(NamedTuple):
    """The files of all sources that responses are read from.

    Attributes:
        sources: the files of each source.
        cluster: the column with the groups of items: the one that the user named, or else the one
            by which all logs cluster their own standard errors. None if there is neither, because
            a file is no log, or because logs have different ones.
        unanswered: the runs of which no sample finished; their logs are not read.
        notes: notes on the choice of logs.
    """

    sources: Sequence[FoundSource]
    cluster: str | None
    unanswered: Sequence[UnansweredRun]
    notes: Sequence[Notice]


def find_response_files(
    sources: Sequence[str | Path],
    readers: Sequence[FileReader],
    shapes: Sequence[Shape] = SHAPES,
    cluster: str | None = None,
) -> FoundFiles:
    """Find the files of sources. The files of a URL are downloaded.

    Files of a folder are found if they are tables, or if their suffix is one of the readers'. Logs
    that their reader does not choose are left out.

    Args:
        sources: the sources; each may be written `label=path`.
        readers: readers of hosts' log files.
        shapes: known shapes of tables.
        cluster: the column with the groups of items; None if the user named none.

    Raises:
        UsageError: a source has no file, or runs of a model are in several folders.
        DataError: a log cannot be read, or a results file does not describe a run.
    """
    names = [*map(str, sources)]
    suffixes = tuple(suffix for reader in readers for suffix in reader.suffixes)
    places = [local_files(find_files(name, suffixes)) for name in names]
    reader_of_log = _readers_of_logs(places, readers)
    chosen_logs = _choose_logs_of_readers(places, readers, reader_of_log)
    found_sources = []
    for name, place, samples in zip(names, places, find_newest_samples(places), strict=True):
        found_sources.append(
            _files_of_source(name, place, samples, reader_of_log, chosen_logs, shapes)
        )
    paths = {path for place in places for path in place.paths}
    columns = {*chosen_logs.clusters.values()}
    has_one_column = len(columns) == 1 and paths <= reader_of_log.keys()
    return FoundFiles(
        sources=found_sources,
        cluster=columns.pop() if cluster is None and has_one_column else cluster,
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
        files=files,
        needed=set() if place.searched else tables,
        last_samples=last_samples,
        notes=samples.notes,
    )
