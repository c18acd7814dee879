"""bradley-terry: joint maximum likelihood on the Elo scale."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from podium.check_kinds import CHECKS
from podium.data.battles import Battles
from podium.defaults import LEVEL, REGULARIZATION, RESAMPLES
from podium.notices.notice import Notice
from podium.rankers.errors.both_ways import pair_tests_both_ways, with_wider_intervals
from podium.rankers.errors.elo_difference import FEWEST_WINS_AND_LOSSES, EloTests
from podium.rankers.errors.few_items import (
    FewBattles,
    covariance_with_few,
    few_battles_of,
    have_few_clusters,
    separated_battles_of,
    with_bounds_by_tests,
    with_intervals_by_tests,
    with_intervals_of_only_pair,
    with_score_tests,
    with_separated_bounds,
)
from podium.rankers.errors.intervals import (
    Interval,
    ScoreEstimates,
    bootstrap_estimate,
    resample,
    sandwich_estimate,
    t_quantile,
)
from podium.rankers.errors.raters import (
    VaryingRaters,
    cluster_by_raters,
    covariance_of_raters,
    raters_of,
)
from podium.rankers.fit.cells import BattleData, cluster_shares, load_battles, prepare_battles
from podium.rankers.fit.coded import (
    Cluster,
    CodedBattles,
    Labels,
    code_battles,
    require_choice,
)
from podium.rankers.fit.graph import Graph, design_efficiency
from podium.rankers.fit.identification import (
    bounded_models,
    bounding_battles,
    fit_battles,
    records_of_separated,
)
from podium.rankers.fit.pairs import cells_by_cluster
from podium.rankers.fit.scale import POINTS, EloScale, elo_scale
from podium.rankers.fit.strengths import LadderPrior, Strengths, build_prior
from podium.rankers.fit.unequal_weights import are_unequal, effective_freedom
from podium.rankers.given_ratings import Ratings
from podium.rankers.ladder_placement import choose_ladder, failed_ladder_checks, place_newcomers
from podium.rankers.length_control.joint import fit_at_equal_length
from podium.rankers.length_control.lengths import LengthOf, Lengths, read_lengths
from podium.rankers.ranking import Fit, Standings
from podium.rankers.standings import (
    LEADER_INTERVAL,
    Exposure,
    RankerResult,
    build_standings,
    measure_exposure,
)
from podium.score_scale import ELO


def bradley_terry(
    battles: Battles,
    *,
    level: float = LEVEL,
    rng: np.random.Generator,
    regularization: float = REGULARIZATION,
    labels: Labels = "soft",
    interval: Interval = "sandwich",
    resamples: int = RESAMPLES,
    cluster: Cluster = "item",
    pin: str | None = None,
    centre: tuple[str, ...] | None = None,
    length_control: bool = False,
    length_of: LengthOf = "answer",
    ratings: Ratings | None = None,
) -> Standings:
    """Rank by Bradley-Terry, fitted jointly to all battles, in Elo points.

    The log-strengths theta maximize the sum over battles of w [y log s(d) + (1 - y) log s(-d)],
    minus (lambda / 2) |theta|^2. Here y is the credit of a, w the weight of the battle, d the
    difference theta_a - theta_b, and s the logistic function (Bradley and Terry 1952).

    Args:
        battles: battles with credits y in [0, 1].
        level: confidence level of intervals and rank sets, in (0, 1).
        rng: draws for rank sets and the bootstrap.
        regularization: lambda, at least 0. 0 requires that no model is separated.
        labels: `soft` (credits as they are) or `hard` (win, tie, loss; a flip is a tie).
        interval: `sandwich` (clustered; for G clusters of equal weight with the factor G / (G - 1)
            and t with G - 1 degrees of freedom) or `bootstrap` (percentile; not with
            length_control).
        resamples: number of resamples of the bootstrap, at least 2.
        cluster: `item`, or `row` for comparison. With `item`, and `sandwich` without
            length_control, the errors also allow for ten or more voters or judges.
        pin: `MODEL:1000` shifts all scores so that this model has 1000. It replaces `centre`.
        centre: models whose mean is 1500; by default all that are not separated, where models with
            few items count less.
        length_control: ratings as if all responses were equally long
            (`podium.rankers.length_control.joint`).
        length_of: the length that is controlled for, of the answer or of the transcript of an
            agent.
        ratings: known ratings of some models, on whose scale the others are placed:
            `NAME:1612+-25,...` (Elo and its standard error), or a .csv (model, rating, se) or
            ranking's .json file; by default those of the log.

    Raises:
        NotIdentifiedError: the comparison graph is disconnected, a model is separated and lambda
            is 0, or the effect of length cannot be distinguished from strengths.
        NotConvergedError: the fit did not reach its maximum.
        UsageError: an option value that is unknown or out of range, or an unknown model;
            length_control with interval=bootstrap; or `ratings` with interval=bootstrap, pin or
            length_control. With one of these options, the ratings of a log are not used, and a note
            says so.
    """
    require_choice("interval", interval, ("sandwich", "bootstrap"))
    lengths = None
    if length_control:
        lengths = read_lengths(battles, labels, cluster, interval, length_of)
    coded = lengths.coded if lengths else prepare_battles(battles, labels=labels, cluster=cluster)
    options_without_ladder = _options_without_ladder(interval, pin, length_control)
    prior, notes = _choose_prior(battles, ratings, coded.models, options_without_ladder)
    strengths = fit_battles(coded, regularization, prior)
    exposure = measure_exposure(battles, coded, strengths.pairs)
    strengths, additions = _control_length(strengths, lengths, level)
    scale = prior.scale if prior else _scale_of_fit(strengths, coded, centre, pin)
    if interval == "bootstrap":
        estimate = _bootstrap_elo(strengths, load_battles(coded), scale, level, resamples, rng)
    elif cluster == "item" and not lengths:
        estimate = _estimate_with_raters(strengths, coded, scale, level, battles, labels)
    else:
        # Raters vary beside items only, and in fits without a slope of length.
        estimate = estimate_elo(strengths, coded, scale, level)
    if prior:
        estimate, placement = place_newcomers(strengths, prior, coded, estimate)
        additions = _describe_placement(placement)
    standings = build_elo_standings(exposure, strengths, estimate, scale, level=level, rng=rng)
    return additions.add_to(standings, notes)


@dataclass(frozen=True, slots=True)
class _Additions:
    """Diagnostics and warnings of an option, in addition to those of every Elo ranking."""

    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[Notice] = ()

    def add_to(self, standings: Standings, notes: Sequence[Notice]) -> Standings:
        """Return standings with these diagnostics, and with `notes` and these warnings.

        The warnings of `standings` come first, then `notes`, then these warnings. On a ladder, the
        diagnostic `LEADER_INTERVAL` is removed: the first model was rated before these battles,
        which did not choose it, so that no interval has to allow for its choice.
        """
        diagnostics = {**standings.diagnostics, **self.diagnostics}
        if "ladder" in self.diagnostics:
            diagnostics.pop(LEADER_INTERVAL, None)
        return replace(
            standings,
            diagnostics=diagnostics,
            warnings=(*standings.warnings, *notes, *self.warnings),
        )


def _estimate_with_raters(
    strengths: Strengths,
    coded: BattleData,
    scale: EloScale,
    level: float,
    battles: Battles,
    labels: Labels,
) -> ScoreEstimates:
    """Return Elo scores with errors by item and, if there are enough of them, by voter or judge.

    If there are at least ten voters or judges, their covariance is added to the covariance by item.
    With fewer, errors are by item only (`estimate_elo`). Tests, and intervals by tests, have no
    standard error to which a covariance could be added. They are made twice, by item and by rater:
    the wider interval and the larger p-value count.

    Args:
        strengths: the fitted log-strengths.
        coded: the battles that they were fitted to.
        scale: the Elo scale.
        level: confidence level, in (0, 1).
        battles: all battles, with their voters and judges.
        labels: `soft` or `hard`, as in `bradley_terry`.
    """
    raters = raters_of(battles)
    if raters is None:
        return estimate_elo(strengths, coded, scale, level)

    def covariance_of_strengths(clustered: CodedBattles) -> np.ndarray:
        """Return the covariance of the log-strengths by the clusters, shape (models, models).

        They come before other coefficients.
        """
        models = len(strengths.theta)
        return strengths.covariance(clustered)[:models, :models]

    by_item = code_battles(battles, labels=labels)
    added, freedom = covariance_of_raters(covariance_of_strengths, by_item, raters)
    varying = VaryingRaters(raters.unit, raters.number, freedom)
    estimate = estimate_elo(
        strengths, battles=coded, scale=scale, level=level, added_covariance=added, raters=varying
    )
    by_rater = cluster_by_raters(by_item, raters)
    raters_of_model = by_rater.clusters_by_model()
    separated = strengths.graph.separated
    has_intervals_by_tests = separated.any() or estimate.by_tests is not None
    if has_intervals_by_tests or have_few_clusters(raters_of_model, separated).any():
        estimate_by_rater = estimate_elo(strengths, by_rater, scale, level)
        estimate = with_wider_intervals(estimate, estimate_by_rater)
    unit_and_number = (raters.unit, raters.number)
    tests_by_rater = _elo_tests(strengths, by_rater).pair_tests
    tests = pair_tests_both_ways(estimate.tests, tests_by_rater, unit_and_number, raters_of_model)
    return replace(estimate, raters=unit_and_number, raters_of_model=raters_of_model, tests=tests)


def _options_without_ladder(interval: Interval, pin: str | None, length_control: bool) -> list[str]:
    """Return the options in use that cannot be combined with ratings of a ladder, by name.

    The possible names are `interval=bootstrap`, `pin` and `length_control`, in this order.
    """
    is_chosen = {
        "interval=bootstrap": interval == "bootstrap",
        "pin": bool(pin),
        "length_control": length_control,
    }
    return [name for name, is_set in is_chosen.items() if is_set]


def _choose_prior(
    battles: Battles,
    ratings: Ratings | None,
    models: tuple[str, ...],
    options_without_ladder: Sequence[str],
) -> tuple[LadderPrior | None, tuple[Notice, ...]]:
    """Return the prior by the ladder, and warnings about the ladder.

    The prior is None if there is no ladder, or if the ladder of a log is not used because of an
    option in `options_without_ladder`.

    Args:
        battles: the battles, which may have the ladder of a log.
        ratings: given ratings, which replace this ladder.
        models: names of the models with battles.
        options_without_ladder: options in use that exclude a ladder.

    Raises:
        UsageError: given ratings that cannot be read, that name no model with a battle, or with one
            of these options.
        DataError: the file of the ratings is damaged.
    """
    ladder, notes = choose_ladder(battles, ratings, models, options_without_ladder)
    prior = build_prior(ladder, models) if ladder else None
    return prior, notes


def _scale_of_fit(
    strengths: Strengths, battles: BattleData, centre: tuple[str, ...] | None, pin: str | None
) -> EloScale:
    """Return the Elo scale of a fit without a ladder.

    `centre` and `pin` are options of `bradley_terry`. Without them, 1500 is the mean of the models
    that are not separated or, if all are, of all models.
    """
    bounded = bounded_models(strengths.graph)
    return elo_scale(
        battles.models,
        is_in_mean=bounded,
        items=battles.clusters_by_model(),
        centre=centre,
        pin=pin,
    )


def _control_length(
    strengths: Strengths, lengths: Lengths | None, level: float
) -> tuple[Strengths, _Additions]:
    """Return strengths at equal length, with their diagnostics and warnings.

    If `lengths` is None, `strengths` are returned as they are, with no additions. `level` is the
    confidence level of the interval of the slope of length, in (0, 1).
    """
    if lengths is None:
        return strengths, _Additions()
    equal_length = fit_at_equal_length(lengths, strengths)
    diagnostics = {"length_control": equal_length.summary(level)}
    return equal_length.strengths, _Additions(diagnostics, equal_length.warnings())


def _describe_placement(placement: Mapping[str, Any]) -> _Additions:
    """Return the diagnostics of a placement on a ladder, with a warning for each failed check.

    The diagnostics have the placement under the key `ladder`.
    """
    warnings = [
        Notice(CHECKS[check].code, figures) for check, figures in failed_ladder_checks(placement)
    ]
    return _Additions({"ladder": placement}, warnings)


def _bootstrap_elo(
    fit: Strengths,
    coded: CodedBattles,
    scale: EloScale,
    level: float,
    resamples: int,
    rng: np.random.Generator,
) -> ScoreEstimates:
    """Return Elo scores with percentile intervals from refits to resampled clusters.

    Separated models get the same one-sided bounds as under `sandwich`. A warning names models that
    are not separated but have an infinite end, because many resamples do not bound their rating.
    Pairs of models are tested by `EloTests`, not by the resamples.
    """
    cells = cells_by_cluster(coded, fit.pairs)
    pair_count = len(fit.pairs.first)

    def resampled_scores(counts: np.ndarray) -> np.ndarray:
        """Return the scores in each resample, shape (resamples, models).

        `counts` says how often each resample draws each cluster, shape (resamples, clusters).
        """
        return fit.resampled_scores(scale, cells, counts)

    draws = resample(resampled_scores, coded.clusters, resamples, rng, pair_count)
    items = coded.clusters_by_model()
    score = scale.scores(fit.theta)
    estimate = bootstrap_estimate(
        score, draws, coded.clusters, level=level, cluster=coded.unit, items=items
    )
    has_infinite_end = np.isinf(estimate.low) | np.isinf(estimate.high)
    # Models that all battles together separate get another warning.
    is_named = has_infinite_end & bounded_models(fit.graph)
    if is_named.any():
        # The number of resamples that do not bound each model.
        unbounded_draws = np.isinf(draws).sum(axis=0)
        named_models = np.flatnonzero(is_named)
        counts = {coded.models[k]: int(unbounded_draws[k]) for k in named_models}
        warning = Notice("one-ended-intervals", {"models": counts, "resamples": resamples})
        estimate = replace(estimate, warnings=(*estimate.warnings, warning))
    estimate = replace(
        estimate,
        tests=EloTests(coded, fit.regularization).pair_tests,
        has_unequal_weights=are_unequal(cluster_shares(coded)),
    )
    return bound_separated(estimate, fit, coded, scale, level)


def estimate_elo(
    strengths: Strengths,
    battles: BattleData,
    scale: EloScale,
    level: float,
    added_covariance: np.ndarray | float = 0.0,
    raters: VaryingRaters | None = None,
) -> ScoreEstimates:
    """Return Elo scores with cluster-robust intervals.

    Models with few items get intervals by score tests, and models that hardly vary get those of
    their pair tests. Separated models get one-sided bounds, except on a ladder. The intervals of
    two models alone follow from the test of their difference, unless a covariance is added. If the
    fit has further coefficients, such as a slope of length, there are neither intervals by tests
    nor bounds. A single cluster gives no intervals. On a ladder, the estimate has no tests of
    pairs.

    Args:
        strengths: the fitted log-strengths.
        battles: the battles that they were fitted to.
        scale: the Elo scale.
        level: confidence level, in (0, 1).
        added_covariance: covariance that is added to that of the log-strengths, shape (models,
            models).
        raters: the voters or judges, if they vary, too; the intervals have the smaller of their
            degrees of freedom and those of the clusters (`effective_freedom`).
    """
    theta = strengths.theta
    clusters = battles.clusters if raters is None else min(battles.clusters, raters.number)
    freedom = _degrees_of_freedom(battles, raters, len(theta))
    unit = _unit_of_errors(battles, raters)
    covariance_of_parameters = strengths.covariance(battles, by_weight=True)
    covariance = covariance_of_parameters[: len(theta), : len(theta)] + added_covariance
    has_strengths_only = len(strengths.coefficients) == 0
    few_battles: list[FewBattles] = []
    if has_strengths_only and clusters > 1:
        few_battles = few_battles_of(strengths, battles, battles.clusters_by_model())
    covariance = scale.covariance(covariance_with_few(covariance, few_battles, theta))
    estimate = sandwich_estimate(
        scale.scores(theta), covariance, clusters, level=level, cluster=unit, freedom=freedom
    )
    # If ratings come from a ladder, tests of the battles alone would ignore it.
    tests = None if strengths.prior else _elo_tests(strengths, battles)
    allowed = np.full(len(theta), has_strengths_only)
    estimate = replace(estimate, pinned=scale.pinned, allowed=allowed)
    if tests:
        estimate = _with_pair_tests(estimate, tests, adds_errors=bool(np.any(added_covariance)))
    if few_battles:
        # `t_quantile` subtracts 1 from its first argument.
        quantile = t_quantile(float(freedom.min()) + 1, level)
        estimate = with_score_tests(estimate, few_battles, scale, theta, quantile, battles.unit)
    if tests and has_strengths_only:
        is_flat = _find_flat_models(estimate, tests, strengths, battles)
        estimate = with_intervals_by_tests(estimate, is_flat, scale, level)
        estimate = bound_separated(estimate, strengths, battles, scale, level)
    # The tests leave out what is added, such as the error of beta.
    if len(theta) == 2 and has_strengths_only and not np.any(added_covariance):
        return with_intervals_of_only_pair(estimate, scale, level)
    return estimate


def _with_pair_tests(
    estimate: ScoreEstimates, tests: EloTests, *, adds_errors: bool
) -> ScoreEstimates:
    """Return the estimate with the tests of pairs.

    If clusters have unequal weights, the mark `has_unequal_weights` is set, and all pairs are
    compared by their tests. It is never set if `adds_errors`: the estimate then has further errors,
    such as those of raters, which the tests leave out.
    """
    is_unequal = not adds_errors and are_unequal(cluster_shares(tests.battles))
    return replace(estimate, tests=tests.pair_tests, has_unequal_weights=is_unequal)


def _degrees_of_freedom(
    battles: BattleData, raters: VaryingRaters | None, models: int
) -> np.ndarray:
    """Return the degrees of freedom of each model's interval, shape (models,).

    They are those of the clusters or, if raters vary and theirs are fewer, those of the raters.
    """
    freedom_of_clusters = float(effective_freedom(cluster_shares(battles)))
    freedom = np.full(models, freedom_of_clusters)
    return freedom if raters is None else np.minimum(freedom, raters.freedom)


def _unit_of_errors(battles: BattleData, raters: VaryingRaters | None) -> str:
    """Return the words for what varies, such as `item`, or `item- and judge` if raters vary.

    It is the unit alone if no raters are given, or if there is a single cluster or a single rater,
    which gives no errors.
    """
    if raters is None or min(battles.clusters, raters.number) < 2:
        return battles.unit
    return f"{battles.unit}- and {raters.unit}"


def _elo_tests(strengths: Strengths, battles: BattleData) -> EloTests:
    """Return the tests of single pairs of models by these battles.

    Further coefficients of the fit, such as a slope of length, keep their fitted values.
    """
    columns = strengths.likelihood.design.columns
    offset = None if columns is None else columns @ strengths.coefficients
    return EloTests(battles, strengths.regularization, offset)


def _find_flat_models(
    estimate: ScoreEstimates, tests: EloTests, strengths: Strengths, battles: BattleData
) -> np.ndarray:
    """Return the mask of models whose credits hardly vary around what is expected, as after ties.

    The models are those of `EloTests.is_flat` that are neither separated nor pinned, shape
    (models,). No model is in the mask if there is a single cluster. To save time, `EloTests` is
    asked only if some standard error is very small.
    """
    no_model = np.zeros(len(strengths.theta), dtype=bool)
    if estimate.clusters < 2:
        return no_model
    information = np.diag(strengths.likelihood.information_at(strengths.theta))
    # Suppose that k of n items are won or lost, and that the others are ties. The variance is then
    # about k / n times the variance if all n items were won or lost (a quarter of this for two
    # models). The product below is therefore about k, or k / 4.
    deviating_items = battles.clusters_by_model() * information * (estimate.se / POINTS) ** 2
    may_be_flat = (deviating_items < 2 * FEWEST_WINS_AND_LOSSES) & ~strengths.graph.separated
    if estimate.pinned is not None:
        may_be_flat[estimate.pinned] = False
    if not may_be_flat.any():
        return no_model
    return may_be_flat & tests.is_flat


def bound_separated(
    estimate: ScoreEstimates,
    strengths: Strengths,
    battles: BattleData,
    scale: EloScale,
    level: float,
) -> ScoreEstimates:
    """Replace the intervals of separated models, if there are any, by one-sided bounds.

    If all models are separated, the bounds come from tests of single pairs
    (`with_bounds_by_tests`). Otherwise they come from the battles against models that are not
    separated (`with_separated_bounds`). Estimates without intervals are returned unchanged.
    """
    separated = strengths.graph.separated
    if not separated.any() or estimate.method is None:
        return estimate
    if separated.all():
        return with_bounds_by_tests(estimate, strengths.pairs, scale, level)
    return with_separated_bounds(
        estimate, separated_battles_of(strengths, battles), scale, strengths.theta, level
    )


def build_elo_standings(
    exposure: Exposure,
    strengths: Strengths,
    estimate: ScoreEstimates,
    scale: EloScale,
    *,
    level: float,
    rng: np.random.Generator,
    ranker: str = "bradley-terry",
    extra: Mapping[str, np.ndarray] | None = None,
) -> Standings:
    """Build standings from Elo scores, with diagnostics and warnings of the fit.

    If a model is pinned, the zero of the Elo scale is named `pin`, so that reports do not speak of
    a mean.

    Args:
        exposure: counts and win rates by model.
        strengths: the fitted log-strengths.
        estimate: Elo scores with intervals; those of separated models are hidden.
        scale: the Elo scale.
        level: confidence level of the rank sets, in (0, 1).
        rng: draws for rank sets.
        ranker: name of the ranker.
        extra: further columns by name, each of shape (models,); None for none.
    """
    # The efficiency is that among models with many items, because models with few items do not
    # make the ratings of the others less precise.
    has_many_items = 2 * exposure.items >= np.median(exposure.items)
    graph = strengths.graph
    efficiency = design_efficiency(strengths.pairs, has_many_items)
    diagnostics: dict[str, Any] = {
        "newton_steps": strengths.optimum.steps,
        "design_efficiency": efficiency,
    }
    origin = scale.summary(exposure.models)
    if origin:
        diagnostics["origin"] = origin
    fit = Fit(
        converged=True,
        gradient=strengths.optimum.gradient,
        components=graph.groups,
        separated=tuple(exposure.models[k] for k in np.flatnonzero(graph.separated)),
        regularization=strengths.regularization,
    )
    result = RankerResult(
        hide_separated(replace(estimate, pinned=scale.pinned), graph),
        fit,
        graph.separated,
        extra=extra or {},
        diagnostics=diagnostics,
        warnings=_separation_and_design_warnings(exposure, strengths, efficiency),
    )
    elo = ELO if scale.pinned is None else replace(ELO, zero="pin")
    return build_standings(ranker, elo, exposure, result, level=level, rng=rng)


def _separation_and_design_warnings(
    exposure: Exposure, strengths: Strengths, efficiency: float | None
) -> list[Notice]:
    """Return warnings about models without a bounded rating, and about a weak design.

    The codes are `all-separated` or `separated`, and `design` if the efficiency is known and below
    the threshold of this check. The list is empty if there is nothing to warn of.
    """
    graph = strengths.graph
    penalty = {"regularization": strengths.regularization}
    warnings = []
    if graph.separated.all():
        warnings.append(Notice("all-separated", penalty))
    elif graph.separated.any():
        models = records_of_separated(exposure.models, graph, exposure.win_rates)
        battles = bounding_battles(exposure.models, graph, strengths.theta)
        warnings.append(Notice("separated", {**penalty, "models": models, "battles": battles}))
    if efficiency is not None and efficiency < CHECKS["design"].threshold:
        figures = {"efficiency": efficiency, "times": 1 / efficiency}
        warnings.append(Notice("design", figures))
    return warnings


def hide_separated(estimate: ScoreEstimates, graph: Graph) -> ScoreEstimates:
    """Set intervals and standard errors of separated models to NaN.

    Intervals are removed for all models if the pinned model is separated. Intervals with an
    infinite end, which are one-sided bounds, are kept. Rows and columns of the covariance become
    NaN in each case.
    """
    is_hidden = graph.separated.copy()
    if estimate.pinned is not None and graph.separated[estimate.pinned]:
        is_hidden[:] = True
    if not is_hidden.any():
        return estimate
    has_both_ends = np.isfinite(estimate.low) & np.isfinite(estimate.high)
    is_removed = is_hidden & has_both_ends
    return replace(
        estimate,
        low=np.where(is_removed, np.nan, estimate.low),
        high=np.where(is_removed, np.nan, estimate.high),
        covariance=np.where(is_hidden | is_hidden[:, None], np.nan, estimate.covariance),
    )
