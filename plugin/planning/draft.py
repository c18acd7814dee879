"""A plan in the making: what was asked, what the pilot says, and what is noted on the way."""

from dataclasses import dataclass, field

from podium.planning.plan import Quantity, Tariff, Unanswered
from podium.planning.precision import elo_of_edge
from podium.verbs.replays import Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What the parts of a plan are made from, most of it the arguments of `make_plan`.

    Attributes:
        record: of the pilot, if there is one.
        ties: share of battles that end in one.
        anchor: who is to be the anchor; None to let a pilot choose.
        share: of items that tell two entrants apart through the anchor; None where unknown.
        methods: of the intervals, or why there is none, by part.
        unanswered: parts that are not answered, by why, remedy and whether data were given that cannot answer them.
    """

    record: Recording | None
    entrants: int
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
