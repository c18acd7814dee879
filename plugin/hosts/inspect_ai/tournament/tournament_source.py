"""A tournament as Inspect's source of samples.

Inspect runs the samples of a round and then asks for more. An attempt is one run of all samples by
Inspect. A retry is a later attempt, in which Inspect replays the samples that were finished.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from itertools import islice
from typing import NamedTuple

from inspect_ai import SampleSource
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from podium.data.pairings import Field, NextRound, Outcome, Pairing, Round, merge_responses
from podium.diagnosis.groups_of_decisions import why_rounds_are_not_claimed
from podium.errors import PodiumError
from podium.hosts.inspect_ai.inspect_ai_compatibility import WithoutFrames, kept_in_store
from podium.hosts.inspect_ai.judging.cost_limit import CostLimit
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.hosts.inspect_ai.logs.podium_entries import (
    AGAIN,
    REQUEST_KEY,
    EarlierReplies,
    PortionMetadata,
    RequestMetadata,
    RoundMetadata,
    parse_answers,
    parse_sample,
)
from podium.hosts.inspect_ai.logs.stop_reasons import HOW_TO_RESUME, reason_of_stop
from podium.hosts.inspect_ai.tournament.answers_on_demand import AnswerCollector, Answers
from podium.hosts.inspect_ai.tournament.round_samples import (
    PlannedSample,
    announce_portion,
    announce_round,
    build_repeat,
    outcomes_of,
    plan_built,
    portion_id,
    replies_if_any_failed,
    round_id,
    schedule_in,
)
from podium.printable import tell
from podium.responses.collection import response_key
from podium.tournaments.decisions import build_tournament_answer
from podium.tournaments.schedule import TournamentRule
from podium.wording import quantity


class SampleEnd(NamedTuple):
    """What is known from a sample that has ended. Fields that do not apply are None or empty.

    Attributes:
        announced: the round that the sample announced.
        portion: if the sample announced a portion, how many samples the cost limit allows in it.
        answers: the answers that the sample requested.
        outcomes: the outcomes of the sample's battles.
    """

    announced: RoundMetadata | None = None
    portion: int | None = None
    answers: Answers | None = None
    outcomes: tuple[Outcome, ...] = ()


@dataclass(eq=False, repr=False)
class TournamentSource(SampleSource):
    """Asks a tournament for the next round whenever Inspect has run all samples so far.

    A sample announces each round, that is, records its battles. A retry replays this sample, so
    that the round has the same battles.

    Args:
        rule: chooses the battles of a round.
        field: the models and items.
        plan_samples: plans the samples of a round from its battles and its number, from 1.
        outcomes: returns the outcomes of a finished sample's battles.
        portion: the most samples that are given to Inspect at once, to save memory; None for any
            number.
        spread: adds to a round the battles of further responses to an item.
        calls: number of calls for a battle.
        say: prints a message.
        opening: the first samples if the first round has no battles.
        answers: requests missing answers from models; None if all answers are recorded.
        cost_limit: the limit of the cost; None for no limit.
        follows_eval: whether a host plays the tournament after an eval. The host says how to go on
            after a failure.
        item_columns: further columns of the items that may be groups (`dividing_columns`); empty
            if groups are the unit already.
    """

    rule: TournamentRule
    field: Field
    plan_samples: Callable[[Sequence[Pairing], int], Iterable[PlannedSample]]
    outcomes: Callable[[EvalSample], tuple[Outcome, ...]] = outcomes_of
    portion: int | None = None
    spread: Callable[[NextRound], NextRound] = lambda coming: coming
    calls: int = 1
    say: Callable[[str], None] = tell
    opening: Sequence[Sample] = ()
    answers: AnswerCollector | None = None
    cost_limit: CostLimit | None = None
    follows_eval: bool = False
    item_columns: Mapping[str, Mapping[str, Sequence[str]]] = dataclass_field(default_factory=dict)

    def __post_init__(self) -> None:
        # A rule that limits another one, such as a budget, holds it in `rule`.
        tournament = getattr(self.rule, "rule", self.rule)
        self.stops_early = bool(getattr(tournament, "until", ""))
        self.events: list[tuple[str, SampleEnd]] = []
        self.first = self.spread(self.rule.next(self.field, ()))
        requests: list[Sample] = []
        if self.answers and self.first.pairings:
            requests = self.answers.build_requests(self.first.pairings, "1")
        samples = plan_built(requests) if requests else self.plan_samples(self.first.pairings, 1)
        room = self._room(requests_answers=bool(requests))
        self._opening = [planned.build() for planned in islice(samples, room)] or list(self.opening)
        self.seeds = {str(sample.id) for sample in self._opening}
        self.start = 0
        # The keys are ids of samples, in the order in which this attempt has scheduled them.
        self.scheduled = dict.fromkeys(self.seeds)
        self._reported_failures: set[str] = set()
        self._failed_replies: dict[str, EarlierReplies] = {}

    def initial_samples(self) -> list[Sample]:
        """Return the samples that Inspect runs first; empty if nothing can be played.

        They request answers or play battles of the first round, as many as may be scheduled at
        once.
        """
        return self._opening

    async def sample_complete(self, sample: EvalSample) -> None:
        """Record the outcomes, the announced round or the answers of a sample that has ended.

        Its cost is added to the limit, and its failed calls are kept to be repeated.

        Raises:
            PodiumError: the sample says that the run must stop.
        """
        why = reason_of_stop(sample)
        if why:
            says_no_more = why.cannot_judge or self.follows_eval
            with WithoutFrames():
                raise PodiumError(why.text if says_no_more else f"{why.text}{HOW_TO_RESUME}")
        if self.cost_limit:
            for note in self.cost_limit.add_cost(sample):
                self.say(note)
        self._record_end(sample, sample)
        # Failed replies are kept over attempts, because a retry in this process replays samples.
        failed = self._failed_replies.setdefault(str(sample.id), {})
        failed.pop(str(sample.epoch), None)
        replies = replies_if_any_failed(sample)
        if replies:
            failed[str(sample.epoch)] = [*replies]

    async def sample_abandoned(self, sample: Sample, epoch: int) -> None:  # noqa: ARG002
        """Record a sample that Inspect will never run; a battle of it has no outcome."""
        self._record_end(sample, None)

    def _record_end(self, sample: EvalSample | Sample, completed: EvalSample | None) -> None:
        """Record what a sample leaves at its end in `events`.

        Answers that a sample requested count as failed if Inspect did not complete the sample.

        Args:
            sample: the sample, whose metadata says what it was for.
            completed: the sample with its results; None if Inspect did not complete it.
        """
        contents = parse_sample(sample.metadata or {})
        end = SampleEnd()
        if isinstance(contents, RoundMetadata):
            end = SampleEnd(contents)
        elif isinstance(contents, PortionMetadata):
            end = SampleEnd(portion=contents.portion)
        elif isinstance(contents, RequestMetadata):
            entry = kept_in_store(completed, NAMESPACE) if completed else None
            end = SampleEnd(answers=parse_answers(contents, entry))
        elif completed:
            end = SampleEnd(outcomes=self.outcomes(completed))
        self.events.append((str(sample.id), end))

    async def next_samples(self) -> list[Sample] | None:
        """Return the samples to play next, or the sample that announces the next round.

        None if the tournament is over, if samples of the round still run, or if the cost limit is
        reached. The rounds are computed from the beginning in each call, from what the samples of
        this attempt left.

        Raises:
            PodiumError: models are asked for answers, and no battle could be played.
        """
        ends = self._current_attempt()
        outcomes = {outcome.pairing: outcome for end in ends.values() for outcome in end.outcomes}
        if self.answers:
            self.answers.update(end.answers for end in ends.values() if end.answers)
            self.field = self.answers.sample_builder.responses.field()
        played: list[Round] = []
        schedule = self.first
        asked_battles = 0
        while True:
            number = len(played) + 1
            settled = self._settle_answers(schedule, number, ends, played, asked_battles)
            if not isinstance(settled, NextRound):
                return settled
            samples = self.plan_samples(settled.pairings, number)
            repeats = self._repeats_of_failed_calls(samples, ends)
            if repeats:
                return repeats
            if any(sample.id not in ends for sample in samples):
                return self._unscheduled_samples(samples, ends, round_id(number))
            ended = tuple(
                outcomes.get(pairing, Outcome(pairing, credit=None)) for pairing in settled.pairings
            )
            played.append(Round(merge_responses(ended), settled.note))
            asked_battles += sum(outcome.is_asked for outcome in ended)
            end = ends.get(round_id(number + 1))
            if end is None:
                upcoming = self.spread(self.rule.next(self.field, played))
                if not upcoming.pairings:
                    return self._final_sample(played, asked_battles, number + 1)
                if self.stops_early:
                    self.say(upcoming.note)
                return [announce_round(upcoming, number + 1)]
            if end.announced is None or not end.announced.pairings:
                return None
            schedule = schedule_in(end.announced)

    def _settle_answers(
        self,
        schedule: NextRound,
        number: int,
        ends: Mapping[str, SampleEnd],
        played: Sequence[Round],
        asked_battles: int,
    ) -> NextRound | list[Sample] | None:
        """Return the schedule of a round if its answers are there, or samples that come before.

        If answers of the round failed, the rule schedules the round again without them, unless that
        changes nothing. The failures of a model are printed once.

        Args:
            schedule: the battles of the round as announced.
            number: number of the round, from 1.
            ends: what the samples of this attempt left, by id.
            played: the rounds before it.
            asked_battles: number of battles in these rounds that judges were asked about.

        Returns:
            The schedule, perhaps without battles whose answers failed; or the samples that request
            answers, announce a new schedule or end the tournament; or None if such samples are
            still running, the cost limit is reached, or no battle is left and there is no answer.

        Raises:
            PodiumError: no battle was played, and all answers that the next ones need failed.
        """
        if not self.answers:
            return schedule
        revision = 0
        while True:
            label = f"{number}.{revision}" if revision else str(number)
            requests = self.answers.build_requests(schedule.pairings, label)
            if any(str(sample.id) not in ends for sample in requests):
                name = f"{round_id(number, revision)} answers"
                return self._unscheduled_samples(plan_built(requests), ends, name)
            end = ends.get(round_id(number, revision + 1))
            if end is None or end.announced is None:
                break
            schedule = schedule_in(end.announced)
            revision += 1
        keys = set[tuple[str, str]]()
        for pairing in schedule.pairings:
            key = response_key(pairing.item, pairing.response)
            keys |= {(pairing.a, key), (pairing.b, key)}
        if keys.isdisjoint(self.answers.failed):
            return schedule
        revised = self.spread(self.rule.next(self.field, played))
        if revised.pairings == schedule.pairings:
            return schedule
        names = {name for name, _ in self.answers.failed}
        if not names.issubset(self._reported_failures):
            self._reported_failures |= names
            failures = self.answers.failures_text()
            self.say(f"these answers and their battles are missing: {failures}")
        if not revised.pairings:
            return self._final_sample(played, asked_battles, number)
        return [announce_round(revised, number, revision + 1, schedule)]

    def _final_sample(
        self, played: Sequence[Round], asked_battles: int, number: int
    ) -> list[Sample] | None:
        """Return the sample that records the answer of a tournament that stops by itself.

        The decisions of the answer are printed. None if the tournament does not stop by itself, or
        if the sample was returned before.

        Args:
            played: all rounds.
            asked_battles: number of battles in them that judges were asked about.
            number: number of the round that the sample stands for, the one after the last.

        Raises:
            PodiumError: models are asked for answers, and no battle was played.
        """
        if self.answers and not any(done.outcomes for done in played):
            remedy = "Fix the cause, then start again: the answers so far are kept"
            why = f"nothing can be played: {self.answers.failures_text()}"
            with WithoutFrames():
                raise PodiumError(f"{why}. {remedy}")
        answer = build_tournament_answer(self.rule, self.field, played)
        name = round_id(number)
        if answer is None or name in self.scheduled:
            return None
        if doubt := why_rounds_are_not_claimed(played, self.item_columns):
            # The same rounds have an answer with a doubt, too: `or` is for the type checker.
            answer = build_tournament_answer(self.rule, self.field, played, doubt=doubt) or answer
        self.scheduled[name] = None
        answer_with_calls = replace(answer, calls=asked_battles * self.calls)
        for decision in answer_with_calls.decisions:
            self.say(decision)
        text = "\n".join(answer_with_calls.decisions)
        # The sample announces a round without battles. In a retry, Inspect replays the recorded
        # round of this number instead, so the tournament ends where it ended before.
        metadata = RoundMetadata(pairings=[], note=text, answer=answer_with_calls.to_dict())
        return [Sample(id=name, input=text, metadata=metadata.to_log())]

    def _repeats_of_failed_calls(
        self, samples: Iterable[PlannedSample], ends: Mapping[str, SampleEnd]
    ) -> list[Sample]:
        """Return samples, not yet scheduled, that repeat failed calls of finished samples.

        They are recorded as scheduled. A repeat whose calls failed is itself repeated.
        """
        repeats: list[Sample] = []
        if not any(self._failed_replies.values()):
            return repeats
        for planned in samples:
            if planned.id not in ends or not self._failed_replies.get(planned.id):
                continue  # not judged, or no reply failed
            sample = planned.build()
            last = sample
            # The calls of a sample that repeats failed calls may have failed, too.
            while str(last.id) in ends:
                failed = self._failed_replies.get(str(last.id))
                if not failed:
                    break
                last = build_repeat(last, failed)
            if last is not sample and str(last.id) not in {*ends, *self.scheduled}:
                repeats.append(last)
        self.scheduled |= dict.fromkeys(str(sample.id) for sample in repeats)
        return repeats

    def _unscheduled_samples(
        self, samples: Iterable[PlannedSample], ends: Mapping[str, SampleEnd], name: str
    ) -> list[Sample] | None:
        """Return samples that this attempt has not scheduled, as many as allowed, and record them.

        If the cost is limited, this may be the sample that announces the next portion. None
        if there is nothing to schedule, or if the limit is reached, which is then printed.

        Args:
            samples: samples of a round, or requests for its answers.
            ends: what the samples of this attempt left, by id.
            name: name of the round or of its requests, in the ids of portions.
        """
        scheduled_ids = ends.keys() | self.scheduled.keys()
        unscheduled = (sample for sample in samples if sample.id not in scheduled_ids)
        if self.cost_limit is None:
            coming = islice(unscheduled, self.portion)
            return self._schedule([sample.build() for sample in coming])
        fresh = [*unscheduled]
        number = 0
        while portion_id(name, number + 1) in ends:
            number += 1
        current = portion_id(name, number)
        size = ends[current].portion if number else None
        if size == 0:
            self._say_that_limit_is_reached(len(fresh))
            return None
        if size is None:
            return self._announce_portion(fresh, name, number + 1)
        room = size - self._scheduled_since(current)
        if room <= 0:
            return self._announce_portion(fresh, name, number + 1)
        coming = islice(fresh[:room], self.portion)
        return self._schedule([sample.build() for sample in coming])

    def _scheduled_since(self, portion: str) -> int:
        """Return how many samples were scheduled since a portion was announced.

        Samples that repeat failed calls do not count.
        """
        names = list(self.scheduled)
        later = names[names.index(portion) + 1 :]
        return sum(not name.endswith(AGAIN) for name in later)

    def _announce_portion(
        self, samples_left: Sequence[PlannedSample], name: str, number: int
    ) -> list[Sample] | None:
        """Return the sample that announces how many remaining samples the cost limit allows.

        The number is computed once. A retry plays the recorded portions, even if they cost more.
        The sample is recorded as scheduled. None if no sample remains, if this portion was
        announced before, or if the cost has no limit.

        Args:
            samples_left: the remaining samples.
            name: name of the round or of its requests.
            number: number of the portion, from 1.
        """
        if self.cost_limit is None or not samples_left:
            return None
        asks_for_answers = REQUEST_KEY in (samples_left[0].build().metadata or {})
        room = self.cost_limit.samples_allowed(requests_answers=asks_for_answers)
        size = len(samples_left) if room is None else min(room, len(samples_left))
        announced = announce_portion(name, number, size)
        if str(announced.id) in self.scheduled:
            return None
        return self._schedule([announced])

    def _say_that_limit_is_reached(self, number_left: int) -> None:
        """Print what the tournament has cost, and that samples are not played.

        They are `number_left` samples of this round, and all later rounds.
        """
        if self.cost_limit is not None:
            spent = (
                f"max_cost={self.cost_limit.most:g} is reached "
                f"with {self.cost_limit.money_spent:.4g} spent"
            )
            self.say(
                f"{spent}: {quantity(number_left, 'sample')} of this round, and all later "
                "rounds, are not asked"
            )

    def _schedule(self, samples: list[Sample]) -> list[Sample] | None:
        """Record samples as scheduled in this attempt and return them; None if there are none."""
        self.scheduled |= dict.fromkeys(str(sample.id) for sample in samples)
        return samples or None

    def _room(self, *, requests_answers: bool) -> int | None:
        """Return how many samples may be scheduled at once by `portion` and the cost limit.

        None stands for any number.

        Args:
            requests_answers: whether the samples request answers, and are not battles.
        """
        limits = [self.portion]
        if self.cost_limit:
            limits.append(self.cost_limit.samples_allowed(requests_answers=requests_answers))
        known_limits = [limit for limit in limits if limit is not None]
        return min(known_limits) if known_limits else None

    def _current_attempt(self) -> dict[str, SampleEnd]:
        """Return what each sample of the current attempt left at its latest end, by id.

        If a new attempt has begun since the last call, `scheduled` is reset to the first samples.
        """
        # The attempt is the shortest suffix of events that has all first samples: a retry in an
        # eval set uses this same object again, and begins by replaying them.
        needed = set(self.seeds)
        start = len(self.events)
        while needed and start:
            start -= 1
            needed.discard(self.events[start][0])
        if start != self.start:
            self.start = start
            self.scheduled = dict.fromkeys(self.seeds)
        return dict(self.events[start:])
