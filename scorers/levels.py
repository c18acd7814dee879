"""labels, likert, numeric: a level in double square brackets (JuStRank, section 4.2.2 and appendix
G).

A judge with other levels is one line: `points("points-7", 7)`, `grades("marks", ("failed",
"passed"))`, or `labels("labels-7", {"A>>>B": "response A is far better", ...})`; registered as a
scorer like `LIKERT`.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from string import ascii_uppercase
from typing import Literal

from podium.scorers.prompt import Settings, Template, packaged_template
from podium.scorers.realization import Preference, Realization
from podium.scorers.reasoning import strip_reasoning
from podium.scorers.reply import Rating, Reply, Verdict, reverse_label, verdict_of_margin
from podium.scorers.reply_reader import read_statement
from podium.scorers.reply_words import BLAME, PRAISE
from podium.scorers.schemas import ReplyForm, choice_form
from podium.scorers.verdict_statements import GAP_BEFORE_BRACKETS, Pattern, Statement

Kind = Literal["pairwise", "pointwise"]
Levels = Mapping[str, tuple[str, float]]
"""Levels as they are written and their margins or scores, by plain spelling."""
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
LOW, HIGH = 0, 100
BRACKETS = r"\[\[[ \t]*([^\[\]\n]{1,40}?)[ \t]*\]\]"
"""A level in the form that is asked for (group 1)."""
SCORED = re.compile(
    rf"{GAP_BEFORE_BRACKETS}(?:{BRACKETS}|\[?(-?\d++(?:\.\d++)*+)\]?)"
    rf"(?:[ \t]*(?:%|分|(?:points?|pts)?[ \t]*(?:/|out of|of|von|sur|de|из)[ \t]*{HIGH}\b))?"
)
DIGITS = re.compile(r"[\[\d]")
NOT_A_SCORE = re.compile(
    r"(?:(?:\d|points?|punkten?)[ \t]*(?:/|[-–—]|to|or|of|out of|von|sur|de|из)[ \t]*"
    r"|(?<![\w\]])[-−]|(?<![\w=\"–—-])[<>≤≥~≈±][ \t]*|(?<!\])/[ \t]*)\Z"
)
"""Text before a number that is the end of a range, a bound or another scale, or negative."""
SIGNS = {
    ">>": r" ?(?:>>|≫|\\gg) ?",
    "<<": r" ?(?:<<|≪|\\ll) ?",
    ">": " ?> ?",
    "<": " ?< ?",
    "=": " ?= ?",
}
"""Ways in which the signs of labels are written."""
DECORATION = re.compile(
    rf"(?i)\A(?:score|rating|grade|level|label|verdict)\W+|\\\w+\{{|[}}\"'*`]|\.\Z"
    rf"|[ \t]*(?:%|points?|(?:/|out of)[ \t]*{HIGH})\Z"
)
"""What may stand around a level inside its brackets."""
BEST, WORST = PRAISE.split("|"), BLAME.split("|")
HIGH_DEGREE, LOW_DEGREE = 0.6, 0.4
NEAR, LONGEST_BEFORE = 400, 20
"""Characters at both ends of a reply in which extreme words may contradict a rating."""
NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def labels(name: str, meanings: Mapping[str, str]) -> Realization:
    """Build the realization of a pairwise judge that chooses a label: the margin is the label's
    distance from the middle, the credit its sign; `meanings` run from the first response being
    better to the second, symmetric."""
    middle = (len(meanings) - 1) / 2
    margins = {label: middle - place for place, label in enumerate(meanings)}
    width = max(map(len, meanings)) + 2
    lines = "\n".join(f"{label:<{width}}{meaning}" for label, meaning in meanings.items())
    # One letter a level: a single token, whose alternatives a provider can report.
    codes = dict(zip(ascii_uppercase, margins, strict=False))
    verdicts = {
        code: verdict_of_margin(margins[label], label=label) for code, label in codes.items()
    }
    meaning = "\n".join(f"{code}: {meanings[label]}" for code, label in codes.items())
    form = (
        choice_form("verdict", lambda _: verdicts, meaning=meaning)
        if len(codes) == len(meanings)
        else None
    )
    return _realization(
        name, "pairwise", margins, partial(packaged_template, "labels", labels=lines), form
    )


def grades(name: str, words: Sequence[str]) -> Realization:
    """Build the realization of a pointwise judge that chooses one of `words`, worst first, with
    scores 1, 2, ..."""
    scores = {word: float(place) for place, word in enumerate(words, start=1)}
    count = NUMBER_WORDS[len(words)] if len(words) < len(NUMBER_WORDS) else str(len(words))
    template = partial(packaged_template, "likert", count=count, words=", ".join(words))
    return _realization(name, "pointwise", scores, template, _grade_form(scores))


def points(name: str, count: int) -> Realization:
    """Build the realization of a pointwise judge that gives a whole number from 1 to `count`."""
    scale = (
        f"a whole number from 1 (worthless) to {count} (could not be better). Use the whole range."
    )
    scores = {str(point): float(point) for point in range(1, count + 1)}
    template = partial(packaged_template, "numeric", scale=scale)
    return _realization(name, "pointwise", scores, template, _grade_form(scores))


def _grade_form(scores: Mapping[str, float]) -> ReplyForm:
    ratings = {grade: Rating(score, label=grade) for grade, score in scores.items()}
    return choice_form("grade", lambda _: ratings)


def _realization(
    name: str,
    kind: Kind,
    values: Mapping[str, float],
    template: partial[Template],
    form: ReplyForm | None,
) -> Realization:
    """Build the realization of a judge that chooses one of some words, with their margins or
    scores."""
    spelt = {word: word for word in values} | {reverse_label(word): word for word in values}
    escaped = (
        re.escape(word).replace(r"\ ", "[ _-]") for word in sorted(spelt, key=len, reverse=True)
    )
    spellings = (re.sub(r">>|<<|[=<>]", lambda sign: SIGNS[sign[0]], word) for word in escaped)
    value_or_brackets = re.compile(
        rf"{GAP_BEFORE_BRACKETS}(?:{BRACKETS}|\[?((?i:{'|'.join(spellings)}))(?![\w<>=])\]?(?: (?:response|answer)\b)?)"
    )
    signs = re.compile(
        r"[\[<>=≪≫\\]" if all(set("<>=") & set(word) for word in values) else r"[\[\w]"
    )
    levels = {_plain(spelling): (word, values[word]) for spelling, word in spelt.items()}
    return Realization(
        name=name,
        kind=kind,
        template=template,
        read_reply=partial(_read_level, value_or_brackets, signs, levels, kind),
        write_reply=partial(_write_level, sorted(values, key=values.__getitem__), kind),
        form=form,
        tokens=1024 if kind == "pairwise" else 256,
    )


def _plain(word: str) -> str:
    """Return a level in lower case without decoration, blanks, hyphens and underscores."""
    bare = DECORATION.sub("", word.lower())
    for spelling, signs in (("≫", ">>"), ("\\gg", ">>"), ("≪", "<<"), ("\\ll", "<<")):
        bare = bare.replace(spelling, signs)
    return re.sub(r"response|[\s_\\-]+", "", bare)


def _read_level(
    value: Pattern, signs: Pattern, levels: Levels, kind: Kind, reply: Reply, _: Settings
) -> Verdict | Rating:
    """Read the level in double square brackets, or one that is called the verdict; blanks inside it
    are ignored."""

    def parse(text: str) -> str | None:
        level = levels.get(_plain(text))
        return level[0] if level else None

    counts = _is_only_level if kind == "pointwise" else _is_last_level
    stated = read_statement(reply, value, parse, counts, signs=signs)
    if isinstance(stated, str):
        return (Verdict if kind == "pairwise" else Rating)(None, reason=stated)
    line = reply.text[stated.place :].partition("\n")[0]
    if (
        kind == "pointwise"
        and len(parts := re.split(r"[,/|]| or ", line)) > 1
        and all(map(parse, parts))
    ):
        return Rating(None, reason="several verdicts")
    label, level = levels[_plain(stated.value)]
    if kind == "pairwise":
        return verdict_of_margin(level, label=label)
    return _rating(strip_reasoning(reply.text), level, (level - 1) / max(len(levels) - 1, 1), label)


def _is_only_level(statement: Statement, is_first: bool, is_last: bool) -> bool:
    """Return whether a level without brackets or name is the first or last line, or begins the
    reply."""
    is_end = (
        is_first
        if statement.form == "leading"
        else statement.form == "alone" and (is_first or is_last)
    )
    return is_end and not statement.named


def _is_last_level(statement: Statement, _: bool, is_last: bool) -> bool:
    """Return whether a label without brackets or name is alone on the last line, or begins it."""
    return statement.form in ("alone", "leading") and is_last


def _rating(text: str, score: float, degree: float, label: str) -> Rating:
    """Return a rating, unparsed if the words around it fit only the other end of the scale."""
    extremes = WORST if degree >= HIGH_DEGREE else BEST if degree <= LOW_DEGREE else ()
    ends = text if len(text) <= 2 * NEAR else f"{text[:NEAR]}\n{text[-NEAR:]}"
    low = f" {ends.lower()}"
    if any(words in low for words in extremes):
        return Rating(None, reason="several verdicts")
    return Rating(score, label=label)


def _write_level(
    words: Sequence[str],
    kind: Kind,
    preference: Preference,
    settings: Settings,  # noqa: ARG001
) -> Reply:
    """Return a reply with the level nearest to a preference; a pair's middle level is for ties
    only."""
    last = len(words) - 1
    place = round(preference.degree * last)
    if kind == "pointwise":
        return Reply(f"[[{words[place]}]]")
    if 2 * place == last and preference.degree != 0.5:
        place += 1 if preference.degree > 0.5 else -1
    return Reply(f"{preference.reasons}\n\n[[{words[place]}]]".lstrip())


def _read_number(reply: Reply, settings: Settings) -> Rating:  # noqa: ARG001
    """Read a number from 0 to 100 in double square brackets, one that is called the score, or the
    only one."""
    stated = read_statement(
        reply, SCORED, partial(DECORATION.sub, ""), _is_only_level, signs=DIGITS
    )
    if (
        isinstance(stated, str)
        or not NUMBER.fullmatch(stated.value)
        or NOT_A_SCORE.search(reply.text, max(0, stated.place - LONGEST_BEFORE), stated.place)
    ):
        return Rating(None, reason=stated if isinstance(stated, str) else "no verdict")
    score = float(stated.value)
    if not LOW <= score <= HIGH:
        return Rating(None, reason="out of range")
    return _rating(strip_reasoning(reply.text), score, (score - LOW) / (HIGH - LOW), stated.value)


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
NUMERIC = Realization(
    name="numeric",
    kind="pointwise",
    template=partial(
        packaged_template,
        "numeric",
        scale=f"a number from {LOW} (worthless) to {HIGH} (could not be better). "
        "Use the whole range, and numbers that are not round.",
    ),
    read_reply=_read_number,
    write_reply=lambda preference, _: Reply(f"[[{round(LOW + preference.degree * (HIGH - LOW))}]]"),
    form=_grade_form({str(grade): float(grade) for grade in range(LOW, HIGH + 1)}),
    tokens=256,
)
