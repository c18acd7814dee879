"""A metric of an eval is a metric, never a judge."""

from pathlib import Path

import pandas as pd
import pytest
from lm_eval_output import sample, write_run

import podium
from podium.data.measure import Measure

ODD_NAMES = ("a b", "org/模型: 7|x", "exact match|strict", "acc (negated)", "judge")


@pytest.fixture
def two_metrics(tmp_path: Path) -> Path:
    """Two models with two metrics on one task."""
    for name, x, y in (("a", 1.0, 0.25), ("b", 0.0, 0.5)):
        rows = [sample(f"q{k}", {"acc": x, "f1": y}, place=k) for k in range(4)]
        write_run(tmp_path, name, {"t": rows})
    return tmp_path


@pytest.mark.slow
def test_scores_of_several_metrics_are_never_ranked_together(two_metrics: Path) -> None:
    battles = podium.read_battles(two_metrics, metric="all")
    assert (battles.metrics, battles.judges) == (("acc,none", "f1,none"), ())
    for pool in (False, True):
        with pytest.raises(podium.NotIdentifiedError, match=r"scores of 2 metrics .*by='metric'"):
            podium.rank(battles, "mean", pool=pool)


def test_a_metric_is_known_with_task_and_filter(two_metrics: Path) -> None:
    battles = podium.read_battles(two_metrics, metric="acc")
    assert battles.measures == (Measure("acc", "t", filter="none", higher_is_better=True),)
    assert battles.measure_of("acc,none") == battles.measures[0]
    assert battles.measure_of("f1,none") is None


@pytest.mark.parametrize(
    ("measure", "name", "other_names"),
    [
        (Measure("acc", "t", filter="none"), "acc,none", {"acc"}),
        (
            Measure("wer", "t", filter="none", higher_is_better=False),
            "wer,none (negated)",
            {"wer,none", "wer"},
        ),
        (
            Measure("ppl", "t", filter="none", higher_is_better=False, unit="log-likelihood"),
            "ppl,none (log-likelihood)",
            {"ppl,none", "ppl"},
        ),
        (Measure("", "quiz", "match", task_is_named=True), "quiz match", {"match"}),
        (Measure("f 1", "quiz", "qa", task_is_named=True), "quiz qa f 1", {"qa f 1", "f 1"}),
    ],
)
def test_a_metric_may_be_named_without_task_scorer_and_filter(
    measure: Measure, name: str, other_names: set[str]
) -> None:
    assert measure.name == name
    assert measure.names == {name} | other_names


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_metric_keeps_its_name_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    for model, value in (("a", 1.0), ("b", 0.0)):
        rows = [sample(f"q{k}", {name: value}, place=k) for k in range(4)]
        write_run(tmp_path, model, {"t": rows})
    battles = podium.read_battles(tmp_path)
    assert battles.metrics == (f"{name},none",)
    [standings] = podium.rank(battles, "mean").standings
    assert [(entry.model, entry.score) for entry in standings.entries] == [("a", 1.0), ("b", 0.0)]


@pytest.mark.slow
def test_scores_in_a_table_with_several_metrics_are_paired_metric_by_metric() -> None:
    rows = [
        {"item": f"q{k}", "model": model, "metric": metric, "score": score}
        for k in range(10)
        for metric, scores in (("style", {"a": 1.0, "b": 0.0}), ("facts", {"a": 2.0, "b": 5.0}))
        for model, score in scores.items()
    ]
    battles = podium.read_battles(pd.DataFrame(rows))
    ranked = podium.rank(battles, "mean", by="metric")
    best = {own.slice: own.entries[0].model for own in ranked.standings}
    assert best == {"facts": "b", "style": "a"}
    compared = podium.compare(battles, "b", "a")
    found = {finding.metric: finding.difference.value for finding in compared.findings}
    assert found == {"style": -1.0, "facts": 3.0}
    assert {finding.judge for finding in compared.findings} == {None}


def test_verdicts_on_several_metrics_are_no_repeats_and_no_orders_of_each_other() -> None:
    rows = [
        {"item": f"q{k}", "model_a": "a", "model_b": "b", "metric": metric, "credit": credit}
        for k in range(10)
        for metric, credit in (("style", 1.0), ("facts", 0.0))
    ]
    rows = [{**row, "order": order} for row in rows for order in ("ab", "ba")]
    battles = podium.read_battles(pd.DataFrame(rows))
    assert (len(battles), battles.swaps().same) == (20, 20)
