"""A comparison as a report: answer, differences, requirements, slices, and items that changed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from podium.comparison import comparison_templates
from podium.comparison.answer import (
    amount_text,
    bound_text,
    difference_interval_text,
    finding_label,
    p_text,
    raters_of_findings,
    tally_text,
)
from podium.comparison.compared_pair import ELO
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
"""Largest number of items shown as won by each of the two models of a single comparison."""
MOST_ITEMS_OF_SEVERAL = 3
"""Largest number of items shown as won by each model if there are several comparisons."""


def comparison_text(comparison: Comparison) -> str:
    """Render a comparison as text: the report, then a line for each warning and failure."""
    notes = (*notice_texts(comparison.warnings), *comparison.failures)
    lines = [f"podium: {printable(note)}\n" for note in notes]
    return terminal_text(comparison_reports(comparison)) + "".join(lines)


def comparison_documents(comparison: Comparison) -> tuple[Report, ...]:
    """Build the report of a comparison for readers who do not see messages on stderr.

    It is `comparison_reports` with a last section of warnings, notes and failures, if there are
    any.
    """
    texts = notice_texts(comparison.warnings)
    pairs = zip(comparison.warnings, texts, strict=True)
    notices = [f"{notice.severity}: {text}" for notice, text in pairs]
    failures = [f"not compared: {failure}" for failure in comparison.failures]
    lines = (*notices, *failures)
    reports = comparison_reports(comparison)
    if not lines:
        return reports
    section = Section(name="warnings", title="warnings and notes", warnings=lines)
    return tuple(replace(each, sections=(*each.sections, section)) for each in reports)


def comparison_reports(comparison: Comparison) -> tuple[Report, ...]:
    """Build the report of a comparison without its warnings: a tuple with one report.

    The report has the answer, a table with a row per finding, the sections of gate, slices and
    items, and notes on the numbers of items. If nothing was compared, there is no table.
    """
    findings = comparison.findings
    sections = []
    if comparison.gate:
        sections.append(_gate_section(comparison.gate, comparison.level))
    for finding in findings:
        sections += _sections_of_finding(finding, findings)
    pair_names = list(
        dict.fromkeys(f"{each.candidate} against {each.baseline}" for each in findings)
    )
    subject = some(pair_names, most=3) if pair_names else "nothing compared"
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
    """Yield the section with the slices of a finding, and the section with its items.

    The section with slices is left out if there are none, and the section with items if no item has
    a difference. The titles name the finding if there are several findings, or if it has a
    question.

    Args:
        finding: the finding.
        findings: all findings of the report.
    """
    is_named = len(findings) > 1 or finding.question
    suffix = f": {finding_label(finding, findings)}" if is_named else ""
    if finding.slices:
        table = _findings_table(finding.slices, "slice")
        slices = f"{len(finding.slices):,} {plural('slice', len(finding.slices))}"
        note = comparison_templates.SLICES_NOTE.format(slices=slices)
        notes = (note, *_doubts_about_slices(finding))
        yield Section(name="slices", title=f"by slice{suffix}", tables=(table,), notes=notes)
    if finding.results.difference.any():
        most = MOST_ITEMS if len(findings) == 1 else MOST_ITEMS_OF_SEVERAL
        yield _items_section(finding, suffix, most)


def _doubts_about_slices(finding: PairFinding) -> Iterator[str]:
    """Yield clauses on the doubts about single slices, in the order of the slices.

    A slice with a `doubt` has one clause, which says why nothing can be claimed. Any other slice
    has the clauses of its `judge_doubt` and its `loss_check`, if there are such checks. Doubts
    about the whole finding stand in the answer, and are left out.
    """
    texts_already_shown = [finding.doubt, finding.judge_doubt, finding.loss_check]
    for finding_of_slice in finding.slices:
        if finding_of_slice.doubt is not None and finding_of_slice.doubt not in texts_already_shown:
            yield comparison_templates.NOTHING_IN_SLICE.format(
                slice=finding_of_slice.slice, reason=finding_of_slice.doubt.clause
            )
        for check in (finding_of_slice.judge_doubt, finding_of_slice.loss_check):
            if (
                finding_of_slice.doubt is None
                and check is not None
                and check not in texts_already_shown
            ):
                yield check.clause


def _gate_section(gate: Gate, level: float) -> Section:
    """Build the section with a row per decision about a requirement.

    Each row has the verdict, the estimate with its bounds, and the threshold. If nothing was
    compared, there are dashes instead of figures.
    """
    header = ("verdict", "requirement", "about", "estimate", "at least", "at most", "needed")
    rows = []
    for decision in gate.decisions:
        finding = decision.finding
        requirement = decision.requirement
        about = requirement.scope if finding is None else finding_label(finding, ())
        verdict = decision.verdict.lower()
        if requirement.is_advisory:
            verdict += " (advisory)"
        estimate = EMPTY
        if finding and decision.measure:
            estimate = amount_text(
                finding.differences[decision.measure].value, decision.measure, finding.is_share
            )
        low = bound_text(decision, "low")
        high = bound_text(decision, "high")
        threshold = bound_text(decision, "threshold")
        needed = threshold if threshold == EMPTY else f"> {threshold}"
        rows.append((verdict, requirement.text, about, estimate, low, high, needed))
    table = Table(title="", header=header, rows=tuple(rows), align="lllrrrr")
    note = comparison_templates.GATE_NOTE.format(level=percent(level))
    return Section(name="gate", title="required", tables=(table,), notes=(note,))


def _findings_table(findings: Sequence[PairFinding], subject: str) -> Table:
    """Build a table with a row per finding: difference, interval, p-value, items, wins, and level.

    The last column is the mean scores if any finding has scores, else the candidate's win rate.

    Args:
        findings: the findings, at least one.
        subject: name of the second column, `question` or `slice`; empty for none.
    """
    level = percent(findings[0].level)
    interval = f"{level} interval" if findings[0].tests == 1 else f"{level}, simultaneous"
    is_weighted = any(finding.tally_by_weight for finding in findings)
    tally = "won–lost–even, by weight" if is_weighted else "won–lost–even"
    is_scored = any(finding.scores for finding in findings)
    header = ["candidate"]
    if subject:
        header.append(subject)
    align = "l" * len(header)
    units = plural(findings[0].unit, 2)
    header += ["difference", interval, "p", units, tally, "scores" if is_scored else "win rate"]
    rows = []
    for finding in findings:
        names = [finding.candidate]
        if subject:
            names.append(getattr(finding, subject) or "")
        figures = (
            amount_text(finding.difference.value, finding.measure, finding.is_share),
            difference_interval_text(finding, *finding.interval),
            p_text(finding.p_adjusted).removeprefix("= "),
            f"{finding.difference.items:,}",
            tally_text(finding.tally_by_weight or finding.tally),
            _scores_or_win_rate_text(finding, is_scored),
        )
        rows.append((*names, *figures))
    return Table(
        title="", header=tuple(header), rows=tuple(rows), align=align.ljust(len(header), "r")
    )


def _scores_or_win_rate_text(finding: PairFinding, is_scored: bool) -> str:
    """Format the mean scores of both models, or the candidate's win rate with its interval.

    Args:
        finding: the finding.
        is_scored: whether the column holds scores. A finding about verdicts is then a dash.

    Returns:
        The text; `never met` in a column of win rates if the two have no battle between them.
    """
    if is_scored:
        if finding.scores is None:
            return EMPTY
        return " / ".join(f"{score:.3g}" for score in finding.scores)
    win_rate = finding.differences.get("win-rate")
    if win_rate is None:
        return "never met"
    low, high = win_rate.interval(finding.level)
    return f"{0.5 + win_rate.value:.1%} ({0.5 + low:.1%} … {0.5 + high:.1%})"


def _items_section(finding: PairFinding, title_end: str, most: int) -> Section:
    """Build the section of the items with the largest differences.

    The items that the candidate wins come first, then those that the baseline wins. A row has the
    scores of both models, or the credit of the candidate. The results of the finding must have the
    largest differences first.

    Args:
        finding: what was compared.
        title_end: end of the title.
        most: largest number of items won by each model.
    """
    results = finding.results
    columns = {"credit": 0.5 + results.difference}
    if results.candidate is not None and results.baseline is not None:
        columns = {finding.candidate: results.candidate, finding.baseline: results.baseline}
    rows: list[tuple[str, ...]] = []
    counts = []
    for winner, sign in ((finding.candidate, 1), (finding.baseline, -1)):
        items_won = np.flatnonzero(sign * results.difference > 0)
        for k in items_won[:most].tolist():
            figures = (f"{figure[k]:.3g}" for figure in columns.values())
            rows.append((winner, results.item[k], *figures))
        counts.append(f"{winner} {min(most, len(items_won)):,} of {len(items_won):,}")
    header = ("won by", "item", *columns)
    table = Table(title="", header=header, rows=tuple(rows), align="ll" + "r" * len(columns))
    note = comparison_templates.ITEMS_NOTE.format(shown=", ".join(counts))
    return Section(
        name="items", title=f"items that changed{title_end}", tables=(table,), notes=(note,)
    )


def _format_finding_counts(comparison: Comparison) -> list[str]:
    """Write a line per finding: the numbers of its items and lost battles, and its test.

    An Elo difference also counts items on which only one of the two has a battle. The line then
    says on how many items the model that has fewer was judged. A line below has the p-value of a
    pair that was chosen from several after looking at their ranking. If identical answers are not
    counted for some finding, a last line says why.
    """
    findings = comparison.findings
    lines = []
    for finding in findings:
        name = f"{finding_label(finding, findings)}: " if len(findings) > 1 else ""
        items = f"{finding.size} with both"
        units = finding.difference.items
        if finding.measure == ELO and units != finding.units_with_both:
            fewer = f"{units:,} {plural(finding.unit, units)}"
            items = f"{fewer} of the model with fewer {plural(finding.unit, 2)}, {items}"
        if finding.identical is not None:
            items += f", {finding.identical:,} identical"
        if finding.unparsed:
            items += f", {finding.unparsed:,} unparsed"
        if finding.missing:
            items += f", {finding.missing:,} missing"
        raters = raters_of_findings([finding])
        whose = f", for {raters}" if raters else ""
        lines.append(f"{name}{items} · {finding.difference.method}{whose}")
        if finding.p_if_chosen is not None:
            p = p_text(finding.p_if_chosen)
            lines.append(comparison_templates.CHOSEN_NOTE.format(pairs=finding.pairs, p=p))
    if any(finding.identical is None for finding in findings):
        reason = comparison.unknown_answers or "some answers are missing"
        lines.append(comparison_templates.UNKNOWN_ANSWERS.format(reason=reason))
    return lines


register_view(Comparison, View(comparison_documents, comparison_text))
