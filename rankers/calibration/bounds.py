"""Whether a calibration fits the battles at hand, and whose conformal scores stand for a newcomer."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from podium.errors import NotIdentifiedError, UsageError
from podium.nouns.battles import Battles
from podium.nouns.calibration import FEWEST_OF_HUMANS, Calibration, HeldOut, ScaleCorrection
from podium.rankers.calibration.conformal import models_needed, quantile, t_quantile
from podium.rankers.calibration.signals import margins
from podium.rankers.coded import require_choice
from podium.rankers.intervals import check_level

MOST_DRIFT = 1.5
"""Factor by which the mean |margin| may differ from that of the calibration before a warning says so."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How the conformal quantile is taken.

    Attributes:
        strata: a column of the table of models: only scores of the newcomer's own stratum count.
        halflife: days after which a calibrated model counts half, by the column `date` of that table.
        level: nominal coverage; None for that of the calibration.
        of: the rating that an interval holds: `votes`, human ratings from about as many votes as the calibrated
            models had, or `human`, with ever more votes.
    """

    strata: str | None = None
    halflife: float | None = None
    level: float | None = None
    of: Literal["votes", "human"] = "votes"

    def level_of(self, calibration: Calibration) -> float:
        """Return the nominal coverage.

        Raises:
            UsageError: it is not between 0 and 1.
        """
        level = self.level if self.level is not None else calibration.conformal["soft"].level
        check_level(level)
        return level

    def reach(self, scale_correction: ScaleCorrection | None, se: float) -> float:
        """Return what a quantile multiplies, Elo points: the standard error, or the root of all that is unknown.

        Args:
            se: of the newcomer's rating, scale-corrected.
        """
        return se if scale_correction is None else math.sqrt(scale_correction.variance(se, of_human=self.of == "human"))

    def require_human(self, scale_correction: ScaleCorrection | None) -> None:
        """Refuse intervals of what ever more votes would give where votes' own errors hide it.

        Raises:
            UsageError: `of` is none of the two.
            NotIdentifiedError: no spread was found, or too few models tell it.
        """
        require_choice("of", self.of, get_args(Literal["votes", "human"]))
        if self.of == "votes" or (
            scale_correction and scale_correction.spread > 0 and scale_correction.n >= FEWEST_OF_HUMANS
        ):
            return
        known = (
            f"{scale_correction.n} calibrated models, spread {scale_correction.spread:.0f} Elo"
            if scale_correction
            else "ratings not scale-corrected"
        )
        raise NotIdentifiedError(
            f"of=human cannot be told: it needs {FEWEST_OF_HUMANS} calibrated models and a disagreement beyond "
            f"humans' own sampling errors ({known}); of=votes, the default, holds the rating that about as many votes "
            "would give"
        )

    def assumption(self, unit: str) -> str:
        """Say what the coverage of the intervals rests on."""
        who = "the calibrated models" if self.strata is None else f"the calibrated models of its own {self.strata}"
        text = f"holds if a new model is exchangeable with {who}"
        if self.halflife is not None:
            text += (
                f", weighted by date (half per {self.halflife:g} days); coverage falls short by at most their weighted "
                "distance from it in distribution"
            )
        return f"{text}; standard errors take {'items' if unit == 'item' else 'battles'} independent within a model"


@dataclass(frozen=True, slots=True)
class Quantile:
    """A conformal quantile q of scores (infinite where they are too few), the models used and needed, and what is
    used instead: a quantile by t, NaN where there is no need or no way."""

    q: float
    used: int
    needed: int
    t: float = math.nan

    @property
    def best(self) -> float:
        """The conformal quantile, or that by t where the first is infinite and the second known."""
        return self.t if math.isinf(self.q) and math.isfinite(self.t) else self.q

    @property
    def method(self) -> str:
        """What to call the interval."""
        return "conformal" if self.best == self.q else f"t (n = {self.used}): assumes normal disagreement"


def quantile_for(calibration: Calibration, bounds: Bounds, model: str, about: Mapping[str, Any]) -> Quantile:
    """Return the quantile for one newcomer.

    Args:
        about: what is known of it: its stratum, its date.

    Raises:
        UsageError: that is not known, or an option is impossible.
    """
    level = bounds.level_of(calibration)
    used = [model for model in calibration.models if calibration.score(model, "soft") is not None]
    if bounds.strata is not None:
        _require_column(used, bounds.strata)
        stratum = str(_attribute(about, bounds.strata, model))
        used = [model for model in used if str(model.about.get(bounds.strata)) == stratum]
    scores = np.array([calibration.score(model, "soft") for model in used], dtype=np.float64)
    if bounds.halflife is None:
        t = t_quantile(scores, level) if "soft" in calibration.scale_correction else math.nan
        return Quantile(quantile(scores, level), len(used), models_needed(level), t)
    _require_column(used, "date")
    date = _date(_attribute(about, "date", model), model)
    if not 0 < bounds.halflife < math.inf:
        raise UsageError(f"halflife={bounds.halflife:g} is not a number of days above 0")
    dates = [(model.about.get("date"), model.model) for model in used]
    # One without a date counts nothing.
    ages = [math.inf if text is None else abs((_date(text, name) - date).days) for text, name in dates]
    weights = 2.0 ** (-np.array(ages) / bounds.halflife)
    return Quantile(quantile(scores, level, weights), len(used), models_needed(level))


def _require_column(used: Sequence[HeldOut], column: str) -> None:
    if used and all(model.about.get(column) is None for model in used):
        raise UsageError(
            f"the calibration knows no {column} of its models: make it with a table of the columns model, {column} "
            "(`podium calibrate --models FILE`)"
        )


def _attribute(about: Mapping[str, Any], column: str, model: str) -> Any:
    if about.get(column) is None:
        raise UsageError(f"no {column} of {model}: give a table with the columns model, {column} (--models FILE)")
    return about[column]


def _date(text: Any, model: str) -> pd.Timestamp:
    try:
        date = pd.Timestamp(str(text))
        if date is pd.NaT:
            raise ValueError(text)
        return date.tz_localize(None)
    except ValueError:
        raise UsageError(f"the date {text!r} of {model} is none; write it as 2026-03-31") from None


def prompt_hashes(battles: Battles) -> tuple[str, ...]:
    """Return the hashes of the judge's prompts, where the battles have a column `prompt_hash`."""
    return battles.values_of("prompt_hash") if "prompt_hash" in battles.table else ()


def mismatches(calibration: Calibration, battles: Battles) -> list[str]:
    """Say where the battles were judged otherwise than those that the calibration was made of."""
    known, here = set(calibration.provenance.get("prompts", [])), set(prompt_hashes(battles))
    before, size = float(calibration.agreement.get("mean_abs_margin") or 0), np.abs(margins(battles))
    now = before if not before or np.isnan(size).all() else float(np.nanmean(size))
    judge, others = calibration.judge, [name for name in battles.judges if name != calibration.judge]
    doubts = []
    if judge is None or not battles.judges:
        who = "the battles do" if judge else "the calibration does"
        who = f"{who} not say" if judge or battles.judges else "neither the calibration nor the battles say"
        doubts.append(f"{who} who judged: a calibration holds for its own judge")
    elif others:
        doubts.append(f"another judge: calibrated on {judge!r}, the battles are of {', '.join(map(repr, others))}")
    if known and here and not here <= known:
        doubts.append(
            f"another prompt: calibrated on {', '.join(sorted(known))}, the battles have {', '.join(sorted(here))}"
        )
    if before and max(now / before, before / max(now, 1e-300)) > MOST_DRIFT:
        doubts.append(
            f"margins of another size: mean |margin| is {now:.3g}, and was {before:.3g} when the judge was calibrated"
        )
    return doubts
