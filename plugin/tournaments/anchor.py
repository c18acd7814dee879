"""Anchor: all models against one, or against a few; a pilot finds which one tells the others apart."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from podium.errors import NotIdentifiedError, UsageError
from podium.rankers.informativeness import count_differences, finest_verdicts
from podium.tournaments.between_rounds import code_outcomes
from podium.tournaments.schedule import OVER, Field, NextRound, Outcome, Pairing, Round, schedule_pairings
from podium.tournaments.selection import draw_items, order_of_visits, parse_model_names
from podium.tournaments.stopping import Progress, Stopping

AUTO = "auto"
MIN_FOR_PILOT = 3
"""Models: an anchor, and two to tell apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor(Stopping):
    """Play all models against an anchor on every item: M - 1 battles an item for M models.

    With `anchor=auto` a pilot chooses the most informative model (Don-Yehiya et al. 2026, sections 4.3 and 5.3: ten
    items suffice to tell the bad anchors, the best and the worst models, from the others). The pilot plays each
    candidate against all others. No design that settles every candidate's informativeness on those items is cheaper:
    it compares the verdicts of all others against that candidate. A battle of two candidates serves both, so with
    all models as candidates the pilot is a round robin, at half the price of one anchor after the other. The
    anchor's round takes the remaining items; the battles of the pilot count.

    Attributes:
        anchor: its name, several with commas or as a sequence, or `auto`.
        pilot: how many items choose the anchor, with `auto`.
        candidates: who may be chosen, with `auto`; by default everyone. Fewer make a cheaper pilot.
        items: how many items in all, drawn at random; by default all.
        seed: of the draws.
        until: see `podium.tournaments.stopping.Stopping`; the items behind the pilot are played in blocks that end at
            the looks, and `order` settles everyone against the anchor.
    """

    anchor: str | Sequence[str] = AUTO
    pilot: int = 10
    candidates: str | Sequence[str] | None = None

    def __post_init__(self) -> None:
        Stopping.__post_init__(self)
        if self.pilot < 1:
            raise UsageError(f"pilot={self.pilot}: at least one item chooses the anchor")

    @staticmethod
    def variants(field: Field) -> dict[str, dict[str, str]]:
        """Return settings by label for a comparison of tournaments: a pilot, and each model as the anchor."""
        return {name: {"anchor": name} for name in (AUTO, *sorted(field.models))}

    def next(self, field: Field, played: Sequence[Round]) -> NextRound:
        """Return the anchor's battles that were not played yet; with `auto`, those of the pilot first.

        Raises:
            UsageError: an anchor or a candidate is no model.
            NotIdentifiedError: nothing of the pilot can be read.
        """
        anchors = self._anchors(field)
        if not anchors:
            candidates, tried, pilot = self._pilot(field)
            rounds = _rounds_until(pilot.pairings, played)
            if rounds is None:
                return schedule_pairings(field, pilot.pairings, played, pilot.note)
            if len(played) > rounds and not self.until:
                # The round after the pilot is on record: who the anchor is must not be worked out again.
                return OVER
            anchors = self._anchors_after(field, candidates, tried, played, rounds)
        items, last_look = self.items_to_next_look(field, played)
        note = f"{last_look}all against {' and '.join(anchors)} on {len(items)} items"
        if not self._anchors(field):
            items = items if self.until else tuple(item for item in items if item not in tried)
            note = f"{last_look}all against {anchors[0]}, the most informative in the pilot, on {len(items)} more items"
        return schedule_pairings(field, pairings_against(anchors, field.models, items), played, note)

    def size(self, field: Field) -> int:
        """Return how many battles there will be; with `auto`, at most."""
        if self._anchors(field):
            return Stopping.size(self, field)
        items = draw_items(field, self.items, self.seed)
        _, tried, pilot = self._pilot(field)
        return len(pilot.pairings) + (len(items) - len(tried)) * max(len(field.models) - 1, 0)

    def rounds(self, field: Field) -> int | None:
        """Return how many rounds there will be, at most; a pilot is one more."""
        own = super(Anchor, self).rounds(field)
        return own if own is None or self._anchors(field) else own + 1

    def progress_of(self, field: Field, played: Sequence[Round]) -> Progress:
        """Return how far it is, with `until`; the pilot's items do not count."""
        anchors = self._anchors(field)
        order = order_of_visits(field, self.items, self.seed)
        if anchors:
            return self.progress(field, order, played, against=anchors)
        candidates, tried, pilot = self._pilot(field)
        rounds = _rounds_until(pilot.pairings, played)
        rest = tuple(item for item in order if item not in tried)
        if rounds is None:
            return self.progress(field, rest, ())
        anchors = self._anchors_after(field, candidates, tried, played, rounds)
        return self.progress(field, rest, played[rounds:], against=anchors)

    def _anchors_after(
        self,
        field: Field,
        candidates: Sequence[str],
        tried: Collection[str],
        played: Sequence[Round],
        rounds: int,
    ) -> tuple[str, ...]:
        """Return the anchor that the pilot found; as the record has it, where it was played against already."""
        later = [{own.pairing.a, own.pairing.b} for done in played[rounds:] for own in done.outcomes]
        met_by_all = set(field.models).intersection(*later) if later else set()
        if len(met_by_all) == 1:
            return tuple(met_by_all)
        outcomes = [outcome for done in played for outcome in done.outcomes if outcome.pairing.item in tried]
        return (most_informative(candidates, field.models, outcomes),)

    def _anchors(self, field: Field) -> tuple[str, ...]:
        """Return the anchors, none when a pilot is to choose; of two models, either makes the same battles."""
        if self.anchor == AUTO:
            return field.models[:1] if len(field.models) < MIN_FOR_PILOT else ()
        return parse_model_names(self.anchor, field.models)

    def _pilot(self, field: Field) -> tuple[tuple[str, ...], frozenset[str], NextRound]:
        """Return the candidates, the items that they are tried on, and their battles."""
        items = draw_items(field, self.items, self.seed)
        candidates = field.models if self.candidates is None else parse_model_names(self.candidates, field.models)
        # Samples of one seed are nested, so these are among all items asked for.
        tried = draw_items(field, min(self.pilot, len(items)), self.seed)
        note = f"pilot: all against each of {len(candidates)} candidates on {len(tried)} items"
        battles = pairings_against(candidates, field.models, tried)
        return candidates, frozenset(tried), schedule_pairings(field, battles, note=note)


def pairings_against(anchors: Collection[str], models: Sequence[str], items: Sequence[str]) -> Iterator[Pairing]:
    """Yield all against each anchor, item after item; two anchors meet once."""
    pairs = [(a, b) for a, b in combinations(sorted(models), 2) if a in anchors or b in anchors]
    return (Pairing(item, a, b) for item in items for a, b in pairs)


def _rounds_until(pairings: Sequence[Pairing], played: Sequence[Round]) -> int | None:
    """Return after how many rounds all of the pairings were played; None if they were not."""
    lacking = set(pairings)
    for number, done in enumerate(played, start=1):
        lacking.difference_update(outcome.pairing for outcome in done.outcomes)
        if not lacking:
            return number
    return None


def most_informative(candidates: Collection[str], models: Sequence[str], outcomes: Sequence[Outcome]) -> str:
    """Return the candidate against which verdicts on two others differ most often.

    Of equals, the one with more comparisons is chosen, then the first by name.

    Raises:
        NotIdentifiedError: no two verdicts against one candidate on one item can be read.
    """
    shares = informativeness_of(models, outcomes)
    compared = {name: shares[name] for name in sorted(candidates) if shares[name][1]}
    if not compared:
        raise NotIdentifiedError(
            f"the {len(outcomes)} battles of the pilot tell nothing about an anchor: no item has readable verdicts of "
            "two models against one candidate; name the anchor, or play a larger pilot"
        )
    return max(compared, key=lambda name: compared[name])


def informativeness_of(models: Sequence[str], outcomes: Sequence[Outcome]) -> dict[str, tuple[float, float]]:
    """Return, for each model as anchor, the share of pairs of others told apart, and the pairs compared.

    Source: Don-Yehiya et al. 2026, section 4.3. Verdicts are compared as finely as the judge gives them: by margin,
    where every battle has one, else by credit; continuous ones by their sign.
    """
    readable = [outcome for outcome in outcomes if outcome.credit is not None]
    if not readable:
        return dict.fromkeys(models, (0.0, 0.0))
    coded = code_outcomes(readable, models)
    margin = np.array([np.nan if outcome.margin is None else outcome.margin for outcome in readable], dtype=np.float64)
    finest = finest_verdicts(margin, coded.credit)
    verdict, level_of = (2 * coded.credit - 1, np.sign) if finest is None else (finest, None)
    pairs = count_differences(coded, verdict, level_of)
    apart, compared = pairs.apart.sum(axis=0), pairs.compared.sum(axis=0)
    shares = apart / np.maximum(compared, 1)
    return {name: (float(shares[k]), float(compared[k])) for k, name in enumerate(models)}
