"""structured-bradley-terry: ratings on the human scale from few human labels and all verdicts of a
judge."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import ndtri

from podium.data.battles import Battles
from podium.defaults import LEVEL, REGULARIZATION
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

METHOD = "normal posterior, judge as predictor, spread averaged over its evidence; joined with each model's own labels"
FEWEST_LABELS = 5
"""Labels per model below which the prior of the spread decides the weight of the judge."""


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

    A model's strength is kappa times the judge's plus a random deviation whose size is estimated
    from the labels: without labels the rating rests on the judge, with many on the labels. A model
    whose labels contradict the judge (`diagnostics["structured"]["misjudged"]`) is rated mainly by
    its labels; the intervals of the others also hold those by their own labels. Further columns are
    the rating by the labels alone (`human`), by the judge alone (`judge`, kappa times its
    strength), and `pull`, the weight of the labels in [0, 1].

    Args (others as of `bradley_terry`):
        battles: of a judge, with labels (`votes`, or a column `human`); labelled battles need no
            verdict.
        target, beta, constant, ridge: the judge's soft credits, as of soft-elo; by default its
            margins, with a beta fitted to the labels, or its verdicts as they are.
        spread_prior: logits, prior median of the disagreement between judge and humans; 0.35 by
            default.
        regularization: lambda of the judge's ratings and of the ratings by labels alone.
        whole: all battles, if `battles` are a slice, whose items' labels only are used.

    Raises:
        NotIdentifiedError: no label between the judge's models, or a disconnected comparison graph.
        NotConvergedError: a fit did not reach its maximum.
        UsageError: an impossible option.

    Source: `podium.rankers.fit.random_effects`.
    """
    if not 0 < spread_prior < np.inf:
        raise UsageError(
            f"spread_prior={spread_prior:g} is not a positive number of logits (0.35 is the default)"
        )
    credit, warnings = _judge_credits(
        battles, whole or battles, TargetOptions(target, beta, constant, ridge), level
    )
    coded = code_battles(battles, credit=credit)
    judge = fit_battles(coded, regularization)
    exposure = measure_exposure(battles, coded, pair_sums(coded))
    is_slice = whole is not None and len(whole) != len(battles) and battles.has_items
    items = frozenset(battles.values_of("item")) if is_slice else None
    labels = human_label_fit(battles, coded.models, items)
    misjudged = fit_with_misjudged(labels.coded, judge.theta, spread_prior)
    human, human_se = human_ratings(labels.coded, regularization)
    scale = elo_scale(
        coded.models, bounded_models(judge.graph), coded.clusters_by_model(), centre, pin
    )
    estimate = _posterior_estimate(misjudged, scale, coded.clusters, level)
    extra = _place_human(human, human_se, estimate.score, level) | {
        "judge": scale.scores(misjudged.fit.kappa[0] * judge.theta),
        "labels": labels.coded.battles_by_model().astype(float),
        "pull": misjudged.fit.pull,
    }
    size = {"labels": labels.votes, "battles": len(labels.coded.a)}
    summary = {
        "structured": size
        | misjudged.fit.summary()
        | {"misjudged": misjudged.summary(coded.models)}
    }
    warnings = [*warnings, *_label_and_judge_warnings(battles, labels, misjudged, human)]
    fit = Fit(converged=True, regularization=regularization)
    result = RankerResult(estimate, fit, extra=extra, diagnostics=summary, warnings=warnings)
    return build_standings("structured-bradley-terry", ELO, exposure, result, level=level, rng=rng)


def _posterior_estimate(
    misjudged: MisjudgedFit, scale: EloScale, clusters: int, level: float
) -> ScoreEstimates:
    """Return posterior means on the Elo scale with intervals that allow for misjudged models; the
    covariance contains the wider side."""
    fit, quantile, (reach, widening) = (
        misjudged.fit,
        ndtri((1 + level) / 2),
        misjudged.interval_parts(level),
    )
    wider = (reach**2 - quantile**2) * np.diag(fit.covariance) + widening.max(axis=0)
    covariance = scale.covariance(fit.covariance + np.diag(np.maximum(wider, 0.0)) / quantile**2)
    if scale.pinned is not None:
        # The others are compared with the pinned model, which may be misjudged, too.
        reach, widening = (
            np.maximum(reach, reach[scale.pinned]),
            widening + widening[:, scale.pinned].max(),
        )
        widening[:, scale.pinned] = 0.0
    score, variance = scale.scores(fit.theta), np.diag(scale.covariance(fit.covariance))
    below, above = np.sqrt(reach**2 * np.maximum(variance, 0.0) + POINTS**2 * widening)
    return ScoreEstimates(
        score, score - below, score + above, covariance, clusters, METHOD, pinned=scale.pinned
    )


def _place_human(
    human: np.ndarray, se: np.ndarray, score: np.ndarray, level: float
) -> dict[str, np.ndarray]:
    """Return columns with the Elo by labels alone and its interval, the mean set to that of the
    same models' scores."""
    origin = np.nanmean(score - POINTS * human) if not np.isnan(human).all() else np.nan
    alone, half = origin + POINTS * human, ndtri((1 + level) / 2) * POINTS * se
    return {"human": alone, "human_low": alone - half, "human_high": alone + half}


def _judge_credits(
    battles: Battles, whole: Battles, options: TargetOptions, level: float
) -> tuple[np.ndarray, Sequence[Notice]]:
    """Return the credits of a by the judge, soft if possible, NaN where unparsed, and warnings
    about them."""
    plain = battles.table["credit"].to_numpy(dtype=np.float64)
    if not options.are_given and not (battles.counts().readable and "margin" in battles.table):
        return plain, []
    try:
        soft = soften_battles(battles, whole, None, options, level)
        return soft.credit, soft.doubts
    except (NotIdentifiedError, NotConvergedError) as error:
        if options.are_given:
            raise
        return plain, [Notice("verdicts-as-they-are", {"why": str(error)})]


def _label_and_judge_warnings(
    battles: Battles, labels: HumanLabelFit, misjudged: MisjudgedFit, human: np.ndarray
) -> Iterator[Notice]:
    """Yield warnings about the labels and about the judge beside them; `human` is NaN where labels
    give no rating."""
    each, names = labels.coded.battles_by_model(), labels.coded.models
    if labels.left_out:
        yield labels.left_out_warning()
    if 2 * labels.votes < FEWEST_LABELS * len(names):
        counts = {"labels": round(labels.votes), "models": len(names), "fewest": FEWEST_LABELS}
        yield Notice("few-labels", counts)
    if unlabelled := [names[k] for k in np.flatnonzero(each == 0)]:
        yield Notice("unlabelled-models", {"models": unlabelled})
    mean, low, high = misjudged.fit.kappa
    slope = {"slope": mean, "low": low, "high": high}
    if high < 0:
        yield Notice("judge-turned", slope)
    elif low <= 0:
        yield Notice("judge-unrelated", slope)
    if (labels.coded.credit == 0.5).all():
        yield Notice("labels-are-ties")
    elif lost := [names[k] for k in np.flatnonzero(np.isnan(human) & (each > 0))]:
        yield Notice("labels-unbounded", {"models": lost})
    for k in np.flatnonzero(misjudged.flagged).tolist():
        fields = {
            "model": names[k],
            "elo": float(POINTS * abs(misjudged.excess[k])),
            "side": "higher" if misjudged.excess[k] > 0 else "lower",
            "p": float(misjudged.p_value[k]),
        }
        yield Notice("misjudged-model", fields)
    yield from sampling_warnings(battles, labels.battles)
