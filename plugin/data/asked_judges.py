"""Notes on how the judges of a file were asked."""

from collections.abc import Iterator, Mapping

from podium.notices.notice import Notice


def notes_on_refused(path: str, refused: Mapping[str, Mapping[str, str]]) -> Iterator[Notice]:
    """Yield a note for each option of calls that a judge refused, and was asked without.

    Args:
        path: the file.
        refused: the server's words, by judge and option.
    """
    for judge, options in refused.items():
        for option, why in options.items():
            yield Notice(
                f"no-{option.replace('_', '-')}", {"path": path, "judge": judge, "why": why}
            )
