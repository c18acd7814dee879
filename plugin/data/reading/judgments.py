"""Read judgments from sources: recognise the files, read, check, filter and merge them into
battles."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePath
from typing import Any, Literal, TypeAlias

import pandas as pd

from podium.data.battles import Battles
from podium.data.counting.duck import Duck
from podium.data.counting.relations import text as quote
from podium.data.counting.spark import Spark
from podium.data.counting.verdicts import Engine, Verdicts, start_engine
from podium.data.formats import score_files as pointwise
from podium.data.formats.containers import open_records
from podium.data.formats.files import find_files, local_files
from podium.data.formats.foreign import Foreign, name_columns, propose_map, translate_verdicts
from podium.data.formats.records import Column, Records, records_of, records_of_view
from podium.data.formats.win_matrix import (
    ambiguous_matrix,
    find_label_column,
    read_win_matrix,
    shares_names,
)
from podium.data.human_labels import check_judge, label_by_judge
from podium.data.ladder import ladder_from_log
from podium.data.reading.on_spark import COPIES, is_parquet, scan_parquet
from podium.data.reading.rows import (
    RecordTable,
    distinct_texts,
    join_tables,
    keep_rows,
    note_odd_items,
)
from podium.data.reading.table import FRAME, check, is_pointwise, remedy_of_columns
from podium.data.reading.units import likely_item, name_items, name_items_of_scores
from podium.defaults import RANKER_OF_DECISIONS
from podium.errors import DataError, UsageError, named_in_errors
from podium.findings import check_findings
from podium.hookspecs import Format, GatheredBattles, Reading, SourceFiles
from podium.plugins import catalogue
from podium.storage.remote import local_file, urls_in_errors, with_urls, without_secrets
from podium.text import some

Source: TypeAlias = str | Path | pd.DataFrame
DEFAULTS: tuple[Any, ...] = (None, [], "error", True, "unparsed", "newest")
STANDARD_INPUT = Path("/dev/stdin")
TASKS = {"response": "ring -T responses=FILES", "chosen": "recorded -T battles=FILE"}
"""Of a column of files of responses, the task that judges them."""
WIN_MATRIX = "win-matrix"
OWN_TABLE = "podium.data.formats.podium_table:read"
"""Reader of podium's table, which needs no translation and therefore is not read into Python."""


@dataclass(frozen=True, slots=True)
class BattleQuery:
    """The arguments of `read_battles`; `options` holds those that differ from the default."""

    sources: Sequence[Source]
    format: Format | None
    foreign: Foreign
    reading: Reading
    human_judge: str | None
    merging: Mapping[str, bool]
    options: Mapping[str, Any]
    scores_only: bool | None


@urls_in_errors()
def read_battles(
    *sources: Source,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    credit_map: Mapping[str, float] | None = None,
    unknown: Literal["error", "unparsed"] = "error",
    shown: Literal["a", "b", "unknown"] | None = None,
    fill: Mapping[str, str] | None = None,
    matrix: Literal["rows", "columns"] | None = None,
    where: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    merge: bool = True,
    one_sided: Literal["unparsed", "keep"] = "unparsed",
    human_judge: str | None = None,
    metric: str | Sequence[str] = (),
    runs: Literal["newest", "all"] = "newest",
    engine: str = "duckdb",
    memory: str | None = None,
    scores_only: bool | None = False,
    allow: str | Sequence[str] = (),
) -> Battles:
    """Read recorded judgments of any known format.

    Args:
        sources: files, folders, globs or URLs (s3:, gs:, https:), each optionally `label=path`; or
            data frames.
        format: name of the format; by default it is recognised by content.
        columns: podium's column name to the table's, for tables in no known format.
        credit_map: verdict to credit in [0, 1].
        unknown: whether a verdict outside `credit_map` is an error or unparsed.
        shown: whose response was shown first, if no column says it.
        fill: one value for all rows of a column that a table lacks, as `{"model_b": "baseline"}`.
        matrix: of tables of wins whose rows and columns are the same models: whether a cell counts
            the wins of its row's model, or of its column's.
        where: column to value, or pairs of both; only rows with all of them are kept.
        merge: average the two orders of a pair into one battle.
        one_sided: whether a battle with one unparsed order is unparsed or keeps the other order's
            verdict.
        human_judge: the judge whose verdicts become the human labels of the other judges' battles
            of the same item and pair; conditions of `where` on the column `judge` do not apply to
            its rows.
        metric: for lm-eval's samples: `metric,filter`, or the metric alone if a task has one
            filter, several such names, or `all`; by default the only metric there is.
        runs: which runs count if a model was run on a task, or a tournament was played, more than
            once: the newest, or all, as repeats.
        engine: the database: `duckdb`, `spark`, or `spark=URL` of a master.
        memory: the most that DuckDB holds in memory, for example `700MB`; it writes the rest to
            disk.
        scores_only: pair large sets of pointwise scores just enough for the rankers `mean` and
            `median`; None: if `mean` is their default ranker.
        allow: names of findings that are no errors then, such as `epochs`; the answer names them.

    Raises:
        UsageError: a path, format or column that does not exist; files of different formats.
        DataError: a file is damaged, or a value in it is invalid. NotIdentifiedError: the human
        judge has no label for the battles; or several metrics, and none was chosen.
    """
    _require_sources(sources)
    if unknown == "unparsed" and credit_map is None:
        raise UsageError(
            "unknown=unparsed is for verdicts outside the credit map: give one (--credit-map)"
        )
    conditions, metrics, allowed = (
        _parse_conditions(where),
        _as_names(metric),
        check_findings(_as_names(allow)),
    )
    foreign = Foreign(columns, credit_map, unknown, shown, fill, matrix)
    options = {
        **asdict(foreign),
        "format": format,
        "where": [list(condition) for condition in conditions],
    }
    options |= {
        "merge": merge,
        "one_sided": one_sided,
        "human_judge": human_judge,
        "metric": [*metrics],
        "runs": runs,
    }
    options = {
        name: value
        for name, value in (options | {"allow": [*allowed]}).items()
        if value not in DEFAULTS
    }
    merging = {"merge": merge, "keep_one_sided": one_sided == "keep"}
    reading = Reading(metrics, runs == "all", conditions, allowed)
    chosen = catalogue.extension(Format, format) if format else None
    query = BattleQuery(
        sources, chosen, foreign, reading, human_judge, merging, options, scores_only
    )
    counting = start_engine(engine, memory)
    needs_rows = any((format, credit_map, shown, fill, matrix, conditions, human_judge, metrics))
    if isinstance(counting, Duck) or needs_rows or not is_parquet(sources):
        return _read_files(
            query, counting if isinstance(counting, Duck) else Duck(memory), counting
        )
    return _scan_files(query, counting)


def _scan_files(query: BattleQuery, counting: Spark) -> Battles:
    """Read Parquet files of podium's own columns on Spark, which reads them itself."""
    places = [str(source) for source in query.sources]
    relation = scan_parquet(counting, places, query.foreign.columns)
    verdicts = _require_distinct_names(Verdicts(counting, relation, **query.merging))
    notes = (*verdicts.notes(), *([COPIES] if len(places) > 1 else []))
    return Battles(verdicts, None, notes, tuple(map(without_secrets, places)), query.options)


def _require_sources(sources: Sequence[Source]) -> None:
    """Raise UsageError for a source that is neither a path nor a data frame."""
    for kind in [
        type(source).__name__
        for source in sources
        if not isinstance(source, pd.DataFrame | str | PurePath)
    ]:
        raise UsageError(
            f"a source is a path or a data frame, not a {kind}: give pandas.DataFrame(records)"
        )


def _read_files(query: BattleQuery, duck: Duck, counting: Engine) -> Battles:
    """Read all sources into one view, which `counting` counts."""
    places = [
        source if isinstance(source, pd.DataFrame) else _locate_files(str(source))
        for source in query.sources
    ]
    tables, gathered = _gather_tables(duck, places, query)
    notes, lost = [*gathered.notes], gathered.lost
    places_read = without_secrets(some(query.sources) or "nothing")
    if not tables and (query.reading.metrics or query.reading.all_runs):
        there = f"no lm-eval samples in {places_read}, and no Inspect logs"
        raise UsageError(f"{there}: --metric and --runs choose among those")
    opened = [table for place in places for table in _open_place(duck, place)]
    more, skipped = _read_tables(opened, query.format, query.foreign)
    tables, notes = tables + more, notes + skipped
    if not tables:
        raise UsageError("; ".join([f"no file with verdicts in {places_read}", *notes]))
    seen = {each.format: each.source for each in tables}
    if len(seen) > 1:
        kinds = ", ".join(f"{source} is {name}" for name, source in seen.items())
        remedy = "rank them one at a time, or `podium convert` each and rank the results together"
        raise UsageError(f"mixed formats: {kinds}; {remedy}")
    if query.human_judge is not None:
        holders = [each.records for each in tables if "judge" in each.records.columns]
        judges = [name for records in holders for name in distinct_texts(records, "judge")]
        check_judge(judges, query.human_judge)
    tables, named = name_items(duck, tables)
    conditions = [
        ("item" if column == named else column, value) for column, value in query.reading.where
    ]
    tables, without_column = keep_rows(tables, conditions, query.human_judge)
    facts = _shared_facts(tables, is_whole=not query.reading.where)
    scores_only = (
        facts["default_ranker"] == "mean" if query.scores_only is None else query.scores_only
    )
    metrics = _metrics_in(tables)
    view, missing, remarks, copies = join_tables(duck, tables, scores_only=scores_only)
    if counting is not duck:
        counting.register(view, duck.table(f"select * from {view}"))
    verdicts = _require_distinct_names(Verdicts(counting, view, **query.merging))
    likely = likely_item(duck, records_of_view(duck, view, ""))
    notes += [*without_column, *remarks, *note_odd_items(duck, view, likely), *verdicts.notes()]
    names, all_notes = tuple(each.source for each in tables), (*gathered.accepted, *lost, *notes)
    facts |= {
        "metrics": metrics,
        "apart": gathered.apart,
        "accepted": tuple(gathered.accepted),
        "likely_item": likely,
    }
    battles = Battles(
        verdicts, missing, all_notes, names, query.options, tuple(lost), copies, **facts
    )
    return battles if query.human_judge is None else label_by_judge(battles, query.human_judge)


def _require_distinct_names(verdicts: Verdicts) -> Verdicts:
    """Return verdicts; DataError if the names of two models differ only by blanks at their ends."""
    known: dict[str, str] = {}
    for name in verdicts.models:
        if (other := known.setdefault(name.strip(), name)) != name:
            problem = f"the models {other!r} and {name!r} differ only by blanks at the ends of their names"
            raise DataError(
                problem,
                remedy="write the name of a model in one way, and those of two models in two",
            )
    return verdicts


def _shared_facts(tables: Sequence[RecordTable], *, is_whole: bool) -> dict[str, Any]:
    """Return the answer and ladder that all tables share, as parts of one tournament do, and the
    default ranker."""
    first = tables[0]
    answer = (
        first.answer if is_whole and all(each.answer == first.answer for each in tables) else None
    )
    kept = first.ladder if all(each.ladder == first.ladder for each in tables) else None
    # lm-eval's scores have the metric as judge.
    own = [(each.records.columns, each.format == "lm-eval") for each in tables]
    no_judge = all(
        is_pointwise(names) and (are_metrics or "judge" not in names) for names, are_metrics in own
    )
    default_ranker = "mean" if no_judge else RANKER_OF_DECISIONS
    return {
        "answer": answer,
        "ladder": ladder_from_log(kept) if kept else None,
        "default_ranker": default_ranker,
    }


def _as_names(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    return (given,) if isinstance(given, str) else tuple(given)


def _metrics_in(tables: Sequence[RecordTable]) -> frozenset[str]:
    """Return the names in the column `judge` that are metrics of hosts' evals."""
    scored = [
        each.records for each in tables if each.has_metrics and "judge" in each.records.columns
    ]
    return frozenset(name for records in scored for name in distinct_texts(records, "judge"))


def _parse_conditions(
    where: Mapping[str, str] | Sequence[tuple[str, str]],
) -> list[tuple[str, str]]:
    pairs = list(where.items() if isinstance(where, Mapping) else where)
    if any(isinstance(pair, str) or len(pair) != 2 for pair in pairs):
        raise UsageError(
            f"where={where!r}: write {{'column': 'value'}}, or a list of (column, value) pairs"
        )
    return [(column, str(value)) for column, value in pairs]


def _gather_tables(
    engine: Duck, places: list[SourceFiles | pd.DataFrame], query: BattleQuery
) -> tuple[list[RecordTable], GatheredBattles]:
    """Read files that belong together and drop them from `places`; return tables, and what else was
    gathered."""
    tables, whole = list[RecordTable](), GatheredBattles()
    for known in [query.format] if query.format else catalogue.formats():
        if known.gathers is None:
            continue
        files = [
            local_files(place, known.names) for place in places if isinstance(place, SourceFiles)
        ]
        gathered = known.gather(files, query.reading)
        for source, frame in gathered.sheets:
            records = check(records_of(engine, frame, with_urls(source)))
            facts = {name: frame.attrs.get(name) for name in ("missing", "answer", "ladder")}
            # Hosts' evals have scores by model, and tournaments have battles.
            facts["has_metrics"] = records is not None and is_pointwise(records.columns)
            facts["chances"] = frame.attrs.get("chances", frozenset())
            tables += [RecordTable(records, known.name, **facts)] if records is not None else []
        whole = GatheredBattles(
            notes=[*whole.notes, *map(with_urls, gathered.notes)],
            lost=[*whole.lost, *map(with_urls, gathered.lost)],
            apart=whole.apart or (gathered.apart if gathered.sheets else None),
            accepted=[*whole.accepted, *map(with_urls, gathered.accepted)],
        )
        for k, place in enumerate(places):
            if isinstance(place, SourceFiles):
                paths = tuple(path for path in place.paths if path not in gathered.claimed)
                remote = tuple(
                    each for each in place.remote if each.local_path not in gathered.claimed
                )
                places[k] = replace(place, paths=paths, remote=remote)
    return tables, whole


def _locate_files(source: str) -> SourceFiles:
    """Find the files of a source; `-` is standard input, and `file.duckdb#table` names a table of a
    file."""
    label, _, name = source.rpartition("=")
    if name == "-":
        return SourceFiles(label or None, (STANDARD_INPUT,), searched=False)
    file, mark, table = source.rpartition("#")
    suffixes = tuple(suffix for known in catalogue.formats() for suffix in known.suffixes)
    if not mark or Path(source).exists():
        return find_files(source, suffixes)
    held = find_files(file, suffixes)
    return replace(held, paths=tuple(path.with_name(f"{path.name}#{table}") for path in held.paths))


def _open_place(engine: Duck, place: SourceFiles | pd.DataFrame) -> list[RecordTable]:
    """Open a data frame, or the files of a source, as tables."""
    if isinstance(place, pd.DataFrame):
        named = (
            place.reset_index()
            if shares_names([*map(str, place.index)], [*map(str, place.columns)])
            else place
        )
        frame = named.set_axis(pd.RangeIndex(1, len(named) + 1, name="row"))
        return [RecordTable(records_of(engine, frame, FRAME))]
    tables = []
    for file in (*place.paths, *place.remote):
        records = replace(open_records(local_file(file), engine), source=str(file))
        tables.append(RecordTable(records, label=place.label, optional=place.searched))
    return tables


def _read_tables(
    opened: Sequence[RecordTable], chosen: Format | None, foreign: Foreign
) -> tuple[list[RecordTable], list[str]]:
    """Translate and check the tables that hold verdicts; also return notes on the files left
    out."""
    tables, empty, alone, matrices = [], [], [], []
    for record in opened:
        with named_in_errors(record.source):
            translated = _translate_table(record, chosen, foreign)
        if translated is None and find_label_column(record.records) is not None:
            matrices.append(record.source)
        elif translated is None:
            empty.append(record.source)
        elif checked := _check_table(translated.records, skip_alone=len(opened) > 1):
            tables.append(replace(translated, records=checked))
        else:
            alone.append(record.source)
    if foreign.matrix is not None and not any(each.format == WIN_MATRIX for each in tables):
        raise UsageError(
            f"--matrix {foreign.matrix}: no source is a table of wins with the same rows and columns"
        )
    notes = [note for each in tables for note in each.notes]
    notes += (
        [f"{len(empty)} files hold no verdicts and were skipped: {some(empty)}"] if empty else []
    )
    if matrices:
        notes.append(
            f"tables of wins were skipped, because none says whose they are: {some(matrices)}; say --matrix"
        )
    notes += (
        [f"files that compare a model only with itself were skipped: {some(alone)}"]
        if alone
        else []
    )
    return tables, [*notes, *_note_shorter_files(tables)]


def _note_shorter_files(tables: Sequence[RecordTable]) -> list[str]:
    """Return a note on files of an AlpacaEval folder with fewer annotations than the fullest."""
    sizes = {
        each.source: each.records.number or 0 for each in tables if each.format == "alpaca-eval"
    }
    most = max(sizes.values(), default=0)
    few = [f"{source} ({number} of {most})" for source, number in sizes.items() if number < most]
    return [f"files with fewer annotations than the fullest: {some(few)}"] if few else []


def _translate_table(
    record: RecordTable, chosen: Format | None, foreign: Foreign
) -> RecordTable | None:
    """Translate a table to columns of the battles table; None if an optional file holds no
    verdicts."""
    records = name_items_of_scores(name_columns(record.records, foreign))
    known, notes = chosen or recognise_format(frozenset(records.columns), record.label), list[str]()
    if known is None and (label := find_label_column(records)) is not None:
        return _translate_win_matrix(replace(record, records=records), label, foreign.matrix)
    if known is None:
        if not record.optional:
            records, notes = pointwise.name_rows_of_matrix(records)
        scores, more = pointwise.matrix_scores(records)
        if scores is None and record.optional:
            return None
        if scores is None:
            raise unrecognised_error(frozenset(records.columns), record.source)
        records, notes = scores, [*notes, *more]
    if record.label is not None:
        # The column of the format's one model; if it has none or several, `source`.
        column = (known and known.label_is) or "source"
        held = records.columns.get(column)
        several = held is not None and not records.rows(f"count(distinct {held.text}) <= 1")[0][0]
        name = "source" if several else column
        records = replace(records, columns={**records.columns, name: Column(quote(record.label))})
    if known is None:
        return replace(record, records=records, format="pointwise", notes=notes)
    if known.read != OWN_TABLE:
        with catalogue.name_plugin_in_errors(known):
            try:
                frame = catalogue.load_extension(known)(records.frame())
            except KeyError as error:
                problem = f"no column {error}, which the format {known.name} needs"
                raise DataError(problem, remedy="choose another --from") from None
        records = records_of(records.engine, frame, record.source)
    return replace(record, records=translate_verdicts(records, foreign), format=known.name)


def _translate_win_matrix(
    record: RecordTable, label: str, reading: str | None
) -> RecordTable | None:
    """Translate a matrix of wins; without its reading DataError, or None for a file found in a
    folder."""
    if reading is None and record.optional:
        return None
    if reading is None:
        raise ambiguous_matrix(record.records, label)
    battles = read_win_matrix(record.records, label, reading)
    own = "row" if reading == "rows" else "column"
    note = f"{record.source}: each cell is read as the number of battles that its {own}'s model won; ties are not in it"
    return replace(record, records=battles, format=WIN_MATRIX, notes=[note])


def _check_table(records: Records, *, skip_alone: bool) -> Records | None:
    """Check a table; if its credits are words, the error holds a `--credit-map` to copy."""
    try:
        return check(records, skip_alone=skip_alone)
    except DataError as error:
        option = (
            propose_map(records, records.source == FRAME)
            if error.problem.startswith("credit ")
            else None
        )
        if option is None:
            raise
        remedy = f"translate the words, for example {option}"
        raise DataError(error.problem, remedy=remedy, source=error.source, row=error.row) from None


def recognise_format(columns: frozenset[str], label: str | None = None) -> Format | None:
    """Return the format whose signature fits the columns best, None if none fits; UsageError if two
    fit equally."""
    fits: dict[int, list[Format]] = {}
    for known in catalogue.formats():
        given = columns | {known.label_is} if label and known.label_is else columns
        fits.setdefault(known.specificity(frozenset(given)), []).append(known)
    best = max(fits)
    if best and len(fits[best]) > 1:
        names = " or ".join(sorted(known.name for known in fits[best]))
        raise UsageError(f"the columns fit {names}: say which with --from")
    return fits[best][0] if best else None


def unrecognised_error(columns: frozenset[str], source: str) -> DataError:
    """Return the error for a file in no known format; it names the nearest one if half of its
    columns are there."""
    signatures = [
        (known.name, signature) for known in catalogue.formats() for signature in known.signature
    ]
    name, best = max(signatures, key=lambda pair: len(pair[1] & columns) / len(pair[1]))
    near = f" (nearest: {name}, which also needs {', '.join(sorted(best - columns))})"
    problem = f"no known format has the columns {', '.join(sorted(columns)[:20]) or '(none)'}"
    remedy = (
        f"{remedy_of_columns(sorted(columns), source)}; `podium list formats` shows what is known"
    )
    for column, task in TASKS.items():
        if column in columns:
            remedy += f"; if the file holds responses to judge, `inspect eval podium/{task} --model-role judge=MODEL`"
    return DataError(
        problem + (near if 2 * len(best & columns) >= len(best) else ""), remedy=remedy
    )
