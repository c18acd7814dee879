"""How precisely a design rates models: the Fisher information of the schedule that it plays,
clustered by item.

Every verdict is the expected credit p of the assumed ratings, so that SWIM can be played, too. With
L_t the Laplacian of item t's battles, weighted by v = p (1 - p), the fitted log-strengths have the
covariance A^-1 B A^-1, A = sum L_t and B = sum (w L_t^2 + R_t): w is the variance of item effects,
R_t the Laplacian of the variance left in the credits.
"""

from dataclasses import dataclass
from math import exp, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, ndtri

from podium.data.pairings import Field, Outcome, Round
from podium.errors import NotIdentifiedError
from podium.plugins.catalogue import make_tournament
from podium.rankers.errors.intervals import t_quantile
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

SPREAD, ITEM_EFFECT = 130.0, 170.0
"""Standard deviations of ratings over models, and of a model's rating over items, Elo, if there is
no pilot.

They are those of GPT-4's verdicts on seven models, the round robin that came with QLoRA.
"""
MOST_MODELS = 200
"""Models beyond which no precision is computed."""
FEWEST_ITEMS = 4
"""Items of a pilot below which no precision is estimated."""


@dataclass(frozen=True, slots=True)
class VerdictModel:
    """Ratings (`theta`: log-strengths), and how verdicts vary around the credits expected from
    them.

    `dispersion` is a credit's variance over p (1 - p); `calls` None counts as many as behind a
    planned battle.
    """

    names: tuple[str, ...]
    theta: np.ndarray
    item_variance: float
    dispersion: float
    calls: float | None = 1.0

    @property
    def information(self) -> np.ndarray:
        """Fisher information p (1 - p) of a battle about the difference of its two log-strengths,
        shape (n, n)."""
        expected = expit(self.theta[:, None] - self.theta)
        return np.asarray(expected * (1 - expected))

    def remaining_variance(self, calls: float) -> np.ndarray:
        """Return the variance, beyond item effects, of a credit that is a mean over judge calls,
        shape (n, n)."""
        per_verdict = self.information * np.maximum(
            self.dispersion - 2 * self.item_variance * self.information, 0
        )
        return per_verdict * (1 if self.calls is None else self.calls / calls)


def assumed_verdicts(names: tuple[str, ...], ties: float) -> VerdictModel:
    """Return the verdict model without a pilot: ratings at normal quantiles, usual item effects, a
    share of ties."""
    theta = ndtri((np.arange(len(names)) + 0.5) / len(names)) * SPREAD / POINTS
    credit = expit(np.subtract.outer(theta, theta)[np.triu_indices(len(names), 1)])
    # A verdict's variance is p (1 - p) - ties / 4, and ties are the more frequent, the closer two
    # models are.
    dispersion = 1 - ties / (4 * np.mean(credit * (1 - credit)))
    return VerdictModel(tuple(sorted(names)), theta, (ITEM_EFFECT / POINTS) ** 2, float(dispersion))


def cube_by_item(record: "Recording", values: np.ndarray) -> np.ndarray:
    """Return a value per battle as (items, first model by name, other), mirrored with the opposite
    sign, else NaN."""
    names = {name: k for k, name in enumerate(record.field.models)}
    items = {name: k for k, name in enumerate(record.field.items)}
    cube = np.full((len(items), len(names), len(names)), np.nan)
    places = [
        (items[own.pairing.item], names[own.pairing.a], names[own.pairing.b])
        for own in record.outcomes
    ]
    item, a, b = np.array(places, dtype=np.int64).reshape(-1, 3).T
    cube[item, a, b], cube[item, b, a] = values, -values
    return cube


def pilot_verdicts(record: "Recording") -> tuple[VerdictModel, list[VerdictModel]]:
    """Return the verdict model of a pilot, and those of the pilot without each tenth of its
    items."""
    names, table = record.field.models, record.battles.table
    # Sorted, so that the groups do not depend on the order of the rows.
    order = np.argsort(np.array(record.field.items, dtype=object), kind="stable")
    if len(order) < FEWEST_ITEMS:
        raise NotIdentifiedError(
            f"precision needs at least {FEWEST_ITEMS} items, and the pilot has {len(order)}"
        )
    coded = code_battles(record.battles)
    separated = fit_battles(coded).graph.separated
    if lacking := sorted(set(names) - set(coded.models)):
        raise NotIdentifiedError(f"the pilot has no readable battle of {some(lacking)}")
    if unbounded := [coded.models[k] for k in np.flatnonzero(separated)]:
        raise NotIdentifiedError(f"the pilot's verdicts bound no rating of {some(unbounded)}")
    credit = np.array([outcome.credit for outcome in record.outcomes], dtype=np.float64)
    cube = cube_by_item(record, 2 * credit - 1)[order]
    has_orders = "order" in table and table["order"].notna().all()
    calls = float((1 + (table["order"] == "merged")).sum() / len(credit)) if has_orders else None
    groups = min(10, len(order))
    parts = [cube[np.arange(len(order)) % groups != left] for left in range(groups)]
    whole, *others = (_fit_verdicts((1 + part) / 2, names, calls) for part in (cube, *parts))
    return whole, others


def _fit_verdicts(credit: np.ndarray, names: tuple[str, ...], calls: float | None) -> VerdictModel:
    """Estimate ratings, item effects and dispersion from credits by item, shape (items, n, n)."""
    known = ~np.isnan(credit)
    met = np.triu(known.sum(axis=0), 1).astype(np.float64)
    theta = fit_strengths(pairs_from_matrices(np.triu(np.nansum(credit, axis=0), 1), met)).theta
    expected = expit(theta[:, None] - theta)
    surplus = np.where(known, credit - expected, 0.0)
    information = np.where(known, expected * (1 - expected), 0.0)
    # Two battles of one model on one item share its effect: their surpluses have the covariance w v
    # v'.
    shared, weight = (
        np.sum(own.sum(axis=2) ** 2) - np.sum(own**2) for own in (surplus, information)
    )
    item_variance = max(float(shared / weight), 0.0) if weight > 0 else 0.0
    return VerdictModel(
        names, theta, item_variance, float(np.sum(surplus**2) / information.sum()), calls
    )


def play_schedule(design: TournamentDesign, model: VerdictModel) -> np.ndarray:
    """Return how often each pair meets on each item when every verdict is as expected, shape
    (items, n, n)."""
    # Chain and ring play other pairs on each item: more items average over these.
    size, most = len(model.names), 100 if design.name in ("chain", "ring") else 10
    number = int(np.clip(20_000 * most // size**2, 1, most))
    settings = dict(design.settings)
    # An anchor that is unknown or not among the models is replaced by a model of middling strength.
    if design.name == "anchor" and settings.get("anchor") not in model.names:
        settings["anchor"] = model.names[np.argsort(model.theta, kind="stable")[size // 2]]
    rule = make_tournament(design.name, settings)
    field = Field(model.names, tuple(f"item {k}" for k in range(number)), {})
    code, place = (
        {name: k for k, name in enumerate(names)} for names in (field.models, field.items)
    )
    expected = expit(model.theta[:, None] - model.theta).tolist()
    met, rounds = np.zeros((number, size, size)), list[Round]()
    while coming := rule.next(field, rounds).pairings:
        a, b = ([code[getattr(own, side)] for own in coming] for side in ("a", "b"))
        np.add.at(met, ([place[own.item] for own in coming], a, b), 1.0)
        rounds.append(
            Round(
                tuple(Outcome(own, expected[i][j]) for own, i, j in zip(coming, a, b, strict=True))
            )
        )
    return met + met.transpose(0, 2, 1)


def typical_variance(met: np.ndarray, model: VerdictModel, calls: float) -> float:
    """Return the mean variance over pairs of the difference of two ratings, times the number of
    items, Elo squared."""
    laplacians = _laplacian(met * model.information)
    remaining = _laplacian((met * model.remaining_variance(calls)).sum(axis=0))
    size = len(model.names)
    # Adding the constant vector makes the total invertible; centred log-strengths are not affected.
    constant = np.full((size, size), 1 / size)
    inverse = np.linalg.inv(laplacians.sum(axis=0) + constant) - constant
    spread = model.item_variance * (laplacians @ laplacians).sum(axis=0) + remaining
    # The covariance of centred ratings has row sums of zero.
    return float(POINTS**2 * 2 * np.trace(inverse @ spread @ inverse) * len(met) / (size - 1))


def _laplacian(weights: np.ndarray) -> np.ndarray:
    """Return the Laplacian of symmetric weights, shape (..., n, n)."""
    return np.eye(weights.shape[-1]) * weights.sum(axis=-1)[..., None] - weights


def design_variance(
    design: TournamentDesign,
    model: VerdictModel,
    others: list[VerdictModel],
    calls: float,
    level: float,
) -> Estimate:
    """Return the `typical_variance` of a design; its interval is a jackknife over `others` of
    `pilot_verdicts`."""
    met = play_schedule(design, model)
    variance = typical_variance(met, model, calls)
    if not others:
        return Estimate(variance)
    logs = np.log([typical_variance(met, other, calls) for other in others])
    error = sqrt((len(others) - 1) / len(others) * np.sum((logs - logs.mean()) ** 2))
    reach = t_quantile(len(others), level) * error
    return Estimate(variance, variance * exp(-reach), variance * exp(reach))
