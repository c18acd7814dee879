"""Checks of lost replies: how many there are, and whether one model's battles lose more."""

from podium.checks import CHECKS, Check, make_check, not_known
from podium.data.battles import Battles
from podium.data.counts import Counts
from podium.diagnosis.checks.card_sections import ERROR_RATE, CardSections
from podium.diagnosis.checks.effects import interval_of
from podium.diagnosis.checks.size_limits import FEWEST_COMPARED, TOO_MANY, are_too_many
from podium.diagnosis.judge_checks import is_judged, remedy_of_unparsed, unparsed_share
from podium.diagnosis.lost_battles import losses_by_model
from podium.notices.notice_text import remedies_text

LEAST_EXCESS = 0.01
"""Largest difference between the shares of lost battles of a model and of all that is ignored.

So few lost battles cannot change a rating by more than 3.5 Elo.
"""


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
    if share is not None and counts.unparsed > 0:
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


def check_lost_replies(battles: Battles) -> tuple[Check, ...]:
    """Test whether the battles of one model are unparsed more or less often than those of others.

    Returns:
        The check, flagged by the size of the difference; its p-value is adjusted for several
        models, but not yet with other checks. `models` has the model with the smallest p-value, and
        those that lose significantly more battles than all. Not known for too many battles, or if
        no item allows the test. Empty if no judge decided the battles, if nothing or everything is
        unparsed, or if there are too few models to compare.
    """
    if are_too_many(battles) and _can_compare_losses(battles):
        return (not_known("lost replies", TOO_MANY),)
    return _test_losses(battles)


def lost_replies_of_card(card: CardSections) -> tuple[Check, ...]:
    """Make the check of `check_lost_replies` for a judge's card, whatever the number of battles."""
    return _test_losses(card.battles)


def _can_compare_losses(battles: Battles) -> bool:
    """Return whether a judge decided the battles, some replies are lost, and 3 models played."""
    counts = battles.counts()
    is_partial = 0 < counts.unparsed < counts.battles
    return is_judged(battles) and is_partial and len(battles.models) >= FEWEST_COMPARED


def _test_losses(battles: Battles) -> tuple[Check, ...]:
    """Make the check of `check_lost_replies`, whatever the number of battles."""
    if not _can_compare_losses(battles):
        return ()
    losses = losses_by_model(battles)
    if not losses:
        reason = "no two models have as many battles on an item with lost ones"
        return (not_known("lost replies", reason),)
    counts = battles.counts()
    everywhere = counts.unparsed / counts.battles
    large = [loss for loss in losses if abs(loss.share - everywhere) > LEAST_EXCESS]
    worst = min(large or losses, key=lambda loss: loss.p)
    # The smallest of several p-values times their number is the first step of Holm's rule. `more`
    # has the models that lose significantly more battles than all models together.
    p = min(1.0, worst.p * len(losses))
    more = []
    for loss in large:
        is_significant = loss.p * len(losses) <= ERROR_RATE
        if loss.share > everywhere and is_significant:
            more.append(loss.model)
    check = make_check(
        "lost replies",
        bool(large),
        number=worst.share,
        p=p,
        fields={"model": worst.model, "share": worst.share, "all": everywhere},
        models=tuple(dict.fromkeys([worst.model, *more])),
    )
    return (check,)
