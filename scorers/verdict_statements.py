"""Statements of a verdict in the judge's own words: where they stand, what they say and in which
form."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from podium.scorers import reply_words as words
from podium.scorers.reply_structure import MASK, Span

NOUNS = frozenset(words.VERDICT_NOUNS.split())
RESPONSES = frozenset(words.RESPONSE_NOUNS.split())
JUDGING = NOUNS | frozenset(words.DECIDING_VERBS.split())
RATINGS = frozenset(words.RATING_WORDS.split())
COMPARATIVES = frozenset(
    ("better", "stronger", "superior", "worse", "weaker", "equal", "equally", "tie", "tied")
)
CONNECTIVES = frozenset(words.CONNECTIVES.split())
INTRODUCTORY = JUDGING | CONNECTIVES | RESPONSES | frozenset(words.INTRODUCTORY.split())
LETTERS = frozenset("ABC")
GLUED = re.compile(r"[ABC](?=[A-Z])")
LINE = re.compile(r"[^\n]+")
LIST_MARK = re.compile(r"[ \t]*+(?:[#*+•>–—-]++|\d{1,2}[.)])[ \t]++")
# Begins with a set of characters, which is searched faster than alternatives.
SENTENCE_START = re.compile(
    rf"(?i)[.!?;,。！？；](?:(?<=[.!?;])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bz\.B\.)[*_\"”’)\]]*[ \t]+|(?<=[。！？；])"
    rf"|(?<=,)[ \t]+(?=(?:{'|'.join(sorted(CONNECTIVES))})\b))"
)
LATEX = r"\\(?:boxed|text|textbf|mathbf|mathrm)\{|_"
INVISIBLE = r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
"""Characters that a judge does not write; they may hide something."""
GAP_BEFORE_BRACKETS = rf"(?:{LATEX}|[^\w\n.!?;|。！？；{MASK}{INVISIBLE}\[]){{0,60}}+"
GAP = rf"(?:{LATEX}|[^\w\n.!?;|。！？；{MASK}{INVISIBLE}]){{0,60}}+"
"""Blanks, colons, dashes, brackets and emphasis between the words of a statement."""
TOKEN = re.compile(
    rf"{GAP}(?:far (?=better))?(?P<word>[\u4e00-\u9fff]++|[^\W\d_\u4e00-\u9fff]++(?:['’][^\W\d_]++)*+|\d++)"
)
CHINESE = re.compile(rf"(?:{words.CHINESE_INTRODUCTORY})+\Z")
CHINESE_NOUN = re.compile(
    r"给|结论|答案|评分|得分|分数|打分|评级|等级|总分|裁决|判决|结果|胜者|更好|较好|最佳|选|评价|评估"
)
AT_BEST = re.compile(r"\bat (?:best|least|most)\b")
SEPARATED = re.compile(r"[:：=–—→-]|\\boxed")
CLOSERS = r"[*_`>\])}\"'”“»’$】]*+"
TAIL = re.compile(
    rf"(?P<closers>{CLOSERS})(?:[ \t\r]*\Z|[.!…。！]+{CLOSERS}(?:(?=\s|\Z)|(?<=[。！]))"
    rf"|[ \t]*(?:>+|over|rather than|instead of|than|beats|outperforms)[ \t]*(?:the other\b|(?:response )?[AB]\b)"
    rf"|(?=[,;，；](?![ \t]*(?:and |or )?[ABC]\W*(?:\Z|[,;/]|or\b|and\b)))"
    rf"|(?=[（(]|[ \t]*[:：]\s)|[ \t]+(?=[^\w\s./|\[&])"
    rf"|[ \t]+(?=(?:because|since|as|weil|denn|car|parce|porque|так как)\b)"
    rf"|(?<=[*\])])[ \t]+(?=(?-i:[A-Z])\w)"
    rf"|[ \t]+(?:{words.SENTENCE_TAILS})\b\.?{CLOSERS}(?=[ \t\r]*\Z))",
    re.IGNORECASE,
)
"""What may follow the value: the end of the line or sentence, a comma, a dash, a parenthesis."""
NAME_AS_SUBJECT = re.compile(
    rf"(?i:response|option|candidate|model) [ABC](?= \w)(?!(?i: ties?\b| draw\b|{TAIL.pattern}))"
)
"""The name of a response with more of the clause after it. Most lines of replies begin so, and
state no verdict."""
MOST_WORDS = 16
MOST_STATEMENTS = 50
"""Largest number of statements in a readable reply."""
LAST_SENTENCES, LAST_LINES = 200, 2
"""Characters at the end of a line, and lines at the end, in which sentences, not only the line, may
state a verdict."""
PAIRED = re.compile(r"\*+|(?<![a-z])_+|_+(?![a-z])|`+|[\[\](){}\"]|(?<!\w)'|'(?!\w)")
CLOSES = {")": "(", "]": "[", "}": "{"}

Match = re.Match[str]
Pattern = re.Pattern[str]
Form = Literal["marked", "alone", "leading", "mention"]


class Statement(NamedTuple):
    """One statement, from the start of its clause to its end; `place` is that of the value; `form`
    is `marked` (named as verdict or in the form asked for), `alone` on its line, `leading` it, or a
    `mention` of a value."""

    start: int
    end: int
    place: int
    value: str
    form: Form
    named: bool = False


def find_statements(
    view: str, lines: Sequence[Span], value: Pattern, signs: Pattern | None
) -> list[Statement]:
    """Return the statements at the starts of lines and sentences; `value` matches a value (one
    group is not None); `signs`, given for levels in brackets, matches a sign that each line with a
    level has."""
    statements = []
    for number, (begin, end) in enumerate(lines):
        if signs and not signs.search(view, begin, end):
            continue
        listed = LIST_MARK.match(view, begin, end)
        starts = [listed.end() if listed else begin]
        if end - begin > 3 and (number == 0 or number >= len(lines) - LAST_LINES):
            marks = SENTENCE_START.finditer(view, max(starts[0], end - LAST_SENTENCES), end)
            starts += [mark.end() for mark in marks]
        for start in starts:
            if signs or not NAME_AS_SUBJECT.match(view, start, end):
                is_line = start == starts[0]
                statement = _statement(
                    view, start, end, value, is_line=is_line, bracketed=signs is not None
                )
                statements += [statement] if statement else []
        if len(statements) > MOST_STATEMENTS:
            break
    return statements


def _statement(
    view: str, start: int, end: int, value: Pattern, *, is_line: bool, bracketed: bool
) -> Statement | None:
    """Return the statement that begins at a place: introductory words, then a value, then the end
    of the clause."""
    place = start
    lead: list[str] = []
    for _ in range(MOST_WORDS):
        if value_match := value.match(view, place, end):
            tail = TAIL.match(view, value_match.end(), end)
            is_letter = value_match[value_match.lastindex or 0] in LETTERS
            if not (tail or "[[" in value_match[0] or (is_letter and names_verdict(lead))):
                value_match = None
        if value_match:
            # As in `Verdict of response A:`.
            has_letter = not LETTERS.isdisjoint(lead)
            is_of_response = has_letter and COMPARATIVES.isdisjoint(lead)
            if is_of_response or AT_BEST.search(" ".join(lead)):
                return None
            return _with_form(
                view, (start, end), value_match, tail, lead, is_line=is_line, bracketed=bracketed
            )
        token = TOKEN.match(view, place, end)
        word = token["word"] if token else ""
        # A level may follow a comparison: `Response A is better than B: [[A>B]]`.
        compares = bracketed and (
            word in LETTERS or (word == "than" and not LETTERS.isdisjoint(lead))
        )
        if token is None or not (compares or is_introductory(word)):
            return None
        lead.append(word if word in LETTERS else word.lower())
        place = token.end()
    return None


def _with_form(
    view: str,
    span: Span,
    value_match: Match,
    tail: Match | None,
    lead: list[str],
    *,
    is_line: bool,
    bracketed: bool,
) -> Statement | None:
    """Return a statement with its form; None for a letter that names a response and states
    nothing."""
    start, end = span
    group = value_match.lastindex or 0
    gap = view[value_match.start() : value_match.start(group)]
    named = bool(lead) and lead[-1] in RESPONSES and not SEPARATED.search(gap)
    judging = lead[:-1] if named else lead
    if not bracketed:
        judging = [word for word in judging if word not in RATINGS]
    is_asked = "[[" in value_match[0] if bracketed else len(value_match[group]) > 1
    is_marked = is_asked or names_verdict(judging) or bool(judging and judging[-1] in CONNECTIVES)
    close = tail.end() if tail else value_match.end()
    ending = tail.end("closers") if tail else value_match.end()
    around = (
        view[start : value_match.start(group)] + view[value_match.end(group) : ending]
    ).strip()
    if "(" not in around:
        around = around.removesuffix(")")  # `A)`
    if named and ":" in view[value_match.end() : close + 2]:
        return None
    if tail is None or not (
        is_balanced(around) or is_balanced(view[start : min(end, start + LAST_SENTENCES)])
    ):
        if not is_asked and not (
            names_verdict(judging) and (judging[-1] in NOUNS or SEPARATED.search(gap))
        ):
            return None
        form: Form = "mention"
    elif is_marked:
        form = "marked"
    elif not is_line or (set(lead) - RESPONSES):
        return None
    else:
        form = "leading" if view[close:end].strip() else "alone"
    return Statement(start, close, value_match.start(group), value_match[group], form, named)


@lru_cache(4096)
def is_introductory(word: str) -> bool:
    """Return whether a word may stand between the start of a clause and its value."""
    return word not in LETTERS and (
        word.lower().replace("’", "'") in INTRODUCTORY
        or word.isdecimal()
        or bool(CHINESE.match(word))
    )


def names_verdict(lead: list[str]) -> bool:
    """Return whether one of the words before a value names a verdict or gives one."""
    return any(
        word.replace("’", "'") in JUDGING or (not word.isascii() and CHINESE_NOUN.search(word))
        for word in lead
    )


def states_other_letter(line: str, letter: str) -> bool:
    """Return whether a line says nothing but letters, glued to another word or not, and one is not
    the given one."""
    spoken = [token["word"] for token in TOKEN.finditer(line)]
    letters = {word for word in spoken if word in LETTERS or GLUED.match(word)}
    return bool(letters - {letter}) and all(
        word in letters or is_introductory(word) for word in spoken
    )


def is_introduction(clause: str) -> bool:
    """Return whether a clause introduces the judge's own verdict: it names one and says nothing
    else."""
    lead = [token["word"] for token in TOKEN.finditer(clause)]
    low = [word.lower() for word in lead]
    return (
        0 < len(lead) <= MOST_WORDS
        and all(map(is_introductory, lead))
        and (names_verdict(low) or low[-1] in CONNECTIVES)
    )


def is_balanced(line: str) -> bool:
    """Return whether every bracket, quotation mark and emphasis in a line is closed; apostrophes
    are none."""
    opened: list[str] = []
    for sign in PAIRED.findall(line):
        if opened and sign not in "([{" and opened[-1] == CLOSES.get(sign, sign):
            opened.pop()
        else:
            opened.append(sign)
    return not opened
