"""informativeness: how often two models get different verdicts against an anchor.

Source: Don-Yehiya et al., section 4.3.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from podium.data.battles import Battles
from podium.defaults import LEVEL, RESAMPLES
from podium.errors import NotIdentifiedError
from podium.notices.notice import Notice
from podium.rankers.calibration.signals import readable_margins
from podium.rankers.errors.difference import (
    DifferenceTest,
    grouped_difference,
    paired_difference,
    sum_by_group,
)
from podium.rankers.errors.intervals import (
    Interval,
    PairTests,
    ScoreEstimates,
    bootstrap_estimate,
    covariance_of,
    resample,
    sandwich_estimate,
)
from podium.rankers.fit.coded import (
    CodedBattles,
    cluster_by_item,
    code_battles,
    ratio_or_nan,
    require_choice,
)
from podium.rankers.fit.graph import comparison_graph
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.fit.unequal_weights import are_unequal
from podium.rankers.ranking import Fit, Standings
from podium.rankers.standings import RankerResult, build_standings, measure_exposure

MOST_LEVELS = 21
"""If a judge's verdicts have more distinct sizes than this, its scale counts as continuous, and
verdicts are compared as win, tie or loss only."""


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Counts of pairs of models by their verdicts against an anchor, the model that both met.

    Attributes:
        differing: number of pairs whose verdicts against the anchor differ, shape (items,
            anchors).
        compared: number of pairs of which both verdicts are readable, shape (items, anchors).
        weight: weights of the items, 1 on average, shape (items,); None if all count alike.
        cluster: code of each item's group, from 0, shape (items,); None if items have no groups.
        unit: what varies independently: `item`, or the name of the groups.
    """

    differing: np.ndarray
    compared: np.ndarray
    weight: np.ndarray | None = None
    cluster: np.ndarray | None = None
    unit: str = "item"

    @property
    def weighted_counts(self) -> tuple[np.ndarray, np.ndarray]:
        """`differing` and `compared` times the weights of the items, shape (clusters, anchors)
        each. They are sums over the items of a group if items have groups."""
        differing = self.differing
        compared = self.compared
        if self.weight is not None:
            differing = self.weight[:, None] * differing
            compared = self.weight[:, None] * compared
        if self.cluster is None:
            return differing, compared
        return sum_by_group(differing, self.cluster), sum_by_group(compared, self.cluster)

    @property
    def share(self) -> np.ndarray:
        """Each anchor's share of pairs with different verdicts, shape (anchors,).

        It is NaN for an anchor against which no pair is compared.
        """
        differing, compared = self.weighted_counts
        return ratio_or_nan(differing.sum(axis=0), compared.sum(axis=0))

    @property
    def covariance(self) -> np.ndarray:
        """Covariance of the shares, shape (anchors, anchors).

        The share r = A / C of the weighted sums A of `differing` and C of `compared` is
        linearized: a cluster with counts a and c contributes (a - c r) / C to its error.
        """
        differing, compared = self.weighted_counts
        total = compared.sum(axis=0)
        # An anchor without compared pairs has errors of 0 instead of a division by 0.
        divisor = np.where(total > 0, total, 1)
        share = differing.sum(axis=0) / divisor
        return covariance_of((differing - compared * share) / divisor)

    def difference(self, first: int, second: int) -> DifferenceTest | None:
        """Test the difference between the shares of two anchors, given by code.

        The test is paired by item (`paired_difference`) or by group (`grouped_difference`). It is
        of the mean over items of the difference of the item's shares, over the items that have
        comparisons against both anchors. The result is None if there are no such items.
        """
        share_of_first = ratio_or_nan(self.differing[:, first], self.compared[:, first])
        share_of_second = ratio_or_nan(self.differing[:, second], self.compared[:, second])
        differences = share_of_first - share_of_second
        has_both = ~np.isnan(differences)
        if not has_both.any():
            return None
        differences = differences[has_both]
        weight = None if self.weight is None else self.weight[has_both]
        # Shares are in [0, 1], and so their differences are at most 1.
        if self.cluster is None:
            return paired_difference(differences, largest=1.0, weight=weight)
        if weight is None:
            weight = np.ones(len(differences))
        group = self.cluster[has_both]
        return grouped_difference(differences, weight, group, largest=1.0, unit=self.unit)


def informativeness(
    battles: Battles,
    *,
    level: float = LEVEL,
    rng: np.random.Generator,
    interval: Interval = "sandwich",
    resamples: int = RESAMPLES,
) -> Standings:
    """Rank anchors by I, the share of pairs of other models with different verdicts against them.

    The share is over all items and all unordered pairs of other models. Only pairs with both
    verdicts readable are compared; the column `pairs` counts them. An item counts by the mean
    weight of its battles. The score compares all distinct merged verdicts: by their margin if all
    battles have one and there are at most `MOST_LEVELS` sizes (as of five-level labels), else by
    their credit. The column `three_level` has I if only win, tie and loss are distinguished, and
    `three_level_se` its standard error. If credits are continuous, too, this I is the score, and
    there are no such columns.

    Args (others as of `bradley_terry`):
        interval: `sandwich` (linearized ratio, clustered by item, t quantile) or `bootstrap`
            (percentile).

    Raises:
        NotIdentifiedError: no readable battle, fewer than three models, or no two verdicts against
            a common anchor on one item.
        UsageError: an option value that is unknown or out of range.
    """
    require_choice("interval", interval, ("sandwich", "bootstrap"))
    coded = code_battles(battles)
    by_outcome, by_level = _compare_by_outcome_and_level(battles, coded)
    if len(coded.models) < 3:
        raise NotIdentifiedError(
            "informativeness needs at least three models: an anchor and two others to compare; "
            f"got {len(coded.models)}"
        )
    if not by_outcome.compared.any():
        raise NotIdentifiedError(
            "no item has readable verdicts of two models against a common third: "
            "informativeness needs an `item` column and several models judged on each item"
        )
    counts = by_outcome if by_level is None else by_level
    estimate = _estimate_shares(counts, level, interval, resamples, rng)
    pair_counts = counts.compared.sum(axis=0)
    not_compared = [coded.models[k] for k in np.flatnonzero(pair_counts == 0)]
    further_columns = _three_level_columns(by_outcome) if by_level else {}
    result = RankerResult(
        estimate,
        Fit(components=comparison_graph(pair_sums(coded)).groups),
        extra=further_columns | {"pairs": pair_counts},
        diagnostics={"levels": "full" if by_level else "three"},
        warnings=[*_comparison_warnings(battles, by_level, not_compared)],
    )
    exposure = measure_exposure(battles, coded)
    name = "informativeness"  # of the ranker and of its scale
    return build_standings(name, name, exposure, result, level=level, rng=rng)


def _compare_by_outcome_and_level(
    battles: Battles, coded: CodedBattles
) -> tuple[Comparisons, Comparisons | None]:
    """Return the comparisons by win, tie and loss, and those by the finest verdicts.

    The second result is None if verdicts are continuous (`finest_verdicts`).
    """
    by_item, cluster_of_item = cluster_by_item(battles, coded)
    groups: dict[str, Any] = {}
    if battles.group is not None:
        groups = {"cluster": cluster_of_item, "unit": coded.unit}
    by_outcome = replace(count_differences(by_item, coded.credit - 0.5, np.sign), **groups)
    verdict = finest_verdicts(readable_margins(battles)[battles.readable], coded.credit)
    if verdict is None:
        return by_outcome, None
    return by_outcome, replace(count_differences(by_item, verdict), **groups)


def _three_level_columns(by_outcome: Comparisons) -> dict[str, np.ndarray]:
    """Return the columns `three_level` and `three_level_se`, each of shape (anchors,).

    They have the shares that compare win, tie and loss only, and the standard errors of these
    shares.
    """
    return {
        "three_level": by_outcome.share,
        "three_level_se": np.sqrt(np.diag(by_outcome.covariance)),
    }


def count_differences(
    coded: CodedBattles,
    verdict: np.ndarray,
    level_of: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Comparisons:
    """Count, by item and anchor, the pairs of other models whose verdicts against the anchor
    differ.

    Args:
        coded: the battles.
        verdict: verdicts from the side of a, whose signs change if a and b are swapped, shape
            (battles,). A model's verdict on an item is the mean over its battles against the
            anchor.
        level_of: function that coarsens these means before they are compared, such as `np.sign`;
            by default they are compared as they are.
    """
    size = len(coded.models)
    differing = np.zeros((coded.clusters, size))
    compared = np.zeros((coded.clusters, size))
    for anchor, (item, model, verdict_of_opponent) in enumerate(_battles_by_anchor(coded, verdict)):
        cell = item * size + model
        battle_count = np.bincount(cell, minlength=coded.clusters * size)
        total = np.bincount(cell, verdict_of_opponent, coded.clusters * size)
        mean = np.round(ratio_or_nan(total, battle_count), 12)
        level = level_of(mean) if level_of else mean
        level_by_item = level.reshape(-1, size)
        is_known = ~np.isnan(level_by_item)
        compared[:, anchor] = _pairs_among(is_known.sum(axis=1))
        # Pairs of equal verdicts are counted for each verdict in turn.
        equal = np.zeros(coded.clusters)
        for value in np.unique(level_by_item[is_known]):
            equal += _pairs_among((level_by_item == value).sum(axis=1))
        differing[:, anchor] = compared[:, anchor] - equal
    # The mean weight of each item's battles.
    weight = coded.cluster_weights() / np.bincount(coded.cluster)
    return Comparisons(differing, compared, weight / weight.mean())


def _pairs_among(models: np.ndarray) -> np.ndarray:
    """Return n (n - 1) / 2, the number of unordered pairs, for each number n of models."""
    return models * (models - 1) / 2


def _battles_by_anchor(
    coded: CodedBattles, verdict: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield three arrays of the battles of each model as anchor, in the order of the codes.

    The arrays are the codes of the items, the codes of the opponents, and the verdicts from the
    side of the opponents, with an element for each battle of the anchor. `verdict` has the verdicts
    from the side of a, shape (battles,).
    """
    # Each battle occurs twice: once with b as the anchor, and once with a. Sorted by anchor, the
    # arrays are split where the next anchor begins.
    anchor = np.concatenate([coded.b, coded.a])
    order = np.argsort(anchor, kind="stable")
    item = np.tile(coded.cluster.astype(np.int64), 2)[order]
    opponent = np.concatenate([coded.a, coded.b]).astype(np.int64)[order]
    verdict_of_opponent = np.concatenate([verdict, -verdict])[order]
    ends = np.cumsum(np.bincount(anchor, minlength=len(coded.models)))[:-1]
    yield from zip(
        np.split(item, ends),
        np.split(opponent, ends),
        np.split(verdict_of_opponent, ends),
        strict=True,
    )


def finest_verdicts(margin: np.ndarray, credit: np.ndarray) -> np.ndarray | None:
    """Return the verdicts of battles from the side of a, on the finest scale that is not
    continuous.

    They are the margins if all margins are known and have at most `MOST_LEVELS` distinct sizes;
    else 2 credit - 1 if these values have no more sizes either; else None. Verdicts are rounded to
    12 digits. `margin` (NaN if unknown) and `credit` have shape (battles,).
    """
    for verdict in (np.round(margin, 12), np.round(2 * credit - 1, 12)):
        has_few_levels = len(np.unique(np.abs(verdict))) <= MOST_LEVELS
        if has_few_levels and not np.isnan(verdict).any():
            return verdict
    return None


def _comparison_warnings(
    battles: Battles, by_level: Comparisons | None, not_compared: Sequence[str]
) -> Iterator[Notice]:
    """Yield warnings about a coarse scale of the verdicts, and about models without comparisons.

    The scale is coarser than the judge's if verdicts are continuous (`continuous-verdicts`), or if
    some but not all have a margin (`compared-by-credit`). Models without comparisons are named by
    `no-common-opponent`. `by_level` is None if verdicts are continuous. `not_compared` are the
    names of the models without comparisons.
    """
    margins = readable_margins(battles)[battles.readable]
    without_margin = int(np.isnan(margins).sum())
    if by_level is None:
        yield Notice("continuous-verdicts")
    elif 0 < without_margin < battles.readable.sum():
        yield Notice("compared-by-credit", {"battles": without_margin})
    if not_compared:
        yield Notice("no-common-opponent", {"models": list(not_compared)})


def _estimate_shares(
    counts: Comparisons, level: float, interval: Interval, resamples: int, rng: np.random.Generator
) -> ScoreEstimates:
    """Return each anchor's share of different verdicts with intervals in [0, 1].

    `interval` is `sandwich` or `bootstrap`; `resamples` and `rng` are used by the latter only.
    """
    score = counts.share
    differing, compared = counts.weighted_counts
    clusters = len(differing)
    about: dict[str, Any] = {"level": level, "cluster": counts.unit}
    if interval == "bootstrap":

        def resampled_shares(numbers_of_draws: np.ndarray) -> np.ndarray:
            """Return the shares in resamples, NaN where unknown, shape (resamples, anchors).

            `numbers_of_draws` says how often each cluster is drawn, shape (resamples, clusters).
            """
            return ratio_or_nan(numbers_of_draws @ differing, numbers_of_draws @ compared)

        draws = resample(resampled_shares, clusters, resamples, rng)
        estimate = bootstrap_estimate(score, draws, clusters, **about)
    else:
        estimate = sandwich_estimate(score, counts.covariance, clusters, **about)
    weight = np.ones(len(counts.differing)) if counts.weight is None else counts.weight
    return replace(
        estimate.clip(0, 1),
        tests=PairTests(counts.difference),
        has_unequal_weights=are_unequal(weight / weight.sum()),
    )
