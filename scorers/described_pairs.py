"""Names of responses that are described side by side, such as `A (fair), B (good)`.

The first name is no verdict, whatever heading stands before it.
"""

import re
from functools import cache

from podium.scorers import contradiction_words as words
from podium.scorers.comparisons import OTHER_RESPONSE
from podium.scorers.stated_scores import NOUN_BEFORE_NAME

CLOSERS = r"[*_`\"')\]]*[ \t]*"
"""Closing signs and blanks after a name."""
BETWEEN = r"(?:[,;.|/&]|\bvs\b\.?|\bversus\b|\b(?:and|und|et|y|while|whereas)\b|[ \t]-(?=[ \t]))"
"""A sign or word between the descriptions of two responses: `;`, `versus`, `while`."""
LIST_SIGNS = r"[^\w\n<>]*"
"""Signs and blanks within a line, such as `- **`."""
BRACKETED = r"\((?:[^()\n]|\([^()\n]*\)){1,200}\)"
"""A text in brackets, which may hold one more pair: `(uses sort(), which is fast)`."""
SHORT_DESCRIPTION = r"(?:[^\s,.;]+[ \t]+){0,3}[^\s,.;]+"
"""At most four words without punctuation, such as `short and to point`."""
SIGNS = ("[:：]", "[–—]", r"-(?=[ \t])", "=", "→|->|=>")
"""Signs between a name and its description. Both names have the same one."""
NAMED_DECISION = re.compile(
    rf"(?i)(?:{words.DECISION_NOUNS})\b[^\w\n]*\n?[^\w\n]*{NOUN_BEFORE_NAME}\Z"
)
"""A word such as `Winner:` directly before a name, or in a line above it."""
SEARCHED_BEFORE = 60
"""Number of characters before a name that are searched for such a word."""
LONGEST_DESCRIPTION = 200
"""Largest number of characters of a description."""


@cache
def _pattern(letter: str, *, on_next_line: bool) -> re.Pattern[str]:
    """Return the pattern of a response and its description, then the other response and its own.

    Args:
        letter: the letter of the response that is named first.
        on_next_line: whether the other response is named at the beginning of the next line.
    """
    between = rf"\n\s*{LIST_SIGNS}" if on_next_line else rf"[ \t]*{BETWEEN}{LIST_SIGNS}"
    after_bracket = between if on_next_line else rf"[ \t*_]*(?:{BETWEEN}{LIST_SIGNS})?"
    other = rf"(?:the[ \t]+)?{NOUN_BEFORE_NAME}{OTHER_RESPONSE[letter]}{CLOSERS}"
    description = rf"[^\n]{{1,{LONGEST_DESCRIPTION}}}?"
    forms = [rf"{BRACKETED}{after_bracket}{other}\("]
    forms += [rf"(?:{sign}){description}{between}{other}(?:{sign})" for sign in SIGNS]
    end_of_first = r"[.;]?[ \t]*\n\s*" if on_next_line else r"[.;]"
    forms.append(
        rf",[ \t]*{SHORT_DESCRIPTION}{end_of_first}{LIST_SIGNS}{other},[ \t]*{SHORT_DESCRIPTION}"
        r"[ \t]*(?:[.;\n]|\Z)"
    )
    return re.compile(rf"{letter}{CLOSERS}(?:{'|'.join(forms)})")


def is_described_beside_other(view: str, place: int, *, searches_next_line: bool) -> bool:
    """Return whether the letter at a place and the other response are described side by side.

    The same sign stands after both names, as in `A (fair), B (good)`, `A - fair, B - good` or
    `A, 3. B, 9.`

    Args:
        view: the judge's own words.
        place: position of a letter A or B.
        searches_next_line: whether the other response may also begin the next line with words.
    """
    letter = view[place]
    if letter not in OTHER_RESPONSE:
        return False
    if _pattern(letter, on_next_line=False).match(view, place):
        return True
    return searches_next_line and bool(_pattern(letter, on_next_line=True).match(view, place))


def is_named_decision(view: str, place: int) -> bool:
    """Return whether a word such as `Winner:` before a place makes a letter there a decision.

    The word stands directly before the place or on the line above, in the last 60 characters.
    """
    return NAMED_DECISION.search(view[max(0, place - SEARCHED_BEFORE) : place]) is not None
