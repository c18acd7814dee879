"""Of several metrics of a task, the one that Inspect shows first is ranked."""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, EvalMetric, EvalResults, EvalScore, HeadlineMetric
from inspect_ai.scorer import Score
from written_logs import build_log, write

import podium
from podium.errors import UsageError

ITEMS = [f"q{k}" for k in range(9)]
FIELDS = ("fluent", "right")


def log_of(
    model: str, *, fluent: float, right: float, headline: str | None = None, task: str = "quiz"
) -> EvalLog:
    """Return a log whose scorer gives two numbers to each sample, the same to all."""
    log = build_log(model, dict.fromkeys(ITEMS, (1.0,)), task=task)
    for sample in log.samples or ():
        sample.scores = {"exact": Score(value={"fluent": fluent, "right": right})}
    scores = []
    for name, value in zip(FIELDS, (fluent, right), strict=True):
        figure = EvalMetric(name="mean", value=value)
        scores.append(EvalScore(name=name, scorer="exact", metrics={"mean": figure}))
    log.results = EvalResults(scores=scores, total_samples=9, completed_samples=9)
    if headline:
        log.results.headline = HeadlineMetric(scorer="exact", score=headline, metric="mean")
    return log


def write_two(headline: str | None = None) -> Path:
    """Write logs of two models: one is more fluent, the other one more often right."""
    write(log_of("smooth", fluent=1.0, right=0.25, headline=headline))
    return write(log_of("exact", fluent=0.5, right=0.75, headline=headline))


def leader_of(folder: Path, **options: Any) -> tuple[str, tuple[str, ...]]:
    """Return the first model of the ranking by the mean, and the metrics."""
    battles = podium.read_battles(folder, **options)
    [standings] = podium.rank(battles, "mean").standings
    return standings.entries[0].model, battles.metrics


@pytest.mark.slow
def test_the_first_field_of_a_score_is_ranked():
    assert leader_of(write_two()) == ("made/smooth", ("quiz exact fluent",))


def test_the_headline_of_the_task_goes_before_the_first_field():
    assert leader_of(write_two("right")) == ("made/exact", ("quiz exact right",))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["right", "exact right", "quiz exact right"])
def test_a_metric_that_is_asked_for_is_ranked(name):
    assert leader_of(write_two(), metric=name) == ("made/exact", ("quiz exact right",))


@pytest.mark.slow
def test_a_condition_on_the_metric_chooses_among_all():
    where = {"metric": "quiz exact right"}
    assert leader_of(write_two(), where=where) == ("made/exact", ("quiz exact right",))


@pytest.mark.parametrize("asked", ["f1", ["right", "f1"]])
def test_an_unknown_metric_is_rejected_with_the_known_ones(asked):
    folder = write_two()
    with pytest.raises(UsageError, match=r"no task has the metric 'f1'; .*quiz exact fluent"):
        podium.read_battles(folder, metric=asked)


@pytest.mark.slow
def test_all_metrics_are_ranked_one_by_one():
    ranking = podium.rank(write_two(), "mean", by="metric")
    leaders = {each.slice: each.entries[0].model for each in ranking.standings}
    assert leaders == {"quiz exact fluent": "made/smooth", "quiz exact right": "made/exact"}


def test_a_log_without_the_metric_is_a_stated_loss():
    folder = write_two()
    other = build_log("other", dict.fromkeys(ITEMS, (1.0,)))
    write(other)
    battles = podium.read_battles(folder)
    assert battles.metrics == ("quiz exact fluent",)
    [lost] = battles.lost
    assert (lost.code, lost.fields["model"]) == ("metric-missing", "made/other")
    assert lost.fields["known"] == "quiz exact"


@pytest.mark.slow
def test_one_line_names_the_other_metrics_of_all_tasks():
    folder = write_two()
    for model in ("smooth", "exact"):
        write(log_of(model, fluent=0.5, right=0.5, task="riddles"))
    ranking = json.loads(podium.rank(folder).to_json())
    assert [one["slice"] for one in ranking["rankings"]] == ["quiz", "riddles"]
    notes = [
        each["fields"]
        for one in ranking["rankings"]
        for each in one["warnings"]
        if each["code"] == "other-metrics"
    ]
    assert notes[0] == {"chosen": ["exact fluent"], "others": ["exact right"]}


@pytest.mark.slow
def test_a_question_of_a_comparison_names_its_task_once():
    folder = write_two()
    for model in ("smooth", "exact"):
        write(log_of(model, fluent=0.5, right=0.5, task="riddles"))
    comparison = podium.compare("made/smooth", "made/exact", folder)
    questions = [finding.question for finding in comparison.findings]
    assert questions == ["quiz exact fluent", "riddles exact fluent"]
