"""What next: the cheapest thing that would change the answer."""

from collections.abc import Sequence

from podium.answers.measures import items_text
from podium.nouns.ranking import Standings
from podium.rankers.further_items import further_items
from podium.report.numbers import further_sentence


def next_sentence(standings: Standings, hinge: Sequence[str] = (), rival: str | None = None) -> str | None:
    """Say how many more items tell the first from the second; None where they are told, or a tournament said it.

    The critical value is that of the rank sets: what is advised is what this very table would need.

    Args:
        hinge: one or two items without which `rival` leads; none where there are none.
        rival: who leads without them.
    """
    separation = standings.separation
    settled = separation is None or 1 in separation.cuts or len(separation.names) < 2
    if separation is None or settled or separation.z is None or "claims" in standings.diagnostics.get("answer", {}):
        return None
    first, second = separation.names[:2]
    if 1 in separation.beats[0]:
        return None
    items = further_items(separation.clusters, separation.critical, separation.z)
    if items is None:
        why = f"without {items_text(hinge)} {rival} leads" if hinge else "their gap is within its error"
        return f"How many more items would tell {first} from {second} is not known: {why}."
    noun = "item" if standings.counts.items > 1 else "battle"
    return further_sentence(f"{_gap_text(standings)} measured are", items, "tell", f"{first} from {second}", noun)


def _gap_text(standings: Standings) -> str:
    assert standings.separation is not None
    gap = standings.separation.gap
    if standings.scale == "elo":
        return f"the {gap:.0f} Elo"
    return f"the {100 * gap:.1f} points" if standings.scale.startswith("win rate") else f"the {gap:.3g}"
