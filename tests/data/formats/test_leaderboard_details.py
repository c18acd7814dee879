"""Published results by item: HELM, lmms-eval, Open LLM Leaderboard; fields as their own writers
name them.

HELM: src/helm/benchmark/metrics/metric.py (PerInstanceStats), statistic.py (Stat), runner.py, which
leaves out fields that are None. lmms-eval: lmms_eval/loggers/evaluation_tracker.py. Open LLM
Leaderboard: the cards of the data sets `open-llm-leaderboard/*-details` and
`open-llm-leaderboard-old/details_*`.
"""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import podium
from podium.comparison.inputs import NO_ANSWERS
from podium.errors import DataError, NotIdentifiedError, PodiumError
from podium.notices.notice_text import notice_texts

SOLVED = {
    "lab/ash": [1, 1, 0, 1, 0, 1, 1, 1],
    "lab/elm": [1, 0, 0, 1, 0, 1, 0, 1],
    "lab/fir": [0, 0, 0, 1, 0, 1, 0, 0],
}
MEANS = {name: np.mean(row) for name, row in SOLVED.items()}


def means_of(*places, **options):
    """Return the mean score of each model, by which scores are ranked unless a ranker is named."""
    ranking = podium.rank(podium.read_battles(*places, **options))
    assert ranking.standings[0].ranker == "mean"
    assert "the three models" in ranking.standings[0].answer[0]
    return {each.model: each.score for each in ranking.standings[0].entries}


def write_helm(folder, model, solved, *, spec=True):
    """Write a run of HELM, with a statistic of a perturbed instance and one that is no score."""

    def stat(name, mean, **more):
        return {
            "name": {"name": name, "split": "test", **more},
            "count": 1,
            "sum": mean,
            "mean": mean,
        }

    run = f"mmlu:subject=logic,method=joint,model={model.replace('/', '_')}"
    place = folder / run
    place.mkdir(parents=True)
    noisy = {"name": "robustness", "robustness": True}
    rows = [
        {
            "instance_id": f"id{k}",
            "train_trial_index": 0,
            "stats": [stat("exact_match", own), stat("num_references", 4)],
        }
        for k, own in enumerate(solved)
    ]
    rows.append(
        {
            "instance_id": "id0",
            "train_trial_index": 0,
            "perturbation": noisy,
            "stats": [stat("exact_match", 0)],
        }
    )
    rows[1]["stats"].append(stat("exact_match", 0, perturbation=noisy))
    (place / "per_instance_stats.json").write_text(json.dumps(rows))
    (place / "stats.json").write_text("[]")
    if spec:
        (place / "run_spec.json").write_text(
            json.dumps({"name": run, "adapter_spec": {"model": model}})
        )


@pytest.mark.slow
def test_helm(tmp_path):
    for name, solved in SOLVED.items():
        write_helm(tmp_path, name, solved)
    assert means_of(tmp_path, metric="exact_match") == pytest.approx(MEANS)
    with pytest.raises(
        NotIdentifiedError, match=r"exact_match,test \| num_references,test \(mmlu:subject=logic"
    ):
        podium.read_battles(tmp_path)


def test_a_run_of_helm_without_its_specification_is_named_by_its_folder(tmp_path):
    for name, solved in SOLVED.items():
        write_helm(tmp_path, name, solved, spec=False)
    named = {name.replace("/", "_"): mean for name, mean in MEANS.items()}
    assert means_of(tmp_path, metric="exact_match") == pytest.approx(named)


@pytest.mark.parametrize("content", ['{"name": ', "[1]", '{"name": 3}', '{"adapter_spec": "x"}'])
def test_a_damaged_specification_of_helm_is_named(tmp_path, content):
    for name, solved in SOLVED.items():
        write_helm(tmp_path, name, solved)
    next(tmp_path.rglob("run_spec.json")).write_text(content)
    with pytest.raises(DataError, match=r"run_spec.json.*not the description of a run of HELM"):
        podium.read_battles(tmp_path, metric="exact_match")


@pytest.mark.slow
def test_a_metric_without_a_value_is_no_unparsed_reply(tmp_path):
    for name, solved in SOLVED.items():
        write_helm(tmp_path, name, [*solved[:-1], None])
    ranking = podium.rank(podium.read_battles(tmp_path, metric="exact_match"), "mean").standings[0]
    assert "unparsed_reasons" not in ranking.diagnostics
    assert (ranking.counts.unparsed, ranking.counts.missing) == (0, 3)
    assert "replies" not in " ".join([*ranking.answer, *notice_texts(ranking.warnings)])


@pytest.mark.parametrize(
    "content", ['{"a": 1}', "[1]", '[{"instance_id": "a"}]', "[", '[{"stats": [{"mean": 1}]}]']
)
def test_a_damaged_file_of_helm_is_named(tmp_path, content):
    (tmp_path / "per_instance_stats.json").write_text(content)
    with pytest.raises(
        DataError, match=r"per_instance_stats.json.*(details of a leaderboard|JSON)"
    ):
        podium.read_battles(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["number", "record"])
def test_lmms_eval(tmp_path, shape):
    for name, solved in SOLVED.items():
        folder = tmp_path / name.replace("/", "__")
        folder.mkdir()
        rows = [
            {
                "doc_id": k,
                "target": "a",
                "filtered_resps": ["b"],
                "doc_hash": f"{k:08x}",
                "input": "Which?",
            }
            | {
                "mme_score": own
                if shape == "number"
                else {"question_id": k, "category": "ocr", "score": own}
            }
            for k, own in enumerate(solved)
        ]
        (folder / "20250115_103000_samples_mme.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows)
        )
        results = {"results": {"mme": {}}, "configs": {}, "model_name": name}
        (folder / "20250115_103000_results.json").write_text(json.dumps(results))
    assert means_of(tmp_path) == pytest.approx(MEANS)
    assert podium.read_battles(tmp_path).sources[0].endswith("20250115_103000_samples_mme.jsonl")


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("suffix", ["jsonl", "json"])
def test_the_second_open_llm_leaderboard(tmp_path, suffix):
    time = "2024-06-16T19-10-04.926831"
    for name, solved in SOLVED.items():
        folder = tmp_path / f"{name.replace('/', '__')}-details" / name.replace("/", "__")
        folder.mkdir(parents=True)
        rows = [
            {
                "doc_id": k,
                "doc": {"q": k},
                "target": "a",
                "arguments": {"gen_args_0": {"arg_0": "Which?"}},
            }
            | {"resps": [["a"]], "filtered_resps": ["a"], "doc_hash": f"{k:08x}", "acc_norm": own}
            for k, own in enumerate(solved)
        ]
        lines = (
            json.dumps(rows, indent=2)
            if suffix == "json"
            else "".join(json.dumps(row) + "\n" for row in rows)
        )
        (folder / f"samples_leaderboard_gpqa_{time}.{suffix}").write_text(lines)
    named = {name.replace("/", "__"): mean for name, mean in MEANS.items()}
    assert means_of(tmp_path) == pytest.approx(named)


def write_open_llm(tmp_path, *, nested=False):
    for name, solved in SOLVED.items():
        folder = tmp_path / f"details_{name.replace('/', '__')}" / "2023-07-19T20:31:16.803242"
        folder.mkdir(parents=True)
        frame = pd.DataFrame({"example": [f"Question {k}?" for k in range(8)], "gold": 1})
        scores = pd.DataFrame({"acc": np.array(solved, float), "acc_norm": 1.0})
        frame = frame.assign(metrics=scores.to_dict("records")) if nested else frame.join(scores)
        frame.to_parquet(
            folder / "details_harness|arc:challenge|25_2023-07-19T20:31:16.803242.parquet"
        )


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("nested", [False, True])
def test_the_first_open_llm_leaderboard(tmp_path, nested):
    write_open_llm(tmp_path, nested=nested)
    assert means_of(tmp_path, metric="acc") == pytest.approx(MEANS)


def settle(folder, model, **settings):
    """Write settings into the description of a run of HELM that `write_helm` wrote."""
    [spec] = folder.glob(f"*model={model.replace('/', '_')}/run_spec.json")
    run = json.loads(spec.read_text())
    run["adapter_spec"] |= settings
    spec.write_text(json.dumps(run))


def check_of_settings(battles):
    """Return the check of settings of a ranking."""
    checks = podium.rank(battles).standings[0].checks
    [check] = [each for each in checks if each.name == "same settings"]
    return check


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("name", "ours", "others", "text"),
    [
        ("max_train_instances", 5, 0, "shots"),
        ("instructions", "Be brief.", "", "system instruction"),
    ],
)
def test_settings_of_helm_that_differ_are_flagged(tmp_path, name, ours, others, text):
    for model, solved in SOLVED.items():
        write_helm(tmp_path, model, solved)
        settle(tmp_path, model, **{name: ours if model == "lab/ash" else others})
    battles = podium.read_battles(tmp_path, metric="exact_match")
    check = check_of_settings(battles)
    assert check.is_flagged
    assert text in str(check)


@pytest.mark.slow
def test_generation_of_helm_that_differs_is_noted(tmp_path):
    for model, solved in SOLVED.items():
        write_helm(tmp_path, model, solved)
        settle(tmp_path, model, temperature=float(model == "lab/ash"), max_tokens=len(model))
    battles = podium.read_battles(tmp_path, metric="exact_match")
    assert not check_of_settings(battles).is_flagged
    assert "temperature" in " ".join(notice_texts(battles.notes))


@pytest.mark.slow
def test_nothing_is_said_of_helm_runs_with_the_same_settings(tmp_path):
    for model, solved in SOLVED.items():
        write_helm(tmp_path, model, solved)
        settle(tmp_path, model, max_train_instances=5, temperature=0, instructions="")
    battles = podium.read_battles(tmp_path, metric="exact_match")
    assert not check_of_settings(battles).is_flagged
    said = " ".join(notice_texts(battles.notes))
    assert "run_spec.json" not in said
    assert "differ" not in said


@pytest.mark.slow
def test_helm_runs_of_a_model_that_differ_in_shots_are_two_models(tmp_path):
    for shots, solved in ((0, SOLVED["lab/fir"]), (5, SOLVED["lab/ash"])):
        write_helm(tmp_path / f"{shots}", "lab/ash", solved)
        settle(tmp_path / f"{shots}", "lab/ash", max_train_instances=shots)
    ranking = podium.rank(podium.read_battles(tmp_path, metric="exact_match"))
    names = {each.model for each in ranking.standings[0].entries}
    assert names == {"lab/ash (shots=0)", "lab/ash (shots=5)"}


def write_lighteval(folder, model, solved, metrics=("extractive_match",), task="gsm8k|0"):
    """Write a run as lighteval/logging/evaluation_tracker.py does, with the fields of `Doc`."""
    time = "2025-11-05T14-43-47.148527"
    details = folder / "details" / model / time
    details.mkdir(parents=True)
    rows = [
        {
            "doc": {
                "query": f"Question {k}?",
                "choices": ["7", str(k)],
                "gold_index": 1,
                "id": str(k),
            },
            "metric": dict.fromkeys(metrics, score) | {"bleu": {"golds": ["a"]}},
            "model_response": {"text": ["long"], "input_tokens": [[1, 2]]},
        }
        for k, score in enumerate(solved)
    ]
    pd.DataFrame(rows).to_parquet(details / f"details_{task}_{time}.parquet")
    results = folder / "results" / model
    results.mkdir(parents=True, exist_ok=True)
    summary = {"config_general": {"model_name": model}, "results": {"all": {}}, "versions": {}}
    (results / f"results_{time}.json").write_text(json.dumps(summary))


@pytest.mark.slow
def test_lighteval(tmp_path):
    for name, solved in SOLVED.items():
        write_lighteval(tmp_path, name, [float(value) for value in solved])
    assert means_of(tmp_path) == pytest.approx(MEANS)


@pytest.mark.slow
def test_several_metrics_of_lighteval_are_never_mixed(tmp_path):
    for name, solved in SOLVED.items():
        write_lighteval(tmp_path, name, solved, ("em", "f1"))
    assert podium.read_battles(tmp_path).metrics == ("em,none",)
    assert podium.read_battles(tmp_path, metric="f1").metrics == ("f1,none",)
    assert means_of(tmp_path, metric="em") == pytest.approx(MEANS)


def test_one_question_with_other_choices_is_another_item_of_lighteval(tmp_path):
    for name, solved in SOLVED.items():
        write_lighteval(tmp_path, name, solved)
    for path in tmp_path.rglob("*.parquet"):
        frame = pd.read_parquet(path)
        frame["doc"] = frame["doc"].map(lambda doc: doc | {"query": "Which is right?"})
        frame.to_parquet(path)
    assert podium.read_battles(tmp_path).counts().items == 8


@pytest.mark.slow
def test_a_missing_score_of_lighteval_is_no_zero(tmp_path):
    for name, solved in SOLVED.items():
        write_lighteval(tmp_path, name, [None, *solved[1:]] if name == "lab/ash" else solved)
    assert means_of(tmp_path)["lab/ash"] == pytest.approx(np.mean(SOLVED["lab/ash"][1:]))


def test_details_without_a_text_of_the_item_are_named(tmp_path):
    path = tmp_path / "details_logic_2023-07-18T10-00-00.000000.parquet"
    pd.DataFrame({"gold": [1, 0], "acc": [1.0, 0.0]}).to_parquet(path)
    with pytest.raises(DataError, match="no column example or question or full_prompt"):
        podium.read_battles(path)


def test_a_damaged_file_of_lighteval_is_named(tmp_path):
    write_lighteval(tmp_path, "lab/ash", [1])
    write_lighteval(tmp_path, "lab/elm", [1])
    [path, _] = sorted(tmp_path.rglob("*.parquet"))
    frame = pd.read_parquet(path)
    frame["doc"] = [None]
    frame.to_parquet(path)
    with pytest.raises(DataError, match=r"details_gsm8k.*not the details of a leaderboard"):
        podium.read_battles(tmp_path)


def test_a_row_of_lighteval_without_a_question_is_named(tmp_path):
    for name in ("lab/ash", "lab/elm"):
        write_lighteval(tmp_path, name, [1, 0])
    path = max(tmp_path.rglob("*.parquet"))
    frame = pd.read_parquet(path)
    frame["doc"] = [frame["doc"][0], frame["doc"][1] | {"query": None}]
    frame.to_parquet(path)
    with pytest.raises(DataError, match=r"details_gsm8k.*row 2 has no doc.query"):
        podium.read_battles(tmp_path)


def test_a_file_of_lighteval_without_rows_has_no_metric(tmp_path):
    """The type of the column alone says nothing of a score."""
    for name in ("lab/ash", "lab/elm"):
        write_lighteval(tmp_path, name, [1.0, 0.0])
    for path in tmp_path.rglob("*.parquet"):
        table = pq.read_table(path)
        lists = pa.array([{"extractive_match": [1.0]}] * len(table))
        table = table.set_column(table.schema.get_field_index("metric"), "metric", lists)
        pq.write_table(table.slice(0, 0), path)
    with pytest.raises(PodiumError, match="no whole row of samples, so lab/ash is missing"):
        podium.read_battles(tmp_path)


def test_metrics_of_lighteval_that_are_texts_are_named(tmp_path):
    for name in ("lab/ash", "lab/elm"):
        write_lighteval(tmp_path, name, [1.0, 0.0])
    for path in tmp_path.rglob("*.parquet"):
        frame = pd.read_parquet(path)
        frame["metric"] = [{"extractive_match": word} for word in ("yes", "no")]
        frame.to_parquet(path)
    with pytest.raises(DataError, match=r"no metric has numbers \(extractive_match is 'yes'\)"):
        podium.read_battles(tmp_path)


def write_helm_runs(folder):
    for name, solved in SOLVED.items():
        write_helm(folder, name, solved)


def write_lighteval_runs(folder):
    for name, solved in SOLVED.items():
        write_lighteval(folder, name, [float(value) for value in solved])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "metric"),
    [
        (write_helm_runs, "exact_match"),
        (write_open_llm, "acc"),
        (write_lighteval_runs, "extractive_match"),
    ],
)
def test_answers_in_details_are_not_read_as_samples_of_lm_eval(tmp_path, write, metric):
    write(tmp_path)
    found = podium.compare("lab/ash", "lab/fir", str(tmp_path), metric=metric)
    assert found.findings[0].tally == (4, 0, 4)
    assert found.unknown_answers == NO_ANSWERS
