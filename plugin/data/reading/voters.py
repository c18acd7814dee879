"""Count the voters of a population of humans, whose verdicts are ranked together."""

from podium.data.battles import VOTERS
from podium.data.counting.duck import Duck
from podium.data.counting.relations import sql_literal
from podium.notices.notice import Notice


def note_voters(engine: Duck, view: str) -> list[Notice]:
    """Return a note on the number of voters whose verdicts the judge `VOTERS` stands for.

    There is none if no row has this judge and a voter.

    Args:
        engine: the database.
        view: name of the view with the judgments.
    """
    if not {"judge", "voter"} <= {*engine.columns(view)}:
        return []
    counts = "count(distinct voter) as voters, count(*) as votes"
    ((voters, votes),) = engine.rows(
        f"select {counts} from {view} where judge = {sql_literal(VOTERS)} and voter is not null"
    )
    return [Notice("voters-pooled", {"voters": voters, "votes": votes})] if voters else []
