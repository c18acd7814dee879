"""What the checks of a ranking measure in its battles; each figure is made once a slice, and none while it is shown."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import stdtr

from podium.answers.groups import and_list
from podium.answers.trust import Finding
from podium.checks import CHECKS
from podium.diagnosis.clustered import Clustered, column_of, sample_of
from podium.diagnosis.cycles import items_of, rings_of, triples_of
from podium.diagnosis.figures import Missing
from podium.diagnosis.fit import bradley_terry_fit
from podium.diagnosis.judge_checks import relations_of, unread_share
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.nouns.battles import Battles
from podium.nouns.ranking import Standings
from podium.rankers.coded import code_battles
from podium.rankers.defaults import REGULARIZATION
from podium.rankers.hanging import Hinge, first_place
from podium.rankers.length_control.joint import fit_with_length, slope_influence
from podium.rankers.pairs import cells_by_cluster, pair_sums

MOST_BATTLES, MOST_ENTRANTS = 200_000, 60
"""Beyond which tests of single pairs and lengths are left to `podium diagnose`: they would take longer than a fit."""
TOO_MANY = "too many battles to look; `podium diagnose` does"
ALARMING = int(CHECKS["first place"].threshold)


def findings_of(battles: Battles, families: Mapping[str, str]) -> list[Finding]:
    """Look at the battles behind a ranking.

    Args:
        battles: those of one ranking.
        families: entrants and judges to their family, as given; the rest is guessed from names.
    """
    findings = [_unread(battles), _items(battles), *_relations(battles, families), _people(battles)]
    if not battles.tally.judged:
        return findings
    findings.append(_position(battles))
    if len(battles) > MOST_BATTLES or len(battles.entrants) > MOST_ENTRANTS:
        return [*findings, *(Finding(check, unknown=TOO_MANY) for check in ("length", "cycle", "fit"))]
    return [*findings, _length(battles), _cycle(battles), _fit(battles)]


def hinge_of(battles: Battles, standings: Standings) -> Hinge | None:
    """Return one or two items that the first place hangs on, where it matters; None where nobody looked.

    It matters of a leader who is told from all others, and of one whose gap is within its error. Items are left out of
    plain Bradley-Terry: where the ranking has another leader (by labels or lengths, say), nothing is known of it.
    """
    separation = standings.separation
    large = len(battles) > MOST_BATTLES or len(battles.entrants) > MOST_ENTRANTS
    if separation is None or large or standings.ranker != "bradley-terry":
        return None
    within_error = separation.z is not None and separation.z < 1
    if 1 not in separation.cuts and not within_error:
        return None
    try:
        hinge = first_place(battles, most=ALARMING)
    except (NotIdentifiedError, NotConvergedError):
        return None
    return hinge if hinge.leader == separation.names[0] else None


def first_place_finding(standings: Standings, hinge: Hinge | None) -> Finding | None:
    """Look whether a leader who is told from all others falls with one or two items; None where nobody leads so."""
    if hinge is None or standings.separation is None or 1 not in standings.separation.cuts:
        return None
    return Finding("first place", _hinge_sentence(hinge), worries=bool(hinge.items))


def _hinge_sentence(hinge: Hinge) -> str:
    """Say which items the first place hangs on; nothing for none."""
    if not hinge.items:
        return ""
    items = items_text(hinge.items)
    return CHECKS["first place"].say_shortly(items=items, rival=hinge.rival, leader=hinge.leader)


def items_text(names: Sequence[str]) -> str:
    """Name items as a sentence does; what is called by its row is called nothing else.

    >>> items_text(["backwards", "bullets"]), items_text(["row 3"])
    ('items backwards and bullets', 'row 3')
    """
    if names[0].startswith("row "):
        return and_list(names)
    return f"item{'' if len(names) == 1 else 's'} {and_list(names)}"


def _unread(battles: Battles) -> Finding:
    share = unread_share(battles)
    check = CHECKS["unread"]
    return Finding("unread", check.say_shortly(share=share), worries=share > check.threshold)


def _items(battles: Battles) -> Finding:
    check, items = CHECKS["items"], battles.counts().items
    return Finding("items", check.say_shortly(items=items), worries=items < check.threshold)


def _relations(battles: Battles, families: Mapping[str, str]) -> list[Finding]:
    """Look whether a judge is one of those it judges, or of the family of some."""
    relations = relations_of(battles, families)
    if not relations:
        return []
    own = next((relation for relation in relations if relation.own), None)
    kin = next((relation for relation in relations if relation.kin), None)
    first = Finding("own model")
    if own:
        first = Finding("own model", CHECKS["own model"].say_shortly(judge=own.judge), worries=True)
    second = Finding("own family")
    if kin:
        sentence = CHECKS["own family"].say_shortly(judge=kin.judge, entrants=and_list(kin.kin), family=kin.family)
        second = Finding("own family", sentence, worries=True)
    elif not any(relation.family for relation in relations):
        second = Finding("own family", unknown="no family known by its name")
    return [first, second]


def _people(battles: Battles) -> Finding:
    labels = "`podium calibrate` measures it" if np.isfinite(_human(battles)).any() else "no human labels"
    return Finding("people", unknown=labels)


def _human(battles: Battles) -> np.ndarray:
    known = "human" in (battles.verdicts.columns if battles.verdicts else battles.table.columns)
    return column_of(battles, "human") if known else np.full(1, np.nan)


def _position(battles: Battles) -> Finding:
    """Test whether what is shown first earns more than a half, over pairs read in both orders, clustered by item."""
    swaps = battles.swaps()
    if swaps is None or not swaps.readable:
        return Finding("position", unknown="no pair in both orders")
    sums = battles.verdicts.first_shown() if battles.verdicts else None
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
    a, b = (np.log1p(column_of(battles, side)) for side in ("length_a", "length_b"))
    ratio = a - b
    kept = battles.readable & ~np.isnan(ratio)
    if not kept.any():
        return Finding("length", unknown="no lengths")
    coded = code_battles(battles, credit=np.where(kept, column_of(battles, "credit"), np.nan))
    try:
        fit = fit_with_length(coded, ratio[kept], REGULARIZATION, np.zeros(len(coded.entrants)))
    except (NotIdentifiedError, NotConvergedError):
        return Finding("length", unknown="lengths say what strengths say")
    weight, check = float(fit.coefficients[0]), CHECKS["length"]
    rows: Clustered = sample_of(battles).take(kept)
    p = _two_sided(weight, rows.sums(slope_influence(fit)))
    longer = "longer" if weight > 0 else "shorter"
    sentence = check.say_shortly(longer=longer, weight=abs(weight))
    return Finding("length", sentence, worries=abs(weight) > check.threshold, p=p)


def _cycle(battles: Battles) -> Finding:
    coded = code_battles(battles)
    pairs = pair_sums(coded)
    triples = triples_of(pairs)
    if not len(triples):
        return Finding("cycle", unknown="no three models have all met")
    cells = cells_by_cluster(coded, pairs)
    if items_of(cells).max() < 2:
        return Finding("cycle", unknown="no pair met on two items")
    rings = rings_of(coded.entrants, cells, triples)
    if not rings:
        return Finding("cycle", p=1.0)
    a, b, c = rings[0].entrants
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
