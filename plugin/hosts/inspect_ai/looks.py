"""A tournament in parts: what this run plays of it, by its shard and by the logs of the looks before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.model import model_roles
from inspect_ai.model._model_config import model_roles_to_model_roles_config

from podium.errors import UsageError
from podium.formats.runs import FiledRun
from podium.hosts.inspect_ai.folders import find_logs
from podium.hosts.inspect_ai.judge import roles_are_known
from podium.hosts.inspect_ai.log_format import ROUND
from podium.hosts.inspect_ai.logs import samples_of
from podium.hosts.inspect_ai.plans import difference_of, digest_of, part_in, plan_in
from podium.hosts.inspect_ai.source import announcement, closing_sample, outcomes_of
from podium.responses.collection import Responses
from podium.text import some
from podium.tournaments.claims import answer_of
from podium.tournaments.schedule import NextRound, Outcome, Pairing, Round, merge_responses
from podium.tournaments.shards import Part, Shard, read_shard, refuse_undividable, rounds_on_record


@dataclass(frozen=True, slots=True)
class OwnPart:
    """What one run plays of a tournament.

    Attributes:
        rule: plays it.
        given: the rounds before it.
        opening: the sample that stands for it where it has no battles.
        number: of the round among all, from 1.
        about: what its log says of it; see `log_format.SHARD`.
        said: for humans: what was found so far, and how much of it is played here.
    """

    rule: Part
    given: tuple[Round, ...]
    opening: tuple[Sample, ...]
    number: int
    about: dict[str, Any]
    said: tuple[str, ...]


def own_part(
    name: str,
    rule: Any,
    competing: Responses,
    *,
    plan: Mapping[str, Any],
    shard: str | None,
    look: int | None,
    played: str | Sequence[str] | None,
    before: Sequence[Round] = (),
    seed: int = 0,
    calls: int = 1,
) -> OwnPart:
    """Return what a shard plays: all its battles, or those up to a look.

    Args:
        name: of the tournament.
        rule: the tournament, with its budget.
        plan: of it, by which its logs are known.
        played: where the logs of the looks before this one are.
        before: rounds that were played before the tournament.
        calls: of each judge for a battle.

    Raises:
        UsageError: it cannot be divided so, or the looks before it are not there as a whole.
    """
    if played and look is None:
        raise UsageError(f"played={played} belongs to look=: it is where the logs of the looks before it are")
    if look is not None and look < 1:
        raise UsageError(f"look={look}: looks are counted from 1")
    inner, field, own = getattr(rule, "rule", rule), competing.field(), read_shard(shard or "1/1")
    refuse_undividable(name, inner, field, own, look)
    done = _looks_before(look or 1, played, plan, own)
    about = part_in(done[-1][0].header) if done else {"battles": 0, "left_out": 0}
    given = rounds_on_record(rule, field, before, [_outcomes_in(logs) for logs in done])
    coming = rule.next(field, given)
    part = own.part_of(coming, own.items_of(field, seed))
    whole, mine = competing.in_all_responses(coming), competing.in_all_responses(part)
    opening = [announcement(NextRound((), f"no battle for shard {own}"), 1)] * bool(coming.pairings)
    at = f", look {look}" if look else ""
    said = [coming.note] * bool(done)
    said.append(f"shard {own}{at}: {len(mine.pairings):,} of {len(whole.pairings):,} battles")
    answer = None if coming.pairings else answer_of(rule, field, given)
    if answer is not None:
        answer = replace(answer, calls=about["battles"] * calls)
        opening, said = [closing_sample(answer, 1)], [*answer.claims]
    kept = {"number": own.number, "of": own.of, "look": look, "over": answer is not None}
    kept |= {"battles": about["battles"] + len(whole.pairings), "left_out": about["left_out"] + whole.left_out}
    return OwnPart(Part(part, len(given)), given, tuple(opening), len(done) + 1, kept, tuple(said))


def known_judges() -> dict[str, Any]:
    """Return the configurations of the models by role, where they are known already."""
    return (model_roles_to_model_roles_config(model_roles()) or {}) if roles_are_known() else {}


def _looks_before(
    look: int, played: str | Sequence[str] | None, plan: Mapping[str, Any], own: Shard
) -> list[list[FiledRun]]:
    """Return the logs of the looks before one, all shards of each.

    Raises:
        UsageError: one is not there, or did not end, or was cut.
    """
    if look == 1:
        return []
    if not played:
        raise UsageError(f"look={look} goes on from the looks before it: name the folder of their logs, -T played=LOGS")
    sources = [played] if isinstance(played, str) else list(played)
    parts = [(log, part_in(log.header)) for log in find_logs(sources)]
    divided = [log for log, part in parts if part]
    ours = {(part["look"], part["number"]): log for log, part in parts if part and not _foreign(log, plan, own)}
    end = min((number for (number, _), log in ours.items() if part_in(log.header)["over"]), default=look)
    look = min(look, end)
    lacking = []
    if len({digest_of(plan_in(log.header)) for log in ours.values()}) > 1:
        lacking.append("its logs are of several judges: give each a folder of its own")
    for number in range(1, look):
        for k in range(1, own.of + 1):
            log = ours.get((number, k))
            if log is None:
                lacking.append(f"shard {k}/{own.of} of look {number} is not there")
            elif log.header.status != "success":
                lacking.append(f"shard {k}/{own.of} of look {number} did not end: inspect eval-retry {log.path}")
    if lacking:
        others = {f"{log.path} is left out ({why})" for log in divided if (why := _foreign(log, plan, own))}
        raise UsageError(f"look={look}, played={some(sources)}: {some([*lacking, *sorted(others)], '; ', most=4)}")
    return [[ours[number, k] for k in range(1, own.of + 1)] for number in range(1, look)]


def _foreign(log: FiledRun, plan: Mapping[str, Any], own: Shard) -> str:
    """Say why a log is no part of this plan; nothing where it is one."""
    theirs, shards, config = plan_in(log.header), part_in(log.header)["of"], log.header.eval.config
    # Made in Python, a task does not know its judge yet.
    names = difference_of(plan if plan["judges"] else {**plan, "judges": theirs["judges"]}, theirs)
    if names:
        return f"another plan: {names}"
    if shards != own.of:
        return f"{shards} shards, not {own.of}"
    return "cut by --limit or --sample-id" if config.limit or config.sample_id else ""


def _outcomes_in(logs: Sequence[FiledRun]) -> dict[Pairing, Outcome]:
    """Return how the battles of a look ended, one of each item and pair."""
    battles = [sample for log in logs for sample in samples_of(log.path) if ROUND not in sample.metadata]
    ended = {outcome.pairing: outcome for sample in battles for outcome in outcomes_of(sample)}
    return {outcome.pairing: outcome for outcome in merge_responses(tuple(ended.values()))}
