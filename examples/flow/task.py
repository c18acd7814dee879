"""The task that the models run: the instructions of examples/tournament, answered and not
scored."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset

INSTRUCTIONS = Path(__file__).parents[1] / "tournament" / "instructions.jsonl"


@task
def instructions() -> Task:
    """Answer each instruction."""
    return Task(json_dataset(str(INSTRUCTIONS), FieldSpec(input="instruction", id="id")))
