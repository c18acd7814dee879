"""What an extra response length is worth to a judge, strength held fixed."""

from dataclasses import dataclass

import numpy as np

from podium.rankers.coded import Coded
from podium.rankers.length_control.fit import maximise, slope_influence

REGULARIZATION = 0.01


@dataclass(frozen=True, slots=True)
class LengthEffect:
    """The weight of a feature beside strengths.

    Attributes:
        weight: logits per unit of the feature.
        influence: of each battle on it, shape (battles,).
    """

    weight: float
    influence: np.ndarray


def length_effect(coded: Coded, z: np.ndarray) -> LengthEffect:
    """Fit Bradley-Terry with a term for length, e = theta_a - theta_b + g z.

    Args:
        coded: battles.
        z: log-length of a's response minus that of b's, shape (battles,).

    Raises:
        NotIdentifiedError: the lengths differ in no pair of responses, or always as strengths do.
        NotConvergedError: no maximum.
    """
    fit = maximise(coded, z, REGULARIZATION, np.zeros(len(coded.entrants)))
    return LengthEffect(fit.slope, slope_influence(coded, z, fit, REGULARIZATION))
