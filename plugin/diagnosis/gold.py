"""Agreement of a judge's ranking and win rates with a gold standard (JuStRank), from common pairs
and resamples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import stats
from scipy.special import stdtr

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
from podium.numbers import cell_text
from podium.rankers.errors.intervals import finite_or_none, holm, resample, t_quantile
from podium.rankers.fit.coded import ratio_or_nan
from podium.rankers.fit.scale import POINTS
from podium.tables import EMPTY, Table
from podium.wording import some

NARROWEST = 20.0
"""Elo points: a gold ranking whose scores all lie within this is hardly on the Elo scale."""
SELF_BIAS = "self-bias"
RESAMPLES = 500
Counts: TypeAlias = np.ndarray | None
"""How often each resample draws each item, shape (draws, items); None for the sample itself."""


@dataclass(frozen=True, slots=True)
class GoldPairs:
    """Common models of a judge and its gold standard, codes by either, and the pairs with a win
    rate by both."""

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
        """Return the log-strengths of the models by judge and by gold standard, shape ([draws,]
        models) each."""
        return self.judge.strengths(ours)[..., self.ours], self.gold.strengths(theirs)[
            ..., self.theirs
        ]

    def rates(self, ours: Counts = None, theirs: Counts = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the win rates of the pairs by judge and by gold standard, shape ([draws,] pairs)
        each."""
        by_judge = self.judge.rates(self.ours[self.first], self.ours[self.second], ours)
        return by_judge, self.gold.rates(self.theirs[self.first], self.theirs[self.second], theirs)


def match_gold_pairs(subject: Subject) -> GoldPairs | Missing:
    """Match models and pairs of a judge and its gold standard (or human labels); raises
    NotIdentifiedError."""
    gold = subject.gold
    if gold is None and not np.isfinite(subject.human_credit).any():
        remedy = (
            "give a ranking or human battles with --gold, or name a human judge with --human-judge"
        )
        return Missing("there is no gold standard and no human label", remedy)
    if gold is not None and gold.battles is not None and len(gold.battles.judges) > 1:
        why = f"the gold battles are by several judges: {some(gold.battles.judges)}"
        remedy = "keep the rows of one in the gold file, or name the one in the judged file with --human-judge"
        return Missing(why, remedy)
    theirs = subject.human if gold is None else gold.source_ratings
    ours = subject.judge_ratings
    names = tuple(sorted(set(ours.models) & set(theirs.models)))
    if len(names) < 3:
        why = f"{len(names)} models are known both to the judge and to the gold standard"
        return Missing(why, "spell the models alike on both sides; at least three are needed")
    here, there = (np.array([each.models.index(name) for name in names]) for each in (ours, theirs))
    first, second = np.triu_indices(len(names), 1)
    enough = theirs.number[there[first], there[second]] >= FEWEST_DECIDED
    ready = enough & (ours.number[here[first], here[second]] > 0)
    pairs = first[ready], second[ready]
    return GoldPairs(
        ours, theirs, names, here, there, *pairs, int(enough.sum()), _rates_missing(gold)
    )


def _rates_missing(gold: Gold | None) -> Missing | None:
    """Return why a gold ranking has no win rates; None if it has."""
    if gold is None or gold.scores is None:
        return None
    if not gold.scale.is_elo:
        return Missing(
            f"its scale {gold.scale.name!r} gives no win rates", "give Elo ratings, or battles"
        )
    spread = float(np.ptp(list(gold.scores.values())))
    why = f"all its scores lie within {spread:g} points, too close for Elo ratings"
    remedy = f"give scores in Elo points (log-strengths times {POINTS:.1f})"
    return None if spread >= NARROWEST else Missing(why, remedy)


class GoldDraws(NamedTuple):
    """Tau and win rates in bootstrap resamples, NaN where unknown, shape (draws, pairs); exact gold
    rates: (pairs,)."""

    tau: np.ndarray
    judge: np.ndarray
    gold: np.ndarray
    method: str


def resample_both(
    both: GoldPairs, resamples: int, rng: np.random.Generator, *, ranked: bool = True
) -> GoldDraws:
    """Bootstrap the items, of the judge and of gold battles (together if they share any); return
    tau and win rates."""
    own, theirs, pairs = len(both.judge.clusters), len(both.gold.clusters), len(both.first)
    if own < 2:
        return GoldDraws(np.empty(0), np.empty((0, pairs)), both.rates()[1], "")
    number, (ours, gold) = number_items((both.judge, both.gold))
    together = number < own + theirs
    how = f"bootstrap of judge and gold standard {'together' if together else 'apart'}"

    def columns_of(counts: np.ndarray) -> np.ndarray:
        """Return tau, and win rates by judge and gold standard, as columns, for the item counts of
        resamples."""
        mine, other = counts, np.zeros((len(counts), 0))
        if together:
            mine, other = counts[:, ours], counts[:, gold]
        elif theirs:
            other = rng.multinomial(theirs, np.full(theirs, 1 / theirs), size=len(counts)).astype(
                np.float64
            )
        tau = kendall_taus(*both.strengths(mine, other)) if ranked else np.full(len(counts), np.nan)
        return np.concatenate([tau[:, None], *both.rates(mine, other)], axis=1)

    columns = resample(
        columns_of, number if together else own, resamples, rng, width=len(both.models) ** 2
    )
    judge, human = columns[:, 1 : 1 + pairs], columns[:, 1 + pairs :]
    what = how if theirs else "bootstrap, gold standard as given"
    method = f"{both.judge.coded.unit} {what}, {resamples} resamples"
    return GoldDraws(columns[:, 0], judge, human if theirs else human[0], method)


class SystemBias(NamedTuple):
    """Mean over opponents of judge - gold win rate, `corrected` with gold mapped by the Beta CDF; p
    is after Holm."""

    model: str
    opponents: int
    raw: Statistic
    corrected: Statistic
    p: float | None


class SelfBias(NamedTuple):
    """Bias towards the judge's own model; one-sided p after Bonferroni, by JuStRank's paired t or
    clustered by item."""

    model: str
    bias: Statistic
    opponents: int
    paired_p: float | None
    item_p: float | None
    tests: int
    favours_itself: bool


Biases: TypeAlias = tuple[
    float | Missing, Figured, tuple[SystemBias, ...] | Missing, SelfBias | Missing
]


class GoldComparison:
    """The figures of a judge against a gold standard, each an estimate or `Missing`."""

    def __init__(self, both: GoldPairs, draws: GoldDraws, level: float) -> None:
        """Compute the win rates of the pairs, and fit alpha."""
        self.both, self.draws, self.level = both, draws, level
        self.judge, self.gold = both.rates()
        self.items, self.systems = len(both.judge.clusters), len(both.models)
        self.facts: dict[str, Any] = {
            "level": level,
            "n": len(both.first),
            "of": "pairs",
            "clusters": self.items,
        }
        self.reach = t_quantile(max(self.items, 2), level)
        why = f"{len(both.first)} pairs have a win rate by the judge and at least {FEWEST_DECIDED} decided gold battles"
        few = Missing(why, "give more gold battles per pair, or a gold ranking")
        self.without_pairs = few if len(both.first) < 2 else None
        self.lacking = both.rates_missing or self.without_pairs
        fit_alpha, remedy = (
            partial(decisiveness, self.judge, self.gold),
            "give more items, or closer systems",
        )
        self.alpha: float | Missing = (
            attempt(fit_alpha, remedy) if self.lacking is None else self.lacking
        )

    def tau(self) -> Figured:
        """Estimate Kendall's tau-b of the two rankings."""
        tau = float(kendall_taus(*self.both.strengths()))
        if np.isnan(tau):
            return Missing(
                "one of the rankings puts all systems level", "judge systems that differ"
            )
        return self._agreement(
            tau, self.draws.tau, (-1.0, 1.0), n=self.systems, of="systems", unit=Unit.CORRELATION
        )

    def accuracy(self) -> Figured:
        """Estimate the share of pairs with the same better system."""
        if self.without_pairs:
            return self.without_pairs
        value, draws = (
            float(pair_agreement(self.judge, self.gold)),
            pair_agreement(self.draws.judge, self.draws.gold),
        )
        return self._agreement(value, draws, (0.0, 1.0), unit=Unit.SHARE)

    def mse(self) -> tuple[float | Missing, Figured]:
        """Return the mean squared difference of win rates, raw and corrected for noise."""
        if self.lacking:
            return self.lacking, self.lacking
        value, draws = (
            float(squared_error(self.judge, self.gold)),
            squared_error(self.draws.judge, self.draws.gold),
        )
        return value, self._reflected_figure(value, draws)

    def alphas(self) -> tuple[float | Missing, Figured]:
        """Return alpha, as it is and corrected for the bias that the sampling of items causes."""
        # Noise adds its variance to the squared distances from the fitted curve, which are shrunk
        # by that share.
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
            why = (
                "a single item is not resampled"
                if self.items < 2
                else "most resamples of the items have no alpha"
            )
            return self.alpha, Missing(why, "give more items")
        without = float(np.log(decisiveness_of_draws(centre[None, :], self.gold))[0])
        middle, reach = (
            np.log(self.alpha) - (usable.mean() - without),
            self.reach * usable.std(ddof=1),
        )
        estimate = np.exp([middle, middle - reach, middle + reach]).tolist()
        method = f"{self.draws.method}, normal on the logarithm, corrected for noise"
        return self.alpha, self._statistic(estimate, method)

    def biases(self, subject: Subject) -> Biases:
        """Return delta, delta corrected for noise, the biases by system, and the judge's
        self-bias."""
        if isinstance(self.alpha, Missing):
            return self.alpha, self.alpha, self.alpha, self.alpha
        gold, judge = self.draws.gold, self.draws.judge
        rows, alphas = np.broadcast_to(gold, judge.shape), decisiveness_of_draws(judge, gold)
        fitted = np.reshape(
            [judge_curve(row, alpha) for row, alpha in zip(rows, alphas, strict=True)], rows.shape
        )
        expected = judge_curve(self.gold, self.alpha)
        raw, (corrected, drawn) = (
            self._biases_beyond(self.gold, gold),
            self._biases_beyond(expected, fitted),
        )
        delta = float(nan_standard_deviation(corrected))
        sound = self._reflected_figure(delta**2, nan_standard_deviation(drawn) ** 2)
        sound = sound if isinstance(sound, Missing) else sound.transform(np.sqrt)
        systems = self._by_system(raw, (corrected, drawn))
        return (
            delta,
            sound,
            systems,
            self._self_bias(subject, expected, corrected, standard_error_of_draws(drawn)),
        )

    def _biases_beyond(
        self, expected: np.ndarray, of_draws: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the biases given expected win rates, shape (systems,), and in resamples, shape
        (draws, systems)."""
        pairs = self.both.first, self.both.second
        value = system_biases(*pairs, self.judge - expected, self.systems)
        return value, system_biases(*pairs, self.draws.judge - of_draws, self.systems)

    def _by_system(self, *biases: tuple[np.ndarray, np.ndarray]) -> tuple[SystemBias, ...]:
        """Build the records of all systems, strongest bias first, from biases and their draws, raw
        and corrected."""
        met = np.bincount(
            np.concatenate([self.both.first, self.both.second]), minlength=self.systems
        )
        raw, (value, se) = [(value, standard_error_of_draws(drawn)) for value, drawn in biases]
        p = holm(np.asarray(2 * stdtr(max(self.items - 1, 1), -np.abs(ratio_or_nan(value, se)))))
        systems, method = [], f"{self.draws.method}, standard error, t"
        order = np.argsort(-np.nan_to_num(np.abs(value)), kind="stable")
        for k in order[met[order] > 0].tolist():
            number = int(met[k])
            plain, own = (
                self._bias(bias[k], error[k], number, method) for bias, error in (raw, (value, se))
            )
            systems.append(
                SystemBias(self.both.models[k], number, plain, own, finite_or_none(p[k]))
            )
        return tuple(systems)

    def _self_bias(
        self, subject: Subject, expected: np.ndarray, biases: np.ndarray, errors: np.ndarray
    ) -> SelfBias | Missing:
        """Test the judge's corrected bias towards its own model. Source: Gera et al. 2025, section
        6.2 and table 3."""
        if subject.judge is None:
            return Missing("no row names the judge", "name the judge's model in a column judge")
        both, model = self.both, subject.battles.judge_of(subject.judge).shown_model
        if (own := same_model(both.models, model)) is None:
            remedy = "let the judge's model compete, under the judge's name"
            return Missing(f"no model of the gold standard is called {model}", remedy)
        # Bonferroni over all judges of the table that are ranked themselves.
        judges = (subject.judge, *(subject.others.judges if subject.others is not None else ()))
        records = [(subject.others or subject.battles).judge_of(name) for name in judges]
        competing = [
            same_model(subject.battles.models, judge.shown_model)
            for judge in records
            if not judge.is_human
        ]
        tests = max(1, len(competing) - competing.count(None))
        k = both.models.index(own)
        against = (both.first == k) * 1 - (both.second == k)
        if not (opponents := int((against != 0).sum())):
            return Missing(f"no gold win rate involves {own}", "give gold battles of it")
        mine, fitted = (
            np.where(against < 0, 1 - rate, rate)[against != 0] for rate in (self.judge, expected)
        )
        paired_p = item_p = None
        if opponents > 1 and float(np.ptp(mine - fitted)) > 1e-12:
            paired_p = min(
                1.0, tests * float(stats.ttest_rel(mine, fitted, alternative="greater").pvalue)
            )
        value, se = float(biases[k]), float(errors[k]) or np.nan
        if not np.isnan(se):
            item_p = min(1.0, tests * float(stats.t.sf(value / se, self.items - 1)))
        bias = self._bias(value, se, opponents, "item bootstrap standard error, t")
        favours_itself = item_p is not None and item_p <= 1 - self.level
        return SelfBias(own, bias, opponents, paired_p, item_p, tests, favours_itself)

    def _bias(self, value: float, se: float, opponents: int, method: str) -> Statistic:
        """Build a bias with the t interval of its standard error."""
        estimate = [float(value + step * self.reach * se) for step in (0, -1, 1)]
        if np.isnan(se):
            estimate, method = [float(value)], "too few items: no interval"
        return self._statistic(estimate, method, n=opponents, of="opponents", unit=Unit.SHARE)

    def _reflected_figure(self, value: float, draws: np.ndarray) -> Figured:
        """Build a noise-corrected figure with its reflected interval."""
        if (estimate := reflected_interval(value, draws, self.level)) is None:
            return Missing("the items are too few to be resampled", "judge more items")
        return self._statistic(estimate, f"{self.draws.method}, reflected and corrected for noise")

    def _agreement(
        self, value: float, draws: np.ndarray, within: tuple[float, float], **facts: Any
    ) -> Statistic:
        """Build an agreement figure with its bootstrap interval."""
        left_out = (
            f", {lost} of them without a fit left out"
            if (lost := int(np.isnan(draws).sum()))
            else ""
        )
        method = f"{self.draws.method}, percentile or reflected, the farther end{left_out}"
        return agreement_statistic(value, draws, within, method, **(self.facts | facts))

    def _statistic(self, estimate: Sequence[float], method: str, **facts: Any) -> Statistic:
        """Build a statistic from a value, and its interval if known; by default over all pairs."""
        return Statistic(*estimate, method=method, **(self.facts | facts))


@dataclass(frozen=True, slots=True)
class GoldAgreement(CardAnswer):
    """Agreement of a judge's ranking and win rates with a gold standard, as measured and beyond
    noise of the items: `alpha`, the decisiveness, is above 1 for win rates more extreme than the
    gold ones, `single_alpha` that of single verdicts (as in JuStRank), and `delta` the standard
    deviation of the corrected biases over systems."""

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
        raw = (self.mse, self.alpha, self.single_alpha, self.delta)
        mse, alpha, single, delta = (
            EMPTY if isinstance(value, Missing) else f"{value:.3g}" for value in raw
        )
        of_single = (
            f"  of single votes, as in JuStRank ({single} with noise)",
            self.single_alpha_beyond_noise,
        )
        among = f"{self.systems:,} systems, {self.pairs:,} of {self.gold_pairs:,} gold pairs judged"
        lines: tuple[tuple[str, Value], ...] = (
            ("gold standard", f"{self.gold}: {among}"),
            ("Kendall's tau with its ranking", self.tau),
            ("pairs with the same better system", self.accuracy),
            (f"mean squared error of win rates ({mse} with noise)", self.mse_beyond_noise),
            (f"decisiveness alpha ({alpha} with noise; 1 = as humans)", self.alpha_beyond_noise),
            *([] if self.single_alpha_beyond_noise == self.alpha_beyond_noise else [of_single]),
            (f"bias between systems, delta ({delta} with noise)", self.delta_beyond_noise),
        )
        if isinstance(own := self.self_bias, Missing):
            return (*lines, (SELF_BIAS, own))
        verdict = "favours itself" if own.favours_itself else "not shown to favour itself"
        paired = f"{cell_text(own.paired_p, '.2g')} by paired t over {own.opponents:,} opponents"
        tests = f"Bonferroni over {own.tests} judges" if own.tests > 1 else "one judge"
        p = f"{verdict}: p = {cell_text(own.item_p, '.2g')} over items; {paired}"
        return (
            *lines,
            (f"bias towards itself ({own.model})", own.bias),
            (f"  one-sided, {tests}", p),
        )

    def tables(self) -> tuple[Table, ...]:
        if isinstance(self.biases, Missing):
            return ()
        rows = []
        for own in self.biases[:10]:
            figures = (
                own.raw.brief,
                own.corrected.estimate,
                own.corrected.interval,
                cell_text(own.p, ".2g"),
            )
            rows.append((own.model, f"{own.opponents:,}", *figures))
        header = ("system", "opponents", "raw", "corrected", "interval", "p (Holm)")
        return (Table("Bias by system (judge win rate less gold win rate)", header, tuple(rows)),)


def gold_agreement(subject: Subject, resamples: int = RESAMPLES) -> GoldAgreement | Missing:
    """Compare a judge's ranking, and its win rates without ties, with the gold standard, else with
    its human labels."""
    both = match_gold_pairs(subject)
    if isinstance(both, Missing):
        return both
    figures = single = GoldComparison(
        both, resample_both(both, resamples, subject.rng), subject.level
    )
    if subject.judgments.readable.sum() > subject.battles.readable.sum():
        ratings = fit_ratings(subject.judgments)
        votes = replace(
            both, judge=ratings, ours=np.array([ratings.models.index(name) for name in both.models])
        )
        single = GoldComparison(
            votes, resample_both(votes, resamples, subject.rng, ranked=False), subject.level
        )
    (mse, mse_beyond_noise), (alpha, alpha_beyond_noise) = figures.mse(), figures.alphas()
    single_alpha, single_alpha_beyond_noise = single.alphas()
    delta, delta_beyond_noise, biases, self_bias = figures.biases(subject)
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
        delta=delta,
        delta_beyond_noise=delta_beyond_noise,
        biases=biases,
        self_bias=self_bias,
    )
