"""Say whose verdicts an answer speaks of, if its intervals leave out how judges differ."""

from collections.abc import Iterable

from podium.rankers.errors.raters import FIXED_RATERS
from podium.rankers.ranking import Standings
from podium.wording import number_word, plural


def fixed_raters_of(standings: Standings) -> str | None:
    """Return the judges or voters that the intervals are about, such as `these four judges`.

    The result is None if there is one judge, or if the intervals include how judges or voters
    differ.
    """
    raters = standings.diagnostics.get(FIXED_RATERS)
    if raters is None:
        return None
    return raters_text(raters["unit"], raters["number"])


def raters_text(unit: str, number: int) -> str:
    """Write a number of judges or voters, such as `these four judges` or `this voter`.

    Args:
        unit: `judge` or `voter`.
    """
    if number == 1:
        return f"this {unit}"
    return f"these {number_word(number)} {plural(unit, number)}"


def limit_sentence(
    sentence: str, of_slice: str | None, raters: str | None, models: Iterable[str] = ()
) -> str:
    """Begin a sentence with the slice and the judges or voters that it speaks of.

    The sentence goes on in lower case, unless it begins with the name of a model.

    Args:
        sentence: the sentence.
        of_slice: name of the slice; None if it is not to be named.
        raters: the judges or voters, as `raters_text` writes them; None for all.
        models: the models with whose names the sentence may begin.

    >>> limit_sentence("a is clearly ahead of b.", "code", "these two judges")
    'On code, for these two judges: a is clearly ahead of b.'
    >>> limit_sentence("All pairs are too close to call.", "code", None, ["Al", "B"])
    'On code: all pairs are too close to call.'
    """
    if of_slice is None and raters is None:
        return sentence
    rest = after_colon(sentence, models)
    if raters is None:
        return f"On {of_slice}: {rest}"
    if of_slice is None:
        return f"For {raters}: {rest}"
    return f"On {of_slice}, for {raters}: {rest}"


def after_colon(sentence: str, models: Iterable[str]) -> str:
    """Return a sentence as it continues after a colon.

    Its first letter is in lower case, unless the sentence begins with the name of one of the
    models, followed by a space or a comma.
    """
    if any(sentence.startswith((f"{name} ", f"{name}, ")) for name in models):
        return sentence
    return sentence[:1].lower() + sentence[1:]
