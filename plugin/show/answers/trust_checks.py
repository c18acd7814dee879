"""The checks behind a ranking's second sentence: each is measured on the battles, and all failures
are reported."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb
from typing import Any

import numpy as np

from podium.checks import CHECKS
from podium.data.battles import Battles
from podium.diagnosis.clustered import cluster_battles, two_sided_p
from podium.diagnosis.figures import Missing
from podium.diagnosis.fit import FEWEST_ITEMS, bradley_terry_fit, find_cycles, find_triples
from podium.diagnosis.judge_checks import is_judged, relations_of, unparsed_share
from podium.diagnosis.lost_battles import losses_by_model
from podium.diagnosis.order_effect import order_effects
from podium.diagnosis.preferences import length_effect, log_ratio
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.drop_out import DropOutRobustness, drop_out_robustness
from podium.rankers.errors.intervals import holm
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.pairs import cells_by_cluster, pair_sums
from podium.rankers.judge_aware import failed_jury_checks
from podium.rankers.ladder_placement import failed_ladder_checks
from podium.rankers.ranking import Standings
from podium.show.answers import rank_templates
from podium.show.answers.rank_templates import all_of, join_item_names, join_names, number_word
from podium.text import item_option, lower_first_word, plural

ORDER = (
    *(
        "unit",
        "unparsed",
        "order decides",
        "lost replies",
        "ladder scale",
        "ladder rating",
        "items",
        "own model",
    ),
    *(
        "self-preference",
        "position",
        "length",
        "cycle",
        "fit",
        "judges contradict",
        "one truth",
        "shared errors",
    ),
    *("played pairs", "misjudged models", "first place", "human"),
)
"""Checks, the worst first: what makes all others unreliable, what biases every rating, what the
model does not fit."""
CAUTIONS = frozenset({"unparsed"})
"""Checks that hide no other and are no finding: replies may be lost at random."""
MOST_DESCRIBED = 2
"""Failed checks that are described; further ones are named."""
UNKNOWN_NAMES = {
    "human": "whether distances match human ratings",
    "misjudged models": "whether the judge misjudges a model",
}
"""What is unknown if a check could not be made; by default the name of the check."""
ERROR_RATE = 0.05
"""Of all tests together: nine at 5% each would fail in 37% of healthy rankings."""
MOST_BATTLES, MOST_MODELS = 200_000, 60
"""Beyond these, checks of single pairs and lengths are left to `podium diagnose`."""
MOST_UNMET = 0.2
"""Share of pairs that never met beyond which a fit that is not rejected has not passed: a judge may
differ on them."""
TOO_MANY = "too many battles; `podium diagnose` checks it"
FEWEST_COMPARED = 3
"""Models that comparisons among them need: two have the same battles, make no cycle, and fit any
rating."""
LEAST_EXCESS = 0.01
"""Share of a model's battles beyond that of all: fewer lost ones cannot change a rating by more
than 3.5 Elo."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a trust check: the message if it fails, the p-value if it is a test, or why it
    is unknown; the `models` whose ratings may be wrong because it fails."""

    check: str
    sentence: str = ""
    fails: bool = False
    p: float | None = None
    unknown: str = ""
    models: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)


def apply_holm(results: Sequence[CheckResult]) -> list[CheckResult]:
    """Adjust the p-values of the tests by Holm's rule, and let only those below `ERROR_RATE`
    fail."""
    adjusted = holm(np.array([np.nan if result.p is None else result.p for result in results]))
    return [
        result
        if result.p is None
        else replace(result, fails=result.fails and bool(q <= ERROR_RATE), p=float(q))
        for result, q in zip(results, adjusted, strict=True)
    ]


def failed_checks(results: Sequence[CheckResult]) -> list[CheckResult]:
    """Return the failed checks after Holm's rule, in `ORDER`, without `CAUTIONS`."""
    failed = [
        result for result in apply_holm(results) if result.fails and result.check not in CAUTIONS
    ]
    return sorted(failed, key=lambda result: ORDER.index(result.check))


def trust_sentence(results: Sequence[CheckResult]) -> str:
    """Write the messages of the failed checks; if none fails, how many of them passed and which
    could not be made."""
    templates, failed = rank_templates, failed_checks(results)
    cautions = [own for own in results if own.fails and own.check in CAUTIONS]
    if failed:
        parts = [failed[0].sentence.removesuffix(".")]
        described, named = failed[1:MOST_DESCRIBED], failed[MOST_DESCRIBED:]
        parts += [
            templates.ALSO_FAILED.format(text=lower_first_word(own.sentence)) for own in described
        ]
        parts += (
            [templates.MORE_FAILED.format(names=", ".join(own.check for own in named))]
            if named
            else []
        )
    else:
        passed = sum(not own.unknown for own in results) - len(cautions)
        parts = [_passed_text(passed, len(results) - len(cautions))]
    parts += [templates.CAUTION.format(text=lower_first_word(own.sentence)) for own in cautions]
    ordered = sorted(results, key=lambda own: ORDER.index(own.check))
    unknown = [
        f"{UNKNOWN_NAMES.get(own.check, own.check)} ({own.unknown})"
        for own in ordered
        if own.unknown
    ]
    parts += (
        [templates.UNKNOWN_CHECKS.format(names=", ".join(unknown))]
        if unknown and not failed
        else []
    )
    return f"{'; '.join(parts)}."


def _passed_text(passed: int, number: int) -> str:
    """Write how many checks passed, of a number of checks that apply."""
    if not passed:
        return "No check could be made"
    share = (
        all_of(number, "check")
        if passed == number
        else f"{number_word(passed)} of {number_word(number)} checks"
    )
    return f"{share.capitalize()} passed"


def check_results(battles: Battles, families: Mapping[str, str]) -> list[CheckResult]:
    """Make all checks that apply to the battles behind one ranking, except that of the first
    place."""
    items = battles.counts().items
    if not are_too_many(battles):  # an item of which nothing was read adds no evidence
        items = len(np.unique(cluster_battles(battles).code[battles.readable]))
    few = _result(
        "items", items < CHECKS["items"].threshold, items=items, noun=plural("item", items)
    )
    results = [*_check_unit(battles), few]
    if is_judged(battles):
        results += [
            *_check_unparsed(battles),
            *_check_judges(battles, families),
            _check_human(battles),
        ]
    if battles.answer and battles.answer.get("about") == "played":
        results.append(_result("played pairs", True, until=battles.answer["until"]))
    if not battles.tally.judged:
        return results
    if _compares_responses(battles):
        results.append(_check_position(battles))
    checks = {"length": _check_length} if is_judged(battles) else {}
    checks |= (
        {"cycle": _check_cycle, "fit": _check_fit} if len(battles.models) >= FEWEST_COMPARED else {}
    )
    if are_too_many(battles):
        return [*results, *(CheckResult(name, unknown=TOO_MANY) for name in checks)]
    return [*results, *(check(battles) for check in checks.values())]


def results_for(standings: Standings, results: Sequence[CheckResult]) -> list[CheckResult]:
    """Return the results of the checks that apply to a ranker: means and medians of scores fit no
    ratings."""
    has_ratings = standings.scale != "score"
    return [own for own in results if has_ratings or own.check != "fit"]


def doubts_about_verdicts(battles: Battles, models: Collection[str]) -> list[CheckResult]:
    """Return the failed checks that make a comparison of some of the models by these
    verdicts wrong."""
    if not is_judged(battles) or not battles.tally.judged:
        return []
    results = _check_unparsed(battles)
    if _compares_responses(battles):
        results.append(_check_position(battles))
    return [
        own
        for own in failed_checks(results)
        if own.check == "order decides" or not {*models}.isdisjoint(own.models)
    ]


def _compares_responses(battles: Battles) -> bool:
    """Return whether the judge saw both responses at once, so that one was shown first."""
    return "score_a" not in battles.columns or battles.swaps() is not None


def are_too_many(battles: Battles) -> bool:
    """Return whether checks of single pairs, items or lengths would take longer than a fit."""
    return len(battles) > MOST_BATTLES or len(battles.models) > MOST_MODELS


def robustness_of(battles: Battles, standings: Standings) -> DropOutRobustness | None:
    """Return whether one or two items carry the first place; None unless it is clear or within one
    standard error."""
    separation = standings.separation
    if separation is None or are_too_many(battles) or standings.ranker != "bradley-terry":
        return None
    if 1 not in separation.cuts and (separation.z is None or separation.z >= 1):
        return None
    try:
        robustness = drop_out_robustness(battles, largest=int(CHECKS["first place"].threshold))
    except (NotIdentifiedError, NotConvergedError):
        return None
    return robustness if robustness.leader == separation.names[0] else None


def check_first_place(
    standings: Standings, robustness: DropOutRobustness | None
) -> list[CheckResult]:
    """Check whether a leader clearly ahead of all others loses the lead without one or two items;
    empty if unknown."""
    if robustness is None or standings.separation is None or 1 not in standings.separation.cuts:
        return []
    items = join_item_names(robustness.items) if robustness.items else ""
    fails, rival = bool(robustness.items), robustness.new_leader
    return [_result("first place", fails, items=items, rival=rival, leader=robustness.leader)]


def check_ladder_results(standings: Standings) -> list[CheckResult]:
    """Return the checks of the given ratings on whose scale newcomers were placed; empty if there
    are none."""
    if not (ladder := standings.diagnostics.get("ladder")):
        return []
    few = "too few rated models with 20 items"
    unknown = {
        "ladder scale": few if ladder["slope"] is None else "",
        "ladder rating": "" if ladder["drifts"] else few,
    }
    return _results(failed_ladder_checks(ladder), unknown)


def check_misjudged(standings: Standings) -> list[CheckResult]:
    """Return the models on which human labels contradict the judge, or that they show none; empty
    without labels."""
    if "structured" not in standings.diagnostics:
        return []
    if models := [*standings.diagnostics["structured"]["misjudged"]["models"]]:
        return [_result("misjudged models", True, models=join_names(models))]
    # No pass: these tests name 0 to 22% of the misjudged models in the worlds of
    # docs/calibration.md.
    return [
        CheckResult(
            "misjudged models",
            unknown="the human labels contradict it on none, but seldom show one",
        )
    ]


def check_jury(standings: Standings) -> list[CheckResult]:
    """Return the checks of several judges that were ranked with a slope each; empty for other
    rankers."""
    if not (jury := standings.diagnostics.get("jury")):
        return []
    few = "" if jury["shared_errors"] else "too few battles judged by three judges"
    slopes = "the judges' slopes are not identified" if jury["one_truth_p"] is None else ""
    unknown = {"judges contradict": slopes, "one truth": slopes, "shared errors": few}
    return _results(failed_jury_checks(jury), unknown)


def _results(
    failed: Iterable[tuple[str, Mapping[str, Any]]], unknown: Mapping[str, str]
) -> list[CheckResult]:
    """Return the results of failed checks with their figures, and of the others, each with why it
    is unknown or ''."""
    results = [_result(check, True, **figures) for check, figures in failed]
    others = unknown.keys() - {own.check for own in results}
    return [*results, *(CheckResult(check, unknown=unknown[check]) for check in sorted(others))]


def _result(check: str, fails: bool, p: float | None = None, **fields: object) -> CheckResult:
    """Return the result of a check with its message, filled with fields."""
    return CheckResult(check, CHECKS[check].short_warning(**fields), fails, p, fields=fields)


def _check_unit(battles: Battles) -> list[CheckResult]:
    """Return that a column looks like the item although rows are counted as independent; empty
    without one."""
    if battles.likely_item is None:
        return []
    return [
        _result("unit", True, column=battles.likely_item, option=item_option(battles.likely_item))
    ]


def _check_unparsed(battles: Battles) -> list[CheckResult]:
    """Check the share of unparsed replies and, if there are any, whether one model's battles lose
    more than others."""
    share = unparsed_share(battles)
    result = _result("unparsed", share > CHECKS["unparsed"].threshold, share=share)
    unparsed = battles.counts().unparsed
    if not 0 < unparsed < battles.counts().battles or len(battles.models) < FEWEST_COMPARED:
        return [result]
    return [result, _check_lost_replies(battles)]


def _check_lost_replies(battles: Battles) -> CheckResult:
    """Test whether the battles of one model are unparsed more or less often than those of
    others."""
    if are_too_many(battles):
        return CheckResult("lost replies", unknown="too many battles")
    losses = losses_by_model(battles)
    if not losses:
        return CheckResult(
            "lost replies", unknown="no two models have as many battles on an item with lost ones"
        )
    everywhere = battles.counts().unparsed / battles.counts().battles
    large = [own for own in losses if abs(own.share - everywhere) > LEAST_EXCESS]
    worst = min(large or losses, key=lambda own: own.p)
    # The smallest of several p-values, times their number: the first step of Holm's rule.
    p = min(1.0, worst.p * len(losses))
    result = _result(
        "lost replies", bool(large), p, model=worst.model, share=worst.share, all=everywhere
    )
    more = [
        own.model for own in large if own.share > everywhere and own.p * len(losses) <= ERROR_RATE
    ]
    return replace(result, models=tuple(dict.fromkeys([worst.model, *more])))


def models_with_lost_battles(results: Sequence[CheckResult]) -> tuple[str, ...]:
    """Return the models whose battles are lost more or less often than others."""
    return next((own.models for own in failed_checks(results) if own.check == "lost replies"), ())


def _check_judges(battles: Battles, families: Mapping[str, str]) -> list[CheckResult]:
    """Check whether a judge is one of the models, or of the family of some; empty if no judge is
    known."""
    relations = relations_of(battles, families)
    if not relations:
        return []
    results = [CheckResult("own model"), CheckResult("self-preference")]
    if own := next((relation for relation in relations if relation.own), None):
        results[0] = _result("own model", True, judge=own.judge)
    if kin := next((relation for relation in relations if relation.kin), None):
        results[1] = _result(
            "self-preference", True, judge=kin.judge, models=join_names(kin.kin), family=kin.family
        )
    elif own:
        # That a judge prefers its own answers is not known either, and the check above says so.
        return results[:1]
    elif not any(relation.family for relation in relations):
        results[1] = CheckResult("self-preference", unknown="the model names match no known family")
    return results


def _check_human(battles: Battles) -> CheckResult:
    """Return why agreement with humans is unknown: a calibration measures it, or there are no
    labels."""
    known = "human" in battles.columns
    labelled = known and np.isfinite(battles.numbers_of("human")).any()
    return CheckResult(
        "human", unknown="`podium calibrate` measures it" if labelled else "no human labels"
    )


def _check_position(battles: Battles) -> CheckResult:
    """Test of each judge whether the response shown first wins more than half, over its pairs read
    in both orders."""
    effects = order_effects(battles)
    if not effects:
        merged = battles.swaps() is not None
        return CheckResult(
            "position",
            unknown="the orders are merged already" if merged else "no pair in both orders",
        )
    # The smallest of several p-values, times their number: the first step of Holm's rule.
    significant = [own for own in effects if own.p * len(effects) <= ERROR_RATE]
    large = [own for own in significant if abs(own.lean) > CHECKS["position"].threshold]
    if not large and (few := [own for own in effects if own.is_open]):
        whose = f" of {few[0].judge}" if few[0].judge else ""
        rate = f"too few pairs{whose} in both orders: the response shown first has a win rate of {few[0].rate.brief}"
        return CheckResult("position", unknown=rate)
    deciding = [own for own in large if abs(own.lean) > CHECKS["order decides"].threshold]
    worst = min(deciding or large or effects, key=lambda own: own.p)
    p, several = min(1.0, worst.p * len(effects)), len(battles.judges) > 1
    first, flip = worst.rate.estimate, worst.flip
    if deciding:
        judges = (
            f"The judge {worst.judge}"
            if worst.judge
            else "The judges together"
            if several
            else "This judge"
        )
        figures = {"judges": judges, "first": first, "interval": worst.rate.interval, "flip": flip}
        return _result("order decides", True, p, **figures)
    verdicts = f"the verdicts of {worst.judge}" if worst.judge else "verdicts"
    return _result("position", bool(large), p, first=first, flip=flip, verdicts=verdicts)


def _check_length(battles: Battles) -> CheckResult:
    """Test whether longer responses win more than the models' strengths explain, clustered by
    item."""
    ratio = log_ratio(battles)
    kept = battles.readable & ~np.isnan(ratio)
    if not kept.any():
        return CheckResult("length", unknown="no lengths")
    coded = code_battles(battles, credit=np.where(kept, battles.numbers_of("credit"), np.nan))
    try:
        weight, influence = length_effect(coded, ratio[kept])
    except (NotIdentifiedError, NotConvergedError):
        return CheckResult("length", unknown="lengths and strengths cannot be separated")
    p = two_sided_p(weight, cluster_battles(battles).take(kept).sums(influence))
    longer = "longer" if weight > 0 else "shorter"
    return _result(
        "length", abs(weight) > CHECKS["length"].threshold, p, longer=longer, weight=abs(weight)
    )


def _check_cycle(battles: Battles) -> CheckResult:
    """Test whether three models beat each other in a cycle."""
    coded = code_battles(battles)
    pairs = pair_sums(coded)
    triples = find_triples(pairs)
    if not len(triples):
        return CheckResult("cycle", unknown="no three models have all met")
    cells = cells_by_cluster(coded, pairs)
    if cells.items.max() < 2:
        return CheckResult("cycle", unknown="no pair met on two items")
    cycles = find_cycles(coded.models, cells, triples)
    is_open = (cells.items[triples].min(axis=1) < FEWEST_ITEMS).all()
    if is_open and not (cycles and cycles[0].adjusted <= ERROR_RATE):
        return CheckResult("cycle", unknown="too few items per pair")
    if not cycles:
        return CheckResult("cycle", p=1.0)
    a, b, c = cycles[0].models
    return _result("cycle", True, cycles[0].adjusted, a=a, b=b, c=c)


def _check_fit(battles: Battles) -> CheckResult:
    """Test the pair that differs most from the Bradley-Terry fit, and the model whose pairs differ
    most together."""
    try:
        fit = bradley_terry_fit(battles)
    except (NotIdentifiedError, NotConvergedError):
        return CheckResult("fit", unknown="battles do not connect all models")
    if isinstance(fit, Missing):
        return CheckResult("fit", unknown="too few pairs met")
    miss, p = fit.misses[0], fit.misses[0].adjusted
    if p is None:
        return CheckResult("fit", unknown="too few items per pair")
    if (worst := fit.worst) is not None:
        if worst.p < p:
            miss = next(own for own in fit.misses if worst.model in (own.first, own.second))
        p = min(1.0, 2 * min(p, worst.p))
    possible = comb(len(battles.models), 2)
    if p > ERROR_RATE and possible - fit.pairs > MOST_UNMET * possible:
        return CheckResult(
            "fit", unknown=f"{possible - fit.pairs:,} of {possible:,} pairs never met"
        )
    fails, fields = (
        abs(miss.residual) > CHECKS["fit"].threshold,
        {"a": miss.first, "b": miss.second},
    )
    return _result("fit", fails, p, **fields, observed=miss.observed, expected=miss.expected)
