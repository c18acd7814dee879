"""The judge calls (judgments) of one battle, and the merging of their verdicts: orders first, then
repeats, then judges; `podium.data.counting` has the same rule of orders for whole tables."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    """One call of a judge on one item, the response of `first` shown first; `order` is `ab` if the
    model that was named first is shown first, else `ba`; `repeat` counts from 0."""

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
    """Return the judge calls of a battle: `both` orders, once per repeat, `random` (one, by a hash
    of `seed`, item, pair and repeat), or `as-given` (a first); `first` is shown first, whatever the
    orders."""
    shown: list[Judgment] = []
    for repeat in range(repeats):
        as_given, swapped = Judgment(item, a, b, "ab", repeat), Judgment(item, b, a, "ba", repeat)
        if orders == "both" and first is None:
            shown += [as_given, swapped]
            continue
        leads, pair = first or a, sorted((a, b))
        if orders != "as-given" and first is None:
            named = "\0".join(
                f"{len(part)}:{part}" for part in (str(seed), item, *pair, str(repeat))
            )
            leads = pair[sha256(named.encode("utf-8", "surrogatepass")).digest()[0] % 2]
        shown.append(as_given if leads == a else swapped)
    return tuple(shown)


def swap_sides(verdict: Verdict) -> Verdict:
    """Convert a verdict about the first response to one about the second; the label stays as it
    was."""
    if verdict.credit is None:
        return verdict
    criteria = {name: 0.0 - margin for name, margin in verdict.criteria.items()}
    margin = None if verdict.margin is None else 0.0 - verdict.margin
    parsed = None if verdict.parsed is None else 1 - verdict.parsed
    return replace(
        verdict, credit=1 - verdict.credit, margin=margin, criteria=criteria, parsed=parsed
    )


def compare_ratings(a: Rating, b: Rating) -> Verdict:
    """Return the verdict of two ratings: the margin is their difference, the credit its sign, the
    mass the smaller."""
    mass = min((rating.mass for rating in (a, b) if rating.mass is not None), default=None)
    if a.score is None or b.score is None:
        reasons = " / ".join(sorted({rating.reason for rating in (a, b) if rating.reason}))
        return Verdict(None, reason=reasons, mass=mass)
    parsed = (
        None
        if a.parsed is None or b.parsed is None
        else verdict_of_margin(a.parsed - b.parsed).credit
    )
    return replace(verdict_of_margin(a.score - b.score), parsed=parsed, mass=mass)


def mean_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """Average readable verdicts, at least one; a margin or criterion that one of them lacks is left
    out."""
    count = len(verdicts)
    margins = [verdict.margin for verdict in verdicts if verdict.margin is not None]
    is_graded = any(verdict.parsed is not None for verdict in verdicts)
    shared = [
        name
        for name in verdicts[0].criteria
        if all(name in verdict.criteria for verdict in verdicts)
    ]
    return Verdict(
        sum(verdict.credit or 0.0 for verdict in verdicts) / count,
        sum(margins) / count if len(margins) == count else None,
        {name: sum(verdict.criteria[name] for verdict in verdicts) / count for name in shared},
        parsed=sum(verdict.outcome or 0.0 for verdict in verdicts) / count if is_graded else None,
    )


def average_orders(
    about_a: Sequence[Verdict], *, one_sided: Literal["unparsed", "keep"] = "unparsed"
) -> Verdict:
    """Average the verdicts about a of the orders asked; unparsed if one is, unless `one_sided`
    keeps the other."""
    if len(about_a) == 1:
        return about_a[0]
    read = [verdict for verdict in about_a if verdict.credit is not None]
    if len(read) == 2:
        return mean_verdict(read)
    if not read:
        return Verdict(
            None, reason=" / ".join(sorted({verdict.reason or "" for verdict in about_a}))
        )
    return read[0] if one_sided == "keep" else Verdict(None, reason=ONE_ORDER_UNPARSED)


def merge_jury(
    verdicts: Sequence[Verdict], rule: Rule = "mean", *, quorum: int | None = None
) -> Verdict:
    """Merge the verdicts of several judges about a; unparsed if fewer than a quorum (more than
    half) were read.

    For `majority` the quorum must vote decisively or for a tie; 0.5 if votes are evenly split or a
    quorum votes tie; the label counts wins, ties and losses. UsageError for an impossible quorum.
    """
    needed = len(verdicts) // 2 + 1 if quorum is None else quorum
    if not 1 <= needed <= len(verdicts):
        raise UsageError(f"the quorum of a jury of {len(verdicts)} cannot be {needed}")
    read = [verdict for verdict in verdicts if verdict.credit is not None]
    if rule == "mean":
        return mean_verdict(read) if len(read) >= needed else Verdict(None, reason=NO_QUORUM)
    credits = [verdict.outcome for verdict in read if verdict.outcome is not None]
    wins, losses = sum(credit > 0.5 for credit in credits), sum(credit < 0.5 for credit in credits)
    ties = len(credits) - wins - losses
    if wins + losses < needed and ties < needed:
        return Verdict(None, reason=NO_QUORUM)
    credit = 0.5 if wins + losses < needed else (wins > losses) + (wins == losses) / 2
    return Verdict(credit, label=f"{wins}-{ties}-{losses}")
