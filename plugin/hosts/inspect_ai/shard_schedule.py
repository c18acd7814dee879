"""What one process plays of a tournament that is split into shards."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai.dataset import Sample

from podium.errors import UsageError
from podium.hosts.inspect_ai.log_contents import ShardMetadata
from podium.hosts.inspect_ai.round_samples import announce_round
from podium.responses.collection import Responses
from podium.tournaments.schedule import NextRound, Round
from podium.tournaments.shards import Part, read_shard, refuse_undividable

REMOVED_OPTIONS = ("look", "played")
"""Options that played a tournament with `until=` in shards; there are none now."""


@dataclass(frozen=True, slots=True)
class ShardSchedule:
    """What one run plays of a tournament."""

    rule: Part
    opening: tuple[Sample, ...]
    metadata: ShardMetadata
    summary: str


def build_shard_schedule(
    name: str, rule: Any, competing: Responses, shard: str, before: Sequence[Round] = (), seed: int = 0
) -> ShardSchedule:
    """Return what a shard plays."""
    field, own = competing.field(), read_shard(shard)
    refuse_undividable(name, getattr(rule, "rule", rule), field, own)
    coming = rule.next(field, before)
    part = own.part_of(coming, own.items_of(field, seed))
    whole, mine = competing.in_all_responses(coming), competing.in_all_responses(part)
    opening = [announce_round(NextRound((), f"no battle for shard {own}"), 1)] * bool(coming.pairings)
    metadata = ShardMetadata(number=own.number, of=own.of, battles=len(whole.pairings), left_out=whole.left_out)
    summary = f"shard {own}: {len(mine.pairings):,} of {len(whole.pairings):,} battles"
    return ShardSchedule(Part(part, len(before)), tuple(opening), metadata, summary)


def refuse_removed_options(options: dict[str, Any]) -> None:
    """Raise UsageError for options of interim analyses in shards, and name what replaces them."""
    given = [f"{name}={options[name]}" for name in REMOVED_OPTIONS if name in options]
    if given:
        raise UsageError(
            f"{', '.join(given)}: shards have no interim analyses any more. A tournament with until= runs in one "
            "process: leave out look=, played= and shard=. To play in shards, leave out until= and keep shard=k/n"
        )
