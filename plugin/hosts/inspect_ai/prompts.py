"""Prompts for entrants on demand: the instructions of files, or the inputs of an Inspect task or dataset."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from inspect_ai.dataset import Dataset, Sample, example_dataset

from podium.errors import UsageError
from podium.hosts.inspect_ai.log_responses import READER
from podium.hosts.inspect_ai.logs import question_of
from podium.responses.answers import QuestionRow, id_of
from podium.responses.read import read_prompts


def prompts_of(sources: Sequence[str]) -> tuple[list[QuestionRow], list[str]]:
    """Return what entrants are to be asked, and notes for people.

    Args:
        sources: whatever holds responses or instructions, tasks of Inspect (`inspect_evals/gsm8k`, `FILE.py`,
            `FILE.py@TASK`), and names of its example datasets.

    Raises:
        UsageError: there is no such file, task or dataset, or no prompt in any of them.
        DataError: a file or a value in it is not what it should be.
    """
    questions: list[QuestionRow] = []
    notes: list[str] = []
    for source in sources:
        rows, remarks = _prompts_by_name(source) or read_prompts(source, readers=(READER,))
        if not rows:
            raise UsageError(f"prompts={source}: no prompts in it; give a row per prompt with id and instruction")
        questions += rows
        notes += remarks
    unnamed = {each.item for each in questions if each.instruction and each.item == id_of(each.instruction)}
    if unnamed:
        notes.append(f"{len(unnamed):,} prompts have no id, and are known by a hash of their text ({min(unnamed)} ...)")
    twice = sum(number > 1 for number in Counter((each.task, each.item) for each in questions).values())
    if twice and unnamed:
        notes.append(f"{twice:,} prompts stand there more than once, and count once")
    return questions, notes


def _prompts_by_name(source: str) -> tuple[list[QuestionRow], list[str]] | None:
    """Return the prompts of a task or dataset of Inspect; None where the name is none of these."""
    file = Path(source.partition("@")[0])
    if file.exists() and file.suffix != ".py":
        return None
    from inspect_ai._eval.loader import load_tasks
    from inspect_ai._util.registry import registry_lookup

    if file.suffix == ".py" or ("/" in source and registry_lookup("task", source) is not None):
        tasks = load_tasks([source])
        if not tasks:
            raise UsageError(f"prompts={source}: there is no task in it")
        read = [_questions(task.dataset, task.name) for task in tasks]
        return [row for rows, _ in read for row in rows], [note for _, notes in read for note in notes]
    if "/" in source:
        return None
    try:
        dataset = example_dataset(source)
    except ValueError:
        return None
    return _questions(dataset, source)


def _questions(dataset: Dataset, task: str) -> tuple[list[QuestionRow], list[str]]:
    samples: list[Sample] = list(dataset)
    ids = [k if sample.id is None else sample.id for k, sample in enumerate(samples, 1)]
    rows = [question_of(sample, item, task, task) for item, sample in zip(ids, samples, strict=True)]
    several = sum(not isinstance(sample.input, str) and len(sample.input) > 1 for sample in samples)
    choices = sum(bool(sample.choices) for sample in samples)
    notes = [f"{task}: {several:,} inputs are conversations; entrants are shown each as one text"] if several else []
    notes += [f"{task}: {choices:,} inputs have choices, which are no part of the prompt"] if choices else []
    return rows, notes
