"""Write rankings in the formats of other projects.

The formats are Every Eval Ever (arXiv 2606.14516, schema 0.3.0), and the evaluation results of the
Hugging Face hub.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID

from podium.numbers import number_text, percent
from podium.printable import printable
from podium.rankers.ranking import Entry, Ranking, Standings
from podium.score_scale import Scale
from podium.scorers.judge_record import JudgeRecord
from podium.show.report.ranking_view import standings_name
from podium.text import json_text, text_of
from podium.wording import quantity, some

UNSAFE_CHARACTERS = re.compile(r'[<>:"/\\|?*\s]+')
"""Matches characters that the name of a file cannot have on every system."""
WINDOWS_DEVICE = r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?"
STORE_NAME = r"data|unknown"
EMPTY_NAME = ""
RESERVED_NAME = re.compile(f"{WINDOWS_DEVICE}|{STORE_NAME}|{EMPTY_NAME}", re.IGNORECASE)
"""Matches names that Windows (`con`, `com1.txt`) or a datastore reserves, and the empty name."""
UNITS = {"elo": "points", "win rate": "proportion"}
"""The unit of a score in the schema of Every Eval Ever, by kind of scale."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Options of `podium export`; docs/report.md says what they mean."""

    dataset: str | None
    task_id: str
    source_url: str | None
    developer: str
    organization: str


def portable_name(text: str) -> str:
    """Return a name for a file: at most 80 characters of a text, the unsafe ones replaced by `_`.

    A reserved or empty name gets a `_` in front.
    """
    name = UNSAFE_CHARACTERS.sub("_", printable(text))[:80].strip(". ")
    return f"_{name}" if RESERVED_NAME.fullmatch(name) else name


def path_of_model(model: str, developer: str) -> str:
    """Return DEVELOPER/MODEL as a path, with portable names.

    Args:
        model: name of the model. The part before the first slash is its developer.
        developer: the developer of a model whose name has no slash.
    """
    owner, slash, name = model.partition("/")
    if not slash:
        owner = developer
        name = model
    return f"{portable_name(owner)}/{portable_name(name)}"


def hub_result_files(
    name: str, ranking: Ranking, options: ExportOptions
) -> Iterator[tuple[str, str]]:
    """Yield the path and the content of the file for each score of each model.

    The path is `DEVELOPER/MODEL/.eval_results/NAME.yaml`, and the content is described at
    huggingface.co/docs/hub/eval-results. If the ranking has several standings tables, the name of
    a table is added to NAME. Models without a score are left out.

    Args:
        name: name of the ranking.
        ranking: the ranking.
        options: options of the command.
    """
    for standings, entry in _scored_entries(ranking):
        file = portable_name(
            name if len(ranking.standings) == 1 else f"{name}-{standings_name(standings)}"
        )
        dataset = _yaml_text(options.dataset or "")
        lines = [f"- dataset: {{id: {dataset}, task_id: {_yaml_text(options.task_id)}}}"]
        lines.append(f"  value: {entry.score:.6f}")
        if options.source_url:
            lines.append(
                f"  source: {{url: {_yaml_text(options.source_url)}, name: {_yaml_text(name)}}}"
            )
        lines.append(f"  notes: {_yaml_text(_describe_result(ranking, standings, entry))}")
        path = f"{path_of_model(entry.model, options.developer)}/.eval_results/{file}.yaml"
        yield path, "\n".join(lines) + "\n"


def _yaml_text(text: str) -> str:
    """Write a text as a JSON string, which is also valid YAML."""
    return json.dumps(printable(text), ensure_ascii=False)


def _scored_entries(ranking: Ranking) -> Iterator[tuple[Standings, Entry]]:
    """Yield each standings table with each of its entries that has a score."""
    for each in ranking.standings:
        for entry in each.entries:
            if entry.score is not None:
                yield each, entry


def _describe_result(ranking: Ranking, standings: Standings, entry: Entry) -> str:
    """Write method, interval, number of items and judges of a score.

    An interval with one end is written as a bound, and one without ends is left out. At most three
    judges are named.
    """
    parts = [f"{standings_name(standings)} ({standings.scale.name}) by podium"]
    if entry.low is not None and entry.high is not None:
        ends = f"{number_text(entry.low, 3)} to {number_text(entry.high, 3)}"
        parts.append(f"{percent(standings.level)} interval {ends} ({standings.interval})")
    elif entry.low is not None or entry.high is not None:
        bound = f"at least {number_text(entry.low, 3)}"
        if entry.high is not None:
            bound = f"at most {number_text(entry.high, 3)}"
        parts.append(f"{percent(standings.level)} bound: {bound} ({standings.interval})")
    parts.append(f"{quantity(standings.counts.items, 'item')}, {quantity(entry.battles, 'battle')}")
    judges = ranking.provenance.get("judges", ())
    if judges:
        parts.append(f"judged by {some(judges, most=3)}")
    return "; ".join(parts)


def every_eval_ever_files(
    name: str, ranking: Ranking, options: ExportOptions, now: float
) -> Iterator[tuple[str, str]]:
    """Yield the path and the content of the record of each model.

    The path is `data/COLLECTION/DEVELOPER/MODEL/UUID.json`. The record of a model has a result per
    standings table in which it has a score; a model without any score has no record.

    Args:
        name: name of the ranking.
        ranking: the ranking.
        options: options of the command.
        now: time of the export, seconds since 1970.
    """
    content = ranking.to_json()
    provenance = ranking.provenance
    for model in dict.fromkeys(entry.model for _, entry in _scored_entries(ranking)):
        identifier = path_of_model(model, options.developer)
        record = {
            "schema_version": "0.3.0",
            "evaluation_id": f"{name}/{identifier.replace('/', '_')}/{now:.0f}",
            "retrieved_timestamp": f"{now:.3f}",
            "source_metadata": {
                "source_name": name,
                "source_type": "evaluation_run",
                "source_organization_name": options.organization,
                "evaluator_relationship": "other",
                "additional_details": _texts_of(
                    {"sources": [*map(_public_place, provenance.get("sources", ()))]}
                ),
            },
            "eval_library": {
                "name": "podium",
                "version": provenance.get("versions", {}).get("podium", "unknown"),
            },
            "model_info": _describe_model(model, identifier),
            "evaluation_results": [
                _describe_score(name, ranking, each, entry, options.dataset)
                for each, entry in _scored_entries(ranking)
                if entry.model == model
            ],
        }
        # The name of the file is a hash, so that a second export replaces the same files.
        file = UUID(bytes=sha256(f"{name}\0{model}\0{content}".encode()).digest()[:16], version=4)
        yield (
            f"data/{portable_name(options.dataset or name)}/{identifier}/{file}.json",
            json_text(record) + "\n",
        )


def _describe_score(
    name: str, ranking: Ranking, standings: Standings, entry: Entry, dataset: str | None
) -> dict[str, Any]:
    """Describe a model's score: its source, metric and uncertainty.

    The figures of its row and the counts of the ranking are added as texts.

    Args:
        name: name of the ranking.
        ranking: the ranking.
        standings: one of its tables.
        entry: the row of the model in it, with a score.
        dataset: the data set on the Hugging Face hub; None if it is not there.
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
    details = entry.to_dict() | {
        f"ranking_{key}": value for key, value in standings.counts.to_dict().items()
    }
    hub = {"source_type": "other"}
    if dataset:
        hub = {"source_type": "hf_dataset", "hf_repo": dataset}
    return {
        "evaluation_result_id": standings_name(standings),
        "evaluation_name": name if standings.slice is None else f"{name} [{standings.slice}]",
        "source_data": {"dataset_name": dataset or name, **hub},
        "metric_config": _describe_metric(standings, _judges_in_provenance(ranking)),
        "score_details": {
            "score": entry.score,
            "uncertainty": uncertainty,
            "details": _texts_of(details),
        },
    }


def _describe_model(name: str, identifier: str) -> dict[str, Any]:
    """Describe a model or a judge. podium knows only its name."""
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    return {"name": name, "id": identifier, "additional_details": unknown}


def _judges_in_provenance(ranking: Ranking) -> list[JudgeRecord]:
    """Return the judges of a ranking, as its provenance describes them."""
    judge_records = ranking.provenance.get("judge_records", {})
    names = ranking.provenance.get("judges", ())
    return [
        JudgeRecord.from_json(name, judge_records[name])
        if name in judge_records
        else JudgeRecord.from_name(name)
        for name in names
    ]


def _describe_metric(standings: Standings, judges: Sequence[JudgeRecord]) -> dict[str, Any]:
    """Describe what a ranker's score is, its range, and judges with hashes of their prompts.

    Of a slice that is named like a judge, only this judge is described. Only judges that podium
    asked, whose prompts are recorded, are described as a jury.
    """
    judges_of_slice = [judge for judge in judges if judge.name == standings.slice] or list(judges)
    asked_judges = [judge for judge in judges_of_slice if judge.prompt is not None]
    scale = standings.scale
    kind = (scale.name if scale.kind == "score" else scale.kind).replace(" ", "_")
    description = {
        "evaluation_description": f"{standings.ranker}: {scale.name} of models on the same items",
        "metric_id": f"podium.{standings.ranker.replace('-', '_')}",
        "metric_name": standings.ranker,
        "metric_kind": kind,
        "metric_unit": UNITS.get(scale.kind, "score"),
        "lower_is_better": False,
        **_describe_bounds(scale),
        "additional_details": _texts_of({"judges": [judge.name for judge in judges_of_slice]}),
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
    """Describe the range of a score; empty if the scale is unbounded.

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
    """Return values as the texts that the schema asks for; empty ones are left out."""
    texts = {key: text_of(value) for key, value in details.items()}
    return {key: text for key, text in texts.items() if text is not None}
