"""Newcomers placed on a ladder: coverage, what is found to be wrong with the ladder, and decisions
of the ring."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from claim_bars import share_text
from scipy.special import expit
from scipy.stats import norm
from scipy.stats import t as student
from tables import show

from podium import read_battles
from podium.data.ladder import Ladder
from podium.data.pairings import Field, Outcome, Pairing, Round
from podium.rankers.fit.coded import CodedBattles
from podium.rankers.fit.pairs import pair_sums, pairs_from_matrices
from podium.rankers.fit.strengths import build_prior, fit_strengths
from podium.rankers.ladder_placement import (
    FALSE_NAMES,
    SLOPE_LEVEL,
    check_ladder,
    ladder_of_battles,
)
from podium.tournaments.ring import Ring

POINTS = 400 / np.log(10)
RATED, NEW = 6, 2
ELO = np.append(np.linspace(-180, 180, RATED), [-45.0, 50.0])
"""Latent strengths, before effects of items."""
ITEM_SD = 0.8
"""Standard deviation of a model's strength over items, logits."""
NAMES = tuple(f"m{k}" for k in range(RATED + NEW))
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
WORLDS = 1_000
ORACLE_WORLDS = 1_000
ITEMS, ERRORS, SCALE = (100, 400), (0.0, 15.0, 30.0), 1.6
FAULTS: Mapping[str, Mapping[str, float]] = {
    "right": {},
    "one off by 76": {"drift": 76.0},
    "scale 1.6": {"scale": SCALE},
}
RING_ITEMS, FEWER_WORLDS = 200, 150


def true_elo() -> np.ndarray:
    """Return the Bradley-Terry fit to the expected credits of a round robin on infinitely many
    items, Elo."""
    gaps = (ELO[:, None] - ELO) / POINTS
    expected = expit(gaps[..., None] + np.sqrt(2) * ITEM_SD * NODES) @ (WEIGHTS / WEIGHTS.sum())
    met = np.triu(np.ones(gaps.shape), 1)
    return POINTS * fit_strengths(pairs_from_matrices(expected * met, met), 0.0).theta


TRUTH = true_elo()


@dataclass(frozen=True)
class World:
    """Battles of newcomers with two random others on each item, and a ladder in which one rating
    may be off."""

    battles: CodedBattles
    ratings: np.ndarray
    drifted: int


def draw_strengths(rng: np.random.Generator, items: int) -> np.ndarray:
    """Draw the strengths of all models on some items, logits, shape (items, models)."""
    return ELO / POINTS + rng.normal(0, ITEM_SD, (items, len(ELO)))


def judge(
    rng: np.random.Generator, strength: np.ndarray, a: np.ndarray, b: np.ndarray
) -> CodedBattles:
    """Judge battles of a with b, as many on each item, item by item."""
    item = np.repeat(np.arange(len(strength)), len(a) // len(strength))
    credit = (rng.random(len(a)) < expit(strength[item, a] - strength[item, b])).astype(float)
    return CodedBattles(a, b, credit, np.ones(len(a)), item, len(strength), "item", NAMES)


def play(rng: np.random.Generator, items: int, strength: np.ndarray | None = None) -> CodedBattles:
    """Draw the battles of two newcomers on some items, without a podium tournament."""
    new = np.tile(np.repeat(np.arange(RATED, RATED + NEW), 2), items)
    other = rng.integers(0, len(ELO) - 1, len(new))
    return judge(
        rng,
        draw_strengths(rng, items) if strength is None else strength,
        new,
        other + (other >= new),
    )


def play_earlier(rng: np.random.Generator, strength: np.ndarray) -> Ladder:
    """Draw a circle of the rated models on each item, and return podium's ladder of these
    battles."""
    circles = np.array([rng.permutation(RATED) for _ in strength])
    coded = judge(rng, strength, circles.ravel(), np.roll(circles, -1, axis=1).ravel())
    names = np.array(NAMES)
    columns = {
        "item": coded.cluster,
        "model_a": names[coded.a],
        "model_b": names[coded.b],
        "credit": coded.credit,
    }
    return ladder_of_battles(read_battles(pd.DataFrame(columns).astype({"item": str})), "earlier")


def draw_world(
    seed: Sequence[int], items: int, error: float, drift: float = 0.0, scale: float = 1.0
) -> World:
    """Draw a world whose ladder has errors, and one rating that is off or another scale."""
    rng = np.random.default_rng(seed)
    battles, drifted = play(rng, items), int(rng.integers(RATED))
    ratings = 1500 + scale * TRUTH[:RATED] + error * rng.normal(size=RATED)
    ratings[drifted] += drift * rng.choice([-1, 1])
    return World(battles, ratings, drifted)


def ladder_of(world: World, error: float) -> Ladder:
    """Return the ladder of a world, with its standard error."""
    return Ladder(NAMES[:RATED], tuple(world.ratings.tolist()), (error,) * RATED)


def covered_gaps(battles: CodedBattles, ladder: Ladder | None) -> np.ndarray:
    """Return whether 95% intervals cover the gaps of newcomers to rated models, shape (newcomers x
    rated,)."""
    fit = fit_strengths(pair_sums(battles), prior=build_prior(ladder, NAMES) if ladder else None)
    covariance = fit.covariance(battles) * POINTS**2
    new, rated = np.divmod(np.arange(NEW * RATED), RATED)
    new += RATED
    variance = covariance[new, new] + covariance[rated, rated] - 2 * covariance[new, rated]
    gap = POINTS * (fit.theta[new] - fit.theta[rated]) - (TRUTH[new] - TRUTH[rated])
    return np.abs(gap) <= student.ppf(0.975, battles.clusters - 1) * np.sqrt(variance)


def true_noise(items: int) -> np.ndarray:
    """Return the covariance of the free fit over many draws of the battles: what an oracle
    knows."""
    drawn = [
        fit_strengths(pair_sums(play(np.random.default_rng([33, k]), items))).theta
        for k in range(ORACLE_WORLDS)
    ]
    return np.cov(np.array(drawn)[:, :RATED].T)


def oracle_finds(world: World, error: float, noise: np.ndarray) -> tuple[bool, ...]:
    """Return whether z tests with the true variances find another scale, and the drifted model
    (Bonferroni), at podium's levels and at 5% each."""
    contrasts = np.eye(RATED)[1:] - np.eye(RATED)[0]
    own = contrasts * (error / POINTS) ** 2 @ contrasts.T
    precision = np.linalg.inv(contrasts @ noise @ contrasts.T + own)
    ladder, free = world.ratings / POINTS, fit_strengths(pair_sums(world.battles)).theta[:RATED]
    residual = contrasts @ (free - ladder)
    place = contrasts @ ladder + own @ precision @ residual
    z_scale = place @ precision @ residual / np.sqrt(place @ precision @ place)
    own_shift = contrasts[:, world.drifted]
    z_drift = own_shift @ precision @ residual / np.sqrt(own_shift @ precision @ own_shift)
    p_scale, p_drift = 2 * norm.sf(abs(z_scale)), 2 * RATED * norm.sf(abs(z_drift))
    return p_scale < 1 - SLOPE_LEVEL, p_drift < FALSE_NAMES, p_scale < 0.05, p_drift < 0.05


def decide_wrongly(
    seed: Sequence[int], error: float, given: float, scale: float = 1.0
) -> tuple[bool, int]:
    """Play podium's ring with `until=order` and a ladder; return whether a decision is wrong, and
    the battles."""
    world, rng = draw_world(seed, 1, error, scale=scale), np.random.default_rng([*seed, 1])
    strength = draw_strengths(rng, RING_ITEMS)
    field = Field(NAMES, tuple(f"q{k:03d}" for k in range(RING_ITEMS)), {})
    place, code = ({name: k for k, name in enumerate(names)} for names in (field.items, NAMES))

    def judged(own: Pairing) -> Outcome:
        gap = strength[place[own.item], code[own.a]] - strength[place[own.item], code[own.b]]
        return Outcome(own, float(rng.random() < expit(gap)))

    rule, rounds = Ring(until="order", ratings=ladder_of(world, given)), list[Round]()
    while coming := rule.next(field, rounds).pairings:
        rounds.append(Round(tuple(map(judged, coming))))
    last = rule.progress_of(field, rounds).looks[-1]
    wrong = (last.settled > 0) & last.in_question & (TRUTH[:, None] < TRUTH)
    return bool(wrong.any()), last.battles


def report(worlds: int | None, markdown: bool) -> None:
    """Print coverage, power and decisions."""
    number = worlds or WORLDS
    header = (
        "battles",
        "error, Elo",
        "worlds",
        "ladder with its error, %",
        "bar",
        "taken as exact, %",
        "no ladder, %",
    )
    show(
        "95% intervals of gaps of newcomers to rated models",
        header,
        coverage_rows(number),
        markdown=markdown,
    )
    header = ("items of the new battles", "worlds", "coverage, %", "bar")
    rows = earlier_rows(worlds or FEWER_WORLDS)
    show(
        f"the same with the ladder of an earlier tournament, {ITEMS[0]} items",
        header,
        rows,
        markdown=markdown,
    )
    header = ("battles", "error", "ladder", "worlds")
    header += tuple(
        f"{what}, %"
        for name in ("scale", "that rating")
        for what in (name, "oracle", "oracle at 5%")
    )
    header += ("any alarm, %", "found with 80% power, Elo")
    title = (
        f"what is named, tests at {1 - SLOPE_LEVEL:.1%} (scale) and {FALSE_NAMES:.1%} (all ratings)"
    )
    show(title, header, power_rows(number), markdown=markdown)
    header = ("ladder", "worlds", "wrong, %", "bar", "battles", "taken as exact: wrong, %")
    show(
        f"ring, until=order, {RING_ITEMS} items",
        header,
        ring_rows(worlds or FEWER_WORLDS),
        markdown=markdown,
    )


def coverage_rows(number: int) -> Iterator[list[str]]:
    """Yield a row per number of battles and error."""
    for items in ITEMS:
        for error in ERRORS:
            drawn = [draw_world([30, items, k], items, error) for k in range(number)]
            ladders = ([ladder_of(world, given) for world in drawn] for given in (error, 0.0))
            shares = [_coverage_text(drawn, own) for own in (*ladders, [None] * number)]
            yield [
                f"{2 * NEW * items:,}",
                f"{error:g}",
                f"{number:,}",
                shares[0],
                "93 to 97",
                *shares[1:],
            ]


def _coverage_text(drawn: Sequence[World], ladders: Sequence[Ladder | None]) -> str:
    """Format the mean share of covered gaps, with its 95% interval over worlds."""
    pairs = zip(drawn, ladders, strict=True)
    shares = 100 * np.array([covered_gaps(world.battles, ladder).mean() for world, ladder in pairs])
    reach = 1.96 * shares.std() / np.sqrt(len(shares))
    return f"{shares.mean():.1f} [{shares.mean() - reach:.1f}, {shares.mean() + reach:.1f}]"


def earlier_rows(number: int) -> Iterator[list[str]]:
    """Yield a row for newcomers on the items of an earlier tournament, and on others."""
    for name in ("the same", "others"):
        drawn, ladders = [], []
        for k in range(number):
            rng = np.random.default_rng([34, k])
            strength = draw_strengths(rng, ITEMS[0])
            ladders.append(play_earlier(rng, strength))
            battles = play(rng, ITEMS[0], strength if name == "the same" else None)
            drawn.append(World(battles, np.array(ladders[-1].elo), 0))
        yield [name, f"{number:,}", _coverage_text(drawn, ladders), "93 or more"]


def power_rows(number: int) -> Iterator[list[str]]:
    """Yield a row per number of battles, error, and fault of the ladder."""
    for items in ITEMS:
        noise = true_noise(items)
        for error in ERRORS[1:]:
            for name, fault in FAULTS.items():
                drawn = [draw_world([31, items, k], items, error, **fault) for k in range(number)]
                checks = [
                    check_ladder(world.battles, build_prior(ladder_of(world, error), NAMES))
                    for world in drawn
                ]
                scale = np.array([check.is_other_scale for check in checks])
                off = np.array([check.p <= FALSE_NAMES for check in checks])
                drift = off[np.arange(number), [world.drifted for world in drawn]]
                oracle = np.array([oracle_finds(world, error, noise) for world in drawn]).T
                named = (
                    scale,
                    oracle[0],
                    oracle[2],
                    drift,
                    oracle[1],
                    oracle[3],
                    scale | off.any(axis=1),
                )
                least = f"{np.mean([check.detectable.mean() for check in checks]):.0f}"
                shares = [share_text(int(hits.sum()), number) for hits in named]
                yield [f"{2 * NEW * items:,}", f"{error:g}", name, f"{number:,}", *shares, least]


def ring_rows(number: int) -> Iterator[list[str]]:
    """Yield a row per error and scale of the ladder."""
    for name, error, scale in (
        ("error 30", 30, 1),
        ("error 15", 15, 1),
        ("exact", 0, 1),
        ("scale 1.6", 0, SCALE),
    ):
        ours = [decide_wrongly([32, k], error, error, scale) for k in range(number)]
        exact = [decide_wrongly([32, k], error, 0, scale) for k in range(number)] if error else ours
        wrong, as_exact = (
            share_text(sum(is_wrong for is_wrong, _ in runs), number) for runs in (ours, exact)
        )
        yield [
            name,
            f"{number:,}",
            wrong,
            "5",
            f"{np.mean([battles for _, battles in ours]):,.0f}",
            as_exact,
        ]
