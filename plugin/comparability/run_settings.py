"""Compare the settings of runs: between models, and between the runs of one model.

Runs of one model that differ in a setting become models of their own, whose names show the setting.
Settings in which models differ are findings: `FLAGGED_KINDS` make a ranking doubtful; the others
belong to how each model is run, and are noted.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from typing import Any

from podium.notices.notice import Notice
from podium.printable import shorten
from podium.run_record import RunRecord, Setting, SettingKind
from podium.wording import join_names, plural, shared_length, some

FLAGGED_KINDS: frozenset[SettingKind] = frozenset(
    {
        "shots",
        "few-shot seed",
        "examples",
        "task version",
        "system instruction",
        "prompt",
        "dataset",
        "task argument",
        "scorer",
        "model role",
    }
)
"""Kinds of settings that should be the same for all models of a task."""
OWN_KINDS: frozenset[SettingKind] = frozenset({"model argument"})
"""Kinds that belong to a model, such as the path of its weights. Models are not compared in
them."""
RECORDED_KINDS: frozenset[SettingKind] = frozenset(
    {"shots", "few-shot seed", "examples", "examples as turns", "task version", "prompt", "scorer"}
)
"""Kinds whose value is unknown if a described run does not have it. All others have a default."""
IMPLIED_KINDS: tuple[SettingKind, ...] = (
    "solver",
    "solver argument",
    "prompt",
    "system instruction",
)
"""Kinds of settings that other settings often change, in the order in which names leave them
out."""
CAUSES: Mapping[SettingKind, frozenset[SettingKind]] = {
    "solver": frozenset({"task argument", "system instruction", "prompt"}),
    "solver argument": frozenset({"task argument", "system instruction", "prompt"}),
    "prompt": frozenset({"task argument", "system instruction"}),
    "system instruction": frozenset({"task argument"}),
}
"""The kinds of settings that may change a setting of a kind of `IMPLIED_KINDS`, by that kind."""
SYSTEM_SOLVER = "system_message"
"""Part of the name of a solver that makes the system instruction, perhaps of an argument."""
WORDING_KINDS: frozenset[SettingKind] = frozenset(
    {
        "shots",
        "few-shot seed",
        "examples",
        "examples as turns",
        "task version",
        "system instruction",
        "prompt",
        "chat template",
        "task argument",
    }
)
"""Kinds of settings that change the words of a question."""
DEFAULT = "default"
"""What texts show for an option that was not given."""
TEXT_OF_ONLY_HASH = "one of its own"
"""What texts show for a value that is a hash, if no other value of the setting is a hash.

An example is a chat template: `chat template: default (org/A), one of its own (org/B)`.
"""
NOT_RECORDED = "not recorded"
"""What texts show for a field that the files of other runs have."""
HASH = re.compile("[0-9a-f]{32,}")
"""Matches a value that is a hash, such as that of a chat template."""
HASH_AT_END = re.compile(" #[0-9a-f]{8}$")
"""Matches the hash at the end of a value whose beginning alone is recorded."""
SHOWN_OF_HASH = 8
"""Number of characters of a hash that names of models show."""
CHARACTERS_BEFORE = 8
"""Number of characters that are shown before the place where long values first differ."""
LONGEST_STRUCTURE = 60
"""Largest number of characters of a list or object that is shown; of a longer one, the number of
its values is shown."""
LONGEST_VALUE = 40
"""Largest number of characters of a setting's value in names and messages."""
LONGEST_IN_NAME = 20
"""Values with more characters are left out of the names of models if other settings distinguish
the runs of each model."""


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """A setting in which the models of a task differ.

    Attributes:
        task: the task; empty if it is not known.
        setting: the setting.
        models: the models by the text of their value. An option that was not given has the text
            `default`, and a field that the files of some runs lack has `not recorded`.
        implied: other settings that have one value for each value of this one, such as the prompt
            that an argument makes. They are not told again.
    """

    task: str
    setting: Setting
    models: Mapping[str, tuple[str, ...]]
    implied: tuple[Setting, ...] = ()

    @property
    def is_flagged(self) -> bool:
        """Whether the setting should be the same for all models: its kind is in `FLAGGED_KINDS`."""
        return self.setting.kind in FLAGGED_KINDS

    @property
    def text(self) -> str:
        """The values with their models: `shots of gsm: 0 (org/A), 5 (org/B)`."""
        of_task = f" of {self.task}" if self.task else ""
        return f"{self.setting.text}{of_task}: {self.values_text}"

    @property
    def values_text(self) -> str:
        """The values with their models, without the names of setting and task.

        At most four values, and three models of each, are named. Implied settings follow if their
        kind is in `FLAGGED_KINDS`.
        """
        values = [f"{value} ({some(names, most=3)})" for value, names in self.models.items()]
        text = some(values, most=4)
        names = [setting.text for setting in self.implied if setting.kind in FLAGGED_KINDS]
        return f"{text}, and with it the {join_names(names)}" if names else text


def differences_of_models(runs: Sequence[RunRecord]) -> list[SettingDifference]:
    """Return the settings in which models differ, by task.

    Settings that the names of all models of the task show are left out, and so are those of
    `OWN_KINDS`. A value that is unknown of a run is not compared. A prompt or solver that differs
    as an argument of the task does is told with the argument.
    """
    by_task: dict[str, list[RunRecord]] = defaultdict(list)
    for run in runs:
        by_task[run.task].append(run)
    differences = []
    for task, runs_of_task in by_task.items():
        if len({run.model for run in runs_of_task}) < 2:
            continue
        differing = []
        for setting in differing_settings(runs_of_task):
            is_named = all(setting in run.named_settings for run in runs_of_task)
            if not is_named and setting.kind not in OWN_KINDS:
                differing.append(setting)
        for setting, implied in _group_by_cause(differing, runs_of_task).items():
            models = _models_by_value(runs_of_task, setting)
            differences.append(SettingDifference(task, setting, models, implied))
    return differences


def _group_by_cause(
    settings: Sequence[Setting], runs: Sequence[RunRecord]
) -> dict[Setting, tuple[Setting, ...]]:
    """Group settings in which runs differ: a setting that another explains is listed with the
    other.

    A setting of a kind in `IMPLIED_KINDS` is explained if runs with the same values of all settings
    of the kinds in its `CAUSES` have the same value of it.

    Args:
        settings: settings in which the runs differ.
        runs: the runs of a task.

    Returns:
        Each setting that is not explained, with the settings that it explains. A setting with
        several causes is listed with the first of them.
    """
    implied: dict[Setting, list[Setting]] = {setting: [] for setting in settings}
    for kind in IMPLIED_KINDS:
        causes = [setting for setting in implied if setting.kind in CAUSES[kind]]
        if not causes or not _may_be_implied(kind, runs):
            continue
        # A list, because implied settings are removed while it is read.
        for setting in [setting for setting in implied if setting.kind == kind]:
            values: dict[tuple[str | None, ...], set[str | None]] = defaultdict(set)
            for run in runs:
                values[tuple(map(run.value_of, causes))].add(run.value_of(setting))
            if all(len(values_of_model) == 1 for values_of_model in values.values()):
                implied[causes[0]] += [*implied.pop(setting), setting]
    return {setting: tuple(implied_settings) for setting, implied_settings in implied.items()}


def _may_be_implied(kind: SettingKind, runs: Iterable[RunRecord]) -> bool:
    """Return whether another setting may have made a setting of this kind.

    False only for a system instruction, if a run does not use the solver `system_message`: the
    instruction was then given to that run by itself.
    """
    if kind != "system instruction":
        return True
    return all(SYSTEM_SOLVER in (run.solver or "") for run in runs)


def differing_settings(runs: Sequence[RunRecord]) -> list[Setting]:
    """Return the settings in which some runs of a task differ, in the order of their names.

    A run of which the value is not known is not compared. The seed of examples is left out if all
    runs have 0 shots.
    """
    settings = [run.settings() for run in runs]
    names = set[Setting]().union(*settings)
    differing = []
    for name in sorted(names):
        values = _known_values(runs, settings, name)
        if len(set(values)) > 1 and not _is_idle(name, runs):
            differing.append(name)
    return differing


def _known_values(
    runs: Sequence[RunRecord], settings: Sequence[Mapping[Setting, str]], name: Setting
) -> list[str | None]:
    """Return a value of a setting for each run that records it, or of which it had its default.

    The value is None for a default that is not known. Other runs are left out.

    Args:
        runs: the runs.
        settings: the settings of each run.
        name: the setting.
    """
    values: list[str | None] = []
    for run, settings_of_run in zip(runs, settings, strict=True):
        if name in settings_of_run or _has_default(run, name):
            values.append(run.value_of(name))
    return values


def _has_default(run: RunRecord, setting: Setting) -> bool:
    """Return whether a setting that a run does not record had its default value.

    For a setting of a scorer, it is True if the run has the scorer. For any other setting, it is
    True if the run is described and the kind is not in `RECORDED_KINDS`; for the kind `dataset`,
    the run must have a dataset, too.
    """
    if setting.scorer:
        return any(name == setting.scorer for name, _ in run.scorers)
    if setting.kind == "dataset" and not run.dataset:
        return False
    return run.is_described and setting.kind not in RECORDED_KINDS


def _is_idle(setting: Setting, runs: Sequence[RunRecord]) -> bool:
    """Return whether a setting has no effect: the seed of examples, where there are none."""
    return setting.kind == "few-shot seed" and all(run.shots == 0 for run in runs)


def _models_by_value(runs: Sequence[RunRecord], setting: Setting) -> dict[str, tuple[str, ...]]:
    """Return the models by the text of a setting's value, sorted by text.

    Runs whose value is unknown are left out. A run that may not have the argument has the text
    `NOT_RECORDED`.
    """
    texts = value_texts(run.value_of(setting) for run in runs)
    models: dict[str, list[str]] = defaultdict(list)
    for run, text in zip(runs, texts, strict=True):
        is_recorded = setting in run.settings() or _has_default(run, setting)
        if run.value_of(setting) is None and _may_lack(run, setting):
            text = NOT_RECORDED
        if is_recorded and run.model not in models[text]:
            models[text].append(run.model)
    return {text: tuple(names) for text, names in sorted(models.items()) if names}


def _may_lack(run: RunRecord, setting: Setting) -> bool:
    """Return whether a run may lack a setting that it does not record, even as a default.

    This is so for arguments of a task, unless the run records that unrecorded arguments have their
    defaults.
    """
    return setting.kind == "task argument" and not run.unrecorded_arguments_have_defaults


def value_texts(values: Iterable[str | None], *, are_for_names: bool = False) -> list[str]:
    """Return short texts of the values of a setting; different values have different texts.

    Long values are shown from shortly before the place where they first differ. Values that are
    hashes, and those whose short texts are the same, are numbered: `variant 1`. A single hash is
    `TEXT_OF_ONLY_HASH`. In names, these values have digits of a hash instead, since a name must
    stay the same if other runs are added.

    Args:
        values: texts or JSON; None for the default.
        are_for_names: whether the texts are parts of the names of models.
    """
    values = list(values)
    contents = [DEFAULT if value is None else _plain_content(value) for value in values]
    long = {content for content in contents if len(content) > LONGEST_VALUE}
    # All texts begin as the first and the last of them in order do.
    shared_characters = shared_length(min(long), max(long)) if len(long) > 1 else 0
    texts = [_shown_content(content, shared_characters) for content in contents]
    values_of_text: dict[str, set[str | None]] = defaultdict(set)
    for value, text in zip(values, texts, strict=True):
        values_of_text[text].add(value)
    if not are_for_names:
        numbered = _number_variants(values_of_text)
        return [numbered.get(value, text) for value, text in zip(values, texts, strict=True)]
    distinct = []
    for value, text in zip(values, texts, strict=True):
        if len(values_of_text[text]) > 1 and value is not None:
            text = f"{text} #{sha256(value.encode()).hexdigest()[:4]}"
        distinct.append(text)
    return distinct


def _number_variants(values_of_text: Mapping[str, Collection[str | None]]) -> dict[str | None, str]:
    """Return texts with a number for the values that a short text does not identify.

    Args:
        values_of_text: the values by their short text; that of a hash is its first digits.

    Returns:
        The texts by value; values that their short text identifies are left out. A text is, for
        example, `variant 1` for a hash and `TEXT (variant 2)` for one of several values with the
        same short text. The only hash is `TEXT_OF_ONLY_HASH`.
    """
    all_hashes: list[str] = []
    variants: dict[str | None, str] = {}
    for text, values in values_of_text.items():
        distinct_values = sorted(value for value in values if value is not None)
        hashes = [value for value in distinct_values if HASH.fullmatch(value.strip('"'))]
        all_hashes += hashes
        # A missing value (None) is another value, but needs no text.
        has_several_values = len(values) > 1
        if has_several_values and not hashes:
            texts = [f"{text} (variant {number})" for number in range(1, len(distinct_values) + 1)]
            variants.update(zip(distinct_values, texts, strict=True))
    if len(all_hashes) == 1:
        return {**variants, all_hashes[0]: TEXT_OF_ONLY_HASH}
    for number, value in enumerate(sorted(all_hashes), 1):
        variants[value] = f"variant {number}"
    return variants


def _plain_content(value: str) -> str:
    """Return the text of a value, without the quotation marks of JSON and without a hash at its
    end.

    Of a hash, it is the first 8 digits. Of a list or object of more than 60 characters, it is the
    number of its values, such as `12 values`, since its beginning says little.
    """
    try:
        content = json.loads(value)
    except ValueError:
        content = value
    if isinstance(content, list | dict) and len(value) > LONGEST_STRUCTURE:
        return f"{len(content)} {plural('value', len(content))}"
    text = content if isinstance(content, str) else value
    text = HASH_AT_END.sub("", text)
    return text[:SHOWN_OF_HASH] if HASH.fullmatch(text) else text


def _shown_content(content: str, shared_characters: int) -> str:
    """Return a short form of a value, of at most `LONGEST_VALUE` characters.

    A longer value lacks its middle. It also lacks what long values have in common at the beginning,
    if that is long: the text then starts with `...` and the word in which they differ.

    Args:
        content: the value.
        shared_characters: number of characters with which all long values begin.
    """
    if len(content) <= LONGEST_VALUE or shared_characters <= CHARACTERS_BEFORE:
        return shorten(content, LONGEST_VALUE)
    # The word in which the values differ, or a few characters where there are no words.
    start = max(content.rfind(" ", 0, shared_characters) + 1, shared_characters - CHARACTERS_BEFORE)
    return shorten(f"... {content[start:]}", LONGEST_VALUE)


def name_runs(
    runs: Sequence[RunRecord],
    labelled: Collection[str] = (),
    evaluations: Mapping[str, str] | None = None,
) -> list[RunRecord]:
    """Name the runs of one model that differ in settings by these settings.

    `m` becomes `m (temperature=0)` and `m (temperature=1)`. An argument of the task that was not
    given has its default value, if the file records it. A run whose value is unknown keeps its
    name. A setting that differs on one task is shown on every task of the model on which it is
    known, so that a model has one name on all tasks. Long values are left out where others
    distinguish the runs: differences in them are told as those between models.

    Args:
        runs: the runs of all models and tasks.
        labelled: the sources whose model was named by the user. They keep their names, and have no
            `named_settings`.
        evaluations: by source, a name of the evaluation of several tasks that the run belongs to.
            All its runs get one name, such as `m (shots=0 or 5)` if its tasks differ in a setting.

    Returns:
        The runs, in the same order.
    """
    evaluations = evaluations or {}
    runs_by_model: dict[str, dict[str, list[RunRecord]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        if run.source not in labelled:
            evaluation = evaluations.get(run.source, run.source)
            runs_by_model[run.model][evaluation].append(run)
    namings = {
        model: _naming_of_model([*runs_by_evaluation.values()])
        for model, runs_by_evaluation in runs_by_model.items()
    }
    named_runs = []
    for run in runs:
        if run.source in labelled:
            named_runs.append(replace(run, named_settings=()))
            continue
        naming = namings[run.model]
        runs_of_evaluation = runs_by_model[run.model][evaluations.get(run.source, run.source)]
        name = naming.name(run.model, runs_of_evaluation)
        named_runs.append(replace(run, model=name, named_settings=naming.named_settings))
    return named_runs


@dataclass(frozen=True, slots=True)
class _Naming:
    """How the names of a model's runs show the settings in which they differ.

    Attributes:
        texts: by setting that the names show, the text of each of its values.
        named_settings: the settings that the names show or imply.
    """

    texts: Mapping[Setting, Mapping[str, str]]
    named_settings: tuple[Setting, ...]

    def name(self, model: str, runs_of_evaluation: Sequence[RunRecord]) -> str:
        """Return the name of the runs of one evaluation of a model.

        It is the model's name, followed by the settings in which evaluations differ, as in `m
        (shots=0)`. Settings that these runs do not record are left out.
        """
        setting_texts = []
        for setting, text_of_value in self.texts.items():
            values_of_run = _known_of_evaluation(setting, runs_of_evaluation)
            if values_of_run:
                each_text = [text_of_value[value] for value in values_of_run]
                setting_texts.append(f"{setting.text}={' or '.join(each_text)}")
        return f"{model} ({', '.join(setting_texts)})" if setting_texts else model


def _naming_of_model(evaluations: Sequence[Sequence[RunRecord]]) -> _Naming:
    """Choose the settings that the names of a model's runs show.

    Args:
        evaluations: the runs of the model; those of one evaluation have one name.
    """
    runs = list(chain.from_iterable(evaluations))
    differing = _settings_that_split(runs)
    texts = _shown_settings(runs, differing)
    left_out = _long_settings(evaluations, texts)
    texts_in_names = {setting: text for setting, text in texts.items() if setting not in left_out}
    return _Naming(texts_in_names, _named_settings(runs, differing, texts_in_names, left_out))


def notes_on_labels(runs: Sequence[RunRecord], labelled: Collection[str]) -> list[Notice]:
    """Return a warning on each model that the user named although its runs differ in settings.

    Without the label, the runs would be models of their own.

    Args:
        runs: the runs, with the names of their models.
        labelled: the sources whose model was named by the user.
    """
    by_label: dict[str, list[RunRecord]] = defaultdict(list)
    for run in runs:
        if run.source in labelled:
            by_label[run.model].append(run)
    notes = []
    for label, runs_of_label in sorted(by_label.items()):
        split = _without_implied(_settings_that_split(runs_of_label), runs_of_label)
        if split:
            values = [" or ".join(_models_by_value(runs_of_label, setting)) for setting in split]
            texts = [f"{setting.text} {text}" for setting, text in zip(split, values, strict=True)]
            notes.append(Notice("label-joins-settings", {"model": label, "settings": texts}))
    return notes


def _settings_that_split(runs: Iterable[RunRecord]) -> list[Setting]:
    """Return the settings in which the runs of one model differ on at least one task, sorted."""
    tasks: dict[str, list[RunRecord]] = defaultdict(list)
    for run in runs:
        tasks[run.task].append(run)
    return sorted(
        {setting for runs_of_task in tasks.values() for setting in differing_settings(runs_of_task)}
    )


def _shown_settings(
    runs: Sequence[RunRecord], settings: Sequence[Setting]
) -> dict[Setting, dict[str, str]]:
    """Return the settings that the names of a model's runs show, with the texts of their values.

    Settings that others imply are left out.

    Args:
        runs: the runs of the model.
        settings: the settings in which the runs differ.

    Returns:
        For each setting, the text of each known value by the value.
    """
    texts = {}
    for setting in _without_implied(settings, runs):
        values = [run.value_of(setting) for run in runs]
        known_values = [value for value in values if value is not None]
        texts_of_values = value_texts(known_values, are_for_names=True)
        texts[setting] = dict(zip(known_values, texts_of_values, strict=True))
    return texts


def _without_implied(settings: Sequence[Setting], runs: Sequence[RunRecord]) -> Sequence[Setting]:
    """Return the settings without those of `IMPLIED_KINDS` that differ only where others differ.

    An argument of the task that changes the prompt says more briefly what differs.
    """
    remaining = list(settings)
    for kind in IMPLIED_KINDS:
        others = [setting for setting in remaining if setting.kind != kind]
        if _may_be_implied(kind, runs) and _distinguish_runs(others, remaining, runs):
            remaining = others
    return remaining


def _long_settings(
    evaluations: Sequence[Sequence[RunRecord]], texts: Mapping[Setting, Mapping[str, str]]
) -> list[Setting]:
    """Return the settings with long values that the names of a model's runs need not show.

    Without them, the names still distinguish the same runs of one task, and no name stands for two
    values on two tasks. The longest are left out first.

    Args:
        evaluations: the runs of the model; those of one evaluation have one name.
        texts: the texts of the values of the settings that the names would show.
    """
    lengths = {
        setting: max(map(len, texts_of_setting.values()))
        for setting, texts_of_setting in texts.items()
    }
    left_out: list[Setting] = []
    for setting in sorted(texts, key=lambda each: -lengths[each]):
        if lengths[setting] <= LONGEST_IN_NAME:
            break
        candidates = [*left_out, setting]
        remaining = [each for each in texts if each not in candidates]
        if _are_redundant(candidates, remaining, evaluations):
            left_out = candidates
    return left_out


def _are_redundant(
    settings: Sequence[Setting],
    settings_in_names: Sequence[Setting],
    evaluations: Sequence[Sequence[RunRecord]],
) -> bool:
    """Return whether names that show some settings distinguish the runs without other settings.

    They do if two conditions hold. Evaluations with one name have one value of each other setting,
    as far as it is known: some tasks may lack a setting. And runs of one task with one name have
    the same values of all settings; there, a missing value is a value, too, also of a shown
    setting, since the name may show what another task of the evaluation records.

    Args:
        settings: the settings that are not shown.
        settings_in_names: the settings that names show.
        evaluations: the runs of the model; those of one evaluation have one name.
    """
    on_task: dict[tuple[Any, ...], set[tuple[str | None, ...]]] = defaultdict(set)
    texts_of_values: dict[tuple[Any, ...], set[tuple[str, ...]]] = defaultdict(set)
    for runs in evaluations:
        name = tuple(_known_of_evaluation(each, runs) for each in settings_in_names)
        for setting in settings:
            values = _known_of_evaluation(setting, runs)
            if values:
                texts_of_values[setting, name].add(values)
        for run in runs:
            on_task[run.task, name].add(tuple(map(run.value_of, [*settings_in_names, *settings])))
    groups: list[Collection[Any]] = [*on_task.values(), *texts_of_values.values()]
    return all(len(values) == 1 for values in groups)


def _known_of_evaluation(setting: Setting, runs: Iterable[RunRecord]) -> tuple[str, ...]:
    """Return the different known values of a setting in the runs of an evaluation, sorted."""
    values = {run.value_of(setting) for run in runs}
    return tuple(sorted(value for value in values if value is not None))


def _named_settings(
    runs: Sequence[RunRecord],
    differing: Sequence[Setting],
    settings_in_names: Collection[Setting],
    left_out: Collection[Setting],
) -> tuple[Setting, ...]:
    """Return the settings that the names of a model's runs show or imply.

    The result has the settings of `differing`, except those that are left out, and those that a
    setting that is left out may have changed (`CAUSES`), unless shown settings explain them. Notes
    tell the differences in the excepted settings.

    Args:
        runs: the runs of the model.
        differing: the settings in which the runs differ.
        settings_in_names: those that the names show.
        left_out: those that the names leave out because of their long values.
    """
    named_settings = []
    for setting in differing:
        causes = CAUSES.get(setting.kind, frozenset())
        shown_causes = [each for each in settings_in_names if each.kind in causes]
        is_named = setting not in left_out
        has_cause = any(each.kind in causes for each in left_out)
        if is_named and has_cause and setting not in settings_in_names:
            is_named = _distinguish_runs(shown_causes, [*shown_causes, setting], runs)
        if is_named:
            named_settings.append(setting)
    return tuple(named_settings)


def _distinguish_runs(
    settings: Sequence[Setting], all_settings: Sequence[Setting], runs: Iterable[RunRecord]
) -> bool:
    """Return whether runs of one task that differ in any of `all_settings` differ in `settings`."""
    cells: dict[tuple[str | None, ...], set[tuple[str | None, ...]]] = defaultdict(set)
    for run in runs:
        key = (run.task, *map(run.value_of, settings))
        cells[key].add(tuple(map(run.value_of, all_settings)))
    return all(len(values) == 1 for values in cells.values())


def differ_in_words(runs: Iterable[RunRecord]) -> bool:
    """Return whether runs of a task differ in a setting that changes the words of its questions."""
    by_task: dict[str, list[RunRecord]] = defaultdict(list)
    for run in runs:
        by_task[run.task].append(run)
    differing = [
        setting for runs_of_task in by_task.values() for setting in differing_settings(runs_of_task)
    ]
    return any(setting.kind in WORDING_KINDS for setting in differing)


def notices_of_settings(runs: Sequence[RunRecord]) -> list[Notice]:
    """Return a note for each task on the settings that differ between models and are not flagged.

    Tasks without such a setting have no note.
    """
    by_task: dict[str, list[str]] = defaultdict(list)
    for difference in differences_of_models(runs):
        if not difference.is_flagged:
            text = f"{difference.setting.text} {difference.values_text}"
            by_task[difference.task].append(text)
    return [
        Notice("settings-differ", {"task": task, "differences": differences})
        for task, differences in by_task.items()
    ]


def undescribed_sources(runs: Sequence[RunRecord]) -> list[str]:
    """Return the sources of the runs whose settings are unknown, in order; they may repeat."""
    return [run.source for run in runs if not run.is_described]
