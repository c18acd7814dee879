"""Open and gather the files of all sources, as tables of one format.

A source is a file, a folder, a glob, a URL or a data frame. A sheet is a data frame that a format
makes of several files.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.comparability.responses import ResponseFinding
from podium.data.asked_judges import notes_on_forms
from podium.data.counting.duck import Duck
from podium.data.formats.bad_rows import BadRow
from podium.data.formats.containers import open_records
from podium.data.formats.files import find_files, local_files
from podium.data.formats.headline_metrics import ALL_METRICS
from podium.data.formats.records import Records, records_of
from podium.data.formats.win_matrix import SHARE_OF_NAMES, shares_names
from podium.data.query import BattleQuery
from podium.data.reading.rows import RecordTable
from podium.data.reading.rows_left_out import notes_on_bad_rows
from podium.data.reading.table import FRAME, check
from podium.data.reading.table_translation import translate_tables
from podium.errors import NotATableError, UsageError
from podium.frames import is_frame
from podium.hookspecs import Format, GatheredBattles, Reading, SourceFiles
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_texts
from podium.notices.option_forms import option_text
from podium.plugins import catalogue
from podium.storage.remote import RemoteFile, local_file, with_urls, without_secrets
from podium.wording import some_paths

if TYPE_CHECKING:
    import pandas as pd


STANDARD_INPUT = Path("/dev/stdin")
"""The file that the source `-` stands for."""


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """A query, with what it says to formats that read several files together.

    Attributes:
        query: the query.
        reading: the options for formats that read several files together.
    """

    query: BattleQuery
    reading: Reading


@dataclass(frozen=True, slots=True)
class SourceTables:
    """The tables of all sources, all of one format.

    Attributes:
        tables: a table per file or sheet that has verdicts or scores.
        gathered: notes and other results of formats that read several files together. Their sheets
            are among the tables.
        notes: warnings made while reading.
        other_responses: models whose rows hold different responses to one item.
        identical_responses: the items on which two models gave identical responses, by the pair.
    """

    tables: Sequence[RecordTable]
    gathered: GatheredBattles
    notes: tuple[Notice, ...]
    other_responses: tuple[ResponseFinding, ...] = ()
    identical_responses: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)


def read_tables_of_sources(duck: Duck, plan: ReadingPlan) -> SourceTables:
    """Read all sources as tables.

    Raises:
        UsageError: no source has verdicts, their formats differ, the query names a format that does
            not exist, or it chooses a metric or runs and no source has files of which these are
            read.
        DataError: a file is damaged, in no known format, or has an invalid value.
    """
    query = plan.query
    sources = query.sources
    reading = plan.reading
    chosen = None if query.format is None else catalogue.extension(Format, query.format)
    places = [source if is_frame(source) else _locate_files(str(source)) for source in sources]
    formats = catalogue.formats() if chosen is None else [chosen]
    tables, gathered = _gather_tables(duck, places, formats, reading)
    places_read = _places_in_words(sources)
    names_metrics = reading.metrics and ALL_METRICS not in reading.metrics
    if not tables and (names_metrics or reading.all_runs):
        there = f"no lm-eval samples in {places_read}, and no Inspect logs"
        choices = f"{option_text('metric')} and {option_text('runs')}"
        raise UsageError(f"{there}: {choices} choose among those")
    opened = [table for place in places for table in _open_place(duck, place)]
    more, skipped = translate_tables(opened, chosen, query.foreign)
    tables = tables + more
    gathered = replace(gathered, lost=[*gathered.lost, *notes_on_bad_rows(more)])
    notes = (*gathered.notes, *skipped)
    if not tables:
        reasons = [f"no file with verdicts in {places_read}", *notice_texts(notes)]
        raise UsageError("; ".join(reasons))
    _require_one_format(tables)
    return SourceTables(tables, gathered, notes)


def _places_in_words(sources: Sequence[Any]) -> str:
    """Return the sources as a text for messages, such as `a.csv and a data frame`.

    URLs are without secrets. The text is `nothing` if there is no source.
    """
    named = ["a data frame" if is_frame(source) else source for source in sources]
    return without_secrets(some_paths(named) or "nothing")


def _require_one_format(tables: Sequence[RecordTable]) -> None:
    """Raise UsageError if tables are of different formats."""
    seen = {each.format: each.source for each in tables}
    if len(seen) > 1:
        kinds = ", ".join(f"{source} is {name}" for name, source in seen.items())
        remedy = "rank them one at a time, or `podium convert` each and rank the results together"
        raise UsageError(f"mixed formats: {kinds}; {remedy}")


def _gather_tables(
    duck: Duck,
    places: "list[SourceFiles | pd.DataFrame]",
    formats: Sequence[Format],
    reading: Reading,
) -> tuple[list[RecordTable], GatheredBattles]:
    """Let formats read the files that belong together, such as the logs of one eval.

    Args:
        duck: the database.
        places: the files of each source, or its data frame. Files that are read are removed from
            this list in place.
        formats: the formats that may read them: the one that the user named, or all.
        reading: the options for these formats.

    Returns:
        The tables of these files, and the notes and other results of their formats.
    """
    tables = list[RecordTable]()
    sheets = list[tuple[str, "pd.DataFrame"]]()
    whole = GatheredBattles()
    for known in formats:
        of_files = [place for place in places if isinstance(place, SourceFiles)]
        if known.gathers is None or not known.may_gather(of_files):
            continue
        files = [local_files(place, known.names) for place in of_files]
        gathered = known.gather(files, reading)
        sheets += [(with_urls(source), frame) for source, frame in gathered.sheets]
        for source, frame in gathered.sheets:
            table = _table_of_sheet(records_of(duck, frame, with_urls(source)), frame, known.name)
            if table is not None:
                tables.append(table)
        whole = GatheredBattles(
            notes=[*whole.notes, *(note.map_texts(with_urls) for note in gathered.notes)],
            lost=[*whole.lost, *(loss.map_texts(with_urls) for loss in gathered.lost)],
            apart=whole.apart or (gathered.apart if gathered.sheets else None),
            accepted=[*whole.accepted, *map(with_urls, gathered.accepted)],
            runs=[*whole.runs, *gathered.runs],
            questions=[*whole.questions, *gathered.questions],
        )
        places[:] = [_without_files(place, gathered.claimed) for place in places]
    return tables, replace(whole, notes=[*whole.notes, *notes_on_forms(sheets)])


def _table_of_sheet(records: Records, frame: "pd.DataFrame", format: str) -> RecordTable | None:
    """Check a sheet, and return it as a table with the facts in the `attrs` of its data frame.

    The result is never None.

    Raises:
        NoRowError: the sheet has no row.
        DataError: a column is missing, or a value is invalid.
    """
    checked = check(records)
    if checked is None:
        return None
    return RecordTable(
        checked,
        format,
        missing=frame.attrs.get("missing"),
        facts_of_tasks=frame.attrs.get("facts_of_tasks") or {},
        answer=frame.attrs.get("answer"),
        ladder=frame.attrs.get("ladder"),
        measures=frame.attrs.get("measures") or (),
        chances=frame.attrs.get("chances", frozenset()),
        lower=frame.attrs.get("lower", frozenset()),
        judges=frame.attrs.get("judges") or {},
        cluster=frame.attrs.get("cluster"),
        one_sided=frame.attrs.get("one_sided"),
        is_of_host=True,
    )


def _without_files(
    place: "SourceFiles | pd.DataFrame", claimed: AbstractSet[Path]
) -> "SourceFiles | pd.DataFrame":
    """Return a source without the files that a format has read (`claimed`).

    A data frame is returned unchanged.
    """
    if not isinstance(place, SourceFiles):
        return place
    paths = tuple(path for path in place.paths if path not in claimed)
    remote = tuple(each for each in place.remote if each.local_path not in claimed)
    return replace(place, paths=paths, remote=remote)


def _locate_files(source: str) -> SourceFiles:
    """Find the files of a source.

    The source `-` is standard input, and `file.duckdb#table` is a table in a file. A label may
    stand before each (`label=-`).
    """
    label, _, name = source.rpartition("=")
    if name == "-":
        return SourceFiles(label or None, (STANDARD_INPUT,), searched=False)
    file, mark, table = source.rpartition("#")
    suffixes = tuple(suffix for known in catalogue.formats() for suffix in known.suffixes)
    if not mark or Path(source).exists():
        return find_files(source, suffixes)
    held = find_files(file, suffixes)
    named = tuple(path.with_name(f"{path.name}#{table}") for path in held.paths)
    return replace(held, paths=named)


def _open_place(engine: Duck, place: "SourceFiles | pd.DataFrame") -> list[RecordTable]:
    """Open a data frame, or the files of a source, as tables.

    The index of a data frame is replaced by the numbers of its rows. It becomes a column first if
    it shares names with the columns, as in a matrix of wins.
    """
    if not isinstance(place, SourceFiles):
        import pandas as pd

        named = place.reset_index() if _index_names_columns(place) else place
        frame = named.set_axis(pd.RangeIndex(1, len(named) + 1, name="row"))
        return [RecordTable(records_of(engine, frame, FRAME))]
    tables = []
    files: list[Path | RemoteFile] = [*place.paths, *place.remote]
    for file in files:
        bad_rows: list[BadRow] = []
        records = _open_file(file, engine, bad_rows, is_optional=place.searched)
        table = RecordTable(records, label=place.label, optional=place.searched, bad_rows=bad_rows)
        tables.append(table)
    return tables


def _index_names_columns(frame: "pd.DataFrame") -> bool:
    """Return whether the index of a frame has the names of columns, as a matrix of wins has.

    At least two names, and the share `SHARE_OF_NAMES` of the rows, must be names of columns.
    """
    if SHARE_OF_NAMES * len(frame) > len(frame.columns):
        return False
    return shares_names([*map(str, frame.index)], [*map(str, frame.columns)])


def _open_file(
    file: Path | RemoteFile, engine: Duck, bad_rows: list[BadRow], *, is_optional: bool
) -> Records:
    """Open a file as records.

    Args:
        file: the file.
        engine: the database.
        bad_rows: takes the malformed rows, which are left out when the rows are read.
        is_optional: whether the file was found in a folder. If it is no table, as a summary or a
            configuration, its records have no columns, so that it is left out with a note.

    Raises:
        UsageError, DataError: see `open_records`.
    """
    try:
        records = open_records(local_file(file), engine, bad_rows)
    except NotATableError:
        if not is_optional:
            raise
        import pandas as pd

        records = records_of(engine, pd.DataFrame(), str(file))
    return replace(records, source=str(file))
