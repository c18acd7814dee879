"""Bradley-Terry fits to battles of named models.

If ratings are not identified, the error says why, and which battles would help.
"""

import numpy as np

from podium.defaults import REGULARIZATION
from podium.distinct_values import distinct_values
from podium.errors import NotIdentifiedError
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_text
from podium.rankers.fit.cells import BattleData, pair_sums_with_items
from podium.rankers.fit.graph import Graph, comparison_graph, joining_pairs
from podium.rankers.fit.pairs import win_rates
from podium.rankers.fit.strengths import LadderPrior, Strengths, fit_strengths
from podium.wording import plural, some

MOST_GROUPS = 10
"""Largest number of groups that a message lists."""
MOST_NAMES = 5
"""Largest number of names that a message lists of each group."""


def fit_battles(
    battles: BattleData,
    regularization: float = REGULARIZATION,
    prior: LadderPrior | None = None,
    noun: str = "battles",
) -> Strengths:
    """Fit log-strengths to battles.

    Args:
        battles: the battles.
        regularization: lambda of the penalty.
        prior: prior by the ratings of a ladder, if there is one.
        noun: noun for these battles in error messages.

    Raises:
        NotIdentifiedError: the comparison graph is disconnected, or a model is separated and
            lambda is 0. A prior connects and bounds the models that it rates.
        NotConvergedError: the fit did not reach its maximum.
        UsageError: lambda is negative or not finite.
    """
    pairs = pair_sums_with_items(battles)
    connected_pairs = prior.join_rated(pairs) if prior else pairs
    graph = comparison_graph(connected_pairs)
    if graph.groups > 1:
        raise NotIdentifiedError(describe_groups(battles, graph, noun))
    if graph.separated.any() and regularization == 0:
        raise NotIdentifiedError(_describe_separated(battles.models, graph, win_rates(pairs)))
    return fit_strengths(pairs, regularization, prior=prior)


def bounded_models(graph: Graph) -> np.ndarray:
    """Return the mask of models that are not separated, shape (models,).

    If all models are separated, the mask has all of them.
    """
    return ~graph.separated | graph.separated.all()


def describe_groups(battles: BattleData, graph: Graph, noun: str = "battles") -> str:
    """Return a message with the disconnected groups, and the fewest battles that would join them.

    The message lists at most 10 groups with 5 names each, and 5 of the battles. `noun` is the word
    for the battles in the message, such as `battles`.
    """
    models = battles.models
    groups = []
    for group in distinct_values(graph.group):
        members = np.flatnonzero(graph.group == group)
        groups.append([models[k] for k in members])
    group_texts = " | ".join(some(names, most=MOST_NAMES) for names in groups[:MOST_GROUPS])
    pairs = joining_pairs(graph, battles.battles_by_model())
    battles_between = [f"{models[a]} vs {models[b]}" for a, b in pairs]
    return (
        f"the {noun} fall into {len(groups)} groups that never met, so no common scale exists: "
        f"{group_texts}. {len(battles_between)} {plural('battle', len(battles_between))} would "
        f"join them: {some(battles_between, '; ', MOST_NAMES)}"
    )


def records_of_separated(
    models: tuple[str, ...], graph: Graph, rates: np.ndarray
) -> dict[str, str]:
    """Return why battles do not bound the rating of each separated model, by the model's name.

    The values are `never lost`, `never won`, or `wins and losses all point one way`. Models that
    are not separated are left out. `rates` are the win rates of all models, shape (models,).
    """
    record_of_rate = {1.0: "never lost", 0.0: "never won"}
    records = {}
    for k in np.flatnonzero(graph.separated).tolist():
        rate = float(rates[k])
        records[models[k]] = record_of_rate.get(rate, "wins and losses all point one way")
    return records


def bounding_battles(models: tuple[str, ...], graph: Graph, strength: np.ndarray) -> list[str]:
    """Return for each separated model the battle that is most likely to bound its rating.

    The opponent is the model of the nearest strength among those that are not separated. At least
    one model must not be separated. A battle is written as `NAME vs NAME`.

    Args:
        models: names of the models.
        graph: connectivity of the battles.
        strength: log-strengths, or other scores that order the models alike, shape (models,).
    """
    bounded = np.flatnonzero(~graph.separated)
    battles = []
    for k in np.flatnonzero(graph.separated).tolist():
        rival = bounded[np.argmin(np.abs(strength[bounded] - strength[k]))]
        battles.append(f"{models[k]} vs {models[rival]}")
    return battles


def _describe_separated(models: tuple[str, ...], graph: Graph, rates: np.ndarray) -> str:
    """Return an error message with the separated models and the battles that would bound them.

    `rates` are the win rates of all models, shape (models,). If all models are separated, the
    message names none.
    """
    if graph.separated.all():
        return notice_text(Notice("all-separated-unregularized"))
    records = records_of_separated(models, graph, rates)
    battles = bounding_battles(models, graph, rates)
    return notice_text(Notice("separated-unregularized", {"models": records, "battles": battles}))
