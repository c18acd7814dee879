"""What Inspect's logs say of a run."""

from pathlib import Path

import pytest
from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match

from podium.data.run import differing_settings
from podium.hosts.inspect_ai.logs.run_records import run_in_log


@task
def greeting(word: str = "hello", style: str = "plain") -> Task:
    """Ask for a word."""
    return Task(
        [Sample(id="q", input=f"Say {word} in {style} words.", target=word)],
        scorer=match(),
        version=3,
    )


def answer_with_usage(text: str) -> ModelOutput:
    """Return an answer with its usage, which Inspect would otherwise count by a downloaded file."""
    output = ModelOutput.from_content("model", text)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def played(folder: Path, given: Task, **options: object) -> EvalLog:
    """Run a task in a folder; return its log."""
    outputs = [answer_with_usage("hello") for _ in range(2)]
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    [log] = eval(given, model=model, log_dir=str(folder), display="none", **options)
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
        ({"given": {}, "system_message": "Be kind."}, {"given": {}}, ["system_instruction"]),
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
    assert differing_settings(records) == names
