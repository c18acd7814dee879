"""What the results file of lm-eval says of a run."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from podium.data.formats.lm_eval_documents import is_chat_file
from podium.data.formats.lm_eval_layout import HELM_DETAILS, Results, Samples, read_run_spec
from podium.data.formats.lm_eval_task_configs import (
    arguments_of_config,
    choices_of_config,
    dataset_of_config,
    examples_of_config,
    generation_of_config,
    is_seeded,
    parse_option,
    prompt_of_config,
    scorers_of_config,
)
from podium.run_record import RunRecord, Settings, settings_as_pairs
from podium.text import text_of

TEMPLATE_OF_MESSAGES = "messages"
"""Text of the chat template of prompts that are lists of messages. The server renders them."""

HELM_GENERATION = ("temperature", "max_tokens", "stop_sequences")
"""Settings of generation in HELM's description of a run."""
HELM_SETTINGS = ("max_train_instances", "instructions", *HELM_GENERATION)
"""All settings that are read from HELM's description of a run."""


def run_of_samples(file: Samples) -> RunRecord:
    """Return the record of the run that wrote a samples file.

    If there is no results file, only the model, the task, the file and the time are known, and
    `is_described` is False. Runs of HELM are described in another file. Settings of examples are
    None if the prompts have none.
    """
    if file.path.name == HELM_DETAILS:
        return _run_of_helm(file)
    results = file.results
    task = file.task
    source = str(file.path)
    if results is None:
        return RunRecord(file.model, task, source, file.time, is_described=False)
    config = config_of_task(results, task)
    shots = _shots_of_task(results, task)
    template = _text_or_none(results.value("chat_template_sha"))
    if template is None and is_chat_file(file):
        template = TEMPLATE_OF_MESSAGES
    run = RunRecord(
        model=file.model,
        task=task,
        source=source,
        time=file.time,
        named_settings=file.named_settings,
        task_version=_text_or_none(results.value("versions", task)),
        task_arguments=arguments_of_config(config, results.all_arguments),
        unrecorded_arguments_have_defaults=False,
        model_arguments=_plain_settings(results.arguments),
        generation=_plain_settings(generation_of_config(config), results.generation),
        dataset=dataset_of_config(config),
        scorers=scorers_of_config(config),
        prompt=prompt_of_config(config),
        shots=shots,
        system_instruction=_text_or_none(results.value("system_instruction")),
        chat_template=template,
        limit=_text_or_none(results.value("config", "limit")),
        epochs=_count_or_none(config.get("repeats")),
        host_version=_text_or_none(results.value("lm_eval_version")),
    )
    return run if shots == 0 else _with_examples(run, results, config)


def _with_examples(run: RunRecord, results: Results, config: Mapping[str, Any]) -> RunRecord:
    """Return the record of a run with what its results say of the examples in its prompts.

    The seed is None if examples are not drawn, and `examples_as_turns` is None without a chat
    template.

    Args:
        run: the record without these settings.
        results: the results file.
        config: the configuration of the task.
    """
    seed = None
    if is_seeded(config):
        seed = _count_or_none(results.value("config", "fewshot_seed"))
    are_turns = None
    if run.chat_template is not None:
        are_turns = _flag_or_none(results.value("fewshot_as_multiturn"))
    examples = examples_of_config(config)
    return replace(run, fewshot_seed=seed, examples=examples, examples_as_turns=are_turns)


def _run_of_helm(file: Samples) -> RunRecord:
    """Return the record of a run of HELM, from its description beside the details.

    Without a description, only model, task, file and time are known.
    """
    adapter = read_run_spec(file.path).get("adapter_spec") or {}
    return RunRecord(
        model=file.model,
        task=file.task,
        source=str(file.path),
        time=file.time,
        is_described=any(name in adapter for name in HELM_SETTINGS),
        named_settings=file.named_settings,
        generation=settings_as_pairs({name: adapter.get(name) for name in HELM_GENERATION}),
        shots=_count_or_none(adapter.get("max_train_instances")),
        system_instruction=_text_or_none(adapter.get("instructions")),
    )


def choices_of_run(file: Samples) -> str:
    """Return what makes the choices of a task, as `choices_of_config` does.

    Empty if there is no results file.
    """
    if file.results is None:
        return ""
    return choices_of_config(config_of_task(file.results, file.task))


def documents_of_limit(file: Samples) -> int | None:
    """Return the number of documents to which `--limit` cut a run.

    None if all documents were asked, or if the results do not say how many were asked and how many
    there are.
    """
    if file.results is None:
        return None
    sizes = file.results.value("n-samples", file.task)
    if not isinstance(sizes, Mapping):
        return None
    evaluated = _count_or_none(sizes.get("effective"))
    whole = _count_or_none(sizes.get("original"))
    if evaluated is None or whole is None or evaluated >= whole:
        return None
    return evaluated


def config_of_task(results: Results, task: str) -> Mapping[str, Any]:
    """Return the configuration of a task; empty if the results file does not have it."""
    config = results.value("configs", task)
    return config if isinstance(config, Mapping) else {}


def _shots_of_task(results: Results, task: str) -> int | None:
    """Return the number of examples in the prompts of a task; None if unknown."""
    shots = _count_or_none(results.value("n-shot", task))
    if shots is None:
        return _count_or_none(results.value("configs", task, "num_fewshot"))
    return shots


def _plain_settings(*mappings: Mapping[str, Any]) -> Settings:
    """Return settings by name in which a number has one form, whether written as text or not.

    Args:
        mappings: the settings. Of several with one name, the last one counts.
    """
    parsed = []
    for settings in mappings:
        parsed.append({name: parse_option(value) for name, value in settings.items()})
    return settings_as_pairs(*parsed)


def _text_or_none(value: Any) -> str | None:
    """Return a value as text; None for null and for empty text."""
    return text_of(value) or None


def _count_or_none(value: Any) -> int | None:
    """Return a whole number; None for anything else, also for true and false."""
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count else None


def _flag_or_none(value: Any) -> bool | None:
    """Return true or false; None for anything else."""
    return value if isinstance(value, bool) else None
