"""The battles that a page lists first: those on which judges disagree with each other."""

import pandas as pd
import pytest

from podium import read_battles
from podium.show.page.listed_battles import CHANCE, JUDGES, ListedBattles, list_battles
from podium.show.page.sources import BattleTexts

COLUMNS = ["judge", "item", "model_a", "model_b", "credit", "repeat", "response"]
SAME = ("q", "wren", "finch")
TURNED = ("q", "finch", "wren")


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([("ann", *SAME, 1.0, 1, 1), ("bob", *SAME, 0.0, 1, 1)], [JUDGES, JUDGES]),
        ([("ann", *SAME, 1.0, 1, 1), ("bob", *TURNED, 1.0, 1, 1)], [JUDGES, JUDGES]),
        ([("ann", *SAME, 1.0, 1, 1), ("bob", *TURNED, 0.0, 1, 1)], [CHANCE, CHANCE]),
        ([("ann", *SAME, 1.0, 1, 1), ("bob", "p", "wren", "finch", 0.0, 1, 1)], [CHANCE, CHANCE]),
        # Both say the same of the first responses, and the same of the second.
        (
            [(name, *SAME, float(k == 1), 1, k) for name in ("ann", "bob") for k in (1, 2)],
            [CHANCE] * 4,
        ),
        # One of them contradicts itself, and the other says nothing of this pair.
        (
            [
                ("ann", *SAME, 1.0, 1, 1),
                ("ann", *SAME, 0.0, 2, 1),
                ("bob", "q", "wren", "tit", 1.0, 1, 1),
            ],
            [CHANCE] * 3,
        ),
        ([("ann", *SAME, 1.0, 1, None), ("bob", *SAME, 0.0, 1, None)], [JUDGES, JUDGES]),
        # Nobody knows whether they saw the same responses.
        (
            [("ann", None, "wren", "finch", 1.0, 1, 1), ("bob", None, "wren", "finch", 0.0, 1, 1)],
            [CHANCE, CHANCE],
        ),
    ],
)
def test_judges_disagree_if_they_prefer_different_responses(rows, why):
    table = pd.DataFrame(rows, columns=COLUMNS)
    listed = list_battles(read_battles(table), read_battles(table, merge=False), BattleTexts())
    assert ([row["why"] for row in listed.rows], listed.disagreeing) == (
        why,
        sum(reason == JUDGES for reason in why),
    )


def listed_of(rows: list[dict[str, object]], **columns: object) -> ListedBattles:
    """Return what is listed of battles of one pair, with further columns."""
    table = pd.DataFrame(rows).assign(model_a="wren", model_b="finch", **columns)
    return list_battles(read_battles(table), read_battles(table, merge=False), BattleTexts())


def test_agreement_is_not_said_of_battles_that_were_judged_once():
    listed = listed_of([{"item": "p", "credit": 1.0}, {"item": "q", "credit": 0.0}])
    assert listed.agreement == (
        "No battle was judged in two orders, by two judges or by humans, so no disagreement can be "
        "seen."
    )


@pytest.mark.slow
def test_agreement_is_said_of_what_was_compared_and_of_nothing_else():
    rows = [
        {"item": item, "order": order, "credit": 1.0}
        for item in ("p", "q")
        for order in ("ab", "ba")
    ]
    assert listed_of(rows[:3]).agreement == (
        "No disagreement on a winner was found where it can be seen: the two orders (1 battle)."
    )
    with_humans = listed_of(rows, human=[1.0, 1.0, None, None])
    assert with_humans.agreement == (
        "No disagreement on a winner was found where it can be seen: the two orders (2 battles) "
        "and judge and humans (1 battle)."
    )


@pytest.mark.slow
def test_disagreement_names_only_those_who_can_disagree():
    rows = [
        {"item": "p", "order": "ab", "credit": 1.0},
        {"item": "p", "order": "ba", "credit": 0.0},
    ]
    assert listed_of(rows).agreement == "Battles on which the two orders disagree come first: 1."
    judges = [{"item": "p", "judge": "ann", "credit": 1.0}, {"item": "p", "judge": "bob"}]
    assert listed_of(judges).compared == {}
    judges[1]["credit"] = 0.0
    assert listed_of(judges).agreement == "Battles on which the judges disagree come first: 2."
