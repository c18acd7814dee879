"""Metrics that read what the judging filter kept, a document at a time, and what makes one figure of all documents.

`metric_list` names them, or takes `METRICS` whole. A rated metric (`win_rate`, ...) hands each document's verdicts on
to its aggregation, which ranks this run's model among its opponents.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from podium.errors import NotIdentifiedError, PodiumError
from podium.formats.lm_eval_judged import battles_table
from podium.hosts.lm_eval.registry import issued_verdicts, register
from podium.nouns.ranking import Entry, Standings
from podium.reading.judgments import read_battles
from podium.verbs.rank_battles import rank

UNKNOWN = float("nan")
"""What lm-eval gets where there is no number: with anything else it cannot make the mean of a group."""
NO_ERROR = "N/A"
"""lm-eval's own word for a standard error that is not known."""

Aggregation = Callable[[Sequence[Any]], float | str]
Count = Callable[..., int | None]

log = logging.getLogger(__name__)


class DocumentCredit(float):
    """What a document's response earned, as a mean over opponents; it remembers the verdicts and a ranker's options."""

    __slots__ = ("options", "verdicts")
    options: Mapping[str, Any]
    verdicts: Mapping[str, Any]

    def __new__(
        cls, credit: float, verdicts: Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None
    ) -> "DocumentCredit":
        self = super().__new__(cls, credit)
        self.verdicts, self.options = verdicts or {}, options or {}
        return self


def earned_credit(references: Any = None, predictions: Sequence[Any] = (), **options: Any) -> DocumentCredit | None:  # noqa: ARG001
    """Return what a document's response earned, as a mean over opponents; None where nothing could be read.

    Args:
        references: not used.
        predictions: what the filter kept.
        **options: of the ranker, as `podium.rank` takes them: `level`, `calibration`, `beta`, `pin`, ...
    """
    verdicts = issued_verdicts(predictions)
    return (
        None
        if verdicts is None or verdicts["credit"] is None
        else DocumentCredit(verdicts["credit"], verdicts, options)
    )


def total(items: Sequence[int | None]) -> int:
    """Return the sum of a count over the documents; None counts nothing."""
    return sum(number or 0 for number in items)


def _standings(ranker: str, items: Sequence[Any]) -> tuple[Standings, Entry]:
    """Rank this run's model among its opponents, as `podium rank` does by the samples; return its row, too."""
    earned = [item for item in items if isinstance(item, DocumentCredit)]
    if any(item is not None for item in items) and not earned:
        raise NotIdentifiedError(
            'lm-eval handed over no verdicts: the task\'s doc_to_target must give a text (`doc_to_target: ""`), no list'
        )
    if not earned:
        raise NotIdentifiedError("no battle has a readable verdict")
    first = earned[0].verdicts
    battles = read_battles(battles_table(item.verdicts for item in earned), one_sided=first["one_sided"])
    # Against this run's model: opponents have met nobody else, and their own rates are not asked for.
    usual = {"anchor": first["model"]} if ranker == "win-rate" else {}
    [result] = rank(battles, ranker, **{**usual, **earned[0].options}).standings
    return result, next(entry for entry in result.entries if entry.model == first["model"])


def _register_rating(name: str, ranker: str) -> tuple[Aggregation, Aggregation]:
    """Register how the verdicts on all documents become the score of this run's model, and its standard error.

    They are NaN and N/A where nothing was read or the data do not bound the score: the regularization would make it,
    and lm-eval's table cannot say so.
    """

    @register("aggregation", name)
    def score(items: Sequence[Any]) -> float:
        try:
            result, own = _standings(ranker, items)
        except PodiumError as error:
            log.warning("podium: no %s: %s", ranker, error)
            return UNKNOWN
        for warning in result.warnings:
            log.warning("podium: %s: %s", ranker, warning)
        return UNKNOWN if own.score is None or own.separated else own.score

    @register("aggregation", f"{name}_stderr")
    def standard_error(items: Sequence[Any]) -> float | str:
        try:
            _, own = _standings(ranker, items)
        except PodiumError:
            return NO_ERROR
        return NO_ERROR if own.se is None or own.separated else own.se

    register("metric", name, higher_is_better=True)(earned_credit)
    register("metric", f"{name}_stderr", higher_is_better=False)(earned_credit)
    return score, standard_error


def _register_count(name: str, count: Callable[[Mapping[str, Any]], int], *, higher_is_better: bool) -> Count:
    register("aggregation", name)(total)

    @register("metric", name, higher_is_better=higher_is_better)
    def number(references: Any = None, predictions: Sequence[Any] = ()) -> int | None:  # noqa: ARG001
        verdicts = issued_verdicts(predictions)
        return None if verdicts is None else count(verdicts)

    return number


win_rate, win_rate_stderr = _register_rating("win_rate", "win-rate")
"""The mean over opponents of the mean credit against each; its error is clustered by document."""
bradley_terry, bradley_terry_stderr = _register_rating("bradley_terry", "bradley-terry")
"""The Elo score of this run's model among its opponents, whose mean with it is 1500; its error is clustered."""
soft_elo, soft_elo_stderr = _register_rating("soft_elo", "soft-elo")
"""The Soft-Elo score of this run's model among its opponents; beta's own error is in the score's."""

count_judged = _register_count(
    "judged", lambda kept: sum(battle["credit"] is not None for battle in kept["battles"]), higher_is_better=True
)
"""How many of a document's battles have a readable verdict."""
count_unparsed = _register_count(
    "unparsed", lambda kept: sum(battle["credit"] is None for battle in kept["battles"]), higher_is_better=False
)
"""How many of a document's battles have none."""
count_missing = _register_count("missing", lambda kept: len(kept["missing"]), higher_is_better=False)
"""How many of a document's battles were not played, because a response is missing."""

RATED = ("win_rate", "bradley_terry")
COUNTS = {"judged": (count_judged, True), "unparsed": (count_unparsed, False), "missing": (count_missing, False)}
"""What each count is of a document, and whether higher is better."""


def metric_entries(name: str, **options: Any) -> list[dict[str, Any]]:
    """Return the entries of `metric_list` for a rated metric and its standard error, with options of the ranker."""
    return [
        {"metric": name, "aggregation": name, "higher_is_better": True, **options},
        {"metric": f"{name}_stderr", "aggregation": f"{name}_stderr", "higher_is_better": False, **options},
    ]


METRICS = [entry for name in RATED for entry in metric_entries(name)] + [
    {"metric": name, "aggregation": name, "higher_is_better": higher} for name, (_, higher) in COUNTS.items()
]
"""For `metric_list: !function podium.hosts.lm_eval.metrics.METRICS`: all that needs no calibration."""

SOFT_METRICS = METRICS + metric_entries("soft_elo")
"""The same with Soft-Elo, for judges whose verdicts come with probabilities: their credits are soft as they are."""
