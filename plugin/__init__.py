"""podium: rank models by battles, with confidence intervals.

The names in `__all__` are public, and so are those of `podium.inspect`. Plug-ins may also use the
names in `__all__` of `podium.hookspecs`, `podium.rankers.from_pairs` and `podium.scorers.levels`.
Everything else may change.

>>> import podium
>>> world = podium.simulate(models=4, items=50, seed=1)
>>> ranking = podium.rank(world.battles(), "bradley-terry")
>>> ranking.to_frame().shape[0]
4
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.comparison.compare_models import compare as compare
    from podium.comparison.comparison import Comparison as Comparison
    from podium.data.battles import Battles as Battles
    from podium.data.pairings import NextRound as NextRound
    from podium.data.pairings import pairing as pairing
    from podium.data.reading.judgments import read_battles as read_battles
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
    from podium.notices.notice import Notice as Notice
    from podium.planning.planner import make_plan as make_plan
    from podium.planning.replays import Replay as Replay
    from podium.planning.replays import replay as replay
    from podium.planning.simulation import Judge as Judge
    from podium.planning.simulation import World as World
    from podium.planning.simulation import simulate as simulate
    from podium.rankers.calibration.calibration import Calibration as Calibration
    from podium.rankers.calibration.calibration_run import calibrate as calibrate
    from podium.rankers.json_files import read_calibration as read_calibration
    from podium.rankers.ranking import Ranking as Ranking
    from podium.rankers.ranking import Standings as Standings
    from podium.ranking.audit_battles import audit as audit
    from podium.ranking.rank_battles import rank as rank
    from podium.score_scale import Scale as Scale
    from podium.scorers.prompt import Template as Template
    from podium.scorers.realization import Realization as Realization
    from podium.scorers.reply import Reply as Reply
    from podium.scorers.reply import Verdict as Verdict

__version__ = "0.2.0"

_PUBLIC = {
    "data.battles": "Battles",
    "data.pairings": "NextRound pairing",
    "rankers.calibration.calibration": "Calibration",
    "rankers.json_files": "read_calibration",
    "rankers.calibration.calibration_run": "calibrate",
    "comparison.comparison": "Comparison",
    "comparison.compare_models": "compare",
    "diagnosis.card": "diagnose",
    "errors": "DataError NotConvergedError NotIdentifiedError PodiumError UsageError",
    "hookspecs": "Format Ranker Scorer Tournament hookimpl",
    "notices.notice": "Notice",
    "planning.planner": "make_plan",
    "ranking.audit_battles": "audit",
    "ranking.rank_battles": "rank",
    "rankers.ranking": "Ranking Standings",
    "data.reading.judgments": "read_battles",
    "planning.replays": "Replay replay",
    "score_scale": "Scale",
    "scorers.prompt": "Template",
    "scorers.realization": "Realization",
    "scorers.reply": "Reply Verdict",
    "planning.simulation": "Judge World simulate",
}
"""Public names, separated by spaces, by the module that defines them."""
_HOMES = {name: module for module, names in _PUBLIC.items() for name in names.split()}
"""The module that defines each public name."""

_SHOWN = frozenset(
    {
        "Battles",
        "Calibration",
        "Ranking",
        "audit",
        "calibrate",
        "diagnose",
        "rank",
        "read_battles",
        "read_calibration",
    }
)
"""Public names whose results have a view (`podium.documents.View`): a text, HTML or chart form."""

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'podium' has no attribute {name!r}")
    module = import_module(f"podium.{_HOMES[name]}")
    if name in _SHOWN:
        # The modules that define these names do not import their views, so the views are
        # registered here.
        import_module("podium.show.views")
    return getattr(module, name)


def __dir__() -> list[str]:
    """Return the public names and `__version__`, sorted."""
    return sorted([*__all__, "__version__"])
