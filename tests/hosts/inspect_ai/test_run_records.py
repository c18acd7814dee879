"""What Inspect's logs say of a run."""

from pathlib import Path

import pytest
from asked_runs import simple_run, write_inspect_log
from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, EvalPlanStep, read_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import Generate, Solver, TaskState, solver

from podium.comparability.run_settings import differing_settings
from podium.hosts.inspect_ai.logs.run_records import run_in_log
from podium.run_record import RunRecord


@task
def greeting(word: str = "hello", style: str = "plain") -> Task:
    """Ask for a word."""
    return Task(
        [Sample(id="q", input=f"Say {word} in {style} words.", target=word)],
        scorer=match(),
        version=3,
    )


@solver
def say_hello() -> Solver:
    """Answer without a model."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = ModelOutput.from_content("model", "hello")
        return state

    return solve


def played(folder: Path, given: Task, **options: object) -> EvalLog:
    """Run a task in a folder; return its log."""
    [log] = eval(
        given,
        model="mockllm/model",
        solver=say_hello(),
        log_dir=str(folder),
        display="none",
        **options,
    )
    assert log.status == "success", log.error
    return log


@pytest.mark.slow
def test_a_log_says_how_a_model_was_asked(tmp_path: Path) -> None:
    log = played(
        tmp_path, greeting(word="hi"), temperature=0.5, epochs=2, system_message="Be kind."
    )
    run = run_in_log(Path(log.location), log)
    assert (run.model, run.task, run.task_version) == ("mockllm/model", "greeting", "3")
    assert run.task_arguments == (("word", '"hi"'),)
    assert (run.generation, run.system_instruction) == ((("temperature", "0.5"),), "Be kind.")
    assert (run.epochs, run.status, run.failed) == (2, "success", 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ({"given": {}}, {"given": {}}, []),
        ({"given": {"word": "hi"}}, {"given": {"word": "yes"}}, ["word"]),
        ({"given": {}}, {"given": {}, "temperature": 1.0}, ["temperature"]),
        ({"given": {}, "system_message": "Be kind."}, {"given": {}}, ["system instruction"]),
    ],
)
def test_runs_differ_in_what_was_given(
    tmp_path: Path, first: dict, second: dict, names: list[str]
) -> None:
    records = []
    for options in (first, second):
        others = {name: value for name, value in options.items() if name != "given"}
        log = played(tmp_path, greeting(**options["given"]), **others)
        records.append(run_in_log(Path(log.location), log))
    assert [setting.text for setting in differing_settings(records)] == names


def record_of_steps(folder: Path, *steps: tuple[str, dict[str, object]]) -> RunRecord:
    """Return the record of a run whose task chose these solvers, each with its arguments."""

    def change(log: EvalLog) -> None:
        log.eval.solver = None
        log.plan.steps = [
            EvalPlanStep(solver=name, params=given, params_passed=given) for name, given in steps
        ]

    path = write_inspect_log(simple_run("lab/a", [1, 0]), folder, change=change)
    return run_in_log(path, read_eval_log(str(path), header_only=True))


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ({"template": "Be kind."}, {"template": "Be brief."}, ["system instruction"]),
        ({"template": "/home/a/kind.txt"}, {"template": "/srv/kind.txt"}, []),
        ({"template": "/think"}, {"template": "/no_think"}, ["system instruction"]),
        ({"filter": "<f at 0x7f00>"}, {"filter": "<f at 0x7f11>"}, []),
        ({"files": ["/home/a/kind.txt"]}, {"files": ["/srv/kind.txt"]}, []),
        ({"word": "kind"}, {"word": "brief"}, ["system_message.word"]),
    ],
)
def test_runs_differ_in_the_system_messages_of_solvers(
    tmp_path: Path, first: dict, second: dict, names: list[str]
) -> None:
    records = [
        record_of_steps(tmp_path / f"{number}", ("system_message", given), ("generate", {}))
        for number, given in enumerate((first, second))
    ]
    assert [setting.text for setting in differing_settings(records)] == names


def test_all_system_messages_are_the_instruction(tmp_path: Path) -> None:
    steps = [("system_message", {"template": text}) for text in ("Be kind.", "Be brief.")]
    run = record_of_steps(tmp_path, *steps)
    assert run.system_instruction == "Be kind.\n\nBe brief."
    assert run.solver_arguments == ()
