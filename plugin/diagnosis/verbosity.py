"""Does the judge prefer longer responses because they are longer?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from podium.battles import Battles
from podium.diagnosis import near_ties
from podium.diagnosis.answer import Figure, Grid, Missing, Row, Unit, as_dict
from podium.diagnosis.estimates import clusters_of, linear, or_missing, share
from podium.diagnosis.length_model import length_effect
from podium.diagnosis.line import errors, line
from podium.diagnosis.rated import rated
from podium.diagnosis.reference import Reference
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.coded import code

LENGTHS = "give columns length_a and length_b, in characters"
MORE_LABELS = "give the reference more battles"
ROUNDING = 1e-12
FEWEST_ENTRANTS = 5
"""A partial correlation given one variable has a Fisher interval from n = 5 on: its variance is 1 / (n - 4)."""


@dataclass(frozen=True, slots=True)
class Verbosity:
    """What length does to a judge's verdicts.

    Attributes:
        longer: share of decisive battles that the longer response won: quality may be the reason.
        longer_near_ties: the same among near-ties, where the judge itself sees hardly any difference; 0.5 without bias.
        rule: what a near-tie is here; None where nothing tells.
        effect: logits per unit of log-length (a factor of 2.7), the models' strengths held fixed; 0 without bias, or
            where length says nothing of quality.
        people: the same of people's labels on the same battles: what length is worth to them.
        residuals: partial correlation over entrants of the judge's rating minus the reference's with mean length, given
            the reference's rating; 0 without bias.
        who: what the reference is.
    """

    longer: Figure | Missing
    longer_near_ties: Figure | Missing
    rule: str | None
    effect: Figure | Missing
    people: Figure | Missing
    residuals: Figure | Missing
    who: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return the section for JSON."""
        return as_dict(self)

    def rows(self) -> tuple[Row, ...]:
        """Return the lines of the section."""
        rule = f" ({self.rule})" if self.rule else ""
        against = f" against {self.who}" if self.who else ""
        return (
            Row("longer response preferred", self.longer),
            Row("  among near-ties" + rule, self.longer_near_ties),
            Row("length, log-odds per e-fold, strength fixed", self.effect),
            Row("  the same for people", self.people),
            Row(f"residual ratings{against} and length, given strength", self.residuals),
        )

    def grids(self) -> tuple[Grid, ...]:
        """Return none."""
        return ()


def verbosity(
    battles: Battles, *, reference: Reference | Missing, near_tie: float, level: float
) -> Verbosity | Missing:
    """Describe what length does to one judge's verdicts.

    Args:
        battles: of one judge, the two orders merged.
        reference: ratings by people, of the gold standard, or by other judges.
        near_tie: largest |margin| of a near-tie; without margins a soft credit near 0.5.
        level: of intervals, in (0, 1).

    Source: Soft-Elo, appendix F.1.
    """
    ratio = log_ratio(battles)
    known = battles.readable & ~np.isnan(ratio)
    if not known.any():
        return Missing("verbosity", "no readable battle has the lengths of both responses", LENGTHS)
    credit = battles.table["credit"].to_numpy(dtype=np.float64)
    decisive = known & (credit != 0.5) & (ratio != 0)
    longer = np.sign(ratio) == np.sign(credit - 0.5)
    clusters = clusters_of(battles)
    near, rule = _near(battles, credit, near_tie)
    close = decisive & near
    who = None if isinstance(reference, Missing) else reference.who
    return Verbosity(
        longer=or_missing(
            share(longer[decisive], clusters.take(decisive), level), "decisive battles with different lengths"
        ),
        longer_near_ties=_without_rule()
        if rule is None
        else or_missing(share(longer[close], clusters.take(close), level), "decisive near-ties with different lengths"),
        rule=rule,
        effect=effect(battles, credit, ratio, level),
        people=_people(battles, ratio, level),
        residuals=residuals(battles, reference, level),
        who=who,
    )


def log_ratio(battles: Battles) -> np.ndarray:
    """Return log((1 + length of a) / (1 + length of b)), NaN where unknown, shape (battles,)."""
    table = battles.table
    if not {"length_a", "length_b"} <= set(table):
        return np.full(len(table), np.nan)
    a, b = (np.log1p(table[side].to_numpy(dtype=np.float64)) for side in ("length_a", "length_b"))
    return a - b


def effect(battles: Battles, credit: np.ndarray, ratio: np.ndarray, level: float) -> Figure | Missing:
    """Return the weight of log-length in Bradley-Terry.

    Args:
        credit: what a earned, NaN where unknown, shape (battles,).
        ratio: log-length of a minus that of b, NaN where unknown, shape (battles,).
    """
    credit = np.where(np.isnan(ratio), np.nan, credit)
    kept = ~np.isnan(credit)
    what = "length, strength fixed"
    try:
        coded = code(battles, credit=credit)
        found = length_effect(coded, ratio[kept])
    except (NotIdentifiedError, NotConvergedError) as error:
        return Missing(what, str(error), LENGTHS)
    clusters = clusters_of(battles).take(kept)
    return linear(found.weight, found.influence, clusters, level, int(kept.sum()), "battles", Unit.LOGITS)


def residuals(battles: Battles, reference: Reference | Missing, level: float) -> Figure | Missing:
    """Correlate what a judge adds to the reference's ratings with mean length, given the reference's ratings."""
    what = "residual ratings and length"
    if isinstance(reference, Missing):
        return Missing(what, reference.why, reference.remedy)
    try:
        ours, length = rated(battles), _mean_length(battles)
    except (NotIdentifiedError, NotConvergedError) as error:
        return Missing(what, str(error), "join the groups")
    names = tuple(name for name in ours.known if name in reference.ratings.known and name in length)
    if len(names) < FEWEST_ENTRANTS:
        return Missing(
            what,
            f"{len(names)} entrants have lengths and bounded ratings by both; {FEWEST_ENTRANTS} are needed",
            "add entrants",
        )
    judge, theirs, long = ours.of(names), reference.ratings.of(names), np.array([length[name] for name in names])
    return partial_correlation(judge.elo, long, theirs.elo, level, *errors(judge, theirs, long - long.mean()))


def partial_correlation(
    x: np.ndarray,
    y: np.ndarray,
    given: np.ndarray,
    level: float,
    noise: float = 0.0,
    shared: float = 0.0,
) -> Figure | Missing:
    """Return the correlation of x and y beyond what `given` explains of both.

    Errors in `given` would leave some of it in x, and accuse whatever goes along with it: they are taken out of the
    sums of squares.

    Args:
        x, y, given: one value per entrant, shape (entrants,) each, at least 5.
        noise: sum over entrants of the variance of the errors in `given`.
        shared: sum over entrants of the covariance of the errors in `given` and x.

    Source: Fisher 1924 (the variance of atanh r is 1 / (n - 1 - 3)); Fuller 1987 for errors in `given`.
    """
    what = "residual ratings and length"
    y = y - y.mean()
    if not y.any():
        return Missing(what, "all entrants write at the same mean length", "add entrants")
    fit, alone = line(x, given, y, noise, shared), line(x, given, np.zeros(len(x)), noise, shared)
    if fit is None or alone is None:
        return Missing(what, "more than half of what sets the reference's ratings apart is chance", MORE_LABELS)
    z = given - given.mean()
    left = x - alone.weights[0] - alone.weights[1] * given
    ours, theirs = float(left @ left), float(y @ y - (y @ z) ** 2 / (z @ z - noise))
    if min(ours, theirs) <= ROUNDING * max(float(x @ x), float(y @ y)):
        return Missing(what, "one of the two does not vary beyond strength", "add entrants")
    r = float(fit.weights[2] * np.sqrt(theirs / ours))
    if abs(r) >= 1:
        return Missing(what, "too few entrants, or too few battles, to tell residuals from chance", MORE_LABELS)
    reach = norm.ppf((1 + level) / 2) / np.sqrt(len(given) - 4)
    low, high = (float(np.tanh(np.arctanh(r) + sign * reach)) for sign in (-1, 1))
    return Figure(r, low, high, level, "Fisher z over entrants", len(given), "entrants", None, Unit.CORRELATION)


def _near(battles: Battles, credit: np.ndarray, near_tie: float) -> tuple[np.ndarray, str | None]:
    table = battles.table
    margin = table["margin"].to_numpy(dtype=np.float64) if "margin" in table else np.full(len(table), np.nan)
    found = near_ties.by_view(credit, np.where(battles.readable, margin, np.nan), near_tie)
    return found or (np.zeros(len(table), dtype=bool), None)


def _without_rule() -> Missing:
    return Missing(
        "longer response among near-ties",
        "the verdicts carry no margins and no probabilities that tell near-ties",
        "give a column margin (judge score of a minus that of b)",
    )


def _people(battles: Battles, ratio: np.ndarray, level: float) -> Figure | Missing:
    table = battles.table
    if "human" not in table or not table["human"].notna().any():
        return Missing("length for people", "there are no human labels", "give a column human, or --human-judge")
    human = table["human"].to_numpy(dtype=np.float64)
    return effect(battles, np.where(battles.readable, human, np.nan), ratio, level)


def _mean_length(battles: Battles) -> dict[str, float]:
    """Return the mean length of every entrant's responses, each response of an item counted once."""
    table = battles.table
    if not {"length_a", "length_b"} <= set(table):
        return {}
    clusters = clusters_of(battles).code
    names = np.concatenate([table[side].cat.codes.to_numpy(dtype=np.int64) for side in ("model_a", "model_b")])
    length = np.concatenate([table[side].to_numpy(dtype=np.float64) for side in ("length_a", "length_b")])
    told = ~np.isnan(length)
    cell = (np.tile(clusters, 2) * len(battles.entrants) + names)[told]
    _, once = np.unique(cell, return_index=True)
    who, long = names[told][once], length[told][once]
    number = np.bincount(who, minlength=len(battles.entrants))
    total = np.bincount(who, long, len(battles.entrants))
    return {name: float(total[k] / number[k]) for k, name in enumerate(battles.entrants) if number[k]}
