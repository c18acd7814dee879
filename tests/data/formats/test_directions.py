"""Metrics of which lower is better: by option, by the files, and by exact name."""

import json
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from lm_eval_output import sample, write_run

import podium
from podium.data.formats.lm_eval_layout import RESULTS_NAME
from podium.data.known_metrics import (
    HELM_LOWER_IS_BETTER,
    LOWER_IS_BETTER,
    is_lower_better,
    normalize_name,
)
from podium.notices.notice_text import notice_texts

LOW = {"good": [5.0, 5.5, 6.0, 5.25], "bad": [9.0, 9.5, 9.0, 8.75]}


def table_of(scores: dict[str, list[float]] = LOW, **columns: str) -> pd.DataFrame:
    """Scores of two models on the same items, with the same text in further columns."""
    rows = []
    for model, own in scores.items():
        for k, score in enumerate(own):
            rows.append({"item": f"q{k}", "model": model, "score": score, **columns})
    return pd.DataFrame(rows)


def order_of(battles: podium.Battles) -> list[str]:
    """Models by mean score, the best first."""
    return [entry.model for entry in podium.rank(battles, "mean").standings[0].entries]


def folder_of_runs(folder: Path, metric: str, *, higher: bool | None = None) -> Path:
    """Two runs of lm-eval, whose results may say the direction of the metric."""
    for model, scores in LOW.items():
        rows = [sample(f"q{k}", {metric: own}, place=k) for k, own in enumerate(scores)]
        write_run(folder, model, {"t": rows}, higher={metric: bool(higher)})
    if higher is None:
        for path in folder.rglob("results*.json"):
            assert RESULTS_NAME.match(path.name)
            content = json.loads(path.read_text(encoding="utf-8"))
            content["higher_is_better"] = {}
            path.write_text(json.dumps(content), encoding="utf-8")
    return folder


@pytest.mark.slow
def test_with_the_option_the_lowest_score_is_first_in_rank_and_compare() -> None:
    battles = podium.read_battles(table_of(), lower_is_better=True)
    assert order_of(battles) == ["good", "bad"]
    assert order_of(podium.read_battles(table_of())) == ["bad", "good"]
    assert battles.metrics == ("score (negated)",)
    [note] = [own for own in battles.notes if own.code == "lower-is-better"]
    assert note.severity == "note"
    compared = podium.compare("good", "bad", table_of(), lower_is_better=True, require="better")
    assert compared.findings[0].difference.value == pytest.approx(3.625)
    assert compared.findings[0].scores == pytest.approx((-5.4375, -9.0625))
    assert compared.provenance["options"]["reading"]["lower_is_better"] is True


@pytest.mark.slow
def test_a_gate_follows_the_direction() -> None:
    scores = {
        "good": [0.1 + k / 1000 for k in range(30)],
        "bad": [0.4 + k / 2000 for k in range(30)],
    }
    table = table_of(scores, metric="wer")
    better = podium.compare("good", "bad", table, require=["better", "not-worse=2points"])
    assert better.gate is not None
    assert better.gate.verdict == "PASS"
    worse = podium.compare("bad", "good", table, require="better")
    assert worse.gate is not None
    assert worse.gate.verdict == "FAIL"


def test_a_matrix_is_negated_as_well(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    frame = pd.DataFrame({"item": [f"q{k}" for k in range(4)], **LOW})
    frame.to_csv(path, index=False)
    assert order_of(podium.read_battles(path, lower_is_better=True)) == ["good", "bad"]


def test_a_judges_scores_are_negated_without_a_metric() -> None:
    battles = podium.read_battles(table_of(judge="j"), lower_is_better=True)
    assert order_of(battles) == ["good", "bad"]
    assert battles.metrics == ()
    assert [measure.is_negated for measure in battles.measures] == [True]


def test_zero_stays_zero() -> None:
    battles = podium.read_battles(table_of({"a": [0.0], "b": [1.0]}), lower_is_better=True)
    assert str(battles.table["score_a"].iloc[0]) == "0.0"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wer", "WER", "Word Error Rate", "latency-ms", "total_cost"])
def test_an_exact_name_decides_and_one_line_says_so(name: str) -> None:
    battles = podium.read_battles(table_of(metric=name))
    assert order_of(battles) == ["good", "bad"]
    assert battles.metrics == (f"{name} (negated)",)
    [text] = notice_texts(battles.notes)
    assert text.startswith(f"{name}: by its name lower is better, so scores are negated")
    assert text.endswith("lower_is_better=False leaves them as they are")
    assert order_of(podium.read_battles(table_of(metric=name), lower_is_better=False)) == [
        "bad",
        "good",
    ]


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    "name", ["accuracy", "error_flag_accuracy", "time horizon", "answer", "cost-benefit", "werx"]
)
def test_parts_of_a_name_decide_nothing(name: str) -> None:
    battles = podium.read_battles(table_of(metric=name))
    assert (order_of(battles), battles.notes) == (["bad", "good"], ())


def test_scores_that_were_negated_before_stay_as_they_are() -> None:
    negative = {model: [-own for own in scores] for model, scores in LOW.items()}
    battles = podium.read_battles(table_of(negative, metric="latency"))
    assert (order_of(battles), battles.metrics) == (["good", "bad"], ("latency",))


def test_the_name_of_the_column_of_scores_decides_too() -> None:
    table = table_of().rename(columns={"score": "Latency"})
    battles = podium.read_battles(table, columns={"score": "Latency"})
    assert (order_of(battles), battles.metrics) == (["good", "bad"], ("Latency (negated)",))


@pytest.mark.slow
def test_each_of_several_metrics_has_its_own_direction() -> None:
    both = pd.concat([table_of(metric="wer"), table_of(metric="f1")])
    ranked = podium.rank(podium.read_battles(both), "mean", by="metric")
    first = {own.slice: own.entries[0].model for own in ranked.standings}
    assert first == {"f1": "bad", "wer (negated)": "good"}
    assert order_of(podium.read_battles(both, where={"metric": "wer"})) == ["good", "bad"]


def test_the_converted_table_keeps_the_direction(tmp_path: Path) -> None:
    battles = podium.read_battles(table_of(), lower_is_better=True)
    battles.to_frame().to_csv(tmp_path / "battles.csv", index=False)
    again = podium.read_battles(tmp_path / "battles.csv")
    assert (order_of(again), again.metrics) == (["good", "bad"], ("score (negated)",))


def test_a_direction_for_verdicts_is_an_error() -> None:
    verdicts = pd.DataFrame([{"item": "q", "model_a": "a", "model_b": "b", "credit": 1.0}])
    with pytest.raises(podium.UsageError, match="for scores of single responses"):
        podium.read_battles(verdicts, lower_is_better=True)


@pytest.mark.slow
@pytest.mark.parametrize("higher", [True, False])
def test_the_option_against_the_results_is_an_error_or_accepted_by_name(
    tmp_path: Path, higher: bool
) -> None:
    folder = folder_of_runs(tmp_path, "acc", higher=higher)
    said = "bad" if higher else "good"
    assert order_of(podium.read_battles(folder, lower_is_better=not higher))[0] == said
    with pytest.raises(podium.DataError, match=r"samples_t_.*allow='direction'"):
        podium.read_battles(folder, lower_is_better=higher)
    battles = podium.read_battles(folder, lower_is_better=higher, allow="direction")
    assert order_of(battles)[0] != said
    assert "direction" in podium.rank(battles, "mean").standings[0].answer[-1]
    assert [own.code for own in battles.notes] == ["accepted", *(["lower-is-better"] * higher)]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("metric", "lower", "first"),
    [("wer", None, "good"), ("q", None, "bad"), ("q", True, "good"), ("wer", False, "bad")],
)
def test_where_lm_eval_says_nothing_the_option_and_then_the_name_decide(
    tmp_path: Path, metric: str, lower: bool | None, first: str
) -> None:
    folder = folder_of_runs(tmp_path, metric)
    battles = podium.read_battles(folder, lower_is_better=lower)
    assert order_of(battles)[0] == first
    is_unknown = (metric, lower) == ("q", None)
    assert ("metric-direction" in [own.code for own in battles.notes]) == is_unknown


@pytest.mark.slow
def test_helms_own_list_decides_for_helm_only(tmp_path: Path) -> None:
    for model, scores in LOW.items():
        place = tmp_path / f"task:model={model}"
        place.mkdir()
        stats = [
            {
                "instance_id": f"id{k}",
                "train_trial_index": 0,
                "stats": [
                    {"name": {"name": "toxic_frac", "split": "test"}, "count": 1, "mean": own}
                ],
            }
            for k, own in enumerate(scores)
        ]
        (place / "per_instance_stats.json").write_text(json.dumps(stats), encoding="utf-8")
        (place / "stats.json").write_text("[]", encoding="utf-8")
        spec = {"name": place.name, "adapter_spec": {"model": model}}
        (place / "run_spec.json").write_text(json.dumps(spec), encoding="utf-8")
    battles = podium.read_battles(tmp_path)
    assert order_of(battles) == ["good", "bad"]
    codes = [own.code for own in battles.notes]
    assert "lower-is-better-by-name" in codes
    assert "metric-direction" not in codes
    assert order_of(podium.read_battles(tmp_path, lower_is_better=False)) == ["bad", "good"]
    assert order_of(podium.read_battles(table_of(metric="toxic_frac"))) == ["bad", "good"]


def test_no_two_names_of_a_list_are_one_name() -> None:
    for names in (LOWER_IS_BETTER, HELM_LOWER_IS_BETTER):
        bare = sorted(map(normalize_name, names))
        assert all(one != other for one, other in pairwise(bare))
    assert is_lower_better("Perplexity")
    assert not is_lower_better("edit_similarity", HELM_LOWER_IS_BETTER)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    ("metric", "low", "high"),
    [("WER", 1.24, 2.25), ("MSE", 0.4, 8.5), ("mean-squared error", 1, 2)],
)
def test_public_tables_that_put_the_worst_first(metric: str, low: float, high: float) -> None:
    """huggingface/paperswithcode-feedback #37 (WER), TwoRavens/TwoRavens #360 (MSE)."""
    scores = {"best": [low + k / 10 for k in range(8)], "worst": [high + k / 10 for k in range(8)]}
    assert order_of(podium.read_battles(table_of(scores, metric=metric))) == ["best", "worst"]
