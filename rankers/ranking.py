"""A ranking: one table of standings per ranker and slice."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any

import pandas as pd

from podium.checks import Check
from podium.data.counts import Counts
from podium.documents import Document, chart_of_result, text_of_result
from podium.format_version import FORMAT_VERSION
from podium.notices.notice import Notice
from podium.notices.notice_text import notices_to_json
from podium.score_scale import Scale


@dataclass(frozen=True, slots=True)
class Entry:
    """The row of one model in standings.

    Attributes:
        model: name of the model.
        rank: rank by score, 1 is best; equal scores share a rank.
        rank_low: least rank of the rank set, None if unknown.
        rank_high: largest rank of the rank set, None if unknown.
        score: the score, None if unknown.
        low: lower end of the score's interval, None if unknown or unbounded.
        high: upper end, likewise.
        se: standard error of the score, None if unknown.
        battles: number of readable battles.
        win_rate: win rate, None without a battle.
        separated: whether the model is outside the largest strongly connected component of wins,
            so that battles do not bound its rating.
        extra: further figures of the ranker, by column.
    """

    model: str
    rank: int
    rank_low: int | None
    rank_high: int | None
    score: float | None
    low: float | None
    high: float | None
    se: float | None
    battles: int
    win_rate: float | None = None
    separated: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the row of the contract's JSON, with the extra figures beside the others."""
        row = asdict(self)
        extra = row.pop("extra")
        return row | extra


@dataclass(frozen=True, slots=True)
class Fit:
    """Certificate of a fit; None if a figure does not apply."""

    converged: bool | None = None
    gradient: float | None = None
    components: int | None = None
    separated: tuple[str, ...] | None = None
    regularization: float | None = None
    beta: float | None = None
    beta_low: float | None = None
    beta_high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures that apply."""
        known = {name: value for name, value in asdict(self).items() if value is not None}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in known.items()
        }


@dataclass(frozen=True, slots=True)
class Separation:
    """Which models are distinguishable, by simultaneous tests of all pairs, |z| above `critical`;
    `names` best first.

    All above a cut (`cuts` counts them) are clearly ahead of all below; `beats` has the places
    (from 0) of those that each is clearly ahead of. `gap` and `lead` are the first's over the
    second; `lead` is None if too close to call.
    """

    names: tuple[str, ...]
    cuts: tuple[int, ...]
    beats: tuple[tuple[int, ...], ...]
    critical: float
    clusters: int
    gap: float
    z: float | None
    lead: tuple[float, float, float] | None


@dataclass(frozen=True, slots=True)
class Standings:
    """The result of one ranker on one set of battles, best model first.

    `interval` is the method behind `low` and `high`, `error_method` that behind `se` (None if the
    ranker does not say it), `slice` the value of the `--by` column (None for all battles).
    `separation` is None if no differences were tested, or for very many models. `checks` has what
    was checked of the battles and of this result, with the results.
    """

    ranker: str
    scale: Scale
    level: float
    interval: str | None
    entries: tuple[Entry, ...]
    counts: Counts
    fit: Fit = field(default_factory=Fit)
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[Notice, ...] = ()
    slice: str | None = None
    separation: Separation | None = field(default=None, repr=False)
    answer: tuple[str, ...] = ()
    checks: tuple[Check, ...] = field(default=(), repr=False)
    error_method: str | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return one element of the contract's list `rankings`."""
        return {
            "ranker": self.ranker,
            "slice": self.slice,
            "level": self.level,
            "interval": self.interval,
            "error_method": self.error_method,
            "scale": self.scale.name,
            "scale_record": self.scale.to_json(),
            "answer": list(self.answer),
            "models": [entry.to_dict() for entry in self.entries],
            "fit": self.fit.to_dict(),
            "counts": self.counts.to_dict(),
            "diagnostics": dict(self.diagnostics),
            "checks": [check.to_dict() for check in self.checks],
            "warnings": notices_to_json(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class Ranking(Document):
    """Standings of every ranker and slice, and why others failed."""

    standings: tuple[Standings, ...]
    provenance: Mapping[str, Any]
    failures: tuple[str, ...] = ()

    def __repr__(self) -> str:
        parts = [
            each.ranker + (f" [{each.slice}]" if each.slice else "") for each in self.standings
        ]
        models: set[str] = set()
        for each in self.standings:
            models.update(entry.model for entry in each.entries)
        return f"Ranking({', '.join(parts)}: {len(models)} models)"

    def __str__(self) -> str:
        return text_of_result(self)

    @property
    def judges_or_metrics(self) -> tuple[str, ...]:
        """Names of the judges, or of the metrics of scores that no judge gave."""
        return tuple(self.provenance.get("judges") or self.provenance.get("metrics") or ())

    def plot(self) -> Any:
        """Return the forest plot of scores, intervals and rank sets, an altair chart."""
        return chart_of_result(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the contract's JSON document as plain Python values."""
        return {
            "podium": FORMAT_VERSION,
            "rankings": [each.to_dict() for each in self.standings],
            "provenance": dict(self.provenance),
        } | ({"failures": list(self.failures)} if self.failures else {})

    def to_frame(self) -> pd.DataFrame:
        """Return one row per model, slice and ranker, with the method of the interval and the
        denominators."""
        rows = []
        for each in self.standings:
            for entry in each.entries:
                row = {
                    "ranker": each.ranker,
                    "slice": each.slice,
                    "scale": each.scale.name,
                    "level": each.level,
                    **entry.to_dict(),
                    "interval": each.interval,
                    "items": each.counts.items,
                    "judged": each.counts.readable,
                    "unparsed": each.counts.unparsed,
                }
                rows.append(row)
        frame = pd.DataFrame(rows)
        return frame.astype({"rank_low": "Int64", "rank_high": "Int64"})


def build_provenance(sources: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sources, options and package versions of a ranking."""
    return {"sources": list(sources), "options": dict(options), "versions": dict(_versions())}


@cache
def _versions() -> dict[str, str]:
    """Return the versions of packages that figures may depend on; cached, as each lookup reads a
    file."""
    packages = ("podium", "duckdb", "numpy", "scipy", "pandas")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
