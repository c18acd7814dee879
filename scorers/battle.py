"""The judge calls (judgments) of one battle, and the merging of their verdicts.

The verdicts of both orders are merged first, then those of repeats, then those of judges.
`podium.data.counting` merges the orders of whole tables by the same rule.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal

from podium.errors import UsageError
from podium.scorers.reply import ONE_ORDER_UNPARSED, Rating, Verdict, verdict_of_margin

Orders = Literal["both", "random", "as-given"]
ORDERS = ("both", "random", "as-given")
"""The values of the option `orders` (see `judgments`)."""
Rule = Literal["mean", "majority"]
RULES = ("mean", "majority")
"""The values of the option `rule` (see `merge_jury`)."""
NO_QUORUM = "no quorum"
"""Reason of a battle if too few judges could be read, or too few agreed (`merge_jury`)."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """One call of a judge on one item.

    Attributes:
        item: id of the item.
        first: the model whose response is shown first.
        second: the model whose response is shown second.
        order: `ab` if the model named first in the battle is shown first, else `ba`.
        repeat: number of the repetition, from 0.
    """

    item: str
    first: str
    second: str
    order: Literal["ab", "ba"]
    repeat: int


def judgments(
    item: str,
    a: str,
    b: str,
    *,
    orders: Orders = "both",
    repeats: int = 1,
    seed: int = 0,
    first: str | None = None,
) -> tuple[Judgment, ...]:
    """Return the judge calls of a battle.

    Args:
        item: id of the item.
        a: the model named first.
        b: the model named second.
        orders: `both` orders, one `random` order that is drawn for each repeat, or `as-given` (a
            is shown first).
        repeats: number of repetitions.
        seed: chooses the random orders.
        first: a or b: the model that is shown first in every call. Unless it is None, `orders` is
            ignored.

    Returns:
        The calls, repeat by repeat. If `orders` is `both`, a repeat has two calls: the first one
        shows the response of `a` first, the second one that of `b`. Otherwise, it has one call.
    """
    calls: list[Judgment] = []
    for repeat in range(repeats):
        as_given = Judgment(item=item, first=a, second=b, order="ab", repeat=repeat)
        swapped = Judgment(item=item, first=b, second=a, order="ba", repeat=repeat)
        if first is not None:
            calls.append(as_given if first == a else swapped)
        elif orders == "both":
            calls += [as_given, swapped]
        elif orders == "as-given":
            calls.append(as_given)
        else:
            shown_first = _random_model((a, b), item, repeat, seed)
            calls.append(as_given if shown_first == a else swapped)
    return tuple(calls)


def _random_model(pair: tuple[str, str], item: str, repeat: int, seed: int) -> str:
    """Return the model of a pair that is shown first, drawn by a hash of all arguments.

    The order of the pair makes no difference.
    """
    models = sorted(pair)
    # The lengths keep the parts apart: different arguments never make the same key.
    parts = (str(seed), item, *models, str(repeat))
    key = "\0".join(f"{len(part)}:{part}" for part in parts)
    digest = sha256(key.encode("utf-8", "surrogatepass")).digest()
    return models[digest[0] % 2]


def swap_sides(verdict: Verdict) -> Verdict:
    """Convert a verdict about the first response to a verdict about the second response.

    The credit c becomes 1 - c, and so does the parsed credit. All margins change their signs. The
    label, the place and the mass stay as they were. An unparsed verdict is returned unchanged.
    """
    if verdict.credit is None:
        return verdict
    criteria = {name: 0.0 - margin for name, margin in verdict.criteria.items()}
    margin = None if verdict.margin is None else 0.0 - verdict.margin
    parsed = None if verdict.parsed is None else 1 - verdict.parsed
    return replace(
        verdict, credit=1 - verdict.credit, margin=margin, criteria=criteria, parsed=parsed
    )


def compare_ratings(a: Rating, b: Rating) -> Verdict:
    """Return the verdict about `a` that follows from the ratings of `a` and `b`.

    The margin is the score of `a` minus the score of `b`. The credit is 1, 0.5 or 0 by the sign of
    the margin. If both ratings have a parsed score, the parsed credit is 1, 0.5 or 0 by the sign of
    the difference of the parsed scores. The mass is the smallest known mass, None if none is known.

    If a rating is unparsed, the verdict is unparsed for the same reason. Two different reasons are
    joined by ` / `, in the order of the alphabet.
    """
    masses = [rating.mass for rating in (a, b) if rating.mass is not None]
    mass = min(masses, default=None)
    if a.score is None or b.score is None:
        reasons = {rating.reason for rating in (a, b) if rating.reason}
        return Verdict(credit=None, reason=" / ".join(sorted(reasons)), mass=mass)
    parsed = None
    if a.parsed is not None and b.parsed is not None:
        parsed = verdict_of_margin(a.parsed - b.parsed).credit
    return replace(verdict_of_margin(a.score - b.score), parsed=parsed, mass=mass)


def mean_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the mean of one or more readable verdicts.

    The margin is averaged only if every verdict has a margin, and the margin of a criterion only if
    every verdict has this criterion. If any verdict is graded, the mean has a parsed credit: the
    mean of the parsed credits. A verdict that is not graded counts there with its credit. The mean
    has no label and no mass.
    """
    count = len(verdicts)
    credits = [verdict.credit for verdict in verdicts if verdict.credit is not None]
    credit = sum(credits) / count
    margins = [verdict.margin for verdict in verdicts if verdict.margin is not None]
    margin = sum(margins) / count if len(margins) == count else None
    criteria = {}
    for name in verdicts[0].criteria:
        if all(name in verdict.criteria for verdict in verdicts):
            criteria[name] = sum(verdict.criteria[name] for verdict in verdicts) / count
    parsed = None
    if any(verdict.parsed is not None for verdict in verdicts):
        # The verdicts are parsed, so that each has an outcome.
        outcomes = [verdict.outcome for verdict in verdicts if verdict.outcome is not None]
        parsed = sum(outcomes) / count
    return Verdict(credit=credit, margin=margin, criteria=criteria, parsed=parsed)


def average_orders(
    about_a: Sequence[Verdict], *, one_sided: Literal["unparsed", "keep"] = "unparsed"
) -> Verdict:
    """Average the verdicts of one or two orders of the responses.

    Args:
        about_a: one verdict per order, always about the response of `a`.
        one_sided: what happens if only one of two orders is unparsed. With `unparsed`, the result
            is unparsed with the reason `ONE_ORDER_UNPARSED`. With `keep`, the result is the
            verdict of the other order.

    Returns:
        A single verdict as it is, or the mean of two readable verdicts. If both orders are
        unparsed, the result is unparsed; two different reasons are joined by ` / `.
    """
    if len(about_a) == 1:
        return about_a[0]
    readable = [verdict for verdict in about_a if verdict.credit is not None]
    if len(readable) == 2:
        return mean_verdict(readable)
    if not readable:
        reasons = {verdict.reason or "" for verdict in about_a}
        return Verdict(credit=None, reason=" / ".join(sorted(reasons)))
    return readable[0] if one_sided == "keep" else Verdict(credit=None, reason=ONE_ORDER_UNPARSED)


def merge_jury(
    verdicts: Sequence[Verdict], rule: Rule = "mean", *, quorum: int | None = None
) -> Verdict:
    """Merge the verdicts of several judges about the response of a.

    Args:
        verdicts: one verdict per judge.
        rule: `mean` averages the readable verdicts. `majority` counts wins, ties and losses of `a`
            (a graded verdict counts by its parsed credit) and writes the counts into the label,
            such as `2-0-1`. If wins and losses together reach the quorum, the credit is 1 with
            more wins, 0 with more losses and 0.5 with equally many. Otherwise, the credit is 0.5 if
            the ties reach the quorum.
        quorum: the least number of readable verdicts (`mean`), or of decisive verdicts or ties
            (`majority`). By default, it is the least number above half of all judges.

    Returns:
        The merged verdict. It is unparsed with the reason `NO_QUORUM` if too few verdicts reach the
        quorum. The unparsed verdict of a single judge is returned as it is.

    Raises:
        UsageError: the quorum is below 1 or above the number of judges.
    """
    if quorum is None:
        quorum = len(verdicts) // 2 + 1
    if not 1 <= quorum <= len(verdicts):
        raise UsageError(f"the quorum of a jury of {len(verdicts)} cannot be {quorum}")
    readable = [verdict for verdict in verdicts if verdict.credit is not None]
    if len(verdicts) == 1 and not readable:
        return verdicts[0]
    if rule == "mean":
        has_quorum = len(readable) >= quorum
        return mean_verdict(readable) if has_quorum else Verdict(credit=None, reason=NO_QUORUM)
    return _majority_verdict(readable, quorum)


def _majority_verdict(readable: Sequence[Verdict], quorum: int) -> Verdict:
    """Return the verdict of the majority of a jury (`merge_jury`), unparsed without a quorum.

    The credit is 1, 0.5 or 0 by the number of wins less that of losses, and 0.5 if only the ties
    reach the quorum. Graded verdicts count by their parsed credit. The label has the numbers of
    wins, ties and losses, such as `2-0-1`.

    Args:
        readable: the verdicts that have a credit.
        quorum: at least this number of verdicts must be decisive (a win or a loss), or at least
            this number must be ties.
    """
    credits = [verdict.outcome for verdict in readable if verdict.outcome is not None]
    wins = sum(credit > 0.5 for credit in credits)
    losses = sum(credit < 0.5 for credit in credits)
    ties = len(credits) - wins - losses
    is_decisive = wins + losses >= quorum
    if not is_decisive and ties < quorum:
        return Verdict(credit=None, reason=NO_QUORUM)
    if wins == losses or not is_decisive:
        credit = 0.5
    elif wins > losses:
        credit = 1.0
    else:
        credit = 0.0
    return Verdict(credit=credit, label=f"{wins}-{ties}-{losses}")
