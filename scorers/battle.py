"""A battle: its calls, in which orders and how often, and what their verdicts say together, one battle at a time.

Orders are merged first, then repeats, then judges; `podium.counting` has the same rule of orders for whole tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from podium.errors import UsageError
from podium.scorers.reply import ONE_ORDER_UNPARSED, Rating, Verdict, verdict_of_margin

Orders = Literal["both", "random", "as-given"]
ORDERS = ("both", "random", "as-given")
Rule = Literal["mean", "majority"]
RULES = ("mean", "majority")
NO_QUORUM = "no quorum"


@dataclass(frozen=True, slots=True)
class Judgment:
    """One call of a judge: two models on one item, in the order in which their responses are shown.

    Attributes:
        item: which instruction.
        first: whose response is shown first.
        second: whose response is shown second.
        order: `ab` where the model that was given first is shown first, else `ba`.
        repeat: which repetition, from 0.
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
    """Return the calls that make the battle of two models on an item.

    `a`: a model; order `ab` shows it first; `b`: its opponent; `orders`: `both` shows either first, once per repeat;
    `random` draws one order per repeat; `as-given` shows a first; `repeats`: how often, per order; `seed`: of the draw,
    which is a hash of seed, item, pair and repeat: the same whichever model is named first, and whatever else is
    played; `first`: who is shown first in every repeat, whatever the orders: a tournament that balances orders says so.
    """
    shown: list[Judgment] = []
    for repeat in range(repeats):
        as_given = Judgment(item, a, b, "ab", repeat)
        swapped = Judgment(item, b, a, "ba", repeat)
        if orders == "both" and first is None:
            shown += [as_given, swapped]
        else:
            leads = first or (a if orders == "as-given" else _draw_first(seed, item, a, b, repeat))
            shown.append(as_given if leads == a else swapped)
    return tuple(shown)


def _draw_first(seed: int, item: str, a: str, b: str, repeat: int) -> str:
    low, high = sorted((a, b))
    named = "\0".join(f"{len(part)}:{part}" for part in (str(seed), item, low, high, str(repeat)))
    return (low, high)[sha256(named.encode("utf-8", "surrogatepass")).digest()[0] % 2]


def swap_sides(verdict: Verdict) -> Verdict:
    """Return what a verdict says of the response shown second; the judge's words stay as they were."""
    if verdict.credit is None:
        return verdict
    return Verdict(
        1 - verdict.credit,
        None if verdict.margin is None else 0.0 - verdict.margin,
        {name: 0.0 - margin for name, margin in verdict.criteria.items()},
        verdict.label,
        place=verdict.place,
    )


def compare_ratings(a: Rating, b: Rating) -> Verdict:
    """Return what the ratings of two responses say of the first: the margin is the difference, the credit its sign."""
    if a.score is None or b.score is None:
        return Verdict(None, reason=" / ".join(sorted({rating.reason for rating in (a, b) if rating.reason})))
    return verdict_of_margin(a.score - b.score)


def mean_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """Average verdicts that could be read, at least one; a margin or criterion that one of them lacks is left out."""
    count = len(verdicts)
    margins = [verdict.margin for verdict in verdicts if verdict.margin is not None]
    shared = [name for name in verdicts[0].criteria if all(name in verdict.criteria for verdict in verdicts)]
    return Verdict(
        sum(verdict.credit or 0.0 for verdict in verdicts) / count,
        sum(margins) / count if len(margins) == count else None,
        {name: sum(verdict.criteria[name] for verdict in verdicts) / count for name in shared},
    )


def merge_orders(about_a: Sequence[Verdict], *, one_sided: Literal["unparsed", "keep"] = "unparsed") -> Verdict:
    """Return what both orders of a pair together say of a.

    Credit and margins are averaged. Where one of two orders is unparsed, so is the battle (`one order unparsed`),
    unless `one_sided` keeps the other; where only one order was asked, its verdict is the battle's.

    `about_a`: a verdict for each order that was asked, one or two; `one_sided`: what to do with the readable one of
    two.
    """
    if len(about_a) == 1:
        return about_a[0]
    read = [verdict for verdict in about_a if verdict.credit is not None]
    if len(read) == 2:
        return mean_verdict(read)
    if not read:
        return Verdict(None, reason=" / ".join(sorted({verdict.reason or "" for verdict in about_a})))
    return read[0] if one_sided == "keep" else Verdict(None, reason=ONE_ORDER_UNPARSED)


def merge_repeats(verdicts: Sequence[Verdict]) -> Verdict:
    """Average the repeats of one judge that could be read; unparsed, as the first is, where none could."""
    read = [verdict for verdict in verdicts if verdict.credit is not None]
    if len(read) < 2:
        return (read or verdicts)[0]
    return mean_verdict(read)


def merge_jury(verdicts: Sequence[Verdict], rule: Rule = "mean", *, quorum: int | None = None) -> Verdict:
    """Return what a jury says of a, given what each judge says of it (both orders merged).

    A judge that could not be read has not voted. It is no tie, and the quorum says how many must have spoken.

    `verdicts`: one per judge; `rule`: `mean` averages the credits and margins of the judges that could be read.
    `majority` counts wins and losses; a credit of one half is a vote for a tie; `quorum`: judges that must have been
    read (`mean`), or that must have voted the same kind of way (`majority`: decisively, or for a tie); more than half
    of the jury when not given.

    Returns: For `majority` credit 1 or 0 where a quorum is decisive and one side has more votes; one half where a
    quorum is decisive and evenly split, or where a quorum votes for a tie; its label counts wins, ties and losses.
    Unparsed (`no quorum`) in all other cases.
    """
    needed = len(verdicts) // 2 + 1 if quorum is None else quorum
    if not 1 <= needed <= len(verdicts):
        raise UsageError(f"the quorum of a jury of {len(verdicts)} cannot be {needed}")
    read = [verdict for verdict in verdicts if verdict.credit is not None]
    if rule == "mean":
        return mean_verdict(read) if len(read) >= needed else Verdict(None, reason=NO_QUORUM)
    credits = [verdict.credit for verdict in read if verdict.credit is not None]
    wins, losses = sum(credit > 0.5 for credit in credits), sum(credit < 0.5 for credit in credits)
    ties = len(credits) - wins - losses
    if wins + losses < needed and ties < needed:
        return Verdict(None, reason=NO_QUORUM)
    credit = 0.5 if wins + losses < needed else (wins > losses) + (wins == losses) / 2
    return Verdict(credit, label=f"{wins}-{ties}-{losses}")
