"""Self-preference: whether the judge overrates models of its own family."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from podium.diagnosis.clustered import Clustered
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Unit, Value
from podium.diagnosis.judge_checks import family_of, group_by_family
from podium.diagnosis.ratings import Ratings, bounded_by_all, error_sums, fit_line
from podium.diagnosis.subject import Subject
from podium.report.model import EMPTY, Table
from podium.text import some

FEWEST_OUTSIDE = 3
"""Models of other families that a line needs: two would fit any line."""
WHAT = "self-preference"
NAME_FAMILIES = "name the families: --families PATTERN=FAMILY,... or a file with the columns model and family"


@dataclass(frozen=True, slots=True)
class SelfPreference(CardAnswer):
    """Elo points by which the judge rates families above a line on reference ratings; `excess` is its own family's."""

    family: str | None
    how: str | None
    who: str | None
    excess: Figured
    slope: Figured
    families: Mapping[str, tuple[str, ...]]
    unknown: tuple[str, ...]
    excesses: Mapping[str, Figured]

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        known = "not known" if self.family is None else f"{self.family} ({self.how})"
        against = (("compared with", self.who), ("slope of its ratings on theirs", self.slope)) if self.who else ()
        return (("family of the judge", known), *against, ("its family is rated higher by", self.excess))

    def tables(self) -> tuple[Table, ...]:
        rows = tuple(
            (name, str(len(models)), self.excesses.get(name, self.excess).brief, some(models, most=3))
            for name, models in self.families.items()
        )
        if self.unknown:
            rows += (("not known", str(len(self.unknown)), EMPTY, some(self.unknown, most=3)),)
        title = "families, given or guessed from names (--families corrects them)"
        return (Table(title, ("family", "models", "rated higher by", "which"), rows, words=True),)


def measure_self_preference(subject: Subject) -> SelfPreference:
    """Compare a judge's ratings of each family with a line fitted to reference ratings. Source: after Soft-Elo, F.1."""
    judge, reference, level = subject.model, subject.reference, subject.level
    own = family_of(judge, subject.families) if judge else None
    families = group_by_family(subject.battles.models, subject.families)
    known = {name for models in families.values() for name in models}
    unknown = tuple(name for name in subject.battles.models if name not in known)
    name, how = (own.name, own.how) if own else (None, None)
    if isinstance(reference, Missing):
        missing = Missing(WHAT, reference.why, reference.remedy)
        return SelfPreference(name, how, None, missing, missing, families, unknown, {})
    ours, theirs = bounded_by_all(subject.judge_ratings.ratings, reference)
    inside = {family: np.isin(ours.models, models) for family, models in families.items()}
    excesses = {family: _estimate_line(ours, theirs, mask, level, Unit.ELO) for family, mask in inside.items()}
    why = f"the family of {judge} is not known" if judge else "no row names the judge's model"
    if own:
        why = f"no model is known to be of the judge's family ({name})"
    excess = excesses.get(name or "", Missing(WHAT, why, NAME_FAMILIES))
    own_family = inside.get(name or "", np.zeros(len(ours.models), dtype=bool))
    slope = _estimate_line(ours, theirs, own_family, level, Unit.NUMBER)
    return SelfPreference(name, how, reference.who, excess, slope, families, unknown, excesses)


def _estimate_line(judge: Ratings, reference: Ratings, inside: np.ndarray, level: float, unit: Unit) -> Figured:
    """Estimate the excess of a family above the line (unit Elo), or the slope of the line (unit number)."""
    outside, step = int((~inside).sum()), unit is Unit.ELO
    if step and not inside.any():
        return Missing(WHAT, "no model of this family has a bounded rating by both", "judge some of its models")
    if outside < FEWEST_OUTSIDE:
        why = f"{outside} models of other families have a bounded rating by both, a line needs {FEWEST_OUTSIDE}"
        return Missing(WHAT, why, "add models of other families")
    if np.ptp(reference.elo[~inside]) == 0:
        return Missing(WHAT, "the reference rates all other models alike", "add models that differ")
    fit = fit_line(judge.elo, reference.elo, inside, *error_sums(judge, reference, inside))
    if fit is None:
        why = "more than half of the variation of the reference ratings is chance"
        return Missing(WHAT, why, "give the reference more battles")
    term, rows = 1 + step, Clustered(np.concatenate([judge.rows.code, reference.rows.code]), judge.rows.unit, level)
    ours, theirs = judge.influence @ fit.by_judge[:, term], reference.influence @ fit.by_reference[:, term]
    influence, method = np.concatenate([ours, theirs]), "line with error on both sides, {}"
    return rows.linear(float(fit.weights[term]), influence, len(inside), "models", unit, method)
