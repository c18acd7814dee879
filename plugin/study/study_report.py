"""Studies of a record as reports: designs, with Figure 1 of Gera et al. for each ranker; tournaments side by side."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from podium.report.model import EMPTY, Bar, Figure, Report, ReportLayout, Section, Table, shorten_report
from podium.report.numbers import cell_text, share_text
from podium.study.findings import Findings, Point, Spread
from podium.study.laboratory import MEAN_ANCHOR, middle_size
from podium.study.side_by_side import COSTS, TournamentRow, TournamentTable
from podium.text import plural

UNEVEN = "models who met different opponents (swim, a pilot) have win rates on different scales; ratings have one"
HEADER = ("tournament", "budget", *COSTS, "90% within", "answered", "error", "tau", "failed")
IDLE = {"budget": EMPTY, "missing": "0", "90% within": EMPTY, "answered": EMPTY, "failed": "0"}
"""Cells that say nothing; of other columns, none."""


def select_reports(findings: Findings, section: str | None, *, full: bool) -> tuple[Report, ...]:
    """Return the report with Kendall's tau by design and number of items; or one section, or all.

    Raises:
        UsageError: there is no section of this name.
    """
    [report] = study_reports(findings)
    return (shorten_report(report, ("tau",), section, full=full),)


def study_reports(findings: Findings) -> tuple[Report, ...]:
    """Say what was compared with what, with a section for each question."""
    whole = findings.whole
    battles = f"{whole['judged']:,} of {whole['battles']:,} battles judged"
    title = f"study · {findings.models} models, {whole['items']:,} items, {battles}"
    notes, answer = tuple(_legend(findings)), _best_of_study(findings)
    return (Report(title, answer, notes=notes, sections=tuple(_sections(findings)), form=ReportLayout.SHEET),)


def _best_of_study(findings: Findings) -> tuple[str, ...]:
    """Name the design that agrees most with the reference on most items, and the cheapest that agrees alike."""
    kinds = ("anchor", "tournament")
    known = [
        (point, point.tau)
        for point in findings.points
        if point.figure in kinds and point.tau is not None and point.calls is not None
        if (point.battles or 0) < findings.whole["battles"]
    ]
    if not known:
        return ()
    items = max(point.items for point, _ in known)
    last = [pair for pair in known if pair[0].items == items]
    best, tau = max(last, key=lambda pair: (pair[1].mean, -(pair[0].calls or 0)))
    alike = [pair for pair in last if pair[1].mean >= (tau.mean if tau.low is None else tau.low)]
    cheapest, other = min(alike, key=lambda pair: (pair[0].calls or 0, -pair[1].mean))
    first = (
        f"On {items:,} items {_design_text(best)} agrees most with the reference: tau {tau.mean:.3f}, for "
        f"{best.calls:,.0f} judge calls."
    )
    if cheapest is best:
        return (first,)
    return first, f"{_design_text(cheapest)} agrees alike (tau {other.mean:.3f}) for {cheapest.calls:,.0f}."


def _design_text(point: Point) -> str:
    return f"{'anchor ' if point.figure == 'anchor' else ''}{point.design} by {point.ranker}"


def _legend(findings: Findings) -> list[str]:
    seeds, reference = max(point.seeds for point in findings.points), findings.reference
    partial = findings.known != findings.models
    known = f", which knows {findings.known} of {findings.models} models" if partial else ""
    text = [
        f"reference: {reference}{known}; {seeds} {plural('seed', seeds)}: each draws items, anchors and models",
        "tau: Kendall's tau-b with the reference; error: mean absolute difference from it, both centred",
    ]
    if not partial and reference.startswith("all "):
        text.append("samples are part of the reference: the nearer to all items, the less chance seems to do")
    return text


def _sections(findings: Findings) -> Iterator[Section]:
    points = findings.points
    sizes = sorted({point.items for point in points if point.figure == "anchor"})
    yield _anchors(findings, middle_size(sizes[:-1] or sizes))
    strongest = next((model.anchor for model in findings.anchors if model.place == 1), None)
    anchor = strongest, f"anchor {strongest}, the strongest"
    for ranker in findings.rankers:
        own = [point for point in points if point.ranker == ranker]
        notes = (UNEVEN,) if ranker == "win-rate" else ()
        table = _by_items(own, sizes, _tau, *anchor)
        yield Section("tau", f"Kendall's tau by number of items, {ranker}", tables=(table,), notes=notes)
        if any(point.error for point in own):
            scale = findings.scales[ranker]
            title = f"rating error by number of items, {ranker}, {'Elo' if scale == 'elo' else scale}"
            yield Section("error", title, tables=(_by_items(own, sizes, _error, *anchor),))
    played = [point for point in points if point.ranker == findings.rankers[0] and point.design != MEAN_ANCHOR]
    first = next(point.design for point in played if point.figure == "anchor")
    table = _by_items(played, sizes, _cost, first, "one anchor")
    yield Section("calls", "judge calls by number of items", tables=(table,))
    drawn = [point for point in points if point.figure == "anchors"]
    labels = {point.design: (point.design, _cost(point)) for point in drawn}
    table = _by_ranker(findings, ("design", "calls"), labels, drawn)
    yield Section("number_of_anchors", f"anchors drawn at random, {sizes[-1]:,} items", tables=(table,))
    if models := [point for point in points if point.figure == "models"]:
        title = f"Kendall's tau by number of models, drawn at random, {models[0].items:,} items"
        numbers = sorted({point.models for point in models})
        rows = _grid(models, "models", numbers, _tau, lambda point: (point.design, point.ranker))
        table = Table("", ("design", "ranker", *map(str, numbers)), tuple(rows), "ll" + "r" * len(numbers))
        yield Section("number_of_models", title, tables=(table,))


def _anchors(findings: Findings, items: int) -> Section:
    """Return every model as the anchor, and tau over the anchors' places (Figure 1)."""
    own = [point for point in findings.points if point.figure == "anchor" and point.items == items]
    level = f"{100 * findings.level:g}%"
    notes = [
        f"place: in the reference, 1 = best; informative: pairs of others told apart, {level} interval "
        f"(item-clustered sandwich); picture: {level} Monte-Carlo interval"
    ]
    figures = []
    for ranker in findings.rankers:
        taus = {point.design: point.tau for point in own if point.ranker == ranker and point.tau}
        if taus:
            means = {name: tau.mean for name, tau in taus.items()}
            best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
            ends = f"best {best} {means[best]:.2f}, worst {worst} {means[worst]:.2f}"
            if r := findings.correlation(ranker, items):
                ends += f"; tau and informativeness over anchors: r = {r.mean:.2f} ({r.low:.2f} … {r.high:.2f})"
            notes.append(f"{ranker}: {ends}")
        placed = [(each.place, taus[each.anchor]) for each in findings.anchors if each.place and each.anchor in taus]
        # A picture of one place would show nothing.
        if len(placed) > 1:
            bars = tuple(Bar(tau.low, tau.mean, tau.high) for _, tau in placed)
            places = tuple(str(place) for place, _ in placed)
            figures.append(Figure(f"tau by the anchor's place, {ranker}", bars, places))
    title = f"every model as the anchor, {items:,} items (mean ± Monte-Carlo standard error)"
    labels = {}
    for model in findings.anchors:
        share = share_text(model.informativeness)
        unbounded = model.low is None or model.high is None
        ends = EMPTY if unbounded else f"{model.low:.1%} … {model.high:.1%}"
        labels[model.anchor] = (model.anchor, str(model.place or EMPTY), share, ends)
    table = _by_ranker(findings, ("anchor", "place", "informative", "interval"), labels, own)
    return Section("anchors", title, tables=(table,), figures=tuple(figures), notes=tuple(notes))


def _by_ranker(
    findings: Findings, header: Sequence[str], labels: Mapping[str, Sequence[str]], points: Sequence[Point]
) -> Table:
    """Return a row per design, its label before tau and error by each ranker."""
    heads = [name for ranker in findings.rankers for name in (f"tau, {ranker}", f"error, {ranker}")]
    rows = []
    for design, label in labels.items():
        own = [point for point in points if point.design == design]
        rows.append((*label, *(cell for point in own for cell in (_tau(point), _error(point)))))
    return Table("", (*header, *heads), tuple(rows))


def _by_items(
    points: Sequence[Point], sizes: Sequence[int], cell: Callable[[Point], str], anchor: str | None, label: str
) -> Table:
    """Return a row per tournament, and one for an anchor."""
    rows = _grid([point for point in points if point.figure == "tournament"], "items", sizes, cell)
    own = [point for point in points if point.figure == "anchor" and point.design == anchor]
    rows += _grid(own, "items", sizes, cell, lambda _: (label,))
    return Table("", ("design", *(f"{size:,}" for size in sizes)), tuple(rows))


def _grid(
    points: Sequence[Point],
    axis: str,
    values: Sequence[int],
    cell: Callable[[Point], str],
    label: Callable[[Point], tuple[str, ...]] = lambda point: (point.design,),
) -> list[tuple[str, ...]]:
    """Return a row per label, a cell per value of an attribute of points; a dash where there is no point."""
    known: defaultdict[tuple[str, ...], dict[int, str]] = defaultdict(dict)
    for point in points:
        known[label(point)][getattr(point, axis)] = cell(point)
    return [(*name, *(cells.get(value, EMPTY) for value in values)) for name, cells in known.items()]


def _cost(point: Point) -> str:
    return cell_text(point.calls, ",.0f")


def _tau(point: Point) -> str:
    return _spread(point.tau, 3, point)


def _error(point: Point) -> str:
    return _spread(point.error, 1 if point.error and point.error.mean >= 1 else 3, point)


def _spread(spread: Spread | None, digits: int, point: Point) -> str:
    if spread is None:
        return EMPTY
    # The denominator, wherever it is not all seeds.
    seeds = f" ({point.seeds - point.failed} of {point.seeds})" if point.failed else ""
    return _with_deviation(spread.mean, spread.se, digits) + seeds


def side_by_side_reports(figures: TournamentTable) -> tuple[Report, ...]:
    """Say what is compared with what, a tournament a row."""
    whole, seeds = figures.whole, max(row.seeds for row in figures.rows)
    unit = "Elo" if figures.scale == "elo" else figures.scale
    means = f"means ± standard deviation over {seeds} seeds" if seeds > 1 else "one seed"
    legend = (
        f"error: mean absolute difference of the scores ({unit}), both centred; tau: Kendall's; {means}; "
        "calls: judge calls, both orders"
    )
    if any(row.tournament.partition(" ")[0] == "ring" for row in figures.rows):
        legend += " (a ring: one)"
    if any(row.answered is not None for row in figures.rows):
        legend += "; answered: seeds in which the question was; 90% within: calls of nine of ten seeds"
    rows = [_cells_of_row(row) for row in figures.rows]
    kept = [k for k, name in enumerate(HEADER) if any(row[k] != IDLE.get(name) for row in rows)]
    header, *rows = (tuple(row[k] for k in kept) for row in (HEADER, *rows))
    title = f"tournaments against all {whole['battles']:,} battles of {whole['items']:,} items, by {figures.ranker}"
    answer = (*_answer_to_question(figures), *_nearest_and_cheapest(figures, unit))
    return (Report(title, answer, table=Table("", header, tuple(rows), legend=(legend,)), form=ReportLayout.SHEET),)


def _answer_to_question(figures: TournamentTable) -> tuple[str, ...]:
    """Name the design that answers a question most often, for the fewest calls; nothing where none is asked."""
    asked = [(-row.answered, row.calls, row.tournament) for row in figures.rows if row.answered is not None]
    if not asked:
        return ()
    share, calls, name = min(asked)
    if not share:
        return ("No tournament answers the question on these items: more items, or a margin, would help.",)
    return (f"{name} answers the question in {-share:.0%} of seeds, for {calls:,.0f} judge calls on average.",)


def _nearest_and_cheapest(figures: TournamentTable, unit: str) -> tuple[str, ...]:
    """Name the design nearest to the whole record, and the one of the fewest calls that errs alike."""
    ranked = [(row, row.error) for row in figures.rows if row.error is not None]
    # Whatever plays the whole record is at its ranking by definition.
    known = [(row, error) for row, error in ranked if row.battles < figures.whole["battles"]] or ranked
    if not known:
        return ("No tournament gave a ranking of everyone.",)
    nearest, least = min(known, key=lambda pair: (pair[1], pair[0].calls))
    alike = [pair for pair in known if pair[1] <= least + (nearest.error_sd or 0.0)]
    cheapest, error = min(alike, key=lambda pair: (pair[0].calls, pair[1]))
    digits = 1 if least >= 1 else 3
    first = (
        f"{nearest.tournament} is nearest to the ranking of the whole record: {least:.{digits}f} {unit} off on "
        f"average, for {nearest.calls:,.0f} judge calls."
    )
    if cheapest is nearest:
        return (first,)
    return first, (
        f"{cheapest.tournament} errs alike ({error:.{digits}f}, within a standard deviation over seeds) for "
        f"{cheapest.calls:,.0f} calls."
    )


def _cells_of_row(row: TournamentRow) -> tuple[str, ...]:
    return (
        row.tournament,
        cell_text(row.budget, ","),
        *(f"{getattr(row, name):,.0f}" for name in COSTS),
        cell_text(row.most, ","),
        cell_text(row.answered, ".0%"),
        _with_deviation(row.error, row.error_sd, 1),
        _with_deviation(row.tau, row.tau_sd, 2),
        str(row.failed),
    )


def _with_deviation(mean: float | None, sd: float | None, digits: int) -> str:
    if mean is None:
        return EMPTY
    return f"{mean:.{digits}f}" + ("" if sd is None else f" ± {sd:.{digits}f}")
