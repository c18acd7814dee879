"""A comparison as a report.

It has the answer, the differences, the requirements, slices, and the items that changed.
"""

from collections.abc import Iterator, Sequence

from podium.comparison import comparison_templates
from podium.comparison.answer import (
    amount_text,
    bound_text,
    difference_interval_text,
    finding_label,
    p_text,
    tally_text,
)
from podium.comparison.comparison import Comparison
from podium.comparison.gate import Gate
from podium.comparison.outcomes import PairFinding
from podium.documents import View, register_view
from podium.notices.notice_text import notice_texts
from podium.numbers import percent
from podium.printable import printable
from podium.show.report.terminal import terminal_text
from podium.tables import EMPTY, Report, Section, Table
from podium.wording import plural, some

MOST_ITEMS = 10
FEW_ITEMS = 3
"""Items shown for each of the two models, for one comparison and for several."""


def comparison_text(comparison: Comparison) -> str:
    """Render a comparison as text, with warnings and failures."""
    notes = (*notice_texts(comparison.warnings), *comparison.failures)
    lines = [f"podium: {printable(note)}\n" for note in notes]
    return terminal_text(comparison_reports(comparison)) + "".join(lines)


def comparison_reports(comparison: Comparison) -> tuple[Report, ...]:
    """Build the report of a comparison; a gate's verdict comes first."""
    findings = comparison.findings
    sections = []
    if comparison.gate:
        sections.append(_gate_section(comparison.gate, comparison.level))
    for finding in findings:
        sections += _sections_of_finding(finding, findings)
    pairs = dict.fromkeys(f"{finding.candidate} against {finding.baseline}" for finding in findings)
    subject = some(list(pairs), most=3) if pairs else "nothing compared"
    first_column = "question" if any(finding.question for finding in findings) else ""
    report = Report(
        title=f"compare · {subject}",
        answer=comparison.answer,
        table=_findings_table(findings, first_column) if findings else None,
        notes=tuple(_format_finding_counts(comparison)),
        sections=tuple(sections),
    )
    return (report,)


def _sections_of_finding(
    finding: PairFinding, findings: Sequence[PairFinding]
) -> Iterator[Section]:
    """Yield the sections with the slices and with the items of a finding.

    Their titles name the finding if there are several, or if it has a question of its own.
    """
    is_named = len(findings) > 1 or finding.question
    suffix = f": {finding_label(finding, findings)}" if is_named else ""
    if finding.slices:
        table = _findings_table(finding.slices, "slice")
        slices = f"{len(finding.slices):,} {plural('slice', len(finding.slices))}"
        note = comparison_templates.SLICES_NOTE.format(slices=slices)
        yield Section("slices", f"by slice{suffix}", (), (table,), (note,))
    if finding.results["difference"].any():
        most = MOST_ITEMS if len(findings) == 1 else FEW_ITEMS
        yield _items_section(finding, suffix, most)


def _gate_section(gate: Gate, level: float) -> Section:
    header = ("verdict", "requirement", "about", "estimate", "at least", "at most", "needed")
    rows = []
    for own in gate.decisions:
        finding, requirement = own.finding, own.requirement
        about = requirement.scope if finding is None else finding_label(finding, ())
        verdict = own.verdict.lower() + (" (advisory)" if requirement.is_advisory else "")
        estimate = EMPTY
        if finding and own.measure:
            estimate = amount_text(
                finding.differences[own.measure].value, own.measure, finding.is_share
            )
        low, high, threshold = (bound_text(own, name) for name in ("low", "high", "threshold"))
        needed = threshold if threshold == EMPTY else f"> {threshold}"
        rows.append((verdict, requirement.text, about, estimate, low, high, needed))
    note = comparison_templates.GATE_NOTE.format(level=percent(level))
    return Section(
        "gate", "required", tables=(Table("", header, tuple(rows), "lllrrrr"),), notes=(note,)
    )


def _findings_table(findings: Sequence[PairFinding], about: str) -> Table:
    """Build a table with a row per finding; `about` is the second column, `question` or `slice`, or
    empty."""
    level = percent(findings[0].level)
    is_scored = any(own.scores for own in findings)
    is_weighted = any(own.tally_by_weight for own in findings)
    columns = {
        "candidate": [own.candidate for own in findings],
        **({about: [getattr(own, about) or "" for own in findings]} if about else {}),
        "difference": [
            amount_text(own.difference.value, own.measure, own.is_share) for own in findings
        ],
        f"{level} interval" if findings[0].tests == 1 else f"{level}, simultaneous": [
            difference_interval_text(own, *own.interval) for own in findings
        ],
        "p": [p_text(own.p_adjusted).removeprefix("= ") for own in findings],
        "items": [f"{own.difference.items:,}" for own in findings],
        "won–lost–even, by weight" if is_weighted else "won–lost–even": [
            tally_text(own.tally_by_weight or own.tally) for own in findings
        ],
        "scores" if is_scored else "win rate": [_level_text(own, is_scored) for own in findings],
    }
    align = "ll" if about else "l"
    rows = tuple(zip(*columns.values(), strict=True))
    return Table("", tuple(columns), rows, align + "r" * (len(columns) - len(align)))


def _level_text(finding: PairFinding, is_scored: bool) -> str:
    """Format the mean scores of both models (a dash for verdicts), or the candidate's win rate with
    its interval."""
    if is_scored:
        return (
            EMPTY
            if finding.scores is None
            else " / ".join(f"{score:.3g}" for score in finding.scores)
        )
    if (met := finding.differences.get("win-rate")) is None:
        return "never met"
    return "{:.1%} ({:.1%} … {:.1%})".format(
        *(0.5 + value for value in (met.value, *met.interval(finding.level)))
    )


def _items_section(finding: PairFinding, about: str, most: int) -> Section:
    """Build the section of the items with the largest differences, for either model."""
    results = finding.results.assign(credit=0.5 + finding.results["difference"])
    columns = (
        {"candidate": finding.candidate, "baseline": finding.baseline}
        if finding.scores
        else {"credit": "credit"}
    )
    rows, counts = list[tuple[str, ...]](), []
    for winner, sign in ((finding.candidate, 1), (finding.baseline, -1)):
        won = results[sign * results["difference"] > 0]
        for item, *figures in won.head(most)[["item", *columns]].itertuples(index=False):
            rows.append((winner, item, *(f"{figure:.3g}" for figure in figures)))
        counts.append(f"{winner} {min(most, len(won)):,} of {len(won):,}")
    table = Table("", ("won by", "item", *columns.values()), tuple(rows), "ll" + "r" * len(columns))
    note = comparison_templates.ITEMS_NOTE.format(shown=", ".join(counts))
    return Section("items", f"items that changed{about}", tables=(table,), notes=(note,))


def _format_finding_counts(comparison: Comparison) -> list[str]:
    """Write the denominators of each finding: items, identical answers, unparsed and missing
    battles, and the test."""
    lines = []
    for own in comparison.findings:
        name = (
            f"{finding_label(own, comparison.findings)}: " if len(comparison.findings) > 1 else ""
        )
        same = "" if own.identical is None else f", {own.identical:,} identical"
        unparsed = f", {own.unparsed:,} unparsed" if own.unparsed else ""
        missing = f", {own.missing:,} missing" if own.missing else ""
        items = (
            f"{len(own.results):,} {plural('item', len(own.results))} with "
            f"both{same}{unparsed}{missing}"
        )
        lines.append(f"{name}{items} · {own.difference.method}")
    if any(own.identical is None for own in comparison.findings):
        reason = comparison.unknown_answers or "some answers are missing"
        lines.append(comparison_templates.UNKNOWN_ANSWERS.format(reason=reason))
    return lines


register_view(Comparison, View(comparison_reports, comparison_text))
