"""What a judge's identity says of its model and of how it is asked."""

from functools import lru_cache

from podium.plugins import catalogue

JUSTRANK = frozenset({"anchor", "likert", "numeric", "reward", "tokenprobs"})
"""Realizations that JuStRank's data write after the judge."""


def parts_of(judge: str | None) -> tuple[str, str | None]:
    """Split a judge's identity into model and realization.

    Args:
        judge: `model|realization|prompt`, or `model realization` where the last word is a known realization.

    >>> parts_of("gpt-x Likert"), parts_of("gpt-x|rubric|1a2b"), parts_of("ann")
    (('gpt-x', 'Likert'), ('gpt-x', 'rubric'), ('ann', None))
    """
    if judge is None:
        return "(no judge)", None
    pieces = judge.split("|")
    if len(pieces) > 2 and not judge.startswith("jury:"):
        return pieces[0], pieces[1]
    model, _, last = judge.rpartition(" ")
    return (model, last) if model and last.lower() in realizations() else (judge, None)


def model_of(judge: str | None) -> str | None:
    """Return the judge's model; None where nobody names the judge."""
    return None if judge is None else parts_of(judge)[0]


@lru_cache(maxsize=1)
def realizations() -> frozenset[str]:
    """Return the names of known realizations, lower case."""
    return JUSTRANK | {name.lower() for name in catalogue.scorers()}
