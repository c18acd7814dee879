"""Readers written a second time, slowly and without regular expressions or a scanner: what a reply
may be read as."""

import json
from typing import Any

from podium.scorers.rubric import CRITERIA

EDGE = " \t\r*_#`"
DOUBTS = ("sorry", "hasty", "wait", "actually", "instead", "rather")


def direct(text: str, *, tie: bool) -> float | None:
    """Read the first line; no further line may say another letter, and no word may be in doubt."""
    stated = [_letter_of_line(line) for line in text.strip().split("\n")]
    others = {letter for letter in stated if letter}
    if not stated or not stated[0] or len(others) > 1:
        return None
    hasty = any(word.strip(".,:;!") in DOUBTS for word in text.lower().split())
    return None if hasty else _credit(stated[0], tie)


def _letter_of_line(line: str) -> str:
    """Return the letter that a line states in one of the ways that are known; nothing for any other
    line."""
    words = [
        word
        for word in "".join(" " if sign in EDGE + "\"'()[]{}" else sign for sign in line).split()
        if word
    ]
    words = [word.rstrip(".") for word in words if word.rstrip(".")]
    plain = [
        word.lower() for word in words if word.lower() not in ("response", "the", "my", "final")
    ]
    ways = [["?"], ["?", "is", "better"], ["better", "is", "?"], ["better:", "?"]]
    ways += [[f"{name}:", "?"] for name in ("answer", "verdict", "winner", "choice", "decision")]
    for way in ways:
        places = [k for k, word in enumerate(way) if word == "?"]
        if len(plain) == len(way) and all(
            word in ("?", own) for word, own in zip(way, plain, strict=True)
        ):
            letter = plain[places[0]]
            return letter if len(letter) == 1 and letter.isascii() and letter.isalpha() else ""
    return ""


def cot(text: str, *, tie: bool) -> float | None:
    words = [_after_verdict(line) for line in text.split("\n") if line.strip()]
    stated = {word.upper() for word in words if word}
    if len(stated) != 1 or not words[-1]:
        return None
    return _credit(words[-1], tie)


def bracketed(text: str) -> str | None:
    """Return the one word in double brackets, on the last line."""
    lines = [line.strip(EDGE).rstrip(".").strip(EDGE) for line in text.split("\n") if line.strip()]
    words = [
        line[line.rindex("[[") + 2 : -2] for line in lines if line.endswith("]]") and "[[" in line
    ]
    return words[-1].strip() if words and lines[-1].endswith(f"[[{words[-1]}]]") else None


def labels(text: str, *, tie: bool) -> float | None:  # noqa: ARG001
    word = "".join((bracketed(text) or "").upper().split())
    return {"A>>B": 1.0, "A>B": 1.0, "A=B": 0.5, "B>A": 0.0, "B>>A": 0.0}.get(word)


def numeric(text: str, *, tie: bool) -> float | None:  # noqa: ARG001
    word = bracketed(text) or ""
    whole = word.isascii() and word.replace(".", "", 1).isdigit() and word[0] != "." != word[-1]
    return float(word) if whole and float(word) <= 100 else None


def likert(text: str, *, tie: bool) -> float | None:  # noqa: ARG001
    words = ["terrible", "poor", "fair", "good", "excellent"]
    word = (bracketed(text) or "").lower()
    return words.index(word) + 1.0 if word in words else None


def rubric(text: str, *, tie: bool) -> float | None:  # noqa: ARG001
    """Parse every piece that begins and ends with a brace; exactly one of all contents may look
    like an answer."""
    opens, closes = ([k for k, sign in enumerate(text) if sign == brace] for brace in "{}")
    pieces = (_parsed(text[start : end + 1]) for start in opens for end in closes if end > start)
    answers = [piece for piece in pieces if isinstance(piece, dict) and piece.keys() & {"A", "B"}]
    if not answers or any(answer != answers[0] for answer in answers):
        return None
    return _sign(answers[0])


ORACLES = {
    "direct": direct,
    "cot": cot,
    "labels": labels,
    "numeric": numeric,
    "likert": likert,
    "rubric": rubric,
}


def _credit(word: str, tie: bool) -> float | None:
    return {"a": 1.0, "b": 0.0, "c": 0.5 if tie else None}.get(word.lower())


def _after_verdict(line: str) -> str:
    """Return the letter of a line that says nothing but a verdict, else nothing."""
    head, _, tail = line.partition(":")
    if " ".join(head.strip(EDGE).lower().split()) not in ("verdict", "final verdict"):
        return ""
    word = tail.strip(EDGE + "[]()\"'.")
    word = word[8:].strip(EDGE + "[]()\"'.") if word.lower().startswith("response") else word
    return word if len(word) == 1 and word.isascii() and word.isalpha() else ""


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_none)
    except ValueError:
        return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError
    return dict(pairs)


def _none(constant: str) -> None:
    raise ValueError(constant)


def _sign(answer: dict[str, Any]) -> float | None:
    if set(answer) != {"A", "B"} or not all(isinstance(side, dict) for side in answer.values()):
        return None
    if any(set(side) != set(CRITERIA) for side in answer.values()):
        return None
    numbers = [[side[name] for name in CRITERIA] for side in (answer["A"], answer["B"])]
    if any(type(one) not in (int, float) or not 1 <= one <= 10 for side in numbers for one in side):
        return None
    a, b = map(sum, numbers)
    return (a > b) + (a == b) / 2
