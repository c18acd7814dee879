"""Presentations become a battle: the rules of `podium.merging`, for one pair at a time."""

from collections.abc import Mapping
from typing import Literal

from podium.scorers.verdict import Rating, Verdict, unread

ONE_ORDER_UNREAD = "one order unread"


def turned(verdict: Verdict) -> Verdict:
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


def battle(ab: Verdict | None, ba: Verdict | None, *, one_sided: Literal["unread", "keep"] = "unread") -> Verdict:
    """Return what both orders of a pair together say of a.

    Credit and margins are averaged. Where one of two orders is unread, so is the battle (`one order unread`), unless
    `one_sided` keeps the other; where only one order was asked, its verdict is the battle's.

    Args:
        ab: of the presentation that showed a first, about a; None = it was never asked.
        ba: of the presentation that showed b first, about b; None = it was never asked.
        one_sided: what to do with the readable one of two.

    Raises:
        ValueError: neither order was asked.
    """
    if ba is None:
        if ab is None:
            raise ValueError("a battle needs a verdict in at least one order")
        return ab
    other = turned(ba)
    if ab is None:
        return other
    if ab.credit is None or other.credit is None:
        return _incomplete(ab, other, one_sided)
    margin = None if ab.margin is None or other.margin is None else (ab.margin + other.margin) / 2
    both = [name for name in ab.criteria if name in other.criteria]
    criteria = {name: (ab.criteria[name] + other.criteria[name]) / 2 for name in both}
    return Verdict((ab.credit + other.credit) / 2, margin, criteria)


def swap(ab: Verdict, ba: Verdict) -> str:
    """Return what a change of order did: `same`, `half` (one tie), `flip`, `one-sided` or `unread`."""
    if ab.credit is None or ba.credit is None:
        return "unread" if ab.credit is None and ba.credit is None else "one-sided"
    x, y = _winner(ab.credit), _winner(1 - ba.credit)
    return "same" if x == y else "flip" if x == -y else "half"


def versus(a: Rating, b: Rating) -> Verdict:
    """Return what the ratings of two responses say of the first: the margin is the difference, the credit its sign."""
    if a.score is None or b.score is None:
        return unread(" / ".join(sorted({one.reason for one in (a, b) if one.reason})))
    margin = a.score - b.score
    return Verdict((margin > 0) + (margin == 0) / 2, margin)


def _winner(credit: float) -> int:
    return (credit > 0.5) - (credit < 0.5)


def _incomplete(ab: Verdict, other: Verdict, one_sided: str) -> Verdict:
    if ab.credit is None and other.credit is None:
        reasons: Mapping[str, None] = dict.fromkeys(sorted((ab.reason or "", other.reason or "")))
        return unread(" / ".join(reasons))
    if one_sided != "keep":
        return unread(ONE_ORDER_UNREAD)
    return other if ab.credit is None else ab
