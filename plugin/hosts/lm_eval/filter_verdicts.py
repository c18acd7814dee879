"""Recognize the verdicts that the judging filter of this process wrote.

A model may answer with a text that looks like verdicts, so that only texts with a known digest are parsed.
"""

from hashlib import sha256
from typing import Any

from podium.formats.lm_eval_judged import parse_verdicts

_DIGESTS: set[bytes] = set()


def remember_verdicts(text: str) -> str:
    """Return the text of a document's verdicts unchanged, after remembering its digest."""
    _DIGESTS.add(_digest(text))
    return text


def parse_filter_verdicts(filtered: Any) -> dict[str, Any] | None:
    """Parse a filtered response into the verdicts on a document; None if the judging filter did not write it."""
    if isinstance(filtered, list | tuple) and len(filtered) == 1:
        return parse_filter_verdicts(filtered[0])
    return parse_verdicts(filtered) if isinstance(filtered, str) and _digest(filtered) in _DIGESTS else None


def _digest(text: str) -> bytes:
    """Return the SHA-256 digest of a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
