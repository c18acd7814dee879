"""Group-sequential stopping of a tournament.

A tournament visits items in a random order. After planned numbers of item visits there is a look
(an interim analysis). It fits strengths to all battles so far, and settles pairs of models: it is
decided that one model is not worse than the other by more than the margin. The tournament stops
when all pairs that the question is about are settled.

Each look may spend a share of 1 - level, the probability of any wrong decision (repeated
confidence intervals: Jennison and Turnbull 2000, ch. 9). A look divides its share among the open
pairs by a step-down test (Holm 1979). Nothing here assumes that pairs or looks are independent.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from podium.data.ladder import Ladder
from podium.data.pairings import Field, Round
from podium.distributions import stdtrit
from podium.errors import UsageError
from podium.rankers.errors.intervals import is_group, t_quantile
from podium.rankers.fit.coded import CodedBattles
from podium.rankers.fit.graph import number_groups
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import LadderPrior, build_prior, fit_strengths
from podium.rankers.ladder_placement import LadderCheck, check_ladder
from podium.tournaments.between_rounds import code_rounds, weigh_as_round_robin
from podium.tournaments.selection import draw_items, order_of_visits
from podium.tournaments.stopping_question import QUESTION
from podium.wording import plural, quantity, some, word_for

MIN_ITEMS = 25
"""Fewest items of a model, and of a tournament, with which pairs are settled.

With fewer, errors are not estimated well enough.
"""
MIN_GROUPS = 10
"""Fewest groups of items, in place of `MIN_ITEMS` items, if items have groups."""
SPENDING_GROWTH = 2.0
"""Factor by which the share of 1 - level that a look may spend grows from look to look."""
MOST_SURPLUS = 1.5
"""Largest ratio of z of all battles to z of the battles weighted as in a round robin.

A larger z of all battles is reduced to this ratio before a decision.
"""
STRENGTH_ROUNDING = 1e-9
"""Strengths that differ by at most this, in logits, count as equal.

Rounding error must not settle a pair.
"""
OTHER_POPULATION = (
    "decisions are about items like these. What the judge's noise adds for these items alone "
    "cannot be known from one battle of a pair on an item. Leave the option out; to rank on these "
    "items alone, play round_robin on all of them"
)


@dataclass(frozen=True, slots=True)
class LookFit:
    """Log-strengths at a look.

    Attributes:
        theta: log-strengths, shape (models,).
        covariance: covariance of the log-strengths, shape (models, models). It is NaN for models
            with too few items or without a chain of battles to the others, and for newcomers to a
            ladder (known ratings) that has another scale.
        clusters: number of items with a readable battle, or of their groups if items have groups.
        unit: what a cluster is: `item`, or the name of the groups of items.
        is_bounded: mask of the models whose strength is finite, shape (models,).
        check: whether the ladder has the scale of the battles; None if there is no ladder.
    """

    theta: np.ndarray
    covariance: np.ndarray
    clusters: int
    unit: str
    is_bounded: np.ndarray
    check: LadderCheck | None

    @property
    def has_enough(self) -> bool:
        """Whether there are enough items, or groups of items, to estimate errors."""
        return self.clusters >= fewest_clusters(self.unit)

    @property
    def is_other_scale(self) -> bool:
        """Whether the ladder has another scale than the battles; False if there is none."""
        return self.check is not None and self.check.is_other_scale

    def z(self, margin: float) -> np.ndarray:
        """Return how many standard errors the row lies above the column minus the margin.

        This is z = (theta of row - theta of column + margin) / standard error of the difference.

        Args:
            margin: the margin in Elo.

        Returns:
            z by pair, shape (models, models); NaN for two models that earn the same on every item,
            and where the covariance is unknown; infinite for a difference without an error.
        """
        difference = self.theta[:, None] - self.theta
        variance = np.diag(self.covariance)
        difference_variance = variance[:, None] + variance - 2 * self.covariance
        standard_error = np.sqrt(np.maximum(difference_variance, 0))
        has_no_error = standard_error <= STRENGTH_ROUNDING
        has_no_difference = np.abs(difference) <= STRENGTH_ROUNDING
        standard_error[has_no_error & has_no_difference] = np.nan
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio: np.ndarray = (difference + margin / POINTS) / standard_error
        return ratio


@dataclass(frozen=True, slots=True)
class Look(LookFit):
    """One interim analysis: the fit of all battles so far, and the pairs that it settles.

    Attributes:
        number: number of the look, from 1.
        planned: number of planned looks; None for `error:X`, whose looks are predicted one by one.
        visits: number of item visits so far.
        battles: number of battles so far.
        half_widths: half-widths of pointwise intervals of ratings in Elo, NaN if unknown, shape
            (models in question,). These are the models that `error:X` is about, or all.
        evidence: z of the test that the row is not worse than the column by more than the margin,
            shape (models, models). A large z settles this.
        in_question: mask of the pairs that the question is about, shape (models, models).
        settled: 1 if it is decided that the row is not worse than the column by more than the
            margin, -1 if this is decided for the column, 0 if open; shape (models, models).
        finished: mask of the pairs about which nothing is left to decide, shape (models, models).
            The error probability of a look is divided among the other pairs.
        critical: critical value of t of the last step of the step-down test; NaN if no pair was
            tested.
    """

    number: int
    planned: int | None
    visits: int
    battles: int
    half_widths: np.ndarray
    evidence: np.ndarray
    in_question: np.ndarray
    settled: np.ndarray
    finished: np.ndarray
    critical: float

    @property
    def title(self) -> str:
        """The number of the look and of planned looks, as `interim analysis 2 of 5`."""
        planned = f" of {self.planned}" if self.planned else ""
        return f"interim analysis {self.number}{planned}"

    @property
    def open(self) -> np.ndarray:
        """Mask of the pairs that are asked about and not settled, shape (models, models).

        For `error:X`, the diagonal is open until the ratings are known well enough.
        """
        return self.in_question & (self.settled == 0)

    @property
    def is_divided(self) -> bool:
        """Whether open pairs no longer connect all models.

        Some models have then left, or groups play on separately, so that later battles do not
        represent a round robin of all models.
        """
        return bool(number_groups(self.open).max(initial=0) > 0)


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a tournament with a stopping rule.

    Attributes:
        order: the items in the order of visits.
        looks: the interim analyses so far.
        visits: number of item visits so far.
        visits_at_next_look: number of item visits, from the start, at the next look; equal to
            `visits` when the tournament is over.
        reason: why the tournament is over: `answered`, or `items` if they are used up. It is empty
            while the tournament goes on.
        groups: groups of models that play on, by position of the models sorted by name.
    """

    order: tuple[str, ...]
    looks: tuple[Look, ...]
    visits: int
    visits_at_next_look: int
    reason: str
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """Options of a tournament that stops when its question is answered; base class of such rules.

    Attributes:
        until: question that ends the tournament: `order` (which model of each pair is better),
            `topK` (the set of the best K models, as top1 or top3), or `error:X` (the mean
            half-width of the ratings' intervals is X Elo); empty to play all.
        margin: Elo by which a decision may be wrong: the lower of two models is not better by more
            than this.
        level: confidence level, in (0, 1), with which all decisions at all looks hold together.
        start: item visits before the first look, 25 or more; the number doubles from look to look.
        items: number of items, drawn at random; all by default.
        seed: seed of all draws.
        population: not supported; raises UsageError.
    """

    until: str = ""
    margin: float = 0.0
    level: float = 0.95
    start: int = 40
    items: int | None = None
    seed: int = 0
    population: str = ""

    def __post_init__(self) -> None:
        """Raise UsageError for an impossible value of an option.

        A margin is possible only with `order` and `topK`.
        """
        if self.until and not QUESTION.fullmatch(self.until):
            raise UsageError(
                f"until={self.until}: write order, topK (as top1, top3) or error:X (Elo, as "
                "error:20)"
            )
        if self.population:
            raise UsageError(f"population={self.population}: {OTHER_POPULATION}")
        if self.error == 0:
            raise UsageError(
                f"until={self.until}: no number of items makes an error 0; give Elo above it"
            )
        if not 0 <= self.margin < np.inf:
            raise UsageError(f"margin={self.margin}: give Elo, 0 or more")
        if not 0 < self.level < 1:
            raise UsageError(f"level={self.level}: give a number between 0 and 1; 0.95 is usual")
        if self.start < MIN_ITEMS:
            raise UsageError(
                f"start={self.start}: too few items to estimate an error; give {MIN_ITEMS} or more"
            )
        has_decisions = bool(self.until) and self.error is None
        if self.margin and not has_decisions:
            raise UsageError(
                f"margin={self.margin:g} belongs to until=order or until=topK; leave it out"
            )

    @property
    def error(self) -> float | None:
        """The mean half-width of `error:X` in Elo; None for another question."""
        match = QUESTION.fullmatch(self.until)
        if match is None or not match["error"]:
            return None
        return float(match["error"])

    @property
    def top_count(self) -> int | None:
        """The K of `topK`; None for another question."""
        match = QUESTION.fullmatch(self.until)
        if match is None or not match["top"]:
            return None
        return int(match["top"])

    def size(self, field: Field) -> int:
        """Return the maximum number of battles: all that are played without `until`."""
        # Tournaments inherit from this class, which has no `next` itself.
        without_stopping: Any = replace(self, until="", margin=0.0)
        return len(without_stopping.next(field, ()).pairings)

    def planned_looks(self, most: int) -> tuple[int, ...]:
        """Return the numbers of item visits at the looks: start, 2 start, 4 start ..., and `most`.

        Doubled numbers near `most` or above it are left out.

        Args:
            most: number of item visits of the whole tournament.

        >>> Stopping(until="order").planned_looks(1600)
        (40, 80, 160, 320, 640, 1280, 1600)
        """
        # The last doubled number must be well below `most`, or two looks would be too close.
        visits = [self.start]
        while 2 * visits[-1] < most / 1.2:
            visits.append(2 * visits[-1])
        before_last = [number for number in visits if number < most]
        return (*before_last, most)

    def rounds(self, field: Field) -> int | None:
        """Return the maximum number of rounds.

        It is 1 without `until`, else the number of planned looks. It is None for `error:X`, whose
        looks are not planned.
        """
        if self.error is not None:
            return None
        if not self.until:
            return 1
        passes = getattr(self, "passes", 1)
        visits = passes * len(draw_items(field, self.items, self.seed))
        return len(self.planned_looks(visits))

    def refuse_unanswerable(self, field: Field, items: Sequence[str]) -> None:
        """Raise UsageError if there are too few items, groups of items or models for the question.

        Args:
            field: the models and items.
            items: the items that are played.
        """
        number = len({*_clusters_of(field, items)})
        fewest = fewest_clusters(field.unit)
        if self.until and number < fewest:
            raise UsageError(
                f"until={self.until} needs {quantity(fewest, field.unit)} to estimate an error, "
                f"and there {word_for(number, 'is', 'are')} {number}: give more items, or leave "
                "until= out to play all battles"
            )
        if self.top_count is not None and self.top_count >= len(field.models):
            raise UsageError(
                f"until={self.until} needs more than {quantity(self.top_count, 'model')}, and "
                f"there {word_for(len(field.models), 'is', 'are')} {len(field.models)}: ask for "
                "fewer of the best, or give more models"
            )

    def items_to_next_look(
        self, field: Field, played: Sequence[Round]
    ) -> tuple[tuple[str, ...], str]:
        """Return the items to play until the next look, and a summary of the last look.

        Without `until`, these are all items. There are no items when the tournament is over. The
        summary ends with a semicolon, and is empty before the first look. The method is for
        tournaments that visit each item once and in which all models play to the end.

        Raises:
            UsageError: there are too few items or models for the question (`progress`).
        """
        if not self.until:
            return draw_items(field, self.items, self.seed), ""
        progress = self.progress_of(field, played)
        # A visit is a position in the order, because each item is visited once.
        items = progress.order[progress.visits : progress.visits_at_next_look]
        if not progress.looks:
            return items, ""
        return items, f"{look_summary(sorted(field.models), progress, self.error)}; "

    def newcomers(self, field: Field) -> tuple[str, ...]:  # noqa: ARG002
        """Return the models that join an existing ranking; empty if there is none.

        There is none unless a subclass, such as `Ring`, overrides this method.
        """
        return ()

    def progress_of(self, field: Field, played: Sequence[Round]) -> Progress:
        """Return the progress of a tournament with `until` from its rounds.

        Raises:
            UsageError: there are too few items or models for the question.
        """
        return self.progress(field, order_of_visits(field, self.items, self.seed), played)

    def progress(
        self,
        field: Field,
        order: Sequence[str],
        played: Sequence[Round],
        *,
        passes: int = 1,
        against: Collection[str] = (),
        earlier_rounds: Sequence[Round] = (),
        ladder: Ladder | None = None,
        about_field: bool = False,
    ) -> Progress:
        """Compute the progress from the rounds so far. There is a look after each round.

        The progress ends with the first look that answers the question; later rounds are ignored.

        Args:
            field: the models and items.
            order: the items in the order of visits.
            played: the rounds of the tournament so far.
            passes: how often an item is visited at most.
            against: models with which `until=order` compares all others, and whose intervals
                `error:X` is about; all models if empty.
            earlier_rounds: earlier rounds, which count in the fit but have no look.
            ladder: known ratings that join the fit; None if there are none.
            about_field: whether decisions must also hold with the pairs weighted as in a round
                robin of all models (the field).

        Raises:
            UsageError: there are too few items or models for the question.
        """
        self.refuse_unanswerable(field, order)
        names = sorted(field.models)
        plan = self.planned_looks(passes * len(order))
        prior = build_prior(ladder, names) if ladder else None
        pairs = self._pairs_to_compare(field, order, against)
        is_subject = np.isin(names, list(against))
        looks: list[Look] = []
        visits = 0
        for number, round_ in enumerate(played, start=1):
            visits = self._visits_after_round(round_, visits, order, plan)
            coded = code_rounds([*earlier_rounds, *played[:number]], names, field)
            fit = _fit_look(names, coded, prior, field.unit)
            evidence = fit.z(self.margin)
            if about_field and coded and any(look.is_divided for look in looks):
                evidence = self._weaker_evidence(evidence, coded, field, prior)
            # Earlier decisions do not hold if the ladder turns out to have another scale.
            before = looks[-1] if looks and not fit.is_other_scale else None
            look = self._analyse(
                fit, evidence, played[:number], visits, plan, pairs, before, is_subject
            )
            looks.append(look)
            if not look.open.any():
                return Progress(tuple(order), tuple(looks), visits, visits, "answered", groups=())
        groups = self._playing_groups(looks, len(names))
        if visits >= plan[-1]:
            return Progress(tuple(order), tuple(looks), visits, visits, "items", groups=groups)
        next_visits = self.visits_at_next_look(visits, looks, plan)
        return Progress(tuple(order), tuple(looks), visits, next_visits, reason="", groups=groups)

    def _playing_groups(self, looks: Sequence[Look], models: int) -> tuple[tuple[int, ...], ...]:
        """Return the positions of the models that play on, by group.

        These are all models in one group before the first look, and for `error:X`. Otherwise they
        are the groups that open pairs of the last look connect; models without one are left out.

        Args:
            looks: the looks so far.
            models: number of models.
        """
        if self.error or not looks:
            return (tuple(range(models)),)
        return connected_groups(looks[-1].open)

    def _weaker_evidence(
        self, evidence: np.ndarray, coded: CodedBattles, field: Field, prior: LadderPrior | None
    ) -> np.ndarray:
        """Return the weaker of two z: of all battles, and of battles weighted as in a round robin.

        The z of weighted battles, which are less precise, is first multiplied by `MOST_SURPLUS`.
        The result is the value nearer to 0, or 0 if the signs differ. A decision needs both, so
        that the second z does not add a chance of a wrong decision.

        Args:
            evidence: z of all battles, shape (models, models).
            coded: the battles.
            field: the models and items.
            prior: known ratings that join the fit; None if there are none.
        """
        # The median of 0 and two numbers of one sign is the number nearer to 0. It is 0 if their
        # signs differ.
        weighted = weigh_as_round_robin(coded, field)
        as_round_robin = _fit_look(sorted(field.models), weighted, prior, coded.unit)
        bound = MOST_SURPLUS * as_round_robin.z(self.margin)
        weaker: np.ndarray = np.median([np.zeros_like(bound), evidence, bound], axis=0)
        return weaker

    def _pairs_to_compare(
        self, field: Field, order: Sequence[str], against: Collection[str]
    ) -> np.ndarray:
        """Return a mask of the pairs that can be settled, shape (models, models).

        Both models of such a pair have enough items. With `until=order`, one of the two must also
        be in `against`, unless `against` is empty.
        """
        names = sorted(field.models)
        pairs = np.ones((len(names), len(names)), dtype=bool)
        if against and self.until == "order":
            is_named = np.isin(names, list(against))
            pairs = np.logical_or.outer(is_named, is_named)
        has_enough = self.has_enough_items(field, order)
        have_both_enough = np.logical_and.outer(has_enough, has_enough)
        is_of_two_models = ~np.eye(len(names), dtype=bool)
        return pairs & have_both_enough & is_of_two_models

    def has_enough_items(self, field: Field, order: Sequence[str]) -> np.ndarray:
        """Return a mask of the models with responses to enough items, shape (models,).

        These are 25 items or, if items have groups, items of 10 groups.
        """
        clusters = _clusters_of(field, order)
        answered = []
        for name in sorted(field.models):
            clusters_of_model = {
                cluster
                for item, cluster in zip(order, clusters, strict=True)
                if name not in field.absent.get(item, ())
            }
            answered.append(len(clusters_of_model))
        return np.array(answered) >= fewest_clusters(field.unit)

    def visits_at_next_look(self, visits: int, looks: Sequence[Look], plan: Sequence[int]) -> int:
        """Return the number of item visits, from the start, at the next look.

        It is the next planned number, for `error:X` only before the first look. After it, the
        number is predicted: a half-width falls with the square root of the number of items. If a
        half-width is not known yet, the number of visits is doubled. The predicted number is at
        least 1.1 times and at most twice the number so far, and never above the last planned one.

        Args:
            visits: number of item visits so far.
            looks: the looks so far.
            plan: numbers of item visits at the planned looks, of which one is above `visits`.
        """
        # The width of an interval does not depend on which model is ahead. Stopping by the width
        # therefore does not bias the ratings, and the number of such looks needs no plan.
        if self.error is None or not visits:
            return next(number for number in plan if number > visits)
        # 5% more items than predicted are played, at least 10% and at most 100% more than so far.
        width = np.mean(looks[-1].half_widths)
        needed = 2.0 * visits
        if not np.isnan(width):
            needed = 1.05 * visits * (width / self.error) ** 2
        bounded = np.clip(needed, 1.1 * visits, 2.0 * visits)
        return min(int(np.ceil(bounded)), plan[-1])

    def _visits_after_round(
        self, round_: Round, before: int, order: Sequence[str], plan: Sequence[int]
    ) -> int:
        """Return the number of item visits, from the start, after a round.

        The number is rounded up to a planned one, except for `error:X`. A round without items
        counts as one visit.

        Args:
            round_: the round; its last item in the order of visits was visited last.
            before: number of item visits before the round.
            order: the items in the order of visits.
            plan: numbers of item visits at the planned looks.
        """
        # The number of the visit is counted from `before` around the order of visits, because an
        # item may be visited several times. It is rounded up to a planned number, because the last
        # items may have had no battle.
        position = {item: k for k, item in enumerate(order)}
        items = {outcome.pairing.item for outcome in round_.outcomes} & position.keys()
        visits_of_round = []
        for item in items:
            steps_from_first = (position[item] - before) % len(position)
            visits_of_round.append(steps_from_first + 1)
        reached = before + max(visits_of_round, default=1)
        last_planned = plan[-1]
        if self.error:
            return min(reached, last_planned)
        return next((visits for visits in plan if visits >= reached), last_planned)

    def _analyse(
        self,
        fit: LookFit,
        evidence: np.ndarray,
        played: Sequence[Round],
        visits: int,
        plan: Sequence[int],
        pairs: np.ndarray,
        before: Look | None,
        is_subject: np.ndarray,
    ) -> Look:
        """Build a look from a fit: the errors, and the pairs that the step-down test settles.

        The decisions of the look before are copied, and `step_down` adds to the copies in place.

        Args:
            fit: the log-strengths.
            evidence: z of each pair, shape (models, models).
            played: the rounds so far.
            visits: number of item visits so far.
            plan: numbers of item visits at the planned looks.
            pairs: mask of the pairs that can be settled, shape (models, models).
            before: the look before, whose decisions are kept; None if there are none to keep.
            is_subject: mask of the models whose errors `error:X` is about, shape (models,). If no
                model is marked, it is about all.
        """
        half_widths = self._half_widths(fit, is_subject)
        settled, finished = _decisions_so_far(before, pairs)
        planned = None
        critical = np.nan
        if self.error is None:
            planned = len(plan)
            asked = pairs & self._pairs_in_question(fit.theta)
            alpha = (1 - self.level) * _spending_share(plan.index(visits) + 1, planned)
            critical = step_down(evidence, fit.theta, fit.clusters, asked, settled, finished, alpha)
        else:
            asked = _error_question(half_widths, self.error, len(pairs))
        return Look(
            theta=fit.theta,
            covariance=fit.covariance,
            clusters=fit.clusters,
            unit=fit.unit,
            is_bounded=fit.is_bounded,
            check=fit.check,
            number=len(played),
            planned=planned,
            visits=visits,
            battles=sum(len(round_.outcomes) for round_ in played),
            half_widths=half_widths,
            evidence=evidence,
            in_question=asked,
            settled=settled,
            finished=finished,
            critical=critical,
        )

    def _half_widths(self, fit: LookFit, is_subject: np.ndarray) -> np.ndarray:
        """Return half-widths of intervals of ratings in Elo, shape (models in question,).

        A rating is relative to the mean of all models or, if `is_subject` marks some models, to
        the mean of the others. With a ladder, it is on the scale of the ladder. A half-width is
        NaN for an unbounded or unknown rating, and for a rating whose error is estimated as 0.

        Args:
            fit: the log-strengths.
            is_subject: mask of the models in question, shape (models,); if no model is marked, it
                is all models.
        """
        size = len(fit.theta)
        rows = np.ones(size, dtype=bool)
        reference = rows
        if is_subject.any():
            rows = is_subject
            reference = ~is_subject
        # Row i has the weights of all log-strengths in the rating of model i.
        contrast = np.eye(size)
        if fit.check is None:
            weight_in_mean = reference / reference.sum()
            contrast = contrast - weight_in_mean
        contrast = contrast[rows]
        # The diagonal of contrast @ covariance @ contrast.T.
        variance = np.einsum("ij,jk,ik->i", contrast, fit.covariance, contrast)
        errors = np.sqrt(np.maximum(variance, 0)) * POINTS
        half_widths = t_quantile(fit.clusters, self.level) * errors
        is_known = fit.is_bounded[rows] & (half_widths > STRENGTH_ROUNDING)
        return np.where(is_known, half_widths, np.nan)

    def _pairs_in_question(self, theta: np.ndarray) -> np.ndarray:
        """Return a mask of the pairs that the question is about, shape (models, models).

        For `order` these are all pairs. For `topK` they are the pairs of one of the best K models
        with one of the others.
        """
        if self.top_count is None:
            return ~np.eye(len(theta), dtype=bool)
        is_among_best = np.zeros(len(theta), dtype=bool)
        is_among_best[np.argsort(-theta, kind="stable")[: self.top_count]] = True
        return is_among_best[:, None] != is_among_best


def fewest_clusters(unit: str) -> int:
    """Return how many items, or groups of items if `unit` is their name, errors need."""
    return MIN_GROUPS if is_group(unit) else MIN_ITEMS


def _clusters_of(field: Field, items: Sequence[str]) -> Sequence[str]:
    """Return the cluster of each of some items: its group, or the item itself without groups."""
    if not field.groups:
        return items
    return [field.groups[item] for item in items]


def _decisions_so_far(before: Look | None, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return copies of `settled` and `finished` of a look (see `Look`).

    `settled` says which pairs have a decision, and `finished` about which pairs nothing is left to
    decide. Without a look before, both are 0 and False everywhere.

    Args:
        before: the look before; None if there is none.
        pairs: mask of pairs, boolean, whose shape the results have without a look before.
    """
    if before is None:
        return np.zeros_like(pairs, np.int64), np.zeros_like(pairs)
    return before.settled.copy(), before.finished.copy()


def _error_question(half_widths: np.ndarray, error: float, models: int) -> np.ndarray:
    """Return the mask `in_question` for the question `error:X`, shape (models, models).

    This question is not about pairs. The diagonal stands for it: it is true, and so open, until
    the mean half-width is at most the error. An unknown half-width keeps it open.

    Args:
        half_widths: half-widths in Elo, NaN if unknown.
        error: the X of `error:X`, in Elo.
        models: number of models.
    """
    is_reached = np.mean(half_widths) <= error
    return np.zeros((models, models), dtype=bool) if is_reached else np.eye(models, dtype=bool)


def _spending_share(look: int, planned: int) -> float:
    """Return the share of 1 - level that a look may spend.

    The share of look k is proportional to 2^k, and all shares add up to 1.

    Args:
        look: number of the look, from 1.
        planned: number of planned looks.
    """
    total = sum(SPENDING_GROWTH**number for number in range(1, planned + 1))
    return SPENDING_GROWTH**look / total


def step_down(
    evidence: np.ndarray,
    theta: np.ndarray,
    clusters: int,
    in_question: np.ndarray,
    settled: np.ndarray,
    finished: np.ndarray,
    alpha: float,
) -> float:
    """Settle pairs by a step-down test (Holm 1979).

    The error probability is divided by the number of pairs that are asked about and not finished.
    With a margin, each of two models may be settled as not worse than the other. A settled pair
    is therefore finished only when the reverse is also decided: that the other model is not worse
    either, or that it is worse by more than the margin. Pairs that become finished raise the error
    probability of the others, and the test is repeated until nothing changes.

    Args:
        evidence: z of the test that the row is not worse than the column by more than the margin,
            shape (models, models).
        theta: log-strengths, shape (models,).
        clusters: number of items, or of groups of items.
        in_question: mask of the pairs that the question is about, shape (models, models).
        settled: 1 if it is decided that the row is not worse than the column by more than the
            margin, -1 if this is decided for the column, 0 if open; shape (models, models);
            changed in place.
        finished: mask of the pairs about which nothing is left to decide, shape (models, models);
            changed in place.
        alpha: error probability of this look.

    Returns:
        The critical value of t in the last step; NaN if no pair was tested, because none was open
        or because there are fewer than two items or groups.
    """
    difference = theta[:, None] - theta
    # Of two models of equal strength, the first one by position leads the pair.
    position = np.arange(len(theta))
    are_different = np.abs(difference) > STRENGTH_ROUNDING
    is_first_by_position = position[:, None] < position
    is_ahead = np.where(are_different, difference > 0, is_first_by_position)
    # Both matrices are symmetric: z that the leader of a pair is not worse than the other model,
    # and z that the other model is not worse than the leader.
    for_leader = np.where(is_ahead, evidence, evidence.T)
    for_other = np.where(is_ahead, evidence.T, evidence)
    critical = np.nan
    if clusters <= 1:
        return critical
    while True:
        is_open = in_question & (settled == 0)
        if not is_open.any():
            return critical
        pairs = int((in_question & ~finished).sum()) // 2
        critical = -float(stdtrit(clusters - 1, alpha / max(pairs, 1)))
        newly_settled = is_open & (for_leader > critical + STRENGTH_ROUNDING)
        # A large z says that the other model is not worse, and a very negative one that it is worse
        # by more than the margin. Both answer the reverse question.
        has_answer_for_other = np.abs(for_other) > critical + STRENGTH_ROUNDING
        newly_finished = in_question & ~finished & has_answer_for_other
        if not newly_settled.any() and not newly_finished.any():
            return critical
        decision = np.where(is_ahead, 1, -1)
        settled[newly_settled] = decision[newly_settled]
        finished |= newly_finished


def look_summary(names: Sequence[str], progress: Progress, error: float | None) -> str:
    """Return the last look in one line: battles so far, and settled pairs or the mean half-width.

    With settled pairs, it also names the models whose last pair this look has settled.

    Args:
        names: names of the models, sorted.
        progress: the progress, with at least one look.
        error: the X of `error:X`; None for another question.
    """
    *earlier, last = progress.looks
    battles = f"{last.title}: {last.battles:,} {plural('battle', last.battles)} so far"
    if error is not None:
        is_known = not np.isnan(last.half_widths).any()
        width = f"±{np.mean(last.half_widths):.1f} Elo" if is_known else "no bound yet"
        return f"{battles}, ratings known to {width} on average"
    # Masks of pairs are symmetric, so that each pair counts twice in a sum.
    pairs = int(last.in_question.sum()) // 2
    settled = pairs - int(last.open.sum()) // 2
    was_open: Any = np.ones(len(names), dtype=bool)
    if earlier:
        was_open = earlier[-1].open.any(axis=1)
    is_finished = was_open & ~last.open.any(axis=1)
    finished = [names[k] for k in np.flatnonzero(is_finished).tolist()]
    finished_text = f"; finished: {some(finished)}" if finished else ""
    return f"{battles}, {settled} of {pairs} {plural('pair', pairs)} decided{finished_text}"


def connected_groups(open_: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Return the groups of models that open pairs connect, as positions of models.

    Models without an open pair are left out.

    Args:
        open_: mask of the open pairs, shape (models, models).
    """
    group_of_model = number_groups(open_)
    members = [np.flatnonzero(group_of_model == k).tolist() for k in range(len(open_))]
    return tuple(tuple(group) for group in members if len(group) > 1)


def _fit_look(
    names: Sequence[str], coded: CodedBattles | None, prior: LadderPrior | None, unit: str
) -> LookFit:
    """Fit log-strengths and their covariance to the battles before a look.

    Without battles, all strengths are 0 and nothing about their errors is known. The covariance of
    a model with too few items, or outside of the largest group that battles connect, is NaN.

    Args:
        names: names of the models.
        coded: the battles; None if there are none.
        prior: ratings of a ladder that join the fit; None if there are none.
        unit: what a cluster is: `item`, or the name of the groups of items.
    """
    size = len(names)
    no_model = np.zeros(size, dtype=bool)
    if coded is None:
        return LookFit(
            theta=np.zeros(size),
            covariance=np.full((size, size), np.nan),
            clusters=0,
            unit=unit,
            is_bounded=no_model,
            check=None,
        )
    strengths = fit_strengths(pair_sums(coded), prior=prior)
    covariance = strengths.covariance(coded)
    graph = strengths.graph
    is_bounded = ~graph.separated
    is_rated = no_model
    fewest = fewest_clusters(unit)
    has_few_items = coded.clusters_by_model() < fewest
    check = None
    if prior:
        check = check_ladder(coded, prior)
        is_rated = prior.is_rated
        is_bounded &= prior.sides_beyond(strengths.pairs, strengths.theta) == 0
        if check.is_other_scale:
            has_few_items[:] = True  # nothing is known of the newcomers, whatever their items
    # Only strengths in the largest connected group of models are known relative to each other.
    largest_group = np.argmax(np.bincount(graph.group[graph.has_battle]))
    is_unknown = (has_few_items & ~is_rated) | (graph.group != largest_group)
    if coded.clusters < fewest:
        is_unknown[:] = True
    covariance[is_unknown] = np.nan
    covariance[:, is_unknown] = np.nan
    is_known = is_bounded & ~is_unknown
    return LookFit(strengths.theta, covariance, coded.clusters, unit, is_known, check)
