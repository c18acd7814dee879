"""Calibrate a judge on human-labelled battles: leave one entrant out, conformal scores, agreement."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from podium.battles import Battles
from podium.calibration import SMALLEST_SE, AnchorStrengths, Calibration, Conformal, HeldOut, Stability, Target
from podium.errors import NotConvergedError, NotIdentifiedError, UsageError
from podium.rankers.calibration import conformal
from podium.rankers.calibration.accuracy import Difference, accuracy_of, difference_of
from podium.rankers.calibration.agreement import Agreement, agreement_of
from podium.rankers.calibration.bounds import prompt_hashes
from podium.rankers.calibration.evidence import Evidence, calibratable, evidence_of
from podium.rankers.calibration.leave_one_out import HeldOutScale, fold_weights, leave_one_out
from podium.rankers.calibration.placement import ErrorMethod
from podium.rankers.calibration.signals import RIDGE, Kind, signal_of, slope, usual_kind
from podium.rankers.calibration.targets import doubts, few_items_doubt, fit_target, given_target, log_loss, weights_for
from podium.rankers.coded import Cluster, require_choice
from podium.rankers.defaults import REGULARIZATION
from podium.rankers.intervals import check_level, finite_or_none
from podium.rankers.strengths import check_regularization
from podium.ranking import provenance
from podium.reading.entrants import About, about_entrants
from podium.text import some

FEWEST_RESAMPLES = 20
STABILITY_SIZES = (25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12800)
STABILITY_DRAWS = 20
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
    entrants: About = None,
) -> Calibration:
    """Calibrate a judge: fit its temperature, and learn how far its ratings stray from human ones.

    Args:
        battles: of one judge, with human labels.
        level: of the conformal intervals, and of the interval of beta, in (0, 1).
        splits: random half splits that tell coverage and width.
        bootstrap: resamples behind every standard error, at least 20; by default errors are analytic (sandwich).
        seed: of resamples and splits.
        target: the signal that is softened; by default `margin`, or `credit` where there are soft credits only.
        constant: of target `smoothing`, instead of fitting it.
        ridge: of target `criteria`.
        cluster: what is independent within an entrant's battles: `item` (all battles of an item together), or `row`
            (the paper's; the same where no item comes twice).
        regularization: lambda.
        entrants: a table with a column `model` and whatever is known of each: family, date.

    Raises:
        NotIdentifiedError: several judges, no human labels, no signal, too few entrants, groups that never met.
        UsageError: an option's value is impossible.

    Source: Soft-Elo (Kargi and Salinas 2026), Algorithm 1 and section 3.3.
    """
    _check_options(level, splits, bootstrap, regularization, cluster)
    _require_labels(battles)
    about = about_entrants(entrants)
    kind = target or ("smoothing" if constant is not None else usual_kind(battles))
    evidence = calibratable(evidence_of(battles, signal_of(battles, kind, ridge), cluster))
    given = given_target(kind, None, constant)
    fitted = given or fit_target(evidence, level)
    # A given map is the same for all folds.
    weights = (
        np.tile(weights_for(fitted, evidence.signal), (len(evidence.entrants), 1)) if given else fold_weights(evidence)
    )
    method = ErrorMethod(bootstrap or 0, seed)
    scales = _scales(evidence, fitted, weights, regularization, method)
    held = _held_out(evidence, scales, weights, about)
    agreement = asdict(agreement_of(evidence, evidence.soft(weights_for(fitted, evidence.signal))))
    agreement["bins"] = list(agreement["bins"])
    accuracy = {name: accuracy_of(held, name, level) for name in ("hard", "soft")}
    loss = log_loss(evidence, weights) if kind != "credit" and evidence.preference.any() else None
    return Calibration(
        judge=next(iter(battles.judges), None),
        target=fitted,
        regularization=regularization,
        se_method=str(method),
        se_cluster=evidence.unit,
        seed=seed,
        accuracy=accuracy | {"soft": replace(accuracy["soft"], log_loss=loss)},
        entrants=held,
        anchors=tuple(
            AnchorStrengths(name, *(float(scale.anchors[k]) for scale in scales.values()))
            for k, name in enumerate(evidence.entrants)
        ),
        conformal={name: _conformal(held, name, level, splits, seed) for name in ("hard", "soft")},
        agreement=agreement,
        stability=() if given else tuple(_stability(evidence, np.random.default_rng(seed))),
        warnings=(
            *battles.notes,
            *_warnings(battles, evidence, scales, held, level),
            *([] if given else few_items_doubt(evidence)),
            *doubts(fitted, agreement),
        ),
        provenance=_provenance(battles, evidence, level, splits, ridge, constant),
    )


def compare(battles: Battles, *, tell: Callable[[str], None] = lambda _: None, **options: Any) -> list[Calibration]:
    """Calibrate by every target that the battles allow.

    Args:
        battles: of one judge, with human labels.
        tell: called with the reason of each target that cannot be.
        **options: of `calibrate`, other than `target` and `constant`.
    """
    calibrations = []
    credits: tuple[tuple[Kind, float | None], ...] = (("credit", None),) if usual_kind(battles) == "credit" else ()
    for kind, constant in (*credits, *COMPARED):
        try:
            calibrations.append(calibrate(battles, target=kind, constant=constant, **options))
        except NotIdentifiedError as error:
            tell(f"{kind}: {error}")
    return calibrations


def differences_from_best(targets: Sequence[Calibration]) -> tuple[Calibration, list[tuple[Calibration, Difference]]]:
    """Return the calibration whose soft ratings err least, and what each other one errs and orders beyond it.

    Args:
        targets: as `compare` gives them, at least one.
    """
    best = min(targets, key=lambda target: np.inf if (mae := target.accuracy["soft"].mae) is None else mae)
    level = best.conformal["soft"].level
    others = [target for target in targets if target is not best]
    return best, [(target, difference_of(target.entrants, best.entrants, level)) for target in others]


def judge_agreement(battles: Battles) -> Agreement:
    """Compare a judge with people battle by battle; needs no margins.

    Raises:
        NotIdentifiedError: several judges, or no human labels.
    """
    _require_labels(battles)
    return agreement_of(evidence_of(battles, signal_of(battles, "smoothing")))


def _check_options(level: float, splits: int, bootstrap: int | None, regularization: float, cluster: str) -> None:
    check_level(level)
    require_choice("cluster", cluster, ("item", "row"))
    if splits < 1:
        raise UsageError(f"splits={splits}: at least one half split is needed; 5 are usual")
    if bootstrap is not None and bootstrap < FEWEST_RESAMPLES:
        raise UsageError(f"bootstrap={bootstrap} is too few; at least {FEWEST_RESAMPLES} resamples, 200 are usual")
    check_regularization(regularization)


def _require_labels(battles: Battles) -> None:
    """Refuse verdicts of several judges, as each has its own scale, and battles without human labels."""
    if len(battles.judges) > 1:
        raise NotIdentifiedError(
            f"verdicts of {len(battles.judges)} judges in one table ({some(battles.judges, most=10)}): calibrate one "
            "at a time, with --where judge=NAME"
        )
    if "human" not in battles.table or battles.table["human"].isna().all():
        raise NotIdentifiedError(
            "no human labels: calibration compares the judge with people. Give a column `human` (what model_a earned "
            "from them), or name one judge's rows as theirs with --human-judge"
        )


def _scales(
    evidence: Evidence, target: Target, weights: np.ndarray, regularization: float, method: ErrorMethod
) -> dict[str, HeldOutScale]:
    pooled = evidence.soft(weights_for(target, evidence.signal))
    return {
        "human": leave_one_out(evidence, evidence.human, lambda _: evidence.human, regularization, None, "human"),
        "hard": leave_one_out(evidence, evidence.hard, lambda _: evidence.hard, regularization, method, "hard"),
        "soft": leave_one_out(evidence, pooled, lambda k: evidence.soft(weights[k]), regularization, method, "soft"),
    }


def _held_out(
    evidence: Evidence, scales: Mapping[str, HeldOutScale], weights: np.ndarray, about: Mapping[str, Mapping[str, Any]]
) -> tuple[HeldOut, ...]:
    return tuple(
        HeldOut(
            model=name,
            **{f"{kind}_elo": finite_or_none(scale.elo[k]) for kind, scale in scales.items()},
            **{f"{kind}_se": finite_or_none(scales[kind].se[k]) for kind in ("hard", "soft")},
            battles=int(scales["soft"].battles[k]),
            # None where the labels of the others gave no map.
            weights={}
            if np.isnan(weights[k]).any()
            else dict(zip(evidence.signal.names, weights[k].tolist(), strict=True)),
            separated=tuple(kind for kind, scale in scales.items() if scale.separated[k]),
            about=about.get(name, {}),
        )
        for k, name in enumerate(evidence.entrants)
    )


def _conformal(held: Sequence[HeldOut], kind: str, level: float, splits: int, seed: int) -> Conformal:
    """Take the quantile, and try it on half splits, the same ones for every kind."""
    known = [entrant for entrant in held if entrant.score(kind) is not None]
    residual = np.array([entrant.residual(kind) for entrant in known], dtype=np.float64)
    se = np.array([entrant.se(kind) for entrant in known], dtype=np.float64)
    tried = conformal.half_splits(residual, se, level, splits, np.random.default_rng(seed))
    alone = None if tried else conformal.leave_one_score_out(residual, se, level)
    return Conformal(
        level=level,
        n=len(known),
        q=finite_or_none(conformal.quantile(np.abs(residual) / se, level)),
        needed=conformal.entrants_needed(level),
        coverage=float(tried.coverage.mean()) if tried else None,
        median_width=float(tried.width.mean()) if tried else None,
        splits=splits,
        coverage_range=(float(tried.coverage.min()), float(tried.coverage.max())) if tried else None,
        width_range=(float(tried.width.min()), float(tried.width.max())) if tried else None,
        median_se=float(np.median(se)) if len(se) else None,
        loo_coverage=alone[0] if alone else None,
        loo_width=alone[1] if alone else None,
    )


def _stability(evidence: Evidence, rng: np.random.Generator) -> list[Stability]:
    """Fit beta to random subsets of the human preferences, of growing size."""
    rows, stability = np.flatnonzero(evidence.preference), []
    for size in (size for size in STABILITY_SIZES if size < len(rows)):
        betas = []
        for _ in range(STABILITY_DRAWS):
            keep = np.zeros(len(evidence.low), dtype=bool)
            keep[rng.choice(rows, size, replace=False)] = True
            with suppress(NotIdentifiedError, NotConvergedError):
                weights = evidence.weights(keep)
                betas.append(float(slope(evidence.signal.kind, weights) @ weights))
        mean = sd = None
        if len(betas) > 1:
            # Without replacement, large subsets share most battles: the finite population correction undoes it.
            mean, sd = float(np.mean(betas)), float(np.std(betas, ddof=1) / np.sqrt(1 - size / len(rows)))
        stability.append(Stability(size, mean, sd, len(betas), STABILITY_DRAWS - len(betas)))
    return stability


def _warnings(
    battles: Battles, evidence: Evidence, scales: Mapping[str, HeldOutScale], held: Sequence[HeldOut], level: float
) -> list[str]:
    readable, hard, needed = int(battles.readable.sum()), scales["hard"], conformal.entrants_needed(level)
    lost = readable - int(signal_of(battles, evidence.signal.kind).is_known.sum())
    blamed = {"hard"} if hard.unbounded.any() else set()
    scored = sum(entrant.score("soft") is not None for entrant in held)
    short = scored < needed
    concerned: dict[str, Sequence[str] | bool] = {
        "not calibrated, for lack of human labels, verdicts or signals: {}": evidence.dropped,
        "not calibrated, because people always prefer them, or never: their human rating is unbounded: {}": (
            evidence.unbounded
        ),
        f"{lost:,} of {readable:,} judged battles have no signal: not in the soft fits": lost > 0,
        "cannot be held out, because without them the others never met or their labels give no beta: {}": [
            entrant.model for entrant in held if None in (entrant.human_elo, entrant.hard_elo, entrant.soft_elo)
        ],
        "the data do not bound these ratings, the regularization does; they are in no mean and no quantile: {}": [
            f"{entrant.model} ({', '.join(entrant.separated)})" for entrant in held if set(entrant.separated) - blamed
        ],
        "by its hard labels the judge always prefers these, or never: they leave all hard ratings to the "
        "regularization, and none is compared; soft ratings are not affected: {}": [
            evidence.entrants[k] for k in np.flatnonzero(hard.unbounded)
        ],
        "resamples of hard ratings without a win or without a loss are left out: {}": [
            f"{evidence.entrants[k]} ({n})" for k, n in enumerate(hard.lost) if n
        ],
        f"a single {evidence.unit}, or no variation: no standard error and no score for {{}}": [
            entrant.model
            for entrant in held
            if entrant.soft_elo is not None and not (entrant.soft_se or 0.0) > SMALLEST_SE
        ],
        f"{scored} entrants with a score: a {100 * level:g}% conformal interval needs {needed}, "
        "so it is infinite": short,
    }
    return [text if names is True else text.format(some(names)) for text, names in concerned.items() if names]


def _provenance(
    battles: Battles, evidence: Evidence, level: float, splits: int, ridge: float, constant: float | None
) -> dict[str, Any]:
    options = {"level": level, "splits": splits, "target": evidence.signal.kind, "constant": constant, "ridge": ridge}
    human = battles.table["human"]
    return provenance(battles.sources, {"reading": dict(battles.reading), **options}) | {
        "date": datetime.now(UTC).date().isoformat(),
        "counts": battles.counts().to_dict(),
        "human": {
            "labelled": int(human.notna().sum()),
            "ties": int((human == 0.5).sum()),
            "preferences": int(evidence.preference.sum()),
        },
        "prompts": list(prompt_hashes(battles)),
    }
