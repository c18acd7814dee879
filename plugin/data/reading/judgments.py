"""Read the battles that a query describes, of any sources."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from podium.comparability.questions import FINDING
from podium.data.battles import Battles
from podium.data.counting.duck import Duck
from podium.data.counting.spark import Spark
from podium.data.counting.verdicts import start_engine
from podium.data.formats.files import local_paths
from podium.data.formats.headline_metrics import ALL_METRICS
from podium.data.formats.run_folders import CODES_ON_TASKS, find_repeats
from podium.data.human_labels import label_by_judge, label_by_table
from podium.data.query import BattleQuery, Foreign, Source
from podium.data.reading.battles_of_tables import build_battles
from podium.data.reading.chosen_rows import choose_rows
from podium.data.reading.mapping_files import apply_mapping_file
from podium.data.reading.recorded_orders import settle_orders
from podium.data.reading.shared_metrics import note_lone_models
from podium.data.reading.source_tables import ReadingPlan, SourceTables, read_tables_of_sources
from podium.data.reading.spark_battles import scan_files, spark_reads
from podium.data.text_encodings import texts_in
from podium.errors import OneModelError, OtherQuestionError, PodiumError, UsageError
from podium.hookspecs import Reading
from podium.notices.notice import Notice, select_codes, split_remedies
from podium.notices.notice_text import notice_texts
from podium.notices.option_forms import quoted_sources
from podium.run_record import ONE_TASK
from podium.storage.remote import urls_in_errors
from podium.text import as_text
from podium.wording import join_names, some

EARLIER_RUNS = (*CODES_ON_TASKS, *CODES_ON_TASKS.values())
"""Codes of notes on runs that a newer run of the same model replaces."""


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
    one_sided: Literal["unparsed", "keep"] | None = None,
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
            is unparsed. With `keep`, the verdict of the other order counts. With None, it is what
            the logs record, else `unparsed`.
        human_judge: a judge, or a metric that humans gave. Its verdicts become the human labels of
            other judges' battles on the same item and pair. Conditions of `where` on the column
            `judge` do not apply to its rows.
        metric: metrics of evals that count: one name, several, or `all`. A name is `metric,filter`
            for lm-eval's samples, or the metric alone if a task has one filter. For Inspect's logs,
            it is a scorer, a field of its values, or both; the name of the scorer `pairwise` asks
            for its verdicts. By default, the metric that the host shows first counts for each task;
            of a task with scores and verdicts, what ranks more models.
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
    foreign = Foreign(columns, credit_map, unknown, shown, fill, matrix)
    query = BattleQuery(sources, foreign=foreign, where=_parse_conditions(where))
    query = replace(query, names=names, ids=ids, lower_is_better=lower_is_better, cluster=cluster)
    query = replace(query, metric=_as_names(metric), allow=_as_names(allow), format=format)
    query = replace(query, merge=merge, one_sided=one_sided, human_judge=human_judge, runs=runs)
    query = replace(query, engine=engine, memory=memory, scores_only=scores_only)
    query = replace(query, encoding=encoding, mapping=mapping)
    return read_query(query)


@urls_in_errors()
def read_query(query: BattleQuery) -> Battles:
    """Read the battles that a query describes.

    Raises:
        UsageError: a path, format or column does not exist, the files have different formats, or a
            mapping file is not for all sources.
        DataError: a file is damaged, or a value in it is invalid; a `OneModelError` if the scores
            are of one model.
        NotIdentifiedError: no battle gets a human label, or a name of a metric fits several.
    """
    query, notes = apply_mapping_file(query, local_paths(query.sources))
    with texts_in(query.encoding):
        battles = _read_checked_query(query)
    return replace(battles, notes=(*notes, *battles.notes)) if notes else battles


def _read_checked_query(query: BattleQuery) -> Battles:
    """Read the battles of a query whose options were checked, and their human labels.

    The errors are those of `read_query`. If the query names a human judge and no
    metric, all metrics of an eval are read.
    """
    metrics = query.metric
    if query.human_judge is not None and not metrics:
        # The human judge may be any metric of an eval.
        metrics = (ALL_METRICS,)
    reading = Reading(
        metrics=metrics,
        all_runs=(query.runs == "all"),
        where=query.where,
        allowed=query.allow,
        names_joined=(query.names == "joined"),
        cluster=query.cluster,
        human_judge=query.human_judge,
    )
    plan = ReadingPlan(query, reading)
    try:
        battles = _read_sources(plan)
    except OneModelError as error:
        raise _with_command(error, query) from None
    if query.human_labels:
        labels, lost = _read_labels(query)
        battles = replace(battles, notes=(*battles.notes, *lost), lost=(*battles.lost, *lost))
        battles = label_by_table(battles, labels)
    return battles.complete_items() if query.complete else battles


def _read_sources(plan: ReadingPlan) -> Battles:
    """Read the battles of all sources, with Spark if it can read them itself, else with DuckDB.

    Even if Spark counts the verdicts, DuckDB reads files that Spark cannot read. If the query names
    a human judge, its verdicts become the labels of the others' battles. Labels from other files
    are not read here.

    Raises:
        OneModelError: the scores are of one model; the error names its runs that do not count.
    """
    query = plan.query
    counting = start_engine(query.engine, query.memory)
    if isinstance(counting, Spark) and spark_reads(query):
        return scan_files(query, counting)
    duck = counting if isinstance(counting, Duck) else Duck(query.memory)
    query, read = choose_rows(duck, read_tables_of_sources(duck, plan), query)
    query, read = settle_orders(query, read)
    read = replace(read, gathered=note_lone_models(read.tables, read.gathered))
    try:
        battles = build_battles(duck, counting, query, read)
    except OneModelError as error:
        raise _with_runs_left_out(error, read) from None
    return battles if query.human_judge is None else label_by_judge(battles, query.human_judge)


def _with_runs_left_out(error: OneModelError, read: SourceTables) -> OneModelError:
    """Return the error for scores of one model with the runs that were given and do not count.

    They are runs that failed or cannot be read, and earlier runs of the same model. If its runs are
    of several tasks, the error says so. Without any of these, the error is returned unchanged.
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
        # "Scores of one model only" would hide that this model was run several times.
        problem = f"{some(reasons, '; ', most=3)}; no other model has scores"
    place = {"source": error.source, "row": error.row}
    repeats = find_repeats(earlier)
    return OneModelError(problem, remedy=error.remedy, repeats=repeats, **place)


def _with_command(error: OneModelError, query: BattleQuery) -> OneModelError:
    """Return the error for scores of one model with the command that compares two of its runs.

    To choose the options of the command, the two runs are read here. The command accepts other
    questions if the runs share no input. The error is returned unchanged if the model was run once,
    or if its runs cannot be compared for another reason.
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
    typed = quoted_sources(paths)
    command = f"compare two runs of {repeats.model} with `podium compare {typed}{options}`"
    if options:
        command += ", whose inputs or targets differ"
    remedy = f"{command}, or {error.remedy}"
    return OneModelError(error.problem, remedy=remedy, source=error.source, row=error.row)


def _try_to_read(paths: Sequence[str], query: BattleQuery) -> None:
    """Raise PodiumError if the battles between two runs of one model cannot be read.

    They are read and not returned. Other inputs of the same ids are an error, even if the query
    allows this finding (`FINDING`).
    """
    labelled = tuple(
        f"{name}={path}" for name, path in zip(("first", "second"), paths, strict=True)
    )
    allow = tuple(name for name in query.allow if name != FINDING)
    read_query(replace(query, sources=labelled, allow=allow))


def _read_labels(query: BattleQuery) -> tuple[Battles, tuple[Notice, ...]]:
    """Read the human verdicts of a query, and return them with notes on rows that are left out.

    If there are several files, judges of different files are different judges, even if they have
    the same name: they are called `1. file of labels: NAME` and so on. Otherwise, two humans who
    agree on a battle would count as a copied verdict.

    Each file is read with its own mapping file. `podium.yaml` in the same folder does not count: it
    is for the verdicts there.
    """
    places = query.human_labels
    labels = BattleQuery(places, names=query.names, ids=query.ids, mapping_of_folder=False)
    if len(places) == 1:
        only = read_query(labels)
        return only, only.lost
    sheets = []
    lost: list[Notice] = []
    for number, place in enumerate(places, start=1):
        read = read_query(replace(labels, sources=[place], merge=False))
        lost += read.lost
        frame = read.to_frame()
        judge = as_text(frame["judge"]).fillna("") if "judge" in frame else ""
        sheets.append(frame.assign(judge=f"{number}. file of labels: " + judge))
    return read_query(BattleQuery(sheets)), tuple(lost)


def _as_names(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    return (given,) if isinstance(given, str) else tuple(given)


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
