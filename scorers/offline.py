"""The stand-in judge `podium/offline`, which needs no API key, network or model weights.

**It is not a language model.** It finds demands in the instruction that can be counted or computed,
such as `at most 50 words`, and prefers the response that meets more of them. Never use it to judge
models.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import exp, prod
from typing import NamedTuple

from podium.errors import UsageError
from podium.scorers.checklist import write_checklist
from podium.scorers.judging import Judging
from podium.scorers.prompt import Texts, final_answer
from podium.scorers.realization import Preference
from podium.scorers.reply import Reply
from podium.wording import NUMBER_WORDS, quantity

# Smallest and largest value of each setting of the stand-in judge.
SETTING_RANGES = {"position_bias": (-2, 2), "noise": (0, 2), "tie": (0, 2), "sharpness": (0, 100)}
READ_CHARACTERS = 8_000
"""Number of characters at the start of an instruction that are searched for demands."""
MOST_DEMANDS = 40
"""Largest number of demands of one instruction; further ones are left out."""
MOST_NAMED_DEMANDS = 3
"""Largest number of missed demands that the reasons name; further ones are only counted."""
VERDICT_SIGNS = re.compile(r"[^\w '.,%+/-]|_")
"""Signs that are left out where reasons name a demand, because they could look like a verdict."""
LONGEST_JSON = 200_000
"""Longest text, in characters, that is parsed as JSON."""


class Demand(NamedTuple):
    """A demand of an instruction.

    Attributes:
        name: the demand in a few words.
        is_met: function of the response; its result is truthy if the response meets the demand.
    """

    name: str
    is_met: Callable[[str], object]


@dataclass(frozen=True, slots=True)
class StandIn:
    """The stand-in judge.

    Its preference depends on the lead: the share of demands that the first response meets, minus
    the share that the second one meets. The probability that it prefers the first response is
    1 / (1 + exp(-sharpness * lead)). If it rates a single response, the lead is the share of
    demands that this meets, minus 0.5; `position_bias` and `tie` are then ignored.

    Attributes:
        position_bias: added to the lead, in [-2, 2]. A positive value favors the response shown
            first.
        noise: largest size, in [0, 2], of an error that is added to the lead. The error is drawn
            from a hash of prompt and seed.
        seed: changes the errors.
        tie: if the lead is at most this far from 0, it is set to 0; in [0, 2].
        sharpness: slope of the logistic function from lead to probability, in [0, 100].

    Raises:
        UsageError: a value is outside of its range.
    """

    position_bias: float = 0.0
    noise: float = 0.0
    seed: int = 0
    tie: float = 0.0
    sharpness: float = 6.0

    def __post_init__(self) -> None:
        """Raise UsageError if a setting is outside of its range (`SETTING_RANGES`)."""
        for name, (low, high) in SETTING_RANGES.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise UsageError(f"{name}={value}: the offline judge takes {low} to {high}")

    def answer(self, prompt: str, judging: Judging, texts: Texts) -> Reply:
        """Answer a prompt in the form of the realization.

        The same prompt and settings always have the same answer.

        Args:
            prompt: the whole prompt.
            judging: settings of the run.
            texts: the texts that the prompt shows between its fences. If they have no responses,
                the prompt asks for a checklist, and the answer is one.

        Returns:
            A text reply in the form of the realization.

        Raises:
            UsageError: the realization cannot write replies.
        """
        reference = texts.reference if judging.settings.reference else None
        all_demands = demands(texts.instruction, reference)
        if not texts.responses:
            return write_checklist(
                f"Does the response meet this demand: {demand.name[:200]}?"
                for demand in all_demands
            )
        answers: Iterable[str] = texts.responses
        if judging.settings.transcript:
            answers = map(final_answer, texts.responses)
        missed = [missed_demands(answer, all_demands) for answer in answers]
        shares_met = [1 - len(names) / len(all_demands) for names in missed]
        if len(shares_met) == 1:
            [share_met] = shares_met
            degree = share_met + self.error_of(prompt)
            lead = degree - 0.5
            reasons = ""
        else:
            share_of_first, share_of_second = shares_met
            lead = share_of_first - share_of_second + self.position_bias + self.error_of(prompt)
            if abs(lead) <= self.tie + 1e-9:  # a lead of exactly `tie`, in spite of rounding
                lead = 0.0
            degree = (1 + lead) / 2
            reasons = "\n".join(
                _misses_text(letter, names, len(all_demands))
                for letter, names in zip("AB", missed, strict=True)
            )
        chance = 1 / (1 + exp(-self.sharpness * lead))
        degree_in_range = min(1.0, max(0.0, degree))
        return judging.write_reply(Preference(degree_in_range, chance, reasons))

    def error_of(self, prompt: str) -> float:
        """Return the error of the lead in [-noise, noise], drawn from a hash of seed and prompt."""
        if not self.noise:
            return 0.0
        digest = hashlib.sha256(f"{self.seed}\0{prompt}".encode("utf-8", "surrogatepass")).digest()
        # The first 48 bits of the hash, scaled to [-1, 1].
        bits = int.from_bytes(digest[:6], "big")
        largest = 2**48 - 1
        return self.noise * (2 * bits / largest - 1)


def _misses_text(letter: str, missed: tuple[str, ...], demand_count: int) -> str:
    """Describe in one line how many demands a response meets, and name up to three that it misses.

    Further missed demands are counted. A name has at most 60 characters, without those that could
    look like a verdict.

    Args:
        letter: the letter of the response.
        missed: names of the demands that it does not meet.
        demand_count: number of all demands.
    """
    names = []
    for demand in missed[:MOST_NAMED_DEMANDS]:
        harmless = VERDICT_SIGNS.sub(" ", demand)
        names.append(" ".join(harmless.split())[:60])
    if len(missed) > MOST_NAMED_DEMANDS:
        names.append(f"{len(missed) - MOST_NAMED_DEMANDS} more")
    misses = f"; it misses: {', '.join(names)}" if names else ""
    count = f"{demand_count - len(missed)} of {quantity(demand_count, 'demand')}"
    return f"Response {letter} meets {count} that rules can check{misses}."


def missed_demands(response: str, all_demands: tuple[Demand, ...]) -> tuple[str, ...]:
    """Return the names of the demands that a response does not meet.

    A demand whose rule raises an error counts as not met.
    """
    met = set()
    for demand in all_demands:
        with suppress(TypeError, ValueError, OverflowError, RecursionError):
            if demand.is_met(response):
                met.add(demand.name)
    return tuple(demand.name for demand in all_demands if demand.name not in met)


def demands(instruction: str, reference: str | None = None) -> tuple[Demand, ...]:
    """Return the demands of an instruction that a rule can check.

    Args:
        instruction: the instruction; its first 8,000 characters are read.
        reference: a right answer, which a response should contain.

    Returns:
        1 to 40 demands with different names; further ones are left out. The first one is that the
        response answers, and does not refuse to. If there is a reference, the last one is that the
        response has the words of the reference in the same order.
    """
    text = instruction[:READ_CHARACTERS].replace("“", '"').replace("”", '"')
    rules = (
        _count_demands,
        _word_demands,
        _sign_demands,
        _json_demands,
        _sum_demands,
        _order_demands,
    )
    demand_of_name = {"answers": Demand("answers", _is_answer)}
    for rule in rules:
        demand_of_name |= {demand.name: demand for demand in rule(text)}
    found_demands = tuple(demand_of_name.values())
    reference_words = _normalize_text(reference or "")
    if not reference_words:
        return found_demands[:MOST_DEMANDS]
    agrees = Demand(
        "agrees with the reference", lambda answer: reference_words in _normalize_text(answer)
    )
    return (*found_demands[: MOST_DEMANDS - 1], agrees)


def _is_answer(text: str) -> bool:
    """Return whether a text is neither empty nor a refusal."""
    return bool(text.strip()) and not REFUSAL.match(text.replace("’", "'"))


def _normalize_text(text: str) -> str:
    """Return the words of a text, in lower case, with one blank between them."""
    return " ".join(_units("word", text)).casefold()


REFUSAL = re.compile(
    r"\W*(?:(?:i'm|i am)\s+)?"
    r"(?:sorry|unable to|not able to|i (?:can'?t|cannot|won'?t|will not)|as an ai)\b",
    re.I,
)
"""The beginning of a response that refuses to answer, such as `I'm sorry` or `As an AI`."""
NUMBER = rf"(?:\d{{1,6}}|{'|'.join(NUMBER_WORDS[1:])})"
"""A number in digits or as a word, such as `12` or `three`."""
# Whether a phrase sets the largest or the smallest number: `at most 50 words`.
BOUNDS = {
    **dict.fromkeys(("at most", "no more than", "up to"), "most"),
    **dict.fromkeys(("at least", "no fewer than"), "least"),
}
COUNT = re.compile(
    rf"(?i)(?:\b(?P<bound>exactly|{'|'.join(BOUNDS)})\s+)?\b(?P<least>{NUMBER})"
    rf"(?:\s*(?:to|and|-)\s*(?P<most>{NUMBER}))?[\s-]+"
    r"(?P<unit>word|sentence|line|paragraph|bullet point|character)s?\b"
    r"(?:\s+or\s+(?P<after>fewer|less|more)\b)?"
)
"""A number of units: `exactly 3 sentences`, `two to four lines`, `50 words or fewer`."""
EACH_PART = re.compile(
    r"\b(?:each|every)(?:\s+(?P<part>line|sentence|paragraph|bullet point))?\b", re.I
)
"""Words that demand a number of units of every part: `each paragraph`, or `each` alone."""


def _units(unit: str, text: str) -> list[str]:
    """Return the words, sentences, lines, paragraphs, bullet points or characters of a text.

    Units without a letter or digit are left out, except characters. Bullet points are returned
    without their marks. `unit` is the noun in the singular.
    """
    if unit == "character":
        return list(text.strip())
    if unit == "bullet point":
        return [line[1:] for line in _units("line", text) if re.match(r"[-*•+]\s", line)]
    separators = {
        "word": r"\s+",
        "sentence": r"(?<=[.!?])[\"'”’)]*\s+|\n\s*\n",
        "line": r"\n",
        "paragraph": r"\n\s*\n",
    }
    parts = re.split(separators[unit], text)
    return [part.strip() for part in parts if _has_word(part)]


def _has_word(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(sign.isalnum() for sign in text)


def _count_demands(instruction: str) -> Iterator[Demand]:
    """Yield demands of numbers of words, sentences, lines, paragraphs, bullet points or characters.

    A number may be demanded of each part, such as each paragraph. If the part is not named, it is
    the unit that was counted before, or a line if none was.
    """
    unit_before = None
    for sentence in _units("sentence", instruction):
        for match in COUNT.finditer(sentence):
            unit = match["unit"].lower()
            each_part = EACH_PART.search(sentence[: match.start()])
            if each_part:
                part = each_part["part"] or unit_before or "line"
                yield _count_demand(match, unit, part.lower())
            else:
                yield _count_demand(match, unit, part=None)
                unit_before = unit


def _count_demand(match: re.Match[str], unit: str, part: str | None) -> Demand:
    """Return the demand of a number of units, in a whole response or in each of its parts.

    Args:
        match: a match of `COUNT`.
        unit: what is counted, such as `word`.
        part: the part that must have this number of units, such as `line`; None if the whole
            response must have it.
    """
    low: float = _parse_count(match["least"])
    high: float = _parse_count(match["most"] or match["least"])
    bound = BOUNDS.get((match["bound"] or "").lower())
    if match["after"]:
        bound = "least" if match["after"].lower() == "more" else "most"
    if bound == "most":
        low = 0
    elif bound == "least":
        high = float("inf")

    def fits(text: str) -> bool:
        """Return whether the number of units in a text is allowed."""
        return low <= len(_units(unit, text)) <= high

    def fits_in_parts(text: str) -> bool:
        """Return whether a text has parts, and the number of units is allowed in each part."""
        parts = _units(part or unit, text)
        return bool(parts) and all(map(fits, parts))

    name = " ".join(match[0].split())
    if part is None:
        return Demand(name, fits)
    return Demand(f"in each {part}: {name}", fits_in_parts)


def _parse_count(text: str) -> int:
    """Return the number that digits, or a word from `one` to `twelve` in any case, spell.

    Raises:
        ValueError: the text is neither.
    """
    return int(text) if text.isdecimal() else NUMBER_WORDS.index(text.lower())


QUOTED_WORDS = re.compile(r"\"(?P<quoted>[^\"\n]{1,300})\"")
"""Words in quotation marks."""
VERB_OR_QUOTATION = re.compile(
    r"(?i)\b(?:(?P<avoid>do not|don't|never|avoid|without)\s+)?"
    r"(?P<verb>use|using|include|contain|mention)\b"
    rf"|[.!?](?=\s)|\n|{QUOTED_WORDS.pattern}(?:\s+(?P<times>once|twice|{NUMBER} times)\b)?"
)
"""One of three things: a verb that asks to use or avoid words, the end of a sentence, or words in
quotation marks, as in `Do not use "very"` or `Mention "tea" twice`."""
# Numbers of times that are one word.
TIMES = {"once": 1, "twice": 2}


def _word_demands(instruction: str) -> Iterator[Demand]:
    """Yield demands to use words in quotation marks, to use them a number of times, or to avoid
    them.

    Quotations count only after a verb such as `use` or `mention` in the same sentence.
    """
    verb = None  # the verb before, in the same sentence
    for match in VERB_OR_QUOTATION.finditer(instruction):
        quoted_words = match["quoted"]
        if quoted_words is None:
            # Anything but a verb is the end of the sentence.
            verb = match if match["verb"] else None
        elif verb:
            yield _word_demand(quoted_words, bool(verb["avoid"]), match["times"])


def _word_demand(word: str, avoided: bool, times: str | None) -> Demand:
    """Return the demand to avoid a word, to use it, or to use it a number of times.

    Args:
        word: the word or words.
        avoided: whether the demand is to avoid the word.
        times: `once`, `twice` or a number, as in `3 times`; None for any number of times.
    """
    pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.I)
    if avoided:
        return Demand(f"does not say {word}", lambda text: not pattern.search(text))
    if times is None:
        return Demand(f"says {word}", pattern.search)
    count = TIMES.get(times.lower())
    if count is None:
        # The first word is the number, as in `3 times`.
        count = _parse_count(times.split()[0])
    return Demand(f"says {word} {times}", lambda text: len(pattern.findall(text)) == count)


# Signs that an instruction can forbid, by name.
FORBIDDEN_SIGNS = {
    "comma": ",",
    "digit": "0123456789",
    "exclamation mark": "!",
    "question mark": "?",
}
# Names of forbidden signs after `without` and the like: `without commas or digits`.
FORBIDDEN_NAMES = re.compile(
    r"\b(?:without|avoid|do not use|no)"
    rf"(?P<names>(?:[\s,]+(?:or|and|any|{'|'.join(FORBIDDEN_SIGNS)})s?\b)+)",
    re.I,
)


def _sign_demands(instruction: str) -> Iterator[Demand]:
    """Yield demands to write in lower case or capitals, or to avoid signs (`FORBIDDEN_SIGNS`).

    Words in quotation marks in the instruction demand nothing.
    """
    bare = QUOTED_WORDS.sub(" ", instruction)
    if re.search(r"\blower[ -]?case\b", bare, re.I):
        yield Demand("in lower case", lambda text: text == text.lower())
    if re.search(r"\b(?:upper[ -]?case|capital letters|all caps)\b", bare, re.I):
        yield Demand("in capitals", lambda text: text == text.upper())
    for match in FORBIDDEN_NAMES.finditer(bare):
        for name, signs in FORBIDDEN_SIGNS.items():
            if name in match["names"].lower():
                yield Demand(f"no {name}", set(signs).isdisjoint)


def _json_demands(instruction: str) -> Iterator[Demand]:
    """Yield the demand to answer with nothing but JSON, and a demand for each quoted key.

    Nothing is yielded unless the instruction has the word JSON. The keys are the words in quotation
    marks that follow the word `key` or `keys` on its line, up to a full stop.
    A response of more than 200,000 characters does not meet them.
    """

    def is_json(text: str) -> bool:
        """Return whether a text is JSON other than null, of at most 200,000 characters.

        A text within this limit that is not JSON raises ValueError.
        """
        return len(text) <= LONGEST_JSON and json.loads(text) is not None

    def has_key(name: str, text: str) -> bool:
        """Return whether a text of at most 200,000 characters is a JSON object with this key.

        Most texts within this limit that are no JSON object raise ValueError or TypeError.
        """
        return len(text) <= LONGEST_JSON and name in dict(json.loads(text))

    if not re.search(r"\bJSON\b", instruction):
        return
    yield Demand("bare JSON", is_json)
    keys = re.search(r"\bkeys?\b(?P<names>[^.\n]*)", instruction)
    if keys is None:
        return
    for name in QUOTED_WORDS.findall(keys["names"]):
        yield Demand(f"has key {name}", partial(has_key, name))


SUM = re.compile(r"\b(?:what is|calculate|compute)\s+(\d{1,9}(?:\s*[-+*]\s*\d{1,9}){1,9})", re.I)
"""A question for the value of sums and products, such as `What is 3 + 4 * 5`."""


def _sum_demands(instruction: str) -> Iterator[Demand]:
    """Yield demands to state the values of the sums and products that an instruction asks for."""
    for match in SUM.finditer(instruction):
        # Pairs of a sign and a product: `3-4*5` has (``, `3`) and (`-`, `4*5`).
        terms = re.findall(r"([-+]?)((?:\d+\*)*\d+)", "".join(match[1].split()))
        total = 0
        for sign, factors in terms:
            product = prod(map(int, factors.split("*")))
            if sign == "-":
                total -= product
            else:
                total += product
        # The commas between thousands may be missing in the response.
        written_total = f"{total:,}".replace(",", ",?")
        pattern = re.compile(rf"(?<![\d.,]){written_total}(?!\.?\d)")
        yield Demand(f"says {total}", pattern.search)


SORTING_TASK = re.compile(
    r"(?i)\b(?:(?P<alphabetic>alphabetically)|(?P<descending>largest to smallest|descending)"
    r"|(?:smallest to largest|ascending))\b[^:\n]{0,40}:\s*(?P<items>[^:.\n]{3,500})"
)
"""A list to be sorted, such as `from largest to smallest: 3, 15, 8`."""


def _order_demands(instruction: str) -> Iterator[Demand]:
    """Yield demands to sort a list of words or of whole numbers that the instruction names.

    A list that is to be sorted by size is skipped unless all of its items are whole numbers.
    """
    for match in SORTING_TASK.finditer(instruction):
        items = re.split(r",\s*(?:and\s+)?", match["items"].strip())
        if match["alphabetic"]:
            items.sort(key=str.casefold)
        elif all(item.isdecimal() for item in items):
            items.sort(key=int, reverse=bool(match["descending"]))
        else:
            continue
        list_in_order = r"\W+(?:and\W+)?".join(map(re.escape, items))
        pattern = re.compile(rf"(?<!\w){list_in_order}(?!\w)", re.I)
        yield Demand(f"in the order {', '.join(items)}", pattern.search)
