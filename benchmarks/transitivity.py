"""Non-transitivity of a large round robin: podium's arrays compared with plain Python loops.

    python benchmarks/transitivity.py              # 20 models x 805 items: 1,140 triples; the loops
    are slow python benchmarks/transitivity.py --small      # 8 models x 100 items python
    benchmarks/transitivity.py --markdown   # tables as Markdown

Both compute PNT and SNTD (Xu et al. 2025, equations 2 to 5) of every triple of models on every
item, from credits in memory, and must agree. podium also gives intervals, gaps in strength and
consistent items; the loops do not. Credits are simulated token probabilities, seeded. The goal is 5
seconds.
"""

import argparse
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy
from tables import Timing, machine, show, timed_in_turn

import podium
from podium.diagnosis.figures import Statistic
from podium.diagnosis.transitivity import Transitivity, transitivity

SEED = 20250101
SMALL, LARGE = (8, 100), (20, 805)
"""Models and items; the large size is that of the paper's section 3.4."""
GOAL = 5.0
CLIP = 1e-6

Credits = Mapping[tuple[int, int], list[float]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both implementations on the same credits.

    Attributes:
        models, items: the size.
        timings: by name.
        difference: largest difference of PNT and of SNTD, overall and of a triple.
    """

    models: int
    items: int
    timings: Mapping[str, Timing]
    difference: float


def main() -> None:
    """Compare at one size and print times."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="8 models x 100 items only")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    print(
        machine(
            f"podium {podium.__version__}", f"numpy {np.__version__}", f"scipy {scipy.__version__}"
        )
    )
    report(compare(*(SMALL if arguments.small else LARGE)), arguments.markdown)


def compare(models: int, items: int) -> Comparison:
    """Time both implementations on the same data, in turn."""
    judge = podium.Judge(verdicts="soft", position_bias=0.5)
    battles = podium.simulate(models, items, seed=SEED).battles(judge)
    credits = by_pair(battles)
    found: dict[str, object] = {}
    timings = timed_in_turn(
        {
            "podium": lambda: found.update(ours=transitivity(battles)),
            "plain Python": lambda: found.update(theirs=by_loops(credits, models)),
        },
        repeats=5,
        budget=10,
    )
    return Comparison(
        models, items, timings, largest_difference(found["ours"], found["theirs"], battles.models)
    )


def by_pair(battles: podium.Battles) -> Credits:
    """Return the credits of the first model of each pair, item by item."""
    table = battles.table.sort_values(["model_a", "model_b", "item"])
    groups = table.groupby([table["model_a"].cat.codes, table["model_b"].cat.codes])["credit"]
    return {pair: values.tolist() for pair, values in groups}


def by_loops(credits: Credits, models: int) -> dict[tuple[int, int, int], tuple[float, float]]:
    """Return PNT and SNTD of every triple, one item after the other."""
    found = {}
    for a, b, c in combinations(range(models), 3):
        edges = list(zip(credits[a, b], credits[b, c], credits[a, c], strict=True))
        broken = sum(not ordered(*(sign(one) for one in item)) for item in edges)
        off = sum(deviation(*item) for item in edges)
        found[a, b, c] = (broken / len(edges), off / len(edges))
    return found


def sign(credit: float) -> int:
    """Return 1, 0 or -1 for a win, a tie (0.475 to 0.525) or a loss."""
    return 0 if abs(credit - 0.5) <= 0.025 else 1 if credit > 0.5 else -1


def ordered(ab: int, bc: int, ac: int) -> bool:
    """Return whether three outcomes form a weak order."""
    if ab == 0 or bc == 0:
        return ac == ab + bc
    return ab != bc or ac == ab


def deviation(ab: float, bc: float, ac: float) -> float:
    """Return the mean of three Jensen-Shannon divergences between observed and implied credits."""
    odds = [math.log(one / (1 - one)) for one in map(clipped, (ab, bc, ac))]
    implied = (odds[2] - odds[1], odds[2] - odds[0], odds[0] + odds[1])
    pairs = zip((ab, bc, ac), implied, strict=True)
    return (
        sum(
            divergence(clipped(observed), clipped(1 / (1 + math.exp(-implied))))
            for observed, implied in pairs
        )
        / 3
    )


def clipped(share: float) -> float:
    """Clip a share away from 0 and 1."""
    return min(max(share, CLIP), 1 - CLIP)


def divergence(p: float, q: float) -> float:
    """Return the Jensen-Shannon divergence of two yes/no distributions, natural logarithm."""
    return entropy((p + q) / 2) - (entropy(p) + entropy(q)) / 2


def entropy(p: float) -> float:
    """Return the entropy of a yes/no distribution, nats."""
    return -p * math.log(p) - (1 - p) * math.log(1 - p)


def largest_difference(ours: object, theirs: object, names: tuple[str, ...]) -> float:
    """Return the largest difference of the two results, overall and by triple."""
    if not (isinstance(ours, Transitivity) and isinstance(theirs, dict)):
        raise TypeError("one of the two gave no result")
    if not (isinstance(ours.hard, Statistic) and isinstance(ours.soft, Statistic)):
        raise TypeError("podium gave no PNT or SNTD")
    overall = np.mean(list(theirs.values()), axis=0)
    differences = [abs(ours.hard.value - overall[0]), abs(ours.soft.value - overall[1])]
    place = {name: k for k, name in enumerate(names)}
    for one in ours.triplets:
        a, b, c = sorted(place[name] for name in one.models)
        broken, off = theirs[a, b, c]
        differences += [abs(one.hard - broken), abs(one.soft - off)]
    return float(max(differences))


def report(one: Comparison, markdown: bool) -> None:
    """Print the seconds of both implementations."""
    triples = math.comb(one.models, 3)
    ours = one.timings["podium"].median
    show(
        f"PNT and SNTD of {triples:,} triples on {one.items:,} items ({one.models} models): "
        "seconds",
        ["way", "median", "fastest", "runs", "times podium"],
        [
            [
                name,
                f"{timing.median:.3g}",
                f"{timing.best:.3g}",
                str(len(timing.seconds)),
                f"{timing.median / ours:.1f}",
            ]
            for name, timing in one.timings.items()
        ],
        markdown=markdown,
    )
    verdict = "met" if ours <= GOAL else "missed"
    print(
        f"\nLargest difference of any figure: {one.difference:.1e}. Goal of {GOAL:g} s: {verdict}."
    )


if __name__ == "__main__":
    main()
