"""The ladder of an earlier tournament, from its battles."""

import numpy as np

from podium.errors import UsageError
from podium.nouns.battles import Battles
from podium.nouns.ladder import Ladder
from podium.rankers.cells import pair_sums_with_items, prepare_battles
from podium.rankers.identification import bounded_models, fit_identified
from podium.rankers.ladder_prior import build_prior
from podium.rankers.scale import POINTS, elo_scale


def ladder_of_battles(battles: Battles, source: str) -> Ladder:
    """Fit Bradley-Terry to battles and return the ratings with their covariance over items; a separated model has the
    variance that lambda gives it."""
    coded = prepare_battles(battles)
    models, pairs, items = coded.models, pair_sums_with_items(coded), coded.clusters_by_model()
    if coded.clusters <= len(models):
        raise UsageError(
            f"{source}: too few items ({coded.clusters}) for errors of {len(models)} models; give ratings="
        )
    own = battles.ladder.restrict_to(models) if battles.ladder else None
    prior = build_prior(own, models) if own else None
    fit = fit_identified(models, pairs, coded.battles_by_model(), prior=prior)
    separated = fit.graph.separated
    scale = prior.scale if prior else elo_scale(models, bounded_models(fit.graph), items, None, None)
    covariance = scale.covariance(fit.covariance(coded))
    covariance[separated], covariance[:, separated] = 0, 0
    covariance += np.diag(np.where(separated, POINTS**2 * np.diag(fit.solve(np.eye(len(models)))), 0))
    se = np.sqrt(np.maximum(np.diag(covariance), 0))
    rows = tuple(map(tuple, covariance.tolist()))
    return Ladder(models, tuple(scale.scores(fit.theta).tolist()), tuple(se.tolist()), rows, source=source)
