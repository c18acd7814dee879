"""An eval that a tournament follows: `inspect eval TASK --ranker NAME --ranker-judge MODEL`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

FREE = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import includes
from inspect_ai.solver import solver

ASKED = "Give exactly four bullet points on"

@solver
def writing():
    async def solve(state, generate):
        k, name = int(state.sample_id[1:]), state.model.name
        skill = ("weak", "fair", "good", "best").index(name)
        number = 4 if (3 * k + skill) % 5 <= skill else 3
        text = "The answer:" + "\\n- some words" * number
        state.output = ModelOutput.from_content(name, text)
        return state

    return solve

@task
def free():
    samples = [Sample(id=f"q{k}", input=f"{ASKED} {k}.", target="answer") for k in range(8)]
    return Task(samples, solver=writing(), scorer=includes())
"""
JUDGED = ("--ranker", "win-rate", "--ranker-judge", "podium/offline")


@pytest.fixture
def inspect(tmp_path):
    """Return a function that runs podium's inspect command, and returns exit code and stderr."""
    (tmp_path / "free.py").write_text(FREE)

    def run(*words, command=("podium", "inspect"), **environment):
        done = subprocess.run(
            [sys.executable, "-m", *command, *words],
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200", **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr

    return run


def evaluate(model, *words):
    return ("eval", "free.py", "--model", f"mockllm/{model}", "--display", "none", *words)


def log_of(model, folder="logs"):
    """Return the newest log of a model, without its samples."""
    logs = [read_eval_log(info, header_only=True) for info in list_eval_logs(folder)]
    return next(log for log in logs if log.eval.model == f"mockllm/{model}")


def battles_in(text):
    return int(re.search(r"(\d+) battles: ", text)[1])


@pytest.mark.slow
def test_a_single_model_is_judged_against_the_earlier_logs_of_its_task(inspect):
    code, said = inspect(*evaluate("weak", *JUDGED))
    assert code == 0
    assert "not ranked: mockllm/weak is the first model in" in said
    assert not Path("logs.podium").exists()
    code, said = inspect(*evaluate("fair", *JUDGED, "--limit", "5"))
    assert code == 0
    assert battles_in(said) == 5, "only items that this run answered are played"
    fair = log_of("fair")
    assert [score.name for score in fair.results.scores] == ["includes", "win-rate"]
    [ranking] = fair.results.metadata["podium"]["rankings"]
    assert {row["model"] for row in ranking["models"]} == {"mockllm/weak", "mockllm/fair"}
    assert "podium" not in (log_of("weak").results.metadata or {})
    [played] = list_eval_logs("logs.podium")
    assert read_eval_log(played, header_only=True).results.metadata["podium"]["rankings"]
    code, said = inspect(*evaluate("good", *JUDGED))
    assert (code, battles_in(said)) == (0, 5 + 8 + 5)
    assert "the tournament's log: " in said


@pytest.mark.slow
def test_a_judge_that_is_down_gets_one_advice_and_leaves_the_exit_code(inspect):
    inspect(*evaluate("weak"))
    judged = ("--ranker", "soft-elo", "--ranker-judge", "openai-api/gone/judge")
    address = "http://127.0.0.1:9/v1"
    code, said = inspect(*evaluate("fair", *judged), GONE_BASE_URL=address, GONE_API_KEY="none")
    assert code == 0
    assert "will be ranked by bradley-terry: nothing gives beta to soft-elo" in said
    assert "no battle was judged: the judge is not asked any more: no reply has arrived" in said
    assert f"connection refused: {address}; run the command again to ask for the rest" in said
    assert "no reply could be parsed" not in said
    assert "eval-retry" not in said
    [played] = list_eval_logs("logs.podium")
    error = read_eval_log(played, header_only=True).error.message
    assert "connection refused" in error
    assert "Fix the cause" not in error, "the host says how to go on"


@pytest.mark.slow
def test_metadata_and_the_environment_ask_for_the_same_without_podiums_command(inspect):
    inspect(*evaluate("weak"))
    metadata = ("--metadata", "ranker=win-rate", "--metadata", "ranker_tournament=ring")
    words = evaluate("fair", *metadata, "--metadata", "ranker_args=items=3")
    code, said = inspect(
        *words, command=("inspect_ai._cli.main",), PODIUM_RANKER_JUDGE="podium/offline"
    )
    assert (code, battles_in(said)) == (0, 3)
    assert log_of("fair").results.metadata["podium"]["rankings"][0]["ranker"] == "win-rate"
    assert read_eval_log(list_eval_logs("logs.podium")[0]).eval.task == "ring"


@pytest.mark.slow
def test_named_logs_replace_those_of_the_folder(inspect):
    inspect(*evaluate("weak"))
    inspect(*evaluate("good", "--log-dir", "elsewhere"))
    code, _ = inspect(*evaluate("fair", *JUDGED, "--ranker-against", "best=elsewhere"))
    assert code == 0
    [ranking] = log_of("fair").results.metadata["podium"]["rankings"]
    assert {row["model"] for row in ranking["models"]} == {"best", "mockllm/fair"}


@pytest.mark.slow
def test_a_judge_that_fails_leaves_the_exit_code_unless_the_user_is_strict(inspect):
    inspect(*evaluate("weak"))
    mute = ("--ranker", "win-rate", "--ranker-judge", "mockllm/judge")
    for strict, code in (((), 0), (("--ranker-strict",), 1)):
        ended, said = inspect(*evaluate("fair", *mute, *strict))
        assert ended == code
        assert "podium: not ranked: " in said
        assert said.count("podium: the tournament's log: ") == 1, "replies are kept there"
        assert log_of("fair").status == "success"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "stated"),
    [
        ((*JUDGED, "--ranker-tournament", "swimm"), "did you mean 'swim'?"),
        ((*JUDGED, "--ranker-args", "itms=3"), "did you mean 'items'?"),
        ((*JUDGED, "--ranker-set", "ancor=x"), "did you mean 'anchor'?"),
        ((*JUDGED, "--ranker-metric", "match"), "--ranker-metric is for a task's metric"),
        ((*JUDGED, "--ranker-against", "nowhere"), "--ranker-against nowhere: no such file"),
        (("--ranker", "mean", "--ranker-args", "items=3"), "name a judge with --ranker-judge"),
        (("--ranker", "mean", "--ranker-judge", "lm-eval:hf"), "judges are models of Inspect"),
        (("--ranker", "mean", "--ranker-judge", "openai/gpt-5"), "No OPENAI_API_KEY"),
        (("--ranker", "soft-elo", "--ranker-calibration", "none.json"), "none.json"),
    ],
)
def test_wrong_options_are_reported_before_the_eval(inspect, words, stated):
    code, said = inspect(*evaluate("weak", *words), OPENAI_API_KEY="")
    assert code == 2
    assert stated in said
    assert not Path("logs").exists()


@pytest.mark.slow
def test_wrong_options_in_the_metadata_are_printed_before_the_eval_and_change_no_exit_code(inspect):
    metadata = ("--metadata", "ranker=mean", "--metadata", "ranker_args=items=3")
    code, said = inspect(*evaluate("weak", *metadata), command=("inspect_ai._cli.main",))
    assert code == 0
    assert "this run will not be ranked: --metadata ranker_args is for tournaments" in said


@pytest.mark.slow
def test_a_tournament_that_is_a_task_has_options_of_its_own(inspect):
    code, said = inspect("eval", "podium/ring", *JUDGED)
    assert code == 2
    assert "--ranker-judge is for an eval that is followed by a tournament" in said


def scores_of(model):
    """Return the metrics of each score in the newest log of a model, by the score's name."""
    scores = log_of(model).results.scores
    return {own.name: {name: each.value for name, each in own.metrics.items()} for own in scores}


PINNED = ("--ranker", "bradley-terry", "--ranker-judge", "podium/offline")


@pytest.mark.slow
def test_the_win_rate_against_the_pinned_reference_does_not_move_when_others_join(inspect):
    code, said = inspect(*evaluate("weak", *PINNED, "--ranker-pin", "mockllm/weak"))
    assert code == 0
    assert '"model": "mockllm/weak"' in Path("logs.podium/pin.json").read_text()
    code, said = inspect(*evaluate("fair", *PINNED))
    assert "podium: mockllm/fair has a win rate of 0." in said
    assert "against mockllm/weak, the pinned reference, on 8 items" in said
    alone = scores_of("fair")
    assert list(alone) == ["includes", "pinned-win-rate", "bradley-terry"]
    assert sum(len(metrics) for metrics in list(alone.values())[1:]) <= 6
    inspect(*evaluate("good"))
    inspect(*evaluate("best"))
    code, said = inspect(*evaluate("fair", *PINNED))
    assert (code, battles_in(said)) == (0, 8 * 6)
    among_four = scores_of("fair")
    assert among_four["pinned-win-rate"] == alone["pinned-win-rate"]
    assert among_four["bradley-terry"] != alone["bradley-terry"]
    [_, win_rate, rating] = log_of("fair").results.scores
    assert win_rate.metadata["opponents"] == ["mockllm/weak"]
    assert {*rating.metadata["opponents"]} == {"mockllm/best", "mockllm/good", "mockllm/weak"}
    code, said = inspect(*evaluate("weak", *PINNED))
    assert "mockllm/weak is the pinned reference: it has no win rate against itself" in said
    assert "pinned-win-rate" not in scores_of("weak")


@pytest.mark.slow
def test_without_a_pin_the_win_rate_is_against_all_and_a_line_says_how_to_pin(inspect):
    inspect(*evaluate("weak"))
    _, said = inspect(*evaluate("fair", *PINNED))
    assert said.count("--ranker-pin MODEL writes the win rate against one model") == 1
    assert list(scores_of("fair")) == ["includes", "win-rate", "bradley-terry"]
    _, said = inspect(*evaluate("fair", "--ranker", "mean"))
    assert "--ranker-pin" not in said
    assert list(scores_of("fair")) == ["includes", "mean"]
    assert not Path("logs.podium/pin.json").exists()


@pytest.mark.slow
def test_an_absent_reference_is_known_before_the_first_call(inspect):
    inspect(*evaluate("weak", *PINNED, "--ranker-pin", "mockllm/weak"))
    code, said = inspect(*evaluate("fair", *PINNED, "--ranker-pin", "mockllm/weka"))
    assert (code, len(list_eval_logs("logs"))) == (2, 1)
    assert "did you mean 'mockllm/weak'?" in said
    Path(list_eval_logs("logs")[0].name.removeprefix("file://")).unlink()
    inspect(*evaluate("good"))
    code, said = inspect(*evaluate("fair", *PINNED))
    assert code == 0
    assert said.index("there is no run of mockllm/weak, the pinned reference") < said.index(
        "8 items"
    )
    assert list(scores_of("fair")) == ["includes", "win-rate", "bradley-terry"]


@pytest.mark.slow
def test_the_reason_of_a_bad_judge_is_said_once_without_a_terminal(tmp_path):
    (tmp_path / "free.py").write_text(FREE)
    bad = ("--ranker-judge-args", "position_bias=2", "--ranker-args", "identical=judge")
    for model, more in (("weak", ()), ("fair", ()), ("good", bad)):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "podium",
                "inspect",
                "eval",
                "free.py",
                "--model",
                f"mockllm/{model}",
                *JUDGED,
                *more,
            ],
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        own = done.stdout.rpartition("\nLog: ")[2].splitlines()[1:]
        assert len([line for line in own if line.strip()]) <= 15
    assert (done.stdout.count("cannot judge"), done.stdout.count("Sample error")) == (1, 0)
