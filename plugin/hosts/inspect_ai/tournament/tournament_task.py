"""The engine of all tournaments, from responses to a task; see CONTRIBUTING.md."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Unpack

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.solver import Solver

from podium.data.pairings import NextRound
from podium.format_version import FORMAT_VERSION
from podium.hosts.inspect_ai.inspect_ai_compatibility import typed_metadata
from podium.hosts.inspect_ai.judging.call_settings import settings_to_log
from podium.hosts.inspect_ai.judging.cost_limit import CostLimit, build_cost_limit
from podium.hosts.inspect_ai.judging.judge_calls import judge
from podium.hosts.inspect_ai.judging.judge_models import identity, judges_by_role
from podium.hosts.inspect_ai.judging.offline_api import MODEL
from podium.hosts.inspect_ai.judging.scorers import verdict
from podium.hosts.inspect_ai.logs.log_files import rankers_asked_for
from podium.hosts.inspect_ai.logs.podium_entries import TournamentMetadata
from podium.hosts.inspect_ai.tournament.answers_on_demand import ask_models
from podium.hosts.inspect_ai.tournament.competitors import (
    Competitors,
    Questions,
    read_competitors,
    settle_questions,
)
from podium.hosts.inspect_ai.tournament.preview import preview_run
from podium.hosts.inspect_ai.tournament.round_samples import announce_round
from podium.hosts.inspect_ai.tournament.run_options import RunOptions
from podium.hosts.inspect_ai.tournament.tournament_plan import TournamentPlan, plan_tournament
from podium.hosts.inspect_ai.tournament.tournament_request import (
    TournamentRequest,
    parse_request,
    split_names,
)
from podium.hosts.inspect_ai.tournament.tournament_source import TournamentSource
from podium.notices.notice_text import notices_to_json

LIMITED_PACK = 4
"""Battles of a pack if the cost is limited: what a sample costs is known only when one has
ended."""
PORTION = 1000
"""Packs given to Inspect at once."""


def tournament_task(
    name: str,
    responses: str | Sequence[str],
    settings: Mapping[str, Any],
    **options: Unpack[RunOptions],
) -> Task:
    """Return the task of a tournament, and print what it will play and cost.

    Args:
        name: of the tournament, podium's or a plugin's.
        responses: sources of the models' responses, in a list or with commas between them.
        settings: the tournament's own options, by name; those that are None count as not given.
        options: of the run and of its judge.

    Raises:
        UsageError: options that are wrong or contradict each other, or nothing that can be played.
        DataError: responses that contradict each other.
    """
    request = parse_request(name, settings, **options)
    questions = settle_questions(request)
    competitors = read_competitors(split_names(responses), request, questions)
    plan = plan_tournament(request, questions, competitors)
    return build_task(request, questions, competitors, plan)


def build_task(
    request: TournamentRequest, questions: Questions, competitors: Competitors, plan: TournamentPlan
) -> Task:
    """Return the task of a planned tournament, and print what it will play and cost.

    Raises:
        UsageError: nothing can be played, or a ranker that was asked for cannot rank it.
    """
    source = _build_source(request, questions, competitors, plan)
    notes = _notes_on_rankers(request, competitors, plan)
    for sentence in preview_run(request, questions, competitors, plan, source):
        request.say(sentence)
    for note in notes:
        request.say(note)
    return Task(
        dataset=source,
        solver=_build_solvers(request, questions, competitors, plan),
        scorer=verdict(seed=request.options.seed, **plan.judge_options),
        # A tournament generates nothing, and is not run once per `--model`.
        model=MODEL,
        name=request.name,
        version=competitors.responses.digest()[:12],
        # Every battle is played, and a log in which some failed is not done: an eval set asks
        # again for those.
        fail_on_error=True,
        continue_on_fail=True,
        metadata=_build_metadata(questions, competitors, plan, source).to_log(),
    )


def _build_source(
    request: TournamentRequest, questions: Questions, competitors: Competitors, plan: TournamentPlan
) -> TournamentSource:
    """Return the source of samples, which asks the rule for one round after the other."""
    builder = plan.sample_builder
    shard = plan.shard
    cost_limit = _limit_cost(request, questions, plan)
    build_samples: Any = builder.build_battle_samples
    if plan.packed:
        most = LIMITED_PACK if cost_limit else None
        build_samples = partial(builder.build_packs, most=most)
    opening: list[Sample] = []
    if shard is not None and shard.metadata.battles > 0:
        # It takes the place of the round if this shard has no battles.
        note = f"no battle for shard {request.options.shard}"
        opening = [announce_round(NextRound((), note), 1)]
    return TournamentSource(
        shard.rule if shard else plan.rule,
        competitors.responses.field(),
        build_samples,
        portion=PORTION if plan.packed else None,
        # The builder's responses change while answers come in.
        spread=lambda coming: builder.responses.in_all_responses(coming),
        calls=plan.calls,
        say=request.say,
        opening=opening,
        answers=plan.collector,
        cost_limit=cost_limit,
    )


def _limit_cost(
    request: TournamentRequest, questions: Questions, plan: TournamentPlan
) -> CostLimit | None:
    """Return the limit of what models and judges may cost; None without `max_cost`."""
    options = request.options
    asked = [*questions.requests.models.values()] if plan.collector else []
    return build_cost_limit(options.max_cost, options.prices, asked, plan.judging.attempts)


def _build_solvers(
    request: TournamentRequest, questions: Questions, competitors: Competitors, plan: TournamentPlan
) -> Solver | list[Solver]:
    """Return the solver that asks the judges; before it the one that asks models, if any are."""
    options = request.options
    record = competitors.record
    how: dict[str, Any] = {
        "seed": options.seed,
        "cache": options.cache,
        "reask": options.reask,
        **plan.judge_options,
    }
    if plan.rotation:
        how["rotating"] = len(plan.rotation.judges)
    verdicts = judge(asked_before=record.repeats if record else {}, **how)
    if not plan.collector:
        return verdicts
    return [ask_models(cache=options.cache, **questions.requests.generation), verdicts]


def _notes_on_rankers(
    request: TournamentRequest, competitors: Competitors, plan: TournamentPlan
) -> list[str]:
    """Return notes on rankers that were asked for and will be replaced by others."""
    rankers = rankers_asked_for(typed_metadata(), os.environ)
    # Another host ranks its tournament itself.
    if not rankers or request.options.answered_by:
        return []
    from podium.ranking.trial_ranking import check_rankers, coming_verdicts

    judges = [identity(model, plan.judging) for model in judges_by_role()] or ["judge"]
    coming = coming_verdicts(
        competitors.responses.models,
        judges,
        plan.judging,
        one_jury=plan.rotation is not None,
        human=competitors.has_preference,
    )
    return check_rankers(rankers, coming)


def _build_metadata(
    questions: Questions, competitors: Competitors, plan: TournamentPlan, source: TournamentSource
) -> TournamentMetadata:
    """Return what the log says of the tournament, without fields that hold nothing."""
    competing = competitors.responses
    more: dict[str, Any] = {}
    if plan.shard:
        more["shard"] = plan.shard.metadata
    if plan.collector:
        more["answers"] = questions.requests.to_log(competing)
    if plan.ladder:
        more["ladder"] = plan.ladder.to_dict()
    if plan.rotation:
        more["jury"] = list(plan.rotation.judges)
    more["agents"] = notices_to_json(plan.agents)
    if competitors.record:
        more["preferred"] = competitors.record.preferred
    return TournamentMetadata(
        format=FORMAT_VERSION,
        models=list(competing.models),
        missing=competing.missing_reasons(),
        left_out=source.first.left_out + len(competitors.unanswered),
        sources=list(competing.sources),
        scheduled=len(source.first.pairings),
        planned=round(source.rule.size(source.field) * competing.mean_number()),
        tasks=list(competing.tasks),
        prompts=plan.judging.prompt_hash,
        judging=settings_to_log(plan.judging),
        **{name: value for name, value in more.items() if value},
    )
