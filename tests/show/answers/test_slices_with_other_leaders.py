"""The answer about slices says whether the same models lead in them."""

import pandas as pd
import pytest
from lm_eval_output import scored, write_run

import podium


@pytest.mark.slow
def test_a_leader_of_one_slice_alone_is_not_said_to_lead_in_one_of_two():
    rows = []
    for slice_of_items, leader in (("easy", "ash"), ("hard", "elm")):
        for k in range(40):
            for a, b in (("ash", "elm"), ("ash", "fir"), ("elm", "fir")):
                credit = 1.0 if a == leader or (a == "elm" and k % 2) else 0.0
                item = f"{slice_of_items} {k}"
                rows.append(
                    {
                        "item": item,
                        "model_a": a,
                        "model_b": b,
                        "credit": credit,
                        "category": slice_of_items,
                    }
                )
    battles = podium.read_battles(pd.DataFrame(rows))
    answer = " ".join(podium.rank(battles, by="category").standings[0].answer)
    assert "In the other slice, other models lead." in answer
    assert "1 of 2 slices" not in answer


@pytest.mark.slow
def test_a_slice_without_leaders_is_not_said_to_have_others():
    rows = []
    for slice_of_items, wins in (("easy", 36), ("hard", 20), ("long", 4)):
        for k in range(40):
            rows.append(
                {
                    "item": f"{slice_of_items} {k}",
                    "model_a": "ash",
                    "model_b": "elm",
                    "credit": float(k < wins),
                    "category": slice_of_items,
                }
            )
    frame = pd.DataFrame(rows)
    of_three = podium.rank(podium.read_battles(frame), by="category").standings[0].answer
    assert of_three[-1] == (
        "Of the two other slices, other models lead in one; in one no place is certain."
    )
    two = frame[frame["category"] != "long"]
    of_two = podium.rank(podium.read_battles(two), by="category").standings[0].answer
    assert of_two[-1] == "In the other slice, no place is certain."


def answers_of(wins_by_slice: dict[str, int], *, by: str) -> list[tuple[str, ...]]:
    """Return the answers of battles of two models, of which one wins so many of 40 per slice."""
    rows = [
        {"item": f"{name} {k}", "model": model, "score": float((k < wins) == (model == "ash"))}
        | {"task": name}
        for name, wins in wins_by_slice.items()
        for k in range(40)
        for model in ("ash", "elm")
    ]
    ranking = podium.rank(podium.read_battles(pd.DataFrame(rows)), by=by)
    return [standings.answer for standings in ranking.standings]


@pytest.mark.slow
def test_slices_without_leaders_are_told_of_the_others_without_repeating_the_first():
    cases = {
        (20, 21): "Nor is any place certain in the other task.",
        (20, 21, 22): "Nor is any place certain in either other task.",
        (20, 21, 22, 19): "Nor is any place certain in any of the three other tasks.",
        (20, 38): "In the other task, some models lead.",
        (20, 38, 22): "Of the two other tasks, one has leaders; in one no place is certain.",
    }
    for wins, text in cases.items():
        first = answers_of(dict(zip("wxyz", wins, strict=False)), by="task")[0]
        assert first[-1] == text


def test_tasks_with_an_answer_each_do_not_say_that_no_place_is_certain_in_all_of_them(tmp_path):
    scores = [float(k % 2) for k in range(40)]
    turned = [1 - score for score in scores]
    write_run(tmp_path, "org/a", {"t": scored(scores), "u": scored(turned)})
    write_run(tmp_path, "org/b", {"t": scored(turned), "u": scored(scores)})
    ranking = podium.rank(podium.read_battles(tmp_path))
    answers = [standings.answer for standings in ranking.standings]
    assert len(answers) == 2
    for answer in answers:
        text = " ".join(answer)
        assert "too close to call" in text or "same score" in text
        assert "certain" not in text


def test_a_leader_that_also_leads_another_slice_with_somebody_is_not_another_model():
    """ash leads both slices: alone, and level with elm."""
    rows = []
    for slice_of_items, elm_wins in (("easy", 2), ("hard", 20)):
        for k in range(40):
            for a, b, wins in (("elm", "ash", elm_wins), ("ash", "fir", 38), ("elm", "fir", 36)):
                rows.append(
                    {
                        "item": f"{slice_of_items} {k}",
                        "model_a": a,
                        "model_b": b,
                        "credit": float(k < wins),
                        "category": slice_of_items,
                    }
                )
    standings = podium.rank(podium.read_battles(pd.DataFrame(rows)), by="category").standings
    answer = " ".join(standings[0].answer)
    assert "ash" in answer
    assert "other models lead" not in answer
    assert "1 of 2 slices" in answer
