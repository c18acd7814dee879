"""structured-bradley-terry: ratings by few human labels and all verdicts of a judge."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from podium.data.battles import Battles
from podium.defaults import LEVEL, REGULARIZATION
from podium.distributions import ndtri
from podium.errors import NotConvergedError, NotIdentifiedError, UsageError
from podium.notices.notice import Notice
from podium.rankers.calibration.human_label_fit import (
    HumanLabelFit,
    human_label_fit,
    human_ratings,
    sampling_warnings,
)
from podium.rankers.calibration.signals import Kind
from podium.rankers.errors.intervals import ScoreEstimates
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.identification import bounded_models, fit_battles
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.fit.random_effects import SPREAD_PRIOR, MisjudgedFit, fit_with_misjudged
from podium.rankers.fit.scale import POINTS, EloScale, elo_scale
from podium.rankers.ranking import Fit, Standings
from podium.rankers.soft_elo import TargetOptions, soften_battles
from podium.rankers.standings import RankerResult, build_standings, measure_exposure
from podium.score_scale import ELO

ERROR_METHOD = "normal posterior"
"""Name of the method of the standard errors, as the standings show it."""
METHOD = (
    f"{ERROR_METHOD}, judge as predictor, spread averaged over its evidence; "
    "joined with each model's own labels"
)
"""Name of the method of the intervals, as the standings show it."""
FEWEST_LABELS = 5
"""If there are fewer labels per model than this, on average, a warning is given: the prior of the
spread then determines the weight of the judge."""


def structured_bradley_terry(
    battles: Battles,
    *,
    level: float = LEVEL,
    rng: np.random.Generator,
    target: Kind | None = None,
    beta: float | None = None,
    constant: float | None = None,
    ridge: float | None = None,
    spread_prior: float = SPREAD_PRIOR,
    regularization: float = REGULARIZATION,
    pin: str | None = None,
    centre: tuple[str, ...] | None = None,
    whole: Battles | None = None,
) -> Standings:
    """Rank by few human labels and a judge's verdicts, in Elo points on the human scale.

    A model's log-strength is kappa times its log-strength by the judge, plus a random deviation.
    The size of the deviations is estimated from the labels. Without labels, the rating rests on
    the judge; with many labels, it rests on the labels. A model whose labels contradict the judge
    (`diagnostics["structured"]["misjudged"]`) is rated mainly by its labels. The interval of any
    other model contains the interval by its own labels, too.

    The standings have these further columns: the Elo by the labels alone (`human`, with the ends
    `human_low` and `human_high` of its interval), the Elo by the judge alone (`judge`, of kappa
    times its log-strength), the number of labelled battles (`labels`, whatever their numbers of
    votes are), and the weight of the labels in the rating (`pull`, in [0, 1]).

    Args (others as of `bradley_terry`):
        battles: battles of a judge, with human labels (`votes`, or a column `human`). Labelled
            battles need no verdict.
        target, beta, constant, ridge: how the judge's soft credits are computed, as of soft-elo.
            By default, they come from its margins, with a beta fitted to the labels. If there are
            no margins, or no beta can be fitted, they are the judge's verdicts as they are.
        spread_prior: prior median of the deviations' standard deviation, in logits, above 0; 0.35
            by default.
        regularization: lambda of the judge's ratings and of the ratings by labels alone.
        whole: all battles, if `battles` are a slice. beta is fitted to the labels of all of them,
            and the ratings use the labels of the slice's items.

    Raises:
        NotIdentifiedError: no label between the judge's models, or a disconnected comparison
            graph.
        NotConvergedError: a fit did not reach its maximum.
        UsageError: an impossible option.

    Source: `podium.rankers.fit.random_effects`.
    """
    _check_spread_prior(spread_prior)
    options = TargetOptions(target, beta, constant, ridge)
    credit, warnings = _judge_credits(battles, whole or battles, options, level)
    coded = code_battles(battles, credit=credit)
    judge = fit_battles(coded, regularization)
    exposure = measure_exposure(battles, coded, pair_sums(coded))
    labels = human_label_fit(battles, coded.models, _items_of_slice(battles, whole))
    misjudged = fit_with_misjudged(labels.coded, judge.theta, spread_prior)
    human, human_se = human_ratings(labels.coded, regularization)
    bounded = bounded_models(judge.graph)
    scale = elo_scale(coded.models, bounded, coded.clusters_by_model(), centre, pin)
    estimate = _estimate_posterior_elo(misjudged, scale, coded.clusters, level)
    extra = _human_elo_columns(human, human_se, estimate.score, level) | {
        "judge": scale.scores(misjudged.fit.kappa[0] * judge.theta),
        "labels": labels.coded.battles_by_model().astype(float),
        "pull": misjudged.fit.pull,
    }
    result = RankerResult(
        estimate,
        Fit(converged=True, regularization=regularization),
        extra=extra,
        diagnostics={"structured": _fit_summary(labels, misjudged, coded.models)},
        warnings=[*warnings, *_label_and_judge_warnings(battles, labels, misjudged, human)],
    )
    return build_standings("structured-bradley-terry", ELO, exposure, result, level=level, rng=rng)


def _check_spread_prior(spread_prior: float) -> None:
    """Raise UsageError if the prior median of the spread, in logits, is not positive and finite."""
    if not 0 < spread_prior < np.inf:
        raise UsageError(
            f"spread_prior={spread_prior:g} is not a positive number of logits "
            "(0.35 is the default)"
        )


def _items_of_slice(battles: Battles, whole: Battles | None) -> frozenset[Any] | None:
    """Return the items of a slice, to which the labels are restricted; None for all items.

    The result is None if `battles` are no slice (`whole` is None, or has as many battles), or if
    they have no items.
    """
    if whole is None or len(whole) == len(battles) or not battles.has_items:
        return None
    return frozenset(battles.values_of("item"))


def _fit_summary(
    labels: HumanLabelFit, misjudged: MisjudgedFit, models: tuple[str, ...]
) -> dict[str, Any]:
    """Return the diagnostics of a fit, for the JSON.

    The keys are `labels` (number of votes), `battles` (number of labelled battles), those of
    `RandomEffects.summary`, and `misjudged` (`MisjudgedFit.summary`).
    """
    return {
        "labels": labels.vote_count,
        "battles": len(labels.coded.a),
        **misjudged.fit.summary(),
        "misjudged": misjudged.summary(models),
    }


def _estimate_posterior_elo(
    misjudged: MisjudgedFit, scale: EloScale, clusters: int, level: float
) -> ScoreEstimates:
    """Return posterior means in Elo, with intervals that allow for misjudged models.

    The half-widths are those of `MisjudgedFit.interval_parts`, and may differ below and above. The
    covariance is that of the posterior, with variances enlarged so that the normal interval of the
    level is as wide as the wider side.

    Args:
        misjudged: the posterior.
        scale: the Elo scale.
        clusters: number of clusters of the judge's battles.
        level: confidence level, in (0, 1).
    """
    fit = misjudged.fit
    quantile = ndtri((1 + level) / 2)
    half_width_in_se, widening = misjudged.interval_parts(level)
    added_by_quantile = (half_width_in_se**2 - quantile**2) * np.diag(fit.covariance)
    # `added_square` is added to the squared half-width of the wider side. Divided by the squared
    # quantile, it is added to the variance.
    added_square = np.maximum(added_by_quantile + widening.max(axis=0), 0.0)
    covariance = scale.covariance(fit.covariance + np.diag(added_square) / quantile**2)
    if scale.pinned is not None:
        # Scores are differences from the pinned model, which may itself be misjudged. So each
        # half-width is at least that of the pinned model, whose widening is added to the others.
        half_width_in_se = np.maximum(half_width_in_se, half_width_in_se[scale.pinned])
        widening = widening + widening[:, scale.pinned].max()
        widening[:, scale.pinned] = 0.0
    score = scale.scores(fit.theta)
    # Rounding can make the variance of a pinned model negative.
    variance = np.maximum(np.diag(scale.covariance(fit.covariance)), 0.0)
    # Shape (2, models): `widening` has a row for each side.
    half_widths = np.sqrt(half_width_in_se**2 * variance + POINTS**2 * widening)
    below, above = half_widths
    return ScoreEstimates(
        score,
        low=score - below,
        high=score + above,
        covariance=covariance,
        clusters=clusters,
        method=METHOD,
        pinned=scale.pinned,
        error_method=ERROR_METHOD,
    )


def _human_elo_columns(
    human: np.ndarray, se: np.ndarray, score: np.ndarray, level: float
) -> dict[str, np.ndarray]:
    """Return the columns `human` (the Elo by labels alone), `human_low` and `human_high`.

    Each has shape (models,), NaN where labels give no rating. The Elo scores are shifted so that
    their mean is the mean of `score` over the same models. Intervals are normal.

    Args:
        human: log-strengths by labels alone, NaN where labels give none, shape (models,).
        se: their standard errors, shape (models,).
        score: Elo scores of the standings, shape (models,).
        level: confidence level, in (0, 1).
    """
    origin = np.nan
    if not np.isnan(human).all():
        origin = np.nanmean(score - POINTS * human)
    elo = origin + POINTS * human
    half_width = ndtri((1 + level) / 2) * POINTS * se
    return {"human": elo, "human_low": elo - half_width, "human_high": elo + half_width}


def _judge_credits(
    battles: Battles, whole: Battles, options: TargetOptions, level: float
) -> tuple[np.ndarray, Sequence[Notice]]:
    """Return the judge's credits of a, NaN where unparsed, shape (battles,), and warnings.

    The credits are soft if the options or the labels determine the map to soft credits. Without
    options, they are the credits of the verdicts if there are no margins, or, with a warning, if no
    map can be fitted. `whole` are the battles whose labels the map is fitted to, and `level` is the
    confidence level of beta's interval, in (0, 1).

    Raises:
        NotIdentifiedError, NotConvergedError, UsageError: as of `soften_battles`, if options are
            given.
    """
    verdict_credit = battles.table["credit"].to_numpy(dtype=np.float64)
    has_margins = battles.counts().readable and "margin" in battles.table
    if not options.are_given and not has_margins:
        return verdict_credit, []
    try:
        soft = soften_battles(battles, whole=whole, calibration=None, options=options, level=level)
        return soft.credit, soft.warnings
    except (NotIdentifiedError, NotConvergedError) as error:
        if options.are_given:
            raise
        return verdict_credit, [Notice("verdicts-as-they-are", {"why": str(error)})]


def _label_and_judge_warnings(
    battles: Battles, labels: HumanLabelFit, misjudged: MisjudgedFit, human: np.ndarray
) -> Iterator[Notice]:
    """Yield warnings about the labels, the judge's slope on the labels, and misjudged models.

    `human` are log-strengths by labels alone, NaN where labels give none, shape (models,).
    """
    names = labels.coded.models
    labels_of_model = labels.coded.battles_by_model()
    unlabelled = [names[k] for k in np.flatnonzero(labels_of_model == 0)]
    is_unbounded = np.isnan(human) & (labels_of_model > 0)
    unbounded = [names[k] for k in np.flatnonzero(is_unbounded)]
    if labels.left_out:
        yield labels.left_out_warning()
    if 2 * labels.vote_count < FEWEST_LABELS * len(names):
        counts = {"labels": round(labels.vote_count), "models": len(names), "fewest": FEWEST_LABELS}
        yield Notice("few-labels", counts)
    if unlabelled:
        yield Notice("unlabelled-models", {"models": unlabelled})
    mean, low, high = misjudged.fit.kappa
    slope = {"slope": mean, "low": low, "high": high}
    if high < 0:
        yield Notice("judge-turned", slope)
    elif low <= 0:
        yield Notice("judge-unrelated", slope)
    if (labels.coded.credit == 0.5).all():
        yield Notice("labels-are-ties")
    elif unbounded:
        yield Notice("labels-unbounded", {"models": unbounded})
    for k in np.flatnonzero(misjudged.flagged).tolist():
        yield _misjudged_warning(misjudged, names[k], k)
    yield from sampling_warnings(battles, labels.is_labelled)


def _misjudged_warning(misjudged: MisjudgedFit, model: str, code: int) -> Notice:
    """Return the warning that the labels of a model contradict the judge.

    `model` is the name of the model, and `code` its code.
    """
    excess = misjudged.excess[code]
    fields = {
        "model": model,
        "elo": float(POINTS * abs(excess)),
        "side": "higher" if excess > 0 else "lower",
        "p": float(misjudged.p_value[code]),
    }
    return Notice("misjudged-model", fields)
