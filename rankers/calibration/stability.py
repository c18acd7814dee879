"""How far beta depends on which labels there are: fits to random subsets of them."""

from contextlib import suppress

import numpy as np

from podium.errors import NotConvergedError, NotIdentifiedError
from podium.nouns.calibration import Stability
from podium.rankers.calibration.evidence import Evidence
from podium.rankers.calibration.signals import slope

SIZES = (25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12800)
DRAWS = 20


def stability_of(evidence: Evidence, rng: np.random.Generator) -> list[Stability]:
    """Fit beta to random subsets of the human preferences, of growing size."""
    rows, stability = np.flatnonzero(evidence.preference), []
    for size in (size for size in SIZES if size < len(rows)):
        betas = []
        for _ in range(DRAWS):
            keep = np.zeros(len(evidence.low), dtype=bool)
            keep[rng.choice(rows, size, replace=False)] = True
            with suppress(NotIdentifiedError, NotConvergedError):
                weights = evidence.weights(keep)
                betas.append(float(slope(evidence.signal.kind, weights) @ weights))
        mean = sd = None
        if len(betas) > 1:
            # Without replacement, large subsets share most battles: the finite population correction undoes it.
            mean, sd = float(np.mean(betas)), float(np.std(betas, ddof=1) / np.sqrt(1 - size / len(rows)))
        stability.append(Stability(size, mean, sd, len(betas), DRAWS - len(betas)))
    return stability
