"""Connectivity of comparison and win graphs: whether ratings exist, and which battles would make
them exist."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from podium.distinct_values import distinct_values
from podium.rankers.fit.newton import DesignMatrix
from podium.rankers.fit.pairs import Pairs

if TYPE_CHECKING:
    from scipy import sparse

MOST_BY_PRODUCTS = 64
"""Up to this many models, paths are found by products of small matrices."""
MOST_CELLS_OF_PRODUCTS = 2**26
"""For more models, paths are still found by products if the number of graphs times the cube of the
number of models is at most this. Beyond this, the search by SciPy is faster, import included."""
LARGEST_SPECTRUM = 1500
"""With more models than this, the efficiency of the design is not computed, because the
eigenvalues would take too long."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Connectivity of battles.

    Attributes:
        group: component of the comparison graph that each model is in, shape (models,).
        groups: number of components that have a model with a battle.
        has_battle: mask of the models with a battle, shape (models,).
        separated: mask of the models outside the largest strongly connected component of the win
            graph, shape (models,). Battles do not bound their ratings.
    """

    group: np.ndarray
    groups: int
    has_battle: np.ndarray
    separated: np.ndarray


def comparison_graph(pairs: Pairs) -> Graph:
    """Find the components of the comparison graph and of the win graph.

    The comparison graph has an edge between models that met, the win graph an edge from a model to
    each model from which it earned credit.
    """
    has_battle = pairs.sum_by_model() > 0
    group = _groups_of_edges(pairs.first, pairs.second, pairs.models)
    groups = len(distinct_values(group[has_battle]))
    separated = separated_models(pairs) & has_battle
    return Graph(group, groups, has_battle, separated)


def separated_models(pairs: Pairs) -> np.ndarray:
    """Return the mask of models outside the largest strongly connected component of the win graph,
    shape (models,).

    Battles do not bound the ratings of these models (Ford 1957). If no two models earned credit
    from each other, directly or through others, all models are in the mask. Of several largest
    components, the one whose models earned more credit counts as the largest.
    """
    # All battles together are a single resample.
    [is_separated] = separated_in_resamples(pairs, pairs.credit[None], pairs.weight[None])
    return is_separated


def win_paths(pairs: Pairs) -> np.ndarray:
    """Return whether the row's model has earned credit from the column's, shape (models, models).

    Credit counts directly or along a path through other models. Such a path bounds the rating of
    the column's model from above, relative to the rating of the row's model. The diagonal is True.
    """
    first_earned = pairs.credit > 0
    second_earned = pairs.credit < pairs.weight
    winner = np.concatenate([pairs.first[first_earned], pairs.second[second_earned]])
    loser = np.concatenate([pairs.second[first_earned], pairs.first[second_earned]])
    if _has_small_products(pairs.models):
        return _reachable(_edge_matrix(winner, loser, pairs.models))
    from scipy.sparse.csgraph import breadth_first_order

    graph = _adjacency(winner, loser, pairs.models)
    is_reached = np.zeros((pairs.models, pairs.models), dtype=bool)
    for model in range(pairs.models):
        is_reached[model, breadth_first_order(graph, model, return_predecessors=False)] = True
    return is_reached


def separated_in_resamples(pairs: Pairs, credit: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return which models are outside the largest strong component of each resample's win graph.

    The resample does not bound the ratings of these models (`separated_models`).

    Args:
        pairs: the pairs.
        credit: their sums of credits in each resample, shape (draws, pairs).
        weight: their sums of weights in each resample, shape (draws, pairs).

    Returns:
        A mask, shape (draws, models). A resample without two models that earned credit from each
        other, directly or through others, separates all models.
    """
    separated = np.empty((len(credit), pairs.models), dtype=bool)
    components = _strong_components(pairs, credit, weight)
    for k, (pair_credit, pair_weight, component) in enumerate(
        zip(credit, weight, components, strict=True)
    ):
        component_size = np.bincount(component).astype(np.float64)
        has_core = component_size.max() >= 2
        if not has_core:
            separated[k] = True
            continue
        if np.sum(component_size == component_size.max()) > 1:
            # Among components of the same size, the one with more credit counts as the largest, so
            # that the order of the models does not matter. What is added is below 1.
            credit_of_model = pairs.sum_by_model(pair_credit, pair_weight - pair_credit)
            component_size += np.bincount(component, credit_of_model) / (1 + credit_of_model.sum())
        separated[k] = component != np.argmax(component_size)
    return separated


def joining_pairs(graph: Graph, battles: np.ndarray) -> list[tuple[int, int]]:
    """Return the fewest pairs of codes whose battles would join all groups.

    Each group is represented by its model with the most battles, and each pair joins two
    successive groups. Models without a battle have no part in this. The list is empty for one
    group. `battles` are the numbers of battles by model, shape (models,).
    """
    most_active = []
    for group in distinct_values(graph.group[graph.has_battle]):
        members = np.flatnonzero((graph.group == group) & graph.has_battle)
        most_active.append(members[np.argmax(battles[members])])
    return [(int(a), int(b)) for a, b in pairwise(most_active)]


def design_efficiency(pairs: Pairs, is_included: np.ndarray | None = None) -> float | None:
    """Return the A-efficiency of the design, in (0, 1]; None for more than 1500 models.

    It is the harmonic mean of the non-zero eigenvalues of the Laplacian of battle counts, divided
    by their arithmetic mean. A balanced round robin has 1, battles against a single anchor have
    0.5, and a chain is near 0. All battles together must connect the models.

    Args:
        pairs: sums of the battles of each pair.
        is_included: mask of the models to include, shape (models,). All models are included if it
            is None, or if the battles among these models do not connect them.
    """
    if pairs.models > LARGEST_SPECTRUM:
        return None
    is_kept = np.ones(len(pairs.first), dtype=bool)
    if is_included is not None:
        is_kept = is_included[pairs.first] & is_included[pairs.second]
        if not are_connected(pairs, is_kept, is_included):
            return design_efficiency(pairs)
    codes = np.concatenate([pairs.first[is_kept], pairs.second[is_kept]])
    present, new_codes = np.unique(codes, return_inverse=True)
    first, second = np.split(new_codes, 2)
    design = DesignMatrix(columns=None, first=first, second=second, models=len(present))
    # The weights get a first axis of samples, here of size 1.
    [laplacian] = design.information(pairs.weight[is_kept][None])
    eigenvalues = np.linalg.eigvalsh(laplacian)[1:]  # the first one is 0
    harmonic_mean = len(eigenvalues) / np.sum(1 / eigenvalues)
    return float(harmonic_mean / eigenvalues.mean())


def are_connected(pairs: Pairs, is_kept: np.ndarray, is_included: np.ndarray) -> bool:
    """Return whether the pairs of the mask `is_kept` connect all models of the mask `is_included`.

    The result is False for fewer than two models.
    """
    group = _groups_of_edges(pairs.first[is_kept], pairs.second[is_kept], pairs.models)
    groups_of_included = distinct_values(group[is_included])
    has_several_models = is_included.sum() > 1
    return bool(has_several_models and len(groups_of_included) == 1)


def largest_distinguishable_block(beats: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return the best models, and the models that each of the best is clearly ahead of.

    The first list grows by one model at a time, in the order of `beats`, and the second list has
    the models that all models of the first are clearly ahead of. A model that would leave the
    second list empty is skipped. Of these pairs of lists, the one with the largest product of
    lengths is returned. Both lists are empty if no model is clearly ahead of another.

    Args:
        beats: for each model, the best first, the positions of the models that it is clearly ahead
            of.

    Returns:
        Two lists of positions in `beats`.
    """
    best: tuple[list[int], list[int]] = ([], [])
    above: list[int] = []
    below = set(range(len(beats)))
    for k, beaten in enumerate(beats):
        still_below = below.intersection(beaten)
        if still_below:
            above = [*above, k]
            below = still_below
            pairs = len(above) * len(below)
            best_above, best_below = best
            most_pairs = len(best_above) * len(best_below)
            if pairs > most_pairs:
                best = above, sorted(below)
    return best


def _has_small_products(models: int, graphs: int = 1) -> bool:
    """Return whether paths are found by products of matrices, else by SciPy.

    `models` is the number of models (nodes) of each graph, and `graphs` the number of graphs.
    """
    return models <= MOST_BY_PRODUCTS or graphs * models**3 <= MOST_CELLS_OF_PRODUCTS


def number_groups(edges: np.ndarray) -> np.ndarray:
    """Return the group of each node of an undirected graph, shape (nodes,).

    Nodes that edges connect are in one group. Groups are numbered in the order of their first
    nodes.

    Args:
        edges: whether there is an edge, in either direction, shape (nodes, nodes).
    """
    if not _has_small_products(len(edges)):
        from scipy.sparse.csgraph import connected_components

        _, code = connected_components(edges, directed=False)
        return code
    first_in_group = _reachable(edges | edges.T).argmax(axis=1)
    _, code = np.unique(first_in_group, return_inverse=True)
    return code


def _groups_of_edges(source: np.ndarray, target: np.ndarray, size: int) -> np.ndarray:
    """Return the group of each model in an undirected graph, numbered by `number_groups`.

    `source` and `target` are the codes of the models that each edge connects, and `size` is the
    number of models. The result has shape (size,).
    """
    if _has_small_products(size):
        return number_groups(_edge_matrix(source, target, size))
    from scipy.sparse.csgraph import connected_components

    _, group = connected_components(_adjacency(source, target, size), directed=False)
    return group


def _strong_components(
    pairs: Pairs, credit: np.ndarray, weight: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield for each resample the strongly connected component of each model, shape (models,).

    Models of one component have the same code; codes may have gaps. `credit` and `weight` are the
    sums of the pairs in each resample, shape (draws, pairs).
    """
    winner = np.concatenate([pairs.first, pairs.second])
    loser = np.concatenate([pairs.second, pairs.first])
    if _has_small_products(pairs.models, len(credit)):
        for pair_credit, pair_weight in zip(credit, weight, strict=True):
            is_edge = np.concatenate([pair_credit > 0, pair_credit < pair_weight])
            reached = _reachable(_edge_matrix(winner[is_edge], loser[is_edge], pairs.models))
            yield (reached & reached.T).argmax(axis=1)
        return
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    shape = (pairs.models, pairs.models)
    # All possible edges as one sparse matrix, whose values are the edges' positions in `winner`.
    # The graph of a resample keeps the edges along which credit was earned, without sorting anew.
    edge_positions = sparse.csr_matrix((np.arange(len(winner)), (winner, loser)), shape=shape)
    for pair_credit, pair_weight in zip(credit, weight, strict=True):
        is_edge_at_position = np.concatenate([pair_credit > 0, pair_credit < pair_weight])
        is_edge = is_edge_at_position[edge_positions.data]
        # The number of kept edges before each row of the matrix.
        starts = np.append(0, np.cumsum(is_edge))[edge_positions.indptr]
        edges = sparse.csr_matrix(
            (np.ones(starts[-1]), edge_positions.indices[is_edge], starts), shape=shape
        )
        _, component = connected_components(edges, connection="strong")
        yield component


def _reachable(edges: np.ndarray) -> np.ndarray:
    """Return whether a path leads from the row's node to the column's, shape (nodes, nodes).

    `edges` is True where an edge leads from the row's node to the column's. Paths may be empty, so
    that the diagonal is True.
    """
    is_reached = edges | np.eye(len(edges), dtype=bool)
    path_length = 1
    while path_length < len(edges) - 1:
        # Products of numbers are faster than products of truth values.
        path_count = is_reached.astype(np.float32) @ is_reached.astype(np.float32)
        is_reached = path_count > 0
        path_length *= 2
    return is_reached


def _edge_matrix(source: np.ndarray, target: np.ndarray, size: int) -> np.ndarray:
    """Return whether there is an edge from the row's model to the column's, shape (size, size).

    Edge k leads from the code `source`[k] to the code `target`[k].
    """
    edges = np.zeros((size, size), dtype=bool)
    edges[source, target] = True
    return edges


def _adjacency(source: np.ndarray, target: np.ndarray, size: int) -> "sparse.csr_matrix":
    """Return the sparse adjacency matrix of edges between models, shape (size, size).

    Edge k leads from the code `source`[k] (row) to the code `target`[k] (column).
    """
    from scipy import sparse

    return sparse.csr_matrix(
        (np.ones(len(source), dtype=np.int8), (source, target)), shape=(size, size)
    )
