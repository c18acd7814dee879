"""Reports of an audit: the answer, and a table with a row per probe."""

from collections.abc import Callable
from functools import partial
from math import isfinite

from podium.check_kinds import NumberUnit
from podium.check_results import Check
from podium.diagnosis.audit_record import Audit, BoardAudit, Probe
from podium.diagnosis.checks.card_sections import ERROR_RATE
from podium.documents import View, register_view
from podium.show.report.ranking_view import standings_heading
from podium.show.report.terminal import terminal_text
from podium.tables import EMPTY, Report, Table
from podium.wording import quantity

PROBE_COLUMNS = (
    "probe",
    "result",
    "number",
    "interval",
    "threshold",
    "what was found, and what to do",
)
"""Headers of the table of probes."""
LEGEND = (
    "measured: a figure that is never flagged; rows below the line are descriptions and do not "
    "count. By Holm's rule, the tests of the ranking share an error rate of 5%, and the tests that "
    "only an audit makes another 5%; groups and categories have 2% each. "
    "Of 200 simulated rankings without faults, 15 were flagged (8%, interval 4% to 12%)."
)
"""Note below the table of probes."""
SOURCE = "SOURCE"
"""Stands in a table for what was typed to read the battles."""
SUFFIXES: dict[str, str] = {"share": "%", "points": " points", "Elo": " Elo"}
"""What follows the number of a unit, and stands once beside an interval."""
TITLES = {"elo": "Elo"}
"""Names of probes in tables, where they are not those of the checks."""
QUESTIONS = {
    "connected": "Do battles connect all models?",
    "unit": "Is it known which rows are about one item?",
    "score scale": "Are all scores in one unit?",
    "same question": "Were all models asked the same questions?",
    "same responses": "Does each name stand for one model?",
    "same settings": "Were all models run with the same settings?",
    "same items": "Are all models scored on the same items?",
    "unparsed": "How many verdicts could not be read?",
    "order decides": "Does the order of the two responses decide the verdict?",
    "only ties": "Do verdicts name winners?",
    "order in slices": "Does the order matter more in some categories?",
    "lost replies": "Are more battles of one model lost than of others?",
    "lost outcomes": "Would the lost verdicts have had other winners?",
    "lost scores": "Are more scores of one model lost than of others?",
    "ladder scale": "Do the given ratings fit the scale of these battles?",
    "ladder rating": "Do the given ratings fit these battles?",
    "groups": "Are items of one group alike?",
    "categories": "Does the order of the models depend on the category?",
    "items": "Are there enough items?",
    "own model": "Does the judge judge itself?",
    "own family": "Does the judge judge its own family?",
    "position": "Does the response shown first win more often?",
    "one order": "Was each pair shown in one order only?",
    "repeated": "Does the judge repeat its own verdicts?",
    "length": "Are longer responses preferred?",
    "self-preference": "Does the judge favour its own family?",
    "human": "Does the judge agree with humans?",
    "transitivity": "Do verdicts on one item contradict each other?",
    "cycle": "Do three models beat each other in a circle?",
    "fit": "Do the ratings explain who beats whom?",
    "ties": "Does the order depend on how ties count?",
    "time": "Does the win rate of a model change over time?",
    "judges contradict": "Does a judge prefer what the others reject?",
    "one truth": "Do the judges rank by one standard?",
    "shared errors": "Do two judges make the same mistakes?",
    "played pairs": "Were all pairs played?",
    "misjudged models": "Do humans contradict the judge on a model?",
    "first place": "How few items decide who is first?",
    "decisive rater": "Does one voter or judge decide who is first?",
    "voters": "How much do the voters differ?",
    "judges": "Which judge disagrees with the others?",
    "places": "Which neighbouring places are separated?",
    "elo": "May gaps in Elo be quoted?",
    "human scale": "Do gaps match those of human ratings?",
}
"""What each probe asks, for people who do not know the names."""


def audit_reports(audit: Audit) -> tuple[Report, ...]:
    """Build a report per ranking, with its answer and the table of its probes.

    With several rankings, each answer begins with the name of its slice.
    """
    return tuple(board_report(board, named=(len(audit.boards) > 1)) for board in audit.boards)


def audit_text(audit: Audit) -> str:
    """Render the reports of an audit as plain text."""
    return terminal_text(audit_reports(audit))


def board_report(board: BoardAudit, *, named: bool = False) -> Report:
    """Build the report of one ranking: its answer, and a table with a row per probe.

    In the commands of the table, `SOURCE` stands for what was typed to read the battles, which the
    legend then gives.

    Args:
        board: the audit of the ranking.
        named: whether the answer begins with the name of the slice.
    """
    probes = board.probes
    source = board.source
    rows = tuple(_probe_row(probe, partial(_with_placeholder, source)) for probe in probes)
    legend = [LEGEND]
    if source and any(f" {source}" in probe.command for probe in probes):
        legend.insert(0, f"{SOURCE}: {source}")
    # A line separates the tests from the descriptions, which come last.
    tests = sum(not probe.is_descriptive for probe in probes)
    has_both_kinds = 0 < tests < len(probes)
    # A rule stands below the last test.
    rules = frozenset({tests - 1}) if has_both_kinds else frozenset[int]()
    table = Table(
        title="",
        header=PROBE_COLUMNS,
        rows=rows,
        align="llrrrl",
        words=True,
        rules=rules,
        legend=tuple(legend),
    )
    title = board_title(board)
    answer = board.answer
    if named and answer:
        answer = (f"{board.standings.shown_slice}: {answer[0]}", *answer[1:])
    return Report(title, answer, table)


def _with_placeholder(source: str, command: str) -> str:
    """Return a command with `SOURCE` for what was typed to read the battles.

    Args:
        source: what was typed; empty to return the command as it is.
        command: the command.
    """
    return command.replace(f" {source}", f" {SOURCE}") if source else command


def board_title(board: BoardAudit) -> str:
    """Return the ranker and the slice, followed by the numbers of models, items and battles."""
    standings = board.standings
    counts = standings.counts
    models = quantity(len(standings.entries), "model")
    heading = standings_heading(standings)
    return f"{heading} · {models}, {counts.size}, {quantity(counts.battles, 'battle')}"


def probe_title(probe: Probe) -> str:
    """Return the name of a probe in tables: that of `TITLES`, else the name of its check."""
    return TITLES.get(probe.check.name, probe.check.name)


def _probe_row(probe: Probe, shorten: Callable[[str], str]) -> tuple[str, ...]:
    """Return the row of a probe, with a cell for each of `PROBE_COLUMNS`.

    The last cell has what was found, what helps, and the command, as far as they are known.

    Args:
        probe: the probe.
        shorten: writes a command for the table.
    """
    check = probe.check
    parts = f"{probe.finding_text}: {probe.advice}" if probe.advice else probe.finding_text
    command = f" → {shorten(probe.command)}" if probe.command else ""
    return (
        probe_title(probe),
        probe.result_text,
        number_of_check(check),
        interval_of_check(check),
        threshold_of_probe(probe),
        parts + command,
    )


def number_of_check(check: Check) -> str:
    """Return the figure of a check as text in its unit; a dash without a figure or a unit."""
    if check.number is None or not check.kind.unit:
        return EMPTY
    return format_number(check.number, check.kind.unit)


def interval_of_check(check: Check) -> str:
    """Return the interval of a check's figure as text; a dash without an interval or a unit.

    The unit is that of the figure; it is left out for percent, points and Elo.
    """
    if check.interval is None or not check.kind.unit:
        return EMPTY
    low, high = (format_number(end, check.kind.unit) for end in check.interval)
    suffix = SUFFIXES.get(check.kind.unit, "")
    return f"{low.removesuffix(suffix)} … {high.removesuffix(suffix)}"


def threshold_of_probe(probe: Probe) -> str:
    """Return the threshold with which the figure of a probe is compared, as text.

    The threshold is a p-value for checks that are flagged by their p-value alone. For other checks
    it is in the figure's unit; if the check is a test, the largest p-value follows, because the
    test is flagged only if its figure is beyond the threshold and its p-value is small. A dash
    stands for descriptions, and for checks without a fixed threshold or a unit.
    """
    check = probe.check
    kind = check.kind
    if not isfinite(kind.threshold) or probe.is_descriptive:
        return EMPTY
    if kind.by_p or kind.unit == "p":
        return _p_threshold(kind.threshold)
    if not kind.unit:
        return EMPTY
    text = format_number(kind.threshold, kind.unit)
    return f"{text}, {_p_threshold(ERROR_RATE)}" if check.p is not None else text


def _p_threshold(level: float) -> str:
    """Write the largest p-value with which a check is flagged, as `p .05`."""
    return f"p {level:g}".replace("p 0.", "p .")


def format_number(number: float, unit: NumberUnit) -> str:
    """Write a figure in its unit; a dash without a unit, and `∞` or `-∞` for an infinite one.

    A figure in a unit that has no text of its own has two decimals.
    Without a unit, an infinite figure is written as `∞` or `-∞`, too.

    >>> format_number(0.076, "points"), format_number(0.031, "share"), format_number(0.004, "p")
    ('7.6 points', '3.1%', 'p .004')
    """
    if not isfinite(number):
        return "∞" if number > 0 else "-∞"
    if unit == "share":
        return f"{number:.1%}"
    if unit == "points":
        return f"{100 * number:.1f} points"
    if unit == "count":
        return f"{number:,.0f}"
    if unit == "Elo":
        return f"{number:.0f} Elo"
    if unit == "p":
        return f"p {number:.3f}".replace("p 0.", "p .")
    return f"{number:.2f}" if unit else EMPTY


register_view(Audit, View(audit_reports, audit_text))
