"""The solver that makes the judge's calls: every judgment of a battle, each reply kept as it came."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
from functools import partial
from typing import Any

import anyio
from inspect_ai.log import read_eval_log
from inspect_ai.model import CachePolicy, Content, GenerateConfig, Model, ModelOutput, get_model, model_roles
from inspect_ai.solver import Generate, Solver, TaskState, solver

from podium.errors import UsageError
from podium.hosts.inspect_ai.call_control import (
    CircuitBreaker,
    JudgeStoppedError,
    OnceCache,
    make_calls,
    repeat_where_cut_short,
)
from podium.hosts.inspect_ai.compatibility import batch_of, flatten_arguments
from podium.hosts.inspect_ai.judge_models import NO_JUDGE, has_judge, identity, jury_of
from podium.hosts.inspect_ai.log_contents import (
    BATTLES,
    FIRST,
    JUDGMENTS,
    NAMESPACE,
    OPTIONS,
    RESPONSE,
    ROUND,
    STOPPED,
    battles_of,
    is_log,
)
from podium.hosts.inspect_ai.media import media_in, prompt_with_media, why_refused
from podium.hosts.inspect_ai.offline_api import asked_by
from podium.plugins.catalogue import judging_settings
from podium.scorers.battle import Judgment
from podium.scorers.checklist import checklist_prompt, read_checklist
from podium.scorers.judging import Judging, kept_reply, reply_of
from podium.scorers.probabilities import Settled, settle_mode
from podium.scorers.prompt import Texts
from podium.scorers.reply import Reply, Token
from podium.storage.remote import local_file, place_of

MEDIA = "media"
"""Key of a battle under which stands what of the instruction is not text."""
PACKS = 4
"""Packs judged at once: each has the battles of a whole item, which is enough to keep a provider busy."""
TOP = 5
"""Alternatives asked for at every token: as many as every provider gives."""
Key = tuple[str, str, str, str, str, int]
"""Of a judgment: judge, item and response, both models, order, repeat."""


@dataclass(eq=False, repr=False)
class Run(OnceCache):
    """What the battles of one run share: ratings of a response, checklists of an item, and how they are judged.

    Attributes:
        how: the settings.
        jury: who judges; where none is given, the models of the role `judge`.
        cache: whether replies of earlier runs are taken instead of new calls.
        known: judgments of an earlier run that could be read.
        asked_before: how often each judge was asked about these battles in earlier runs: what it says now are repeats.
        modes: of token probabilities, by judge; not there until a reply decides.
        again: what tells calls apart from those of the earlier run.
    """

    how: Judging
    _: KW_ONLY
    cache: bool = True
    reask: InitVar[str | None] = None
    jury: Sequence[Model] = ()
    ends_run: InitVar[bool] = False
    asked_before: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self, reask: str | None, ends_run: bool) -> None:
        super().__init__()
        self.known: Mapping[Key, dict[str, Any]] = readable_judgments(reask, self.how) if reask else {}
        self.modes: dict[str, Settled] = {shown["judge"]: shown["mode"] for shown in self.known.values()}
        self.again = f" again {reask}" if reask else ""
        self.packs = anyio.Semaphore(PACKS)
        self.breaker = CircuitBreaker(ends_run=ends_run)

    def mode(self, judge: str) -> Settled:
        """Return whether token probabilities soften a judge's verdicts; not yet, where nothing decided it."""
        return self.modes.get(judge, "off") if self.how.logprobs == "auto" else self.how.logprobs

    def settle_mode(self, judge: str, reply: Reply) -> Settled:
        """Decide by a judge's first reply that has probabilities or a verdict, which a refusal has not."""
        mode = settle_mode(reply)
        if judge not in self.modes and (mode == "required" or self.how.reason(reply, "off") is None):
            self.modes[judge] = mode
        return self.mode(judge)

    def cache_policy(self, call: str) -> CachePolicy | bool:
        """Cache for good, apart for every judge, repeat, order and attempt; messages and settings are in the key."""
        scopes = {NAMESPACE: f"{call}{self.again}"}
        return CachePolicy(expiry=None, per_epoch=False, scopes=scopes) if self.cache else False


def readable_judgments(path: str, how: Judging) -> dict[Key, dict[str, Any]]:
    """Return the judgments of an earlier run's log that could be read: they need not be asked again."""
    file = local_file(place_of(path))
    if not file.exists():
        raise UsageError(f"reask={path}: there is no such log")
    if file.is_dir() or not is_log(file):
        raise UsageError(f"reask={path}: name one log of Inspect, a file that ends with .eval")
    log = read_eval_log(str(file), exclude_fields={"events", "messages", "attachments"})
    samples = [sample for sample in log.samples or [] if NAMESPACE in sample.store]
    if not samples:
        raise UsageError(f"reask={path}: the log holds no battles of podium")
    readable: dict[Key, dict[str, Any]] = {}
    for sample in samples:
        kept = sample.store[NAMESPACE]
        for battle, replies in zip(battles_of(sample.metadata), kept.get(BATTLES, [kept]), strict=True):
            for shown in replies[JUDGMENTS]:
                mode = shown["mode"] if how.logprobs == "auto" else how.logprobs
                if all(how.reason(reply_of(reply), mode) is None for reply in shown["replies"]):
                    sides = (_answered_item(battle), battle["model_a"], battle["model_b"])
                    readable[(shown["judge"], *sides, shown["order"], shown["repeat"])] = shown
    return readable


@solver
def judge(
    *, cache: bool = True, reask: str | None = None, asked_before: dict[str, int] | None = None, **kwargs: Any
) -> Solver:
    """Ask every judge for every judgment of the battle, and keep the replies in the store.

    Args:
        cache: whether replies of earlier runs are taken instead of new calls.
        reask: a log: what could be read there is taken from it, and only the rest is asked.
        asked_before: how often each judge was asked about these battles in earlier runs.
        **kwargs: of `podium.plugins.catalogue.judging_settings`.
    """
    options = flatten_arguments(kwargs)
    run = Run(judging_settings(**options), cache=cache, reask=reask, ends_run=True, asked_before=asked_before or {})

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        if ROUND in state.metadata:
            return state
        if not has_judge():
            raise JudgeStoppedError(f"{STOPPED}: {NO_JUDGE}")
        if BATTLES in state.metadata:
            # Few packs at once, because each holds its transcript in memory.
            async with run.packs:
                media = {MEDIA: media_in(state.input)}
                battles = [{**battle, **media} for battle in battles_of(state.metadata)]
                calls = [partial(ask_jury, run, battle, state.epoch) for battle in battles]
                replies: dict[str, Any] = {BATTLES: await make_calls(calls)}
        else:
            replies = await ask_jury(run, {**state.metadata, MEDIA: media_in(state.input)}, state.epoch)
        state.store.set(NAMESPACE, {**replies, OPTIONS: options})
        state.output = ModelOutput.from_content(NAMESPACE, "judged")
        state.completed = True
        return state

    return solve


async def ask_jury(run: Run, battle: Mapping[str, Any], epoch: int = 1) -> dict[str, Any]:
    """Ask every judge for every judgment of a battle; return the replies, each with what softens it.

    Args:
        battle: `item`, `model_a`, `model_b`, `instruction`, `response_a`, `response_b`, and what else is shown; under
            `MEDIA` contents that go beside the prompt.
        epoch: of Inspect, from 1: each makes repeats of its own.
    """
    wants_checklist = run.how.settings.checklist
    if wants_checklist and not battle.get("checklist"):
        questions = await run.ask_once(("checklist", battle["item"]), partial(_write_checklist, run, battle))
        battle = {**battle, "checklist": questions}
    sides, calls = (_answered_item(battle), battle["model_a"], battle["model_b"]), []
    for model in jury_of(run.how, run.jury):
        # Behind the repeats of earlier runs and epochs.
        before = run.asked_before.get(identity(model, run.how), 0) + run.how.repeats * (epoch - 1)
        so_far = replace(run.how, repeats=before + run.how.repeats).judgments(*sides, battle.get(FIRST))
        calls += [partial(_ask_judge, run, model, shown, battle) for shown in so_far if shown.repeat >= before]
    kept = {JUDGMENTS: [{**row, "mode": run.mode(row["judge"])} for row in await make_calls(calls)]}
    return kept | ({"checklist": list(battle["checklist"])} if wants_checklist else {})


async def _ask_judge(run: Run, model: Model, shown: Judgment, battle: Mapping[str, Any]) -> dict[str, Any]:
    """Return one judgment with its replies; a pointwise judge rates a response once, for every battle of it."""
    name = identity(model, run.how)
    known = run.known.get(
        (name, _answered_item(battle), battle["model_a"], battle["model_b"], shown.order, shown.repeat)
    )
    if known is not None:
        return known
    responses = {battle["model_b"]: battle["response_b"], battle["model_a"]: battle["response_a"]}
    if run.how.is_pairwise:
        texts = (responses[shown.first], responses[shown.second])
        replies = [await _ask_until_readable(run, model, texts, battle, shown.repeat, shown.order)]
    else:
        replies = []
        for rated in (battle["model_a"], battle["model_b"]):
            ask = partial(_ask_until_readable, run, model, (responses[rated],), battle, shown.repeat)
            key = ("rating", name, _answered_item(battle), rated, shown.repeat)
            replies.append(await run.ask_once(key, ask))
    return {
        "order": shown.order,
        "repeat": shown.repeat,
        "judge": name,
        "replies": [kept for kept, _ in replies],
        "attempts": max(attempts for _, attempts in replies),
    }


def _answered_item(battle: Mapping[str, Any]) -> str:
    """Return what names a battle's item and which of the responses to it meet."""
    from podium.responses.collection import response_key  # Inspect's registry loads this file, and reads no table

    return response_key(battle["item"], battle.get(RESPONSE) or 1)


async def _ask_until_readable(
    run: Run, model: Model, responses: tuple[str, ...], battle: Mapping[str, Any], repeat: int, order: str = ""
) -> tuple[dict[str, Any], int]:
    """Ask until the reply can be read, at most `attempts` times; return the last as the log keeps it, and how often.

    Whoever is asked again is told the form: that is another prompt, so the attempt stands in the row and the cache key.
    """
    name, texts, media = identity(model, run.how), texts_of(battle, responses), battle.get(MEDIA, ())
    # Where two responses of a model are alike, each is judged nevertheless.
    number = f" response {battle[RESPONSE]}" if (battle.get(RESPONSE) or 1) > 1 else ""
    wanted = {"logprobs": True, "top_logprobs": TOP} if run.how.wants_probabilities else {}
    config = GenerateConfig(**{**run.how.generation, **wanted})
    for attempt in range(1, run.how.attempts + 1):
        policy = run.cache_policy(f"{name} repeat {repeat} {order} attempt {attempt}{number}")
        kept = kept_reply(await _ask(run, model, texts, run.how.prompt(texts, attempt), policy, config, media))
        # What is read now must be what the scorer reads later, so it is the kept reply.
        reply = reply_of(kept)
        if reply.refused or run.how.reason(reply, run.settle_mode(name, reply)) is None:
            break
    return kept, attempt


async def _ask(
    run: Run,
    model: Model,
    texts: Texts,
    prompt: str,
    policy: CachePolicy | bool,
    config: GenerateConfig | None = None,
    media: Sequence[Content] = (),
) -> Reply:
    asked, usual = prompt_with_media(prompt, media), config or GenerateConfig()
    usual = usual.merge(GenerateConfig(batch=batch_of(model)))

    async def ask() -> ModelOutput | str:
        try:
            return await model.generate(asked, config=usual, cache=policy)
        except Exception as error:
            if media and (why := why_refused(error)):
                return why
            raise

    with asked_by(run.how, texts):
        output = await run.breaker.call(partial(repeat_where_cut_short, ask))
    if isinstance(output, str):
        return Reply("", refused=output)
    choice = output.choices[0] if output.choices else None
    logprobs = choice.logprobs.content if choice and choice.logprobs else []
    tokens = tuple(
        Token(token.token, {top.token: math.exp(min(top.logprob, 0.0)) for top in token.top_logprobs or []})
        for token in logprobs
    )
    return Reply(output.completion, output.stop_reason in ("max_tokens", "model_length"), tokens)


async def _write_checklist(run: Run, battle: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the questions on an item: written once, by the role `checklist`, else by the judge."""
    model = get_model(role="checklist") if "checklist" in model_roles() else jury_of(run.how, run.jury)[0]
    texts = texts_of(battle, ())
    prompt = checklist_prompt(texts, run.how.settings)
    for attempt in range(1, run.how.attempts + 1):
        policy = run.cache_policy(f"{identity(model, run.how)} checklist {attempt}")
        answer = read_checklist(reply_of(kept_reply(await _ask(run, model, texts, prompt, policy))))
        if not isinstance(answer, str):
            return answer
    raise RuntimeError(f"no checklist for the item {battle['item']!r}: {answer}")


def texts_of(battle: Mapping[str, Any], responses: tuple[str, ...]) -> Texts:
    """Return what a prompt about some responses of a battle shows."""
    questions = tuple(battle.get("checklist") or ())
    return Texts(battle["instruction"], responses, battle.get("reference"), battle.get("system"), questions)
