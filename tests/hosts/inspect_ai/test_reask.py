"""`reask=LOG`: parsed replies are kept, and only the rest is requested."""

import pytest
from played_logs import battles, place, verdict_of

from podium.errors import UsageError
from podium.hosts.inspect_ai.tasks import round_robin, swim


def values(log):
    return {
        row["model"]: row["score"]
        for row in log.results.metadata["podium"]["rankings"][0]["models"]
    }


def unparsed(log):
    pairs = [
        one["replies"][0]["text"] for s in battles(log) for one in s.store["podium"]["judgments"]
    ]
    return sum("merits" in text for text in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize("task", [round_robin, swim])
def test_only_unparsed_replies_are_requested_again(
    play, behave, record, write_responses, task, pack
):
    behave(garbage=0.2)
    paths = write_responses()
    first = play(task(responses=paths, pack=pack))
    asked = {prompt for _, prompt in record.prompts}
    record.prompts.clear()
    behave()
    again = play(task(responses=paths, pack=pack, reask=str(place(first))))
    assert again.status == "success"
    assert 0 < record.calls < len(asked)
    assert again.results.metadata["podium"]["rankings"][0]["counts"]["unparsed"] == 0
    fresh = {prompt for _, prompt in record.prompts}
    record.prompts.clear()
    whole = play(task(responses=paths, pack=pack, cache=False))
    assert values(again).keys() == values(whole).keys()
    if task is round_robin:
        assert fresh <= asked
        assert values(again) == pytest.approx(values(whole))


@pytest.mark.slow
def test_an_earlier_run_decides_for_the_later_whether_probabilities_soften(
    play, behave, write_responses
):
    behave(garbage=0.2, probabilities=False)
    paths = write_responses()
    first = play(round_robin(responses=paths))
    behave()
    again = play(round_robin(responses=paths, reask=str(place(first))))
    credits = {
        r["credit"]
        for one in battles(again)
        for r in verdict_of(one).metadata["podium"]["judgments"]
    }
    assert credits == {0.0, 1.0}


@pytest.mark.slow
def test_another_judge_is_asked_for_everything(play, record, write_responses):
    paths = write_responses()
    first = play(round_robin(responses=paths))
    record.prompts.clear()
    play(round_robin(responses=paths, reask=str(place(first))), "scripted/other")
    assert record.calls == 72


def test_a_log_that_is_not_there_or_of_no_tournament_is_rejected(write_responses, tmp_path):
    with pytest.raises(UsageError, match="no log of a tournament"):
        round_robin(responses=write_responses(), reask=str(tmp_path / "none.eval"))
    (tmp_path / "notes.md").write_text("none")
    for path in (tmp_path, tmp_path / "notes.md"):
        with pytest.raises(UsageError, match="no log of a tournament"):
            round_robin(responses=write_responses(), reask=str(path))
