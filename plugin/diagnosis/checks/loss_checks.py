"""Checks whether battles or scores are lost at random: by model, and by who would have won."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from podium.check_results import Check, Result, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.absent_rows import find_absent_verdicts
from podium.diagnosis.checks.card_sections import ERROR_RATE, CardSections
from podium.diagnosis.checks.order_checks import sees_both_responses
from podium.diagnosis.checks.size_limits import FEWEST_COMPARED, are_too_many, why_too_many
from podium.diagnosis.judge_checks import are_human_votes, is_judged, unparsed_share
from podium.scorers.reply import FAILED, UnparsedReason
from podium.wording import join_names, quantity

if TYPE_CHECKING:
    from podium.diagnosis.lost_battles import LossOfModel
    from podium.diagnosis.lost_outcomes import LostOutcomes, LostVerdicts

LEAST_EXCESS = 0.01
"""The shares of lost battles of a model and of all must differ by more than this to be reported.

So few lost battles cannot change a rating by more than 3.5 Elo.
"""
NO_OTHER_VERDICT = "no second verdict on the same responses"
"""Why it is not known who would have won lost battles."""
UNPARSED = "unparsed"
"""What lost battles are called if the reply of each is there and was not parsed."""
FEWEST_ITEMS = 100
"""With fewer items, lost verdicts of two models are not said to be like the parsed ones."""
LEAST_AGREEMENT = 0.9
"""With a smaller share of agreeing verdicts on the same responses of two models, it is not known
whether lost verdicts are like the parsed ones: the other verdict then says little about the lost
one.
"""
LOSSES = frozenset({"lost replies", "lost outcomes", "lost scores"})
"""Names of the checks of this file."""


def check_lost_replies(battles: Battles) -> tuple[Check, ...]:
    """Test whether the battles of one model are lost more or less often than those of others.

    A battle is lost if it is unparsed, or absent by the rule of `find_absent`.

    Returns:
        The check, flagged by the size of the difference; its p-value is adjusted for several
        models, but not yet with other checks. `models` has the model that is named, and those that
        lose significantly more battles than all together. Not known for too many battles, or if no
        item allows the test. Empty if no judge decided the battles, if nothing or everything is
        lost, or if there are too few models to compare.
    """
    if not are_too_many(battles):
        return _test_losses(battles)
    if _can_compare_losses(battles) and _has_unparsed(battles):
        return (not_known("lost replies", reason=why_too_many(battles)),)
    return ()


def lost_replies_of_card(card: CardSections) -> tuple[Check, ...]:
    """Make the check of `check_lost_replies` for a judge's card, however many battles it has."""
    return _test_losses(card.battles)


def _can_compare_losses(battles: Battles) -> bool:
    """Return whether the check of lost replies applies to battles.

    The result is False for battles that are made of a judge's scores if none of them is unparsed:
    these lack scores, not replies. It is also False for fewer than `FEWEST_COMPARED` models, and
    without a readable battle.
    """
    if not sees_both_responses(battles) and not _has_unparsed(battles):
        return False
    has_readable = battles.tally.judged > 0
    return is_judged(battles) and has_readable and len(battles.models) >= FEWEST_COMPARED


def _has_unparsed(battles: Battles) -> bool:
    """Return whether the replies of one or more battles are unparsed."""
    return battles.counts().unparsed > 0


def _test_losses(battles: Battles) -> tuple[Check, ...]:
    """Test whether a model loses more battles, whatever the number of battles.

    Results are those of `check_lost_replies`. If no reply is unparsed and no battle absent by the
    rule, the check is made only if rows at the start or end of a table may be lost: not known.
    """
    if not _can_compare_losses(battles):
        return ()
    absent, cut = find_absent_verdicts(battles)
    has_unparsed = _has_unparsed(battles)
    if absent is None and not has_unparsed:
        return _cut_check("lost replies", what="battles", battles=battles, cut=cut)
    # Modules for what is lost are imported where they are needed: most tables lose nothing.
    from podium.diagnosis.lost_battles import losses_by_model

    losses = losses_by_model(battles, absent)
    if not losses:
        reason = "no two models have as many battles on an item with lost ones"
        return (not_known("lost replies", reason=reason),)
    lost = battles.counts().unparsed
    number = battles.counts().battles
    word = UNPARSED
    results = "battles"
    if absent is not None:
        results = "judgments" if battles.swaps() is not None else "battles"
        word = "unparsed or missing" if has_unparsed else "missing"
        is_unparsed = battles.is_unparsed
        lost = int(absent.judgments[is_unparsed].sum() + absent.number.sum())
        number = int(absent.judgments.sum() + absent.number.sum())
    fields: dict[str, object] = {"lost": word, "results": results, "remedy": _remedy(battles)}
    check = _check_losses("lost replies", losses=losses, everywhere=lost / number, fields=fields)
    return _check_unless_cut(check, "battles", battles, cut)


def _remedy(battles: Battles) -> str:
    """Return what to do about lost battles, as a clause.

    If no battle is unparsed, the remedy is about absent ones. Otherwise, it is about votes of
    humans, about failed calls if there are any, or about the judge's replies.
    """
    reasons = battles.unparsed_reasons()
    if not reasons:
        return "add the missing verdicts"
    if are_human_votes(battles):
        return "look at the votes without a verdict first"
    has_failed = any(UnparsedReason.parse(reason).code == FAILED for reason in reasons)
    return "ask for the failed calls again first" if has_failed else "fix the judge's replies first"


def check_lost_outcomes(battles: Battles) -> tuple[Check, ...]:
    """Test whether the unparsed verdicts would have had other winners than the parsed ones.

    The other order, repeats, or other judges tell who would have won; see `compare_lost_verdicts`.

    Returns:
        The check, flagged by the change of the win rate; its p-value is adjusted for several
        models, but not yet with other checks. `models` has the models whose losses
        explain the finding, or all models. With two models, it is not known with fewer than
        `FEWEST_ITEMS` items, with an agreement below `LEAST_AGREEMENT`, or if no other verdict
        tells who would have won. Empty if no judge decided the battles, if no model has more than
        `LEAST_EXCESS` of its verdicts unparsed, if there are too many battles (`are_too_many`), or,
        with three models or more, if no other verdict tells who would have won.
    """
    if are_too_many(battles):
        # The check `lost replies` says so.
        return ()
    return _test_outcomes(battles)


def lost_outcomes_of_card(card: CardSections) -> tuple[Check, ...]:
    """Make the check of `check_lost_outcomes` for a judge's card, however many battles it has."""
    return _test_outcomes(card.battles)


def _test_outcomes(battles: Battles) -> tuple[Check, ...]:
    """Test who would have won the unparsed verdicts, whatever the number of battles.

    Results are those of `check_lost_outcomes`. If no unparsed verdict can be compared, the check is
    not known for two models, and not made for more.
    """
    share = unparsed_share(battles)
    if not is_judged(battles) or not battles.tally.judged or not share:
        return ()
    # A verdict counts for two of the M models, so that each model has about 2 / M of all verdicts.
    # If all unparsed verdicts are of one model, they are at most share * M / 2 of its verdicts.
    largest_share = share * len(battles.models) / 2
    if largest_share <= LEAST_EXCESS:
        return ()
    has_two_models = len(battles.models) < FEWEST_COMPARED
    from podium.diagnosis.lost_outcomes import compare_lost_verdicts

    lost = compare_lost_verdicts(battles, ERROR_RATE)
    if lost is None or not lost.outcomes:
        is_unknown = has_two_models and share > LEAST_EXCESS
        return (not_known("lost outcomes", reason=NO_OTHER_VERDICT),) if is_unknown else ()
    if lost.largest_share <= LEAST_EXCESS:
        return ()
    reason = _why_too_little(battles, lost) if has_two_models else ""
    return (_check_outcomes(battles, lost, reason),)


def _why_too_little(battles: Battles, lost: "LostVerdicts") -> str:
    """Return why the unparsed verdicts of two models cannot be said to be like the parsed ones.

    The reason is a clause: too few items, or too little agreement of verdicts on the same
    responses. The text is empty if there is enough of both.
    """
    items = battles.counts().items
    if items < FEWEST_ITEMS:
        return f"{quantity(items, 'item')} are too few to see it"
    # An agreement of NaN is too low, too.
    if not lost.agreement >= LEAST_AGREEMENT:
        return f"verdicts on the same responses agree in {lost.agreement:.1%} only"
    return ""


def _check_outcomes(battles: Battles, lost: "LostVerdicts", reason: str) -> Check:
    """Return the check of lost verdicts.

    It is flagged if the win rate changes by more than `LEAST_BIAS`. With a reason, the change must
    also be significant; otherwise the check is not known.

    Args:
        battles: the battles.
        lost: the tests; not empty.
        reason: why unparsed verdicts cannot be said to be like the parsed ones if no test is
            significant; empty if they can.
    """
    from podium.diagnosis.lost_outcomes import LEAST_BIAS

    worst = _worst_outcomes(lost)
    fields = {
        "of_model": f" of {worst.model}" if worst.model else "",
        "who": worst.model or "the stronger model",
        "lost_rate": worst.lost,
        "expected": worst.expected,
        "source": lost.source,
        "lost": UNPARSED,
        "remedy": _remedy(battles),
    }
    check = make_check(
        "lost outcomes",
        worst.bias > LEAST_BIAS,
        number=worst.bias,
        p=worst.p,
        fields=fields,
        models=lost.models or battles.models,
    )
    if not reason:
        return check
    is_found = check.is_flagged and worst.p <= ERROR_RATE
    result = Result.FLAGGED if is_found else Result.NOT_KNOWN
    return replace(check, result=result, reason=reason)


def _worst_outcomes(lost: "LostVerdicts") -> "LostOutcomes":
    """Return the test of lost verdicts that a check reports.

    If any test is significant, and the losses of single models explain the finding, the result is
    the most significant test of a model in `lost.models`. If these losses do not explain it, the
    result is the test of the stronger model of each pair. If no test is significant, the result is
    the most significant one of those with a large change, else of all.
    """
    from podium.diagnosis.lost_outcomes import LEAST_BIAS, most_significant

    significant = [each for each in lost.outcomes if each.is_significant(ERROR_RATE)]
    large = [each for each in lost.outcomes if each.bias > LEAST_BIAS]
    outcomes_of_models = [each for each in significant if each.model in lost.models]
    has_all = any(each.model is None for each in significant) and len(outcomes_of_models) < len(
        lost.models
    )
    candidates = outcomes_of_models
    if has_all:
        candidates = [each for each in significant if each.model is None]
    return most_significant(candidates or significant or large or lost.outcomes)


def check_lost_scores(battles: Battles) -> tuple[Check, ...]:
    """Test whether the scores of one model are lost more or less often than those of others.

    A score is lost if it is blank, or absent by the rule of `find_absent`.

    Returns:
        The check, as `check_lost_replies` returns it. Empty if the battles are not made of scores,
        if `check_lost_replies` makes the check, or if nothing or everything is lost.
    """
    if sees_both_responses(battles):
        return ()
    if not battles.tally.judged or _can_compare_losses(battles):
        return ()
    if are_too_many(battles):
        is_complete = battles.tally.judged == len(battles) and not battles.missing
        return () if is_complete else (not_known("lost scores", reason=why_too_many(battles)),)
    return _test_scores(battles)


def lost_scores_of_card(card: CardSections) -> tuple[Check, ...]:
    """Make the check of `check_lost_scores` for a card.

    The limit on the number of battles holds for cards, too.
    """
    return check_lost_scores(card.battles)


def _test_scores(battles: Battles) -> tuple[Check, ...]:
    """Test whether a model loses more scores, for scores of single responses.

    Results are those of `check_lost_scores`. If no score is lost by the rule, the check is made
    only if rows at the start or end of a table may be lost: not known.
    """
    from podium.diagnosis.lost_battles import losses_of_scores
    from podium.diagnosis.lost_scores import find_score_losses

    scores, cut = find_score_losses(battles)
    lost = int(scores.lost.sum())
    if not lost:
        return _cut_check("lost scores", what="scores", battles=battles, cut=cut)
    losses = losses_of_scores(scores, battles.models)
    if not losses:
        return (not_known("lost scores", reason="no item with lost scores has two models"),)
    check = _check_losses(
        "lost scores", losses=losses, everywhere=lost / int(scores.asked.sum()), fields={}
    )
    return _check_unless_cut(check, "scores", battles, cut)


def _cut_check(name: str, what: str, battles: Battles, cut: Sequence[int]) -> tuple[Check, ...]:
    """Return that it is not known whether rows at the start or the end of a table were lost.

    Args:
        name: name of the check.
        what: what the rows are, as a noun: battles or scores.
        battles: the battles.
        cut: codes of the models without these rows; the result is empty if there are none.
    """
    if not cut:
        return ()
    models = join_names([battles.models[code] for code in dict.fromkeys(cut)])
    reason = f"the first or last items have no {what} of {models}"
    return (not_known(name, reason=reason),)


def _check_unless_cut(
    check: Check, what: str, battles: Battles, cut: Sequence[int]
) -> tuple[Check, ...]:
    """Return a check, or that the check is not known because of rows that may be lost.

    The rows are those at the start or the end of a table that the models in `cut` (codes) lack. The
    given check does not count them. It is returned if `cut` is empty, or if it finds significant
    losses in any case.

    Args:
        check: the check of the other rows.
        what: what a row is, in the plural: `battles` or `scores`.
        battles: the battles.
        cut: codes of the models that lack rows.
    """
    is_significant = check.p is not None and check.p <= ERROR_RATE
    if check.result is Result.FLAGGED and is_significant:
        return (check,)
    return _cut_check(check.name, what, battles, cut) or (check,)


def _check_losses(
    name: str, losses: "Sequence[LossOfModel]", everywhere: float, fields: dict[str, object]
) -> Check:
    """Return the check of the losses of all models.

    It is flagged if the share of a model differs from that of all by more than `LEAST_EXCESS`,
    whatever the p-value. It names a model that loses significantly more than all together, if there
    is one. Else it names the model with the smallest p-value, which may lose less.

    Args:
        name: name of the check.
        losses: the losses; not empty.
        everywhere: share of the results of all models that are lost.
        fields: further fields of the check's texts, such as `lost` and `remedy`.
    """
    large = [loss for loss in losses if abs(loss.share - everywhere) > LEAST_EXCESS]
    # The losses of two models have the same p-value: the model that loses more is named.
    # If no loss is large, it is the most significant one of all.
    by_p = sorted(large or losses, key=lambda loss: (round(loss.p, 12), -loss.share))
    # The smallest of several p-values times their number is the first step of Holm's rule.
    p = min(1.0, by_p[0].p * len(losses))
    more = [
        loss
        for loss in by_p
        if loss in large and loss.share > everywhere and loss.p * len(losses) <= ERROR_RATE
    ]
    named_outcome = more[0] if more else by_p[0]
    return make_check(
        name,
        bool(large),
        number=named_outcome.share,
        p=p,
        fields={
            "model": named_outcome.model,
            "share": named_outcome.share,
            "all": everywhere,
            **fields,
        },
        models=tuple(dict.fromkeys([named_outcome.model, *(loss.model for loss in more)])),
    )
