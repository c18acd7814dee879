"""How the judge's ratings of held-out models agree with human ratings, and which target errs
least.

All figures have intervals over models.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from podium.distributions import stdtrit
from podium.rankers.calibration.calibration import Accuracy, Calibration, HeldOut
from podium.rankers.errors.intervals import mean_interval, t_quantile
from podium.rankers.estimate import Estimate

CORRELATIONS = {"spearman": stats.spearmanr, "kendall": stats.kendalltau}
"""Functions of two arrays that compute rank correlations, by name."""
MEAN_OF_NORMAL = np.sqrt(2 / np.pi)
"""Mean absolute value of a standard normal error."""
FEWEST_RANKED = 5
"""With fewer models than this, a rank correlation has no interval: the variance of Kendall's
correlation of n models is 0.437 / (n - 4)."""


def measure_accuracy(held_out_models: Sequence[HeldOut], kind: str, level: float) -> Accuracy:
    """Return the mean error of the judge's ratings and their rank correlations with human ratings.

    The interval of the mean error is a t interval of its logarithm. The intervals of correlations
    are t intervals of Fisher's z. The variance of z is (1 + r^2 / 2) / (n - 3) for Spearman's
    correlation (Bonett and Wright 2000), and 0.437 / (n - 4) for Kendall's (Fieller 1957).

    Args:
        held_out_models: the held-out ratings. Models whose judge's or human rating is unknown or
            unbounded are left out.
        kind: which of the judge's ratings, `hard` or `soft`.
        level: confidence level, in (0, 1).

    Returns:
        The accuracy, without `log_loss` and `plain_mae`. For fewer than two models, all figures
        are None.
    """
    judge, human = _paired_ratings(held_out_models, kind)
    number = len(judge)
    if number < 2:
        return Accuracy(mae=None, spearman=None, kendall=None, n=number)
    mae, mae_low, _ = mean_interval(np.abs(judge - human), level)
    mae_interval = None
    if mae > 0 and mae_low is not None:
        # By the delta method, the standard error of log(mae) is (standard error of mae) / mae.
        factor = float(np.exp((mae - mae_low) / mae))
        mae_interval = (mae / factor, mae * factor)
    spearman = correlate("spearman", judge, human)
    kendall = correlate("kendall", judge, human)
    slope = None
    if number > 2 and np.ptp(judge) > 0:
        slope, _intercept = map(float, np.polyfit(judge, human, 1))
    human_se = [model.human_se for model in held_out_models if model.human_se is not None]
    return Accuracy(
        n=number,
        mae=mae,
        spearman=spearman,
        kendall=kendall,
        mae_interval=mae_interval,
        spearman_interval=_correlation_interval(
            spearman, number=number, variance=_spearman_variance, level=level
        ),
        kendall_interval=_correlation_interval(
            kendall, number=number, variance=_kendall_variance, level=level
        ),
        level=level,
        slope=slope,
        floor=float(MEAN_OF_NORMAL * np.mean(human_se)) if human_se else None,
    )


def _spearman_variance(rho: float, number: int) -> float:
    """Return the variance of Fisher's z of Spearman's rho of n models (Bonett and Wright 2000).

    `number` is n.
    """
    return (1 + rho**2 / 2) / (number - 3)


def _kendall_variance(_: float, number: int) -> float:
    """Return the variance of Fisher's z of Kendall's tau of n models (Fieller 1957).

    `number` is n. The first argument, tau, is not used.
    """
    return 0.437 / (number - 4)


def correlate(rule: str, judge: np.ndarray, human: np.ndarray) -> float | None:
    """Return the rank correlation of two arrays of ratings: `spearman` (rho) or `kendall` (tau-b).

    The arrays have shape (models,), without NaN. The result is None if all values of one of the
    arrays are equal.
    """
    for ratings in (judge, human):
        if len(np.unique(ratings)) < 2:
            return None
    return float(CORRELATIONS[rule](judge, human).statistic)


def compare_accuracy(
    our_models: Sequence[HeldOut],
    their_models: Sequence[HeldOut],
    level: float,
    kind: str = "soft",
    their_kind: str = "soft",
) -> dict[str, Estimate]:
    """Compare the accuracy of two sets of held-out ratings, over the models that both rate.

    Args:
        our_models: our held-out ratings.
        their_models: their held-out ratings.
        level: confidence level, in (0, 1).
        kind: which of our ratings, `hard` or `soft`.
        their_kind: which of their ratings, `hard` or `soft`.

    Returns:
        Our figure minus their figure, by name of the figure: `mae` with a paired t interval, and
        `spearman` and `kendall` with jackknife intervals. Unknown differences are left out. With
        fewer than two common models, the result is empty.
    """
    theirs_by_model = {
        held_out.model: held_out
        for held_out in their_models
        if held_out.residual(their_kind) is not None
    }
    common = []
    for held_out in our_models:
        if held_out.residual(kind) is not None and held_out.model in theirs_by_model:
            common.append(held_out)
    if len(common) < 2:
        return {}
    ours, human = _paired_ratings(common, kind)
    theirs, their_human = _paired_ratings(
        [theirs_by_model[held_out.model] for held_out in common], their_kind
    )
    error_differences = np.abs(ours - human) - np.abs(theirs - their_human)
    comparisons = {"mae": Estimate(*mean_interval(error_differences, level))}
    for rule in CORRELATIONS:
        comparison = _jackknife(rule, ours=(ours, human), theirs=(theirs, their_human), level=level)
        if comparison:
            comparisons[rule] = comparison
    return comparisons


class Contender(NamedTuple):
    """A set of held-out ratings that `select_best` compares with other sets.

    Attributes:
        calibration: the calibration that has the ratings.
        kind: `hard` or `soft`.
        held: the ratings.
        is_scale_corrected: whether the ratings are scale-corrected.
    """

    calibration: Calibration
    kind: str
    held: tuple[HeldOut, ...]
    is_scale_corrected: bool


class Choice(NamedTuple):
    """The ratings that err least over the models that all rate.

    Attributes:
        best: the ratings that err least.
        others: the other ratings, with their differences from the best.
        level: simultaneous confidence level of all differences (Bonferroni).
        n: number of models that all contenders rate.
    """

    best: Contender
    others: tuple[tuple[Contender, dict[str, Estimate]], ...]
    level: float
    n: int


def select_best(calibrations: Sequence[Calibration], level: float) -> Choice:
    """Select the ratings with the smallest mean error, and compare the others with them.

    The contenders are the hard ratings of the first calibration and the soft ratings of all, each
    as they are and, if there is a correction, scale-corrected.

    Args:
        calibrations: calibrations of the same battles by different targets.
        level: simultaneous confidence level of all differences, in (0, 1).

    Returns:
        The choice. Its errors are over the models that all contenders rate; of equal errors, the
        first contender is the best. If no model is rated by all contenders, the choice is the first
        contender, and `others` is empty.
    """
    contenders = []
    # Hard ratings do not depend on the target, so the first calibration has those of all.
    for kind, calibrations_of_kind in (("hard", calibrations[:1]), ("soft", calibrations)):
        for calibration in calibrations_of_kind:
            plain = tuple(model.without_scale_correction() for model in calibration.models)
            contenders.append(Contender(calibration, kind, plain, is_scale_corrected=False))
            if kind in calibration.scale_correction:
                contenders.append(
                    Contender(calibration, kind, calibration.models, is_scale_corrected=True)
                )
    errors = [_errors_by_model(contender) for contender in contenders]
    common = sorted(set.intersection(*map(set, errors)))
    if not common:
        return Choice(contenders[0], others=(), level=level, n=0)
    mean_errors = []
    for errors_of_contender in errors:
        mean_errors.append(np.mean([errors_of_contender[name] for name in common]))
    position = int(np.argmin(mean_errors))
    best = contenders[position]
    others = contenders[:position] + contenders[position + 1 :]
    level_of_each = 1 - (1 - level) / max(len(contenders) - 1, 1)
    compared = []
    for other in others:
        differences = compare_accuracy(
            our_models=other.held,
            their_models=best.held,
            level=level_of_each,
            kind=other.kind,
            their_kind=best.kind,
        )
        compared.append((other, differences))
    return Choice(best=best, others=tuple(compared), level=level, n=len(common))


def _errors_by_model(contender: Contender) -> dict[str, float]:
    """Return the absolute error of each model's rating, in Elo points, by the model's name.

    Models whose error is unknown are left out.
    """
    errors = {}
    for held_out in contender.held:
        residual = held_out.residual(contender.kind)
        if residual is not None:
            errors[held_out.model] = abs(residual)
    return errors


def _jackknife(
    rule: str,
    ours: tuple[np.ndarray, np.ndarray],
    theirs: tuple[np.ndarray, np.ndarray],
    level: float,
) -> Estimate | None:
    """Return the difference of two correlations with a jackknife interval over models.

    Args:
        rule: `spearman` or `kendall`.
        ours: our ratings and the human ratings, shape (models,) each.
        theirs: their ratings and the human ratings of the same models, shape (models,) each.
        level: confidence level, in (0, 1).

    Returns:
        The difference, ours minus theirs; None if one of the correlations is unknown. The ends are
        None if there are fewer than five models, or if leaving out a model makes a correlation
        unknown.
    """
    our_ratings, our_human_ratings = ours
    their_ratings, their_human_ratings = theirs

    def difference(rows: np.ndarray | slice) -> float:
        """Return the difference of the correlations over some of the models, NaN if unknown.

        `rows` selects the models: a mask, shape (models,), or a slice.
        """
        our_correlation = correlate(rule, our_ratings[rows], our_human_ratings[rows])
        their_correlation = correlate(rule, their_ratings[rows], their_human_ratings[rows])
        if our_correlation is None or their_correlation is None:
            return np.nan
        return our_correlation - their_correlation

    number = len(our_ratings)
    all_models = slice(None)
    value = difference(all_models)
    if np.isnan(value):
        return None
    codes = np.arange(number)
    without_one = np.array([difference(codes != code) for code in codes])
    if number < FEWEST_RANKED or np.isnan(without_one).any():
        return Estimate(value)
    # The jackknife's standard error is (n - 1) / sqrt(n) times this standard deviation.
    sd = np.std(without_one, ddof=1)
    half_width = float(t_quantile(number, level) * (number - 1) * sd / np.sqrt(number))
    return Estimate(
        value=value, low=max(-2.0, value - half_width), high=min(2.0, value + half_width)
    )


def _correlation_interval(
    value: float | None, number: int, variance: Callable[[float, int], float], level: float
) -> tuple[float, float] | None:
    """Return the t interval of a rank correlation on Fisher's z.

    Args:
        value: the correlation r, None if unknown.
        number: number of models.
        variance: function from r and the number of models to the variance of Fisher's z.
        level: confidence level.

    Returns:
        Both ends, or None if the correlation is unknown or there are fewer than five models.
    """
    if value is None or number < FEWEST_RANKED:
        return None
    # Fisher's z of a correlation of 1 is infinite, but few models cannot distinguish complete from
    # nearly complete agreement. So 1 is replaced by a correlation a little below.
    largest = 1 - 1 / (2 * number)
    bounded_value = float(np.clip(value, -largest, largest))
    error_of_z = np.sqrt(variance(bounded_value, number))
    half_width = stdtrit(number - 2, (1 + level) / 2) * error_of_z
    ends_of_z = np.arctanh(bounded_value) + np.array([-half_width, half_width])
    low, high = np.tanh(ends_of_z).tolist()
    return min(low, value), max(high, value)


def _paired_ratings(held_out_models: Sequence[HeldOut], kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the judge's and the human ratings of models that have both, shape (models,) each.

    `kind` is that of the judge's ratings, `hard` or `soft`. Models with an unbounded rating are
    left out, too.
    """
    rated = [model for model in held_out_models if model.residual(kind) is not None]
    judge = [model.rating(kind) for model in rated]
    human = [model.human_elo for model in rated]
    return np.array(judge, dtype=np.float64), np.array(human, dtype=np.float64)
