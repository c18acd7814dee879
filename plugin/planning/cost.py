"""What each design costs, and what it will detect."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil, sqrt
from typing import Any

from podium.data.pairings import Field
from podium.distributions import ndtri
from podium.errors import NotIdentifiedError
from podium.planning.plan_record import (
    UNITS,
    BattleCosts,
    PlanRequest,
    PricedDesign,
    Tariff,
    elo_of_edge,
)
from podium.planning.precision import (
    MOST_MODELS,
    VerdictModel,
    assumed_verdicts,
    design_variance,
    pilot_verdicts,
)
from podium.planning.sample_size import informative_needed, items_for
from podium.plugins.catalogue import make_tournament
from podium.rankers.estimate import Estimate
from podium.tournaments.schedule import TournamentDesign, fixes_first_shown

PAIRS = "pairs of interest"
"""Label of the design that plays single pairs of models."""
MOST_COUNTED = 1000
"""Largest number of items for which the battles of a schedule are counted.

Each further item is taken to have as many battles as the last one that was counted.
"""


def price_designs(request: PlanRequest) -> Iterator[PricedDesign]:
    """Yield what each design costs and detects.

    `methods` and `missing` of the request are changed in place: they say how intervals are
    computed, and which figures are unknown.

    Yields:
        The pairs of interest, if the request names any; an anchor; round robin; SWIM; chain; and
        ring. Anchor, SWIM and chain are left out if the two models of a pilot are compared.
    """
    if request.pairs:
        # Each pair is a sign test of its own.
        informative = informative_needed(request.edge, **request.test)
        needed = items_for(request, informative, request.share_decided)
        pairs = PricedDesign(PAIRS)
        number = len(request.pairs)
        compared = {model for pair in request.pairs for model in pair}
        request_of_pairs = replace(request, models=len(compared))
        yield _add_costs(
            pairs,
            request_of_pairs,
            battles=lambda items: number * items,
            tariff=request.tariff,
            items=needed,
        )
    models = _verdict_models(request)
    names: tuple[str, ...] = ("round_robin", "ring")
    if not request.compares_one_pair:
        yield _price_tournament(request, _anchor_design(request), models)
        names = ("round_robin", "swim", "chain", "ring")
    for name in names:
        design = TournamentDesign(label=name, name=name, settings={"seed": request.seed})
        yield _price_tournament(request, design, models)
    if request.items is None:
        request.leave_out(
            "costs of the planned items", "no number of items was given", "give --items"
        )
    unknown = [name for name in UNITS if getattr(request.tariff, name) is None]
    if unknown:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in unknown)
        request.leave_out(
            "tokens and money", "not all tokens and prices of a call are known", f"give {options}"
        )


def _anchor_design(request: PlanRequest) -> TournamentDesign:
    """Return the tournament with the anchor of the request.

    If the request has no anchor, the tournament chooses one by a pilot of its own.
    """
    settings: Mapping[str, Any] = {"seed": request.seed}
    if request.anchor is None:
        return TournamentDesign(label="anchor, by a pilot", name="anchor", settings=settings)
    label = f"anchor {request.anchor}"
    return TournamentDesign(
        label=label, name="anchor", settings={"anchor": request.anchor, **settings}
    )


def _verdict_models(request: PlanRequest) -> list[VerdictModel]:
    """Return the verdict models from which the precision of designs is computed.

    With a pilot these are the model of the whole pilot, followed by those without each part of its
    items. Without a pilot the list has one assumed model. `methods` of the request says so. The
    list is empty if precision cannot be computed; the reason is then added to `missing` of the
    request.
    """
    part = "precision of the designs"
    record = request.record
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
        whole, without_part = pilot_verdicts(record)
    except NotIdentifiedError as error:
        request.leave_out(
            part, error, "play a pilot of all models on more items", unanswerable=True
        )
        return []
    parts = f"{len(without_part)} parts of the items"
    request.methods["precision"] = (
        f"{100 * request.level:g}%, jackknife of the logarithm over {parts}, t"
    )
    return [whole, *without_part]


def _price_tournament(
    request: PlanRequest, design: TournamentDesign, models: Sequence[VerdictModel]
) -> PricedDesign:
    """Return what a tournament costs and detects.

    A tournament that asks for single orders is priced with one order, whatever the tariff says.

    Args:
        request: the request.
        design: the tournament and its settings.
        models: verdict models of the whole pilot and without each of its parts, or an assumed one
            (`_verdict_models`). If there are none, the result has only what the planned items cost.

    Returns:
        The design with the cost of the planned items; and if there are verdict models, with the
        items that it needs, their cost, and the error and gap on the planned items.
    """
    tariff = request.tariff
    if fixes_first_shown(make_tournament(design.name, design.settings)):
        tariff = replace(tariff, orders="as-given")
    battles = partial(battles_of, design, _planned_models(request))
    line = PricedDesign(design.label, tournament=design.name, settings=design.settings)
    if not models:
        return _add_costs(line, request, battles, tariff, items=None)
    calls = 2 if tariff.reads_both_orders else 1
    variance = design_variance(design, models[0], list(models[1:]), calls, request.level)
    # A one-sided test detects a difference of `detected_se` standard errors with the asked power.
    # The variance is inversely proportional to the number of items.
    detected_se = float(ndtri(1 - request.alpha) + ndtri(request.power))
    items_per_variance = (detected_se / elo_of_edge(request.edge, request.ties.value)) ** 2

    def items_for_variance(value: float) -> float:
        """Return the number of items, 2 or more, that a variance on one item needs."""
        # Without the rounding, an error of floating point could add an item.
        items = ceil(round(value * items_per_variance, 9))
        return float(max(items, 2))

    needed = variance.transform(items_for_variance)
    line = _add_costs(line, request, battles, tariff, needed)
    items = request.items
    if items is None:
        return line

    def error_on_items(value: float) -> float:
        """Return the standard error on the planned items, given a variance on one item."""
        return sqrt(value / items)

    error = variance.transform(error_on_items)
    gap = error.transform(lambda value: detected_se * value)
    return replace(line, error=error, gap=gap)


def _planned_models(request: PlanRequest) -> tuple[str, ...]:
    """Return as many names as models are planned.

    They are, in this order and up to that number, the anchor, the pilot's models, and stand-in
    names for models that are not known yet.
    """
    names = [request.anchor] if request.anchor else []
    if request.record:
        names += request.record.field.models
    names += stand_in_names(request.models)
    return tuple(dict.fromkeys(names))[: request.models]


def _add_costs(
    line: PricedDesign,
    request: PlanRequest,
    battles: Callable[[int], int],
    tariff: Tariff,
    items: Estimate | None,
) -> PricedDesign:
    """Return a design with what it costs on the planned items, and on those that it needs.

    Args:
        line: the design.
        request: the request.
        battles: returns the number of battles that the design plays on a number of items.
        tariff: what a battle costs.
        items: number of items that detect the asked edge; None if unknown.
    """
    share_with_calls = share_asked(request)

    def cost(number: float | None) -> BattleCosts | None:
        """Return what the battles on a number of items cost; None if the number is None.

        Ties of identical responses are among the battles, and cost no calls.
        """
        if number is None:
            return None
        number_of_battles = battles(int(number))
        # Rounded first, so that an error of the product does not add a battle.
        asked_battles = ceil(round(number_of_battles * share_with_calls, 6))
        costs = tariff.cost(asked_battles, int(number), request.models)
        return replace(costs, battles=number_of_battles)

    line = replace(line, planned=cost(request.items), items=items)
    if items is None:
        return line
    return replace(
        line,
        needed=cost(items.value),
        needed_low=cost(items.low),
        needed_high=cost(items.high),
    )


def share_asked(request: PlanRequest) -> float:
    """Return the share of battles that cost calls, by the pilot; 1 without a pilot.

    All battles cost calls but ties of identical responses.
    """
    if request.record is None:
        return 1.0
    battles = request.record.battles
    return 1 - battles.tally.identical / max(len(battles), 1)


def battles_of(design: TournamentDesign, models: Sequence[str], items: int) -> int:
    """Return how many battles a design plays at most.

    The number is that of the longest possible tournament on these items. Beyond 1,000 items, each
    further item counts as many battles as the last one.

    Args:
        design: the tournament and its settings.
        models: names of the models.
        items: number of items.
    """

    def size(number: int) -> int:
        """Return the maximum number of battles on a number of items."""
        items = tuple(f"item {k}" for k in range(number))
        field = Field(models=tuple(sorted(models)), items=items, absent={})
        return make_tournament(design.name, design.settings).size(field)

    if items <= MOST_COUNTED:
        return size(items)
    last_item = size(MOST_COUNTED) - size(MOST_COUNTED - 1)
    return size(MOST_COUNTED) + (items - MOST_COUNTED) * last_item


def cheapest_design(lines: Sequence[PricedDesign], goal: str) -> str | None:
    """Return the label of the design that detects the asked edge at the least cost.

    The cost is money, or the number of calls if prices are unknown. Of equal costs, the first
    design counts.

    Args:
        lines: the priced designs.
        goal: what is compared, as in `Decision.design`. For `baseline`, only tournaments with an
            anchor count; for `pairs`, only single pairs.

    Returns:
        The label; None if no such design has a known cost.
    """
    costs = {
        line.design: line.needed.total
        for line in lines
        if line.needed and _compares_what_is_asked(line, goal)
    }
    return min(costs, key=lambda name: costs[name], default=None)


def _compares_what_is_asked(line: PricedDesign, goal: str) -> bool:
    """Return whether a design compares what is to be compared.

    Args:
        line: the design.
        goal: `baseline` (it must have an anchor), `pairs` (it must be the design of single pairs),
            or another value of `Decision.design`, for which any design will do.
    """
    if goal == "baseline":
        return line.tournament == "anchor"
    if goal == "pairs":
        return line.tournament is None
    return True


def stand_in_names(number: int) -> list[str]:
    """Return the names `model 0`, `model 1` and so on, for models that are not known yet."""
    return [f"model {k}" for k in range(number)]
