"""From arrays to named standings: the last step of every ranker."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from podium.check_kinds import CHECKS
from podium.data.battles import Battles
from podium.data.counts import Counts
from podium.notices.notice import Notice
from podium.rankers.errors.intervals import ScoreEstimates, finite_or_none, t_quantile
from podium.rankers.errors.leader_interval import leader_interval
from podium.rankers.errors.rank_sets import Contrasts, compare_all_pairs
from podium.rankers.errors.raters import FEWEST_EFFECTIVE_RATERS, fewest_raters
from podium.rankers.fit.cells import BattleData, pair_sums_with_items
from podium.rankers.fit.pairs import Pairs, downweighted_opponents, win_rates
from podium.rankers.ranking import Entry, Fit, Separation, Standings
from podium.score_scale import Scale, as_scale
from podium.wording import plural

LEADER_INTERVAL = "leader_interval"
"""Key in the diagnostics of standings: the interval of the first model that allows for the choice
of the first by the same data."""
FEW_RATERS = "few_raters"
"""Key in the diagnostics of standings: by model, its number of voters or judges, if these are too
few for a claim about it.

Where voters or judges vary, they are so few that no test can call the model clearly ahead or
behind. Where intervals speak of three or more voters or judges, they are one or two of these.
"""
EFFECTIVE_RATERS = "effective_raters"
"""Key in the diagnostics of standings: as how many equally active voters or judges all count, if
they are so few that intervals tell little (`FEWEST_EFFECTIVE_RATERS`)."""
SAME_SCORE = 1e-9
"""Scores that differ by less share a rank."""


@dataclass(frozen=True, slots=True)
class RankerResult:
    """What a ranker computed, before models have names.

    Attributes:
        estimate: scores with intervals and covariance.
        fit: certificate of the fit.
        separated: mask of the models whose rating the battles do not bound, shape (models,); None
            if the ranker fits no likelihood.
        extra: further columns of the standings by name, each of shape (models,).
        diagnostics: further figures for the JSON, by name.
        warnings: warnings of the ranker.
    """

    estimate: ScoreEstimates
    fit: Fit = field(default_factory=Fit)
    separated: np.ndarray | None = None
    extra: Mapping[str, np.ndarray] = field(default_factory=dict)
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[Notice] = ()


@dataclass(frozen=True, slots=True)
class Exposure:
    """Counts and win rates that standings show whatever the ranker is.

    Attributes:
        models: names of the ranked models, by code.
        battles: number of readable battles of each model, shape (models,).
        win_rates: win rate of each model, shape (models,).
        clusters: number of clusters.
        items: number of items on which each model has a readable battle, shape (models,). Rankers
            of pointwise scores count the items on which the model has a score.
        unranked: names of the models that cannot be ranked.
        counts: counts of all battles.
        notes: warnings from the reading of the battles.
        diagnostics: figures of the battles for the JSON, by name.
        lacking: noun in the warning about unranked models, which says what they lack.
        slice_count: number of slices in which models are compared; see `Battles.slice_count`.
    """

    models: tuple[str, ...]
    battles: np.ndarray
    win_rates: np.ndarray
    clusters: int
    items: np.ndarray
    unranked: tuple[str, ...]
    counts: Counts
    notes: tuple[Notice, ...] = ()
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    lacking: str = "readable battle"
    slice_count: int = 1


def measure_exposure(battles: Battles, coded: BattleData, pairs: Pairs | None = None) -> Exposure:
    """Count battles and clusters, and compute win rates, by model.

    Models that have no battle in `coded` are listed as unranked.

    Args:
        battles: all battles, readable or not.
        coded: the battles that are ranked, which are all readable.
        pairs: sums of each pair of `coded`; by default they are computed.
    """
    pairs = pairs or pair_sums_with_items(coded)
    models_with_light, _, _ = downweighted_opponents(pairs)
    uneven = {"uneven_opponents": True} if len(models_with_light) else {}
    return Exposure(
        models=coded.models,
        battles=coded.battles_by_model(),
        win_rates=win_rates(pairs),
        clusters=coded.clusters,
        items=coded.clusters_by_model(),
        unranked=tuple(sorted(set(battles.models) - set(coded.models))),
        counts=battles.counts(),
        notes=battles.notes,
        diagnostics=battle_diagnostics(battles) | uneven,
        slice_count=battles.slice_count,
    )


def build_standings(
    ranker: str,
    scale: Scale | str,
    exposure: Exposure,
    result: RankerResult,
    *,
    level: float,
    rng: np.random.Generator,
) -> Standings:
    """Build standings from a ranker's scores.

    This adds names, ranks, rank sets, counts, diagnostics and the usual warnings. Unranked models
    come last, with a rank and without a score. If the battles are one of several slices, the rank
    sets of all slices hold simultaneously (Bonferroni).

    Args:
        ranker: name of the ranker.
        scale: the scale of the scores, or its name.
        exposure: counts and win rates by model.
        result: scores of the ranker.
        level: simultaneous confidence level of the rank sets of all slices, in (0, 1).
        rng: draws for the rank sets.
    """
    last = len(exposure.models) + len(exposure.unranked)
    unranked = [_unranked_entry(name, last) for name in exposure.unranked]
    level_of_slice = 1 - (1 - level) / exposure.slice_count
    clusters = _fewer_of_items_and_raters(exposure, result.estimate)
    contrasts = compare_all_pairs(result.estimate, level=level_of_slice, rng=rng, items=clusters)
    separation = _separation_of_models(exposure, result, contrasts)
    entries = _ranked_entries(exposure, result, contrasts)
    leader = _leader_diagnostics(entries, separation, exposure, result, as_scale(scale), level)
    return Standings(
        ranker=ranker,
        scale=as_scale(scale),
        level=level,
        interval=result.estimate.method,
        error_method=result.estimate.error_method,
        entries=(*entries, *unranked),
        counts=exposure.counts,
        fit=result.fit,
        diagnostics=_diagnostic_figures(exposure, result, level) | leader,
        warnings=(
            *exposure.notes,
            *result.warnings,
            *result.estimate.warnings,
            *_usual_warnings(exposure, result),
            *_warn_of_few_raters(exposure.models, result.estimate, level),
            *_warn_of_busy_raters(result.estimate),
        ),
        separation=separation,
    )


def _unranked_entry(model: str, rank: int) -> Entry:
    """Return the row of a model without a readable battle: its rank, 0 battles, no other figure."""
    return Entry(
        model=model,
        rank=rank,
        rank_low=None,
        rank_high=None,
        score=None,
        low=None,
        high=None,
        se=None,
        battles=0,
    )


def _fewer_of_items_and_raters(exposure: Exposure, estimate: ScoreEstimates) -> np.ndarray:
    """Return the number of items of each model, or of its raters if these are fewer, shape
    (models,).

    Raters count only if the errors of the estimate are clustered by raters, too.
    """
    if estimate.raters_of_model is None:
        return exposure.items
    return np.minimum(exposure.items, estimate.raters_of_model)


def _leader_diagnostics(
    entries: Sequence[Entry],
    separation: Separation | None,
    exposure: Exposure,
    result: RankerResult,
    scale: Scale,
    level: float,
) -> dict[str, Any]:
    """Return the first model's interval that allows for the choice of the first, for the JSON.

    The result has one key, `leader_interval`, with `model`, `low` and `high`. It is empty if there
    is no interval (`leader_interval`), if `separation` is None, if the first model is separated, or
    if the first model is clearly ahead of all others: chance did not choose it then.

    Args:
        entries: the rows of the ranked models, the best model first.
        separation: which models are clearly ahead of which; None if no differences were tested.
        exposure: names of the models by code.
        result: scores of the ranker.
        scale: the scale of the scores.
        level: confidence level of the models' own intervals, in (0, 1).
    """
    if separation is None or not entries:
        return {}
    is_clear = 1 in separation.cuts
    if is_clear or entries[0].separated:
        return {}
    first = exposure.models.index(entries[0].model)
    ends = leader_interval(result.estimate, first, level, scale.bounds)
    if ends is None:
        return {}
    low, high = ends
    return {LEADER_INTERVAL: {"model": entries[0].model, "low": low, "high": high}}


def _diagnostic_figures(exposure: Exposure, result: RankerResult, level: float) -> dict[str, Any]:
    """Return the figures for the JSON, by name.

    The result has the diagnostics of the ranker and of the battles. Further keys are given if they
    apply: `slices` (number of slices, if there are several), `raters` (unit and number, if raters
    vary), `few_raters` (number of raters of the models of `_models_of_few_raters`, if there are
    any), `effective_raters` (as how many raters all count, if few gave most of the verdicts) and
    `items_by_model` (if some model lacks a readable battle on some item).
    """
    diagnostics = {**result.diagnostics, **exposure.diagnostics}
    if exposure.slice_count > 1:
        diagnostics["slices"] = exposure.slice_count
    if result.estimate.raters is not None:
        unit, number = result.estimate.raters
        diagnostics["raters"] = {"unit": unit, "number": number}
    few_raters = _models_of_few_raters(exposure.models, result.estimate, level)
    if few_raters:
        diagnostics[FEW_RATERS] = few_raters
    effective = _effective_raters(result.estimate)
    if effective is not None and effective < FEWEST_EFFECTIVE_RATERS:
        diagnostics[EFFECTIVE_RATERS] = effective
    items = dict(zip(exposure.models, exposure.items.tolist(), strict=True))
    all_items = exposure.counts.units
    if any(number != all_items for number in items.values()):
        diagnostics["items_by_model"] = items
    return diagnostics


def _order_by_score(exposure: Exposure, estimate: ScoreEstimates) -> list[int]:
    """Return the codes of the models, the best first, and models with a score of NaN last.

    Models of equal scores are in the order of their names.
    """
    # Rounding error must not decide the order of equal scores.
    score = np.nan_to_num(estimate.score.round(9), nan=-np.inf)
    names = exposure.models
    by_name = sorted(range(len(names)), key=lambda code: names[code])
    # A stable sort keeps the order of names among equal scores.
    return sorted(by_name, key=lambda code: -score[code])


def _separation_of_models(
    exposure: Exposure, result: RankerResult, contrasts: Contrasts
) -> Separation | None:
    """Return which models are clearly ahead of which.

    Models without a rank set are left out. The result is None if fewer than two models have one,
    or if there are more than 500 models.
    """
    estimate = result.estimate
    # The best rank of a model without a rank set is 0.
    order = [k for k in _order_by_score(exposure, estimate) if contrasts.best_rank[k] > 0]
    if contrasts.is_above is None or contrasts.half_widths is None or len(order) < 2:
        return None
    is_above = contrasts.is_above[np.ix_(order, order)]
    first, second, *_ = order
    first_lead = _score_lead(estimate, contrasts, first, second)
    # A cut is before place k if all models above it are clearly ahead of all from it on.
    cuts = [k for k in range(1, len(order)) if is_above[:k, k:].all()]
    beats = [tuple(np.flatnonzero(row).tolist()) for row in is_above]
    return Separation(
        names=tuple(exposure.models[k] for k in order),
        cuts=tuple(cuts),
        beats=tuple(beats),
        critical=first_lead.critical,
        clusters=estimate.clusters,
        gap=first_lead.gap,
        z=first_lead.z,
        lead=first_lead.interval if is_above[0, 1] else None,
        neighbours=_test_neighbours(estimate, contrasts, order),
    )


def _test_neighbours(
    estimate: ScoreEstimates, contrasts: Contrasts, order: Sequence[int]
) -> tuple[tuple[float, float] | None, ...]:
    """Return the gap over its standard error, and the critical value, of each neighbouring pair.

    The pairs are each model of `order` (codes, the best first) and the next one. An element is None
    for a pair that was not tested and has no standard error, or whose lead has no z.
    """
    tests: list[tuple[float, float] | None] = []
    for first, second in pairwise(order):
        is_tested = (min(first, second), max(first, second)) in contrasts.tests
        half_width = float(contrasts.half_widths[first, second])  # type: ignore[index]
        lead = None
        if is_tested or np.isfinite(half_width):
            lead = _score_lead(estimate, contrasts, first, second)
        if lead is None or lead.z is None:
            tests.append(None)
        else:
            tests.append((lead.z, lead.critical))
    return tuple(tests)


@dataclass(frozen=True, slots=True)
class ScoreLead:
    """The gap between two models, of which the first has the higher score.

    Attributes:
        gap: the first model's score minus the second's, infinite if unbounded.
        critical: critical value of |z|, corrected for simultaneous tests.
        z: the gap over its standard error, if that is known.
        interval: the gap with the ends of its simultaneous interval, infinite where unbounded;
            None if it is unknown or contains 0.
    """

    gap: float
    critical: float
    z: float | None = None
    interval: tuple[float, float, float] | None = None


def _score_lead(
    estimate: ScoreEstimates, contrasts: Contrasts, first: int, second: int
) -> ScoreLead:
    """Return the lead of the model with code `first` over the model with code `second`.

    If a test of this pair alone was used, or the pair has no standard error, the gap and its
    interval are those of this test. If the test is on another scale than the scores, there is
    neither an interval nor a z. A gap of medians (`ScoreEstimates.draws`) has no z, either.
    """
    gap = float(estimate.score[first] - estimate.score[second])
    pair = (min(first, second), max(first, second))
    half_width = float(contrasts.half_widths[first, second])  # type: ignore[index]
    critical = contrasts.critical
    test = contrasts.tests.get(pair)
    if test is None and np.isinf(half_width) and estimate.tests is not None:
        # An infinite half-width means that the pair has too few items for a standard error. The
        # interval of the pair's own test is as wide as these items require.
        test = estimate.tests.difference(*pair)
    if test is None:
        # A gap of medians has no standard error, so it has no z: medians of few values can differ
        # by one step of the scores only.
        interval = None
        if gap > half_width:
            interval = (gap, gap - half_width, gap + half_width)
        if not 0 < half_width < np.inf or estimate.draws is not None:
            return ScoreLead(gap=gap, critical=critical, z=None, interval=interval)
        covariance = estimate.covariance
        sum_of_variances = covariance[first, first] + covariance[second, second]
        error = float(np.sqrt(sum_of_variances - 2 * covariance[first, second]))
        # The half-width is the error times the quantile of this pair's degrees of freedom.
        return ScoreLead(gap=gap, critical=half_width / error, z=gap / error, interval=interval)
    if estimate.tests is None or not estimate.tests.in_scores:
        return ScoreLead(gap=gap, critical=contrasts.critical)
    low = test.low(contrasts.tail)
    high = test.high(contrasts.tail)
    if first > second:
        # The test is of the second model minus the first.
        low, high = -high, -low
    gap = abs(test.value)
    critical = float(t_quantile(max(test.items, 2), 1 - 2 * contrasts.tail))
    z = None
    if np.isfinite(gap - low) and gap > low:
        z = gap / (gap - low) * critical
    # The exact test may find the gap significant where the t interval still contains 0: the lower
    # end is then set to 0.
    return ScoreLead(gap=gap, critical=critical, z=z, interval=(gap, max(low, 0.0), high))


def _ranked_entries(exposure: Exposure, result: RankerResult, contrasts: Contrasts) -> list[Entry]:
    """Return the rows of the ranked models, the best model first.

    A model with the same results in all clusters has no interval, and only a pinned model has a
    standard error of 0. Infinite and unknown figures are None.
    """
    estimate = result.estimate
    se = estimate.se
    is_flat = _has_no_variation(estimate)
    low = np.where(is_flat, np.nan, estimate.low)
    high = np.where(is_flat, np.nan, estimate.high)
    entries = []
    for k in _order_by_score(exposure, estimate):
        # A single rater has no degrees of freedom: how raters differ is unknown.
        has_freedom = estimate.freedom is None or estimate.freedom[k] > 0
        has_se = (se[k] > 0 and has_freedom) or k == estimate.pinned
        is_separated = result.separated is not None and bool(result.separated[k])
        entry = Entry(
            model=exposure.models[k],
            rank=rank_of(estimate.score, k),
            rank_low=_rank_or_none(contrasts.best_rank[k]),
            rank_high=_rank_or_none(contrasts.worst_rank[k]),
            score=finite_or_none(estimate.score[k]),
            low=finite_or_none(low[k]),
            high=finite_or_none(high[k]),
            se=finite_or_none(se[k]) if has_se else None,
            battles=int(exposure.battles[k]),
            win_rate=finite_or_none(exposure.win_rates[k]),
            separated=is_separated,
            extra={name: finite_or_none(values[k]) for name, values in result.extra.items()},
        )
        entries.append(entry)
    return entries


def _rank_or_none(rank: float) -> int | None:
    """Return a rank as an integer; None if it is unknown, which is 0 or NaN."""
    return int(rank) if rank > 0 else None


def _has_no_variation(estimate: ScoreEstimates) -> np.ndarray:
    """Return which models have a standard error of 0 and no interval of positive width.

    The results of such a model are the same in all clusters. The pinned model and models with an
    exact interval do not count. The result has shape (models,).
    """
    has_width = estimate.low < estimate.high
    if estimate.exact is not None:
        has_width |= estimate.exact
    is_flat: np.ndarray = (estimate.se == 0) & ~has_width
    if estimate.pinned is not None:
        is_flat[estimate.pinned] = False
    return is_flat


def rank_of(score: np.ndarray, k: int) -> int:
    """Return 1 + the number of models with a higher score than the model with code k.

    Scores that differ by rounding share a rank. Models with a score of NaN share the rank after
    all others.
    """
    if np.isnan(score[k]):
        return 1 + int(np.sum(~np.isnan(score)))
    return 1 + int(np.sum(score > score[k] + SAME_SCORE))


def battle_diagnostics(battles: Battles) -> dict[str, Any]:
    """Return figures of the battles for the JSON, by name; keys that do not apply are left out.

    `swap` counts how both orders of a pair agree, given if some pair was judged in both orders.
    `informative_items` is the number of items on which models differ, given if there are ties.
    `graded` is the number of graded verdicts, given if it is not 0. `unparsed_reasons` counts
    unparsed battles by reason, given if there are any.
    """
    report: dict[str, Any] = {}
    swaps = battles.swaps()
    if swaps:
        report["swap"] = asdict(swaps)
    if battles.tally.decided < battles.tally.judged:
        report["informative_items"] = battles.tally.informative
    if battles.tally.graded:
        report["graded"] = battles.tally.graded
    reasons = battles.unparsed_reasons()
    if reasons:
        report["unparsed_reasons"] = reasons
    return report


def _usual_warnings(exposure: Exposure, result: RankerResult) -> Iterator[Notice]:
    """Yield warnings of unranked models, of few items, and of models without an interval.

    Separated models without an interval are left out, because rankers warn of these models. A model
    without an interval is named once, by the reason: it has a single rater, it was drawn in too few
    resamples, its gap to the pinned model is unbounded, or its results do not vary.
    """
    for name in exposure.unranked:
        yield Notice("unranked", {"model": name, "lacking": exposure.lacking})
    yield from _warn_of_few_items(exposure, result.estimate)
    estimate = result.estimate
    is_flat = _has_no_variation(estimate)
    lacks_interval = ~np.isnan(estimate.score) & np.isnan(estimate.low) & ~is_flat
    if estimate.raters is not None and estimate.freedom is not None:
        is_of_one_rater = lacks_interval & (estimate.freedom <= 0)
        lacks_interval &= ~is_of_one_rater
        yield from _warn_of_single_raters(exposure.models, is_of_one_rater, estimate.raters[0])
    if result.separated is not None:
        lacks_interval &= ~result.separated
    if estimate.method is not None and lacks_interval.any():
        names = [exposure.models[k] for k in np.flatnonzero(lacks_interval)]
        if estimate.pinned is None:
            yield Notice("few-in-resamples", {"models": names})
        else:
            pinned = exposure.models[estimate.pinned]
            yield Notice("unbounded-to-pinned", {"models": names, "pinned": pinned})
    if is_flat.any():
        names = [exposure.models[k] for k in np.flatnonzero(is_flat)]
        yield Notice("no-variation", {"models": names})


def _warn_of_single_raters(
    models: Sequence[str], is_of_one_rater: np.ndarray, unit: str
) -> Iterator[Notice]:
    """Yield a warning of the models that have no interval because a single rater judged them.

    Args:
        models: names of all models.
        is_of_one_rater: mask of the models that are named, shape (models,).
        unit: what a rater is: `voter` or `judge`.
    """
    names = [models[int(code)] for code in np.flatnonzero(is_of_one_rater)]
    if names:
        fields = {"models": names, "unit": unit, "units": plural(unit, 2)}
        yield Notice("single-rater", fields)


def _effective_raters(estimate: ScoreEstimates) -> float | None:
    """Return as how many equally active raters all count, by the median over models.

    It is 1 plus the degrees of freedom. Only models that at least `FEWEST_EFFECTIVE_RATERS` raters
    judged count. None if there is no such model, if raters do not vary, or if raters are not what
    limits the degrees of freedom because there are few clusters.
    """
    if estimate.raters is None or estimate.raters_of_model is None or estimate.freedom is None:
        return None
    of_several = estimate.raters_of_model >= FEWEST_EFFECTIVE_RATERS
    if estimate.clusters < FEWEST_EFFECTIVE_RATERS or not of_several.any():
        return None
    return float(np.median(estimate.freedom[of_several])) + 1


def _warn_of_busy_raters(estimate: ScoreEstimates) -> Iterator[Notice]:
    """Yield a warning if few of the raters gave so many verdicts that all count as few.

    Few is fewer than `FEWEST_EFFECTIVE_RATERS`, by `_effective_raters`.
    """
    effective = _effective_raters(estimate)
    if effective is None or effective >= FEWEST_EFFECTIVE_RATERS or estimate.raters is None:
        return
    unit, number = estimate.raters
    yield Notice(
        "busy-raters", {"number": number, "units": plural(unit, 2), "effective": effective}
    )


def _models_of_few_raters(
    models: Sequence[str], estimate: ScoreEstimates, level: float
) -> dict[str, int]:
    """Return the number of raters of each model that has too few to be clearly ahead or behind.

    A test of n raters has a two-sided p-value of at least 2^(1 - n). The numbers are by name of the
    model. The result is empty if raters do not vary; models with a score of NaN are left out.

    Args:
        models: names of all models.
        estimate: the scores.
        level: confidence level, in (0, 1).
    """
    if estimate.raters_of_model is None:
        return {}
    has_few = (estimate.raters_of_model < fewest_raters(level)) & ~np.isnan(estimate.score)
    codes = np.flatnonzero(has_few).tolist()
    return {models[k]: int(estimate.raters_of_model[k]) for k in codes}


def _warn_of_few_raters(
    models: Sequence[str], estimate: ScoreEstimates, level: float
) -> Iterator[Notice]:
    """Yield a warning that names the models with too few raters to be clearly ahead or behind.

    There is none if raters do not vary. `models` are the names by code, and `level` is the
    confidence level, in (0, 1).
    """
    few_raters = _models_of_few_raters(models, estimate, level)
    if few_raters and estimate.raters is not None:
        unit, _ = estimate.raters
        fields = {"models": few_raters, "fewest": fewest_raters(level), "units": plural(unit, 2)}
        yield Notice("few-raters-of-a-model", fields)


def _warn_of_few_items(exposure: Exposure, estimate: ScoreEstimates) -> Iterator[Notice]:
    """Yield warnings of few items in all, and of models with few items.

    A model is not named if it has no interval, or one that is valid with few items
    (`ScoreEstimates.allowed`). No model is named if there are too few items for any model.
    """
    clusters = exposure.clusters
    models = len(exposure.models)
    fewest_items = CHECKS["items"].threshold
    nouns = plural(exposure.counts.unit, 2)
    fewest_of_model = CHECKS["items of a model"].threshold
    # The intervals are then too narrow. With a single item there are none.
    if 1 < clusters < fewest_items:
        yield Notice("items", {"items": clusters, "nouns": nouns, "fewest": fewest_items})
    elif 1 < clusters < models:
        fields = {"items": clusters, "nouns": nouns, "models": models}
        yield Notice("items-below-models", fields)
    if clusters < fewest_of_model:
        return
    has_few_items = (exposure.items < fewest_of_model) & ~np.isnan(estimate.low)
    if estimate.allowed is not None:
        has_few_items &= ~estimate.allowed
    if has_few_items.any():
        items = {}
        for k in np.flatnonzero(has_few_items):
            items[exposure.models[k]] = int(exposure.items[k])
        yield Notice(
            "items-of-a-model", {"fewest": fewest_of_model, "nouns": nouns, "models": items}
        )
