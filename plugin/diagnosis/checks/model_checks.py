"""Checks whether a ranking can explain the battles.

They find cycles of models, pairs that ratings do not explain, and verdicts on single items that
contradict each other.
"""

from math import comb

from podium.check_kinds import CHECKS
from podium.check_results import Check, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.checks.card_sections import ERROR_RATE, CardSections
from podium.diagnosis.checks.effects import check_beside_chance
from podium.diagnosis.checks.size_limits import FEWEST_COMPARED, are_too_many, why_too_many
from podium.diagnosis.figures import Missing
from podium.diagnosis.fit import (
    FEWEST_ITEMS,
    BradleyTerryFit,
    Cycle,
    PairResidual,
    bradley_terry_fit,
    find_cycles,
    find_triples,
)
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.pairs import cells_by_cluster, pair_sums
from podium.wording import quantity

MOST_UNMET = 0.2
"""Largest share of pairs that never met with which the check of the fit can be ok.

On pairs that never met, the judge may contradict the ratings.
"""
MORE_ITEMS = f"judge every pair on {FEWEST_ITEMS} items"
"""Remedy if there are too few items to find a cycle or to test the fit."""


def check_cycle(battles: Battles) -> tuple[Check, ...]:
    """Test whether three models beat each other in a cycle.

    The check is flagged if there is any cycle. Its p-value is that of the most certain one, not yet
    adjusted with other checks. It is not known for too many battles, if no three models have all
    met, or if there are too few items and no certain cycle. Empty for fewer than three models, or
    if no battle is readable.
    """
    if not battles.tally.judged or len(battles.models) < FEWEST_COMPARED:
        return ()
    if are_too_many(battles):
        return (not_known("cycle", reason=why_too_many(battles)),)
    coded = code_battles(battles)
    pairs = pair_sums(coded)
    triples = find_triples(pairs)
    if not len(triples):
        return (not_known("cycle", reason="no three models have all met"),)
    cells = cells_by_cluster(coded, pairs)
    if cells.items.max() < 2:
        return (not_known("cycle", reason="no pair met on two items"),)
    cycles = find_cycles(coded.models, cells, triples)
    certain = sum(cycle.adjusted <= ERROR_RATE for cycle in cycles)
    is_open = (cells.items[triples].min(axis=1) < FEWEST_ITEMS).all()
    if is_open and not certain:
        return (not_known("cycle", reason="too few items per pair"),)
    p = cycles[0].adjusted if cycles else 1.0
    return (_decide_cycle(cycles, certain, len(triples), p),)


def cycle_of_card(card: CardSections) -> tuple[Check, ...]:
    """Make the check of `check_cycle` by the section of a judge's card.

    The check is not known if the section is missing, or if there are too few items to find a cycle.
    Empty for fewer than three models.
    """
    if len(card.battles.models) < FEWEST_COMPARED:
        return ()
    section = card.answers["cycles"]
    if isinstance(section, Missing):
        return (not_known("cycle", reason=section.why, answer=section.remedy),)
    p = section.cycles[0].adjusted if section.cycles else 1.0
    if p > ERROR_RATE and isinstance(section.sntd, Missing):
        return (not_known("cycle", reason="too few items per pair", answer=MORE_ITEMS),)
    return (_decide_cycle(section.cycles, section.certain, section.triples, p),)


def _decide_cycle(
    cycles: list[Cycle] | tuple[Cycle, ...], certain: int, triples: int, p: float
) -> Check:
    """Return the check of cycles, which is flagged if there are any.

    Args:
        cycles: the cycles to report, the most certain first.
        certain: number of cycles beyond chance.
        triples: number of triples whose pairs all met.
        p: p-value of the most certain cycle.
    """
    fields: dict[str, object] = {"certain": certain, "triples": triples}
    if cycles:
        a, b, c = cycles[0].models
        fields |= {"a": a, "b": b, "c": c}
    return make_check("cycle", bool(cycles), number=certain, p=p, fields=fields)


def check_fit(battles: Battles) -> tuple[Check, ...]:
    """Test whether a Bradley-Terry fit explains all win rates.

    The check is about the pair whose win rate differs most from the fit, or about the model whose
    pairs together differ most, whichever has the smaller p-value. It is flagged by the size of the
    residual, and its p-value is not yet adjusted with other checks.

    Returns:
        The check; not known for too many battles, if the battles do not connect all models, if too
        few pairs met or too few items were played, or if the p-value is above 5% and more than
        `MOST_UNMET` of the pairs never met. Empty for fewer than three models, which any ratings
        fit, or if no battle is readable.
    """
    if not battles.tally.judged or len(battles.models) < FEWEST_COMPARED:
        return ()
    if are_too_many(battles):
        return (not_known("fit", reason=why_too_many(battles)),)
    try:
        fit = bradley_terry_fit(battles)
    except (NotIdentifiedError, NotConvergedError):
        return (not_known("fit", reason="battles do not connect all models"),)
    if isinstance(fit, Missing):
        return (not_known("fit", reason="too few pairs met"),)
    return (_test_fit(fit, battles),)


def _test_fit(fit: BradleyTerryFit, battles: Battles) -> Check:
    """Return the check of `check_fit` by a fit of the battles.

    The check is not known if no pair can be tested, or if too many pairs never met. Otherwise, it
    is flagged if the residual is above the threshold, whatever the p-value.
    """
    pair, p = _worst_pair(fit)
    if p is None:
        return not_known("fit", reason="too few items per pair", answer=MORE_ITEMS)
    possible = comb(len(battles.models), 2)
    unmet = possible - fit.pairs
    if p > ERROR_RATE and unmet > MOST_UNMET * possible:
        return not_known("fit", reason=f"{unmet:,} of {quantity(possible, 'pair')} never met")
    fields = {
        "a": pair.first,
        "b": pair.second,
        "observed": pair.observed,
        "expected": pair.expected,
        "missed": fit.missed,
        "tested": fit.tested,
    }
    number = abs(pair.residual)
    return make_check("fit", number > CHECKS["fit"].threshold, number=number, p=p, fields=fields)


def _worst_pair(fit: BradleyTerryFit) -> tuple[PairResidual, float | None]:
    """Return the pair that the ratings explain least, and the p-value of the fit.

    If a test of all pairs of a model has a smaller p-value than that of single pairs, the pair is
    the worst one of this model.

    Returns:
        The pair, and the p-value, adjusted for all pairs and models; None as p-value if no pair
        can be tested.
    """
    worst_pair = fit.residuals[0]
    if worst_pair.adjusted is None:
        return worst_pair, None
    worst = fit.worst
    if worst is not None and worst.p < worst_pair.adjusted:
        # The pairs are sorted: the first one of this model has its smallest p-value.
        residuals_of_model = (
            pair for pair in fit.residuals if worst.model in (pair.first, pair.second)
        )
        worst_pair = next(residuals_of_model)
    return worst_pair, fit.p


def fit_of_card(card: CardSections) -> tuple[Check, ...]:
    """Make the check of `check_fit` by the section of a judge's card.

    The check is not known if the section is missing. Empty for fewer than three models.
    """
    if len(card.battles.models) < FEWEST_COMPARED:
        return ()
    fit = card.answers["fit"]
    if isinstance(fit, Missing):
        return (not_known("fit", reason=fit.why, answer=fit.remedy),)
    return (_test_fit(fit, card.battles),)


def transitivity_of_card(card: CardSections) -> tuple[Check, ...]:
    """Check by a judge's card whether its verdicts form fewer cycles than random verdicts do.

    The check is flagged if they form more, and not known if the section has no figure or if the
    interval contains that of random verdicts. Empty for fewer than three models, and for the card
    of a metric.
    """
    if not card.has_judge or len(card.battles.models) < FEWEST_COMPARED:
        return ()
    section = card.answers["transitivity"]
    missing_figure = card.find_lacking(section="transitivity", figure="hard")
    if missing_figure is not None:
        return (not_known("transitivity", reason=missing_figure.why, answer=missing_figure.remedy),)
    chance = section.chance
    return (check_beside_chance("transitivity", section.hard, chance, good=-1, random=chance),)
