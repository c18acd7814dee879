"""Newcomers placed on a ladder: coverage, what is found to be wrong with the ladder, and decisions of the ring."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import norm
from scipy.stats import t as student
from tables import show

from claims_sections.intervals import share_text
from podium.nouns.ladder import Ladder
from podium.rankers.coded import CodedBattles
from podium.rankers.ladder_check import LEVEL, check_ladder
from podium.rankers.ladder_prior import build_prior
from podium.rankers.pairs import pair_sums, pairs_from_matrices
from podium.rankers.strengths import fit_strengths
from podium.tournaments.ring import Ring
from podium.tournaments.schedule import Field, Outcome, Pairing, Round

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
RING_ITEMS, RING_WORLDS = 200, 300


def true_elo() -> np.ndarray:
    """Return the Bradley-Terry fit to the expected credits of a round robin on infinitely many items, Elo."""
    gaps = (ELO[:, None] - ELO) / POINTS
    expected = expit(gaps[..., None] + np.sqrt(2) * ITEM_SD * NODES) @ (WEIGHTS / WEIGHTS.sum())
    met = np.triu(np.ones(gaps.shape), 1)
    return POINTS * fit_strengths(pairs_from_matrices(expected * met, met), 0.0).theta


TRUTH = true_elo()


@dataclass(frozen=True)
class World:
    """Battles of newcomers with two random others on each item, and a ladder in which one rating may be off."""

    battles: CodedBattles
    ratings: np.ndarray
    drifted: int


def play(rng: np.random.Generator, items: int) -> CodedBattles:
    """Draw the battles of two newcomers on some items, without a podium tournament."""
    strength = ELO / POINTS + rng.normal(0, ITEM_SD, (items, len(ELO)))
    item = np.repeat(np.arange(items), 2 * NEW)
    new = np.tile(np.repeat(np.arange(RATED, RATED + NEW), 2), items)
    other = rng.integers(0, len(ELO) - 1, len(item))
    other += other >= new
    credit = rng.random(len(item)) < expit(strength[item, new] - strength[item, other])
    return CodedBattles(new, other, credit.astype(float), np.ones(len(item)), item, items, "item", NAMES)


def draw_world(seed: Sequence[int], items: int, error: float, drift: float = 0.0, scale: float = 1.0) -> World:
    """Draw a world whose ladder has errors, and one rating that is off or another scale."""
    rng = np.random.default_rng(seed)
    battles, drifted = play(rng, items), int(rng.integers(RATED))
    ratings = 1500 + scale * TRUTH[:RATED] + error * rng.normal(size=RATED)
    ratings[drifted] += drift * rng.choice([-1, 1])
    return World(battles, ratings, drifted)


def ladder_of(world: World, error: float) -> Ladder:
    """Return the ladder of a world, with its standard error."""
    return Ladder(NAMES[:RATED], tuple(world.ratings.tolist()), (error,) * RATED)


def covered_gaps(world: World, given: float | None) -> np.ndarray:
    """Return whether 95% intervals cover the gaps of newcomers to rated models, by a fit with the ladder and an error
    that is given, or without the ladder (None); shape (newcomers x rated,)."""
    prior = None if given is None else build_prior(ladder_of(world, given), NAMES)
    fit = fit_strengths(pair_sums(world.battles), prior=prior)
    covariance = fit.covariance(world.battles) * POINTS**2
    new, rated = np.divmod(np.arange(NEW * RATED), RATED)
    new += RATED
    variance = covariance[new, new] + covariance[rated, rated] - 2 * covariance[new, rated]
    gap = POINTS * (fit.theta[new] - fit.theta[rated]) - (TRUTH[new] - TRUTH[rated])
    return np.abs(gap) <= student.ppf(0.975, world.battles.clusters - 1) * np.sqrt(variance)


def true_noise(items: int) -> np.ndarray:
    """Return the covariance of the free fit over many draws of the battles: what an oracle knows."""
    drawn = [fit_strengths(pair_sums(play(np.random.default_rng([33, k]), items))).theta for k in range(ORACLE_WORLDS)]
    return np.cov(np.array(drawn)[:, :RATED].T)


def oracle_finds(world: World, error: float, noise: np.ndarray) -> tuple[bool, bool]:
    """Return whether z tests with the true variances find another scale, and the drifted model (Bonferroni)."""
    contrasts = np.eye(RATED)[1:] - np.eye(RATED)[0]
    own = contrasts * (error / POINTS) ** 2 @ contrasts.T
    precision = np.linalg.inv(contrasts @ noise @ contrasts.T + own)
    ladder, free = world.ratings / POINTS, fit_strengths(pair_sums(world.battles)).theta[:RATED]
    residual = contrasts @ (free - ladder)
    place = contrasts @ ladder + own @ precision @ residual
    z_scale = place @ precision @ residual / np.sqrt(place @ precision @ place)
    own_shift = contrasts[:, world.drifted]
    z_drift = own_shift @ precision @ residual / np.sqrt(own_shift @ precision @ own_shift)
    return bool(abs(z_scale) > norm.ppf(0.975)), bool(abs(z_drift) > norm.ppf(1 - 0.025 / RATED))


def decide_wrongly(seed: Sequence[int], error: float, given: float, scale: float = 1.0) -> tuple[bool, int]:
    """Play podium's ring with `until=order` and a ladder; return whether a decision is wrong, and the battles."""
    world, rng = draw_world(seed, 1, error, scale=scale), np.random.default_rng([*seed, 1])
    strength = ELO / POINTS + rng.normal(0, ITEM_SD, (RING_ITEMS, len(ELO)))
    field = Field(NAMES, tuple(f"q{k:03d}" for k in range(RING_ITEMS)), {})
    place, code = ({name: k for k, name in enumerate(names)} for names in (field.items, NAMES))

    def judged(own: Pairing) -> Outcome:
        gap = strength[place[own.item], code[own.a]] - strength[place[own.item], code[own.b]]
        return Outcome(own, float(rng.random() < expit(gap)))

    rule, rounds = Ring(until="order", ratings=ladder_of(world, given)), list[Round]()
    while coming := rule.next(field, rounds).pairings:
        rounds.append(Round(tuple(map(judged, coming))))
    last = rule.progress_of(field, rounds).looks[-1]
    wrong = (last.settled > 0) & last.asked & (TRUTH[:, None] < TRUTH)
    return bool(wrong.any()), last.battles


def report(worlds: int | None, markdown: bool) -> None:
    """Print coverage, power and decisions."""
    number = worlds or WORLDS
    header = ("battles", "error, Elo", "worlds", "ladder with its error, %", "bar", "taken as exact, %", "no ladder, %")
    show("95% intervals of gaps of newcomers to rated models", header, coverage_rows(number), markdown=markdown)
    header = (
        "battles",
        "error",
        "ladder",
        "worlds",
        "scale named, %",
        "oracle, %",
        "that rating named, %",
        "oracle, %",
    )
    header = (*header, "any rating, %", "found with 80% power, Elo")
    show("what is named, tests at 5%", header, power_rows(number), markdown=markdown)
    header = ("ladder", "worlds", "wrong, %", "bar", "battles", "taken as exact: wrong, %")
    show(f"ring, until=order, {RING_ITEMS} items", header, ring_rows(worlds or RING_WORLDS), markdown=markdown)


def coverage_rows(number: int) -> Iterator[list[str]]:
    """Yield a row per number of battles and error."""
    for items in ITEMS:
        for error in ERRORS:
            drawn = [draw_world([30, items, k], items, error) for k in range(number)]
            kinds = [[covered_gaps(world, given) for world in drawn] for given in (error, 0.0, None)]
            shares = [_mean_text([own.mean() for own in kind]) for kind in kinds]
            yield [f"{2 * NEW * items:,}", f"{error:g}", f"{number:,}", shares[0], "93 to 97", *shares[1:]]


def _mean_text(shares: Sequence[float]) -> str:
    """Format the mean share of the gaps of a world, with the 95% interval of that mean over worlds."""
    mean, reach = 100 * np.mean(shares), 196 * np.std(shares) / np.sqrt(len(shares))
    return f"{mean:.1f} [{mean - reach:.1f}, {mean + reach:.1f}]"


def power_rows(number: int) -> Iterator[list[str]]:
    """Yield a row per number of battles, error, and fault of the ladder."""
    for items in ITEMS:
        noise = true_noise(items)
        for error in ERRORS[1:]:
            for name, fault in FAULTS.items():
                drawn = [draw_world([31, items, k], items, error, **fault) for k in range(number)]
                checks = [check_ladder(world.battles, build_prior(ladder_of(world, error), NAMES)) for world in drawn]
                named = np.array(
                    [
                        (check.is_other_scale, check.p[world.drifted] <= 1 - LEVEL, (check.p <= 1 - LEVEL).any())
                        for world, check in zip(drawn, checks, strict=True)
                    ]
                ).sum(axis=0)
                oracle = np.array([oracle_finds(world, error, noise) for world in drawn]).sum(axis=0)
                ours, theirs = ([share_text(int(hits), number) for hits in counts] for counts in (named, oracle))
                least = f"{np.mean([check.detectable.mean() for check in checks]):.0f}"
                shares = ours[0], theirs[0], ours[1], theirs[1], ours[2]
                yield [f"{2 * NEW * items:,}", f"{error:g}", name, f"{number:,}", *shares, least]


def ring_rows(number: int) -> Iterator[list[str]]:
    """Yield a row per error and scale of the ladder."""
    for name, error, scale in (("exact", 0, 1), ("error 15", 15, 1), ("error 30", 30, 1), ("scale 1.6", 0, SCALE)):
        ours = [decide_wrongly([32, k], error, max(error, 0.0), scale) for k in range(number)]
        exact = [decide_wrongly([32, k], error, 0.0, scale) for k in range(number)]
        wrong, as_exact = (share_text(sum(is_wrong for is_wrong, _ in runs), number) for runs in (ours, exact))
        yield [name, f"{number:,}", wrong, "5", f"{np.mean([battles for _, battles in ours]):,.0f}", as_exact]
