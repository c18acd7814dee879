"""Descriptions of who judged: how much voters differ, and which judge disagrees with the others."""

from typing import NamedTuple

import numpy as np

from podium.check_results import Check, make_check, not_known
from podium.data.battles import Battles
from podium.data.counting.relations import UNNAMED_JUDGE
from podium.diagnosis.checks.audit_data import AuditData
from podium.diagnosis.checks.effects import facts_of
from podium.diagnosis.checks.size_limits import MOST_BATTLES, are_too_many, why_too_many
from podium.diagnosis.clustered import Clustered, cluster_battles
from podium.diagnosis.figures import Statistic
from podium.diagnosis.judge_checks import are_human_votes
from podium.diagnosis.order_effect import MOST_JUDGES
from podium.diagnosis.subject import matchup_codes
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.errors.raters import FEWEST_RATERS, covariance_of_raters, raters_of
from podium.rankers.fit.cells import prepare_battles
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.identification import fit_battles
from podium.wording import quantity


def describe_voters(data: AuditData) -> tuple[Check, ...]:
    """Describe how votes are shared, and how much larger errors are that include voters.

    The factor is the median over models of the standard error by items and voters over that by
    items alone, of Bradley-Terry ratings. Without voters, judges are looked at if there are at
    least 10. The number of the check is the largest share of the votes that one of them gave.

    Returns:
        The check; not known with fewer than 10 voters, for too many battles, or if a fit fails.
        Empty with fewer than two voters and fewer than 10 judges.
    """
    battles = data.battles
    raters = raters_of(battles, fewest=2)
    if raters is None or (raters.unit == "judge" and raters.number < FEWEST_RATERS):
        return ()
    if raters.number < FEWEST_RATERS:
        number_of_raters = quantity(raters.number, raters.unit)
        return (
            not_known("voters", reason=f"only {number_of_raters}: intervals are about these alone"),
        )
    if are_too_many(battles):
        return (not_known("voters", reason=why_too_many(battles)),)
    try:
        coded = code_battles(battles)
        strengths = fit_battles(prepare_battles(battles))
    except (NotIdentifiedError, NotConvergedError):
        return (not_known("voters", reason="battles do not connect all models"),)
    size = len(coded.models)
    added, _ = covariance_of_raters(
        lambda clustered: strengths.covariance(clustered)[:size, :size], coded, raters
    )
    by_item = np.diag(strengths.covariance(coded))[:size]
    by_item_and_rater = np.maximum(by_item + np.diag(added), 0.0)
    ratio = np.sqrt(by_item_and_rater / np.maximum(by_item, 1e-12))
    verdicts = np.bincount(raters.code)
    share = float(verdicts.max() / len(raters.code))
    noun = "votes" if raters.unit == "voter" else "verdicts"
    fields = {
        "raters": quantity(raters.number, raters.unit),
        "share": share,
        "verdicts": noun,
        "factor": float(np.median(ratio)),
    }
    return (make_check("voters", is_flagged=False, number=share, fields=fields),)


class SharedVerdicts(NamedTuple):
    """The verdicts of several judges on the same battles.

    Attributes:
        judges: names of the judges.
        winner: by matchup and judge, 1 if the model with the lower code won, -1 if the other one
            did, and 0 for a tie or without a verdict, shape (matchups, judges).
        sample: the matchups as a sample.
    """

    judges: tuple[str, ...]
    winner: np.ndarray
    sample: Clustered

    def agreement_of(self, judge: int) -> Statistic | None:
        """Return the share of the other judges' verdicts with the same winner as those of a judge.

        Only battles count on which this judge and another one name a winner. None if there are
        none.

        Args:
            judge: position of the judge in `judges`.
        """
        winner_by_judge = self.winner[:, [judge]]
        others = np.delete(self.winner, judge, axis=1)
        are_both_decisive = (winner_by_judge != 0) & (others != 0)
        share = self.sample.share(
            ((winner_by_judge == others) & are_both_decisive).sum(axis=1),
            cells=are_both_decisive.sum(axis=1),
        )
        return share if isinstance(share, Statistic) else None


def describe_agreement(data: AuditData) -> tuple[Check, ...]:
    """Describe which judge agrees least with the others, on the battles that they share.

    Judges of the whole data are looked at, also if the ranking is of one of them.

    Returns:
        The check; not known if the judges share no battle, or for too many battles. Empty with
        fewer than two judges, or more than `MOST_JUDGES`, and for votes of humans.
    """
    battles = data.battles.whole or data.battles
    if not 1 < len(battles.judges) <= MOST_JUDGES or are_human_votes(battles):
        return ()
    if len(battles) > MOST_BATTLES:
        return (not_known("judges", reason=why_too_many(battles)),)
    shared_verdicts = _shared_verdicts(battles)
    agreements = []
    for k, name in enumerate(shared_verdicts.judges):
        agreement = shared_verdicts.agreement_of(k)
        if agreement is not None:
            agreements.append((agreement, battles.short_judges.get(name, name)))
    if not agreements:
        return (not_known("judges", reason="no battle has a winner by two judges"),)
    agreements.sort(key=_value_and_judge)
    least, judge = agreements[0]
    most, best = agreements[-1]
    # Two judges agree with each other equally often.
    more = f"; the most: {best}, on {most.brief}" if len(agreements) > 2 else ""
    verdicts = f"{quantity(least.n, 'verdict')} on the same battles"
    facts = facts_of(least, judge=judge, verdicts=verdicts, most=more)
    return (make_check("judges", is_flagged=False, **facts),)


def _value_and_judge(agreement: tuple[Statistic, str]) -> tuple[float, str]:
    """Return the key by which agreements are sorted: by value, then by the name of the judge."""
    figure, judge = agreement
    return figure.value, judge


def _shared_verdicts(battles: Battles) -> SharedVerdicts:
    """Return the winner of each matchup by each judge.

    A matchup is two models on an item. Repeats and orders of a judge are summed; 0 stands for a tie
    and for a matchup that the judge did not judge.

    Returns:
        All judges and matchups of readable battles, also matchups of one judge. Battles whose judge
        is not listed are left out.
    """
    rows = np.flatnonzero(battles.readable)
    judges = battles.judges
    code_of = {name: k for k, name in enumerate(judges)}
    names = battles.rows.texts_of("judge")[rows]
    judge = np.array([code_of.get(name or UNNAMED_JUDGE, -1) for name in names])
    is_known = judge >= 0
    rows = rows[is_known]
    judge = judge[is_known]
    matchups, first_row, matchup = np.unique(
        matchup_codes(battles, rows), return_index=True, return_inverse=True
    )
    first, second = (codes[rows] for codes in battles.model_codes)
    lead = battles.numbers_of("credit")[rows] - 0.5
    lead = np.where(first > second, -lead, lead)
    size = len(matchups) * len(judges)
    total = np.bincount(matchup * len(judges) + judge, lead, size).reshape(len(matchups), -1)
    sample = cluster_battles(battles).take(rows[first_row])
    return SharedVerdicts(judges, np.sign(np.round(total, 9)), sample)
