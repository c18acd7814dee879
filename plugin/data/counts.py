"""The denominators of every output."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from podium.scorers.reply import ONE_ORDER_UNPARSED


@dataclass(frozen=True, slots=True)
class Counts:
    """The denominators of every output; rows without an item are an item each, `missing` battles
    lack row or score."""

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
    """Format the denominators, with the four most frequent reasons of unparsed battles and their
    counts."""
    parts = [f"{reason}: {times:,}" for reason, times in list(reasons.items())[:4]]
    parts += [f"other: {more:,}"] if (more := sum(list(reasons.values())[4:])) else []
    why = f" ({', '.join(parts)})" if parts else ""
    kept = (
        f" ({ONE_ORDER_UNPARSED}: {n:,})"
        if (n := counts.one_sided - reasons.get(ONE_ORDER_UNPARSED, 0))
        else ""
    )
    missing = "" if counts.missing is None else f", {counts.missing:,} missing"
    return (
        f"{counts.items:,} items, {counts.judgments:,} judgments, {counts.battles:,} battles: "
        f"{counts.readable:,} judged{kept}, {counts.unparsed:,} unparsed{why}{missing}"
    )
