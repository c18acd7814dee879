"""The entry point of inspect-ai's group `inspect_ai`; every `inspect` command imports it."""

from inspect_ai.model import ModelAPI, modelapi

from podium.hosts.inspect_ai import hook, tasks
from podium.hosts.inspect_ai.judging import judge_solver, pairwise_scorer, scorers

__all__ = [
    "hook",
    "judge_solver",
    "offline",
    "pairwise_scorer",
    "scorers",
    "tasks",
    "tournament_model",
]


@modelapi(name="podium")
def offline() -> type[ModelAPI]:
    """Return the model API of `podium/offline`, a rule-based judge without key and network."""
    from podium.hosts.inspect_ai.judging.offline_api import OfflineAPI

    return OfflineAPI


@modelapi(name="OpenAI-API")
def tournament_model() -> type[ModelAPI]:
    """Return the model API of the model that stands in the logs of tournaments."""
    from podium.hosts.inspect_ai.judging.offline_api import TournamentModel

    return TournamentModel
