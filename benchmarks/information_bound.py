"""The fewest calls that could answer a question, beside the calls that the ring takes.

    python benchmarks/information_bound.py                    # worlds of economy.py
    python benchmarks/information_bound.py --models 8 --items 400 --worlds 20
    python benchmarks/information_bound.py --record FILE --worlds 40

The bound is kl(0.05, 0.95) times the minimum over allocations of the largest 2 v / gap^2 of the
pairs that the question is about (Garivier and Kaufmann 2016). An allocation is the share of calls
of each pair; v is the variance of the estimated gap of a pair, times the number of calls, with all
battles weighted by their precision; the gap is that of the truth plus the margin, so that it is the
distance to the nearest strengths for which the decision is wrong. *One look* is a test at one time
that is known to be the right one: the square of the normal quantile at 5% over the number of
pairs, times the smallest v / gap^2. At this number of calls, the last pair is decided in half of
the worlds. Battles count as independent in both, as if each were on an item of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from economy import ImaginedRun, parser_of_worlds, worlds
from scipy.optimize import minimize
from scipy.special import expit, logsumexp
from scipy.stats import norm
from tables import machine, show

from podium.rankers.fit.scale import POINTS
from podium.tournaments.ring import Ring

ERROR = 0.05
KL = (1 - 2 * ERROR) * np.log((1 - ERROR) / ERROR)
"""Relative entropy of Bernoulli distributions of 5% and of 95%, in nats."""
POWERS = (8.0, 64.0, 512.0, 4096.0)
"""The largest of some numbers is minimised by the norms of these orders in turn."""
TOLERANCE = 0.05
"""Largest share by which an allocation may be worse than the best; most are within 1%."""
QUESTIONS: Mapping[str, Mapping[str, Any]] = {
    "order within 30": {"until": "order", "margin": 30.0},
    "top3 within 20": {"until": "top3", "margin": 20.0},
    "top1": {"until": "top1", "margin": 0.0},
}


@dataclass(frozen=True, slots=True)
class Allocation:
    """The best allocation of calls to pairs.

    Attributes:
        largest: the largest v / gap^2 of a pair in question, times the number of calls.
        least: a lower bound of what any allocation can reach, from duality.
        share: share of the calls of each pair, symmetric, shape (models, models); sums to 2.
    """

    largest: float
    least: float
    share: np.ndarray


def best_allocation(variance: np.ndarray, gap: np.ndarray, asked: np.ndarray) -> Allocation:
    """Minimise the largest v / gap^2 over the allocations of calls to pairs.

    Args:
        variance: variance of a gap that is estimated by one battle of its pair, logits squared,
            symmetric, shape (models, models).
        gap: distance to a wrong decision, logits, above 0 for pairs in question, symmetric.
        asked: mask of the pairs that the question is about, symmetric.
    """
    size = len(gap)
    first, second = np.triu_indices(size, 1)
    edges = (np.eye(size)[first] - np.eye(size)[second]).T
    precision = 1 / variance[first, second]
    is_asked = asked[first, second]
    contrasts = edges[:, is_asked] / gap[first, second][is_asked]

    def values_of(share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return v / gap^2 of each pair in question, and minus its derivatives by the shares."""
        information = (edges * (share * precision)) @ edges.T
        solved = np.linalg.solve(information + np.ones((size, size)), contrasts)
        return (contrasts * solved).sum(axis=0), (edges.T @ solved) ** 2 * precision[:, None]

    def norm_of(logits: np.ndarray, power: float) -> tuple[float, np.ndarray]:
        """Return the logarithm of the norm of the values, and its derivatives by the logits."""
        share = np.exp(logits - logsumexp(logits))
        value, slope = values_of(share)
        weight = np.exp(power * np.log(value) - logsumexp(power * np.log(value)))
        by_share = -slope @ (weight / value)
        return float(logsumexp(power * np.log(value)) / power), share * (
            by_share - by_share @ share
        )

    logits = np.zeros(len(first))
    for power in POWERS:
        options = {"maxiter": 600, "ftol": 1e-10, "gtol": 1e-8}
        logits = minimize(norm_of, logits, (power,), "L-BFGS-B", jac=True, options=options).x
    share = np.exp(logits - logsumexp(logits))
    value, slope = values_of(share)
    # The weighted mean of the values, with any weights, is at most their maximum. It is convex and
    # inversely proportional to the shares, so that no allocation is below the square of it over
    # its largest derivative.
    bounds = []
    for power in POWERS:
        # Derivatives of the norm belong to weights that are divided by the values.
        weight = np.exp((power - 1) * (np.log(value) - np.log(value.max())))
        weight /= weight.sum()
        bounds.append((weight @ value) ** 2 / (slope @ weight).max())
    least = float(max(bounds))
    shares = np.zeros((size, size))
    shares[first, second] = shares[second, first] = share
    return Allocation(float(value.max()), least, shares)


def battle_variance(run: ImaginedRun) -> np.ndarray:
    """Return the variance of a gap that one battle of the pair estimates, logits squared.

    It is the variance of a credit over the square of its derivative p (1 - p), with each order in
    half of the battles.
    """
    credit = np.stack([run.earned, 1 - run.earned.transpose(0, 2, 1)]).reshape(
        -1, *run.earned.shape[1:]
    )
    size = len(run.truth)
    first, second = np.triu_indices(size, 1)
    variance = np.zeros((size, size))
    variance[first, second] = np.nanvar(credit[:, first, second], axis=0)
    expected = expit(run.truth[:, None] - run.truth)
    return (variance + variance.T + np.eye(size)) / (expected * (1 - expected)) ** 2


def asked_pairs(truth: np.ndarray, until: str) -> np.ndarray:
    """Return a mask of the pairs that the question is about, for the true order."""
    if until == "order":
        return ~np.eye(len(truth), dtype=bool)
    is_best = np.isin(np.arange(len(truth)), np.argsort(-truth)[: int(until.removeprefix("top"))])
    return is_best[:, None] != is_best


def bounds_of(run: ImaginedRun, until: str, margin: float) -> tuple[float, float]:
    """Return the bound and the calls of one look of a question."""
    gap = np.abs(run.truth[:, None] - run.truth) + margin / POINTS
    asked = asked_pairs(run.truth, until)
    best = best_allocation(battle_variance(run), gap, asked)
    if best.least < (1 - TOLERANCE) * best.largest:
        raise RuntimeError(f"the best allocation is not found: {best.least} to {best.largest}")
    critical = norm.isf(ERROR / (asked.sum() / 2))
    return 2 * KL * best.largest, critical**2 * best.largest


def row_of(question: str, runs: Sequence[ImaginedRun]) -> list[str]:
    """Return a row of the table: mean bound, mean calls of one look, and of the ring."""
    options = QUESTIONS[question]
    bounds = np.array([bounds_of(run, **options) for run in runs]).mean(axis=0)
    calls, answered = [], []
    for seed, run in enumerate(runs):
        rule = Ring(seed=seed, **options)
        last = rule.progress_of(run.field, run.play(rule)).looks[-1]
        calls.append(last.battles)
        answered.append(not last.open.any())
    share = f"{np.mean(answered):.0%}"
    ratio = f"{np.mean(calls) / bounds[0]:.1f}"
    return [question, *(f"{mean:,.0f}" for mean in (*bounds, np.mean(calls))), ratio, share]


def main() -> None:
    """Print a row for each question."""
    parser = parser_of_worlds(__doc__)
    parser.add_argument("--questions", help="only these, with semicolons")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    runs = list(worlds(options))
    questions = [name.strip() for name in options.questions.split(";")] if options.questions else []
    kind = "a record" if options.record else options.strengths
    size = f"{len(runs[0].truth)} models and {len(runs[0].earned)} items"
    header = ("question", "bound", "one look", "ring", "ring / bound", "answered")
    rows = [row_of(name, runs) for name in questions or QUESTIONS]
    show(
        f"calls in {len(runs)} worlds ({kind}) of {size}; {machine()}",
        header,
        rows,
        markdown=options.markdown,
    )


if __name__ == "__main__":
    main()
