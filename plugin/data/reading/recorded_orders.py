"""Merge the two orders of battles as their logs record it."""

from dataclasses import replace

from podium.data.query import BattleQuery
from podium.data.reading.source_tables import SourceTables
from podium.notices.notice import Notice


def settle_orders(query: BattleQuery, read: SourceTables) -> tuple[BattleQuery, SourceTables]:
    """Return a query that says what battles with one readable order are, and the tables.

    Without the option, it is what the logs record. If some record `keep` and others do not, it is
    `unparsed`, and a warning says so. Tables that record nothing count as `unparsed`.
    """
    if query.one_sided is not None or not query.merge:
        return query, read
    kept = [each.source for each in read.tables if each.one_sided == "keep"]
    if not kept:
        return query, read
    if len(kept) == len(read.tables):
        return replace(query, one_sided="keep"), read
    note = Notice("one-sided-differs", {"files": kept})
    return query, replace(read, notes=(*read.notes, note))
