"""Killed, failing and garbled: Inspect's command against a judge behind HTTP, by the judge's own
count.

`PODIUM_KILLS=10` kills every tournament at ten points instead of two.
"""

import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("openai")

import forked
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from played_logs import credit_of
from stand_in import Call, StandIn, mark, preference, stand_in

from podium.data.pairings import Field, Outcome, Pairing, Round
from podium.hosts.inspect_ai.logs.sample_answers import responses_in
from podium.responses.transcripts import ANSWER_ALONE
from podium.tournaments.round_robin import RoundRobin
from podium.tournaments.swim import Swim

KILLS = int(os.environ.get("PODIUM_KILLS", "2"))
TASKS = ("round_robin", "swim")
RULES = {"round_robin": RoundRobin(), "swim": Swim()}
MODELS = ("ash", "elm", "fir", "oak")
ITEMS = tuple(f"q{k}" for k in range(10))
QUALITY = {
    (item, one): round(random.Random(item + one).random(), 3) for item in ITEMS for one in MODELS
}
PER_BATTLE = 2
IN_FLIGHT = 4
"""Battles, and calls, that a run may have in flight."""
SOON = 5
"""Seconds in which an answer has surely reached its run, on a busy machine, too."""

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Host:
    """The command, in a folder of its own, and the judge that it asks."""

    folder: Path
    judge: StandIn
    given: tuple[str, ...] = ("-T", "responses=responses")

    def start(self, command: str, *arguments: str, judge: str = "fair") -> BaseProcess:
        """Start `inspect`."""
        environment = {
            **os.environ,
            "STANDIN_BASE_URL": f"{self.judge.address}/v1",
            "STANDIN_API_KEY": "none",
            "INSPECT_CACHE_DIR": str(self.folder / "cache"),
            "INSPECT_LOG_DIR": str(self.folder / "logs"),
            "XDG_DATA_HOME": str(self.folder / "data"),
            "INSPECT_DISPLAY": "plain",
        }
        role = f"judge={{model: openai-api/standin/{judge}}}"
        flight = [f"--max-{what}={IN_FLIGHT}" for what in ("connections", "samples")]
        asked = [*flight, *([] if command == "eval-retry" else [*self.given, "--model-role", role])]
        streams = (self.folder / "output.txt",) * 2
        words = (command, *arguments, *asked)
        return forked.start(
            "inspect", *words, folder=self.folder, environment=environment, streams=streams
        )

    def run(self, command: str, *arguments: str, judge: str = "fair") -> EvalLog:
        """Run `inspect` to its end; give the log that it wrote."""
        process = self.start(command, *arguments, judge=judge)
        process.join(timeout=180)
        assert process.exitcode == 0, (self.folder / "output.txt").read_text()
        return read_eval_log(str(self.logs()[-1]))

    def logs(self) -> list[Path]:
        """Return the logs, the newest last."""
        return sorted((self.folder / "logs").glob("*.eval"))

    def killed_after(self, calls: int, *arguments: str) -> list[Call]:
        """Kill a run as soon as the judge was called so often; return all calls by then."""
        process = self.start("eval", *arguments)
        while process.is_alive() and len(self.judge.calls()) < calls:
            time.sleep(0.005)
        process.kill()
        process.join()
        assert process.exitcode == -9, "the run ended before it was killed"
        return self.judge.calls()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """Return the command, responses of four models to ten items, and a judge that counts."""
    folder = tmp_path / "responses"
    folder.mkdir()
    for one in MODELS:
        rows = [
            {
                "id": item,
                "model": one,
                "instruction": f"Do {item}.",
                "response": mark(item, one, QUALITY[item, one]),
            }
            for item in ITEMS
        ]
        (folder / f"{one}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with stand_in() as judge:
        judge.script(latency=0.02)
        yield Host(tmp_path, judge)


def credit(pairing: Pairing) -> float:
    """Return the credit of `a` in both orders, by the judge's probabilities."""
    a, b = QUALITY[pairing.item, pairing.a], QUALITY[pairing.item, pairing.b]
    return (preference(a, b) + 1 - preference(b, a)) / 2


def schedule(task: str, known: Mapping[str, float] = MappingProxyType({})) -> set[str]:
    """Play a tournament without Inspect, with verdicts that are known or the judge's; return its
    battles."""
    rule, field, played = RULES[task], Field(MODELS, ITEMS, {}), []
    while (coming := rule.next(field, played)).pairings:
        played.append(
            Round(tuple(Outcome(one, known.get(one.key, credit(one))) for one in coming.pairings))
        )
    return {one.pairing.key for each in played for one in each.outcomes}


def battles(log: EvalLog) -> list[EvalSample]:
    """Return the samples that are battles, without those that repeat failed calls."""
    own = [sample for sample in log.samples or [] if "model_a" in sample.metadata]
    return [sample for sample in own if "podium earlier" not in sample.metadata]


def id_of(sample: EvalSample) -> str:
    """Return the id of a sample: that of a repetition comes after that of its battle."""
    return str(sample.id)


def battle_of(sample: EvalSample) -> str:
    """Return the battle of a sample, or of one that repeats its failed calls."""
    return str(sample.id).replace("::again", "")


def failed_in(log: EvalLog) -> set[str]:
    """Return the battles whose calls failed."""
    return {battle_of(one) for one in log.samples or [] if one.error}


def earned(log: EvalLog) -> dict[str, float]:
    """Return the credit of `a` by battle, where it was parsed."""
    judged = sorted(
        (one for one in log.samples or [] if "model_a" in one.metadata and one.scores), key=id_of
    )
    values = {battle_of(one): credit_of(one) for one in judged}
    return {key: value for key, value in values.items() if value is not None and value == value}


def of_battle(call: Call) -> str:
    """Return the battle of which a call is one order."""
    return Pairing(call.item, *sorted((call.first, call.second))).key


def shown(call: Call) -> tuple[str, str, str]:
    """Return what a call shows, whatever words ask for a verdict."""
    return call.item, call.first, call.second


def repeated_prompts(calls: Iterable[Call]) -> Counter[str]:
    """Count the repeated calls of each prompt."""
    asked = Counter(call.key for call in calls)
    return asked - Counter(asked.keys())


def standings(log: EvalLog) -> dict[str, Any]:
    """Return the ranking in the log itself."""
    [ranking] = log.results.metadata["podium"]["rankings"]
    return ranking


def assert_judged(
    log: EvalLog, planned: set[str], unparsed: Iterable[str] = (), failed: Iterable[str] = ()
) -> None:
    """The log holds these battles, each once, and the verdicts that the judge gave, but for
    some."""
    assert log.status == ("error" if failed else "success")
    assert sorted(str(one.id) for one in battles(log)) == sorted(planned)
    read = {key: credit(Pairing(*key.split("::"))) for key in planned - {*unparsed, *failed}}
    assert earned(log) == pytest.approx(read, abs=1e-9)


def assert_ranked(log: EvalLog, planned: set[str], unparsed: Iterable[str] = ()) -> None:
    """The ranking counts every battle, as judged or as unparsed, and every model's own are those
    that were judged."""
    counts, read = standings(log)["counts"], planned - set(unparsed)
    assert (counts["battles"], counts["judged"], counts["unparsed"]) == (
        len(planned),
        len(read),
        len(planned - read),
    )
    own = Counter(name for key in read for name in key.split("::")[1:])
    assert {row["model"]: row["battles"] for row in standings(log)["models"]} == own


@pytest.mark.parametrize("number", range(KILLS))
@pytest.mark.parametrize("task", TASKS)
def test_a_killed_tournament_is_taken_up_and_repeats_only_the_battles_in_flight(host, task, number):
    """Without a cache, only the log says what was played."""
    planned = schedule(task)
    point = random.Random(f"{task} {number}").randrange(1, PER_BATTLE * len(planned))
    before = host.killed_after(point, f"podium/{task}", "-T", "cache=false")
    log = host.run("eval-retry", str(host.logs()[0]))
    calls = host.judge.calls()
    assert_judged(log, planned)
    assert_ranked(log, planned)
    assert {of_battle(call) for call in calls} == planned
    repeated = repeated_prompts(calls)
    assert set(repeated) <= {call.key for call in before}
    assert max(repeated.values(), default=1) == 1
    assert len({of_battle(call) for call in calls if call.key in repeated}) <= IN_FLIGHT


def test_with_the_cache_a_killed_tournament_repeats_only_the_calls_in_flight(host):
    planned = schedule("swim")
    before = host.killed_after(len(planned), "podium/swim")
    killed = time.time()
    assert_judged(host.run("eval-retry", str(host.logs()[0])), planned)
    repeated = repeated_prompts(host.judge.calls())
    assert sum(repeated.values()) <= IN_FLIGHT
    ended = [call.ended for call in before if call.key in repeated and call.ended is not None]
    assert all(killed - moment < SOON for moment in ended), (
        "an answer that had long arrived was asked for again"
    )


@pytest.mark.parametrize("task", TASKS)
def test_eval_set_retries_only_failed_judge_calls(host, task):
    """No call that was answered is made again, whatever else of its battle failed.

    Opponents in swim depend on earlier failures, and are not recomputed.
    """
    host.judge.script(faults={"500": 0.7}, calls=40)
    once = ("--max-retries=0", "-T", "cache=false")
    log = host.run("eval-set", f"podium/{task}", "--retry-attempts=3", *once)
    calls = host.judge.calls()
    planned = {of_battle(call) for call in calls}
    assert len(planned) == len(schedule(task))
    assert_judged(log, planned)
    assert_ranked(log, planned)
    assert not repeated_prompts(call for call in calls if call.fate == "answered")
    failed = {call.key for call in calls if call.fate == "500"}
    assert failed
    assert failed <= {call.key for call in calls if call.fate == "answered"}


RING = ("podium/ring", "-T", "until=order", "-T", "start=25", "-T", "cache=false")
ASKED = 30
"""Items of a ring: 25 visits to the first look, and some of the second round."""


def write_asked(folder: Path, models: Iterable[str]) -> None:
    """Write responses to the items of a ring: two nearly equal models that are much better than two
    others."""
    for place, one in enumerate(models):
        rows = []
        for item in (f"q{k:02d}" for k in range(ASKED)):
            own = round(random.Random(item + one).random() / 4 + (place > 1), 3)
            rows.append(
                {
                    "id": item,
                    "model": one,
                    "instruction": f"Do {item}.",
                    "response": mark(item, one, own),
                }
            )
        (folder / f"{one}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def answer_in(log: EvalLog) -> dict[str, Any]:
    """Return what the tournament found."""
    [found] = [
        sample.metadata["podium answer"]
        for sample in log.samples or []
        if "podium answer" in sample.metadata
    ]
    return found


def test_ring_killed_in_its_second_round_resumes_with_the_same_pairs_and_decisions(host):
    """No judgment that was in the log is repeated, and calls asked are calls charged but for those
    in flight."""
    write_asked(host.folder / "responses", MODELS)
    whole = host.run("eval", *RING)
    planned = Counter(shown(call) for call in host.judge.calls())
    assert set(planned.values()) == {1}
    assert answer_in(whole)["calls"] == len(planned)
    known = len(host.judge.calls())
    before = host.killed_after(known + round(0.9 * len(planned)), *RING)[known:]
    log = host.run("eval-retry", str(host.logs()[-1]))
    calls = host.judge.calls()[known:]
    assert {shown(call) for call in calls} == set(planned)
    repeated = repeated_prompts(calls)
    assert sum(repeated.values()) <= IN_FLIGHT
    assert set(repeated) <= {call.key for call in before}
    assert answer_in(log) == answer_in(whole)
    assert log.status == "success"


SUMMING = tuple(f"openai-api/standin/{name}" for name in ("ash-0.9", "elm-0.6", "fir-0.3"))
"""Models that answer on demand."""


@pytest.mark.parametrize("point", [15, 60])
def test_answers_on_demand_are_asked_once_though_killed_while_models_or_the_judge_were_asked(
    host, point
):
    """Without a cache, and no more calls than were announced but for those in flight at the
    kill."""
    prompts = host.folder / "prompts.jsonl"
    prompts.write_text(
        "".join(json.dumps({"id": f"q{k}", "prompt": f"{k} plus {k}?"}) + "\n" for k in range(10))
    )
    asking = replace(
        host, given=("-T", f"prompts={prompts}", "--model-role", f"models=[{','.join(SUMMING)}]")
    )
    before = asking.killed_after(point, "podium/round_robin", "-T", "cache=false")
    assert any(call.second for call in before) == (point == 60)
    log = asking.run("eval-retry", str(asking.logs()[0]))
    assert log.status == "success"
    calls, stated = host.judge.calls(), (host.folder / "output.txt").read_text()
    answers = {call.key for call in calls if not call.second}
    assert (
        len(battles(log))
        == len([row for row in responses_in(Path(log.location), ANSWER_ALONE) if row.text])
        == 30
    )
    assert "at most 30 battles, 60 calls per judge" in stated
    assert "at most 30 answers are asked of" in stated
    assert (len(answers), len({call.key for call in calls}) - len(answers)) == (30, 60)
    repeated = repeated_prompts(calls)
    assert set(repeated) <= {call.key for call in before}
    assert sum(repeated.values()) <= IN_FLIGHT * PER_BATTLE
    assert point == 15 or not answers & set(repeated), (
        "an answer was there, and was asked for again"
    )


def test_killed_newcomer_run_resumes_with_the_same_opponents(host):
    """The earlier battles count in the retry, too, and the earlier models are not judged again."""
    for one in MODELS:
        (host.folder / "responses" / f"{one}.jsonl").unlink()
    write_asked(host.folder / "responses", MODELS[:3])
    host.run("eval", "podium/ring")
    earlier, known = str(host.logs()[0]), len(host.judge.calls())
    write_asked(host.folder / "responses", MODELS)
    joining = (*RING, "-T", f"earlier={earlier}")
    before = host.killed_after(known + 25, *joining)[known:]
    log = host.run("eval-retry", str(host.logs()[-1]))
    calls = host.judge.calls()[known:]
    assert all("oak" in (call.first, call.second) for call in calls)
    assert sum(repeated_prompts(calls).values()) <= IN_FLIGHT
    assert set(repeated_prompts(calls)) <= {call.key for call in before}
    assert answer_in(log)["battles"] == len({shown(call) for call in calls}) == len(battles(log))
    stated = answer_in(log)["decisions"][0]
    assert stated.startswith("2 of 3 pairs with newcomers are decided"), (
        "fir is as good; nothing without the old"
    )


def test_an_eval_set_shows_its_ranking_once(host):
    host.run("eval-set", "podium/chain")
    assert (host.folder / "output.txt").read_text().count("podium: wrote") == 1
    host.run("eval-set", "podium/chain")
    assert (host.folder / "output.txt").read_text().count("podium: wrote") == 2


def test_opponents_are_unchanged_when_failed_battles_are_judged_later(host):
    host.judge.script(faults={"404": 0.5}, lasting=True, draw=6)
    host.run("eval", "podium/swim", "-T", "cache=false")
    first = host.judge.calls()
    planned = {of_battle(call) for call in first}
    host.judge.script(turned=True)
    log = host.run("eval-retry", str(host.logs()[0]))
    assert log.status == "success"
    assert set(earned(log)) == planned
    later = {of_battle(call) for call in host.judge.calls()[len(first) :]}
    assert later == {of_battle(call) for call in first if call.fate == "404"}
    assert schedule("swim", earned(log)) != planned, (
        "these verdicts would have led to the same opponents"
    )


def test_temporarily_failing_judge_is_retried_until_it_replies(host):
    host.judge.script(faults=dict.fromkeys(("429", "500", "hang", "close", "reply"), 0.01), draw=8)
    log = host.run(
        "eval", "podium/round_robin", "-T", "replies=text", judge="fair, attempt_timeout: 3"
    )
    planned, calls = schedule("round_robin"), host.judge.calls()
    assert {call.fate for call in calls} >= {"429", "500", "close", "reply", "answered"}
    assert any(call.ended is None for call in calls), "no call was left without an answer"
    assert_judged(log, planned)
    assert len({call.key for call in calls if call.fate == "answered"}) == PER_BATTLE * len(planned)


def test_battles_whose_calls_fail_for_good_are_sample_errors_and_a_retry_asks_for_them_alone(host):
    host.judge.script(
        faults=dict.fromkeys(("429", "500", "body", "close"), 0.0125), lasting=True, draw=5
    )
    log = host.run("eval", "podium/round_robin", "--max-retries=0", "-T", "cache=false")
    planned = schedule("round_robin")
    failed = {of_battle(call) for call in host.judge.calls() if call.fate != "answered"}
    assert failed
    assert failed_in(log) == failed
    lost = len({call.key for call in host.judge.calls() if call.fate != "answered"})
    assert_judged(log, planned, failed=failed)
    assert_ranked(log, planned, failed)
    asked = len(host.judge.calls())
    host.judge.script()
    assert_judged(host.run("eval-retry", str(host.logs()[0])), planned)
    assert {of_battle(call) for call in host.judge.calls()[asked:]} == failed
    assert len(host.judge.calls()) - asked == lost


def test_unreadable_replies_are_retried_and_then_counted_with_their_reasons(host):
    host.judge.script(faults={"reply": 0.05}, lasting=True, draw=2)
    log = host.run("eval", "podium/round_robin", "-T", "replies=text")
    planned, calls = schedule("round_robin"), host.judge.calls()
    garbled = {shown(call) for call in calls if call.fate == "reply"}
    unparsed = {of_battle(call) for call in calls if shown(call) in garbled}
    assert garbled
    assert Counter(map(shown, calls)) == {one: 1 + (one in garbled) for one in map(shown, calls)}
    assert len({call.key for call in calls}) == len(calls), "a repeated prompt states the form"
    assert_judged(log, planned, unparsed=unparsed)
    assert_ranked(log, planned, unparsed)
    rows = [
        row for one in battles(log) for row in one.scores["verdict"].metadata["podium"]["judgments"]
    ]
    assert len([row for row in rows if row["credit"] is None and row["reason"]]) == len(garbled)


def test_a_second_run_makes_no_call_and_another_judge_makes_all(host):
    """And a credit is the probability that the judge gave, in either order."""
    first = host.run("eval", "podium/swim")
    calls = host.judge.calls()
    reported = {(call.item, call.first, call.second): call.probability for call in calls}
    assert len(calls) == len(reported) == PER_BATTLE * len(schedule("swim"))
    for one in battles(first):
        item, a, b = (one.metadata[name] for name in ("item", "model_a", "model_b"))
        rows = one.scores["verdict"].metadata["podium"]["judgments"]
        soft = {row["order"]: row["credit"] for row in rows}
        assert soft == pytest.approx(
            {"ab": reported[item, a, b], "ba": 1 - reported[item, b, a]}, abs=1e-9
        )
    assert earned(host.run("eval", "podium/swim")) == earned(first)
    assert len(host.judge.calls()) == len(calls)
    host.run("eval", "podium/swim", judge="stern")
    assert Counter(call.model for call in host.judge.calls()) == {
        "fair": len(calls),
        "stern": len(calls),
    }
