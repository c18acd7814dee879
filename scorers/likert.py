"""likert: one of five words for one response (JuStRank, section 4.2.2); no word is part of another."""

from functools import partial

from podium.scorers.asking import Settings
from podium.scorers.brackets import bracketed
from podium.scorers.realization import Realization
from podium.scorers.template import packaged
from podium.scorers.verdict import Rating, Reply, unrated

GRADES = {"terrible": 1.0, "poor": 2.0, "fair": 3.0, "good": 4.0, "excellent": 5.0}


def read(reply: Reply, settings: Settings) -> Rating:  # noqa: ARG001
    """Read the word on the last line."""
    word, reason = bracketed(reply)
    if word is None:
        return unrated(reason)
    grade = word.lower()
    return Rating(GRADES[grade], label=grade) if grade in GRADES else unrated("out of range")


LIKERT = Realization(
    name="likert",
    kind="pointwise",
    template=partial(packaged, "likert"),
    read=read,
    yields=("score",),
    max_tokens=32,
)
