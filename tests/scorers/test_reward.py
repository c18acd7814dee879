"""A scalar from any function is a rating; everything else says why it is none."""

from fractions import Fraction

import numpy as np
import pytest

from podium.plugins import catalogue
from podium.scorers.prompt import Settings
from podium.scorers.reply import Reply
from podium.scorers.reward import rating_of_value


@pytest.mark.parametrize(
    "value", [2, 2.0, np.float32(2), np.int64(2), np.array(2.0), np.array([2.0]), Fraction(2)]
)
def test_a_number_of_any_kind_is_a_rating(value: object) -> None:
    assert rating_of_value(value).score == 2.0


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "empty"),
        (float("nan"), "out of range"),
        (float("-inf"), "out of range"),
        (np.float64("nan"), "out of range"),
        (10**400, "out of range"),
        (True, "no verdict"),
        (np.bool_(True), "no verdict"),
        ("2", "no verdict"),
        (b"2", "no verdict"),
        ([2.0], "no verdict"),
        (np.array([1.0, 2.0]), "no verdict"),
        (2j, "no verdict"),
        (RuntimeError("out of memory"), "no verdict"),
        (object(), "no verdict"),
    ],
)
def test_what_is_no_finite_number_is_unparsed(value: object, reason: str) -> None:
    assert rating_of_value(value).reason == reason


@pytest.mark.parametrize(
    ("text", "score", "reason"),
    [
        ("-3.25\n", -3.25, None),
        ("1e3", 1000.0, None),
        ("nan", None, "out of range"),
        ("1_000", None, "no verdict"),
        ("\u0663", None, "no verdict"),
        ("3 of 5", None, "no verdict"),
        (" ", None, "empty"),
    ],
)
def test_a_scalar_may_come_as_text(text: str, score: float | None, reason: str | None) -> None:
    found = catalogue.find_realization("reward").read_reply(Reply(text), Settings())
    assert (found.score, found.reason) == (score, reason)


def test_a_scalar_that_was_cut_off_is_unparsed() -> None:
    assert (
        catalogue.find_realization("reward")
        .read_reply(Reply("3.2", truncated=True), Settings())
        .reason
        == "truncated"
    )
