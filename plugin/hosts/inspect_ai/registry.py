"""The entry point of inspect-ai's group `inspect_ai`; every `inspect` command imports it."""

from inspect_ai.model import ModelAPI, modelapi

from podium.hosts.inspect_ai import hook, tasks
from podium.hosts.inspect_ai.judging import judge_solver, pairwise_scorer, scorers

__all__ = ["hook", "judge_solver", "offline", "pairwise_scorer", "scorers", "tasks"]


@modelapi(name="podium")
def offline() -> type[ModelAPI]:
    """Return the model API of `podium/offline`, a rule-based judge without key and network."""
    from podium.hosts.inspect_ai.judging.offline_api import OfflineAPI

    return OfflineAPI
