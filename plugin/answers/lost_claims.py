"""Which models nothing can be claimed about, because lost battles may explain how they compare with
the others."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from podium.errors import PodiumError
from podium.nouns.battles import Battles
from podium.nouns.ranking import Entry, Standings
from podium.rankers.coded import code_battles
from podium.rankers.identification import fit_battles
from podium.rankers.pairs import pair_sums, win_rates
from podium.rankers.scale import POINTS

Scores = Mapping[str, float]
Pair = tuple[str, str]


def models_in_doubt(
    standings: Standings, battles: Battles, with_losses: Sequence[str]
) -> tuple[str, ...]:
    """Return those of the models `with_losses` whose comparison with any other model the unparsed
    battles may explain.

    A model that is clearly ahead of another stays so if it still is when all its unparsed battles
    count as lost, and one that is clearly behind if they count as won. The error of the difference
    is at most the sum of both errors.
    """
    if not with_losses:
        return ()
    if standings.separation is None or (scores_of := _scorer(standings)) is None:
        return tuple(with_losses)
    names, critical = standings.separation.names, standings.separation.critical
    # A model of which no battle could be read has no place, and no score that could change.
    placed = [model for model in with_losses if model in names]
    try:
        changes = _largest_changes(battles, placed, scores_of)
    except PodiumError:
        return tuple(with_losses)
    entries = {entry.model: entry for entry in standings.entries}
    certain = []
    for model in placed:
        others = [name for name in names if name != model]
        holds = [
            _exceeds(entries[model], entries[name], critical, _change(changes, (model, name)))
            for name in others
        ]
        if all(holds):
            certain.append(model)
    return tuple(model for model in with_losses if model not in certain)


def _exceeds(first: Entry, second: Entry, critical: float, change: float) -> bool:
    """Return whether two models differ by more than their errors and a change together; False
    without an error."""
    if first.score is None or second.score is None or first.se is None or second.se is None:
        return False
    return abs(first.score - second.score) > critical * (first.se + second.se) + change


def _change(changes: Mapping[Pair, float], pair: Pair) -> float:
    """Return by how much the lost battles of both models of a pair together may change their
    difference."""
    return changes.get(pair, 0.0) + changes.get(pair[::-1], 0.0)


def _scorer(standings: Standings) -> Callable[[Battles, np.ndarray], Scores] | None:
    """Return the function that computes scores on the scale of standings from credits; None for
    scales without one."""
    if standings.scale == "elo":
        return _elo_of
    return _win_rates_of if standings.ranker == "win-rate" else None


def _elo_of(battles: Battles, credit: np.ndarray) -> Scores:
    """Return Bradley-Terry ratings in Elo points, by model."""
    coded = code_battles(battles, credit=credit)
    return dict(zip(coded.models, (POINTS * fit_battles(coded).theta).tolist(), strict=True))


def _win_rates_of(battles: Battles, credit: np.ndarray) -> Scores:
    """Return win rates, by model."""
    coded = code_battles(battles, credit=credit)
    return dict(zip(coded.models, win_rates(pair_sums(coded)).tolist(), strict=True))


def _largest_changes(
    battles: Battles, models: Sequence[str], scores_of: Callable[[Battles, np.ndarray], Scores]
) -> dict[Pair, float]:
    """Return by how much the difference of each pair of models changes at most if all unparsed
    battles of the first count as lost, or as won."""
    credit = battles.table["credit"].to_numpy()
    measured = scores_of(battles, credit)
    changes: dict[Pair, float] = {}
    for model in models:
        for won in (0.0, 1.0):
            filled = scores_of(battles, _with_losses_as(battles, credit, model, won))
            moved = {name: filled[name] - measured[name] for name in measured}
            for name in measured:
                change = abs(moved[model] - moved[name])
                changes[model, name] = max(changes.get((model, name), 0.0), change)
    return changes


def _with_losses_as(battles: Battles, credit: np.ndarray, model: str, won: float) -> np.ndarray:
    """Return the credits with the unparsed battles of a model counted as won (1) or lost (0), shape
    (battles,)."""
    code = battles.models.index(model)
    first, second = (codes == code for codes in battles.model_codes)
    lost = battles.is_unparsed
    filled = np.where(lost & first, won, credit)
    return np.where(lost & second, 1 - won, filled)
