"""AlpacaEval's length-controlled win rate: each model against one baseline, at equal lengths."""

from dataclasses import dataclass, replace

import numpy as np

from podium.data.battles import Battles
from podium.data.length_data import External
from podium.distributions import expit, logit
from podium.errors import NotConvergedError, NotIdentifiedError, UsageError
from podium.known_names import find_name
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_texts
from podium.rankers.errors.intervals import (
    ScoreEstimates,
    covariance_of,
    sandwich_estimate,
    t_quantile,
)
from podium.rankers.fit.coded import CodedBattles
from podium.rankers.fit.newton import DesignMatrix, Likelihood, SingularError, maximize
from podium.rankers.length_control.lengths import GAMED_WEIGHT, Lengths, saturate_lengths
from podium.rankers.ranking import Standings
from podium.rankers.standings import RankerResult, build_standings, measure_exposure
from podium.score_scale import win_rate_against
from podium.wording import quantity

SMALLEST_INVERSE_CONDITION = 1e-10
"""If the information matrix has a condition number above 1 / this, the coefficients count as
unbounded."""
EXTREME_RATE = 1e-6
"""A win rate at equal length that is nearer to 0 or 1 than this is rejected.

It is an extrapolation: length predicts nearly all verdicts, and the observed lengths are far from
equal.
"""
UNBOUNDED_REASON = (
    "its battles do not bound the coefficients (all won, all lost, or predicted by length)"
)
"""Why a model has no win rate: words of the error and of the warning."""
MOST_LEVERAGE = 0.99
"""Residuals are divided by sqrt(1 - leverage); an item with a larger leverage is treated as if it
had this one."""


@dataclass(frozen=True, slots=True)
class Rate:
    """One model's win rate against the baseline at equal lengths.

    Attributes:
        value: the win rate.
        influence: what each battle contributes to the error of the win rate, shape (battles,).
        freedom: degrees of freedom of the standard error: items minus coefficients.
        sd: standard deviation of the model's leads in length.
        slope: coefficient of the length term, in logits.
    """

    value: float
    influence: np.ndarray
    freedom: int
    sd: float
    slope: float


def rank_against_baseline(
    battles: Battles,
    lengths: Lengths,
    anchor: str | None,
    external: External | None,
    *,
    level: float,
    rng: np.random.Generator,
) -> Standings:
    """Rank by win rates against one baseline at equal lengths (Dubois et al. 2024).

    Each model is fitted separately. The probability that it beats the baseline on item i is
    s(b0 + b1 tanh(lead in length / sd) + b2 difficulty_i), where sd is the standard deviation
    (ddof 1) of the leads in its battles. Its win rate is the weighted mean over its battles of
    s(b0 + b2 difficulty_i). Without external data, there is no difficulty term.

    Fits are maximum likelihood, without AlpacaEval's L1 penalty. Standard errors (clustered
    sandwich, delta method) include the error of the fit, which those of AlpacaEval leave out. They
    are HC2, corrected for leverage. Intervals are t on the logit scale.

    If the battles of a model against the baseline determine no rate, it has none, and a warning
    says why.

    Args:
        battles: all battles.
        lengths: the readable battles with both lengths.
        anchor: name of the baseline; by default the only model that is in every battle.
        external: AlpacaEval's external data; None for none.
        level: confidence level of intervals and rank sets, in (0, 1).
        rng: draws for rank sets.

    Raises:
        NotIdentifiedError: no model has a rate.
        UsageError: `anchor` is unknown, or it is None and no single model is in every battle.
    """
    coded = lengths.coded
    baseline = _find_baseline(coded, anchor)
    difficulty = None
    if external is not None:
        difficulty = external.difficulties(battles.table.iloc[lengths.rows])
    rates, not_rated = fit_rates_against(lengths, baseline, external, difficulty)
    if not rates:
        raise NotIdentifiedError("; ".join(notice_texts(not_rated)))
    estimate = estimate_equal_lengths(coded, baseline, rates, level)
    rate_by_name = {coded.models[code]: rate for code, (_, rate) in rates.items()}
    length_figures = {
        "model": _describe_length_model(external),
        "slopes": {name: rate.slope for name, rate in rate_by_name.items()},
        "sd": {name: rate.sd for name, rate in rate_by_name.items()},
        "left_out": lengths.left_out,
        "lengths": lengths.description,
    }
    result = RankerResult(
        estimate, diagnostics={"length_control": length_figures}, warnings=not_rated
    )
    exposure = measure_exposure(battles, coded)
    scale = win_rate_against(coded.models[baseline])
    return build_standings("win-rate", scale, exposure, result, level=level, rng=rng)


def _describe_length_model(external: External | None) -> str:
    """Return the name of the fitted model, with the external data that it uses, if any.

    It is a noun phrase for the JSON, such as `AlpacaEval's GLM with the difficulty of items, from
    FILE`.
    """
    if external is None:
        return "AlpacaEval's GLM without external data (no difficulty term)"
    gamed = ""
    if external.gamed is not None:
        gamed = f" and {quantity(len(external.gamed.credit), 'row')} of gamed baselines"
    return f"AlpacaEval's GLM with the difficulty of items{gamed}, from {external.source}"


def estimate_equal_lengths(
    coded: CodedBattles, baseline: int, rates: dict[int, tuple[np.ndarray, Rate]], level: float
) -> ScoreEstimates:
    """Return win rates with intervals; the baseline's rate is 1 minus the mean of the others.

    Models that are not in `rates` have a win rate of NaN. The ends of the intervals lie in (0, 1).
    If the battles are a single cluster, there are no intervals.

    Args:
        coded: the battles.
        baseline: code of the baseline.
        rates: by code of the model, the positions of its battles in `coded` and its win rate; at
            least one model.
        level: confidence level, in (0, 1).
    """
    size = len(coded.models)
    rated = list(rates)
    score = np.full(size, np.nan)
    influence = np.zeros((coded.clusters, size))
    freedom = np.zeros(size)
    for code, (rows, rate) in rates.items():
        score[code] = rate.value
        freedom[code] = rate.freedom
        influence[:, code] = np.bincount(coded.cluster[rows], rate.influence, coded.clusters)
    score[baseline] = 1 - np.mean(score[rated])
    influence[:, baseline] = -np.mean(influence[:, rated], axis=1)
    variance = np.sum(influence[:, rated] ** 2, axis=0)
    # Satterthwaite: the variance of the mean is a sum of variances with different degrees of
    # freedom.
    variance_of_variance = np.sum(variance**2 / freedom[rated])
    freedom[baseline] = variance.sum() ** 2 / max(variance_of_variance, 1e-300)
    estimate = sandwich_estimate(
        score, covariance_of(influence), coded.clusters, level=level, cluster=coded.unit
    )
    if estimate.method is None:
        return estimate
    # Intervals of logits stay within 0 and 1. `t_quantile` subtracts 1 from its first argument.
    half_width = t_quantile(freedom + 1, level) * estimate.se / (score * (1 - score))
    low = expit(logit(score) - half_width)
    high = expit(logit(score) + half_width)
    return replace(estimate, low=low, high=high, method=f"{estimate.method}, t on the logit scale")


def _find_baseline(coded: CodedBattles, anchor: str | None) -> int:
    """Return the code of the baseline.

    This is the model named `anchor`, or without an anchor the only model that is in every battle.

    Raises:
        UsageError: no model has this name, or `anchor` is None and not exactly one model is in all
            battles.
    """
    if anchor is not None:
        return coded.models.index(find_name("model with readable battles", anchor, coded.models))
    common = []
    for code in range(len(coded.models)):
        takes_part = (coded.a == code) | (coded.b == code)
        if takes_part.all():
            common.append(code)
    if len(common) != 1:
        raise UsageError(
            "length_control=true of win-rate compares with one baseline: name it (anchor=NAME); "
            "battles among many can be ranked by bradley-terry with length_control=true"
        )
    return common[0]


def fit_rates_against(
    lengths: Lengths,
    baseline: int,
    external: External | None = None,
    difficulty: np.ndarray | None = None,
) -> tuple[dict[int, tuple[np.ndarray, Rate]], list[Notice]]:
    """Fit the win rate of every model against the baseline.

    Args:
        lengths: the battles, with differences of lengths.
        baseline: code of the baseline.
        external: AlpacaEval's external data, whose gamed rows are added to each fit.
        difficulty: difficulty of the items, shape (battles,).

    Returns:
        A dictionary from the code of a model to the positions of its battles and its win rate, and
        warnings that say why the models that are not in it have no win rate.
    """
    coded = lengths.coded
    rates: dict[int, tuple[np.ndarray, Rate]] = {}
    not_rated: list[Notice] = []
    for code, name in enumerate(coded.models):
        if code == baseline:
            continue
        is_first = (coded.a == code) & (coded.b == baseline)
        is_second = (coded.b == code) & (coded.a == baseline)
        battles = np.flatnonzero(is_first | is_second)
        if not len(battles):
            not_rated.append(
                Notice("no-lengths", {"model": name, "baseline": coded.models[baseline]})
            )
            continue
        is_first_model = is_first[battles]
        credit_of_a = coded.credit[battles]
        credit = np.where(is_first_model, credit_of_a, 1 - credit_of_a)
        lead_of_a = lengths.difference[battles]
        lead = np.where(is_first_model, lead_of_a, -lead_of_a)
        weight = coded.weight[battles]
        cluster = coded.cluster[battles]
        own_difficulty = None if difficulty is None else difficulty[battles]
        try:
            rate = _fit_rate(credit, lead, weight, own_difficulty, external, cluster)
            rates[code] = (battles, rate)
        except (NotIdentifiedError, NotConvergedError) as error:
            not_rated.append(Notice("no-length-control", {"model": name, "why": str(error)}))
    return rates, not_rated


def _fit_rate(
    credit: np.ndarray,
    lead: np.ndarray,
    weight: np.ndarray,
    difficulty: np.ndarray | None,
    external: External | None,
    cluster: np.ndarray,
) -> Rate:
    """Fit one model's battles and return the mean of its expected credits at equal lengths.

    Args:
        credit: credit of the model, shape (battles,).
        lead: length of the model's response minus the length of the baseline's, shape (battles,).
        weight: weights of the battles, shape (battles,).
        difficulty: difficulty of the item of each battle, shape (battles,). Battles with NaN are
            left out. None leaves out the difficulty term.
        external: AlpacaEval's external data, whose gamed rows are added to the fit.
        cluster: code of the item of each battle, shape (battles,).

    Raises:
        NotIdentifiedError: the battles do not bound the coefficients or the rate, or all leads are
            the same.
        NotConvergedError: the fit did not reach its maximum.
    """
    sd = _sd_of_leads(lead)
    columns = [np.ones(len(lead)), saturate_lengths(lead, sd)]
    is_known = np.ones(len(lead), dtype=bool)
    if difficulty is not None:
        columns.append(difficulty)
        is_known = np.isfinite(difficulty)
    rows = np.column_stack(columns)[is_known]
    credit_of_known = credit[is_known]
    weight_of_known = weight[is_known]
    items, item = np.unique(cluster[is_known], return_inverse=True)
    _require_wins_and_losses(credit_of_known, len(columns), len(items))
    with_gamed = _append_gamed_rows(rows, credit_of_known, weight_of_known, external)
    coefficients, information = _fit_logistic(*with_gamed)
    at_equal_lengths = rows.copy()
    at_equal_lengths[:, 1] = 0
    expected = expit(at_equal_lengths @ coefficients)
    weight_share = weight_of_known / weight_of_known.sum()
    value = float(weight_share @ expected)
    if not EXTREME_RATE < value < 1 - EXTREME_RATE:
        raise NotIdentifiedError(UNBOUNDED_REASON)
    # Delta method: the gradient of the win rate by the coefficients.
    gradient_of_value = (weight_share * expected * (1 - expected)) @ at_equal_lengths
    fitted = expit(rows @ coefficients)
    weighted_surplus = weight_of_known * (credit_of_known - fitted)
    scores = weighted_surplus[:, None] * rows
    information_weight = weight_of_known * fitted * (1 - fitted)
    divisor = _leverage_divisor(rows, information_weight, information, item)
    influence_of_fit = scores @ np.linalg.solve(information, gradient_of_value) / divisor
    # A battle contributes through the mean over battles, and through the fitted coefficients.
    influence = np.zeros(len(lead))
    influence[is_known] = weight_share * (expected - value) + influence_of_fit
    return Rate(value, influence, len(items) - len(columns), sd, float(coefficients[1]))


def _leverage_divisor(
    rows: np.ndarray, information_weight: np.ndarray, information: np.ndarray, item: np.ndarray
) -> np.ndarray:
    """Return the number by which HC2 divides the residual of each battle, shape (battles,).

    The fit follows the credits of an item, so that the item's residuals are too small. HC2 divides
    them by sqrt(1 - leverage of the item). The leverage of a row x with weight w is
    w p (1 - p) x' I^-1 x, and the leverage of an item is the sum over its rows.

    Args:
        rows: the design, shape (battles, coefficients).
        information_weight: weight times p (1 - p) of each battle, shape (battles,).
        information: the information of the coefficients, shape (coefficients, coefficients).
        item: code of the item of each battle, shape (battles,).
    """
    distance = np.sum(rows * np.linalg.solve(information, rows.T).T, axis=1)
    leverage_of_item = np.bincount(item, information_weight * distance)
    divisor: np.ndarray = np.sqrt(1 - np.minimum(leverage_of_item, MOST_LEVERAGE))[item]
    return divisor


def _sd_of_leads(lead: np.ndarray) -> float:
    """Return the standard deviation (ddof 1) of leads in length, shape (battles,).

    Raises:
        NotIdentifiedError: all leads are the same, or there is only one.
    """
    sd = 0.0
    if len(lead) > 1:
        sd = float(np.std(lead, ddof=1))
    # A lead of NaN would make the comparison with 0 False.
    if not sd > 0:
        raise NotIdentifiedError("its lead in length is the same in all battles")
    return sd


def _append_gamed_rows(
    rows: np.ndarray, credit: np.ndarray, weight: np.ndarray, external: External | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, credits and weights, each followed by those of the gamed rows.

    Without gamed rows in the external data, the arguments are returned as they are. Gamed rows are
    verdicts on verbose and concise variants of AlpacaEval's baseline. They differ in length only,
    and so help to identify the effect of length.
    """
    if external is None or external.gamed is None:
        return rows, credit, weight
    gamed = external.gamed
    weight_of_gamed = np.full(len(gamed.credit), GAMED_WEIGHT)
    return (
        np.vstack([rows, gamed.rows(rows.shape[1])]),
        np.append(credit, gamed.credit),
        np.append(weight, weight_of_gamed),
    )


def _require_wins_and_losses(credit: np.ndarray, coefficients: int, items: int) -> None:
    """Raise NotIdentifiedError if there are too few wins, losses or items for the coefficients.

    `credit` are the model's credits, shape (battles,). There must be as many wins, and as many
    losses, as coefficients (a tie is half of each), and more items than coefficients.
    """
    # With fewer losses than coefficients, 95% intervals covered the true rate in 45 to 75% of
    # simulated data sets; with as many losses as coefficients, in 93 to 96%.
    wins = float(credit.sum())
    losses = float((1 - credit).sum())
    rarer_outcome = "won" if wins < losses else "lost"
    fewest = min(wins, losses)
    if fewest < coefficients:
        raise NotIdentifiedError(
            f"{fewest:g} of {quantity(len(credit), 'battle')} {rarer_outcome} (a tie is half a "
            f"battle), and separating length from strength needs at least {coefficients}; judge "
            "more items"
        )
    if items <= coefficients:
        raise NotIdentifiedError(
            f"{quantity(items, 'item')} cannot bound {quantity(coefficients, 'coefficient')}; "
            "judge more items"
        )


def _fit_logistic(
    rows: np.ndarray, credit: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a logistic regression of credits on rows, without a penalty.

    Args:
        rows: the design, shape (rows, coefficients).
        credit: credits in [0, 1], shape (rows,).
        weight: weights, shape (rows,).

    Returns:
        The coefficients of maximum likelihood, shape (coefficients,), and their information
        matrix.

    Raises:
        NotIdentifiedError: there is no finite maximum, or the matrix is nearly singular
            (`SMALLEST_INVERSE_CONDITION`).
        NotConvergedError: the fit did not reach its maximum.
    """
    no_penalty = np.zeros(rows.shape[1])
    likelihood = Likelihood(
        design=DesignMatrix(columns=rows), credit=weight * credit, weight=weight, penalty=no_penalty
    )
    try:
        coefficients = maximize(likelihood).parameters
    except (NotIdentifiedError, SingularError):
        raise NotIdentifiedError(UNBOUNDED_REASON) from None
    information = likelihood.information_at(coefficients)
    if np.linalg.cond(information) > 1 / SMALLEST_INVERSE_CONDITION:
        raise NotIdentifiedError(UNBOUNDED_REASON)
    return coefficients, information
