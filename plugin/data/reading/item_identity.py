"""Decide what an item is where its id does not: by the inputs, or by category and id.

Inputs decide where a table has a column of them. Rows of one id with different inputs are of
different items. If each id has one input in every category, category and id together are the item.
If ids were shuffled between models or files, or if inputs recur, rows are paired by input.
Otherwise they contradict each other. A column of inputs may also have the prompts of a judge, which
say nothing of the question: see `podium.data.reading.input_kinds`.

The turns of a conversation are different questions.

Without inputs, category and id are the item only if ids are numbers that begin anew in each
category, and nothing suggests that the rows of an id are about one question.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from podium.comparability.questions import FINDING
from podium.data.counting.duck import Duck
from podium.data.formats.records import Column
from podium.data.formats.score_files import has_answers
from podium.data.query import BattleQuery
from podium.data.reading.category_ids import count_items_of_category, note_numbered_anew
from podium.data.reading.input_kinds import kind_of_inputs
from podium.data.reading.item_rows import ItemRows, gather_item_rows, hash_of_words
from podium.data.reading.question_columns import (
    CATEGORIES,
    PROMPTS_IN_DOUBT,
    QuestionParts,
    choose_question_columns,
    columns_of_references,
    find_question_parts,
)
from podium.data.reading.rows import RecordTable
from podium.data.reading.table import is_pointwise
from podium.data.reading.table_questions import (
    CONFLICT,
    finding_of_changed_inputs,
    finding_of_other_inputs,
    finding_of_undecided_inputs,
    ids_with_several_inputs,
    rows_with_other_inputs,
)
from podium.errors import OtherQuestionError, UsageError
from podium.findings import accepted_sentence, remedy_with_option
from podium.notices.notice import Notice
from podium.notices.option_forms import option_text
from podium.printable import shorten
from podium.question_finding import QuestionFinding
from podium.wording import plural

MOST_CORRECTED = 0.1
"""A reference answer or number that differs for at most this share of ids was corrected; if more
differ, the ids are those of other questions."""


@dataclass(frozen=True, slots=True)
class IdentifiedTables:
    """Tables whose column `item` has the items.

    Attributes:
        tables: the tables.
        notes: a note on what was done, if anything was.
        accepted: a sentence, if the user accepted different inputs of one id.
        questions: a finding, if it is not known whether the inputs are the questions.
    """

    tables: Sequence[RecordTable]
    notes: Sequence[Notice] = ()
    accepted: Sequence[str] = ()
    questions: Sequence[QuestionFinding] = ()


def identify_items(
    engine: Duck, tables: Sequence[RecordTable], query: BattleQuery
) -> IdentifiedTables:
    """Rename the items of tables whose ids alone are not the items.

    If rows of one id have different inputs that nothing explains, and the query allows the finding
    `questions`, the ids stay the items (only turns are named), and `accepted` says so.

    Args:
        engine: the database.
        tables: all tables. If one of them is of a host's eval or has no column `item`, all are left
            as they are.
        query: its `ids` says whether ids are unique in all categories (`global`), only within each
            (`per-category`), or whether the rows decide (`auto`).

    Raises:
        OtherQuestionError: rows of one id have different inputs, and the query does not allow the
            finding `questions`.
        UsageError: `ids` is `per-category` and a table has no category.
    """
    with_items = [each for each in tables if not each.is_of_host and "item" in each.records.columns]
    if query.ids == "global" or len(with_items) < len(tables):
        return IdentifiedTables(tables)
    if query.ids == "per-category":
        return IdentifiedTables(_named_by_category(tables, _first_shared_category(tables)))
    by_turn = _identify_by_turn(engine, tables)
    try:
        identified = _identify_by_rows(engine, by_turn.tables)
    except OtherQuestionError as error:
        if FINDING not in query.allow:
            raise
        accepted = [accepted_sentence(FINDING, error.problem)]
        return replace(by_turn, accepted=accepted)
    return replace(identified, notes=[*by_turn.notes, *identified.notes])


def _identify_by_rows(engine: Duck, tables: Sequence[RecordTable]) -> IdentifiedTables:
    """Rename items as the rows show, by category or input (see `identify_items`).

    If all tables have scores and answers of models, their reference answers rename nothing. Instead
    each item must have one reference answer.

    Raises:
        OtherQuestionError: rows of one id have different inputs or reference answers.
    """
    parts = find_question_parts(engine, tables)
    if not parts.references or not _have_answers(tables):
        return _identify_by_parts(engine, tables, parts)
    identified = _identify_by_parts(engine, tables, replace(parts, references=()))
    _reject_other_references(engine, identified.tables, parts.references[0])
    return identified


def _identify_by_parts(
    engine: Duck, tables: Sequence[RecordTable], parts: QuestionParts
) -> IdentifiedTables:
    """Rename items by what the tables say of their questions, or by category.

    Items are named by category only if the tables say nothing of the questions, and ids are numbers
    that begin anew in each category (`note_numbered_anew`). Otherwise, the tables are unchanged.

    Raises:
        OtherQuestionError: rows of one id have different inputs or reference answers, and the rows
            do not show why.
    """
    if not parts.is_empty:
        identified = _identify_by_inputs(engine, tables, parts)
        if identified is not None:
            return identified
    for category in _shared_categories(tables):
        notes = note_numbered_anew(engine, tables, category)
        if notes:
            return IdentifiedTables(_named_by_category(tables, category), notes)
    return IdentifiedTables(tables)


def _reject_other_references(engine: Duck, tables: Sequence[RecordTable], name: str) -> None:
    """Check that all scored answers to an item stand beside one reference answer.

    It suffices that they do within each category of one of the columns of `CATEGORIES`.

    Args:
        engine: the database.
        tables: tables of scores and answers, with their items.
        name: the column with the reference answers.

    Raises:
        OtherQuestionError: they do not.
    """
    references = columns_of_references(engine, tables, name)
    for category in (*_shared_categories(tables), None):
        rows = gather_item_rows(engine, tables, references, category)
        if not rows.has("group by category, id having min(input) <> max(input) limit 1"):
            return
    raise _conflict_error(rows)


def _identify_by_turn(engine: Duck, tables: Sequence[RecordTable]) -> IdentifiedTables:
    """Rename items `ID turn N` if rows of one id are of several turns.

    The turns of a question are different questions, not repeats of one. Readers of known formats
    have named their turns.
    """
    queries = []
    for table in tables:
        columns = table.records.columns
        if table.format in ("podium", "pointwise") and "turn" in columns:
            cells = f"{columns['item'].text} as id, {columns['turn'].text} as turn"
            queries.append(f"select {cells} from {table.records.scan}")
    if not queries:
        return IdentifiedTables(tables)
    rows = f"({' union all '.join(queries)}) as rows where id is not null"
    if not engine.rows(f"select 1 from {rows} group by id having min(turn) <> max(turn) limit 1"):
        return IdentifiedTables(tables)
    ((items,),) = engine.rows(f"select count(distinct (id, turn)) from {rows}")
    return IdentifiedTables(
        list(map(_named_by_turn, tables)), [Notice("turns-are-items", {"items": items})]
    )


def _named_by_turn(each: RecordTable) -> RecordTable:
    """Return a table whose items are named `ID turn N`.

    A row without a turn keeps its id. The id is kept as `question`, unless the table has such a
    column. A table without a column `turn` is returned unchanged.
    """
    columns = dict(each.records.columns)
    if "turn" not in columns:
        return each
    question = Column(columns["item"].text)
    suffix = f"coalesce(' turn ' || {columns['turn'].text}, '')"
    columns["item"] = Column(f"{question.sql} || {suffix}")
    columns.setdefault("question", question)
    return replace(each, records=replace(each.records, columns=columns))


def _identify_by_inputs(
    engine: Duck, tables: Sequence[RecordTable], parts: QuestionParts
) -> IdentifiedTables | None:
    """Rename items by the questions of their rows.

    If no id has several questions, or the column has too few different texts to be questions,
    nothing is renamed. If each id has one question in every category, items are named by category
    and id. Otherwise, the kind of the column decides: `_identify_by_references`,
    `_identify_by_doubtful_inputs` or `_identify_by_texts`.

    Returns:
        The tables; None if they have reference answers only, and each id has one.

    Args:
        engine: the database.
        tables: the tables.
        parts: what the tables say of their questions. It is not empty.

    Raises:
        OtherQuestionError: rows of one id have different inputs or reference answers, and the rows
            do not show why.
    """
    if not _have_conflict(engine, tables, parts):
        if not any(parts.main):
            return None
        return IdentifiedTables(tables, questions=_lack_of_inputs(parts))
    inputs = choose_question_columns(engine, tables, parts)
    rows = gather_item_rows(engine, tables, inputs, None)
    if not rows.has(f"{CONFLICT} limit 1") or not _may_be_questions(rows):
        return IdentifiedTables(tables, questions=_lack_of_inputs(parts))
    for category in _shared_categories(tables):
        parted = gather_item_rows(engine, tables, inputs, category)
        within = "group by category, id having min(input) <> max(input) limit 1"
        if not parted.has("and category is null limit 1") and not parted.has(within):
            note = Notice(
                "ids-with-inputs-of-categories", count_items_of_category(parted, category)
            )
            return IdentifiedTables(_named_by_category(tables, category), [note])
    question = rows.question
    if question.is_reference:
        return _identify_by_references(rows)
    if question.doubt:
        return _identify_by_doubtful_inputs(rows)
    return _identify_by_texts(rows)


def _identify_by_references(rows: ItemRows) -> IdentifiedTables:
    """Rename items by their reference answers, of which some ids have several.

    Raises:
        OtherQuestionError: too many ids have several (`MOST_CORRECTED`), and they were not shuffled
            between models or files.
    """
    conflicts = len(ids_with_several_inputs(rows))
    if _have_inputs_other_ids(rows) and _are_shuffled_questions(rows):
        return _paired_by_input(rows, conflicts)
    if conflicts <= MOST_CORRECTED * _number_of_compared_ids(rows):
        return _pair_changed_inputs(rows)
    raise _conflict_error(rows)


def _identify_by_doubtful_inputs(rows: ItemRows) -> IdentifiedTables:
    """Rename items by inputs that may not be the questions, where the rows show that they are.

    They are if ids were shuffled, or if few ids of scores have several (`MOST_CORRECTED`). If many
    have, nothing is renamed, and the finding `undecided` says so. Nothing is renamed, either, if a
    model has several inputs of one id, or if rows are battles.
    """
    conflicts = len(ids_with_several_inputs(rows))
    if _have_inputs_other_ids(rows) and _are_shuffled_questions(rows, most_shared=True):
        return _paired_by_input(rows, conflicts)
    if not _has_one_for_each_model(rows):
        return IdentifiedTables(rows.tables)
    if conflicts <= MOST_CORRECTED * _number_of_compared_ids(rows):
        return _pair_changed_inputs(rows)
    question = rows.question
    finding = finding_of_undecided_inputs(rows, question.name, question.doubt)
    return IdentifiedTables(rows.tables, questions=[finding])


def _identify_by_texts(rows: ItemRows) -> IdentifiedTables:
    """Rename items by the texts that were asked, or that are the prompts of a judge.

    - If ids were shuffled, rows are paired by text.
    - If most ids have one text, and each model one of an id, the others are changed questions: rows
      are paired by text, too. So they are if most ids have several, and the texts are known to be
      questions (`kind_of_inputs`).
    - Prompts of a judge rename nothing. If texts may be such prompts, they rename nothing either,
      and the finding `undecided` says so.
    - If all ids of files or models have other texts, nothing is renamed if these are in a column
      `prompt`; the finding `other inputs` says so.

    Raises:
        OtherQuestionError: the texts contradict the ids in any other way.
    """
    tables = rows.tables
    ids = len(ids_with_several_inputs(rows))
    is_one_for_most = 2 * ids <= _number_of_compared_ids(rows)
    is_shuffled = _have_inputs_other_ids(rows)
    if is_shuffled and _are_shuffled_questions(rows):
        return _paired_by_input(rows, ids)
    if not is_shuffled and is_one_for_most and _has_one_for_each_model(rows):
        return _pair_changed_inputs(rows)
    if _have_answers(tables):
        raise _conflict_error(rows)
    of_rows = is_shuffled and _differs_by_row(rows)
    if not of_rows and (is_shuffled or is_one_for_most):
        raise _conflict_error(rows)
    kind = kind_of_inputs(rows)
    if kind == "judge's prompt":
        return IdentifiedTables(tables)
    column = rows.question.name
    if not of_rows and (_differs_by_file(rows) or _differs_by_model(rows)):
        if column != "prompt":
            raise _conflict_error(rows)
        other = finding_of_other_inputs(rows, column, by_file=_differs_by_file(rows))
        if other.is_reworded or not any("judge" in each.records.columns for each in tables):
            return IdentifiedTables(tables, _note_other_words(rows, other), questions=[other])
    elif kind == "question" and not of_rows:
        return _pair_changed_inputs(rows)
    finding = finding_of_undecided_inputs(rows, column, PROMPTS_IN_DOUBT)
    return IdentifiedTables(tables, questions=[finding])


def _paired_by_input(rows: ItemRows, conflicts: int) -> IdentifiedTables:
    """Pair rows by their inputs, with a note.

    Args:
        rows: the rows.
        conflicts: number of ids with several inputs.
    """
    question = rows.question
    fields = {"ids": conflicts, "what": question.what, "column": question.name}
    note = Notice("paired-by-input", fields)
    return IdentifiedTables(_named_by_input(rows), [note])


def _have_inputs_other_ids(rows: ItemRows) -> bool:
    """Return whether some input stands in rows of several ids."""
    return rows.has("and input is not null group by input having min(id) <> max(id) limit 1")


def _pair_changed_inputs(rows: ItemRows) -> IdentifiedTables:
    """Pair rows by their inputs, with a finding if a model was asked what no other was asked.

    Args:
        rows: the rows; some id has several inputs.
    """
    finding = finding_of_changed_inputs(rows)
    if finding.pairs_conflicts:
        paired = _paired_by_input(rows, finding.conflicts)
    else:
        paired = IdentifiedTables(_named_by_input(rows))
    return replace(paired, questions=[finding] if finding.unshared else [])


def _note_other_words(rows: ItemRows, finding: QuestionFinding) -> list[Notice]:
    """Return a note on the items with other words; empty if they are other questions."""
    if not finding.is_reworded:
        return []
    return [Notice("different-words-compared", {"items": ids_with_several_inputs(rows)})]


def _lack_of_inputs(parts: QuestionParts) -> list[QuestionFinding]:
    """Return a list of one finding if some tables say what was asked and others do not.

    The list is empty if all tables say it, or none.
    """
    if all(parts.main) or not any(parts.main):
        return []
    # The task is not named: the finding is about all tables.
    return [QuestionFinding(task="", pairing="unknown")]


def _has_one_for_each_model(rows: ItemRows) -> bool:
    """Return whether all rows are scores, and each id has one input in the scores of a model.

    A model may have another input of the id in another file.
    """
    if rows.has("and model is null limit 1"):
        return False
    return not rows.has(
        "and input is not null group by place, model, id having min(input) <> max(input) limit 1"
    )


def _have_conflict(engine: Duck, tables: Sequence[RecordTable], parts: QuestionParts) -> bool:
    """Return whether rows of an id differ in a column of `parts`.

    Blanks at the ends are differences, too: this is fast, and most tables have none.
    """
    inputs = parts.as_columns(tables, with_further=True)
    queries = []
    for table, question in zip(tables, inputs, strict=True):
        if question is not None:
            item = table.records.columns["item"].text
            cell = question.shown.text
            cells = f"{item} as id, hash({cell}) as input"
            queries.append(f"select {cells} from {table.records.scan} where {cell} is not null")
    rows = f"({' union all '.join(queries)}) as rows where id is not null"
    return bool(
        engine.rows(f"select 1 from {rows} group by id having min(input) <> max(input) limit 1")
    )


def _have_answers(tables: Sequence[RecordTable]) -> bool:
    """Return whether all tables have scores and answers of models."""
    return all(is_pointwise(each.records.columns) and has_answers(each.records) for each in tables)


def _shared_categories(tables: Sequence[RecordTable]) -> list[str]:
    """Return the columns of `CATEGORIES` that all tables have."""
    columns_of_tables = [each.records.columns.keys() for each in tables]
    return [name for name in CATEGORIES if all(name in columns for columns in columns_of_tables)]


def _first_shared_category(tables: Sequence[RecordTable]) -> str:
    """Return the first column of `CATEGORIES` that all tables have; UsageError if there is none."""
    shared_categories = _shared_categories(tables)
    if not shared_categories:
        raise UsageError(
            f"{option_text('ids', 'per-category')}: a file has no column {' or '.join(CATEGORIES)}"
        )
    return shared_categories[0]


def _named_by_category(tables: Sequence[RecordTable], category: str) -> list[RecordTable]:
    """Return tables whose items are named `CATEGORY:ID`.

    Rows without a category keep their id.

    Args:
        tables: the tables.
        category: the column with categories, which all tables have.
    """
    named = []
    for table in tables:
        columns = table.records.columns
        item = columns["item"].text
        prefix = f"coalesce({columns[category].text} || ':', '')"
        whole = Column(f"{prefix} || {item}")
        named.append(
            replace(table, records=replace(table.records, columns={**columns, "item": whole}))
        )
    return named


def _are_shuffled_questions(rows: ItemRows, *, most_shared: bool = False) -> bool:
    """Return whether groups of rows have the same inputs under different ids.

    A group is a file, or the rows of a model or pair of models in it. In every group, each id has
    one input, and most inputs have one id: a question may be asked twice under two ids. Most inputs
    are in several groups.

    Args:
        rows: the rows.
        most_shared: whether most inputs must be in several groups even if all have one id in each.
    """
    for groups in ("place", "place, model, pair"):
        ids = f"and input is not null group by {groups}, id having min(input) <> max(input) limit 1"
        if not rows.has(ids) and _are_inputs_shared(rows, groups, most_shared=most_shared):
            return True
    return False


def _are_inputs_shared(rows: ItemRows, groups: str, *, most_shared: bool) -> bool:
    """Return whether most inputs have one id in each group, and are in several groups.

    If all have one id in each group, it does not matter in how many groups they are, unless
    `most_shared`.

    Args:
        rows: the rows.
        groups: columns of `rows` that name a group, separated by commas.
        most_shared: whether most must be in several groups in any case.
    """
    of_group = (
        f"select input, min(id) <> max(id) as has_several from {rows.name} "
        f"where id is not null and input is not null group by {groups}, input"
    )
    of_input = (
        "select bool_or(has_several) as is_repeated, count(*) > 1 as is_shared "
        f"from ({of_group}) as of_group group by input"
    )
    sums = "count(*) as inputs, sum(is_repeated::int) as repeated, sum(is_shared::int) as shared"
    ((inputs, repeated, shared),) = rows.engine.rows(f"select {sums} from ({of_input}) as of_input")
    if not repeated and not most_shared:
        return True
    return bool(2 * repeated < inputs and 2 * shared > inputs)


def _differs_by_row(rows: ItemRows) -> bool:
    """Return whether most ids with several rows have another input in every row.

    The input is then that of the judge, not the question. The result is True if no id has several
    rows with inputs.
    """
    groups = (
        f"(select count(*) as rows, count(distinct input) as inputs from {rows.name} "
        "where id is not null and input is not null group by id having count(*) > 1)"
    )
    ((share,),) = rows.engine.rows(f"select avg((inputs = rows)::int) from {groups} as counted")
    return share is None or share > 0.5


def _may_be_questions(rows: ItemRows) -> bool:
    """Return whether there are more than half as many different inputs as ids.

    A column with few values, such as the name of a judge's prompt, is not the question.
    """
    counts = "count(distinct id) as ids, count(distinct input) as inputs"
    ((ids, inputs),) = rows.engine.rows(f"select {counts} from {rows.name} where input is not null")
    return bool(2 * inputs > ids)


def _number_of_compared_ids(rows: ItemRows) -> int:
    """Return the number of ids with inputs in several rows."""
    repeated = "and input is not null group by id having count(*) > 1"
    return len(rows.engine.rows(f"select id from {rows.name} where id is not null {repeated}"))


def _differs_by_file(rows: ItemRows) -> bool:
    """Return whether an id has one input in each file, and some id several rows in a file.

    Only rows with inputs count. The column is then not that of a row, such as the prompt of a
    judge.
    """
    within = "and input is not null group by place, id having"
    has_repeats = rows.has(f"{within} count(*) > 1 limit 1")
    return has_repeats and not rows.has(f"{within} min(input) <> max(input) limit 1")


def _differs_by_model(rows: ItemRows) -> bool:
    """Return whether models have ids in common, and no input.

    It is False for battles, and if a model has several inputs of an id.
    """
    known_by = "and input is not null and model is not null group by"
    several_models = "having min(model) <> max(model) limit 1"
    if not rows.has(f"{known_by} id {several_models}"):
        return False
    if rows.has(f"{known_by} input {several_models}"):
        return False
    return not rows.has(f"{known_by} model, id having min(input) <> max(input) limit 1")


def _named_by_input(rows: ItemRows) -> list[RecordTable]:
    """Return tables whose items are named by the first id of their input.

    If several inputs have one first id, `#2` and so on is added to those after the first. Rows
    without an input keep their ids.

    Args:
        rows: the rows.
    """
    names = rows.engine.fresh("item_names")
    earliest = "arg_min(id, (place, row)) as id, min((place, row)) as first"
    known_rows = f"{rows.name} where id is not null and input is not null"
    grouped = f"select input as hashed, {earliest} from {known_rows} group by 1"
    number = "row_number() over (partition by id order by first)"
    named = f"select hashed, id, {number} as number from ({grouped}) as grouped"
    suffix = "case when number > 1 then '#' || number else '' end"
    rows.engine.store(names, f"select hashed, id || {suffix} as item_name from ({named}) as named")
    tables = []
    for table, question in zip(rows.tables, rows.inputs, strict=True):
        if question is None:
            tables.append(table)
            continue
        records = table.records
        hashed = hash_of_words(question.column)
        joined = f"left join {names} as known on known.hashed = {hashed}"
        scan = f"(select held.*, known.item_name from {records.scan} as held {joined})"
        item = Column(f"coalesce(item_name, {records.columns['item'].text})")
        columns = {**records.columns, "item": item}
        tables.append(replace(table, records=replace(records, scan=scan, columns=columns)))
    return tables


def _conflict_error(rows: ItemRows) -> OtherQuestionError:
    """Return the error for rows of one id with different inputs. It shows two rows.

    Args:
        rows: the rows.
    """
    item, differing = rows_with_other_inputs(rows)
    text_of_first, other = (f"{shorten(words, 60)!r} ({place})" for place, words in differing)
    question = rows.question
    where = f"the {plural('column', len(question.names))} {question.name}"
    problem = f"item {item!r} has different inputs in {where}: {text_of_first} and {other}"
    if question.is_reference:
        problem = (
            f"item {item!r} has {text_of_first} in {where}, and another reference answer: {other}"
        )
    remedy = (
        "responses can be compared only where models were asked the same: give different questions "
        "different ids, or correct the rows"
    )
    return OtherQuestionError(problem, remedy=remedy_with_option(FINDING, remedy))
