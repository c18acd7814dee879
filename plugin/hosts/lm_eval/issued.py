"""Which verdicts are podium's own: a model may answer with a text that looks like some."""

from hashlib import sha256
from typing import Any

from podium.formats.lm_eval_judged import parse_verdicts

_ISSUED: set[bytes] = set()


def issued(text: str) -> str:
    """Return the text, remembered as one that the judging filter of this process made."""
    _ISSUED.add(_digest(text))
    return text


def verdicts_in(kept: Any) -> dict[str, Any] | None:
    """Return the verdicts that a filtered response holds; None where the judging filter did not make it."""
    if isinstance(kept, list | tuple) and len(kept) == 1:
        return verdicts_in(kept[0])
    return parse_verdicts(kept) if isinstance(kept, str) and _digest(kept) in _ISSUED else None


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
