"""A judge's calibration: fitted once on battles with human labels, and kept in a file."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any

from podium.defaults import MEAN
from podium.documents import Document, chart_of_result
from podium.format_version import FORMAT_VERSION
from podium.notices.notice import Notice
from podium.notices.notice_text import notices_to_json
from podium.rankers.estimate import Estimate

SMALLEST_SE = 1e-6
"""Elo points; a smaller standard error is rounding: every battle says the same."""
FEWEST_OF_HUMANS = 20
"""Models that separate the judge's disagreement with humans from humans' own sampling errors."""


@dataclass(frozen=True, slots=True)
class Target:
    """The map of a judge's signal to human preference: sigmoid(sum of weight * feature); 0
    `battles` if beta is set."""

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
    """Factor from the judge's distances to human ones, 1 with too few models; `spread` and
    `human_se` in Elo points."""

    n: int
    sd: float | None = None
    spread: float = 0.0
    human_se: float | None = None

    @property
    def is_known(self) -> bool:
        """Whether there were enough models to estimate it."""
        return self.sd is not None

    def variance(self, se: float, *, of_human: bool = False) -> float:
        """Return the variance of a rating minus the human one, or that of ever more votes
        (`of_human`), Elo squared."""
        return se**2 + self.spread**2 + (0.0 if of_human else (self.human_se or 0.0) ** 2)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """One model, rated alone against the others by humans and by the judge, 1500 at the mean of the
    others.

    Ratings are None if the others never met without it, the judge's are before the scale
    correction. `separated` names those that the data do not bound (`human`, `hard`, `soft`); they
    are in no mean and no quantile.
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
        """Return the scale correction of a kind (`hard` or `soft`), 1 for none."""
        factor = self.hard_scale_correction if kind == "hard" else self.soft_scale_correction
        return 1.0 if factor is None else factor

    def rating(self, kind: str) -> float | None:
        """Return the judge's rating of a kind, scale-corrected: its distance from 1500 times the
        factor."""
        judge = self.hard_elo if kind == "hard" else self.soft_elo
        factor = self.factor(kind)
        return judge if judge is None or factor == 1 else MEAN + factor * (judge - MEAN)

    def residual(self, kind: str) -> float | None:
        """Return the judge's rating minus the human one; None if either is unknown or unbounded."""
        judge = self.rating(kind)
        if judge is None or self.human_elo is None or {kind, "human"} & set(self.separated):
            return None
        return judge - self.human_elo

    def se(self, kind: str) -> float | None:
        """Return the standard error of `rating`."""
        se = self.hard_se if kind == "hard" else self.soft_se
        return None if se is None else self.factor(kind) * se

    def error(self, kind: str, scale_correction: ScaleCorrection | None) -> float | None:
        """Return the root variance that divides the residual, in Elo points.

        Without a scale correction it is the standard error of the judge's rating. None if that is
        unknown, or zero up to rounding.
        """
        se = self.se(kind)
        if se is None or se <= SMALLEST_SE:
            return None
        if scale_correction is None:
            return se
        return replace(scale_correction, human_se=self.human_se).variance(se) ** 0.5

    def score(self, kind: str, scale_correction: ScaleCorrection | None = None) -> float | None:
        """Return the conformal score, |residual| over `error`; None if either is unknown."""
        residual = self.residual(kind)
        error = self.error(kind, scale_correction)
        if residual is None or error is None:
            return None
        return abs(residual) / error

    def without_scale_correction(self) -> "HeldOut":
        """Return the model with the judge's ratings as they were."""
        return replace(self, hard_scale_correction=None, soft_scale_correction=None)


@dataclass(frozen=True, slots=True)
class AnchorStrengths:
    """Log-strengths of one model in the joint fits, mean zero: what new models are placed
    against."""

    model: str
    human_theta: float
    hard_theta: float
    soft_theta: float


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How held-out judge ratings agree with human ones; None for a figure that needs more than the
    `n` models.

    `plain_mae` (Elo points) is before the scale correction, `log_loss` in nats, `slope` that of
    human ratings on the judge's, and `floor` the error left to a perfect judge by human sampling
    errors.
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
    """Return the fewest calibrated models that give a finite conformal interval."""
    exact = Fraction(repr(float(level)))
    return math.ceil(exact / (1 - exact))


@dataclass(frozen=True, slots=True)
class Conformal:
    """The conformal quantile `q` of `n` scores, and coverage and width (Elo points) of its
    intervals.

    With too few scores `q` is None, the interval infinite, and `t` stands in for q. `coverage` and
    `median_width` are means over random half splits, `loo_` figures those of each model by the
    quantile of all others.
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
        """Models that a finite quantile needs."""
        return models_needed(self.level)

    @property
    def reach(self) -> float | None:
        """Half-width of an interval in errors: `q`, else `t`; None if neither is known."""
        return self.t if self.q is None else self.q

    def to_dict(self) -> dict[str, Any]:
        """Return the part of the calibration file."""
        return asdict(self) | {
            "needed": self.least_models,
            "needed_for_splits": 2 * self.least_models,
        }


@dataclass(frozen=True, slots=True)
class BinSummary:
    """A bin of the reliability table: mean |margin| (None without margins), predicted and observed
    agreement."""

    battles: int
    mean_margin: float | None
    predicted: float
    agreement: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of the judge with humans, every battle counted once; None if there is nothing to
    count.

    `agreement` is the share of `decisive` battles (no tie on either side) with the same winner,
    `sign_conflicts` that of decisive verdicts whose margin points the other way, and `auc` the
    probability that |margin| is larger where humans agree. `ece` is over ten bins of equal mass.
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
    """Mean and SD of beta over `draws` random subsets of `battles` preferences; `failed` ones had
    no maximum."""

    battles: int
    mean: float | None
    sd: float | None
    draws: int
    failed: int


@dataclass(frozen=True, slots=True)
class Calibration(Document):
    """All that `podium calibrate` finds; `accuracy`, `conformal` and `scale_correction` are by
    kind, `hard` and `soft`.

    `models` are held out one by one, `anchors` are of the joint fits, `se_cluster` (`item` or
    `row`) is independent. `is_uninformative`: the judge's soft ratings do not rise with human
    ratings, or may not.
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
        return f"Calibration({self.judge}, {self.target}, {len(self.models)} models)"

    def interval_of(self, held: HeldOut) -> tuple[float, float] | tuple[None, None]:
        """Return the ends of the conformal interval of a held-out soft rating.

        None if the rating, its error or the conformal quantile is unknown.
        """
        rating = held.rating("soft")
        error = held.error("soft", self.scale_correction.get("soft"))
        reach = self.conformal["soft"].reach
        if rating is None or error is None or reach is None:
            return None, None
        return rating - reach * error, rating + reach * error

    def plot(self) -> Any:
        """Return an altair chart of held-out ratings over human ratings, and of reliability."""
        return chart_of_result(self)

    @property
    def resamples(self) -> int:
        """Resamples of `se_method`, 0 for the sandwich."""
        return int(self.se_method.partition(":")[2] or 0)

    def fold_betas(self) -> list[float]:
        """Return the beta of each fold, fitted without one model; empty if beta was given."""
        betas = []
        for model in self.models:
            if model.weights and self.target.battles:
                weights = list(model.weights.values())
                betas.append(sum(weights) if self.target.kind == "criteria" else weights[0])
        return betas

    def to_dict(self) -> dict[str, Any]:
        """Return the content of a calibration file, as in `docs/calibration.schema.json`."""
        betas = self.fold_betas()
        content = asdict(self)
        target = content["target"]
        held_out_accuracy = content["accuracy"]
        held_out_accuracy["soft"] |= {
            "beta_mean": sum(betas) / len(betas) if betas else None,
            "beta_min": min(betas, default=None),
            "beta_max": max(betas, default=None),
        }
        copied = (
            "regularization",
            "se_method",
            "se_cluster",
            "seed",
            "scale_correction",
            "is_uninformative",
        )
        parts = ("anchors", "agreement", "stability", "provenance")
        models = []
        for model in self.models:
            residuals = {f"{kind}_residual": model.residual(kind) for kind in ("hard", "soft")}
            models.append({**asdict(model), **residuals})
        return {
            "podium": FORMAT_VERSION,
            "answer": list(self.answer),
            "judge": self.judge,
            "beta": self.target.beta,
            **{f"beta_{name}": target[name] for name in ("low", "high", "level", "battles")},
            "target": {name: target[name] for name in ("kind", "weights", "covariance", "ridge")},
            **{name: content[name] for name in copied},
            "loo": held_out_accuracy,
            "models": models,
            "conformal": {kind: part.to_dict() for kind, part in self.conformal.items()},
            **{name: content[name] for name in parts},
            "warnings": notices_to_json(self.warnings),
        }
