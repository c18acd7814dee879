"""Order pairs: pairs of responses that a judge read in both orders."""

from dataclasses import dataclass

import numpy as np

from podium.counting.verdicts import verdicts_of
from podium.diagnosis.clustered import Clustered, cluster_battles
from podium.nouns.battles import Battles


@dataclass(frozen=True, slots=True)
class OrderPairs:
    """Order pairs with credit and margin of the response shown first in each order.

    Attributes:
        credit, margin: shape (pairs, 2) each; a margin is NaN where there is none.
        meeting: code of item and models, which repeats share, shape (pairs,).
        rows: the pairs as a sample.
    """

    credit: np.ndarray
    margin: np.ndarray
    meeting: np.ndarray
    rows: Clustered

    def __len__(self) -> int:
        return len(self.credit)

    def take(self, rows: np.ndarray) -> "OrderPairs":
        """Return a subset, by mask or positions."""
        return OrderPairs(self.credit[rows], self.margin[rows], self.meeting[rows], self.rows.take(rows))

    @property
    def wins(self) -> tuple[np.ndarray, np.ndarray]:
        """Outcomes (1, 0, -1) of the response shown first in each order, shape (pairs,) each."""
        first, then = np.sign(self.credit - 0.5).T
        return first, then


def first_shown(battles: Battles) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return credit and margin of the response shown first, and whether verdict and order are known, shape (rows,)
    each.
    """
    credit, margin, order = battles.numbers_of("credit"), battles.numbers_of("margin"), orders_of(battles)
    second = order == "ba"
    known = np.isin(order, ["ab", "ba"]) & ~np.isnan(credit)
    return np.where(second, 1 - credit, credit), np.where(second, -margin, margin), known


def orders_of(battles: Battles) -> np.ndarray:
    """Return the order of each row (`ab`, `ba` or another word), None if unknown, shape (rows,)."""
    table = battles.table
    return table["order"].astype(object).to_numpy() if "order" in table else np.full(len(table), None)


def matchup_codes(battles: Battles, rows: np.ndarray) -> np.ndarray:
    """Return a code per item, response number and pair of models, shape (rows,)."""
    models = len(battles.models)
    a, b = (codes[rows] for codes in battles.model_codes)
    item = battles.items_with_responses(cluster_battles(battles).code)[rows]
    return (item * models + np.minimum(a, b)) * models + np.maximum(a, b)


def find_order_pairs(judgments: Battles, level: float) -> OrderPairs:
    """Find the judgments with one `ab` and one `ba` of the same item, pair, judge, repeat and response."""
    credit, margin, _ = first_shown(judgments)
    rows = (judgments.verdicts or verdicts_of(judgments.table)).order_pairs()
    rows = rows[~np.isnan(credit[rows]).any(axis=1)]
    sample = cluster_battles(judgments, level).take(rows[:, 0])
    return OrderPairs(credit[rows], margin[rows], matchup_codes(judgments, rows[:, 0]), sample)
