"""Runs of models on tasks, and the files that both hosts write of them, made without running
anything."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import lm_eval_output
import numpy as np

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSpec

FEWSHOT_SEED = 1234
"""Seed of the examples in a prompt, if a run has no other one."""
FIRST_DAY = np.datetime64("2026-01-01T00:00:00")


@dataclass(frozen=True)
class Asked:
    """How a model was asked in a run, and how it was scored.

    Attributes:
        shots: number of examples in the prompt.
        fewshot_seed: seed by which the examples were drawn.
        version: version of the task.
        style: an argument of the task: in lm-eval, the text that every prompt begins with.
        system: the system instruction; None if there is none.
        dataset: name of the dataset.
        grader: model that grades the replies; None if a rule does.
        scorer: name of Inspect's scorer, or of lm-eval's metric.
        temperature: a setting of generation; None if it was not given.
        template: the chat template of lm-eval's model; None if there is none.
        max_tokens: limit of a reply's length; None if it was not given.
        solver: name of Inspect's solver.
    """

    shots: int = 2
    fewshot_seed: int = FEWSHOT_SEED
    version: int = 1
    style: str = "plain"
    system: str | None = None
    dataset: str = "org/quiz"
    grader: str | None = None
    scorer: str = "exact"
    temperature: float | None = None
    template: str | None = None
    max_tokens: int | None = None
    solver: str = "generate"


@dataclass(frozen=True)
class Run:
    """A run of a model on a task.

    Attributes:
        model: name of the model.
        task: name of the task.
        ids: id of each sample; in lm-eval, its place in the dataset.
        inputs: the question of each sample.
        scores: the scores of each sample, one per epoch.
        asked: the settings.
        day: number of days after the first one, when the run was made.
    """

    model: str
    task: str
    ids: tuple[int | str, ...]
    inputs: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]
    asked: Asked = Asked()
    day: int = 0

    @property
    def time(self) -> str:
        """The time of the run, in whole seconds."""
        return str(FIRST_DAY + np.timedelta64(self.day, "D"))

    def change(self, **settings: Any) -> "Run":
        """Return the run with other settings."""
        return replace(self, asked=replace(self.asked, **settings))

    def with_items(self, places: Sequence[int]) -> "Run":
        """Return the run with its samples at these places, in this order."""
        return replace(
            self,
            ids=tuple(self.ids[place] for place in places),
            inputs=tuple(self.inputs[place] for place in places),
            scores=tuple(self.scores[place] for place in places),
        )


def simple_run(
    model: str, scores: Sequence[float | Sequence[float]], task: str = "quiz", **asked: Any
) -> Run:
    """Return a run on the questions 1, 2 and so on, with a score or several each."""
    places = range(1, len(scores) + 1)
    return Run(
        model,
        task,
        tuple(places),
        tuple(f"What is {place}?" for place in places),
        tuple((own,) if isinstance(own, int | float) else tuple(own) for own in scores),
        Asked(**asked),
    )


def write_inspect_log(
    run: Run,
    folder: Path,
    name: str | None = None,
    *,
    change: Callable[["EvalLog"], object] | None = None,
) -> Path:
    """Write a run as a log of Inspect; return the path of the log.

    Args:
        run: the run.
        folder: where to write it.
        name: name of the file; by default of the run's time, task and model.
        change: a function that changes the log before it is written.
    """
    stem = f"{run.time.replace(':', '-')}_{run.task}_{run.model.rpartition('/')[2]}"
    path = folder / (name or f"{stem}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    if change is None:
        path.write_bytes(_content_of_log(run, path.suffix))
    else:
        _write_changed_log(run, path, change)
    return path


@lru_cache(maxsize=64)
def _content_of_log(run: Run, suffix: str) -> bytes:
    """Return the content of a run's log; tests write the same run into several folders."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"log{suffix}"
        _write_changed_log(run, path)
        return path.read_bytes()


def _write_changed_log(
    run: Run, path: Path, change: Callable[["EvalLog"], object] = lambda _: None
) -> None:
    """Write the log of a run, after a function has changed it."""
    from inspect_ai.log import recompute_metrics, write_eval_log

    log = _inspect_log(run)
    recompute_metrics(log)
    change(log)
    write_eval_log(log, str(path))


def _inspect_log(run: Run) -> "EvalLog":
    """Return the log of a run, without results."""
    from inspect_ai.log import EvalLog, EvalPlan, EvalPlanStep, EvalSample, EvalStats
    from inspect_ai.model import GenerateConfig, ModelOutput
    from inspect_ai.scorer import Score

    asked = run.asked
    samples = [
        EvalSample(
            id=own,
            epoch=epoch,
            input=given,
            target="yes",
            output=ModelOutput.from_content(run.model, f"{run.model} answers {given}"),
            scores={asked.scorer: Score(value=value)},
        )
        for own, given, values in zip(run.ids, run.inputs, run.scores, strict=True)
        for epoch, value in enumerate(values, 1)
    ]
    generation = GenerateConfig(
        temperature=asked.temperature, max_tokens=asked.max_tokens, system_message=asked.system
    )
    plan = EvalPlan(steps=[EvalPlanStep(solver=asked.solver)], config=generation)
    stats = EvalStats(started_at=f"{run.time}+00:00", completed_at=f"{run.time}+00:00")
    return EvalLog(
        status="success", eval=_inspect_spec(run), plan=plan, samples=samples, stats=stats
    )


def _inspect_spec(run: Run) -> "EvalSpec":
    """Return what a log says of the run, apart from its samples."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec

    asked = run.asked
    given = {"style": asked.style, "fewshot": asked.shots, "fewshot_seed": asked.fewshot_seed}
    scorer = {
        "name": asked.scorer,
        "options": {} if asked.grader is None else {"model": asked.grader},
        "metrics": [{"name": "inspect_ai/mean"}],
    }
    return EvalSpec(
        created=f"{run.time}+00:00",
        task=run.task,
        task_id=f"{run.task}-{run.model}-{run.day}",
        task_version=asked.version,
        task_args=given,
        task_args_passed=given,
        dataset=EvalDataset(
            name=asked.dataset, samples=len(run.ids), sample_ids=list(run.ids), shuffled=False
        ),
        model=run.model,
        solver=asked.solver,
        config=EvalConfig(epochs=len(run.scores[0]), epochs_reducer=["mean"]),
        scorers=[scorer],
    )


def write_lm_eval_run(
    runs: Sequence[Run], folder: Path, *, change: Callable[[dict[str, Any]], object] | None = None
) -> Path:
    """Write the runs of one model, on one task each, as one run of lm-eval; return its folder.

    Args:
        runs: the runs, with the same settings.
        folder: where the folder of the model is, or is made.
        change: a function that changes the content of the results file before it is written.
    """
    first = runs[0]
    time = f"{first.time.replace(':', '-')}.000000"
    place = lm_eval_output.write_run(
        folder,
        first.model,
        {run.task: [*_lm_eval_rows(run)] for run in runs},
        time=time,
        generation=_generation_of(first.asked),
    )
    path = place / f"results_{time}.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    asked = first.asked
    content["config"]["fewshot_seed"] = asked.fewshot_seed
    content |= {
        "n-shot": {run.task: run.asked.shots for run in runs},
        "versions": {run.task: float(run.asked.version) for run in runs},
        "configs": {run.task: _lm_eval_config(run) for run in runs},
        "system_instruction": asked.system,
        "system_instruction_sha": asked.system and lm_eval_output.digest(asked.system),
        "chat_template": asked.template,
        "chat_template_sha": asked.template and lm_eval_output.digest(asked.template),
        "fewshot_as_multiturn": False,
    }
    if change is not None:
        change(content)
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")
    return place


def _generation_of(asked: Asked) -> dict[str, float]:
    """Return the settings of generation that were given."""
    given = {"temperature": asked.temperature, "max_gen_toks": asked.max_tokens}
    return {name: value for name, value in given.items() if value is not None}


def _lm_eval_config(run: Run) -> dict[str, Any]:
    """Return what a results file says of a task."""
    asked = run.asked
    return {
        "task": run.task,
        "dataset_path": asked.dataset,
        "test_split": "test",
        "description": asked.style,
        "doc_to_text": "{{q}}",
        "num_fewshot": asked.shots,
        "metric_list": [{"metric": asked.scorer, "aggregation": "mean", "higher_is_better": True}],
        "output_type": "generate_until",
        "repeats": len(run.scores[0]),
        "metadata": {"version": float(asked.version)},
    }


def _lm_eval_rows(run: Run) -> Sequence[dict[str, Any]]:
    """Return the rows of the samples. Of several scores of a sample, lm-eval keeps the first."""
    asked = run.asked
    begin = [asked.system or "", asked.style]
    begin += [f"example {k} of seed {asked.fewshot_seed}" for k in range(asked.shots)]
    rows = []
    for own, given, values in zip(run.ids, run.inputs, run.scores, strict=True):
        row = lm_eval_output.sample(given, {asked.scorer: values[0]}, place=int(own))
        prompt = "\n".join([asked.template or "", *begin, given])
        row["arguments"]["gen_args_0"]["arg_0"] = prompt
        row["prompt_hash"] = lm_eval_output.digest(prompt)
        row["resps"] = [["Yes."] * len(values)]
        rows.append(row)
    return rows
