"""What is planned, and what is noted on the way."""

from dataclasses import dataclass, field

from podium.planning.costs import Tariff
from podium.planning.plan import Missing
from podium.planning.precision import Known, elo_of_edge


@dataclass(frozen=True, slots=True)
class Wish:
    """What is planned.

    Attributes:
        entrants: how many.
        items: how many; None to find out.
        ties: share of battles that end in a tie, with its interval where a pilot gives one.
        edge: to be told.
        alpha, power: of one-sided tests.
        level: of intervals and rank sets.
        tariff: what a battle takes.
        seed: of everything random.
        simulations: of Wilcoxon's test, per number of items.
        baseline: the entrant that all are to be compared with, if there is one.
        pairs: the only comparisons of interest; empty where everyone is to be ranked.
    """

    entrants: int
    items: int | None
    ties: Known
    edge: float
    alpha: float
    power: float
    level: float
    tariff: Tariff
    seed: int
    simulations: int
    baseline: str | None = None
    pairs: tuple[tuple[str, str], ...] = ()

    @property
    def gap_elo(self) -> float:
        """The edge to be told in Elo, ties counting half."""
        return elo_of_edge(self.edge, self.ties.value)


@dataclass(slots=True)
class Notes:
    """What the parts of a plan say besides their figures.

    Attributes:
        missing: parts that were not answered.
        methods: of the intervals, or why there is none, by part.
    """

    missing: list[Missing] = field(default_factory=list)
    methods: dict[str, str] = field(default_factory=dict)

    def lack(self, part: str, why: object, remedy: str, *, unanswerable: bool = False) -> None:
        """Note a part that is not answered; parts with one reason and one remedy stand together."""
        new = Missing(part, str(why), remedy, unanswerable)
        for k, one in enumerate(self.missing):
            if (one.why, one.remedy, one.unanswerable) == (new.why, remedy, unanswerable):
                self.missing[k] = Missing(f"{one.part}, {part}", new.why, remedy, unanswerable)
                return
        self.missing.append(new)
