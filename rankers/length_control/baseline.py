"""AlpacaEval's length-controlled win rate: each entrant against one baseline, at equal lengths."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import expit

from podium.battles import Battles
from podium.errors import NotConvergedError, NotIdentifiedError, UsageError, unknown_name
from podium.rankers.coded import Cluster, Coded, Labels
from podium.rankers.intervals import by_sandwich, covariance_of
from podium.rankers.labelling import Result, played_of, standings
from podium.rankers.length_control.external import External
from podium.rankers.length_control.term import Lengths, lengths_of, squashed
from podium.ranking import Standings

STEPS = 100
CLOSE_ENOUGH = 1e-10
FAR = 50.0
"""Logits; a coefficient beyond grows for ever, and there is no maximum."""
SINGULAR = 1e-10


@dataclass(frozen=True, slots=True)
class Rate:
    """The win rate of one entrant at equal length, and what made it.

    Attributes:
        value: in (0, 1).
        influence: what each of its battles adds to the error of the value, shape (own battles,).
        sd: of its length differences, characters.
        slope: logits that it gains as its lead in length grows without bound.
    """

    value: float
    influence: np.ndarray
    sd: float
    slope: float


def against_baseline(
    battles: Battles,
    anchor: str | None,
    external: External | None,
    *,
    level: float,
    rng: np.random.Generator,
    labels: Labels,
    cluster: Cluster,
) -> Standings:
    """Rank by win rates against one baseline as they would be at equal lengths (Dubois et al. 2024).

    For each entrant apart, P(it beats the baseline on item i) = s(b0 + b1 tanh(lead in length / sd) + b2 difficulty_i),
    sd with ddof 1 over its own battles; the win rate is the mean over its items of s(b0 + b2 difficulty_i). Without
    external data there is no difficulty term. Fits are maximum likelihood, without AlpacaEval's L1 penalty; standard
    errors (clustered sandwich, delta method) hold the error of the fit, which AlpacaEval's own leave out.

    Raises:
        NotIdentifiedError: no lengths, or no entrant has a fit.
        UsageError: no baseline is named and several could be meant.
    """
    known = lengths_of(battles, labels, cluster)
    coded = known.coded
    base = _baseline(coded, anchor)
    name = coded.entrants[base]
    rates, refused = _rates(known, base, external, battles)
    if not rates:
        raise NotIdentifiedError("; ".join(refused))
    size = len(coded.entrants)
    score, spread = np.full(size, np.nan), np.zeros((coded.clusters, size))
    for which, (own, rate) in rates.items():
        score[which] = rate.value
        spread[:, which] = np.bincount(coded.cluster[own], rate.influence, coded.clusters)
    score[base] = 1 - np.mean([rate.value for _, rate in rates.values()])
    spread[:, base] = -np.mean([spread[:, which] for which in rates], axis=0)
    estimate = by_sandwich(score, covariance_of(spread), coded.clusters, level=level, cluster=coded.unit)
    estimate = replace(estimate, low=np.maximum(estimate.low, 0), high=np.minimum(estimate.high, 1))
    used = _told(coded, rates, external) | {"left_out": known.without}
    result = Result(estimate, diagnostics={"length_control": used}, warnings=refused)
    played = played_of(battles, coded)
    return standings("win-rate", f"win rate against {name}", played, result, level=level, rng=rng)


def _baseline(coded: Coded, anchor: str | None) -> int:
    """Return the baseline: the one that is named, or the one that is in all battles.

    Raises:
        UsageError: it has no readable battle with lengths, or several could be meant.
    """
    if anchor is not None:
        if anchor not in coded.entrants:
            raise unknown_name("entrant with readable battles", anchor, coded.entrants)
        return coded.entrants.index(anchor)
    common = [k for k in range(len(coded.entrants)) if ((coded.a == k) | (coded.b == k)).all()]
    if len(common) != 1:
        raise UsageError(
            "length_control=true of win-rate compares with one baseline: name it (anchor=NAME); battles among many can "
            "be ranked by bradley-terry with length_control=true"
        )
    return common[0]


def _rates(
    known: Lengths, base: int, external: External | None, battles: Battles
) -> tuple[dict[int, tuple[np.ndarray, Rate]], list[str]]:
    """Fit every entrant that met the baseline; say of whom there is no fit."""
    coded, rates, refused = known.coded, {}, []
    difficulty = None if external is None else external.difficulties(battles.table.iloc[known.rows])
    for which, name in enumerate(coded.entrants):
        first, second = (coded.a == which) & (coded.b == base), (coded.b == which) & (coded.a == base)
        own = np.flatnonzero(first | second)
        if which == base or not len(own):
            if which != base:
                refused.append(f"{name} has no readable battle with lengths against {coded.entrants[base]}: no score")
            continue
        credit = np.where(first[own], coded.credit[own], 1 - coded.credit[own])
        lead = np.where(first[own], known.difference[own], -known.difference[own])
        try:
            own_difficulty = None if difficulty is None else difficulty[own]
            rates[which] = (own, _fitted(credit, lead, coded.weight[own], own_difficulty, external))
        except (NotIdentifiedError, NotConvergedError) as error:
            refused.append(f"{name}: no length-controlled win rate: {error}")
    return rates, refused


def _fitted(
    credit: np.ndarray, lead: np.ndarray, weight: np.ndarray, difficulty: np.ndarray | None, external: External | None
) -> Rate:
    """Fit one entrant's battles, and predict them at equal lengths.

    Raises:
        NotIdentifiedError: the lead is the same in all battles, or a coefficient is unbounded.
        NotConvergedError: no maximum.
    """
    sd = float(np.std(lead, ddof=1)) if len(lead) > 1 else 0.0
    if not sd > 0:
        raise NotIdentifiedError("its lead in length is the same in all battles")
    known = np.ones(len(lead), dtype=bool) if difficulty is None else np.isfinite(difficulty)
    columns = [np.ones(len(lead)), squashed(lead, sd), *([] if difficulty is None else [difficulty])]
    rows = np.column_stack(columns)[known]
    own, y, w = len(rows), credit[known], weight[known]
    if external is not None and external.gamed is not None:
        rows = np.vstack([rows, external.gamed.rows(rows.shape[1])])
        y, w = np.append(y, external.gamed.credit), np.append(w, external.gamed.weight)
    at, bread = _maximum(rows, y, w)
    plain = rows[:own].copy()
    plain[:, 1] = 0
    expected, share = expit(plain @ at), w[:own] / w[:own].sum()
    value = float(share @ expected)
    slope = (share * expected * (1 - expected)) @ plain
    scores = (w * (y - expit(rows @ at)))[:own, None] * rows[:own]
    influence = np.zeros(len(lead))
    influence[known] = share * (expected - value) + scores @ linalg.cho_solve(bread, slope)
    return Rate(value, influence, sd, float(at[1]))


def _maximum(rows: np.ndarray, credit: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, Any]:
    """Return the coefficients of a logistic regression by Newton steps, and its information as a Cholesky factor."""
    at = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        expected = expit(rows @ at)
        information = (rows * (weight * expected * (1 - expected))[:, None]).T @ rows
        if np.linalg.cond(information) > 1 / SINGULAR or np.abs(at).max() > FAR:
            raise NotIdentifiedError("its battles do not bound the coefficients (all won, all lost, or told by length)")
        bread = linalg.cho_factor(information)
        step = linalg.cho_solve(bread, rows.T @ (weight * (credit - expected)))
        at, before = at + step, at
        if np.abs(step).max() < CLOSE_ENOUGH:
            return at, bread
        at = _damped(rows, credit, weight, before, step)
    raise NotConvergedError(f"no maximum after {STEPS} Newton steps")


def _damped(rows: np.ndarray, credit: np.ndarray, weight: np.ndarray, at: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Halve the step until the likelihood does not fall."""

    def likelihood(where: np.ndarray) -> float:
        return float(weight @ (credit * (rows @ where) - np.logaddexp(0, rows @ where)))

    damping, enough = 1.0, likelihood(at) - 1e-12 * len(rows)
    while damping > 1e-6 and likelihood(at + damping * step) < enough:
        damping /= 2
    return at + damping * step


def _told(coded: Coded, rates: Mapping[int, tuple[np.ndarray, Rate]], external: External | None) -> dict[str, Any]:
    """Return what was used: the variant, and every entrant's coefficient of length."""
    variant = "AlpacaEval's GLM without external data (no difficulty term)"
    if external is not None:
        gamed = f" and {len(external.gamed.credit):,} rows of gamed baselines" if external.gamed is not None else ""
        variant = f"AlpacaEval's GLM with the difficulty of items{gamed}, from {external.source}"
    return {
        "model": variant,
        "slopes": {coded.entrants[k]: rate.slope for k, (_, rate) in rates.items()},
        "sd": {coded.entrants[k]: rate.sd for k, (_, rate) in rates.items()},
    }
