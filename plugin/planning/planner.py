"""Make a plan, part after part, from numbers or from a pilot."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from podium.battles import Battles
from podium.errors import NotIdentifiedError, PodiumError, UsageError, unknown_name
from podium.planning.costs import Bill, Design, Tariff, battles_of
from podium.planning.decision import Decision, decide
from podium.planning.differences import Differences, elo_of_lean, recorded_differences, three_levels, with_share
from podium.planning.imagined import MOST_ENTRANTS, SPREAD, WORLDS, middle, worlds
from podium.planning.plan import Candidate, Gap, Line, Missing, Plan, Sample
from podium.planning.precision import Known, Precision, elo_of_edge, of_pilot, of_worlds
from podium.planning.sign_test import (
    check_edge,
    check_test,
    exact_power,
    exactly_needed,
    informative_needed,
    items_needed,
    smallest_edge,
)
from podium.planning.wilcoxon import Simulated, simulated_items, with_edge
from podium.progress import track
from podium.rankers.coded import code
from podium.rankers.elo import POINTS
from podium.rankers.intervals import by_sandwich, check_level, covariance_of
from podium.ranking import Entry, Standings
from podium.ranking_run import provenance, rank
from podium.replay_run import Record, recorded
from podium.text import some
from podium.tournaments.drawing import sampled

EDGES = (0.05, 0.10, 0.15, 0.20, 0.25)
"""Of the paper's Table 2."""
TIES = 0.15
DESIGNS = ("anchor", "round_robin", "swim", "chain")
TRUSTED = 100
"""Items of a pilot from which on the distribution of a single pair is one to draw from."""
NO_BOUND = "the formula's, given the assumptions: no data, so no interval"


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
    record = None if pilot is None else _pilot(pilot, pilot_items, seed, pool)
    names = record.field.entrants if record else ()
    _check_names(names, baseline, pairs)
    number = entrants or len(names)
    if number < 2:
        raise UsageError("nothing to plan for: give a pilot, or the number of entrants (--entrants, 2 or more)")
    wish = Wish(
        number, items, _ties(record, ties, level), edge, alpha, power, level, tariff or Tariff(), seed, simulations
    )
    return _Planner(wish, record, decide(number, baseline, pairs), baseline, tuple(pairs), informativeness).plan()


class _Planner:
    """Answers part after part; what cannot be answered is noted and does not stop the rest."""

    def __init__(
        self,
        wish: Wish,
        record: Record | None,
        decision: Decision,
        baseline: str | None,
        pairs: tuple[tuple[str, str], ...],
        informativeness: float | None,
    ) -> None:
        self.wish = wish
        self.record = record
        self.decision = decision
        self.baseline = baseline
        self.pairs = pairs
        self.missing: list[Missing] = []
        self.methods: dict[str, str] = {}
        self.candidates = tuple(self._candidates())
        self.anchor = baseline or next((one.anchor for one in self.candidates), None)
        self.share = self._share(informativeness)

    def plan(self) -> Plan:
        """Answer all parts."""
        samples, gaps = tuple(self._samples()), tuple(self._gaps())
        lines = tuple(self._lines())
        wish = self.wish
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
            decision=self.decision,
            candidates=self.candidates,
            anchor=self.anchor,
            samples=samples,
            gaps=gaps,
            gap_elo=self.gap_elo,
            lines=lines,
            cheapest=_cheapest(lines),
            methods=dict(self.methods),
            missing=tuple(_together(self.missing)),
            provenance=provenance(
                self.record.battles.sources if self.record else (), {"seed": wish.seed, "tariff": asdict(wish.tariff)}
            ),
        )

    @property
    def gap_elo(self) -> float:
        """The asked edge in Elo, ties counting half."""
        return elo_of_edge(self.wish.edge, self.wish.ties.value)

    def _assumed(self, edge: float) -> Differences:
        """Return the differences that are expected without a pilot."""
        found = three_levels(self.wish.ties.value, edge)
        return with_share(found, self.share.value) if self.share else found

    def _with_edge(self, pool: Sequence[Differences], edge: float) -> tuple[list[Differences], bool]:
        """Return the pilot's distributions of an edge; those of single pairs only where there are items enough."""
        items = len(self.record.field.items) if self.record else 0
        return with_edge(pool, edge, recorded=items >= TRUSTED)

    def lack(self, part: str, why: object, remedy: str, *, unanswerable: bool = False) -> None:
        """Note a part that is not answered."""
        self.missing.append(Missing(part, str(why), remedy, unanswerable))

    def _candidates(self) -> Iterator[Candidate]:
        """Yield the pilot's entrants as anchors, the most informative first."""
        part = "informativeness of the candidates for the anchor"
        if self.record is None:
            size = battles_of(Design("pilot", "anchor", {"pilot": 10}), self._names(), 10)
            calls = size * self.wish.tariff.calls
            self.lack(
                part, "there is no pilot", f"play 10 items ({size:,} battles, {calls:,} calls) and plan from them"
            )
            return
        try:
            found = rank(self.record.battles, "informativeness", level=self.wish.level, seed=self.wish.seed, pool=True)
        except PodiumError as error:
            self.lack(part, error, "play a pilot in which every entrant meets every other", unanswerable=True)
            return
        [standings] = found.standings
        known = [entry for entry in standings.entries if entry.score is not None]
        if standings.interval is None:
            self.methods["informativeness"] = "no interval: a single item"
        else:
            self.methods["informativeness"] = f"{100 * standings.level:g}%, {standings.interval}"
        for entry in known:
            yield _candidate(entry, known[0], standings)

    def _share(self, given: float | None) -> Known | None:
        """Return the share of items that tell two entrants apart through the anchor."""
        if given is not None:
            return Known(given)
        if self.record is None:
            return Known(three_levels(self.wish.ties.value, 0.0).informative)
        chosen = next((one for one in self.candidates if one.anchor == self.anchor), None)
        if chosen is None:
            self.lack(
                "items through an anchor",
                "the pilot says nothing about an anchor's informativeness",
                "give --informativeness, or play a pilot",
                unanswerable=True,
            )
        elif not chosen.informativeness.value:
            self.lack(
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
                direct=_items(informative, _complement(wish.ties)),
                anchored=_items(informative, self.share) if self.share else None,
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
            self.lack(f"items by Wilcoxon's test at {edge:+.0%}", why, remedy, unanswerable=True)
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
        self.methods["sign test"] = self._sign_method()
        told = f"{100 * wish.level:g}% Monte-Carlo interval, {wish.simulations:,} samples a size; differences "
        if self.record is None:
            self.methods["wilcoxon"] = told + "of win, tie and loss against an anchor in the middle, drawn apart"
        elif pool:
            own = [f"{edge:+.0%}" for edge in sorted({*EDGES, wish.edge}) if self._with_edge(pool, edge)[1]]
            theirs = f"as recorded for pairs with such an edge ({', '.join(own)}), else " if own else ""
            rest = "as large as those of all pairs of the pilot, wins and losses alike"
            self.methods["wilcoxon"] = told + theirs + rest
        else:
            why = "no item of the pilot has two readable verdicts against one anchor"
            self.lack("items by Wilcoxon's test", why, "play several entrants on each item", unanswerable=True)

    def _gaps(self) -> Iterator[Gap]:
        wish = self.wish
        if wish.items is None:
            self.lack("the smallest gap at the planned size", "no number of items was given", "give --items")
            return
        for how, share in (("direct", _complement(wish.ties)), ("anchor", self.share)):
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

    def _lines(self) -> Iterator[Line]:
        wish = self.wish
        if self.pairs:
            yield self._pairs_line()
        for design in self._designs():
            yield self._line(design, self._precision(design))
        if wish.items is None:
            self.lack("costs of the planned items", "no number of items was given", "give --items")
        if lacking := wish.tariff.lacking:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in lacking)
            self.lack("tokens and money", "not all of what a call takes and costs is known", f"give {options}")
        if self.record is None and wish.entrants > MOST_ENTRANTS:
            why = f"worlds of more than {MOST_ENTRANTS} entrants are not imagined"
            self.lack("precision and rank sets of the designs", why, "play a pilot and plan from it")
        if self.record is not None and not self._same_entrants:
            why = f"the pilot has {len(self.record.field.entrants)} entrants, the plan {wish.entrants}"
            remedy = "play a pilot with all entrants"
            self.lack("precision and rank sets of the designs", why, remedy, unanswerable=True)

    def _line(self, design: Design, precision: Precision | None) -> Line:
        wish = self.wish
        planned = None if wish.items is None else self._bill(design, wish.items)
        if precision is None:
            return Line(design.label, planned)
        self.methods["precision"] = f"{100 * wish.level:g}%, {precision.method}"
        items = precision.items_for(self.gap_elo, alpha=wish.alpha, power=wish.power)
        line = Line(
            design.label,
            planned,
            items=items,
            needed=self._bill(design, int(items.value)),
            needed_low=None if items.low is None else self._bill(design, int(items.low)),
            needed_high=None if items.high is None else self._bill(design, int(items.high)),
        )
        if wish.items is None:
            return line
        return replace(
            line,
            error=precision.standard_error(wish.items),
            gap=precision.smallest_gap(wish.items, alpha=wish.alpha, power=wish.power),
            rank_width=precision.rank_width(wish.items, level=wish.level, seed=wish.seed),
        )

    def _pairs_line(self) -> Line:
        """Return the direct comparison of the pairs of interest: each is a sign test of its own."""
        wish, number = self.wish, len(self.pairs)
        informative = informative_needed(wish.edge, alpha=wish.alpha, power=wish.power)
        items = _items(informative, _complement(wish.ties))
        return Line(
            "pairs of interest",
            None if wish.items is None else wish.tariff.bill(number * wish.items),
            items=items,
            needed=wish.tariff.bill(number * int(items.value)),
            needed_low=None if items.low is None else wish.tariff.bill(number * int(items.low)),
            needed_high=None if items.high is None else wish.tariff.bill(number * int(items.high)),
        )

    def _designs(self) -> Iterator[Design]:
        for name in DESIGNS:
            if name != "anchor":
                yield Design(name, name, {"seed": self.wish.seed})
            elif self.anchor is None:
                yield Design("anchor, by a pilot", name, {"seed": self.wish.seed})
            else:
                yield Design(f"anchor {self.anchor}", name, {"anchor": self.anchor, "seed": self.wish.seed})

    def _precision(self, design: Design) -> Precision | None:
        """Return the precision of a design; None, and a note of it, where it cannot be known."""
        part = f"precision of {design.label}"
        if not self._same_entrants:
            return None
        try:
            if self.record is not None:
                return of_pilot(design, self.record, level=self.wish.level)
            return None if self.wish.entrants > MOST_ENTRANTS else self._imagined(design)
        except NotIdentifiedError as error:
            remedy = "play a round robin of all entrants as the pilot, on more items"
            self.lack(part, error, remedy, unanswerable=self.record is not None)
            return None

    def _imagined(self, design: Design) -> Precision:
        """Return the precision over imagined worlds, in each of which the anchor is a middling entrant."""
        if not hasattr(self, "_worlds"):
            wish = self.wish
            number = WORLDS if wish.entrants <= 20 else WORLDS // 2
            self._worlds = worlds(
                wish.entrants, ties=wish.ties.value, orders=wish.tariff.orders, seed=wish.seed, number=number
            )
        found = self._worlds

        def of_world(k: int) -> Design:
            settings = {"anchor": middle(found[k])} if design.name == "anchor" else {}
            return replace(design, settings={**design.settings, **settings})

        return of_worlds(of_world, found, level=self.wish.level)

    @property
    def _same_entrants(self) -> bool:
        """Whether the entrants are those of the pilot, if there is one."""
        return self.record is None or len(self.record.field.entrants) == self.wish.entrants

    def _bill(self, design: Design, items: int) -> Bill:
        return self.wish.tariff.bill(battles_of(design, self._names(), items))

    def _names(self) -> tuple[str, ...]:
        """Return names for all entrants: those of the pilot, and as many others as there will be."""
        own = self.record.field.entrants if self.record else ()
        chosen = [self.baseline] if self.baseline and self.baseline not in own else []
        names = [*own, *chosen, *(f"entrant {k}" for k in range(self.wish.entrants))]
        return tuple(dict.fromkeys(names))[: self.wish.entrants]

    def _assumptions(self) -> Iterator[str]:
        wish = self.wish
        if self.record is None:
            spread = f"{SPREAD * POINTS:.0f} Elo"
            yield f"{wish.ties.value:.0%} of verdicts are ties; win, tie and loss are drawn apart for any two entrants"
            if self.anchor is None:
                yield "the anchor is of middling strength: a strong or a weak one tells less, and a pilot finds it out"
            if wish.entrants <= MOST_ENTRANTS:
                yield (
                    f"strengths vary between entrants with a standard deviation of {spread}, and from item to item "
                    "with as much; the judge errs by a logistic error"
                )
        else:
            yield "items to come are like the pilot's, and the judge is the same"
            if self.anchor and self.anchor != self.baseline:
                yield f"{self.anchor} was chosen as the anchor by these very data, which may flatter it"
        yield (
            "items needed and errors are of chance alone: what a design gets wrong however many items it has, "
            "`podium replay --study` shows"
        )


def _candidate(entry: Entry, best: Entry, standings: Standings) -> Candidate:
    if entry is best:
        advice = "take it: the most informative here"
    elif entry.rank_low is None:
        advice = "too few items to say"
    elif entry.rank_low == 1:
        advice = "may be as good"
    else:
        advice = "avoid: less informative"
    informative = Known(entry.score or 0.0, entry.low, entry.high)
    return Candidate(
        entry.model,
        informative,
        informative if "three_level" not in entry.extra else _three_level(entry, standings),
        int(entry.extra.get("pairs") or 0),
        entry.rank_low,
        entry.rank_high,
        advice,
    )


def _three_level(entry: Entry, standings: Standings) -> Known | None:
    """Return the informativeness of win, tie and loss, with its t interval over items."""
    share, se = entry.extra.get("three_level"), entry.extra.get("three_level_se")
    if share is None or se is None or standings.counts.items < 2:
        return None if share is None else Known(share)
    reach = float(stdtrit(standings.counts.items - 1, (1 + standings.level) / 2)) * se
    return Known(share, max(share - reach, 0.0), min(share + reach, 1.0))


def _together(missing: Sequence[Missing]) -> Iterator[Missing]:
    """Yield what was not answered, parts with one reason and one remedy together."""
    parts: dict[Missing, list[str]] = {}
    for one in missing:
        parts.setdefault(replace(one, part=""), []).append(one.part)
    for one, names in parts.items():
        yield replace(one, part=", ".join(names))


def _cheapest(lines: Sequence[Line]) -> str | None:
    """Say which design tells the asked edge at the least cost, and which cannot be told from it."""
    known = [line for line in lines if line.needed is not None]
    if not known:
        return None
    paid = all(line.needed is not None and line.needed.money is not None for line in known)

    def cost(bill: Bill | None) -> float | None:
        return None if bill is None else bill.money if paid else float(bill.calls)

    ordered = sorted(known, key=lambda line: cost(line.needed) or 0.0)
    best, *others = ordered
    most = cost(best.needed_high)
    near = [one.design for one in others if most is not None and (cost(one.needed_low) or np.inf) <= most]
    total = f"{cost(best.needed):,.2f}" if paid else f"{cost(best.needed):,.0f} judge calls"
    items = f"{best.items.value:,.0f} items" if best.items else ""
    doubt = f"; within the intervals, {some(near)} may cost no more" if near else ""
    return f"{best.design}: {total} on {items}{doubt}"


def _pilot(pilot: Battles | pd.DataFrame | str | Path, items: int | None, seed: int, pool: bool) -> Record:
    record = recorded(pilot, pool=pool)
    if items is None or items >= len(record.field.items):
        return record
    chosen = set(sampled(record.field, items, seed))
    keep = record.battles.table["item"].isin(chosen).to_numpy()
    return recorded(record.battles.select(keep), pool=pool)


def _ties(record: Record | None, given: float | None, level: float) -> Known:
    """Return the share of ties: as given, else the pilot's, clustered by item, else the usual one.

    Raises:
        UsageError: it is not in [0, 1).
        NotIdentifiedError: nothing in the pilot is readable, or every verdict is a tie.
    """
    if given is not None:
        if not 0 <= given < 1:
            raise UsageError(f"ties={given} is not in [0, 1)")
        return Known(given)
    if record is None:
        return Known(TIES)
    coded = code(record.battles)
    tied = (coded.credit == 0.5).astype(float)
    share = float(tied.mean())
    if share == 1:
        raise NotIdentifiedError("every readable verdict of the pilot is a tie: no number of items tells anyone apart")
    number = np.bincount(coded.cluster, minlength=coded.clusters)
    influence = (np.bincount(coded.cluster, tied, coded.clusters) - share * number) / len(tied)
    spread = covariance_of(influence[:, None])
    found = by_sandwich(np.array([share]), spread, coded.clusters, level=level, cluster="item")
    if found.method is None:
        return Known(share)
    if share == 0:
        # No variation to measure: the exact binomial bound over items (Clopper and Pearson 1934).
        return Known(0.0, 0.0, 1 - ((1 - level) / 2) ** (1 / coded.clusters))
    return Known(share, max(float(found.low[0]), 0.0), min(float(found.high[0]), 1.0))


def _complement(ties: Known) -> Known:
    ends = (None if end is None else 1 - end for end in (ties.high, ties.low))
    return Known(1 - ties.value, *ends)


def _items(informative: int, share: Known) -> Known:
    """Return the items that hold so many informative ones, with the interval that the share's gives."""
    ends = (None if not end else float(items_needed(informative, end)) for end in (share.high, share.low))
    return Known(float(items_needed(informative, share.value)), *ends)


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
