"""What the probes of an audit are made from that a ranking does not check."""

from collections.abc import Sequence
from dataclasses import dataclass

from podium.check_results import Check
from podium.data.battles import Battles
from podium.rankers.ranking import Standings


@dataclass(frozen=True, slots=True)
class AuditData:
    """One ranking with everything that its audit looks at.

    Attributes:
        battles: the battles of the ranking.
        rated: the same battles as they were rated: of a jury with one verdict each.
        judgments: the same verdicts, one per order, which keep the time of each.
        standings: the ranking, with its answer.
        checks: the adjusted checks of the ranking.
    """

    battles: Battles
    rated: Battles
    judgments: Battles
    standings: Standings
    checks: Sequence[Check]
