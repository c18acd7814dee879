"""Bradley-Terry: joint maximum likelihood on the Elo scale."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import expit

from podium.battles import Battles
from podium.errors import NotIdentifiedError, UsageError
from podium.ranking import Fit, Standings
from podium.rankers.clusters import gram, surpluses
from podium.rankers.coded import Cluster, Coded, Labels, code, require
from podium.rankers.elo import Scale, scale_of
from podium.rankers.graph import Graph, bridges, design_efficiency, graph_of, separated
from podium.rankers.intervals import Estimate, Interval, by_bootstrap, by_sandwich, resample
from podium.rankers.labelling import Result, standings
from podium.rankers.newton import Optimum, information, maximise, pinned
from podium.rankers.pairs import PairCells, Pairs, cells_by_cluster, pair_sums, win_rates
from podium.rankers.resampled import maximise_many

WEAK_DESIGN = 0.1
"""Design efficiency below which a warning says how weakly the ratings are identified."""


def bradley_terry(
    battles: Battles,
    *,
    level: float = 0.95,
    rng: np.random.Generator,
    regularization: float = 0.01,
    labels: Labels = "soft",
    interval: Interval = "sandwich",
    resamples: int = 1000,
    cluster: Cluster = "item",
    pin: str | None = None,
    center: tuple[str, ...] | None = None,
) -> Standings:
    """Rank by the maximum of sum w [y log s(d) + (1 - y) log s(-d)] - (lambda / 2) |theta|^2.

    Args:
        battles: credits y in [0, 1], taken as they are unless `labels` is `hard`.
        level: of intervals and rank sets, in (0, 1).
        rng: draws for rank sets and the bootstrap.
        regularization: lambda; 0 is allowed where no entrant is separated.
        labels: `soft` or `hard` (win, tie, loss; a flip is a tie).
        interval: `sandwich` (clustered, G / (G - 1), t with G - 1 degrees) or `bootstrap` (percentile).
        resamples: of the bootstrap.
        cluster: `item`, or `row` for comparison.
        pin: `MODEL:1000` shifts all scores so that this model has this one.
        center: entrants whose mean is 1500; all by default.

    Raises:
        NotIdentifiedError: the comparison graph is not connected, or someone is separated and lambda is 0.
        NotConvergedError: the fit did not reach its maximum.
        UsageError: an unknown option value or entrant.
    """
    require("interval", interval, ("sandwich", "bootstrap"))
    if not regularization >= 0:
        raise UsageError(f"regularization={regularization} is negative; use 0 or more (0.01 is the default)")
    coded = code(battles, labels=labels, cluster=cluster)
    scale = scale_of(coded.entrants, center, pin)
    pairs = pair_sums(coded)
    graph = graph_of(pairs)
    _refuse_unidentified(coded, graph, regularization)
    optimum = maximise(pairs, regularization)
    if interval == "sandwich":
        estimate = _by_sandwich(coded, pairs, optimum, scale, regularization, level, cluster)
    else:
        estimate = _by_bootstrap(coded, pairs, optimum, scale, regularization, level, cluster, resamples, rng)
    result = _result(coded, pairs, graph, optimum, _without_separated(estimate, graph), regularization)
    return standings("bradley-terry", "elo", battles, coded, result, level=level, rng=rng)


def covariance(coded: Coded, pairs: Pairs, theta: np.ndarray, regularization: float) -> np.ndarray:
    """Return the cluster-robust covariance of log-strengths, G / (G - 1) H^-1 B H^-1, shape (entrants, entrants).

    B is the sum over clusters of the outer products of their likelihood scores, centred.

    Args:
        theta: the maximum, shape (entrants,).
    """
    expected = expit(theta[coded.a] - theta[coded.b])
    meat = gram(surpluses(coded, expected)) * (coded.clusters / max(coded.clusters - 1, 1))
    bread = linalg.cho_factor(pinned(information(pairs, theta, regularization)))
    return linalg.cho_solve(bread, linalg.cho_solve(bread, meat).T)


def resampled_strengths(
    cells: PairCells, counts: np.ndarray, optimum: Optimum, regularization: float
) -> np.ndarray:
    """Return log-strengths of item resamples, NaN where one is separated or disconnected, shape (block, entrants).

    Args:
        counts: how often each cluster was drawn, shape (block, clusters).
    """
    credit, weight = (np.asarray(matrix.T @ counts.T).T for matrix in (cells.credit, cells.weight))
    theta = np.full((len(counts), cells.pairs.entrants), np.nan)
    sound = _sound(cells.pairs, credit, weight)
    theta[sound] = maximise_many(cells.pairs, credit[sound], weight[sound], regularization, optimum.theta)
    return theta


def _by_sandwich(
    coded: Coded,
    pairs: Pairs,
    optimum: Optimum,
    scale: Scale,
    regularization: float,
    level: float,
    cluster: Cluster,
) -> Estimate:
    spread = scale.covariance(covariance(coded, pairs, optimum.theta, regularization))
    return by_sandwich(scale.scores(optimum.theta), spread, coded.clusters, level=level, cluster=cluster)


def _by_bootstrap(
    coded: Coded,
    pairs: Pairs,
    optimum: Optimum,
    scale: Scale,
    regularization: float,
    level: float,
    cluster: Cluster,
    resamples: int,
    rng: np.random.Generator,
) -> Estimate:
    cells = cells_by_cluster(coded, pairs)
    draws = resample(
        lambda counts: scale.scores(resampled_strengths(cells, counts, optimum, regularization)),
        coded.clusters,
        resamples,
        rng,
    )
    return by_bootstrap(scale.scores(optimum.theta), draws, coded.clusters, level=level, cluster=cluster)


def _sound(pairs: Pairs, credit: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Tell which resamples have no more separated entrants than the data, shape (block,)."""
    before = separated(pairs)
    pattern = np.stack([pairs.credit > 0, pairs.credit < pairs.weight])
    same = ((credit > 0) == pattern[0]).all(axis=1) & ((credit < weight) == pattern[1]).all(axis=1)
    for k in np.flatnonzero(~same):
        drawn = weight[k] > 0
        part = replace(
            pairs, low=pairs.low[drawn], high=pairs.high[drawn], credit=credit[k, drawn], weight=weight[k, drawn]
        )
        same[k] = not (separated(part) & ~before).any()
    return same


def _without_separated(estimate: Estimate, graph: Graph) -> Estimate:
    """Take the intervals from separated entrants: the data do not bound their rating."""
    if not graph.separated.any():
        return estimate
    hidden = np.where(graph.separated, np.nan, 0.0)
    return replace(
        estimate,
        low=estimate.low + hidden,
        high=estimate.high + hidden,
        covariance=estimate.covariance + hidden[:, None] + hidden[None, :],
    )


def _result(
    coded: Coded, pairs: Pairs, graph: Graph, optimum: Optimum, estimate: Estimate, regularization: float
) -> Result:
    names = tuple(np.array(coded.entrants, dtype=object)[graph.separated])
    efficiency = design_efficiency(pairs)
    diagnostics: dict[str, Any] = {"newton_steps": optimum.steps, "design_efficiency": efficiency}
    fit = Fit(
        converged=True,
        gradient=optimum.gradient,
        components=graph.groups,
        separated=names,
        regularization=regularization,
    )
    warnings = [*_told_separated(coded, graph, regularization), *_told_weak(efficiency)]
    return Result(estimate, fit, graph.separated, diagnostics=diagnostics, warnings=warnings)


def _refuse_unidentified(coded: Coded, graph: Graph, regularization: float) -> None:
    if graph.groups > 1:
        raise NotIdentifiedError(_disconnected(coded, graph))
    if graph.separated.any() and regularization == 0:
        raise NotIdentifiedError(
            "no finite maximum-likelihood rating with regularization=0: "
            + "; ".join(_told_separated(coded, graph, regularization))
        )


def _disconnected(coded: Coded, graph: Graph) -> str:
    names = np.array(coded.entrants, dtype=object)
    groups = [names[graph.group == group].tolist() for group in np.unique(graph.group)]
    shown = " | ".join(", ".join(one[:5]) + (f" and {len(one) - 5} more" if len(one) > 5 else "") for one in groups[:10])
    repair = [f"{names[a]} vs {names[b]}" for a, b in bridges(graph, coded.battles_of())]
    more = f" and {len(repair) - 5} more" if len(repair) > 5 else ""
    return (
        f"the battles fall into {len(groups)} groups that never met, so no common scale exists: {shown}. "
        f"Cheapest battles that join them: {'; '.join(repair[:5])}{more}"
    )


def _told_separated(coded: Coded, graph: Graph, regularization: float) -> list[str]:
    codes = np.flatnonzero(graph.separated)
    if not len(codes):
        return []
    if graph.separated.all():
        who, cure = "every entrant", "battles that upset the order of some pair"
    else:
        who = "; ".join(f"{coded.entrants[k]} {_record(coded, k)}" for k in codes[:5])
        who += f"; and {len(codes) - 5} more" if len(codes) > 5 else ""
        cure = f"battles of {coded.entrants[codes[0]]} with entrants close to it, until one win or loss goes the other way"
    set_by = f"set by the regularization ({regularization:g})" if regularization else "infinite"
    return [f"separated, rating {set_by} and unbounded by the data: {who}. What would bound it: {cure}"]


def _record(coded: Coded, entrant: int) -> str:
    rate = win_rates(pair_sums(coded))[entrant]
    return "(never lost)" if rate == 1 else "(never won)" if rate == 0 else "(wins and losses all point one way)"


def _told_weak(efficiency: float | None) -> list[str]:
    if efficiency is None or efficiency >= WEAK_DESIGN:
        return []
    return [
        f"weakly identified: the pairs that met give {efficiency:.1%} of the precision of a balanced round robin "
        f"with as many battles (rating differences vary {1 / efficiency:.0f} times as much)"
    ]


