"""Compare the texts of responses: does a model's name stand for one response to each item?

A reference under whose name two files hold different texts is two references, so verdicts against
them are not comparable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from podium.comparability.responses import ResponseFinding
from podium.data.counting.duck import Duck
from podium.data.counting.relations import ROW, sql_literal
from podium.data.formats.answer_lengths import SAME_ANSWERS
from podium.data.formats.compared_answers import ANSWER_DIGEST
from podium.data.formats.records import Column
from podium.data.reading.item_rows import hash_of_words
from podium.data.reading.rows import RecordTable

RESPONSES = (
    ("response_a", "response_b"),
    ("output_a", "output_b"),
    ("answer_a", "answer_b"),
    ("completion_a", "completion_b"),
)
"""Columns with the responses of model_a and model_b."""
REPEATS = ("repeat", "response", "sample", "epoch", "run", "trial", "seed", "turn")
"""Columns that number a model's responses to an item."""
FORMATS_WITHOUT_TEXTS = frozenset({"alpaca-eval", "wildbench"})
"""Formats whose responses are left out once they are compared, since only their lengths are used
afterwards."""
SHOWN_CHARACTERS = 120
"""Number of characters of a response that are kept for messages."""


def response_columns(columns: Mapping[str, Column]) -> tuple[Column, Column] | None:
    """Return the columns with the responses of model_a and model_b.

    They are the first pair of `RESPONSES` that the table has and that are no numbers; None if there
    is none.
    """
    for a, b in RESPONSES:
        if a not in columns or b not in columns:
            continue
        has_numbers = columns[a].is_number or columns[b].is_number
        if not has_numbers:
            return columns[a], columns[b]
    return None


def find_other_responses(
    engine: Duck, tables: Sequence[RecordTable]
) -> tuple[ResponseFinding, ...]:
    """Return a finding for each model whose rows hold different responses to one item, by name.

    Texts that differ only in Unicode form or white space are the same response. Rows with other
    values in a column of `REPEATS` are other repeats, and may have other responses. Tables without
    responses or items are left out.
    """
    queries = list[str]()
    for place, each in enumerate(tables):
        queries += _response_queries(place, each)
    if not queries:
        return ()
    view = engine.fresh("responses")
    engine.view(view, " union all ".join(queries))
    counted = (
        "select model, item, min(said) <> max(said) as differs "
        f"from {view} where said is not null and item is not null and model is not null "
        "group by model, item, key having count(*) > 1"
    )
    numbers = (
        "select model, count(distinct item) filter (differs) as differing, "
        "count(distinct item) as items, min(item) filter (differs) as first_differing "
        f"from ({counted}) as counted "
        "group by model having bool_or(differs) order by model"
    )
    findings = []
    for model, differing, items, item in engine.rows(numbers):
        met = f"select distinct other from {view} where model = {sql_literal(model)} order by other"
        opponents = tuple(other for (other,) in engine.rows(met))
        examples = _examples(engine, view, tables, model, item)
        findings.append(ResponseFinding(model, differing, items, opponents, item, examples))
    return tuple(findings)


def _response_queries(place: int, each: RecordTable) -> list[str]:
    """Return the queries of the responses of a table's models; empty if it has none.

    The columns are `place`, `row`, `side` (a or b), `item`, `model`, `other`, `key` (a hash of the
    columns of `REPEATS`) and `said` (a hash of the response).

    Args:
        place: number of the table.
        each: the table.
    """
    columns = each.records.columns
    responses = response_columns(columns)
    if responses is None or not {"item", "model_a", "model_b"} <= columns.keys():
        return []
    numbered = [columns[name].text for name in REPEATS if name in columns]
    key = f"hash({', '.join(numbered)})" if numbered else "cast(0 as ubigint)"
    queries = []
    for side, opposite, response in zip("ab", "ba", responses, strict=True):
        cells = (
            f"{place} as place, {ROW} as row, {sql_literal(side)} as side, "
            f"{columns['item'].text} as item, {columns[f'model_{side}'].text} as model, "
            f"{columns[f'model_{opposite}'].text} as other, "
            f"{key} as key, {hash_of_words(response)} as said"
        )
        queries.append(f"select {cells} from {each.records.scan}")
    return queries


def _examples(
    engine: Duck, view: str, tables: Sequence[RecordTable], model: str, item: str
) -> dict[str, str]:
    """Return the beginnings of two different responses of a model to an item, by file and row.

    The keys are texts such as `votes.csv, row 3`.

    Args:
        engine: the database.
        view: name of the view with the rows of `_response_queries`.
        tables: the tables.
        model: name of the model.
        item: the item, on which the model has different responses.
    """
    condition = f"item = {sql_literal(item)} and model = {sql_literal(model)} and said is not null"
    by_position = "select said, min((place, row, side)) as position"
    query = f"{by_position} from {view} where {condition} group by said order by position limit 2"
    examples = {}
    for _, position in engine.rows(query):
        place, row, side = position
        records = tables[place].records
        responses = response_columns(records.columns)
        if responses is None:
            continue
        response = responses["ab".index(side)].text
        ((words,),) = records.rows(f"left({response}, {SHOWN_CHARACTERS})", f"where {ROW} = {row}")
        examples[f"{records.source}, {records.name_row(row)}"] = words
    return examples


def without_bulky_responses(tables: Sequence[RecordTable]) -> list[RecordTable]:
    """Return tables without the texts of responses if their format is in `FORMATS_WITHOUT_TEXTS`.

    The columns `SAME_ANSWERS` and `ANSWER_DIGEST` are left out of every table.
    """
    kept = []
    for table in tables:
        unused = {SAME_ANSWERS, ANSWER_DIGEST}
        if table.format in FORMATS_WITHOUT_TEXTS:
            unused.update(*RESPONSES)
        columns = {
            name: column for name, column in table.records.columns.items() if name not in unused
        }
        kept.append(replace(table, records=replace(table.records, columns=columns)))
    return kept
