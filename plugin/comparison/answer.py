"""The answer of a comparison in a few sentences, and the texts of its figures."""

from collections.abc import Sequence

import numpy as np

from podium.check_results import Check
from podium.comparison import comparison_templates
from podium.comparison.compared_pair import ELO, SCORE, WIN_RATE
from podium.comparison.gate import Gate, GateDecision
from podium.comparison.outcomes import PairFinding
from podium.numbers import percent
from podium.rankers.errors.rank_sets import FEWEST_ITEMS
from podium.rankers.errors.raters import fewest_raters
from podium.show.answers import rank_templates
from podium.show.answers.fixed_raters import after_colon, limit_sentence, raters_text
from podium.show.answers.rank_templates import all_of, further_items_text, more_items_sentence
from podium.show.answers.tested_again import tested_again_text
from podium.tables import EMPTY
from podium.wording import item_option, number_word, plural, some, word_for

AHEAD = "clearly ahead"
BEHIND = "clearly behind"
CLOSE = "too close to call"
IN_DOUBT = "nothing is claimed"
# The four verdicts about the candidate and the baseline; texts show them.
SLICE_VERDICTS = {
    AHEAD: "clearly ahead of {baseline}",
    BEHIND: "clearly behind {baseline}",
    CLOSE: "too close to {baseline} to call",
    IN_DOUBT: "not compared with {baseline}, for the reason below the table,",
}
"""How a sentence on slices says each verdict about the candidate and the baseline."""
MOST_SLICES = 4
"""Most slices that the answer names for each verdict."""
MOST_WITH_SLICES = 3
"""Most candidates of several whose slices the answer names."""


def comparison_answer(
    findings: Sequence[PairFinding],
    gate: Gate | None,
    level: float,
    failures: Sequence[str],
    by: str | None = None,
) -> tuple[str, ...]:
    """Return the sentences of the answer.

    For one finding, the answer is the first three of these sentences: the verdict of the gate if
    there is one, who is ahead, doubts, the wins by item, and how many more items would separate the
    two. Who is ahead in which slice is one more sentence. For several findings, it is the verdict,
    one sentence about all candidates, one for each of the first `MOST_WITH_SLICES` candidates that
    are clearly ahead in some slices and clearly behind in others, and one for each different doubt
    about units, unparsed battles, the judge or a decisive voter.

    Args:
        findings: what was compared.
        gate: the decisions about requirements, whose verdict begins the answer; None if there are
            no requirements.
        level: confidence level of the gate's bounds.
        failures: what could not be compared. If there are no findings, the first failure follows
            the verdict.
        by: column of the slices; None if there are none.
    """
    verdict = [_gate_sentence(gate, level)] if gate else []
    if not findings:
        return (*verdict, *failures[:1])
    if len(findings) > 1:
        doubts: list[Check | None] = []
        for each in findings:
            doubts += [each.doubt, each.judge_doubt, each.loss_check, each.rater_check]
        doubt_sentences = dict.fromkeys(_doubt_sentence(doubt) for doubt in doubts if doubt)
        on_all = _if_same_questions(_several_sentence(findings), findings)
        limited = limit_sentence(
            on_all,
            of_slice=None,
            raters=raters_of_findings(findings),
            models=_compared_models(findings),
        )
        return (*verdict, limited, *_contrary_slices(findings, by), *doubt_sentences)
    # The bounds of a gate are one-sided. The p-value of the difference, which stands next to them,
    # is therefore called two-sided.
    p_name = "two-sided p" if gate else "p"
    on_slices = _sentences_on_slices(findings[0], by)
    sentences = [*verdict, *_pair_sentences(findings[0], p_name, on_slices)]
    # At most three sentences, those on slices apart: sentences on doubts come last.
    return tuple(sentences[: 3 + len(on_slices)])


def _pair_sentences(finding: PairFinding, p_name: str, on_slices: Sequence[str]) -> list[str]:
    """Write who is ahead, the wins by item, and how many more items would separate the two.

    If a column looks like the item although rows are counted as independent, the only sentence says
    so. If the scores may be in two units, or unparsed battles may explain the difference, the first
    sentence says that nothing is claimed. If the order of the responses decides, or else if battles
    of one of the two are unparsed more often, the second sentence says so. Another sentence names a
    voter or judge without whom the other model is ahead. Of a clear difference, a sentence says if
    it is not known whether unparsed verdicts would have had other winners. The wins are left out if
    no item has a result. If the difference is clear only for a pair that was chosen before looking
    at the ranking, a sentence has the p-value of one that was chosen afterwards. The further items
    are left out if the two are distinguishable or nothing is claimed.

    Args:
        finding: what was compared.
        p_name: the p-value's name in the text, `p` or `two-sided p`.
        on_slices: sentences on slices, which stand before the wins.
    """
    if finding.likely_item is not None:
        unknown = comparison_templates.UNIT_UNKNOWN.format(
            candidate=finding.candidate,
            baseline=finding.baseline,
            column=finding.likely_item,
            option=item_option(finding.likely_item),
        )
        return [unknown]
    if finding.doubt is not None:
        sentences = [_not_called_sentence(finding, finding.doubt)]
    else:
        lead = _if_same_questions(_lead_sentence(finding, p_name), [finding])
        raters = raters_of_findings([finding])
        sentences = [
            limit_sentence(lead, of_slice=None, raters=raters, models=_compared_models([finding]))
        ]
    # Of several sentences the first are kept, so that a doubt stands before what the table says.
    second = finding.judge_doubt or finding.loss_check
    if second is not None:
        sentences.append(_doubt_sentence(second))
    if finding.rater_check is not None:
        sentences.append(_doubt_sentence(finding.rater_check))
    if finding.loss_unknown is not None and finding.is_distinguishable:
        sentences.append(_unknown_sentence(finding.loss_unknown))
    if finding.p_if_chosen is not None and _depends_on_choice(finding):
        p = p_text(finding.p_if_chosen)
        sentences.append(comparison_templates.CHOSEN.format(pairs=finding.pairs, p=p))
    sentences += on_slices
    if len(finding.results):
        sentences.append(_tally_sentence(finding))
    if not finding.is_distinguishable and finding.doubt is None:
        sentences.append(_further_items_sentence(finding))
    return sentences


def raters_of_findings(findings: Sequence[PairFinding]) -> str | None:
    """Write the judges or voters of what is compared, as `these two judges`.

    The result is None if there is one judge or voter only, or if the findings differ in their
    judges or voters. `findings` must not be empty.
    """
    raters = {finding.raters for finding in findings}
    [first, *others] = raters
    return None if first is None or others else raters_text(*first)


def _depends_on_choice(finding: PairFinding) -> bool:
    """Return whether a difference is clear only if the pair was chosen before looking at the
    ranking.

    The result is True if the difference is distinguishable, and the p-value of a pair that was
    chosen afterwards (`p_if_chosen`) is known and above 1 - level.
    """
    p_if_chosen = finding.p_if_chosen
    return (
        finding.is_distinguishable and p_if_chosen is not None and p_if_chosen > 1 - finding.level
    )


def _not_called_sentence(finding: PairFinding, doubt: Check) -> str:
    """Write that neither model is called ahead, because of a doubt about their difference.

    The sentence ends with the clause of the flagged check `doubt`.
    """
    return comparison_templates.NOT_CALLED.format(
        candidate=finding.candidate, baseline=finding.baseline, reason=doubt.clause
    )


def _if_same_questions(sentence: str, findings: Sequence[PairFinding]) -> str:
    """Begin a sentence with the condition that the models were asked the same questions.

    If no finding has a doubt about this, the sentence is returned unchanged.
    """
    if not any(finding.questions_in_doubt for finding in findings):
        return sentence
    rest = after_colon(sentence, _compared_models(findings))
    return rank_templates.QUESTIONS_IN_DOUBT.format(answer=rest)


def _compared_models(findings: Sequence[PairFinding]) -> list[str]:
    """Return the candidate and the baseline of each finding, in order; names may repeat."""
    return [name for each in findings for name in (each.candidate, each.baseline)]


def _doubt_sentence(doubt: Check) -> str:
    """Write the clause of a flagged check as a sentence: why the difference may mean nothing."""
    return f"{doubt.start_sentence(doubt.clause)}."


def _unknown_sentence(check: Check) -> str:
    """Write what is not known because a check could not be made, and why."""
    return comparison_templates.NOT_KNOWN.format(
        question=check.kind.question or check.name, reason=check.reason
    )


def _further_items_sentence(finding: PairFinding) -> str:
    """Write how many more items would separate the two models, or that the number is unknown.

    The model that is ahead is named first; at a difference of 0, the candidate.
    """
    is_ahead = finding.difference.value >= 0
    first = finding.candidate if is_ahead else finding.baseline
    second = finding.baseline if is_ahead else finding.candidate
    number = finding.further_items
    if number is None:
        return comparison_templates.MORE_ITEMS_UNKNOWN.format(
            candidate=first,
            baseline=second,
            nouns=plural(finding.unit_of_further, 2),
            reason=_why_further_unknown(finding),
        )
    gap = amount_text(abs(finding.difference.value), finding.measure, finding.is_share)
    again = tested_again_text(
        finding.level,
        finding.units_so_far,
        number,
        has_verdicts=finding.measure != SCORE,
    )
    unit = finding.unit_of_further
    beside = ""
    if unit != finding.unit:
        # The further units are raters, not items.
        beside = further_items_text(
            raters=finding.units_so_far,
            further_raters=number,
            items=finding.difference.items,
            unit=finding.unit,
        )
    return more_items_sentence(
        first,
        second,
        items=number,
        gap=gap,
        noun=unit,
        pairs=finding.tests,
        again=again,
        beside=beside,
    )


def _why_further_unknown(finding: PairFinding) -> str:
    """Write why the number of further items is unknown; empty if no reason is known.

    The text begins with the punctuation mark that separates it from the sentence.
    """
    difference = finding.difference
    items = plural(finding.unit, 2)
    if difference.is_sequential:
        return comparison_templates.BY_BETTING.format(nouns=items)
    number = difference.fewest_raters
    has_few_raters = number is not None and number < fewest_raters(finding.level)
    if difference.raters is not None and number is not None and has_few_raters:
        few_raters = f"{number_word(number)} {plural(difference.raters[0], number)}"
        return f": {comparison_templates.FEW_RATERS_OF_ONE.format(raters=few_raters)}"
    if difference.items < FEWEST_ITEMS:
        few = rank_templates.FEW_ITEMS.format(least=FEWEST_ITEMS, nouns=items)
        return f": {few}"
    if np.isinf(difference.value):
        return f": {rank_templates.GAP_UNBOUNDED}"
    if difference.raters is not None and finding.has_busy_raters:
        busy = rank_templates.BUSY_RATERS.format(raters=plural(difference.raters[0], 2))
        return f": {busy}"
    return ""


def _lead_sentence(finding: PairFinding, p_name: str) -> str:
    """Write whether the candidate is ahead of or behind the baseline, and by how much.

    The sentence also has the p-value, and says whether the lead is clear or too close to call. The
    amount has no sign. If the candidate is behind, the interval is that of the baseline's lead. A
    win rate is said to be above or below 50%. At a difference of 0, the sentence says that none was
    measured.
    """
    value = finding.difference.value
    low, high = finding.interval
    if value < 0:
        low, high = -high, -low
    if np.isinf(value):
        amount, interval = _unbounded_lead_texts(finding, low, high)
    else:
        amount = f" by {amount_text(abs(value), finding.measure, finding.is_share)}"
        interval = difference_interval_text(finding, low, high)
    if value == 0:
        template = comparison_templates.LEVEL
    elif finding.is_distinguishable:
        template = comparison_templates.CLEAR
    else:
        template = comparison_templates.OPEN
    from_half = ""
    if finding.measure == WIN_RATE:
        from_half = comparison_templates.FROM_HALF.format(side="above" if value > 0 else "below")
    return template.format(
        candidate=finding.candidate,
        baseline=finding.baseline,
        side="ahead of" if value > 0 else "behind",
        amount=amount,
        interval=f" ({interval})" if interval else "",
        from_half=from_half,
        test=f"{p_name} {p_text(finding.p_adjusted)}, {finding.difference.method}",
    )


def _unbounded_lead_texts(finding: PairFinding, low: float, high: float) -> tuple[str, str]:
    """Return the texts of amount and interval of an infinite difference, for `_lead_sentence`.

    If the two are distinguishable and `low` is above 0, the amount says "at least" `low`, and the
    interval is empty. Otherwise, the amount is empty, and the interval is in Elo. If neither end is
    finite, the interval is empty.

    Args:
        finding: the finding.
        low: lower end of the interval of the absolute difference.
        high: upper end of the interval of the absolute difference.
    """
    if finding.is_distinguishable and low > 0:
        return f" by at least {amount_text(low, finding.measure, finding.is_share)}", ""
    interval = difference_interval_text(finding, low, high)
    return "", f"{interval} Elo" if interval else ""


def _tally_sentence(finding: PairFinding) -> str:
    """Write the candidate's wins, losses and ties by item.

    If the items have different weights, the sums of the weights follow. If some answers are
    identical, the sentence says how many of the ties have identical answers. If Elo says otherwise,
    the sentence says why it may.
    """
    won, lost, even = finding.tally
    identical_ties = ""
    if finding.identical:
        identical_ties = comparison_templates.IDENTICAL.format(number=f"{finding.identical:,}")
    weights = ""
    by_weight = finding.tally_by_weight
    if by_weight is not None:
        weights = comparison_templates.BY_WEIGHT.format(weights=tally_text(by_weight, ", "))
    return comparison_templates.TALLY.format(
        wins=f"{won:,} {plural('win', won)}",
        losses=f"{lost:,} {word_for(lost, 'loss', 'losses')}",
        ties=f"{even:,} {plural('tie', even)}",
        identical=identical_ties,
        weighed=weights,
        contrary=_contrary_text(finding),
    )


def _contrary_text(finding: PairFinding) -> str:
    """Write who is ahead by Elo, and why, if the other model wins more items; else "".

    The text begins with a semicolon. Items count by weight if their weights differ. The text is
    also empty if the measure is not Elo, or if Elo or the items say that the two are level.
    """
    elo = finding.difference.value
    won, lost, _ = finding.tally_by_weight or finding.tally
    if finding.measure != ELO or elo * (won - lost) >= 0:
        return ""
    ahead = finding.candidate if elo > 0 else finding.baseline
    win_rate = finding.differences[WIN_RATE].value
    is_by_others = elo * win_rate < 0
    template = (
        comparison_templates.OTHER_BATTLES if is_by_others else comparison_templates.BY_CREDITS
    )
    return template.format(ahead=ahead)


def tally_text(tally: Sequence[float], separator: str = "–") -> str:
    """Join the numbers of wins, losses and ties, or their weights.

    Whole numbers have no decimals, and other numbers six significant digits: `17–10–2.5`.
    """
    texts = []
    for number in tally:
        is_whole = number == round(number)
        texts.append(f"{number:,.0f}" if is_whole else f"{number:,.6g}")
    return separator.join(texts)


def _verdict_of(finding: PairFinding) -> str:
    """Return the verdict about a finding: `AHEAD`, `BEHIND`, `CLOSE` or `IN_DOUBT`.

    A distinguishable difference gives `AHEAD` or `BEHIND` (of the candidate). Any other finding
    gives `IN_DOUBT` if it has a `doubt`, and else `CLOSE`.
    """
    if finding.is_distinguishable:
        return AHEAD if finding.difference.value > 0 else BEHIND
    return CLOSE if finding.doubt is None else IN_DOUBT


def _slices_by_verdict(finding: PairFinding) -> dict[str, list[str]]:
    """Return the names of a finding's slices by their verdict (`_verdict_of`).

    The verdicts are in the order of `SLICE_VERDICTS`. Verdicts that no slice has are left out.
    """
    groups: dict[str, list[str]] = {AHEAD: [], BEHIND: [], CLOSE: [], IN_DOUBT: []}
    for each in finding.slices:
        groups[_verdict_of(each)].append(str(each.slice))
    return {verdict: names for verdict, names in groups.items() if names}


def _slices_text(finding: PairFinding) -> str:
    """Write on which slices each verdict about the candidate holds, as clauses joined by `; `.

    Each clause names at most `MOST_SLICES` slices.
    """
    parts = []
    for verdict, names in _slices_by_verdict(finding).items():
        text = SLICE_VERDICTS[verdict].format(baseline=finding.baseline)
        is_all = len(names) == len(finding.slices) > MOST_SLICES
        slices = f"all {len(names)} values" if is_all else some(names, most=MOST_SLICES)
        parts.append(f"{text} on {slices}")
    return "; ".join(parts)


def _sentences_on_slices(finding: PairFinding, by: str | None) -> list[str]:
    """Write who is ahead in which slices of the column `by`, in a list of one sentence.

    The list is empty without a column, without slices, and if every slice is `IN_DOUBT`.
    """
    claims = {AHEAD, BEHIND, CLOSE}
    if by is None or claims.isdisjoint(_slices_by_verdict(finding)):
        return []
    sentence = comparison_templates.BY_SLICE.format(
        column=by,
        candidate=finding.candidate,
        groups=_slices_text(finding),
        number=len(finding.slices),
    )
    return [sentence]


def _contrary_slices(findings: Sequence[PairFinding], by: str | None) -> list[str]:
    """Write a sentence for each finding whose candidate is ahead and behind in different slices.

    Such a candidate is clearly ahead in some slices, and clearly behind in others. The first
    `MOST_WITH_SLICES` findings have a sentence, and a last sentence counts further findings. `by`
    is the column of the slices.
    """
    contrary = []
    for finding in findings:
        verdicts = _slices_by_verdict(finding).keys()
        if verdicts >= {AHEAD, BEHIND}:
            contrary.append(finding)
    sentences = [
        comparison_templates.BY_SLICE_OF_SEVERAL.format(
            column=by, label=finding_label(each, findings), groups=_slices_text(each)
        )
        for each in contrary[:MOST_WITH_SLICES]
    ]
    number_of_others = len(contrary) - MOST_WITH_SLICES
    if number_of_others > 0:
        are = "is" if number_of_others == 1 else "are"
        more = comparison_templates.MORE_BY_SLICE.format(
            number=number_of_others, are=are, column=by
        )
        sentences.append(more)
    return sentences


def _several_sentence(findings: Sequence[PairFinding]) -> str:
    """Write which candidates are clearly ahead, clearly behind, too close to call, or in doubt.

    Each group names at most six findings, and empty groups are left out. Of one candidate on
    several questions, it says on which.
    """
    groups: dict[str, list[str]] = {AHEAD: [], BEHIND: [], CLOSE: [], IN_DOUBT: []}
    for finding in findings:
        groups[_verdict_of(finding)].append(finding_label(finding, findings))
    baselines = ", ".join(dict.fromkeys(finding.baseline for finding in findings))
    candidates = {finding.candidate for finding in findings}
    named_groups = {name: some(labels, most=6) for name, labels in groups.items() if labels}
    have_questions = all(finding.question for finding in findings)
    if len(candidates) == 1 and have_questions:
        parts = [f"{name} on {questions}" for name, questions in named_groups.items()]
        [candidate] = candidates
        template = comparison_templates.SEVERAL_QUESTIONS
        return template.format(
            candidate=candidate,
            baselines=baselines,
            groups="; ".join(parts),
            number=len(findings),
        )
    parts = [f"{name}: {labels}" for name, labels in named_groups.items()]
    return comparison_templates.SEVERAL.format(
        baselines=baselines, groups="; ".join(parts), number=len(findings)
    )


def finding_label(finding: PairFinding, findings: Sequence[PairFinding]) -> str:
    """Name a finding by its candidate, its question or both, as `amber on gsm8k`.

    The question is named if there is one. The candidate is named if there is no question, or if
    the findings have several candidates.

    Args:
        finding: the finding.
        findings: all findings that are shown.
    """
    has_several_candidates = len({each.candidate for each in findings}) > 1
    parts = []
    if has_several_candidates or finding.question is None:
        parts.append(finding.candidate)
    if finding.question:
        parts.append(finding.question)
    return " on ".join(parts)


def _gate_sentence(gate: Gate, level: float) -> str:
    """Write the verdict of a gate, and what decides it.

    If only one decision is not advisory, its bound decides. Otherwise, the sentence says that all
    requirements are met, or names at most four requirements that have the verdict. Advisory
    requirements are not mentioned. If all requirements are advisory, the sentence says so.
    """
    verdict = gate.verdict
    blocking = [decision for decision in gate.decisions if not decision.requirement.is_advisory]
    if not blocking:
        return comparison_templates.ALL_ADVISORY.format(verdict=verdict)
    if len(blocking) == 1:
        return _bound_sentence(blocking[0], level)
    if verdict == "PASS":
        return comparison_templates.ALL_MET.format(
            requirements=all_of(len(blocking), "requirement"),
            wider=_wider_interval(blocking),
            unseen=_unseen_loss(blocking, level),
        )
    deciding = [
        _requirement_label(decision) for decision in blocking if decision.verdict == verdict
    ]
    return comparison_templates.SOME_BLOCKING.format(
        verdict=verdict,
        number=len(deciding),
        all=len(blocking),
        outcome="refuted" if verdict == "FAIL" else "undecided",
        names=some(deciding, "; ", most=4),
    )


def _requirement_label(decision: GateDecision) -> str:
    """Name a requirement as it was typed, with the question or candidate that was compared.

    If nothing was compared, the scope of the requirement follows it, unless the scope is empty.
    """
    finding = decision.finding
    subject = decision.requirement.scope
    if finding is not None:
        subject = finding.question or finding.candidate
    return f"{decision.requirement.text} on {subject}" if subject else decision.requirement.text


def _bound_sentence(decision: GateDecision, level: float) -> str:
    """Write the verdict of one requirement with the bound behind it and the threshold.

    The bound is the upper bound if the requirement is refuted, else the lower bound. If nothing was
    compared, the sentence says only that. If the bound would decide, but a doubt withholds the
    verdict, it says so.
    """
    verdict = decision.verdict
    finding = decision.finding
    if finding is None:
        return comparison_templates.NOT_COMPARED.format(
            verdict=verdict, requirement=_requirement_label(decision)
        )
    is_refuted = verdict == "FAIL"
    low, threshold = decision.low, decision.threshold
    is_met = low is not None and threshold is not None and low > threshold
    is_withheld = is_met and verdict == "UNDECIDED"
    template = comparison_templates.WITHHELD if is_withheld else comparison_templates.BOUND
    return template.format(
        verdict=verdict,
        candidate=finding.candidate,
        baseline=finding.baseline,
        side="most" if is_refuted else "least",
        bound=bound_text(decision, "high" if is_refuted else "low"),
        level=percent(level),
        threshold=bound_text(decision, "threshold"),
        wider=_wider_interval([decision]) if verdict == "PASS" else "",
        unseen=_unseen_loss([decision], level) if verdict == "PASS" else "",
    )


def _wider_interval(decisions: Sequence[GateDecision]) -> str:
    """Write why an interval of the table contains the threshold of a requirement that is met.

    The text is empty if no interval does, or if the requirement is about another measure. Of
    several requirements, the first with such an interval is named.
    """
    for decision in decisions:
        finding = decision.finding
        if finding is None or decision.measure != finding.measure or decision.threshold is None:
            continue
        low, _ = finding.interval
        if low is not None and low <= decision.threshold:
            over_all_tests = ""
            if finding.tests > 1:
                over_all_tests = comparison_templates.OVER_ALL_TESTS.format(number=finding.tests)
            return comparison_templates.WIDER_INTERVAL.format(
                threshold=bound_text(decision, "threshold"), over_all_tests=over_all_tests
            )
    return ""


def _unseen_loss(decisions: Sequence[GateDecision], level: float) -> str:
    """Write that losses on fewer than 1 in N items may not be in the sample.

    N is the smallest over the decisions. The text is empty if none of the tests depends on rare
    losses. If all results lie in [0, 1], it names the method that allows for such losses.

    Args:
        decisions: the decisions that passed.
        level: confidence level.
    """
    rarest_losses = []
    for decision in decisions:
        if decision.finding and decision.measure:
            difference = decision.finding.differences[decision.measure]
            rarest_losses.append(difference.rarest_seen(level))
    bounded_losses = [number for number in rarest_losses if number]
    if not bounded_losses:
        return ""
    units = {decision.finding.unit for decision in decisions if decision.finding}
    unit = units.pop() if len(units) == 1 else "item"
    nouns = plural(unit, 2)
    can_bet = all(decision.finding and decision.finding.is_share for decision in decisions)
    remedy = comparison_templates.BETTING_ALLOWS if can_bet else ""
    return comparison_templates.UNSEEN_LOSS.format(
        rarest=min(bounded_losses), nouns=nouns, remedy=remedy
    )


def bound_text(decision: GateDecision, name: str) -> str:
    """Format a number of a decision with its unit.

    An end that is None is infinite and written `-∞` or `∞`. If nothing was compared, the text is a
    dash.

    Args:
        decision: the decision about a requirement.
        name: `low`, `high` or `threshold`.
    """
    finding = decision.finding
    value = getattr(decision, name)
    if finding is None or decision.measure is None:
        return EMPTY
    if value is None:
        return "-∞" if name == "low" else "∞"
    return amount_text(value, decision.measure, finding.is_share)


def amount_text(value: float, measure: str, is_share: bool) -> str:
    """Format a difference with the unit of its measure; an infinite one, or NaN, as `unbounded`.

    Args:
        value: the difference.
        measure: `elo`, `win-rate` or `score`; the unit for `elo` is Elo.
        is_share: whether all results lie in [0, 1]. The unit is then a point (0.01), else a unit
            of the metric.
    """
    if not np.isfinite(value):
        return "unbounded"
    # Adding 0 removes the sign of -0.
    if measure == ELO:
        return f"{round(value) + 0} Elo"
    return f"{100 * value + 0:.1f} points" if is_share else f"{value + 0:.3g} units"


def difference_interval_text(finding: PairFinding, low: float, high: float) -> str:
    """Format both ends of an interval as `low … high`, without the unit.

    The ends are rounded as the difference itself. An infinite end is `-∞` or `∞`. The text is empty
    if both ends are infinite.

    Args:
        finding: the finding, whose measure sets the unit.
        low: lower end.
        high: upper end.
    """
    if np.isinf(low) and np.isinf(high):
        return ""
    texts = []
    for end in (low, high):
        if np.isinf(end):
            texts.append("∞" if end > 0 else "-∞")
        else:
            number, _, _ = amount_text(end, finding.measure, finding.is_share).rpartition(" ")
            texts.append(number.replace("-0.0", "0.0"))
    return " … ".join(texts)


def p_text(p: float) -> str:
    """Format a p-value with its relation sign, as `= .065`; below 0.001 as `< .001`.

    A p-value of 1 or more, and NaN, give `= 1`.
    """
    if p < 0.001:
        return "< .001"
    if p < 1:
        return f"= {p:.3f}".replace("0.", ".", 1)
    return "= 1"
