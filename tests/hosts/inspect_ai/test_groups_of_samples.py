"""Groups of samples in Inspect's logs: `--cluster KEY`, and the task's `stderr(cluster=)`."""

import numpy as np
import pytest
from inspect_ai.log import EvalLog, recompute_metrics
from inspect_ai.log._log import EvalMetricDefinition
from written_logs import build_log, write

import podium
from podium.errors import UsageError

STDERR = [
    {"name": "inspect_ai/mean", "options": {}},
    {"name": "inspect_ai/stderr", "options": {"cluster": "passage"}},
]


def log_of(model: str, shift: float, metrics=None, *, passages: int = 12) -> EvalLog:
    """Return a log of 5 samples in each passage, whose scores share an effect of the passage."""
    rng = np.random.default_rng(3 if model == "a" else 4)
    scores = {}
    for passage in range(passages):
        effect = rng.normal(0, 1)
        for k in range(5):
            scores[f"{passage}-{k}"] = [float(shift + effect + rng.normal(0, 0.5))]
    log = build_log(model, scores)
    for sample in log.samples:
        sample.metadata["passage"] = f"p{sample.id.partition('-')[0]}"
    if metrics:
        log.eval.scorers[0].metrics = [EvalMetricDefinition(**metric) for metric in metrics]
        recompute_metrics(log)
    return log


def folder_of(metrics=None, **options) -> str:
    for model, shift in (("a", 0.3), ("b", 0.0)):
        folder = write(log_of(model, shift, metrics, **options))
    return folder


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
def test_the_key_of_metadata_groups_samples():
    plain = podium.rank(podium.read_battles(folder_of())).standings[0]
    grouped = podium.rank(podium.read_battles("evals", cluster="passage")).standings[0]
    assert (plain.counts.groups, grouped.counts.groups) == (None, 12)
    assert grouped.entries[0].se > 1.5 * plain.entries[0].se


@pytest.mark.slow
def test_the_cluster_of_the_tasks_own_errors_is_used_and_gives_the_logs_own_error():
    log = log_of("a", 0.3, STDERR)
    own = log.results.scores[0].metrics["stderr"].value
    standings = podium.rank(podium.read_battles(folder_of(STDERR))).standings[0]
    assert standings.counts.groups == 12
    [entry] = [entry for entry in standings.entries if entry.model.endswith("a")]
    assert entry.se == pytest.approx(own)


@pytest.mark.slow
def test_an_option_wins_over_the_log():
    folder_of(STDERR)
    with pytest.raises(UsageError, match="no such column"):
        podium.read_battles("evals", cluster="document")


def test_a_log_with_one_group_is_ranked_by_items_and_a_note_says_so():
    battles = podium.read_battles(folder_of(STDERR, passages=1))
    assert battles.group is None
    assert "groups-of-log-unused" in [note.code for note in battles.notes]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_without_an_option_metadata_that_groups_samples_is_checked(suffix):
    for model, shift in (("a", 0.3), ("b", 0.0)):
        log = log_of(model, shift)
        for sample in log.samples:
            sample.metadata |= {
                "level": 1 + int(sample.id[-1]) % 2,
                "note": "x" * 200,
                "judge": "h",
            }
        folder = write(log, suffix=suffix)
    battles = podium.read_battles(folder)
    assert {"passage", "level"} <= battles.columns
    assert not {"note", "judge"} & battles.columns
    [standings] = podium.rank(battles).standings
    [check] = [check for check in standings.checks if check.name == "groups"]
    assert check.is_flagged
    assert check.fields["column"] == "passage"
    assert "items of one passage are not independent" in standings.answer[0]
    by_level = podium.rank(podium.read_battles(folder), by="level").standings
    assert {each.slice for each in by_level} == {"1", "2"}


def test_metadata_in_which_epochs_differ_or_that_is_one_per_item_is_no_column():
    for model in ("a", "b"):
        log = log_of(model, 0.0)
        for number, sample in enumerate(log.samples):
            sample.metadata |= {"title": f"title {number}", "run": f"{model}{number % 3}"}
        folder = write(log)
    columns = podium.read_battles(folder).columns
    assert "title" not in columns
