"""Anchor: all models against one model, named or chosen by a pilot, or against a few."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from podium.data.pairings import OVER, Field, NextRound, Outcome, Pairing, Round
from podium.errors import NotIdentifiedError, UsageError
from podium.rankers.informativeness import count_differences, finest_verdicts
from podium.tournaments.between_rounds import code_outcomes
from podium.tournaments.schedule import schedule_pairings
from podium.tournaments.selection import draw_items, order_of_visits, parse_model_names
from podium.tournaments.stopping import Progress, Stopping
from podium.wording import quantity

AUTO = "auto"
"""Value of the option `anchor`: a pilot chooses the anchor."""
MIN_FOR_PILOT = 3
"""Fewest models with which a pilot chooses the anchor: the anchor, and two models to compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor(Stopping):
    """Play all models against an anchor on every item: M - 1 battles an item for M models.

    With `anchor=auto` a pilot chooses the most informative model (Don-Yehiya et al. 2026, sections
    4.3 and 5.3: ten items suffice to recognise the bad anchors, which are the best and the worst
    models). The pilot is a round robin. The anchor then plays the remaining items; the pilot's
    battles count.

    Attributes:
        anchor: name of the anchor, several as a sequence or with commas, or `auto`.
        pilot: number of items of the pilot.
        until: question that ends the tournament: `order` (which models are better than the
            anchor), `topK` (the set of the best K models), or `error:X` (the mean half-width of
            the ratings' intervals is X Elo); empty to play all. The items after the pilot are
            played in blocks between looks.
    """

    anchor: str | Sequence[str] = AUTO
    pilot: int = 10

    def __post_init__(self) -> None:
        """Raise UsageError for an impossible value of an option."""
        Stopping.__post_init__(self)
        if self.pilot < 1:
            raise UsageError(f"pilot={self.pilot}: give a number of items, 1 or more")

    @staticmethod
    def variants(field: Field) -> dict[str, dict[str, str]]:
        """Return the settings that a comparison of tournaments tries, by label.

        They are `auto` (a pilot), and each model as the anchor.
        """
        return {name: {"anchor": name} for name in (AUTO, *sorted(field.models))}

    def next(self, field: Field, played: Sequence[Round]) -> NextRound:
        """Return the anchor's battles that were not played yet.

        With `auto`, these are the battles of the pilot until it has ended, and then those of the
        chosen anchor on the other items. With `until`, they are those up to the next look. Without
        it, the tournament is over after the round that follows the pilot.

        Raises:
            NotIdentifiedError: the pilot has ended, and its verdicts cannot choose an anchor.
            UsageError: an anchor is not a model of the field.
        """
        choice = self._choose_anchors(field, played)
        anchors = choice.anchors
        if not anchors:
            return schedule_pairings(field, choice.pilot.pairings, played, choice.pilot.note)
        if choice.items and len(played) > choice.rounds and not self.until:
            # The round after the pilot was played: the anchor must not be chosen again.
            return OVER
        items, last_look = self.items_to_next_look(field, played)
        note = f"all against {' and '.join(anchors)} on {quantity(len(items), 'item')}"
        if choice.items:
            items = tuple(item for item in items if item not in choice.items)
            chosen = f"{anchors[0]}, the most informative in the pilot"
            note = f"all against {chosen}, on {quantity(len(items), 'more item')}"
        pairings = pairings_against(anchors, field.models, items)
        return schedule_pairings(field, pairings, played, f"{last_look}{note}")

    def size(self, field: Field) -> int:
        """Return the number of battles; with `until` or `auto`, the largest possible number.

        With `auto`, the battles of the pilot are included.
        """
        if self._named_anchors(field):
            return Stopping.size(self, field)
        items = draw_items(field, self.items, self.seed)
        pilot_items, pilot = self._pilot_round(field)
        battles_per_item = max(len(field.models) - 1, 0)
        return len(pilot.pairings) + (len(items) - len(pilot_items)) * battles_per_item

    def rounds(self, field: Field) -> int | None:
        """Return the largest number of rounds, the pilot included; None if it is not fixed."""
        # `super()` without arguments fails in a dataclass with slots, which is a new class.
        number = super(Anchor, self).rounds(field)
        if number is None or self._named_anchors(field):
            return number
        return number + 1

    def progress_of(self, field: Field, played: Sequence[Round]) -> Progress:
        """Return the progress of a tournament with `until` from the rounds after the pilot.

        The pilot's items do not count, either: they are not in the order of visits.

        Raises:
            NotIdentifiedError: the pilot has ended, and its verdicts cannot choose an anchor.
            UsageError: an anchor is not a model of the field, or there are too few items or models
                for the question.
        """
        choice = self._choose_anchors(field, played)
        order = order_of_visits(field, self.items, self.seed)
        items_after_pilot = tuple(item for item in order if item not in choice.items)
        rounds_after_pilot = played[choice.rounds :]
        return self.progress(field, items_after_pilot, rounds_after_pilot, against=choice.anchors)

    def _choose_anchors(self, field: Field, played: Sequence[Round]) -> "_AnchorChoice":
        """Return the anchors that are named, or else the choice by the pilot so far.

        There is no choice until all battles of the pilot were played. A choice that later rounds
        show is kept.

        Raises:
            NotIdentifiedError: the pilot has ended, and its verdicts cannot choose an anchor.
            UsageError: an anchor is not a model of the field.
        """
        named = self._named_anchors(field)
        if named:
            return _AnchorChoice(named, items=frozenset(), rounds=0, pilot=OVER)
        items, pilot = self._pilot_round(field)
        rounds = _rounds_until_played(pilot.pairings, played)
        if rounds is None:
            return _AnchorChoice(anchors=(), items=items, rounds=len(played), pilot=pilot)
        # If all battles since the pilot are with one model, this model was chosen as the anchor.
        # It is not chosen again, because verdicts of the pilot may have changed since.
        later_pairs = []
        for round_ in played[rounds:]:
            for outcome in round_.outcomes:
                later_pairs.append({outcome.pairing.a, outcome.pairing.b})
        in_all_pairs: set[str] = set()
        if later_pairs:
            in_all_pairs = set.intersection(*later_pairs).intersection(field.models)
        if len(in_all_pairs) == 1:
            return _AnchorChoice(
                anchors=tuple(in_all_pairs), items=items, rounds=rounds, pilot=pilot
            )
        outcomes = [outcome for round_ in played for outcome in round_.outcomes]
        pilot_outcomes = [outcome for outcome in outcomes if outcome.pairing.item in items]
        anchor = most_informative(field.models, pilot_outcomes)
        return _AnchorChoice(anchors=(anchor,), items=items, rounds=rounds, pilot=pilot)

    def _named_anchors(self, field: Field) -> tuple[str, ...]:
        """Return the named anchors; empty if a pilot chooses the anchor.

        With fewer than three models there is no pilot, because every anchor gives the same
        battles; the first model is then the anchor.

        Raises:
            UsageError: an anchor is not a model of the field.
        """
        if self.anchor == AUTO:
            is_pilot_needed = len(field.models) >= MIN_FOR_PILOT
            return () if is_pilot_needed else field.models[:1]
        return parse_model_names(self.anchor, field.models)

    def _pilot_round(self, field: Field) -> tuple[frozenset[str], NextRound]:
        """Return the items of the pilot, and its battles: on each item, all pairs of models."""
        items = draw_items(field, self.items, self.seed)
        # Samples of one seed are nested, so these are among all items asked for.
        pilot_items = draw_items(field, min(self.pilot, len(items)), self.seed)
        candidates = f"{len(field.models)} candidates on {quantity(len(pilot_items), 'item')}"
        battles = pairings_against(field.models, field.models, pilot_items)
        pilot = schedule_pairings(field, battles, note=f"pilot: all against each of {candidates}")
        return frozenset(pilot_items), pilot


@dataclass(frozen=True, slots=True)
class _AnchorChoice:
    """The choice of the anchors.

    Attributes:
        anchors: names of the anchors; empty until the pilot has ended.
        items: items of the pilot; empty if the anchors are named.
        rounds: number of rounds up to the end of the pilot, or of all rounds so far if it has not
            ended; 0 if the anchors are named.
        pilot: battles of the pilot; none if the anchors are named.
    """

    anchors: tuple[str, ...]
    items: frozenset[str]
    rounds: int
    pilot: NextRound


def _rounds_until_played(pairings: Sequence[Pairing], played: Sequence[Round]) -> int | None:
    """Return the number of rounds after which all these pairings were played.

    The result is None if some were not played in any round, and if there are no rounds.
    """
    waiting = set(pairings)
    for number, round_ in enumerate(played, start=1):
        waiting -= {outcome.pairing for outcome in round_.outcomes}
        if not waiting:
            return number
    return None


def pairings_against(
    anchors: Collection[str], models: Sequence[str], items: Sequence[str]
) -> Iterator[Pairing]:
    """Yield the pairings of all models with each anchor, item after item.

    Two anchors meet once per item.
    """
    all_pairs = combinations(sorted(models), 2)
    pairs = [(a, b) for a, b in all_pairs if a in anchors or b in anchors]
    return (Pairing(item, a, b) for item in items for a, b in pairs)


def most_informative(models: Sequence[str], outcomes: Sequence[Outcome]) -> str:
    """Return the model against which verdicts on two others differ most often.

    Of models with the same share, the one with more comparisons is returned, then the first by
    name.

    Raises:
        NotIdentifiedError: no item has readable verdicts of two models against a third.
    """
    shares_and_numbers = informativeness_of(models, outcomes)
    compared = {}
    for name in sorted(models):
        share, number_compared = shares_and_numbers[name]
        if number_compared:
            compared[name] = (share, number_compared)
    if not compared:
        raise NotIdentifiedError(
            f"the {quantity(len(outcomes), 'battle')} of the pilot cannot choose an anchor: no "
            "item has readable verdicts of two models against a third; name the anchor, or play a "
            "larger pilot"
        )
    return max(compared, key=lambda name: compared[name])


def informativeness_of(
    models: Sequence[str], outcomes: Sequence[Outcome]
) -> dict[str, tuple[float, float]]:
    """Return how often verdicts on two others differ with each model as the anchor.

    On each item, a model's verdict is the mean over its battles against the anchor. Verdicts are
    compared by their margins if every battle has one and the margins have at most 21 different
    sizes, else by their credits if these have no more sizes, else by who won by the credits.
    Unparsed battles are left out. Source: Don-Yehiya et al. 2026, section 4.3.

    Returns:
        By name of the model: the share of pairs of other models whose verdicts against it differ,
        0 if there are none, and the number of pairs that were compared. A pair counts once for
        each item.
    """
    readable = [outcome for outcome in outcomes if outcome.credit is not None]
    if not readable:
        return dict.fromkeys(models, (0.0, 0.0))
    coded = code_outcomes(readable, models)
    # A margin that is None becomes NaN.
    margins = np.array([outcome.margin for outcome in readable], dtype=np.float64)
    verdicts = finest_verdicts(margins, coded.credit)
    if verdicts is None:
        # Credits from 0 to 1 become margins from -1 to 1, of which only the sign counts.
        differences = count_differences(coded, 2 * coded.credit - 1, np.sign)
    else:
        differences = count_differences(coded, verdicts)
    differing = differences.differing.sum(axis=0)
    compared = differences.compared.sum(axis=0)
    shares = differing / np.maximum(compared, 1)
    shares_and_numbers = {}
    for name, share, number in zip(models, shares, compared, strict=True):
        shares_and_numbers[name] = (float(share), float(number))
    return shares_and_numbers
