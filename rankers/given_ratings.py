"""Read given ratings: typed, from a mapping, or from a file."""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

from podium.data.ladder import USUAL_SE, Ladder
from podium.errors import DataError, UsageError, named_in_errors, reject_stream

ERROR_SIGN = re.compile(r"\+/?-|±")
"""The sign between a rating and its standard error: `+-`, `+/-` or `±`."""
RATINGS_FORM = (
    "write NAME:1500+-25 (Elo and its standard error) with commas between, or a .csv or .json file"
)
Ratings: TypeAlias = str | Sequence[str] | Mapping[str, Any] | Ladder
"""Ratings as a user gives them.

They are text such as `NAME:1612+-25` with commas between, a list of such texts, the path of a
file, a mapping from names to Elo or to (Elo, standard error), or a ladder.
"""


def read_ladder(ratings: Ratings) -> Ladder:
    """Read ratings from a mapping, from text (`NAME:1612+-25`), or from a CSV file or a ranking's
    JSON file.

    A text without commas that ends in `.csv` or `.json` is the path of a file. A ladder is
    returned as it is. Ratings without a standard error get `USUAL_SE`.

    Raises:
        UsageError: there is no such file, no rating, or a rating is impossible or given twice.
        DataError: the file cannot be read, or is no table of Elo ratings.
    """
    if isinstance(ratings, Ladder):
        return ratings
    if isinstance(ratings, Mapping):
        return _build_ladder(_rows_of_mapping(ratings))
    # Inspect turns text with commas into a list, which is joined again.
    text = ratings if isinstance(ratings, str) else ",".join(map(str, ratings))
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 1 or not parts[0].endswith((".csv", ".json")):
        return _build_ladder(map(_row_of_text, parts))
    path = Path(parts[0])
    reject_stream(path)
    if not path.is_file():
        raise UsageError(f"ratings={path}: there is no such file")
    with named_in_errors(path):
        return _ladder_of_csv(path) if path.suffix == ".csv" else _ladder_of_ranking(path)


def _rows_of_mapping(ratings: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield rows of a name, a rating and, if it is given, a standard error.

    A value of the mapping is a rating, or a pair of rating and standard error.
    """
    for name, given in ratings.items():
        numbers = given if isinstance(given, tuple | list) else (given,)
        yield name, *numbers


def _row_of_text(text: str) -> tuple[str, ...]:
    """Split a text such as `NAME:1612+-25` into name, rating and, if given, standard error.

    Without a colon, the whole text is the name, and the rating is empty.
    """
    name, _, value = text.rpartition(":") if ":" in text else (text, "", "")
    return name, *ERROR_SIGN.split(value, maxsplit=1)


def _ladder_of_csv(path: Path) -> Ladder:
    """Read a CSV table with the columns model and rating; a column se is optional.

    Raises:
        DataError: the file is not UTF-8 text, or lacks a column.
        UsageError: a rating is impossible, or there is none.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"not UTF-8 text ({error.reason})", remedy="convert the file to UTF-8"
        ) from None
    rows = csv.DictReader(StringIO(text, newline=""))
    if not {"model", "rating"} <= {*(rows.fieldnames or ())}:
        raise DataError(
            "no columns model and rating", row="header", remedy="name them model, rating and se"
        )
    return _build_ladder(
        ((row["model"], row["rating"], row.get("se") or None) for row in rows), str(path)
    )


def _ladder_of_ranking(path: Path) -> Ladder:
    """Read the Elo ratings in a ranking's JSON file, without those of separated models.

    The names of these models are in `unbounded`.

    Raises:
        DataError: the file does not have exactly one table of Elo ratings.
    """
    # Imported here because pydantic is slow to import.
    from podium.rankers.json_files import read_ranking

    ranking = read_ranking(path)
    tables = [each for each in ranking.standings if each.scale.is_elo] if ranking else []
    if len(tables) != 1:
        remedy = "write one with `podium rank SOURCE -o ladder.json`"
        raise DataError(
            f"{len(tables)} tables of Elo ratings, where a ladder is one", remedy=remedy
        )
    unbounded = tuple(
        entry.model for entry in tables[0].entries if entry.score is None or entry.separated
    )
    rows = (
        (entry.model, entry.score, entry.se)
        for entry in tables[0].entries
        if entry.model not in unbounded
    )
    return replace(_build_ladder(rows, str(path)), unbounded=unbounded)


def _build_ladder(rows: Iterable[tuple[Any, ...]], source: str = "") -> Ladder:
    """Build a ladder from rows of a name, a rating and, optionally, a standard error.

    `source` is the file that the rows come from, empty if they were typed.

    Raises:
        UsageError: a row is impossible, or there is none. The message names the first such row.
    """
    ratings: dict[str, list[float]] = {}
    for row, (name, *typed) in enumerate(rows, start=1):
        given = [value for value in typed if value is not None]
        try:
            numbers = [float(value) for value in given]
        except (TypeError, ValueError):
            numbers = []
        is_rating = (
            len(numbers) in (1, 2)
            and all(map(math.isfinite, numbers))
            and min(numbers[1:], default=0) >= 0
        )
        if not name or name in ratings or not is_rating:
            parts = (name, "+-".join(map(str, given)))
            wrong = ":".join(part for part in parts if part)
            if name in ratings:
                wrong += " twice"
            where = f"row {row}: " if source else "ratings="
            raise UsageError(f"{where}{wrong}: {RATINGS_FORM}")
        ratings[name] = numbers
    if not ratings:
        where = "" if source else "ratings=: "
        raise UsageError(f"{where}no rating: {RATINGS_FORM}")
    # Ratings without a standard error get the usual one.
    assumed = tuple(name for name, numbers in ratings.items() if len(numbers) == 1)
    elo = tuple(numbers[0] for numbers in ratings.values())
    se = tuple(USUAL_SE if name in assumed else ratings[name][1] for name in ratings)
    return Ladder(tuple(ratings), elo, se, assumed=assumed, source=source)
