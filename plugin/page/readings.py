"""Read rankings from JSON files that `podium rank --format json` or a host wrote."""

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from podium.errors import DataError
from podium.format_version import require_format
from podium.nouns.battles import Counts
from podium.nouns.ranking import Entry, Fit, Ranking, Standings

REMEDY = "give what `podium rank --format json -o ranking.json` writes"


def read_ranking_file(path: Path) -> Ranking | None:
    """Read the ranking in a JSON file; None if the file is something else.

    Raises:
        DataError: it is a damaged ranking, or one of another format version.
    """
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError):
        return None
    if not isinstance(document, Mapping) or not isinstance(document.get("rankings"), list):
        return None
    require_format(document.get("podium"), "a ranking", path)
    try:
        standings = tuple(_standings(part) for part in document["rankings"])
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"a ranking that lacks {error}", remedy=REMEDY, source=str(path)) from None
    return Ranking(standings, document.get("provenance", {}), tuple(document.get("failures", ())))


def _standings(part: Mapping[str, Any]) -> Standings:
    """Build standings from their JSON object."""
    names = [field.name for field in fields(Entry) if field.name != "extra"]
    entries = []
    for row in part["models"]:
        extra = {name: value for name, value in row.items() if name not in names}
        entries.append(Entry(**{name: row[name] for name in names if name in row}, extra=extra))
    counted = {field.name: part["counts"][field.name] for field in fields(Counts)}
    fit: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in part["fit"].items()}
    known = ("ranker", "scale", "level", "interval", "slice")
    return Standings(
        **{name: part[name] for name in known},
        entries=tuple(entries),
        counts=Counts(**counted),
        fit=Fit(**{field.name: fit[field.name] for field in fields(Fit) if field.name in fit}),
        diagnostics=part.get("diagnostics", {}),
        warnings=tuple(part.get("warnings", ())),
        answer=tuple(part.get("answer", ())),
    )
