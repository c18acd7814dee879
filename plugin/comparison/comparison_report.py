"""A comparison as a report: the verdict, the differences, what was required, slices, and the items that changed."""

from collections.abc import Sequence

import numpy as np

from podium.comparison.compare import Comparison
from podium.comparison.gate import Gate, GateDecision
from podium.comparison.outcomes import ELO, PairFinding
from podium.printable import printable
from podium.report.model import EMPTY, Report, ReportLayout, Section, Table
from podium.report.numbers import further_sentence, percent
from podium.report.terminal import terminal_text
from podium.text import plural, some

SHOWN = 10
"""Items that are named for either of the two."""
FEW_SHOWN = 3
"""The same where several comparisons are shown."""
WAYS = {"PASS": "met", "FAIL": "refuted", "UNDECIDED": "undecided"}


def comparison_text(comparison: Comparison) -> str:
    """Return the report as lines."""
    notes = (*comparison.warnings, *comparison.failures)
    return terminal_text(comparison_reports(comparison)) + "".join(f"podium: {printable(note)}\n" for note in notes)


def comparison_reports(comparison: Comparison) -> tuple[Report, ...]:
    """Return the report of a comparison; a gate's verdict comes first."""
    findings = comparison.findings
    sections = []
    if comparison.gate:
        sections.append(_gate_section(comparison.gate, comparison.level))
    for finding in findings:
        about = f": {_label(finding, findings)}" if len(findings) > 1 or finding.question else ""
        sections += [_slices(finding, about)] if finding.slices else []
        changed = any(own.difference for own in finding.results)
        sections += [_items(finding, about, SHOWN if len(findings) == 1 else FEW_SHOWN)] if changed else []
    pairs = dict.fromkeys(f"{own.candidate} against {own.baseline}" for own in findings)
    title = some(list(pairs), most=3) if pairs else "nothing compared"
    return (
        Report(
            title=f"compare · {title}",
            answer=tuple(answer_of(comparison)),
            table=_table(findings, "question" if any(own.question for own in findings) else "") if findings else None,
            notes=tuple(_denominators(comparison)),
            sections=tuple(sections),
            form=ReportLayout.SHEET,
        ),
    )


def answer_of(comparison: Comparison) -> list[str]:
    """Return the answer in at most three sentences; that of a gate begins with PASS, FAIL or UNDECIDED."""
    findings, gate = comparison.findings, comparison.gate
    verdict = [_gate_sentence(gate, comparison.level)] if gate else []
    if not findings:
        return [*verdict, *comparison.failures[:1]]
    said = _of_one(findings[0], "two-sided p" if gate else "p") if len(findings) == 1 else _of_several(findings)
    return [*verdict, *said][:3]


def _of_one(finding: PairFinding, p_name: str) -> list[str]:
    won, lost, even = finding.tally
    sentences = [lead_sentence(finding, p_name)]
    if finding.results:
        alike = f"; on {finding.identical:,} of those both answers are the same" if finding.identical else ""
        are = "is" if even == 1 else "are"
        sentences.append(f"It wins {won:,} {plural('item', won)}, loses {lost:,}, {even:,} {are} even{alike}.")
    if not finding.is_told:
        amount = amount_text(finding, abs(finding.difference.value))
        are = "are" if finding.measure == ELO or finding.is_share else "is"
        number, unknown = finding.further_items, "How many more items would tell is not known."
        sentences.append(unknown if number is None else further_sentence(f"the {amount} {are}", number, "settle", "it"))
    return sentences


def lead_sentence(finding: PairFinding, p_name: str = "p") -> str:
    """Say who is ahead, by how much, and whether that is known.

    Args:
        p_name: what p is called; beside a gate's one-sided bounds it is said to be two-sided.
    """
    value, (low, high) = finding.difference.value, finding.interval
    names = finding.candidate, finding.baseline
    why = f"{p_name} {_p_text(finding.p_adjusted)}, {finding.difference.method}"
    if value < 0:
        low, high = -high, -low
    ends = interval_of(finding, low, high)
    if value == 0:
        return f"{names[0]} and {names[1]} are level{ends}: not told apart ({why})."
    amount = "" if np.isinf(value) else f" by {amount_text(finding, abs(value))}"
    if finding.is_told:
        return f"{names[0]} is {'better' if value > 0 else 'worse'} than {names[1]}{amount}{ends}: {why}."
    ahead = "ahead of" if value > 0 else "behind"
    return f"{names[0]} is {ahead} {names[1]}{amount}{ends}: not told apart ({why})."


def _of_several(findings: Sequence[PairFinding]) -> list[str]:
    groups = (
        ("better", [own for own in findings if own.is_told and own.difference.value > 0]),
        ("worse", [own for own in findings if own.is_told and own.difference.value < 0]),
        ("not told apart", [own for own in findings if not own.is_told]),
    )
    parts = [f"{words}: {some([_label(own, findings) for own in group], most=6)}" for words, group in groups if group]
    baselines = dict.fromkeys(own.baseline for own in findings)
    return [f"Against {', '.join(baselines)}, {'; '.join(parts)} ({len(findings)} tests, Holm)."]


def _label(finding: PairFinding, among: Sequence[PairFinding]) -> str:
    several = len({own.candidate for own in among}) > 1
    parts = [finding.candidate] if several or finding.question is None else []
    return " on ".join([*parts, *([finding.question] if finding.question else [])])


def _gate_sentence(gate: Gate, level: float) -> str:
    blocking = [own for own in gate.decisions if not own.requirement.is_advisory]
    worst = [own for own in blocking if own.verdict == gate.verdict]
    if not blocking:
        return f"{gate.verdict}: all {len(gate.decisions)} requirements are advisory."
    if len(blocking) == 1:
        return f"{gate.verdict}: {_decision_words(blocking[0], level)}."
    if gate.verdict == "PASS":
        return f"PASS: all {len(blocking)} requirements are met."
    names = some([_decision_name(own) for own in worst], "; ", most=4)
    return f"{gate.verdict}: {len(worst)} of {len(blocking)} requirements {WAYS[gate.verdict]}: {names}."


def _decision_name(decision: GateDecision) -> str:
    finding = decision.finding
    about = decision.requirement.scope if finding is None else finding.question or finding.candidate
    return f"{decision.requirement.text}{f' on {about}' if about else ''}"


def _decision_words(decision: GateDecision, level: float) -> str:
    """Say of one requirement what the bounds are, and what they would have to be."""
    finding, name = decision.finding, _decision_name(decision)
    if finding is None or decision.threshold is None:
        return f"{name} cannot be decided: nothing was compared"
    side = decision.high if decision.verdict == "FAIL" else decision.low
    at = f"{'at most' if decision.verdict == 'FAIL' else 'at least'} {_bound_text(decision, side)}"
    need = f"more than {_bound_text(decision, decision.threshold)} is required"
    return f"{finding.candidate} against {finding.baseline} is {at} ({percent(level)}, one-sided); {need}"


def _bound_text(decision: GateDecision, value: float | None) -> str:
    finding = decision.finding
    if value is None or finding is None:
        return "anything"
    return _amount(value, decision.measure or finding.measure, finding.is_share)


def _gate_section(gate: Gate, level: float) -> Section:
    header = ("verdict", "requirement", "about", "estimate", "at least", "at most", "needed")
    rows = []
    for own in gate.decisions:
        finding = own.finding
        known = finding is not None and own.measure is not None
        estimate = finding.differences[own.measure].value if finding and own.measure else None
        figures = (estimate, own.low, own.high, own.threshold)
        cells = tuple(_bound_text(own, value) if known else EMPTY for value in figures)
        about = own.requirement.scope if finding is None else _label(finding, ())
        about = about or (finding.candidate if finding else "")
        verdict = own.verdict.lower() + (" (advisory)" if own.requirement.is_advisory else "")
        rows.append((verdict, own.requirement.text, about, *cells[:3], f"> {cells[3]}" if known else EMPTY))
    notes = (
        f"at least: one-sided {percent(level)} bound; it must exceed what is needed. at most: simultaneous over all "
        "requirements (Holm); below what is needed, the requirement fails. Neither: undecided",
    )
    return Section("gate", "required", tables=(Table("", header, tuple(rows), "lllrrrr"),), notes=notes)


def _slices(finding: PairFinding, about: str) -> Section:
    number = len(finding.slices)
    notes = (f"p by Holm's rule over {number:,} {plural('slice', number)}; intervals simultaneous",)
    return Section("slices", f"by slice{about}", tables=(_table(finding.slices, "slice"),), notes=notes)


def _table(findings: Sequence[PairFinding], about: str) -> Table:
    level = percent(findings[0].level)
    interval = f"{level} interval" if findings[0].tests == 1 else f"{level}, simultaneous"
    scored = any(own.scores for own in findings)
    header = ["candidate", *([about] if about else []), "difference", interval, "p", "items", "won–lost–even"]
    header += ["scores"] if scored else ["win rate"]
    rows = []
    for own in findings:
        won, lost, even = own.tally
        low, high = own.interval
        name = own.slice if about == "slice" else own.question
        row = [own.candidate, *([name or ""] if about else []), amount_text(own, own.difference.value)]
        row += [interval_of(own, low, high).strip(" ()"), _p_text(own.p_adjusted).removeprefix("= ")]
        row += [f"{own.difference.items:,}", f"{won}–{lost}–{even}"]
        last = EMPTY if own.scores is None else " / ".join(f"{score:.3g}" for score in own.scores)
        if not scored:
            met = own.differences.get("win-rate")
            ends = [] if met is None else [0.5 + value for value in (met.value, *met.interval(own.level))]
            last = "{:.1%} ({:.1%} … {:.1%})".format(*ends) if ends else "never met"
        rows.append((*row, last))
    align = "l" + ("l" if about else "") + "r" * (len(header) - (2 if about else 1))
    return Table("", tuple(header), tuple(rows), align)


def _items(finding: PairFinding, about: str, most: int) -> Section:
    """Name the items on which the two differ most, either way."""
    scored = any(own.candidate is not None for own in finding.results)
    header = ("won by", "item", *((finding.candidate, finding.baseline) if scored else ("credit",)))
    rows: list[tuple[str, ...]] = []
    counts = []
    for winner, sign in ((finding.candidate, 1), (finding.baseline, -1)):
        group = [own for own in finding.results if sign * own.difference > 0]
        for own in group[:most]:
            figures = (own.candidate, own.baseline) if scored else (0.5 + own.difference,)
            rows.append((winner, own.item, *(f"{figure:.3g}" for figure in figures)))
        counts.append(f"{winner} {min(most, len(group)):,} of {len(group):,}")
    shown = f"those that differ most: {', '.join(counts)}; all of them: --format json"
    table = Table("", header, tuple(rows), "ll" + "r" * (len(header) - 2), name=1)
    return Section("items", f"items that changed{about}", tables=(table,), notes=(shown,))


def _denominators(comparison: Comparison) -> list[str]:
    lines = []
    for own in comparison.findings:
        name = f"{_label(own, comparison.findings)}: " if len(comparison.findings) > 1 else ""
        same = "" if own.identical is None else f", {own.identical:,} identical"
        unparsed = f", {own.unparsed:,} unparsed" if own.unparsed else ""
        items = f"{len(own.results):,} {plural('item', len(own.results))} with both{same}{unparsed}"
        lines.append(f"{name}{items} · {own.difference.method}")
    if any(own.identical is None for own in comparison.findings):
        why = comparison.unknown_answers or "some are not there"
        lines.append(f"whether answers are the same is not known: {why}")
    return lines


def amount_text(finding: PairFinding, value: float) -> str:
    """Write a difference with its unit."""
    return _amount(value, finding.measure, finding.is_share)


def _amount(value: float, measure: str, is_share: bool) -> str:
    if not np.isfinite(value):
        return "unbounded"
    if measure == ELO:
        return f"{round(value) + 0} Elo"
    return f"{100 * value + 0:.1f} points" if is_share else f"{value + 0:.3g} units"


def interval_of(finding: PairFinding, low: float, high: float) -> str:
    """Write an interval in brackets, in the unit of the difference; nothing where no end is known."""
    if np.isinf(low) and np.isinf(high):
        return ""
    return f" ({_end(finding, low)} … {_end(finding, high)})"


def _end(finding: PairFinding, value: float) -> str:
    if np.isinf(value):
        return "∞" if value > 0 else "-∞"
    return amount_text(finding, value).rpartition(" ")[0].replace("-0.0", "0.0")


def _p_text(p: float) -> str:
    return "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".", 1) if p < 1 else "= 1"
