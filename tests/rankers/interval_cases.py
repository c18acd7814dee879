"""Cases of coverage: worlds, an interval in each, what it should hold, and a wrong variant beside
it.

A case takes the number of a world and returns an estimate with the truth. Seeds are the numbers of
the worlds: 0, 1, 2 and so on, fixed beforehand.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import uneven_worlds as worlds
from scipy.stats import binom
from uneven_worlds import Played

from podium.rankers.bradley_terry import estimate_elo, hide_separated
from podium.rankers.errors.intervals import (
    FEWEST_UNWIDENED,
    ScoreEstimates,
    bootstrap_estimate,
    covariance_of,
    resample,
    sandwich_estimate,
)
from podium.rankers.errors.rank_sets import compare_all_pairs
from podium.rankers.fit.cells import pair_sums_with_items
from podium.rankers.fit.coded import CodedBattles, sum_by_cell
from podium.rankers.fit.identification import bounded_models, fit_battles
from podium.rankers.fit.pairs import (
    PairCells,
    Pairs,
    cells_by_cluster,
    pair_index,
    pair_sums,
    win_rates,
)
from podium.rankers.fit.scale import EloScale, elo_scale
from podium.rankers.fit.strengths import Strengths, fit_strengths
from podium.rankers.pointwise import ScoreMatrix, estimate_means, estimate_medians
from podium.rankers.win_rate import estimate_rates

LEVEL = 0.95
RARE = 3.09
"""Standard errors below which one of 1,000 lies."""
RESAMPLES = 300
World = Callable[[int], tuple[ScoreEstimates, np.ndarray] | None]
"""From the number of a world to an estimate and the truth, shape (models,); None if the data raise
an error."""


@dataclass(frozen=True)
class Case:
    """A design, and two ways to make intervals of it.

    Attributes:
        right: as podium does it.
        wrong: a variant that must not hold: what podium did before, or what is usual.
        least: share of intervals that must hold.
        ranks: whether rank sets are looked at.
        held: whether the wrong variant is what held before.
    """

    right: World
    wrong: World
    least: float = 0.92
    ranks: bool = True
    held: bool = False


@dataclass(frozen=True)
class Shares:
    """What held over many worlds.

    Attributes:
        worlds: in which the data were not refused.
        others: share of the intervals of all but the last model that hold the truth; none holds
            nothing.
        spread: variance of a world's share of `others`, over that of one interval.
        last: the same of the last model (the newcomer, where there is one).
        sets: share of worlds in which all rank sets hold; NaN where they are not looked at.
        width, last_width: mean half-width of those intervals that are bounded on both sides.
    """

    worlds: int
    others: float
    spread: float
    last: float
    sets: float
    width: float
    last_width: float

    def least(self) -> float:
        """Return the share of `others` below which a right interval of 95% falls in one of 1,000
        runs."""
        return LEVEL - RARE * np.sqrt(LEVEL * (1 - LEVEL) * self.spread / self.worlds)

    def least_of_one(self) -> float:
        """Return the same of one interval a world, exactly."""
        return float(binom.ppf(1e-3, self.worlds, LEVEL)) / self.worlds


def shares_of(world: World, number: int, *, ranks: bool = False) -> Shares:
    """Return what holds in worlds 0 to number - 1."""
    held, widths, sets = [], [], []
    for seed in range(number):
        found = world(seed)
        if found is None:
            continue
        estimate, truth = found
        held.append((estimate.low <= truth + 1e-9) & (truth <= estimate.high + 1e-9))
        widths.append((estimate.high - estimate.low) / 2)
        if ranks:
            sets.append(_rank_sets_hold(estimate, truth, seed))
    hits = np.array(held)
    width = np.array([np.nanmean(column[np.isfinite(column)]) for column in np.array(widths).T])
    others = slice(None, -1) if hits.shape[1] > 1 else slice(None)
    share = hits[:, others].mean(axis=1)
    one = share.mean() * (1 - share.mean())
    return Shares(
        len(hits),
        float(share.mean()),
        float(np.clip(share.var() / one, 1 / hits[:, others].shape[1], 1)) if one > 0 else 1.0,
        float(hits[:, -1].mean()),
        float(np.mean(sets)) if ranks else np.nan,
        float(width[others].mean()),
        float(width[-1]),
    )


def _rank_sets_hold(estimate: ScoreEstimates, truth: np.ndarray, seed: int) -> bool:
    """Return whether no model is called better than one that is as good, or better."""
    ranks = compare_all_pairs(estimate, level=LEVEL, rng=np.random.default_rng(seed))
    low, high = (
        np.nan_to_num(ranks.best_rank, nan=1),
        np.nan_to_num(ranks.worst_rank, nan=len(truth)),
    )
    better = (truth[None] > truth[:, None] + 1e-9).sum(axis=1)
    as_good = (truth[None] >= truth[:, None] - 1e-9).sum(axis=1)
    return bool(((low <= 1 + better) & (as_good <= high)).all())


def rates(play: Callable[[int], Played]) -> World:
    """Win rates as podium estimates them; truth is the same mean over opponents of exact
    credits."""

    def world(seed: int) -> tuple[ScoreEstimates, np.ndarray]:
        played = play(seed)
        pairs = pair_sums_with_items(played.coded)
        return estimate_rates(played.coded, pairs, LEVEL), win_rates(_exact(pairs, played.credit))

    return world


def equal_rates(play: Callable[[int], Played]) -> World:
    """The wrong variant: every opponent counts once, and pairs of one battle have no error."""

    def world(seed: int) -> tuple[ScoreEstimates, np.ndarray]:
        played = play(seed)
        coded, pairs = played.coded, pair_sums(played.coded)
        covariance = covariance_of(_plain_influence(coded, pairs))
        estimate = sandwich_estimate(
            win_rates(pairs), covariance, coded.clusters, level=LEVEL, cluster="item"
        )
        estimate = estimate.clip(0, 1)
        return estimate, win_rates(_exact(pairs, played.credit))

    return world


def elo(play: Callable[[int], Played]) -> World:
    """Elo as podium estimates it; truth is that of a fit to exact credits in the same design, on
    the same scale."""

    def world(seed: int) -> tuple[ScoreEstimates, np.ndarray]:
        coded, credit = (played := play(seed)).coded, played.credit
        strengths = fit_battles(coded)
        items = coded.clusters_by_model()
        scale = elo_scale(coded.models, bounded_models(strengths.graph), items, None, None)
        estimate = estimate_elo(strengths, coded, scale, LEVEL)
        truth = fit_strengths(_exact(strengths.pairs, credit), 0.0).theta
        return hide_separated(estimate, strengths.graph), scale.scores(truth)

    return world


def plain_elo(play: Callable[[int], Played]) -> World:
    """The wrong variant: 1500 is the plain mean, and all errors are the sandwich's."""

    def world(seed: int) -> tuple[ScoreEstimates, np.ndarray]:
        coded, credit = (played := play(seed)).coded, played.credit
        strengths = fit_battles(coded)
        bounded = bounded_models(strengths.graph)
        scale = EloScale(bounded / bounded.sum())
        covariance = scale.covariance(strengths.covariance(coded))
        estimate = sandwich_estimate(
            scale.scores(strengths.theta), covariance, coded.clusters, level=LEVEL, cluster="item"
        )
        truth = fit_strengths(_exact(strengths.pairs, credit), 0.0).theta
        return hide_separated(estimate, strengths.graph), scale.scores(truth)

    return world


def means(play: Callable[[int], tuple[ScoreMatrix, np.ndarray]]) -> World:
    """Means of scores in [0, 1] as podium estimates them."""

    def world(seed: int) -> tuple[ScoreEstimates, np.ndarray]:
        matrix, truth = play(seed)
        return estimate_means(matrix, LEVEL), truth

    return world


def wald_means(play: Callable[[int], tuple[ScoreMatrix, np.ndarray]]) -> World:
    """The wrong variant: means +- t standard errors."""

    def world(seed: int) -> tuple[ScoreEstimates, np.ndarray]:
        matrix, truth = play(seed)
        spread = covariance_of((matrix.values - matrix.values.mean(axis=0)) / len(matrix.values))
        score = matrix.values.mean(axis=0)
        return sandwich_estimate(
            score, spread, len(matrix.values), level=LEVEL, cluster="item"
        ), truth

    return world


def rates_by_bootstrap(play: Callable[[int], Played], *, widened: bool = True) -> World:
    """Win rates of a round robin with percentile intervals; the wrong variant does not widen
    them."""

    def world(seed: int) -> tuple[ScoreEstimates, np.ndarray]:
        played = play(seed)
        coded, pairs = played.coded, pair_sums_with_items(played.coded)
        cells, rng = cells_by_cluster(coded, pairs), np.random.default_rng(seed)
        draws = resample(lambda counts: _plain_rates(cells, counts), coded.clusters, RESAMPLES, rng)
        own = coded.clusters_by_model() if widened else FEWEST_UNWIDENED
        estimate = bootstrap_estimate(
            win_rates(pairs), draws, coded.clusters, level=LEVEL, cluster="item", items=own
        )
        return estimate.clip(0, 1), win_rates(_exact(pairs, played.credit))

    return world


def _plain_rates(cells: PairCells, counts: np.ndarray) -> np.ndarray:
    """Return win rates where every pair met on every item, shape (draws, models); all draws in one
    product."""
    pairs = cells.pairs
    credit, weight = cells.resampled_sums(counts)
    rate, sides = credit / weight, np.zeros((2, len(pairs.first), pairs.models))
    sides[0, np.arange(len(pairs.first)), pairs.first] = sides[
        1, np.arange(len(pairs.first)), pairs.second
    ] = 1
    return (rate @ sides[0] + (1 - rate) @ sides[1]) / (pairs.models - 1)


def elo_by_bootstrap(items: int, *, widened: bool = True) -> World:
    """Elo of a round robin with percentile intervals; the wrong variant does not widen them."""

    def world(seed: int) -> tuple[ScoreEstimates, np.ndarray]:
        played, strengths, draws = _elo_draws(items, seed)
        coded, own = played.coded, played.coded.clusters_by_model()
        scale = elo_scale(coded.models, bounded_models(strengths.graph), own, None, None)
        score, own = scale.scores(strengths.theta), own if widened else FEWEST_UNWIDENED
        estimate = bootstrap_estimate(
            score, scale.scores(draws), items, level=LEVEL, cluster="item", items=own
        )
        truth = fit_strengths(_exact(strengths.pairs, played.credit), 0.0).theta
        return hide_separated(estimate, strengths.graph), scale.scores(truth)

    return world


@cache
def _elo_draws(items: int, seed: int) -> tuple[Played, Strengths, np.ndarray]:
    played = worlds.whole(seed, items)
    strengths, rng = fit_battles(played.coded), np.random.default_rng(seed)
    cells = cells_by_cluster(played.coded, strengths.pairs)
    return (
        played,
        strengths,
        resample(lambda n: strengths.resampled_theta(cells, n), items, RESAMPLES, rng),
    )


def medians(items: int, *, guarded: bool = True) -> World:
    """Medians of whole scores from 1 to 10, of equal models; the wrong variant takes them for
    normal."""

    def world(seed: int) -> tuple[ScoreEstimates, np.ndarray]:
        matrix, truth = worlds.whole_scores(seed, items)
        estimate = estimate_medians(matrix, LEVEL, np.random.default_rng(seed), RESAMPLES)
        return estimate if guarded else replace(estimate, draws=None), truth

    return world


def _exact(pairs: Pairs, credit: np.ndarray) -> Pairs:
    return replace(pairs, credit=credit[pairs.first, pairs.second] * pairs.weight)


def _plain_influence(coded: CodedBattles, pairs: Pairs) -> np.ndarray:
    pair, credit = pair_index(coded, pairs)
    error = (credit - (pairs.credit / pairs.weight)[pair]) / pairs.weight[pair]
    met, shape = pairs.sum_by_model(), (coded.clusters, pairs.models)
    of_first, of_second = (
        sum_by_cell(coded.cluster, side, error / met[side], shape)
        for side in (pairs.first[pair], pairs.second[pair])
    )
    return of_first - of_second


def _case_of_rates(play: Callable[[int], Played], least: float = 0.92) -> Case:
    return Case(rates(play), equal_rates(play), least)


def _newcomer(battles: int, spread: float = 0.7) -> Callable[[int], Played]:
    return lambda seed: worlds.beside_newcomer(seed, battles, spread=spread)


def _case_of_elo(play: Callable[[int], Played], least: float = 0.92) -> Case:
    return Case(elo(play), plain_elo(play), least)


def _case_of_means(
    share: float, epochs: int = 1, correlation: float = 0.0, least: float = 0.92
) -> Case:
    def play(seed: int) -> tuple[ScoreMatrix, np.ndarray]:
        return worlds.answers(seed, share, epochs=epochs, correlation=correlation)

    return Case(means(play), wald_means(play), least, ranks=False)


def _case_of_bootstrap(items: int, least: float) -> Case:
    def play(seed: int) -> Played:
        return worlds.whole(seed, items)

    return Case(rates_by_bootstrap(play), rates_by_bootstrap(play, widened=False), least)


def _case_of_elo_by_bootstrap(items: int, least: float) -> Case:
    return Case(elo_by_bootstrap(items), elo_by_bootstrap(items, widened=False), least)


def _case_of_medians(items: int) -> Case:
    return Case(medians(items), medians(items, guarded=False))


CASES: Mapping[str, Case] = {
    "win rates, newcomer with 5 battles": _case_of_rates(_newcomer(5)),
    "win rates, newcomer with 20 battles": _case_of_rates(_newcomer(20)),
    "win rates, newcomer with 40 battles": _case_of_rates(_newcomer(40)),
    "win rates, newcomer with 5 battles, all equal": _case_of_rates(_newcomer(5, spread=0.0)),
    "win rates, 2 of 28 pairs an item, 80 items": _case_of_rates(
        lambda seed: worlds.sparse_design(seed, items=80)
    ),
    "win rates, 2 of 28 pairs an item, 40 items": _case_of_rates(
        lambda seed: worlds.sparse_design(seed, items=40)
    ),
    "win rates, each pair on 2 of 4 items": _case_of_rates(
        lambda seed: worlds.half_of_items(seed, 4), 0.91
    ),
    "win rates, anchor by pilot": _case_of_rates(worlds.anchor_by_pilot),
    "means of .97 on 30 items": _case_of_means(0.97),
    "means of .9 on 30 items, 3 epochs": _case_of_means(0.9, 3, 0.5),
    "means of .95 on 30 items, 3 epochs": _case_of_means(0.95, 3, 0.5),
    "means of .95 on 30 items, 5 epochs": _case_of_means(0.95, 5, 0.5),
    "win rates by bootstrap, 5 items": _case_of_bootstrap(5, 0.91),
    "win rates by bootstrap, 8 items": _case_of_bootstrap(8, 0.91),
    "win rates by bootstrap, 12 items": _case_of_bootstrap(12, 0.92),
    "Elo by bootstrap, 5 items": _case_of_elo_by_bootstrap(5, 0.91),
    "Elo by bootstrap, 8 items": _case_of_elo_by_bootstrap(8, 0.91),
    "Elo by bootstrap, 12 items": _case_of_elo_by_bootstrap(12, 0.92),
    "Elo, newcomer with 5 battles": _case_of_elo(_newcomer(5)),
    "Elo, newcomer with 10 battles": _case_of_elo(_newcomer(10)),
    "Elo, newcomer with 20 battles": _case_of_elo(_newcomer(20)),
    "Elo, newcomer with 5 battles, all equal": _case_of_elo(_newcomer(5, spread=0.0)),
}
MEDIANS: Mapping[str, Case] = {
    "medians of whole scores, 100 items": _case_of_medians(100),
    "medians of whole scores, 200 items": _case_of_medians(200),
}
"""Equal models, whose median may be 5 or 6: it is rank sets that must hold, and did not."""

_HELD_BEFORE: Mapping[str, Case] = {
    "win rates, round robin of 8 items": _case_of_rates(lambda seed: worlds.whole(seed, 8)),
    "win rates, round robin of 200 items": _case_of_rates(lambda seed: worlds.whole(seed, 200)),
    "win rates, rings of 12 on 40 items": _case_of_rates(worlds.random_rings),
    "means of .9 on 30 items": _case_of_means(0.9),
    "means of .9 on 30 items, 2 epochs": _case_of_means(0.9, 2),
    "means of .5 on 30 items": _case_of_means(0.5),
    "Elo, round robin of 8 items": _case_of_elo(lambda seed: worlds.whole(seed, 8)),
    "Elo, round robin of 200 items": _case_of_elo(lambda seed: worlds.whole(seed, 200)),
    "Elo, rings of 12 on 40 items": _case_of_elo(worlds.random_rings),
}
"""Designs that held before: both ways should, and be as wide; Wilson's intervals of means may be
wider."""
HELD = {name: replace(case, held=True) for name, case in _HELD_BEFORE.items()}
