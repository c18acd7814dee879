"""Copeland's rule for podium, and a table of duels to use it on."""

import numpy as np

from podium import Format, Ranker, hookimpl
from podium.rankers.coded import code
from podium.rankers.intervals import by_bootstrap, resample
from podium.rankers.labelling import Result, played_of, standings
from podium.rankers.pairs import cells_by_cluster, pair_sums


def copeland(battles, *, level=0.95, rng, resamples=1000):
    """Rank by the number of opponents that a model beats on average, minus the number that beat it."""
    coded = code(battles)
    pairs = pair_sums(coded)
    cells = cells_by_cluster(coded, pairs)
    surplus = cells.credit - cells.weight / 2
    sides = np.eye(pairs.entrants)[pairs.low] - np.eye(pairs.entrants)[pairs.high]

    def scores(counts):
        """Turn how often each item counts, shape (draws, items), into scores, shape (draws, models)."""
        return np.sign(counts @ surplus) @ sides

    score = scores(np.ones((1, coded.clusters)))[0]
    draws = resample(scores, coded.clusters, resamples, rng)
    estimate = by_bootstrap(score, draws, coded.clusters, level=level, cluster="item")
    played = played_of(battles, coded, pairs)
    return standings("copeland", "wins - losses", played, Result(estimate), level=level, rng=rng)


def read_duels(records):
    """Read one decided duel per row."""
    return records.rename(columns={"winner": "model_a", "loser": "model_b"}).assign(credit=1.0)


@hookimpl
def podium_rankers():
    return [Ranker("copeland", copeland, "opponents beaten minus opponents lost to")]


@hookimpl
def podium_formats():
    return [Format("duels", (frozenset({"winner", "loser"}),), read_duels, "one duel per row: winner, loser")]
