"""Make a plan, part after part, from numbers or from a pilot."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from podium.battles import Battles
from podium.errors import NotIdentifiedError, UsageError, unknown_name
from podium.planning.costs import Design, Tariff, battles_of
from podium.planning.decision import Decision, decide
from podium.planning.differences import Differences, elo_of_lean, recorded_differences, three_levels, with_share
from podium.planning.imagined import MOST_ENTRANTS, SPREAD
from podium.planning.pilot import anchors, candidates, read_pilot, share_of_ties
from podium.planning.plan import Candidate, Gap, Line, Plan, Sample
from podium.planning.precision import Known, elo_of_edge
from podium.planning.pricing import PAIRS, Pricing, cheapest, complement, items_for
from podium.planning.sign_test import (
    check_edge,
    check_test,
    exact_power,
    exactly_needed,
    informative_needed,
    smallest_edge,
)
from podium.planning.wilcoxon import Simulated, simulated_items, with_edge
from podium.planning.wish import Notes, Wish
from podium.progress import track
from podium.rankers.elo import POINTS
from podium.rankers.intervals import check_level
from podium.ranking import provenance
from podium.replays import Recording

EDGES = (0.05, 0.10, 0.15, 0.20, 0.25)
"""Of the paper's Table 2."""
TIES = 0.15
TRUSTED = 100
"""Items of a pilot from which on the distribution of a single pair is one to draw from."""
NO_BOUND = "the formula's, given the assumptions: no data, so no interval"


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
        pilot: battles, or what `read_battles` reads; without it, verdicts are imagined.
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
    _check(entrants, items, edge, alpha, power, level, informativeness)
    record = None if pilot is None else read_pilot(pilot, pilot_items, seed, pool)
    names = record.field.entrants if record else ()
    _check_names(names, baseline, pairs)
    number = entrants or len(names)
    if number < 2:
        raise UsageError("nothing to plan for: give a pilot, or the number of entrants (--entrants, 2 or more)")
    wish = Wish(
        entrants=number,
        items=items,
        ties=_ties(record, ties, level),
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
    return _Planner(wish, record, informativeness).plan()


class _Planner:
    """Answers part after part; what cannot be answered is noted and does not stop the rest."""

    def __init__(self, wish: Wish, record: Recording | None, informativeness: float | None) -> None:
        self.wish = wish
        self.record = record
        self.notes = Notes()
        self.candidates = tuple(self._candidates())
        self.anchor = wish.baseline or next((one.anchor for one in self.candidates), None)
        self.share = self._share(informativeness)

    def plan(self) -> Plan:
        """Answer all parts."""
        samples, gaps = tuple(self._samples()), tuple(self._gaps())
        wish, notes = self.wish, self.notes
        decision = decide(wish.entrants, wish.baseline, wish.pairs)
        lines = tuple(Pricing(wish, self.record, self.anchor, notes).lines())
        asked = {
            "entrants": wish.entrants,
            "items": wish.items,
            "ties": wish.ties,
            "informativeness": self.share,
            "edge": wish.edge,
            "alpha": wish.alpha,
            "power": wish.power,
            "level": wish.level,
            "pilot_items": len(self.record.field.items) if self.record else None,
            "pilot_battles": self.record.battles.counts() if self.record else None,
        }
        return Plan(
            asked=asked,
            assumptions=tuple(self._assumptions()),
            decision=decision,
            candidates=self.candidates,
            anchor=self.anchor,
            samples=samples,
            gaps=gaps,
            gap_elo=wish.gap_elo,
            lines=lines,
            cheapest=cheapest(_of_the_tree(lines, decision)),
            methods=dict(notes.methods),
            missing=tuple(notes.missing),
            provenance=provenance(
                self.record.battles.sources if self.record else (), {"seed": wish.seed, "tariff": asdict(wish.tariff)}
            ),
        )

    def _assumed(self, edge: float) -> Differences:
        """Return the differences that are expected without a pilot."""
        found = three_levels(self.wish.ties.value, edge)
        return with_share(found, self.share.value) if self.share else found

    def _with_edge(self, pool: Sequence[Differences], edge: float) -> tuple[list[Differences], bool]:
        """Return the pilot's distributions of an edge; those of single pairs only where there are items enough."""
        items = len(self.record.field.items) if self.record else 0
        return with_edge(pool, edge, recorded=items >= TRUSTED)

    def _candidates(self) -> Iterator[Candidate]:
        """Yield the pilot's entrants as anchors, the most informative first."""
        part = "informativeness of the candidates for the anchor"
        if self.record is None:
            size = self._pilot_size()
            calls = size * self.wish.tariff.calls
            self.notes.lack(
                part, "there is no pilot", f"play 10 items ({size:,} battles, {calls:,} calls) and plan from them"
            )
            return
        try:
            standings = anchors(self.record, level=self.wish.level, seed=self.wish.seed)
        except NotIdentifiedError as error:
            self.notes.lack(part, error, "play a pilot in which every entrant meets every other", unanswerable=True)
            return
        how = (
            f"{100 * standings.level:g}%, {standings.interval}" if standings.interval else "no interval: a single item"
        )
        self.notes.methods["informativeness"] = how
        yield from candidates(standings)

    def _pilot_size(self) -> int:
        """Return the battles of a pilot of ten items."""
        names = [f"entrant {k}" for k in range(self.wish.entrants)]
        return battles_of(Design("pilot", "anchor", {"pilot": 10}), names, 10)

    def _share(self, given: float | None) -> Known | None:
        """Return the share of items that tell two entrants apart through the anchor."""
        if given is not None:
            return Known(given)
        if self.record is None:
            return Known(three_levels(self.wish.ties.value, 0.0).informative)
        chosen = next((one for one in self.candidates if one.anchor == self.anchor), None)
        if chosen is None:
            self.notes.lack(
                "items through an anchor",
                "the pilot says nothing about an anchor's informativeness",
                "give --informativeness, or play a pilot",
                unanswerable=True,
            )
        elif not chosen.informativeness.value:
            self.notes.lack(
                "items through an anchor",
                f"{self.anchor} tells no two entrants of the pilot apart",
                "take another anchor, or play a larger pilot",
                unanswerable=True,
            )
            return None
        return chosen.informativeness if chosen else None

    def _samples(self) -> Iterator[Sample]:
        wish = self.wish
        pool = list(recorded_differences(self.record)) if self.record else []
        self._tell_samples(pool)
        for edge in track(sorted({*EDGES, wish.edge}), "sample sizes"):
            informative = informative_needed(edge, alpha=wish.alpha, power=wish.power)
            yield Sample(
                edge=edge,
                informative=informative,
                exact_power=float(exact_power(informative, edge, alpha=wish.alpha)),
                exact=exactly_needed(edge, alpha=wish.alpha, power=wish.power),
                direct=items_for(informative, complement(wish.ties)),
                anchored=items_for(informative, self.share) if self.share else None,
                wilcoxon=self._wilcoxon(pool, edge),
            )

    def _wilcoxon(self, pool: Sequence[Differences], edge: float) -> Simulated | None:
        wish = self.wish
        if self.record is None and edge >= 0.5:
            return None
        near = self._with_edge(pool, edge)[0] if self.record else [self._assumed(edge)]
        if not near:
            return None
        how = {"alpha": wish.alpha, "power": wish.power, "level": wish.level}
        found = simulated_items(near, **how, simulations=wish.simulations, seed=wish.seed)
        if found is None:
            why = f"of the pilot's {len(near)} pairs with this edge, some win more often but lose by more"
            remedy = "count signs, or play a larger pilot"
            self.notes.lack(f"items by Wilcoxon's test at {edge:+.0%}", why, remedy, unanswerable=True)
        return found

    def _sign_method(self) -> str:
        """Say where the intervals of the sign test come from, or why there are none."""
        if self.record is None:
            return NO_BOUND
        shares = {"direct": self.wish.ties, "by anchor": self.share}
        bare = [name for name, share in shares.items() if share is not None and share.low is None]
        single = len(self.record.field.items) == 1
        why = "the pilot is a single item" if single else "the share was given, not measured"
        told = f"; none {' and '.join(bare)}: {why}" if bare else ""
        return f"{100 * self.wish.level:g}%, from that of the share that decides (by item){told}"

    def _tell_samples(self, pool: Sequence[Differences]) -> None:
        wish = self.wish
        self.notes.methods["sign test"] = self._sign_method()
        told = f"{100 * wish.level:g}% Monte-Carlo interval, {wish.simulations:,} samples a size; differences "
        if self.record is None:
            self.notes.methods["wilcoxon"] = told + "of win, tie and loss against an anchor in the middle, drawn apart"
        elif pool:
            own = [f"{edge:+.0%}" for edge in sorted({*EDGES, wish.edge}) if self._with_edge(pool, edge)[1]]
            theirs = f"as recorded for pairs with such an edge ({', '.join(own)}), else " if own else ""
            rest = "as large as those of all pairs of the pilot, wins and losses alike"
            self.notes.methods["wilcoxon"] = told + theirs + rest
        else:
            why = "no item of the pilot has two readable verdicts against one anchor"
            self.notes.lack("items by Wilcoxon's test", why, "play several entrants on each item", unanswerable=True)

    def _gaps(self) -> Iterator[Gap]:
        wish = self.wish
        if wish.items is None:
            self.notes.lack("the smallest gap at the planned size", "no number of items was given", "give --items")
            return
        for how, share in (("direct", complement(wish.ties)), ("anchor", self.share)):
            if share is None:
                continue
            edge = self._smallest(share)
            yield Gap(how, share, edge, None if edge is None else self._elo(how, edge))

    def _smallest(self, share: Known) -> Known | None:
        wish = self.wish
        # A larger share tells a smaller edge.
        found = [
            None if one is None else smallest_edge(wish.items or 0, one, alpha=wish.alpha, power=wish.power)
            for one in (share.value, share.high, share.low)
        ]
        return None if found[0] is None else Known(found[0], found[1], found[2])

    def _elo(self, how: str, edge: Known) -> Known | None:
        """Return an edge in Elo, with the interval that the edge's gives; None where it is out of reach."""
        value, low, high = (
            None if one is None else self._in_elo(how, one) for one in (edge.value, edge.low, edge.high)
        )
        return None if value is None else Known(value, low, high)

    def _in_elo(self, how: str, edge: float) -> float | None:
        try:
            found = elo_of_edge(edge, self.wish.ties.value) if how == "direct" else elo_of_lean(self._assumed(edge))
        except UsageError:
            return None
        return found if np.isfinite(found) else None

    def _assumptions(self) -> Iterator[str]:
        wish = self.wish
        if self.record is None:
            spread = f"{SPREAD * POINTS:.0f} Elo"
            yield f"{wish.ties.value:.0%} of verdicts are ties; win, tie and loss are drawn apart for any two entrants"
            yield "the anchor is of middling strength: a strong or a weak one tells less, and a pilot finds it out"
            if wish.entrants <= MOST_ENTRANTS:
                yield (
                    f"strengths vary between entrants with a standard deviation of {spread}, and from item to item "
                    "with as much; the judge errs by a logistic error"
                )
        else:
            yield "items to come are like the pilot's, and the judge is the same"
            if self.anchor and self.anchor != self.wish.baseline:
                yield f"{self.anchor} was chosen as the anchor by these very data, which may flatter it"
        yield (
            "items needed and errors are of chance alone: what a design gets wrong however many items it has, "
            "`podium replay --study` shows"
        )


def _of_the_tree(lines: Sequence[Line], decision: Decision) -> list[Line]:
    """Return the designs that answer the question asked: not all tell of a baseline, or of single pairs."""
    start = {"baseline": "anchor ", "pairs": PAIRS}.get(decision.design, "")
    return [line for line in lines if line.design.startswith(start)]


def _ties(record: Recording | None, given: float | None, level: float) -> Known:
    """Return the share of ties: as given, else the pilot's, else the usual one.

    Raises:
        UsageError: it is not in [0, 1).
        NotIdentifiedError: nothing in the pilot is readable, or every verdict is a tie.
    """
    if given is None:
        return Known(TIES) if record is None else share_of_ties(record, level)
    if not 0 <= given < 1:
        raise UsageError(f"ties={given} is not in [0, 1)")
    return Known(given)


def _check(
    entrants: int | None,
    items: int | None,
    edge: float,
    alpha: float,
    power: float,
    level: float,
    informativeness: float | None,
) -> None:
    check_edge(edge)
    check_test(alpha, power)
    check_level(level)
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
