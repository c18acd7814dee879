"""Order pairs: pairs of responses that a judge read in both orders."""

from dataclasses import dataclass

import numpy as np

from podium.counting.verdicts import verdicts_of
from podium.diagnosis.clustered import Clustered, cluster_battles
from podium.nouns.battles import Battles


@dataclass(frozen=True, slots=True)
class OrderPairs:
    """Order pairs, with credit and margin (NaN if unknown) of the response shown first, shape (pairs, 2) each.

    `matchup` is a code of item and models, which repeats share.
    """

    credit: np.ndarray
    margin: np.ndarray
    matchup: np.ndarray
    rows: Clustered

    def __len__(self) -> int:
        return len(self.credit)

    def take(self, rows: np.ndarray) -> "OrderPairs":
        """Return some of the pairs, given by mask or positions."""
        return OrderPairs(self.credit[rows], self.margin[rows], self.matchup[rows], self.rows.take(rows))

    @property
    def wins(self) -> tuple[np.ndarray, np.ndarray]:
        """Outcome (1, 0, -1) for the response shown first in the order ab, and in the order ba, shape (pairs,) each."""
        in_ab, in_ba = np.sign(self.credit - 0.5).T
        return in_ab, in_ba


def first_shown(battles: Battles) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, per row, credit and margin of the response shown first, and whether verdict and order are known."""
    credit, margin, order = battles.numbers_of("credit"), battles.numbers_of("margin"), orders_of(battles)
    second = order == "ba"
    known = np.isin(order, ["ab", "ba"]) & ~np.isnan(credit)
    return np.where(second, 1 - credit, credit), np.where(second, -margin, margin), known


def orders_of(battles: Battles) -> np.ndarray:
    """Return the order of each row (`ab`, `ba`, `merged`; None if unknown), shape (rows,)."""
    table = battles.table
    return table["order"].astype(object).to_numpy() if "order" in table else np.full(len(table), None)


def matchup_codes(battles: Battles, rows: np.ndarray) -> np.ndarray:
    """Return a number for item, response number and pair of models of some rows, shape (rows,)."""
    models = len(battles.models)
    a, b = (codes[rows] for codes in battles.model_codes)
    item = battles.items_with_responses(cluster_battles(battles).code)[rows]
    return (item * models + np.minimum(a, b)) * models + np.maximum(a, b)


def find_order_pairs(judgments: Battles, level: float) -> OrderPairs:
    """Pair the readable judgments in the orders `ab` and `ba` of the same item, models, judge, repeat and response."""
    credit, margin, _ = first_shown(judgments)
    rows = (judgments.verdicts or verdicts_of(judgments.table)).order_pairs()
    rows = rows[~np.isnan(credit[rows]).any(axis=1)]
    sample = cluster_battles(judgments, level).take(rows[:, 0])
    return OrderPairs(credit[rows], margin[rows], matchup_codes(judgments, rows[:, 0]), sample)
