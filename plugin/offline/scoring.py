"""How well a response does what was asked: the share of the demands that it meets."""

from dataclasses import dataclass

from podium.offline.constraint import Constraint

SHOWN = 3
"""Demands that are named."""


@dataclass(frozen=True, slots=True)
class Score:
    """What a response did.

    Attributes:
        met: names of the demands that it meets.
        missed: names of those that it does not.
    """

    met: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def share(self) -> float:
        """Demands met, of all, in [0, 1]."""
        return len(self.met) / (len(self.met) + len(self.missed))

    def sentence(self, who: str) -> str:
        """Say it in one sentence on one line, without signs that could be taken for a verdict."""
        total = len(self.met) + len(self.missed)
        names = [_harmless(name) for name in self.missed[:SHOWN]]
        more = [f"{len(self.missed) - SHOWN} more"] if len(self.missed) > SHOWN else []
        missed = f"; it misses: {', '.join([*names, *more])}" if names else ""
        return f"{who} meets {len(self.met)} of {total} demands that rules can check{missed}."


def scored(response: str, demands: tuple[Constraint, ...]) -> Score:
    """Check a response; what trips a rule does not meet its demand."""
    met = {one.name: _holds(one, response) for one in demands}
    return Score(tuple(name for name in met if met[name]), tuple(name for name in met if not met[name]))


def _holds(one: Constraint, response: str) -> bool:
    try:
        return one.holds(response)
    except (ValueError, OverflowError, RecursionError):
        return False


def _harmless(name: str) -> str:
    kept = "".join(sign if sign.isalnum() or sign in " '.,%+-/" else " " for sign in name)
    return " ".join(kept.split())[:60]
