"""The third noun: a judge's calibration, fitted once on battles with human labels and kept in a file."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from podium.format_version import FORMAT_VERSION
from podium.text import Document, call

SMALLEST_SE = 1e-6
"""Elo points; an error this small is rounding: every battle says the same."""
MEAN = 1500.0
"""Elo at the mean of the models that another is rated against."""
FEWEST_OF_HUMANS = 20
"""Models that tell the judge's disagreement with humans from their own sampling errors."""


@dataclass(frozen=True, slots=True)
class Target:
    """The map from a judge's signal to the probability that humans prefer a: sigmoid(sum of weight times feature).

    Attributes:
        kind: where the features come from: `margin`, `smoothing`, `criteria` or `credit`.
        weights: logits per unit of each feature, by name.
        beta: the slope on the margin (of `smoothing`, on the sign of the verdict; of `criteria`, on their mean).
        low, high: interval of beta at `level`; None where beta was given, not fitted.
        level: of that interval.
        covariance: of the weights, in their order; None where they were given.
        battles: human preferences, ties left out, that it was fitted to; 0 where it was given.
        ridge: of `criteria`, towards their mean.
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
        return f"{self.kind}: " + ", ".join(f"{name} {weight:.4g}" for name, weight in self.weights.items())


@dataclass(frozen=True, slots=True)
class ScaleCorrection:
    """How many times as far apart human ratings are as the judge's.

    Attributes:
        mean, sd: of the factor; sd is None where models are too few to tell it, and the factor is then 1.
        low, high: 90% interval.
        n: models behind it.
        spread: what the judge and humans disagree by beyond both their sampling errors, standard deviation, Elo points.
        human_se: median standard error of human ratings, Elo points; None where there is none.
    """

    mean: float
    sd: float | None
    low: float | None
    high: float | None
    n: int
    spread: float = 0.0
    human_se: float | None = None

    @property
    def is_known(self) -> bool:
        """Whether models tell it; where they are too few, nothing is scale-corrected."""
        return self.sd is not None

    def variance(self, se: float, *, of_human: bool = False) -> float:
        """Return the variance of a scale-corrected rating less human ratings, squared Elo points.

        Args:
            se: standard error of the judge's rating, scale-corrected.
            of_human: of what humans would give with ever more votes, without the error of theirs.
        """
        return se**2 + self.spread**2 + (0.0 if of_human else (self.human_se or 0.0) ** 2)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """One model, rated alone against the others by humans and by the judge.

    Attributes:
        human_elo, hard_elo, soft_elo: 1500 at the mean of the others; None where they never met without it. The
            judge's are not scale-corrected.
        hard_se, soft_se, human_se: their standard errors.
        hard_scale_correction, soft_scale_correction: factor that the others tell; None where ratings are not
            scale-corrected.
        battles: with a soft target.
        weights: of the map fitted without this model, by feature.
        separated: ratings that the data do not bound (`human`, `hard`, `soft`); they are in no mean and no quantile.
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
        """Return what the judge's ratings of a kind are scale-corrected by, 1 for nothing.

        Args:
            kind: `hard` or `soft`.
        """
        factor = self.hard_scale_correction if kind == "hard" else self.soft_scale_correction
        return 1.0 if factor is None else factor

    def rating(self, kind: str) -> float | None:
        """Return the judge's rating, scale-corrected where ratings are."""
        judge = self.hard_elo if kind == "hard" else self.soft_elo
        factor = self.factor(kind)
        # So many times as far from the mean of those that it was rated against.
        return judge if judge is None or factor == 1 else MEAN + factor * (judge - MEAN)

    def residual(self, kind: str) -> float | None:
        """Return the judge's rating minus the human one; None where one is unknown or unbounded."""
        judge = self.rating(kind)
        if judge is None or self.human_elo is None or {kind, "human"} & set(self.separated):
            return None
        return judge - self.human_elo

    def se(self, kind: str) -> float | None:
        """Return the standard error of `rating`."""
        se = self.hard_se if kind == "hard" else self.soft_se
        return None if se is None else self.factor(kind) * se

    def error(self, kind: str, scale_correction: ScaleCorrection | None) -> float | None:
        """Return what the residual is measured in, Elo points; None where that is unknown, or next to nothing.

        Args:
            scale_correction: of all models: the error is the judge's, human ratings and the spread; None for the
                judge's alone.
        """
        se = self.se(kind)
        if se is None or se <= SMALLEST_SE or scale_correction is None:
            return se if (se or 0.0) > SMALLEST_SE else None
        return replace(scale_correction, human_se=self.human_se).variance(se) ** 0.5

    def score(self, kind: str, scale_correction: ScaleCorrection | None = None) -> float | None:
        """Return |residual| over `error`; None where one is unknown."""
        residual, error = self.residual(kind), self.error(kind, scale_correction)
        return None if residual is None or error is None else abs(residual) / error

    def without_scale_correction(self) -> "HeldOut":
        """Return the model with the judge's ratings as they were."""
        return replace(self, hard_scale_correction=None, soft_scale_correction=None)


@dataclass(frozen=True, slots=True)
class AnchorStrengths:
    """One model in the joint fits: what new models are placed against. Log-strengths, mean zero."""

    model: str
    human_theta: float
    hard_theta: float
    soft_theta: float


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How held-out judge ratings meet human ones; None where there are fewer than the figure needs.

    Attributes:
        n: models compared.
        mae: mean absolute difference, Elo points.
        spearman, kendall: rank correlations.
        log_loss: of human preferences in battles of a model that the map was fitted without, nats (a coin has
            0.693); None for `hard`, and where no map was fitted.
        mae_interval, spearman_interval, kendall_interval: over models, at `level`.
        plain_mae: that error before ratings were scale-corrected.
        slope: of human ratings on the judge's, near 1 where the scale is right.
        floor: error that an all-knowing judge would be left with, Elo points: humans' own ratings err, too.
    """

    n: int
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


@dataclass(frozen=True, slots=True)
class Conformal:
    """The conformal quantile, and what such intervals did over random half splits.

    Attributes:
        level: nominal coverage.
        n: models with a score.
        q: quantile of all n scores; None where they are too few: the interval is infinite.
        needed: models that the level needs.
        coverage, median_width: means over the half splits; None where a half is too small for the level.
        splits: how many were drawn.
        coverage_range, width_range: least and largest of the splits.
        median_se: median of what scores are divided by, Elo points; the median half-width is q times it.
        t: what stands in for q where models are too few: quantile of t times the root mean square score, which
            assumes normal disagreement; None where there is a q, or fewer than 3 scores, or ratings as they were.
        loo_coverage, loo_width: of the models, each left out of the scores, where a half is too small for the level
            and all but one suffice. That coverage is ceil(level n) / n unless scores are equal: only the median width,
            Elo points, is news.
    """

    level: float
    n: int
    q: float | None
    needed: int
    coverage: float | None
    median_width: float | None
    splits: int
    coverage_range: tuple[float, float] | None = None
    width_range: tuple[float, float] | None = None
    median_se: float | None = None
    t: float | None = None
    loo_coverage: float | None = None
    loo_width: float | None = None

    @property
    def reach(self) -> float | None:
        """The half-width of an interval in errors: `q`, else `t`; None where neither is known."""
        return self.t if self.q is None else self.q


@dataclass(frozen=True, slots=True)
class Stability:
    """Beta fitted to random subsets of the labelled battles.

    Attributes:
        battles: human preferences in a subset.
        mean, sd: of beta over the draws that had a finite maximum; sd as if each subset were drawn anew, not from the
            same labels (finite population correction).
        draws: how many those are.
        failed: how many had none.
    """

    battles: int
    mean: float | None
    sd: float | None
    draws: int
    failed: int


@dataclass(frozen=True, slots=True)
class Calibration(Document):
    """All that `podium calibrate` finds.

    Attributes:
        judge: whose; None where the battles do not say.
        target: the map from signal to preference, fitted on all labelled battles.
        regularization: lambda of the fits.
        se_method: `sandwich`, or `bootstrap:N`.
        se_cluster: what is independent within a model's battles: `item` or `row`.
        seed: of everything random.
        accuracy: by kind, `hard` and `soft`.
        models: held out one by one.
        anchors: joint fits.
        conformal: by kind.
        agreement: battle by battle, as JSON.
        stability: of beta.
        warnings: what a reader must know.
        provenance: sources, options, versions, date.
        scale_correction: by kind, where ratings are scale-corrected to human scale.
        answer: the finding in sentences.
        tells_nothing: whether the judge's soft ratings do not rise with human ratings, or may not.
    """

    view = "podium.report.calibration_view:calibration_reports"
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
    agreement: Mapping[str, Any]
    stability: tuple[Stability, ...] = ()
    warnings: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    scale_correction: Mapping[str, ScaleCorrection] = field(default_factory=dict)
    answer: tuple[str, ...] = ()
    tells_nothing: bool = False

    def __repr__(self) -> str:
        return f"Calibration({self.judge}, {self.target}, {len(self.models)} models)"

    def interval_of(self, held: HeldOut) -> tuple[float, float] | tuple[None, None]:
        """Return the ends of the conformal interval of a held-out soft rating; None where its error is not known."""
        rating, error = held.rating("soft"), held.error("soft", self.scale_correction.get("soft"))
        reach = self.conformal["soft"].reach
        if rating is None or error is None or reach is None:
            return None, None
        return rating - reach * error, rating + reach * error

    def plot(self) -> Any:
        """Return held-out ratings over human ratings, and whether the signal is a probability, an altair chart.

        Raises:
            UsageError: altair is not installed; the message says how.
        """
        return call("podium.pictures.charts:calibration_plot", self)

    @property
    def resamples(self) -> int:
        """Resamples of `se_method`, 0 for none."""
        return int(self.se_method.partition(":")[2] or 0)

    def score(self, held: HeldOut, kind: str) -> float | None:
        """Return a model's conformal score by what this calibration knows of a kind; None where it has none."""
        return held.score(kind, self.scale_correction.get(kind))

    def to_dict(self) -> dict[str, Any]:
        """Return the contract's calibration file."""
        betas = [self.fold_beta(model) for model in self.models if model.weights] if self.target.battles else []
        target = asdict(self.target)
        beta = {name: target[name] for name in ("low", "high", "level", "battles")}
        same = ("regularization", "se_method", "se_cluster", "seed")
        loo: dict[str, dict[str, Any]] = {kind: asdict(self.accuracy[kind]) for kind in ("hard", "soft")}
        loo["soft"] |= {
            "beta_mean": sum(betas) / len(betas) if betas else None,
            "beta_min": min(betas, default=None),
            "beta_max": max(betas, default=None),
        }
        return {
            "podium": FORMAT_VERSION,
            "answer": list(self.answer),
            "judge": self.judge,
            "beta": self.target.beta,
            **{f"beta_{name}": value for name, value in beta.items()},
            "target": {name: target[name] for name in ("kind", "weights", "covariance", "ridge")},
            **{name: getattr(self, name) for name in same},
            "scale_correction": {
                kind: asdict(scale_correction) for kind, scale_correction in self.scale_correction.items()
            },
            "tells_nothing": self.tells_nothing,
            "loo": loo,
            "models": [
                asdict(model) | {f"{kind}_residual": model.residual(kind) for kind in ("hard", "soft")}
                for model in self.models
            ],
            "anchors": [asdict(anchor) for anchor in self.anchors],
            "conformal": {
                kind: asdict(part) | {"needed_for_splits": 2 * part.needed} for kind, part in self.conformal.items()
            },
            "agreement": dict(self.agreement),
            "stability": [asdict(stability) for stability in self.stability],
            "warnings": list(self.warnings),
            "provenance": dict(self.provenance),
        }

    def fold_beta(self, model: HeldOut) -> float:
        """Return the slope fitted without a model."""
        weights = list(model.weights.values())
        return sum(weights) if self.target.kind == "criteria" else weights[0]
