"""SWIM: models join one by one and meet opponents of ever nearer rating, as in a binary search."""

from collections.abc import Sequence
from dataclasses import dataclass

from podium.data.ladder import Ladder
from podium.data.pairings import OVER, Field, NextRound, Round, pairing
from podium.errors import UsageError
from podium.rankers.given_ratings import Ratings, read_ladder
from podium.tournaments.between_rounds import (
    Matchups,
    matchups_in,
    opponents_of,
    refuse_unrated,
    strengths_of_matchups,
)
from podium.tournaments.schedule import schedule_pairings
from podium.tournaments.selection import draw_items, generator, parse_model_names, ranked_before

DISTANCE_DECIMALS = 9
"""Decimals to which distances in logits are rounded before they are compared.

Of models at the same distance, the first by name is taken as the nearest.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swim:
    """Play the Swiss-Wise Iterative Matchmaking tournament (Xu et al. 2025, Algorithm 1).

    Models join in random order. A model that joins s others plays ceil(max(log2 s, 1)) of them on
    every item: the first at random, then, one at a time, the nearest in rating that it has not
    met. Ratings are a Bradley-Terry fit (lambda 0.01) to all battles so far. Seven models make 12
    pairs, twenty make 65. Models without a common item do not meet.

    Newcomers join a ranking whose models are named in `rated`, with their battles in `played` from
    the start, or rated in `ratings`, which then join the fit as in the final ranking.

    Attributes:
        seed: seed of the order, of the first opponents and of the draw of items.
        items: number of items, drawn at random; all by default.
        order: order in which models join, without those of `rated`; random by default.
        rated: models that were ranked before, as a sequence or with commas.
        ratings: known Elo of models, instead of `rated`: `NAME:1612+-25` with commas (the number
            is a standard error, 0 is exact), a mapping of names to (1612, 25), or a .csv (model,
            rating, se) or ranking's .json file.
        until: not supported: SWIM plays a pair on all items before the next, so it cannot stop
            earlier.
    """

    seed: int = 0
    items: int | None = None
    order: str | Sequence[str] | None = None
    rated: str | Sequence[str] = ()
    ratings: Ratings | None = None
    until: str = ""

    def __post_init__(self) -> None:
        """Read `ratings`, and raise UsageError if `until` is given."""
        if self.ratings is not None:
            object.__setattr__(self, "ratings", read_ladder(self.ratings))
        if self.until:
            why = "swim plays a pair on all items before the next, so it cannot stop earlier"
            raise UsageError(f"until={self.until}: {why}; play ring (podium/ring), which can")

    def next(self, field: Field, played: Sequence[Round]) -> NextRound:
        """Return the battles of the next pair, a newcomer and an opponent, on every item.

        A newcomer meets its opponents one after the other, before the next newcomer joins.

        Raises:
            UsageError: a model ranked before has neither a rating nor a readable battle.
            UsageError: `rated`, `ratings` or `order` do not fit the models of the field.
        """
        matchups = matchups_in(played)
        before = ranked_before(self, field)
        refuse_unrated(before, matchups, self.ratings)
        items = draw_items(field, self.items, self.seed)
        order = self._order_of_joining(field, before)
        for position in range(max(len(before), 1), len(order)):
            newcomer = order[position]
            ranked = order[:position]
            playable = [name for name in ranked if _can_meet(field, items, newcomer, name)]
            opponents_met = opponents_of(newcomer, matchups) & set(ranked)
            number = opponent_count(position)
            if len(opponents_met) >= min(number, len(playable)):
                # This newcomer has met all its opponents.
                continue
            candidates = [name for name in playable if name not in opponents_met]
            if not opponents_met:
                opponent = self._random_opponent(ranked, candidates)
                rule_of_choice = "at random"
            else:
                opponent = self._nearest_opponent(order[: position + 1], candidates, matchups)
                rule_of_choice = "nearest"
            opponent_text = f"opponent {len(opponents_met) + 1} of {number}"
            note = f"{newcomer} joins {position}: {opponent_text}, {rule_of_choice}: {opponent}"
            pairings = (pairing(item, newcomer, opponent) for item in items)
            return schedule_pairings(field, pairings, played, note)
        return OVER

    def _random_opponent(self, ranked: Sequence[str], candidates: Sequence[str]) -> str:
        """Return the first candidate in a random order of the ranked models."""
        names = sorted(ranked)
        rng = generator(self.seed, "first opponent", str(len(ranked)))
        in_random_order = (names[k] for k in rng.permutation(len(names)))
        return next(name for name in in_random_order if name in candidates)

    def _nearest_opponent(
        self, models: Sequence[str], candidates: Sequence[str], matchups: Matchups
    ) -> str:
        """Return the candidate that is nearest in rating to a newcomer.

        Args:
            models: names of the models whose ratings are fitted; the newcomer is the last one.
            candidates: names of the possible opponents.
            matchups: credits of the rounds so far, by pair.
        """
        newcomer = models[-1]
        ladder = self.ratings if isinstance(self.ratings, Ladder) else None
        strengths = strengths_of_matchups(matchups, models, ladder)

        def distance(name: str) -> tuple[float, str]:
            """Return the distance from the newcomer in logits, then the name to break ties."""
            return round(abs(strengths[name] - strengths[newcomer]), DISTANCE_DECIMALS), name

        return min(candidates, key=distance)

    def size(self, field: Field) -> int:
        """Return the number of battles, if no response is absent."""
        return self.rounds(field) * len(draw_items(field, self.items, self.seed))

    def rounds(self, field: Field) -> int:
        """Return the number of rounds: one for each pair of a newcomer and an opponent."""
        start = max(len(ranked_before(self, field)), 1)
        return sum(opponent_count(ranked) for ranked in range(start, len(field.models)))

    def _order_of_joining(self, field: Field, before: Sequence[str]) -> tuple[str, ...]:
        """Return all models: first those ranked before, then newcomers in the order of joining.

        Raises:
            UsageError: the option `order` does not name each newcomer once, and no other model.
        """
        new = sorted(set(field.models) - set(before))
        if self.order is None:
            drawn = generator(self.seed, "order").permutation(len(new))
            return (*before, *(new[k] for k in drawn))
        order = parse_model_names(self.order, field.models)
        if sorted(order) != new:
            raise UsageError(f"order={','.join(order)}: name each of these once: {', '.join(new)}")
        return (*before, *order)


def _can_meet(field: Field, items: Sequence[str], a: str, b: str) -> bool:
    """Return whether two models have responses to a common item."""
    return any(field.can_play(item, a, b) for item in items)


def opponent_count(ranked: int) -> int:
    """Return ceil(max(log2 s, 1)): how many of s ranked models a newcomer meets."""
    # The number of bits of s - 1 is ceil(log2 s), without rounding.
    return max((ranked - 1).bit_length(), 1)
