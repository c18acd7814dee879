"""The relations as SQL queries, in the dialect that DuckDB and Spark share.

judgments (a row per judge call) -> sided (models as codes, seen from the lower one) -> cells (a row
per item, pair, judge and repeat, with the two orders merged) -> pairs (sums over items); and
judgments -> battles (a row each, with the two orders merged). Two judgments are an order pair by
`IS_ORDER_PAIR` alone.
"""

from collections.abc import Collection, Mapping, Sequence

from podium.scorers.reply import ONE_ORDER_UNPARSED

ROW = "podium_row"
"""The column that holds a judgment's place: unique, in the order of reading."""
ROWS_OF_A_FILE = 2**40
"""Rows of a file lie that far from those of the next."""
NO_REASON = "no reason given"
UNNAMED_JUDGE = "(no judge)"
"""The name under which rows without a judge are counted if other rows have one."""
NO_SCORE, NO_VALUE = "no score", "no value of "
"""Why a battle of scores has no credit although no reply was unparsed: an empty cell, a metric (its
name follows)."""
CRITERION = "margin_"
"""How columns begin that hold the margin on one criterion: judge score of a minus that of b; may be
empty."""
IS_ORDER_PAIR = "ordered and n = 2 and shown_first = 1"
"""Groups of exactly one judgment in each order: the only ones that become one battle."""
SWAPS = {
    "same": "judged = 2 and (decided = 0 or decided = 2 and wins <> 1)",
    "half": "judged = 2 and decided = 1",
    "flip": "judged = 2 and decided = 2 and wins = 1",
    "one-sided": "judged = 1",
    "unparsed": "judged = 0",
}
"""How the verdicts of an order pair agree."""
SWAP_OF_ORDER_PAIRS = (
    "case when f_read and s_read then case when sign(f_outcome - 0.5) = sign(s_outcome - 0.5) then 'same' "
    "when sign(f_outcome - 0.5) = -sign(s_outcome - 0.5) then 'flip' else 'half' end "
    "when f_read or s_read then 'one-sided' else 'unparsed' end"
)
KNOWN_ONCE = ("human", "length_a", "length_b", "weight")
SCORES = ("score_a", "score_b")
HARD = "hard_credit"
"""The column with the credit of the parsed verdict, from which wins, ties and flips are counted if
it is known."""
IS_GRADED = "verdict <> outcome and verdict not in (0, 0.5, 1)"
"""Whether a credit is a probability or the mean of several levels; that of a pointwise judge is
not."""
Present = Collection[str]
"""Columns of the judgments; what needs others is left out."""


def quote_name(name: str) -> str:
    """Quote a column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Quote a string literal for SQL."""
    return "'" + value.replace("'", "''") + "'"


def names_query(judgments: str, *columns: str) -> str:
    """Query the distinct names in some columns, with codes in sorted order."""
    each = "select distinct {0} as name from {1} where {0} is not null"
    distinct = " union ".join(each.format(quote_name(column), judgments) for column in columns)
    return f"select name, cast(row_number() over (order by name) - 1 as int) as code from ({distinct}) as names"


def sided_query(
    judgments: str, names: Mapping[str, str], present: Present, items: int, *, is_whole: bool
) -> str:
    """Query judgments from the view of the model with the lower code.

    Args:
        judgments: the relation of the judgments.
        names: tables of names and codes by column; `model` for both models.
        present: columns of the judgments.
        items: number of items; rows without an item get cluster codes from here on.
        is_whole: whether every row has an item.
    """
    joins = [f"join {names['model']} as {side} on {side}.name = p.model_{side}" for side in "ab"]
    coded = [name for name in ("item", "judge", "reason") if name in present]
    joins += [f"left join {names[name]} as {name}s on {name}s.name = p.{name}" for name in coded]
    item = "items.code" if "item" in present else "cast(null as int)"
    cluster = item if is_whole else f"coalesce({item}, {items} + p.{ROW})"
    ordered, shown_first = "false", "false"
    if "order" in present:
        ordered = f"coalesce(p.\"order\" in ('ab', 'ba') and {item} is not null, false)"
        shown_first = "(p.\"order\" = 'ab') = (a.code < b.code)"
    columns = [f"p.{ROW}", f"{cluster} as cluster", "least(a.code, b.code) as first"]
    columns += ["greatest(a.code, b.code) as second", "a.code < b.code as forward"]
    columns += [f"{name}s.code as {name}" for name in coded if name != "item"]
    columns += ["coalesce(p.response, 1) as response"] if "response" in present else []
    columns += [f"p.{name}" for name in ("repeat", "weight", "swap") if name in present]
    columns += [f"{ordered} as ordered", f"{shown_first} as shown_first"]
    turned = {"credit": "1 - p.credit", "margin": "-p.margin", HARD: f"1 - p.{HARD}"}
    for name in ("credit", *(name for name in ("margin", HARD) if name in present)):
        columns.append(f"case when a.code < b.code then p.{name} else {turned[name]} end as {name}")
    verdict = _verdict_or_sign(present)
    outcome = (
        f"case when {verdict} is not null then coalesce({HARD}, {verdict}) end"
        if HARD in present
        else verdict
    )
    sides = f"select {', '.join(columns)} from {judgments} as p {' '.join(joins)}"
    return f"select *, {verdict} as verdict, {outcome} as outcome from ({sides}) as sides"


def _verdict_or_sign(present: Present, side: str = "") -> str:
    """Return SQL for the credit, or for that given by the sign of the margin if credit and reason
    are both missing."""
    by_margin = f"(sign({side}margin) + 1) / 2"
    if "reason" in present:
        by_margin = f"case when {side}reason is null then {by_margin} end"
    return f"coalesce({side}credit, {by_margin})" if "margin" in present else f"{side}credit"


def unparsed_query(judgments: str, present: Present) -> str:
    """Query the reasons of unparsed judgments and their counts."""
    reason = f"coalesce(p.reason, {text(NO_REASON)})" if "reason" in present else text(NO_REASON)
    missing = f"{_verdict_or_sign(present, 'p.')} is null"
    return f"select {reason} as reason, count(*) from {judgments} as p where {missing} group by 1"


def counted_query(sided: str, present: Present) -> str:
    """Query the columns of the sided judgments that `grouped_query` needs."""
    names = [
        "cluster, first, second, verdict, outcome",
        "ordered, shown_first" if "order" in present else "forward",
    ]
    names += ["credit"] if "margin" in present else []
    others = ("judge", "repeat", "response", "weight", "margin", "reason", "swap")
    return (
        f"select {', '.join([*names, *(name for name in others if name in present)])} from {sided}"
    )


def grouped_query(sided: str, present: Present, further: Mapping[str, str] | None = None) -> str:
    """Query counts per item, pair, judge, repeat, response and known order; `further` are more
    aggregates by name."""
    counts = {
        "n": "count(*)",
        "judged": "count(verdict)",
        "verdicts": "sum(verdict)",
        "wins": "count(case when outcome > 0.5 then 1 end)",
        "decided": "count(case when outcome <> 0.5 then 1 end)",
        **(further or {}),
    }
    unparsed = "case when verdict is null then coalesce(reason, -1) end"
    if HARD in present:
        counts |= {"outcomes": "sum(outcome)", "graded": f"count(case when {IS_GRADED} then 1 end)"}
    if "weight" in present:
        counts |= {"weights": "sum(weight)", "earned": "sum(weight * verdict)"}
        counts["judged_weight"] = "sum(case when verdict is null then 0 else weight end)"
    if "margin" in present:
        counts |= {"credits": "count(credit)", "margin": "sum(margin)"}
        counts["with_margin"] = "count(case when verdict is not null then margin end)"
    if "reason" in present:
        counts |= {"least_reason": f"min({unparsed})", "last_reason": f"max({unparsed})"}
    for k, kind in enumerate(SWAPS if "swap" in present else ()):
        counts[f"swap_{k}"] = f"count(case when swap = {text(kind)} then 1 end)"
    keys = [
        "cluster",
        "first",
        "second",
        *(name for name in ("judge", "repeat", "response") if name in present),
    ]
    if "order" in present:
        keys.append("ordered")
        counts["shown_first"] = "count(case when shown_first then 1 end)"
    else:
        counts["forward"] = "count(case when forward then 1 end)"
    # Counts take four bytes: what does not fit into memory is written, and read again each time it
    # is asked.
    narrow = {
        name: f"cast({count} as int)" if count.startswith("count(") else count
        for name, count in counts.items()
    }
    columns = ", ".join(f"{count} as {name}" for name, count in narrow.items())
    return f"select {', '.join(keys)}, {columns} from {sided} group by {', '.join(keys)}"


def hard_count(present: Present) -> dict[str, str]:
    """Return the aggregate of weighted hard credits (win, tie, loss); a battle merged earlier keeps
    its flip."""
    credit = "(sign(outcome - 0.5) + 1) / 2"
    if "swap" in present:
        credit = f"case when swap = 'flip' and verdict is not null then 0.5 else {credit} end"
    return {"hard": f"sum({'weight * ' if 'weight' in present else ''}{credit})"}


def cells_query(
    grouped: str, present: Present, *, merge: bool, keep_one_sided: bool, hard: bool = False
) -> str:
    """Query the cells: sums over the battles of each group, as `Tally` and `Verdicts.pairs` name
    them.

    Args:
        grouped: the relation of `grouped_query`.
        present: columns of the judgments.
        merge: whether the two judgments of an order pair are one battle.
        keep_one_sided: whether an order pair with one parsed order is judged by it.
        hard: whether credits are rounded to win, tie or loss, and a flip is a tie.
    """
    readable, verdict = "judged > 0" if keep_one_sided else "judged = 2", "verdicts / judged"
    outcome = "outcomes / judged" if HARD in present else verdict
    if "margin" in present:
        by_margin = "case when credits = 0 and judged = 2 then (sign(margin) + 1) / 2 else {} end"
        verdict, outcome = by_margin.format(verdict), by_margin.format(outcome)
    if hard:
        verdict = f"case when {SWAPS['flip']} then 0.5 else (sign({outcome} - 0.5) + 1) / 2 end"
    weight, weighed = "weights / 2" if "weight" in present else "1e0", "weight" in present

    def if_readable(value: str, zero: str = "0") -> str:
        return f"case when {readable} then {value} else {zero} end"

    # Each value for an order pair, and for other groups.
    credit = f"coalesce({'hard' if hard else 'earned' if weighed else 'verdicts'}, 0e0)"
    values = {
        "battles": ("1", "n"),
        "judged": (if_readable("1"), "judged"),
        "weight": (
            if_readable(weight, "0e0"),
            "judged_weight" if weighed else "cast(judged as double)",
        ),
        "credit": (if_readable(f"{weight} * ({verdict})", "0e0"), credit),
        "decided": (if_readable(f"case when ({outcome}) <> 0.5 then 1 else 0 end"), "decided"),
    }
    values |= {"graded": (if_readable("sign(graded)"), "graded")} if HARD in present else {}
    for k, (kind, is_kind) in enumerate(SWAPS.items()):
        values[quote_name(kind)] = (
            f"case when {is_kind} then 1 else 0 end",
            f"swap_{k}" if "swap" in present else "0",
        )
    if "margin" in present:
        values["with_margin"] = (
            if_readable("case when with_margin = judged then 1 else 0 end"),
            "with_margin",
        )
        values["lacking"] = (
            if_readable("case when credits = 0 then 1 else 0 end"),
            "judged - credits",
        )
    swapped = " + ".join(f"swap_{k}" for k in range(len(SWAPS))) if "swap" in present else "0"
    columns = ["cluster", "first", "second", *(["judge"] if "judge" in present else [])]
    columns += [f"n + {swapped} as judgments", "n - judged as rows_unparsed"]
    columns += [
        f"case when order_pair then {pair} else {rest} end as {name}"
        for name, (pair, rest) in values.items()
    ]
    if "order" in present:
        unclear = "ordered and n > 2 and shown_first > 0 and shown_first < n"
        columns.append(f"case when {unclear} then n else 0 end as ambiguous")
    columns += ["case when order_pair or n < 2 then 0 else n end as crowded", "order_pair"]
    columns += [] if "order" in present else ["forward"]
    columns += ["least_reason", "last_reason"] if "reason" in present else []
    marked = f"select *, {IS_ORDER_PAIR if merge and 'order' in present else 'false'} as order_pair from {grouped}"
    return f"select {', '.join(columns)} from ({marked}) as marked"


def order_pairs_query(sided: str, present: Present) -> str:
    """Query the row numbers of the two judgments of each order pair."""
    places = {"earlier": f"min({ROW})", "later": f"max({ROW})"}
    return f"select earlier, later from ({grouped_query(sided, present, places)}) as grouped where {IS_ORDER_PAIR}"


def first_shown_query(sided: str, present: Present) -> str:
    """Query by cluster and judge how the response shown first fared, over order pairs with two
    verdicts."""
    own = "(1 + case when shown_first then sign(outcome - 0.5) else sign(0.5 - outcome) end) / 2"
    pairs = grouped_query(sided, present, {"first_won": f"sum({own})"})
    judge = "coalesce(judge, -1)" if "judge" in present else "-1"
    sums = {
        "won": "sum(first_won)",
        "number": "sum(n)",
        "flips": f"count(case when {SWAPS['flip']} then 1 end)",
    }
    columns = ", ".join(f"cast({total} as double) as {name}" for name, total in sums.items())
    rows = (
        f"select *, {judge} as who from ({pairs}) as grouped where {IS_ORDER_PAIR} and judged = 2"
    )
    return f"select cluster, who as judge, {columns} from ({rows}) as pairs group by cluster, who order by cluster, who"


def battles_query(
    judgments: str, order_pairs: str, columns: Sequence[str], *, keep_one_sided: bool
) -> str:
    """Query a row per battle: order pairs averaged from the view of the earlier judgment, empty
    where they differ."""
    merged = {name: _merged_value(name, columns, keep_one_sided) for name in columns if name != ROW}
    merged |= {
        "swap": SWAP_OF_ORDER_PAIRS,
        "reason": _reason_of_order_pairs(columns, keep_one_sided),
    }
    if "order" in columns:
        merged["order"] = "'merged'"
    both = ", ".join(
        f"{side}.{quote_name(name)} as {_of(side, name)}" for side in "fs" for name in columns
    )
    verdict = {side: _verdict_or_sign(columns, f"{side}.") for side in "fs"}
    outcome = {
        side: f"coalesce({side}.{HARD}, {own})" if HARD in columns else own
        for side, own in verdict.items()
    }
    turned = "case when f.model_a <> s.model_a then 1 - {0} else {0} end"
    pairs = (
        f"select *, f_verdict is not null as f_read, s_verdict is not null as s_read from (select {both}, "
        f"f.model_a <> s.model_a as turned, {verdict['f']} as f_verdict, {outcome['f']} as f_outcome, "
        f"{turned.format(verdict['s'])} as s_verdict, {turned.format(outcome['s'])} as s_outcome "
        f"from {order_pairs} as t join {judgments} as f on f.{ROW} = t.earlier "
        f"join {judgments} as s on s.{ROW} = t.later) as verdicts"
    )
    of_order_pairs = ", ".join(f"{value} as {quote_name(name)}" for name, value in merged.items())
    return (
        f"select {_of('f', ROW)} as {ROW}, {of_order_pairs} from ({pairs}) as pairs union all "
        f"{singles_query(judgments, columns, merged)} where p.{ROW} not in "
        f"(select earlier from {order_pairs} union all select later from {order_pairs})"
    )


def singles_query(judgments: str, columns: Sequence[str], wanted: Collection[str] = ()) -> str:
    """Query judgments as separate battles with the columns `wanted`, missing credits from the sign
    of the margin."""
    names = [name for name in wanted or columns if name != ROW]
    single = {
        name: f"p.{quote_name(name)}" if name in columns else "cast(null as string)"
        for name in names
    }
    if "margin" in columns:
        single["credit"] = _verdict_or_sign(columns, "p.")
    values = ", ".join(f"{value} as {quote_name(name)}" for name, value in single.items())
    return f"select p.{ROW}, {values} from {judgments} as p"


def _merged_value(name: str, columns: Sequence[str], keep_one_sided: bool) -> str:
    x, y = _of("f", name), _turned_value(name, columns)
    single = "case when f_read then {} when s_read then {} end" if keep_one_sided else "null"
    if name == "credit":
        mean = "(f_verdict + s_verdict) / 2"
        if "margin" in columns:
            margin = f"{_of('f', 'margin')} + {_turned_value('margin', columns)}"
            mean = f"case when {x} is null and {y} is null then (sign({margin}) + 1) / 2 else {mean} end"
        return f"case when f_read and s_read then {mean} else {single.format('f_verdict', 's_verdict')} end"
    if name == "margin" or name.startswith(CRITERION):
        return f"case when f_read and s_read then ({x} + {y}) / 2 else {single.format(x, y)} end"
    if name == HARD:
        mean = f"case when f_read and s_read then (f_outcome + s_outcome) / 2 else {single} end"
        return f"case when coalesce({x}, {y}) is not null then {mean.format('f_outcome', 's_outcome')} end"
    if name in KNOWN_ONCE or (name in SCORES and keep_one_sided):
        return f"coalesce(({x} + {y}) / 2, {x}, {y})"
    return f"({x} + {y}) / 2" if name in SCORES else f"case when {x} = {y} then {x} end"


def _turned_value(name: str, columns: Sequence[str]) -> str:
    """Return the SQL expression of the later judgment's value from the view of the earlier
    judgment's model_a."""
    own, other = _of("s", name), {"_a": "_b", "_b": "_a"}.get(name[-2:])
    if name == "margin" or name.startswith(CRITERION):
        turned = f"-{own}"
    elif name in ("credit", "human", HARD):
        turned = f"1 - {own}"
    elif other and name[:-2] + other in columns:
        turned = _of("s", name[:-2] + other)
    elif name in (*SCORES, "length_a", "length_b"):
        turned = "null"
    else:
        return own
    return f"case when turned then {turned} else {own} end"


def _reason_of_order_pairs(columns: Sequence[str], keep_one_sided: bool) -> str:
    """Return the SQL expression for the reason why a merged battle is unparsed."""
    given = {side: f"coalesce({_of(side, 'reason')}, {text(NO_REASON)})" for side in "fs"}
    x, y = given.values() if "reason" in columns else (text(NO_REASON), text(NO_REASON))
    neither = (
        f"case when {x} = {y} then {x} else least({x}, {y}) || ' / ' || greatest({x}, {y}) end"
    )
    single = "null" if keep_one_sided else text(ONE_ORDER_UNPARSED)
    return f"case when f_read and s_read then null when f_read or s_read then {single} else {neither} end"


def _of(side: str, name: str) -> str:
    """Return the quoted name of a column of the earlier (f) or later (s) judgment."""
    return quote_name(f"{side}.{name}")
