"""The stand-in judge: a prompt in, a reply out. A rule-based checker, NOT a language model."""

from podium.offline import replies
from podium.offline.asked import PAIR, form_of, may_tie
from podium.offline.demands import demands
from podium.offline.manner import Manner
from podium.offline.scoring import scored
from podium.scorers import checklist
from podium.scorers.fences import unfenced
from podium.scorers.verdict import Reply

NAME = "offline"
"""What follows `podium/` in the name of the model."""


def answer(
    prompt: str,
    *,
    position_bias: float = 0.0,
    noise: float = 0.0,
    seed: int = 0,
    tie: float = 0.0,
    sharpness: float = 6.0,
    logprobs: bool = False,
) -> Reply:
    """Answer a judge's prompt in the format that it asks for; the same prompt and settings give the same reply.

    **This is a rule-based stand-in, not a language model.** It scores a response by the share of the demands in the
    instruction that it meets, as far as rules can check them. Without a tie to choose, an equal pair goes to the
    response shown first, so that both orders together are a tie.

    Args:
        prompt: of any realization, with its texts behind fences.
        position_bias: added to the lead of the response shown first (shares differ by at most 1).
        noise: half the width of a uniform error of the lead.
        seed: of the noise.
        tie: leads no larger than this are ties.
        sharpness: the slope of the logistic from leads to probabilities.
        logprobs: whether the reply has tokens with probabilities.

    Returns:
        A reply that the realization's reader can read; one that says so where the format is not known.

    Raises:
        UsageError: a setting out of its range.
    """
    manner = Manner(position_bias, noise, seed, tie, sharpness)
    texts = unfenced(prompt)
    form = form_of(prompt, frozenset(texts))
    asked = demands(texts.get("INSTRUCTION", ""), texts.get("REFERENCE ANSWER"))
    if form == "unknown":
        return replies.reply(replies.UNKNOWN, None, logprobs=logprobs)
    if form == "checklist":
        return replies.reply(replies.checklist(asked, checklist.MOST), None, logprobs=logprobs)
    if "RESPONSE" in texts:
        share = scored(texts["RESPONSE"], asked).share + manner.waver(prompt)
        return _graded(form, share, manner, logprobs=logprobs)
    first, second = (scored(texts[name], asked) for name in PAIR)
    lead = first.share - second.share + manner.lean(prompt)
    ties = may_tie(prompt)
    if form == "labels":
        return replies.reply(replies.labels(lead, first, second, manner), None, logprobs=logprobs)
    if form == "rubric":
        return replies.reply(replies.rubric(lead, first, second, manner), None, logprobs=logprobs)
    if form == "cot":
        return replies.reply(*replies.cot(lead, first, second, manner, tie=ties), logprobs=logprobs)
    return replies.reply(*replies.direct(lead, manner, tie=ties), logprobs=logprobs)


def _graded(form: str, share: float, manner: Manner, *, logprobs: bool) -> Reply:
    """Answer about one response alone."""
    if form == "token-probs":
        return replies.reply(*replies.yes_or_no(share, manner), logprobs=logprobs)
    text = replies.likert(share) if form == "likert" else replies.numeric(share)
    return replies.reply(text, None, logprobs=logprobs)
