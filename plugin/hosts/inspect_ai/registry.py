"""What inspect-ai finds under the name `podium`. Imported by every `inspect` command: nothing heavy at the top."""

from inspect_ai.model import ModelAPI, modelapi

from podium.hosts.inspect_ai import hook, judge_calls, scorers, tasks

__all__ = ["hook", "judge_calls", "offline", "scorers", "tasks"]


@modelapi(name="podium")
def offline() -> type[ModelAPI]:
    """Return the API behind `podium/offline`: the embedded judge, without a key and without a network."""
    from podium.hosts.inspect_ai.offline_api import OfflineAPI

    return OfflineAPI
