"""What each design costs, and what it will be able to tell."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import inf

from podium.errors import NotIdentifiedError
from podium.planning.plan import Bill, Draft, PricedDesign, Quantity
from podium.planning.precision import (
    MOST_MODELS,
    WORLDS,
    Precision,
    middling_model,
    precision_in_pilot,
    precision_in_worlds,
    simulated_worlds,
)
from podium.planning.sample_size import informative_needed, items_needed
from podium.plugins.catalogue import make_tournament
from podium.text import some
from podium.tournaments.schedule import Field
from podium.verbs.replays import Recording, TournamentDesign, asks_order, recording_of

PAIRS = "pairs of interest"
MOST_COUNTED = 1000
"""Items up to which a schedule is counted battle by battle; beyond, each further item costs what one more costs."""


def priced_designs(draft: Draft) -> Iterator[PricedDesign]:
    """Yield what each design costs and tells: the pairs of interest, if there are any, and the tournaments."""
    pilot = draft.record.field.models if draft.record else ()
    if draft.pairs:
        # Each pair is a sign test of its own.
        informative = informative_needed(draft.edge, **draft.test)
        needed = items_for(informative, draft.share_decided)
        yield _price(draft, PAIRS, lambda items: len(draft.pairs) * items, needed)
    names = dict.fromkeys([*filter(None, [draft.anchor]), *pilot, *stand_in_names(draft.models)])
    records = _records(draft)
    for design in _designs(draft):
        yield _priced_tournament(draft, design, tuple(names)[: draft.models], records)
    if draft.items is None:
        draft.lack("costs of the planned items", "no number of items was given", "give --items")
    if lacking := draft.tariff.unknown_units:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in lacking)
        draft.lack("tokens and money", "not all of what a call takes and costs is known", f"give {options}")
    part = "precision and rank sets of the designs"
    if not draft.record and not records:
        why = f"worlds of more than {MOST_MODELS} models are not imagined"
        draft.lack(part, why, "play a pilot and plan from it")
    if draft.record and not records:
        why = f"the pilot has {len(pilot)} models, the plan {draft.models}"
        draft.lack(part, why, "play a pilot with all models", unanswerable=True)


def _records(draft: Draft) -> list[Recording]:
    """Return the verdicts that designs are tried on: the pilot's, else those of worlds; none where neither will do."""
    if draft.record is not None:
        return [draft.record] if len(draft.record.field.models) == draft.models else []
    if draft.models > MOST_MODELS:
        return []
    number = WORLDS if draft.models <= 20 else WORLDS // 2
    ties, orders = draft.ties.value, draft.tariff.orders
    return simulated_worlds(draft.models, ties=ties, orders=orders, seed=draft.seed, number=number)


def _designs(draft: Draft) -> Iterator[TournamentDesign]:
    seed = {"seed": draft.seed}
    if draft.anchor is None:
        yield TournamentDesign("anchor, by a pilot", "anchor", seed)
    else:
        yield TournamentDesign(f"anchor {draft.anchor}", "anchor", {"anchor": draft.anchor, **seed})
    for name in ("round_robin", "swim", "chain", "ring"):
        yield TournamentDesign(name, name, seed)


def _priced_tournament(
    draft: Draft, design: TournamentDesign, names: Sequence[str], records: Sequence[Recording]
) -> PricedDesign:
    if asks_order(make_tournament(design.name, design.settings)):
        draft, records = _in_one_order(draft, records)
    precision = _precision(draft, design, records) if records else None
    needed = None if precision is None else precision.items_for(draft.gap_elo, **draft.test)
    line = _price(draft, design.label, partial(battles_of, design, names), needed)
    if precision is None or draft.items is None:
        return line
    return replace(
        line,
        error=precision.standard_error(draft.items),
        gap=precision.smallest_gap(draft.items, **draft.test),
        rank_width=precision.rank_width(draft.items, level=draft.level, seed=draft.seed),
    )


def _in_one_order(draft: Draft, records: Sequence[Recording]) -> tuple[Draft, list[Recording]]:
    """Return both for a design that says who is shown first: a call a battle, and a verdict for each order.

    A pilot in which no pair was asked in both orders serves as it is: its verdict stands for either. Means of both
    orders do not say how one alone varies: no records then.
    """
    if draft.record is None and draft.tariff.orders != "both":
        records = _records(replace(draft, tariff=replace(draft.tariff, orders="both")))
    apart = [recording_of(record.battles, by_order=True) for record in records]
    if any((own.calls > 1).any() for own in apart):
        draft.lack("precision of ring", "verdicts of the pilot are means of both orders", "plan from the single ones")
        apart = records = []
    chosen = [own if len(own.codes) > len(of.codes) else of for own, of in zip(apart, records, strict=True)]
    tariff = replace(draft.tariff, orders="as-given")
    return replace(draft, tariff=tariff, record=chosen[0] if draft.record and chosen else draft.record), chosen


def _precision(draft: Draft, design: TournamentDesign, records: Sequence[Recording]) -> Precision | None:
    """Return the precision of a design; None, and a note of it, where it cannot be known."""

    def design_in(world: Recording) -> TournamentDesign:
        anchor = {"anchor": middling_model(world)} if design.name == "anchor" else {}
        return replace(design, settings={**design.settings, **anchor})

    try:
        if draft.record is not None:
            precision = precision_in_pilot(design, draft.record, level=draft.level)
        else:
            precision = precision_in_worlds(design_in, records, level=draft.level)
    except NotIdentifiedError as error:
        remedy = "play a round robin of all models as the pilot, on more items"
        draft.lack(f"precision of {design.label}", error, remedy, unanswerable=draft.record is not None)
        return None
    draft.methods["precision"] = f"{100 * draft.level:g}%, {precision.method}"
    return precision


def _price(draft: Draft, label: str, battles: Callable[[int], int], items: Quantity | None) -> PricedDesign:
    """Return what a design costs on the planned items, and on those that tell the asked edge."""

    def bill(number: float | None) -> Bill | None:
        return None if number is None else draft.tariff.bill(battles(int(number)))

    needed = () if items is None else (items, bill(items.value), bill(items.low), bill(items.high))
    return PricedDesign(label, bill(draft.items), None, None, None, *needed)


def battles_of(design: TournamentDesign, models: Sequence[str], items: int) -> int:
    """Return how many battles a design plays on so many items, at most, as the tournament itself counts them.

    A schedule of millions is not written out: beyond 1,000 items, the last item counted stands for each further one.
    """

    def size(number: int) -> int:
        field = Field(tuple(sorted(models)), tuple(f"item {k}" for k in range(number)), {})
        return make_tournament(design.name, design.settings).size(field)

    counted = min(items, MOST_COUNTED)
    battles = size(counted)
    if counted == items:
        return battles
    return battles + (items - counted) * (battles - size(counted - 1))


def cheapest_design(lines: Sequence[PricedDesign]) -> str | None:
    """Say which design tells the asked edge at the least cost, and which cannot be told from it."""
    known = [(line, line.needed) for line in lines if line.needed]
    if not known:
        return None
    (best, bill), *others = sorted(known, key=lambda pair: pair[1].total)
    most = best.needed_high.total if best.needed_high else -inf
    near = [line.design for line, _ in others if line.needed_low and line.needed_low.total <= most]
    total = f"{bill.money:,.2f}" if bill.money else f"{bill.calls:,.0f} judge calls"
    items = f"{best.items.value:,.0f} items" if best.items else ""
    doubt = f"; within the intervals, {some(near)} may cost no more" if near else ""
    return f"{best.design}: {total} on {items}{doubt}"


def items_for(informative: int, share: Quantity) -> Quantity:
    """Return the items that hold so many informative ones, with the interval that the share's gives."""
    return share.through(lambda part: float(items_needed(informative, part)) if part else None, falling=True)


def stand_in_names(number: int) -> list[str]:
    """Return names for models that are not known yet."""
    return [f"model {k}" for k in range(number)]
