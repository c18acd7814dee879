"""Studies of a record as reports: designs, with Figure 1 of Gera et al. for each ranker; tournaments side by side."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from podium.report.model import EMPTY, Bar, Figure, Form, Report, Section, Table, notes_of
from podium.study.findings import Findings, Point, Spread
from podium.study.laboratory import MEAN_ANCHOR, middle_size
from podium.study.side_by_side import COSTS, TournamentRow, TournamentTable

UNEVEN = "entrants who met different opponents (swim, a pilot) have win rates on different scales; ratings have one"
HEADER = ("tournament", "budget", *COSTS, "90% within", "answered", "error", "tau", "failed")
IDLE = {"budget": EMPTY, "missing": "0", "90% within": EMPTY, "answered": EMPTY, "failed": "0"}
"""Cells that say nothing; of other columns, none."""


def study_reports(findings: Findings) -> tuple[Report, ...]:
    """Say what was compared with what, with a section for each question."""
    whole = findings.whole
    battles = f"{whole['judged']:,} of {whole['battles']:,} battles judged"
    title = f"study · {findings.entrants} entrants, {whole['items']:,} items, {battles}"
    notes, answer = notes_of(*_legend(findings)), _best_of_study(findings)
    return (Report(title, answer, notes=notes, sections=tuple(_sections(findings)), form=Form.SHEET),)


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
    partial = findings.known != findings.entrants
    known = f", which knows {findings.known} of {findings.entrants} entrants" if partial else ""
    text = [
        f"reference: {reference}{known}; {seeds} seeds, each drawing items, anchors and entrants anew",
        "tau: Kendall's tau-b with the reference; error: mean absolute difference from it, both centred",
    ]
    if not partial and reference.startswith("all "):
        text.append("samples are part of the reference: the nearer to all items, the less chance seems to do")
    return text


def _sections(findings: Findings) -> Iterator[Section]:
    points = findings.points
    sizes = sorted({point.items for point in points if point.figure == "anchor"})
    yield _anchors(findings, middle_size(sizes[:-1] or sizes))
    for ranker in findings.rankers:
        own = [point for point in points if point.ranker == ranker]
        notes = notes_of(*([UNEVEN] if ranker == "win-rate" else []))
        table = _by_items(findings, own, sizes, _tau)
        yield Section("tau", f"Kendall's tau by number of items, {ranker}", tables=(table,), notes=notes)
        if any(point.error for point in own):
            scale = findings.scales[ranker]
            title = f"rating error by number of items, {ranker}, {'Elo' if scale == 'elo' else scale}"
            yield Section("error", title, tables=(_by_items(findings, own, sizes, _error),))
    yield Section("calls", "judge calls by number of items", tables=(_calls(findings, sizes),))
    drawn = [point for point in points if point.figure == "anchors"]
    title = f"anchors drawn at random, {sizes[-1]:,} items"
    yield Section("number_of_anchors", title, tables=(_by_number(findings, drawn),))
    if entrants := [point for point in points if point.figure == "entrants"]:
        title = f"Kendall's tau by number of entrants, drawn at random, {entrants[0].items:,} items"
        numbers = sorted({point.entrants for point in entrants})
        rows = _grid(entrants, "entrants", numbers, _tau, lambda point: (point.design, point.ranker))
        table = Table("", ("design", "ranker", *map(str, numbers)), tuple(rows), "ll" + "r" * len(numbers))
        yield Section("number_of_entrants", title, tables=(table,))


def _anchors(findings: Findings, items: int) -> Section:
    """Return every entrant as the anchor, and tau over the anchors' places (Figure 1)."""
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
            notes.append(f"{ranker}: {ends}{_correlation(findings, ranker, items)}")
        placed = [(each.place, taus[each.anchor]) for each in findings.anchors if each.place and each.anchor in taus]
        # A picture of one place would show nothing.
        if len(placed) > 1:
            bars = tuple(Bar(tau.low, tau.mean, tau.high) for _, tau in placed)
            places = tuple(str(place) for place, _ in placed)
            figures.append(Figure(f"tau by the anchor's place, {ranker}", bars, places))
    title = f"every entrant as the anchor, {items:,} items (mean ± Monte-Carlo standard error)"
    table = _by_anchor(findings, own)
    return Section("anchors", title, tables=(table,), figures=tuple(figures), notes=notes_of(*notes))


def _correlation(findings: Findings, ranker: str, items: int) -> str:
    r = findings.correlation(ranker, items)
    if r is None:
        return ""
    return f"; tau and informativeness over anchors: r = {r.mean:.2f} ({r.low:.2f} … {r.high:.2f})"


def _by_anchor(findings: Findings, points: Sequence[Point]) -> Table:
    rows = []
    for entrant in findings.anchors:
        share = EMPTY if entrant.informativeness is None else f"{entrant.informativeness:.1%}"
        unbounded = entrant.low is None or entrant.high is None
        ends = EMPTY if unbounded else f"{entrant.low:.1%} … {entrant.high:.1%}"
        own = [point for point in points if point.design == entrant.anchor]
        rows.append((entrant.anchor, str(entrant.place or EMPTY), share, ends, *_by_ranker(own)))
    return Table("", ("anchor", "place", "informative", "interval", *_heads(findings)), tuple(rows))


def _by_number(findings: Findings, points: Sequence[Point]) -> Table:
    rows = []
    for design in dict.fromkeys(point.design for point in points):
        own = [point for point in points if point.design == design]
        rows.append((design, _cost(own[0]), *_by_ranker(own)))
    return Table("", ("design", "calls", *_heads(findings)), tuple(rows))


def _heads(findings: Findings) -> list[str]:
    return [name for ranker in findings.rankers for name in (f"tau, {ranker}", f"error, {ranker}")]


def _by_ranker(points: Sequence[Point]) -> list[str]:
    """Return tau and error by each ranker; each gave one of the points, in their order."""
    return [cell for point in points for cell in (_tau(point), _error(point))]


def _by_items(findings: Findings, points: Sequence[Point], sizes: Sequence[int], cell: Callable[[Point], str]) -> Table:
    rows = _grid([point for point in points if point.figure == "tournament"], "items", sizes, cell)
    strongest = next((entrant.anchor for entrant in findings.anchors if entrant.place == 1), None)
    own = [point for point in points if point.figure == "anchor" and point.design == strongest]
    rows += _grid(own, "items", sizes, cell, lambda point: (f"anchor {point.design}, the strongest",))
    return Table("", ("design", *(f"{size:,}" for size in sizes)), tuple(rows))


def _calls(findings: Findings, sizes: Sequence[int]) -> Table:
    points = [point for point in findings.points if point.ranker == findings.rankers[0]]
    played = [point for point in points if point.figure == "tournament" and point.design != MEAN_ANCHOR]
    anchors = [point for point in points if point.figure == "anchor"]
    own = [point for point in anchors if point.design == anchors[0].design]
    rows = [*_grid(played, "items", sizes, _cost), *_grid(own, "items", sizes, _cost, lambda _: ("one anchor",))]
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
    return EMPTY if point.calls is None else f"{point.calls:,.0f}"


def _tau(point: Point) -> str:
    return _spread(point.tau, 3, point)


def _error(point: Point) -> str:
    return _spread(point.error, 1 if point.error and point.error.mean >= 1 else 3, point)


def _spread(spread: Spread | None, digits: int, point: Point) -> str:
    if spread is None:
        return EMPTY
    se = "" if spread.se is None else f" ± {spread.se:.{digits}f}"
    # The denominator, wherever it is not all seeds.
    seeds = f" ({point.seeds - point.failed} of {point.seeds})" if point.failed else ""
    return f"{spread.mean:.{digits}f}{se}{seeds}"


def side_by_side_reports(figures: TournamentTable) -> tuple[Report, ...]:
    """Say what is compared with what, a tournament a row."""
    whole, seeds = figures.whole, max(row.seeds for row in figures.rows)
    unit = "Elo" if figures.scale == "elo" else figures.scale
    means = f"means ± standard deviation over {seeds} seeds" if seeds > 1 else "one seed"
    legend = (
        f"error: mean absolute difference of the scores ({unit}), both centred; tau: Kendall's; {means}; "
        "calls: judge calls, both orders"
    )
    if any(row.answered is not None for row in figures.rows):
        legend += "; answered: seeds in which the question was; 90% within: calls of nine of ten seeds"
    rows = [_cells_of_row(row) for row in figures.rows]
    kept = [k for k, name in enumerate(HEADER) if any(row[k] != IDLE.get(name) for row in rows)]
    header, *rows = (tuple(row[k] for k in kept) for row in (HEADER, *rows))
    title = f"tournaments against all {whole['battles']:,} battles of {whole['items']:,} items, by {figures.ranker}"
    answer = _nearest_and_cheapest(figures, unit)
    return (Report(title, answer, table=Table("", header, tuple(rows), legend=(legend,)), form=Form.SHEET),)


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
        EMPTY if row.budget is None else f"{row.budget:,}",
        *(f"{getattr(row, name):,.0f}" for name in COSTS),
        EMPTY if row.most is None else f"{row.most:,}",
        EMPTY if row.answered is None else f"{row.answered:.0%}",
        _with_deviation(row.error, row.error_sd, 1),
        _with_deviation(row.tau, row.tau_sd, 2),
        str(row.failed),
    )


def _with_deviation(mean: float | None, sd: float | None, digits: int) -> str:
    if mean is None:
        return EMPTY
    return f"{mean:.{digits}f}" + ("" if sd is None else f" ± {sd:.{digits}f}")
