"""Whether the answers of both models in a table of verdicts are compared while it is read.

`podium compare` counts identical answers. Other commands do not use them, and comparing texts and
conversations takes longer than reading verdicts.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ANSWER_DIGEST = "digest_of_answer"
"""Column of scores with a digest of the model's answer, or empty; left out after reading."""
_ARE_COMPARED: ContextVar[bool] = ContextVar("whether answers are compared", default=False)
"""Whether the code that runs now is in the body of `comparing_answers`."""


@contextmanager
def comparing_answers() -> Iterator[None]:
    """Let readers compare the answers of both models while the body runs."""
    before = _ARE_COMPARED.set(True)
    try:
        yield
    finally:
        _ARE_COMPARED.reset(before)


def are_answers_compared() -> bool:
    """Return whether readers compare the answers of both models now."""
    return _ARE_COMPARED.get()
