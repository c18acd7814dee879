"""labels: five levels, from A much better to B much better (JuStRank, appendix G: Anchor)."""

from functools import partial

from podium.scorers.asking import Settings
from podium.scorers.brackets import bracketed
from podium.scorers.realization import Realization
from podium.scorers.template import packaged
from podium.scorers.verdict import Reply, Verdict, unread

LEVELS = {"A>>B": 2.0, "A>B": 1.0, "A=B": 0.0, "B>A": -1.0, "B>>A": -2.0}
"""Label to margin; the credit is its sign."""


def read(reply: Reply, settings: Settings) -> Verdict:  # noqa: ARG001
    """Read the label on the last line."""
    word, reason = bracketed(reply)
    if word is None:
        return unread(reason)
    label = "".join(word.upper().split())
    if label not in LEVELS:
        return unread("out of range")
    margin = LEVELS[label]
    return Verdict((margin > 0) + (margin == 0) / 2, margin=margin, label=label)


LABELS = Realization(
    name="labels",
    kind="pairwise",
    template=partial(packaged, "labels"),
    read=read,
    yields=("credit", "margin"),
    max_tokens=2048,
)
