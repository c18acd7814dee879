"""Group-sequential stopping of a tournament: planned looks, and the pairs that each look decides.

Sources: step-down over pairs (Holm 1979); a share of the level for each of a known number of looks (repeated confidence
intervals: Jennison and Turnbull 2000, ch. 9). Nothing here assumes that pairs or looks are independent.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, stdtrit

from podium.errors import UsageError
from podium.rankers.coded import CodedBattles
from podium.rankers.intervals import t_quantile
from podium.rankers.pairs import pair_sums
from podium.rankers.scale import POINTS
from podium.rankers.strengths import fit_strengths
from podium.text import some
from podium.tournaments.between_rounds import code_rounds
from podium.tournaments.schedule import Field, Round
from podium.tournaments.selection import draw_items, order_of_visits

FEWEST = 25
"""Items below which an error is not known well enough to settle anything by it."""
LATER = 2.0
"""The share of 1 - level that a look may spend grows by this factor from look to look."""
PINNING = 1e7
"""Battles' weight of a rating that is taken as exact."""
SAME = 1e-9
"""Logits up to which two strengths are equal: rounding must settle nothing."""
NOT_OF_THESE = (
    "claims are about items like these, and no other population is offered: for these items alone only battles not "
    "played and the judge's own noise would count, and a single battle of a pair on an item shows neither. Leave it "
    "out; to know these items alone, play round_robin on all of them"
)
QUESTIONS = re.compile(r"order|top(?P<first>[1-9]\d*)|error:(?P<error>\d+(\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Look:
    """The state at one interim analysis (look).

    Attributes:
        number: of the look, from 1; `planned` of how many, None where each is predicted from the one before.
        visits: of items so far; `clusters` of distinct items with a readable battle; `battles` asked for so far.
        theta, covariance: log-strengths with mean zero and their item-clustered covariance, by model.
        half: half-widths of pointwise intervals, Elo, of those whose error is asked about; NaN where unknown, as where
            no verdict differs from item to item.
        asked: the pairs that the question is about now, shape (models, models), symmetric.
        settled: 1 where row is not worse than column by more than the margin, -1 the reverse, 0 where that is open.
        spent: told by more than the margin, or settled both ways: counted no more when the level is shared out.
        critical: the value of t that a pair had to pass at last; NaN where no pair was open.
    """

    number: int
    planned: int | None
    visits: int
    clusters: int
    battles: int
    theta: np.ndarray
    covariance: np.ndarray
    half: np.ndarray
    asked: np.ndarray
    settled: np.ndarray
    spent: np.ndarray
    critical: float

    @property
    def open(self) -> np.ndarray:
        """Mask of the pairs that are asked about and undecided, shape (models, models)."""
        return self.asked & (self.settled == 0)

    def z(self, margin: float) -> np.ndarray:
        """Return (|gap| + margin) / standard error for all pairs, shape (models, models)."""
        gap, error = _gaps(self.theta, self.covariance)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio: np.ndarray = (np.abs(gap) + margin / POINTS) / error
        return ratio


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a tournament with a stopping rule.

    Attributes:
        order: the items in the order in which they are visited.
        looks: so far, one a round.
        visits: of items after the last round; `upcoming` at the next look, the same where it is over.
        reason: why it is over: `answered`, or `items` where they are used up; empty while it is not.
        groups: positions of the models that may play on, each group in circles of its own.
    """

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
        until: `order` (who is better, of all pairs), `topK` (top1, top3 ...: who the best K are, as a set),
            `error:X` (until ratings are known to X Elo: the mean half-width of their intervals); empty = play it all.
        margin: Elo by which a claim may be wrong: the lower of two is not better by more than this.
        level: with which all claims at all looks hold together, in (0, 1).
        start: item visits before the first look, 25 or more; the others follow at twice as many each.
        items: how many items, drawn at random; by default all.
        seed: of everything drawn.
        population: refused where it is `these-items`: claims are about items like these.
    """

    until: str = ""
    margin: float = 0.0
    level: float = 0.95
    start: int = 40
    items: int | None = None
    seed: int = 0
    population: str = ""

    def __post_init__(self) -> None:
        if self.until and not QUESTIONS.fullmatch(self.until):
            raise UsageError(f"until={self.until}: write order, topK (as top1, top3) or error:X (Elo, as error:20)")
        if self.population:
            raise UsageError(f"population={self.population}: {NOT_OF_THESE}")
        if self.error == 0:
            raise UsageError(f"until={self.until}: no number of items makes an error 0; give Elo above it")
        if not 0 <= self.margin < np.inf:
            raise UsageError(f"margin={self.margin}: give Elo, 0 or more")
        if not 0 < self.level < 1:
            raise UsageError(f"level={self.level}: give a number between 0 and 1; 0.95 is usual")
        if self.start < FEWEST:
            raise UsageError(f"start={self.start}: fewer than {FEWEST} items tell no error; give {FEWEST} or more")
        if self.margin and (not self.until or self.error is not None):
            raise UsageError(f"margin={self.margin:g} belongs to until=order or until=topK; leave it out")

    @property
    def error(self) -> float | None:
        """The mean half-width that is asked for, Elo; None where something else is."""
        match = QUESTIONS.fullmatch(self.until)
        return float(match["error"]) if match and match["error"] else None

    @property
    def first(self) -> int | None:
        """How many of the best are asked for; None where something else is."""
        match = QUESTIONS.fullmatch(self.until)
        return int(match["first"]) if match and match["first"] else None

    def size(self, field: Field) -> int:
        """Return the maximum number of battles, those played without `until`."""
        whole: Any = replace(self, until="", margin=0.0)
        return len(whole.next(field, ()).pairings)

    def planned_looks(self, most: int) -> tuple[int, ...]:
        """Return the numbers of item visits at which looks are taken: start, 2 start, 4 start ..., and `most`.

        >>> Stopping(until="order").planned_looks(1600)
        (40, 80, 160, 320, 640, 1280, 1600)
        """
        visits = [self.start]
        while 2 * visits[-1] < most / 1.2:
            visits.append(2 * visits[-1])
        return (*(number for number in visits if number < most), most)

    def rounds(self, field: Field) -> int | None:
        """Return the maximum number of rounds: 1, or the number of planned looks; None if it is not fixed."""
        if self.error is not None:
            return None
        visits = getattr(self, "passes", 1) * len(draw_items(field, self.items, self.seed))
        return len(self.planned_looks(visits)) if self.until else 1

    def refuse_unanswerable(self, field: Field, items: int) -> None:
        """Raise UsageError if the field is too small for the question.

        Raises:
            UsageError: too few items, or not fewer asked for than there are models.
        """
        if self.until and items < FEWEST:
            raise UsageError(
                f"until={self.until} needs {FEWEST} items to know an error, and there are {items}: leave it out, and "
                "all is played, or give more items"
            )
        if self.first is not None and self.first >= len(field.models):
            raise UsageError(
                f"until={self.until} needs more than {self.first} models, and there are {len(field.models)}: ask "
                "for fewer of the best, or give more models"
            )

    def items_due(self, field: Field, played: Sequence[Round]) -> tuple[tuple[str, ...], str]:
        """Return the items to play until the next look, and a summary of the last look.

        For tournaments in which nobody leaves, and each item is visited once. When it is over, no items are left.
        """
        if not self.until:
            return draw_items(field, self.items, self.seed), ""
        progress = self.progress_of(field, played)
        said = look_text(sorted(field.models), progress, self.error) + "; " if progress.looks else ""
        return progress.order[progress.visits : progress.upcoming], said

    def progress_of(self, field: Field, played: Sequence[Round]) -> "Progress":
        """Return the progress with `until`."""
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
        pinned: Mapping[str, float] | None = None,
    ) -> Progress:
        """Compute the progress from the rounds played so far.

        Args:
            order: the items in the order in which they are visited; every turn is alike.
            played: its rounds, each of which ended at a look.
            passes: turns.
            against: models that everyone is to be settled against with `until=order`, and whose error counts;
                by default all pairs and all models.
            given: rounds that were played before; they count, and no look was taken at them.
            pinned: Elo of models that is taken as exact.

        Raises:
            UsageError: the field cannot answer the question.
        """
        self.refuse_unanswerable(field, len(order))
        names, most = sorted(field.models), passes * len(order)
        plan = self.planned_looks(most)
        held = {names.index(name): elo / POINTS for name, elo in (pinned or {}).items() if name in names}
        mask = np.isin(names, list(against))
        asked = (mask[:, None] | mask) if against and self.until == "order" else np.ones((len(names),) * 2, dtype=bool)
        able = self.able(field, order)
        asked &= able[:, None] & able & ~np.eye(len(names), dtype=bool)
        place = {item: k for k, item in enumerate(order)}
        looks: list[Look] = []
        visits = 0
        for number, done in enumerate(played, start=1):
            visits = self._visits_after(done, visits, place, plan)
            known = _strengths_at(names, [*given, *played[:number]], held)
            spent = (visits, sum(len(done.outcomes) for done in played[:number]))
            looks.append(self._look(known, number, spent, plan, asked, looks[-1] if looks else None, mask))
            if not looks[-1].open.any():
                return Progress(tuple(order), tuple(looks), visits, visits, "answered", ())
        groups = (tuple(range(len(names))),) if self.error or not looks else groups_of(looks[-1].open)
        if visits >= most:
            return Progress(tuple(order), tuple(looks), visits, visits, "items", groups)
        return Progress(tuple(order), tuple(looks), visits, self.look_after(visits, looks, plan), "", groups)

    def able(self, field: Field, order: Sequence[str]) -> np.ndarray:
        """Return which models have responses to at least 25 items, shape (models,)."""
        names = sorted(field.models)
        absent = [sum(name in field.absent.get(item, ()) for item in order) if field.absent else 0 for name in names]
        return len(order) - np.array(absent) >= FEWEST

    def look_after(self, visits: int, looks: Sequence[Look], plan: Sequence[int]) -> int:
        """Return the item visits at the next look: the planned number, or one predicted from the current width.

        A width says nothing about who is ahead, so looking at it, however often, biases nothing.
        """
        if self.error is None or not visits:
            return next(number for number in plan if number > visits)
        width = np.mean(looks[-1].half)
        needed = 2.0 * visits if np.isnan(width) else 1.05 * visits * (width / self.error) ** 2
        return min(int(np.ceil(np.clip(needed, 1.1 * visits, 2.0 * visits))), plan[-1])

    def _visits_after(self, done: Round, before: int, place: Mapping[str, int], plan: Sequence[int]) -> int:
        """Return the number of item visits after a round, derived from the items of its battles."""
        items = {outcome.pairing.item for outcome in done.outcomes} & place.keys()
        reached = before + max(((place[item] - before) % len(place) + 1 for item in items), default=1)
        return (
            min(reached, plan[-1]) if self.error else next((number for number in plan if number >= reached), plan[-1])
        )

    def _look(
        self,
        known: tuple[np.ndarray, np.ndarray, int, np.ndarray],
        number: int,
        asked_for: tuple[int, int],
        plan: Sequence[int],
        pairs: np.ndarray,
        before: Look | None,
        about: np.ndarray,
    ) -> Look:
        """Compute a look: estimates, standard errors, and the step-down test over the pairs."""
        theta, covariance, clusters, is_bounded = known
        visits, battles = asked_for
        half = self._half_widths(covariance, clusters, is_bounded, about)
        settled, spent = (
            (np.zeros(covariance.shape, dtype=np.int64), np.zeros(covariance.shape, dtype=bool))
            if before is None
            else (before.settled.copy(), before.spent.copy())
        )
        look = partial(
            Look,
            number,
            visits=visits,
            clusters=clusters,
            battles=battles,
            theta=theta,
            covariance=covariance,
            half=half,
            settled=settled,
            spent=spent,
        )
        if self.error is not None:
            is_known = bool(np.mean(half) <= self.error)
            asked = np.zeros_like(spent) if is_known else np.eye(len(theta), dtype=bool)
            return look(planned=None, asked=asked, critical=np.nan)
        asked = pairs & self._asked_pairs(theta)
        place = plan.index(visits) + 1
        share = LATER**place / sum(LATER**k for k in range(1, len(plan) + 1))
        critical = step_down(theta, covariance, clusters, asked, settled, spent, self.margin, (1 - self.level) * share)
        return look(planned=len(plan), asked=asked, critical=critical)

    def _half_widths(
        self, covariance: np.ndarray, clusters: int, is_bounded: np.ndarray, about: np.ndarray
    ) -> np.ndarray:
        """Return half-widths in Elo: of everyone against the mean, or of some against the mean of the others."""
        size = len(covariance)
        others = ~about if about.any() else np.ones(size, dtype=bool)
        contrast = (np.eye(size) - others / others.sum())[about if about.any() else slice(None)]
        bounded = is_bounded[about] if about.any() else is_bounded
        variance = np.einsum("ij,jk,ik->i", contrast, covariance, contrast)
        half = t_quantile(clusters, self.level) * np.sqrt(np.maximum(variance, 0)) * POINTS
        return np.where(bounded & (half > SAME), half, np.nan)

    def _asked_pairs(self, theta: np.ndarray) -> np.ndarray:
        if self.first is None:
            return ~np.eye(len(theta), dtype=bool)
        inside = np.zeros(len(theta), dtype=bool)
        inside[np.argsort(-theta, kind="stable")[: self.first]] = True
        return inside[:, None] != inside


def step_down(
    theta: np.ndarray,
    covariance: np.ndarray,
    clusters: int,
    asked: np.ndarray,
    settled: np.ndarray,
    spent: np.ndarray,
    margin: float,
    alpha: float,
) -> float:
    """Settle what this look settles, in `settled` and `spent`, pair by pair with ever smaller corrections (Holm 1979).

    The level is shared by the pairs asked about that are not spent. A pair that is settled with a margin may still
    turn out the other way round, so it counts until it is told by more than the margin, or settled both ways.

    Args:
        theta, covariance: log-strengths and their covariance, NaN where unknown.
        clusters: items behind them.
        asked: the pairs that the question is about.
        settled, spent: as of `Look`, before and after.
        margin: Elo.
        alpha: what this look may spend.

    Returns:
        The critical value of t at last; NaN where no pair was open.
    """
    gap, error = _gaps(theta, covariance)
    beyond, critical = margin / POINTS, np.nan
    ahead = np.where(np.abs(gap) > SAME, np.sign(gap), np.sign(np.arange(len(theta)) - np.arange(len(theta))[:, None]))
    while (open_ := asked & (settled == 0)).any() and clusters > 1:
        pairs = int((asked & ~spent).sum()) // 2
        critical = -float(stdtrit(clusters - 1, alpha / max(pairs, 1)))
        fresh = open_ & (np.abs(gap) + beyond > critical * error + SAME)
        used_up = asked & ~spent & (np.abs(np.abs(gap) - beyond) > critical * error + SAME)
        used_up = used_up if margin else fresh & ~spent
        if not fresh.any() and not used_up.any():
            break
        settled[fresh] = ahead[fresh]
        spent |= used_up
    return critical


def look_text(names: Sequence[str], progress: Progress, error: float | None) -> str:
    """Summarize a look in one line."""
    *earlier, last = progress.looks
    number = f"look {last.number}" + (f" of {last.planned}" if last.planned else "")
    said = f"{number}: {last.battles:,} battles so far"
    if error is not None:
        width = f"±{np.mean(last.half):.1f} Elo" if not np.isnan(last.half).any() else "no bound yet"
        return f"{said}, ratings known to {width} on average"
    asked, open_ = int(last.asked.sum()) // 2, int(last.open.sum()) // 2
    before = earlier[-1].open.any(axis=1) if earlier else np.ones(len(names), dtype=bool)
    gone = [names[k] for k in np.flatnonzero(before & ~last.open.any(axis=1)).tolist()]
    return f"{said}, {asked - open_} of {asked} pairs settled" + (f"; settled for good: {some(gone)}" if gone else "")


def groups_of(open_: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Return the connected components of the graph of undecided pairs, as positions of models."""
    left: set[int] = set(np.flatnonzero(open_.any(axis=1)).tolist())
    groups: list[tuple[int, ...]] = []
    while left:
        group: set[int] = set()
        fresh = {min(left)}
        while fresh:
            group |= fresh
            fresh = set(np.flatnonzero(open_[sorted(fresh)].any(axis=0)).tolist()) - group
        left -= group
        groups.append(tuple(sorted(group)))
    return tuple(groups)


def _gaps(theta: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return differences of log-strengths (row minus column) and their standard errors, NaN where unknown.

    Two that are level on every item show no error.
    """
    variance = np.diag(covariance)
    gap, squared = theta[:, None] - theta, variance[:, None] + variance - 2 * covariance
    error = np.sqrt(np.maximum(squared, 0))
    return gap, np.where((error <= SAME) & (np.abs(gap) <= SAME), np.nan, error)


def pin(coded: CodedBattles, logits: Mapping[int, float]) -> CodedBattles:
    """Fix ratings by adding heavily weighted battles between the rated models.

    They end as those ratings have them, so that they add nothing to the clusters' scores, and no error.
    """
    codes = sorted(logits)
    if len(codes) < 2:
        return coded
    a, b = np.array(codes[:-1]), np.array(codes[1:])
    gaps = np.array([logits[k] for k in codes[:-1]]) - np.array([logits[k] for k in codes[1:]])
    return replace(
        coded,
        a=np.append(coded.a, a),
        b=np.append(coded.b, b),
        credit=np.append(coded.credit, expit(gaps)),
        weight=np.append(coded.weight, np.full(len(a), PINNING)),
        cluster=np.append(coded.cluster, np.zeros(len(a), dtype=np.int64)),
    )


def _strengths_at(
    names: Sequence[str], played: Sequence[Round], pinned: Mapping[int, float]
) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    """Fit log-strengths and covariance at a look; return them with the number of items and the bounded models.

    Of a model that has readable battles on fewer than 25 items, or no way of battles to the others, the covariance
    is NaN: nothing is settled about it.
    """
    size, coded = len(names), code_rounds(played, names)
    if coded is None:
        return np.zeros(size), np.full((size, size), np.nan), 0, np.zeros(size, dtype=bool)
    coded = pin(coded, pinned)
    strengths = fit_strengths(pair_sums(coded))
    covariance, graph = strengths.covariance(coded), strengths.graph
    largest = np.argmax(np.bincount(graph.group[graph.played]))
    few = (coded.clusters_by_model() < FEWEST) & ~np.isin(np.arange(size), list(pinned))
    unknown = few | (graph.group != largest) | (coded.clusters < FEWEST)
    covariance[unknown], covariance[:, unknown] = np.nan, np.nan
    return strengths.theta, covariance, coded.clusters, ~(unknown | graph.separated)
