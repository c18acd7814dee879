"""A ranking: one table of standings per ranker and slice."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from podium.check_results import Check
from podium.data.counts import Counts
from podium.data.measure import Measure
from podium.documents import Document, chart_of_result, text_of_result
from podium.format_version import FORMAT_VERSION
from podium.notices.notice import Notice
from podium.notices.notice_text import notices_to_json
from podium.package_versions import package_version
from podium.score_scale import Scale

if TYPE_CHECKING:
    import pandas as pd


UNCONNECTED_GROUPS = "unconnected_groups"
"""Key in the diagnostics of standings: the models of each group, if groups never met."""
GROUP = "group"
"""Key in `Entry.extra`: the number of the model's group, from 1, if groups never met."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The row of one model in standings.

    Attributes:
        model: name of the model.
        rank: rank by score, 1 is best; equal scores share a rank. If battles do not connect all
            models, it is the rank among the models of the same group.
        rank_low: smallest rank of the rank set, None if unknown.
        rank_high: largest rank of the rank set, None if unknown.
        score: the score, None if unknown.
        low: lower end of the score's interval, None if unknown or unbounded.
        high: upper end of the score's interval, None if unknown or unbounded.
        se: standard error of the score, None if unknown.
        battles: number of readable battles.
        win_rate: win rate, None if there are no battles.
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
        """Return the row for the JSON document.

        The keys are the names of the attributes except `extra`, and then the names in `extra`.
        """
        row = asdict(self)
        extra = row.pop("extra")
        return row | extra


@dataclass(frozen=True, slots=True)
class Fit:
    """Certificate of a fit: figures that say whether and how it succeeded.

    A figure is None if it does not apply.

    Attributes:
        converged: whether the fit reached its maximum.
        gradient: largest absolute component of the gradient at the maximum, divided by the total
            weight of the battles.
        components: number of groups of models that no battles connect; of scores, that have no item
            in common. With several groups, only models of one group are compared.
        separated: names of the models whose ratings the battles do not bound.
        regularization: lambda of the penalty.
        beta: logits of human preference per unit of the judge's margin.
        beta_low: lower end of beta's interval.
        beta_high: upper end of beta's interval.
    """

    converged: bool | None = None
    gradient: float | None = None
    components: int | None = None
    separated: tuple[str, ...] | None = None
    regularization: float | None = None
    beta: float | None = None
    beta_low: float | None = None
    beta_high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures that apply (are not None) by name; tuples become lists."""
        figures = {}
        for name, value in asdict(self).items():
            if value is not None:
                figures[name] = list(value) if isinstance(value, tuple) else value
        return figures


@dataclass(frozen=True, slots=True)
class Separation:
    """Which models are clearly ahead of which, by simultaneous tests of all pairs.

    Attributes:
        names: names of the models, the best first. Positions below are positions in `names`.
        cuts: numbers k such that each of the first k models is clearly ahead of all models after
            them.
        beats: for each model, the positions of the models that it is clearly ahead of.
        critical: critical value of |z| for the first two models.
        clusters: number of clusters of the battles.
        gap: score of the first model minus the score of the second; NaN if unknown.
        z: `gap` divided by its standard error, None if unknown.
        lead: `gap` and both ends of its simultaneous interval; None if the first two models are
            too close to call.
        neighbours: of each model and the next one, the gap over its standard error, and the
            critical value of this pair; None if the pair has no standard error.
    """

    names: tuple[str, ...]
    cuts: tuple[int, ...]
    beats: tuple[tuple[int, ...], ...]
    critical: float
    clusters: int
    gap: float
    z: float | None
    lead: tuple[float, float, float] | None
    neighbours: tuple[tuple[float, float] | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Standings:
    """The result of one ranker on one set of battles.

    Attributes:
        ranker: name of the ranker.
        scale: scale of the scores.
        level: confidence level of intervals and rank sets.
        interval: text that says how `low` and `high` of the entries were made, such as
            `item-clustered sandwich`; None if there are no intervals.
        entries: the rows, the best model first.
        counts: counts of the battles.
        fit: certificate of the fit.
        diagnostics: further figures of the ranker, by name.
        warnings: warnings about the battles and the result.
        slice: value of the `--by` column; None if the standings are of all battles.
        slice_label: what people read in place of `slice`, such as a judge's short name; None if it
            is the value itself.
        separation: which models are clearly ahead of which; None if no differences were tested, or
            for very many models.
        answer: the finding, in sentences.
        accepted: sentences on findings that the user accepted, which the answer ends with.
        next_in_brief: what to do next, without the details that the last sentence of the answer
            has; None if the answer does not say it.
        checks: the checks of the battles and of this result.
        error_method: text that says how `se` of the entries was made, such as `item bootstrap`;
            None if the ranker gives none.
        tasks: names of the tasks of the items; empty if they are unknown.
        measures: the metrics whose scores decided the battles; empty if judges did.
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
    slice_label: str | None = None
    separation: Separation | None = field(default=None, repr=False)
    answer: tuple[str, ...] = ()
    accepted: tuple[str, ...] = field(default=(), repr=False)
    next_in_brief: str | None = field(default=None, repr=False)
    checks: tuple[Check, ...] = field(default=(), repr=False)
    error_method: str | None = field(default=None, repr=False)
    tasks: tuple[str, ...] = field(default=(), repr=False)
    measures: tuple[Measure, ...] = field(default=(), repr=False)

    @property
    def shown_slice(self) -> str | None:
        """The slice as people read it; None if the standings are of all battles."""
        return self.slice if self.slice_label is None else self.slice_label

    @property
    def unconnected_groups(self) -> tuple[tuple[str, ...], ...]:
        """The models of each group, if the models fall into groups that never met; else empty.

        Only models of one group are compared.
        """
        return tuple(map(tuple, self.diagnostics.get(UNCONNECTED_GROUPS, ())))

    def map_texts(self, change: Callable[[str], str]) -> "Standings":
        """Return a copy with a function applied to each text of answer, warnings and checks.

        The texts are those of `answer`, `accepted`, `next_in_brief`, `warnings` and `checks`. Hosts
        use it to replace the paths of temporary copies by the places that the user knows.
        """
        brief = self.next_in_brief
        return replace(
            self,
            answer=tuple(map(change, self.answer)),
            accepted=tuple(map(change, self.accepted)),
            next_in_brief=None if brief is None else change(brief),
            warnings=tuple(notice.map_texts(change) for notice in self.warnings),
            checks=tuple(check.map_texts(change) for check in self.checks),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return one element of the list `rankings` of the JSON document.

        It has `slice_label`, `tasks` and `measures` only if there are any.
        """
        optional_fields: dict[str, Any] = {}
        if self.slice_label is not None:
            optional_fields["slice_label"] = self.slice_label
        if self.tasks:
            optional_fields["tasks"] = list(self.tasks)
        if self.measures:
            optional_fields["measures"] = [asdict(measure) for measure in self.measures]
        return {
            "ranker": self.ranker,
            "slice": self.slice,
            **optional_fields,
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
    """The standings of every ranker and slice.

    Attributes:
        standings: the standings.
        provenance: sources, options and package versions.
        failures: why a ranker or a slice has no standings, a sentence each.
        details: of a jury whose verdicts are merged, the standings of each of its judges, whose
            name is their `slice`.
    """

    standings: tuple[Standings, ...]
    provenance: Mapping[str, Any]
    failures: tuple[str, ...] = ()
    details: tuple[Standings, ...] = ()

    def __repr__(self) -> str:
        parts = []
        models: set[str] = set()
        for standings in self.standings:
            slice_in_brackets = f" [{standings.shown_slice}]" if standings.slice else ""
            parts.append(standings.ranker + slice_in_brackets)
            models.update(entry.model for entry in standings.entries)
        return f"Ranking({', '.join(parts)}: {len(models)} models)"

    def __str__(self) -> str:
        return text_of_result(self)

    @property
    def judges_or_metrics(self) -> tuple[str, ...]:
        """Names of the judges, or else of the metrics behind scores that no judge gave.

        Empty if neither are known.
        """
        return tuple(self.provenance.get("judges") or self.provenance.get("metrics") or ())

    def plot(self) -> Any:
        """Return the forest plot of scores, intervals and rank sets as an altair chart."""
        return chart_of_result(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document as plain Python values.

        It has `failures` and `details` only if there are any.
        """
        document: dict[str, Any] = {
            "podium": FORMAT_VERSION,
            "rankings": [each.to_dict() for each in self.standings],
            "provenance": dict(self.provenance),
        }
        if self.details:
            document["details"] = [each.to_dict() for each in self.details]
        if self.failures:
            document["failures"] = list(self.failures)
        return document

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per model, slice and ranker.

        Each row has the columns `ranker`, `slice`, `scale` (its name), `level`, the keys of
        `Entry.to_dict`, `interval` (the method of the interval), and `items`, `judged` and
        `unparsed`, which count the items, the judged battles and the unparsed battles of the whole
        ranking or slice. Columns that only some rankers have are missing (NaN) in the rows of other
        rankers.
        """
        import pandas as pd

        rows = []
        for standings in self.standings:
            for entry in standings.entries:
                row = {
                    "ranker": standings.ranker,
                    "slice": standings.slice,
                    "scale": standings.scale.name,
                    "level": standings.level,
                    **entry.to_dict(),
                    "interval": standings.interval,
                    "items": standings.counts.items,
                    "judged": standings.counts.readable,
                    "unparsed": standings.counts.unparsed,
                }
                rows.append(row)
        frame = pd.DataFrame(rows)
        return frame.astype({"rank_low": "Int64", "rank_high": "Int64"})


def build_provenance(sources: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dictionary with the keys `sources` (a list), `options` and `versions`.

    `versions` has the versions of Python and of the packages that figures depend on, by name.
    """
    return {
        "sources": list(sources),
        "options": dict(options),
        "versions": dict(_package_versions()),
    }


@cache
def _package_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that figures may depend on, by name.

    The versions are cached because each look-up reads a file. Callers must not change the result.
    """
    packages = ("podium", "duckdb", "numpy", "scipy", "pandas")
    versions = {name: package_version(name) for name in packages}
    return {"python": platform.python_version(), **versions}
