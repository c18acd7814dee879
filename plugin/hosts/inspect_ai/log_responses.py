"""The models' answers in Inspect logs, for whoever reads responses; Inspect itself is loaded with the first log."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from podium.hosts.inspect_ai.log_contents import is_beside_logs, is_log
from podium.responses.answers import ResponseRow
from podium.responses.read import FileReader


def _claims(path: Path) -> bool:
    return is_log(path) or is_beside_logs(path)


def _read(path: Path) -> Iterable[ResponseRow]:
    from podium.hosts.inspect_ai.logs import responses_in

    return responses_in(path)


def _choose(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    from podium.hosts.inspect_ai.folders import choose_files

    return choose_files(paths)


READER = FileReader((".eval", ".json"), _claims, _read, _choose)
"""What `podium.responses.read.read_responses` needs to know of Inspect logs."""
