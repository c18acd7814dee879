"""A plan as a report."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any

from podium.documents import View, register_view
from podium.numbers import cell_text, range_text
from podium.planning.plan_record import BattleCosts, Plan, PricedDesign, Tariff
from podium.rankers.estimate import Estimate
from podium.show.report.terminal import bar_column
from podium.tables import EMPTY, Report, Section, Table, shorten_report

Column = tuple[str, Callable[[Any], str]]
"""The head of a column, and the function that formats a row's cell."""
DESIGN: Column = ("design", lambda line: line.design)


def select_reports(plan: Plan, section: str | None, *, full: bool) -> tuple[Report, ...]:
    """Return the report with the answer and the tables of designs; one section, or all, if asked
    for."""
    [report] = plan_reports(plan)
    report = report if full else replace(report, notes=())
    # The answer says all about a difference in podium compare; the tables are about ratings.
    first = () if plan.compared else ("costs", "needed", "samples")
    return (shorten_report(report, first, section, full=full),)


def plan_reports(plan: Plan) -> tuple[Report, ...]:
    """Return a report of what to compare and why, with a section for each question of how many and
    how much."""
    asked, pilot = plan.asked, "no pilot"
    notes = list(plan.decision.steps)
    advice, answer = f"{plan.decision.advice[0].upper()}{plan.decision.advice[1:]}.", []
    if size := plan.compared:
        answer.append(
            f"Compare on {size.items:,} items: podium compare then detects {size.difference} with "
            f"{size.power:.0%} power ({size.test}; {size.spread})."
        )
    if design := _design_sentence(plan):
        answer.append(design)
        notes.append(advice)
    items = "items to be found" if asked["items"] is None else f"{asked['items']:,} items"
    if counts := asked["pilot_battles"]:
        pilot = (
            f"pilot of {asked['pilot_items']:,} items: {counts.readable:,} of {counts.battles:,} "
            "battles judged"
        )
    title = f"plan · {asked['models']} models, {items}; {pilot}"
    return (
        Report(
            title,
            tuple(answer or [advice]),
            notes=tuple(notes),
            sections=tuple(_plan_sections(plan)),
        ),
    )


def _design_sentence(plan: Plan) -> str:
    """Say which design detects the asked edge for the least, its items, calls and price; empty if
    unknown."""
    best = _best_design(plan)
    if best is None or best.needed is None or best.items is None:
        return ""
    design, _, how = best.design.partition(", ")
    play = f"Play podium/{design}{f' ({how})' if how else ''}"
    goal = (
        f"detect {plan.gap_elo:.0f} Elo between two models of typical strength with "
        f"{plan.asked['power']:.0%} power"
    )
    if best.planned and best.gap:
        planned = _calls_and_price(best.planned)
        play += (
            f" on all {plan.asked['items']:,} items: {planned}; it detects {best.gap.value:.0f} Elo"
        )
    needed = f"{best.items.value:,.0f} items and {_calls_and_price(best.needed)}"
    least = (
        ": the least of these designs" if sum(bool(line.needed) for line in plan.lines) > 1 else ""
    )
    return f"{play}. To {goal} takes {needed}{least}."


def _best_design(plan: Plan) -> PricedDesign | None:
    """Return the cheapest design; None unless all models are to be ranked and a cost is known."""
    best = (line for line in plan.lines if line.design == plan.cheapest)
    return next(best, None) if plan.decision.design == "ranking" else None


def _calls_and_price(costs: BattleCosts) -> str:
    return f"{costs.calls:,.0f} calls" + (
        "" if costs.money is None else f", {costs.money:,.2f} in money"
    )


def _command_line(design: str, tariff: dict[str, Any]) -> str:
    name, _, anchor = design.replace(", by a pilot", " auto").partition(" ")
    orders = "" if tariff["orders"] == "both" or name == "ring" else tariff["orders"]
    repeats = tariff["repeats"] if tariff["repeats"] > 1 else ""
    turns = tariff["judges"] if not tariff["judges"].isdecimal() else ""
    options = {
        "responses": "PATH",
        "anchor": anchor,
        "orders": orders,
        "repeats": repeats,
        "judges": turns,
    }
    options |= {"overlap": tariff["overlap"]}
    typed = " ".join(f"-T {quote(f'{key}={value}')}" for key, value in options.items() if value)
    number = len(Tariff(judges=tariff["judges"]).shares)
    jury = "MODEL" if number == 1 else f"[{','.join(['MODEL'] * number)}]"
    return f"inspect eval podium/{name} {typed} --model-role {quote(f'judge={jury}')}"


def _plan_sections(plan: Plan) -> Iterator[Section]:
    if plan.candidates:
        yield _anchor_section(plan)
    yield _sample_size_section(plan)
    if plan.gaps:
        yield _edge_section(plan)
    if plan.asked["items"] is not None:
        yield _planned_costs(plan)
    if any(line.needed for line in plan.lines):
        yield _needed_costs(plan)
    yield Section(
        "assumptions", "what this rests on", notes=tuple(f"- {text}" for text in plan.assumptions)
    )
    if plan.missing:
        lacking = [f"- {missing.part}: {missing.why}; {missing.remedy}" for missing in plan.missing]
        yield Section("missing", "not answered", notes=tuple(lacking))
    if best := _best_design(plan):
        command = _command_line(best.design, plan.provenance["options"]["tariff"])
        yield Section("play", "to play it", notes=(command,))


def _anchor_section(plan: Plan) -> Section:
    columns: tuple[Column, ...] = (
        ("anchor", lambda own: own.anchor),
        ("advice", lambda own: own.advice),
        ("informative", lambda own: f"{own.informativeness.value:.1%}"),
        ("interval", lambda own: _ends(own.informativeness, "{:.1%}")),
        ("pairs", lambda own: f"{own.pairs:,}"),
        ("rank set", lambda own: range_text(own.rank_low, own.rank_high)),
    )
    bars = bar_column([own.informativeness for own in plan.candidates], 24, ".0%", ends=(0, 1))
    notes = (
        "informative: pairs of others whose verdicts against it differ, of all pairs compared on "
        "an item",
        f"interval: {plan.methods['informativeness']}; rank set: simultaneous",
    )
    title = "candidates for the anchor"
    return _section("candidates", title, plan.candidates, columns, notes, align="llrrrr", bars=bars)


def _sample_size_section(plan: Plan) -> Section:
    columns: tuple[Column, ...] = (
        ("wins", lambda sample: f"{0.5 + sample.edge:.4g}"),
        ("edge", lambda sample: f"{sample.edge:+.3g}"),
        ("decided", lambda sample: f"{sample.informative:,}"),
        ("items, direct", lambda sample: _estimate(sample.direct, "{:,.0f}")),
        ("by anchor", lambda sample: _estimate(sample.anchored, "{:,.0f}")),
        ("by anchor, Wilcoxon", lambda sample: cell_text(sample.wilcoxon, ",")),
    )
    asked, share = plan.asked, plan.asked["informativeness"]
    by_anchor = (
        f"; by anchor{f' {plan.anchor}' if plan.anchor else ''}: of {share.value:.1%}"
        if share
        else ""
    )
    notes = [
        "wins: of decided items, those that the better model wins; decided: by the formula of "
        "the sign test",
        f"direct: decided are {1 - asked['ties'].value:.1%} of all items{by_anchor}",
        f"intervals of items: {plan.methods['sign test']}",
    ]
    if "wilcoxon" in plan.methods:
        notes.append(f"Wilcoxon: by the normal limit of its power; {plan.methods['wilcoxon']}")
    title = (
        f"items that separate two models, {asked['power']:.0%} power, one-sided "
        f"{asked['alpha']:.3g}"
    )
    return _section("samples", title, plan.samples, columns, notes)


def _edge_section(plan: Plan) -> Section:
    columns: tuple[Column, ...] = (
        (
            "when",
            lambda gap: "they meet directly" if gap.how == "direct" else "both meet the anchor",
        ),
        ("decided", lambda gap: _estimate(gap.share, "{:.1%}")),
        ("edge", lambda gap: "none" if gap.edge is None else _estimate(gap.edge, "{:+.3f}")),
    )
    title = (
        f"the smallest edge that {plan.asked['items']:,} items detect, one pair at a time (sign "
        "test)"
    )
    return _section("gaps", title, plan.gaps, columns, (f"intervals: {plan.methods['sign test']}",))


def _planned_costs(plan: Plan) -> Section:
    columns: tuple[Column, ...] = (
        DESIGN,
        ("battles", lambda line: f"{line.planned.battles:,}"),
        ("calls", lambda line: f"{line.planned.calls:,}"),
        ("tokens in", lambda line: _millions(line.planned.tokens_in)),
        ("tokens out", lambda line: _millions(line.planned.tokens_out)),
        ("money", lambda line: cell_text(line.planned.money, ",.2f")),
        ("error", lambda line: _estimate(line.error, "{:.1f}")),
        ("detects", lambda line: _estimate(line.gap, "{:.0f}")),
    )
    notes = ["tournaments that stop when a question is answered: measured in docs/stopping.md"]
    if "precision" in plan.methods:
        detected = (
            f"detects: the smallest such difference detected with {plan.asked['power']:.0%} power, "
            "Elo"
        )
        error = f"error: standard error of the difference of a typical pair, Elo; {detected}"
        notes = [error, f"intervals: {plan.methods['precision']}", *notes]
    return _section(
        "costs", f"what {plan.asked['items']:,} items cost and detect", plan.lines, columns, notes
    )


def _needed_costs(plan: Plan) -> Section:
    columns: tuple[Column, ...] = (
        DESIGN,
        ("items", lambda line: _estimate(line.items, "{:,.0f}")),
        ("calls", lambda line: _needed_cost(line, "calls", "{:,.0f}")),
        ("money", lambda line: _needed_cost(line, "money", "{:,.2f}")),
    )
    title = (
        f"what it costs to detect an edge of {plan.asked['edge']:+.3g}, which is "
        f"{plan.gap_elo:.1f} Elo, with {plan.asked['power']:.0%} power for a typical pair"
    )
    notes = [f"intervals: {plan.methods['precision']}"] if "precision" in plan.methods else []
    notes += [f"cheapest: {plan.cheapest}"] if plan.cheapest else []
    return _section("needed", title, plan.lines, columns, notes)


def _section(
    name: str,
    title: str,
    rows: Sequence[Any],
    columns: Sequence[Column],
    notes: Sequence[str],
    **more: Any,
) -> Section:
    """Return a section with a table of a row per record; columns of designs without a figure are
    left out."""
    if columns[0] is DESIGN:
        columns = [column for column in columns if any(column[1](row) != EMPTY for row in rows)]
    cells = tuple(tuple(cell(row) for _, cell in columns) for row in rows)
    table = Table("", tuple(head for head, _ in columns), cells, **more)
    return Section(name, title, tables=(table,), notes=tuple(notes))


def _needed_cost(line: PricedDesign, name: str, form: str) -> str:
    """Format calls or money of the needed items, with the interval."""
    value, low, high = (
        getattr(each, name, None) for each in (line.needed, line.needed_low, line.needed_high)
    )
    return EMPTY if value is None else _estimate(Estimate(value, low, high), form)


def _millions(tokens: float | None) -> str:
    return EMPTY if tokens is None else f"{tokens / 1e6:,.2f} M"


def _estimate(estimate: Estimate | None, form: str) -> str:
    """Format a number with its interval; a dash if it is unknown."""
    if estimate is None:
        return EMPTY
    return form.format(estimate.value) + (
        "" if estimate.low is None else f" ({_ends(estimate, form)})"
    )


def _ends(estimate: Estimate, form: str) -> str:
    """Format the ends of an interval; a dash if there is none, ∞ if it is open above."""
    if estimate.low is None:
        return EMPTY
    return (
        f"{form.format(estimate.low)} … "
        f"{'∞' if estimate.high is None else form.format(estimate.high)}"
    )


register_view(Plan, View(plan_reports))
