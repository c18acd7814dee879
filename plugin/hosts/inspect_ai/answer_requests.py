"""Which models answer on demand, what they are asked, and with which settings."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from inspect_ai.dataset import Dataset, Sample, example_dataset
from inspect_ai.model import Model, model_roles

from podium.errors import UsageError, unknown_name
from podium.hosts.inspect_ai.compatibility import is_registered_task, load_tasks
from podium.hosts.inspect_ai.judge_models import judges_by_role, models_of_role, settings_of
from podium.hosts.inspect_ai.log_responses import READER
from podium.hosts.inspect_ai.sample_answers import question_of
from podium.responses.answers import QuestionRow, id_of
from podium.responses.collection import Responses
from podium.responses.read import read_prompts
from podium.scorers.prompt import CHARACTERS_PER_TOKEN
from podium.text import some

ROLE = "models"
CHOICES = ("on-demand", "first")
GENERATION = ("temperature", "max_tokens")
USUAL_TOKENS = 400
"""Assumed length of an answer if none is recorded, for the estimate of the cost."""


@dataclass(frozen=True, slots=True)
class AnswerRequests:
    """Which models are asked for responses, to what, and how."""

    models: Mapping[str, Model] = field(default_factory=dict)
    prompts: tuple[QuestionRow, ...] = ()
    system: str | None = None
    generation: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_log(self, responses: Responses) -> dict[str, Any]:
        """Return a hash of the prompts, the number of answers and the settings of each model, as a log keeps them."""
        items = [[item.id, item.instruction, item.system, item.media] for item in responses.items]
        asked = {name: model for name, model in self.models.items() if name in responses.pending}
        return {
            "prompts": sha256(json.dumps(sorted(items, key=str)).encode()).hexdigest()[:12],
            "models": {name: len(keys) for name, keys in sorted(responses.pending.items())},
            "model_settings": {name: {"model": str(model), **settings_of(model)} for name, model in asked.items()},
            "settings": {**self.generation, **({"system": self.system} if self.system else {})},
        }

    def with_placeholders(self, responses: Responses) -> Responses:
        """Return the responses with texts of usual length for the answers that are still to come."""
        text = "x" * self._usual_length(responses)
        cells = ((name, key) for name, keys in responses.pending.items() for key in keys)
        return responses.with_answers(dict.fromkeys(cells, (text, ""))) if responses.pending else responses

    def _usual_length(self, responses: Responses) -> int:
        """Return the mean characters of the recorded answers, at most `max_tokens`."""
        known = [len(text) for texts in responses.texts.values() for text in texts.values()]
        usual = round(sum(known) / len(known)) if known else USUAL_TOKENS * CHARACTERS_PER_TOKEN
        return min(usual, self.generation.get("max_tokens", usual) * CHARACTERS_PER_TOKEN)

    def cost_text(self, responses: Responses, cells: Collection[tuple[str, str]]) -> str:
        """Return a sentence on the maximum number of answers and the tokens that they take."""
        items, usual = responses.by_id(), self._usual_length(responses) / CHARACTERS_PER_TOKEN
        shown = sum(len(items[item].instruction) + len(items[item].system or "") for _, item in cells)
        tokens = f"about {shown / CHARACTERS_PER_TOKEN:,.0f} input and {len(cells) * usual:,.0f} output tokens"
        how = ", ".join(f"{name}={value}" for name, value in self.generation.items())
        asked = f"at most {len(cells):,} answers are asked of {some(sorted({name for name, _ in cells}), most=5)}"
        return f"{asked}, {tokens}, {usual:,.0f} an answer" + (f" ({how})" if how else "")


def split_requests(prompts: Sequence[str], when: str, how: Mapping[str, Any]) -> tuple[AnswerRequests, dict[str, Any]]:
    """Split options into what models are asked on demand and how the judge is asked."""
    if when not in CHOICES:
        raise unknown_name("choice for answers", when, CHOICES)
    if ROLE not in model_roles():
        if prompts:
            raise UsageError(
                f"prompts={','.join(prompts)}: no model has the role {ROLE}; name the models, --model-role "
                f"{ROLE}=[MODEL,MODEL] (in Python: eval('podium/ring', task_args=..., model_roles=...), which knows "
                "them before the task is made)"
            )
        return AnswerRequests(), dict(how)
    models = models_by_name()
    questions, notes = read_questions(prompts)
    judges = {*map(str, judges_by_role())}
    if own := [name for name, model in models.items() if str(model) in judges]:
        notes.append(f"{some(own)} judges its own answers: take another judge, or treat its rank with caution")
    generation = {name: how[name] for name in GENERATION if how.get(name) is not None}
    rest = {name: value for name, value in how.items() if name not in GENERATION}
    system = rest["system"] if isinstance(rest.get("system"), str) else None
    # The system message of the models is shown to the judge.
    shown = {} if system is None else {"system": True}
    return AnswerRequests(models, tuple(questions), system, generation, tuple(notes)), rest | shown


def models_by_name() -> dict[str, Model]:
    """Return the models of the role `models` by name, as other logs name them; several of a name by their settings."""
    models = models_of_role(ROLE)
    names = [_name_of(model, models) for model in models]
    if twice := sorted({str(model) for model, name in zip(models, names, strict=True) if names.count(name) > 1}):
        raise UsageError(f"the role {ROLE} names {some(twice)} twice; give one of them another temperature")
    return dict(zip(names, models, strict=True))


def _name_of(model: Model, models: Sequence[Model]) -> str:
    """Return the name of a model; if others have it, too, its last part and the settings that differ."""
    full, short = str(model), str(model).rpartition("/")[2]
    alike = [settings_of(other) for other in models if str(other) == full]
    if len(alike) == 1:
        return full
    is_short = {str(other) for other in models if str(other).rpartition("/")[2] == short} == {full}
    own = {name: value for name, value in settings_of(model).items() if any(each.get(name) != value for each in alike)}
    parts = (f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in own.items())
    return ", ".join([short if is_short else full, *parts])


def read_questions(sources: Sequence[str]) -> tuple[list[QuestionRow], list[str]]:
    """Read what models are to be asked; return it with notes for the user."""
    questions: list[QuestionRow] = []
    notes: list[str] = []
    for source in sources:
        rows, remarks = _questions_by_name(source) or read_prompts(source, readers=(READER,))
        if not rows:
            raise UsageError(f"prompts={source}: no prompts in it; give a row per prompt with id and instruction")
        questions += rows
        notes += remarks
    unnamed = {each.item for each in questions if each.instruction and each.item == id_of(each.instruction)}
    if unnamed:
        notes.append(f"{len(unnamed):,} prompts have no id; a hash of their text is their id ({min(unnamed)} ...)")
    twice = sum(number > 1 for number in Counter((each.task, each.item) for each in questions).values())
    if twice and unnamed:
        notes.append(f"{twice:,} prompts appear more than once and count once")
    return questions, notes


def _questions_by_name(source: str) -> tuple[list[QuestionRow], list[str]] | None:
    """Return the questions of an Inspect task or example dataset, with notes; None if `source` names neither."""
    file = Path(source.partition("@")[0])
    if file.exists() and file.suffix != ".py":
        return None
    if file.suffix == ".py" or ("/" in source and is_registered_task(source)):
        read = [_questions_of(task.dataset, task.name) for task in load_tasks(source)]
        if not read:
            raise UsageError(f"prompts={source}: there is no task in it")
        return [row for rows, _ in read for row in rows], [note for _, notes in read for note in notes]
    if "/" in source:
        return None
    try:
        dataset = example_dataset(source)
    except ValueError:
        return None
    return _questions_of(dataset, source)


def _questions_of(dataset: Dataset, task: str) -> tuple[list[QuestionRow], list[str]]:
    """Return the questions of a dataset, with notes on what models are not shown of it."""
    samples: list[Sample] = list(dataset)
    ids = [k if sample.id is None else sample.id for k, sample in enumerate(samples, 1)]
    rows = [question_of(sample, item, task, task) for item, sample in zip(ids, samples, strict=True)]
    several = sum(not isinstance(sample.input, str) and len(sample.input) > 1 for sample in samples)
    choices = sum(bool(sample.choices) for sample in samples)
    notes = [f"{task}: {several:,} inputs are conversations; models are shown each as one text"] if several else []
    notes += [f"{task}: {choices:,} inputs have choices, which are no part of the prompt"] if choices else []
    return rows, notes
