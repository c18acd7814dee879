"""What podium keeps in a log, and under which names."""

from collections.abc import Mapping
from typing import Any

from inspect_ai.scorer import Score

NAMESPACE = "podium"
"""Key under which podium keeps its own in scores and results."""
ROUND = "podium round"
"""Sample metadata under which a round's schedule is recorded."""
PLAYED_FOR = f"{NAMESPACE}_host"
"""Metadata of a tournament that another host's command plays: that command ranks it, by its own options."""
OPTIONS = "options"
"""Key beside the kept replies under which stands how they were asked for."""


def presentations(score: Score) -> list[dict[str, Any]]:
    """Return the verdicts that podium's scorer keeps in a score, a row per presentation; none for other scores."""
    kept = (score.metadata or {}).get(NAMESPACE)
    if not isinstance(kept, Mapping):
        return []
    rows = []
    for battle in kept.get("battles", [kept]):
        common = {name: value for name, value in battle.items() if name not in ("presentations", "credit")}
        rows += [{**common, **one} for one in battle["presentations"]]
    return rows
