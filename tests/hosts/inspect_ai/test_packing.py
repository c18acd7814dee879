"""Packs: all battles of an item and a round in one sample give the same ranking as a sample
each."""

import pandas as pd
import pytest
from played_logs import ITEMS

import podium
from podium.hosts.inspect_ai.tasks import anchor, chain, round_robin, swim

TASKS = {"round_robin": round_robin, "anchor": anchor, "swim": swim, "chain": chain}


def ranking(log):
    return log.results.metadata["podium"]["rankings"]


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_a_packed_tournament_ranks_as_an_unpacked_one(name, behave, write_responses, play):
    judge, responses = behave(bias=0.3), write_responses()
    options = {"anchor": "elm"} if name == "anchor" else {}
    packed, plain = (
        play(TASKS[name](responses=responses, pack=pack, **options), judge)
        for pack in (True, False)
    )
    ours, theirs = (pd.json_normalize(ranking(log)[0]["models"]) for log in (packed, plain))
    pd.testing.assert_frame_equal(
        ours, theirs, rtol=1e-12
    )  # the order of sums is the order of the samples
    assert ranking(packed)[0]["counts"] == ranking(plain)[0]["counts"]


@pytest.mark.slow
def test_a_pack_holds_all_battles_of_its_item_and_each_response_once(behave, write_responses, play):
    log = play(round_robin(responses=write_responses(), pack=True), behave())
    assert len(log.samples) == ITEMS
    for sample in log.samples:
        assert len(sample.metadata["battles"]) == 6
        assert set(sample.metadata["responses"]) == {"ash", "elm", "fir", "oak"}


@pytest.mark.slow
def test_a_missing_response_leaves_its_battles_out_of_the_pack(behave, write_responses, play):
    log = play(round_robin(responses=write_responses(texts={("ash", 2): ""}), pack=True), behave())
    sizes = {sample.metadata["item"]: len(sample.metadata["battles"]) for sample in log.samples}
    assert sizes["q2"] == 3
    assert sum(sizes.values()) == 6 * ITEMS - 3


@pytest.mark.slow
def test_a_packed_log_is_read_back_battle_by_battle(behave, write_responses, play):
    log = play(round_robin(responses=write_responses(), pack=True), behave())
    battles = podium.read_battles(log.location.removeprefix("file://"))
    assert (len(battles), battles.counts().judgments) == (6 * ITEMS, 12 * ITEMS)


@pytest.mark.slow
def test_a_packed_swim_keeps_its_opponents_round_by_round(behave, write_responses, play):
    responses = write_responses()
    met = []
    for pack in (True, False):
        log = play(swim(responses=responses, pack=pack), behave())
        table = podium.read_battles(log.location.removeprefix("file://")).table
        met.append(
            {tuple(sorted(pair)) for pair in zip(table["model_a"], table["model_b"], strict=True)}
        )
    assert met[0] == met[1]
