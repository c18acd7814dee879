"""How precisely a design rates models, from a pilot's verdicts or from those of simulated worlds.

A design is played with those verdicts as the judge. What its item-clustered covariance is for one item, divided by a
number of items, is what it will be for that number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, log
from typing import Literal

import numpy as np
from scipy.stats import norm

from podium.errors import NotIdentifiedError
from podium.planning.plan import Quantity
from podium.planning.sample_size import check_numbers
from podium.planning.simulation import Judge, simulate
from podium.plugins.catalogue import make_tournament
from podium.rankers.coded import code_battles
from podium.rankers.identification import bounded_models, fit_battles
from podium.rankers.intervals import ScoreEstimates, mean_interval, t_quantile
from podium.rankers.pairs import pair_sums, win_rates
from podium.rankers.rank_sets import compare_all_pairs
from podium.rankers.scale import elo_scale
from podium.scorers.battle import Orders
from podium.text import some
from podium.tournaments.selection import generator
from podium.verbs.replays import Recording, TournamentDesign, play, recording_of

GROUPS = 10
"""Of a pilot's items, left out in turn for the jackknife."""
DRAWS = 20
"""Simulated outcomes of a design behind the mean width of its rank sets."""
MOST_MODELS = 60
"""Of a simulated world."""
BATTLES = 20_000
"""Of a round robin in one world, at most, as long as there are enough items."""
FEWEST, MOST = 25, 100
"""Items of a world."""
WORLDS = 10
SPREAD = 1.0
"""Standard deviation of the models' strengths, and of what an item adds to each, logits."""


@dataclass(frozen=True, slots=True)
class PerItem:
    """What a design would do with a single item: ratings, centred on 1500, and their covariance times the items."""

    elo: np.ndarray
    covariance: np.ndarray

    @property
    def variance(self) -> float:
        """Mean over all pairs of the variance of their difference, times the number of items."""
        # The covariance of centred ratings has row sums of zero.
        return float(2 * np.trace(self.covariance) / (len(self.covariance) - 1))


@dataclass(frozen=True, slots=True)
class Precision:
    """How precisely a design rates: the variance of the difference of a typical pair, times the number of items.

    `cases` are the ratings and covariances behind it; `method` is that of its interval.
    """

    variance: Quantity
    cases: tuple[PerItem, ...]
    method: str

    def standard_error(self, items: int) -> Quantity:
        """Return the standard error of the difference of a typical pair, Elo."""
        return self.variance.through(lambda value: float(np.sqrt(value / items)))

    def smallest_gap(self, items: int, *, alpha: float, power: float) -> Quantity:
        """Return the difference in Elo of a typical pair that a one-sided test tells with this power."""
        reach = _standard_errors_told(alpha, power)
        return self.standard_error(items).through(lambda value: reach * value)

    def items_for(self, gap: float, *, alpha: float, power: float) -> Quantity:
        """Return the number of items on which a gap in Elo of a typical pair is told with this power."""
        reach = _standard_errors_told(alpha, power)
        return self.variance.through(lambda value: float(max(2, ceil(round(value * (reach / gap) ** 2, 9)))))

    def rank_width(self, items: int, *, level: float, seed: int) -> Quantity:
        """Return the mean number of ranks in a model's simultaneous rank set on so many items.

        Each case's ratings are taken as the truth; outcomes are drawn around them. The interval is Monte Carlo's (t).
        """
        draws = max(2, DRAWS // len(self.cases))
        rng = generator(seed, "rank sets", str(items))
        widths = np.array([[_width(case, items, level, rng) for _ in range(draws)] for case in self.cases])
        mean = Quantity(*mean_interval(widths[0] if len(self.cases) == 1 else widths.mean(axis=1), level))
        return mean.through(lambda width: float(np.clip(width, 1, len(self.cases[0].elo))))


def precision_in_pilot(design: TournamentDesign, record: Recording, *, level: float) -> Precision:
    """Return the precision of a design from a pilot's verdicts; its interval is a jackknife over groups of items.

    Raises:
        NotIdentifiedError: fewer than four items, battles of the design that are not on record, or no bounded ratings.
    """
    # In the order of their names, so that the groups do not depend on that of the rows.
    items = sorted(record.field.items)
    if len(items) < 4:
        raise NotIdentifiedError(f"precision needs at least 4 items, and the pilot has {len(items)}")
    whole = per_item(design, record)
    groups = min(GROUPS, len(items))
    fields = [
        replace(record.field, items=tuple(item for k, item in enumerate(items) if k % groups != left))
        for left in range(groups)
    ]
    logs = np.array([log(per_item(design, replace(record, field=field)).variance) for field in fields])
    error = np.sqrt((groups - 1) / groups * np.sum((logs - logs.mean()) ** 2))
    reach = t_quantile(groups, level) * error
    variance = Quantity(whole.variance, whole.variance * exp(-reach), whole.variance * exp(reach))
    method = f"jackknife of the logarithm over {groups} groups of items, t"
    return Precision(variance, (_draw_in(whole, len(items)),), method)


def precision_in_worlds(
    design: Callable[[Recording], TournamentDesign], records: Sequence[Recording], *, level: float
) -> Precision:
    """Return the precision of a design, made for each world, over two worlds or more; its interval is Monte Carlo's.

    Raises:
        NotIdentifiedError: the design gives no bounded ratings in one of them.
    """
    cases = tuple(per_item(design(record), record) for record in records)
    variance = Quantity(*mean_interval(np.log([case.variance for case in cases]), level)).through(exp)
    return Precision(variance, cases, f"Monte Carlo over {len(cases)} imagined worlds, t")


def simulated_worlds(
    models: int, *, ties: float, orders: Orders = "both", seed: int = 0, number: int = WORLDS
) -> list[Recording]:
    """Return the records of full round robins in simulated worlds.

    Strengths are normal with a standard deviation of one logit (174 Elo), each item moves each model by as much
    again, and every call of the judge errs by a logistic error; a share `ties` in [0, 1) of calls end in a tie.
    """
    items = int(np.clip(BATTLES // (models * (models - 1) // 2), FEWEST, MOST))
    shown: Literal["both", "ab"] = "both" if orders == "both" else "ab"
    records = []
    for k in range(number):
        world = simulate(models, items, seed=seed + k, spread=SPREAD, item_sd=SPREAD)
        margins = world.judgments(Judge(), orders=shown)["margin"].abs()
        # The same seed gives the same margins, so this threshold makes just that share of them ties.
        judge = Judge(tie=float(np.quantile(margins, ties)))
        records.append(recording_of(world.battles(judge, orders=shown)))
    return records


def middling_model(record: Recording) -> str:
    """Return a model of middling win rate; of equals, by name."""
    coded = code_battles(record.battles)
    ranked = sorted(zip(np.round(win_rates(pair_sums(coded)), 9), coded.models, strict=True))
    return ranked[len(ranked) // 2][1]


def per_item(design: TournamentDesign, record: Recording) -> PerItem:
    """Play a design with recorded verdicts, and return its ratings and their covariance for one item.

    Raises:
        NotIdentifiedError: battles are not on record, someone has no readable one, or a rating is not bounded.
    """
    played = play(make_tournament(design.name, design.settings), record)
    if played.price.missing:
        raise NotIdentifiedError(f"{played.price.missing:,} of its {played.price.battles:,} battles are not on record")
    coded = code_battles(played.battles)
    strengths = fit_battles(coded)
    if lacking := sorted(set(record.field.models) - set(coded.models)):
        raise NotIdentifiedError(f"without a readable battle in it: {some(lacking)}")
    if strengths.graph.separated.any():
        unbounded = [coded.models[k] for k in np.flatnonzero(strengths.graph.separated)]
        raise NotIdentifiedError(f"its verdicts bound no rating of {some(unbounded)}")
    scale = elo_scale(coded.models, bounded_models(strengths.graph), coded.clusters_by_model(), None, None)
    spread = scale.covariance(strengths.covariance(coded)) * len(record.field.items)
    return PerItem(scale.scores(strengths.theta), spread)


def _draw_in(whole: PerItem, items: int) -> PerItem:
    """Take from the spread of a pilot's ratings what chance adds to it, so that ranks are not told too easily."""
    seen = float(np.sum((whole.elo - whole.elo.mean()) ** 2))
    chance = float(np.trace(whole.covariance)) / items
    factor = np.sqrt(max(0.0, 1 - chance / seen)) if seen else 0.0
    return replace(whole, elo=whole.elo.mean() + factor * (whole.elo - whole.elo.mean()))


def _standard_errors_told(alpha: float, power: float) -> float:
    """Return the standard errors between nothing and a difference that is told with this power."""
    check_numbers(alpha=alpha, power=power)
    return float(norm.isf(alpha) + norm.ppf(power))


def _width(case: PerItem, items: int, level: float, rng: np.random.Generator) -> float:
    """Return the mean number of ranks in a rank set, when outcomes are drawn around the case's ratings."""
    spread = case.covariance / items
    # Centred ratings have a singular covariance: its root, not a Cholesky factor.
    values, vectors = np.linalg.eigh((spread + spread.T) / 2)
    noise = vectors @ (np.sqrt(np.maximum(values, 0)) * rng.standard_normal(len(values)))
    score, nothing = case.elo + noise, np.full(len(noise), np.nan)
    ranks = compare_all_pairs(ScoreEstimates(score, nothing, nothing, spread, items, None), level=level, rng=rng)
    return float(np.mean(ranks.worst_rank - ranks.best_rank + 1))
