"""What the checks of a ranking measure in its battles, each once a slice; and what they come to: may it be trusted?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr

from podium.answers.groups import and_list
from podium.checks import CHECKS
from podium.diagnosis.clustered import cluster_battles
from podium.diagnosis.cycles import find_cycles, find_triples
from podium.diagnosis.figures import Missing
from podium.diagnosis.fit import bradley_terry_fit
from podium.diagnosis.judge_checks import relations_of, unparsed_share
from podium.diagnosis.verbosity import length_effect, log_ratio
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.nouns.battles import Battles
from podium.nouns.ranking import Standings
from podium.rankers.coded import code_battles
from podium.rankers.drop_out import DropOutRobustness, drop_out_robustness
from podium.rankers.intervals import holm
from podium.rankers.pairs import cells_by_cluster, pair_sums
from podium.text import plural

ORDER = (
    *("unparsed", "items", "own model", "self-preference", "position", "length", "cycle", "fit", "first place"),
    "human",
)
"""Checks, the gravest first: what makes all others worth little, what tilts every rating, what the model misses."""
ABOUT = {"human": "whether distances match human ratings"}
"""What is not known where a check could not be made; by default its name."""
ERROR_RATE = 0.05
"""Of all tests together: nine at 5% each would alarm in 37% of healthy rankings."""
MOST_BATTLES, MOST_MODELS = 200_000, 60
"""Beyond which tests of single pairs and lengths are left to `podium diagnose`."""
TOO_MANY = "too many battles to look; `podium diagnose` does"
ALARMING = int(CHECKS["first place"].threshold)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        check: its name in `podium.checks.CHECKS`.
        sentence: what is said if it worries.
        worries: whether the figure is beyond the threshold; of a test only if it survives Holm's rule over all tests.
        p: of a test; None of what is none.
        unknown: why the check could not be made; empty where it was.
    """

    check: str
    sentence: str = ""
    worries: bool = False
    p: float | None = None
    unknown: str = ""


def settle_tests(findings: Sequence[Finding]) -> list[Finding]:
    """Take back the worries of tests that do not survive Holm's rule over all tests together."""
    adjusted = holm(np.array([np.nan if finding.p is None else finding.p for finding in findings]))
    return [
        finding
        if finding.p is None
        else replace(finding, worries=finding.worries and bool(q <= ERROR_RATE), p=float(q))
        for finding, q in zip(findings, adjusted, strict=True)
    ]


def trust_sentence(findings: Sequence[Finding]) -> str:
    """Say the worst check; if none worries, that all passed, and which could not be made: that is not a pass."""
    settled = sorted(settle_tests(findings), key=lambda finding: ORDER.index(finding.check))
    worst = next((finding for finding in settled if finding.worries), None)
    if worst is not None:
        return worst.sentence
    unknown = [
        f"{ABOUT.get(finding.check, finding.check)} ({finding.unknown})" for finding in settled if finding.unknown
    ]
    number = len(settled) - len(unknown)
    passed = f"All {number} checks passed" if number > 1 else "The one check passed" if number else "No check was made"
    return f"{passed}; not known: {', '.join(unknown)}." if unknown else f"{passed}."


def findings_of(battles: Battles, families: Mapping[str, str]) -> list[Finding]:
    """Look at the battles behind one ranking; families as of `podium.diagnosis.judge_checks.judge_warnings`."""
    findings = [_find_unparsed(battles), _items(battles), *_relations(battles, families), _human(battles)]
    if not battles.tally.judged:
        return findings
    findings.append(_position(battles))
    if are_too_many(battles):
        return [*findings, *(Finding(check, unknown=TOO_MANY) for check in ("length", "cycle", "fit"))]
    return [*findings, _length(battles), _cycle(battles), _fit(battles)]


def are_too_many(battles: Battles) -> bool:
    """Tell whether what looks at single pairs, items or lengths would take longer than a fit."""
    return len(battles) > MOST_BATTLES or len(battles.models) > MOST_MODELS


def robustness_of(battles: Battles, standings: Standings) -> DropOutRobustness | None:
    """Return the drop-out robustness of the first place where it matters; None where it was not computed.

    It matters of a leader who is told from all others, and of one whose gap is within its error. Items are left out of
    plain Bradley-Terry: where the ranking has another leader (by labels or lengths, say), nothing is known of it.
    """
    separation = standings.separation
    if separation is None or are_too_many(battles) or standings.ranker != "bradley-terry":
        return None
    within_error = separation.z is not None and separation.z < 1
    if 1 not in separation.cuts and not within_error:
        return None
    try:
        robustness = drop_out_robustness(battles, largest=ALARMING)
    except (NotIdentifiedError, NotConvergedError):
        return None
    return robustness if robustness.leader == separation.names[0] else None


def first_place_finding(standings: Standings, robustness: DropOutRobustness | None) -> Finding | None:
    """Look whether a leader who is told from all others falls with one or two items; None where nobody leads so."""
    if robustness is None or standings.separation is None or 1 not in standings.separation.cuts:
        return None
    if not robustness.items:
        return Finding("first place")
    figures = {"items": items_text(robustness.items), "rival": robustness.new_leader, "leader": robustness.leader}
    return Finding("first place", CHECKS["first place"].say_shortly(**figures), worries=True)


def items_text(names: Sequence[str]) -> str:
    """Name items as a sentence does; what is called by its row is called nothing else.

    >>> items_text(["backwards", "bullets"]), items_text(["row 3"])
    ('items backwards and bullets', 'row 3')
    """
    if names[0].startswith("row "):
        return and_list(names)
    return f"{plural('item', len(names))} {and_list(names)}"


def _find_unparsed(battles: Battles) -> Finding:
    check, share = CHECKS["unparsed"], unparsed_share(battles)
    return Finding("unparsed", check.say_shortly(share=share), worries=share > check.threshold)


def _items(battles: Battles) -> Finding:
    check, items = CHECKS["items"], battles.counts().items
    return Finding("items", check.say_shortly(items=items), worries=items < check.threshold)


def _relations(battles: Battles, families: Mapping[str, str]) -> list[Finding]:
    """Look whether a judge is one of those it judges, or of the family of some."""
    relations = relations_of(battles, families)
    if not relations:
        return []
    findings = [Finding("own model"), Finding("self-preference")]
    if own := next((relation for relation in relations if relation.own), None):
        findings[0] = Finding("own model", CHECKS["own model"].say_shortly(judge=own.judge), worries=True)
    if kin := next((relation for relation in relations if relation.kin), None):
        sentence = CHECKS["self-preference"].say_shortly(judge=kin.judge, models=and_list(kin.kin), family=kin.family)
        findings[1] = Finding("self-preference", sentence, worries=True)
    elif not any(relation.family for relation in relations):
        findings[1] = Finding("self-preference", unknown="no family known by its name")
    return findings


def _human(battles: Battles) -> Finding:
    known = "human" in (battles.verdicts.columns if battles.verdicts else battles.table.columns)
    labelled = known and np.isfinite(battles.numbers_of("human")).any()
    return Finding("human", unknown="`podium calibrate` measures it" if labelled else "no human labels")


def _position(battles: Battles) -> Finding:
    """Test whether what is shown first earns more than a half, over pairs read in both orders, clustered by item."""
    swaps = battles.swaps()
    if swaps is None or not swaps.readable:
        return Finding("position", unknown="no pair in both orders")
    sums = battles.first_shown()
    if sums is None:
        return Finding("position", unknown="the orders are merged already")
    earned, number = sums
    lean = float(earned.sum() / number.sum()) - 0.5
    influence = (earned - (lean + 0.5) * number) / number.sum()
    check = CHECKS["position"]
    sentence = check.say_shortly(flip=swaps.flip / swaps.readable, first=0.5 + lean)
    p = _two_sided(lean, influence)
    return Finding("position", sentence, worries=abs(lean) > check.threshold, p=p)


def _length(battles: Battles) -> Finding:
    """Test whether a longer response earns more than strengths explain."""
    ratio = log_ratio(battles)
    kept = battles.readable & ~np.isnan(ratio)
    if not kept.any():
        return Finding("length", unknown="no lengths")
    coded = code_battles(battles, credit=np.where(kept, battles.numbers_of("credit"), np.nan))
    try:
        weight, influence = length_effect(coded, ratio[kept])
    except (NotIdentifiedError, NotConvergedError):
        return Finding("length", unknown="lengths say what strengths say")
    check, p = CHECKS["length"], _two_sided(weight, cluster_battles(battles).take(kept).sums(influence))
    sentence = check.say_shortly(longer="longer" if weight > 0 else "shorter", weight=abs(weight))
    return Finding("length", sentence, worries=abs(weight) > check.threshold, p=p)


def _cycle(battles: Battles) -> Finding:
    coded = code_battles(battles)
    pairs = pair_sums(coded)
    triples = find_triples(pairs)
    if not len(triples):
        return Finding("cycle", unknown="no three models have all met")
    cells = cells_by_cluster(coded, pairs)
    if cells.items.max() < 2:
        return Finding("cycle", unknown="no pair met on two items")
    rings = find_cycles(coded.models, cells, triples)
    if not rings:
        return Finding("cycle", p=1.0)
    a, b, c = rings[0].models
    return Finding("cycle", CHECKS["cycle"].say_shortly(a=a, b=b, c=c), worries=True, p=rings[0].adjusted)


def _fit(battles: Battles) -> Finding:
    try:
        fit = bradley_terry_fit(battles)
    except (NotIdentifiedError, NotConvergedError):
        return Finding("fit", unknown="the models do not hang together")
    if isinstance(fit, Missing):
        return Finding("fit", unknown="too few pairs met")
    miss = fit.misses[0]
    if miss.adjusted is None:
        return Finding("fit", unknown="too few items a pair")
    sentence = CHECKS["fit"].say_shortly(a=miss.first, b=miss.second, observed=miss.observed, expected=miss.expected)
    return Finding("fit", sentence, worries=abs(miss.residual) > CHECKS["fit"].threshold, p=miss.adjusted)


def _two_sided(value: float, influence: np.ndarray) -> float:
    """Return the p-value of a clustered t test that something is 0; where all clusters agree, of a sign test."""
    clusters = len(influence)
    if clusters < 2 or value == 0:
        return 1.0
    variance = float(np.sum((influence - influence.mean()) ** 2) * clusters / (clusters - 1))
    if variance == 0:
        return 2.0 ** (1 - clusters)
    return float(2 * stdtr(clusters - 1, -abs(value) / np.sqrt(variance)))
