"""The table of checks on a page: every check with its result."""

from collections.abc import Mapping, Sequence

from podium.checks import CHECK_COLUMNS, Check, Result
from podium.data.battles import Battles
from podium.diagnosis.checks.all_checks import checks_of_ranking
from podium.diagnosis.checks.reply_checks import check_unparsed_count
from podium.diagnosis.checks.sample_checks import (
    check_connected,
    check_first_place_by_search,
    check_number_of_items,
)
from podium.rankers.ranking import Standings
from podium.tables import Table

LARGEST_SET = 20
"""The search for items without which another model leads leaves out at most this many."""
SEARCHED = "bradley-terry"
"""The ranker whose ratings the search fits."""
WITHOUT_BATTLES = ("others", Result.NOT_KNOWN.value, "the page was made without battles")
"""The row that stands for all checks that need the battles."""


def checks_table(
    standings: Standings, battles: Battles | None, families: Mapping[str, str]
) -> Table:
    """Build the table with one row per check: its name, its result, and what was found.

    Args:
        standings: the ranking that the page shows first.
        battles: all battles of the page; None if it has none. Then only the checks of connection,
            unparsed replies and number of items are made, and one row stands for the others.
        families: families of models that the user gave, by glob pattern of the models' names.
    """
    checks = [check for check in check_connected(standings) if check.is_flagged]
    if battles is None:
        checks += [
            check_unparsed_count(standings.counts),
            check_number_of_items(standings.counts.units, standings.counts.unit),
        ]
        rows = [*map(_check_row, checks), WITHOUT_BATTLES]
    else:
        of_ranking = checks_of_ranking(standings, battles, families)
        checks += [check for check in of_ranking if check.name != "first place"]
        checks += _search_first_place(standings, battles, of_ranking)
        rows = [*map(_check_row, checks)]
    return Table("", CHECK_COLUMNS, tuple(rows), "lll", words=True)


def _search_first_place(
    standings: Standings, battles: Battles, of_ranking: Sequence[Check]
) -> tuple[Check, ...]:
    """Check the first place of a Bradley-Terry ranking as it does, with a search of larger sets.

    Empty if the ranking has no such check, because no model is clearly ahead of all others, and for
    other rankers: the search fits Bradley-Terry ratings.
    """
    has_check = any(check.name == "first place" for check in of_ranking)
    if standings.ranker != SEARCHED or not has_check:
        return ()
    return (check_first_place_by_search(battles, LARGEST_SET),)


def _check_row(check: Check) -> tuple[str, str, str]:
    """Return name, result and finding of a check. If it is ok and a test, its p-value is added."""
    name, result, text = check.row
    if check.p is not None and check.result is Result.OK:
        text = f"{text} (p = {check.p:.2f}, adjusted over all tests)"
    return name, result, text
