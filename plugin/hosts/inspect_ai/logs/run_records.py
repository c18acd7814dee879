"""Read the settings of a run from an Inspect log."""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalPlanStep
from pydantic_core import to_jsonable_python

from podium.errors import DataError
from podium.hosts.inspect_ai.logs.prompt_templates import prompt_template_in
from podium.run_record import RunRecord, Settings, settings_as_pairs

OWN_FIELDS = frozenset({"system_message"})
"""Settings of generation that `RunRecord` holds in a field of their own."""
NOT_OF_ANSWERS = frozenset(
    {
        "adaptive_connections",
        "attempt_timeout",
        "batch",
        "cache",
        "cache_prompt",
        "extra_headers",
        "logprobs",
        "max_connections",
        "max_retries",
        "prompt_logprobs",
        "reasoning_summary",
        "stream_idle_timeout",
        "timeout",
        "top_logprobs",
    }
)
"""Settings of generation that change how a model is called, and not what it answers.

Headers are among them because they may hold keys.
"""
NOT_OF_MODELS = frozenset(
    {"api_key", "base_url", "batch_size", "device", "device_map", "host", "port", "timeout"}
)
"""Arguments of models that say where a model runs, and not what it answers."""
LIMITS = (
    "message_limit",
    "turn_limit",
    "token_limit",
    "token_limit_type",
    "time_limit",
    "working_limit",
    "cost_limit",
)
"""Limits of a sample in the configuration of an eval. Older versions of Inspect lack some."""
SYSTEM_MESSAGE = "system_message"
"""Name of Inspect's solver that adds a system message, which is its argument `template`."""
ABSOLUTE_PATH = re.compile(r"(~|[A-Za-z]:)?[/\\]\S*[/\\](?P<name>[^/\\\s]+)")
"""Matches an absolute path without white space, of one or more folders and a file name.

The folders differ between machines.
"""
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
"""Matches the address in the text of a Python object, which differs between processes."""

MODEL_GRADED = frozenset({"model_graded_qa", "model_graded_fact"})
"""Scorers of Inspect that ask a model."""


def run_in_log(path: Path, log: EvalLog, model: str | None = None) -> RunRecord:
    """Return the record of a log's run, from the log's header and its first samples.

    Args:
        path: path of the log.
        log: the log, or its header.
        model: the label that replaces the model's name; None for the name in the log.
    """
    spec = log.eval
    limit = spec.config.limit
    name, arguments = _solver_of(log)
    return RunRecord(
        model=model or spec.model,
        task=spec.task,
        source=str(path),
        time=spec.created,
        task_version=str(spec.task_version),
        task_arguments=_settings_without_addresses(_given_arguments(log)),
        argument_defaults=_settings_without_addresses(spec.task_args),
        model_arguments=_settings_without_addresses(_without_names(spec.model_args, NOT_OF_MODELS)),
        model_roles=_settings_without_addresses(_roles_of(log)),
        solver=name,
        solver_arguments=_settings_without_addresses(arguments),
        generation=_settings_without_addresses(_generation_of(log)),
        sample_limits=_settings_without_addresses(
            {name: getattr(spec.config, name, None) for name in LIMITS}
        ),
        dataset=_settings_without_addresses({"dataset": _dataset_of(log)}),
        scorers=_settings_without_addresses(_scorers_of(log)),
        prompt=_prompt_in(path),
        system_instruction=_system_messages_of(log),
        limit=None if limit is None else str(limit),
        epochs=spec.config.epochs or 1,
        reducers=tuple(spec.config.epochs_reducer or ()),
        status=log.status,
        host_version=spec.packages.get("inspect_ai"),
        failed=_count_failed(log),
        revision=_revision_of(log),
    )


def _settings_without_addresses(settings: Mapping[str, Any] | None) -> Settings:
    """Return settings as pairs of a name and JSON text, sorted by name.

    Settings that are None, and addresses of Python objects in values, are left out.
    """
    plain = to_jsonable_python(dict(settings or {}), exclude_none=True, fallback=str)
    return tuple((name, ADDRESS.sub("", value)) for name, value in settings_as_pairs(plain))


def _without_names(settings: Mapping[str, Any] | None, names: frozenset[str]) -> dict[str, Any]:
    """Return settings without some names and without those that are None."""
    known_settings = {name: value for name, value in (settings or {}).items() if value is not None}
    return {name: value for name, value in known_settings.items() if name not in names}


def _given_arguments(log: EvalLog) -> dict[str, Any]:
    """Return the arguments that were given to the task.

    Logs of older versions of Inspect do not distinguish them from defaults, which are included
    then.
    """
    passed = getattr(log.eval, "task_args_passed", None)
    if passed is None:
        return dict(log.eval.task_args or {})
    return dict(passed)


def _solver_of(log: EvalLog) -> tuple[str | None, dict[str, Any]]:
    """Return the name of the solver and the arguments that were given to it.

    If the task chose several solvers, their names are joined by ` + `, and each argument is named
    `SOLVER.ARGUMENT`. The name is None if there is no solver. Absolute paths in arguments are
    replaced by file names (`_without_folders`). Templates of system messages that the task's
    solvers have are left out, because `_system_messages_of` returns them.
    """
    spec = log.eval
    if spec.solver is not None:
        passed = getattr(spec, "solver_args_passed", None)
        if passed is None:
            passed = spec.solver_args or {}
        return spec.solver, _without_folders(dict(passed))
    steps = log.plan.steps
    arguments = {}
    for step in steps:
        is_system_message = step.solver.rpartition("/")[2] == SYSTEM_MESSAGE
        for name, value in _arguments_of_step(step).items():
            if is_system_message and name == "template":
                continue
            arguments[name if len(steps) == 1 else f"{step.solver}.{name}"] = value
    return " + ".join(step.solver for step in steps) or None, arguments


def _arguments_of_step(step: EvalPlanStep) -> dict[str, Any]:
    """Return the arguments that were given to a solver; in older logs, also its defaults.

    Absolute paths in their values are replaced by file names (`_without_folders`).
    """
    passed = getattr(step, "params_passed", None)
    arguments = step.params if passed is None else passed
    return {name: _without_folders(value) for name, value in arguments.items()}


def _without_folders(value: Any) -> Any:
    """Return a value in which each text that is an absolute path is replaced by its file name.

    Paths with white space, or without a folder (`/x.json`), are kept (`ABSOLUTE_PATH`). Texts in
    lists and dictionaries are replaced, too. Any other value is returned as it is.
    """
    if isinstance(value, list):
        return [_without_folders(each) for each in value]
    if isinstance(value, dict):
        return {name: _without_folders(each) for name, each in value.items()}
    path = ABSOLUTE_PATH.fullmatch(value) if isinstance(value, str) else None
    return path["name"] if path else value


def _system_messages_of(log: EvalLog) -> str | None:
    """Return the system messages that all samples of a run got, joined; None if they got none.

    They are the setting `system_message` of generation, then the template of each solver
    `system_message` in the plan. A solver that the user chose replaces those of the task, but not
    those of its setup, so the plan is searched in any case.
    """
    templates = [log.plan.config.system_message]
    for step in log.plan.steps:
        if step.solver.rpartition("/")[2] == SYSTEM_MESSAGE:
            templates.append(_arguments_of_step(step).get("template"))
    texts = [ADDRESS.sub("", str(each)) for each in templates if each is not None]
    return "\n\n".join(texts) or None


def _generation_of(log: EvalLog) -> dict[str, Any]:
    """Return the settings of generation that may change answers.

    They are those that were given with the model, replaced by those of the eval. The system message
    is left out (`OWN_FIELDS`).
    """
    model_config = getattr(log.eval, "model_generate_config", None)
    settings = model_config.model_dump(exclude_none=True) if model_config else {}
    settings |= log.plan.config.model_dump(exclude_none=True)
    return _without_names(settings, OWN_FIELDS | NOT_OF_ANSWERS)


def _roles_of(log: EvalLog) -> dict[str, Any]:
    """Return the model of each role (`_role_model`), or a list if a role has several models."""
    roles: dict[str, Any] = {}
    for role, model_or_models in (getattr(log.eval, "model_roles", None) or {}).items():
        # Newer versions of Inspect allow several models in a role.
        models = [
            _role_model(model)
            for model in (
                model_or_models if isinstance(model_or_models, list) else [model_or_models]
            )
        ]
        roles[role] = models[0] if len(models) == 1 else models
    return roles


def _role_model(model: Any) -> Any:
    """Return the name of a model that has a role.

    If the model has settings of generation that may change answers, the result is a dictionary with
    these settings, and the name under `model`.
    """
    config = _without_names(model.config.model_dump(exclude_none=True), NOT_OF_ANSWERS)
    return {"model": model.model, **config} if config else model.model


def _scorers_of(log: EvalLog) -> dict[str, Any]:
    """Return the options of each scorer by its name.

    They are in the header. If the header of a log has none, they are those in the results, without
    the scores that podium has added.
    """
    listed = getattr(log.eval, "scorers", None)
    if listed:
        return {
            scorer.name: _with_own_model(scorer.name, scorer.options or {}, log)
            for scorer in listed
        }
    scores = log.results.scores if log.results else []
    # podium adds scores to the results, whose names begin with its own name and a slash.
    return {
        score.scorer: score.params for score in scores if not score.scorer.startswith("podium/")
    }


def _with_own_model(scorer: str, options: Mapping[str, Any], log: EvalLog) -> dict[str, Any]:
    """Return the options of a scorer, with the evaluated model as `model` if it grades itself.

    Inspect's scorers that ask a model ask the evaluated one if neither a model nor its role is
    given.
    """
    options_with_model = dict(options)
    role = options_with_model.get("model_role", "grader")
    asks_model = scorer.rpartition("/")[2] in MODEL_GRADED
    is_given = options_with_model.get("model") is not None or role in (log.eval.model_roles or {})
    if asks_model and isinstance(role, str | None) and not is_given:
        options_with_model["model"] = log.eval.model
    return options_with_model


def _dataset_of(log: EvalLog) -> str | None:
    """Return the name of the dataset; of a path, only the file name. None or empty if unknown."""
    name = log.eval.dataset.name
    if not name:
        return name
    is_path = "\\" in name or name.startswith(("/", ".", "~"))
    return re.split(r"[/\\]", name)[-1] if is_path else name


def _prompt_in(path: Path) -> str | None:
    """Return the template of a log's prompts; None if it is unknown or no sample can be read."""
    with suppress(DataError):
        return prompt_template_in(path)
    return None


def _revision_of(log: EvalLog) -> str | None:
    """Return the commit of the code of the eval; None if unknown, or if the code was changed."""
    revision = log.eval.revision
    is_clean = revision is not None and not getattr(revision, "dirty", None)
    return revision.commit if revision is not None and is_clean else None


def _count_failed(log: EvalLog) -> int | None:
    """Return how many samples did not complete; None if the log has no results."""
    results = log.results
    return None if results is None else results.total_samples - results.completed_samples
