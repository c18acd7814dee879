"""Worlds of the project's simulator as a judge of single judgments, and naive rules to compare
stopping with."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from podium import Judge, simulate
from podium.data.pairings import Field, Outcome, Pairing, Round
from podium.rankers.fit.scale import POINTS
from podium.tournaments.schedule import TournamentRule
from podium.tournaments.stopping import Look, Stopping

LIKE_GPT_4 = Judge(position_bias=0.3, tie=0.33, noise=0.5)
"""As often tied, turned and for the first as the judge of the recorded round robin:
`test_ring_on_record.py`."""
ITEM_SD = 0.95
"""Of a model on an item, logits: with it, item and order have the record's shares of that judge's
variance."""


class CloseWorld:
    """Answers any judgment deterministically; `earned` is the credit of the response shown first.

    Args:
        elo: true strengths.
        judge: of a hard verdict per judgment.
    """

    def __init__(
        self, elo: Sequence[float], items: int, seed: int, judge: Judge = LIKE_GPT_4
    ) -> None:
        world = simulate(
            len(elo), items, seed=seed, strengths=np.asarray(elo) / POINTS, item_sd=ITEM_SD
        )
        self.field = Field(world.models, tuple(f"q{k:04d}" for k in range(items)), {})
        self.code = {name: k for k, name in enumerate(world.models)}
        self.place = {item: k for k, item in enumerate(self.field.items)}
        margin = world.margins_of_first(judge)
        self.earned = (np.sign(margin - judge.tie) + np.sign(margin + judge.tie)) / 4 + 0.5
        self.truth = POINTS * world.estimand(judge)

    def credit(self, pairing: Pairing) -> float:
        """Return the credit of `a` in the order of the pairing, else the mean of both orders."""
        item, a, b = self.place[pairing.item], self.code[pairing.a], self.code[pairing.b]
        shown = {pairing.a: self.earned[item, a, b], pairing.b: 1 - self.earned[item, b, a]}
        return float(shown[pairing.first] if pairing.first else np.mean(list(shown.values())))

    def play(self, rule: TournamentRule) -> list[Round]:
        """Play until it is over."""
        rounds: list[Round] = []
        while coming := rule.next(self.field, rounds).pairings:
            rounds.append(Round(tuple(Outcome(each, self.credit(each)) for each in coming)))
        return rounds

    def looks(self, rule: Stopping) -> tuple[tuple[Look, ...], int]:
        """Return the looks of a whole tournament, and how many battles it asked for."""
        rounds = self.play(rule)
        return rule.progress_of(self.field, rounds).looks, sum(
            len(done.outcomes) for done in rounds
        )


def is_wrong(settled: np.ndarray, truth: np.ndarray, margin: float = 0.0) -> bool:
    """Return whether a decision is wrong: the lower one is truly better than the upper one by more
    than the margin."""
    gap = truth[:, None] - truth
    return bool(((settled > 0) & (gap < -margin)).any())


def naive_decisions(looks: Sequence[Look], critical: float = 1.96) -> np.ndarray:
    """Return what z > 1.96 at any look would have decided, shape (models, models)."""
    decided = np.zeros(looks[0].settled.shape, dtype=np.int64)
    for look in looks:
        z = look.z(0.0)
        fresh = (np.abs(z) > critical) & (decided == 0)
        decided[fresh] = np.sign(z)[fresh]
    return decided


def step_down_without_memory(
    theta: np.ndarray, covariance: np.ndarray, clusters: int, margin: float
) -> np.ndarray:
    """Return what the step-down settles that counts open pairs only: with a margin it is wrong too
    often."""
    from scipy.stats import t as student

    gap = theta[:, None] - theta
    variance = np.diag(covariance)
    error = np.sqrt(variance[:, None] + variance - 2 * covariance)
    asked = np.zeros(gap.shape, dtype=bool)
    asked[0], asked[:, 0], asked[0, 0] = True, True, False
    settled = np.zeros(gap.shape, dtype=np.int64)
    while (asked & (settled == 0)).any():
        open_ = asked & (settled == 0)
        critical = student.isf(0.05 / (open_.sum() // 2), clusters - 1)
        fresh = open_ & (np.abs(gap) + margin / POINTS > critical * error)
        if not fresh.any():
            break
        settled[fresh] = np.sign(gap)[fresh]
    return settled


def pair_sums_with_items(names: Sequence[str]) -> Iterator[frozenset[str]]:
    """Yield all pairs."""
    return (frozenset(pair) for pair in combinations(names, 2))


def turned_round(field: Field) -> Field:
    """Return the field with its models and items in another order."""
    return replace(field, models=field.models[::-1], items=field.items[::-1])
