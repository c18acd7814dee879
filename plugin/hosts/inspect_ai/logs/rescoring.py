"""Find the logs that `inspect score` wrote, and remove their outdated rankings.

`inspect score` calls no hook.
"""

from collections.abc import Iterable, Sequence

import click

from podium.printable import tell
from podium.storage.remote import Place, RemoteFile, list_siblings, place_of
from podium.wording import quantity

LogStates = frozenset[tuple[str, object]]
"""Pairs of a log's name and a value that changes when the log is written."""


def watch_scoring(command: click.Context | None) -> None:
    """Let `inspect score`, when it ends, remove rankings that are older than the new scores.

    Args:
        command: the running command; other commands and None are ignored, and so is `inspect score`
            with a remote log or output.
    """
    if command is None or command.info_name != "score":
        return
    named_files = [command.params.get(name) for name in ("log_file", "output_file")]
    words = [str(word) for word in named_files if word]
    # For remote logs, each log beside them would take a request.
    if any("://" in word for word in words):
        return
    before = states_of(logs_near(words))

    def clean_up() -> None:
        """Remove the older rankings of the logs that were scored.

        Messages say how many other logs still hold a ranking with the old scores, and which
        rankings could not be removed.
        """
        from podium.hosts.inspect_ai.logs.ranking_in_log import remove_stale_rankings

        for log in changed_logs(before, words):
            try:
                others = remove_stale_rankings(log)
            # The scores are saved already, so an error with the ranking is only printed.
            except Exception as error:
                tell(f"{log}: its ranking may be older than its scores: {error}")
                continue
            if others:
                what = f"{quantity(len(others), 'other log', 'holds|hold')}"
                tell(f"{what} a ranking with the scores before: rank again")

    command.call_on_close(clean_up)


def states_of(places: Iterable[Place]) -> LogStates:
    """Return the names of logs, each with a value that changes when the log is written.

    The value is the time of modification in nanoseconds, or the version in a remote store. A log on
    this machine that does not exist has the value False.
    """
    states = set[tuple[str, object]]()
    for place in places:
        state: object
        if isinstance(place, RemoteFile):
            state = place.version()
        else:
            state = place.exists() and place.stat().st_mtime_ns
        states.add((str(place), state))
    return frozenset(states)


def logs_near(words: Sequence[str]) -> set[Place]:
    """Return the logs that the words of a command name, and the `.eval` logs in the same folders.

    Words that end with neither `.eval` nor `.json` are ignored, and so are named logs that do not
    exist.
    """
    near: set[Place] = set()
    for word in words:
        if word.endswith((".eval", ".json")):
            log = place_of(word)
            beside = list_siblings(log) if isinstance(log, RemoteFile) else log.parent.glob("*")
            near |= {place for place in beside if place == log or place.suffix == ".eval"}
    return near


def changed_logs(before: LogStates, words: Sequence[str]) -> list[Place]:
    """Return the logs of `logs_near(words)` that have changed since `before`, sorted by name.

    New logs are among them.

    Args:
        before: the states of these logs at an earlier time, by `states_of`.
        words: words of the command.
    """
    changed = states_of(logs_near(words)) - before
    return sorted((place_of(name) for name, _ in changed), key=str)
