"""The notes below the table of standings: counts, methods and their assumptions."""

from collections.abc import Iterator, Mapping
from typing import Any

from podium.data.counts import counts_text
from podium.defaults import RANKER_OF_DECISIONS
from podium.diagnosis.checks.score_scale_checks import are_scales_unlike
from podium.numbers import (
    interval_text,
    number_text,
    percent,
    range_text,
    share_text,
    slope_text,
)
from podium.rankers.ranking import Fit, Standings
from podium.rankers.standings import LEADER_INTERVAL
from podium.scorers.judge_names import shown_judge
from podium.tournaments.stopping_question import asks_top
from podium.wording import plural, quantity, some, word_for

CHOSEN_MARK = "†"
"""Mark of the interval of the first model if another model might be first."""
COMPRESSED_SCALE = (
    "graded credits are nearer to 0.5 than verdicts: Elo is on a compressed scale, which human "
    "labels correct by --ranker soft-elo --set target=log-odds, or by a calibration; "
    "--set labels=hard rates the parsed verdicts"
)
"""Note below standings whose credits are graded (from token probabilities)."""


def leader_with_interval(standings: Standings) -> Mapping[str, Any]:
    """Return the model whose interval the table marks, with an interval for its choice.

    The keys are `model`, `low` and `high`: the interval allows for the model being chosen as the
    first one by the data. The mapping is empty if there is none, or if the scores are on unlike
    scales, so that no model is first.
    """
    if are_scales_unlike(standings.checks):
        return {}
    of_leader: Mapping[str, Any] = standings.diagnostics.get(LEADER_INTERVAL, {})
    return of_leader


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
    of_leader = leader_with_interval(standings)
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

    They say whose ratings set the scale, how well battles agree with them, how large an error in
    them would be found, and which models are better or worse than all rated models.

    Args:
        ladder: the diagnostics under the key `ladder`.
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

    Args:
        jury: the diagnostics under the key `jury`.
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

    Args:
        conformal: the diagnostics under the key `conformal`.
    """
    if not conformal["q"]:
        return
    is_of_humans = conformal.get("of") == "human"
    factor = conformal.get("scale_correction")
    unit = "se"
    scale_clause = ""
    if factor is not None:
        unit = "sqrt(se² + spread²)" if is_of_humans else "sqrt(se² + human se² + spread²)"
        scale_clause = f", all multiplied by {factor:.2f} to human scale"
    yield (
        "new models are placed one by one beside the calibrated ones, which keep the judge's "
        f"ratings{scale_clause}"
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
