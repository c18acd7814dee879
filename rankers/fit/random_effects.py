"""Structured Bradley-Terry: strengths predicted by a judge, with a random deviation of each model.

    P(humans prefer i over j) = s(theta_i - theta_j),   theta_i = kappa * phi_i + u_i,   u_i ~ N(0,
    tau^2)

phi are a judge's log-strengths, kappa ~ N(1, 1), tau ~ half-Cauchy. For each tau of a grid, (u,
kappa) is approximated by a normal at its mode; the grid is weighted by Laplace's approximation of
the evidence. Models that the judge may misjudge are found by a test of each against the fit without
it.

Source: Turner and Firth 2012, J. Stat. Software 48(9), section 3 (the model); Fay and Herriot 1979
(few labels and a predictor); Gelman 2006 (half-Cauchy).
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import ndtr, ndtri, softmax

from podium.checks import CHECKS
from podium.rankers.fit.coded import CodedBattles, surplus_by_cluster
from podium.rankers.fit.newton import DesignMatrix, Likelihood, maximize
from podium.rankers.fit.pairs import Pairs, pair_sums
from podium.rankers.fit.scale import POINTS

SPREAD_PRIOR = 0.35
"""Logits (61 Elo): prior median of the disagreement between a judge and humans."""
SPREADS = np.geomspace(1.5, 0.01, 15)
"""Values of tau in logits, decreasing: each fit starts at the previous mode."""
WIDE = 1.5
"""Logits (261 Elo): spread of the deviation of a model whose rating rests on its own labels and not
on the judge."""
LEAST_DISPERSION = 0.3
FALSE_FLAGS = CHECKS["misjudged models"].threshold


@dataclass(frozen=True, slots=True)
class RandomEffects:
    """Posterior given labels and a predictor: `theta` (mean zero), `kappa` and `tau` (mean, 5%, 95%
    quantile), `pull` (weight of the labels, 0 to 1), `dispersion` (variance of labels over the
    binomial variance), and by model, from the fit without it, `own` and `own_se` (theta by its own
    labels) and `p_value` (it deviates no more than others)."""

    theta: np.ndarray
    covariance: np.ndarray
    kappa: tuple[float, float, float]
    tau: tuple[float, float, float]
    pull: np.ndarray
    dispersion: float
    own: np.ndarray
    own_se: np.ndarray
    p_value: np.ndarray

    def summary(self) -> dict[str, Any]:
        """Return kappa, tau in Elo points and the dispersion, as diagnostics."""
        values = {"kappa": self.kappa, "spread": [float(POINTS * tau) for tau in self.tau]}
        by_end = {
            name: dict(zip(("mean", "low", "high"), ends, strict=True))
            for name, ends in values.items()
        }
        return {**by_end, "dispersion": self.dispersion}


class _Modes(NamedTuple):
    """Modes of (u, kappa - 1) for each tau of a grid, with their covariances and log evidences;
    `spread` is the prior spread of u, shape (taus, models)."""

    grid: np.ndarray
    spread: np.ndarray
    at: np.ndarray
    joint: np.ndarray
    evidence: np.ndarray


def fit_random_effects(
    labels: CodedBattles,
    phi: np.ndarray,
    spread_prior: float = SPREAD_PRIOR,
    dispersion: float | None = None,
    spreads: np.ndarray = SPREADS,
    misjudged: np.ndarray | None = None,
) -> RandomEffects:
    """Return the posterior given labels weighted by votes and predictions `phi`; the dispersion is
    by default estimated from a first fit; tau (`spreads`, decreasing) and its prior are in logits.
    The deviation of `misjudged` models (a mask) has the spread `WIDE`: they rest on their labels,
    and kappa, tau and the others on the judge without them."""
    phi, pairs = phi - phi.mean(), pair_sums(labels)
    is_wide = np.zeros(len(phi), dtype=bool) if misjudged is None else misjudged

    def average(grid: np.ndarray, dispersion: float) -> RandomEffects:
        spread = np.where(is_wide, WIDE, grid[:, None])
        return _average(
            _find_modes(pairs, phi, grid, spread, spread_prior, dispersion), phi, dispersion
        )

    if dispersion is None:
        dispersion = dispersion_of(labels, average(spreads[::2], 1.0).theta)
    return average(spreads, dispersion)


def dispersion_of(labels: CodedBattles, theta: np.ndarray) -> float:
    """Return the variance of labels over the binomial variance, given the log-strengths of a
    penalized fit."""
    p = 1 / (1 + np.exp(theta[labels.b] - theta[labels.a]))
    surplus, spread, design = (
        labels.credit - p,
        p * (1 - p),
        DesignMatrix(None, labels.a, labels.b, len(theta)),
    )
    inverse = linalg.inv(
        design.information((labels.weight * spread)[None])[0] + np.eye(len(theta)) / 2
    )
    by_row = (inverse[labels.a] - inverse[labels.b]) * (labels.weight * surplus)[:, None]
    by_item = surplus_by_cluster(labels, p) @ inverse
    clustered = float(np.sum(by_item**2)) / max(float(np.sum(by_row**2)), 1e-300)
    pearson = float(np.sum(labels.weight * surplus**2) / np.sum(spread))
    return max(LEAST_DISPERSION, pearson * max(1.0, clustered))


def expected_errors(
    labels: CodedBattles,
    phi: np.ndarray,
    theta: np.ndarray,
    tau: float,
    dispersion: float,
    numbers: tuple[int, ...],
) -> list[float]:
    """Return the expected mean standard error of log-strengths for each number of labels, at
    strengths `theta`."""
    phi, pairs = phi - phi.mean(), pair_sums(labels)
    likelihood = _likelihood(pairs, phi, np.full(pairs.models, tau**-2), 1.0)
    p = 1 / (1 + np.exp(theta[pairs.second] - theta[pairs.first]))
    one_label = likelihood.design.information(
        (pairs.weight * p * (1 - p) / pairs.weight.sum())[None]
    )[0]
    centring = _centring_matrix(phi)
    informations = (
        number / dispersion * one_label + np.diag(likelihood.penalty) for number in numbers
    )
    return [
        float(np.sqrt(np.diag(centring @ linalg.inv(each) @ centring.T)).mean())
        for each in informations
    ]


def _likelihood(
    pairs: Pairs, phi: np.ndarray, precision: np.ndarray, dispersion: float
) -> Likelihood:
    """Return the likelihood of (u, kappa - 1), divided by the dispersion, with their priors;
    `precision` is that of u, shape (models,)."""
    gaps = phi[pairs.first] - phi[pairs.second]
    design = DesignMatrix(gaps[:, None], pairs.first, pairs.second, pairs.models)
    penalty = np.append(precision, 1.0)
    return Likelihood(
        design, pairs.credit / dispersion, pairs.weight / dispersion, penalty, offset=gaps
    )


def _find_modes(
    pairs: Pairs,
    phi: np.ndarray,
    grid: np.ndarray,
    spread: np.ndarray,
    prior: float,
    dispersion: float,
) -> _Modes:
    """Find the mode for each tau of a grid, given the prior spread of u, and `prior`, the prior
    median of tau."""
    ats: list[np.ndarray] = []
    covariances, evidences = [], []
    for tau, precision in zip(grid, spread**-2.0, strict=True):
        likelihood = _likelihood(pairs, phi, precision, dispersion)
        # The solver centres u, so it gets the prior of differences; the mean weighted by precision
        # is zero at the mode.
        weights, penalty = precision / precision.sum(), np.diag(likelihood.penalty)
        penalty[:-1, :-1] -= np.outer(precision, weights)
        at = maximize(replace(likelihood, penalty=penalty), ats[-1] if ats else None).at
        at[:-1] -= weights @ at[:-1]
        logits = likelihood.logits(at[None])[0]
        curvature = likelihood.loss(likelihood.credit[None], likelihood.weight[None], logits[None])[
            1
        ]
        information = likelihood.design.information(curvature)[0] + np.diag(likelihood.penalty)
        factor = linalg.cholesky(information, lower=True)
        fitted = likelihood.credit @ logits - likelihood.weight @ np.logaddexp(0, logits)
        value = fitted - at @ (likelihood.penalty * at) / 2
        evidence = value + np.log(precision).sum() / 2 - np.log(np.diag(factor)).sum()
        # The grid of tau is logarithmic: its prior density is that of tau times tau.
        evidences.append(evidence + np.log(tau) - np.log1p((tau / prior) ** 2))
        covariances.append(linalg.cho_solve((factor, True), np.eye(len(at))))
        ats.append(at)
    return _Modes(grid, spread, np.array(ats), np.array(covariances), np.array(evidences))


def _average(modes: _Modes, phi: np.ndarray, dispersion: float) -> RandomEffects:
    """Average the modes over tau, weighted by their evidence."""
    grid, spread, at, joint, evidence = modes
    weight, centring = softmax(evidence), _centring_matrix(phi)
    thetas, moved = at @ centring.T + phi, centring @ joint
    theta, centred = weight @ thetas, moved @ centring.T
    between = (thetas - theta).T @ (weight[:, None] * (thetas - theta))
    kappas = 1 + at[:, -1]
    kappa = float(weight @ kappas)
    kappa_reach = ndtri(0.95) * float(np.sqrt(weight @ (joint[:, -1, -1] + (kappas - kappa) ** 2)))
    low, high = np.exp(np.interp((0.05, 0.95), np.cumsum(weight[::-1]), np.log(grid[::-1])))
    variance = np.einsum("tii->ti", joint)[:, :-1]
    own, own_se, p_value = _fits_without_each(modes, thetas, moved, centred)
    return RandomEffects(
        theta=theta,
        covariance=np.tensordot(weight, centred, 1) + between,
        kappa=(kappa, kappa - kappa_reach, kappa + kappa_reach),
        tau=(float(weight @ grid), float(low), float(high)),
        pull=np.clip(1 - weight @ variance / (weight @ spread**2), 0.0, 1.0),
        dispersion=dispersion,
        own=own,
        own_se=own_se,
        p_value=p_value,
    )


def _fits_without_each(
    modes: _Modes, thetas: np.ndarray, moved: np.ndarray, centred: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return theta by a model's own labels, its standard error and the p-value of its deviation,
    from the fit that widens its prior alone to `WIDE`: u / sqrt(spread^2 - var u) is normal if it
    deviates as the others do. `moved` are covariances of theta with (u, kappa), `centred` those of
    theta."""
    spread, u = modes.spread, modes.at[:, :-1]
    variance, moved, centred = (
        np.einsum("tii->ti", part)[:, : u.shape[1]]
        for part in (modes.joint, moved[:, :, :-1], centred)
    )
    # A model without labels has no more variance left than rounding.
    left = np.maximum(spread**2 - variance, 1e-9 * spread**2)
    z = u / np.sqrt(left)
    # The prior's evidence about a model goes with its prior: the weights of tau differ by model.
    weight = softmax(modes.evidence[:, None] + np.log(spread**2 / np.sqrt(left)) + z**2 / 2, axis=0)
    # Sherman and Morrison's formula for the precision without 1 / spread^2 - 1 / WIDE^2 of one
    # model.
    released = spread**-2.0 - WIDE**-2
    gain = released / (1 - released * variance)
    by_spread = thetas + moved * gain * u
    own = np.sum(weight * by_spread, axis=0)
    own_variance = np.sum(weight * (centred + gain * moved**2 + (by_spread - own) ** 2), axis=0)
    return own, np.sqrt(own_variance), np.sum(weight * 2 * ndtr(-np.abs(z)), axis=0)


def _centring_matrix(phi: np.ndarray) -> np.ndarray:
    """Return the matrix from (u, kappa) to centred log-strengths, shape (models, models + 1)."""
    return (np.eye(len(phi)) - 1 / len(phi)) @ np.column_stack([np.eye(len(phi)), phi])


@dataclass(frozen=True, slots=True)
class MisjudgedFit:
    """A posterior in which `flagged` models (`p_value` below `threshold`) rest on their labels;
    `is_open`: the others with labels; `excess`: the judge's rating minus that of the fit, logits.
    Arrays have shape (models,)."""

    fit: RandomEffects
    flagged: np.ndarray
    is_open: np.ndarray
    p_value: np.ndarray
    excess: np.ndarray
    threshold: float

    def summary(self, models: tuple[str, ...]) -> dict[str, Any]:
        """Return the flagged models with their tests, as diagnostics; `excess` in Elo points."""
        tests = zip(
            models,
            self.p_value.tolist(),
            (POINTS * self.excess).tolist(),
            self.flagged,
            strict=True,
        )
        flagged = {
            name: {"p_value": p, "excess": excess}
            for name, p, excess, is_flagged in tests
            if is_flagged
        }
        return {"threshold": self.threshold, "models": flagged}

    def interval_parts(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the reach of the fit's intervals in standard errors, shape (models,), and what its
        square gains below and above, squared logits, shape (2, models), so that intervals of open
        models also hold those by own labels.

        Where the judge decides (pull 0), the two intervals err on different sides, and a one-sided
        quantile z is enough. The larger d, the test's z of a model's deviation, the less likely the
        judge is right about the model: own labels reach sqrt(z^2 + (d^2 - 1) / 2) of their errors,
        the fit sqrt(z^2 - (1 - pull^2) d^2 / 4).
        """
        fit, shared = self.fit, np.where(self.is_open, self.fit.pull**2, 1.0)
        squared, evidence = ndtri((1 - level) * (1 - shared / 2)) ** 2, ndtri(fit.p_value / 2) ** 2
        reach = np.sqrt(
            np.maximum(squared - np.where(self.is_open, (1 - shared) * evidence / 4, 0.0), 0.0)
        )
        own = fit.own_se * np.sqrt(np.maximum(squared + (evidence - 1) / 2, 0.0))
        away, plain = fit.own - fit.theta, reach * np.sqrt(np.diag(fit.covariance))
        wider = np.maximum([own - away, own + away], plain) ** 2 - plain**2
        return reach, np.where(self.is_open, wider, 0.0)


def fit_with_misjudged(
    labels: CodedBattles,
    phi: np.ndarray,
    spread_prior: float = SPREAD_PRIOR,
    false_flags: float = FALSE_FLAGS,
) -> MisjudgedFit:
    """Test each model against the fit without it; fit again without the judge's ratings of those
    that are flagged."""
    fit = fit_random_effects(labels, phi, spread_prior)
    labelled = labels.battles_by_model() > 0
    p_value, threshold = np.where(labelled, fit.p_value, 1.0), false_flags / int(labelled.sum())
    flagged = p_value < threshold
    if flagged.any():
        fit = fit_random_effects(labels, phi, spread_prior, misjudged=flagged)
    excess = fit.kappa[0] * (phi - phi.mean()) - fit.theta
    return MisjudgedFit(fit, flagged, labelled & ~flagged, p_value, excess, threshold)
