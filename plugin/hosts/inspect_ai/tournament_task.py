"""The engine of all tournaments: responses in, a task out.

How responses become standings in a log:

1. a task of `tasks` calls `tournament_task`, which reads them (`responses.read.read_responses`; Inspect's logs by
   `log_responses.READER`);
2. `TournamentSource` asks the tournament (its `next`) for the battles of a round;
3. `SampleBuilder` puts the two responses of a battle, or all of an item, into a sample;
4. the solver `judge_calls.judge` makes the prompts and the calls, and keeps the replies in the sample's store;
5. the scorer `scorers.verdict` parses the replies and merges orders, repeats and judges to a credit;
6. `TournamentSource.sample_complete` records the credits; `next_samples` asks for the next round until there is none;
7. Inspect writes the log and calls `hook.PodiumHooks.on_run_end`, and `hook.rank_logs` ranks it:
8. `reading.judgments.read_battles` has the format `inspect` read the log (`folders.read_logs`, `logs.log_rows`: a row
   per judgment) and makes battles of the rows;
9. `rank_battles.rank` makes the standings;
10. `hook.write_into_log` writes them into the log for Inspect's viewer, `hook.write_beside` as JSON beside it.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Any, Literal

from inspect_ai import Task

from podium.errors import UsageError
from podium.hosts.inspect_ai.answer_requests import Asking, split_asking
from podium.hosts.inspect_ai.answers_on_demand import AnswerCollector, ask_models
from podium.hosts.inspect_ai.cost_limit import Prices, build_cost_limit
from podium.hosts.inspect_ai.judge_calls import judge
from podium.hosts.inspect_ai.judge_models import NO_JUDGE, has_judge, roles_are_known
from podium.hosts.inspect_ai.log_contents import (
    ANSWERS,
    LEFT_OUT,
    MODELS,
    NAMESPACE,
    PLANNED,
    PROMPTS,
    SCHEDULED,
    SHARD,
    TASKS,
)
from podium.hosts.inspect_ai.log_responses import READER
from podium.hosts.inspect_ai.preview import preview_run
from podium.hosts.inspect_ai.recorded_battles import RECORDED, RecordedBattles, recorded_battles
from podium.hosts.inspect_ai.round_samples import SampleBuilder, missing_text
from podium.hosts.inspect_ai.scorers import verdict
from podium.hosts.inspect_ai.shard_schedule import OwnShard, own_shard, refuse_removed_options
from podium.hosts.inspect_ai.tournament_source import TournamentSource
from podium.plugins import catalogue
from podium.plugins.catalogue import judging_settings
from podium.plugins.settings import parameters_of
from podium.printable import tell
from podium.responses.collection import Responses
from podium.responses.read import read_responses
from podium.scorers.judging import Judging, known_options, refuse_unknown_options
from podium.scorers.reasoning import Policy
from podium.text import some
from podium.tournaments.budget import Budget
from podium.tournaments.schedule import Outcome, Pairing, Round, TournamentRule
from podium.tournaments.selection import draw_items

PACKED_FROM = 1000
"""Battles from which a pack per item is scheduled instead of a sample per battle."""
PORTION = 1000
"""Packs given to Inspect at once."""
NO_MODEL = "none/none"
"""The model under test: a tournament generates nothing, and is not run once per `--model`."""
WHOLE_NUMBERS = ("seed", "limit", "max_battles")
"""Options that are whole numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of every tournament, beside its own and those of how the judge is asked.

    Attributes:
        shard: `k/n`: only the battles on the k-th of n parts of the items.
        models: only these.
        answered_by: only items that this model was asked, whatever became of its response.
        limit, category: only so many items, or of this category.
        seed: of everything drawn.
        max_battles: at most so many.
        pack: put all battles of an item and a round into one sample: smaller and faster logs; `auto` does so from
            `PACKED_FROM` battles.
        cache: take replies of earlier runs instead of new calls.
        reask: the log of an earlier run: what could be read there is taken from it, and only the rest is asked.
        earlier: the log of a tournament: its battles count, and who is not in it joins as a newcomer.
        reasoning: whether the judge is shown what a model thought before it answered (`keep`) or not.
        prompts: what the models of the role `models` are asked, where no response of theirs is recorded; by default
            the items of `responses`. Then `system` may be what they are told, and `temperature` and `max_tokens` are
            theirs: a judge has its own in its role.
        answers: `on-demand`, or all of them `first`, model by model.
        max_cost: what answers and verdicts may cost together.
        prices: by model, of a million tokens of input and of output; Inspect's own count where it knows any.

    Raises:
        UsageError: a number that is none, a seed below 0, or an unknown `pack`.
    """

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
    prompts: str | Sequence[str] = ()
    answers: str = "on-demand"
    max_cost: float | None = None
    prices: Prices | None = None

    def __post_init__(self) -> None:
        for name in WHOLE_NUMBERS:
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, Integral)):
                raise UsageError(f"{name}={value}: give a whole number")
        if isinstance(self.max_cost, str):
            raise UsageError(f"max_cost={self.max_cost}: give a number")
        if self.seed < 0:
            raise UsageError(f"seed={self.seed} is below 0")
        if self.pack not in (True, False, "auto"):
            raise UsageError(f"pack={self.pack}: write true, false or auto (packs from {PACKED_FROM:,} battles)")


RUN_OPTIONS = frozenset(own.name for own in fields(RunOptions))


def tournament_task(name: str, responses: str | Sequence[str], settings: Mapping[str, Any], **options: Any) -> Task:
    """Make the task of a tournament.

    Args:
        name: of the tournament, podium's own or a plugin's.
        responses: files, folders or globs, each optionally `label=path`.
        settings: of the tournament.
        **options: those of `RunOptions`, and how the judge is asked; see `podium.plugins.catalogue.judging_settings`.

    Raises:
        UsageError, DataError: what was typed, or what a file holds, is not what it should be.
    """
    if "battles" in options:
        raise UsageError(
            f"battles={options['battles']}: {name} makes its own; inspect eval podium/{RECORDED} plays them"
        )
    if roles_are_known() and not has_judge():
        raise UsageError(NO_JUDGE)
    refuse_removed_options(options)
    refuse_unknown_options({**settings, **options}, RUN_OPTIONS | {"responses"} | _settings_of(name) | known_options())
    how = {key: value for key, value in options.items() if key not in RUN_OPTIONS}
    given = {key: value for key, value in settings.items() if value is not None}
    own = RunOptions(**{key: value for key, value in options.items() if key in RUN_OPTIONS})
    return _Run(name, split_names(responses or ()), given, own, how).task()


class _Run:
    """A tournament on its way to a task: each step is made of those before it."""

    def __init__(
        self,
        name: str,
        responses: Sequence[str],
        settings: Mapping[str, Any],
        options: RunOptions,
        how: Mapping[str, Any],
    ) -> None:
        self.name, self.options = name, options
        self.asking, self.how = self._split_asking(how)
        self.judged = judging_settings(seed=options.seed, **self.how)
        self.record = self._record(settings)
        self.competing, self.unanswered = self._responses(responses)
        before = _played_before(name, options.earlier, self.competing.models) if options.earlier else ()
        self.settings = self._complete_settings(settings, before)
        self.rule = self._rule(len(before))
        self.before = (Round(before, f"in {options.earlier}"),) if before else ()
        self.sample_builder = SampleBuilder(self.competing)
        battles = round(self.rule.size(self.competing.field()) * self.competing.mean_number())
        self.packed = battles >= PACKED_FROM if options.pack == "auto" else bool(options.pack)
        self.answer_collector = self._answer_collector()
        self.calls = self.judged.calls(shows_first(name, self.rule, self.judged, self.how))
        self.shard = self._shard()
        self.source = self._source()

    def _split_asking(self, how: Mapping[str, Any]) -> tuple[Asking, dict[str, Any]]:
        """Split whom to ask for answers from how the judge is asked."""
        prompts = self.options.prompts
        if self.name != RECORDED:
            return split_asking(split_names(prompts), self.options.answers, how)
        if prompts:
            raise UsageError(
                f"prompts={prompts}: {self.name} judges answers that are there: leave it out, or give responses="
            )
        return Asking(), dict(how)

    def _record(self, settings: Mapping[str, Any]) -> RecordedBattles | None:
        """Return the battles that are re-judged, if that is what is played."""
        if self.name != RECORDED:
            return None
        record = recorded_battles(*split_names(settings.get("battles") or ()))
        if "orders" not in self.how and self.judged.is_pairwise:
            return record
        # The run itself settles who is shown first, or the judge sees one response at a time.
        once = dict.fromkeys(own._replace(first=None) for own in record.pairings)
        return replace(record, pairings=tuple(once))

    def _responses(self, sources: Sequence[str]) -> tuple[Responses, list[Pairing]]:
        """Return the responses that compete, and the recorded battles that have none."""
        options = self.options
        if self.record is not None and self.record.responses is not None and not sources:
            competing = self.record.responses
        else:
            competing = _read_competing(sources, self.asking, options.reasoning)
        unanswered = self.record.without_answers(competing) if self.record is not None else []
        if options.models:
            competing = competing.only(split_names(options.models))
        if options.limit is not None or options.category or options.answered_by:
            competing = competing.select(
                limit=options.limit, category=options.category, seed=options.seed, answered_by=options.answered_by
            )
        return competing, unanswered

    def _complete_settings(self, settings: Mapping[str, Any], before: Sequence[Outcome]) -> dict[str, Any]:
        """Return the settings of the tournament, with what the run itself knows."""
        complete = {**({"seed": self.options.seed} if "seed" in _settings_of(self.name) else {}), **settings}
        if before:
            complete["rated"] = tuple(sorted({side for own in before for side in (own.pairing.a, own.pairing.b)}))
        if self.record is not None:
            complete["battles"] = self.record.pairings
        return complete

    def _rule(self, played: int) -> TournamentRule:
        """Return the tournament, within the battles that may be played; refuse items that cannot be judged."""
        rule, most = catalogue.make_tournament(self.name, self.settings), self.options.max_battles
        if most is not None:
            each = max(item.responses for item in self.competing.items)
            rule = Budget(rule, max(most // each, min(most, 1)), given=played)
        lacking = [item.id for item in self.competing.items if item.reference is None]
        if self.judged.settings.reference and lacking:
            # Every battle of such an item would fail.
            raise UsageError(f"reference=true: {len(lacking)} items have no reference answer: {some(lacking, most=5)}")
        return rule

    def _answer_collector(self) -> AnswerCollector | None:
        """Return where answers are asked for, where some are still to come."""
        if not any(self.competing.pending.values()):
            return None
        all_first, items = self.options.answers == "first", self.settings.get("items")
        first = draw_items(self.competing.field(), items, self.options.seed) if all_first else ()
        models, reasoning = tuple(self.asking.models), self.options.reasoning
        return AnswerCollector(self.sample_builder, models, pack=self.packed, first=first, reasoning=reasoning)

    def _shard(self) -> OwnShard | None:
        """Return what of the tournament is played here; None for the whole."""
        shard = self.options.shard
        if not shard:
            return None
        if self.answer_collector:
            raise UsageError(
                "answers on demand are asked by one process: ask for them first (podium/chain -T answers=first "
                "-T max_battles=1), then play shards with responses=ITS LOG"
            )
        own = own_shard(self.name, self.rule, self.competing, shard, self.before, self.options.seed)
        if self.unanswered:
            count = f"{len(self.unanswered):,} recorded battles have no responses"
            raise UsageError(f"shard={shard}: {count}: give responses= of all")
        return own

    def _source(self) -> TournamentSource:
        """Return what deals the battles, round by round."""
        shard, options = self.shard, self.options
        build_samples = self.sample_builder.build_packs if self.packed else self.sample_builder.build_battle_samples
        asked = [*self.asking.models.values()] if self.answer_collector else []
        return TournamentSource(
            shard.rule if shard else self.rule,
            self.competing.field(),
            build_samples,
            portion=PORTION if self.packed else None,
            spread=lambda coming: self.sample_builder.responses.in_all_responses(coming),
            calls=self.calls,
            given=self.before,
            say=self._say,
            opening=shard.opening if shard else (),
            answers=self.answer_collector,
            cost_limit=None if options.max_cost is None else build_cost_limit(options.max_cost, options.prices, asked),
        )

    def _say(self, text: str) -> None:
        tell(text, f"podium {self.name}")

    def task(self) -> Task:
        """Announce what will be played, and return it."""
        missing = missing_text(self.competing)
        why = f"left out for want of responses: {missing}" if missing else ""
        if not self.source.initial_samples():
            raise UsageError(f"{self.name}: nothing can be played: {why or 'fewer than two models'}")
        for said in preview_run(self.competing, self.source, self.judged, self.asking, why):
            self._say(said)
        if self.shard:
            self._say(self.shard.said)
        if self.unanswered:
            count = f"{len(self.unanswered):,} of {len(self.settings['battles']):,} recorded battles"
            lost = self.unanswered[0]
            self._say(f"{count} have no responses here and are missing, as {lost.a} and {lost.b} on {lost.item}")
        seed, cache = self.options.seed, self.options.cache
        asked_before = {} if self.record is None else self.record.asked
        verdicts = judge(seed=seed, cache=cache, reask=self.options.reask, asked_before=asked_before, **self.how)
        return Task(
            dataset=self.source,
            solver=[ask_models(cache=cache, **self.asking.generation), verdicts] if self.answer_collector else verdicts,
            scorer=verdict(seed=seed, **self.how),
            model=NO_MODEL,
            name=self.name,
            version=self.competing.digest()[:12],
            # Every battle is played, and a log in which some failed is not done: an eval set asks again for those.
            fail_on_error=True,
            continue_on_fail=True,
            metadata=self._metadata(),
        )

    def _metadata(self) -> dict[str, Any]:
        """Return what the log says of the run."""
        competing, source = self.competing, self.source
        return {
            MODELS: list(competing.models),
            f"{NAMESPACE}_missing": competing.missing_reasons(),
            f"{NAMESPACE}_{LEFT_OUT}": source.first.left_out + len(self.unanswered),
            f"{NAMESPACE}_sources": list(competing.sources),
            SCHEDULED: len(source.first.pairings),
            PLANNED: round(source.rule.size(source.field) * competing.mean_number()),
            TASKS: list(competing.tasks),
            PROMPTS: self.judged.prompt_hash,
            **({SHARD: self.shard.about} if self.shard else {}),
            **({ANSWERS: self.asking.identity(competing)} if self.answer_collector else {}),
        }


def _read_competing(responses: Sequence[str], asking: Asking, reasoning: Policy) -> Responses:
    """Return what is recorded, and what can be asked for; items without a system prompt have that of the run."""
    competing = read_responses(
        *responses, readers=(READER,), reasoning=reasoning, prompts=asking.prompts, on_demand=tuple(asking.models)
    )
    items = tuple(replace(item, system=item.system or asking.system) for item in competing.items)
    return replace(competing, items=items, notes=(*asking.notes, *competing.notes))


def _played_before(name: str, log: str, models: Sequence[str]) -> tuple[Outcome, ...]:
    """Return the battles that an earlier log holds of these models.

    Raises:
        UsageError: newcomers cannot join this tournament, or there is none, or nobody for them to join.
    """
    from podium.reading.judgments import read_battles
    from podium.verbs.replays import asks_order, recording_of

    rule = catalogue.tournament_rule(name)
    if "rated" not in parameters_of(rule):
        raise UsageError(f"earlier={log}: newcomers cannot join {name}; ring and swim let them")
    record = recording_of(read_battles(*split_names(log)), by_order=asks_order(rule))
    sides = [{own.pairing.a, own.pairing.b} for own in record.outcomes]
    kept = tuple(own for own, both in zip(record.outcomes, sides, strict=True) if both <= {*models})
    if not kept:
        raise UsageError(f"earlier={log}: it holds no battle of {some(models)}; leave it out, and all are played")
    if set().union(*sides) >= {*models}:
        raise UsageError(f"earlier={log}: everyone is in it already; nobody is new")
    return kept


def shows_first(name: str, rule: Any, judged: Judging, how: Mapping[str, Any]) -> str | None:
    """Return who of a and b is shown first where the tournament itself balances the orders; None where it does not.

    Raises:
        UsageError: orders are typed nevertheless, or the judge sees one response at a time.
    """
    if not getattr(getattr(rule, "rule", rule), "shows_first", False):
        return None
    if "orders" in how:
        raise UsageError(
            f"orders={how['orders']}: {name} balances the orders itself (first to one neighbour, second to the "
            "other), for one call a battle; leave it out (repeats=N asks each of them again)"
        )
    if not judged.is_pairwise:
        raise UsageError(
            f"realization={judged.realization.name} rates each response once, whomever it meets: {name} saves no call "
            "and loses comparisons; play round_robin"
        )
    return "a"


def split_options(name: str, options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options into those of a tournament's own and the others.

    Raises:
        UsageError: there is no such tournament.
        PluginError: it cannot be imported.
    """
    known = _settings_of(name) - {"seed"}
    own = {key: value for key, value in options.items() if key in known}
    return own, {key: value for key, value in options.items() if key not in known}


def split_names(names: str | Sequence[str]) -> list[str]:
    """Return names that Inspect passes as a list, or as one text with commas."""
    stripped = (str(name).strip() for name in (names.split(",") if isinstance(names, str) else names))
    return [name for name in stripped if name]


def _settings_of(name: str) -> AbstractSet[str]:
    """Return the names of a tournament's own settings."""
    return parameters_of(catalogue.tournament_rule(name)).keys()
