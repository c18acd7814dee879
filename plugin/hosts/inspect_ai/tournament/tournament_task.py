"""Make the Inspect task of a tournament from responses and options; see CONTRIBUTING.md."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Unpack

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Solver

from podium.data.pairings import NextRound
from podium.data.tasks_of_items import task_of_item
from podium.format_version import FORMAT_VERSION
from podium.hosts.inspect_ai.inspect_ai_compatibility import typed_metadata
from podium.hosts.inspect_ai.judging.battle_outcomes import battle
from podium.hosts.inspect_ai.judging.call_settings import settings_to_log
from podium.hosts.inspect_ai.judging.cost_limit import CostLimit, build_cost_limit
from podium.hosts.inspect_ai.judging.judge_models import (
    has_batches,
    identity,
    judges_by_role,
)
from podium.hosts.inspect_ai.judging.judge_solver import judge
from podium.hosts.inspect_ai.judging.scorers import verdict
from podium.hosts.inspect_ai.judging.viewer import tournament_viewer
from podium.hosts.inspect_ai.logs.judged_runs import dump_record
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
"""If the cost is limited, a pack has at most this many battles.

The cost of a sample is known only when it has ended, so samples must be small.
"""
NO_MODEL = "none/none"
"""Inspect's name for the model of a task that asks none.

The models that compete are in the log's metadata, and the judges among its model roles.
"""
PACKS_AT_ONCE = 1000
"""At most this many packs are given to Inspect at once."""
BATTLES_AT_ONCE = 20_000
"""At most this many battles with samples of their own are given to Inspect at once."""


def tournament_task(
    name: str,
    responses: str | Sequence[str],
    settings: Mapping[str, Any],
    **options: Unpack[RunOptions],
) -> Task:
    """Return the task of a tournament, and print what it will play and cost.

    Args:
        name: name of a tournament of podium or of a plugin.
        responses: sources of the models' responses, in a list or separated by commas.
        settings: the tournament's own options by name. Those that are None count as not given.
        options: options of the run and of its judge.

    Raises:
        UsageError: options are wrong or contradict each other, or nothing can be played.
        DataError: a file cannot be read, or responses contradict each other.
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
        UsageError: nothing can be played, or a ranker that the user named cannot rank the result.
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
        scorer=_build_scorers(request, plan),
        viewer=tournament_viewer(packed=plan.packed),
        model=_task_model(questions),
        name=request.name,
        version=competitors.responses.digest()[:12],
        # All battles are played even if some fail. The log then counts as failed, so that an eval
        # set repeats those battles.
        fail_on_error=True,
        continue_on_fail=True,
        metadata=_build_metadata(questions, competitors, plan, source).to_log(),
    )


def _build_scorers(request: TournamentRequest, plan: TournamentPlan) -> list[Scorer]:
    """Return the scorer that parses replies, followed by the one for Inspect's list of battles.

    Packs need only the first: the explanation of a pack's score has a table of its battles.
    """
    seed = request.options.seed
    names = plan.sample_builder.short_names.items()
    short_names = {name: short for name, short in names if short != name}
    if plan.packed:
        return [verdict(short_names, seed=seed, **plan.judge_options)]
    return [verdict(seed=seed, **plan.judge_options), battle(short_names)]


def _task_model(questions: Questions) -> Model | str:
    """Return the model of the task, `none/none`, because a tournament evaluates no single model.

    A task with a model of its own is not run once per `--model`. If calls of any judge or model
    wait for a provider's batches, this model is said to have batches, too. Inspect then runs up to
    10,000 samples at once. Otherwise it would run so few that a round takes many batches.
    """
    if any(map(has_batches, [*judges_by_role(), *questions.requests.models.values()])):
        return get_model(NO_MODEL, config=GenerateConfig(batch=True))
    return NO_MODEL


def _build_source(
    request: TournamentRequest, questions: Questions, competitors: Competitors, plan: TournamentPlan
) -> TournamentSource:
    """Return the source of samples, which asks the rule for one round after another.

    The source plans packs if the plan says so, small packs if the cost is limited. If this run
    plays a shard of a tournament with battles, the source has an opening sample that says that the
    shard is empty. It is played only if all battles are in other shards.
    """
    builder = plan.sample_builder
    shard = plan.shard
    cost_limit = _limit_cost(request, questions, plan)
    plan_samples: Any = builder.plan_battle_samples
    if plan.packed:
        most = LIMITED_PACK if cost_limit else None
        plan_samples = partial(builder.plan_packs, most=most)
    # Played only if the first round has no battles of this shard.
    opening: list[Sample] = []
    # `metadata.battles` counts the battles of all shards together; this one may have none of them.
    if shard is not None and shard.metadata.battles > 0:
        empty_round = NextRound((), f"no battle for shard {request.options.shard}")
        opening = [announce_round(empty_round, 1)]
    competing = competitors.responses
    return TournamentSource(
        shard.rule if shard else plan.rule,
        competitors.field,
        plan_samples,
        portion=PACKS_AT_ONCE if plan.packed else BATTLES_AT_ONCE,
        # A lambda, because `builder.responses` is replaced while answers come in.
        spread=lambda coming: builder.responses.in_all_responses(coming),
        calls=plan.calls,
        say=request.say,
        opening=opening,
        answers=plan.collector,
        cost_limit=cost_limit,
        follows_eval=bool(request.options.answered_by),
        item_columns={} if competing.cluster else competing.dividing_columns(),
    )


def _limit_cost(
    request: TournamentRequest, questions: Questions, plan: TournamentPlan
) -> CostLimit | None:
    """Return the limit of what models and judges may cost; None if `max_cost` is not given."""
    options = request.options
    asked_models = [*questions.requests.models.values()] if plan.collector else []
    return build_cost_limit(options.max_cost, options.prices, asked_models, plan.judging.attempts)


def _build_solvers(
    request: TournamentRequest, questions: Questions, competitors: Competitors, plan: TournamentPlan
) -> Solver | list[Solver]:
    """Return the solver that asks the judges; if answers are missing, in a list after the solver
    that asks the models.
    """
    options = request.options
    record = competitors.record
    solver_options: dict[str, Any] = {
        "seed": options.seed,
        "cache": options.cache,
        "call_timeout": options.call_timeout,
        "reask": options.reask,
        **plan.judge_options,
    }
    if plan.rotation:
        solver_options["rotating"] = len(plan.rotation.judges)
    verdicts = judge(asked_before=record.repeats if record else {}, **solver_options)
    if not plan.collector:
        return verdicts
    answer_solver = ask_models(
        cache=options.cache,
        call_timeout=options.call_timeout,
        **questions.requests.generation,
    )
    return [answer_solver, verdicts]


def _notes_on_rankers(
    request: TournamentRequest, competitors: Competitors, plan: TournamentPlan
) -> list[str]:
    """Return texts on the user's rankers that will be replaced by others.

    Empty if the user named no ranker, or if another host ranks the result (`answered_by`).

    Raises:
        UsageError: a ranker cannot rank the result, or the file of the calibration does not exist.
        DataError: this file is damaged.
    """
    from podium.hosts.inspect_ai.inspect_options import require_ranker, values_asked_for
    from podium.hosts.ranker_options import options_from

    metadata = typed_metadata()
    values = values_asked_for(metadata, os.environ)
    require_ranker(metadata, values)
    # Another host ranks its tournament itself.
    if not values or request.options.answered_by:
        return []
    from podium.plugins.settings import parse_settings
    from podium.rankers.json_files import read_calibration
    from podium.ranking.trial_ranking import check_rankers, coming_verdicts

    options = options_from(values)
    settings = parse_settings(options.settings, options.rankers)
    calibration = read_calibration(options.calibration) if options.calibration else None
    judges = [identity(model, plan.judging) for model in judges_by_role()] or ["judge"]
    coming = coming_verdicts(
        competitors.responses.models,
        judges,
        plan.judging,
        one_jury=(len(judges) > 1),
        human=competitors.has_preference,
    )
    return check_rankers(options.rankers, coming, settings, calibration)


def _build_metadata(
    questions: Questions, competitors: Competitors, plan: TournamentPlan, source: TournamentSource
) -> TournamentMetadata:
    """Return the tournament's metadata for the log; optional fields that are empty are left out."""
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
    more["agents"] = notices_to_json(plan.notes)
    more["runs"] = [dump_record(run) for run in competing.runs]
    more["questions"] = [dump_record(finding) for finding in competing.questions]
    more["accepted"] = list(competing.accepted)
    more["cluster"] = competing.cluster
    more["item_columns"] = competing.dividing_columns()
    if competitors.record:
        more["preferred"] = competitors.record.preferred
    filled_entries = {name: value for name, value in more.items() if value}
    if len(competing.tasks) > 1:
        filled_entries["left_out_of"] = _left_out_by_task(competitors, source)
    return TournamentMetadata(
        format=FORMAT_VERSION,
        models=list(competing.models),
        missing=competitors.missing,
        left_out=source.first.left_out + len(competitors.unanswered),
        sources=list(competing.sources),
        scheduled=len(source.first.pairings),
        planned=round(source.rule.size(source.field) * competitors.mean_number),
        tasks=list(competing.tasks),
        prompts=plan.judging.prompt_hash,
        judging=settings_to_log(plan.judging),
        **filled_entries,
    )


def _left_out_by_task(competitors: Competitors, source: TournamentSource) -> dict[str, int]:
    """Return the number of battles of the first round that lack a response, by task.

    Recorded battles without responses are among them. Tasks without such battles are left out.
    """
    tasks = competitors.responses.tasks
    left_out = Counter[str]()
    for item, number in source.first.left_out_of.items():
        left_out[task_of_item(item, tasks)] += number
    for pairing in competitors.unanswered:
        left_out[task_of_item(pairing.item, tasks)] += 1
    return {task: number for task, number in left_out.items() if number}
