"""Metrics that read what the judging filter kept: `metric_list` names them, or takes `METRICS` whole."""

from collections.abc import Sequence
from typing import Any

from podium.hosts.lm_eval.aggregations import Earned
from podium.hosts.lm_eval.issued import verdicts_in
from podium.hosts.lm_eval.registering import register_metric


@register_metric("win_rate", higher_is_better=True)
@register_metric("win_rate_stderr", higher_is_better=False)
@register_metric("bradley_terry", higher_is_better=True)
@register_metric("bradley_terry_stderr", higher_is_better=False)
@register_metric("soft_elo", higher_is_better=True)
@register_metric("soft_elo_stderr", higher_is_better=False)
def earned(references: Any = None, predictions: Sequence[Any] = (), **options: Any) -> Earned | None:  # noqa: ARG001
    """Return what a document's response earned, as a mean over opponents; None where nothing could be read.

    Args:
        references: not used.
        predictions: what the filter kept.
        **options: of the ranker, as `podium.rank` takes them: `level`, `calibration`, `beta`, `pin`, ...
    """
    found = verdicts_in(predictions)
    return None if found is None or found["credit"] is None else Earned(found["credit"], found, options)


@register_metric("judged", higher_is_better=True)
def judged(references: Any = None, predictions: Sequence[Any] = ()) -> int | None:  # noqa: ARG001
    """Return how many of a document's battles have a readable verdict."""
    found = verdicts_in(predictions)
    return None if found is None else sum(one["credit"] is not None for one in found["battles"])


@register_metric("unread", higher_is_better=False)
def unread(references: Any = None, predictions: Sequence[Any] = ()) -> int | None:  # noqa: ARG001
    """Return how many of a document's battles have none."""
    found = verdicts_in(predictions)
    return None if found is None else sum(one["credit"] is None for one in found["battles"])


@register_metric("missing", higher_is_better=False)
def missing(references: Any = None, predictions: Sequence[Any] = ()) -> int | None:  # noqa: ARG001
    """Return how many of a document's battles were not played, because a response is missing."""
    found = verdicts_in(predictions)
    return None if found is None else len(found["missing"])


RATED = ("win_rate", "bradley_terry")
COUNTED = {"judged": True, "unread": False, "missing": False}


def rated(name: str, **options: Any) -> list[dict[str, Any]]:
    """Return the entries of `metric_list` for a metric and its standard error.

    Args:
        options: of the ranker.
    """
    return [
        {"metric": name, "aggregation": name, "higher_is_better": True, **options},
        {"metric": f"{name}_stderr", "aggregation": f"{name}_stderr", "higher_is_better": False, **options},
    ]


METRICS = [entry for name in RATED for entry in rated(name)] + [
    {"metric": name, "aggregation": name, "higher_is_better": higher} for name, higher in COUNTED.items()
]
"""For `metric_list: !function podium.hosts.lm_eval.metrics.METRICS`: all that needs no calibration."""

SOFT_METRICS = METRICS + rated("soft_elo")
"""The same with Soft-Elo, for judges whose verdicts come with probabilities: their credits are soft as they are."""
