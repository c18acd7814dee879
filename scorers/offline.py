"""The stand-in judge `podium/offline`: no key, network or weights. **It is not a language model.**
It prefers the response that meets more of the demands that can be counted or computed; never use it
to judge models."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import exp, prod
from typing import NamedTuple

from podium.errors import UsageError
from podium.scorers.checklist import write_checklist
from podium.scorers.judging import Judging
from podium.scorers.levels import NUMBER_WORDS
from podium.scorers.prompt import Texts, final_answer
from podium.scorers.realization import Preference
from podium.scorers.reply import Reply

RANGES = {"position_bias": (-2, 2), "noise": (0, 2), "tie": (0, 2), "sharpness": (0, 100)}
READ = 8_000
"""Largest number of characters of an instruction that are read."""
MOST_DEMANDS = 40
TOO_LONG = 200_000
"""Characters above which a text is not parsed as JSON."""


class Demand(NamedTuple):
    """A demand of an instruction in a few words, and a function whose value is true of a response
    that meets it."""

    name: str
    holds: Callable[[str], object]


@dataclass(frozen=True, slots=True)
class StandIn:
    """The stand-in judge: `position_bias` and `noise` (half-width, from a hash of prompt and seed)
    are added to leads, in shares of the demands; leads up to `tie` are no preference, `sharpness`
    is the logistic's slope."""

    position_bias: float = 0.0
    noise: float = 0.0
    seed: int = 0
    tie: float = 0.0
    sharpness: float = 6.0

    def __post_init__(self) -> None:
        for name, (low, high) in RANGES.items():
            if not low <= getattr(self, name) <= high:
                raise UsageError(
                    f"{name}={getattr(self, name)}: the offline judge takes {low} to {high}"
                )

    def answer(self, prompt: str, how: Judging, texts: Texts) -> Reply:
        """Answer in the form of the realization, the same for the same prompt and settings; `texts`
        are behind its fences: without responses, the prompt asks for a checklist."""
        asked = demands(texts.instruction, texts.reference if how.settings.reference else None)
        if not texts.responses:
            return write_checklist(
                f"Does the response meet this demand: {demand.name[:200]}?" for demand in asked
            )
        answers = map(final_answer, texts.responses) if how.settings.transcript else texts.responses
        missed = [missed_demands(answer, asked) for answer in answers]
        shares = [1 - len(names) / len(asked) for names in missed]
        if len(shares) == 1:
            degree, reasons = shares[0] + self.error_of(prompt), ""
            lead = degree - 0.5
        else:
            lead = shares[0] - shares[1] + self.position_bias + self.error_of(prompt)
            lead = 0.0 if abs(lead) <= self.tie + 1e-9 else lead
            degree = (1 + lead) / 2
            reasons = "\n".join(
                _misses_text(name, names, len(asked))
                for name, names in zip("AB", missed, strict=True)
            )
        chance = 1 / (1 + exp(-self.sharpness * lead))
        return how.write_reply(Preference(min(1.0, max(0.0, degree)), chance, reasons))

    def error_of(self, prompt: str) -> float:
        """Return the error of the lead, drawn from a hash of seed and prompt, in [-noise,
        noise]."""
        if not self.noise:
            return 0.0
        digest = hashlib.sha256(f"{self.seed}\0{prompt}".encode("utf-8", "surrogatepass")).digest()
        return self.noise * (2 * int.from_bytes(digest[:6], "big") / (2**48 - 1) - 1)


def _misses_text(letter: str, missed: tuple[str, ...], asked: int) -> str:
    """Describe in one line how many demands a response meets, without characters that look like a
    verdict."""
    plain = [
        "".join(sign if sign.isalnum() or sign in " '.,%+-/" else " " for sign in name)
        for name in missed[:3]
    ]
    names = [" ".join(name.split())[:60] for name in plain] + [f"{len(missed) - 3} more"] * (
        len(missed) > 3
    )
    misses = f"; it misses: {', '.join(names)}" if names else ""
    return f"Response {letter} meets {asked - len(missed)} of {asked} demands that rules can check{misses}."


def missed_demands(response: str, asked: tuple[Demand, ...]) -> tuple[str, ...]:
    """Return the names of the demands that a response does not meet; a rule that fails counts as
    not met."""
    met = set()
    for demand in asked:
        with suppress(TypeError, ValueError, OverflowError, RecursionError):
            if demand.holds(response):
                met.add(demand.name)
    return tuple(demand.name for demand in asked if demand.name not in met)


def demands(instruction: str, reference: str | None = None) -> tuple[Demand, ...]:
    """Return the demands of an instruction that a rule can check; at least that there is an answer.
    A response should contain `reference`, a right answer."""
    text = instruction[:READ].replace("“", '"').replace("”", '"')
    rules = (
        _count_demands,
        _word_demands,
        _sign_demands,
        _json_demands,
        _sum_demands,
        _order_demands,
    )
    others = chain.from_iterable(rule(text) for rule in rules)
    answers = Demand(
        "answers", lambda text: bool(text.strip()) and not REFUSAL.match(text.replace("’", "'"))
    )
    by_name = {demand.name: demand for demand in (answers, *others)}
    wanted = _normalize_text(reference or "")
    agreement = (
        [Demand("agrees with the reference", lambda text: wanted in _normalize_text(text))]
        if wanted
        else []
    )
    return (*list(by_name.values())[: MOST_DEMANDS - len(agreement)], *agreement)


def _normalize_text(text: str) -> str:
    return " ".join(_units("word", text)).casefold()


REFUSAL = re.compile(
    r"\W*(?:(?:i'm|i am)\s+)?(?:sorry|unable to|not able to|i (?:can'?t|cannot|won'?t|will not)|as an ai)\b",
    re.I,
)
NUMBER = rf"(?:\d{{1,6}}|{'|'.join(NUMBER_WORDS[1:])})"
BOUNDS = {
    **dict.fromkeys(("at most", "no more than", "up to"), "most"),
    **dict.fromkeys(("at least", "no fewer than"), "least"),
}
COUNT = re.compile(
    rf"(?i)(?:\b(?P<bound>exactly|{'|'.join(BOUNDS)})\s+)?\b(?P<least>{NUMBER})(?:\s*(?:to|and|-)\s*(?P<most>{NUMBER}))?[\s-]+"
    r"(?P<unit>word|sentence|line|paragraph|bullet point|character)s?\b(?:\s+or\s+(?P<after>fewer|less|more)\b)?"
)
EACH = re.compile(r"\b(?:each|every)(?:\s+(line|sentence|paragraph|bullet point))?\b", re.I)
"""Demands of every part: of the named kind, else of the kind that was counted before."""


def _units(unit: str, text: str) -> list[str]:
    """Return the words, sentences, lines, paragraphs, bullet points or characters of a text."""
    if unit == "character":
        return list(text.strip())
    if unit == "bullet point":
        return [line[1:] for line in _units("line", text) if re.match(r"[-*•+]\s", line)]
    between = {
        "word": r"\s+",
        "sentence": r"(?<=[.!?])[\"'”’)]*\s+|\n\s*\n",
        "line": r"\n",
        "paragraph": r"\n\s*\n",
    }
    return [
        part.strip()
        for part in re.split(between[unit], text)
        if any(sign.isalnum() for sign in part)
    ]


def _count_demands(instruction: str) -> Iterator[Demand]:
    """Yield demands of numbers of words, sentences, lines, paragraphs, bullet points or
    characters."""
    before = None
    for sentence in _units("sentence", instruction):
        for match in COUNT.finditer(sentence):
            each = EACH.search(sentence[: match.start()])
            unit, part = (
                match["unit"].lower(),
                (each[1] or before or "line").lower() if each else None,
            )
            yield _count_demand(match, unit, part)
            before = before if part else unit


def _count_demand(match: re.Match[str], unit: str, part: str | None) -> Demand:
    least = _parse_count(match["least"])
    most = _parse_count(match["most"] or match["least"])
    after, bound = (match["after"] or "").lower(), (match["bound"] or "").lower()
    kind = "least" if after == "more" else "most" if after else BOUNDS.get(bound)
    low, high = (0 if kind == "most" else least), (float("inf") if kind == "least" else most)

    def fits(text: str) -> bool:
        return low <= len(_units(unit, text)) <= high

    name = " ".join(match[0].split())
    if part is None:
        return Demand(name, fits)
    return Demand(
        f"in each {part}: {name}",
        lambda text: (parts := _units(part, text)) and all(map(fits, parts)),
    )


def _parse_count(text: str) -> int:
    return int(text) if text.isdecimal() else NUMBER_WORDS.index(text.lower())


QUOTED = re.compile(r"\"([^\"\n]{1,300})\"")
WORD = re.compile(
    r"(?i)\b(?:(?P<avoid>do not|don't|never|avoid|without)\s+)?(?P<verb>use|using|include|contain|mention)\b"
    rf"|[.!?](?=\s)|\n|{QUOTED.pattern}(?:\s+(?P<times>once|twice|{NUMBER} times)\b)?"
)
"""Verbs that ask for quoted words to be used or avoided, ends of sentences, and quoted words."""


def _word_demands(instruction: str) -> Iterator[Demand]:
    """Yield demands of quoted words to use, possibly so many times, or to avoid."""
    verb = None
    for match in WORD.finditer(instruction):
        if match[3] is None:
            verb = match if match["verb"] else None
        elif verb:
            yield _word_demand(match[3], bool(verb["avoid"]), match["times"])


def _word_demand(word: str, avoided: bool, times: str | None) -> Demand:
    pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.I)
    if avoided:
        return Demand(f"does not say {word}", lambda text: not pattern.search(text))
    if times is None:
        return Demand(f"says {word}", pattern.search)
    count = {"once": 1, "twice": 2}.get(times.lower()) or _parse_count(times.split()[0])
    return Demand(f"says {word} {times}", lambda text: len(pattern.findall(text)) == count)


SIGNS = {"comma": ",", "digit": "0123456789", "exclamation mark": "!", "question mark": "?"}
FORBIDDEN = re.compile(
    rf"\b(?:without|avoid|do not use|no)((?:[\s,]+(?:or|and|any|{'|'.join(SIGNS)})s?\b)+)", re.I
)


def _sign_demands(instruction: str) -> Iterator[Demand]:
    """Yield demands of lower case, capitals, or no commas, digits and other signs."""
    bare = QUOTED.sub(" ", instruction)
    if re.search(r"\blower[ -]?case\b", bare, re.I):
        yield Demand("in lower case", lambda text: text == text.lower())
    if re.search(r"\b(?:upper[ -]?case|capital letters|all caps)\b", bare, re.I):
        yield Demand("in capitals", lambda text: text == text.upper())
    for match in FORBIDDEN.finditer(bare):
        for name in (name for name in SIGNS if name in match[1].lower()):
            yield Demand(f"no {name}", set(SIGNS[name]).isdisjoint)


def _json_demands(instruction: str) -> Iterator[Demand]:
    """Yield demands of bare JSON and of its quoted keys; very long texts are no JSON."""

    def has_key(name: str, text: str) -> bool:
        return name in dict(json.loads(text if len(text) <= TOO_LONG else ""))

    if re.search(r"\bJSON\b", instruction):
        yield Demand(
            "bare JSON", lambda text: len(text) <= TOO_LONG and json.loads(text) is not None
        )
        keys = re.search(r"\bkeys?\b([^.\n]*)", instruction)
        for name in QUOTED.findall(keys[1]) if keys else ():
            yield Demand(f"has key {name}", partial(has_key, name))


SUM = re.compile(r"\b(?:what is|calculate|compute)\s+(\d{1,9}(?:\s*[-+*]\s*\d{1,9}){1,9})", re.I)


def _sum_demands(instruction: str) -> Iterator[Demand]:
    for match in SUM.finditer(instruction):
        terms = re.findall(r"([-+]?)((?:\d+\*)*\d+)", "".join(match[1].split()))
        total = sum(
            (-1 if sign == "-" else 1) * prod(map(int, factors.split("*")))
            for sign, factors in terms
        )
        digits = f"{total:,}".replace(",", ",?")
        yield Demand(f"says {total}", re.compile(rf"(?<![\d.,]){digits}(?!\.?\d)").search)


SORT = re.compile(
    r"(?i)\b(?:(alphabetically)|(largest to smallest|descending)|(smallest to largest|ascending))\b[^:\n]{0,40}:\s*"
    r"([^:.\n]{3,500})"
)


def _order_demands(instruction: str) -> Iterator[Demand]:
    for match in SORT.finditer(instruction):
        items = re.split(r",\s*(?:and\s+)?", match[4].strip())
        if match[1] or all(item.isdecimal() for item in items):
            items.sort(key=str.casefold if match[1] else int, reverse=bool(match[2]))
            run = r"\W+(?:and\W+)?".join(map(re.escape, items))
            yield Demand(
                f"in the order {', '.join(items)}", re.compile(rf"(?<!\w){run}(?!\w)", re.I).search
            )
