"""How a judge's ratings differ from people's, in words: their scale, and what verdicts alone would err."""

from collections.abc import Mapping, Sequence

import numpy as np

from podium.checks import CHECKS
from podium.nouns.calibration import Calibration, HeldOut, Stretch
from podium.rankers.intervals import mean_interval


def scale_doubts(held: Sequence[HeldOut], stretches: Mapping[str, Stretch], level: float) -> list[str]:
    """Say where the judge's scale is not people's, and where plain verdicts err less than the target.

    Args:
        stretches: by kind; a kind that is missing tells nothing of people's ratings.
        level: of the interval of the difference, in (0, 1).
    """
    warnings, soft = [], stretches.get("soft")
    if soft is None:
        warnings.append(
            "the judge's soft ratings tell nothing of people's: they do not rise with them, or may not; they are not "
            "stretched, and say no more of a new model than that it was judged. Take another judge or another target"
        )
    elif soft.low is None or soft.high is None:
        warnings.append(
            f"{soft.n} entrants are too few to tell how far apart people's ratings are beside the judge's: they are "
            "not stretched"
        )
    elif not soft.low <= 1 <= soft.high:
        warnings.append(f"{stretch_text(soft)}: quote no distance without a calibration (ratings here are stretched)")
    return [*warnings, *_better_verdicts(held, level)]


def stretch_text(stretch: Stretch) -> str:
    """Say how far apart people's ratings are beside the judge's."""
    ends = "" if stretch.low is None or stretch.high is None else f" ({stretch.low:.2f} … {stretch.high:.2f})"
    return f"people's ratings are {stretch.mean:.2f} times{ends} as far apart as the judge's"


def _better_verdicts(held: Sequence[HeldOut], level: float) -> list[str]:
    """Warn where hard labels err clearly less than the target, with the interval of the difference."""
    both = [entrant for entrant in held if None not in (entrant.residual("hard"), entrant.residual("soft"))]
    if len(both) < 2:
        return []
    soft, hard = (np.abs(np.array([held.residual(kind) for held in both], dtype=float)) for kind in ("soft", "hard"))
    surplus, low, high = mean_interval(soft - hard, level)
    check = CHECKS["verdicts beside the target"]
    if surplus <= check.threshold * hard.mean():
        return []
    between = "" if low is None or high is None else f"{low:+.1f} … {high:+.1f}, "
    known = "not told apart" if low is None or low <= 0 else "told apart"
    return [check.say(hard=hard.mean(), soft=soft.mean(), between=between, known=known)]


def answer_of(calibration: Calibration) -> tuple[str, ...]:
    """Say what the calibration found, in at most three sentences."""
    soft, stretch = calibration.accuracy["soft"], calibration.stretch.get("soft")
    if soft.mae is None:
        return ("Fewer than two models could be held out: what the judge errs on a new model is not known.",)
    named = "Stretched soft Elo" if stretch and stretch.sd is not None else "Soft Elo"
    within = half_width(calibration)
    reach = "" if within is None else f" ({100 * calibration.conformal['soft'].level:g}% within {within:.0f})"
    hard = calibration.accuracy["hard"].mae
    plain = "stretched verdicts" if "hard" in calibration.stretch else "plain verdicts"
    verdicts = "" if hard is None else f"; {plain} err {hard:.0f}"
    sentences = [f"{named} errs {soft.mae:.0f} Elo on a model that it has not seen{reach}{verdicts}."]
    if stretch and stretch.low is not None:
        sentences.append(f"{stretch_text(stretch)}.".capitalize())
    floor = soft.floor
    if floor is not None and stretch is not None and stretch.sd is not None:
        left = f"people's own sampling error alone leaves {floor:.0f} Elo"
        rest = (
            f"{left}: what is left is within it."
            if stretch.spread == 0
            else f"{left}; beyond both errors judge and people disagree by {stretch.spread:.0f}."
        )
        sentences.append(rest[0].upper() + rest[1:])
    return tuple(sentences)


def half_width(calibration: Calibration) -> float | None:
    """Return half the width of the usual interval for a new model, Elo points; None where it is unbounded."""
    conformal = calibration.conformal["soft"]
    quantile = conformal.t if conformal.q is None else conformal.q
    return None if quantile is None or conformal.median_se is None else quantile * conformal.median_se
