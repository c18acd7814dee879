"""Calibrate a judge on human-labelled battles: leave one model out, conformal scores, agreement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from podium.errors import NotIdentifiedError, UsageError
from podium.nouns.battles import Battles
from podium.nouns.calibration import SMALLEST_SE, Accuracy, AnchorStrengths, Calibration, HeldOut
from podium.nouns.human_labels import ties_of
from podium.nouns.ranking import provenance
from podium.rankers.calibration import conformal
from podium.rankers.calibration.accuracy import accuracy_of, mean_absolute_error
from podium.rankers.calibration.agreement import Agreement, measure_agreement
from podium.rankers.calibration.bounds import prompt_hashes
from podium.rankers.calibration.choice import Choice, Contender, choice_of
from podium.rankers.calibration.disagreement import answer_of, scale_doubts
from podium.rankers.calibration.evidence import Evidence, calibratable, evidence_of, stability_of
from podium.rankers.calibration.held_out import held_out_models, rate_held_out, scale_correction_models
from podium.rankers.calibration.jury import jury_battles
from podium.rankers.calibration.leave_one_out import HeldOutScale, fold_weights
from podium.rankers.calibration.placement import ErrorMethod
from podium.rankers.calibration.signals import RIDGE, Kind, signal_of, usual_kind
from podium.rankers.calibration.targets import doubts, few_items_doubt, fit_target, given_target, log_loss, weights_for
from podium.rankers.coded import Cluster, require_choice
from podium.rankers.defaults import REGULARIZATION
from podium.rankers.human_label_fit import human_label_fit
from podium.rankers.intervals import check_level
from podium.rankers.strengths import check_regularization
from podium.reading.models import About, about_models
from podium.text import some

FEWEST_RESAMPLES = 20
BOTH = ("hard", "soft")
COMPARED: tuple[tuple[Kind, float | None], ...] = (
    ("margin", None),
    ("criteria", None),
    ("length", None),
    ("smoothing", None),
    *(("smoothing", constant) for constant in (0.55, 0.65, 0.75, 0.85, 0.95)),
)
"""Targets that `compare` sets side by side; the constants are those of Soft-Elo's Table 8."""


def calibrate(
    battles: Battles,
    *,
    level: float = 0.9,
    splits: int = 5,
    bootstrap: int | None = None,
    seed: int = 0,
    target: Kind | None = None,
    constant: float | None = None,
    ridge: float = RIDGE,
    cluster: Cluster = "item",
    regularization: float = REGULARIZATION,
    models: About = None,
    scale_correction: bool = True,
) -> Calibration:
    """Calibrate a judge: fit its temperature, and learn how far its ratings stray from human ones.

    Args:
        battles: of one judge, with human labels.
        level: of the conformal intervals, and of the interval of beta, in (0, 1).
        splits: random half splits that tell coverage and width.
        bootstrap: resamples behind every standard error of the judge, at least 20; by default errors are analytic
            (sandwich), as those of humans always are: both agree, and resampling human labels would take half as long
            again.
        seed: of resamples and splits.
        target: the signal that is softened; by default `margin`, or `credit` where there are soft credits only.
        constant: of target `smoothing`, instead of fitting it.
        ridge: of target `criteria`.
        cluster: what is independent within a model's battles: `item` (all battles of an item together), or `row`
            (the paper's; the same where no item comes twice).
        regularization: lambda.
        models: a table with a column `model` and whatever is known of each: family, date.
        scale_correction: bring the judge's ratings to human scale, by a factor that the other models tell, and
            measure residuals in all errors that are known; without it, ratings and scores are the paper's.

    Raises:
        NotIdentifiedError: several judges, no human labels, no signal, too few models, groups that never met.
        UsageError: an option's value is impossible.

    Source: Soft-Elo (Kargi and Salinas 2026), Algorithm 1 and section 3.3.
    """
    _check_options(level, cluster, splits, bootstrap, regularization)
    battles = jury_battles(battles) if target == "jury" else battles
    _require_labels(battles)
    about = about_models(models)
    kind = target or ("smoothing" if constant is not None else usual_kind(battles))
    evidence = calibratable(evidence_of(battles, signal_of(battles, kind, ridge, verdicts=True), cluster))
    given = given_target(kind, None, constant)
    fitted = given or fit_target(evidence, level)
    # A given map is the same for all folds.
    pooled, size = weights_for(fitted, evidence.signal), len(evidence.models)
    weights = np.tile(pooled, (size, 1)) if given else fold_weights(evidence)
    method = ErrorMethod(bootstrap or 0, seed)
    scales = rate_held_out(evidence, fitted, weights, regularization, method)
    plain = held_out_models(evidence, scales, weights, about)
    brought, factors = scale_correction_models(plain, scales)
    held, scale_corrections = (brought, factors) if scale_correction else (plain, {})
    agreement = asdict(measure_agreement(evidence, evidence.soft(pooled)))
    agreement["bins"] = list(agreement["bins"])
    loss = log_loss(evidence, weights) if kind != "credit" and evidence.preference.any() else None
    anchors = [scale.anchors.tolist() for scale in scales.values()]
    warnings, few = _warnings(battles, evidence, scales, held, level), [] if given else few_items_doubt(evidence)
    of_scale = scale_doubts(held, factors, level, scale_corrected=scale_correction)
    calibration = Calibration(
        judge=next(iter(battles.judges), None),
        target=fitted,
        regularization=regularization,
        se_method=str(method),
        se_cluster=evidence.unit,
        seed=seed,
        accuracy=_accuracy_by_kind(held, plain, level, loss),
        models=held,
        anchors=tuple(AnchorStrengths(*row) for row in zip(evidence.models, *anchors, strict=True)),
        conformal={
            name: conformal.conformal_of(held, name, scale_corrections.get(name), level, splits, seed) for name in BOTH
        },
        agreement=agreement,
        stability=() if given else tuple(stability_of(evidence, np.random.default_rng(seed))),
        warnings=(*warnings, *of_scale, *few, *doubts(fitted, agreement)),
        provenance=_provenance(battles, evidence, level, splits, ridge, constant),
        scale_correction=scale_corrections,
        tells_nothing="soft" not in factors,
    )
    return replace(calibration, answer=answer_of(calibration))


def _check_options(level: float, cluster: str, splits: int, bootstrap: int | None, regularization: float) -> None:
    """Validate the options of `calibrate`."""
    check_level(level)
    require_choice("cluster", cluster, ("item", "row"))
    if splits < 1:
        raise UsageError(f"splits={splits}: at least one half split is needed; 5 are usual")
    if bootstrap is not None and bootstrap < FEWEST_RESAMPLES:
        raise UsageError(f"bootstrap={bootstrap} is too few; at least {FEWEST_RESAMPLES} resamples, 200 are usual")
    check_regularization(regularization)


def _accuracy_by_kind(
    held: Sequence[HeldOut], plain: Sequence[HeldOut], level: float, loss: float | None
) -> dict[str, Accuracy]:
    """Return the accuracy of hard and soft ratings, with that before the scale correction; the loss is the
    soft ones'.
    """
    errors = {kind: mean_absolute_error(plain, kind) for kind in BOTH}
    accuracy = {kind: replace(accuracy_of(held, kind, level), plain_mae=error) for kind, error in errors.items()}
    return accuracy | {"soft": replace(accuracy["soft"], log_loss=loss)}


def compare(battles: Battles, *, tell: Callable[[str], None] = lambda _: None, **options: Any) -> list[Calibration]:
    """Calibrate by every target that the battles allow.

    Args:
        battles: of one judge, with human labels.
        tell: called with the reason of each target that cannot be.
        **options: of `calibrate`, other than `target` and `constant`.
    """
    if len(battles.judges) > 1:
        alone = [calibrate(battles.where("judge", name), **options) for name in battles.judges]
        return [calibrate(battles, target="jury", **options), *alone]
    calibrations = []
    credits: tuple[tuple[Kind, float | None], ...] = (("credit", None),) if usual_kind(battles) == "credit" else ()
    for kind, constant in (*credits, *COMPARED):
        try:
            calibrations.append(calibrate(battles, target=kind, constant=constant, **options))
        except NotIdentifiedError as error:
            tell(f"{kind}: {error}")
    return calibrations


def differences_from_best(targets: Sequence[Calibration]) -> Choice:
    """Name the ratings that err least, what each other errs and orders beyond them, and what the choice itself costs.

    Ratings are all that the calibrations can give: hard and soft, as they are and scale-corrected.

    Args:
        targets: as `compare` gives them, at least one.
    """
    contenders = []
    for kind, calibrations in (("hard", targets[:1]), ("soft", targets)):
        for calibration in calibrations:
            plain = tuple(model.without_scale_correction() for model in calibration.models)
            contenders.append(Contender(calibration, kind, plain, None))
            if kind in calibration.scale_correction:
                contenders.append(Contender(calibration, kind, calibration.models, calibration.scale_correction[kind]))
    return choice_of(contenders, targets[0].conformal["soft"].level)


def judge_agreement(battles: Battles, target: Kind | None = None) -> Agreement:
    """Compare a judge with humans battle by battle, or a jury by its mean verdict; needs no margins.

    Raises:
        NotIdentifiedError: several judges, or no human labels.
    """
    battles = jury_battles(battles) if target == "jury" else battles
    _require_labels(battles)
    return measure_agreement(evidence_of(battles, signal_of(battles, "smoothing")))


def _require_labels(battles: Battles) -> None:
    """Refuse verdicts of several judges, as each has its own scale, and battles without human labels."""
    if len(battles.judges) > 1:
        raise NotIdentifiedError(
            f"verdicts of {len(battles.judges)} judges in one table ({some(battles.judges, most=10)}): calibrate one "
            "at a time, with --where judge=NAME, or all as a --target jury"
        )
    if "human" not in battles.table or battles.table["human"].isna().all():
        raise NotIdentifiedError(
            "no human labels: calibration compares the judge with humans. Give a column `human` (what model_a earned "
            "from them), or name one judge's rows as theirs with --human-judge"
        )


def _strangers(battles: Battles) -> list[str]:
    """Name the models of labels that no verdict knows."""
    labels = human_label_fit(battles, battles.models) if battles.votes else None
    return [labels.left_out_doubt()] if labels and labels.left_out else []


def _warnings(
    battles: Battles, evidence: Evidence, scales: Mapping[str, HeldOutScale], held: Sequence[HeldOut], level: float
) -> list[str]:
    """Return the warnings of a calibration: few labels, models that could not be held out, and the like."""
    readable, hard, needed = int(battles.readable.sum()), scales["hard"], conformal.models_needed(level)
    lost = readable - int(signal_of(battles, evidence.signal.kind, verdicts=True).is_known.sum())
    blamed = {"hard"} if hard.unbounded.any() else set()
    scored = sum(model.score("soft") is not None for model in held)
    stands_in = held[0].soft_scale_correction is not None and scored >= conformal.FEWEST_FOR_T
    instead = "the interval is by t, which assumes normal disagreement" if stands_in else "so it is infinite"
    short = scored < needed
    concerned: dict[str, Sequence[str] | bool] = {
        "not calibrated, for lack of human labels, verdicts or signals: {}": evidence.dropped,
        "not calibrated, because humans always prefer them, or never: their human rating is unbounded: {}": (
            evidence.unbounded
        ),
        f"{lost:,} of {readable:,} judged battles have no signal: not in the soft fits": lost > 0,
        "cannot be held out, because without them the others never met or their labels give no beta: {}": [
            model.model for model in held if None in (model.human_elo, model.hard_elo, model.soft_elo)
        ],
        "the data do not bound these ratings, the regularization does; they are in no mean and no quantile: {}": [
            f"{model.model} ({', '.join(model.separated)})" for model in held if set(model.separated) - blamed
        ],
        "by its hard labels the judge always prefers these, or never: they leave all hard ratings to the "
        "regularization, and none is compared; soft ratings are not affected: {}": [
            evidence.models[k] for k in np.flatnonzero(hard.unbounded)
        ],
        "resamples of hard ratings without a win or without a loss are left out: {}": [
            f"{evidence.models[k]} ({n})" for k, n in enumerate(hard.lost) if n
        ],
        f"a single {evidence.unit}, or no variation: no standard error and no score for {{}}": [
            model.model for model in held if model.soft_elo is not None and not (model.soft_se or 0.0) > SMALLEST_SE
        ],
        f"{scored} models with a score: a {100 * level:g}% conformal interval needs {needed}, {instead}": short,
    }
    said = [text if names is True else text.format(some(names)) for text, names in concerned.items() if names]
    return [*battles.notes, *_strangers(battles), *said]


def _provenance(
    battles: Battles, evidence: Evidence, level: float, splits: int, ridge: float, constant: float | None
) -> dict[str, Any]:
    """Return sources, options and versions of a calibration."""
    options = {"level": level, "splits": splits, "target": evidence.signal.kind, "constant": constant, "ridge": ridge}
    human = battles.table["human"]
    return provenance(battles.sources, {"reading": dict(battles.reading), **options}) | {
        "date": datetime.now(UTC).date().isoformat(),
        "counts": battles.counts().to_dict(),
        "human": {
            "labelled": int(human.notna().sum()),
            "ties": int(ties_of(battles).sum()),
            "preferences": int(evidence.preference.sum()),
        },
        "prompts": list(prompt_hashes(battles)),
    }
