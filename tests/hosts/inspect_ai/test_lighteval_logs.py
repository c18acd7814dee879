"""lighteval's `eval` runs on Inspect: an eval set of tasks made from an object, over items without
ids.

The shape is that of its `get_inspect_ai_task`: the task's name has a colon, its argument is a
configuration of its own, few-shot examples stand in a system message, the scorer is Inspect's
`exact`, epochs are named with their reducer.
"""

from dataclasses import dataclass

import pytest
from inspect_ai import Epochs, Task, eval_set, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import get_model
from inspect_ai.scorer import exact
from inspect_ai.solver import generate, system_message

import podium

RIGHT = {"weak": 3, "fair": 6, "good": 9}


@dataclass
class LightevalTaskConfig:
    """What lighteval knows of a task, as far as it matters here."""

    name: str
    num_fewshots: int


@task
def get_inspect_ai_task(lighteval_task_config: LightevalTaskConfig, epochs: int = 1) -> Task:
    """Make a task as lighteval does."""
    samples = [Sample(input=f"Is {k} in the list?", target="yes") for k in range(12)]
    shots = system_message("Is 99 in the list?\nyes")
    return Task(
        dataset=MemoryDataset(samples),
        solver=[shots, generate(cache=True)],
        scorer=exact(),
        name=f"{lighteval_task_config.name}_{lighteval_task_config.num_fewshots}_shots",
        epochs=Epochs(epochs, None),
    )


def answer(right):
    """Return a solver that answers the given number of twelve items correctly."""

    def reply(prompt):
        item = int(prompt.split(" in the list?")[-2].split()[-1])
        return "yes" if (item * 5 + right) % 12 < right else "no"

    return reply


@pytest.mark.slow
def test_logs_of_lighteval_rank_as_they_are(behave, tmp_path):
    models = [get_model(behave(name, scripted=answer(right))) for name, right in RIGHT.items()]
    done, logs = eval_set(
        get_inspect_ai_task(LightevalTaskConfig("lists:short", 1)),
        model=models,
        log_dir=str(tmp_path / "lighteval-logs"),
        log_dir_allow_dirty=True,
    )
    assert done
    assert {read_eval_log(log.location).eval.task for log in logs} == {"lists:short_1_shots"}
    battles = podium.read_battles(*(log.location.removeprefix("file://") for log in logs))
    counts = battles.counts()
    assert (counts.items, counts.battles, counts.unparsed) == (12, 36, 0)
    [standings] = podium.rank(battles, "mean").standings
    assert [(entry.model, entry.score) for entry in standings.entries] == [
        (f"scripted/{name}", right / 12)
        for name, right in sorted(RIGHT.items(), key=lambda each: -each[1])
    ]
