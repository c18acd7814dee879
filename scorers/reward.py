"""reward: a number from a reward model or any function, without a prompt."""

from math import isfinite

from podium.scorers.prompt import Settings
from podium.scorers.realization import Preference, Realization
from podium.scorers.reply import Rating, Reply


def rating_of_value(value: object) -> Rating:
    """Convert what a function returned to a rating, unparsed unless it is a finite number (or an array with one)."""
    if value is None:
        return Rating(None, reason="empty")
    try:
        number = value.item() if hasattr(value, "item") else value
        if isinstance(number, bool | str | bytes | BaseException):
            return Rating(None, reason="no verdict")
        score = float(number)  # type: ignore[arg-type]
    except OverflowError:
        return Rating(None, reason="out of range")
    except (TypeError, ValueError, RuntimeError):
        return Rating(None, reason="no verdict")
    return Rating(score) if isfinite(score) else Rating(None, reason="out of range")


def read_reply(reply: Reply, settings: Settings) -> Rating:  # noqa: ARG001
    """Read a number that came as text, from a reward model behind a text interface."""
    if reply.reason_of_silence:
        return Rating(None, reason=reply.reason_of_silence)
    if "_" in reply.text or not reply.text.isascii():
        return Rating(None, reason="no verdict")
    try:
        return rating_of_value(float(reply.text))
    except ValueError:
        return Rating(None, reason="no verdict")


def write_reply(preference: Preference, settings: Settings) -> Reply:  # noqa: ARG001
    """Return a reply with the degree as a number."""
    return Reply(repr(preference.degree))


REWARD = Realization(
    name="reward",
    kind="pointwise",
    template=None,
    read_reply=read_reply,
    write_reply=write_reply,
    options=frozenset(),
)
