"""What a tournament with a stopping rule decided, in sentences: the decisions, why it ended, what
is still open."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any, cast

import numpy as np

from podium.data.pairings import Field, Round
from podium.rankers.errors.rank_sets import further_items
from podium.rankers.fit.graph import largest_distinguishable_block
from podium.rankers.fit.scale import POINTS
from podium.rankers.ladder_placement import RATED_ONLY
from podium.text import plural, some
from podium.tournaments.stopping import MIN_ITEMS, SAME, Look, Progress, Stopping, connected_groups

LEVEL_ON_EVERY_ITEM = (
    "All models earn the same on every item, so no error is known. The judge may only give ties, or always prefer the "
    "response shown first: read some of its replies."
)


@dataclass(frozen=True, slots=True)
class TournamentAnswer:
    """The answer of a tournament to its question: `until`, `margin` and `level`.

    Attributes:
        look: number of the last interim analysis, of `looks` planned ones; None if each was
            predicted.
        reason: why it ended: `answered`, `items` (used up), `max_battles`, or `interrupted`.
        advice: the last of the sentences `decisions`; empty if nothing is open or nothing can be
            said.
        open: the groups of models that are not decided.
        calls: of each judge, or of judges in turn together, one per battle; the caller replaces it
            if there were more.
        about: what the decisions hold for: a round robin of all models (`field`), or the pairs
            `played` only.
    """

    until: str
    margin: float
    level: float
    look: int
    looks: int | None
    answered: bool
    reason: str
    decisions: tuple[str, ...]
    advice: str
    open: tuple[tuple[str, ...], ...]
    battles: int
    calls: int
    about: str = "field"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as in a log and in the diagnostics of a ranking."""
        return asdict(self) | {
            "decisions": list(self.decisions),
            "open": [list(group) for group in self.open],
        }


def build_tournament_answer(
    rule: Any, field: Field, played: Sequence[Round]
) -> TournamentAnswer | None:
    """Build the answer of a tournament from its rounds; None if it has no stopping rule or no
    interim analysis."""
    asked, most = rule, getattr(rule, "most", None)
    while hasattr(asked, "rule"):
        asked = asked.rule
    if not isinstance(asked, Stopping) or not asked.until:
        return None
    progress = asked.progress_of(field, played)
    if not progress.looks:
        return None
    last, names = progress.looks[-1], sorted(field.models)
    reason = _end_reason(asked, field, played, progress, most)
    advice = "" if reason == "answered" else _advice(asked, last, names)
    groups = () if asked.error is not None else connected_groups(last.open)
    open_groups = tuple(tuple(names[k] for k in group) for group in groups)
    undecided = some([some(group) for group in open_groups], "; ")
    sentences = [
        *_decisions(asked, last, names, asked.newcomers(field)),
        _end(reason, progress, most),
        f"Undecided: {undecided}." if undecided and reason != "answered" else "",
        advice,
        *_limits(asked, field, progress),
    ]
    return TournamentAnswer(
        until=asked.until,
        margin=asked.margin,
        level=asked.level,
        look=last.number,
        looks=last.planned,
        answered=reason == "answered",
        reason=reason,
        decisions=tuple(filter(None, sentences)),
        advice=advice,
        open=open_groups,
        battles=last.battles,
        calls=last.battles,
        about="played" if _depends_on_transitivity(asked, field, progress) else "field",
    )


def printed_level(level: float, answer: Mapping[str, Any] | None) -> float:
    """Return the level of the intervals printed with an answer: `topK` shares 1 - level among the
    interim analyses."""
    # If the best models separate from the others, their ratings were analysed so often because they
    # were high.
    is_choice = answer is not None and str(answer["until"]).startswith("top")
    return 1 - (1 - level) / answer["looks"] if is_choice and answer else level


def _end_reason(
    asked: Any, field: Field, played: Sequence[Round], progress: Progress, most: int | None
) -> str:
    """Return why the tournament ended; `max_battles` if it would have played more than the
    limit."""
    if most is None or progress.reason == "answered" or progress.looks[-1].battles < most:
        return progress.reason or "interrupted"
    cut = len(asked.next(field, played[:-1]).pairings) > len(played[-1].outcomes)
    return (
        "max_battles"
        if cut or asked.next(field, played).pairings
        else progress.reason or "interrupted"
    )


def _limits(asked: Stopping, field: Field, progress: Progress) -> Iterator[str]:
    """Yield sentences on models without a decision, and on the pairs that the decisions are
    about."""
    able = asked.has_enough_items(field, progress.order)
    if not able.all():
        few = [
            name for name, is_able in zip(sorted(field.models), able, strict=True) if not is_able
        ]
        yield f"No decision about {some(few)}: fewer than {MIN_ITEMS} items have responses."
    if _depends_on_transitivity(asked, field, progress):
        played = (
            "the pairs with the anchor"
            if hasattr(asked, "anchor")
            else "the pairs that were played"
        )
        yield (
            f"Decisions are about {played}: a round robin may contradict them if the judge is not transitive. "
            "`podium/ring` with opponents=field, its default, asks about all pairs."
        )


def _depends_on_transitivity(asked: Any, field: Field, progress: Progress) -> bool:
    """Return whether models were compared through pairs that do not represent a round robin."""
    if hasattr(asked, "anchor"):
        return asked.first is not None
    is_open = (
        getattr(asked, "opponents", None) == "open"
        and asked.error is None
        and not asked.newcomers(field)
    )
    return is_open and any(look.is_divided for look in progress.looks[:-1])


def _decisions(asked: Stopping, last: Look, names: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return sentences on what the last interim analysis decided, each with the level."""
    if last.check is not None and last.check.is_other_scale:
        ends = (
            f"(slope {last.check.slope:.2f}, 97.5%: {last.check.low:.2f} … {last.check.high:.2f})"
        )
        who = some(new or [RATED_ONLY])
        return [
            f"Nothing is claimed about {who}: the given ratings have another scale than the battles {ends}."
        ]
    if asked.error is not None:
        sentences = [_rating_decision(last, new)]
    elif asked.first is not None:
        sentences = _set_decisions(asked, last, names)
    else:
        sentences = _order_decisions(asked, last, names, new)
    analyses = (
        f" at all {last.planned} interim analyses" if last.planned and last.planned > 1 else ""
    )
    return [f"{sentence} ({100 * asked.level:g}%{analyses})." for sentence in sentences]


def _rating_decision(last: Look, new: Sequence[str]) -> str:
    """Return the half-width of the ratings' intervals, or of those of newcomers, as a sentence."""
    whose = f"{'Rating' if len(new) == 1 else 'Ratings'}{f' of {some(new)}' if new else ''}"
    verbs = ("is", "has") if len(new) == 1 else ("are", "have")
    if np.isnan(last.half).any():
        return f"{whose} {verbs[1]} no bound yet"
    least = "" if len(new) == 1 else f" on average, the least certain to ±{np.max(last.half):.1f}"
    return f"{whose} {verbs[0]} known to ±{np.mean(last.half):.1f} Elo{least}"


def _order_decisions(
    asked: Stopping, last: Look, names: Sequence[str], new: Sequence[str]
) -> list[str]:
    """Return the order if all pairs are decided, else how many pairs are, and between which
    groups."""
    settled = np.where(last.asked, last.settled, 0)
    ranked = sorted(range(len(names)), key=lambda k: (-settled[k].sum(), -last.theta[k], names[k]))
    by = _better(asked.margin)
    if last.open.any():
        done = int((settled > 0).sum())
        if not done:
            few = f": {last.clusters} items were judged, and an error needs {MIN_ITEMS}"
            return [f"No pair is decided{few if last.clusters < MIN_ITEMS else ''}"]
        pairs = f"{done} of {int(last.asked.sum()) // 2} pairs{' with newcomers' if new else ''}"
        above, below = largest_distinguishable_block(
            [np.flatnonzero(settled[k, ranked] > 0).tolist() for k in ranked]
        )
        high, low = (some([names[ranked[place]] for place in places]) for places in (above, below))
        return [
            f"{pairs} are decided, among them {high} above {low}: of each, the lower is not {by}than the upper"
        ]
    asked_about = np.flatnonzero(last.asked.any(axis=1)).tolist()
    hubs = [k for k in asked_about if last.asked[k].sum() == len(asked_about) - 1]
    if len(hubs) < len(asked_about):
        return [_anchor_decision(names, settled, ranked, k, asked.margin) for k in hubs]
    ranked = [k for k in ranked if k in asked_about]
    text = f"In this order no model is {by}than one before it: {some([names[k] for k in ranked], most=40)}"
    turned = [(a, b) for k, a in enumerate(ranked) for b in ranked[k + 1 :] if settled[a, b] < 0]
    return [text, *(f"But {names[a]} is not {by}than {names[b]}" for a, b in turned)]


def _anchor_decision(
    names: Sequence[str], settled: np.ndarray, ranked: Sequence[int], anchor: int, margin: float
) -> str:
    """Return which models are not worse, and which not better, than an anchor, as a sentence."""
    above, below = ([names[k] for k in ranked if settled[k, anchor] == side] for side in (1, -1))
    sides = [f"{some(above)} not worse"] * bool(above) + [f"{some(below)} not better"] * bool(below)
    return f"Against {names[anchor]}: {' and '.join(sides)}{f' by more than {margin:g} Elo' if margin else ''}"


def _set_decisions(asked: Stopping, last: Look, names: Sequence[str]) -> list[str]:
    """Return the best K models; while that is open, those decided to be among them, and the
    undecided."""
    number = cast(int, asked.first)
    ranked = np.argsort(-last.theta, kind="stable")
    is_undecided: list[bool] = (last.open.sum(axis=1) > 0).tolist()
    best = [names[k] for k in sorted(ranked[:number].tolist()) if not is_undecided[k]]
    noun = f"the best of {len(names)}" if number == 1 else f"the best {number} of {len(names)}"
    if len(best) == number:
        verb, them = ("is", "it") if number == 1 else ("are", "any of them")
        who = f"{noun.capitalize()} {verb} {some(best)}"
        return [f"{who}: none of the others is {_better(asked.margin)}than {them}"]
    others, left = (
        some([names[k] for k in np.flatnonzero(is_undecided).tolist()]),
        number - len(best),
    )
    if not best:
        return [f"{noun.capitalize()} {'is' if number == 1 else 'are'} undecided among {others}"]
    places = "the other place" if left == 1 else f"the other {left} places"
    return [
        f"Among {noun} {'is' if len(best) == 1 else 'are'} {some(best)}",
        f"Undecided for {places}: {others}",
    ]


def _end(reason: str, progress: Progress, most: int | None) -> str:
    """Return why the tournament ended and after how many battles, as a sentence."""
    last = progress.looks[-1]
    spent = f"{last.battles:,} battles on {last.clusters:,} items, {last.title}"
    if reason == "answered":
        return f"Stopped because the question is answered: {spent}."
    if reason == "items":
        turns, rest = divmod(progress.visits, len(progress.order))
        times = "" if turns == 1 else f", each visited {turns} times" if not rest else ""
        return f"Ended because all {len(progress.order):,} items are used up{times}: {spent}."
    why = f"max_battles={most:,} is reached" if reason == "max_battles" else "it was interrupted"
    return f"Ended because {why}: {spent}."


def _advice(asked: Stopping, last: Look, names: Sequence[str]) -> str:
    """Return how many more items would decide the nearest open pair, or why that is unknown; more
    calls would not."""
    if last.is_other_scale:
        return ""
    if (
        last.clusters >= MIN_ITEMS
        and (np.abs(last.theta) <= SAME).all()
        and not np.diag(last.covariance).any()
    ):
        return LEVEL_ON_EVERY_ITEM
    if asked.error is not None:
        width = float(np.mean(last.half))
        if np.isnan(width):
            return "Some ratings have no bound: a model won or lost everything, or was read on too few items."
        lacking = ceil(last.clusters * ((width / asked.error) ** 2 - 1))
        return (
            f"About {lacking:,} more {plural('item', lacking)} would reach this error."
            if lacking > 0
            else ""
        )
    z = np.where(last.open & np.isfinite(last.evidence), last.evidence, np.nan)
    if np.isnan(z).all() or np.isnan(last.critical):
        return ""
    widest = divmod(int(np.nanargmax(z)), len(z))
    a, b = sorted(widest, key=lambda k: -last.theta[k])
    gap = abs(last.theta[a] - last.theta[b]) * POINTS
    items = further_items(last.clusters, last.critical, float(z[a, b]))
    if items is None:
        return f"How many items would separate {names[a]} from {names[b]} is unknown: their gap is within its error."
    return (
        f"If the true gap between {names[a]} and {names[b]} is the measured {gap:.0f} Elo (each call counted "
        f"separately), {max(items, 1):,} more items would separate them with 80% power, in a test of all open pairs."
    )


def _better(margin: float) -> str:
    """Return `better`, with the margin if there is one, and a space."""
    return f"better by more than {margin:g} Elo " if margin else "better "
