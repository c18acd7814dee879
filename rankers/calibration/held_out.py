"""Models held out one by one: rated by humans and by the judge, and scale-corrected by the others."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from podium.nouns.calibration import HeldOut, ScaleCorrection, Target
from podium.rankers.calibration.evidence import Evidence
from podium.rankers.calibration.leave_one_out import HeldOutScale, leave_one_out
from podium.rankers.calibration.placement import ErrorMethod
from podium.rankers.calibration.scale_correction import (
    FEWEST,
    estimate_scale_correction,
    estimate_spread,
    is_uninformative,
)
from podium.rankers.calibration.targets import order_weights
from podium.rankers.intervals import finite_or_none


def rate_held_out(
    evidence: Evidence, target: Target, weights: np.ndarray, regularization: float, method: ErrorMethod
) -> dict[str, HeldOutScale]:
    """Rate every model alone by human labels, hard labels and soft targets: `human`, `hard` and `soft`.

    The map is `target` in the joint fit, and has the `weights` of shape (models, features) in the folds.
    """
    pooled = evidence.soft(order_weights(target, evidence.signal))
    return {
        "human": leave_one_out(evidence, evidence.human, regularization, ErrorMethod(), "human"),
        "hard": leave_one_out(evidence, evidence.hard, regularization, method, "hard"),
        "soft": leave_one_out(evidence, pooled, regularization, method, "soft", lambda k: evidence.soft(weights[k])),
    }


def build_held_out(evidence: Evidence, scales: Mapping[str, HeldOutScale], weights: np.ndarray) -> tuple[HeldOut, ...]:
    """Build the record of each model from the results of `rate_held_out`, ratings not scale-corrected."""
    maps = [() if np.isnan(row).any() else zip(evidence.signal.names, row.tolist(), strict=True) for row in weights]
    return tuple(
        HeldOut(
            model=name,
            **{f"{kind}_elo": finite_or_none(scale.elo[k]) for kind, scale in scales.items()},
            **{f"{kind}_se": finite_or_none(scale.se[k]) for kind, scale in scales.items()},
            battles=int(scales["soft"].battles[k]),
            weights=dict(maps[k]),
            separated=tuple(kind for kind, scale in scales.items() if scale.separated[k]),
        )
        for k, name in enumerate(evidence.models)
    )


def correct_scales(
    held: Sequence[HeldOut], scales: Mapping[str, HeldOutScale]
) -> tuple[tuple[HeldOut, ...], dict[str, ScaleCorrection]]:
    """Correct the scale of each model by a factor of the others, and estimate the factor of all with its spread.

    A kind (`hard`, `soft`) whose ratings are uninformative stays as it is, and has no factor.
    """
    human, held, corrections = scales["human"], tuple(held), {}
    for kind in ("hard", "soft"):
        judge = scales[kind]
        pooled = estimate_scale_correction(judge.anchors, human.anchors)
        if len(held) <= FEWEST:
            # Without one of them, two are left, which give no factor: no residual would be a scale-corrected one's.
            pooled = ScaleCorrection(1.0, None, None, None, len(held))
        elif is_uninformative(judge.anchors, human.anchors, pooled):
            continue
        folds: list[dict[str, Any]] = [
            {f"{kind}_scale_correction": factor} for factor in judge.fold_corrections(human).tolist()
        ]
        held = tuple(
            replace(model, **own) if model.rating(kind) is not None else model
            for model, own in zip(held, folds, strict=True)
        )
        corrections[kind] = _add_spread(pooled, held, kind)
    return held, corrections


def _add_spread(correction: ScaleCorrection, held: Sequence[HeldOut], kind: str) -> ScaleCorrection:
    """Return the correction with the spread beyond both sampling errors and the median error of human ratings."""
    known = [model for model in held if None not in (model.residual(kind), model.error(kind, None))]
    residual = np.array([model.residual(kind) for model in known], dtype=np.float64)
    variance = np.array([model.error(kind, correction) for model in known], dtype=np.float64) ** 2
    human_se = [model.human_se for model in held if model.human_se is not None]
    median = float(np.median(human_se)) if human_se else None
    return replace(correction, spread=estimate_spread(residual, variance), human_se=median)
