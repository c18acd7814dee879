"""Structured Bradley-Terry: strengths predicted by a judge, with a random deviation of each model.

    P(humans prefer i over j) = s(theta_i - theta_j),   theta_i = kappa * phi_i + u_i,   u_i ~ N(0, tau^2)

phi are a judge's log-strengths, kappa ~ N(1, 1), tau ~ half-Cauchy. For each tau of a grid, (u, kappa) is
approximated by a normal at its mode; the grid is weighted by Laplace's approximation of the evidence.

Source: Turner and Firth 2012, J. Stat. Software 48(9), section 3 (the model); Fay and Herriot 1979 (few labels and a
predictor); Gelman 2006 (half-Cauchy).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from podium.rankers.coded import CodedBattles, surplus_by_cluster
from podium.rankers.newton import DesignMatrix, Likelihood, maximize
from podium.rankers.pairs import Pairs, pair_sums
from podium.rankers.scale import POINTS

SPREAD_PRIOR = 0.35
"""Logits (61 Elo): prior median of the disagreement between a judge and humans."""
SPREADS = np.geomspace(1.5, 0.01, 15)
"""Values of tau in logits, decreasing: each fit starts at the previous mode."""
LEAST_DISPERSION = 0.3
Z90 = 1.6448536269514722


@dataclass(frozen=True, slots=True)
class RandomEffects:
    """Posterior given labels and a predictor: `theta` (mean zero), `kappa` and `tau` (mean, 5%, 95% quantile), `pull`
    (weight of the labels, 0 to 1), `dispersion` (variance of labels over the binomial variance)."""

    theta: np.ndarray
    covariance: np.ndarray
    kappa: tuple[float, float, float]
    tau: tuple[float, float, float]
    pull: np.ndarray
    dispersion: float

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
) -> RandomEffects:
    """Return the posterior given labels weighted by votes and predictions `phi`; the dispersion is by default estimated
    from a first fit; tau (`spreads`, decreasing) and its prior are in logits."""
    phi, pairs = phi - phi.mean(), pair_sums(labels)
    if dispersion is None:
        coarse = spreads[::2]
        first = _average(_modes(pairs, phi, coarse, spread_prior, 1.0), coarse, phi, 1.0)
        dispersion = dispersion_of(labels, first.theta)
    return _average(_modes(pairs, phi, spreads, spread_prior, dispersion), spreads, phi, dispersion)


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
    likelihood = _likelihood(pairs, phi, fit.tau[0], 1.0)
    gaps = fit.theta[pairs.first] - fit.theta[pairs.second]
    p = 1 / (1 + np.exp(-gaps))
    one_label = likelihood.design.information((pairs.weight * p * (1 - p) / pairs.weight.sum())[None])[0]
    spread = _centring_matrix(phi)
    errors = []
    for number in numbers:
        covariance = linalg.inv(number / fit.dispersion * one_label + np.diag(likelihood.penalty))
        errors.append(float(np.sqrt(np.diag(spread @ covariance @ spread.T)).mean()))
    return errors


def _likelihood(pairs: Pairs, phi: np.ndarray, tau: float, dispersion: float) -> Likelihood:
    """Return the likelihood of (u, kappa - 1), divided by the dispersion, with their priors."""
    gaps = phi[pairs.first] - phi[pairs.second]
    design = DesignMatrix(gaps[:, None], pairs.first, pairs.second, pairs.models)
    penalty = np.append(np.full(pairs.models, tau**-2), 1.0)
    return Likelihood(design, pairs.credit / dispersion, pairs.weight / dispersion, penalty, offset=gaps)


def _modes(pairs: Pairs, phi: np.ndarray, spreads: np.ndarray, spread_prior: float, dispersion: float) -> list[_Mode]:
    """Find the mode of (u, kappa) for each tau."""
    modes: list[_Mode] = []
    for tau in spreads:
        likelihood = _likelihood(pairs, phi, float(tau), dispersion)
        at = maximize(likelihood, modes[-1].at if modes else None).at
        logits = likelihood.logits(at[None])[0]
        curvature = likelihood.loss(likelihood.credit[None], likelihood.weight[None], logits[None])[1]
        precision = likelihood.design.information(curvature)[0] + np.diag(likelihood.penalty)
        factor = linalg.cholesky(precision, lower=True)
        fitted = likelihood.credit @ logits - likelihood.weight @ np.logaddexp(0, logits)
        value = fitted - at @ (likelihood.penalty * at) / 2
        evidence = value - pairs.models * np.log(tau) - np.log(np.diag(factor)).sum()
        # The grid of tau is logarithmic: its prior density is that of tau times tau.
        evidence += np.log(tau) - np.log1p((tau / spread_prior) ** 2)
        covariance = linalg.cho_solve((factor, True), np.eye(len(at)))
        modes.append(_Mode(at, at[:-1] + (1 + at[-1]) * phi, covariance, float(evidence)))
    return modes


def _average(modes: list[_Mode], spreads: np.ndarray, phi: np.ndarray, dispersion: float) -> RandomEffects:
    """Average the modes over tau, weighted by their evidence."""
    evidence = np.array([mode.evidence for mode in modes])
    weight = np.exp(evidence - evidence.max())
    weight /= weight.sum()
    thetas = np.array([mode.theta for mode in modes])
    theta, centring = weight @ thetas, _centring_matrix(phi)
    own = sum(w * (centring @ mode.covariance @ centring.T) for w, mode in zip(weight, modes, strict=True))
    between = (thetas - theta).T @ (weight[:, None] * (thetas - theta))
    kappas = np.array([1 + mode.at[-1] for mode in modes])
    kappa = float(weight @ kappas)
    kappa_sd = np.sqrt(weight @ (np.array([mode.covariance[-1, -1] for mode in modes]) + (kappas - kappa) ** 2))
    rising = np.argsort(spreads)
    reached = np.cumsum(weight[rising])
    low, high = np.exp(np.interp((0.05, 0.95), reached, np.log(spreads[rising])))
    own_variance = weight @ np.array([np.diag(mode.covariance)[:-1] for mode in modes])
    return RandomEffects(
        theta=theta,
        covariance=own + between,
        kappa=(kappa, kappa - Z90 * float(kappa_sd), kappa + Z90 * float(kappa_sd)),
        tau=(float(weight @ spreads), float(low), float(high)),
        pull=np.clip(1 - own_variance / float(weight @ spreads**2), 0.0, 1.0),
        dispersion=dispersion,
    )


def _centring_matrix(phi: np.ndarray) -> np.ndarray:
    """Return the matrix from (u, kappa) to centred log-strengths, shape (models, models + 1)."""
    size = len(phi)
    return (np.eye(size) - 1 / size) @ np.column_stack([np.eye(size), phi])
