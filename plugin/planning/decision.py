"""Which comparisons to make: the decision tree of Don-Yehiya et al. 2026 (Figure 5, section 6)."""

from collections.abc import Sequence

from podium.planning.plan import Decision, Step

FEW = 3
"""Entrants up to which all pairs cost no more than an anchor from outside."""
BASELINE = "is there a natural baseline that every entrant is to be compared with?"
NUMBER = f"are there at most {FEW} entrants?"
ONLY_PAIRS = "are only some pairs of interest, rather than a ranking of all?"


def decide(entrants: int, baseline: str | None = None, pairs: Sequence[tuple[str, str]] = ()) -> Decision:
    """Walk down the tree, as far as the first question that is answered with yes.

    Args:
        entrants: how many compete, 2 or more.
        baseline: the entrant that all others are to be compared with, if there is a natural one.
        pairs: the only comparisons of interest, if not everyone is to be ranked.
    """
    if baseline is not None:
        step = Step(BASELINE, f"yes, {baseline}", "it is the anchor by the question asked, whatever its strength")
        advice = f"compare every entrant with {baseline}, and draw no conclusions about other pairs"
        return Decision("baseline", advice, (step,))
    steps = [Step(BASELINE, "no", "none was named (--baseline)")]
    if entrants <= FEW:
        step = Step(NUMBER, f"yes, {entrants}", "all pairs cost no more than an anchor from outside would")
        return Decision("round_robin", "compare all pairs", (*steps, step))
    steps.append(Step(NUMBER, f"no, {entrants}", "the cost of all pairs grows with the square of their number"))
    if pairs:
        step = Step(ONLY_PAIRS, f"yes, {len(pairs)}", "a direct comparison wastes nothing on an anchor")
        shown = ", ".join(f"{a} with {b}" for a, b in pairs)
        return Decision("pairs", f"compare {shown}; report win rates of these pairs, no scores", (*steps, step))
    steps.append(Step(ONLY_PAIRS, "no", "none were named (--pair), so all are to be ranked"))
    advice = (
        "for a full ranking, take a middling entrant as the anchor, never the strongest or the weakest, confirm its "
        "informativeness by a pilot and report it; or take a design without an anchor where the tables below allow it"
    )
    return Decision("ranking", advice, tuple(steps))
