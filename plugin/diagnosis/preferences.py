"""Whether a judge prefers longer responses, and models of its own family."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from podium.data.battles import Battles
from podium.defaults import REGULARIZATION
from podium.diagnosis.clustered import KIND_OF_INTERVAL, Clustered, cluster_battles
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value, attempt
from podium.diagnosis.judge_checks import family_of, group_by_family
from podium.diagnosis.ratings import (
    CONNECT_REMEDY,
    Ratings,
    bounded_by_all,
    error_sums,
    fit_line,
)
from podium.diagnosis.subject import Subject, near_ties
from podium.distributions import ndtri
from podium.rankers.calibration.signals import readable_margins
from podium.rankers.fit.coded import CodedBattles, code_battles, codes_of_items
from podium.rankers.length_control.joint import fit_with_length, slope_influence
from podium.tables import EMPTY, Table
from podium.wording import quantity, some, word_for

LENGTHS_REMEDY = "give columns length_a and length_b, in characters"
"""Remedy without lengths of responses."""
MARGINS_REMEDY = "give a column margin (judge score of a minus that of b)"
"""Remedy without margins and probabilities."""
MORE_LABELS = "give the reference more battles"
"""Remedy if the errors of the reference ratings are too large."""
MOSTLY_CHANCE = "more than half of the variation of the reference ratings is chance"
"""Why no line is fitted: see `MOST_NOISE` in `podium.diagnosis.ratings`."""
ROUNDING_SHARE = 1e-12
"""Largest share of a sum of squares that counts as 0."""
FEWEST_MODELS = 5
"""Fewest models n of a partial correlation given one variable, whose variance is 1 / (n - 4)."""
FEWEST_OUTSIDE = 3
"""Fewest models of other families for a line of ratings; through two, a line always fits."""
NAME_FAMILIES = (
    "name the families: --families PATTERN=FAMILY,... or a file with the columns model and family"
)
"""Remedy if the family of the judge, or of all models, is unknown."""


@dataclass(frozen=True, slots=True)
class Verbosity(CardAnswer):
    """The effect of the length of responses on a judge's verdicts and ratings, and on humans.

    Attributes:
        longer: share of battles without a tie, with responses of different lengths, that the
            longer response wins.
        longer_near_ties: the same share among near-ties.
        rule: a text on what a near-tie is; None if the verdicts have no margins and no soft
            credits.
        effect: effect of length on verdicts, in logits per unit of log-length.
        human: effect of length on human labels, in the same unit.
        residuals: partial correlation of ratings and mean length over models, given reference
            ratings.
        who: whose ratings are the reference; None if there are no reference ratings.
        transcripts: effect of the length of transcripts on verdicts, in logits per unit of
            log-length; None if the judge saw no transcripts.
    """

    longer: Figured
    longer_near_ties: Figured
    rule: str | None
    effect: Figured
    human: Figured
    residuals: Figured
    who: str | None
    transcripts: Figured | None = None

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        """Return the figures, with labels that say what they are compared with.

        The line on transcripts is left out if the judge saw none.
        """
        rule = f" ({self.rule})" if self.rule else ""
        against = f" against {self.who}" if self.who else ""
        of_answer = "" if self.transcripts is None else " of the answer"
        lines: list[tuple[str, Value]] = [
            ("longer response preferred", self.longer),
            ("  among near-ties" + rule, self.longer_near_ties),
            (f"length{of_answer}, log-odds per factor e, strength fixed", self.effect),
        ]
        if self.transcripts is not None:
            lines.append(("  the same for the length of the transcript", self.transcripts))
        lines.append(("  the same for humans", self.human))
        label = f"residual ratings{against} and length, given strength"
        lines.append((label, self.residuals))
        return tuple(lines)


def verbosity(subject: Subject) -> Verbosity | Missing:
    """Measure the effect of length on a judge's verdicts. Source: Soft-Elo, appendix F.1.

    A battle is decisive if its verdict is no tie. The effect on human labels is measured on battles
    with a readable verdict only.

    Returns:
        The figures, each `Missing` if it lacks data (margins, human labels, a reference). The whole
        result is `Missing` if no readable battle has the lengths of both responses.
    """
    battles = subject.battles
    ratio = log_ratio(battles)
    has_length_ratio = battles.readable & ~np.isnan(ratio)
    if not has_length_ratio.any():
        return Missing("no readable battle has the lengths of both responses", LENGTHS_REMEDY)
    credit = battles.numbers_of("credit")
    sample = cluster_battles(battles, subject.level)
    win = np.sign(battles.outcomes - 0.5)
    decisive = has_length_ratio & (win != 0) & (ratio != 0)
    longer_wins = np.sign(ratio) == win
    rule = None
    why = "the verdicts have neither margins nor probabilities"
    in_near_ties: Figured = Missing(why, MARGINS_REMEDY)
    mask_and_rule = near_ties(credit, readable_margins(battles), subject.near_tie)
    if mask_and_rule is not None:
        is_near_tie, rule = mask_and_rule
        what = "decisive near-ties with different lengths"
        in_near_ties = sample.share(longer_wins, what=what, among=decisive & is_near_tie)
    human: Figured = Missing("there are no human labels", "give a column human, or --human-judge")
    if not np.isnan(subject.human_credit).all():
        human_credit = np.where(battles.readable, subject.human_credit, np.nan)
        human = length_weight(battles, human_credit, ratio, subject.level)
    transcripts = None
    if "transcript_length_a" in battles.table:
        transcript_ratio = log_ratio(battles, "transcript_length")
        transcripts = length_weight(battles, credit, transcript_ratio, subject.level)
    what = "decisive battles with different lengths"
    return Verbosity(
        longer=sample.share(longer_wins, what=what, among=decisive),
        longer_near_ties=in_near_ties,
        rule=rule,
        effect=length_weight(battles, credit, ratio, subject.level),
        human=human,
        residuals=correlate_residuals(subject),
        who=None if isinstance(subject.reference, Missing) else subject.reference.who,
        transcripts=transcripts,
    )


def log_ratio(battles: Battles, length: str = "length") -> np.ndarray:
    """Return log((1 + length of a) / (1 + length of b)) of each battle.

    Args:
        battles: the battles.
        length: name of the columns of the lengths, without the ending `_a` or `_b`.

    Returns:
        The logarithm, NaN if a length is unknown or if there are no such columns, shape
        (battles,).
    """
    a = np.log1p(battles.numbers_of(f"{length}_a"))
    b = np.log1p(battles.numbers_of(f"{length}_b"))
    return a - b


def length_weight(
    battles: Battles,
    credit: np.ndarray,
    ratio: np.ndarray,
    level: float,
) -> Figured:
    """Estimate the weight of log-length in a Bradley-Terry fit with a length term, in logits.

    Args:
        battles: the battles.
        credit: credits of `model_a`, NaN if left out, shape (battles,).
        ratio: what `log_ratio` returns, shape (battles,). Battles with NaN are left out.
        level: confidence level.

    Returns:
        The weight with an interval clustered by item; `Missing` if the battles do not identify it.
    """
    is_counted = ~np.isnan(credit) & ~np.isnan(ratio)
    credit_of_counted = np.where(is_counted, credit, np.nan)
    fit = attempt(
        lambda: length_effect(code_battles(battles, credit=credit_of_counted), ratio[is_counted]),
        LENGTHS_REMEDY,
    )
    if isinstance(fit, Missing):
        return fit
    weight, influence = fit
    sample = cluster_battles(battles, level).take(is_counted)
    return sample.linear(weight, influence, n=int(is_counted.sum()), unit=Unit.LOGITS)


def length_effect(coded: CodedBattles, z: np.ndarray) -> tuple[float, np.ndarray]:
    """Fit logit P(a wins) = theta_a - theta_b + g z, with strengths theta and length ratio z.

    Args:
        coded: the battles.
        z: log-ratio of the lengths, without NaN, shape (battles,).

    Returns:
        g, and the influence of each battle on it, shape (battles,).

    Raises:
        NotIdentifiedError: the battles do not identify g.
    """
    fit = fit_with_length(coded, z, REGULARIZATION, start=np.zeros(len(coded.models)))
    weight = float(fit.coefficients[0])
    return weight, slope_influence(fit)


def correlate_residuals(subject: Subject) -> Figured:
    """Return the partial correlation of a judge's ratings and mean length over models.

    The reference ratings, which stand for the true strengths, are held constant. Models without
    lengths, or without a bounded rating by judge and reference, are left out.

    Returns:
        The correlation. It is `Missing` if there is no reference, if ratings cannot be fitted to
        the judge's battles, if fewer than 5 models are left, if these have equal mean lengths, if
        ratings or lengths do not vary beyond the reference, or if the errors of the reference are
        too large to be corrected.
    """
    reference = subject.reference
    if isinstance(reference, Missing):
        return reference
    bounded_ratings = attempt(
        lambda: bounded_by_all(subject.judge_ratings.ratings, reference), CONNECT_REMEDY
    )
    if isinstance(bounded_ratings, Missing):
        return bounded_ratings
    length = _mean_length(subject.battles)
    names = tuple(name for name in bounded_ratings[0].models if name in length)
    if len(names) < FEWEST_MODELS:
        why = (
            f"{quantity(len(names), 'model', 'has|have')} lengths and "
            f"bounded ratings by both; {FEWEST_MODELS} are needed"
        )
        return Missing(why, "add models")
    by_judge, by_reference = (ratings.select(names) for ratings in bounded_ratings)
    mean_length = np.array([length[name] for name in names])
    noise, shared = error_sums(by_judge, by_reference, mean_length - mean_length.mean())
    return partial_correlation(
        x=by_judge.elo,
        y=mean_length,
        reference=by_reference.elo,
        level=subject.level,
        noise=noise,
        shared=shared,
    )


def partial_correlation(
    x: np.ndarray,
    y: np.ndarray,
    reference: np.ndarray,
    level: float,
    noise: float = 0.0,
    shared: float = 0.0,
) -> Figured:
    """Return the partial correlation of x and y given the reference.

    The lines of x and of y are corrected for errors in the reference (Fuller 1987). What x varies
    beyond its line still includes these errors, so that the correlation is nearer to 0 than the
    true one: 0.57 instead of 0.64 where a tenth of the variance of the reference is error. The
    full correction has no value for a third of boards of 12 models.

    Args:
        x: ratings of the judge, shape (models,).
        y: mean lengths, shape (models,).
        reference: ratings of the reference, shape (models,).
        level: confidence level.
        noise: variance of the errors of `reference`, summed over models (see `error_sums`).
        shared: covariance of the errors of `reference` and `x`, summed over models.

    Returns:
        The correlation with Fisher's interval; `Missing` if `x` or `y` does not vary beyond
        `reference`, if the errors are too large to be corrected, or if the corrected correlation
        is not between -1 and 1.
    """
    y = y - y.mean()
    if not y.any():
        return Missing("all models write at the same mean length", "add models")
    fit = fit_line(x, reference, y, noise, shared)
    fit_without_y = fit_line(x, reference, np.zeros(len(x)), noise, shared)
    if fit is None or fit_without_y is None:
        return Missing(MOSTLY_CHANCE, MORE_LABELS)
    centred_reference = reference - reference.mean()
    residual = x - fit_without_y.weights[0] - fit_without_y.weights[1] * reference
    # Sums of squares of x and of y that the reference does not explain. r is the weight of y in the
    # line of x, times the ratio of the standard deviations.
    unexplained_x = float(residual @ residual)
    explained_y = (y @ centred_reference) ** 2 / (centred_reference @ centred_reference - noise)
    unexplained_y = float(y @ y - explained_y)
    hardly_varies = unexplained_x <= ROUNDING_SHARE * len(x) * np.var(x)
    if hardly_varies or unexplained_y <= ROUNDING_SHARE * (y @ y):
        return Missing("one of the two does not vary beyond strength", "add models")
    r = float(fit.weights[2] * np.sqrt(unexplained_y / unexplained_x))
    if abs(r) >= 1:
        why = "too few models or battles to correct the errors of the reference"
        return Missing(why, MORE_LABELS)
    low, high = _fisher_interval(r, len(reference), level)
    return Statistic(
        r,
        low,
        high,
        level=level,
        method="Fisher z over models",
        n=len(reference),
        of="models",
        unit=Unit.CORRELATION,
    )


def _fisher_interval(r: float, n: int, level: float) -> list[float]:
    """Return the interval of the partial correlation r of n rows given one variable.

    The variance of atanh r is 1 / (n - 1 - 3). Source: Fisher 1924.
    """
    reach = ndtri((1 + level) / 2) / np.sqrt(n - 4)
    return np.tanh(np.arctanh(r) + np.array([-reach, reach])).tolist()


def _mean_length(battles: Battles) -> dict[str, float]:
    """Return the mean length of responses by model, in characters, for the models with lengths.

    A response that is in several battles counts once: the first length of a model on an item (and
    response number) is used.
    """
    import pandas as pd

    item = battles.items_with_responses(codes_of_items(battles))
    models = np.concatenate(battles.model_codes)
    lengths = np.concatenate([battles.numbers_of("length_a"), battles.numbers_of("length_b")])
    columns = {"model": models, "item": np.tile(item, 2), "length": lengths}
    responses = pd.DataFrame(columns).dropna()
    means = responses.drop_duplicates(["model", "item"]).groupby("model")["length"].mean()
    return {battles.models[code]: length for code, length in means.to_dict().items()}


@dataclass(frozen=True, slots=True)
class SelfPreference(CardAnswer):
    """Elo points by which a judge rates families of models above a line on reference ratings.

    Attributes:
        family: family of the judge; None if unknown.
        how: whether the family was `given` or `guessed`; None if unknown.
        who: whose ratings are the reference; None if there are no reference ratings.
        excess: Elo by which the judge's own family lies above the line.
        slope: slope of the line through the judge's ratings on the reference ratings. The line is
            fitted to the models of other families.
        families: names of the models by family.
        unknown: names of the models of unknown family.
        excesses: Elo by which each family lies above a line fitted to all other families; empty
            if there are no reference ratings.
    """

    family: str | None
    how: str | None
    who: str | None
    excess: Figured
    slope: Figured
    families: Mapping[str, tuple[str, ...]]
    unknown: tuple[str, ...]
    excesses: Mapping[str, Figured]

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        """Return label and value: family, slope and excess; no slope without reference ratings."""
        family_text = "not known" if self.family is None else f"{self.family} ({self.how})"
        lines: list[tuple[str, Value]] = [("family of the judge", family_text)]
        if self.who:
            lines.append(("compared with", self.who))
            lines.append(("slope of its ratings on theirs", self.slope))
        lines.append(("its family is rated higher by", self.excess))
        return tuple(lines)

    def tables(self) -> tuple[Table, ...]:
        """Return a table with the excess of each family, and the models of unknown family."""
        rows = []
        for name, models in self.families.items():
            # Without reference ratings, there are no excesses. `self.excess` is then `Missing`.
            excess = self.excesses.get(name, self.excess)
            rows.append((name, str(len(models)), excess.brief, some(models, most=3)))
        if self.unknown:
            rows.append(("not known", str(len(self.unknown)), EMPTY, some(self.unknown, most=3)))
        title = "families, given or guessed from names (--families corrects them)"
        header = ("family", "models", "rated higher by", "which")
        return (Table(title=title, header=header, rows=tuple(rows), words=True),)


def measure_self_preference(subject: Subject) -> SelfPreference:
    """Compare a judge's ratings of each family with a line fitted to reference ratings.

    A figure that cannot be computed is `Missing`; the other figures are still returned. Only models
    with bounded ratings by judge and reference are used. Source: after Soft-Elo, appendix F.1.

    Raises:
        NotIdentifiedError: there is a reference, and the judge's battles do not connect all models.
        NotConvergedError: the fit of the judge's ratings does not converge.
    """
    judge = subject.model
    reference = subject.reference
    level = subject.level
    family = family_of(judge, subject.families) if judge else None
    name = family.name if family else None
    how = family.how if family else None
    families = group_by_family(subject.battles.models, subject.families)
    models_with_family = {model for models in families.values() for model in models}
    unknown = tuple(model for model in subject.battles.models if model not in models_with_family)
    if isinstance(reference, Missing):
        return SelfPreference(name, how, None, reference, reference, families, unknown, {})
    by_judge, by_reference = bounded_by_all(subject.judge_ratings.ratings, reference)
    members = {}
    excesses = {}
    for family_name, models in families.items():
        members[family_name] = np.isin(by_judge.models, models)
        excesses[family_name] = _estimate_line(
            by_judge, by_reference, is_member=members[family_name], level=level, unit=Unit.ELO
        )
    if family:
        why = f"no model is known to be of the judge's family ({name})"
    elif judge:
        why = f"the family of {judge} is not known"
    else:
        why = "no row names the judge's model"
    excess: Figured = Missing(why, NAME_FAMILIES)
    # If no model is of the judge's family, the line is fitted to all models.
    is_own_family = np.zeros(len(by_judge.models), dtype=bool)
    if name is not None and name in members:
        excess = excesses[name]
        is_own_family = members[name]
    slope = _estimate_line(
        by_judge, by_reference, is_member=is_own_family, level=level, unit=Unit.NUMBER
    )
    return SelfPreference(name, how, reference.who, excess, slope, families, unknown, excesses)


def _estimate_line(
    judge: Ratings, reference: Ratings, is_member: np.ndarray, level: float, unit: Unit
) -> Figured:
    """Estimate a line through a judge's ratings on those of a reference.

    Args:
        judge: ratings by the judge.
        reference: ratings by the reference, of the same models.
        is_member: mask of the models of a family, which may lie above the line.
        level: confidence level.
        unit: what to return: `Unit.ELO` for how far the family lies above the line, `Unit.NUMBER`
            for the slope of the line.

    Returns:
        The figure. It is `Missing` if fewer than 3 models are outside the family, if the reference
        rates these models alike, or if the errors of the reference are too large. The height of a
        family without models is `Missing`, too.
    """
    is_height = unit is Unit.ELO
    if is_height and not is_member.any():
        why = "no model of this family has a bounded rating by both"
        return Missing(why, "judge some of its models")
    outside = int((~is_member).sum())
    if outside < FEWEST_OUTSIDE:
        why = (
            f"{quantity(outside, 'model')} of other families {word_for(outside, 'has', 'have')} a "
            f"bounded rating by both, a line needs {FEWEST_OUTSIDE}"
        )
        return Missing(why, "add models of other families")
    if np.ptp(reference.elo[~is_member]) == 0:
        return Missing("the reference rates all other models alike", "add models that differ")
    noise, shared = error_sums(judge, reference, is_member)
    fit = fit_line(judge.elo, reference.elo, is_member, noise=noise, shared=shared)
    if fit is None:
        return Missing(MOSTLY_CHANCE, MORE_LABELS)
    # The terms of the line are its constant, its slope and the height of the family.
    term = 2 if is_height else 1
    codes = np.concatenate([judge.rows.code, reference.rows.code])
    sample = Clustered(codes, judge.rows.unit, level)
    through_judge = judge.influence @ fit.by_judge[:, term]
    through_reference = reference.influence @ fit.by_reference[:, term]
    influence = np.concatenate([through_judge, through_reference])
    method = f"line with error on both sides, {KIND_OF_INTERVAL}"
    weight = float(fit.weights[term])
    return sample.linear(
        value=weight, influence=influence, n=len(is_member), of="models", unit=unit, method=method
    )
