"""What a run prints before its first call: what will be played, what it will cost, what makes it
slow."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from inspect_ai.model import Model

from podium.hosts.inspect_ai.inspect_ai_compatibility import batch_of, option_typed
from podium.hosts.inspect_ai.judging.call_settings import judge_limits, limits_of
from podium.hosts.inspect_ai.judging.cost_limit import Prices, price_of
from podium.hosts.inspect_ai.judging.judge_calls import prompt_texts
from podium.hosts.inspect_ai.judging.judge_models import judges_by_role
from podium.hosts.inspect_ai.logs.log_contents import parse_battles
from podium.hosts.inspect_ai.tournament.answers_on_demand import AnswerRequests
from podium.hosts.inspect_ai.tournament.round_samples import SampleBuilder
from podium.hosts.inspect_ai.tournament.tournament_source import TournamentSource
from podium.responses.collection import Responses
from podium.scorers.judging import Judging
from podium.scorers.prompt import count_tokens
from podium.text import plural
from podium.tournaments.judge_rotation import SHARED, UNKNOWN, JudgeRotation
from podium.tournaments.ring import Ring
from podium.tournaments.schedule import rounds_of


def preview_run(
    responses: Responses,
    source: TournamentSource,
    how: Judging,
    requests: AnswerRequests,
    missing: str,
    rotation: JudgeRotation | None,
    prices: Prices,
) -> Iterator[str]:
    """Yield sentences on what will be played and what it will cost, then notes."""
    battles = round(source.rule.size(source.field) * responses.mean_number())
    calls = battles * source.calls
    number = rounds_of(source.rule, source.field)
    rounds = (
        ""
        if number is None
        else f", in {'one round' if number == 1 else f'at most {number:,} rounds'}"
    )
    shares = [rotation.share_of(k) for k in range(len(rotation.judges))] if rotation else []
    per_call = _prompt_tokens(requests.with_placeholders(responses), source, how)
    whole = ceil(round(calls * sum(shares or [1]), 6))
    tokens, of_whom = (
        f"about {whole * per_call:,.0f} input",
        "of all judges together" if rotation else "per judge",
    )
    limits = judge_limits(how)
    most = [own.text or own.schema for own in limits.values()]
    tokens += f" and at most {whole * max(filter(None, most)):,} output" if all(most) else ""
    items = len(responses.items)
    competing = f"{len(responses.models)} models, {items} {plural('item', items)}"
    cost = f"at most {battles:,} {plural('battle', battles)}, {whole:,} calls {of_whom}, {tokens} tokens{rounds}"
    yield f"{competing}; {cost}" + (f"; {missing}" if missing else "")
    for k, model in enumerate(judges_by_role() or [None]):
        own = ceil(round(calls * shares[k], 6)) if rotation else calls
        yield from filter(None, [_judge_text(model, how, own, per_call, prices)])
    if rotation:
        yield f"note: {SHARED if rotation.shares[-1] else UNKNOWN}"
    if source.answers:
        first = source.first.pairings
        yield requests.cost_text(
            responses, source.answers.cells(first if len(first) >= battles else None)
        )
    yield from (f"note: {note}" for note in responses.notes)
    if option_typed("log_format") == "json":
        yield "note: --log-format json takes twice the CPU and eight times the disk of the format eval: leave it out"
    if number and number > 10 and any(map(batch_of, judges_by_role())):
        least = f"all battles in one round, or with until= in at most {Ring(until='order').rounds(source.field)}"
        rounds = f"{number:,} rounds, at least a batch each"
        yield f"note: provider batches wait for one another: {rounds}; podium/ring plays {least}"


def _judge_text(
    model: Model | None, how: Judging, calls: int, tokens: float, prices: Prices
) -> str:
    """Return how a judge is asked, and if it is one of several, its calls and their cost."""
    limits, parts = limits_of(how, model), []
    if model and len(judges_by_role()) > 1:
        parts.append(f"about {calls:,} calls, {calls * tokens:,.0f} input tokens")
        if price := price_of(model, prices):
            most = limits.text or limits.schema
            cost = calls * (tokens * price[0] + (most or 0) * price[1]) / 1e6
            parts[0] += (
                f", {'at most about' if most else 'for the input about'} {cost:,.2f} in money"
            )
    if how.realization.template is not None:
        parts.append(f"replies={how.replies}, {limits.to_text()}")
    return f"{model or 'judge'}: {'; '.join(parts)}" if parts else ""


def _prompt_tokens(responses: Responses, source: TournamentSource, how: Judging) -> float:
    """Estimate the mean number of tokens of up to 50 prompts, without checklists that are not
    written yet."""
    if how.realization.template is None:
        return 0.0
    pairings, plain = (
        source.first.pairings,
        replace(how, settings=replace(how.settings, checklist=False)),
    )
    drawn = SampleBuilder(responses).build_battle_samples(
        pairings[:: max(1, len(pairings) // 50)], 1
    )
    ask, tokens = plain.schema_prompt if plain.replies == "schema" else plain.prompt, []
    for battle in [battle for sample in drawn for battle in parse_battles(sample.metadata or {})]:
        shown = (battle.response_a, battle.response_b)[: 2 if how.is_pairwise else 1]
        tokens.append(count_tokens(ask(prompt_texts(battle, shown))))
    return sum(tokens) / max(len(tokens), 1)
