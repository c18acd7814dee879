"""The reader of models' responses in Inspect logs; Inspect is loaded with the first log."""

from functools import partial

from podium.hosts.inspect_ai.log_files import is_beside_logs, is_log
from podium.responses.read import FileReader
from podium.text import call

READER = FileReader(
    (".eval", ".json"),
    lambda path: is_log(path) or is_beside_logs(path),
    partial(call, "podium.hosts.inspect_ai.sample_answers:responses_in"),
    partial(call, "podium.hosts.inspect_ai.folders:choose_response_logs"),
)
"""How `podium.responses.read.read_responses` reads Inspect logs."""
