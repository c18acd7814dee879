"""Recognize the files of a log folder, and define names that are needed before Inspect loads."""

from pathlib import Path

from podium.hosts.reference_pin import PIN_FILE

NAMESPACE = "podium"
"""Key of podium's entries in a sample's store, in scores and in results."""
RUNS_SUFFIX = ".runs"
"""End of the name of the folder with the responses that a tournament of lm-eval reads."""
PLAYED_FOR = f"{NAMESPACE}_host"
"""Key in the metadata of a tournament's log that names the host whose run it follows.

The host (`lm-eval`, `inspect-ai`) plays the tournament and ranks it.
"""
HOST = "inspect-ai"
"""Names Inspect as the host in the logs of tournaments that its command plays after an eval."""
LISTS = ("logs.json", "eval-set.json")
"""Names of files in which Inspect lists the logs of an eval set."""
RANKING = ".ranking"
"""End of the name of a file with a ranking beside its log.

It is no `.json`, so that `*.json` over a folder of logs finds logs only.
"""
OLDER_RANKING = ".ranking.json"
"""End of the names of such files of earlier versions."""
LOG_SUFFIXES = (".eval", ".json", RANKING)
"""Suffixes of logs, and of files that lie beside logs."""


def is_log(path: Path) -> bool:
    """Return whether a file is an Inspect log, by its suffix or the first fields of its JSON.

    Any `.eval` file is one, whatever it holds. Files of other suffixes than `.eval` and `.json` are
    none, and neither are Inspect's own lists of logs (`LISTS`).

    Raises:
        OSError: a `.json` file cannot be opened.
    """
    if path.suffix == ".eval":
        return True
    if path.suffix != ".json" or path.name in LISTS:
        return False
    head = _first_bytes(path)
    return b'"version"' in head and b'"eval"' in head and b'"status"' in head


def is_beside_logs(path: Path) -> bool:
    """Return whether a file lies beside logs: an eval set's list, a ranking or a pin.

    Rankings are recognised by name. Lists and pins are opened, as other files may have their names.
    """
    if path.name == PIN_FILE:
        return b'"podium"' in _first_bytes(path)
    if path.name in LISTS:
        return any(word in _first_bytes(path) for word in (b'"eval_set_id"', b'"task_id"'))
    return path.name.startswith(f"{NAMESPACE}-") and path.name.endswith((RANKING, OLDER_RANKING))


def _first_bytes(path: Path) -> bytes:
    """Return the first 4,096 bytes of a file."""
    with path.open("rb") as stream:
        return stream.read(4096)
