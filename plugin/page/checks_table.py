"""The table of trust checks on a page: every check with its result, passed or not."""

from collections.abc import Mapping, Sequence

from podium.answers.measures import Finding, are_too_many, findings_of, items_text, settle_tests
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
"""Items that are taken out at most to see whether another model leads."""
PASSED = {
    "own model": "the judge is none of the models",
    "self-preference": "no model is of the judge's family, as far as names tell",
    "length": "neither longer nor shorter responses are favoured beyond chance",
    "cycle": "no three models beat each other in a ring",
    "fit": "one rating a model explains all pairs",
}
"""What is said of a check that passes and whose figures stand nowhere else."""
Row = tuple[str, str, str]


def checks_table(standings: Standings, battles: Battles | None, families: Mapping[str, str]) -> Table:
    """Build a row per check: name, verdict, finding.

    Args:
        battles: of the standings; None where only the ranking is there, and little can be looked at.
        families: models and judges to their family, as given; the rest is guessed from names.
    """
    settled = [] if battles is None else settle_tests(findings_of(battles, families))
    groups, said = standings.fit.components, "all models hang together by battles"
    if groups is None:
        connected = UNKNOWN, f"{standings.ranker} does not ask"
    else:
        connected = (FINE, said) if groups == 1 else (LOOK, f"{groups} groups that never met")
    rows = [("connected", *connected), *_denominator_rows(standings, settled, battles)]
    if battles is not None:
        rows += [_row(finding, standings) for finding in settled if finding.check not in ("unparsed", "items")]
        rows.append(_robustness_row(battles))
    else:
        rows.append(("others", UNKNOWN, "the battles are not there: make the page of them"))
    return Table("", ("check", "verdict", "found"), tuple(rows), "lll", words=True)


def _denominator_rows(standings: Standings, findings: Sequence[Finding], battles: Battles | None) -> list[Row]:
    """Build the rows about missing and unparsed replies or battles."""
    counts, few, lost = standings.counts, CHECKS["items"], CHECKS["unparsed"]
    share = counts.unparsed / counts.battles if counts.battles else 0.0
    missing = "" if counts.missing is None else f", {counts.missing:,} missing"
    read = f"{counts.unparsed:,} of {counts.battles:,} battles are unparsed ({share_text(share)}){missing}"
    if battles is not None and counts.unparsed:
        read += f"; {share_text(unparsed_share(battles))} of the replies"
    items = f"{counts.items:,} items" + ("" if counts.items >= few.threshold else f", fewer than {few.threshold:g}")
    worries = [finding.worries for finding in findings if finding.check == "unparsed"] or [share > lost.threshold]
    return [
        ("read", LOOK if worries[0] else FINE, read),
        ("items", FINE if counts.items >= few.threshold else LOOK, items),
    ]


def _row(finding: Finding, standings: Standings) -> Row:
    """Build the table row of one finding."""
    name = "orders" if finding.check == "position" else finding.check
    if finding.unknown:
        return name, UNKNOWN, finding.unknown
    if finding.worries:
        return name, LOOK, finding.sentence
    swap = standings.diagnostics.get("swap")
    said = PASSED.get(finding.check, "")
    if finding.check == "position" and swap:
        both = swap["same"] + swap["half"] + swap["flip"]
        flips = share_text(swap["flip"] / both) if both else "none"
        said = f"{flips} of {both:,} flip when the responses change places; neither place is favoured beyond chance"
    return name, FINE, said + ("" if finding.p is None else f" (p = {finding.p:.2f}, all tests together)")


def _robustness_row(battles: Battles) -> Row:
    """Build the row about the drop-out robustness of the first place (Bradley-Terry)."""
    name = "first place"
    if are_too_many(battles):
        return name, UNKNOWN, "too many battles to look"
    try:
        robustness = drop_out_robustness(battles, largest=LARGEST_SET)
    except (NotIdentifiedError, NotConvergedError) as error:
        return name, UNKNOWN, str(error)
    if not robustness.items:
        return name, FINE, f"no {robustness.largest_tried} items or fewer carry the lead of {robustness.leader}"
    number = len(robustness.items)
    many = f"{'' if robustness.is_exact else 'at most '}{number} {plural('item', number)}"
    without = f"without {items_text(robustness.items)} {robustness.new_leader} does, by a fit without them"
    return name, LOOK if number <= CHECKS[name].threshold else FINE, f"{robustness.leader} leads by {many}: {without}"
