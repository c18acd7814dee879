"""The battles that a page lists first: those on which judges disagree with each other."""

import pandas as pd
import pytest

from podium import read_battles
from podium.show.page.listed_battles import CHANCE, JUDGES, list_battles
from podium.show.page.sources import BattleTexts

COLUMNS = ["judge", "item", "model_a", "model_b", "credit", "repeat", "response"]
SAME = ("q", "wren", "finch")
TURNED = ("q", "finch", "wren")


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
