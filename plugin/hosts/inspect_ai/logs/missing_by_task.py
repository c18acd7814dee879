"""Count the battles of a tournament over several tasks that have no row, by task."""

from collections import Counter
from collections.abc import Iterable

from podium.data.tasks_of_items import task_of_item
from podium.hosts.inspect_ai.logs.podium_entries import RoundMetadata, TournamentMetadata


class MissingByTask:
    """Counts the battles without a row, by task.

    It begins with the battles of the first round that lack a response.

    Args:
        tournament: metadata of the tournament; None if the log is of an ordinary eval.
        epochs: number of epochs, in each of which the battles of the first round are played.
    """

    def __init__(self, tournament: TournamentMetadata | None, epochs: int) -> None:
        tasks = tasks_of_tournament(tournament) if tournament else ()
        self.tasks = tasks if len(tasks) > 1 else ()
        self._counts = Counter[str]()
        self._is_known = bool(self.tasks)
        if tournament and tournament.left_out_of is not None:
            for task, number in tournament.left_out_of.items():
                self._counts[task] += epochs * number
        elif tournament and tournament.left_out:
            self._is_known = False

    def add(self, items: Iterable[str]) -> None:
        """Count one battle on each of these items; an item that occurs twice counts twice."""
        for item in items:
            self._counts[task_of_item(f"{item}", self.tasks)] += 1

    def add_round(self, announced: RoundMetadata) -> None:
        """Count the battles that a round leaves out, minus those of the round that it replaces.

        If these numbers are not known by item, `numbers` is None from now on.
        """
        numbers = Counter(announced.left_out_of)
        numbers.subtract(announced.replaced_of)
        for item, number in numbers.items():
            self._counts[task_of_item(item, self.tasks)] += number
        is_by_item = announced.left_out_of or announced.replaced_of
        _, left_out_before = announced.replaced
        if not is_by_item and announced.left_out != left_out_before:
            self._is_known = False

    def numbers(self) -> dict[str, int] | None:
        """Return the number of missing battles of each task, 0 if a task has none.

        None if the numbers are not known, or if the tournament has fewer than two tasks.
        """
        if not self._is_known:
            return None
        return {task: self._counts[task] for task in self.tasks}


def tasks_of_tournament(tournament: TournamentMetadata) -> tuple[str, ...]:
    """Return the sorted tasks of a tournament's responses, each once; empty if unknown.

    Responses from samples of lm-eval have no `tasks`: the records of their runs name the tasks.
    """
    of_runs = {str(run["task"]) for run in tournament.runs if run.get("task")}
    return tuple(sorted({*(tournament.tasks or of_runs)}))
