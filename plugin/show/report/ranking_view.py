"""Reports of a ranking, one per standings table, and battles as a notebook shows them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from podium.data.battles import COLUMNS, Battles
from podium.data.counts import counts_text
from podium.defaults import RANKER_OF_DECISIONS
from podium.diagnosis.checks.score_scale_checks import are_scales_unlike
from podium.documents import View, register_view
from podium.notices.catalogue_of_notices import RANKED_ALONE
from podium.notices.notice import Notice, select_codes
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
from podium.rankers.ranking import GROUP, Entry, Fit, Ranking, Standings
from podium.rankers.standings import LEADER_INTERVAL
from podium.scorers.judge_names import shown_judge
from podium.show.answers.fixed_raters import fixed_raters_of
from podium.show.report.html import html_part
from podium.show.report.terminal import bar_column, terminal_text
from podium.tables import EMPTY, Report, Table
from podium.text import text_of
from podium.tournaments.stopping_question import asks_top
from podium.wording import plural, quantity, some, word_for

BAR_WIDTH = 28
"""Width of the column of interval bars, in characters."""
MOST_TABLES = 6
"""A terminal shows this many tables of tasks unless the user asks for one per task."""
NOTEBOOK_ROWS = 10
"""A notebook shows this many rows of a table of battles."""
CHOSEN_MARK = "†"
"""Mark of the interval of the first model if another model might be first."""
CONFORMAL_KEYS = ("conformal_low", "conformal_high", "conformal_level", "interval_method")
"""Keys in `Entry.extra` that are shown together in one column."""
COMPRESSED_SCALE = (
    "graded credits are nearer to 0.5 than verdicts: Elo is on a compressed scale, which human "
    "labels correct by --ranker soft-elo --set target=log-odds, or by a calibration; "
    "--set labels=hard rates the parsed verdicts"
)
"""Note below standings whose credits are graded (from token probabilities)."""
EXTRA_DIGITS = {GROUP: 0, "pairs": 0, "labels": 0} | dict.fromkeys(
    ("hard", "human", "human_low", "human_high", "judge"), 1
)
"""Number of decimals of figures in `Entry.extra`, by key. Other figures have 3."""


def ranking_text(ranking: Ranking) -> str:
    """Render a ranking as text, followed by its warnings and failures, a line each.

    Of many tables that the user did not ask for, the first ones are shown; see `shown_reports`.
    """
    messages = [*ranking_messages(ranking), *messages_on_hidden_tables(ranking)]
    notes = "".join(f"podium: {readable(message)}\n" for message in messages)
    return terminal_text(shown_reports(ranking)) + notes


def ranking_messages(ranking: Ranking) -> list[str]:
    """Return the texts of `ranking_warnings`, then a text per ranker or slice that failed."""
    failures = [f"not ranked: {failure}" for failure in ranking.failures]
    return [*ranking_warnings(ranking), *failures]


def ranking_warnings(ranking: Ranking) -> list[str]:
    """Return the text of each warning once, with its severity.

    If only some of the standings have a warning, its text begins with their names.

    Returns:
        Texts such as `warning: ...`, in the order of the standings.
    """
    owners: dict[Notice, list[str]] = {}
    for standings in ranking.standings:
        for warning in dict.fromkeys(standings.warnings):
            owners.setdefault(warning, []).append(standings_name(standings))
    texts = []
    for warning, names in owners.items():
        text = notice_text(warning)
        if len(names) < len(ranking.standings):
            text = f"{', '.join(names)}: {text}"
        texts.append(f"{warning.severity}: {text}")
    return texts


def ranking_reports(ranking: Ranking) -> tuple[Report, ...]:
    """Build one report per standings table.

    Only the first report has an answer. If tasks are ranked one by one although the user did not
    ask for it, the first report of each task has the answer for this task. A table that an earlier
    ranker has for the same battles is not shown again: a line says that both are the same.
    """
    first = ranking.standings[0]
    are_alone = _column_ranked_alone(ranking) is not None
    reports = []
    answered = set[str | None]()
    tables = [standings_report(standings) for standings in ranking.standings]
    for k, standings in enumerate(ranking.standings):
        is_first_of_slice = standings.slice not in answered
        has_answer = standings is first or (are_alone and is_first_of_slice)
        answered.add(standings.slice)
        same = _standings_with_same_table(k, ranking.standings, tables)
        report = tables[k]
        if same is not None:
            text = f"{standings_name(standings)}: the same table as {standings_name(same)}"
            report = replace(report, table=None, notes=(text,))
        answer = standings.answer if has_answer else ()
        reports.append(replace(report, answer=answer))
    return tuple(reports)


def _standings_with_same_table(
    place: int, standings: Sequence[Standings], reports: Sequence[Report]
) -> Standings | None:
    """Return the earlier standings of the same slice and scale whose table is the same, if any.

    Args:
        place: position of the standings that are compared with those before.
        standings: all standings.
        reports: the report of each.
    """
    standings_at_place = standings[place]
    for other, report in zip(standings[:place], reports, strict=False):
        is_of_same = (other.slice, other.scale) == (
            standings_at_place.slice,
            standings_at_place.scale,
        )
        if is_of_same and report.table == reports[place].table:
            return other
    return None


def shown_reports(ranking: Ranking) -> tuple[Report, ...]:
    """Build the reports that a terminal shows.

    These are all reports, or the first `MOST_TABLES` if tasks (or metrics) are ranked one by one
    although the user did not ask for it.
    """
    reports = ranking_reports(ranking)
    return reports[:MOST_TABLES] if _column_ranked_alone(ranking) else reports


def messages_on_hidden_tables(ranking: Ranking) -> list[str]:
    """Return a list with one text on the tables that `shown_reports` leaves out.

    The list is empty if all tables are shown.
    """
    column = _column_ranked_alone(ranking)
    hidden = len(ranking.standings) - MOST_TABLES
    if column is None or hidden <= 0:
        return []
    fields = {"hidden": hidden, "tables": len(ranking.standings), "column": column}
    notice = Notice("tables-hidden", fields)
    return [f"{notice.severity}: {notice_text(notice)}"]


def _column_ranked_alone(ranking: Ranking) -> str | None:
    """Return the column whose values are ranked one by one without being asked for.

    The result is None if nothing was ranked one by one, or if the user asked for it.
    """
    for standings in ranking.standings:
        for warning in select_codes(standings.warnings, RANKED_ALONE):
            return str(warning.fields["column"])
    return None


def standings_report(standings: Standings) -> Report:
    """Build the report of one ranker on one slice.

    A line below a row marks a cut: every model above it is clearly ahead of every model below.
    """
    columns = _columns_of_table(standings)
    rows = []
    bars = []
    for entry in standings.entries:
        rows.append(tuple(format_cell(entry) for format_cell in columns.values()))
        bars.append(_score_with_interval(entry))
    table = Table(
        title="",
        header=tuple(columns),
        rows=tuple(rows),
        align="rl" + "r" * (len(columns) - 2),
        spare=tuple(name for name in ("win rate", "se") if name != standings.scale.name),
        rules=_rows_of_cuts(standings),
        bars=bar_column(bars, BAR_WIDTH, standings.scale.axis_format),
    )
    interval = "no interval"
    if standings.interval:
        raters = fixed_raters_of(standings)
        about = "" if raters is None else f", for {raters}"
        interval = f"{percent(standings.level)} intervals: {standings.interval}{about}"
    # The number of informative items is known where battles are ties.
    ties = " · ties count as half" if "informative_items" in standings.diagnostics else ""
    return Report(
        f"{standings_heading(standings)} · {interval}{ties}",
        table=table,
        notes=tuple(standings_notes(standings)),
    )


def _rows_of_cuts(standings: Standings) -> frozenset[int]:
    """Return the numbers, from 0, of the rows above a cut, which have a line below.

    There is none if a model has no rank set, because it would stand above or below a line.
    """
    separation = standings.separation
    if separation is None or any(entry.rank_low is None for entry in standings.entries):
        return frozenset()
    row_of_model = {entry.model: k for k, entry in enumerate(standings.entries)}
    # A cut is before the place with its number, from 0.
    models_above_cuts = [separation.names[cut - 1] for cut in separation.cuts]
    return frozenset(row_of_model[model] for model in models_above_cuts)


def _score_with_interval(entry: Entry) -> Estimate | None:
    """Return the score of a model with its sampling interval; None if it has no score."""
    if entry.score is None:
        return None
    return Estimate(value=entry.score, low=entry.low, high=entry.high)


def standings_heading(standings: Standings) -> str:
    """Return `standings_name`, and whether slices overlap."""
    overlap = " · slices overlap" if select_codes(standings.warnings, ["slices-overlap"]) else ""
    return f"{standings_name(standings)}{overlap}"


def standings_name(standings: Standings) -> str:
    """Return the ranker's name, followed by the slice in brackets if there is one."""
    if standings.slice is None:
        return standings.ranker
    return f"{standings.ranker} [{standings.shown_slice}]"


def _columns_of_table(standings: Standings) -> dict[str, Callable[[Entry], str]]:
    """Return the columns of a table: by header, the function that formats the cell of a model.

    Conformal intervals, if there are any, take the place of rank sets. Keys of `Entry.extra`
    follow as columns of their own, unless a column has this name already.
    """
    scale = standings.scale
    levels = [entry.extra.get("conformal_level") for entry in standings.entries]
    known_levels = [level for level in levels if level]
    conformal_level = known_levels[0] if known_levels else None
    sampling = f"sampling {percent(standings.level)}" if conformal_level else "interval"
    columns: dict[str, Callable[[Entry], str]] = {}
    has_order = not are_scales_unlike(standings.checks)

    def rank_text(entry: Entry) -> str:
        """Format the rank of a model; a dash if it has no score, or scores are no order."""
        return str(entry.rank) if has_order and entry.score is not None else EMPTY

    columns["rank"] = rank_text
    columns["model"] = lambda entry: f"{entry.model} *" if entry.separated else entry.model
    if standings.unconnected_groups:
        columns[GROUP] = partial(_extra_text, GROUP)
    columns[scale.title] = lambda entry: cell_text(entry.score, scale.format)
    leader_interval = _leader_with_interval(standings).get("model")
    columns[sampling] = lambda entry: _marked_interval_text(
        entry, scale.format, entry.model == leader_interval
    )
    columns["se"] = lambda entry: cell_text(entry.se, scale.format)
    if conformal_level:
        name = f"conformal {percent(conformal_level)}"
        by_t = standings.diagnostics.get("conformal", {}).get("t", {})
        columns[name] = lambda entry: _conformal_text(entry, scale.format, entry.model in by_t)
    else:
        columns["rank set"] = lambda entry: range_text(entry.rank_low, entry.rank_high)
    columns["battles"] = lambda entry: f"{entry.battles:,}"
    if standings.ranker != "win-rate":
        columns.setdefault("win rate", lambda entry: number_text(entry.win_rate, digits=3))
    # All models have the same keys.
    for entry in standings.entries[:1]:
        for name in entry.extra:
            if name not in CONFORMAL_KEYS:
                columns.setdefault(name.replace("_", " "), partial(_extra_text, name))
    return columns


def _leader_with_interval(standings: Standings) -> Mapping[str, Any]:
    """Return the model whose interval the table marks, with an interval for its choice.

    The keys are `model`, `low` and `high`: the interval allows for the model being chosen as the
    first one by the data. The mapping is empty if there is none, or if the scores are on unlike
    scales, so that no model is first.
    """
    if are_scales_unlike(standings.checks):
        return {}
    of_leader: Mapping[str, Any] = standings.diagnostics.get(LEADER_INTERVAL, {})
    return of_leader


def _marked_interval_text(entry: Entry, style: str, is_chosen: bool) -> str:
    """Format a model's interval.

    The mark says that the data chose the model as the first one.

    Args:
        entry: the row of the model.
        style: format specification of the ends.
        is_chosen: whether `CHOSEN_MARK` stands before the interval, because the data chose the
            model as the first one.
    """
    interval = interval_text(entry.low, entry.high, style)
    return f"{CHOSEN_MARK} {interval}" if is_chosen else interval


def _extra_text(name: str, entry: Entry) -> str:
    """Format the figure with the given key in `Entry.extra`; a dash if there is none."""
    value = entry.extra.get(name)
    if value is None:
        return EMPTY
    digits = EXTRA_DIGITS.get(name, 3)
    return f"{value:,.0f}" if digits == 0 else number_text(value, digits)


def _conformal_text(entry: Entry, style: str, is_by_t: bool) -> str:
    """Format a model's conformal interval.

    A model without one gets a dash, and an infinite interval `unbounded`.

    Args:
        entry: the row of the model.
        style: format specification of the ends.
        is_by_t: whether the interval is by Student's t; `(t)` is then added.
    """
    if entry.extra.get("conformal_level") is None:
        return EMPTY
    low = entry.extra.get("conformal_low")
    high = entry.extra.get("conformal_high")
    if low is None and high is None:
        return "unbounded"
    interval = interval_text(low, high, style)
    return f"{interval} (t)" if is_by_t else interval


def standings_notes(standings: Standings) -> Iterator[str]:
    """Yield the notes below the table.

    They give a tournament's decisions, the counts of battles, and the methods with their
    assumptions.
    """
    diagnostics = standings.diagnostics
    answer = diagnostics.get("answer", {})
    is_decided = standings.ranker == RANKER_OF_DECISIONS
    prefix = (
        "" if is_decided else "the tournament found, by Bradley-Terry on its judge's verdicts: "
    )
    for decision in answer.get("decisions", ()):
        yield prefix + decision
    yield from _format_ranking_counts(standings)
    asks_for_best = is_decided and asks_top(answer.get("until"))
    if asks_for_best and answer["looks"] > 1:
        yield f"intervals hold at all {answer['looks']} interim analyses, too"
    informative = diagnostics.get("informative_items")
    if informative is not None:
        items = standings.counts.items
        others = "ties or unparsed" if standings.counts.unparsed else "ties"
        others_text = f" (on the others all battles are {others})" if informative < items else ""
        yield f"informative items: {informative:,} of {items:,}{others_text}"
    yield from _leader_notes(standings)
    soft = diagnostics.get("soft")
    if soft and standings.fit.beta is not None:
        yield _soft_targets(soft, standings.fit)
    for name, notes in METHOD_NOTES.items():
        if diagnostics.get(name):
            yield from notes(diagnostics[name])
    anchor = standings.scale.against
    if anchor is not None:
        yield f"{anchor} itself: 1 - the mean of the others"
    if diagnostics.get("uneven_opponents") and standings.scale.is_elo:
        yield "win rates: opponents met on few items count less (--ranker win-rate names them)"
    if standings.fit.separated:
        yield "* separated: the data bound this rating on one side at most"


def _leader_notes(standings: Standings) -> Iterator[str]:
    """Yield a note with the interval of the first model that allows for its choice.

    Nothing is yielded if the table marks no interval.
    """
    of_leader = _leader_with_interval(standings)
    if not of_leader:
        return
    interval = interval_text(of_leader["low"], of_leader["high"], standings.scale.format)
    yield (
        f"{CHOSEN_MARK} {of_leader['model']} is first by these data: an interval that allows for "
        f"this choice is {interval}"
    )


def _format_ranking_counts(standings: Standings) -> Iterator[str]:
    """Yield the numbers of items, judgments and battles, and the effects of order and grading.

    The effects are left out if no order pair is readable, or if no credit is graded.
    """
    diagnostics = standings.diagnostics
    yield counts_text(standings.counts, diagnostics.get("unparsed_reasons", {}))
    swap = diagnostics.get("swap", {})
    readable_pairs = 0
    if swap:
        readable_pairs = swap["same"] + swap["half"] + swap["flip"]
    if readable_pairs:
        same = share_text(swap["same"] / readable_pairs)
        half = share_text(swap["half"] / readable_pairs)
        flip = share_text(swap["flip"] / readable_pairs)
        shares = f"same verdict {same}, one tie {half}, flip {flip}"
        yield f"order swapped: {shares} of {readable_pairs:,}"
    graded = diagnostics.get("graded")
    if graded:
        yield (
            f"{quantity(graded, 'battle', 'has|have')} graded credits; wins, "
            "ties and flips are those of the parsed verdicts"
        )
        rates_credits = diagnostics.get("soft", {}).get("kind") == "credit"
        if standings.ranker == "bradley-terry" or rates_credits:
            yield COMPRESSED_SCALE


def _ladder_notes(ladder: Mapping[str, Any]) -> Iterator[str]:
    """Yield notes on a ladder, that is on ratings that the user gave.

    They say whose ratings set the scale, how well battles agree with them, and which models are
    better or worse than all rated models.
    """
    yield f"on the scale of the given ratings of {some(ladder['rated'])}"
    if ladder["slope"] is not None:
        low = number_text(ladder["slope_low"], digits=2)
        high = number_text(ladder["slope_high"], digits=2)
        yield (
            "slope of these battles' own ratings on the given ones: "
            f"{ladder['slope']:.2f} (97.5%: {low} … {high})"
        )
    drifts = sorted((row["detectable"], name) for name, row in ladder["drifts"].items())
    if drifts:
        smallest, easiest = drifts[0]
        largest, hardest = drifts[-1]
        yield (
            f"a given rating that is off by {smallest:.0f} ({easiest}) to {largest:.0f} Elo "
            f"({hardest}) is found with 80% power"
        )
    for name, side in ladder["beyond"].items():
        # A model above all rated ones has no upper end, and one below them no lower end.
        verb = "wins" if side == "above" else "loses"
        end = "lower" if side == "above" else "upper"
        yield (
            f"{name} {verb} nearly all battles with rated models, and none is {side} it: only the "
            f"{end} end is known"
        )


def _jury_notes(jury: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line per judge with its slope, and a line on whether all judges rate alike.

    The line of a judge also has its position effect, its disagreement with the common ratings, and
    its number of battles. The judge with the largest slope comes first.
    """
    judges = jury["judges"]
    by_falling_slope = sorted(judges, key=lambda name: -judges[name]["slope"])
    for name in by_falling_slope:
        row = judges[name]
        slope = interval_text(row["slope_low"], row["slope_high"], ".2f")
        position = ""
        if row["position"] is not None:
            ends = interval_text(row["position_low"], row["position_high"], ".2f")
            position = f", position {row['position']:+.2f} log-odds ({ends})"
        disagreement = "too few battles for an interval"
        if row["disagreement"] is not None:
            disagreement = (
                f"its own ratings are {row['disagreement']:.0f} Elo from the common ones, "
                "beyond chance"
            )
        judge = shown_judge(jury, name)
        yield (
            f"{judge}: slope {row['slope']:.2f} ({slope}){position}; {disagreement}; "
            f"{quantity(row['battles'], 'battle')}"
        )
    reason = jury["equal_because"]
    equal = f"; the ranking has equal slopes ({reason})" if reason else ""
    p = jury["one_truth_p"]
    test = "unknown" if p is None else f"p = {p:.2g}"
    yield f"one truth of all judges: {test}{equal}"


def _origin_notes(origin: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note on what fixes the zero of the Elo scale.

    This is a model whose rating is fixed (pinned), or the mean of the well-known models.

    Args:
        origin: the diagnostics under the key `origin`.
    """
    pinned = origin.get("pinned")
    if pinned:
        yield f"intervals are those of differences to {pinned}, which is pinned"
        return
    weights = [f"{name} ({weight:.2g} of one)" for name, weight in origin["weights"].items()]
    number = origin["well_known"]
    models = f"the {number} well-known models" if number > 1 else "the one well-known model"
    yield f"1500 is the mean of {models}; models with few items count less: {some(weights)}"


def _soft_targets(soft: Mapping[str, Any], fit: Fit) -> str:
    """Write from what the soft targets were computed, as one note.

    The note has beta with its interval, unless the credits are the targets, and says how many
    battles have none.

    Args:
        soft: the diagnostics under the key `soft`.
        fit: the fit, with beta.
    """
    without = ""
    if soft["left_out"]:
        without = f"; {quantity(soft['left_out'], 'judged battle', 'has|have')} none"
    if soft["kind"] == "credit" or fit.beta is None:
        return f"soft targets: the credits {soft['from']}{without}"
    ends = ""
    if soft["level"] and fit.beta_low is not None and fit.beta_high is not None:
        ends = (
            f", {percent(soft['level'])}: {slope_text(fit.beta_low)} … {slope_text(fit.beta_high)}"
        )
    beta = slope_text(fit.beta)
    return f"soft targets from the {soft['kind']}: beta {beta} ({soft['from']}{ends}){without}"


def _conformal_basis(conformal: Mapping[str, Any]) -> Iterator[str]:
    """Yield the basis and the assumptions of the conformal intervals.

    Nothing is yielded if no model has such an interval.
    """
    if not conformal["q"]:
        return
    is_of_humans = conformal.get("of") == "human"
    factor = conformal.get("scale_correction")
    unit = "se"
    scale = ""
    if factor is not None:
        unit = "sqrt(se² + spread²)" if is_of_humans else "sqrt(se² + human se² + spread²)"
        scale = f", all scale-corrected {factor:.2f} times to human scale"
    yield (
        "new models are placed one by one beside the calibrated ones, which keep the judge's "
        f"ratings{scale}"
    )
    quantiles = set(conformal["q"].values())
    widths = [f"{width:.2f}" for width in sorted(quantiles - {None})]
    if None in quantiles:
        widths.append("infinite")
    least, largest = widths[0], widths[-1]
    q = least if least == largest else f"{least} … {largest}"
    sizes = conformal["n"].values()
    models = range_text(min(sizes), max(sizes))
    calibrated = plural("calibrated model", max(sizes))
    yield f"conformal: score ± q {unit}, q = {q} from {models} {calibrated}"
    for t in sorted(set(conformal.get("t", {}).values())):
        yield (
            f"(t): score ± {t:.2f} {unit}, a t interval where the conformal one is infinite; it "
            "assumes that judge and humans disagree normally"
        )
    if is_of_humans:
        yield "intervals are of the rating that humans would give with ever more votes"
    yield from conformal["assumption"].replace("; ", ";\n").splitlines()


def _joined_fit(joined: Mapping[str, Any]) -> Iterator[str]:
    """Yield notes on how human labels and the judge's ratings were combined.

    Args:
        joined: the diagnostics under the key `structured`.
    """
    kappa = "{mean:.2f} (90%: {low:.2f} … {high:.2f})".format(**joined["kappa"])
    spread = "{mean:.1f} Elo (90%: {low:.1f} … {high:.1f})".format(**joined["spread"])
    yield (
        "humans: by the labels alone; judge: its ratings times kappa; pull: 0 where the judge "
        "alone decides, 1 where the labels do"
    )
    yield (
        f"kappa {kappa}, the scale correction of the judge's ratings to human ratings; spread "
        f"{spread}, how far human ratings differ from that; dispersion "
        f"{joined['dispersion']:.2f} of the labels (independent votes: 1)"
    )
    yield (
        "each interval holds the one by the model's own labels, with one-sided bounds: the judge "
        "may misjudge a model"
    )


def _length_control(control: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note on how length was controlled for.

    A second note gives the effect of length in Elo, if that was estimated.

    Args:
        control: the diagnostics under the key `length_control`.
    """
    left_out = ""
    if control["left_out"]:
        left_out = f"; {quantity(control['left_out'], 'judged battle')} without lengths "
        left_out += f"{word_for(control['left_out'], 'is', 'are')} left out"
    yield f"at equal {control.get('lengths', 'lengths')}: {control['model']}{left_out}"
    if "elo_per_sd" in control:
        low = control["elo_per_sd_low"]
        high = control["elo_per_sd_high"]
        ends = "" if low is None else f" ({percent(control['level'])}: {low:.1f} … {high:.1f})"
        yield (
            f"a response longer by {control['sd']:,.0f} characters gains "
            f"{control['elo_per_sd']:.1f} Elo{ends}"
        )


def _replayed_calls(replay: Mapping[str, Any]) -> Iterator[str]:
    """Yield one note on the battles, calls, pairs and rounds of a replayed tournament.

    Args:
        replay: the diagnostics under the key `replay`.
    """
    given_text = ""
    if replay["given"]:
        given_text = f"; {quantity(replay['given'], 'battle')} of those ranked before "
        given_text += f"{word_for(replay['given'], 'was', 'were')} given"
    pairs = quantity(replay["pairs"], "pair")
    rounds = quantity(replay["rounds"], "round")
    battles_and_calls = f"{quantity(replay['battles'], 'battle')} asked for, "
    battles_and_calls += quantity(replay["calls"], "judge call")
    yield (
        f"replay of {replay['tournament']}: {battles_and_calls}, {pairs} of models, {rounds}"
        f"{given_text}"
    )


METHOD_NOTES = {
    "structured": _joined_fit,
    "conformal": _conformal_basis,
    "length_control": _length_control,
    "replay": _replayed_calls,
    "ladder": _ladder_notes,
    "jury": _jury_notes,
    "origin": _origin_notes,
}
"""Functions that write the notes on a diagnostic, by its key in `Standings.diagnostics`.

The notes stand below the table in this order.
"""


def battles_html(battles: Battles) -> str:
    """Render battles for a notebook: the first ten rows of their table, and their counts.

    Only the columns in `COLUMNS` are shown.
    """
    counts = battles.counts()
    first_rows = battles.table.head(NOTEBOOK_ROWS)
    names = tuple(name for name in COLUMNS if name in first_rows)
    rows = []
    for row in first_rows[list(names)].astype(object).to_numpy():
        rows.append(tuple(text_of(cell) or "" for cell in row))
    sizes = f"{quantity(len(battles.models), 'model')}, "
    sizes += counts_text(counts, battles.unparsed_reasons())
    # Floats are aligned to the right.
    are_floats = [first_rows[name].dtype.kind == "f" for name in names]
    align = "".join("r" if is_float else "l" for is_float in are_floats)
    title = "battles"
    if counts.battles > NOTEBOOK_ROWS:
        title = f"battles, the first {NOTEBOOK_ROWS} of {counts.battles:,}"
    table = Table(title="", header=names, rows=tuple(rows), align=align)
    return html_part((Report(title, table=table, notes=(sizes,)),))


def draw_battles(battles: Battles) -> Any:
    """Return the chart of the win rates of pairs; altair, an extra, is imported here."""
    from podium.show.pictures.charts import battles_plot

    return battles_plot(battles)


def draw_ranking(ranking: Ranking) -> Any:
    """Return the forest plot of a ranking; altair, an extra, is imported here."""
    from podium.show.pictures.charts import ranking_plot

    return ranking_plot(ranking)


register_view(Battles, View(html=battles_html, chart=draw_battles))
register_view(Ranking, View(ranking_reports, ranking_text, chart=draw_ranking))
