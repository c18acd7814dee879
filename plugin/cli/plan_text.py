"""A plan as tables for the terminal, Markdown or JSON."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from podium.cli.aligned import PLAIN_WIDTH, aligned, fits, markdown_table, paragraphs, room
from podium.cli.picture import interval_bar
from podium.cli.printable import printable
from podium.cli.tables import literal
from podium.planning.plan import Bill, Candidate, Gap, Plan, PricedDesign, Quantity, Sample, SimulatedSize

EMPTY = "–"
PICTURE = 24
Table = tuple[list[str], list[list[str]], int]
"""Header, rows, and how many columns are words."""


def write(found: Plan, style: str, output: Path | None) -> None:
    """Write the plan to a file, or to stdout."""
    if output is None:
        sys.stdout.write(as_text(found, style, room(sys.stdout.isatty())))
        return
    output.write_text(as_text(found, style), encoding="utf-8", errors="backslashreplace")
    click.echo(f"podium: wrote {output}", err=True)


def as_text(found: Plan, style: str, width: int = PLAIN_WIDTH) -> str:
    """Return the plan in one of the styles table, json, md; a table is as wide as there is room."""
    if style == "json":
        return found.to_json() + "\n"
    parts = [_markdown(*part) if style == "md" else _plain(*part, width) for part in _parts(found)]
    return "\n\n".join(parts) + "\n"


Part = tuple[str, Table | None, Sequence[str]]
"""A title, a table, and lines below it."""


def _parts(found: Plan) -> Iterator[Part]:
    yield _asked(found), None, _decision(found)
    if found.candidates:
        yield "candidates for the anchor", _candidates(found.candidates), _candidates_legend(found)
    yield _samples_title(found), _samples(found.samples), _samples_legend(found)
    if found.gaps:
        title = f"the smallest edge that {found.asked['items']:,} items tell, one pair at a time (sign test)"
        model = "Elo through an anchor: as if win, tie and loss were drawn apart for both"
        yield title, _gaps(found.gaps), [model, f"intervals: {found.methods['sign test']}"]
    if found.asked["items"] is not None:
        yield f"what {found.asked['items']:,} items cost and tell", _planned_lines(found), _planned_legend(found)
    if any(line.needed for line in found.lines):
        yield _needed_title(found), _needed_lines(found), _needed_legend(found)
    yield "what this rests on", None, [f"- {text}" for text in found.assumptions]
    if found.missing:
        told = [f"- {printable(one.part)}: {printable(one.why)}; {one.remedy}" for one in found.missing]
        yield "not answered", None, told


def _asked(found: Plan) -> str:
    asked = found.asked
    items = "items to be found" if asked["items"] is None else f"{asked['items']:,} items"
    pilot = "no pilot"
    if asked["pilot_items"] is not None:
        counts = asked["pilot_battles"]
        pilot = f"pilot of {asked['pilot_items']:,} items: {counts.judged:,} of {counts.battles:,} battles judged"
    return f"plan · {asked['entrants']} entrants, {items}; {pilot}"


def _decision(found: Plan) -> list[str]:
    steps = [f"{step.question} {printable(step.answer)}: {step.reason}" for step in found.decision.steps]
    return [*steps, f"→ {printable(found.decision.advice)}"]


def _candidates(found: Sequence[Candidate]) -> Table:
    axis = "0%" + " " * (PICTURE - 6) + "100%"
    header = ["anchor", "advice", "informative", "interval", "of 3 levels", "pairs", "rank set", axis]
    rows = [
        [
            printable(one.anchor),
            one.advice,
            f"{one.informativeness.value:.1%}",
            _ends(one.informativeness, "{:.1%}"),
            _maybe(one.three_level, "{:.1%}"),
            f"{one.pairs:,}",
            EMPTY if one.rank_low is None else f"{one.rank_low}–{one.rank_high}",
            _bar(one.informativeness),
        ]
        for one in found
    ]
    return header, rows, 2


def _bar(known: Quantity) -> str:
    return interval_bar(known.low, known.value, known.high, (0, 1), PICTURE)


def _candidates_legend(found: Plan) -> list[str]:
    return [
        "informative: pairs of others whose verdicts against it differ, of all pairs compared on an item; "
        "of 3 levels: as win, tie, loss",
        f"interval: {found.methods['informativeness']}; rank set: simultaneous",
    ]


def _samples_title(found: Plan) -> str:
    asked = found.asked
    return f"items that tell two entrants apart, {asked['power']:.0%} power, one-sided {asked['alpha']:.3g}"


def _samples(found: Sequence[Sample]) -> Table:
    header = ["wins", "edge", "decided", "exact power", "exact", "items, direct", "by anchor", "by anchor, Wilcoxon"]
    rows = [
        [
            f"{0.5 + one.edge:.4g}",
            f"{one.edge:+.3g}",
            f"{one.informative:,}",
            f"{one.exact_power:.3f}",
            f"{one.exact:,}",
            _known(one.direct, "{:,.0f}"),
            EMPTY if one.anchored is None else _known(one.anchored, "{:,.0f}"),
            EMPTY if one.wilcoxon is None else _simulated(one.wilcoxon),
        ]
        for one in found
    ]
    return header, rows, 1


def _samples_legend(found: Plan) -> list[str]:
    asked = found.asked
    share = asked["informativeness"]
    anchor = f"; by anchor{_of(found.anchor)}: of {share.value:.1%}" if share else ""
    text = [
        "wins: of decided items, those that the better entrant wins; decided: by the formula of the sign test; exact: "
        "for the exact test to keep the promise; these three are exact and have no interval",
        f"direct: decided are {1 - asked['ties'].value:.1%} of all items{anchor}",
        f"intervals of items: {found.methods['sign test']}",
    ]
    return [*text, *([f"Wilcoxon: {found.methods['wilcoxon']}"] if "wilcoxon" in found.methods else [])]


def _of(anchor: str | None) -> str:
    return "" if anchor is None else f" {printable(anchor)}"


def _gaps(found: Sequence[Gap]) -> Table:
    words = {"direct": "they meet directly", "anchor": "both meet the anchor"}
    rows = [
        [
            words[one.how],
            _known(one.share, "{:.1%}"),
            "none" if one.edge is None else _known(one.edge, "{:+.3f}"),
            _maybe(one.elo, "{:.0f}"),
        ]
        for one in found
    ]
    return ["when", "decided", "edge", "Elo"], rows, 1


def _planned_lines(found: Plan) -> Table:
    return _columns(
        found,
        ("design", lambda one: printable(one.design)),
        ("battles", lambda one: _count(one.planned, "battles")),
        ("calls", lambda one: _count(one.planned, "calls")),
        ("tokens in", lambda one: _tokens(one.planned, "tokens_in")),
        ("tokens out", lambda one: _tokens(one.planned, "tokens_out")),
        ("money", lambda one: _money(one.planned)),
        ("error", lambda one: _maybe(one.error, "{:.1f}")),
        ("tells", lambda one: _maybe(one.gap, "{:.0f}")),
        ("rank set", lambda one: _maybe(one.rank_width, "{:.1f}")),
    )


def _planned_legend(found: Plan) -> list[str]:
    if "precision" not in found.methods:
        return []
    return [
        "error: standard error of the difference of a typical pair, Elo; tells: the smallest such difference told "
        f"with {found.asked['power']:.0%} power, Elo; rank set: mean number of ranks in it",
        f"intervals: {found.methods['precision']}; of rank sets: Monte Carlo, the ratings taken as true",
    ]


def _needed_title(found: Plan) -> str:
    return (
        f"what it costs to tell an edge of {found.asked['edge']:+.3g}, which is {found.gap_elo:.1f} Elo, with "
        f"{found.asked['power']:.0%} power for a typical pair"
    )


def _needed_lines(found: Plan) -> Table:
    return _columns(
        found,
        ("design", lambda one: printable(one.design)),
        ("items", lambda one: _maybe(one.items, "{:,.0f}")),
        ("calls", lambda one: _range(one, "calls", "{:,.0f}")),
        ("tokens", lambda one: _all_tokens(one.needed)),
        ("money", lambda one: _range(one, "money", "{:,.2f}")),
    )


def _needed_legend(found: Plan) -> list[str]:
    text = [f"intervals: {found.methods['precision']}"] if "precision" in found.methods else []
    return [*text, *([f"cheapest: {printable(found.cheapest)}"] if found.cheapest else [])]


def _columns(found: Plan, *columns: tuple[str, Callable[[PricedDesign], str]]) -> Table:
    """Return a row per design; columns that say nothing are left out."""
    kept = [(name, write) for name, write in columns if any(write(line) != EMPTY for line in found.lines)]
    return [name for name, _ in kept], [[write(line) for _, write in kept] for line in found.lines], 1


def _count(bill: Bill | None, name: str) -> str:
    return EMPTY if bill is None else f"{getattr(bill, name):,}"


def _tokens(bill: Bill | None, name: str) -> str:
    return EMPTY if bill is None else _millions(getattr(bill, name))


def _all_tokens(bill: Bill | None) -> str:
    if bill is None or bill.tokens_in is None or bill.tokens_out is None:
        return EMPTY
    return _millions(bill.tokens_in + bill.tokens_out)


def _millions(tokens: float | None) -> str:
    return EMPTY if tokens is None else f"{tokens / 1e6:,.2f} M"


def _money(bill: Bill | None) -> str:
    return EMPTY if bill is None or bill.money is None else f"{bill.money:,.2f}"


def _range(line: PricedDesign, name: str, form: str) -> str:
    bills = (line.needed, line.needed_low, line.needed_high)
    value, low, high = (None if bill is None else getattr(bill, name) for bill in bills)
    return EMPTY if value is None else _known(Quantity(value, low, high), form)


def _simulated(found: SimulatedSize) -> str:
    return _known(Quantity(found.items, found.low, found.high), "{:,.0f}")


def _maybe(known: Quantity | None, form: str) -> str:
    return EMPTY if known is None else _known(known, form)


def _known(known: Quantity, form: str) -> str:
    """Write a figure with its interval."""
    return form.format(known.value) + ("" if known.low is None else f" ({_ends(known, form)})")


def _ends(known: Quantity, form: str) -> str:
    if known.low is None:
        return EMPTY
    return f"{form.format(known.low)} … {'∞' if known.high is None else form.format(known.high)}"


def _plain(title: str, table: Table | None, lines: Sequence[str], width: int) -> str:
    if table and not fits(*table[:2], width):
        table = _without_picture(table)
    body = ["", *aligned(*table, width), ""] if table else []
    return "\n".join([*paragraphs([title], width), *body, *paragraphs(lines, width)]).rstrip()


def _markdown(title: str, table: Table | None, lines: Sequence[str]) -> str:
    # A picture in a cell of proportional type says nothing.
    body = ["", *markdown_table(*_without_picture(table))] if table else []
    return "\n".join([f"**{literal(title)}**", *body, "", *(f"{literal(line)}  " for line in lines)]).rstrip()


def _without_picture(table: Table) -> Table:
    header, rows, left = table
    if not any("●" in row[-1] for row in rows):
        return table
    return header[:-1], [row[:-1] for row in rows], left
