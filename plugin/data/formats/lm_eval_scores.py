"""Read the metrics of each document in lm-eval's samples, and their directions.

A metric is named `metric,filter`, such as `exact_match,strict-match`: lm-eval computes each metric
once per filter. The figure of a metric is the one value that lm-eval reports for all documents.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose, log
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.data.counting.relations import NO_VALUE
from podium.data.formats import lm_eval_layout as layout
from podium.data.formats.lm_eval_documents import (
    AskedDocument,
    asked_document,
    columns_of_document,
    group_of_row,
    name_documents,
)
from podium.data.item_columns import ItemColumns
from podium.data.measure import Measure
from podium.errors import DataError
from podium.notices.notice import Notice
from podium.printable import shorten
from podium.text import text_of

if TYPE_CHECKING:
    import pandas as pd


NON_METRIC_FIELDS = (
    layout.SAMPLE_FIELDS | layout.LMMS_FIELDS | {"resps", "filter", "metrics", "scores_per_repeat"}
)
"""Fields that are not metrics, in rows that do not list their metrics. Hashes are not, either."""
COLUMNS_OF_DOCUMENTS = (
    "line",
    "filter",
    "document",
    "order",
    "target",
    "metrics",
    "asked",
    "group",
    "fields",
)
"""Columns of the rows of a samples file, before the scores of each metric are taken."""
OTHER_COLUMNS = frozenset({*COLUMNS_OF_DOCUMENTS, "path", "category"})
"""Fields of documents that are no columns of their own: tables have such columns themselves."""
RELATIVE_TOLERANCE = 1e-6
"""Two numbers count as equal if their relative difference is at most this."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a samples file.

    Attributes:
        file: the file.
        values: the scores by `metric,filter`: tables with the columns `item`, `target`, `line`,
            `score` and `reason`.
        unusable: for each other metric, why models cannot be ranked by it.
        cut_off_line: the place of the last line if it is cut off; None if the file is complete.
        document_count: number of documents.
        documents: the documents; empty if the file does not describe them.
        lower_is_better: names of metrics, without filter, of which lower scores are better by the
            documentation of who published the scores.
        item_columns: the fields of documents that divide the documents, such as a passage. They
            are columns of the tables in `values`.
    """

    file: layout.Samples
    values: "Mapping[str, pd.DataFrame]"
    unusable: Mapping[str, str]
    cut_off_line: str | None
    document_count: int
    documents: Sequence[AskedDocument] = ()
    lower_is_better: frozenset[str] = frozenset()
    item_columns: Sequence[str] = ()

    @property
    def expected_documents(self) -> int | None:
        """Number of documents according to the results file; None if unknown."""
        number = self._reported_value("n-samples", self.file.task, "effective")
        return number if isinstance(number, int) else None

    def _reported_value(self, *keys: str) -> Any:
        """Return the value under nested keys of the results file; None if there is none."""
        return None if self.file.results is None else self.file.results.value(*keys)

    @property
    def shown_metrics(self) -> tuple[str, ...]:
        """The metrics that can be compared, in the order of the table that lm-eval prints.

        lm-eval sorts that table by `metric,filter`; its results file has another order. The details
        of leaderboards keep the order of their columns.
        """
        if layout.is_details(self.file.path):
            return tuple(self.values)
        return tuple(sorted(self.values))

    def mean_and_figure(self, metric: str) -> tuple[float, float] | None:
        """Return a metric's mean over the documents, and the figure that lm-eval reports.

        Returns:
            None if one of them is unknown, or if documents are missing.
        """
        import pandas as pd

        mean = self.values[metric]["score"].mean() if metric in self.values else np.nan
        figure = self._reported_value("results", self.file.task, metric)
        has_all_documents = self.document_count >= (self.expected_documents or 0)
        if self.cut_off_line is not None or not has_all_documents:
            return None
        if pd.isna(mean) or not isinstance(figure, int | float):
            return None
        return float(mean), figure


def read_scores(file: layout.Samples, cluster: str | None = None) -> Scores:
    """Read the metrics of a samples file, as `metric,filter`.

    A metric is unusable if a value of it is not a number, or all are missing. A last line that is
    cut off is left out, and named in `cut_off_line`.

    Args:
        file: the samples file.
        cluster: the field of documents with the groups of items, which becomes the column `group`
            of the values; None if there are no groups.

    Raises:
        DataError: a line is not a row of samples.
    """
    frame, cut_off_line = _read_documents(file, cluster)
    documents = list(zip(frame["filter"], frame["document"], frame["order"], strict=True))
    frame["item"] = layout.item_ids(file.task, documents)
    item_columns = _add_item_columns(frame)
    values: dict[str, pd.DataFrame] = {}
    unusable: dict[str, str] = {}
    for filter_name, filtered in frame.groupby("filter", sort=False):
        names = dict.fromkeys(name for metrics in filtered["metrics"] for name in metrics)
        for name in names:
            metric = f"{name},{filter_name}"
            numbers = [metrics.get(name) for metrics in filtered["metrics"]]
            why = _why_unusable(numbers)
            if why is None:
                values[metric] = _scores_of_metric(filtered, metric, numbers, item_columns)
            else:
                unusable[metric] = why
    documents_by_item = name_documents(frame["asked"], frame["item"])
    return Scores(
        file=file,
        values=values,
        unusable=unusable,
        cut_off_line=cut_off_line,
        document_count=len(documents_by_item),
        documents=documents_by_item,
        item_columns=item_columns,
    )


def _read_documents(file: layout.Samples, cluster: str | None) -> "tuple[pd.DataFrame, str | None]":
    """Return the rows of a samples file, and the place of the last line if it is cut off, or None.

    The table has the columns `COLUMNS_OF_DOCUMENTS`. `cluster` is the field of documents with the
    groups of items; None if there are none. A line that is no row of samples raises DataError.
    """
    import pandas as pd

    rows = []
    cut_off_line = None
    for place, row in layout.sample_rows(file.path):
        if row is None:
            cut_off_line = place
        elif layout.is_sample(row):
            of_filter, document, position, target = _document_of_row(row)
            # In the order of `COLUMNS_OF_DOCUMENTS`.
            cells = (
                place,
                of_filter,
                document,
                position,
                target,
                _metrics_of_row(row),
                asked_document(place, row),
                group_of_row(row, cluster),
                columns_of_document(row),
            )
            rows.append(cells)
        else:
            missing = ", ".join(sorted(layout.SAMPLE_FIELDS - row.keys()))
            raise DataError(
                f"no row of lm-eval samples: {missing} is missing",
                source=str(file.path),
                row=place,
                remedy="give the file as lm_eval wrote it",
            )
    return pd.DataFrame(rows, columns=[*COLUMNS_OF_DOCUMENTS]), cut_off_line


def _add_item_columns(frame: "pd.DataFrame") -> list[str]:
    """Add the fields of documents that divide the documents to a table, and return their names.

    Fields are left out that have the name of a column of the tables that are made of this one.

    Args:
        frame: the rows of a samples file, with the columns `item` and `fields`. It is changed in
            place.
    """
    item_columns = ItemColumns()
    for item, fields in zip(frame["item"], frame["fields"], strict=True):
        columns_of_row = {
            name: value for name, value in fields.items() if name not in OTHER_COLUMNS
        }
        item_columns.add(item, columns_of_row)
    return item_columns.add_to(frame)


def _document_of_row(row: Mapping[str, Any]) -> tuple[str, Any, Any, str]:
    """Return filter, hash of the document, its place in the data set, and target of a row.

    The filter is `none` if the row names none. The target is its hash, else its text, else empty.
    """
    filter_name = text_of(row.get("filter")) or "none"
    target = text_of(row.get("target_hash")) or text_of(row.get("target")) or ""
    return filter_name, layout.read_doc_hash(row), layout.place_in_set(row), target


def _metrics_of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a row of samples, by metric. They need not be numbers.

    If the row does not list its metrics, all fields are metrics that are not in
    `NON_METRIC_FIELDS` and are no hashes.
    """
    names = row.get("metrics")
    if not isinstance(names, list):
        names = [
            name for name in row if name not in NON_METRIC_FIELDS and not name.endswith("_hash")
        ]
    metrics = {str(name): row.get(str(name)) for name in names}
    for name, value in metrics.items():
        # In lmms-eval, the value is a mapping with the score and what it was computed from.
        if isinstance(value, dict) and "score" in value:
            metrics[name] = value["score"]
    return metrics


def _scores_of_metric(
    rows: "pd.DataFrame",
    metric: str,
    numbers: Sequence[float | None],
    item_columns: Sequence[str],
) -> "pd.DataFrame":
    """Return the scores by one metric: columns `item`, `target`, `line`, `score` and `reason`.

    A score is NaN if it is unknown or infinite. The reason then says why. There is a column `group`
    if any document has a group.

    Args:
        rows: the rows of one filter.
        metric: `metric,filter`, for the reasons.
        numbers: the value of the metric in each row; None if it is missing.
        item_columns: further columns to keep.
    """
    known_or_nan = [np.nan if number is None else number for number in numbers]
    score = np.array(known_or_nan, dtype=float)
    reason = np.full(len(score), None, dtype=object)
    reason[np.isnan(score)] = f"{NO_VALUE}{metric}"
    is_infinite = np.isinf(score)
    reason[is_infinite] = f"{metric} is infinite"
    score[is_infinite] = np.nan
    columns = ["item", "target", "line", *item_columns]
    if rows["group"].notna().any():
        columns.append("group")
    return rows[columns].assign(score=score, reason=reason)


def _why_unusable(values: Sequence[Any]) -> str | None:
    """Return why a metric cannot be compared document by document; None if it can.

    It can if at least one value is not None and all such values are numbers.

    Args:
        values: the value of the metric in each row; None if it is missing.
    """
    known_values = [value for value in values if value is not None]
    if not known_values:
        return "it has no value for any document"
    non_number = next((value for value in known_values if not isinstance(value, int | float)), None)
    if non_number is None:
        return None
    kind = "a list"
    if not isinstance(non_number, list):
        kind = f"not a number ({shorten(str(non_number))})"
    return (
        f"per document it is {kind}, of which lm-eval makes one figure for all documents together"
    )


def measure_of_files(metric: str, files: Sequence[Scores]) -> tuple[Measure, Notice | None]:
    """Return what the files say of a metric, and a note on its direction, or None.

    There is no note if the results say that higher is better. Log-likelihoods, of which lm-eval
    reports exp(-mean), count as better if higher, whatever the results say.

    Args:
        metric: `metric,filter`.
        files: the runs of one task.

    Raises:
        DataError: two runs disagree on the direction.
    """
    task = files[0].file.task
    name, _, filter_name = metric.rpartition(",")
    measure = Measure(name, task, filter=filter_name)
    results_files = [scores.file.results for scores in files if scores.file.results]
    # The path of the first results file that says so, by whether higher is better.
    results_by_direction: dict[bool, str] = {}
    for run in results_files:
        is_higher_better = run.value("higher_is_better", task, name)
        if isinstance(is_higher_better, bool):
            results_by_direction.setdefault(is_higher_better, str(run.path))
    if {True, False} <= results_by_direction.keys():
        path = results_by_direction[True]
        problem = f"higher {name} of {task} is better by {path}, and worse by this file"
        raise DataError(
            problem,
            source=results_by_direction[False],
            remedy="give runs of one version of the task",
        )
    metric_and_task = {"metric": metric, "task": task}
    if _are_log_likelihoods(metric, files):
        return replace(measure, unit="log-likelihood"), Notice("log-likelihood", metric_and_task)
    if True in results_by_direction:
        return replace(measure, higher_is_better=True), None
    if False in results_by_direction:
        return replace(measure, higher_is_better=False), Notice("lower-is-better", metric_and_task)
    return measure, Notice("metric-direction", metric_and_task)


def _are_log_likelihoods(metric: str, files: Sequence[Scores]) -> bool:
    """Return whether the values of a metric are log-likelihoods.

    They are if the reported figure is exp(-mean) in all files. If no figure is known, they are if
    the name of the metric is `perplexity`.
    """
    means_and_figures = [scores.mean_and_figure(metric) for scores in files]
    pairs = [pair for pair in means_and_figures if pair is not None]
    if not pairs:
        return metric.rpartition(",")[0] == "perplexity"
    return all(
        figure > 0 > mean and isclose(-mean, log(figure), rel_tol=RELATIVE_TOLERANCE)
        for mean, figure in pairs
    )


def note_other_means(metric: str, files: Sequence[Scores]) -> list[Notice]:
    """Return a note on the files whose mean differs from the figure that lm-eval reports.

    Empty if there are none. Files without a figure or with missing documents are not compared.
    There is no note on log-likelihoods, since lm-eval reports a function of their mean.
    """
    if _are_log_likelihoods(metric, files):
        return []
    means_and_figures = {}
    for scores in files:
        mean_and_figure = scores.mean_and_figure(metric)
        if mean_and_figure is None:
            continue
        mean, figure = mean_and_figure
        if not _equals_figure(mean, figure):
            means_and_figures[str(scores.file.path)] = f"{mean:.4g} and {figure:.4g}"
    if not means_and_figures:
        return []
    return [Notice("mean-not-reported", {"metric": metric, "files": means_and_figures})]


def note_means_of_shared(
    task: str, metric: str, files: Sequence[Scores], means: "pd.Series"
) -> list[Notice]:
    """Return a note on files whose mean over some documents is not the figure of lm-eval over all.

    Args:
        task: the task.
        metric: `metric,filter`.
        files: the scores of all files.
        means: mean over the documents that other models have, too, by path of the file.

    Returns:
        A list of one note; empty if no mean differs. Files without a figure, with missing
        documents, or whose mean over all documents is another one, are not compared.
    """
    means_and_figures = {}
    for scores in files:
        path = str(scores.file.path)
        mean_and_figure = scores.mean_and_figure(metric)
        if mean_and_figure is None or path not in means.index:
            continue  # nothing to compare
        mean, figure = mean_and_figure
        if _equals_figure(mean, figure) and not _equals_figure(means[path], figure):
            means_and_figures[path] = f"{means[path]:.4g} and {figure:.4g}"
    if not means_and_figures:
        return []
    fields = {"task": task, "metric": metric, "files": means_and_figures}
    return [Notice("mean-of-shared", fields)]


def _equals_figure(mean: float, figure: float) -> bool:
    """Return whether a mean equals a figure that lm-eval reports, up to rounding."""
    return isclose(mean, figure, rel_tol=RELATIVE_TOLERANCE, abs_tol=RELATIVE_TOLERANCE)
