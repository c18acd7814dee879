"""After an ordinary eval, a ranking takes few lines, whatever the number of models."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import podium
from podium.notices.notice import Notice
from podium.printable import print_apart
from podium.show.report.brief_view import MOST_LINES, brief_ranking_text


def ranking_of(models: int, items: int = 40) -> podium.Ranking:
    """Return the ranking of models whose mean scores differ."""
    rng = np.random.default_rng(1)
    rows = [
        {"item": f"q{item}", "model": f"m{model}", "score": float(rng.random() < model / models)}
        for item in range(items)
        for model in range(1, models + 1)
    ]
    return podium.rank(podium.read_battles(pd.DataFrame(rows)), "mean")


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("models", [2, 3, 5, 12])
def test_a_ranking_of_scores_and_the_lines_beside_it_are_at_most_twelve(models: int) -> None:
    ranking = ranking_of(models)
    lines = brief_ranking_text(ranking, ["m1"], is_judged=False, beside=1).splitlines()
    assert len(lines) + 1 <= MOST_LINES
    assert all(lines), "no empty line"
    leader = ranking.standings[0].entries[0].model
    assert any(f" {leader} " in line for line in lines)
    assert any(" m1 " in line for line in lines), "the model of this run is always shown"
    if models == 12:
        shown = sum(line[0] == " " and line.split()[0].isdecimal() for line in lines)
        text = f"{shown} of {models} models shown, all in the JSON · "
        assert lines[-1].startswith(text) or lines[-2].startswith(text)


def test_a_brief_ranking_with_a_clear_leader_does_not_say_how_few_items_would_change_it() -> None:
    rows = [
        {"item": f"q{item}", "model": model, "score": float(item % 10 < solved)}
        for item in range(60)
        for model, solved in (("m1", 9), ("m2", 5), ("m3", 2))
    ]
    # One item on which the first model loses, so that some items would change who leads.
    rows += [{"item": "odd", "model": m, "score": float(m != "m1")} for m in ("m1", "m2", "m3")]
    ranking = podium.rank(podium.read_battles(pd.DataFrame(rows)), "mean")
    answer = " ".join(ranking.standings[0].answer)
    assert "m1 is clearly ahead of all others" in answer
    assert "To put m2 first, at least" in answer
    brief = " ".join(brief_ranking_text(ranking, ["m1"], is_judged=False, beside=1).split())
    for words in ("To put", "left out", "rests on"):
        assert words not in brief


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("models", [2, 3, 5, 12])
def test_judged_responses_and_the_lines_beside_are_at_most_twelve_and_count_all_battles(
    models: int,
) -> None:
    judgments = podium.simulate(models, 20, seed=1).judgments(podium.Judge(unparsed=0.1))
    ranking = podium.rank(podium.read_battles(judgments), "win-rate")
    [standings] = ranking.standings
    last = standings.entries[-1].model
    lines = brief_ranking_text(ranking, [last], is_judged=True, beside=4).splitlines()
    assert len(lines) + 4 <= MOST_LINES
    assert " ".join(lines).startswith(standings.answer[0])
    assert any(f" {last} " in line for line in lines), "the model of this run is always shown"
    counts = standings.counts
    told = f"{counts.judgments:,} judgments, {counts.battles:,} battles: {counts.with_verdict:,}"
    assert f"{told} judged" in "\n".join(lines)
    assert f"{counts.unparsed:,} unparsed" in "\n".join(lines)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("models", range(2, 8))
def test_one_model_alone_is_never_left_out(models: int) -> None:
    judgments = podium.simulate(models, 20, seed=1).judgments(podium.Judge(unparsed=0.1))
    ranking = podium.rank(podium.read_battles(judgments), "win-rate")
    text = brief_ranking_text(ranking, ["m1"], is_judged=True)
    assert f"{models - 1} of {models} models shown" not in text


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("models", [2, 3, 5])
@pytest.mark.parametrize("beside", [1, 4, 5])
@pytest.mark.parametrize("notes", [0, 2, 9])
def test_notes_that_have_no_room_are_counted(models: int, beside: int, notes: int) -> None:
    judgments = podium.simulate(models, 20, seed=1).judgments(podium.Judge(unparsed=0.1))
    ranking = podium.rank(podium.read_battles(judgments), "win-rate")
    [standings] = ranking.standings
    told = [Notice("accepted", {"sentence": f"Note {k}."}) for k in range(notes)]
    whole = replace(ranking, standings=(replace(standings, warnings=(*told,)),))
    text = brief_ranking_text(whole, ["m1"], is_judged=True, beside=beside)
    assert len(text.splitlines()) + beside <= MOST_LINES
    shown = text.count("podium: ")
    assert (shown == notes) == (f"of {notes} notes" not in text)
    assert shown >= min(notes, 1), "the first note is always there"
    if shown < notes:
        assert f"{shown} of {notes} notes shown, all in the JSON · " in text


@pytest.mark.parametrize("beside", [0, 6])
def test_what_was_accepted_is_said_whether_or_not_there_is_room(beside: int) -> None:
    judgments = podium.simulate(3, 20, seed=2).judgments(podium.Judge())
    battles = podium.read_battles(judgments)
    accepted = "Accepted with --allow questions: q1 differs."
    ranking = podium.rank(replace(battles, accepted=(accepted,)), "bradley-terry")
    assert ranking.standings[0].answer[-1].endswith(accepted)
    text = brief_ranking_text(ranking, ["m1"], is_judged=True, beside=beside)
    assert " ".join(text.split()).count(accepted) == 1


def test_advice_gives_way_to_the_table_without_its_details_and_in_whole() -> None:
    judgments = podium.simulate(3, 20, seed=2).judgments(podium.Judge())
    ranking = podium.rank(podium.read_battles(judgments), "bradley-terry")
    [standings] = ranking.standings
    assert standings.next_in_brief is not None
    assert standings.answer[2].startswith(f"{standings.next_in_brief} This number ")
    wide = " ".join(brief_ranking_text(ranking, ["m1"], is_judged=True).split())
    assert standings.next_in_brief in wide
    assert "This number" not in wide
    narrow = brief_ranking_text(ranking, ["m1"], is_judged=True, beside=6)
    assert "would separate" not in narrow
    assert "..." not in narrow


def test_several_tables_are_shown_in_whole() -> None:
    ranking = podium.Ranking(ranking_of(3).standings * 2, {})
    assert brief_ranking_text(ranking, ["m1"], is_judged=False).count("95% intervals") == 2


def test_text_begins_on_a_line_of_its_own_where_streams_are_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "joined"
    joined = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    with os.fdopen(joined, "w") as out, os.fdopen(os.dup(joined), "w") as err:
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        print("half a line", end="")
        print_apart("the answer\n")
    assert path.read_text() == "half a line\nthe answer\n"


def test_text_is_printed_alone_where_streams_are_apart(capfd: pytest.CaptureFixture[str]) -> None:
    print_apart("the answer\n")
    assert capfd.readouterr().err == "the answer\n"


def test_what_is_missing_is_counted_in_battles_as_in_the_table() -> None:
    """Of three models, one lacks 3 of 10 items: 3 scores, and 6 battles."""
    rows = [
        (f"q{k}", model, float(k % 2))
        for k in range(10)
        for model in ("ash", "elm", "fir")
        if model != "fir" or k not in (3, 5, 8)
    ]
    scores = pd.DataFrame(rows, columns=["item", "model", "score"])
    ranking = podium.rank(podium.read_battles(scores))
    text = brief_ranking_text(ranking, ["fir"], is_judged=False)
    assert "10 items, 6 battles missing" in text
    assert "24 battles decided by scores, 6 missing" in str(ranking)


def test_a_brief_table_has_no_mark_that_no_line_explains() -> None:
    scores = np.random.default_rng(1).normal(size=(20, 4))
    table = pd.DataFrame(scores, columns=["m0", "m1", "m2", "m3"]).assign(item=range(20))
    ranking = podium.rank(podium.read_battles(table), "mean")
    assert "leader_interval" in ranking.standings[0].diagnostics
    assert "†" in str(ranking)
    assert "†" not in brief_ranking_text(ranking, ["m1"], is_judged=False)


def test_groups_of_items_are_counted_before_the_items() -> None:
    scores = pd.DataFrame(
        [
            (f"q{item}", model, float((item * (place + 3)) % 7 < 4), f"p{item // 4}")
            for item in range(40)
            for place, model in enumerate(("ash", "elm"))
        ],
        columns=["item", "model", "score", "passage"],
    )
    ranking = podium.rank(podium.read_battles(scores, cluster="passage"), "mean")
    text = brief_ranking_text(ranking, ["elm"], is_judged=False)
    assert "intervals: 10 passages, 40 items" in text
