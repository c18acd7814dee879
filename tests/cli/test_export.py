"""podium export: records that Every Eval Ever and the Hugging Face hub accept, by their own
checks."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
import yaml
from huggingface_hub import EvalResultEntry, parse_eval_result_entries

from podium.hookspecs import Ranker
from podium.plugins.catalogue import extensions_of
from podium.show.report.exports import portable_name

Podium = Callable[..., Any]
EXAMPLES = Path(__file__).parents[2] / "examples"
HOSTILE = (
    "../../way/out",
    "CON",
    "data/unknown",
    "a\nb",
    "model: 7b?",
    "é" * 200,
    "amber\u202e",
    "org/m odel",
    ".",
    "#",
)
TEXT, NUMBER = {"type": "string"}, {"type": "number"}


def fields(required: str, **properties: Any) -> dict[str, Any]:
    """Return the schema of an object with these fields and no others."""
    return {
        "type": "object",
        "required": required.split(),
        "properties": properties,
        "additionalProperties": False,
    }


HUB_SCHEMA = {
    "type": "array",
    "minItems": 1,
    "items": fields(
        "dataset value",
        dataset=fields(
            "id task_id", id={**TEXT, "pattern": "^[^/]+/[^/]+$"}, task_id=TEXT, revision=TEXT
        ),
        value=NUMBER,
        verifyToken=TEXT,
        date=TEXT,
        source=fields("url", url={**TEXT, "pattern": "^https?://"}, name=TEXT, user=TEXT, org=TEXT),
        evaluation_framework=TEXT,
        notes=TEXT,
    ),
}
"""The documented fields: https://huggingface.co/docs/hub/eval-results (hub-docs,
docs/hub/eval-results.md)."""


@pytest.fixture
def rankings(podium: Podium, tmp_path: Path) -> list[Path]:
    """Return rankings of `examples/` by each of podium's rankers."""
    battles, labelled = (
        EXAMPLES / "simulated" / "battles.csv",
        EXAMPLES / "soft_elo" / "labelled.csv",
    )
    calibration = tmp_path / "calibration.json"
    assert podium("calibrate", labelled, "--bootstrap", "20", "-o", calibration).code in (0, 3)
    scores = tmp_path / "scores.csv"  # no example has scores
    scores.write_text(
        "item,ash,elm\n" + "".join(f"q{k},{k % 7},{k % 5 * 2}\n" for k in range(40)),
        encoding="utf-8",
    )
    jury = pd.read_csv(battles, dtype=str)
    jury["judge"] = [f"judge-{k // 2 % 3}" for k in range(len(jury))]
    jury.to_csv(tmp_path / "jury.csv", index=False)
    wanted = {
        "simulated": (battles, "--ranker", "bradley-terry,win-rate,informativeness"),
        "anchored": (battles, "--ranker", "win-rate", "--set", "anchor=amber"),
        "new": (
            EXAMPLES / "soft_elo" / "newcomers.csv",
            "--ranker",
            "soft-elo",
            "--calibration",
            calibration,
        ),
        "labels": (labelled, "--ranker", "structured-bradley-terry"),
        "scores": (scores, "--ranker", "mean,median"),
        "jury": (tmp_path / "jury.csv", "--ranker", "judge-aware"),
    }
    written = []
    for name, words in wanted.items():
        written.append(tmp_path / f"{name}.json")
        answer = podium("rank", *words, "-o", written[-1], "--format", "json")
        assert answer.code == 0, answer.err
    return written


@pytest.mark.slow
def test_every_eval_ever_accepts_the_rankings_of_all_rankers(
    podium: Podium, rankings: list[Path], every_eval_ever: Callable[..., Any], tmp_path: Path
) -> None:
    asked = {
        each["ranker"] for path in rankings for each in json.loads(path.read_text())["rankings"]
    }
    assert asked == {row.extension.name for row in extensions_of(Ranker).values()}
    done = podium("export", *rankings, "--to", "every-eval-ever", "-o", tmp_path / "records")
    assert done.code == 0, done.err
    checked = every_eval_ever(
        "validate", "--format", "json", "data/*/*/*/*.json", folder=tmp_path / "records"
    )
    assert checked.returncode == 0, checked.stdout[-2000:] + checked.stderr
    known = {
        (path.stem, m["model"])
        for path in rankings
        for each in json.loads(path.read_text())["rankings"]
        for m in each["models"]
    }
    assert len(list((tmp_path / "records").rglob("*.json"))) == len(known)


@pytest.mark.slow
def test_a_record_has_the_figures_of_the_ranking(
    podium: Podium, example: Path, tmp_path: Path
) -> None:
    ranking = tmp_path / "ranking.json"
    podium("rank", example, "-o", ranking)
    where = ("--dataset", "me/chat", "--organization", "us", "-o", tmp_path)
    assert podium("export", ranking, "--to", "every-eval-ever", *where).code == 0
    [amber] = (tmp_path / "data" / "me_chat" / "unspecified" / "amber").glob("*.json")
    record, stated = json.loads(amber.read_text()), json.loads(ranking.read_text())["rankings"][0]
    [row] = [row for row in stated["models"] if row["model"] == "amber"]
    [result] = record["evaluation_results"]
    uncertainty = result["score_details"]["uncertainty"]
    assert result["score_details"]["score"] == row["score"]
    assert uncertainty["standard_error"] == {"value": row["se"], "method": stated["interval"]}
    interval = {
        "lower": row["low"],
        "upper": row["high"],
        "confidence_level": 0.95,
        "method": stated["interval"],
    }
    assert uncertainty["confidence_interval"] == interval
    assert uncertainty["num_samples"] == stated["counts"]["items"] == 40
    details = result["score_details"]["details"]
    assert (details["rank_low"], details["rank_high"], details["ranking_unparsed"]) == (
        "1",
        "3",
        "26",
    )
    assert result["source_data"] == {
        "dataset_name": "me/chat",
        "source_type": "hf_dataset",
        "hf_repo": "me/chat",
    }
    assert json.loads(result["metric_config"]["additional_details"]["judges"]) == [
        "simulated-judge"
    ]
    assert json.loads(record["source_metadata"]["additional_details"]["sources"]) == [example.name]


def test_a_record_of_means_counts_the_items_of_its_own_model(
    podium: Podium, tmp_path: Path
) -> None:
    scores, ranking = tmp_path / "scores.csv", tmp_path / "ranking.json"
    rows = [f"q{k},{k % 2},{'' if k < 3 else k % 3 // 2}" for k in range(40)]
    scores.write_text("\n".join(["item,ash,elm", *rows]), encoding="utf-8")
    podium("rank", scores, "-o", ranking)
    podium("export", ranking, "--to", "every-eval-ever", "-o", tmp_path / "out")
    records = [json.loads(path.read_text()) for path in (tmp_path / "out").rglob("*.json")]
    results = {record["model_info"]["name"]: record["evaluation_results"][0] for record in records}
    uncertainty = {name: result["score_details"]["uncertainty"] for name, result in results.items()}
    assert {name: each["num_samples"] for name, each in uncertainty.items()} == {
        "ash": 40,
        "elm": 37,
    }
    methods = {
        name: (each["standard_error"]["method"], "Wilson" in each["confidence_interval"]["method"])
        for name, each in uncertainty.items()
    }
    assert {*methods.values()} == {("item-clustered sandwich", True)}
    assert not {"min_score", "max_score"} & results["ash"]["metric_config"].keys()


def test_a_record_has_the_method_of_the_standard_error_as_the_ranking_says_it(
    podium: Podium, example: Path, tmp_path: Path
) -> None:
    ranking = tmp_path / "ranking.json"
    podium("rank", example, "-o", ranking)
    document = json.loads(ranking.read_text())
    assert document["rankings"][0]["error_method"] == "item-clustered sandwich"
    document["rankings"][0]["error_method"] = "sandwich, clustered by item"
    ranking.write_text(json.dumps(document))
    podium("export", ranking, "--to", "every-eval-ever", "-o", tmp_path / "out")
    records = [json.loads(path.read_text()) for path in (tmp_path / "out").rglob("*.json")]
    details = [record["evaluation_results"][0]["score_details"] for record in records]
    methods = {each["uncertainty"]["standard_error"]["method"] for each in details}
    assert methods == {"sandwich, clustered by item"}


@pytest.mark.slow
def test_a_judge_that_podium_asked_is_named_with_its_prompt(
    podium: Podium, example: Path, tmp_path: Path
) -> None:
    ranking = tmp_path / "ranking.json"
    podium("rank", example, "-o", ranking)
    document = json.loads(ranking.read_text())
    asked = {"model": "openai/gpt-5", "realization": "direct", "prompt": "0123456789ab"}
    document["provenance"]["judges"] = ["a | judge: of mine", "crowd"]
    document["provenance"]["judge_records"] = {"a | judge: of mine": asked}
    ranking.write_text(json.dumps(document))
    podium("export", ranking, "--to", "every-eval-ever", "-o", tmp_path / "out")
    record = json.loads(next((tmp_path / "out").rglob("*.json")).read_text())
    scoring = record["evaluation_results"][0]["metric_config"]["llm_scoring"]
    assert [judge["model_info"]["id"] for judge in scoring["judges"]] == ["openai/gpt-5"]
    assert scoring["input_prompt"] == "podium's direct (hash 0123456789ab)"


@pytest.mark.slow
def test_the_hub_reads_what_is_written_for_it(
    podium: Podium, example: Path, tmp_path: Path
) -> None:
    ranking, link = tmp_path / "chat.json", "https://example.org/battles.csv"
    podium("rank", example, "--ranker", "bradley-terry,win-rate", "-o", ranking)
    facts = ("--dataset", "me/chat", "--task-id", "open", "--source-url", link, "--developer", "us")
    assert (
        podium("export", ranking, "--to", "hf-eval-results", *facts, "-o", tmp_path / "cards").code
        == 0
    )
    files = sorted((tmp_path / "cards").rglob("*.yaml"))
    assert len(files) == 12
    for path in files:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        jsonschema.validate(document, HUB_SCHEMA)
        [entry] = parse_eval_result_entries(document)
        assert path.parts[-4:-2] == ("us", path.parts[-3])
        assert isinstance(entry, EvalResultEntry)
    rows = {row["model"]: row for row in json.loads(ranking.read_text())["rankings"][0]["models"]}
    text = (
        tmp_path / "cards" / "us" / "amber" / ".eval_results" / "chat-bradley-terry.yaml"
    ).read_text()
    [entry] = parse_eval_result_entries(yaml.safe_load(text))
    assert (entry.dataset_id, entry.task_id, entry.value) == (
        "me/chat",
        "open",
        round(rows["amber"]["score"], 6),
    )
    assert (entry.source_url, entry.source_name) == (link, "chat")
    ends = "{low:.3f} to {high:.3f}".format(**rows["amber"])
    assert f"95% interval {ends} (item-clustered sandwich)" in entry.notes
    assert "40 items, 191 battles; judged by simulated-judge" in entry.notes


@pytest.mark.slow
@pytest.mark.parametrize("target", ["every-eval-ever", "hf-eval-results"])
def test_hostile_names_stay_in_the_folder_and_are_accepted(
    podium: Podium, example: Path, tmp_path: Path, target: str, request: pytest.FixtureRequest
) -> None:
    ranking = tmp_path / "ranking.json"
    podium("rank", example, "-o", ranking)
    document = json.loads(ranking.read_text())
    [standings] = document["rankings"]
    standings["models"] = [{**standings["models"][0], "model": name} for name in HOSTILE]
    ranking.write_text(json.dumps(document))
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    folder = tmp_path / "deep" / "er" / "out"
    done = podium("export", ranking, "--to", target, "--dataset", "a/b", "-o", folder)
    assert done.code == 0, done.err
    made = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert len(made) == len(HOSTILE)
    assert all(path.is_relative_to(folder) for path in made)
    if target == "hf-eval-results":
        for path in made:
            jsonschema.validate(yaml.safe_load(path.read_text(encoding="utf-8")), HUB_SCHEMA)
        return
    checked = request.getfixturevalue("every_eval_ever")(
        "validate", "data/*/*/*/*.json", folder=folder
    )
    assert checked.returncode == 0, checked.stdout[-2000:]


def test_a_model_without_a_score_is_named_and_not_written(
    podium: Podium, table: Any, tmp_path: Path
) -> None:
    ranking, folder = tmp_path / "ranking.json", tmp_path / "records"
    rows = (
        [f"q{k},a,b,{k % 2}" for k in range(8)]
        + [f"q{k},c,a,1" for k in range(8)]
        + [f"q{k},c,b,1" for k in range(8)]
    )
    podium("rank", table(*rows), "-o", ranking)
    document = json.loads(ranking.read_text())
    document["rankings"][0]["models"][0] |= {"score": None, "low": None, "high": None, "se": None}
    ranking.write_text(json.dumps(document))
    done = podium("export", ranking, "--to", "every-eval-ever", "-o", folder)
    assert done.code == 3
    assert "not written: c (bradley-terry) has no score" in done.err
    assert len(list(folder.rglob("*.json"))) == 2


@pytest.mark.slow
def test_the_same_ranking_has_the_same_files(podium: Podium, example: Path, tmp_path: Path) -> None:
    ranking, folder = tmp_path / "ranking.json", tmp_path / "records"
    podium("rank", example, "-o", ranking)
    podium("export", ranking, "--to", "every-eval-ever", "-o", folder)
    first = {path.relative_to(folder) for path in folder.rglob("*.json")}
    again = podium("export", ranking, "--to", "every-eval-ever", "-o", folder)
    assert "wrote 6 files into" in again.err
    assert {path.relative_to(folder) for path in folder.rglob("*.json")} == first


@pytest.mark.slow
@pytest.mark.parametrize("target", ["every-eval-ever", "hf-eval-results"])
def test_a_ranking_that_is_named_twice_is_exported_once(
    podium: Podium, example: Path, tmp_path: Path, target: str
) -> None:
    ranking, again = tmp_path / "ranking.json", tmp_path / "." / "x" / ".." / "ranking.json"
    (tmp_path / "x").mkdir()
    podium("rank", example, "-o", ranking)
    done = podium(
        "export", ranking, again, "--to", target, "--dataset", "a/b", "-o", tmp_path / "out"
    )
    assert (done.code, "wrote 6 files into" in done.err) == (0, True), done.err


@pytest.mark.slow
def test_what_cannot_be_exported_is_said(podium: Podium, example: Path, tmp_path: Path) -> None:
    ranking = tmp_path / "ranking.json"
    podium("rank", example, "-o", ranking)
    no_dataset = podium("export", ranking, "--to", "hf-eval-results", "-o", tmp_path / "out")
    assert (no_dataset.code, "name the benchmark's dataset" in no_dataset.err) == (2, True)
    for option, value, say in (
        ("--dataset", "gsm8k", "'gsm8k': write ORG/NAME"),
        ("--dataset", "openai/", "'openai/': write ORG/NAME"),
        ("--source-url", "example.org/x", "'example.org/x': write a web address"),
        ("--source-url", "https://", "'https://': write a web address"),
    ):
        given = {"--dataset": "a/b", option: value}
        options = [word for pair in given.items() for word in pair]
        wrong = podium(
            "export", ranking, "--to", "hf-eval-results", *options, "-o", tmp_path / "out"
        )
        assert (wrong.code, say in wrong.err) == (2, True)
    no_ranking = podium("export", example, "--to", "every-eval-ever", "-o", tmp_path / "out")
    assert (no_ranking.code, f"{example}: is not a ranking" in no_ranking.err) == (1, True)
    (tmp_path / "b").mkdir()
    shutil.copy(ranking, tmp_path / "b" / "ranking.json")
    document = json.loads(ranking.read_text())
    document["rankings"][0]["models"][0]["score"] += 1
    ranking.write_text(json.dumps(document))
    twice = podium(
        "export",
        ranking,
        tmp_path / "b" / "ranking.json",
        "--to",
        "hf-eval-results",
        "--dataset",
        "a/b",
        "-o",
        tmp_path / "out",
    )
    assert (twice.code, "export one ranking at a time" in twice.err) == (2, True)
    assert not (tmp_path / "out").exists()


def test_portable_names_differ_from_reserved_ones() -> None:
    names = {
        name: portable_name(name)
        for name in ("CON", "nul.txt", "data", "Unknown", "..", "a/b", "gpt-4.1", "")
    }
    assert names == {
        "CON": "_CON",
        "nul.txt": "_nul.txt",
        "data": "_data",
        "Unknown": "_Unknown",
        "..": "_",
        "a/b": "a_b",
        "gpt-4.1": "gpt-4.1",
        "": "_",
    }
