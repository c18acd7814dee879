"""Sources in, battles out: recognise the files, read, check, filter and merge."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pandas as pd

from podium import table
from podium.battles import Battles
from podium.counting.verdicts import verdicts_of
from podium.errors import DataError, UsageError
from podium.formats import pointwise
from podium.formats.containers import read_records
from podium.formats.files import find_files, local_files
from podium.formats.foreign import Foreign, fill_columns, rename_columns, translate_verdicts
from podium.hookspecs import Format, Reading, SourceFiles
from podium.human_labels import check_judge, label_by
from podium.plugins import catalogue
from podium.reading.recognition import known_formats, recognise_format, unrecognised_error
from podium.reading.rows import RecordTable, join_tables, keep_rows
from podium.storage.remote import Place, local_file, urls_in_errors, with_urls, without_secrets
from podium.text import as_text, some

Source: TypeAlias = str | Path | pd.DataFrame


@urls_in_errors()
def read_battles(
    *sources: Source,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    credit_map: Mapping[str, float] | None = None,
    unknown: Literal["error", "unread"] = "error",
    shown: Literal["a", "b", "unknown"] | None = None,
    fill: Mapping[str, str] | None = None,
    where: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    merge: bool = True,
    one_sided: Literal["unread", "keep"] = "unread",
    human_judge: str | None = None,
    metric: str | Sequence[str] = (),
    runs: Literal["newest", "all"] = "newest",
) -> Battles:
    """Read recorded judgements of any known format.

    Args:
        sources: files, directories or globs, each optionally `label=path`; or data frames.
        format: the format's name; by default it is recognised by content.
        columns: contract's name to foreign name, for tables in no known format.
        credit_map: foreign verdict to credit in [0, 1].
        unknown: what a verdict outside `credit_map` is.
        shown: whose response came first, where no column says it.
        fill: one value for every row, for columns that a table lacks, as `{"model_b": "baseline"}`.
        where: column to value, or pairs of both; only rows with all of them are kept.
        merge: average the two orders of a pair into one battle.
        one_sided: what a battle is of which one order could not be read.
        human_judge: the judge whose verdicts become the human labels of the others' battles of the same item and
            pair; conditions of `where` on the column `judge` spare its rows.
        metric: of lm-eval's samples: `metric,filter`, or the metric alone where a task has one filter, or several
            such names, or `all`; by default the only one there is.
        runs: of a model that lm-eval ran more than once on a task: the newest, or all, as repeats.

    Raises:
        UsageError: a path, format or column that does not exist; files of different formats.
        DataError: a file or a value in it is not what it should be.
        NotIdentifiedError: the human judge has nothing to label, or no label for it; several metrics, and nothing
            says which.
    """
    conditions = _conditions(where)
    chosen = catalogue.format_named(format) if format else None
    foreign = Foreign(columns, credit_map, unknown, shown, fill)
    metrics = (metric,) if isinstance(metric, str) else tuple(metric)
    places = [source if isinstance(source, pd.DataFrame) else _locate_files(str(source)) for source in sources]
    asked = Reading(metrics, runs == "all", conditions)
    tables, notes, lost, places = _gather_tables(places, chosen, asked)
    if not tables and (metrics or runs == "all"):
        raise UsageError(f"no lm-eval samples in {_names(sources)}: --metric and --runs choose among those")
    more, skipped = _read_tables([record for place in places for record in _open_source(place)], chosen, foreign)
    tables, notes = tables + more, notes + skipped
    if not tables:
        raise UsageError("; ".join([f"no file with verdicts in {_names(sources)}", *notes]))
    _refuse_mixture(tables)
    if human_judge is not None:
        check_judge([each.frame for each in tables], human_judge)
    tables, without_column = keep_rows(tables, conditions, human_judge)
    rows, missing, remarks = join_tables(tables)
    notes += [*without_column, *remarks]
    verdicts = verdicts_of(rows, merge=merge, keep_one_sided=one_sided == "keep")
    reading = _reading_options(foreign, format, conditions, merge, one_sided, human_judge)
    reading |= {"metric": list(metrics)} if metrics else {}
    reading |= {"runs": runs} if runs != "newest" else {}
    names = tuple(each.source for each in tables)
    battles = Battles(verdicts, missing, (*lost, *notes, *verdicts.notes()), names, reading, tuple(lost))
    return battles if human_judge is None else label_by(battles, human_judge)


def _reading_options(
    foreign: Foreign,
    format: str | None,
    conditions: Sequence[tuple[str, str]],
    merge: bool,
    one_sided: str,
    human_judge: str | None,
) -> dict[str, Any]:
    """Return the options that differ from the defaults, for the record."""
    asked = {**asdict(foreign), "format": format, "where": [list(condition) for condition in conditions]}
    asked |= {"merge": merge, "one_sided": one_sided, "human_judge": human_judge}
    usual: tuple[Any, ...] = (None, [], "error", True, "unread")
    return {name: value for name, value in asked.items() if value not in usual}


def _conditions(where: Mapping[str, str] | Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    pairs = list(where.items() if isinstance(where, Mapping) else where)
    if any(isinstance(pair, str) or len(pair) != 2 for pair in pairs):
        raise UsageError(f"where={where!r}: write {{'column': 'value'}}, or a list of (column, value) pairs")
    return [(column, str(value)) for column, value in pairs]


def _gather_tables(
    places: list[SourceFiles | pd.DataFrame], chosen: Format | None, reading: Reading
) -> tuple[list[RecordTable], list[str], list[str], list[SourceFiles | pd.DataFrame]]:
    """Let formats read files that belong together.

    Returns:
        The tables, notes of them, what could not be read or compared, and what is left of the sources.
    """
    tables: list[RecordTable] = []
    notes: list[str] = []
    lost: list[str] = []
    for known in [chosen] if chosen else known_formats():
        if known.gathers is None:
            continue
        files = [local_files(place, known.names) for place in places if isinstance(place, SourceFiles)]
        gathered = known.gather(files, reading)
        tables += [_check_table(RecordTable(with_urls(name), frame, known.name)) for name, frame in gathered.sheets]
        notes += map(with_urls, gathered.notes)
        lost += map(with_urls, gathered.lost)
        places = [_leave_out(place, gathered.claimed) for place in places]
    return tables, notes, lost, places


def _openers() -> list[Format]:
    return [known for known in known_formats() if known.opens is not None]


def _names(sources: Sequence[Source]) -> str:
    return without_secrets(some(sources) or "nothing")


def _locate_files(source: str) -> SourceFiles:
    return find_files(source, tuple(suffix for opener in _openers() for suffix in opener.suffixes))


def _leave_out(place: SourceFiles | pd.DataFrame, claimed: AbstractSet[Path]) -> SourceFiles | pd.DataFrame:
    if isinstance(place, pd.DataFrame) or not claimed:
        return place
    remote = tuple(each for each in place.remote if each.local_path not in claimed)
    return replace(place, paths=tuple(path for path in place.paths if path not in claimed), remote=remote)


def _open_source(place: SourceFiles | pd.DataFrame) -> list[RecordTable]:
    """Read the records of a source, whatever they are."""
    if isinstance(place, pd.DataFrame):
        return [RecordTable("the data frame", place.set_axis(pd.RangeIndex(1, len(place) + 1, name="row")))]
    openers = _openers()
    frames = ((path, _read_frame(path, openers)) for path in (*place.paths, *place.remote))
    return [
        RecordTable(str(path), frame, label=place.label, optional=place.searched, missing=frame.attrs.get("missing"))
        for path, frame in frames
    ]


def _read_frame(place: Place, openers: Sequence[Format]) -> pd.DataFrame:
    """Read a file by the first format that opens it, else as a table."""
    for opener in openers:
        frame = opener.open(local_file(place)) if place.name.endswith(opener.suffixes) else None
        if frame is not None:
            return frame
    return read_records(local_file(place))


def _read_tables(
    opened: Sequence[RecordTable], chosen: Format | None, foreign: Foreign
) -> tuple[list[RecordTable], list[str]]:
    """Translate and check the files that hold verdicts; return them, and notes of the files left out."""
    tables: list[RecordTable] = []
    silent: list[str] = []
    alone: list[str] = []
    for record in (_name_columns(record, foreign) for record in opened):
        known = chosen or recognise_format(frozenset(map(str, record.frame)), record.label)
        if known is None and record.optional:
            silent.append(record.source)
            continue
        translated = _translate_table(record, known, foreign)
        if len(opened) > 1 and _is_only_against_itself(translated.frame):
            alone.append(record.source)
            continue
        tables.append(_check_table(translated))
    notes = (
        (silent, f"{len(silent)} files hold no verdicts and were skipped"),
        (alone, "files that compare a model only with itself were skipped"),
    )
    return tables, [f"{text}: {some(names)}" for names, text in notes if names]


def _name_columns(record: RecordTable, foreign: Foreign) -> RecordTable:
    """Give the columns that `--columns` names the contract's names, and add those of `--fill`."""
    try:
        frame = rename_columns(record.frame, foreign.columns or {})
        return replace(record, frame=fill_columns(frame, foreign.fill or {}))
    except UsageError as error:
        raise UsageError(f"{record.source}: {error}") from None


def _translate_table(record: RecordTable, known: Format | None, foreign: Foreign) -> RecordTable:
    """Turn foreign records into columns of the contract.

    Raises:
        DataError: the file is in no known format, or not in the one that was said.
        UsageError: a column that was named does not exist.
    """
    if known is None:
        raise unrecognised_error(frozenset(map(str, record.frame))).with_place(record.source)
    try:
        frame = catalogue.format_reader(known)(_add_label(record.frame, record.label, known.label_is))
        frame = translate_verdicts(frame, foreign)
    except DataError as error:
        raise error.with_place(record.source) from None
    except UsageError as error:
        raise UsageError(f"{record.source}: {error}") from None
    except KeyError as error:
        problem = f"no column {error}, which the format {known.name} needs"
        raise DataError(problem, source=record.source, remedy="choose another --from") from None
    return replace(record, frame=frame, format=known.name)


def _is_only_against_itself(frame: pd.DataFrame) -> bool:
    """Recognise the baseline's own file in a results tree: nothing in it is a battle."""
    if not {"model_a", "model_b"} <= set(frame) or not len(frame):
        return False
    return bool((as_text(frame["model_a"]) == as_text(frame["model_b"])).all())


def _check_table(record: RecordTable) -> RecordTable:
    check = pointwise.check_scores if pointwise.is_pointwise(record.frame) else table.check
    return replace(record, frame=check(record.frame, record.source))


def _add_label(records: pd.DataFrame, label: str | None, column: str | None) -> pd.DataFrame:
    """Write the label where the format keeps its one model's name, else into a column `source`."""
    if label is None:
        return records
    names_the_model = column is not None and (column not in records or records[column].nunique() <= 1)
    return records.assign(**{column if names_the_model and column else "source": label})


def _refuse_mixture(tables: Sequence[RecordTable]) -> None:
    seen = {each.format: each.source for each in tables}
    if len(seen) > 1:
        kinds = ", ".join(f"{source} is {name}" for name, source in seen.items())
        raise UsageError(
            f"mixed formats: {kinds}; rank them one at a time, or `podium convert` each and rank the results together"
        )
