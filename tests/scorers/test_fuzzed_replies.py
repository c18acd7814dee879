"""Thousands of spoilt replies: each is read as what it was, or not at all."""

import json
import random
import re
from collections.abc import Callable

import pytest
from judge_replies import CASES, Case, read, value
from mutations import MUTATIONS, mutated
from slow_oracles import ORACLES

from podium.scorers.reply import REASONS

PER_CASE = 250
Reader = Callable[[Case, str], float | None]


def replies(seed: int = 0) -> list[tuple[Case, str]]:
    """Return spoilt replies of all cases, the same for the same seed."""
    dice = random.Random(seed)
    return [(case, mutated(case, dice)) for case in CASES for _ in range(PER_CASE)]


def ours(case: Case, text: str) -> float | None:
    return value(read(case, text))


def wrongly_read(reader: Reader, spoilt: list[tuple[Case, str]]) -> list[tuple[Case, str]]:
    """Return the replies that are read as another verdict than the unspoilt one, or than a slow
    reader reads."""
    wrong = []
    for case, text in spoilt:
        if (found := reader(case, text)) is not None:
            known = ORACLES[case.realization](text, tie=case.tie)
            wrong += [] if found == case.value and known in (found, None) else [(case, text)]
    return wrong


def test_there_are_more_than_2000_spoilt_replies_of_six_realizations() -> None:
    spoilt = replies()
    assert len(spoilt) >= 2000
    assert len({text for _, text in spoilt}) > 2000
    assert {case.realization for case, _ in spoilt} == set(ORACLES)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_no_spoilt_reply_is_wrongly_read(seed: int) -> None:
    assert wrongly_read(ours, replies(seed)) == []


@pytest.mark.slow
def test_every_unparsed_reply_has_a_known_reason() -> None:
    readings = [read(case, text) for case, text in replies()]
    assert {one.reason for one in readings if value(one) is None} <= set(REASONS)


@pytest.mark.slow
def test_spoilt_replies_are_read_and_unparsed_in_every_realization() -> None:
    outcomes = {(case.realization, ours(case, text) is None) for case, text in replies()}
    assert outcomes == {(name, unparsed) for name in ORACLES for unparsed in (True, False)}


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_every_mutation_changes_replies(
    mutation: Callable[[Case, str, random.Random], str],
) -> None:
    dice = random.Random(0)
    assert any(mutation(case, case.text, dice) != case.text for case in CASES for _ in range(20))


def first_letter(case: Case, text: str) -> float | None:  # noqa: ARG001
    """Read the first letter that could be a verdict: what not to do."""
    found = re.search(r"\b[ABC]\b", text)
    return {"A": 1.0, "B": 0.0, "C": 0.5}[found[0]] if found else None


def last_form(case: Case, text: str) -> float | None:
    """Read the last thing that looks like a verdict, wherever it stands: what not to do."""
    found = re.findall(r"Verdict:\W*([ABC])|\[\[([^\]]+)\]\]", text)
    words = [letter or word for letter, word in found]
    return (
        ORACLES[case.realization](case.text.replace(case.core, words[-1]), tie=True)
        if words
        else None
    )


def first_object(case: Case, text: str) -> float | None:  # noqa: ARG001
    """Read the first JSON object that can be parsed, by the keys that it has: what not to do."""
    for start in (brace.start() for brace in re.finditer(r"\{", text)):
        try:
            found, _ = json.JSONDecoder().raw_decode(text, start)
            a, b = (sum(found[side].values()) for side in "AB")
        except (ValueError, KeyError, AttributeError, TypeError):
            continue
        return (a > b) + (a == b) / 2
    return None


def tie_by_default(case: Case, text: str) -> float | None:
    """Take what cannot be read for a tie: what not to do."""
    found = ours(case, text)
    return 0.5 if found is None else found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reader", "realization"),
    [
        (first_letter, "direct"),
        (first_letter, "cot"),
        (last_form, "cot"),
        (last_form, "labels"),
        (last_form, "numeric"),
        (last_form, "likert"),
        (first_object, "rubric"),
        *((tie_by_default, name) for name in ORACLES),
    ],
)
def test_fuzzing_detects_a_laxer_parser(reader: Reader, realization: str) -> None:
    spoilt = [(case, text) for case, text in replies() if case.realization == realization]
    assert len(wrongly_read(reader, spoilt)) > 10
