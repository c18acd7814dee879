"""The table of trust checks on a page: every check with its result, passed or not."""

from collections.abc import Mapping, Sequence

from podium.answers.rank_templates import item_names
from podium.answers.trust_checks import CheckResult, apply_holm, are_too_many, check_results
from podium.checks import CHECKS
from podium.diagnosis.judge_checks import unparsed_share
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.nouns.battles import Battles
from podium.nouns.ranking import Standings
from podium.rankers.drop_out import drop_out_robustness
from podium.report.model import Table
from podium.report.numbers import share_text
from podium.text import plural

FINE, LOOK, UNKNOWN = "fine", "look", "not known"
LARGEST_SET = 20
"""Most items that are dropped to see whether another model leads."""
PASSED = {
    "own model": "the judge is none of the models",
    "self-preference": "no model is known to be of the judge's family",
    "length": "neither longer nor shorter responses are favoured beyond chance",
    "cycle": "no three models beat each other in a cycle",
    "fit": "the ratings explain all pairs",
}
"""Text of a passed check whose figures are shown nowhere else."""
Row = tuple[str, str, str]


def checks_table(standings: Standings, battles: Battles | None, families: Mapping[str, str]) -> Table:
    """Build a row per check: name, verdict, finding.

    Args:
        battles: of the standings; None if only the ranking is known, and few checks can be made.
        families: models and judges to their family, as given; the rest is guessed from names.
    """
    results = [] if battles is None else apply_holm(check_results(battles, families))
    groups = standings.fit.components
    if groups is None:
        connected = UNKNOWN, f"{standings.ranker} does not check it"
    else:
        split = f"{groups} groups that never met"
        connected = (FINE, "battles connect all models") if groups == 1 else (LOOK, split)
    rows = [("connected", *connected), *_denominator_rows(standings, results, battles)]
    if battles is not None:
        rows += [_row(result, standings) for result in results if result.check not in ("unparsed", "items")]
        rows.append(_robustness_row(battles))
    else:
        rows.append(("others", UNKNOWN, "the page was made without battles"))
    return Table("", ("check", "verdict", "found"), tuple(rows), "lll", words=True)


def _denominator_rows(standings: Standings, results: Sequence[CheckResult], battles: Battles | None) -> list[Row]:
    """Build the rows about unparsed replies or battles and about the number of items."""
    counts, few, lost = standings.counts, CHECKS["items"], CHECKS["unparsed"]
    share = counts.unparsed / counts.battles if counts.battles else 0.0
    missing = "" if counts.missing is None else f", {counts.missing:,} missing"
    unparsed = f"{counts.unparsed:,} of {counts.battles:,} battles are unparsed ({share_text(share)}){missing}"
    if battles is not None and counts.unparsed:
        unparsed += f"; {share_text(unparsed_share(battles))} of the replies"
    items = f"{counts.items:,} items" + ("" if counts.items >= few.threshold else f", fewer than {few.threshold:g}")
    fails = [result.fails for result in results if result.check == "unparsed"] or [share > lost.threshold]
    return [
        ("unparsed", LOOK if fails[0] else FINE, unparsed),
        ("items", FINE if counts.items >= few.threshold else LOOK, items),
    ]


def _row(result: CheckResult, standings: Standings) -> Row:
    """Build the table row of one check."""
    name = "orders" if result.check == "position" else result.check
    if result.unknown:
        return name, UNKNOWN, result.unknown
    if result.fails:
        return name, LOOK, result.sentence
    swap = standings.diagnostics.get("swap")
    text = PASSED.get(result.check, "")
    if result.check == "position" and swap:
        both = swap["same"] + swap["half"] + swap["flip"]
        flips = share_text(swap["flip"] / both) if both else "none"
        text = f"{flips} of {both:,} flip when the responses change places; neither place is favoured beyond chance"
    return name, FINE, text + ("" if result.p is None else f" (p = {result.p:.2f}, adjusted over all tests)")


def _robustness_row(battles: Battles) -> Row:
    """Build the row about the drop-out robustness of the first place (Bradley-Terry)."""
    name = "first place"
    if are_too_many(battles):
        return name, UNKNOWN, "too many battles to drop items one by one"
    try:
        robustness = drop_out_robustness(battles, largest=LARGEST_SET)
    except (NotIdentifiedError, NotConvergedError) as error:
        return name, UNKNOWN, str(error)
    leader, number = robustness.leader, len(robustness.items)
    if not number:
        return (
            name,
            FINE,
            f"no removal of up to {robustness.largest_tried} items was found that changes the leader {leader}",
        )
    dropped = f"{'' if robustness.is_exact else 'at most '}{number} {plural('item', number)}"
    rival = f"without {item_names(robustness.items)}, {robustness.new_leader} leads"
    verdict = LOOK if number <= CHECKS[name].threshold else FINE
    return name, verdict, f"dropping {dropped} changes the leader from {leader}: {rival}"
