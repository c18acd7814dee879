"""A word in double square brackets, alone on the last line: how labels, numbers and grades are answered.

The closing brackets show that the word is whole: `[[8` is not a reading of `[[87]]`.
"""

import re

from podium.scorers.reading import EDGE, last_line, says_nothing
from podium.scorers.verdict import Reply

FORM = re.compile(
    rf"{EDGE}(?:(?:final[ \t]+)?(?:verdict|score|rating|answer|grade|label){EDGE}:{EDGE})?"
    rf"\[\[([^\[\]\n]{{1,40}})\]\]\.?{EDGE}",
    re.IGNORECASE | re.ASCII,
)


def bracketed(reply: Reply) -> tuple[str | None, str]:
    """Return the word in brackets, and why there is none."""
    nothing = says_nothing(reply)
    if nothing:
        return None, nothing
    stated = last_line(reply.text, FORM)
    return (None, stated) if isinstance(stated, str) else (stated[1].strip(), "")
