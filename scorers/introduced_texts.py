"""Texts of others in a reply that an earlier line introduces, without marks around them.

A line such as `Response A has these extra lines:` introduces the text of a response. All that
follows is that text, up to the end of its list or code block, or up to a paragraph in the judge's
own words. A verdict inside of it is not the judge's own.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from podium.scorers import introduction_words as words
from podium.scorers import reply_words
from podium.scorers.attributed_texts import introduces_text, plays_judge, speaks
from podium.scorers.reasoning import start_of_answer
from podium.scorers.reply_structure import CODE_FENCE, MASK, Span
from podium.scorers.verdict_statements import (
    LETTERS,
    LIST_MARK,
    TOKEN,
    is_introduction,
    is_introductory,
    is_introductory_clause,
    start_of_last_sentence,
)

SEARCHED_BEFORE = 10_000
"""Number of characters before a verdict that are searched for a line that introduces a text."""
LONGEST_LEAD = 400
"""Number of characters of a line that are read, counted from its end."""
SOURCE = re.compile(
    rf"(?<![A-Za-z])[AB](?![A-Za-z])|(?i:\b(?:{words.SOURCES})\b)|{words.CHINESE_SOURCES}"
)
"""A response, one of its parts, or somebody else, as the source of a text: `A`, `the author`."""
# The next three are parts of `NAMED_HEADING`: `2. the scores for`, `Response A`, and `(short)`.
NUMBER_AND_WORDS = r"[^\w\n]*(?:\d+[.)]?[^\w\n]*)?(?:(?:the|scores?|of|for|on) )*"
"""What may precede the noun of a heading, such as `## 2. The score of `."""
NOUN_AND_LETTER = rf"(?:{'|'.join(reply_words.RESPONSE_NOUNS.split())})?[^\w\n]*[AB]?"
"""The name of a response, such as `response **A`; both parts may be missing."""
# It does not name a part of a response.
REMARK_IN_BRACKETS = rf"(?:[^\w\n]*\((?!(?:[^()\n]*\b)?(?:{words.PARTS})\b)[^()\n]*\))?"
NAMED_HEADING = re.compile(rf"(?i){NUMBER_AND_WORDS}{NOUN_AND_LETTER}{REMARK_IN_BRACKETS}[^\w\n]*")
"""A heading that only names a response, such as `Response A (short):`."""
OWN_DECISION = re.compile(rf"(?i){words.OWN_DECISIONS}")
"""Words of a line that introduces the judge's own scores, reasons or verdict."""
COPY = re.compile(rf"(?i)\b(?:{words.COPIES})\b")
"""Words which say that a text follows, in a line that ends with a full stop."""
ITEM_OR_ROW = re.compile(rf"{LIST_MARK.pattern}|[^\n]*\|")
"""An item of a list, a heading or a row of a table."""
OPEN_ENDS = frozenset(reply_words.OPEN_ENDS.split())
"""Last words of a line, such as `the`, after which its sentence goes on in the next line."""
LAST_WORD = re.compile(r"(?P<word>\w+)[*_`\"”’) \t\r]*\Z")
"""The last word of a line, without a full stop after it."""
OWN_PARAGRAPH = re.compile(
    rf"(?i)\b(?:i|me|my|mine|myself)(?!\w)|\b(?:{words.RESPONSES_OF_JUDGE})\b"
    r"|(?-i:(?<![\w'’])[AB](?= \w|['’]s\b))"
)
"""Words with which the judge speaks of itself or of the responses: `I`, `both`, `B's`."""
BULLET = r"[-*•–—#%;]+[ \t]|[+>$|]|//|/\*"
NUMBER_OF_ITEM = r"[(\[]?\d{1,3}[.):\]]|\(?[a-z][.)](?=[ \t])|(?:line|step|l) ?\d+"
"""The number of an item, such as `2.`, `(3)`, `b)` or `line 4`."""
LIST_ITEM = re.compile(rf"[ \t]*(?:{BULLET}|{NUMBER_OF_ITEM})", re.IGNORECASE)
"""The beginning of an item of a list, a changed line, a comment or a command."""
NAME_OF_FOREIGN_TAG = r"(?!(?:think|thought|reason|response\b|reply\b))[a-z][\w-]*"
"""The name of a tag that podium's prompts do not use, such as `document`."""
FOREIGN_TAG = re.compile(
    rf"^[ \t]*<(?P<closing>/)?(?P<name>{NAME_OF_FOREIGN_TAG})(?:\s[^<>\n]*)?>", re.MULTILINE
)
"""A tag at the start of a line that is not markup of a verdict, such as `<details>`."""
COMMENT_LINE = re.compile(r"[ \t]*(?://|/\*|--(?=[ \t])|;;|\*(?=[ \t].*\*/))")
"""The beginning of a line that is a comment of a program: `//`, `/*`, `-- `."""
PROGRAM = re.compile(
    r"(?i)[ \t]*(?!(?:json\w*|jsonl|text|txt|plain\w*|markdown|md|yaml|yml|xml|html|latex|tex|csv"
    r"|output|answer|verdict|result|none)?[ \t]*\Z)\w"
)
"""The language of a code block that holds a program: `python`, and not `json`."""
PROMPT_LINE = re.compile(r"^[ \t]*(?:\$|>>>|In \[\d*\]:|PS>|C:\\)(?:[ \t]|$)", re.MULTILINE)
"""A line of a console session: `$ ls`, `>>> x`."""
OPENING_SIGNS = " \t*_`([{\"'“„«"
"""Blanks, emphasis and opening signs between a sentence and the verdict after it."""
SENTENCE_IN_LINE = re.compile(r"(?<=[.!?;。！？；])[*_\"”’)]*\s+")
"""The blanks between two sentences of a line."""
COMPLETE_END = re.compile(r"[.!?。！？][\"”’)]*\Z")
"""The end of a line that ends a sentence, such as `."`."""
# The lookbehinds leave out a single full stop, which ends a sentence.
OPEN_END = re.compile(r"(?:[^\W_]|[,;:—–…-]|\.\.)\.?\Z(?<![^.]\.)(?<!\w\.)")
"""The end of a line in the middle of a sentence: a word, a dash, a comma or three dots."""
DESCRIPTION = re.compile(
    r"[^:\n]{1,40}(?::[ \t]|[ \t]*(?:→|[=-]>))|.*[\[{][\[{\"]|.*\b[AB][*_]*[ \t]*[^\w\s,'’;—–]"
)
"""A line that gives a value, such as `Accuracy: good` or `[[A>B]]`."""
NAMED_RESPONSE = re.compile(
    r"(?i:response|answer|option)[ _](?P<name>[ABab])\b|(?<![\w'’])(?P<letter>[AB])(?!\w)"
)
"""The name of a response: `Response A`, `B`."""
ANY_WORD = re.compile(r"\w")
QUOTATION_SIGNS = f"{MASK} \t\r\"“”„«»‘’'"
"""Characters of a line that has only a part of a quotation."""
AFTER_VERDICT = sys.maxsize
"""End of a text that goes on after the verdict."""
DOCSTRING_MARKS = ('"""', "'''")
"""Marks around the docstrings of Python."""


_Form = Literal["any", "paragraphs", "marked", "told"]
"""Which text an introduction opens.

It is `any` text, `paragraphs` after a gap, a `marked` text (a list, a code block or a quotation),
or what a response has `told` the judge, up to the next line in the judge's own words.
"""


class _CodeBlock(NamedTuple):
    """A fenced code block.

    Attributes:
        span: start of the opening fence and end of the closing one.
        language: what follows the opening fence.
    """

    span: Span
    language: str


class _PlacedVerdict(NamedTuple):
    """A verdict in a reply.

    Attributes:
        text: the reply.
        view: the judge's own words (`own_words` of the text).
        place: position of the verdict.
        ends_of_blocks: end of each code block by its start.
    """

    text: str
    view: str
    place: int
    ends_of_blocks: Mapping[int, int]


def is_introduced(text: str, view: str, place: int) -> bool:
    """Return whether a verdict stands in a text of others.

    Such a text follows a line that introduces it, such as `Response A reads:`
    (`_form_of_introduced_text`), or it is a program, a comment or docstring of a program, a console
    session, or in tags that are not markup of a verdict.

    Args:
        text: the reply.
        view: the judge's own words (`own_words` of the text).
        place: position of the verdict.
    """
    blocks = list(_code_blocks(text)) if "```" in text or "~~~" in text else []
    for block in filter(_is_program, blocks):
        start, end = block.span
        if start < place < end:
            return True
    if _is_in_program(text, view, place) or _is_in_foreign_tag(view, place):
        return True
    if _follows_introduction_on_line(view, place):
        return True
    ends_of_blocks = dict(block.span for block in blocks)
    return _follows_introduction(_PlacedVerdict(text, view, place, ends_of_blocks))


def _code_blocks(text: str) -> Iterator[_CodeBlock]:
    """Yield the fenced code blocks after the judge's reasoning.

    A block that is never closed ends at the end of the text.
    """
    opening = None
    for line in CODE_FENCE.finditer(text, start_of_answer(text)):
        if opening is None:
            opening = line
        elif line["fence"][0] == opening["fence"][0] and not line["language"].strip():
            yield _CodeBlock((opening.start(), line.end()), opening["language"])
            opening = None
    if opening is not None:
        yield _CodeBlock((opening.start(), len(text)), opening["language"])


def _is_program(block: _CodeBlock) -> bool:
    """Return whether the language of a code block is that of a program."""
    return PROGRAM.match(block.language) is not None


def _is_in_program(text: str, view: str, place: int) -> bool:
    """Return whether a verdict stands in a comment, a docstring or a console session.

    A line with a prompt sign such as `$` begins a console session, which ends with its paragraph.
    `text` is the reply, and `view` has the judge's own words in it.
    """
    line_start = view.rfind("\n", 0, place) + 1
    if COMMENT_LINE.match(view, line_start, place):
        return True
    if view.rfind("/*", 0, place) > view.rfind("*/", 0, place):
        return True
    for mark in DOCSTRING_MARKS:
        marks_before = text.count(mark, 0, line_start)
        if marks_before % 2 == 1:
            return True  # the last docstring is still open
    paragraph_start = view.rfind("\n\n", max(0, place - SEARCHED_BEFORE), place) + 1
    return PROMPT_LINE.search(view, paragraph_start, place) is not None


def _is_in_foreign_tag(view: str, place: int) -> bool:
    """Return whether a tag that is not markup of a verdict is open at a place.

    The tag must begin a line in the 10,000 characters before the place.
    """
    for tag in FOREIGN_TAG.finditer(view, max(0, place - SEARCHED_BEFORE), place):
        is_closed = f"</{tag['name']}>" in view[tag.end() : place]
        if not tag["closing"] and not is_closed:
            return True
    return False


def _follows_introduction_on_line(view: str, place: int) -> bool:
    """Return whether a sentence on the line of a verdict says that it is a response's.

    Such a sentence is `Response B asks me: Which one is better?` The sentence before the verdict's
    own one is checked, and text before a colon if at most one sentence follows it. Only the 400
    characters before the verdict are read.
    """
    line_start = view.rfind("\n", 0, place) + 1
    lead = view[max(line_start, place - LONGEST_LEAD) : place].rstrip(OPENING_SIGNS)
    *previous, clause = SENTENCE_IN_LINE.split(lead)
    if not COMPLETE_END.search(lead) and is_introductory_clause(clause) and previous:
        *previous, clause = previous
    if introduces_text(clause) or plays_judge(clause):
        return True
    for part in (clause, *previous[-1:]):
        head, colon, rest = part.partition(":")
        if colon and (introduces_text(head) or (speaks(head) and not OWN_PARAGRAPH.search(rest))):
            return True
    return False


def _follows_introduction(verdict: _PlacedVerdict) -> bool:
    """Return whether a line before a verdict introduces a text that includes the verdict.

    The lines in the 10,000 characters before the verdict's own line are searched.
    """
    view = verdict.view
    line_start = view.rfind("\n", 0, verdict.place) + 1
    search_start = 0
    if line_start > SEARCHED_BEFORE:
        # The search begins with a whole line.
        search_start = view.find("\n", line_start - SEARCHED_BEFORE, line_start) + 1
    start = search_start
    end_of_text = 0
    for line in view[search_start:line_start].split("\n"):
        end = start + len(line)
        form = _form_of_introduced_text(line) if start >= end_of_text else None
        if form:
            end_of_text = _end_of_text(verdict, end, form)
            if end_of_text > verdict.place:
                return True
        start = end + 1
    return False


def _end_of_text(verdict: _PlacedVerdict, start: int, form: _Form) -> int:
    """Return the position at which a text ends that an introduction opens.

    A list, a run of code blocks or a quotation ends with its last line. Other text ends where the
    judge's own words begin. If the text goes on after the verdict, its end is not searched for, and
    the result is `AFTER_VERDICT`.

    Args:
        verdict: the verdict, where the search ends.
        start: end of the line that introduces the text.
        form: which text the line opens. If another text follows, the result is `start`.
    """
    next_line = verdict.view[start + 1 : verdict.view.find("\n", start + 1)]
    if form == "paragraphs" and next_line.strip():
        return start
    if form == "told":
        return _start_of_own_line(verdict, start + 1)
    # The functions that find the end go on where this loop stops.
    lines = _lines_between(verdict.view, start + 1, verdict.place)
    for line_start, line in lines:
        if line_start in verdict.ends_of_blocks:
            return _end_of_blocks(verdict, line_start)
        if not line.strip():
            continue
        if LIST_ITEM.match(line):
            return _end_of_list(verdict.text, lines)
        if MASK in line and not ANY_WORD.search(line):
            return _end_of_quotation(lines)
        return _start_of_own_paragraph(lines) if form != "marked" else start
    return AFTER_VERDICT if form != "marked" else start


def _end_of_blocks(verdict: _PlacedVerdict, start: int) -> int:
    """Return the end of the last of several code blocks that only blanks separate.

    Args:
        verdict: the verdict.
        start: start of the first code block.
    """
    end = verdict.ends_of_blocks[start]
    for next_start, next_end in verdict.ends_of_blocks.items():
        if next_start > end:
            if verdict.view[end:next_start].strip():
                return end
            end = next_end
    return end


def _lines_between(view: str, start: int, place: int) -> Iterator[tuple[int, str]]:
    """Yield the start and the text of each line from a position to the line of a place."""
    while start <= place:
        end = view.find("\n", start)
        end = len(view) if end < 0 else end
        yield start, view[start:end]
        start = end + 1


def _end_of_quotation(lines: Iterator[tuple[int, str]]) -> int:
    """Return the start of the first line after a masked quotation, `AFTER_VERDICT` if none is."""
    starts = (start for start, line in lines if line.strip(QUOTATION_SIGNS))
    return next(starts, AFTER_VERDICT)


def _end_of_list(text: str, lines: Iterator[tuple[int, str]]) -> int:
    """Return the start of the first line after a list, `AFTER_VERDICT` if there is none.

    A line that follows an item without a gap belongs to it, unless it is in the judge's own words.

    Args:
        text: the reply. In the view, the indentation of a line may be a masked sign.
        lines: start and text of each line of the view after the first item.
    """
    is_after_gap = False
    for start, line in lines:
        is_blank = not line.strip()
        goes_on = is_blank or _is_of_list(text, start)
        if not goes_on:
            is_own_paragraph = is_after_gap or OWN_PARAGRAPH.search(line) is not None
            if is_own_paragraph:
                return start
        is_after_gap = is_blank
    return AFTER_VERDICT


def _start_of_own_paragraph(lines: Iterator[tuple[int, str]]) -> int:
    """Return the start of the first line after a gap that is in the judge's own words.

    The result is `AFTER_VERDICT` if there is no such line.
    """
    is_after_gap = False
    for start, line in lines:
        if is_after_gap and OWN_PARAGRAPH.search(line):
            return start
        is_after_gap = not line.strip()
    return AFTER_VERDICT


def _start_of_own_line(verdict: _PlacedVerdict, start: int) -> int:
    """Return the start of the first line from a position on that is in the judge's own words.

    The line of the verdict does not count, nor do items of lists and rows of tables. The result is
    `AFTER_VERDICT` if there is no such line.
    """
    verdict_line = verdict.view.rfind("\n", 0, verdict.place)
    for line_start, line in _lines_between(verdict.view, start, verdict_line):
        if OWN_PARAGRAPH.search(line) and not LIST_ITEM.match(line):
            return line_start
    return AFTER_VERDICT


def _is_of_list(text: str, start: int) -> bool:
    """Return whether the line at a position belongs to a list: it is an item, or indented."""
    return text.startswith(("  ", "\t"), start) or LIST_ITEM.match(text, start) is not None


def _form_of_introduced_text(line: str) -> _Form | None:
    """Return which text a line introduces, such as `Response A by lines:`; None if it does not.

    The line names a source, and its last sentence is not about the judge's own decision. Only the
    last 400 characters are read. A heading that only names a response introduces nothing. The
    result is:

    - `any` if a sentence says that a text follows (`introduces_text`), or if the line ends with a
      colon or a word such as `the`.
    - `told` if a response plays the judge, or speaks to it (`plays_judge`).
    - `marked` if a complete sentence says that a text is copied, `any` if the sentence is open.
    - `paragraphs` if a line of prose breaks off.
    """
    bare = line[-LONGEST_LEAD:].rstrip("*_`~ \t\r")
    has_colon = bare.endswith((":", "："))
    clause = bare[start_of_last_sentence(bare) :]
    if NAMED_HEADING.fullmatch(clause):
        return None
    if plays_judge(clause):
        return "told"
    if OWN_DECISION.search(clause):
        return None
    if is_introduction(LIST_MARK.sub("", clause)):
        return None
    if introduces_text(clause):
        return "any"
    if not SOURCE.search(bare if has_colon else clause):
        return None
    last = LAST_WORD.search(bare)
    last_word = last["word"] if last else ""
    # A capital A is the letter of a response, and `a` is an article, which leaves a sentence open.
    is_open = last_word != "A" and last_word.lower() in OPEN_ENDS
    if has_colon or is_open:
        return "any"
    if COPY.search(clause):
        return "marked" if COMPLETE_END.search(bare) else "any"
    return "paragraphs" if _breaks_off(line, bare) else None


def _breaks_off(line: str, bare: str) -> bool:
    """Return whether a line of prose ends in the middle of a sentence.

    Items of lists, rows of tables and lines that give a value are no prose. A line that names both
    responses, or that has only introductory words, does not count.

    Args:
        line: the line.
        bare: the end of the line, without emphasis after it.
    """
    if not OPEN_END.search(bare) or ITEM_OR_ROW.match(line) or DESCRIPTION.match(line):
        return False
    names_of_responses = {
        (match["name"] or match["letter"]).upper() for match in NAMED_RESPONSE.finditer(bare)
    }
    line_words = (token["word"] for token in TOKEN.finditer(bare))
    states_value = all(word in LETTERS or is_introductory(word) for word in line_words)
    return len(names_of_responses) < 2 and not states_value
