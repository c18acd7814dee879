"""The table of checks: every row gives its reason, and every sentence says what it names."""

from string import Formatter

import pytest

from podium.checks import CHECKS, Check


@pytest.mark.parametrize("check", CHECKS.values(), ids=list(CHECKS))
def test_a_check_has_a_reason_and_a_sentence(check: Check) -> None:
    assert all(text and not text.endswith(".") for text in (check.name, check.reason, check.sentence))


@pytest.mark.parametrize("check", CHECKS.values(), ids=list(CHECKS))
def test_a_sentence_without_one_of_its_figures_is_an_error(check: Check) -> None:
    names = [name for _, name, _, _ in Formatter().parse(check.sentence) if name]
    assert names
    with pytest.raises(KeyError):
        check.warning(**dict.fromkeys({*names} - {names[0]}, 1))
