"""Reports of a ranking, one per standings table, and battles as a notebook shows them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from podium.data.battles import COLUMNS, Battles
from podium.data.counts import counts_text
from podium.defaults import RANKER_OF_DECISIONS
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_text
from podium.numbers import (
    cell_text,
    interval_text,
    number_text,
    percent,
    range_text,
    share_text,
    slope_text,
)
from podium.printable import readable
from podium.rankers.estimate import Estimate
from podium.rankers.ranking import Entry, Fit, Ranking, Standings
from podium.show.report.html import html_part
from podium.show.report.terminal import bar_column, terminal_text
from podium.tables import EMPTY, Report, Table
from podium.text import text_of
from podium.wording import some

BAR_WIDTH = 28
FIRST = 10
"""Battles that a notebook shows."""
CONFORMAL = ("conformal_low", "conformal_high", "conformal_level", "interval_method")
"""Extra figures that are shown as one column."""
COMPRESSED = (
    "graded credits are nearer to 0.5 than verdicts: Elo is on a compressed scale, which human labels correct by "
    "--ranker soft-elo --set target=log-odds, or by a calibration; --set labels=hard rates the parsed verdicts"
)
DIGITS = {"pairs": 0, "labels": 0} | dict.fromkeys(
    ("hard", "human", "human_low", "human_high", "judge"), 1
)
"""Decimals of extra figures; 3 for others."""


def ranking_text(ranking: Ranking) -> str:
    """Render a ranking as text, with warnings and failures."""
    notes = "".join(f"podium: {readable(message)}\n" for message in ranking_messages(ranking))
    return terminal_text(ranking_reports(ranking)) + notes


def ranking_messages(ranking: Ranking) -> list[str]:
    """Return the warnings, as `ranking_warnings` does, and the failures."""
    failures = [f"not ranked: {failure}" for failure in ranking.failures]
    return [*ranking_warnings(ranking), *failures]


def ranking_warnings(ranking: Ranking) -> list[str]:
    """Return the text of each warning once: its severity, the names of its standings unless it is
    of all, and what was found."""
    owners: dict[Notice, list[str]] = {}
    for standings in ranking.standings:
        for warning in dict.fromkeys(standings.warnings):
            owners.setdefault(warning, []).append(standings_name(standings))
    texts = []
    for warning, names in owners.items():
        whose = "" if len(names) == len(ranking.standings) else f"{', '.join(names)}: "
        texts.append(f"{warning.severity}: {whose}{notice_text(warning)}")
    return texts


def ranking_reports(ranking: Ranking) -> tuple[Report, ...]:
    """Build one report per standings table; the first has the answer sentences."""
    first, *others = map(standings_report, ranking.standings)
    return (replace(first, answer=ranking.standings[0].answer), *others)


def standings_report(standings: Standings) -> Report:
    """Build the report of one ranker on one slice; a rule marks a cut between distinguishable
    models."""
    columns, separation = _columns(standings), standings.separation
    place = {entry.model: k for k, entry in enumerate(standings.entries)}
    cuts = [place[separation.names[cut - 1]] for cut in separation.cuts] if separation else []
    bars = [
        None if own.score is None else Estimate(own.score, own.low, own.high)
        for own in standings.entries
    ]
    table = Table(
        title="",
        header=tuple(columns),
        rows=tuple(tuple(cell(entry) for cell in columns.values()) for entry in standings.entries),
        align="rl" + "r" * (len(columns) - 2),
        spare=tuple(name for name in ("win rate", "se") if name != standings.scale.name),
        rules=frozenset(cuts),
        bars=bar_column(bars, BAR_WIDTH, standings.scale.axis_format),
    )
    interval = (
        f"{percent(standings.level)} intervals: {standings.interval}"
        if standings.interval
        else "no interval"
    )
    return Report(
        f"{standings_name(standings)} · {interval}",
        table=table,
        notes=tuple(standings_notes(standings)),
    )


def standings_name(standings: Standings) -> str:
    """Return the ranker's name with the slice."""
    return (
        standings.ranker if standings.slice is None else f"{standings.ranker} [{standings.slice}]"
    )


def _columns(standings: Standings) -> dict[str, Callable[[Entry], str]]:
    """Return the columns by name, each a function that formats the cell of a model."""
    scale = standings.scale
    conformal = next(
        (known for entry in standings.entries if (known := entry.extra.get("conformal_level"))),
        None,
    )
    sampling = f"sampling {percent(standings.level)}" if conformal else "interval"
    columns: dict[str, Callable[[Entry], str]] = {
        "rank": lambda entry: EMPTY if entry.score is None else str(entry.rank),
        "model": lambda entry: entry.model + (" *" if entry.separated else ""),
        scale.title: lambda entry: cell_text(entry.score, scale.format),
        sampling: lambda entry: interval_text(entry.low, entry.high, scale.format),
        "se": lambda entry: cell_text(entry.se, scale.format),
    }
    if conformal:
        columns[f"conformal {percent(conformal)}"] = lambda entry: _conformal_text(
            entry, scale.format
        )
    else:
        columns["rank set"] = lambda entry: range_text(entry.rank_low, entry.rank_high)
    columns["battles"] = lambda entry: f"{entry.battles:,}"
    if standings.ranker != "win-rate":
        columns.setdefault("win rate", lambda entry: number_text(entry.win_rate, 3))
    for name in standings.entries[0].extra if standings.entries else ():
        if name not in CONFORMAL:
            columns.setdefault(name.replace("_", " "), partial(_extra, name))
    return columns


def _extra(name: str, entry: Entry) -> str:
    """Format an extra figure of a model."""
    value, digits = entry.extra.get(name), DIGITS.get(name, 3)
    return (
        EMPTY if value is None else f"{value:,.0f}" if digits == 0 else number_text(value, digits)
    )


def _conformal_text(entry: Entry, style: str) -> str:
    low, high = entry.extra.get("conformal_low"), entry.extra.get("conformal_high")
    if entry.extra.get("conformal_level") is None:
        return EMPTY
    by_t = " (t)" if str(entry.extra.get("interval_method") or "").startswith("t ") else ""
    return "unbounded" if low is None or high is None else interval_text(low, high, style) + by_t


def standings_notes(standings: Standings) -> Iterator[str]:
    """Yield the notes below the table: decisions of a tournament, denominators, methods and their
    assumptions."""
    known = standings.diagnostics
    answer, is_decided = known.get("answer", {}), standings.ranker == RANKER_OF_DECISIONS
    source = (
        "" if is_decided else "the tournament found, by Bradley-Terry on its judge's verdicts: "
    )
    yield from (source + decision for decision in answer.get("decisions", ()))
    yield from _format_ranking_counts(standings)
    if is_decided and str(answer.get("until")).startswith("top") and answer["looks"] > 1:
        yield f"intervals hold at all {answer['looks']} interim analyses, too"
    if (informative := known.get("informative_items")) is not None:
        rest = (
            " (on the others all battles are ties)" if informative < standings.counts.items else ""
        )
        yield f"informative items: {informative:,} of {standings.counts.items:,}{rest}"
    if (soft := known.get("soft")) and standings.fit.beta is not None:
        yield _soft_targets(soft, standings.fit)
    for name, notes in METHOD_NOTES.items():
        yield from notes(known[name]) if known.get(name) else ()
    anchor = standings.scale.against
    if anchor is not None:
        yield f"{anchor} itself: 1 - the mean of the others"
    if known.get("uneven_opponents") and standings.scale.is_elo:
        yield "win rates: opponents met on few items count less (--ranker win-rate names them)"
    if standings.fit.separated:
        yield "* separated: the data bound this rating on one side at most"


def _format_ranking_counts(standings: Standings) -> Iterator[str]:
    """Yield items, judgments and battles, judged, unparsed with reasons, missing; and the effect of
    the order."""
    yield counts_text(standings.counts, standings.diagnostics.get("unparsed_reasons", {}))
    swap = standings.diagnostics.get("swap")
    if swap and (readable := swap["same"] + swap["half"] + swap["flip"]):
        same, half, flip = (share_text(swap[name] / readable) for name in ("same", "half", "flip"))
        yield f"order swapped: same verdict {same}, one tie {half}, flip {flip} of {readable:,}"
    if graded := standings.diagnostics.get("graded"):
        yield f"{graded:,} battles have graded credits; wins, ties and flips are those of the parsed verdicts"
        if (
            standings.ranker == "bradley-terry"
            or standings.diagnostics.get("soft", {}).get("kind") == "credit"
        ):
            yield COMPRESSED


def _ladder(ladder: Mapping[str, Any]) -> Iterator[str]:
    """Yield whose ratings set the scale, how far they agree with the battles, and who is beyond
    them."""
    yield f"on the scale of the given ratings of {some(ladder['rated'])}"
    if ladder["slope"] is not None:
        low, high = (number_text(ladder[end], 2) for end in ("slope_low", "slope_high"))
        yield f"slope of these battles' own ratings on the given ones: {ladder['slope']:.2f} (97.5%: {low} … {high})"
    if least := sorted((row["detectable"], name) for name, row in ladder["drifts"].items()):
        (low, first), (high, last) = least[0], least[-1]
        yield f"a given rating that is off by {low:.0f} ({first}) to {high:.0f} Elo ({last}) is found with 80% power"
    for name, side in ladder["beyond"].items():
        verb, end = ("wins", "lower") if side == "above" else ("loses", "upper")
        yield f"{name} {verb} nearly all battles with rated models, and none is {side} it: only the {end} end is known"


def _jury(jury: Mapping[str, Any]) -> Iterator[str]:
    """Yield each judge's slope, position effect and disagreement with the common ratings."""
    for name, row in sorted(jury["judges"].items(), key=lambda own: -own[1]["slope"]):
        slope, position = interval_text(row["slope_low"], row["slope_high"], ".2f"), ""
        if row["position"] is not None:
            position = f", position {row['position']:+.2f} log-odds"
            position += f" ({interval_text(row['position_low'], row['position_high'], '.2f')})"
        own = "too few battles for an interval"
        if row["disagreement"] is not None:
            own = f"its own ratings are {row['disagreement']:.0f} Elo from the common ones, beyond chance"
        yield f"{name}: slope {row['slope']:.2f} ({slope}){position}; {own}; {row['battles']:,} battles"
    equal = f"; the ranking has equal slopes ({why})" if (why := jury["equal_because"]) else ""
    p = "unknown" if jury["one_truth_p"] is None else f"p = {jury['one_truth_p']:.2g}"
    yield f"one truth of all judges: {p}{equal}"


def _origin(origin: Mapping[str, Any]) -> Iterator[str]:
    """Yield how the Elo scale is centred, and what a fixed rating means for intervals."""
    if pinned := origin.get("pinned"):
        yield f"intervals are those of differences to {pinned}, which is pinned"
        return
    light = some([f"{name} ({weight:.2g} of one)" for name, weight in origin["weights"].items()])
    known = (
        f"the {known} well-known models"
        if (known := origin["well_known"]) > 1
        else "the one well-known model"
    )
    yield f"1500 is the mean of {known}; models with few items count less: {light}"


def _soft_targets(soft: Mapping[str, Any], fit: Fit) -> str:
    left = f"; {soft['left_out']:,} judged battles have none" if soft["left_out"] else ""
    if soft["kind"] == "credit" or fit.beta is None:
        return f"soft targets: the credits {soft['from']}{left}"
    ends = ""
    if soft["level"] and fit.beta_low is not None and fit.beta_high is not None:
        ends = (
            f", {percent(soft['level'])}: {slope_text(fit.beta_low)} … {slope_text(fit.beta_high)}"
        )
    return f"soft targets from the {soft['kind']}: beta {slope_text(fit.beta)} ({soft['from']}{ends}){left}"


def _conformal_basis(conformal: Mapping[str, Any]) -> Iterator[str]:
    """Yield the basis and the assumptions of the conformal intervals, if there are any."""
    if not conformal["q"]:
        return
    sizes, quantiles = sorted(set(conformal["n"].values())), conformal["q"].values()
    widths = [f"{width:.2f}" for width in sorted({q for q in quantiles if q is not None})]
    widths += ["infinite"] if None in quantiles else []
    factor, of_humans = conformal.get("scale_correction"), conformal.get("of") == "human"
    unit = "se" if factor is None else f"sqrt(se²{'' if of_humans else ' + human se²'} + spread²)"
    scale = "" if factor is None else f", all scale-corrected {factor:.2f} times to human scale"
    yield f"new models are placed one by one beside the calibrated ones, which keep the judge's ratings{scale}"
    q = " … ".join(dict.fromkeys((*widths[:1], *widths[-1:])))
    yield f"conformal: score ± q {unit}, q = {q} from {range_text(sizes[0], sizes[-1])} calibrated models"
    for t in sorted(set(conformal.get("t", {}).values())):
        yield (
            f"(t): score ± {t:.2f} {unit}, a t interval where the conformal one is infinite; it assumes that judge and "
            "humans disagree normally"
        )
    if of_humans:
        yield "intervals are of the rating that humans would give with ever more votes"
    yield from conformal["assumption"].replace("; ", ";\n").splitlines()


def _joined_fit(joined: Mapping[str, Any]) -> Iterator[str]:
    """Yield how human labels and judge ratings were combined, and what the extra columns are."""
    kappa = "{mean:.2f} (90%: {low:.2f} … {high:.2f})".format(**joined["kappa"])
    spread = "{mean:.1f} Elo (90%: {low:.1f} … {high:.1f})".format(**joined["spread"])
    yield (
        "humans: by the labels alone; judge: its ratings times kappa; pull: 0 where the judge alone decides, 1 where "
        "the labels do"
    )
    yield (
        f"kappa {kappa}, the scale correction of the judge's ratings to human ratings; spread {spread}, how far human "
        f"ratings differ from that; dispersion {joined['dispersion']:.2f} of the labels (independent votes: 1)"
    )
    yield "each interval holds the one by the model's own labels, with one-sided bounds: the judge may misjudge a model"


def _length_control(used: Mapping[str, Any]) -> Iterator[str]:
    """Yield how length was controlled for, and its estimated effect."""
    left = (
        f"; {used['left_out']:,} judged battles without lengths are left out"
        if used["left_out"]
        else ""
    )
    yield f"at equal {used.get('lengths', 'lengths')}: {used['model']}{left}"
    if "elo_per_sd" in used:
        low, high = used["elo_per_sd_low"], used["elo_per_sd_high"]
        ends = "" if low is None else f" ({percent(used['level'])}: {low:.1f} … {high:.1f})"
        yield f"a response longer by {used['sd']:,.0f} characters gains {used['elo_per_sd']:.1f} Elo{ends}"


def _cost(price: Mapping[str, Any]) -> Iterator[str]:
    """Yield the cost of a replayed tournament."""
    given = (
        f"; {price['given']:,} battles of those ranked before were given" if price["given"] else ""
    )
    pairs, rounds = (
        f"{price[noun]:,} {noun[:-1] if price[noun] == 1 else noun}" for noun in ("pairs", "rounds")
    )
    asked = f"{price['battles']:,} battles asked for, {price['calls']:,} judge calls"
    yield f"replay of {price['tournament']}: {asked}, {pairs} of models, {rounds}{given}"


METHOD_NOTES = {
    "structured": _joined_fit,
    "conformal": _conformal_basis,
    "length_control": _length_control,
    "replay": _cost,
    "ladder": _ladder,
    "jury": _jury,
    "origin": _origin,
}
"""By diagnostic of standings, in the order of the lines below the table: a function from it to
these lines."""


def battles_html(battles: Battles) -> str:
    """Render battles for a notebook: the denominators and the first rows."""
    counts, shown = battles.counts(), battles.table.head(FIRST)
    names = tuple(name for name in COLUMNS if name in shown)
    rows = tuple(
        tuple(text_of(cell) or "" for cell in row)
        for row in shown[list(names)].astype(object).to_numpy()
    )
    denominators = (
        f"{len(battles.models)} models, {counts_text(counts, battles.unparsed_reasons())}"
    )
    align = "".join("r" if shown[name].dtype.kind == "f" else "l" for name in names)
    title = (
        "battles"
        if counts.battles <= FIRST
        else f"battles, the first {FIRST} of {counts.battles:,}"
    )
    return html_part((Report(title, table=Table("", names, rows, align), notes=(denominators,)),))
