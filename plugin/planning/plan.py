"""The nouns of a plan: what is asked, what a design costs, what it will tell, and what could not be answered."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from podium.errors import UsageError, unknown_name
from podium.format_version import FORMAT_VERSION
from podium.scorers.battle import ORDERS, Orders, judgments
from podium.text import Document
from podium.verbs.replays import Recording

UNITS = ("tokens_in", "tokens_out", "price_in", "price_out")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure with its interval; ends are None where there is none."""

    value: float
    low: float | None = None
    high: float | None = None

    def through(self, function: Callable[[float], Any], *, falling: bool = False) -> "Quantity":
        """Pass the figure and its interval through a monotone function; a falling one turns the ends around."""
        ends = (self.high, self.low) if falling else (self.low, self.high)
        return Quantity(function(self.value), *(None if end is None else function(end) for end in ends))


@dataclass(frozen=True, slots=True)
class Tariff:
    """What one battle takes.

    Attributes:
        orders, repeats: which judgments make a battle.
        tokens_in, tokens_out: per judge call; None where unknown.
        price_in, price_out: per million tokens, in the user's currency; None where unknown.

    Raises:
        UsageError: a number below 0, no repeat, or unknown orders.
    """

    orders: Orders = "both"
    repeats: int = 1
    tokens_in: float | None = None
    tokens_out: float | None = None
    price_in: float | None = None
    price_out: float | None = None

    def __post_init__(self) -> None:
        if self.orders not in ORDERS:
            raise unknown_name("orders", self.orders, ORDERS)
        if self.repeats < 1:
            raise UsageError(f"there must be at least one repeat, not {self.repeats}")
        for name in UNITS:
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise UsageError(f"{name}={value}: give a number of 0 or more")

    @property
    def calls(self) -> int:
        """Judge calls for one battle."""
        return len(judgments("", "a", "b", orders=self.orders, repeats=self.repeats))

    @property
    def unknown_units(self) -> tuple[str, ...]:
        """What would have to be known to say what a call costs."""
        return tuple(name for name in UNITS if getattr(self, name) is None)

    def bill(self, battles: int) -> "Bill":
        """Return what so many battles cost."""
        calls = battles * self.calls
        sides = ((self.tokens_in, self.price_in), (self.tokens_out, self.price_out))
        used = [None if tokens is None else calls * tokens for tokens, _ in sides]
        paid = [None if tokens is None or price is None else calls * tokens * price / 1e6 for tokens, price in sides]
        money = None if paid[0] is None or paid[1] is None else paid[0] + paid[1]
        return Bill(battles, calls, used[0], used[1], money)


@dataclass(frozen=True, slots=True)
class Bill:
    """What a number of battles costs; None where tokens or prices are unknown."""

    battles: int
    calls: int
    tokens_in: float | None
    tokens_out: float | None
    money: float | None

    @property
    def tokens(self) -> float | None:
        """In and out together."""
        return None if self.tokens_in is None or self.tokens_out is None else self.tokens_in + self.tokens_out

    @property
    def total(self) -> float:
        """Money, or calls where they cost none that is known: by it bills of one tariff compare."""
        return self.money or self.calls


@dataclass(frozen=True, slots=True)
class Step:
    """A question of the decision tree, and how it was answered."""

    question: str
    answer: str
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """Where the decision tree leads, what to do in a sentence, and the questions on the way.

    The design is `baseline` (all against it, nothing said of other pairs), `round_robin`, `pairs` (only those asked
    about) or `ranking` (of everyone: an anchor chosen with care, or a design without one).
    """

    design: Literal["baseline", "round_robin", "pairs", "ranking"]
    advice: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model as the anchor.

    Attributes:
        informativeness: share of pairs of others that its verdicts tell apart, item by item.
        three_level: the same of win, tie and loss.
        pairs: compared, over all items.
        rank_low, rank_high: its simultaneous rank set among the candidates, None where nothing can be said.
        advice: in a few words.
    """

    anchor: str
    informativeness: Quantity
    three_level: Quantity | None
    pairs: int
    rank_low: int | None
    rank_high: int | None
    advice: str


@dataclass(frozen=True, slots=True)
class SimulatedSize:
    """A number of items found by simulation: the smallest at which the simulated power reaches the promise.

    Attributes:
        low, high: the smallest at which the promise lies within, and below, the power's interval: between them lies
            the true one at `level` (Monte-Carlo error alone, Wilson).
        power: simulated at `items`.
        simulations: per number of items.
        distributions: that were drawn from.
    """

    items: int
    low: int
    high: int
    level: float
    power: float
    simulations: int
    distributions: int


@dataclass(frozen=True, slots=True)
class SampleSize:
    """Items that tell an edge: the share of decided items that the better model wins, minus a half.

    Attributes:
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
    direct: Quantity
    anchored: Quantity | None
    wilcoxon: SimulatedSize | None


@dataclass(frozen=True, slots=True)
class Gap:
    """The smallest edge that the planned items tell, `direct` or through an `anchor`.

    Attributes:
        share: of the items that are informative.
        edge: None where so few items tell none.
        elo: what that is in Elo; None where unknown or unbounded.
    """

    how: str
    share: Quantity
    edge: Quantity | None
    elo: Quantity | None


@dataclass(frozen=True, slots=True)
class PricedDesign:
    """A design in the table of costs.

    Attributes:
        planned: what the planned items cost; None without a number of items.
        error: standard error of the difference of a typical pair on the planned items, Elo.
        gap: smallest difference of a typical pair that the planned items tell, Elo.
        rank_width: mean number of ranks in a model's rank set on the planned items.
        items: on which the asked edge is told.
        needed: what those cost; `needed_low` and `needed_high` at the ends of that interval.
    """

    design: str
    planned: Bill | None
    error: Quantity | None = None
    gap: Quantity | None = None
    rank_width: Quantity | None = None
    items: Quantity | None = None
    needed: Bill | None = None
    needed_low: Bill | None = None
    needed_high: Bill | None = None


@dataclass(frozen=True, slots=True)
class AnsweredDesign:
    """What a tournament takes that stops when a question is answered, in imagined runs.

    Attributes:
        usual: what a run costs on average; `most` what nine of ten cost at most.
        answered, wrong: shares of the runs that get an answer, and in which a claim is wrong, in [0, 1].
    """

    design: str
    usual: Bill
    most: Bill
    answered: float
    wrong: float
    runs: int


@dataclass(frozen=True, slots=True)
class ComparedSize:
    """Items on which `podium compare` tells a difference, two-sided.

    Attributes:
        difference: as it was asked for, `2points`.
        test: what is done then.
        spread: what the differences of items were taken to be, in words.
        items: the smallest number with the power that was asked for.
        power: at that number: how often the better one is told.
        level: of the interval that excludes 0.
    """

    difference: str
    test: str
    spread: str
    items: int
    power: float
    level: float


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A part that was not answered, why, and what would answer it.

    It is unanswerable where data were given that cannot answer it, and not just too little was typed.
    """

    part: str
    why: str
    remedy: str
    unanswerable: bool


@dataclass(frozen=True, slots=True)
class Plan(Document):
    """All that a plan says.

    Attributes:
        asked: the numbers that it is for.
        assumptions: what its figures rest on.
        candidates: for the anchor, the most informative first; empty without a pilot.
        anchor: the one that the figures are for; None where none is known.
        gap_elo: the asked edge in Elo.
        cheapest: which design costs least for the asked edge, in a sentence; None where unknown.
        methods: of the intervals, or why there is none, by part.
        question: until when is played, in words; None where nothing stops a tournament.
        answers: what each tournament takes until then.
        compared: how many items `podium compare` needs to tell a difference; None where none was asked for.
    """

    view = "podium.planning.plan_report:plan_reports"
    asked: Mapping[str, Any]
    assumptions: tuple[str, ...]
    decision: Decision
    candidates: tuple[Candidate, ...]
    anchor: str | None
    samples: tuple[SampleSize, ...]
    gaps: tuple[Gap, ...]
    gap_elo: float
    lines: tuple[PricedDesign, ...]
    cheapest: str | None
    methods: Mapping[str, str]
    missing: tuple[Unanswered, ...]
    provenance: Mapping[str, Any]
    question: str | None = None
    answers: tuple[AnsweredDesign, ...] = ()
    compared: ComparedSize | None = None

    @property
    def is_partial(self) -> bool:
        """Whether data were given that cannot answer a part."""
        return any(part.unanswerable for part in self.missing)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {"podium": FORMAT_VERSION, "plan": asdict(self)}


def elo_of_edge(edge: float, ties: float) -> float:
    """Return the gap in Elo of two models when one wins 1/2 + edge of what the judge decides, ties counting half.

    >>> round(elo_of_edge(0.05, ties=0.0), 1)
    34.9
    """
    rate = 0.5 + edge * (1 - ties)
    return float(400 * np.log10(rate / (1 - rate))) if rate < 1 else float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What the parts of a plan are made from, most of it the arguments of `make_plan`.

    Attributes:
        record: of the pilot, if there is one.
        ties: share of battles that end in one.
        anchor: who is to be the anchor; None to let a pilot choose.
        share: of items that tell two models apart through the anchor; None where unknown.
        methods: of the intervals, or why there is none, by part.
        unanswered: parts that are not answered, by why, remedy and whether data were given that cannot answer them.
    """

    record: Recording | None
    models: int
    items: int | None
    ties: Quantity
    edge: float
    alpha: float
    power: float
    level: float
    tariff: Tariff
    seed: int
    simulations: int
    baseline: str | None
    pairs: tuple[tuple[str, str], ...]
    anchor: str | None = None
    share: Quantity | None = None
    methods: dict[str, str] = field(default_factory=dict)
    unanswered: dict[tuple[str, str, bool], list[str]] = field(default_factory=dict)

    @property
    def gap_elo(self) -> float:
        """The edge to be told in Elo, ties counting half."""
        return elo_of_edge(self.edge, self.ties.value)

    @property
    def test(self) -> dict[str, Any]:
        """Error rate and power of the one-sided tests."""
        return {"alpha": self.alpha, "power": self.power}

    @property
    def share_decided(self) -> Quantity:
        """Share of battles that end in no tie."""
        return self.ties.through(lambda ties: 1 - ties, falling=True)

    def lack(self, part: str, why: object, remedy: str, *, unanswerable: bool = False) -> None:
        """Note a part that is not answered; parts with one reason and one remedy stand together."""
        self.unanswered.setdefault((str(why), remedy, unanswerable), []).append(part)

    @property
    def unanswered_parts(self) -> tuple[Unanswered, ...]:
        """The parts that are not answered, in the order in which they were noted."""
        return tuple(Unanswered(", ".join(parts), *reason) for reason, parts in self.unanswered.items())
