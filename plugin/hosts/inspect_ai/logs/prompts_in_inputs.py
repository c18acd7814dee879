"""Describe the prompts of logs whose inputs hold the prompt beside the question."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from podium.comparability.added_texts import QUESTION, templates_around_questions
from podium.errors import DataError
from podium.hosts.inspect_ai.logs.message_texts import text_of_input
from podium.hosts.inspect_ai.logs.prompt_templates import INPUT
from podium.hosts.inspect_ai.logs.stored_samples import samples_by_id
from podium.run_record import RunRecord

COMPARED_SAMPLES = 5
"""Number of samples of each log that are compared."""


def describe_added_texts(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """Return runs whose prompt says what their inputs hold beside the same questions.

    The result has the runs in the given order, with a new `prompt` where a template was found.

    The runs of a task are compared only if two of them are of one model with the same recorded
    settings: their prompts may be written into the dataset. Other runs stay as they are, and so do
    runs whose inputs do not show a common question.

    Args:
        runs: the runs of all models and tasks.
    """
    described = list(runs)
    positions: dict[str, list[int]] = defaultdict(list)
    for position, run in enumerate(runs):
        positions[run.task].append(position)
    for positions_of_task in positions.values():
        runs_of_task = [runs[position] for position in positions_of_task]
        if not _are_run_again(runs_of_task):
            continue
        templates = templates_around_questions([_first_inputs(run) for run in runs_of_task])
        if not templates:
            continue
        for position, template in zip(positions_of_task, templates, strict=True):
            run = runs[position]
            template_text = template.replace(QUESTION, INPUT)
            prompt = run.prompt.replace(INPUT, template_text) if run.prompt else template_text
            described[position] = replace(run, prompt=prompt)
    return described


def _are_run_again(runs: Sequence[RunRecord]) -> bool:
    """Return whether any two of these runs are of one model with the same recorded settings."""
    keys = [(run.model, tuple(run.settings().items())) for run in runs]
    return len(set(keys)) < len(keys)


def _first_inputs(run: RunRecord) -> dict[str, str]:
    """Return the texts of a run's first `COMPARED_SAMPLES` inputs, by id of the sample.

    Samples whose text is unknown are left out. Empty if the log cannot be read.
    """
    inputs = {}
    with suppress(DataError):
        for sample in samples_by_id(Path(run.source), COMPARED_SAMPLES):
            text = text_of_input(sample.get("input"), sample.get("attachments") or {})
            if text:
                inputs[str(sample.get("id"))] = text
    return inputs
