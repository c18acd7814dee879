"""Let larger scores be better: negate those of which lower is better.

The direction of a metric is what its files say, else what the user says, else what the metric's
exact name says (`podium.data.known_metrics`). Without any of these, higher is better. If files and
user contradict each other, that is an error, or the user counts (`--allow direction`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from podium.data.counting.relations import sql_literal
from podium.data.formats.records import Column
from podium.data.known_metrics import is_lower_better
from podium.data.measure import Measure
from podium.data.query import BattleQuery
from podium.data.reading.rows import RecordTable, distinct_texts
from podium.data.reading.table import is_pointwise
from podium.errors import UsageError
from podium.findings import accept_or_raise
from podium.notices.notice import Notice
from podium.notices.option_forms import option_text

SCORE = "score"
"""Name of a metric whose table gives it no name."""


@dataclass(frozen=True, slots=True)
class Directions:
    """Tables of which larger scores are better.

    Attributes:
        tables: the tables, with negated scores where lower is better.
        notes: notes on what was negated.
        accepted: sentences on contradictions between files and the user that the user accepted.
        decided: the metrics whose direction was found here, as pairs of the metric's own name and
            its task.
    """

    tables: list[RecordTable]
    notes: list[Notice]
    accepted: list[str]
    decided: frozenset[tuple[str, str | None]]


def orient_scores(tables: Sequence[RecordTable], query: BattleQuery) -> Directions:
    """Negate the scores of which lower is better.

    Args:
        tables: the tables of scores and of verdicts. Tables of verdicts are not changed.
        query: says what the user typed, and which findings are accepted.

    Raises:
        UsageError: the user gave a direction, and no table has scores.
        DataError: the user's direction contradicts what files say, and is not accepted.
    """
    asked = query.lower_is_better
    has_scores = any(is_pointwise(each.records.columns) for each in tables)
    if asked is not None and not has_scores:
        raise _no_scores_error(asked)
    oriented = []
    notes: dict[Notice, None] = {}
    accepted: dict[str, None] = {}
    decided = set[tuple[str, str | None]]()
    for table in tables:
        if not is_pointwise(table.records.columns):
            oriented.append(table)
            continue
        new = _measures_by_name(table, query)
        contradicted = _contradicted_measures(table, query)
        accepted |= dict.fromkeys(contradicted)
        new |= {old.name: changed for old, changed in contradicted.values()}
        oriented.append(_with_measures(table, new))
        for measure in new.values():
            decided.add((measure.own_name, measure.task))
            note = _note_on_direction(measure, asked)
            if note:
                notes[note] = None
    return Directions(
        tables=oriented, notes=[*notes], accepted=[*accepted], decided=frozenset(decided)
    )


def _no_scores_error(asked: bool) -> UsageError:
    """Return the error for a direction that is given for files without scores.

    Args:
        asked: the direction that the user gave: whether lower scores are better.
    """
    option = option_text("lower_is_better", str(asked).lower())
    return UsageError(
        f"{option} is for scores of single responses, and the sources hold verdicts on pairs, "
        "which say who won: leave it out, or give the scores"
    )


def _measures_by_name(table: RecordTable, query: BattleQuery) -> dict[str | None, Measure]:
    """Return the measures whose direction is not in the files but is known otherwise.

    Args:
        table: a table of scores.
        query: what the user typed.

    Returns:
        The measures with their direction, by the text in the column `metric`; by None if the table
        has no such column.
    """
    column_name = (query.foreign.columns or {}).get(SCORE, SCORE)
    directed: dict[str | None, Measure] = {}
    for name, measure in _measures_without_direction(table, column_name).items():
        is_lower = query.lower_is_better
        if is_lower is None and _is_lower_by_name(table, name, measure, column_name):
            is_lower = True
        if is_lower is not None:
            directed[name] = replace(measure, higher_is_better=not is_lower)
    return directed


def _measures_without_direction(table: RecordTable, column_name: str) -> dict[str | None, Measure]:
    """Return the measures of a table whose direction its files do not say.

    Log-likelihoods are left out: of these, higher is better. If the files name no measure, each
    name in the column `metric` is one, or the column of scores if there is no column `metric`.

    Args:
        table: a table of scores.
        column_name: the table's own name for the column of scores.

    Returns:
        The measures by the text in the column `metric`; by None if the table has no such column.
    """
    if table.measures:
        measures = dict[str | None, Measure]()
        for measure in table.measures:
            if measure.higher_is_better is None and measure.unit is None:
                measures[measure.name] = measure
        return measures
    if "metric" not in table.records.columns:
        return {None: Measure(column_name)}
    return {name: Measure(name) for name in distinct_texts(table.records, "metric")}


def _is_lower_by_name(
    table: RecordTable, name: str | None, measure: Measure, column_name: str
) -> bool:
    """Return whether lower scores of a metric are better by its name.

    The name decides nothing if a score is negative: the scores were then negated before.

    Args:
        table: a table of scores.
        name: the text in the column `metric`; None if there is no such column.
        measure: the measure of this name.
        column_name: the table's own name for the column of scores, which is also looked up if the
            files name no measure.
    """
    names = [measure.metric or measure.scorer or ""]
    if not table.measures:
        names.append(column_name)
    if not any(is_lower_better(each, table.lower) for each in names):
        return False
    score = table.records.columns[SCORE].number
    rows = _rows_of_metric(table, name)
    return not table.records.rows("1", f"where {rows} and {score} < 0 limit 1")


def _rows_of_metric(table: RecordTable, name: str | None) -> str:
    """Return the SQL condition that a row is of a metric.

    It is `true` for all rows if the name is None. Rows without a metric are of none.
    """
    if name is None:
        return "true"
    return f"coalesce({table.records.columns['metric'].text} = {sql_literal(name)}, false)"


def _contradicted_measures(
    table: RecordTable, query: BattleQuery
) -> dict[str, tuple[Measure, Measure]]:
    """Return the measures of which the files say another direction than the user.

    Returns:
        The measure as the files have it and as the user has it, by the sentence that says that the
        contradiction was accepted.

    Raises:
        DataError: there is such a measure, and the user does not accept it.
    """
    asked = query.lower_is_better
    measures = {}
    for measure in table.measures:
        is_higher_better = measure.higher_is_better
        # The user asks for lower scores, and the files for higher ones, if both are True.
        if asked is None or is_higher_better is not asked or measure.unit is not None:
            continue
        better_by_files = "higher" if is_higher_better else "lower"
        better_by_option = "lower" if is_higher_better else "higher"
        of_task = f" of {measure.task}" if measure.task else ""
        option = option_text("lower_is_better", str(asked).lower())
        problem = (
            f"by its results, {better_by_files} {measure.own_name}{of_task} is better, "
            f"and by {option}, {better_by_option} is"
        )
        remedy = f"leave out {option}, or correct the results"
        sentence = accept_or_raise(
            "direction", problem=problem, remedy=remedy, allowed=query.allow, source=table.source
        )
        said = f"{sentence} {better_by_option.capitalize()} counts as better."
        measures[said] = measure, replace(measure, higher_is_better=not asked)
    return measures


def _with_measures(table: RecordTable, new: Mapping[str | None, Measure]) -> RecordTable:
    """Return a table with the directions of some measures: names and signs follow from them.

    Scores are negated if they were not and now lower is better, or the other way round. The column
    `metric` then has the measure's new name; a table without this column gets it, unless it has a
    judge.

    Args:
        table: a table of scores.
        new: the measures, by the text in the column `metric`, or None if there is no such column.
    """
    if not new:
        return table
    records = table.records
    columns = dict(records.columns)
    score = columns[SCORE].number
    # A metric whose files say that lower is better is negated by the reader of the files.
    turned = []
    for name, measure in new.items():
        was_negated = any(old.name == name and old.is_negated for old in table.measures)
        if was_negated != measure.is_negated:
            turned.append(name)
    if turned:
        rows = " or ".join(_rows_of_metric(table, name) for name in turned)
        # 0 - 0 is 0, and -0 would be shown as -0.
        columns[SCORE] = Column(f"case when {rows} then 0 - {score} else {score} end", "DOUBLE")
        cases = " ".join(
            f"when {_rows_of_metric(table, name)} then {sql_literal(new[name].name)}"
            for name in turned
        )
        if None not in turned:
            columns["metric"] = Column(f"case {cases} else {columns['metric'].text} end")
        elif "judge" not in columns:
            columns["metric"] = Column(sql_literal(new[None].name))
    renamed = {name: measure.name for name, measure in new.items()}
    others = [measure for measure in table.measures if measure.name not in new]
    return replace(
        table,
        records=replace(records, columns=columns),
        measures=(*others, *new.values()),
        chances=frozenset(renamed.get(name, name) for name in table.chances),
    )


def _note_on_direction(measure: Measure, asked: bool | None) -> Notice | None:
    """Return a note on negated scores; None if scores are not negated.

    Args:
        measure: the measure, with its direction.
        asked: whether the user said that lower is better; None if the name of the metric decided.
    """
    if not measure.is_negated:
        return None
    fields = {"metric": measure.own_name, "task": measure.task or ""}
    code = "lower-is-better" if asked else "lower-is-better-by-name"
    return Notice(code, fields)
