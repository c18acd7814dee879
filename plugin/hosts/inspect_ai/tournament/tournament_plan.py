"""Plan a tournament: the rule that schedules battles, the judges, the samples and the shard.

A shard is the part of a tournament that one of several processes plays.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from podium.data.ladder import Ladder
from podium.errors import UsageError
from podium.hosts.inspect_ai.judging.judge_models import (
    build_rotation,
    judge_of,
    judges_by_role,
)
from podium.hosts.inspect_ai.logs.podium_entries import ShardMetadata
from podium.hosts.inspect_ai.tournament.answers_on_demand import AnswerCollector
from podium.hosts.inspect_ai.tournament.competitors import Competitors, Questions
from podium.hosts.inspect_ai.tournament.round_samples import SampleBuilder
from podium.hosts.inspect_ai.tournament.tournament_request import (
    PACKED_FROM,
    TournamentRequest,
    setting_names,
    split_names,
)
from podium.notices.notice import Notice
from podium.plugins import catalogue
from podium.plugins.catalogue import judging_settings
from podium.responses.collection import Responses
from podium.scorers.judge_record import SCHEMA_FIRST, judges_with_other_replies
from podium.scorers.judging import Judging
from podium.tournaments.judge_rotation import JudgeRotation
from podium.tournaments.parts import Budget, Part, read_shard, refuse_undividable
from podium.tournaments.schedule import TournamentRule, fixes_first_shown
from podium.tournaments.selection import draw_items
from podium.wording import quantity, some

if TYPE_CHECKING:
    from podium.data.battles import Battles


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """The shard of this process.

    Attributes:
        rule: schedules the battles of the shard.
        metadata: the shard's entry in the log.
    """

    rule: Part
    metadata: ShardMetadata


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentPlan:
    """What is played, who judges it, and in which samples.

    Attributes:
        judging: how the judge is asked, adapted to the responses (transcripts, system prompts).
        judge_options: the options that make `judging`, by name, without defaults.
        notes: notes on what the judge is not shown of agents, and on the judge of `earlier`.
        rule: the rule of the whole tournament, limited to `max_battles`.
        ladder: given ratings of models that play; None if there are none.
        rotation: assigns judges to battles; None if all judges judge every battle.
        sample_builder: builds the samples of battles.
        packed: whether a sample holds all battles on an item (a pack), not one battle.
        collector: requests missing answers from models; None if all answers are recorded.
        calls: number of calls of one judge for one battle.
        shard: the part that this process plays; None for the whole tournament.
    """

    judging: Judging
    judge_options: Mapping[str, Any]
    notes: tuple[Notice, ...]
    rule: TournamentRule
    ladder: Ladder | None
    rotation: JudgeRotation | None
    sample_builder: SampleBuilder
    packed: bool
    collector: AnswerCollector | None
    calls: int
    shard: ShardPlan | None


def plan_tournament(
    request: TournamentRequest, questions: Questions, competitors: Competitors
) -> TournamentPlan:
    """Make the rule with its settings, assign the judges, and decide which samples are built.

    Raises:
        UsageError: a setting is not allowed by the tournament or these responses, or a shard would
            have to ask models for answers.
        NotIdentifiedError: the log `earlier` has several judges that are not one jury.
    """
    options = request.options
    responses = competitors.responses
    judge_options = _with_parts_shown(questions, competitors)
    judging = _settle_judging(options.seed, judge_options, competitors)
    settings, notes = _settle_settings(request, competitors, judging)
    tournament = catalogue.make_tournament(request.name, settings)
    ratings = getattr(tournament, "ratings", None)
    ladder = ratings.restrict_to(responses.models) if isinstance(ratings, Ladder) else None
    rule = _limit_battles(tournament, options.max_battles, responses)
    _refuse_missing_references(judging, responses)
    rotation = build_rotation(options.judges, options.overlap, judging, options.seed)
    sample_builder = SampleBuilder(responses, competitors.items_with_transcripts, rotation)
    battles = round(rule.size(competitors.field) * competitors.mean_number)
    packed = (battles >= PACKED_FROM) if options.pack == "auto" else bool(options.pack)
    collector = None
    if any(responses.pending.values()):
        collector = _build_collector(request, questions, competitors, sample_builder, packed)
    first = side_fixed_first(request.name, tournament, judging, judge_options)
    shard = None
    if options.shard:
        if collector:
            raise UsageError(_requests_in_shards_text(options.shard))
        shard = _plan_shard(request, competitors, tournament, rule, rotation)
    return TournamentPlan(
        judging=judging,
        judge_options=judge_options,
        notes=(*competitors.work_not_shown, *notes),
        rule=rule,
        ladder=ladder,
        rotation=rotation,
        sample_builder=sample_builder,
        packed=packed,
        collector=collector,
        calls=judging.calls(first),
        shard=shard,
    )


def _settle_judging(
    seed: int, judge_options: Mapping[str, Any], competitors: Competitors
) -> Judging:
    """Return how the judge is asked, by its options.

    Raises:
        UsageError: an option has an impossible value, or the template cannot show all responses.
    """
    judging = judging_settings(seed=seed, **judge_options)
    if len(competitors.items_with_transcripts) < len(competitors.responses.items):
        # A template that cannot show answers must fail before the first call.
        judging.adapted_to(transcript=False)
    return judging


def side_fixed_first(
    name: str, rule: Any, judging: Judging, given_options: Mapping[str, Any]
) -> str | None:
    """Check the options of the judge, and return the side for which `Judging.calls` counts calls.

    It is `a` if the tournament itself decides which response is shown first, so that a battle takes
    one call; `a` then stands for either side. It is None if the option `orders` decides.

    Args:
        name: name of the tournament, for error messages.
        rule: the tournament.
        judging: how the judge is asked.
        given_options: the options of the judge that were given, by name.

    Raises:
        UsageError: the tournament decides the order, and the option `orders` is given or the judge
            grades single responses.
    """
    if not fixes_first_shown(rule):
        return None
    if "orders" in given_options:
        why = (
            "balances the orders itself (first to one neighbour, second to the other), "
            "for one call a battle"
        )
        remedy = "leave it out (repeats=N repeats each of them)"
        raise UsageError(f"orders={given_options['orders']}: {name} {why}; {remedy}")
    if not judging.is_pairwise:
        why = (
            f"rates each response once, so {name} saves no call and loses comparisons; "
            "play round_robin"
        )
        raise UsageError(f"realization={judging.realization.name} {why}")
    return "a"


def _with_parts_shown(questions: Questions, competitors: Competitors) -> dict[str, Any]:
    """Return the judge's options, with the options that these responses need.

    If a task has transcripts, the judge is shown transcripts in it. If the responses are pairs with
    a known preference and have system prompts, the judge is shown them, unless the option `system`
    is given or the judge has a template of the user or takes no such option.
    """
    responses = competitors.responses
    judging = questions.judging
    judge_options = dict(questions.judge_options)
    if responses.has_transcripts:
        judge_options["transcript"] = True
    is_plain = judging.settings.template is None and "system" in judging.realization.options
    has_system = any(item.system for item in responses.items)
    if competitors.has_preference and is_plain and has_system:
        judge_options.setdefault("system", True)
    return judge_options


def _settle_settings(
    request: TournamentRequest, competitors: Competitors, judging: Judging
) -> tuple[dict[str, Any], tuple[Notice, ...]]:
    """Return the settings of the rule by name, and notes on the judge of the log `earlier`.

    The settings are the tournament's own options as typed; `seed`, if the rule takes one; `ratings`
    from the log `earlier`; and `battles`, if recorded battles are played. There are no notes
    without `earlier`.

    Raises:
        UsageError: `earlier` and `ratings` are both given, or the log cannot be used.
        NotIdentifiedError: the log `earlier` has several judges that are not one jury.
    """
    name = request.name
    options = request.options
    settings: dict[str, Any] = {}
    notes: tuple[Notice, ...] = ()
    if "seed" in setting_names(name):
        settings["seed"] = options.seed
    settings |= request.settings
    if options.earlier:
        if "ratings" in request.settings:
            raise UsageError(
                f"earlier={options.earlier}: ratings= rates the same models; leave one of them out"
            )
        battles = _read_earlier(name, options.earlier)
        models = competitors.responses.models
        settings["ratings"] = _earlier_ladder(battles, options.earlier, models)
        notes = tuple(_notes_on_earlier(battles, options.earlier, judging))
    if competitors.record is not None:
        settings["battles"] = competitors.record.pairings
    return settings, notes


def _read_earlier(name: str, log: str) -> "Battles":
    """Read the battles of an earlier log, which newcomers join.

    Args:
        name: name of the tournament.
        log: logs or verdicts, separated by commas.

    Raises:
        UsageError: the tournament takes no newcomers.
        NotIdentifiedError: the log has several judges that are not one jury.
    """
    from podium.data.reading.judgments import read_battles
    from podium.ranking.rank_battles import refuse_several_judges

    if "ratings" not in setting_names(name):
        raise UsageError(f"earlier={log}: newcomers cannot join {name}; play ring or swim")
    battles = read_battles(*split_names(log))
    refuse_several_judges(battles)
    return battles


def _notes_on_earlier(battles: "Battles", log: str, judging: Judging) -> Iterator[Notice]:
    """Yield a note for each judge of an earlier log that is asked for another form of replies now.

    The two differ in the form alone. Judges of other models, or with other settings, have none.

    Args:
        battles: the battles of the log.
        log: the log.
        judging: how the judges are asked now.
    """
    now = {judge.name: judge for judge in (judge_of(model, judging) for model in judges_by_role())}
    earlier = {judge: battles.judge_of(judge) for judge in battles.judges}
    for group in judges_with_other_replies([*earlier.values(), *now.values()]):
        asked_names = [name for name in group if name in now]
        if not asked_names:
            continue
        others = [name for name in group if name not in now]
        for judge in others:
            replies = _option_that_asks_alike(earlier[judge].replies or "text", judging)
            yield Notice(
                "earlier-form",
                {"log": log, "judge": judge, "now": asked_names[0], "replies": replies},
            )


def _option_that_asks_alike(replies: str, judging: Judging) -> str:
    """Return the value of `replies=` that asks as a judge of an earlier log was asked.

    Args:
        replies: how that judge was asked, as its record says. `auto` is text, and the schema if the
            text could not be parsed. The option `auto` does the same only for realizations that
            do not ask with the schema first; else `text` comes nearest.
        judging: how the judges are asked now.
    """
    if replies == SCHEMA_FIRST:
        return "auto"
    if replies == "auto" and judging.realization.schema_first:
        return "text"
    return replies


def _earlier_ladder(battles: "Battles", log: str, models: Sequence[str]) -> Ladder:
    """Return the ratings of those models that have battles in an earlier log; other models join.

    Args:
        battles: the battles of the log.
        log: the log.
        models: the models that play.

    Raises:
        UsageError: none or all of the models are in the log.
    """
    from podium.data.jury_verdicts import judged_once
    from podium.rankers.ladder_placement import ladder_of_battles

    ladder = ladder_of_battles(judged_once(battles), log).restrict_to(models)
    if ladder is None:
        remedy = "leave it out, and all are played"
        raise UsageError(f"earlier={log}: it contains no battle of {some(models)}; {remedy}")
    if {*ladder.models} >= {*models}:
        raise UsageError(
            f"earlier={log}: all models are in it already; add a new one or leave it out"
        )
    return ladder


def _limit_battles(
    rule: TournamentRule, max_battles: int | None, responses: Responses
) -> TournamentRule:
    """Return the rule, limited to `max_battles` battles; unchanged if this is None.

    If items have several responses, the limit is divided by the largest number of them, so that
    fewer battles may be played. At least one battle of the rule is played.
    """
    if max_battles is None:
        return rule
    # The rule counts one battle per item, but each of several responses to it makes a battle.
    most_responses = max(item.responses for item in responses.items)
    return Budget(rule, max(max_battles // most_responses, 1))


def _refuse_missing_references(judging: Judging, responses: Responses) -> None:
    """Raise UsageError if the judge is to be shown reference answers that some items lack."""
    items_without_reference = [item.id for item in responses.items if item.reference is None]
    if judging.settings.reference and items_without_reference:
        items = f"{quantity(len(items_without_reference), 'item', 'has|have')}"
        items += f" no reference answer: {some(items_without_reference, most=5)}"
        raise UsageError(f"reference=true: {items}")


def _build_collector(
    request: TournamentRequest,
    questions: Questions,
    competitors: Competitors,
    sample_builder: SampleBuilder,
    packed: bool,
) -> AnswerCollector:
    """Return the collector that requests the missing answers from models.

    With `answers=first`, the items that the tournament will draw are asked about at first.
    """
    options = request.options
    first: tuple[str, ...] = ()
    if options.answers == "first":
        first = draw_items(competitors.field, request.settings.get("items"), options.seed)
    order = tuple(questions.requests.models)
    return AnswerCollector(sample_builder, order, packed, first, options.reasoning)


def _requests_in_shards_text(shard: str) -> str:
    """Write that shards cannot ask models for answers, and what to do instead."""
    # A tournament that ends after one battle has asked for all answers before.
    remedy = "Ask for them first (podium/chain -T answers=first -T max_battles=1)"
    why = f"answers on demand are asked by one process. {remedy}"
    return f"shard={shard}: {why}, then play shards with responses=ITS LOG"


def _plan_shard(
    request: TournamentRequest,
    competitors: Competitors,
    tournament: Any,
    rule: TournamentRule,
    rotation: JudgeRotation | None,
) -> ShardPlan:
    """Return the part of a tournament that this process plays, in one round.

    Judges of a rotation are assigned here, to the battles of all shards.

    Raises:
        UsageError: the tournament cannot be divided, the option is malformed, or recorded battles
            have no responses.
    """
    text = str(request.options.shard)
    field = competitors.field
    shard = read_shard(text)
    refuse_undividable(request.name, getattr(tournament, "rule", tournament), field, shard)
    lost = len(competitors.unanswered)
    if lost:
        raise UsageError(
            f"shard={text}: {quantity(lost, 'recorded battle', 'has|have')} no responses: give "
            "responses= of all"
        )
    items = shard.items_of(field, request.options.seed)
    coming = rule.next(field, ())
    part = shard.part_of(coming, items)
    whole = competitors.responses.in_all_responses(coming)
    if rotation:
        # Judges are assigned in the order of all battles, so that shards agree on them.
        rotation.assign(whole.pairings)
    counts = {"battles": len(whole.pairings), "left_out": whole.left_out}
    return ShardPlan(Part(part), ShardMetadata(number=shard.number, of=shard.of, **counts))
