"""What the table of a ranking says, as text: title, header, rows, denominators."""

from collections.abc import Mapping, Sequence

from podium.cli.printable import printable
from podium.merging import ONE_ORDER_UNREAD
from podium.ranking import Entry, Standings

EMPTY = "–"
MOST_REASONS = 4
CONFORMAL = ("conformal_low", "conformal_high", "conformal_level")
"""Extra figures that are shown as one column."""
DIGITS = {"pairs": 0, "hard": 1}
"""Decimals of extra figures; 3 for others."""


def title(one: Standings) -> str:
    """Name the ranker, the slice, the level and the method of the intervals."""
    interval = f"{100 * one.level:.10g}% intervals: {one.interval}" if one.interval else "no interval"
    return f"{name_of(one)} · {interval}"


def name_of(one: Standings) -> str:
    """Name the ranker and the slice."""
    return one.ranker if one.slice is None else f"{one.ranker} [{printable(one.slice)}]"


def cells(one: Standings) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a ranking as text."""
    conformal = _conformal_level(one)
    rates = [] if one.ranker == "win-rate" else ["win rate"]
    ranked = [] if conformal else ["rank set"]
    bounds = [f"conformal {100 * conformal:.10g}%"] if conformal else []
    extra = [name for name in (one.entries[0].extra if one.entries else ()) if name not in CONFORMAL]
    interval = f"sampling {100 * one.level:.10g}%" if conformal else "interval"
    header = ["rank", "model", _scale(one), interval, "se", *ranked, *bounds, "battles", *rates]
    digits = 1 if one.scale == "elo" else 3
    rows = [_row(entry, digits, header, extra) for entry in one.entries]
    return [*header, *(name.replace("_", " ") for name in extra)], rows


def _conformal_level(one: Standings) -> float | None:
    """Return the level of the conformal intervals; None where nobody has one."""
    return next((level for entry in one.entries if (level := entry.extra.get("conformal_level"))), None)


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
    informative = one.diagnostics.get("informative_items")
    if informative is not None:
        rest = " (on the others all battles are ties)" if informative < counts.items else ""
        text += f"\ninformative items: {informative:,} of {counts.items:,}{rest}"
    text += _softened(one) + _bounded(one) + _equally_long(one) + _replayed(one)
    anchor = one.scale.removeprefix("win rate against ")
    if one.ranker == "win-rate" and anchor != one.scale:
        text += f"\n{printable(anchor)} itself: 1 - the mean of the others"
    if one.fit.separated:
        text += "\n* separated: the data do not bound this rating"
    return text


def _softened(one: Standings) -> str:
    """Say which map made the soft targets, and where it comes from."""
    soft = one.diagnostics.get("soft")
    if not soft or one.fit.beta is None:
        return ""
    left = f"; {soft['left_out']:,} judged battles have none" if soft["left_out"] else ""
    if soft["kind"] == "credit":
        return f"\nsoft targets: the credits {soft['from']}{left}"
    level, low, high = soft["level"], one.fit.beta_low, one.fit.beta_high
    ends = (
        f", {100 * level:.10g}%: {_weight(low)} … {_weight(high)}"
        if level and low is not None and high is not None
        else ""
    )
    return f"\nsoft targets from the {soft['kind']}: beta {_weight(one.fit.beta)} ({soft['from']}{ends}){left}"


def _weight(value: float) -> str:
    """Write a slope: three decimals, or three digits where margins are large and it is small."""
    return f"{value:.3f}" if abs(value) >= 0.1 or value == 0 else f"{value:.3g}"


def _bounded(one: Standings) -> str:
    """Say what the conformal intervals are made of, and what they rest on."""
    found = one.diagnostics.get("conformal")
    if not found or not found["q"]:
        return ""
    sizes, widths = sorted(set(found["n"].values())), sorted({q for q in found["q"].values() if q is not None})
    scores = _range(sizes[0], sizes[-1])
    ends = [f"{width:.2f}" for width in widths[:: max(1, len(widths) - 1)]]
    unbounded = ["infinite"] if None in found["q"].values() else []
    q = " … ".join([*ends[: 1 if unbounded else 2], *unbounded])
    return (
        "\nplaced one by one on the calibration's axis; its own entrants keep the judge's ratings"
        f"\nconformal: score ± q se, q = {q} from {scores} calibrated entrants\n"
        + found["assumption"].replace("; ", ";\n")
    )


def _equally_long(one: Standings) -> str:
    """Say how length was controlled for, and what it was worth to the judge."""
    used = one.diagnostics.get("length_control")
    if not used:
        return ""
    left = f"; {used['left_out']:,} judged battles without lengths are left out" if used["left_out"] else ""
    text = f"\nat equal lengths: {printable(used['model'])}{left}"
    if "elo_per_sd" not in used:
        return text
    low, high, level = used["elo_per_sd_low"], used["elo_per_sd_high"], used["level"]
    ends = "" if low is None else f" ({100 * level:.10g}%: {low:.1f} … {high:.1f})"
    return f"{text}\na response longer by {used['sd']:,.0f} characters gains {used['elo_per_sd']:.1f} Elo{ends}"


def _replayed(one: Standings) -> str:
    """Say what the tournament cost that was replayed."""
    price = one.diagnostics.get("replay")
    if not price:
        return ""
    given = f"; {price['given']:,} battles of those ranked before were given" if price["given"] else ""
    asked = f"{price['battles']:,} battles asked for, {price['calls']:,} judge calls"
    met = f"{_counted(price['pairs'], 'pair')} of models, {_counted(price['rounds'], 'round')}"
    return f"\nreplay of {printable(price['tournament'])}: {asked}, {met}{given}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _scale(one: Standings) -> str:
    return "Elo" if one.scale == "elo" else printable(one.scale)


def _row(entry: Entry, digits: int, header: Sequence[str], extra: Sequence[str]) -> list[str]:
    ranks = EMPTY if entry.rank_low is None else _range(entry.rank_low, entry.rank_high)
    return [
        str(entry.rank) if entry.score is not None else EMPTY,
        printable(entry.model) + (" *" if entry.separated else ""),
        _number(entry.score, digits),
        EMPTY if entry.low is None and entry.high is None else _ends(entry.low, entry.high, digits),
        _number(entry.se, digits),
        *([ranks] if "rank set" in header else []),
        *([_conformal(entry, digits)] if any(name.startswith("conformal") for name in header) else []),
        f"{entry.battles:,}",
        *([_number(entry.win_rate, 3)] if "win rate" in header else []),
        *(_number(entry.extra.get(name), DIGITS.get(name, 3)) for name in extra),
    ]


def _conformal(entry: Entry, digits: int) -> str:
    low, high = entry.extra.get("conformal_low"), entry.extra.get("conformal_high")
    if entry.extra.get("conformal_level") is None:
        return EMPTY
    return "unbounded" if low is None or high is None else _ends(low, high, digits)


def _ends(low: float | None, high: float | None, digits: int) -> str:
    return f"{_number(low, digits)} … {_number(high, digits)}"


def _range(low: int, high: int | None) -> str:
    return str(low) if low == high else f"{low}–{high}"


def _number(value: float | None, digits: int) -> str:
    return EMPTY if value is None else f"{value:,.{digits}f}" if digits == 0 else f"{value:.{digits}f}"


def _reasons(reasons: Mapping[str, int]) -> str:
    """Return the most frequent reasons with their counts."""
    shown = [f"{printable(reason)}: {number:,}" for reason, number in list(reasons.items())[:MOST_REASONS]]
    more = sum(list(reasons.values())[MOST_REASONS:])
    return ", ".join([*shown, *([f"other: {more:,}"] if more else [])])
