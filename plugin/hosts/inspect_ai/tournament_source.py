"""A tournament as Inspect's source of samples: what stands in them, rounds, replays and retries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from inspect_ai import SampleSource
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from podium.errors import PodiumError
from podium.hosts.inspect_ai.answers_on_demand import AnswerCollector
from podium.hosts.inspect_ai.compatibility import kept_in_store
from podium.hosts.inspect_ai.cost_limit import CostLimit
from podium.hosts.inspect_ai.log_contents import (
    ANSWER,
    ASKED,
    NAMESPACE,
    ROUND,
    answers_in,
    reason_of_stop,
)
from podium.hosts.inspect_ai.round_samples import announcement, missing_text, outcomes_of, round_id, schedule_in
from podium.printable import tell
from podium.responses.collection import response_key
from podium.tournaments.claims import answer_of
from podium.tournaments.schedule import Field, NextRound, Outcome, Pairing, Round, TournamentRule, merge_responses

Deal = Callable[[Sequence[Pairing], int], list[Sample]]


@dataclass(eq=False, repr=False)
class TournamentSource(SampleSource):
    """Asks a tournament for the next round whenever no sample is in flight.

    What was scheduled is a record: every round after the first is announced by a sample of its own, whose metadata
    holds the pairings. A retry replays that sample from the earlier log, so opponents are never recomputed from
    verdicts that changed.

    Events are kept in the order of their arrival. The current attempt is the shortest suffix that covers the first
    round: an eval set's retry drives this same object again and replays what was finished.

    Attributes:
        build_samples: makes the samples of a round's pairings, given its number from 1.
        outcomes: reads from a sample how its battles ended.
        portion: how many samples Inspect is given at once, at most; it keeps every sample that waits in memory.
        spread: makes of what the rule asks for the battles that are scheduled: one per response of an item.
        calls: of each judge for a battle.
        given: what was played before this tournament, which newcomers join.
        answers: deals what models are asked for before the battles that need it; None where all responses are there.
        cost_limit: what may be spent; None without a limit.
        say: tells humans, while a tournament plays that stops by itself, what each look found.
        opening: the samples of a first round without battles.
        first: the battles of the first round; they depend on nothing that was played.
        without_answers: models whose failures humans were told of.
    """

    rule: TournamentRule
    field: Field
    build_samples: Deal
    outcomes: Callable[[EvalSample], tuple[Outcome, ...]] = outcomes_of
    portion: int | None = None
    spread: Callable[[NextRound], NextRound] = lambda coming: coming
    calls: int = 1
    given: Sequence[Round] = ()
    say: Callable[[str], None] = tell
    opening: Sequence[Sample] = ()
    answers: AnswerCollector | None = None
    cost_limit: CostLimit | None = None

    def __post_init__(self) -> None:
        self.stops_early = bool(getattr(getattr(self.rule, "rule", self.rule), "until", ""))
        self.events: list[tuple[str, dict[str, Any], tuple[Outcome, ...]]] = []
        self.first = self.spread(self.rule.next(self.field, self.given))
        asked = self.answers.due(self.first.pairings, "1") if self.answers and self.first.pairings else []
        opening = (asked or self.build_samples(self.first.pairings, 1))[: self._room(answers=bool(asked))]
        self._opening = opening or list(self.opening)
        self.seeds = {str(sample.id) for sample in self._opening}
        self.start, self.scheduled = 0, set(self.seeds)
        self.without_answers: set[str] = set()

    def initial_samples(self) -> list[Sample]:
        """Return the first samples of the first round."""
        return self._opening

    async def sample_complete(self, sample: EvalSample) -> None:
        """Note how the battles of a sample ended, or what a round announced."""
        if said := reason_of_stop(sample):
            raise PodiumError(f"{said}. Mend that, then `inspect eval-retry` on the log plays the rest")
        ended = () if ROUND in sample.metadata else self.outcomes(sample)
        if self.cost_limit:
            self.cost_limit.take(sample)
        announced = _announced_round(sample.metadata)
        if ASKED in sample.metadata:
            announced = {ROUND: [], ASKED: answers_in(sample.metadata, kept_in_store(sample, NAMESPACE))}
        self.events.append((str(sample.id), announced, ended))

    async def sample_abandoned(self, sample: Sample, epoch: int) -> None:  # noqa: ARG002
        """Note a sample that will never be played."""
        self.events.append((str(sample.id), _announced_round(sample.metadata or {}), ()))

    async def next_samples(self) -> list[Sample] | None:
        """Return what is still to be played of the current round, or announce the next; None when all is over."""
        attempt = self._current_attempt()
        outcomes = {outcome.pairing: outcome for _, ended in attempt.values() for outcome in ended}
        if self.answers:
            self.answers.learn(announced for announced, _ in attempt.values())
            self.field = self.answers.sample_builder.responses.field()
        played = list(self.given)
        schedule, asked, again = self.first, 0, 0
        while True:
            number = len(played) - len(self.given) + 1
            if self.answers:
                label = f"{number}.{again}" if again else str(number)
                due = self.answers.due(schedule.pairings, label)
                if due := [sample for sample in due if str(sample.id) not in attempt]:
                    return self._build_missing_samples(due)
                if (name := round_id(number, again + 1)) in attempt:
                    schedule, again = schedule_in(attempt[name][0]), again + 1
                    continue
                revised = self._without_failed(schedule, played)
                if revised:
                    self._say_failures()
                if revised and not revised.pairings:
                    return self._answer(played, asked, number)
                if revised:
                    return [announcement(revised, number, again + 1, schedule)]
                again = 0
            missing = [
                sample for sample in self.build_samples(schedule.pairings, number) if str(sample.id) not in attempt
            ]
            if missing:
                return self._build_missing_samples(missing)
            ended = tuple(outcomes.get(pairing, Outcome(pairing, None)) for pairing in schedule.pairings)
            played.append(Round(merge_responses(ended), schedule.note))
            announced, _ = attempt.get(round_id(number + 1), (None, ()))
            asked += len(schedule.pairings)
            if announced is None:
                upcoming = self.spread(self.rule.next(self.field, played))
                if not upcoming.pairings:
                    return self._answer(played, asked, number + 1)
                if self.stops_early:
                    self.say(upcoming.note)
                return [announcement(upcoming, number + 1)]
            if not announced[ROUND]:
                return None
            schedule = schedule_in(announced)

    def _without_failed(self, schedule: NextRound, played: Sequence[Round]) -> NextRound | None:
        """Return a round as it is without the answers that failed; None where that is nothing else."""
        failed = self.answers.failed if self.answers else frozenset()
        keys = {(name, response_key(own.item, own.response)) for own in schedule.pairings for name in (own.a, own.b)}
        if keys.isdisjoint(failed):
            return None
        upcoming = self.spread(self.rule.next(self.field, played))
        return None if upcoming.pairings == schedule.pairings else upcoming

    def _say_failures(self) -> None:
        """Say whose answers failed, and why, once for each model."""
        names = {name for name, _ in self.answers.failed} if self.answers else set()
        if not names <= self.without_answers:
            self.without_answers |= names
            self.say(f"answers are not there, and their battles missing: {self._failures()}")

    def _failures(self) -> str:
        """Say whose answers are not there, how many, and by what the first of them failed."""
        if self.answers is None:
            return ""
        said = missing_text(self.answers.sample_builder.responses)
        return f"{said} (the first cause: {self.answers.cause})" if self.answers.cause else said

    def _answer(self, played: Sequence[Round], asked: int, number: int) -> list[Sample] | None:
        """Return the sample that says what was found, once; None where the tournament does not stop by itself.

        It announces a round without battles: in a retry the log's own round of this number takes its place, so that
        a tournament neither stops before rounds that are on record nor goes on behind an end that is.

        Args:
            asked: battles, those of every response counted.
            number: of the round that does not follow.

        Raises:
            PodiumError: not a single battle could be played, because models answered nothing.
        """
        if self.answers and not any(done.outcomes for done in played):
            raise PodiumError(
                f"nothing can be played: {self._failures()}. Mend that, then start again: what was answered is kept"
            )
        answer, name = answer_of(self.rule, self.field, played), round_id(number)
        if answer is None or name in self.scheduled:
            return None
        self.scheduled.add(name)
        kept = replace(answer, calls=asked * self.calls)
        for claim in kept.claims:
            self.say(claim)
        said = "\n".join(kept.claims)
        return [Sample(id=name, input=said, metadata={ROUND: [], "note": said, ANSWER: kept.to_dict()})]

    def _build_missing_samples(self, missing: list[Sample]) -> list[Sample] | None:
        """Return the samples that were not scheduled in this attempt; None where all was, and Inspect leaves it out
        (--sample-id).
        """
        fresh = [sample for sample in missing if str(sample.id) not in self.scheduled]
        scheduled = fresh[: self._room(answers=any(ASKED in (sample.metadata or {}) for sample in fresh))]
        self.scheduled |= {str(sample.id) for sample in scheduled}
        if self.cost_limit and fresh and not scheduled:
            spent = f"max_cost={self.cost_limit.most:g} is reached with {self.cost_limit.money_spent:.4g} spent"
            self.say(f"{spent}: {len(fresh):,} samples of this round, and whatever would follow, are not asked")
        return scheduled or None

    def _room(self, *, answers: bool) -> int | None:
        """Return how many samples may be scheduled at once; None for any number."""
        most = self.cost_limit.room(answers=answers) if self.cost_limit else None
        return most if self.portion is None else self.portion if most is None else min(most, self.portion)

    def _current_attempt(self) -> dict[str, tuple[dict[str, Any], tuple[Outcome, ...]]]:
        """Return the latest event of every sample of the current attempt, by sample id."""
        needed, start = set(self.seeds), len(self.events)
        while needed and start:
            start -= 1
            needed.discard(self.events[start][0])
        if start != self.start:
            self.start, self.scheduled = start, set(self.seeds)
        return {name: (announced, ended) for name, announced, ended in self.events[start:]}


def _announced_round(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a round announces; of a battle nothing is remembered but its outcome."""
    if ASKED in metadata:
        return {ROUND: [], ASKED: answers_in(metadata, None)}
    return dict(metadata) if ROUND in metadata else {}
