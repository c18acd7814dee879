"""Build battles of tables, with notes on their rows and the facts that all tables share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from podium.comparability.questions import notices_of_questions
from podium.comparability.run_settings import notices_of_settings
from podium.data.battles import Battles
from podium.data.counting.duck import Duck
from podium.data.counting.verdicts import Engine, Verdicts
from podium.data.formats.records import records_of_view
from podium.data.ladder import Ladder, ladder_from_log
from podium.data.measure import Measure
from podium.data.query import BattleQuery
from podium.data.reading.item_groups import require_same_groups
from podium.data.reading.joined_tables import join_tables, note_odd_items
from podium.data.reading.model_names import note_doubtful_names, require_distinct_names
from podium.data.reading.rows import RecordTable
from podium.data.reading.source_tables import SourceTables
from podium.data.reading.table import is_pointwise
from podium.data.reading.units import likely_item
from podium.data.reading.voters import note_voters
from podium.data.tasks_of_items import TaskFacts, join_facts
from podium.defaults import RANKER_OF_DECISIONS
from podium.findings import ACCEPTED
from podium.hookspecs import GatheredBattles
from podium.notices.notice import Notice, select_codes
from podium.scorers.judge_record import join_judges


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


def build_battles(duck: Duck, counting: Engine, query: BattleQuery, read: SourceTables) -> Battles:
    """Join tables into one view, and return its battles with everything known about them.

    If the query does not say whether scores are paired for `mean` and `median` only
    (`scores_only`), they are if the sources' own ranker is the mean. The battles have the notes on
    sources, on the join, on odd items, on rows, on doubtful names of models and on voters. Notes on
    the join that notes on sources tell already are left out. The battles have a likely item only if
    the query names no groups.

    Args:
        duck: the database in which the tables are joined.
        counting: the database that counts the verdicts: `duck`, or Spark.
        query: the query.
        read: the chosen rows of all sources, with oriented scores.

    Raises:
        UsageError, DataError: the tables cannot be joined, their rows contradict each other, or two
            models or two judges have names that look the same.
    """
    shared = _shared_facts(read.tables, is_whole=not query.where)
    scores_only = query.scores_only
    if scores_only is None:
        scores_only = shared.default_ranker == "mean"
    joined = join_tables(duck, read.tables, scores_only=scores_only)
    require_same_groups(duck, joined.view, query.cluster, read.tables)
    verdicts = _verdicts_in_view(duck, counting, query, joined.view)
    require_distinct_names(verdicts, read.tables)
    likely = likely_item(duck, records_of_view(duck, joined.view, ""))
    items = verdicts.items_relation if counting is duck else None
    odd_items = note_odd_items(duck, joined.view, likely, items)
    gathered = read.gathered
    of_join = _notes_not_told_yet(joined.notes, gathered)
    notes = [*_notes_on_sources(read), *of_join, *odd_items, *_notes_on_rows(verdicts, read.tables)]
    notes += [*note_doubtful_names(verdicts.models), *note_voters(duck, joined.view)]
    return Battles(
        verdicts,
        joined.missing,
        absent=join_facts([TaskFacts(None, each.absent) for each in read.tables]).absent,
        facts_of_tasks=_join_facts_of_tasks(read.tables, has_copies=(joined.copies > 0)),
        notes=tuple(notes),
        sources=tuple(each.source for each in read.tables),
        reading=query.recorded_options(),
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


def _join_facts_of_tasks(
    tables: Sequence[RecordTable], *, has_copies: bool
) -> dict[str, TaskFacts]:
    """Return what is known of each task of a tournament, by its name.

    The result is empty if a table has no facts of tasks.

    Args:
        tables: the tables.
        has_copies: whether a verdict is in several tables. Battles that one table misses may then
            be in another, so that the numbers of missing battles are not known (None).
    """
    if not all(each.facts_of_tasks for each in tables):
        return {}
    facts: dict[str, list[TaskFacts]] = {}
    for table in tables:
        for task, facts_of_table in table.facts_of_tasks.items():
            facts_of_part = replace(facts_of_table, missing=None) if has_copies else facts_of_table
            facts.setdefault(task, []).append(facts_of_part)
    return {task: join_facts(parts) for task, parts in facts.items()}


def _verdicts_in_view(duck: Duck, counting: Engine, query: BattleQuery, view: str) -> Verdicts:
    """Return the verdicts in a view of DuckDB, counted by an engine as a query says.

    If that is Spark, all rows of the view are handed over to it.
    """
    if counting is not duck:
        counting.register(view, duck.table(f"select * from {view}"))
    return verdicts_of_query(counting, view, query)


def verdicts_of_query(counting: Engine, relation: str, query: BattleQuery) -> Verdicts:
    """Return the verdicts in a table or view, counted as a query says.

    The query decides whether the two orders of a pair are merged, what a battle with one unparsed
    order is, and which column has the groups of items.

    Args:
        counting: the engine that counts.
        relation: name of the table or view, with the columns of the battles table.
        query: the query.
    """
    keep_one_sided = query.one_sided == "keep"
    return Verdicts(
        counting,
        relation,
        merge=query.merge,
        keep_one_sided=keep_one_sided,
        group=query.cluster,
    )


def _notes_on_sources(read: SourceTables) -> list[Notice]:
    """Return the notes on accepted findings, losses, files, questions, and settings of runs.

    Notes that only count items whose inputs differ are left out: the check `same question` names
    these items.
    """
    gathered = read.gathered
    accepted = [Notice(ACCEPTED, {"sentence": text}) for text in gathered.accepted]
    paired = notices_of_questions(gathered.questions)
    changed = {finding.task: finding.unshared for finding in gathered.questions if finding.unshared}
    settings = notices_of_settings(gathered.runs)
    notes = [note for note in read.notes if not _is_told_by_questions(note, changed)]
    return [*accepted, *gathered.lost, *notes, *paired, *settings]


def _notes_on_rows(verdicts: Verdicts, tables: Sequence[RecordTable]) -> list[Notice]:
    """Return the warnings of verdicts.

    If all tables have counts of wins, equal rows are expected, and there is no warning of them.
    """
    notes = verdicts.notes()
    if all(each.format == "counts" for each in tables):
        notes = [note for note in notes if note.code != "rows-repeat"]
    return notes


def _is_told_by_questions(note: Notice, changed: Mapping[str, Mapping[str, int]]) -> bool:
    """Return whether a note counts only the items that the check `same question` names.

    Notes on scores that stand alone, and on different documents of models, may do so. Any other
    note does not.

    Args:
        note: any note.
        changed: by task and model, the number of items whose input no other run has.
    """
    if note.code == "scores-alone":
        alone = sum(sum(unshared.values()) for unshared in changed.values())
        return bool(alone == note.fields["scores"])
    if note.code != "different-documents":
        return False
    of_task = changed.get(note.fields["task"], {})
    sizes = note.fields["sizes"]
    common = note.fields["common"]
    return all(size - of_task.get(name, 0) == common for name, size in sizes.items())


def _notes_not_told_yet(notes: Sequence[Notice], gathered: GatheredBattles) -> list[Notice]:
    """Return the notes on joined tables that tell more than what readers of formats found.

    Args:
        notes: the notes on the join.
        gathered: what the readers found: questions, notes and lost runs.
    """
    changed = {finding.task: finding.unshared for finding in gathered.questions if finding.unshared}
    untold = []
    for note in notes:
        if _is_told_by_questions(note, changed) or _is_told_by_documents(note, gathered):
            continue
        untold.append(note)
    return untold


def _is_told_by_documents(note: Notice, gathered: GatheredBattles) -> bool:
    """Return whether a note counts only the documents that a note of lm-eval's reader counts.

    A note on scores that stand alone does so if their number is that of the documents that not all
    models have. Any other note does not.

    Args:
        note: any note.
        gathered: what the readers found. Its notes and losses are searched.
    """
    if note.code != "scores-alone":
        return False
    alone = 0
    for notice in select_codes([*gathered.notes, *gathered.lost], ["different-documents"]):
        documents_of_models = notice.fields["sizes"].values()
        # Each model's documents that not all models have.
        alone += sum(number - notice.fields["common"] for number in documents_of_models)
    return bool(alone == note.fields["scores"])


def _shared_facts(tables: Sequence[RecordTable], *, is_whole: bool) -> SharedFacts:
    """Return the facts that are the same for all tables.

    A finding or a ladder in which the tables differ is None.

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
    are_scores = all(map(_is_without_judge, tables))
    default_ranker = "mean" if are_scores else RANKER_OF_DECISIONS
    return SharedFacts(answer, ladder, default_ranker)


def _is_without_judge(each: RecordTable) -> bool:
    """Return whether a table has scores of models that no judge gave, such as accuracies."""
    names = each.records.columns
    return is_pointwise(names) and "judge" not in names


def _measures_in(tables: Sequence[RecordTable]) -> tuple[Measure, ...]:
    """Return the metrics of hosts' evals in all tables, without repetitions."""
    return tuple(dict.fromkeys(measure for each in tables for measure in each.measures))
