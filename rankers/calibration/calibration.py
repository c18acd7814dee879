"""A judge's calibration: fitted once on battles with human labels, and kept in a file."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from podium.defaults import MEAN
from podium.documents import Document, chart_of_result
from podium.format_version import FORMAT_VERSION
from podium.notices.notice import Notice
from podium.notices.notice_text import notices_to_json
from podium.rankers.estimate import Estimate

SMALLEST_SE = 1e-6
"""A standard error below this, in Elo points, is rounding error and counts as unknown: the model
has the same result in all battles."""
FEWEST_OF_HUMANS = 20
"""With fewer models than this, intervals for `of=human` raise NotIdentifiedError: they need the
disagreement of judge and humans without the sampling errors of humans."""
SHOWN_JUDGE = "shown_judge"
"""Key of the judge's short name in the provenance of a calibration."""


@dataclass(frozen=True, slots=True)
class Target:
    """The map from a judge's signal to the probability of a human preference.

    The probability is sigmoid(sum of weight * feature).

    Attributes:
        kind: which signal is mapped: `margin`, `smoothing`, `criteria`, `credit` or `log-odds`
            (`read_signal` explains them).
        weights: weight of each feature of the signal, by name.
        beta: logits of human preference per unit of the signal.
        low: lower end of beta's interval, None if unknown.
        high: upper end of beta's interval, None if unknown.
        level: confidence level of beta's interval.
        covariance: covariance of the weights, in their order; None if they are taken as exact.
        battles: number of human preferences that the map is fitted to; 0 if beta was given.
        ridge: strength of the penalty that pulls the weights to their mean.
    """

    kind: str
    weights: Mapping[str, float]
    beta: float
    low: float | None = None
    high: float | None = None
    level: float | None = None
    covariance: tuple[tuple[float, ...], ...] | None = None
    battles: int = 0
    ridge: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind}: " + ", ".join(
            f"{name} {weight:.4g}" for name, weight in self.weights.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleCorrection(Estimate):
    """The factor from differences of the judge's ratings to differences of human ratings.

    `value`, `low` and `high` are the factor and its interval; it is 1 if there are too few models.

    Attributes:
        n: number of models that it is estimated from.
        sd: posterior standard deviation of the factor, None if there are too few models.
        spread: disagreement of judge and humans: the standard deviation of the differences between
            their ratings beyond both sampling errors, in Elo points.
        human_se: median standard error of human ratings, in Elo points; None if unknown.
    """

    n: int
    sd: float | None = None
    spread: float = 0.0
    human_se: float | None = None

    @property
    def is_known(self) -> bool:
        """Whether there were enough models to estimate the factor; else it is 1."""
        return self.sd is not None

    def variance(self, se: float, *, of_human: bool = False) -> float:
        """Return the variance of a judge's rating minus a human rating, in squared Elo points.

        It is the sum of the squares of the judge's standard error `se`, of `spread`, and of the
        human standard error `human_se` (0 if unknown). `human_se` is left out if `of_human` is
        True: the human rating then has no sampling error, as with infinitely many votes.
        """
        variance = se**2 + self.spread**2
        if of_human or self.human_se is None:
            return variance
        return variance + self.human_se**2


@dataclass(frozen=True, slots=True)
class HeldOut:
    """One held-out model, rated by humans and by the judge against the other models.

    The other models are rated without it, and have the mean 1500. All ratings and standard errors
    are in Elo points.

    Attributes:
        model: name of the model.
        human_elo: rating by human labels; None if the battles without the model do not connect the
            others.
        hard_elo: rating by the judge's hard verdicts, before the scale correction; None if
            unknown.
        soft_elo: rating by soft credits, before the scale correction; None if unknown.
        hard_se: standard error of `hard_elo`, None if unknown.
        soft_se: standard error of `soft_elo`, None if unknown.
        battles: number of battles with a soft credit against the others.
        weights: weights of the map fitted without the model, by feature; empty if there is none.
        separated: names of the ratings (`human`, `hard`, `soft`) that the battles do not bound.
            These ratings are left out of all means and quantiles.
        human_se: standard error of `human_elo`, None if unknown.
        hard_scale_correction: factor of hard ratings, estimated from the others; None if
            they are not corrected.
        soft_scale_correction: factor of soft ratings, estimated from the others; None if
            they are not corrected.
    """

    model: str
    human_elo: float | None
    hard_elo: float | None
    soft_elo: float | None
    hard_se: float | None
    soft_se: float | None
    battles: int
    weights: Mapping[str, float] = field(default_factory=dict)
    separated: tuple[str, ...] = ()
    human_se: float | None = None
    hard_scale_correction: float | None = None
    soft_scale_correction: float | None = None

    def factor(self, kind: str) -> float:
        """Return the scale correction of `hard` or `soft` ratings; 1 if there is none."""
        factor = self.hard_scale_correction if kind == "hard" else self.soft_scale_correction
        return 1.0 if factor is None else factor

    def rating(self, kind: str) -> float | None:
        """Return the judge's `hard` or `soft` rating, scale-corrected if there is a factor.

        The correction multiplies the difference of the rating from 1500 by the factor. The result
        is None if the rating is unknown.
        """
        judge = self.hard_elo if kind == "hard" else self.soft_elo
        factor = self.factor(kind)
        if judge is None or factor == 1:
            return judge
        return MEAN + factor * (judge - MEAN)

    def residual(self, kind: str) -> float | None:
        """Return the judge's `hard` or `soft` rating minus the human rating, in Elo points.

        The judge's rating is that of `rating`. The result is None if either rating is unknown or
        unbounded.
        """
        judge = self.rating(kind)
        is_unbounded = kind in self.separated or "human" in self.separated
        if judge is None or self.human_elo is None or is_unbounded:
            return None
        return judge - self.human_elo

    def se(self, kind: str) -> float | None:
        """Return the standard error of `rating(kind)`, in Elo points; None if unknown."""
        se = self.hard_se if kind == "hard" else self.soft_se
        return None if se is None else self.factor(kind) * se

    def error(self, kind: str, scale_correction: ScaleCorrection | None) -> float | None:
        """Return the error by which a conformal score divides `residual(kind)`, in Elo points.

        `kind` is that of the judge's rating, `hard` or `soft`. Without a scale correction, it is
        the standard error of this rating. With one, it is the root of `ScaleCorrection.variance`,
        in which the standard error of this model's human rating replaces the median of all models.
        The result is None if the standard error of the judge's rating is unknown, or zero up to
        rounding.
        """
        se = self.se(kind)
        if se is None or se <= SMALLEST_SE:
            return None
        if scale_correction is None:
            return se
        correction_of_model = replace(scale_correction, human_se=self.human_se)
        return correction_of_model.variance(se) ** 0.5

    def score(self, kind: str, scale_correction: ScaleCorrection | None = None) -> float | None:
        """Return the conformal score of the `hard` or `soft` rating, |residual| / error.

        `scale_correction` is that of all ratings of this kind; without it, the error is the
        standard error of the judge's rating. The result is None if residual or error is unknown.
        """
        residual = self.residual(kind)
        error = self.error(kind, scale_correction)
        if residual is None or error is None:
            return None
        return abs(residual) / error

    def without_scale_correction(self) -> "HeldOut":
        """Return the model with the judge's ratings before the scale correction."""
        return replace(self, hard_scale_correction=None, soft_scale_correction=None)


@dataclass(frozen=True, slots=True)
class AnchorStrengths:
    """Log-strengths of one calibrated model, against which new models are placed.

    Each is from a joint fit to the battles of all calibrated models, whose log-strengths have mean
    zero.

    Attributes:
        model: name of the model.
        human_theta: log-strength by human labels.
        hard_theta: log-strength by the judge's hard verdicts.
        soft_theta: log-strength by soft credits.
    """

    model: str
    human_theta: float
    hard_theta: float
    soft_theta: float


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How the judge's ratings of held-out models agree with human ratings.

    A figure is None if it cannot be computed from so few models. Intervals are pairs of ends.

    Attributes:
        mae: mean absolute error of the judge's ratings, in Elo points.
        spearman: Spearman's rank correlation with the human ratings.
        kendall: Kendall's rank correlation (tau-b) with the human ratings.
        log_loss: mean log loss of held-out human preferences, in nats.
        mae_interval: interval of `mae`.
        spearman_interval: interval of `spearman`.
        kendall_interval: interval of `kendall`.
        level: confidence level of the intervals.
        plain_mae: mean absolute error before the scale correction, in Elo points.
        slope: slope of the regression of human ratings on the judge's ratings.
        floor: mean absolute error that a perfect judge would have, because of the sampling errors
            of human ratings, in Elo points.
        n: number of models with both ratings.
    """

    mae: float | None
    spearman: float | None
    kendall: float | None
    log_loss: float | None = None
    mae_interval: tuple[float, float] | None = None
    spearman_interval: tuple[float, float] | None = None
    kendall_interval: tuple[float, float] | None = None
    level: float | None = None
    plain_mae: float | None = None
    slope: float | None = None
    floor: float | None = None
    n: int = 0


def models_needed(level: float) -> int:
    """Return the fewest calibrated models that give a finite conformal interval.

    It is the smallest n with level * (n + 1) <= n. Fractions avoid rounding errors.
    """
    # Imported here, because most rankings are not calibrated.
    from fractions import Fraction

    # The decimal digits of a level are meant: 0.9 is 9/10, and not the nearest binary number.
    exact_level = Fraction(repr(float(level)))
    return math.ceil(exact_level / (1 - exact_level))


@dataclass(frozen=True, slots=True)
class Conformal:
    """The conformal quantile of one kind of ratings, with coverage and width of its intervals.

    Attributes:
        level: confidence level, in (0, 1).
        n: number of models with a score.
        q: conformal quantile of the scores; None (infinite) if there are too few.
        coverage: share of the models of one half whose human rating is inside an interval with the
            quantile of the other half; mean over random half splits.
        median_width: median width of these intervals in Elo points, mean over half splits.
        splits: number of half splits.
        median_se: median error by which residuals are divided, in Elo points.
        t: quantile by t, which is used if `q` is None; None if it is not needed or unknown.
        loo_coverage: share of the models whose human rating is inside an interval with the
            quantile of all other models. It is given if there are too few models for half splits.
        loo_width: median width of these intervals, in Elo points.
    """

    level: float
    n: int
    q: float | None
    coverage: float | None
    median_width: float | None
    splits: int
    median_se: float | None = None
    t: float | None = None
    loo_coverage: float | None = None
    loo_width: float | None = None

    @property
    def least_models(self) -> int:
        """The fewest models with which the quantile `q` is finite at `level`."""
        return models_needed(self.level)

    @property
    def half_width_in_errors(self) -> float | None:
        """Half-width of an interval, in units of the model's error: `q`, or `t` if `q` is None."""
        return self.t if self.q is None else self.q

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes by name, as the calibration file has them.

        Two numbers of models are added: `needed` is the fewest models with which `q` is finite, and
        `needed_for_splits` the fewest with which the quantiles of both halves are finite.
        """
        return asdict(self) | {
            "needed": self.least_models,
            "needed_for_splits": 2 * self.least_models,
        }


@dataclass(frozen=True, slots=True)
class BinSummary:
    """A bin of the reliability table.

    Attributes:
        battles: number of battles in the bin.
        mean_margin: mean |margin|, None if there are no margins.
        predicted: mean predicted probability that humans prefer the model that the signal prefers.
        agreement: share of battles in which judge and humans prefer the same model.
    """

    battles: int
    mean_margin: float | None
    predicted: float
    agreement: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of a judge's verdicts with human labels; every battle counts once.

    A figure is None if there are no battles to compute it from.

    Attributes:
        kappa: Cohen's kappa of verdicts and labels.
        mean_abs_margin: mean |margin| of the battles with a verdict, with or without a human label.
        agreement: share of the decisive battles in which judge and humans prefer the same model.
        auc: probability that |margin| is larger in a battle of agreement than in one of
            disagreement.
        ece: expected calibration error over ten bins of equally many battles.
        bins: the bins.
        battles: number of battles with a verdict and a human label.
        decisive: number of these battles in which neither is a tie.
        sign_conflicts: share of the battles with a margin and a verdict that is no tie, labelled
            or not, in which the margin prefers the other model.
        auc_p: one-sided p-value of the hypothesis that `auc` is 0.5.
    """

    kappa: float | None
    mean_abs_margin: float | None
    agreement: float | None
    auc: float | None
    ece: float | None
    bins: tuple[BinSummary, ...]
    battles: int = 0
    decisive: int = 0
    sign_conflicts: float | None = None
    auc_p: float | None = None


@dataclass(frozen=True, slots=True)
class Stability:
    """How much beta varies over random subsets of the human preferences.

    Attributes:
        battles: number of preferences in each subset.
        mean: mean of beta, None if it was fitted to fewer than two subsets.
        sd: standard deviation of beta; None if `mean` is None.
        draws: number of subsets to which beta was fitted.
        failed: number of further subsets for which the fit had no maximum.
    """

    battles: int
    mean: float | None
    sd: float | None
    draws: int
    failed: int


@dataclass(frozen=True, slots=True)
class Calibration(Document):
    """All that `podium calibrate` finds about a judge.

    Mappings by kind have the keys `hard` and `soft`, for ratings by hard verdicts and by soft
    credits.

    Attributes:
        judge: name of the judge, None if the battles do not name it.
        target: the map from the judge's signal to human preferences.
        regularization: lambda of all ratings.
        se_method: method of the standard errors: `sandwich`, or `bootstrap:` and the number of
            resamples.
        se_cluster: what is independent in standard errors: a group of items, `item` or `row`.
        seed: seed of all random numbers.
        accuracy: accuracy of held-out ratings, by kind.
        models: the models, each held out once.
        anchors: log-strengths of the models in the fits to the battles of all models. New models
            are placed against them.
        conformal: conformal quantiles, by kind.
        agreement: agreement of verdicts with human labels.
        stability: variation of beta over random subsets of the labels.
        warnings: warnings about the battles and the calibration.
        provenance: sources, options, versions, date, prompts and numbers of labels.
        scale_correction: scale corrections, by kind; kinds without one are missing.
        answer: the finding, in sentences.
        is_uninformative: whether the judge's soft ratings do not clearly rise with human ratings.
    """

    judge: str | None
    target: Target
    regularization: float
    se_method: str
    se_cluster: str
    seed: int
    accuracy: Mapping[str, Accuracy]
    models: tuple[HeldOut, ...]
    anchors: tuple[AnchorStrengths, ...]
    conformal: Mapping[str, Conformal]
    agreement: Agreement
    stability: tuple[Stability, ...] = ()
    warnings: tuple[Notice, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    scale_correction: Mapping[str, ScaleCorrection] = field(default_factory=dict)
    answer: tuple[str, ...] = ()
    is_uninformative: bool = False

    def __repr__(self) -> str:
        return f"Calibration({self.shown_judge}, {self.target}, {len(self.models)} models)"

    @property
    def shown_judge(self) -> str | None:
        """The judge's short name for people, or the full name if there is no short one.

        It is None if the judge is not known.
        """
        judge_of_provenance: str | None = self.provenance.get(SHOWN_JUDGE)
        return judge_of_provenance or self.judge

    def interval_of(self, held_out: HeldOut) -> tuple[float, float] | tuple[None, None]:
        """Return the ends of the conformal interval of a held-out soft rating.

        Both ends are None if the rating, its error or the conformal quantile is unknown. If the
        quantile is infinite, the quantile by t replaces it.
        """
        rating = held_out.rating("soft")
        error = held_out.error("soft", self.scale_correction.get("soft"))
        half_width_in_errors = self.conformal["soft"].half_width_in_errors
        if rating is None or error is None or half_width_in_errors is None:
            return None, None
        half_width = half_width_in_errors * error
        return rating - half_width, rating + half_width

    def plot(self) -> Any:
        """Return an altair chart of held-out ratings against human ratings, and of reliability."""
        return chart_of_result(self)

    @property
    def resamples(self) -> int:
        """Number of resamples of the bootstrap, from `se_method`, as 200 from `bootstrap:200`.

        It is 0 for the sandwich.
        """
        return int(self.se_method.partition(":")[2] or 0)

    def fold_betas(self) -> list[float]:
        """Return beta of each map that was fitted without one of the models.

        Models without such a map are left out. The list is empty if the map was given.
        """
        betas = []
        for model in self.models:
            if model.weights and self.target.battles:
                weights = list(model.weights.values())
                # As in `beta_direction`.
                beta = sum(weights) if self.target.kind == "criteria" else weights[0]
                betas.append(beta)
        return betas

    def to_dict(self) -> dict[str, Any]:
        """Return the content of a calibration file, as in `docs/calibration.schema.json`.

        Beside the attributes, it has `hard_residual` and `soft_residual` of each model, and in
        `loo` (the accuracy) the mean, the least and the largest beta of `fold_betas`.
        """
        fold_betas = self.fold_betas()
        content = asdict(self)
        target = content["target"]
        held_out_accuracy = content["accuracy"]
        held_out_accuracy["soft"] |= {
            "beta_mean": sum(fold_betas) / len(fold_betas) if fold_betas else None,
            "beta_min": min(fold_betas, default=None),
            "beta_max": max(fold_betas, default=None),
        }
        settings = (
            "regularization",
            "se_method",
            "se_cluster",
            "seed",
            "scale_correction",
            "is_uninformative",
        )
        last_parts = ("anchors", "agreement", "stability", "provenance")
        models = []
        for model in self.models:
            residuals = {f"{kind}_residual": model.residual(kind) for kind in ("hard", "soft")}
            models.append({**asdict(model), **residuals})
        return {
            "podium": FORMAT_VERSION,
            "answer": list(self.answer),
            "judge": self.judge,
            "beta": self.target.beta,
            "beta_low": target["low"],
            "beta_high": target["high"],
            "beta_level": target["level"],
            "beta_battles": target["battles"],
            "target": {name: target[name] for name in ("kind", "weights", "covariance", "ridge")},
            **{name: content[name] for name in settings},
            "loo": held_out_accuracy,
            "models": models,
            "conformal": {kind: part.to_dict() for kind, part in self.conformal.items()},
            **{name: content[name] for name in last_parts},
            "warnings": notices_to_json(self.warnings),
        }
