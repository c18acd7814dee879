"""A plan as a report."""

from collections.abc import Callable, Iterator, Sequence

from podium.planning.plan import Bill, Candidate, Gap, Plan, PricedDesign, Quantity, SampleSize
from podium.report.model import EMPTY, Axis, Bar, Form, Report, Section, Table, notes_of
from podium.report.numbers import range_text

PICTURE_WIDTH = 24


def plan_reports(plan: Plan) -> tuple[Report, ...]:
    """Return what is to be compared and why, with a section for each question of how many and how much."""
    notes = notes_of(*_decision(plan))
    return (Report(_title(plan), notes=notes, sections=tuple(_sections(plan)), form=Form.SHEET),)


def _sections(plan: Plan) -> Iterator[Section]:
    if plan.candidates:
        yield _section("candidates", "candidates for the anchor", _candidates(plan.candidates), _about_candidates(plan))
    yield _section("samples", _samples_title(plan), _samples(plan.samples), _about_samples(plan))
    if plan.gaps:
        title = f"the smallest edge that {plan.asked['items']:,} items tell, one pair at a time (sign test)"
        model = "Elo through an anchor: as if win, tie and loss were drawn apart for both"
        yield _section("gaps", title, _gaps(plan.gaps), [model, f"intervals: {plan.methods['sign test']}"])
    if plan.asked["items"] is not None:
        title = f"what {plan.asked['items']:,} items cost and tell"
        yield _section("costs", title, _planned_lines(plan), _about_planned(plan))
    if any(line.needed for line in plan.lines):
        yield _section("needed", _needed_title(plan), _needed_lines(plan), _about_needed(plan))
    yield _section("assumptions", "what this rests on", None, [f"- {text}" for text in plan.assumptions])
    if plan.missing:
        lacking = [f"- {missing.part}: {missing.why}; {missing.remedy}" for missing in plan.missing]
        yield _section("missing", "not answered", None, lacking)


def _section(name: str, title: str, table: Table | None, lines: Sequence[str]) -> Section:
    return Section(name, title, tables=() if table is None else (table,), notes=notes_of(*lines))


def _title(plan: Plan) -> str:
    asked = plan.asked
    items = "items to be found" if asked["items"] is None else f"{asked['items']:,} items"
    pilot = "no pilot"
    if asked["pilot_items"] is not None:
        counts = asked["pilot_battles"]
        pilot = f"pilot of {asked['pilot_items']:,} items: {counts.readable:,} of {counts.battles:,} battles judged"
    return f"plan · {asked['entrants']} entrants, {items}; {pilot}"


def _decision(plan: Plan) -> list[str]:
    steps = [f"{step.question} {step.answer}: {step.reason}" for step in plan.decision.steps]
    return [*steps, f"→ {plan.decision.advice}"]


def _candidates(candidates: Sequence[Candidate]) -> Table:
    rows = tuple(
        (
            candidate.anchor,
            candidate.advice,
            f"{candidate.informativeness.value:.1%}",
            _ends(candidate.informativeness, "{:.1%}"),
            _quantity(candidate.three_level, "{:.1%}"),
            f"{candidate.pairs:,}",
            EMPTY if candidate.rank_low is None else range_text(candidate.rank_low, candidate.rank_high),
        )
        for candidate in candidates
    )
    shares = [candidate.informativeness for candidate in candidates]
    bars = tuple(Bar(share.low, share.value, share.high) for share in shares)
    header = ("anchor", "advice", "informative", "interval", "of 3 levels", "pairs", "rank set")
    return Table("", header, rows, "llrrrrr", axis=Axis(bars, (0, 1), ("0%", "100%"), PICTURE_WIDTH))


def _about_candidates(plan: Plan) -> list[str]:
    return [
        "informative: pairs of others whose verdicts against it differ, of all pairs compared on an item; "
        "of 3 levels: as win, tie, loss",
        f"interval: {plan.methods['informativeness']}; rank set: simultaneous",
    ]


def _samples_title(plan: Plan) -> str:
    asked = plan.asked
    return f"items that tell two entrants apart, {asked['power']:.0%} power, one-sided {asked['alpha']:.3g}"


def _samples(samples: Sequence[SampleSize]) -> Table:
    header = ("wins", "edge", "decided", "exact power", "exact", "items, direct", "by anchor", "by anchor, Wilcoxon")
    rows = tuple(
        (
            f"{0.5 + sample.edge:.4g}",
            f"{sample.edge:+.3g}",
            f"{sample.informative:,}",
            f"{sample.exact_power:.3f}",
            f"{sample.exact:,}",
            _quantity(sample.direct, "{:,.0f}"),
            _quantity(sample.anchored, "{:,.0f}"),
            _simulated_items(sample),
        )
        for sample in samples
    )
    return Table("", header, rows)


def _simulated_items(sample: SampleSize) -> str:
    items = sample.wilcoxon
    return EMPTY if items is None else _quantity(Quantity(items.items, items.low, items.high), "{:,.0f}")


def _about_samples(plan: Plan) -> list[str]:
    asked = plan.asked
    share = asked["informativeness"]
    anchor = "" if plan.anchor is None else f" {plan.anchor}"
    by_anchor = f"; by anchor{anchor}: of {share.value:.1%}" if share else ""
    text = [
        "wins: of decided items, those that the better entrant wins; decided: by the formula of the sign test; exact: "
        "for the exact test to keep the promise; these three are exact and have no interval",
        f"direct: decided are {1 - asked['ties'].value:.1%} of all items{by_anchor}",
        f"intervals of items: {plan.methods['sign test']}",
    ]
    return [*text, *([f"Wilcoxon: {plan.methods['wilcoxon']}"] if "wilcoxon" in plan.methods else [])]


def _gaps(gaps: Sequence[Gap]) -> Table:
    words = {"direct": "they meet directly", "anchor": "both meet the anchor"}
    rows = tuple(
        (
            words[gap.how],
            _quantity(gap.share, "{:.1%}"),
            "none" if gap.edge is None else _quantity(gap.edge, "{:+.3f}"),
            _quantity(gap.elo, "{:.0f}"),
        )
        for gap in gaps
    )
    return Table("", ("when", "decided", "edge", "Elo"), rows)


def _planned_lines(plan: Plan) -> Table:
    return _designs(
        plan,
        ("design", lambda line: line.design),
        ("battles", lambda line: _bill(line.planned, "battles")),
        ("calls", lambda line: _bill(line.planned, "calls")),
        ("tokens in", lambda line: _millions(None if line.planned is None else line.planned.tokens_in)),
        ("tokens out", lambda line: _millions(None if line.planned is None else line.planned.tokens_out)),
        ("money", lambda line: _bill(line.planned, "money", "{:,.2f}")),
        ("error", lambda line: _quantity(line.error, "{:.1f}")),
        ("tells", lambda line: _quantity(line.gap, "{:.0f}")),
        ("rank set", lambda line: _quantity(line.rank_width, "{:.1f}")),
    )


def _about_planned(plan: Plan) -> list[str]:
    if "precision" not in plan.methods:
        return []
    return [
        "error: standard error of the difference of a typical pair, Elo; tells: the smallest such difference told "
        f"with {plan.asked['power']:.0%} power, Elo; rank set: mean number of ranks in it",
        f"intervals: {plan.methods['precision']}; of rank sets: Monte Carlo, the ratings taken as true",
    ]


def _needed_title(plan: Plan) -> str:
    return (
        f"what it costs to tell an edge of {plan.asked['edge']:+.3g}, which is {plan.gap_elo:.1f} Elo, with "
        f"{plan.asked['power']:.0%} power for a typical pair"
    )


def _needed_lines(plan: Plan) -> Table:
    return _designs(
        plan,
        ("design", lambda line: line.design),
        ("items", lambda line: _quantity(line.items, "{:,.0f}")),
        ("calls", lambda line: _needed_cost(line, "calls", "{:,.0f}")),
        ("tokens", lambda line: _all_tokens(line.needed)),
        ("money", lambda line: _needed_cost(line, "money", "{:,.2f}")),
    )


def _about_needed(plan: Plan) -> list[str]:
    text = [f"intervals: {plan.methods['precision']}"] if "precision" in plan.methods else []
    return [*text, *([f"cheapest: {plan.cheapest}"] if plan.cheapest else [])]


def _designs(plan: Plan, *columns: tuple[str, Callable[[PricedDesign], str]]) -> Table:
    """Return a row per design; columns that say nothing are left out."""
    kept = [(name, cell) for name, cell in columns if any(cell(line) != EMPTY for line in plan.lines)]
    rows = tuple(tuple(cell(line) for _, cell in kept) for line in plan.lines)
    return Table("", tuple(name for name, _ in kept), rows)


def _bill(bill: Bill | None, name: str, form: str = "{:,}") -> str:
    value = None if bill is None else getattr(bill, name)
    return EMPTY if value is None else form.format(value)


def _all_tokens(bill: Bill | None) -> str:
    if bill is None or bill.tokens_in is None or bill.tokens_out is None:
        return EMPTY
    return _millions(bill.tokens_in + bill.tokens_out)


def _millions(tokens: float | None) -> str:
    return EMPTY if tokens is None else f"{tokens / 1e6:,.2f} M"


def _needed_cost(line: PricedDesign, name: str, form: str) -> str:
    bills = (line.needed, line.needed_low, line.needed_high)
    value, low, high = (None if bill is None else getattr(bill, name) for bill in bills)
    return EMPTY if value is None else _quantity(Quantity(value, low, high), form)


def _quantity(quantity: Quantity | None, form: str) -> str:
    """Write a figure with its interval; a dash where it is unknown."""
    if quantity is None:
        return EMPTY
    return form.format(quantity.value) + ("" if quantity.low is None else f" ({_ends(quantity, form)})")


def _ends(quantity: Quantity, form: str) -> str:
    if quantity.low is None:
        return EMPTY
    return f"{form.format(quantity.low)} … {'∞' if quantity.high is None else form.format(quantity.high)}"
