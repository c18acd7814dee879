"""Say how often a second test errs, once more items were added, and how to plan both tests."""

from podium.notices.option_forms import option_text
from podium.numbers import percent
from podium.rankers.errors.repeated_tests import error_of_two_tests

SECOND_TEST_ERRS = "a second test errs in {share}, not {error}, of cases"
"""Clause on the error of a second test; both fields are percentages."""
REMEDY_BY_UNTIL = "a tournament with until= plans both"
"""How to plan both tests in a tournament."""
REMEDY_BY_LEVEL = "make both with {option}"
"""How to plan both tests of scores. `{option}` is the option `level` as typed."""


def tested_again_text(level: float, before: int, added: int, *, has_verdicts: bool) -> str:
    """Write how often a second test errs, and how to plan both tests, as a clause.

    The second test is made on all items after `added` ones (at least 1) were added.

    Args:
        level: confidence level of each test.
        before: number of items so far.
        added: number of items that are added.
        has_verdicts: whether verdicts are compared, which a tournament can add; else scores.
    """
    share = error_of_two_tests(level, before, max(added, 1))
    error = 1 - level
    share_text = f"{share:.0%}" if round(error, 9) >= 0.01 else f"{100 * share:.2g}%"
    text = SECOND_TEST_ERRS.format(share=share_text, error=percent(error))
    remedy = REMEDY_BY_UNTIL
    if not has_verdicts:
        remedy = REMEDY_BY_LEVEL.format(option=option_text("level", f"{(1 + level) / 2:g}"))
    return f"{text}: {remedy}"
