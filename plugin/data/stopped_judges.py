"""Whether verdicts are those of a judge that was stopped because it cannot judge."""

from podium.data.battles import Battles

CANNOT_JUDGE = "judge-cannot-judge"
"""Code of the notice on a tournament that was stopped because its judge cannot judge."""


def are_of_stopped_judge(battles: Battles) -> bool:
    """Return whether battles are of a tournament that was stopped as its judge cannot judge.

    A notice with the code `CANNOT_JUDGE` says so. Such a tournament is read only if no other one is
    among the sources. The result is False for scores by metrics.
    """
    has_verdicts = bool(battles.judges) and not battles.metrics
    return has_verdicts and any(note.code == CANNOT_JUDGE for note in battles.notes)
