"""Consistency of a judge: do verdicts change with the order of responses, or if repeated?

An order pair is two judgments of the same two responses, one in each order. A flip is an order
pair in which the judge prefers a different response in each order.
"""

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np

from podium.data.battles import REPLIES, Battles
from podium.diagnosis.clustered import Clustered, cluster_battles
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Unit, Value, labelled_figures
from podium.diagnosis.order_effect import BOTH_ORDERS
from podium.diagnosis.subject import (
    OrderPairs,
    Subject,
    first_shown,
    is_soft,
    matchup_codes,
    near_ties,
    read_orders,
)
from podium.distinct_values import distinct_values
from podium.distributions import logit
from podium.notices.option_forms import option_text
from podium.tables import Table
from podium.wording import quantity, word_for


@dataclass(frozen=True, slots=True)
class Swaps:
    """Shares of order pairs by how their two verdicts agree.

    A verdict is decisive if it is no tie.

    Attributes:
        pairs: number of order pairs.
        same: share with the same verdict in both orders.
        half: share with a tie in exactly one order.
        flip: share of flips.
        flip_decisive: share of flips among the order pairs without a tie.
        prefers_first: share of decisive verdicts for the response shown first; 0.5 for a judge
            without position bias.
        flips_to_first: share of flips in which the judge prefers the response shown first; 0.5 for
            a judge without position bias.
    """

    pairs: int
    same: Annotated[Figured, "same verdict"]
    half: Annotated[Figured, "one order a tie"]
    flip: Annotated[Figured, "flip"]
    flip_decisive: Annotated[Figured, "flip, ties aside"]
    prefers_first: Annotated[Figured, "first preferred, ties aside"]
    flips_to_first: Annotated[Figured, "flips to the first"]


class SwapsByCloseness(NamedTuple):
    """How often the two verdicts of order pairs agree: of all pairs, clear pairs and near-ties.

    A near-tie is a pair whose responses the judge rates almost equally.

    Attributes:
        all: all order pairs; `Missing` if there are none.
        clear: order pairs that are not near-ties; `Missing` if there are none, or if `rule` is
            None.
        near: near-ties; `Missing` if there are none, or if `rule` is None.
        rule: a text on what a near-tie is, such as `|margin| of both orders' mean up to 0.3`; None
            if there are no order pairs, or if these have neither margins nor soft credits.
    """

    all: Swaps | Missing
    clear: Swaps | Missing
    near: Swaps | Missing
    rule: str | None


@dataclass(frozen=True, slots=True)
class Position(CardAnswer):
    """How the order of the responses changes verdicts.

    Attributes:
        first_wins: share of verdicts for the response shown first.
        ties: share of ties.
        second_wins: share of verdicts for the response shown second.
        prefers_first: share of decisive verdicts for the response shown first.
        balanced: whether every judgment with a known order belongs to an order pair. If not, the
            figures above also reflect the quality of the responses.
        first_win_rate: win rate of the response shown first over order pairs, ties counting half.
        margin_lead: mean margin of the response shown first over order pairs.
        effect: logits that being shown first adds.
        difference: mean over pairs of |credit of a response shown first - its credit shown
            second|, in [0, 1].
        swaps: agreement of the two verdicts of order pairs.
    """

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
        """Return the labelled fields.

        If not all pairs were read in both orders, a caveat follows the first four fields.
        """
        lines = CardAnswer.labelled_values(self)
        if self.balanced:
            return lines
        caveat = ("  of these", "not all were read in both orders, so quality enters them, too")
        # The first four lines are those of single verdicts.
        return (*lines[:4], caveat, *lines[4:])

    def tables(self) -> tuple[Table, ...]:
        """Return a table of how verdicts agree when the order is swapped.

        The table has a column for all order pairs, one for clear pairs and one for near-ties. A
        column without order pairs is left out, and so is a table without columns.
        """
        groups = (
            ("all", self.swaps.all),
            ("clear", self.swaps.clear),
            ("near-ties", self.swaps.near),
        )
        known_groups = [(name, swaps) for name, swaps in groups if isinstance(swaps, Swaps)]
        names = [f"{name}: {quantity(swaps.pairs, 'pair')}" for name, swaps in known_groups]
        header = ("order swapped", *names)
        columns = [labelled_figures(swaps) for _, swaps in known_groups]
        rows = []
        for line in zip(*columns, strict=True):
            label, _ = line[0]
            rows.append((label, *(figure.brief for _, figure in line)))
        title = f"near-tie: {self.swaps.rule}" if self.swaps.rule else ""
        return (Table(title=title, header=header, rows=tuple(rows)),) if known_groups else ()


def position(subject: Subject) -> Position | Missing:
    """Measure the effect of the order on a judge's verdicts. Source: Soft-Elo, appendix F.1.

    The first four figures are over all judgments with a verdict and a known order, the others over
    order pairs.

    Returns:
        The figures; `Missing` if no judgment has a verdict and a known order.
    """
    _, outcome, _, is_known = first_shown(subject.judgments)
    if not is_known.any():
        return _missing_order(subject.judgments)
    win = np.sign(outcome[is_known] - 0.5)
    sample = cluster_battles(subject.judgments, subject.level).take(is_known)
    order_pairs = subject.order_pairs
    # What a figure over order pairs lacks if it is `Missing`, and what the user can do. If there
    # are order pairs, only the margins can be lacking.
    if len(order_pairs):
        what_lacks = "margins in both orders"
        remedy = "give a column margin"
    else:
        what_lacks = "pairs read in both orders"
        remedy = BOTH_ORDERS
    margin_lead = order_pairs.margin.mean(axis=1)
    # A win (1), tie (0) or loss (-1) of the response shown first counts as 1, 0.5 or 0.
    earlier_wins, later_wins = order_pairs.wins
    win_rates = ((earlier_wins + 1) / 2 + (later_wins + 1) / 2) / 2
    swaps = swaps_by_closeness(order_pairs, subject.near_tie)
    of = "judgments"
    return Position(
        first_wins=sample.share(win == 1, of),
        ties=sample.share(win == 0, of),
        second_wins=sample.share(win == -1, of),
        prefers_first=sample.share(win == 1, of, what="decisive verdicts", among=(win != 0)),
        balanced=(2 * len(order_pairs) == len(win)),
        first_win_rate=order_pairs.rows.share(win_rates, "pairs", what=what_lacks, remedy=remedy),
        margin_lead=order_pairs.rows.mean(
            margin_lead, "pairs", what_lacks, remedy, among=np.isfinite(margin_lead)
        ),
        effect=effect_of_being_first(order_pairs, swaps.all),
        difference=_position_difference(order_pairs, what_lacks, remedy),
        swaps=swaps,
    )


def _position_difference(order_pairs: OrderPairs, what_lacks: str, remedy: str) -> Figured:
    """Return the position difference (PD): how much a response's credit depends on its position.

    The PD is the mean over pairs of |credit of a response shown first - its credit shown second|,
    between 0 and 1. Repeats of a pair are averaged first. Source: Xu et al. 2025, section 4.3.

    Args:
        order_pairs: the pairs read in both orders.
        what_lacks: what is missing if there are no order pairs.
        remedy: what the user can do about it.
    """
    _, first_repeat, matchup = np.unique(
        order_pairs.matchup, return_index=True, return_inverse=True
    )
    repeats = np.bincount(matchup)
    earlier, later = order_pairs.credit.T
    # The credit shown first minus the credit shown second is earlier - (1 - later). It is the same
    # for either response of a pair, so that repeats can begin with either.
    shown_first = np.bincount(matchup, earlier) / repeats
    shown_second = np.bincount(matchup, 1 - later) / repeats
    difference = np.abs(shown_first - shown_second)
    return order_pairs.rows.take(first_repeat).mean(
        difference, "pairs", what_lacks, remedy, within=(0, 1)
    )


def effect_of_being_first(order_pairs: OrderPairs, swaps: Swaps | Missing) -> Figured:
    """Estimate the logits that being shown first adds.

    The estimate is half the log-odds that a flip goes to the response shown first. Let two
    responses differ by d logits, let the effect be b logits, and let s be the sigmoid. The judge
    then prefers the response shown first in both orders with probability s(d + b) s(b - d), and the
    response shown second in both orders with probability s(-d - b) s(d - b). The ratio of the two
    probabilities is exp(2 b) for every d, also with ties by Davidson's rule.

    Args:
        order_pairs: the pairs read in both orders.
        swaps: what `measure_swaps` returns for them.

    Returns:
        The effect; `Missing` if parsed verdicts are probabilities, if there are no flips, or if
        all flips go to the same position.
    """
    if is_soft(order_pairs.outcome):
        return Missing(
            "credits are probabilities, not verdicts",
            "see the win rate of the response shown first",
        )
    to_first = swaps if isinstance(swaps, Missing) else swaps.flips_to_first
    if isinstance(to_first, Missing):
        return to_first
    if to_first.value in (0.0, 1.0):
        flips = word_for(to_first.n, "the only flip goes", f"all {to_first.n:,} flips go")
        return Missing(f"{flips} one way: it is unbounded", "judge more pairs in both orders")
    return to_first.transform(
        _effect_of_first, method=f"log-odds of {to_first.method}", unit=Unit.LOGITS
    )


def _effect_of_first(flips_to_first: float) -> float:
    """Return half the log-odds that a flip goes to the response shown first."""
    return logit(flips_to_first) / 2


def measure_swaps(order_pairs: OrderPairs) -> Swaps | Missing:
    """Measure how the verdicts of order pairs agree; `Missing` if there are no order pairs.

    A share whose denominator is empty, such as that of flips among no flips, is `Missing`, too.
    Source: Soft-Elo, appendix F.1.
    """
    if not len(order_pairs):
        return Missing("no pair was read in both orders", BOTH_ORDERS)
    # A flip is a win of the response shown first in both judgments, or a loss in both.
    earlier, later = order_pairs.wins
    is_flip = (earlier == later) & (earlier != 0)
    is_decisive = (earlier != 0) & (later != 0)
    # One of the two judgments is a tie, the other is not.
    is_half = (earlier == 0) ^ (later == 0)
    sample = order_pairs.rows
    verdicts = np.concatenate([earlier, later])
    judgments = replace(sample, code=np.tile(sample.code, 2))
    return Swaps(
        pairs=len(order_pairs),
        same=sample.share(earlier == -later, "pairs"),
        half=sample.share(is_half, "pairs"),
        flip=sample.share(is_flip, "pairs"),
        flip_decisive=sample.share(is_flip, "pairs", what="pairs without a tie", among=is_decisive),
        prefers_first=judgments.share(
            verdicts == 1, "judgments", what="decisive verdicts", among=(verdicts != 0)
        ),
        flips_to_first=sample.share(earlier == 1, "flips", among=is_flip),
    )


def swaps_by_closeness(order_pairs: OrderPairs, near_tie: float) -> SwapsByCloseness:
    """Measure how the two verdicts of order pairs agree: of all pairs, of clear pairs and of
    near-ties.

    Near-ties are found by the margin of a pair, the mean over both orders. If other pairs have
    margins, a pair without a margin is neither clear nor a near-tie. If no pair has a margin,
    near-ties are found by soft credits, as `near_ties` says.

    Args:
        order_pairs: the pairs read in both orders.
        near_tie: largest |margin| of a near-tie.
    """
    everything = measure_swaps(order_pairs)
    if isinstance(everything, Missing):
        return SwapsByCloseness(all=everything, clear=everything, near=everything, rule=None)
    # Both columns are seen from the response shown first, which is another one in each judgment.
    # Half the difference of the columns is therefore the mean over orders, seen from the response
    # that the earlier judgment shows first. The sign does not matter for a near-tie.
    credit_lead = -np.diff(order_pairs.credit, axis=1)[:, 0] / 2
    margin = -np.diff(order_pairs.margin, axis=1)[:, 0] / 2
    mask_and_rule = near_ties(0.5 + credit_lead, margin, near_tie)
    if mask_and_rule is None:
        unknown = Missing(
            "the verdicts have neither margins nor probabilities", "give a column margin"
        )
        return SwapsByCloseness(all=everything, clear=unknown, near=unknown, rule=None)
    is_near_tie, rule = mask_and_rule
    is_known = np.isfinite(margin)
    if not is_known.any():
        # Credits decide, which all pairs have.
        is_known = np.ones(len(margin), dtype=bool)
    clear = measure_swaps(order_pairs.take(is_known & ~is_near_tie))
    near = measure_swaps(order_pairs.take(is_known & is_near_tie))
    return SwapsByCloseness(everything, clear, near, rule)


def _missing_order(judgments: Battles) -> Missing:
    """Return why no judgment has both a verdict and a known order.

    The first reason that holds is given: no verdict was read; responses were scored one at a time;
    orders are merged; or no order is recorded.
    """
    if not judgments.readable.any():
        return Missing("no verdict could be read", "see why the judgments are unparsed")
    if np.isfinite(judgments.numbers_of("score_a")).any():
        return Missing("each response was scored alone: there is no first one", "none is needed")
    why = "no row names the response shown first"
    if (read_orders(judgments) == "merged").any():
        why = "the two orders are merged already"
    remedy = (
        "give a row per order and a column order (ab, ba), or say --shown a where model_a was "
        "shown first"
    )
    return Missing(why, remedy)


@dataclass(frozen=True, slots=True)
class Consistency(CardAnswer):
    """Shares of unparsed replies, ties and unstable verdicts.

    Attributes:
        unparsed: share of judgments whose reply was not parsed. Pairs that lack a score are no
            judgments.
        ties: share of ties among readable verdicts.
        changing: share of order pairs with different verdicts in the two orders.
        against_margin: share of decisive verdicts with a margin whose margin favours the other
            response.
        retest: probability that two verdicts of the judge on the same item, models and order
            agree.
    """

    unparsed: Annotated[Figured, "unparsed"]
    ties: Annotated[Figured, "ties"]
    changing: Annotated[Figured, "verdict changes with the order"]
    against_margin: Annotated[Figured, "verdict against its own margin"]
    retest: Annotated[Figured, "same verdict when repeated"]


def consistency(subject: Subject) -> Consistency:
    """Measure how often replies are readable, decisive and repeatable.

    A figure whose denominator is empty is `Missing`. Source: Soft-Elo, appendix G; Xu et al. 2025,
    section 4.3.
    """
    judgments = subject.judgments
    sample = cluster_battles(judgments, subject.level)
    readable = judgments.readable
    unparsed = judgments.is_unparsed
    win = np.sign(judgments.outcomes - 0.5)
    order_pairs = subject.order_pairs
    earlier, later = order_pairs.wins
    of = "judgments"
    return Consistency(
        unparsed=sample.share(unparsed, of, among=readable | unparsed),
        ties=sample.share(win == 0, of, what="readable verdicts", among=readable),
        changing=order_pairs.rows.share(
            earlier != -later, "pairs", "pairs read in both orders", BOTH_ORDERS
        ),
        against_margin=_share_against_margin(judgments, win, sample),
        retest=_measure_retest(judgments, win, sample),
    )


def _share_against_margin(judgments: Battles, win: np.ndarray, sample: Clustered) -> Figured:
    """Return the share of decisive verdicts with a margin whose margin favours the other response.

    A verdict with a margin of 0, which favours neither response, stays in the denominator. The
    share is `Missing` if no verdict has a margin, or if none that has one is decisive.

    Args:
        judgments: the verdicts.
        win: 1, 0 or -1 for a win, tie or loss of `model_a`, NaN if unparsed, shape (judgments,).
        sample: the verdicts as a sample.
    """
    margin = judgments.numbers_of("margin")
    if np.isnan(margin).all():
        return Missing("the verdicts have no margin", "give a column margin")
    is_decisive = ~np.isnan(margin) & judgments.readable & (win != 0)
    what = "decisive verdicts with a margin"
    return sample.share(np.sign(margin) == -win, "verdicts", what=what, among=is_decisive)


def _measure_retest(judgments: Battles, win: np.ndarray, sample: Clustered) -> Figured:
    """Return how often two verdicts on the same item, models and order agree.

    For each combination of item, models and order with two or more verdicts, the share of equal
    pairs among all pairs of verdicts is computed. The result is the mean of these shares. It is
    `Missing` if no row names its item, if no judgment was repeated, or if repeated rows may be
    copies.

    Args:
        judgments: the verdicts, one per order.
        win: 1, 0 or -1 for a win, tie or loss of `model_a`, NaN if unparsed, shape (judgments,).
        sample: the verdicts as a sample.
    """
    if not judgments.has_items:
        return Missing("no row names its item, which a repeat shares", "give a column item")
    is_readable = ~np.isnan(win)
    # Outcomes are turned to those of the model with the lower code, so that rows that name the
    # same two models in another order can be compared.
    a_is_low = np.less(*judgments.model_codes)
    key = _matchup_and_order_codes(judgments, a_is_low)
    _, code = np.unique(key[is_readable], return_inverse=True)
    outcome = np.where(a_is_low, win, -win)[is_readable]
    counts = np.stack([np.bincount(code, outcome == verdict) for verdict in (1, 0, -1)], axis=1)
    verdict_count = counts.sum(axis=1)
    is_repeated = verdict_count > 1
    if not is_repeated.any():
        repeats = option_text("repeats", "2", "argument")
        remedy = f"{repeats} in a tournament, or a column repeat"
        return Missing("no judgment was repeated", remedy)
    if _may_be_copies(judgments, is_readable, code, is_repeated):
        why = (
            "verdicts that occur twice may be copies: neither a repeat nor the reply shows that "
            "they are not"
        )
        return Missing(why, "number the repeats in a column repeat")
    # A row of each code, which says its cluster. Of several rows with a code, the last remains; all
    # have one item, and so one cluster.
    row_of_code = np.zeros(len(is_repeated), dtype=np.int64)
    row_of_code[code] = np.flatnonzero(is_readable)
    # Of n verdicts, n (n - 1) ordered pairs are compared; n_v (n_v - 1) of them have verdict v.
    agreeing = (counts * (counts - 1)).sum(axis=1)[is_repeated]
    compared = (verdict_count * (verdict_count - 1))[is_repeated]
    return sample.take(row_of_code[is_repeated]).share(agreeing / compared, "repeated judgments")


def _matchup_and_order_codes(judgments: Battles, a_is_low: np.ndarray) -> np.ndarray:
    """Return a number per row that stands for item, response number, models and order.

    A merged or unknown order counts as a third order.

    Args:
        judgments: the verdicts.
        a_is_low: whether `model_a` has the lower code, shape (rows,).
    """
    order = read_orders(judgments)
    a_first = order == "ab"
    b_first = order == "ba"
    low_first = (a_first & a_is_low) | (b_first & ~a_is_low)
    low_second = (a_first & ~a_is_low) | (b_first & a_is_low)
    order_code = np.select([low_first, low_second], [2, 1], default=0)
    rows = np.arange(len(judgments))
    return matchup_codes(judgments, rows) * 3 + order_code


def _may_be_copies(
    judgments: Battles, is_readable: np.ndarray, code: np.ndarray, has_several: np.ndarray
) -> bool:
    """Return whether verdicts on the same item, models and order may be copies of one row.

    The verdicts are repeats, and not copies, if any of them differ in the number of the repeat or
    in the text of the reply. Different credits also show it, unless a source file contains rows of
    another one.

    Args:
        judgments: the verdicts.
        is_readable: mask of the readable verdicts, shape (judgments,).
        code: number that stands for item, models and order of the readable verdicts, shape
            (readable,).
        has_several: whether a number has several verdicts, shape (numbers,).
    """
    columns = ["repeat", *REPLIES]
    if not judgments.copies:
        columns.append("credit")
    is_repeated = has_several[code]
    repeated_code = code[is_repeated]
    codes = len(distinct_values(repeated_code))
    for name in columns:
        if name not in judgments.rows.battle_columns:
            continue
        texts = judgments.rows.texts_of(name)[is_readable][is_repeated]
        # If the texts of one code differ, there are more pairs of code and text than codes.
        codes_with_text = set(zip(repeated_code.tolist(), texts.tolist(), strict=True))
        if len(codes_with_text) > codes:
            return False
    return True
