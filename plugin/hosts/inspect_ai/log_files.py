"""The files of a log folder, recognised by name and first bytes, and the names that are needed before Inspect loads."""

from pathlib import Path

NAMESPACE = "podium"
"""Key of podium's entries in a sample's store, in scores and in results."""
PLAYED_FOR = f"{NAMESPACE}_host"
"""Metadata key of a tournament that another host's command plays and ranks."""
RANKER_VARIABLE = "PODIUM_RANKER"
"""Environment variable that names rankers if a log's metadata do not."""
LISTS = ("logs.json", "eval-set.json")
"""Inspect's lists of the logs of an eval set."""
RANKING = ".ranking.json"
"""End of the name of a ranking beside its log."""


def is_log(path: Path) -> bool:
    """Return whether a file is an Inspect log, by its suffix or the first fields of its JSON."""
    if path.suffix == ".eval" or path.suffix != ".json" or path.name in LISTS:
        return path.suffix == ".eval"
    head = _first_bytes(path)
    return b'"version"' in head and b'"eval"' in head and b'"status"' in head


def is_beside_logs(path: Path) -> bool:
    """Return whether Inspect or podium wrote a file beside logs: a list of the logs of an eval set, or a ranking."""
    if path.name in LISTS:
        return any(word in _first_bytes(path) for word in (b'"eval_set_id"', b'"task_id"'))
    return path.name.startswith(f"{NAMESPACE}-") and path.name.endswith(RANKING)


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(4096)
