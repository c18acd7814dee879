"""The rows of all tables as one relation: ids of items, inputs, models and orders."""

from collections.abc import Sequence
from dataclasses import dataclass

from podium.data.counting.duck import Duck
from podium.data.counting.relations import ROW, sql_literal
from podium.data.formats.records import Column, words_of_column
from podium.data.reading.question_columns import QuestionColumn
from podium.data.reading.rows import RecordTable
from podium.data.reading.table import is_pointwise


@dataclass(frozen=True, slots=True)
class ItemRows:
    """The rows of all tables as one relation; `id` is null in rows without an item.

    Attributes:
        engine: the database.
        tables: the tables.
        inputs: what each table says of the questions; None if nothing.
        name: name of the view. Its columns are `place` (number of the table), `row`, `id`, `input`
            (a hash; null if there is none), `model` (of a score; null for battles), `pair` (both
            models of a battle in alphabetical order; null for scores), `side` (model_a with the
            order, so that swapped responses have another value; null for scores), and `category`.
    """

    engine: Duck
    tables: Sequence[RecordTable]
    inputs: Sequence[QuestionColumn | None]
    name: str

    @property
    def question(self) -> QuestionColumn:
        """The first entry of `inputs` that is not None; there must be one."""
        return next(column for column in self.inputs if column is not None)

    def has(self, condition: str) -> bool:
        """Return whether the relation has rows that meet a condition.

        Args:
            condition: SQL that follows `where id is not null`: a further condition such as
                `and model is null`, or a grouping with its condition (`group by ... having ...`).
        """
        return bool(self.engine.rows(f"select 1 from {self.name} where id is not null {condition}"))

    def row_place(self, place: int, row: int) -> str:
        """Return the file and the row's name for messages, such as `votes.csv, row 3`.

        Args:
            place: number of the table.
            row: number of the row in the table.
        """
        each = self.tables[place]
        return f"{each.source}, {each.records.name_row(row)}"


def gather_item_rows(
    engine: Duck,
    tables: Sequence[RecordTable],
    inputs: Sequence[QuestionColumn | None],
    category: str | None,
) -> ItemRows:
    """Return the rows of all tables.

    Args:
        engine: the database.
        tables: the tables.
        inputs: what each table says of the questions; None if nothing.
        category: name of the column with categories; None to leave categories empty.
    """
    queries = []
    for place, (table, question) in enumerate(zip(tables, inputs, strict=True)):
        columns = table.records.columns
        empty = "cast(null as varchar)"
        unknown = "cast(null as ubigint)"
        is_scored = is_pointwise(columns)
        model = columns["model"].text if is_scored else empty
        pair = empty
        side = empty
        if not is_scored:
            a = columns["model_a"].text
            b = columns["model_b"].text
            pair = f"concat(least({a}, {b}), chr(0), greatest({a}, {b}))"
            order = columns["order"].text if "order" in columns else sql_literal("")
            side = f"concat({a}, chr(0), {order})"
        cells = {
            "place": str(place),
            "row": ROW,
            "id": columns["item"].text,
            "input": unknown if question is None else hash_of_words(question.column),
            "model": model,
            "pair": pair,
            "side": side,
            "category": empty if category is None else columns[category].text,
        }
        selected = ", ".join(f'{sql} as "{name}"' for name, sql in cells.items())
        queries.append(f"select {selected} from {table.records.scan}")
    name = engine.fresh("identified")
    engine.view(name, " union all ".join(queries))
    return ItemRows(engine, tables, inputs, name)


def hash_of_words(column: Column) -> str:
    """Return an SQL expression of a hash of the words in a column's cell; null if it is empty.

    Texts that differ only in Unicode form or white space have the same hash.
    """
    return f"case when {column.text} is not null then hash({words_of_column(column)}) end"
