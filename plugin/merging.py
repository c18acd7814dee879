"""Two presentations of one pair, one in each order, become one battle."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from podium.battles import ONE_ORDER_UNREAD, criterion_columns

COMPLEMENTED = ("credit", "human")
AVERAGED = ("credit", "margin", "score_a", "score_b", "human", "length_a", "length_b", "weight")
KNOWN_ONCE = ("human", "length_a", "length_b", "weight")


@dataclass(frozen=True, slots=True)
class Twins:
    """Row positions of presentations that belong together, shape (pairs,) each, and rows left single."""

    earlier: np.ndarray
    later: np.ndarray
    ambiguous: int


def merge(table: pd.DataFrame, *, keep_one_sided: bool = False) -> tuple[pd.DataFrame, list[str]]:
    """Average the two orders of each pair into one battle; all other rows stay as they are.

    Only within (item, unordered pair, judge, repeat), and only where that group is exactly one `ab` and one
    `ba`. Where one of the two cannot be read, the battle is unread, unless `keep_one_sided`.

    Returns:
        The table of battles in the order of their first presentation, and warnings.
    """
    twins = find_twins(table)
    notes = []
    if twins.ambiguous:
        notes.append(
            f"{twins.ambiguous} presentations share item, pair, judge and repeat with more than one other; "
            "they stay battles of their own (a `repeat` column would tell which belong together)"
        )
    if not len(twins.earlier):
        return table, notes
    single = np.ones(len(table), dtype=bool)
    single[twins.earlier] = single[twins.later] = False
    merged = _merge_twins(table.iloc[twins.earlier], _mirrored_like(table, twins), keep_one_sided)
    rows = pd.concat([table[single], merged])
    position = np.concatenate([np.flatnonzero(single), twins.earlier])
    return rows.iloc[np.argsort(position, kind="stable")], notes


def find_twins(table: pd.DataFrame) -> Twins:
    """Find the groups that are exactly one `ab` and one `ba` of the same item, pair, judge and repeat."""
    none = np.empty(0, dtype=np.int64)
    if "order" not in table or "item" not in table:
        return Twins(none, none, 0)
    a, b = (table[side].cat.codes.to_numpy() for side in ("model_a", "model_b"))
    order = table["order"].astype(object).to_numpy()
    rows = np.flatnonzero(np.isin(order, ["ab", "ba"]) & (table["item"].cat.codes.to_numpy() >= 0))
    first_is_low = ((order == "ab") == (a < b))[rows]
    keys = pd.DataFrame({"item": table["item"].cat.codes.to_numpy()[rows]})
    keys["low"], keys["high"] = np.minimum(a, b)[rows], np.maximum(a, b)[rows]
    keys["judge"] = table["judge"].cat.codes.to_numpy()[rows] if "judge" in table else 0
    keys["repeat"] = table["repeat"].fillna(-1).to_numpy()[rows] if "repeat" in table else 0
    group = keys.groupby(list(keys.columns), sort=False).ngroup().to_numpy()
    size = np.bincount(group)
    low_first = np.bincount(group, weights=first_is_low)
    ambiguous = (size > 2) & (low_first > 0) & (low_first < size)
    twin = ((size == 2) & (low_first == 1))[group]
    pairs = rows[twin][np.argsort(group[twin], kind="stable")].reshape(-1, 2)
    return Twins(pairs[:, 0], pairs[:, 1], int(size[ambiguous].sum()))


def outcome(credit: np.ndarray, margin: np.ndarray) -> np.ndarray:
    """Return 1, 0 or -1 for a win, tie or loss of a; the margin's sign stands in where credit is NaN."""
    return np.where(np.isnan(credit), np.sign(margin), np.sign(credit - 0.5))


def stand_in(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Give rows without credit and reason, but with a margin, the credit that its sign says."""
    if "margin" not in table:
        return table, []
    lacking = _readable(table) & table["credit"].isna().to_numpy()
    if not lacking.any():
        return table, []
    credit = table["credit"].to_numpy().copy()
    credit[lacking] = (np.sign(table["margin"].to_numpy()[lacking]) + 1) / 2
    return table.assign(credit=credit), [
        f"{int(lacking.sum())} battles have a margin and no credit: the sign of the margin stands in"
    ]


def _readable(table: pd.DataFrame) -> np.ndarray:
    readable = table["credit"].notna()
    if "margin" in table:
        explained = table["reason"].notna() if "reason" in table else False
        readable |= table["margin"].notna() & ~explained
    return readable.to_numpy()


def _mirrored_like(table: pd.DataFrame, twins: Twins) -> pd.DataFrame:
    """Return the later presentations, turned so that model_a is the earlier one's model_a."""
    later = table.iloc[twins.later]
    ours = table["model_a"].cat.codes.to_numpy()
    turned = ours[twins.earlier] != ours[twins.later]
    return pd.concat([later[~turned], mirror(later[turned])]).iloc[np.argsort(_stable_split(turned))]


def _stable_split(turned: np.ndarray) -> np.ndarray:
    return np.concatenate([np.flatnonzero(~turned), np.flatnonzero(turned)])


def mirror(table: pd.DataFrame) -> pd.DataFrame:
    """Swap a and b in every row: names, `_a`/`_b` columns, credit, human, margins and order."""
    names = set(table.columns)
    swapped = {}
    for name in table.columns:
        stem = str(name)[:-2]
        if str(name).endswith("_a") and f"{stem}_b" in names:
            swapped[f"{stem}_a"], swapped[f"{stem}_b"] = table[f"{stem}_b"], table[f"{stem}_a"]
    swapped |= {name: 1 - table[name] for name in COMPLEMENTED if name in names}
    swapped |= {name: -table[name] for name in _margins(table)}
    if "order" in names:
        swapped["order"] = table["order"].map({"ab": "ba", "ba": "ab", "merged": "merged"})
    return table.assign(**swapped)


def _margins(table: pd.DataFrame) -> list[str]:
    """Return the columns that hold a margin, over all criteria or on one."""
    criteria = criterion_columns(table)
    return ["margin", *criteria] if "margin" in table else criteria


def _merge_twins(first: pd.DataFrame, second: pd.DataFrame, keep_one_sided: bool) -> pd.DataFrame:
    second = second.set_axis(first.index)
    first, second = _sign_beside_credit(first, second), _sign_beside_credit(second, first)
    read_first, read_second = _readable(first), _readable(second)
    both, single = read_first & read_second, read_first ^ read_second
    known_once = (*KNOWN_ONCE, *(("score_a", "score_b") if keep_one_sided else ()))
    verdicts = ("credit", *_margins(first))
    kept = {
        name: _mean(first[name].to_numpy(), second[name].to_numpy(), name in known_once)
        if name in AVERAGED or name in verdicts
        else _common_value(first[name], second[name])
        for name in first.columns
    }
    for name in verdicts:
        sole = np.where(read_first, first[name], second[name]) if keep_one_sided else np.nan
        kept[name] = np.where(both, kept[name], np.where(single, sole, np.nan))
    kept["order"] = pd.Categorical(["merged"] * len(first), categories=["ab", "ba", "merged"])
    kept["swap"] = _swap(first, second, both, single)
    kept["reason"] = _reasons(first, second, both, single & (not keep_one_sided), read_first | read_second)
    return pd.DataFrame(kept, index=first.index)


def _mean(x: np.ndarray, y: np.ndarray, known_once: bool) -> np.ndarray:
    """Average two numbers; one alone counts only where it says the same whatever the order of presentation."""
    mean = (x + y) / 2
    return np.where(np.isnan(x), y, np.where(np.isnan(y), x, mean)) if known_once else mean


def _sign_beside_credit(side: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Let the margin's sign stand in for a credit that only the other order has: the two are averaged."""
    lacking = _readable(side) & side["credit"].isna() & other["credit"].notna()
    if not lacking.any():
        return side
    return side.assign(credit=side["credit"].mask(lacking, (np.sign(side["margin"]) + 1) / 2))


def _swap(first: pd.DataFrame, second: pd.DataFrame, both: np.ndarray, single: np.ndarray) -> np.ndarray:
    nothing = np.full(len(first), np.nan)
    margins = [side["margin"].to_numpy() if "margin" in side else nothing for side in (first, second)]
    x = outcome(first["credit"].to_numpy(), margins[0])
    y = outcome(second["credit"].to_numpy(), margins[1])
    agree = np.where(x == y, "same", np.where(x == -y, "flip", "half"))
    return np.where(both, agree, np.where(single, "one-sided", "unread")).astype(object)


def _reasons(
    first: pd.DataFrame, second: pd.DataFrame, both: np.ndarray, single: np.ndarray, any_read: np.ndarray
) -> np.ndarray:
    nothing = np.full(len(first), None, dtype=object)
    a, b = (side["reason"].astype(object).to_numpy() if "reason" in side else nothing for side in (first, second))
    a, b = (np.where(pd.isna(reason), "no reason given", reason) for reason in (a, b))
    neither, differ = a.copy(), np.flatnonzero((a != b) & ~any_read)
    neither[differ] = [" / ".join(sorted((str(x), str(y)))) for x, y in zip(a[differ], b[differ], strict=True)]
    unexplained = np.where(single, ONE_ORDER_UNREAD, neither).astype(object)
    unexplained[both | (any_read & ~single)] = None
    return unexplained


def _common_value(first: pd.Series, second: pd.Series) -> pd.Series:
    """Keep a value on which both presentations agree; leave the cell empty where they differ."""
    if isinstance(first.dtype, pd.CategoricalDtype) and first.dtype == second.dtype:
        return first.where((first.cat.codes == second.cat.codes).to_numpy())
    x, y = first.to_numpy(dtype=object), second.to_numpy(dtype=object)
    same = [_equal(p, q) for p, q in zip(x, y, strict=True)]
    return first.where(np.array(same, dtype=bool))


def _equal(x: object, y: object) -> bool:
    try:
        return bool(x == y)
    except (TypeError, ValueError):
        return False
