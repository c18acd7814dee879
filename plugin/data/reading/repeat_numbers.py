"""Pair repeats of a judgment over the two orders where their numbers never meet."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from podium.data.formats.records import Column
from podium.data.reading.rows import RecordTable
from podium.notices.notice import Notice

FEWEST_ROWS = 5
"""Least number of rows in an order for repeats to be numbered anew. In fewer rows, the orders may
have no number in common by chance."""
FIRST_ROWS = 1000
"""Number of rows that are looked at first: most tables are known by them."""
MOST_REPEATS = 1000
"""Tables with more different numbers of repeats are left as they are."""


def pair_repeats(tables: Sequence[RecordTable]) -> tuple[list[RecordTable], list[Notice]]:
    """Number the repeats of each order anew if the orders have no number in common.

    Two judgments of a pair in both orders are merged if they have one number. A judge that asked
    twice in each order may have counted on: 1 and 2 in one order, 3 and 4 in the other. The first
    of one order then belongs to the first of the other. Both orders must have as many rows, except
    for malformed rows that were left out, and as many numbers. Nothing is numbered anew unless all
    tables have orders and repeats (`_has_repeats_in_orders`), and each order has at least
    `FEWEST_ROWS` rows and at most `MOST_REPEATS` numbers.

    Returns:
        The tables, and a list of one note if repeats were numbered anew, else an empty list.
    """
    played = [each for each in tables if _has_repeats_in_orders(each)]
    have_all_repeats = bool(played) and len(played) == len(tables)
    if not have_all_repeats:
        return list(tables), []
    # The first rows are read alone, since they usually show that the orders share numbers.
    if any(_share_numbers(table, FIRST_ROWS) for table in played):
        return list(tables), []
    forward_rows = Counter[float]()
    backward_rows = Counter[float]()
    for each in played:
        for is_forward, number, count in _numbers_of_orders(each, each.records.scan):
            rows = forward_rows if is_forward else backward_rows
            rows[number] += count
    # The numbers of both orders, ascending; those of the order with the least number come first.
    first, second = sorted([sorted(forward_rows), sorted(backward_rows)])
    left_out = sum(len(each.bad_rows) for each in played)
    excess = abs(forward_rows.total() - backward_rows.total())
    is_balanced = excess <= left_out and len(first) == len(second)
    is_disjoint = is_balanced and not {*first} & {*second}
    if not is_disjoint or forward_rows.total() < FEWEST_ROWS or len(first) > MOST_REPEATS:
        return list(tables), []
    new_numbers: dict[float, int] = {}
    for numbers_of_order in (first, second):
        for k, number in enumerate(numbers_of_order, start=1):
            new_numbers[number] = k
    numbered = [_with_numbers(each, new_numbers) for each in tables]
    fields = {"first": [f"{n:g}" for n in first], "second": [f"{n:g}" for n in second]}
    return numbered, [Notice("repeats-numbered", fields)]


def _has_repeats_in_orders(each: RecordTable) -> bool:
    """Return whether a table of battles has columns of repeats and orders, and is of no host.

    Hosts number the repeats of both orders alike.
    """
    return not each.is_of_host and {"model_a", "model_b", "order", "repeat"} <= {
        *each.records.columns
    }


def _share_numbers(each: RecordTable, rows: int) -> bool:
    """Return whether both orders have a number in common in the first rows of a table.

    Args:
        each: the table.
        rows: number of rows that are looked at.
    """
    seen = _numbers_of_orders(each, f"(select * from {each.records.scan} limit {rows})")
    # A number of one order is seen once, and a number of both orders twice.
    return len({number for _, number, _ in seen}) < len(seen)


def _numbers_of_orders(each: RecordTable, scan: str) -> list[tuple[bool, float, int]]:
    """Return order, number of the repeat, and number of rows, of the rows of a scan.

    The order is True if the model with the lesser name was shown first (`_forward_condition`). Rows
    without a number count as those of number 0, and rows without a known order are left out. With
    far too many different numbers (`MOST_REPEATS`), not all are returned.
    """
    number = f"coalesce({each.records.columns['repeat'].number}, 0)"
    forward = _forward_condition(each)
    rest = f"where {forward} is not null group by 1, 2 limit {2 * MOST_REPEATS + 2}"
    rows = replace(each.records, scan=scan).rows(f"{forward}, {number}, count(*)", rest)
    return [(bool(order), float(number), count) for order, number, count in rows]


def _forward_condition(each: RecordTable) -> str:
    """Return SQL that is true if the model with the lesser name was shown first, else false.

    It is null if the order is unknown, or if the two orders were merged.
    """
    columns = each.records.columns
    order = columns["order"].text
    forward = f"{columns['model_a'].text} < {columns['model_b'].text}"
    return f"case when {order} in ('ab', 'ba') then ({order} = 'ab') = ({forward}) end"


def _with_numbers(each: RecordTable, new: Mapping[float, int]) -> RecordTable:
    """Return a table with other numbers of repeats.

    Args:
        each: the table.
        new: the new number by the number in the table.
    """
    columns = dict(each.records.columns)
    repeat = columns["repeat"].number
    cases = " ".join(f"when {number!r} then {new_number}" for number, new_number in new.items())
    columns["repeat"] = Column(f"cast(case {repeat} {cases} else {repeat} end as double)", "DOUBLE")
    return replace(each, records=replace(each.records, columns=columns))
