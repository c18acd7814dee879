"""Words of blame in a clause, such as `misses the point`, that are neither negated nor conceded."""

import re

from podium.scorers import contradiction_words as words

FAULT = re.compile(rf"(?i)(?<!\w)(?:{words.FAULTS})(?!\w)|{words.CHINESE_FAULTS}")
"""Words of blame."""
FAULT_NEGATION = re.compile(rf"(?i)\b(?:{words.FAULT_NEGATIONS})(?!\w)|n['’]t\b")
"""Words that deny or concede a fault, such as `no` and `although`."""


def has_fault(clause: str) -> bool:
    """Return whether a clause has words of blame that are neither negated nor conceded.

    Only the first words of blame are checked, for a negation before them or directly after them.
    """
    fault = FAULT.search(clause)
    if fault is None:
        return False
    # A negation may also stand directly after the fault, as in `missing nothing`.
    return not FAULT_NEGATION.search(clause[: fault.end() + 10])
