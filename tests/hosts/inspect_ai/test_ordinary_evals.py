"""Evals over several models: ranked by the hook as podium ranks their logs."""

import pytest
from inspect_ai import Task, eval, eval_set
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import Score, match, mean, scorer
from inspect_ai.solver import solver
from played_logs import assert_same_figures, place

import podium
from podium.hosts.inspect_ai.hook import rank_logs
from podium.hosts.inspect_ai.logs.judgment_rows import number_of
from podium.hosts.inspect_ai.tasks import round_robin

MODELS = ("scripted/weak", "scripted/fair", "scripted/good")
RIGHT = {"weak": 3, "fair": 6, "good": 9}


@solver
def answering():
    """Answer right on some of twelve items, more of them the better the model."""

    async def solve(state, generate):
        k, name = int(state.sample_id[1:]), str(state.model).rpartition("/")[2]
        right = (k * 5 + RIGHT[name]) % 12 < RIGHT[name]
        state.output = ModelOutput.from_content(name, "yes" if right else "no")
        state.completed = True
        return state

    return solve


@scorer(metrics=[mean()])
def graded():
    """Grade by one half where the answer is right on an even item."""

    async def score(state, target):
        return Score(
            value=(state.output.completion == "yes")
            * (1.0 if int(state.sample_id[1:]) % 2 else 0.5)
        )

    return score


@scorer(metrics={"*": [mean()]})
def by_aspect():
    """Give two numbers at once."""

    async def score(state, target):
        right = float(state.output.completion == "yes")
        return Score(value={"right": right, "short": 1.0 - right / 2})

    return score


def task(*scorers, name="quiz", **options):
    dataset = [Sample(id=f"q{k}", input=f"Question {k}?", target="yes") for k in range(12)]
    return Task(
        dataset, solver=answering(), scorer=list(scorers or (match(),)), name=name, **options
    )


def models():
    return [get_model(name) for name in MODELS]


def reread(logs):
    return [read_eval_log(one.location) for one in logs]


def by_podium(logs, *rankers, **options):
    return podium.rank(
        podium.read_battles(*(str(place(one)) for one in logs)), list(rankers), **options
    )


@pytest.mark.slow
def test_a_ranker_in_the_metadata_ranks_the_models_as_podium_does_on_the_logs():
    logs = reread(eval(task(), model=models(), metadata={"ranker": "bradley-terry"}))
    expected = by_podium(logs, "bradley-terry")
    assert {one.model for one in expected.standings[0].entries} == set(MODELS)
    for log in logs:
        assert_same_figures(log.results.metadata["podium"], expected)
        assert [one.name for one in log.results.scores] == ["match", "win-rate", "bradley-terry"]


@pytest.mark.slow
@pytest.mark.parametrize("reported", ["bradley-terry,mean", ["bradley-terry", "mean"]])
def test_several_rankers_may_be_asked_for(reported):
    logs = reread(eval(task(), model=models(), metadata={"ranker": reported}))
    assert [one["ranker"] for one in logs[0].results.metadata["podium"]["rankings"]] == [
        "bradley-terry",
        "mean",
    ]
    assert_same_figures(
        logs[0].results.metadata["podium"], by_podium(logs, "bradley-terry", "mean")
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variable", "value"),
    [("PODIUM_RANKER", "win-rate"), ("INSPECT_EVAL_METADATA", "owner=me ranker=win-rate")],
)
def test_the_environment_may_ask_for_a_ranker(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    logs = reread(eval(task(), model=models(), metadata={"other": "thing"}))
    assert_same_figures(logs[0].results.metadata["podium"], by_podium(logs, "win-rate"))


@pytest.mark.slow
def test_the_metadata_of_the_run_come_before_the_environment(monkeypatch):
    monkeypatch.setenv("PODIUM_RANKER", "win-rate")
    logs = reread(eval(task(), model=models(), metadata={"ranker": "mean"}))
    assert [one["ranker"] for one in logs[0].results.metadata["podium"]["rankings"]] == ["mean"]


@pytest.mark.slow
def test_eval_is_not_ranked_unless_requested():
    logs = reread(eval(task(), model=models()))
    assert all("podium" not in (log.results.metadata or {}) for log in logs)


@pytest.mark.slow
def test_unknown_ranker_is_reported_and_leaves_the_eval_unchanged(capfd):
    logs = reread(eval(task(), model=models(), metadata={"ranker": "bradly-terry"}))
    assert all(
        log.status == "success" and "podium" not in (log.results.metadata or {}) for log in logs
    )
    reported = capfd.readouterr().err
    assert "no ranker called 'bradly-terry'; did you mean 'bradley-terry'?" in reported
    assert rank_logs(logs), "the eval succeeded, so the command ends with exit code 0"
    logs[0].eval.metadata["ranker_strict"] = True
    assert not rank_logs(logs[:1])


@pytest.mark.slow
def test_failed_ranker_beside_others_is_reported(capfd):
    logs = reread(
        eval(task(), model=models(), metadata={"ranker": "bradley-terry,informativeness"})
    )
    reported = logs[0].results.metadata["podium"]
    assert len(reported["rankings"]) + len(reported.get("failures", [])) == 2
    assert all(failure in capfd.readouterr().err for failure in reported.get("failures", []))


@pytest.mark.slow
def test_single_model_is_not_ranked_and_reported(capfd):
    [log] = reread(eval(task(), model=models()[:1], metadata={"ranker": "bradley-terry"}))
    assert "podium" not in (log.results.metadata or {})
    reported = capfd.readouterr().err
    assert "podium: not ranked" in reported
    assert "scripted/weak is the first model in" in reported
    assert "name logs with --metadata ranker_against=PATH" in reported


@pytest.mark.slow
def test_a_failed_log_among_others_is_left_out_and_the_others_are_ranked(capfd):
    """One model has no name that the solver knows, and fails on every item."""
    logs = reread(
        eval(task(), model=[*models(), get_model("scripted/unknown")], metadata={"ranker": "mean"})
    )
    assert (
        sum(bool(((log.results and log.results.metadata) or {}).get("podium")) for log in logs) == 3
    )
    reported = capfd.readouterr().err
    assert "left out: " in reported
    assert "scripted/good" in reported


@pytest.mark.slow
def test_the_logs_that_eval_returns_hold_the_ranking_too():
    logs = eval(task(), model=models(), metadata={"ranker": "mean"})
    assert all(log.results.metadata["podium"]["rankings"] for log in logs)


@pytest.mark.slow
def test_two_tasks_of_one_run_get_separate_titled_rankings(capfd):
    logs = reread(
        eval(
            [task(name="one"), task(graded(), name="two")],
            model=models(),
            metadata={"ranker": "mean"},
        )
    )
    reported = capfd.readouterr().err
    for name in ("one", "two"):
        assert f"mean of {name}, 95% intervals: " in reported
    by_task = {}
    for log in logs:
        by_task.setdefault(log.eval.task, []).append(log)
    assert sorted(by_task) == ["one", "two"]
    for own in by_task.values():
        assert_same_figures(own[0].results.metadata["podium"], by_podium(own, "mean"))


@pytest.mark.slow
def test_the_headline_of_two_scorers_is_ranked_as_by_podium_rank():
    logs = reread(eval(task(match(), graded()), model=models(), metadata={"ranker": "mean"}))
    ranking = logs[0].results.metadata["podium"]
    assert ranking["provenance"]["metrics"] == ["quiz match"]
    [reported] = ranking["rankings"]
    [note] = [each for each in reported["warnings"] if each["code"] == "other-metrics"]
    assert note["fields"]["others"] == ["graded"]
    assert_same_figures(ranking, by_podium(logs, "mean"))


@pytest.mark.slow
def test_each_part_of_a_score_can_be_ranked():
    logs = reread(eval(task(by_aspect()), model=models()))
    battles = podium.read_battles(*(str(place(one)) for one in logs), metric="all")
    ranking = podium.rank(battles, "mean", by="metric").to_dict()
    means = {
        (one["slice"].split()[-1], row["model"]): row["score"]
        for one in ranking["rankings"]
        for row in one["models"]
    }
    assert means["right", "scripted/good"] == pytest.approx(0.75)
    assert means["short", "scripted/good"] == pytest.approx(1 - 0.75 / 2)


@pytest.mark.slow
def test_epochs_are_responses_to_an_item_and_no_items_of_their_own():
    logs = reread(eval(task(), model=models(), epochs=2, metadata={"ranker": "mean"}))
    once = reread(eval(task(), model=models(), metadata={"ranker": "mean"}))
    scores = [
        {
            row["model"]: row["score"]
            for row in one[0].results.metadata["podium"]["rankings"][0]["models"]
        }
        for one in (logs, once)
    ]
    assert scores[0] == pytest.approx(scores[1])
    assert logs[0].results.metadata["podium"]["rankings"][0]["counts"]["items"] == 12


@pytest.mark.slow
def test_eval_set_over_several_models_is_ranked_on_every_run(tmp_path):
    options = {
        "log_dir": str(tmp_path / "set"),
        "model": models(),
        "metadata": {"ranker": "bradley-terry"},
    }
    _, logs = eval_set(task(), **options)
    first = reread(logs)[0].results.metadata["podium"]
    assert_same_figures(first, by_podium(logs, "bradley-terry"))
    _, logs = eval_set(task(), **options)
    again = reread(logs)
    assert_same_figures(again[0].results.metadata["podium"], first)
    assert (
        len([one for one in again[0].results.scores if one.scorer == "podium/bradley-terry"]) == 1
    )


@pytest.mark.slow
def test_a_broken_file_among_the_logs_does_not_stop_the_ranking_of_the_others(tmp_path, capfd):
    from podium.hosts.inspect_ai.hook import headers_in, rank_logs

    logs = eval(task(), model=models(), metadata={"ranker": "mean"})
    folder = place(logs[0]).parent
    (folder / "2020-01-01T00-00-00-00-00_quiz_abcdefghijklmnopqrstuv.eval").write_bytes(
        b"no zip at all"
    )
    rank_logs(headers_in(str(folder)))
    reported = capfd.readouterr().err
    assert "not ranked" in reported
    assert "scripted/good" in reported


@pytest.mark.slow
def test_a_tournament_takes_its_responses_from_these_logs_and_ignores_its_own_beside_them(
    play, record, tmp_path
):
    eval(task(), model=models(), log_dir="logs")
    first = play(round_robin(responses="logs"), log_dir="logs")
    assert first.eval.metadata["podium_models"] == sorted(MODELS)
    calls = record.calls
    again = play(round_robin(responses="logs"), log_dir="logs")
    assert again.eval.metadata["podium_models"] == sorted(MODELS)
    assert again.eval.task_version == first.eval.task_version
    assert record.calls == calls > 0


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("C", 1.0),
        ("I", 0.0),
        ("P", 0.5),
        ("N", 0.0),
        (True, 1.0),
        (3, 3.0),
        (0.25, 0.25),
        ("0.5", 0.5),
        ("yes", 1.0),
    ],
)
def test_what_inspect_takes_for_a_number_is_one(value, number):
    assert number_of(value) == number


@pytest.mark.parametrize(
    "value", ["A>B", "", "c", "maybe", "nan", "inf", None, float("nan"), float("inf"), [1, 0]]
)
def test_what_is_no_number_is_unparsed_and_never_zero(value):
    assert number_of(value) is None
