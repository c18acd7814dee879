"""The right result of a sum, difference, product or quotient."""

import re
from fractions import Fraction

from podium.offline.constraint import Constraint

SIGNS = {
    "plus": "+",
    "minus": "-",
    "times": "*",
    "multiplied by": "*",
    "divided by": "/",
    "×": "*",
    "÷": "/",
    "−": "-",
}
OPERATOR = r"\s*(?:\+|\*|/|×|÷|\bplus\b|\btimes\b|\bmultiplied by\b|\bdivided by\b|\bminus\b)\s*|\s+[-−]\s+"
NUMBER = r"\d{1,12}(?:\.\d{1,6})?"
SUM = re.compile(rf"(?<![\w./-]){NUMBER}(?:(?:{OPERATOR}){NUMBER}){{1,20}}(?![\w/-])", re.I)
ASKED = re.compile(r"\b(?:what is|what's|compute|calculate|work out|evaluate|add up|result of|how much is)\b", re.I)
FOUND = re.compile(r"(?<![\w.])-?\d[\d,]{0,30}(?:\.\d{1,12})?")


def constraints(instruction: str) -> list[Constraint]:
    """Find the sums that are to be worked out.

    >>> [one.name for one in constraints("What is 12 + 3 * 4?")]
    ['says 24']
    """
    if not ASKED.search(instruction):
        return []
    results = (result(match[0]) for match in SUM.finditer(instruction))
    return [_says(one) for one in results if one is not None]


def _says(wanted: Fraction) -> Constraint:
    return Constraint(f"says {_written(wanted)}", lambda text: any(_equal(one, wanted) for one in FOUND.findall(text)))


def result(text: str) -> Fraction | None:
    """Work out a sum, products and quotients first; None where it divides by zero.

    >>> result("7 minus 2 times 3")
    Fraction(1, 1)
    """
    for name, sign in SIGNS.items():
        text = re.sub(re.escape(name), sign, text, flags=re.I)
    parts = re.findall(rf"{NUMBER}|[-+*/]", text)
    terms, signs = [Fraction(parts[0])], []
    for sign, value in zip(parts[1::2], map(Fraction, parts[2::2]), strict=True):
        if sign == "/" and value == 0:
            return None
        if sign in "*/":
            terms[-1] = terms[-1] * value if sign == "*" else terms[-1] / value
        else:
            terms.append(value)
            signs.append(sign)
    return terms[0] + sum(
        (one if sign == "+" else -one for one, sign in zip(terms[1:], signs, strict=True)), Fraction(0)
    )


def _equal(found: str, wanted: Fraction) -> bool:
    """Compare with what is written, a repeating fraction to two places."""
    value = Fraction(found.replace(",", "").rstrip("."))
    return value == wanted or (wanted.denominator > 1 and abs(value - wanted) <= Fraction(1, 200))


def _written(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"
