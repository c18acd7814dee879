"""The check whether the order of two models depends on how ties count.

A tie is half a win in the ratings. In Davidson's model, ties are outcomes of their own. A third way
leaves them out. Under Davidson's model, all three order the models alike, up to chance. A model
that ties often where others win and lose may change places.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from podium.check_results import Check, make_check, not_known
from podium.data.battles import Battles
from podium.diagnosis.checks.card_sections import ERROR_RATE
from podium.diagnosis.checks.size_limits import FEWEST_COMPARED, are_too_many, why_too_many
from podium.distributions import stdtr
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.fit.coded import CodedBattles, code_battles
from podium.rankers.fit.davidson import fit_davidson, outcome_masses
from podium.rankers.fit.graph import comparison_graph
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.fit.strengths import fit_strengths

HARD_CREDITS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Credits of one verdict, or of the mean of two."""
MOST_GRADED = 0.1
"""With a larger share of other credits, verdicts are graded, and have no ties to count."""
FEWEST_CLUSTERS = 8
"""With fewer items than this, errors of the ratings are unreliable."""
LEAVING_OUT = "if ties are left out"
"""How the text names the ratings without ties."""
BY_DAVIDSON = "by Davidson's model, in which ties are outcomes of their own"
"""How the text names the ratings by Davidson's model."""


@dataclass(frozen=True, slots=True)
class RatingsByTies:
    """Log-strengths with ties counted in one way.

    Attributes:
        theta: log-strengths, shape (models,).
        influence: influence of each cluster on them, shape (clusters, models).
    """

    theta: np.ndarray
    influence: np.ndarray

    def z_of_pair(self, first: int, second: int) -> float:
        """Return the lead of the first of two models over the second in standard errors.

        The models are given by code. The lead is 0 if the error is 0.
        """
        clusters = len(self.influence)
        difference = self.influence[:, first] - self.influence[:, second]
        variance = float(np.sum(difference**2)) * clusters / max(clusters - 1, 1)
        if variance <= 0:
            return 0.0
        return float((self.theta[first] - self.theta[second]) / np.sqrt(variance))


def check_ties(battles: Battles) -> tuple[Check, ...]:
    """Test whether two models change their order if ties count in another way.

    A pair counts if it is ahead by one count and behind by the other, each beyond chance: its
    p-value is the larger of the two one-sided ones. The smallest one is multiplied by the number of
    pairs and of other counts (Bonferroni). It is not yet adjusted with other checks.

    Returns:
        The check; not known for too many battles, with fewer than `FEWEST_CLUSTERS` items, or if a
        fit fails. Empty for fewer than three models, whose order does not change, without ties,
        without a readable battle, and for graded credits (`MOST_GRADED`).
    """
    if not battles.tally.judged or len(battles.models) < FEWEST_COMPARED:
        return ()
    if are_too_many(battles):
        return (not_known("ties", reason=why_too_many(battles)),)
    coded = code_battles(battles)
    are_hard = np.isclose(coded.credit[:, None], HARD_CREDITS).any(axis=1)
    _, ties, _ = outcome_masses(coded.credit)
    if not ties.any() or (~are_hard).mean() > MOST_GRADED:
        return ()
    if coded.clusters < FEWEST_CLUSTERS:
        return (not_known("ties", reason="too few items"),)
    try:
        half = _rate_half_wins(coded)
        others = [(LEAVING_OUT, _rate_without_ties(coded)), (BY_DAVIDSON, _rate_outcomes(coded))]
    except (NotIdentifiedError, NotConvergedError):
        return (not_known("ties", reason="without ties, the battles do not rate all models"),)
    return (_compare_orders(coded, half, others),)


def _compare_orders(
    coded: CodedBattles, half: RatingsByTies, others: Sequence[tuple[str, RatingsByTies]]
) -> Check:
    """Return the check of the pair that most certainly changes its order.

    The check is flagged if any pair changes its order beyond chance, with the number of such pairs.
    If no pair changes its order at all, it is ok with a p-value of 1.

    Args:
        coded: the battles.
        half: ratings in which ties are half wins.
        others: ratings by other counts, each with the words for it.
    """
    pairs = list(combinations(range(len(coded.models)), 2))
    tests = len(pairs) * len(others)
    turned: list[tuple[float, int, int, str]] = []
    for how, ratings in others:
        for first, second in pairs:
            z = half.z_of_pair(first, second)
            ahead, behind = (first, second) if z > 0 else (second, first)
            # The pair turns if the model that is behind here is ahead by the other count.
            least = min(abs(z), ratings.z_of_pair(behind, ahead))
            if least > 0:
                p = min(1.0, tests * float(stdtr(coded.clusters - 1, -least)))
                turned.append((p, ahead, behind, how))
    if not turned:
        return make_check("ties", is_flagged=False, number=0, p=1.0)
    # The smallest p-value; of equal ones, the first pair by code.
    p, ahead, behind, how = min(turned)
    names = {"a": coded.models[ahead], "b": coded.models[behind], "how": how}
    certain = {(first, second) for own_p, first, second, _ in turned if own_p <= ERROR_RATE}
    models = (names["a"], names["b"])
    return make_check("ties", bool(certain), number=len(certain), p=p, fields=names, models=models)


def _rate_half_wins(coded: CodedBattles) -> RatingsByTies:
    """Return Bradley-Terry ratings in which a tie is half a win.

    Raises:
        NotIdentifiedError: the battles do not connect all models.
    """
    pairs = pair_sums(coded)
    if comparison_graph(pairs).groups > 1:
        raise NotIdentifiedError("the battles do not connect all models")
    strengths = fit_strengths(pairs)
    return RatingsByTies(strengths.theta, strengths.influence(coded))


def _rate_without_ties(coded: CodedBattles) -> RatingsByTies:
    """Return Bradley-Terry ratings of wins and losses alone.

    Raises:
        NotIdentifiedError: a model has no win or loss, or these do not connect all models.
    """
    win, _, loss = outcome_masses(coded.credit)
    decided = win + loss > 0
    part = replace(coded, credit=(win > loss).astype(float), weight=coded.weight * (win + loss))
    part = part.take(decided)
    if len(np.union1d(part.a, part.b)) < len(coded.models):
        raise NotIdentifiedError("a model has only ties")
    return _rate_half_wins(part)


def _rate_outcomes(coded: CodedBattles) -> RatingsByTies:
    """Return ratings by Davidson's model.

    Raises:
        NotConvergedError: the fit does not converge.
    """
    fit = fit_davidson(coded)
    return RatingsByTies(fit.theta, fit.influence)
