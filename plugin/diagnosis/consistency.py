"""Does the judge answer, does it decide, and does it say the same twice?"""

from dataclasses import dataclass, replace

import numpy as np

from podium.battles import Battles
from podium.diagnosis.clustered import Clustered, column_of, sample_of
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Value
from podium.diagnosis.position import BOTH_ORDERS, meetings_of, order_twins, orders_of
from podium.diagnosis.subject import Subject


@dataclass(frozen=True, slots=True)
class Consistency(CardAnswer):
    """How often the judge fails to answer, to decide, or to agree with itself.

    Attributes:
        unread: share of presentations without a readable verdict.
        ties: share of readable presentations that are ties.
        changing: share of pairs read in both orders whose verdict (win, tie, loss) changes with the order.
        against_margin: share of decisive verdicts whose own margin points the other way.
        retest: probability that the same presentation, judged twice, gets one verdict (win, tie, loss).
        retest_kappa: the same beyond chance: (agreement - chance) / (1 - chance), where chance draws the judge's share
            of ties, and else either winner alike.
        repeated: presentations judged more than once.
    """

    unread: Figured
    ties: Figured
    changing: Figured
    against_margin: Figured
    retest: Figured
    retest_kappa: Figured
    repeated: int

    def lines(self) -> tuple[tuple[str, Value], ...]:
        """Return the lines of the section."""
        return (
            ("unread", self.unread),
            ("ties", self.ties),
            ("verdict changes with the order", self.changing),
            ("verdict against its own margin", self.against_margin),
            ("same verdict when asked again", self.retest),
            ("  beyond chance (kappa)", self.retest_kappa),
        )


def consistency(subject: Subject) -> Consistency:
    """Describe how a judge answers.

    Source: Soft-Elo, appendix G (verdicts against the sign of their score difference); Xu et al. 2025, section 4.3
    (preferences that position switching leaves alone).
    """
    presentations, of = subject.presentations, "presentations"
    sample, read = sample_of(presentations, subject.level), presentations.readable
    win, margin = np.sign(column_of(presentations, "credit") - 0.5), column_of(presentations, "margin")
    if np.isnan(margin).all():
        against: Figured = Missing(
            "verdicts against their margin", "the verdicts carry no margin", "give a column margin"
        )
    else:
        decisive = ~np.isnan(margin) & read & (win != 0)
        what = "decisive verdicts with a margin"
        against = sample.share(np.sign(margin) == -win, "verdicts", what, among=decisive)
    twins = order_twins(presentations, subject.level)
    first, then = twins.wins
    retest, kappa, repeated = _retest(presentations, win, sample)
    return Consistency(
        unread=sample.share(~read, of),
        ties=sample.share(win == 0, of, "readable verdicts", among=read),
        changing=twins.rows.share(first != -then, "pairs", "pairs read in both orders", BOTH_ORDERS),
        against_margin=against,
        retest=retest,
        retest_kappa=kappa,
        repeated=repeated,
    )


def _retest(presentations: Battles, win: np.ndarray, sample: Clustered) -> tuple[Figured, Figured, int]:
    """Return agreement of repeats, the same beyond chance, and how many presentations were repeated.

    Every repeated presentation counts once: by the share of its pairs of repeats that agree.
    """
    what = "repeats"
    if not presentations.has_items:
        missing = Missing(what, "no row says its item, so nobody knows what was asked twice", "give a column item")
        return missing, missing, 0
    code, outcome = _presentation_codes(presentations, win)
    tally = np.stack([np.bincount(code, outcome == verdict) for verdict in (1, 0, -1)], axis=1)
    size = tally.sum(axis=1)
    again = size > 1
    if not again.any():
        missing = Missing(what, "no presentation was judged twice", "ask the judge again (a column repeat tells them)")
        return missing, missing, 0
    tally, size = tally[again], size[again]
    item = np.zeros(len(again), dtype=np.int64)
    item[code] = sample.code[~np.isnan(win)]
    repeats = replace(sample, code=item[again])
    agree = (tally * (tally - 1)).sum(axis=1) / (size * (size - 1))
    agreement = repeats.share(agree, "repeated presentations", what)
    return agreement, _beyond_chance(agree, tally[:, 1] / size, repeats), len(agree)


def _presentation_codes(presentations: Battles, win: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Code what was shown (item, pair, which response first), and turn verdicts to the entrant of lower code.

    Returns:
        Codes from 0 and outcomes 1, 0, -1 of the readable rows.
    """
    table, read, order = presentations.table, ~np.isnan(win), orders_of(presentations)
    a, b = (table[side].cat.codes.to_numpy(dtype=np.int64) for side in ("model_a", "model_b"))
    low_first = np.where(order == "ab", 1 + (a < b), np.where(order == "ba", 1 + (b < a), 0))
    key = meetings_of(presentations, np.arange(len(table))) * 3 + low_first
    return np.unique(key[read], return_inverse=True)[1], np.where(a < b, win, -win)[read]


def _beyond_chance(agree: np.ndarray, ties: np.ndarray, sample: Clustered) -> Figured:
    """Return kappa = (A - C) / (1 - C), C = t^2 + (1 - t)^2 / 2, with the interval of its influence function."""
    a, t = float(agree.mean()), float(ties.mean())
    chance = t**2 + (1 - t) ** 2 / 2
    if chance == 1:
        return Missing("kappa of repeats", "every repeated verdict is a tie", "repeat presentations with a winner")
    value = (a - chance) / (1 - chance)
    slope = 3 * t - 1
    influence = ((agree - a) - (1 - value) * slope * (ties - t)) / (1 - chance) / len(agree)
    return sample.linear(value, influence, len(agree), "repeated presentations", within=(-1, 1))
