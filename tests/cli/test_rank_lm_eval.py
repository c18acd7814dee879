"""podium rank and podium convert on lm-eval's output folders, as users type them."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lm_eval_output import TIME, sample, scored, write_run

Podium = Callable[..., Any]
RIGHT = {
    "org/a": [1.0] * 30 + [0.0] * 10,
    "org/b": [1.0] * 20 + [0.0] * 20,
    "org/c": [0.0] * 20 + [1.0] * 20,
}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Three models on forty documents: their accuracies are 0.75, 0.5 and 0.5; a differs from
    another on each."""
    for name, values in RIGHT.items():
        write_run(tmp_path / "out", name, {"t": scored(values)})
    return tmp_path / "out"


def test_a_folder_is_ranked_by_its_accuracy_with_intervals(podium: Podium, out: Path) -> None:
    answer = podium("rank", f"{out}/", "--ranker", "bradley-terry,mean", "--format", "json")
    first, second = json.loads(answer.out)["rankings"]
    assert answer.code == 0
    assert first["models"][0]["model"] == "org/a"
    assert all(one["low"] < one["score"] < one["high"] for one in first["models"])
    assert {one["model"]: one["score"] for one in second["models"]} == {
        "org/a": 0.75,
        "org/b": 0.5,
        "org/c": 0.5,
    }


def test_the_number_of_informative_items_stands_under_the_table(
    podium: Podium, tmp_path: Path
) -> None:
    for name, values in (("a", [1.0, 1.0, 0.0]), ("b", [1.0, 0.0, 0.0])):
        write_run(tmp_path, name, {"t": scored(values)})
    answer = podium("rank", tmp_path, "--ranker", "win-rate")
    assert (
        "3 items, 3 battles decided by scores, 0 missing\ninformative items: 1 of 3 " in answer.out
    )


def test_the_number_of_informative_items_is_in_the_json(podium: Podium, out: Path) -> None:
    answer = podium("rank", out, "--format", "json")
    assert json.loads(answer.out)["rankings"][0]["diagnostics"]["informative_items"] == 40


def test_informative_items_are_omitted_without_ties(podium: Podium, table: Any) -> None:
    answer = podium("rank", table("i,a,b,1", "j,a,b,0"), "--ranker", "win-rate")
    assert "informative" not in answer.out


def test_labels_name_the_folders(podium: Podium, out: Path) -> None:
    answer = podium(
        "rank", f"x={out}/org__a", f"y={out}/org__b", "--ranker", "mean", "--format", "csv"
    )
    assert [row["model"] for row in csv.DictReader(answer.out.splitlines())] == ["x", "y"]


@pytest.mark.slow
def test_tasks_are_ranked_one_by_one(podium: Podium, out: Path) -> None:
    for name, values in RIGHT.items():
        write_run(
            out, name, {"u": scored([1 - value for value in values])}, time="2026-03-01T00-00-00"
        )
    answer = podium("rank", out, "--by", "task", "--ranker", "mean", "--format", "json")
    rankings = json.loads(answer.out)["rankings"]
    assert [(one["slice"], one["models"][-1]["model"] == "org/a") for one in rankings] == [
        ("t", False),
        ("u", True),
    ]


def test_the_first_metric_is_ranked_and_one_line_names_the_others(
    podium: Podium, tmp_path: Path
) -> None:
    for name, x, y in (("a", 1.0, 0.25), ("b", 0.0, 0.5)):
        rows = [sample(f"q{k}", {"acc": x, "f1": y}, place=k) for k in range(9)]
        write_run(tmp_path, name, {"t": rows})
    answer = podium("rank", tmp_path, "--format", "json")
    ranking = json.loads(answer.out)
    [one] = ranking["rankings"]
    assert (answer.code, one["models"][0]["model"]) == (0, "a")
    assert ranking["provenance"]["metrics"] == ["acc,none"]
    [text] = [each["text"] for each in one["warnings"] if each["code"] == "other-metrics"]
    assert "--metric NAME takes another (f1,none)" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "order",
    [
        (("exact_match", "strict-match"), ("exact_match", "flexible-extract")),
        (("n_chars", "none"), ("exact", "none")),
        (("acc_norm", "none"), ("acc", "none")),
    ],
)
def test_the_first_metric_is_that_of_the_table_which_lm_eval_prints(
    podium: Podium, tmp_path: Path, order: Any
) -> None:
    utils = pytest.importorskip("lm_eval.utils")
    for model, right in (("a", 1.0), ("b", 0.0)):
        rows = []
        for place in range(9):
            for (metric, of_filter), value in zip(order, (right, 1.0 - right), strict=True):
                rows.append(sample(f"q{place}", {metric: value}, filter_=of_filter, place=place))
        folder = write_run(tmp_path, model, {"t": rows})
    [results] = [json.loads(path.read_text()) for path in folder.glob("results*.json")]
    table = utils.make_table({**results, "n-shot": {}})
    cells = [cell.strip() for cell in table.splitlines()[2].split("|")]
    shown = f"{cells[5]},{cells[3]}"
    ranking = json.loads(podium("rank", tmp_path, "--format", "json").out)
    assert ranking["provenance"]["metrics"] == [shown]
    assert ranking["rankings"][0]["models"][0]["model"] == "b"


@pytest.mark.slow
def test_each_metric_can_be_ranked(podium: Podium, tmp_path: Path) -> None:
    for name, x, y in (("a", 1.0, 0.25), ("b", 0.0, 0.5)):
        rows = [sample(f"q{k}", {"acc": x, "f1": y}, place=k) for k in range(3)]
        write_run(tmp_path, name, {"t": rows})
    answer = podium(
        "rank",
        tmp_path,
        "--metric",
        "all",
        "--by",
        "metric",
        "--ranker",
        "mean",
        "--format",
        "json",
    )
    tops = {one["slice"]: one["models"][0]["model"] for one in json.loads(answer.out)["rankings"]}
    assert tops == {"acc,none": "a", "f1,none": "b"}


def test_an_unknown_metric_ends_with_2(podium: Podium, out: Path) -> None:
    answer = podium("rank", out, "--metric", "bleu")
    assert (answer.code, "there are: acc,none (t)" in answer.err) == (2, True)


def test_a_metric_on_other_files_ends_with_2(podium: Podium, table: Any) -> None:
    answer = podium("rank", table("i,a,b,1"), "--metric", "acc")
    assert (answer.code, "no lm-eval samples in" in answer.err) == (2, True)


def test_run_without_samples_is_reported_and_exits_with_3(podium: Podium, out: Path) -> None:
    write_run(out, "org/d", {"t": scored([1.0])}, samples=False)
    answer = podium("rank", out, "--ranker", "mean", "--format", "csv")
    assert answer.code == 3
    assert len(answer.out.splitlines()) == 4
    assert "podium: warning: org/d has no samples beside" in answer.err


def test_folders_without_samples_end_with_1(podium: Podium, tmp_path: Path) -> None:
    write_run(tmp_path, "a", {"t": scored([1.0])}, samples=False)
    answer = podium("rank", tmp_path)
    assert (answer.code, "run lm_eval with --log_samples" in answer.err) == (1, True)


def test_a_cut_line_ends_with_3_and_is_missing_in_the_counts(podium: Podium, out: Path) -> None:
    path = out / "org__c" / f"samples_t_{TIME}.jsonl"
    path.write_text(path.read_text()[:-9])
    answer = podium("rank", out, "--format", "json")
    counts = json.loads(answer.out)["rankings"][0]["counts"]
    assert (answer.code, counts["battles"], counts["missing"]) == (3, 118, 2)
    assert f"{path}, line 40: cut off" in answer.err


@pytest.mark.slow
def test_model_run_twice_is_reported_and_exits_with_0(podium: Podium, out: Path) -> None:
    write_run(out, "org/a", {"t": scored([0.0] * 40)}, time="2026-03-01T00-00-00")
    answer = podium("rank", out, "--ranker", "mean", "--format", "csv")
    assert answer.code == 0
    assert list(csv.DictReader(answer.out.splitlines()))[-1]["model"] == "org/a"
    assert "org/a was run 2 times on t: the newest counts" in answer.err


@pytest.mark.slow
def test_a_run_with_a_limit_does_not_displace_the_whole_run(podium: Podium, out: Path) -> None:
    folder = write_run(out, "org/a", {"t": scored([0.0] * 8)}, time="2026-03-01T00-00-00")
    path = folder / "results_2026-03-01T00-00-00.json"
    results = json.loads(path.read_text())
    results["n-samples"]["t"] = {"original": 40, "effective": 8}
    results["config"]["limit"] = 8
    path.write_text(json.dumps(results))
    answer = podium("rank", out, "--ranker", "mean", "--format", "csv")
    assert float(next(csv.DictReader(answer.out.splitlines()))["score"]) == 0.75
    told = "org/a was run 2 times on t: the one on all items (the newest has 8) counts"
    assert told in answer.err
    assert len(answer.err.splitlines()) == 1


@pytest.mark.slow
def test_means_over_few_items_are_flagged(podium: Podium, tmp_path: Path) -> None:
    for name, values in (("a", [1.0] * 9), ("b", [1.0, 0.0] * 20), ("c", [0.0, 1.0] * 20)):
        write_run(tmp_path, name, {"t": scored(values)})
    answer = podium("rank", tmp_path, "--format", "json")
    [ranking] = json.loads(answer.out)["rankings"]
    [check] = [check for check in ranking["checks"] if check["code"] == "same-items"]
    assert (check["result"], check["number"], check["models"]) == ("flagged", 9 / 40, ["a"])
    assert any("a is scored on 9 of 40 items" in line for line in ranking["answer"])
    by_pairs = podium("rank", tmp_path, "--ranker", "win-rate", "--format", "json")
    checks = json.loads(by_pairs.out)["rankings"][0]["checks"]
    assert all(check["code"] != "same-items" for check in checks)


@pytest.mark.slow
def test_a_name_without_settings_finds_the_only_model_that_has_them(
    podium: Podium, tmp_path: Path
) -> None:
    """Both were run twice on t, with two temperatures, and once on u."""
    for name, values in (("org/a", [1.0] * 9), ("org/b", [0.0] * 9)):
        for month, heat in ((1, 0), (2, 1)):
            tasks = {task: scored(values) for task in ("t" if heat else "tu")}
            time = f"2026-0{month}-01T00-00-00"
            write_run(tmp_path, name, tasks, time=time, generation={"temperature": heat})
    answer = podium("compare", "org/a", "b (temperature=0)", tmp_path, "--where", "task=u")
    assert (answer.code, "org/a (temperature=0)" in answer.out) == (0, True)
    several = podium("compare", "org/a", "org/b", tmp_path, "--where", "task=t")
    assert several.code == 2
    assert "may be each of org/b (temperature=0), org/b (temperature=1)" in several.err


def test_runs_without_a_metric_name_the_folder_of_their_tournaments(
    podium: Podium, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        write_run(tmp_path / "out", name, {"t": scored([None] * 9, "bypass")})
    judging = f"`inspect eval podium/round_robin -T responses={tmp_path / 'out'} --model-role"
    assert judging in podium("rank", tmp_path / "out").err
    (tmp_path / "out.podium").mkdir()
    (tmp_path / "out.podium" / "pin.json").write_text("{}")
    assert judging in podium("rank", tmp_path / "out").err
    (tmp_path / "out.podium" / "tournament.eval").touch()
    answer = podium("rank", tmp_path / "out")
    assert answer.code == 1
    assert f"`podium rank {tmp_path}/out.podium`" in answer.err


def test_scores_without_a_judge_need_no_plan_of_calls(podium: Podium, out: Path) -> None:
    """Two of three models differ on 10, 30 and 40 of the forty documents."""
    answer = podium("plan", out, "--items", "500")
    assert (answer.code, answer.out) == (2, "")
    assert "scores (acc,none) that no judge gave" in answer.err
    assert "`podium plan --difference 2points --disagree 0.67` (t)" in answer.err


def test_a_task_without_numbers_is_named_and_changes_no_exit_code(
    podium: Podium, out: Path
) -> None:
    for name in RIGHT:
        write_run(out, name, {"u": scored([None] * 5, "bypass")}, time="2026-03-01T00-00-00")
    answer = podium("rank", out)
    assert answer.code == 0
    assert "1 task is left out, having no number per document: bypass" in answer.err


@pytest.mark.slow
def test_a_label_for_runs_with_other_settings_is_a_warning(podium: Podium, tmp_path: Path) -> None:
    """The newest run counts on each task, so that one label would mix two settings in silence."""
    for time, heat in (("2026-01-01T00-00-00", 0), ("2026-03-01T00-00-00", 1)):
        write_run(
            tmp_path, "a", {"t": scored([1.0] * 9)}, time=time, generation={"temperature": heat}
        )
    write_run(tmp_path, "b", {"t": scored([0.0] * 9)}, generation={"temperature": 0})
    labelled = podium("rank", f"x={tmp_path}/a", f"y={tmp_path}/b")
    told = "podium: warning: runs labelled x differ in temperature 0 or 1"
    assert told in labelled.err
    assert "labelled y" not in labelled.err
    assert "labelled" not in podium("rank", tmp_path).err


@pytest.mark.slow
def test_tasks_are_called_tasks(podium: Podium, out: Path) -> None:
    for name, values in RIGHT.items():
        write_run(out, name, {"u": scored(values)}, time="2026-03-01T00-00-00")
    answer = podium("rank", out, "--by", "task")
    assert "On t: no place is certain" in answer.out
    assert "in the other task" in answer.out
    assert "slices" not in answer.out


def test_other_documents_under_the_name_of_the_task_end_with_1(podium: Podium, out: Path) -> None:
    write_run(out, "org/d", {"t": [sample(f"other {k}", {"acc": 1.0}, place=k) for k in range(40)]})
    answer = podium("rank", out, "--format", "json")
    assert (answer.code, answer.out) == (1, "")
    assert "org/d has another input" in answer.err
    assert "('other 0') than in " in answer.err
    assert "the runs of t share no input" in answer.err
    assert "accept it with --allow questions" in answer.err


def test_other_documents_that_are_accepted_are_compared_by_their_places(
    podium: Podium, out: Path
) -> None:
    write_run(out, "org/d", {"t": [sample(f"other {k}", {"acc": 1.0}, place=k) for k in range(40)]})
    answer = podium("rank", out, "--allow", "questions", "--format", "json")
    ranking = json.loads(answer.out)["rankings"][0]
    assert (answer.code, ranking["counts"]["items"]) == (0, 40)
    assert ranking["models"][0]["model"] == "org/d"
    assert "Accepted with --allow questions: org/d has another input" in ranking["answer"][-1]


@pytest.mark.slow
def test_battles_are_written_as_a_table_that_ranks_the_same(
    podium: Podium, out: Path, tmp_path: Path
) -> None:
    target = tmp_path / "battles.csv"
    assert podium("convert", out, "-o", target).code == 0
    ranked = (
        "--ranker",
        "bradley-terry",
        "--format",
        "csv",
    )  # by default, scores are ranked by their means
    direct, again = (podium("rank", one, *ranked).out for one in (out, target))
    assert direct == again


def test_battles_of_damaged_samples_are_written_and_end_with_3(
    podium: Podium, out: Path, tmp_path: Path
) -> None:
    path = out / "org__c" / f"samples_t_{TIME}.jsonl"
    path.write_text(path.read_text()[:-9])
    answer = podium("convert", out, "-o", tmp_path / "battles.csv")
    assert (answer.code, "line 40: cut off" in answer.err) == (3, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "compare org/a org/b",
        "diagnose",
        "label --number 9",
        "replay --tournament round_robin",
        "replay --seeds 2",
    ],
)
def test_every_command_names_a_cut_line_and_ends_with_3(
    podium: Podium, out: Path, command: str
) -> None:
    path = out / "org__c" / f"samples_t_{TIME}.jsonl"
    path.write_text(path.read_text()[:-9])
    name, *options = command.split()
    options += (
        [] if name != "replay" or "--tournament" in options else ["--tournament", "round_robin"]
    )
    answer = podium(name, *options, out)
    assert (answer.code, "line 40: cut off" in answer.err) == (3, True)


@pytest.mark.parametrize("line", [4, 40])
@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (b'"nested": ' + b"[" * 1000 + b"]" * 1000, "nested too deeply"),
        (b'"latin-1": "\xe9t\xe9"', "not UTF-8 text. Remedy: convert the file to UTF-8"),
    ],
)
def test_a_line_that_is_whole_is_not_called_cut_off(
    podium: Podium, out: Path, line: int, damage: bytes, problem: str
) -> None:
    path = out / "org__c" / f"samples_t_{TIME}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[line - 1] = b"{" + damage + b", " + lines[line - 1][1:]
    path.write_bytes(b"".join(lines))
    for command in ("rank", "diagnose"):
        answer = podium(command, out)
        assert (answer.code, f"{path}, line {line}: {problem}" in answer.err) == (1, True)
        assert answer.err.count("\n") == 1


def test_a_number_of_more_digits_than_any_float_is_no_metric(podium: Podium, out: Path) -> None:
    path = out / "org__c" / f"samples_t_{TIME}.jsonl"
    path.write_text(path.read_text().replace('"acc": 1.0', f'"acc": {"1" * 399}'))
    answer = podium("rank", out)
    assert (answer.code, "it is not a number (1111" in answer.err, len(answer.err) < 500) == (
        1,
        True,
        True,
    )


@pytest.mark.slow
def test_the_order_of_folders_changes_nothing(podium: Podium, out: Path) -> None:
    folders = [out / name.replace("/", "__") for name in RIGHT]
    forth, back = (
        podium("rank", *some, "--format", "csv").out for some in (folders, folders[::-1])
    )
    assert forth == back


@pytest.mark.slow
def test_six_tables_of_tasks_are_shown_and_json_has_all(podium: Podium, tmp_path: Path) -> None:
    for name, values in RIGHT.items():
        tasks = {f"task{k}": scored(values) for k in range(8)}
        write_run(tmp_path, name, tasks)
    answer = podium("rank", tmp_path)
    assert answer.code == 0
    assert answer.out.count("mean [task") == 6
    assert "2 of 8 tables are not shown: --by task shows all, --format json has all" in answer.err
    assert podium("rank", tmp_path, "--by", "task").out.count("mean [task") == 8
    assert len(json.loads(podium("rank", tmp_path, "--format", "json").out)["rankings"]) == 8


def write_group(out: Path, *, by_size: bool) -> None:
    """Write the runs of two models on a group of two tasks, of 10 and 30 documents."""
    for model, in_small, in_large in (("a", 9, 3), ("b", 1, 15)):
        tasks = {
            "small": scored([1.0] * in_small + [0.0] * (10 - in_small)),
            "large": scored([1.0] * in_large + [0.0] * (30 - in_large)),
        }
        folder = write_run(out, model, tasks)
        [path] = folder.glob("results_*.json")
        results = json.loads(path.read_text())
        figures = in_small / 10, in_large / 30
        figure = (in_small + in_large) / 40 if by_size else sum(figures) / 2
        results["results"]["both"] = {"acc,none": figure, "alias": "both"}
        results["group_subtasks"] = {"both": ["small", "large"]}
        results["n-samples"] = {
            "small": {"original": 10, "effective": 10},
            "large": {"original": 30, "effective": 30},
        }
        path.write_text(json.dumps(results))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("by_size", "scores"), [(True, {"a": 0.3, "b": 0.4}), (False, {"a": 0.5, "b": 0.3})]
)
def test_a_group_is_one_table_with_the_figures_of_lm_eval(
    podium: Podium, tmp_path: Path, by_size: bool, scores: dict[str, float]
) -> None:
    write_group(tmp_path, by_size=by_size)
    answer = podium("rank", tmp_path, "--format", "json")
    [one] = json.loads(answer.out)["rankings"]
    found = {row["model"]: row["score"] for row in one["models"]}
    assert found == pytest.approx(scores)


@pytest.mark.slow
def test_a_group_whose_figure_is_no_mean_is_ranked_by_task(podium: Podium, tmp_path: Path) -> None:
    write_group(tmp_path, by_size=True)
    for path in tmp_path.rglob("results_*.json"):
        results = json.loads(path.read_text())
        results["results"]["both"]["acc,none"] = 0.123
        path.write_text(json.dumps(results))
    answer = podium("rank", tmp_path, "--format", "json")
    rankings = json.loads(answer.out)["rankings"]
    assert [one["slice"] for one in rankings] == ["large", "small"]
    codes = {each["code"] for one in rankings for each in one["warnings"]}
    assert "group-apart" in codes


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"group_subtasks": {"both": 5}},
        {"group_subtasks": {"both": [["small"], "large"]}},
        {"n-samples": {"small": {"effective": 0}, "large": {"effective": 0}}},
    ],
)
def test_damaged_groups_are_ranked_by_task(
    podium: Podium, tmp_path: Path, change: dict[str, object]
) -> None:
    write_group(tmp_path, by_size=True)
    for path in tmp_path.rglob("results_*.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | change))
    answer = podium("rank", tmp_path, "--format", "json")
    assert answer.code == 0
    rankings = json.loads(answer.out)["rankings"]
    assert [one["slice"] for one in rankings] == ["large", "small"]


@pytest.mark.slow
def test_nothing_is_said_to_be_judged_where_no_judge_is(podium: Podium, tmp_path: Path) -> None:
    write_run(tmp_path, "a", {"t": scored([1.0, 1.0, 0.0, None])})
    write_run(tmp_path, "b", {"t": scored([1.0, 0.0, 0.0, 1.0])})
    answer = podium("rank", tmp_path)
    assert "3 battles decided by scores, 1 missing\n" in answer.out
    assert "judg" not in answer.out
    counts = json.loads(podium("rank", tmp_path, "--format", "json").out)["rankings"][0]["counts"]
    assert counts["battles"] == 3
    assert "by_scores" not in counts
