"""What standings measured: the tasks of their items, and the metrics of their scores."""

from dataclasses import replace

from podium.data.battles import Battles
from podium.data.measure import Measure
from podium.data.reading.directions import SCORE
from podium.data.task_names import tasks_of_battles
from podium.rankers.ranking import Standings


def add_measured(standings: Standings, part: Battles) -> Standings:
    """Return standings with the tasks and the metrics of the battles that they rank."""
    tasks = tasks_of_battles(part)
    return replace(standings, tasks=tasks, measures=_measures_of_battles(part, tasks))


def _measures_of_battles(battles: Battles, tasks: tuple[str, ...]) -> tuple[Measure, ...]:
    """Return what is known of the metrics whose scores decide battles.

    The tuple is empty for verdicts of judges. Of metrics that several tasks have, those of the
    tasks of the battles are returned. If nothing is known of any metric, there is a `Measure` with
    the name alone for each named metric; without named metrics, the name is that of the column of
    scores.

    Args:
        battles: the battles.
        tasks: names of their tasks.
    """
    if battles.judges or "score_a" not in battles.columns:
        return ()
    metrics = battles.metrics
    named_measures = [each for each in battles.measures if not metrics or each.name in metrics]
    of_tasks = [each for each in named_measures if each.task is None or each.task in tasks]
    if of_tasks:
        return tuple(of_tasks)
    column = (battles.reading.get("columns") or {}).get(SCORE, SCORE)
    return tuple(Measure(name) for name in metrics or (column,))
