"""Structured Bradley-Terry: strengths predicted by a judge, with a random deviation of each model.

    P(humans prefer i over j) = s(theta_i - theta_j),   theta_i = kappa * phi_i + u_i,   u_i ~ N(0,
    tau^2)

phi are a judge's log-strengths, and u are the models' deviations from the judge. The priors are
kappa ~ N(1, 1) and tau ~ half-Cauchy. For each tau of a grid, the posterior of (u, kappa) is
approximated by a normal distribution at its mode. The results are averaged over the grid, weighted
by Laplace's approximation of the evidence of each tau. A model is misjudged if its own labels
contradict the judge: each model is tested against the fit without it.

Source: Turner and Firth 2012, J. Stat. Software 48(9), section 3 (the model); Fay and Herriot 1979
(few labels and a predictor); Gelman 2006 (half-Cauchy).
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import ndtr, ndtri, softmax

from podium.check_kinds import CHECKS
from podium.rankers.fit.coded import CodedBattles, surplus_by_cluster
from podium.rankers.fit.newton import DesignMatrix, Likelihood, maximize
from podium.rankers.fit.pairs import Pairs, pair_sums
from podium.rankers.fit.scale import POINTS

SPREAD_PRIOR = 0.35
"""Prior median of tau, in logits (61 Elo)."""
SPREADS = np.geomspace(1.5, 0.01, 15)
"""The grid of tau, in logits. It decreases, and the fit for each tau starts at the mode for the
previous one."""
WIDE_SPREAD = 1.5
"""Prior standard deviation of u, in logits (261 Elo), for a model whose rating shall rest on its
own labels and not on the judge."""
LEAST_DISPERSION = 0.3
"""Smallest estimate of the dispersion; smaller ones are raised to it."""
FALSE_FLAGS = CHECKS["misjudged models"].threshold
"""Expected number of models that are flagged if the judge misjudges none."""


@dataclass(frozen=True, slots=True)
class RandomEffects:
    """Posterior of the structured Bradley-Terry model (see the module), given human labels.

    Attributes:
        theta: posterior means of the log-strengths, mean zero, shape (models,).
        covariance: posterior covariance of the log-strengths, shape (models, models).
        kappa: posterior mean, 5% quantile and 95% quantile of kappa.
        tau: posterior mean, 5% quantile and 95% quantile of tau, in logits.
        pull: weight of the labels in each rating, from 0 (the judge decides) to 1 (the labels
            decide), shape (models,).
        dispersion: variance of labels divided by the binomial variance.
        label_theta: log-strength of each model by its own labels, without the judge's rating of it,
            shape (models,).
        label_se: standard errors of `label_theta`, shape (models,).
        p_value: p-value of the hypothesis that a model deviates from the judge no more than the
            others do, shape (models,).
    """

    theta: np.ndarray
    covariance: np.ndarray
    kappa: tuple[float, float, float]
    tau: tuple[float, float, float]
    pull: np.ndarray
    dispersion: float
    label_theta: np.ndarray
    label_se: np.ndarray
    p_value: np.ndarray

    def summary(self) -> dict[str, Any]:
        """Return the diagnostics `kappa`, `spread` and `dispersion`.

        `kappa` and `spread` (tau in Elo points) have the keys `mean`, `low` and `high`; the last
        two are the 5% and 95% quantiles.
        """
        names = ("mean", "low", "high")
        spread = [float(POINTS * tau) for tau in self.tau]
        return {
            "kappa": dict(zip(names, self.kappa, strict=True)),
            "spread": dict(zip(names, spread, strict=True)),
            "dispersion": self.dispersion,
        }


class _Modes(NamedTuple):
    """Modes of the parameters (u, kappa - 1) for each tau of a grid, with their covariances.

    u are the models' deviations from the judge, and tau is their standard deviation.

    Attributes:
        grid: the values of tau, shape (taus,).
        spread: prior standard deviation of u, shape (taus, models).
        parameters: the modes, shape (taus, models + 1).
        parameter_covariance: covariances of the parameters, shape (taus, models + 1, models + 1).
        log_evidence: log marginal likelihood times prior of tau, shape (taus,).
    """

    grid: np.ndarray
    spread: np.ndarray
    parameters: np.ndarray
    parameter_covariance: np.ndarray
    log_evidence: np.ndarray


def fit_random_effects(
    labels: CodedBattles,
    phi: np.ndarray,
    spread_prior: float = SPREAD_PRIOR,
    dispersion: float | None = None,
    spreads: np.ndarray = SPREADS,
    misjudged: np.ndarray | None = None,
) -> RandomEffects:
    """Return the posterior of log-strengths, given human labels and the judge's predictions.

    Args:
        labels: human labels, weighted by votes.
        phi: log-strengths by the judge, shape (models,).
        spread_prior: prior median of tau, in logits.
        dispersion: variance of labels over the binomial variance; by default it is estimated from a
            first fit.
        spreads: the grid of tau in logits, decreasing.
        misjudged: mask of models whose deviation has the spread `WIDE_SPREAD`; by default none.
            Their log-strengths rest on their labels. Kappa, tau and the other log-strengths do not
            use the judge's ratings of them.

    Raises:
        NotConvergedError: a fit did not reach its maximum.
    """
    phi = phi - phi.mean()
    pairs = pair_sums(labels)
    is_wide = np.zeros(len(phi), dtype=bool) if misjudged is None else misjudged

    def average(grid: np.ndarray, dispersion: float) -> RandomEffects:
        """Return the posterior for one dispersion, averaged over a grid of tau."""
        spread = np.where(is_wide, WIDE_SPREAD, grid[:, None])
        modes = _find_modes(pairs, phi, grid, spread, spread_prior, dispersion)
        return _average(modes, phi, dispersion)

    if dispersion is None:
        # Every other tau is enough for this first fit.
        first_fit = average(spreads[::2], dispersion=1.0)
        dispersion = estimate_dispersion(labels, first_fit.theta)
    return average(spreads, dispersion)


def estimate_dispersion(labels: CodedBattles, theta: np.ndarray) -> float:
    """Return the variance of labels divided by the binomial variance, at least 0.3
    (`LEAST_DISPERSION`).

    It is Pearson's statistic times a factor for clustering: the squared errors of log-strengths if
    labels are clustered by item, over those if labels are independent (at least 1).

    Args:
        labels: human labels, weighted by votes.
        theta: log-strengths of a penalized fit, shape (models,).
    """
    p = 1 / (1 + np.exp(theta[labels.b] - theta[labels.a]))
    surplus = labels.credit - p
    variance = p * (1 - p)
    design = DesignMatrix(columns=None, first=labels.a, second=labels.b, models=len(theta))
    curvature = labels.weight * variance
    # The curvature gets a first axis of samples, here of size 1.
    [information] = design.information(curvature[None])
    # The information has no inverse, because rows identify only differences: half of a unit matrix
    # is added.
    inverse = linalg.inv(information + np.eye(len(theta)) / 2)
    weighted_surplus = labels.weight * surplus
    influence_of_row = (inverse[labels.a] - inverse[labels.b]) * weighted_surplus[:, None]
    influence_of_item = surplus_by_cluster(labels, p) @ inverse
    independent = float(np.sum(influence_of_row**2))
    # Without any error, the ratio is 0 instead of a division by 0.
    clustering = float(np.sum(influence_of_item**2)) / max(independent, 1e-300)
    pearson = float(np.sum(labels.weight * surplus**2) / np.sum(variance))
    return max(LEAST_DISPERSION, pearson * max(1.0, clustering))


def expected_errors(
    labels: CodedBattles,
    phi: np.ndarray,
    theta: np.ndarray,
    tau: float,
    dispersion: float,
    numbers: tuple[int, ...],
) -> list[float]:
    """Return the mean over models of the expected standard error, for each number of labels.

    The standard errors are those of centred log-strengths, in logits.

    Args:
        labels: the labels so far. Further labels are assumed to be of the same pairs, in the same
            shares.
        phi: log-strengths by the judge, shape (models,).
        theta: log-strengths at which the information is computed, shape (models,).
        tau: standard deviation of the models' deviations, in logits.
        dispersion: variance of labels over the binomial variance.
        numbers: numbers of labels.
    """
    phi = phi - phi.mean()
    pairs = pair_sums(labels)
    precision = np.full(pairs.models, tau**-2)
    likelihood = _likelihood(pairs, phi, precision, dispersion=1.0)
    p = 1 / (1 + np.exp(theta[pairs.second] - theta[pairs.first]))
    curvature_of_label = pairs.weight * p * (1 - p) / pairs.weight.sum()
    # The curvature gets a first axis of samples, here of size 1.
    [information_of_label] = likelihood.design.information(curvature_of_label[None])
    centring = _centring_matrix(phi)
    errors = []
    for number in numbers:
        information = number / dispersion * information_of_label + np.diag(likelihood.penalty)
        covariance = centring @ linalg.inv(information) @ centring.T
        standard_errors = np.sqrt(np.diag(covariance))
        errors.append(float(standard_errors.mean()))
    return errors


def _likelihood(
    pairs: Pairs, phi: np.ndarray, precision: np.ndarray, dispersion: float
) -> Likelihood:
    """Return the likelihood of (u, kappa - 1), divided by the dispersion, with their priors.

    Args:
        pairs: sums of the labels of each pair.
        phi: centred log-strengths by the judge, shape (models,).
        precision: prior precision of u, shape (models,); the prior precision of kappa is 1.
        dispersion: variance of labels over the binomial variance.
    """
    predicted_differences = phi[pairs.first] - phi[pairs.second]
    design = DesignMatrix(
        columns=predicted_differences[:, None],
        first=pairs.first,
        second=pairs.second,
        models=pairs.models,
    )
    penalty = np.append(precision, 1.0)
    return Likelihood(
        design=design,
        credit=pairs.credit / dispersion,
        weight=pairs.weight / dispersion,
        penalty=penalty,
        offset=predicted_differences,
    )


def _find_modes(
    pairs: Pairs,
    phi: np.ndarray,
    grid: np.ndarray,
    spread: np.ndarray,
    spread_prior: float,
    dispersion: float,
) -> _Modes:
    """Find the mode of the parameters for each tau of a grid.

    The parameters are u, the models' deviations from the judge, and kappa - 1. The result also has
    their covariance and the evidence of each tau.

    Args:
        pairs: sums of the labels of each pair.
        phi: centred log-strengths by the judge, shape (models,).
        grid: values of tau, decreasing.
        spread: prior standard deviation of u, shape (taus, models).
        spread_prior: prior median of tau.
        dispersion: variance of labels over the binomial variance.
    """
    modes: list[np.ndarray] = []
    covariances = []
    log_evidences = []
    for tau, precision in zip(grid, spread**-2.0, strict=True):
        likelihood = _likelihood(pairs, phi, precision, dispersion)
        # The solver centres u, so that the penalty given to it is that of the differences of u. At
        # the mode, the mean of u weighted by precision is zero, and u is shifted accordingly.
        weights = precision / precision.sum()
        centred_penalty = np.diag(likelihood.penalty)
        centred_penalty[:-1, :-1] -= np.outer(precision, weights)
        start = modes[-1] if modes else None
        mode = maximize(replace(likelihood, penalty=centred_penalty), start).parameters
        mode[:-1] -= weights @ mode[:-1]
        log_likelihood, information = _value_and_information(likelihood, mode)
        cholesky_factor = linalg.cholesky(information, lower=True)
        penalized = log_likelihood - mode @ (likelihood.penalty * mode) / 2
        # Laplace's approximation of the integral over the parameters.
        log_marginal = (
            penalized + np.log(precision).sum() / 2 - np.log(np.diag(cholesky_factor)).sum()
        )
        # The nodes are equally spaced in log tau. The prior density of log tau is tau times that of
        # tau, which is half-Cauchy: 1 / (1 + (tau / prior median)^2), up to a constant.
        log_evidences.append(log_marginal + np.log(tau) - np.log1p((tau / spread_prior) ** 2))
        is_lower = True
        identity = np.eye(len(mode))
        covariances.append(linalg.cho_solve((cholesky_factor, is_lower), identity))
        modes.append(mode)
    return _Modes(grid, spread, np.array(modes), np.array(covariances), np.array(log_evidences))


def _value_and_information(
    likelihood: Likelihood, parameters: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the log-likelihood without the penalty, and the negative Hessian with the penalty.

    Both are taken at `parameters`, shape (parameters,).

    The Hessian has shape (parameters, parameters). The penalty is a diagonal.
    """
    # Arrays of the likelihood have a first axis of samples, here of size 1.
    [logits] = likelihood.logits(parameters[None])
    _, curvature = likelihood.loss(likelihood.credit[None], likelihood.weight[None], logits[None])
    [information_of_labels] = likelihood.design.information(curvature)
    information = information_of_labels + np.diag(likelihood.penalty)
    value = likelihood.credit @ logits - likelihood.weight @ np.logaddexp(0, logits)
    return value, information


def _average(modes: _Modes, phi: np.ndarray, dispersion: float) -> RandomEffects:
    """Average the modes over tau, weighted by their evidence, and test each model.

    Args:
        modes: the modes for each tau.
        phi: centred log-strengths by the judge, shape (models,).
        dispersion: variance of labels over the binomial variance, which is kept in the result.
    """
    weight = softmax(modes.log_evidence)
    centring = _centring_matrix(phi)
    thetas = modes.parameters @ centring.T + phi
    theta = weight @ thetas
    theta_parameter_covariance = centring @ modes.parameter_covariance
    covariances = theta_parameter_covariance @ centring.T
    # The covariance of a mixture over tau: the mean covariance, plus the covariance of the means.
    within = np.tensordot(weight, covariances, 1)
    between = (thetas - theta).T @ (weight[:, None] * (thetas - theta))
    tails = (0.05, 0.95)
    # The grid decreases, and interpolation needs increasing nodes.
    increasing_taus = modes.grid[::-1]
    cumulative_weight = np.cumsum(weight[::-1])
    log_taus = np.interp(tails, cumulative_weight, np.log(increasing_taus))
    tau_low, tau_high = np.exp(log_taus)
    # The variances of u are the diagonals without the last element, which is that of kappa.
    variance_of_u = np.einsum("tii->ti", modes.parameter_covariance)[:, :-1]
    label_theta, label_se, p_value = _fits_without_each(
        modes, thetas, theta_parameter_covariance, covariances
    )
    return RandomEffects(
        theta=theta,
        covariance=within + between,
        kappa=_mean_and_interval_of_kappa(modes, weight),
        tau=(float(weight @ modes.grid), float(tau_low), float(tau_high)),
        pull=np.clip(1 - weight @ variance_of_u / (weight @ modes.spread**2), 0.0, 1.0),
        dispersion=dispersion,
        label_theta=label_theta,
        label_se=label_se,
        p_value=p_value,
    )


def _mean_and_interval_of_kappa(modes: _Modes, weight: np.ndarray) -> tuple[float, float, float]:
    """Return the posterior mean of kappa and both ends of its 90% interval.

    `weight` are the weights of the modes by their evidence, which add up to 1, shape (taus,).
    """
    kappas = 1 + modes.parameters[:, -1]
    variances = modes.parameter_covariance[:, -1, -1]
    kappa = float(weight @ kappas)
    # The variance of a mixture: the mean variance, plus the variance of the means.
    variance = weight @ (variances + (kappas - kappa) ** 2)
    half_width = ndtri(0.95) * float(np.sqrt(variance))
    return kappa, kappa - half_width, kappa + half_width


def _fits_without_each(
    modes: _Modes,
    thetas: np.ndarray,
    theta_parameter_covariance: np.ndarray,
    covariances: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fit each model by its own labels, and test its deviation from the judge.

    The prior of this model alone is widened to `WIDE_SPREAD`. Its u / sqrt(spread^2 - var u) is
    standard normal if the model deviates as the others do.

    Args:
        modes: the modes for each tau.
        thetas: log-strengths for each tau, shape (taus, models).
        theta_parameter_covariance: covariances of log-strengths with the parameters, shape (taus,
            models, models + 1).
        covariances: covariances of log-strengths, shape (taus, models, models).

    Returns:
        By model: its log-strength by its own labels, the standard error, and the p-value of the
        deviation, shape (models,) each.
    """
    # The last parameter is kappa, the others are the u of the models. Of matrices by tau, "tii->ti"
    # takes the diagonals.
    u = modes.parameters[:, :-1]
    prior_variance = modes.spread**2
    variance_of_u = np.einsum("tii->ti", modes.parameter_covariance)[:, :-1]
    variance_of_theta = np.einsum("tii->ti", covariances)
    covariance_with_u = np.einsum("tii->ti", theta_parameter_covariance[:, :, :-1])
    # For a model without labels, var u is spread^2, and only rounding error would be left.
    variance_left = np.maximum(prior_variance - variance_of_u, 1e-9 * prior_variance)
    z = u / np.sqrt(variance_left)
    # Without a model's prior, the evidence of each tau changes by a factor. So the weights of tau
    # differ by model.
    log_factor = np.log(prior_variance / np.sqrt(variance_left))
    log_weight = modes.log_evidence[:, None] + log_factor + z**2 / 2
    weight = softmax(log_weight, axis=0)
    # Sherman and Morrison's formula: the prior of one model loses the precision `released`.
    released = modes.spread**-2.0 - WIDE_SPREAD**-2
    gain = released / (1 - released * variance_of_u)
    theta_by_tau = thetas + covariance_with_u * gain * u
    variance_by_tau = variance_of_theta + gain * covariance_with_u**2
    theta = np.sum(weight * theta_by_tau, axis=0)
    variance = np.sum(weight * (variance_by_tau + (theta_by_tau - theta) ** 2), axis=0)
    p_value = np.sum(weight * 2 * ndtr(-np.abs(z)), axis=0)
    return theta, np.sqrt(variance), p_value


def _centring_matrix(phi: np.ndarray) -> np.ndarray:
    """Return the matrix from (u, kappa) to centred log-strengths, shape (models, models + 1).

    `phi` are the centred log-strengths by the judge, shape (models,).
    """
    models = len(phi)
    strengths_of_parameters = np.column_stack([np.eye(models), phi])
    return (np.eye(models) - 1 / models) @ strengths_of_parameters


@dataclass(frozen=True, slots=True)
class MisjudgedFit:
    """A posterior in which models that the judge misjudges rest on their labels.

    Attributes:
        fit: the posterior.
        flagged: mask of the misjudged models, whose `p_value` is below `threshold`. Arrays have
            shape (models,).
        is_open: mask of the models that have labels and are not flagged.
        p_value: p-value of each model's deviation by the first fit; 1 without labels.
        excess: the judge's log-strength times kappa, minus the log-strength of the fit, in logits.
        threshold: p-value below which a model is flagged.
    """

    fit: RandomEffects
    flagged: np.ndarray
    is_open: np.ndarray
    p_value: np.ndarray
    excess: np.ndarray
    threshold: float

    def summary(self, models: tuple[str, ...]) -> dict[str, Any]:
        """Return the flagged models with their tests, for the JSON.

        The keys are `threshold` and `models`, a dictionary from the names of the flagged models to
        `p_value` and `excess` (in Elo points). `models` are the names by code.
        """
        flagged = {}
        for k in np.flatnonzero(self.flagged).tolist():
            excess = float(POINTS * self.excess[k])
            flagged[models[k]] = {"p_value": float(self.p_value[k]), "excess": excess}
        return {"threshold": self.threshold, "models": flagged}

    def interval_parts(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the half-widths of the fit's intervals, and how far they are widened.

        A model is open if it has labels and is not flagged. Its interval is the union of an
        interval by the fit and an interval by its own labels. If the judge decides (pull 0), these
        two intervals err on different sides, and a one-sided quantile z is enough. Let d be the z
        of the test of the model's deviation. The larger d is, the less likely the judge is right
        about the model. So the half-width by own labels is sqrt(z^2 + (d^2 - 1) / 2) standard
        errors, and the half-width by the fit is sqrt(z^2 - (1 - pull^2) d^2 / 4) standard errors.

        `level` is the confidence level, in (0, 1).

        Returns:
            First, the half-widths by the fit in standard errors, shape (models,). Second, what the
            union adds to the squared half-widths below and above, in squared logits, shape (2,
            models). Models that are not open have the two-sided normal quantile, and 0.
        """
        fit = self.fit
        pull_squared = np.where(self.is_open, fit.pull**2, 1.0)
        z_squared = ndtri((1 - level) * (1 - pull_squared / 2)) ** 2
        d_squared = ndtri(fit.p_value / 2) ** 2
        reduction = np.where(self.is_open, (1 - pull_squared) * d_squared / 4, 0.0)
        half_width_in_se = np.sqrt(np.maximum(z_squared - reduction, 0.0))
        half_width = half_width_in_se * np.sqrt(np.diag(fit.covariance))
        half_width_by_labels = fit.label_se * np.sqrt(
            np.maximum(z_squared + (d_squared - 1) / 2, 0.0)
        )
        shift = fit.label_theta - fit.theta
        to_end_by_labels = [half_width_by_labels - shift, half_width_by_labels + shift]
        added_square = np.maximum(to_end_by_labels, half_width) ** 2 - half_width**2
        return half_width_in_se, np.where(self.is_open, added_square, 0.0)


def fit_with_misjudged(
    labels: CodedBattles,
    phi: np.ndarray,
    spread_prior: float = SPREAD_PRIOR,
    false_flags: float = FALSE_FLAGS,
) -> MisjudgedFit:
    """Test each model against the fit without it, and fit again with the misjudged models flagged.

    A model is flagged if its p-value is below `false_flags` divided by the number of models with
    labels. The second fit does not use the judge's ratings of the flagged models. If no model is
    flagged, the first fit is returned. Models without labels are never flagged. At least one model
    must have a label.

    Args:
        labels: human labels, weighted by votes.
        phi: log-strengths by the judge, shape (models,).
        spread_prior: prior median of tau, in logits.
        false_flags: expected number of models that are flagged if none is misjudged.

    Raises:
        NotConvergedError: a fit did not reach its maximum.
    """
    fit = fit_random_effects(labels, phi, spread_prior)
    is_labelled = labels.battles_by_model() > 0
    p_value = np.where(is_labelled, fit.p_value, 1.0)
    threshold = false_flags / int(is_labelled.sum())
    is_flagged = p_value < threshold
    if is_flagged.any():
        fit = fit_random_effects(labels, phi, spread_prior, misjudged=is_flagged)
    excess = fit.kappa[0] * (phi - phi.mean()) - fit.theta
    return MisjudgedFit(
        fit=fit,
        flagged=is_flagged,
        is_open=is_labelled & ~is_flagged,
        p_value=p_value,
        excess=excess,
        threshold=threshold,
    )
