"""Findings that make the figures of several runs incomparable.

A finding is an error, unless the user accepts it with `--allow NAME`.
"""

from collections.abc import Collection, Sequence

from podium.errors import DataError, UsageError
from podium.notices.option_forms import Kind, option_text

FINDINGS = {
    "epochs": (
        "scores of one task, reduced by its runs in different ways or over different numbers of "
        "epochs or repeats"
    ),
    "questions": (
        "runs of a task, or rows of a table, that asked different questions under one id or have "
        "different targets"
    ),
    "direction": "results that contradict --lower-is-better or --no-lower-is-better",
}
"""Description of each finding, by the name that `--allow` takes."""


ACCEPTED = "accepted"
"""Code of the notice that repeats the sentence on a finding that was accepted."""


def check_findings(names: Collection[str], kind: Kind = "option") -> tuple[str, ...]:
    """Return the names of accepted findings without repetitions, in their order.

    Args:
        names: names of findings, as the user gave them.
        kind: how the error writes the option `allow`: `option` for a command, `argument` for a
            task.

    Raises:
        UsageError: a finding has no such name.
    """
    for name in names:
        if name not in FINDINGS:
            typed = option_text("allow", name, kind)
            raise UsageError(f"{typed}: no finding has this name; there are: {', '.join(FINDINGS)}")
    return tuple(dict.fromkeys(names))


def accept_or_raise(
    name: str, problem: str, remedy: str, allowed: Collection[str], *, source: str = ""
) -> str:
    """Return the sentence that says that a finding was accepted.

    Args:
        name: name of the finding.
        problem: what was found.
        remedy: what to do instead of accepting it.
        allowed: names of the findings that the user accepts.
        source: the file with the finding; empty if it is about several.

    Raises:
        DataError: `name` is not in `allowed`.
    """
    if name not in allowed:
        raise DataError(problem, remedy=remedy_with_option(name, remedy), source=source)
    return accepted_sentence(name, problem)


def remedy_with_option(name: str, remedy: str, option: str = "") -> str:
    """Return a remedy that also names the option that accepts a finding.

    Args:
        name: name of the finding.
        remedy: what to do instead of accepting it, without a full stop.
        option: the option as it is typed; if it is empty, `allow` in the form that is typed where
            podium runs.
    """
    return f"{remedy}, or accept it with {option or option_text('allow', name)}"


def accepted_sentence(name: str, problem: str, option: str = "") -> str:
    """Return the sentence that says that a finding was accepted.

    Args:
        name: name of the finding.
        problem: what was found, without a full stop.
        option: the option as it is typed; if it is empty, `allow` in the form that is typed where
            podium runs.
    """
    return f"Accepted with {option or option_text('allow', name)}: {problem}."


def add_accepted(answer: Sequence[str], accepted: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences of an answer with those on accepted findings at its end.

    They are joined to the last sentence, so that their number stays. An empty answer becomes one
    text of these. Without accepted findings, the answer is unchanged.
    """
    if not accepted:
        return tuple(answer)
    last_sentences = " ".join([*answer[-1:], *accepted])
    return (*answer[:-1], last_sentences)
