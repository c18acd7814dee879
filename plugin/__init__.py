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
    from podium.comparison.compare import Comparison as Comparison
    from podium.comparison.compare import compare as compare
    from podium.diagnosis.card import diagnose as diagnose
    from podium.errors import DataError as DataError
    from podium.errors import NotConvergedError as NotConvergedError
    from podium.errors import NotIdentifiedError as NotIdentifiedError
    from podium.errors import PodiumError as PodiumError
    from podium.errors import UsageError as UsageError
    from podium.hookspecs import Format as Format
    from podium.hookspecs import Ranker as Ranker
    from podium.hookspecs import Scorer as Scorer
    from podium.hookspecs import Tournament as Tournament
    from podium.hookspecs import hookimpl as hookimpl
    from podium.nouns.battles import Battles as Battles
    from podium.nouns.calibration import Calibration as Calibration
    from podium.nouns.json_files import read_calibration as read_calibration
    from podium.nouns.ranking import Ranking as Ranking
    from podium.nouns.ranking import Standings as Standings
    from podium.planning.planner import make_plan as make_plan
    from podium.planning.simulation import Judge as Judge
    from podium.planning.simulation import World as World
    from podium.planning.simulation import simulate as simulate
    from podium.reading.judgments import read_battles as read_battles
    from podium.scorers.prompt import Template as Template
    from podium.scorers.realization import Realization as Realization
    from podium.verbs.calibration_run import calibrate as calibrate
    from podium.verbs.rank_battles import rank as rank
    from podium.verbs.replays import Replay as Replay
    from podium.verbs.replays import replay as replay

__version__ = "0.2.0"

_PUBLIC = {
    "nouns.battles": "Battles",
    "nouns.calibration": "Calibration",
    "nouns.json_files": "read_calibration",
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

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'podium' has no attribute {name!r}")
    return getattr(import_module(f"podium.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
