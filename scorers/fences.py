"""Fences around what strangers wrote: a response cannot close its own, because the mark is a hash of everything inside.

A fence is a pair of lines, `<<<NAME mark>>>` and `<<<END NAME mark>>>`. The mark is the same in one prompt, depends on
all texts that it holds, and occurs in none of them.
"""

import hashlib
import re
from collections.abc import Mapping

MARK = 16
"""Hexadecimal digits of a mark: 64 bits."""
LINE = re.compile(r"^<<<(END )?([A-Z][A-Z ]*) ([0-9a-f]{16})>>>$", re.MULTILINE)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters and line breaks other than a newline and a tab, and half characters that no encoding can send."""


def mark_of(texts: Mapping[str, str]) -> str:
    """Return a mark that occurs in none of the texts; the same texts give the same mark.

    >>> mark_of({"RESPONSE A": "yes"}) == mark_of({"RESPONSE A": "yes"})
    True
    """
    content = "".join(f"{name}\0{len(text)}\0{text}\0" for name, text in texts.items())
    salt = 0
    while True:
        mark = hashlib.sha256(f"{salt}\0{content}".encode("utf-8", "surrogatepass")).hexdigest()[:MARK]
        if not any(mark in text for text in texts.values()):
            return mark
        salt += 1


def fenced(texts: Mapping[str, str]) -> dict[str, str]:
    """Put a fence around every text, by name; control characters in them become visible escapes.

    Args:
        texts: name in capital letters (`INSTRUCTION`, `RESPONSE A`) to what stands between the lines.
    """
    shown = {name: visible(text) for name, text in texts.items()}
    mark = mark_of(shown)
    return {name: f"<<<{name} {mark}>>>\n{text}\n<<<END {name} {mark}>>>" for name, text in shown.items()}


def mark_in(fence: str) -> str:
    """Return the mark of a fence that `fenced` made."""
    line = LINE.match(fence)
    if line is None:
        raise ValueError(f"not a fence: {fence[:40]!r}")
    return line[3]


def unfenced(prompt: str) -> dict[str, str]:
    """Return the texts between the fences of a prompt, by name: what `fenced` was given, escapes left visible.

    The first fence of the prompt says the mark; lines that look like fences and bear another are text.
    """
    lines = list(LINE.finditer(prompt))
    if not lines:
        return {}
    mark = lines[0][3]
    found: dict[str, str] = {}
    opened: re.Match[str] | None = None
    for line in (one for one in lines if one[3] == mark):
        if opened is None and not line[1]:
            opened = line
        elif opened is not None and line[1] and line[2] == opened[2]:
            found[opened[2]] = prompt[opened.end() + 1 : max(line.start() - 1, opened.end() + 1)]
            opened = None
    return found


def visible(text: str) -> str:
    r"""Write control characters as escapes; newlines and tabs stay.

    >>> visible("a\r\nb\x1b[2K")
    'a\nb\\x1b[2K'
    """
    return CONTROL.sub(_escape, text.replace("\r\n", "\n"))


def _escape(sign: re.Match[str]) -> str:
    code = ord(sign[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
