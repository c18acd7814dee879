"""Check whether one voter or judge decides which of two models is ahead."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from podium.checks import Check, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.checks.size_limits import are_too_many
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.hookspecs import load_target
from podium.rankers.errors.raters import count_raters, raters_of
from podium.rankers.ranking import Separation, Standings
from podium.wording import quantity

if TYPE_CHECKING:
    from podium.rankers.decisive_raters import DecisiveRater, ScoresWithout

DECISIVE_RATER = "decisive rater"
"""Name of the check."""
FAILED_FIT = "the fits without each voter or judge failed"
"""Why the check is not known."""
LEAST_Z = 1.0
"""A smaller lead, in standard errors, says so little that removals need not be named."""
HEAVY_SHARE = 0.25
"""A voter or judge who gave a larger share of the verdicts may decide any lead."""
MOST_RATERS_OF_PAIRS = 50
"""With more voters or judges, only the first place is checked: errors include how they differ, so
that one of many hardly turns round a clear difference."""
SCORES_WITHOUT_RATER: "dict[str, str | Callable[[Battles], ScoresWithout | None]]" = {
    "bradley-terry": "podium.rankers.decisive_raters:strengths_without_raters",
    "win-rate": "podium.rankers.decisive_raters:rates_without_raters",
    "mean": "podium.rankers.decisive_raters:means_without_raters",
}
"""By ranker, the function that computes its scores without each voter or judge.

A text `module:name` names a function that is imported when it is needed, which is seldom.
"""


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
        ranker is none of `SCORES_WITHOUT_RATER`, or if no model is clearly ahead and nothing is
        flagged.
    """
    separation = standings.separation
    scores_without = SCORES_WITHOUT_RATER.get(standings.ranker)
    if separation is None or scores_without is None or are_too_many(battles):
        return ()
    is_clear = 1 in separation.cuts
    has_raters = "raters" in standings.diagnostics
    is_ahead = has_raters and separation.z is not None and separation.z >= LEAST_Z
    is_first_checked = is_clear or is_ahead or (has_raters and has_heavy_rater(battles))
    pairs = clear_pairs(separation) if _are_few_raters(battles) else []
    if not is_first_checked and not pairs:
        return ()
    checks = _check_places(
        battles, scores_without, separation, pairs, is_first_checked=is_first_checked
    )
    return tuple(check for check in checks if is_clear or pairs or check.is_flagged)


def _are_few_raters(battles: Battles) -> bool:
    """Return whether voters or judges are so few that one may turn round any clear difference."""
    raters = count_raters(battles)
    return raters is not None and 1 < raters[1] <= MOST_RATERS_OF_PAIRS


def _check_places(
    battles: Battles,
    scores_without: "str | Callable[[Battles], ScoresWithout | None]",
    separation: Separation,
    pairs: Sequence[tuple[str, str]],
    *,
    is_first_checked: bool,
) -> tuple[Check, ...]:
    """Return the check of the first place or, if it does not change, of other pairs.

    It is not known if a fit fails. There is none if the scores that are computed here have another
    order than the ranking; a ranking at equal length may differ from these plain scores.

    Args:
        battles: the battles.
        scores_without: computes scores without each voter or judge, as in `SCORES_WITHOUT_RATER`.
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
    """Return the names of all pairs of which one model is clearly ahead, this model first."""
    names = separation.names
    pairs = []
    for ahead, others in enumerate(separation.beats):
        for behind in others:
            pairs.append((names[ahead], names[behind]))
    return pairs


def has_heavy_rater(battles: Battles) -> bool:
    """Return whether a voter or judge gave more than `HEAVY_SHARE` of the readable verdicts.

    Voters are looked at if there are at least 10, else judges if there are as many.
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
        ranker: the ranker, one of `SCORES_WITHOUT_RATER`, whose scores are compared.
        leader: the model that is ahead.
        other: the other model.
        credit: credits in place of those of the battles, shape (battles,), for `bradley-terry`.

    Returns:
        The check; empty if there is one judge and no voters, or there are too many battles.
    """
    if are_too_many(battles):
        return ()
    scores_without = SCORES_WITHOUT_RATER[ranker]
    if credit is not None:
        scores_without = partial(load_target(SCORES_WITHOUT_RATER["bradley-terry"]), credit=credit)
    return _check_lead(battles, scores_without, leader, (other,))


def _check_lead(
    battles: Battles,
    scores_without: "str | Callable[[Battles], ScoresWithout | None]",
    leader: str,
    rivals: tuple[str, ...] = (),
) -> tuple[Check, ...]:
    """Return the check of a lead, which is not known if a fit fails.

    There is none with one judge and no voters, or if another model leads by these scores.

    Args:
        battles: the battles.
        scores_without: computes scores without each voter or judge, as in `SCORES_WITHOUT_RATER`.
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
    battles: Battles, scores_without: "str | Callable[[Battles], ScoresWithout | None]"
) -> "ScoresWithout | Check | None":
    """Return scores without each voter or judge, or the check that is not known if a fit fails.

    None with one judge and no voters.
    """
    try:
        scores: ScoresWithout | None = load_target(scores_without)(battles)
    except (NotIdentifiedError, NotConvergedError):
        return not_known(DECISIVE_RATER, FAILED_FIT)
    return scores


def _rater_check_passed(scores: "ScoresWithout", kept: str) -> Check:
    """Return the check that no voter or judge decides; `kept` says what stays as it is."""
    raters = quantity(scores.raters.number, scores.raters.unit)
    return make_check(DECISIVE_RATER, is_flagged=False, fields={"kept": kept, "raters": raters})


def _flagged_rater_check(decisive: "DecisiveRater", battles: Battles, *, is_first: bool) -> Check:
    """Return the check that a voter or judge decides who leads or, if not `is_first`, a place."""
    fields = _decisive_fields(decisive, battles, is_first=is_first)
    return make_check(DECISIVE_RATER, is_flagged=True, number=float(decisive.number), fields=fields)


def _decisive_fields(
    decisive: "DecisiveRater", battles: Battles, *, is_first: bool
) -> dict[str, str]:
    """Return what the text of a flagged check names; a judge has its short name.

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
    others = decisive.number - 1
    each = f"; {quantity(others, f'other {decisive.unit}')} also" if others else ""
    verb = " decides" if others == 1 else " decide"
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
        "others": f"{each}{verb} {what}" if others else "",
    }
