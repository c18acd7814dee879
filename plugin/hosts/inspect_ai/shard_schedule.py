"""What one process plays of a tournament that is divided into shards."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai.dataset import Sample

from podium.errors import UsageError
from podium.hosts.inspect_ai.round_samples import announcement
from podium.responses.collection import Responses
from podium.tournaments.schedule import NextRound, Round
from podium.tournaments.shards import Part, read_shard, refuse_undividable

REMOVED_OPTIONS = ("look", "played")
"""Options of shards with `until=`, which are no longer played."""


@dataclass(frozen=True, slots=True)
class OwnShard:
    """What one run plays of a tournament.

    Attributes:
        rule: schedules the battles of this shard, in one round.
        opening: the sample that takes the place of the round if this shard has no battles.
        about: what the log says of the shard; see `log_contents.SHARD`.
        said: how many battles are played here, for the user.
    """

    rule: Part
    opening: tuple[Sample, ...]
    about: dict[str, int]
    said: str


def own_shard(
    name: str, rule: Any, competing: Responses, shard: str, before: Sequence[Round] = (), seed: int = 0
) -> OwnShard:
    """Return what a shard plays.

    Args:
        name: of the tournament.
        rule: the tournament, with its budget.
        shard: `k/n`.
        before: rounds that were played before the tournament.
        seed: of the order of items, by which they are divided.

    Raises:
        UsageError: `shard` is not k/n, or the tournament cannot be divided so.
    """
    field, own = competing.field(), read_shard(shard)
    refuse_undividable(name, getattr(rule, "rule", rule), field, own)
    coming = rule.next(field, before)
    part = own.part_of(coming, own.items_of(field, seed))
    whole, mine = competing.in_all_responses(coming), competing.in_all_responses(part)
    opening = [announcement(NextRound((), f"no battle for shard {own}"), 1)] * bool(coming.pairings)
    about = {"number": own.number, "of": own.of, "battles": len(whole.pairings), "left_out": whole.left_out}
    said = f"shard {own}: {len(mine.pairings):,} of {len(whole.pairings):,} battles"
    return OwnShard(Part(part, len(before)), tuple(opening), about, said)


def refuse_removed_options(options: dict[str, Any]) -> None:
    """Refuse the options that played a tournament with `until=` in shards.

    Raises:
        UsageError: one of them is given.
    """
    given = [f"{name}={options[name]}" for name in REMOVED_OPTIONS if name in options]
    if given:
        raise UsageError(
            f"{', '.join(given)}: shards are not played a look at a time any more; a tournament with until= runs in "
            "one process, which goes from look to look: leave out look=, played= and shard=, or leave out until= and "
            "play shard=k/n"
        )
