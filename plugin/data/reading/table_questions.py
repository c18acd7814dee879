"""What a table's column of inputs says of the questions: findings for `same question`.

Rows of scores by one model are like a run of a host's eval: see `podium.comparability.questions`.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from podium.comparability.asked_items import EXCERPT
from podium.comparability.rewording import MOST_COMPARED, are_reworded
from podium.data.counting.relations import ROW, sql_literal
from podium.data.formats.records import Column
from podium.data.reading.item_rows import ItemRows
from podium.data.reading.table import is_pointwise
from podium.question_finding import QuestionFinding

IS_KNOWN_ROW = "id is not null and input is not null"
"""Condition (SQL) of rows of `ItemRows` whose id and input are known."""
CONFLICT = "group by id having min(input) <> max(input)"
"""SQL that follows a condition on `ItemRows`: it selects the ids with several inputs."""


def finding_of_changed_inputs(rows: ItemRows) -> QuestionFinding:
    """Return the finding for ids of which some have several inputs, if items are paired by input.

    Args:
        rows: the rows; some id has several inputs.

    Returns:
        The finding. Its `unshared` has for each model of scores the number of its inputs that no
        other model has, if there are any. Battles hold both models' responses to one input, so that
        it is empty for them.
    """
    conflicts = ids_with_several_inputs(rows)
    selected = f"id in (select id from {rows.name} where {IS_KNOWN_ROW} {CONFLICT})"
    asked = rows.engine.rows(
        f"select distinct model, id, input from {rows.name} "
        f"where {IS_KNOWN_ROW} and model is not null and {selected}"
    )
    held: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for model, item, hashed in asked:
        held[model].add((item, hashed))
    models_of_input = Counter(key for keys in held.values() for key in keys)
    unshared = {}
    for model, keys in held.items():
        alone = sum(models_of_input[key] == 1 for key in keys)
        # A model with all inputs of the others has more items, and no changed ones.
        if alone and len(keys) < len(models_of_input):
            unshared[model] = alone
    return QuestionFinding(
        "",
        "input",
        items=_count(rows, "select distinct id, input from {} where id is not null"),
        conflicts=len(conflicts),
        shared_ids=_shared_ids(rows),
        unshared=unshared,
        example=_example(rows),
        compared=rows.question.what,
    )


def finding_of_other_inputs(rows: ItemRows, column: str, *, by_file: bool) -> QuestionFinding:
    """Return the finding for files or models that share no input, but all ids.

    Its `is_reworded` is True if all later files or models put the inputs of the first in other
    words.

    Args:
        rows: the rows.
        column: name of the column for messages.
        by_file: whether each file has inputs of its own. If not, each model has.
    """
    conflicts = ids_with_several_inputs(rows)
    texts = _texts_by_group(rows, conflicts[:MOST_COMPARED], by_file=by_file)
    # Without texts there is nothing to compare.
    first, *others = texts or [{}]
    return QuestionFinding(
        "",
        "other inputs",
        items=_count(rows, "select distinct id from {} where id is not null"),
        conflicts=len(conflicts),
        shared_ids=_shared_ids(rows),
        example=_example(rows),
        reason=(f"column {column}",),
        is_reworded=bool(others) and all(are_reworded(first, other) for other in others),
    )


def finding_of_undecided_inputs(rows: ItemRows, column: str, doubt: str) -> QuestionFinding:
    """Return the finding for inputs that may be questions or something else.

    Args:
        rows: the rows.
        column: name of the column with inputs.
        doubt: what they may be, for messages.
    """
    items = _count(rows, "select distinct id from {}")
    conflicts = len(ids_with_several_inputs(rows))
    return QuestionFinding(
        task="", pairing="undecided", items=items, conflicts=conflicts, reason=(column, doubt)
    )


def rows_with_other_inputs(rows: ItemRows) -> tuple[str, list[tuple[str, str]]]:
    """Return the first id with several inputs, with two of them.

    Args:
        rows: the rows; some id has several inputs.

    Returns:
        The id, and for two of its rows the file and row, and the input.
    """
    having = "having min(input) <> max(input) order by min((place, row)) limit 1"
    ((item, first),) = rows.engine.rows(
        f"select id, arg_min(input, (place, row)) from {rows.name} "
        f"where {IS_KNOWN_ROW} group by id {having}"
    )
    shown = []
    for same in ("=", "<>"):
        condition = f"and id = {sql_literal(item)} and input {same} {first}"
        ((place, row),) = rows.engine.rows(
            f"select place, row from {rows.name} where {IS_KNOWN_ROW} {condition} "
            "order by place, row limit 1"
        )
        records = rows.tables[place].records
        inputs = rows.inputs[place]
        assert inputs is not None, "a row with an input is of a table with a column of inputs"
        ((words,),) = records.rows(inputs.shown.text, f"where {ROW} = {row}")
        shown.append((rows.row_place(place, row), words))
    return item, shown


def ids_with_several_inputs(rows: ItemRows) -> list[str]:
    """Return the ids with several inputs, in alphabetical order."""
    asked = f"select id from {rows.name} where {IS_KNOWN_ROW} {CONFLICT} order by id"
    return [item for (item,) in rows.engine.rows(asked)]


def _shared_ids(rows: ItemRows) -> int:
    """Return the number of ids with rows of several models, pairs of models or files."""
    in_several = "group by id having count(distinct (place, model, pair)) > 1"
    return _count(rows, f"select id from {{}} where id is not null {in_several}")


def _count(rows: ItemRows, query: str) -> int:
    """Return the number of rows of a query, in which `{}` stands for the name of the relation."""
    ((number,),) = rows.engine.rows(f"select count(*) from ({query.format(rows.name)}) as counted")
    return int(number)


def _example(rows: ItemRows) -> dict[str, Any]:
    """Return the first id with several inputs (`item`), with two of them (`inputs`).

    The inputs are the first `EXCERPT` characters of texts, by file and row.
    """
    item, shown = rows_with_other_inputs(rows)
    return {"item": item, "inputs": {place: words[:EXCERPT] for place, words in shown}}


def _texts_by_group(
    rows: ItemRows,
    ids: Sequence[str],
    *,
    by_file: bool,
) -> list[dict[str, str]]:
    """Return the texts of the inputs of some ids, by id, for each file or each model.

    Args:
        rows: the rows.
        ids: the ids.
        by_file: whether a group is a file. If not, it is a model; all battles are then one group.

    Returns:
        A dictionary for each file or model with such texts. Of several texts of an id, it has the
        first.
    """
    chosen = ", ".join(map(sql_literal, ids))
    texts: dict[object, dict[str, str]] = defaultdict(dict)
    for place, (table, question) in enumerate(zip(rows.tables, rows.inputs, strict=True)):
        columns = table.records.columns
        if question is None:
            continue
        whose = columns["model"] if is_pointwise(columns) else Column(sql_literal(""))
        item = columns["item"].text
        cell = question.shown.text
        condition = f"where {item} in ({chosen}) and {cell} is not null"
        for model, item_of_row, said in table.records.rows(
            f"{whose.text}, {item}, {cell}", condition
        ):
            group = place if by_file else model
            texts[group].setdefault(item_of_row, said)
    return list(texts.values())
