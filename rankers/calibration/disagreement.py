"""How a judge's ratings differ from human ratings, in words: their scale, and what verdicts alone would err."""

from collections.abc import Mapping, Sequence

import numpy as np

from podium.checks import CHECKS
from podium.nouns.calibration import Calibration, HeldOut, ScaleCorrection
from podium.rankers.intervals import mean_interval

NOTHING = (
    "the judge's soft ratings tell nothing of human ratings: they do not rise with them, or may not; they are not "
    "scale-corrected, and say no more of a new model than that it was judged. Take another judge or another target"
)


def scale_warnings(
    held: Sequence[HeldOut], scale_corrections: Mapping[str, ScaleCorrection], level: float, *, scale_corrected: bool
) -> list[str]:
    """Say where the judge's scale is not human ratings, and where verdicts err less than the target.

    Args:
        scale_corrections: by kind; a kind that is missing tells nothing of human ratings.
        level: of the interval of the difference, in (0, 1).
        scale_corrected: whether ratings are brought to human scale by them.
    """
    warnings, soft = [], scale_corrections.get("soft")
    if soft is None:
        warnings.append(NOTHING)
    elif soft.low is None or soft.high is None:
        warnings.append(
            f"{soft.n} models are too few to tell how far apart human ratings are beside the judge's: they are "
            "not scale-corrected"
        )
    elif not soft.low <= 1 <= soft.high:
        here = "scale-corrected" if scale_corrected else "not scale-corrected: --no-scale-correction"
        warnings.append(
            f"{scale_correction_text(soft)}: quote no distance without a calibration (ratings here are {here})"
        )
    both = [model for model in held if None not in (model.residual("hard"), model.residual("soft"))]
    if len(both) < 2:
        return warnings
    target, hard = (np.abs(np.array([own.residual(kind) for own in both], dtype=float)) for kind in ("soft", "hard"))
    surplus, low, high = mean_interval(target - hard, level)
    check = CHECKS["verdicts beside the target"]
    if surplus > check.threshold * hard.mean():
        between = "" if low is None or high is None else f"{low:+.1f} … {high:+.1f}, "
        known = "not told apart" if low is None or low <= 0 else "told apart"
        plain = plain_text(scale_corrections if scale_corrected else {})
        warnings.append(check.say(plain=plain, hard=hard.mean(), soft=target.mean(), between=between, known=known))
    return warnings


def plain_text(scale_corrections: Mapping[str, ScaleCorrection]) -> str:
    """Say whether ratings by verdicts are scale-corrected."""
    return "scale-corrected" if "hard" in scale_corrections and scale_corrections["hard"].is_known else "plain"


def scale_correction_text(scale_correction: ScaleCorrection) -> str:
    """Say how far apart human ratings are beside the judge's."""
    ends = (
        ""
        if scale_correction.low is None or scale_correction.high is None
        else f" ({scale_correction.low:.2f} … {scale_correction.high:.2f})"
    )
    return f"human ratings are {scale_correction.mean:.2f} times{ends} as far apart as the judge's"


def calibration_answer(calibration: Calibration) -> tuple[str, ...]:
    """Say what the calibration found, in at most three sentences."""
    soft, scale_correction = calibration.accuracy["soft"], calibration.scale_correction.get("soft")
    if soft.mae is None:
        return ("Fewer than two models could be held out: what the judge errs on a new model is not known.",)
    named = "Scale-corrected soft Elo" if scale_correction is not None and scale_correction.is_known else "Soft Elo"
    conformal = calibration.conformal["soft"]
    reach, se = conformal.reach, conformal.median_se
    within = "" if reach is None or se is None else f" ({100 * conformal.level:g}% within {reach * se:.0f})"
    hard = calibration.accuracy["hard"].mae
    verdicts = "" if hard is None else f"; {plain_text(calibration.scale_correction)} verdicts err {hard:.0f}"
    sentences = [f"{named} errs {soft.mae:.0f} Elo on a model that it has not seen{within}{verdicts}."]
    if scale_correction and scale_correction.low is not None:
        sentences.append(f"{scale_correction_text(scale_correction)}.".capitalize())
    if soft.floor is not None:
        left = f"Humans' own sampling error alone leaves {soft.floor:.0f} Elo"
        rest = "."
        if scale_correction is not None and scale_correction.is_known:
            beyond = f"; beyond both errors judge and humans disagree by {scale_correction.spread:.0f}."
            rest = beyond if scale_correction.spread else ": what is left is within it."
        sentences.append(f"{left}{rest}")
    if calibration.tells_nothing:
        sentences.insert(
            0, "The judge's soft ratings tell nothing of human ratings: take another judge or another target."
        )
    return tuple(sentences)
