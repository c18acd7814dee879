"""Parts of a tournament: as many battles as a limit allows, or the items of one shard.

A shard is a part of the items that is played in a process of its own.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from podium.data.pairings import OVER, Field, NextRound, Round, pairings_on_items
from podium.errors import UsageError
from podium.tournaments.recorded import Recorded
from podium.tournaments.schedule import TournamentRule
from podium.tournaments.selection import order_of_visits
from podium.tournaments.stopping import Stopping
from podium.wording import quantity, word_for

SHARD = re.compile(r"(?P<number>[1-9]\d*)/(?P<of>[1-9]\d*)")
"""Matches `k/n` with positive integers, for example `1/4`."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Play a tournament until a number of battles is used up.

    Attributes:
        rule: the tournament.
        max_battles: the largest number of battles, 1 or more.
    """

    rule: TournamentRule
    max_battles: int

    def __post_init__(self) -> None:
        """Raise UsageError for a limit below 1."""
        if self.max_battles < 1:
            raise UsageError(f"max_battles={self.max_battles}: give a number of battles, 1 or more")

    def next(self, field: Field, played: Sequence[Round]) -> NextRound:
        """Return the battles that the tournament plays next, cut to what is left of the limit."""
        battles_left = self.max_battles - sum(len(round_.outcomes) for round_ in played)
        coming = self.rule.next(field, played)
        if len(coming.pairings) <= battles_left:
            return coming
        return replace(coming, pairings=coming.pairings[: max(battles_left, 0)])

    def size(self, field: Field) -> int:
        """Return the largest number of battles of the tournament, at most the limit."""
        return min(self.rule.size(field), self.max_battles)


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several parts of a tournament.

    Attributes:
        number: number of this part, from 1.
        of: number of parts.
    """

    number: int = 1
    of: int = 1

    def __str__(self) -> str:
        """Return the shard as users type it, such as `1/4`."""
        return f"{self.number}/{self.of}"

    def items_of(self, field: Field, seed: int) -> frozenset[str]:
        """Return the items of this shard: every `of`-th of all items in their order of visits."""
        all_items = order_of_visits(field, number=None, seed=seed)
        return frozenset(all_items[self.number - 1 :: self.of])

    def part_of(self, coming: NextRound, items: Collection[str]) -> NextRound:
        """Return the battles of a round that this shard plays, with the note of the round.

        The number of battles that the round leaves out, because responses are absent, is divided
        evenly between the shards, whatever their items.

        Args:
            coming: the round of the whole tournament.
            items: the items of this shard.
        """
        pairings = pairings_on_items(coming.pairings, items)
        left_out_before = coming.left_out * (self.number - 1) // self.of
        left_out_so_far = coming.left_out * self.number // self.of
        # By item, battles are those of the shard's items: the shards together have them all.
        left_out_of = {item: n for item, n in coming.left_out_of.items() if item in items}
        return NextRound(pairings, coming.note, left_out_so_far - left_out_before, left_out_of)


def read_shard(text: str) -> Shard:
    """Parse the shard `k/n`.

    Raises:
        UsageError: it is not of this form, or k is not from 1 to n.
    """
    match = SHARD.fullmatch(str(text).strip())
    if match is None or int(match["number"]) > int(match["of"]):
        raise UsageError(
            f"shard={text}: write k/n with k from 1 to n, as 1/4, 2/4, 3/4 and 4/4 for four shards"
        )
    return Shard(number=int(match["number"]), of=int(match["of"]))


def refuse_undividable(name: str, rule: Any, field: Field, shard: Shard) -> None:
    """Raise UsageError if a tournament cannot be divided into shards.

    Battles on an item must not depend on verdicts on other items, and each shard needs an item. So
    tournaments that choose opponents by verdicts, a pilot that chooses the anchor, `until`, and
    more shards than items are refused.

    Args:
        name: name of the tournament.
        rule: the tournament; its option `items`, if it is given, is 1 or more.
        field: the models and items.
        shard: the shard that was asked for.
    """
    remedy = "play podium/ring, which can be divided"
    if not isinstance(rule, Stopping | Recorded):
        raise UsageError(
            f"shard={shard}: {name} chooses opponents by the verdicts on all items; {remedy}"
        )
    if getattr(rule, "anchor", "") == "auto":
        raise UsageError(
            f"shard={shard}: the pilot of anchor=auto needs the verdicts on all its items; play "
            "the pilot first (-T items=11 -T pilot=10, without shards, names the anchor), then "
            f"-T anchor=NAME in shards; or {remedy}"
        )
    until = getattr(rule, "until", None)
    if until:
        raise UsageError(
            f"shard={shard}: until={until} decides by the verdicts of all shards; leave out "
            "shard= and play it in one process, or leave out until= and play the whole schedule "
            "in shards"
        )
    items = min(getattr(rule, "items", None) or len(field.items), len(field.items))
    if shard.of > items:
        raise UsageError(
            f"shard={shard}: there {word_for(items, 'is', 'are')} {quantity(items, 'item')}; make "
            f"at most {quantity(items, 'shard')}"
        )


@dataclass(frozen=True, slots=True)
class Part:
    """A tournament with one round, which is known in advance.

    Attributes:
        coming: the round.
    """

    coming: NextRound

    def next(self, field: Field, played: Sequence[Round]) -> NextRound:  # noqa: ARG002
        """Return the round; no battles if it was played."""
        return OVER if played else self.coming

    def rounds(self, field: Field) -> int:  # noqa: ARG002
        """Return 1, the number of rounds."""
        return 1

    def size(self, field: Field) -> int:  # noqa: ARG002
        """Return the number of battles of the round."""
        return len(self.coming.pairings)
