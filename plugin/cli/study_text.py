"""A study of a record as tables and a picture, JSON, CSV or Markdown."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click
from rich.cells import cell_len

from podium.cli.aligned import PLAIN_WIDTH, aligned, markdown_table, paragraphs, room
from podium.cli.plot import drawn
from podium.cli.printable import printable
from podium.cli.tables import literal
from podium.study.findings import Findings, Point, Spread
from podium.study.laboratory import middle_size

EMPTY = "–"
Table = tuple[list[str], list[list[str]], int]
"""Header, rows, and how many columns are words."""
Part = tuple[str, Table | None, Sequence[str], Sequence[str]]
"""A title, a table, a picture, and lines below."""
MEAN_ANCHOR = "anchor, mean of all"
UNEVEN = "entrants who met different opponents (swim, a pilot) have win rates on different scales; ratings have one"


def write(found: Findings, style: str, output: Path | None) -> None:
    """Write the study to a file, or to stdout."""
    if output is None:
        sys.stdout.write(as_text(found, style, room(sys.stdout.isatty())))
        return
    output.write_text(as_text(found, style), encoding="utf-8", errors="backslashreplace")
    click.echo(f"podium: wrote {output}", err=True)


def as_text(found: Findings, style: str, width: int = PLAIN_WIDTH) -> str:
    """Return the study in one of the styles table, json, csv, md; a table is as wide as there is room."""
    if style == "json":
        return found.to_json() + "\n"
    if style == "csv":
        return found.to_frame().to_csv(index=False)
    parts = [_markdown(*part) if style == "md" else _plain(*part, width) for part in _parts(found, width)]
    return "\n\n".join(parts) + "\n"


def _parts(found: Findings, width: int) -> Iterator[Part]:
    yield _title(found), None, (), _legend(found)
    sizes = sorted({point.items for point in found.points if point.figure == "anchor"})
    shown = middle_size(sizes[:-1] or sizes)
    title = f"every entrant as the anchor, {shown:,} items (mean ± Monte-Carlo standard error)"
    yield title, _by_anchor(found, shown), _pictures(found, shown, width), _anchor_legend(found, shown)
    for ranker in found.rankers:
        told = (UNEVEN,) if ranker == "win-rate" else ()
        yield f"Kendall's tau by number of items, {ranker}", _by_items(found, ranker, sizes, _tau), (), told
        if any(point.error for point in found.points if point.ranker == ranker):
            unit = _unit(found, ranker)
            yield f"rating error by number of items, {ranker}, {unit}", _by_items(found, ranker, sizes, _error), (), ()
    yield "judge calls by number of items", _calls(found, sizes), (), ()
    yield f"anchors drawn at random, {sizes[-1]:,} items", _by_number(found, "anchors"), (), ()
    if entrants := [point for point in found.points if point.figure == "entrants"]:
        title = f"Kendall's tau by number of entrants, drawn at random, {entrants[0].items:,} items"
        yield title, _by_entrants(found, entrants), (), ()


def _title(found: Findings) -> str:
    whole = found.whole
    battles = f"{whole['judged']:,} of {whole['battles']:,} battles judged"
    return f"study · {found.entrants} entrants, {whole['items']:,} items, {battles}"


def _legend(found: Findings) -> list[str]:
    seeds = max(point.seeds for point in found.points)
    known = "" if found.known == found.entrants else f", which knows {found.known} of {found.entrants} entrants"
    text = [
        f"reference: {printable(found.reference)}{known}; {seeds} seeds, each drawing items, anchors and entrants anew",
        "tau: Kendall's tau-b with the reference; error: mean absolute difference from it, both centred",
    ]
    if found.known == found.entrants and found.reference.startswith("all "):
        text.append("samples are part of the reference: the nearer to all items, the less chance seems to do")
    return text


def _by_anchor(found: Findings, items: int) -> Table:
    names = [name for ranker in found.rankers for name in (f"tau, {ranker}", f"error, {ranker}")]
    rows = []
    for one in found.anchors:
        points = {point.ranker: point for point in _anchor_points(found, items, one.anchor)}
        cells = [cell for ranker in found.rankers for cell in (_tau(points[ranker]), _error(points[ranker]))]
        share = EMPTY if one.informativeness is None else f"{one.informativeness:.1%}"
        ends = EMPTY if one.low is None or one.high is None else f"{one.low:.1%} … {one.high:.1%}"
        rows.append([printable(one.anchor), str(one.place or EMPTY), share, ends, *cells])
    return ["anchor", "place", "informative", "interval", *names], rows, 1


def _anchor_points(found: Findings, items: int, anchor: str | None = None) -> list[Point]:
    return [
        point
        for point in found.points
        if point.figure == "anchor" and point.items == items and anchor in (None, point.design)
    ]


def _pictures(found: Findings, items: int, width: int) -> list[str]:
    """Draw tau over the anchors' places (Figure 1): two rankers side by side, where there is room for them."""
    drawings = [lines for ranker in found.rankers if (lines := _picture(found, ranker, items))]
    if len(drawings) != 2 or sum(max(map(cell_len, lines)) for lines in drawings) + 4 > width:
        return [line for lines in drawings for line in [*lines, ""]][:-1]
    widest = max(map(cell_len, drawings[0]))
    left = [line + " " * (widest - cell_len(line)) for line in drawings[0]]
    return [f"{one}    {other}".rstrip() for one, other in zip(left, drawings[1], strict=True)]


def _picture(found: Findings, ranker: str, items: int) -> list[str]:
    points = {point.design: point for point in _anchor_points(found, items) if point.ranker == ranker}
    placed = [(one.place, points[one.anchor].tau) for one in found.anchors if one.place is not None]
    known = [(str(place), tau) for place, tau in placed if tau is not None]
    if len(known) < 2:
        return []
    bars = [(_end(tau, tau.low), tau.mean, _end(tau, tau.high)) for _, tau in known]
    step = 7 if len(known) <= 12 else 4
    return [f"tau by the anchor's place, {ranker}", *drawn(bars, [label for label, _ in known], step=step)]


def _end(tau: Spread, end: float | None) -> float:
    return tau.mean if end is None else end


def _anchor_legend(found: Findings, items: int) -> list[str]:
    text = [
        f"place: in the reference, 1 = best; informative: pairs of others told apart, {100 * found.level:g}% interval "
        f"(item-clustered sandwich); picture: {100 * found.level:g}% Monte-Carlo interval"
    ]
    for ranker in found.rankers:
        points = [point for point in _anchor_points(found, items) if point.ranker == ranker and point.tau]
        if points:
            best, worst = (pick(points, key=_mean_tau) for pick in (max, min))
            ends = [f"{printable(one.design)} {_mean_tau(one):.2f}" for one in (best, worst)]
            text.append(f"{ranker}: best {ends[0]}, worst {ends[1]}{_informed(found, ranker, items)}")
    return text


def _mean_tau(point: Point) -> float:
    return point.tau.mean if point.tau else float("-inf")


def _informed(found: Findings, ranker: str, items: int) -> str:
    one = found.correlation(ranker, items)
    if one is None:
        return ""
    return f"; tau and informativeness over anchors: r = {one.mean:.2f} ({one.low:.2f} … {one.high:.2f})"


def _by_items(found: Findings, ranker: str, sizes: Sequence[int], cell: Callable[[Point], str]) -> Table:
    strongest = next((one.anchor for one in found.anchors if one.place == 1), None)
    points = [point for point in found.points if point.ranker == ranker]
    lines: list[tuple[str, list[Point]]] = []
    for design in dict.fromkeys(point.design for point in points if point.figure == "tournament"):
        lines.append((design, [p for p in points if p.figure == "tournament" and p.design == design]))
    if strongest is not None:
        own = [p for p in points if p.figure == "anchor" and p.design == strongest]
        lines.append((f"anchor {strongest}, the strongest", own))
    rows = [[printable(name), *_over(sizes, own, cell)] for name, own in lines]
    return ["design", *(f"{size:,}" for size in sizes)], rows, 1


def _over(sizes: Sequence[int], points: Sequence[Point], cell: Callable[[Point], str]) -> list[str]:
    known = {point.items: cell(point) for point in points}
    return [known.get(size, EMPTY) for size in sizes]


def _calls(found: Findings, sizes: Sequence[int]) -> Table:
    first = found.rankers[0]
    points = [p for p in found.points if p.ranker == first and p.figure == "tournament" and p.design != MEAN_ANCHOR]
    designs = dict.fromkeys(point.design for point in points)
    rows = [[printable(name), *_over(sizes, [p for p in points if p.design == name], _cost)] for name in designs]
    anchor = next((p.design for p in found.points if p.figure == "anchor"), None)
    own = [p for p in found.points if p.ranker == first and p.figure == "anchor" and p.design == anchor]
    return ["design", *(f"{size:,}" for size in sizes)], [*rows, ["one anchor", *_over(sizes, own, _cost)]], 1


def _cost(point: Point) -> str:
    return EMPTY if point.calls is None else f"{point.calls:,.0f}"


def _by_number(found: Findings, figure: str) -> Table:
    points = [point for point in found.points if point.figure == figure]
    designs = dict.fromkeys(point.design for point in points)
    names = [name for ranker in found.rankers for name in (f"tau, {ranker}", f"error, {ranker}")]
    rows = []
    for design in designs:
        own = {point.ranker: point for point in points if point.design == design}
        cells = [cell for ranker in found.rankers for cell in (_tau(own[ranker]), _error(own[ranker]))]
        rows.append([design, _cost(own[found.rankers[0]]), *cells])
    return ["design", "calls", *names], rows, 1


def _by_entrants(found: Findings, points: Sequence[Point]) -> Table:
    numbers = sorted({point.entrants for point in points})
    rows = []
    for design in dict.fromkeys(point.design for point in points):
        for ranker in found.rankers:
            own = {p.entrants: _tau(p) for p in points if p.design == design and p.ranker == ranker}
            rows.append([design, ranker, *(own.get(number, EMPTY) for number in numbers)])
    return ["design", "ranker", *map(str, numbers)], rows, 2


def _unit(found: Findings, ranker: str) -> str:
    scale = found.scales[ranker]
    return "Elo" if scale == "elo" else printable(scale)


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


def _plain(title: str, table: Table | None, picture: Sequence[str], lines: Sequence[str], width: int) -> str:
    body = ["", *aligned(*table, width), ""] if table else []
    drawing = [*picture, ""] if picture else []
    return "\n".join([*paragraphs([title], width), *body, *drawing, *paragraphs(lines, width)]).rstrip()


def _markdown(title: str, table: Table | None, picture: Sequence[str], lines: Sequence[str]) -> str:
    body = ["", *markdown_table(*table)] if table else []
    drawing = ["", "```", *picture, "```"] if picture else []
    return "\n".join([f"**{literal(title)}**", *body, *drawing, "", *(f"{literal(line)}  " for line in lines)]).rstrip()
