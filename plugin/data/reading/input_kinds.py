"""Decide whether a column of inputs has questions, or the prompts of a judge.

A prompt of a judge holds the responses, so it differs between the rows of one item. Only facts of
the rows decide.
"""

from typing import Literal

from podium.data.reading.item_rows import ItemRows
from podium.data.reading.response_texts import response_columns

InputKind = Literal["question", "judge's prompt", "not known"]
"""What a column of inputs has."""
QUESTION_NAMES = frozenset({"question", "instruction"})
"""Columns with one of these names have the question."""
MAJORITY = 0.5
"""A fact decides if more than this share of the rows or groups show it."""
SHARE_OF_NEARLY_ALL = 0.9
"""Least share of groups for facts that must hold for all but a few."""
LONG_RESPONSE = 20
"""A response of at least this many characters is not in a question by chance."""


def kind_of_inputs(rows: ItemRows) -> InputKind:
    """Return what the inputs of ids with several inputs are.

    They are prompts of a judge if they hold the responses, or if the two orders of a pair have
    different ones and are otherwise equal. They are questions if their columns are called so
    (`QUESTION_NAMES`), if most inputs recur for several models or pairs of models, or if nearly all
    are shorter than the responses.

    Args:
        rows: the rows; some id has several inputs.
    """
    if _hold_responses(rows) or _differ_by_order(rows):
        return "judge's prompt"
    names = {inputs.first_name for inputs in rows.inputs if inputs is not None}
    is_named = names <= QUESTION_NAMES
    if is_named or _recur_for_other_models(rows) or _are_shorter_than_responses(rows):
        return "question"
    return "not known"


def _hold_responses(rows: ItemRows) -> bool:
    """Return whether most inputs contain both responses, among rows with long responses.

    Without such a row, the result is False.
    """
    holding = counted = 0
    for table, question in zip(rows.tables, rows.inputs, strict=True):
        responses = response_columns(table.records.columns)
        if responses is None or question is None:
            continue
        cell = question.shown.text
        a, b = (column.text for column in responses)
        are_long = f"length({a}) >= {LONG_RESPONSE} and length({b}) >= {LONG_RESPONSE}"
        is_long = f"{are_long} and {cell} is not null"
        counts = f"count(*) filter (contains({cell}, {a}) and contains({cell}, {b})), count(*)"
        ((holding_in_table, number),) = table.records.rows(counts, f"where {is_long}")
        holding += holding_in_table
        counted += number
    return holding > MAJORITY * counted


def _differ_by_order(rows: ItemRows) -> bool:
    """Return whether an id, a pair and an order have one input, and the other order another.

    Only ids with several inputs count. The first must hold for nearly all of these combinations
    (`SHARE_OF_NEARLY_ALL`), and the second for most ids and pairs in both orders (`MAJORITY`).
    """
    conflicts = (
        f"select id from {rows.name} where input is not null group by id "
        "having min(input) <> max(input)"
    )
    of_order = (
        "select id, pair, side, min(input) as input, min(input) = max(input) as is_one "
        f"from {rows.name} where id in ({conflicts}) and pair is not null and input is not null "
        "group by id, pair, side"
    )
    ((single,),) = rows.engine.rows(f"select avg(is_one::int) from ({of_order}) as of_order")
    if single is None or single < SHARE_OF_NEARLY_ALL:
        return False
    of_pair = (
        "select count(distinct input) = count(*) as differs "
        f"from ({of_order}) as of_order group by id, pair having count(*) > 1"
    )
    ((differing,),) = rows.engine.rows(f"select avg(differs::int) from ({of_pair}) as of_pair")
    return differing is not None and differing > MAJORITY


def _recur_for_other_models(rows: ItemRows) -> bool:
    """Return whether most inputs of ids with several inputs are of several models or pairs.

    The share of these inputs is the mean of the shares of the ids. A prompt of a judge is of the
    models whose responses it holds.
    """
    recurring_inputs = (
        "select id, count(distinct coalesce(model, pair)) > 1 as recurs "
        f"from {rows.name} where id is not null and input is not null group by id, input"
    )
    share_of_id = "select avg(recurs::int) as share from asked group by id having count(*) > 1"
    ((share,),) = rows.engine.rows(
        f"with asked as ({recurring_inputs}) select avg(share) from ({share_of_id}) as several"
    )
    return share is not None and share > MAJORITY


def _are_shorter_than_responses(rows: ItemRows) -> bool:
    """Return whether nearly all inputs are shorter than the longer response of their row.

    Lengths of responses are those of their texts, else those in the columns of lengths. The result
    is False if no row has an input and known lengths.
    """
    shorter = counted = 0
    for table, question in zip(rows.tables, rows.inputs, strict=True):
        columns = table.records.columns
        responses = response_columns(columns)
        if question is None:
            continue
        if responses is not None:
            a, b = (f"length({column.text})" for column in responses)
        elif {"length_a", "length_b"} <= columns.keys():
            a, b = (columns[f"length_{side}"].number for side in "ab")
        else:
            continue
        is_known = f"{question.shown.text} is not null and {a} + {b} is not null"
        is_shorter = f"length({question.shown.text}) < greatest({a}, {b})"
        counts = f"count(*) filter ({is_shorter}) as shorter, count(*) as number"
        ((shorter_in_table, number),) = table.records.rows(counts, f"where {is_known}")
        shorter += shorter_in_table
        counted += number
    return counted > 0 and shorter >= SHARE_OF_NEARLY_ALL * counted
