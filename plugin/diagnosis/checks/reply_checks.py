"""The check of how many replies of the judges are unparsed."""

from podium.checks import CHECKS, Check, make_check, not_known
from podium.data.battles import Battles
from podium.data.counts import Counts
from podium.diagnosis.checks.card_sections import CardSections
from podium.diagnosis.checks.effects import interval_of
from podium.diagnosis.judge_checks import is_judged, remedy_of_unparsed, unparsed_share
from podium.notices.notice_text import remedies_text


def check_unparsed(battles: Battles) -> tuple[Check, ...]:
    """Check the share of the judges' replies that are unparsed; empty if no judge decided the
    battles."""
    if not is_judged(battles):
        return ()
    remedy = remedy_of_unparsed(battles) if battles.counts().unparsed else None
    return (check_unparsed_count(battles.counts(), unparsed_share(battles), remedy),)


def check_unparsed_count(
    counts: Counts, share: float | None = None, remedy: str | None = None
) -> Check:
    """Check the share of unparsed replies; flagged if it is above the threshold.

    Args:
        counts: the counts of battles.
        share: the share of replies that are unparsed. If it is None, the share of unparsed battles
            is checked instead.
        remedy: what to do if the check is flagged; None if the reasons are not known.
    """
    lost = counts.unparsed / counts.battles if counts.battles else 0.0
    number = lost if share is None else share
    missing = ""
    if counts.missing is not None:
        missing = f", {counts.missing:,} missing"
    of_replies = ""
    # Replies may be unparsed without an unparsed battle: one order then decides it.
    if share is not None and share > 0:
        of_replies = f"; {share:.1%} of the replies"
    fields = {
        "share": number,
        "lost": lost,
        "unparsed": counts.unparsed,
        "battles": counts.battles,
        "missing": missing,
        "of_replies": of_replies,
        "remedy": remedies_text(["reason-first"], {}) if remedy is None else remedy,
    }
    is_flagged = number > CHECKS["unparsed"].threshold
    return make_check("unparsed", is_flagged, number=number, fields=fields)


def unparsed_of_card(card: CardSections) -> tuple[Check, ...]:
    """Check the share of one judge's replies that are unparsed, by its card.

    Empty for the card of a metric.
    """
    if not card.has_judge:
        return ()
    lacking = card.find_lacking("consistency", "unparsed")
    if lacking is not None:
        return (not_known("unparsed", lacking.why, lacking.remedy),)
    unparsed = card.answers["consistency"].unparsed
    fields = {"share": unparsed.value, "remedy": remedy_of_unparsed(card.battles)}
    facts = {"number": unparsed.value, "interval": interval_of(unparsed), "fields": fields}
    return (make_check("unparsed", unparsed.value > CHECKS["unparsed"].threshold, **facts),)
