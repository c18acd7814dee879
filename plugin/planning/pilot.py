"""What a pilot's battles say before anything is planned: its share of ties, and who would be a good anchor."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from podium.battles import Battles
from podium.errors import NotIdentifiedError
from podium.planning.plan import Candidate
from podium.planning.precision import Known
from podium.rank_battles import rank
from podium.rankers.coded import code
from podium.rankers.intervals import by_sandwich, covariance_of
from podium.ranking import Entry, Standings
from podium.replays import Recording, recording_of
from podium.tournaments.drawing import draw_items


def read_pilot(pilot: Battles | pd.DataFrame | str | Path, items: int | None, seed: int, pool: bool) -> Recording:
    """Return a pilot's record, on so many items drawn at random, or on all.

    Raises:
        NotIdentifiedError: several judges and not `pool`, or no items.
    """
    record = recording_of(pilot, pool=pool)
    if items is None or items >= len(record.field.items):
        return record
    chosen = set(draw_items(record.field, items, seed))
    keep = record.battles.table["item"].isin(chosen).to_numpy()
    return recording_of(record.battles.select(keep), pool=pool)


def share_of_ties(record: Recording, level: float) -> Known:
    """Return the share of ties among readable battles, with its item-clustered t interval.

    Raises:
        NotIdentifiedError: nothing in the pilot is readable, or every verdict is a tie.
    """
    coded = code(record.battles)
    tied = (coded.credit == 0.5).astype(float)
    share = float(tied.mean())
    if share == 1:
        raise NotIdentifiedError("every readable verdict of the pilot is a tie: no number of items tells anyone apart")
    number = np.bincount(coded.cluster, minlength=coded.clusters)
    influence = (np.bincount(coded.cluster, tied, coded.clusters) - share * number) / len(tied)
    spread = covariance_of(influence[:, None])
    found = by_sandwich(np.array([share]), spread, coded.clusters, level=level, cluster="item")
    if found.method is None:
        return Known(share)
    if share == 0:
        # No variation to measure: the exact binomial bound over items (Clopper and Pearson 1934).
        return Known(0.0, 0.0, 1 - ((1 - level) / 2) ** (1 / coded.clusters))
    return Known(share, max(float(found.low[0]), 0.0), min(float(found.high[0]), 1.0))


def anchors(record: Recording, *, level: float, seed: int) -> Standings:
    """Rank the entrants as anchors, by the ranker of informativeness.

    Raises:
        NotIdentifiedError: fewer than three entrants, or nobody is a common opponent of two others.
    """
    return rank(record.battles, "informativeness", level=level, seed=seed, pool=True).standings[0]


def candidates(standings: Standings) -> Iterator[Candidate]:
    """Yield the entrants with a known informativeness and what to think of each as the anchor, the best first."""
    known = [entry for entry in standings.entries if entry.score is not None]
    for entry in known:
        yield _candidate(entry, known[0], standings)


def _candidate(entry: Entry, best: Entry, standings: Standings) -> Candidate:
    if entry is best:
        advice = "take it: most informative"
    elif entry.rank_low is None:
        advice = "too few items to say"
    elif entry.rank_low == 1:
        advice = "may be as good"
    else:
        advice = "avoid: less informative"
    informative = Known(entry.score or 0.0, entry.low, entry.high)
    return Candidate(
        entry.model,
        informative,
        informative if "three_level" not in entry.extra else _three_level(entry, standings),
        int(entry.extra.get("pairs") or 0),
        entry.rank_low,
        entry.rank_high,
        advice,
    )


def _three_level(entry: Entry, standings: Standings) -> Known | None:
    """Return the informativeness of win, tie and loss, with its t interval over items."""
    share, se = entry.extra.get("three_level"), entry.extra.get("three_level_se")
    if share is None or se is None or standings.counts.items < 2:
        return None if share is None else Known(share)
    reach = float(stdtrit(standings.counts.items - 1, (1 + standings.level) / 2)) * se
    return Known(share, max(share - reach, 0.0), min(share + reach, 1.0))
