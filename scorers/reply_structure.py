"""The judge's own words in a reply.

Quotations, fences, reasoning and markup are masked: each of their characters is replaced by a sign
or a blank, so that positions stay the same. The masked text is called the view of a reply.
"""

import json
import re
from collections.abc import Iterable, Iterator

from podium.scorers.reasoning import start_of_answer
from podium.scorers.reply_asides import without_asides
from podium.scorers.reply_words import EXPLANATION, ROLES, VERDICT_NOUNS

MASK = "\ufffc"
"""Sign that replaces each character that is not the judge's own."""
MOST_MARKS = 4000
"""Largest number of quotation marks, fence lines or tags in a readable reply."""
MOST_LINES = 20_000
"""Largest number of line breaks in a readable reply."""
MOST_BRACES = 200
"""Largest number of opening braces in a readable reply."""
# Tokens of chat templates at the end of a reply: `<|im_end|>`, `</s>`, `<end_of_turn>`.
END_TOKENS = re.compile(
    r"(?:\s|<\|[\w|]{1,40}\|>|</?s>|<(?:end|start)_of_turn>|<eos>|<\uff5c[^>\n]{1,40}\uff5c>"
    r"|\[/INST\])++\Z"
)
BOX_TOKEN = re.compile(r"<\|(?:begin|end)_of_box\|>")
"""Tokens that some models put around their final answer."""
LONGEST_END = 400
"""Number of characters at the end of a reply that are searched for `END_TOKENS`."""
SPEAKER_LINE = re.compile(
    rf"(?i)\n[ \t*#]*(?:<\|[^|\n]{{1,30}}\|>|(?:{ROLES}|ai|assistant|judge)[ \t]*\**:"
    rf"|\[/?(?:{ROLES})\])"
)
"""The name of a speaker at the start of a line, such as `User:`.

The pattern begins with the line break before, since that is searched faster than the start of a
line.
"""
OPENING_TURN = re.compile(
    r"(?i)\s*+(?:(?:<\|im_start\|>|<\|start_header_id\|>)?[ \t]*+(?:assistant|ai|judge)[ \t]*+"
    r"(?:<\|end_header_id\|>|:|\n)|<\|assistant\|>|<start_of_turn>model\n)"
)
"""The judge's own role before its reply, such as `assistant:`."""
CODE_FENCE = re.compile(r"^[ \t>]*(?P<fence>`{3,}|~{3,})(?P<language>[^\n`]*)$", re.MULTILINE)
"""A line that begins or ends a code block, such as `~~~json`."""
FORMER_FENCE = re.compile(r"^[^\n<]{0,20}<<<(?P<end>END )?[^<>\n]{1,60}>>>", re.MULTILINE)
"""A line such as `<<<END RESPONSE A>>>`, with which podium formerly fenced responses."""
# Marks around comments and around words that are struck through.
STRIKE_MARKS = (
    ("<!--", "-->"),
    ("~~", "~~"),
    ("<del>", "</del>"),
    ("<s>", "</s>"),
    ("<strike>", "</strike>"),
)
TAG = re.compile(
    rf"</?(?:final_)?(?:{'|'.join(VERDICT_NOUNS.split())}|reasons?|explanation|final_answer"
    r"|p|b|i|u|em|strong|div|span|br|h[1-6]|code|pre)\b[^<>\n]{0,40}>"
)
"""Markup around a verdict: `<verdict>`, `</b>`."""
ALLOWED_VALUES = re.compile(
    r"[(\[](?:out of \d{2,3}|\d{1,3} ?(?:-|–|to) ?\d{1,3}|[A-C](?: or |/)[A-C](?:(?: or |/)C)?)"
    r"[)\]](?=[:：])|\b[Oo]n (?:a|the) scale (?:of|from) [\w ]{1,12} to [\w ]{1,12}(?=[,:.()])"
)
"""The allowed values, named before the verdict: `Score (0-100): 85`."""
NAME_OF_TAG = (
    r"[a-z_]+_[0-9a-f]{8}|(?:response|answer|candidate)_?[ab]|quote\w*|blockquote"
    r"|(?<=^<)(?:think(?:ing)?|thought|reasoning)"
)
"""The name of a tag around words that are not the judge's, such as `response_a` or `quote`."""
QUOTED_TAG = re.compile(
    rf"<({NAME_OF_TAG})>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE | re.MULTILINE
)
"""A text in a fence of the prompt, in tags that name a response, or in tags of reasoning.

Tags of reasoning begin a line. A tag that is not closed lasts to the end of the reply.
"""
PROMPT_FENCE = re.compile(
    r"</?[a-z_]+_[0-9a-f]{8}>|^[ \t]*</?response(?:_[ab])?_[0-9a-f]{0,8}[ \t]*$", re.MULTILINE
)
"""A fence of the prompt, such as `<response_a_3f9c2a1b>`, or a line with the beginning of one.

A fence without its counterpart was copied from a response.
"""
ROLE_TOKEN = re.compile(r"<\|(?:im_start|start_header_id)\|>[ \t]*\w|<start_of_turn>[ \t]*\w")
"""The token of a chat template that begins a turn: `<|im_start|>user`."""
# A JSON object without inner objects or lists; levels in double square brackets may occur.
FLAT_OBJECT = re.compile(r"\{\s*\"[^{}\[\]]*\}|\{\s*\"[^{}]*\[\[[^{}\[\]]{1,20}\]\][^{}]*\}")
VERDICT_FIELD = re.compile(
    rf"(?:{'|'.join(VERDICT_NOUNS.split())}|my|final|the|response|confidence|max"
    rf"|{EXPLANATION}|[_ ])+",
    re.IGNORECASE,
)
"""Names of fields that give a verdict or its reasons: `final_verdict`, `explanation`."""
# Patterns of opening quotation marks, each with the signs that close the quotation.
CLOSING_MARKS = {
    # A straight mark opens a quotation after a blank, bracket or such, and before a word.
    r"\"(?<![^ \t\n(\[{:*_—–>]\")(?![ \t])": '"',
    "“": "”",
    "„": "“”",
    # In `[[A«B]]` the sign compares two responses.
    r"«(?<!\[\[[AB]«)": "»",
    "「": "」",
    "『": "』",
}
# Opening quotation marks with their closing ones are in `CLOSING_MARKS`. The pattern begins with
# literal characters, because the regex engine searches those as a set, which is faster.
QUOTATION = re.compile(
    "|".join(
        opening
        # A short text, as a verdict is, or any other one.
        + rf"(?:(?:[^\s:{closing}]{{1,12}}|(?i:response|answer|option|very) \w+)[{closing}]"
        + rf"|([^{closing}]*+)[{closing}]?)"
        for opening, closing in CLOSING_MARKS.items()
    )
)
"""A quotation. Its text is in a group if it is longer than a verdict such as `"A"`.

A quotation that is never closed lasts to the end of the text.
"""
QUOTE_LINE = re.compile(r"\n[ \t]*>")
"""The beginning of a quoted line that is not the first line of the text."""
# Consecutive lines that begin with `>`.
BLOCK_QUOTE = re.compile(r"^[ \t]*>[^\n]*(?:\n[ \t]*>[^\n]*)*", re.MULTILINE)
QUOTED_VALUE = re.compile(
    r"(?<=[.!?…]\n\n)>[^\w\n]*(?:(?:[Ff]inal )?(?:[Vv]erdict|[Aa]nswer)[^\w\n]*)?"
    r"[A-C](?:[^\w\n]*[A-C])?[^\w\n]*\s*\Z"
)
"""A block quote after reasons that has only a letter or label: it is the judge's own verdict."""

# Plain signs for the full-width signs of Chinese and Japanese keyboards.
FULL_WIDTH_SIGNS = dict(
    zip(map(ord, "ＡＢＣ＞＜＝［］０１２３４５６７８９"), "ABC><=[]0123456789", strict=True)
)
ESCAPED_SIGNS = (
    ("&gt;", ">   "),
    ("&lt;", "<   "),
    ("\\[\\[", "  [["),
    ("\\]\\]", "]]  "),
    ("[\\[", " [["),
    ("\\]]", "]] "),
)
"""Escaped spellings of signs, and their plain spellings with blanks that keep the length."""
Span = tuple[int, int]
"""Start and end of a part of a text."""


def own_words(text: str) -> str | None:
    """Mask all of a reply but the judge's own words.

    A quotation as short as a verdict, such as `"A"`, and the text in a closed code fence stay.

    Returns:
        The view, which is as long as the text. None if the text is no reply: it is a conversation,
        has a fence of the prompt without its counterpart (`PROMPT_FENCE`), has the token that
        begins a turn, or has too many marks or lines.
    """
    if text.count("\n") > MOST_LINES:
        return None
    start = start_of_answer(text)
    # The reasoning becomes line breaks, so that the answer begins a line.
    view = _plain_signs(_without_chat_tokens("\n" * start + text[start:]))
    view = without_asides(view)
    if _is_conversation(view) or _has_too_many_marks(view):
        return None
    # The search for one character is far faster than the search for three, so it comes first.
    if "<" in view and "<<<" in view:
        view = mask(view, _spans_in_former_fences(view))
    has_code_fence = ("`" in view and "```" in view) or ("~" in view and "~~~" in view)
    if has_code_fence:
        view = _without_code_fences(view)
    if "{" in view:
        view = _lines_of_fields(view)
    if "~" in view or "<" in view:
        view = mask(view, _merge_overlaps(_struck_spans(view)))
        view = mask(view, (quoted.span() for quoted in QUOTED_TAG.finditer(view)))
        if PROMPT_FENCE.search(view):
            return None
        # A tag separates lines.
        view = TAG.sub(lambda tag: "\n".ljust(len(tag[0])), view)
    if ">" in view and (QUOTE_LINE.search(view) or view.lstrip().startswith(">")):
        view = _without_block_quotes(view)
    # Only the text of a long quotation is in a group.
    quotations = [quoted for quoted in QUOTATION.finditer(view) if quoted.lastindex]
    view = mask(view, (quoted.span(quoted.lastindex or 0) for quoted in quotations))
    has_role_token = "<" in view and ROLE_TOKEN.search(view)
    return None if has_role_token else view


def _plain_signs(view: str) -> str:
    """Replace full-width and escaped signs by plain ones, and scales by blanks.

    A scale names the allowed values before a verdict, as in `Score (0-100): 85`. The text keeps its
    length.
    """
    if not view.isascii() and not FULL_WIDTH_SIGNS.keys().isdisjoint(map(ord, set(view))):
        view = view.translate(FULL_WIDTH_SIGNS)
    if "\\" in view or "&" in view:
        for spelling, sign in ESCAPED_SIGNS:
            view = view.replace(spelling, sign)
    # Most texts have no colon, and one character is searched faster than two.
    has_bracket_and_colon = ":" in view and ("):" in view or "]:" in view)
    if has_bracket_and_colon or " scale " in view:
        view = ALLOWED_VALUES.sub(lambda scale: " " * len(scale[0]), view)
    return view


def _is_conversation(view: str) -> bool:
    """Return whether a line begins with the name of a speaker, such as `User:` (`SPEAKER_LINE`)."""
    may_have_turn = ":" in view or "<" in view or "[" in view
    return may_have_turn and SPEAKER_LINE.search(f"\n{view}") is not None


def _has_too_many_marks(view: str) -> bool:
    """Return whether a text has more than 4,000 marks of one kind.

    The kinds are quotation marks, fences, marks of struck words, lines of block quotes, and closing
    tags.
    """
    if len(view) <= MOST_MARKS:
        return False
    marks = ('"', "```", "~~", "<<<", "\u201c", "\n>", "</")
    return max(map(view.count, marks)) > MOST_MARKS


def _without_block_quotes(view: str) -> str:
    """Mask block quotes, except a last one that has only the verdict (`QUOTED_VALUE`)."""
    quotes = [quote.span() for quote in BLOCK_QUOTE.finditer(view)]
    if not quotes:
        return view
    last_start = quotes[-1][0]
    verdict = QUOTED_VALUE.search(view, last_start)
    if verdict:
        # Its sign `>` becomes a blank.
        view = f"{view[: verdict.start()]} {view[verdict.start() + 1 :]}"
        quotes.pop()
    return mask(view, quotes)


def _lines_of_fields(view: str) -> str:
    """Rewrite a JSON object of one level as lines of names and values.

    Nothing is changed if the object has a name that introduces neither a verdict nor reasons, if
    it is not valid JSON, or if the text has several opening braces. The text keeps its length.
    """
    flat_object = FLAT_OBJECT.search(view)
    if flat_object is None or view.count("{") != 1:
        return view
    try:
        names = set(json.loads(flat_object[0]))
    except (ValueError, RecursionError):
        return view
    if not all(map(VERDICT_FIELD.fullmatch, names)):
        return view
    lines = re.sub(r',(?=\s*")', "\n", flat_object[0])
    lines = re.sub(r'[{}"]', " ", lines)
    return view[: flat_object.start()] + lines + view[flat_object.end() :]


def mask(text: str, spans: Iterable[Span], sign: str = MASK) -> str:
    """Return a text in which a sign replaces each character of the spans, except line breaks.

    The text keeps its length. The spans must be in order, and must not overlap.
    """
    parts = []
    last_end = 0
    for start, end in spans:
        masked_lines = [sign * len(line) for line in text[start:end].split("\n")]
        parts += [text[last_end:start], "\n".join(masked_lines)]
        last_end = end
    return "".join([*parts, text[last_end:]]) if parts else text


def _merge_overlaps(spans: Iterable[Span]) -> list[Span]:
    """Return spans sorted by start, with overlapping ones merged.

    Spans that only touch stay apart.
    """
    merged: list[Span] = []
    for start, end in sorted(spans):
        last_start, last_end = merged[-1] if merged else (start, start)
        if start < last_end:
            merged[-1] = last_start, max(end, last_end)
        else:
            merged.append((start, end))
    return merged


def _without_chat_tokens(view: str) -> str:
    """Replace the tokens of a chat template around the reply by blanks.

    A role such as `assistant:` before the reply is replaced, too, and `BOX_TOKEN` is replaced
    everywhere. The text keeps its length.
    """
    view = BOX_TOKEN.sub(lambda token: " " * len(token[0]), view)
    opening = OPENING_TURN.match(view)
    if opening:
        view = " " * opening.end() + view[opening.end() :]
    if not view.rstrip().endswith((">", "/INST]")):
        return view
    tokens = END_TOKENS.search(view, max(0, len(view) - LONGEST_END))
    if tokens:
        view = view[: tokens.start()] + " " * (len(view) - tokens.start())
    return view


def _spans_in_former_fences(view: str) -> Iterator[Span]:
    """Yield the spans between podium's former fences, the fences included.

    If an opening line is missing, the span is the text from the last fence to the end. If a closing
    line is missing, the span is the text from the opening line to the end.
    """
    opening_start = None
    last_end = 0
    for line in FORMER_FENCE.finditer(view):
        is_closing = bool(line["end"])
        if not is_closing:
            if opening_start is None:
                opening_start = line.start()
        elif opening_start is None:
            yield last_end, len(view)
            return
        else:
            yield opening_start, line.end()
            opening_start = None
            last_end = line.end()
    if opening_start is not None:
        yield opening_start, len(view)


def _without_code_fences(view: str) -> str:
    """Replace the lines of code fences by blanks, and mask the text after an unclosed fence.

    The text between an opening and a closing fence stays.
    """
    lines = list(CODE_FENCE.finditer(view))
    opening = None
    for line in lines:
        if opening is None:
            opening = line
            continue
        has_same_sign = line["fence"][0] == opening["fence"][0]
        if has_same_sign and not line["language"].strip():
            opening = None
    view = mask(view, (line.span() for line in lines), " ")
    if opening is None or not view[opening.end() :].strip():
        return view
    return mask(view, [(opening.end(), len(view))])


def _struck_spans(view: str) -> Iterator[Span]:
    """Yield the spans of words that are struck through and of comments, marks included.

    A comment that is never closed lasts to the end of the text. Other marks that are never closed
    are ignored. The spans of each kind of marks are in order.
    """
    for opening, closing in STRIKE_MARKS:
        start = view.find(opening)
        while start >= 0:
            closing_start = view.find(closing, start + len(opening))
            is_closed = closing_start >= 0
            if not is_closed and opening != "<!--":
                break
            end = closing_start + len(closing) if is_closed else len(view)
            yield start, end
            start = view.find(opening, end)
