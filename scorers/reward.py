"""reward: a number from a reward model or any function, without a prompt."""

from math import isfinite

from podium.scorers.prompt import Settings
from podium.scorers.realization import Realization
from podium.scorers.reply import Rating, Reply


def rating_of_value(value: object) -> Rating:
    """Convert what a function returned to a rating.

    Returns:
        A rating whose score is the value, if the value is a finite number or an array with one
        finite number. Otherwise, an unparsed rating with the reason `empty` (None), `out of range`
        (infinite, NaN, or too large for a float), or `no verdict` (any other value, such as text or
        a truth value).
    """
    if value is None:
        return Rating(score=None, reason="empty")
    try:
        number = value.item() if hasattr(value, "item") else value
        if isinstance(number, bool | str | bytes | BaseException):
            return Rating(score=None, reason="no verdict")
        score = float(number)  # type: ignore[arg-type]
    except OverflowError:
        return Rating(score=None, reason="out of range")
    except (TypeError, ValueError, RuntimeError):
        return Rating(score=None, reason="no verdict")
    return Rating(score=score) if isfinite(score) else Rating(score=None, reason="out of range")


def read_reply(reply: Reply, settings: Settings) -> Rating:  # noqa: ARG001
    """Read a number that came as text, from a reward model behind a text interface.

    The rating is unparsed as `no verdict` if the text is anything but one number, and as `out of
    range` if the number is not finite. A reply without a text to read has the reason of
    `Reply.reason_of_silence`.
    """
    if reply.reason_of_silence:
        return Rating(score=None, reason=reply.reason_of_silence)
    # `float` also reads `1_000` and digits of other scripts.
    is_plain = reply.text.isascii() and "_" not in reply.text
    if not is_plain:
        return Rating(score=None, reason="no verdict")
    try:
        return rating_of_value(float(reply.text))
    except ValueError:
        return Rating(score=None, reason="no verdict")


REWARD = Realization(
    name="reward",
    kind="pointwise",
    template=None,
    read_reply=read_reply,
    write_reply=lambda preference, _: Reply(repr(preference.degree)),
    options=frozenset(),
)
