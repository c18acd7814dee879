"""Write what a run prints before its first call: what is played, its cost, and what is slow."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from inspect_ai.model import Model

from podium.data.pairings import Pairing, PairingsByItem
from podium.errors import UsageError
from podium.hosts.inspect_ai.inspect_ai_compatibility import value_of_option
from podium.hosts.inspect_ai.judging.call_prices import Prices, price_of
from podium.hosts.inspect_ai.judging.call_settings import CallLimits, judge_limits, limits_of
from podium.hosts.inspect_ai.judging.judge_calls import prompt_texts
from podium.hosts.inspect_ai.judging.judge_models import judges_by_role
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.hosts.inspect_ai.logs.podium_entries import parse_battles
from podium.hosts.inspect_ai.tournament.batch_notes import notes_on_batches
from podium.hosts.inspect_ai.tournament.competitors import Competitors, Questions
from podium.hosts.inspect_ai.tournament.round_samples import SampleBuilder, missing_responses_text
from podium.hosts.inspect_ai.tournament.tournament_plan import TournamentPlan
from podium.hosts.inspect_ai.tournament.tournament_request import TournamentRequest
from podium.hosts.inspect_ai.tournament.tournament_source import TournamentSource
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_text, notice_texts
from podium.notices.option_forms import option_text
from podium.scorers.judging import Judging
from podium.scorers.prompt import count_tokens
from podium.scorers.shared_prefixes import least_cached, share_of_prefix_cache
from podium.tournaments.judge_rotation import JudgeRotation
from podium.tournaments.schedule import rounds_of
from podium.wording import plural, quantity, word_for

SAMPLED_PROMPTS = 50
"""Number of battles, or up to twice as many, from which the tokens of a prompt are estimated."""
MEASURED_PROMPTS = 200
"""Number of battles on which the share of a prompt cache is measured, in whole items.

If the first item has more battles, it is cut to so many.
"""
LEAST_SHARE = 0.01
"""Smallest share of cacheable tokens that is written."""


@dataclass(frozen=True, slots=True)
class CacheableInput:
    """How much of the input of a run providers' prompt caches can serve.

    Attributes:
        share: share of the input tokens of all judges, in [0, 1).
        least: the numbers of tokens from which on the judges' providers cache, ascending.
        by_default: the same share with the number of tokens of most providers.
        of_judges: share of a judge's own input tokens, by the judge's model.
    """

    share: float
    least: tuple[int, ...]
    by_default: float
    of_judges: Mapping[str, float]

    def share_of(self, model: Model) -> float:
        """Return the share of a judge's own input tokens that its provider's cache can serve."""
        return self.of_judges[str(model)]


_IS_BRIEF: ContextVar[bool] = ContextVar("whether the preview is brief", default=False)
"""Whether `preview_run` is brief; see `brief_preview`."""


@contextmanager
def brief_preview() -> Iterator[None]:
    """Let `preview_run` write what judges cost in its first sentence while the body runs, and not
    how they are asked.

    So a tournament that follows an eval takes one line before its first call.
    """
    before = _IS_BRIEF.set(True)
    try:
        yield
    finally:
        _IS_BRIEF.reset(before)


def preview_run(
    request: TournamentRequest,
    questions: Questions,
    competitors: Competitors,
    plan: TournamentPlan,
    source: TournamentSource,
) -> Iterator[str]:
    """Yield sentences on what will be played and what it will cost, then notes.

    The notes are on slow options, on transcripts, on the shard, on given ratings and on recorded
    battles without responses.

    Raises:
        UsageError: nothing can be played; the message says why responses are missing.
    """
    missing = missing_responses_text(competitors.missing)
    why = f"left out because responses are missing: {missing}" if missing else ""
    if not source.initial_samples():
        reason = why or "fewer than two models"
        raise UsageError(f"{request.name}: nothing can be played: {reason}")
    yield from _cost_sentences(request, questions, competitors, plan, source, why)
    yield from _speed_notes(questions, source)
    yield from notice_texts([*competitors.transcripts, *plan.notes])
    if plan.shard:
        mine = len(source.first.pairings)
        whole = plan.shard.metadata.battles
        yield f"shard {request.options.shard}: {mine:,} of {whole:,} {plural('battle', whole)}"
    if plan.ladder:
        yield from notice_texts(plan.ladder.warnings())
    if competitors.record and competitors.unanswered:
        yield _unanswered_text(competitors.unanswered, len(competitors.record.pairings))


def _cost_sentences(
    request: TournamentRequest,
    questions: Questions,
    competitors: Competitors,
    plan: TournamentPlan,
    source: TournamentSource,
    missing: str,
) -> Iterator[str]:
    """Yield sentences on battles, calls and tokens, then on each judge and on the answers.

    In a brief preview, what the judges cost is part of the first sentence. The findings that were
    accepted and the notes on the responses come last.

    Args:
        request: the tournament as typed.
        questions: how models and judges are asked.
        competitors: the responses.
        plan: what is played.
        source: the tournament, with its first round.
        missing: which responses are missing, for the end of the first sentence; empty if none are.
    """
    responses = competitors.responses
    rotation = plan.rotation
    battles = _battles_at_most(competitors, source)
    first = source.first.pairings
    ties = responses.identical_battles(first) if plan.judging.identical == "tie" else []
    identical = len(ties)
    calls = _calls_at_most(competitors, source, plan, battles - identical, ties)
    shares = _shares_of_judges(rotation)
    all_calls = _round_calls_up(calls * sum(shares) if shares else calls)
    with_answers = questions.requests.with_placeholders(responses)
    builder = SampleBuilder(with_answers, competitors.items_with_transcripts)
    per_call = _prompt_tokens(builder, first, plan.judging)
    of_battles = f"{plural('battle', battles)}{_identical_text(identical, len(first), battles)}"
    calls_text = f"at most {battles:,} {of_battles}, {_calls_text(all_calls, plan)}"
    cacheable = _cacheable_input(builder, first, plan.judging, rotation)
    tokens = _tokens_text(all_calls, per_call, plan.judging, cacheable)
    cost = f"{_competing_text(source)}; {calls_text}, {tokens}{_rounds_text(source)}"
    calls_of = [_round_calls_up(calls * each) for each in shares] or [calls]
    prices = request.options.prices or {}
    judge_texts = _judge_texts(plan.judging, calls_of, per_call, cacheable, prices)
    if _IS_BRIEF.get():
        yield "; ".join(filter(None, [cost, *judge_texts, missing]))
    else:
        yield "; ".join(filter(None, [cost, missing]))
        yield from judge_texts
    if rotation:
        yield _note_on_turns(rotation)
    if plan.collector:
        only_round = first if len(first) >= battles else None
        yield questions.requests.cost_text(responses, plan.collector.answers_to_ask(only_round))
    yield from responses.accepted
    yield from (f"{note.severity}: {notice_text(note)}" for note in responses.notes)


def _note_on_turns(rotation: JudgeRotation) -> str:
    """Write a note on judges that take turns.

    If some battles have all judges, it says that these count once per judge. Otherwise, it says
    that no battle has several judges. The ranking will have the same note, with numbers.
    """
    code = "shared-battles" if rotation.shares[-1] else "judges-in-turn"
    # Numbers of 0 are not written: none is known before the run.
    no_numbers = {"battles": 0, "shared": 0}
    return f"note: {notice_text(Notice(code, no_numbers))}"


def _round_calls_up(calls: float) -> int:
    """Round a number of calls up to a whole number.

    It is rounded to 6 decimals before, so that an error of floats does not add a call.
    """
    return ceil(round(calls, 6))


def _judge_texts(
    judging: Judging,
    calls: Sequence[int],
    tokens: float,
    cacheable: CacheableInput,
    prices: Prices,
) -> list[str]:
    """Return the texts of `_judge_text` that are not empty.

    Args:
        judging: how judges are asked.
        calls: number of the calls of each judge, in their order; or one number in a list, if all
            judges make the same.
        tokens: input tokens per call.
        cacheable: how much of them a prompt cache can serve.
        prices: prices that the user gave.
    """
    # None stands for a judge that is not named yet.
    judges: list[Model | None] = [*judges_by_role()] or [None]
    calls_of_judges = [*calls] if len(calls) == len(judges) else [*calls] * len(judges)
    texts = [
        _judge_text(model, judging, number, tokens, cacheable, prices)
        for model, number in zip(judges, calls_of_judges, strict=True)
    ]
    return [*filter(None, texts)]


def _calls_text(calls: int, plan: TournamentPlan) -> str:
    """Write a number of calls and whose they are, and that single responses are graded once."""
    whose = "of all judges together" if plan.rotation else "per judge"
    text = f"{calls:,} {plural('call', calls)} {whose}"
    return text if plan.judging.is_pairwise else f"{text} (each response is graded once)"


def _calls_at_most(
    competitors: Competitors,
    source: TournamentSource,
    plan: TournamentPlan,
    battles: int,
    ties: Sequence[Pairing],
) -> int:
    """Return the most calls of a judge that judges all battles.

    A judge of single responses is asked once about each, however many battles it is in.

    Args:
        competitors: the responses.
        source: the tournament.
        plan: says how judges are asked.
        battles: number of battles that are not ties without a call.
        ties: the battles of the first round that are ties without a call.
    """
    calls = battles * plan.calls
    if plan.judging.is_pairwise:
        return calls
    field = source.field
    graded = len(field.items) * len(field.models)
    first = source.first.pairings
    has_one_round = len(first) >= source.rule.size(field)
    if has_one_round:
        without_call = {*ties}
        asked_pairings = [pairing for pairing in first if pairing not in without_call]
        graded = len(
            {(pairing.item, name) for pairing in asked_pairings for name in (pairing.a, pairing.b)}
        )
    # A judgment of a pair is two calls of such a judge.
    gradings = plan.calls // 2
    return min(calls, ceil(graded * competitors.mean_number) * gradings)


def _identical_text(identical: int, first: int, battles: int) -> str:
    """Write how many battles are ties without a call, in brackets; empty if there are none.

    If there are further rounds, it says that they are counted in the first.

    Args:
        identical: number of battles of the first round whose responses are identical.
        first: number of battles of the first round.
        battles: number of battles of all rounds.
    """
    if not identical:
        return ""
    of_round = "" if first >= battles else f" of the first {first:,}"
    ties = "is a tie" if identical == 1 else "are ties"
    return f" ({identical:,}{of_round} {ties} of identical responses, without a call)"


def _battles_at_most(competitors: Competitors, source: TournamentSource) -> int:
    """Return an estimate of the maximum number of battles.

    A battle counts once for each response that a model gives to its item, on average.
    """
    return round(source.rule.size(source.field) * competitors.mean_number)


def _competing_text(source: TournamentSource) -> str:
    """Write how many models and items compete."""
    items = len(source.field.items)
    return f"{len(source.field.models)} models, {items} {plural('item', items)}"


def _shares_of_judges(rotation: JudgeRotation | None) -> list[float]:
    """Return the share of the battles that each judge judges, in the order of the judges.

    Each share is in [0, 1]. Their sum is above 1 if some battles have all judges. Empty if all
    judges judge every battle.
    """
    if rotation is None:
        return []
    return [rotation.share_of(k) for k in range(len(rotation.judges))]


def _rounds_text(source: TournamentSource) -> str:
    """Write the maximum number of rounds; empty if the tournament cannot tell it."""
    number = rounds_of(source.rule, source.field)
    if number is None:
        return ""
    return ", in one round" if number == 1 else f", in at most {number:,} rounds"


def _tokens_text(calls: int, per_call: float, judging: Judging, cacheable: CacheableInput) -> str:
    """Write the input tokens of all calls, and the most output tokens if every judge has a limit.

    All calls are taken to have the largest limit (`most_output`). If a judge has none, only the
    input tokens are written.

    Args:
        calls: number of calls.
        per_call: input tokens of a call.
        judging: how judges are asked.
        cacheable: how much of the input a provider's prompt cache can serve.
    """
    limits_of_judges = [most_output(limits, judging) for limits in judge_limits(judging).values()]
    known_limits = [limit for limit in limits_of_judges if limit]
    text = f"about {calls * per_call:,.0f} input"
    if known_limits and len(known_limits) == len(limits_of_judges):
        text += f" and at most {calls * max(known_limits):,} output"
    return f"{text} tokens{_cacheable_text(cacheable)}"


def _cacheable_text(cacheable: CacheableInput) -> str:
    """Write the share of the input that a prompt cache can serve, and from how many tokens on.

    If the share is below `LEAST_SHARE` only because the provider of a judge caches nothing but long
    beginnings, the text says so. If caches of most providers could not serve this share either, the
    text is empty.
    """
    if max(cacheable.share, cacheable.by_default) < LEAST_SHARE:
        return ""
    share = f"{cacheable.share:.0%}" if cacheable.share >= LEAST_SHARE else "nothing"
    least = " or ".join(f"{number:,}" for number in cacheable.least)
    return (
        f" ({share} of the input can come from a provider's prompt cache, which keeps beginnings "
        f"of {least} tokens or more)"
    )


def most_output(limits: CallLimits, judging: Judging) -> int | None:
    """Return the largest limit of output tokens that a reply of a judge may have; None if no limit.

    With `replies=schema`, it is the limit of JSON. Otherwise the larger of the limits of texts and
    JSON counts: None if texts have no limit, the limit of texts if JSON has none.

    Args:
        limits: the limits of the judge.
        judging: how it is asked.
    """
    if judging.replies == "schema":
        return limits.schema
    if limits.text is None or limits.schema is None:
        return limits.text
    return max(limits.text, limits.schema)


def _judge_text(
    model: Model | None,
    judging: Judging,
    calls: int,
    tokens: float,
    cacheable: CacheableInput,
    prices: Prices,
) -> str:
    """Write what a judge's calls cost and how it is asked; of several judges, also how many calls.

    If the price of the judge is not known, the text says how to give it, unless the judge is
    podium's stand-in. How a judge is asked is left out for a judge without a prompt (a reward
    model), and in a brief preview. The text is empty if nothing is left.

    Args:
        model: the judge; None if no role is known yet.
        judging: how judges are asked.
        calls: number of the judge's calls.
        tokens: input tokens per call.
        cacheable: how much of them a prompt cache can serve.
        prices: prices that the user gave.
    """
    limits = limits_of(judging, model=model)
    parts = []
    if model and len(judges_by_role()) > 1:
        calls_text = f"about {calls:,} {plural('call', calls)}, {calls * tokens:,.0f} input tokens"
        parts.append(calls_text)
    price_text = ""
    if model:
        most_out = most_output(limits, judging)
        share = cacheable.share_of(model)
        price_text = _price_text(model, most_out, calls, tokens, share, prices)
    if price_text:
        parts.append(price_text)
    if judging.realization.template is not None and not _IS_BRIEF.get():
        parts.append(f"replies={judging.replies}, {limits.to_text()}")
    return f"{model or 'judge'}: {'; '.join(parts)}" if parts else ""


def _price_text(
    model: Model, most_out: int | None, calls: int, tokens: float, share: float, prices: Prices
) -> str:
    """Write what the calls of a judge cost at most, or how to give its price if it is not known.

    If its replies have no limit of tokens, only the input is priced, and the text says so. If the
    price of cached tokens is known, it also says how much less it costs with a prompt cache. The
    text is empty for podium's stand-in judges, which cost nothing.

    Args:
        model: the judge.
        most_out: limit of the output tokens of a reply; None for no limit.
        calls: number of its calls.
        tokens: input tokens per call.
        share: share of them that a prompt cache can serve.
        prices: prices that the user gave.
    """
    if str(model).startswith(f"{NAMESPACE}/"):
        return ""
    price = price_of(model, prices)
    if not price:
        option = option_text("prices", f"{{{model}: [IN, OUT]}}", "argument")
        return f"price not known ({option} per million tokens)"
    saved_text = ""
    if price.cached is not None and share >= LEAST_SHARE:
        saved = calls * tokens * share * (price.input - price.cached) / 1e6
        saved_text = f", up to {saved:,.2f} less with its provider's prompt cache"
    if most_out is None:
        cost = calls * tokens * price.input / 1e6
        return f"for the input about {cost:,.2f} in money{saved_text}"
    cost = calls * (tokens * price.input + most_out * price.output) / 1e6
    return f"at most about {cost:,.2f} in money{saved_text}"


def _speed_notes(questions: Questions, source: TournamentSource) -> Iterator[str]:
    """Yield notes on `--log-format json`, which is slow, and on batches of providers."""
    if value_of_option("log_format") == "json":
        yield (
            "note: --log-format json takes twice the CPU and eight times the disk "
            "of the format eval: leave it out"
        )
    number = rounds_of(source.rule, source.field)
    asked_models = [*questions.requests.models.values()]
    for note in notes_on_batches(number, judges_by_role(), asked_models):
        yield f"{note.severity}: {notice_text(note)}"


def _unanswered_text(unanswered: Sequence[Pairing], recorded: int) -> str:
    """Write how many recorded battles have no responses here, with an example.

    Args:
        unanswered: these battles, at least one.
        recorded: number of all recorded battles.
    """
    example = unanswered[0]
    lost = f"such as {example.a} and {example.b} on {example.item}"
    count = f"{len(unanswered):,} of {quantity(recorded, 'recorded battle')}"
    have = word_for(len(unanswered), "has", "have")
    are = word_for(len(unanswered), "is", "are")
    return f"{count} {have} no responses here and {are} missing, {lost}"


def _prompt_tokens(builder: SampleBuilder, pairings: Sequence[Pairing], judging: Judging) -> float:
    """Estimate the mean number of tokens of a prompt from a sample of the battles.

    Checklists do not count, because they are not written yet. The estimate is 0 if no battle has
    both responses, or if the judge has no prompt (a reward model).
    """
    step = max(1, len(pairings) // SAMPLED_PROMPTS)
    some_pairings = pairings[::step]
    tokens = [
        count_tokens(prompt) for prompt in _prompts_of(builder, some_pairings, judging, ("ab",))
    ]
    return sum(tokens) / max(len(tokens), 1)


def _cacheable_input(
    builder: SampleBuilder,
    pairings: Sequence[Pairing],
    judging: Judging,
    rotation: JudgeRotation | None,
) -> CacheableInput:
    """Estimate how much of the input tokens the judges' providers can serve from prompt caches.

    It is measured on all prompts of the first items, with about `MEASURED_PROMPTS` battles
    together. An item with more battles is cut. Each judge has a cache of its own: one that takes
    turns with others finds only the prompts of its own battles there.

    Args:
        builder: builds the samples of battles.
        pairings: the battles.
        judging: how judges are asked.
        rotation: assigns judges to battles; None if all judges judge every battle.
    """
    measured: list[Pairing] = []
    for battles in _battles_by_item(pairings):
        if measured and len(measured) + len(battles) > MEASURED_PROMPTS:
            break
        measured += battles[:MEASURED_PROMPTS]
    orders = ("ab", "ba") if judging.is_pairwise and judging.orders == "both" else ("ab",)
    models = [str(model) for model in judges_by_role()] or [""]
    all_prompts = _prompts_of(builder, measured, judging, orders)
    # A judge without a measured battle is expected to find as much in its cache as all together.
    prompts_by_judge = [
        _prompts_of(builder, battles, judging, orders) or all_prompts
        for battles in _battles_by_judge(measured, rotation, len(models))
    ]
    numbers = [least_cached(model) for model in models]
    own_shares = list(map(share_of_prefix_cache, prompts_by_judge, numbers))
    default_shares = [share_of_prefix_cache(prompts) for prompts in prompts_by_judge]
    weights = _shares_of_judges(rotation) or None
    return CacheableInput(
        share=float(np.average(own_shares, weights=weights)),
        least=tuple(sorted({*numbers})),
        by_default=float(np.average(default_shares, weights=weights)),
        of_judges=dict(zip(models, own_shares, strict=True)),
    )


def _battles_by_judge(
    pairings: Sequence[Pairing], rotation: JudgeRotation | None, judges: int
) -> list[list[Pairing]]:
    """Return the battles of each judge, in the order of the judges.

    The given battles are assigned as the first of a run.

    Args:
        pairings: the battles.
        rotation: assigns judges to battles; unchanged. None if all judges judge every battle.
        judges: number of judges.
    """
    if rotation is None:
        return [list(pairings)] * judges
    # A copy, because an assignment changes later ones.
    trial = deepcopy(rotation)
    trial.assign(pairings)
    return [
        [pairing for pairing in pairings if name in trial.judges_of(pairing)]
        for name in rotation.judges
    ]


def _battles_by_item(pairings: Sequence[Pairing]) -> Iterator[Sequence[Pairing]]:
    """Yield the battles of each item, in the order of each item's first battle."""
    if isinstance(pairings, PairingsByItem):
        for item, pairs in pairings.pairs.items():
            yield [Pairing(item, a, b) for a, b in pairs]
        return
    by_item: dict[str, list[Pairing]] = {}
    for pairing in pairings:
        by_item.setdefault(pairing.item, []).append(pairing)
    yield from by_item.values()


def _prompts_of(
    builder: SampleBuilder, pairings: Sequence[Pairing], judging: Judging, orders: Sequence[str]
) -> list[str]:
    """Return the prompts of battles in the given orders, without checklists.

    Battles without both responses are left out. A judge of single responses is shown the first of
    each order. The list is empty if the judge has no prompt (a reward model).

    Args:
        builder: builds the samples of battles.
        pairings: the battles.
        judging: how judges are asked.
        orders: `ab`, `ba` or both: which response is shown first.
    """
    if judging.realization.template is None:
        return []
    plain = replace(judging, settings=replace(judging.settings, checklist=False))
    prompts = []
    for sample in builder.build_battle_samples(pairings, 1):
        for battle in parse_battles(sample.metadata or {}):
            adapted = plain.adapted_to(transcript=battle.transcript)
            write_prompt = adapted.schema_prompt if adapted.asks_schema_first else adapted.prompt
            for order in orders:
                shown_responses: tuple[str, ...] = (battle.response_a, battle.response_b)
                if order == "ba":
                    shown_responses = shown_responses[::-1]
                if not judging.is_pairwise:
                    shown_responses = shown_responses[:1]
                prompts.append(write_prompt(prompt_texts(battle, shown_responses)))
    return prompts
