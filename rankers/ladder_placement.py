"""Newcomers placed among the ratings of a ladder: which ratings count, and what is said of the placement."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from podium.checks import CHECKS
from podium.errors import UsageError
from podium.nouns.battles import Battles
from podium.nouns.ladder import Ladder
from podium.rankers.cells import BattleData
from podium.rankers.given_ratings import Ratings, read_ladder
from podium.rankers.intervals import ScoreEstimates
from podium.rankers.ladder_check import check_ladder
from podium.rankers.ladder_prior import LadderPrior
from podium.rankers.strengths import Strengths
from podium.text import some


def choose_ladder(
    battles: Battles, ratings: Ratings | None, models: Sequence[str], unable: Sequence[str]
) -> tuple[Ladder | None, tuple[str, ...]]:
    """Return the given or kept ratings of some models, and warnings; none if options (`unable`) exclude them."""
    if ratings is None and (battles.ladder is None or unable):
        options = " and ".join(unable)
        return None, (f"{options}: the ratings that the log keeps are not used",) if battles.ladder else ()
    if unable:
        raise UsageError(f"ratings= cannot be combined with {' and '.join(unable)}: leave one of them out")
    given = battles.ladder if ratings is None else read_ladder(ratings)
    if given is None or (ladder := given.restrict_to(models)) is None:
        raise UsageError(f"ratings=: none of the rated models has a battle; models: {some(models)}")
    return ladder, (ladder.assumption(),) if ladder.assumed else ()


@dataclass(frozen=True, slots=True)
class Placement:
    """Estimates that a ladder's check leaves, a summary for the diagnostics, and warnings."""

    estimate: ScoreEstimates
    summary: dict[str, Any]
    warnings: tuple[str, ...]


def place_newcomers(
    strengths: Strengths, prior: LadderPrior, battles: BattleData, estimate: ScoreEstimates
) -> Placement:
    """Check the ladder of a fit; of newcomers beyond it one end of the interval stays, on another scale none does."""
    check, sides = check_ladder(battles, prior), prior.sides_beyond(strengths.pairs, strengths.theta)
    hidden = ~prior.is_rated & check.is_other_scale
    low = np.where((sides < 0) | hidden, -np.inf, estimate.low)
    high = np.where((sides > 0) | hidden, np.inf, estimate.high)
    covariance = np.where(hidden | hidden[:, None], np.nan, estimate.covariance)
    names, is_new = battles.models, ~prior.is_rated
    summary = {
        "rated": [names[k] for k in np.flatnonzero(prior.is_rated)],
        "new": [names[k] for k in np.flatnonzero(is_new)],
        "beyond": {names[k]: "above" if sides[k] > 0 else "below" for k in np.flatnonzero(sides)},
        **check.to_dict(names),
    }
    warnings = tuple(CHECKS[failed].warning(**figures) for failed, figures in failed_ladder_checks(summary))
    return Placement(replace(estimate, low=low, high=high, covariance=covariance), summary, warnings)


def failed_ladder_checks(ladder: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield failed checks with the figures of their sentences, from a placement's summary."""
    if ladder["other_scale"]:
        low, high = (ladder[end] or sign * math.inf for end, sign in (("slope_low", -1), ("slope_high", 1)))
        yield "ladder scale", {"slope": ladder["slope"], "low": low, "high": high, "new": some(ladder["new"])}
    for name in ladder["drifted"]:
        drift = ladder["drifts"][name]["drift"]
        yield "ladder rating", {"model": name, "drift": abs(drift), "side": "high" if drift > 0 else "low"}
