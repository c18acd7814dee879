"""A study of a record as a report: tables, and Figure 1 of Gera et al. for each ranker."""

from collections.abc import Callable, Iterator, Sequence

from podium.report.model import EMPTY, Bar, Figure, Form, Report, Section, Table, notes_of
from podium.study.findings import Findings, Point, Spread
from podium.study.laboratory import middle_size

MEAN_ANCHOR = "anchor, mean of all"
UNEVEN = "entrants who met different opponents (swim, a pilot) have win rates on different scales; ratings have one"


def study_reports(findings: Findings) -> tuple[Report, ...]:
    """Say what was compared with what, with a section for each question."""
    notes = notes_of(*_legend(findings))
    return (Report(_title(findings), notes=notes, sections=tuple(_sections(findings)), form=Form.SHEET),)


def _sections(findings: Findings) -> Iterator[Section]:
    sizes = sorted({point.items for point in findings.points if point.figure == "anchor"})
    shown = middle_size(sizes[:-1] or sizes)
    figures = tuple(figure for ranker in findings.rankers if (figure := _figure(findings, ranker, shown)))
    yield Section(
        "anchors",
        f"every entrant as the anchor, {shown:,} items (mean ± Monte-Carlo standard error)",
        tables=(_by_anchor(findings, shown),),
        figures=figures,
        notes=notes_of(*_anchor_legend(findings, shown)),
    )
    for ranker in findings.rankers:
        notes = notes_of(*([UNEVEN] if ranker == "win-rate" else []))
        table = _by_items(findings, ranker, sizes, _tau)
        yield Section("tau", f"Kendall's tau by number of items, {ranker}", tables=(table,), notes=notes)
        if any(point.error for point in findings.points if point.ranker == ranker):
            title = f"rating error by number of items, {ranker}, {_unit(findings, ranker)}"
            yield Section("error", title, tables=(_by_items(findings, ranker, sizes, _error),))
    yield Section("calls", "judge calls by number of items", tables=(_calls(findings, sizes),))
    title = f"anchors drawn at random, {sizes[-1]:,} items"
    yield Section("number_of_anchors", title, tables=(_by_number(findings, "anchors"),))
    if entrants := [point for point in findings.points if point.figure == "entrants"]:
        title = f"Kendall's tau by number of entrants, drawn at random, {entrants[0].items:,} items"
        yield Section("number_of_entrants", title, tables=(_by_entrants(findings, entrants),))


def _title(findings: Findings) -> str:
    whole = findings.whole
    battles = f"{whole['judged']:,} of {whole['battles']:,} battles judged"
    return f"study · {findings.entrants} entrants, {whole['items']:,} items, {battles}"


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


def _by_anchor(findings: Findings, items: int) -> Table:
    rows = []
    for entrant in findings.anchors:
        points = {point.ranker: point for point in _anchor_points(findings, items, entrant.anchor)}
        share = EMPTY if entrant.informativeness is None else f"{entrant.informativeness:.1%}"
        unbounded = entrant.low is None or entrant.high is None
        ends = EMPTY if unbounded else f"{entrant.low:.1%} … {entrant.high:.1%}"
        rows.append((entrant.anchor, str(entrant.place or EMPTY), share, ends, *_by_ranker(findings, points)))
    return Table("", ("anchor", "place", "informative", "interval", *_ranker_names(findings)), tuple(rows))


def _ranker_names(findings: Findings) -> list[str]:
    return [name for ranker in findings.rankers for name in (f"tau, {ranker}", f"error, {ranker}")]


def _by_ranker(findings: Findings, points: dict[str, Point]) -> list[str]:
    """Return tau and error by each ranker, of the point that each gave."""
    return [cell for ranker in findings.rankers for cell in (_tau(points[ranker]), _error(points[ranker]))]


def _anchor_points(findings: Findings, items: int, anchor: str | None = None) -> list[Point]:
    return [
        point
        for point in findings.points
        if point.figure == "anchor" and point.items == items and anchor in (None, point.design)
    ]


def _figure(findings: Findings, ranker: str, items: int) -> Figure | None:
    """Show tau over the anchors' places (Figure 1); None where fewer than two places are known."""
    points = {point.design: point for point in _anchor_points(findings, items) if point.ranker == ranker}
    placed = [entrant for entrant in findings.anchors if entrant.place is not None and points[entrant.anchor].tau]
    if len(placed) < 2:
        return None
    taus = [points[entrant.anchor].tau for entrant in placed]
    bars = tuple(Bar(tau.low, tau.mean, tau.high) for tau in taus if tau)
    return Figure(f"tau by the anchor's place, {ranker}", bars, tuple(str(entrant.place) for entrant in placed))


def _anchor_legend(findings: Findings, items: int) -> list[str]:
    level = f"{100 * findings.level:g}%"
    text = [
        f"place: in the reference, 1 = best; informative: pairs of others told apart, {level} interval "
        f"(item-clustered sandwich); picture: {level} Monte-Carlo interval"
    ]
    for ranker in findings.rankers:
        points = [point for point in _anchor_points(findings, items) if point.ranker == ranker and point.tau]
        if points:
            best, worst = (pick(points, key=_mean_tau) for pick in (max, min))
            ends = [f"{point.design} {_mean_tau(point):.2f}" for point in (best, worst)]
            text.append(f"{ranker}: best {ends[0]}, worst {ends[1]}{_correlation(findings, ranker, items)}")
    return text


def _mean_tau(point: Point) -> float:
    return point.tau.mean if point.tau else float("-inf")


def _correlation(findings: Findings, ranker: str, items: int) -> str:
    r = findings.correlation(ranker, items)
    if r is None:
        return ""
    return f"; tau and informativeness over anchors: r = {r.mean:.2f} ({r.low:.2f} … {r.high:.2f})"


def _by_items(findings: Findings, ranker: str, sizes: Sequence[int], cell: Callable[[Point], str]) -> Table:
    strongest = next((entrant.anchor for entrant in findings.anchors if entrant.place == 1), None)
    points = [point for point in findings.points if point.ranker == ranker]
    rows = _tournament_rows(points, sizes, cell)
    if strongest is not None:
        own = [point for point in points if point.figure == "anchor" and point.design == strongest]
        rows.append((f"anchor {strongest}, the strongest", *_cells_by_size(sizes, own, cell)))
    return Table("", ("design", *(f"{size:,}" for size in sizes)), tuple(rows))


def _tournament_rows(
    points: Sequence[Point], sizes: Sequence[int], cell: Callable[[Point], str]
) -> list[tuple[str, ...]]:
    played = [point for point in points if point.figure == "tournament"]
    designs = dict.fromkeys(point.design for point in played)
    return [
        (name, *_cells_by_size(sizes, [point for point in played if point.design == name], cell)) for name in designs
    ]


def _cells_by_size(sizes: Sequence[int], points: Sequence[Point], cell: Callable[[Point], str]) -> list[str]:
    known = {point.items: cell(point) for point in points}
    return [known.get(size, EMPTY) for size in sizes]


def _calls(findings: Findings, sizes: Sequence[int]) -> Table:
    points = [point for point in findings.points if point.ranker == findings.rankers[0]]
    rows = _tournament_rows([point for point in points if point.design != MEAN_ANCHOR], sizes, _cost)
    anchor = next((point.design for point in findings.points if point.figure == "anchor"), None)
    own = [point for point in points if point.figure == "anchor" and point.design == anchor]
    rows.append(("one anchor", *_cells_by_size(sizes, own, _cost)))
    return Table("", ("design", *(f"{size:,}" for size in sizes)), tuple(rows))


def _cost(point: Point) -> str:
    return EMPTY if point.calls is None else f"{point.calls:,.0f}"


def _by_number(findings: Findings, figure: str) -> Table:
    points = [point for point in findings.points if point.figure == figure]
    rows = []
    for design in dict.fromkeys(point.design for point in points):
        own = {point.ranker: point for point in points if point.design == design}
        rows.append((design, _cost(own[findings.rankers[0]]), *_by_ranker(findings, own)))
    return Table("", ("design", "calls", *_ranker_names(findings)), tuple(rows))


def _by_entrants(findings: Findings, points: Sequence[Point]) -> Table:
    numbers = sorted({point.entrants for point in points})
    rows = []
    for design in dict.fromkeys(point.design for point in points):
        for ranker in findings.rankers:
            own = {point.entrants: _tau(point) for point in points if (point.design, point.ranker) == (design, ranker)}
            rows.append((design, ranker, *(own.get(number, EMPTY) for number in numbers)))
    return Table("", ("design", "ranker", *map(str, numbers)), tuple(rows), "ll" + "r" * len(numbers))


def _unit(findings: Findings, ranker: str) -> str:
    scale = findings.scales[ranker]
    return "Elo" if scale == "elo" else scale


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
