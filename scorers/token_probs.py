"""token-probs: the probability that the judge's reply begins with yes (JuStRank, section 4.2.2)."""

from functools import partial

from podium.scorers.probabilities import NO_PROBABILITIES, share_of_answer, token_at
from podium.scorers.prompt import Settings, packaged_template
from podium.scorers.realization import Preference, Realization
from podium.scorers.reply import UNSHOWN, Rating, Reply, no_verdict, reply_with_chances


def read_reply(reply: Reply, settings: Settings) -> Rating:  # noqa: ARG001
    """Read P(yes) / (P(yes) + P(no)) at the first token of the text that is not blank.

    The rest is not read: a reply that was cut off after it counts.
    """
    first = token_at(reply, len(reply.text) - len(reply.text.lstrip())) if reply.text.strip() else None
    if reply.refused:
        return Rating(None, reason=UNSHOWN)
    if first is None:
        silence = "truncated" if reply.truncated else "empty"
        return Rating(None, reason=NO_PROBABILITIES if reply.text.strip() else silence)
    score = share_of_answer(first.top, "yes", "no")
    if score is None:
        return Rating(None, reason="refusal" if no_verdict(reply.text) == "refusal" else NO_PROBABILITIES)
    return Rating(score, label=first.text.strip())


def write_reply(preference: Preference, settings: Settings) -> Reply:  # noqa: ARG001
    """Return a reply with the likelier word and the probabilities of both."""
    word = "yes" if preference.chance >= 0.5 else "no"
    return reply_with_chances(word, {"yes": preference.chance, "no": 1 - preference.chance})


TOKEN_PROBS = Realization(
    name="token-probs",
    kind="pointwise",
    template=partial(packaged_template, "token_probs"),
    read_reply=read_reply,
    write_reply=write_reply,
    probabilities="needed",
)
