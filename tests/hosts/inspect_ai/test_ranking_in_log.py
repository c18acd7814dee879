"""A ranking in the logs of an ordinary eval: what the eval itself found stays, and nothing stale is
left."""

import json
from pathlib import Path

import click
import pytest
from inspect_ai.analysis import evals_df, samples_df
from inspect_ai.log import headline_metric, read_eval_log, write_eval_log
from made_logs import RIGHT, write_quiz

from podium.hosts.inspect_ai.hook import rank_logs
from podium.hosts.inspect_ai.logs.ranking_in_log import remove_stale_rankings
from podium.hosts.inspect_ai.logs.rescoring import watch_scoring


@pytest.fixture
def quiz(tmp_path: Path) -> list[Path]:
    """Return the logs of three models on one task."""
    return [write_quiz(tmp_path, model, right) for model, right in RIGHT.items()]


def header_of(path):
    return read_eval_log(str(path), header_only=True)


def rank_by(monkeypatch, paths, rankers):
    """Rank logs as the hook does after a run with these rankers."""
    monkeypatch.setenv("PODIUM_RANKER", rankers)
    return rank_logs(map(header_of, paths))


def kept_in(path):
    return header_of(path).results.metadata["podium"]["rankings"]


@pytest.mark.slow
def test_the_scores_of_the_eval_keep_their_order_and_its_headline(quiz, monkeypatch):
    before = [header_of(path) for path in quiz]
    assert rank_by(monkeypatch, quiz, "bradley-terry,mean")
    for path, old in zip(quiz, before, strict=True):
        new = header_of(path)
        assert new.results.scores[:1] == old.results.scores
        assert new.results.headline == old.results.headline
        assert headline_metric(new).metric.value == pytest.approx(RIGHT[new.eval.model] / 12)
        assert new.results.metadata["own"] == "figure"


@pytest.mark.slow
def test_a_log_gets_one_score_per_ranker_of_its_own_model(quiz, monkeypatch):
    rank_by(monkeypatch, quiz, "bradley-terry,mean")
    for path in quiz:
        log = header_of(path)
        own = log.results.scores[1:]
        assert [(score.name, score.scorer) for score in own] == [
            ("win-rate", "podium/win-rate"),
            ("bradley-terry", "podium/bradley-terry"),
            ("mean", "podium/mean"),
        ]
        row = next(row for row in kept_in(path)[1]["models"] if row["model"] == log.eval.model)
        figures = {name: metric.value for name, metric in own[2].metrics.items()}
        assert figures == {name: row[name] for name in figures}
        assert figures["score"] == pytest.approx(RIGHT[log.eval.model] / 12)


@pytest.mark.slow
def test_the_whole_ranking_is_in_the_metadata_and_beside_the_log(quiz, monkeypatch, tmp_path):
    rank_by(monkeypatch, quiz, "mean")
    [beside] = tmp_path.glob("podium-*.ranking")
    rankings = json.loads(beside.read_text())["rankings"]
    assert {row["model"] for row in rankings[0]["models"]} == {*RIGHT}
    assert all(kept_in(path) == rankings for path in quiz)


RANKERS = ("bradley-terry", "informativeness", "mean", "median", "soft-elo", "win-rate")
UNFIT = ("judge-aware", "structured-bradley-terry")
"""Rankers that cannot rank scores without a judge or labels: they leave the logs as they are."""


@pytest.mark.slow
@pytest.mark.parametrize("rankers", [*RANKERS, *UNFIT, "bradley-terry,mean"])
def test_data_frames_of_evals_gain_at_most_six_columns_per_ranker(
    quiz, monkeypatch, tmp_path, rankers
):
    evals, samples = evals_df(str(tmp_path), quiet=True), samples_df(str(tmp_path), quiet=True)
    added = []
    for _ in range(2):
        rank_by(monkeypatch, quiz, rankers)
        after = evals_df(str(tmp_path), quiet=True)
        added.append([*after.columns.difference(evals.columns)])
        assert after[evals.columns].equals(evals)
        assert samples_df(str(tmp_path), quiet=True).equals(samples)
    assert added[0] == added[1]
    assert len(added[0]) <= 6 * len(rankers.split(","))
    assert bool(added[0]) == (rankers not in UNFIT)
    # soft-elo without a calibration ranks as bradley-terry does.
    names = {"win-rate", *rankers.replace("soft-elo", "bradley-terry").split(",")}
    starts = tuple(f"score_{name}_" for name in names)
    assert all(name.startswith(starts) for name in added[0])


@pytest.mark.slow
def test_of_several_scorers_that_of_the_headline_is_ranked(monkeypatch, tmp_path):
    paths = [
        write_quiz(tmp_path, model, right, scorers=("match", "near"))
        for model, right in RIGHT.items()
    ]
    rank_by(monkeypatch, paths, "mean")
    names = [score.name for score in header_of(paths[0]).results.scores]
    assert names == ["match", "near", "mean"]
    [ranking] = kept_in(paths[0])
    scores = {row["model"]: row["score"] for row in ranking["models"]}
    assert scores == {model: pytest.approx(right / 12) for model, right in RIGHT.items()}


@pytest.mark.slow
def test_ranking_again_replaces_the_earlier_entries_of_that_ranker_alone(quiz, monkeypatch):
    rank_by(monkeypatch, quiz, "bradley-terry,mean")
    # Earlier logs of the task would join the ranking.
    quiz[2].unlink()
    rank_by(monkeypatch, quiz[:2], "mean")
    log = header_of(quiz[0])
    names = [score.name for score in log.results.scores]
    assert names == ["match", "win-rate", "bradley-terry", "mean"]
    sizes = {row["ranker"]: len(row["models"]) for row in kept_in(quiz[0])}
    assert sizes == {"bradley-terry": 3, "mean": 2}


@pytest.mark.slow
def test_ranking_the_same_logs_in_another_order_leaves_one_file(quiz, monkeypatch, tmp_path):
    rank_by(monkeypatch, quiz, "mean")
    rank_by(monkeypatch, quiz[::-1], "mean")
    assert len([*tmp_path.glob("*.ranking")]) == 1


@pytest.mark.slow
def test_entries_on_slices_that_are_gone_are_replaced_too(monkeypatch, tmp_path):
    paths = [
        write_quiz(tmp_path, model, right, scorers=("match", "near"))
        for model, right in RIGHT.items()
    ]
    rank_by(monkeypatch, paths, "mean")
    for path in paths:
        log = read_eval_log(str(path))
        log.results.scores = [score for score in log.results.scores if "near" not in score.name]
        for sample in log.samples:
            del sample.scores["near"]
        write_eval_log(log)
    rank_by(monkeypatch, paths, "mean")
    assert [score.name for score in header_of(paths[0]).results.scores] == ["match", "mean"]
    assert [row["slice"] for row in kept_in(paths[0])] == [None]


@pytest.mark.slow
def test_an_earlier_run_of_a_model_gets_no_ranking(quiz, monkeypatch, tmp_path):
    (tmp_path / "earlier").mkdir()
    earlier = write_quiz(tmp_path / "earlier", "lab/weak", 1)
    log = read_eval_log(str(earlier))
    log.eval.created, log.eval.task_id = "2025-01-01T00:00:00+00:00", "another"
    write_eval_log(log)
    assert rank_by(monkeypatch, [earlier, *quiz], "mean")
    assert "podium" not in header_of(earlier).results.metadata
    assert kept_in(quiz[0])


@pytest.mark.slow
def test_the_score_of_a_model_whose_rating_the_data_do_not_bound_is_left_out(monkeypatch, tmp_path):
    right = {"lab/all": 12, "lab/none": 0, "lab/nil": 0}
    paths = [write_quiz(tmp_path, model, number) for model, number in right.items()]
    rank_by(monkeypatch, paths, "bradley-terry")
    [ranked] = kept_in(paths[0])
    separated = {row["model"]: row["separated"] for row in ranked["models"]}
    assert separated["lab/all"]
    for path in paths:
        log = header_of(path)
        assert ("score" in log.results.scores[2].metrics) is not separated[log.eval.model]


def score_again(path, *, keep=False):
    """Leave what `inspect score` leaves of a log: scores of the run alone with `--action
    overwrite`; all metadata."""
    log = read_eval_log(str(path))
    if not keep:
        log.results.scores = [
            score for score in log.results.scores if not score.scorer.startswith("podium/")
        ]
    write_eval_log(log)


@pytest.mark.slow
def test_a_log_that_is_scored_again_keeps_no_stale_ranking(quiz, monkeypatch, tmp_path, capsys):
    rank_by(monkeypatch, quiz, "mean")
    score_again(quiz[1])
    others = remove_stale_rankings(quiz[1])
    assert header_of(quiz[1]).results.metadata == {"own": "figure"}
    assert sorted(others) == sorted([quiz[0], quiz[2]])
    assert not list(tmp_path.glob("*.ranking"))
    assert "removed its ranking by mean, made of the scores before" in capsys.readouterr().err


@pytest.mark.slow
def test_a_log_whose_scores_were_added_to_keeps_its_ranking(quiz, monkeypatch, tmp_path):
    rank_by(monkeypatch, quiz, "mean")
    score_again(quiz[1], keep=True)
    assert remove_stale_rankings(quiz[1]) == []
    assert kept_in(quiz[1])
    assert list(tmp_path.glob("*.ranking"))


@pytest.mark.slow
def test_a_scored_copy_of_a_log_leaves_the_ranking_of_the_log_itself(quiz, monkeypatch, tmp_path):
    rank_by(monkeypatch, quiz, "mean")
    copy = tmp_path / "copy.eval"
    copy.write_bytes(quiz[1].read_bytes())
    score_again(copy)
    assert remove_stale_rankings(copy) == []
    assert header_of(copy).results.metadata == {"own": "figure"}
    assert kept_in(quiz[1])
    assert list(tmp_path.glob("*.ranking"))


@pytest.mark.slow
def test_the_command_that_scores_removes_stale_rankings_when_it_ends(quiz, monkeypatch):
    rank_by(monkeypatch, quiz, "mean")
    command = click.Context(click.Command("score"), info_name="score")
    command.params = {"log_file": str(quiz[1]), "output_file": None}
    with command:
        watch_scoring(command)
        score_again(quiz[1])
        assert "podium" in header_of(quiz[1]).results.metadata
    assert "podium" not in header_of(quiz[1]).results.metadata


@pytest.mark.slow
def test_a_ranking_by_another_ranker_drops_what_a_new_scoring_made_stale(quiz, monkeypatch):
    rank_by(monkeypatch, quiz, "mean")
    score_again(quiz[1])
    rank_by(monkeypatch, quiz, "win-rate")
    assert [row["ranker"] for row in kept_in(quiz[1])] == ["win-rate"]


@pytest.mark.slow
def test_soft_elo_of_scores_is_stored_as_bradley_terry(quiz, monkeypatch, capsys):
    assert rank_by(monkeypatch, quiz, "soft-elo")
    names = [score.name for score in header_of(quiz[0]).results.scores]
    assert names == ["match", "win-rate", "bradley-terry"]
    [ranked] = kept_in(quiz[0])
    assert (ranked["ranker"], ranked["diagnostics"]["replaces"]["ranker"]) == (
        "bradley-terry",
        "soft-elo",
    )
    assert "ranked by bradley-terry, not by soft-elo" in capsys.readouterr().err
