"""What a judge's ratings are held against: people, a gold standard, or the other judges."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from podium.battles import Battles
from podium.diagnosis.answer import Missing
from podium.diagnosis.estimates import Clusters
from podium.diagnosis.gold_source import Gold
from podium.diagnosis.rated import Rated, fixed, rated
from podium.errors import NotConvergedError, NotIdentifiedError

REMEDY = "give a column human, name a human judge (--human-judge), or a gold standard (--gold)"
ELSEWHERE = 1 << 40
"""Added to the codes of items that are not the judge's own, so that no two of them are taken for one."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Ratings of the same entrants by somebody else.

    Attributes:
        who: `people`, `gold`, or `other judges`.
        ratings: theirs.
    """

    who: str
    ratings: Rated


def reference_of(battles: Battles, gold: Gold | None = None, others: Battles | None = None) -> Reference | Missing:
    """Choose the best reference there is: people on the same battles, else the gold standard, else other judges.

    One whose battles fall into groups that never met is passed over.

    Args:
        battles: of one judge, with or without a column `human`.
        gold: the gold standard.
        others: battles of all other judges of the same table, so that items have the same codes.
    """
    what, reasons = "ratings to compare with", []
    for who, ratings in _candidates(battles, gold, others):
        try:
            return Reference(who, ratings())
        except (NotIdentifiedError, NotConvergedError) as error:
            reasons.append(f"{who}: {error}")
    return Missing(what, "; ".join(reasons) or "there are no human labels, no gold standard and no other judge", REMEDY)


def _candidates(
    battles: Battles, gold: Gold | None, others: Battles | None
) -> Iterator[tuple[str, Callable[[], Rated]]]:
    human = battles.table["human"].to_numpy(dtype=np.float64) if "human" in battles.table else np.empty(0)
    if np.isfinite(human).any():
        yield "people", lambda: rated(battles, human)
    if gold is not None:
        yield "gold", lambda: _gold(gold)
    if others is not None:
        yield "other judges", lambda: _apart(rated(others), others)


def _gold(gold: Gold) -> Rated:
    if gold.scores is not None:
        return fixed(dict(gold.scores))
    if gold.battles is None:
        raise ValueError("a gold standard holds scores or battles")
    found = rated(gold.battles)
    return _recoded(found, found.clusters.code + ELSEWHERE)


def _apart(found: Rated, others: Battles) -> Rated:
    """Let rows without an item stand alone: their codes mean something else in every table."""
    named = len(others.table["item"].cat.categories) if others.has_items else 0
    code = found.clusters.code
    return _recoded(found, np.where(code < named, code, code + ELSEWHERE))


def _recoded(found: Rated, code: np.ndarray) -> Rated:
    clusters = Clusters(code, found.clusters.unit)
    return Rated(found.entrants, found.elo, found.influence, clusters, found.bounded, found.battles)
