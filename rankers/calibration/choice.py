"""Which target to take: the one that errs least, what the others err beyond it, and what choosing it costs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from podium.nouns.calibration import Calibration, HeldOut, ScaleCorrection
from podium.rankers.calibration.accuracy import Difference, difference_of
from podium.rankers.calibration.conformal import quantile
from podium.rankers.intervals import finite_or_none


@dataclass(frozen=True, slots=True)
class Contender:
    """Ratings that a calibration can give.

    Attributes:
        kind: `hard` or `soft`.
        held: models, held out one by one, scale-corrected or not.
        scale_correction: by which; None for ratings as they are.
    """

    calibration: Calibration
    kind: str
    held: tuple[HeldOut, ...]
    scale_correction: ScaleCorrection | None

    def errors(self) -> dict[str, float]:
        """Return the absolute error of each model that has a rating, Elo points."""
        residuals = {model.model: model.residual(self.kind) for model in self.held}
        return {name: abs(residual) for name, residual in residuals.items() if residual is not None}

    def scores(self) -> dict[str, float]:
        """Return the conformal score of each model that has one."""
        scores = {model.model: model.score(self.kind, self.scale_correction) for model in self.held}
        return {name: score for name, score in scores.items() if score is not None}


@dataclass(frozen=True, slots=True)
class Choice:
    """The best of several ratings.

    Attributes:
        best: errs least over the models that all rate.
        mae: its error there, Elo points; None where there are no such models.
        others: with what each errs and orders beyond the best; intervals hold for all together (Bonferroni).
        level: of those.
        nested_mae: error if the best is chosen anew without each model: what the choice is worth on a new one.
        nested_q: conformal quantile of the scores so chosen; None where it is infinite.
        n: models that all rate.
    """

    best: Contender
    mae: float | None
    others: tuple[tuple[Contender, Difference], ...]
    level: float
    nested_mae: float | None
    nested_q: float | None
    n: int


def choice_of(contenders: Sequence[Contender], level: float) -> Choice:
    """Choose the ratings that err least, and choose again without each model in turn.

    Args:
        contenders: at least one.
        level: of intervals and of the quantile, in (0, 1).
    """
    errors, scores = [each.errors() for each in contenders], [each.scores() for each in contenders]
    common = sorted(set.intersection(*({*known} for known in errors)))
    if not common:
        return Choice(contenders[0], None, (), level, None, None, 0)
    table = np.array([[known[name] for known in errors] for name in common])
    chosen = int(np.argmin(table.mean(axis=0)))
    best, others = contenders[chosen], [each for k, each in enumerate(contenders) if k != chosen]
    shared = 1 - (1 - level) / max(len(others), 1)
    beyond = tuple((each, difference_of(each.held, best.held, shared, each.kind, best.kind)) for each in others)
    # The choice without a model is that of the column with the least sum over the other rows.
    picks = np.argmin(table.sum(axis=0) - table, axis=1)
    picked = [scores[pick].get(name) for name, pick in zip(common, picks, strict=True)]
    known_scores = np.array([score for score in picked if score is not None], dtype=np.float64)
    return Choice(
        best=best,
        mae=float(table[:, chosen].mean()),
        others=beyond,
        level=level,
        nested_mae=float(table[np.arange(len(common)), picks].mean()) if len(common) > 1 else None,
        nested_q=finite_or_none(quantile(known_scores, level)),
        n=len(common),
    )
