"""What an Inspect log says of its run."""

from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog

from podium.run_record import RunRecord, settings_as_pairs

OWN_FIELDS = ("system_message",)
"""Settings of generation that a field of a run holds."""


def run_in_log(path: Path, log: EvalLog, model: str | None = None) -> RunRecord:
    """Return what the header of a log says of its run.

    Args:
        path: path of the log.
        log: the log, or its header.
        model: the label that replaces the model's name.
    """
    spec = log.eval
    generation = log.plan.config.model_dump(exclude_none=True)
    system = generation.get("system_message")
    limit = spec.config.limit
    return RunRecord(
        model=model or spec.model,
        task=spec.task,
        source=str(path),
        time=spec.created,
        task_version=str(spec.task_version),
        task_arguments=settings_as_pairs(_given_arguments(log)),
        model_arguments=settings_as_pairs(spec.model_args),
        solver=spec.solver,
        solver_arguments=settings_as_pairs(_solver_arguments(log)),
        generation=settings_as_pairs(
            {name: value for name, value in generation.items() if name not in OWN_FIELDS}
        ),
        system_instruction=None if system is None else str(system),
        limit=None if limit is None else str(limit),
        epochs=spec.config.epochs or 1,
        reducers=tuple(spec.config.epochs_reducer or ()),
        status=log.status,
        failed=_count_failed(log),
    )


def _given_arguments(log: EvalLog) -> dict[str, Any]:
    """Return the arguments of a task that were given, without defaults where the log tells them
    apart."""
    passed = getattr(log.eval, "task_args_passed", None)
    return dict(log.eval.task_args or {} if passed is None else passed)


def _solver_arguments(log: EvalLog) -> dict[str, Any]:
    """Return the arguments of a solver that were given, as far as the log tells them apart."""
    passed = getattr(log.eval, "solver_args_passed", None)
    return dict(log.eval.solver_args or {} if passed is None else passed)


def _count_failed(log: EvalLog) -> int | None:
    """Return how many samples did not complete; None if the log has no results."""
    results = log.results
    return None if results is None else results.total_samples - results.completed_samples
