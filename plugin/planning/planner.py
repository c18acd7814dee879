"""Make a plan, part after part, from numbers or from a pilot."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd

from podium.battles import Battles
from podium.errors import NotIdentifiedError, UsageError, unknown_name
from podium.planning.cost import PAIRS, battles_of, cheapest_design, priced_designs, stand_in_names
from podium.planning.decision import decide
from podium.planning.differences import three_levels
from podium.planning.draft import Draft
from podium.planning.edges import sample_sizes, smallest_gaps
from podium.planning.pilots import anchor_candidates, read_pilot, share_of_ties
from podium.planning.plan import Candidate, Plan, Quantity, Tariff
from podium.planning.precision import MOST_ENTRANTS, SPREAD
from podium.planning.sample_size import check_numbers
from podium.rank_battles import rank
from podium.rankers.intervals import check_level
from podium.rankers.scale import POINTS
from podium.ranking import provenance
from podium.replays import TournamentDesign

TIES = 0.15
"""Share of battles that end in a tie, where nothing else is known."""


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
    check_numbers(edge=edge, alpha=alpha, power=power)
    check_level(level)
    check_numbers(entrants=entrants, items=items, informativeness=informativeness)
    record = None if pilot is None else read_pilot(pilot, pilot_items, seed, pool)
    names = record.field.entrants if record else ()
    _check_names(names, baseline, pairs)
    number = entrants or len(names)
    if number < 2:
        raise UsageError("nothing to plan for: give a pilot, or the number of entrants (--entrants, 2 or more)")
    check_numbers(ties=ties)
    if ties is None and record is not None:
        expected_ties = share_of_ties(record, level)
    else:
        expected_ties = Quantity(TIES if ties is None else ties)
    draft = Draft(
        record=record,
        entrants=number,
        items=items,
        ties=expected_ties,
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
    candidates = tuple(_candidates(draft))
    draft = replace(draft, anchor=baseline or next((candidate.anchor for candidate in candidates), None))
    share = _share(draft, candidates) if informativeness is None else Quantity(informativeness)
    return _plan_of(replace(draft, share=share), candidates)


def _plan_of(draft: Draft, candidates: tuple[Candidate, ...]) -> Plan:
    """Answer all parts; what cannot be answered is noted and does not stop the rest."""
    record = draft.record
    samples, gaps, lines = tuple(sample_sizes(draft)), tuple(smallest_gaps(draft)), tuple(priced_designs(draft))
    decision = decide(draft.entrants, draft.baseline, draft.pairs)
    # Not all designs tell of a baseline, or of single pairs.
    telling = {"baseline": "anchor ", "pairs": PAIRS}.get(decision.design, "")
    options = {"seed": draft.seed, "tariff": asdict(draft.tariff)}
    return Plan(
        asked={
            "entrants": draft.entrants,
            "items": draft.items,
            "ties": draft.ties,
            "informativeness": draft.share,
            **{name: getattr(draft, name) for name in ("edge", "alpha", "power", "level")},
            "pilot_items": len(record.field.items) if record else None,
            "pilot_battles": record.battles.counts() if record else None,
        },
        assumptions=tuple(_assumptions(draft)),
        decision=decision,
        candidates=candidates,
        anchor=draft.anchor,
        samples=samples,
        gaps=gaps,
        gap_elo=draft.gap_elo,
        lines=lines,
        cheapest=cheapest_design([line for line in lines if line.design.startswith(telling)]),
        methods=draft.methods,
        missing=draft.unanswered_parts,
        provenance=provenance(record.battles.sources if record else (), options),
    )


def _candidates(draft: Draft) -> Iterator[Candidate]:
    """Yield the pilot's entrants as anchors, the most informative first."""
    part = "informativeness of the candidates for the anchor"
    if draft.record is None:
        size = battles_of(TournamentDesign("pilot", "anchor", {"pilot": 10}), stand_in_names(draft.entrants), 10)
        remedy = f"play 10 items ({size:,} battles, {size * draft.tariff.calls:,} calls) and plan from them"
        draft.lack(part, "there is no pilot", remedy)
        return
    try:
        ranking = rank(draft.record.battles, "informativeness", level=draft.level, seed=draft.seed, pool=True)
    except NotIdentifiedError as error:
        draft.lack(part, error, "play a pilot in which every entrant meets every other", unanswerable=True)
        return
    standings = ranking.standings[0]
    interval = f"{100 * standings.level:g}%, {standings.interval}"
    draft.methods["informativeness"] = interval if standings.interval else "no interval: a single item"
    yield from anchor_candidates(standings)


def _share(draft: Draft, candidates: Sequence[Candidate]) -> Quantity | None:
    """Return the share of items that tell two entrants apart through the anchor; None, and a note, where unknown."""
    if draft.record is None:
        return Quantity(three_levels(draft.ties.value, 0.0).informative)
    share = next((each.informativeness for each in candidates if each.anchor == draft.anchor), None)
    if share is not None and share.value:
        return share
    if share is None:
        why = "the pilot says nothing about an anchor's informativeness"
        remedy = "give --informativeness, or play a pilot"
    else:
        why = f"{draft.anchor} tells no two entrants of the pilot apart"
        remedy = "take another anchor, or play a larger pilot"
    draft.lack("items through an anchor", why, remedy, unanswerable=True)
    return None


def _assumptions(draft: Draft) -> Iterator[str]:
    if draft.record is None:
        yield f"{draft.ties.value:.0%} of verdicts are ties; win, tie and loss are drawn apart for any two entrants"
        yield "the anchor is of middling strength: a strong or a weak one tells less, and a pilot finds it out"
        if draft.entrants <= MOST_ENTRANTS:
            yield (
                f"strengths vary between entrants with a standard deviation of {SPREAD * POINTS:.0f} Elo, and from "
                "item to item with as much; the judge errs by a logistic error"
            )
    else:
        yield "items to come are like the pilot's, and the judge is the same"
        if draft.anchor and draft.anchor != draft.baseline:
            yield f"{draft.anchor} was chosen as the anchor by these very data, which may flatter it"
    yield (
        "items needed and errors are of chance alone: what a design gets wrong however many items it has, "
        "`podium replay --study` shows"
    )


def _check_names(names: Sequence[str], baseline: str | None, pairs: Sequence[tuple[str, str]]) -> None:
    for name in [*([baseline] if baseline else []), *(name for pair in pairs for name in pair)]:
        if names and name not in names:
            raise unknown_name("entrant", name, names)
    same = next((a for a, b in pairs if a == b), None)
    if same is not None:
        raise UsageError(f"a pair needs two different entrants, not {same!r} twice")
