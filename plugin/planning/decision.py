"""Which comparisons to make: the decision tree of Don-Yehiya et al. 2026 (Figure 5, section 6)."""

from collections.abc import Sequence

from podium.planning.plan import Decision, Step

FEW = 3
"""Entrants up to which all pairs cost no more than an anchor from outside."""


def decide(entrants: int, baseline: str | None = None, pairs: Sequence[tuple[str, str]] = ()) -> Decision:
    """Walk down the tree, as far as the first question that is answered with yes.

    Args:
        entrants: how many compete, 2 or more.
        baseline: the entrant that all others are to be compared with, if there is a natural one.
        pairs: the only comparisons of interest, if not everyone is to be ranked.
    """
    steps = (_baseline_step(baseline), _number_step(entrants), _pairs_step(pairs))
    if baseline is not None:
        advice = f"compare every entrant with {baseline}, and draw no conclusions about other pairs"
        return Decision("baseline", advice, steps[:1])
    if entrants <= FEW:
        return Decision("round_robin", "compare all pairs", steps[:2])
    if pairs:
        shown = ", ".join(f"{a} with {b}" for a, b in pairs)
        return Decision("pairs", f"compare {shown}; report win rates of these pairs, no scores", steps)
    advice = (
        "for a full ranking, take a middling entrant as the anchor, never the strongest or the weakest, confirm its "
        "informativeness by a pilot and report it; or take a design without an anchor where the tables below allow it"
    )
    return Decision("ranking", advice, steps)


def _baseline_step(baseline: str | None) -> Step:
    question = "is there a natural baseline that every entrant is to be compared with?"
    if baseline is None:
        return Step(question, "no", "none was named (--baseline)")
    return Step(question, f"yes, {baseline}", "it is the anchor by the question asked, whatever its strength")


def _number_step(entrants: int) -> Step:
    question = f"are there at most {FEW} entrants?"
    if entrants <= FEW:
        return Step(question, f"yes, {entrants}", "all pairs cost no more than an anchor from outside would")
    return Step(question, f"no, {entrants}", "the cost of all pairs grows with the square of their number")


def _pairs_step(pairs: Sequence[tuple[str, str]]) -> Step:
    question = "are only some pairs of interest, rather than a ranking of all?"
    if pairs:
        return Step(question, f"yes, {len(pairs)}", "a direct comparison wastes nothing on an anchor")
    return Step(question, "no", "none were named (--pair), so all are to be ranked")
