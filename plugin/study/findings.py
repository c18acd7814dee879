"""What a study found: one point per design, setting and ranker."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
from scipy.stats import pearsonr

from podium.format_version import FORMAT_VERSION
from podium.text import Document


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean over seeds, its Monte-Carlo standard error, and the ends of its t interval; None for a single seed."""

    mean: float
    se: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Point:
    """One design in one setting, ranked by one ranker, over all seeds.

    Attributes:
        figure: `anchor` (each model as the anchor), `tournament`, `anchors` (their number) or `models` (theirs).
        design: a tournament, or the anchor's name.
        models, items: that took part.
        anchors: how many were drawn at random; None where that is not the question.
        ranker: by which the battles were ranked.
        battles, calls: asked for, and recorded judge calls for them; means over seeds, None for means over anchors.
        missing: battles not on record, mean over seeds.
        tau: Kendall's tau-b with the reference; None where no seed gave a ranking.
        error: mean absolute difference from the reference, both centred; None where the scales differ.
        seeds: that were played; 1 where nothing is left to chance.
        failed: of them, without a score for everyone; left out of `tau` and `error`.
    """

    figure: str
    design: str
    models: int
    items: int
    anchors: int | None
    ranker: str
    battles: float | None
    calls: float | None
    missing: float | None
    tau: Spread | None
    error: Spread | None
    seeds: int
    failed: int


@dataclass(frozen=True, slots=True)
class AnchorProfile:
    """A model as the anchor: its place in the reference ranking (1 = best; None where that does not know it).

    Its informativeness is the share of pairs of others that it tells apart, with the ends of its interval.
    """

    anchor: str
    place: int | None
    informativeness: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Findings(Document):
    """All that a study found.

    Attributes:
        reference: what rankings were compared with.
        known: models that the reference scores, of the `models` of the record.
        scales: of `error`, by ranker.
        anchors: every model, the strongest first.
        points: one per design, setting and ranker.
        whole: battles, judged ones, calls and items of the record.
    """

    view = "podium.study.study_report:study_reports"
    reference: str
    known: int
    models: int
    scales: Mapping[str, str]
    level: float
    anchors: tuple[AnchorProfile, ...]
    points: tuple[Point, ...]
    whole: Mapping[str, int]
    provenance: Mapping[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def rankers(self) -> tuple[str, ...]:
        """Names of the rankers."""
        return tuple(self.scales)

    def correlation(self, ranker: str, items: int) -> Spread | None:
        """Return Pearson's correlation of tau and informativeness over anchors, with Fisher's interval (Figure 3).

        None for fewer than four anchors, or where all have one tau or one informativeness.
        """
        share = {each.anchor: each.informativeness for each in self.anchors if each.informativeness is not None}
        points = [
            (share[point.design], point.tau.mean)
            for point in self.points
            if (point.figure, point.ranker, point.items) == ("anchor", ranker, items)
            and point.tau is not None
            and point.design in share
        ]
        if len(points) < 4 or any(len(set(values)) < 2 for values in zip(*points, strict=True)):
            return None
        pearson = pearsonr(*zip(*points, strict=True))
        low, high = pearson.confidence_interval(self.level)
        return Spread(float(pearson.statistic), None, float(low), float(high))

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {"podium": FORMAT_VERSION, "study": asdict(self)}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per point; anchors bring their place and their informativeness."""
        about = {each.anchor: (each.place, each.informativeness) for each in self.anchors}
        rows = []
        for point in self.points:
            row = asdict(point)
            for name, spread in (("tau", row.pop("tau")), ("error", row.pop("error"))):
                row[name] = spread and spread["mean"]
                row |= {f"{name}_{part}": spread and spread[part] for part in ("se", "low", "high")}
            row["place"], row["informativeness"] = about[point.design] if point.figure == "anchor" else (None, None)
            rows.append(row)
        return pd.DataFrame(rows).astype({"anchors": "Int64", "place": "Int64"})
