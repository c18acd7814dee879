"""Length differences of responses, the column that length control adds to a model of verdicts."""

from dataclasses import dataclass

import numpy as np

from podium.errors import NotIdentifiedError
from podium.nouns.battles import Battles
from podium.rankers.coded import Cluster, CodedBattles, Labels, code_battles, hard_credits, require_choice

SIDES = ("length_a", "length_b")


@dataclass(frozen=True, slots=True)
class Lengths:
    """Readable battles with both lengths known, their difference a - b (characters) and table rows, shape (battles,).

    `left_out` readable battles lack a length.
    """

    coded: CodedBattles
    difference: np.ndarray
    rows: np.ndarray
    left_out: int


def read_lengths(battles: Battles, labels: Labels, cluster: Cluster) -> Lengths:
    """Code the battles that have both lengths; raise NotIdentifiedError if none has."""
    require_choice("labels", labels, ("soft", "hard"))
    table = battles.table
    credit = hard_credits(table) if labels == "hard" else table["credit"].to_numpy(dtype=float)
    if not set(SIDES) <= set(table.columns):
        raise NotIdentifiedError(_describe_lack("the battles have no lengths"))
    a, b = (battles.numbers_of(side) for side in SIDES)
    known = np.isfinite(a) & np.isfinite(b)
    readable = ~np.isnan(credit)
    if not (known & readable).any():
        raise NotIdentifiedError(_describe_lack("no readable battle has both lengths"))
    coded = code_battles(battles, cluster=cluster, credit=np.where(known, credit, np.nan))
    rows = np.flatnonzero(known & readable)
    return Lengths(coded, (a - b)[rows], rows, int((readable & ~known).sum()))


def saturate_lengths(difference: np.ndarray, sd: float) -> np.ndarray:
    """Return tanh(difference / sd): far longer counts little more than longer (Dubois et al. 2024, equation 2)."""
    return np.tanh(difference / sd)


def _describe_lack(problem: str) -> str:
    """Return the message that says which columns length control needs."""
    return (
        f"{problem}: length control needs them; give columns length_a and length_b (characters), or a format that "
        "holds the responses"
    )
