"""`rank` and `compare` on matrices of wins, whose battles are independent and have no items."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import choix
import pytest

from podium.comparison.compare_models import compare
from podium.data.reading.judgments import read_battles
from podium.defaults import REGULARIZATION
from podium.rankers.fit.scale import POINTS
from podium.ranking.rank_battles import rank

CHAIN = 5
"""Number of models, each of which has battles with its neighbours only."""


def _write_matrix(path: Path, wins: dict[tuple[int, int], int], models: int) -> str:
    """Write a matrix of wins of the row's model, with empty cells for pairs that never met."""
    names = [f"m{k}" for k in range(models)]
    lines = ["," + ",".join(names)]
    for row in range(models):
        cells = [str(wins.get((row, column), "")) for column in range(models)]
        lines.append(f"m{row}," + ",".join(cells))
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def _transitive(tmp_path: Path) -> str:
    """Write a matrix of eight models, one battle per pair, all won by the lower number."""
    wins = {(i, j): int(i < j) for i in range(8) for j in range(8) if i != j}
    return _write_matrix(tmp_path / "wins.csv", wins, 8)


def _chain(tmp_path: Path, won: int, lost: int) -> str:
    wins = {}
    for k in range(CHAIN - 1):
        wins[k, k + 1] = won
        wins[k + 1, k] = lost
    return _write_matrix(tmp_path / "chain.csv", wins, CHAIN)


def _is_ahead(path: str, better: str, worse: str) -> bool:
    standings = rank(read_battles(path, matrix="rows"), "bradley-terry").standings[0]
    separation = standings.separation
    place = {name: k for k, name in enumerate(separation.names)}
    return place[worse] in separation.beats[place[better]]


@pytest.mark.slow
def test_the_first_is_ahead_of_the_last_of_a_transitive_order_in_both_commands(
    tmp_path: Path,
) -> None:
    path = _transitive(tmp_path)
    [finding] = compare("m0", "m7", path, matrix="rows").findings
    # If m0 and m7 were equal, their 13 battles would go this way with probability 2^-13 at most:
    # 1/2 for the battle of the two, and 1/4 for the two battles of each other model with them.
    assert finding.difference.p_above() == pytest.approx(2**-13)
    assert finding.is_distinguishable
    # The level of one of 28 pairs, on one side, is .00089.
    assert _is_ahead(path, "m0", "m7")
    assert _is_ahead(path, "m0", "m6")  # 2^-11
    assert not _is_ahead(path, "m0", "m5")  # 2^-9 = .002


@pytest.mark.slow
@pytest.mark.parametrize("last", [5, 6, 7])
def test_rank_and_compare_use_the_same_p_value(tmp_path: Path, last: int) -> None:
    path = _transitive(tmp_path)
    [finding] = compare("m0", f"m{last}", path, matrix="rows").findings
    assert _is_ahead(path, "m0", f"m{last}") == (finding.difference.p_value <= 0.05 / 28)


@pytest.mark.slow
def test_a_chain_of_single_battles_is_too_close_to_call_in_both_commands(tmp_path: Path) -> None:
    path = _chain(tmp_path, 1, 0)
    [finding] = compare("m0", "m4", path, matrix="rows").findings
    # Four battles won: probability 2^-4 at most if the ends of the chain are equal.
    assert finding.difference.p_above() == pytest.approx(2**-4)
    assert not finding.is_distinguishable
    assert not _is_ahead(path, "m0", "m4")


def test_counts_of_a_matrix_are_independent_battles(tmp_path: Path) -> None:
    won, lost = 120, 80
    path = _chain(tmp_path, won, lost)
    [finding] = compare("m0", "m4", path, matrix="rows").findings
    outcomes = []
    for k in range(CHAIN - 1):
        outcomes += won * [(k, k + 1)] + lost * [(k + 1, k)]
    # The penalty of choix is alpha times the sum of squares, that of podium half of it.
    theta = choix.opt_pairwise(CHAIN, outcomes, alpha=REGULARIZATION / 2)
    assert finding.difference.value == pytest.approx(POINTS * (theta[0] - theta[4]), abs=0.01)
    # The variance of a log-odds of n independent battles is 1 / (n p (1 - p)).
    variance = (CHAIN - 1) / (200 * 0.6 * 0.4)
    low, high = finding.interval
    assert (high - low) / 2 == pytest.approx(1.96 * POINTS * variance**0.5, rel=0.02)
    assert _is_ahead(path, "m0", "m4")


def test_the_footer_says_which_items_the_table_counts(
    tmp_path: Path, podium: Callable[..., Any]
) -> None:
    path = _transitive(tmp_path)
    printed = podium("compare", "m0", "m7", path, "--matrix", "rows").out
    assert "7 items of the model with fewer items, 1 item with both" in printed
