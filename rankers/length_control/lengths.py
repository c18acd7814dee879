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
"""Which length is controlled for: of the response, or of the whole transcript of an agent."""
LENGTH_COLUMNS = {
    "answer": ("length_a", "length_b"),
    "transcript": ("transcript_length_a", "transcript_length_b"),
}
"""The columns with the lengths of a and of b, by the value of the option `length_of`."""
GAMED_WEIGHT = 0.1
"""Weight in the fit of each verdict on a gamed baseline, that is on a verbose or concise variant
of AlpacaEval's baseline. AlpacaEval divides 0.2 by the two variants."""
GIVE_LENGTHS = (
    "length control needs lengths of responses; give columns length_a and length_b (characters), "
    "or a format that holds the responses"
)
"""What to do if the battles have no lengths of responses."""
NO_TRANSCRIPTS = "length_of=transcript needs a log whose judge was shown transcripts; leave it out"
"""What to do if the battles have no lengths of transcripts."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Readable battles of which the lengths of both responses are known.

    Attributes:
        coded: the battles.
        difference: length of a's response minus the length of b's, in characters, shape
            (battles,).
        rows: positions of the battles in the table, shape (battles,).
        left_out: number of readable battles that lack a length.
        description: what the lengths are: `lengths of the answers`, `lengths of the transcripts`,
            or `lengths`.
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

    The description of the lengths says of what they are, `lengths of the answers` or `lengths of
    the transcripts`, if the battles have lengths of transcripts, else it is `lengths`.

    Args:
        battles: all battles.
        labels: `soft` keeps credits as they are; `hard` rounds them to win, tie or loss, and makes
            a flip a tie.
        cluster: what is independent: `item` (or its group, if items have groups), or `row`.
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
    column_of_a, column_of_b = LENGTH_COLUMNS[length_of]
    names = set(battles.table.columns)
    has_transcripts = names.issuperset(LENGTH_COLUMNS["transcript"])
    credit = hard_credits(battles) if labels == "hard" else battles.numbers_of("credit")
    if not names.issuperset(LENGTH_COLUMNS[length_of]):
        remedy = GIVE_LENGTHS if length_of == "answer" else NO_TRANSCRIPTS
        raise NotIdentifiedError(f"the battles have no lengths: {remedy}")
    a = battles.numbers_of(column_of_a)
    b = battles.numbers_of(column_of_b)
    is_known = np.isfinite(a) & np.isfinite(b)
    is_readable = ~np.isnan(credit)
    if not (is_known & is_readable).any():
        raise NotIdentifiedError(f"no readable battle has both lengths: {GIVE_LENGTHS}")
    coded = code_battles(battles, cluster=cluster, credit=np.where(is_known, credit, np.nan))
    rows = np.flatnonzero(is_known & is_readable)
    left_out = int((is_readable & ~is_known).sum())
    description = f"lengths of the {length_of}s" if has_transcripts else "lengths"
    return Lengths(coded, (a - b)[rows], rows, left_out, description)


def saturate_lengths(difference: np.ndarray, sd: float) -> np.ndarray:
    """Return tanh(difference / sd) (Dubois et al. 2024, equation 2).

    The result stays within -1 and 1: beyond about two sd, more length adds next to nothing.
    """
    return np.tanh(difference / sd)
