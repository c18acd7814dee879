"""The table of checks: docs/statistics.md gives the reason of every row, and every sentence says
what it names."""

from pathlib import Path
from string import Formatter

import pytest

from podium.checks import CHECKS, Check


@pytest.mark.parametrize("check", CHECKS.values(), ids=list(CHECKS))
def test_a_check_has_a_sentence_and_the_docs_give_its_threshold_and_reason(check: Check) -> None:
    page = (Path(__file__).parents[1] / "docs" / "statistics.md").read_text(encoding="utf-8")
    [row] = [line for line in page.splitlines() if line.startswith(f"| {check.name} |")]
    _, threshold, reason = row.strip("| ").split(" | ")
    assert float(threshold) == check.threshold
    assert all(text and not text.endswith(".") for text in (check.name, reason, check.sentence))


@pytest.mark.parametrize("check", CHECKS.values(), ids=list(CHECKS))
def test_a_sentence_without_one_of_its_figures_is_an_error(check: Check) -> None:
    names = [name for _, name, _, _ in Formatter().parse(check.sentence) if name]
    assert names
    with pytest.raises(KeyError):
        check.warning(**dict.fromkeys({*names} - {names[0]}, 1))
