"""The record of a run of an eval: its model, its task, and its settings."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

Settings: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs of a name and a value as JSON, sorted by name."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run of one model on one task, as its files describe it.

    A field is None (or empty, for `time` and tuples) if the files do not give it.

    Attributes:
        model: name of the model.
        task: name of the task.
        source: path of the file that records the run.
        time: when the run was started or saved, in the form of the file.
        task_version: version of the task.
        task_arguments: arguments of the task that were given, without defaults.
        model_arguments: arguments of the model, except those that cannot change an answer.
        solver: name of the solver.
        solver_arguments: arguments of the solver.
        generation: settings of generation.
        shots: number of examples in the prompt.
        system_instruction: the instruction before the conversation.
        chat_template: hash of the template that renders conversations.
        limit: number or range of the samples to which the run was limited.
        epochs: number of times that each sample was run.
        reducers: names of the functions that make one score of the scores of all epochs. The first
            one gives the headline.
        status: how the run ended, as the file says.
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

    def settings(self) -> dict[tuple[str, str], str]:
        """Return the settings that may change answers, as text, without unknown ones.

        The keys are the kind of a setting and its name: an argument of a task and a setting of
        generation may have one name.
        """
        asked = {
            "task_version": self.task_version,
            "solver": self.solver,
            "shots": self.shots,
            "system_instruction": self.system_instruction,
            "chat_template": self.chat_template,
            "limit": self.limit,
        }
        known = {("run", name): str(value) for name, value in asked.items() if value is not None}
        given = {
            "task": self.task_arguments,
            "model": self.model_arguments,
            "generation": self.generation,
            "solver": self.solver_arguments,
        }
        for kind, pairs in given.items():
            for name, value in pairs:
                known[kind, name] = value
        return known

    def to_json(self) -> dict[str, Any]:
        """Return the known fields, for the provenance of a ranking."""
        known = asdict(self)
        return {name: value for name, value in known.items() if value not in (None, (), "")}


def settings_as_pairs(*given: Mapping[str, Any] | None) -> Settings:
    """Return the settings in mappings, without those that are None.

    If several mappings have a name, the value in the last one counts.
    """
    values = dict[str, str]()
    for mapping in given:
        for name, value in (mapping or {}).items():
            if value is not None:
                values[name] = json.dumps(value, sort_keys=True, default=str)
    return tuple(sorted(values.items()))


def differing_settings(runs: Sequence[RunRecord]) -> list[str]:
    """Return the sorted names of the settings in which runs differ.

    A setting that only some of the runs have counts as different.
    """
    settings = [run.settings() for run in runs]
    differing = set[str]()
    for kind, name in set[tuple[str, str]]().union(*settings):
        if len({own.get((kind, name)) for own in settings}) > 1:
            differing.add(name)
    return sorted(differing)
