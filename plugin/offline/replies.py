"""Scores in the words of every answer format."""

import json
import re
from collections.abc import Mapping

from podium.offline.constraint import Constraint
from podium.offline.manner import Manner
from podium.offline.scoring import Score
from podium.scorers.likert import GRADES
from podium.scorers.rubric import CRITERIA
from podium.scorers.verdict import Reply, Token

FAR = 0.5
"""A lead that is far better, in shares of the demands met."""
CHUNK = re.compile(r"\s*\S+|\s+$")
UNKNOWN = "This rule-based stand-in does not know the answer format of this prompt, and says nothing."


def direct(lead: float, manner: Manner, *, tie: bool) -> tuple[str, Mapping[str, float]]:
    """Return the letter, and the probabilities of all; without ties an equal pair goes to the first shown."""
    chances = manner.chances(lead, tie=tie)
    return winner(lead, manner.tie if tie else 0.0, tie=tie), chances


def winner(lead: float, width: float, *, tie: bool) -> str:
    """Return the letter that a lead means: C within the width where ties may be, else A from nought upwards."""
    if tie and abs(lead) <= width + 1e-9:
        return "C"
    return "A" if lead > -1e-9 else "B"


def cot(lead: float, first: Score, second: Score, manner: Manner, *, tie: bool) -> tuple[str, Mapping[str, float]]:
    """Return reasons with the verdict on the last line, and the probabilities of its letter."""
    letter, chances = direct(lead, manner, tie=tie)
    return f"{reasons(first, second)}\n\nVerdict: {letter}", {f" {name}": chance for name, chance in chances.items()}


def labels(lead: float, first: Score, second: Score, manner: Manner) -> str:
    """Return reasons with the level on the last line."""
    letter = winner(lead, manner.tie, tie=True)
    sign = ">>" if abs(lead) >= FAR - 1e-9 else ">"
    level = {"A": f"A{sign}B", "B": f"B{sign}A", "C": "A=B"}[letter]
    return f"{reasons(first, second)}\n\n[[{level}]]"


def rubric(lead: float, first: Score, second: Score, manner: Manner) -> str:
    """Return six whole scores for both, the lead split between them; rules cannot tell criteria apart."""
    middle = (first.share + second.share) / 2
    half = 0.0 if winner(lead, manner.tie, tie=True) == "C" else lead / 2
    return json.dumps({"A": _six(middle + half), "B": _six(middle - half)})


def _six(share: float) -> dict[str, int]:
    total = round(len(CRITERIA) * (1 + 9 * min(1.0, max(0.0, share))))
    each, rest = divmod(total, len(CRITERIA))
    return {name: each + (place < rest) for place, name in enumerate(CRITERIA)}


def numeric(share: float) -> str:
    """Return a number from 0 to 100."""
    return f"[[{round(100 * min(1.0, max(0.0, share)))}]]"


def likert(share: float) -> str:
    """Return one of the five words."""
    words = sorted(GRADES, key=lambda word: GRADES[word])
    return f"[[{words[min(len(words) - 1, int(max(0.0, share) * len(words)))]}]]"


def yes_or_no(share: float, manner: Manner) -> tuple[str, Mapping[str, float]]:
    """Return the likelier word, and the probabilities of both; half of the demands met are an even chance."""
    chance = manner.logistic(share - 0.5)
    return "yes" if chance >= 0.5 else "no", {"yes": chance, "no": 1 - chance}


def checklist(demands: tuple[Constraint, ...], most: int) -> str:
    """Return the demands as questions."""
    return json.dumps(
        {"questions": [f"Does the response meet this demand: {one.name[:200]}?" for one in demands[:most]]}
    )


def reasons(first: Score, second: Score) -> str:
    """Say what both did."""
    return f"{first.sentence('Response A')}\n{second.sentence('Response B')}"


def reply(text: str, last: Mapping[str, float] | None, *, logprobs: bool) -> Reply:
    """Return a reply; with log-probabilities, its tokens, of which only the last was ever in doubt."""
    if not logprobs:
        return Reply(text)
    chunks = CHUNK.findall(text)
    certain = [Token(chunk, {chunk: 1.0}) for chunk in chunks]
    if last is not None:
        certain[-1] = Token(chunks[-1], {name: chance for name, chance in last.items() if chance > 0})
    return Reply(text, tokens=tuple(certain))
