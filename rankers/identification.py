"""What to say of ratings that the battles do not identify, and which battles would."""

import numpy as np

from podium.rankers.graph import Graph, bridges
from podium.rankers.labelling import Played
from podium.text import some

WEAK_DESIGN = 0.1
"""Design efficiency below which a warning says how weakly the ratings are identified."""
MOST_GROUPS = 10
MOST_NAMES = 5


def disconnected(played: Played, graph: Graph) -> str:
    """Name the groups that never met, and the cheapest battles that would join them."""
    groups = [_names(played, graph.group == group) for group in np.unique(graph.group)]
    shown = " | ".join(some(names, most=MOST_NAMES) for names in groups[:MOST_GROUPS])
    joins = [f"{played.entrants[a]} vs {played.entrants[b]}" for a, b in bridges(graph, played.battles)]
    return (
        f"the battles fall into {len(groups)} groups that never met, so no common scale exists: {shown}. "
        f"Cheapest battles that join them: {some(joins, '; ', MOST_NAMES)}"
    )


def separated(played: Played, graph: Graph, theta: np.ndarray | None = None) -> str | None:
    """Name who is separated, how, and the battles that would bound the rating; None when nobody is.

    Args:
        theta: regularised log-strengths, shape (entrants,); they tell who is close to whom.
    """
    if not graph.separated.any():
        return None
    if graph.separated.all():
        return "every entrant. What would bound the ratings: battles that upset the order of some pair"
    codes = np.flatnonzero(graph.separated)
    who = [f"{played.entrants[k]} {_record(played.win_rates[k])}" for k in codes]
    cures = [f"{played.entrants[k]} vs {_rival(played, graph, k, theta)}" for k in codes.tolist()]
    cure = f"battles that go the other way, most likely {some(cures, '; ', MOST_NAMES)}"
    return f"{some(who, '; ')}. What would bound it: {cure}"


def weak(efficiency: float | None) -> str | None:
    """Say how weakly a sparse design identifies ratings; None when it does so well enough."""
    if efficiency is None or efficiency >= WEAK_DESIGN:
        return None
    return (
        f"weakly identified: the pairs that met give {efficiency:.1%} of the precision of a balanced round robin "
        f"with as many battles (rating differences vary {1 / efficiency:.0f} times as much)"
    )


def _record(rate: float) -> str:
    return "(never lost)" if rate == 1 else "(never won)" if rate == 0 else "(wins and losses all point one way)"


def _rival(played: Played, graph: Graph, entrant: int, theta: np.ndarray | None) -> str:
    """Return the entrant of the core that is nearest in strength."""
    strength = played.win_rates if theta is None else theta
    core = np.flatnonzero(~graph.separated)
    return played.entrants[core[np.argmin(np.abs(strength[core] - strength[entrant]))]]


def _names(played: Played, which: np.ndarray) -> list[str]:
    return [played.entrants[k] for k in np.flatnonzero(which)]
