"""How precisely a design rates models, by the Fisher information of its schedule.

The schedule is found by playing the tournament, because some tournaments, such as SWIM, choose
pairs by verdicts. Every verdict is the credit p that is expected from the ratings. The errors are
clustered by item. Let L_t be the Laplacian of the graph of battles on item t, weighted by
v = p (1 - p). The fitted log-strengths then have the covariance A^-1 B A^-1 with A = sum L_t and
B = sum (w L_t^2 + R_t). Here w is the variance of item effects, which are differences of a model's
strength between items. R_t is the Laplacian weighted by the variance of the credits that item
effects do not explain.

Items may come in groups, such as passages. The strength of a model then has an effect of the group
with the variance u, which is a part of w, and B has the further term (m - 1) u K^2 for each item.
Here K is the mean of the Laplacians over items, and m the mean number of items in an item's group.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from podium.data.pairings import Field, Outcome, Round
from podium.distributions import expit, ndtri
from podium.errors import NotIdentifiedError
from podium.planning.item_groups_of_pilot import (
    code_groups,
    items_per_group,
    jackknife_of_log,
    parts_without,
)
from podium.planning.verdict_cube import cube_by_item
from podium.plugins.catalogue import make_tournament
from podium.rankers.errors.difference import sum_by_group
from podium.rankers.estimate import Estimate
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.pairs import pairs_from_matrices
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import fit_strengths
from podium.tournaments.schedule import TournamentDesign
from podium.wording import some

if TYPE_CHECKING:
    from podium.planning.replays import Recording

ASSUMED_RATING_SD = 130.0
"""Assumed standard deviation of ratings over models, in Elo, if there is no pilot.

It was measured, like `ASSUMED_ITEM_SD`, on GPT-4's verdicts on seven models: the round robin that
was published with QLoRA.
"""
ASSUMED_ITEM_SD = 170.0
"""Assumed standard deviation of a model's rating over items, in Elo, if there is no pilot."""
LARGEST_ARRAY = 20_000
"""Largest number of model pairs for which the largest number of items is played."""
MOST_MODELS = 200
"""Largest number of models for which precision is computed."""
FEWEST_ITEMS = 4
"""Fewest items of a pilot from which precision is estimated."""


@dataclass(frozen=True, slots=True)
class VerdictModel:
    """Ratings, and how verdicts vary around the credits expected from them.

    Variances of log-strengths are in squared logits.

    Attributes:
        names: names of the models, sorted.
        theta: log-strengths, shape (models,).
        item_variance: variance over items of a model's log-strength.
        dispersion: variance of a credit, item effects included, divided by p (1 - p), where p is
            the expected credit.
        calls: number of judge calls of which each credit is the mean; None if it is the same
            number as for a planned battle.
        group_variance: the part of the item variance that items of a group share.
        group_size: mean number of items in an item's group; 1 if items have no groups.
    """

    names: tuple[str, ...]
    theta: np.ndarray
    item_variance: float
    dispersion: float
    calls: float | None = 1.0
    group_variance: float = 0.0
    group_size: float = 1.0

    @property
    def information(self) -> np.ndarray:
        """Fisher information p (1 - p) of a battle about the difference of two log-strengths.

        The shape is (models, models), by pair; the diagonal is 1/4.
        """
        expected = expit(self.theta[:, None] - self.theta)
        return np.asarray(expected * (1 - expected))

    def remaining_variance(self, calls: float) -> np.ndarray:
        """Return the variance of a battle's credit that item effects do not explain.

        Args:
            calls: judge calls of which the credit is the mean; ignored if the attribute `calls` is
                None.

        Returns:
            Variances by pair of models, shape (models, models).
        """
        # The item effects of both models add 2 w v^2 to the variance of a credit, with the item
        # variance w and the information v. The dispersion is the variance over v, so that their
        # part of the dispersion is 2 w v.
        dispersion = np.maximum(self.dispersion - 2 * self.item_variance * self.information, 0)
        variance = self.information * dispersion
        if self.calls is None:
            return variance
        return variance * (self.calls / calls)


def assumed_verdicts(names: tuple[str, ...], ties: float) -> VerdictModel:
    """Return the verdict model of a plan without a pilot.

    Ratings are quantiles of a normal distribution with the standard deviation `ASSUMED_RATING_SD`.
    Item effects have the standard deviation `ASSUMED_ITEM_SD`.

    Args:
        names: names of the models.
        ties: share of verdicts that are ties, in [0, 1).
    """
    probabilities = (np.arange(len(names)) + 0.5) / len(names)
    theta = ndtri(probabilities) * ASSUMED_RATING_SD / POINTS
    gaps = np.subtract.outer(theta, theta)
    gaps_of_pairs = gaps[np.triu_indices(len(names), 1)]
    credit = expit(gaps_of_pairs)
    # The variance of a verdict is p (1 - p) - ties / 4. Ties are more frequent between models that
    # are closer to each other.
    dispersion = 1 - ties / (4 * np.mean(credit * (1 - credit)))
    item_variance = (ASSUMED_ITEM_SD / POINTS) ** 2
    return VerdictModel(
        names=tuple(sorted(names)),
        theta=theta,
        item_variance=item_variance,
        dispersion=float(dispersion),
    )


def pilot_verdicts(record: "Recording") -> tuple[VerdictModel, list[VerdictModel]]:
    """Estimate the verdict model of a pilot, of the whole and without each part.

    Args:
        record: the recorded battles of the pilot.

    Returns:
        The verdict model of the whole pilot; and for a jackknife the verdict models of the pilot
        without each of 10 parts of its items (fewer if there are fewer than 10 items). If items
        have groups, a part is of whole groups.

    Raises:
        NotIdentifiedError: the pilot has fewer than 4 items, its battles do not connect all
            models, or some model has no readable battle or an unbounded rating.
    """
    names = record.field.models
    table = record.battles.table
    # Sorted, so that the groups do not depend on the order of the rows.
    order = np.argsort(np.array(record.field.items, dtype=object), kind="stable")
    if len(order) < FEWEST_ITEMS:
        raise NotIdentifiedError(
            f"precision needs at least {FEWEST_ITEMS} items, and the pilot has {len(order)}"
        )
    coded = code_battles(record.battles)
    separated = fit_battles(coded).graph.separated
    unjudged = sorted(set(names) - set(coded.models))
    if unjudged:
        raise NotIdentifiedError(f"the pilot has no readable battle of {some(unjudged)}")
    unbounded = [coded.models[k] for k in np.flatnonzero(separated)]
    if unbounded:
        raise NotIdentifiedError(f"the pilot's verdicts bound no rating of {some(unbounded)}")
    credit = np.array([outcome.credit for outcome in record.outcomes], dtype=np.float64)
    # Verdicts from -1 to 1, by item, model and opponent; and as credits from 0 to 1.
    verdicts = cube_by_item(record, 2 * credit - 1)[order]
    credits = (1 + verdicts) / 2
    calls = None
    if "order" in table and table["order"].notna().all():
        # A row with merged orders took a call for each order.
        calls_by_row = np.where(table["order"] == "merged", 2, 1)
        calls = float(calls_by_row.sum() / len(credit))
    groups = code_groups(record, [record.field.items[k] for k in order])
    whole = _fit_verdicts(credits, names, calls, groups)
    without_part = []
    for is_kept in parts_without(groups):
        part = _fit_verdicts(credits[is_kept], names, calls, groups[is_kept])
        without_part.append(part)
    return whole, without_part


def _fit_verdicts(
    credit: np.ndarray, names: tuple[str, ...], calls: float | None, groups: np.ndarray
) -> VerdictModel:
    """Estimate ratings, effects of items and of their groups, and dispersion.

    The ratings are Bradley-Terry strengths. The variance of item effects is at least 0, and 0 if
    no model has two battles on one item. The variance of group effects is at least 0, and 0 if no
    group has two items. As it is a part of the variance of item effects, this is not below it.

    Args:
        credit: credit of the row against the column by item, NaN if unknown, shape
            (items, models, models).
        names: names of the models.
        calls: the attribute `calls` of the verdict model.
        groups: number of each item's group, shape (items,).
    """
    is_known = ~np.isnan(credit)
    battle_count = np.triu(is_known.sum(axis=0), 1).astype(np.float64)
    credit_sum = np.triu(np.nansum(credit, axis=0), 1)
    theta = fit_strengths(pairs_from_matrices(credit_sum, battle_count)).theta
    expected = expit(theta[:, None] - theta)
    surplus = np.where(is_known, credit - expected, 0.0)
    information = np.where(is_known, expected * (1 - expected), 0.0)
    # Two battles of one model on one item share the item effect of the model: the covariance of
    # credit - expected is w v v' with v = p (1 - p). The variance w is estimated by the ratio of
    # the sums over all such pairs of battles.
    surplus_products = _products_of_battles(surplus)
    information_products = _products_of_battles(information)
    item_variance = 0.0
    if information_products > 0:
        item_variance = max(float(surplus_products / information_products), 0.0)
    dispersion = float(np.sum(surplus**2) / information.sum())
    # Two items of a group share the group effects of all models. With the Laplacians L and L' of
    # their battles, weighted by v, the covariance of the models' surpluses on them is u L L'. Its
    # trace is the sum of the products of degrees, plus that of the products of weights.
    shared_information = _products_of_items(information.sum(axis=2), groups)
    shared_information += _products_of_items(information, groups)
    group_variance = 0.0
    if shared_information > 0:
        shared_surplus = _products_of_items(surplus.sum(axis=2), groups)
        group_variance = max(shared_surplus / shared_information, 0.0)
    return VerdictModel(
        names=names,
        theta=theta,
        item_variance=max(item_variance, group_variance),
        dispersion=dispersion,
        calls=calls,
        group_variance=group_variance,
        group_size=items_per_group(groups),
    )


def _products_of_battles(values: np.ndarray) -> float:
    """Sum the products of the values of any two battles of one model on one item.

    Each pair of battles counts twice.

    A model's battles on an item are a row of the matrix of this item. For each model and item, the
    sum is (sum of values)^2 - sum of values^2.

    Args:
        values: values of battles, shape (items, models, models).
    """
    return np.sum(values.sum(axis=2) ** 2) - np.sum(values**2)


def _products_of_items(values: np.ndarray, groups: np.ndarray) -> float:
    """Sum the products of the values of any two different items of a group.

    Each pair of items counts twice. Further axes of `values` are summed, too.

    Args:
        values: values by item, shape (items, ...).
        groups: number of each item's group, shape (items,).
    """
    # The square of a group's sum has the products of all items, also of each with itself.
    all_products = np.sum(sum_by_group(values, groups) ** 2)
    return float(all_products - np.sum(values**2))


def play_schedule(design: TournamentDesign, model: VerdictModel) -> np.ndarray:
    """Play a design with every verdict as expected, and count how often pairs meet.

    An anchor that is not among the models, or is chosen by a pilot, is replaced by the model with
    the median strength. The tournament runs until it asks for no more battles.

    Returns:
        Number of battles by item and pair, shape (items, models, models), symmetric. The number
        of items does not depend on the plan; it is at most 100 for chain and ring, and at most 10
        for other tournaments.
    """
    model_count = len(model.names)
    # Chain and ring play random pairs on each item, so that an average needs more items.
    most_items = 100 if design.name in ("chain", "ring") else 10
    # Of more than 141 models, fewer items are played, so that the arrays stay small.
    item_count = int(np.clip(LARGEST_ARRAY * most_items // model_count**2, 1, most_items))
    settings = dict(design.settings)
    if design.name == "anchor" and settings.get("anchor") not in model.names:
        median_model = np.argsort(model.theta, kind="stable")[model_count // 2]
        settings["anchor"] = model.names[median_model]
    rule = make_tournament(design.name, settings)
    field = Field(
        models=model.names, items=tuple(f"item {k}" for k in range(item_count)), absent={}
    )
    code_of_model = {name: k for k, name in enumerate(field.models)}
    code_of_item = {name: k for k, name in enumerate(field.items)}
    expected = expit(model.theta[:, None] - model.theta).tolist()
    battle_count = np.zeros((item_count, model_count, model_count))
    rounds: list[Round] = []
    coming = rule.next(field, rounds).pairings
    while coming:
        item = [code_of_item[pairing.item] for pairing in coming]
        a = [code_of_model[pairing.a] for pairing in coming]
        b = [code_of_model[pairing.b] for pairing in coming]
        np.add.at(battle_count, (item, a, b), 1.0)
        outcomes = [
            Outcome(pairing, credit=expected[i][j])
            for pairing, i, j in zip(coming, a, b, strict=True)
        ]
        rounds.append(Round(tuple(outcomes)))
        coming = rule.next(field, rounds).pairings
    return battle_count + battle_count.transpose(0, 2, 1)


def typical_variance(battle_count: np.ndarray, model: VerdictModel, calls: float) -> float:
    """Return the mean variance, over pairs, of the difference of two ratings on one item.

    Args:
        battle_count: number of battles by item and pair, shape (items, models, models).
        model: the verdict model.
        calls: judge calls of which the credit of a battle is the mean.

    Returns:
        The variance in Elo squared for a single item. Divided by a number of items, it is the
        variance of the difference of two ratings from these items.
    """
    # By item, shape (items, models, models); then summed over items, shape (models, models).
    laplacians = _laplacian(battle_count * model.information)
    remaining_variance = battle_count * model.remaining_variance(calls)
    remaining_laplacian = _laplacian(remaining_variance.sum(axis=0))
    items = len(battle_count)
    size = len(model.names)
    # The constant matrix makes the total invertible. It does not change centred log-strengths.
    constant = np.full((size, size), 1 / size)
    inverse = np.linalg.inv(laplacians.sum(axis=0) + constant) - constant
    mean_laplacian = laplacians.mean(axis=0)
    variance_in_groups = items * (model.group_size - 1) * (mean_laplacian @ mean_laplacian)
    score_covariance = (
        model.item_variance * (laplacians @ laplacians).sum(axis=0)
        + model.group_variance * variance_in_groups
        + remaining_laplacian
    )
    covariance = inverse @ score_covariance @ inverse
    # Over pairs i < j of n models, the mean of C_ii + C_jj - 2 C_ij is 2 trace(C) / (n - 1),
    # because the covariance C of centred ratings has row sums of 0.
    trace_in_elo = POINTS**2 * np.trace(covariance)
    return float(2 * trace_in_elo * items / (size - 1))


def _laplacian(weights: np.ndarray) -> np.ndarray:
    """Return the graph Laplacian, diag(row sums of the weights) - weights.

    Args:
        weights: symmetric weights of pairs, shape (..., models, models).
    """
    row_sums = weights.sum(axis=-1)
    # The identity matrix moves each row's sum to the diagonal.
    diagonals = np.eye(weights.shape[-1]) * row_sums[..., None]
    return diagonals - weights


def design_variance(
    design: TournamentDesign,
    model: VerdictModel,
    models_without_part: list[VerdictModel],
    calls: float,
    level: float,
) -> Estimate:
    """Return the variance of the difference of two ratings that a design gives.

    Args:
        design: the tournament and its settings.
        model: the verdict model, assumed or of a pilot.
        models_without_part: the verdict models of the pilot without each part of its items; empty
            if there is no pilot.
        calls: judge calls of which the credit of a battle is the mean.
        level: confidence level, in (0, 1).

    Returns:
        `typical_variance` of a single item, in Elo squared, with a jackknife interval of its
        logarithm over `models_without_part`; without an interval if there is no pilot.
    """
    battle_count = play_schedule(design, model)
    variance = typical_variance(battle_count, model, calls)
    if not models_without_part:
        return Estimate(variance)
    others = [typical_variance(battle_count, other, calls) for other in models_without_part]
    return jackknife_of_log(variance, others, level)
