"""Group-sequential stopping of a tournament: planned looks (interim analyses), and the pairs that
each look settles.

Sources: step-down over pairs (Holm 1979); a share of the level for each of a known number of looks
(repeated confidence intervals: Jennison and Turnbull 2000, ch. 9). Nothing here assumes that pairs
or looks are independent.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtrit

from podium.data.ladder import Ladder
from podium.data.pairings import Field, Round
from podium.errors import UsageError
from podium.rankers.errors.intervals import t_quantile
from podium.rankers.fit.coded import CodedBattles
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import LadderPrior, build_prior, fit_strengths
from podium.rankers.ladder_placement import LadderCheck, check_ladder
from podium.text import some
from podium.tournaments.between_rounds import code_rounds, weigh_as_round_robin
from podium.tournaments.selection import draw_items, order_of_visits

MIN_ITEMS = 25
"""The fewest items from which an error is estimated well enough to settle a pair."""
SPENDING_GROWTH = 2.0
"""Factor by which the share of 1 - level that a look may spend grows from look to look."""
MOST_SURPLUS = 1.5
"""Factor by which z of all battles may exceed z of the battles weighted as in a round robin."""
SAME = 1e-9
"""Difference in logits up to which two strengths are equal: rounding must not settle a pair."""
OTHER_POPULATION = (
    "decisions are about items like these. What the judge's noise adds for these items alone cannot be known from one "
    "battle of a pair on an item. Leave the option out; to rank on these items alone, play round_robin on all of them"
)
QUESTION = re.compile(r"order|top(?P<first>[1-9]\d*)|error:(?P<error>\d+(\.\d+)?)")


@dataclass(frozen=True, slots=True)
class LookFit:
    """Log-strengths at a look; NaN covariance for models with too few items or no chain of battles
    to the others, and for newcomers to a ladder whose `check` says that it has another scale."""

    theta: np.ndarray
    covariance: np.ndarray
    clusters: int
    is_bounded: np.ndarray
    check: LadderCheck | None

    @property
    def is_other_scale(self) -> bool:
        return self.check is not None and self.check.is_other_scale

    def z(self, margin: float) -> np.ndarray:
        """Return (row - column + margin) / standard error, NaN if level on every item, shape
        (models, models)."""
        gap, variance = self.theta[:, None] - self.theta, np.diag(self.covariance)
        error = np.sqrt(np.maximum(variance[:, None] + variance - 2 * self.covariance, 0))
        error[(error <= SAME) & (np.abs(gap) <= SAME)] = np.nan
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio: np.ndarray = (gap + margin / POINTS) / error
        return ratio


@dataclass(frozen=True, slots=True)
class Look(LookFit):
    """One interim analysis: the fit of all battles so far, and the pairs that it settles.

    `half`: half-widths of pointwise intervals, Elo, NaN if unknown; `evidence`: z that row is not
        worse than column by
    more than the margin; `settled`: 1 if that is decided, -1 for the reverse, 0 if open; `spent`:
    pairs that no longer share the level, because no decision about them is left; `critical`: the
    last value of t. Shape (models, models).
    """

    number: int
    planned: int | None
    visits: int
    battles: int
    half: np.ndarray
    evidence: np.ndarray
    asked: np.ndarray
    settled: np.ndarray
    spent: np.ndarray
    critical: float

    @property
    def title(self) -> str:
        return f"interim analysis {self.number}" + (f" of {self.planned}" if self.planned else "")

    @property
    def open(self) -> np.ndarray:
        """Mask of the pairs that are asked about and not settled, shape (models, models)."""
        return self.asked & (self.settled == 0)

    @property
    def is_divided(self) -> bool:
        """Whether not all models play on in one group: later battles then do not stand for a round
        robin."""
        return int(connected_components(self.open, directed=False)[0]) > 1


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress with a stopping rule; `visits` and `upcoming` item visits are equal when it is over,
    for a `reason` (`answered`, or `items`: used up). `groups` are positions of the models that play
    on, each among themselves."""

    order: tuple[str, ...]
    looks: tuple[Look, ...]
    visits: int
    upcoming: int
    reason: str
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """Options of a tournament that stops when its question is answered; base class of such rules.

    Attributes:
        until: `order` (which model of each pair is better), `topK` (the set of the best K, as top1
            or top3), `error:X` (until the mean half-width of the ratings' intervals is X Elo);
            empty to play all.
        margin: Elo by which a decision may be wrong: the lower of two models is not better by more
            than this.
        level: confidence level, in (0, 1), with which all decisions at all looks hold together.
        start: item visits before the first look, 25 or more; the number doubles from look to look.
        items: number of items, drawn at random; all by default.
        seed: of all draws.
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
        if self.until and not QUESTION.fullmatch(self.until):
            raise UsageError(
                f"until={self.until}: write order, topK (as top1, top3) or error:X (Elo, as error:20)"
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
        if self.margin and (not self.until or self.error is not None):
            raise UsageError(
                f"margin={self.margin:g} belongs to until=order or until=topK; leave it out"
            )

    @property
    def error(self) -> float | None:
        """The mean half-width of `error:X` in Elo; None for another question."""
        match = QUESTION.fullmatch(self.until)
        return float(match["error"]) if match and match["error"] else None

    @property
    def first(self) -> int | None:
        """The K of `topK`; None for another question."""
        match = QUESTION.fullmatch(self.until)
        return int(match["first"]) if match and match["first"] else None

    def size(self, field: Field) -> int:
        """Return the maximum number of battles, those played without `until`."""
        return len(cast(Any, replace(self, until="", margin=0.0)).next(field, ()).pairings)

    def planned_looks(self, most: int) -> tuple[int, ...]:
        """Return the numbers of item visits at the looks: start, 2 start, 4 start ..., and `most`.

        >>> Stopping(until="order").planned_looks(1600)
        (40, 80, 160, 320, 640, 1280, 1600)
        """
        visits = [self.start]
        while 2 * visits[-1] < most / 1.2:
            visits.append(2 * visits[-1])
        return (*(number for number in visits if number < most), most)

    def rounds(self, field: Field) -> int | None:
        """Return the maximum number of rounds: 1, or the number of planned looks; None if it is not
        fixed."""
        if self.error is not None:
            return None
        visits = getattr(self, "passes", 1) * len(draw_items(field, self.items, self.seed))
        return len(self.planned_looks(visits)) if self.until else 1

    def refuse_unanswerable(self, field: Field, items: int) -> None:
        """Raise UsageError if there are too few items or models for the question."""
        if self.until and items < MIN_ITEMS:
            raise UsageError(
                f"until={self.until} needs {MIN_ITEMS} items to estimate an error, and there are {items}: give more "
                "items, or leave until= out to play all battles"
            )
        if self.first is not None and self.first >= len(field.models):
            raise UsageError(
                f"until={self.until} needs more than {self.first} models, and there are {len(field.models)}: ask "
                "for fewer of the best, or give more models"
            )

    def items_to_next_look(
        self, field: Field, played: Sequence[Round]
    ) -> tuple[tuple[str, ...], str]:
        """Return the items to play until the next look, none when it is over, and a summary of the
        last look."""
        # For tournaments that visit each item once and that no model leaves.
        if not self.until:
            return draw_items(field, self.items, self.seed), ""
        progress = self.progress_of(field, played)
        said = (
            look_summary(sorted(field.models), progress, self.error) + "; "
            if progress.looks
            else ""
        )
        return progress.order[progress.visits : progress.upcoming], said

    def newcomers(self, field: Field) -> tuple[str, ...]:  # noqa: ARG002
        """Return the models that join an existing ranking; empty if there is none."""
        return ()

    def progress_of(self, field: Field, played: Sequence[Round]) -> Progress:
        """Return the progress of a tournament with `until` from its rounds."""
        return self.progress(field, order_of_visits(field, self.items, self.seed), played)

    def progress(
        self,
        field: Field,
        order: Sequence[str],
        played: Sequence[Round],
        *,
        passes: int = 1,
        against: Collection[str] = (),
        given: Sequence[Round] = (),
        ladder: Ladder | None = None,
        about_field: bool = False,
    ) -> Progress:
        """Compute the progress from the rounds so far; `until=order` compares all models with those
        of `against`; `given`: earlier rounds without a look; `ladder`: known ratings;
        `about_field`: ask about a round robin."""
        self.refuse_unanswerable(field, len(order))
        names, most = sorted(field.models), passes * len(order)
        plan, prior = self.planned_looks(most), build_prior(ladder, names) if ladder else None
        mask = np.isin(names, list(against))
        asked = (
            (mask[:, None] | mask)
            if against and self.until == "order"
            else np.ones((len(names),) * 2, dtype=bool)
        )
        able = self.has_enough_items(field, order)
        asked &= able[:, None] & able & ~np.eye(len(names), dtype=bool)
        place = {item: k for k, item in enumerate(order)}
        looks, visits = list[Look](), 0
        for number, done in enumerate(played, start=1):
            visits = self._visits_after_round(done, visits, place, plan)
            coded = code_rounds([*given, *played[:number]], names)
            fit = _fit_look(names, coded, prior)
            evidence = fit.z(self.margin)
            if about_field and coded and any(look.is_divided for look in looks):
                even = _fit_look(names, weigh_as_round_robin(coded, field), prior).z(self.margin)
                # The value nearer to 0, or 0 if the signs differ: both must allow a decision, so
                # that the weighted value, which is less precise, adds no second chance of a wrong
                # decision.
                evidence = np.median([np.zeros_like(even), evidence, MOST_SURPLUS * even], axis=0)
            # What was decided before does not hold on another scale.
            before = looks[-1] if looks and not fit.is_other_scale else None
            looks.append(
                self._analyse(fit, evidence, played[:number], visits, plan, asked, before, mask)
            )
            if not looks[-1].open.any():
                return Progress(tuple(order), tuple(looks), visits, visits, "answered", ())
        groups = (
            (tuple(range(len(names))),)
            if self.error or not looks
            else connected_groups(looks[-1].open)
        )
        if visits >= most:
            return Progress(tuple(order), tuple(looks), visits, visits, "items", groups)
        return Progress(
            tuple(order),
            tuple(looks),
            visits,
            self.visits_at_next_look(visits, looks, plan),
            "",
            groups,
        )

    def has_enough_items(self, field: Field, order: Sequence[str]) -> np.ndarray:
        """Return a mask of the models with responses to at least 25 items, shape (models,)."""
        names = sorted(field.models)
        absent = [
            sum(name in field.absent.get(item, ()) for item in order) if field.absent else 0
            for name in names
        ]
        return len(order) - np.array(absent) >= MIN_ITEMS

    def visits_at_next_look(self, visits: int, looks: Sequence[Look], plan: Sequence[int]) -> int:
        """Return the item visits at the next look: the planned ones, or for `error:X` some
        predicted from the width."""
        # A width does not depend on which model is ahead, so looking at it often biases nothing.
        if self.error is None or not visits:
            return next(number for number in plan if number > visits)
        width = np.mean(looks[-1].half)
        needed = 2.0 * visits if np.isnan(width) else 1.05 * visits * (width / self.error) ** 2
        return min(int(np.ceil(np.clip(needed, 1.1 * visits, 2.0 * visits))), plan[-1])

    def _visits_after_round(
        self, done: Round, before: int, place: Mapping[str, int], plan: Sequence[int]
    ) -> int:
        """Return the number of item visits after a round, from the items of its battles."""
        items = {outcome.pairing.item for outcome in done.outcomes} & place.keys()
        reached = before + max(
            ((place[item] - before) % len(place) + 1 for item in items), default=1
        )
        return min(
            reached if self.error else next((k for k in plan if k >= reached), plan[-1]), plan[-1]
        )

    def _analyse(
        self,
        fit: LookFit,
        evidence: np.ndarray,
        played: Sequence[Round],
        visits: int,
        plan: Sequence[int],
        pairs: np.ndarray,
        before: Look | None,
        about: np.ndarray,
    ) -> Look:
        """Build a look from a fit: the errors, and the pairs that the step-down test settles."""
        half, planned, critical = self._half_widths(fit, about), None, np.nan
        settled = np.zeros(pairs.shape, dtype=np.int64) if before is None else before.settled.copy()
        spent = np.zeros_like(pairs) if before is None else before.spent.copy()
        if self.error is not None:
            asked = (
                np.zeros_like(pairs)
                if np.mean(half) <= self.error
                else np.eye(len(pairs), dtype=bool)
            )
        else:
            planned, asked = len(plan), pairs & self._pairs_asked_about(fit.theta)
            share = SPENDING_GROWTH ** (plan.index(visits) + 1) / sum(
                SPENDING_GROWTH**k for k in range(1, planned + 1)
            )
            alpha = (1 - self.level) * share
            critical = step_down(evidence, fit.theta, fit.clusters, asked, settled, spent, alpha)
        return Look(
            theta=fit.theta,
            covariance=fit.covariance,
            clusters=fit.clusters,
            is_bounded=fit.is_bounded,
            check=fit.check,
            number=len(played),
            planned=planned,
            visits=visits,
            battles=sum(len(done.outcomes) for done in played),
            half=half,
            evidence=evidence,
            asked=asked,
            settled=settled,
            spent=spent,
            critical=critical,
        )

    def _half_widths(self, fit: LookFit, about: np.ndarray) -> np.ndarray:
        """Return half-widths in Elo: of all models against the mean, or of some against the mean of
        the others; on a ladder's scale with a ladder."""
        size = len(fit.theta)
        others = ~about if about.any() else np.ones(size, dtype=bool)
        rows = about if about.any() else slice(None)
        contrast = (np.eye(size) - (others / others.sum() if fit.check is None else 0))[rows]
        variance = np.einsum("ij,jk,ik->i", contrast, fit.covariance, contrast)
        half = t_quantile(fit.clusters, self.level) * np.sqrt(np.maximum(variance, 0)) * POINTS
        return np.where(fit.is_bounded[rows] & (half > SAME), half, np.nan)

    def _pairs_asked_about(self, theta: np.ndarray) -> np.ndarray:
        """Return a mask of the pairs that the question is about: all, or one of the best K with one
        of the others."""
        if self.first is None:
            return ~np.eye(len(theta), dtype=bool)
        inside = np.zeros(len(theta), dtype=bool)
        inside[np.argsort(-theta, kind="stable")[: self.first]] = True
        return inside[:, None] != inside


def step_down(
    evidence: np.ndarray,
    theta: np.ndarray,
    clusters: int,
    asked: np.ndarray,
    settled: np.ndarray,
    spent: np.ndarray,
    alpha: float,
) -> float:
    """Settle pairs by a step-down test (Holm 1979), changing `settled` and `spent`; return the last
    critical t."""
    # `alpha`, the error probability of this look, is divided by the number of pairs asked about and
    # not spent. A pair settled with a margin (Elo) may still be settled the other way round, so it
    # counts until it differs by more than the margin, or is settled both ways.
    gap, place, critical = theta[:, None] - theta, np.arange(len(theta)), np.nan
    is_ahead = np.where(np.abs(gap) > SAME, gap > 0, place[:, None] < place)
    for_leader, for_other = (
        np.where(is_ahead, evidence, evidence.T),
        np.where(is_ahead, evidence.T, evidence),
    )
    while (open_ := asked & (settled == 0)).any() and clusters > 1:
        pairs = int((asked & ~spent).sum()) // 2
        critical = -float(stdtrit(clusters - 1, alpha / max(pairs, 1)))
        fresh = open_ & (for_leader > critical + SAME)
        used_up = asked & ~spent & (np.abs(for_other) > critical + SAME)
        if not fresh.any() and not used_up.any():
            break
        settled[fresh] = np.where(is_ahead, 1, -1)[fresh]
        spent |= used_up
    return critical


def look_summary(names: Sequence[str], progress: Progress, error: float | None) -> str:
    """Return the last look in one line: battles so far, and settled pairs or the mean
    half-width."""
    *earlier, last = progress.looks
    said = f"{last.title}: {last.battles:,} battles so far"
    if error is not None:
        width = (
            f"±{np.mean(last.half):.1f} Elo" if not np.isnan(last.half).any() else "no bound yet"
        )
        return f"{said}, ratings known to {width} on average"
    asked, open_ = int(last.asked.sum()) // 2, int(last.open.sum()) // 2
    before = earlier[-1].open.any(axis=1) if earlier else np.ones(len(names), dtype=bool)
    gone = [names[k] for k in np.flatnonzero(before & ~last.open.any(axis=1)).tolist()]
    return f"{said}, {asked - open_} of {asked} pairs decided" + (
        f"; finished: {some(gone)}" if gone else ""
    )


def connected_groups(open_: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Return the connected components of the graph of open pairs, as positions of models."""
    number, component = connected_components(open_, directed=False)
    members = [np.flatnonzero(component == k).tolist() for k in range(number)]
    return tuple(tuple(group) for group in members if len(group) > 1)


def _fit_look(
    names: Sequence[str], coded: CodedBattles | None, prior: LadderPrior | None
) -> LookFit:
    """Fit log-strengths and their covariance to the battles before a look, and to the ratings of a
    ladder."""
    size = len(names)
    if coded is None:
        return LookFit(
            np.zeros(size), np.full((size, size), np.nan), 0, np.zeros(size, dtype=bool), None
        )
    strengths = fit_strengths(pair_sums(coded), prior=prior)
    covariance, graph = strengths.covariance(coded), strengths.graph
    largest = np.argmax(np.bincount(graph.group[graph.played]))
    few = coded.clusters_by_model() < MIN_ITEMS
    check, is_rated, is_bounded = None, np.zeros(size, dtype=bool), ~graph.separated
    if prior:
        check, is_rated = check_ladder(coded, prior), prior.is_rated
        is_bounded &= prior.sides_beyond(strengths.pairs, strengths.theta) == 0
        few |= check.is_other_scale
    unknown = (few & ~is_rated) | (graph.group != largest) | (coded.clusters < MIN_ITEMS)
    covariance[unknown], covariance[:, unknown] = np.nan, np.nan
    return LookFit(strengths.theta, covariance, coded.clusters, is_bounded & ~unknown, check)
