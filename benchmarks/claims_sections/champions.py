"""A model that wins all its battles, or almost all, and one that loses all: the bounds of their
ratings, rank sets and false claims, on few items.

The first model of each world loses `LOSSES` battles (or items) on average, so that it wins all of
them in some worlds, and the last model wins as many; with 0, they never do. The coverage is over
all worlds, those included in which the first one lost some: an interval without an upper end has to
hold the truth as often as any other. The models between are `SPREAD` apart. Items favour models
(sd `ITEM`, in logits). The truth of a rating is the Bradley-Terry fit to the mean credits of
`LARGE` items, centred on the models that define 1500 in this world.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from claim_bars import LEAST_COVERAGE, MOST_FALSE, is_claimed, lies_beyond, share_text
from drawn_battles import battles_of_scores, battles_of_verdicts, fit_elo, mean_credits
from scipy.optimize import brentq
from tables import show

from claims_sections.groups import SPREAD
from podium.data.battles import Battles
from podium.rankers.bradley_terry import bradley_terry
from podium.rankers.pointwise import mean
from podium.rankers.ranking import Entry, Standings
from podium.rankers.win_rate import win_rate

WORLDS = 1_000
SIZES = ((2, 6), (2, 20), (4, 8), (6, 5), (6, 20), (10, 10))
"""Numbers of models and of items."""
LOSSES = (0.0, 0.5, 2.0)
ITEM = 0.5
LARGE = 20_000
NEVER = 60.0
"""Strength in logits of a model that never loses."""


@cache
def _item_effects(models: int) -> np.ndarray:
    """Return the effects of `LARGE` items on models, in logits."""
    return np.random.default_rng(60).normal(0, ITEM, (LARGE, models))


def _expected_losses(strength: float, others: np.ndarray, items: int, *, battles: bool) -> float:
    """Return how many battles, or items, a model of a strength loses on average."""
    effects = _item_effects(len(others) + 1)
    own = strength + effects[:, [0]]
    if not battles:
        return items * float((1 / (1 + np.exp(own))).mean())
    gap = own - others - effects[:, 1:]
    return items * float((1 / (1 + np.exp(gap))).mean(axis=0).sum())


@cache
def strengths_of(models: int, items: int, losses: float, *, battles: bool) -> np.ndarray:
    """Return the strengths of the models, the best first, with the given mean losses of the first.

    The last model is as weak as the first is strong. Of two models, the second is at 0.
    """
    between = max(models - 2, 1)
    others = SPREAD * ((between - 1) / 2 - np.arange(between))
    if not losses:
        first = NEVER
    else:
        first = brentq(
            lambda own: _expected_losses(own, others, items, battles=battles) - losses, -2, 30
        )
    if models == 2:
        return np.array([first, 0.0])
    return np.concatenate([[first], others, [-first]])


def draw_battles(rng: np.random.Generator, theta: np.ndarray, items: int) -> Battles:
    """Draw a round robin on each item."""
    return battles_of_verdicts(rng, theta + rng.normal(0, ITEM, (items, len(theta))))


def draw_scores(rng: np.random.Generator, theta: np.ndarray, items: int) -> Battles:
    """Draw a right or wrong answer of each model on each item."""
    strength = theta + rng.normal(0, ITEM, (items, len(theta)))
    score = (rng.random(strength.shape) < 1 / (1 + np.exp(-strength))).astype(float)
    return battles_of_scores(score)


def true_elo(theta: np.ndarray) -> np.ndarray:
    """Return the ratings of the models, infinite for one that always wins or loses."""
    if len(theta) == 2 and theta[0] >= NEVER:
        return np.array([np.inf, -np.inf])
    rating = np.full(len(theta), 1500.0)
    rating[theta >= NEVER] = np.inf
    rating[theta <= -NEVER] = -np.inf
    inner = np.flatnonzero(np.isfinite(rating))
    if len(inner) > 1:
        rating[inner] = fit_elo(mean_credits(theta[inner] + _item_effects(len(inner))))
    return rating


def true_rates(theta: np.ndarray) -> np.ndarray:
    """Return the win rates of the models."""
    credit = mean_credits(theta + _item_effects(len(theta)))
    return (credit.sum(axis=1) - 0.5) / (len(theta) - 1)


def true_means(theta: np.ndarray) -> np.ndarray:
    """Return the mean scores of the models."""
    return (1 / (1 + np.exp(-theta - _item_effects(len(theta))))).mean(axis=0)


Ranker = Callable[..., Standings]
KINDS: dict[str, tuple[Callable[..., Battles], Ranker, Callable[[np.ndarray], np.ndarray]]] = {
    "battles, bradley-terry": (draw_battles, bradley_terry, true_elo),
    "battles, win-rate": (draw_battles, win_rate, true_rates),
    "right or wrong, mean": (draw_scores, mean, true_means),
}


@dataclass(slots=True)
class Counts:
    """What was found in the worlds of one row.

    Attributes:
        all_won: number of worlds in which the first model won all battles or items.
        outer: number of intervals of the first and last model that hold the truth.
        inner: number of intervals of the other models that hold it.
        right_ranks: number of worlds in which all rank sets hold the true ranks.
        wrong: number of worlds in which a worse model is clearly ahead of a better one.
        false: number of worlds of equal models in which any is clearly ahead.
        ahead: number of worlds in which the first model is clearly ahead of all.
    """

    all_won: int = 0
    outer: int = 0
    inner: int = 0
    right_ranks: int = 0
    wrong: int = 0
    false: int = 0
    ahead: int = 0


def count(kind: str, models: int, items: int, losses: float, worlds: int) -> Counts:
    """Rank worlds with a first and a last model, and worlds of equal models."""
    draw, ranker, truth_of = KINDS[kind]
    theta = strengths_of(models, items, losses, battles=draw is draw_battles)
    truth = truth_of(theta)
    counts = Counts()
    for world in range(worlds):
        seeds = [61, world, models, items, int(10 * losses)]
        standings = ranker(
            draw(np.random.default_rng(seeds), theta, items), rng=np.random.default_rng(0)
        )
        entries = sorted(standings.entries, key=lambda entry: entry.model)
        inside = holds(entries, truth, is_elo=ranker is bradley_terry)
        counts.outer += inside[0] + inside[-1]
        counts.inner += sum(inside[1:-1])
        counts.all_won += _won_all(entries[0], ranker)
        counts.right_ranks += all(_has_rank(each, k + 1) for k, each in enumerate(entries))
        counts.wrong += _has_wrong_claim(standings)
        counts.ahead += _is_first_ahead(standings, models)
        equal = draw(np.random.default_rng([62, *seeds]), np.zeros(models), items)
        counts.false += is_claimed(ranker(equal, rng=np.random.default_rng(0)))
    return counts


def holds(entries: list[Entry], truth: np.ndarray, *, is_elo: bool) -> list[bool]:
    """Return whether the interval of each model holds the truth; an absent end is infinite.

    Elo is centred on the models that are not separated, if there are any.
    """
    shift = 0.0
    if is_elo:
        bounded = np.array([not entry.separated for entry in entries])
        if bounded.any() and np.isfinite(truth[bounded]).all():
            shift = 1500 - truth[bounded].mean()
    inside = []
    for entry, own in zip(entries, truth + shift, strict=True):
        low = -np.inf if entry.low is None else entry.low
        high = np.inf if entry.high is None else entry.high
        inside.append(bool(low <= own <= high))
    return inside


def _won_all(entry: Entry, ranker: Ranker) -> bool:
    """Return whether a model won all its battles, or has all items right."""
    share = entry.score if ranker is mean else entry.win_rate
    return share is not None and share > 1 - 1e-9


def _has_rank(entry: Entry, rank: int) -> bool:
    """Return whether a rank set holds a rank; one that is unknown holds all."""
    if entry.rank_low is None or entry.rank_high is None:
        return True
    return entry.rank_low <= rank <= entry.rank_high


def _has_wrong_claim(standings: Standings) -> bool:
    """Return whether a model is clearly ahead of a better one, which has a lower number."""
    if standings.separation is None:
        return False
    names = standings.separation.names
    return any(
        names[k] > names[other]
        for k, beaten in enumerate(standings.separation.beats)
        for other in beaten
    )


def _is_first_ahead(standings: Standings, models: int) -> bool:
    """Return whether the model m00 is clearly ahead of all others."""
    separation = standings.separation
    if separation is None or separation.names[0] != "m00":
        return False
    return len(separation.beats[0]) == models - 1


def rows_of(kind: str, worlds: int) -> Iterator[list[str]]:
    """Yield a row of the table per number of models and items, and mean losses of the first."""
    for models, items in SIZES:
        for losses in LOSSES:
            counts = count(kind, models, items, losses, worlds)
            outer = counts.outer / (2 * worlds)
            inner = counts.inner / (worlds * (models - 2)) if models > 2 else None
            coverage = {"bounds": outer, "others": inner, "ranks": counts.right_ranks / worlds}
            # The intervals of one world depend on each other: the worlds are what is counted.
            failed = [
                name
                for name, share in coverage.items()
                if share is not None
                and lies_beyond(round(share * worlds), worlds, LEAST_COVERAGE, above=False)
            ]
            if lies_beyond(counts.wrong, worlds, MOST_FALSE, above=True):
                failed.append("wrong claims")
            if lies_beyond(counts.false, worlds, MOST_FALSE, above=True):
                failed.append("false claims")
            yield [
                kind,
                f"{models} x {items}",
                f"{losses:g}",
                f"{worlds:,}",
                f"{100 * counts.all_won / worlds:.0f}",
                f"{100 * outer:.1f}",
                "" if inner is None else f"{100 * inner:.1f}",
                f"{100 * counts.right_ranks / worlds:.1f}",
                f"{100 * counts.wrong / worlds:.1f}",
                share_text(counts.false, worlds),
                f"{100 * counts.ahead / worlds:.0f}",
                "FAILED: " + ", ".join(failed) if failed else "ok",
            ]


def report(worlds: int | None, markdown: bool) -> None:
    """Print the table of all kinds of data and sizes."""
    header = ["data", "models x items", "losses", "worlds", "won all, %", "bounds, %"]
    header += ["others, %", "rank sets, %", "wrong, %", "false, equal models, %", "ahead, %", ""]
    bars = f"bars {LEAST_COVERAGE:.0%} and {MOST_FALSE:.0%}"
    title = f"a first model that loses few battles on average, and a last one; {bars}"
    rows = [row for kind in KINDS for row in rows_of(kind, worlds or WORLDS)]
    show(title, header, rows, markdown=markdown)
