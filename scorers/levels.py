"""labels, likert, numeric: the judge writes a level in double square brackets, such as `[[A>B]]`.

A level is one of the labels, grades or numbers of a scale.

Source: JuStRank, section 4.2.2 and appendix G.

A judge with other levels is one line: `points("points-7", 7)`, `grades("marks", ("failed",
"passed"))`, or `labels("labels-7", {"A>>>B": "response A is far better", ...})`. It is registered
as a scorer, like `LIKERT`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from string import ascii_uppercase
from typing import Literal

from podium.scorers.echoed_legends import without_level_legend, without_scale
from podium.scorers.prompt import Settings, Template, packaged_template
from podium.scorers.realization import Preference, Realization
from podium.scorers.reasoning import strip_reasoning
from podium.scorers.reply import Rating, Reply, Verdict, reverse_label, verdict_of_margin
from podium.scorers.reply_reader import read_statement
from podium.scorers.reply_words import BLAME, PRAISE
from podium.scorers.schemas import ReplyForm, choice_form
from podium.scorers.verdict_statements import GAP_BEFORE_BRACKETS, Pattern, Statement
from podium.wording import number_word

Kind = Literal["pairwise", "pointwise"]
Levels = Mapping[str, tuple[str, float]]
"""The level as it is offered, and its margin or score, by the plain spelling of the level.

`_plain_level` makes the plain spelling: lower case, without blanks and decoration.
"""
__all__ = ["grades", "labels", "points"]
"""Names that plug-ins may import from this module; other names may change."""

GRADE_SENTENCE = re.compile(
    r"(?i)\s*(?:overall,? )?(?:(?:the|this) (?:response|answer)|it)"
    r" (?:is|was|deserves|gets) (?:rated |graded |an? )?[*_`\"“]*(?P<grade>\w+(?: \w+)?)"
    r"[*_`\"”]*[.!]?\s*"
)
"""A reply that is one sentence with a grade, such as `The response is good.`"""
WHOLE_SENTENCE = re.compile(
    r"(?i)\b(?:the|this) (?:response|answer) (?:is|was|deserves|gets) (?:simply |just |an? )?"
    r"(?P<grade>\w+(?: \w+)??)(?= in every\b| on every\b| in all\b| throughout\b| overall\b"
    r"|[*_`\"”]*(?:[.!]|\s*\Z))"
)
"""A sentence that grades a response as a whole: `This response is poor in every respect.`"""
SCORE_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
"""A decimal number that is read as a score, such as `72.5`."""
DECIMAL_COMMA = re.compile(r"\d{1,2},\d")
"""A number with a comma for the decimal point, such as `72,5`. `70,80` may be two numbers."""
# Range of the scores of `numeric`.
LOWEST_SCORE = 0
HIGHEST_SCORE = 100
BRACKETED_LEVEL = (
    r"\[(?: (?=\[[^\[\]\n]{1,40}\] ?\]))?\[[ \t]*([^\[\]\n]{1,40}?)[ \t]*\](?: ?\]|(?=\s*\Z))"
)
"""A level in double square brackets; group 1 is the level without the brackets.

At the end of the reply, one closing bracket may be missing. A blank may stand between the brackets
if none is missing.
"""
# A number with or without brackets, with its scale: `[[85]]`, `85/100`, `85 points out of 100`.
WRITTEN_SCORE = re.compile(
    rf"{GAP_BEFORE_BRACKETS}(?:{BRACKETED_LEVEL}|\[?(-?\d++(?:\.\d++)*+)\]?)"
    r"(?:[*_]*[ \t]*(?:%|分|(?:points?|pts)?[ \t]*(?:/|out of|of|von|sur|de|из)[ \t]*"
    rf"{HIGHEST_SCORE}\b))?"
)
# A sign that each line with a number or a bracketed level has.
DIGIT_OR_BRACKET = re.compile(r"[\[\d]")
RANGE_BEFORE = r"(?:\d|points?|punkten?)[ \t]*(?:/|[-–—]|to|or|of|out of|von|sur|de|из)[ \t]*"
"""The beginning of a range or of a fraction before a number, such as `1-` or `3 out of `."""
MINUS_BEFORE = r"(?<![\w\]])[-−]"
"""A minus before a number."""
BOUND_BEFORE = r"(?<![\w=|\"–—-])[<>≤≥~≈±][ \t]*"
"""A sign that makes a number a bound, such as `< `; not in `=>`."""
SLASH_BEFORE = r"(?<!\])/[ \t]*"
"""A slash before a number, as in `8/10`; not directly after a closing bracket."""
NOT_A_SCORE = re.compile(rf"(?:{RANGE_BEFORE}|{MINUS_BEFORE}|{BOUND_BEFORE}|{SLASH_BEFORE})\Z")
"""Text before a number that makes it no score.

The number is then the end of a range (`80-`), negative, a bound (`> `) or another scale (`8/`).
"""
SPELLINGS_OF_SIGNS = {
    ">>": r" ?(?:>>|≫|\\gg) ?",
    "<<": r" ?(?:<<|≪|\\ll) ?",
    ">": " ?> ?",
    "<": " ?< ?",
    "=": " ?= ?",
}
"""Patterns of the ways in which judges write each sign of a label."""
SPELLINGS_OF_DOUBLE_SIGNS = (
    ("≫", ">>"),
    ("\\gg", ">>"),
    ("»", ">>"),
    ("≪", "<<"),
    ("\\ll", "<<"),
    ("«", "<<"),
)
"""Other spellings of the double signs of a label, with the plain ones."""
DECORATION = re.compile(
    rf"(?i)\A(?:score|rating|grade|level|label|verdict)\W+|\\\w+\{{|[}}\"'*`]|\.\Z"
    rf"|[ \t]*(?:%|points?|(?:/|out of)[ \t]*{HIGHEST_SCORE})\Z"
)
"""What may stand around a level inside its brackets: `Score: 85`, `85%`, `85 / 100`, `**A>B`."""
PRAISE_WORDS = PRAISE.split("|")
"""Words that fit only a high score, in lower case."""
BLAME_WORDS = BLAME.split("|")
"""Words that fit only a low score, in lower case."""
HIGH_DEGREE = 0.6
LOW_DEGREE = 0.4
"""Limits on a score's place on its scale, from 0 (lowest) to 1 (highest).

A score at `HIGH_DEGREE` or above is contradicted by a word of `BLAME_WORDS` in the reply, and a
score at `LOW_DEGREE` or below by a word of `PRAISE_WORDS`. The rating is then unparsed.
"""
SEARCHED_AT_ENDS = 400
"""Number of characters at each end of a reply that are searched for praise and blame."""
SEARCHED_BEFORE = 20
"""Number of characters before a number that are searched for `NOT_A_SCORE`."""


def labels(name: str, meanings: Mapping[str, str]) -> Realization:
    """Build the realization of a pairwise judge that chooses a label.

    The margin of a label is its distance from the middle of the scale, in labels, above 0 if it
    prefers the first response. The credit is 1, 0.5 or 0 by the sign of the margin. With more than
    26 labels, replies cannot be asked for as JSON.

    Args:
        name: name of the realization.
        meanings: what each label means. The labels are ordered from the one that most prefers the
            first response to the one that most prefers the second. The scale must be symmetric.
    """
    middle = (len(meanings) - 1) / 2
    margins = {label: middle - place for place, label in enumerate(meanings)}
    width = max(map(len, meanings)) + 2
    lines = "\n".join(f"{label:<{width}}{meaning}" for label, meaning in meanings.items())
    # In JSON replies, each label has a letter. A letter is a single token, whose alternatives a
    # provider can report.
    label_of_letter = dict(zip(ascii_uppercase, meanings, strict=False))
    verdicts = {
        letter: verdict_of_margin(margins[label], label=label)
        for letter, label in label_of_letter.items()
    }
    form = None
    if len(label_of_letter) == len(meanings):
        letter_meanings = [
            f"{letter}: {meanings[label]}" for letter, label in label_of_letter.items()
        ]
        form = choice_form("verdict", lambda _: verdicts, meaning="\n".join(letter_meanings))
    template = partial(packaged_template, "labels", labels=lines)
    return _level_realization(name, "pairwise", margins, template, form, meanings)


def grades(name: str, words: Sequence[str]) -> Realization:
    """Build the realization of a pointwise judge that chooses one of some words.

    Args:
        name: name of the realization.
        words: the grades, worst first; their scores are 1, 2, ...
    """
    scores = {word: float(place) for place, word in enumerate(words, start=1)}
    count = number_word(len(words))
    template = partial(packaged_template, "likert", count=count, words=", ".join(words))
    return _level_realization(
        name, kind="pointwise", values=scores, template=template, form=_grade_form(scores)
    )


def points(name: str, count: int) -> Realization:
    """Build the realization of a pointwise judge that gives a whole number from 1 to `count`.

    The number is the score. `name` is the name of the realization.
    """
    scale = (
        f"a whole number from 1 (worthless) to {count} (could not be better). Use the whole range."
    )
    scores = {str(point): float(point) for point in range(1, count + 1)}
    template = partial(packaged_template, "numeric", scale=scale)
    return _level_realization(
        name, kind="pointwise", values=scores, template=template, form=_grade_form(scores)
    )


def _grade_form(scores: Mapping[str, float]) -> ReplyForm:
    """Return the JSON form of a reply that chooses one of the grades; `scores` are by grade."""
    ratings = {grade: Rating(score=score, label=grade) for grade, score in scores.items()}
    return choice_form("grade", lambda _: ratings)


def _level_realization(
    name: str,
    kind: Kind,
    values: Mapping[str, float],
    template: partial[Template],
    form: ReplyForm | None,
    meanings: Mapping[str, str] | None = None,
) -> Realization:
    """Build the realization of a judge that chooses one of some labels or grades.

    Args:
        name: name of the realization.
        kind: `pairwise` or `pointwise`.
        values: the margin of each label (pairwise), or the score of each grade (pointwise).
        template: function that returns the packaged template.
        form: the JSON form of the replies; None if they are never asked for as JSON.
        meanings: what each label means; None for grades. A meaning in double square brackets says
            the same as its label.
    """
    # `B<A` says the same as `A>B`.
    word_of_spelling = {word: word for word in values}
    word_of_spelling |= {reverse_label(word): word for word in values}
    are_labels = all(set("<>=") & set(word) for word in values)
    # A sign that each line with a level has: a comparison sign, or any letter of a grade.
    sign = r"[\[<>=≪≫\\]" if are_labels else r"[\[\w]"
    levels = {
        _plain_level(spelling): (word, values[word]) for spelling, word in word_of_spelling.items()
    }
    for word, meaning in (meanings or {}).items():
        levels.setdefault(_plain_level(meaning), (word, values[word]))
    worst_first = sorted(values, key=values.__getitem__)
    return Realization(
        name=name,
        kind=kind,
        template=template,
        read_reply=partial(
            _read_level, _level_pattern(word_of_spelling), re.compile(sign), levels, kind
        ),
        write_reply=partial(_write_level, worst_first, kind),
        form=form,
        tokens=1024 if kind == "pairwise" else 256,
        schema_first=(kind == "pointwise"),
    )


def _level_pattern(spellings: Iterable[str]) -> Pattern:
    """Return the pattern of a level.

    It matches any text of up to 40 characters in double square brackets, and these spellings
    without brackets, in any case and with the signs of `SPELLINGS_OF_SIGNS`.
    """
    alternatives = []
    for spelling in sorted(spellings, key=len, reverse=True):
        escaped = re.escape(spelling).replace(r"\ ", "[ _-]")
        alternatives.append(
            re.sub(r">>|<<|[=<>]", lambda sign: SPELLINGS_OF_SIGNS[sign[0]], escaped)
        )
    bare = rf"\[?((?i:{'|'.join(alternatives)}))(?![\w<>=])\]?(?: (?:response|answer)\b)?"
    return re.compile(rf"{GAP_BEFORE_BRACKETS}(?:{BRACKETED_LEVEL}|{bare})")


def _plain_level(word: str) -> str:
    """Return a level in the spelling by which it is looked up.

    That is: lower case, comparison signs as `<` and `>`, no decoration (`DECORATION`), and without
    the word `response`, blanks, hyphens, underscores and backslashes.
    """
    bare = DECORATION.sub("", word.lower())
    for spelling, signs in SPELLINGS_OF_DOUBLE_SIGNS:
        bare = bare.replace(spelling, signs)
    return re.sub(r"response|[\s_\\-]+", "", bare)


def _read_level(
    value: Pattern, signs: Pattern, levels: Levels, kind: Kind, reply: Reply, _: Settings
) -> Verdict | Rating:
    """Read the level in double square brackets, or one that is called the verdict.

    A label may also stand at the beginning of the last line (`_is_last_level`), and a grade at the
    beginning of the first line or alone on the first or last one (`_is_only_level`). A reply that
    is one sentence such as `The response is good.` gives its grade, too. A grade is unparsed if its
    line lists several grades, or if words of the reply contradict it
    (`_rating_without_contradiction`).

    Args:
        value: pattern of a level as it is written.
        signs: pattern of a sign that each line with a level has.
        levels: level and margin or score by plain spelling.
        kind: `pairwise` (the result is a `Verdict`) or `pointwise` (the result is a `Rating`).
        reply: the reply.
    """

    def parse(text: str) -> str | None:
        """Return the level, as it is offered, that a text spells; None if it spells no level."""
        level = levels.get(_plain_level(text))
        return level[0] if level else None

    reply = replace(reply, text=without_level_legend(reply.text, parse))
    if kind == "pairwise":
        stated = read_statement(reply, value, parse, _is_last_level, level_signs=signs)
        if isinstance(stated, str):
            return Verdict(credit=None, reason=stated)
        label, margin = levels[_plain_level(stated.value)]
        return verdict_of_margin(margin, label=label)
    if not reply.reason_of_silence:
        sentence = GRADE_SENTENCE.fullmatch(reply.text)
        if sentence and parse(sentence["grade"]):
            label, score = levels[_plain_level(sentence["grade"])]
            return Rating(score=score, label=label)
    stated = read_statement(
        reply, value, parse, _is_only_level, level_signs=signs, is_pairwise=False
    )
    if isinstance(stated, str):
        return Rating(score=None, reason=stated)
    # A line such as `good, excellent` names several grades and chooses none.
    rest_of_line = reply.text[stated.place :].partition("\n")[0]
    alternatives = re.split(r"[,/|]| or ", rest_of_line)
    if len(alternatives) > 1 and all(map(parse, alternatives)):
        return Rating(score=None, reason="several verdicts")
    label, score = levels[_plain_level(stated.value)]
    if _calls_it_otherwise(reply.text[stated.place + len(stated.value) :], label, parse):
        return Rating(score=None, reason="several verdicts")
    # The place of the grade on the scale: 0 for the lowest and 1 for the highest.
    degree = (score - 1) / max(len(levels) - 1, 1)
    answer = strip_reasoning(reply.text)
    return _rating_without_contradiction(answer, score, degree, label)


def _calls_it_otherwise(after: str, label: str, parse: Callable[[str], str | None]) -> bool:
    """Return whether a sentence after a grade gives the response another grade as a whole.

    The first 400 characters after the grade are searched.

    Args:
        after: the text after the grade.
        label: the grade.
        parse: function from a word to the grade that it spells; None if it is no grade.
    """
    for sentence in WHOLE_SENTENCE.finditer(after[:SEARCHED_AT_ENDS]):
        other = parse(sentence["grade"].strip())
        if other is not None and other != label:
            return True
    return False


def _is_only_level(statement: Statement, is_first: bool, is_last: bool) -> bool:
    """Return whether a level counts although it has no brackets and is not called the verdict.

    It counts if it begins the first line, or is alone on the first or last line, and no noun such
    as `Response` stands before it.
    """
    if statement.has_noun:
        return False
    if statement.form == "leading":
        return is_first
    return statement.form == "alone" and (is_first or is_last)


def _is_last_level(statement: Statement, _: bool, is_last: bool) -> bool:
    """Return whether a label counts although it has no brackets and is not called the verdict.

    It counts if it begins the last line, or is alone on it.
    """
    return statement.form in ("alone", "leading") and is_last


def _rating_without_contradiction(text: str, score: float, degree: float, label: str) -> Rating:
    """Return the rating with this score, unparsed if words of the reply contradict the score.

    Such words fit only the other end of the scale: `useless` beside a high score, or `flawless`
    beside a low one. Only the first and the last 400 characters are searched for them.

    Args:
        text: the reply without reasoning.
        score: the score that was read.
        degree: the place of the score on its scale, in [0, 1].
        label: the score as written.
    """
    contradicting_words: Sequence[str] = ()
    if degree >= HIGH_DEGREE:
        contradicting_words = BLAME_WORDS
    elif degree <= LOW_DEGREE:
        contradicting_words = PRAISE_WORDS
    searched_text = text
    if len(text) > 2 * SEARCHED_AT_ENDS:
        searched_text = f"{text[:SEARCHED_AT_ENDS]}\n{text[-SEARCHED_AT_ENDS:]}"
    # Some of the words begin with a blank, which the first word of the text lacks.
    lowered = f" {searched_text.lower()}"
    if any(words in lowered for words in contradicting_words):
        return Rating(score=None, reason="several verdicts")
    return Rating(score=score, label=label)


def _write_level(
    words: Sequence[str],
    kind: Kind,
    preference: Preference,
    settings: Settings,  # noqa: ARG001
) -> Reply:
    """Return a reply with the level nearest to a preference.

    A pairwise judge takes the middle level only if the degree is 0.5.

    Args:
        words: the levels, from the lowest margin or score to the highest.
        kind: `pairwise` (the reasons stand before the level) or `pointwise` (without reasons).
        preference: what the judge prefers.
    """
    last_place = len(words) - 1
    place = round(preference.degree * last_place)
    if kind == "pointwise":
        return Reply(f"[[{words[place]}]]")
    is_middle = 2 * place == last_place
    if is_middle and preference.degree > 0.5:
        place += 1
    elif is_middle and preference.degree < 0.5:
        place -= 1
    return Reply(f"{preference.reasons}\n\n[[{words[place]}]]".lstrip())


def _read_number(reply: Reply, settings: Settings) -> Rating:  # noqa: ARG001
    """Read a number from 0 to 100.

    The number stands in double square brackets, is called the score, begins the reply, or is alone
    on the first or last line. The rating is unparsed if the number is a bound or the end of a
    range (`NOT_A_SCORE`), is below 0 or above 100, or if words of the reply contradict it
    (`_rating_without_contradiction`).
    """
    parse = partial(DECORATION.sub, "")
    reply = replace(reply, text=without_scale(reply.text))
    stated = read_statement(
        reply, WRITTEN_SCORE, parse, _is_only_level, level_signs=DIGIT_OR_BRACKET, is_pairwise=False
    )
    if isinstance(stated, str):
        return Rating(score=None, reason=stated)
    start = max(0, stated.place - SEARCHED_BEFORE)
    if NOT_A_SCORE.search(reply.text, start, stated.place):
        return Rating(score=None, reason="no verdict")
    number = stated.value
    if DECIMAL_COMMA.fullmatch(number):
        number = number.replace(",", ".")
    if not SCORE_NUMBER.fullmatch(number):
        return Rating(score=None, reason="no verdict")
    score = float(number)
    if not LOWEST_SCORE <= score <= HIGHEST_SCORE:
        return Rating(score=None, reason="out of range")
    degree = (score - LOWEST_SCORE) / (HIGHEST_SCORE - LOWEST_SCORE)
    answer = strip_reasoning(reply.text)
    return _rating_without_contradiction(answer, score, degree, stated.value)


LABELS = labels(
    "labels",
    {
        "A>>B": "response A is far better",
        "A>B": "response A is somewhat better",
        "A=B": "they are equally good",
        "B>A": "response B is somewhat better",
        "B>>A": "response B is far better",
    },
)
LIKERT = grades("likert", ("terrible", "poor", "fair", "good", "excellent"))


def _write_number(preference: Preference, settings: Settings) -> Reply:  # noqa: ARG001
    """Return a reply with the whole number that fits a preference."""
    score = LOWEST_SCORE + preference.degree * (HIGHEST_SCORE - LOWEST_SCORE)
    return Reply(f"[[{round(score)}]]")


NUMERIC_SCALE = (
    f"a number from {LOWEST_SCORE} (worthless) to {HIGHEST_SCORE} (could not be better). "
    "Use the whole range, and numbers that are not round."
)
NUMERIC = Realization(
    name="numeric",
    kind="pointwise",
    template=partial(packaged_template, "numeric", scale=NUMERIC_SCALE),
    read_reply=_read_number,
    write_reply=_write_number,
    form=_grade_form(
        {str(grade): float(grade) for grade in range(LOWEST_SCORE, HIGHEST_SCORE + 1)}
    ),
    tokens=256,
    schema_first=True,
)
