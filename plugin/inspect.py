"""What podium adds to Inspect, for tasks of your own: the scorer `pairwise`, and tournaments.

`pairwise` scores the responses of a task against those of another log; `pairwise_viewer` makes
Inspect's viewer show its scores. `anchor`, `chain`,
`recorded`, `ring`, `round_robin`, `swim` and `tournament` are the tasks `podium/anchor` and so on,
which `inspect_ai.eval` takes. Importing this module imports inspect-ai.

Raises:
    ImportError: inspect-ai is not installed.
"""

from podium.errors import install_hint

try:
    import inspect_ai  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(f"inspect-ai is not installed; {install_hint('inspect')}") from error

from podium.hosts.inspect_ai.judging.pairwise_scorer import pairwise
from podium.hosts.inspect_ai.judging.viewer import pairwise_viewer
from podium.hosts.inspect_ai.tasks import (
    anchor,
    chain,
    ring,
    round_robin,
    swim,
    tournament,
)
from podium.hosts.inspect_ai.tasks import (
    recorded_task as recorded,
)

__all__ = [
    "anchor",
    "chain",
    "pairwise",
    "pairwise_viewer",
    "recorded",
    "ring",
    "round_robin",
    "swim",
    "tournament",
]
