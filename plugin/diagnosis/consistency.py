"""Consistency of a judge: how often its verdicts change with the order of the responses, and when they are repeated."""

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
from scipy.special import logit

from podium.diagnosis.clustered import Clustered, cluster_battles
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Unit, Value, labelled_figures
from podium.diagnosis.subject import OrderPairs, Subject, first_shown, is_soft, matchup_codes, near_ties, read_orders
from podium.nouns.battles import REPLIES, Battles
from podium.report.model import Table

BOTH_ORDERS = "show each pair in both orders"
NO_PAIRS = "no pair was read in both orders"


@dataclass(frozen=True, slots=True)
class Swaps:
    """Shares of order pairs by how verdicts agree; unbiased, `prefers_first` and `flips_to_first` are 0.5."""

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
    """How the order changes verdicts; unless `balanced` (all in both orders), the first four reflect quality, too."""

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
        parts = (("all", self.swaps.all), ("clear", self.swaps.clear), ("near-ties", self.swaps.near))
        shown = [(name, swaps) for name, swaps in parts if isinstance(swaps, Swaps)]
        header = ("order swapped", *(f"{name}: {swaps.pairs:,} pairs" for name, swaps in shown))
        columns = [labelled_figures(swaps) for _, swaps in shown]
        rows = tuple((line[0][0], *(figure.brief for _, figure in line)) for line in zip(*columns, strict=True))
        return (Table(f"near-tie: {self.swaps.rule}", header, rows),) if shown else ()


def position(subject: Subject) -> Position | Missing:
    """Measure the effect of the order on a judge's verdicts. Source: Soft-Elo, appendix F.1."""
    _, outcome, _, known = first_shown(subject.judgments)
    if not known.any():
        return _no_order(subject.judgments)
    win, shown = np.sign(outcome[known] - 0.5), cluster_battles(subject.judgments, subject.level).take(known)
    order_pairs, of = subject.order_pairs, "judgments"
    lead, missing = order_pairs.margin.mean(axis=1), ("pairs read in both orders", BOTH_ORDERS)
    if len(order_pairs):
        missing = ("margins in both orders", "give a column margin")
    # PD of a pair is of its means over repeats: Xu et al. 2025, section 4.3.
    _, once, repeat = np.unique(order_pairs.matchup, return_index=True, return_inverse=True)
    credit_ab, credit_ba = order_pairs.credit.T
    first, second = (np.bincount(repeat, side) / np.bincount(repeat) for side in (credit_ab, 1 - credit_ba))
    in_ab, in_ba = order_pairs.wins
    return Position(
        first_wins=shown.share(win == 1, of),
        ties=shown.share(win == 0, of),
        second_wins=shown.share(win == -1, of),
        prefers_first=shown.share(win == 1, of, "decisive verdicts", among=win != 0),
        balanced=2 * len(order_pairs) == len(win),
        first_win_rate=order_pairs.rows.share((in_ab + in_ba + 2) / 4, "pairs", *missing),
        margin_lead=order_pairs.rows.mean(lead, "pairs", *missing, among=np.isfinite(lead)),
        effect=effect_of_being_first(order_pairs),
        difference=order_pairs.rows.take(once).mean(np.abs(first - second), "pairs", *missing, within=(0, 1)),
        swaps=swaps_by_closeness(order_pairs, subject.near_tie),
    )


def effect_of_being_first(order_pairs: OrderPairs) -> Figured:
    """Estimate the logits that being shown first adds: half the log-odds that a flip goes to the first response."""
    # With a gap d and an effect b, the response shown first wins both orders with probability s(d + b) s(b - d), and
    # loses both with s(-d - b) s(d - b): the ratio is exp(2 b) for every d, also with ties by Davidson's rule.
    what = "effect of being first"
    if not len(order_pairs):
        return Missing(what, NO_PAIRS, BOTH_ORDERS)
    if is_soft(order_pairs.outcome):
        return Missing(what, "credits are probabilities, not verdicts", "see the win rate of the response shown first")
    in_ab, in_ba = order_pairs.wins
    to_first = order_pairs.rows.share(in_ab == 1, "flips", among=(in_ab == in_ba) & (in_ab != 0))
    if isinstance(to_first, Missing):
        return Missing(what, "no verdict flips", "judge more pairs in both orders")
    if to_first.value in (0.0, 1.0):
        return Missing(what, f"all {to_first.n:,} flips go one way: it is unbounded", "judge more pairs in both orders")
    return to_first.transform(lambda p: logit(p) / 2, method=f"log-odds of {to_first.method}", unit=Unit.LOGITS)


def measure_swaps(order_pairs: OrderPairs) -> Swaps | Missing:
    """Measure how the verdicts of order pairs agree. Source: Soft-Elo, appendix F.1."""
    if not len(order_pairs):
        return Missing("swap report", NO_PAIRS, BOTH_ORDERS)
    in_ab, in_ba = order_pairs.wins
    flip, decisive, pairs = (in_ab == in_ba) & (in_ab != 0), (in_ab != 0) & (in_ba != 0), order_pairs.rows
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
    """Measure swaps of all, clear and nearly tied pairs; pairs of unknown margin are in neither part."""
    if isinstance(everything := measure_swaps(order_pairs), Missing):
        nothing = replace(everything, what="near-ties")
        return SwapsByCloseness(everything, nothing, nothing, None)
    credit, margin = (-np.diff(values, axis=1)[:, 0] for values in (order_pairs.credit, order_pairs.margin))
    view, tied = near_ties(0.5 + credit / 2, margin / 2, near_tie), (order_pairs.outcome == 0.5).any(axis=1)
    near, rule = view or (tied, "a tie in either order (the verdicts have no margin)")
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
    merged = (read_orders(judgments) == "merged").any()
    why = "the two orders are merged already" if merged else "no row names the response shown first"
    remedy = "give a row per order and a column order (ab, ba), or say --shown a where model_a was shown first"
    return Missing("position", why, remedy)


@dataclass(frozen=True, slots=True)
class Consistency(CardAnswer):
    """Shares of unparsed replies, ties and unstable verdicts; `retest_kappa` is `retest` corrected for chance."""

    unparsed: Annotated[Figured, "unparsed"]
    ties: Annotated[Figured, "ties"]
    changing: Annotated[Figured, "verdict changes with the order"]
    against_margin: Annotated[Figured, "verdict against its own margin"]
    retest: Annotated[Figured, "same verdict when repeated"]
    retest_kappa: Annotated[Figured, "  beyond chance (kappa)"]
    repeated: int


def consistency(subject: Subject) -> Consistency:
    """Measure how often replies are readable, decisive and repeatable. Source: Soft-Elo, G; Xu et al. 2025, 4.3."""
    judgments, of = subject.judgments, "judgments"
    sample, read = cluster_battles(judgments, subject.level), judgments.readable
    win, margin = np.sign(judgments.outcomes - 0.5), judgments.numbers_of("margin")
    against: Figured = Missing("verdicts against their margin", "the verdicts have no margin", "give a column margin")
    if not np.isnan(margin).all():
        decisive, what = ~np.isnan(margin) & read & (win != 0), "decisive verdicts with a margin"
        against = sample.share(np.sign(margin) == -win, "verdicts", what, among=decisive)
    order_pairs = subject.order_pairs
    in_ab, in_ba = order_pairs.wins
    retest, retest_kappa, repeated = _estimate_retest(judgments, win, sample)
    return Consistency(
        unparsed=sample.share(~read, of),
        ties=sample.share(win == 0, of, "readable verdicts", among=read),
        changing=order_pairs.rows.share(in_ab != -in_ba, "pairs", "pairs read in both orders", BOTH_ORDERS),
        against_margin=against,
        retest=retest,
        retest_kappa=retest_kappa,
        repeated=repeated,
    )


def _estimate_retest(judgments: Battles, win: np.ndarray, sample: Clustered) -> tuple[Figured, Figured, int]:
    """Return the agreement of repeated verdicts, the same beyond chance (kappa), and the number of repeated ones."""
    if isinstance(repeats := _tally_repeats(judgments, win), Missing):
        return repeats, repeats, 0
    tally, row = repeats
    of, size, rows = "repeated judgments", tally.sum(axis=1), sample.take(row)
    agree, ties = (tally * (tally - 1)).sum(axis=1) / (size * (size - 1)), tally[:, 1] / size
    agreement = rows.share(agree, of, "repeats")
    # Verdicts that are ties with probability t, else wins or losses alike, agree with this chance.
    a, t = float(agree.mean()), float(ties.mean())
    chance = t**2 + (1 - t) ** 2 / 2
    if chance == 1:
        always = Missing("kappa of repeats", "every repeated verdict is a tie", "repeat judgments with a winner")
        return agreement, always, len(agree)
    value = (a - chance) / (1 - chance)
    influence = ((agree - a) - (1 - value) * (3 * t - 1) * (ties - t)) / (1 - chance) / len(agree)
    return agreement, rows.linear(value, influence, len(agree), of, within=(-1, 1)), len(agree)


def _tally_repeats(judgments: Battles, win: np.ndarray) -> tuple[np.ndarray, np.ndarray] | Missing:
    """Count wins, ties and losses of each repeated judgment (item, models and order), with a row of each."""
    if not judgments.has_items:
        return Missing("repeats", "no row names its item, which a repeat shares", "give a column item")
    # A verdict counts for the model of the lower code.
    table, read, order = judgments.table, ~np.isnan(win), read_orders(judgments)
    a_is_low = np.less(*judgments.model_codes)
    low_first = np.where(order == "ab", 1 + a_is_low, np.where(order == "ba", 2 - a_is_low, 0))
    key = matchup_codes(judgments, np.arange(len(table))) * 3 + low_first
    code, outcome = np.unique(key[read], return_inverse=True)[1], np.where(a_is_low, win, -win)[read]
    tally = np.stack([np.bincount(code, outcome == verdict) for verdict in (1, 0, -1)], axis=1)
    repeated = tally.sum(axis=1) > 1
    if not repeated.any():
        return Missing("repeats", "no judgment was repeated", "repeat judgments (a column repeat numbers them)")
    # Only what differs shows that rows are no copies: the repeat, the reply, or (if no file repeats another) a verdict.
    names = ["repeat", *REPLIES, *([] if judgments.copies else ["credit"])]
    rows = table.loc[read, [name for name in names if name in table]][repeated[code]]
    if not (rows.groupby(code[repeated[code]]).nunique(dropna=False) > 1).to_numpy().any():
        why = "verdicts that occur twice may be copies: neither a repeat nor the reply shows that they are not"
        return Missing("repeats", why, "number the repeats in a column repeat")
    row = np.zeros(len(repeated), dtype=np.int64)
    row[code] = np.flatnonzero(read)
    return tally[repeated], row[repeated]
