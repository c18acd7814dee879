"""Read given ratings: typed, from a mapping, or from a file."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from podium.errors import DataError, UsageError, named_in_errors
from podium.nouns.ladder import USUAL_SE, Ladder

ERROR_SIGN = re.compile(r"\+/?-|±")
HOW = "write NAME:1500+-25 (Elo and its standard error) with commas between, or a .csv or .json file"
TypedRating: TypeAlias = tuple[Any, ...]
"""A name, its rating and, if it has one, the standard error."""
Ratings: TypeAlias = str | Sequence[str] | Mapping[str, Any] | Ladder
"""`NAME:1612+-25` with commas or as a list; a file; a mapping of names to Elo, or to Elo and its error; or a ladder."""


def read_ladder(ratings: Ratings) -> Ladder:
    """Read ratings from a mapping, from text (`NAME:1612+-25`), or from a CSV file or a ranking's JSON file."""
    if isinstance(ratings, Ladder):
        return ratings
    if isinstance(ratings, Mapping):
        return _build_ladder(
            (name, *(each if isinstance(each, tuple | list) else (each,))) for name, each in ratings.items()
        )
    # Inspect turns text with commas into a list.
    parts = [part.strip() for part in (ratings if isinstance(ratings, str) else ",".join(map(str, ratings))).split(",")]
    if len(parts) > 1 or not parts[0].endswith((".csv", ".json")):
        typed = [part.rpartition(":") for part in parts]
        return _build_ladder((name, *ERROR_SIGN.split(value, maxsplit=1)) for name, _, value in typed)
    path = Path(parts[0])
    if not path.is_file():
        raise UsageError(f"ratings={path}: there is no such file")
    with named_in_errors(path):
        return _build_ladder((_rows_of_csv if path.suffix == ".csv" else _rows_of_ranking)(path), str(path))


def _rows_of_csv(path: Path) -> Iterator[TypedRating]:
    """Yield the rows of a table with columns model, rating and, if it has one, se."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        rows = csv.DictReader(stream)
        if not {"model", "rating"} <= {*(rows.fieldnames or ())}:
            raise DataError("no columns model and rating", row="header", remedy="name them model, rating and se")
        for row in rows:
            yield row["model"], row["rating"], row.get("se") or None


def _rows_of_ranking(path: Path) -> Iterator[TypedRating]:
    """Yield the bounded Elo ratings in a ranking's JSON file."""
    from podium.nouns.json_files import read_ranking  # imported here because pydantic is slow to import

    ranking = read_ranking(path)
    tables = [each for each in ranking.standings if each.scale == "elo"] if ranking else []
    if len(tables) != 1:
        remedy = f"write one with `podium rank SOURCE -o {path.name}`"
        raise DataError(f"{len(tables)} tables of Elo ratings, where a ladder is one", remedy=remedy)
    for entry in tables[0].entries:
        if entry.score is not None and not entry.separated:
            yield entry.model, entry.score, entry.se


def _build_ladder(rows: Iterable[TypedRating], source: str = "") -> Ladder:
    """Build a ladder from names, ratings and errors; UsageError that names the first impossible value."""
    elo: dict[str, float] = {}
    errors: dict[str, float] = {}
    for name, *typed in rows:
        given = [value for value in typed if value is not None]
        try:
            numbers = [float(value) for value in given]
        except (TypeError, ValueError):
            numbers = []
        is_rating = len(numbers) in (1, 2) and np.isfinite(numbers).all() and min(numbers[1:], default=0) >= 0
        if not name or name in elo or not is_rating:
            twice = " twice" if name in elo else ""
            raise UsageError(f"ratings={source}: {name}:{'+-'.join(map(str, given))}{twice}: {HOW}")
        elo[name] = numbers[0]
        errors |= {name: numbers[1]} if len(numbers) > 1 else {}
    if not elo:
        raise UsageError(f"ratings={source}: no rating; {HOW}")
    assumed = tuple(name for name in elo if name not in errors)
    se = tuple(errors.get(name, USUAL_SE) for name in elo)
    return Ladder(tuple(elo), tuple(elo.values()), se, assumed=assumed, source=source)
