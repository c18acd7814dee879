"""Whether a host's run was ranked only in part, which `--ranker-strict` counts as a failure."""

from collections.abc import Sequence

from podium.data.battles import Battles
from podium.hosts.tournament_failure import TournamentFailure
from podium.notices.notice import Notice
from podium.rankers.ranking import Ranking


def is_partial(
    ranking: Ranking,
    battles: Battles,
    *,
    failure: TournamentFailure | None = None,
    lost: Sequence[Notice] = (),
) -> bool:
    """Return whether a ranking lacks something that the user asked for.

    True if a ranker failed, if a part of the sources or a named log could not be used, or if
    battles of the tournament failed.

    Args:
        ranking: the ranking.
        battles: the battles that were ranked.
        failure: why samples of the run's tournament failed; None if none did.
        lost: notes on named logs of other runs that could not be used.
    """
    return bool(ranking.failures or battles.lost or failure or lost)
