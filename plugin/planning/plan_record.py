"""The records of a plan: what is asked, what a design costs and detects, and what could not be
answered."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from podium.documents import Document
from podium.errors import UsageError, unknown_name
from podium.format_version import FORMAT_VERSION
from podium.rankers.estimate import Estimate
from podium.scorers.battle import ORDERS, Orders, judgments
from podium.tournaments.judge_rotation import read_shares

if TYPE_CHECKING:
    from podium.planning.replays import Recording

UNITS = ("tokens_in", "tokens_out", "price_in", "price_out")


@dataclass(frozen=True, slots=True)
class Tariff:
    """Orders and repeats of one battle, tokens of a judge call, and prices of a million tokens,
    None if unknown; `judges` is how many judge each battle, or `rotate:` with a weight for each of
    those that take turns."""

    orders: Orders = "both"
    repeats: int = 1
    tokens_in: float | None = None
    tokens_out: float | None = None
    price_in: float | None = None
    price_out: float | None = None
    judges: str = "1"
    overlap: float = 0.0

    def __post_init__(self) -> None:
        if self.orders not in ORDERS:
            raise unknown_name("orders", self.orders, ORDERS)
        if self.repeats < 1:
            raise UsageError(f"there must be at least one repeat, not {self.repeats}")
        for name in UNITS:
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise UsageError(f"{name}={value}: give a number of 0 or more")
        if self.judges.isdecimal() and self.overlap:
            raise UsageError("--overlap is for judges that take turns: write --judges rotate:1,1,1")
        if self.judges in ("all", "rotate") or not self.shares:
            ways = "write a number of judges, or rotate:2,1,1 with a weight for each"
            raise UsageError(f"--judges {self.judges}: {ways}")

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of the battles that each judge judges."""
        if self.judges.isdecimal():
            return (1.0,) * int(self.judges)
        *alone, together = read_shares(self.judges, self.overlap, self.judges.count(",") + 1)
        return tuple(share + together for share in alone)

    @property
    def calls(self) -> int:
        """Calls of a judge for one battle."""
        return len(judgments("", "a", "b", orders=self.orders, repeats=self.repeats))

    def cost(self, battles: int) -> "BattleCosts":
        """Return what a number of battles costs, over all judges."""
        calls = sum(ceil(round(battles * share, 6)) * self.calls for share in self.shares)
        sides = ((self.tokens_in, self.price_in), (self.tokens_out, self.price_out))
        used = [None if tokens is None else calls * tokens for tokens, _ in sides]
        paid = [
            calls * tokens * price / 1e6
            for tokens, price in sides
            if tokens is not None and price is not None
        ]
        return BattleCosts(battles, calls, used[0], used[1], sum(paid) if len(paid) == 2 else None)


@dataclass(frozen=True, slots=True)
class BattleCosts:
    """What a number of battles costs, None if tokens or prices are unknown."""

    battles: int
    calls: int
    tokens_in: float | None
    tokens_out: float | None
    money: float | None

    @property
    def total(self) -> float:
        """Money, or calls if no price is known, to compare costs of one tariff."""
        return self.money or self.calls


@dataclass(frozen=True, slots=True)
class Decision:
    """The result of the decision tree: a kind of design, advice, and the questions that led to it
    with answers."""

    design: Literal["baseline", "round_robin", "pairs", "ranking"]
    advice: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnchorCandidate:
    """A possible anchor, and the share of pairs of others that it distinguishes."""

    anchor: str
    informativeness: Estimate
    pairs: int
    rank_low: int | None
    rank_high: int | None
    advice: str


@dataclass(frozen=True, slots=True)
class SampleSize:
    """Items that detect an edge: the share of decided items that the better model wins, minus a
    half.

    `informative` (sign-test formula) counts decided items, the rest all items: with ties lost
    (`direct`), with equal verdicts against an anchor lost (`anchored`), and by Wilcoxon's test
    through an anchor.
    """

    edge: float
    informative: int
    direct: Estimate
    anchored: Estimate | None
    wilcoxon: int | None


@dataclass(frozen=True, slots=True)
class SmallestEdge:
    """The smallest edge that the planned items detect; `how` is `direct` or through an `anchor`."""

    how: str
    share: Estimate
    edge: Estimate | None


@dataclass(frozen=True, slots=True)
class PricedDesign:
    """A design in the table of costs: `error`, `gap` (Elo) on the planned items, `items` that
    detect the asked edge."""

    design: str
    planned: BattleCosts | None
    error: Estimate | None = None
    gap: Estimate | None = None
    items: Estimate | None = None
    needed: BattleCosts | None = None
    needed_low: BattleCosts | None = None
    needed_high: BattleCosts | None = None


@dataclass(frozen=True, slots=True)
class ComparedSize:
    """Items on which `podium compare` detects a difference, two-sided, with the power at that
    number of items."""

    difference: str
    test: str
    spread: str
    items: int
    power: float


@dataclass(frozen=True, slots=True)
class UnansweredPart:
    """A part of the plan that was not answered; `unanswerable` if data were given that cannot
    answer it."""

    part: str
    why: str
    remedy: str
    unanswerable: bool


@dataclass(frozen=True, slots=True)
class Plan(Document):
    """A whole plan; `gap_elo` is the asked edge in Elo, `lines` a design each, `cheapest` the one
    that detects it at the least cost, `methods` those of intervals by part."""

    asked: Mapping[str, Any]
    assumptions: tuple[str, ...]
    decision: Decision
    candidates: tuple[AnchorCandidate, ...]
    anchor: str | None
    samples: tuple[SampleSize, ...]
    gaps: tuple[SmallestEdge, ...]
    gap_elo: float
    lines: tuple[PricedDesign, ...]
    cheapest: str | None
    methods: Mapping[str, str]
    missing: tuple[UnansweredPart, ...]
    provenance: Mapping[str, Any]
    compared: ComparedSize | None = None

    @property
    def is_partial(self) -> bool:
        """Whether data were given that cannot answer a part."""
        return any(part.unanswerable for part in self.missing)

    def to_dict(self) -> dict[str, Any]:
        return {"podium": FORMAT_VERSION, "plan": asdict(self)}


def elo_of_edge(edge: float, ties: float) -> float:
    """Return the gap in Elo of two models when one wins 1/2 + edge of what the judge decides, ties
    counting half."""
    rate = 0.5 + edge * (1 - ties)
    return float(400 * np.log10(rate / (1 - rate))) if rate < 1 else float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What a plan is for, as `make_plan` takes it (`record` is the pilot); its parts add to
    `methods` and `missing`."""

    record: "Recording | None"
    models: int
    items: int | None
    ties: Estimate
    edge: float
    alpha: float
    power: float
    level: float
    tariff: Tariff
    seed: int
    baseline: str | None
    pairs: tuple[tuple[str, str], ...]
    anchor: str | None = None
    share: Estimate | None = None
    methods: dict[str, str] = field(default_factory=dict)
    missing: list[UnansweredPart] = field(default_factory=list)

    @property
    def test(self) -> dict[str, float]:
        """Error rate and power of the one-sided tests."""
        return {"alpha": self.alpha, "power": self.power}

    @property
    def share_decided(self) -> Estimate:
        """Share of battles that do not end in a tie."""
        return self.ties.transform(lambda ties: 1 - ties, decreasing=True)

    def leave_out(self, part: str, why: object, remedy: str, *, unanswerable: bool = False) -> None:
        self.missing.append(UnansweredPart(part, str(why), remedy, unanswerable))
