"""Does the judge prefer the response that it is shown first?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit

from podium.battles import Battles
from podium.diagnosis import near_ties
from podium.diagnosis.answer import Figure, Grid, Missing, Row, Unit, as_dict
from podium.diagnosis.estimates import clusters_of, mean, or_missing, share
from podium.diagnosis.swaps import (
    BOTH_ORDERS,
    NO_PAIRS,
    Apart,
    Swaps,
    Twins,
    first_shown,
    twins_of,
    with_and_without_near_ties,
)
from podium.diagnosis.wording import brief

IN_WORDS = (
    ("same verdict", "same"),
    ("one order a tie", "half"),
    ("flip", "flip"),
    ("flip, ties aside", "flip_decisive"),
    ("first preferred, ties aside", "prefers_first"),
    ("flips to the first", "flips_to_first"),
)


@dataclass(frozen=True, slots=True)
class Position:
    """What the order of presentation does.

    Attributes:
        first_wins, ties, second_wins: shares of the presentations that were read.
        prefers_first: share of decisive presentations that the response shown first won.
        balanced: whether every presentation that was read has a twin in the other order; where not, `prefers_first`
            holds the quality of what was shown first, too.
        first_credit: mean credit of the response shown first over pairs read in both orders; 0.5 without bias,
            whatever the strengths.
        margin_lead: mean margin of the response shown first over the other, over the same pairs; 0 without bias.
        effect: logits by which being shown first raises the odds of winning.
        difference: position difference, mean |credit shown first - credit shown second|, in [0, 1]. Noise raises it,
            too.
        swaps: how verdicts hold when the order is swapped.
    """

    first_wins: Figure | Missing
    ties: Figure | Missing
    second_wins: Figure | Missing
    prefers_first: Figure | Missing
    balanced: bool
    first_credit: Figure | Missing
    margin_lead: Figure | Missing
    effect: Figure | Missing
    difference: Figure | Missing
    swaps: Apart

    def to_dict(self) -> dict[str, Any]:
        """Return the section for JSON."""
        return as_dict(self)

    def rows(self) -> tuple[Row, ...]:
        """Return the lines of the section."""
        mixed = Row("  of these", "not all were read in both orders, so quality enters them, too")
        return (
            Row("shown first: wins", self.first_wins),
            Row("shown first: ties", self.ties),
            Row("shown first: loses", self.second_wins),
            Row("first preferred, ties aside", self.prefers_first),
            *(() if self.balanced else (mixed,)),
            Row("credit of the first, in both orders", self.first_credit),
            Row("lead of the first in margin", self.margin_lead),
            Row("effect of being first, log-odds", self.effect),
            Row("position difference, 0 to 1", self.difference),
        )

    def grids(self) -> tuple[Grid, ...]:
        """Return the swap report with and without near-ties."""
        parts = (("all", self.swaps.all), ("clear", self.swaps.clear), ("near-ties", self.swaps.near))
        shown = [(name, swaps) for name, swaps in parts if isinstance(swaps, Swaps)]
        if not shown:
            return ()
        header = ("order swapped", *(f"{name}: {swaps.pairs:,} pairs" for name, swaps in shown))
        rows = tuple((label, *(brief(getattr(swaps, name)) for _, swaps in shown)) for label, name in IN_WORDS)
        return (Grid(f"near-tie: {self.swaps.rule}", header, rows),)


def position(presentations: Battles, *, near_tie: float, level: float) -> Position | Missing:
    """Describe what the order of presentation does to one judge's verdicts.

    Args:
        presentations: of one judge, the two orders apart.
        near_tie: largest |mean margin| of a near-tie; without margins a soft credit near 0.5, or a tie in an order.
        level: of intervals, in (0, 1).

    Source: Soft-Elo, appendix F.1.
    """
    credit, _, known = first_shown(presentations)
    if not known.any():
        return _no_order(presentations)
    win, shown, twins = np.sign(credit[known] - 0.5), clusters_of(presentations).take(known), twins_of(presentations)
    of, decisive = "presentations", win != 0
    lead = twins.margin.mean(axis=1)
    told = np.isfinite(lead)
    return Position(
        first_wins=or_missing(share(win == 1, shown, level, of), of),
        ties=or_missing(share(win == 0, shown, level, of), of),
        second_wins=or_missing(share(win == -1, shown, level, of), of),
        prefers_first=or_missing(share(win[decisive] == 1, shown.take(decisive), level, of), "decisive verdicts"),
        balanced=2 * len(twins) == len(win),
        first_credit=_of_pairs(mean(twins.credit.mean(axis=1), twins.clusters, level, "pairs", (0, 1)), twins),
        margin_lead=_of_pairs(mean(lead[told], twins.clusters.take(told), level, "pairs"), twins),
        effect=effect(twins, level),
        difference=difference(twins, level),
        swaps=with_and_without_near_ties(twins, near_tie, level),
    )


def difference(twins: Twins, level: float) -> Figure | Missing:
    """Return the mean over pairs of |mean credit shown first - mean credit shown second|; means over repeats.

    Source: Xu et al. 2025, section 4.3, PD of one pair.
    """
    _, one, repeat = np.unique(twins.meeting, return_index=True, return_inverse=True)
    size = np.bincount(repeat)
    shown_first, shown_second = (
        np.bincount(repeat, side) / size for side in (twins.credit[:, 0], 1 - twins.credit[:, 1])
    )
    return _of_pairs(mean(np.abs(shown_first - shown_second), twins.clusters.take(one), level, "pairs", (0, 1)), twins)


def effect(twins: Twins, level: float) -> Figure | Missing:
    """Return half the log-odds of a flip's going to the first.

    Of a pair d logits apart, with an effect b, both orders go to the first with probability s(d + b) s(b - d), and to
    the second with s(-d - b) s(d - b): the ratio is exp(2 b), whatever d. With ties by Davidson's rule it is, too.
    """
    what = "effect of being first"
    if not len(twins):
        return Missing(what, NO_PAIRS, BOTH_ORDERS)
    if near_ties.is_soft(twins.credit):
        return Missing(what, "the credits are probabilities, not verdicts", "see the credit of the first instead")
    flip = twins.flips
    to_first = share(twins.wins[0][flip] == 1, twins.clusters.take(flip), level, "flips")
    if to_first is None or to_first.value in (0.0, 1.0):
        why = "no verdict flips" if to_first is None else f"all {to_first.n:,} flips go one way: nothing bounds it"
        return Missing(what, why, "judge more pairs in both orders")
    low, high = (None if end is None else float(logit(end) / 2) for end in (to_first.low, to_first.high))
    value, method, number = float(logit(to_first.value) / 2), f"log-odds of {to_first.method}", to_first.n
    return Figure(value, low, high, level, method, number, "flips", to_first.clusters, Unit.LOGITS)


def _no_order(presentations: Battles) -> Missing:
    table = presentations.table
    if not presentations.readable.any():
        return Missing("position", "no verdict could be read", "see the reasons of the unread replies")
    if "score_a" in table and table["score_a"].notna().any():
        return Missing("position", "each response was scored alone: there is no first one", "none is needed")
    merged = "order" in table and bool((table["order"] == "merged").any())
    return Missing(
        "position",
        "the two orders are merged already" if merged else "no row says which response was shown first",
        "give a row per order and a column order (ab, ba), or say --shown a where model_a was shown first",
    )


def _of_pairs(figure: Figure | None, twins: Twins) -> Figure | Missing:
    """Return a figure of pairs read in both orders, or say what lacks."""
    if len(twins):
        return or_missing(figure, "margins in both orders", "give a column margin")
    return or_missing(figure, "pairs read in both orders", BOTH_ORDERS)
