"""Say whose verdicts a ranking speaks of, if its intervals leave out how judges differ."""

from podium.rankers.errors.raters import FIXED_RATERS
from podium.rankers.ranking import Standings
from podium.show.answers.rank_templates import THESE_RATERS, number_word
from podium.wording import plural


def fixed_raters_text(standings: Standings) -> str | None:
    """Write the judges or voters that the intervals speak of, as `these four judges`.

    None if there is one judge, or if the intervals include how judges or voters differ.
    """
    raters = standings.diagnostics.get(FIXED_RATERS)
    if raters is None:
        return None
    number = raters["number"]
    return f"these {number_word(number)} {plural(raters['unit'], number)}"


def limit_to_raters(sentence: str, standings: Standings) -> str:
    """Return the first sentence of an answer, limited to the judges or voters that it speaks of."""
    raters = fixed_raters_text(standings)
    return sentence if raters is None else THESE_RATERS.format(raters=raters, answer=sentence)
