"""Write rankings as records of Every Eval Ever (arXiv 2606.14516, schema 0.3.0)."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID

from podium.data.measure import Measure
from podium.rankers.ranking import Entry, Ranking, Standings
from podium.score_scale import Scale
from podium.scorers.judge_record import JudgeRecord
from podium.show.report.export_options import ExportOptions
from podium.show.report.exports import (
    dataset_of_standings,
    describe_measured,
    group_notes,
    path_of_model,
    portable_name,
    scored_entries,
    shown_part,
    table_name,
    task_of_standings,
)
from podium.show.report.measured_scores import (
    differences_from_eval,
    direction_words,
    metric_of_scores,
)
from podium.text import json_text, text_of

UNITS = {"elo": "points", "win rate": "proportion"}
"""The unit of a score in the schema of Every Eval Ever, by kind of scale."""
MEAN = "mean"
"""The ranker whose score of a metric is what evals usually report."""


def every_eval_ever_files(
    name: str, ranking: Ranking, options: ExportOptions, now: float
) -> Iterator[tuple[str, str]]:
    """Yield the path and the content of the record of each model on each task.

    The path is `data/COLLECTION/DEVELOPER/MODEL/UUID.json`. COLLECTION is the dataset, or the task,
    or the name of the ranking if the task is unknown. The record of a model has a result per
    standings table in which it has a score; a model without any score has no record.

    Args:
        name: name of the ranking.
        ranking: the ranking.
        options: options of the command.
        now: time of the export, seconds since 1970.

    Raises:
        UsageError: the ranking names another task than `options.task`, or a dataset is given and
            the ranking has several tasks, or its runs record another dataset.
        NotIdentifiedError: a score is no finite number in the eval's unit.
    """
    content = ranking.to_json()
    by_record: dict[tuple[str, str], list[tuple[Standings, Entry]]] = {}
    for standings, entry in scored_entries(ranking):
        task = task_of_standings(standings, options) or name
        by_record.setdefault((task, entry.model), []).append((standings, entry))
    for (task, model), scores in by_record.items():
        identifier = path_of_model(model, options.developer)
        collection = portable_name(options.dataset or task)
        record = {
            "schema_version": "0.3.0",
            "evaluation_id": f"{task}/{identifier.replace('/', '_')}/{now:.0f}",
            "retrieved_timestamp": f"{now:.3f}",
            **_describe_source(name, ranking, options),
            "model_info": _describe_model(model, identifier),
            "evaluation_results": [
                _describe_score(name, ranking, standings, entry, options)
                for standings, entry in scores
            ],
        }
        # The name of the file is a hash, so that a second export replaces the same files.
        identity = f"{name}\0{task}\0{model}\0{content}"
        digest = sha256(identity.encode()).digest()
        file = UUID(bytes=digest[:16], version=4)
        yield f"data/{collection}/{identifier}/{file}.json", json_text(record) + "\n"


def _describe_source(name: str, ranking: Ranking, options: ExportOptions) -> dict[str, Any]:
    """Describe the source of a ranking in the fields of the schema.

    The fields say which files were ranked, who provides the record, and which version of podium
    ranked.
    """
    provenance = ranking.provenance
    sources = [*map(_public_place, provenance.get("sources", ()))]
    return {
        "source_metadata": {
            "source_name": name,
            "source_type": "evaluation_run",
            "source_organization_name": options.organization,
            "evaluator_relationship": "other",
            "additional_details": _texts_of({"sources": sources}),
        },
        "eval_library": {
            "name": "podium",
            "version": provenance.get("versions", {}).get("podium", "unknown"),
        },
    }


def _describe_score(
    name: str, ranking: Ranking, standings: Standings, entry: Entry, options: ExportOptions
) -> dict[str, Any]:
    """Describe a model's score: its source, metric and uncertainty.

    The metric is that of the eval if the score is its mean or median, else the ranker's rating. The
    figures of the model's row and the counts of the ranking are added as texts.

    Args:
        name: name of the ranking, which stands for a task that is unknown.
        ranking: the ranking.
        standings: one of its tables.
        entry: the row of the model in it, with a score as the eval reports it.
        options: options of the command.

    Raises:
        UsageError: `options.task` or `options.dataset` contradicts the ranking, as for
            `every_eval_ever_files`.
    """
    details = entry.to_dict()
    for name_of_count, number in standings.counts.to_dict().items():
        details[f"ranking_{name_of_count}"] = number
    notes = group_notes(standings, entry)
    if notes:
        details["comparable"] = notes[0]
    task = task_of_standings(standings, options)
    part = shown_part(standings, task)
    judges = [] if standings.measures else _judges_in_provenance(ranking)
    measure = metric_of_scores(standings)
    metric = _describe_rating(standings, task, judges)
    if measure is not None:
        metric = _describe_measure(standings, task, measure)
    return {
        "evaluation_result_id": table_name(standings),
        "evaluation_name": (task or name) if part is None else f"{task or name} [{part}]",
        "source_data": _describe_dataset(task or name, ranking, standings, options),
        "metric_config": metric,
        "score_details": {
            "score": entry.score,
            "uncertainty": _describe_uncertainty(standings, entry),
            "details": _texts_of(details),
        },
    }


def _describe_uncertainty(standings: Standings, entry: Entry) -> dict[str, Any]:
    """Describe the standard error, the interval and the number of items of a score.

    An error or interval that is unknown is left out, and so is an interval with one end. The number
    of items is that of the model if it is known, else that of the ranking.
    """
    method = standings.interval or "unknown"
    items_by_model = standings.diagnostics.get("items_by_model", {})
    items = items_by_model.get(entry.model, standings.counts.items)
    uncertainty: dict[str, Any] = {"num_samples": items}
    if entry.se is not None:
        error_method = standings.error_method or method
        uncertainty["standard_error"] = {"value": entry.se, "method": error_method}
    if entry.low is not None and entry.high is not None:
        ends = {"lower": entry.low, "upper": entry.high}
        uncertainty["confidence_interval"] = {
            **ends,
            "confidence_level": standings.level,
            "method": method,
        }
    return uncertainty


def _describe_dataset(
    task: str, ranking: Ranking, standings: Standings, options: ExportOptions
) -> dict[str, Any]:
    """Describe the dataset of the items: by its name on the Hugging Face hub, else by the task.

    Args:
        task: the task, or the name of the ranking if the task is unknown.
        ranking: the ranking.
        standings: one of its tables.
        options: options of the command.

    Raises:
        UsageError: a dataset is given, and the ranking has several tasks, or its runs record
            another dataset.
    """
    on_hub = dataset_of_standings(ranking, standings, options)
    if on_hub is None:
        return {"dataset_name": task, "source_type": "other"}
    name = options.dataset or task
    return {"dataset_name": name, "source_type": "hf_dataset", "hf_repo": on_hub}


def _describe_model(name: str, identifier: str) -> dict[str, Any]:
    """Describe a model or a judge by its name and its id in the store.

    How it is deployed is given as unknown.
    """
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    return {"name": name, "id": identifier, "additional_details": unknown}


def _judges_in_provenance(ranking: Ranking) -> list[JudgeRecord]:
    """Return the records of the judges of a ranking, in the order of its provenance.

    A judge that the provenance does not describe has a record of its name alone.
    """
    judge_records = ranking.provenance.get("judge_records", {})
    names = ranking.provenance.get("judges", ())
    judges = []
    for name in names:
        if name in judge_records:
            judges.append(JudgeRecord.from_json(name, judge_records[name]))
        else:
            judges.append(JudgeRecord.from_name(name))
    return judges


def _describe_measure(standings: Standings, task: str | None, measure: Measure) -> dict[str, Any]:
    """Describe a metric of an eval: its name, direction, and what podium computed of it.

    The id is that of the metric alone if the score is the mean that the eval itself reports. Else
    it names podium's ranker, too.

    Args:
        standings: the table of the score.
        task: the task of the items; None if it is unknown.
        measure: the metric.
    """
    name = measure.reported_name
    differences = [*dict.fromkeys(differences_from_eval(standings, measure))]
    is_mean = standings.ranker == MEAN and not differences
    parameters = {
        "aggregation": standings.ranker,
        "scorer": measure.scorer,
        "filter": measure.filter,
    }
    notes = {"direction": direction_words(measure), "differences": differences}
    return {
        "evaluation_description": describe_measured(standings, task),
        "metric_id": name if is_mean else f"podium.{standings.ranker}.{name}",
        "metric_name": name,
        "metric_kind": name,
        "metric_parameters": {key: value for key, value in parameters.items() if value},
        "lower_is_better": measure.lower_is_better,
        "additional_details": _texts_of({key: value for key, value in notes.items() if value}),
    }


def _describe_rating(
    standings: Standings, task: str | None, judges: Sequence[JudgeRecord]
) -> dict[str, Any]:
    """Describe what a ranker's score is, its range, and judges with hashes of their prompts.

    Of a slice that is named like a judge, only this judge is described. Only judges that podium
    asked, whose prompts are recorded, are described as a jury.

    Args:
        standings: the table of the score.
        task: the task of the items; None if it is unknown.
        judges: the judges whose verdicts are ranked; empty if metrics decided.
    """
    judges_of_slice = [judge for judge in judges if judge.name == standings.slice] or list(judges)
    asked_judges = [judge for judge in judges_of_slice if judge.prompt is not None]
    scale = standings.scale
    kind = (scale.name if scale.kind == "score" else scale.kind).replace(" ", "_")
    sources = {
        "judges": [judge.name for judge in judges_of_slice],
        "metrics": [*dict.fromkeys(measure.title for measure in standings.measures)],
    }
    description = {
        "evaluation_description": describe_measured(standings, task),
        "metric_id": f"podium.{standings.ranker.replace('-', '_')}",
        "metric_name": standings.ranker,
        "metric_kind": kind,
        "metric_unit": UNITS.get(scale.kind, "score"),
        "lower_is_better": False,
        **_describe_bounds(scale),
        "additional_details": _texts_of({key: value for key, value in sources.items() if value}),
    }
    if not asked_judges:
        return description
    jury = [
        {"model_info": _describe_model(judge.name, judge.shown_model)} for judge in asked_judges
    ]
    prompts = [f"podium's {judge.realization} (hash {judge.prompt})" for judge in asked_judges]
    scoring = {"judges": jury, "input_prompt": ", ".join(dict.fromkeys(prompts))}
    return description | {"llm_scoring": scoring}


def _describe_bounds(scale: Scale) -> dict[str, Any]:
    """Return the range of a score in the fields of the schema; empty if the scale is unbounded.

    The schema allows the type `continuous` only with a range.
    """
    if scale.bounds is None:
        return {}
    low, high = scale.bounds
    return {"score_type": "continuous", "min_score": low, "max_score": high}


def _public_place(source: str) -> str:
    """Return a source as it is, or only the file name of an absolute path.

    The folders of this machine are of no use to others. Windows paths are recognized anywhere.
    """
    path: PurePath = PureWindowsPath(source)
    if not path.is_absolute():
        path = PurePosixPath(source)
    return path.name if path.is_absolute() else source


def _texts_of(details: dict[str, Any]) -> dict[str, str]:
    """Return values as texts, which the schema asks for; values without a text are left out."""
    texts = {key: text_of(value) for key, value in details.items()}
    return {key: text for key, text in texts.items() if text is not None}
