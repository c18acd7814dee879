"""Read judgments from sources: recognise files, then read, check, filter and merge their rows.

A source is a file, a folder, a glob, a URL or a data frame. A sheet is a data frame that a format
makes of several files.
"""

import shlex
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

from podium.comparability.questions import FINDING, notices_of_questions
from podium.comparability.responses import ResponseFinding
from podium.comparability.run_settings import notices_of_settings
from podium.data.asked_judges import notes_on_forms
from podium.data.battles import Battles, source_column
from podium.data.counting.duck import Duck
from podium.data.counting.relations import text as quote
from podium.data.counting.spark import Spark
from podium.data.counting.verdicts import Engine, Verdicts, start_engine
from podium.data.formats import score_files as pointwise
from podium.data.formats.bad_rows import BadRow, sort_by_place
from podium.data.formats.containers import open_records
from podium.data.formats.files import find_files, local_files
from podium.data.formats.foreign import (
    format_credit_map,
    name_columns,
    propose_map,
    translate_verdicts,
)
from podium.data.formats.headline_metrics import ALL_METRICS
from podium.data.formats.records import Column, Records, records_of, records_of_view
from podium.data.formats.row_facts import name_weights
from podium.data.formats.run_folders import ON_TASKS, find_repeats
from podium.data.formats.win_matrix import (
    ambiguous_matrix,
    find_label_column,
    note_models_left_out,
    read_win_matrix,
    shares_names,
)
from podium.data.human_labels import find_judge, label_by_judge, label_by_table
from podium.data.ladder import Ladder, ladder_from_log
from podium.data.measure import Measure
from podium.data.query import BattleQuery, Foreign, Source
from podium.data.reading.arena_rows import (
    note_rows_counted,
    note_rows_left_out,
    split_conditions,
)
from podium.data.reading.directions import orient_scores
from podium.data.reading.guessed_mapping import Guess, guess_mapping
from podium.data.reading.identical_answers import find_identical_responses
from podium.data.reading.item_groups import require_groups, require_same_groups
from podium.data.reading.item_identity import identify_items
from podium.data.reading.judge_columns import judges_in
from podium.data.reading.mapping_files import (
    NO_FILE,
    apply_mapping_file,
    format_mapping,
    mapping_file_beside,
    name_of_mapping_file,
)
from podium.data.reading.metrics_by_filter import name_metrics_by_filter
from podium.data.reading.model_names import (
    join_names_alike,
    note_doubtful_names,
    require_distinct_names,
    require_same_spelling,
)
from podium.data.reading.nested_names import may_hold_nested_names, require_plain_names
from podium.data.reading.on_spark import COPIES, inputs_not_compared, is_parquet, scan_parquet
from podium.data.reading.repeat_numbers import pair_repeats
from podium.data.reading.response_texts import find_other_responses, without_bulky_responses
from podium.data.reading.rows import (
    RecordTable,
    distinct_texts,
    join_tables,
    keep_rows,
    note_odd_items,
)
from podium.data.reading.rows_left_out import notes_on_bad_rows, require_few
from podium.data.reading.setting_columns import name_models_by_settings
from podium.data.reading.shared_metrics import note_lone_models
from podium.data.reading.table import (
    FRAME,
    LIKELY,
    LIKELY_OF_SCORES,
    check,
    is_pointwise,
    lacks_only_items,
    may_be_figures_of_tasks,
    remedy_of_columns,
)
from podium.data.reading.units import likely_item, name_items, name_items_of_scores
from podium.data.reading.voters import note_voters
from podium.data.text_encodings import texts_in
from podium.defaults import RANKER_OF_DECISIONS
from podium.errors import (
    DataError,
    NotATableError,
    OneModelError,
    OtherQuestionError,
    PodiumError,
    UsageError,
    named_in_errors,
)
from podium.findings import ACCEPTED
from podium.frames import is_frame
from podium.hookspecs import Format, GatheredBattles, Reading, SourceFiles, load_target
from podium.names import joined_name
from podium.notices.notice import Notice, select_codes, split_remedies
from podium.notices.notice_text import notice_texts
from podium.notices.option_forms import are_assignable, format_assignments, option_text
from podium.plugins import catalogue
from podium.run_record import ONE_TASK
from podium.scorers.judge_record import join_judges
from podium.storage.remote import RemoteFile, local_file, urls_in_errors, with_urls, without_secrets
from podium.text import as_text
from podium.wording import join_names, some

if TYPE_CHECKING:
    import pandas as pd


STANDARD_INPUT = Path("/dev/stdin")
TASKS = {"response": "ring -T responses=FILES", "chosen": "recorded -T battles=FILE"}
"""For a column that files of responses have, the command that judges them, for messages."""
ONE_MODEL_COLUMNS = {
    "item": ("item", *LIKELY_OF_SCORES["item"]),
    "score": ("score", *LIKELY_OF_SCORES["score"]),
    "model": (
        *("model", "model_a", "model_b"),
        *LIKELY_OF_SCORES["model"],
        *LIKELY["model_a"],
        *LIKELY["model_b"],
    ),
}
"""Columns of a table with the scores of one model, and the names that they have, in lower case.

Such a table has no column `model`.
"""
WIN_MATRIX = "win-matrix"
EARLIER_RUNS = (*ON_TASKS, *ON_TASKS.values())
"""Codes of notes on runs that a newer run of the same model replaces."""
OWN_TABLE = "podium.data.formats.podium_table:read"
"""Reader of podium's own table. It needs no translation, so DuckDB reads it without Python."""


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """A query, with the objects that its names stand for.

    Attributes:
        query: the query.
        format: the format that the user named; None if it is recognised by content.
        reading: the options for formats that read several files together.
        counting: the database that counts the verdicts. Even if it is Spark, DuckDB reads files
            that Spark cannot read.
    """

    query: BattleQuery
    format: Format | None
    reading: Reading
    counting: Engine


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


@dataclass(frozen=True, slots=True)
class SharedFacts:
    """Facts that are the same for all tables.

    Attributes:
        answer: the finding of a tournament, if all tables are parts of it; else None.
        ladder: ratings on whose scale this tournament placed newcomers; None if there are none.
        default_ranker: `mean` for scores that no judge gave, else `bradley-terry`.
    """

    answer: Mapping[str, Any] | None
    ladder: Ladder | None
    default_ranker: str


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
    names: Literal["exact", "joined"] = "exact",
    ids: Literal["auto", "global", "per-category"] = "auto",
    lower_is_better: bool | None = None,
    cluster: str | None = None,
    encoding: str | None = None,
    mapping: str | None = None,
) -> Battles:
    """Read recorded judgments of any known format.

    Args:
        sources: files, folders, globs or URLs (s3:, gs:, https:), each optionally `label=path`; or
            data frames.
        format: name of the format; by default it is recognised by content.
        columns: names of the columns in the table, by podium's names, for tables in no known
            format.
        credit_map: credit in [0, 1] of each verdict in the table.
        unknown: whether a verdict that is not in `credit_map` is an error or unparsed.
        shown: the model whose response was shown first, if no column says so.
        fill: for columns that a table lacks, one value for all rows, as in
            `{"model_b": "baseline"}`.
        matrix: for tables of wins whose rows and columns are the same models, whether a cell counts
            the wins of its row's model (`rows`) or of its column's model (`columns`).
        where: a value for each of some columns, or pairs of a column and a value. Only rows with
            all of these values are kept.
        merge: whether the two orders of a pair are averaged into one battle.
        one_sided: what happens if only one of two orders is unparsed. With `unparsed`, the battle
            is unparsed. With `keep`, the verdict of the other order counts.
        human_judge: a judge, or a metric that humans gave. Its verdicts become the human labels of
            other judges' battles on the same item and pair. Conditions of `where` on the column
            `judge` do not apply to its rows.
        metric: metrics of evals that count: one name, several, or `all`. A name is `metric,filter`
            for lm-eval's samples, or the metric alone if a task has one filter. For Inspect's logs,
            it is a scorer, a field of its values, or both. By default, the metric that the host
            shows first counts for each task.
        runs: if a model was run on a task, or a tournament was played, several times, whether only
            the `newest` run counts, or `all` runs count as repeats.
        engine: the database: `duckdb`, `spark`, or `spark=URL` of a master.
        memory: limit of the memory that DuckDB uses, for example `700MB`; it writes further data to
            disk.
        scores_only: whether large sets of pointwise scores are paired to no more battles than the
            rankers `mean` and `median` need. With None, they are if `mean` is the default ranker.
        allow: names of findings, such as `epochs`, that are not treated as errors. The result names
            them.
        names: whether names of models or judges that look the same (Unicode forms, invisible
            characters, blanks at the ends) are an error (`exact`), or count as one (`joined`).
        ids: whether an id is one item in all categories (`global`) or another item in each
            (`per-category`). With `auto`, inputs decide, or ids that are numbers and begin anew in
            each category.
        lower_is_better: whether lower scores are better (True) or higher ones (False). Scores of
            which lower is better are negated, so that larger is better in the result. With None,
            this is what the files say, else what the exact name of the metric says (as `wer` or
            `latency`), else False.
        cluster: a column with the groups of items, such as passages, documents, seeds or templates.
            The items of a group vary together, and are one cluster in every interval, test and
            sample size. Every row must have a value, and all rows of an item the same.
        encoding: the encoding of text files that are not UTF-8, such as `latin-1` or `cp1252`.
        mapping: a YAML file with further arguments of this function, or `none`. By default, it is
            `NAME.podium.yaml` or `podium.yaml` beside the sources, if there is one.

    Raises:
        UsageError: a path, format or column does not exist, or the files have different formats; or
            all items have one value in the column `cluster`.
        DataError: a file is damaged, or a value in it is invalid.
        NotIdentifiedError: the human judge has no verdict on any of the battles, or a name of
            `metric` fits several metrics of a task.
    """
    counting: dict[str, Any] = {"engine": engine, "memory": memory, "scores_only": scores_only}
    counting |= {"encoding": encoding, "mapping": mapping}
    meaning: dict[str, Any] = {"names": names, "ids": ids, "runs": runs, "cluster": cluster}
    orders: dict[str, Any] = {"merge": merge, "one_sided": one_sided, "human_judge": human_judge}
    meaning |= {"format": format, "lower_is_better": lower_is_better}
    query = BattleQuery(
        sources=sources,
        foreign=Foreign(columns, credit_map, unknown, shown, fill, matrix),
        where=_parse_conditions(where),
        metric=_as_names(metric),
        allow=_as_names(allow),
        **{**counting, **meaning, **orders},
    )
    return read_query(query)


@urls_in_errors()
def read_query(query: BattleQuery, *, labels_must_meet: bool = False) -> Battles:
    """Read the battles that a query describes.

    Args:
        query: the query.
        labels_must_meet: whether it is an error (NotIdentifiedError) if the query has human labels
            and no battle gets one.

    Raises:
        UsageError, DataError, NotIdentifiedError: see `read_battles`.
    """
    _require_sources(query.sources)
    query, notes = apply_mapping_file(query)
    with texts_in(query.encoding):
        battles = _read_checked_query(query, labels_must_meet=labels_must_meet)
    return replace(battles, notes=(*notes, *battles.notes)) if notes else battles


def _read_checked_query(query: BattleQuery, *, labels_must_meet: bool) -> Battles:
    """Read the battles of a query, and their human labels; see `read_query`."""
    chosen = None if query.format is None else catalogue.extension(Format, query.format)
    counting = start_engine(query.engine, query.memory)
    metrics = query.metric
    if query.human_judge is not None and not metrics:
        # The human judge may be any metric of an eval.
        metrics = (ALL_METRICS,)
    are_joined = query.names == "joined"
    reading = Reading(
        metrics, query.runs == "all", query.where, query.allow, are_joined, query.cluster
    )
    plan = ReadingPlan(query, chosen, reading, counting)
    try:
        battles = _read_sources(plan)
    except OneModelError as error:
        raise _with_command(error, query) from None
    if query.human_labels:
        labels, lost = _read_labels(query)
        battles = replace(battles, notes=(*battles.notes, *lost), lost=(*battles.lost, *lost))
        require_same_spelling(battles, labels)
        battles = label_by_table(battles, labels, must_meet=labels_must_meet)
    return battles.complete_items() if query.complete else battles


def _require_sources(sources: Sequence[Source]) -> None:
    """Check that every source is a path or a data frame; raise UsageError if one is not."""
    for source in sources:
        if not (isinstance(source, str | PurePath) or is_frame(source)):
            kind = type(source).__name__
            remedy = "give pandas.DataFrame(records)"
            raise UsageError(f"a source is a path or a data frame, not a {kind}: {remedy}")


def _read_sources(plan: ReadingPlan) -> Battles:
    """Read the battles of all sources, with Spark if it can read them itself, else with DuckDB."""
    query = plan.query
    counting = plan.counting
    if isinstance(counting, Spark) and _spark_reads(query):
        return _scan_files(query, counting)
    duck = counting if isinstance(counting, Duck) else Duck(query.memory)
    read = _join_names_of_query(_read_tables_of_sources(duck, plan), query)
    query = _with_spelled_judge(query, read.tables)
    plan = replace(plan, query=query)
    read = _keep_rows_of_query(duck, read, query)
    query, read = _choose_groups(query, read)
    plan = replace(plan, query=query)
    read = _orient_scores_of_query(read, query)
    read = replace(read, gathered=note_lone_models(read.tables, read.gathered))
    try:
        battles = _build_battles(duck, plan, read)
    except OneModelError as error:
        raise _with_runs_left_out(error, read) from None
    return battles if query.human_judge is None else label_by_judge(battles, query.human_judge)


def _choose_groups(query: BattleQuery, read: SourceTables) -> tuple[BattleQuery, SourceTables]:
    """Check the groups of items that the query names, or take those of the logs' own errors.

    If the query names no groups, and all tables are of logs whose own standard errors are clustered
    by one column, the groups are those of this column. A note says so if they cannot be used.

    Returns:
        The query with the column in `cluster`, and the tables.

    Raises:
        UsageError, DataError: the groups that the query names cannot be used.
    """
    if query.cluster is not None:
        require_groups(read.tables, query.cluster)
        return query, read
    columns = {each.cluster for each in read.tables}
    [column] = columns if len(columns) == 1 else [None]
    if column is None:
        return query, read
    try:
        require_groups(read.tables, column)
    except PodiumError as error:
        note = Notice("groups-of-log-unused", {"column": column, "why": str(error)})
        return query, replace(read, notes=(*read.notes, note))
    return replace(query, cluster=column), read


def _with_runs_left_out(error: OneModelError, read: SourceTables) -> OneModelError:
    """Return the error for scores of one model with the runs that were given and do not count.

    They are runs that failed or cannot be read, and earlier runs of the same model. If its runs are
    of several tasks, the error says so.
    """
    earlier = select_codes(read.gathered.notes, EARLIER_RUNS)
    bare, _ = split_remedies([*read.gathered.lost, *earlier])
    reasons = [*notice_texts(bare)]
    tasks = sorted({run.task for run in read.gathered.runs})
    if len(tasks) > 1:
        reasons.append(f"its runs are of the tasks {join_names(tasks)}, and {ONE_TASK}")
    if not reasons:
        return error
    problem = f"{error.problem}; {some(reasons, '; ', most=3)}"
    if earlier and len(tasks) < 2:
        # The runs are several: what the first words say of them must not hide this.
        problem = f"{some(reasons, '; ', most=3)}; no other model has scores"
    place = {"source": error.source, "row": error.row}
    repeats = find_repeats(earlier)
    return OneModelError(problem, remedy=error.remedy, repeats=repeats, **place)


def _with_command(error: OneModelError, query: BattleQuery) -> OneModelError:
    """Return the error for scores of one model with the command that compares two of its runs.

    The command accepts other questions if the runs share no input. If the runs cannot be compared
    for another reason, no command is named.
    """
    repeats = error.repeats
    if repeats is None:
        return error
    paths = [repeats.earlier, repeats.newest]
    options = ""
    try:
        _try_to_read(paths, query)
    except OtherQuestionError:
        options = f" --allow {FINDING}"
    except PodiumError:
        return error
    typed = " ".join(map(shlex.quote, paths))
    command = f"compare two runs of {repeats.model} with `podium compare {typed}{options}`"
    if options:
        command += ", whose inputs or targets differ"
    remedy = f"{command}, or {error.remedy}"
    return OneModelError(error.problem, remedy=remedy, source=error.source, row=error.row)


def _try_to_read(paths: Sequence[str], query: BattleQuery) -> None:
    """Read the battles between two runs of one model; PodiumError if they cannot be compared."""
    labelled = tuple(
        f"{name}={path}" for name, path in zip(("first", "second"), paths, strict=True)
    )
    allow = tuple(name for name in query.allow if name != FINDING)
    read_query(replace(query, sources=labelled, allow=allow))


def _spark_reads(query: BattleQuery) -> bool:
    """Return whether Spark can read the sources itself.

    It can if they are Parquet files and no option needs DuckDB.
    """
    foreign = query.foreign
    translated = (foreign.credit_map, foreign.shown, foreign.fill, foreign.matrix)
    selected = (query.format, query.where, query.human_judge, query.metric)
    named = (query.names != "exact", query.ids == "per-category", query.cluster)
    is_plain = query.lower_is_better is None and not any((*translated, *selected, *named))
    return is_parquet(query.sources) and is_plain


def _scan_files(query: BattleQuery, counting: Spark) -> Battles:
    """Let Spark read the battles in Parquet files with podium's columns."""
    places = [str(source) for source in query.sources]
    relation = scan_parquet(counting, places, query.foreign.columns)
    verdicts = require_distinct_names(_verdicts_of_query(counting, relation, query))
    bare = note_doubtful_names(verdicts.models)
    copies = (COPIES,) if len(places) > 1 else ()
    sources = tuple(map(without_secrets, places))
    return Battles(
        verdicts,
        None,
        (*bare, *verdicts.notes(), *copies),
        sources,
        query.changed_options(),
        questions=() if query.ids == "global" else inputs_not_compared(counting, relation),
    )


def _verdicts_of_query(counting: Engine, relation: str, query: BattleQuery) -> Verdicts:
    """Return the verdicts in a table or view. The query says whether their orders are merged."""
    keep_one_sided = query.one_sided == "keep"
    return Verdicts(
        counting,
        relation,
        merge=query.merge,
        keep_one_sided=keep_one_sided,
        group=query.cluster,
    )


def _read_labels(query: BattleQuery) -> tuple[Battles, tuple[Notice, ...]]:
    """Read the human verdicts of a query, and return them with notes on rows that are left out.

    If there are several files, judges of different files are different judges, even if they have
    the same name. Otherwise, two humans who agree on a battle would count as a copied verdict.
    """
    places = query.human_labels
    labels = BattleQuery(places, names=query.names, ids=query.ids)
    if len(places) == 1:
        only = read_query(replace(labels, mapping=_mapping_of_labels(places[0])))
        return only, only.lost
    sheets = []
    lost: list[Notice] = []
    for number, place in enumerate(places, start=1):
        mapping = _mapping_of_labels(place)
        read = read_query(replace(labels, sources=[place], merge=False, mapping=mapping))
        lost += read.lost
        frame = read.to_frame()
        judge = as_text(frame["judge"]).fillna("") if "judge" in frame else ""
        sheets.append(frame.assign(judge=f"{number}. file of labels: " + judge))
    return read_query(BattleQuery(sheets)), tuple(lost)


def _mapping_of_labels(place: str) -> str:
    """Return the mapping file of a file of labels; that of its folder is one for verdicts."""
    beside = mapping_file_beside(Path(place), of_folder=False)
    return NO_FILE if beside is None else str(beside)


def _read_tables_of_sources(duck: Duck, plan: ReadingPlan) -> SourceTables:
    """Read all sources as tables.

    Raises:
        UsageError: no source has verdicts, or their formats differ.
    """
    sources = plan.query.sources
    reading = plan.reading
    places = [source if is_frame(source) else _locate_files(str(source)) for source in sources]
    tables, gathered = _gather_tables(duck, places, plan)
    places_read = _places_in_words(sources)
    names_metrics = reading.metrics and ALL_METRICS not in reading.metrics
    if not tables and (names_metrics or reading.all_runs):
        there = f"no lm-eval samples in {places_read}, and no Inspect logs"
        choices = f"{option_text('metric')} and {option_text('runs')}"
        raise UsageError(f"{there}: {choices} choose among those")
    opened = [table for place in places for table in _open_place(duck, place)]
    more, skipped = _read_tables(opened, plan.format, plan.query.foreign)
    tables = tables + more
    gathered = replace(gathered, lost=[*gathered.lost, *notes_on_bad_rows(more)])
    notes = (*gathered.notes, *skipped)
    if not tables:
        reasons = [f"no file with verdicts in {places_read}", *notice_texts(notes)]
        raise UsageError("; ".join(reasons))
    _require_one_format(tables)
    return SourceTables(tables, gathered, notes)


def _places_in_words(sources: Sequence[Any]) -> str:
    """Return where rows were looked for, without the content of data frames."""
    named = ["a data frame" if is_frame(source) else source for source in sources]
    return without_secrets(some(named) or "nothing")


def _require_one_format(tables: Sequence[RecordTable]) -> None:
    """Raise UsageError if tables are of different formats."""
    seen = {each.format: each.source for each in tables}
    if len(seen) > 1:
        kinds = ", ".join(f"{source} is {name}" for name, source in seen.items())
        remedy = "rank them one at a time, or `podium convert` each and rank the results together"
        raise UsageError(f"mixed formats: {kinds}; {remedy}")


def _join_names_of_query(read: SourceTables, query: BattleQuery) -> SourceTables:
    """Describe the judges of all tables, and join names that look the same if the query says so."""
    tables = [replace(each, judges=each.judges or judges_in(each.records)) for each in read.tables]
    if query.names == "exact":
        return replace(read, tables=tables)
    joined, notes = join_names_alike(tables)
    gathered = read.gathered
    runs = [replace(run, model=joined_name(run.model)) for run in gathered.runs]
    gathered = replace(gathered, runs=runs)
    return replace(read, tables=joined, gathered=gathered, notes=(*read.notes, *notes))


def _with_spelled_judge(query: BattleQuery, tables: Sequence[RecordTable]) -> BattleQuery:
    """Return the query with the human judge's name as the tables spell it.

    Raises:
        UsageError: the human judge is not among the judges.
    """
    if query.human_judge is None:
        return query
    judges = list[str]()
    for each in tables:
        source = source_column(each.records.columns)
        judges += [] if source is None else distinct_texts(each.records, source)
    return replace(query, human_judge=find_judge({*judges}, query.human_judge))


def _keep_rows_of_query(duck: Duck, read: SourceTables, query: BattleQuery) -> SourceTables:
    """Name the items, and keep the rows that meet the conditions of a query.

    Raises:
        UsageError: no row meets a condition.
    """
    tables, named = name_items(duck, name_metrics_by_filter(read.tables))
    identified = identify_items(duck, tables, query)
    numbered, on_repeats = pair_repeats(identified.tables)
    conditions = [("item" if column == named else column, value) for column, value in query.where]
    others, of_arena = split_conditions(conditions)
    chosen, without_column = keep_rows(numbered, others, query.human_judge)
    kept, without_flag = keep_rows(chosen, of_arena, query.human_judge)
    accepted = [*read.gathered.accepted, *identified.accepted]
    questions = [*read.gathered.questions, *identified.questions]
    gathered = replace(read.gathered, accepted=accepted, questions=questions)
    left_out = [*without_column, *without_flag, *note_rows_left_out(chosen, kept, of_arena)]
    counted = note_rows_counted(kept, conditions)
    named_models = name_models_by_settings(duck, kept)
    notes = (*read.notes, *identified.notes, *on_repeats, *left_out, *counted, *named_models.notes)
    return replace(
        read,
        tables=without_bulky_responses(named_models.tables),
        gathered=replace(gathered, runs=[*gathered.runs, *named_models.runs]),
        notes=notes,
        other_responses=find_other_responses(duck, named_models.tables),
        identical_responses=find_identical_responses(duck, named_models.tables),
    )


def _orient_scores_of_query(read: SourceTables, query: BattleQuery) -> SourceTables:
    """Negate the scores of which lower is better, by the files, the query or the metric's name.

    Raises:
        UsageError, DataError: see `podium.data.reading.directions.orient_scores`.
    """
    oriented = orient_scores(read.tables, query)
    notes = []
    for note in read.notes:
        is_of_direction = note.code in ("metric-direction", "lower-is-better")
        if is_of_direction and (note.fields["metric"], note.fields["task"]) in oriented.decided:
            continue
        notes.append(note)
    accepted = [*read.gathered.accepted, *oriented.accepted]
    return replace(
        read,
        tables=oriented.tables,
        gathered=replace(read.gathered, accepted=accepted),
        notes=(*notes, *oriented.notes),
    )


def _build_battles(duck: Duck, plan: ReadingPlan, read: SourceTables) -> Battles:
    """Join tables into one view, and return its battles with everything known about them."""
    query = plan.query
    counting = plan.counting
    shared = _shared_facts(read.tables, is_whole=not query.where)
    scores_only = query.scores_only
    if scores_only is None:
        scores_only = shared.default_ranker == "mean"
    joined = join_tables(duck, read.tables, scores_only=scores_only)
    require_same_groups(duck, joined.view, query.cluster, read.tables)
    if counting is not duck:
        counting.register(joined.view, duck.table(f"select * from {joined.view}"))
    verdicts = _verdicts_of_query(counting, joined.view, query)
    require_distinct_names(verdicts, read.tables)
    likely = likely_item(duck, records_of_view(duck, joined.view, ""))
    odd_items = note_odd_items(duck, joined.view, likely)
    gathered = read.gathered
    of_join = _notes_not_told_yet(joined.notes, gathered)
    notes = [*_notes_on_sources(read), *of_join, *odd_items, *_notes_on_rows(verdicts, read.tables)]
    notes += [*note_doubtful_names(verdicts.models), *note_voters(duck, joined.view)]
    return Battles(
        verdicts,
        joined.missing,
        notes=tuple(notes),
        sources=tuple(each.source for each in read.tables),
        reading=query.changed_options(),
        lost=tuple(gathered.lost),
        copies=joined.copies,
        judge_records=join_judges(each.judges for each in read.tables),
        measures=_measures_in(read.tables),
        apart=gathered.apart,
        answer=shared.answer,
        ladder=shared.ladder,
        default_ranker=shared.default_ranker,
        accepted=tuple(gathered.accepted),
        runs=tuple(gathered.runs),
        questions=tuple(gathered.questions),
        other_responses=read.other_responses,
        identical_responses=read.identical_responses,
        likely_item=likely if query.cluster is None else None,
    )


def _notes_on_sources(read: SourceTables) -> list[Notice]:
    """Return the notes on accepted findings, losses, files, and settings of runs."""
    gathered = read.gathered
    accepted = [Notice(ACCEPTED, {"sentence": text}) for text in gathered.accepted]
    paired = notices_of_questions(gathered.questions)
    changed = {own.task: own.unshared for own in gathered.questions if own.unshared}
    settings = notices_of_settings(gathered.runs)
    notes = [note for note in read.notes if not _is_told_by_questions(note, changed)]
    return [*accepted, *gathered.lost, *notes, *paired, *settings]


def _notes_on_rows(verdicts: Verdicts, tables: Sequence[RecordTable]) -> list[Notice]:
    """Return the warnings of verdicts; battles of counts are equal rows, which need none."""
    notes = verdicts.notes()
    if all(each.format == "counts" for each in tables):
        notes = [note for note in notes if note.code != "rows-repeat"]
    return notes


def _is_told_by_questions(note: Notice, changed: Mapping[str, Mapping[str, int]]) -> bool:
    """Return whether a note counts only the items that the check `same question` names.

    Args:
        note: any note.
        changed: by task and model, the number of items whose input no other run has.
    """
    if note.code == "scores-alone":
        alone = sum(sum(own.values()) for own in changed.values())
        return bool(alone == note.fields["scores"])
    if note.code != "different-documents":
        return False
    of_task = changed.get(note.fields["task"], {})
    sizes = note.fields["sizes"]
    return all(size - of_task.get(name, 0) == note.fields["common"] for name, size in sizes.items())


def _notes_not_told_yet(notes: Sequence[Notice], gathered: GatheredBattles) -> list[Notice]:
    """Return the notes on joined tables that tell more than what readers of formats found."""
    changed = {own.task: own.unshared for own in gathered.questions if own.unshared}
    untold = []
    for note in notes:
        if not (_is_told_by_questions(note, changed) or _is_told_by_documents(note, gathered)):
            untold.append(note)
    return untold


def _is_told_by_documents(note: Notice, gathered: GatheredBattles) -> bool:
    """Return whether a note counts only the documents that a note of lm-eval's reader counts."""
    if note.code != "scores-alone":
        return False
    alone = 0
    for each in select_codes([*gathered.notes, *gathered.lost], ["different-documents"]):
        alone += (
            sum(each.fields["sizes"].values()) - len(each.fields["sizes"]) * each.fields["common"]
        )
    return bool(alone == note.fields["scores"])


def _shared_facts(tables: Sequence[RecordTable], *, is_whole: bool) -> SharedFacts:
    """Return the facts that are the same for all tables.

    Args:
        tables: the tables.
        is_whole: whether all rows of the tables are kept. If not, the finding of a tournament does
            not hold for them, and there is no answer.
    """
    first = tables[0]
    answer = None
    if is_whole and all(each.answer == first.answer for each in tables):
        answer = first.answer
    ladder = None
    if first.ladder and all(each.ladder == first.ladder for each in tables):
        ladder = ladder_from_log(first.ladder)
    no_judge = all(map(_is_without_judge, tables))
    return SharedFacts(answer, ladder, "mean" if no_judge else RANKER_OF_DECISIONS)


def _is_without_judge(each: RecordTable) -> bool:
    """Return whether a table has scores of models that no judge gave, such as accuracies."""
    names = each.records.columns
    return is_pointwise(names) and "judge" not in names


def _as_names(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    return (given,) if isinstance(given, str) else tuple(given)


def _measures_in(tables: Sequence[RecordTable]) -> tuple[Measure, ...]:
    """Return the metrics of hosts' evals in all tables, without repetitions."""
    return tuple(dict.fromkeys(measure for each in tables for measure in each.measures))


def _parse_conditions(
    where: Mapping[str, str] | Sequence[tuple[str, str]],
) -> tuple[tuple[str, str], ...]:
    """Return conditions as pairs of a column and a value.

    Raises:
        UsageError: an entry is not a pair.
    """
    pairs = list(where.items() if isinstance(where, Mapping) else where)
    if any(isinstance(pair, str) or len(pair) != 2 for pair in pairs):
        raise UsageError(
            f"where={where!r}: write {{'column': 'value'}}, or a list of (column, value) pairs"
        )
    return tuple((column, str(value)) for column, value in pairs)


def _gather_tables(
    duck: Duck, places: "list[SourceFiles | pd.DataFrame]", plan: ReadingPlan
) -> tuple[list[RecordTable], GatheredBattles]:
    """Let formats read the files that belong together, such as the logs of one eval.

    Args:
        duck: the database.
        places: the files of each source, or its data frame. Files that are read are removed from
            this list in place.
        plan: the query.

    Returns:
        The tables of these files, and the notes and other results of their formats.
    """
    tables = list[RecordTable]()
    sheets = list[tuple[str, "pd.DataFrame"]]()
    whole = GatheredBattles()
    formats = [plan.format] if plan.format else catalogue.formats()
    for known in formats:
        of_files = [place for place in places if isinstance(place, SourceFiles)]
        if known.gathers is None or not known.may_gather(of_files):
            continue
        files = [local_files(place, known.names) for place in of_files]
        gathered = known.gather(files, plan.reading)
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
    """Check a sheet, and add the facts in the `attrs` of its data frame; None if it has no rows."""
    checked = check(records)
    if checked is None:
        return None
    return RecordTable(
        checked,
        format,
        missing=frame.attrs.get("missing"),
        answer=frame.attrs.get("answer"),
        ladder=frame.attrs.get("ladder"),
        measures=frame.attrs.get("measures") or (),
        chances=frame.attrs.get("chances", frozenset()),
        lower=frame.attrs.get("lower", frozenset()),
        judges=frame.attrs.get("judges") or {},
        cluster=frame.attrs.get("cluster"),
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

    The source `-` is standard input, and `file.duckdb#table` is a table in a file.
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
    """Open a data frame, or the files of a source, as tables."""
    if not isinstance(place, SourceFiles):
        import pandas as pd

        named = place
        if shares_names([*map(str, place.index)], [*map(str, place.columns)]):
            named = place.reset_index()
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


def _open_file(
    file: Path | RemoteFile, engine: Duck, bad_rows: list[BadRow], *, is_optional: bool
) -> Records:
    """Open a file as records.

    Args:
        file: the file.
        engine: the database.
        bad_rows: takes the malformed rows, see `open_records`.
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


def _read_tables(
    opened: Sequence[RecordTable], chosen: Format | None, foreign: Foreign
) -> tuple[list[RecordTable], list[Notice]]:
    """Translate and check the tables that have verdicts.

    Args:
        opened: the tables.
        chosen: their format; None if it is recognised by content.
        foreign: the user's options for tables in no known format.

    Returns:
        The tables with verdicts, and notes on the files that were left out.
    """
    tables: list[RecordTable] = []
    # Names of files that are left out, by the code of the note on them.
    skipped: dict[str, list[str]] = {
        "files-without-verdicts": [],
        "win-matrices-skipped": [],
        "lone-models": [],
    }
    for record in opened:
        with named_in_errors(record.source):
            translated = _translate_table(record, chosen, foreign)
        if translated is None:
            is_matrix = find_label_column(record.records) is not None
            code = "win-matrices-skipped" if is_matrix else "files-without-verdicts"
            skipped[code].append(record.source)
            continue
        rows_alone: list[BadRow] = []
        checked = _check_table(translated.records, rows_alone, skip_alone=len(opened) > 1)
        if checked is None:
            skipped["lone-models"].append(record.source)
        else:
            bad_rows = sort_by_place([*translated.bad_rows, *rows_alone])
            require_few(bad_rows, checked, translated.format)
            tables.append(replace(translated, records=checked, bad_rows=bad_rows))
    if foreign.matrix is not None and not any(each.format == WIN_MATRIX for each in tables):
        why = "no source is a table of wins with the same rows and columns"
        raise UsageError(f"--matrix {foreign.matrix}: {why}")
    notes = [note for each in tables for note in each.notes]
    notes += [Notice(code, {"files": files}) for code, files in skipped.items() if files]
    return tables, [*notes, *_note_shorter_files(tables)]


def _note_shorter_files(tables: Sequence[RecordTable]) -> list[Notice]:
    """Return a note on AlpacaEval files that have fewer annotations than the largest of them."""
    sizes = {
        each.source: each.records.number or 0 for each in tables if each.format == "alpaca-eval"
    }
    most = max(sizes.values(), default=0)
    few = {source: number for source, number in sizes.items() if number < most}
    return [Notice("few-annotations", {"files": few, "most": most})] if few else []


def _translate_table(
    record: RecordTable, chosen: Format | None, foreign: Foreign
) -> RecordTable | None:
    """Translate a table to the columns of the battles table.

    Args:
        record: the table.
        chosen: its format; None if it is recognised by content.
        foreign: the user's options for tables in no known format.

    Returns:
        The table; None if its file was found in a folder and has no verdicts.

    Raises:
        DataError: the file was named, and its format is unknown.
    """
    records = _name_columns_of(record, chosen, foreign)
    known = chosen or recognise_format(frozenset(records.columns), record.label)
    notes: list[Notice] = []
    if known is None:
        label = find_label_column(records, is_matrix=foreign.matrix is not None)
        if label is not None:
            return _translate_win_matrix(replace(record, records=records), label, foreign.matrix)
        if not record.optional:
            records, notes = pointwise.name_rows_of_matrix(records)
        scores, more = pointwise.matrix_scores(records)
        if scores is None and record.optional:
            return None
        if scores is None:
            guess = guess_mapping(records)
            raise unrecognised_error(frozenset(records.columns), record.source, guess)
        records = scores
        notes = [*notes, *more]
    if record.label is not None:
        # The label becomes the name of the model, if the format has one column with one model.
        # Otherwise, it becomes the column `source`.
        column = (known and known.label_is) or "source"
        held = records.columns.get(column)
        several = held is not None and not records.rows(f"count(distinct {held.text}) <= 1")[0][0]
        name = "source" if several else column
        records = replace(records, columns={**records.columns, name: Column(quote(record.label))})
    if known is None:
        return replace(record, records=records, format="pointwise", notes=notes)
    record = replace(record, records=records)
    if known.read == OWN_TABLE:
        require_plain_names(records)
    else:
        record = _read_by_format(record, known)
        notes = [*notes, *record.notes]
    translated = translate_verdicts(record.records, foreign)
    return replace(record, records=translated, format=known.name, notes=notes)


def _read_by_format(record: RecordTable, known: Format) -> RecordTable:
    """Return a table that a format has read, with the judges and notes in the `attrs` of its frame.

    Raises:
        DataError: a value is invalid, or a column that the format needs is missing.
    """
    records = record.records
    with catalogue.name_plugin_in_errors(known):
        try:
            rows = load_target(known.selects)(records) if known.selects else records.frame()
            if may_hold_nested_names(rows):
                require_plain_names(records)
            frame = catalogue.load_extension(known)(rows)
        except KeyError as error:
            problem = f"no column {error}, which the format {known.name} needs"
            raise DataError(problem, remedy="choose another --from") from None
    notes: list[Notice] = frame.attrs.get("notes", [])
    return replace(
        record,
        records=records_of(records.engine, frame, record.source),
        judges=frame.attrs.get("judges", {}),
        notes=[replace(note, fields={**note.fields, "source": record.source}) for note in notes],
    )


def _name_columns_of(record: RecordTable, chosen: Format | None, foreign: Foreign) -> Records:
    """Return the records of a table with podium's names of columns, as far as they are known.

    A text file in podium's own format is parsed here, once; in other formats, it is parsed when
    its records are read.
    """
    records = name_weights(name_columns(record.records, foreign))
    known = chosen or recognise_format(frozenset(records.columns), record.label)
    if known is not None and known.read == OWN_TABLE:
        records = records.parse_once()
    return name_items_of_scores(records)


def _translate_win_matrix(
    record: RecordTable, label: str, reading: str | None
) -> RecordTable | None:
    """Translate a matrix of wins.

    Args:
        record: the table.
        label: the column with the names of the rows.
        reading: whether a cell counts the wins of its row's model (`rows`) or of its column's
            model (`columns`); None if the user did not say.

    Returns:
        The battles; None if `reading` is None and the file was found in a folder.

    Raises:
        DataError: `reading` is None and the user named the file.
    """
    if reading is None and record.optional:
        return None
    if reading is None:
        raise ambiguous_matrix(record.records, label)
    battles = read_win_matrix(record.records, label, reading)
    whose = "row" if reading == "rows" else "column"
    notes = [Notice("win-matrix", {"source": record.source, "whose": whose})]
    notes += note_models_left_out(record.records, label)
    return replace(record, records=battles, format=WIN_MATRIX, notes=notes)


def _check_table(records: Records, bad_rows: list[BadRow], *, skip_alone: bool) -> Records | None:
    """Check a table, and return it with typed columns.

    If its credits are words, the error proposes a `--credit-map` that the user can copy.

    Args:
        records: the table.
        bad_rows: takes the battles of a model with itself, which are left out.
        skip_alone: whether to return None if every battle is one of a model with itself.
    """
    try:
        return check(records, skip_alone=skip_alone, bad_rows=bad_rows)
    except DataError as error:
        option = None
        if error.column == "credit":
            option = propose_map(records, records.source == FRAME)
        if option is None:
            raise
        remedy = f"translate the words, for example {option}"
        raise DataError(error.problem, remedy=remedy, source=error.source, row=error.row) from None


def recognise_format(columns: frozenset[str], label: str | None = None) -> Format | None:
    """Return the format that fits the columns best; None if none fits.

    The signature of a format is a set of columns that its tables have. The format with the largest
    signature among the columns fits best.

    Args:
        columns: names of the columns.
        label: the user's label of the file, which can stand for a column (`Format.label_is`).

    Raises:
        UsageError: two formats fit equally well.
    """
    fits: dict[int, list[Format]] = {}
    for known in catalogue.formats():
        given = columns | {known.label_is} if label and known.label_is else columns
        fits.setdefault(known.specificity(frozenset(given)), []).append(known)
    best = max(fits)
    if best and len(fits[best]) > 1:
        names = " or ".join(sorted(known.name for known in fits[best]))
        raise UsageError(f"the columns fit {names}: say which with --from")
    return fits[best][0] if best else None


def unrecognised_error(columns: frozenset[str], source: str, guess: Guess) -> DataError:
    """Return the error to raise for a file in no known format.

    Its message names the most similar format, if the file has at least half of its columns, and
    guesses the options that name the columns and translate the verdicts, also as a mapping file.

    Args:
        columns: names of the columns of the file.
        source: its name for messages.
        guess: the options that may read the file.
    """
    signatures = [
        (known.name, signature) for known in catalogue.formats() for signature in known.signature
    ]
    name, best = max(signatures, key=lambda pair: len(pair[1] & columns) / len(pair[1]))
    names = [name or "(no name)" for name in sorted(columns)[:20]]
    problem = f"no known format has the columns {', '.join(names) or '(none)'}"
    if 2 * len(best & columns) >= len(best):
        problem += f" (nearest: {name}, which also needs {', '.join(sorted(best - columns))})"
    named = remedy_of_columns(sorted(columns), source, guess.columns)
    if guess.fill and source != FRAME:
        named += f" {format_assignments('fill', guess.fill)}"
    if guess.credit_map and source != FRAME:
        named += f" {format_credit_map(guess.credit_map)}"
    of_one_model = _command_for_files_of_models(guess.paths, source)
    if of_one_model is not None:
        named += f"; if it has the scores of one model, label a file per model: `{of_one_model}`"
    remedy = f"{named}; `podium list formats` shows what is known"
    lacks_items = lacks_only_items(columns, guess.columns)
    if source != FRAME and not (lacks_items or may_be_figures_of_tasks(guess.columns)):
        mapping = format_mapping(
            columns=guess.columns, credit_map=guess.credit_map, fill=guess.fill
        )
        saved = f"save the guess as {name_of_mapping_file(Path(source))}: {mapping}"
        typed = [*guess.columns.values(), *guess.fill.values(), *guess.credit_map]
        remedy = f"{remedy}; or {saved}" if are_assignable(typed) else saved
    for column, task in TASKS.items():
        if column in columns:
            command = f"`inspect eval podium/{task} --model-role judge=MODEL`"
            remedy += f"; if the file holds responses to judge, {command}"
    return DataError(problem, remedy=remedy)


def _command_for_files_of_models(paths: Mapping[str, str], source: str) -> str | None:
    """Return the command that ranks models by tables of one model's scores each.

    Args:
        paths: the columns of such a table, and the paths into them, by their last part.
        source: its name.

    Returns:
        None if the table is a data frame, has no column of items or scores, or has one of models.
    """
    names = {name.lower(): path for name, path in paths.items()}
    columns_found = {}
    for own, words in ONE_MODEL_COLUMNS.items():
        columns_found[own] = next((names[word] for word in words if word in names), None)
    item = columns_found["item"]
    score = columns_found["score"]
    if source == FRAME or item is None or score is None or columns_found["model"] is not None:
        return None
    typed = {own: name for own, name in (("item", item), ("score", score)) if own != name}
    named = f" {format_assignments('columns', typed)}" if typed else ""
    return f"podium rank NAME={source} OTHER=FILE{named}"
