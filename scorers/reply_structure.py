"""The judge's own words in a reply: quotations, fences, reasoning, markup and conversations of
others are masked."""

import json
import re
from collections.abc import Iterable, Iterator

from podium.scorers.reasoning import start_of_answer
from podium.scorers.reply_words import EXPLANATION, ROLES, VERDICT_NOUNS

MASK = "\ufffc"
"""Stands for each character that is not the judge's own word."""
MOST_MARKS, MOST_LINES, MOST_BRACES = 4000, 20_000, 200
"""Largest numbers of quotation marks, fence lines or tags, of lines, and of opening braces, in a
readable reply."""
END_TOKENS = re.compile(
    r"(?:\s|<\|[\w|]{1,40}\|>|</?s>|<(?:end|start)_of_turn>|<eos>|<\uff5c[^>\n]{1,40}\uff5c>|\[/INST\])++\Z"
)
TURN = re.compile(
    rf"(?i)\n[ \t*#]*(?:<\|[^|\n]{{1,30}}\|>|(?:{ROLES}|ai|assistant|judge)[ \t]*\**:|\[/?(?:{ROLES})\])"
)
"""A speaker after the end of a line, which is searched faster than the start of one."""
OPENING_TURN = re.compile(
    r"(?i)\s*+(?:(?:<\|im_start\|>|<\|start_header_id\|>)?[ \t]*+(?:assistant|ai|judge)[ \t]*+(?:<\|end_header_id\|>|:"
    r"|\n)|<\|assistant\|>|<start_of_turn>model\n)"
)
"""The judge's own role before its reply."""
CODE_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)
PROMPT_FENCE = re.compile(r"^[^\n<]{0,20}<<<(END )?[^<>\n]{1,60}>>>", re.MULTILINE)
"""A line of podium's former fences around responses."""
STRUCK = (
    ("<!--", "-->"),
    ("~~", "~~"),
    ("<del>", "</del>"),
    ("<s>", "</s>"),
    ("<strike>", "</strike>"),
)
TAG = re.compile(
    rf"</?(?:final_)?(?:{'|'.join(VERDICT_NOUNS.split())}|reasons?|explanation|final_answer|p|b|i|u|em|strong|div|span|br|h[1-6]"
    r"|code|pre)\b[^<>\n]{0,40}>"
)
"""Markup around a verdict."""
SCALE = re.compile(
    r"[(\[](?:out of \d{2,3}|\d{1,3} ?(?:-|–|to) ?\d{1,3}|[A-C](?: or |/)[A-C](?:(?: or |/)C)?)[)\]](?=[:：])"
    r"|\b[Oo]n (?:a|the) scale (?:of|from) [\w ]{1,12} to [\w ]{1,12}(?=[,:.()])"
)
"""The allowed values, named before the verdict: `Score (0-100): 85`."""
QUOTED_TAG = re.compile(
    r"<([a-z_]+_[0-9a-f]{8}|(?:response|answer|candidate)_?[ab]|quote\w*|blockquote|(?<=^<)(?:think(?:ing)?|thought"
    r"|reasoning))>.*?(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
"""A text in a fence of the prompt, in tags that name a response or, from the start of a line, in
those of reasoning; up to the end of the reply if it is not closed."""
FLAT_OBJECT = re.compile(r"\{\s*\"[^{}\[\]]*\}|\{\s*\"[^{}]*\[\[[^{}\[\]]{1,20}\]\][^{}]*\}")
FIELD = re.compile(
    rf"(?:{'|'.join(VERDICT_NOUNS.split())}|my|final|the|response|confidence|max|{EXPLANATION}|[_ ])+",
    re.IGNORECASE,
)
"""Names of fields that give a verdict or its reasons."""
CLOSING = {
    r"\"(?<![^ \t\n(\[{:*_—–>]\")(?![ \t])": '"',
    "“": "”",
    "„": "“”",
    "«": "»",
    "「": "」",
    "『": "』",
}
# Begins with literal characters, which are searched as a set.
QUOTATION = re.compile(
    "|".join(
        rf"{opening}(?:(?:[^\s:{closing}]{{1,12}}|(?i:response|answer|option|very) \w+)[{closing}]"
        rf"|([^{closing}]*+)[{closing}]?)"
        for opening, closing in CLOSING.items()
    )
)
"""A quotation, with its text in a group if it is longer than a verdict; one that is never closed
lasts to the end."""
QUOTE_LINE = re.compile(r"\n[ \t]*>")
BLOCK_QUOTE = re.compile(r"^[ \t]*>[^\n]*(?:\n[ \t]*>[^\n]*)*", re.MULTILINE)
QUOTED_VALUE = re.compile(
    r"(?<=[.!?…]\n\n)>[^\w\n]*(?:(?:[Ff]inal )?(?:[Vv]erdict|[Aa]nswer)[^\w\n]*)?[A-C](?:[^\w\n]*[A-C])?[^\w\n]*\s*\Z"
)
"""A block quote of nothing but a letter or label, after reasons, which is no quotation."""

FULL_WIDTH = dict(
    zip(map(ord, "ＡＢＣ＞＜＝［］０１２３４５６７８９"), "ABC><=[]0123456789", strict=True)
)
ESCAPED = (
    ("&gt;", ">   "),
    ("&lt;", "<   "),
    ("\\[\\[", "  [["),
    ("\\]\\]", "]]  "),
    ("[\\[", " [["),
    ("\\]]", "]] "),
)
"""Spellings of brackets and signs, and others of the same length."""
Span = tuple[int, int]


def own_words(text: str) -> str | None:
    """Return a text of the same length in which what is not the judge's own statement is masked;
    None if the text is a conversation, or has too many marks to be a reply."""
    if text.count("\n") > MOST_LINES:
        return None
    start = start_of_answer(text)
    view = _without_tokens("\n" * start + text[start:])
    if not view.isascii() and not FULL_WIDTH.keys().isdisjoint(map(ord, set(view))):
        view = view.translate(FULL_WIDTH)
    if "\\" in view or "&" in view:
        for spelling, sign in ESCAPED:
            view = view.replace(spelling, sign)
    if " scale " in view or (":" in view and ("):" in view or "]:" in view)):
        view = SCALE.sub(lambda scale: " " * len(scale[0]), view)
    turn = TURN.search(f"\n{view}") if ":" in view or "<" in view or "[" in view else None
    signs = ('"', "```", "~~", "<<<", "\u201c", "\n>", "</")
    if turn or (len(view) > MOST_MARKS and max(map(view.count, signs)) > MOST_MARKS):
        return None
    # One character is found far faster than two.
    if "<" in view and "<<<" in view:
        view = mask(view, _prompt_fences(view))
    if ("`" in view and "```" in view) or ("~" in view and "~~~" in view):
        view = _without_code_fences(view)
    if "{" in view:
        view = _lines_of_fields(view)
    if "~" in view or "<" in view:
        view = mask(view, _struck(view))
        view = mask(view, (quoted.span() for quoted in QUOTED_TAG.finditer(view)))
        view = TAG.sub(lambda tag: "\n".ljust(len(tag[0])), view)
    if ">" in view and (QUOTE_LINE.search(view) or view.lstrip().startswith(">")):
        quotes = [quote.span() for quote in BLOCK_QUOTE.finditer(view)]
        if quotes and (last := QUOTED_VALUE.search(view, quotes[-1][0])):
            view = f"{view[: last.start()]} {view[last.start() + 1 :]}"
            quotes.pop()
        view = mask(view, quotes)
    return mask(
        view,
        (quoted.span(quoted.lastindex) for quoted in QUOTATION.finditer(view) if quoted.lastindex),
    )


def _lines_of_fields(view: str) -> str:
    """Return a JSON object of one level as lines of names and values, if the names introduce a
    verdict or reasons."""
    flat = FLAT_OBJECT.search(view)
    try:
        names = set(json.loads(flat[0])) if flat and view.count("{") == 1 else {""}
    except (ValueError, RecursionError):
        return view
    if flat is None or not all(map(FIELD.fullmatch, names)):
        return view
    lines = re.sub(r'[{}"]|,(?=\s*")', lambda sign: "\n" if sign[0] == "," else " ", flat[0])
    return view[: flat.start()] + lines + view[flat.end() :]


def mask(text: str, spans: Iterable[Span], sign: str = MASK) -> str:
    """Replace spans by a sign for each character, but keep the ends of lines."""
    parts, end = [], 0
    for start, stop in spans:
        parts += [
            text[end:start],
            "\n".join([sign * len(line) for line in text[start:stop].split("\n")]),
        ]
        end = stop
    return "".join([*parts, text[end:]]) if parts else text


def _without_tokens(view: str) -> str:
    """Replace the tokens of a chat template around the reply by blanks."""
    if opening := OPENING_TURN.match(view):
        view = " " * opening.end() + view[opening.end() :]
    if view.rstrip().endswith((">", "/INST]")) and (
        tokens := END_TOKENS.search(view, max(0, len(view) - 400))
    ):
        view = view[: tokens.start()] + " " * (len(view) - tokens.start())
    return view


def _prompt_fences(view: str) -> Iterator[Span]:
    """Yield what stands between podium's fences; all the rest, if one of the two lines is
    missing."""
    opened, end = None, 0
    for line in PROMPT_FENCE.finditer(view):
        if not line[1]:
            opened = line.start() if opened is None else opened
        elif opened is None:
            opened = end
            break
        else:
            yield opened, line.end()
            opened, end = None, line.end()
    if opened is not None:
        yield opened, len(view)


def _without_code_fences(view: str) -> str:
    """Blank the lines of code fences, and mask what follows one that is never closed."""
    opened, lines = None, list(CODE_FENCE.finditer(view))
    for line in lines:
        if opened is None or (line[1][0] == opened[1][0] and not line[2].strip()):
            opened = None if opened else line
    fenced = mask(view, (line.span() for line in lines), " ")
    return mask(
        fenced, [(opened.end(), len(view))] if opened and fenced[opened.end() :].strip() else []
    )


def _struck(view: str) -> Iterator[Span]:
    """Yield comments, closed or not, and words that are struck through."""
    for opening, closing in STRUCK:
        start = view.find(opening)
        while start >= 0 and (
            (end := view.find(closing, start + len(opening))) >= 0 or opening == "<!--"
        ):
            stop = len(view) if end < 0 else end + len(closing)
            yield start, stop
            start = view.find(opening, stop)
