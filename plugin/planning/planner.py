"""Make a plan, part after part, from numbers or from a pilot."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from podium.battles import Battles
from podium.errors import NotIdentifiedError, UsageError, unknown_name
from podium.planning.cost import PAIRS, Pricing, battles_of, cheapest_design, items_for, stand_in_names
from podium.planning.decision import decide
from podium.planning.differences import Differences, elo_of_lean, recorded_differences, select_edge, three_levels
from podium.planning.pilots import anchor_candidates, read_pilot, share_of_ties
from podium.planning.plan import (
    Candidate,
    Gap,
    Plan,
    Quantity,
    SampleSize,
    SimulatedSize,
    Tariff,
    TournamentDesign,
)
from podium.planning.precision import (
    MOST_ENTRANTS,
    SPREAD,
    elo_of_edge,
)
from podium.planning.request import Notes, Request
from podium.planning.sample_size import (
    check_edge,
    check_test,
    exact_power,
    exactly_needed,
    informative_needed,
    simulated_items,
    smallest_edge,
)
from podium.progress import track
from podium.rank_battles import rank
from podium.rankers.intervals import check_level
from podium.rankers.scale import POINTS
from podium.ranking import provenance
from podium.replays import Recording

EDGES = (0.05, 0.10, 0.15, 0.20, 0.25)
"""Of the paper's Table 2."""
TIES = 0.15
TRUSTED = 100
"""Items of a pilot from which on the distribution of a single pair is one to draw from."""


def make_plan(
    pilot: Battles | pd.DataFrame | str | Path | None = None,
    *,
    entrants: int | None = None,
    items: int | None = None,
    ties: float | None = None,
    informativeness: float | None = None,
    edge: float = 0.05,
    alpha: float = 0.05,
    power: float = 0.8,
    baseline: str | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    pilot_items: int | None = None,
    tariff: Tariff | None = None,
    level: float = 0.95,
    seed: int = 0,
    simulations: int = 10_000,
    pool: bool = False,
) -> Plan:
    """Plan a comparison from numbers, or from a pilot's battles.

    Args:
        pilot: battles, or what `read_battles` reads; without it, verdicts are simulated.
        entrants: how many will compete; by default those of the pilot.
        items: how many are planned; without it, only what the asked edge needs is said.
        ties: expected share of battles that end in a tie; by default the pilot's, else 0.15.
        informativeness: share of items that tell two entrants apart through an anchor; by default the pilot's.
        edge: to be told: the better entrant wins 1/2 + edge of the items that decide.
        alpha, power: of one-sided tests.
        baseline: the entrant that all are to be compared with, if there is one.
        pairs: the only comparisons of interest, if not everyone is to be ranked.
        pilot_items: use so many items of the pilot, drawn at random.
        tariff: what a battle takes.
        level: of intervals and rank sets.
        seed: of everything random.
        simulations: of Wilcoxon's test, per number of items.
        pool: take the verdicts of several judges together.

    Raises:
        UsageError: a number out of its range, an unknown name, or neither a pilot nor a number of entrants.
        NotIdentifiedError: several judges in the pilot, or no items.
    """
    check_edge(edge)
    check_test(alpha, power)
    check_level(level)
    _check_numbers(entrants, items, informativeness)
    record = None if pilot is None else read_pilot(pilot, pilot_items, seed, pool)
    names = record.field.entrants if record else ()
    _check_names(names, baseline, pairs)
    number = entrants or len(names)
    if number < 2:
        raise UsageError("nothing to plan for: give a pilot, or the number of entrants (--entrants, 2 or more)")
    request = Request(
        entrants=number,
        items=items,
        ties=_expected_ties(record, ties, level),
        informativeness=informativeness,
        edge=edge,
        alpha=alpha,
        power=power,
        level=level,
        tariff=tariff or Tariff(),
        seed=seed,
        simulations=simulations,
        baseline=baseline,
        pairs=tuple(pairs),
    )
    return _Planner(request, record).plan()


class _Planner:
    """Answers part after part; what cannot be answered is noted and does not stop the rest.

    Attributes:
        anchor: who is to be the anchor; None to let a pilot choose.
        share: of items that tell two entrants apart through the anchor; None where unknown.
    """

    def __init__(self, request: Request, record: Recording | None) -> None:
        self.request = request
        self.record = record
        self.notes = Notes()
        self.candidates = tuple(self._candidates())
        self.anchor = request.baseline or next((candidate.anchor for candidate in self.candidates), None)
        self.share = self._share()

    def plan(self) -> Plan:
        """Answer all parts."""
        request, record = self.request, self.record
        samples, gaps = tuple(self._samples()), tuple(self._gaps())
        lines = tuple(Pricing(request, record, self.anchor, self.notes).lines())
        decision = decide(request.entrants, request.baseline, request.pairs)
        # Not all designs tell of a baseline, or of single pairs.
        telling = {"baseline": "anchor ", "pairs": PAIRS}.get(decision.design, "")
        return Plan(
            asked={
                "entrants": request.entrants,
                "items": request.items,
                "ties": request.ties,
                "informativeness": self.share,
                "edge": request.edge,
                "alpha": request.alpha,
                "power": request.power,
                "level": request.level,
                "pilot_items": len(record.field.items) if record else None,
                "pilot_battles": record.battles.counts() if record else None,
            },
            assumptions=tuple(self._assumptions()),
            decision=decision,
            candidates=self.candidates,
            anchor=self.anchor,
            samples=samples,
            gaps=gaps,
            gap_elo=request.gap_elo,
            lines=lines,
            cheapest=cheapest_design([line for line in lines if line.design.startswith(telling)]),
            methods=self.notes.methods,
            missing=self.notes.unanswered_parts,
            provenance=provenance(
                record.battles.sources if record else (), {"seed": request.seed, "tariff": asdict(request.tariff)}
            ),
        )

    def _candidates(self) -> Iterator[Candidate]:
        """Yield the pilot's entrants as anchors, the most informative first."""
        part, request = "informativeness of the candidates for the anchor", self.request
        if self.record is None:
            size = battles_of(TournamentDesign("pilot", "anchor", {"pilot": 10}), stand_in_names(request.entrants), 10)
            calls = size * request.tariff.calls
            remedy = f"play 10 items ({size:,} battles, {calls:,} calls) and plan from them"
            self.notes.lack(part, "there is no pilot", remedy)
            return
        battles = self.record.battles
        try:
            ranking = rank(battles, "informativeness", level=request.level, seed=request.seed, pool=True)
        except NotIdentifiedError as error:
            self.notes.lack(part, error, "play a pilot in which every entrant meets every other", unanswerable=True)
            return
        standings = ranking.standings[0]
        interval = f"{100 * standings.level:g}%, {standings.interval}"
        self.notes.methods["informativeness"] = interval if standings.interval else "no interval: a single item"
        yield from anchor_candidates(standings)

    def _share(self) -> Quantity | None:
        """Return the share of items that tell two entrants apart through the anchor."""
        if self.request.informativeness is not None:
            return Quantity(self.request.informativeness)
        if self.record is None:
            return Quantity(three_levels(self.request.ties.value, 0.0).informative)
        share = next((each.informativeness for each in self.candidates if each.anchor == self.anchor), None)
        if share is not None and share.value:
            return share
        why = f"{self.anchor} tells no two entrants of the pilot apart"
        remedy = "take another anchor, or play a larger pilot"
        if share is None:
            why, remedy = (
                "the pilot says nothing about an anchor's informativeness",
                "give --informativeness, or play a pilot",
            )
        self.notes.lack("items through an anchor", why, remedy, unanswerable=True)
        return None

    def _samples(self) -> Iterator[SampleSize]:
        """Yield the items that tell each edge of Table 2, and the one asked for."""
        request = self.request
        pool = list(recorded_differences(self.record)) if self.record else []
        edges = sorted({*EDGES, request.edge})
        self.notes.methods["sign test"] = self._sign_method()
        self._explain_wilcoxon(pool, edges)
        for edge in track(edges, "sample sizes"):
            informative = informative_needed(edge, alpha=request.alpha, power=request.power)
            yield SampleSize(
                edge=edge,
                informative=informative,
                exact_power=float(exact_power(informative, edge, alpha=request.alpha)),
                exact=exactly_needed(edge, alpha=request.alpha, power=request.power),
                direct=items_for(informative, self.request.share_decided),
                anchored=items_for(informative, self.share) if self.share else None,
                wilcoxon=self._wilcoxon(pool, edge),
            )

    def _with_edge(self, pool: Sequence[Differences], edge: float) -> tuple[list[Differences], bool]:
        """Return the pilot's distributions of an edge; those of single pairs only where there are items enough."""
        return select_edge(pool, edge, single=self.record is not None and len(self.record.field.items) >= TRUSTED)

    def _expected_differences(self, edge: float) -> Differences:
        """Return the differences that are expected without a pilot."""
        differences = three_levels(self.request.ties.value, edge)
        return differences.with_share(self.share.value) if self.share else differences

    def _wilcoxon(self, pool: Sequence[Differences], edge: float) -> SimulatedSize | None:
        """Return the items by Wilcoxon's test, None where nothing like this edge is known or no number is enough."""
        request = self.request
        if self.record is None and edge >= 0.5:
            return None
        near = self._with_edge(pool, edge)[0] if self.record else [self._expected_differences(edge)]
        if not near:
            return None
        test = {"alpha": request.alpha, "power": request.power, "level": request.level}
        size = simulated_items(near, **test, simulations=request.simulations, seed=request.seed)
        if size is None:
            why = f"of the pilot's {len(near)} pairs with this edge, some win more often but lose by more"
            remedy = "count signs, or play a larger pilot"
            self.notes.lack(f"items by Wilcoxon's test at {edge:+.0%}", why, remedy, unanswerable=True)
        return size

    def _sign_method(self) -> str:
        """Say where the intervals of the sign test come from, or why there are none."""
        if self.record is None:
            return "the formula's, given the assumptions: no data, so no interval"
        shares = {"direct": self.request.ties, "by anchor": self.share}
        bare = [name for name, share in shares.items() if share is not None and share.low is None]
        single = len(self.record.field.items) == 1
        why = "the pilot is a single item" if single else "the share was given, not measured"
        lacking = f"; none {' and '.join(bare)}: {why}" if bare else ""
        return f"{100 * self.request.level:g}%, from that of the share that decides (by item){lacking}"

    def _explain_wilcoxon(self, pool: Sequence[Differences], edges: Sequence[float]) -> None:
        """Say which differences Wilcoxon's test is simulated with."""
        if self.record is None:
            source = "of win, tie and loss against an anchor in the middle, drawn apart"
        elif pool:
            own = [f"{edge:+.0%}" for edge in edges if self._with_edge(pool, edge)[1]]
            recorded = f"as recorded for pairs with such an edge ({', '.join(own)}), else " if own else ""
            source = f"{recorded}as large as those of all pairs of the pilot, wins and losses alike"
        else:
            why = "no item of the pilot has two readable verdicts against one anchor"
            self.notes.lack("items by Wilcoxon's test", why, "play several entrants on each item", unanswerable=True)
            return
        interval = f"{100 * self.request.level:g}% Monte-Carlo interval, {self.request.simulations:,} samples a size"
        self.notes.methods["wilcoxon"] = f"{interval}; differences {source}"

    def _gaps(self) -> Iterator[Gap]:
        """Yield the smallest edges that the planned items tell, directly and through the anchor."""
        request, items = self.request, self.request.items
        if items is None:
            self.notes.lack("the smallest gap at the planned size", "no number of items was given", "give --items")
            return
        for how, share in (("direct", self.request.share_decided), ("anchor", self.share)):
            if share is None:
                continue
            # A larger share tells a smaller edge.
            edge = share.through(
                lambda part: smallest_edge(items, part, alpha=request.alpha, power=request.power), falling=True
            )
            elo = (
                None
                if edge.value is None
                else edge.through(self._edge_in_elo if how == "direct" else self._lean_in_elo)
            )
            yield Gap(how, share, None if elo is None else edge, elo if elo and elo.value is not None else None)

    def _edge_in_elo(self, edge: float) -> float | None:
        elo = elo_of_edge(edge, self.request.ties.value)
        return elo if np.isfinite(elo) else None

    def _lean_in_elo(self, edge: float) -> float | None:
        """Return an edge through the anchor in Elo; None where it is out of reach."""
        try:
            elo = elo_of_lean(self._expected_differences(edge))
        except UsageError:
            return None
        return elo if np.isfinite(elo) else None

    def _assumptions(self) -> Iterator[str]:
        request = self.request
        if self.record is None:
            ties = f"{request.ties.value:.0%} of verdicts are ties"
            yield f"{ties}; win, tie and loss are drawn apart for any two entrants"
            yield "the anchor is of middling strength: a strong or a weak one tells less, and a pilot finds it out"
            if request.entrants <= MOST_ENTRANTS:
                yield (
                    f"strengths vary between entrants with a standard deviation of {SPREAD * POINTS:.0f} Elo, and from "
                    "item to item with as much; the judge errs by a logistic error"
                )
        else:
            yield "items to come are like the pilot's, and the judge is the same"
            if self.anchor and self.anchor != request.baseline:
                yield f"{self.anchor} was chosen as the anchor by these very data, which may flatter it"
        yield (
            "items needed and errors are of chance alone: what a design gets wrong however many items it has, "
            "`podium replay --study` shows"
        )


def _expected_ties(record: Recording | None, given: float | None, level: float) -> Quantity:
    """Return the share of ties: as given, else the pilot's, else the usual one.

    Raises:
        UsageError: it is not in [0, 1).
        NotIdentifiedError: nothing in the pilot is readable, or every verdict is a tie.
    """
    if given is None:
        return Quantity(TIES) if record is None else share_of_ties(record, level)
    if not 0 <= given < 1:
        raise UsageError(f"ties={given} is not in [0, 1)")
    return Quantity(given)


def _check_numbers(entrants: int | None, items: int | None, informativeness: float | None) -> None:
    if entrants is not None and entrants < 2:
        raise UsageError(f"entrants={entrants}: a comparison needs at least two")
    if items is not None and items < 1:
        raise UsageError(f"items={items}: a comparison needs at least one")
    if informativeness is not None and not 0 < informativeness <= 1:
        raise UsageError(f"informativeness={informativeness} is not in (0, 1]")


def _check_names(names: Sequence[str], baseline: str | None, pairs: Sequence[tuple[str, str]]) -> None:
    for name in [*([baseline] if baseline else []), *(name for pair in pairs for name in pair)]:
        if names and name not in names:
            raise unknown_name("entrant", name, names)
    same = next((a for a, b in pairs if a == b), None)
    if same is not None:
        raise UsageError(f"a pair needs two different entrants, not {same!r} twice")
