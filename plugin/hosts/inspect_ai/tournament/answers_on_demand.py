"""Answers on demand: ask models of the role `models` for answers before battles are judged.

A sample of the tournament requests answers. Answers of models from files are called recorded.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from inspect_ai.dataset import Dataset, Sample, example_dataset
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    model_roles,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from podium.data.pairings import Pairing
from podium.errors import UsageError, unknown_name_error
from podium.hosts.inspect_ai.inspect_ai_compatibility import (
    batch_of,
    is_registered_task,
    load_tasks,
)
from podium.hosts.inspect_ai.judging.call_control import (
    JudgeStoppedError,
    ModelCalls,
    cause_of,
    generate_output,
    make_calls,
    stopped_text,
)
from podium.hosts.inspect_ai.judging.call_timeouts import CALL_TIMEOUT
from podium.hosts.inspect_ai.judging.judge_models import (
    has_batches,
    judges_by_role,
    models_of_role,
    settings_of,
)
from podium.hosts.inspect_ai.judging.option_trials import OptionTrials
from podium.hosts.inspect_ai.judging.token_estimates import (
    ESTIMATE,
    estimate_usage,
    estimating_tokens,
)
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.hosts.inspect_ai.logs.podium_entries import GivenAnswer, RequestMetadata, parse_sample
from podium.hosts.inspect_ai.logs.response_reader import READER
from podium.hosts.inspect_ai.logs.sample_answers import question_of
from podium.hosts.inspect_ai.media import input_of
from podium.hosts.inspect_ai.tournament.round_samples import SampleBuilder, missing_responses_text
from podium.notices.notice import Notice
from podium.printable import tell
from podium.responses.answers import EMPTY_RESPONSE, ERRORED, ONLY_REASONING, QuestionRow, id_of
from podium.responses.collection import AGREEING_FIELDS, Responses, response_key
from podium.responses.read import read_prompts
from podium.scorers.prompt import CHARACTERS_PER_TOKEN
from podium.scorers.reasoning import Policy, strip_reasoning
from podium.wording import quantity, some

ROLE = "models"
"""The role of the models that answer on demand."""
CHOICES = ("on-demand", "first")
"""Values of the option `answers`: ask when a battle needs the answer, or ask for all at first."""
GENERATION = ("temperature", "max_tokens")
"""Options of the judge that set the calls to the models instead, if models are asked."""
USUAL_TOKENS = 400
"""Assumed length of an answer in tokens for the estimate of the cost, if no answer is recorded."""


@dataclass(frozen=True, slots=True)
class AnswerRequests:
    """Which models are asked for answers, to which prompts, and how.

    Attributes:
        models: the models by name; empty if no model is asked.
        prompts: the prompts. Models are also asked about the items of recorded responses.
        system: the system message for the models; None if there is none.
        generation: settings of the calls (those in `GENERATION`) by name.
        notes: warnings about the prompts.
    """

    models: Mapping[str, Model] = field(default_factory=dict)
    prompts: tuple[QuestionRow, ...] = ()
    system: str | None = None
    generation: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Notice, ...] = ()

    def to_log(self, responses: Responses) -> dict[str, Any]:
        """Return what a log keeps of the requests.

        The keys are `prompts` (a hash of the items' prompts), `models` (the number of pending
        answers by model), `model_settings` (by model with pending answers: the model's full name
        and its settings), and `settings` (those of the calls, and the system message).
        """
        items = [[item.id, item.instruction, item.system, item.media] for item in responses.items]
        prompts = json.dumps(sorted(items, key=str))
        model_settings = {}
        for name, model in self.models.items():
            if name in responses.pending:
                model_settings[name] = {"model": str(model), **settings_of(model)}
        settings = dict(self.generation)
        if self.system:
            settings["system"] = self.system
        return {
            "prompts": sha256(prompts.encode()).hexdigest()[:12],
            "models": {name: len(keys) for name, keys in sorted(responses.pending.items())},
            "model_settings": model_settings,
            "settings": settings,
        }

    def with_placeholders(self, responses: Responses) -> Responses:
        """Return the responses with a placeholder text of usual length for each pending answer.

        They are returned as they are if no answer is pending.
        """
        if not responses.pending:
            return responses
        text = "x" * self._usual_length(responses)
        pending = ((name, key) for name, keys in responses.pending.items() for key in keys)
        return responses.with_answers(dict.fromkeys(pending, (text, "")))

    def _usual_length(self, responses: Responses) -> int:
        """Return the mean length of recorded answers in characters.

        Without recorded answers, it is that of `USUAL_TOKENS` tokens. It is never longer than
        `max_tokens` of the calls, if these have such a limit.
        """
        known_lengths = [len(text) for texts in responses.texts.values() for text in texts.values()]
        usual = (
            round(sum(known_lengths) / len(known_lengths))
            if known_lengths
            else USUAL_TOKENS * CHARACTERS_PER_TOKEN
        )
        return min(usual, self.generation.get("max_tokens", usual) * CHARACTERS_PER_TOKEN)

    def cost_text(self, responses: Responses, wanted: Collection[tuple[str, str]]) -> str:
        """Return a sentence on the maximum number of answers and an estimate of their tokens.

        Args:
            responses: the responses, whose items are asked about.
            wanted: the answers to ask for, as pairs of a model and an item.
        """
        items = {item.id: item for item in responses.items}
        usual = self._usual_length(responses) / CHARACTERS_PER_TOKEN
        characters_in = sum(
            len(items[item].instruction) + len(items[item].system or "") for _, item in wanted
        )
        tokens_in = f"{characters_in / CHARACTERS_PER_TOKEN:,.0f} input"
        tokens_out = f"{len(wanted) * usual:,.0f} output tokens"
        names = sorted({name for name, _ in wanted})
        answers_text = f"at most {quantity(len(wanted), 'answer', 'is|are')}"
        answers_text += f" asked of {some(names, most=5)}"
        sentence = f"{answers_text}, about {tokens_in} and {tokens_out}, {usual:,.0f} an answer"
        settings_text = ", ".join(f"{name}={value}" for name, value in self.generation.items())
        return f"{sentence} ({settings_text})" if settings_text else sentence


def split_requests(
    prompts: Sequence[str], when: str, options: Mapping[str, Any], cluster: str | None = None
) -> tuple[AnswerRequests, dict[str, Any]]:
    """Split options into the requests to models that are asked on demand and the judge's options.

    Without the role `models`, no model is asked, and all options are the judge's. With it,
    `temperature` and `max_tokens` (`GENERATION`) are the models'; a text `system` becomes their
    system message, and `system` is True for the judge, who is shown it.

    Args:
        prompts: sources of prompts, which are read here.
        when: when models are asked, one of `CHOICES`.
        options: options of the judge and of the models, by name.
        cluster: the key or column with the groups of items; None if items have no groups.

    Returns:
        The requests, and the options of the judge by name.

    Raises:
        UsageError: `when` is unknown, there are prompts but no model to ask, a source has no
            prompts, or two models have the same name and settings.
        DataError: a file of prompts cannot be read.
    """
    if when not in CHOICES:
        raise unknown_name_error("choice for answers", when, CHOICES)
    if ROLE not in model_roles():
        if prompts:
            remedy = (
                f"name the models, --model-role {ROLE}=[MODEL,MODEL] "
                "(in Python: eval('podium/ring', task_args=..., model_roles=...), "
                "which knows them before the task is made)"
            )
            sources = ",".join(prompts)
            raise UsageError(f"prompts={sources}: no model has the role {ROLE}; {remedy}")
        return AnswerRequests(), dict(options)
    models = models_by_name()
    questions, notes = read_questions(prompts, cluster)
    judges = {*map(str, judges_by_role())}
    also_judges = [name for name, model in models.items() if str(model) in judges]
    if also_judges:
        notes.append(Notice("judges-own-answers", {"models": also_judges}))
    generation = {name: options[name] for name in GENERATION if options.get(name) is not None}
    options_of_judge = {name: value for name, value in options.items() if name not in GENERATION}
    system = options_of_judge["system"] if isinstance(options_of_judge.get("system"), str) else None
    if system is not None:
        # The judge is shown the system message of the models.
        options_of_judge["system"] = True
    return AnswerRequests(
        models=models,
        prompts=tuple(questions),
        system=system,
        generation=generation,
        notes=tuple(notes),
    ), options_of_judge


def models_by_name() -> dict[str, Model]:
    """Return the models of the role `models` by name, as other logs name them.

    If several models have the same name, their settings are added to it.

    Raises:
        UsageError: two models have the same name and settings.
    """
    models = models_of_role(ROLE)
    names = [_name_of(model, models) for model in models]
    pairs = zip(models, names, strict=True)
    twice = sorted({str(model) for model, name in pairs if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"the role {ROLE} names {some(twice)} twice; give one of them another temperature"
        )
    return dict(zip(names, models, strict=True))


def _name_of(model: Model, models: Sequence[Model]) -> str:
    """Return the name of a model among all models of the role.

    It is the whole name, with the provider. If several models have it, the settings in which they
    differ are added (`gpt-5, temperature 0.7`), and the provider is left out where no other model
    has the same last part.
    """
    full = str(model)
    alike = [settings_of(other) for other in models if str(other) == full]
    if len(alike) == 1:
        return full
    short = full.rpartition("/")[2]
    called_so = {str(other) for other in models if str(other).rpartition("/")[2] == short}
    parts = [short if called_so == {full} else full]
    for name, value in settings_of(model).items():
        if any(settings.get(name) != value for settings in alike):
            text = f"{value:g}" if isinstance(value, float) else str(value)
            parts.append(f"{name} {text}")
    return ", ".join(parts)


def read_questions(
    sources: Sequence[str], cluster: str | None = None
) -> tuple[list[QuestionRow], list[Notice]]:
    """Read prompts from files, folders, Inspect's tasks and its example datasets.

    Prompts with the same id are all returned. There is a warning about them only if some prompts
    have no id of their own, but a hash of their text.

    Args:
        sources: the sources.
        cluster: the key or column with the groups of items; None if items have no groups.

    Returns:
        The prompts of all sources, and warnings about them, such as on prompts without an id.

    Raises:
        UsageError: a source has no prompts.
        DataError: a file cannot be read.
    """
    questions: list[QuestionRow] = []
    notes: list[Notice] = []
    for source in sources:
        questions_by_name = _questions_by_name(source, cluster)
        rows, remarks = questions_by_name or read_prompts(
            source, readers=(READER,), cluster=cluster
        )
        if not rows:
            remedy = "give a row per prompt with id and instruction"
            raise UsageError(f"prompts={source}: no prompts in it; {remedy}")
        questions += rows
        notes += remarks
    unnamed = set[str]()
    for question in questions:
        if question.instruction and question.item == id_of(question.instruction):
            unnamed.add(question.item)
    if unnamed:
        hashed = {"prompts": len(unnamed), "first": min(unnamed)}
        notes.append(Notice("prompts-without-id", hashed))
    counts = Counter((question.task, question.item) for question in questions)
    twice = sum(number > 1 for number in counts.values())
    if twice and unnamed:
        notes.append(Notice("prompts-repeated", {"prompts": twice}))
    return questions, notes


def _questions_by_name(
    source: str, cluster: str | None
) -> tuple[list[QuestionRow], list[Notice]] | None:
    """Return the questions of an Inspect task or example dataset, and warnings about them.

    A task is a .py file, optionally with `@NAME`, or the name of a registered task with its
    package. None if the source is anything else, such as a file of prompts.
    """
    file = Path(source.partition("@")[0])
    if file.exists() and file.suffix != ".py":
        return None
    if file.suffix == ".py" or ("/" in source and is_registered_task(source)):
        questions: list[QuestionRow] = []
        notes: list[Notice] = []
        for task in load_tasks(source):
            rows, remarks = _questions_of(task.dataset, task.name, cluster)
            questions += rows
            notes += remarks
        return questions, notes
    if "/" not in source:
        with suppress(ValueError):
            return _questions_of(example_dataset(source), source, cluster)
    return None


def _questions_of(
    dataset: Dataset, task: str, cluster: str | None
) -> tuple[list[QuestionRow], list[Notice]]:
    """Return the questions of a dataset, and warnings about what models are not shown of it.

    A sample without an id has its number, from 1, as id. The warnings count the inputs that are
    conversations, which become one text, and those with choices, which are not shown.
    """
    samples: list[Sample] = list(dataset)
    ids = [k if sample.id is None else sample.id for k, sample in enumerate(samples, 1)]
    rows = [
        question_of(sample, item, task, task, cluster)
        for item, sample in zip(ids, samples, strict=True)
    ]
    conversations = 0
    with_choices = 0
    for sample in samples:
        if not isinstance(sample.input, str) and len(sample.input) > 1:
            conversations += 1
        if sample.choices:
            with_choices += 1
    counts = {"conversations-as-text": conversations, "choices-not-shown": with_choices}
    notes = [
        Notice(code, {"task": task, "inputs": number}) for code, number in counts.items() if number
    ]
    return rows, notes


Answers = Mapping[tuple[str, str], GivenAnswer]
"""The result of asking, by model and item."""


def _answer_cache() -> CachePolicy:
    """Return the policy by which Inspect caches answers: without end, and shared by all epochs."""
    return CachePolicy(expiry=None, per_epoch=False, scopes={NAMESPACE: ROLE})


async def _ask_model(
    calls: ModelCalls,
    trials: OptionTrials,
    name: str,
    messages: list[ChatMessage],
    *,
    config: GenerateConfig,
    **settings: Any,
) -> GivenAnswer:
    """Ask a model for an answer; a failure is returned, not raised.

    If the model is not asked any more after too many failures, `gave_up` is True, and a message is
    printed once for the model.

    Args:
        calls: makes the call, unless the model is not asked any more.
        trials: knows the options that models refuse; they are left out.
        name: name of the model.
        messages: what it is asked.
        config: settings of the call.
        **settings: further arguments of `generate_output`.
    """
    try:
        model = models_by_name()[name]
        config = config.merge(GenerateConfig(batch=batch_of(model)))
        of_call = {**settings, "watch": calls.watch_of(model)}

        async def generate(asked_model: Model, own: GenerateConfig) -> ModelOutput:
            """Call the model, or a copy without options that it refuses, with settings."""
            return await generate_output(asked_model, messages, config=own, **of_call)

        ask = partial(trials.call, name, model, config, generate)
        output = await calls.call(name, ask, waits=not has_batches(model))
        estimate_usage(model, "\n".join(message.text for message in messages), output)
        refused = trials.refused[name]
        more: Any = {"refused": dict(refused)} if refused else {}
        return GivenAnswer(text=output.completion, **more)
    except JudgeStoppedError as error:
        if name not in calls.stopped:
            tell(stopped_text(name, error))
        calls.stopped.add(name)
        return GivenAnswer(failed=error.record.reason, gave_up=True)
    except Exception as error:
        return GivenAnswer(failed=cause_of(error))


@solver
def ask_models(
    *,
    cache: bool = True,
    call_timeout: float | None = CALL_TIMEOUT,
    temperature: float | None = None,
    max_tokens: int | None = None,
) -> Solver:
    """Return a solver that asks models for the answers that a sample requests.

    It leaves other samples unchanged. The answers are kept in the sample's store by model, also
    those that failed, and the sample is completed without a failure of its own.

    Args:
        cache: whether calls are answered from Inspect's cache.
        call_timeout: seconds that each attempt of a call may take; None for no limit.
        temperature: sampling temperature of the models; None for that of the role.
        max_tokens: most output tokens of an answer; None for no limit.
    """
    calls = ModelCalls()
    trials = OptionTrials()
    settings: dict[str, Any] = {
        "timeout": call_timeout,
        "config": GenerateConfig(temperature=temperature, max_tokens=max_tokens),
        "cache": _answer_cache() if cache else False,
    }

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        """Ask the models that a request names, and store their answers.

        Samples of another kind are returned as they are.
        """
        request = parse_sample(state.metadata)
        if not isinstance(request, RequestMetadata):
            return state
        messages = _messages_to_model(request, state.input)
        ask = partial(_ask_model, calls, trials, messages=messages, **settings)
        # All epochs of the tournament use the same answers.
        asked_calls = [
            partial(calls.ask_once, (name, request.item), partial(ask, name))
            for name in request.asked_models
        ]
        with estimating_tokens() as estimate:
            answers = dict(zip(request.asked_models, await make_calls(asked_calls), strict=True))
        if estimate:
            state.store.set(ESTIMATE, estimate)
        state.store.set(NAMESPACE, {name: answer.to_log() for name, answer in answers.items()})
        state.output.completion = _joined_texts(answers.values())
        state.completed = True
        return state

    return solve


def _joined_texts(answers: Iterable[GivenAnswer]) -> str:
    """Return the text of each answer, or else why it failed, as paragraphs."""
    return "\n\n".join(answer.text or answer.failed or "" for answer in answers)


def _messages_to_model(
    request: RequestMetadata, prompt: str | Sequence[ChatMessage]
) -> list[ChatMessage]:
    """Return the messages that ask a model for an answer.

    They are the request's system prompt, if it has one, then the messages of the prompt. A prompt
    that is a text is one message of the user.
    """
    messages: list[ChatMessage] = []
    if request.system:
        messages.append(ChatMessageSystem(content=request.system))
    if isinstance(prompt, str):
        return [*messages, ChatMessageUser(content=prompt)]
    return [*messages, *prompt]


class AnswerCollector:
    """Keeps track of missing answers, and builds the samples that request them.

    Args:
        sample_builder: builds samples of battles; it holds the responses.
        order: names of the models, in the order in which they are asked.
        pack: whether a sample asks several models about an item. If not, it asks one model.
        first: ids of items about which all models are asked before anything is judged; empty if
            models are asked only when a battle needs the answer.
        reasoning: whether reasoning is removed from answers (`strip`) or kept (`keep`).

    Attributes:
        failed: model and item of each answer that was asked for and has no text; see `update`.
        cause: the first error of a call; empty if there is none.
    """

    def __init__(
        self,
        sample_builder: SampleBuilder,
        order: Sequence[str],
        pack: bool,
        first: Sequence[str],
        reasoning: Policy,
    ) -> None:
        self.sample_builder = sample_builder
        self.order = order
        self.pack = pack
        self.first = first
        self.reasoning = reasoning
        self.failed: frozenset[tuple[str, str]] = frozenset()
        self.cause = ""
        self._start = sample_builder.responses

    def failures_text(self) -> str:
        """Return a text on how many answers each model lacks and why; empty if none is missing.

        It ends with the first error of a call, if there is one. Pending answers do not count.
        """
        text = missing_responses_text(self.sample_builder.responses.missing_reasons())
        return f"{text} (the first cause: {self.cause})" if self.cause else text

    def answers_to_ask(self, pairings: Sequence[Pairing] | None) -> set[tuple[str, str]]:
        """Return the answers, as pairs of model and item, that no file has and some battles need.

        Answers that were given in the run count, too. If answers are asked for at first, these are
        the answers of all models to the items of `first`, whatever the battles are.

        Args:
            pairings: the battles; None for all battles.
        """
        pending = self._start.pending
        if pairings is None or self.first:
            items = {*self.first} or {item.id for item in self._start.items}
            return {(name, item) for name, keys in pending.items() for item in keys & items}
        needed = set[tuple[str, str]]()
        for pairing in pairings:
            needed |= {(pairing.a, pairing.item), (pairing.b, pairing.item)}
        return {(name, item) for name, item in needed if item in pending.get(name, ())}

    def update(self, attempts: Iterable[Answers]) -> None:
        """Set the responses of the sample builder to the recorded ones and the given answers.

        An answer without a text, and every further answer of a model that is not asked any more,
        becomes a missing response. The attributes `failed` and `cause` are set anew.

        Args:
            attempts: the answers of each finished request; later ones replace earlier ones.
        """
        answered: dict[tuple[str, str], GivenAnswer] = {}
        for answers in attempts:
            answered |= answers
        texts = {key: self._text_of(answer) for key, answer in answered.items()}
        for name in {name for (name, _), answer in answered.items() if answer.gave_up}:
            not_asked = ((name, key) for key in self._start.pending[name])
            texts |= {key: (None, ERRORED) for key in not_asked if key not in texts}
        causes = (answer.failed for answer in answered.values() if answer.failed is not None)
        self.cause = next(causes, "")
        self.failed = frozenset(key for key, (text, _) in texts.items() if text is None)
        self.sample_builder.responses = self._start.with_answers(texts)

    def _text_of(self, answer: GivenAnswer) -> tuple[str | None, str]:
        """Return the text to be judged and an empty reason; or None and why there is no text.

        Reasoning is removed if `reasoning` is `strip`. The reason is `ERRORED`, `ONLY_REASONING` or
        `EMPTY_RESPONSE`.
        """
        if answer.text is None:
            return None, ERRORED
        text = strip_reasoning(answer.text) if self.reasoning == "strip" else answer.text
        if text.strip():
            return text, ""
        return None, ONLY_REASONING if answer.text.strip() else EMPTY_RESPONSE

    def build_requests(self, pairings: Sequence[Pairing], label: str) -> list[Sample]:
        """Return the samples that request the pending answers for some battles.

        The list is empty if none of these answers is pending. As long as answers to the items of
        `first` are pending, the samples request the answers of one model, the first in `order` that
        lacks one of them, whatever the battles are.

        Args:
            pairings: the battles.
            label: name of the round in the ids of samples that ask several models.
        """
        pending = self.sample_builder.responses.pending
        if self.first:
            for name in self.order:
                items = [item for item in self.first if item in pending.get(name, ())]
                if items:
                    return [self._build_request(item, [name]) for item in items]
        wanted: dict[str, dict[str, None]] = {}
        for battle in pairings:
            key = response_key(battle.item, battle.response)
            models_to_ask = [name for name in (battle.a, battle.b) if key in pending.get(name, ())]
            wanted.setdefault(battle.item, {}).update(dict.fromkeys(models_to_ask))
        requests = []
        for item, names in wanted.items():
            if self.pack and names:
                requests.append(self._build_request(item, [*names], label))
            elif not self.pack:
                requests += [self._build_request(item, [name]) for name in names]
        return requests

    def _build_request(self, item_id: str, names: list[str], label: str = "") -> Sample:
        """Return the sample that requests models' answers to an item.

        Args:
            item_id: the item.
            names: the models.
            label: the round, if the sample asks several models; empty otherwise. The sample's id
                then names the first model instead.
        """
        item = self.sample_builder.items[item_id]
        short = self.sample_builder.short_names[names[0]]
        sample_id = f"answer::{item_id}::{short}"
        if label:
            sample_id = f"answers::{item_id}::round {label}"
        about: dict[str, Any] = {"item": item_id, "asked_models": names, "instruction": ""}
        for name in AGREEING_FIELDS:
            value = getattr(item, name)
            if value:
                about[name] = value
        metadata = RequestMetadata(**about, pairings=[])
        return Sample(
            id=sample_id, input=input_of(item.instruction, item.media), metadata=metadata.to_log()
        )
