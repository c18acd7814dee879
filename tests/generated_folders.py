"""Generated folders of runs, changes to them, and what podium says of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from asked_runs import Asked, Run, write_inspect_log, write_lm_eval_run

import podium
from podium.data.battles import Battles
from podium.notices.catalogue_of_notices import NOTES

Host = Literal["inspect", "lm-eval"]
MODELS = ("lab/amber", "lab/birch", "works/cedar", "works/dune")
TASKS = ("quiz", "riddles")
TEMPLATES = (None, "<|user|>{{ text }}", "[INST] {{ text }} [/INST]", "### {{ text }}")
COMPARABILITY = ("same-question", "same-settings")
"""Codes of the checks whether rows are about the same thing."""
OTHER_WARNINGS = frozenset({"items"})
"""Warnings that are not about runs: items are few."""


@dataclass(frozen=True)
class Folder:
    """The runs of a folder, of one host.

    Attributes:
        host: the host.
        runs: the runs.
        suffix: suffix of Inspect's logs. Those in JSON are written ten times as fast.
    """

    host: Host
    runs: tuple[Run, ...]
    suffix: str = ".json"

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order of their first runs."""
        return tuple(dict.fromkeys(run.model for run in self.runs))

    def of_models(self, models: Sequence[str]) -> "Folder":
        """Return the folder with the runs of some models alone."""
        return replace(self, runs=tuple(run for run in self.runs if run.model in models))

    def map(self, change: Callable[[Run], Run]) -> "Folder":
        """Return the folder with each run changed."""
        return replace(self, runs=tuple(change(run) for run in self.runs))


def generate_folder(seed: int) -> Folder:
    """Return a folder whose models were asked the same.

    What differs between models says nothing about comparability: the chat template, the day, the
    temperature and the limit of tokens.
    """
    rng = np.random.default_rng(seed)
    host: Host = ("inspect", "lm-eval")[seed % 2]
    models = MODELS[: rng.choice([2, 3, 4], p=[0.6, 0.25, 0.15])]
    tasks = TASKS[: rng.choice([1, 2], p=[0.7, 0.3])]
    shots = int(rng.integers(0, 6))
    same = {
        "shots": shots,
        "version": int(rng.integers(1, 4)),
        "system": (None, "Be kind.")[rng.integers(2)],
        "grader": (None, "openai/gpt-4o")[rng.integers(2)] if host == "inspect" else None,
    }
    epochs = int(rng.integers(1, 4))
    templates = rng.permutation(len(TEMPLATES))
    runs = []
    for task in tasks:
        items = int(rng.integers(20, 41))
        difficulty = rng.normal(0, 1, items)
        for place, model in enumerate(models):
            ability = rng.normal(0, 0.8)
            chance = 1 / (1 + np.exp(difficulty - ability))
            scores = (rng.random((epochs, items)) < chance).T.astype(float)
            asked = Asked(
                **same,
                template=TEMPLATES[templates[place]] if host == "lm-eval" else None,
                temperature=(None, 0.0, 0.5, 1.0)[rng.integers(4)],
                max_tokens=(None, 256, 512)[rng.integers(3)],
            )
            runs.append(_run_on_all_items(model, task, scores, asked, day=place))
    folder = Folder(host, tuple(runs), ".eval" if seed % 16 == 0 else ".json")
    return folder if host == "inspect" else _with_settings_by_model(folder)


def _run_on_all_items(model: str, task: str, scores: np.ndarray, asked: Asked, *, day: int) -> Run:
    """Return a run on the questions 0, 1 and so on of a task, with the scores of each one."""
    places = range(len(scores))
    return Run(
        model=model,
        task=task,
        ids=tuple(places),
        inputs=tuple(f"Question {place} of {task}?" for place in places),
        scores=tuple(tuple(own) for own in scores.tolist()),
        asked=asked,
        day=day,
    )


def _with_settings_by_model(folder: Folder) -> Folder:
    """Return the folder with the same settings in all runs of a model: lm-eval runs all tasks of a
    model at once."""
    first = {run.model: run.asked for run in reversed(folder.runs)}
    return folder.map(lambda run: replace(run, asked=first[run.model]))


def write_folder(folder: Folder, place: Path) -> list[Path]:
    """Write all runs into one place; return it as the only source."""
    if folder.host == "inspect":
        for number, run in enumerate(folder.runs):
            write_inspect_log(run, place, f"log_{number}{folder.suffix}")
    else:
        for runs in _runs_by_model(folder).values():
            write_lm_eval_run(runs, place)
    return [place]


def write_apart(folder: Folder, place: Path) -> list[Path]:
    """Write each run into a place of its own. In lm-eval, each task becomes a run of its own."""
    sources = []
    for number, run in enumerate(folder.runs):
        own = place / f"part_{number}"
        if folder.host == "inspect":
            sources.append(write_inspect_log(run, own, f"log{folder.suffix}"))
        else:
            sources.append(write_lm_eval_run([replace(run, day=run.day + number)], own))
    return sources


def write_twice(folder: Folder, place: Path) -> list[Path]:
    """Write all runs, and the runs of the first model once more, as if run a day later."""
    write_folder(folder, place)
    again = [
        replace(run, day=run.day + 1) for run in folder.runs if run.model == folder.runs[0].model
    ]
    # In lm-eval, all runs of a model lie in its folder.
    write_folder(
        replace(folder, runs=tuple(again)), place / "again" if folder.host == "inspect" else place
    )
    return [place, *place.iterdir()]


def _runs_by_model(folder: Folder) -> dict[tuple[str, Asked, int], list[Run]]:
    """Return the runs that lm-eval writes at once: of one model, with the same settings."""
    groups: dict[tuple[str, Asked, int], list[Run]] = {}
    for run in folder.runs:
        groups.setdefault((run.model, run.asked, run.day), []).append(run)
    return groups


def permute_ids(folder: Folder, seed: int) -> Folder:
    """Return the folder with the samples of one model in another order, under other ids.

    In Inspect, half of the folders keep the same ids for other samples, as where samples without
    ids are shuffled before they are numbered. The others have ids of another kind.
    """
    rng = np.random.default_rng(seed)
    chosen = folder.models[rng.integers(len(folder.models))]
    is_new_kind = folder.host == "inspect" and bool(rng.integers(2))

    def change(run: Run) -> Run:
        if run.model != chosen:
            return run
        mixed = run.with_items(rng.permutation(len(run.ids)).tolist())
        ids = rng.permutation(len(run.ids)).tolist()
        return replace(mixed, ids=tuple(f"case-{own}" if is_new_kind else own for own in ids))

    return folder.map(change)


def rename_models(folder: Folder, seed: int) -> tuple[Folder, dict[str, str]]:
    """Return the folder with other names of models, and the new name of each model."""
    rng = np.random.default_rng(seed)
    numbers = rng.permutation(len(folder.models))
    names = {
        model: f"maker{number}/model-{number}"
        for model, number in zip(folder.models, numbers, strict=True)
    }
    return folder.map(lambda run: replace(run, model=names[run.model])), names


@dataclass(frozen=True)
class Change:
    """A setting of one run that is changed so that figures cannot be compared.

    Attributes:
        settings: the new values of fields of `Asked`.
        said: a text that a check or a label that names the setting contains.
        hosts: the hosts whose files record the setting.
    """

    settings: Mapping[str, Any]
    said: str
    hosts: tuple[Host, ...] = ("inspect", "lm-eval")


CHANGES = {
    "shots": Change({"shots": 25}, "shot"),
    "version": Change({"version": 7}, "version"),
    "system": Change({"system": "Think step by step."}, "system"),
    "fewshot_seed": Change({"shots": 2, "fewshot_seed": 99}, "seed"),
    "argument": Change({"style": "formal"}, "style", ("inspect",)),
    "prompt": Change({"style": "formal"}, "prompt", ("lm-eval",)),
    "grader": Change({"grader": "openai/gpt-4o-mini"}, "gpt-4o-mini", ("inspect",)),
    "dataset": Change({"dataset": "org/quiz-2"}, "dataset"),
}
"""What the issue says is flagged and named between models."""


def change_one_setting(folder: Folder, name: str, seed: int) -> Folder:
    """Return the folder with a setting changed in all runs of one model."""
    folder, changed = _changed_runs(folder, name, seed)
    return folder.map(lambda run: changed.get(run, run))


def run_again_with_one_setting(folder: Folder, name: str, seed: int) -> tuple[Folder, str]:
    """Return the folder with later runs of one model in which a setting differs, and the model."""
    folder, changed = _changed_runs(folder, name, seed)
    later = tuple(replace(run, day=run.day + 1) for run in changed.values())
    return replace(folder, runs=(*folder.runs, *later)), later[0].model


def _changed_runs(folder: Folder, name: str, seed: int) -> tuple[Folder, dict[Run, Run]]:
    """Return a folder, and the runs of one of its models with a setting changed, by the run."""
    change = CHANGES[name]
    rng = np.random.default_rng(seed)
    chosen = folder.models[rng.integers(len(folder.models))]
    if name == "fewshot_seed":
        # Without examples, their seed changes nothing.
        folder = folder.map(lambda run: run.change(shots=change.settings["shots"]))
    own = [run for run in folder.runs if run.model == chosen]
    return folder, {run: run.change(**change.settings) for run in own}


def read_sources(sources: Sequence[Path]) -> Battles:
    """Read the files."""
    return podium.read_battles(*map(str, sources))


@dataclass(frozen=True)
class Said:
    """What podium says of some files.

    Attributes:
        models: names of the models.
        figures: score, standard error, interval and rank set, by slice and model.
        checks: the result and the text of the checks of comparability, by code.
        warnings: codes of warnings that are more than notes.
        text: all texts of checks and warnings.
    """

    models: frozenset[str]
    figures: dict[tuple[str, str], tuple[float, ...]]
    checks: dict[str, tuple[str, str]]
    warnings: frozenset[str]
    text: str


FIGURES = ("score", "se", "low", "high", "rank", "rank_low", "rank_high", "battles")


def rank_sources(sources: Sequence[Path]) -> Said:
    """Rank the files and return what is said."""
    rankings = podium.rank(read_sources(sources)).to_dict()["rankings"]
    figures = {}
    checks = {}
    warnings = set()
    texts = []
    for ranking in rankings:
        for model in ranking["models"]:
            values = (model[name] for name in FIGURES)
            own = tuple(np.nan if value is None else float(value) for value in values)
            figures[ranking["slice"] or "", model["model"]] = own
        for check in ranking["checks"]:
            texts += [check["text"], check["remedy"], str(check["fields"])]
            if check["code"] in COMPARABILITY:
                checks[check["code"]] = (check["result"], check["text"])
        warnings |= {own["code"] for own in ranking["warnings"]} - NOTES
        texts += [own["text"] for own in ranking["warnings"]]
    models = frozenset(model for _, model in figures)
    return Said(models, figures, checks, frozenset(warnings), "\n".join(texts))
