"""Ratings by different targets, compared with those that err least."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from podium.nouns.calibration import Calibration, HeldOut
from podium.rankers.calibration.accuracy import Difference, compare_accuracy


@dataclass(frozen=True, slots=True)
class Contender:
    """Held-out ratings that a calibration can give.

    Attributes:
        kind: `hard` or `soft`.
        held: models, held out one by one, scale-corrected or not.
    """

    calibration: Calibration
    kind: str
    held: tuple[HeldOut, ...]
    is_scale_corrected: bool

    def errors(self) -> dict[str, float]:
        """Return the absolute error of each model with a rating, Elo points."""
        residuals = {model.model: model.residual(self.kind) for model in self.held}
        return {name: abs(residual) for name, residual in residuals.items() if residual is not None}


@dataclass(frozen=True, slots=True)
class Choice:
    """The ratings that err least, and how the others differ from them.

    Attributes:
        best: smallest mean error over the models that all rate.
        others: each with its differences from the best, whose intervals hold for all together (Bonferroni).
        level: of those intervals.
        n: models that all rate.
    """

    best: Contender
    others: tuple[tuple[Contender, Difference], ...]
    level: float
    n: int


def build_contenders(calibrations: Sequence[Calibration]) -> list[Contender]:
    """Return all ratings that calibrations of the same battles give: hard and soft, plain and scale-corrected."""
    contenders = []
    for kind, parts in (("hard", calibrations[:1]), ("soft", calibrations)):
        for calibration in parts:
            plain = tuple(model.without_scale_correction() for model in calibration.models)
            contenders.append(Contender(calibration, kind, plain, False))
            if kind in calibration.scale_correction:
                contenders.append(Contender(calibration, kind, calibration.models, True))
    return contenders


def select_best(contenders: Sequence[Contender], level: float) -> Choice:
    """Select the ratings with the smallest mean error, and compare the others with them.

    Args:
        contenders: at least one.
        level: of the intervals, in (0, 1).
    """
    errors = [each.errors() for each in contenders]
    common = sorted(set.intersection(*({*known} for known in errors)))
    if not common:
        return Choice(contenders[0], (), level, 0)
    means = [np.mean([known[name] for name in common]) for known in errors]
    best = contenders[int(np.argmin(means))]
    others = [each for each in contenders if each is not best]
    shared = 1 - (1 - level) / max(len(others), 1)
    beyond = tuple((each, compare_accuracy(each.held, best.held, shared, each.kind, best.kind)) for each in others)
    return Choice(best, beyond, level, len(common))
