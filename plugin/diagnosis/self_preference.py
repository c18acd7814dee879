"""Does the judge favour models of its own family, beyond what others think of them?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.battles import Battles
from podium.diagnosis.answer import Figure, Grid, Missing, Row, Unit, as_dict
from podium.diagnosis.estimates import linear
from podium.diagnosis.families import Family, family_of, members
from podium.diagnosis.line import errors, influence_of, line
from podium.diagnosis.rated import Rated, rated
from podium.diagnosis.reference import Reference
from podium.diagnosis.wording import EMPTY, brief
from podium.text import some

FEWEST_OUTSIDE = 3
"""Entrants of other families: two would give a line that nothing tests."""
WHAT = "self-preference"
NAME_FAMILIES = "name the families: --families PATTERN=FAMILY,... or a file with the columns model and family"


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """How far a judge's ratings of a family stand above the line that relates its ratings to the reference's.

    Attributes:
        family: the judge's; None where nothing tells it.
        how: `given` or `guessed`.
        who: what the reference is: `people`, `gold` or `other judges`.
        excess: of the judge's own family, Elo points of its own scale; 0 without self-preference.
        slope: of the line: the judge's Elo points per point of the reference; 1 where it stretches nothing.
        families: entrants by family.
        unknown: entrants whose family nothing tells.
        excesses: the same figure for every family: where many stand out, the judge and the reference see models
            differently, and the judge's own family is nothing special.
    """

    family: str | None
    how: str | None
    who: str | None
    excess: Figure | Missing
    slope: Figure | Missing
    families: Mapping[str, tuple[str, ...]]
    unknown: tuple[str, ...]
    excesses: Mapping[str, Figure | Missing]

    def to_dict(self) -> dict[str, Any]:
        """Return the section for JSON."""
        return as_dict(self)

    def rows(self) -> tuple[Row, ...]:
        """Return the lines of the section."""
        told = "not known" if self.family is None else f"{self.family} ({self.how})"
        against = [Row("held against", self.who)] if self.who else []
        lines = [] if self.who is None else [Row("slope of its ratings on theirs", self.slope)]
        return (
            Row("family of the judge", told),
            *against,
            *lines,
            Row("its family is favoured by", self.excess),
        )

    def grids(self) -> tuple[Grid, ...]:
        """Return the families."""
        rows = tuple(
            (name, str(len(models)), brief(self.excesses.get(name, self.excess)), some(models, most=3))
            for name, models in self.families.items()
        )
        if self.unknown:
            rows += (("not known", str(len(self.unknown)), EMPTY, some(self.unknown, most=3)),)
        title = "families, given or guessed from names (--families corrects them)"
        return (Grid(title, ("family", "entrants", "favoured by", "which"), rows, words=True),)


def self_preference(
    battles: Battles,
    *,
    judge: str | None,
    families: Mapping[str, str],
    reference: Reference | Missing,
    level: float,
) -> SelfPreference:
    """Compare a judge's ratings of its own family with those of a reference.

    A line relates the judge's ratings to the reference's, so that a judge who stretches all differences is not accused
    of favouring a strong family. Entrants count as they are: the interval holds the error of their ratings.

    Args:
        battles: of one judge.
        judge: the name of its model; None where nobody says.
        families: patterns to families, beyond what names tell.
        reference: ratings by people, of the gold standard, or by other judges.
        level: of intervals, in (0, 1).

    Source: after Soft-Elo, appendix F.1 (same-family minus cross-family excess), with the line added.
    """
    own = family_of(judge, families) if judge else None
    found = members(battles.entrants, families)
    if isinstance(reference, Missing):
        lacking = Missing(WHAT, reference.why, reference.remedy)
        return _nothing(own, found, _unknown(battles, found), lacking)
    ours = rated(battles)
    names = tuple(name for name in ours.known if name in reference.ratings.known)
    pair = ours.of(names), reference.ratings.of(names)
    excesses = {name: _excess(*pair, _mask(names, models), level) for name, models in found.items()}
    outside = ~_mask(names, found.get(own.name, ()) if own else ())
    return SelfPreference(
        family=own.name if own else None,
        how=own.how if own else None,
        who=reference.who,
        excess=_own(own, found, excesses, judge),
        slope=_slope(*pair, outside, level),
        families=found,
        unknown=_unknown(battles, found),
        excesses=excesses,
    )


def _excess(judge: Rated, reference: Rated, inside: np.ndarray, level: float) -> Figure | Missing:
    if not inside.any():
        return Missing(WHAT, "no entrant of this family has a bounded rating by both", "judge some of its models")
    return _unfit(reference, ~inside) or _weight(judge, reference, inside, 2, level, Unit.ELO)


def _slope(judge: Rated, reference: Rated, outside: np.ndarray, level: float) -> Figure | Missing:
    return _unfit(reference, outside) or _weight(judge, reference, ~outside, 1, level, Unit.NUMBER)


def _weight(
    judge: Rated, reference: Rated, inside: np.ndarray, term: int, level: float, unit: Unit
) -> Figure | Missing:
    """Return a weight of the line with the interval of the errors of both ratings."""
    fit = line(judge.elo, reference.elo, inside, *errors(judge, reference, inside))
    if fit is None:
        why = "more than half of what sets the reference's ratings apart is chance"
        return Missing(WHAT, why, "give the reference more battles")
    clusters, influence = influence_of(fit, term, judge, reference)
    value, method = float(fit.weights[term]), "line with error on both sides"
    return linear(value, influence, clusters, level, len(inside), "entrants", unit, method)


def _unfit(reference: Rated, outside: np.ndarray) -> Missing | None:
    """Say why the entrants of other families give no line; None where they do."""
    if outside.sum() < FEWEST_OUTSIDE:
        why = f"{outside.sum()} entrants of other families have a bounded rating by both, a line needs {FEWEST_OUTSIDE}"
        return Missing(WHAT, why, "add entrants of other families")
    if np.ptp(reference.elo[outside]) == 0:
        return Missing(WHAT, "the reference rates all other entrants alike", "add entrants that differ")
    return None


def _own(
    own: Family | None,
    found: Mapping[str, tuple[str, ...]],
    excesses: Mapping[str, Figure | Missing],
    judge: str | None,
) -> Figure | Missing:
    if own is None:
        why = "no row names a judge of one model" if judge is None else f"the name {judge} tells no family"
        return Missing(WHAT, why, NAME_FAMILIES)
    if own.name not in found:
        return Missing(WHAT, f"no entrant is known to be of the judge's family ({own.name})", NAME_FAMILIES)
    return excesses[own.name]


def _mask(names: tuple[str, ...], inside: tuple[str, ...]) -> np.ndarray:
    return np.isin(np.array(names, dtype=object), np.array(inside, dtype=object))


def _unknown(battles: Battles, found: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    told = {name for models in found.values() for name in models}
    return tuple(name for name in battles.entrants if name not in told)


def _nothing(
    own: Family | None, found: Mapping[str, tuple[str, ...]], unknown: tuple[str, ...], missing: Missing
) -> SelfPreference:
    name, how = (own.name, own.how) if own else (None, None)
    return SelfPreference(name, how, None, missing, missing, found, unknown, {})
