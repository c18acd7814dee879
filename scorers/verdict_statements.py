"""Statements of a verdict in the judge's own words: where they stand, and what they say.

A statement, such as `My verdict: A`, begins a line or a clause. It consists of introductory words
(the lead), the value, and what ends the clause (the tail). Values are letters or levels.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from podium.scorers import reply_words as words
from podium.scorers.reply_structure import MASK, Span

VERDICT_NOUNS = frozenset(words.VERDICT_NOUNS.split())
"""Nouns that name a verdict, such as `verdict` and `winner`."""
RESPONSE_NOUNS = frozenset(words.RESPONSE_NOUNS.split())
"""Nouns that name a response, such as `answer`."""
VERDICT_WORDS = VERDICT_NOUNS | frozenset(words.DECIDING_VERBS.split())
"""Words that make the value after them a verdict, such as `verdict` and `choose`."""
RATING_WORDS = frozenset(words.RATING_WORDS.split())
"""Words for ratings, which do not make a letter after them a verdict."""
COMPARATIVES = frozenset(
    ("better", "stronger", "superior", "worse", "weaker", "equal", "equally", "tie", "tied")
)
"""Words with which a clause compares two responses."""
CONNECTIVES = frozenset(words.CONNECTIVES.split())
"""Words such as `therefore`, which lead from the reasons to the verdict."""
INTRODUCTORY_WORDS = (
    VERDICT_WORDS | CONNECTIVES | RESPONSE_NOUNS | frozenset(words.INTRODUCTORY.split())
)
"""All words that may stand between the start of a clause and its value."""
LETTERS = frozenset("ABC")
LETTER_WITHOUT_BLANK = re.compile(r"[ABC](?=[A-Z])")
"""A letter without a blank after it, such as the B of `BUT`."""
LINE = re.compile(r"[^\n]+")
STEP_WITH_VERDICT = (
    r"[*_]{0,2}(?i:step|schritt|étape|paso) \d{1,2}[ \t]*[.:)–—-]"
    r"(?=[ *_]*(?i:final |my |the ){0,2}(?i:verdict|decision|conclusion|winner)\b)"
)
"""The mark of a last step, such as `Step 5 - ` before `Final verdict`."""
LIST_MARK = re.compile(rf"[ \t]*+(?:[#*+•>–—=✅❌✔✗✘-]++|\d{{1,2}}[.)]|{STEP_WITH_VERDICT})[ \t]++")
"""The mark of a heading or of an item of a list.

It is `## `, `- `, `2. `, a sign such as a cross, or `Step 5 - ` before a word such as `verdict`.
"""
# The end of a sentence before the next one, or a comma before a word such as `therefore`. The
# pattern begins with a set of characters, which is searched faster than alternatives.
SENTENCE_START = re.compile(
    # A blank after `.`, but not after an abbreviation; no blank after `。`; a comma and a word.
    rf"(?i)[.!?;,。！？；](?:(?<=[.!?;])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bz\.B\.)[*_\"”’)\]]*[ \t]+"
    rf"|(?<=[。！？；])|(?<=,)[ \t]+(?=(?:{'|'.join(sorted(CONNECTIVES))})\b))"
)
# The beginning of a LaTeX command around a value, such as `\boxed{`, or an underscore.
LATEX = r"\\(?:boxed|text|textbf|mathbf|mathrm)\{|_"
INVISIBLE_CHARACTERS = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
)
"""Characters that a judge does not write; they may hide something."""
# `GAP` matches the signs between words. `GAP_BEFORE_BRACKETS` matches the same signs except `[`.
GAP_BEFORE_BRACKETS = rf"(?:{LATEX}|[^\w\n.!?;|。！？；{MASK}{INVISIBLE_CHARACTERS}\[]){{0,60}}+"
GAP = rf"(?:{LATEX}|[^\w\n.!?;|。！？；{MASK}{INVISIBLE_CHARACTERS}]){{0,60}}+"
"""Blanks, colons, dashes, brackets and emphasis between the words of a statement."""
ASIAN_CHARACTERS = r"\u3040-\u30ff\u4e00-\u9fff"
"""Characters of Chinese and Japanese."""
# The next word of a clause (group `word`), with the gap before it.
TOKEN = re.compile(
    rf"{GAP}(?:far (?=better))?"
    rf"(?P<word>[{ASIAN_CHARACTERS}]++|[^\W\d_{ASIAN_CHARACTERS}]++(?:['’][^\W\d_]++)*+|\d++)"
)
# Chinese has no blanks between words. `CHINESE_INTRODUCTION` matches a run of characters that
# consists of introductory words, and `CHINESE_NOUN` finds a word in it that names a verdict.
CHINESE_INTRODUCTION = re.compile(rf"(?:{words.CHINESE_INTRODUCTORY})+\Z")
CHINESE_NOUN = re.compile(
    r"给|结论|答案|评分|得分|分数|打分|评级|等级|总分|裁决|判决|结果|胜者"
    r"|更好|较好|最佳|选|评价|评估|答え|判定|点数|評価|評点|結論|スコア|勝者"
)
DOUBLE_BRACKET = re.compile(r"\[ ?\[")
"""The beginning of a value in double square brackets."""
# Words that make a value no verdict: `at best A`, `The best grade would be A`.
AT_BEST = re.compile(rf"\bat (?:best|least|most)\b|{words.HYPOTHETICAL}")
VALUE_SEPARATOR = re.compile(r"[:：=–—→-]|\\boxed")
"""A sign that separates the value from the words before it, as in `Verdict: A`."""
CLOSERS = r"[*_`>\])}\"'”“»’$】]*+"
"""Signs that close brackets, quotations and emphasis around the value."""
TAIL = re.compile(
    # The end of the line or of the sentence. After a sign such as `。`, no blank follows.
    rf"(?P<closers>{CLOSERS})(?:[ \t\r]*\Z|[.!…。！]+{CLOSERS}(?:(?=\s|\Z)|(?<=[。！]))"
    # `A > B`, `A over the other`.
    r"|[ \t]*(?:>+|over|rather than|instead of|than|beats|outperforms)[ \t]*"
    r"(?:the other\b|(?:response )?[AB]\b)"
    # `A, not B`.
    r"|,[ \t]*(?:and )?not (?:the other\b|(?:response )?[AB](?!\w))"
    # A comma, unless another letter follows, as in a list of letters.
    rf"|(?=[,;，；](?![ \t]*(?:and |or )?[ABC]\W*(?:\Z|[,;/]|or\b|and\b)))"
    # A bracket, a colon, or a blank before a sign such as a dash.
    rf"|(?=[（(]|[ \t]*[:：]\s)|[ \t]+(?=[^\w\s./|\[&])"
    # `A because ...`.
    rf"|[ \t]+(?=(?:because|since|as|weil|denn|car|parce|porque|так как)\b)"
    # A new sentence after a bold or bracketed value: `**A** It is shorter.`
    rf"|(?<=[*\])])[ \t]+(?=(?-i:[A-Z])\w)"
    # A new sentence after a value without a full stop: `A>B response A is shorter`.
    r"|(?<=[<=>][AB] response)[ \t]+(?=[AB] is\b)"
    r"|(?<=\]\]|[<=>][AB])[ \t]+"
    r"(?=(?:response [AB] is|they are|both are|somewhat|slightly|far|much)\b)"
    # `A by far.`
    rf"|[ \t]+(?:{words.SENTENCE_TAILS})\b\.?{CLOSERS}(?=[ \t\r]*\Z))",
    re.IGNORECASE,
)
"""What may follow the value of a statement.

In this order: the end of the line or sentence; a comparison (`> B`, `over the other`, `, not B`); a
comma or semicolon, unless another letter follows; a parenthesis or colon; a blank and a sign such
as a dash; `because`; a new sentence after bold or bracketed text; a phrase such as `by far` at the
end.
"""
NAME_AS_SUBJECT = re.compile(
    rf"(?i:response|option|candidate|model) [ABC](?= \w)(?!(?i: ties?\b| draw\b|{TAIL.pattern}))"
)
"""The name of a response as the subject of a clause, such as `Response A explains`.

Most lines of replies begin so, and state no verdict.
"""
BASIS = re.compile(
    r"(?i)[*_ ]*(?:judging|going|based|as far as|by|on|from|for|i give|i can)\b"
    r"(?!.*\b(?:says?|reads?|responses?|answers?|text (?:of|in)|words|lines?|quot\w+|ends?|only"
    r"|merely|los\w+|worse|worst|weak\w*|mistakes?|errors?|faults?|flaws?|problems?|[ab])\b.*[:：])"
    r"(?:[ ,]+[\w'’]+){1,10}[:：][*_ \t]*"
)
"""What a verdict rests on, before it: `On style and structure:`."""
LONGEST_HEADING = 40
"""Only lines with fewer characters can be headings of a verdict."""
WHICH_IS_BETTER = re.compile(r"(?i)\bwhich (?:response|answer|one) is better\?")
"""The question of the prompt, which a judge may repeat before its answer."""
LONGEST_UNSPLIT_LINE = 3
"""Lines with at most this number of characters are not split into sentences."""
MOST_LEAD_WORDS = 16
"""A value is searched only in the first 16 words of a clause."""
MOST_STATEMENTS = 50
"""Largest number of statements in a readable reply."""
LAST_LINES = 2
"""Number of lines at the end of a reply that are split into sentences.

A verdict may begin any sentence of these lines and of the first line. In other lines, it must begin
the line.
"""
SPLIT_CHARACTERS = 200
"""Number of characters at the end of such a line that are split into sentences."""
# Brackets, quotation marks and emphasis.
PAIRED_SIGN = re.compile(r"\*+|(?<![a-z])_+|_+(?![a-z])|`+|[\[\](){}\"]|(?<!\w)'|'(?!\w)")
OPENING_SIGN = {")": "(", "]": "[", "}": "{"}

Match = re.Match[str]
Pattern = re.Pattern[str]
Form = Literal["marked", "alone", "leading", "closing", "mention"]
"""How a statement gives its value (`Statement.form`)."""


class Statement(NamedTuple):
    """One statement of a value.

    Attributes:
        start: position of the start of its clause.
        end: position of the end of its clause.
        place: position of the value.
        value: the value as it is written.
        form: `marked` if the value is named as a verdict or has the form that was asked for;
            `alone` if nothing else stands on its line; `leading` if it begins its line; `closing`
            if it is a letter that is the last sentence of its line; `mention` if it is no verdict.
        has_noun: whether a noun such as `Response` stands before the value.
        is_sentence: whether a comparison such as `A is better` states the value
            (`comparisons.find_comparisons`).
    """

    start: int
    end: int
    place: int
    value: str
    form: Form
    has_noun: bool = False
    is_sentence: bool = False


def find_statements(
    view: str, lines: Sequence[Span], value: Pattern, signs: Pattern | None
) -> list[Statement]:
    """Return the statements at the starts of lines and sentences.

    In the first line and the last two lines, every sentence is searched; in other lines, only the
    start of the line.

    Args:
        view: the judge's own words.
        lines: spans of the lines.
        value: pattern of a value as it is written, with the gap before it. The last group that
            matches is the value alone.
        signs: pattern of a sign that a line with a level has, such as `[`. Lines without it are
            skipped. It is given only if a level in double square brackets was asked for. None says
            that a letter was asked for, and that all lines are searched.

    Returns:
        The statements in order. The search ends as soon as there are more than `MOST_STATEMENTS`.
    """
    statements = []
    for number, (line_start, line_end) in enumerate(lines):
        if signs and not signs.search(view, line_start, line_end):
            continue  # for speed: it cannot have a statement
        splits_sentences = number == 0 or number >= len(lines) - LAST_LINES
        starts = _clause_starts(view, (line_start, line_end), splits_sentences=splits_sentences)
        for start in starts:
            has_question = "?" in view[line_start:start]
            is_answer = has_question and WHICH_IS_BETTER.search(view, line_start, start)
            if signs is None and NAME_AS_SUBJECT.match(view, start, line_end):
                continue
            statement = _statement_of_clause(
                view,
                (start, line_end),
                value,
                is_line=start == starts[0] or bool(is_answer),
                bracketed=signs is not None,
            )
            if statement and statement.form in ("alone", "leading") and start == starts[0]:
                statement = _with_introduction(view, lines[:number], statement)
            if statement:
                statements.append(statement)
        if len(statements) > MOST_STATEMENTS:
            break
    return statements


def _with_introduction(view: str, lines: Sequence[Span], statement: Statement) -> Statement:
    """Return a statement that begins its line, as `marked` if a heading before it introduces it.

    Such a heading is `### Verdict`, with fewer than `LONGEST_HEADING` characters. Only the two
    lines before the statement are searched, and of these only the last one that has words.

    Args:
        view: the judge's own words.
        lines: the lines before the statement.
        statement: the statement.
    """
    for start, end in reversed(lines[-LAST_LINES:]):
        line = view[start : min(end, start + LONGEST_HEADING)]
        if not LIST_MARK.sub("", line).strip("*_#`:- \t\r"):
            continue
        is_heading = end - start < LONGEST_HEADING and is_introduction(LIST_MARK.sub("", line))
        return statement._replace(form="marked") if is_heading else statement
    return statement


def _clause_starts(view: str, line: Span, *, splits_sentences: bool) -> list[int]:
    """Return the start of a line after its list mark and, if wanted, the starts of its sentences.

    After these, the list has the places after a basis that begins one of them, such as `On style:`.

    Args:
        view: the judge's own words.
        line: span of the line.
        splits_sentences: whether the starts of sentences in the last 200 characters are returned.
    """
    start, end = line
    list_mark = LIST_MARK.match(view, start, end)
    first_start = list_mark.end() if list_mark else start
    starts = [first_start]
    if splits_sentences and end - start > LONGEST_UNSPLIT_LINE:
        marks = SENTENCE_START.finditer(view, max(first_start, end - SPLIT_CHARACTERS), end)
        starts += [mark.end() for mark in marks]
    for sentence_start in tuple(starts):
        basis = BASIS.match(view, sentence_start, end)
        if basis and basis.end() < end:
            starts.append(basis.end())
    return starts


class _Clause(NamedTuple):
    """The parts of a clause that may state a value.

    Attributes:
        span: start of the clause, and end of the line.
        lead: the introductory words before the value, in lower case except the letters A, B, C.
        value: match of the value, with the signs before it.
        tail: match of the end of the clause after the value; None if the clause goes on.
        is_line: whether the clause begins the line, or follows the repeated question of the prompt.
        bracketed: whether a level in double square brackets was asked for.
    """

    span: Span
    lead: list[str]
    value: Match
    tail: Match | None
    is_line: bool
    bracketed: bool


def _statement_of_clause(
    view: str, span: Span, value: Pattern, *, is_line: bool, bracketed: bool
) -> Statement | None:
    """Return the statement at the start of a clause; None if there is none.

    There is none if words before the value are not introductory, if the value comes after more
    than 16 words, or if the clause rates one response (`_is_about_response`).

    Args:
        view: the judge's own words.
        span: start of the clause, and end of its line.
        value: pattern of a value (`find_statements`).
        is_line: whether the clause begins the line.
        bracketed: whether a level in double square brackets was asked for.
    """
    place, end = span
    lead: list[str] = []
    for _ in range(MOST_LEAD_WORDS):
        value_match = value.match(view, place, end)
        if value_match:
            tail = TAIL.match(view, value_match.end(), end)
            is_letter = value_match[value_match.lastindex or 0] in LETTERS
            is_named_letter = is_letter and names_verdict(lead)
            if tail or is_named_letter or DOUBLE_BRACKET.search(value_match[0]):
                if _is_about_response(lead):
                    return None
                clause = _Clause(span, lead, value_match, tail, is_line, bracketed)
                return _statement_with_form(view, clause)
        token = TOKEN.match(view, place, end)
        if token is None:
            return None
        word = token["word"]
        # A level may follow a comparison: `Response A is better than B: [[A>B]]`.
        is_than = word == "than" and not LETTERS.isdisjoint(lead)
        is_comparison = bracketed and (word in LETTERS or is_than)
        if not is_comparison and not is_introductory(word):
            return None
        lead.append(word if word in LETTERS else word.lower())
        place = token.end()
    return None


def _is_about_response(lead: list[str]) -> bool:
    """Return whether the words before a value show that the value is no verdict of the pair.

    Such words name a response without comparing it, as in `Verdict of response A:`, or contain
    `at best`, `at least` or `at most`, or words for a possible value (`HYPOTHETICAL`).
    """
    names_response = not LETTERS.isdisjoint(lead)
    compares = not COMPARATIVES.isdisjoint(lead)
    if names_response and not compares:
        return True
    return AT_BEST.search(" ".join(lead)) is not None


def _statement_with_form(view: str, clause: _Clause) -> Statement | None:
    """Return the statement that a clause makes, with its form (see `Statement`).

    The statement has the value as it is written; whether it agrees with a verdict is not decided
    here. The form is `mention` if the clause goes on after the value, or if its brackets are not
    closed. Otherwise it is `marked` if a word names the value as a verdict, a connective stands
    before it, or it has the form that was asked for, and else that of `_form_of_unnamed`.

    Args:
        view: the judge's own words.
        clause: the parts of the clause, as `_statement_of_clause` found them.

    Returns:
        The statement. None if the value states no verdict and cannot contradict a verdict: it is
        the name of a response before a colon; it is a letter that no word names as a verdict, in a
        clause that goes on; or `_form_of_unnamed` is None.
    """
    (start, _), lead, value, tail, _, bracketed = clause
    group = value.lastindex or 0
    signs_before = view[value.start() : value.start(group)]
    is_separated = VALUE_SEPARATOR.search(signs_before)
    has_noun = bool(lead) and lead[-1] in RESPONSE_NOUNS and not is_separated
    # The words that may name the value as a verdict.
    naming_words = lead[:-1] if has_noun else lead
    if not bracketed:
        naming_words = [word for word in naming_words if word not in RATING_WORDS]
    ends_with_connective = bool(naming_words) and naming_words[-1] in CONNECTIVES
    # The asked form is brackets, or more than a single letter, which may be an article.
    has_asked_form = len(value[group]) > 1
    if bracketed:
        has_asked_form = DOUBLE_BRACKET.search(value[0]) is not None
    clause_end = tail.end() if tail else value.end()
    if has_noun and ":" in view[value.end() : clause_end + 2]:
        return None
    form: Form | None
    if tail is None or not _is_closed(view, clause):
        is_named_verdict = False
        if names_verdict(naming_words):
            is_named_verdict = bool(is_separated) or naming_words[-1] in VERDICT_NOUNS
        if not has_asked_form and not is_named_verdict:
            return None
        form = "mention"
    elif has_asked_form or names_verdict(naming_words) or ends_with_connective:
        form = "marked"
    else:
        form = _form_of_unnamed(view, clause, clause_end)
    if form is None:
        return None
    return Statement(
        start=start,
        end=clause_end,
        place=value.start(group),
        value=value[group],
        form=form,
        has_noun=has_noun,
    )


def _form_of_unnamed(view: str, clause: _Clause, clause_end: int) -> Form | None:
    """Return the form of a value that no word names as a verdict; None if it states no verdict.

    The form is `alone` or `leading` at the start of a line, if at most a noun such as `Response`
    stands before the value, and `closing` for a bare letter that is the last sentence of its line.

    Args:
        view: the judge's own words.
        clause: the clause of the value.
        clause_end: end of the clause.
    """
    start, line_end = clause.span
    if clause.is_line and not set(clause.lead) - RESPONSE_NOUNS:
        return "leading" if view[clause_end:line_end].strip() else "alone"
    is_bare_letter = not (clause.is_line or clause.lead or clause.bracketed)
    closes_line = is_bare_letter and _closes_line(view, (start, clause_end, line_end))
    return "closing" if closes_line else None


def _closes_line(view: str, places: tuple[int, int, int]) -> bool:
    """Return whether a clause is the last one of its line, and no answer to a question.

    Args:
        view: the judge's own words.
        places: start and end of the clause, and end of its line.
    """
    start, clause_end, line_end = places
    before = view[max(0, start - SPLIT_CHARACTERS) : start].rstrip('*_"”’)] \t')
    return not before.endswith(("?", "？")) and not view[clause_end:line_end].strip()


def _is_closed(view: str, clause: _Clause) -> bool:
    """Return whether brackets and emphasis are closed around the value, or in its whole line.

    Of the line, only the first 200 characters from the start of the clause are checked.
    """
    start, end = clause.span
    value = clause.value
    group = value.lastindex or 0
    closers_end = clause.tail.end("closers") if clause.tail else value.end()
    around = (view[start : value.start(group)] + view[value.end(group) : closers_end]).strip()
    if DOUBLE_BRACKET.match(around) and around.endswith("]") and not around.endswith("]]"):
        around += "]"  # the last bracket of the reply may be missing
    if "(" not in around:
        around = around.removesuffix(")")  # `A)`
    return is_balanced(around) or is_balanced(view[start : min(end, start + SPLIT_CHARACTERS)])


@lru_cache(maxsize=4096)
def is_introductory(word: str) -> bool:
    """Return whether a word may stand between the start of a clause and its value.

    Numbers may, words of `INTRODUCTORY_WORDS` in any case, and Chinese characters that consist of
    introductory words. The letters A, B and C may not.
    """
    if word in LETTERS:
        return False
    if word.isdecimal() or word.lower().replace("’", "'") in INTRODUCTORY_WORDS:
        return True
    return CHINESE_INTRODUCTION.match(word) is not None


def names_verdict(lead: list[str]) -> bool:
    """Return whether one of the words before a value makes the value a verdict (`VERDICT_WORDS`).

    `lead` has the words in lower case, except the letters A, B and C.
    """
    for word in lead:
        if word.replace("’", "'") in VERDICT_WORDS:
            return True
        if not word.isascii() and CHINESE_NOUN.search(word):
            return True
    return False


def states_other_letter(line: str, letter: str) -> bool:
    """Return whether a line states a letter other than the given one, and nothing else.

    All of its words must be letters of responses or introductory words, and at least one letter
    must be another. A letter may lack the blank after it, as in `BUT` (`LETTER_WITHOUT_BLANK`).
    """
    line_words = [token["word"] for token in TOKEN.finditer(line)]
    letters = {word for word in line_words if word in LETTERS or LETTER_WITHOUT_BLANK.match(word)}
    if not letters - {letter}:
        return False
    return all(word in letters or is_introductory(word) for word in line_words)


def is_introduction(clause: str) -> bool:
    """Return whether a clause introduces the judge's own verdict.

    Such a clause has 1 to 16 words, which are all introductory. It names a verdict, or ends with a
    word such as `therefore`.
    """
    lead = [token["word"] for token in TOKEN.finditer(clause)]
    if not 0 < len(lead) <= MOST_LEAD_WORDS or not all(map(is_introductory, lead)):
        return False
    lowered = [word.lower() for word in lead]
    return names_verdict(lowered) or lowered[-1] in CONNECTIVES


def names_basis(clause: str) -> bool:
    """Return whether a clause before a verdict only says what it rests on: `On the rest:`."""
    return BASIS.fullmatch(clause) is not None


def is_introductory_clause(clause: str) -> bool:
    """Return whether all words of a clause may stand before a value (`is_introductory`).

    The result is True for a clause without words.
    """
    return all(is_introductory(token["word"]) for token in TOKEN.finditer(clause))


def start_of_last_sentence(text: str) -> int:
    """Return the start of the last sentence of a text. Commas do not separate sentences here."""
    start = 0
    for mark in SENTENCE_START.finditer(text.rstrip(".!?。！？ ")):
        if not mark[0].startswith(","):
            start = mark.end()
    return start


def is_balanced(line: str) -> bool:
    """Return whether every bracket, quotation mark and emphasis in a line is closed.

    They must be closed in the opposite order in which they were opened. Apostrophes within words
    are not quotation marks.
    """
    opened: list[str] = []
    for sign in PAIRED_SIGN.findall(line):
        # Quotation marks and emphasis close what the same sign opened.
        counterpart = OPENING_SIGN.get(sign, sign)
        is_opening_bracket = sign in "([{"
        if opened and not is_opening_bracket and opened[-1] == counterpart:
            opened.pop()
        else:
            opened.append(sign)
    return not opened
