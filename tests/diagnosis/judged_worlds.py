"""Cards of judges with known faults, over many simulated worlds: does every interval cover what is
true?"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache

import numpy as np
from merged_worlds import unmerged_and_merged

from podium import Battles, Judge, World, simulate
from podium.diagnosis.card import SECTIONS, SectionAnswer, answer_sections
from podium.diagnosis.figures import Statistic
from podium.diagnosis.subject import Subject

STRENGTHS = {
    "gpt-4": 0.9,
    "gpt-3": -0.2,
    "claude": 0.6,
    "llama": -0.4,
    "mistral": -0.9,
    "gemini": 0.0,
}
LENGTHS = (7.1, 6.9, 7.3, 7.0, 6.8, 6.9)
"""Mean log-lengths, in the order of the models."""
ASKED = ("position", "consistency", "verbosity", "self_preference", "human")
OWN = ("gpt-4", "gpt-3")
WORLDS = 200
ITEMS = 40
MANY = 6_000
"""Items of the world that stands for infinitely many: its errors are a twelfth of those of 40
items."""

FAIR = Judge(name="gpt-9", scale=1.5, tie=0.25, unparsed=0.02)
FAULTY = Judge(
    name="gpt-9",
    scale=1.5,
    position_bias=0.5,
    verbosity_bias=0.8,
    self_preference=0.6,
    favours=OWN,
    unparsed=0.02,
)


def world(seed: int, items: int = ITEMS, item_sd: float = 0.0) -> World:
    """Return a world whose models have these strengths and mean lengths, whatever the seed."""
    found = simulate(
        list(STRENGTHS), items, seed=seed, strengths=list(STRENGTHS.values()), item_sd=item_sd
    )
    lengths = np.array(LENGTHS)
    return replace(
        found, length_means=lengths, log_length=found.log_length + lengths - found.length_means
    )


def both(played: World, judge: Judge, repeats: int = 1) -> tuple[Battles, Battles]:
    """Return a judge's judgments, and its battles."""
    return unmerged_and_merged(played, judge, repeats=repeats)


def answers(
    played: World, judge: Judge, sections: tuple[str, ...] = ASKED, repeats: int = 1
) -> dict[str, SectionAnswer]:
    """Return what some sections of the card say of a judge in a world."""
    subject = Subject(judge.name, *both(played, judge, repeats))
    return answer_sections(
        {name: section for name, section in SECTIONS.items() if name in sections}, subject
    )


def repeats(judge: Judge) -> int:
    """Return how often a judge sees everything: twice, where repeats are looked at."""
    return 2 if judge == FAIR else 1


@cache
def cards(
    judge: Judge, item_sd: float, number: int = WORLDS, sections: tuple[str, ...] = ASKED
) -> tuple[dict[str, Statistic], ...]:
    """Return the figures of a judge's cards in many worlds, made once per test process."""
    played = (world(seed, item_sd=item_sd) for seed in range(number))
    return tuple(figures(answers(one, judge, sections, repeats(judge))) for one in played)


@cache
def truth(judge: Judge, item_sd: float) -> dict[str, float]:
    """Return every figure of the judge in a world of very many items."""
    found = figures(answers(world(1_000_003, MANY, item_sd), judge, repeats=repeats(judge)))
    return {name: figure.value for name, figure in found.items()}


def figures(stated: dict[str, SectionAnswer]) -> dict[str, Statistic]:
    """Return all figures by their path."""
    return {path: figure for name, answer in stated.items() for path, figure in _walk(name, answer)}


def coverage(
    found: tuple[dict[str, Statistic], ...], name: str, value: float, narrowed: float = 1.0
) -> float:
    """Return the share of worlds whose interval holds a value.

    Args:
        narrowed: factor on the distances of the ends from the estimate.
    """
    held = [one[name] for one in found if name in one]
    assert len(held) > 0.9 * len(found)
    return float(
        np.mean(
            [
                one.value - narrowed * (one.value - one.low)
                <= value
                <= one.value + narrowed * (one.high - one.value)
                for one in held
            ]
        )
    )


def _walk(path: str, stated: object) -> Iterator[tuple[str, Statistic]]:
    if isinstance(stated, Statistic):
        yield path, stated
    else:
        names = (
            [one.name for one in fields(stated)]
            if is_dataclass(stated)
            else getattr(stated, "_fields", ())
        )
        for name in names:
            yield from _walk(f"{path}.{name}", getattr(stated, name))
