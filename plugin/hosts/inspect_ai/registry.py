"""What inspect-ai finds under the name `podium`. Imported by every `inspect` command: nothing heavy at the top."""

from podium.hosts.inspect_ai.hook import PodiumHooks
from podium.hosts.inspect_ai.judge import judge
from podium.hosts.inspect_ai.metrics import bradley_terry, judged, soft_elo, win_rate
from podium.hosts.inspect_ai.pairwise import pairwise
from podium.hosts.inspect_ai.provider import offline
from podium.hosts.inspect_ai.tasks import anchor, chain, round_robin, swim
from podium.hosts.inspect_ai.verdict import verdict
from podium.hosts.lm_eval.judge_model import lm_eval_model

__all__ = [
    "PodiumHooks",
    "anchor",
    "bradley_terry",
    "chain",
    "judge",
    "judged",
    "lm_eval_model",
    "offline",
    "pairwise",
    "round_robin",
    "soft_elo",
    "swim",
    "verdict",
    "win_rate",
]
