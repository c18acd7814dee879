"""Find the items on which two models gave identical responses, in tables of verdicts and scores."""

from collections.abc import Mapping, Sequence

from podium.data.counting.duck import Duck
from podium.data.counting.relations import ROW
from podium.data.formats.answer_lengths import SAME_ANSWERS
from podium.data.formats.compared_answers import ANSWER_DIGEST, are_answers_compared
from podium.data.reading.response_texts import RESPONSES
from podium.data.reading.rows import RecordTable

NUMBERED_RESPONSES = (
    ("response_1", "response_2"),
    ("output_1", "output_2"),
    ("answer_1", "answer_2"),
    ("completion_1", "completion_2"),
)
"""Further columns with the responses of both models, whichever is model_a."""


def find_identical_responses(
    engine: Duck, tables: Sequence[RecordTable]
) -> Mapping[tuple[str, str], frozenset[str]]:
    """Return the items on which all rows of two models have identical responses.

    Responses are compared character by character. A row that lacks a response is not identical. In
    tables of scores, the scores on the item must be equal, too: an assertion may look at more than
    the response, such as its cost.

    Returns:
        The items by the sorted names of two models. Pairs without any responses are left out. The
        result is empty unless answers are compared (`comparing_answers`).
    """
    if not are_answers_compared():
        return {}
    queries = [query for each in tables if (query := _query_of_pairs(each)) is not None]
    queries += _queries_of_scores(tables)
    if not queries:
        return {}
    rows = engine.rows(
        "select first, second, item, coalesce(bool_and(coalesce(same, false)), false) "
        f"from ({' union all '.join(queries)}) as pairs "
        "where first is not null and second is not null and item is not null "
        "group by first, second, item having bool_or(same is not null)"
    )
    items: dict[tuple[str, str], set[str]] = {}
    for first, second, item, is_identical in rows:
        items_of_pair = items.setdefault((first, second), set())
        if is_identical:
            items_of_pair.add(item)
    return {pair: frozenset(items_of_pair) for pair, items_of_pair in items.items()}


def _query_of_pairs(each: RecordTable) -> str | None:
    """Return the query of a table's pairs of models; None if it has no responses or no items.

    The columns are `first` and `second` (the sorted names), `item`, and `same` (whether the
    responses are identical; NULL if one is missing).
    """
    columns = each.records.columns
    if not {"item", "model_a", "model_b"} <= columns.keys():
        return None
    same = None
    if SAME_ANSWERS in columns:
        same = f"lower({columns[SAME_ANSWERS].text}) = 'true'"
    for a, b in (*RESPONSES, *NUMBERED_RESPONSES):
        if same is not None:
            break
        if a in columns and b in columns:
            has_numbers = columns[a].is_number or columns[b].is_number
            if not has_numbers:
                same = f"{columns[a].text} = {columns[b].text}"
    if same is None:
        return None
    models = f"{columns['model_a'].text}, {columns['model_b'].text}"
    names = f"least({models}) as first, greatest({models}) as second"
    item = f"{columns['item'].text} as item"
    return f"select {names}, {item}, {same} as same from {each.records.scan}"


def _queries_of_scores(tables: Sequence[RecordTable]) -> list[str]:
    """Return one query of all pairs of models in tables of scores, as a list.

    The columns are those of `_query_of_pairs`. The list is empty if no table of scores has
    responses. If a model has several rows on an item, the responses and scores are identical if
    they are so in the order of the rows, and `same` is NULL if all responses are missing.
    """
    rows = []
    for place, table in enumerate(tables):
        columns = table.records.columns
        if not {"item", "model", "score", ANSWER_DIGEST} <= columns.keys():
            continue
        metric = columns["metric"].text if "metric" in columns else "cast(null as varchar)"
        position = f"({metric}, {place}, {ROW})"
        rows.append(
            f"select {columns['model'].text} as model, {columns['item'].text} as item, "
            f"{columns[ANSWER_DIGEST].text} as answer, {columns['score'].number} as score, "
            f"{position} as position from {table.records.scan}"
        )
    if not rows:
        return []
    said = "list((answer, score) order by position)"
    of_models = (
        f"select model, item, {said} as said, bool_and(answer is not null) as is_complete, "
        f"bool_or(answer is not null) as has_answer from ({' union all '.join(rows)}) as answers "
        "where model is not null and item is not null group by model, item"
    )
    same = "a.is_complete and b.is_complete and a.said = b.said"
    return [
        f"select a.model as first, b.model as second, a.item as item, "
        f"case when a.has_answer and b.has_answer then {same} end as same "
        f"from ({of_models}) as a join ({of_models}) as b on a.item = b.item and a.model < b.model"
    ]
