"""Sentences on how a judge's ratings differ from human ratings."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from podium.check_kinds import CHECKS
from podium.notices.notice import Notice
from podium.rankers.calibration.calibration import Calibration, HeldOut, ScaleCorrection
from podium.rankers.errors.intervals import mean_interval


def scale_warnings(
    held_out_models: Sequence[HeldOut],
    corrections: Mapping[str, ScaleCorrection],
    level: float,
    *,
    scale_corrected: bool,
) -> Iterator[Notice]:
    """Yield warnings about the judge's scale, and about soft ratings that err more than hard ones.

    At most one warning is about the scale: the soft ratings have no correction, or one without an
    interval, or one whose interval excludes 1. Errors are compared if two models or more have
    both residuals. They give a warning if the mean error of soft ratings exceeds that of hard ones
    by more than the threshold of the check; the difference need not be clear.

    Args:
        held_out_models: the models held out. Only models with both residuals are used to compare
            soft and hard ratings.
        corrections: scale corrections by kind of ratings, `hard` and `soft`. A kind is missing if
            its ratings do not clearly rise with human ratings.
        level: confidence level of the interval of the difference, in (0, 1).
        scale_corrected: whether the ratings of `held_out_models` are scale-corrected.
    """
    soft = corrections.get("soft")
    if soft is None:
        # The figures are those of this run; other callers read them from a calibration file.
        yield Notice("uninformative-judge", {"of_file": False})
    elif soft.low is None or soft.high is None:
        yield Notice("scale-unknown", {"models": soft.n})
    elif not soft.low <= 1 <= soft.high:
        code = "other-scale-corrected" if scale_corrected else "other-scale"
        yield Notice(code, {"factor": soft.value, "low": soft.low, "high": soft.high})
    hard_error, soft_error = _errors_of_both_kinds(held_out_models)
    if len(hard_error) < 2:
        return
    surplus, low, high = mean_interval(soft_error - hard_error, level)
    check = CHECKS["verdicts beside the target"]
    if surplus > check.threshold * hard_error.mean():
        interval = ""
        if low is not None and high is not None:
            interval = f"{low:+.1f} … {high:+.1f}"
        is_clear = low is not None and low > 0
        fields = {
            "plain": _verdicts_text(corrections if scale_corrected else {}),
            "hard": float(hard_error.mean()),
            "soft": float(soft_error.mean()),
            "interval": interval,
            "known": "a clear difference" if is_clear else "too close to call",
        }
        yield Notice(check.code, fields)


def _errors_of_both_kinds(held_out_models: Sequence[HeldOut]) -> tuple[np.ndarray, np.ndarray]:
    """Return the absolute errors of hard and of soft ratings, in Elo points.

    Both arrays have shape (n,), in the order of the n models that have both residuals.
    """
    hard_errors = []
    soft_errors = []
    for model in held_out_models:
        hard_residual = model.residual("hard")
        soft_residual = model.residual("soft")
        if hard_residual is not None and soft_residual is not None:
            hard_errors.append(abs(hard_residual))
            soft_errors.append(abs(soft_residual))
    return np.array(hard_errors, dtype=float), np.array(soft_errors, dtype=float)


def calibration_answer(calibration: Calibration) -> tuple[str, ...]:
    """Return the finding of a calibration in at most four sentences.

    The sentences say, each only if it is known: that the soft ratings carry no information (first),
    how far off soft and hard ratings of a new model are, by what factor soft ratings are corrected,
    and how much of the error is the sampling error of the humans. There is one sentence if fewer
    than two models could be held out.
    """
    soft = calibration.accuracy["soft"]
    correction = calibration.scale_correction.get("soft")
    if soft.mae is None:
        unknown = (
            "Fewer than two models could be held out: the judge's error on a new model is unknown."
        )
        return (unknown,)
    is_corrected = correction is not None and correction.is_known
    conformal = calibration.conformal["soft"]
    half_width_in_errors = conformal.half_width_in_errors
    se = conformal.median_se
    interval_text = ""
    if half_width_in_errors is not None and se is not None:
        interval_text = f" ({100 * conformal.level:g}% within {half_width_in_errors * se:.0f})"
    hard = calibration.accuracy["hard"].mae
    hard_text = ""
    if hard is not None:
        hard_text = f"; {_verdicts_text(calibration.scale_correction)} verdicts err {hard:.0f}"
    rating_name = "Scale-corrected soft Elo" if is_corrected else "Soft Elo"
    sentences = [
        f"{rating_name} errs {soft.mae:.0f} Elo on a model that it has not seen{interval_text}"
        f"{hard_text}."
    ]
    if calibration.is_uninformative:
        no_information = (
            "The soft ratings carry no information about human ratings: take another judge or "
            "another target."
        )
        sentences.insert(0, no_information)
    if correction and correction.low is not None:
        sentences.append(f"{_scale_text(correction)}.".capitalize())
    if soft.floor is not None:
        ending = "."
        if correction and is_corrected and correction.spread:
            ending = f"; beyond both errors judge and humans disagree by {correction.spread:.0f}."
        elif correction and is_corrected:
            ending = ": what is left is within it."
        sentences.append(f"Humans' own sampling error alone leaves {soft.floor:.0f} Elo{ending}")
    return tuple(sentences)


def _verdicts_text(corrections: Mapping[str, ScaleCorrection]) -> str:
    """Return the adjective for ratings by hard verdicts: `scale-corrected` or `plain`.

    `corrections` are the scale corrections of `hard` and `soft` ratings.
    """
    hard = corrections.get("hard")
    return "scale-corrected" if hard and hard.is_known else "plain"


def _scale_text(correction: ScaleCorrection) -> str:
    """Return the clause that compares differences of human ratings with the judge's.

    An example is `human ratings are 1.30 times (1.10 … 1.52) as far apart as the judge's`, without
    a full stop. Without an interval, the brackets are left out.
    """
    has_interval = correction.low is not None and correction.high is not None
    interval_text = f" ({correction.low:.2f} … {correction.high:.2f})" if has_interval else ""
    return (
        f"human ratings are {correction.value:.2f} times{interval_text} as far apart as the judge's"
    )
