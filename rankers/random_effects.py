"""Structured Bradley-Terry: strengths predicted by a judge, with a random deviation of each model.

    P(humans prefer i over j) = s(theta_i - theta_j),   theta_i = kappa * phi_i + u_i,   u_i ~ N(0, tau^2)

phi are a judge's log-strengths, kappa ~ N(1, 1), tau ~ half-Cauchy. For each tau of a grid, (u, kappa) is
approximated by a normal at its mode; the grid is weighted by Laplace's approximation of the evidence.

Source: Turner and Firth 2012, J. Stat. Software 48(9), section 3 (the model); Fay and Herriot 1979 (few labels and a
predictor); Gelman 2006 (half-Cauchy).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import ndtr

from podium.rankers.coded import CodedBattles, surplus_by_cluster
from podium.rankers.newton import DesignMatrix, Likelihood, maximize
from podium.rankers.pairs import Pairs, pair_sums
from podium.rankers.scale import POINTS

SPREAD_PRIOR = 0.35
"""Logits (61 Elo): prior median of the disagreement between a judge and humans."""
SPREADS = np.geomspace(1.5, 0.01, 15)
"""Values of tau in logits, decreasing: each fit starts at the previous mode."""
WIDE = 1.5
"""Logits (261 Elo): spread of the deviation of a model whose rating rests on its own labels and not on the judge."""
LEAST_DISPERSION = 0.3
Z90 = 1.6448536269514722


@dataclass(frozen=True, slots=True)
class RandomEffects:
    """Posterior given labels and a predictor: `theta` (mean zero), `kappa` and `tau` (mean, 5%, 95% quantile), `pull`
    (weight of the labels, 0 to 1), `dispersion` (variance of labels over the binomial variance), and by model, from
    the fit without it, `own` and `own_se` (theta by its own labels) and `p_value` (it deviates no more than others)."""

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
        ends = ("mean", "low", "high")
        spread = (float(POINTS * tau) for tau in self.tau)
        return {
            "kappa": dict(zip(ends, self.kappa, strict=True)),
            "spread": dict(zip(ends, spread, strict=True)),
            "dispersion": self.dispersion,
        }


@dataclass(frozen=True, slots=True)
class _Mode:
    """Mode of (u, kappa) given tau, with its covariance and log evidence."""

    at: np.ndarray
    theta: np.ndarray
    covariance: np.ndarray
    evidence: float


def fit_random_effects(
    labels: CodedBattles,
    phi: np.ndarray,
    spread_prior: float = SPREAD_PRIOR,
    dispersion: float | None = None,
    spreads: np.ndarray = SPREADS,
    misjudged: np.ndarray | None = None,
) -> RandomEffects:
    """Return the posterior given labels weighted by votes and predictions `phi`; the dispersion is by default estimated
    from a first fit; tau (`spreads`, decreasing) and its prior are in logits. The ratings of `misjudged` models (a
    mask) rest on their labels alone, and those of the others, kappa and tau on the judge without them."""
    phi, pairs = phi - phi.mean(), pair_sums(labels)
    is_wide = np.zeros(len(phi), dtype=bool) if misjudged is None else misjudged
    if dispersion is None:
        coarse = spreads[::2]
        modes = _modes(pairs, phi, coarse, spread_prior, 1.0, is_wide)
        dispersion = dispersion_of(labels, _average(modes, coarse, phi, 1.0, is_wide).theta)
    modes = _modes(pairs, phi, spreads, spread_prior, dispersion, is_wide)
    return _average(modes, spreads, phi, dispersion, is_wide)


def dispersion_of(labels: CodedBattles, theta: np.ndarray) -> float:
    """Return the variance of labels over the binomial variance, given the log-strengths of a penalized fit."""
    p = 1 / (1 + np.exp(theta[labels.b] - theta[labels.a]))
    surplus, spread = labels.credit - p, p * (1 - p)
    information = DesignMatrix(None, labels.a, labels.b, len(theta)).sparse
    hessian = (information.T.multiply(labels.weight * spread) @ information).toarray()
    inverse = linalg.inv(hessian + np.eye(len(theta)) / 2)
    by_row = (inverse[labels.a] - inverse[labels.b]) * (labels.weight * surplus)[:, None]
    by_item = surplus_by_cluster(labels, p) @ inverse
    clustered = float(np.sum(by_item**2)) / max(float(np.sum(by_row**2)), 1e-300)
    pearson = float(np.sum(labels.weight * surplus**2) / np.sum(spread))
    return max(LEAST_DISPERSION, pearson * max(1.0, clustered))


def expected_errors(labels: CodedBattles, phi: np.ndarray, fit: RandomEffects, numbers: tuple[int, ...]) -> list[float]:
    """Return the expected mean standard error of log-strengths for each number of labels, at the fit's tau."""
    phi, pairs = phi - phi.mean(), pair_sums(labels)
    likelihood = _likelihood(pairs, phi, np.full(pairs.models, fit.tau[0] ** -2), 1.0)
    gaps = fit.theta[pairs.first] - fit.theta[pairs.second]
    p = 1 / (1 + np.exp(-gaps))
    one_label = likelihood.design.information((pairs.weight * p * (1 - p) / pairs.weight.sum())[None])[0]
    spread = _centring_matrix(phi)
    errors = []
    for number in numbers:
        covariance = linalg.inv(number / fit.dispersion * one_label + np.diag(likelihood.penalty))
        errors.append(float(np.sqrt(np.diag(spread @ covariance @ spread.T)).mean()))
    return errors


def _likelihood(pairs: Pairs, phi: np.ndarray, precision: np.ndarray, dispersion: float) -> Likelihood:
    """Return the likelihood of (u, kappa - 1), divided by the dispersion, with their priors; `precision` is that of u,
    shape (models,)."""
    gaps = phi[pairs.first] - phi[pairs.second]
    design = DesignMatrix(gaps[:, None], pairs.first, pairs.second, pairs.models)
    penalty = np.append(precision, 1.0)
    return Likelihood(design, pairs.credit / dispersion, pairs.weight / dispersion, penalty, offset=gaps)


def _modes(
    pairs: Pairs, phi: np.ndarray, spreads: np.ndarray, spread_prior: float, dispersion: float, is_wide: np.ndarray
) -> list[_Mode]:
    """Find the mode of (u, kappa) for each tau; the prior spread of `is_wide` models is `WIDE`."""
    modes: list[_Mode] = []
    for tau in spreads:
        precision = np.where(is_wide, WIDE**-2, float(tau) ** -2)
        likelihood = _likelihood(pairs, phi, precision, dispersion)
        # The solver centres u, so it gets the prior of differences; the mean weighted by precision is zero at the mode.
        weights, penalty = precision / precision.sum(), np.diag(likelihood.penalty)
        penalty[:-1, :-1] -= np.outer(precision, weights)
        at = maximize(replace(likelihood, penalty=penalty), modes[-1].at if modes else None).at
        at[:-1] -= weights @ at[:-1]
        logits = likelihood.logits(at[None])[0]
        curvature = likelihood.loss(likelihood.credit[None], likelihood.weight[None], logits[None])[1]
        information = likelihood.design.information(curvature)[0] + np.diag(likelihood.penalty)
        factor = linalg.cholesky(information, lower=True)
        fitted = likelihood.credit @ logits - likelihood.weight @ np.logaddexp(0, logits)
        value = fitted - at @ (likelihood.penalty * at) / 2
        evidence = value + np.log(precision).sum() / 2 - np.log(np.diag(factor)).sum()
        # The grid of tau is logarithmic: its prior density is that of tau times tau.
        evidence += np.log(tau) - np.log1p((tau / spread_prior) ** 2)
        covariance = linalg.cho_solve((factor, True), np.eye(len(at)))
        theta = at[:-1] - at[:-1].mean() + (1 + at[-1]) * phi
        modes.append(_Mode(at, theta, covariance, float(evidence)))
    return modes


def _average(
    modes: list[_Mode], spreads: np.ndarray, phi: np.ndarray, dispersion: float, is_wide: np.ndarray
) -> RandomEffects:
    """Average the modes over tau, weighted by their evidence."""
    evidence = np.array([mode.evidence for mode in modes])
    weight = np.exp(evidence - evidence.max())
    weight /= weight.sum()
    thetas = np.array([mode.theta for mode in modes])
    theta, centring = weight @ thetas, _centring_matrix(phi)
    within = sum(w * (centring @ mode.covariance @ centring.T) for w, mode in zip(weight, modes, strict=True))
    between = (thetas - theta).T @ (weight[:, None] * (thetas - theta))
    kappas = np.array([1 + mode.at[-1] for mode in modes])
    kappa = float(weight @ kappas)
    kappa_sd = np.sqrt(weight @ (np.array([mode.covariance[-1, -1] for mode in modes]) + (kappas - kappa) ** 2))
    rising = np.argsort(spreads)
    reached = np.cumsum(weight[rising])
    low, high = np.exp(np.interp((0.05, 0.95), reached, np.log(spreads[rising])))
    own_variance = weight @ np.array([np.diag(mode.covariance)[:-1] for mode in modes])
    own, own_se, p_value = _fits_without_each(modes, spreads, centring, is_wide)
    return RandomEffects(
        theta=theta,
        covariance=within + between,
        kappa=(kappa, kappa - Z90 * float(kappa_sd), kappa + Z90 * float(kappa_sd)),
        tau=(float(weight @ spreads), float(low), float(high)),
        pull=np.clip(1 - own_variance / np.where(is_wide, WIDE**2, weight @ spreads**2), 0.0, 1.0),
        dispersion=dispersion,
        own=own,
        own_se=own_se,
        p_value=p_value,
    )


def _fits_without_each(
    modes: list[_Mode], spreads: np.ndarray, centring: np.ndarray, is_wide: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return theta by a model's own labels, its standard error and the p-value of its deviation, from the fit that
    widens its prior alone to `WIDE`: u / sqrt(tau^2 - var u) is normal if it deviates as the others do."""
    tau = np.where(is_wide, WIDE, spreads[:, None])
    u, theta = np.array([mode.at[:-1] for mode in modes]), np.array([mode.theta for mode in modes])
    joint = np.array([mode.covariance for mode in modes])
    variance = np.einsum("tii->ti", joint)[:, :-1]
    moved = np.einsum("ij,tji->ti", centring, joint[:, :, :-1])
    centred = np.einsum("ij,tjk,ik->ti", centring, joint, centring, optimize=True)
    # A model without labels has no more variance left than rounding.
    left = np.maximum(tau**2 - variance, 1e-9 * tau**2)
    z = u / np.sqrt(left)
    # The prior's evidence about a model goes with its prior: the weights of tau differ by model.
    evidence = np.array([[mode.evidence] for mode in modes]) + np.log(tau**2 / np.sqrt(left)) + z**2 / 2
    weight = np.exp(evidence - evidence.max(axis=0))
    weight /= weight.sum(axis=0)
    # Sherman and Morrison's formula for the precision without 1 / tau^2 - 1 / WIDE^2 of one model.
    released = tau**-2.0 - WIDE**-2
    gain = released / (1 - released * variance)
    by_spread = theta + moved * gain * u
    own = np.sum(weight * by_spread, axis=0)
    own_variance = np.sum(weight * (centred + gain * moved**2 + (by_spread - own) ** 2), axis=0)
    return own, np.sqrt(own_variance), np.sum(weight * 2 * ndtr(-np.abs(z)), axis=0)


def _centring_matrix(phi: np.ndarray) -> np.ndarray:
    """Return the matrix from (u, kappa) to centred log-strengths, shape (models, models + 1)."""
    size = len(phi)
    return (np.eye(size) - 1 / size) @ np.column_stack([np.eye(size), phi])
