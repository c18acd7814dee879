"""Voters and judges with tastes: coverage, false "clearly ahead" and widths, from 10 of them on,
and the words of the answer below 10; also of voters who give unequal numbers of votes, and of
one who gives most of them.

In each world, voter v prefers model m by a taste (sd `TASTE`, in logits), and each item favours
models, too (sd `ITEM`). Each voter votes `VOTES` times, on an item and a pair at random. Scores are
those of four judges on each item, with tastes and noise. The truth is that of all voters and items
together. Four judges who read the same items are too few to tell how judges differ: the answer must
name them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pandas as pd
from claim_bars import LEAST_COVERAGE, MOST_FALSE, covered, is_claimed, lies_beyond, share_text
from drawn_battles import battles_of, battles_of_scores, fit_elo, mean_credits
from tables import show

import podium
from claims_sections.groups import FEW, LARGE, LEAST_OF_FEW, SPREAD
from podium.data.battles import Battles
from podium.rankers.bradley_terry import bradley_terry
from podium.rankers.pointwise import mean
from podium.rankers.ranking import Standings
from podium.rankers.win_rate import win_rate

WORLDS = 2_000
MODELS = 5
VOTERS = (10, 20, 40)
VOTES = 75
ITEMS = 200
SCORED_ITEMS = 60
JUDGES_OF_ITEM = 4
TASTE = 0.5
ITEM = 0.5
NOISE = 1.0
MOST_WIDTH = 1.10
"""The mean width without tastes may be this many times that of errors by item alone."""
FEWEST_FOR_WIDTH = 20
"""The bar of the width applies from this number of voters on."""
FEW_JUDGES = 4
TASTE_OF_FEW = 0.2
WORLDS_OF_FEW = 200
WORLDS_OF_UNEQUAL = 500
PARTICIPATION: dict[str, tuple[np.ndarray, int | None]] = {
    "20 voters, lognormal": (
        np.maximum(1, 40 * np.exp(1.5 * np.random.default_rng(3).normal(size=20))).astype(int),
        None,
    ),
    "12 voters, one gives 1,000 votes, others 45": (np.array([1_000, *[45] * 11]), None),
    "30 voters, three give 480 votes, others 2": (np.array([480] * 3 + [2] * 27), None),
    "30 x 50, the last model judged by 2 voters": (np.full(30, 50), 2),
    "30 x 50, the last model judged by 5 voters": (np.full(30, 50), 5),
}
"""Numbers of votes by voter, and by how many voters the last model is judged (None: all)."""
WORLDS_OF_HEAVY = 300
HEAVY_VOTERS = 20
HEAVY_VOTES = 1_500
HEAVY_SHARES = (0.05, 0.3, 0.6, 0.9)
"""Share of one of 20 voters in all votes; the first is an equal share."""
SPREAD_OF_HEAVY = 0.5
"""Log-strength between neighbouring models in the worlds that measure power."""


def draw_votes(rng: np.random.Generator, theta: np.ndarray, voters: int, taste: float) -> Battles:
    """Draw votes of each voter on items and pairs at random."""
    return draw_unequal_votes(rng, theta, np.full(voters, VOTES), taste)


def draw_unequal_votes(
    rng: np.random.Generator,
    theta: np.ndarray,
    votes: np.ndarray,
    taste: float,
    of_last: int | None = None,
) -> Battles:
    """Draw votes on items and pairs at random.

    Args:
        rng: draws.
        theta: log-strengths of the models, shape (models,).
        votes: number of votes of each voter, shape (voters,).
        taste: standard deviation of voters' tastes, in logits.
        of_last: only so many voters, the first ones, vote on the last model; None for all.
    """
    voters = len(votes)
    tastes = rng.normal(0, taste, (voters, len(theta)))
    effects = theta + rng.normal(0, ITEM, (ITEMS, len(theta)))
    voter = np.repeat(np.arange(voters), votes)
    item = rng.integers(0, ITEMS, len(voter))
    pairs = np.array([*combinations(range(len(theta)), 2)])
    chosen = rng.integers(0, len(pairs), len(voter))
    if of_last is not None:
        without_last = np.flatnonzero(pairs.max(axis=1) < len(theta) - 1)
        elsewhere = without_last[rng.integers(0, len(without_last), len(voter))]
        chosen = np.where(voter < of_last, chosen, elsewhere)
    a, b = pairs[chosen].T
    gap = effects[item, a] - effects[item, b] + tastes[voter, a] - tastes[voter, b]
    won = rng.random(len(voter)) < 1 / (1 + np.exp(-gap))
    return battles_of(
        item=item,
        a=a,
        b=b,
        models=len(theta),
        group=None,
        credit=won.astype(float),
        voter=_names("v", voter),
    )


def draw_scores(rng: np.random.Generator, theta: np.ndarray, voters: int, taste: float) -> Battles:
    """Draw scores of all models by `JUDGES_OF_ITEM` voters on each item."""
    tastes = rng.normal(0, taste, (voters, len(theta)))
    effects = theta + rng.normal(0, ITEM, (SCORED_ITEMS, len(theta)))
    chosen = [rng.choice(voters, JUDGES_OF_ITEM, replace=False) for _ in range(SCORED_ITEMS)]
    voter = np.concatenate(chosen)
    item = np.repeat(np.arange(SCORED_ITEMS), JUDGES_OF_ITEM)
    score = effects[item] + tastes[voter] + rng.normal(0, NOISE, (len(item), len(theta)))
    return battles_of_scores(score, item, voter=_names("v", voter))


def _names(letter: str, code: np.ndarray) -> pd.Categorical:
    """Return codes as names, `v000`, `v001` ..."""
    return pd.Categorical([f"{letter}{k:03}" for k in code])


def without_voters(battles: Battles) -> Battles:
    """Return the same battles without the column of their voters."""
    return Battles(type(battles.rows)(battles.rows.table.drop(columns="voter"), None))


def expected_elo(theta: np.ndarray, taste: float) -> np.ndarray:
    """Return the ratings by the votes of very many voters on very many items."""
    return fit_elo(_expected_credits(theta, taste))


def expected_rates(theta: np.ndarray, taste: float) -> np.ndarray:
    """Return the win rates by the votes of very many voters on very many items."""
    return (_expected_credits(theta, taste).sum(axis=1) - 0.5) / (len(theta) - 1)


def _expected_credits(theta: np.ndarray, taste: float) -> np.ndarray:
    spread = np.sqrt(taste**2 + ITEM**2)
    drawn = np.random.default_rng(46).normal(0, spread, (10 * LARGE, len(theta)))
    return mean_credits(theta + drawn)


def expected_scores(theta: np.ndarray, _taste: float) -> np.ndarray:
    """Return the mean scores, which tastes do not change."""
    return theta


Ranker = Callable[..., Standings]
KINDS: dict[str, tuple[Callable[..., Battles], Ranker, Callable[..., np.ndarray]]] = {
    "votes, bradley-terry": (draw_votes, bradley_terry, expected_elo),
    "votes, win-rate": (draw_votes, win_rate, expected_rates),
    "scores, mean": (draw_scores, mean, expected_scores),
}


@dataclass(slots=True)
class Counts:
    """What was found in the worlds of one row.

    Attributes:
        inside: number of intervals that hold the truth.
        intervals: number of intervals.
        false: number of worlds of equal models in which one is clearly ahead of another.
        width: sum of the widths of the intervals.
        width_by_item: sum of their widths if voters are unknown.
    """

    inside: int = 0
    intervals: int = 0
    false: int = 0
    width: float = 0.0
    width_by_item: float = 0.0


def count(kind: str, voters: int, taste: float, worlds: int) -> Counts:
    """Rank worlds of unequal models for the coverage, and of equal ones for false claims."""
    draw, ranker, truth_of = KINDS[kind]
    unequal = SPREAD * (np.arange(MODELS) - (MODELS - 1) / 2)
    truth = truth_of(unequal, taste)
    counts = Counts()
    for world in range(worlds):
        seeds = [47, world, voters, int(10 * taste)]
        equal = draw(np.random.default_rng(seeds), np.zeros(MODELS), voters, taste)
        counts.false += is_claimed(ranker(equal, rng=np.random.default_rng(0)))
        drawn = draw(np.random.default_rng([48, *seeds]), unequal, voters, taste)
        standings = ranker(drawn, rng=np.random.default_rng(0))
        inside, number = covered(standings, truth)
        counts.inside += inside
        counts.intervals += number
        if not taste:
            by_item = ranker(without_voters(drawn), rng=np.random.default_rng(0))
            counts.width += total_width(standings)
            counts.width_by_item += total_width(by_item)
    return counts


def total_width(standings: Standings) -> float:
    """Return the sum of the widths of all intervals."""
    return sum(entry.high - entry.low for entry in standings.entries)


def cells(worlds: int) -> Iterator[list[str]]:
    """Yield a row of the table per kind of data, taste and number of voters."""
    for kind in KINDS:
        for taste in (0.0, TASTE):
            for voters in VOTERS:
                counts = count(kind, voters, taste, worlds)
                coverage = counts.inside / counts.intervals
                least = LEAST_OF_FEW if voters <= FEW else LEAST_COVERAGE
                width = counts.width / counts.width_by_item if not taste else None
                failed = []
                # The intervals of one world depend on each other: the worlds are what is counted.
                if lies_beyond(round(coverage * worlds), worlds, least, above=False):
                    failed.append("coverage")
                if lies_beyond(counts.false, worlds, MOST_FALSE, above=True):
                    failed.append("false claims")
                if width is not None and voters >= FEWEST_FOR_WIDTH and width > MOST_WIDTH:
                    failed.append("width")
                yield [
                    kind,
                    f"{taste:g}",
                    str(voters),
                    f"{worlds:,}",
                    f"{100 * coverage:.1f}",
                    f"{100 * least:g}",
                    share_text(counts.false, worlds),
                    "" if width is None else f"{width:.3f}",
                    "FAILED: " + ", ".join(failed) if failed else "ok",
                ]


def unequal_rows(worlds: int) -> Iterator[list[str]]:
    """Yield a row per ranker and kind of unequal participation.

    It has the coverage over all models, the lowest coverage of a model, the median width and the
    false claims. The coverage of win rates is left out where few voters judge the last model: this
    opponent then counts less in the other models' rates, so that these have another truth.
    """
    for kind in ("votes, bradley-terry", "votes, win-rate"):
        for name, (votes, of_last) in PARTICIPATION.items():
            has_truth = of_last is None or kind != "votes, win-rate"
            inside, widths, false = count_unequal(kind, votes, of_last, worlds)
            failed = []
            # Very few voters are behind most intervals, as behind those of few groups.
            covered_worlds = round(float(inside.mean()) * worlds)
            if has_truth and lies_beyond(covered_worlds, worlds, LEAST_OF_FEW, above=False):
                failed.append("coverage")
            if lies_beyond(false, worlds, MOST_FALSE, above=True):
                failed.append("false claims")
            yield [
                kind,
                name,
                f"{worlds:,}",
                f"{100 * inside.mean():.1f}" if has_truth else "",
                f"{100 * inside.mean(axis=0).min():.1f}" if has_truth else "",
                f"{100 * LEAST_OF_FEW:g}" if has_truth else "",
                f"{np.median(widths):.3g}",
                share_text(false, worlds),
                "FAILED: " + ", ".join(failed) if failed else "ok",
            ]


def count_unequal(
    kind: str, votes: np.ndarray, of_last: int | None, worlds: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Rank worlds whose voters give unequal numbers of votes.

    Returns:
        Whether each interval holds the truth and how wide it is, shape (worlds, models) each; and
        the number of worlds of equal models in which one is clearly ahead of another.
    """
    _, ranker, truth_of = KINDS[kind]
    unequal = SPREAD * (np.arange(MODELS) - (MODELS - 1) / 2)
    truth = truth_of(unequal, TASTE)
    inside = np.zeros((worlds, MODELS), dtype=bool)
    widths = np.zeros((worlds, MODELS))
    false = 0
    for world in range(worlds):
        seeds = [50, world, len(votes), of_last or 0]
        rng = np.random.default_rng(seeds)
        equal = draw_unequal_votes(rng, np.zeros(MODELS), votes, TASTE, of_last)
        false += is_claimed(ranker(equal, rng=np.random.default_rng(0)))
        rng = np.random.default_rng([51, *seeds])
        drawn = draw_unequal_votes(rng, unequal, votes, TASTE, of_last)
        for entry in ranker(drawn, rng=np.random.default_rng(0)).entries:
            model = int(entry.model[1:])
            low = -np.inf if entry.low is None else entry.low
            high = np.inf if entry.high is None else entry.high
            inside[world, model] = low <= truth[model] <= high
            widths[world, model] = high - low
    return inside, widths, false


def heavy_rows(worlds: int) -> Iterator[list[str]]:
    """Yield a row per ranker, taste and share of one voter in all votes.

    It has the coverage, the false claims, and the share of pairs of unequal models that are
    separated: of models `SPREAD_OF_HEAVY` apart.
    """
    for kind in ("votes, bradley-terry", "votes, win-rate"):
        for taste in (0.0, TASTE):
            for share in HEAVY_SHARES:
                counts = count_heavy(kind, share, taste, worlds)
                coverage = counts.inside / counts.intervals
                failed = []
                if lies_beyond(round(coverage * worlds), worlds, LEAST_COVERAGE, above=False):
                    failed.append("coverage")
                if lies_beyond(counts.false, worlds, MOST_FALSE, above=True):
                    failed.append("false claims")
                yield [
                    kind,
                    f"{share:.0%}",
                    f"{taste:g}",
                    f"{worlds:,}",
                    f"{100 * coverage:.1f}",
                    share_text(counts.false, worlds),
                    f"{100 * counts.separated / counts.pairs:.1f}",
                    f"{np.median(counts.widths):.3g}",
                    "FAILED: " + ", ".join(failed) if failed else "ok",
                ]


@dataclass(slots=True)
class HeavyCounts:
    """What was found in worlds in which one voter gives many of the votes.

    Attributes:
        inside: number of intervals that hold the truth.
        intervals: number of intervals.
        false: number of worlds of equal models in which one is clearly ahead of another.
        separated: number of pairs of unequal models of which one is clearly ahead.
        pairs: number of pairs of unequal models.
        widths: median width of an interval, of each world.
    """

    inside: int = 0
    intervals: int = 0
    false: int = 0
    separated: int = 0
    pairs: int = 0
    widths: list[float] = field(default_factory=list)


def count_heavy(kind: str, share: float, taste: float, worlds: int) -> HeavyCounts:
    """Rank worlds in which one of `HEAVY_VOTERS` voters gives a share of all votes."""
    _, ranker, truth_of = KINDS[kind]
    heavy = round(share * HEAVY_VOTES)
    others = [(HEAVY_VOTES - heavy) // (HEAVY_VOTERS - 1)] * (HEAVY_VOTERS - 1)
    votes = np.array([heavy, *others])
    unequal = SPREAD_OF_HEAVY * (np.arange(MODELS) - (MODELS - 1) / 2)
    truth = truth_of(unequal, taste)
    counts = HeavyCounts()
    for world in range(worlds):
        seeds = [52, world, heavy, int(10 * taste)]
        equal = draw_unequal_votes(np.random.default_rng(seeds), np.zeros(MODELS), votes, taste)
        counts.false += is_claimed(ranker(equal, rng=np.random.default_rng(0)))
        rng = np.random.default_rng([53, *seeds])
        drawn = draw_unequal_votes(rng, unequal, votes, taste)
        standings = ranker(drawn, rng=np.random.default_rng(0))
        inside, number = covered(standings, truth)
        counts.inside += inside
        counts.intervals += number
        if standings.separation is not None:
            counts.separated += sum(len(behind) for behind in standings.separation.beats)
        counts.pairs += MODELS * (MODELS - 1) // 2
        counts.widths.append(total_width(standings) / MODELS)
    return counts


def draw_verdicts_of_few(rng: np.random.Generator) -> pd.DataFrame:
    """Draw verdicts of `FEW_JUDGES` judges with tastes, on all pairs of three models and items."""
    names = [f"m{k}" for k in range(3)]
    tastes = rng.normal(0, TASTE_OF_FEW, (FEW_JUDGES, len(names)))
    effects = rng.normal(0, ITEM, (ITEMS, len(names)))
    rows = []
    for a, b in combinations(range(len(names)), 2):
        for judge in range(FEW_JUDGES):
            gap = effects[:, a] - effects[:, b] + tastes[judge, a] - tastes[judge, b]
            won = rng.random(ITEMS) < 1 / (1 + np.exp(-gap))
            columns = {
                "item": [f"i{k:03}" for k in range(ITEMS)],
                "model_a": names[a],
                "model_b": names[b],
                "credit": won.astype(float),
                "judge": f"judge{judge}",
            }
            rows.append(pd.DataFrame(columns))
    return pd.concat(rows, ignore_index=True)


def few_row(worlds: int) -> list[str]:
    """Return how often the answer on four judges names them, and claims that a model is ahead."""
    named = claimed = 0
    for world in range(worlds):
        table = draw_verdicts_of_few(np.random.default_rng([49, world]))
        standings = podium.rank(podium.read_battles(table), pool=True).standings[0]
        named += standings.answer[0].startswith("For these four judges: ")
        claimed += is_claimed(standings)
    verdict = "ok" if named == worlds else "FAILED: not named"
    return [
        f"{FEW_JUDGES} judges x {ITEMS} items",
        f"{TASTE_OF_FEW:g}",
        f"{worlds:,}",
        share_text(named, worlds),
        share_text(claimed, worlds),
        verdict,
    ]


def report(worlds: int | None, markdown: bool) -> None:
    """Print the table of voters from 10 on, and that of four judges."""
    header = ["data", "taste", "voters", "worlds", "coverage, %", "bar"]
    header += ["false claim, equal models, %", "width / by item", ""]
    title = f"{MODELS} models, voters with and without tastes; bar of false claims {MOST_FALSE:.0%}"
    show(title, header, [*cells(worlds or WORLDS)], markdown=markdown)
    unequal = ["data", "participation", "worlds", "coverage, %", "lowest of a model", "bar"]
    unequal += ["median width", "false claim, equal models, %", ""]
    title = f"{MODELS} models, voters with tastes who give unequal numbers of votes"
    number = min(worlds or WORLDS_OF_UNEQUAL, WORLDS_OF_UNEQUAL)
    show(title, unequal, [*unequal_rows(number)], markdown=markdown)
    heavy = ["data", "share of one voter", "taste", "worlds", "coverage, %"]
    heavy += ["false claim, equal models, %", "pairs separated, %", "median width", ""]
    title = f"{HEAVY_VOTERS} voters, of whom one gives many of the {HEAVY_VOTES:,} votes"
    number = min(worlds or WORLDS_OF_HEAVY, WORLDS_OF_HEAVY)
    show(title, heavy, [*heavy_rows(number)], markdown=markdown)
    few = ["data", "taste", "worlds", '"for these four judges", %', "claimed of these, %", ""]
    title = "three equal models, four judges with tastes: the answer speaks of these judges"
    show(title, few, [few_row(min(worlds or WORLDS, WORLDS_OF_FEW))], markdown=markdown)
