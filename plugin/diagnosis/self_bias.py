"""Does a judge favour the system that is the judge itself? JuStRank's test, and one that knows of items."""

import re
from dataclasses import dataclass

import numpy as np
from scipy import stats

from podium.diagnosis.answer import Figure, Missing, Row, Unit
from podium.diagnosis.judge_names import model_of
from podium.diagnosis.matched import Matched
from podium.diagnosis.subject import Subject

SELF_BIAS = "self-bias"


@dataclass(frozen=True, slots=True)
class SelfBias:
    """The corrected bias of a judge towards itself.

    Attributes:
        model: the system that is the judge.
        bias: mean over opponents of the judge's win rate less the gold one sent through the judge's Beta CDF.
        opponents: with a gold win rate against it.
        paired_p: JuStRank's one-sided paired t-test over opponents, Bonferroni; None for fewer than 2 opponents. It
            takes opponents for independent, although they are judged on the same items against the same responses.
        item_p: the same hypothesis by the item-clustered standard error, one-sided, Bonferroni.
        tests: judges tested together.
        favours_itself: whether `item_p` is at most 1 - level.
    """

    model: str
    bias: Figure
    opponents: int
    paired_p: float | None
    item_p: float | None
    tests: int
    favours_itself: bool

    def rows(self) -> tuple[Row, ...]:
        """Return the lines of the section."""
        p = "–" if self.item_p is None else f"{self.item_p:.2g}"
        paired = "–" if self.paired_p is None else f"{self.paired_p:.2g}"
        said = "favours itself" if self.favours_itself else "not shown to favour itself"
        told = f"{said}: p = {p} over items; {paired} by paired t over {self.opponents:,} opponents"
        return (
            Row(f"bias towards itself ({self.model})", self.bias),
            Row("  one-sided, " + (f"Bonferroni over {self.tests} judges" if self.tests > 1 else "one judge"), told),
        )


def self_bias(
    both: Matched,
    judge: np.ndarray,
    expected: np.ndarray,
    biases: tuple[np.ndarray, np.ndarray],
    model: str | None,
    tests: int,
    level: float,
) -> SelfBias | Missing:
    """Test the judge's bias towards its own model.

    Args:
        judge, expected: win rates of the pairs by the judge, and by the gold standard through its Beta CDF.
        biases: corrected, shape (systems,), and of resamples, shape (draws, systems).
        model: the judge's own; None where nobody says.
        tests: judges tested together.
        level: of the interval; the judge is accused at 1 - level.

    Source: Gera et al. 2025, section 6.2 and table 3.
    """
    own = own_system(both.entrants, model)
    if isinstance(own, Missing):
        return own
    k = both.entrants.index(own)
    against = np.where(both.low == k, 1, np.where(both.high == k, -1, 0))
    met = against != 0
    if not met.any():
        return Missing(SELF_BIAS, f"no gold win rate involves {own}", "give gold battles of it")
    pairs = [np.where(against < 0, 1 - one, one)[met] for one in (judge, expected)]
    opponents, items = int(met.sum()), len(both.judge.clusters)
    paired = float(stats.ttest_rel(*pairs, alternative="greater").pvalue) if _varies(*pairs) else None
    value, draws = float(biases[0][k]), biases[1][:, k]
    usable = draws[~np.isnan(draws)]
    se = float(usable.std(ddof=1)) if len(usable) > len(draws) / 2 else 0.0
    p = float(stats.t.sf(value / se, items - 1)) if se > 0 and items > 1 else None
    reach = float(stats.t.ppf((1 + level) / 2, max(items - 1, 1))) * se
    method = "item bootstrap standard error, t" if se > 0 else "too few items: no interval"
    low, high = (value - reach, value + reach) if se > 0 else (None, None)
    return SelfBias(
        model=own,
        bias=Figure(value, low, high, level, method, opponents, "opponents", items, Unit.SHARE),
        opponents=opponents,
        paired_p=None if paired is None else min(1.0, tests * paired),
        item_p=None if p is None else min(1.0, tests * p),
        tests=tests,
        favours_itself=p is not None and tests * p <= 1 - level,
    )


def tested_together(subject: Subject) -> int:
    """Return how many judges of the table compete themselves: so many self-bias tests share one error rate."""
    others = subject.others.judges if subject.others is not None else ()
    models = [model_of(name) for name in (subject.judge, *others)]
    return max(1, sum(isinstance(own_system(subject.battles.entrants, model), str) for model in models))


def own_system(entrants: tuple[str, ...], model: str | None) -> str | Missing:
    """Return the entrant that is the judge: same name, but for provider, case and punctuation.

    >>> own_system(("GPT-4o", "other"), "openai/gpt-4o")
    'GPT-4o'
    """
    if model is None:
        return Missing(SELF_BIAS, "no row names the judge", "say the judge's model in a column judge")
    found = [name for name in entrants if _bare(name) == _bare(model)]
    if not found:
        why = f"no entrant of the gold standard is called {model}"
        return Missing(SELF_BIAS, why, "let the judge's model compete, under the judge's name")
    return found[0]


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower().rpartition("/")[2])


def _varies(judge: np.ndarray, expected: np.ndarray) -> bool:
    return len(judge) > 1 and float(np.ptp(judge - expected)) > 1e-12
