"""Write rankings as records of Every Eval Ever (arXiv 2606.14516, schema 0.3.0): a record per model."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID

from podium.nouns.ranking import Entry, Ranking, Standings
from podium.report.exported_names import Facts, developer_and_name, portable_name
from podium.report.ranking_view import standings_name
from podium.scorers.identity import split_identity
from podium.text import json_text, text_of


def every_eval_ever_files(name: str, ranking: Ranking, facts: Facts, now: float) -> Iterator[tuple[str, str]]:
    """Yield the path, `data/COLLECTION/DEVELOPER/MODEL/UUID.json`, and the content of the record of each model."""
    content = ranking.to_json()
    for model in dict.fromkeys(entry.model for each in ranking.standings for entry in each.entries):
        owner, own = developer_and_name(model, facts.developer)
        record = {
            "schema_version": "0.3.0",
            "evaluation_id": f"{name}/{owner}_{own}/{now:.0f}",
            "retrieved_timestamp": f"{now:.3f}",
            "source_metadata": {
                "source_name": name,
                "source_type": "evaluation_run",
                "source_organization_name": facts.organization,
                "evaluator_relationship": "other",
                "additional_details": _texts_of(
                    {"sources": [_public_place(each) for each in ranking.provenance.get("sources", ())]}
                ),
            },
            "eval_library": {
                "name": "podium",
                "version": ranking.provenance.get("versions", {}).get("podium", "unknown"),
            },
            "model_info": _describe_model(model, f"{owner}/{own}"),
            "evaluation_results": list(_results_of(model, name, ranking, facts)),
        }
        if record["evaluation_results"]:
            # The same ranking has the same files, however often it is exported.
            file = UUID(bytes=sha256(f"{name}\0{model}\0{content}".encode()).digest()[:16], version=4)
            place = f"data/{portable_name(facts.dataset or name)}/{owner}/{own}/{file}.json"
            yield place, json_text(record) + "\n"


def _results_of(model: str, name: str, ranking: Ranking, facts: Facts) -> Iterator[dict[str, Any]]:
    """Yield a model's result in each standings table that has a score for it."""
    hub = {"source_type": "hf_dataset", "hf_repo": facts.dataset}
    for each in ranking.standings:
        for entry in (entry for entry in each.entries if entry.model == model and entry.score is not None):
            yield {
                "evaluation_result_id": standings_name(each),
                "evaluation_name": name if each.slice is None else f"{name} [{each.slice}]",
                "source_data": {
                    "dataset_name": facts.dataset or name,
                    **(hub if facts.dataset else {"source_type": "other"}),
                },
                "metric_config": _describe_metric(each, ranking.provenance.get("judges", ())),
                "score_details": _score_details(each, entry),
            }


def _describe_model(name: str, identifier: str) -> dict[str, Any]:
    """Describe a model or a judge, of which podium knows the name alone."""
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    return {"name": name, "id": identifier, "additional_details": unknown}


def _describe_metric(standings: Standings, judges: list[str]) -> dict[str, Any]:
    """Describe what a ranker's score is, its range, and who judged; prompts are known by their hash."""
    own = [judge for judge in judges if judge == standings.slice] or list(judges)
    asked = {judge: parts for judge in own if (parts := split_identity(judge))}
    kind = standings.scale.partition(" against ")[0].replace(" ", "_")
    prompts = ", ".join(dict.fromkeys(f"podium's {name} (hash {digest})" for _, name, digest in asked.values()))
    jury = [{"model_info": _describe_model(judge, model)} for judge, (model, *_) in asked.items()]
    return {
        "evaluation_description": f"{standings.ranker}: {standings.scale} of models on the same items",
        "metric_id": f"podium.{standings.ranker.replace('-', '_')}",
        "metric_name": standings.ranker,
        "metric_kind": kind,
        "metric_unit": {"elo": "points", "win_rate": "proportion"}.get(kind, "score"),
        "lower_is_better": False,
        # `continuous` asks for bounds, which other scores do not have.
        **({"score_type": "continuous", "min_score": 0, "max_score": 1} if kind == "win_rate" else {}),
        "additional_details": _texts_of({"judges": own}),
    } | ({"llm_scoring": {"judges": jury, "input_prompt": prompts}} if jury else {})


def _score_details(standings: Standings, entry: Entry) -> dict[str, Any]:
    """Return a score with its uncertainty and, as texts, the figures of its row and the denominators."""
    method = standings.interval or "unknown"
    items = standings.diagnostics.get("items_by_model", {}).get(entry.model, standings.counts.items)
    uncertainty: dict[str, Any] = {"num_samples": items}
    if entry.se is not None:
        uncertainty["standard_error"] = {"value": entry.se, "method": method.partition(",")[0]}
    if entry.low is not None and entry.high is not None:
        ends = {"lower": entry.low, "upper": entry.high}
        uncertainty["confidence_interval"] = {**ends, "confidence_level": standings.level, "method": method}
    counts = {f"ranking_{key}": value for key, value in standings.counts.to_dict().items()}
    return {"score": entry.score, "uncertainty": uncertainty, "details": _texts_of(entry.to_dict() | counts)}


def _public_place(source: str) -> str:
    """Return a source without the folders of an absolute path, which say nothing to others."""
    path = PureWindowsPath(source) if PureWindowsPath(source).is_absolute() else PurePosixPath(source)
    return path.name if path.is_absolute() else source


def _texts_of(details: dict[str, Any]) -> dict[str, str]:
    """Write values as texts, as the schema asks for, and leave out empty ones."""
    return {key: text for key, value in details.items() if (text := text_of(value)) is not None}
