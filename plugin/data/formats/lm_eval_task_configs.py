"""What makes the prompt and the scores of a task, from its configuration in lm-eval's results."""

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import PurePath
from typing import Any

from podium.run_record import Settings, settings_as_pairs
from podium.text import text_of

Config = Mapping[str, Any]
"""The configuration of a task, as lm-eval writes it under `configs`."""
TEMPLATE_FIELDS = (
    "use_prompt",
    "process_docs",
    "description",
    "doc_to_text",
    "gen_prefix",
    "doc_to_image",
    "doc_to_audio",
)
"""Fields that make a document's part of the prompt."""
CHOICE_FIELDS = ("doc_to_choice", "target_delimiter")
"""Fields that make the choices whose likelihood is asked for."""
EXAMPLE_FIELDS = ("doc_to_target", "fewshot_delimiter", "fewshot_split")
"""Fields that make the examples."""
DEFAULTS = {"description": "", "target_delimiter": " ", "fewshot_delimiter": "\n\n"}
"""Values that older versions of lm-eval did not write."""
DEFAULTS_OF_EXAMPLES = {"sampler": "default"}
"""Values in `fewshot_config` that older versions of lm-eval did not write."""
NAMES_OF_INHERITED_FIELDS = {"split": "fewshot_split"}
"""Fields of the task that `fewshot_config` inherits under another name."""
FIRST_EXAMPLES_SAMPLER = "first_n"
"""The sampler that draws no examples: it takes the first ones."""
ADDRESS_IN_MEMORY = re.compile(" at 0x[0-9a-fA-F]+")
"""Matches the address in the text of a function or an object, which differs in every run."""
FUNCTION_WITHOUT_SOURCE = re.compile(r"<function (?:[\w.]+\.)?(\w+|<lambda>)>")
"""Matches the text of a function whose source lm-eval did not write. The group is its name."""
NUMBER_AS_TEXT = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?")
"""Matches a number as it is typed. The hash of a revision, such as `12e4`, is none."""
SHOWN_CHARACTERS = 25
"""Largest number of characters of the template in the text that identifies a prompt."""
GREEDY_VALUES = {"do_sample": (False,), "temperature": (0,)}
"""Values of generation settings that mean what happens without them."""
KEYS_WITHOUT_SCORE = frozenset({"metric", "aggregation", "higher_is_better"})
"""Keys of a metric's configuration that do not change the score of a document."""
STEPS_WITHOUT_SCORE = frozenset({"take_first_k"})
"""Steps of filters that are left out of the scorers: `accept_repeats` compares what they do."""
NON_ARGUMENT_KEYS = frozenset({"version", "config_source", "description", "num_fewshot"})
"""Keys of a task's metadata that are not arguments of the task."""


def parse_option(value: Any) -> Any:
    """Return the value of an option that may be written as text.

    `'true'` becomes True, and a whole number becomes an integer: 1 for `'1'` and for 1.0. The text
    of another number becomes a float. Any other text is returned without outer blanks, any other
    value unchanged.
    """
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        if not NUMBER_AS_TEXT.fullmatch(text):
            return text
        value = float(text)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def prompt_of_config(config: Config) -> str | None:
    """Return a short text of what makes the prompts of a task, except the examples.

    It is the same for the same task in every run and every version of lm-eval.

    Returns:
        The beginning of description and template, and a hash; None if the template is unknown.
    """
    template = _field_text(config.get("doc_to_text"))
    if template is None:
        return None
    description = _field_text(config.get("description")) or ""
    on_one_line = " ".join([*description.split(), *template.split()])
    start = on_one_line[:SHOWN_CHARACTERS]
    beginning = start if start == on_one_line else f"{start} ..."
    fields = _given_fields(config, (*TEMPLATE_FIELDS, *CHOICE_FIELDS))
    return f"{beginning} {_hash_of_fields(fields)}"


def examples_of_config(config: Config) -> str | None:
    """Return a short text of what chooses and writes the examples of a task.

    Returns:
        The name of the sampler and a hash; None if the template of the task is unknown.
    """
    if config.get("doc_to_text") is None:
        return None
    example_fields = _own_examples(config)
    fields = _given_fields(config, EXAMPLE_FIELDS)
    fields |= {f"fewshot_config.{name}": text for name, text in example_fields.items()}
    sampler = example_fields.get("sampler", DEFAULTS_OF_EXAMPLES["sampler"])
    return f"{sampler} {_hash_of_fields(fields)}"


def _hash_of_fields(fields: Mapping[str, str]) -> str:
    """Return `#` and the first digits of the hash of fields."""
    written = json.dumps(fields, sort_keys=True)
    return f"#{sha256(written.encode()).hexdigest()[:8]}"


def choices_of_config(config: Config) -> str:
    """Return what makes the choices whose likelihood is asked for. It is not in `prompt_hash`.

    It is a JSON object of the fields that are given, `{}` if there are none.
    """
    return json.dumps(_given_fields(config, CHOICE_FIELDS), sort_keys=True)


def _given_fields(config: Config, names: tuple[str, ...]) -> dict[str, str]:
    """Return the texts of fields by name, without those that are null or have their default."""
    typed_fields = {}
    for name in names:
        text = _field_text(config.get(name))
        if text is not None and text != DEFAULTS.get(name):
            typed_fields[name] = text
    return typed_fields


def _own_examples(config: Config) -> dict[str, str]:
    """Return the texts of the fields of `fewshot_config` that say something of their own.

    Left out are fields that are null, that have a default, or that repeat the task's own field,
    also if one of the two has the source of a function and the other its name.
    """
    example_config = config.get("fewshot_config")
    differing: dict[str, str] = {}
    if not isinstance(example_config, Mapping):
        return differing
    for name, value in example_config.items():
        text = _field_text(value)
        inherited = NAMES_OF_INHERITED_FIELDS.get(name) or str(name)
        inherited_text = _field_text(config.get(inherited))
        if text is None or text in (inherited_text, DEFAULTS_OF_EXAMPLES.get(name)):
            continue  # as without this key
        if text == DEFAULTS.get(name) and inherited_text is None:
            continue  # the default, too
        if not _is_name_of(text, inherited_text):
            differing[name] = text
    return differing


def _is_name_of(text: str, source: str | None) -> bool:
    """Return whether a text, as `<function name>`, names the function with this source."""
    function_match = FUNCTION_WITHOUT_SOURCE.fullmatch(text)
    if function_match is None or source is None:
        return False
    name = function_match[1]
    beginning = "lambda" if name == "<lambda>" else f"def {name}("
    return beginning in source


def _field_text(value: Any) -> str | None:
    """Return a field as text, without addresses of objects; None for null."""
    if value is None:
        return None
    text = value if isinstance(value, str) else text_of(value)
    return None if text is None else ADDRESS_IN_MEMORY.sub("", text)


def is_seeded(config: Config) -> bool:
    """Return whether the examples are drawn, so that a seed changes them.

    They are unless the sampler is `FIRST_EXAMPLES_SAMPLER`.
    """
    example_config = config.get("fewshot_config")
    return (
        not isinstance(example_config, Mapping)
        or example_config.get("sampler") != FIRST_EXAMPLES_SAMPLER
    )


def dataset_of_config(config: Config) -> Settings:
    """Return the path, name, split and revision of the dataset.

    Of a folder or file on a machine, only its own name is kept. The split is that of the test, else
    that of the validation. Values that are unknown are left out.
    """
    path = config.get("dataset_path")
    if isinstance(path, str) and path.startswith(("/", ".", "~")):
        path = PurePath(path).name
    options = config.get("dataset_kwargs")
    dataset_settings = {
        "dataset_path": path,
        "dataset_name": config.get("dataset_name"),
        "split": config.get("test_split") or config.get("validation_split"),
        "revision": options.get("revision") if isinstance(options, Mapping) else None,
    }
    return settings_as_pairs(dataset_settings)


def generation_of_config(config: Config) -> dict[str, Any]:
    """Return the generation settings of a task's configuration that differ from greedy ones.

    A stop at the delimiter of examples, which is lm-eval's default, is left out, too.
    """
    settings = config.get("generation_kwargs")
    if not isinstance(settings, Mapping):
        return {}
    delimiter = config.get("fewshot_delimiter", DEFAULTS["fewshot_delimiter"])
    differing = {}
    for name, written in settings.items():
        value = parse_option(written)
        is_default = name == "until" and value in (delimiter, [delimiter])
        if not is_default and value not in GREEDY_VALUES.get(name, ()):
            differing[name] = value
    return differing


def scorers_of_config(config: Config) -> Settings:
    """Return the options of each metric and the steps of each filter, by their names.

    The names are `options of METRIC`, `filter FILTER` and `process_results`. Options and steps that
    change no score are left out. Empty if the task has neither metrics nor filters.
    """
    options = {}
    for metric in _mappings(config.get("metric_list")):
        scoring_options = {
            name: value for name, value in metric.items() if name not in KEYS_WITHOUT_SCORE
        }
        options[f"options of {metric.get('metric')}"] = _field_text(scoring_options)
    for filter_ in _mappings(config.get("filter_list")):
        steps = _mappings(filter_.get("filter"))
        scoring_steps = [step for step in steps if step.get("function") not in STEPS_WITHOUT_SCORE]
        options[f"filter {filter_.get('name')}"] = _field_text(scoring_steps)
    if options:
        # An empty text is the value of runs whose scores lm-eval computes itself.
        options["process_results"] = _field_text(config.get("process_results")) or ""
    return settings_as_pairs(options)


def scorers_of_metrics(scorers: Settings, metrics: Sequence[str]) -> Settings:
    """Return those of a task's scorers that make the scores by some metrics, `metric,filter`."""
    used_names = {"process_results"}
    for metric in metrics:
        name, _, filter_name = metric.rpartition(",")
        used_names |= {f"options of {name}", f"filter {filter_name}"}
    return tuple(setting for setting in scorers if setting[0] in used_names)


def _mappings(values: Any) -> list[Mapping[str, Any]]:
    """Return the mappings in a list; none if it is not a list."""
    listed = values if isinstance(values, list) else []
    return [value for value in listed if isinstance(value, Mapping)]


def arguments_of_config(config: Config, model_arguments: Mapping[str, Any]) -> Settings:
    """Return the arguments that a task was given as metadata.

    lm-eval adds the arguments of the model to the metadata. They are left out, and so are the keys
    of `NON_ARGUMENT_KEYS`. Empty if there is no metadata.
    """
    metadata = config.get("metadata")
    if not isinstance(metadata, Mapping):
        return ()
    other_keys = {*NON_ARGUMENT_KEYS, *model_arguments}
    return settings_as_pairs(
        {name: value for name, value in metadata.items() if name not in other_keys}
    )
