"""What a tournament that stops by itself found, in words: its claims, why it ended, what would settle the rest."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any, cast

import numpy as np

from podium.rankers.further_items import further_items
from podium.rankers.graph import largest_distinguishable_block
from podium.rankers.scale import POINTS
from podium.text import some
from podium.tournaments.schedule import Field, Round
from podium.tournaments.stopping import FEWEST, SAME, Look, Progress, Stopping, groups_of

PLAYED = "Claims are about the pairs that were played: whoever left was not met again"
LEVEL_ON_EVERY_ITEM = (
    "All models are level on every item, so that no error is known: a judge that only ties, or that always prefers "
    "what is shown first, tells nothing. Read some of its replies."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found.

    Attributes:
        until, margin, level: what was asked.
        look: the last one, of so many `looks`; None where each was predicted.
        answered: whether the question is.
        reason: why it ended: `answered`, `items` (used up), `max_battles`, or `interrupted`.
        claims: sentences: what is claimed, why it ended, what is open, how many more items would settle it.
        advice: the last of these, by itself; empty where nothing is open, or nothing can be said.
        open: the groups of models that are not settled.
        battles, calls: asked for; calls of each judge.
    """

    until: str
    margin: float
    level: float
    look: int
    looks: int | None
    answered: bool
    reason: str
    claims: tuple[str, ...]
    advice: str
    open: tuple[tuple[str, ...], ...]
    battles: int
    calls: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as a log and the diagnostics of a ranking hold them."""
        return asdict(self) | {"claims": list(self.claims), "open": [list(group) for group in self.open]}


def answer_of(rule: Any, field: Field, played: Sequence[Round]) -> Answer | None:
    """Return what a tournament found; None where it does not stop by itself, or nothing was looked at.

    Args:
        rule: the tournament; in a budget, or what else wraps it, as `rule`.

    Returns:
        With one call a battle: whoever made more of them says so.
    """
    asked, most = rule, getattr(rule, "most", None)
    while hasattr(asked, "rule"):
        asked = asked.rule
    if not isinstance(asked, Stopping) or not asked.until:
        return None
    progress = asked.progress_of(field, played)
    if not progress.looks:
        return None
    last, names, new = progress.looks[-1], sorted(field.models), _newcomers(asked, field)
    reason = _reason(asked, field, played, progress, most)
    is_answered = reason == "answered"
    advice = "" if is_answered else _advice(asked, last, names)
    groups = () if asked.error is not None else groups_of(last.open)
    groups_named = tuple(tuple(names[k] for k in group) for group in groups)
    sentences = [
        *_claims(asked, last, names, new),
        _end(reason, progress, most),
        "" if is_answered or not groups else f"Not settled: {some([some(group) for group in groups_named], '; ')}.",
        advice,
        *_limits(asked, field, progress),
    ]
    return Answer(
        until=asked.until,
        margin=asked.margin,
        level=asked.level,
        look=last.number,
        looks=last.planned,
        answered=is_answered,
        reason=reason,
        claims=tuple(filter(None, sentences)),
        advice=advice,
        open=groups_named,
        battles=last.battles,
        calls=last.battles,
    )


def _newcomers(asked: Stopping, field: Field) -> tuple[str, ...]:
    """Return those who join a ranking; none in a tournament that nobody can join."""
    known = getattr(asked, "newcomers", None)
    return known(field) if known else ()


def _reason(asked: Any, field: Field, played: Sequence[Round], progress: Progress, most: int | None) -> str:
    """Return why it ended; where so many battles were allowed, by whether it would have played more."""
    if most is None or progress.reason == "answered" or progress.looks[-1].battles < most:
        return progress.reason or "interrupted"
    cut = len(asked.next(field, played[:-1]).pairings) > len(played[-1].outcomes)
    return "max_battles" if cut or asked.next(field, played).pairings else progress.reason or "interrupted"


def _limits(asked: Stopping, field: Field, progress: Progress) -> Iterator[str]:
    """Say of whom nothing is claimed, and about which pairs the claims are."""
    able = asked.able(field, progress.order)
    if not able.all():
        few = [name for name, is_able in zip(sorted(field.models), able, strict=True) if not is_able]
        yield f"Nothing is claimed of {some(few)}: fewer than {FEWEST} items have responses."
    is_open = getattr(asked, "opponents", None) == "open" and asked.error is None and not _newcomers(asked, field)
    if is_open and any(not look.open.any(axis=1).all() for look in progress.looks[:-1]):
        yield f"{PLAYED}. opponents=field asks about the whole field, for about twice the calls."


def printed_level(level: float, answer: Mapping[str, Any] | None) -> float:
    """Return the level of the intervals beside an answer: those of `topK` pay for every look that was planned.

    Where the best leave the others behind, their ratings were looked at so often because they were high.
    """
    is_choice = answer is not None and str(answer["until"]).startswith("top")
    return 1 - (1 - level) / answer["looks"] if is_choice and answer else level


def _claims(asked: Stopping, last: Look, names: Sequence[str], new: Sequence[str]) -> list[str]:
    if asked.error is not None:
        claims = [_claim_about_ratings(last, new)]
    elif asked.first is not None:
        claims = _claims_about_set(asked, last, names)
    else:
        claims = _claims_about_order(asked, last, names, new)
    return [f"{claim} ({_level(asked, last)})." for claim in claims]


def _claim_about_ratings(last: Look, new: Sequence[str]) -> str:
    """Say to how many Elo ratings are known, or those of newcomers."""
    whose = f"{'Rating' if len(new) == 1 else 'Ratings'}{f' of {some(new)}' if new else ''}"
    verbs = ("is", "has") if len(new) == 1 else ("are", "have")
    if np.isnan(last.half).any():
        return f"{whose} {verbs[1]} no bound yet"
    least = "" if len(new) == 1 else f" on average, the least known to ±{np.max(last.half):.1f}"
    return f"{whose} {verbs[0]} known to ±{np.mean(last.half):.1f} Elo{least}"


def _claims_about_order(asked: Stopping, last: Look, names: Sequence[str], new: Sequence[str]) -> list[str]:
    """Say the order where all of it is settled; else how many pairs are, and between which groups."""
    settled = np.where(last.asked, last.settled, 0)
    ranked = sorted(range(len(names)), key=lambda k: (-settled[k].sum(), -last.theta[k], names[k]))
    by = _better(asked.margin)
    if last.open.any():
        done = int((settled > 0).sum())
        if not done:
            few = f": {last.clusters} items were judged, and fewer than {FEWEST} tell no error"
            return [f"No pair is settled{few if last.clusters < FEWEST else ''}"]
        pairs = f"{done} of {int(last.asked.sum()) // 2} pairs{' with newcomers' if new else ''}"
        above, below = largest_distinguishable_block([np.flatnonzero(settled[k, ranked] > 0).tolist() for k in ranked])
        high, low = (some([names[ranked[place]] for place in places]) for places in (above, below))
        return [f"{pairs} are settled, among them {high} above {low}: of each, the lower is not {by}than the upper"]
    asked_about = np.flatnonzero(last.asked.any(axis=1)).tolist()
    hubs = [k for k in asked_about if last.asked[k].sum() == len(asked_about) - 1]
    if len(hubs) < len(asked_about):
        return [_sides_of(names, settled, ranked, k, asked.margin) for k in hubs]
    ranked = [k for k in ranked if k in asked_about]
    text = f"In this order nobody is {by}than anyone above: {some([names[k] for k in ranked], most=40)}"
    turned = [(a, b) for k, a in enumerate(ranked) for b in ranked[k + 1 :] if settled[a, b] < 0]
    return [text, *(f"But {names[a]} is not {by}than {names[b]}" for a, b in turned)]


def _sides_of(names: Sequence[str], settled: np.ndarray, ranked: Sequence[int], anchor: int, margin: float) -> str:
    above, below = ([names[k] for k in ranked if settled[k, anchor] == side] for side in (1, -1))
    sides = [f"{some(above)} not worse"] * bool(above) + [f"{some(below)} not better"] * bool(below)
    return f"Against {names[anchor]}: {' and '.join(sides)}{f' by more than {margin:g} Elo' if margin else ''}"


def _claims_about_set(asked: Stopping, last: Look, names: Sequence[str]) -> list[str]:
    """Say who the best are; while that is open, who is surely among them, and who is in question."""
    number = cast(int, asked.first)
    ranked = np.argsort(-last.theta, kind="stable")
    in_question: list[bool] = (last.open.sum(axis=1) > 0).tolist()
    best = [names[k] for k in sorted(ranked[:number].tolist()) if not in_question[k]]
    noun = "the best" if number == 1 else f"the best {number}"
    if len(best) == number:
        verb, them = ("is", "it") if number == 1 else ("are", "any of them")
        who = f"{noun.capitalize()} of {len(names)} {verb} {some(best)}"
        return [f"{who}: none of the others is {_better(asked.margin)}than {them}"]
    others, left = some([names[k] for k in np.flatnonzero(in_question).tolist()]), number - len(best)
    if not best:
        return [f"Who {noun} of {len(names)} {'is' if number == 1 else 'are'}, is in question: {others}"]
    places = "the other place" if left == 1 else f"the other {left} places"
    verb = "is" if len(best) == 1 else "are"
    return [f"Surely among {noun} of {len(names)} {verb} {some(best)}", f"In question for {places}: {others}"]


def _end(reason: str, progress: Progress, most: int | None) -> str:
    last = progress.looks[-1]
    number = f"look {last.number}" + (f" of {last.planned}" if last.planned else "")
    spent = f"{last.battles:,} battles on {last.clusters:,} items, {number}"
    if reason == "answered":
        return f"It stopped because that is the answer: {spent}."
    if reason == "items":
        turns, rest = divmod(progress.visits, len(progress.order))
        times = "" if turns == 1 else f", each visited {turns} times" if not rest else ""
        return f"It ended because all {len(progress.order):,} items are used up{times}: {spent}."
    why = f"max_battles={most:,} are played" if reason == "max_battles" else "it was interrupted"
    return f"It ended because {why}: {spent}."


def _advice(asked: Stopping, last: Look, names: Sequence[str]) -> str:
    """Say how many more items would settle the nearest of what is open, or why nobody knows; more calls would not."""
    if _is_level(last):
        return LEVEL_ON_EVERY_ITEM
    if asked.error is not None:
        width = float(np.mean(last.half))
        if np.isnan(width):
            return "Some ratings have no bound: a model won or lost everything, or was read on too few items."
        lacking = ceil(last.clusters * ((width / asked.error) ** 2 - 1))
        return f"About {lacking:,} more items would do." if lacking > 0 else ""
    z = np.where(last.open, last.z(asked.margin), np.nan)
    if not np.isfinite(z).any() or np.isnan(last.critical):
        return ""
    widest = divmod(int(np.nanargmax(np.where(np.isfinite(z), z, np.nan))), len(z))
    a, b = sorted(widest, key=lambda k: -last.theta[k])
    pair, gap = f"{names[a]} and {names[b]}", abs(last.theta[a] - last.theta[b]) * POINTS
    items = further_items(last.clusters, last.critical, float(z[a, b]))
    if items is None:
        return f"How many items would settle {pair} is not known: their gap is smaller than its error."
    return (
        f"If the {gap:.0f} Elo between {pair} are real (every call counted by itself), {max(items, 1):,} more items "
        "settle them in eight cases of ten."
    )


def _is_level(last: Look) -> bool:
    """Tell whether all models are level on every item, so that nothing tells an error."""
    return last.clusters >= FEWEST and bool((np.abs(last.theta) <= SAME).all() and not np.diag(last.covariance).any())


def _better(margin: float) -> str:
    return f"better by more than {margin:g} Elo " if margin else "better "


def _level(asked: Stopping, last: Look) -> str:
    looks = f" at all {last.planned} looks" if last.planned and last.planned > 1 else ""
    return f"{100 * asked.level:g}%{looks}"
