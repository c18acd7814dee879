"""Consistency of a judge: how often its verdicts change with the order of the responses, and when
they are repeated."""

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
from scipy.special import logit

from podium.data.battles import REPLIES, Battles
from podium.diagnosis.clustered import Clustered, cluster_battles
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Unit, Value, labelled_figures
from podium.diagnosis.subject import (
    OrderPairs,
    Subject,
    first_shown,
    is_soft,
    matchup_codes,
    near_ties,
    read_orders,
)
from podium.tables import Table

BOTH_ORDERS = "show each pair in both orders"


@dataclass(frozen=True, slots=True)
class Swaps:
    """Shares of order pairs by how verdicts agree; unbiased, `prefers_first` and `flips_to_first`
    are 0.5."""

    pairs: int
    same: Annotated[Figured, "same verdict"]
    half: Annotated[Figured, "one order a tie"]
    flip: Annotated[Figured, "flip"]
    flip_decisive: Annotated[Figured, "flip, ties aside"]
    prefers_first: Annotated[Figured, "first preferred, ties aside"]
    flips_to_first: Annotated[Figured, "flips to the first"]


class SwapsByCloseness(NamedTuple):
    """The agreement of order pairs: all, clear pairs, and near-ties by a rule in words."""

    all: Swaps | Missing
    clear: Swaps | Missing
    near: Swaps | Missing
    rule: str | None


@dataclass(frozen=True, slots=True)
class Position(CardAnswer):
    """How the order changes verdicts; unless `balanced` (all in both orders), the first four
    reflect quality, too."""

    first_wins: Annotated[Figured, "shown first: wins"]
    ties: Annotated[Figured, "shown first: ties"]
    second_wins: Annotated[Figured, "shown first: loses"]
    prefers_first: Annotated[Figured, "first preferred, ties aside"]
    balanced: bool
    first_win_rate: Annotated[Figured, "win rate of the response shown first"]
    margin_lead: Annotated[Figured, "margin lead of the response shown first"]
    effect: Annotated[Figured, "effect of being first, log-odds"]
    difference: Annotated[Figured, "position difference, 0 to 1"]
    swaps: SwapsByCloseness

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        lines = CardAnswer.labelled_values(self)
        mixed = ("  of these", "not all were read in both orders, so quality enters them, too")
        return lines if self.balanced else (*lines[:4], mixed, *lines[4:])

    def tables(self) -> tuple[Table, ...]:
        parts = (
            ("all", self.swaps.all),
            ("clear", self.swaps.clear),
            ("near-ties", self.swaps.near),
        )
        shown = [(name, swaps) for name, swaps in parts if isinstance(swaps, Swaps)]
        header = ("order swapped", *(f"{name}: {swaps.pairs:,} pairs" for name, swaps in shown))
        columns = [labelled_figures(swaps) for _, swaps in shown]
        rows = tuple(
            (line[0][0], *(figure.brief for _, figure in line))
            for line in zip(*columns, strict=True)
        )
        title = f"near-tie: {self.swaps.rule}" if self.swaps.rule else ""
        return (Table(title, header, rows),) if shown else ()


def position(subject: Subject) -> Position | Missing:
    """Measure the effect of the order on a judge's verdicts. Source: Soft-Elo, appendix F.1."""
    _, outcome, _, known = first_shown(subject.judgments)
    if not known.any():
        return _no_order(subject.judgments)
    win, shown = (
        np.sign(outcome[known] - 0.5),
        cluster_battles(subject.judgments, subject.level).take(known),
    )
    order_pairs, of = subject.order_pairs, "judgments"
    lead, missing = order_pairs.margin.mean(axis=1), ("pairs read in both orders", BOTH_ORDERS)
    if len(order_pairs):
        missing = ("margins in both orders", "give a column margin")
    # PD of a pair is of its means over repeats: Xu et al. 2025, section 4.3.
    _, once, repeat = np.unique(order_pairs.matchup, return_index=True, return_inverse=True)
    credit_ab, credit_ba = order_pairs.credit.T
    first, second = (
        np.bincount(repeat, side) / np.bincount(repeat) for side in (credit_ab, 1 - credit_ba)
    )
    in_ab, in_ba = order_pairs.wins
    swaps = swaps_by_closeness(order_pairs, subject.near_tie)
    return Position(
        first_wins=shown.share(win == 1, of),
        ties=shown.share(win == 0, of),
        second_wins=shown.share(win == -1, of),
        prefers_first=shown.share(win == 1, of, "decisive verdicts", among=win != 0),
        balanced=2 * len(order_pairs) == len(win),
        first_win_rate=order_pairs.rows.share((in_ab + in_ba + 2) / 4, "pairs", *missing),
        margin_lead=order_pairs.rows.mean(lead, "pairs", *missing, among=np.isfinite(lead)),
        effect=effect_of_being_first(order_pairs, swaps.all),
        difference=order_pairs.rows.take(once).mean(
            np.abs(first - second), "pairs", *missing, within=(0, 1)
        ),
        swaps=swaps,
    )


def effect_of_being_first(order_pairs: OrderPairs, swaps: Swaps | Missing) -> Figured:
    """Estimate the logits that being shown first adds: half the log-odds that a flip goes to the
    first response."""
    # With a gap d and an effect b, the response shown first wins both orders with probability s(d +
    # b) s(b - d), and loses both with s(-d - b) s(d - b): the ratio is exp(2 b) for every d, also
    # with ties by Davidson's rule.
    if is_soft(order_pairs.outcome):
        return Missing(
            "credits are probabilities, not verdicts",
            "see the win rate of the response shown first",
        )
    to_first = swaps if isinstance(swaps, Missing) else swaps.flips_to_first
    if isinstance(to_first, Missing):
        return to_first
    if to_first.value in (0.0, 1.0):
        return Missing(
            f"all {to_first.n:,} flips go one way: it is unbounded",
            "judge more pairs in both orders",
        )
    return to_first.transform(
        lambda p: logit(p) / 2, method=f"log-odds of {to_first.method}", unit=Unit.LOGITS
    )


def measure_swaps(order_pairs: OrderPairs) -> Swaps | Missing:
    """Measure how the verdicts of order pairs agree. Source: Soft-Elo, appendix F.1."""
    if not len(order_pairs):
        return Missing("no pair was read in both orders", BOTH_ORDERS)
    in_ab, in_ba = order_pairs.wins
    flip, decisive, pairs = (
        (in_ab == in_ba) & (in_ab != 0),
        (in_ab != 0) & (in_ba != 0),
        order_pairs.rows,
    )
    win, judgments = np.concatenate([in_ab, in_ba]), replace(pairs, code=np.tile(pairs.code, 2))
    return Swaps(
        pairs=len(order_pairs),
        same=pairs.share(in_ab == -in_ba, "pairs"),
        half=pairs.share((in_ab == 0) != (in_ba == 0), "pairs"),
        flip=pairs.share(flip, "pairs"),
        flip_decisive=pairs.share(flip, "pairs", "pairs without a tie", among=decisive),
        prefers_first=judgments.share(win == 1, "judgments", "decisive verdicts", among=win != 0),
        flips_to_first=pairs.share(in_ab == 1, "flips", among=flip),
    )


def swaps_by_closeness(order_pairs: OrderPairs, near_tie: float) -> SwapsByCloseness:
    """Measure swaps of all, clear and nearly tied pairs; pairs of unknown margin are in neither
    part."""
    everything = measure_swaps(order_pairs)
    credit, margin = (
        -np.diff(values, axis=1)[:, 0] for values in (order_pairs.credit, order_pairs.margin)
    )
    view = near_ties(0.5 + credit / 2, margin / 2, near_tie)
    if isinstance(everything, Missing):
        return SwapsByCloseness(everything, everything, everything, None)
    if view is None:
        unknown = Missing(
            "the verdicts have neither margins nor probabilities", "give a column margin"
        )
        return SwapsByCloseness(everything, unknown, unknown, None)
    near, rule = view
    known = np.isfinite(margin) | ~np.isfinite(margin).any()
    clear, close = (measure_swaps(order_pairs.take(known & part)) for part in (~near, near))
    return SwapsByCloseness(everything, clear, close, rule)


def _no_order(judgments: Battles) -> Missing:
    """Return why the effect of the order cannot be measured."""
    if not judgments.readable.any():
        return Missing("no verdict could be read", "see the reasons of the unparsed replies")
    if np.isfinite(judgments.numbers_of("score_a")).any():
        return Missing("each response was scored alone: there is no first one", "none is needed")
    merged = (read_orders(judgments) == "merged").any()
    why = "the two orders are merged already" if merged else "no row names the response shown first"
    remedy = "give a row per order and a column order (ab, ba), or say --shown a where model_a was shown first"
    return Missing(why, remedy)


@dataclass(frozen=True, slots=True)
class Consistency(CardAnswer):
    """Shares of unparsed replies, ties and unstable verdicts."""

    unparsed: Annotated[Figured, "unparsed"]
    ties: Annotated[Figured, "ties"]
    changing: Annotated[Figured, "verdict changes with the order"]
    against_margin: Annotated[Figured, "verdict against its own margin"]
    retest: Annotated[Figured, "same verdict when repeated"]


def consistency(subject: Subject) -> Consistency:
    """Measure how often replies are readable, decisive and repeatable. Source: Soft-Elo, G; Xu et
    al. 2025, 4.3."""
    judgments, of = subject.judgments, "judgments"
    sample, read = cluster_battles(judgments, subject.level), judgments.readable
    win, margin = np.sign(judgments.outcomes - 0.5), judgments.numbers_of("margin")
    against: Figured = Missing("the verdicts have no margin", "give a column margin")
    if not np.isnan(margin).all():
        decisive, what = ~np.isnan(margin) & read & (win != 0), "decisive verdicts with a margin"
        against = sample.share(np.sign(margin) == -win, "verdicts", what, among=decisive)
    order_pairs = subject.order_pairs
    in_ab, in_ba = order_pairs.wins
    return Consistency(
        unparsed=sample.share(~read, of),
        ties=sample.share(win == 0, of, "readable verdicts", among=read),
        changing=order_pairs.rows.share(
            in_ab != -in_ba, "pairs", "pairs read in both orders", BOTH_ORDERS
        ),
        against_margin=against,
        retest=_measure_retest(judgments, win, sample),
    )


def _measure_retest(judgments: Battles, win: np.ndarray, sample: Clustered) -> Figured:
    """Return the agreement of repeated verdicts: pairs of judgments of the same item, models and
    order."""
    if not judgments.has_items:
        return Missing("no row names its item, which a repeat shares", "give a column item")
    # A verdict counts for the model of the lower code.
    table, read, order = judgments.table, ~np.isnan(win), read_orders(judgments)
    a_is_low = np.less(*judgments.model_codes)
    low_first = np.where(order == "ab", 1 + a_is_low, np.where(order == "ba", 2 - a_is_low, 0))
    key = matchup_codes(judgments, np.arange(len(table))) * 3 + low_first
    code, outcome = (
        np.unique(key[read], return_inverse=True)[1],
        np.where(a_is_low, win, -win)[read],
    )
    tally = np.stack([np.bincount(code, outcome == verdict) for verdict in (1, 0, -1)], axis=1)
    size = tally.sum(axis=1)
    repeated = size > 1
    if not repeated.any():
        return Missing(
            "no judgment was repeated", "repeat judgments (a column repeat numbers them)"
        )
    # Only what differs shows that rows are no copies: the repeat, the reply, or (if no file repeats
    # another) a verdict.
    names = ["repeat", *REPLIES, *([] if judgments.copies else ["credit"])]
    rows = table.loc[read, [name for name in names if name in table]][repeated[code]]
    if not (rows.groupby(code[repeated[code]]).nunique(dropna=False) > 1).to_numpy().any():
        why = "verdicts that occur twice may be copies: neither a repeat nor the reply shows that they are not"
        return Missing(why, "number the repeats in a column repeat")
    row = np.zeros(len(repeated), dtype=np.int64)
    row[code] = np.flatnonzero(read)
    agree = (tally * (tally - 1)).sum(axis=1)[repeated] / (size * (size - 1))[repeated]
    return sample.take(row[repeated]).share(agree, "repeated judgments")
