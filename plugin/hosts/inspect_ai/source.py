"""A tournament as Inspect's source of samples: rounds, replays and retries."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspect_ai import SampleSource
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from podium.hosts.inspect_ai.log_format import LEFT_OUT, ROUND
from podium.tournaments.schedule import Field, Next, Outcome, Pairing, Round, TournamentRule


class TournamentSource(SampleSource):
    """Asks a tournament for the next round whenever no sample is in flight.

    What was scheduled is a record: every round after the first is announced by a sample of its own, whose metadata
    holds the pairings. A retry replays that sample from the earlier log, so opponents are never recomputed from
    verdicts that changed.

    Events are kept in the order of their arrival. The current attempt is the shortest suffix that covers the first
    round: an eval set's retry drives this same object again and replays what was finished.
    """

    def __init__(
        self,
        tournament: TournamentRule,
        field: Field,
        battle: Callable[[Pairing, int], Sample],
        outcome: Callable[[EvalSample], Any],
    ) -> None:
        self.tournament = tournament
        self.field = field
        self.battle = battle
        self.outcome = outcome
        self.events: list[tuple[str, dict[str, Any], Any]] = []
        self.first = tournament.next(field, ())
        self.seeds = {one.id for one in self.dealt(self.first.pairings, 1)}

    def initial_samples(self) -> list[Sample]:
        """Return the battles of the first round: they depend on nothing that was played."""
        return self.dealt(self.first.pairings, 1)

    def dealt(self, pairings: Sequence[Pairing], number: int) -> list[Sample]:
        """Return the samples of a round's battles: one each."""
        return [self.battle(one, number) for one in pairings]

    def ended(self, schedule: Next, number: int, found: Mapping[str, Any]) -> Round:
        """Return a round as it was played.

        Args:
            found: what came of every sample, by its id.
        """
        outcomes = [found[str(self.battle(one, number).id)] or Outcome(one, None) for one in schedule.pairings]
        return Round(tuple(outcomes), schedule.note)

    async def sample_complete(self, sample: EvalSample) -> None:
        """Note how a battle ended, or what a round announced."""
        outcome = self.outcome(sample) if ROUND not in sample.metadata else None
        self.events.append((str(sample.id), _announced(sample.metadata), outcome))

    async def sample_abandoned(self, sample: Sample, epoch: int) -> None:  # noqa: ARG002
        """Note a battle that will never be played."""
        self.events.append((str(sample.id), _announced(sample.metadata or {}), None))

    async def next_samples(self) -> list[Sample] | None:
        """Return what is still to be played of the current round, or announce the next; None when all is over."""
        found = self._attempt()
        played: list[Round] = []
        schedule = self.first
        while True:
            number = len(played) + 1
            missing = [one for one in self.dealt(schedule.pairings, number) if str(one.id) not in found]
            if missing:
                return missing
            played.append(self.ended(schedule, number, {name: outcome for name, (_, outcome) in found.items()}))
            announced = found.get(_announcement_id(number + 1))
            if announced is None:
                upcoming = self.tournament.next(self.field, played)
                return [_announcement(upcoming, number + 1)] if upcoming.pairings else None
            schedule = _scheduled(announced[0])

    def _attempt(self) -> dict[str, tuple[dict[str, Any], Any]]:
        """Return the latest event of every sample of the current attempt, by sample id."""
        needed, start = set(self.seeds), len(self.events)
        while needed and start:
            start -= 1
            needed.discard(self.events[start][0])
        return {name: (metadata, outcome) for name, metadata, outcome in self.events[start:]}


def _announced(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a round announces; of a battle nothing is remembered but its outcome."""
    return dict(metadata) if ROUND in metadata else {}


def _announcement_id(number: int) -> str:
    return f"round {number:03d}"


def _announcement(upcoming: Next, number: int) -> Sample:
    """Return the sample that records what a round schedules."""
    pairings = [[one.item, one.a, one.b] for one in upcoming.pairings]
    note = upcoming.note or f"{len(pairings)} battles"
    told = {ROUND: pairings, "note": note, LEFT_OUT: upcoming.left_out}
    return Sample(id=_announcement_id(number), input=f"Round {number}: {note}", metadata=told)


def _scheduled(metadata: dict[str, Any]) -> Next:
    return Next(tuple(Pairing(*one) for one in metadata[ROUND]), str(metadata.get("note", "")))
