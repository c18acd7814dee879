"""The solver that makes the judge's calls: every presentation of a battle, each reply kept as it came."""

import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

import anyio
from inspect_ai.model import CachePolicy, GenerateConfig, Logprob, Model, ModelOutput, get_model, model_roles
from inspect_ai.solver import Generate, Solver, TaskState, solver

from podium.errors import UsageError
from podium.hosts.inspect_ai.arguments import flat
from podium.hosts.inspect_ai.concurrency import make_calls
from podium.hosts.inspect_ai.log_format import BATTLES, NAMESPACE, OPTIONS, ROUND
from podium.plugins.catalogue import judging_settings
from podium.scorers import checklist
from podium.scorers.asking import Texts
from podium.scorers.judging import Judging, Settled, kept_reply, reply_of
from podium.scorers.orders import Presentation
from podium.scorers.probabilities import available, settled
from podium.scorers.verdict import Reply, Token

ROLES = ("judge", "grader")
SAMPLING = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort", "reasoning_tokens")
"""Settings of a model that make it another judge."""
PACKS = 4
"""Packs judged at once: each has the battles of a whole item, which is enough to keep a provider busy."""
TOP = 5
"""Alternatives asked for at every token: as many as every provider gives."""


def _recorded(path: str, how: Judging) -> Mapping[Any, dict[str, Any]]:
    from podium.hosts.inspect_ai.reuse import recorded

    return recorded(path, how)


class Run:
    """What the battles of one run share.

    Attributes:
        how: the settings.
        cache: whether replies of earlier runs are taken instead of new calls.
        modes: of token probabilities, by judge; not there until a reply decides.
        recorded: presentations of an earlier run that could be read, by judge, battle, order and repeat.
        again: what tells calls apart from those of the earlier run.
        packs: lets a few packs be judged at once.
        jury: who judges; where none is given, the models of the role `judge`.
        once: replies that several battles share (ratings of a response, checklists of an item), by what they are of.
    """

    def __init__(
        self, how: Judging, *, cache: bool = True, reask: str | None = None, jury: Sequence[Model] = ()
    ) -> None:
        self.how = how
        self.jury = tuple(jury)
        self.cache = cache
        self.recorded = _recorded(reask, how) if reask else {}
        self.modes: dict[str, Settled] = {one["judge"]: one["mode"] for one in self.recorded.values()}
        self.again = f" again {reask}" if reask else ""
        self.once: dict[tuple[Any, ...], Any] = {}
        self.locks: dict[tuple[Any, ...], anyio.Lock] = {}
        self.packs = anyio.Semaphore(PACKS)

    def mode(self, judge: str) -> Settled:
        """Return whether token probabilities soften a judge's verdicts; not yet, where nothing decided it."""
        return self.modes.get(judge, "off") if self.how.logprobs == "auto" else self.how.logprobs

    def settle(self, judge: str, reply: Reply) -> Settled:
        """Decide by a judge's first reply that has probabilities or a verdict; from then on it is so.

        A reply that has neither, as a refusal, does not tell what the judge's verdicts come with.
        """
        if judge not in self.modes and (available([reply]) or self.how.reason(reply, "off") is None):
            self.modes[judge] = settled("auto", [reply])
        return self.mode(judge)

    async def shared(self, key: tuple[Any, ...], ask: Callable[[], Awaitable[Any]]) -> Any:
        """Return what is asked for once and used by many."""
        async with self.locks.setdefault(key, anyio.Lock()):
            if key not in self.once:
                self.once[key] = await ask()
        return self.once[key]


@solver
def judge(*, cache: bool = True, reask: str | None = None, **kwargs: Any) -> Solver:
    """Ask every judge for every presentation of the battle, and keep the replies in the store.

    Args:
        cache: whether replies of earlier runs are taken instead of new calls.
        reask: a log: what could be read there is taken from it, and only the rest is asked.
        **kwargs: of `podium.plugins.catalogue.judging_settings`.
    """
    options = flat(kwargs)
    run = Run(judging_settings(**options), cache=cache, reask=reask)

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        if ROUND in state.metadata:
            return state
        replies = await (_pack if BATTLES in state.metadata else ask_jury)(run, state.metadata)
        state.store.set(NAMESPACE, {**replies, OPTIONS: options})
        state.output = ModelOutput.from_content(NAMESPACE, "judged")
        state.completed = True
        return state

    return solve


async def _pack(run: Run, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Ask for every battle of a pack; few packs at once, because each holds its transcript in memory."""
    from podium.hosts.inspect_ai.packing import battles_of

    async with run.packs:
        return {BATTLES: await make_calls([partial(ask_jury, run, one) for one in battles_of(metadata)])}


async def ask_jury(run: Run, battle: Mapping[str, Any]) -> dict[str, Any]:
    """Ask every judge for every presentation of a battle; return the replies, each with what softens it.

    Args:
        battle: `item`, `model_a`, `model_b`, `instruction`, `response_a`, `response_b`, and what else is shown.
    """
    if run.how.settings.checklist and not battle.get("checklist"):
        battle = {**battle, "checklist": await _checklist(run, battle)}
    shown = run.how.presentations(battle["item"], battle["model_a"], battle["model_b"])
    calls = [partial(_shown, run, model, one, battle) for model in jury_of(run.how, run.jury) for one in shown]
    kept = {"presentations": [{**one, "mode": run.mode(one["judge"])} for one in await make_calls(calls)]}
    return kept | ({"checklist": list(battle["checklist"])} if run.how.settings.checklist else {})


def judges() -> list[Model]:
    """Return the models of the role `judge` (else `grader`), one or a list, and of `judge2`, `judge3` ...: a jury."""
    roles = model_roles()
    role = next((name for name in ROLES if name in roles), ROLES[0])
    jury = sorted(name for name in roles if re.fullmatch(f"{role}[0-9]+", name))
    return [model for name in (role, *jury) for model in _models(name, roles.get(name))]


def _models(role: str, found: Model | list[Model] | None) -> list[Model]:
    return found if isinstance(found, list) else [get_model(role=role, required=True)]


def jury_of(how: Judging, given: Sequence[Model] = ()) -> list[Model]:
    """Return the judges: those that are given, else those of the role.

    Raises:
        UsageError: one of them sits there twice: its two verdicts could not be told apart.
    """
    found = list(given) or judges()
    names = [identity(model, how) for model in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"the jury has a judge twice: {', '.join(twice)}; for more verdicts of one, use repeats")
    return found


def identity(model: Model, how: Judging) -> str:
    """Return the identity of a judge, with what its model was set to; its arguments, which may be secret, as a hash."""
    own = {name: getattr(model.config, name, None) for name in SAMPLING}
    arguments = json.dumps(model.model_args, sort_keys=True, default=str)
    digest = sha256(arguments.encode()).hexdigest()[:6] if model.model_args else None
    return how.judge_name(str(model), {**own, "args": digest})


async def _shown(run: Run, model: Model, shown: Presentation, battle: Mapping[str, Any]) -> dict[str, Any]:
    """Return one presentation with its replies: one (pairwise) or one per response (pointwise)."""
    name = identity(model, run.how)
    known = run.recorded.get((name, battle["item"], battle["model_a"], battle["model_b"], shown.order, shown.repeat))
    if known is not None:
        return known
    if run.how.is_pairwise:
        texts = (_response(shown.first, battle), _response(shown.second, battle))
        asked = [await _asked(run, model, texts, shown.repeat, battle, shown.order)]
    else:
        asked = [await _rated(run, model, one, shown.repeat, battle) for one in (battle["model_a"], battle["model_b"])]
    return {
        "order": shown.order,
        "repeat": shown.repeat,
        "judge": name,
        "replies": [one.reply for one in asked],
        "attempts": max(one.attempts for one in asked),
    }


@dataclass(frozen=True, slots=True)
class Asked:
    """A reply as the log keeps it, and how often it was asked for."""

    reply: dict[str, Any]
    attempts: int


async def _rated(run: Run, model: Model, entrant: str, repeat: int, battle: Mapping[str, Any]) -> Asked:
    """Rate one response alone, once per run: every battle of it shares the reply."""
    key = ("rating", identity(model, run.how), battle["item"], entrant, repeat)
    return await run.shared(key, lambda: _asked(run, model, (_response(entrant, battle),), repeat, battle))


async def _asked(
    run: Run, model: Model, responses: tuple[str, ...], repeat: int, battle: Mapping[str, Any], order: str = ""
) -> Asked:
    """Ask until the reply can be read, at most `attempts` times; keep the last."""
    name, prompt = identity(model, run.how), run.how.prompt(_texts(responses, battle))
    for attempt in range(1, run.how.attempts + 1):
        policy = _policy(run, f"{name} repeat {repeat} {order} attempt {attempt}")
        kept = kept_reply(_reply(await model.generate(prompt, config=_config(run), cache=policy)))
        # What is read now must be what the scorer reads later, so it is the kept reply.
        reply = reply_of(kept)
        if run.how.reason(reply, run.settle(name, reply)) is None:
            break
    return Asked(kept, attempt)


async def _checklist(run: Run, battle: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the questions on an item: written once, by the role `checklist`, else by the judge.

    Raises:
        RuntimeError: no reply could be read; the battle fails. More `attempts`, or `cache=false`, ask anew.
    """
    return await run.shared(("checklist", battle["item"]), lambda: _questions(run, battle))


async def _questions(run: Run, battle: Mapping[str, Any]) -> tuple[str, ...]:
    model = get_model(role="checklist") if "checklist" in model_roles() else jury_of(run.how, run.jury)[0]
    prompt = checklist.prompt(_texts((), battle), run.how.settings)
    for attempt in range(1, run.how.attempts + 1):
        reply = _reply(
            await model.generate(prompt, cache=_policy(run, f"{identity(model, run.how)} checklist {attempt}"))
        )
        found = checklist.read(reply)
        if found.questions:
            return found.questions
    raise RuntimeError(f"no checklist for the item {battle['item']!r}: {found.reason}")


def _texts(responses: tuple[str, ...], battle: Mapping[str, Any]) -> Texts:
    questions = tuple(battle.get("checklist") or ())
    return Texts(battle["instruction"], responses, battle.get("reference"), battle.get("system"), questions)


def _response(entrant: str, battle: Mapping[str, Any]) -> str:
    return battle["response_a" if entrant == battle["model_a"] else "response_b"]


def _config(run: Run) -> GenerateConfig:
    wanted = {"logprobs": True, "top_logprobs": TOP} if run.how.wants_probabilities else {}
    return GenerateConfig(**{**run.how.generation, **wanted})


def _policy(run: Run, call: str) -> CachePolicy | bool:
    """Cache for good, apart for every judge, repeat, order and attempt; messages and settings are in the key."""
    if not run.cache:
        return False
    return CachePolicy(expiry=None, per_epoch=False, scopes={NAMESPACE: f"{call}{run.again}"})


def _reply(output: ModelOutput) -> Reply:
    choice = output.choices[0] if output.choices else None
    known = choice.logprobs.content if choice and choice.logprobs else []
    tokens = tuple(Token(one.token, _probabilities(one)) for one in known)
    return Reply(output.completion, output.stop_reason in ("max_tokens", "model_length"), tokens)


def _probabilities(token: Logprob) -> dict[str, float]:
    return {top.token: math.exp(min(top.logprob, 0.0)) for top in token.top_logprobs or []}
