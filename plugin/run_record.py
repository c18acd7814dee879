"""A run of an eval: which model answered which task, and how it was asked."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

Settings: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs of a name and a value as JSON, sorted by name."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run of one model on one task, as far as its files say. None means: they do not say.

    Attributes:
        model: name of the model.
        task: name of the task.
        source: path of the file that records the run.
        time: when it was started or saved, as the file has it.
        task_version: version of the task.
        task_arguments: arguments of the task that were given, without defaults.
        model_arguments: arguments of the model, without those that change no answer.
        solver: name of the solver.
        solver_arguments: arguments of the solver.
        generation: settings of generation.
        shots: number of examples in the prompt.
        system_instruction: the instruction before the conversation.
        chat_template: hash of the template that renders conversations.
        limit: number of samples that were asked for, or their range.
        epochs: number of times that each sample was run.
        reducers: how the scores of epochs are reduced to one; the first gives the headline.
        status: how the run ended.
        failed: number of samples that ended with an error.
        invalidated: number of samples that were invalidated afterwards.
    """

    model: str
    task: str
    source: str
    time: str = ""
    task_version: str | None = None
    task_arguments: Settings = ()
    model_arguments: Settings = ()
    solver: str | None = None
    solver_arguments: Settings = ()
    generation: Settings = ()
    shots: int | None = None
    system_instruction: str | None = None
    chat_template: str | None = None
    limit: str | None = None
    epochs: int | None = None
    reducers: tuple[str, ...] = ()
    status: str | None = None
    failed: int | None = None
    invalidated: int | None = None

    def settings(self) -> dict[str, str]:
        """Return how the model was asked: values as text by name, without unknown ones."""
        asked = {
            "task_version": self.task_version,
            "solver": self.solver,
            "shots": self.shots,
            "system_instruction": self.system_instruction,
            "chat_template": self.chat_template,
            "limit": self.limit,
        }
        known = {name: str(value) for name, value in asked.items() if value is not None}
        given = (*self.task_arguments, *self.model_arguments)
        return known | dict((*given, *self.generation, *self.solver_arguments))

    def to_json(self) -> dict[str, Any]:
        """Return what is known, for the provenance of a ranking."""
        known = asdict(self)
        return {name: value for name, value in known.items() if value not in (None, (), "")}


def settings_as_pairs(*given: Mapping[str, Any] | None) -> Settings:
    """Return the settings of mappings, the last one first where two have a name; None is left
    out."""
    values = dict[str, str]()
    for mapping in given:
        for name, value in (mapping or {}).items():
            if value is not None:
                values[name] = json.dumps(value, sort_keys=True, default=str)
    return tuple(sorted(values.items()))


def differing_settings(runs: Sequence[RunRecord]) -> list[str]:
    """Return the names of the settings in which runs differ, sorted; one that some run lacks counts
    as different."""
    settings = [run.settings() for run in runs]
    names = set[str]().union(*settings)
    return sorted(name for name in names if len({own.get(name) for own in settings}) > 1)
