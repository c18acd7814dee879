"""Read rankings from the JSON files that `podium rank --format json` or a host wrote."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from podium.format_version import RANK_AGAIN
from podium.nouns.battles import Counts
from podium.nouns.json_file import JsonRecord, read_json_record
from podium.nouns.ranking import Entry, Fit, Ranking, Standings

REMEDY = "give what `podium rank --format json -o ranking.json` writes"
KNOWN = {field.name for field in fields(Entry)} - {"extra"}


def _gather_extra(row: Any) -> Any:
    """Move the fields that an entry does not have into its `extra`."""
    if not isinstance(row, dict):
        return row
    extra = {name: value for name, value in row.items() if name not in KNOWN}
    return {name: row[name] for name in row.keys() & KNOWN} | {"extra": extra}


class StandingsContent(JsonRecord):
    """One element of the list `rankings`."""

    ranker: str
    slice: str | None
    scale: str
    level: float
    interval: str | None
    models: tuple[Annotated[Entry, BeforeValidator(_gather_extra)], ...]
    fit: Fit
    counts: Counts
    diagnostics: dict[str, Any] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()


class RankingContent(JsonRecord):
    """The fields of a ranking file."""

    rankings: tuple[StandingsContent, ...]
    provenance: dict[str, Any] = Field(default_factory=dict)
    failures: tuple[str, ...] = ()


def read_ranking(path: Path, remedy: str = REMEDY) -> Ranking | None:
    """Read the ranking in a JSON file; None if the file is something else.

    Raises:
        DataError: it is a damaged ranking, or one of another format version.
    """
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        document = json.loads(path.read_bytes())
    except ValueError:
        return None
    if not isinstance(document, dict) or not isinstance(document.get("rankings"), list):
        return None
    content = read_json_record(path, RankingContent, "a ranking", remedy, RANK_AGAIN)
    parts: list[dict[str, Any]] = [dict(part) for part in content.rankings]
    standings = tuple(Standings(entries=part.pop("models"), **part) for part in parts)
    return Ranking(standings, content.provenance, content.failures)
