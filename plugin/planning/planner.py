"""Make a plan, part after part, from numbers or from a pilot."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.check_results import Check
from podium.data.battles import Battles
from podium.data.jury_verdicts import RULE, judged_once
from podium.errors import NotIdentifiedError, UsageError, unknown_name_error
from podium.planning import plan_report  # noqa: F401 - registers the view of a plan
from podium.planning.compared_sizes import compared_size
from podium.planning.cost import battles_of, cheapest_design, price_designs, stand_in_names
from podium.planning.item_groups_of_pilot import PilotGroups, groups_of_pilot
from podium.planning.plan_record import (
    AnchorCandidate,
    ComparedSize,
    Decision,
    Plan,
    PlanRequest,
    Tariff,
    elo_of_edge,
)
from podium.planning.precision import ASSUMED_ITEM_SD, ASSUMED_RATING_SD
from podium.planning.sample_size import (
    check_numbers,
    number_in_groups,
    sample_sizes,
    smallest_edges,
    three_levels,
)
from podium.rankers.errors.intervals import check_level
from podium.rankers.errors.raters import Raters, raters_of
from podium.rankers.estimate import Estimate
from podium.rankers.fit.cells import cluster_shares, prepare_battles
from podium.rankers.ranking import build_provenance
from podium.tournaments.schedule import TournamentDesign
from podium.wording import plural, quantity, word_for

if TYPE_CHECKING:
    import pandas as pd

    from podium.planning.replays import Recording

PILOT_ITEMS = 10
"""Number of items of the pilot that is proposed if there is none."""
ASSUMED_TIES = 0.15
"""Share of ties that is assumed if neither a pilot nor an option gives it."""


def make_plan(
    pilot: "Battles | pd.DataFrame | str | Path | None" = None,
    *,
    models: int | None = None,
    items: int | None = None,
    ties: float | None = None,
    informativeness: float | None = None,
    edge: float = 0.05,
    alpha: float = 0.05,
    power: float = 0.8,
    baseline: str | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    tariff: Tariff | None = None,
    level: float = 0.95,
    seed: int = 0,
    pool: bool = False,
    difference: str = "",
    disagree: float | None = None,
    spread: float | None = None,
) -> Plan:
    """Plan a comparison from numbers, or from a pilot's battles.

    Args:
        pilot: battles, or what `read_battles` reads; without it, the figures rest on assumptions.
        models: number of models to compare, 2 or more; by default that of the pilot, or 2 if a
            `difference` is given.
        items: planned number of items; without it, only the items that the edge needs are planned.
        ties: expected share of battles that end in a tie, in [0, 1); by default the pilot's, else
            0.15.
        informativeness: share of items that distinguish two models through an anchor, in (0, 1];
            by default the pilot's.
        edge: the edge to detect, in (0, 0.5]: the better model wins 1/2 + edge of the decided
            items.
        alpha: error rate of the one-sided tests, in (0, 0.5).
        power: power of the one-sided tests, in [0.5, 1).
        baseline: name of the model that all others are to be compared with.
        pairs: names of the only pairs of interest; empty if all models are to be ranked.
        tariff: judge calls, tokens and prices of a battle; by default one judge in both orders.
        level: confidence level of the intervals, in (0, 1).
        seed: seed of the tournaments and of the bootstrap.
        pool: whether verdicts of several judges in the pilot count together.
        difference: difference that `podium compare` is to detect, as `2points`, `0.02` or `40elo`;
            then two models are enough.
        disagree: share of items on which just one of the two models is right, for a metric of
            right and wrong.
        spread: standard deviation of the difference over items, for another metric.

    Returns:
        The plan; its `missing` names the parts that these data cannot answer.

    Raises:
        UsageError: a number is out of its range, a name is unknown, or neither a pilot nor a
            number of models is given; or no judge decided any battle of the pilot.
        DataError: the pilot cannot be read.
        NotIdentifiedError: the pilot has several judges and `pool` is false, it has no items, or
            all its verdicts are ties; or its items are in fewer than 4 groups.
    """
    check_numbers(edge=edge, alpha=alpha, power=power, ties=ties, models=models, items=items)
    check_numbers(informativeness=informativeness)
    check_level(level)
    record, tariff = _read_pilot(pilot, pool, tariff or Tariff())
    names = record.field.models if record else ()
    _check_names(names, baseline, pairs)
    number = _number_of_models(models, names, has_difference=bool(difference))
    expected = _expected_ties(ties, record, level)
    goal: dict[str, Any] = {"edge": edge, "alpha": alpha, "power": power, "level": level}
    design: dict[str, Any] = {"baseline": baseline, "pairs": tuple(pairs), "items": items}
    share = Estimate(informativeness) if informativeness else None
    verdicts: dict[str, Any] = {"ties": expected, "share": share, "tariff": tariff}
    groups = groups_of_pilot(record, level)
    request = PlanRequest(
        models=number, seed=seed, record=record, groups=groups, **design, **verdicts, **goal
    )
    compared = compared_size(
        difference, ties=expected.value, disagree=disagree, spread=spread, level=level, power=power
    )
    return replace(_build_plan(request), compared=_size_in_groups(compared, request))


def _size_in_groups(compared: ComparedSize | None, request: PlanRequest) -> ComparedSize | None:
    """Return the size of a comparison with as many items as the pilot's groups make necessary.

    If the pilot's items have no groups, the size is returned as it is. None stays None.
    """
    if compared is None:
        return None
    return replace(compared, items=number_in_groups(request, compared.items))


def _doubts_about_pilot(record: "Recording | None") -> tuple[Check, ...]:
    """Return the flagged checks of a pilot because of which its plan may be wrong.

    The gravest one comes first. The tuple is empty without a pilot.
    """
    if record is None:
        return ()
    from podium.diagnosis.checks.all_checks import checks_of_comparison, doubts_about_plan

    battles = record.battles
    return tuple(doubts_about_plan(checks_of_comparison(battles, battles.models)))


def _number_of_models(models: int | None, names: Sequence[str], *, has_difference: bool) -> int:
    """Return the number of models to compare.

    The result is the given number, else the number of the pilot's models, else 2 if a difference
    was given.

    Args:
        models: the given number; None if none was given.
        names: names of the pilot's models; empty if there is no pilot.
        has_difference: whether a difference for `podium compare` was given.

    Raises:
        UsageError: the number is below 2, or nothing gives it.
    """
    number = models or len(names)
    if not number and has_difference:
        number = 2
    if number < 2:
        raise UsageError(
            "nothing to plan for: give a pilot, or the number of models (--models, 2 or more)"
        )
    return number


def _expected_ties(ties: float | None, record: "Recording | None", level: float) -> Estimate:
    """Return the share of battles that end in a tie.

    The share is the given one, else that of the pilot, else `ASSUMED_TIES`.

    Returns:
        The share, without an interval if it is given or assumed.

    Raises:
        NotIdentifiedError: the share is taken from the pilot, whose readable verdicts are all ties,
            or which has none.
    """
    if ties is not None:
        return Estimate(ties)
    return share_of_ties(record, level) if record else Estimate(ASSUMED_TIES)


def _read_pilot(
    pilot: "Battles | pd.DataFrame | str | Path | None", pool: bool, tariff: Tariff
) -> "tuple[Recording | None, Tariff]":
    """Return the recording of a pilot, and the tariff with what the pilot says of its judges.

    Without a pilot, there is no recording, and judges are as the tariff says.

    Raises:
        UsageError: no judge decided any battle of the pilot.
        NotIdentifiedError: the pilot has several judges and `pool` is false, or no items.
    """
    if pilot is None:
        return None, replace(tariff, judges=tariff.judges or "1")
    # Modules that only a pilot needs are imported in functions, because a plan without a pilot
    # then starts in half the time.
    from podium.planning.pilots import judged_battles, tariff_of_judges
    from podium.planning.replays import recording_of

    battles = judged_battles(pilot)
    tariff = tariff_of_judges(battles, tariff)
    if not pool:
        battles = judged_once(battles)
    record = recording_of(battles, pool=pool)
    return record, tariff


def _build_plan(request: PlanRequest) -> Plan:
    """Return a plan of all parts; its `missing` has the parts that cannot be answered.

    The anchor is the baseline or, without one, the most informative model of the pilot.
    """
    candidates = tuple(_rank_anchors(request))
    best = candidates[0].anchor if candidates else None
    request = replace(request, anchor=request.baseline or best)
    share = request.share or _share_through_anchor(request, candidates)
    request = replace(request, share=share)
    samples = tuple(sample_sizes(request))
    gaps = tuple(smallest_edges(request))
    lines = tuple(price_designs(request))
    decision = select_design(request.models, request.baseline, request.pairs)
    sources = request.record.battles.sources if request.record else ()
    tariff = {**asdict(request.tariff), "least_cached": request.tariff.least_cached}
    options = {"seed": request.seed, "tariff": tariff}
    return Plan(
        asked=_numbers_of_plan(request),
        assumptions=tuple(_assumption_sentences(request)),
        decision=decision,
        candidates=candidates,
        anchor=request.anchor,
        samples=samples,
        gaps=gaps,
        gap_elo=elo_of_edge(request.edge, request.ties.value),
        lines=lines,
        cheapest=cheapest_design(lines, decision.design),
        methods=request.methods,
        missing=tuple(request.missing),
        provenance=build_provenance(sources, options),
        doubts=_doubts_about_pilot(request.record),
    )


def _numbers_of_plan(request: PlanRequest) -> dict[str, Any]:
    """Return the numbers that a plan starts from, by name, as `Plan.asked` has them."""
    record = request.record
    return {
        "models": request.models,
        "items": request.items,
        "ties": request.ties,
        "informativeness": request.share,
        "edge": request.edge,
        "alpha": request.alpha,
        "power": request.power,
        "level": request.level,
        "pilot_items": len(record.field.items) if record else None,
        "groups": request.groups,
        "pilot_battles": record.battles.counts() if record else None,
    }


def share_of_ties(record: "Recording", level: float) -> Estimate:
    """Return the share of ties among readable battles, with an interval.

    The interval is an item-clustered t interval. If there is no tie, its upper end is the exact
    binomial bound over items (Clopper and Pearson 1934).

    Args:
        record: the recorded battles.
        level: confidence level, in (0, 1).

    Raises:
        NotIdentifiedError: every readable verdict is a tie, or none is readable.
    """
    from podium.diagnosis.clustered import Clustered
    from podium.rankers.fit.coded import code_battles

    coded = code_battles(record.battles, labels="hard")
    tied = coded.credit == 0.5
    share = float(tied.mean())
    number = len(tied)
    if share == 1:
        raise NotIdentifiedError(
            "every readable verdict of the pilot is a tie: it separates no models"
        )
    ties = Clustered(coded.cluster, coded.unit, level).linear(
        share, (tied - share) / number, n=number, within=(0, 1)
    )
    if share == 0 and ties.low is not None:
        # If no battle is a tie, there is no standard error. Of G items, none has a tie with
        # probability (1 - share)^G, which is (1 - level) / 2 at the upper end.
        return Estimate(value=0.0, low=0.0, high=1 - ((1 - level) / 2) ** (1 / coded.clusters))
    return Estimate(value=share, low=ties.low, high=ties.high)


def _rank_anchors(request: PlanRequest) -> Iterator[AnchorCandidate]:
    """Yield the pilot's models as candidates for the anchor, the most informative first.

    Models of unknown informativeness are left out. Nothing is yielded without a pilot, if there are
    two models, which need no anchor, or if the pilot cannot be ranked by informativeness.
    `methods` and `missing` of the request are changed in place.
    """
    part = "informativeness of the candidates for the anchor"
    if request.record is None:
        pilot = TournamentDesign(label="pilot", name="anchor", settings={"pilot": PILOT_ITEMS})
        size = battles_of(pilot, stand_in_names(request.models), PILOT_ITEMS)
        calls = request.tariff.cost(size, PILOT_ITEMS, request.models).calls
        remedy = f"play {PILOT_ITEMS} items ({size:,} battles, {calls:,} calls) and plan from them"
        request.leave_out(part, "there is no pilot", remedy)
        return
    if request.compares_one_pair:
        return
    from podium.ranking.rank_battles import rank

    try:
        ranking = rank(
            request.record.battles,
            "informativeness",
            level=request.level,
            seed=request.seed,
            pool=True,
            answers=False,
        )
    except NotIdentifiedError as error:
        request.leave_out(
            part, error, "play a pilot in which every model meets every other", unanswerable=True
        )
        return
    standings = ranking.standings[0]
    request.methods["informativeness"] = (
        f"{100 * standings.level:g}%, {standings.interval}"
        if standings.interval
        else "no interval: a single item"
    )
    ranked = [entry for entry in standings.entries if entry.score is not None]
    for position, entry in enumerate(ranked):
        # `ranked` has no entry without a score: `or 0.0` is for the type checker alone.
        share = Estimate(value=entry.score or 0.0, low=entry.low, high=entry.high)
        pairs = int(entry.extra.get("pairs") or 0)
        advice = _advice_on_anchor(position, entry.rank_low)
        yield AnchorCandidate(entry.model, share, pairs, entry.rank_low, entry.rank_high, advice)


def _advice_on_anchor(position: int, rank_low: int | None) -> str:
    """Say whether to take a model as the anchor.

    Args:
        position: position of the model by informativeness; 0 for the most informative one.
        rank_low: the best rank of the model that the data do not exclude; None if unknown.
    """
    if position == 0:
        return "take it: most informative"
    if rank_low is None:
        return "too few items to say"
    return "may be as good" if rank_low == 1 else "avoid: less informative"


def _share_through_anchor(
    request: PlanRequest, candidates: Sequence[AnchorCandidate]
) -> Estimate | None:
    """Return the share of items that distinguish two models through the anchor.

    Without a pilot, it follows from the share of ties. With one, it is the informativeness of the
    request's anchor. It is None if two models need no anchor, or if it is unknown or 0; the reason
    is then added to `missing` of the request.
    """
    if request.compares_one_pair:
        return None
    if request.record is None:
        return Estimate(three_levels(request.ties.value, edge=0.0).informative)
    shares = {each.anchor: each.informativeness for each in candidates}
    share = shares.get(request.anchor) if request.anchor is not None else None
    if share is None:
        why = "the pilot does not measure an anchor's informativeness"
        remedy = "give --informativeness, or play a pilot"
    elif share.value:
        return share
    else:
        why = f"verdicts against {request.anchor} distinguish no two models of the pilot"
        remedy = "take another anchor, or play a larger pilot"
    request.leave_out("items through an anchor", why, remedy, unanswerable=True)
    return None


UNWEIGHTED_SHARES = (
    "the pilot's shares of ties and of decided battles count each battle once, whatever its "
    "weight; if {units} to come have weights like the pilot's, a comparison takes {effect:.2f} "
    "times as many (design effect)"
)
"""Assumption of a plan from a pilot whose battles have weights."""


def _assumption_sentences(request: PlanRequest) -> Iterator[str]:
    """Yield what the figures of a plan rest on, a sentence each, without a period.

    With a pilot other things are assumed than without one.
    """
    if request.record is None:
        yield (
            f"{request.ties.value:.0%} of verdicts are ties; win, tie and loss of any two models "
            "are independent"
        )
        yield (
            "the anchor is of middling strength; a strong or a weak one is less informative, as a "
            "pilot would show"
        )
        yield (
            f"ratings have a standard deviation of {ASSUMED_RATING_SD:.0f} Elo over models, and a "
            f"model's rating one of {ASSUMED_ITEM_SD:.0f} Elo over items, as in GPT-4's verdicts "
            "on seven models"
        )
    else:
        yield "items to come are like the pilot's, and the judge is the same"
        if request.groups is not None:
            yield _assumption_on_groups(request.groups)
        if request.record.battles.has_weights:
            yield _assumption_on_weights(request.record.battles)
        raters = raters_of(request.record.battles)
        if raters is not None:
            yield _assumption_on_raters(raters)
        identical = request.record.battles.tally.identical
        if identical:
            yield (
                f"{identical:,} of {quantity(len(request.record.battles), 'battle')} of the pilot "
                f"{word_for(identical, 'is a tie', 'are ties')} of identical responses; as many of "
                "those to come take no calls"
            )
        if request.anchor and request.anchor != request.baseline:
            yield (
                f"{request.anchor} was chosen as the anchor by the same data, which may flatter it"
            )
    yield from _assumptions_on_judges(request)
    yield (
        "items needed and errors are of chance alone; `podium replay --seeds 20` of a record "
        "shows the errors of a design that more items do not remove"
    )


def _assumption_on_groups(groups: PilotGroups) -> str:
    """Write how many items a group is taken to have, and how many more items that takes."""
    effect = f"{groups.effect.value:.2f} ({groups.effect.low:.2f} … {groups.effect.high:.2f})"
    return (
        f"items come in {plural(groups.unit, 2)} of {groups.size:.1f} on average, as the pilot's, "
        f"so that a comparison takes {effect} times as many as if they were independent (design "
        "effect)"
    )


def _assumption_on_weights(battles: Battles) -> str:
    """Write that weights are left out, and how many more items they take.

    The factor is n sum(w^2) / sum(w)^2 over the weights w of n items or groups (Kish 1965).
    """
    share = cluster_shares(prepare_battles(battles))
    effect = len(share) * float(share @ share)
    return UNWEIGHTED_SHARES.format(units=plural(battles.unit, 2), effect=effect)


def _assumption_on_raters(raters: Raters) -> str:
    """Write that more items do not remove the error due to which voters or judges there are."""
    units = plural(raters.unit, 2)
    return (
        f"the pilot's {raters.number:,} {units} are taken as they are: a ranking also has the "
        f"error of which {units} there are, which more {units} remove, not more items"
    )


def _assumptions_on_judges(request: PlanRequest) -> Iterator[str]:
    """Yield what is assumed of the judges, as clauses.

    They are about the number of judges and about how judges are asked. There is none for one judge
    of pairs whose realization is installed.
    """
    tariff = request.tariff
    judges = len(tariff.shares)
    is_jury = request.record is not None and RULE in request.record.battles.columns
    if is_jury and judges > 1 and not tariff.take_turns:
        yield (
            f"{quantity(judges, 'judge')} judge every battle, and calls are those of all together; "
            "errors are those of the merged verdicts of the pilot's jury"
        )
    elif judges > 1:
        yield (
            "errors and items needed are those of one judge's verdicts; judges that err apart "
            "need fewer items"
        )
    if tariff.grades_responses:
        yield f"a judge of single responses ({tariff.realization}) grades each response once"
    if request.record is None:
        return
    from podium.planning.pilots import unknown_realization

    unknown = unknown_realization(request.record.battles, tariff)
    if unknown:
        yield (
            f"calls are those of a judge of pairs: how the pilot's judge is asked ({unknown}) is "
            "not installed here; --realization says otherwise"
        )


def _check_names(
    names: Sequence[str], baseline: str | None, pairs: Sequence[tuple[str, str]]
) -> None:
    """Check that the baseline and the pairs are models of the pilot.

    Args:
        names: names of the pilot's models. If there are none, any name is accepted.
        baseline: name of the baseline; None if there is none.
        pairs: names of the pairs of interest.

    Raises:
        UsageError: a name is not among `names`, or a pair has one model twice.
    """
    typed = [baseline] if baseline else []
    typed += chain.from_iterable(pairs)
    for name in typed:
        if names and name not in names:
            raise unknown_name_error("model", name, names)
    for first, second in pairs:
        if first == second:
            raise UsageError(f"--pair {first} {first}: a pair needs two different models")


def select_design(
    models: int, baseline: str | None = None, pairs: Sequence[tuple[str, str]] = ()
) -> Decision:
    """Decide what to compare, by a decision tree (Don-Yehiya et al. 2026, Figure 5).

    The questions are asked in this order, and the first one that is answered yes decides. Is there
    a baseline? Then `design` is `baseline`. Are there at most three models? Then it is
    `round_robin`, even if pairs are named. Are pairs named? Then it is `pairs`. Otherwise it is
    `ranking`.

    Args:
        models: number of models, 2 or more.
        baseline: name of the natural baseline; None if there is none.
        pairs: names of the pairs of interest; empty if all models are to be ranked.

    Returns:
        The design, the advice in words, and the questions that were asked with their answers.
    """
    about_baseline = "is there a natural baseline that every model is to be compared with?"
    if baseline is not None:
        step = f"{about_baseline} yes, {baseline}: it is the anchor, whatever its strength"
        advice = f"compare every model with {baseline}, and draw no conclusions about other pairs"
        return Decision(design="baseline", advice=advice, steps=(step,))
    steps = [f"{about_baseline} no: none was named (--baseline)"]
    about_number = "are there at most 3 models?"
    if models <= 3:
        answer = f"yes, {models}: all pairs cost no more than an anchor from outside would"
        step = f"{about_number} {answer}"
        advice = "compare the two models" if models == 2 else "compare all pairs"
        return Decision(design="round_robin", advice=advice, steps=(*steps, step))
    steps.append(
        f"{about_number} no, {models}: the cost of all pairs grows with the square of their number"
    )
    about_pairs = "are only some pairs of interest, rather than a ranking of all?"
    if pairs:
        step = f"{about_pairs} yes, {len(pairs)}: a direct comparison wastes nothing on an anchor"
        texts_of_pairs = ", ".join(f"{a} with {b}" for a, b in pairs)
        advice = f"compare {texts_of_pairs}; report win rates of these pairs, no scores"
        return Decision(design="pairs", advice=advice, steps=(*steps, step))
    steps.append(f"{about_pairs} no: none were named (--pair), so all are to be ranked")
    advice = (
        "for a full ranking, take a middling model as the anchor, never the strongest or the "
        "weakest, confirm its informativeness by a pilot and report it; or take a design without "
        "an anchor where the tables below allow it"
    )
    return Decision(design="ranking", advice=advice, steps=tuple(steps))
