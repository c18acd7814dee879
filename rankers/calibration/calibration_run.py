"""Calibrate a judge on battles with human labels.

Models are held out one by one. Conformal scores and agreement with humans follow from them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from podium.data.battles import Battles
from podium.data.human_labels import human_ties
from podium.defaults import CALIBRATION_LEVEL, REGULARIZATION
from podium.errors import NotIdentifiedError, UsageError
from podium.notices.notice import Notice
from podium.rankers.calibration.agreement import measure_agreement
from podium.rankers.calibration.calibration import (
    SHOWN_JUDGE,
    SMALLEST_SE,
    Agreement,
    Calibration,
    HeldOut,
    models_needed,
)
from podium.rankers.calibration.conformal import measure_conformal, prompt_hashes
from podium.rankers.calibration.disagreement import calibration_answer, scale_warnings
from podium.rankers.calibration.evidence import (
    Evidence,
    build_evidence,
    measure_stability,
    select_calibratable,
)
from podium.rankers.calibration.held_out import JUDGE_KINDS, HeldOutRun, hold_out_models
from podium.rankers.calibration.human_label_fit import human_label_fit
from podium.rankers.calibration.leave_one_out import HeldOutScale
from podium.rankers.calibration.placement import ErrorMethod
from podium.rankers.calibration.signals import RIDGE, Kind, default_kind, read_signal
from podium.rankers.calibration.targets import (
    build_given_target,
    few_items_warnings,
    soften_verdicts,
    weak_signal_warnings,
)
from podium.rankers.errors.intervals import check_level
from podium.rankers.fit.coded import Cluster, require_choice
from podium.rankers.fit.strengths import check_regularization
from podium.rankers.ranking import build_provenance
from podium.wording import some

FEWEST_RESAMPLES = 20
"""Smallest number of bootstrap resamples that is accepted."""


def calibrate(
    battles: Battles,
    *,
    level: float = CALIBRATION_LEVEL,
    splits: int = 5,
    bootstrap: int | None = None,
    seed: int = 0,
    target: Kind | None = None,
    constant: float | None = None,
    ridge: float = RIDGE,
    cluster: Cluster = "item",
    regularization: float = REGULARIZATION,
    scale_correction: bool = True,
) -> Calibration:
    """Fit a judge's temperature, and measure how far its ratings stray from human ratings of
    held-out models.

    Args:
        battles: battles of one judge, with human labels.
        level: confidence level of the conformal intervals and of beta's interval, in (0, 1).
        splits: number of random half splits that measure coverage and width.
        bootstrap: number of resamples for every standard error of the judge's ratings, at least
            20. By default, these errors are analytic (sandwich), as those of human ratings always
            are.
        seed: seed of the half splits, of the bootstrap, and of the subsets that measure the
            stability of beta.
        target: the signal that is softened. The default is `smoothing` if there is a `constant`;
            else `credit` if there are no margins and at least 10% of the credits are
            probabilities; else `margin`.
        constant: credit of a win under target `smoothing`, in (0.5, 1), instead of fitting it.
        ridge: strength of the penalty that pulls the weights of target `criteria` to their mean, at
            least 0.
        cluster: what is independent within a model's battles: `item` (all battles of an item
            together), or `row` (as in the paper; the same if each item has one battle).
        regularization: lambda of all ratings, at least 0.
        scale_correction: bring the judge's ratings to human scale by a factor estimated from the
            other models, and divide residuals by all known errors. Without it, ratings and scores
            are those of the paper.

    Raises:
        UnknownScaleError: the labels do not bound the map from signal to human preferences.
        NotIdentifiedError: several judges, no human labels, no signal, too few models, groups that
            never met, or beta is not above 0.
        NotConvergedError: a fit did not reach its maximum.
        UsageError: an option's value is impossible.

    Source: Soft-Elo (Kargi and Salinas 2026), Algorithm 1 and section 3.3.
    """
    _check_options(level, cluster, splits, bootstrap, regularization)
    _require_labels(battles)
    kind = target
    if not kind:
        kind = "smoothing" if constant is not None else default_kind(battles)
    signal = read_signal(battles, kind, ridge, credits_as_margins=True)
    evidence = select_calibratable(build_evidence(battles, signal, cluster))
    method = ErrorMethod(bootstrap or 0, seed)
    given_target = build_given_target(kind, beta=None, constant=constant)
    run = hold_out_models(evidence, given_target, level, regularization, method)
    calibration = _build_calibration(
        battles, run, method, level, splits, regularization, scale_correction=scale_correction
    )
    provenance = _calibration_provenance(battles, evidence, level, splits, ridge, constant)
    warnings = _calibration_warnings(
        battles, run, calibration, level, scale_corrected=scale_correction
    )
    answer = calibration_answer(calibration)
    return replace(calibration, provenance=provenance, answer=answer, warnings=warnings)


def _build_calibration(
    battles: Battles,
    run: HeldOutRun,
    method: ErrorMethod,
    level: float,
    splits: int,
    regularization: float,
    *,
    scale_correction: bool,
) -> Calibration:
    """Return the calibration of a run; provenance, answer and warnings are added later.

    Args:
        battles: the battles of one judge.
        run: the held-out ratings and their scale corrections.
        method: how standard errors are estimated, with the seed.
        level: confidence level.
        splits: number of half splits by which the coverage is measured.
        regularization: lambda of the fits.
        scale_correction: whether the ratings are corrected in scale.
    """
    evidence = run.evidence
    seed = method.seed
    held_out_models = run.corrected if scale_correction else run.plain
    corrections = run.corrections if scale_correction else {}
    conformal = {}
    for kind in JUDGE_KINDS:
        conformal[kind] = measure_conformal(
            held_out_models, kind, corrections.get(kind), level, splits, seed
        )
    stability: tuple[Any, ...] = ()
    if run.target.battles:
        stability = tuple(measure_stability(evidence, np.random.default_rng(seed)))
    return Calibration(
        judge=next(iter(battles.judges), None),
        target=run.target,
        regularization=regularization,
        se_method=str(method),
        se_cluster=evidence.unit,
        seed=seed,
        accuracy=run.accuracy(held_out_models, level),
        models=held_out_models,
        anchors=run.anchors(),
        conformal=conformal,
        agreement=measure_agreement(evidence, soften_verdicts(run.target, evidence.signal)),
        stability=stability,
        scale_correction=corrections,
        is_uninformative=("soft" not in run.corrections),
    )


def _check_options(
    level: float, cluster: str, splits: int, bootstrap: int | None, regularization: float
) -> None:
    """Raise UsageError for the first option that is out of its range, in the order of the
    options.
    """
    check_level(level)
    require_choice("cluster", cluster, ("item", "row"))
    if splits < 1:
        raise UsageError(f"splits={splits}: at least one half split is needed; 5 are usual")
    if bootstrap is not None and bootstrap < FEWEST_RESAMPLES:
        raise UsageError(
            f"bootstrap={bootstrap} is too few; at least {FEWEST_RESAMPLES} resamples, 200 are "
            "usual"
        )
    check_regularization(regularization)


def calibrate_targets(
    battles: Battles, *, tell: Callable[[str], None] | None = None, **options: Any
) -> list[Calibration]:
    """Return a calibration by every target that the battles allow.

    The targets are, in this order, `credit` if it is the default, `margin`, `criteria`, and
    `smoothing` with a fitted constant and with five given constants. A target is left out if it
    raises NotIdentifiedError. The list is empty if all targets do.

    Args:
        battles: battles of one judge, with human labels.
        tell: function that is called with a sentence for each target that is left out; None for
            none.
        **options: options of `calibrate`, except `target` and `constant`.

    Raises:
        NotConvergedError, UsageError: as of `calibrate`, for any target.
    """
    calibrations = []
    targets: list[tuple[Kind, float | None]] = []
    if default_kind(battles) == "credit":
        targets.append(("credit", None))
    targets += [("margin", None), ("criteria", None), ("smoothing", None)]
    # The constants of Soft-Elo's Table 8.
    targets += [("smoothing", constant) for constant in (0.55, 0.65, 0.75, 0.85, 0.95)]
    for kind, constant in targets:
        try:
            calibrations.append(calibrate(battles, target=kind, constant=constant, **options))
        except NotIdentifiedError as error:
            if tell is not None:
                tell(f"{kind}: {error}")
    return calibrations


def judge_agreement(battles: Battles) -> Agreement:
    """Return how a judge's verdicts agree with human labels; the battles need no margins.

    The result has no bins and no `ece`.

    Raises:
        NotIdentifiedError: several judges, no human labels, or no readable battle.
    """
    _require_labels(battles)
    return measure_agreement(build_evidence(battles, read_signal(battles, "smoothing")))


def _require_labels(battles: Battles) -> None:
    """Raise NotIdentifiedError if there are verdicts of several judges, or no human labels.

    Judges are not calibrated together because each has a scale of its own.
    """
    if len(battles.judges) > 1:
        raise NotIdentifiedError(
            f"verdicts of {len(battles.judges)} judges in one table "
            f"({some(battles.judges, most=10)}): calibrate one at a time, with --where judge=NAME"
        )
    if "human" not in battles.table or battles.table["human"].isna().all():
        raise NotIdentifiedError(
            "no human labels: calibration compares the judge with humans. Give a column `human` "
            "(what model_a earned from them), or name one judge's rows as theirs with "
            "--human-judge"
        )


def _calibration_warnings(
    battles: Battles,
    run: HeldOutRun,
    calibration: Calibration,
    level: float,
    *,
    scale_corrected: bool,
) -> tuple[Notice, ...]:
    """Return all warnings of a calibration; warnings about the battles come first.

    Args:
        battles: the battles of one judge.
        run: the held-out ratings and their scale corrections.
        calibration: the calibration by the run.
        level: confidence level.
        scale_corrected: whether the ratings of the calibration are corrected in scale.
    """
    held_out_models = calibration.models
    warnings = [*battles.notes]
    if battles.votes:
        labels = human_label_fit(battles, battles.models)
        if labels.left_out:
            warnings.append(labels.left_out_warning())
    if battles.has_weights:
        warnings.append(Notice("agreement-unweighted"))
    warnings += _data_warnings(battles, run.evidence, run.scales["hard"], held_out_models)
    models_with_score = sum(model.score("soft") is not None for model in held_out_models)
    needed = models_needed(level)
    if models_with_score < needed:
        has_interval_by_t = calibration.conformal["soft"].t is not None
        code = "few-models-by-t" if has_interval_by_t else "few-models"
        fields = {"models": models_with_score, "percent": 100 * level, "needed": needed}
        warnings.append(Notice(code, fields))
    warnings += scale_warnings(
        held_out_models, run.corrections, level, scale_corrected=scale_corrected
    )
    if run.target.battles:
        warnings += few_items_warnings(run.evidence)
    warnings += weak_signal_warnings(run.target, calibration.agreement)
    return tuple(warnings)


def _data_warnings(
    battles: Battles, evidence: Evidence, hard: HeldOutScale, held_out_models: Sequence[HeldOut]
) -> list[Notice]:
    """Return warnings about models and battles that the calibration leaves out, partly or wholly.

    Each warning names its models; a warning without models is left out. `hard` has the held-out
    ratings by hard verdicts, and `held_out_models` the models that are held out.
    """
    judged_battles = int(battles.readable.sum())
    signal = read_signal(battles, evidence.signal.kind, credits_as_margins=True)
    without_signal = judged_battles - int(signal.is_known.sum())
    models_by_code: dict[str, Sequence[str]] = {
        "not-calibrated": evidence.dropped,
        "human-rating-unbounded": evidence.unbounded,
        **_names_of_incomplete(held_out_models, has_unbounded_hard=bool(hard.unbounded.any())),
        "hard-ratings-unbounded": [evidence.models[k] for k in np.flatnonzero(hard.unbounded)],
        "hard-resamples-left-out": [
            f"{evidence.models[k]} ({n})" for k, n in enumerate(hard.lost_resamples) if n
        ],
        "held-out-without-error": [model.model for model in held_out_models if _lacks_error(model)],
    }
    warnings = [
        Notice(code, {"models": list(names), "unit": evidence.unit})
        for code, names in models_by_code.items()
        if names
    ]
    if without_signal:
        warnings.append(
            Notice("no-signal-calibrated", {"lost": without_signal, "judged": judged_battles})
        )
    return warnings


def _names_of_incomplete(
    held_out_models: Sequence[HeldOut], *, has_unbounded_hard: bool
) -> dict[str, Sequence[str]]:
    """Return the models with unknown or unbounded ratings, by the code of their warning.

    `not-held-out` has the names of the models with an unknown rating. `held-out-unbounded` has the
    names of those with an unbounded one, each followed by the kinds of these ratings, as in
    `m1 (hard, soft)`. A list may be empty.

    If hard verdicts do not bound even the joint ratings (`has_unbounded_hard`), another warning
    says so. A model of which only the hard rating is unbounded is then left out here.
    """
    kinds_of_other_warning = {"hard"} if has_unbounded_hard else set()
    not_held_out = []
    unbounded = []
    for model in held_out_models:
        if None in (model.human_elo, model.hard_elo, model.soft_elo):
            not_held_out.append(model.model)
        if set(model.separated) - kinds_of_other_warning:
            unbounded.append(f"{model.model} ({', '.join(model.separated)})")
    return {"not-held-out": not_held_out, "held-out-unbounded": unbounded}


def _lacks_error(model: HeldOut) -> bool:
    """Return whether a model has a soft rating whose standard error is unknown or zero.

    Up to `SMALLEST_SE`, a standard error counts as zero. The result is False without a soft rating.
    """
    has_error = model.soft_se is not None and model.soft_se > SMALLEST_SE
    return model.soft_elo is not None and not has_error


def _calibration_provenance(
    battles: Battles,
    evidence: Evidence,
    level: float,
    splits: int,
    ridge: float,
    constant: float | None,
) -> dict[str, Any]:
    """Return the provenance of a calibration, for the JSON.

    The keys are `shown_judge` (the short name of the judge, if the battles name one), those of
    `build_provenance`, `date` (of today, in UTC), `counts`, `human` (numbers of labelled battles,
    of ties and of preferences) and `prompts` (hashes).
    """
    options = {
        "level": level,
        "splits": splits,
        "target": evidence.signal.kind,
        "constant": constant,
        "ridge": ridge,
    }
    label_counts = {
        "labelled": int(battles.table["human"].notna().sum()),
        "ties": int(human_ties(battles).sum()),
        "preferences": int(evidence.has_preference.sum()),
    }
    reading = {"reading": dict(battles.reading)}
    judge = next(iter(battles.judges), None)
    judge_entry = {} if judge is None else {SHOWN_JUDGE: battles.short_judges[judge]}
    return {
        **judge_entry,
        **build_provenance(battles.sources, {**reading, **options}),
        "date": datetime.now(UTC).date().isoformat(),
        "counts": battles.counts().to_dict(),
        "human": label_counts,
        "prompts": list(prompt_hashes(battles)),
    }
