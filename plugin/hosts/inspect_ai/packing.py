"""Many battles in one sample: all those of an item and a round, for tournaments of more than some thousands."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from podium.hosts.inspect_ai.log_format import BATTLES, NAMESPACE, as_rows
from podium.hosts.inspect_ai.source import TournamentSource
from podium.responses.collection import Responses
from podium.tournaments.schedule import Next, Outcome, Pairing, Round, TournamentRule

PORTION = 1000
"""Packs given to Inspect at once: it keeps every sample that waits in memory."""


class PackedSource(TournamentSource):
    """A tournament whose samples are packs."""

    def __init__(
        self, tournament: TournamentRule, battle: Callable[[Pairing, int], Sample], responses: Responses
    ) -> None:
        self.responses = responses
        super().__init__(tournament, responses.field(), battle, outcomes_of)
        self.seeds = {str(one.id) for one in self.initial_samples()}

    def initial_samples(self) -> list[Sample]:
        """Return the first packs of the first round."""
        return super().initial_samples()[:PORTION]

    async def next_samples(self) -> list[Sample] | None:
        """Return the next packs of the current round, or announce the next; None when all is over."""
        upcoming = await super().next_samples()
        return upcoming and upcoming[:PORTION]

    def dealt(self, pairings: Sequence[Pairing], number: int) -> list[Sample]:
        """Return a sample per item."""
        by_item: dict[str, list[Pairing]] = {}
        for one in pairings:
            by_item.setdefault(one.item, []).append(one)
        return [self.packed(item, own, number) for item, own in by_item.items()]

    def packed(self, item: str, pairings: Sequence[Pairing], number: int) -> Sample:
        """Return the sample of an item's battles: each response stands in it once."""
        sample = self.battle(pairings[0], number)
        known = {name: value for name, value in (sample.metadata or {}).items() if name not in OF_ONE_BATTLE}
        names = sorted({name for one in pairings for name in (one.a, one.b)})
        return sample.model_copy(
            update={
                "id": f"{item}::round {number}",
                "metadata": {
                    **known,
                    BATTLES: [[one.a, one.b] for one in pairings],
                    "responses": {name: self.responses.texts[name][item] for name in names},
                },
            }
        )

    def ended(self, schedule: Next, number: int, found: Mapping[str, Any]) -> Round:  # noqa: ARG002
        """Return a round as it was played; battles of a pack that failed have no verdict."""
        played = {outcome.pairing: outcome for outcomes in found.values() for outcome in outcomes or ()}
        return Round(tuple(played.get(one, Outcome(one, None)) for one in schedule.pairings), schedule.note)


OF_ONE_BATTLE = ("model_a", "model_b", "response_a", "response_b", "length_a", "length_b")


def battles_of(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the battles of a sample as if each had one of its own."""
    if BATTLES not in metadata:
        return [dict(metadata)]
    common = {name: value for name, value in metadata.items() if name not in (BATTLES, "responses")}
    texts = metadata["responses"]
    return [
        {
            **common,
            "model_a": a,
            "model_b": b,
            "response_a": texts[a],
            "response_b": texts[b],
            "length_a": len(texts[a]),
            "length_b": len(texts[b]),
        }
        for a, b in metadata[BATTLES]
    ]


def outcomes_of(sample: EvalSample) -> tuple[Outcome, ...]:
    """Return how the battles of a pack ended; nothing where its sample failed."""
    if sample.error is not None or not sample.scores:
        return ()
    kept = (next(iter(sample.scores.values())).metadata or {}).get(NAMESPACE, {})
    battles = as_rows(kept[BATTLES]) if BATTLES in kept else []
    return tuple(Outcome(Pairing(one["item"], one["model_a"], one["model_b"]), one["credit"]) for one in battles)
