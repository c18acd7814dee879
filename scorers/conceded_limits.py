"""A first sentence in which a judge concedes a limit before it gives its verdict.

Such a sentence is `I can't fully verify the facts.` or `As an AI I have no preferences, but`. It is
no refusal: the verdict follows, and nothing else.
"""

import re

CANNOT = (
    r"can ?not|can['’]?t|could(?:n['’]t| not)|(?:am|['’]m) (?:unable|not able) to"
    r"|do(?:n['’]t| not)"
)
OPENING = (
    r"(?:(?:i['’]?m|i am) (?:sorry|afraid),? (?:but )?(?:that )?)?"
    r"(?:as an? ai(?: [\w ]{1,20})?,? |(?:i['’]?m|i am) an? ai(?: [\w ]{1,20})?,? (?:and |so ))?"
    r"(?P<although>(?:al)?though |while )?(?:i ?)?"
)
LIMIT = rf"{OPENING}(?:{CANNOT}) (?P<words>[^.!?;\n]{{1,90}}?)"
"""What the judge cannot do."""
LIMITING_WORD = re.compile(
    r"(?i)\b(?:fully|completely|entirely|much|everything|every|all|any more|further|in detail)\b"
)
"""A word because of which the rest can be done: `I can't fully verify the facts.`"""
VERDICT_ALONE = (
    r"(?:(?:(?:my|the|so|final|overall) )*(?:verdict|answer|choice|winner|decision|pick)(?: is)?"
    r"[*_]*[:：]?[ \t]+)?[\[*_(]*(?:response )?(?-i:[ABC]|A ?[<>=]{1,2} ?B)[^\w\n]*\s*\Z"
)
"""The rest of a reply that has only the verdict."""
OPPOSING_WORD = r"(?:but|however|yet|still|nevertheless|that said)"
CONCEDED_LIMIT = re.compile(
    rf"(?i)\A\W*{LIMIT}(?:,? {OPPOSING_WORD}\b[,:]?|[.!]\s+{OPPOSING_WORD}\b[,:]?"
    rf"|(?P<end>[.!])|(?P<comma>,))\s+(?={VERDICT_ALONE})"
)
LONGEST_REPLY = 300
"""Longer replies are not searched."""


def without_conceded_limit(view: str) -> str:
    """Replace a first sentence that concedes a limit by blanks; the text keeps its length.

    A word such as `although` or `but` must concede the limit, or the limit must be partial, as
    `fully` says. After `I can't compare them.`, a verdict is a contradiction.

    Args:
        view: the judge's own words.
    """
    if len(view) > LONGEST_REPLY:
        return view
    limit = CONCEDED_LIMIT.match(view)
    if limit is None or bool(limit["comma"]) != bool(limit["although"]):
        return view
    if limit["end"] and not LIMITING_WORD.search(limit["words"]):
        return view
    return f"{' ' * (limit.end() - 1)}\n{view[limit.end() :]}"
