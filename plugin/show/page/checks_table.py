"""The table of trust checks on a page: every check with its result, passed or not."""

from collections.abc import Mapping

from podium.checks import CHECKS
from podium.data.battles import Battles
from podium.diagnosis.judge_checks import unparsed_share
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.numbers import share_text
from podium.rankers.drop_out import drop_out_robustness
from podium.rankers.ranking import Standings
from podium.show.answers.rank_templates import join_item_names
from podium.show.answers.trust_checks import (
    CheckResult,
    apply_holm,
    are_too_many,
    check_results,
    results_for,
)
from podium.tables import Table
from podium.text import plural

FINE, LOOK, UNKNOWN = "fine", "look", "not known"
LARGEST_SET = 20
"""Most items that are dropped to see whether another model leads."""
PASSED = {
    "lost replies": "no model's battles are unparsed more often than others",
    "own model": "the judge is none of the models",
    "self-preference": "no model is known to be of the judge's family",
    "length": "neither longer nor shorter responses are favoured beyond chance",
    "cycle": "no three models beat each other in a cycle",
    "fit": "the ratings explain all pairs",
}
"""Text of a passed check whose figures are shown nowhere else."""
Row = tuple[str, str, str]


def checks_table(
    standings: Standings, battles: Battles | None, families: Mapping[str, str]
) -> Table:
    """Build a row per check: name, verdict, finding; without battles only a few checks can be
    made."""
    groups = standings.fit.components
    is_split = groups is not None and groups > 1
    known = (
        (LOOK, f"{groups} groups that never met")
        if is_split
        else (FINE, "battles connect all models")
    )
    rows = [
        (
            "connected",
            *(known if groups is not None else (UNKNOWN, f"{standings.ranker} does not check it")),
        )
    ]
    made = (
        []
        if battles is None
        else apply_holm(results_for(standings, check_results(battles, families)))
    )
    results = {own.check: own for own in made}
    rows += _denominator_rows(standings, results.pop("unparsed", None), battles)
    rows += [
        _check_row(result, standings) for result in results.values() if result.check != "items"
    ]
    others = ("others", UNKNOWN, "the page was made without battles")
    rows.append(others if battles is None else _robustness_row(battles))
    return Table("", ("check", "verdict", "found"), tuple(rows), "lll", words=True)


def _denominator_rows(
    standings: Standings, unparsed: CheckResult | None, battles: Battles | None
) -> list[Row]:
    """Build the rows about unparsed replies or battles and about the number of items."""
    counts, fewest = standings.counts, CHECKS["items"].threshold
    share = counts.unparsed / counts.battles if counts.battles else 0.0
    missing = "" if counts.missing is None else f", {counts.missing:,} missing"
    lost = f"{counts.unparsed:,} of {counts.battles:,} battles are unparsed ({share_text(share)}){missing}"
    if battles is not None and counts.unparsed:
        lost += f"; {share_text(unparsed_share(battles))} of the replies"
    fails = unparsed.fails if unparsed else share > CHECKS["unparsed"].threshold
    are_few = counts.items < fewest
    items = f"{counts.items:,} items" + (f", fewer than {fewest:g}" if are_few else "")
    return [
        ("unparsed", LOOK if fails else FINE, lost),
        ("items", LOOK if are_few else FINE, items),
    ]


def _check_row(result: CheckResult, standings: Standings) -> Row:
    name = "orders" if result.check in ("position", "order decides") else result.check
    if result.unknown or result.fails:
        return name, UNKNOWN if result.unknown else LOOK, result.unknown or result.sentence
    text, swap = PASSED.get(result.check, ""), standings.diagnostics.get("swap")
    if result.check == "position" and swap:
        both = swap["same"] + swap["half"] + swap["flip"]
        flips = share_text(swap["flip"] / both) if both else "none"
        text = f"{flips} of {both:,} flip when the responses change places; neither place is favoured beyond chance"
    return (
        name,
        FINE,
        text + ("" if result.p is None else f" (p = {result.p:.2f}, adjusted over all tests)"),
    )


def _robustness_row(battles: Battles) -> Row:
    """Build the row on the number of items to drop until another model leads; `UNKNOWN` with too
    many battles."""
    name = "first place"
    if are_too_many(battles):
        return name, UNKNOWN, "too many battles to drop items one by one"
    try:
        robustness = drop_out_robustness(battles, largest=LARGEST_SET)
    except (NotIdentifiedError, NotConvergedError) as error:
        return name, UNKNOWN, str(error)
    leader, number = robustness.leader, len(robustness.items)
    if not robustness.largest_tried:
        return name, UNKNOWN, "models share the first place, or there is one item only"
    if not number:
        tried = f"no removal of up to {robustness.largest_tried} items was found"
        return name, FINE, f"{tried} that changes the leader {leader}"
    dropped = f"{'' if robustness.is_exact else 'at most '}{number} {plural('item', number)}"
    rival = f"without {join_item_names(robustness.items)}, {robustness.new_leader} leads"
    verdict = LOOK if number <= CHECKS[name].threshold else FINE
    return name, verdict, f"dropping {dropped} changes the leader from {leader}: {rival}"
