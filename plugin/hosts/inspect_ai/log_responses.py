"""The reader of models' responses in Inspect logs; Inspect is loaded with the first log."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from podium.hosts.inspect_ai.log_files import is_beside_logs, is_log
from podium.responses.answers import ResponseRow
from podium.responses.read import FileReader
from podium.responses.transcripts import Show


def _read_log(path: Path, show: Show) -> Iterable[ResponseRow]:
    from podium.hosts.inspect_ai.sample_answers import responses_in

    return responses_in(path, show)


def _choose(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Return the logs whose responses count, and notes on the others."""
    from podium.hosts.inspect_ai.folders import choose_response_logs

    return choose_response_logs(paths)


READER = FileReader((".eval", ".json"), lambda path: is_log(path) or is_beside_logs(path), _read_log, _choose)
"""How `podium.responses.read.read_responses` reads Inspect logs."""
