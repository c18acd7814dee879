"""Metrics of the verdicts that the judging filter writes. A task names them in `metric_list`.

lm-eval calls a metric for each document, and an aggregation with the values of all documents. The
metric of a rating (`win_rate`, ...) passes the verdicts on. Its aggregation ranks this run's model
among its opponents.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from podium.data.formats.lm_eval_judged import battles_table, parse_verdicts
from podium.data.reading.judgments import read_battles
from podium.errors import NotIdentifiedError, PodiumError
from podium.hosts.lm_eval.lm_eval_compatibility import register
from podium.notices.notice_text import notice_text
from podium.rankers.ranking import Entry, Standings
from podium.ranking.rank_battles import REPLACED_RANKER_KEY, rank

UNKNOWN = float("nan")
"""An unknown score. lm-eval averages scores over a group of tasks, so it must be a number."""
NO_ERROR = "N/A"
"""The text that lm-eval shows for an unknown standard error."""

BETTER_IF_HIGHER = ("win_rate", "bradley_terry", "soft_elo", "judged")
"""Names of the metrics of which a higher value is better."""

log = logging.getLogger(__name__)
_DIGESTS: set[bytes] = set()
"""Digests of all texts that the filter has written.

They distinguish verdicts from a model's answer that only looks like verdicts.
"""


def remember_verdicts(text: str) -> str:
    """Return the text of a document's verdicts unchanged, after remembering its digest."""
    _DIGESTS.add(_digest(text))
    return text


def parse_filter_verdicts(filtered: Any) -> dict[str, Any] | None:
    """Parse a filtered response, or a list of one response, into the verdicts on a document.

    None if the judging filter of this process did not write the response, or if there are several.
    """
    if isinstance(filtered, list | tuple) and len(filtered) == 1:
        return parse_filter_verdicts(filtered[0])
    if isinstance(filtered, str) and _digest(filtered) in _DIGESTS:
        return parse_verdicts(filtered)
    return None


def _digest(text: str) -> bytes:
    """Return the SHA-256 digest of a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


class DocumentCredit(float):
    """The mean credit of a document's response, which also carries the verdicts.

    Attributes:
        options: the options of the ranker.
        verdicts: the verdicts on the document, as the filter writes them.
    """

    options: Mapping[str, Any]
    verdicts: Mapping[str, Any]


def earned_credit(
    references: Any = None,  # noqa: ARG001
    predictions: Sequence[Any] = (),
    **options: Any,
) -> DocumentCredit | None:
    """Return a document's mean credit over its readable battles; None if there are none.

    None, too, if the judging filter did not write the prediction.

    Args:
        references: not used; lm-eval passes it.
        predictions: the filtered responses to the document.
        **options: options of the ranker as for `podium.rank` (`level`, `calibration`, `beta`,
            `pin` ...), which the credit carries to the aggregation.
    """
    verdicts = parse_filter_verdicts(predictions)
    if verdicts is None or verdicts["credit"] is None:
        return None
    credit = DocumentCredit(verdicts["credit"])
    credit.verdicts = verdicts
    credit.options = options
    return credit


def total(items: Sequence[int | None]) -> int:
    """Return the sum of a count over documents; None counts as 0."""
    return sum(number or 0 for number in items)


def _rank_run(ranker: str, items: Sequence[Any]) -> tuple[Standings, Entry]:
    """Rank this run's model among its opponents by the verdicts on all documents.

    The options are those of the first document with a readable verdict. `win-rate` has this run's
    model as its anchor, unless the options name another.

    Args:
        ranker: name of the ranker.
        items: the values of `earned_credit`; None for documents without a readable verdict.

    Returns:
        The standings, and the row of this run's model.

    Raises:
        NotIdentifiedError: no battle has a readable verdict, lm-eval passed other values than
            verdicts, or another ranker had to replace this one.
        PodiumError: the ranker cannot rank the battles.
    """
    credits = [item for item in items if isinstance(item, DocumentCredit)]
    if any(item is not None for item in items) and not credits:
        raise NotIdentifiedError(
            "lm-eval passed no verdicts: the task's doc_to_target must be a text "
            '(`doc_to_target: ""`), not a list'
        )
    if not credits:
        raise NotIdentifiedError("no battle has a readable verdict")
    first = credits[0].verdicts
    battles = read_battles(
        battles_table(item.verdicts for item in credits), one_sided=first["one_sided"]
    )
    options = dict(credits[0].options)
    if ranker == "win-rate":
        # The opponents have met only this run's model, so win rates are computed against it.
        options.setdefault("anchor", first["model"])
    [standings] = rank(battles, ranker, **options).standings
    if REPLACED_RANKER_KEY in standings.diagnostics:
        # A metric has the name of its ranker, so it must not show a score of another one.
        raise NotIdentifiedError(standings.diagnostics[REPLACED_RANKER_KEY]["reason"])
    own_entry = next(entry for entry in standings.entries if entry.model == first["model"])
    return standings, own_entry


def _register_rating(name: str, ranker: str) -> tuple[Callable[[Sequence[Any]], float | str], ...]:
    """Register two metrics with lm-eval: a model's score by a ranker, and its standard error.

    Args:
        name: name of the metric; the other one is `NAME_stderr`. Each aggregation has the name of
            its metric.
        ranker: name of the ranker.

    Returns:
        The aggregations of the score and of the standard error.
    """
    # If the data do not bound a score, only the regularization makes it finite. lm-eval's table
    # cannot say so, so the score is shown as unknown.

    @register("aggregation", name)
    def score(items: Sequence[Any]) -> float:
        """Return the score and log warnings; NaN if the score is unknown or unbounded.

        An error of podium is logged, not raised.
        """
        try:
            standings, entry = _rank_run(ranker, items)
        except PodiumError as error:
            log.warning("podium: no %s: %s", ranker, error)
            return UNKNOWN
        for warning in standings.warnings:
            log.warning("podium: %s: %s", ranker, notice_text(warning))
        return UNKNOWN if entry.score is None or entry.separated else entry.score

    @register("aggregation", f"{name}_stderr")
    def standard_error(items: Sequence[Any]) -> float | str:
        """Return the standard error of the score, or `N/A` if it or the score is unknown."""
        try:
            _, entry = _rank_run(ranker, items)
        except PodiumError:
            return NO_ERROR
        return NO_ERROR if entry.se is None or entry.separated else entry.se

    register("metric", name, higher_is_better=True)(earned_credit)
    register("metric", f"{name}_stderr", higher_is_better=False)(earned_credit)
    return score, standard_error


def _register_count(
    name: str, count: Callable[[Mapping[str, Any]], int]
) -> Callable[..., int | None]:
    """Register a metric with lm-eval that counts battles of a document, and sums over documents.

    Args:
        name: name of the metric and of its aggregation.
        count: counts the battles in the verdicts on a document.

    Returns:
        The metric, which is None for a document without verdicts.
    """
    register("aggregation", name)(total)

    @register("metric", name, higher_is_better=(name in BETTER_IF_HIGHER))
    def count_battles(references: Any = None, predictions: Sequence[Any] = ()) -> int | None:  # noqa: ARG001
        """Return the count of a document; None if the filtered response holds no verdicts."""
        verdicts = parse_filter_verdicts(predictions)
        return None if verdicts is None else count(verdicts)

    return count_battles


win_rate, win_rate_stderr = _register_rating("win_rate", "win-rate")
"""The mean over opponents of the mean credit against each, and its error clustered by document."""
bradley_terry, bradley_terry_stderr = _register_rating("bradley_terry", "bradley-terry")
"""The Elo rating of this run's model, where 1500 is the mean of it and its opponents.

The error is clustered by document.
"""
soft_elo, soft_elo_stderr = _register_rating("soft_elo", "soft-elo")
"""The Soft-Elo rating of this run's model. Its standard error includes the error of beta."""

count_judged = _register_count(
    "judged", lambda verdicts: sum(battle["credit"] is not None for battle in verdicts["battles"])
)
count_unparsed = _register_count(
    "unparsed", lambda verdicts: sum(battle["credit"] is None for battle in verdicts["battles"])
)
count_missing = _register_count("missing", lambda verdicts: len(verdicts["missing"]))
"""`judged` and `unparsed` count battles with and without a verdict.

A tie of identical responses is a verdict. `missing` counts battles that were not played, because a
response is missing.
"""
NAMES = (
    "win_rate win_rate_stderr bradley_terry bradley_terry_stderr judged unparsed missing "
    "soft_elo soft_elo_stderr"
)
"""Names of all metrics that this file registers, separated by blanks."""
SOFT_METRICS = [
    {"metric": name, "aggregation": name, "higher_is_better": name in BETTER_IF_HIGHER}
    for name in NAMES.split()
]
"""`METRICS` and Soft-Elo, for `metric_list: !function ...`.

The judge must give token probabilities. Soft-Elo uses them without calibration.
"""
METRICS = [entry for entry in SOFT_METRICS if not str(entry["metric"]).startswith("soft_elo")]
"""All metrics except Soft-Elo.

For `metric_list: !function podium.hosts.lm_eval.metrics.METRICS`.
"""
