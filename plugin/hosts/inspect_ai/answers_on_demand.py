"""Answers on demand: models of the role `models` are asked for a response, in a sample before its first battle."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.model import CachePolicy, ChatMessage, ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.solver import Generate, Solver, TaskState, solver

from podium.hosts.inspect_ai.answer_requests import ROLE, models_by_name
from podium.hosts.inspect_ai.call_control import (
    CircuitBreaker,
    JudgeStoppedError,
    OnceCache,
    make_calls,
    repeat_if_cut_short,
)
from podium.hosts.inspect_ai.call_errors import cause_of, generate_output
from podium.hosts.inspect_ai.log_contents import GivenAnswer, RequestMetadata, parse_sample
from podium.hosts.inspect_ai.log_files import NAMESPACE
from podium.hosts.inspect_ai.media import input_of
from podium.hosts.inspect_ai.round_samples import SampleBuilder, missing_responses_text
from podium.printable import tell
from podium.responses.answers import EMPTY, ERRORED, ONLY_REASONING
from podium.responses.collection import response_key
from podium.scorers.reasoning import Policy, strip_reasoning
from podium.tournaments.schedule import Pairing

Answers = Mapping[tuple[str, str], GivenAnswer]
"""Answers by model and item."""


class ModelCaller:
    """Asks models for responses, each for an item once, and stops asking a model whose first calls all fail alike."""

    def __init__(self, config: GenerateConfig, cache: CachePolicy | bool) -> None:
        self.config, self.cache = config, cache
        self.breakers: dict[str, CircuitBreaker] = {}
        self.stopped: set[str] = set()
        self.once = OnceCache()

    async def ask(self, names: Sequence[str], item: str, messages: list[ChatMessage]) -> dict[str, GivenAnswer]:
        """Return the models' answers to an item by name; every epoch of the judge gets the same ones."""
        calls = [partial(self.once.ask_once, (name, item), partial(self._ask_model, name, messages)) for name in names]
        return dict(zip(names, await make_calls(calls), strict=True))

    async def _ask_model(self, name: str, messages: list[ChatMessage]) -> GivenAnswer:
        """Return one model's answer, or why it failed."""
        generate = partial(generate_output, models_by_name()[name], messages, config=self.config, cache=self.cache)
        try:
            breaker = self.breakers.setdefault(name, CircuitBreaker())
            output = await breaker.call(partial(repeat_if_cut_short, generate))
        except JudgeStoppedError as error:
            why = str(error).partition(": ")[2]
            if name not in self.stopped:
                self.stopped.add(name)
                tell(f"{name} is not asked any more: {why}", "podium")
            return GivenAnswer(failed=why, gave_up=True)
        except Exception as error:
            return GivenAnswer(failed=cause_of(error))
        return GivenAnswer(text=output.completion)


@solver
def ask_models(*, cache: bool = True, temperature: float | None = None, max_tokens: int | None = None) -> Solver:
    """Ask models for the answers that a sample requests; leave other samples unchanged."""
    policy = CachePolicy(expiry=None, per_epoch=False, scopes={NAMESPACE: ROLE}) if cache else False
    caller = ModelCaller(GenerateConfig(temperature=temperature, max_tokens=max_tokens), policy)

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        request = parse_sample(state.metadata)
        if not isinstance(request, RequestMetadata):
            return state
        messages: list[ChatMessage] = [ChatMessageSystem(content=request.system)] if request.system else []
        messages += [ChatMessageUser(content=state.input)] if isinstance(state.input, str) else state.input
        answers = await caller.ask(request.asked_models, request.item, messages)
        state.store.set(NAMESPACE, {name: own.to_log() for name, own in answers.items()})
        state.output.completion = "\n\n".join(own.text or own.failed or "" for own in answers.values())
        state.completed = True
        return state

    return solve


@dataclass(eq=False, repr=False)
class AnswerCollector:
    """Keeps track of the answers that are still to be asked for, and builds the samples that request them."""

    sample_builder: SampleBuilder
    order: Sequence[str]
    _: KW_ONLY
    pack: bool = False
    first: Sequence[str] = ()
    reasoning: Policy = "strip"

    def __post_init__(self) -> None:
        self.failed: frozenset[tuple[str, str]] = frozenset()
        self.cause = ""
        self._start = self.sample_builder.responses

    def failures_text(self) -> str:
        """Return which models lack how many answers, and the first error."""
        text = missing_responses_text(self.sample_builder.responses)
        return f"{text} (the first cause: {self.cause})" if self.cause else text

    def cells(self, pairings: Sequence[Pairing] | None) -> set[tuple[str, str]]:
        """Return the answers, by model and item, that some battles need; None for all that may be requested."""
        pending = self._start.pending
        if pairings is None or self.first:
            items = {*self.first} or {item.id for item in self._start.items}
            return {(name, item) for name, keys in pending.items() for item in keys & items}
        sides = {(name, own.item) for own in pairings for name in (own.a, own.b)}
        return {(name, item) for name, item in sides if item in pending.get(name, ())}

    def update(self, attempts: Iterable[Answers]) -> None:
        """Set the responses to the recorded ones and these answers."""
        answered = {key: own for answers in attempts for key, own in answers.items()}
        texts = {key: self._text_of(own) for key, own in answered.items()}
        for name in {name for (name, _), own in answered.items() if own.gave_up}:
            rest = ((name, key) for key in self._start.pending[name])
            texts |= {key: (None, ERRORED) for key in rest if key not in texts}
        self.cause = next((own.failed for own in answered.values() if own.failed is not None), "")
        self.failed = frozenset(key for key, (text, _) in texts.items() if text is None)
        self.sample_builder.responses = self._start.with_answers(texts)

    def _text_of(self, given: GivenAnswer) -> tuple[str | None, str]:
        """Return the text to be judged, or None and the reason."""
        if given.text is None:
            return None, ERRORED
        text = strip_reasoning(given.text) if self.reasoning == "strip" else given.text
        if text.strip():
            return text, ""
        return None, ONLY_REASONING if given.text.strip() else EMPTY

    def build_requests(self, pairings: Sequence[Pairing], label: str) -> list[Sample]:
        """Return samples that request the missing answers for these battles."""
        pending = self.sample_builder.responses.pending
        for name in self.order if self.first else ():
            if own := [item for item in self.first if item in pending.get(name, ())]:
                return [self._build_request(item, [name]) for item in own]
        wanted: dict[str, list[str]] = {}
        for battle in pairings:
            key = response_key(battle.item, battle.response)
            for name in (battle.a, battle.b):
                if key in pending.get(name, ()) and name not in wanted.setdefault(battle.item, []):
                    wanted[battle.item].append(name)
        if self.pack:
            return [self._build_request(item, names, label) for item, names in wanted.items() if names]
        return [self._build_request(item, [name]) for item, names in wanted.items() for name in names]

    def _build_request(self, item_id: str, names: list[str], label: str = "") -> Sample:
        """Return the sample that requests models' answers to an item; `label` is empty unless it is a pack."""
        item, short = self.sample_builder.items[item_id], self.sample_builder.short_names[names[0]]
        sample_id = f"answers::{item_id}::round {label}" if label else f"answer::{item_id}::{short}"
        fields = ("category", "reference", "system", "media")
        shown = {field: value for field in fields if (value := getattr(item, field))}
        about: dict[str, Any] = {"item": item_id, "asked_models": names, "instruction": item.instruction or "", **shown}
        metadata = RequestMetadata(**about, pairings=[])
        return Sample(id=sample_id, input=input_of(item.instruction, item.media), metadata=metadata.to_log())
