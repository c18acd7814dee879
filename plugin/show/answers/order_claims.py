"""Find the models about which nothing can be claimed, because the order of responses may decide.

If a judge read single orders only, a model that is shown first more often may lead for that reason.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from podium.check_results import Check, find_flagged
from podium.data.battles import Battles
from podium.data.listed_values import values_in_cell
from podium.defaults import REGULARIZATION
from podium.diagnosis.checks.order_checks import IN_SLICES, ONE_ORDER
from podium.diagnosis.clustered import cluster_battles
from podium.diagnosis.subject import read_orders
from podium.errors import PodiumError
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.strengths import Strengths
from podium.rankers.length_control.joint import fit_with_length
from podium.rankers.ranking import Standings


def explained_by_any_order(
    standings: Standings, battles: Battles, checks: Sequence[Check]
) -> tuple[str, ...]:
    """Return the models of which the order of responses may explain that one is clearly ahead.

    The models are those of `models_explained_by_order`, of up to two fits. If the check `one order`
    is flagged, a fit has a term for the response shown first in all battles. If the check `order in
    slices` is flagged, a fit has a term for the response that each slice favours; this fit is left
    out if the battles lack the column of slices, or if no battle with a favoured response has a
    known order. The tuple has no repeats, and is empty if neither check is flagged.

    Args:
        standings: scores, errors and critical value.
        battles: the battles of these standings.
        checks: adjusted checks.
    """
    explained: list[str] = []
    if find_flagged(checks, [ONE_ORDER]):
        explained += models_explained_by_order(standings, battles)
    slices = find_flagged(checks, [IN_SLICES])
    if slices is not None and slices.fields["column"] in battles.rows.battle_columns:
        side = _favoured_sides(battles, slices.fields["column"], slices.fields["leans"])
        if np.any(side * _side_shown_first(battles)):
            explained += models_explained_by_order(standings, battles, side)
    return tuple(dict.fromkeys(explained))


def _favoured_sides(battles: Battles, column: str, leans: Mapping[str, float]) -> np.ndarray:
    """Return which response of each battle its slices favour, shape (battles,).

    The value is 1 for the response shown first, -1 for the response shown second, and 0 if the
    slice is not among `leans`. A cell that lists several values is in several slices: the sign of
    the sum over these counts.

    Args:
        battles: the battles.
        column: the column with the slices.
        leans: win rate of the response shown first less 0.5, by value of the column.
    """
    signs = {value: np.sign(lean) for value, lean in leans.items()}
    texts = battles.rows.texts_of(column).tolist()
    sums = []
    for text in texts:
        signs_of_slices = [signs.get(value, 0.0) for value in values_in_cell(text)]
        sums.append(sum(signs_of_slices))
    return np.sign(np.array(sums, dtype=np.float64))


def models_explained_by_order(
    standings: Standings, battles: Battles, side: np.ndarray | None = None
) -> tuple[str, ...]:
    """Return the models of which the order of responses may explain that one is clearly ahead.

    The ratings are fitted again with a term for the response shown first: logit P(first wins) =
    theta_first - theta_second + gamma. A model that is clearly ahead of another one must be so in
    this fit, too, with the same critical value. If each pair is shown in one order only, the term
    rests on the ratings being additive; if it is confounded with them, or if the fit fails, no
    claim holds.

    Args:
        standings: scores, errors and critical value.
        battles: the battles of these standings.
        side: of each battle, 1 if the response shown first is favoured, -1 if the other one is, and
            0 if the order has no effect, shape (battles,); None for 1 in all battles.

    Returns:
        The models of the pairs whose claims do not hold, by place; empty if nothing is claimed.
    """
    separation = standings.separation
    if separation is None or not any(separation.beats):
        return ()
    names = separation.names
    claims = []
    for winner, places_behind in zip(names, separation.beats, strict=True):
        claims += [(winner, names[place]) for place in places_behind]
    try:
        is_kept = _claims_kept(battles, claims, separation.critical, side)
    except PodiumError:
        is_kept = [False] * len(claims)
    explained = set[str]()
    for pair, holds in zip(claims, is_kept, strict=True):
        if not holds:
            explained.update(pair)
    return tuple(name for name in names if name in explained)


def _claims_kept(
    battles: Battles,
    claims: Sequence[tuple[str, str]],
    critical: float,
    side: np.ndarray | None,
) -> list[bool]:
    """Fit the ratings again with a term for the response shown first, and test the claims.

    Args:
        battles: the battles.
        claims: pairs of models, of which the first is clearly ahead.
        critical: critical value of a difference, in standard errors.
        side: of each battle, the response that is favoured, as 1, -1 or 0 (see
            `models_explained_by_order`); None for the response shown first in all battles.

    Returns:
        Whether each claim holds in the fit, in the order of `claims`.

    Raises:
        PodiumError: the term is confounded with the ratings, or the fit fails.
    """
    readable = battles.readable
    term = _side_shown_first(battles)
    if side is not None:
        term = side * term
    coded = code_battles(battles)
    fit = fit_with_length(coded, term[readable], REGULARIZATION, np.zeros(len(coded.models)))
    _, cluster = np.unique(cluster_battles(battles).code[readable], return_inverse=True)
    code = {name: k for k, name in enumerate(coded.models)}
    are_kept = []
    for winner, loser in claims:
        contrast = np.zeros(fit.likelihood.design.parameter_count)
        contrast[code[winner]] = 1.0
        contrast[code[loser]] = -1.0
        gap = fit.theta[code[winner]] - fit.theta[code[loser]]
        are_kept.append(bool(gap > critical * _error_of(fit, contrast, cluster)))
    return are_kept


def _side_shown_first(battles: Battles) -> np.ndarray:
    """Return which response of each battle was shown first, shape (battles,).

    The value is 1 for the response of `model_a`, -1 for that of `model_b`, and 0 if the order is
    merged or unknown.
    """
    order = read_orders(battles)
    return (order == "ab").astype(float) - (order == "ba")


def _error_of(fit: Strengths, contrast: np.ndarray, cluster: np.ndarray) -> float:
    """Return the standard error of a contrast of the parameters of a fit, clustered by item.

    Args:
        fit: the fit.
        contrast: weights of the parameters, shape (parameters,).
        cluster: number of each battle's item, shape (battles,).
    """
    likelihood = fit.likelihood
    # Parameters and logits have a first axis of samples, here of size 1.
    [logits] = likelihood.logits(fit.optimum.parameters[None])
    surplus, _ = likelihood.loss(likelihood.credit, likelihood.weight, logits)
    direction = fit.solve(contrast)
    [influence_of_unit] = likelihood.design.product(direction[None])
    influence = surplus * influence_of_unit
    sums = np.bincount(cluster, influence)
    return float(np.sqrt(sums @ sums))
