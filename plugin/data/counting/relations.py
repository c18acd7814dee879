"""SQL queries of judgments and battles, in the dialect that DuckDB and Spark share.

A relation is a table, a view or a subquery. The relations are derived from each other:

- judgments: a row per judge call.
- sided: judgments with models as codes; credits and margins are those of the model with the lower
  code.
- groups: a row per item, pair, judge, voter, repeat and response, with counts and sums of its
  judgments.
- cells: a row per group, in which the two orders are merged.
- pairs: a row per pair of models, with sums over its cells.
- battles: a row per battle, made of judgments, with the two orders merged.

An order pair is two judgments that differ only in the order in which the responses were shown. A
cluster is the code of an item, or a code of its own for a row without an item. Queries are built
for the columns that the judgments have (`present`). Functions called `..._query` return SQL text.
"""

from collections.abc import Collection, Mapping, Sequence

from podium.data.counting.grouping import Aggregate, Grouping
from podium.scorers.reply import ONE_ORDER_UNPARSED

ROW = "podium_row"
"""Column with the number of a judgment. Numbers are unique and in the order of reading."""
ROWS_OF_A_FILE = 2**40
"""The numbers of the rows of file k begin at k times this."""
NO_REASON = "no reason given"
"""Reason of an unparsed judgment whose cell `reason` is empty."""
UNNAMED_JUDGE = "(no judge)"
"""The name under which rows without a judge are counted if other rows have one."""
NO_SCORE = "no score"
"""Reason of a battle without a credit because the cell of a score is empty."""
NO_VALUE = "no value of "
"""Beginning of the reason of a battle without a credit because a metric has no value; the name of
the metric follows."""
CRITERION = "margin_"
"""Prefix of columns with the margin on one criterion: judge score of a minus that of b."""
GROUP = "item_group"
"""Column of the groups and cells with the code of the item's group (`Verdicts.group`)."""
IS_ORDER_PAIR = "ordered and n = 2 and shown_first = 1"
"""SQL condition for a group that is an order pair: exactly one judgment in each order.

The two judgments of such a group become one battle. In any other group, each judgment is a battle.
"""
SWAPS = {
    "same": "judged = 2 and (decided = 0 or decided = 2 and wins <> 1)",
    "half": "judged = 2 and decided = 1",
    "flip": "judged = 2 and decided = 2 and wins = 1",
    "one-sided": "judged = 1",
    "unparsed": "judged = 0",
}
"""For each way in which the two verdicts of an order pair can agree, its SQL condition on a group.

`judged` counts the parsed verdicts, `decided` those that are no ties, and `wins` those for the
model with the lower code.
"""
SWAP_OF_ORDER_PAIRS = (
    "case when f_read and s_read then "
    "case when sign(f_outcome - 0.5) = sign(s_outcome - 0.5) then 'same' "
    "when sign(f_outcome - 0.5) = -sign(s_outcome - 0.5) then 'flip' else 'half' end "
    "when f_read or s_read then 'one-sided' else 'unparsed' end"
)
"""SQL of the kind of agreement (a key of `SWAPS`) for a row with both judgments of an order pair.

They are the earlier one (f) and the later one (s), whose credits are about the same model.
"""
COLUMNS_KNOWN_ONCE = ("human", "length_a", "length_b", "weight")
"""Columns of which a merged battle takes the mean, or the only value if one judgment has none."""
SCORES = ("score_a", "score_b")
"""Columns with the pointwise scores of both models."""
JUDGMENT_KEYS = ("judge", "voter", "metric", "repeat", "response")
"""Columns that tell the judgments on a pair and an item apart, beside the order."""
GRADE_KEYS = ("item", "judge", "repeat", "response")
"""Columns that tell the grades of a model's responses apart."""
HARD_CREDIT = "hard_credit"
"""Column with the credit of the parsed verdict. If it is known, it decides what counts as a win, a
tie or a flip."""
IDENTICAL = "identical"
"""Column that marks battles of identical responses: ties that no judge was asked about."""
IS_GRADED = "verdict <> outcome and verdict not in (0, 0.5, 1)"
"""SQL condition that a credit is graded: a probability or a mean of levels.

`verdict` is the credit, and `outcome` the credit of the parsed verdict.
"""
Present = Collection[str]
"""Names of the columns of the judgments. Parts of a query that need other columns are left out."""


def quote_name(name: str) -> str:
    """Quote a column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def sql_literal(value: str) -> str:
    """Quote a string literal for SQL."""
    return "'" + value.replace("'", "''") + "'"


def names_query(judgments: str, *columns: str) -> str:
    """Return a query (SQL) of the distinct names in some columns: `name`, and `code` from 0 in
    sorted order.

    Names of several columns, such as those of both models, have codes in common. Empty cells have
    none.
    """
    each = "select distinct {0} as name from {1} where {0} is not null"
    distinct = " union ".join(each.format(quote_name(column), judgments) for column in columns)
    code = "cast(row_number() over (order by name) - 1 as int)"
    return f"select name, {code} as code from ({distinct}) as names"


def sided_query(
    judgments: str,
    names: Mapping[str, str],
    present: Present,
    items: int,
    *,
    is_whole: bool,
    group: str | None = None,
    codes: Mapping[str, str] | None = None,
) -> str:
    """Return a query (SQL) of judgments with credits and margins of the model with the lower code.

    Names are replaced by codes. `verdict` is the credit, by the sign of the margin if there is
    none, and `outcome` the credit of the parsed verdict; both are null if unparsed. `ordered` says
    whether the order is known and the row has an item, `shown_first` whether the model with the
    lower code was shown first, and `forward` whether it is model a.

    Args:
        judgments: the relation of the judgments.
        names: name of the table of `names_query`, by column; `model` for both models.
        present: columns of the judgments.
        items: number of items. Rows without an item get cluster codes from this number on.
        is_whole: whether every row has an item.
        group: the column with the groups of items, whose codes become `GROUP`; None if there are
            no groups.
        codes: names of columns of the judgments with the codes of others, by name of the other; the
            tables of names are joined for all that are not among them.
    """
    coded = [name for name in ("item", "judge", "voter", "metric", "reason") if name in present]
    code, joins = _codes_and_joins(names, coded, codes or {})
    item = code.get("item", "cast(null as int)")
    cluster = item if is_whole else f"coalesce({item}, {items} + p.{ROW})"
    is_first_a = f"{code['model_a']} < {code['model_b']}"
    ordered = "false"
    shown_first = "false"
    if "order" in present:
        ordered = f"coalesce(p.\"order\" in ('ab', 'ba') and {item} is not null, false)"
        shown_first = f"(p.\"order\" = 'ab') = ({is_first_a})"
    columns = [f"p.{ROW}", f"{cluster} as cluster", *_sides(code["model_a"], code["model_b"])]
    columns += [f"{code[name]} as {name}" for name in coded if name != "item"]
    if group is not None:
        joins.append(f"left join {names[group]} as groups on groups.name = p.{quote_name(group)}")
        columns.append(f"groups.code as {GROUP}")
    columns += ["coalesce(p.response, 1) as response"] if "response" in present else []
    kept = ("repeat", "weight", "swap", IDENTICAL)
    columns += [f"p.{name}" for name in kept if name in present]
    columns += [f"{ordered} as ordered", f"{shown_first} as shown_first"]
    turned = {"credit": "1 - p.credit", "margin": "-p.margin", HARD_CREDIT: f"1 - p.{HARD_CREDIT}"}
    for name in ("credit", "margin", HARD_CREDIT):
        if name == "credit" or name in present:
            value = f"case when {is_first_a} then p.{name} else {turned[name]} end"
            columns.append(f"{value} as {name}")
    verdict = _verdict_or_sign(present)
    outcome = verdict
    if HARD_CREDIT in present:
        outcome = f"case when {verdict} is not null then coalesce({HARD_CREDIT}, {verdict}) end"
    sides = f"select {', '.join(columns)} from {judgments} as p {' '.join(joins)}"
    return f"select *, {verdict} as verdict, {outcome} as outcome from ({sides}) as sides"


def _codes_and_joins(
    names: Mapping[str, str], coded: Sequence[str], codes: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Return SQL of the codes of judgments `p` by column, and the joins that this SQL needs.

    Args:
        names: name of the table of `names_query`, by column; `model` for both models.
        coded: columns whose codes are wanted, in addition to those of the models.
        codes: names of columns of the judgments with the codes of others, by name of the other; no
            table is joined for these.
    """
    code = {name: f"p.{quote_name(column)}" for name, column in codes.items()}
    joins = []
    for side in "ab":
        if f"model_{side}" not in code:
            code[f"model_{side}"] = f"{side}.code"
            joins.append(f"join {names['model']} as {side} on {side}.name = p.model_{side}")
    for name in coded:
        if name not in code:
            code[name] = f"{name}s.code"
            joins.append(f"left join {names[name]} as {name}s on {name}s.name = p.{name}")
    return code, joins


def _sides(a: str, b: str) -> tuple[str, str, str]:
    """Return SQL of the columns `first` (lower code), `second` (higher code) and `forward`.

    `forward` says whether the model with the lower code is model a. DuckDB's `least` takes several
    times as long.

    Args:
        a, b: SQL of the codes of the models.
    """
    return (
        f"case when {a} < {b} then {a} else {b} end as first",
        f"case when {a} < {b} then {b} else {a} end as second",
        f"{a} < {b} as forward",
    )


def _verdict_or_sign(present: Present, side: str = "") -> str:
    """Return the SQL expression for the credit of a judgment, null if it is unparsed.

    If credit and reason are both missing and there is a column `margin`, the credit is
    (sign(margin) + 1) / 2.

    Args:
        present: columns of the judgments.
        side: the alias of the relation with a dot, such as `p.`; empty if it has no alias.
    """
    by_margin = f"(sign({side}margin) + 1) / 2"
    if "reason" in present:
        by_margin = f"case when {side}reason is null then {by_margin} end"
    return f"coalesce({side}credit, {by_margin})" if "margin" in present else f"{side}credit"


def unparsed_query(judgments: str, present: Present) -> str:
    """Return a query (SQL) of the reasons of unparsed judgments and their counts, in this order.

    A missing reason is `NO_REASON`. `present` has the names of the columns of the judgments.
    Judgments of order pairs are counted one by one.
    """
    reason = sql_literal(NO_REASON)
    if "reason" in present:
        reason = f"coalesce(p.reason, {sql_literal(NO_REASON)})"
    is_unparsed = f"{_verdict_or_sign(present, 'p.')} is null"
    return (
        f"select {reason} as reason, count(*) from {judgments} as p where {is_unparsed} group by 1"
    )


def graders_query(battles: str, present: Present) -> str:
    """Return a query (SQL) of judges that are shown one response at a time; '' for rows without a
    judge.

    A judge whose scores depend on an order saw both responses at once: it gives two scores in one
    judgment.

    Args:
        battles: the relation of the battles, with the columns `judge`, `score_a` and `score_b`.
        present: columns of the battles.
    """
    has_score = "(score_a is not null or score_b is not null)"
    orders = []
    if "order" in present:
        orders.append("coalesce(\"order\" in ('ab', 'ba'), false)")
    if "swap" in present:
        orders.append("swap is not null")
    ordered = " or ".join(orders) or "false"
    return (
        f"select coalesce(judge, '') as judge from {battles} group by 1 "
        f"having bool_or({has_score}) and not bool_or({has_score} and ({ordered}))"
    )


def grades_query(battles: str, present: Present, graders: Collection[str]) -> str:
    """Return a query (SQL) of one row: the number of grades of judges that are shown one response
    at a time (`grades`), and of the battles that these grades decide (`battles`).

    A response that is in several battles has one grade of a judge and repeat. A row without an item
    is about an item of its own. Battles whose reason says that a score is missing (`NO_SCORE`,
    `NO_VALUE`) are left out, and so are ties of identical responses.

    Args:
        battles: the relation of the battles, with the columns `judge`, `score_a` and `score_b`.
        present: columns of the battles.
        graders: the judges of `graders_query`, at least one.
    """
    # A constant list is several times faster than a subquery.
    conditions = [f"coalesce(judge, '') in ({', '.join(map(sql_literal, graders))})"]
    if "reason" in present:
        lacks = f"reason = {sql_literal(NO_SCORE)} or reason like {sql_literal(f'{NO_VALUE}%')}"
        conditions.append(f"not coalesce({lacks}, false)")
    if IDENTICAL in present:
        conditions.append(f"not coalesce({IDENTICAL}, false)")
    graded = f"{battles} where {' and '.join(conditions)}"
    if "item" not in present:
        return f"select 2 * count(*) as grades, count(*) as battles from {graded}"
    keys = ", ".join(name for name in GRADE_KEYS if name in present)
    sides = " union ".join(
        f"select {keys}, {side} as model from {graded} and item is not null"
        for side in ("model_a", "model_b")
    )
    named = f"select count(*) from ({sides}) as sides"
    # Each battle without an item has two grades of its own.
    grades = f"({named}) + 2 * (count(*) - count(item))"
    return f"select {grades} as grades, count(*) as battles from {graded}"


def counted_query(
    sided: str,
    present: Present,
    *,
    has_groups: bool = False,
    types: Mapping[str, str] | None = None,
) -> str:
    """Return a query (SQL) of the columns of sided judgments that `grouping_of_judgments` needs.

    Groups are stored from them, so that other columns take no memory.

    Args:
        sided: the relation of `sided_query`.
        present: columns of the judgments.
        has_groups: whether the column `GROUP` is among them: items have groups.
        types: types to which some columns are cast, by name, if the columns are to be arrays. The
            row numbers are then among them, and which model is a.
    """
    names = ["cluster", "first", "second", "verdict"]
    if HARD_CREDIT in present:
        names.append("outcome")
    if has_groups:
        names.append(GROUP)
    if "order" in present:
        names += ["ordered", "shown_first"]
    if types is not None:
        names.append(ROW)
    if types is not None or "order" not in present:
        names.append("forward")
    if "margin" in present:
        names.append("credit")
    others = (*JUDGMENT_KEYS, "weight", "margin", "reason", "swap", IDENTICAL)
    names += [name for name in others if name in present]
    casts = types or {}
    columns = [
        f"cast({name} as {casts[name]}) as {name}" if name in casts else name for name in names
    ]
    return f"select {', '.join(columns)} from {sided}"


def grouping_of_judgments(
    present: Present, further: Mapping[str, Aggregate] | None = None, *, has_groups: bool = False
) -> Grouping:
    """Return how judgments are grouped: counts and sums per item, pair and `JUDGMENT_KEYS`.

    It is a grouping of the relation of `sided_query` or of `counted_query`. Judgments with a known
    order and judgments without one are in different groups. `won_by_first` counts those that the
    response shown first won. If items have groups of their own (`has_groups`), their codes are in
    the column `GROUP`, the first key. Else the cluster is.

    Args:
        present: columns of the judgments.
        further: further aggregates by name; none by default.
        has_groups: whether items have groups.
    """
    keys = [GROUP, "first", "second", "cluster"] if has_groups else ["cluster", "first", "second"]
    keys += [name for name in JUDGMENT_KEYS if name in present]
    outcome = _outcome(present)
    aggregates = _counts_of_group(outcome) | dict(further or {}) | _optional_counts(present)
    if "order" in present:
        keys.append("ordered")
        aggregates["shown_first"] = _count_where("shown_first")
        won = f"{outcome} <> 0.5 and shown_first = ({outcome} > 0.5)"
        aggregates["won_by_first"] = _count_where(won)
    else:
        aggregates["forward"] = _count_where("forward")
    return Grouping(tuple(keys), aggregates)


def _count_where(condition: str) -> Aggregate:
    """Return the aggregate that counts the rows for which an SQL condition is true."""
    return Aggregate("count", f"case when {condition} then 1 end")


def _outcome(present: Present) -> str:
    """Return SQL of the credit of the parsed verdict, of a sided judgment."""
    return "outcome" if HARD_CREDIT in present else "verdict"


def _counts_of_group(outcome: str) -> dict[str, Aggregate]:
    """Return the aggregates that every group of judgments has, by name.

    Args:
        outcome: SQL of the credit of the parsed verdict.
    """
    return {
        "n": Aggregate("count", "*"),
        "judged": Aggregate("count", "verdict"),
        "verdicts": Aggregate("sum", "verdict"),
        "wins": _count_where(f"{outcome} > 0.5"),
        "decided": _count_where(f"{outcome} <> 0.5"),
    }


def _optional_counts(present: Present) -> dict[str, Aggregate]:
    """Return the aggregates of a group that need optional columns, by name.

    - hard_credit: `outcomes` (sum of parsed verdicts) and `graded` (number of graded credits).
    - weight: `weights` and `judged_weight` (sums of all weights and of those of parsed judgments)
      and `earned` (sum of weighted credits).
    - margin: `margin` (sum), `with_margin` (number of parsed judgments with a margin) and
      `credits` (number of judgments with a credit in the table, not by the margin).
    - reason: `least_reason` and `last_reason`, the lowest and highest code of the reasons why
      judgments are unparsed; -1 stands for a missing reason.
    - swap: `swap_0`, `swap_1` ..., the numbers of rows merged before, by kind in `SWAPS`.
    - identical: `identical`, the number of ties of identical responses.
    """
    counts: dict[str, Aggregate] = {}
    if HARD_CREDIT in present:
        counts["outcomes"] = Aggregate(kind="sum", value="outcome")
        counts["graded"] = _count_where(IS_GRADED)
    if "weight" in present:
        counts["weights"] = Aggregate("sum", "weight")
        counts["earned"] = Aggregate("sum", "weight * verdict")
        judged_weight = "case when verdict is null then 0 else weight end"
        counts["judged_weight"] = Aggregate("sum", judged_weight)
    if "margin" in present:
        counts["credits"] = Aggregate("count", "credit")
        counts["margin"] = Aggregate("sum", "margin")
        with_margin = "case when verdict is not null then margin end"
        counts["with_margin"] = Aggregate("count", with_margin)
    if "reason" in present:
        reason_if_unparsed = "case when verdict is null then coalesce(reason, -1) end"
        counts["least_reason"] = Aggregate("min", reason_if_unparsed)
        counts["last_reason"] = Aggregate("max", reason_if_unparsed)
    if "swap" in present:
        for number, kind in enumerate(SWAPS):
            counts[f"swap_{number}"] = _count_where(f"swap = {sql_literal(kind)}")
    if IDENTICAL in present:
        counts[IDENTICAL] = _count_where(IDENTICAL)
    return counts


def hard_count(present: Present) -> dict[str, Aggregate]:
    """Return the aggregate `hard`: the sum of weighted credits, rounded to win, tie or loss.

    It is returned by name, for `grouping_of_judgments`. A battle that was merged before it was read
    counts as a tie if its column `swap` says `flip`.
    """
    credit = f"(sign({_outcome(present)} - 0.5) + 1) / 2"
    if "swap" in present:
        credit = f"case when swap = 'flip' and verdict is not null then 0.5 else {credit} end"
    return {"hard": Aggregate("sum", f"weight * {credit}" if "weight" in present else credit)}


def cells_query(
    grouped: str,
    present: Present,
    *,
    merge: bool,
    keep_one_sided: bool,
    hard: bool = False,
    has_groups: bool = False,
) -> str:
    """Return a query (SQL) of the sums over the battles of each group, named as in `Tally`.

    Further columns are `credit` and `weight` (sums over readable battles), `order_pair` (whether
    the group is merged into one battle), `rows_unparsed` (number of unparsed judgments), and, if
    the judgments have such columns, `forward` and the reasons of `_optional_counts`.

    Args:
        grouped: the relation of `grouping_of_judgments`.
        present: columns of the judgments.
        merge: whether the two judgments of an order pair are merged into one battle.
        keep_one_sided: whether an order pair with one unparsed judgment has the verdict of the
            other one; else it is unparsed.
        hard: whether credits are rounded to win, tie or loss; a flip is then a tie.
        has_groups: whether items have groups, whose codes are in the column `GROUP`.
    """
    sums_if_pair = _sums_of_order_pair(present, keep_one_sided=keep_one_sided, hard=hard)
    sums_if_other = _sums_of_other_groups(present, hard=hard)
    columns = ["cluster", "first", "second"]
    columns += [GROUP] if has_groups else []
    columns += [name for name in ("judge", "voter", "metric") if name in present]
    merged_before = "0"
    if "swap" in present:
        merged_before = " + ".join(f"swap_{k}" for k in range(len(SWAPS)))
    asked = f"n - {IDENTICAL}" if IDENTICAL in present else "n"
    columns += [f"{asked} + {merged_before} as judgments", "n - judged as rows_unparsed"]
    may_be_pair = merge and "order" in present
    for name, if_pair in sums_if_pair.items():
        value = sums_if_other[name]
        if may_be_pair:
            value = f"case when order_pair then {if_pair} else {value} end"
        columns.append(f"{value} as {name}")
    if "order" in present:
        is_ambiguous = "ordered and n > 2 and shown_first > 0 and shown_first < n"
        columns.append(f"case when {is_ambiguous} then n else 0 end as ambiguous")
    columns += ["case when order_pair or n < 2 then 0 else n end as crowded", "order_pair"]
    if "order" not in present:
        columns.append("forward")
    if "reason" in present:
        columns += ["least_reason", "last_reason"]
    is_order_pair = IS_ORDER_PAIR if may_be_pair else "false"
    marked = f"select *, {is_order_pair} as order_pair from {grouped}"
    return f"select {', '.join(columns)} from ({marked}) as marked"


def _sums_of_order_pair(present: Present, *, keep_one_sided: bool, hard: bool) -> dict[str, str]:
    """Return SQL for the sums of a group that is an order pair, by column.

    The group is one battle. Sums over readable battles are 0 if this one is unparsed.

    Args:
        present: columns of the judgments.
        keep_one_sided: whether a pair with one unparsed judgment has the verdict of the other one;
            else it is unparsed.
        hard: whether the credit is rounded to win, tie or loss; a flip is then a tie.
    """
    verdict = "verdicts / judged"
    outcome = "outcomes / judged" if HARD_CREDIT in present else verdict
    if "margin" in present:
        by_margin = "case when credits = 0 and judged = 2 then (sign(margin) + 1) / 2 else {} end"
        verdict = by_margin.format(verdict)
        outcome = by_margin.format(outcome)
    if hard:
        verdict = f"case when {SWAPS['flip']} then 0.5 else (sign({outcome} - 0.5) + 1) / 2 end"
    weight = "weights / 2" if "weight" in present else "1e0"
    readable = "judged > 0" if keep_one_sided else "judged = 2"

    def value_if_readable(value: str, zero: str = "0") -> str:
        """Return SQL of a value that is 0 unless the battle is readable."""
        return f"case when {readable} then {value} else {zero} end"

    sums = {
        "battles": "1",
        "judged": value_if_readable("1"),
        "weight": value_if_readable(weight, "0e0"),
        "credit": value_if_readable(f"{weight} * ({verdict})", "0e0"),
        "decided": value_if_readable(f"case when ({outcome}) <> 0.5 then 1 else 0 end"),
    }
    if HARD_CREDIT in present:
        sums["graded"] = value_if_readable("sign(graded)")
    is_asked = f" and {IDENTICAL} = 0" if IDENTICAL in present else ""
    for kind, is_kind in SWAPS.items():
        sums[quote_name(kind)] = f"case when ({is_kind}){is_asked} then 1 else 0 end"
    if IDENTICAL in present:
        sums[IDENTICAL] = f"sign({IDENTICAL})"
    if "margin" in present:
        sums["with_margin"] = value_if_readable("case when with_margin = judged then 1 else 0 end")
        sums["credit_by_margin"] = value_if_readable("case when credits = 0 then 1 else 0 end")
    return sums


def _sums_of_other_groups(present: Present, *, hard: bool) -> dict[str, str]:
    """Return SQL for the sums of a group in which each judgment is a battle, by column.

    The columns are all those that `_sums_of_order_pair` may have. Some of them are sums over
    columns that the judgments may lack (`present`): the caller does not use these.

    Args:
        present: columns of the judgments.
        hard: whether credits are rounded to win, tie or loss.
    """
    is_weighted = "weight" in present
    credit = "earned" if is_weighted else "verdicts"
    if hard:
        credit = "hard"
    sums = {
        "battles": "n",
        "judged": "judged",
        "weight": "judged_weight" if is_weighted else "cast(judged as double)",
        "credit": f"coalesce({credit}, 0e0)",
        "decided": "decided",
        "graded": "graded",
        "with_margin": "with_margin",
        # The number of judgments with a verdict, but without a credit in the table.
        "credit_by_margin": "judged - credits",
        IDENTICAL: IDENTICAL,
    }
    for k, kind in enumerate(SWAPS):
        sums[quote_name(kind)] = f"swap_{k}" if "swap" in present else "0"
    return sums


def order_pairs_query(sided: str, present: Present) -> str:
    """Return a query (SQL) of the row numbers (`earlier`, `later`) of the judgments of order pairs.

    Either order may be the earlier one. `present` has the names of the columns of the judgments.
    """
    row_numbers = {"earlier": Aggregate("min", ROW), "later": Aggregate("max", ROW)}
    grouped = grouping_of_judgments(present, row_numbers).query(sided)
    return f"select earlier, later from ({grouped}) as grouped where {IS_ORDER_PAIR}"


def first_shown_query(grouped: str, present: Present, *, has_groups: bool = False) -> str:
    """Return a query (SQL) of how often the response shown first won, by cluster and judge.

    A cluster is an item, or a group of items if items have groups (`has_groups`).

    Only order pairs with two parsed verdicts are counted. The columns are `cluster`, `judge` (its
    code; -1 if there is none), `won` (wins of the response shown first; a tie counts 0.5), `number`
    (number of verdicts) and `flips` (number of order pairs with different winners).

    Args:
        grouped: the relation of `grouping_of_judgments`.
        present: columns of the judgments.
        has_groups: whether items have groups.
    """
    is_asked = f" and {IDENTICAL} = 0" if IDENTICAL in present else ""
    judge = "coalesce(judge, -1)" if "judge" in present else "-1"
    sums = {
        # A tie is half a win. `2e0` is a float, so that the quotient is none of integers.
        "won": "sum(won_by_first + (judged - decided) / 2e0)",
        "number": "sum(n)",
        "flips": f"count(case when {SWAPS['flip']} then 1 end)",
    }
    columns = ", ".join(f"cast({total} as double) as {name}" for name, total in sums.items())
    is_judged = f"{IS_ORDER_PAIR} and judged = 2{is_asked}"
    rows = f"select *, {judge} as who from {grouped} where {is_judged}"
    cluster = GROUP if has_groups else "cluster"
    return (
        f"select {cluster} as cluster, who as judge, {columns} from ({rows}) as pairs "
        f"group by {cluster}, who order by {cluster}, who"
    )


def battles_query(
    judgments: str, order_pairs: str, columns: Sequence[str], *, keep_one_sided: bool
) -> str:
    """Return a query (SQL) of battles, a row each.

    The two judgments of an order pair become one row, in which model a is that of the earlier
    judgment. Its credits are averaged; `_merged_value` says what each other column holds. The
    columns `swap` and `reason` are added, and `order` is `merged`. All other judgments are rows of
    their own (`singles_query`).

    Args:
        judgments: the relation of the judgments.
        order_pairs: the relation of `order_pairs_query`.
        columns: columns of the judgments.
        keep_one_sided: whether an order pair with one unparsed judgment has the verdict of the
            other one; else it is unparsed.
    """
    # In this query, `f` is the earlier judgment of an order pair and `s` the later one.
    merged = {}
    for name in columns:
        if name != ROW:
            merged[name] = _merged_value(name, columns, keep_one_sided)
    merged["swap"] = SWAP_OF_ORDER_PAIRS
    if IDENTICAL in columns:
        merged["swap"] = f"case when not {merged[IDENTICAL]} then {SWAP_OF_ORDER_PAIRS} end"
    merged["reason"] = _reason_of_order_pairs(columns, keep_one_sided)
    if "order" in columns:
        merged["order"] = "'merged'"
    both = _columns_of_both(columns)
    verdict = {side: _verdict_or_sign(columns, f"{side}.") for side in ("f", "s")}
    outcome = dict(verdict)
    if HARD_CREDIT in columns:
        for side, credit in verdict.items():
            outcome[side] = f"coalesce({side}.{HARD_CREDIT}, {credit})"
    turned = "case when f.model_a <> s.model_a then 1 - {0} else {0} end"
    pairs = (
        f"select *, f_verdict is not null as f_read, s_verdict is not null as s_read from "
        f"(select {both}, f.model_a <> s.model_a as turned, "
        f"{verdict['f']} as f_verdict, {outcome['f']} as f_outcome, "
        f"{turned.format(verdict['s'])} as s_verdict, {turned.format(outcome['s'])} as s_outcome "
        f"from {order_pairs} as t join {judgments} as f on f.{ROW} = t.earlier "
        f"join {judgments} as s on s.{ROW} = t.later) as verdicts"
    )
    of_order_pairs = ", ".join(f"{value} as {quote_name(name)}" for name, value in merged.items())
    row = _column_of_judgment("f", ROW)
    return (
        f"select {row} as {ROW}, {of_order_pairs} from ({pairs}) as pairs union all "
        f"{singles_query(judgments, columns, merged)} where p.{ROW} not in "
        f"(select earlier from {order_pairs} union all select later from {order_pairs})"
    )


def _columns_of_both(columns: Sequence[str]) -> str:
    """Return the columns of the judgments `f` and `s` for the select clause of SQL.

    Each has a name of its own (`_column_of_judgment`).
    """
    selected = []
    for side in ("f", "s"):
        for name in columns:
            new_name = _column_of_judgment(side, name)
            selected.append(f"{side}.{quote_name(name)} as {new_name}")
    return ", ".join(selected)


def singles_query(judgments: str, columns: Sequence[str], wanted: Collection[str] = ()) -> str:
    """Return a query (SQL) of judgments as separate battles, each with its row number.

    A missing credit is filled by the sign of the margin if there is a column `margin`
    (`_verdict_or_sign`). A where clause may be appended, in which the judgments are `p`.

    Args:
        judgments: the relation of the judgments.
        columns: columns of the judgments.
        wanted: columns of the result; those that the judgments lack are empty. If there are none,
            the result has all of `columns`.
    """
    single = {}
    for name in wanted or columns:
        if name != ROW:
            is_known = name in columns
            single[name] = f"p.{quote_name(name)}" if is_known else "cast(null as string)"
    if "margin" in columns:
        single["credit"] = _verdict_or_sign(columns, "p.")
    values = ", ".join(f"{value} as {quote_name(name)}" for name, value in single.items())
    return f"select p.{ROW}, {values} from {judgments} as p"


def _merged_value(name: str, columns: Sequence[str], keep_one_sided: bool) -> str:
    """Return the SQL expression for a column of a battle that is merged from an order pair.

    The values of the later judgment are turned first (`_turned_value`).

    - Credits and margins are the mean of the two verdicts. If only one is parsed, they are empty,
      or with `keep_one_sided` those of this one. If both judgments lack a credit, it is a win, tie
      or loss by the sign of the sum of their margins. The credit of the parsed verdict is empty if
      both judgments lack it.
    - Columns in `COLUMNS_KNOWN_ONCE` take the mean, or the only value. Scores take the mean, and
      the only value with `keep_one_sided`; they are empty otherwise.
    - Responses are identical if either judgment says so.
    - Other columns are empty if the two judgments differ, or if one has no value.

    Args:
        name: name of the column.
        columns: columns of the judgments.
        keep_one_sided: whether an order pair with one unparsed judgment has the verdict of the
            other one; else it is unparsed.
    """
    earlier = _column_of_judgment("f", name)
    later = _turned_value(name, columns)
    # The value of the only readable judgment, if that is to be kept.
    if_one_read = "case when f_read then {} when s_read then {} end" if keep_one_sided else "null"
    if name == "credit":
        mean = "(f_verdict + s_verdict) / 2"
        if "margin" in columns:
            margin = f"{_column_of_judgment('f', 'margin')} + {_turned_value('margin', columns)}"
            by_margin = f"(sign({margin}) + 1) / 2"
            has_no_credit = f"{earlier} is null and {later} is null"
            mean = f"case when {has_no_credit} then {by_margin} else {mean} end"
        by_one = if_one_read.format("f_verdict", "s_verdict")
        return f"case when f_read and s_read then {mean} else {by_one} end"
    if name == "margin" or name.startswith(CRITERION):
        by_one = if_one_read.format(earlier, later)
        return f"case when f_read and s_read then ({earlier} + {later}) / 2 else {by_one} end"
    if name == HARD_CREDIT:
        mean = "(f_outcome + s_outcome) / 2"
        by_one = if_one_read.format("f_outcome", "s_outcome")
        outcome = f"case when f_read and s_read then {mean} else {by_one} end"
        return f"case when coalesce({earlier}, {later}) is not null then {outcome} end"
    if name == IDENTICAL:
        return f"(coalesce({earlier}, false) or coalesce({later}, false))"
    if name in COLUMNS_KNOWN_ONCE or (name in SCORES and keep_one_sided):
        return f"coalesce(({earlier} + {later}) / 2, {earlier}, {later})"
    if name in SCORES:
        return f"({earlier} + {later}) / 2"
    return f"case when {earlier} = {later} then {earlier} end"


def _turned_value(name: str, columns: Sequence[str]) -> str:
    """Return SQL for a value of the later judgment as if its model a were that of the earlier one.

    If the models are swapped, a credit c becomes 1 - c, margins change their signs, and the columns
    of both models are exchanged. A score or length is null if the other model has no such column.
    Other values do not change.

    Args:
        name: name of the column.
        columns: columns of the judgments.
    """
    value = _column_of_judgment("s", name)
    other_ending = {"_a": "_b", "_b": "_a"}.get(name[-2:])
    if name == "margin" or name.startswith(CRITERION):
        turned = f"-{value}"
    elif name in ("credit", "human", HARD_CREDIT):
        turned = f"1 - {value}"
    elif other_ending and name[:-2] + other_ending in columns:
        turned = _column_of_judgment("s", name[:-2] + other_ending)
    elif name in (*SCORES, "length_a", "length_b"):
        turned = "null"
    else:
        return value
    return f"case when turned then {turned} else {value} end"


def _reason_of_order_pairs(columns: Sequence[str], keep_one_sided: bool) -> str:
    """Return the SQL expression for the reason why a merged battle is unparsed; null if it is not.

    If both judgments are unparsed for different reasons, both are named, in alphabetical order. If
    one is unparsed, the reason is `ONE_ORDER_UNPARSED`, or null with `keep_one_sided`.
    """
    earlier = sql_literal(NO_REASON)
    later = sql_literal(NO_REASON)
    if "reason" in columns:
        earlier = f"coalesce({_column_of_judgment('f', 'reason')}, {sql_literal(NO_REASON)})"
        later = f"coalesce({_column_of_judgment('s', 'reason')}, {sql_literal(NO_REASON)})"
    both_reasons = f"least({earlier}, {later}) || ' / ' || greatest({earlier}, {later})"
    if_neither = f"case when {earlier} = {later} then {earlier} else {both_reasons} end"
    if_one = "null" if keep_one_sided else sql_literal(ONE_ORDER_UNPARSED)
    return (
        "case when f_read and s_read then null "
        f"when f_read or s_read then {if_one} else {if_neither} end"
    )


def _column_of_judgment(judgment: str, name: str) -> str:
    """Return the quoted name of the column with a cell of one judgment of an order pair.

    It is one name with a dot in it, such as `"f.credit"`, and not a column of a relation `f`.

    Args:
        judgment: `f` for the earlier judgment, `s` for the later one.
        name: name of the column among the judgments.
    """
    return quote_name(f"{judgment}.{name}")
