"""Consistency of a judge: shares of unparsed replies, ties, and verdicts that are the same when repeated."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from podium.diagnosis.clustered import Clustered, cluster_battles
from podium.diagnosis.figures import CardAnswer, Figured, Missing
from podium.diagnosis.position import BOTH_ORDERS
from podium.diagnosis.subject import Subject, matchup_codes, read_orders
from podium.nouns.battles import REPLIES, Battles


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
    retest, kappa, repeated = _estimate_retest(judgments, win, sample)
    return Consistency(
        unparsed=sample.share(~read, of),
        ties=sample.share(win == 0, of, "readable verdicts", among=read),
        changing=order_pairs.rows.share(in_ab != -in_ba, "pairs", "pairs read in both orders", BOTH_ORDERS),
        against_margin=against,
        retest=retest,
        retest_kappa=kappa,
        repeated=repeated,
    )


def _estimate_retest(judgments: Battles, win: np.ndarray, sample: Clustered) -> tuple[Figured, Figured, int]:
    """Return the agreement of repeated verdicts, the same beyond chance (kappa), and the number of repeated ones."""
    repeats = _tally_repeats(judgments, win)
    if isinstance(repeats, Missing):
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
