"""How often the judge answers, decides, and repeats its verdict."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from podium.diagnosis.clustered import Clustered, cluster_battles
from podium.diagnosis.figures import CardAnswer, Figured, Missing
from podium.diagnosis.order_pairs import matchup_codes, orders_of
from podium.diagnosis.position import BOTH_ORDERS
from podium.diagnosis.subject import Subject
from podium.nouns.battles import REPLIES, Battles


@dataclass(frozen=True, slots=True)
class Consistency(CardAnswer):
    """Shares of unparsed replies, ties, and repeated verdicts.

    Attributes:
        unparsed: share of judgments without a readable verdict.
        ties: share of readable judgments.
        changing: share of pairs read in both orders whose verdict (win, tie, loss) changes.
        against_margin: share of decisive verdicts.
        retest: probability that the same judgment, judged twice, gets one verdict (win, tie, loss).
        retest_kappa: (agreement - chance) / (1 - chance), where chance draws the judge's share of ties, and else either
            winner alike.
        repeated: judgments judged more than once.
    """

    unparsed: Annotated[Figured, "unparsed"]
    ties: Annotated[Figured, "ties"]
    changing: Annotated[Figured, "verdict changes with the order"]
    against_margin: Annotated[Figured, "verdict against its own margin"]
    retest: Annotated[Figured, "same verdict when asked again"]
    retest_kappa: Annotated[Figured, "  beyond chance (kappa)"]
    repeated: int


def consistency(subject: Subject) -> Consistency:
    """Measure how often the judge answers, decides and agrees with itself.

    Source: Soft-Elo, appendix G (verdicts against the sign of their score difference); Xu et al. 2025, section 4.3
    (preferences that position switching leaves alone).
    """
    judgments, of = subject.judgments, "judgments"
    sample, read = cluster_battles(judgments, subject.level), judgments.readable
    win, margin = np.sign(judgments.numbers_of("credit") - 0.5), judgments.numbers_of("margin")
    against: Figured = Missing("verdicts against their margin", "the verdicts carry no margin", "give a column margin")
    if not np.isnan(margin).all():
        decisive, what = ~np.isnan(margin) & read & (win != 0), "decisive verdicts with a margin"
        against = sample.share(np.sign(margin) == -win, "verdicts", what, among=decisive)
    order_pairs = subject.order_pairs
    first, then = order_pairs.wins
    retest, kappa, repeated = _retest(judgments, win, sample)
    return Consistency(
        unparsed=sample.share(~read, of),
        ties=sample.share(win == 0, of, "readable verdicts", among=read),
        changing=order_pairs.rows.share(first != -then, "pairs", "pairs read in both orders", BOTH_ORDERS),
        against_margin=against,
        retest=retest,
        retest_kappa=kappa,
        repeated=repeated,
    )


def _retest(judgments: Battles, win: np.ndarray, sample: Clustered) -> tuple[Figured, Figured, int]:
    """Estimate the agreement of repeats, the same beyond chance, and count repeated judgments.

    Every repeated judgment counts once: by the share A of its pairs of repeats that agree. Chance is
    C = t^2 + (1 - t)^2 / 2 with a share t of ties, and kappa = (A - C) / (1 - C) has the interval of its influence
    function.
    """
    what, of = "repeats", "repeated judgments"
    if not judgments.has_items:
        missing = Missing(what, "no row says its item, so nobody knows what was asked twice", "give a column item")
        return missing, missing, 0
    # What was shown (item, pair, which response first), and verdicts turned to the model of lower code.
    table, read, order = judgments.table, ~np.isnan(win), orders_of(judgments)
    a_is_low = np.less(*judgments.model_codes)
    low_first = np.where(order == "ab", 1 + a_is_low, np.where(order == "ba", 2 - a_is_low, 0))
    key = matchup_codes(judgments, np.arange(len(table))) * 3 + low_first
    code, outcome = np.unique(key[read], return_inverse=True)[1], np.where(a_is_low, win, -win)[read]
    tally = np.stack([np.bincount(code, outcome == verdict) for verdict in (1, 0, -1)], axis=1)
    size = tally.sum(axis=1)
    again = size > 1
    if not again.any():
        missing = Missing(what, "no judgment was judged twice", "ask the judge again (a column repeat tells them)")
        return missing, missing, 0
    # What shows several replies: a repeat, another reply, or (where no file repeats another) another verdict.
    names = ["repeat", *REPLIES, *([] if judgments.copies else ["credit"])]
    rows = table.loc[read, [name for name in names if name in table]][again[code]]
    if not (rows.groupby(code[again[code]]).nunique(dropna=False) > 1).to_numpy().any():
        copies = "verdicts that stand there twice may be copies: no repeat and no other reply tells them from retests"
        missing = Missing(what, copies, "a column repeat tells which verdict is of which asking")
        return missing, missing, 0
    tally, size = tally[again], size[again]
    item = np.zeros(len(again), dtype=np.int64)
    item[code] = sample.code[read]
    repeats = replace(sample, code=item[again])
    agree, ties = (tally * (tally - 1)).sum(axis=1) / (size * (size - 1)), tally[:, 1] / size
    agreement = repeats.share(agree, of, what)
    a, t = float(agree.mean()), float(ties.mean())
    chance = t**2 + (1 - t) ** 2 / 2
    if chance == 1:
        always = Missing("kappa of repeats", "every repeated verdict is a tie", "repeat judgments with a winner")
        return agreement, always, len(agree)
    value = (a - chance) / (1 - chance)
    influence = ((agree - a) - (1 - value) * (3 * t - 1) * (ties - t)) / (1 - chance) / len(agree)
    return agreement, repeats.linear(value, influence, len(agree), of, within=(-1, 1)), len(agree)
