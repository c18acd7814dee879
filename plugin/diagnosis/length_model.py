"""What an extra response length is worth to a judge, strength held fixed."""

from dataclasses import dataclass

import numpy as np

from podium.rankers.coded import Coded
from podium.rankers.defaults import REGULARIZATION
from podium.rankers.length_control.joint import fit_with_length, slope_influence


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
    fit = fit_with_length(coded, z, REGULARIZATION, np.zeros(len(coded.entrants)))
    return LengthEffect(float(fit.coefficients[0]), slope_influence(fit))
