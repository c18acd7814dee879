"""The solver that makes the judge's calls: every presentation of a battle, each reply kept as it came."""

import math
from typing import Any

import anyio
from inspect_ai.model import CachePolicy, GenerateConfig, Model, ModelOutput, get_model, model_roles
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import collect

from podium.hosts.inspect_ai.judging import Judging, judging, kept_reply
from podium.hosts.inspect_ai.kept import NAMESPACE, ROUND
from podium.scorers.asking import Texts
from podium.scorers.orders import Presentation
from podium.scorers.probabilities import settled
from podium.scorers.verdict import Reply, Token

ROLES = ("judge", "grader")
TOP = 5
"""Alternatives asked for at every token: as many as every provider gives."""


class Run:
    """What the battles of one run share: whether replies come with probabilities, and ratings already given."""

    def __init__(self, how: Judging, *, cache: bool = True) -> None:
        self.how = how
        self.cache = cache
        self.mode = "off" if how.logprobs == "off" else None if how.logprobs == "auto" else "required"
        self.rated: dict[tuple[str, str, str, int], list[dict[str, Any]]] = {}
        self.locks: dict[tuple[str, str, str, int], anyio.Lock] = {}

    def settle(self, reply: Reply) -> str:
        """Decide by the first reply whether the run has token probabilities; from then on it is so."""
        if self.mode is None:
            self.mode = settled("auto", [reply])
        return self.mode


@solver
def judge(*, cache: bool = True, **options: Any) -> Solver:
    """Ask every judge for every presentation of the battle, and keep the replies in the store.

    Args:
        cache: whether replies of earlier runs are taken instead of new calls.
        **options: of `podium.hosts.inspect_ai.judging.judging`.
    """
    run = Run(judging(**options), cache=cache)

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        if ROUND in state.metadata:
            return state
        shown = run.how.shown(state.metadata["item"], state.metadata["model_a"], state.metadata["model_b"])
        calls = [_shown(run, judge_, one, state) for judge_ in judges() for one in shown]
        state.store.set(NAMESPACE, {"presentations": await collect(*calls), "mode": run.mode or "off"})
        state.output = ModelOutput.from_content(NAMESPACE, "judged")
        state.completed = True
        return state

    return solve


def judges() -> list[Model]:
    """Return the models of the role `judge` (else `grader`): one, or a jury."""
    roles = model_roles()
    role = next((name for name in ROLES if name in roles), ROLES[0])
    found = roles.get(role)
    return found if isinstance(found, list) else [get_model(role=role, required=True)]


async def _shown(run: Run, model: Model, shown: Presentation, state: TaskState) -> dict[str, Any]:
    """Return one presentation with its replies: one (pairwise) or one per response (pointwise)."""
    if run.how.pairwise:
        texts = (_response(shown.first, state), _response(shown.second, state))
        replies = [await _asked(run, model, texts, shown.repeat, state)]
    else:
        names = (state.metadata["model_a"], state.metadata["model_b"])
        replies = [await _rated(run, model, name, shown.repeat, state) for name in names]
    return {
        "order": shown.order,
        "repeat": shown.repeat,
        "judge": run.how.judge_name(str(model)),
        "replies": [reply for reply, _ in replies],
        "attempts": max(attempts for _, attempts in replies),
    }


async def _rated(run: Run, model: Model, entrant: str, repeat: int, state: TaskState) -> tuple[dict[str, Any], int]:
    """Rate one response alone, once per run: every battle of it shares the reply."""
    key = (str(model), state.metadata["item"], entrant, repeat)
    async with run.locks.setdefault(key, anyio.Lock()):
        if key not in run.rated:
            run.rated[key] = list(await _asked(run, model, (_response(entrant, state),), repeat, state))
    reply, attempts = run.rated[key]
    return reply, int(attempts)


async def _asked(
    run: Run, model: Model, responses: tuple[str, ...], repeat: int, state: TaskState
) -> tuple[dict[str, Any], int]:
    """Ask until the reply can be read, at most `attempts` times; keep the last."""
    prompt = run.how.prompt(_texts(responses, state))
    kept: dict[str, Any] = {}
    for attempt in range(1, run.how.attempts + 1):
        reply = _reply(await model.generate(prompt, config=_config(run), cache=_policy(run, repeat, attempt)))
        kept = kept_reply(reply)
        if run.how.read(reply, run.settle(reply)).reason is None:
            break
    return kept, attempt


def _texts(responses: tuple[str, ...], state: TaskState) -> Texts:
    own = state.metadata
    return Texts(
        own["instruction"], responses, own.get("reference"), own.get("system"), tuple(own.get("checklist") or ())
    )


def _response(entrant: str, state: TaskState) -> str:
    return state.metadata["response_a" if entrant == state.metadata["model_a"] else "response_b"]


def _config(run: Run) -> GenerateConfig:
    wanted = {"logprobs": True, "top_logprobs": TOP} if run.how.wants_probabilities else {}
    return GenerateConfig(**{**run.how.generation, **wanted})


def _policy(run: Run, repeat: int, attempt: int) -> CachePolicy | bool:
    """Cache for good, apart for every prompt, repeat and attempt; model, messages and settings are in the key."""
    if not run.cache:
        return False
    scope = {NAMESPACE: f"{run.how.prompt_hash} repeat {repeat} attempt {attempt}"}
    return CachePolicy(expiry=None, per_epoch=False, scopes=scope)


def _reply(output: ModelOutput) -> Reply:
    choice = output.choices[0] if output.choices else None
    known = choice.logprobs.content if choice and choice.logprobs else []
    tokens = tuple(
        Token(one.token, {top.token: math.exp(min(top.logprob, 0.0)) for top in one.top_logprobs or []}) for one in known
    )
    return Reply(output.completion, output.stop_reason in ("max_tokens", "model_length"), tokens)
