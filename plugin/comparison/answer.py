"""The answer of a comparison in at most three sentences, and the texts of its figures."""

from collections.abc import Sequence

import numpy as np

from podium.comparison import comparison_templates
from podium.comparison.gate import Gate, GateDecision
from podium.comparison.outcomes import ELO, PairFinding
from podium.numbers import percent
from podium.show.answers.rank_templates import all_of, more_items_sentence
from podium.tables import EMPTY
from podium.wording import item_option, plural, some


def comparison_answer(
    findings: Sequence[PairFinding], gate: Gate | None, level: float, failures: Sequence[str]
) -> tuple[str, ...]:
    """Return the answer in at most three sentences; that of a gate begins with PASS, FAIL or
    UNDECIDED."""
    verdict = [_gate_sentence(gate, level)] if gate else []
    if len(findings) != 1:
        return (*verdict, *([_several_sentence(findings)] if findings else failures[:1]))
    # A gate's bounds are one-sided, so that the p-value beside them is called two-sided.
    return tuple([*verdict, *_pair_sentences(findings[0], "two-sided p" if gate else "p")][:3])


def _pair_sentences(finding: PairFinding, p_name: str) -> list[str]:
    """Write which model is ahead, the wins by item, and how many more items would separate the
    two."""
    if finding.likely_item is not None:
        fields = {"column": finding.likely_item, "option": item_option(finding.likely_item)}
        return [
            comparison_templates.UNIT_UNKNOWN.format(
                candidate=finding.candidate, baseline=finding.baseline, **fields
            )
        ]
    sentences = [
        _lead_sentence(finding, p_name),
        *([_tally_sentence(finding)] if len(finding.results) else []),
    ]
    if finding.is_distinguishable:
        return sentences
    names, number = (finding.candidate, finding.baseline), finding.further_items
    first, second = names if finding.difference.value >= 0 else names[::-1]
    if number is None:
        return [
            *sentences,
            comparison_templates.MORE_ITEMS_UNKNOWN.format(candidate=first, baseline=second),
        ]
    gap = amount_text(abs(finding.difference.value), finding.measure, finding.is_share)
    return [*sentences, more_items_sentence(first, second, number, gap, pairs=finding.tests)]


def _lead_sentence(finding: PairFinding, p_name: str) -> str:
    """Write which model is ahead, by how much, and whether the two are distinguishable."""
    value, (low, high) = finding.difference.value, finding.interval
    if value < 0:
        low, high = -high, -low
    interval = difference_interval_text(finding, low, high)
    amount = f" by {amount_text(abs(value), finding.measure, finding.is_share)}"
    if np.isinf(value):
        # Of a gap without a bound above, only the lower end says how large it is.
        has_least = finding.is_distinguishable and low > 0
        amount = (
            f" by at least {amount_text(low, finding.measure, finding.is_share)}"
            if has_least
            else ""
        )
        interval = "" if has_least or not interval else f"{interval} Elo"
    template = (
        comparison_templates.CLEAR if finding.is_distinguishable else comparison_templates.OPEN
    )
    return (template if value else comparison_templates.LEVEL).format(
        candidate=finding.candidate,
        baseline=finding.baseline,
        side="ahead of" if value > 0 else "behind",
        amount=amount,
        interval=f" ({interval})" if interval else "",
        test=f"{p_name} {p_text(finding.p_adjusted)}, {finding.difference.method}",
    )


def _tally_sentence(finding: PairFinding) -> str:
    won, lost, even = finding.tally
    losses = f"{lost:,} {'loss' if lost == 1 else 'losses'}"
    wins, ties = f"{won:,} {plural('win', won)}", f"{even:,} {plural('tie', even)}"
    identical = (
        comparison_templates.IDENTICAL.format(number=f"{finding.identical:,}")
        if finding.identical
        else ""
    )
    by_weight = finding.tally_by_weight
    weighed = (
        ""
        if by_weight is None
        else comparison_templates.BY_WEIGHT.format(weights=tally_text(by_weight, ", "))
    )
    return comparison_templates.TALLY.format(
        wins=wins, losses=losses, ties=ties, identical=identical, weighed=weighed
    )


def tally_text(tally: Sequence[float], separator: str = "–") -> str:
    """Join the numbers, or weights, of wins, losses and ties."""
    return separator.join(
        f"{number:,.0f}" if number == round(number) else f"{number:,.6g}" for number in tally
    )


def _several_sentence(findings: Sequence[PairFinding]) -> str:
    """Sort several findings into clearly ahead, clearly behind, and too close to call."""
    groups: dict[str, list[str]] = {
        "clearly ahead": [],
        "clearly behind": [],
        "too close to call": [],
    }
    for own in findings:
        side = "clearly ahead" if own.difference.value > 0 else "clearly behind"
        groups[side if own.is_distinguishable else "too close to call"].append(
            finding_label(own, findings)
        )
    parts = [f"{name}: {some(labels, most=6)}" for name, labels in groups.items() if labels]
    baselines = ", ".join(dict.fromkeys(own.baseline for own in findings))
    return comparison_templates.SEVERAL.format(
        baselines=baselines, groups="; ".join(parts), number=len(findings)
    )


def finding_label(finding: PairFinding, among: Sequence[PairFinding]) -> str:
    """Name a finding by its candidate, its question or both, as needed to identify it among
    others."""
    several = len({own.candidate for own in among}) > 1
    candidate = finding.candidate if several or finding.question is None else None
    return " on ".join(filter(None, (candidate, finding.question)))


def _gate_sentence(gate: Gate, level: float) -> str:
    verdict, blocking = (
        gate.verdict,
        [own for own in gate.decisions if not own.requirement.is_advisory],
    )
    if not blocking:
        return comparison_templates.ALL_ADVISORY.format(verdict=verdict)
    if len(blocking) == 1:
        return _bound_sentence(blocking[0], level)
    if verdict == "PASS":
        return comparison_templates.ALL_MET.format(
            requirements=all_of(len(blocking), "requirement"), unseen=_unseen_loss(blocking, level)
        )
    worst = [_requirement_label(own) for own in blocking if own.verdict == verdict]
    outcome = "refuted" if verdict == "FAIL" else "undecided"
    fields = {
        "number": len(worst),
        "all": len(blocking),
        "outcome": outcome,
        "names": some(worst, "; ", most=4),
    }
    return comparison_templates.SOME_BLOCKING.format(verdict=verdict, **fields)


def _requirement_label(decision: GateDecision) -> str:
    finding = decision.finding
    about = decision.requirement.scope if finding is None else finding.question or finding.candidate
    return f"{decision.requirement.text}{f' on {about}' if about else ''}"


def _bound_sentence(decision: GateDecision, level: float) -> str:
    """Write the verdict of one requirement with the bound behind it and the threshold."""
    verdict, finding = decision.verdict, decision.finding
    if finding is None:
        return comparison_templates.NOT_COMPARED.format(
            verdict=verdict, requirement=_requirement_label(decision)
        )
    return comparison_templates.BOUND.format(
        verdict=verdict,
        candidate=finding.candidate,
        baseline=finding.baseline,
        side="most" if verdict == "FAIL" else "least",
        bound=bound_text(decision, "high" if verdict == "FAIL" else "low"),
        level=percent(level),
        threshold=bound_text(decision, "threshold"),
        unseen=_unseen_loss([decision], level) if verdict == "PASS" else "",
    )


def _unseen_loss(decisions: Sequence[GateDecision], level: float) -> str:
    """Write how rare a loss could be without being in the sample that passed; empty if rare losses
    do not matter."""
    differences = [
        own.finding.differences[own.measure] for own in decisions if own.finding and own.measure
    ]
    rarest = [number for own in differences if (number := own.rarest_seen(level))]
    return comparison_templates.UNSEEN_LOSS.format(rarest=min(rarest)) if rarest else ""


def bound_text(decision: GateDecision, name: str) -> str:
    """Format `low`, `high` or `threshold` of a decision with its unit; a dash if nothing was
    compared."""
    finding, value = decision.finding, getattr(decision, name)
    if finding is None or decision.measure is None:
        return EMPTY
    infinite = "-∞" if name == "low" else "∞"
    return infinite if value is None else amount_text(value, decision.measure, finding.is_share)


def amount_text(value: float, measure: str, is_share: bool) -> str:
    """Format a difference with the unit of its measure: Elo, points (hundredths of a share), or
    units."""
    if not np.isfinite(value):
        return "unbounded"
    if measure == ELO:
        return f"{round(value) + 0} Elo"
    return f"{100 * value + 0:.1f} points" if is_share else f"{value + 0:.3g} units"


def difference_interval_text(finding: PairFinding, low: float, high: float) -> str:
    """Format an interval in the unit of the difference; empty if neither end is known."""
    if np.isinf(low) and np.isinf(high):
        return ""
    numbers = [
        amount_text(end, finding.measure, finding.is_share).rpartition(" ")[0]
        for end in (low, high)
    ]
    ends = {-np.inf: "-∞", np.inf: "∞"}
    return " … ".join(
        ends.get(e, text.replace("-0.0", "0.0"))
        for e, text in zip((low, high), numbers, strict=True)
    )


def p_text(p: float) -> str:
    """Format a p-value with its relation sign, as `= .065`."""
    return "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".", 1) if p < 1 else "= 1"
