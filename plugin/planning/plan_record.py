"""The records of a plan: what is asked, what a design costs and detects, what is not answered."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from podium.check_results import Check
from podium.documents import Document
from podium.errors import UsageError, unknown_name_error
from podium.format_version import FORMAT_VERSION
from podium.plugins import catalogue
from podium.rankers.estimate import Estimate
from podium.scorers.battle import ORDERS, Orders, judgments
from podium.scorers.shared_prefixes import least_cached
from podium.tournaments.judge_rotation import read_shares

if TYPE_CHECKING:
    from podium.planning.item_groups_of_pilot import PilotGroups
    from podium.planning.replays import Recording

UNITS = ("tokens_in", "tokens_out", "price_in", "price_out")
"""Attributes of a tariff from which money is computed."""


@dataclass(frozen=True, slots=True)
class Tariff:
    """What a battle costs: judge calls, tokens and prices.

    Attributes:
        orders: `both` if each pair is judged in both orders, which doubles the calls; or another
            word of `ORDERS`.
        repeats: how often each judgment is repeated, 1 or more.
        tokens_in: tokens that a judge call reads; None if unknown.
        tokens_out: tokens that a judge call writes; None if unknown.
        price_in: price of a million tokens read, in any currency; None if unknown.
        price_out: price of a million tokens written, in the same currency; None if unknown.
        tokens_shared: tokens at the beginning of a call, at most `tokens_in`, that are the same in
            all calls on an item: rules and item. None if unknown.
        price_cached: price of a million tokens read from a provider's prompt cache, in the same
            currency; None for `price_in`.
        judges: how many judges judge each battle, as `3`; or `rotate:2,1,1` with a weight for each
            of the judges that take turns. None for those of the pilot, or for one.
        overlap: share of the battles that all judges of a rotation judge, in [0, 1].
        realization: how judges are asked, as `likert`; those that grade single responses are asked
            once about each. None for that of the pilot, or for a judge of pairs.
        judge_model: name of the judge's model, whose provider says from how many tokens on it
            caches (`least_cached`); None for the number of most providers.

    Raises:
        UsageError: an unknown word for orders, an unknown realization, a number out of its range,
            more shared tokens than input tokens, a price of cached tokens or a model of the judge
            without their number, or an overlap without a rotation.
    """

    orders: Orders = "both"
    repeats: int = 1
    tokens_in: float | None = None
    tokens_out: float | None = None
    price_in: float | None = None
    price_out: float | None = None
    tokens_shared: float | None = None
    price_cached: float | None = None
    judges: str | None = None
    overlap: float = 0.0
    realization: str | None = None
    judge_model: str | None = None

    def __post_init__(self) -> None:
        """Raise UsageError for impossible values, as the docstring of the class says."""
        if self.orders not in ORDERS:
            raise unknown_name_error("orders", self.orders, ORDERS)
        if self.repeats < 1:
            raise UsageError(f"there must be at least one repeat, not {self.repeats}")
        for name in (*UNITS, "tokens_shared", "price_cached"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise UsageError(f"{name}={value}: give a number of 0 or more")
        self._check_cache()
        if not self.take_turns and self.overlap:
            raise UsageError("--overlap is for judges that take turns: write --judges rotate:1,1,1")
        if self.realization is not None:
            catalogue.find_realization(self.realization)
        if self.judges in ("all", "rotate") or not self.shares:
            ways = "write a number of judges, or rotate:2,1,1 with a weight for each"
            raise UsageError(f"--judges {self.judges}: {ways}")

    def _check_cache(self) -> None:
        """Check that the numbers on a prompt cache fit the others.

        Raises:
            UsageError: there are more shared tokens than input tokens, or a price or a model of the
                judge without a number of shared tokens.
        """
        shared, whole = self.tokens_shared, self.tokens_in
        if shared is not None and (whole is None or shared > whole):
            text_of_whole = "not given" if whole is None else f"{whole:g}"
            raise UsageError(
                f"--tokens-shared {shared:g}: they are a part of --tokens-in, which is "
                f"{text_of_whole}"
            )
        options = {"--price-cached": self.price_cached, "--judge-model": self.judge_model}
        for option, value in options.items():
            if value is not None and shared is None:
                raise UsageError(
                    f"{option}: give --tokens-shared, the tokens that all calls on an item share"
                )

    @property
    def least_cached(self) -> int:
        """Number of tokens from which on the judge's provider caches the beginning of a prompt."""
        return least_cached(self.judge_model)

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of the battles that each judge judges, alone or with others, in [0, 1]."""
        if self.judges is None:
            return (1.0,)
        if self.judges.isdecimal():
            return (1.0,) * int(self.judges)
        *alone, together = read_shares(self.judges, self.overlap, self.judges.count(",") + 1)
        return tuple(share + together for share in alone)

    @property
    def take_turns(self) -> bool:
        """Whether judges take turns, so that most battles have one of several judges."""
        return self.judges is not None and not self.judges.isdecimal()

    @property
    def grades_responses(self) -> bool:
        """Whether a judge sees one response at a time, and is asked once about each.

        This is so if the realization is known and is not pairwise.
        """
        if self.realization is None:
            return False
        return catalogue.find_realization(self.realization).kind != "pairwise"

    @property
    def reads_both_orders(self) -> bool:
        """Whether a judge compares two responses in both orders, with a call for each."""
        return self.orders == "both" and not self.grades_responses

    @property
    def calls(self) -> int:
        """Calls of each judge for one battle, or for one response if it grades responses.

        The number counts orders and repeats.
        """
        if self.grades_responses:
            return self.repeats
        return len(judgments("", "a", "b", orders=self.orders, repeats=self.repeats))

    def cost(
        self, battles: int, items: int | None = None, models: int | None = None
    ) -> "BattleCosts":
        """Return what a number of battles costs, over all judges.

        The number of battles of each judge is rounded up. Of the calls of a judge on an item, all
        but the first can get its shared tokens from a prompt cache, if there are as many shared
        tokens as the provider caches (`least_cached`).

        Args:
            battles: number of battles.
            items: number of items that they are on; None if unknown. With fewer in fact, more
                tokens can come from a cache.
            models: number of models; None if unknown. A judge that grades responses grades at most
                one of each model on an item.
        """
        units_to_judge = battles
        if self.grades_responses:
            units_to_judge = 2 * battles
            if items is not None and models is not None:
                units_to_judge = min(units_to_judge, items * models)
        by_judge = []
        for share in self.shares:
            # Without the rounding, an error of floating point could add a battle.
            battles_of_judge = ceil(round(units_to_judge * share, 6))
            by_judge.append(battles_of_judge * self.calls)
        calls = sum(by_judge)
        tokens_in = None if self.tokens_in is None else calls * self.tokens_in
        tokens_out = None if self.tokens_out is None else calls * self.tokens_out
        cached = None
        if self.tokens_shared is not None and items is not None:
            cacheable = self.tokens_shared if self.tokens_shared >= self.least_cached else 0.0
            calls_from_cache = sum(max(calls_of_judge - items, 0) for calls_of_judge in by_judge)
            cached = cacheable * calls_from_cache
        price_of_input = _price_of_tokens(tokens_in, self.price_in)
        if price_of_input is not None and cached and self.price_cached is not None:
            price_of_input -= cached * (self.price_in or 0.0) / 1e6
            price_of_input += cached * self.price_cached / 1e6
        price_of_output = _price_of_tokens(tokens_out, self.price_out)
        money = None
        if price_of_input is not None and price_of_output is not None:
            money = price_of_input + price_of_output
        return BattleCosts(battles, calls, tokens_in, tokens_out, money, cached)


def _price_of_tokens(tokens: float | None, per_million: float | None) -> float | None:
    """Return the price of tokens; None if their number or the price of a million is unknown."""
    if tokens is None or per_million is None:
        return None
    return tokens * per_million / 1e6


@dataclass(frozen=True, slots=True)
class BattleCosts:
    """What a number of battles costs.

    Attributes:
        battles: number of battles.
        calls: judge calls, over all judges.
        tokens_in: tokens that the calls read; None if unknown.
        tokens_out: tokens that the calls write; None if unknown.
        money: price of the tokens; None if a number of tokens or a price is unknown.
        cached: number of the tokens read that a provider's prompt cache can serve, at least; None
            if unknown.
    """

    battles: int
    calls: int
    tokens_in: float | None
    tokens_out: float | None
    money: float | None
    cached: float | None = None

    @property
    def cached_share(self) -> float | None:
        """Share of the tokens read that a prompt cache can serve; None if it is unknown."""
        if self.cached is None or not self.tokens_in:
            return None
        return self.cached / self.tokens_in

    @property
    def total(self) -> float:
        """Money, or the number of calls if no price is known or all prices are 0.

        Only totals of designs with the same tariff can be compared.
        """
        return self.money or self.calls


@dataclass(frozen=True, slots=True)
class Decision:
    """The result of the decision tree.

    Attributes:
        design: what is to be compared: `baseline` (all models with a baseline), `round_robin` (all
            pairs), `pairs` (single pairs), or `ranking` (all models, by any design).
        advice: what to do, a clause without a period.
        steps: the questions up to the one that decided, each with its answer.
    """

    design: Literal["baseline", "round_robin", "pairs", "ranking"]
    advice: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnchorCandidate:
    """A model of the pilot as a possible anchor.

    Attributes:
        anchor: name of the model.
        informativeness: share of the pairs of other models, each on one item, whose verdicts
            against the anchor differ.
        pairs: number of these pairs.
        rank_low: best rank by informativeness that the data do not exclude; None if unknown.
        rank_high: worst rank by informativeness that the data do not exclude; None if unknown.
        advice: whether to take it.
    """

    anchor: str
    informativeness: Estimate
    pairs: int
    rank_low: int | None
    rank_high: int | None
    advice: str


@dataclass(frozen=True, slots=True)
class SampleSize:
    """Numbers of items that detect an edge between two models.

    Attributes:
        edge: share of the decided items that the better model wins, minus a half.
        informative: number of decided items that the sign test needs.
        direct: number of items that it needs if the two models meet; ties are not decided.
        anchored: number of items that it needs if both models meet an anchor; items with equal
            verdicts are not decided. None if the share of decided items is unknown.
        wilcoxon: number of items that Wilcoxon's signed-rank test needs if both meet an anchor;
            None if unknown.
    """

    edge: float
    informative: int
    direct: Estimate
    anchored: Estimate | None
    wilcoxon: int | None


@dataclass(frozen=True, slots=True)
class SmallestEdge:
    """The smallest edge that the planned items detect.

    Attributes:
        how: `direct` if two models meet, `anchor` if both meet the anchor.
        share: share of the items that are decided.
        edge: share of the decided items that the better model wins, minus a half; None if even the
            largest edge is not detected.
    """

    how: str
    share: Estimate
    edge: Estimate | None


@dataclass(frozen=True, slots=True)
class PricedDesign:
    """A design in the table of costs.

    Attributes:
        design: label of the design.
        tournament: name of the tournament, as in `podium/NAME`; None for single pairs.
        settings: settings of the tournament, by option.
        planned: cost of the planned items; None if their number is unknown.
        error: standard error of the rating difference of a typical pair on the planned items, in
            Elo; None if unknown.
        gap: smallest rating difference that the planned items detect, in Elo; None if unknown.
        items: number of items that detect the asked edge; None if unknown.
        needed: cost of `items`; None if unknown.
        needed_low: cost of the lower end of the interval of `items`; None if unknown.
        needed_high: cost of the upper end of the interval of `items`; None if unknown.
    """

    design: str
    tournament: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    planned: BattleCosts | None = None
    error: Estimate | None = None
    gap: Estimate | None = None
    items: Estimate | None = None
    needed: BattleCosts | None = None
    needed_low: BattleCosts | None = None
    needed_high: BattleCosts | None = None


@dataclass(frozen=True, slots=True)
class ComparedSize:
    """Number of items on which `podium compare` detects a difference, by its two-sided test.

    Attributes:
        difference: the difference, as typed.
        test: name of the test.
        spread: a text on what is assumed about the verdicts or the metric.
        items: number of items.
        power: power of the test on these items.
    """

    difference: str
    test: str
    spread: str
    items: int
    power: float


@dataclass(frozen=True, slots=True)
class UnansweredPart:
    """A part of the plan that was not answered.

    Attributes:
        part: name of the part.
        why: the reason.
        remedy: what to do.
        unanswerable: whether data were given from which the part cannot be answered. False if the
            data for it were not given.
    """

    part: str
    why: str
    remedy: str
    unanswerable: bool


@dataclass(frozen=True, slots=True)
class Plan(Document):
    """A whole plan.

    Attributes:
        asked: the numbers of the plan: as given, measured on the pilot, or assumed.
        assumptions: what the figures rest on, a sentence each.
        decision: what to compare, by the decision tree.
        candidates: the pilot's models as anchors, the most informative first.
        anchor: the baseline, or the most informative model of the pilot; None if there is neither.
        samples: numbers of items by edge.
        gaps: the smallest edges that the planned items detect.
        gap_elo: the asked edge as a rating difference in Elo.
        lines: the designs, with costs and precision.
        cheapest: label of the design that detects the asked edge at the least cost; None if
            unknown.
        methods: how intervals are computed, by part.
        missing: what was not answered.
        provenance: sources, options and versions.
        compared: number of items for `podium compare`; None unless a difference was given.
        doubts: the flagged checks of the pilot because of which the plan may be wrong, the gravest
            first.
    """

    asked: Mapping[str, Any]
    assumptions: tuple[str, ...]
    decision: Decision
    candidates: tuple[AnchorCandidate, ...]
    anchor: str | None
    samples: tuple[SampleSize, ...]
    gaps: tuple[SmallestEdge, ...]
    gap_elo: float
    lines: tuple[PricedDesign, ...]
    cheapest: str | None
    methods: Mapping[str, str]
    missing: tuple[UnansweredPart, ...]
    provenance: Mapping[str, Any]
    compared: ComparedSize | None = None
    doubts: tuple[Check, ...] = ()

    @property
    def is_partial(self) -> bool:
        """Whether the given data were not good enough to answer some part.

        Parts whose data were not given at all do not count.
        """
        return any(part.unanswerable for part in self.missing)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain Python values, for JSON.

        The keys are `podium` (the format version) and `plan`, which has the attributes by name.
        """
        doubts = [check.to_dict() for check in self.doubts]
        return {"podium": FORMAT_VERSION, "plan": {**asdict(self), "doubts": doubts}}


def elo_of_edge(edge: float, ties: float) -> float:
    """Convert an edge to a difference of two models in Elo.

    Args:
        edge: the better model wins 1/2 + edge of the decided items, in [0, 0.5].
        ties: share of items that end in a tie, which counts half, in [0, 1).

    Returns:
        The difference, infinite if the better model wins every item.
    """
    rate = 0.5 + edge * (1 - ties)
    if rate >= 1:
        return float("inf")
    return float(400 * np.log10(rate / (1 - rate)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What a plan is for.

    The other attributes are arguments of `make_plan`.

    Attributes:
        record: the pilot; None if there is no pilot.
        models: number of planned models.
        anchor: the baseline, or the most informative model of the pilot; None if there is neither.
        share: share of items that distinguish two models through the anchor; None if unknown.
        methods: how intervals are computed, by part of the plan; the functions that make the parts
            change it in place.
        missing: parts that were not answered; the functions that make the parts change it in
            place.
        groups: the groups of the pilot's items; None if there are none.
    """

    record: "Recording | None"
    models: int
    items: int | None
    ties: Estimate
    edge: float
    alpha: float
    power: float
    level: float
    tariff: Tariff
    seed: int
    baseline: str | None
    pairs: tuple[tuple[str, str], ...]
    anchor: str | None = None
    share: Estimate | None = None
    methods: dict[str, str] = field(default_factory=dict)
    missing: list[UnansweredPart] = field(default_factory=list)
    groups: "PilotGroups | None" = None

    @property
    def test(self) -> dict[str, float]:
        """Error rate and power of the one-sided tests, as keyword arguments `alpha` and `power`."""
        return {"alpha": self.alpha, "power": self.power}

    @property
    def compares_one_pair(self) -> bool:
        """Whether the two models of a pilot are compared, without a baseline.

        No design then needs an anchor.
        """
        is_of_two = self.record is not None and len(self.record.field.models) == 2
        return is_of_two and self.models == 2 and self.baseline is None

    @property
    def share_decided(self) -> Estimate:
        """Share of battles that do not end in a tie."""
        return self.ties.transform(lambda ties: 1 - ties, decreasing=True)

    def leave_out(
        self, part: str, reason: object, remedy: str, *, unanswerable: bool = False
    ) -> None:
        """Add a part that is not answered to `missing`, in place.

        Args:
            part: name of the part.
            reason: why it is not answered; an error or a text.
            remedy: what to do.
            unanswerable: whether data for it were given, from which it cannot be answered.
        """
        self.missing.append(UnansweredPart(part, str(reason), remedy, unanswerable))
