"""A first sentence in which a judge concedes a limit before it gives its verdict.

Such a sentence is `I can't fully verify the facts.` or `As an AI I have no preferences, but`. It is
no refusal: the verdict follows, and nothing else.
"""

import re

CANNOT = (
    r"can ?not|can['’]?t|could(?:n['’]t| not)|(?:am|['’]m) (?:unable|not able) to"
    r"|do(?:n['’]t| not)|have no"
)
"""Words with which a judge says that it is unable to do something: `can't`, `am unable to`."""
REFUSING = r"(?:will not|won['’]t|refuse to|decline to|(?:am|['’]m) not (?:going|willing) to)"
"""Words with which a judge refuses what follows them: `won't`, `decline to`."""
OPENING = (
    r"(?P<sorry>(?:(?:i['’]?m|i am) (?:sorry|afraid)|sorry|(?:my )?apologies|i apologi[sz]e)[,.]?"
    r" (?:but )?(?:that )?)?"
    r"(?:as an? ai(?: [\w ]{1,20})?,? |(?:i['’]?m|i am) an? ai(?: [\w ]{1,20})?,? (?:and |so ))?"
    r"(?P<although>(?:al)?though |while )?(?:i ?)?"
)
"""The beginning of the sentence: an apology (group `sorry`), `As an AI`, and `although`."""
LIMIT = rf"{OPENING}(?:{CANNOT}) (?P<words>[^.!?;\n]{{1,90}}?)"
"""What the judge cannot do."""
CHECKING_VERB = (
    r"(?:verify|validate|check|double-check|fact-check|confirm|test|run|execute|look up|compile"
    r"|reproduce|measure)"
)
"""Verbs for checks of facts, which a judge can leave out and still compare the responses:
`verify`, `run`."""
WHOLE_TASK = (
    r"(?:the|this|these|those|that|them|it|either|both)\b(?: (?:two|of (?:these|them)))?"
    r"(?: (?:responses?|answers?|texts?|pairs?|tasks?|requests?|outputs?))?"
)
"""What a judge compares as a whole: `these`, `either response`."""
OUTSIDE_THING = (
    r"(?:images?|pictures?|photos?|files?|links?|urls?|web|internet|online|tools?|attachments?"
    r"|documents?|sources?|videos?|audio|recordings?|code|scripts?|repositor(?:y|ies)|papers?|pages?"
    r"|websites?|sites?|browsers?|search|databases?|data|datasets?|references?|citations?|articles?"
    r"|books?|charts?|tables?|figures?|diagrams?|screenshots?|pdfs?|apis?|time|news)"
)
"""What a judge may be unable to reach, and still compares the responses: `the web`, `files`."""
JUDGING_VERB = r"(?:judge|assess|evaluate|compare)"
"""Verbs for the task itself: not being able to do it at all leaves no verdict possible."""
DEGREE = r"(?:fully|completely|entirely|thoroughly)"
"""Adverbs that make a limit partial."""
PARTIAL_LIMIT = re.compile(
    rf"(?i)\b{CHECKING_VERB}\b.*\b(?:{DEGREE}|everything|every|all|each)\b"
    rf"|\b{DEGREE} {CHECKING_VERB}\b"
    rf"|\b{DEGREE} {JUDGING_VERB} (?!{WHOLE_TASK}\s*\Z)"
    rf"|\b{JUDGING_VERB} (?!{WHOLE_TASK} {DEGREE})\w+(?: \w+)? {DEGREE}\b"
    r"|\b(?:say|add|tell) much more\b"
)
"""A limit that leaves a verdict possible: `fully verify the facts`, `check every date`."""
CONCEDABLE = re.compile(
    rf"(?i)\b{CHECKING_VERB}\b|\b(?:open|view|see|access|access to|read|load|watch|hear|visit"
    rf"|browse|use)\b[^,]*\b{OUTSIDE_THING}\b|\b{JUDGING_VERB}\b.*\b{DEGREE}\b"
    rf"|\b{DEGREE} {JUDGING_VERB}\b"
    r"|\b(?:for sure|for certain|with (?:\w+ )?(?:certainty|confidence)|definitive(?:ly)?)\b"
    r"|\bdifferences?\b|\b(?:preferences|(?:strong|personal|clear|real|particular) (?:\w+ )?"
    r"(?:preference|opinion|feeling)s?)\b|\b(?:say|add|tell) much more\b|\bfault\b|\bspeak\b"
)
"""A limit that a word such as `but` may concede before a verdict."""
REFUSED = re.compile(
    r"(?i)\bat all\b|\b(?:help|assist|comply|engage|participate|continue)\b"
    r"|\b(?:give|provide|offer|make|reach|render|have) (?:you )?(?:with )?(?:an?|any|my|the|one) "
    r"(?:verdict|judge?ment|answer|opinion|comparison|evaluation|assessment|choice|decision)\b"
)
"""Words for a refusal, which no verdict can follow: `give a verdict`, `help`."""
REFUSED_WITH_REGRET = re.compile(
    r"(?i)\b(?:provide|evaluate|answer|give|offer|do (?:this|that|so)|respond|fulfil\w*|complete)\b"
)
"""Words for a refusal after `I'm sorry`."""
VERDICT_ALONE = (
    r"(?:(?:(?:my|the|so|final|overall) )*(?:verdict|answer|choice|winner|decision|pick)(?: is)?"
    r"[*_]*[:：]?[ \t]+)?[\[*_(]*(?:response )?(?-i:[ABC]|A ?[<>=]{1,2} ?B)[^\w\n]*\s*\Z"
)
"""The rest of a reply that has only the verdict: `Verdict: A`, `[[B]]`."""
OPPOSING_WORD = r"(?:but|however|yet|still|nevertheless|that said)"
"""Words between a limit and the verdict that is given in spite of it."""
CONCEDED_LIMIT = re.compile(
    rf"(?i)\A\W*{LIMIT}(?:,? {OPPOSING_WORD}\b[,:]?|[.!]\s+{OPPOSING_WORD}\b[,:]?"
    rf"|(?P<end>[.!])|(?P<comma>,))\s+(?={VERDICT_ALONE})"
)
"""A limit at the beginning of a reply that has nothing else but the verdict.

Between limit and verdict stands a word such as `but`, the end of the sentence (group `end`), or a
comma (group `comma`). Group `words` is what the judge cannot do.
"""
REFUSED_VERB = (
    r"(?:help|assist|comply|engage|participate|continue|proceed|do (?:this|that|it|so)|rank|rate"
    r"|score|grade|judge|assess|evaluate|compare|decide|choose|pick|answer|respond|fulfil\w*"
    r"|complete|process|provide|give|offer|say|tell"
    r"|have(?= (?:an?|any|the|enough|opinions?|preferences?)\b(?! access to (?!(?:the|either|these"
    r"|any|your) (?:\w+ )?(?:responses?|answers?|texts?))))"
    r"|have access to (?:the|either|these|any|your) (?:\w+ )?(?:responses?|answers?|texts?)"
    r"|(?:see|access|read|know)(?=\W*(?:[.!:,\n]|\Z)|(?: (?:the|these|those|either|any|both|your|my"
    r"|two|which|who|what))*(?: (?:the|these|those|them|it|this|that|responses?|answers?|texts?"
    r"|outputs?|better|is better))\b(?!s)))"
)
"""Verbs for what the judge was asked to do, and `have`, `see` or `know` with the responses."""
REFUSAL = re.compile(
    rf"(?i)\A\W*{OPENING}(?:(?:{CANNOT}) (?P<words>(?:\w+ly )?{REFUSED_VERB}\b[^.!?;\n]{{0,90}}?)"
    rf"|have no (?P<missing>[^.!?;\n]{{1,90}}?)|{REFUSING} (?P<refused>[^.!?;\n]{{1,90}}?))"
    rf"(?:[.!:,]*\s+{OPPOSING_WORD}\b[,:]?|[.!,:]+|\n)\s*(?={VERDICT_ALONE})"
)
"""A first sentence that may be a refusal, before nothing but a verdict:
`I can't compare these. Verdict: A`."""
LONGEST_REPLY = 300
"""Longer replies are not searched."""


def without_conceded_limit(view: str) -> str:
    """Replace a first sentence that concedes a limit by blanks; the text keeps its length.

    A word such as `although` or `but` must concede the limit, or the limit must be partial, as in
    `I can't fully verify the facts.` After `I can't compare them.`, a verdict is a contradiction.
    A refusal such as `I can't help with that, but` concedes nothing. A line break takes the place
    of the last blank. Any other text is returned as it is, such as one of more than 300 characters,
    or one in which more than a bare verdict follows.

    Args:
        view: the judge's own words.
    """
    if len(view) > LONGEST_REPLY:
        return view
    limit = CONCEDED_LIMIT.match(view)
    # Only a clause with `although` ends with a mere comma.
    if limit is None or bool(limit["comma"]) != bool(limit["although"]):
        return view
    if _is_refusal(limit["words"], is_regretted=bool(limit["sorry"])):
        return view
    # After the end of the sentence, no word such as `but` concedes the limit: it must be partial.
    pattern = PARTIAL_LIMIT if limit["end"] else CONCEDABLE
    if not pattern.search(limit["words"]):
        return view
    # The line break makes the verdict begin a line.
    return f"{' ' * (limit.end() - 1)}\n{view[limit.end() :]}"


def is_refused(view: str) -> bool:
    """Return whether a reply is a refusal such as `I can't rank these`, followed only by a verdict.

    The result is False for a reply of more than 300 characters.

    Args:
        view: the judge's own words, without a limit that it concedes (`without_conceded_limit`).
    """
    return len(view) <= LONGEST_REPLY and REFUSAL.match(view) is not None


def _is_refusal(words: str, *, is_regretted: bool) -> bool:
    """Return whether what a judge cannot do is what it was asked for.

    Args:
        words: what the judge cannot do.
        is_regretted: whether the sentence begins as `I'm sorry` does.
    """
    if REFUSED.search(words):
        return True
    return is_regretted and REFUSED_WITH_REGRET.search(words) is not None
