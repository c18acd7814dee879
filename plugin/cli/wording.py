"""What the table of a ranking says, as text: title, header, rows, denominators."""

from collections.abc import Mapping, Sequence

from podium.cli.printable import printable
from podium.merging import ONE_ORDER_UNREAD
from podium.ranking import Entry, Standings

EMPTY = "–"
MOST_REASONS = 4


def title(one: Standings) -> str:
    """Name the ranker, the slice, the level and the method of the intervals."""
    interval = f"{100 * one.level:.10g}% intervals: {one.interval}" if one.interval else "no interval"
    return f"{name_of(one)} · {interval}"


def name_of(one: Standings) -> str:
    """Name the ranker and the slice."""
    return one.ranker if one.slice is None else f"{one.ranker} [{printable(one.slice)}]"


def cells(one: Standings) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a ranking as text."""
    extra = list(one.entries[0].extra) if one.entries else []
    rates = [] if one.ranker == "win-rate" else ["win rate"]
    header = ["rank", "model", _scale(one), "interval", "se", "rank set", "battles", *rates]
    digits = 1 if one.scale == "elo" else 3
    rows = [_row(entry, digits, bool(rates), extra) for entry in one.entries]
    return [*header, *(name.replace("_", " ") for name in extra)], rows


def denominators(one: Standings) -> str:
    """Say what was asked, judged, unread (and why) and missing, and how verdicts held when the order was swapped."""
    counts, reasons = one.counts, one.diagnostics.get("unread_reasons", {})
    why = f" ({_reasons(reasons)})" if reasons else ""
    kept = counts.one_sided - reasons.get(ONE_ORDER_UNREAD, 0)
    halves = f", {kept:,} of them in one order only" if kept else ""
    missing = "" if counts.missing is None else f", {counts.missing:,} missing"
    text = (
        f"{counts.items:,} items, {counts.presentations:,} presentations, {counts.battles:,} battles: "
        f"{counts.judged:,} judged{halves}, {counts.unread:,} unread{why}{missing}"
    )
    swap = one.diagnostics.get("swap")
    if swap and (readable := swap["same"] + swap["half"] + swap["flip"]):
        same, half, flip = (f"{swap[name] / readable:.1%}" for name in ("same", "half", "flip"))
        text += f"\norder swapped: same verdict {same}, one tie {half}, flip {flip} of {readable:,}"
    anchor = one.scale.removeprefix("win rate against ")
    if one.ranker == "win-rate" and anchor != one.scale:
        text += f"\n{printable(anchor)} itself: 1 - the mean of the others"
    if one.fit.separated:
        text += "\n* separated: the data do not bound this rating"
    return text


def _scale(one: Standings) -> str:
    return "Elo" if one.scale == "elo" else printable(one.scale)


def _row(entry: Entry, digits: int, with_rate: bool, extra: Sequence[str]) -> list[str]:
    interval = f"{_number(entry.low, digits)} … {_number(entry.high, digits)}"
    ranks = EMPTY if entry.rank_low is None else _range(entry.rank_low, entry.rank_high)
    return [
        str(entry.rank) if entry.score is not None else EMPTY,
        printable(entry.model) + (" *" if entry.separated else ""),
        _number(entry.score, digits),
        EMPTY if entry.low is None and entry.high is None else interval,
        _number(entry.se, digits),
        ranks,
        f"{entry.battles:,}",
        *([_number(entry.win_rate, 3)] if with_rate else []),
        *(_number(entry.extra.get(name), 3 if name != "pairs" else 0) for name in extra),
    ]


def _range(low: int, high: int | None) -> str:
    return str(low) if low == high else f"{low}–{high}"


def _number(value: float | None, digits: int) -> str:
    return EMPTY if value is None else f"{value:,.{digits}f}" if digits == 0 else f"{value:.{digits}f}"


def _reasons(reasons: Mapping[str, int]) -> str:
    """Return the most frequent reasons with their counts."""
    shown = [f"{printable(reason)}: {number:,}" for reason, number in list(reasons.items())[:MOST_REASONS]]
    more = sum(list(reasons.values())[MOST_REASONS:])
    return ", ".join([*shown, *([f"other: {more:,}"] if more else [])])
