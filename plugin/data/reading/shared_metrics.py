"""Find models whose scores are by metrics that no other model has: nothing compares them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from podium.data.reading.rows import RecordTable
from podium.data.reading.table import is_pointwise
from podium.errors import DataError
from podium.hookspecs import GatheredBattles
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_text
from podium.wording import some


def note_lone_models(tables: Sequence[RecordTable], gathered: GatheredBattles) -> GatheredBattles:
    """Return the results of formats with a loss for each model that shares no metric with another.

    With fewer than two models, nothing is changed and no error is raised.

    Args:
        tables: the tables of all sources. Files of lm-eval are left out: their reader finds this.
        gathered: the results of formats.

    Raises:
        DataError: no two models have scores by one metric.
    """
    of_models: dict[str, set[str]] = {}
    models_of: dict[str, set[str]] = {}
    for table in tables:
        for model, metric in _scored_metrics(table):
            of_models.setdefault(model, set()).add(metric)
            models_of.setdefault(metric, set()).add(model)
    if len(of_models) < 2:
        return gathered
    lone: dict[str, list[str]] = {}
    for model, metrics_of_model in sorted(of_models.items()):
        if all(len(models_of[metric]) == 1 for metric in metrics_of_model):
            lone[model] = sorted(metrics_of_model)
    if len(lone) == len(of_models):
        raise _no_shared_metric_error(lone, tables[0].source)
    lost = []
    for model, metrics in lone.items():
        other_metrics = sorted({*models_of} - {*metrics})
        fields = {"model": model, "metrics": metrics, "known": other_metrics}
        lost.append(Notice("metric-of-one-model", fields))
    return replace(gathered, lost=(*gathered.lost, *lost))


def _scored_metrics(table: RecordTable) -> list[tuple[str, str]]:
    """Return the different pairs of a model and a metric in a table of scores.

    The list is empty for tables of lm-eval, tables of battles, and tables without a column
    `metric`.
    """
    columns = table.records.columns
    is_of_lm_eval = any(measure.filter is not None for measure in table.measures)
    if is_of_lm_eval or "metric" not in columns or not is_pointwise(columns):
        return []
    model = columns["model"].text
    metric = columns["metric"].text
    is_known = f"where {model} is not null and {metric} is not null"
    return [
        (model_of_row, name)
        for model_of_row, name in table.records.rows(f"distinct {model}, {metric}", is_known)
    ]


def _no_shared_metric_error(metrics_of: Mapping[str, Sequence[str]], source: str) -> DataError:
    """Return the error for models of which no two have scores by one metric."""
    parts = [f"{model} by {some(metrics, most=5)}" for model, metrics in metrics_of.items()]
    problem = f"no two models have scores by one metric: {some(parts, '; ', most=5)}"
    remedy = "score the models by one metric, or give the metric one name where it is one"
    return DataError(problem, remedy=remedy, source=source)


def why_lost(name: str, lost: Sequence[Notice]) -> str | None:
    """Return why a model of the sources is in no battle; None if no loss is about it.

    Several reasons are joined by semicolons.
    """
    texts = [notice_text(each) for each in lost if each.fields.get("model") == name]
    return "; ".join(texts) or None
