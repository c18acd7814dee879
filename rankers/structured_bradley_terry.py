"""Structured Bradley-Terry: few labels by humans and all verdicts of a judge, joined in ratings on human scale."""

import numpy as np
from scipy.special import ndtri

from podium.errors import NotConvergedError, NotIdentifiedError, UsageError
from podium.nouns.battles import Battles
from podium.nouns.ranking import Fit, Standings
from podium.rankers.calibration.signals import Kind, read_signal
from podium.rankers.calibration.targets import soften_verdicts
from podium.rankers.coded import code_battles
from podium.rankers.defaults import LEVEL, REGULARIZATION
from podium.rankers.human_label_fit import HumanLabelFit, human_label_fit, human_ratings, sampling_doubt
from podium.rankers.identification import bounded_models, fit_identified
from podium.rankers.intervals import ScoreEstimates
from podium.rankers.pairs import pair_sums
from podium.rankers.random_effects import SPREAD_PRIOR, RandomEffects, fit_random_effects
from podium.rankers.scale import POINTS, elo_scale
from podium.rankers.soft_elo import choose_target
from podium.rankers.standings import RankerResult, build_standings, measure_exposure
from podium.rankers.strengths import Strengths
from podium.text import plural, some

FEWEST_LABELS = 5
"""Labels per model below which the prior of the spread decides how far the judge is trusted."""
OUTLIER = 3.0
"""Standard deviations by which a judge's rating differs from human ratings: by chance in 3 of 1,000 models."""


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
    center: tuple[str, ...] | None = None,
    whole: Battles | None = None,
) -> Standings:
    """Rank by few human labels and what a judge says of all battles, in Elo points on human scale.

    A model's strength is kappa times the judge's, and a deviation of its own whose size the labels tell: without
    labels it rests on the judge, with many on humans. Beside it stand the rating of the labels alone (`human`, which
    assumes nothing of the judge), that of the judge (`judge`, kappa times its own), and `pull`, how far the labels
    decide (0 to 1).

    Args:
        battles: of a judge, with labels (`votes`, or a column `human`); labelled battles need no verdict.
        level: of intervals and rank sets, in (0, 1); normal.
        rng: draws for rank sets.
        target, beta, constant, ridge: the judge's soft targets, as of soft-elo; by default its margins, with a beta
            that the labels give, or its verdicts as they are.
        spread_prior: logits by which half of all judges are taken to disagree with humans at most, 0.35 by default.
        regularization: lambda of the judge's ratings and of the labels alone.
        pin: `MODEL:1000` shifts all scores.
        center: models whose mean is 1500; by default all whose rating the data bound.
        whole: all battles, of which `battles` are a slice: labels of its items only count.

    Raises:
        NotIdentifiedError: no label between the judge's models, or its battles do not join.
        NotConvergedError: a fit did not reach its maximum.
        UsageError: an impossible option.

    Source: `podium.rankers.random_effects`.
    """
    if not 0 < spread_prior < np.inf:
        raise UsageError(f"spread_prior={spread_prior:g} is not a number of logits above 0 (0.35 is the default)")
    credit, doubts = _judge_credits(battles, whole or battles, target, beta, constant, ridge, level)
    coded = code_battles(battles, credit=credit)
    pairs = pair_sums(coded)
    exposure = measure_exposure(battles, coded, pairs)
    judge = fit_identified(coded.models, pairs, exposure.battles, regularization)
    sliced = whole is not None and len(whole) != len(battles) and battles.has_items
    labels = human_label_fit(battles, coded.models, frozenset(battles.values_of("item")) if sliced else None)
    fit = fit_random_effects(labels.coded, judge.theta, spread_prior)
    human, human_se = human_ratings(labels.coded, regularization)
    scale = elo_scale(coded.models, bounded_models(judge.graph), coded.clusters_by_model(), center, pin)
    score, covariance = scale.scores(fit.theta), scale.covariance(fit.covariance)
    reach = ndtri((1 + level) / 2) * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    method = "normal posterior: labels by humans, judge as predictor, spread averaged over its evidence"
    estimate = ScoreEstimates(
        score, score - reach, score + reach, covariance, coded.clusters, method, pinned=scale.pinned
    )
    # The labels alone have an origin of their own: the mean of those that they rate is that of their scores.
    origin = np.nanmean(score - POINTS * human) if not np.isnan(human).all() else np.nan
    alone, half = origin + POINTS * human, ndtri((1 + level) / 2) * POINTS * human_se
    extra = {
        "human": alone,
        "human_low": alone - half,
        "human_high": alone + half,
        "judge": scale.scores(fit.kappa[0] * judge.theta),
        "labels": labels.coded.battles_by_model().astype(float),
        "pull": fit.pull,
    }
    figures = {"labels": labels.votes, "battles": len(labels.coded.a), **fit.summary()}
    result = RankerResult(
        estimate,
        Fit(converged=True, regularization=regularization),
        extra=extra,
        diagnostics={"structured": figures},
        warnings=[*doubts, *_doubts(battles, labels, fit, judge, human, human_se)],
    )
    return build_standings("structured-bradley-terry", "elo", exposure, result, level=level, rng=rng)


def _judge_credits(
    battles: Battles,
    whole: Battles,
    target: Kind | None,
    beta: float | None,
    constant: float | None,
    ridge: float | None,
    level: float,
) -> tuple[np.ndarray, list[str]]:
    """Return what a earned by the judge, soft where something says how, NaN where unparsed; and doubts of that."""
    plain = battles.table["credit"].to_numpy(dtype=np.float64)
    asked = any(option is not None for option in (target, beta, constant, ridge))
    if not asked and not (battles.counts().readable and "margin" in battles.table):
        return plain, []
    try:
        chosen, _, doubts = choose_target(whole, None, target, beta, constant, ridge, level)
        signal = read_signal(battles, chosen.kind, ridge)  # type: ignore[arg-type]
        return soften_verdicts(chosen, signal), list(doubts)
    except (NotIdentifiedError, NotConvergedError) as error:
        if asked:
            raise
        return plain, [
            f"the judge's verdicts are taken as they are, because labels give no map of its margins: {error}"
        ]


def _doubts(
    battles: Battles,
    labels: HumanLabelFit,
    fit: RandomEffects,
    judge: Strengths,
    human: np.ndarray,
    human_se: np.ndarray,
) -> list[str]:
    """Say where ratings rest on the judge alone, on a judge that says nothing, on odd labels, and who is an outlier."""
    coded, warnings = labels.coded, []
    each, names = coded.battles_by_model(), coded.models
    if labels.left_out:
        warnings.append(labels.left_out_doubt())
    if 2 * labels.votes < FEWEST_LABELS * len(names):
        warnings.append(
            f"{labels.votes:,.0f} {plural('label', labels.votes)} for {len(names)} models, fewer than {FEWEST_LABELS} "
            "each: how far the judge is trusted rests on a prior (spread_prior); `podium label` draws more battles to "
            "label"
        )
    if unlabelled := [names[k] for k in np.flatnonzero(each == 0)]:
        warnings.append(f"without a label, rated by the judge alone on human scale: {some(unlabelled)}")
    slope = f"their slope is {fit.kappa[0]:.2f} ({fit.kappa[1]:.2f} … {fit.kappa[2]:.2f}, 90%)"
    if fit.kappa[2] < 0:
        warnings.append(f"human ratings fall as the judge's rise: is its sign turned? {slope.capitalize()}")
    elif fit.kappa[1] <= 0:
        warnings.append(f"the judge's ratings may tell nothing of human ratings: {slope}")
    unbounded = np.isnan(human) & (each > 0)
    if (coded.credit == 0.5).all():
        ties = "all labels are ties" if labels.agreed == 1 else "all labels are ties, or votes that cancel each other"
        what = ties if labels.agreed else "humans who label the same battle contradict each other throughout"
        warnings.append(f"{what}: labels say nothing of the order")
    elif unbounded.any():
        lost = [names[k] for k in np.flatnonzero(unbounded)]
        warnings.append(f"labels alone do not bound these, or do not join them to others: {some(lost)}")
    predicted = fit.kappa[0] * judge.theta
    known = ~np.isnan(human)
    with np.errstate(invalid="ignore"):
        apart = predicted - human - (np.mean((predicted - human)[known]) if known.any() else 0.0)
        odd = np.abs(apart) > OUTLIER * np.sqrt(fit.tau[0] ** 2 + human_se**2)
    for k in np.flatnonzero(odd):
        side = "favours" if apart[k] > 0 else "is against"
        warnings.append(f"outlier: the judge {side} {names[k]} by {POINTS * abs(apart[k]):.0f} Elo beside human labels")
    doubt = sampling_doubt(battles, labels.battles)
    return [*warnings, *([doubt] if doubt else [])]
