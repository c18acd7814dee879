"""Several judges of one battle: every verdict is kept, and one is made of them.

A judge that could not be read has not voted. It is no tie, and the rule says how many must have spoken.
"""

from collections.abc import Sequence
from typing import Literal

from podium.errors import UsageError
from podium.scorers.verdict import Verdict, unread

NO_QUORUM = "no quorum"
RULES = ("mean", "majority")

Rule = Literal["mean", "majority"]


def jury(verdicts: Sequence[Verdict], rule: Rule = "mean", *, quorum: int | None = None) -> Verdict:
    """Return what a jury says of a, given what each judge says of it (both orders merged).

    Args:
        verdicts: one per judge.
        rule: `mean` averages the credits and margins of the judges that could be read. `majority` counts wins and
            losses; a credit of one half is a vote for a tie.
        quorum: judges that must have been read (`mean`), or that must have voted the same kind of way (`majority`:
            decisively, or for a tie); more than half of the jury when not given.

    Returns:
        For `majority` credit 1 or 0 where a quorum is decisive and one side has more votes; one half where a quorum
        is decisive and evenly split, or where a quorum votes for a tie; its label counts wins, ties and losses.
        Unread (`no quorum`) in all other cases.

    Raises:
        UsageError: the rule is unknown, or the quorum is not between 1 and the number of judges.
    """
    if rule not in RULES:
        raise UsageError(f"no rule for juries called {rule!r}; available: {', '.join(RULES)}")
    needed = default_quorum(len(verdicts)) if quorum is None else quorum
    if not 1 <= needed <= len(verdicts):
        raise UsageError(f"the quorum of a jury of {len(verdicts)} cannot be {needed}")
    read = [verdict for verdict in verdicts if verdict.credit is not None]
    return _mean(read, needed) if rule == "mean" else _majority(read, needed)


def default_quorum(judges: int) -> int:
    """Return the least number that is more than half of the judges."""
    return judges // 2 + 1


def _mean(read: list[Verdict], quorum: int) -> Verdict:
    if len(read) < quorum:
        return unread(NO_QUORUM)
    margins = [verdict.margin for verdict in read if verdict.margin is not None]
    criteria = [name for name in read[0].criteria if all(name in verdict.criteria for verdict in read)]
    return Verdict(
        sum(verdict.credit or 0.0 for verdict in read) / len(read),
        sum(margins) / len(read) if len(margins) == len(read) else None,
        {name: sum(verdict.criteria[name] for verdict in read) / len(read) for name in criteria},
    )


def _majority(read: list[Verdict], quorum: int) -> Verdict:
    credits = [verdict.credit for verdict in read if verdict.credit is not None]
    wins, losses = sum(credit > 0.5 for credit in credits), sum(credit < 0.5 for credit in credits)
    ties = len(credits) - wins - losses
    if wins + losses < quorum and ties < quorum:
        return unread(NO_QUORUM)
    credit = 0.5 if wins + losses < quorum else (wins > losses) + (wins == losses) / 2
    return Verdict(credit, label=f"{wins}-{ties}-{losses}")
