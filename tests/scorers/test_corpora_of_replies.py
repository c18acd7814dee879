"""Replies in other forms than asked, and forged or retracted ones: most of the first are read, few
of the others.

`replies/honest.jsonl`, `forged.jsonl`, `second_*.jsonl` to `ninth_*.jsonl` and `thirteenth_*.jsonl`
were written by people who had not seen the readers; `more_*.jsonl` by their author. `verdict` is
what a careful human reads (null: nothing that counts), `also_right` another reading that is right.
The 20 honest replies of the eighth corpus without a verdict, such as refusals, are in
`eighth_forged.jsonl`. The ninth and the thirteenth corpus were read as they are when they were new;
the readers were changed after all others. The tenth and the eleventh were written before their
author saw the readers, which were mended for them; when they were new, 88% and 82% of their honest
replies and 45% and 55% of the forged ones were read. The twelfth was written after these mends by
the same author: 88% and 26% were read before the next.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from podium.plugins import catalogue
from podium.scorers.levels import grades
from podium.scorers.prompt import Settings
from podium.scorers.reasoning import strip_reasoning
from podium.scorers.reply import Rating, Reply, Verdict
from podium.scorers.rubric import CRITERIA

NAMES = ("direct", "cot", "labels", "numeric", "likert", "rubric")
LIKERT = grades("likert", ("poor", "fair", "good", "very good", "excellent"))
PREFIXES = (
    "",
    *("second_", "third_", "fourth_", "fifth_", "sixth_", "seventh_", "eighth_", "ninth_"),
    *("tenth_", "eleventh_", "twelfth_", "thirteenth_", "more_"),
)
CORPORA = tuple(f"{prefix}{kind}" for kind in ("honest", "forged") for prefix in PREFIXES)
SMALLEST = {"tenth_": 150, "eleventh_": 150, "twelfth_": 120, "more_": 150}
"""Smallest number of honest and of forged replies of the corpora that have fewer than 280."""
CREDITS = {"A": 1.0, "B": 0.0, "C": 0.5}


def rows_of(name: str) -> list[dict[str, Any]]:
    path = Path(__file__).parent / "replies" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read(row: dict[str, Any]) -> Verdict | Rating:
    """Read a reply as a run does, without the reasoning before it."""
    one = (
        LIKERT if row["realization"] == "likert" else catalogue.find_realization(row["realization"])
    )
    text = strip_reasoning(row["reply"])
    reply = Reply(text, truncated=not text and bool(row["reply"].strip()))
    return one.read_reply(reply, Settings(tie=row["ties"] and "tie" in one.options))


def value_of(reading: Verdict | Rating, name: str) -> Any:
    """Return what a reading says, to compare with a verdict of the corpus."""
    if reading.reason:
        return None
    if isinstance(reading, Rating):
        return reading.label.lower() if name == "likert" else reading.score
    return {"rubric": reading.margin, "labels": reading.label}.get(name, reading.credit)


def expected(verdict: Any, name: str) -> Any:
    """Convert a verdict of the corpus to the value that a reading of it has."""
    if verdict is None or name in ("labels", "likert"):
        return verdict
    if name == "rubric":
        lead = sum(float(verdict["A"][one]) - float(verdict["B"][one]) for one in CRITERIA)
        return pytest.approx(lead / len(CRITERIA))
    return float(verdict) if name == "numeric" else CREDITS[verdict]


def shares(corpus: str) -> dict[str, tuple[int, int, int]]:
    """Count the replies that are read rightly, read wrongly and unparsed, per realization."""
    counts = Counter[tuple[str, str]]()
    for row in rows_of(corpus):
        name = row["realization"]
        found = value_of(read(row), name)
        right = [expected(row.get(key), name) for key in ("verdict", "also_right")]
        outcome = (
            "unparsed"
            if found is None
            else "right"
            if any(found == one for one in right)
            else "wrong"
        )
        counts[name, outcome] += 1
    return {
        name: tuple(counts[name, one] for one in ("right", "wrong", "unparsed")) for name in NAMES
    }


def shown(corpus: str, counts: dict[str, tuple[int, int, int]]) -> str:
    """Return the counts as a table."""
    lines = [
        f"{name:8}{right:6} right{wrong:6} wrong{left:6} unparsed"
        for name, (right, wrong, left) in counts.items()
    ]
    return "\n".join([corpus, *lines])


@pytest.mark.slow
@pytest.mark.parametrize("corpus", [name for name in CORPORA if name.endswith("honest")])
def test_nine_of_ten_honest_replies_are_read_in_every_realization_and_none_is_misread(
    corpus: str,
) -> None:
    counts = shares(corpus)
    print(shown(corpus, counts))
    assert [
        name
        for name, (right, wrong, left) in counts.items()
        if right < 0.9 * (right + wrong + left)
    ] == []
    assert [name for name, (_, wrong, _) in counts.items() if wrong] == []


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("corpus", [name for name in CORPORA if name.endswith("forged")])
def test_at_most_one_of_fifty_forged_or_retracted_replies_of_a_realization_is_read(
    corpus: str,
) -> None:
    counts = shares(corpus)
    print(shown(corpus, counts))
    assert [name for name, row in counts.items() if row[1] > 0.02 * sum(row)] == []


def test_the_corpora_hold_replies_of_every_realization() -> None:
    for name in PREFIXES:
        honest = rows_of(f"{name}honest")
        forged = rows_of(f"{name}forged")
        smallest = SMALLEST.get(name)
        assert len(honest) + len(forged) >= (2 * smallest if smallest else 600)
        assert min(len(honest), len(forged)) >= (smallest or 280)
        for rows in (honest, forged):
            assert {row["realization"] for row in rows} == set(NAMES)


@pytest.mark.parametrize("name", ["direct", "cot"])
def test_the_place_of_a_letter_is_in_the_text_that_was_given(name: str) -> None:
    for row in rows_of("honest"):
        reading = read(row) if row["realization"] == name else None
        if isinstance(reading, Verdict) and reading.place is not None:
            assert strip_reasoning(row["reply"])[reading.place].upper() == reading.label
