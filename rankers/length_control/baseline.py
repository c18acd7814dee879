"""AlpacaEval's length-controlled win rate: each entrant against one baseline, at equal lengths."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from podium.battles import Battles
from podium.errors import NotConvergedError, NotIdentifiedError, UsageError, find_name
from podium.rankers.coded import Cluster, Coded, Labels
from podium.rankers.intervals import by_sandwich, covariance_of
from podium.rankers.length_control.external import External
from podium.rankers.length_control.term import Lengths, lengths_of, squash
from podium.rankers.newton import DesignMatrix, Likelihood, SingularError, maximise
from podium.rankers.standings import Result, exposure_of, standings
from podium.ranking import Standings

FAR = 50.0
"""Logits; a coefficient beyond grows for ever, and there is no maximum."""
SINGULAR = 1e-10


@dataclass(frozen=True, slots=True)
class Rate:
    """The win rate of one entrant at equal length, in (0, 1), and what made it.

    Attributes:
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
    lengths = lengths_of(battles, labels, cluster)
    coded = lengths.coded
    base = _baseline(coded, anchor)
    name = coded.entrants[base]
    rates, refused = _rates(lengths, base, external, battles)
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
    estimate = estimate.clip(0, 1)
    used = {
        "model": _describe_model(external),
        "slopes": {coded.entrants[k]: rate.slope for k, (_, rate) in rates.items()},
        "sd": {coded.entrants[k]: rate.sd for k, (_, rate) in rates.items()},
        "left_out": lengths.left_out,
    }
    result = Result(estimate, diagnostics={"length_control": used}, warnings=refused)
    exposure = exposure_of(battles, coded)
    return standings("win-rate", f"win rate against {name}", exposure, result, level=level, rng=rng)


def _baseline(coded: Coded, anchor: str | None) -> int:
    """Return the baseline: the one that is named, or the one that is in all battles.

    Raises:
        UsageError: it has no readable battle with lengths, or several could be meant.
    """
    if anchor is not None:
        return coded.entrants.index(find_name("entrant with readable battles", anchor, coded.entrants))
    common = [k for k in range(len(coded.entrants)) if ((coded.a == k) | (coded.b == k)).all()]
    if len(common) != 1:
        raise UsageError(
            "length_control=true of win-rate compares with one baseline: name it (anchor=NAME); battles among many can "
            "be ranked by bradley-terry with length_control=true"
        )
    return common[0]


def _rates(
    lengths: Lengths, base: int, external: External | None, battles: Battles
) -> tuple[dict[int, tuple[np.ndarray, Rate]], list[str]]:
    """Fit every entrant that met the baseline; say of whom there is no fit."""
    coded, rates, refused = lengths.coded, {}, []
    difficulty = None if external is None else external.difficulties(battles.table.iloc[lengths.rows])
    for which, name in enumerate(coded.entrants):
        first, second = (coded.a == which) & (coded.b == base), (coded.b == which) & (coded.a == base)
        own = np.flatnonzero(first | second)
        if which == base or not len(own):
            if which != base:
                refused.append(f"{name} has no readable battle with lengths against {coded.entrants[base]}: no score")
            continue
        credit = np.where(first[own], coded.credit[own], 1 - coded.credit[own])
        lead = np.where(first[own], lengths.difference[own], -lengths.difference[own])
        try:
            own_difficulty = None if difficulty is None else difficulty[own]
            rates[which] = (own, _fit_rate(credit, lead, coded.weight[own], own_difficulty, external))
        except (NotIdentifiedError, NotConvergedError) as error:
            refused.append(f"{name}: no length-controlled win rate: {error}")
    return rates, refused


def _fit_rate(
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
    columns = [np.ones(len(lead)), squash(lead, sd), *([] if difficulty is None else [difficulty])]
    rows = np.column_stack(columns)[known]
    own, y, w = len(rows), credit[known], weight[known]
    if external is not None and external.gamed is not None:
        rows = np.vstack([rows, external.gamed.rows(rows.shape[1])])
        y, w = np.append(y, external.gamed.credit), np.append(w, external.gamed.weight)
    at, information = _regression(rows, y, w)
    plain = rows[:own].copy()
    plain[:, 1] = 0
    expected, share = expit(plain @ at), w[:own] / w[:own].sum()
    value = float(share @ expected)
    slope = (share * expected * (1 - expected)) @ plain
    scores = (w * (y - expit(rows @ at)))[:own, None] * rows[:own]
    influence = np.zeros(len(lead))
    influence[known] = share * (expected - value) + scores @ np.linalg.solve(information, slope)
    return Rate(value, influence, sd, float(at[1]))


def _regression(rows: np.ndarray, credit: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients of a logistic regression, and its information.

    Raises:
        NotIdentifiedError: a coefficient is unbounded.
        NotConvergedError: no maximum.
    """
    likelihood = Likelihood(DesignMatrix(rows), weight * credit, weight, np.zeros(rows.shape[1]), largest=FAR)
    unbounded = "its battles do not bound the coefficients (all won, all lost, or told by length)"
    try:
        at = maximise(likelihood).at
    except (NotIdentifiedError, SingularError):
        raise NotIdentifiedError(unbounded) from None
    information = likelihood.information_at(at)
    if np.linalg.cond(information) > 1 / SINGULAR:
        raise NotIdentifiedError(unbounded)
    return at, information


def _describe_model(external: External | None) -> str:
    if external is None:
        return "AlpacaEval's GLM without external data (no difficulty term)"
    gamed = f" and {len(external.gamed.credit):,} rows of gamed baselines" if external.gamed is not None else ""
    return f"AlpacaEval's GLM with the difficulty of items{gamed}, from {external.source}"
