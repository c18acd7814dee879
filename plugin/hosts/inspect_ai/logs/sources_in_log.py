"""Name the sources of a tournament in its log as the user has them."""

from collections.abc import Callable
from typing import Any

from inspect_ai.log import read_eval_log

from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.hosts.inspect_ai.logs.ranking_in_log import write_header
from podium.storage.remote import Place, local_file

SOURCES = f"{NAMESPACE}_sources"
"""Key of the files of the responses in the metadata of a tournament's log."""
RUNS = f"{NAMESPACE}_runs"
"""Key of the runs that gave the responses in that metadata."""
RESPONSES = "responses"
"""The option of a tournament that names the responses."""


def rename_sources(place: Place, name_source: Callable[[str], str]) -> None:
    """Rename the sources of the responses in a tournament's log, in place.

    They are in the metadata (files, and the source of each run) and in the options of the task. A
    log without these entries is written unchanged.

    Args:
        place: the log.
        name_source: gives the new name of a source.
    """
    path = local_file(place)
    log = read_eval_log(str(path), header_only=True)
    metadata = log.eval.metadata or {}
    if SOURCES in metadata:
        metadata[SOURCES] = list(map(name_source, metadata[SOURCES]))
    for run in metadata.get(RUNS, ()):
        run["source"] = name_source(run["source"])
    for options in (log.eval.task_args, log.eval.task_args_passed):
        if RESPONSES in options:
            options[RESPONSES] = _rename_typed(options[RESPONSES], name_source)
    write_header(place, path, log)


def _rename_typed(typed: Any, name_source: Callable[[str], str]) -> Any:
    """Return the value of the option `responses` with new names: a text, or a list of texts.

    Each source is passed to `name_source` as it was typed, with a `label=` before it if it has one.
    """
    if isinstance(typed, str):
        return name_source(typed)
    return [name_source(str(source)) for source in typed]
