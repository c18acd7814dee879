"""Length differences of responses, and the length term of AlpacaEval."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from podium.data.battles import Battles
from podium.errors import NotIdentifiedError, UsageError
from podium.rankers.errors.intervals import Interval
from podium.rankers.fit.coded import (
    Cluster,
    CodedBattles,
    Labels,
    code_battles,
    hard_credits,
    require_choice,
)

LengthOf = Literal["answer", "transcript"]
LENGTH_COLUMNS = {
    "answer": ("length_a", "length_b"),
    "transcript": ("transcript_length_a", "transcript_length_b"),
}
GIVE_LENGTHS = (
    "length control needs them; give columns length_a and length_b (characters), or a format that "
    "holds the responses"
)
NO_TRANSCRIPTS = "length_of=transcript needs a log whose judge was shown transcripts; leave it out"


@dataclass(frozen=True, slots=True)
class Lengths:
    """Readable battles of which the lengths of both responses are known.

    Attributes:
        coded: the battles.
        difference: length of a's response minus the length of b's, in characters, shape
            (battles,).
        rows: positions of the battles in the table, shape (battles,).
        left_out: number of readable battles that lack a length.
        description: what the lengths are, in words.
    """

    coded: CodedBattles
    difference: np.ndarray
    rows: np.ndarray
    left_out: int
    description: str = "lengths"


def read_lengths(
    battles: Battles,
    labels: Labels,
    cluster: Cluster,
    interval: Interval,
    length_of: LengthOf = "answer",
) -> Lengths:
    """Code the readable battles that have the lengths of both responses.

    Args:
        battles: all battles.
        labels: `soft` or `hard`, as of `code_battles`.
        cluster: what is independent, as of `code_battles`.
        interval: the option of the ranker, which must not be `bootstrap`.
        length_of: whether lengths are those of the `answer` or of the whole `transcript`.

    Raises:
        NotIdentifiedError: there are no columns of these lengths, or no readable battle has both
            lengths.
        UsageError: `interval` is `bootstrap`, or an unknown option value.
    """
    if interval == "bootstrap":
        raise UsageError(
            "length_control=true cannot be combined with interval=bootstrap: leave one of them out"
        )
    require_choice("labels", labels, ("soft", "hard"))
    require_choice("length_of", length_of, tuple(LENGTH_COLUMNS))
    columns = LENGTH_COLUMNS[length_of]
    table = battles.table
    has_transcripts = {*LENGTH_COLUMNS["transcript"]} <= {*table.columns}
    credit = hard_credits(battles) if labels == "hard" else battles.numbers_of("credit")
    if not set(columns) <= set(table.columns):
        remedy = GIVE_LENGTHS if length_of == "answer" else NO_TRANSCRIPTS
        raise NotIdentifiedError(f"the battles have no lengths: {remedy}")
    a, b = (battles.numbers_of(column) for column in columns)
    is_known = np.isfinite(a) & np.isfinite(b)
    is_readable = ~np.isnan(credit)
    if not (is_known & is_readable).any():
        raise NotIdentifiedError(f"no readable battle has both lengths: {GIVE_LENGTHS}")
    coded = code_battles(battles, cluster=cluster, credit=np.where(is_known, credit, np.nan))
    rows = np.flatnonzero(is_known & is_readable)
    description = f"lengths of the {length_of}s" if has_transcripts else "lengths"
    return Lengths(coded, (a - b)[rows], rows, int((is_readable & ~is_known).sum()), description)


def saturate_lengths(difference: np.ndarray, sd: float) -> np.ndarray:
    """Return tanh(difference / sd) (Dubois et al. 2024, equation 2).

    The result stays within -1 and 1: beyond about two sd, more length adds next to nothing.
    """
    return np.tanh(difference / sd)


GAMED_WEIGHT = 0.1
"""Weight in the fit of each verdict on a gamed baseline, that is on a verbose or concise variant
of AlpacaEval's baseline. AlpacaEval divides 0.2 by the two variants."""
