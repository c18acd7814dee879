"""podium: battles between models in, a ranking with honest error bars out.

>>> import podium
>>> world = podium.simulate(models=4, items=50, seed=1)
>>> ranking = podium.rank(world.battles(), "bradley-terry")
>>> ranking.to_frame().shape[0]
4
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.comparison.compare import Comparison, compare
    from podium.diagnosis.card import diagnose
    from podium.errors import DataError, NotConvergedError, NotIdentifiedError, PodiumError, UsageError
    from podium.hookspecs import Format, Ranker, Scorer, Tournament, hookimpl
    from podium.nouns.battles import Battles
    from podium.nouns.calibration import Calibration
    from podium.nouns.calibration_file import read_calibration
    from podium.nouns.ranking import Ranking, Standings
    from podium.planning.planner import make_plan
    from podium.planning.simulation import Judge, World, simulate
    from podium.reading.judgments import read_battles
    from podium.scorers.prompt import Template
    from podium.scorers.realization import Realization
    from podium.verbs.calibration_run import calibrate
    from podium.verbs.rank_battles import rank
    from podium.verbs.replays import Replay, replay

__version__ = "0.1.0"

_PUBLIC = {
    "nouns.battles": "Battles",
    "nouns.calibration": "Calibration",
    "nouns.calibration_file": "read_calibration",
    "verbs.calibration_run": "calibrate",
    "comparison.compare": "Comparison compare",
    "diagnosis.card": "diagnose",
    "errors": "DataError NotConvergedError NotIdentifiedError PodiumError UsageError",
    "hookspecs": "Format Ranker Scorer Tournament hookimpl",
    "planning.planner": "make_plan",
    "verbs.rank_battles": "rank",
    "nouns.ranking": "Ranking Standings",
    "reading.judgments": "read_battles",
    "verbs.replays": "Replay replay",
    "scorers.prompt": "Template",
    "scorers.realization": "Realization",
    "planning.simulation": "Judge World simulate",
}
"""Modules, and the names that each gives to users."""
_HOMES = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = [
    "Battles",
    "Calibration",
    "Comparison",
    "DataError",
    "Format",
    "Judge",
    "NotConvergedError",
    "NotIdentifiedError",
    "PodiumError",
    "Ranker",
    "Ranking",
    "Realization",
    "Replay",
    "Scorer",
    "Standings",
    "Template",
    "Tournament",
    "UsageError",
    "World",
    "calibrate",
    "compare",
    "diagnose",
    "hookimpl",
    "make_plan",
    "rank",
    "read_battles",
    "read_calibration",
    "replay",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'podium' has no attribute {name!r}")
    return getattr(import_module(f"podium.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
