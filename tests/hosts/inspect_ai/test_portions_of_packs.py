"""Packs are given to Inspect a portion at a time, and kept small: nothing else about a tournament
changes by it."""

import json
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai import eval_retry, eval_set
from inspect_ai.log import read_eval_log
from played_logs import ITEMS, MODELS, place

import podium
from podium.data.pairings import PairingsByItem
from podium.hosts.inspect_ai.logs.podium_entries import Columns
from podium.hosts.inspect_ai.tasks import round_robin, swim
from podium.hosts.inspect_ai.tournament import preview
from podium.hosts.inspect_ai.tournament import tournament_task as engine
from podium.hosts.inspect_ai.tournament.round_samples import SampleBuilder
from podium.responses.read import read_responses

VALUES = st.none() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3)


@pytest.fixture
def two_at_once(monkeypatch):
    """Give out two packs at once, or two battles: six items are three portions of packs."""
    monkeypatch.setattr(engine, "PACKS_AT_ONCE", 2)
    monkeypatch.setattr(engine, "BATTLES_AT_ONCE", 2)


def table(log):
    rows = podium.read_battles(str(place(log))).table
    return rows.sort_values(["item", "model_a", "model_b"]).reset_index(drop=True)


@pytest.mark.slow
@pytest.mark.parametrize("pack", [True, False])
@pytest.mark.parametrize("task", [round_robin, swim])
def test_portions_change_no_verdict(task, pack, behave, write_responses, play, monkeypatch):
    responses, judge = write_responses(), behave(garbage=0.2)
    whole = play(task(responses=responses, pack=pack), judge)
    monkeypatch.setattr(engine, "PACKS_AT_ONCE", 2)
    monkeypatch.setattr(engine, "BATTLES_AT_ONCE", 7)
    portions = play(task(responses=responses, pack=pack), judge)
    assert len(portions.samples) == len(whole.samples) > 2
    assert table(portions).equals(table(whole))


def test_a_portion_is_all_that_inspect_is_given_at_once(behave, write_responses, two_at_once):
    source = round_robin(responses=write_responses(), pack=True).sample_source
    assert [one.id for one in source.initial_samples()] == ["q0::round 1", "q1::round 1"]


def test_battles_are_built_when_inspect_is_given_them(
    behave, write_responses, two_at_once, monkeypatch
):
    built = []
    build = SampleBuilder._build_battle

    def count(builder, sample_id, *about):
        built.append(sample_id)
        return build(builder, sample_id, *about)

    # The preview builds some battles, too, to estimate their tokens.
    monkeypatch.setattr(preview, "SAMPLED_PROMPTS", 1)
    monkeypatch.setattr(preview, "MEASURED_PROMPTS", 1)
    monkeypatch.setattr(SampleBuilder, "_build_battle", count)
    source = round_robin(responses=write_responses(), pack=False).sample_source
    opening = [one.id for one in source.initial_samples()]
    assert len(opening) == 2
    assert built[:2] == opening
    assert len(source.first.pairings) == 6 * ITEMS > len(built)


@pytest.mark.parametrize("most", [None, 4])
def test_samples_of_pairings_not_made_yet_are_those_of_plain_pairings(most, write_responses):
    lacking = {("ash", 2): "", ("elm", 3): "", ("fir", 3): ""}
    lacking |= {(name, 4): "" for name in MODELS}
    builder = SampleBuilder(read_responses(*write_responses(texts=lacking)), set())
    pairs = [*combinations(sorted(MODELS), 2)]
    lazy = PairingsByItem({f"q{k}": pairs for k in range(ITEMS)})
    plain = tuple(lazy)
    assert len(plain) == 6 * ITEMS
    packs = [*builder.plan_packs(lazy, 1, most)]
    assert packs
    assert built(packs) == built(builder.plan_packs(plain, 1, most))
    battles = [*builder.plan_battle_samples(lazy, 1)]
    assert len(battles) == 6 * ITEMS - 3 - 5 - 6
    assert built(battles) == built(builder.plan_battle_samples(plain, 1))


def built(planned):
    """Return the content of planned samples, whose ids are the planned ones."""
    samples = [(one.id, one.build()) for one in planned]
    assert all(name == sample.id for name, sample in samples)
    return [sample.model_dump() for _, sample in samples]


def test_packs_of_the_same_battles_share_them(behave, write_responses):
    samples = round_robin(responses=write_responses(), pack=True).sample_source.initial_samples()
    assert len({id(one.metadata["battles"]) for one in samples}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("pack", [True, False])
@pytest.mark.parametrize("task", [round_robin, swim])
def test_a_retry_of_portions_asks_only_for_what_failed(
    task, pack, behave, record, write_responses, play, two_at_once
):
    first = play(
        task(responses=write_responses(), pack=pack, cache=True),
        behave(errors=0.1, fails_first=True),
    )
    failed = [one.id for one in first.samples if one.error]
    assert failed
    again = first
    for _ in range(3):  # two calls of a portion can fail, one after the other
        [again] = eval_retry(again)
        again = read_eval_log(again.location)
        if not any(one.error for one in again.samples):
            break
    assert not any(one.error for one in again.samples)
    assert table(again)["credit"].notna().all()
    assert max(record.times().values()) == 2  # the call that failed, once more


@pytest.mark.slow
def test_an_eval_set_of_portions_whose_judge_fails_once_plays_everything(
    behave, record, write_responses, tmp_path, two_at_once
):
    behave(errors=0.1, fails_first=True)
    whole, logs = eval_set(
        round_robin(responses=write_responses(), pack=True),
        log_dir=str(tmp_path / "set"),
        model_roles={"judge": "scripted/judge"},
        fail_on_error=True,
        continue_on_fail=True,
        retry_attempts=8,
        retry_wait=0.01,
        retry_immediate=False,
    )
    assert whole
    assert max(record.times().values()) == 2
    found = table(logs[0])
    assert len(found) == 6 * ITEMS
    assert found["credit"].notna().all()


@pytest.mark.slow
@given(st.lists(st.dictionaries(st.sampled_from("abcd"), VALUES), min_size=1))
def test_columns_hold_what_the_rows_hold(rows):
    columns = Columns.from_rows(rows).to_log()
    assert Columns.parse(json.loads(json.dumps(columns))).to_rows() == [
        {name: row.get(name) for name in {*columns["same"], *columns["columns"]}} for row in rows
    ]


def test_what_all_rows_say_is_kept_once():
    rows = [{"judge": "j" * 100, "credit": k} for k in range(50)]
    assert json.dumps(Columns.from_rows(rows).to_log()).count("j" * 100) == 1
    assert len(json.dumps(Columns.from_rows(rows).to_log())) < len(json.dumps(rows)) / 10


@pytest.mark.slow
def test_a_packed_score_says_every_verdict_in_words_and_keeps_it_in_numbers(
    behave, write_responses, play
):
    log = play(round_robin(responses=write_responses(), pack=True), behave(garbage=0.3))
    table = podium.read_battles(str(place(log)), merge=False).table
    unparsed = 0
    for sample in log.samples:
        score = sample.scores["verdict"]
        table_text, *reasons = score.explanation.split("\n\n")[1:]
        rows = table_text.splitlines()[1:]
        assert len(rows) == 6
        own = table[table["item"] == sample.metadata["item"]]
        shown = Columns.parse(score.metadata["podium"]["judgments"]).to_rows()
        assert sorted(str(row["credit"]) for row in shown) == sorted(
            str(None if credit != credit else credit) for credit in own["credit"]
        )
        lost = own["credit"].isna().sum()
        whole = sum(own.groupby(["model_a", "model_b"])["credit"].agg(lambda x: x.isna().any()))
        assert sum(row.count("unparsed") for row in rows) == lost + whole
        by_order = sum(line.count(" first") for text in reasons for line in text.splitlines())
        assert by_order == lost
        unparsed += lost
    assert unparsed > 0
