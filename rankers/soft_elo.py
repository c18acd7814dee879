"""Soft-Elo: Bradley-Terry on calibrated probabilities instead of wins, ties and losses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from podium.check_kinds import CHECKS
from podium.data.battles import Battles
from podium.defaults import (
    CALIBRATION_LEVEL,
    LEVEL,
    RANKER_OF_UNKNOWN_SCALE,
    REGULARIZATION,
)
from podium.errors import NotIdentifiedError, UnknownScaleError, UsageError
from podium.notices.notice import Notice
from podium.notices.option_forms import option_text
from podium.rankers.bradley_terry import build_elo_standings, estimate_elo
from podium.rankers.calibration.agreement import measure_agreement
from podium.rankers.calibration.calibration import Calibration, Target, models_needed
from podium.rankers.calibration.conformal import build_conformal_rule, mismatch_warnings
from podium.rankers.calibration.evidence import build_evidence
from podium.rankers.calibration.signals import (
    Kind,
    Signal,
    are_probabilities,
    default_kind,
    has_graded_credits,
    has_margins,
    read_signal,
)
from podium.rankers.calibration.targets import (
    build_given_target,
    few_items_warnings,
    fit_target,
    order_covariance,
    soften_verdicts,
    weak_signal_warnings,
)
from podium.rankers.errors.intervals import ScoreEstimates
from podium.rankers.fit.coded import Cluster, CodedBattles, code_battles
from podium.rankers.fit.identification import bounded_models, fit_battles
from podium.rankers.fit.newton import DesignMatrix
from podium.rankers.fit.scale import POINTS, EloScale, elo_scale
from podium.rankers.fit.strengths import Strengths
from podium.rankers.newcomers import newcomers, rate_newcomers
from podium.rankers.ranking import Standings
from podium.rankers.standings import Exposure, measure_exposure
from podium.wording import quantity


def soft_elo(
    battles: Battles,
    *,
    level: float = LEVEL,
    rng: np.random.Generator,
    target: Kind | None = None,
    beta: float | None = None,
    constant: float | None = None,
    ridge: float | None = None,
    regularization: float | None = None,
    cluster: Cluster = "item",
    hard: bool = False,
    pin: str | None = None,
    conformal_level: float | None = None,
    of: Literal["votes", "human"] = "votes",
    centre: tuple[str, ...] | None = None,
    calibration: Calibration | None = None,
    whole: Battles | None = None,
) -> Standings:
    """Rank by Bradley-Terry on soft credits sigmoid(beta * margin), in Elo points.

    beta is that of the option or of the calibration. Without either, it is fitted to the human
    labels in the battles. Intervals include its error. If there are no labels, graded credits are
    used as they are, and hard verdicts raise UnknownScaleError (`podium.rank` then ranks by
    bradley-terry).

    With a calibration, models that it does not know are rated one by one against those that it
    knows. Their ratings are on the calibration's Elo scale, with conformal intervals.

    Args (others as of `bradley_terry`):
        battles: battles of one judge, with margins or soft credits.
        target: the signal that is converted to soft credits: `margin`, `smoothing`, `criteria`, or
            of graded credits `credit` (as they are) or `log-odds` (times a beta that puts them on
            the human scale).
        beta: logits of human preference per unit of margin, taken as exact.
        constant: credit of a win under `smoothing`, in (0.5, 1).
        ridge: penalty of the weights of `criteria`, towards their mean; 10 by default.
        regularization: lambda, at least 0; 0.01 by default. New models are rated with the lambda
            of the calibration.
        cluster: `item`, or `row` for comparison; new models are rated with the clusters of the
            calibration.
        hard: whether to add the Elo of the hard verdicts as a column.
        pin: `MODEL:1000` shifts all scores; not allowed if there are new models.
        conformal_level: confidence level of conformal intervals; by default that of the
            calibration. Without new models, this option and `of` change nothing, and a note says
            so.
        of: the human rating that a conformal interval covers: `votes` (from about as many votes as
            the calibrated models had) or `human` (from infinitely many votes).
        centre: as of `bradley_terry`; not used if there are new models.
        calibration: calibration of this judge. Its map from signal to soft credit is used.
        whole: all battles, if `battles` are a slice; beta is fitted to all of them.

    Raises:
        UnknownScaleError: nothing determines beta, and the options ask for no target.
        NotIdentifiedError: nothing determines the target of the options, or the comparison graph
            is disconnected.
        NotConvergedError: a fit did not reach its maximum.
        UsageError: an impossible option; `target`, `beta`, `constant` or `ridge` with a
            calibration; `pin`, `regularization` or `cluster=row` with new models; or
            `conformal_level` or `of=human` without a calibration.

    Source: Soft-Elo (Kargi and Salinas 2026), equations 1 and 5; one beta for all slices as in its
    appendix E.
    """
    notes = _notes_without_placement(calibration, conformal_level, of)
    options = TargetOptions(target, beta, constant, ridge)
    soft = soften_battles(
        battles, whole=whole or battles, calibration=calibration, options=options, level=level
    )
    if calibration and newcomers(battles, calibration, soft.credit):
        # Battles are clustered by item by default; only another column is an option of joint fits.
        other_cluster = None if cluster == "item" else cluster
        _check_joint_options(pin=pin, regularization=regularization, cluster=other_cluster)
        rule = build_conformal_rule(calibration, conformal_level, of)
        signal = soft.signal
        return soft.annotate(
            rate_newcomers(battles, calibration, signal, rule, level=level, rng=rng, hard=hard)
        )
    penalty = REGULARIZATION if regularization is None else regularization
    coded = code_battles(battles, credit=soft.credit, cluster=cluster)
    fit = _fit_soft_credits(battles, soft, coded, penalty, level, centre, pin)
    extra = {}
    if hard:
        extra["hard"] = _hard_elo(battles, coded.models, fit.estimate.score, penalty)
    return soft.annotate(fit.build_standings(level, rng, extra), notes)


@dataclass(frozen=True, slots=True)
class _JointFit:
    """Elo ratings of all models, fitted jointly to soft credits."""

    exposure: Exposure
    strengths: Strengths
    estimate: ScoreEstimates
    scale: EloScale

    def build_standings(
        self, level: float, rng: np.random.Generator, extra: Mapping[str, np.ndarray]
    ) -> Standings:
        """Return the standings, with `extra` columns, each of shape (models,)."""
        return build_elo_standings(
            self.exposure,
            self.strengths,
            self.estimate,
            self.scale,
            level=level,
            rng=rng,
            ranker="soft-elo",
            extra=extra,
        )


def _fit_soft_credits(
    battles: Battles,
    soft: "SoftCredits",
    coded: CodedBattles,
    regularization: float,
    level: float,
    centre: tuple[str, ...] | None,
    pin: str | None,
) -> _JointFit:
    """Fit Elo ratings of all models to soft credits; intervals include the error of the target.

    Args:
        battles: all battles, which are counted.
        soft: their soft credits.
        coded: the battles with a soft credit.
        regularization: lambda.
        level: confidence level of the intervals, in (0, 1).
        centre: option of that name, as of `soft_elo`.
        pin: option of that name, as of `soft_elo`.
    """
    strengths = fit_battles(coded, regularization)
    exposure = measure_exposure(battles, coded, strengths.pairs)
    exposure = replace(exposure, lacking=f"battle with a signal ({soft.signal.kind})")
    bounded = bounded_models(strengths.graph)
    scale = elo_scale(
        coded.models, is_in_mean=bounded, items=coded.clusters_by_model(), centre=centre, pin=pin
    )
    added_covariance = covariance_of_target(coded, strengths, soft)
    estimate = estimate_elo(strengths, coded, scale, level, added_covariance=added_covariance)
    if estimate.method and soft.target.kind != "credit":
        is_exact = soft.target.covariance is None
        about_beta = "beta taken as exact" if is_exact else "error of beta included"
        estimate = replace(estimate, method=f"{estimate.method}, {about_beta}")
    return _JointFit(exposure, strengths, estimate, scale)


def _notes_without_placement(
    calibration: Calibration | None, conformal_level: float | None, of: str
) -> list[Notice]:
    """Return the note for a joint fit with a calibration: no model is new, so none is placed.

    The note names the options of conformal intervals that are given, as they change nothing then.
    The list is empty if there is no calibration.

    Args:
        calibration: the calibration, if there is one.
        conformal_level: option of that name, as of `soft_elo`.
        of: option of that name, as of `soft_elo`.

    Raises:
        UsageError: `conformal_level` is given, or `of` is not `votes`, without a calibration.
    """
    given_options = []
    if conformal_level is not None:
        given_options.append("conformal_level")
    if of != "votes":
        given_options.append("of")
    options_text = " and ".join(given_options)
    if given_options and not calibration:
        verb = "needs" if len(given_options) == 1 else "need"
        raise UsageError(f"{options_text} {verb} {option_text('calibration', 'FILE')}")
    if not calibration:
        return []
    return [Notice("none-placed", {"unused": options_text})]


def _check_joint_options(**options: object) -> None:
    """Raise UsageError if one of the options is given (is not None).

    Each of these options belongs to a joint fit, but new models are placed one by one.
    """
    given_options = [name for name, value in options.items() if value is not None]
    if given_options:
        raise UsageError(
            f"{' and '.join(given_options)}: new models are placed on the calibration's axis, with "
            "its regularization and its clusters; leave it out"
        )


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """Options of a ranker for the conversion of a judge's signal to soft credits.

    They mean the same as the options of `soft_elo` with these names. None means not given.
    """

    target: Kind | None = None
    beta: float | None = None
    constant: float | None = None
    ridge: float | None = None

    @property
    def are_given(self) -> bool:
        """Whether at least one option is given."""
        return self != TargetOptions()


@dataclass(frozen=True, slots=True)
class SoftCredits:
    """Soft credits of a judge's verdicts.

    Attributes:
        target: the map from signal to credit.
        origin: where the map comes from, such as `of the calibration` or `given, taken as exact`.
        warnings: warnings about the map.
        signal: the judge's signal in each battle.
        credit: credit of a in [0, 1], NaN for battles without a signal, shape (battles,).
        judged: number of readable battles.
    """

    target: Target
    origin: str
    warnings: Sequence[Notice]
    signal: Signal
    credit: np.ndarray
    judged: int

    def annotate(self, standings: Standings, warnings: Sequence[Notice] = ()) -> Standings:
        """Return standings with beta and its interval, the diagnostics `soft`, and more warnings.

        The warnings of the standings come first. Then come those about the map, a warning of
        judged battles without a signal, if there are any, and `warnings`.
        """
        target = self.target
        signal = self.signal
        left_out = self.judged - int(signal.is_known.sum())
        diagnostics = {
            "kind": signal.kind,
            "from": self.origin,
            "weights": dict(target.weights),
            "preferences": target.battles,
            "level": target.level,
            "left_out": left_out,
        }
        signal_name = "margin" if signal.kind == "margin" else f"signal ({signal.kind})"
        fields = {"left_out": left_out, "judged": self.judged, "missing": signal_name}
        no_signal = [Notice("no-signal", fields)] if left_out else []
        fit = standings.fit
        return replace(
            standings,
            fit=replace(fit, beta=target.beta, beta_low=target.low, beta_high=target.high),
            diagnostics={**standings.diagnostics, "soft": diagnostics},
            warnings=(*standings.warnings, *self.warnings, *no_signal, *warnings),
        )


def soften_battles(
    battles: Battles,
    whole: Battles,
    calibration: Calibration | None,
    options: TargetOptions,
    level: float,
) -> SoftCredits:
    """Convert a judge's signal to soft credits.

    Args:
        battles: the battles to convert.
        whole: the battles whose human labels the map is fitted to, if it is fitted.
        calibration: the calibration that has the map, if there is one.
        options: options that choose the target, and may give its beta or constant. None of them
            may be given together with a calibration.
        level: confidence level of beta's interval, in (0, 1).

    Returns:
        The credits, NaN for unparsed battles and for those without a signal, with the map.

    Raises:
        UnknownScaleError: nothing determines beta, and no option is given.
        NotIdentifiedError: nothing determines the target of the options, no battle has its signal,
            or the calibration weighs other features than the battles have.
        NotConvergedError: the fit of the map did not reach its maximum.
        UsageError: an option is given together with a calibration, even if both agree; an option
            does not belong to the target; or a value is out of range.
    """
    target, origin, warnings = _choose_target(whole, calibration, options, level)
    kind: Any = target.kind
    # A calibration by battles without margins weighs verdicts in their place (`read_signal`).
    verdicts_as_margins = kind == "margin" and "verdict" in target.weights
    signal = read_signal(battles, kind, options.ridge, credits_as_margins=verdicts_as_margins)
    credit = soften_verdicts(target, signal)
    return SoftCredits(target, origin, warnings, signal, credit, int(battles.readable.sum()))


def _choose_target(
    battles: Battles, calibration: Calibration | None, options: TargetOptions, level: float
) -> tuple[Target, str, list[Notice]]:
    """Return the map from signal to soft credit, where it comes from, and warnings about it.

    The map is that of the calibration, or else of the options, or else fitted to the human labels
    of `battles`. Where the map comes from is a phrase (`SoftCredits.origin`). `level` is the
    confidence level of beta's interval, in (0, 1).

    Raises:
        UnknownScaleError, NotIdentifiedError, NotConvergedError, UsageError: as of
            `soften_battles`.
    """
    if calibration:
        if options.are_given:
            raise UsageError(
                "target, beta, constant and ridge say what the calibration says already "
                f"({calibration.target}); leave them out, or leave out the calibration"
            )
        warnings = [*mismatch_warnings(calibration, battles)]
        if calibration.is_uninformative:
            warnings.append(Notice("uninformative-judge", {"of_file": True}))
        warnings += weak_signal_warnings(calibration.target, calibration.agreement, of_file=True)
        return calibration.target, "of the calibration", warnings
    kind = _choose_kind(battles, options)
    if options.ridge is not None and kind != "criteria":
        raise UsageError(
            f"ridge pulls the weights of target=criteria together; the target is {kind}; "
            "leave it out"
        )
    given_target = build_given_target(kind, beta=options.beta, constant=options.constant)
    if given_target is None:
        return _fit_to_labels(battles, kind, options, level)
    if kind != "credit":
        return given_target, "given, taken as exact", []
    is_probability = are_probabilities(battles.asked_battles)
    hard_count = int((~is_probability).sum())
    judged_count = len(is_probability)
    warnings = []
    if 2 * hard_count > judged_count:
        counts = {"hard": hard_count, "judged": judged_count}
        warnings.append(Notice("mostly-hard-credits", counts))
    return given_target, "as they are", warnings


def _choose_kind(battles: Battles, options: TargetOptions) -> Kind:
    """Return the target that the options choose, or else the one that suits the battles.

    A given constant chooses `smoothing`. If neither a target nor a constant is given, the columns
    of the battles decide (`_default_target`).
    """
    if options.target:
        return options.target
    if options.constant is not None:
        return "smoothing"
    return _default_target(battles, options.beta)


def _fit_to_labels(
    battles: Battles, kind: Kind, options: TargetOptions, level: float
) -> tuple[Target, str, list[Notice]]:
    """Return the map fitted to human labels, where it comes from, and warnings.

    `kind` is the target, and `level` the confidence level of beta's interval, in (0, 1).

    Raises:
        UnknownScaleError: the labels do not determine the map, or there are none, and no option is
            given.
        NotIdentifiedError: the labels do not determine a map that an option asks for, or beta is
            not above 0.
        NotConvergedError: the fit did not reach its maximum.
    """
    is_default = not options.are_given
    if is_default and battles.readable.any():
        what_lacks = _describe_lack_for_beta(battles)
        if what_lacks:
            message = _describe_unknown_scale(what_lacks)
            raise UnknownScaleError(message, instead=RANKER_OF_UNKNOWN_SCALE)
    signal = read_signal(battles, kind, options.ridge)
    evidence = build_evidence(battles, signal)
    if np.isnan(evidence.human).all():
        raise NotIdentifiedError(_describe_missing_target(kind))
    try:
        fitted = fit_target(evidence, level)
    except UnknownScaleError as error:
        if is_default:
            message = _describe_unknown_scale(str(error))
            raise UnknownScaleError(message, instead=error.instead) from None
        raise NotIdentifiedError(str(error)) from None
    agreement = measure_agreement(evidence, soften_verdicts(fitted, evidence.signal))
    warnings = [*few_items_warnings(evidence), *weak_signal_warnings(fitted, agreement)]
    if len(battles.judges) > 1:
        warnings.append(Notice("one-beta-for-judges", {"judges": [*battles.short_judges.values()]}))
    origin = f"fitted to {quantity(fitted.battles, 'human preference')} in the battles"
    return fitted, origin, warnings


def _default_target(battles: Battles, beta: float | None) -> Kind:
    """Return the target if no option chooses one.

    The target follows from the columns of the battles (`default_kind`). One case is special: if it
    is `margin`, and neither the option `beta` nor labels with margins give beta, graded credits
    are used as they are (`credit`).
    """
    kind = default_kind(battles)
    if kind != "margin" or beta is not None:
        return kind
    if _describe_lack_for_beta(battles) and has_graded_credits(battles):
        return "credit"
    return kind


def _describe_lack_for_beta(battles: Battles) -> str:
    """Return a clause on what the battles lack for a fit of beta: human labels, or else margins.

    The clause has no full stop. It is "" if the battles have both.
    """
    if np.isnan(battles.numbers_of("human")).all():
        return "no calibration and no human labels"
    if not has_margins(battles):
        return "the verdicts have no margins"
    return ""


def covariance_of_target(
    coded: CodedBattles, strengths: Strengths, soft: SoftCredits
) -> np.ndarray:
    """Return the covariance of log-strengths that the error of the map's weights causes.

    It is H^-1 J V J' H^-1. H is the negative Hessian at the fitted log-strengths. J is the
    derivative of the log-likelihood's gradient (by log-strength) by the weights of the map. V is
    the covariance of these weights. Errors of the labels and of the judge are taken as
    independent.

    Args:
        coded: the battles with a soft credit.
        strengths: the log-strengths fitted to them.
        soft: the soft credits of all battles, with the map.

    Returns:
        The covariance, shape (models, models); zero if the weights are taken as exact.
    """
    size = len(coded.models)
    weight_covariance = order_covariance(soft.target, soft.signal)
    if not weight_covariance.any():
        return np.zeros((size, size))
    x = soft.signal.x[~np.isnan(soft.credit)]
    credit = coded.credit
    # The derivative of a credit c = s(x b) by the weights b is c (1 - c) x.
    surplus_by_weights = (coded.weight * credit * (1 - credit))[:, None] * x
    design = DesignMatrix(columns=None, first=coded.a, second=coded.b, models=size)
    gradient_by_weights = design.transpose_product(surplus_by_weights.T).T
    strength_by_weights = strengths.solve(gradient_by_weights)  # H^-1 J
    return strength_by_weights @ weight_covariance @ strength_by_weights.T


def _describe_unknown_scale(what_lacks: str) -> str:
    """Return the error message for hard verdicts with an unknown beta, and how to get one.

    `what_lacks` is a clause on what the battles lack (`_describe_lack_for_beta`).
    """
    items = CHECKS["items of beta"].threshold
    models = models_needed(CALIBRATION_LEVEL)
    return (
        "nothing gives beta, the logits of human preference per unit of margin "
        f"({what_lacks}). `podium calibrate` finds it from human labels on {items:g} items or "
        f"more, and conformal bounds from {models} labelled models on; "
        "`podium rank --ranker soft-elo --calibration FILE` uses them"
    )


def _describe_missing_target(kind: Kind) -> str:
    """Return the error message for a target that neither options nor labels determine.

    `kind` is the target. The message ends with a list of what would help.
    """
    problem = f"the weights of the target {kind} are unknown"
    option = ""
    if kind == "margin":
        problem = (
            "beta, the logits of preference per unit of the judge's margin, is unknown, and is "
            "never guessed"
        )
        option = f", or {option_text('beta', 'NUMBER', 'setting')}"
    elif kind == "smoothing":
        problem = "the constant of label smoothing is unknown"
        option = f", or {option_text('constant', '0.75', 'setting')}"
    return (
        f"{problem}. What would help: a column `human` in the battles (or "
        f"{option_text('human_judge', 'NAME')}), a file made by `podium calibrate` "
        f"({option_text('calibration', 'FILE')}){option}"
    )


def _hard_elo(
    battles: Battles, models: tuple[str, ...], soft_score: np.ndarray, regularization: float
) -> np.ndarray:
    """Return Elo scores by hard verdicts, shifted so that their mean is the mean of `soft_score`.

    All scores are NaN if the hard verdicts do not identify ratings.

    Args:
        battles: the battles.
        models: names of the models with soft credits.
        soft_score: their Elo scores by soft credits, shape (models,).
        regularization: lambda.

    Returns:
        Scores in the order of `models`, shape (models,).
    """
    coded = code_battles(battles, labels="hard")
    try:
        theta = fit_battles(coded, regularization).theta
    except NotIdentifiedError:
        return np.full(len(models), np.nan)
    codes = [coded.models.index(name) for name in models]
    scores = POINTS * theta[codes]
    return scores - scores.mean() + soft_score.mean()
