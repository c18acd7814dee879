"""Looking first: the interval of whichever model is first, and the p-value of a pair that was
chosen after looking at the ranking, of equal models.

Each world draws a round robin, or a score of each model, on n items; on each item, each model has a
strength of its own (sd `ITEM`, in logits). The models are ranked. The interval of the first one,
as the table prints it (its mark and the line below included), is compared with the truth, and the
first model is compared with the second and with the last by `podium compare`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from claim_bars import LEAST_COVERAGE, MOST_FALSE, lies_beyond, share_text
from tables import show

import podium
from claims_sections.champions import draw_battles, draw_scores
from podium.data.battles import Battles
from podium.rankers.bradley_terry import bradley_terry
from podium.rankers.pointwise import mean
from podium.rankers.ranking import Standings
from podium.rankers.standings import LEADER_INTERVAL
from podium.rankers.win_rate import win_rate

WORLDS = 1_000
MODELS = (2, 6, 10, 20)
ITEMS = 100
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Kind:
    """Worlds of one kind of data.

    Attributes:
        draw: draws a world from strengths and a number of items.
        ranker: ranks it.
        truth: the true score of all models.
        measure: the measure of `podium compare`; empty if models are not compared.
    """

    draw: Callable[[np.random.Generator, np.ndarray, int], Battles]
    ranker: Callable[..., Standings]
    truth: float
    measure: str = ""


KINDS = {
    "battles, bradley-terry": Kind(draw_battles, bradley_terry, 1500.0, "elo"),
    "battles, win-rate": Kind(draw_battles, win_rate, 0.5),
    "right or wrong, mean": Kind(draw_scores, mean, 0.5, "score"),
}


@dataclass(slots=True)
class Counts:
    """What was found in the worlds of one row.

    Attributes:
        own: number of worlds in which the first model's own interval holds the truth.
        shown: number of worlds in which the interval that allows for the choice holds it, or the
            own one if there is no other.
        second: number of worlds in which the p-value of a chosen pair, the first model against the
            second, is at most 5%.
        alone: number of worlds in which that of the first against the last is at most 5% if the
            choice is ignored.
        last: number of worlds in which that of the first against the last is at most 5%.
    """

    own: int = 0
    shown: int = 0
    second: int = 0
    alone: int = 0
    last: int = 0


def count(kind: Kind, models: int, worlds: int) -> Counts:
    """Rank worlds of equal models, and compare the first of each with the second and the last."""
    counts = Counts()
    for world in range(worlds):
        rng = np.random.default_rng([63, world, models])
        battles = kind.draw(rng, np.zeros(models), ITEMS)
        standings = kind.ranker(battles, rng=np.random.default_rng(0))
        first, second = standings.entries[:2]
        own = (first.low, first.high)
        of_leader = standings.diagnostics.get(LEADER_INTERVAL)
        shown = (of_leader["low"], of_leader["high"]) if of_leader else own
        counts.own += _holds(own, kind.truth)
        counts.shown += _holds(shown, kind.truth)
        if kind.measure:
            last = standings.entries[-1]
            counts.second += p_values(battles, first.model, second.model, kind)[1] <= ALPHA
            alone, chosen = p_values(battles, first.model, last.model, kind)
            counts.alone += alone <= ALPHA
            counts.last += chosen <= ALPHA
    return counts


def p_values(battles: Battles, first: str, other: str, kind: Kind) -> tuple[float, float]:
    """Return the p-value of two models, and that for a pair chosen after looking, if it differs."""
    [finding] = podium.compare(first, other, battles, measure=kind.measure).findings
    p = finding.difference.p_value
    return p, p if finding.p_if_chosen is None else finding.p_if_chosen


def _holds(ends: tuple[float | None, float | None], truth: float) -> bool:
    """Return whether an interval holds the truth; an absent end is infinite."""
    low, high = ends
    return (low is None or low <= truth) and (high is None or high >= truth)


def cells(worlds: int) -> Iterator[list[str]]:
    """Yield a row of the table per kind of data and number of models."""
    for name, kind in KINDS.items():
        for models in MODELS:
            counts = count(kind, models, worlds)
            failed = []
            if lies_beyond(counts.shown, worlds, LEAST_COVERAGE, above=False):
                failed.append("interval")
            found = [counts.second, counts.last] if kind.measure else []
            if any(lies_beyond(number, worlds, MOST_FALSE, above=True) for number in found):
                failed.append("p-value")
            shares = ["", "", ""]
            if kind.measure:
                numbers = (counts.second, counts.alone, counts.last)
                shares = [share_text(number, worlds) for number in numbers]
            yield [
                name,
                str(models),
                f"{worlds:,}",
                share_text(counts.own, worlds),
                share_text(counts.shown, worlds),
                *shares,
                "FAILED: " + ", ".join(failed) if failed else "ok",
            ]


def report(worlds: int | None, markdown: bool) -> None:
    """Print the table of all kinds of data and numbers of models."""
    header = ["data", "models", "worlds", "own interval of the first, %", "for this choice, %"]
    header += ["second, p if chosen, %", "last, p alone, %", "last, p if chosen, %", ""]
    bars = f"bars {LEAST_COVERAGE:.0%} and {MOST_FALSE:.0%}"
    title = f"equal models on {ITEMS} items: the first one alone, and compared; {bars}"
    show(title, header, [*cells(worlds or WORLDS)], markdown=markdown)
