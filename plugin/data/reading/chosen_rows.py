"""Choose the rows that a query describes, with joined names, named items and oriented scores."""

from collections.abc import Sequence
from dataclasses import replace

from podium.data.battles import source_column
from podium.data.counting.duck import Duck
from podium.data.human_labels import find_judge
from podium.data.query import BattleQuery
from podium.data.reading.arena_rows import note_rows_counted, note_rows_left_out, split_conditions
from podium.data.reading.directions import orient_scores
from podium.data.reading.identical_answers import find_identical_responses
from podium.data.reading.item_groups import require_groups
from podium.data.reading.item_identity import identify_items
from podium.data.reading.judge_columns import judges_in
from podium.data.reading.metrics_by_filter import name_metrics_by_filter
from podium.data.reading.model_names import join_names_alike
from podium.data.reading.repeat_numbers import pair_repeats
from podium.data.reading.response_texts import find_other_responses, without_bulky_responses
from podium.data.reading.rows import RecordTable, distinct_texts, keep_rows
from podium.data.reading.setting_columns import name_models_by_settings
from podium.data.reading.source_tables import SourceTables
from podium.data.reading.units import name_items
from podium.errors import PodiumError
from podium.names import joined_name
from podium.notices.notice import Notice


def choose_rows(
    duck: Duck, read: SourceTables, query: BattleQuery
) -> tuple[BattleQuery, SourceTables]:
    """Choose the rows that a query describes, as names, items, conditions and directions say.

    Returns:
        The query, with the human judge as the tables spell it and the column of groups that is
        used, and the tables with the chosen rows.

    Raises:
        UsageError, DataError: no row meets a condition, the human judge is not among the judges,
            the groups of items cannot be used, rows of one id have different inputs, names that
            look the same cannot be joined, or `lower_is_better` contradicts the files.
    """
    read = _join_names_of_query(read, query)
    query = _with_spelled_judge(query, read.tables)
    read = _keep_rows_of_query(duck, read, query)
    query, read = _choose_groups(query, read)
    return query, _orient_scores_of_query(read, query)


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
    column = columns.pop() if len(columns) == 1 else None
    if column is None:
        return query, read
    try:
        require_groups(read.tables, column)
    except PodiumError as error:
        note = Notice("groups-of-log-unused", {"column": column, "why": str(error)})
        return query, replace(read, notes=(*read.notes, note))
    return replace(query, cluster=column), read


def _join_names_of_query(read: SourceTables, query: BattleQuery) -> SourceTables:
    """Describe the judges of all tables, and join names that look the same if the query says so.

    Tables without records of judges get those of their columns (`judges_in`). If names are joined,
    those in the records of runs are joined, too, and notes say which names became one.

    Raises:
        DataError: names are joined, and a battle is of two models whose names look the same.
    """
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

    Repeats are numbered so that both orders meet. After the conditions, models are named by the
    settings in which their rows differ, and responses are compared. Texts of responses that nothing
    uses later are then dropped. The result has the notes and findings of all these steps.

    Raises:
        UsageError: no row meets a condition, or `ids` is `per-category` without categories.
        OtherQuestionError: rows of one id have different inputs, which the query does not allow.
    """
    tables, named = name_items(duck, name_metrics_by_filter(read.tables))
    identified = identify_items(duck, tables, query)
    numbered, on_repeats = pair_repeats(identified.tables)
    conditions = []
    for column, value in query.where:
        # A condition on the column that has become the item is one on the item.
        name = "item" if column == named else column
        conditions.append((name, value))
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

    Earlier notes on the direction of a metric are dropped if its direction is decided here.

    Raises:
        UsageError: the user gave a direction, and no table has scores.
        DataError: the user's direction contradicts what files say, and is not accepted.
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
