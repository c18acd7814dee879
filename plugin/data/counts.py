"""The numbers of items, judgments and battles that every output states, as its denominators."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from podium.scorers.reply import ONE_ORDER_UNPARSED
from podium.wording import plural

NAMED_REASONS = 4
"""Largest number of reasons for unparsed battles that a sentence names; others are added up."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of items, judgments and battles that every output states.

    Attributes:
        items: number of distinct items; a row without an item is an item of its own.
        judgments: number of judge calls; a battle merged from two orders counts as two. A judge
            that grades single responses is asked once about each.
        battles: number of compared pairs of responses. Those that lack a score are left out.
        unparsed: number of battles without a credit because no reply could be parsed.
        one_sided: number of merged battles of which only one order was parsed.
        missing: number of battles that should exist but have no row, or whose row lacks a score;
            None if unknown.
        without_margin: number of battles with a credit but no margin; None if not counted.
        identical: number of battles of identical responses, which are ties without a judgment.
        groups: number of groups of items; None if items have no groups.
        group: what a group is, such as `passage`; None if items have no groups.
        grades: number of the judgments that grade a single response.
        by_scores: whether scores that no judge gave decide all battles. What a judgment is then
            does not apply, and texts do not mention it.
    """

    items: int
    judgments: int
    battles: int
    unparsed: int
    one_sided: int
    missing: int | None
    without_margin: int | None = None
    identical: int = 0
    groups: int | None = None
    group: str | None = None
    grades: int = 0
    by_scores: bool = False

    @property
    def judgments_text(self) -> str:
        """The number of judgments as text, such as `1,200 judgments`.

        If some judgments are grades of single responses, their number follows in brackets; if all
        are, the text is `1,200 grades`.
        """
        if self.grades and self.grades == self.judgments:
            return f"{self.grades:,} {plural('grade', self.grades)}"
        text = f"{self.judgments:,} {plural('judgment', self.judgments)}"
        if self.grades:
            text += f" ({self.grades:,} {plural('grade', self.grades)})"
        return text

    @property
    def readable(self) -> int:
        """Number of battles with a credit: a readable verdict, or identical responses."""
        return self.battles - self.unparsed

    @property
    def with_verdict(self) -> int:
        """Number of battles with a readable verdict of a judge."""
        return self.readable - self.identical

    @property
    def units(self) -> int:
        """Number of what varies independently: groups of items if there are any, else items."""
        return self.items if self.groups is None else self.groups

    @property
    def unit(self) -> str:
        """What varies independently: a group of items, such as `passage`, else `item`."""
        return self.group or "item"

    @property
    def size(self) -> str:
        """The number of items as text, after that of their groups if they have any.

        >>> Counts(100, 300, 300, 0, 0, None, groups=20, group="passage").size
        '20 passages, 100 items'
        """
        items = f"{self.items:,} {plural('item', self.items)}"
        if self.groups is None:
            return items
        return f"{self.groups:,} {plural(self.unit, self.groups)}, {items}"

    def to_dict(self) -> dict[str, int | str | None]:
        """Return the numbers for JSON.

        `judged`, the number `with_verdict`, is added. Left out are `identical` and `grades` if they
        are 0, `groups` and `group` if items have no groups, and `by_scores`: the ranking's metrics
        say what decides the battles.
        """
        numbers: dict[str, int | str | None] = asdict(self)
        del numbers["by_scores"]
        if not self.identical:
            numbers.pop("identical")
        if not self.grades:
            numbers.pop("grades")
        if self.groups is None:
            del numbers["groups"], numbers["group"]
        return numbers | {"judged": self.with_verdict}


def counts_text(counts: Counts, reasons: Mapping[str, int]) -> str:
    """Format the numbers as one line without a full stop.

    An example is `100 items, 200 judgments, 100 battles: 98 judged, 2 unparsed (empty reply: 2)`.
    If scores decide all battles (`by_scores`), the line does not mention judgments.

    Args:
        counts: the numbers.
        reasons: number of unparsed battles by reason, the most frequent first. Only the first four
            reasons are named; the battles with other reasons are added up.
    """
    named_reasons = list(reasons.items())[:NAMED_REASONS]
    parts = [f"{reason}: {times:,}" for reason, times in named_reasons]
    number_of_others = sum(reasons.values()) - sum(times for _, times in named_reasons)
    if number_of_others:
        parts.append(f"other: {number_of_others:,}")
    why = f" ({', '.join(parts)})" if parts else ""
    # Battles with one unparsed order that are judged by the other order.
    judged_by_one = counts.one_sided - reasons.get(ONE_ORDER_UNPARSED, 0)
    text_of_one_order = f" ({ONE_ORDER_UNPARSED}: {judged_by_one:,})" if judged_by_one else ""
    missing = "" if counts.missing is None else f", {counts.missing:,} missing"
    battles = f"{counts.battles:,} {plural('battle', counts.battles)}"
    if counts.by_scores:
        unparsed = f", {counts.unparsed:,} unparsed{why}" if counts.unparsed else ""
        return f"{counts.size}, {battles} decided by scores{unparsed}{missing}"
    ties = plural("tie", counts.identical)
    identical = f", {counts.identical:,} {ties} of identical responses" if counts.identical else ""
    judged_text = f"{counts.with_verdict:,} judged{text_of_one_order}{identical}"
    return (
        f"{counts.size}, {counts.judgments_text}, {battles}: "
        f"{judged_text}, {counts.unparsed:,} unparsed{why}{missing}"
    )
