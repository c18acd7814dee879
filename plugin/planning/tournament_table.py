"""Several tournaments replayed on one record: their costs and their distance from the record."""

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
from podium.planning.replays import (
    Price,
    Recording,
    divide_options,
    play,
    recording_of,
    seed_settings,
)
from podium.plugins import catalogue
from podium.plugins.catalogue import make_tournament
from podium.plugins.settings import options_of, ranker_names, ranker_options
from podium.rankers.ranking import build_provenance
from podium.score_scale import Scale
from podium.tables import EMPTY, Report, Table
from podium.tournaments.schedule import TournamentDesign, fixes_first_shown
from podium.wording import quantity

COSTS = ("battles", "calls", "pairs", "rounds", "missing")
"""Names of the attributes of `TournamentRow` that the table shows as costs, in this order."""
HEADER = ("tournament", "budget", *COSTS, "90% within", "answered", "error", "tau", "failed")
"""Headers of the table, in the order of the cells of `_cells_of_row`."""
UNINFORMATIVE_CELLS = {
    "budget": EMPTY,
    "missing": "0",
    "90% within": EMPTY,
    "answered": EMPTY,
    "failed": "0",
}
"""By column, the text of a cell that says nothing. A column in which all cells have this text is
left out."""


@dataclass(frozen=True, slots=True)
class TournamentRow:
    """A tournament replayed with several seeds: mean costs, and mean distance from the record.

    The distance is that between the ranking of the battles that were played and the ranking of
    the whole record.

    Attributes:
        tournament: label of the tournament, with its variant.
        name: name of the tournament.
        budget: largest number of battles that it may play; None for no limit.
        battles: mean number of battles.
        calls: mean number of judge calls.
        pairs: mean number of pairs of models that met.
        rounds: mean number of rounds.
        missing: mean number of battles that are not on record.
        error: mean absolute difference between centred scores and those of the whole record; None
            if no seed has a ranking of all models.
        error_sd: standard deviation of the error over seeds; None with fewer than two seeds.
        tau: mean of Kendall's tau-b with the ranking of the whole record; None if no seed has a
            ranking of all models.
        tau_sd: standard deviation of tau over seeds; None with fewer than two seeds.
        seeds: number of seeds.
        failed: number of seeds without a ranking of all models, or with one score for all models,
            which error and tau leave out.
        calls_90th_percentile: number of calls that 90% of the seeds do not exceed; None unless the
            tournament can stop early.
        answered: share of seeds in which the tournament answered its question; None unless the
            tournament can stop early.
    """

    tournament: str
    name: str
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
    calls_90th_percentile: int | None = None
    answered: float | None = None


@dataclass(frozen=True, slots=True)
class TournamentTable(Document):
    """Tournaments compared with the ranking of a whole record.

    Attributes:
        ranker: name of the ranker.
        scale: scale of the scores, and of the errors.
        whole: numbers of `battles`, `calls` and `items` of the record.
        rows: a row per tournament and budget.
        provenance: sources, options and versions.
        warnings: what may be wrong with the comparison.
    """

    ranker: str
    scale: Scale
    whole: Mapping[str, int]
    rows: tuple[TournamentRow, ...]
    provenance: Mapping[str, Any]
    warnings: tuple[Notice, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes by name as plain Python values.

        Records become dictionaries; unknown values are None.
        """
        return asdict(self)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per tournament and budget, with a column per attribute.

        The columns are the attributes of `TournamentRow`.
        """
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
    """Replay tournaments with many seeds, and compare each ranking with that of all battles.

    Args:
        battles: the recorded battles.
        tournaments: names of tournaments, a sequence or separated by commas; a tournament with
            variants is replayed in each of them.
        ranker: name of the ranker.
        seeds: number of seeds, 1 or more.
        seed: the first seed.
        budgets: largest numbers of battles; each tournament then plays the most items that fit.
            Without budgets, it plays all items.
        pool: whether verdicts of several judges count together.
        **options: options of the tournaments and of the ranker, without `seed`. An option that
            both have goes to both, unless its value has commas or is the default of the tournament:
            it then goes to the tournament alone.

    Returns:
        A row per tournament, variant and budget.

    Raises:
        UsageError: a name or option is unknown, several rankers are named, a number is out of
            range, or a budget is too small.
        NotIdentifiedError: the battles have several judges and `pool` is false, or no items, or
            the whole record gives no order of the models.
    """
    names = tournament_names(tournaments)
    ranker, *more = ranker_names(ranker)
    if more:
        raise UsageError(
            f"--ranker: several tournaments are compared by one ranker; leave out {', '.join(more)}"
        )
    if seeds < 1:
        raise UsageError(f"--seeds {seeds}: give 1 or more")
    settings, remaining_options = divide_options(options, names, [ranker])
    if "seed" in set().union(*settings.values()):
        raise UsageError("--set seed: the seeds are counted from --seed; leave it out")
    record = recording_of(battles, pool=pool)
    options_of_ranker = ranker_options([ranker], remaining_options)[ranker]
    # The ranking of the whole record, with which those of the replays are compared.
    reference = ReferenceRanking(record.battles, ranker, options_of_ranker, seed=seed)
    designs: list[TournamentDesign] = []
    for name in names:
        for variant in _variants(name, settings[name], record):
            designs += _fit_to_budgets(variant, record, budgets)
    all_seeds = range(seed, seed + seeds)
    rows = tuple(_compare_design(design, record, reference, all_seeds) for design in designs)
    counts = record.battles.counts()
    whole = {"battles": counts.battles, "calls": counts.judgments, "items": counts.items}
    call_options = {"tournaments": names, "ranker": ranker, "seeds": seeds, "seed": seed}
    provenance = build_provenance(
        record.battles.sources, {**call_options, "budgets": list(budgets), **options}
    )
    warnings = tuple(_replay_warnings(rows, record))
    return TournamentTable(ranker, reference.scale, whole, rows, provenance, warnings)


def tournament_names(tournaments: str | Sequence[str]) -> list[str]:
    """Return the names of tournaments without duplicates.

    Args:
        tournaments: names, a sequence or separated by commas.

    Returns:
        The names as they are registered, in the order given.

    Raises:
        UsageError: a name is unknown, there is no name, or it is `recorded`, which cannot be
            replayed.
    """
    typed = tournaments.split(",") if isinstance(tournaments, str) else tournaments
    stripped = [name.strip() for name in typed]
    names = dict.fromkeys(catalogue.extension(Tournament, name).name for name in stripped if name)
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
    """Play a design with every seed; return its costs and its distance from the whole record.

    A design that asks for single orders is played on a record whose orders are separate.

    Args:
        design: the tournament and its settings.
        record: the recorded verdicts.
        reference: the ranking of the whole record.
        seeds: seeds of the tournament, one for each replay.
    """
    if fixes_first_shown(catalogue.tournament_rule(design.name)):
        record = recording_of(record.battles, pool=True, by_order=True)
    prices: list[Price] = []
    distances: list[tuple[float, float]] = []
    are_answered: list[bool] = []
    for seed in seeds:
        settings = seed_settings(design.name, design.settings, seed)
        replayed = play(make_tournament(design.name, settings), record)
        prices.append(replayed.price)
        if replayed.battles.answer is not None:
            are_answered.append(replayed.battles.answer["answered"])
        tau, error = reference.distance(replayed.rows)
        if not np.isnan(tau):
            distances.append((tau, error))
    calls = [price.calls for price in prices]
    calls_90th_percentile = None
    if are_answered:
        calls_90th_percentile = int(np.quantile(calls, 0.9, method="higher"))
    return TournamentRow(
        tournament=design.label,
        name=design.name,
        budget=design.budget,
        **_mean_costs(prices),
        **_mean_distances(distances),
        seeds=len(seeds),
        failed=len(seeds) - len(distances),
        calls_90th_percentile=calls_90th_percentile,
        answered=float(np.mean(are_answered)) if are_answered else None,
    )


def _mean_costs(prices: Sequence[Price]) -> dict[str, float]:
    """Return the mean of each cost in `COSTS` over replays, by name."""
    means = {}
    for name in COSTS:
        costs = [getattr(price, name) for price in prices]
        means[name] = float(np.mean(costs))
    return means


def _mean_distances(distances: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return `tau`, `error`, `tau_sd` and `error_sd` of a `TournamentRow`.

    Args:
        distances: tau and error of each seed with a ranking of all models.

    Returns:
        The means, None without a seed, and the standard deviations, None with fewer than two.
    """
    summary: dict[str, Any] = dict.fromkeys(("tau", "error", "tau_sd", "error_sd"))
    table = np.array(distances)
    if len(distances) > 0:
        summary["tau"], summary["error"] = table.mean(axis=0).tolist()
    if len(distances) > 1:
        summary["tau_sd"], summary["error_sd"] = table.std(axis=0, ddof=1).tolist()
    return summary


def _variants(
    name: str, settings: Mapping[str, Any], record: Recording
) -> Iterator[TournamentDesign]:
    """Yield a tournament in each of its variants, which are settings that it offers to try.

    If the tournament offers no variants, or if an option of its variants was given, the tournament
    is yielded once, with the given settings. The label of a design names its variant.

    Args:
        name: name of the tournament.
        settings: its settings, by option.
        record: the recorded verdicts, whose field the variants may depend on.
    """
    offer = getattr(catalogue.tournament_rule(name), "variants", None)
    variants: Mapping[str, Mapping[str, Any]] = offer(record.field) if offer else {}
    options_of_variants = set().union(*variants.values())
    if variants and options_of_variants.isdisjoint(settings):
        for label, variant in variants.items():
            yield TournamentDesign(
                label=f"{name} {label}", name=name, settings={**settings, **variant}
            )
        return
    labels = []
    for label, variant in variants.items():
        is_chosen = variant.items() <= settings.items()
        if is_chosen:
            labels.append(label)
    yield TournamentDesign(label=" ".join([name, *labels]), name=name, settings=settings)


def _fit_to_budgets(
    variant: TournamentDesign, record: Recording, budgets: Sequence[int]
) -> Iterator[TournamentDesign]:
    """Yield a tournament with the most items that each budget allows.

    Without budgets, the tournament is yielded once, unchanged.

    Raises:
        UsageError: the tournament has no option `items`, or a budget is too small for one item.
    """
    if not budgets:
        yield variant
        return
    if "items" not in options_of(catalogue.tournament_rule(variant.name)):
        raise UsageError(
            f"--budget: {variant.name} has no option items, so its cost cannot be limited"
        )

    def size(items: int) -> int:
        """Return the maximum number of battles on a number of items."""
        settings = {**variant.settings, "items": items}
        return make_tournament(variant.name, settings).size(record.field)

    recorded = len(record.field.items)
    largest_number = min(int(variant.settings.get("items") or recorded), recorded)
    for budget in budgets:
        # The largest number of items whose battles do not exceed the budget; 0 if one is too many.
        items = bisect_right(range(1, largest_number + 1), budget, key=size)
        if not items:
            raise UsageError(
                f"--budget {budget} is too small for {variant.label}: one item takes "
                f"{quantity(size(1), 'battle')}"
            )
        yield replace(variant, settings={**variant.settings, "items": items}, budget=budget)


def _replay_warnings(rows: Sequence[TournamentRow], record: Recording) -> Iterator[Notice]:
    """Yield the warnings about a comparison of replays.

    They are about seeds without a ranking of all models, about battles that are not on record, and
    about a record that lacks battles of a round robin on its items.
    """
    failed = [
        f"{each.tournament} ({each.failed} of {quantity(each.seeds, 'seed')})"
        for each in rows
        if each.failed
    ]
    if failed:
        yield Notice("replay-not-scored", {"tournaments": failed})
    off_record = list(dict.fromkeys(row.tournament for row in rows if row.missing))
    if off_record:
        yield Notice("replay-off-record", {"tournaments": off_record})
    models = len(record.field.models)
    recorded = len({pairing._replace(first=None) for pairing in record.codes})
    of_round_robin = models * (models - 1) // 2 * len(record.field.items)
    share = recorded / of_round_robin
    # Otherwise the record is a whole round robin.
    if share < 1:
        yield Notice("replay-part-of-round-robin", {"share": share})


def tournament_table_reports(table: TournamentTable) -> tuple[Report, ...]:
    """Return one report with a row per tournament and budget.

    Columns that say nothing in any row (`UNINFORMATIVE_CELLS`) are left out.
    """
    rows = [_cells_of_row(row) for row in table.rows]
    header = []
    columns = []
    for name, column in zip(HEADER, zip(*rows, strict=True), strict=True):
        if set(column) != {UNINFORMATIVE_CELLS.get(name)}:
            header.append(name)
            columns.append(column)
    kept_rows = tuple(zip(*columns, strict=True))
    whole = table.whole
    title = (
        f"tournaments against all {quantity(whole['battles'], 'battle')} of "
        f"{quantity(whole['items'], 'item')}, by {table.ranker}"
    )
    answer = tuple(_answer_sentences(table, table.scale.title))
    return (
        Report(
            title,
            answer,
            table=Table(
                title="", header=tuple(header), rows=kept_rows, legend=(_legend_text(table),)
            ),
        ),
    )


def _legend_text(table: TournamentTable) -> str:
    """Write what the columns of the table are, as one text."""
    seeds = max(row.seeds for row in table.rows)
    means = f"means ± standard deviation over {seeds} seeds" if seeds > 1 else "one seed"
    legend = (
        f"error: mean absolute difference of the scores ({table.scale.title}), both centred; tau: "
        f"Kendall's; {means}; calls: judge calls, both orders"
    )
    if any(row.name == "ring" for row in table.rows):
        legend += " (ring: one order)"
    if any(row.answered is not None for row in table.rows):
        legend += (
            "; answered: seeds in which the question was answered; 90% within: calls of nine of "
            "ten seeds"
        )
    return legend


def _answer_sentences(table: TournamentTable, unit: str) -> Iterator[str]:
    """Yield sentences on the tournaments that answer the question most often and rank best.

    Of tournaments with the same share of answers, the one with the fewest calls is named. Nothing
    is said about answers if no tournament can stop early.

    Args:
        table: the tournaments.
        unit: unit of the errors, such as `Elo`.
    """
    stopping = [row for row in table.rows if row.answered is not None]
    if stopping:
        best = min(stopping, key=lambda row: (-(row.answered or 0.0), row.calls, row.tournament))
        if best.answered:
            yield (
                f"{best.tournament} answers the question in {best.answered:.0%} of seeds, for "
                f"{best.calls:,.0f} judge calls on average."
            )
        else:
            yield (
                "No tournament answers the question on these items: more items, or a margin, "
                "would help."
            )
    yield from _distance_sentences(table, unit)


def _distance_sentences(table: TournamentTable, unit: str) -> Iterator[str]:
    """Yield a sentence on which tournament is nearest to the ranking of the whole record.

    If a cheaper tournament has a similar error, within a standard deviation over seeds, a second
    sentence names it. Tournaments that play the whole record are compared only if there are no
    others. If no tournament has a ranking of all models, the only sentence says so.
    """
    with_error = [(row.error, row) for row in table.rows if row.error is not None]
    # A tournament that plays the whole record has its ranking by definition.
    of_parts = [(error, row) for error, row in with_error if row.battles < table.whole["battles"]]
    compared = of_parts or with_error
    if not compared:
        yield "No tournament gave a ranking of all models."
        return
    # The row with the smallest error; of several, the one with the fewest calls.
    errors_and_calls = [(error, row.calls) for error, row in compared]
    least_error, nearest = compared[errors_and_calls.index(min(errors_and_calls))]
    # With a single seed there is no standard deviation, and only equal errors are similar.
    largest_similar = least_error + (nearest.error_sd or 0.0)
    similar = [(error, row) for error, row in compared if error <= largest_similar]
    calls_and_errors = [(row.calls, error) for error, row in similar]
    error, cheapest = similar[calls_and_errors.index(min(calls_and_errors))]
    digits = 1 if least_error >= 1 else 3
    yield (
        f"{nearest.tournament} is nearest to the ranking of the whole record: "
        f"{least_error:.{digits}f} {unit} off on average, for {nearest.calls:,.0f} judge calls."
    )
    if cheapest is not nearest:
        yield (
            f"{cheapest.tournament} has a similar error ({error:.{digits}f}, within a standard "
            f"deviation over seeds) for {cheapest.calls:,.0f} calls."
        )


def _cells_of_row(row: TournamentRow) -> tuple[str, ...]:
    """Format a row of the table, with a text for each column of `HEADER`."""
    costs = [f"{getattr(row, name):,.0f}" for name in COSTS]
    return (
        row.tournament,
        cell_text(row.budget, ","),
        *costs,
        cell_text(row.calls_90th_percentile, ","),
        cell_text(row.answered, ".0%"),
        _with_deviation(row.error, row.error_sd, digits=1),
        _with_deviation(row.tau, row.tau_sd, digits=2),
        str(row.failed),
    )


def _with_deviation(mean: float | None, sd: float | None, digits: int) -> str:
    """Format a mean and its standard deviation, as `3.4 ± 1.6`; a dash if the mean is unknown."""
    deviation = "" if sd is None else f" ± {sd:.{digits}f}"
    return cell_text(mean, f".{digits}f") + deviation


register_view(TournamentTable, View(tournament_table_reports))
