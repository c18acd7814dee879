"""Copeland's rule for podium, and a table of duels to use it on."""

import numpy as np

from podium import Format, Ranker, hookimpl
from podium.rankers.from_pairs import from_pairs


def beaten(pairs):
    """Count the opponents that each model beats on average; a draw counts half."""
    won = (np.sign(pairs.credit - pairs.weight / 2) + 1) / 2
    return np.bincount(pairs.first, won, pairs.models) + np.bincount(
        pairs.second, 1 - won, pairs.models
    )


def copeland(battles, *, level=0.95, rng, resamples=1000):
    """Rank by the number of opponents beaten."""
    return from_pairs(
        "copeland", "opponents beaten", beaten, battles, level=level, rng=rng, resamples=resamples
    )


def read_duels(records):
    """Read one decided duel per row."""
    return records.rename(columns={"winner": "model_a", "loser": "model_b"}).assign(credit=1.0)


@hookimpl
def podium_rankers():
    return [Ranker("copeland", copeland, "number of opponents beaten")]


@hookimpl
def podium_formats():
    return [Format("duels", ({"winner", "loser"},), read_duels, "one duel per row: winner, loser")]
