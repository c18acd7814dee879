"""Find the logs that `inspect score` wrote, and remove their stale rankings; it calls no hook."""

from collections.abc import Iterable, Sequence

import click

from podium.hosts.inspect_ai.logs.ranking_in_log import remove_stale_rankings
from podium.printable import tell
from podium.storage.remote import Place, RemoteFile, list_siblings, place_of

LogStates = frozenset[tuple[str, object]]
"""Logs, each with a value that changes when it is written."""


def watch_scoring(command: click.Context | None) -> None:
    """Have `inspect score` remove the rankings that it made stale when it ends."""
    if command is None or command.info_name != "score":
        return
    named = [command.params.get(name) for name in ("log_file", "output_file")]
    words = [str(word) for word in named if word]
    # The logs beside remote ones would take a request each.
    if any("://" in word for word in words):
        return
    before = states_of(logs_near(words))

    def clean_up() -> None:
        for log in changed_logs(before, words):
            try:
                others = remove_stale_rankings(log)
            # The scores are saved, whatever becomes of the ranking.
            except Exception as error:
                tell(f"{log}: its ranking may be older than its scores: {error}")
                continue
            if others:
                what = f"{len(others):,} other logs hold a ranking with the scores before"
                tell(f"{what}: rank these logs again")

    command.call_on_close(clean_up)


def states_of(places: Iterable[Place]) -> LogStates:
    """Return logs with their identity in the store, or their time of modification."""
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
    """Return the logs that the words of a command name, and those beside them."""
    near: set[Place] = set()
    for word in words:
        if word.endswith((".eval", ".json")):
            log = place_of(word)
            beside = list_siblings(log) if isinstance(log, RemoteFile) else log.parent.glob("*")
            near |= {place for place in beside if place == log or place.suffix == ".eval"}
    return near


def changed_logs(before: LogStates, words: Sequence[str]) -> list[Place]:
    """Return the logs near those that the words name whose states are not those of `before`."""
    changed = states_of(logs_near(words)) - before
    return sorted((place_of(name) for name, _ in changed), key=str)
