"""Tournaments with `until=order`, where items come in passages: decisions about equal models.

Worlds are those of `groups`: the strength of a model has an effect of the passage (sd 0.7 logits)
and of the item (sd 0.5). All models are equal, so that each decision is wrong in one direction. A
decision with level 0.95 and margin 0 may be wrong with a probability of 5% in each direction, so
that 10% are nominal. Without groups, items count as independent.
"""

import numpy as np
from claim_bars import lies_beyond, share_text
from tables import show

from claims_sections.groups import strengths
from podium.data.pairings import Field, Outcome, Pairing, Round
from podium.tournaments.ring import Ring
from podium.tournaments.round_robin import RoundRobin

WORLDS = 300
SIZES = ((6, 10, 10), (6, 20, 10), (6, 20, 20), (6, 80, 5), (12, 10, 10), (12, 20, 10))
"""Numbers of models, of passages, and of items of each passage."""
NOMINAL = 0.10
RULES = (RoundRobin, Ring)


def field_of(models: int, passages: int, items: int, *, grouped: bool) -> Field:
    """Return the models and items, with the passages as groups if `grouped`."""
    names = tuple(f"m{k:02d}" for k in range(models))
    ids = tuple(f"q{k:05d}" for k in range(passages * items))
    if not grouped:
        return Field(names, ids, {})
    groups = {item: f"p{k // items}" for k, item in enumerate(ids)}
    return Field(names, ids, {}, groups, "passage")


def count_decided(
    rule: type[RoundRobin | Ring], field: Field, size: tuple[int, int, int], worlds: int
) -> int:
    """Return in how many worlds a tournament decides on any pair of equal models."""
    models, passages, items = size
    decided = 0
    for world in range(worlds):
        rng = np.random.default_rng([60, world, *size])
        on_item = strengths(rng, np.zeros(models), passages, items)
        gap = on_item[:, :, None] - on_item[:, None, :]
        wins = rng.random(gap.shape) < 1 / (1 + np.exp(-gap))
        tournament = rule(until="order", seed=world)
        looks = tournament.progress_of(field, play(tournament, field, wins)).looks
        decided += bool((looks[-1].settled > 0).any())
    return decided


def play(tournament: RoundRobin | Ring, field: Field, wins: np.ndarray) -> list[Round]:
    """Play a tournament until it is over; `wins` has the shape (items, models, models)."""

    def credit(own: Pairing) -> float:
        return float(wins[int(own.item[1:]), int(own.a[1:]), int(own.b[1:])])

    rounds: list[Round] = []
    while coming := tournament.next(field, rounds).pairings:
        rounds.append(Round(tuple(Outcome(own, credit(own)) for own in coming)))
    return rounds


def report(worlds: int | None, markdown: bool) -> None:
    """Print a row per tournament, size, and whether the passages are groups."""
    number = worlds or WORLDS
    rows = []
    for size in SIZES:
        for rule in RULES:
            for grouped in (True, False):
                field = field_of(*size, grouped=grouped)
                wrong = count_decided(rule, field, size, number)
                is_failed = grouped and lies_beyond(wrong, number, NOMINAL, above=True)
                rows.append(
                    [
                        rule.__name__,
                        f"{size[0]} models, {size[1]} x {size[2]}",
                        "passage" if grouped else "none",
                        f"{number:,}",
                        share_text(wrong, number),
                        "FAILED" if is_failed else "ok" if grouped else "",
                    ]
                )
    header = ("tournament", "passages x items", "cluster", "worlds", "decided, %", "")
    show("until=order, equal models, items in passages", header, rows, markdown=markdown)
