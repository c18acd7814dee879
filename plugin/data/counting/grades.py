"""How many single responses judges have graded, where each response has a grade of its own."""

from typing import TYPE_CHECKING, NamedTuple

from podium.data.counting.relations import GRADE_KEYS, IDENTICAL, NO_SCORE, NO_VALUE

if TYPE_CHECKING:
    import pandas as pd


class Grades(NamedTuple):
    """The grades of judges that are shown one response at a time.

    Attributes:
        number: number of grades. A response is graded once, however many battles it is in.
        battles: number of battles that are decided by two grades.
    """

    number: int
    battles: int


def lacks_score(reason: str) -> bool:
    """Return whether a reason says that a score is missing, not that a reply was unparsed."""
    return reason == NO_SCORE or reason.startswith(NO_VALUE)


def _is_scored(table: "pd.DataFrame") -> "pd.Series":
    """Return the mask of the battles with a score of at least one response."""
    return table[["score_a", "score_b"]].notna().any(axis=1)


def _has_order(table: "pd.DataFrame") -> "pd.Series":
    """Return the mask of the battles that have a score, and an order of their responses.

    A judge to whom the responses were shown in an order has seen both at once.
    """
    import pandas as pd

    is_scored = _is_scored(table)
    has_order = pd.Series(False, index=table.index)
    if "order" in table:
        has_order |= table["order"].isin(["ab", "ba"])
    if "swap" in table:
        has_order |= table["swap"].notna()
    return is_scored & has_order


def count_grades(table: "pd.DataFrame") -> Grades:
    """Count the grades behind the battles of a table.

    A judge gives grades if it has scores, and no battle with a score of it has an order: it was
    shown one response at a time. Battles of other judges do not count. A reply that could not be
    parsed is a grade, too, as the judge was asked for it. These battles do not count: those whose
    reason says that a score is missing (`lacks_score`), and ties of identical responses.
    `relations.graders_query` and `grades_query` count the same in a database.

    Args:
        table: battles with the columns `judge`, `score_a` and `score_b`.
    """
    import pandas as pd

    judges = table["judge"].astype(object)
    is_graded = judges.isin(judges[_is_scored(table)]) & ~judges.isin(judges[_has_order(table)])
    if "reason" in table:
        missing = [reason for reason in table["reason"].unique() if lacks_score(str(reason))]
        is_graded &= ~table["reason"].astype(object).isin(missing)
    if IDENTICAL in table:
        is_graded &= ~table[IDENTICAL].eq(True)
    graded = table.loc[is_graded]
    keys = [name for name in GRADE_KEYS if name in graded]
    sides = [
        graded[[*keys, side]].astype(object).rename(columns={side: "model"})
        for side in ("model_a", "model_b")
    ]
    both = pd.concat(sides)
    # A row without an item is about an item of its own.
    has_item = both["item"].notna() if "item" in both else pd.Series(False, index=both.index)
    number = len(both[has_item].drop_duplicates()) + int((~has_item).sum())
    return Grades(number=number, battles=len(graded))
