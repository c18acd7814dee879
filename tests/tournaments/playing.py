"""Play a tournament with simulated verdicts."""

from collections.abc import Callable, Mapping
from hashlib import sha256

import numpy as np

from podium.data.pairings import Field, Outcome, Pairing, Round
from podium.tournaments.schedule import TournamentRule

Judge = Callable[[Pairing], float | None]


def field_of(models: int, items: int, absent: Mapping[str, frozenset[str]] | None = None) -> Field:
    """Return a field of models (m00, m01 ...) and items (q00, q01 ...)."""
    return Field(
        tuple(f"m{k:02d}" for k in range(models)),
        tuple(f"q{k:02d}" for k in range(items)),
        absent or {},
    )


def coin(one: Pairing, seed: int = 0) -> float:
    """Return a number in [0, 1) that depends on the battle alone."""
    return int.from_bytes(sha256(f"{seed} {one.key}".encode()).digest()[:6], "big") / 2**48


def soft(one: Pairing) -> float:
    """Judge by number: models with higher numbers are better, with noise of each battle's own."""
    gap = (
        (int(one.a[1:]) - int(one.b[1:])) / 4
        + np.log(coin(one) + 1e-9)
        - np.log(1 - coin(one) + 1e-9)
    )
    return float(1 / (1 + np.exp(-gap)))


def hard(one: Pairing) -> float:
    """Judge by number, with wins, ties and losses."""
    return (np.sign(round(4 * soft(one) - 2)) + 1) / 2


def play(tournament: TournamentRule, field: Field, judge: Judge = soft) -> list[Round]:
    """Play until it is over."""
    rounds: list[Round] = []
    while coming := tournament.next(field, rounds).pairings:
        rounds.append(Round(tuple(Outcome(one, judge(one)) for one in coming)))
    return rounds


def battles(rounds: list[Round]) -> list[Pairing]:
    """Return all battles in the order of their schedule."""
    return [one.pairing for done in rounds for one in done.outcomes]


def pairs(rounds: list[Round]) -> list[tuple[str, str]]:
    """Return the pairs that were played, in order of their first battle."""
    return list(dict.fromkeys((one.a, one.b) for one in battles(rounds)))
