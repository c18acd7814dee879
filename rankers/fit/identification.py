"""Bradley-Terry fits with names: errors that explain why ratings are not identified and which
battles would help."""

import numpy as np

from podium.defaults import REGULARIZATION
from podium.errors import NotIdentifiedError
from podium.rankers.fit.cells import BattleData, pair_sums_with_items
from podium.rankers.fit.graph import Graph, comparison_graph, joining_pairs
from podium.rankers.fit.pairs import win_rates
from podium.rankers.fit.strengths import LadderPrior, Strengths, fit_strengths
from podium.text import plural, some

MOST_GROUPS = 10
MOST_NAMES = 5


def fit_battles(
    battles: BattleData,
    regularization: float = REGULARIZATION,
    prior: LadderPrior | None = None,
    which: str = "battles",
) -> Strengths:
    """Fit log-strengths; NotIdentifiedError for disconnected pairs, or for separated models with
    lambda 0; `which` battles these are, for its message."""
    pairs = pair_sums_with_items(battles)
    graph = comparison_graph(prior.join_rated(pairs) if prior else pairs)
    if graph.groups > 1:
        raise NotIdentifiedError(describe_groups(battles, graph, which))
    if graph.separated.any() and regularization == 0:
        who = describe_separated(battles.models, graph, win_rates(pairs))
        raise NotIdentifiedError(
            f"no finite maximum-likelihood rating with regularization=0: separated: {who}"
        )
    return fit_strengths(pairs, regularization, prior=prior)


def bounded_models(graph: Graph) -> np.ndarray:
    """Return which models are not separated; all if every model is, shape (models,)."""
    return ~graph.separated | graph.separated.all()


def describe_groups(battles: BattleData, graph: Graph, which: str = "battles") -> str:
    """Write a message that names the disconnected groups and the fewest battles that would join
    them."""
    models = battles.models
    groups = [
        [models[k] for k in np.flatnonzero(graph.group == group)]
        for group in np.unique(graph.group)
    ]
    shown = " | ".join(some(names, most=MOST_NAMES) for names in groups[:MOST_GROUPS])
    joins = [
        f"{models[a]} vs {models[b]}" for a, b in joining_pairs(graph, battles.battles_by_model())
    ]
    return (
        f"the {which} fall into {len(groups)} groups that never met, so no common scale exists: {shown}. "
        f"{len(joins)} {plural('battle', len(joins))} would join them: {some(joins, '; ', MOST_NAMES)}"
    )


def describe_separated(
    models: tuple[str, ...], graph: Graph, rates: np.ndarray, theta: np.ndarray | None = None
) -> str | None:
    """Write a message that names separated models and battles that would bound their ratings; None
    without any."""
    if not graph.separated.any():
        return None
    if graph.separated.all():
        return (
            "every model. What would bound the ratings: battles that upset the order of some pair"
        )
    codes, core = np.flatnonzero(graph.separated), np.flatnonzero(~graph.separated)
    strength = rates if theta is None else theta
    rivals = [core[np.argmin(np.abs(strength[core] - strength[k]))] for k in codes]
    records = {1.0: "never lost", 0.0: "never won"}
    who = [
        f"{models[k]} ({records.get(float(rates[k]), 'wins and losses all point one way')})"
        for k in codes
    ]
    cures = [f"{models[k]} vs {models[rival]}" for k, rival in zip(codes, rivals, strict=True)]
    cure = f"battles that go the other way, most likely {some(cures, '; ', MOST_NAMES)}"
    return f"{some(who, '; ')}. What would bound it: {cure}"
