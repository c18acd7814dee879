"""cot: reasons first, then a verdict on the last line (Non-transitivity paper, appendix G.1: CoT comparison)."""

import re
from functools import partial

from podium.scorers.asking import Settings
from podium.scorers.direct import by_letter
from podium.scorers.reading import EDGE, last_line, says_nothing
from podium.scorers.realization import Realization
from podium.scorers.template import packaged
from podium.scorers.verdict import Reply, Verdict, unread

FORM = re.compile(
    rf"{EDGE}(?:final[ \t]+)?verdict{EDGE}:{EDGE}(?:response[ \t]+)?[\[(\"']*([A-Z])(?![A-Z0-9])[\])\"'.]*{EDGE}\.?",
    re.IGNORECASE | re.ASCII,
)
"""`Verdict: A`, alone on its line."""


def read(reply: Reply, settings: Settings) -> Verdict:
    """Read the verdict on the last line."""
    nothing = says_nothing(reply)
    if nothing:
        return unread(nothing)
    stated = last_line(reply.text, FORM)
    return unread(stated) if isinstance(stated, str) else by_letter(stated, settings)


COT = Realization(
    name="cot",
    kind="pairwise",
    template=partial(packaged, "cot"),
    read=read,
    yields=("credit",),
    max_tokens=2048,
    options=frozenset({"tie", "checklist", "reference", "system"}),
    probabilities="soften",
)
