"""Scores by plug-ins: infinity and NaN are replaced by None, and a warning names the plug-in."""

from dataclasses import replace

from podium.errors import PluginError
from podium.hookspecs import Ranker
from podium.notices.notice import Notice
from podium.plugins import catalogue
from podium.rankers.errors.intervals import finite_or_none
from podium.rankers.ranking import Entry, Standings


def require_scores(standings: Standings, ranker: Ranker) -> Standings:
    """Return standings whose figures are finite or None.

    If a plug-in gave no finite score to a model with battles, a warning names the plug-in.

    Raises:
        PluginError: no model has a finite score.
    """
    entries = tuple(map(_finite_entry, standings.entries))
    without_score = [entry for entry in entries if entry.score is None]
    if entries and len(without_score) == len(entries):
        raise PluginError(
            f"{catalogue.culprit_of(ranker)} gave no number for any of {len(entries)} models"
        )
    unbounded = [entry.model for entry in without_score if entry.battles]
    if not unbounded or catalogue.is_own(ranker):
        return replace(standings, entries=entries)
    culprit = catalogue.culprit_of(ranker)
    warning = Notice("plugin-without-score", {"plugin": culprit, "models": unbounded})
    return replace(standings, entries=entries, warnings=(*standings.warnings, warning))


def _finite_entry(entry: Entry) -> Entry:
    """Return an entry in which infinity and NaN are replaced by None."""
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
