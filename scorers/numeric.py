"""numeric: a number from 0 to 100 for one response (JuStRank, section 4.2.2)."""

import re
from functools import partial

from podium.scorers.asking import Settings
from podium.scorers.brackets import bracketed
from podium.scorers.realization import Realization
from podium.scorers.template import packaged
from podium.scorers.verdict import Rating, Reply, unrated

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
LOW, HIGH = 0, 100


def read(reply: Reply, settings: Settings) -> Rating:  # noqa: ARG001
    """Read the number on the last line."""
    word, reason = bracketed(reply)
    if word is None:
        return unrated(reason)
    if not NUMBER.fullmatch(word):
        return unrated("no verdict")
    score = float(word)
    return Rating(score, label=word) if LOW <= score <= HIGH else unrated("out of range")


NUMERIC = Realization(
    name="numeric",
    kind="pointwise",
    template=partial(packaged, "numeric"),
    read=read,
    yields=("score",),
    max_tokens=32,
)
