"""One samples file of lm-eval into scores: what each metric says of each document."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from podium.errors import DataError
from podium.formats.lm_eval_layout import SAMPLE_FIELDS, Samples, document_hash, item_ids, place_in_set, rows
from podium.text import text_of

NO_METRICS = SAMPLE_FIELDS | {"target", "resps", "filtered_resps", "filter", "metrics", "scores_per_repeat"}
"""Fields of a row that are no metric, where the row does not list its metrics; hashes aside."""


class Value(NamedTuple):
    """What one metric says of one document.

    Attributes:
        item: task, document and occurrence.
        target: what the response was scored against, hashed.
        score: the number; None where there is none.
        reason: why there is none; None where there is one.
        row: place in the file, as `line 3`.
    """

    item: str
    target: str
    score: float | None
    reason: str | None
    row: str


@dataclass(frozen=True, slots=True)
class Scores:
    """What a samples file holds.

    Attributes:
        file: where from.
        values: of each `metric,filter` that gives one number per document.
        unusable: why another `metric,filter` cannot be ranked.
        cut: place of a last line that is cut off; None where the file is whole.
        documents: distinct documents, repeated ones counted as often as they occur.
    """

    file: Samples
    values: Mapping[str, Sequence[Value]]
    unusable: Mapping[str, str]
    cut: str | None
    documents: int

    @property
    def promised(self) -> int | None:
        """How many documents the results file says there are; None where nobody says."""
        return self.file.results.documents(self.file.task) if self.file.results else None

    def mean(self, metric: str) -> float | None:
        """Return the mean over the documents with a number; None where the file is not whole, or has none."""
        numbers = [one.score for one in self.values.get(metric, ()) if one.score is not None]
        whole = self.cut is None and self.documents >= (self.promised or 0)
        return sum(numbers) / len(numbers) if whole and numbers else None


class _Row(NamedTuple):
    place: str
    filter: str
    document: str
    order: float
    target: str
    metrics: dict[str, Any]


def scores_of(file: Samples) -> Scores:
    """Read the metrics of a samples file; none where it was cut off in its first line.

    Raises:
        DataError: a line is no row of samples.
    """
    read: list[_Row] = []
    cut = None
    for place, row in rows(file.path):
        if row is None:
            cut = place
        else:
            read.append(_row(file, place, row))
    items = item_ids(file.task, [(row.filter, row.document, row.order) for row in read])
    values, unusable = _by_metric(read, items)
    return Scores(file, values, unusable, cut, len(set(items)))


def _row(file: Samples, place: str, row: Mapping[str, Any]) -> _Row:
    if not row.keys() >= SAMPLE_FIELDS:
        lacking = ", ".join(sorted(SAMPLE_FIELDS - row.keys()))
        raise DataError(
            f"no row of lm-eval samples: {lacking} is missing",
            source=str(file.path),
            row=place,
            remedy="give the file as lm_eval wrote it",
        )
    target = text_of(row.get("target_hash")) or text_of(row.get("target")) or ""
    named = {name: row.get(name) for name in _metrics(row)}
    return _Row(place, text_of(row.get("filter")) or "none", document_hash(row), place_in_set(row), target, named)


def _metrics(row: Mapping[str, Any]) -> list[str]:
    listed = row.get("metrics")
    if isinstance(listed, list):
        return [str(name) for name in listed]
    return [name for name in row if name not in NO_METRICS and not name.endswith("_hash")]


def _by_metric(read: Sequence[_Row], items: Sequence[str]) -> tuple[dict[str, list[Value]], dict[str, str]]:
    """Return the values of each metric and filter that is a number, and why others are not."""
    names = dict.fromkeys((row.filter, name) for row in read for name in row.metrics)
    values: dict[str, list[Value]] = {}
    unusable: dict[str, str] = {}
    for of_filter, name in names:
        metric = f"{name},{of_filter}"
        own = [(row, item) for row, item in zip(read, items, strict=True) if row.filter == of_filter]
        why = _why_unusable([row.metrics.get(name) for row, _ in own])
        if why is None:
            values[metric] = [_value(row, item, name, metric) for row, item in own]
        else:
            unusable[metric] = why
    return values, unusable


def _value(row: _Row, item: str, name: str, metric: str) -> Value:
    number = row.metrics.get(name)
    if number is None or number != number:
        return Value(item, row.target, None, f"no value of {metric}", row.place)
    if not isfinite(number):
        return Value(item, row.target, None, f"{metric} is infinite", row.place)
    return Value(item, row.target, float(number), None, row.place)


def _why_unusable(values: Sequence[Any]) -> str | None:
    """Return why the values of a metric cannot be compared document by document; None where they can."""
    strange = [one for one in values if one is not None and not isinstance(one, int | float)]
    if not strange:
        return None if any(one is not None for one in values) else "it has no value for any document"
    kinds = Counter("a list" if isinstance(one, list) else "not a number" for one in strange)
    shown = str(strange[0])
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return (
        f"per document it is {kinds.most_common(1)[0][0]} ({shown}), of which lm-eval makes one figure for all "
        "documents together"
    )
