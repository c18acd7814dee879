"""Signs beside a verdict: pictures, arrows and signs of comparison.

A tick or a cup approves of the value beside it, and a pointing hand or an arrow introduces it. Any
other sign, such as a cross, a thumb down or `≠`, is not understood, and the verdict does not count.
"""

import re
from unicodedata import category

from podium.scorers.reply_structure import MASK

# Signs that approve of a value.
APPROVING_SIGNS = frozenset("✅✓✔☑👍🏆🥇🏅🎉🎊⭐★☆🌟✨💯🙂😊😀😃😄👏🙌🔥🟢🟩💪🚀🥳🎯🏁❤💚👑🎖👌🆗")
NEUTRAL_SIGNS = frozenset(
    f"{MASK}👉👈➡→⇒➜➤►▶▸▪▫■□●○◆◇🔹🔸🔷🔶📌📝📊📋🔎🔍⚖🧑👨👩🤖🏻🏼🏽🏾🏿💡💬🗳│┃║∴≫≪"
)
"""Signs that introduce a value or draw a list, a box or a person."""
ARROWS = frozenset("👉➡→⇒➜➤►▶▸")
"""Signs after which something else is named. Directly after a value, they do not approve of it."""
UNEQUAL_SIGN = re.compile(r"!=|=/=|/=|<>(?!\w)")
"""Signs in plain characters that say `is not`."""
PRAISE_START = re.compile(
    r"\W*(?:(?:is|the|clearly|much|far|slightly|somewhat|overall) )*"
    r"(?:better|best|stronger|superior|more|most|winner|wins|preferred|correct|right)\b",
    re.IGNORECASE,
)
"""The beginning of praise after an arrow: `A → more complete`."""
DENYING_BEFORE = re.compile(r"(?:[~!]|(?<!\S)-)[\[(*]*\Z")
"""A sign directly before a value that may deny it: `~A`, `!A`, `-A`."""
FROWNING_FACE = re.compile(r"[\])}*_\s]*[:;]['-]?\(\s*\Z")
"""A frowning face in plain characters: `:(`."""
SIGN_RUN = re.compile(r"[^\w\n]*")
"""Signs and blanks within a line."""
LONGEST_SIGN_RUN = 60
"""Number of characters beside a value that are searched for signs."""


def has_foreign_sign(view: str, start: int, end: int) -> bool:
    """Return whether a sign beside a verdict is not understood as approval of it.

    The signs stand directly before or after the value, or alone on a line after it. An arrow after
    the value is understood only if praise or nothing follows it.

    Args:
        view: the judge's own words.
        start: position of the value.
        end: end of the value.
    """
    text_before = view[max(0, start - LONGEST_SIGN_RUN) : start]
    signs_before = text_before[_start_of_signs(text_before) :]
    text_after = view[end : end + LONGEST_SIGN_RUN]
    signs_after = text_after[: _end_of_signs(text_after)]
    if DENYING_BEFORE.search(signs_before) or FROWNING_FACE.match(text_after):
        return True
    if UNEQUAL_SIGN.search(signs_after) or any(map(_is_foreign, signs_before + signs_after)):
        return True
    has_arrow = not ARROWS.isdisjoint(signs_after)
    signs_end = end + len(signs_after)
    if has_arrow and not PRAISE_START.match(view, signs_end):
        return bool(view[signs_end:].strip())
    rest = view[end:]
    return not rest.isascii() and any(map(_is_line_of_foreign_signs, rest.split("\n")[1:]))


def _start_of_signs(text: str) -> int:
    """Return the start of the signs at the end of a text; its length if there are no signs."""
    return len(text) - len(_signs_of(text[::-1]))


def _end_of_signs(text: str) -> int:
    """Return the end of the signs at the beginning of a text; 0 if there are no signs."""
    return len(_signs_of(text))


def _signs_of(text: str) -> str:
    """Return the beginning of a text that has neither letters, digits nor line breaks."""
    signs = SIGN_RUN.match(text)
    return signs[0] if signs else ""


def _is_line_of_foreign_signs(line: str) -> bool:
    """Return whether a line has no words, and a sign that is not understood."""
    return _signs_of(line) == line and any(map(_is_foreign, line))


def _is_foreign(sign: str) -> bool:
    """Return whether a character is a picture or a sign of comparison that is not understood.

    The result is False for all ASCII characters.
    """
    if sign.isascii() or sign in APPROVING_SIGNS or sign in NEUTRAL_SIGNS:
        return False
    return category(sign) in ("So", "Sm")
