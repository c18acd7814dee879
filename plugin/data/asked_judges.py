"""Notes on how the judges of a file, and the models that answered, were asked."""

from collections.abc import Iterator, Mapping

from podium.notices.notice import Notice

CODES = {
    "temperature": "no-temperature",
    "logprobs": "no-logprobs",
    "max_tokens": "no-max-tokens",
    "schema": "no-schema",
}
"""Code of the note by option that a judge refused. Notes on other options have no text."""
CODES_OF_ANSWERS = {
    "temperature": "answers-without-temperature",
    "max_tokens": "answers-without-limit",
}
"""Code of the note by option that a model refused that answered on demand."""


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


def notes_on_answers(path: str, refused: Mapping[str, Mapping[str, str]]) -> Iterator[Notice]:
    """Yield a note for each option of calls that a model refused, and answered without.

    Args:
        path: the file.
        refused: the server's words, by model and option. Options that change no answer, such as
            token probabilities, are skipped.
    """
    for model, options in refused.items():
        for option, why in options.items():
            if option in CODES_OF_ANSWERS:
                yield Notice(CODES_OF_ANSWERS[option], {"path": path, "model": model, "why": why})
