"""Tournaments side by side: how far each is from the whole record, and what it costs, over many seeds."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from podium.battles import Battles
from podium.errors import NotIdentifiedError, PodiumError, UsageError
from podium.hookspecs import Tournament
from podium.plugins import catalogue
from podium.plugins.settings import options_of, ranker_names
from podium.rank_battles import rank
from podium.ranking import Standings, provenance
from podium.replays import Playthrough, Recording, divide_options, make_tournament, play, recording_of, seed_settings
from podium.text import plain, some


@dataclass(frozen=True, slots=True)
class Row:
    """One tournament over all seeds; means, unless said otherwise.

    Attributes:
        tournament: its name, and the anchor where several are set side by side.
        budget: battles that it was not to exceed; None for the whole tournament.
        battles: asked for.
        calls: judge calls, both orders counted.
        pairs: of entrants that met.
        rounds: in which the battles were scheduled.
        missing: battles not on record.
        error: mean absolute difference of the scores from those of the whole record, both centred; None where no seed
            gave a ranking.
        error_sd: standard deviation of `error` over seeds; None for fewer than two.
        tau: Kendall's tau-b with the whole record.
        tau_sd: its standard deviation over seeds.
        seeds: how many were played.
        failed: how many of them gave no ranking of all entrants; left out of `error` and `tau`.
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


@dataclass(frozen=True, slots=True)
class Study:
    """Tournaments side by side.

    Attributes:
        ranker: by which everything is ranked.
        scale: of `error`.
        whole: battles and judge calls of the whole record.
        rows: one per tournament and budget.
        provenance: sources, options and versions.
        warnings: what to know before reading the rows.
    """

    ranker: str
    scale: str
    whole: Mapping[str, int]
    rows: tuple[Row, ...]
    provenance: Mapping[str, Any]
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return asdict(self)

    def to_json(self) -> str:
        """Return a JSON document without NaN or infinity."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False, ensure_ascii=False, default=plain)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per tournament and budget."""
        return pd.DataFrame([asdict(row) for row in self.rows]).astype({"budget": "Int64"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a study before it is played.

    Attributes:
        label: what to call it.
        name: of the tournament.
        settings: its options, without the seed.
        budget: battles that it must not exceed, or None.
    """

    label: str
    name: str
    settings: Mapping[str, Any]
    budget: int | None = None


def compare_tournaments(
    battles: Battles | pd.DataFrame | str | Path,
    tournaments: str | Sequence[str] = ("round_robin", "anchor", "swim", "chain"),
    ranker: str = "bradley-terry",
    *,
    seeds: int = 20,
    seed: int = 0,
    budgets: Sequence[int] = (),
    pool: bool = False,
    **options: Any,
) -> Study:
    """Replay tournaments with many seeds, and compare each ranking with that of the whole record.

    Args:
        battles: from `read_battles`; or what it reads: a data frame, or a path.
        tournaments: names, as a sequence or separated by commas; one that offers variants (an anchor) is played in
            each of them, unless an option settles which.
        ranker: by which everything is ranked.
        seeds: how many seeds, counted from `seed`.
        seed: the first.
        budgets: play each tournament on as many items as these numbers of battles allow; by default on all.
        pool: take the verdicts of several judges together.
        **options: of the tournaments and of the ranker; `name.option` (through a dict) reaches one of them only.

    Raises:
        UsageError: an unknown tournament, ranker or option, or a budget too small for a single item.
        NotIdentifiedError: several judges, no items, or the whole record cannot be ranked.
    """
    names = tournament_names(tournaments)
    known = {name: options_of(catalogue.tournament_rule(name)) for name in names}
    one_ranker, *more = ranker_names(ranker)
    if more:
        raise UsageError(f"tournaments are set side by side by one ranker; leave out {', '.join(more)}")
    settings, others = divide_options(options, known, [one_ranker])
    if any("seed" in own for own in settings.values()):
        raise UsageError("side by side, seeds are counted from --seed; leave out the option seed")
    record = recording_of(battles, pool=pool)
    yardstick = Yardstick(record, one_ranker, {"pool": pool, "seed": seed, **others})
    entries = [
        entry
        for name in names
        for variant in _variants(name, settings[name], record)
        for entry in _budgeted(variant, record, budgets)
    ]
    rows = tuple(_row(entry, record, yardstick, range(seed, seed + seeds)) for entry in entries)
    counts = record.battles.counts()
    asked = {"tournaments": names, "ranker": one_ranker, "seeds": seeds, "seed": seed, "budgets": list(budgets)}
    return Study(
        ranker=one_ranker,
        scale=yardstick.whole.scale,
        whole={"battles": counts.battles, "calls": counts.presentations, "items": counts.items},
        rows=rows,
        provenance=provenance(record.battles.sources, {**asked, **options}),
        warnings=tuple(_told(rows, record)),
    )


class Yardstick:
    """Ranks what was played, and says how far that is from the whole record; the same battles are ranked once.

    Raises:
        NotIdentifiedError: the whole record does not score two entrants.
    """

    def __init__(self, record: Recording, ranker: str, options: Mapping[str, Any]) -> None:
        self.ranker = ranker
        self.options = dict(options)
        self.whole = self._standings(record.battles)
        self.reference = _scores(self.whole)
        self.known: dict[bytes, tuple[float, float] | None] = {}
        if len(self.reference) < 2:
            raise NotIdentifiedError("the whole record scores fewer than two entrants: nothing to compare with")

    def __call__(self, played: Playthrough) -> tuple[float, float] | None:
        """Return error and tau; None where an entrant that the whole record scores has no score."""
        rows = np.packbits(played.rows).tobytes()
        if rows not in self.known:
            self.known[rows] = self._compared(played.battles)
        return self.known[rows]

    def _compared(self, battles: Battles) -> tuple[float, float] | None:
        try:
            scores = _scores(self._standings(battles))
        except PodiumError:
            return None
        if not self.reference.keys() <= scores.keys():
            return None
        found, truth = (np.array([one[name] for name in self.reference]) for one in (scores, self.reference))
        error = np.abs((found - found.mean()) - (truth - truth.mean())).mean()
        tau = float(kendalltau(found, truth).statistic)
        return None if np.isnan(tau) else (float(error), tau)

    def _standings(self, battles: Battles) -> Standings:
        return rank(battles, self.ranker, **self.options).standings[0]


def _scores(standings: Standings) -> dict[str, float]:
    return {entry.model: entry.score for entry in standings.entries if entry.score is not None}


def _row(entry: Entry, record: Recording, yardstick: Yardstick, seeds: Sequence[int]) -> Row:
    known = options_of(catalogue.tournament_rule(entry.name))
    played = [play(make_tournament(entry.name, seed_settings(entry.settings, seed, known)), record) for seed in seeds]
    found = [scores for scores in map(yardstick, played) if scores is not None]
    errors, taus = [error for error, _ in found], [tau for _, tau in found]
    return Row(
        tournament=entry.label,
        budget=entry.budget,
        battles=_mean([one.price.battles for one in played]),
        calls=_mean([one.price.calls for one in played]),
        pairs=_mean([one.price.pairs for one in played]),
        rounds=_mean([one.price.rounds for one in played]),
        missing=_mean([one.price.missing for one in played]),
        error=_mean(errors) if errors else None,
        error_sd=_sd(errors),
        tau=_mean(taus) if taus else None,
        tau_sd=_sd(taus),
        seeds=len(seeds),
        failed=len(seeds) - len(found),
    )


def tournament_names(tournaments: str | Sequence[str]) -> list[str]:
    """Return the names of tournaments, given as a sequence or separated by commas, each once.

    Raises:
        UsageError: there is none, or one of them is not known.
    """
    names = tournaments.split(",") if isinstance(tournaments, str) else tournaments
    stripped = [name.strip() for name in names if name.strip()]
    if not stripped:
        raise UsageError("no tournament named; `podium list tournaments` shows them")
    return list(dict.fromkeys(catalogue.extension(Tournament, name).name for name in stripped))


def _variants(name: str, settings: Mapping[str, Any], record: Recording) -> Iterator[Entry]:
    """Yield the tournament as it is asked for, or in each of its variants where the settings do not choose."""
    offered = getattr(catalogue.tournament_rule(name), "variants", None)
    variants: Mapping[str, Mapping[str, Any]] = offered(record.field) if offered else {}
    if not variants or any(option in settings for variant in variants.values() for option in variant):
        chosen = [label for label, variant in variants.items() if variant.items() <= settings.items()]
        yield Entry(" ".join([name, *chosen]), name, settings)
        return
    for label, variant in variants.items():
        yield Entry(f"{name} {label}", name, {**settings, **variant})


def _budgeted(entry: Entry, record: Recording, budgets: Sequence[int]) -> Iterator[Entry]:
    """Yield the tournament on as many items as each budget allows, as it is without budgets."""
    if not budgets:
        yield entry
    for budget in budgets:
        items = _affordable(entry, record, budget)
        yield Entry(entry.label, entry.name, {**entry.settings, "items": items}, budget)


def _affordable(entry: Entry, record: Recording, budget: int) -> int:
    """Return the largest number of items on which the tournament stays within a number of battles.

    Raises:
        UsageError: there is none, or the tournament has no option `items`.
    """
    if "items" not in options_of(catalogue.tournament_rule(entry.name)):
        raise UsageError(f"{entry.name} has no option items, so it cannot be fitted to a budget")

    def size(items: int) -> int:
        return make_tournament(entry.name, {**entry.settings, "items": items}).size(record.field)

    most = len(record.field.items)
    low, high = 0, min(int(entry.settings.get("items") or most), most)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size(middle) <= budget else (low, middle - 1)
    if not low:
        raise UsageError(f"a budget of {budget} battles is too small for {entry.label}: one item takes {size(1)}")
    return low


def _told(rows: Sequence[Row], record: Recording) -> Iterator[str]:
    lost = [f"{row.tournament} ({row.failed} of {row.seeds} seeds)" for row in rows if row.failed]
    if lost:
        yield f"no score for every entrant, so left out of error and tau: {', '.join(lost)}"
    short = list(dict.fromkeys(row.tournament for row in rows if row.missing))
    if short:
        yield f"battles that are not on record were asked for, the scores rest on fewer: {some(short)}"
    pairs = len(record.field.entrants) * (len(record.field.entrants) - 1) // 2
    if len(record.codes) < pairs * len(record.field.items):
        share = len(record.codes) / (pairs * len(record.field.items))
        yield f"the record is no full round robin: {share:.1%} of its battles are there"


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def _sd(values: Sequence[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None
