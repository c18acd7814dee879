"""Anchor: all models against one model, named or chosen by a pilot, or against a few."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from operator import or_

import numpy as np

from podium.data.pairings import OVER, Field, NextRound, Outcome, Pairing, Round
from podium.errors import NotIdentifiedError, UsageError
from podium.rankers.informativeness import count_differences, finest_verdicts
from podium.tournaments.between_rounds import code_outcomes
from podium.tournaments.schedule import schedule_pairings
from podium.tournaments.selection import draw_items, order_of_visits, parse_model_names
from podium.tournaments.stopping import Progress, Stopping

AUTO = "auto"
MIN_FOR_PILOT = 3
"""The fewest models for a pilot: an anchor, and two to compare."""


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
        until: as in `Stopping`; the items after the pilot are played in blocks between looks, and
            `order` compares each model with the anchor.
    """

    anchor: str | Sequence[str] = AUTO
    pilot: int = 10

    def __post_init__(self) -> None:
        Stopping.__post_init__(self)
        if self.pilot < 1:
            raise UsageError(f"pilot={self.pilot}: give a number of items, 1 or more")

    @staticmethod
    def variants(field: Field) -> dict[str, dict[str, str]]:
        """Return settings by label for a comparison of tournaments: a pilot, and each model as the
        anchor."""
        return {name: {"anchor": name} for name in (AUTO, *sorted(field.models))}

    def next(self, field: Field, played: Sequence[Round]) -> NextRound:
        """Return the anchor's battles that were not played yet; with `auto`, those of the pilot
        first."""
        anchors, tried, rounds, pilot = self._choose(field, played)
        if not anchors:
            return schedule_pairings(field, pilot.pairings, played, pilot.note)
        if tried and len(played) > rounds and not self.until:
            # The round after the pilot was played: the anchor must not be chosen again.
            return OVER
        items, last_look = self.items_to_next_look(field, played)
        note = f"{last_look}all against {' and '.join(anchors)} on {len(items)} items"
        if tried:
            items = tuple(item for item in items if item not in tried)
            note = f"{last_look}all against {anchors[0]}, the most informative in the pilot, on {len(items)} more items"
        return schedule_pairings(
            field, pairings_against(anchors, field.models, items), played, note
        )

    def size(self, field: Field) -> int:
        """Return the number of battles; with `auto`, the maximum."""
        if self._anchors(field):
            return Stopping.size(self, field)
        items = draw_items(field, self.items, self.seed)
        tried, pilot = self._pilot(field)
        return len(pilot.pairings) + (len(items) - len(tried)) * max(len(field.models) - 1, 0)

    def rounds(self, field: Field) -> int | None:
        """Return the maximum number of rounds, the pilot's included; None if it is not fixed."""
        own = super(Anchor, self).rounds(field)
        return own if own is None or self._anchors(field) else own + 1

    def progress_of(self, field: Field, played: Sequence[Round]) -> Progress:
        """Return the progress with `until`; the pilot's items do not count."""
        anchors, tried, rounds, _ = self._choose(field, played)
        rest = tuple(
            item for item in order_of_visits(field, self.items, self.seed) if item not in tried
        )
        return self.progress(field, rest, played[rounds:], against=anchors)

    def _choose(
        self, field: Field, played: Sequence[Round]
    ) -> tuple[tuple[str, ...], frozenset[str], int, NextRound]:
        """Return the anchors, empty until the pilot has ended, and the pilot's items, rounds so far
        and battles."""
        if named := self._anchors(field):
            return named, frozenset(), 0, OVER
        tried, pilot = self._pilot(field)
        done = accumulate(({own.pairing for own in each.outcomes} for each in played), or_)
        rounds = next(
            (number for number, own in enumerate(done, start=1) if own >= {*pilot.pairings}), None
        )
        if rounds is None:
            return (), tried, len(played), pilot
        # The model that all have met since the pilot, if there is one, was chosen before.
        later = [
            {own.pairing.a, own.pairing.b} for done in played[rounds:] for own in done.outcomes
        ]
        chosen = set(field.models).intersection(*later) if later else set()
        if len(chosen) != 1:
            outcomes = [
                outcome
                for done in played
                for outcome in done.outcomes
                if outcome.pairing.item in tried
            ]
            chosen = {most_informative(field.models, outcomes)}
        return tuple(chosen), tried, rounds, pilot

    def _anchors(self, field: Field) -> tuple[str, ...]:
        """Return the named anchors; empty if a pilot chooses. Of two models, either gives the same
        battles."""
        if self.anchor == AUTO:
            return field.models[:1] if len(field.models) < MIN_FOR_PILOT else ()
        return parse_model_names(self.anchor, field.models)

    def _pilot(self, field: Field) -> tuple[frozenset[str], NextRound]:
        """Return the items of the pilot, and its battles."""
        items = draw_items(field, self.items, self.seed)
        # Samples of one seed are nested, so these are among all items asked for.
        tried = draw_items(field, min(self.pilot, len(items)), self.seed)
        note = f"pilot: all against each of {len(field.models)} candidates on {len(tried)} items"
        battles = pairings_against(field.models, field.models, tried)
        return frozenset(tried), schedule_pairings(field, battles, note=note)


def pairings_against(
    anchors: Collection[str], models: Sequence[str], items: Sequence[str]
) -> Iterator[Pairing]:
    """Yield the pairings of all models with each anchor, item after item; two anchors meet once per
    item."""
    pairs = [
        pair for pair in combinations(sorted(models), 2) if any(name in anchors for name in pair)
    ]
    return (Pairing(item, *pair) for item in items for pair in pairs)


def most_informative(models: Sequence[str], outcomes: Sequence[Outcome]) -> str:
    """Return the model against which verdicts on two others differ most often; NotIdentifiedError
    if unknown."""
    # Of equals, the one with more comparisons is chosen, then the first by name.
    shares = informativeness_of(models, outcomes)
    compared = {name: shares[name] for name in sorted(models) if shares[name][1]}
    if not compared:
        raise NotIdentifiedError(
            f"the {len(outcomes)} battles of the pilot cannot choose an anchor: no item has readable verdicts of two "
            "models against a third; name the anchor, or play a larger pilot"
        )
    return max(compared, key=lambda name: compared[name])


def informativeness_of(
    models: Sequence[str], outcomes: Sequence[Outcome]
) -> dict[str, tuple[float, float]]:
    """Return, by model as anchor, the share of pairs of others with different verdicts, and the
    pairs compared."""
    # Don-Yehiya et al. 2026, section 4.3. By margin if every battle has one, else by credit;
    # continuous ones by sign.
    readable = [outcome for outcome in outcomes if outcome.credit is not None]
    if not readable:
        return dict.fromkeys(models, (0.0, 0.0))
    coded = code_outcomes(readable, models)
    margin = np.array(
        [np.nan if outcome.margin is None else outcome.margin for outcome in readable],
        dtype=np.float64,
    )
    finest = finest_verdicts(margin, coded.credit)
    verdict, level_of = (2 * coded.credit - 1, np.sign) if finest is None else (finest, None)
    pairs = count_differences(coded, verdict, level_of)
    apart, compared = pairs.apart.sum(axis=0), pairs.compared.sum(axis=0)
    shares = apart / np.maximum(compared, 1)
    return {name: (float(shares[k]), float(compared[k])) for k, name in enumerate(models)}
