"""Split conformal prediction over models.

The score of a calibrated model is |judge's rating - human rating| / error. The interval of a new
model is its rating +- q times its error, where q is a quantile of the scores.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from podium.data.battles import Battles
from podium.distributions import expit, stdtrit
from podium.errors import NotIdentifiedError
from podium.notices.notice import Notice
from podium.rankers.calibration.calibration import (
    FEWEST_OF_HUMANS,
    Calibration,
    Conformal,
    HeldOut,
    ScaleCorrection,
    models_needed,
)
from podium.rankers.calibration.signals import readable_margins
from podium.rankers.errors.intervals import check_level, finite_or_none
from podium.rankers.fit.coded import require_choice
from podium.rankers.fit.scale import MEAN, POINTS
from podium.wording import quantity

FEWEST_FOR_T = 3
"""With fewer scores than this, there is no interval by t in place of an infinite conformal one."""


def measure_conformal(
    held_out_models: Sequence[HeldOut],
    kind: str,
    scale_correction: ScaleCorrection | None,
    level: float,
    splits: int,
    seed: int,
) -> Conformal:
    """Return the conformal quantile of one kind of ratings, and its coverage.

    Coverage and width are measured by half splits or, if there are too few models for these, by
    leaving out one score at a time. With even fewer models, both are None.

    Args:
        held_out_models: the models held out. Those without a conformal score are left out.
        kind: which of the judge's ratings, `hard` or `soft`.
        scale_correction: the scale correction of these ratings, if there is one.
        level: confidence level, in (0, 1).
        splits: number of half splits for the coverage.
        seed: seed of the half splits, which are the same for both kinds.
    """
    scored = [model for model in held_out_models if model.score(kind, scale_correction) is not None]
    residual = np.array([model.residual(kind) for model in scored], dtype=np.float64)
    error = np.array([model.error(kind, scale_correction) for model in scored], dtype=np.float64)
    q = finite_or_none(quantile(np.abs(residual) / error, level))
    t = None
    if q is None and scale_correction is not None:
        t = finite_or_none(quantile_by_t(residual / error, level))
    conformal = Conformal(
        level=level,
        n=len(scored),
        q=q,
        t=t,
        coverage=None,
        median_width=None,
        splits=splits,
        median_se=float(np.median(error)) if len(error) else None,
        loo_coverage=None,
        loo_width=None,
    )
    figures_by_halves = half_splits(residual, error, level, splits, np.random.default_rng(seed))
    if figures_by_halves:
        coverage, width = figures_by_halves
        return replace(conformal, coverage=float(coverage.mean()), median_width=float(width.mean()))
    figures_without_one = leave_one_score_out(residual, error, level)
    if figures_without_one:
        loo_coverage, loo_width = figures_without_one
        return replace(conformal, loo_coverage=loo_coverage, loo_width=loo_width)
    return conformal


def quantile(scores: np.ndarray, level: float) -> float:
    """Return the ceil(level * (n + 1))-th smallest of n scores (Soft-Elo, section 3.3).

    The result is infinite if n is smaller than this number.
    """
    number = len(scores)
    # Rounding may lift the product above a whole number; the last factor lowers it again.
    rank = math.ceil(level * (number + 1) * (1 - 1e-12))
    if rank > number:
        return math.inf
    ordered = np.sort(scores)
    return float(ordered[max(rank, 1) - 1])


def quantile_by_t(scores: np.ndarray, level: float) -> float:
    """Return t_{n - 1} sqrt(1 + 1 / n) times the root mean square of n scores.

    This is the half-width of a prediction interval if disagreement is normal, as in Higgins,
    Thompson and Spiegelhalter (2009), section 4.3. It is infinite for fewer than three scores.
    `scores` are signed: residuals divided by their errors. t is two-sided at the confidence level
    `level`, in (0, 1).
    """
    number = len(scores)
    if number < FEWEST_FOR_T:
        return math.inf
    t = stdtrit(number - 1, (1 + level) / 2)
    factor = t * math.sqrt(1 + 1 / number)
    return float(factor * np.sqrt(np.mean(scores**2)))


def half_splits(
    residual: np.ndarray, error: np.ndarray, level: float, splits: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return how intervals with the quantile of a random half of the models cover the other half.

    Args:
        residual: judge's rating minus human rating of each model, shape (models,).
        error: the errors by which residuals are divided, shape (models,).
        level: confidence level, in (0, 1).
        splits: number of random splits.
        rng: draws the splits.

    Returns:
        Coverage and median width in the covered half, shape (splits,) each; None if a half has too
        few models for a finite quantile, or if `splits` is below 1.

    Source: Soft-Elo, section 5.3.
    """
    number = len(residual)
    half = number // 2
    if half < models_needed(level) or splits < 1:
        return None
    coverage = np.empty(splits)
    width = np.empty(splits)
    # Models are sorted by their figures first, so that the halves do not depend on their names.
    by_figures = np.lexsort((error.round(6), np.abs(residual).round(6)))
    for k in range(splits):
        shuffled = by_figures[rng.permutation(number)]
        scored_half = shuffled[:half]
        covered_half = shuffled[half:]
        scores = np.abs(residual[scored_half]) / error[scored_half]
        half_width = quantile(scores, level) * error[covered_half]
        coverage[k] = np.mean(np.abs(residual[covered_half]) <= half_width)
        width[k] = np.median(2 * half_width)
    return coverage, width


def leave_one_score_out(
    residual: np.ndarray, error: np.ndarray, level: float
) -> tuple[float, float] | None:
    """Return coverage and median width (Elo points) of intervals that leave one score out.

    The interval of a model uses the quantile of the scores of all other models. The result is None
    if there are too few models for a finite quantile. `residual` is the judge's rating minus the
    human rating of each model, and `error` the error that divides it, shape (models,) each.
    """
    scores = np.abs(residual) / error
    if len(scores) - 1 < models_needed(level):
        return None
    quantiles = []
    for k in range(len(scores)):
        other_scores = np.delete(scores, k)
        quantiles.append(quantile(other_scores, level))
    q = np.array(quantiles)
    return float(np.mean(scores <= q)), float(np.median(2 * q * error))


NO_CORRECTION = "ratings not scale-corrected"
"""Words of an error for a calibration without a scale correction."""
MOST_DRIFT = 1.5
"""If the mean |margin| differs from the calibration's by more than this factor, a warning says
so."""


@dataclass(frozen=True, slots=True)
class ConformalRule:
    """How conformal intervals of new models are made.

    Attributes:
        level: confidence level, in (0, 1).
        of: the human rating that an interval covers: the rating by about as many votes as the
            calibrated models had (`votes`), or the rating by infinitely many votes (`human`).
        scale_correction: the correction of the judge's scale, if there is one.
        q: conformal quantile of the scores, infinite if there are too few scores.
        scores: number of scores.
        t: quantile by t, which replaces an infinite `q`; NaN if there is no scale correction.
        human_theta: log-strengths of the calibrated models by human labels, shape (models,).
    """

    level: float
    of: str
    scale_correction: ScaleCorrection | None
    q: float
    scores: int
    t: float
    human_theta: np.ndarray

    @property
    def quantile_used(self) -> float:
        """The quantile to use: `q`, or `t` if `q` is infinite and `t` is finite."""
        uses_t = math.isinf(self.q) and math.isfinite(self.t)
        return self.t if uses_t else self.q

    @property
    def method(self) -> str:
        """Name of the interval's method, such as `t (n = 12): assumes normal disagreement`.

        It is `conformal` if `q` is used, also if `q` is infinite.
        """
        if self.quantile_used == self.q:
            return "conformal"
        return f"t (n = {self.scores}): assumes normal disagreement"

    def error(self, se: float) -> float:
        """Return the error of a new model, by which the quantile is multiplied, in Elo points.

        `se` is the standard error of the rating, scale-corrected if there is a correction.
        """
        correction = self.scale_correction
        if correction is None:
            return se
        return math.sqrt(correction.variance(se, of_human=(self.of == "human")))

    def error_outside(self, se: float, elo: float, end: float) -> float:
        """Return the error of a new model that is rated above, or below, all calibrated models.

        The result equals `error` at the end of the calibrated models' range, and grows beyond the
        end: votes say less about a model that wins, or loses, almost all battles. From the end on,
        the variance of the rating by humans grows as the variance of a vote falls. Without this,
        95% bounds covered 88% of 200 models that were 1.2 logits above all others; `python
        benchmarks/claims.py extrapolation` prints what they cover. If the human standard error is
        unknown, or `of` is `human`, the result equals `error` everywhere.

        Args:
            se: standard error of the rating, scale-corrected if there is a correction.
            elo: the rating, scale-corrected, in Elo points.
            end: the scale-corrected rating, in Elo points, of the calibrated model whose rating is
                nearest to `elo`.
        """
        correction = self.scale_correction
        if correction is None or correction.human_se is None or self.of == "human":
            return self.error(se)
        if elo == end:
            return self.error(se)
        variance, nearest = self._variance_of_vote((np.array([elo, end]) - MEAN) / POINTS)
        with np.errstate(divide="ignore", over="ignore"):
            added = correction.human_se**2 * max(nearest / variance - 1, 0)
        return math.sqrt(self.error(se) ** 2 + added)

    def _variance_of_vote(self, theta: np.ndarray) -> np.ndarray:
        """Return the variance p (1 - p) of a human vote for each log-strength, shape (n,).

        p is the probability that a model of this log-strength, `theta`, shape (n,), is preferred to
        a calibrated model. The variance is the mean over the calibrated models as opponents.
        """
        gap = theta[:, None] - self.human_theta
        return (expit(gap) * expit(-gap)).mean(axis=1)


def build_conformal_rule(calibration: Calibration, level: float | None, of: str) -> ConformalRule:
    """Build the rule of conformal intervals from the scores of the calibrated models.

    Args:
        calibration: the calibration.
        level: confidence level, in (0, 1); by default that of the calibration.
        of: `votes` or `human`, as of `ConformalRule`.

    Raises:
        NotIdentifiedError: `of` is `human`, and there is no scale correction, no disagreement, or
            there are too few models.
        UsageError: an unknown `of`, or a level that is not in (0, 1).
    """
    require_choice("of", of, ("votes", "human"))
    level = calibration.conformal["soft"].level if level is None else level
    correction = calibration.scale_correction.get("soft")
    check_level(level)
    if of == "human":
        _check_disagreement(correction)
    scored = [model.score("soft", correction) for model in calibration.models]
    scores = np.array([score for score in scored if score is not None], dtype=np.float64)
    t = quantile_by_t(scores, level) if correction else math.nan
    human_theta = np.array([anchor.human_theta for anchor in calibration.anchors])
    q = quantile(scores, level)
    return ConformalRule(
        level=level,
        of=of,
        scale_correction=correction,
        q=q,
        scores=len(scores),
        t=t,
        human_theta=human_theta,
    )


def _check_disagreement(correction: ScaleCorrection | None) -> None:
    """Raise NotIdentifiedError unless the disagreement of judge and humans is known.

    It is known if there is a correction with a spread above 0, which is estimated from at least
    `FEWEST_OF_HUMANS` models.
    """
    if correction and correction.spread > 0 and correction.n >= FEWEST_OF_HUMANS:
        return
    what_is_known = NO_CORRECTION
    if correction:
        what_is_known = (
            f"{quantity(correction.n, 'calibrated model')}, spread {correction.spread:.0f} Elo"
        )
    raise NotIdentifiedError(
        f"of=human needs {FEWEST_OF_HUMANS} calibrated models and a disagreement beyond "
        f"humans' own sampling errors ({what_is_known}); of=votes, the default, covers the rating "
        "that about as many votes would give"
    )


def prompt_hashes(battles: Battles) -> tuple[str, ...]:
    """Return the distinct hashes of the judge's prompts; empty without a column `prompt_hash`."""
    return battles.values_of("prompt_hash") if "prompt_hash" in battles.table else ()


def mismatch_warnings(calibration: Calibration, battles: Battles) -> Iterator[Notice]:
    """Yield warnings if judge, prompt or size of the margins differ from the calibration's.

    There is another warning if the calibration or the battles do not name the judge. Prompts are
    compared if calibration and battles have some, and so are margins. The size of margins differs
    if the mean |margin| has changed by more than the factor `MOST_DRIFT`.
    """
    calibrated_prompts = set(calibration.provenance.get("prompts", []))
    prompts = set(prompt_hashes(battles))
    margin_before = calibration.agreement.mean_abs_margin or 0.0
    abs_margin = np.abs(readable_margins(battles))
    margin_now = margin_before
    if margin_before and not np.isnan(abs_margin).all():
        margin_now = float(np.nanmean(abs_margin))
    judge = calibration.judge
    others = [short for name, short in battles.short_judges.items() if name != judge]
    if judge is None or not battles.judges:
        nameless_source = "the battles" if judge else "the calibration"
        yield Notice("judge-not-said", {"source": nameless_source})
    elif others:
        calibrated_judge = calibration.shown_judge
        if calibrated_judge in others:
            # The two differ in what short names leave out, such as the prompt.
            calibrated_judge = judge
            others = [name for name in battles.short_judges if name != judge]
        yield Notice("other-judge", {"calibrated": calibrated_judge, "judges": others})
    if calibrated_prompts and prompts and not prompts.issubset(calibrated_prompts):
        fields = {"calibrated": sorted(calibrated_prompts), "prompts": sorted(prompts)}
        yield Notice("other-prompt", fields)
    if margin_before:
        rise = margin_now / margin_before
        fall = margin_before / max(margin_now, 1e-300)
        if max(rise, fall) > MOST_DRIFT:
            yield Notice("other-margins", {"now": margin_now, "before": margin_before})
