"""The checks of how many replies of the judges are unparsed, and how many are ties."""

import numpy as np

from podium.check_kinds import CHECKS
from podium.check_results import Check, make_check, not_known
from podium.data.battles import Battles
from podium.data.counting.relations import UNNAMED_JUDGE
from podium.data.counts import Counts
from podium.diagnosis.checks.card_sections import CardSections
from podium.diagnosis.checks.effects import interval_of
from podium.diagnosis.checks.finer_verdicts import ways_without_ties, words_of_raters
from podium.diagnosis.checks.size_limits import MOST_BATTLES
from podium.diagnosis.judge_checks import (
    are_human_votes,
    is_judged,
    remedy_of_unparsed,
    unparsed_share,
)
from podium.diagnosis.order_effect import MOST_JUDGES
from podium.notices.notice_text import remedies_text

LEAST_BATTLES = 20
"""Battles with a verdict from which on a judge may be said to give nearly only ties."""


def check_only_ties(battles: Battles) -> tuple[Check, ...]:
    """Check whether nearly all verdicts of the judges are ties.

    A battle is a tie if no order has a winner: flips are no ties. From 2 to `MOST_JUDGES` judges
    are looked at one by one, unless there are too many battles; otherwise all battles are looked at
    together.

    Args:
        battles: the battles that judges were asked about, without those of identical responses.

    Returns:
        The flagged check, of the judge with the largest share of ties if judges are looked at one
        by one. Empty if no check is flagged, or if no judge decided the battles.
    """
    if not is_judged(battles):
        return ()
    has_one_judge = len(battles.judges) == 1 and battles.judges[0] != UNNAMED_JUDGE
    # The battles that are looked at, by name of the judge; empty for all battles together.
    name_of_all = battles.judges[0] if has_one_judge else ""
    parts = {name_of_all: battles}
    if 1 < len(battles.judges) <= MOST_JUDGES and len(battles) <= MOST_BATTLES:
        names = np.array([name or UNNAMED_JUDGE for name in battles.rows.texts_of("judge")])
        parts = {name: battles.select(names == name) for name in battles.judges}
    checks = [_check_ties_of(part, name) for name, part in parts.items()]
    flagged = [check for check in checks if check is not None]
    return (max(flagged, key=lambda check: check.number or 0),) if flagged else ()


def _check_ties_of(battles: Battles, judge: str) -> Check | None:
    """Return the flagged check of battles; None if they are too few or are not nearly all ties.

    Args:
        battles: the battles of one judge, or of all.
        judge: name of the judge; empty if it has none, or if the battles are those of all.
    """
    tally = battles.tally
    ties = tally.judged - tally.decided - tally.swaps["flip"]
    if tally.judged < LEAST_BATTLES:
        return None
    share = ties / tally.judged
    if share <= CHECKS["only ties"].threshold:
        return None
    who = f"the judge {battles.judge_of(judge).shown_model}" if judge else "this judge"
    if not judge and len(battles.judges) > 1:
        who = "the judges together"
    ways = ways_without_ties(battles)
    fields = {"share": share, "battles": tally.judged, "ways": ways}
    fields |= words_of_raters(battles, who)
    return make_check("only ties", is_flagged=True, number=share, fields=fields)


def check_unparsed(battles: Battles) -> tuple[Check, ...]:
    """Check the share of the judges' replies that are unparsed, as `check_unparsed_count` does.

    Empty if no judge decided the battles.
    """
    if not is_judged(battles):
        return ()
    remedy = remedy_of_unparsed(battles) if battles.counts().unparsed else None
    share = unparsed_share(battles)
    are_votes = are_human_votes(battles)
    return (check_unparsed_count(battles.counts(), share, remedy, are_votes=are_votes),)


def check_unparsed_count(
    counts: Counts,
    share: float | None = None,
    remedy: str | None = None,
    *,
    are_votes: bool = False,
) -> Check:
    """Return the check of the share of unparsed replies, flagged if it is above the threshold.

    Args:
        counts: the counts of battles.
        share: the share of replies that are unparsed. If it is None, the share of unparsed battles
            is checked instead.
        remedy: what to do if the check is flagged; None if the reasons are not known.
        are_votes: whether the judgments are votes of humans, not replies of judges.

    Returns:
        The check, flagged or ok; ok without battles.
    """
    lost = counts.unparsed / counts.battles if counts.battles else 0.0
    number = lost if share is None else share
    missing = ""
    if counts.missing is not None:
        missing = f", {counts.missing:,} missing"
    of_replies = ""
    # Replies may be unparsed without an unparsed battle: one order then decides it.
    if share is not None and share > 0:
        of_replies = f"; {share:.1%} of the {'votes' if are_votes else 'replies'}"
    fields = {
        "share": number,
        "replies": words_for_unparsed(are_votes),
        "lost": lost,
        "unparsed": counts.unparsed,
        "battles": counts.battles,
        "missing": missing,
        "of_replies": of_replies,
        "remedy": remedies_text(["reason-first"], {}) if remedy is None else remedy,
    }
    is_flagged = number > CHECKS["unparsed"].threshold
    return make_check("unparsed", is_flagged, number=number, fields=fields)


def words_for_unparsed(are_votes: bool) -> str:
    """Return a clause on unparsed judgments, which follows a share of them.

    The clause is about votes of humans, or about replies of a judge.
    """
    return "the votes are without a verdict" if are_votes else "the judge's replies are unparsed"


def unparsed_of_card(card: CardSections) -> tuple[Check, ...]:
    """Check the share of one judge's replies that are unparsed, by its card.

    The check is flagged if the share is above the threshold, whatever its interval, and not known
    if the card has no such share. Empty for the card of a metric.
    """
    if not card.has_judge:
        return ()
    missing_figure = card.find_lacking(section="consistency", figure="unparsed")
    if missing_figure is not None:
        return (not_known("unparsed", reason=missing_figure.why, answer=missing_figure.remedy),)
    unparsed = card.answers["consistency"].unparsed
    fields = {
        "share": unparsed.value,
        "replies": words_for_unparsed(are_human_votes(card.battles)),
        "remedy": remedy_of_unparsed(card.battles),
    }
    facts = {"number": unparsed.value, "interval": interval_of(unparsed), "fields": fields}
    return (make_check("unparsed", unparsed.value > CHECKS["unparsed"].threshold, **facts),)
