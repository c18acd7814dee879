"""Two prompts of one model that are written into the inputs of the dataset are compared."""

from pathlib import Path

import pytest
from asked_runs import Run, write_inspect_log
from click.testing import CliRunner
from inspect_ai.log import EvalLog

import podium
from podium.cli.main import podium as command_line
from podium.errors import PodiumError

WORDS = ("river", "mountain", "copper", "whale", "falcon", "comet", "glacier", "orchid")
QUESTIONS = tuple(f"Is a {word} older than {k} years?" for k, word in enumerate(WORDS))
THINK = "Think step by step, then answer yes or no.\n{}"


def run_with(template: str, model: str = "lab/m", day: int = 0, wrong: int = 0, **more: int) -> Run:
    """Return a run whose inputs a template makes of the questions; the first ones are wrong."""
    inputs = tuple(template.format(question) for question in QUESTIONS)
    scores = tuple((float(place >= wrong),) for place in range(len(QUESTIONS)))
    ids = tuple(range(1, len(QUESTIONS) + 1))
    return Run(model, "quiz", ids, inputs, scores, day=day).change(**more)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_two_prompts_in_the_inputs_are_two_models(tmp_path: Path, suffix: str) -> None:
    logs = [
        write_inspect_log(run, tmp_path, f"{name}{suffix}")
        for name, run in (("a", run_with("{}", wrong=7)), ("b", run_with(THINK, day=1)))
    ]
    names = ("lab/m (prompt={input})", "lab/m (prompt=Think step by step,  ...  or no. {input})")
    battles = podium.read_battles(str(tmp_path))
    assert sorted(battles.models) == sorted(names)
    assert battles.counts().items == len(QUESTIONS)
    [finding] = battles.questions
    assert (finding.pairing, finding.reason, finding.is_reworded) == (
        "other inputs",
        ("prompt",),
        True,
    )
    done = CliRunner().invoke(command_line, ["compare", *map(str, logs)])
    assert done.exit_code == 0, done.output
    assert "7 losses" in " ".join(done.output.split())
    assert "If equal ids" not in done.output


def test_a_model_that_shares_inputs_has_the_prompt_of_the_run_with_these(tmp_path: Path) -> None:
    runs = [run_with("{}"), run_with(THINK, day=1), run_with(THINK, "lab/other", day=2)]
    for number, run in enumerate(runs):
        write_inspect_log(run, tmp_path, f"log{number}.eval")
    prompts = {run.model: run.prompt for run in podium.read_battles(str(tmp_path)).runs}
    of_other = prompts.pop("lab/other")
    assert of_other == "Think step by step, then answer yes or no. {input}"
    assert sorted(prompts.values()) == [of_other, "{input}"]


def test_a_rerun_with_equal_or_shuffled_inputs_is_no_other_prompt(tmp_path: Path) -> None:
    first, other = run_with("{}"), run_with("{}", "lab/other", wrong=2)
    again = run_with("{}", day=1).with_items([*reversed(range(len(QUESTIONS)))])
    shuffled = Run(again.model, again.task, first.ids, again.inputs, again.scores, day=1)
    for number, run in enumerate([first, shuffled, other]):
        write_inspect_log(run, tmp_path, f"log{number}.eval")
    assert sorted(podium.read_battles(str(tmp_path)).models) == ["lab/m", "lab/other"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_rubrics_that_quote_the_input_are_no_other_targets(tmp_path: Path, suffix: str) -> None:
    def quote_inputs(log: EvalLog) -> None:
        for sample in log.samples or ():
            sample.target = f"The response has to answer this: {sample.input} It is yes."

    runs = [run_with("{}", wrong=7), run_with(THINK, day=1)]
    logs = [
        write_inspect_log(run, tmp_path, f"log{run.day}{suffix}", change=quote_inputs)
        for run in runs
    ]
    done = CliRunner().invoke(command_line, ["compare", *map(str, logs)])
    assert done.exit_code == 0, done.output
    assert "target" not in done.output
    assert "7 losses" in " ".join(done.output.split())


def test_other_questions_under_the_same_ids_remain_an_error(tmp_path: Path) -> None:
    first = run_with("{}")
    inputs = tuple(f"Name the author of book {k}" for k in first.ids)
    other = Run(first.model, "quiz", first.ids, inputs, first.scores, day=1)
    logs = [write_inspect_log(run, tmp_path, f"{run.day}.eval") for run in (first, other)]
    with pytest.raises(PodiumError, match="the newest counts"):
        podium.rank(str(tmp_path))
    done = CliRunner().invoke(command_line, ["compare", *map(str, logs)])
    assert done.exit_code == 1
    assert "share no input" in str(done.exception)


@pytest.mark.slow
def test_short_prompts_before_equal_questions_leave_no_doubt(tmp_path: Path) -> None:
    """The prompts share no word, and the questions are the same."""
    runs = [run_with("Answer yes or no. {}"), run_with("Think step by step. {}", day=1)]
    for run in runs:
        write_inspect_log(run, tmp_path, f"log{run.day}.eval")
    [finding] = podium.read_battles(str(tmp_path)).questions
    assert finding.is_reworded
    assert "If equal ids" not in " ".join(podium.rank(str(tmp_path)).standings[0].answer)
