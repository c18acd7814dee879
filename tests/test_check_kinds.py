"""The kinds of checks: docs/statistics.md gives the reason of every row, and every text says what
it names."""

import math
from pathlib import Path
from string import Formatter

import pytest

from podium.check_kinds import CHECKS, GRAVITY, CheckKind

TEXTS = ("flagged", "ok", "figure", "number", "remedy")
TEMPLATES = [
    (kind.name, text) for kind in CHECKS.values() for text in TEXTS if "{" in getattr(kind, text)
]


@pytest.mark.parametrize("kind", CHECKS.values(), ids=list(CHECKS))
def test_the_docs_give_the_threshold_and_the_reason_of_a_check(kind: CheckKind) -> None:
    page = (Path(__file__).parents[1] / "docs" / "statistics.md").read_text(encoding="utf-8")
    [row] = [line for line in page.splitlines() if line.startswith(f"| {kind.name} |")]
    _, threshold, reason = row.strip("| ").split(" | ")
    if math.isnan(kind.threshold):
        assert threshold == "–"
    else:
        assert float(threshold) == kind.threshold
    assert reason
    assert not reason.endswith(".")


@pytest.mark.parametrize("name", list(GRAVITY))
def test_texts_of_a_check_are_parts_of_sentences(name: str) -> None:
    kind = CHECKS[name]
    texts = [getattr(kind, text) for text in TEXTS]
    assert any(texts) or kind.question
    for text in (kind.flagged, kind.ok, kind.figure, kind.remedy):
        assert not text.endswith(".")
        assert not text[:1].isupper()


@pytest.mark.parametrize(("name", "text"), TEMPLATES)
def test_a_text_without_one_of_its_figures_is_an_error(name: str, text: str) -> None:
    template = getattr(CHECKS[name], text)
    names = [field for _, field, _, _ in Formatter().parse(template) if field]
    with pytest.raises(KeyError):
        template.format(**dict.fromkeys({*names} - {names[0]}, 1))
