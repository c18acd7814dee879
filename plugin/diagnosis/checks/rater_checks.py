"""Check whether one voter or judge decides which model is ahead."""

from collections.abc import Callable

import numpy as np

from podium.checks import Check, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.checks.size_limits import are_too_many
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.decisive_raters import (
    DecisiveRater,
    ScoresWithout,
    means_without_raters,
    rates_without_raters,
    strengths_without_raters,
)
from podium.rankers.errors.raters import raters_of
from podium.rankers.ranking import Standings
from podium.wording import quantity

DECISIVE_RATER = "decisive rater"
"""Name of the check."""
FAILED_FIT = "the fits without each voter or judge failed"
"""Why the check is not known."""
LEAST_Z = 1.0
"""A smaller lead, in standard errors, says so little that removals need not be named."""
HEAVY_SHARE = 0.25
"""A voter or judge who gave a larger share of the verdicts may decide any lead."""
SCORES_WITHOUT: dict[str, Callable[[Battles], ScoresWithout | None]] = {
    "bradley-terry": strengths_without_raters,
    "win-rate": rates_without_raters,
    "mean": means_without_raters,
}
"""By ranker, the function that computes its scores without each voter or judge."""


def check_leading_rater(battles: Battles, standings: Standings) -> tuple[Check, ...]:
    """Check whether one voter or judge decides which model is first.

    Only a model that is clearly ahead of all others is checked, or, if errors include how at least
    10 voters or judges differ, one that is at least `LEAST_Z` standard errors ahead, or any first
    model if one voter or judge gave many of the verdicts (`has_heavy_rater`). Otherwise, closer
    models change places by many removals.

    Returns:
        The check, of a model that is not clearly ahead only if it is flagged; empty if there is one
        judge and no voters, there are too many battles, or the ranker is none of `SCORES_WITHOUT`.
    """
    separation = standings.separation
    scores_without = SCORES_WITHOUT.get(standings.ranker)
    if separation is None or scores_without is None or are_too_many(battles):
        return ()
    is_clear = 1 in separation.cuts
    has_raters = "raters" in standings.diagnostics
    is_ahead = has_raters and separation.z is not None and separation.z >= LEAST_Z
    if not is_clear and not is_ahead and not (has_raters and has_heavy_rater(battles)):
        return ()
    checks = _check_lead(battles, scores_without, separation.names[0])
    return tuple(check for check in checks if is_clear or check.is_flagged)


def has_heavy_rater(battles: Battles) -> bool:
    """Return whether a voter or judge gave more than `HEAVY_SHARE` of the readable verdicts.

    Voters are looked at if there are at least 10, else judges if there are as many.
    """
    raters = raters_of(battles)
    if raters is None:
        return False
    return bool(np.bincount(raters.code).max() > HEAVY_SHARE * len(raters.code))


def check_rater_of_pair(
    battles: Battles, ranker: str, leader: str, other: str, credit: np.ndarray | None = None
) -> tuple[Check, ...]:
    """Check whether a model is clearly ahead of another only by one voter or judge.

    Args:
        battles: the battles that are compared.
        ranker: the ranker, one of `SCORES_WITHOUT`, whose scores are compared.
        leader: the model that is ahead.
        other: the other model.
        credit: credits in place of those of the battles, shape (battles,), for `bradley-terry`.

    Returns:
        The check; empty if there is one judge and no voters, or there are too many battles.
    """
    if are_too_many(battles):
        return ()
    scores_without = SCORES_WITHOUT[ranker]
    if credit is not None:
        return _check_lead(
            battles, lambda part: strengths_without_raters(part, credit), leader, (other,)
        )
    return _check_lead(battles, scores_without, leader, (other,))


def _check_lead(
    battles: Battles,
    scores_without: Callable[[Battles], ScoresWithout | None],
    leader: str,
    rivals: tuple[str, ...] = (),
) -> tuple[Check, ...]:
    """Return the check of a lead, which is not known if a fit fails.

    There is none with one judge and no voters, or if another model leads by these scores.

    Args:
        battles: the battles.
        scores_without: computes scores without each voter or judge.
        leader: the model that is ahead.
        rivals: the models that it is ahead of; all others if empty.
    """
    try:
        scores = scores_without(battles)
    except (NotIdentifiedError, NotConvergedError):
        return (not_known(DECISIVE_RATER, FAILED_FIT),)
    if scores is None or not scores.leads(leader, rivals):
        return ()
    decisive = scores.decisive_rater(leader, rivals)
    if decisive is None:
        raters = quantity(scores.raters.number, scores.raters.unit)
        return (make_check(DECISIVE_RATER, False, fields={"leader": leader, "raters": raters}),)
    fields = _decisive_fields(decisive, battles)
    return (make_check(DECISIVE_RATER, True, number=float(decisive.number), fields=fields),)


def _decisive_fields(decisive: DecisiveRater, battles: Battles) -> dict[str, str]:
    """Return what the text of a flagged check names; a judge has its short name."""
    name = decisive.name
    if decisive.unit == "judge":
        name = battles.short_judges.get(name, name)
    noun = "score" if decisive.of_scores else {"voter": "vote", "judge": "verdict"}[decisive.unit]
    others = decisive.number - 1
    each = f"; {quantity(others, f'other {decisive.unit}')} also" if others else ""
    verb = " decides" if others == 1 else " decide"
    return {
        "unit": decisive.unit,
        "name": name,
        "verdicts": quantity(decisive.verdicts, noun),
        "leader": decisive.leader,
        "rival": decisive.new_leader,
        "others": f"{each}{verb} who leads" if others else "",
    }
