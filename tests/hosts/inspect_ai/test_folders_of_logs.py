"""One folder, everything in it: attempts, reruns, failed logs, several tasks, evals beside
tournaments."""

import json
import os
import shutil
from pathlib import Path

import pytest
from inspect_ai import Task, eval, eval_retry, eval_set
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import solver
from played_logs import place

import podium
from podium.errors import DataError
from podium.hosts.inspect_ai.logs.folders import run_of
from podium.hosts.inspect_ai.logs.response_reader import READER
from podium.hosts.inspect_ai.tasks import round_robin
from podium.notices.notice_text import notice_texts
from podium.responses.read import read_responses

RIGHT = {"weak": 3, "fair": 6, "good": 9}
FEW = {"ash": 1.2, "elm": 1.9}


@solver
def answering(fails=False):
    """Answer right on some of twelve items, more of them the better the model; or fail."""

    async def solve(state, generate):
        if fails:
            raise RuntimeError("no key")
        k, name = int(state.sample_id[1:]), str(state.model).rpartition("/")[2]
        right = (k * 5 + RIGHT[name]) % 12 < RIGHT[name]
        state.output = ModelOutput.from_content(name, "yes" if right else f"no quality={k}")
        state.completed = True
        return state

    return solve


def task(name="quiz", items=6, **how):
    dataset = [Sample(id=f"q{k}", input=f"{name} {k}?", target="yes") for k in range(items)]
    return Task(dataset, solver=answering(**how), scorer=match(), name=name)


def models(*names):
    return [get_model(f"scripted/{name}") for name in names or RIGHT]


def of_tournament(battles):
    return battles.table[battles.table["task"].astype(str).str.startswith("tournament")]


@pytest.fixture
def played(behave, write_responses, play):
    """Return the log of a tournament of one pair."""
    return play(
        round_robin(responses=write_responses(FEW)),
        behave(errors=0.3, fails_first=True),
        log_dir="logs",
    )


@pytest.mark.slow
def test_a_default_folder_is_ranked_task_by_task_and_what_failed_is_named(
    write_responses, play, behave, run_podium
):
    eval([task(), task("math")], model=models(), log_dir="logs")
    eval(task(), model=models("weak"), log_dir="logs")
    [failed] = eval(task(fails=True), model=models("good"), log_dir="logs")
    play(round_robin(responses=write_responses(FEW)), behave(), log_dir="logs")
    code, out, err = run_podium("rank", "logs", "--format", "json")
    assert code == 3
    assert [one["slice"] for one in json.loads(out)["rankings"]] == ["math", "quiz", "tournament"]
    assert [one["counts"]["items"] for one in json.loads(out)["rankings"]] == [6, 6, 6]
    assert f"left out: logs/{place(failed).name}: no sample of it finished" in err
    assert "no key" in err
    assert "scripted/weak was run 2 times on quiz: the newest counts" in err
    assert ".ranking" not in err
    battles = podium.read_battles("logs")
    assert battles.missing == 0
    assert {name.partition(":")[0] for name in battles.table["item"].astype(str)} >= {
        "math",
        "quiz",
        "q0",
    }
    assert run_podium("rank", "logs", "--by", "judge", "--format", "csv")[0] == 3


@pytest.mark.slow
def test_all_runs_of_a_model_are_responses_to_one_item():
    for _ in range(2):
        eval(task(), model=models(), log_dir="logs")
    newest, every = (podium.read_battles("logs", runs=which) for which in ("newest", "all"))
    assert (len(newest), len(every)) == (18, 36)
    assert every.counts().items == newest.counts().items == 6
    assert sorted(every.table["response"].unique()) == [1, 2]
    assert podium.read_battles(*Path("logs").glob("*.eval")).table.equals(newest.table)


@pytest.mark.slow
def test_runs_with_different_settings_are_models_of_their_own():
    eval(task(), model=models("weak", "good"), log_dir="logs")
    eval(task(), model=models("weak"), log_dir="logs", temperature=0.5)
    names = ("scripted/good", "scripted/weak", "scripted/weak (temperature=0.5)")
    for which in ("newest", "all"):
        battles = podium.read_battles("logs", runs=which)
        assert battles.models == names
        assert len(battles) == 18
    assert tuple(read_responses("logs", readers=(READER,)).models) == names
    first, last = sorted(
        path
        for path in Path("logs").glob("*.eval")
        if "weak" in read_eval_log(str(path)).eval.model
    )
    assert podium.read_battles(f"old={first}", f"new={last}").models == ("new", "old")


@pytest.mark.slow
def test_of_the_attempts_of_one_eval_the_newest_whole_one_counts(played):
    [again] = eval_retry(played, log_dir="logs")
    assert played.status == "error"
    assert len(list(Path("logs").glob("*.eval"))) == 2
    battles = podium.read_battles("logs")
    assert len(battles) == 6
    assert not battles.counts().unparsed
    assert any(
        f"the newest whole one counts ({Path('logs') / place(again).name})" in note
        for note in notice_texts(battles.notes)
    )
    assert len(podium.read_battles("logs", runs="all")) == 6
    # Killed before it came as far as the one before it.
    ends = read_eval_log(again.location)
    ends.status, ends.samples = "started", ends.samples[:1]
    write_eval_log(ends, again.location)
    assert len(podium.read_battles("logs")) == 6
    [kept] = podium.read_battles("logs").sources
    assert Path(kept).name == place(played).name


@pytest.mark.slow
def test_a_tournament_that_is_run_twice_counts_once_unless_all_runs_are_requested(
    played, behave, write_responses, play
):
    play(
        round_robin(responses=write_responses(FEW), cache=False), behave(errors=0.0), log_dir="logs"
    )
    once, every = (podium.read_battles("logs", runs=which) for which in ("newest", "all"))
    assert (len(once), once.counts().unparsed) == (6, 0)
    assert len(every) == 12
    assert sorted(every.table["repeat"].unique()) == [0, 1]
    assert any(
        "the tournament round_robin was run 2 times on the same responses" in note
        for note in notice_texts(once.notes)
    )


@pytest.mark.slow
def test_another_judge_setting_or_response_makes_another_tournament(behave, write_responses, play):
    paths = write_responses(FEW)
    logs = [
        play(round_robin(responses=paths), behave(), log_dir="logs"),
        play(round_robin(responses=paths, pack=True), behave(), log_dir="logs"),
        play(round_robin(responses=paths), behave("other"), log_dir="logs"),
        play(round_robin(responses=paths, tie=True), behave(), log_dir="logs"),
        play(round_robin(responses=paths), behave(), log_dir="logs", limit=2),
        play(
            round_robin(responses=write_responses(FEW, texts={("ash", 0): "x"})),
            behave(),
            log_dir="logs",
        ),
    ]
    questions = [run_of(place(log), log).question for log in logs]
    assert questions[0] == questions[1]
    assert len(set(questions)) == len(questions) - 1


@pytest.mark.slow
def test_what_inspect_and_podium_write_beside_logs_is_known(behave, write_responses, play):
    eval_set(task(), model=models(), log_dir="set")
    assert {path.name for path in Path("set").glob("*.json")} == {"logs.json", "eval-set.json"}
    assert len(podium.read_battles("set")) == 18
    play(round_robin(responses=write_responses(FEW)), behave(), log_dir="set")
    assert list(Path("set").glob("*.ranking"))
    notes = notice_texts(podium.read_battles("set").notes)
    assert not any("skipped" in note for note in notes)
    assert not any(
        "skipped" in note for note in notice_texts(read_responses("set", readers=(READER,)).notes)
    )
    # A table that happens to have such a name is a table.
    Path("own").mkdir()
    Path("own/logs.json").write_text(json.dumps([{"model_a": "x", "model_b": "y", "credit": 1}]))
    assert len(podium.read_battles("own")) == 1


def test_of_two_logs_of_one_second_the_one_saved_later_counts(tmp_path):
    """Inspect notes whole seconds: a quick rerun has the time of what it replaces."""
    for name in ("b.eval", "a.eval"):
        [log] = eval(task(items=3), model=models("weak"), log_dir="out")
        log.eval.created = log.stats.completed_at = "2026-01-01T00:00:00+00:00"
        write_eval_log(log, f"logs/{name}")
    for name, saved in (("b.eval", 1_000_000_001), ("a.eval", 1_000_000_000)):
        os.utime(f"logs/{name}", ns=(saved, saved))
    read = read_responses("logs", readers=(READER,))
    assert any(
        "run 2 times" in note and "(logs/b.eval)" in note.replace(f"{tmp_path}/", "")
        for note in notice_texts(read.notes)
    )


@pytest.mark.slow
def test_responses_of_a_folder_are_separated_by_task_and_run(behave, play, record):
    eval([task(items=3), task("math", items=3)], model=models("weak", "good"), log_dir="logs")
    eval(task(items=3), model=models("weak"), log_dir="logs", epochs=2)
    eval(task(fails=True), model=models("good"), log_dir="logs")
    behave()
    log = play(round_robin(responses="logs"), log_dir="logs")
    assert log.eval.metadata["podium_tasks"] == ["math", "quiz"]
    read = read_responses("logs", readers=(READER,))
    # The two evals ran at once: which log is the older is not known.
    assert sorted(item.id for item in read.items) == [
        f"{name}:q{k}" for name in ("math", "quiz") for k in range(3)
    ]
    assert any("was run 2 times on quiz" in note for note in notice_texts(read.notes))
    assert any("left out" in note for note in notice_texts(read.notes))
    assert any(
        "3 items have up to 2 responses of a model" in note for note in notice_texts(read.notes)
    ), notice_texts(read.notes)
    battles = podium.read_battles("logs")
    items = set(of_tournament(battles)["item"].astype(str))
    assert items == {item.id for item in read.items}
    assert items == set(battles.table["item"].astype(str)) - items | items
    assert set(of_tournament(battles)["category"].astype(str)) == {"math", "quiz"}


@pytest.mark.slow
def test_judges_and_models_go_by_short_names(behave, play, run_podium):
    eval(task(items=3), model=models(), log_dir="logs")
    behave()
    log = play(round_robin(responses="logs", models="weak,good"), log_dir="out")
    assert log.eval.metadata["podium_models"] == ["scripted/good", "scripted/weak"]
    for name in ("scripted/judge", "judge"):
        assert run_podium("rank", "out", "--where", f"judge={name}")[0] == 0
    code, _, err = run_podium("rank", "out", "--where", "judge=jud")
    assert (code, "no row has judge='jud'" in err) == (2, True)
    assert (
        run_podium(
            "rank", "out", "--ranker", "win-rate", "--set", "anchor=weak", "--set", "level=x"
        )[0]
        == 2
    )
    code, out, _ = run_podium(
        "rank", "out", "--ranker", "win-rate", "--set", "anchor=weak", "--format", "json"
    )
    assert json.loads(out)["rankings"][0]["scale"] == "win rate against scripted/weak"


@pytest.mark.slow
def test_a_single_log_of_which_nothing_can_be_read_is_still_an_error(tmp_path):
    [log] = eval(task(fails=True), model=models("good"), log_dir="logs")
    with pytest.raises(DataError, match="no scored samples"):
        podium.read_battles(str(place(log)))
    shutil.copy(place(log), tmp_path / "logs" / "copy.eval")
    with pytest.raises(DataError, match="nothing to rank in 2 logs"):
        podium.read_battles("logs")


@pytest.mark.slow
def test_missing_battles_count_once_where_a_later_tournament_plays_the_same_again(
    play, behave, write_responses
):
    behave()
    files = write_responses({"ash": 1.2, "elm": 1.9, "fir": 0.7}, texts={("ash", 2): ""})
    for number in (2, 3):
        log = play(round_robin(responses=files[:number]))
        assert podium.read_battles(str(place(log))).missing == number - 1
    both = podium.read_battles(str(place(log).parent))
    assert (len(both), both.missing) == (3 * 6 - 2, 2)
