"""Soft-Elo: Bradley-Terry on calibrated probabilities instead of wins, ties and losses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from podium.errors import NotIdentifiedError, UsageError
from podium.nouns.battles import Battles
from podium.nouns.calibration import Calibration, Target
from podium.nouns.ranking import Standings
from podium.rankers.bradley_terry import estimate_elo, label_strengths
from podium.rankers.calibration.agreement import measure_agreement
from podium.rankers.calibration.bounds import Bounds, mismatch_warnings
from podium.rankers.calibration.disagreement import NOTHING
from podium.rankers.calibration.evidence import build_evidence
from podium.rankers.calibration.signals import Kind, Signal, count_hard_credits, default_kind, read_signal
from podium.rankers.calibration.targets import (
    build_given_target,
    few_items_warnings,
    fit_target,
    order_covariance,
    soften_verdicts,
    weak_signal_warnings,
)
from podium.rankers.cells import pair_sums_with_items
from podium.rankers.coded import Cluster, CodedBattles, code_battles, require_choice
from podium.rankers.defaults import LEVEL, REGULARIZATION
from podium.rankers.identification import bounded_models, fit_battles, fit_identified
from podium.rankers.newcomers import newcomers, place_newcomers
from podium.rankers.newton import DesignMatrix
from podium.rankers.scale import POINTS, elo_scale
from podium.rankers.standings import measure_exposure
from podium.rankers.strengths import Strengths
from podium.text import some

NOBODY_PLACED = (
    "no conformal intervals: nobody whom the calibration does not know has battles against those it knows; all are "
    "rated together, by its beta"
)


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
    center: tuple[str, ...] | None = None,
    calibration: Calibration | None = None,
    whole: Battles | None = None,
) -> Standings:
    """Rank by Bradley-Terry on soft targets sigmoid(beta * margin), in Elo points.

    beta comes from the option, else from the calibration, else from the human labels in the battles; its error is in
    the intervals. Soft credits without margins are targets as they are. With a calibration, models that it does not
    know are placed one by one against those that it knows, on its own axis, scale-corrected to human scale where the
    calibration is, with conformal intervals.

    Args:
        battles: of one judge, with margins (or soft credits).
        level: of intervals and rank sets, in (0, 1).
        rng: draws for rank sets and the bootstrap of placed models.
        target: the signal that is softened: `margin`, `smoothing`, `criteria` or `credit`.
        beta: logits per unit of margin; taken as exact.
        constant: credit of a win under `smoothing`, in (0.5, 1).
        ridge: of `criteria`, towards their mean; 10 by default.
        regularization: lambda, at least 0; 0.01 by default. Placed models take that of the calibration.
        cluster: `item`, or `row` for comparison; placed models take that of the calibration.
        hard: add the Elo of the hard labels beside the soft one.
        pin: `MODEL:1000` shifts all scores; not with placed models.
        conformal_level: by default that of the calibration.
        of: whose rating a newcomer's conformal interval holds: `votes` (human ratings, from about as many votes as the
            calibrated models had) or `human` (with ever more votes).
        center: models whose mean is 1500; by default all whose rating the data bound.
        calibration: of this judge.
        whole: all battles, of which `battles` are a slice: beta is fitted on them.

    Raises:
        NotIdentifiedError: nothing says how to turn verdicts into probabilities, or the battles do not join.
        NotConvergedError: a fit did not reach its maximum.
        UsageError: an impossible option.

    Source: Soft-Elo (Kargi and Salinas 2026), equations 1 and 5; one beta for all slices as in its appendix E.
    """
    require_choice("cluster", cluster, ("item", "row"))
    bounds = Bounds(conformal_level, of)
    chosen = choose_target(whole or battles, calibration, target, beta, constant, ridge, level)
    by_verdicts = chosen[0].kind == "margin" and "verdict" in chosen[0].weights
    signal = read_signal(battles, chosen[0].kind, ridge, verdicts=by_verdicts)  # type: ignore[arg-type]
    soft = SoftCredits(*chosen, signal, soften_verdicts(chosen[0], signal), int(battles.readable.sum()))
    if calibration and newcomers(battles, calibration, soft.credit):
        fixed = {"pin": pin, "regularization": regularization, "cluster": None if cluster == "item" else cluster}
        if named := [name for name, value in fixed.items() if value is not None]:
            raise UsageError(
                f"{' and '.join(named)}: new models are placed on the calibration's axis, with its regularization "
                "and its clusters; leave it out"
            )
        return soft.annotate(place_newcomers(battles, calibration, signal, bounds, level=level, rng=rng, hard=hard))
    idle = "conformal_level and of" if bounds != Bounds() else ""
    if idle and not calibration:
        raise UsageError(f"{idle} need --calibration FILE")
    unplaced = [NOBODY_PLACED + (f"; {idle} have nothing to act on" if idle else "")] if calibration else []
    coded = code_battles(battles, credit=soft.credit, cluster=cluster)
    pairs = pair_sums_with_items(coded)
    exposure = replace(measure_exposure(battles, coded, pairs), lacking=f"battle with a signal ({signal.kind})")
    weight = REGULARIZATION if regularization is None else regularization
    strengths = fit_identified(coded.models, pairs, exposure.battles, weight)
    scale = elo_scale(coded.models, bounded_models(strengths.graph), coded.clusters_by_model(), center, pin)
    estimate = estimate_elo(strengths, coded, scale, level, target_error(coded, strengths, soft))
    if estimate.method and soft.target.kind != "credit":
        exactness = "error of beta included" if soft.target.covariance is not None else "beta taken as exact"
        estimate = replace(estimate, method=f"{estimate.method}, {exactness}")
    extra = _hard_scores(battles, coded.models, estimate.score, weight) if hard else {}
    labelled = label_strengths(
        exposure, strengths, estimate, scale, level=level, rng=rng, ranker="soft-elo", extra=extra
    )
    return soft.annotate(labelled, unplaced)


@dataclass(frozen=True, slots=True)
class SoftCredits:
    """Soft targets of battles.

    Attributes:
        target: the map that made them.
        origin: where it comes from.
        doubts: why it may be doubted.
        signal: what it read.
        credit: of a, NaN where there is no signal, shape (battles,).
        judged: battles with a verdict.
    """

    target: Target
    origin: str
    doubts: Sequence[str]
    signal: Signal
    credit: np.ndarray
    judged: int

    def annotate(self, standings: Standings, warnings: Sequence[str] = ()) -> Standings:
        """Add to the standings what the targets are and why they may be doubted."""
        target, signal, left_out = self.target, self.signal, self.judged - int(self.signal.is_known.sum())
        diagnostics = {
            "kind": signal.kind,
            "from": self.origin,
            "weights": dict(target.weights),
            "preferences": target.battles,
            "level": target.level,
            "left_out": left_out,
        }
        missing = "margin" if signal.kind == "margin" else f"signal ({signal.kind})"
        unused = [f"{left_out:,} of {self.judged:,} judged battles have no {missing} and are left out"][:left_out]
        return replace(
            standings,
            fit=replace(standings.fit, beta=target.beta, beta_low=target.low, beta_high=target.high),
            diagnostics={**standings.diagnostics, "soft": diagnostics},
            warnings=(*standings.warnings, *self.doubts, *unused, *warnings),
        )


def choose_target(
    battles: Battles,
    calibration: Calibration | None,
    target: Kind | None,
    beta: float | None,
    constant: float | None,
    ridge: float | None,
    level: float,
) -> tuple[Target, str, list[str]]:
    """Find the map from signal to probability: given, from a calibration, from human labels, or none needed.

    Returns: The map, where it comes from, and why it may be doubted.
    """
    if calibration:
        if any(option is not None for option in (target, beta, constant, ridge)):
            raise UsageError(
                f"target, beta, constant and ridge say what the calibration says already ({calibration.target}); leave "
                "them out, or leave out the calibration"
            )
        nothing = [NOTHING] if calibration.tells_nothing else []
        weak = [*nothing, *weak_signal_warnings(calibration.target, calibration.agreement)]
        weak = [f"the calibration says: {doubt}" for doubt in weak]
        return calibration.target, "of the calibration", [*mismatch_warnings(calibration, battles), *weak]
    kind = target or ("smoothing" if constant is not None else default_kind(battles))
    if ridge is not None and kind != "criteria":
        raise UsageError(f"ridge pulls the weights of target=criteria together; the target is {kind}; leave it out")
    given = build_given_target(kind, beta, constant)
    if given:
        soft = kind == "credit"
        hard, judged = count_hard_credits(battles) if soft else (0, 0)
        mostly_hard = (
            f"{hard:,} of {judged:,} credits are wins, ties and losses, and taken for probabilities because others "
            "are: nothing is softened there; target=smoothing softens verdicts by a constant that human labels give"
        )
        return given, "as they are" if soft else "given, taken as exact", [mostly_hard] if 2 * hard > judged else []
    evidence = build_evidence(battles, read_signal(battles, kind, ridge))
    if np.isnan(evidence.human).all():
        raise NotIdentifiedError(_no_map(kind))
    fitted = fit_target(evidence, level)
    warnings = few_items_warnings(evidence) + weak_signal_warnings(
        fitted, measure_agreement(evidence, soften_verdicts(fitted, evidence.signal))
    )
    if len(battles.judges) > 1:
        warnings.append(
            f"one beta for {len(battles.judges)} judges, whose margins may differ in scale: {some(battles.judges)}"
        )
    return fitted, f"fitted to {fitted.battles:,} human preferences in the battles", warnings


def target_error(coded: CodedBattles, strengths: Strengths, soft: SoftCredits) -> np.ndarray:
    """Return what the error of the map's weights adds to the covariance of log-strengths, shape (models, models).

    The weights move the targets, and those the ratings: H^-1 J V J' H^-1, with V the covariance of the weights and J
    the derivative of the likelihood's score by them. Human labels are taken to be independent of the judge's error
    given its signal.
    """
    size = len(coded.models)
    spread = order_covariance(soft.target, soft.signal)
    if not spread.any():
        return np.zeros((size, size))
    x, y = soft.signal.x[~np.isnan(soft.credit)], coded.credit
    moved = (coded.weight * y * (1 - y))[:, None] * x
    effect = strengths.solve(DesignMatrix(None, coded.a, coded.b, size).transpose_product(moved.T).T)
    return effect @ spread @ effect.T


def _no_map(kind: Kind) -> str:
    needs = {
        "margin": "beta, the logits of preference per unit of the judge's margin, is unknown, and is never guessed",
        "smoothing": "the constant of label smoothing is unknown",
    }.get(kind, f"the weights of the target {kind} are unknown")
    option = {"margin": ", or --set beta=NUMBER", "smoothing": ", or --set constant=0.75"}.get(kind, "")
    return (
        f"{needs}. What would help: a column `human` in the battles (or --human-judge NAME), a file made by "
        f"`podium calibrate` (--calibration FILE){option}"
    )


def _hard_scores(
    battles: Battles, models: tuple[str, ...], beside: np.ndarray, regularization: float
) -> dict[str, np.ndarray]:
    """Return the Elo of the hard labels on the origin of the soft ones, NaN where no fit exists.

    `models`: of the soft fit; `beside`: their soft scores, shape (models,).
    """
    coded = code_battles(battles, labels="hard")
    try:
        theta = fit_battles(coded, regularization).theta
    except NotIdentifiedError:
        return {"hard": np.full(len(models), np.nan)}
    scores = POINTS * theta[[coded.models.index(name) for name in models]]
    return {"hard": scores - scores.mean() + beside.mean()}
