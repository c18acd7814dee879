"""The decision tree of the anchor paper, Figure 5."""

import pytest

from podium.planning.planner import select_design


@pytest.mark.parametrize(
    ("models", "baseline", "pairs", "design", "questions"),
    [
        (20, "old", (), "baseline", 1),
        (2, "old", (), "baseline", 1),
        (3, None, (), "round_robin", 2),
        (3, None, (("a", "b"),), "round_robin", 2),
        (4, None, (("a", "b"),), "pairs", 3),
        (4, None, (), "ranking", 3),
        (22, None, (), "ranking", 3),
    ],
)
def test_decision_tree_reaches_every_leaf(
    models: int,
    baseline: str | None,
    pairs: tuple[tuple[str, str], ...],
    design: str,
    questions: int,
) -> None:
    found = select_design(models, baseline, pairs)
    assert (found.design, len(found.steps)) == (design, questions)


def test_a_baseline_allows_no_conclusion_on_others() -> None:
    assert "draw no conclusions about other pairs" in select_design(9, "old").advice


def test_a_ranking_takes_neither_the_strongest_nor_the_weakest() -> None:
    assert "never the strongest or the weakest" in select_design(9).advice
