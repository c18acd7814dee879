"""Which comparisons to make: the decision tree of Don-Yehiya et al. 2026 (Figure 5, section 6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

FEW = 3
"""Entrants up to which all pairs cost no more than an anchor from outside."""

Design = Literal["baseline", "round_robin", "pairs", "ranking"]


@dataclass(frozen=True, slots=True)
class Step:
    """A question of the tree, and how it was answered."""

    question: str
    answer: str
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """Where the tree leads.

    Attributes:
        design: `baseline` (all against it, nothing said of other pairs), `round_robin`, `pairs` (only those asked
            about) or `ranking` (of everyone: an anchor chosen with care, or a design without one).
        advice: what to do, in a sentence.
        steps: the questions on the way.
    """

    design: Design
    advice: str
    steps: tuple[Step, ...]


def decide(entrants: int, baseline: str | None = None, pairs: Sequence[tuple[str, str]] = ()) -> Decision:
    """Walk down the tree.

    Args:
        entrants: how many compete, 2 or more.
        baseline: the entrant that all others are to be compared with, if there is a natural one.
        pairs: the only comparisons of interest, if not everyone is to be ranked.
    """
    steps = [_baseline(baseline)]
    if baseline is not None:
        advice = f"compare every entrant with {baseline}, and draw no conclusions about other pairs"
        return Decision("baseline", advice, tuple(steps))
    steps.append(_few(entrants))
    if entrants <= FEW:
        return Decision("round_robin", "compare all pairs", tuple(steps))
    steps.append(_of_interest(pairs))
    if pairs:
        shown = ", ".join(f"{a} with {b}" for a, b in pairs)
        return Decision("pairs", f"compare {shown}; report win rates of these pairs, no scores", tuple(steps))
    advice = (
        "for a full ranking, take a middling entrant as the anchor, never the strongest or the weakest, confirm its "
        "informativeness by a pilot and report it; or take a design without an anchor where the tables below allow it"
    )
    return Decision("ranking", advice, tuple(steps))


def _baseline(baseline: str | None) -> Step:
    question = "is there a natural baseline that every entrant is to be compared with?"
    if baseline is None:
        return Step(question, "no", "none was named (--baseline)")
    return Step(question, f"yes, {baseline}", "it is the anchor by the question asked, whatever its strength")


def _few(entrants: int) -> Step:
    question = f"are there at most {FEW} entrants?"
    if entrants <= FEW:
        return Step(question, f"yes, {entrants}", "all pairs cost no more than an anchor from outside would")
    return Step(question, f"no, {entrants}", "the cost of all pairs grows with the square of their number")


def _of_interest(pairs: Sequence[tuple[str, str]]) -> Step:
    question = "are only some pairs of interest, rather than a ranking of all?"
    if pairs:
        return Step(question, f"yes, {len(pairs)}", "a direct comparison wastes nothing on an anchor")
    return Step(question, "no", "none were named (--pair), so all are to be ranked")
