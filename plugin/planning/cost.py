"""What each design costs, and what it will detect."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import ceil, sqrt

from scipy.special import ndtri

from podium.data.pairings import Field
from podium.errors import NotIdentifiedError
from podium.planning.plan_record import UNITS, PlanRequest, PricedDesign, Tariff, elo_of_edge
from podium.planning.precision import (
    MOST_MODELS,
    VerdictModel,
    assumed_verdicts,
    design_variance,
    pilot_verdicts,
)
from podium.planning.sample_size import informative_needed, items_with
from podium.plugins.catalogue import make_tournament
from podium.rankers.estimate import Estimate
from podium.tournaments.schedule import TournamentDesign, asks_order

PAIRS = "pairs of interest"
MOST_COUNTED = 1000
"""Items up to which a schedule is counted battle by battle; beyond, each further item costs what
one more costs."""


def price_designs(request: PlanRequest) -> Iterator[PricedDesign]:
    """Yield what each design costs and detects: the pairs of interest, if there are any, and the
    tournaments."""
    if request.pairs:
        # Each pair is a sign test of its own.
        needed = items_with(informative_needed(request.edge, **request.test), request.share_decided)
        yield _price_design(
            request, PAIRS, lambda items: len(request.pairs) * items, request.tariff, needed
        )
    models, seed = _verdict_models(request), {"seed": request.seed}
    anchor = TournamentDesign("anchor, by a pilot", "anchor", seed)
    if request.anchor is not None:
        anchor = TournamentDesign(
            f"anchor {request.anchor}", "anchor", {"anchor": request.anchor, **seed}
        )
    yield _price_tournament(request, anchor, models)
    for name in ("round_robin", "swim", "chain", "ring"):
        yield _price_tournament(request, TournamentDesign(name, name, seed), models)
    if request.items is None:
        request.leave_out(
            "costs of the planned items", "no number of items was given", "give --items"
        )
    if lacking := [name for name in UNITS if getattr(request.tariff, name) is None]:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in lacking)
        request.leave_out(
            "tokens and money", "not all tokens and prices of a call are known", f"give {options}"
        )


def _verdict_models(request: PlanRequest) -> list[VerdictModel]:
    """Return the verdict models of the pilot and its jackknife, or the assumed one; [] and a note
    if unusable."""
    part, record = "precision of the designs", request.record
    if request.models > MOST_MODELS:
        request.leave_out(
            part, f"it is computed for {MOST_MODELS} models at most", "plan with fewer"
        )
        return []
    if record is None:
        request.methods["precision"] = "none without a pilot"
        return [assumed_verdicts(tuple(stand_in_names(request.models)), request.ties.value)]
    if len(record.field.models) != request.models:
        why = f"the pilot has {len(record.field.models)} models, the plan {request.models}"
        request.leave_out(part, why, "play a pilot with all models", unanswerable=True)
        return []
    try:
        whole, others = pilot_verdicts(record)
    except NotIdentifiedError as error:
        request.leave_out(
            part, error, "play a pilot of all models on more items", unanswerable=True
        )
        return []
    groups = f"{len(others)} groups of items"
    request.methods["precision"] = (
        f"{100 * request.level:g}%, jackknife of the logarithm over {groups}, t"
    )
    return [whole, *others]


def _price_tournament(
    request: PlanRequest, design: TournamentDesign, models: Sequence[VerdictModel]
) -> PricedDesign:
    """Return what a tournament costs and detects; without verdict models, only what it costs."""
    tariff, pilot = request.tariff, request.record.field.models if request.record else ()
    if asks_order(make_tournament(design.name, design.settings)):
        tariff = replace(tariff, orders="as-given")
    names = dict.fromkeys(
        [*filter(None, [request.anchor]), *pilot, *stand_in_names(request.models)]
    )
    battles = partial(battles_of, design, tuple(names)[: request.models])
    if not models:
        return _price_design(request, design.label, battles, tariff, None)
    variance = design_variance(
        design, models[0], list(models[1:]), 2 if tariff.orders == "both" else 1, request.level
    )
    # A one-sided test detects a difference of so many standard errors with this power.
    reach = float(ndtri(1 - request.alpha) + ndtri(request.power))
    factor = (reach / elo_of_edge(request.edge, request.ties.value)) ** 2
    needed = variance.transform(lambda value: float(max(2, ceil(round(value * factor, 9)))))
    line, items = _price_design(request, design.label, battles, tariff, needed), request.items
    if items is None:
        return line
    error = variance.transform(lambda value: sqrt(value / items))
    return replace(line, error=error, gap=error.transform(lambda value: reach * value))


def _price_design(
    request: PlanRequest,
    label: str,
    battles: Callable[[int], int],
    tariff: Tariff,
    items: Estimate | None,
) -> PricedDesign:
    """Return what a design costs on the planned items, and on those that detect the asked edge."""
    numbers = (request.items, *((items.value, items.low, items.high) if items else (None,) * 3))
    costs = [None if own is None else tariff.cost(battles(int(own))) for own in numbers]
    return PricedDesign(
        label,
        planned=costs[0],
        items=items,
        needed=costs[1],
        needed_low=costs[2],
        needed_high=costs[3],
    )


def battles_of(design: TournamentDesign, models: Sequence[str], items: int) -> int:
    """Return how many battles a design plays at most; beyond 1,000 items each counts as many as the
    last."""

    def size(number: int) -> int:
        field = Field(tuple(sorted(models)), tuple(f"item {k}" for k in range(number)), {})
        return make_tournament(design.name, design.settings).size(field)

    if items <= MOST_COUNTED:
        return size(items)
    return size(MOST_COUNTED) + (items - MOST_COUNTED) * (
        size(MOST_COUNTED) - size(MOST_COUNTED - 1)
    )


def cheapest_design(lines: Sequence[PricedDesign], prefix: str) -> str | None:
    """Return the name of the design that detects the asked edge at the least cost, of those with
    this prefix."""
    costs = {
        line.design: line.needed.total
        for line in lines
        if line.needed and line.design.startswith(prefix)
    }
    return min(costs, key=lambda name: costs[name], default=None)


def stand_in_names(number: int) -> list[str]:
    """Return names for models that are not known yet."""
    return [f"model {k}" for k in range(number)]
