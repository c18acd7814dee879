"""cot: reasons, then a verdict on the last line (Non-transitivity paper, appendix G.1: CoT comparison)."""

import re
from functools import partial

from podium.scorers.direct import chances_of_letters, letter_of, verdict_of_letter
from podium.scorers.prompt import Settings, packaged_template
from podium.scorers.realization import Preference, Realization
from podium.scorers.reply import EDGE, Reply, Verdict, last_line, reply_with_chances

FORM = re.compile(
    rf"{EDGE}(?:final[ \t]+)?verdict{EDGE}:{EDGE}(?:response[ \t]+)?[\[(\"']*([A-Z])(?![A-Z0-9])[\])\"'.]*{EDGE}\.?",
    re.IGNORECASE | re.ASCII,
)
"""`Verdict: A`, alone on its line."""


def read_reply(reply: Reply, settings: Settings) -> Verdict:
    """Read the letter of the verdict on the last line."""
    if reply.reason_of_silence:
        return Verdict(None, reason=reply.reason_of_silence)
    stated = last_line(reply.text, FORM)
    return Verdict(None, reason=stated) if isinstance(stated, str) else verdict_of_letter(stated, settings)


def write_reply(preference: Preference, settings: Settings) -> Reply:
    """Return a reply with the reasons and the verdict, with the probabilities of its letter."""
    text = f"{preference.reasons}\n\nVerdict: {letter_of(preference, settings)}".lstrip()
    chances = chances_of_letters(preference, settings)
    return reply_with_chances(text, {f" {letter}": chance for letter, chance in chances.items()})


COT = Realization(
    name="cot",
    kind="pairwise",
    template=partial(packaged_template, "cot"),
    read_reply=read_reply,
    write_reply=write_reply,
    options=frozenset({"tie", "checklist", "reference", "system"}),
    probabilities="soften",
)
