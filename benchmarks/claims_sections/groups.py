"""Groups of items (`--cluster`): coverage, false "clearly ahead" and power, where the items of a
passage share what is easy for a model.

Each world draws G passages of n items. Model m has the strength theta_m, in logits, plus an effect
of the passage (sd `PASSAGE`) and of the item (sd `ITEM`). Battles are a round robin on each item.
Scores of an item are right or wrong by these strengths, or the strengths with noise. The truth of a
rating is the Bradley-Terry fit to the mean credits of `LARGE` passages.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from claim_bars import (
    LEAST_COVERAGE,
    MOST_FALSE,
    covered,
    is_claimed,
    lies_beyond,
    share_text,
)
from drawn_battles import battles_of_scores, battles_of_verdicts, fit_elo, mean_credits
from scipy.stats import t
from tables import show

from podium.data.battles import Battles
from podium.rankers.bradley_terry import bradley_terry
from podium.rankers.pointwise import mean
from podium.rankers.ranking import Standings
from podium.rankers.win_rate import win_rate

WORLDS = 2_000
MODELS = 6
SIZES = ((10, 5), (20, 5), (80, 5), (20, 20))
"""Numbers of passages, and of items of each."""
PASSAGE = 0.7
ITEM = 0.5
SPREAD = 0.25
"""Step in logits between neighbours of the models that are not equal."""
LARGE = 40_000
LEAST_OF_FEW = 0.91
FEW = 10
MOST_LESS_POWER = 0.03


@dataclass(frozen=True)
class World:
    """Credits or scores of one drawn world.

    Attributes:
        battles: what podium reads.
        differences: mean difference of each pair of models by passage, shape (passages, pairs):
            credits minus 0.5, or differences of scores.
    """

    battles: Battles
    differences: np.ndarray


def strengths(
    rng: np.random.Generator, theta: np.ndarray, passages: int, items: int, *, grouped: bool = True
) -> np.ndarray:
    """Draw the strengths on each item, shape (passages * items, models)."""
    effect = rng.normal(0, PASSAGE, (passages, 1, len(theta)))
    if not grouped:
        effect = rng.normal(0, PASSAGE, (passages, items, len(theta)))
    own = rng.normal(0, ITEM, (passages, items, len(theta)))
    return (theta + effect + own).reshape(passages * items, len(theta))


def played(
    rng: np.random.Generator, theta: np.ndarray, passages: int, items: int, *, grouped: bool = True
) -> World:
    """Draw a round robin on each item."""
    on_item = strengths(rng, theta, passages, items, grouped=grouped)
    passage = np.arange(len(on_item)) // items
    battles = battles_of_verdicts(rng, on_item, group="passage", passage=passage)
    credit = battles.numbers_of("credit").reshape(passages, items, -1)
    return World(battles, credit.mean(axis=1) - 0.5)


def scored(
    rng: np.random.Generator, theta: np.ndarray, passages: int, items: int, *, binary: bool
) -> World:
    """Draw a score of each model on each item: right or wrong, or a number."""
    on_item = strengths(rng, theta, passages, items)
    if binary:
        score = (rng.random(on_item.shape) < 1 / (1 + np.exp(-on_item))).astype(float)
    else:
        score = on_item + rng.normal(size=on_item.shape)
    passage = np.arange(len(score)) // items
    battles = battles_of_scores(score, group="passage", passage=passage)
    difference = battles.numbers_of("margin").reshape(passages, items, -1)
    return World(battles, difference.mean(axis=1))


def expected_elo(theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the ratings that the battles of very many passages have, by a minorization fit."""
    return fit_elo(mean_credits(strengths(rng, theta, LARGE, 1)))


def expected_scores(theta: np.ndarray, rng: np.random.Generator, *, binary: bool) -> np.ndarray:
    """Return the mean scores of very many passages."""
    if not binary:
        return theta
    on_item = strengths(rng, theta, LARGE * 25, 1)
    return (1 / (1 + np.exp(-on_item))).mean(axis=0)


def holm_share(differences: np.ndarray, order: np.ndarray) -> float:
    """Return the share of the pairs that t tests of the groups, by Holm's rule, find in order.

    Args:
        differences: of each group and pair, shape (groups, pairs).
        order: sign of the true difference of each pair, shape (pairs,).
    """
    groups, tests = differences.shape
    error = differences.std(axis=0, ddof=1) / np.sqrt(groups)
    ratio = np.divide(differences.mean(axis=0), error, out=np.zeros(tests), where=error > 0)
    p = 2 * t.sf(np.abs(ratio), groups - 1)
    rank = np.argsort(p)
    is_found = np.zeros(tests, dtype=bool)
    for place, pair in enumerate(rank):
        if p[pair] * (tests - place) > 0.05:
            break
        is_found[pair] = True
    return float(np.mean(is_found & (np.sign(ratio) == order)))


def share_ahead(standings: Standings, models: int) -> float:
    """Return the share of pairs of which the better model, by its number, is clearly ahead."""
    if standings.separation is None:
        return 0.0
    place = [int(name[1:]) for name in standings.separation.names]
    found = 0
    for k, beaten in enumerate(standings.separation.beats):
        found += sum(place[k] > place[other] for other in beaten)
    return found / (models * (models - 1) / 2)


KINDS: dict[str, tuple[Callable[..., World], Callable[..., Standings], dict[str, bool]]] = {
    "battles, bradley-terry": (played, bradley_terry, {}),
    "battles, win-rate": (played, win_rate, {}),
    "right or wrong, mean": (scored, mean, {"binary": True}),
    "numbers, mean": (scored, mean, {"binary": False}),
}


def rows_of(kind: str, size: tuple[int, int], worlds: int) -> Iterator[list[str]]:
    """Yield the row of equal models, and the row of unequal ones, with a mark for failed bars."""
    draw, rank, how = KINDS[kind]
    passages, items = size
    equal = np.zeros(MODELS)
    unequal = SPREAD * (np.arange(MODELS) - (MODELS - 1) / 2)
    order = np.array([np.sign(unequal[a] - unequal[b]) for a, b in combinations(range(MODELS), 2)])
    truth = truth_of(kind, unequal)
    false = hits = tried = 0
    power = powers = 0.0
    for world in range(worlds):
        seeds = [44, world, passages, items]
        drawn = draw(np.random.default_rng(seeds), equal, passages, items, **how)
        false += is_claimed(rank(drawn.battles, rng=np.random.default_rng(0)))
        drawn = draw(np.random.default_rng([45, *seeds]), unequal, passages, items, **how)
        standings = rank(drawn.battles, rng=np.random.default_rng(0))
        inside, number = covered(standings, truth)
        hits += inside
        tried += number
        power += share_ahead(standings, MODELS) / worlds
        powers += holm_share(drawn.differences, order) / worlds
    least = LEAST_OF_FEW if passages <= FEW else LEAST_COVERAGE
    failed = []
    # The intervals of one world depend on each other: the worlds are what is counted.
    if lies_beyond(round(hits / tried * worlds), worlds, least, above=False):
        failed.append("coverage")
    if lies_beyond(false, worlds, MOST_FALSE, above=True):
        failed.append("false claims")
    if power < powers - MOST_LESS_POWER:
        failed.append("power")
    yield [
        kind,
        f"{passages} x {items}",
        f"{worlds:,}",
        f"{100 * hits / tried:.1f}",
        f"{100 * least:g}",
        share_text(false, worlds),
        f"{100 * MOST_FALSE:g}",
        f"{100 * power:.1f}",
        f"{100 * powers:.1f}",
        "FAILED: " + ", ".join(failed) if failed else "ok",
    ]


def truth_of(kind: str, theta: np.ndarray) -> np.ndarray:
    """Return what the scores of a ranking estimate."""
    rng = np.random.default_rng(46)
    if "mean" in kind:
        return expected_scores(theta, rng, binary=KINDS[kind][2]["binary"])
    if "win-rate" in kind:
        credit = mean_credits(strengths(rng, theta, LARGE, 1))
        return (credit.sum(axis=1) - 0.5) / (len(theta) - 1)
    return expected_elo(theta, rng)


def report(worlds: int | None, markdown: bool) -> None:
    """Print a row per kind of data and number of groups."""
    rows = [
        row for kind in KINDS for size in SIZES for row in rows_of(kind, size, worlds or WORLDS)
    ]
    header = (
        "data",
        "passages x items",
        "worlds",
        "coverage, %",
        "bar",
        "false claim, equal models, %",
        "bar",
        "power, %",
        "t with Holm, %",
        "",
    )
    show("six models, items in passages, --cluster passage", header, rows, markdown=markdown)
