"""Non-transitivity of verdicts on single items, over triples of models (Xu et al. 2025).

A triple of models on an item is intransitive if its three verdicts agree with no order of the
three models. PNT is the percentage of intransitive triples. SNTD, the soft non-transitivity
deviation, measures with soft credits how far a triple is from transitive.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, isqrt
from typing import Any, NamedTuple

import numpy as np

from podium.data.battles import MOST_SLICES, Battles
from podium.diagnosis.clustered import Clustered
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value
from podium.distinct_values import distinct_values
from podium.distributions import entr, expit, logit
from podium.numbers import cell_text, interval_text
from podium.rankers.errors.intervals import finite_or_none, wilson_interval
from podium.rankers.fit.coded import (
    CodedBattles,
    cluster_by_item,
    code_battles,
    ratio_or_nan,
)
from podium.rankers.fit.pairs import pair_sums, win_rates
from podium.tables import Table
from podium.text import as_text
from podium.wording import quantity

LARGEST_TIE = 0.025
"""Credits at most this far from 0.5 are ties.

Source: Xu et al. 2025, appendix B.1 (0.475 to 0.525).
"""
CLIP = 1e-6
"""Credits nearer to 0 or 1 than this are moved to this distance, so that log-odds are finite."""
SMALLEST_LEAD = 0.1
"""Smallest gap between the win rates of two models that is called a lead.

A smaller gap is called a margin.
"""
MOST_CELLS = 400_000_000
"""Largest product of triples and items; with more, transitivity is not measured."""
# Outcome codes: the verdict on a pair of models and an item, seen from the stronger model.
LOSS = 0
TIED = 1
WIN = 2
UNKNOWN = 3
# Kinds of triples on items: with an order, without one, or with an unknown verdict.
TRANSITIVE = 0
INTRANSITIVE = 1
UNDECIDED = 2
# Stability of a verdict when the order is swapped: unchanged, changed, or not known.
STEADY = 0
SHAKY = 1
UNSEEN = 2
SCENARIOS = ("lead, lead", "lead, margin", "margin, lead", "margin, margin")
"""Kinds of the two gaps in a triple: first to second model, and second to third.

A gap between win rates is a `lead` from `SMALLEST_LEAD` on, and a `margin` below it (Xu et al.,
2025)."""
# Positions in `GROUPS`. A triple on an item is consistent if no verdict changes when the order is
# swapped, and ambiguous if a verdict changes.
ALL_TRIPLES = 0
CONSISTENT = 1
AMBIGUOUS = 2
FIRST_SCENARIO = 3
MOST_LISTED = 2_000
"""Largest number of single triples that are listed; all are counted."""
ROUND_ROBINS = "round robins: all pairs of at least three models"
"""What helps if too few triples of models were judged."""
TRIPLES_ON_ITEMS = "triples on items"
"""What the sample size of a figure counts."""
GROUPS = ("all", "consistent", "ambiguous", *SCENARIOS)
"""Names of the groups of triples on items; a triple may be in several groups."""
UNSWAPPED = Missing(
    "no triple on an item has all three pairs judged in both orders",
    "show every pair in both orders, and let them be merged (a column order, or --shown)",
)
"""Why figures by consistency are missing."""
HARD_VERDICTS = Missing(
    "most credits are wins, ties and losses, on which it depends on the clip alone",
    "ask the judge for token probabilities, or give soft credits; the model-level SNTD is below",
)
"""Why the SNTD is missing if most credits are hard."""
# Three models get all combinations of places 0, 1, 2, ties included. The sign of the difference
# of two places is the outcome of the pair: -1, 0, 1 becomes LOSS, TIED, WIN.
WEAK_ORDERS = {
    tuple(np.sign([b - a, c - b, c - a]) + TIED) for a, b, c in product(range(3), repeat=3)
}
"""Outcome codes of the pairs ab, bc and ac that agree with an order of a, b, c, ties allowed.

Source: Xu et al. 2025, appendix B.1, which misprints two of them.
"""


def _kind_of_triple(codes: tuple[int, ...]) -> int:
    """Return `TRANSITIVE` or `INTRANSITIVE`; `UNDECIDED` if any of the outcomes is unknown.

    Args:
        codes: outcome codes of the pairs ab, bc and ac.
    """
    if UNKNOWN in codes:
        return UNDECIDED
    return TRANSITIVE if codes in WEAK_ORDERS else INTRANSITIVE


KINDS = np.array([_kind_of_triple(codes) for codes in product(range(4), repeat=3)], dtype=np.uint8)
"""The kinds of triples, indexed by 16 ab + 4 bc + ac of their outcome codes, shape (64,)."""


class TripleCounts(NamedTuple):
    """Counts over triples of models and items.

    A triple is counted once on each item. The three rows of `by_triple` and `by_group` are: the
    number of triples with three known verdicts; the number of intransitive triples among them; and
    the sum of their SNTD.

    Attributes:
        models: names of the models, the highest win rate first.
        soft: whether at least half of the credits are soft. If not, the sums of the SNTD are 0.
        triples: positions in `models` of the models of each triple, i < j < k, shape (triples, 3).
        scenario: position in `SCENARIOS` of each triple, by the win rates of its models, shape
            (triples,).
        by_triple: sums over items, shape (3, triples).
        by_group: sums over triples by group (see `GROUPS`) and item, shape (3, groups, items).
        ties: share of ties among the known verdicts on a pair and an item.
        cluster: code of each item's cluster: the item or its group, shape (items,).
        unit: what a cluster is: `item`, or the name of the groups of items.
    """

    models: tuple[str, ...]
    soft: bool
    triples: np.ndarray
    scenario: np.ndarray
    by_triple: np.ndarray
    by_group: np.ndarray
    ties: float
    cluster: np.ndarray
    unit: str


def pair_number(i: np.ndarray, j: np.ndarray, models: int) -> np.ndarray:
    """Return the number of the pair (i, j), i < j, among all pairs of models.

    Pairs are numbered in the order of `numpy.triu_indices(models, 1)`: (0, 1), (0, 2), ...

    Args:
        i: code of the first model of each pair, any shape.
        j: code of the second model, greater than `i`, same shape.
        models: number of models.
    """
    return i * (2 * models - i - 1) // 2 + (j - i - 1)


def triples_among(models: int) -> np.ndarray:
    """Return all triples of codes i < j < k below the number of models, shape (triples, 3)."""
    triples = list(combinations(range(models), 3))
    # Without triples, the array would have one axis.
    return np.array(triples, dtype=np.int64).reshape(-1, 3)


def count_triples(battles: Battles) -> TripleCounts | Missing:
    """Count known and intransitive triples of models on items, and sum their SNTD.

    The verdict of a pair on an item is the unweighted mean of its credits over judges, responses
    and repeats.

    Returns:
        The counts. `Missing` if no row names its item, if there are fewer than 3 models, or if
        there are more than `MOST_CELLS` triples on items.

    Raises:
        NotIdentifiedError: no battle is readable.
    """
    if not battles.has_items:
        return Missing("no row names its item", "name the item's column: --columns item=COLUMN")
    of_clusters = code_battles(battles)
    coded, cluster = cluster_by_item(battles, of_clusters)
    models = len(coded.models)
    items = coded.clusters
    if models < 3:
        return Missing(
            f"{quantity(models, 'model', 'makes|make')} no triple",
            "judge at least three models",
        )
    if comb(models, 3) * items > MOST_CELLS:
        why = f"{models:,} models on {quantity(items, 'item')} have too many triples"
        return Missing(why, "choose fewer models or items with --where")
    rate = win_rates(pair_sums(coded))
    order = np.argsort(-rate, kind="stable")
    rank = np.argsort(order)  # 0 for the model with the highest win rate
    credit, stability = _arrange_verdicts(battles, coded, rank)
    outcome = outcomes(credit)
    triples = triples_among(models)
    scenario = _scenarios_of_triples(rate[order], triples)
    soft = _is_mostly_soft(coded.credit)
    credit_for_sntd = credit if soft else None
    by_triple, by_group = _sum_triples(scenario, outcome, stability, credit_for_sntd)
    known_verdicts = max((outcome != UNKNOWN).sum(), 1)
    return TripleCounts(
        models=tuple(coded.models[k] for k in order),
        soft=soft,
        triples=triples,
        scenario=scenario,
        by_triple=by_triple,
        by_group=by_group,
        ties=float((outcome == TIED).sum() / known_verdicts),
        cluster=cluster,
        unit=of_clusters.unit,
    )


def _scenarios_of_triples(rate: np.ndarray, triples: np.ndarray) -> np.ndarray:
    """Return the position in `SCENARIOS` of each triple, shape (triples,).

    Args:
        rate: win rates of the models, the highest first, shape (models,).
        triples: positions of the models of each triple, the strongest first, shape (triples, 3).
    """
    # Gaps between the win rates: first minus second model, and second minus third.
    gaps = -np.diff(rate[triples], axis=1)
    is_margin = gaps < SMALLEST_LEAD
    # 2 if the first gap is a margin, plus 1 if the second gap is a margin.
    return 2 * is_margin[:, 0] + is_margin[:, 1]


def _is_mostly_soft(credit: np.ndarray) -> bool:
    """Return whether at least half of the credits are soft.

    A credit is soft if it is neither a multiple of a quarter, as the mean of hard verdicts in two
    orders is, nor within `CLIP` of 0 or 1.
    """
    is_extreme = (credit < CLIP) | (credit > 1 - CLIP)
    is_quarter = np.abs(4 * credit - np.round(4 * credit)) < 1e-9
    return bool((is_extreme | is_quarter).mean() <= 0.5)


def _sum_triples(
    scenario: np.ndarray, outcome: np.ndarray, stability: np.ndarray, credit: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the sums `by_triple` and `by_group` of `TripleCounts`.

    Triples are numbered as by `triples_among`, so that triples with the same first two models
    follow one another. These are counted together, on the items with a verdict on the two.

    Args:
        scenario: position in `SCENARIOS` of each triple, shape (triples,).
        outcome: outcome codes of the verdicts, shape (pairs, items).
        stability: `STEADY`, `SHAKY` or `UNSEEN` for each verdict, shape (pairs, items).
        credit: credits, shape (pairs, items); None to leave the SNTD 0.

    Returns:
        The sums, shapes (3, triples) and (3, groups, items).
    """
    pairs, items = outcome.shape
    by_triple = np.zeros((3, len(scenario)))
    by_group = np.zeros((3, len(GROUPS), items))
    for rows, ab, bc, ac in _triples_by_first_pair(pairs):
        judged_items = _judged_items(outcome[ab])
        # The outcomes of the three pairs are the digits of a number to the base 4.
        triple = (
            16 * outcome[ab, judged_items]
            + 4 * outcome[bc, judged_items]
            + outcome[ac, judged_items]
        )
        kind = KINDS[triple]
        is_known = kind != UNDECIDED
        if not is_known.any():
            continue
        summands = [is_known, kind == INTRANSITIVE]
        if credit is not None:
            credits = (np.nan_to_num(credit[pair, judged_items], nan=0.5) for pair in (ab, bc, ac))
            summands.append(np.where(is_known, deviation(*credits), 0))
        codes = [stability[pair, judged_items] for pair in (ab, bc, ac)]
        members = _members_of_groups(scenario[rows, None], codes)
        for place, values in enumerate(summands):
            # Sums of booleans are several times faster in 32 bits.
            dtype = np.int32 if values.dtype == bool else np.float64
            by_triple[place, rows] = values.sum(axis=1, dtype=dtype)
            for group, is_member in members.items():
                by_group[place, group, judged_items] += (values * is_member).sum(
                    axis=0, dtype=dtype
                )
    return by_triple, by_group


def _judged_items(outcome: np.ndarray) -> np.ndarray | slice:
    """Return the positions of the items with a verdict, or a slice of all items if most have one.

    A slice is faster to read. The items without a verdict are then `UNDECIDED`.

    Args:
        outcome: outcome codes of a pair, shape (items,).
    """
    judged_cells = np.flatnonzero(outcome != UNKNOWN)
    return slice(None) if 2 * len(judged_cells) > len(outcome) else judged_cells


def _triples_by_first_pair(pairs: int) -> Iterator[tuple[slice, int, slice, slice]]:
    """Yield each pair of models i < j with its triples i < j < k, in the order of `triples_among`.

    Pairs without a k are left out.

    Args:
        pairs: number of pairs of models.

    Yields:
        The numbers of the triples; the number of the pair (i, j); and the numbers of the pairs
        (j, k) and (i, k) for all k.
    """
    start = 0
    # The number of models n solves n (n - 1) / 2 = pairs.
    models = (1 + isqrt(1 + 8 * pairs)) // 2
    for i, j in combinations(range(models - 1), 2):
        third_models = models - 1 - j
        # The numbers, as of `pair_number`, of (i, j) and of the first pair (j, k), which is
        # (j, j + 1). The pairs (i, k) follow (i, j).
        ab = i * (2 * models - i - 1) // 2 + (j - i - 1)
        bc = j * (2 * models - j - 1) // 2
        rows = slice(start, start + third_models)
        start = rows.stop
        pairs_bc = slice(bc, bc + third_models)
        pairs_ac = slice(ab + 1, ab + 1 + third_models)
        yield rows, ab, pairs_bc, pairs_ac


def _members_of_groups(scenario: np.ndarray, stability: Sequence[np.ndarray]) -> dict[int, Any]:
    """Return the masks of the groups that the triples on items belong to, by position in `GROUPS`.

    The mask of `ALL_TRIPLES` is True. Scenarios without a triple are left out.

    Args:
        scenario: position in `SCENARIOS` of each triple, shape (triples, 1).
        stability: stability codes of the three verdicts; each shape is (triples, items), or one
            that is broadcast to it.
    """
    # The largest code is that of the least stable verdict, because STEADY < SHAKY < UNSEEN.
    stability_ab, stability_bc, stability_ac = stability
    least_stable = np.maximum(np.maximum(stability_ab, stability_bc), stability_ac)
    members = {
        ALL_TRIPLES: True,
        CONSISTENT: least_stable == STEADY,
        AMBIGUOUS: least_stable == SHAKY,
    }
    for number in distinct_values(scenario).tolist():
        members[FIRST_SCENARIO + number] = scenario == number
    return members


def _arrange_verdicts(
    battles: Battles, coded: CodedBattles, place: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Arrange verdicts by pair and item.

    Several verdicts on a pair and an item are averaged. They are `UNSEEN` if one of them was not
    read in both orders, else `SHAKY` if one changes when the order is swapped, else `STEADY`.

    Args:
        battles: the battles, with the outcome of the swap in the column `swap`. Without this
            column all verdicts are `UNSEEN`.
        coded: the readable battles as arrays.
        place: rank of each model, 0 for the strongest, shape (models,).

    Returns:
        The mean credit of the stronger model, NaN if there is no verdict; and the stability code
        (`UNSEEN` also without a verdict). The shape of each is (pairs, items), with pairs of ranks
        as `pair_number` numbers them.
    """
    first = place[coded.a]
    second = place[coded.b]
    pair = pair_number(np.minimum(first, second), np.maximum(first, second), len(place))
    shape = (comb(len(place), 2), coded.clusters)
    cell = pair * coded.clusters + coded.cluster
    votes = np.bincount(cell, minlength=shape[0] * shape[1])
    credit_of_stronger = np.where(first < second, coded.credit, 1 - coded.credit)
    total = np.bincount(cell, credit_of_stronger, len(votes))
    mean = ratio_or_nan(total, votes)
    stability = np.full(len(votes), UNSEEN, dtype=np.uint8)
    if "swap" in battles.rows.battle_columns:
        # Later assignments win: one shaky or unseen verdict decides for all of its cell.
        swap = battles.rows.texts_of("swap")[battles.readable]
        is_shaky = np.isin(swap, ("half", "flip"))
        is_unseen = ~np.isin(swap, ("same", "half", "flip"))
        stability[votes > 0] = STEADY
        stability[cell[is_shaky]] = SHAKY
        stability[cell[is_unseen]] = UNSEEN
    return mean.reshape(shape), stability.reshape(shape)


def outcomes(credit: np.ndarray) -> np.ndarray:
    """Return the outcome codes (`LOSS`, `TIED`, `WIN`, `UNKNOWN`) of credits, same shape.

    Credits within `LARGEST_TIE` of 0.5 are ties, and NaN is unknown.
    """
    # Rounded, so that 0.475 and 0.525 are ties.
    is_decisive = np.round(np.abs(credit - 0.5) - LARGEST_TIE, 12) > 0
    winner = np.where(credit > 0.5, WIN, LOSS)
    outcome = np.where(is_decisive, winner, TIED)
    return np.where(np.isnan(credit), UNKNOWN, outcome).astype(np.uint8)


def deviation(ab: np.ndarray, bc: np.ndarray, ac: np.ndarray) -> np.ndarray:
    """Return the SNTD of three credits, in nats.

    The SNTD is the mean Jensen-Shannon divergence of each credit from the credit that the other two
    imply. With log-odds s, transitive credits have s_ab + s_bc = s_ac. The implied log-odds are
    therefore s_ac - s_bc, s_ac - s_ab and s_ab + s_bc. Source: Xu et al. 2025, equations 3 to 5.

    Args:
        ab: credit of a against b, in [0, 1], any shape. Credits are clipped to a distance of
            `CLIP` from 0 and 1.
        bc: credit of b against c, same shape.
        ac: credit of a against c, same shape.
    """
    observed = [
        np.clip(np.asarray(credit, dtype=np.float64), CLIP, 1 - CLIP) for credit in (ab, bc, ac)
    ]
    s_ab, s_bc, s_ac = (logit(credit) for credit in observed)
    discrepancy = s_ab + s_bc - s_ac
    implied = [
        np.clip(expit(log_odds), CLIP, 1 - CLIP)
        for log_odds in (s_ab - discrepancy, s_bc - discrepancy, s_ac + discrepancy)
    ]
    divergences = [divergence(p, q) for p, q in zip(observed, implied, strict=True)]
    return np.sum(divergences, axis=0) / 3


def divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the Jensen-Shannon divergence of two Bernoulli distributions, in nats.

    The divergence is H((p + q) / 2) - (H(p) + H(q)) / 2 with the entropy H. The success
    probabilities p and q may have any shape.
    """
    mean = (p + q) / 2
    entropy, entropy_p, entropy_q = (entr(share) + entr(1 - share) for share in (mean, p, q))
    return np.maximum(entropy - (entropy_p + entropy_q) / 2, 0)


def chance_of_no_order(ties: float) -> float:
    """Return the expected share of intransitive triples (PNT) for random verdicts.

    The three verdicts of a triple are independent, and wins and losses are equally likely. The
    result is 0.25 without ties.

    Args:
        ties: probability of a tie, in [0, 1].
    """
    p = {LOSS: (1 - ties) / 2, TIED: ties, WIN: (1 - ties) / 2}
    chances = []
    for ab, bc, ac in product(p, repeat=3):
        if (ab, bc, ac) not in WEAK_ORDERS:
            chances.append(p[ab] * p[bc] * p[ac])
    return float(sum(chances))


class TripleGroup(NamedTuple):
    """Transitivity of a group of triples on items.

    Attributes:
        name: one of `GROUPS`, or a category of items.
        hard: PNT, the share of intransitive triples.
        soft: SNTD, the mean deviation from transitivity, in nats. `Missing` if most credits are
            hard.
    """

    name: str
    hard: Figured
    soft: Figured


class Triple(NamedTuple):
    """Transitivity of three models.

    Attributes:
        models: names of the models, the strongest first.
        items: number of items on which all three verdicts are known.
        hard: PNT, the share of these items on which the triple is intransitive.
        hard_low: lower end of the interval of the PNT; None for a single item.
        hard_high: upper end of the interval of the PNT; None for a single item.
        soft: SNTD in nats; None if most credits are hard.
        scenario: whether the two gaps between the models are leads or margins: one of `SCENARIOS`.
    """

    models: tuple[str, ...]
    items: int
    hard: float
    hard_low: float | None
    hard_high: float | None
    soft: float | None
    scenario: str


@dataclass(frozen=True, slots=True)
class Transitivity(CardAnswer):
    """Transitivity of verdicts on single items.

    Attributes:
        triples: number of triples of models with all three verdicts on some item.
        possible: number of triples of all models.
        items: number of items on which some triple has all three verdicts.
        hard: PNT, the share of intransitive triples on items.
        chance: PNT of random verdicts with the same share of ties.
        soft: SNTD, the mean deviation from transitivity, in nats.
        consistent: PNT and SNTD of triples whose three verdicts do not change when the order is
            swapped.
        ambiguous: PNT and SNTD of triples whose three pairs were read in both orders and with a
            verdict that changes.
        consistent_share: share of consistent triples among those whose three pairs were read in
            both orders.
        scenarios: PNT and SNTD by the gaps between the models, in the order of `SCENARIOS`.
        categories: PNT and SNTD by category of the item.
        triplets: at most 2,000 single triples, the largest PNT first.
    """

    triples: int
    possible: int
    items: int
    hard: Figured
    chance: float
    soft: Figured
    consistent: TripleGroup | Missing
    ambiguous: TripleGroup | Missing
    consistent_share: Figured
    scenarios: tuple[TripleGroup, ...]
    categories: tuple[TripleGroup, ...] | Missing
    triplets: tuple[Triple, ...]

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        """Return PNT and SNTD of all triples, the consistent share, and PNT by consistency.

        If categories are missing, a line says why.
        """
        triples = f"{self.triples:,} of {quantity(self.possible, 'triple')}"
        lines: list[tuple[str, Value]] = [
            ("judged", f"{triples}, {quantity(self.items, 'item')}"),
            ("hard: intransitive triples on items (PNT)", self.hard),
            ("  of random verdicts with as many ties", f"{self.chance:.1%}"),
            ("soft: deviation from transitivity (SNTD)", self.soft),
            ("consistent under a swap, all three pairs", self.consistent_share),
        ]
        for group in (self.consistent, self.ambiguous):
            if isinstance(group, TripleGroup):
                lines.append((f"PNT, {group.name} items", group.hard))
        if isinstance(self.categories, Missing):
            lines.append(("by category", self.categories))
        return tuple(lines)

    def tables(self) -> tuple[Table, ...]:
        """Return tables by gap in strength, by category, and of the five least transitive triples.

        The table by category is left out if categories are missing.
        """
        groups = [group for group in self.scenarios if isinstance(group.hard, Statistic)]
        gaps = (
            f"By gap in strength (A strongest; lead = win rates at least {SMALLEST_LEAD:g} apart)"
        )
        tables = [_triples_table(gaps, header="A over B, B over C", groups=groups)]
        if not isinstance(self.categories, Missing):
            tables.append(_triples_table("By category", header="category", groups=self.categories))
        worst = []
        for triple in self.triplets[:5]:
            low = None if triple.hard_low is None else 100 * triple.hard_low
            high = None if triple.hard_high is None else 100 * triple.hard_high
            interval = interval_text(low, high, ".1f")
            figures = (f"{triple.hard:.1%}", interval, cell_text(triple.soft, ".4f"))
            worst.append((" > ".join(triple.models), f"{triple.items:,}", *figures))
        header = ("triple, strongest first", "items", "PNT", "interval", "SNTD")
        return (*tables, Table(title="Least transitive triples", header=header, rows=tuple(worst)))


def transitivity(battles: Battles, *, level: float = 0.95) -> Transitivity | Missing:
    """Measure PNT and SNTD over triples of models and items.

    Source: Xu et al. 2025, equations 2 to 5.

    Args:
        battles: the battles, with the two orders merged.
        level: confidence level of intervals, in (0, 1).

    Returns:
        The figures; `Missing` for the reasons of `count_triples`, or if no triple has all three
        verdicts on one item.

    Raises:
        NotIdentifiedError: no battle is readable.
    """
    counts = count_triples(battles)
    if isinstance(counts, Missing):
        return counts
    triples_of_group = counts.by_group[0]
    if not triples_of_group[ALL_TRIPLES].any():
        why = "no three models have all three verdicts on one item"
        return Missing(why, f"judge {ROUND_ROBINS} on the same items")
    groups = [_estimate_group(name, counts, k, level) for k, name in enumerate(GROUPS)]
    swapped_triples = triples_of_group[CONSISTENT] + triples_of_group[AMBIGUOUS]
    consistent_share: Figured = UNSWAPPED
    consistent: TripleGroup | Missing = UNSWAPPED
    ambiguous: TripleGroup | Missing = UNSWAPPED
    if swapped_triples.any():
        items = Clustered(counts.cluster, counts.unit, level)
        consistent_share = items.share(
            triples_of_group[CONSISTENT], TRIPLES_ON_ITEMS, cells=swapped_triples
        )
        consistent = groups[CONSISTENT]
        ambiguous = groups[AMBIGUOUS]
    return Transitivity(
        triples=int((counts.by_triple[0] > 0).sum()),
        possible=len(counts.triples),
        items=int((triples_of_group[ALL_TRIPLES] > 0).sum()),
        hard=groups[ALL_TRIPLES].hard,
        chance=chance_of_no_order(counts.ties),
        soft=groups[ALL_TRIPLES].soft,
        consistent=consistent,
        ambiguous=ambiguous,
        consistent_share=consistent_share,
        scenarios=tuple(groups[FIRST_SCENARIO:]),
        categories=_categories(battles, level),
        triplets=_triplets(counts, level),
    )


def _estimate_group(name: str, counts: TripleCounts, group: int, level: float) -> TripleGroup:
    """Estimate PNT and SNTD of one group of triples, with intervals over items.

    Both are `Missing` if the group has no triple with three known verdicts. The SNTD is also
    `Missing` if most credits are hard.

    Args:
        name: name of the group in the result.
        counts: the counts of all groups.
        group: position of the group in `GROUPS`.
        level: confidence level.
    """
    triples_of_item, intransitive, sntd = counts.by_group[:, group]
    items = Clustered(counts.cluster, counts.unit, level)
    wording: dict[str, Any] = {
        "of": TRIPLES_ON_ITEMS,
        "what": f"{TRIPLES_ON_ITEMS} ({name})",
        "remedy": "judge more items or models",
    }
    soft: Figured = HARD_VERDICTS
    if counts.soft:
        soft = items.mean(
            sntd, cells=triples_of_item, within=(0.0, np.inf), unit=Unit.NATS, **wording
        )
    return TripleGroup(
        name=name, hard=items.share(intransitive, cells=triples_of_item, **wording), soft=soft
    )


def _categories(battles: Battles, level: float) -> tuple[TripleGroup, ...] | Missing:
    """Estimate PNT and SNTD of each category of items.

    The result has one group per category, with the category's name, in the order of the names. A
    category whose triples cannot be counted has `Missing` figures. The result itself is `Missing`
    if no row has a category, or if there are more than `MOST_SLICES` categories.
    """
    if "category" not in battles.rows.battle_columns or battles.table["category"].isna().all():
        return Missing("there is no column category", "add a column category")
    categories = as_text(battles.table["category"]).nunique()
    if categories > MOST_SLICES:
        return Missing(f"{categories:,} categories are too many", f"give at most {MOST_SLICES}")
    groups = []
    for name, part in battles.slices("category"):
        counts: TripleCounts | Missing
        if part.readable.any():
            counts = count_triples(part)
        else:
            counts = Missing("no battle has a verdict", "re-judge the unparsed battles")
        if isinstance(counts, Missing):
            groups.append(TripleGroup(name=name, hard=counts, soft=counts))
        else:
            groups.append(_estimate_group(name, counts, ALL_TRIPLES, level))
    return tuple(groups)


def _triplets(counts: TripleCounts, level: float) -> tuple[Triple, ...]:
    """Return PNT and SNTD of single triples, the largest PNT first.

    Triples with the same PNT are sorted by their number of items, the largest first. At most
    `MOST_LISTED` are returned. Triples without an item that has all three verdicts are left out.
    """
    compared_triples = np.flatnonzero(counts.by_triple[0] > 0)
    items, intransitive, _ = counts.by_triple[:, compared_triples]
    # The last key of `lexsort` sorts first: the largest share, then the most items.
    sorted_places = np.lexsort((compared_triples, -items, -intransitive / items))
    order = compared_triples[sorted_places][:MOST_LISTED]
    items, intransitive, sntd = counts.by_triple[:, order]
    share = intransitive / items
    # A single item gives no interval: the number only avoids a division by 0.
    number = np.maximum(items, 2)
    interval = wilson_interval(
        share, variance=share * (1 - share) / (number - 1), clusters=number, level=level
    )
    low, high = np.where(items > 1, interval, np.nan)
    soft = np.where(counts.soft, sntd / items, np.nan)
    triplets = []
    for k, triple in enumerate(order.tolist()):
        record = Triple(
            models=tuple(counts.models[code] for code in counts.triples[triple]),
            items=int(items[k]),
            hard=float(share[k]),
            hard_low=finite_or_none(low[k]),
            hard_high=finite_or_none(high[k]),
            soft=finite_or_none(soft[k]),
            scenario=SCENARIOS[counts.scenario[triple]],
        )
        triplets.append(record)
    return tuple(triplets)


def _triples_table(title: str, header: str, groups: Sequence[TripleGroup]) -> Table:
    """Build a table with PNT and SNTD of groups of triples, in the given order.

    Args:
        title: title of the table.
        header: header of the column with the names of the groups.
        groups: the groups. A missing figure is a dash.
    """
    rows = []
    for group in groups:
        number = f"{group.hard.n:,}" if isinstance(group.hard, Statistic) else "0"
        hard = (group.hard.estimate, group.hard.interval)
        soft = (group.soft.estimate, group.soft.interval)
        rows.append((group.name, *hard, number, *soft))
    columns = (header, "PNT", "interval", TRIPLES_ON_ITEMS, "SNTD", "interval")
    return Table(title=title, header=columns, rows=tuple(rows))
