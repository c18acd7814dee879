"""podium export: records name task, metric and direction, and have the values of the eval."""

import json
from collections.abc import Callable
from math import exp, log
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from lm_eval_output import scored, write_run

from podium.data.measure import Measure
from podium.rankers.ranking import Entry
from podium.show.report.measured_scores import entry_in_eval

Podium = Callable[..., Any]
PERPLEXITY = {"org/ash": 8.8, "org/elm": 10.2}
"""The figure that lm-eval reports of a metric of which lower is better, by model."""


@pytest.fixture
def export(podium: Podium, tmp_path: Path) -> Callable[..., dict[tuple[str, str], dict[str, Any]]]:
    """Return a way to rank sources and export the ranking for Every Eval Ever.

    It gives the records by evaluation name and model.
    """

    def run(*sources: Any, rank: Any = (), to: Any = ()) -> dict[tuple[str, str], dict[str, Any]]:
        ranking, folder = tmp_path / "rn.json", tmp_path / "eee"
        podium("rank", *sources, *rank, "-o", ranking)
        done = podium("export", ranking, "--to", "every-eval-ever", *to, "-o", folder)
        assert done.code == 0, done.err
        results = {}
        for path in folder.rglob("*.json"):
            record = json.loads(path.read_text())
            for result in record["evaluation_results"]:
                key = result["evaluation_name"], record["model_info"]["name"]
                assert key not in results
                results[key] = result | {"path": path.relative_to(folder)}
        return results

    return run


def write_folder(folder: Path, **more: Any) -> Path:
    """Write an lm-eval folder of two models: a metric of which lower is better, and accuracy."""
    for model, figure in PERPLEXITY.items():
        wiki = scored([figure - 1 + k % 3 for k in range(24)], "word_loss")
        quiz = scored([int(k % len(model) < 4) for k in range(24)], "acc")
        tasks = {"wiki": wiki, "quiz": quiz}
        write_run(folder, model, tasks, higher={"word_loss": False}, **more)
    return folder


@pytest.mark.slow
def test_a_metric_of_which_lower_is_better_has_the_value_of_the_eval(
    export: Any, tmp_path: Path
) -> None:
    results = export(write_folder(tmp_path / "runs"))
    assert set(results) == {(task, model) for task in ("wiki", "quiz") for model in PERPLEXITY}
    for model, figure in PERPLEXITY.items():
        result = results["wiki", model]
        metric, score = result["metric_config"], result["score_details"]
        assert score["score"] == pytest.approx(figure)
        assert (metric["lower_is_better"], metric["metric_name"]) == (True, "word_loss")
        assert metric["metric_id"] == "word_loss"
        interval = score["uncertainty"]["confidence_interval"]
        assert 0 < interval["lower"] < figure < interval["upper"]
        assert float(score["details"]["low"]) == interval["lower"]
        assert result["source_data"]["dataset_name"] == "wiki"
        assert result["path"].parts[:2] == ("data", "wiki")
    metric = results["quiz", "org/ash"]["metric_config"]
    assert (metric["lower_is_better"], metric["metric_name"]) == (False, "acc")
    assert metric["additional_details"]["direction"] == "higher is better"
    assert metric["metric_parameters"] == {"aggregation": "mean", "filter": "none"}


@pytest.mark.slow
def test_the_best_model_is_first_whatever_the_direction(export: Any, tmp_path: Path) -> None:
    results = export(write_folder(tmp_path / "runs"))
    ranks = {
        model: results["wiki", model]["score_details"]["details"]["rank"] for model in PERPLEXITY
    }
    assert ranks == {"org/ash": "1", "org/elm": "2"}


def test_perplexities_are_exported_and_not_log_likelihoods(export: Any, tmp_path: Path) -> None:
    for model, figure in PERPLEXITY.items():
        rows = scored([-log(figure) + (k % 3 - 1) / 10 for k in range(24)], "perplexity")
        own = {"wiki": {"perplexity,none": figure}}
        higher = {"perplexity": False}
        write_run(tmp_path / "runs", model, {"wiki": rows}, higher=higher, figures=own)
    results = export(tmp_path / "runs")
    for model, figure in PERPLEXITY.items():
        metric = results["wiki", model]["metric_config"]
        score = results["wiki", model]["score_details"]
        assert score["score"] == pytest.approx(figure)
        assert (metric["metric_name"], metric["lower_is_better"]) == ("perplexity", True)
        interval = score["uncertainty"]["confidence_interval"]
        assert interval["lower"] < figure < interval["upper"]
        error = score["uncertainty"]["standard_error"]["value"]
        half = (log(interval["upper"]) - log(interval["lower"])) / 2
        assert exp(log(figure) + half) == pytest.approx(interval["upper"])
        assert error == pytest.approx(half / 2.07 * figure, rel=0.02)


def test_ratings_by_a_metric_are_better_when_higher(export: Any, tmp_path: Path) -> None:
    rank = ("--ranker", "win-rate", "--where", "task=wiki")
    results = export(write_folder(tmp_path / "runs"), rank=rank)
    metric = results["wiki", "org/ash"]["metric_config"]
    assert (metric["metric_id"], metric["lower_is_better"]) == ("podium.win_rate", False)
    assert json.loads(metric["additional_details"]["metrics"]) == ["word_loss"]
    assert results["wiki", "org/ash"]["score_details"]["score"] > 0.5


def test_a_median_is_no_mean_of_the_eval(export: Any, tmp_path: Path) -> None:
    rank = ("--ranker", "median", "--where", "task=wiki")
    results = export(write_folder(tmp_path / "runs"), rank=rank)
    metric = results["wiki", "org/ash"]["metric_config"]
    assert (metric["metric_id"], metric["lower_is_better"]) == ("podium.median.word_loss", True)
    assert results["wiki", "org/ash"]["score_details"]["score"] == pytest.approx(8.8)


def test_a_mean_that_the_eval_does_not_report_is_said(export: Any, tmp_path: Path) -> None:
    for model in PERPLEXITY:
        rows = scored([k % 3 / 2 for k in range(24)], "f1")
        write_run(tmp_path / "runs", model, {"qa": rows}, figures={"qa": {"f1,none": 0.9}})
    metric = export(tmp_path / "runs")["qa", "org/ash"]["metric_config"]
    assert metric["metric_id"] == "podium.mean.f1"
    assert "aggregates its metric otherwise" in metric["additional_details"]["differences"]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("header", "options", "name"),
    [
        ("item,model,score", ("--lower-is-better",), "score"),
        ("item,model,wer", ("--columns", "score=wer"), "wer"),
        ("item,model,delay", ("--columns", "score=delay", "--lower-is-better"), "delay"),
    ],
)
def test_a_table_of_scores_has_its_own_values(
    export: Any, tmp_path: Path, header: str, options: tuple[str, ...], name: str
) -> None:
    table = tmp_path / "table.csv"
    rows = [f"q{k},{m},{k % 4 + v}" for k in range(20) for m, v in (("ash", 1), ("elm", 3))]
    table.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    results = export(table, rank=options, to=("--task", "speech"))
    ash, elm = (results["speech", model] for model in ("ash", "elm"))
    assert ash["metric_config"]["lower_is_better"] is True
    assert ash["metric_config"]["metric_name"] == name
    assert (ash["score_details"]["score"], elm["score_details"]["score"]) == (2.5, 4.5)
    assert ash["score_details"]["details"]["rank"] == "1"


def test_a_direction_that_nothing_says_is_not_claimed(export: Any, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    rows = [f"q{k},{k % 7},{k % 5 * 2}" for k in range(40)]
    table.write_text("\n".join(["item,ash,elm", *rows]), encoding="utf-8")
    metric = export(table)["rn", "ash"]["metric_config"]
    assert metric["additional_details"]["direction"].endswith("the source does not say")


@pytest.mark.slow
def test_a_ranking_without_a_task_has_a_note_and_takes_its_name_from_the_user(
    podium: Podium, example: Path, tmp_path: Path
) -> None:
    ranking = tmp_path / "rn.json"
    podium("rank", example, "-o", ranking)
    unnamed = podium("export", ranking, "--to", "every-eval-ever", "-o", tmp_path / "a")
    assert "does not say of which task its items are" in unnamed.err
    to = ("--to", "every-eval-ever", "--task", "chat", "-o", tmp_path / "b")
    named = podium("export", ranking, *to)
    assert "of which task" not in named.err
    [path] = (tmp_path / "b" / "data" / "chat" / "unspecified" / "amber").glob("*.json")
    [result] = json.loads(path.read_text())["evaluation_results"]
    assert result["source_data"] == {"dataset_name": "chat", "source_type": "other"}
    assert result["metric_config"]["lower_is_better"] is False


def test_a_task_that_contradicts_the_ranking_is_rejected(podium: Podium, tmp_path: Path) -> None:
    ranking = tmp_path / "rn.json"
    podium("rank", write_folder(tmp_path / "runs"), "--where", "task=wiki", "-o", ranking)
    to = ("--to", "every-eval-ever", "--task", "chat", "-o", tmp_path / "out")
    wrong = podium("export", ranking, *to)
    assert (wrong.code, "its items are of wiki: leave out --task" in wrong.err) == (2, True)


@pytest.mark.slow
def test_slices_by_category_are_parts_of_their_task(export: Any, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    rows = [
        f"q{k},{model},{k % 4 + own},quiz,{('art', 'law')[k % 2]}"
        for k in range(24)
        for model, own in (("ash", 1), ("elm", 3))
    ]
    table.write_text("\n".join(["item,model,score,task,category", *rows]), encoding="utf-8")
    results = export(table, rank=("--by", "category", "--lower-is-better"))
    assert {name for name, _ in results} == {"quiz [art]", "quiz [law]"}
    assert {result["path"].parts[1] for result in results.values()} == {"quiz"}
    scores = {key: result["score_details"]["score"] for key, result in results.items()}
    assert (scores["quiz [art]", "ash"], scores["quiz [law]", "elm"]) == (2.0, 5.0)


@pytest.mark.slow
def test_two_metrics_of_a_task_are_two_results(podium: Podium, tmp_path: Path) -> None:
    for model, figure in PERPLEXITY.items():
        rows = scored([figure + k % 3 for k in range(24)], "word_loss")
        for k, row in enumerate(rows):
            row["metrics"].append("acc")
            row["acc"] = k % 2
        write_run(tmp_path / "runs", model, {"wiki": rows}, higher={"word_loss": False})
    ranking = tmp_path / "rn.json"
    podium("rank", tmp_path / "runs", "--metric", "all", "--by", "metric", "-o", ranking)
    podium("export", ranking, "--to", "every-eval-ever", "-o", tmp_path / "out")
    [path] = (tmp_path / "out" / "data" / "wiki" / "org" / "ash").glob("*.json")
    results = {
        result["evaluation_result_id"]: result
        for result in json.loads(path.read_text())["evaluation_results"]
    }
    assert set(results) == {"mean [acc]", "mean [word_loss]"}
    assert results["mean [word_loss]"]["score_details"]["score"] == pytest.approx(9.8)
    assert {result["evaluation_name"] for result in results.values()} == {"wiki"}


def with_dataset(folder: Path, **paths: str) -> None:
    """Write the path of each task's dataset into the results files of a folder."""
    for path in folder.rglob("results_*.json"):
        content = json.loads(path.read_text())
        for task, dataset in paths.items():
            content["configs"][task]["dataset_path"] = dataset
        path.write_text(json.dumps(content))


def test_the_hub_has_the_value_of_the_eval_with_metric_and_direction(
    podium: Podium, tmp_path: Path
) -> None:
    ranking = tmp_path / "rn.json"
    podium("rank", write_folder(tmp_path / "runs"), "--where", "task=wiki", "-o", ranking)
    to = ("--to", "hf-eval-results", "--dataset", "me/wiki", "-o", tmp_path / "cards")
    assert podium("export", ranking, *to).code == 0
    path = tmp_path / "cards" / "org" / "ash" / ".eval_results" / "rn.yaml"
    [entry] = parse_eval_result_entries(yaml.safe_load(path.read_text()))
    assert entry.value == pytest.approx(8.8)
    assert entry.notes.startswith("word_loss of wiki: mean over items, by podium; lower is better")
    assert "interval 8." in entry.notes


@pytest.mark.slow
def test_the_hub_takes_datasets_from_the_runs_and_never_one_for_several_tasks(
    podium: Podium, tmp_path: Path
) -> None:
    ranking, folder = tmp_path / "rn.json", write_folder(tmp_path / "runs")
    with_dataset(folder, wiki="lab/wiki-texts", quiz="lab/quiz")
    podium("rank", folder, "-o", ranking)
    one = podium(
        "export", ranking, "--to", "hf-eval-results", "--dataset", "me/x", "-o", tmp_path / "no"
    )
    assert (one.code, "has 2 tasks (quiz, wiki)" in one.err) == (2, True)
    assert not (tmp_path / "no").exists()
    done = podium("export", ranking, "--to", "hf-eval-results", "-o", tmp_path / "cards")
    assert done.code == 0, done.err
    found = {}
    for path in (tmp_path / "cards" / "org" / "ash").rglob("*.yaml"):
        [entry] = parse_eval_result_entries(yaml.safe_load(path.read_text()))
        found[entry.dataset_id] = entry.value
    assert found == {"lab/wiki-texts": pytest.approx(8.8), "lab/quiz": pytest.approx(0.625)}


@pytest.mark.slow
@pytest.mark.parametrize("to", ["hf-eval-results", "every-eval-ever"])
def test_a_dataset_is_not_given_for_several_tasks_or_against_the_runs(
    podium: Podium, tmp_path: Path, to: str
) -> None:
    ranking, folder = tmp_path / "rn.json", write_folder(tmp_path / "runs")
    with_dataset(folder, wiki="lab/wiki-texts", quiz="lab/quiz")
    command = ("export", ranking, "--to", to, "--dataset", "me/x", "-o", tmp_path / "no")
    podium("rank", folder, "-o", ranking)
    several = podium(*command)
    assert (several.code, "has 2 tasks (quiz, wiki)" in several.err) == (2, True)
    podium("rank", folder, "--where", "task=wiki", "-o", ranking)
    other = podium(*command)
    assert other.code == 2
    assert "--dataset me/x: the runs record lab/wiki-texts; leave the option out" in other.err
    assert not (tmp_path / "no").exists()


@pytest.mark.slow
def test_without_a_dataset_of_several_tasks_the_hub_export_names_the_option_that_helps(
    podium: Podium, tmp_path: Path
) -> None:
    ranking, folder = tmp_path / "rn.json", write_folder(tmp_path / "runs")
    podium("rank", folder, "-o", ranking)
    done = podium("export", ranking, "--to", "hf-eval-results", "-o", tmp_path / "no")
    assert (done.code, "rank one with --where task=NAME" in done.err) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("to", ["hf-eval-results", "every-eval-ever"])
def test_a_perplexity_that_is_no_finite_number_is_an_error(
    podium: Podium, tmp_path: Path, to: str
) -> None:
    ranking = tmp_path / "rn.json"
    for model, mean in (("ash", -900.0), ("elm", -1200.0)):
        rows = scored([mean + k % 3 for k in range(24)], "perplexity")
        write_run(tmp_path / "runs", model, {"wiki": rows}, higher={"perplexity": False})
    for path in (tmp_path / "runs").rglob("results_*.json"):
        path.unlink()
    podium("rank", tmp_path / "runs", "--ranker", "mean", "-o", ranking)
    dataset = () if to == "every-eval-ever" else ("--dataset", "me/x")
    done = podium("export", ranking, "--to", to, *dataset, "-o", tmp_path / "no")
    assert done.code == 1
    assert "is no finite number" in done.err
    assert not (tmp_path / "no").exists()


def test_the_end_of_an_interval_that_is_no_finite_number_is_unknown() -> None:
    perplexity = Measure("perplexity", higher_is_better=False, unit="log-likelihood")
    entry = Entry("ash", 1, 1, 1, -700.0, -712.0, -690.0, 5.0, 24, None)
    shown = entry_in_eval(entry, perplexity)
    assert shown.high is None
    assert (shown.low, shown.score) == (pytest.approx(exp(690)), pytest.approx(exp(700)))


@pytest.mark.slow
def test_records_name_the_dataset_that_lm_eval_read(export: Any, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "runs")
    with_dataset(folder, wiki="lab/wiki-texts", quiz="local_folder")
    results = export(folder)
    assert results["wiki", "org/ash"]["source_data"] == {
        "dataset_name": "wiki",
        "source_type": "hf_dataset",
        "hf_repo": "lab/wiki-texts",
    }
    assert results["quiz", "org/ash"]["source_data"]["source_type"] == "other"


@pytest.mark.slow
def test_every_eval_ever_accepts_metrics_of_both_directions(
    podium: Podium, every_eval_ever: Any, tmp_path: Path
) -> None:
    ranking, folder = tmp_path / "rn.json", write_folder(tmp_path / "runs")
    with_dataset(folder, wiki="lab/wiki-texts")
    podium("rank", folder, "--ranker", "mean,median,win-rate", "-o", ranking)
    podium("export", ranking, "--to", "every-eval-ever", "-o", tmp_path / "out")
    checked = every_eval_ever("validate", "data/*/*/*/*.json", folder=tmp_path / "out")
    assert checked.returncode == 0, checked.stdout[-2000:] + checked.stderr
    assert len(list((tmp_path / "out").rglob("*.json"))) == 4
