"""token-probs: the probability that the judge begins with yes (JuStRank, section 4.2.2)."""

from functools import partial

from podium.scorers.asking import Settings
from podium.scorers.probabilities import NO_PROBABILITIES, share
from podium.scorers.reading import no_verdict
from podium.scorers.realization import Realization
from podium.scorers.template import packaged
from podium.scorers.verdict import Rating, Reply, unrated


def read(reply: Reply, settings: Settings) -> Rating:  # noqa: ARG001
    """Read P(yes) / (P(yes) + P(no)) at the first token that is not blank.

    What follows that token is not read: a reply that was cut off after it is as good as a whole one.
    """
    first = next((token for token in reply.tokens if token.text.strip()), None)
    if first is None:
        return unrated(NO_PROBABILITIES if reply.text.strip() else "truncated" if reply.truncated else "empty")
    score = share(first.top, "yes", "no")
    if score is None:
        return unrated("refusal" if no_verdict(reply.text) == "refusal" else NO_PROBABILITIES)
    return Rating(score, label=first.text.strip())


TOKEN_PROBS = Realization(
    name="token-probs",
    kind="pointwise",
    template=partial(packaged, "token_probs"),
    read=read,
    yields=("score",),
    max_tokens=16,
    probabilities="needed",
)
