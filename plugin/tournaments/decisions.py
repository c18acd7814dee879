"""What a tournament with a stopping rule decided, in sentences.

They say what is decided, why the tournament ended, and what is still open.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import ceil
from typing import Any, cast

import numpy as np

from podium.data.pairings import Field, Round
from podium.rankers.errors.rank_sets import FEWEST_ITEMS, further_items
from podium.rankers.fit.graph import largest_distinguishable_block
from podium.rankers.fit.scale import POINTS
from podium.rankers.ladder_placement import RATED_ONLY
from podium.tournaments.stopping import (
    STRENGTH_ROUNDING,
    Look,
    Progress,
    Stopping,
    connected_groups,
    fewest_clusters,
)
from podium.wording import plural, quantity, some, word_for

LEVEL_ON_EVERY_ITEM = (
    "All models earn the same on every item, so no error is known. The judge may only give ties, "
    "or always prefer the response shown first: read some of its replies."
)


@dataclass(frozen=True, slots=True)
class TournamentAnswer:
    """The answer of a tournament to its question.

    Attributes:
        until: the question, as the option of the tournament.
        margin: Elo by which a decision may be wrong.
        level: confidence level of all decisions together.
        look: number of the last interim analysis, from 1.
        looks: number of planned interim analyses; None if each was predicted.
        reason: why the tournament ended: `answered`, `items` (used up), `max_battles`, or
            `interrupted`.
        answered: whether the question is answered, and the decisions are claimed.
        decisions: sentences on what is decided or why nothing is claimed, why the tournament
            ended, and what is open.
        advice: the sentence among `decisions` on how many more items would decide more; empty if
            nothing is open, or if nothing can be said.
        open: groups of models that are connected by undecided pairs.
        battles: number of battles.
        calls: number of judge calls. It is set to one per battle; the caller replaces it if there
            were more.
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
        """Return the attributes by name as plain values, for logs and diagnostics of a ranking."""
        return asdict(self) | {
            "decisions": list(self.decisions),
            "open": [list(group) for group in self.open],
        }


def build_tournament_answer(
    rule: Any, field: Field, played: Sequence[Round], *, doubt: str = ""
) -> TournamentAnswer | None:
    """Build the answer of a tournament from its rounds.

    The tournament is taken to have ended after these rounds.

    Args:
        rule: the tournament, possibly with a limit of battles.
        field: the models and items.
        played: the rounds so far.
        doubt: a sentence on why no decision is claimed, which takes the place of all decisions;
            empty if they are claimed.

    Returns:
        The answer; None if the tournament has no stopping rule, or had no interim analysis.
    """
    tournament = _innermost_rule(rule)
    if not isinstance(tournament, Stopping) or not tournament.until:
        return None
    progress = tournament.progress_of(field, played)
    if not progress.looks:
        return None
    last = progress.looks[-1]
    max_battles = getattr(rule, "max_battles", None)
    names = sorted(field.models)
    reason = _end_reason(tournament, field, played, progress, max_battles)
    is_open = reason != "answered" and not doubt
    advice = _advice_sentence(tournament, last, names) if is_open else ""
    open_groups = _open_groups(tournament, last, names)
    decisions = _decision_sentences(tournament, last, names, tournament.newcomers(field))
    sentences = [doubt] if doubt else decisions
    sentences.append(_end_sentence(reason, progress, max_battles, is_claimed=not doubt))
    if open_groups and is_open:
        undecided = some([some(group) for group in open_groups], "; ")
        sentences.append(f"Undecided: {undecided}.")
    sentences += [advice, *_limit_sentences(tournament, field, progress)]
    about = "played" if _depends_on_transitivity(tournament, field, progress) else "field"
    return TournamentAnswer(
        until=tournament.until,
        margin=tournament.margin,
        level=tournament.level,
        look=last.number,
        looks=last.planned,
        answered=reason == "answered" and not doubt,
        reason=reason,
        decisions=tuple(filter(None, sentences)),  # the advice may be empty
        advice=advice,
        open=open_groups,
        battles=last.battles,
        calls=last.battles,
        about=about,
    )


def _innermost_rule(rule: Any) -> Any:
    """Return a tournament without its limits of battles."""
    while hasattr(rule, "rule"):
        rule = rule.rule
    return rule


def _open_groups(
    tournament: Stopping, last: Look, names: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """Return the groups of models that are connected by open pairs; none for `error:X`.

    Args:
        tournament: the tournament.
        last: the last interim analysis.
        names: names of the models, sorted.
    """
    if tournament.error is not None:
        return ()
    open_groups = []
    for group in connected_groups(last.open):
        open_groups.append(tuple(names[k] for k in group))
    return tuple(open_groups)


def _end_reason(
    tournament: Any,
    field: Field,
    played: Sequence[Round],
    progress: Progress,
    max_battles: int | None,
) -> str:
    """Return why the tournament ended: `answered`, `items`, `max_battles` or `interrupted`.

    It is `max_battles` if the tournament would have played more battles without this limit, and
    `interrupted` if it would have played on and there is no such limit.

    Args:
        tournament: the tournament without its limit.
        field: the models and items.
        played: the rounds.
        progress: the progress after these rounds.
        max_battles: the limit of battles; None if there is none.
    """
    reason = progress.reason or "interrupted"
    if max_battles is None or reason == "answered":
        return reason
    last_look = progress.looks[-1]
    if last_look.battles < max_battles:
        return reason
    planned_last_round = tournament.next(field, played[:-1]).pairings
    was_last_round_cut = len(planned_last_round) > len(played[-1].outcomes)
    if was_last_round_cut or tournament.next(field, played).pairings:
        return "max_battles"
    return reason


def _limit_sentences(tournament: Stopping, field: Field, progress: Progress) -> Iterator[str]:
    """Yield sentences on models without a decision, and on what the decisions are about.

    The first names models with responses to too few items or groups of items. The second says that
    a round robin may contradict the decisions. Each is yielded only if it applies.
    """
    has_enough = tournament.has_enough_items(field, progress.order)
    if not has_enough.all():
        names = sorted(field.models)
        few = [names[k] for k in np.flatnonzero(~has_enough).tolist()]
        least = quantity(fewest_clusters(progress.looks[-1].unit), progress.looks[-1].unit)
        yield f"No decision about {some(few)}: fewer than {least} have responses."
    if _depends_on_transitivity(tournament, field, progress):
        pairs = "the pairs with the anchor"
        if not hasattr(tournament, "anchor"):
            pairs = "the pairs that were played"
        yield (
            f"Decisions are about {pairs}: a round robin may contradict them if the judge is not "
            "transitive. `podium/ring` with opponents=field, its default, asks about all pairs."
        )


def _depends_on_transitivity(tournament: Any, field: Field, progress: Progress) -> bool:
    """Return whether a round robin may contradict the decisions if the judge is not transitive.

    With an anchor it may for `topK`. In a ring with `opponents=open` it may if groups played
    separately, unless the question is about newcomers or is `error:X`.
    """
    if hasattr(tournament, "anchor"):
        return tournament.top_count is not None
    plays_open_pairs_only = getattr(tournament, "opponents", None) == "open"
    if not plays_open_pairs_only:
        return False
    if tournament.error is not None or tournament.newcomers(field):
        return False
    # Groups play separately after a look that divides them, and there are no battles after the
    # last one.
    earlier_looks = progress.looks[:-1]
    return any(look.is_divided for look in earlier_looks)


def _decision_sentences(
    tournament: Stopping, last: Look, names: Sequence[str], new: Sequence[str]
) -> list[str]:
    """Return sentences, with full stops, on what the last interim analysis decided, with the level.

    If the ladder has another scale than the battles, the only sentence says so, without the level.

    Args:
        tournament: the tournament.
        last: the last interim analysis.
        names: names of the models.
        new: names of newcomers to an existing ranking; empty if there are none.
    """
    if last.check is not None and last.check.is_other_scale:
        check = last.check
        slope = f"(slope {check.slope:.2f}, 97.5%: {check.low:.2f} … {check.high:.2f})"
        subjects = some(new or [RATED_ONLY])
        return [
            f"Nothing is claimed about {subjects}: the given ratings have another scale than the "
            f"battles {slope}."
        ]
    if tournament.error is not None:
        sentences = [_rating_decision(last, new)]
    elif tournament.top_count is not None:
        sentences = _set_decisions(tournament, last, names)
    else:
        sentences = _order_decisions(tournament, last, names, new)
    analyses = ""
    if last.planned and last.planned > 1:
        analyses = f" at all {last.planned} interim analyses"
    return [f"{sentence} ({100 * tournament.level:g}%{analyses})." for sentence in sentences]


def _rating_decision(last: Look, new: Sequence[str]) -> str:
    """Return a sentence, without a full stop, on the half-widths of the intervals of ratings.

    The ratings are those of newcomers (`new`), or of all models if there are no newcomers. If any
    half-width is unknown, the sentence only says that there is no bound yet.
    """
    is_single = len(new) == 1
    noun = "Rating" if is_single else "Ratings"
    whose = f"{noun} of {some(new)}" if new else noun
    if np.isnan(last.half_widths).any():
        verb = word_for(len(new), "has", "have")
        return f"{whose} {verb} no bound yet"
    width = f"±{np.mean(last.half_widths):.1f} Elo"
    if is_single:
        return f"{whose} is known to {width}"
    widest = f"±{np.max(last.half_widths):.1f}"
    return f"{whose} are known to {width} on average, the least certain to {widest}"


def _order_decisions(
    tournament: Stopping, last: Look, names: Sequence[str], new: Sequence[str]
) -> list[str]:
    """Return sentences, without full stops, on the order of the models.

    If all pairs are decided, the first sentence states the order. Decisions can contradict each
    other (A over B, B over C, C over A). The first sentence then says how many pairs are decided
    against the order, and a further sentence names each of them. If only all pairs with anchors are
    decided, a sentence for each anchor compares it with the others. If a pair is open, one sentence
    states how many pairs are decided, and names two groups of models between which all pairs are.

    Args:
        tournament: the tournament.
        last: the last interim analysis.
        names: names of the models.
        new: names of newcomers to an existing ranking; empty if there are none.
    """
    settled = np.where(last.in_question, last.settled, 0)
    wins_minus_losses = settled.sum(axis=1)

    def place_in_order(k: int) -> tuple[int, float, str]:
        """Sort by decided wins minus decided losses, then by log-strength, the largest first."""
        return -wins_minus_losses[k], -last.theta[k], names[k]

    ranked = sorted(range(len(names)), key=place_in_order)
    if last.open.any():
        return [_partial_order(tournament, last, names, settled, ranked, has_newcomers=bool(new))]
    in_question = np.flatnonzero(last.in_question.any(axis=1)).tolist()
    # If only anchors are compared with all others, and the others not with each other, there is no
    # order of all, and the comparisons with each anchor are stated.
    number_compared = last.in_question.sum(axis=1)
    anchors = [k for k in in_question if number_compared[k] == len(in_question) - 1]
    if len(anchors) < len(in_question):
        return [_anchor_decision(names, settled, ranked, k, tournament.margin) for k in anchors]
    ordered = [k for k in ranked if k in in_question]
    better_than = _better_than(tournament.margin)
    listed = some([names[k] for k in ordered], most=40)
    contrary = [(a, b) for a, b in combinations(ordered, 2) if settled[a, b] < 0]
    exceptions = f", except in {quantity(len(contrary), 'pair')}" if contrary else ""
    sentences = [f"In this order no model is {better_than} one before it{exceptions}: {listed}"]
    for a, b in contrary:
        sentences.append(f"Against this order, {names[a]} is not {better_than} {names[b]}")
    return sentences


def _partial_order(
    tournament: Stopping,
    last: Look,
    names: Sequence[str],
    settled: np.ndarray,
    ranked: Sequence[int],
    *,
    has_newcomers: bool,
) -> str:
    """Return a sentence, without a full stop, on how many pairs are decided, and on two groups.

    For each pair of a model of the first group (above) with a model of the second (below), it is
    decided that the model of the second group is not better by more than the margin. If no pair is
    decided, the sentence says only this and, if there are too few items for an error, how many it
    needs.

    Args:
        tournament: the tournament.
        last: the last interim analysis.
        names: names of the models.
        settled: 1 if it is decided that the column is not better than the row by more than the
            margin, -1 if this is decided the other way round, 0 if the pair is open or not in
            question; shape (models, models).
        ranked: positions of the models, the best first.
        has_newcomers: whether the question is about pairs with a newcomer.
    """
    decided = int((settled > 0).sum())
    if not decided and not last.has_enough:
        judged = f"{quantity(last.clusters, last.unit, 'was|were')} judged"
        problem = f"{judged}, and an error needs {fewest_clusters(last.unit)}"
        return f"No pair is decided: {problem}"
    if not decided:
        return "No pair is decided"
    # For each place of the order, the places of the models that it is decided to be above.
    is_above = settled[np.ix_(ranked, ranked)] > 0
    worse_places = [np.flatnonzero(row).tolist() for row in is_above]
    above, below = largest_distinguishable_block(worse_places)
    upper = some([names[ranked[place]] for place in above])
    lower = some([names[ranked[place]] for place in below])
    # The matrix has each pair twice.
    pairs_in_question = int(last.in_question.sum()) // 2
    pairs = f"{decided} of {quantity(pairs_in_question, 'pair')}"
    if has_newcomers:
        pairs += " with newcomers"
    return (
        f"{pairs} {word_for(decided, 'is', 'are')} decided, among them {upper} above {lower}: "
        f"of each, the lower is not {_better_than(tournament.margin)} the upper"
    )


def _anchor_decision(
    names: Sequence[str], settled: np.ndarray, ranked: Sequence[int], anchor: int, margin: float
) -> str:
    """Return a sentence, without a full stop, on how other models compare with an anchor.

    It names the models that are not worse than the anchor, and those that are not better. All pairs
    with the anchor are decided.

    Args:
        names: names of the models.
        settled: 1 if it is decided that the column is not better than the row by more than the
            margin, -1 if this is decided the other way round; shape (models, models).
        ranked: positions of the models, the best first.
        anchor: position of the anchor.
        margin: margin of the decisions in Elo.
    """
    against_anchor = settled[:, anchor]
    above = [names[k] for k in ranked if against_anchor[k] == 1]
    below = [names[k] for k in ranked if against_anchor[k] == -1]
    sides = []
    if above:
        sides.append(f"{some(above)} not worse")
    if below:
        sides.append(f"{some(below)} not better")
    by = f" by more than {margin:g} Elo" if margin else ""
    return f"Against {names[anchor]}: {' and '.join(sides)}{by}"


def _set_decisions(tournament: Stopping, last: Look, names: Sequence[str]) -> list[str]:
    """Return sentences, without full stops, on the set of the best K models.

    A model is undecided if any of its pairs is open. If all K are decided, one sentence names them.
    If none of them is, one sentence names the undecided models. Otherwise there are two sentences,
    on the decided models among the best, and on the undecided models.

    Args:
        tournament: the tournament.
        last: the last interim analysis.
        names: names of the models, sorted.
    """
    number = cast(int, tournament.top_count)
    ranked = np.argsort(-last.theta, kind="stable")
    is_undecided: list[bool] = (last.open.sum(axis=1) > 0).tolist()
    best = sorted(ranked[:number].tolist())
    decided_best = [names[k] for k in best if not is_undecided[k]]
    noun = f"the best of {len(names)}" if number == 1 else f"the best {number} of {len(names)}"
    verb = word_for(number, "is", "are")
    if len(decided_best) == number:
        them = "it" if number == 1 else "any of them"
        who = f"{noun.capitalize()} {verb} {some(decided_best)}"
        return [f"{who}: none of the others is {_better_than(tournament.margin)} {them}"]
    undecided = some([names[k] for k in np.flatnonzero(is_undecided).tolist()])
    if not decided_best:
        return [f"{noun.capitalize()} {verb} undecided among {undecided}"]
    left = number - len(decided_best)
    places = "the other place" if left == 1 else f"the other {left} places"
    are = word_for(len(decided_best), "is", "are")
    return [
        f"Among {noun} {are} {some(decided_best)}",
        f"Undecided for {places}: {undecided}",
    ]


def _end_sentence(
    reason: str, progress: Progress, max_battles: int | None, *, is_claimed: bool
) -> str:
    """Return why the tournament ended and after how many battles, as a sentence.

    Args:
        reason: `answered`, `items` (used up), `max_battles` or `interrupted`.
        progress: the progress at the end.
        max_battles: the limit of battles; None if there is none.
        is_claimed: whether the decisions are claimed.
    """
    last = progress.looks[-1]
    size = (
        f"{quantity(last.battles, 'battle')} on {quantity(last.clusters, last.unit)}, {last.title}"
    )
    if reason == "answered" and not is_claimed:
        return f"Stopped as if the items were independent: {size}."
    if reason == "answered":
        return f"Stopped because the question is answered: {size}."
    if reason == "items":
        turns, rest = divmod(progress.visits, len(progress.order))
        times = f", each visited {turns} times" if turns != 1 and not rest else ""
        number = len(progress.order)
        items = word_for(number, "the only item is", f"all {number:,} items are")
        return f"Ended because {items} used up{times}: {size}."
    why = (
        f"max_battles={max_battles:,} is reached"
        if reason == "max_battles"
        else "it was interrupted"
    )
    return f"Ended because {why}: {size}."


def _advice_sentence(tournament: Stopping, last: Look, names: Sequence[str]) -> str:
    """Return a sentence on how many more items would answer the question.

    It may also say why this number is unknown. If all models earn the same on every item, it says
    this instead. It is empty if nothing can be said.
    """
    if last.is_other_scale:
        return ""
    have_equal_strengths = (np.abs(last.theta) <= STRENGTH_ROUNDING).all()
    have_errors = np.diag(last.covariance).any()
    if have_equal_strengths and not have_errors and last.has_enough:
        return LEVEL_ON_EVERY_ITEM
    if tournament.error is not None:
        return _advice_on_width(last, tournament.error)
    return _advice_on_pair(last, names)


def _advice_on_width(last: Look, error: float) -> str:
    """Return a sentence on how many more items would reach a mean half-width of `error` Elo.

    It says why this is unknown if a rating has no bound, and is empty if the width is reached.
    """
    width = float(np.mean(last.half_widths))
    if np.isnan(width):
        return (
            "Some ratings have no bound: a model won or lost everything, or was read on too few "
            f"{plural(last.unit, 2)}."
        )
    # A width falls with the square root of the number of clusters.
    further = ceil(last.clusters * ((width / error) ** 2 - 1))
    if further <= 0:
        return ""
    return f"About {further:,} more {plural(last.unit, further)} would reach this error."


def _advice_on_pair(last: Look, names: Sequence[str]) -> str:
    """Return a sentence on how many more items would decide one open pair.

    It is the pair that is nearest to a decision. The sentence says so if the number is unknown. It
    is empty if no error of an open pair is known, or if no pair was tested.
    """
    z = np.where(last.open & np.isfinite(last.evidence), last.evidence, np.nan)
    if np.isnan(z).all() or np.isnan(last.critical):
        return ""
    # Position (row, column) of the largest z of an open pair; the stronger model is named first.
    largest_z = divmod(int(np.nanargmax(z)), len(z))
    a, b = sorted(largest_z, key=lambda k: -last.theta[k])
    more = further_items(last.clusters, last.critical, float(z[a, b]))
    if more is None:
        pair = f"{names[a]} from {names[b]}"
        reason = "their gap is within its error"
        if last.clusters < FEWEST_ITEMS:
            reason = f"there are fewer than {quantity(FEWEST_ITEMS, last.unit)}"
        return f"How many {plural(last.unit, 2)} would separate {pair} is unknown: {reason}."
    gap = abs(last.theta[a] - last.theta[b]) * POINTS
    number = quantity(max(more, 1), f"more {last.unit}")
    return (
        f"If the true gap between {names[a]} and {names[b]} is the measured {gap:.0f} Elo (each "
        f"call counted separately), {number} would separate them with 80% power, in a test of all "
        "open pairs."
    )


def _better_than(margin: float) -> str:
    """Return `better than` or, with a margin, `better by more than 10 Elo than`."""
    return f"better by more than {margin:g} Elo than" if margin else "better than"
