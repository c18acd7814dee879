"""Ring: on each item the models form a random circle, and each plays its two neighbours."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, takewhile
from typing import ClassVar, Literal, get_args

import numpy as np

from podium.data.ladder import Ladder
from podium.data.pairings import OVER, Field, NextRound, Pairing, Round, pairing
from podium.errors import UsageError, unknown_name_error
from podium.rankers.given_ratings import Ratings, read_ladder
from podium.tournaments.between_rounds import matchups_in, refuse_unrated
from podium.tournaments.schedule import schedule_pairings
from podium.tournaments.selection import draw_items, generator, order_of_visits, ranked_before
from podium.tournaments.stopping import Progress, Stopping, look_summary
from podium.wording import quantity

Opponents = Literal["open", "field"]
THINNING = 3
"""Groups meet other models on this many times fewer items than if all pairs met equally often."""
TRIES = 8
"""Number of random circles that are drawn for an item on which pairs have met before.

The circle with the fewest such pairs is played.
"""
Met = set[tuple[int, int]]
"""Pairs (shown first, shown second) that were played on one item, by position of the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring(Stopping):
    """Play a random circle of the models on each item: M battles for M models, one call each.

    Each model is shown first against one neighbour and second against the other, so that position
    bias cancels within the item. Every pair meets on some items, and no anchor is chosen. A pair
    that meets again on an item plays in the other order.

    With `until` it is played in rounds of 40, 80, 160 ... item visits; after each, models whose
    pairs are all settled leave. Groups of models with open pairs play circles of their own, and
    meet another model on some items. Decisions must hold with pairs weighted as in a round robin,
    too: the judge need not be transitive. With `opponents=open`, groups play circles only, for
    fewer calls; decisions are then about the pairs that were played.

    Newcomers can join a ranking. Its models are named in `rated`, and their battles are in
    `played` from the start; or they are rated in `ratings`, with Gaussian errors. Each newcomer
    meets two random others on an item. The ranked models do not meet again. `order` is then about
    pairs with a newcomer, and `error:X` about the newcomers.

    Attributes:
        passes: how often an item is visited at most, with `until`.
        opponents: whom the models that play on meet: also the other models (`field`), or only
            models of their own group (`open`).
        rated: models that were ranked before, as a sequence or with commas.
        ratings: known Elo of models, instead of `rated`: `NAME:1612+-25` with commas (the number
            is a standard error, 0 is exact), a mapping of names to (1612, 25), or a .csv (model,
            rating, se) or ranking's .json file.
    """

    shows_first: ClassVar = True
    """Whether its pairings fix which response is shown first."""

    passes: int = 2
    opponents: Opponents = "field"
    rated: str | Sequence[str] = ()
    ratings: Ratings | None = None

    def __post_init__(self) -> None:
        """Read `ratings`, and raise UsageError for an impossible value of an option."""
        Stopping.__post_init__(self)
        if self.ratings is not None:
            object.__setattr__(self, "ratings", read_ladder(self.ratings))
        if self.passes < 1:
            raise UsageError(f"passes={self.passes}: give a number of visits, 1 or more")
        if self.opponents not in get_args(Opponents):
            raise unknown_name_error("choice for opponents", self.opponents, get_args(Opponents))

    def next(self, field: Field, played: Sequence[Round]) -> NextRound:
        """Return the circles up to the next look; without `until`, those of all items.

        If newcomers join a ranking, their battles take the place of circles.

        Raises:
            UsageError: `rated` or `ratings` do not fit the models of the field. With `until`,
                also if there are too few items or models for the question, or if a model of the
                ranking has neither a rating nor a readable battle.
        """
        order = order_of_visits(field, self.items, self.seed)
        if not self.until:
            group = self._positions(field, self.newcomers(field) or field.models)
            battles = self._battles(field, order, [group], range(len(order)), {})
            absent = {item: len(field.absent.get(item, ())) for item in order}
            coming = schedule_pairings(
                field, battles, played, f"a random circle on each of {quantity(len(order), 'item')}"
            )
            return replace(coming, left_out=sum(absent.values()), left_out_of=absent)
        progress = self.progress_of(field, played)
        if progress.reason:
            return OVER
        return self._next_round(field, order, progress, played)

    def progress_of(self, field: Field, played: Sequence[Round]) -> Progress:
        """Return the progress of a tournament with `until` from its rounds.

        If newcomers join a ranking, the question is about them, and only they play on. Without
        `ratings`, the rounds at the start in which only models of the ranking met are its battles.
        They count in the fit, but have no look.

        Raises:
            UsageError: a model of the ranking has neither a rating nor a readable battle, or there
                are too few items or models for the question.
        """
        before = ranked_before(self, field)
        new = self.newcomers(field)
        earlier_rounds: Sequence[Round] = ()
        if new and self.ratings is None:
            earlier_rounds = tuple(takewhile(lambda round_: _is_between(round_, before), played))
        if new:
            refuse_unrated(before, matchups_in(earlier_rounds), self.ratings)
        progress = self.progress(
            field,
            order_of_visits(field, self.items, self.seed),
            played[len(earlier_rounds) :],
            passes=self.passes,
            against=new,
            earlier_rounds=earlier_rounds,
            ladder=self.ratings if isinstance(self.ratings, Ladder) else None,
            about_field=self.opponents == "field" and self.error is None and not new,
        )
        if not new:
            return progress
        playing_on = set(chain.from_iterable(progress.groups))
        newcomers = playing_on.intersection(self._positions(field, new))
        if not newcomers:
            return replace(progress, groups=())
        only_group = tuple(sorted(newcomers))
        return replace(progress, groups=(only_group,))

    def newcomers(self, field: Field) -> tuple[str, ...]:
        """Return the models that join an existing ranking; empty if there is none.

        Raises:
            UsageError: `rated` or `ratings` name other models than those of the field, or the
                ratings have none of its models.
        """
        before = ranked_before(self, field)
        if not before:
            return ()
        return tuple(name for name in sorted(field.models) if name not in before)

    def _positions(self, field: Field, names: Sequence[str]) -> tuple[int, ...]:
        """Return the positions of some models among all models, sorted by name."""
        all_names = sorted(field.models)
        return tuple(k for k, name in enumerate(all_names) if name in names)

    def size(self, field: Field) -> int:
        """Return the maximum number of battles; without `until`, each item is visited once.

        A model without a response to an item does not count there.
        """
        turns = self.passes if self.until else 1
        new = {*self.newcomers(field)}
        battles = 0
        for item in draw_items(field, self.items, self.seed):
            present = {*field.models} - field.absent.get(item, frozenset())
            if new:
                battles += 2 * turns * len(new & present)
                continue
            number = len(present)
            # A circle of two models is one battle, and no pair meets more than twice.
            battles_of_circle = number if number > 2 else number // 2
            battles += min(turns * battles_of_circle, number * (number - 1))
        return battles

    def _next_round(
        self, field: Field, order: Sequence[str], progress: Progress, played: Sequence[Round]
    ) -> NextRound:
        """Return the battles until the next look, and the next round's note.

        If no battle can be played before the next look, the battles last until a later look. If
        none can be played at all, the round has no pairings.
        """
        names = sorted(field.models)
        met = _pairs_by_item(names, played)
        planned = self.planned_looks(self.passes * len(order))
        later_looks = [number for number in planned if number > progress.visits_at_next_look]
        # After the loop, `visits` are those of the last look that was tried.
        for visits_at_look in (progress.visits_at_next_look, *later_looks):
            visits = range(progress.visits, visits_at_look)
            battles = tuple(self._battles(field, order, progress.groups, visits, met))
            if battles:
                break
        playing = set(chain.from_iterable(progress.groups))
        left_out = Counter[str]()
        for visit in visits:
            item = order[visit % len(order)]
            absent = field.absent.get(item, ())
            left_out[item] += sum(names[k] in absent for k in playing)
        playing_text = f"{len(playing)} of {len(names)}"
        note = f"{playing_text} play, {len(visits)} item visits"
        if progress.looks:
            last_look = look_summary(names, progress, self.error)
            note = f"{last_look}; {playing_text} play on for {len(visits)} more item visits"
        if not battles:
            return NextRound(battles, note)
        return NextRound(
            pairings=battles, note=note, left_out=left_out.total(), left_out_of=left_out
        )

    def _battles(
        self,
        field: Field,
        order: Sequence[str],
        groups: Sequence[Sequence[int]],
        visits: range,
        met: dict[str, Met],
    ) -> Iterator[Pairing]:
        """Yield the battles of each group on some item visits.

        Args:
            field: the models and items.
            order: the items in the order of visits.
            groups: groups of models that play on, by position.
            visits: numbers of the item visits, from 0.
            met: pairs that were played on each item; the new battles are added in place.
        """
        names = sorted(field.models)
        for visit in visits:
            turn, position = divmod(visit, len(order))
            item = order[position]
            absent = field.absent.get(item, ())
            present = [k for k, name in enumerate(names) if name not in absent]
            met_on_item = met.setdefault(item, set())
            for group in groups:
                members = group
                if field.absent:
                    members = sorted({*group} & {*present})
                for first, second in self._battles_of_group(
                    members, present, item, turn, met_on_item
                ):
                    met_on_item.add((first, second))
                    yield pairing(item, names[first], names[second], names[first])

    def _battles_of_group(
        self, group: Sequence[int], present: Sequence[int], item: str, turn: int, met: Met
    ) -> Iterator[tuple[int, int]]:
        """Yield the battles of one group on an item as positions (shown first, shown second).

        If models join a ranking, each model of the group meets two random others. With
        `opponents=field`, all of the group may instead meet one model from outside, by chance.
        Otherwise the group plays a circle.

        Args:
            group: positions of the models of the group with a response to the item. Nothing is
                yielded if it is empty.
            present: positions of all models with a response to the item. With fewer than two,
                nothing is yielded.
            item: the item.
            turn: how often the item was visited before.
            met: pairs that were played on the item before. A pair that has met in both orders is
                not played again.
        """
        if not group or len(present) < 2:
            return
        rng = generator(self.seed, "circle", item, str(turn), ",".join(map(str, group)))
        others = [k for k in present if k not in group]
        edges: list[tuple[int, int]] = []
        joins_ranking = bool(self.rated) or self.ratings is not None
        if others and joins_ranking:
            edges = _edges_to_anyone(group, present, rng)
        elif others and self.opponents == "field":
            edges = _edges_to_opponent(group, others, rng)
        # Without an opponent from outside, the group plays a circle.
        edges = edges or _best_circle(group, rng, met)
        pairs_of_circle: set[frozenset[int]] = set()
        for first, second in edges:
            battle = (first, second)
            if battle in met:
                # A pair that met before plays in the other order.
                battle = (second, first)
            has_met_in_this_order = battle in met
            meets_in_this_circle = frozenset(battle) in pairs_of_circle
            if not has_met_in_this_order and not meets_in_this_circle:
                pairs_of_circle.add(frozenset(battle))
                yield battle


def _is_between(round_: Round, names: Sequence[str]) -> bool:
    """Return whether all battles of a round are between the named models.

    A round without battles counts as one, too.
    """
    battles = (outcome.pairing for outcome in round_.outcomes)
    return all(battle.a in names and battle.b in names for battle in battles)


def _pairs_by_item(names: Sequence[str], played: Sequence[Round]) -> dict[str, Met]:
    """Return the pairs that were played on each item, by item.

    If a battle's order is unknown, the model first by name counts as the one shown first.

    Args:
        names: names of the models; pairs have their positions here.
        played: the rounds so far.
    """
    code = {name: k for k, name in enumerate(names)}
    met: dict[str, Met] = {}
    for round_ in played:
        for outcome in round_.outcomes:
            battle = outcome.pairing
            is_b_first = battle.first == battle.b
            first, second = (battle.b, battle.a) if is_b_first else (battle.a, battle.b)
            met.setdefault(battle.item, set()).add((code[first], code[second]))
    return met


def _best_circle(group: Sequence[int], rng: np.random.Generator, met: Met) -> list[tuple[int, int]]:
    """Draw random circles and return the one with the most pairs that have not met on the item.

    The battles are (shown first, shown second): each model with the next one on the circle. A
    group of two models has one battle, and a single model none. If no pair met on the item, only
    one circle is drawn.

    Args:
        group: positions of the models of the group.
        rng: random generator.
        met: pairs that were played on the item before.
    """
    if len(group) < 3:
        return list(pairwise(rng.permutation(group).tolist()))
    circles = []
    for _ in range(TRIES if met else 1):
        members = rng.permutation(group).tolist()
        next_members = [*members[1:], members[0]]
        circles.append(list(zip(members, next_members, strict=True)))

    def new_pairs(circle: list[tuple[int, int]]) -> int:
        """Return the number of pairs that have not met on the item in either order."""
        new = [(a, b) for a, b in circle if (a, b) not in met and (b, a) not in met]
        return len(new)

    return max(circles, key=new_pairs)


def _edges_to_opponent(
    group: Sequence[int], others: Sequence[int], rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Draw whether a group meets an opponent on an item, and which one.

    All models of the group then meet the same opponent, which is shown first to all or second to
    all.

    Args:
        group: positions of the models of the group.
        others: positions of the other models that may be opponents; at least one.
        rng: random generator.

    Returns:
        The battles with the opponent; empty if the group is to play a circle instead.
    """
    # A circle of n models contains a given pair with probability 2 / (n - 1), or 1 if n is 2. With
    # m others, an opponent is drawn with probability 2 m / (THINNING (2 m + max(n - 1, 2))). For
    # THINNING = 1, a model would meet each opponent as often as each model of its group. One
    # integer is drawn: `numbers_of_opponents` of the integers stand for an opponent, all others for
    # a circle.
    numbers_of_opponents = 2 * len(others)
    numbers_of_circle = max(len(group) - 1, 2)
    drawn = int(rng.integers(THINNING * (numbers_of_opponents + numbers_of_circle)))
    if drawn >= numbers_of_opponents:
        return []
    # Each other model has two of the numbers: with the even one it is shown second, with the odd
    # one first.
    opponent = others[drawn // 2]
    is_shown_first = drawn % 2 == 1
    if is_shown_first:
        return [(opponent, member) for member in group]
    return [(member, opponent) for member in group]


def _edges_to_anyone(
    group: Sequence[int], present: Sequence[int], rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Draw two random opponents for each model of a group, who may be the same.

    The model is shown first against one of them, and second against the other.

    Args:
        group: positions of the models of the group.
        present: positions of all models that may be opponents, the group included.
        rng: random generator.
    """
    edges = []
    for member in group:
        others = [k for k in present if k != member]
        edges.append((member, int(rng.choice(others))))
        edges.append((int(rng.choice(others)), member))
    return edges
