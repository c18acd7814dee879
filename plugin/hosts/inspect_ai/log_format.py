"""What podium keeps in a log, and under which names."""

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.scorer import Score

NAMESPACE = "podium"
"""Key under which podium keeps its own in scores and results."""
ROUND = "podium round"
"""Sample metadata under which a round's schedule is recorded."""
LEFT_OUT = "left_out"
"""Metadata that counts the battles of a round that could not be played, because a response is absent."""
PLAYED_FOR = f"{NAMESPACE}_host"
"""Metadata of a tournament that another host's command plays: that command ranks it, by its own options."""
OPTIONS = "options"
"""Key beside the kept replies under which stands how they were asked for."""


BATTLES = "battles"
"""Key under which a pack names its pairs, keeps the replies about them, and their verdicts."""
PRESENTATIONS = "presentations"
SAME, COLUMNS = "same", "columns"


def presentations(score: Score) -> list[dict[str, Any]]:
    """Return the verdicts that podium's scorer keeps in a score, a row per presentation; none for other scores."""
    kept = (score.metadata or {}).get(NAMESPACE)
    if not isinstance(kept, Mapping):
        return []
    if BATTLES not in kept:
        return [{**_common(kept), **one} for one in kept[PRESENTATIONS]]
    battles = [_common(one) for one in as_rows(kept[BATTLES])]
    return [{**battles[one.pop("battle")], **one} for one in as_rows(kept[PRESENTATIONS])]


def _common(battle: Mapping[str, Any]) -> dict[str, Any]:
    """Return what all presentations of a battle share."""
    return {name: value for name, value in battle.items() if name not in (PRESENTATIONS, "credit")}


def packed(battles: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the verdicts of a pack column by column, as its score keeps them: a fifth of the size of rows.

    Args:
        battles: each with its presentations.
    """
    shown = [{"battle": number, **row} for number, one in enumerate(battles) for row in one[PRESENTATIONS]]
    own = [{name: value for name, value in one.items() if name != PRESENTATIONS} for one in battles]
    return {BATTLES: as_columns(own), PRESENTATIONS: as_columns(shown)}


def as_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return rows as columns; what is the same in all of them is said once.

    >>> as_columns([{"a": 1, "b": 2}, {"a": 1, "b": 3}])
    {'rows': 2, 'same': {'a': 1}, 'columns': {'b': [2, 3]}}
    """
    columns = {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}
    same = {name: values[0] for name, values in columns.items() if all(one == values[0] for one in values)}
    return {"rows": len(rows), SAME: same, COLUMNS: {name: columns[name] for name in columns if name not in same}}


def as_rows(kept: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of `as_columns`; what a row lacked is None.

    >>> as_rows({"rows": 2, "same": {"a": 1}, "columns": {"b": [2, 3]}})
    [{'a': 1, 'b': 2}, {'a': 1, 'b': 3}]
    """
    return [
        {**kept[SAME], **{name: values[number] for name, values in kept[COLUMNS].items()}}
        for number in range(kept["rows"])
    ]
