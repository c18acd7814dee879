"""Why battles of a tournament that a host has played have no verdict."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TournamentFailure:
    """The failure of a tournament that was played after a run of a host.

    Attributes:
        message: what failed and how to go on, without secrets.
        judge_cannot_judge: whether the judge's own replies ended the run: none could be parsed, or
            one position always won. Its verdicts so far are kept in the log and not ranked.
    """

    message: str
    judge_cannot_judge: bool = False

    def __str__(self) -> str:
        return self.message
