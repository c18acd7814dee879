"""Check whether one voter or judge decides which of two models is ahead."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from podium.check_results import Check, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.checks.size_limits import are_too_many
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.errors.raters import count_raters, raters_of
from podium.rankers.ranking import Separation, Standings
from podium.wording import quantity

if TYPE_CHECKING:
    from podium.rankers.decisive_raters import DecisiveRater, ScoresWithout

DECISIVE_RATER = "decisive rater"
"""Name of the check."""
FAILED_FIT = "the fits without each voter or judge failed"
"""Why the check is not known, if a fit fails."""
LEAST_Z = 1.0
"""A smaller lead, in standard errors, says so little that removals need not be named."""
HEAVY_SHARE = 0.25
"""A voter or judge who gave a larger share of the verdicts may decide any lead."""
MOST_RATERS_OF_PAIRS = 50
"""With more voters or judges, only the first place is checked: errors include how they differ, so
that one of many hardly turns round a clear difference."""
RANKERS_WITHOUT_RATER = ("bradley-terry", "win-rate", "mean")
"""Rankers whose scores can be computed without each voter or judge."""


def check_leading_rater(battles: Battles, standings: Standings) -> tuple[Check, ...]:
    """Check whether one voter or judge decides which model is first, or another clear difference.

    The first place is checked if the first model is clearly ahead of all others. If errors include
    how at least 10 voters or judges differ, it is also checked if the first model is `LEAST_Z`
    standard errors ahead, or if one voter or judge gave many of the verdicts (`has_heavy_rater`).
    Closer models are not checked, because many removals change their places. If the first place
    does not change, and there are at most `MOST_RATERS_OF_PAIRS` voters or judges, all pairs are
    checked of which one model is clearly ahead.

    Returns:
        The check. Empty if there is one judge and no voters, if there are too many battles, if the
        ranker is none of `RANKERS_WITHOUT_RATER`, if the ranking has not tested pairs, if the
        scores computed here have another order than the ranking, or if no model is clearly ahead
        and nothing is flagged.
    """
    separation = standings.separation
    has_scores_without = standings.ranker in RANKERS_WITHOUT_RATER
    if separation is None or not has_scores_without or are_too_many(battles):
        return ()
    is_clear = 1 in separation.cuts
    has_raters = "raters" in standings.diagnostics
    is_ahead = has_raters and separation.z is not None and separation.z >= LEAST_Z
    is_first_checked = is_clear or is_ahead or (has_raters and has_heavy_rater(battles))
    pairs = clear_pairs(separation) if _are_few_raters(battles) else []
    if not is_first_checked and not pairs:
        return ()
    scores_without = _scores_without_rater(standings.ranker)
    checks = _check_places(
        battles, scores_without, separation, pairs, is_first_checked=is_first_checked
    )
    return tuple(check for check in checks if is_clear or pairs or check.is_flagged)


def _are_few_raters(battles: Battles) -> bool:
    """Return whether there are 2 to `MOST_RATERS_OF_PAIRS` voters or judges."""
    raters = count_raters(battles)
    if raters is None:
        return False
    _, number = raters
    return 1 < number <= MOST_RATERS_OF_PAIRS


def _check_places(
    battles: Battles,
    scores_without: "Callable[[Battles], ScoresWithout | None]",
    separation: Separation,
    pairs: Sequence[tuple[str, str]],
    *,
    is_first_checked: bool,
) -> tuple[Check, ...]:
    """Return the check of the first place or, if it does not change, of other pairs.

    The check is not known if a fit fails. There is no check if the scores that are computed here
    have another order than the ranking; a ranking at equal length may differ from these plain
    scores.

    Args:
        battles: the battles.
        scores_without: computes scores without each voter or judge.
        separation: which models are clearly ahead of which.
        pairs: the pairs to check beside the first place, the model that is ahead first.
        is_first_checked: whether the first place is checked.
    """
    scores = _try_scores(battles, scores_without)
    if scores is None:
        return ()
    if isinstance(scores, Check):
        return (scores,)
    leader = separation.names[0]
    if is_first_checked and scores.leads(leader):
        decisive = scores.decisive_rater(leader)
        if decisive is not None:
            return (_flagged_rater_check(decisive, battles, is_first=True),)
    ordered = scores.pairs_in_order(pairs)
    decisive = scores.decisive_rater_of_pairs(ordered)
    if decisive is not None:
        return (_flagged_rater_check(decisive, battles, is_first=False),)
    if 1 in separation.cuts:
        if not scores.leads(leader):
            return ()
        return (_rater_check_passed(scores, f"{leader} still leads"),)
    if not ordered:
        return ()
    return (_rater_check_passed(scores, "no clear difference turns round"),)


def clear_pairs(separation: Separation) -> list[tuple[str, str]]:
    """Return the names of all pairs of which one model is clearly ahead, this model first in each.

    The pairs are in the order of the places.
    """
    names = separation.names
    pairs = []
    for ahead, others in enumerate(separation.beats):
        for behind in others:
            pairs.append((names[ahead], names[behind]))
    return pairs


def has_heavy_rater(battles: Battles) -> bool:
    """Return whether one voter or judge gave more than `HEAVY_SHARE` of the readable verdicts.

    Voters are looked at if there are at least 10, else judges if there are at least 10. With fewer
    of both the result is False.
    """
    raters = raters_of(battles)
    if raters is None:
        return False
    verdicts = np.bincount(raters.code)[: raters.number]
    return bool(verdicts.max() > HEAVY_SHARE * len(raters.code))


def check_rater_of_pair(
    battles: Battles, ranker: str, leader: str, other: str, credit: np.ndarray | None = None
) -> tuple[Check, ...]:
    """Check whether a model is clearly ahead of another only by one voter or judge.

    Args:
        battles: the battles that are compared.
        ranker: the ranker, one of `RANKERS_WITHOUT_RATER`, whose scores are compared.
        leader: the model that is ahead.
        other: the other model.
        credit: credits in place of those of the battles, shape (battles,), for `bradley-terry`.

    Returns:
        The check, also if it is ok or not known. Empty if there is one judge and no voters, if
        there are too many battles, or if the other model leads by these scores.
    """
    if are_too_many(battles):
        return ()
    return _check_lead(battles, _scores_without_rater(ranker, credit), leader, (other,))


def _scores_without_rater(
    ranker: str, credit: np.ndarray | None = None
) -> "Callable[[Battles], ScoresWithout | None]":
    """Return the function that computes a ranker's scores without each voter or judge.

    Args:
        ranker: the ranker, one of `RANKERS_WITHOUT_RATER`.
        credit: credits in place of those of the battles, shape (battles,), with which the result
            computes the scores of `bradley-terry` whatever the ranker is.
    """
    # Imported here, because few rankings need these fits.
    from podium.rankers.decisive_raters import (
        means_without_raters,
        rates_without_raters,
        strengths_without_raters,
    )

    if credit is not None:
        return partial(strengths_without_raters, credit=credit)
    functions: dict[str, Callable[[Battles], ScoresWithout | None]] = {
        "bradley-terry": strengths_without_raters,
        "win-rate": rates_without_raters,
        "mean": means_without_raters,
    }
    return functions[ranker]


def _check_lead(
    battles: Battles,
    scores_without: "Callable[[Battles], ScoresWithout | None]",
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
    scores = _try_scores(battles, scores_without)
    if isinstance(scores, Check):
        return (scores,)
    if scores is None or not scores.leads(leader, rivals):
        return ()
    decisive = scores.decisive_rater(leader, rivals)
    if decisive is None:
        return (_rater_check_passed(scores, f"{leader} still leads"),)
    return (_flagged_rater_check(decisive, battles, is_first=True),)


def _try_scores(
    battles: Battles, scores_without: "Callable[[Battles], ScoresWithout | None]"
) -> "ScoresWithout | Check | None":
    """Return scores without each voter or judge, or the check that a fit failed.

    Returns:
        The scores; a check that is not known if a fit fails; None with one judge and no voters.
    """
    try:
        return scores_without(battles)
    except (NotIdentifiedError, NotConvergedError):
        return not_known(DECISIVE_RATER, reason=FAILED_FIT)


def _rater_check_passed(scores: "ScoresWithout", unchanged: str) -> Check:
    """Return the ok check that no voter or judge decides.

    Args:
        scores: scores without each voter or judge.
        unchanged: clause on what stays as it is, such as `a still leads`.
    """
    raters = quantity(scores.raters.number, scores.raters.unit)
    return make_check(
        DECISIVE_RATER, is_flagged=False, fields={"kept": unchanged, "raters": raters}
    )


def _flagged_rater_check(decisive: "DecisiveRater", battles: Battles, *, is_first: bool) -> Check:
    """Return the flagged check that a voter or judge decides.

    With `is_first` the check is about who leads, else about who is ahead in a pair.
    """
    fields = _decisive_fields(decisive, battles, is_first=is_first)
    return make_check(DECISIVE_RATER, is_flagged=True, number=float(decisive.number), fields=fields)


def _decisive_fields(
    decisive: "DecisiveRater", battles: Battles, *, is_first: bool
) -> dict[str, str]:
    """Return the fields of a flagged check, all of them texts; a judge has its short name.

    Args:
        decisive: the voter or judge.
        battles: the battles.
        is_first: whether the first place changes, or else the order of another pair.
    """
    name = decisive.name
    if decisive.unit == "judge":
        name = battles.short_judges.get(name, name)
    noun = "vote" if decisive.unit == "voter" else "verdict"
    if decisive.of_scores:
        noun = "score"
    number_of_others = decisive.number - 1
    further_raters = ""
    if number_of_others:
        further_raters = f"; {quantity(number_of_others, f'other {decisive.unit}')} also"
    verb = " decides" if number_of_others == 1 else " decide"
    change = f"{decisive.new_leader} leads instead of {decisive.leader}"
    what = "who leads"
    if not is_first:
        change = f"{decisive.new_leader} would be ahead of {decisive.leader}, which now leads it"
        what = "who is ahead in a pair"
    return {
        "unit": decisive.unit,
        "name": name,
        "verdicts": quantity(decisive.verdicts, noun),
        "leader": decisive.leader,
        "rival": decisive.new_leader,
        "change": change,
        "others": f"{further_raters}{verb} {what}" if number_of_others else "",
    }
