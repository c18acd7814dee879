"""The reader of models' responses in Inspect logs. Inspect is imported with the first log."""

from typing import Any

from podium.hosts.inspect_ai.logs.log_files import LOG_SUFFIXES, is_beside_logs, is_log
from podium.responses.response_files import FileReader


def _read_log(*arguments: Any) -> Any:
    """Return what `sample_answers.responses_in` returns; Inspect is imported by the first call."""
    from podium.hosts.inspect_ai.logs.sample_answers import responses_in

    return responses_in(*arguments)


def _select_logs(*arguments: Any) -> Any:
    """Return what `folders.choose_response_logs` returns; Inspect is imported by the first call."""
    from podium.hosts.inspect_ai.logs.folders import choose_response_logs

    return choose_response_logs(*arguments)


READER = FileReader(
    suffixes=LOG_SUFFIXES,
    accepts=lambda path: is_log(path) or is_beside_logs(path),
    read=_read_log,
    choose=_select_logs,
)
"""How `podium.responses.read.read_responses` reads Inspect logs."""
