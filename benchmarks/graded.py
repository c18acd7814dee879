"""What graded credits are worth beside parsed verdicts: items for the same power, and the order of
six models.

python benchmarks/graded.py                      # 400,000 items a case, 200 worlds: four minutes

A simulated judge sees the gap of two responses in logits, with noise of the item (in both orders)
and of the call, and prefers the response shown first with the odds e^(gap + bias). Its graded
credit is that probability, its parsed verdict the likelier letter, as at temperature 0. Both orders
are averaged.
"""

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import kendalltau, t
from tables import show

from podium import rank, read_battles

GAP = 0.35
"""Logits between two models: 61 Elo."""
NOISE = (0.5, 1.0, 2.0)
"""Standard deviations of the noise of an item, in logits; that of a call is half of it."""
BIAS = np.log([1, 9])
"""Logits in favour of the response shown first: even odds, and 9 to 1."""
MODELS = 6


def preferences(gap: np.ndarray, noise: float, bias: float, rng: np.random.Generator) -> np.ndarray:
    """Return the probability that the first of two models is preferred, shown first and second;
    shape (2, *shape)."""
    seen = gap + noise * rng.standard_normal(gap.shape)
    calls = seen + noise / 2 * rng.standard_normal((2, *gap.shape))
    return expit(calls + np.array([bias, -bias]).reshape(2, *[1] * gap.ndim))


def signal(credit: np.ndarray) -> float:
    """Return the squared mean of credit - 1/2 over its variance: items needed are inverse to it."""
    return float((credit.mean() - 0.5) ** 2 / credit.var())


def shares_of_items(draws: int) -> Iterator[tuple[str, ...]]:
    """Yield, by noise and bias, the signals of both credits, and the items that graded ones need
    for the same power."""
    for bias in BIAS:
        for noise in NOISE:
            rng, shares = np.random.default_rng(1), []
            for _ in range(10):
                chance = preferences(np.full(draws // 10, GAP), noise, bias, rng)
                graded, hard = signal(chance.mean(axis=0)), signal((chance > 0.5).mean(axis=0))
                shares.append((graded, hard, hard / graded))
            graded, hard, share = np.mean(shares, axis=0)
            reach = t.ppf(0.975, 9) * np.std(shares, axis=0, ddof=1)[2] / np.sqrt(10)
            cells = (f"{np.exp(bias):.0f} : 1", f"{noise:g}", f"{graded:.4f}", f"{hard:.4f}")
            yield (*cells, f"{share:.1%} ± {reach:.1%}")


def judged_world(
    items: int, noise: float, bias: float, rng: np.random.Generator
) -> tuple[np.ndarray, pd.DataFrame]:
    """Return true strengths of six models, and a judge's verdicts on all pairs in both orders."""
    truth = rng.normal(0, 0.5, MODELS)
    first, second = np.triu_indices(MODELS, 1)
    chance = preferences(np.tile(truth[first] - truth[second], (items, 1)), noise, bias, rng)
    tables = []
    for order, own in zip(("ab", "ba"), chance, strict=True):
        a, b = (np.tile(codes, items).astype(str) for codes in (first, second))
        columns = {
            "item": np.repeat(np.arange(items), len(first)).astype(str),
            "model_a": a,
            "model_b": b,
        }
        tables.append(pd.DataFrame({**columns, "order": order, "credit": own.ravel()}))
    table = pd.concat(tables)
    return truth, table.assign(hard_credit=(table["credit"] > 0.5) * 1.0)


def tau_with_truth(truth: np.ndarray, table: pd.DataFrame, labels: str) -> float:
    """Return Kendall's tau of the truth and the ratings by graded (`soft`) or hard credits; 0
    without an order."""
    standings = rank(read_battles(table), "bradley-terry", labels=labels, answers=False).standings[
        0
    ]
    score = {entry.model: entry.score for entry in standings.entries}
    return float(np.nan_to_num(kendalltau(truth, [score[str(k)] for k in range(MODELS)]).statistic))


def taus(worlds: int, items: int) -> Iterator[tuple[str, ...]]:
    """Yield, by noise and bias, the mean taus of both credits and their difference with its 95%
    interval."""
    for bias in BIAS:
        for noise in NOISE:
            found = []
            for seed in range(worlds):
                truth, table = judged_world(items, noise, bias, np.random.default_rng([seed, 7]))
                found.append([tau_with_truth(truth, table, labels) for labels in ("soft", "hard")])
            graded, hard = np.mean(found, axis=0)
            gain = np.subtract(*np.transpose(found))
            reach = t.ppf(0.975, worlds - 1) * gain.std(ddof=1) / np.sqrt(worlds)
            interval = f"{gain.mean():.3f} ({gain.mean() - reach:.3f} … {gain.mean() + reach:.3f})"
            yield f"{np.exp(bias):.0f} : 1", f"{noise:g}", f"{graded:.3f}", f"{hard:.3f}", interval


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--draws", type=int, default=400_000, help="items of each case of the first table"
    )
    parser.add_argument(
        "--worlds", type=int, default=200, help="worlds of each case of the second table"
    )
    parser.add_argument("--items", type=int, default=20, help="items of each world")
    parser.add_argument("--markdown", action="store_true")
    asked = parser.parse_args()
    header = (
        "first : second",
        "noise",
        "signal, graded",
        "signal, hard",
        "items of graded for the power of hard",
    )
    show(f"gap of {GAP:g} logits", header, [*shares_of_items(asked.draws)], markdown=asked.markdown)
    header = ("first : second", "noise", "tau, graded", "tau, hard", "difference")
    title = (
        f"Kendall's tau of six models with the truth, {asked.items} items, {asked.worlds} worlds"
    )
    show(title, header, [*taus(asked.worlds, asked.items)], markdown=asked.markdown)


if __name__ == "__main__":
    main()
