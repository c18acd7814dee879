"""labels, likert, numeric: a level in double square brackets (JuStRank, section 4.2.2 and appendix G).

A judge with other levels is one line: `points("points-7", 7)`, `grades("marks", ("failed", "passed"))`, or
`labels("labels-7", {"A>>>B": "response A is far better", ...})`; registered as a scorer like `LIKERT`.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

from podium.scorers.prompt import Settings, Template, packaged_template
from podium.scorers.realization import Preference, Realization
from podium.scorers.reply import BRACKETS, Rating, Reply, Verdict, last_line, verdict_of_margin

Kind = Literal["pairwise", "pointwise"]
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
LOW, HIGH = 0, 100
NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def labels(name: str, meanings: Mapping[str, str]) -> Realization:
    """Build the realization of a pairwise judge that chooses a label: the margin is the label's distance from the
    middle, the credit its sign; `meanings` run from the first response being better to the second, symmetric."""
    middle = (len(meanings) - 1) / 2
    margins = {label: middle - place for place, label in enumerate(meanings)}
    width = max(map(len, meanings)) + 2
    lines = "\n".join(f"{label:<{width}}{meaning}" for label, meaning in meanings.items())
    return _realization(name, "pairwise", margins, partial(packaged_template, "labels", labels=lines))


def grades(name: str, words: Sequence[str]) -> Realization:
    """Build the realization of a pointwise judge that chooses one of `words`, worst first, with scores 1, 2, ..."""
    scores = {word: float(place) for place, word in enumerate(words, start=1)}
    count = NUMBER_WORDS[len(words)] if len(words) < len(NUMBER_WORDS) else str(len(words))
    template = partial(packaged_template, "likert", count=count, words=", ".join(words))
    return _realization(name, "pointwise", scores, template)


def points(name: str, count: int) -> Realization:
    """Build the realization of a pointwise judge that gives a whole number from 1 to `count`."""
    scale = f"a whole number from 1 (worthless) to {count} (could not be better). Use the whole range."
    scores = {str(point): float(point) for point in range(1, count + 1)}
    return _realization(name, "pointwise", scores, partial(packaged_template, "numeric", scale=scale))


def _realization(name: str, kind: Kind, values: Mapping[str, float], template: partial[Template]) -> Realization:
    """Build the realization of a judge that chooses one of some words, with their margins or scores."""
    return Realization(
        name=name,
        kind=kind,
        template=template,
        read_reply=partial(_read_level, {word.lower(): (word, value) for word, value in values.items()}, kind),
        write_reply=partial(_write_level, sorted(values, key=values.__getitem__), kind),
    )


def _read_level(levels: Mapping[str, tuple[str, float]], kind: Kind, reply: Reply, _: Settings) -> Verdict | Rating:
    """Read the level on the last line; blanks inside a label are ignored."""
    stated = last_line(reply, BRACKETS)
    word = None if isinstance(stated, str) else stated[1].strip().lower()
    level = None if word is None else levels.get("".join(word.split()) if kind == "pairwise" else word)
    if level is None:
        reason = stated if isinstance(stated, str) else "out of range"
        return (Verdict if kind == "pairwise" else Rating)(None, reason=reason)
    label, value = level
    return verdict_of_margin(value, label=label) if kind == "pairwise" else Rating(value, label=label)


def _write_level(words: Sequence[str], kind: Kind, preference: Preference, settings: Settings) -> Reply:  # noqa: ARG001
    """Return a reply with the level nearest to a preference; a pair's middle level is for ties only."""
    last = len(words) - 1
    place = round(preference.degree * last)
    if kind == "pointwise":
        return Reply(f"[[{words[place]}]]")
    if 2 * place == last and preference.degree != 0.5:
        place += 1 if preference.degree > 0.5 else -1
    return Reply(f"{preference.reasons}\n\n[[{words[place]}]]".lstrip())


def _read_number(reply: Reply, settings: Settings) -> Rating:  # noqa: ARG001
    """Read a number from 0 to 100 on the last line."""
    stated = last_line(reply, BRACKETS)
    word = "" if isinstance(stated, str) else stated[1].strip()
    if not NUMBER.fullmatch(word):
        return Rating(None, reason=stated if isinstance(stated, str) else "no verdict")
    score = float(word)
    return Rating(score, label=word) if LOW <= score <= HIGH else Rating(None, reason="out of range")


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
)
