"""A plan as a report."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any

from podium.nouns.estimate import Estimate
from podium.planning.plan import AnsweredDesign, Bill, ComparedSize, Plan, PricedDesign, Quantity
from podium.report.model import EMPTY, Axis, Report, ReportLayout, Section, Table, shorten_report
from podium.report.numbers import cell_text, range_text

PICTURE_WIDTH = 24
Column = tuple[str, Callable[[Any], str]]
"""The head of a column, and what a row says in it."""
DESIGN: Column = ("design", lambda line: line.design)
AS_OFTEN = 0.1
"""Shares of runs with an answer that lie this close count as equal: ten imagined runs say no more."""
OFTEN = 0.8
"""Share of runs with an answer below which more items are advised: a test of usual power finds one as often."""


def select_reports(plan: Plan, section: str | None, *, full: bool) -> tuple[Report, ...]:
    """Return the report with a design a row and the line to type, and no reasons; or one section, or all.

    Raises:
        UsageError: there is no section of this name.
    """
    [report] = plan_reports(plan)
    report = report if full else replace(report, notes=())
    return (shorten_report(report, ("answers", "compare", "costs", "needed", "samples"), section, full=full),)


def plan_reports(plan: Plan) -> tuple[Report, ...]:
    """Return what is to be compared and why, with a section for each question of how many and how much."""
    steps = [f"{step.question} {step.answer}: {step.reason}" for step in plan.decision.steps]
    advice, design = f"{plan.decision.advice[0].upper()}{plan.decision.advice[1:]}.", _design_sentence(plan)
    notes = (*steps, *([advice] if design else []))
    answer = tuple(filter(None, (*_answer(plan), design or ("" if plan.compared else advice))))
    asked, pilot = plan.asked, "no pilot"
    items = "items to be found" if asked["items"] is None else f"{asked['items']:,} items"
    if asked["pilot_items"] is not None:
        counts = asked["pilot_battles"]
        pilot = f"pilot of {asked['pilot_items']:,} items: {counts.readable:,} of {counts.battles:,} battles judged"
    title = f"plan · {asked['models']} models, {items}; {pilot}"
    return (Report(title, answer, notes=notes, sections=tuple(_sections(plan)), form=ReportLayout.SHEET),)


def _answer(plan: Plan) -> Iterator[str]:
    """Say how many items tell a difference, and which tournament answers a question for the fewest calls."""
    if plan.compared:
        size = plan.compared
        yield (
            f"Compare on {size.items:,} items: podium compare then tells {size.difference} in {size.power:.0%} of "
            f"cases ({size.test}; {size.spread})."
        )
    if best := _best_answer(plan):
        others = [f"{line.design} {line.usual.calls:,}" for line in plan.answers if line is not best]
        money = "" if best.usual.money is None else f", {best.usual.money:,.2f} in money"
        yield (
            f"Play podium/{best.design} until {plan.question}: about {best.usual.calls:,} calls{money} (90% of runs "
            f"within {best.most.calls:,}); {best.answered:.0%} of runs get an answer"
            f"{'' if best.answered >= OFTEN else ', more on more items'}. Calls of others: {', '.join(others)}."
        )


def _design_sentence(plan: Plan) -> str:
    """Say which design tells the asked edge for the least, on how many items, its calls and price; empty if unknown."""
    cheapest = _best_design(plan)
    if cheapest is None:
        return ""
    best, bill, items = cheapest
    design, _, how = best.design.partition(", ")
    first, then = f"Play podium/{design}{f' ({how})' if how else ''}", "."
    goal = f"tell {plan.gap_elo:.0f} Elo between two of typical strength in {plan.asked['power']:.0%} of cases"
    if best.planned and best.gap:
        then = f" on all {plan.asked['items']:,} items: {_price(best.planned)}; it tells {best.gap.value:.0f} Elo."
    cost = f"{items.value:,.0f} items and {_price(bill)}"
    least = ": less than the others by these figures" if sum(bool(line.needed) for line in plan.lines) > 1 else ""
    return f"{first}{then} To {goal} it takes {cost}{least}."


def _best_design(plan: Plan) -> tuple[PricedDesign, Bill, Quantity] | None:
    """Return the design that tells the asked edge for the least, its bill and items; None where that is not asked."""
    known = [(line, line.needed, line.items) for line in plan.lines if line.needed and line.items]
    if plan.answers or plan.decision.design != "ranking" or not known:
        return None
    return min(known, key=lambda each: each[1].total)


def _line_to_type(plan: Plan) -> str:
    """Return the command that plays what the answer names; empty where it names no tournament."""
    best, cheapest = _best_answer(plan), _best_design(plan)
    design = best.design if best else cheapest[0].design if cheapest else ""
    name, _, anchor = design.replace(", by a pilot", " auto").partition(" ")
    until, _, margin = (plan.question or "").removesuffix(" Elo").partition(" within ")
    if name == "anchor" and not anchor:
        anchor = plan.anchor or "auto"
    tariff = plan.provenance["options"]["tariff"]
    orders = "" if tariff["orders"] == "both" or name == "ring" else tariff["orders"]
    options = {"responses": "PATH", "anchor": anchor, "until": until, "margin": margin, "orders": orders}
    options |= {"repeats": tariff["repeats"] if tariff["repeats"] > 1 else ""}
    typed = " ".join(f"-T {quote(f'{key}={value}')}" for key, value in options.items() if value)
    return f"inspect eval podium/{name} {typed} --model-role judge=MODEL" if name else ""


def _best_answer(plan: Plan) -> AnsweredDesign | None:
    """Return the design of the fewest calls among those that find an answer as often as any; None for none.

    SWIM cannot be asked a question.
    """
    asked = [line for line in plan.answers if line.design != "swim"]
    most = max((line.answered for line in asked), default=0.0)
    able = [line for line in asked if round(most - line.answered, 9) <= AS_OFTEN]
    return min(able, key=lambda line: line.usual.calls, default=None)


def _price(bill: Bill) -> str:
    return f"{bill.calls:,.0f} calls" + ("" if bill.money is None else f", {bill.money:,.2f} in money")


def _answers(plan: Plan) -> Section:
    columns: tuple[Column, ...] = (
        DESIGN,
        ("calls", lambda line: f"{line.usual.calls:,}"),
        ("90% within", lambda line: f"{line.most.calls:,}"),
        ("money", lambda line: cell_text(line.usual.money, ",.2f")),
        ("answered", lambda line: f"{line.answered:.0%}"),
        ("wrong claims", lambda line: f"{line.wrong:.0%}"),
    )
    runs = plan.answers[0].runs
    notes = (
        f"shares of {runs} imagined runs, so known to ±{0.98 / runs**0.5:.0%} at worst (95%); calls are their mean; "
        f"wrong: of runs in which a claim is, by a round robin's ratings; the promise is at most "
        f"{1 - plan.asked['level']:.0%}",
        "swim cannot stop on the way: it is looked at once, when all is played; anchor: order settles all against it",
    )
    title = f"until {plan.question}, on {plan.asked['items']:,} items at most"
    return Section("answers", title, tables=(_table(plan.answers, columns),), notes=notes)


def _compared_items(size: ComparedSize) -> Section:
    level, power = f"{size.level:.3g}", f"{size.power:.1%}"
    table = Table(
        "",
        ("difference", "items", "power", "test", "items differ"),
        ((size.difference, f"{size.items:,}", power, size.test, size.spread),),
        "lrrll",
    )
    notes = (
        f"power: how often `podium compare` at level {level} tells the better one, if the difference is real; of the "
        "t test by the noncentral t distribution, of the sign test exactly",
    )
    return Section("compare", "items that tell a difference in podium compare", tables=(table,), notes=notes)


def _sections(plan: Plan) -> Iterator[Section]:
    if plan.compared:
        yield _compared_items(plan.compared)
    if plan.answers:
        yield _answers(plan)
    if plan.candidates:
        yield _candidates(plan)
    yield _samples(plan)
    if plan.gaps:
        yield _gaps(plan)
    if plan.asked["items"] is not None:
        yield _planned_costs(plan)
    if any(line.needed for line in plan.lines):
        yield _needed_costs(plan)
    yield Section("assumptions", "what this rests on", notes=tuple(f"- {text}" for text in plan.assumptions))
    if plan.missing:
        lacking = [f"- {missing.part}: {missing.why}; {missing.remedy}" for missing in plan.missing]
        yield Section("missing", "not answered", notes=tuple(lacking))
    if line := _line_to_type(plan):
        yield Section("play", "to play it", notes=(line,))


def _candidates(plan: Plan) -> Section:
    columns: tuple[Column, ...] = (
        ("anchor", lambda own: own.anchor),
        ("advice", lambda own: own.advice),
        ("informative", lambda own: f"{own.informativeness.value:.1%}"),
        ("interval", lambda own: _ends(own.informativeness, "{:.1%}")),
        ("of 3 levels", lambda own: _quantity(own.three_level, "{:.1%}")),
        ("pairs", lambda own: f"{own.pairs:,}"),
        ("rank set", lambda own: EMPTY if own.rank_low is None else range_text(own.rank_low, own.rank_high)),
    )
    shares = [candidate.informativeness for candidate in plan.candidates]
    bars = tuple(Estimate(share.value, share.low, share.high) for share in shares)
    axis = Axis(bars, (0, 1), ("0%", "100%"), PICTURE_WIDTH)
    notes = (
        "informative: pairs of others whose verdicts against it differ, of all pairs compared on an item; "
        "of 3 levels: as win, tie, loss",
        f"interval: {plan.methods['informativeness']}; rank set: simultaneous",
    )
    table = _table(plan.candidates, columns, "llrrrrr", axis)
    return Section("candidates", "candidates for the anchor", tables=(table,), notes=notes)


def _samples(plan: Plan) -> Section:
    columns: tuple[Column, ...] = (
        ("wins", lambda sample: f"{0.5 + sample.edge:.4g}"),
        ("edge", lambda sample: f"{sample.edge:+.3g}"),
        ("decided", lambda sample: f"{sample.informative:,}"),
        ("exact power", lambda sample: f"{sample.exact_power:.3f}"),
        ("exact", lambda sample: f"{sample.exact:,}"),
        ("items, direct", lambda sample: _quantity(sample.direct, "{:,.0f}")),
        ("by anchor", lambda sample: _quantity(sample.anchored, "{:,.0f}")),
        ("by anchor, Wilcoxon", lambda sample: _simulated_items(sample.wilcoxon)),
    )
    asked, share = plan.asked, plan.asked["informativeness"]
    anchor = "" if plan.anchor is None else f" {plan.anchor}"
    by_anchor = f"; by anchor{anchor}: of {share.value:.1%}" if share else ""
    notes = [
        "wins: of decided items, those that the better model wins; decided: by the formula of the sign test; exact: "
        "for the exact test to keep the promise; these three are exact and have no interval",
        f"direct: decided are {1 - asked['ties'].value:.1%} of all items{by_anchor}",
        f"intervals of items: {plan.methods['sign test']}",
    ]
    if "wilcoxon" in plan.methods:
        notes.append(f"Wilcoxon: {plan.methods['wilcoxon']}")
    title = f"items that tell two models apart, {asked['power']:.0%} power, one-sided {asked['alpha']:.3g}"
    return Section("samples", title, tables=(_table(plan.samples, columns),), notes=tuple(notes))


def _gaps(plan: Plan) -> Section:
    columns: tuple[Column, ...] = (
        ("when", lambda gap: "they meet directly" if gap.how == "direct" else "both meet the anchor"),
        ("decided", lambda gap: _quantity(gap.share, "{:.1%}")),
        ("edge", lambda gap: "none" if gap.edge is None else _quantity(gap.edge, "{:+.3f}")),
        ("Elo", lambda gap: _quantity(gap.elo, "{:.0f}")),
    )
    title = f"the smallest edge that {plan.asked['items']:,} items tell, one pair at a time (sign test)"
    model = "Elo through an anchor: as if win, tie and loss were drawn apart for both"
    notes = (model, f"intervals: {plan.methods['sign test']}")
    return Section("gaps", title, tables=(_table(plan.gaps, columns),), notes=notes)


def _planned_costs(plan: Plan) -> Section:
    columns: tuple[Column, ...] = (
        DESIGN,
        ("battles", lambda line: f"{line.planned.battles:,}"),
        ("calls", lambda line: f"{line.planned.calls:,}"),
        ("tokens in", lambda line: _millions(line.planned.tokens_in)),
        ("tokens out", lambda line: _millions(line.planned.tokens_out)),
        ("money", lambda line: cell_text(line.planned.money, ",.2f")),
        ("error", lambda line: _quantity(line.error, "{:.1f}")),
        ("tells", lambda line: _quantity(line.gap, "{:.0f}")),
        ("rank set", lambda line: _quantity(line.rank_width, "{:.1f}")),
    )
    notes = []
    if "precision" in plan.methods:
        notes = [
            "error: standard error of the difference of a typical pair, Elo; tells: the smallest such difference told "
            f"with {plan.asked['power']:.0%} power, Elo; rank set: mean number of ranks in it",
            f"intervals: {plan.methods['precision']}; of rank sets: Monte Carlo, the ratings taken as true",
        ]
    title = f"what {plan.asked['items']:,} items cost and tell"
    return Section("costs", title, tables=(_designs(plan, columns),), notes=tuple(notes))


def _needed_costs(plan: Plan) -> Section:
    columns: tuple[Column, ...] = (
        DESIGN,
        ("items", lambda line: _quantity(line.items, "{:,.0f}")),
        ("calls", lambda line: _cost(line, "calls", "{:,.0f}")),
        ("tokens", lambda line: _millions(line.needed and line.needed.tokens)),
        ("money", lambda line: _cost(line, "money", "{:,.2f}")),
    )
    title = (
        f"what it costs to tell an edge of {plan.asked['edge']:+.3g}, which is {plan.gap_elo:.1f} Elo, with "
        f"{plan.asked['power']:.0%} power for a typical pair"
    )
    notes = [f"intervals: {plan.methods['precision']}"] if "precision" in plan.methods else []
    notes += [f"cheapest: {plan.cheapest}"] if plan.cheapest else []
    return Section("needed", title, tables=(_designs(plan, columns),), notes=tuple(notes))


def _table(of: Sequence[Any], columns: Sequence[Column], align: str = "", axis: Axis | None = None) -> Table:
    header = tuple(name for name, _ in columns)
    return Table("", header, tuple(tuple(cell(own) for _, cell in columns) for own in of), align, axis=axis)


def _designs(plan: Plan, columns: Sequence[Column]) -> Table:
    """Return a row per design; columns that say nothing are left out."""
    return _table(plan.lines, [own for own in columns if any(own[1](line) != EMPTY for line in plan.lines)])


def _cost(line: Any, name: str, form: str) -> str:
    bills = (line.needed, line.needed_low, line.needed_high)
    value, low, high = (None if bill is None else getattr(bill, name) for bill in bills)
    return EMPTY if value is None else _quantity(Quantity(value, low, high), form)


def _millions(tokens: float | None) -> str:
    return EMPTY if tokens is None else f"{tokens / 1e6:,.2f} M"


def _simulated_items(size: Any) -> str:
    return EMPTY if size is None else _quantity(Quantity(size.items, size.low, size.high), "{:,.0f}")


def _quantity(quantity: Quantity | None, form: str) -> str:
    """Write a figure with its interval; a dash where it is unknown."""
    if quantity is None:
        return EMPTY
    return form.format(quantity.value) + ("" if quantity.low is None else f" ({_ends(quantity, form)})")


def _ends(quantity: Quantity, form: str) -> str:
    if quantity.low is None:
        return EMPTY
    return f"{form.format(quantity.low)} … {'∞' if quantity.high is None else form.format(quantity.high)}"
