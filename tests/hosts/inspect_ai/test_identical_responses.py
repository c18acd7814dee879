"""Battles of identical responses are ties without a call, and say nothing about the judge."""

import pandas as pd
import pytest
from inspect_ai import eval_retry
from played_logs import ITEMS, MODELS, place

import podium
from podium.diagnosis.card import diagnose
from podium.hosts.inspect_ai.tasks import ring, round_robin, swim

SAME = {(name, k): f"yes{' ' * (n % 2)}" for n, name in enumerate(MODELS) for k in range(2)}
"""On two of the items, all models give one response but for white space at its end."""
ALL = 6 * ITEMS
TIES = 6 * 2


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("pack", [False, True])
def test_identical_responses_are_ties_that_no_judge_is_asked_about(
    play, behave, record, write_responses, capfd, pack
):
    behave(bias=9.0)
    log = play(round_robin(responses=write_responses(texts=SAME), pack=pack))
    assert record.calls == 2 * (ALL - TIES)
    assert f"{TIES} are ties of identical responses, without a call" in capfd.readouterr().err
    battles = podium.read_battles(str(place(log)))
    counts = battles.counts()
    assert (counts.battles, counts.with_verdict, counts.identical) == (ALL, ALL - TIES, TIES)
    assert counts.judgments == 2 * (ALL - TIES)
    assert battles.swaps().readable == ALL - TIES
    ties = battles.table[battles.table["identical"]]
    assert set(ties["credit"]) == {0.5}
    assert set(ties["item"]) == {"q0", "q1"}


@pytest.mark.slow
def test_identical_responses_are_asked_about_if_the_user_wants_so(play, behave, write_responses):
    behave()
    log = play(round_robin(responses=write_responses(texts=SAME), identical="judge"))
    counts = podium.read_battles(str(place(log))).counts()
    assert (counts.judgments, counts.identical) == (2 * ALL, 0)


@pytest.mark.slow
def test_a_pointwise_judge_of_an_adaptive_tournament_has_a_call_per_response_at_most(
    play, behave, record, write_responses, capfd
):
    behave(form="likert")
    play(swim(responses=write_responses(), realization="likert"))
    assert record.calls <= len(MODELS) * ITEMS
    said = f"{len(MODELS) * ITEMS} calls per judge (each response is graded once)"
    assert said in "".join(capfd.readouterr()).replace("\n", " ")


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("tournament", [ring, swim])
def test_other_tournaments_count_their_ties_of_identical_responses(
    play, behave, record, write_responses, tournament
):
    behave()
    log = play(tournament(responses=write_responses(texts=SAME)))
    counts = podium.read_battles(str(place(log))).counts()
    assert counts.identical > 0
    assert record.calls == counts.judgments
    assert counts.with_verdict + counts.identical == counts.battles


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(("realization", "repeats"), [("numeric", 1), ("likert", 2)])
def test_pointwise_judge_rates_only_what_differs(
    play, behave, record, write_responses, capfd, realization, repeats
):
    behave(form=realization)
    paths = write_responses(texts=SAME)
    log = play(round_robin(responses=paths, realization=realization, repeats=repeats))
    assert record.calls == len(MODELS) * (ITEMS - 2) * repeats
    said = f"{record.calls} calls per judge (each response is graded once)"
    assert said in "".join(capfd.readouterr()).replace("\n", " ")
    battles = podium.read_battles(str(place(log)))
    assert battles.counts().identical == TIES * repeats
    assert podium.rank(battles, "mean").standings[0].counts.battles == ALL * repeats


@pytest.mark.slow
def test_failed_battles_are_played_again_without_those_of_identical_responses(
    play, behave, record, write_responses
):
    behave(errors=0.5)
    log = play(round_robin(responses=write_responses(texts=SAME), pack=True))
    failed = record.calls
    behave()
    [again] = eval_retry(log)
    assert again.status == "success"
    counts = podium.read_battles(str(place(again))).counts()
    assert (counts.battles, counts.identical, counts.unparsed) == (ALL, TIES, 0)
    assert record.calls < failed + 2 * (ALL - TIES)


@pytest.mark.slow
def test_what_is_said_of_the_judge_leaves_identical_responses_out(play, behave, write_responses):
    behave(bias=0.0)
    log = str(place(play(round_robin(responses=write_responses(texts=SAME)))))
    judgments = podium.read_battles(log, merge=False)
    battles = podium.read_battles(log)
    [card] = diagnose(judgments, battles).cards
    assert card.subject.battles.counts().battles == ALL - TIES
    assert card.sections.answers["position"].swaps.all.flip.value == 0
    [shown] = battles.first_shown().values()
    assert shown.number.sum() == 2 * (ALL - TIES)


@pytest.mark.slow
def test_answer_says_how_many_battles_are_ties_of_identical_responses(
    play, behave, write_responses, tmp_path
):
    behave(bias=0.0)
    log = str(place(play(round_robin(responses=write_responses(texts=SAME)))))
    ranking = podium.rank(podium.read_battles(log))
    sentence = f"{TIES} of {ALL} battles are ties of identical responses."
    assert sentence in " ".join(ranking.standings[0].answer)
    # What is written and read again says the same.
    for suffix in ("csv", "jsonl", "parquet"):
        path = tmp_path / f"battles.{suffix}"
        frame = podium.read_battles(log, merge=False).to_frame()
        if suffix == "parquet":
            frame.to_parquet(path)
        elif suffix == "csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_json(path, orient="records", lines=True)
        again = podium.read_battles(str(path))
        assert again.counts().identical == TIES
        assert again.swaps() == podium.read_battles(log).swaps()
        assert sentence in " ".join(podium.rank(again).standings[0].answer)


@pytest.mark.slow
def test_comparison_counts_items_of_identical_responses(play, behave, write_responses):
    behave(bias=0.0)
    log = str(place(play(round_robin(responses=write_responses(texts=SAME)))))
    [finding] = podium.compare("ash", "elm", log).findings
    assert finding.identical == 2


@pytest.mark.slow
def test_without_one_parsed_reply_ties_of_identical_responses_rank_nobody(
    play, behave, write_responses
):
    """The tie of two models that a judge could not compare is no measurement of them."""
    behave(bias=0.0)
    log = str(place(play(round_robin(responses=write_responses(texts=SAME)))))
    frame = podium.read_battles(log, merge=False).to_frame()
    is_asked = frame["item"].isin([f"q{k}" for k in range(2, ITEMS)])
    frame.loc[is_asked, ["credit", "margin"]] = None
    battles = podium.read_battles(frame)
    assert (battles.counts().identical, battles.counts().with_verdict) == (TIES, 0)
    said = f"no readable verdict in {ALL - TIES} battles; {TIES} ties of identical responses"
    with pytest.raises(podium.NotIdentifiedError, match=said):
        podium.rank(battles)
    with pytest.raises(podium.NotIdentifiedError, match=said):
        podium.compare("ash", "elm", battles)
    # Where all responses are identical, no judge is needed.
    same = podium.read_battles(frame[~is_asked])
    assert {entry.score for entry in podium.rank(same).standings[0].entries} == {1500.0}


def test_foreign_column_of_that_name_is_kept_apart():
    rows = [
        {"item": "q", "model_a": "ash", "model_b": "elm", "credit": 1, "identical": True},
        {"item": "r", "model_a": "ash", "model_b": "elm", "credit": 0, "identical": False},
    ]
    battles = podium.read_battles(pd.DataFrame(rows))
    assert battles.counts().identical == 0
    assert "identical_" in battles.columns
