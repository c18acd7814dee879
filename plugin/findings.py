"""Findings that make figures of several runs incomparable: errors, unless the user accepts them by
name."""

from collections.abc import Collection, Sequence

from podium.errors import DataError, UsageError

FINDINGS = {
    "epochs": (
        "scores of a task that runs reduced in different ways, or over different numbers of "
        "epochs or repeats"
    ),
}
"""What `--allow NAME` accepts, by name."""
OPTION = "--allow"


def check_findings(names: Collection[str]) -> tuple[str, ...]:
    """Return names of findings; UsageError for a name of none."""
    for name in names:
        if name not in FINDINGS:
            raise UsageError(
                f"{OPTION} {name}: no finding has this name; there are: {', '.join(FINDINGS)}"
            )
    return tuple(dict.fromkeys(names))


def accept_or_raise(name: str, problem: str, remedy: str, allowed: Collection[str]) -> str:
    """Return the sentence that says what was accepted; DataError if the finding is not among those
    allowed."""
    if name not in allowed:
        raise DataError(problem, remedy=f"{remedy}, or accept it with {OPTION} {name}")
    return f"Accepted with {OPTION} {name}: {problem}."


def add_accepted(answer: Sequence[str], accepted: Sequence[str]) -> tuple[str, ...]:
    """Return an answer whose last sentence is followed by what was accepted."""
    if not accepted:
        return tuple(answer)
    return (*answer[:-1], " ".join([*answer[-1:], *accepted]))
