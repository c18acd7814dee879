"""In lower case, in capitals; without commas, digits or other signs."""

import re
from collections.abc import Callable

from podium.offline.constraint import Constraint
from podium.offline.reading import QUOTED

LOWER = re.compile(r"\b(?:lower[ -]?case|no capital letters|without capital letters|small letters)\b", re.I)
UPPER = re.compile(
    r"\b(?:(?:all|in|only)\s+(?:upper[ -]?case|capitals?|capital letters|caps)|all[ -]caps|upper[ -]?case)\b", re.I
)
SIGNS: dict[str, Callable[[str], bool]] = {
    "comma": lambda text: "," in text,
    "digit": lambda text: any(sign.isdigit() for sign in text),
    "exclamation mark": lambda text: "!" in text,
    "question mark": lambda text: "?" in text,
    "semicolon": lambda text: ";" in text,
    "hyphen": lambda text: "-" in text,
    "bullet point": lambda text: bool(re.search(r"^\s*[-*•]\s", text, re.M)),
    "punctuation": lambda text: any(sign in ".,;:!?" for sign in text),
}
FORBIDDEN = re.compile(
    r"\b(?:no|without|avoid|(?:do not|don't|never|must not)\s+(?:use|contain|include|write))\s+(?:using\s+)?(?:any\s+)?"
    rf"(?P<signs>(?:(?:{'|'.join(SIGNS)})s?(?:,?\s+(?:or|and)\s+)?)+)",
    re.I,
)


def constraints(instruction: str) -> list[Constraint]:
    """Find demands on letters and signs; what is quoted is no demand.

    >>> [one.name for one in constraints("Answer in lower case, without commas or digits.")]
    ['in lower case', 'no comma', 'no digit']
    """
    bare = QUOTED.sub(" ", instruction)
    found = []
    if LOWER.search(bare):
        found.append(Constraint("in lower case", lambda text: text == text.lower() and _has_letters(text)))
    elif UPPER.search(bare):
        found.append(Constraint("in capitals", lambda text: text == text.upper() and _has_letters(text)))
    named = [sign for match in FORBIDDEN.finditer(bare) for sign in SIGNS if sign in match["signs"].lower()]
    return [*found, *(_without(sign) for sign in dict.fromkeys(named))]


def _without(sign: str) -> Constraint:
    return Constraint(f"no {sign}", lambda text: bool(text.strip()) and not SIGNS[sign](text))


def _has_letters(text: str) -> bool:
    return any(sign.isalpha() for sign in text)
