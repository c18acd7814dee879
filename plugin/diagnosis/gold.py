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
from podium.wording import quantity, some

NARROWEST_RANGE = 20.0
"""Smallest range (highest - lowest) of gold scores, in Elo, from which win rates are computed.

Scores within a smaller range are hardly on the Elo scale, so that win rates are `Missing`.
"""
SELF_BIAS = "self-bias"
"""Label of the line on the bias of a judge towards its own model, if the bias is missing."""
RESAMPLES = 500
"""Default number of bootstrap resamples of the items."""
Counts: TypeAlias = np.ndarray | None
"""How often each resample draws each item, shape (draws, items).

None stands for the sample itself, in which each item counts once.
"""


@dataclass(frozen=True, slots=True)
class GoldPairs:
    """The models that a judge and its gold standard have in common, and their pairs.

    Only pairs with a win rate by the judge and by the gold standard are listed.

    Attributes:
        judge_ratings: ratings by the judge.
        gold_ratings: ratings by the gold standard.
        models: names of the common models, sorted.
        judge_codes: code of each common model in the judge's ratings, shape (models,).
        gold_codes: code of each common model in the gold ratings, shape (models,).
        first: position in `models` of the first model of each pair, shape (pairs,).
        second: position in `models` of the second model of each pair, shape (pairs,).
        gold_pairs: number of pairs with a win rate by the gold standard, including pairs that the
            judge did not judge.
        rates_missing: why the gold standard gives no win rates; None if it does.
    """

    judge_ratings: BattleRatings
    gold_ratings: AnyRatings
    models: tuple[str, ...]
    judge_codes: np.ndarray
    gold_codes: np.ndarray
    first: np.ndarray
    second: np.ndarray
    gold_pairs: int
    rates_missing: Missing | None

    def strengths(
        self, judge_counts: Counts = None, gold_counts: Counts = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the log-strengths of the models by judge and by gold standard.

        Args:
            judge_counts: counts of the judge's items in resamples.
            gold_counts: counts of the gold standard's items.

        Returns:
            The log-strengths, shape (models,) each, or (draws, models) with counts.
        """
        by_judge = self.judge_ratings.strengths(judge_counts)
        by_gold = self.gold_ratings.strengths(gold_counts)
        return by_judge[..., self.judge_codes], by_gold[..., self.gold_codes]

    def rates(
        self, judge_counts: Counts = None, gold_counts: Counts = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the win rates of the pairs by judge and by gold standard.

        Args:
            judge_counts: counts of the judge's items in resamples.
            gold_counts: counts of the gold standard's items.

        Returns:
            The win rates of the first model of each pair, shape (pairs,) each, or (draws, pairs)
            with counts.
        """
        by_judge = self.judge_ratings.rates(
            self.judge_codes[self.first], self.judge_codes[self.second], judge_counts
        )
        by_gold = self.gold_ratings.rates(
            self.gold_codes[self.first], self.gold_codes[self.second], gold_counts
        )
        return by_judge, by_gold


def match_gold_pairs(subject: Subject) -> GoldPairs | Missing:
    """Match the models and pairs of a judge with those of its gold standard.

    If no gold standard is given, human labels of the judge's battles take its place. A pair is
    common if the judge decided a battle of it, and if it has at least `FEWEST_DECIDED` decided gold
    battles; a gold ranking has all pairs. The models are sorted by name; the pairs (i, j), i < j,
    are in the order of `numpy.triu_indices`, without those that are not common.

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
    gold_ratings = subject.human_ratings if gold is None else gold.source_ratings
    judge_ratings = subject.judge_ratings
    names = tuple(sorted(set(judge_ratings.models) & set(gold_ratings.models)))
    if len(names) < 3:
        why = f"{quantity(len(names), 'model', 'is|are')} known both to the "
        why += "judge and to the gold standard"
        return Missing(why, "spell the models alike on both sides; at least three are needed")
    judge_codes = np.array([judge_ratings.models.index(name) for name in names])
    gold_codes = np.array([gold_ratings.models.index(name) for name in names])
    first, second = np.triu_indices(len(names), 1)
    is_gold = gold_ratings.number[gold_codes[first], gold_codes[second]] >= FEWEST_DECIDED
    is_judged = judge_ratings.number[judge_codes[first], judge_codes[second]] > 0
    is_common = is_gold & is_judged
    return GoldPairs(
        judge_ratings=judge_ratings,
        gold_ratings=gold_ratings,
        models=names,
        judge_codes=judge_codes,
        gold_codes=gold_codes,
        first=first[is_common],
        second=second[is_common],
        gold_pairs=int(is_gold.sum()),
        rates_missing=_rates_missing(gold),
    )


def _rates_missing(gold: Gold | None) -> Missing | None:
    """Return why a gold standard gives no win rates; None if it gives them.

    Battles and human labels give them. Scores do if they are on the Elo scale and differ by at
    least `NARROWEST_RANGE` points.
    """
    if gold is None or gold.scores is None:
        return None
    if not gold.scale.is_elo:
        return Missing(
            f"its scale {gold.scale.name!r} gives no win rates", "give Elo ratings, or battles"
        )
    score_range = float(np.ptp(list(gold.scores.values())))
    if score_range >= NARROWEST_RANGE:
        return None
    why = f"all its scores lie within {score_range:g} points, too close for Elo ratings"
    return Missing(why, f"give scores in Elo points (log-strengths times {POINTS:.1f})")


class GoldDraws(NamedTuple):
    """Figures in bootstrap resamples of the items, NaN where unknown.

    Attributes:
        tau: Kendall's tau of the two rankings, shape (draws,).
        judge_rates: win rates of the first model of each pair by the judge, shape (draws, pairs).
        gold_rates: win rates by the gold standard, shape (draws, pairs). The shape is (pairs,) if
            the gold standard is a ranking, which has no items to resample.
        method: description of the resampling.
    """

    tau: np.ndarray
    judge_rates: np.ndarray
    gold_rates: np.ndarray
    method: str


def resample_items(
    matched: GoldPairs, resamples: int, rng: np.random.Generator, *, computes_tau: bool = True
) -> GoldDraws:
    """Bootstrap the items of the judge and of the gold battles.

    If judge and gold standard share an item, one resample draws the items of both, so that a shared
    item counts equally often in both. Otherwise, they are resampled independently. A ranking as
    gold standard has no items and is not resampled.

    Args:
        matched: the common models and pairs.
        resamples: number of resamples.
        rng: random generator.
        computes_tau: whether tau is computed. If not, it is NaN.

    Returns:
        The figures in resamples. There are 0 resamples if the judge has a single item.
    """
    judge_items = len(matched.judge_ratings.clusters)
    gold_items = len(matched.gold_ratings.clusters)
    pairs = len(matched.first)
    if judge_items < 2:
        return GoldDraws(np.empty(0), np.empty((0, pairs)), matched.rates()[1], "")
    sources = (matched.judge_ratings, matched.gold_ratings)
    item_count, (judge_positions, gold_positions) = number_items(sources)
    share_items = item_count < judge_items + gold_items

    def columns_of(counts: np.ndarray) -> np.ndarray:
        """Return columns of tau and of the pairs' win rates, by judge and by gold standard.

        `counts` say how often each resample draws each item, shape (draws, items).
        """
        judge_counts = counts
        if share_items:
            judge_counts = counts[:, judge_positions]
            gold_counts = counts[:, gold_positions]
        else:
            gold_counts = _draw_gold_items(gold_items, len(counts), rng)
        tau = np.full(len(counts), np.nan)
        if computes_tau:
            tau = kendall_taus(*matched.strengths(judge_counts, gold_counts))
        return np.concatenate([tau[:, None], *matched.rates(judge_counts, gold_counts)], axis=1)

    resampled_items = item_count if share_items else judge_items
    columns = resample(columns_of, resampled_items, resamples, rng, width=len(matched.models) ** 2)
    judge_rates = columns[:, 1 : 1 + pairs]
    gold_rates = columns[:, 1 + pairs :]
    if gold_items:
        how = "together" if share_items else "apart"
        bootstrap = f"bootstrap of judge and gold standard {how}"
    else:
        bootstrap = "bootstrap, gold standard as given"
        gold_rates = gold_rates[0]  # a ranking gives the same win rates in all resamples
    method = f"{matched.judge_ratings.coded.unit} {bootstrap}, {resamples} resamples"
    return GoldDraws(columns[:, 0], judge_rates, gold_rates, method)


def _draw_gold_items(items: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Draw how often each item counts in each resample, shape (draws, items); `items` may be 0."""
    if not items:
        return np.zeros((draws, 0))
    probabilities = np.full(items, 1 / items)
    return rng.multinomial(items, probabilities, size=draws).astype(np.float64)


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
    """The comparison of a judge with a gold standard.

    Each figure is an estimate, or `Missing` if it cannot be computed.

    Attributes:
        matched: the common models and pairs.
        draws: win rates and tau in resamples.
        level: confidence level.
        judge_rates: win rates of the first model of each pair by the judge, shape (pairs,).
        gold_rates: win rates by the gold standard, shape (pairs,).
        items: number of the judge's items.
        systems: number of common models.
        facts: default fields of the statistics.
        t_quantile: half-width of an interval, in standard errors.
        pairs_missing: why there are too few pairs to compare; None if there are enough.
        rates_missing: why win rates cannot be compared in size; None if they can.
        alpha: decisiveness of the judge, without correction for noise; or why it is missing.
    """

    def __init__(self, matched: GoldPairs, draws: GoldDraws, level: float) -> None:
        """Compute the win rates of the pairs, and fit alpha.

        Args:
            matched: the common models and pairs.
            draws: win rates and tau in resamples.
            level: confidence level of the intervals, in (0, 1).
        """
        self.matched = matched
        self.draws = draws
        self.level = level
        self.judge_rates, self.gold_rates = matched.rates()
        self.items = len(matched.judge_ratings.clusters)
        self.systems = len(matched.models)
        self.facts: dict[str, Any] = {
            "level": level,
            "n": len(matched.first),
            "of": "pairs",
            "clusters": self.items,
            "cluster": matched.judge_ratings.coded.unit,
        }
        self.t_quantile = t_quantile(max(self.items, 2), level)
        self.pairs_missing = _pairs_missing(matched)
        # The winners of pairs can be compared without win rates, their sizes cannot.
        self.rates_missing = matched.rates_missing or self.pairs_missing
        self.alpha: float | Missing
        if self.rates_missing is not None:
            self.alpha = self.rates_missing
        else:
            fit_alpha = partial(decisiveness, self.judge_rates, self.gold_rates)
            self.alpha = attempt(fit_alpha, "give more items, or closer systems")

    def tau(self) -> Figured:
        """Estimate Kendall's tau-b of the two rankings of the common models.

        The result is `Missing` if a ranking puts all systems level.
        """
        tau = float(kendall_taus(*self.matched.strengths()))
        if np.isnan(tau):
            return Missing(
                "one of the rankings puts all systems level", "judge systems that differ"
            )
        return self._agreement(
            tau, self.draws.tau, (-1.0, 1.0), n=self.systems, of="systems", unit=Unit.CORRELATION
        )

    def accuracy(self) -> Figured:
        """Estimate the share of pairs with the same better system, as `pair_agreement` counts it.

        A pair counts half if exactly one of its two win rates is 0.5. The share is `Missing` if
        there are fewer than two pairs.
        """
        if self.pairs_missing:
            return self.pairs_missing
        value = float(pair_agreement(self.judge_rates, self.gold_rates))
        draws = pair_agreement(self.draws.judge_rates, self.draws.gold_rates)
        return self._agreement(value, draws, (0.0, 1.0), unit=Unit.SHARE)

    def mse(self) -> tuple[float | Missing, Figured]:
        """Return the mean squared difference of win rates, and its value corrected for noise.

        Both figures are `Missing` if win rates cannot be compared in size. The corrected value is
        also `Missing` if the items are too few to be resampled.

        Returns:
            The mean squared difference in the sample, and the corrected one with an interval.
        """
        if self.rates_missing:
            return self.rates_missing, self.rates_missing
        value = float(squared_error(self.judge_rates, self.gold_rates))
        draws = squared_error(self.draws.judge_rates, self.draws.gold_rates)
        return value, self._figure_without_noise(value, draws)

    def alphas(self) -> tuple[float | Missing, Figured]:
        """Return alpha, and its value corrected for the bias that the sampling of items causes.

        Both figures are `Missing` if alpha is. The corrected value is also `Missing` if most
        resamples have no alpha.

        Returns:
            Alpha in the sample, and the corrected one with an interval.
        """
        # The sampling noise of the judge's win rates adds its variance to their squared distance
        # from the fitted curve. To remove the noise from the distance, the rates are moved towards
        # the curve: `kept_share` = sqrt(1 - noise / distance) of their distance is left. Resamples
        # around these `centre_rates` show how much noise changes log alpha.
        if isinstance(self.alpha, Missing):
            return self.alpha, self.alpha
        curve = judge_curve(self.gold_rates, self.alpha)
        noise = float(np.nansum(standard_error_of_draws(self.draws.judge_rates) ** 2))
        distance = float(np.sum((self.judge_rates - curve) ** 2))
        kept_share = np.sqrt(max(0.0, 1 - noise / distance)) if distance > 0 else 0.0
        centre_rates = curve + kept_share * (self.judge_rates - curve)
        rates_of_draws = np.clip(centre_rates + (self.draws.judge_rates - self.judge_rates), 0, 1)
        usable = usable_draws(np.log(decisiveness_of_draws(rates_of_draws, self.draws.gold_rates)))
        if usable is None:
            why = "most resamples of the items have no alpha"
            if self.items < 2:
                why = "a single item is not resampled"
            return self.alpha, Missing(why, "give more items")
        # The centre of the resampled rates, as a single draw.
        [alpha_of_centre] = decisiveness_of_draws(centre_rates[None, :], self.gold_rates)
        without_noise = float(np.log(alpha_of_centre))
        log_alpha = np.log(self.alpha) - (usable.mean() - without_noise)
        half_width = self.t_quantile * usable.std(ddof=1)
        estimate = np.exp([log_alpha, log_alpha - half_width, log_alpha + half_width]).tolist()
        method = f"{self.draws.method}, normal on the logarithm, corrected for noise"
        return self.alpha, self._statistic(estimate, method)

    def biases(self, subject: Subject) -> Biases:
        """Return the biases between systems, and the judge's bias towards its own model.

        All figures are `Missing` if alpha is: the corrected biases depend on alpha.
        """
        if isinstance(self.alpha, Missing):
            return Biases(
                delta=self.alpha,
                delta_beyond_noise=self.alpha,
                by_system=self.alpha,
                of_itself=self.alpha,
            )
        gold = self.draws.gold_rates
        judge = self.draws.judge_rates
        alphas = decisiveness_of_draws(judge, gold)
        gold_by_draw = np.broadcast_to(gold, judge.shape)
        curves = [
            judge_curve(rates, alpha) for rates, alpha in zip(gold_by_draw, alphas, strict=True)
        ]
        fitted = np.reshape(curves, gold_by_draw.shape)
        expected = judge_curve(self.gold_rates, self.alpha)
        raw = self._biases_beyond(self.gold_rates, gold)
        corrected, biases_of_draws = self._biases_beyond(expected, fitted)
        delta = float(nan_standard_deviation(corrected))
        variance = self._figure_without_noise(
            delta**2, nan_standard_deviation(biases_of_draws) ** 2
        )
        beyond_noise = variance
        if not isinstance(variance, Missing):
            beyond_noise = variance.transform(np.sqrt)
        errors = standard_error_of_draws(biases_of_draws)
        return Biases(
            delta=delta,
            delta_beyond_noise=beyond_noise,
            by_system=self._biases_by_system(raw, (corrected, biases_of_draws)),
            of_itself=self._self_bias(subject, expected, corrected, errors),
        )

    def _biases_beyond(
        self, expected: np.ndarray, of_draws: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return by how much the judge's win rates exceed expected win rates, averaged by system.

        Args:
            expected: expected win rates, shape (pairs,).
            of_draws: expected win rates in resamples, shape (draws, pairs), or (pairs,) if they
                are the same in all resamples.

        Returns:
            The biases in the sample, shape (systems,), and in resamples, shape (draws, systems).
        """
        first = self.matched.first
        second = self.matched.second
        surplus = self.judge_rates - expected
        surplus_of_draws = self.draws.judge_rates - of_draws
        value = system_biases(first, second, surplus, self.systems)
        biases_of_draws = system_biases(first, second, surplus_of_draws, self.systems)
        return value, biases_of_draws

    def _biases_by_system(
        self, raw: tuple[np.ndarray, np.ndarray], corrected: tuple[np.ndarray, np.ndarray]
    ) -> tuple[SystemBias, ...]:
        """Build the records of the systems with opponents, the largest |corrected bias| first.

        Args:
            raw: raw biases in the sample and in resamples, as `_biases_beyond` returns them.
            corrected: corrected biases in the sample and in resamples.
        """
        in_pairs = np.concatenate([self.matched.first, self.matched.second])
        opponents = np.bincount(in_pairs, minlength=self.systems)
        raw_biases, raw_draws = raw
        raw_se = standard_error_of_draws(raw_draws)
        corrected_biases, corrected_draws = corrected
        corrected_se = standard_error_of_draws(corrected_draws)
        p_of_t = 2 * stdtr(
            max(self.items - 1, 1), -np.abs(ratio_or_nan(corrected_biases, corrected_se))
        )
        p = holm(np.asarray(p_of_t))
        method = f"{self.draws.method}, standard error, t"
        systems = []
        order = np.argsort(-np.nan_to_num(np.abs(corrected_biases)), kind="stable")
        for k in order[opponents[order] > 0].tolist():
            number = int(opponents[k])
            record = SystemBias(
                model=self.matched.models[k],
                opponents=number,
                raw=self._bias_statistic(
                    value=raw_biases[k], se=raw_se[k], opponents=number, method=method
                ),
                corrected=self._bias_statistic(
                    value=corrected_biases[k], se=corrected_se[k], opponents=number, method=method
                ),
                p=finite_or_none(p[k]),
            )
            systems.append(record)
        return tuple(systems)

    def _self_bias(
        self, subject: Subject, expected: np.ndarray, biases: np.ndarray, errors: np.ndarray
    ) -> SelfBias | Missing:
        """Test the judge's corrected bias towards its own model.

        Source: Gera et al. 2025, section 6.2 and table 3. Both p-values are for the hypothesis that
        the judge does not favour its own model. The paired one is None for a single opponent, or if
        all opponents have the same excess. The one over items is None if the standard error of the
        bias is 0 or unknown.

        Args:
            subject: the judge.
            expected: expected win rates by the judge, shape (pairs,).
            biases: corrected biases, shape (systems,).
            errors: standard errors of the corrected biases, shape (systems,).

        Returns:
            The bias. It is `Missing` if no row names the judge, if the judge's own model is not
            among the systems, or if this model has no opponents.
        """
        if subject.judge is None:
            return Missing("no row names the judge", "name the judge's model in a column judge")
        matched = self.matched
        model = subject.battles.judge_of(subject.judge).shown_model
        own_model = same_model(matched.models, model)
        if own_model is None:
            remedy = "let the judge's model compete, under the judge's name"
            return Missing(f"no model of the gold standard is called {model}", remedy)
        k = matched.models.index(own_model)
        is_second = matched.second == k
        is_own_pair = (matched.first == k) | is_second
        opponents = int(is_own_pair.sum())
        if not opponents:
            return Missing(f"no gold win rate involves {own_model}", "give gold battles of it")
        tests = _competing_judges(subject)
        # Win rates of the judge's own model, against each opponent.
        measured = np.where(is_second, 1 - self.judge_rates, self.judge_rates)[is_own_pair]
        fitted = np.where(is_second, 1 - expected, expected)[is_own_pair]
        excess = measured - fitted
        paired_p = None
        if opponents > 1 and float(np.ptp(excess)) > 1e-12:
            t = excess.mean() / (excess.std(ddof=1) / np.sqrt(opponents))
            paired_p = min(1.0, tests * float(stdtr(opponents - 1, -t)))
        value = float(biases[k])
        se = float(errors[k])
        if se == 0:
            # A standard error of 0 counts as unknown.
            se = np.nan
        item_p = None
        if not np.isnan(se):
            item_p = min(1.0, tests * float(stdtr(self.items - 1, -value / se)))
        bias = self._bias_statistic(
            value=value, se=se, opponents=opponents, method="item bootstrap standard error, t"
        )
        favours_itself = item_p is not None and item_p <= 1 - self.level
        return SelfBias(own_model, bias, opponents, paired_p, item_p, tests, favours_itself)

    def _bias_statistic(self, value: float, se: float, opponents: int, method: str) -> Statistic:
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
            half_width = self.t_quantile * se
            estimate += [float(value - half_width), float(value + half_width)]
        return self._statistic(estimate, method, n=opponents, of="opponents", unit=Unit.SHARE)

    def _figure_without_noise(self, value: float, draws: np.ndarray) -> Figured:
        """Build the statistic of a mean of squares, corrected for noise.

        The correction and the interval are those of `reflected_interval`. The figure is `Missing`
        if too few resamples are usable.

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
        method = f"{self.draws.method}, each end the farther of percentile and reflected"
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


def _pairs_missing(matched: GoldPairs) -> Missing | None:
    """Return why win rates cannot be compared; None if there are at least two pairs."""
    if len(matched.first) >= 2:
        return None
    why = (
        f"{quantity(len(matched.first), 'pair', 'has|have')} a "
        f"win rate by the judge and at least {FEWEST_DECIDED} decided gold battles"
    )
    return Missing(why, "give more gold battles per pair, or a gold ranking")


def _competing_judges(subject: Subject) -> int:
    """Return the number of judges whose own model is among the judged models, at least 1.

    The judge and all other judges count, but humans do not. A judge's own model is the one with the
    same name (`same_model`).
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
        """Return label and value of each line on the agreement with the gold standard.

        Figures corrected for noise have the uncorrected figure in their label. The decisiveness of
        single votes is left out if it equals that of merged verdicts.
        """
        mse = _short_number(self.mse)
        alpha = _short_number(self.alpha)
        single = _short_number(self.single_alpha)
        delta = _short_number(self.delta)
        pairs_text = f"{self.pairs:,} of {quantity(self.gold_pairs, 'gold pair')} judged"
        lines: list[tuple[str, Value]] = [
            ("gold standard", f"{self.gold}: {quantity(self.systems, 'system')}, {pairs_text}"),
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
        """Return one table of the ten largest biases; an empty tuple if biases are missing."""
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
        return (
            Table(
                title="Bias by system (judge win rate less gold win rate)",
                header=header,
                rows=tuple(rows),
            ),
        )


def _short_number(value: float | Missing) -> str:
    """Write a figure with three significant digits; a dash if it is missing."""
    return EMPTY if isinstance(value, Missing) else f"{value:.3g}"


def gold_agreement(subject: Subject, resamples: int = RESAMPLES) -> GoldAgreement | Missing:
    """Compare a judge's ranking, and its win rates without ties, with the gold standard.

    Human labels are the gold standard if none is given.

    Args:
        subject: the judge.
        resamples: number of bootstrap resamples of the items, at least 2.

    Returns:
        The figures, some of which may be `Missing`. The whole result is `Missing` for the reasons
        of `match_gold_pairs`.

    Raises:
        NotIdentifiedError: the battles of the judge or of the gold standard do not connect all
            models.
        NotConvergedError: a fit does not converge.
        UsageError: fewer than 2 resamples.
    """
    matched = match_gold_pairs(subject)
    if isinstance(matched, Missing):
        return matched
    draws = resample_items(matched, resamples, subject.rng)
    figures = GoldComparison(matched, draws, subject.level)
    # If verdicts in two orders were merged, alpha is also fitted to the single verdicts.
    single = figures
    has_merged_orders = subject.judgments.readable.sum() > subject.battles.readable.sum()
    if has_merged_orders:
        ratings = fit_ratings(subject.judgments)
        codes = np.array([ratings.models.index(name) for name in matched.models])
        votes = replace(matched, judge_ratings=ratings, judge_codes=codes)
        draws_of_votes = resample_items(votes, resamples, subject.rng, computes_tau=False)
        single = GoldComparison(votes, draws_of_votes, subject.level)
    mse, mse_beyond_noise = figures.mse()
    alpha, alpha_beyond_noise = figures.alphas()
    single_alpha, single_alpha_beyond_noise = single.alphas()
    biases = figures.biases(subject)
    return GoldAgreement(
        gold=subject.gold.source if subject.gold else "human labels",
        systems=len(matched.models),
        pairs=len(matched.first),
        gold_pairs=matched.gold_pairs,
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
    """Return two labelled lines on a judge's bias towards its own model.

    The first line has the bias. The second line says whether the judge favours itself, and gives
    the p-values over items and over opponents.
    """
    verdict = "favours itself" if self_bias.favours_itself else "not shown to favour itself"
    tests = f"Bonferroni over {self_bias.tests} judges" if self_bias.tests > 1 else "one judge"
    over_items = f"p = {cell_text(self_bias.item_p, '.2g')} over items"
    paired_p = cell_text(self_bias.paired_p, ".2g")
    paired = f"{paired_p} by paired t over {quantity(self_bias.opponents, 'opponent')}"
    return [
        (f"bias towards itself ({self_bias.model})", self_bias.bias),
        (f"  one-sided, {tests}", f"{verdict}: {over_items}; {paired}"),
    ]
