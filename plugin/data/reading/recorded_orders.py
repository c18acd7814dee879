"""Merge the two orders of battles as their logs record it."""

from dataclasses import replace

from podium.data.query import BattleQuery
from podium.data.reading.source_tables import SourceTables
from podium.notices.notice import Notice


def settle_orders(query: BattleQuery, read: SourceTables) -> tuple[BattleQuery, SourceTables]:
    """Return a query that says what battles with one readable order are, and the tables.

    Without the option `one_sided`, these battles are what the logs record: `keep` if all tables
    record it. If only some tables record it, such battles stay unparsed, and the tables get a
    warning. If the query has the option, or does not merge orders, both are returned unchanged.
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
