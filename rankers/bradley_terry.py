"""Bradley-Terry: joint maximum likelihood on the Elo scale."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.special import expit

from podium.battles import Battles
from podium.errors import NotIdentifiedError, UsageError
from podium.rankers import identification
from podium.rankers.clusters import Matrix, centred, gram, surpluses
from podium.rankers.coded import Cluster, Coded, Labels, code, require
from podium.rankers.elo import Scale, scale_of
from podium.rankers.graph import Graph, design_efficiency, graph_of, separated
from podium.rankers.intervals import Estimate, Interval, by_bootstrap, by_sandwich, resample
from podium.rankers.labelling import Played, Result, played_of, standings
from podium.rankers.newton import Optimum, information, maximise, pinned
from podium.rankers.pairs import PairCells, Pairs, cells_by_cluster, drawn, pair_sums
from podium.rankers.resampled import maximise_many
from podium.ranking import Fit, Standings


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
    length_control: bool = False,
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
        center: entrants whose mean is 1500; by default all whose rating the data bound.
        length_control: ratings as if all responses were equally long (`podium.rankers.length_control.joint`).

    Raises:
        NotIdentifiedError: the comparison graph is not connected, or someone is separated and lambda is 0; or nothing
            tells length from strength.
        NotConvergedError: the fit did not reach its maximum.
        UsageError: an unknown option value or entrant.
    """
    require("interval", interval, ("sandwich", "bootstrap"))
    if length_control:
        from podium.rankers.length_control.joint import at_equal_length

        return at_equal_length(
            battles,
            level=level,
            rng=rng,
            regularization=regularization,
            labels=labels,
            interval=interval,
            resamples=resamples,
            cluster=cluster,
            pin=pin,
            center=center,
        )
    coded = code(battles, labels=labels, cluster=cluster)
    pairs = pair_sums(coded)
    played = played_of(battles, coded, pairs)
    rated = rate(played, pairs, regularization)
    scale = scale_of(coded.entrants, center or bounded(coded.entrants, rated.graph), pin)
    if interval == "sandwich":
        estimate = sandwich(rated, _surpluses(coded, rated), scale, level=level, cluster=coded.unit)
    else:
        cells = cells_by_cluster(coded, pairs)
        draws = resample(
            lambda counts: scale.scores(resampled_strengths(cells, counts, rated)),
            coded.clusters,
            resamples,
            rng,
            width=len(pairs.low),
        )
        estimate = by_bootstrap(scale.scores(rated.theta), draws, coded.clusters, level=level, cluster=coded.unit)
    return labelled(played, rated, scale.pinned(estimate), level=level, rng=rng)


@dataclass(frozen=True, slots=True)
class Rated:
    """A fit and its certificate.

    Attributes:
        pairs: what was fitted.
        graph: its connectivity.
        optimum: the maximum.
        regularization: lambda.
    """

    pairs: Pairs
    graph: Graph
    optimum: Optimum
    regularization: float

    @property
    def theta(self) -> np.ndarray:
        """Log-strengths with mean zero, shape (entrants,)."""
        return self.optimum.theta


def bounded(entrants: tuple[str, ...], graph: Graph) -> tuple[str, ...]:
    """Return the entrants whose ratings the data bound; all of them where the data bound nobody's."""
    names = tuple(name for name, out in zip(entrants, graph.separated, strict=True) if not out)
    return names or entrants


def rate(played: Played, pairs: Pairs, regularization: float) -> Rated:
    """Fit the pair sums, or say why no fit exists.

    Raises:
        NotIdentifiedError: the comparison graph is not connected, or someone is separated and lambda is 0.
        NotConvergedError: the fit did not reach its maximum.
        UsageError: lambda is negative or not finite.
    """
    if not 0 <= regularization < np.inf:
        raise UsageError(f"regularization={regularization} is not a finite number of 0 or more (0.01 is the default)")
    graph = graph_of(pairs)
    if graph.groups > 1:
        raise NotIdentifiedError(identification.disconnected(played, graph))
    if graph.separated.any() and regularization == 0:
        who = identification.separated(played, graph)
        raise NotIdentifiedError(f"no finite maximum-likelihood rating with regularization=0: separated: {who}")
    return Rated(pairs, graph, maximise(pairs, regularization), regularization)


def sandwich(rated: Rated, surplus: Matrix, scale: Scale, *, level: float, cluster: Cluster) -> Estimate:
    """Return Elo scores with cluster-robust intervals.

    Args:
        surplus: likelihood scores per cluster, shape (clusters, entrants).
    """
    spread = scale.covariance(covariance(rated, surplus))
    return by_sandwich(scale.scores(rated.theta), spread, surplus.shape[0], level=level, cluster=cluster)


def covariance(rated: Rated, surplus: Matrix) -> np.ndarray:
    """Return the cluster-robust covariance of log-strengths, G / (G - 1) H^-1 B H^-1, shape (entrants, entrants).

    B is the sum over clusters of the outer products of their likelihood scores, centred.
    """
    clusters, entrants = surplus.shape
    bread = linalg.cho_factor(pinned(information(rated.pairs, rated.theta, rated.regularization)), overwrite_a=True)
    correction = clusters / max(clusters - 1, 1)
    if clusters < entrants:
        # H^-1 times the clusters' scores is the smaller system: 10,000 entrants stay affordable.
        influence = linalg.cho_solve(bread, centred(surplus).T)
        return correction * (influence @ influence.T)
    return correction * linalg.cho_solve(bread, linalg.cho_solve(bread, gram(surplus)).T)


def labelled(
    played: Played,
    rated: Rated,
    estimate: Estimate,
    *,
    level: float,
    rng: np.random.Generator,
    ranker: str = "bradley-terry",
    extra: Mapping[str, np.ndarray] | None = None,
) -> Standings:
    """Add the certificate and the warnings of the fit, and label the scores.

    Args:
        ranker: its name.
        extra: further columns, each of shape (entrants,).
    """
    graph, efficiency = rated.graph, design_efficiency(rated.pairs)
    fit = Fit(
        converged=True,
        gradient=rated.optimum.gradient,
        components=graph.groups,
        separated=tuple(played.entrants[k] for k in np.flatnonzero(graph.separated)),
        regularization=rated.regularization,
    )
    result = Result(
        _without_separated(estimate, graph),
        fit,
        graph.separated,
        extra=extra or {},
        diagnostics={"newton_steps": rated.optimum.steps, "design_efficiency": efficiency},
        warnings=_warnings(played, rated, efficiency),
    )
    return standings(ranker, "elo", played, result, level=level, rng=rng)


def resampled_strengths(cells: PairCells, counts: np.ndarray, rated: Rated) -> np.ndarray:
    """Return log-strengths of item resamples, NaN where one is separated or disconnected, shape (block, entrants).

    Args:
        counts: how often each cluster was drawn, shape (block, clusters).
    """
    credit, weight = cells.resampled(counts)
    theta = np.full((len(counts), cells.pairs.entrants), np.nan)
    sound = _sound(cells.pairs, credit, weight)
    theta[sound] = maximise_many(cells.pairs, credit[sound], weight[sound], rated.regularization, rated.theta)
    return theta


def _surpluses(coded: Coded, rated: Rated) -> Matrix:
    return surpluses(coded, expit(rated.theta[coded.a] - rated.theta[coded.b]))


def sound_draws(cells: PairCells, counts: np.ndarray) -> np.ndarray:
    """Tell which item resamples have no more separated entrants than the data, shape (block,).

    Args:
        counts: how often each cluster was drawn, shape (block, clusters).
    """
    return _sound(cells.pairs, *cells.resampled(counts))


def _sound(pairs: Pairs, credit: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Tell which resamples have no more separated entrants than the data, shape (block,)."""
    before = separated(pairs)
    pattern = np.stack([pairs.credit > 0, pairs.credit < pairs.weight])
    same = ((credit > 0) == pattern[0]).all(axis=1) & ((credit < weight) == pattern[1]).all(axis=1)
    for k in np.flatnonzero(~same):
        same[k] = not (separated(drawn(pairs, credit[k], weight[k])) & ~before).any()
    return same


def _warnings(played: Played, rated: Rated, efficiency: float | None) -> list[str]:
    who = identification.separated(played, rated.graph, rated.theta)
    set_by = f"rating set by the regularization ({rated.regularization:g}) and unbounded by the data"
    if not rated.graph.separated.all():
        set_by += ", 1500 is the mean of the others"
    return [*([f"separated, {set_by}: {who}"] if who else []), *filter(None, [identification.weak(efficiency)])]


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
