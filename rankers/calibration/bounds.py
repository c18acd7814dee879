"""Conformal intervals of newcomers to a calibration, and whether that calibration fits the battles at hand."""

import math
from dataclasses import dataclass

import numpy as np

from podium.errors import NotIdentifiedError
from podium.nouns.battles import Battles
from podium.nouns.calibration import FEWEST_OF_HUMANS, Calibration, ScaleCorrection
from podium.rankers.calibration.conformal import quantile, quantile_by_t
from podium.rankers.calibration.signals import readable_margins
from podium.rankers.coded import require_choice
from podium.rankers.intervals import check_level

NO_CORRECTION = "ratings not scale-corrected"
MOST_DRIFT = 1.5
"""Factor by which the mean |margin| may differ from that of the calibration before a warning says so."""


@dataclass(frozen=True, slots=True)
class ConformalRule:
    """How intervals of newcomers are made: quantile `q` of the `used` scores, or `t` if that is infinite.

    They cover the human rating from about as many votes as the calibrated models had (`of` is `votes`), or from ever
    more votes (`human`). `t` is NaN without a scale correction.
    """

    level: float
    of: str
    scale_correction: ScaleCorrection | None
    q: float
    used: int
    t: float

    @property
    def best(self) -> float:
        """The conformal quantile, or that by t if the first is infinite and the second finite."""
        return self.t if math.isinf(self.q) and math.isfinite(self.t) else self.q

    @property
    def method(self) -> str:
        """Name of the interval's method."""
        return "conformal" if self.best == self.q else f"t (n = {self.used}): assumes normal disagreement"

    def error(self, se: float) -> float:
        """Return the error that the quantile multiplies, Elo points, for a scale-corrected rating with error `se`."""
        correction = self.scale_correction
        return se if correction is None else math.sqrt(correction.variance(se, of_human=self.of == "human"))


def build_conformal_rule(calibration: Calibration, level: float | None, of: str) -> ConformalRule:
    """Build the rule from the calibrated models' scores, at the calibration's level if none is given.

    Raises:
        NotIdentifiedError: `of=human`, and the spread cannot be separated from humans' own sampling errors.
    """
    require_choice("of", of, ("votes", "human"))
    level = calibration.conformal["soft"].level if level is None else level
    correction = calibration.scale_correction.get("soft")
    check_level(level)
    if of == "human" and not (correction and correction.spread > 0 and correction.n >= FEWEST_OF_HUMANS):
        known = f"{correction.n} calibrated models, spread {correction.spread:.0f} Elo" if correction else NO_CORRECTION
        raise NotIdentifiedError(
            f"of=human needs {FEWEST_OF_HUMANS} calibrated models and a disagreement beyond humans' own sampling "
            f"errors ({known}); of=votes, the default, covers the rating that about as many votes would give"
        )
    scored = [model.score("soft", correction) for model in calibration.models]
    scores = np.array([score for score in scored if score is not None], dtype=np.float64)
    t = quantile_by_t(scores, level) if correction else math.nan
    return ConformalRule(level, of, correction, quantile(scores, level), len(scores), t)


def prompt_hashes(battles: Battles) -> tuple[str, ...]:
    """Return the hashes of the judge's prompts, empty without a column `prompt_hash`."""
    return battles.values_of("prompt_hash") if "prompt_hash" in battles.table else ()


def mismatch_warnings(calibration: Calibration, battles: Battles) -> list[str]:
    """Warn if judge, prompt or size of the margins differ from those of the calibration."""
    known, here = set(calibration.provenance.get("prompts", [])), set(prompt_hashes(battles))
    before, size = calibration.agreement.mean_abs_margin or 0.0, np.abs(readable_margins(battles))
    now = before if not before or np.isnan(size).all() else float(np.nanmean(size))
    judge, others = calibration.judge, [name for name in battles.judges if name != calibration.judge]
    warnings = []
    if judge is None or not battles.judges:
        who = "the battles do" if judge else "the calibration does"
        who = f"{who} not say" if judge or battles.judges else "neither the calibration nor the battles say"
        warnings.append(f"{who} who judged: a calibration holds for its own judge")
    elif others:
        warnings.append(f"another judge: calibrated on {judge!r}, the battles are of {', '.join(map(repr, others))}")
    if known and here and not here <= known:
        warnings.append(
            f"another prompt: calibrated on {', '.join(sorted(known))}, the battles have {', '.join(sorted(here))}"
        )
    if before and max(now / before, before / max(now, 1e-300)) > MOST_DRIFT:
        warnings.append(
            f"margins of another size: mean |margin| is {now:.3g}, and was {before:.3g} when the judge was calibrated"
        )
    return warnings
