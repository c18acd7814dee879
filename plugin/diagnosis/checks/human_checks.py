"""Checks against humans and the judge itself: agreement, scale, misjudged models, repeats."""

import numpy as np

from podium.check_kinds import CHECKS
from podium.check_results import Check, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.checks.card_sections import CardSections
from podium.diagnosis.checks.effects import check_beside_chance, facts_of
from podium.diagnosis.judge_checks import are_human_votes, is_judged
from podium.rankers.ranking import Standings
from podium.wording import join_names

OF_CALIBRATION = "of the calibration"
"""Where a ranker has its map to human preferences from, if a calibration was given."""


def check_human_scale(battles: Battles) -> tuple[Check, ...]:
    """Return the check of the human scale, which is never known without a calibration.

    The reason says whether `podium calibrate` can measure the scale, because there are human
    labels. Empty if no judge decided the battles, and for votes of humans.
    """
    if not is_judged(battles) or are_human_votes(battles):
        return ()
    is_labelled = "human" in battles.columns and np.isfinite(battles.numbers_of("human")).any()
    reason = "`podium calibrate` measures it" if is_labelled else "no human labels"
    return (not_known("human scale", reason=reason, fields={"is_labelled": bool(is_labelled)}),)


def calibrated_scale(standings: Standings) -> Check | None:
    """Return the check of the human scale of ratings by a given calibration.

    The check is ok, with beta as its number: the slope of human log-odds over the judge's signal.
    The result is None if the ratings were not made with a given calibration.
    """
    if standings.diagnostics.get("soft", {}).get("from") != OF_CALIBRATION:
        return None
    fit = standings.fit
    is_bounded = fit.beta_low is not None and fit.beta_high is not None
    interval = (fit.beta_low, fit.beta_high) if is_bounded else None
    beta = "not known" if fit.beta is None else f"{fit.beta:.2f}"
    fields = {"source": "by the given calibration", "beta": beta}
    facts = {"number": fit.beta, "interval": interval, "fields": fields}
    return make_check("human scale", is_flagged=False, **facts)


def human_of_card(card: CardSections) -> tuple[Check, ...]:
    """Check by a judge's card whether it agrees with humans more often than by chance.

    The check is flagged if the interval of the agreement lies below chance, and ok if it lies
    above. It is not known if the interval contains chance, and without human labels. Empty for the
    card of a metric.
    """
    if not card.has_judge:
        return ()
    section = card.answers["human"]
    missing_figure = card.find_lacking(section="human", figure="agreement")
    if missing_figure is not None:
        return (not_known("human", reason=missing_figure.why, answer=missing_figure.remedy),)
    chance = CHECKS["human"].threshold
    kappa = section.kappa.estimate
    return (check_beside_chance("human", section.agreement, chance, good=1, kappa=kappa),)


def repeated_of_card(card: CardSections) -> tuple[Check, ...]:
    """Return by a judge's card how often its verdicts are the same if they are repeated.

    The check is never flagged: it reports the figure as ok, or is not known without repeats. Empty
    for the card of a metric.
    """
    if not card.has_judge:
        return ()
    missing_figure = card.find_lacking(section="consistency", figure="retest")
    if missing_figure is not None:
        return (not_known("repeated", reason=missing_figure.why, answer=missing_figure.remedy),)
    return (
        make_check("repeated", is_flagged=False, **facts_of(card.answers["consistency"].retest)),
    )


def check_misjudged(standings: Standings) -> tuple[Check, ...]:
    """Flag the models on which human labels contradict the judge.

    If there are none, the check is not known, and not ok: the tests name only 0 to 22% of the
    misjudged models in the simulations of docs/calibration.md. Empty for rankers that do not name
    misjudged models.
    """
    if "structured" not in standings.diagnostics:
        return ()
    models = [*standings.diagnostics["structured"]["misjudged"]["models"]]
    if not models:
        reason = "the human labels contradict it on none, but seldom show one"
        return (not_known("misjudged models", reason=reason),)
    fields = {"models": join_names(models)}
    return (make_check("misjudged models", is_flagged=True, number=len(models), fields=fields),)
