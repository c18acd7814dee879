"""direct: the better response in one letter; cot: reasons first (Non-transitivity paper, appendix G.1)."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from podium.scorers.prompt import Settings, packaged_template
from podium.scorers.realization import Preference, Realization
from podium.scorers.reply import EDGE, SIGNS, Reply, Verdict, is_balanced, last_line, no_verdict, reply_with_chances

CREDIT = {"A": 1.0, "B": 0.0, "C": 0.5}
"""Credit of the first response by letter; C is a tie."""
LETTER = rf"{SIGNS}(?:response[ \t]+)?{SIGNS}([A-Z])(?![A-Z0-9]){SIGNS}"
"""A letter (group 1) with optional emphasis and brackets, which `is_balanced` checks."""
STATEMENTS = tuple(
    re.compile(rf"(?:#{{1,6}}[ \t]+)?{form}\.?{SIGNS}[ \t\r]*", re.IGNORECASE | re.ASCII)
    for form in (
        LETTER,
        rf"{LETTER}[ \t]+is[ \t]+(?:the[ \t]+)?better(?:[ \t]+response)?",
        rf"{SIGNS}(?:the[ \t]+)?better[ \t]+response{SIGNS}(?:[ \t]+is:?|:){SIGNS}[ \t]+{LETTER}",
        rf"{SIGNS}(?:(?:my|the)[ \t]+)?(?:final[ \t]+)?(?:answer|verdict|winner|choice|decision){SIGNS}:{SIGNS}[ \t]+"
        rf"{LETTER}",
    )
)
"""Accepted first lines: `A`, `Response A is better.`, `The better response is A`, `Verdict: A`."""
DOUBT = re.compile(
    r"\b(?:wait|actually|however|instead|rather|sorry|hasty|correction|reconsider\w*|second thoughts?|on reflection"
    r"|neither|equally|tie|tied|but (?:i|then|no)|verdict|winner|better response|prefer\w*)\b|\banswer:",
    re.IGNORECASE,
)
"""Words after a verdict that may retract it."""
CLAIM = re.compile(
    r"\b([ABC])\b[^\w\n]{1,4}(?:is|was|would be|seems|wins|deserves)\b[^.\n]{0,40}"
    r"\b(?:better|best|stronger|superior|wins?)\b"
    r"|\b(?:verdict|answer|winner|choice|choose|prefer|pick|better(?: response)?(?: is)?)\b[^\w\n]{1,4}"
    r"(?:[Rr]esponse )?([ABC])\b"
)
"""Words after a verdict that may state another one."""
WORD = re.compile(r"\w+")
PROSE = re.compile(r"\b(?!response\b)\w{2,}", re.IGNORECASE)
SENTENCE = 3
"""Smallest number of words in a line of reasons, not counting the names of the responses."""
BARE = re.compile(r"\W*[ABC]\b")
"""A line that begins with a verdict letter."""
LAST_LINE = re.compile(
    rf"{EDGE}(?:final[ \t]+)?verdict{EDGE}:{EDGE}(?:response[ \t]+)?[\[(\"']*([A-Z])(?![A-Z0-9])[\])\"'.]*{EDGE}\.?",
    re.IGNORECASE | re.ASCII,
)
"""Last line of cot: `Verdict: A`, alone on its line."""


def read_reply(reply: Reply, settings: Settings) -> Verdict:
    """Read a letter, or one of `STATEMENTS`, from the first line; reasons may follow, but no other verdict."""
    if reply.reason_of_silence:
        return Verdict(None, reason=reply.reason_of_silence)
    start = len(reply.text) - len(reply.text.lstrip())
    end = start + len(reply.text[start:].partition("\n")[0])
    letter = next(filter(None, (form.fullmatch(reply.text, start, end) for form in STATEMENTS)), None)
    words, reasons = WORD.findall(reply.text.upper()), reply.text[end:]
    if len(words) > 1 and all(word in _letters(settings) for word in words):
        return Verdict(None, reason="several verdicts")
    if letter is None or not is_balanced(letter[0].strip().removesuffix(")" if "(" not in letter[0] else "")):
        return Verdict(None, reason=no_verdict(reply.text))
    # The rest must be prose that neither retracts the verdict nor states another.
    lines = [line for line in reasons.splitlines() if line.strip()]
    are_prose = all(len(PROSE.findall(line)) >= SENTENCE and not BARE.match(line) for line in lines)
    others = {first or second for first, second in CLAIM.findall(reasons)} - {letter[1].upper()}
    if others or not are_prose or DOUBT.search(CLAIM.sub("", reasons)):
        return Verdict(None, reason="several verdicts")
    return verdict_of_letter(letter, settings)


def write_reply(preference: Preference, settings: Settings) -> Reply:
    """Return a reply with the letter and the probabilities of all letters."""
    return reply_with_chances(letter_of(preference, settings), chances_of_letters(preference, settings))


def _read_last_line(reply: Reply, settings: Settings) -> Verdict:
    """Read the letter of the verdict on the last line."""
    stated = last_line(reply, LAST_LINE)
    return Verdict(None, reason=stated) if isinstance(stated, str) else verdict_of_letter(stated, settings)


def _write_reasons(preference: Preference, settings: Settings) -> Reply:
    """Return a reply with the reasons and the verdict, with the probabilities of its letter."""
    text = f"{preference.reasons}\n\nVerdict: {letter_of(preference, settings)}".lstrip()
    chances = chances_of_letters(preference, settings)
    return reply_with_chances(text, {f" {letter}": chance for letter, chance in chances.items()})


def verdict_of_letter(letter: re.Match[str], settings: Settings) -> Verdict:
    """Return the verdict of a matched letter (group 1), unparsed if it was not offered."""
    name = letter[1].upper()
    if name not in _letters(settings):
        return Verdict(None, reason="out of range")
    return Verdict(CREDIT[name], label=name, place=letter.start(1))


def _letters(settings: Settings) -> str:
    """Return the letters that the judge may choose, as one string."""
    return "ABC" if settings.tie else "AB"


def letter_of(preference: Preference, settings: Settings) -> str:
    """Return the letter of a preference: C for a tie if it is offered, else A or B, A without preference."""
    if settings.tie and preference.degree == 0.5:
        return "C"
    return "A" if preference.degree >= 0.5 else "B"


def chances_of_letters(preference: Preference, settings: Settings) -> Mapping[str, float]:
    """Return the probability of each letter: P(A) + P(C) / 2 is the chance, and the written letter is the likeliest."""
    most = 1 if letter_of(preference, settings) == "C" else 2 / 3
    tie = most * min(preference.chance, 1 - preference.chance) if settings.tie else 0.0
    return {"A": preference.chance - tie / 2, "B": 1 - preference.chance - tie / 2, "C": tie}


DIRECT = Realization(
    name="direct",
    kind="pairwise",
    template=partial(packaged_template, "direct"),
    read_reply=read_reply,
    write_reply=write_reply,
    options=frozenset({"tie", "checklist", "reference", "system"}),
    probabilities="soften",
)
COT = replace(
    DIRECT,
    name="cot",
    template=partial(packaged_template, "cot"),
    read_reply=_read_last_line,
    write_reply=_write_reasons,
)
