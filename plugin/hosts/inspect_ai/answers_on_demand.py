"""Answers on demand: whom the role `models` names is asked for a response when its first battle on an item comes up.

An answer is a sample of its own, which the source deals before the battles that need it: Inspect's log, its cache and
its retry keep it like any other, so that it is asked for once. `logs.responses_in` finds it there again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.model import CachePolicy, ChatMessage, ChatMessageSystem, ChatMessageUser, GenerateConfig, Model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from podium.hosts.inspect_ai.answer_requests import ROLE, models_by_name
from podium.hosts.inspect_ai.call_control import (
    CircuitBreaker,
    JudgeStoppedError,
    OnceCache,
    cause_of,
    make_calls,
    repeat_where_cut_short,
)
from podium.hosts.inspect_ai.log_contents import ASKED, NAMESPACE, ROUND
from podium.hosts.inspect_ai.media import input_of
from podium.hosts.inspect_ai.round_samples import SampleBuilder
from podium.printable import tell
from podium.responses.answers import EMPTY, ERRORED, ONLY_REASONING
from podium.responses.collection import response_key
from podium.scorers.reasoning import Policy, strip_reasoning
from podium.tournaments.schedule import Pairing

GAVE_UP = "gave up"
"""Key of an answer that says that its model is not asked any more."""


@solver
def ask_models(*, cache: bool = True, temperature: float | None = None, max_tokens: int | None = None) -> Solver:
    """Ask models for what a sample wants of them; a battle is let through.

    Args:
        cache: whether answers of earlier runs are taken.
        temperature, max_tokens: of the models; by default their own.
    """
    config = GenerateConfig(temperature=temperature, max_tokens=max_tokens)
    policy = CachePolicy(expiry=None, per_epoch=False, scopes={NAMESPACE: ROLE}) if cache else False
    breakers: dict[str, CircuitBreaker] = {}
    stopped: set[str] = set()
    run = OnceCache()

    async def ask(name: str, model: Model, messages: list[ChatMessage]) -> dict[str, Any]:
        call = partial(repeat_where_cut_short, partial(model.generate, messages, config=config, cache=policy))
        try:
            output = await breakers.setdefault(name, CircuitBreaker()).call(call)
        except JudgeStoppedError as error:
            why = str(error).partition(": ")[2]
            if name not in stopped:
                stopped.add(name)
                tell(f"{name} is asked no more, {why}", "podium")
            return {"failed": why, GAVE_UP: True}
        except Exception as error:
            return {"failed": cause_of(error)}
        return {"text": output.completion}

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        if ASKED not in state.metadata:
            return state
        models = models_by_name()
        system = state.metadata.get("system")
        asked: list[ChatMessage] = [ChatMessageSystem(content=system)] if system else []
        asked += [ChatMessageUser(content=state.input)] if isinstance(state.input, str) else state.input
        names, item = state.metadata[ASKED], state.metadata["item"]
        # Every epoch of the judge meets the same answer.
        calls = [partial(run.ask_once, (name, item), partial(ask, name, models[name], asked)) for name in names]
        answers = dict(zip(names, await make_calls(calls), strict=True))
        state.store.set(NAMESPACE, answers)
        state.output.completion = "\n\n".join(own.get("text", own.get("failed", "")) for own in answers.values())
        state.completed = True
        return state

    return solve


@dataclass(eq=False, repr=False)
class AnswerCollector:
    """Knows which answers are still to be asked for, and deals the samples that ask for them.

    Attributes:
        sample_builder: makes the battles; its responses are kept up to date here.
        order: in which models answer.
        first: items whose answers are all asked for before the first battle, model by model.
        pack: whether the answers to an item that a round needs are one sample.
        reasoning: whether what a model thought is kept in its answer.
        failed: the responses that were asked for and are not there, by model and key.
        cause: why the first of them failed; empty where none did.
    """

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

    def cells(self, pairings: Sequence[Pairing] | None) -> set[tuple[str, str]]:
        """Return the answers, by model and item, that some battles need; None for all that may be asked for."""
        pending = self._start.pending
        if pairings is None or self.first:
            items = {*self.first} or {item.id for item in self._start.items}
            return {(name, item) for name, keys in pending.items() for item in keys & items}
        sides = {(name, own.item) for own in pairings for name in (own.a, own.b)}
        return {(name, item) for name, item in sides if item in pending.get(name, ())}

    def learn(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Take note of all that the current attempt was answered, and of nothing else."""
        answered = {key: own for event in events for key, own in event.get(ASKED, {}).items()}
        answers = {key: self._text_of(own) for key, own in answered.items()}
        for name in {name for (name, _), own in answered.items() if GAVE_UP in own}:
            rest = ((name, key) for key in self._start.pending[name])
            answers |= {key: (None, ERRORED) for key in rest if key not in answers}
        self.cause = next((str(own["failed"]) for own in answered.values() if "failed" in own), "")
        self.failed = frozenset(key for key, (text, _) in answers.items() if text is None)
        self.sample_builder.responses = self._start.with_answers(answers)

    def _text_of(self, answers: Mapping[str, Any]) -> tuple[str | None, str]:
        said = answers.get("text")
        if said is None:
            return None, ERRORED
        text = strip_reasoning(said) if self.reasoning == "strip" else said
        if text.strip():
            return text, ""
        return None, ONLY_REASONING if said.strip() else EMPTY

    def due(self, pairings: Sequence[Pairing], label: str) -> list[Sample]:
        """Return samples for the answers that these battles need and that are not there.

        Args:
            label: of the round, for the ids of packs.
        """
        pending = self.sample_builder.responses.pending
        for name in self.order if self.first else ():
            if own := [item for item in self.first if item in pending.get(name, ())]:
                return [self._sample(item, [name]) for item in own]
        wanted: dict[str, list[str]] = {}
        for battle in pairings:
            key = response_key(battle.item, battle.response)
            for name in (battle.a, battle.b):
                if key in pending.get(name, ()) and name not in wanted.setdefault(battle.item, []):
                    wanted[battle.item].append(name)
        if self.pack:
            return [self._sample(item, names, label) for item, names in wanted.items() if names]
        return [self._sample(item, [name]) for item, names in wanted.items() for name in names]

    def _sample(self, item_id: str, names: list[str], label: str = "") -> Sample:
        """Return the sample that asks for the answers of some models: of a round in a pack, else of one model."""
        item, short = self.sample_builder.items[item_id], self.sample_builder.short_names[names[0]]
        sample_id = f"answers::{item_id}::round {label}" if label else f"answer::{item_id}::{short}"
        shown = {field: getattr(item, field) for field in ("instruction", "category", "reference", "system", "media")}
        metadata = {"item": item_id, ASKED: names, ROUND: [], **{key: own for key, own in shown.items() if own}}
        return Sample(id=sample_id, input=input_of(item.instruction, item.media), metadata=metadata)
