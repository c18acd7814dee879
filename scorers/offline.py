"""The stand-in judge `podium/offline`: no key, no network, no weights, no opinions. **It is not a language model.**

It finds the demands of an instruction that can be counted or worked out (so many words or lines, words to use or to
avoid, lower case, JSON, a sum, a sorted list), and prefers the response that meets the larger share of them. Where both
meet as many it has no preference, and what it cannot count (truth, style, helpfulness) it does not see.

It answers as any realization wants to be answered, because the realization writes the reply. Use it to try podium, to
test a set-up, and to see what position bias does to a ranking; never to judge models.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import exp, prod
from typing import Any

from podium.errors import UsageError
from podium.scorers.checklist import write_checklist
from podium.scorers.judging import Judging
from podium.scorers.levels import NUMBER_WORDS
from podium.scorers.prompt import Texts
from podium.scorers.realization import Preference
from podium.scorers.reply import Reply

RANGES = {"position_bias": (-2, 2), "noise": (0, 2), "tie": (0, 2), "sharpness": (0, 100)}
READ = 8_000
"""Characters of an instruction that are read."""
MOST_DEMANDS = 40
TOO_LONG = 200_000
"""Characters; nothing that long is parsed as JSON."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What is asked in a few words, and whether a response does it."""

    name: str
    holds: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class StandIn:
    """The judge, and how it leans and wavers on purpose.

    Attributes:
        position_bias: added to the lead of the response shown first, in shares of the demands met (leads are at most
            1); negative favours the second.
        noise: half the width of a uniform error of the lead, drawn from a hash of prompt and seed.
        seed: of the noise.
        tie: leads no larger than this are no preference.
        sharpness: the slope of the logistic from leads to probabilities.

    Raises:
        UsageError: a setting out of its range.
    """

    position_bias: float = 0.0
    noise: float = 0.0
    seed: int = 0
    tie: float = 0.0
    sharpness: float = 6.0

    def __post_init__(self) -> None:
        for name, (low, high) in RANGES.items():
            if not low <= getattr(self, name) <= high:
                raise UsageError(f"{name}={getattr(self, name)}: the offline judge takes {low} to {high}")

    def answer(self, prompt: str, how: Judging, texts: Texts) -> Reply:
        """Answer a prompt; the same prompt and settings give the same reply.

        `prompt`: as the judge is asked; `how`: who asks; its realization writes the reply; `texts`: what the prompt
        shows behind its fences; without a response, the prompt asks for a checklist.
        """
        asked = demands(texts.instruction, texts.reference if how.settings.reference else None)
        if not texts.responses:
            return write_checklist(f"Does the response meet this demand: {demand.name[:200]}?" for demand in asked)
        missed = [missed_demands(response, asked) for response in texts.responses]
        shares = [1 - len(names) / len(asked) for names in missed]
        if len(shares) == 1:
            share = shares[0] + self.waver(prompt)
            return how.write_reply(Preference(min(1.0, max(0.0, share)), self._chance(share - 0.5)))
        lead = shares[0] - shares[1] + self.position_bias + self.waver(prompt)
        reasons = "\n".join(_reason(letter, names, len(asked)) for letter, names in zip("AB", missed, strict=True))
        if abs(lead) <= self.tie + 1e-9:
            return how.write_reply(Preference(0.5, 0.5, reasons))
        return how.write_reply(Preference(min(1.0, max(0.0, (1 + lead) / 2)), self._chance(lead), reasons))

    def waver(self, prompt: str) -> float:
        """Return the error of this prompt: the same prompt and seed, the same error."""
        if not self.noise:
            return 0.0
        digest = hashlib.sha256(f"{self.seed}\0{prompt}".encode("utf-8", "surrogatepass")).digest()
        return self.noise * (2 * int.from_bytes(digest[:6], "big") / (2**48 - 1) - 1)

    def _chance(self, lead: float) -> float:
        return 1 / (1 + exp(-self.sharpness * lead))


def _reason(letter: str, missed: tuple[str, ...], asked: int) -> str:
    """Say in one sentence on one line what a response did, without signs that could be taken for a verdict."""
    plain = ["".join(sign if sign.isalnum() or sign in " '.,%+-/" else " " for sign in name) for name in missed[:3]]
    names = [" ".join(name.split())[:60] for name in plain] + [f"{len(missed) - 3} more"] * (len(missed) > 3)
    misses = f"; it misses: {', '.join(names)}" if names else ""
    return f"Response {letter} meets {asked - len(missed)} of {asked} demands that rules can check{misses}."


def missed_demands(response: str, asked: tuple[Demand, ...]) -> tuple[str, ...]:
    """Return the names of the demands that a response does not meet; what trips a rule does not meet its demand."""
    met = set()
    for demand in asked:
        with suppress(TypeError, ValueError, OverflowError, RecursionError):
            if demand.holds(response):
                met.add(demand.name)
    return tuple(demand.name for demand in asked if demand.name not in met)


def demands(instruction: str, reference: str | None = None) -> tuple[Demand, ...]:
    """Return what an instruction demands and a rule can check, at least that there is an answer.

    `instruction`: as the models got it; `reference`: an answer that is right, where the prompt shows one; a response
    should hold it.

    >>> [demand.name for demand in demands("Name a colour in one word.")]
    ['answers', 'one word']
    """
    text = instruction[:READ].replace("“", '"').replace("”", '"')
    others = (demand for rule in (_counts, _words, _letters, _json, _sums, _orders) for demand in rule(text))
    answers = Demand("answers", lambda text: bool(text.strip()) and not REFUSAL.match(text.replace("’", "'")))
    by_name = {demand.name: demand for demand in (answers, *others)}
    wanted = _fold(reference or "")
    agreement = [Demand("agrees with the reference", lambda text: wanted in _fold(text))] if wanted else []
    return (*list(by_name.values())[: MOST_DEMANDS - len(agreement)], *agreement)


def _fold(text: str) -> str:
    return " ".join(_units("word", text)).casefold()


REFUSAL = re.compile(
    r"\W*(?:(?:i'm|i am)\s+)?(?:sorry|unable to|not able to|i (?:can'?t|cannot|won'?t|will not)|as an ai)\b", re.I
)


NUMBER = rf"(?:\d{{1,6}}|{'|'.join(NUMBER_WORDS[1:])})"
BOUNDS = {
    **dict.fromkeys(("at most", "no more than", "up to"), "most"),
    **dict.fromkeys(("at least", "no fewer than"), "least"),
}
COUNT = re.compile(
    rf"(?:\b(?P<bound>exactly|{'|'.join(BOUNDS)})\s+)?\b(?P<least>{NUMBER})(?:\s*(?:to|and|-)\s*(?P<most>{NUMBER}))?[\s-]+"
    r"(?P<unit>word|sentence|line|paragraph|bullet point|character)s?\b(?:\s+or\s+(?P<after>fewer|less|more)\b)?",
    re.I,
)
EACH = re.compile(r"\b(?:each|every)(?:\s+(line|sentence|paragraph|bullet point))?\b", re.I)
"""What follows is asked of every part: of that which is named, else of what was counted before."""


def _units(unit: str, text: str) -> list[str]:
    """Return the words, sentences, lines, paragraphs, bullet points or characters of a text."""
    if unit == "character":
        return list(text.strip())
    if unit == "bullet point":
        return [line[1:] for line in _units("line", text) if re.match(r"[-*•+]\s", line)]
    between = {"word": r"\s+", "sentence": r"(?<=[.!?])[\"'”’)]*\s+|\n\s*\n", "line": r"\n", "paragraph": r"\n\s*\n"}
    return [part.strip() for part in re.split(between[unit], text) if any(sign.isalnum() for sign in part)]


def _counts(instruction: str) -> Iterator[Demand]:
    """So many words, sentences, lines, paragraphs, bullet points or characters, in all or in each part."""
    before = None
    for sentence in _units("sentence", instruction):
        for match in COUNT.finditer(sentence):
            each = EACH.search(sentence[: match.start()])
            unit, part = match["unit"].lower(), (each[1] or before or "line").lower() if each else None
            yield _count(match, unit, part)
            before = before if part else unit


def _count(match: re.Match[str], unit: str, part: str | None) -> Demand:
    bound = (match["bound"] or "").lower()
    least = _number(match["least"])
    most = _number(match["most"]) if match["most"] else least
    kind = ("least" if match["after"].lower() == "more" else "most") if match["after"] else BOUNDS.get(bound)
    low, high = (0 if kind == "most" else least), (float("inf") if kind == "least" else most)

    def fits(text: str) -> bool:
        return low <= len(_units(unit, text)) <= high

    name = " ".join(match[0].split())
    if part is None:
        return Demand(name, fits)
    return Demand(f"in each {part}: {name}", lambda text: bool(parts := _units(part, text)) and all(map(fits, parts)))


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else NUMBER_WORDS.index(text.lower())


QUOTED = re.compile(r"\"([^\"\n]{1,300})\"")
WORD = re.compile(
    r"\b(?:(?P<avoid>do not|don't|never|avoid|without)\s+)?(?P<verb>use|using|include|contain|mention)\b"
    rf"|[.!?](?=\s)|\n|{QUOTED.pattern}(?:\s+(?P<times>once|twice|{NUMBER} times)\b)?",
    re.I,
)
"""What says that quoted words are to be used or avoided, up to the end of a sentence; and such words."""


def _words(instruction: str) -> Iterator[Demand]:
    """Quoted words to use, so many times, or to avoid."""
    verb = None
    for match in WORD.finditer(instruction):
        if match[3] is None:
            verb = match if match["verb"] else None
        elif verb:
            yield _word(match[3], bool(verb["avoid"]), match["times"])


def _is_found(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(text) is not None


def _word(word: str, avoided: bool, times: str | None) -> Demand:
    pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.I)
    if avoided:
        return Demand(f"does not say {word}", lambda text: not pattern.search(text))
    if times is None:
        return Demand(f"says {word}", partial(_is_found, pattern))
    count = {"once": 1, "twice": 2}.get(times.lower()) or _number(times.split()[0])
    return Demand(f"says {word} {times}", lambda text: len(pattern.findall(text)) == count)


SIGNS = {"comma": ",", "digit": "0123456789", "exclamation mark": "!", "question mark": "?"}
FORBIDDEN = re.compile(rf"\b(?:without|avoid|do not use|no)((?:[\s,]+(?:or|and|any|{'|'.join(SIGNS)})s?\b)+)", re.I)


def _letters(instruction: str) -> Iterator[Demand]:
    """In lower case, in capitals; without commas, digits or other signs."""
    bare = QUOTED.sub(" ", instruction)
    if re.search(r"\blower[ -]?case\b", bare, re.I):
        yield Demand("in lower case", lambda text: text == text.lower())
    if re.search(r"\b(?:upper[ -]?case|capital letters|all caps)\b", bare, re.I):
        yield Demand("in capitals", lambda text: text == text.upper())
    for match in FORBIDDEN.finditer(bare):
        for name in (name for name in SIGNS if name in match[1].lower()):
            yield Demand(f"no {name}", set(SIGNS[name]).isdisjoint)


def _json(instruction: str) -> Iterator[Demand]:
    """JSON and nothing else, with the keys that are quoted."""
    if re.search(r"\bJSON\b", instruction):
        yield Demand("bare JSON", lambda text: _json_in(text) is not None)
        keys = re.search(r"\bkeys?\b([^.\n]*)", instruction)
        for name in QUOTED.findall(keys[1]) if keys else ():
            yield Demand(f"has key {name}", partial(_has_key, name))


def _has_key(name: str, text: str) -> bool:
    return name in dict(_json_in(text))


def _json_in(text: str) -> Any:
    return json.loads(text) if len(text) <= TOO_LONG else None


SUM = re.compile(r"\b(?:what is|calculate|compute)\s+(\d{1,9}(?:\s*[-+*]\s*\d{1,9}){1,9})", re.I)


def _sums(instruction: str) -> Iterator[Demand]:
    """The right result of a sum."""
    for match in SUM.finditer(instruction):
        terms = re.findall(r"([-+]?)((?:\d+\*)*\d+)", "".join(match[1].split()))
        total = sum((-1 if sign == "-" else 1) * prod(map(int, factors.split("*"))) for sign, factors in terms)
        digits = f"{total:,}".replace(",", ",?")
        yield Demand(f"says {total}", partial(_is_found, re.compile(rf"(?<![\d.,]){digits}(?!\.?\d)")))


SORT = re.compile(
    r"\b(?:(alphabetically)|(largest to smallest|descending)|(smallest to largest|ascending))\b[^:\n]{0,40}:\s*"
    r"([^:.\n]{3,500})",
    re.I,
)


def _orders(instruction: str) -> Iterator[Demand]:
    """What is to be sorted, in its order."""
    for match in SORT.finditer(instruction):
        items = re.split(r",\s*(?:and\s+)?", match[4].strip())
        if match[1] or all(item.isdecimal() for item in items):
            items.sort(key=str.casefold if match[1] else int, reverse=bool(match[2]))
            run = r"\W+(?:and\W+)?".join(map(re.escape, items))
            pattern = re.compile(rf"(?<!\w){run}(?!\w)", re.I)
            yield Demand(f"in the order {', '.join(items)}", partial(_is_found, pattern))
