"""The third noun: a judge's calibration, fitted once on battles with human labels and kept in a file."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from podium.text import FORMAT_VERSION, Document

SMALLEST_SE = 1e-6
"""Elo points; an error this small is rounding: every battle says the same."""


@dataclass(frozen=True, slots=True)
class Target:
    """The map from a judge's signal to the probability that people prefer a: sigmoid(sum of weight times feature).

    Attributes:
        kind: where the features come from: `margin`, `smoothing`, `criteria`, `length` or `credit`.
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
class HeldOut:
    """One entrant, rated alone against the others by people and by the judge.

    Attributes:
        human_elo, hard_elo, soft_elo: 1500 at the mean of the others; None where they never met without it.
        hard_se, soft_se: standard errors of the judge's ratings.
        battles: with a soft target.
        weights: of the map fitted without this entrant, by feature.
        separated: ratings that the data do not bound (`human`, `hard`, `soft`); they are in no mean and no quantile.
        about: what a table of entrants says of it: family, date and the like.
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
    about: Mapping[str, Any] = field(default_factory=dict)

    def residual(self, kind: str) -> float | None:
        """Return the judge's rating minus the human one; None where one is unknown or unbounded.

        Args:
            kind: `hard` or `soft`.
        """
        judge = self.hard_elo if kind == "hard" else self.soft_elo
        if judge is None or self.human_elo is None or {kind, "human"} & set(self.separated):
            return None
        return judge - self.human_elo

    def se(self, kind: str) -> float | None:
        """Return the standard error of the judge's rating, `hard` or `soft`."""
        return self.hard_se if kind == "hard" else self.soft_se

    def score(self, kind: str) -> float | None:
        """Return |residual| in standard errors; None where one is unknown."""
        residual, se = self.residual(kind), self.se(kind)
        return abs(residual) / se if residual is not None and se is not None and se > SMALLEST_SE else None


@dataclass(frozen=True, slots=True)
class AnchorStrengths:
    """One entrant in the joint fits: what new entrants are placed against. Log-strengths, mean zero."""

    model: str
    human_theta: float
    hard_theta: float
    soft_theta: float


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How held-out judge ratings meet human ones; None where there are fewer than the figure needs.

    Attributes:
        n: entrants compared.
        mae: mean absolute difference, Elo points.
        spearman, kendall: rank correlations.
        log_loss: of human preferences in battles of an entrant that the map was fitted without, nats (a coin has
            0.693); None for `hard`, and where no map was fitted.
        mae_interval, spearman_interval, kendall_interval: over entrants, at `level`.
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


@dataclass(frozen=True, slots=True)
class Conformal:
    """The conformal quantile, and what such intervals did over random half splits.

    Attributes:
        level: nominal coverage.
        n: entrants with a score.
        q: quantile of all n scores; None where they are too few: the interval is infinite.
        needed: entrants that the level needs.
        coverage, median_width: means over the half splits; None where a half is too small for the level.
        splits: how many were drawn.
        coverage_range, width_range: least and largest of the splits.
        median_se: median standard error, Elo points; the median half-width is q times it.
        loo_coverage, loo_width: of the entrants, each left out of the scores, where a half is too small for the level
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
    loo_coverage: float | None = None
    loo_width: float | None = None


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
        se_cluster: what is independent within an entrant's battles: `item` or `row`.
        seed: of everything random.
        accuracy: by kind, `hard` and `soft`.
        entrants: held out one by one.
        anchors: joint fits.
        conformal: by kind.
        agreement: battle by battle, as JSON.
        stability: of beta.
        warnings: what a reader must know.
        provenance: sources, options, versions, date.
    """

    judge: str | None
    target: Target
    regularization: float
    se_method: str
    se_cluster: str
    seed: int
    accuracy: Mapping[str, Accuracy]
    entrants: tuple[HeldOut, ...]
    anchors: tuple[AnchorStrengths, ...]
    conformal: Mapping[str, Conformal]
    agreement: Mapping[str, Any]
    stability: tuple[Stability, ...] = ()
    warnings: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Calibration({self.judge}, {self.target}, {len(self.entrants)} entrants)"

    @property
    def resamples(self) -> int:
        """Resamples of `se_method`, 0 for none."""
        return int(self.se_method.partition(":")[2] or 0)

    def to_dict(self) -> dict[str, Any]:
        """Return the contract's calibration file."""
        betas = [self.fold_beta(entrant) for entrant in self.entrants if entrant.weights] if self.target.battles else []
        target = asdict(self.target)
        loo: dict[str, dict[str, Any]] = {kind: asdict(self.accuracy[kind]) for kind in ("hard", "soft")}
        loo["soft"] |= {
            "beta_mean": sum(betas) / len(betas) if betas else None,
            "beta_min": min(betas, default=None),
            "beta_max": max(betas, default=None),
        }
        return {
            "podium": FORMAT_VERSION,
            "judge": self.judge,
            "beta": self.target.beta,
            "beta_low": self.target.low,
            "beta_high": self.target.high,
            "beta_level": self.target.level,
            "beta_battles": self.target.battles,
            "target": {name: target[name] for name in ("kind", "weights", "covariance", "ridge")},
            "regularization": self.regularization,
            "se_method": self.se_method,
            "se_cluster": self.se_cluster,
            "seed": self.seed,
            "loo": loo,
            "entrants": [
                asdict(entrant) | {f"{kind}_residual": entrant.residual(kind) for kind in ("hard", "soft")}
                for entrant in self.entrants
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

    def fold_beta(self, entrant: HeldOut) -> float:
        """Return the slope fitted without an entrant."""
        weights = list(entrant.weights.values())
        return sum(weights) if self.target.kind == "criteria" else weights[0]
