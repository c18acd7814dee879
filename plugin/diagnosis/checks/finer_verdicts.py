"""What the judges of some battles could be asked for to give finer verdicts, beyond what they give.

A remedy that is in use already is no remedy.
"""

import numpy as np

from podium.data.battles import Battles
from podium.data.counting.relations import HARD_CREDIT
from podium.diagnosis.judge_checks import are_human_votes
from podium.notices.option_forms import option_text

GRADING = frozenset({"numeric", "likert", "token-probs", "reward"})
"""Realizations that grade single responses, so that no response is shown first."""
FINEST_REALIZATIONS = GRADING - {"likert"}
"""Realizations whose grades are too fine for most ties; a finer one is never proposed for them."""
GRADABLE_REALIZATIONS = frozenset({None, "direct", "cot"})
"""Realizations whose verdicts token probabilities may grade. None stands for an unknown one."""


WAYS_WITHOUT_ORDER = {
    "realization": "grade single responses, which have no order ({option})",
    "logprobs": "give token probabilities ({option})",
}
"""How a judge may be asked instead, by the option that asks for it.

They help if the order decides the judge's verdicts. `{option}` is the option as it is typed.
"""


def ways_without_order(battles: Battles, judge: str | None = None) -> str:
    """Return how a judge whose verdicts the order decides may be asked instead.

    The text ends a sentence: it begins with a semicolon and has no full stop. Only ways that are
    not in use are named; the text is empty if there are none, and for votes of humans.

    Args:
        battles: the battles.
        judge: name of the judge; None if there is one judge, or if several are meant together.
    """
    if judge is not None:
        is_own = np.equal(battles.rows.texts_of("judge"), judge)
        battles = battles.select(is_own)
    options = _unused_options(battles, GRADING, "likert")
    ways = [WAYS_WITHOUT_ORDER[name].format(option=option) for name, option in options.items()]
    return f"; or let this one {', or '.join(ways)}" if ways else ""


def ways_without_ties(battles: Battles) -> str:
    """Return how judges that give nearly only ties may be asked instead.

    The text ends a sentence: it begins with a comma and has no full stop. Only options that are not
    in use are named; the text is empty if there are none, and for votes of humans.
    """
    options = _unused_options(battles, FINEST_REALIZATIONS, "numeric")
    if not options:
        return ""
    return f", or let this one give finer grades ({', or '.join(options.values())})"


def words_of_raters(battles: Battles, judge: str) -> dict[str, str]:
    """Return the words for who judged and for who else could, as fields of a check.

    The keys are `judges` and `other`, such as `the voters` and `other voters`.

    Args:
        battles: the battles.
        judge: the words for the judge, if these are no votes of humans.
    """
    if are_human_votes(battles):
        return {"judges": "the voters", "other": "other voters"}
    return {"judges": judge, "other": "another judge"}


def _unused_options(battles: Battles, grading: frozenset[str], realization: str) -> dict[str, str]:
    """Return the options that are not in use and would make verdicts finer.

    The keys are the names of options, `realization` and `logprobs`; the values are the options as
    typed. `logprobs` is there only if token probabilities could grade verdicts (`_may_weigh`). The
    result is empty for votes of humans, who have no options.

    Args:
        battles: the battles.
        grading: realizations that are as fine as the proposed one. If a judge has one of them,
            none is proposed.
        realization: the realization to propose.
    """
    options: dict[str, str] = {}
    if are_human_votes(battles):
        return options
    if not _realizations(battles) & grading:
        options["realization"] = option_text("realization", realization, "argument")
    if _may_weigh(battles):
        options["logprobs"] = option_text("logprobs", "required", "argument")
    return options


def _realizations(battles: Battles) -> frozenset[str | None]:
    """Return how the judges of some battles were asked; None stands for an unknown realization."""
    return frozenset(battles.judge_of(name).realization for name in battles.judges)


def _may_weigh(battles: Battles) -> bool:
    """Return whether token probabilities could grade verdicts, and grade none yet.

    The result is False if a judge has a realization that token probabilities cannot grade, or if a
    battle has a graded credit already.
    """
    if not _realizations(battles).issubset(GRADABLE_REALIZATIONS):
        return False
    if HARD_CREDIT not in battles.columns:
        return True
    return not np.isfinite(battles.numbers_of(HARD_CREDIT)).any()
