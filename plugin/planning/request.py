"""What is planned, and what is noted on the way."""

from dataclasses import dataclass, field

from podium.planning.plan import Quantity, Tariff, Unanswered
from podium.planning.precision import elo_of_edge


@dataclass(frozen=True, slots=True)
class Request:
    """What is planned: the arguments of `make_plan`, the number of entrants and the share of ties filled in."""

    entrants: int
    items: int | None
    ties: Quantity
    informativeness: float | None
    edge: float
    alpha: float
    power: float
    level: float
    tariff: Tariff
    seed: int
    simulations: int
    baseline: str | None
    pairs: tuple[tuple[str, str], ...]

    @property
    def gap_elo(self) -> float:
        """The edge to be told in Elo, ties counting half."""
        return elo_of_edge(self.edge, self.ties.value)

    @property
    def share_decided(self) -> Quantity:
        """Share of battles that end in no tie."""
        return self.ties.through(lambda ties: 1 - ties, falling=True)


@dataclass(slots=True)
class Notes:
    """What the parts of a plan say besides their figures.

    Attributes:
        methods: of the intervals, or why there is none, by part.
        unanswered: parts that are not answered, by why, remedy and whether data were given that cannot answer them.
    """

    methods: dict[str, str] = field(default_factory=dict)
    unanswered: dict[tuple[str, str, bool], list[str]] = field(default_factory=dict)

    def lack(self, part: str, why: object, remedy: str, *, unanswerable: bool = False) -> None:
        """Note a part that is not answered; parts with one reason and one remedy stand together."""
        self.unanswered.setdefault((str(why), remedy, unanswerable), []).append(part)

    @property
    def unanswered_parts(self) -> tuple[Unanswered, ...]:
        """The parts that are not answered, in the order in which they were noted."""
        return tuple(Unanswered(", ".join(parts), *reason) for reason, parts in self.unanswered.items())
