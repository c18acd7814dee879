"""The denominators of every output."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from podium.scorers.reply import ONE_ORDER_UNPARSED

NAMED_REASONS = 4
"""Number of reasons why battles are unparsed that a sentence names."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The denominators of every output.

    Attributes:
        items: distinct items; a row without an item is an item of its own.
        judgments: judge calls; a battle merged from two orders counts as two.
        battles: compared pairs of responses, without those that lack a score.
        unparsed: battles without a credit, because no reply could be parsed.
        one_sided: merged battles of which only one order was parsed.
        missing: battles that should exist and have no row, or whose row lacks a score; None if
            unknown.
        without_margin: battles with a credit and without a margin; None if it was not counted.
    """

    items: int
    judgments: int
    battles: int
    unparsed: int
    one_sided: int
    missing: int | None
    without_margin: int | None = None

    @property
    def readable(self) -> int:
        """Battles with a readable verdict."""
        return self.battles - self.unparsed

    def to_dict(self) -> dict[str, int | None]:
        """Return the denominators for JSON."""
        return asdict(self) | {"judged": self.readable}


def counts_text(counts: Counts, reasons: Mapping[str, int]) -> str:
    """Format the denominators as one sentence.

    Args:
        counts: the denominators.
        reasons: number of unparsed battles by reason, the most frequent first; the first four are
            named, and the others are added up.
    """
    named = list(reasons.items())[:NAMED_REASONS]
    parts = [f"{reason}: {times:,}" for reason, times in named]
    others = sum(reasons.values()) - sum(times for _, times in named)
    if others:
        parts.append(f"other: {others:,}")
    why = f" ({', '.join(parts)})" if parts else ""
    # Battles with one unparsed order that are judged all the same, by the other order.
    judged_by_one = counts.one_sided - reasons.get(ONE_ORDER_UNPARSED, 0)
    kept = f" ({ONE_ORDER_UNPARSED}: {judged_by_one:,})" if judged_by_one else ""
    missing = "" if counts.missing is None else f", {counts.missing:,} missing"
    return (
        f"{counts.items:,} items, {counts.judgments:,} judgments, {counts.battles:,} battles: "
        f"{counts.readable:,} judged{kept}, {counts.unparsed:,} unparsed{why}{missing}"
    )
