"""How well anchors work, on a record of verdicts: Figures 1, 3, 4 and 7 of Don-Yehiya et al. 2026.

    python benchmarks/anchor_study.py battles.csv
    python benchmarks/anchor_study.py gpt4.parquet --items 50,200 --seeds 20
    python benchmarks/anchor_study.py gpt4.parquet --gold arena.csv      # columns model and score

The record holds every pair on (almost) every item. Each model in turn is the anchor, on items that
each seed draws anew: the battles with the anchor are ranked, and the ranking is compared with that
of the whole record, or with a gold ranking, by Kendall's tau-b. Means over seeds are shown with
their Monte-Carlo standard error.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, pearsonr
from tables import show

from podium import Battles, PodiumError, rank, read_battles

SIZES = (25, 50, 100, 200, 400, 800)
RANKERS = ("bradley-terry", "win-rate")


@dataclass
class Record:
    """A record of verdicts, and the rankings of its parts that were already computed.

    Attributes:
        reference: score of each model by ranker, NaN where unknown, shape (models,).
        known: tau by ranker of each set of battles already ranked.
    """

    battles: Battles
    reference: dict[str, np.ndarray]
    known: dict[bytes, dict[str, float]]

    @property
    def items(self) -> list[str]:
        """Names of the items, sorted."""
        return sorted(self.battles.table["item"].dropna().unique())

    def tau(self, anchors: Sequence[str], items: Sequence[str]) -> dict[str, float]:
        """Return Kendall's tau of anchors' battles on items with the reference, by ranker; NaN
        without a ranking."""
        rows = self.rows_against(anchors) & self.battles.table["item"].isin(items).to_numpy()
        key = np.packbits(rows).tobytes()
        if key not in self.known:
            found = scores_by_ranker(self.battles.select(rows))
            self.known[key] = {
                name: tau_of(found[name], self.reference[name], self.battles.models)
                for name in RANKERS
            }
        return self.known[key]

    def calls(self, anchors: Sequence[str]) -> int:
        """Return the judge calls of the battles with an anchor, both orders counted."""
        return self.battles.select(self.rows_against(anchors)).counts().judgments

    def rows_against(self, anchors: Sequence[str]) -> np.ndarray:
        """Return the mask of the battles with an anchor, shape (battles,)."""
        table = self.battles.table
        mask: np.ndarray = (
            table["model_a"].isin(anchors) | table["model_b"].isin(anchors)
        ).to_numpy()
        return mask


def scores_by_ranker(battles: Battles) -> dict[str, dict[str, float]]:
    """Return the score of each model by each ranker; a ranker that cannot rank these battles gives
    none."""
    found: dict[str, dict[str, float]] = {}
    for ranker in RANKERS:
        try:
            entries = rank(battles, ranker, answers=False).standings[0].entries
        except PodiumError:
            entries = ()
        found[ranker] = {entry.model: entry.score for entry in entries if entry.score is not None}
    return found


def tau_of(scores: dict[str, float], reference: np.ndarray, models: Sequence[str]) -> float:
    """Return Kendall's tau-b over the models that the reference scores; NaN where one of them has
    no score."""
    compared = ~np.isnan(reference)
    own = np.array([scores.get(name, np.nan) for name in models])[compared]
    # Rounding must not order equal scores.
    return (
        np.nan
        if np.isnan(own).any()
        else float(kendalltau(own.round(9), reference[compared].round(9))[0])
    )


def draw(names: Sequence[str], number: int, seed: int, purpose: str) -> list[str]:
    """Draw names as podium's tournaments do: the draws of one seed are nested."""
    word = int.from_bytes(sha256(purpose.encode()).digest()[:8], "big")
    ordered = sorted(names)
    return [
        ordered[k] for k in np.random.default_rng([seed, word]).permutation(len(ordered))[:number]
    ]


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean over seeds and its Monte-Carlo standard error, NaN for a single seed; NaN
    values are left out."""
    known = np.array([value for value in values if not np.isnan(value)])
    if not len(known):
        return np.nan, np.nan
    return float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known))) if len(
        known
    ) > 1 else np.nan


def cell(values: Sequence[float]) -> str:
    """Format a mean with its Monte-Carlo standard error; says how many seeds gave a ranking, where
    not all did."""
    (mean, error), failed = mean_and_error(values), int(np.isnan(values).sum())
    if np.isnan(mean):
        return "-"
    counted = f" ({len(values) - failed} of {len(values)})" if failed else ""
    return f"{mean:.3f}{'' if np.isnan(error) else f' ± {error:.3f}'}{counted}"


@dataclass(frozen=True)
class Study:
    """What was measured.

    Attributes:
        by_anchor: tau of each anchor and ranker by number of items, a value per seed.
        by_number: tau of anchors drawn at random and ranker by their number, a value per seed.
        calls: mean judge calls by number of anchors.
        informative: share of pairs of others that an anchor's verdicts distinguish, with its
            interval.
    """

    models: list[str]
    by_anchor: dict[tuple[str, str, int], list[float]]
    by_number: dict[tuple[int, str], list[float]]
    calls: dict[int, float]
    informative: dict[str, tuple[float, float | None, float | None]]


def run_study(record: Record, sizes: Sequence[int], seeds: Sequence[int]) -> Study:
    """Rank every anchor on every number of items, and growing numbers of anchors on all items, with
    every seed."""
    by_anchor, by_number, calls, items = {}, {}, {}, record.items
    models = by_place(record)
    for size in [*sizes, len(items)]:
        for anchor in models:
            drawn = seeds if size < len(items) else seeds[:1]
            taus = [record.tau([anchor], draw(items, size, seed, "items")) for seed in drawn]
            by_anchor |= {(anchor, name, size): [tau[name] for tau in taus] for name in RANKERS}
    for number in range(1, len(models)):
        chosen = [draw(models, number, seed, "anchors") for seed in seeds]
        taus = [record.tau(anchors, items) for anchors in chosen]
        by_number |= {(number, name): [tau[name] for tau in taus] for name in RANKERS}
        calls[number] = float(np.mean([record.calls(anchors) for anchors in chosen]))
    entries = rank(record.battles, "informativeness", answers=False).standings[0].entries
    shares = {
        entry.model: (entry.score, entry.low, entry.high)
        for entry in entries
        if entry.score is not None
    }
    return Study(models, by_anchor, by_number, calls, shares)


def by_place(record: Record) -> list[str]:
    """Return the models, the best of the reference first; those that it does not know come last."""
    reference = record.reference[RANKERS[0]]
    strength = dict(
        zip(record.battles.models, np.nan_to_num(reference, nan=-np.inf).round(9), strict=True)
    )
    return sorted(strength, key=lambda name: (-strength[name], name))


def figure_1(study: Study, size: int, markdown: bool) -> None:
    """Print tau of every anchor against its place, with its informativeness."""
    rows = []
    for place, anchor in enumerate(study.models, start=1):
        share, low, high = study.informative.get(anchor, (None, None, None))
        ends = "-" if low is None else f"{low:.1%} … {high:.1%}"
        taus = [cell(study.by_anchor[anchor, name, size]) for name in RANKERS]
        rows.append([anchor, str(place), "-" if share is None else f"{share:.1%}", ends, *taus])
    header = [
        "anchor",
        "place",
        "informative",
        "95% interval",
        *(f"tau, {name}" for name in RANKERS),
    ]
    title = f"Figure 1: tau by the anchor's place, {size:,} items"
    show(title, header, rows, markdown=markdown)


def correlations(study: Study, size: int) -> Iterator[tuple[str, float, float, float]]:
    """Yield by ranker Pearson's correlation of tau with informativeness over anchors, and its 95%
    interval."""
    for ranker in RANKERS:
        points = [
            (study.informative[anchor][0], mean_and_error(study.by_anchor[anchor, ranker, size])[0])
            for anchor in study.models
            if anchor in study.informative
        ]
        points = [(share, tau) for share, tau in points if not np.isnan(tau)]
        if len(points) >= 4 and all(len(set(values)) > 1 for values in zip(*points, strict=True)):
            found = pearsonr(*zip(*points, strict=True))
            yield ranker, float(found.statistic), *map(float, found.confidence_interval(0.95))


def figure_3(study: Study, size: int, markdown: bool) -> None:
    """Print the correlation of tau with informativeness over anchors."""
    title = f"Figure 3: tau and informativeness over anchors, {size:,} items"
    rows = [
        [name, f"{r:.2f}", f"{low:.2f} … {high:.2f}"]
        for name, r, low, high in correlations(study, size)
    ]
    show(title, ["ranker", "Pearson's r", "95% interval"], rows, markdown=markdown)


def mean_of_anchors(study: Study, ranker: str, size: int) -> list[float]:
    """Return tau averaged over all anchors, seed by seed."""
    return np.mean(
        [study.by_anchor[anchor, ranker, size] for anchor in study.models], axis=0
    ).tolist()


def figure_4(study: Study, sizes: Sequence[int], markdown: bool) -> None:
    """Print tau by number of items: of the mean over anchors, and of each anchor."""
    title = "Figure 4: tau by number of items"
    rows = []
    for ranker in RANKERS:
        rows.append(
            ["mean of all", ranker, *(cell(mean_of_anchors(study, ranker, size)) for size in sizes)]
        )
        for anchor in study.models:
            rows.append(
                [anchor, ranker, *(cell(study.by_anchor[anchor, ranker, size]) for size in sizes)]
            )
    show(title, ["anchor", "ranker", *(f"{size:,}" for size in sizes)], rows, markdown=markdown)


def figure_7(study: Study, items: int, markdown: bool) -> None:
    """Print tau and judge calls by number of anchors drawn at random."""
    title = f"Figure 7: anchors drawn at random, {items:,} items"
    rows = [
        [str(number), f"{calls:,.0f}", *(cell(study.by_number[number, name]) for name in RANKERS)]
        for number, calls in study.calls.items()
    ]
    show(
        title, ["anchors", "calls", *(f"tau, {name}" for name in RANKERS)], rows, markdown=markdown
    )


def read_record(path: str, gold: str | None) -> Record:
    """Read a record of verdicts, and the scores to compare with: the whole record's, or those of a
    gold table."""
    battles = read_battles(path)
    if not battles.has_items:
        raise SystemExit(f"{path} has no column item: anchors are tried on items drawn at random")
    scores = scores_by_ranker(battles)
    if gold is not None:
        table = pd.read_csv(gold)
        given = dict(zip(table["model"], table["score"].astype(float), strict=True))
        scores = dict.fromkeys(RANKERS, given)
    reference = {
        name: np.array([scores[name].get(model, np.nan) for model in battles.models])
        for name in RANKERS
    }
    if any(
        (~np.isnan(own)).sum() < 3 or np.nanmax(own) == np.nanmin(own) for own in reference.values()
    ):
        raise SystemExit(
            "the reference must score at least 3 of the record's models, and not all alike"
        )
    return Record(battles, reference, {})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", help="battles of every pair of models on every item")
    parser.add_argument(
        "--items", help="numbers of items, as 50,200; by default 25, 50, 100, 200, 400, 800"
    )
    parser.add_argument("--seeds", type=int, default=20, help="how many seeds, counted from 0")
    parser.add_argument("--gold", help="CSV table with columns model and score to compare with")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    record = read_record(arguments.record, arguments.gold)
    most = len(record.items)
    asked = [int(number) for number in arguments.items.split(",")] if arguments.items else SIZES
    sizes = sorted({size for size in asked if size < most})
    study = run_study(record, sizes, range(arguments.seeds))
    middle = sizes[len(sizes) // 2] if sizes else most
    figure_1(study, middle, arguments.markdown)
    figure_3(study, middle, arguments.markdown)
    figure_4(study, [*sizes, most], arguments.markdown)
    figure_7(study, most, arguments.markdown)
