"""A pilot: how informative each entrant would be as the anchor, from a few items."""

from collections.abc import Callable, Collection, Sequence

import numpy as np

from podium.errors import NotIdentifiedError
from podium.rankers.coded import Coded
from podium.rankers.informativeness import MOST_LEVELS, told_apart
from podium.tournaments.schedule import Outcome

Levels = Callable[[np.ndarray], np.ndarray]


def most_informative(candidates: Collection[str], entrants: Sequence[str], outcomes: Sequence[Outcome]) -> str:
    """Return the candidate against which verdicts on two others differ most often.

    Of equals, the one with more comparisons is chosen, then the first by name.

    Raises:
        NotIdentifiedError: no two verdicts against one candidate on one item can be read.
    """
    found = informativeness_of(entrants, outcomes)
    known = {name: found[name] for name in sorted(candidates) if found[name][1]}
    if not known:
        raise NotIdentifiedError(
            f"the {len(outcomes)} battles of the pilot tell nothing about an anchor: no item has readable verdicts of "
            "two entrants against one candidate; name the anchor, or play a larger pilot"
        )
    return max(known, key=lambda name: known[name])


def informativeness_of(entrants: Sequence[str], outcomes: Sequence[Outcome]) -> dict[str, tuple[float, float]]:
    """Return, for each entrant as anchor, the share of pairs of others told apart, and the pairs compared.

    Source: Don-Yehiya et al. 2026, section 4.3. Verdicts are compared as finely as the judge gives them: by margin,
    where every battle has one, else by credit; continuous ones by their sign.
    """
    read = [one for one in outcomes if one.credit is not None]
    if not read:
        return dict.fromkeys(entrants, (0.0, 0.0))
    verdict, level_of = _verdicts(read)
    told = told_apart(_coded(entrants, read), verdict, level_of)
    apart, compared = told.apart.sum(axis=0), told.compared.sum(axis=0)
    shares = apart / np.maximum(compared, 1)
    return {name: (float(shares[k]), float(compared[k])) for k, name in enumerate(entrants)}


def _verdicts(read: Sequence[Outcome]) -> tuple[np.ndarray, Levels | None]:
    """Return the finest discrete verdict of each battle; where all are continuous, the credit, by its sign."""
    margin = np.array([np.nan if one.margin is None else one.margin for one in read], dtype=np.float64)
    credit = np.array([2 * (one.credit or 0.0) - 1 for one in read])
    for verdict in (np.round(margin, 12), np.round(credit, 12)):
        if not np.isnan(verdict).any() and len(np.unique(np.abs(verdict))) <= MOST_LEVELS:
            return verdict, None
    return credit, np.sign


def _coded(entrants: Sequence[str], read: Sequence[Outcome]) -> Coded:
    code = {name: k for k, name in enumerate(entrants)}
    items, cluster = np.unique([one.pairing.item for one in read], return_inverse=True)
    return Coded(
        a=np.array([code[one.pairing.a] for one in read]),
        b=np.array([code[one.pairing.b] for one in read]),
        credit=np.array([one.credit for one in read], dtype=np.float64),
        weight=np.ones(len(read)),
        cluster=cluster,
        clusters=len(items),
        unit="item",
        entrants=tuple(entrants),
    )
