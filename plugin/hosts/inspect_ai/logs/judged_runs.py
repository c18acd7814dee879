"""Read from tournaments' logs what is known of the runs whose responses they judge."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from inspect_ai.log import EvalLog

from podium.comparability.questions import QuestionFinding
from podium.hosts.inspect_ai.logs.podium_entries import TournamentMetadata, read_tournament
from podium.run_record import RunRecord


@dataclass(frozen=True, slots=True)
class JudgedRuns:
    """What is known of the runs whose responses were judged.

    Attributes:
        runs: the runs; empty for logs of tournaments that do not hold them.
        questions: how their items were paired, by task.
        accepted: sentences on the findings that the user accepted.
    """

    runs: tuple[RunRecord, ...]
    questions: tuple[QuestionFinding, ...]
    accepted: tuple[str, ...]


def task_of_tournament(tournament: TournamentMetadata) -> str:
    """Return the value of the column `task` in the verdicts of a tournament."""
    tasks = ", ".join(tournament.tasks)
    return f"tournament of {tasks}" if tasks else "tournament"


def judged_runs(headers: Iterable[EvalLog]) -> JudgedRuns:
    """Return the runs in the logs of tournaments. Other logs have none.

    What several logs hold, as the shards of a tournament do, is returned once.
    """
    runs: list[RunRecord] = []
    questions: list[QuestionFinding] = []
    accepted: dict[str, None] = {}
    for header in headers:
        tournament = read_tournament(header)
        if tournament is None:
            continue
        task = task_of_tournament(tournament)
        runs += [replace(run, verdict_task=task) for run in tournament.runs]
        questions += tournament.questions
        accepted.update(dict.fromkeys(tournament.accepted))
    distinct = [own for k, own in enumerate(questions) if own not in questions[:k]]
    return JudgedRuns(tuple(dict.fromkeys(runs)), tuple(distinct), tuple(accepted))
