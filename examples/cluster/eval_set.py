"""Play a tournament in shards as one eval set, which Inspect can continue: `python eval_set.py
LOGS`."""

import sys

from inspect_ai import eval_set

from podium.hosts.inspect_ai.tasks import ring

SHARDS = 4
RESPONSES = "examples/tournament"
JUDGE = "podium/offline"

if __name__ == "__main__":
    shards = [ring(responses=RESPONSES, shard=f"{k}/{SHARDS}") for k in range(1, SHARDS + 1)]
    done, _ = eval_set(shards, log_dir=sys.argv[1], model_roles={"judge": JUDGE}, max_tasks=SHARDS)
    sys.exit(0 if done else 1)
