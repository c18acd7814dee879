"""Words of blame in a clause, such as `misses the point`, that are neither negated nor conceded."""

import re

from podium.scorers import contradiction_words as words

FAULT = re.compile(rf"(?i)(?<!\w)(?:{words.FAULTS})(?!\w)|{words.CHINESE_FAULTS}")
"""A word for a fault, such as `wrong`."""
FAULT_NEGATION = re.compile(rf"(?i)\b(?:{words.FAULT_NEGATIONS})(?!\w)|n['’]t\b")
"""A word that denies a fault, such as `no` in `no errors`."""


def has_fault(clause: str) -> bool:
    """Return whether a clause has words of blame that are neither negated nor conceded.

    Only the first words of blame are checked, for a negation before them or directly after them.
    """
    fault = FAULT.search(clause)
    if fault is None:
        return False
    # A negation may also stand directly after the fault, as in `missing nothing`.
    end_of_next_word = fault.end() + 10
    return not FAULT_NEGATION.search(clause[:end_of_next_word])
