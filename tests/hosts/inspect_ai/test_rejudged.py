"""A tournament is re-judged: the same pairings and answers, another judge, or the same one once
more."""

import random
import re
from collections import Counter

import pandas as pd
import pytest
from played_logs import figures, place

import podium
from podium.diagnosis.card import diagnose
from podium.errors import UsageError
from podium.hosts.inspect_ai.logs.podium_entries import parse_battles
from podium.hosts.inspect_ai.logs.recorded_battles import recorded_battles
from podium.hosts.inspect_ai.tasks import recorded_task as recorded
from podium.hosts.inspect_ai.tasks import ring, round_robin
from podium.notices.notice_text import notice_text
from podium.responses.transcripts import ANSWER_ALONE


def met(log):
    """Return items, models, order and responses of the battles."""
    every = [battle for sample in log.samples for battle in parse_battles(sample.metadata)]
    names = ("item", "model_a", "model_b", "first", "response_a", "response_b", "instruction")
    return Counter(tuple(getattr(battle, name) for name in names) for battle in every)


def moody(prompt: str, seen: Counter) -> str:
    """Return a verdict that depends on the prompt and on how often it was asked."""
    seen[prompt] += 1
    return random.Random(f"{prompt} {seen[prompt]}").choice("AB")


def cards(*paths):
    """Return the card of the judges of some logs."""
    return diagnose(podium.read_battles(*paths, merge=False), podium.read_battles(*paths))


@pytest.mark.slow
def test_another_judge_plays_every_pairing_with_the_same_answers(
    play, behave, write_responses, run_podium
):
    first = play(round_robin(responses=write_responses(), pack=True), behave("old", bias=0.3))
    again = play(recorded(battles=str(place(first))), behave("new", bias=1.5), log_dir="again")
    assert met(again) == met(first)
    assert sum(met(first).values()) == 36
    reported = cards(place(first), place(again))
    assert [card.subject.judge.partition("|")[0] for card in reported.cards] == [
        "scripted/new",
        "scripted/old",
    ]
    whole = play(
        round_robin(responses=write_responses(), pack=True),
        behave("new", bias=1.5),
        log_dir="whole",
    )
    [alone], apart = cards(place(whole)).cards, reported.cards[0]
    assert apart.to_dict()["sections"]["position"] == alone.to_dict()["sections"]["position"]
    code, out, _ = run_podium("diagnose", str(place(first)), str(place(again)))
    assert code == 0
    assert "re-judged: 36 of 36 battles" in re.sub(r"\s+", " ", out)


@pytest.mark.slow
def test_rejudging_by_the_same_judge_agrees_as_the_repeat_column_does(
    play, behave, write_responses
):
    seen: Counter = Counter()
    judge = behave(scripted=lambda prompt: moody(prompt, seen), probabilities=False)
    first = play(round_robin(responses=write_responses()), judge)
    again = play(recorded(battles=str(place(first))), judge, log_dir="again")
    assert {*seen.values()} == {2}  # nothing comes from the cache
    seen.clear()
    twice = play(
        round_robin(responses=write_responses(), repeats=2, cache=False), judge, log_dir="twice"
    )
    [one], [other] = cards(place(first), place(again)).cards, cards(place(twice)).cards
    assert one.to_dict()["sections"]["consistency"] == other.to_dict()["sections"]["consistency"]
    assert one.answers["consistency"].retest.n == 72
    assert 0.2 < one.answers["consistency"].retest.value < 0.8
    third = recorded_battles(str(place(first)), str(place(again)), show=ANSWER_ALONE)
    assert [*third.repeats.values()] == [2]


@pytest.mark.slow
def test_a_ring_keeps_its_orders_unless_orders_are_typed(play, behave, write_responses, record):
    first = play(ring(responses=write_responses()))
    again = play(recorded(battles=str(place(first))), behave("new"), log_dir="again")
    assert met(again) == met(first)
    assert all(battle[3] is not None for battle in met(again))
    before = record.calls
    both = play(recorded(battles=str(place(first)), orders="both"), behave("third"), log_dir="both")
    assert record.calls - before == 2 * sum(met(first).values())
    assert {battle[3] for battle in met(both)} == {None}


@pytest.mark.slow
def test_a_run_that_did_not_end_is_no_source_for_itself(play, behave, write_responses):
    first = play(round_robin(responses=write_responses()), behave("old"))
    play(recorded(battles="logs"), behave("new", errors=0.3))
    assert {*recorded_battles("logs", show=ANSWER_ALONE).repeats} == {
        *recorded_battles(str(place(first)), show=ANSWER_ALONE).repeats
    }
    assert len(recorded_battles("logs", show=ANSWER_ALONE).pairings) == 36


@pytest.mark.slow
def test_shards_rejudge_a_record_like_a_single_run(play, behave, write_responses):
    first = play(round_robin(responses=write_responses(), pack=True), behave("old", bias=0.3))
    single = play(recorded(battles=str(place(first))), behave("new", bias=1.5), log_dir="single")
    parts = [
        play(recorded(battles="logs", shard=f"{k}/2"), behave("new", bias=1.5)) for k in (1, 2)
    ]
    assert sum((met(part) for part in parts), Counter()) == met(single) == met(first)
    tables = [podium.read_battles(*map(str, map(place, logs))) for logs in (parts, [single])]
    own, expected = (figures(podium.rank(battles)) for battles in tables)
    assert own == expected
    assert [len(battles) for battles in tables] == [36, 36]
    assert {*recorded_battles("logs", show=ANSWER_ALONE).repeats.values()} == {1}


@pytest.mark.slow
def test_verdicts_of_a_table_are_played_beside_responses_and_what_has_none_is_missing(
    write_responses, capsys
):
    rows = [
        ("q0", "oak", "ash"),
        ("q0", "elm", "ash"),
        ("q1", "oak", "ash"),
        ("q9", "oak", "ash"),
        ("q1", "yew", "ash"),
    ]
    table = pd.DataFrame(rows, columns=["item", "model_a", "model_b"]).assign(
        credit=1.0, judge="human"
    )
    table.to_csv("verdicts.csv", index=False)
    task = recorded(battles="verdicts.csv", responses=write_responses())
    pairs = {
        (one.metadata["item"], one.metadata["model_a"], one.metadata["model_b"])
        for one in task.dataset
    }
    assert pairs == {("q0", "ash", "oak"), ("q0", "ash", "elm"), ("q1", "ash", "oak")}
    stated = capsys.readouterr().err
    assert (
        "2 of 5 recorded battles have no responses here and are missing, such as ash and oak on q9"
        in stated
    )
    assert "3 battles, 6 calls per judge" in stated
    assert task.metadata["podium_left_out"] == 2


def test_a_sample_of_a_table_is_drawn_over_pairs(write_responses):
    rows = [
        (f"q{k}", a, b)
        for k in range(6)
        for a, b in (("ash", "elm"), ("ash", "fir"), ("elm", "fir"))
    ]
    pd.DataFrame(rows, columns=["item", "model_a", "model_b"]).assign(credit=0.5).to_csv(
        "verdicts.csv", index=False
    )
    task = recorded(battles="verdicts.csv", responses=write_responses(), sample=9, pack=False)
    assert {
        *Counter(
            (one.metadata["model_a"], one.metadata["model_b"]) for one in task.dataset
        ).values()
    } == {3}
    assert not any("battles" in one.metadata for one in task.dataset)


@pytest.mark.slow
def test_what_cannot_be_rejudged_is_rejected_with_the_remedy(write_responses):
    paths = write_responses()
    pd.DataFrame({"item": ["x"], "model_a": ["a"], "model_b": ["b"], "credit": [1.0]}).to_csv(
        "v.csv", index=False
    )
    pd.DataFrame({"model_a": ["ash"], "model_b": ["oak"], "credit": [1.0]}).to_csv(
        "no_items.csv", index=False
    )
    with pytest.raises(UsageError, match="needs battles to re-judge: -T battles=LOG"):
        recorded(responses=paths)
    with pytest.raises(UsageError, match="no recorded battle is of these models and items"):
        recorded(battles="v.csv", responses=paths)
    with pytest.raises(UsageError, match="no row names its item"):
        recorded(battles="no_items.csv", responses=paths)
    with pytest.raises(UsageError, match="no responses were named"):
        recorded(battles="v.csv")
    with pytest.raises(UsageError, match="podium/recorded plays recorded ones"):
        round_robin(responses=paths, battles="v.csv")
    with pytest.raises(UsageError, match="sample=0"):
        recorded(battles="v.csv", responses=paths, sample=0)


def test_a_damaged_log_beside_the_recorded_battles_is_told(play, write_responses, capsys):
    first = play(round_robin(responses=write_responses()))
    place(first).with_name("damaged.eval").write_bytes(b"no log")
    capsys.readouterr()
    [note] = recorded_battles("logs", show=ANSWER_ALONE).lost
    assert "damaged.eval" in notice_text(note)
    recorded(battles="logs")
    assert "damaged.eval" in capsys.readouterr().err
