"""A plan: which comparisons to make, on how many items, at what cost, and what they will be able to tell."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from podium.planning.costs import Bill
from podium.planning.decision import Decision
from podium.planning.precision import Known
from podium.planning.wilcoxon import Simulated
from podium.ranking import FORMAT_VERSION
from podium.text import plain


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entrant as the anchor.

    Attributes:
        anchor: its name.
        informativeness: share of pairs of others that its verdicts tell apart, item by item.
        three_level: the same of win, tie and loss.
        pairs: compared, over all items.
        rank_low, rank_high: its simultaneous rank set among the candidates, None where nothing can be said.
        advice: in a few words.
    """

    anchor: str
    informativeness: Known
    three_level: Known | None
    pairs: int
    rank_low: int | None
    rank_high: int | None
    advice: str


@dataclass(frozen=True, slots=True)
class Sample:
    """Items that tell an edge.

    Attributes:
        edge: share of decided items that the better entrant wins, minus a half.
        informative: items that decide, by the formula of the sign test (Table 2, base).
        exact_power: of the exact sign test on these.
        exact: items that decide, with which the exact test keeps the promise.
        direct: items, when the two meet directly and ties are lost.
        anchored: items, when both meet an anchor and equal verdicts are lost; None where no share is known.
        wilcoxon: items by Wilcoxon's test, simulated, through an anchor; None where it was not.
    """

    edge: float
    informative: int
    exact_power: float
    exact: int
    direct: Known
    anchored: Known | None
    wilcoxon: Simulated | None


@dataclass(frozen=True, slots=True)
class Gap:
    """The smallest edge that the planned items tell.

    Attributes:
        how: `direct` or `anchor`.
        share: of the items that are informative.
        edge: None where so few items tell none.
        elo: what that is in Elo; None where unknown or unbounded.
    """

    how: str
    share: Known
    edge: Known | None
    elo: Known | None


@dataclass(frozen=True, slots=True)
class Line:
    """A design in the table of costs.

    Attributes:
        design: its label.
        planned: what the planned items cost; None without a number of items.
        error: standard error of the difference of a typical pair on the planned items, Elo.
        gap: smallest difference of a typical pair that the planned items tell, Elo.
        rank_width: mean number of ranks in an entrant's rank set on the planned items.
        items: on which the asked edge is told.
        needed: what those cost; `needed_low` and `needed_high` at the ends of that interval.
    """

    design: str
    planned: Bill | None
    error: Known | None = None
    gap: Known | None = None
    rank_width: Known | None = None
    items: Known | None = None
    needed: Bill | None = None
    needed_low: Bill | None = None
    needed_high: Bill | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """A part that was not answered.

    Attributes:
        part: which.
        why: it could not be.
        remedy: what would answer it.
        unanswerable: whether data were given that cannot answer it, rather than not enough typed.
    """

    part: str
    why: str
    remedy: str
    unanswerable: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a plan says.

    Attributes:
        asked: the numbers that it is for.
        assumptions: what its figures rest on.
        decision: which comparisons to make.
        candidates: for the anchor, the most informative first; empty without a pilot.
        anchor: the one that the figures are for; None where none is known.
        samples: items for each edge.
        gaps: the smallest edges that the planned items tell.
        gap_elo: the asked edge in Elo.
        lines: designs and their costs.
        cheapest: which of them costs least for the asked edge, in a sentence; None where unknown.
        methods: of the intervals, or why there is none, by part.
        missing: parts that were not answered.
        provenance: sources, options and versions.
    """

    asked: Mapping[str, Any]
    assumptions: tuple[str, ...]
    decision: Decision
    candidates: tuple[Candidate, ...]
    anchor: str | None
    samples: tuple[Sample, ...]
    gaps: tuple[Gap, ...]
    gap_elo: float
    lines: tuple[Line, ...]
    cheapest: str | None
    methods: Mapping[str, str]
    missing: tuple[Missing, ...]
    provenance: Mapping[str, Any]

    @property
    def partly(self) -> bool:
        """Whether data were given that cannot answer a part."""
        return any(one.unanswerable for one in self.missing)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {"podium": FORMAT_VERSION, "plan": asdict(self)}

    def to_json(self) -> str:
        """Return a JSON document without NaN or infinity."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False, ensure_ascii=False, default=plain)
