"""Notes on how the judges of a file were asked."""

from collections.abc import Iterator, Mapping

from podium.notices.notice import Notice

CODES = {
    "temperature": "no-temperature",
    "logprobs": "no-logprobs",
    "max_tokens": "no-max-tokens",
    "schema": "no-schema",
}
"""Code of the note by option that a judge refused. Notes on other options have no text."""


def notes_on_refused(path: str, refused: Mapping[str, Mapping[str, str]]) -> Iterator[Notice]:
    """Yield a note for each option of calls that a judge refused, and was asked without.

    Args:
        path: the file.
        refused: the server's words, by judge and option.
    """
    for judge, options in refused.items():
        for option, why in options.items():
            if option in CODES:
                yield Notice(CODES[option], {"path": path, "judge": judge, "why": why})
