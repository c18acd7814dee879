"""Coverage of the intervals of length control and kappa, each beside a wrong variant: what podium gave before.

    python benchmarks/coverage_length.py                 # 1,000 worlds a case, about ten minutes
    python benchmarks/coverage_length.py --worlds 100    # a look
    python benchmarks/coverage_length.py --case length   # cases whose name begins so

A world is drawn anew for each seed, 0, 1, 2 ...; one entrant of it counts, so that worlds are independent. An interval
that covers at 95% is seen below 92% in one of 20,000 runs of 1,000 worlds.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from tables import machine, show

import podium
from podium.diagnosis.people import people
from podium.diagnosis.subject import Subject
from podium.errors import NotIdentifiedError
from podium.rankers.intervals import t_reach

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Answer:
    """What a world says: the ends of the interval and of a wrong one, and the truth."""

    truth: float
    interval: tuple[float, float]
    wrong: tuple[float, float]


World = Callable[[int], Answer | None]
"""From a seed to an answer; None where the data were refused."""


def length_world(items: int, rate: float, slope: float, lead: float, tie: float = 0.0) -> World:
    """Return worlds of one entrant against a baseline; the model of the judge is AlpacaEval's.

    Args:
        rate: its win rate at equal length.
        slope: logits that it gains as its lead grows without bound.
        lead: mean lead in length, standard deviations.
        tie: share of ties.
    """

    def answer(seed: int) -> Answer | None:
        rng = np.random.default_rng([seed, items, int(100 * rate), int(10 * slope)])
        ahead = rng.normal(lead, 1, items)
        credit = (rng.random(items) < expit(logit(rate) + slope * np.tanh(ahead))) * 1.0
        credit[rng.random(items) < tie] = 0.5
        frame = pd.DataFrame({"item": [f"q{k}" for k in range(items)], "credit": credit, "length_b": 2000})
        frame = frame.assign(model_a="new", model_b="base", length_a=2000 + np.round(400 * ahead))
        try:
            ranked = podium.rank(frame, "win-rate", anchor="base", length_control=True).standings[0]
        except NotIdentifiedError:
            return None
        entry = next(entry for entry in ranked.entries if entry.model == "new")
        wrong = entry.score + np.array([-1, 1]) * t_reach(items, LEVEL) * plain_error(entry.score, credit, ahead)
        return Answer(rate, (entry.low, entry.high), tuple(np.clip(wrong, 0, 1)))

    return answer


def plain_error(value: float, credit: np.ndarray, ahead: np.ndarray) -> float:
    """Return the standard error by the sandwich that takes residuals as they are: what podium gave before."""
    design = np.column_stack([np.ones(len(credit)), np.tanh(ahead / ahead.std(ddof=1))])
    at = np.zeros(2)
    for _ in range(200):
        fitted = expit(design @ at)
        bread = np.linalg.pinv((design * (fitted * (1 - fitted))[:, None]).T @ design)
        at += np.clip(bread @ design.T @ (credit - fitted), -1, 1)
    moved = (credit - fitted) * (design @ bread[:, 0])
    return float(value * (1 - value) * np.sqrt(np.var(moved, ddof=1) * len(credit)))


def kappa_world(items: int, right: float, listed: float) -> World:
    """Return worlds of a judge that is right with this probability, in three battles an item that share its luck.

    Args:
        listed: share of battles in which the response that people prefer is called a.
    """

    def answer(seed: int) -> Answer:
        rng = np.random.default_rng([seed, items, int(100 * right), int(100 * listed)])
        agrees = np.repeat(rng.random(items) < right, 3) ^ (rng.random(3 * items) < 0.1)
        human = (rng.random(3 * items) < listed) * 1.0
        frame = pd.DataFrame({"item": np.repeat([f"q{k}" for k in range(items)], 3), "human": human, "judge": "j"})
        pairs = np.tile([["x", "y"], ["y", "z"], ["x", "z"]], (items, 1))
        frame = frame.assign(model_a=pairs[:, 0], model_b=pairs[:, 1], credit=np.where(agrees, human, 1 - human))
        battles = podium.read_battles(frame)
        found = people(Subject("j", battles, battles)).kappa
        truth = 2 * (0.9 * right + 0.1 * (1 - right)) - 1
        # The wrong variant takes the two sides of a battle for two battles: it is narrower by the root of 2.
        ends = tuple(found.value + (end - found.value) / np.sqrt(2) for end in (found.low, found.high))
        return Answer(truth, (found.low, found.high), ends)

    return answer


CASES: dict[str, World] = {
    "length, 200 items": length_world(200, 0.7, 1.5, 0.7),
    "length, 40 items": length_world(40, 0.7, 1.5, 0.7),
    "length, 40 items, strong": length_world(40, 0.9, 1.5, 0.7),
    "length, 20 items, ties": length_world(20, 0.7, 1.5, 0.7, tie=0.2),
    "length, 12 items": length_world(12, 0.7, 1.5, 0.7),
    "length, 12 items, no bias": length_world(12, 0.5, 0.0, 0.0),
    "length, 8 items": length_world(8, 0.5, 0.0, 0.0),
    "kappa, 60 items": kappa_world(60, 0.8, 0.5),
    "kappa, 60 items, all listed as right": kappa_world(60, 0.8, 1.0),
}


def coverage_of(world: World, worlds: int) -> tuple[int, float, float, float, float]:
    """Return answered worlds, coverage and mean width of the interval, and the same of the wrong one."""
    answers = [answer for answer in map(world, range(worlds)) if answer]
    figures = [part for kind in ("interval", "wrong") for part in _held(answers, kind)]
    return (len(answers), *figures)


def _held(answers: list[Answer], kind: str) -> Iterator[float]:
    ends = np.array([getattr(answer, kind) for answer in answers])
    truth = np.array([answer.truth for answer in answers])
    yield float(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])))
    yield float(np.mean(ends[:, 1] - ends[:, 0]))


def main() -> None:
    """Go through the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--case", default="", help="the beginning of the names of cases")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    print(machine(f"podium {podium.__version__}", f"numpy {np.__version__}"))
    rows = []
    for name, world in CASES.items():
        if name.startswith(arguments.case):
            number, *figures = coverage_of(world, arguments.worlds)
            rows.append([name, f"{number:,} of {arguments.worlds:,}", *(f"{figure:.3f}" for figure in figures)])
    header = ["case", "answered", "coverage", "width", "wrong: coverage", "wrong: width"]
    show(f"{LEVEL:.0%} intervals", header, rows, markdown=arguments.markdown)


if __name__ == "__main__":
    main()
