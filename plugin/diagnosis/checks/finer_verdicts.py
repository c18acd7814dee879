"""What the judges of some battles could be asked for to give finer verdicts, beyond what they give.

A remedy that is in use already is no remedy.
"""

import numpy as np

from podium.data.battles import Battles
from podium.data.counting.relations import HARD

GRADING = frozenset({"numeric", "likert", "token-probs", "reward"})
"""Realizations that grade single responses, which have no order."""
FINEST = GRADING - {"likert"}
"""Those whose grades are too fine for most ties."""
WEIGHED = frozenset({None, "direct", "cot"})
"""Realizations whose verdicts token probabilities may grade. None stands for an unknown one."""


def ways_without_order(battles: Battles) -> str:
    """Return how judges whose verdicts the order decides may judge, for the end of a clause."""
    ways = []
    if not _realizations(battles) & GRADING:
        ways.append("grade single responses, which have no order (realization=likert)")
    if _may_weigh(battles):
        ways.append("give token probabilities (logprobs=required)")
    return f"; or let this one {', or '.join(ways)}" if ways else ""


def ways_without_ties(battles: Battles) -> str:
    """Return how judges that give nearly only ties may judge, for the end of a clause."""
    ways = []
    if not _realizations(battles) & FINEST:
        ways.append("realization=numeric")
    if _may_weigh(battles):
        ways.append("logprobs=required")
    return f", or let this one give finer grades ({', or '.join(ways)})" if ways else ""


def _realizations(battles: Battles) -> frozenset[str | None]:
    """Return how the judges were asked; None for a judge of whom it is not known."""
    return frozenset(battles.judge_of(name).realization for name in battles.judges)


def _may_weigh(battles: Battles) -> bool:
    """Return whether token probabilities could grade verdicts, and grade none yet."""
    if not _realizations(battles) <= WEIGHED:
        return False
    if HARD not in battles.columns:
        return True
    return not np.isfinite(battles.numbers_of(HARD)).any()
