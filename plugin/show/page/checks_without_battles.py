"""The table of checks on a page that was made without battles, from a ranking in JSON."""

from podium.check_results import CHECK_COLUMNS, Result
from podium.diagnosis.checks.reply_checks import check_unparsed_count
from podium.diagnosis.checks.sample_checks import check_connected, check_number_of_items
from podium.rankers.ranking import Standings
from podium.tables import Table

ROW_WITHOUT_BATTLES = ("others", Result.NOT_KNOWN.value, "the page was made without battles")
"""The row that stands for all checks that need the battles."""


def checks_table(standings: Standings) -> Table:
    """Build the table with name, result and finding of each check that needs no battles.

    These are the checks of connection, unparsed replies and number of items. The last row stands
    for all other checks.

    Args:
        standings: the ranking that the page shows first.

    Returns:
        A table with the columns `CHECK_COLUMNS`.
    """
    checks = [
        *check_connected(standings),
        check_unparsed_count(standings.counts),
        check_number_of_items(standings.counts.units, standings.counts.unit),
    ]
    rows = (*(check.row for check in checks), ROW_WITHOUT_BATTLES)
    return Table(title="", header=CHECK_COLUMNS, rows=rows, align="lll", words=True)
