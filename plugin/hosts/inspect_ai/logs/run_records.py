"""Read the settings of a run from an Inspect log."""

from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog

from podium.run_record import RunRecord, settings_as_pairs

OWN_FIELDS = ("system_message",)
"""Settings of generation that `RunRecord` holds in a field of their own."""


def run_in_log(path: Path, log: EvalLog, model: str | None = None) -> RunRecord:
    """Return the record of a log's run, from the log's header.

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
    """Return the arguments that were given to the task.

    Logs of older versions of Inspect do not distinguish them from defaults, which are included
    then.
    """
    passed = getattr(log.eval, "task_args_passed", None)
    return dict(log.eval.task_args or {} if passed is None else passed)


def _solver_arguments(log: EvalLog) -> dict[str, Any]:
    """Return the arguments that were given to the solver; older logs also hold defaults."""
    passed = getattr(log.eval, "solver_args_passed", None)
    return dict(log.eval.solver_args or {} if passed is None else passed)


def _count_failed(log: EvalLog) -> int | None:
    """Return how many samples did not complete; None if the log has no results."""
    results = log.results
    return None if results is None else results.total_samples - results.completed_samples
