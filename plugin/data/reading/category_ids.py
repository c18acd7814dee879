"""Find ids of items that begin anew in each category, where tables have no inputs."""

from collections.abc import Sequence
from math import log, sqrt
from typing import NamedTuple

from podium.data.counting.duck import Duck
from podium.data.counting.relations import sql_literal
from podium.data.formats.records import TEXT
from podium.data.reading.item_rows import ItemRows, gather_item_rows
from podium.data.reading.question_columns import CATEGORIES
from podium.data.reading.rows import RecordTable
from podium.notices.notice import Notice

VERDICTS = ("credit", "margin", "score", "score_a", "score_b")
"""Columns with the verdict of a row."""
LENGTHS = ("length_a", "length_b", "length")
"""Columns that describe the responses of a row."""
TEXT_LENGTH = 20
"""A column of texts describes the question or the responses if its mean length is above this."""
FEWEST_ROWS = 5
"""Models or pairs with fewer rows in a category are taken together."""
CHANCE_OF_ALL = 0.05
"""Verdicts of an id in two categories that are all equal show one question if the probability that
all are equal by chance is below this."""
MOST_BY_CHANCE = 2.0
"""Rows of one id in two categories are about one question if their verdicts are equal more often
than by chance, by more than this number of standard errors."""
_CHANCE = "coalesce(chance, 0)"
SUMS_OVER_MET = (
    "sum(keys) as all_keys",
    "sum(equal_verdicts) as equal",
    f"sum(keys * {_CHANCE}) as expected",
    f"sum(keys * {_CHANCE} * (1 - {_CHANCE})) as variance",
    f"sum(keys * ln(greatest({_CHANCE}, 1e-300))) as log_chance_of_all",
)
"""Sums over the relation `met` of `_agreement`: numbers of rows of one id in two categories, and of
equal verdicts among them, as observed and as by chance (a binomial distribution)."""


def note_numbered_anew(engine: Duck, tables: Sequence[RecordTable], category: str) -> list[Notice]:
    """Return the note on ids that are numbers and begin anew in each category; empty if not.

    Ids begin anew if they are whole numbers without gaps from 0 or 1 in each of several categories,
    at least two in each. Nothing is noted if an id stands in a row without a category. Nothing is
    noted if rows of one id in several categories seem to be about one question.

    Args:
        engine: the database.
        tables: the tables, without inputs.
        category: the column with categories.
    """
    for table in tables:
        cell = table.records.columns["item"].text
        first_rows = table.records.rows(cell, f"where {cell} is not null limit 1")
        if not first_rows:
            return []
        ((first_id,),) = first_rows
        if not first_id.isdecimal():
            return []
    # Ids without gaps from 0 or 1 have the id 1 in every category. This test is fast.
    if not _stands_in_several(engine, tables, category, "1"):
        return []
    rows = gather_item_rows(engine, tables, [None] * len(tables), category)
    number = "try_cast(id as bigint)"
    facts = (
        f"count(distinct {number}) as numbers, min({number}) as least, max({number}) as most, "
        f"bool_and({number} is not null and regexp_full_match(id, '[0-9]+')) as are_numbers"
    )
    groups = engine.rows(
        f"select category, {facts} from {rows.name} where id is not null group by category"
    )
    begins_anew = all(
        name is not None
        and are_numbers
        and numbers > 1
        and least in (0, 1)
        and most - least == numbers - 1
        for name, numbers, least, most, are_numbers in groups
    )
    if len(groups) < 2 or not begins_anew or _are_of_one_question(engine, tables, category):
        return []
    return [Notice("ids-begin-anew", count_items_of_category(rows, category))]


def _stands_in_several(
    engine: Duck, tables: Sequence[RecordTable], category: str, item: str
) -> bool:
    """Return whether an id has rows in several categories; an empty category is none.

    Args:
        engine: the database.
        tables: the tables.
        category: the column with categories.
        item: the id.
    """
    queries = []
    for table in tables:
        columns = table.records.columns
        condition = f"where {columns['item'].text} = {sql_literal(item)}"
        queries.append(
            f"select {columns[category].text} as c from {table.records.scan} {condition}"
        )
    ((number,),) = engine.rows(f"select count(distinct c) from ({' union all '.join(queries)})")
    return bool(number > 1)


def _are_of_one_question(engine: Duck, tables: Sequence[RecordTable], category: str) -> bool:
    """Return whether the rows of an id seem to be about one question in all categories.

    They do if most rows of several categories describe the same responses, or if their verdicts are
    equal more often than by chance: then the category is a property of the battle, or of an item in
    several categories.

    Args:
        engine: the database.
        tables: the tables; some id has rows in several categories.
        category: the column with categories.
    """
    parts = [_compared_rows(each, category) for each in tables]
    view = engine.fresh("compared")
    engine.view(view, " union all ".join(parts))
    described = (
        "select key, count(distinct category) as categories, "
        "count(distinct description) as descriptions "
        f"from {view} where description is not null group by key"
    )
    ((same, in_several),) = engine.rows(
        "select count(*) filter (descriptions = 1) as same, count(*) as several "
        f"from ({described}) as described where categories > 1"
    )
    ((kinds,),) = engine.rows(f"select count(distinct description) from {view}")
    if in_several and kinds > 1 and 2 * same > in_several:
        return True
    return _agreement(engine, view).is_beyond_chance


def _compared_rows(each: RecordTable, category: str) -> str:
    """Return a query (SQL) of the rows of a table, whose verdicts are compared across categories.

    Its columns are `category`, and hashes: `key` (of id, models, judge, voter, metric, order and
    repeat), `whose` (of models, judge, voter and metric), `verdict`, and `description` (of texts
    and lengths that describe the question or the responses; null if the table has none).
    """
    columns = each.records.columns
    keys = ("item", "model", "model_a", "model_b", "judge", "voter", "metric", "order", "repeat")
    key = ", ".join(f"{columns[name].text}" for name in keys if name in columns)
    who = [name for name in keys if name not in ("item", "repeat", "order") and name in columns]
    whose = ", ".join(columns[name].text for name in who)
    verdict = ", ".join(columns[name].text for name in VERDICTS if name in columns)
    no_text = {
        *keys,
        *VERDICTS,
        *CATEGORIES,
        "reason",
        "human",
        "hard_credit",
        "weight",
        "swap",
    }
    texts = [
        name for name, column in columns.items() if column.type == TEXT and name not in no_text
    ]
    describing = [name for name in LENGTHS if name in columns]
    if texts:
        lengths = ", ".join(f"avg(length({columns[name].text}))" for name in texts)
        (means,) = each.records.rows(lengths)
        describing += [
            name
            for name, mean in zip(texts, means, strict=True)
            if mean is not None and mean > TEXT_LENGTH
        ]
    description = "cast(null as ubigint)"
    if describing:
        description = f"hash({', '.join(columns[name].text for name in describing)})"
    # Without a column of verdicts, all rows have the same one.
    verdict = verdict or sql_literal("")
    return (
        f"select {columns[category].text} as category, hash({key}) as key, "
        f"hash({whose}) as whose, "
        f"hash({verdict}) as verdict, {description} as description "
        f"from {each.records.scan}"
    )


class VerdictsAcross(NamedTuple):
    """How often verdicts of one id are equal in two categories.

    Attributes:
        equal: number of equal verdicts.
        expected: expected number if the categories were independent.
        variance: variance of this number.
        chance_of_all: logarithm of the probability that all are equal.
        met: number of ids with models and judge that are in both categories.
    """

    equal: int
    expected: float
    variance: float
    chance_of_all: float
    met: int

    @property
    def is_beyond_chance(self) -> bool:
        """Whether verdicts are equal more often than by chance (`MOST_BY_CHANCE`).

        It is True, too, if all are equal and that is improbable by chance (`CHANCE_OF_ALL`).
        """
        excess = self.equal - self.expected
        if excess > MOST_BY_CHANCE * sqrt(max(self.variance, 1.0)):
            return True
        return self.equal == self.met and self.chance_of_all < log(CHANCE_OF_ALL)


def _agreement(engine: Duck, view: str) -> VerdictsAcross:
    """Compare the verdicts of each category with those of the next one on the same keys.

    What is equal by chance is known of each model or pair by itself: models that are nearly always
    right, or wrong, say nothing. Those with fewer than `FEWEST_ROWS` rows of a category are taken
    together.

    Args:
        engine: the database.
        view: rows of `_compared_rows`.
    """
    select_numbered = (
        "select dense_rank() over (order by category) as place, key, min(whose) as whose, "
        f"min(verdict) as verdict from {view} group by category, key"
    )
    fewest = f"count(*) over (partition by place, whose) < {FEWEST_ROWS}"
    select_grouped = (
        f"select * replace (case when {fewest} then 0 else whose end as whose) from numbered"
    )
    select_shares = (
        "select place, whose, verdict, "
        "count(*) / sum(count(*)) over (partition by place, whose) as share "
        "from grouped group by place, whose, verdict"
    )
    select_chances = (
        "select a.place, a.whose, b.whose as other, sum(a.share * b.share) as chance "
        "from shares a join shares b on b.place = a.place + 1 and a.verdict = b.verdict "
        "group by a.place, a.whose, b.whose"
    )
    select_met = (
        "select a.place, a.whose, b.whose as other, count(*) as keys, "
        "sum((a.verdict = b.verdict)::int) as equal_verdicts from grouped a "
        "join grouped b on b.place = a.place + 1 and a.key = b.key "
        "group by a.place, a.whose, b.whose"
    )
    ((all_keys, equal, expected, variance, log_chance_of_all),) = engine.rows(
        f"with numbered as ({select_numbered}), grouped as ({select_grouped}), "
        f"shares as ({select_shares}), chances as ({select_chances}), met as ({select_met}) "
        f"select {', '.join(SUMS_OVER_MET)} from met "
        "left join chances using (place, whose, other)"
    )
    return VerdictsAcross(
        equal=int(equal or 0),
        expected=float(expected or 0),
        variance=float(variance or 0),
        chance_of_all=float(log_chance_of_all or 0),
        met=int(all_keys or 0),
    )


def count_items_of_category(rows: ItemRows, category: str) -> dict[str, object]:
    """Return the fields of a note on items that are named by category and id.

    They are `column`, the category's column, and `items`, the number of items with such names.
    """
    ((items,),) = rows.engine.rows(
        f"select count(distinct (category, id)) from {rows.name} where id is not null"
    )
    return {"column": category, "items": items}
