"""Tasks with podium's judging filter, run by lm-eval in this process: models of known quality,
opponents on disk."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import lm_eval
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager
from stand_in import mark

ITEMS = 8
QUALITY = {"own": 0.2, "elm": 0.0, "fir": 0.5}
"""What the models are worth on average."""


def quality(model: str, k: int) -> float:
    """Return the quality of a response; it varies, so that no model wins everything."""
    return QUALITY[model] + 0.4 * ((k * (len(model) + ord(model[0])) % 5) - 2) / 2


def response(model: str, k: int) -> str:
    """Return a model's response to an item, marked for the stand-in judge."""
    return f"An answer. {mark(f'q{k}', model, quality(model, k))}"


class Recorded(LM):
    """A model with a recorded response per prompt, else an empty one."""

    def __init__(self, responses: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.responses = responses or {f"Question {k}?": response("own", k) for k in range(ITEMS)}

    def generate_until(self, requests: Sequence[Any], **options: Any) -> list[Any]:
        return [self.responses.get(one.args[0], "") for one in requests]

    def loglikelihood(self, requests: Sequence[Any], **options: Any) -> list[Any]:
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def write_opponents(
    folder: Path, names: Sequence[str] = ("elm", "fir"), lacking: Sequence[int] = ()
) -> list[str]:
    """Write a file of responses per opponent, by item id; the first opponent lacks some."""
    paths = []
    for name in names:
        items = [k for k in range(ITEMS) if name != names[0] or k not in lacking]
        rows = [
            {"id": f"q{k}", "instruction": f"Question {k}?", "response": response(name, k)}
            for k in items
        ]
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        paths.append(str(path))
    return paths


def write_task(
    folder: Path, asked: Mapping[str, Any], metrics: str = "METRICS", more: str = ""
) -> Path:
    """Write a task `judged` with the filter; return the folder of tasks."""
    tasks = folder / "tasks"
    tasks.mkdir(exist_ok=True)
    docs = [{"id": f"q{k}", "question": f"Question {k}?"} for k in range(ITEMS)]
    (tasks / "docs.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    arguments = "".join(f"        {name}: {json.dumps(value)}\n" for name, value in asked.items())
    text = TASK.format(data=tasks / "docs.jsonl", asked=arguments, metrics=metrics)
    (tasks / "judged.yaml").write_text(text + more)
    return tasks


TASK = """\
task: judged
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: ""
generation_kwargs:
  until: []
filter_list:
  - name: judged
    filter:
      - function: !function podium.hosts.lm_eval.filter.JudgeFilter
{asked}
metric_list: !function podium.hosts.lm_eval.metrics.{metrics}
"""


def evaluated(tasks: Path, model: LM | None = None, **options: Any) -> dict[str, Any]:
    """Run the task as lm-eval does; return its results with samples."""
    manager = TaskManager(include_path=str(tasks), include_defaults=False)
    found = lm_eval.simple_evaluate(
        model or Recorded(), tasks=["judged"], task_manager=manager, **options
    )
    assert found is not None
    return found


def verdicts(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the verdicts on every document, as the samples keep them."""
    return [json.loads(row["filtered_resps"][0]) for row in found["samples"]["judged"]]


def battles(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the battles of all documents."""
    return [battle for one in verdicts(found) for battle in one["battles"]]


def figure(found: Mapping[str, Any], metric: str) -> Any:
    """Return a figure of the results."""
    return found["results"]["judged"][f"{metric},judged"]
