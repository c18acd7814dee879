"""Conformal intervals of newcomers to a calibration, and whether that calibration fits the battles at hand."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from podium.errors import NotIdentifiedError
from podium.nouns.battles import Battles
from podium.nouns.calibration import FEWEST_OF_HUMANS, Calibration, ScaleCorrection, models_needed
from podium.rankers.calibration.conformal import quantile, quantile_by_t
from podium.rankers.calibration.signals import readable_margins
from podium.rankers.coded import require_choice
from podium.rankers.intervals import check_level

MOST_DRIFT = 1.5
"""Factor by which the mean |margin| may differ from that of the calibration before a warning says so."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Level of a newcomer's conformal interval (None for the calibration's), and the human rating that it covers.

    `votes` is that from about as many votes as the calibrated models had, `human` that from ever more votes.
    """

    level: float | None = None
    of: Literal["votes", "human"] = "votes"

    def level_of(self, calibration: Calibration) -> float:
        """Return the nominal coverage, in (0, 1)."""
        level = self.level if self.level is not None else calibration.conformal["soft"].level
        check_level(level)
        return level

    def reach(self, scale_correction: ScaleCorrection | None, se: float) -> float:
        """Return the error that the quantile multiplies, Elo points: `se` alone without a scale correction."""
        return se if scale_correction is None else math.sqrt(scale_correction.variance(se, of_human=self.of == "human"))

    def require_human(self, scale_correction: ScaleCorrection | None) -> None:
        """Reject `of=human` if the calibration does not separate the spread from humans' own sampling errors."""
        require_choice("of", self.of, get_args(Literal["votes", "human"]))
        known = "ratings not scale-corrected"
        if scale_correction:
            if scale_correction.spread > 0 and scale_correction.n >= FEWEST_OF_HUMANS:
                return
            known = f"{scale_correction.n} calibrated models, spread {scale_correction.spread:.0f} Elo"
        if self.of == "human":
            raise NotIdentifiedError(
                f"of=human cannot be told: it needs {FEWEST_OF_HUMANS} calibrated models and a disagreement beyond "
                f"humans' own sampling errors ({known}); of=votes, the default, holds the rating that about as many "
                "votes would give"
            )


@dataclass(frozen=True, slots=True)
class Quantile:
    """Quantile of the scores of the `used` calibrated models, infinite if fewer than `needed`.

    `t` is the quantile by t that then stands in, NaN without a scale correction.
    """

    q: float
    used: int
    needed: int
    t: float

    @property
    def best(self) -> float:
        """The conformal quantile, or that by t if the first is infinite and the second finite."""
        return self.t if math.isinf(self.q) and math.isfinite(self.t) else self.q

    @property
    def method(self) -> str:
        """Name of the interval's method."""
        return "conformal" if self.best == self.q else f"t (n = {self.used}): assumes normal disagreement"


def newcomer_quantile(calibration: Calibration, bounds: Bounds) -> Quantile:
    """Return the quantile of the calibrated models' scores at the level of the bounds."""
    level = bounds.level_of(calibration)
    known = [calibration.score(model, "soft") for model in calibration.models]
    scores = np.array([score for score in known if score is not None], dtype=np.float64)
    t = quantile_by_t(scores, level) if "soft" in calibration.scale_correction else math.nan
    return Quantile(quantile(scores, level), len(scores), models_needed(level), t)


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
