"""podium's errors as Inspect's command shows what its users can mend: a message, no traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

from inspect_ai._util.error import PrerequisiteError
from rich.markup import escape

from podium.errors import PodiumError


@contextmanager
def told_plainly() -> Iterator[None]:
    """Let podium's own errors through as ones that Inspect prints without a traceback; they stay what they are."""
    try:
        yield
    except PodiumError as error:
        raise _plain(error) from None


def _plain(error: PodiumError) -> Exception:
    kind = type(type(error).__name__, (type(error), PrerequisiteError), {"__module__": type(error).__module__})
    plain: Exception = Exception.__new__(kind)
    plain.args = error.args
    plain.__dict__.update(error.__dict__, message=escape(f"podium: {error}"))
    return plain
