"""Several judges in one table: one jury if they took turns, else to be chosen, ranked apart, or pooled."""

from collections.abc import Sequence
from dataclasses import replace

from podium.errors import NotIdentifiedError
from podium.hookspecs import Ranker
from podium.nouns.battles import Battles
from podium.plugins import catalogue
from podium.scorers.identity import differ_in_prompt
from podium.text import some
from podium.tournaments.judge_rotation import SHARED, UNKNOWN


def refuse_several_judges(battles: Battles) -> None:
    """Raise NotIdentifiedError if the battles are of several judges that did not take turns as one jury."""
    judges = battles.judges
    if len(judges) > 1 and not battles.is_one_jury:
        same = [judge for group in differ_in_prompt(judges) for judge in group]
        which = "they" if len(same) == len(judges) else some(same)
        why = f" ({which} differ in the prompt alone, and a changed prompt makes another judge)" if same else ""
        raise NotIdentifiedError(
            f"verdicts of {len(judges)} judges in one table ({some(judges, most=10)}){why}: choose one with --where "
            "judge=NAME, rank each with --by judge, or put them together with --pool"
        )


def judge_slices(battles: Battles, rankers: Sequence[str]) -> str | None:
    """Return `judge` if a host ranks each judge alone; None for one judge, one jury, or rankers of several judges."""
    if len(battles.judges) < 2 or battles.is_one_jury:
        return None
    return None if all(catalogue.extension(Ranker, name).several_judges for name in rankers) else "judge"


def add_jury_note(battles: Battles) -> Battles:
    """Add how many battles several judges that took turns judged, or if none, what is not known for that reason."""
    sides = [name for name in ("item", "response", "model_a", "model_b") if name in battles.table]
    judges = battles.table.groupby(sides, observed=True, dropna=False)["judge"].nunique()
    shared = int(judges.gt(1).sum())
    note = f"{SHARED}: {len(judges):,} battles, {shared:,} of them by several judges" if shared else UNKNOWN
    return replace(battles, notes=(*battles.notes, note))
