"""Position bias: preference for the response shown first, and stability of verdicts when the order is swapped."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from scipy.special import logit

from podium.diagnosis.clustered import cluster_battles
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Unit, Value, labelled_figures
from podium.diagnosis.order_pairs import OrderPairs, first_shown, orders_of
from podium.diagnosis.subject import Subject, is_soft, near_ties
from podium.nouns.battles import Battles
from podium.report.model import Table

BOTH_ORDERS = "show each pair in both orders"
NO_PAIRS = "no pair was read in both orders"


@dataclass(frozen=True, slots=True)
class Swaps:
    """Agreement of the two orders: shares of the order pairs.

    A flip is another winner in each order. Without bias `prefers_first`, of decisive judgments, and
    `flips_to_first`, of flips, are 0.5.
    """

    pairs: int
    same: Annotated[Figured, "same verdict"]
    half: Annotated[Figured, "one order a tie"]
    flip: Annotated[Figured, "flip"]
    flip_decisive: Annotated[Figured, "flip, ties aside"]
    prefers_first: Annotated[Figured, "first preferred, ties aside"]
    flips_to_first: Annotated[Figured, "flips to the first"]


@dataclass(frozen=True, slots=True)
class SwapsByCloseness:
    """Agreement of the two orders for all pairs, clear pairs and near-ties."""

    all: Swaps | Missing
    clear: Swaps | Missing
    near: Swaps | Missing
    rule: str | None


@dataclass(frozen=True, slots=True)
class Position(CardAnswer):
    """The effect of the order on verdicts.

    Attributes:
        first_wins, ties, second_wins, prefers_first: shares of the judgments that were read.
        balanced: whether every judgment that was read has a partner in the other order; where not, `prefers_first`
            holds the quality of what was shown first, too.
        first_credit: mean over pairs read in both orders; 0.5 without bias, whatever the strengths.
        margin_lead: mean margin over the other response, over the same pairs; 0 without bias.
        effect: logits by which being shown first raises the odds of winning.
        difference: mean |credit shown first - credit shown second|, in [0, 1]. Noise raises it, too.
        swaps: how verdicts hold when the order is swapped.
    """

    first_wins: Annotated[Figured, "shown first: wins"]
    ties: Annotated[Figured, "shown first: ties"]
    second_wins: Annotated[Figured, "shown first: loses"]
    prefers_first: Annotated[Figured, "first preferred, ties aside"]
    balanced: bool
    first_credit: Annotated[Figured, "credit of the first, in both orders"]
    margin_lead: Annotated[Figured, "lead of the first in margin"]
    effect: Annotated[Figured, "effect of being first, log-odds"]
    difference: Annotated[Figured, "position difference, 0 to 1"]
    swaps: SwapsByCloseness

    def lines(self) -> tuple[tuple[str, Value], ...]:
        """Return the labelled figures of the section."""
        lines = CardAnswer.lines(self)
        mixed = ("  of these", "not all were read in both orders, so quality enters them, too")
        return lines if self.balanced else (*lines[:4], mixed, *lines[4:])

    def tables(self) -> tuple[Table, ...]:
        """Return the swap table, with and without near-ties."""
        parts = (("all", self.swaps.all), ("clear", self.swaps.clear), ("near-ties", self.swaps.near))
        shown = [(name, swaps) for name, swaps in parts if isinstance(swaps, Swaps)]
        header = ("order swapped", *(f"{name}: {swaps.pairs:,} pairs" for name, swaps in shown))
        columns = [labelled_figures(swaps) for _, swaps in shown]
        rows = tuple((line[0][0], *(figure.brief for _, figure in line)) for line in zip(*columns, strict=True))
        return (Table(f"near-tie: {self.swaps.rule}", header, rows),) if shown else ()


def position(subject: Subject) -> Position | Missing:
    """Measure the effect of the order on a judge's verdicts. Source: Soft-Elo, appendix F.1."""
    credit, _, known = first_shown(subject.judgments)
    if not known.any():
        return _no_order(subject.judgments)
    win, shown = np.sign(credit[known] - 0.5), cluster_battles(subject.judgments, subject.level).take(known)
    order_pairs, of = subject.order_pairs, "judgments"
    lead, missing = order_pairs.margin.mean(axis=1), ("pairs read in both orders", BOTH_ORDERS)
    if len(order_pairs):
        missing = ("margins in both orders", "give a column margin")
    # Means over repeats: PD of one pair, Xu et al. 2025, section 4.3.
    _, once, repeat = np.unique(order_pairs.meeting, return_index=True, return_inverse=True)
    size = np.bincount(repeat)
    first, second = (
        np.bincount(repeat, side) / size for side in (order_pairs.credit[:, 0], 1 - order_pairs.credit[:, 1])
    )
    return Position(
        first_wins=shown.share(win == 1, of),
        ties=shown.share(win == 0, of),
        second_wins=shown.share(win == -1, of),
        prefers_first=shown.share(win == 1, of, "decisive verdicts", among=win != 0),
        balanced=2 * len(order_pairs) == len(win),
        first_credit=order_pairs.rows.mean(order_pairs.credit.mean(axis=1), "pairs", *missing, within=(0, 1)),
        margin_lead=order_pairs.rows.mean(lead, "pairs", *missing, among=np.isfinite(lead)),
        effect=effect_of_being_first(order_pairs),
        difference=order_pairs.rows.take(once).mean(np.abs(first - second), "pairs", *missing, within=(0, 1)),
        swaps=swaps_by_closeness(order_pairs, subject.near_tie),
    )


def effect_of_being_first(order_pairs: OrderPairs) -> Figured:
    """Estimate the effect of being shown first, in logits: half the log-odds that a flip goes to the first.

    Of a pair d logits apart, with an effect b, both orders go to the first with probability s(d + b) s(b - d), and to
    the second with s(-d - b) s(d - b): the ratio is exp(2 b), whatever d. With ties by Davidson's rule it is, too.
    """
    what = "effect of being first"
    if not len(order_pairs):
        return Missing(what, NO_PAIRS, BOTH_ORDERS)
    if is_soft(order_pairs.credit):
        return Missing(what, "the credits are probabilities, not verdicts", "see the credit of the first instead")
    first, then = order_pairs.wins
    to_first = order_pairs.rows.share(first == 1, "flips", among=(first == then) & (first != 0))
    if isinstance(to_first, Missing):
        return Missing(what, "no verdict flips", "judge more pairs in both orders")
    if to_first.value in (0.0, 1.0):
        why = f"all {to_first.n:,} flips go one way: nothing bounds it"
        return Missing(what, why, "judge more pairs in both orders")
    return to_first.transform(lambda p: logit(p) / 2, method=f"log-odds of {to_first.method}", unit=Unit.LOGITS)


def measure_swaps(order_pairs: OrderPairs) -> Swaps | Missing:
    """Measure how verdicts agree between the two orders. Source: Soft-Elo, appendix F.1."""
    if not len(order_pairs):
        return Missing("swap report", NO_PAIRS, BOTH_ORDERS)
    first, then = order_pairs.wins
    flip, decisive, pairs = (first == then) & (first != 0), (first != 0) & (then != 0), order_pairs.rows
    win, judgments = np.concatenate([first, then]), replace(pairs, code=np.tile(pairs.code, 2))
    return Swaps(
        pairs=len(order_pairs),
        same=pairs.share(first == -then, "pairs"),
        half=pairs.share((first == 0) != (then == 0), "pairs"),
        flip=pairs.share(flip, "pairs"),
        flip_decisive=pairs.share(flip, "pairs", "pairs without a tie", among=decisive),
        prefers_first=judgments.share(win == 1, "judgments", "decisive verdicts", among=win != 0),
        flips_to_first=pairs.share(first == 1, "flips", among=flip),
    )


def swaps_by_closeness(order_pairs: OrderPairs, near_tie: float) -> SwapsByCloseness:
    """Measure swaps for all pairs, clear pairs and near-ties; pairs of unknown margin are in neither part.

    A near-tie is told by the judge's own margin; without margins by its soft credit; of hard verdicts, by a tie in
    either order. What then holds by definition is no finding.
    """
    everything = measure_swaps(order_pairs)
    if isinstance(everything, Missing):
        nothing = replace(everything, what="near-ties")
        return SwapsByCloseness(everything, nothing, nothing, None)
    credit, margin = (
        order_pairs.credit[:, 0] - order_pairs.credit[:, 1],
        order_pairs.margin[:, 0] - order_pairs.margin[:, 1],
    )
    view = near_ties(0.5 + credit / 2, margin / 2, near_tie)
    near, rule = view or (
        (order_pairs.credit == 0.5).any(axis=1),
        "a tie in either order (the verdicts carry no margin)",
    )
    known = np.isfinite(margin) | ~np.isfinite(margin).any()
    clear, close = (measure_swaps(order_pairs.take(known & part)) for part in (~near, near))
    if view is None:
        trivial = Missing("near-ties", "a pair with a tie in either order is a near-tie here", "give a column margin")
        if isinstance(clear, Swaps):
            clear = replace(clear, half=trivial)
        if isinstance(close, Swaps):
            close = replace(close, flip=trivial, flip_decisive=trivial, flips_to_first=trivial)
    return SwapsByCloseness(everything, clear, close, rule)


def _no_order(judgments: Battles) -> Missing:
    """Return why the effect of the order cannot be measured."""
    if not judgments.readable.any():
        return Missing("position", "no verdict could be read", "see the reasons of the unparsed replies")
    if np.isfinite(judgments.numbers_of("score_a")).any():
        return Missing("position", "each response was scored alone: there is no first one", "none is needed")
    merged = (orders_of(judgments) == "merged").any()
    why = "the two orders are merged already" if merged else "no row says which response was shown first"
    remedy = "give a row per order and a column order (ab, ba), or say --shown a where model_a was shown first"
    return Missing("position", why, remedy)
