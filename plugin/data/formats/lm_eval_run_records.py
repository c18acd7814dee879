"""What the results file of lm-eval says of a run."""

from typing import Any

from podium.data.formats.lm_eval_layout import Samples
from podium.run_record import RunRecord, settings_as_pairs
from podium.text import text_of


def run_of_samples(file: Samples) -> RunRecord:
    """Return the record of the run that wrote a samples file.

    If there is no results file, only the model, the task, the file and the time are known.
    """
    results = file.results
    if results is None:
        return RunRecord(file.model, file.task, str(file.path), file.time)
    task = file.task
    shots = results.value("n-shot", task)
    return RunRecord(
        model=file.model,
        task=task,
        source=str(file.path),
        time=file.time,
        task_version=_text_or_none(results.value("versions", task)),
        model_arguments=settings_as_pairs(results.arguments),
        generation=settings_as_pairs(results.generation),
        shots=shots if isinstance(shots, int) else None,
        system_instruction=_text_or_none(results.value("system_instruction")),
        chat_template=_text_or_none(results.value("chat_template_sha")),
        limit=_text_or_none(results.value("config", "limit")),
        epochs=_count_or_none(results.value("configs", task, "repeats")),
    )


def _text_or_none(value: Any) -> str | None:
    """Return a value as text; None for null and for empty text."""
    return text_of(value) or None


def _count_or_none(value: Any) -> int | None:
    """Return a whole number; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
