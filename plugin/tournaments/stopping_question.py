"""The question that a stopping tournament answers (`until`)."""

import re
from collections.abc import Mapping
from typing import Any

QUESTION = re.compile(r"order|top(?P<top>[1-9]\d*)|error:(?P<error>\d+(\.\d+)?)")
"""Values of the option `until`: `order`, `top3`, `error:20` or `error:2.5`."""


def printed_level(level: float, answer: Mapping[str, Any] | None) -> float:
    """Return the level of the intervals printed with an answer.

    For `topK`, 1 - level is divided by the number of interim analyses. Which models play on there
    depends on their ratings, so that an interval at the original level would be too narrow.

    Args:
        level: the level that was asked for, in (0, 1).
        answer: a `TournamentAnswer` as a mapping; None if there is none.
    """
    if answer is None or not asks_top(answer["until"]):
        return level
    return 1 - (1 - level) / answer["looks"]


def asks_top(until: object) -> bool:
    """Return whether the option `until` asks for the set of the best models (`topK`)."""
    question = QUESTION.fullmatch(str(until))
    return question is not None and question["top"] is not None
