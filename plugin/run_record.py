"""The record of a run of an eval: its model, its task, and its settings."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

Settings: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs of a name and a value as JSON, sorted by name."""

ONE_TASK = (
    "runs are compared on one task; two prompts are compared if they are values of an argument of "
    "one task"
)
"""Why runs of several tasks are not compared, and what to do."""

SettingKind = Literal[
    "shots",
    "few-shot seed",
    "examples",
    "examples as turns",
    "task version",
    "system instruction",
    "prompt",
    "chat template",
    "dataset",
    "task argument",
    "scorer",
    "model role",
    "generation",
    "model argument",
    "solver",
    "solver argument",
    "sample limit",
]
"""What a setting belongs to. `podium.comparability.run_settings` says which kinds are flagged."""


class Setting(NamedTuple):
    """The name of a setting.

    Attributes:
        kind: what the setting belongs to.
        name: name of the argument or option; empty if the kind has a single setting.
        scorer: name of the scorer that has the option; empty if the setting is not such an option.
    """

    kind: SettingKind
    name: str = ""
    scorer: str = ""

    @property
    def text(self) -> str:
        """The name that messages show, such as `shots` or `model of scorer exact`."""
        if self.scorer:
            return f"{self.name} of scorer {self.scorer}"
        return self.name or self.kind


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run of one model on one task, as its files describe it.

    A field is None (or empty, for `time` and tuples) if the files do not give it.

    Attributes:
        model: name of the model.
        task: name of the task.
        source: path of the file that records the run.
        time: when the run was started or saved, in the form of the file.
        is_described: whether the files record the settings of the run. If they do, an option that
            is not among the settings had its default value.
        verdict_task: value of the column `task` in the verdicts on the run's responses, if they
            were judged in a tournament; else empty.
        named_settings: the settings in which runs of one model differ, and which its name shows
            or implies.
        task_version: version of the task.
        task_arguments: arguments of the task that were given, without defaults.
        unrecorded_arguments_have_defaults: whether an argument of the task that is not recorded had
            its default value. If not, it may not exist.
        argument_defaults: defaults of other arguments of the task, as far as the file records them.
        model_arguments: arguments of the model, except those that cannot change an answer.
        model_roles: models with a role in the task, such as the grader, by role.
        solver: name of the solver.
        solver_arguments: arguments of the solver.
        generation: settings of generation, except those that cannot change an answer.
        sample_limits: limits of messages, tokens and time for each sample.
        dataset: what is known of the dataset: its name, split or revision.
        scorers: options of each scorer, by name of the scorer.
        prompt: the template that makes a prompt of an input.
        shots: number of examples in the prompt.
        fewshot_seed: seed by which the examples were drawn.
        examples: a text that identifies how examples are chosen and written; None if the prompt has
            none.
        examples_as_turns: whether examples are turns of a chat; None if the prompt has none, or is
            no chat.
        system_instruction: the instruction before the conversation.
        chat_template: hash of the template that renders conversations.
        limit: number or range of the samples to which the run was limited.
        epochs: number of times that each sample was run.
        reducers: names of the functions that make one score of the scores of all epochs. The first
            one gives the headline.
        status: how the run ended, as the file says.
        failed: number of samples that ended with an error.
        invalidated: number of samples that were invalidated afterwards.
        revision: the commit of the code that ran the eval.
        host_version: version of the program that ran the eval, Inspect or lm-eval.
    """

    model: str
    task: str
    source: str
    time: str = ""
    is_described: bool = True
    verdict_task: str = ""
    named_settings: tuple[Setting, ...] = ()
    task_version: str | None = None
    task_arguments: Settings = ()
    unrecorded_arguments_have_defaults: bool = True
    argument_defaults: Settings = ()
    model_arguments: Settings = ()
    model_roles: Settings = ()
    solver: str | None = None
    solver_arguments: Settings = ()
    generation: Settings = ()
    sample_limits: Settings = ()
    dataset: Settings = ()
    scorers: Settings = ()
    prompt: str | None = None
    shots: int | None = None
    fewshot_seed: int | None = None
    examples: str | None = None
    examples_as_turns: bool | None = None
    system_instruction: str | None = None
    chat_template: str | None = None
    limit: str | None = None
    epochs: int | None = None
    reducers: tuple[str, ...] = ()
    status: str | None = None
    failed: int | None = None
    invalidated: int | None = None
    revision: str | None = None
    host_version: str | None = None

    def settings(self) -> dict[Setting, str]:
        """Return the known settings that may change answers or scores.

        The values are texts; those of arguments and options are JSON. Each option of a scorer is a
        setting, and so is the scorer. The limit of samples and the epochs are not among the
        settings: they change which samples were run and how often. The revision of the code and the
        version of its program are not either: they may change without any effect.
        """
        single: dict[SettingKind, Any] = {
            "shots": self.shots,
            "few-shot seed": self.fewshot_seed,
            "examples": self.examples,
            "examples as turns": self.examples_as_turns,
            "task version": self.task_version,
            "system instruction": self.system_instruction,
            "prompt": self.prompt,
            "chat template": self.chat_template,
            "solver": self.solver,
        }
        values = {Setting(kind): str(value) for kind, value in single.items() if value is not None}
        several: dict[SettingKind, Settings] = {
            "dataset": self.dataset,
            "task argument": self.task_arguments,
            "scorer": self.scorers,
            "model role": self.model_roles,
            "generation": self.generation,
            "model argument": self.model_arguments,
            "solver argument": self.solver_arguments,
            "sample limit": self.sample_limits,
        }
        for kind, pairs in several.items():
            for name, value in pairs:
                values[Setting(kind, name)] = value
        for name, value in self.scorers:
            values |= _options_of_scorer(name, value)
        return values

    def value_of(self, setting: Setting) -> str | None:
        """Return the value of a setting, or the recorded default of an argument of the task.

        Returns:
            the text as in `settings`; None if neither is known.
        """
        value = self.settings().get(setting)
        if value is not None or setting.kind != "task argument":
            return value
        return dict(self.argument_defaults).get(setting.name)

    def to_json(self) -> dict[str, Any]:
        """Return the known fields, for the provenance of a ranking.

        Fields that are None or empty are left out, and `named_settings` are texts. `is_described`
        is there only if it is False, and `unrecorded_arguments_have_defaults` is left out.
        """
        facts = asdict(self)
        facts["named_settings"] = [setting.text for setting in self.named_settings]
        facts.pop("unrecorded_arguments_have_defaults")
        described = facts.pop("is_described")
        fields = {name: value for name, value in facts.items() if value not in (None, (), "", [])}
        return fields if described else {**fields, "is_described": False}


def _options_of_scorer(scorer: str, value: str) -> dict[Setting, str]:
    """Return the settings of a scorer: one per option, and the scorer itself.

    The scorer itself has the value `{}`, so that its options are compared one by one. The
    dictionary is empty if the value is not a JSON object.

    Args:
        scorer: name of the scorer.
        value: its options as JSON; those that are null are left out.
    """
    try:
        options = json.loads(value)
    except ValueError:
        return {}
    if not isinstance(options, dict):
        return {}
    texts = settings_as_pairs(options)
    texts_by_setting = {Setting("scorer", option, scorer): text for option, text in texts}
    return {Setting("scorer", scorer): "{}", **texts_by_setting}


def settings_as_pairs(*mappings: Mapping[str, Any] | None) -> Settings:
    """Return the settings in mappings, with values as JSON and without those that are None.

    If several mappings have a name, the last value that is not None counts. A mapping that is None
    counts as empty.
    """
    values = dict[str, str]()
    for mapping in mappings:
        for name, value in (mapping or {}).items():
            if value is not None:
                values[name] = json.dumps(value, sort_keys=True, default=str)
    return tuple(sorted(values.items()))
