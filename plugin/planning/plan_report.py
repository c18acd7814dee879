"""A plan as a report."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any

from podium.check_results import Check, find_flagged
from podium.documents import View, register_view
from podium.numbers import cell_text, range_text
from podium.planning.plan_record import BattleCosts, ComparedSize, Plan, PricedDesign, Tariff
from podium.rankers.estimate import Estimate
from podium.show.answers.fixed_raters import after_colon
from podium.show.report.terminal import bar_column
from podium.tables import EMPTY, Report, Section, Table, shorten_report
from podium.tournaments.anchor import AUTO
from podium.wording import capitalize_first, plural, quantity, word_for

Column = tuple[str, Callable[[Any], str]]
"""The head of a column, and the function that formats a row's cell."""
GROUPS = "groups"
"""Name of the check whether items are alike in groups that are not the unit."""
UNFIT_JUDGE = "order decides"
"""Name of the check that the order of the responses decides: the judge may not rank."""
DEFAULT_REALIZATION = "direct"
"""How a judge is asked unless the user says otherwise."""
DESIGN: Column = ("design", lambda line: line.design)
"""First column of a table of designs."""


def select_reports(plan: Plan, section: str | None, *, full: bool) -> tuple[Report, ...]:
    """Return one report of a plan, shortened to what was asked for.

    Args:
        plan: the plan.
        section: name of the only section to show; None for the answer and, unless a difference for
            `podium compare` was given, the first table on designs that the plan has.
        full: whether to show all sections and notes.

    Raises:
        UsageError: the plan has no such section.
    """
    [report] = plan_reports(plan)
    if not full:
        report = replace(report, notes=())
    # The answer says all about a difference in podium compare; the tables are about ratings.
    first = () if plan.compared else ("costs", "needed", "samples")
    return (shorten_report(report, first, section, full=full),)


def plan_reports(plan: Plan) -> tuple[Report, ...]:
    """Return one report: what to compare and why, with a section for each table.

    Its answer is on how many items to compare and which design to play; without either, it is the
    advice of the decision tree. Doubts about the pilot follow; if its judge may not rank, they
    replace it.
    """
    notes = list(plan.decision.steps)
    answer = []
    if plan.compared:
        answer.append(
            _comparison_sentence(plan.compared, _item_groups_text(plan, plan.compared.items))
        )
    advice = f"{capitalize_first(plan.decision.advice)}."
    design = _design_sentence(plan)
    if design:
        answer.append(design)
        notes.append(advice)
    sections = tuple(_plan_sections(plan))
    opening = tuple(_with_doubts_about_pilot(answer or [advice], plan.doubts))
    return (Report(_plan_title(plan), opening, notes=tuple(notes), sections=sections),)


def _with_doubts_about_pilot(answer: Sequence[str], doubts: Sequence[Check]) -> list[str]:
    """Return an answer with a sentence for each flagged check of the pilot.

    If the judge may not rank (`UNFIT_JUDGE`), the sentences on the doubts and the remedy are the
    whole answer: nothing is recommended that rests on this judge. Otherwise, if items are alike in
    groups (`GROUPS`), the doubts stand first, and the answer begins with the condition that items
    are independent. Otherwise the doubts follow the answer.
    """
    sentences = [f"{doubt.start_sentence(doubt.clause)}." for doubt in doubts]
    unfit = find_flagged(doubts, [UNFIT_JUDGE])
    if unfit is None and find_flagged(doubts, [GROUPS]) is not None:
        opening, *others = answer
        return [*sentences, f"If items were independent: {after_colon(opening, ())}", *others]
    if unfit is None:
        return [*answer, *sentences]
    return [*sentences, f"{capitalize_first(unfit.remedy)}, and make a pilot with it."]


def _comparison_sentence(size: ComparedSize, groups: str) -> str:
    """Write on how many items `podium compare` detects the difference.

    Args:
        size: the number of items, with test and power.
        groups: in how many groups these items are, as `_item_groups_text` writes it; may be empty.
    """
    return (
        f"Compare on {quantity(size.items, 'item')}{groups}: podium compare then detects "
        f"{size.difference} with {size.power:.0%} power ({size.test}; {size.spread})."
    )


def _plan_title(plan: Plan) -> str:
    """Write the title of a plan: the numbers of models and items, and the size of the pilot."""
    request = plan.asked
    items = "items to be found"
    if request["items"] is not None:
        items = quantity(request["items"], "item")
    pilot = "no pilot"
    counts = request["pilot_battles"]
    if counts:
        judged_text = f"{counts.with_verdict:,} of {quantity(counts.battles, 'battle')} judged"
        items_text = f"{quantity(request['pilot_items'], 'item')}{_item_groups_text(plan)}"
        pilot = f"pilot of {items_text}: {judged_text}"
        if counts.identical:
            pilot += f", {quantity(counts.identical, 'tie')} of identical responses"
    return f"plan · {request['models']} models, {items}; {pilot}"


def _item_groups_text(plan: Plan, items: float | None = None) -> str:
    """Write in how many groups a number of items is, such as ` in 12 passages`.

    Without a number, the groups are those of the pilot. The text begins with a space, and is empty
    if the pilot's items have no groups.
    """
    groups = plan.asked["groups"]
    if groups is None:
        return ""
    number = groups.number if items is None else groups.number_for(items)
    return f" in {quantity(number, groups.unit)}"


def _design_sentence(plan: Plan) -> str:
    """Write which design detects the asked edge at the least cost.

    The sentences give its items, calls and price. If a number of items is planned, they also say
    what these cost and detect. The text is empty if there is no best design, or if its cost is
    unknown.
    """
    best = _best_design(plan)
    if best is None or best.needed is None or best.items is None:
        return ""
    play = f"Play podium/{_tournament_text(best)}"
    goal = (
        f"detect {plan.gap_elo:.0f} Elo between two models of typical strength with "
        f"{plan.asked['power']:.0%} power"
    )
    if best.planned and best.gap:
        planned = _calls_and_price(best.planned)
        items = plan.asked["items"]
        play += f" on all {quantity(items, 'item')}: {planned}; it detects {best.gap.value:.0f} Elo"
    items_needed = f"{best.items.value:,.0f} items{_item_groups_text(plan, best.items.value)}"
    needed = f"{items_needed} and {_calls_and_price(best.needed)}"
    priced = [line for line in plan.lines if line.needed]
    least = ": the least of these designs" if len(priced) > 1 else ""
    return f"{play}. To {goal} takes {needed}{least}."


def _best_design(plan: Plan) -> PricedDesign | None:
    """Return the cheapest design that ranks all models.

    The result is None if not all models are to be ranked, or if no cost is known.
    """
    if plan.decision.design != "ranking":
        return None
    cheapest = (line for line in plan.lines if line.design == plan.cheapest)
    return next(cheapest, None)


def _tournament_text(design: PricedDesign) -> str:
    """Write the name of a tournament, followed by its anchor if it has one."""
    if design.tournament != "anchor":
        return str(design.tournament)
    anchor = design.settings.get("anchor")
    return "anchor (by a pilot)" if anchor is None else f"anchor {anchor}"


def _calls_and_price(costs: BattleCosts) -> str:
    """Write the number of calls, followed by their price in money if it is known."""
    price = "" if costs.money is None else f", {costs.money:,.2f} in money"
    return f"{costs.calls:,.0f} {plural('call', costs.calls)}{price}"


def _command_line(design: PricedDesign, tariff: Mapping[str, Any], cluster: str | None) -> str:
    """Write the command that plays a design.

    It names only options that differ from their defaults; PATH and MODEL stand for what the user
    must fill in.

    Args:
        design: the design, a tournament.
        tariff: a `Tariff` as a mapping.
        cluster: the column with the groups of items; None if items have no groups.
    """
    options: dict[str, Any] = {"responses": "PATH"}
    if design.tournament == "anchor":
        options["anchor"] = design.settings.get("anchor", AUTO)
    priced = Tariff(orders=tariff["orders"], realization=tariff["realization"])
    compares_in_orders = design.tournament != "ring" and not priced.grades_responses
    if tariff["orders"] != "both" and compares_in_orders:
        options["orders"] = tariff["orders"]
    if tariff["repeats"] > 1:
        options["repeats"] = tariff["repeats"]
    if tariff["realization"] not in (None, DEFAULT_REALIZATION):
        options["realization"] = tariff["realization"]
    if not tariff["judges"].isdecimal():
        options["judges"] = tariff["judges"]
    if tariff["overlap"]:
        options["overlap"] = tariff["overlap"]
    if cluster is not None:
        options["cluster"] = cluster
    settings = [quote(f"{key}={value}") for key, value in options.items()]
    typed = " ".join(f"-T {setting}" for setting in settings)
    number = len(Tariff(judges=tariff["judges"]).shares)
    judges = ",".join(["MODEL"] * number)
    jury = judges if number == 1 else f"[{judges}]"
    role = quote(f"judge={jury}")
    return f"inspect eval podium/{design.tournament} {typed} --model-role {role}"


def _plan_sections(plan: Plan) -> Iterator[Section]:
    """Yield the sections of a plan: tables, assumptions, unanswered parts, and the command.

    Tables without data are left out. So is the command if there is no best design or if the pilot's
    judge may not rank.
    """
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
        name="assumptions",
        title="what this rests on",
        notes=tuple(f"- {text}" for text in plan.assumptions),
    )
    if plan.missing:
        notes = [f"- {part.part}: {part.why}; {part.remedy}" for part in plan.missing]
        yield Section(name="missing", title="not answered", notes=tuple(notes))
    best = _best_design(plan)
    if best and find_flagged(plan.doubts, [UNFIT_JUDGE]) is None:
        groups = plan.asked["groups"]
        cluster = None if groups is None else groups.column
        command = _command_line(best, plan.provenance["options"]["tariff"], cluster)
        yield Section(name="play", title="to play it", notes=(command,))


def _anchor_section(plan: Plan) -> Section:
    """Return the table of the pilot's models as anchors, with the informativeness of each."""
    columns: tuple[Column, ...] = (
        ("anchor", lambda candidate: candidate.anchor),
        ("advice", lambda candidate: candidate.advice),
        ("informative", lambda candidate: f"{candidate.informativeness.value:.1%}"),
        ("interval", lambda candidate: _ends_text(candidate.informativeness, "{:.1%}")),
        ("pairs", lambda candidate: f"{candidate.pairs:,}"),
        ("rank set", lambda candidate: range_text(candidate.rank_low, candidate.rank_high)),
    )
    shares = [candidate.informativeness for candidate in plan.candidates]
    bars = bar_column(shares, width=24, label=".0%", ends=(0, 1))
    notes = (
        "informative: pairs of others whose verdicts against it differ, of all pairs compared on "
        "an item",
        f"interval: {plan.methods['informativeness']}; rank set: simultaneous",
    )
    title = "candidates for the anchor"
    return _table_section(
        "candidates", title, plan.candidates, columns, notes, align="llrrrr", bars=bars
    )


def _sample_size_section(plan: Plan) -> Section:
    """Return the table of how many items detect which edge, directly and by an anchor."""
    columns: tuple[Column, ...] = (
        ("wins", lambda sample: f"{0.5 + sample.edge:.4g}"),
        ("edge", lambda sample: f"{sample.edge:+.3g}"),
        ("decided", lambda sample: f"{sample.informative:,}"),
        ("items, direct", lambda sample: _estimate_text(sample.direct, "{:,.0f}")),
        ("by anchor", lambda sample: _estimate_text(sample.anchored, "{:,.0f}")),
        ("by anchor, Wilcoxon", lambda sample: cell_text(sample.wilcoxon, ",")),
    )
    request = plan.asked
    share = request["informativeness"]
    by_anchor = ""
    if share:
        name = f" {plan.anchor}" if plan.anchor else ""
        by_anchor = f"; by anchor{name}: of {share.value:.1%}"
    notes = [
        "wins: of decided items, those that the better model wins; decided: by the formula of "
        "the sign test",
        f"direct: decided are {1 - request['ties'].value:.1%} of all items{by_anchor}",
        f"intervals of items: {plan.methods['sign test']}",
    ]
    if "wilcoxon" in plan.methods:
        notes.append(f"Wilcoxon: by the normal limit of its power; {plan.methods['wilcoxon']}")
    title = (
        f"items that separate two models, {request['power']:.0%} power, one-sided "
        f"{request['alpha']:.3g}"
    )
    return _table_section("samples", title, plan.samples, columns, notes)


def _edge_section(plan: Plan) -> Section:
    """Return the table of the smallest edges that the planned items detect."""
    how_they_meet = {"direct": "they meet directly", "anchor": "both meet the anchor"}
    columns: tuple[Column, ...] = (
        ("when", lambda gap: how_they_meet[gap.how]),
        ("decided", lambda gap: _estimate_text(gap.share, "{:.1%}")),
        ("edge", lambda gap: "none" if gap.edge is None else _estimate_text(gap.edge, "{:+.3f}")),
    )
    items = plan.asked["items"]
    detect = f"{quantity(items, 'item', 'detects|detect')}"
    title = f"the smallest edge that {detect}, one pair at a time (sign test)"
    notes = (f"intervals: {plan.methods['sign test']}",)
    return _table_section("gaps", title, plan.gaps, columns, notes)


def _planned_costs(plan: Plan) -> Section:
    """Return the table of what the planned items cost and detect, by design.

    Columns that are unknown for all designs are left out.
    """
    columns: tuple[Column, ...] = (
        DESIGN,
        ("battles", lambda line: f"{line.planned.battles:,}"),
        ("calls", lambda line: f"{line.planned.calls:,}"),
        ("tokens in", lambda line: _millions_text(line.planned.tokens_in)),
        ("cacheable", lambda line: cell_text(line.planned.cached_share, ".0%")),
        ("tokens out", lambda line: _millions_text(line.planned.tokens_out)),
        ("money", lambda line: cell_text(line.planned.money, ",.2f")),
        ("error", lambda line: _estimate_text(line.error, "{:.1f}")),
        ("detects", lambda line: _estimate_text(line.gap, "{:.0f}")),
    )
    notes = ["tournaments that stop when a question is answered: measured in docs/stopping.md"]
    if "precision" in plan.methods:
        detected = (
            f"detects: the smallest such difference detected with {plan.asked['power']:.0%} "
            "power, Elo"
        )
        error = f"error: standard error of the difference of a typical pair, Elo; {detected}"
        notes = [error, f"intervals: {plan.methods['precision']}", *notes]
    tariff = plan.provenance["options"]["tariff"]
    if tariff["tokens_shared"] is not None:
        notes.append(_cache_note(tariff["tokens_shared"], tariff["least_cached"]))
    items = plan.asked["items"]
    verbs = word_for(items, "costs and detects", "cost and detect")
    title = f"what {quantity(items, 'item')} {verbs}"
    return _table_section("costs", title, plan.lines, columns, notes)


def _cache_note(shared_tokens: float, least: int) -> str:
    """Write what the cacheable share of the input is, or why nothing can be cached.

    Args:
        shared_tokens: number of tokens with which all calls on an item begin.
        least: number of tokens from which on the provider caches.
    """
    if shared_tokens < least:
        return (
            f"cacheable: nothing, as the provider caches beginnings of {least:,} tokens or "
            f"more, and calls on an item share {shared_tokens:,.0f}"
        )
    return (
        "cacheable: share of the tokens in that a provider's prompt cache can serve, at least: "
        f"all calls on an item but the first, {shared_tokens:,.0f} tokens each "
        f"(it keeps beginnings of {least:,} tokens or more)"
    )


def _needed_costs(plan: Plan) -> Section:
    """Return the table of what it costs to detect the asked edge, by design.

    Columns that are unknown for all designs are left out.
    """
    columns: tuple[Column, ...] = (
        DESIGN,
        ("items", lambda line: _estimate_text(line.items, "{:,.0f}")),
        ("calls", lambda line: _needed_cost(line, name="calls", form="{:,.0f}")),
        ("money", lambda line: _needed_cost(line, name="money", form="{:,.2f}")),
    )
    title = (
        f"what it costs to detect an edge of {plan.asked['edge']:+.3g}, which is "
        f"{plan.gap_elo:.1f} Elo, with {plan.asked['power']:.0%} power for a typical pair"
    )
    notes = []
    if "precision" in plan.methods:
        notes.append(f"intervals: {plan.methods['precision']}")
    if plan.cheapest:
        notes.append(f"cheapest: {plan.cheapest}")
    return _table_section("needed", title, plan.lines, columns, notes)


def _table_section(
    name: str,
    title: str,
    rows: Sequence[Any],
    columns: Sequence[Column],
    notes: Sequence[str],
    **more: Any,
) -> Section:
    """Return a section with one table, which has a row per record.

    A table of designs (its first column is `DESIGN`) leaves out its empty columns; others keep
    them.

    Args:
        name: name of the section.
        title: title of the section.
        rows: the records.
        columns: the columns.
        notes: notes below the table.
        **more: further arguments of `Table`, such as `align` and `bars`.
    """
    heads = []
    cells_by_column = []
    for head, format_cell in columns:
        cells = [format_cell(row) for row in rows]
        is_empty = all(cell == EMPTY for cell in cells)
        if is_empty and columns[0] is DESIGN:
            continue  # tables of designs leave out empty columns
        heads.append(head)
        cells_by_column.append(cells)
    table = Table(
        title="", header=tuple(heads), rows=tuple(zip(*cells_by_column, strict=True)), **more
    )
    return Section(name=name, title=title, tables=(table,), notes=tuple(notes))


def _needed_cost(line: PricedDesign, name: str, form: str) -> str:
    """Format calls or money of the needed items, with the interval; a dash if it is unknown.

    Args:
        line: the design.
        name: attribute of `BattleCosts`: `calls` or `money`.
        form: format string of a number.
    """
    costs = (line.needed, line.needed_low, line.needed_high)
    # A cost that is None has no such attribute, which gives None again.
    value, low, high = (getattr(cost, name, None) for cost in costs)
    return EMPTY if value is None else _estimate_text(Estimate(value, low, high), form)


def _millions_text(tokens: float | None) -> str:
    """Format a number of tokens in millions, such as `1.25 M`; a dash if it is unknown."""
    return EMPTY if tokens is None else f"{tokens / 1e6:,.2f} M"


def _estimate_text(estimate: Estimate | None, form: str) -> str:
    """Format a number, followed by its interval in brackets if it has one.

    Args:
        estimate: the number; None gives a dash.
        form: format string of a number, such as `{:.1%}`.
    """
    if estimate is None:
        return EMPTY
    value = form.format(estimate.value)
    return value if estimate.low is None else f"{value} ({_ends_text(estimate, form)})"


def _ends_text(estimate: Estimate, form: str) -> str:
    """Format the ends of an interval, such as `1.0 … 2.0`.

    The text is a dash if there is no lower end; the upper end is `∞` if it is unknown.
    """
    if estimate.low is None:
        return EMPTY
    high = "∞" if estimate.high is None else form.format(estimate.high)
    return f"{form.format(estimate.low)} … {high}"


register_view(Plan, View(plan_reports))
