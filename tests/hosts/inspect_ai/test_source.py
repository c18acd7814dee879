"""The source of samples: what is played once, resumed, or repeated."""

import asyncio
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai import eval_retry, eval_set
from inspect_ai.dataset import Sample
from inspect_ai.log import edit_score, read_eval_log, write_eval_log
from inspect_ai.scorer import ScoreEdit
from played_logs import battles, failed_battles, place, verdict_of
from scripted_judge import chance

import podium
from podium.data.pairings import Field, Outcome, Pairing, Round
from podium.hosts.inspect_ai.tasks import chain, round_robin, swim
from podium.hosts.inspect_ai.tournament.round_samples import outcomes_of, plan_built
from podium.hosts.inspect_ai.tournament.tournament_source import TournamentSource
from podium.responses.read import read_responses
from podium.tournaments.anchor import Anchor
from podium.tournaments.chain import Chain
from podium.tournaments.ring import Ring
from podium.tournaments.round_robin import RoundRobin
from podium.tournaments.swim import Swim

NAMES = ("ash", "elm", "fir", "oak", "yew")
FIELD = Field(NAMES, tuple(f"q{k}" for k in range(12)), {})
RULES = {
    "round_robin": RoundRobin(),
    "swim": Swim(),
    "chain": Chain(),
    "anchor": Anchor(pilot=3),
    "ring": Ring(),
}


def plan_samples(pairings, number):
    return plan_built(
        Sample(id=pairing.key, input="", metadata=metadata_of(pairing, number))
        for pairing in pairings
    )


def metadata_of(pairing, number):
    first = {} if pairing.first is None else {"first": pairing.first}
    texts = dict.fromkeys(("instruction", "response_a", "response_b"), "")
    return {
        "item": pairing.item,
        "model_a": pairing.a,
        "model_b": pairing.b,
        **first,
        "round": number,
        **texts,
    }


def outcomes(sample):
    return () if sample.error else (Outcome(pairing_of(sample), sample.credit),)


def source_of(rule):
    return TournamentSource(rule, FIELD, plan_samples, outcomes)


class Host:
    """Drives a source as Inspect does: seeds first, and the next ones whenever nothing is in
    flight."""

    def __init__(self, source, credit=None, *, stop_after=None, failing=()):
        self.source = source
        self.credit = credit or (
            lambda own: (len(own["model_a"] + own["item"]) * 7 + ord(own["model_b"][0])) % 5 / 4
        )
        self.stop_after = stop_after
        self.failing = set(failing)
        self.played = []

    def run(self, earlier=()):
        """Play until the source is done, or until it is stopped; return all samples of this
        attempt."""
        return asyncio.run(self._run({one.id: one for one in earlier if one.error is None}))

    async def _run(self, earlier):
        log, queue = [], list(self.source.initial_samples())
        while queue:
            for sample in queue:
                if sample.id in earlier:
                    done = earlier[sample.id]
                elif self.stop_after is not None and len(self.played) >= self.stop_after:
                    return log
                else:
                    done = self._finished(sample)
                log.append(done)
                await self.source.sample_complete(done)
            queue = await self.source.next_samples() or []
        return log

    def _finished(self, sample):
        self.played.append(sample.id)
        own = sample.metadata
        return SimpleNamespace(
            id=sample.id,
            epoch=1,
            store={},
            events=[],
            metadata=own,
            error=SimpleNamespace(message="failed") if sample.id in self.failing else None,
            credit=self.credit(own) if "model_a" in own else None,
        )


def ids(log):
    return [one.id for one in log]


def schedule(log):
    return [(one.id, one.metadata["podium round"]) for one in log if "podium round" in one.metadata]


@pytest.fixture(params=RULES)
def rule(request):
    return RULES[request.param]


def test_everything_is_played_exactly_once(rule):
    host = Host(source_of(rule))
    log = host.run()
    assert len(ids(log)) == len(set(ids(log)))
    assert len([one for one in log if "model_a" in one.metadata]) == len(
        {one.id for one in log if "::" in one.id}
    )


def test_source_restarted_from_an_empty_log_plays_everything(rule):
    source = source_of(rule)
    first, again = Host(source).run(), Host(source).run()
    assert ids(first) == ids(again)


@pytest.mark.parametrize("stop", [1, 7, 12, 13, 20, 30])
def test_source_restarted_after_a_stop_plays_only_the_rest(rule, stop):
    whole = Host(source_of(rule)).run()
    source = source_of(rule)
    first = Host(source, stop_after=stop)
    cut = first.run()
    second = Host(source)
    log = second.run(earlier=cut)
    assert sorted(ids(log)) == sorted(ids(whole))
    assert schedule(log) == schedule(whole)
    assert not set(first.played) & set(second.played)
    assert len(first.played) + len(second.played) == len(whole)


@pytest.mark.slow
@given(st.lists(st.integers(1, 25), min_size=1, max_size=6), st.sampled_from(sorted(RULES)))
@settings(deadline=None, max_examples=60)
def test_however_often_it_is_stopped_everything_is_played_once(stops, name):
    rule = RULES[name]
    whole = Host(source_of(rule)).run()
    source, log, played = source_of(rule), [], []
    for stop in stops:
        host = Host(source, stop_after=stop)
        # What a stopped attempt did not come to is still in the log that it started from.
        log = list({one.id: one for one in [*log, *host.run(earlier=log)]}.values())
        played += host.played
    host = Host(source)
    log = host.run(earlier=log)
    assert sorted(ids(log)) == sorted(ids(whole))
    assert sorted(played + host.played) == sorted(ids(whole))


def test_a_new_process_goes_on_from_the_log_alone(rule):
    whole = Host(source_of(rule)).run()
    cut = Host(source_of(rule), stop_after=20).run()
    log = Host(source_of(rule)).run(earlier=cut)
    assert sorted(ids(log)) == sorted(ids(whole))


STOPPING = Field(NAMES, tuple(f"q{k:02d}" for k in range(60)), {})
"""Items enough for two looks before the last."""


def stopping_source():
    return TournamentSource(
        Ring(until="order", start=25), STOPPING, plan_samples, outcomes, say=lambda _: None
    )


def better_name(own):
    """Judge most items by name, so that some leave at the first look and others at none."""
    return 0.5 if int(own["item"][1:]) % 3 else float(ord(own["model_a"][0]) > ord("d"))


@pytest.mark.slow
@pytest.mark.parametrize("stop", [1, 124, 125, 126, 200, 260])
def test_killed_ring_resumes_with_the_same_opponents_and_decisions_without_repeated_calls(stop):
    """Before, at and behind the announcement of a round; the new process has nothing but the
    log."""
    whole = Host(stopping_source(), credit=better_name).run()
    assert "podium answer" in whole[-1].metadata
    assert len(schedule(whole)) - 1 > 1
    first = Host(stopping_source(), credit=better_name, stop_after=stop)
    cut = first.run()
    second = Host(stopping_source(), credit=better_name)
    log = second.run(earlier=cut)
    assert not set(first.played) & set(second.played)
    assert sorted(first.played + second.played) == sorted(ids(whole)) == sorted(ids(log))
    assert schedule(log) == schedule(whole)
    assert log[-1].metadata["podium answer"] == whole[-1].metadata["podium answer"]


@pytest.mark.slow
def test_a_ring_whose_verdicts_changed_plays_the_rounds_on_record_and_ends_where_the_record_ends():
    """Neither does it stop earlier, were the answer known by now, nor go on, were it not known any
    more."""
    whole = Host(stopping_source(), credit=better_name).run()
    for credit in (1.0, 0.5):
        changed = [
            SimpleNamespace(**{**vars(one), "credit": one.credit and credit}) for one in whole
        ]
        host = Host(stopping_source(), credit=better_name)
        log = host.run(earlier=changed)
        assert host.played == []
        assert schedule(log) == schedule(whole)
        assert log[-1].metadata["podium answer"] == whole[-1].metadata["podium answer"]


def test_changed_verdicts_do_not_change_the_recorded_pairs():
    def other(own):
        return float(own["model_a"] == "elm" or own["model_b"] == "ash")

    whole = Host(source_of(Swim())).run()
    changed = [
        SimpleNamespace(**{**vars(one), "credit": one.credit and other(one.metadata)})
        for one in whole
    ]
    host = Host(source_of(Swim()))
    log = host.run(earlier=changed)
    assert host.played == []
    assert schedule(log) == schedule(whole)
    assert schedule(Host(source_of(Swim()), credit=other).run()) != schedule(whole), (
        "these verdicts would matter"
    )


@pytest.mark.fast_cases(3)
def test_battles_that_failed_are_played_by_the_retry_and_their_round_stays_as_it_was(rule):
    source = source_of(rule)
    failing = source.initial_samples()[::3]
    first = Host(source, failing=[one.id for one in failing])
    log = first.run()
    second = Host(source)
    again = second.run(earlier=log)
    assert set(second.played) == {one.id for one in failing}
    assert schedule(again) == schedule(log)
    assert all(one.error is None for one in again)


def test_a_battle_that_was_abandoned_does_not_stop_the_tournament():
    source = source_of(Swim())
    asyncio.run(source.sample_abandoned(source.initial_samples()[0], 1))
    host = Host(source)
    assert len([one for one in host.run() if "model_a" in one.metadata]) == len(
        {b for b in host.played if "::" in b}
    )


def test_tournament_with_many_rounds_distinguishes_its_rounds():
    names = tuple(f"m{k:02d}" for k in range(20))
    source = TournamentSource(Swim(), Field(names, ("q0",), {}), plan_samples, outcomes)
    log = Host(source).run()
    assert len(schedule(log)) == 64
    assert len(ids(log)) == 65 + 64


# With Inspect itself.


@pytest.mark.slow
@pytest.mark.parametrize("task", [round_robin, swim, chain])
def test_an_eval_set_whose_judge_fails_once_plays_everything_exactly_once(
    task, behave, record, write_responses, tmp_path
):
    behave(errors=0.3, fails_first=True)
    whole, logs = eval_set(
        task(responses=write_responses()),
        log_dir=str(tmp_path / "set"),
        model_roles={"judge": "scripted/judge"},
        fail_on_error=True,
        continue_on_fail=True,
        retry_attempts=6,
        retry_wait=0.01,
        retry_immediate=False,
    )
    assert whole
    log = read_eval_log(logs[0].location)
    number = {round_robin: 36, swim: 24, chain: 18}[task]
    assert len(battles(log)) == number
    assert all(one.error is None and verdict_of(one).value is not None for one in battles(log))
    failed = len([1 for count in record.times().values() if count > 1])
    assert failed > 0
    assert record.calls == 2 * number + failed
    assert "podium" in log.results.metadata


@pytest.mark.slow
def test_an_eval_set_that_stops_at_the_first_failure_plays_everything_in_the_end(
    behave, record, write_responses, tmp_path
):
    behave(errors=0.1, fails_first=True)
    whole, logs = eval_set(
        swim(responses=write_responses()),
        log_dir=str(tmp_path / "set"),
        model_roles={"judge": "scripted/judge"},
        fail_on_error=True,
        max_samples=2,
        retry_attempts=20,
        retry_wait=0.01,
        retry_immediate=False,
    )
    assert whole
    log = read_eval_log(logs[0].location)
    assert len(battles(log)) == 24
    assert all(one.error is None for one in battles(log))
    assert len(log.results.metadata["podium"]["rankings"][0]["models"]) == 4


@pytest.mark.slow
def test_finished_eval_set_makes_no_call_and_is_ranked_once(
    behave, record, write_responses, tmp_path
):
    options = {"log_dir": str(tmp_path / "set"), "model_roles": {"judge": "scripted/judge"}}
    paths = write_responses()
    eval_set(round_robin(responses=paths), **options)
    before = record.calls
    _, [log] = eval_set(round_robin(responses=paths), **options)
    assert record.calls == before
    log = read_eval_log(log.location)
    assert len(log.results.metadata["podium"]["rankings"]) == 1
    assert len([one for one in log.results.scores if one.scorer == "podium/bradley-terry"]) == 1 + 4


@pytest.mark.slow
def test_a_retry_asks_for_the_battles_that_failed_and_no_others(
    play, behave, record, write_responses
):
    behave(errors=0.2)
    log = play(swim(responses=write_responses()))
    failed = failed_battles(log)
    lost = sum(chance(prompt, "error") < 0.2 for _, prompt in record.prompts)
    assert failed
    before = {
        one.id: one.metadata.get("podium round")
        for one in log.samples
        if "podium round" in one.metadata
    }
    behave()
    record.prompts.clear()
    [again] = eval_retry(log.location)
    again = read_eval_log(again.location)
    assert len(failed) <= record.calls == lost
    assert all(one.error is None for one in again.samples)
    assert podium.read_battles(str(place(again))).counts().unparsed == 0
    assert len(battles(again)) == 24
    after = {
        one.id: one.metadata.get("podium round")
        for one in again.samples
        if "podium round" in one.metadata
    }
    assert after == before


@pytest.mark.slow
def test_a_retry_with_verdicts_that_were_changed_keeps_the_opponents(
    play, behave, record, write_responses
):
    behave(errors=0.15)
    paths = write_responses(SIX)
    log = play(swim(responses=paths))
    assert failed_battles(log)
    for sample in battles(log):
        if not sample.error:
            value = float("ash" in sample.id)
            edit_score(log, sample.id, "verdict", ScoreEdit(value=value), recompute_metrics=False)
    write_eval_log(log)
    behave()
    [again] = eval_retry(log.location)
    again = read_eval_log(again.location)
    assert {one.id for one in again.samples} == {one.id for one in log.samples}
    assert any(pairings != recomputed for pairings, recomputed in rounds(log, paths)), (
        "these verdicts would matter"
    )


SIX = {"ash": 1.2, "elm": 1.9, "fir": 0.7, "oak": 2.4, "yew": 1.6, "box": 0.2}


def rounds(log, paths):
    """Yield what each round played, and what it would have been by the verdicts that are in the
    log."""
    field = read_responses(*paths).field()
    by_round = {}
    for one in battles(log):
        ended = outcomes_of(one) or (Outcome(pairing_of(one), None),)
        by_round.setdefault(one.metadata["round"], []).extend(ended)
    played = [Round(tuple(by_round[number])) for number in sorted(by_round)]
    for number, one in enumerate(played):
        yield {o.pairing for o in one.outcomes}, set(Swim().next(field, played[:number]).pairings)


def pairing_of(sample):
    own = sample.metadata
    return Pairing(own["item"], own["model_a"], own["model_b"], first=own.get("first"))


@pytest.mark.slow
def test_changed_responses_are_another_task_for_an_eval_set(write_responses):
    first = round_robin(responses=write_responses()).version
    assert round_robin(responses=write_responses()).version == first
    assert round_robin(responses=write_responses(texts={("oak", 0): "other"})).version != first
