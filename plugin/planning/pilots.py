"""What a pilot's battles say before anything is planned: its share of ties, and who would be a good anchor."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from podium.battles import Battles
from podium.errors import NotIdentifiedError
from podium.planning.plan import Candidate, Quantity
from podium.rankers.coded import code_battles
from podium.rankers.intervals import by_sandwich, covariance_of, t_reach
from podium.ranking import Entry, Standings
from podium.replays import Recording, recording_of
from podium.tournaments.selection import draw_items


def read_pilot(pilot: Battles | pd.DataFrame | str | Path, items: int | None, seed: int, pool: bool) -> Recording:
    """Return a pilot's record, on so many items drawn at random, or on all.

    Raises:
        NotIdentifiedError: several judges and not `pool`, or no items.
    """
    record = recording_of(pilot, pool=pool)
    if items is None or items >= len(record.field.items):
        return record
    keep = record.battles.table["item"].isin(draw_items(record.field, items, seed)).to_numpy()
    return recording_of(record.battles.select(keep), pool=pool)


def share_of_ties(record: Recording, level: float) -> Quantity:
    """Return the share of ties among readable battles, with its item-clustered t interval.

    Raises:
        NotIdentifiedError: nothing in the pilot is readable, or every verdict is a tie.
    """
    coded = code_battles(record.battles)
    tied = (coded.credit == 0.5).astype(float)
    share = float(tied.mean())
    if share == 1:
        raise NotIdentifiedError("every readable verdict of the pilot is a tie: no number of items tells anyone apart")
    number = np.bincount(coded.cluster, minlength=coded.clusters)
    influence = (np.bincount(coded.cluster, tied, coded.clusters) - share * number) / len(tied)
    spread = covariance_of(influence[:, None])
    estimate = by_sandwich(np.array([share]), spread, coded.clusters, level=level, cluster="item").clip(0, 1)
    if estimate.method is None:
        return Quantity(share)
    if share == 0:
        # No variation to measure: the exact binomial bound over items (Clopper and Pearson 1934).
        return Quantity(0.0, 0.0, 1 - ((1 - level) / 2) ** (1 / coded.clusters))
    return Quantity(share, float(estimate.low[0]), float(estimate.high[0]))


def anchor_candidates(standings: Standings) -> Iterator[Candidate]:
    """Yield the entrants of known informativeness and what to think of each as the anchor, the best first.

    Args:
        standings: by the ranker of informativeness.
    """
    known = [entry for entry in standings.entries if entry.score is not None]
    for entry in known:
        if entry is known[0]:
            advice = "take it: most informative"
        elif entry.rank_low is None:
            advice = "too few items to say"
        else:
            advice = "may be as good" if entry.rank_low == 1 else "avoid: less informative"
        share = Quantity(entry.score or 0.0, entry.low, entry.high)
        of_three = _three_level(entry, standings) if "three_level" in entry.extra else share
        pairs = int(entry.extra.get("pairs") or 0)
        yield Candidate(entry.model, share, of_three, pairs, entry.rank_low, entry.rank_high, advice)


def _three_level(entry: Entry, standings: Standings) -> Quantity | None:
    """Return the informativeness of win, tie and loss, with its t interval over items."""
    share, se = entry.extra.get("three_level"), entry.extra.get("three_level_se")
    if share is None or se is None or standings.counts.items < 2:
        return None if share is None else Quantity(share)
    reach = t_reach(standings.counts.items, standings.level) * se
    return Quantity(share, max(share - reach, 0.0), min(share + reach, 1.0))
