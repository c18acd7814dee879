"""Several tournaments replayed on one record: how far each is from the whole record, and what it
costs."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from podium.data.battles import Battles
from podium.documents import Document, View, register_view
from podium.errors import UsageError
from podium.hookspecs import Tournament
from podium.notices.notice import Notice
from podium.numbers import cell_text
from podium.planning.reference_ranking import ReferenceRanking
from podium.planning.replays import Recording, divide_options, play, recording_of, seed_settings
from podium.plugins import catalogue
from podium.plugins.catalogue import make_tournament
from podium.plugins.settings import options_of, ranker_names, ranker_options
from podium.rankers.ranking import build_provenance
from podium.score_scale import Scale
from podium.tables import EMPTY, Report, Table
from podium.tournaments.schedule import TournamentDesign, asks_order

COSTS = ("battles", "calls", "pairs", "rounds", "missing")
"""Fields of a tournament's price that the table shows."""
HEADER = ("tournament", "budget", *COSTS, "90% within", "answered", "error", "tau", "failed")
UNINFORMATIVE = {
    "budget": EMPTY,
    "missing": "0",
    "90% within": EMPTY,
    "answered": EMPTY,
    "failed": "0",
}
"""Cells by column; a column with no other cell is left out."""


@dataclass(frozen=True, slots=True)
class TournamentRow:
    """One tournament over all seeds: mean costs on at most `budget` battles, and mean distances
    from the whole record.

    `error` is the mean absolute difference of centred scores; `failed` seeds, without a ranking of
    all models, are left out. Of a tournament that can stop early, `most` is the 90% quantile of
    calls, `answered` the share that answered.
    """

    tournament: str
    budget: int | None
    battles: float
    calls: float
    pairs: float
    rounds: float
    missing: float
    error: float | None
    error_sd: float | None
    tau: float | None
    tau_sd: float | None
    seeds: int
    failed: int
    most: int | None = None
    answered: float | None = None


@dataclass(frozen=True, slots=True)
class TournamentTable(Document):
    """Tournaments compared with the whole record, whose counts are `whole`; `scale` is that of the
    errors."""

    ranker: str
    scale: Scale
    whole: Mapping[str, int]
    rows: tuple[TournamentRow, ...]
    provenance: Mapping[str, Any]
    warnings: tuple[Notice, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per tournament and budget."""
        return pd.DataFrame([asdict(row) for row in self.rows]).astype({"budget": "Int64"})


def compare_tournaments(
    battles: Battles | pd.DataFrame,
    tournaments: str | Sequence[str] = ("round_robin", "anchor", "swim", "chain"),
    ranker: str = "bradley-terry",
    *,
    seeds: int = 20,
    seed: int = 0,
    budgets: Sequence[int] = (),
    pool: bool = False,
    **options: Any,
) -> TournamentTable:
    """Replay tournaments with many seeds, and compare their rankings with that of all battles.

    Args:
        battles: the recorded battles.
        tournaments: names of tournaments, a sequence or with commas; one with variants is replayed
            in each of them.
        ranker: name of the ranker.
        seeds: number of seeds.
        seed: the first seed.
        budgets: largest numbers of battles; each tournament has as many items as fit. Without
            budgets, it has all items.
        pool: whether verdicts of several judges count together.
        options: settings of the tournaments and the ranker.

    Raises:
        UsageError: a name or option is unknown, a number is out of range, or a budget is too small.
    """
    names = tournament_names(tournaments)
    ranker, *more = ranker_names(ranker)
    if more:
        raise UsageError(
            f"--ranker: several tournaments are compared by one ranker; leave out {', '.join(more)}"
        )
    if seeds < 1:
        raise UsageError(f"--seeds {seeds}: give 1 or more")
    settings, others = divide_options(options, names, [ranker])
    if any("seed" in of_tournament for of_tournament in settings.values()):
        raise UsageError("--set seed: the seeds are counted from --seed; leave it out")
    record = recording_of(battles, pool=pool)
    options_of_ranker = ranker_options([ranker], others)[ranker]
    reference = ReferenceRanking(record.battles, ranker, options_of_ranker, seed=seed)
    designs: list[TournamentDesign] = []
    for name in names:
        for variant in _variants(name, settings[name], record):
            designs += _fit_to_budgets(variant, record, budgets)
    all_seeds = range(seed, seed + seeds)
    rows = tuple(_compare_design(design, record, reference, all_seeds) for design in designs)
    counts = record.battles.counts()
    whole = {"battles": counts.battles, "calls": counts.judgments, "items": counts.items}
    asked = {"tournaments": names, "ranker": ranker, "seeds": seeds, "seed": seed}
    origin = build_provenance(
        record.battles.sources, {**asked, "budgets": list(budgets), **options}
    )
    warnings = tuple(_replay_warnings(rows, record))
    return TournamentTable(ranker, reference.scale, whole, rows, origin, warnings)


def tournament_names(tournaments: str | Sequence[str]) -> list[str]:
    """Return the names of tournaments, given as a sequence or separated by commas, without
    duplicates."""
    typed = tournaments.split(",") if isinstance(tournaments, str) else tournaments
    names = dict.fromkeys(
        catalogue.extension(Tournament, name.strip()).name for name in typed if name.strip()
    )
    if not names:
        raise UsageError("no tournament named; `podium list tournaments` shows them")
    if "recorded" in names:
        raise UsageError(
            "recorded re-judges recorded battles, and a replay has their verdicts already: name "
            "another tournament, or type inspect eval podium/recorded -T battles=LOG"
        )
    return list(names)


def _compare_design(
    design: TournamentDesign, record: Recording, reference: ReferenceRanking, seeds: Sequence[int]
) -> TournamentRow:
    """Play a design with every seed and return its costs and its distance from the whole record."""
    if asks_order(catalogue.tournament_rule(design.name)):
        record = recording_of(record.battles, pool=True, by_order=True)
    prices, distances, answers = [], [], []
    for seed in seeds:
        played = play(
            make_tournament(design.name, seed_settings(design.name, design.settings, seed)), record
        )
        prices.append(played.price)
        answers += [] if played.battles.answer is None else [played.battles.answer["answered"]]
        distances.append(reference.distance(played.rows))
    known = np.array([distance for distance in distances if not np.isnan(distance[0])]).reshape(
        -1, 2
    )
    tau, error = known.mean(axis=0).tolist() if len(known) else (None, None)
    tau_sd, error_sd = known.std(axis=0, ddof=1).tolist() if len(known) > 1 else (None, None)
    means: dict[str, Any] = {
        name: float(np.mean([getattr(price, name) for price in prices])) for name in COSTS
    }
    means |= {"error": error, "error_sd": error_sd, "tau": tau, "tau_sd": tau_sd}
    return TournamentRow(
        design.label,
        design.budget,
        **means,
        seeds=len(seeds),
        failed=len(seeds) - len(known),
        most=int(np.quantile([price.calls for price in prices], 0.9, method="higher"))
        if answers
        else None,
        answered=float(np.mean(answers)) if answers else None,
    )


def _variants(
    name: str, settings: Mapping[str, Any], record: Recording
) -> Iterator[TournamentDesign]:
    """Yield a tournament once if the settings select a variant or it has none, else once per
    variant."""
    offer = getattr(catalogue.tournament_rule(name), "variants", None)
    variants: Mapping[str, Mapping[str, Any]] = offer(record.field) if offer else {}
    if not variants or any(
        option in settings for variant in variants.values() for option in variant
    ):
        chosen = [
            label for label, variant in variants.items() if variant.items() <= settings.items()
        ]
        yield TournamentDesign(" ".join([name, *chosen]), name, settings)
        return
    for label, variant in variants.items():
        yield TournamentDesign(f"{name} {label}", name, {**settings, **variant})


def _fit_to_budgets(
    variant: TournamentDesign, record: Recording, budgets: Sequence[int]
) -> Iterator[TournamentDesign]:
    """Yield a tournament with the most items that each budget allows; unchanged if there is no
    budget."""
    if not budgets:
        yield variant
    elif "items" not in options_of(catalogue.tournament_rule(variant.name)):
        raise UsageError(
            f"--budget: {variant.name} has no option items, so its cost cannot be limited"
        )

    def size(items: int) -> int:
        return make_tournament(variant.name, {**variant.settings, "items": items}).size(
            record.field
        )

    most = len(record.field.items)
    for budget in budgets:
        counts = range(1, min(int(variant.settings.get("items") or most), most) + 1)
        items = bisect_right(counts, budget, key=size)
        if not items:
            raise UsageError(
                f"--budget {budget} is too small for {variant.label}: one item takes {size(1)} "
                "battles"
            )
        yield replace(variant, settings={**variant.settings, "items": items}, budget=budget)


def _replay_warnings(rows: Sequence[TournamentRow], record: Recording) -> Iterator[Notice]:
    """Yield a warning for seeds without a ranking, for missing battles, and for an incomplete
    record."""
    failed = [f"{row.tournament} ({row.failed} of {row.seeds} seeds)" for row in rows if row.failed]
    if failed:
        yield Notice("replay-not-scored", {"tournaments": failed})
    if short := list(dict.fromkeys(row.tournament for row in rows if row.missing)):
        yield Notice("replay-off-record", {"tournaments": short})
    models = len(record.field.models)
    recorded = len({pairing._replace(first=None) for pairing in record.codes})
    share = recorded / (models * (models - 1) // 2 * len(record.field.items))
    if share < 1:
        yield Notice("replay-part-of-round-robin", {"share": share})


def tournament_table_reports(table: TournamentTable) -> tuple[Report, ...]:
    """Return a report with one row per tournament and budget."""
    whole, seeds = table.whole, max(row.seeds for row in table.rows)
    means = f"means ± standard deviation over {seeds} seeds" if seeds > 1 else "one seed"
    legend = (
        f"error: mean absolute difference of the scores ({table.scale.title}), both centred; tau: "
        f"Kendall's; {means}; calls: judge calls, both orders"
    )
    if any(row.tournament.partition(" ")[0] == "ring" for row in table.rows):
        legend += " (ring: one order)"
    if any(row.answered is not None for row in table.rows):
        legend += (
            "; answered: seeds in which the question was answered; 90% within: calls of nine of "
            "ten seeds"
        )
    rows = [_cells(row) for row in table.rows]
    kept = [
        k for k, name in enumerate(HEADER) if any(row[k] != UNINFORMATIVE.get(name) for row in rows)
    ]
    header, *rows = (tuple(row[k] for k in kept) for row in (HEADER, *rows))
    title = (
        f"tournaments against all {whole['battles']:,} battles of {whole['items']:,} items, by "
        f"{table.ranker}"
    )
    return (
        Report(
            title,
            tuple(_answer(table, table.scale.title)),
            table=Table("", header, tuple(rows), legend=(legend,)),
        ),
    )


def _answer(table: TournamentTable, unit: str) -> Iterator[str]:
    """Yield which tournament answers the question most often, and which is nearest to the whole
    record, with costs."""
    if asked := [
        (-row.answered, row.calls, row.tournament) for row in table.rows if row.answered is not None
    ]:
        share, calls, name = min(asked)
        sentence = (
            f"{name} answers the question in {-share:.0%} of seeds, for {calls:,.0f} judge calls "
            "on average."
        )
        none = (
            "No tournament answers the question on these items: more items, or a margin, would "
            "help."
        )
        yield sentence if share else none
    ranked = [(row, row.error) for row in table.rows if row.error is not None]
    # A tournament that plays the whole record is at its ranking by definition.
    known = [
        (row, error) for row, error in ranked if row.battles < table.whole["battles"]
    ] or ranked
    if not known:
        yield "No tournament gave a ranking of all models."
        return
    nearest, least = min(known, key=lambda pair: (pair[1], pair[0].calls))
    alike = [pair for pair in known if pair[1] <= least + (nearest.error_sd or 0.0)]
    cheapest, error = min(alike, key=lambda pair: (pair[0].calls, pair[1]))
    digits = 1 if least >= 1 else 3
    yield (
        f"{nearest.tournament} is nearest to the ranking of the whole record: {least:.{digits}f} "
        f"{unit} off on average, for {nearest.calls:,.0f} judge calls."
    )
    if cheapest is not nearest:
        yield (
            f"{cheapest.tournament} has a similar error ({error:.{digits}f}, within a standard "
            f"deviation over seeds) for {cheapest.calls:,.0f} calls."
        )


def _cells(row: TournamentRow) -> tuple[str, ...]:
    """Format a row in the order of `HEADER`."""
    return (
        row.tournament,
        cell_text(row.budget, ","),
        *(f"{getattr(row, name):,.0f}" for name in COSTS),
        cell_text(row.most, ","),
        cell_text(row.answered, ".0%"),
        _with_deviation(row.error, row.error_sd, 1),
        _with_deviation(row.tau, row.tau_sd, 2),
        str(row.failed),
    )


def _with_deviation(mean: float | None, sd: float | None, digits: int) -> str:
    """Format a mean and its standard deviation, as `3.4 ± 1.6`."""
    return cell_text(mean, f".{digits}f") + ("" if sd is None else f" ± {sd:.{digits}f}")


register_view(TournamentTable, View(tournament_table_reports))
