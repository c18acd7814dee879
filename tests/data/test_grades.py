"""Judges that grade single responses are asked once about each, however many battles it is in."""

from itertools import combinations

import pandas as pd
import pytest

import podium
from podium.data.counting.grades import count_grades
from podium.data.counting.verdicts import Verdicts
from podium.data.jury_verdicts import merge_jury_verdicts


def graded(models: int, items: int, judge: str = "j", **more: object) -> list[dict[str, object]]:
    """Return a row per battle of a round robin, decided by the grades of both responses."""
    grades = {(k, m): float((3 * k + m) % 5) for k in range(items) for m in range(models)}
    return [
        {
            "item": f"q{k}",
            "model_a": f"m{a}",
            "model_b": f"m{b}",
            "score_a": grades[k, a],
            "score_b": grades[k, b],
            "judge": judge,
            **more,
        }
        for k in range(items)
        for a, b in combinations(range(models), 2)
    ]


def compared(items: int) -> list[dict[str, object]]:
    """Return a row per judgment of a judge that compares two responses in both orders."""
    return [
        {"item": f"q{k}", "model_a": a, "model_b": b, "credit": 1.0, "judge": "c", "order": order}
        for k in range(items)
        for a, b, order in (("m0", "m1", "ab"), ("m0", "m1", "ba"))
    ]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("models", [2, 3, 5])
def test_each_response_is_one_grade(models: int) -> None:
    counts = podium.read_battles(pd.DataFrame(graded(models, 6))).counts()
    assert counts.judgments == counts.grades == 6 * models
    assert counts.battles == 6 * models * (models - 1) / 2
    assert counts.judgments_text == f"{6 * models} grades"
    assert counts.to_dict()["grades"] == 6 * models


def test_repeats_and_judges_grade_anew() -> None:
    rows = [
        *graded(3, 4, repeat=0),
        *graded(3, 4, repeat=1),
        *graded(3, 4, judge="other", repeat=0),
    ]
    assert podium.read_battles(pd.DataFrame(rows)).counts().judgments == 3 * 12


@pytest.mark.slow
def test_an_unparsed_grade_was_asked_for_and_a_tie_of_identical_responses_was_not() -> None:
    rows = graded(2, 6, credit=1.0)
    rows[0] |= {"score_a": None, "credit": None, "reason": "no verdict"}
    rows[1] |= {"identical": True, "score_a": None, "score_b": None, "credit": 0.5}
    counts = podium.read_battles(pd.DataFrame(rows)).counts()
    assert (counts.identical, counts.unparsed) == (1, 1)
    assert counts.judgments == counts.grades == 10


@pytest.mark.slow
def test_judgments_of_pairs_are_counted_beside_grades() -> None:
    rows = pd.DataFrame([*graded(3, 4), *compared(4)])
    counts = podium.read_battles(rows).counts()
    assert (counts.judgments, counts.grades) == (12 + 8, 12)
    assert counts.judgments_text == "20 judgments (12 grades)"


def test_battles_without_grades_are_counted_as_before() -> None:
    counts = podium.read_battles(pd.DataFrame(compared(4))).counts()
    assert (counts.judgments, counts.grades) == (8, 0)
    assert "grades" not in counts.to_dict()
    assert counts.judgments_text == "8 judgments"


@pytest.mark.slow
def test_a_jury_that_is_merged_has_the_grades_of_all_its_judges() -> None:
    jury = {"jury": "j, k", "jury_rule": "mean"}
    battles = podium.read_battles(
        pd.DataFrame([*graded(3, 5, **jury), *graded(3, 5, judge="k", **jury)])
    )
    counts = merge_jury_verdicts(battles).counts()
    assert (counts.battles, counts.judgments, counts.grades) == (15, 30, 30)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    "rows",
    [
        graded(4, 5),
        [*graded(3, 4, repeat=0), *graded(3, 4, repeat=1), *graded(2, 4, judge="other", repeat=0)],
        [*graded(3, 4), *compared(4)],
        [*graded(2, 3, item=None), *graded(2, 3)],
        [*graded(2, 3), *graded(2, 3, score_a=None, credit=None, reason="no score")],
        [*graded(2, 3), *graded(2, 3, judge=None)],
        [*graded(2, 3), *graded(3, 3, score_a=None, score_b=None, credit=0.5, identical=True)],
    ],
)
def test_a_data_frame_and_the_database_count_alike(rows: list[dict[str, object]]) -> None:
    battles = podium.read_battles(pd.DataFrame(rows))
    assert isinstance(battles.rows, Verdicts)
    assert battles.rows.grades == count_grades(battles.rows.table)
    assert battles.rows.grades.number > 0


def test_grades_of_a_table_in_the_database_are_counted_there() -> None:
    battles = podium.read_battles(pd.DataFrame(graded(4, 5)))
    assert battles.counts().grades == 20
    assert "table" not in vars(battles.rows), "no data frame is made of a large table"


@pytest.mark.slow
@pytest.mark.parametrize("orders", [("ab",), ("ab", "ba")])
def test_scores_of_a_judge_that_saw_both_responses_in_an_order_are_judgments(
    orders: tuple[str, ...],
) -> None:
    """One judgment of a pair gives both scores; it is no grade of a single response."""
    rows = pd.DataFrame([row for order in orders for row in graded(3, 4, order=order)])
    battles = podium.read_battles(rows)
    counts = battles.counts()
    assert (counts.battles, counts.judgments, counts.grades) == (12, 12 * len(orders), 0)
    assert count_grades(battles.rows.table).number == 0
