"""What all readers share: replies that say nothing, refusals, and verdicts that stand alone on the last line."""

import re

from podium.scorers.verdict import Reply

EDGE = r"[ \t\r*_#`]*"
"""What may stand around a verdict on its line: blanks and emphasis."""
LINE = re.compile(r"[^\n]+")
REFUSAL = re.compile(
    r"\b(?:sorry|apologi[sz]e|apologies|as an ai|(?:can ?not|can['’]?t|won['’]?t|(?:am|['’]m|are) (?:unable|not able)"
    r"|(?:must|have to) decline|will not|refuse) (?:to )?(?:\w+ ){0,2}?"
    r"(?:help|assist|comply|compare|judge|evaluate|rate|answer|do|provide|continue|fulfil|choose|engage|complete))",
    re.IGNORECASE,
)
REFUSAL_LENGTH = 600
"""Characters: a longer reply says something, whatever it apologises for."""


def says_nothing(reply: Reply) -> str | None:
    """Return why there is nothing to read: `truncated`, `empty`, or None."""
    if reply.truncated:
        return "truncated"
    return None if reply.text.strip() else "empty"


def no_verdict(text: str) -> str:
    """Return what to call a reply that holds no verdict: `refusal` or `no verdict`."""
    return "refusal" if len(text) <= REFUSAL_LENGTH and REFUSAL.search(text) else "no verdict"


def last_line(text: str, form: re.Pattern[str]) -> re.Match[str] | str:
    """Return the form on the last line of a text, or why it is not there.

    The form must fill its line. Lines that begin with it and say another word (group 1) make `several verdicts`; the
    same word may be said twice. A verdict quoted within a sentence, or behind `>`, is none.

    Args:
        text: a reply that is not empty.
        form: matches a whole line; group 1 is the word.
    """
    lines = [line.span() for line in LINE.finditer(text) if line[0].strip()]
    begun = [form.match(text, *span) for span in lines]
    if len({"".join(found[1].casefold().split()) for found in begun if found}) > 1:
        return "several verdicts"
    return form.fullmatch(text, *lines[-1]) or no_verdict(text)
