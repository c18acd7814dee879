"""What a pilot says of the judges of a plan: whether there are any, how many, and how asked."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from podium.data.battles import Battles
from podium.data.counting.relations import UNNAMED_JUDGE
from podium.data.jury_verdicts import is_merging_jury
from podium.data.reading.judgments import read_battles
from podium.diagnosis.judge_checks import is_judged
from podium.diagnosis.pilot_facts import spread_option
from podium.errors import UsageError
from podium.planning.plan_record import Tariff
from podium.plugins.catalogue import find_realization
from podium.wording import some

if TYPE_CHECKING:
    import pandas as pd

MOST_PROPOSED = 3
"""Largest number of tasks for which a message has the figures of the pilot."""


def judged_battles(pilot: "Battles | pd.DataFrame | str | Path") -> Battles:
    """Return the battles of a pilot that a judge decided.

    If scores that no judge gave stand beside them, these are left out. Otherwise the battles are
    returned as they are.

    Args:
        pilot: battles, or what `read_battles` reads.

    Raises:
        UsageError: no judge decided any battle. The message has the options with which a plan for
            `podium compare` starts from the scores.
    """
    battles = pilot if isinstance(pilot, Battles) else read_battles(pilot)
    if not is_judged(battles):
        raise _scores_only_error(battles)
    if UNNAMED_JUDGE not in battles.judges or not battles.metrics:
        return battles
    return battles.select(battles.table["judge"].notna().to_numpy())


def tariff_of_judges(battles: Battles, tariff: Tariff) -> Tariff:
    """Return a tariff in which the pilot says what the user did not.

    This is how many judges judge each battle (all judges of a jury that merges, else one), and how
    they are asked. What the user said stays. A realization that is not installed is left out.
    """
    judges = tariff.judges
    if judges is None:
        judges = str(len(battles.judges)) if is_merging_jury(battles) else "1"
    tariff = replace(tariff, judges=judges)
    if tariff.realization is not None:
        return tariff
    realization = _realization_of_pilot(battles)
    try:
        if realization is not None:
            find_realization(realization)
    except UsageError:
        # The judge of the pilot may be a plug-in that is not installed here.
        return tariff
    return replace(tariff, realization=realization)


def unknown_realization(battles: Battles, tariff: Tariff) -> str | None:
    """Return the realization of the pilot's judges if it is not installed here.

    The result is None if the tariff has a realization, or if the pilot records none or several.

    Args:
        battles: the pilot.
        tariff: the tariff in which `tariff_of_judges` has set what the pilot says.
    """
    return None if tariff.realization is not None else _realization_of_pilot(battles)


def _realization_of_pilot(battles: Battles) -> str | None:
    """Return the realization of a pilot's judges; None if unknown, or if judges differ."""
    realizations = {battles.judge_of(name).realization for name in battles.judges}
    return realizations.pop() if len(realizations) == 1 else None


def _scores_only_error(battles: Battles) -> UsageError:
    """Return the error for a pilot of scores that no judge gave.

    The message has the commands that plan a comparison from these scores (`_differences_by_task`).
    """
    texts = [*_differences_by_task(battles)]
    texts_of_scores = some(texts, "; ", most=MOST_PROPOSED)
    return UsageError(
        f"these are scores ({some(battles.metrics or ['score'], most=3)}) that no judge gave: a "
        "plan of judge calls needs the verdicts of a judge. How many items podium compare needs "
        f"to detect 2 points, with the spread of these scores: {texts_of_scores}"
    )


def _differences_by_task(battles: Battles) -> Iterator[str]:
    """Yield the command that plans a comparison of two models, a text per task.

    Scores without a task are divided by metric, and those without either are taken together. The
    share of items on which one of two models is right, or the standard deviation of the difference,
    is that of all pairs of models together. If neither is known, the text says so.
    """
    column = next((name for name in ("task", "metric") if name in battles.columns), None)
    parts = (
        battles.slices(column, most=len(battles.values_of(column))) if column else [("", battles)]
    )
    for name, part in parts:
        option = spread_option(part)
        of_task = f" ({name})" if name else ""
        if option:
            yield f"`podium plan --difference 2points {option}`{of_task}"
        else:
            yield f"not known, as models never differ, or by the same on all items{of_task}"
