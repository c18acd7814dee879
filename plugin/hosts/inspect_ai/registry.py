"""The entry point of inspect-ai's group `inspect_ai`; every `inspect` command imports it.

The modules imported here register podium's tasks, scorers, hook and model.
"""

from podium.hosts.inspect_ai import hook, tasks
from podium.hosts.inspect_ai.judging import (
    judge_solver,
    offline_model,
    pairwise_scorer,
    scorers,
)

__all__ = ["hook", "judge_solver", "offline_model", "pairwise_scorer", "scorers", "tasks"]
