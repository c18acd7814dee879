"""reward: a scalar from a reward model, or from any function; there is no prompt."""

from math import isfinite

from podium.scorers.asking import Settings
from podium.scorers.realization import Realization
from podium.scorers.verdict import Rating, Reply, unrated


def rating(value: object) -> Rating:
    """Return what a function gave as a rating: a finite number is one, everything else says why not.

    Args:
        value: a number, or an array or tensor with one; None = nothing came; an exception = the function failed.

    >>> rating(-1.5).score, rating(float("nan")).reason, rating(None).reason, rating("7").reason
    (-1.5, 'out of range', 'empty', 'no verdict')
    """
    if value is None:
        return unrated("empty")
    try:
        number = value.item() if hasattr(value, "item") else value
        if isinstance(number, bool | str | bytes | BaseException):
            return unrated("no verdict")
        score = float(number)  # type: ignore[arg-type]
    except OverflowError:
        return unrated("out of range")
    except (TypeError, ValueError, RuntimeError):
        return unrated("no verdict")
    return Rating(score) if isfinite(score) else unrated("out of range")


def read(reply: Reply, settings: Settings) -> Rating:  # noqa: ARG001
    """Read a scalar that came as text: what a reward model behind a text interface answers."""
    if reply.truncated:
        return unrated("truncated")
    if not reply.text.strip():
        return unrated("empty")
    try:
        return rating(float(reply.text)) if reply.text.isascii() and "_" not in reply.text else unrated("no verdict")
    except ValueError:
        return unrated("no verdict")


REWARD = Realization(
    name="reward",
    kind="pointwise",
    template=None,
    read=read,
    yields=("score",),
    max_tokens=32,
    options=frozenset(),
)
