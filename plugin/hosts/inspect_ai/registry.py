"""What inspect-ai finds under the name `podium`. Imported by every `inspect` command: nothing heavy at the top."""

from inspect_ai.model import ModelAPI, modelapi

from podium.hosts.inspect_ai.hook import PodiumHooks
from podium.hosts.inspect_ai.judge import judge
from podium.hosts.inspect_ai.metrics import bradley_terry, readable_battles, soft_elo, win_rate
from podium.hosts.inspect_ai.scorers import pairwise, verdict
from podium.hosts.inspect_ai.tasks import anchor, chain, round_robin, swim

__all__ = [
    "PodiumHooks",
    "anchor",
    "bradley_terry",
    "chain",
    "judge",
    "offline",
    "pairwise",
    "readable_battles",
    "round_robin",
    "soft_elo",
    "swim",
    "verdict",
    "win_rate",
]


@modelapi(name="podium")
def offline() -> type[ModelAPI]:
    """Return the API behind `podium/offline`: the embedded judge, without a key and without a network."""
    from podium.hosts.inspect_ai.offline_api import OfflineAPI

    return OfflineAPI
