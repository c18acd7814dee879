"""Scores by plug-ins: infinity and NaN are replaced by None, and a warning names the plug-in."""

from dataclasses import replace

from podium.errors import PluginError
from podium.hookspecs import Ranker
from podium.notices.notice import Notice
from podium.plugins import catalogue
from podium.rankers.errors.intervals import finite_or_none
from podium.rankers.ranking import Entry, Standings
from podium.wording import quantity


def require_scores(standings: Standings, ranker: Ranker) -> Standings:
    """Return standings in which infinity and NaN are replaced by None.

    If the ranker is of a plug-in and gave no finite score to a model with battles, a warning that
    names the plug-in is added.

    Args:
        standings: what the ranker returned. Standings without models are accepted.
        ranker: the ranker, podium's own or of a plug-in.

    Raises:
        PluginError: there are models, and none has a finite score.
    """
    entries = tuple(map(_finite_entry, standings.entries))
    has_score = any(entry.score is not None for entry in entries)
    if entries and not has_score:
        raise PluginError(
            f"{catalogue.culprit_of(ranker)} gave no number for any of "
            f"{quantity(len(entries), 'model')}"
        )
    finite = replace(standings, entries=entries)
    models = [entry.model for entry in entries if entry.score is None and entry.battles]
    if not models or catalogue.is_own(ranker):
        return finite
    fields = {"plugin": catalogue.culprit_of(ranker), "models": models}
    warning = Notice("plugin-without-score", fields)
    return replace(finite, warnings=(*standings.warnings, warning))


def _finite_entry(entry: Entry) -> Entry:
    """Return an entry in which infinity and NaN are replaced by None.

    The numbers are score, both ends of the interval, standard error and win rate.
    """
    return replace(
        entry,
        score=_finite(entry.score),
        low=_finite(entry.low),
        high=_finite(entry.high),
        se=_finite(entry.se),
        win_rate=_finite(entry.win_rate),
    )


def _finite(value: float | None) -> float | None:
    """Return a finite number unchanged, and None for infinity, NaN and None."""
    return None if value is None else finite_or_none(value)
