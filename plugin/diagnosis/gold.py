"""Agreement of a judge's ranking and win rates with a gold standard.

Source: Gera et al. 2025, JuStRank.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from podium.diagnosis.clustered import agreement_statistic, reflected_interval, usable_draws
from podium.diagnosis.decisiveness import (
    decisiveness,
    decisiveness_of_draws,
    judge_curve,
    nan_standard_deviation,
    pair_agreement,
    squared_error,
    standard_error_of_draws,
    system_biases,
)
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value, attempt
from podium.diagnosis.judge_checks import same_model
from podium.diagnosis.ratings import (
    FEWEST_DECIDED,
    AnyRatings,
    BattleRatings,
    fit_ratings,
    kendall_taus,
    number_items,
)
from podium.diagnosis.subject import Gold, Subject
from podium.distributions import stdtr
from podium.numbers import cell_text
from podium.rankers.errors.intervals import finite_or_none, holm, resample, t_quantile
from podium.rankers.fit.coded import ratio_or_nan
from podium.rankers.fit.scale import POINTS
from podium.tables import EMPTY, Table
from podium.wording import some

NARROWEST = 20.0
"""Smallest range (highest - lowest) of gold scores, in Elo, from which win rates are computed.

Scores within a smaller range are hardly on the Elo scale, so that win rates are `Missing`.
"""
SELF_BIAS = "self-bias"
RESAMPLES = 500
"""Default number of bootstrap resamples of the items."""
Counts: TypeAlias = np.ndarray | None
"""How often each resample draws each item, shape (draws, items).

None stands for the sample itself, in which each item counts once.
"""


@dataclass(frozen=True, slots=True)
class GoldPairs:
    """Common models of a judge and its gold standard, and the pairs with a win rate by both.

    Attributes:
        judge: ratings by the judge.
        gold: ratings by the gold standard.
        models: names of the common models, sorted.
        ours: code of each common model in the judge's ratings, shape (models,).
        theirs: code of each common model in the gold ratings, shape (models,).
        first: position in `models` of the first model of each pair, shape (pairs,).
        second: position in `models` of the second model of each pair, shape (pairs,).
        gold_pairs: number of pairs with a win rate by the gold standard, including pairs that the
            judge did not judge.
        rates_missing: why the gold standard gives no win rates; None if it does.
    """

    judge: BattleRatings
    gold: AnyRatings
    models: tuple[str, ...]
    ours: np.ndarray
    theirs: np.ndarray
    first: np.ndarray
    second: np.ndarray
    gold_pairs: int
    rates_missing: Missing | None

    def strengths(
        self, ours: Counts = None, theirs: Counts = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the log-strengths of the models by judge and by gold standard.

        Args:
            ours: counts of the judge's items in resamples.
            theirs: counts of the gold standard's items.

        Returns:
            The log-strengths, shape (models,) each, or (draws, models) with counts.
        """
        by_judge = self.judge.strengths(ours)
        by_gold = self.gold.strengths(theirs)
        return by_judge[..., self.ours], by_gold[..., self.theirs]

    def rates(self, ours: Counts = None, theirs: Counts = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the win rates of the pairs by judge and by gold standard.

        Args:
            ours: counts of the judge's items in resamples.
            theirs: counts of the gold standard's items.

        Returns:
            The win rates of the first model of each pair, shape (pairs,) each, or (draws, pairs)
            with counts.
        """
        by_judge = self.judge.rates(self.ours[self.first], self.ours[self.second], ours)
        by_gold = self.gold.rates(self.theirs[self.first], self.theirs[self.second], theirs)
        return by_judge, by_gold


def match_gold_pairs(subject: Subject) -> GoldPairs | Missing:
    """Match the models and pairs of a judge with those of its gold standard.

    If no gold standard is given, human labels of the judge's battles take its place.

    Returns:
        The common models and pairs, of which there may be none; `Missing` without a gold standard
        and without human labels, if the gold battles are by several judges, or if fewer than three
        models are common.

    Raises:
        NotIdentifiedError: the battles of the judge or of the gold standard do not connect all
            models.
        NotConvergedError: a fit does not converge.
    """
    gold = subject.gold
    if gold is None and not np.isfinite(subject.human_credit).any():
        remedy = (
            "give a ranking or human battles with --gold, or name a human judge with --human-judge"
        )
        return Missing("there is no gold standard and no human label", remedy)
    if gold is not None and gold.battles is not None and len(gold.battles.judges) > 1:
        why = f"the gold battles are by several judges: {some(gold.battles.judges)}"
        remedy = (
            "keep the rows of one in the gold file, or name the one in the judged file with "
            "--human-judge"
        )
        return Missing(why, remedy)
    theirs = subject.human if gold is None else gold.source_ratings
    ours = subject.judge_ratings
    names = tuple(sorted(set(ours.models) & set(theirs.models)))
    if len(names) < 3:
        why = f"{len(names)} models are known both to the judge and to the gold standard"
        return Missing(why, "spell the models alike on both sides; at least three are needed")
    here = np.array([ours.models.index(name) for name in names])
    there = np.array([theirs.models.index(name) for name in names])
    first, second = np.triu_indices(len(names), 1)
    is_gold = theirs.number[there[first], there[second]] >= FEWEST_DECIDED
    is_judged = ours.number[here[first], here[second]] > 0
    is_common = is_gold & is_judged
    return GoldPairs(
        judge=ours,
        gold=theirs,
        models=names,
        ours=here,
        theirs=there,
        first=first[is_common],
        second=second[is_common],
        gold_pairs=int(is_gold.sum()),
        rates_missing=_rates_missing(gold),
    )


def _rates_missing(gold: Gold | None) -> Missing | None:
    """Return why a gold standard gives no win rates; None if it gives them.

    Battles and human labels give them. Scores do if they are on the Elo scale and differ by at
    least `NARROWEST` points.
    """
    if gold is None or gold.scores is None:
        return None
    if not gold.scale.is_elo:
        return Missing(
            f"its scale {gold.scale.name!r} gives no win rates", "give Elo ratings, or battles"
        )
    score_range = float(np.ptp(list(gold.scores.values())))
    if score_range >= NARROWEST:
        return None
    why = f"all its scores lie within {score_range:g} points, too close for Elo ratings"
    return Missing(why, f"give scores in Elo points (log-strengths times {POINTS:.1f})")


class GoldDraws(NamedTuple):
    """Figures in bootstrap resamples of the items, NaN where unknown.

    Attributes:
        tau: Kendall's tau of the two rankings, shape (draws,).
        judge: win rates of the first model of each pair by the judge, shape (draws, pairs).
        gold: win rates by the gold standard, shape (draws, pairs). The shape is (pairs,) if the
            gold standard is a ranking, which has no items to resample.
        method: description of the resampling.
    """

    tau: np.ndarray
    judge: np.ndarray
    gold: np.ndarray
    method: str


def resample_both(
    both: GoldPairs, resamples: int, rng: np.random.Generator, *, ranked: bool = True
) -> GoldDraws:
    """Bootstrap the items of the judge and of the gold battles.

    If the two share an item, both are drawn in one resample, so that a shared item counts equally
    often in both. Otherwise they are resampled independently. A ranking as gold standard has no
    items and stays as it is.

    Args:
        both: the common models and pairs.
        resamples: number of resamples.
        rng: random generator.
        ranked: whether to compute tau, too; it is NaN otherwise.

    Returns:
        The figures in resamples; 0 resamples if the judge has a single item.
    """
    judge_items = len(both.judge.clusters)
    gold_items = len(both.gold.clusters)
    pairs = len(both.first)
    if judge_items < 2:
        return GoldDraws(np.empty(0), np.empty((0, pairs)), both.rates()[1], "")
    distinct_items, (ours, theirs) = number_items((both.judge, both.gold))
    together = distinct_items < judge_items + gold_items

    def columns_of(counts: np.ndarray) -> np.ndarray:
        """Return columns of tau and of the pairs' win rates, by judge and by gold standard.

        `counts` say how often each resample draws each item, shape (draws, items).
        """
        judge_counts = counts[:, ours] if together else counts
        if together:
            gold_counts = counts[:, theirs]
        elif gold_items:
            chances = np.full(gold_items, 1 / gold_items)
            drawn = rng.multinomial(gold_items, chances, size=len(counts))
            gold_counts = drawn.astype(np.float64)
        else:
            gold_counts = np.zeros((len(counts), 0))
        tau = np.full(len(counts), np.nan)
        if ranked:
            tau = kendall_taus(*both.strengths(judge_counts, gold_counts))
        return np.concatenate([tau[:, None], *both.rates(judge_counts, gold_counts)], axis=1)

    items = distinct_items if together else judge_items
    columns = resample(columns_of, items, resamples, rng, width=len(both.models) ** 2)
    judge = columns[:, 1 : 1 + pairs]
    gold = columns[:, 1 + pairs :]
    what = "bootstrap, gold standard as given"
    if gold_items:
        how = "together" if together else "apart"
        what = f"bootstrap of judge and gold standard {how}"
    method = f"{both.judge.coded.unit} {what}, {resamples} resamples"
    return GoldDraws(columns[:, 0], judge, gold if gold_items else gold[0], method)


class SystemBias(NamedTuple):
    """The bias of a judge towards or against one system.

    Attributes:
        model: name of the system.
        opponents: number of its opponents.
        raw: mean over opponents of the win rate by the judge minus the gold win rate.
        corrected: mean over opponents of the win rate by the judge minus the gold win rate mapped
            by `judge_curve`, which removes the effect of the judge's decisiveness.
        p: two-sided p-value that `corrected` is 0, adjusted by Holm's rule over systems; None if
            unknown.
    """

    model: str
    opponents: int
    raw: Statistic
    corrected: Statistic
    p: float | None


class SelfBias(NamedTuple):
    """Bias of a judge towards its own model.

    Attributes:
        model: name of the judge's model among the systems.
        bias: the corrected bias of this model, as in `SystemBias.corrected`.
        opponents: number of opponents of this model.
        paired_p: one-sided p-value by JuStRank's paired t test over opponents; None if unknown.
        item_p: one-sided p-value by the standard error over items; None if unknown.
        tests: number of judges whose own model is among the systems. Both p-values are multiplied
            by it (Bonferroni's rule).
        favours_itself: whether `item_p` is at most 1 - level.
    """

    model: str
    bias: Statistic
    opponents: int
    paired_p: float | None
    item_p: float | None
    tests: int
    favours_itself: bool


class Biases(NamedTuple):
    """The biases of a judge between systems.

    Attributes:
        delta: standard deviation of the corrected biases over systems.
        delta_beyond_noise: `delta` without the part that the sampling of items adds.
        by_system: the bias of each system, the largest |corrected bias| first.
        of_itself: bias towards the judge's own model.
    """

    delta: float | Missing
    delta_beyond_noise: Figured
    by_system: tuple[SystemBias, ...] | Missing
    of_itself: SelfBias | Missing


class GoldComparison:
    """The figures of a judge against a gold standard, each an estimate or `Missing`.

    Attributes:
        both: the common models and pairs.
        draws: win rates and tau in resamples.
        level: confidence level.
        judge: win rates of the first model of each pair by the judge, shape (pairs,).
        gold: win rates by the gold standard, shape (pairs,).
        items: number of the judge's items.
        systems: number of common models.
        facts: default fields of the statistics.
        reach: half-width of an interval in standard errors.
        pairs_missing: why there are too few pairs to compare; None if there are enough.
        rates_missing: why win rates cannot be compared in size; None if they can.
        alpha: decisiveness of the judge, without correction for noise; or why it is missing.
    """

    def __init__(self, both: GoldPairs, draws: GoldDraws, level: float) -> None:
        """Compute the win rates of the pairs, and fit alpha.

        Args:
            both: the common models and pairs.
            draws: win rates and tau in resamples.
            level: confidence level of the intervals, in (0, 1).
        """
        self.both = both
        self.draws = draws
        self.level = level
        self.judge, self.gold = both.rates()
        self.items = len(both.judge.clusters)
        self.systems = len(both.models)
        self.facts: dict[str, Any] = {
            "level": level,
            "n": len(both.first),
            "of": "pairs",
            "clusters": self.items,
        }
        self.reach = t_quantile(max(self.items, 2), level)
        self.pairs_missing = _pairs_missing(both)
        # The winners of pairs can be compared without win rates, their sizes cannot.
        self.rates_missing = both.rates_missing or self.pairs_missing
        self.alpha: float | Missing
        if self.rates_missing is not None:
            self.alpha = self.rates_missing
        else:
            fit_alpha = partial(decisiveness, self.judge, self.gold)
            self.alpha = attempt(fit_alpha, "give more items, or closer systems")

    def tau(self) -> Figured:
        """Estimate Kendall's tau-b of the two rankings; `Missing` if one puts all systems level."""
        tau = float(kendall_taus(*self.both.strengths()))
        if np.isnan(tau):
            return Missing(
                "one of the rankings puts all systems level", "judge systems that differ"
            )
        return self._agreement(
            tau, self.draws.tau, (-1.0, 1.0), n=self.systems, of="systems", unit=Unit.CORRELATION
        )

    def accuracy(self) -> Figured:
        """Estimate the share of pairs with the same better system, as `pair_agreement` counts it.

        It is `Missing` if there are fewer than two pairs.
        """
        if self.pairs_missing:
            return self.pairs_missing
        value = float(pair_agreement(self.judge, self.gold))
        draws = pair_agreement(self.draws.judge, self.draws.gold)
        return self._agreement(value, draws, (0.0, 1.0), unit=Unit.SHARE)

    def mse(self) -> tuple[float | Missing, Figured]:
        """Return the mean squared difference of win rates: as it is, and corrected for noise.

        Both are `Missing` if win rates cannot be compared, the second also if the items are too
        few to be resampled.
        """
        if self.rates_missing:
            return self.rates_missing, self.rates_missing
        value = float(squared_error(self.judge, self.gold))
        draws = squared_error(self.draws.judge, self.draws.gold)
        return value, self._reflected_figure(value, draws)

    def alphas(self) -> tuple[float | Missing, Figured]:
        """Return alpha: as it is, and corrected for the bias that the sampling of items causes.

        Both are `Missing` if alpha is, the second also if most resamples have no alpha.
        """
        # The sampling noise of the judge's win rates adds its variance to their squared distance
        # from the fitted curve. The rates are moved towards the curve (`centre`) by the factor
        # kept = sqrt(1 - noise / distance), so that their distance has no noise in it. Resampling
        # around `centre` then shows how much noise changes log alpha.
        if isinstance(self.alpha, Missing):
            return self.alpha, self.alpha
        fitted = judge_curve(self.gold, self.alpha)
        noise = float(np.nansum(standard_error_of_draws(self.draws.judge) ** 2))
        distance = float(np.sum((self.judge - fitted) ** 2))
        kept = np.sqrt(max(0.0, 1 - noise / distance)) if distance > 0 else 0.0
        centre = fitted + kept * (self.judge - fitted)
        around = np.clip(centre + (self.draws.judge - self.judge), 0, 1)
        usable = usable_draws(np.log(decisiveness_of_draws(around, self.draws.gold)))
        if usable is None:
            why = "most resamples of the items have no alpha"
            if self.items < 2:
                why = "a single item is not resampled"
            return self.alpha, Missing(why, "give more items")
        without_noise = float(np.log(decisiveness_of_draws(centre[None, :], self.gold))[0])
        middle = np.log(self.alpha) - (usable.mean() - without_noise)
        reach = self.reach * usable.std(ddof=1)
        estimate = np.exp([middle, middle - reach, middle + reach]).tolist()
        method = f"{self.draws.method}, normal on the logarithm, corrected for noise"
        return self.alpha, self._statistic(estimate, method)

    def biases(self, subject: Subject) -> Biases:
        """Return the biases between systems, and the judge's bias towards its own model.

        All of them are `Missing` if alpha is, because the corrected biases need it.
        """
        if isinstance(self.alpha, Missing):
            return Biases(self.alpha, self.alpha, self.alpha, self.alpha)
        gold = self.draws.gold
        judge = self.draws.judge
        alphas = decisiveness_of_draws(judge, gold)
        gold_by_draw = np.broadcast_to(gold, judge.shape)
        curves = [
            judge_curve(rates, alpha) for rates, alpha in zip(gold_by_draw, alphas, strict=True)
        ]
        fitted = np.reshape(curves, gold_by_draw.shape)
        expected = judge_curve(self.gold, self.alpha)
        raw = self._biases_beyond(self.gold, gold)
        corrected, drawn = self._biases_beyond(expected, fitted)
        delta = float(nan_standard_deviation(corrected))
        variance = self._reflected_figure(delta**2, nan_standard_deviation(drawn) ** 2)
        beyond_noise = variance
        if not isinstance(variance, Missing):
            beyond_noise = variance.transform(np.sqrt)
        errors = standard_error_of_draws(drawn)
        return Biases(
            delta=delta,
            delta_beyond_noise=beyond_noise,
            by_system=self._by_system(raw, (corrected, drawn)),
            of_itself=self._self_bias(subject, expected, corrected, errors),
        )

    def _biases_beyond(
        self, expected: np.ndarray, of_draws: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return by how much the judge's win rates exceed expected ones, averaged by system.

        Args:
            expected: expected win rates, shape (pairs,).
            of_draws: expected win rates in resamples, shape (draws, pairs), or (pairs,) if they
                are the same in all resamples.

        Returns:
            The biases in the sample, shape (systems,), and in resamples, shape (draws, systems).
        """
        pairs = self.both.first, self.both.second
        value = system_biases(*pairs, self.judge - expected, self.systems)
        drawn = system_biases(*pairs, self.draws.judge - of_draws, self.systems)
        return value, drawn

    def _by_system(
        self, raw: tuple[np.ndarray, np.ndarray], corrected: tuple[np.ndarray, np.ndarray]
    ) -> tuple[SystemBias, ...]:
        """Build the records of the systems with opponents, the largest |corrected bias| first.

        Args:
            raw: raw biases in the sample and in resamples, as `_biases_beyond` returns them.
            corrected: corrected biases in the sample and in resamples.
        """
        in_pairs = np.concatenate([self.both.first, self.both.second])
        opponents = np.bincount(in_pairs, minlength=self.systems)
        raw_value, raw_draws = raw
        raw_se = standard_error_of_draws(raw_draws)
        value, draws = corrected
        se = standard_error_of_draws(draws)
        p_of_t = 2 * stdtr(max(self.items - 1, 1), -np.abs(ratio_or_nan(value, se)))
        p = holm(np.asarray(p_of_t))
        method = f"{self.draws.method}, standard error, t"
        systems = []
        order = np.argsort(-np.nan_to_num(np.abs(value)), kind="stable")
        for k in order[opponents[order] > 0].tolist():
            number = int(opponents[k])
            record = SystemBias(
                model=self.both.models[k],
                opponents=number,
                raw=self._bias(raw_value[k], raw_se[k], number, method),
                corrected=self._bias(value[k], se[k], number, method),
                p=finite_or_none(p[k]),
            )
            systems.append(record)
        return tuple(systems)

    def _self_bias(
        self, subject: Subject, expected: np.ndarray, biases: np.ndarray, errors: np.ndarray
    ) -> SelfBias | Missing:
        """Test the judge's corrected bias towards its own model.

        Source: Gera et al. 2025, section 6.2 and table 3.

        Args:
            subject: the judge.
            expected: expected win rates by the judge, shape (pairs,).
            biases: corrected biases, shape (systems,).
            errors: standard errors of the corrected biases, shape (systems,).

        Returns:
            The bias; `Missing` if no row names the judge, or if its own model is no system or has
            no opponents.
        """
        from scipy import stats

        if subject.judge is None:
            return Missing("no row names the judge", "name the judge's model in a column judge")
        both = self.both
        model = subject.battles.judge_of(subject.judge).shown_model
        own_model = same_model(both.models, model)
        if own_model is None:
            remedy = "let the judge's model compete, under the judge's name"
            return Missing(f"no model of the gold standard is called {model}", remedy)
        k = both.models.index(own_model)
        is_second = both.second == k
        has_model = (both.first == k) | is_second
        opponents = int(has_model.sum())
        if not opponents:
            return Missing(f"no gold win rate involves {own_model}", "give gold battles of it")
        tests = _competing_judges(subject)
        # Win rates of the judge's own model, against each opponent.
        measured = np.where(is_second, 1 - self.judge, self.judge)[has_model]
        fitted = np.where(is_second, 1 - expected, expected)[has_model]
        paired_p = None
        if opponents > 1 and float(np.ptp(measured - fitted)) > 1e-12:
            paired = stats.ttest_rel(measured, fitted, alternative="greater")
            paired_p = min(1.0, tests * float(paired.pvalue))
        value = float(biases[k])
        # A standard error of 0 counts as unknown.
        se = float(errors[k]) or np.nan
        item_p = None
        if not np.isnan(se):
            item_p = min(1.0, tests * float(stats.t.sf(value / se, self.items - 1)))
        bias = self._bias(value, se, opponents, "item bootstrap standard error, t")
        favours_itself = item_p is not None and item_p <= 1 - self.level
        return SelfBias(own_model, bias, opponents, paired_p, item_p, tests, favours_itself)

    def _bias(self, value: float, se: float, opponents: int, method: str) -> Statistic:
        """Build the statistic of a bias, with a t interval from its standard error over items.

        Args:
            value: the bias, a difference of win rates.
            se: standard error of the bias; NaN means that there is no interval.
            opponents: number of opponents, which is shown as the sample size.
            method: description of the interval.
        """
        estimate = [float(value)]
        if np.isnan(se):
            method = "too few items: no interval"
        else:
            estimate += [float(value - self.reach * se), float(value + self.reach * se)]
        return self._statistic(estimate, method, n=opponents, of="opponents", unit=Unit.SHARE)

    def _reflected_figure(self, value: float, draws: np.ndarray) -> Figured:
        """Build the statistic of a mean of squares, as `reflected_interval` corrects it for noise.

        It is `Missing` if too few resamples are usable.

        Args:
            value: the value in the sample.
            draws: the value in resamples, NaN if unknown, shape (draws,).
        """
        estimate = reflected_interval(value, draws, self.level)
        if estimate is None:
            return Missing("the items are too few to be resampled", "judge more items")
        return self._statistic(estimate, f"{self.draws.method}, reflected and corrected for noise")

    def _agreement(
        self, value: float, draws: np.ndarray, within: tuple[float, float], **facts: Any
    ) -> Statistic:
        """Build the statistic of an agreement with its bootstrap interval.

        Args:
            value: the agreement in the sample.
            draws: the agreement in resamples, NaN if unknown, shape (draws,).
            within: lowest and highest possible agreement.
            **facts: fields that replace `self.facts`.
        """
        method = f"{self.draws.method}, percentile or reflected, the farther end"
        lost = int(np.isnan(draws).sum())
        if lost:
            method += f", {lost} of them without a fit left out"
        return agreement_statistic(value, draws, within, method, **(self.facts | facts))

    def _statistic(self, estimate: Sequence[float], method: str, **facts: Any) -> Statistic:
        """Build a statistic.

        Args:
            estimate: the value, followed by the two ends of its interval if they are known.
            method: description of the interval.
            **facts: fields that replace `self.facts`, whose sample size is the number of pairs.
        """
        return Statistic(*estimate, method=method, **(self.facts | facts))


def _pairs_missing(both: GoldPairs) -> Missing | None:
    """Return that there are too few pairs to compare win rates; None if there are enough."""
    if len(both.first) >= 2:
        return None
    why = (
        f"{len(both.first)} pairs have a win rate by the judge and at least {FEWEST_DECIDED} "
        "decided gold battles"
    )
    return Missing(why, "give more gold battles per pair, or a gold ranking")


def _competing_judges(subject: Subject) -> int:
    """Return the number of judges whose own model is among the judged models, at least 1.

    The judge and all other judges count, but humans do not.
    """
    judges = list(subject.others.judges) if subject.others is not None else []
    if subject.judge is not None:
        judges.append(subject.judge)
    battles = subject.others or subject.battles
    competing = 0
    for name in judges:
        judge = battles.judge_of(name)
        if not judge.is_human and same_model(subject.battles.models, judge.shown_model):
            competing += 1
    return max(1, competing)


@dataclass(frozen=True, slots=True)
class GoldAgreement(CardAnswer):
    """Agreement of a judge's ranking and win rates with a gold standard.

    A figure `NAME_beyond_noise` is the figure `NAME` without the part that the sampling of items
    adds.

    Attributes:
        gold: name of the gold standard.
        systems: number of common models.
        pairs: number of pairs with a win rate by both the judge and the gold standard.
        gold_pairs: number of pairs with a win rate by the gold standard.
        tau: Kendall's tau-b of the two rankings.
        accuracy: share of pairs for which judge and gold standard prefer the same system.
        mse: mean squared difference of the judge's win rates and the gold ones.
        alpha: decisiveness of the judge; above 1 if its win rates are more extreme than the gold
            ones.
        single_alpha: decisiveness if each order of a battle counts as a verdict of its own, as in
            JuStRank. For `alpha`, the verdicts in both orders are merged into one.
        delta: standard deviation of the corrected biases over systems.
        biases: the biases by system, the strongest first.
        self_bias: the bias of the judge towards its own model.
    """

    gold: str
    systems: int
    pairs: int
    gold_pairs: int
    tau: Figured
    accuracy: Figured
    mse: float | Missing
    mse_beyond_noise: Figured
    alpha: float | Missing
    alpha_beyond_noise: Figured
    single_alpha: float | Missing
    single_alpha_beyond_noise: Figured
    delta: float | Missing
    delta_beyond_noise: Figured
    biases: tuple[SystemBias, ...] | Missing
    self_bias: SelfBias | Missing

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        """Return the figures corrected for noise, each with the uncorrected one in its label.

        The decisiveness of single votes is left out if it equals that of merged verdicts.
        """
        raw = (self.mse, self.alpha, self.single_alpha, self.delta)
        mse, alpha, single, delta = (
            EMPTY if isinstance(value, Missing) else f"{value:.3g}" for value in raw
        )
        judged = f"{self.pairs:,} of {self.gold_pairs:,} gold pairs judged"
        lines: list[tuple[str, Value]] = [
            ("gold standard", f"{self.gold}: {self.systems:,} systems, {judged}"),
            ("Kendall's tau with its ranking", self.tau),
            ("pairs with the same better system", self.accuracy),
            (f"mean squared error of win rates ({mse} with noise)", self.mse_beyond_noise),
            (f"decisiveness alpha ({alpha} with noise; 1 = as humans)", self.alpha_beyond_noise),
        ]
        if self.single_alpha_beyond_noise != self.alpha_beyond_noise:
            label = f"  of single votes, as in JuStRank ({single} with noise)"
            lines.append((label, self.single_alpha_beyond_noise))
        label = f"bias between systems, delta ({delta} with noise)"
        lines.append((label, self.delta_beyond_noise))
        if isinstance(self.self_bias, Missing):
            lines.append((SELF_BIAS, self.self_bias))
        else:
            lines += _self_bias_lines(self.self_bias)
        return tuple(lines)

    def tables(self) -> tuple[Table, ...]:
        """Return a table of the ten largest biases; none if biases are missing."""
        if isinstance(self.biases, Missing):
            return ()
        rows = []
        for bias in self.biases[:10]:
            figures = (
                bias.raw.brief,
                bias.corrected.estimate,
                bias.corrected.interval,
                cell_text(bias.p, ".2g"),
            )
            rows.append((bias.model, f"{bias.opponents:,}", *figures))
        header = ("system", "opponents", "raw", "corrected", "interval", "p (Holm)")
        return (Table("Bias by system (judge win rate less gold win rate)", header, tuple(rows)),)


def gold_agreement(subject: Subject, resamples: int = RESAMPLES) -> GoldAgreement | Missing:
    """Compare a judge's ranking, and its win rates without ties, with the gold standard.

    Human labels are the gold standard if none is given.

    Args:
        subject: the judge.
        resamples: number of bootstrap resamples of the items, at least 2.

    Returns:
        The figures, some of which may be `Missing`; `Missing` for the reasons of
        `match_gold_pairs`.

    Raises:
        NotIdentifiedError: the battles of the judge or of the gold standard do not connect all
            models.
        NotConvergedError: a fit does not converge.
        UsageError: fewer than 2 resamples.
    """
    both = match_gold_pairs(subject)
    if isinstance(both, Missing):
        return both
    draws = resample_both(both, resamples, subject.rng)
    figures = GoldComparison(both, draws, subject.level)
    # If verdicts in two orders were merged, alpha is also fitted to the single verdicts.
    single = figures
    has_merged_orders = subject.judgments.readable.sum() > subject.battles.readable.sum()
    if has_merged_orders:
        ratings = fit_ratings(subject.judgments)
        ours = np.array([ratings.models.index(name) for name in both.models])
        votes = replace(both, judge=ratings, ours=ours)
        draws_of_votes = resample_both(votes, resamples, subject.rng, ranked=False)
        single = GoldComparison(votes, draws_of_votes, subject.level)
    mse, mse_beyond_noise = figures.mse()
    alpha, alpha_beyond_noise = figures.alphas()
    single_alpha, single_alpha_beyond_noise = single.alphas()
    biases = figures.biases(subject)
    return GoldAgreement(
        gold=subject.gold.source if subject.gold else "human labels",
        systems=len(both.models),
        pairs=len(both.first),
        gold_pairs=both.gold_pairs,
        tau=figures.tau(),
        accuracy=figures.accuracy(),
        mse=mse,
        mse_beyond_noise=mse_beyond_noise,
        alpha=alpha,
        alpha_beyond_noise=alpha_beyond_noise,
        single_alpha=single_alpha,
        single_alpha_beyond_noise=single_alpha_beyond_noise,
        delta=biases.delta,
        delta_beyond_noise=biases.delta_beyond_noise,
        biases=biases.by_system,
        self_bias=biases.of_itself,
    )


def _self_bias_lines(self_bias: SelfBias) -> list[tuple[str, Value]]:
    """Return the lines of a judge's bias towards its own model: the bias, and its tests."""
    verdict = "favours itself" if self_bias.favours_itself else "not shown to favour itself"
    tests = f"Bonferroni over {self_bias.tests} judges" if self_bias.tests > 1 else "one judge"
    over_items = f"p = {cell_text(self_bias.item_p, '.2g')} over items"
    paired_p = cell_text(self_bias.paired_p, ".2g")
    paired = f"{paired_p} by paired t over {self_bias.opponents:,} opponents"
    return [
        (f"bias towards itself ({self_bias.model})", self_bias.bias),
        (f"  one-sided, {tests}", f"{verdict}: {over_items}; {paired}"),
    ]
