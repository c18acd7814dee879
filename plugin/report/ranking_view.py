"""Reports of a ranking, one per standings table."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from podium.nouns.estimate import Estimate
from podium.nouns.ranking import Entry, Ranking, Standings
from podium.printable import printable
from podium.rankers.defaults import RANKER_OF_DECISIONS
from podium.report.model import EMPTY, WARNING, Axis, Report, Table
from podium.report.numbers import (
    axis_ends,
    interval_text,
    number_text,
    percent,
    range_text,
    reasons_text,
    share_text,
    slope_text,
)
from podium.report.terminal import terminal_text
from podium.scorers.reply import ONE_ORDER_UNPARSED
from podium.text import some

PICTURE_WIDTH = 28
SCORE = 2
"""The column that everything else explains: no width gives it up."""
CONFORMAL = ("conformal_low", "conformal_high", "conformal_level", "interval_method")
"""Extra figures that are shown as one column."""
DIGITS = {"pairs": 0, "labels": 0} | dict.fromkeys(("hard", "human", "human_low", "human_high", "judge"), 1)
"""Decimals of extra figures; 3 for others."""


def ranking_text(ranking: Ranking, rephrase: Callable[[str], str] = str) -> str:
    """Render a ranking as text, with warnings and failures.

    Args:
        ranking: to be shown where a host writes its own results.
        rephrase: names options in the warnings as they are typed there.
    """
    warnings = dict.fromkeys(warning for standings in ranking.standings for warning in standings.warnings)
    notes = [WARNING + warning for warning in warnings] + [f"not ranked: {failure}" for failure in ranking.failures]
    return terminal_text(ranking_reports(ranking)) + rephrase("".join(f"podium: {printable(note)}\n" for note in notes))


def ranking_reports(ranking: Ranking) -> tuple[Report, ...]:
    """Build one report per standings table; the first has the answer sentences."""
    first, *others = map(standings_report, ranking.standings)
    return (replace(first, answer=ranking.standings[0].answer), *others)


def standings_report(standings: Standings) -> Report:
    """Build the report of one ranker on one slice."""
    level, columns = percent(standings.level), _columns(standings)
    interval = f"{level} intervals: {standings.interval}" if standings.interval else "no interval"
    return Report(
        title=f"{name_of(standings)} · {interval}",
        table=Table(
            title="",
            header=tuple(name for name, _ in columns),
            rows=tuple(tuple(cell(entry) for _, cell in columns) for entry in standings.entries),
            align="rl" + "r" * (len(columns) - 2),
            spare=tuple(name for name in ("win rate", "se") if name != columns[SCORE][0]),
            name=1,
            rules=_rules(standings),
            axis=_axis(standings),
        ),
        notes=tuple(denominators(standings)),
    )


def name_of(standings: Standings) -> str:
    """Return the ranker's name with the slice."""
    return standings.ranker if standings.slice is None else f"{standings.ranker} [{standings.slice}]"


def _columns(standings: Standings) -> list[tuple[str, Callable[[Entry], str]]]:
    """Return the column names with a function that formats the cell of a model."""
    digits = 1 if standings.scale == "elo" else 3
    level = percent(standings.level)
    conformal = next((known for entry in standings.entries if (known := entry.extra.get("conformal_level"))), None)
    columns: list[tuple[str, Callable[[Entry], str]]] = [
        ("rank", lambda entry: EMPTY if entry.score is None else str(entry.rank)),
        ("model", lambda entry: entry.model + (" *" if entry.separated else "")),
        ("Elo" if standings.scale == "elo" else standings.scale, lambda entry: number_text(entry.score, digits)),
        (f"sampling {level}" if conformal else "interval", lambda entry: interval_text(entry.low, entry.high, digits)),
        ("se", lambda entry: number_text(entry.se, digits)),
    ]
    if conformal:
        columns.append((f"conformal {percent(conformal)}", lambda entry: _conformal(entry, digits)))
    else:
        columns.append(
            ("rank set", lambda entry: range_text(entry.rank_low, entry.rank_high) if entry.rank_low else EMPTY)
        )
    columns.append(("battles", lambda entry: f"{entry.battles:,}"))
    if standings.ranker != "win-rate":
        columns.append(("win rate", lambda entry: number_text(entry.win_rate, 3)))
    extra = [name for name in (standings.entries[0].extra if standings.entries else ()) if name not in CONFORMAL]
    return [*columns, *((name.replace("_", " "), partial(_extra, name)) for name in extra)]


def _rules(standings: Standings) -> frozenset[int]:
    """Return the rows below which a table rule is drawn: models above are distinguishable from models below."""
    separation, row = standings.separation, {entry.model: k for k, entry in enumerate(standings.entries)}
    return frozenset(row[separation.names[cut - 1]] for cut in separation.cuts) if separation else frozenset()


def _axis(standings: Standings) -> Axis | None:
    """Build the column of interval bars; None if no interval is known."""
    bars = tuple(
        None if entry.score is None else Estimate(entry.score, entry.low, entry.high) for entry in standings.entries
    )
    ends = axis_ends(bars)
    if ends is None:
        return None
    low, high = (number_text(end, 0 if standings.scale == "elo" else 2) for end in ends)
    return Axis(bars, ends, (low, high), PICTURE_WIDTH)


def _extra(name: str, entry: Entry) -> str:
    """Format an extra figure of a model."""
    value = entry.extra.get(name)
    digits = DIGITS.get(name, 3)
    return f"{value:,.0f}" if value is not None and digits == 0 else number_text(value, digits)


def _conformal(entry: Entry, digits: int) -> str:
    """Format a conformal interval."""
    low, high = entry.extra.get("conformal_low"), entry.extra.get("conformal_high")
    if entry.extra.get("conformal_level") is None:
        return EMPTY
    by_t = " (t)" if str(entry.extra.get("interval_method") or "").startswith("t ") else ""
    return "unbounded" if low is None or high is None else interval_text(low, high, digits) + by_t


def denominators(standings: Standings) -> list[str]:
    """Write the denominators: items, judgments, judged, unparsed with reasons, missing, and order effects."""
    counts, reasons = standings.counts, standings.diagnostics.get("unparsed_reasons", {})
    kept = counts.one_sided - reasons.get(ONE_ORDER_UNPARSED, 0)
    halves = f", {kept:,} of them in one order only" if kept else ""
    missing = "" if counts.missing is None else f", {counts.missing:,} missing"
    answer = standings.diagnostics.get("answer", {})
    is_its_own = standings.ranker == RANKER_OF_DECISIONS
    source = "" if is_its_own or not answer else "the tournament found, by Bradley-Terry on what its judge said: "
    lines = [
        *(source + decision for decision in answer.get("decisions", ())),
        f"{counts.items:,} items, {counts.judgments:,} judgments, {counts.battles:,} battles: "
        f"{counts.readable:,} judged{halves}, {counts.unparsed:,} unparsed{reasons_text(reasons)}{missing}",
    ]
    swap = standings.diagnostics.get("swap")
    if swap and (readable := swap["same"] + swap["half"] + swap["flip"]):
        same, half, flip = (share_text(swap[name] / readable) for name in ("same", "half", "flip"))
        lines.append(f"order swapped: same verdict {same}, one tie {half}, flip {flip} of {readable:,}")
    if is_its_own and str(answer.get("until")).startswith("top") and answer["looks"] > 1:
        lines.append(f"intervals hold at all {answer['looks']} interim analyses, too")
    informative = standings.diagnostics.get("informative_items")
    if informative is not None:
        rest = " (on the others all battles are ties)" if informative < counts.items else ""
        lines.append(f"informative items: {informative:,} of {counts.items:,}{rest}")
    lines += [*_soft_targets(standings), *_joined_fit(standings), *_conformal_basis(standings)]
    lines += [*_length_control(standings), *_cost(standings)]
    anchor = standings.scale.removeprefix("win rate against ")
    if standings.ranker == "win-rate" and anchor != standings.scale:
        lines.append(f"{anchor} itself: 1 - the mean of the others")
    lines += _origin(standings)
    if standings.diagnostics.get("uneven_opponents") and standings.scale == "elo":
        lines.append("win rates: opponents met on few items count less (--ranker win-rate names them)")
    if standings.fit.separated:
        lines.append("* separated: the data do not bound this rating")
    return lines


def _origin(standings: Standings) -> list[str]:
    """Write how the Elo scale is centered, and what a fixed rating means for intervals."""
    origin = standings.diagnostics.get("origin", {})
    if pinned := origin.get("pinned"):
        return [f"intervals are those of differences to {pinned}, which is pinned"]
    if not origin:
        return []
    light = some([f"{name} ({weight:.2g} of one)" for name, weight in origin["weights"].items()])
    known = f"the {known} well-known models" if (known := origin["well_known"]) > 1 else "the one well-known model"
    return [f"1500 is the mean of {known}; by their few items count less: {light}"]


def _soft_targets(standings: Standings) -> list[str]:
    """Write how verdicts were softened."""
    soft, fit = standings.diagnostics.get("soft"), standings.fit
    if not soft or fit.beta is None:
        return []
    left = f"; {soft['left_out']:,} judged battles have none" if soft["left_out"] else ""
    if soft["kind"] == "credit":
        return [f"soft targets: the credits {soft['from']}{left}"]
    ends = ""
    if soft["level"] and fit.beta_low is not None and fit.beta_high is not None:
        ends = f", {percent(soft['level'])}: {slope_text(fit.beta_low)} … {slope_text(fit.beta_high)}"
    return [f"soft targets from the {soft['kind']}: beta {slope_text(fit.beta)} ({soft['from']}{ends}){left}"]


def _conformal_basis(standings: Standings) -> list[str]:
    """Write the basis and the assumptions of the conformal intervals."""
    conformal = standings.diagnostics.get("conformal")
    if not conformal or not conformal["q"]:
        return []
    quantiles = conformal["q"].values()
    sizes, widths = sorted(set(conformal["n"].values())), sorted({q for q in quantiles if q is not None})
    ends = [f"{width:.2f}" for width in widths[:: max(1, len(widths) - 1)]]
    unbounded = ["infinite"] if None in quantiles else []
    q = " … ".join([*ends[: 1 if unbounded else 2], *unbounded])
    scale_correction = conformal.get("scale_correction")
    unit = "se" if scale_correction is None else "sqrt(se² + human se² + spread²)"
    whose = []
    if conformal.get("of") == "human":
        unit, whose = (
            unit.replace(" + human se²", ""),
            ["intervals are of the rating that humans would give with ever more votes"],
        )
    by_t = [
        f"(t): score ± {t:.2f} {unit}, by t where conformal ones are infinite: assumes that judge and humans disagree "
        "normally"
        for t in sorted(set(conformal.get("t", {}).values()))
    ]
    scale = "" if scale_correction is None else f", all scale-corrected {scale_correction:.2f} times to human scale"
    return [
        f"placed one by one on the calibration's axis; its own models keep the judge's ratings{scale}",
        f"conformal: score ± q {unit}, q = {q} from {range_text(sizes[0], sizes[-1])} calibrated models",
        *by_t,
        *whose,
        *conformal["assumption"].replace("; ", ";\n").splitlines(),
    ]


def _joined_fit(standings: Standings) -> list[str]:
    """Write how human labels and judge ratings were combined, and what the extra columns are."""
    figures = standings.diagnostics.get("structured")
    if not figures:
        return []
    kappa = "{mean:.2f} (90%: {low:.2f} … {high:.2f})".format(**figures["kappa"])
    spread = "{mean:.1f} Elo (90%: {low:.1f} … {high:.1f})".format(**figures["spread"])
    return [
        "humans: by the labels alone; judge: its ratings times kappa; pull: 0 where the judge alone decides, 1 where "
        "the labels do",
        f"kappa {kappa}, the scale correction of the judge's ratings to human ratings; spread {spread}, how far human "
        f"ratings differ from that; dispersion {figures['dispersion']:.2f} of the labels, beside coin throws",
    ]


def _length_control(standings: Standings) -> list[str]:
    """Write how length was controlled for, and its estimated effect."""
    used = standings.diagnostics.get("length_control")
    if not used:
        return []
    left = f"; {used['left_out']:,} judged battles without lengths are left out" if used["left_out"] else ""
    lines = [f"at equal lengths: {used['model']}{left}"]
    if "elo_per_sd" in used:
        low, high = used["elo_per_sd_low"], used["elo_per_sd_high"]
        ends = "" if low is None else f" ({percent(used['level'])}: {low:.1f} … {high:.1f})"
        lines.append(f"a response longer by {used['sd']:,.0f} characters gains {used['elo_per_sd']:.1f} Elo{ends}")
    return lines


def _cost(standings: Standings) -> list[str]:
    """Write the cost of a replayed tournament."""
    price = standings.diagnostics.get("replay")
    if not price:
        return []
    given = f"; {price['given']:,} battles of those ranked before were given" if price["given"] else ""
    pairs, rounds = (f"{price[noun]:,} {noun[:-1] if price[noun] == 1 else noun}" for noun in ("pairs", "rounds"))
    asked = f"{price['battles']:,} battles asked for, {price['calls']:,} judge calls"
    return [f"replay of {price['tournament']}: {asked}, {pairs} of models, {rounds}{given}"]
