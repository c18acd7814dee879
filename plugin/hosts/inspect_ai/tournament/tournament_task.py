"""The engine of all tournaments: responses in, a task out (CONTRIBUTING.md has the path from there
to standings)."""

import os
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from functools import partial
from numbers import Integral
from typing import Any, Literal

from inspect_ai import Task

from podium.data.ladder import Ladder
from podium.data.pairings import NextRound, Pairing
from podium.errors import UsageError
from podium.format_version import FORMAT_VERSION
from podium.hosts.inspect_ai.inspect_ai_compatibility import typed_metadata
from podium.hosts.inspect_ai.judging.call_settings import settings_to_log
from podium.hosts.inspect_ai.judging.cost_limit import Prices, build_cost_limit
from podium.hosts.inspect_ai.judging.judge_calls import judge
from podium.hosts.inspect_ai.judging.judge_context import (
    choose_show,
    notes_on_work,
    share_of_transcripts,
)
from podium.hosts.inspect_ai.judging.judge_models import (
    NO_JUDGE,
    build_rotation,
    has_judge,
    identity,
    judges_by_role,
    roles_are_known,
)
from podium.hosts.inspect_ai.judging.offline_api import MODEL
from podium.hosts.inspect_ai.judging.scorers import verdict
from podium.hosts.inspect_ai.logs.log_contents import ShardMetadata, TournamentMetadata
from podium.hosts.inspect_ai.logs.log_files import rankers_asked_for
from podium.hosts.inspect_ai.logs.log_responses import READER
from podium.hosts.inspect_ai.logs.recorded_battles import (
    RECORDED,
    RecordedBattles,
    recorded_battles,
)
from podium.hosts.inspect_ai.tournament.answers_on_demand import (
    AnswerCollector,
    AnswerRequests,
    ask_models,
    split_requests,
)
from podium.hosts.inspect_ai.tournament.preview import preview_run
from podium.hosts.inspect_ai.tournament.round_samples import (
    SampleBuilder,
    announce_round,
    missing_responses_text,
)
from podium.hosts.inspect_ai.tournament.tournament_source import TournamentSource
from podium.plugins import catalogue
from podium.plugins.catalogue import judging_settings
from podium.plugins.settings import parameters_of
from podium.printable import tell
from podium.responses.collection import Responses
from podium.responses.read import read_responses
from podium.responses.transcripts import Mode
from podium.scorers.judging import Judging, known_options, refuse_unknown_options
from podium.scorers.reasoning import Policy
from podium.text import some
from podium.tournaments.parts import Budget, Part, read_shard, refuse_undividable
from podium.tournaments.schedule import TournamentRule
from podium.tournaments.selection import draw_items

PACKED_FROM = 1000
"""Battles from which a pack per item is scheduled instead of a sample per battle."""
LIMITED_PACK = 4
"""Battles of a pack if the cost is limited: what a sample costs is known only when one has
ended."""
PORTION = 1000
"""Packs given to Inspect at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of every tournament, besides its own and those of the judge; docs/inspect.md explains
    them."""

    shard: str | None = None
    models: str | Sequence[str] | None = None
    answered_by: str | None = None
    limit: int | None = None
    category: str | Sequence[str] | None = None
    seed: int = 0
    max_battles: int | None = None
    pack: bool | Literal["auto"] = "auto"
    cache: bool = True
    reask: str | None = None
    earlier: str | None = None
    reasoning: Policy = "strip"
    show: Mode = "auto"
    transcript_tokens: int | None = None
    prompts: str | Sequence[str] = ()
    answers: str = "on-demand"
    max_cost: float | None = None
    prices: Prices | None = None
    judges: str | Sequence[Any] = "all"
    overlap: float = 0.0

    def __post_init__(self) -> None:
        for name, least in (("seed", 0), ("limit", 1), ("max_battles", 1)):
            value = getattr(self, name)
            is_whole = isinstance(value, Integral) and not isinstance(value, bool)
            if value is not None and not (is_whole and value >= least):
                raise UsageError(f"{name}={value}: give a whole number, {least} or more")
        if self.pack not in (True, False, "auto"):
            raise UsageError(
                f"pack={self.pack}: write true, false or auto (packs from {PACKED_FROM:,} battles)"
            )


RUN_OPTIONS = frozenset(own.name for own in fields(RunOptions))


def tournament_task(
    name: str, responses: str | Sequence[str], settings: Mapping[str, Any], **options: Any
) -> Task:
    """Return the task of a tournament, and print what it will play and cost."""
    if battles := options.get("battles"):
        raise UsageError(
            f"battles={battles}: {name} schedules its battles; podium/{RECORDED} plays recorded ones"
        )
    if roles_are_known() and not has_judge():
        raise UsageError(NO_JUDGE)
    known = RUN_OPTIONS | {"responses"} | _setting_names(name) | known_options()
    refuse_unknown_options({**settings, **options}, known)
    how = {key: value for key, value in options.items() if key not in RUN_OPTIONS}
    given = {key: value for key, value in settings.items() if value is not None}
    own = RunOptions(**{key: value for key, value in options.items() if key in RUN_OPTIONS})
    return _TaskBuilder(name, split_names(responses), given, own, how).build_task()


class _TaskBuilder:
    """Builds the task of a tournament step by step; each attribute needs those before it."""

    def __init__(
        self,
        name: str,
        responses: Sequence[str],
        settings: dict[str, Any],
        options: RunOptions,
        how: dict[str, Any],
    ) -> None:
        self.name, self.options, self._say = name, options, partial(tell, who=f"podium {name}")
        if name != RECORDED:
            self.requests, self.how = split_requests(
                split_names(options.prompts), options.answers, how
            )
        elif options.prompts:
            raise UsageError(
                f"prompts={options.prompts}: {name} judges recorded answers; leave it out"
            )
        else:
            self.requests, self.how = AnswerRequests(), how
        self.judged = judging_settings(seed=options.seed, **self.how)
        show, self.context_note = choose_show(options.show, options.transcript_tokens, self.judged)
        self.show = replace(show, reasoning=options.reasoning)
        self.record = self._read_record(settings)
        self.competing, self.unanswered = self._read_competing(responses)
        self.agents = self._settle_transcripts()
        self.settings = {
            **({"seed": options.seed} if "seed" in _setting_names(name) else {}),
            **settings,
        }
        if options.earlier:
            if "ratings" in settings:
                raise UsageError(
                    f"earlier={options.earlier}: ratings= rates the same models; leave one of them out"
                )
            self.settings["ratings"] = _earlier_ladder(name, options.earlier, self.competing.models)
        if self.record is not None:
            self.settings["battles"] = self.record.pairings
        self.rule = self._make_rule()
        ratings = getattr(getattr(self.rule, "rule", self.rule), "ratings", None)
        self.ladder = (
            ratings.restrict_to(self.competing.models) if isinstance(ratings, Ladder) else None
        )
        self.rotation = build_rotation(options.judges, options.overlap, self.judged, options.seed)
        self.sample_builder = SampleBuilder(self.competing, self.rotation)
        battles = round(self.rule.size(self.competing.field()) * self.competing.mean_number())
        self.packed = battles >= PACKED_FROM if options.pack == "auto" else bool(options.pack)
        self.answer_collector = None
        if any(self.competing.pending.values()):
            models, how_many = tuple(self.requests.models), self.settings.get("items")
            first = (
                draw_items(self.competing.field(), how_many, options.seed)
                if options.answers == "first"
                else ()
            )
            self.answer_collector = AnswerCollector(
                self.sample_builder, models, self.packed, first, options.reasoning
            )
        self.calls = self.judged.calls(shows_first(name, self.rule, self.judged, self.how))
        self.shard = self._make_shard()
        self.source = self._make_source()

    def _read_record(self, settings: Mapping[str, Any]) -> RecordedBattles | None:
        """Return the battles that are re-judged; None unless the tournament is `recorded`."""
        if self.name != RECORDED:
            return None
        record = recorded_battles(*split_names(settings.get("battles")), show=self.show)
        if "orders" not in self.how and self.judged.is_pairwise:
            return record
        # The run itself settles who is shown first, or the judge sees one response at a time.
        once = dict.fromkeys(own._replace(first=None) for own in record.pairings)
        return replace(record, pairings=tuple(once))

    def _read_competing(self, sources: Sequence[str]) -> tuple[Responses, list[Pairing]]:
        """Return the responses that compete, and the recorded battles that lack one."""
        options = self.options
        if self.record is not None and self.record.responses is not None and not sources:
            names = ("show", "transcript_tokens")
            changed = [
                f"{name}={own}"
                for name in names
                if (own := getattr(options, name)) not in ("auto", None)
            ]
            if changed and self.record.preferred is None:
                problem = f"{RECORDED} shows the responses of these logs as they were shown before"
                remedy = "leave it out, or give the models' own logs as responses="
                raise UsageError(f"{', '.join(changed)}: {problem}; {remedy}")
            competing = self.record.responses
        else:
            asked = {"prompts": self.requests.prompts, "on_demand": tuple(self.requests.models)}
            how: Any = {"reasoning": options.reasoning, "show": self.show, **asked}
            competing = read_responses(*sources, readers=(READER,), **how)
            # Items without a system prompt get the run's.
            items = tuple(
                replace(item, system=item.system or self.requests.system)
                for item in competing.items
            )
            competing = replace(
                competing, items=items, notes=(*self.requests.notes, *competing.notes)
            )
        unanswered = self.record.without_response(competing) if self.record is not None else []
        if options.models:
            competing = competing.only(split_names(options.models))
        if options.limit is not None or options.category or options.answered_by:
            competing = competing.select(
                limit=options.limit,
                category=options.category,
                seed=options.seed,
                answered_by=options.answered_by,
            )
        return competing, unanswered

    def _settle_transcripts(self) -> list[str]:
        """Ask to judge transcripts and show pairs' system prompts, if there are any; return notes
        on what is hidden."""
        if self.competing.has_transcripts:
            self.how["transcript"] = True
        is_plain = (
            self.judged.settings.template is None and "system" in self.judged.realization.options
        )
        if (
            self.record
            and self.record.preferred
            and is_plain
            and any(item.system for item in self.competing.items)
        ):
            self.how.setdefault("system", True)
        self.judged = judging_settings(seed=self.options.seed, **self.how)
        return [*notes_on_work(self.competing)]

    def _make_rule(self) -> TournamentRule:
        """Return the tournament, limited to `max_battles`."""
        rule, most = catalogue.make_tournament(self.name, self.settings), self.options.max_battles
        if most is not None:
            each = max(item.responses for item in self.competing.items)
            rule = Budget(rule, max(most // each, min(most, 1)))
        lacking = [item.id for item in self.competing.items if item.reference is None]
        if self.judged.settings.reference and lacking:
            raise UsageError(
                f"reference=true: {len(lacking)} items have no reference answer: {some(lacking, most=5)}"
            )
        return rule

    def _make_shard(self) -> tuple[Part, ShardMetadata] | None:
        """Return the rule of this shard, which plays one round, and what the log says of it; None
        for the whole."""
        text = self.options.shard
        if not text:
            return None
        if self.answer_collector:
            remedy = "Ask for them first (podium/chain -T answers=first -T max_battles=1)"
            why = f"answers on demand are asked by one process. {remedy}, then play shards with responses=ITS LOG"
            raise UsageError(f"shard={text}: {why}")
        field, shard = self.competing.field(), read_shard(text)
        refuse_undividable(self.name, getattr(self.rule, "rule", self.rule), field, shard)
        if lost := len(self.unanswered):
            raise UsageError(
                f"shard={text}: {lost:,} recorded battles have no responses: give responses= of all"
            )
        coming = self.rule.next(field, ())
        part = shard.part_of(coming, shard.items_of(field, self.options.seed))
        whole = self.competing.in_all_responses(coming)
        if self.rotation:
            self.rotation.assign(whole.pairings)
        counts = {"battles": len(whole.pairings), "left_out": whole.left_out}
        return Part(part), ShardMetadata(number=shard.number, of=shard.of, **counts)

    def _make_source(self) -> TournamentSource:
        options = self.options
        asked = [*self.requests.models.values()] if self.answer_collector else []
        cost_limit = build_cost_limit(options.max_cost, options.prices, asked, self.judged.attempts)
        build_samples: Any = self.sample_builder.build_battle_samples
        if self.packed:
            most = LIMITED_PACK if cost_limit else None
            build_samples = partial(self.sample_builder.build_packs, most=most)
        in_shards = self.shard is not None and self.shard[1].battles > 0
        return TournamentSource(
            self.shard[0] if self.shard else self.rule,
            self.competing.field(),
            build_samples,
            portion=PORTION if self.packed else None,
            spread=lambda coming: self.sample_builder.responses.in_all_responses(coming),
            calls=self.calls,
            say=self._say,
            # It takes the place of the round if this shard has no battles.
            opening=[announce_round(NextRound((), f"no battle for shard {options.shard}"), 1)]
            if in_shards
            else (),
            answers=self.answer_collector,
            cost_limit=cost_limit,
        )

    def build_task(self) -> Task:
        """Return the task, and print what it will play and cost; UsageError for rankers that cannot
        rank it."""
        notes = self._check_rankers()
        self._print_preview()
        for note in notes:
            self._say(note)
        seed, cache = self.options.seed, self.options.cache
        how: dict[str, Any] = {
            "seed": seed,
            "cache": cache,
            "reask": self.options.reask,
            **self.how,
        }
        how |= {"rotating": len(self.rotation.judges)} if self.rotation else {}
        verdicts = judge(asked_before=self.record.repeats if self.record else {}, **how)
        answers = (
            [ask_models(cache=cache, **self.requests.generation)] if self.answer_collector else []
        )
        return Task(
            dataset=self.source,
            solver=[*answers, verdicts] if answers else verdicts,
            scorer=verdict(seed=seed, **self.how),
            # A tournament generates nothing, and is not run once per `--model`.
            model=MODEL,
            name=self.name,
            version=self.competing.digest()[:12],
            # Every battle is played, and a log in which some failed is not done: an eval set asks
            # again for those.
            fail_on_error=True,
            continue_on_fail=True,
            metadata=self._build_metadata().to_log(),
        )

    def _check_rankers(self) -> list[str]:
        """Return notes on the rankers that were asked for in this command and will be replaced by
        others."""
        rankers = rankers_asked_for(typed_metadata(), os.environ)
        # Another host ranks its tournament itself.
        if not rankers or self.options.answered_by:
            return []
        from podium.ranking.trial_ranking import check_rankers, coming_verdicts

        judges = [identity(model, self.judged) for model in judges_by_role()] or ["judge"]
        known = {
            "one_jury": self.rotation is not None,
            "human": bool(self.record and self.record.preferred),
        }
        return check_rankers(
            rankers, coming_verdicts(self.competing.models, judges, self.judged, **known)
        )

    def _print_preview(self) -> None:
        missing = missing_responses_text(self.competing)
        why = f"left out because responses are missing: {missing}" if missing else ""
        if not self.source.initial_samples():
            raise UsageError(
                f"{self.name}: nothing can be played: {why or 'fewer than two models'}"
            )
        more = (self.rotation, self.options.prices or {})
        for sentence in preview_run(
            self.competing, self.source, self.judged, self.requests, why, *more
        ):
            self._say(sentence)
        for note in (
            *share_of_transcripts(self.competing, self.show, self.context_note),
            *self.agents,
        ):
            self._say(note)
        if self.shard:
            mine, whole = len(self.source.first.pairings), self.shard[1].battles
            self._say(f"shard {self.options.shard}: {mine:,} of {whole:,} battles")
        for warning in self.ladder.warnings() if self.ladder else ():
            self._say(warning)
        if self.unanswered:
            count = (
                f"{len(self.unanswered):,} of {len(self.settings['battles']):,} recorded battles"
            )
            lost = self.unanswered[0]
            self._say(
                f"{count} have no responses here and are missing, such as {lost.a} and {lost.b} on {lost.item}"
            )

    def _build_metadata(self) -> TournamentMetadata:
        competing, source = self.competing, self.source
        more: dict[str, Any] = {
            "shard": self.shard and self.shard[1],
            "answers": self.answer_collector and self.requests.to_log(competing),
            "ladder": self.ladder and self.ladder.to_dict(),
            "jury": self.rotation and list(self.rotation.judges),
            "agents": self.agents,
            "preferred": self.record and self.record.preferred,
        }
        return TournamentMetadata(
            format=FORMAT_VERSION,
            models=list(competing.models),
            missing=competing.missing_reasons(),
            left_out=source.first.left_out + len(self.unanswered),
            sources=list(competing.sources),
            scheduled=len(source.first.pairings),
            planned=round(source.rule.size(source.field) * competing.mean_number()),
            tasks=list(competing.tasks),
            prompts=self.judged.prompt_hash,
            judging=settings_to_log(self.judged),
            **{name: value for name, value in more.items() if value},
        )


def _earlier_ladder(name: str, log: str, models: Sequence[str]) -> Ladder:
    """Return the ratings of these models in an earlier log, which newcomers join."""
    from podium.data.reading.judgments import read_battles
    from podium.rankers.ladder_placement import ladder_of_battles
    from podium.ranking.rank_battles import refuse_several_judges

    if "ratings" not in parameters_of(catalogue.tournament_rule(name)):
        raise UsageError(f"earlier={log}: newcomers cannot join {name}; play ring or swim")
    battles = read_battles(*split_names(log))
    refuse_several_judges(battles)
    if (ladder := ladder_of_battles(battles, log).restrict_to(models)) is None:
        raise UsageError(
            f"earlier={log}: it contains no battle of {some(models)}; leave it out, and all are played"
        )
    if {*ladder.models} >= {*models}:
        raise UsageError(
            f"earlier={log}: all models are in it already; add a new one or leave it out"
        )
    return ladder


def shows_first(name: str, rule: Any, judged: Judging, how: Mapping[str, Any]) -> str | None:
    """Return `a` if the tournament balances the orders itself, for one call a battle; else None."""
    if not getattr(getattr(rule, "rule", rule), "shows_first", False):
        return None
    if "orders" in how:
        why = "balances the orders itself (first to one neighbour, second to the other), for one call a battle"
        remedy = "leave it out (repeats=N repeats each of them)"
        raise UsageError(f"orders={how['orders']}: {name} {why}; {remedy}")
    if not judged.is_pairwise:
        why = f"rates each response once, so {name} saves no call and loses comparisons; play round_robin"
        raise UsageError(f"realization={judged.realization.name} {why}")
    return "a"


def split_options(name: str, options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options into the settings of a tournament and the others."""
    known = _setting_names(name) - {"seed"}
    own = {key: value for key, value in options.items() if key in known}
    return own, {key: value for key, value in options.items() if key not in own}


def split_names(names: str | Sequence[str] | None) -> list[str]:
    """Return the names in a list, or in a text with commas, without spaces around them; none of
    None."""
    stripped = (
        str(name).strip() for name in (names.split(",") if isinstance(names, str) else names or ())
    )
    return [name for name in stripped if name]


def _setting_names(name: str) -> AbstractSet[str]:
    return parameters_of(catalogue.tournament_rule(name)).keys()
