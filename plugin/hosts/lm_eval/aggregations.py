"""From the verdicts on all documents to one number: this run's model ranked among its opponents."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from podium.battles import Battles
from podium.errors import NotIdentifiedError, PodiumError
from podium.formats import lm_eval_judged
from podium.hosts.lm_eval.registering import register_aggregation
from podium.ranking import Entry, Standings

UNKNOWN = float("nan")
"""What lm-eval gets where there is no number: with anything else it cannot make the mean of a group."""
NO_ERROR = "N/A"
"""lm-eval's own word for a standard error that is not known."""

log = logging.getLogger(__name__)


class Earned(float):
    """What a document's response earned, as a mean over opponents; it remembers the verdicts.

    Attributes:
        verdicts: of the document, as the filter kept them.
        options: of the ranker.
    """

    __slots__ = ("options", "verdicts")
    options: Mapping[str, Any]
    verdicts: Mapping[str, Any]

    def __new__(
        cls, credit: float, verdicts: Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None
    ) -> "Earned":
        self = super().__new__(cls, credit)
        self.verdicts, self.options = verdicts or {}, options or {}
        return self


@register_aggregation("win_rate")
def win_rate(items: Sequence[Any]) -> float:
    """Return the mean over opponents of the mean credit against each; NaN where nothing was read."""
    return _score("win-rate", items)


@register_aggregation("win_rate_stderr")
def win_rate_stderr(items: Sequence[Any]) -> float | str:
    """Return the standard error of `win_rate`, clustered by document."""
    return _error("win-rate", items)


@register_aggregation("bradley_terry")
def bradley_terry(items: Sequence[Any]) -> float:
    """Return the Elo score of this run's model among its opponents, whose mean with it is 1500; NaN where unbounded."""
    return _score("bradley-terry", items)


@register_aggregation("bradley_terry_stderr")
def bradley_terry_stderr(items: Sequence[Any]) -> float | str:
    """Return the standard error of `bradley_terry`, clustered by document."""
    return _error("bradley-terry", items)


@register_aggregation("soft_elo")
def soft_elo(items: Sequence[Any]) -> float:
    """Return the Soft-Elo score of this run's model among its opponents; NaN where unbounded or not calibrated."""
    return _score("soft-elo", items)


@register_aggregation("soft_elo_stderr")
def soft_elo_stderr(items: Sequence[Any]) -> float | str:
    """Return the standard error of `soft_elo`, clustered by document, beta's own error in it."""
    return _error("soft-elo", items)


@register_aggregation("judged")
def judged(items: Sequence[int | None]) -> int:
    """Return how many battles have a readable verdict."""
    return sum(one or 0 for one in items)


@register_aggregation("unread")
def unread(items: Sequence[int | None]) -> int:
    """Return how many battles have none."""
    return sum(one or 0 for one in items)


@register_aggregation("missing")
def missing(items: Sequence[int | None]) -> int:
    """Return how many battles were not played, because a response is missing."""
    return sum(one or 0 for one in items)


def battles_of(items: Sequence[Earned]) -> Battles:
    """Return the battles of some documents, both orders merged, as `podium rank` reads them from the samples."""
    from podium.reading.judgements import read_battles

    return read_battles(
        lm_eval_judged.battles_table(one.verdicts for one in items), one_sided=items[0].verdicts["one_sided"]
    )


def standings(ranker: str, items: Sequence[Any]) -> tuple[Standings, Entry]:
    """Rank this run's model among its opponents.

    Args:
        ranker: its name.
        items: per document, what it earned; None where nothing could be read.

    Returns:
        The standings, and the row of this run's model.

    Raises:
        PodiumError: the verdicts cannot be ranked.
    """
    from podium.rank_battles import rank

    read = [one for one in items if isinstance(one, Earned)]
    if any(one is not None for one in items) and not read:
        raise NotIdentifiedError(
            'lm-eval handed over no verdicts: the task\'s doc_to_target must give a text (`doc_to_target: ""`), no list'
        )
    if not read:
        raise NotIdentifiedError("no battle has a readable verdict")
    own = read[0].verdicts["entrant"]
    # Against this run's model: opponents have met nobody else, and their own rates are not asked for.
    usual = {"anchor": own} if ranker == "win-rate" else {}
    [found] = rank(battles_of(read), ranker, **{**usual, **read[0].options}).standings
    return found, next(entry for entry in found.entries if entry.model == own)


def _score(ranker: str, items: Sequence[Any]) -> float:
    try:
        found, own = standings(ranker, items)
    except PodiumError as error:
        log.warning("podium: no %s: %s", ranker, error)
        return UNKNOWN
    for warning in found.warnings:
        log.warning("podium: %s: %s", ranker, warning)
    # Where the data do not bound a rating, the regularization makes it, and lm-eval's table cannot say so.
    return UNKNOWN if own.score is None or own.separated else own.score


def _error(ranker: str, items: Sequence[Any]) -> float | str:
    try:
        _, own = standings(ranker, items)
    except PodiumError:
        return NO_ERROR
    return NO_ERROR if own.se is None or own.separated else own.se
