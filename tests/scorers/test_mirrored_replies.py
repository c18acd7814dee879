"""A reply with A and B exchanged has the mirrored verdict, or none: no reader prefers a letter."""

import re
from collections import Counter

import pytest
from test_corpora_of_replies import CORPORA, read, rows_of

from podium.scorers.reply import Verdict

LETTER = re.compile(
    r"(?<![A-Za-z0-9])[ABＡＢ](?![A-Za-z0-9])|(?<=response_)[abAB](?![a-zA-Z])|(?<=score_)[ab]\b"
)
NUMBERED = re.compile(
    r"(?i)\b(first|second|former|latter)\b(?= (?:response|answer|one)\b|[.,]? *$)"
)
OTHER = dict(zip("ABabＡＢ", "BAbaＢＡ", strict=True)) | {
    "first": "second",
    "second": "first",
    "former": "latter",
    "latter": "former",
}
NOT_MIRRORED = re.compile(
    r"(?<![A-Za-z])b(?![A-Za-z])|(?i:verdict|response)\W+a\b|\A\W*a\W*\Z|\[\[a\b"
    r"|erste|zweite|prim[ae]|segund|secon?de|перв|втор|第"
)
"""Lower-case letters, which may be articles, and names of responses in other languages."""


def mirrored(text: str) -> str:
    """Exchange the names of the two responses."""
    text = LETTER.sub(lambda name: OTHER[name[0]], text)
    return NUMBERED.sub(lambda name: OTHER[name[0].lower()], text)


@pytest.mark.slow
@pytest.mark.parametrize("corpus", CORPORA)
def test_a_mirrored_reply_has_the_mirrored_verdict_or_none(corpus: str) -> None:
    inverted = []
    outcomes = Counter[str]()
    for row in rows_of(corpus):
        if row["realization"] in ("likert", "numeric") or NOT_MIRRORED.search(row["reply"]):
            continue
        one, other = read(row), read({**row, "reply": mirrored(row["reply"])})
        assert isinstance(one, Verdict)
        assert isinstance(other, Verdict)
        if one.credit is None or other.credit is None:
            outcomes["unparsed" if one.credit == other.credit else "one unparsed"] += 1
        else:
            outcomes["read"] += 1
            inverted += [] if one.credit == 1 - other.credit else [row["id"]]
    assert inverted == []
    assert outcomes["one unparsed"] <= 0.02 * outcomes.total()
