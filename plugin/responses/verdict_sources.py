"""Read the responses that lie beside verdicts: in the same tables, folders or logs of hosts."""

from collections.abc import Collection, Sequence
from pathlib import Path

from podium.data.formats.files import split_label
from podium.hookspecs import load_target
from podium.plugins import catalogue
from podium.responses.collection import Responses
from podium.responses.read import read_responses
from podium.responses.response_files import FileReader
from podium.responses.transcripts import ANSWER_ALONE, Show
from podium.scorers.reasoning import Policy

STANDARD_INPUT = "-"
"""Path that stands for standard input."""
TABLE_MARK = "#"
"""Stands between the path of a database and the name of one of its tables."""


def response_readers() -> list[FileReader]:
    """Return the readers of responses in logs, of every format that has one."""
    return [
        load_target(table_format.responses)
        for table_format in catalogue.formats()
        if table_format.responses
    ]


def read_responses_beside_verdicts(
    sources: Sequence[str],
    *,
    allow: Collection[str] = (),
    reasoning: Policy = "strip",
    show: Show = ANSWER_ALONE,
) -> Responses:
    """Read the responses in sources of verdicts. The result may have none.

    Args:
        sources: sources of verdicts. Standard input and tables of databases are skipped.
        allow: names of findings, such as `questions`, that are not treated as errors.
        reasoning: whether reasoning before an answer is removed (`strip`) or kept (`keep`).
        show: says whether a response of an agent is its answer or its transcript.

    Raises:
        PodiumError: as `read_responses`.
    """
    files = [source for source in sources if _is_on_disk_or_url(source)]
    return read_responses(
        *files,
        readers=response_readers(),
        reasoning=reasoning,
        show=show,
        optional=True,
        allow=allow,
    )


def _is_on_disk_or_url(source: str) -> bool:
    """Return whether a source is a file, folder, glob or URL.

    The result is False for standard input, and for a path with `#` that does not exist, which is a
    table of a database (`PATH#TABLE`).
    """
    path = split_label(source)[1]
    if path == STANDARD_INPUT:
        return False
    return TABLE_MARK not in path or Path(path).exists()
