"""The engine of all tournaments: responses in, a task out.

The path of responses, for a task of `tasks`, from the command to standings in the log:

1. a task of `tasks` calls `play.tournament_task`, which reads them (`responses.read.read_responses`; Inspect's own logs
   by `log_responses.READER`),
2. `source.TournamentSource` asks the tournament (its `next`) for the battles of a round, and has
3. a `source.Deck` put the two responses of a battle, or all of an item, into a sample,
4. the solver `judge.judge` has `ask_jury` make the prompts and the calls, and keeps the replies in the sample's store,
5. the scorer `scorers.verdict` reads the replies and merges orders, repeats and judges to a credit,
6. `TournamentSource.sample_complete` notes the credits, and `next_samples` asks for the next round until there is none;
7. Inspect writes the log and calls `hook.PodiumHooks.on_run_end`, and `hook.rank_logs` ranks it:
8. `reading.judgements.read_battles` has the format `inspect` open the log (`folders.read_logs`, `logs.log_rows`: a row
   per presentation), and makes battles of the rows,
9. `rank_battles.rank` makes the standings,
10. `hook.write_into_log` puts them where Inspect's viewer shows them, `hook.write_beside` as JSON beside the log.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from inspect_ai import Task

from podium.errors import UsageError
from podium.hosts.inspect_ai.again import RECORDED, recorded_battles
from podium.hosts.inspect_ai.answers_on_demand import AnswerDesk, ask_entrants
from podium.hosts.inspect_ai.asking import CHARACTERS_PER_TOKEN, Asking, split_asking
from podium.hosts.inspect_ai.compatibility import batch_of, option_typed
from podium.hosts.inspect_ai.judge import NO_JUDGE, has_judge, judge, jury_named, roles_are_known, texts_of
from podium.hosts.inspect_ai.log_format import ANSWERS, LEFT_OUT, NAMESPACE, PLANNED, PROMPTS, SCHEDULED, SHARD, TASKS
from podium.hosts.inspect_ai.log_responses import READER
from podium.hosts.inspect_ai.looks import known_judges, own_part
from podium.hosts.inspect_ai.plans import plan_of
from podium.hosts.inspect_ai.purse import Prices, purse_of
from podium.hosts.inspect_ai.scorers import verdict
from podium.hosts.inspect_ai.source import Deck, TournamentSource, missing_text
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
from podium.tournaments.ring import Ring
from podium.tournaments.schedule import Outcome, Round, rounds_of
from podium.tournaments.selection import draw_items

PROMPTS_BUILT = 50
"""Prompts that are built to estimate their length."""
PACKED_FROM = 1000
"""Battles from which a pack per item is dealt instead of a sample per battle."""
FEW_ROUNDS = 10
"""Rounds that provider batches may follow one another in without a word."""
PORTION = 1000
"""Packs given to Inspect at once."""
NO_MODEL = "none/none"
"""The model under test: a tournament generates nothing, and is not run once per `--model`."""


def tournament_task(
    name: str,
    responses: str | Sequence[str],
    settings: Mapping[str, Any],
    *,
    typed: Mapping[str, Any],
    shard: str | None = None,
    look: int | None = None,
    played: str | Sequence[str] | None = None,
    entrants: str | Sequence[str] | None = None,
    answered_by: str | None = None,
    limit: int | None = None,
    category: str | Sequence[str] | None = None,
    seed: int = 0,
    max_battles: int | None = None,
    pack: bool | Literal["auto"] = "auto",
    cache: bool = True,
    reask: str | None = None,
    earlier: str | None = None,
    reasoning: Policy = "strip",
    prompts: str | Sequence[str] = (),
    answers: str = "on-demand",
    max_cost: float | None = None,
    prices: Prices | None = None,
    **how: Any,
) -> Task:
    """Make the task of a tournament.

    Args:
        name: of the tournament, podium's own or a plugin's.
        responses: files, folders or globs, each optionally `label=path`.
        settings: of the tournament.
        typed: all options as they were typed, by which logs of one plan are known.
        shard: `k/n`: only the battles on the k-th of n parts of the items.
        look: only the battles between two looks of a tournament that stops by itself, counted from 1.
        played: where the logs of the looks before it are.
        entrants: only these.
        answered_by: only items that this entrant was asked, whatever became of its response.
        limit, category: only so many items, or of this category.
        seed: of everything drawn.
        max_battles: at most so many.
        pack: put all battles of an item and a round into one sample: smaller and faster logs; `auto` does so from
            `PACKED_FROM` battles.
        cache: take replies of earlier runs instead of new calls.
        reask: the log of an earlier run: what could be read there is taken from it, and only the rest is asked.
        earlier: the log of a tournament: its battles count, and who is not in it joins as a newcomer.
        reasoning: whether the judge is shown what a model thought before it answered (`keep`) or not.
        prompts: what the models of the role `entrants` are asked, where no response of theirs is recorded; by default
            the items of `responses`. Then `system` may be what they are told, and `temperature` and `max_tokens` are
            theirs: a judge has its own in its role.
        answers: `on-demand`, or all of them `first`, entrant by entrant.
        max_cost: what answers and verdicts may cost together.
        prices: by model, of a million tokens of input and of output; Inspect's own count where it knows any.
        **how: how the judge is asked; see `podium.plugins.catalogue.judging_settings`.

    Raises:
        UsageError, DataError: what was typed, or what a file holds, is not what it should be.
    """
    if "battles" in how:
        raise UsageError(f"battles={how['battles']}: {name} makes its own; inspect eval podium/{RECORDED} plays them")
    if roles_are_known() and not has_judge():
        raise UsageError(NO_JUDGE)
    engine = inspect.signature(tournament_task).parameters.keys() - {"name", "settings", "typed", "how"}
    known = parameters_of(catalogue.tournament_rule(name)).keys()
    refuse_unknown_options({**settings, **how}, engine | known | known_options())
    if seed < 0:
        raise UsageError(f"seed={seed} is below 0")
    if pack not in (True, False, "auto"):
        raise UsageError(f"pack={pack}: write true, false or auto (packs from {PACKED_FROM:,} battles)")
    asking = Asking()
    if name != RECORDED:
        asking, how = split_asking(_split_names(prompts), answers, how)
    elif prompts:
        raise UsageError(f"prompts={prompts}: {name} judges answers that are there: leave it out, or give responses=")
    judged = judging_settings(seed=seed, **how)
    record = recorded_battles(*_split_names(settings.get("battles") or ())) if name == RECORDED else None
    if record is not None and ("orders" in how or not judged.is_pairwise):
        # The run itself settles who is shown first, or the judge sees one response at a time.
        once = dict.fromkeys(replace(own, first=None) for own in record.pairings)
        record = replace(record, pairings=tuple(once))
    if record is not None and record.responses is not None and not responses:
        competing = record.responses
    else:
        competing = _read_competing(_split_names(responses), asking, reasoning)
    unanswered = record.without_answers(competing) if record is not None else []
    if entrants:
        competing = competing.only(_split_names(entrants))
    if limit is not None or category or answered_by:
        competing = competing.select(limit=limit, category=category, seed=seed, answered_by=answered_by)
    given = {key: value for key, value in settings.items() if value is not None}
    before = _played_before(name, earlier, competing.entrants) if earlier else ()
    if before:
        given["rated"] = tuple(sorted({side for own in before for side in (own.pairing.a, own.pairing.b)}))
    if record is not None:
        given["battles"] = record.pairings
    rule = catalogue.make_tournament(name, {**({"seed": seed} if "seed" in known else {}), **given})
    if max_battles is not None:
        most = max(item.responses for item in competing.items)
        rule = Budget(rule, max(max_battles // most, min(max_battles, 1)), given=len(before))
    lacking = [item.id for item in competing.items if item.reference is None] if judged.settings.reference else []
    if lacking:
        # Every battle of such an item would fail.
        raise UsageError(f"reference=true: {len(lacking)} items have no reference answer: {some(lacking, most=5)}")
    deck, desk = Deck(competing), None
    planned = round(rule.size(competing.field()) * competing.mean_number())
    packed = planned >= PACKED_FROM if pack == "auto" else bool(pack)
    if any(competing.pending.values()):
        first = draw_items(competing.field(), given.get("items"), seed) if answers == "first" else ()
        desk = AnswerDesk(deck, tuple(asking.models), pack=packed, first=first, reasoning=reasoning)
    deal = deck.deal_packs if packed else deck.deal_battles
    shown = shows_first(name, rule, judged, how)
    version = competing.digest()[:12]
    given_rounds = (Round(before, f"in {earlier}"),) if before else ()
    part = None
    if shard or look is not None or played:
        if desk:
            raise UsageError(
                "answers on demand are asked by one process: ask for them first (podium/chain -T answers=first "
                "-T max_battles=1), then play shards and looks with responses=ITS LOG"
            )
        plan = plan_of(name, responses=version, prompts=judged.prompt_hash, judges=known_judges(), settings=typed)
        part = own_part(
            name,
            rule,
            competing,
            plan=plan,
            shard=shard,
            look=look,
            played=played,
            before=given_rounds,
            seed=seed,
            calls=judged.calls(shown),
        )
    source = TournamentSource(
        part.rule if part else rule,
        competing.field(),
        lambda pairings, number: deal(pairings, number + (part.number - 1 if part else 0)),
        portion=PORTION if packed else None,
        spread=lambda coming: deck.responses.in_all_responses(coming),
        calls=judged.calls(shown),
        given=part.given if part else given_rounds,
        say=partial(tell, who=f"podium {name}"),
        opening=part.opening if part else (),
        answers=desk,
        purse=None if max_cost is None else purse_of(max_cost, prices, [*asking.models.values()] if desk else []),
    )
    missing = missing_text(competing)
    why = f"left out for want of responses: {missing}" if missing else ""
    if not source.initial_samples():
        raise UsageError(f"{name}: nothing can be played: {why or 'fewer than two entrants'}")
    _announce(name, competing, source, judged, asking, why)
    for said in part.said if part else ():
        source.say(said)
    if unanswered and part:
        raise UsageError(
            f"shard={shard}: {len(unanswered):,} recorded battles have no responses: give responses= of all"
        )
    if unanswered:
        count = f"{len(unanswered):,} of {len(given['battles']):,} recorded battles"
        example = f"{unanswered[0].a} and {unanswered[0].b} on {unanswered[0].item}"
        tell(f"{count} have no responses here and are missing, as {example}", f"podium {name}")
    asked_before = {} if record is None else record.asked
    verdicts = judge(seed=seed, cache=cache, reask=reask, asked_before=asked_before, **how)
    return Task(
        dataset=source,
        solver=[ask_entrants(cache=cache, **asking.generation), verdicts] if desk else verdicts,
        scorer=verdict(seed=seed, **how),
        model=NO_MODEL,
        name=name,
        version=version,
        # Every battle is played, and a log in which some failed is not done: an eval set asks again for those.
        fail_on_error=True,
        continue_on_fail=True,
        metadata={
            f"{NAMESPACE}_entrants": list(competing.entrants),
            f"{NAMESPACE}_missing": competing.missing_reasons(),
            f"{NAMESPACE}_{LEFT_OUT}": source.first.left_out + len(unanswered),
            f"{NAMESPACE}_sources": list(competing.sources),
            SCHEDULED: len(source.first.pairings),
            PLANNED: round(source.rule.size(source.field) * competing.mean_number()),
            TASKS: list(competing.tasks),
            PROMPTS: judged.prompt_hash,
            **({SHARD: part.about} if part else {}),
            **({ANSWERS: asking.identity(competing)} if desk else {}),
        },
    )


def _read_competing(responses: Sequence[str], asking: Asking, reasoning: Policy) -> Responses:
    """Return what is recorded, and what can be asked for; items without a system prompt have that of the run."""
    competing = read_responses(
        *responses, readers=(READER,), reasoning=reasoning, prompts=asking.prompts, on_demand=tuple(asking.models)
    )
    items = tuple(replace(item, system=item.system or asking.system) for item in competing.items)
    return replace(competing, items=items, notes=(*asking.notes, *competing.notes))


def _played_before(name: str, log: str, entrants: Sequence[str]) -> tuple[Outcome, ...]:
    """Return the battles that an earlier log holds of these entrants.

    Raises:
        UsageError: newcomers cannot join this tournament, or there is none, or nobody for them to join.
    """
    from podium.reading.judgements import read_battles
    from podium.verbs.replays import asks_order, recording_of

    rule = catalogue.tournament_rule(name)
    if "rated" not in parameters_of(rule):
        raise UsageError(f"earlier={log}: newcomers cannot join {name}; ring and swim let them")
    record = recording_of(read_battles(*_split_names(log)), by_order=asks_order(rule))
    sides = [{own.pairing.a, own.pairing.b} for own in record.outcomes]
    kept = tuple(own for own, both in zip(record.outcomes, sides, strict=True) if both <= {*entrants})
    if not kept:
        raise UsageError(f"earlier={log}: it holds no battle of {some(entrants)}; leave it out, and all are played")
    if set().union(*sides) >= {*entrants}:
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
    known = parameters_of(catalogue.tournament_rule(name)).keys() - {"seed"}
    own = {key: value for key, value in options.items() if key in known}
    return own, {key: value for key, value in options.items() if key not in known}


def _announce(
    name: str, responses: Responses, source: TournamentSource, how: Judging, asking: Asking, missing: str
) -> None:
    """Say what will be played and what it will cost, before the first call."""
    battles = round(source.rule.size(source.field) * responses.mean_number())
    calls = battles * source.calls
    number = rounds_of(source.rule, source.field)
    rounds = "" if number is None else f", in {'one round' if number == 1 else f'at most {number:,} rounds'}"
    tokens = calls * _prompt_length(asking.imagine(responses), source, how) / CHARACTERS_PER_TOKEN
    tell(
        f"{len(responses.entrants)} entrants, {len(responses.items)} items; at most {battles:,} "
        f"battles, {calls:,} calls per judge, about {tokens:,.0f} input tokens{rounds}"
        + (f"; {missing}" if missing else ""),
        f"podium {name}",
    )
    if source.answers:
        first = source.first.pairings
        cells = source.answers.cells(first if len(first) >= battles else None)
        tell(asking.announce(responses, cells), f"podium {name}")
    for note in (*responses.notes, *_notes_of_run(source)):
        tell(f"note: {note}", f"podium {name}")


def _notes_of_run(source: TournamentSource) -> Iterator[str]:
    """Yield what makes a run slower than it need be, where the command or the judge's role says so."""
    if option_typed("log_format") == "json":
        yield "--log-format json takes twice the CPU and eight times the disk of the format eval: leave it out"
    number = rounds_of(source.rule, source.field) or 1
    if any(map(batch_of, jury_named())) and number > FEW_ROUNDS:
        yield (
            f"provider batches wait for one another: {number:,} rounds, at least a batch each; podium/ring plays all "
            f"battles in one round, or with until= in at most {Ring(until='order').rounds(source.field)}"
        )


def _prompt_length(responses: Responses, source: TournamentSource, how: Judging) -> float:
    """Return the mean length of some prompts, characters; a checklist that is not written yet counts nothing."""
    if how.realization.template is None:
        return 0.0
    deck, pairings = Deck(responses), source.first.pairings
    drawn = deck.deal_battles(pairings[:: max(1, len(pairings) // PROMPTS_BUILT)], 1)
    plain = replace(how, settings=replace(how.settings, checklist=False))
    sides = ("response_a", "response_b")[: 2 if how.is_pairwise else 1]
    battles = [sample.metadata or {} for sample in drawn]
    prompts = [plain.prompt(texts_of(battle, tuple(battle[side] for side in sides))) for battle in battles]
    return sum(map(len, prompts)) / max(len(prompts), 1)


def _split_names(names: str | Sequence[str]) -> list[str]:
    """Return names that Inspect passes as a list, or as one text with commas."""
    stripped = (str(name).strip() for name in (names.split(",") if isinstance(names, str) else names))
    return [name for name in stripped if name]
