"""The counts of the database queries, computed by plain loops over rows."""

from collections import Counter, defaultdict

NO_REASON = "no reason given"
OPTIONAL = (
    "hard_credit",
    "order",
    "margin",
    "judge",
    "repeat",
    "weight",
    "category",
    "reason",
    "swap",
    "length_a",
    "length_b",
    "identical",
)


def sign(value):
    return (value > 0) - (value < 0)


def verdict_of(row):
    """Return the credit of model_a, or what the margin's sign says where nothing explains that it
    is missing."""
    if row["credit"] is None and row["margin"] is not None and row["reason"] is None:
        return (sign(row["margin"]) + 1) / 2
    return row["credit"]


def outcome_of(row):
    """Return what model_a earned by the parsed verdict, if the credit is another one."""
    return (
        row["hard_credit"]
        if row["hard_credit"] is not None and row["credit"] is not None
        else verdict_of(row)
    )


def is_graded(row):
    return verdict_of(row) not in (None, 0, 0.5, 1, outcome_of(row))


def pair_of(row):
    return tuple(sorted((row["model_a"], row["model_b"])))


def low_is_first(row):
    return (row["order"] == "ab") == (row["model_a"] < row["model_b"])


def groups_of(rows):
    """Group the rows with an item and an order by what makes them one question."""
    groups = defaultdict(list)
    for row in rows:
        if row["item"] is not None and row["order"] in ("ab", "ba"):
            groups[row["item"], pair_of(row), row["judge"], row["repeat"]].append(row)
    return list(groups.values())


def order_pairs_of(rows, merge):
    """Return the groups of exactly one row in each order."""
    pairs = [group for group in groups_of(rows) if len(group) == 2]
    return [group for group in pairs if merge and low_is_first(group[0]) != low_is_first(group[1])]


def mean(values):
    """Return the mean of two values, or nothing where one lacks."""
    return None if None in values else (values[0] + values[1]) / 2


def one_of(values):
    return next((value for value in values if value is not None), None)


def battle_of_order_pairs(first, second, keep_one_sided):
    """Merge two judgments, seen from the first one's model_a."""
    turned = first["model_a"] != second["model_a"]
    x, y = verdict_of(first), verdict_of(second)
    y = 1 - y if turned and y is not None else y
    won = [outcome_of(first), outcome_of(second)]
    won[1] = 1 - won[1] if turned and won[1] is not None else won[1]
    margins = [first["margin"], second["margin"]]
    margins[1] = -margins[1] if turned and margins[1] is not None else margins[1]
    battle = dict(first, order="merged", reason=None, credit=None, margin=None, outcome=None)
    battle["identical"] = bool(first["identical"] or second["identical"])
    if x is not None and y is not None:
        battle["credit"], battle["margin"], battle["outcome"] = (
            (x + y) / 2,
            mean(margins),
            mean(won),
        )
        if first["credit"] is None and second["credit"] is None:
            battle["credit"] = battle["outcome"] = (sign(sum(margins)) + 1) / 2
        kinds = ("same", "half", "flip")
        kind = kinds[abs(sign(won[0] - 0.5) - sign(won[1] - 0.5))]
        # No judge was asked about identical responses, so that none could agree with itself.
        battle["swap"] = None if battle["identical"] else kind
    elif x is None and y is None:
        reasons = {row["reason"] or NO_REASON for row in (first, second)}
        battle["swap"], battle["reason"] = "unparsed", " / ".join(sorted(reasons))
    else:
        battle["swap"] = "one-sided"
        if keep_one_sided:
            battle["credit"], battle["margin"], battle["outcome"] = (
                one_of((x, y)),
                margins[x is None],
                one_of(won),
            )
        else:
            battle["reason"] = "one order unparsed"
    if first["category"] != second["category"]:
        battle["category"] = None
    for name, other in (("length_a", "length_b"), ("length_b", "length_a"), ("weight", "weight")):
        values = first[name], second[other if turned else name]
        battle[name] = one_of((mean(values), *values))
    readable = battle["credit"] is not None
    is_hard_known = first["hard_credit"] is not None or second["hard_credit"] is not None
    battle["hard_credit"] = battle["outcome"] if is_hard_known else None
    battle["graded"] = readable and (is_graded(first) or is_graded(second))
    battle["credit_by_margin"] = readable and first["credit"] is None and second["credit"] is None
    return battle


def battles_of(rows, merge, keep_one_sided):
    """Return all battles in the order of their first judgments."""
    order_pairs = order_pairs_of(rows, merge)
    merged = {
        group[0]["row"]: battle_of_order_pairs(*group, keep_one_sided) for group in order_pairs
    }
    gone = {group[1]["row"] for group in order_pairs}
    battles = []
    for row in rows:
        single = dict(
            row,
            credit=verdict_of(row),
            credit_by_margin=row["credit"] is None and verdict_of(row) is not None,
        )
        single |= {"outcome": outcome_of(row), "graded": is_graded(row)}
        if row["row"] not in gone:
            battles.append(merged.get(row["row"], single))
    return battles


def cluster_of(battle):
    return ("row", battle["row"]) if battle["item"] is None else ("item", battle["item"])


def tally_of(rows, battles):
    judged = [battle for battle in battles if battle["credit"] is not None]
    decided = [battle for battle in judged if battle["outcome"] != 0.5]
    asked = [row for row in rows if not row["identical"]]
    return {
        "judgments": len(asked) + sum(row["swap"] is not None for row in asked),
        "battles": len(battles),
        "judged": len(judged),
        "decided": len(decided),
        "items": len({cluster_of(battle) for battle in battles}),
        "informative": len({cluster_of(battle) for battle in decided}),
        "swaps": {
            kind: sum(battle["swap"] == kind for battle in battles)
            for kind in ("same", "half", "flip", "one-sided", "unparsed")
        },
        "with_margin": sum(battle["margin"] is not None for battle in judged),
        "credit_by_margin": sum(battle["credit_by_margin"] for battle in judged),
        "graded": sum(battle["graded"] for battle in judged),
        "ambiguous": sum(
            len(group)
            for group in groups_of(rows)
            if len(group) > 2 and len({low_is_first(row) for row in group}) == 2
        ),
        "identical": sum(bool(battle["identical"]) for battle in battles),
    }


def unparsed_reasons_of(battles):
    return dict(
        Counter(battle["reason"] or NO_REASON for battle in battles if battle["credit"] is None)
    )


def credit_of_low(battle, hard):
    credit = battle["credit"]
    if hard:
        credit = 0.5 if battle["swap"] == "flip" else (sign(battle["outcome"] - 0.5) + 1) / 2
    return credit if battle["model_a"] < battle["model_b"] else 1 - credit


def sums_of(battles, hard, key):
    """Return weighted credit of the lower name, weight and number of readable battles by key."""
    sums = defaultdict(lambda: [0.0, 0.0, 0])
    for battle in battles:
        if battle["credit"] is not None:
            weight = 1.0 if battle["weight"] is None else battle["weight"]
            own = sums[key(battle)]
            own[0] += weight * credit_of_low(battle, hard)
            own[1] += weight
            own[2] += 1
    return dict(sums)


def notes_of(rows, tally, columns, merge):
    """Return the numbers of identical rows and of unknown, ambiguous and missing orders."""
    with_item = [row for row in rows if row["item"] is not None]
    same = Counter(tuple(row[name] for name in sorted(row) if name != "row") for row in with_item)
    unreported = defaultdict(list)
    for row in with_item:
        unreported[row["item"], pair_of(row), row["judge"]].append(row["model_a"] < row["model_b"])
    numbers = [
        sum(same.values()) - len(same),
        0
        if "order" in columns
        else sum(len(sides) for sides in unreported.values() if len(set(sides)) == 2),
        tally["ambiguous"] if merge else 0,
        tally["credit_by_margin"],
    ]
    return [number for number in numbers if number]
