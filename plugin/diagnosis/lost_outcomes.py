"""Would other models have won the lost verdicts? Tests by other verdicts on the same responses.

Such another verdict is that of the other order, of a repeat, or of another judge. If verdicts are
lost at random, the others say the same of the lost verdicts as of the parsed ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from podium.data.battles import Battles
from podium.data.counting.relations import IDENTICAL
from podium.diagnosis.clustered import cluster_battles
from podium.diagnosis.orders_in_slices import is_slice_of_items
from podium.diagnosis.subject import matchup_codes, read_orders
from podium.distributions import stdtr

LEAST_BIAS = 0.005
"""Lost verdicts must change a win rate by more than this (about 3.5 Elo) to be reported."""
OTHER_ORDER = "the other order"
"""Source of other verdicts: the same judge in the other order."""
OTHER_JUDGES = "other judges"
"""Source of other verdicts: other judges."""
OTHER_VERDICTS = "other verdicts on the same responses"
"""Source of other verdicts, if there are both orders and several judges, or repeats only."""


@dataclass(frozen=True, slots=True)
class LostOutcomes:
    """What other verdicts say of the lost verdicts of a model, or of all models.

    Attributes:
        model: name of the model; None for the one test of all pairs together, each seen from the
            model that wins more often.
        lost: mean credit of the model by the other verdicts where the verdict is lost.
        expected: the same where the verdict is parsed, in the same pairs and orders.
        share: share of the model's verdicts that are lost, in [0, 1].
        verdicts: number of the lost verdicts that have another one.
        p: two-sided p-value of the hypothesis that both means are equal, adjusted for the number
            of tests by `_adjust_for_number`.
    """

    model: str | None
    lost: float
    expected: float
    share: float
    verdicts: int
    p: float

    def is_significant(self, level: float) -> bool:
        """Return whether the p-value is at most `level` and the bias is above `LEAST_BIAS`."""
        return self.p <= level and self.bias > LEAST_BIAS

    @property
    def bias(self) -> float:
        """Smallest change of the mean credit by the losses, in absolute value.

        It is the share of lost verdicts times the difference of both means. Another verdict does
        not always agree with the lost one, so that the true change is larger.
        """
        return self.share * abs(self.lost - self.expected)


@dataclass(frozen=True, slots=True)
class LostVerdicts:
    """The tests of lost verdicts, and what they are based on.

    Attributes:
        outcomes: the tests: one of each model, then one of the stronger models of all pairs
            together. With two models, there is only one test, of the first model.
        models: names of the models whose losses explain what the tests find. All models if the
            losses of single ones do not explain it, or if there are two; empty if the tests find
            nothing.
        source: which other verdicts there are: `OTHER_ORDER`, `OTHER_JUDGES` or `OTHER_VERDICTS`.
        agreement: share of the parsed verdicts with another one that have the same winner, or
            are ties as well; NaN if there are none.
        largest_share: the largest share of a model's verdicts that are lost.
    """

    outcomes: tuple[LostOutcomes, ...]
    models: tuple[str, ...]
    source: str
    agreement: float
    largest_share: float


class _Judged(NamedTuple):
    """Verdicts as arrays of shape (verdicts,); pairs of models are (first, second) by their codes.

    Attributes:
        first: the lower one of the two models' codes.
        second: the higher one of the two models' codes.
        cluster: number of the item, or of its group.
        stratum: number of the pair, order and judge.
        credit: credit of the first model; NaN if the verdict is lost.
        others: mean credit of the first model by the other verdicts on the same responses; NaN if
            there is none.
    """

    first: np.ndarray
    second: np.ndarray
    cluster: np.ndarray
    stratum: np.ndarray
    credit: np.ndarray
    others: np.ndarray

    @property
    def is_lost(self) -> np.ndarray:
        """Mask of the lost verdicts, shape (verdicts,)."""
        return np.isnan(self.credit)

    def take(self, rows: np.ndarray) -> "_Judged":
        """Return the verdicts of a boolean mask of shape (verdicts,)."""
        return _Judged(*(values[rows] for values in self))


def compare_lost_verdicts(battles: Battles, level: float = 0.05) -> LostVerdicts | None:
    """Test whether lost verdicts would have had other winners than the parsed ones.

    Lost and parsed verdicts are compared within each pair of models, order and judge. The variance
    of the difference is a sum of squares by item (or group of items). Its t has the degrees of
    freedom of Satterthwaite (1946).

    Args:
        battles: the battles of one or more judges. If they are a part of others, verdicts of other
            judges on the same responses are used, too.
        level: p-value up to which a test is significant.

    Returns:
        The tests; None if no lost verdict can be compared. It needs another verdict on the same
        responses, and so does a parsed verdict of the same pair, order and judge.
    """
    judgments = _judgments_behind(battles)
    judged = _read_judged(judgments, battles)
    names = judgments.models
    outcomes = _compare_all(judged, names)
    if not outcomes:
        return None
    models = _models_to_name(judged, names, outcomes, level)
    return LostVerdicts(
        outcomes=outcomes,
        models=models,
        source=_source_of_others(battles),
        agreement=_share_agreeing(judged),
        largest_share=float(_shares_lost(judged, len(names)).max()),
    )


def _compare_all(judged: _Judged, names: Sequence[str]) -> tuple[LostOutcomes, ...]:
    """Return a test of each model, then one of the stronger models of all pairs together.

    With two models, there is only one test, of the first. The p-values are adjusted for the number
    of tests (`_adjust_for_number`). A test without a lost verdict to compare is left out; the
    result is empty if all are.

    Args:
        judged: the verdicts.
        names: names of the models, by code.
    """
    compared = _select_compared_strata(judged)
    if not compared.is_lost.any():
        return ()
    shares = _shares_lost(judged, len(names))
    outcomes = []
    for code, sides in _tested_sides(compared, len(names)):
        is_tested = sides != 0
        if not compared.is_lost[is_tested].any():
            continue
        tested = _compare_lost(compared.take(is_tested), sides[is_tested])
        if code is None:
            outcomes.append(replace(tested, share=float(judged.is_lost.mean())))
        else:
            outcomes.append(replace(tested, model=names[code], share=float(shares[code])))
    return _adjust_for_number(outcomes)


def _adjust_for_number(outcomes: Sequence[LostOutcomes]) -> tuple[LostOutcomes, ...]:
    """Return the tests with p-values adjusted by Bonferroni's rule with unequal parts.

    Half of the error rate is that of the test of the stronger model of each pair, whose p-value is
    multiplied by 2. The other half is shared by the m tests of single models, whose p-values are
    multiplied by 2 m. Without the test of the stronger model, the factor is m. P-values are at most
    1.
    """
    tests_of_models = sum(each.model is not None for each in outcomes)
    has_test_of_stronger = tests_of_models < len(outcomes)
    parts = 2 if has_test_of_stronger else 1
    adjusted = []
    for each in outcomes:
        factor = parts if each.model is None else parts * tests_of_models
        adjusted.append(replace(each, p=min(1.0, factor * each.p)))
    return tuple(adjusted)


def _models_to_name(
    judged: _Judged, names: Sequence[str], outcomes: Sequence[LostOutcomes], level: float
) -> tuple[str, ...]:
    """Return the names of the models whose losses explain what the tests find.

    The most significant model is named. Its battles are left out, and the others are tested again,
    until no test finds anything, because losses of one model also concern those that it met. All
    models are returned if only the stronger models of the pairs are left as a finding, or if there
    are two models; none if the tests find nothing.

    Args:
        judged: the verdicts.
        names: names of the models, by code.
        outcomes: the tests of these verdicts.
        level: p-value up to which a test is significant.
    """
    significant = [each for each in outcomes if each.is_significant(level)]
    named_models: list[str] = []
    while significant:
        outcomes_of_models = [each for each in significant if each.model is not None]
        if not outcomes_of_models or len(names) == 2:
            return tuple(names)
        worst = str(most_significant(outcomes_of_models).model)
        named_models.append(worst)
        code = names.index(worst)
        judged = judged.take((judged.first != code) & (judged.second != code))
        significant = [each for each in _compare_all(judged, names) if each.is_significant(level)]
    return tuple(named_models)


def most_significant(outcomes: Sequence[LostOutcomes]) -> LostOutcomes:
    """Return the test with the smallest p-value.

    Of tests with equal p-values, the one with the largest bias is returned. Adjusted p-values are
    often 1 for several models, and the order of their names must then not decide.
    """
    return min(outcomes, key=lambda each: (round(each.p, 12), -each.bias))


def _judgments_behind(battles: Battles) -> Battles:
    """Return the judgments of all judges on the responses of some battles, one per order.

    If the battles are a part of others, the judges of all these are included; of a slice, only
    judgments on its items. Ties of identical responses, which no judge was asked about, are left
    out.
    """
    whole = battles.whole or battles
    judgments = replace(whole, rows=whole.rows.separate_orders(), whole=None)
    # `len` of the judgments would count them all.
    is_counted = np.ones(len(judgments.model_codes[0]), dtype=bool)
    if IDENTICAL in judgments.rows.battle_columns:
        is_counted &= ~judgments.table[IDENTICAL].eq(True).to_numpy(dtype=bool)
    if is_slice_of_items(battles):
        items = [*battles.values_of("item")]
        is_counted &= np.isin(judgments.rows.texts_of("item").astype(str), items)
    return judgments if is_counted.all() else judgments.select(is_counted)


def _read_judged(judgments: Battles, battles: Battles) -> _Judged:
    """Return the verdicts of the judges of some battles, with what other verdicts say.

    The other verdicts are those of all judges on the same responses, without the verdict itself.
    Battles that lack a score are left out.

    Args:
        judgments: the judgments of all judges on the same responses.
        battles: the battles.
    """
    a, b = judgments.model_codes
    is_turned = a > b
    credit = judgments.numbers_of("credit")
    credit = np.where(is_turned, 1 - credit, credit)
    matchup = matchup_codes(judgments, np.arange(len(a)))
    _, matchup = np.unique(matchup, return_inverse=True)
    is_parsed = ~np.isnan(credit)
    credit_or_zero = np.where(is_parsed, credit, 0.0)
    number = np.bincount(matchup, is_parsed)[matchup] - is_parsed
    total = np.bincount(matchup, credit_or_zero)[matchup] - credit_or_zero
    _, cluster = np.unique(cluster_battles(judgments).code, return_inverse=True)
    judged = _Judged(
        first=np.minimum(a, b),
        second=np.maximum(a, b),
        cluster=cluster,
        stratum=_number_strata(judgments),
        credit=credit,
        others=np.where(number > 0, total / np.maximum(number, 1), np.nan),
    )
    # A score that is missing is no lost verdict.
    is_asked = is_parsed | judgments.is_unparsed
    if len(judgments.judges) > len(battles.judges):
        is_asked &= np.isin(judgments.rows.texts_of("judge"), battles.judges)
    return judged.take(is_asked)


def _number_strata(judgments: Battles) -> np.ndarray:
    """Return a number per judgment that stands for the pair, the order and the judge.

    The order is that of the two models, whichever of them is `model_a`; a merged or unknown order
    is a third one.

    Returns:
        The numbers, from 0, shape (judgments,).
    """
    a, b = judgments.model_codes
    order = read_orders(judgments)
    is_known = np.isin(order, ["ab", "ba"])
    is_lower_shown_first = np.where(a < b, order == "ab", order != "ab")
    # 1 if the model with the lower code is shown first, 0 if second, 2 if the order is unknown.
    order_code = np.where(is_known, is_lower_shown_first, 2)
    models = len(judgments.models)
    pair = np.minimum(a, b) * models + np.maximum(a, b)
    key = 3 * pair + order_code
    if len(judgments.judges) > 1:
        # A row without a judge has the code -1.
        judge = judgments.rows.codes_of("judge") + 1
        key = key * (int(judge.max()) + 1) + judge
    _, code = np.unique(key, return_inverse=True)
    return code


def _select_compared_strata(judged: _Judged) -> _Judged:
    """Return the verdicts that have another one, in strata where a lost and a parsed verdict do.

    A stratum is a pair, an order and a judge. The order of the verdicts is kept; none may be left.
    """
    judged = judged.take(~np.isnan(judged.others))
    is_lost = judged.is_lost
    strata = int(judged.stratum.max(initial=-1)) + 1
    lost = np.bincount(judged.stratum[is_lost], minlength=strata)
    parsed = np.bincount(judged.stratum[~is_lost], minlength=strata)
    has_both = (lost > 0) & (parsed > 0)
    return judged.take(has_both[judged.stratum])


def _tested_sides(compared: _Judged, models: int) -> Iterator[tuple[int | None, np.ndarray]]:
    """Yield for each test the code of the model, and the weight of each verdict.

    There is a test of each model; of two models, which lose the same verdicts, only of the first.
    For three or more models, the test of the stronger model of each pair follows, with None as
    code. The weight, shape (verdicts,), is 1 if the tested model is the first of the verdict's two
    models, -1 if it is the second, and 0 if it is neither. In the test of the stronger model, it is
    the lead of the first model.
    """
    tested_models = 1 if models == 2 else models
    for code in range(tested_models):
        is_first = compared.first == code
        is_second = compared.second == code
        yield code, is_first.astype(float) - is_second.astype(float)
    if models > 2:
        yield None, _lead_of_first(compared, models)


def _lead_of_first(compared: _Judged, models: int) -> np.ndarray:
    """Return by how much the first model of each verdict's pair wins more often than the second.

    The lead is the win rate minus the loss rate of the first model, by the other verdicts on the
    responses whose verdict is parsed. It is one value per pair of models, in [-1, 1], and has shape
    (verdicts,).
    """
    pair = compared.first * models + compared.second
    is_parsed = ~compared.is_lost
    verdicts = np.bincount(pair[is_parsed], minlength=int(pair.max()) + 1)
    total = np.bincount(pair[is_parsed], compared.others[is_parsed], len(verdicts))
    lead = 2 * total / np.maximum(verdicts, 1) - 1
    return lead[pair]


def _compare_lost(compared: _Judged, weight: np.ndarray) -> LostOutcomes:
    """Compare what other verdicts say of the lost and of the parsed verdicts.

    Args:
        compared: the verdicts, some of which are lost; each stratum has both kinds.
        weight: the weight of each verdict, shape (verdicts,): above 0 if the first model of its
            pair is tested, below 0 if the second is; never 0.

    Returns:
        The test; its `model` is None and its `share` is 0.
    """
    is_lost = compared.is_lost
    _, stratum = np.unique(compared.stratum, return_inverse=True)
    lost = np.bincount(stratum, is_lost)
    parsed = np.bincount(stratum, ~is_lost)
    mean_of_parsed = np.bincount(stratum[~is_lost], compared.others[~is_lost]) / parsed
    departure = compared.others - mean_of_parsed[stratum]
    # The influence of each verdict on the sum over strata of `lost` times the difference of means.
    lost_per_parsed = lost / parsed
    influence = weight * departure * np.where(is_lost, 1.0, -lost_per_parsed[stratum])
    is_first = weight[is_lost] > 0
    won = compared.others[is_lost]
    usual = mean_of_parsed[stratum[is_lost]]
    return LostOutcomes(
        model=None,
        lost=float(np.where(is_first, won, 1 - won).mean()),
        expected=float(np.where(is_first, usual, 1 - usual).mean()),
        share=0.0,
        verdicts=len(won),
        p=_p_of_sums(np.bincount(compared.cluster, influence)),
    )


def _p_of_sums(sums: np.ndarray) -> float:
    """Return the two-sided p-value of the hypothesis that a total of independent sums is 0.

    The variance of the total is the sum of squares. A few large sums give few degrees of freedom
    (Satterthwaite). The p-value is 1 if all sums are 0.

    Args:
        sums: the sums by item, shape (items,).
    """
    squares = sums**2
    variance = float(squares.sum())
    if variance == 0:
        return 1.0
    freedom = max(variance**2 / float((squares**2).sum()) - 1, 1.0)
    t = abs(float(sums.sum())) / np.sqrt(variance)
    return float(2 * stdtr(freedom, -t))


def _shares_lost(judged: _Judged, models: int) -> np.ndarray:
    """Return the share of each model's verdicts that are lost, shape (models,); 0 without any."""
    sides = np.concatenate([judged.first, judged.second])
    is_lost = np.tile(judged.is_lost, 2)
    verdicts_of_model = np.bincount(sides, minlength=models)
    return np.bincount(sides, is_lost, models) / np.maximum(verdicts_of_model, 1)


def _share_agreeing(judged: _Judged) -> float:
    """Return the share of parsed verdicts with the winner of the other verdicts' mean.

    Ties agree with a mean of 0.5. The share is NaN if no parsed verdict has another one.
    """
    is_known = ~judged.is_lost & ~np.isnan(judged.others)
    winner = np.sign(judged.credit[is_known] - 0.5)
    others = np.sign(judged.others[is_known] - 0.5)
    return float((winner == others).mean()) if len(winner) else float("nan")


def _source_of_others(battles: Battles) -> str:
    """Return which other verdicts on the same responses there are.

    The text is `OTHER_ORDER` or `OTHER_JUDGES` if there is only one of these kinds. It is
    `OTHER_VERDICTS` if there are both orders and several judges, or neither (repeats).
    """
    whole = battles.whole or battles
    has_orders = whole.swaps() is not None
    has_judges = len(whole.judges) > 1
    if has_orders == has_judges:
        return OTHER_VERDICTS
    return OTHER_ORDER if has_orders else OTHER_JUDGES
