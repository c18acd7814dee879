"""MT-bench: winners are names already mapped back; grades of -1 failed."""

import json

import pandas as pd
import pytest

import podium
from podium.notices.notice_text import notice_texts


def pair(g1, g2, turn=1, question=81, template="pair-v2", **more):
    return {
        "question_id": question,
        "model_1": "alpaca",
        "model_2": "vicuna",
        "g1_winner": g1,
        "g2_winner": g2,
        "judge": ["gpt-4", template],
        "g1_user_prompt": "p",
        "g1_judgment": "j",
        "g2_user_prompt": "p",
        "g2_judgment": "j",
        "turn": turn,
        "tstamp": 1.0,
    } | more


def grade(score, model="alpaca", turn=1, question=81, template="single-v1"):
    return {
        "question_id": question,
        "model": model,
        "judge": ["gpt-4", template],
        "user_prompt": "p",
        "judgment": "j",
        "score": score,
        "turn": turn,
        "tstamp": 1.0,
    }


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(("winner", "credit"), [("model_1", 1.0), ("model_2", 0.0), ("tie", 0.5)])
def test_the_winner_of_either_game_is_a_name_not_a_place(save, winner, credit):
    table = podium.read_battles(save("pair.jsonl", [pair(winner, winner)]), merge=False).table
    assert table["model_a"].tolist() == ["alpaca", "alpaca"]
    assert table["order"].tolist() == ["ab", "ba"]
    assert table["credit"].tolist() == [credit, credit]


@pytest.mark.slow
def test_games_that_disagree_are_a_flip_worth_half(save):
    row = podium.read_battles(save("pair.jsonl", [pair("model_1", "model_2")])).table.iloc[0]
    assert (row["credit"], row["swap"]) == (0.5, "flip")


def test_an_error_in_one_game_makes_the_battle_unparsed(save):
    battles = podium.read_battles(save("pair.jsonl", [pair("error", "model_2")]))
    assert battles.unparsed_reasons() == {"one order unparsed": 1}


@pytest.mark.slow
def test_errors_in_both_games_say_judge_error(save):
    battles = podium.read_battles(save("pair.jsonl", [pair("error", "error")]))
    assert battles.unparsed_reasons() == {"judge error": 1}


def test_an_unknown_winner_of_a_game_is_an_error(save):
    with pytest.raises(
        podium.DataError,
        match=r"pair.jsonl, line 1: g2_winner 'alpaca' is not a known verdict.*model_1",
    ):
        podium.read_battles(save("pair.jsonl", [pair("tie", "alpaca")]))


@pytest.mark.slow
def test_two_turns_of_a_question_are_two_items(save):
    battles = podium.read_battles(
        save("pair.jsonl", [pair("model_1", "model_1", turn=k) for k in (1, 2)])
    )
    assert (battles.counts().items, battles.counts().battles) == (2, 2)
    assert battles.table["item"].tolist() == ["81 turn 1", "81 turn 2"]
    assert battles.table["question"].tolist() == ["81", "81"]
    assert notice_texts(battles.notes) == ()


def test_turns_are_not_repeats_of_the_judge(save):
    rows = [pair(winner, winner, turn=k) for k, winner in ((1, "model_1"), (2, "model_2"))]
    assert "repeat" not in podium.read_battles(save("pair.jsonl", rows)).table


def test_a_file_without_turns_keeps_its_questions_as_items(save):
    row = pair("tie", "tie")
    del row["turn"]
    assert podium.read_battles(save("pair.jsonl", [row])).table["item"].tolist() == ["81"]


def vote(turn, winner="model_a"):
    sides = {"model_a": "alpaca", "model_b": "vicuna"}
    return {"question_id": 81, **sides, "winner": winner, "judge": "expert_1", "turn": turn}


def test_votes_of_humans_on_two_turns_are_of_the_same_two_items(save):
    human = save("human.jsonl", [vote(1), vote(2, "model_b")])
    assert podium.read_battles(human).table["item"].tolist() == ["81 turn 1", "81 turn 2"]


def test_the_length_of_a_conversation_of_arena_is_not_part_of_its_item(save):
    rows = [vote(k) | {"question_id": f"q{k}"} for k in (1, 3)]
    assert podium.read_battles(save("arena.jsonl", rows)).table["item"].tolist() == ["q1", "q3"]


def test_templates_for_mathematics_and_turns_are_one_judge(save):
    rows = [
        pair("tie", "tie"),
        pair("tie", "tie", question=111, template="pair-math-v1-multi-turn"),
    ]
    battles = podium.read_battles(save("pair.jsonl", rows))
    assert battles.judges == ("gpt-4",)
    assert battles.table["template"].tolist() == ["pair-v2", "pair-math-v1-multi-turn"]


def test_foreign_columns_of_pairs_are_kept(save):
    assert podium.read_battles(save("pair.jsonl", [pair("tie", "tie", g1_judgment="why")])).table[
        "g1_judgment"
    ].tolist() == ["why"]


def test_the_higher_grade_wins(save):
    battles = podium.read_battles(save("single.jsonl", [grade(9, "vicuna"), grade(7.5, "alpaca")]))
    row = battles.to_frame().iloc[0]
    assert (row["model_a"], row["model_b"], row["credit"], row["margin"]) == (
        "alpaca",
        "vicuna",
        0.0,
        -1.5,
    )


@pytest.mark.slow
def test_equal_grades_tie(save):
    battles = podium.read_battles(save("single.jsonl", [grade(8, "vicuna"), grade(8.0, "alpaca")]))
    assert battles.table["credit"].tolist() == [0.5]


def test_a_grade_of_minus_one_is_unparsed_not_low(save):
    battles = podium.read_battles(save("single.jsonl", [grade(-1, "vicuna"), grade(7, "alpaca")]))
    assert battles.unparsed_reasons() == {"no grade": 1}


@pytest.mark.slow
def test_a_grade_of_minus_one_does_not_enter_the_mean(save):
    rows = [
        grade(score, model, question=k)
        for k, score in enumerate((6, 8))
        for model in ("alpaca", "vicuna")
    ]
    rows += [grade(-1, "vicuna", question=9), grade(10, "alpaca", question=9)]
    ranking = podium.rank(podium.read_battles(save("single.jsonl", rows)), "mean")
    assert {entry.model: entry.score for entry in ranking.standings[0].entries} == {
        "alpaca": 8.0,
        "vicuna": 7.0,
    }


@pytest.mark.slow
def test_grades_of_two_turns_are_not_averaged_together(save):
    rows = [grade(5 + turn, model, turn) for model in ("alpaca", "vicuna") for turn in (1, 2)]
    battles = podium.read_battles(save("single.jsonl", rows))
    assert battles.counts().battles == 2
    assert notice_texts(battles.notes) == ()


@pytest.mark.slow
def test_a_label_renames_the_one_model_of_a_file(save):
    one, two = save("one.jsonl", [grade(9)]), save("two.jsonl", [grade(7)])
    assert podium.read_battles(f"new={one}", f"old={two}").models == ("new", "old")


@pytest.mark.slow
@pytest.mark.parametrize("turn", ["missing", None])
def test_the_template_says_the_turn_where_the_row_does_not(podium, save, turn):
    rows = [
        pair("model_1", "model_1", template="pair-v2"),
        pair("model_2", "model_2", template="pair-v2-multi-turn"),
    ]
    rows = [{k: v for k, v in row.items() if k != "turn"} for row in rows]
    rows = rows if turn else [row | {"turn": turn} for row in rows]
    path = save("pair.jsonl", rows)
    done = podium("rank", path, "--format", "json")
    assert json.loads(done.out)["rankings"][0]["counts"]["items"] == 2
    card = podium("diagnose", path).out
    assert "no judgment was repeated" in card


@pytest.mark.slow
def test_a_judge_that_is_a_list_in_a_csv_file_is_one_judge_in_both_turns(tmp_path):
    rows = [
        pair("model_1", "model_1", turn=1, template="pair-v2"),
        pair("model_2", "model_2", turn=2, template="pair-v2-multi-turn"),
    ]
    path = tmp_path / "pair.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    battles = podium.read_battles(path)
    assert battles.judges == ("gpt-4",)
    assert battles.table["template"].tolist() == ["pair-v2", "pair-v2-multi-turn"]


@pytest.mark.slow
def test_the_mean_of_two_turns_is_over_two_items(save):
    """MuLabPKU/PiSSA#29: the score of MT-bench is the average over two turns."""
    rows = [
        {"item": "81", "model": model, "score": score, "turn": turn}
        for model, scores in (("new", (8, 4)), ("old", (6, 5)))
        for turn, score in enumerate(scores, start=1)
    ]
    battles = podium.read_battles(save("scores.jsonl", rows))
    assert battles.counts().items == 2
    assert sorted(battles.table["credit"]) == [0.0, 1.0]
    assert battles.values_of("question") == ("81",)


@pytest.mark.slow
def test_of_judgments_that_another_run_appended_the_first_count_and_the_others_are_named(
    podium, save
):
    """FastChat's clean_judgment.py keeps the first judgment of each key."""
    first = [pair("model_1", "model_1", question=k) for k in range(4)]
    again = [pair("model_2", "model_2", question=k, tstamp=2.0) for k in range(4)]
    path = save("pair.jsonl", first + again)
    done = podium("rank", path, "--ranker", "win-rate", "--format", "json")
    [ranking] = json.loads(done.out)["rankings"]
    assert {one["model"]: one["score"] for one in ranking["models"]} == {"alpaca": 1, "vicuna": 0}
    assert ranking["counts"]["battles"] == 4
    assert "pair.jsonl: 4 judgments, the first in line 5, repeat question" in done.err
    assert "the first counts" in done.err


@pytest.mark.slow
def test_grades_of_the_first_run_count(save):
    rows = [grade(9, "alpaca"), grade(2, "vicuna"), grade(1, "alpaca"), grade(3, "vicuna")]
    battles = podium.read_battles(save("single.jsonl", rows))
    assert battles.to_frame()["margin"].tolist() == [7.0]
    [text] = notice_texts(battles.notes)
    assert "2 judgments, the first in line 3, repeat" in text


def test_a_word_that_is_unknown_stops_the_file_in_later_runs_too(save):
    rows = [pair("model_1", "model_1"), pair("model_1", "nobody")]
    with pytest.raises(podium.DataError, match="line 2: g2_winner 'nobody'"):
        podium.read_battles(save("pair.jsonl", rows))


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"turn": 2}, {"judge": ["gpt-5", "pair-v2"]}, {"repeat": 2}])
def test_judgments_of_other_turns_judges_and_repeats_are_no_reruns(save, change):
    rows = [pair("model_1", "model_1", **({"repeat": 1} if "repeat" in change else {}))]
    battles = podium.read_battles(save("pair.jsonl", [*rows, rows[0] | change]))
    assert "judgments-appended" not in {note.code for note in battles.notes}
    assert battles.counts().battles == 2
