"""Read given ratings: typed, from a mapping, or from a file."""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

from podium.data.formats.git_lfs import reject_lfs_pointer_file
from podium.data.ladder import USUAL_SE, Ladder
from podium.errors import DataError, UsageError, named_in_errors, reject_stream
from podium.storage.remote import named_file, with_urls, without_secrets

ERROR_SIGN = re.compile(r"\+/?-|±")
"""The sign between a rating and its standard error: `+-`, `+/-` or `±`."""
RATINGS_FORM = (
    "write NAME:1500+-25 (Elo and its standard error) with commas between, or a .csv or .json file"
)
"""End of error messages about ratings: how they must be written."""
SUFFIXES_OF_FILES = (".csv", ".json", ".ranking")
"""Ends of the names of files with ratings."""
Ratings: TypeAlias = str | Sequence[str] | Mapping[str, Any] | Ladder
"""Ratings as a user gives them.

They are text such as `NAME:1612+-25` with commas between, a list of such texts, the path of a
file, a mapping from names to Elo or to (Elo, standard error), or a ladder.
"""


def read_ladder(ratings: Ratings) -> Ladder:
    """Read ratings from a mapping, from text (`NAME:1612+-25`), or from a CSV file or a ranking's
    JSON file.

    A text without commas that ends in one of `SUFFIXES_OF_FILES` is the path or URL of a file. A
    ladder is returned as it is. Ratings without a standard error get `USUAL_SE`.

    Raises:
        UsageError: there is no such file, no rating, or a rating is impossible or given twice.
        DataError: the file cannot be read, is a pointer of Git LFS, or is no table of Elo ratings.
    """
    if isinstance(ratings, Ladder):
        return ratings
    if isinstance(ratings, Mapping):
        return _build_ladder(_rows_of_mapping(ratings))
    # Inspect turns text with commas into a list, which is joined again.
    text = ratings if isinstance(ratings, str) else ",".join(map(str, ratings))
    texts = [item_text.strip() for item_text in text.split(",")]
    first_text, *further_texts = texts
    if further_texts or not first_text.endswith(SUFFIXES_OF_FILES):
        return _build_ladder(map(_row_of_text, texts))
    reject_stream(Path(first_text))
    path = named_file(first_text)
    if path is None:
        raise UsageError(f"ratings={without_secrets(first_text)}: there is no such file")
    reject_lfs_pointer_file(path)
    with named_in_errors(path):
        read_file = _ladder_of_csv if path.suffix == ".csv" else _ladder_of_ranking
        ladder = read_file(path)
    return replace(ladder, source=with_urls(ladder.source))


def _rows_of_mapping(ratings: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield rows of a name, a rating and, if it is given, a standard error.

    A value of the mapping is a rating, or a pair of rating and standard error.
    """
    for name, ratings_of_model in ratings.items():
        numbers = (
            ratings_of_model if isinstance(ratings_of_model, tuple | list) else (ratings_of_model,)
        )
        yield name, *numbers


def _row_of_text(text: str) -> tuple[str, ...]:
    """Split a text such as `NAME:1612+-25` into name, rating and, if given, standard error.

    The name ends at the last colon, and blanks before this colon are dropped. The numbers are
    texts, which are not checked here. Without a colon, the whole text is the name, and the rating
    is "".
    """
    if ":" not in text:
        return text, ""
    name, _, value = text.rpartition(":")
    return name.rstrip(), *ERROR_SIGN.split(value, maxsplit=1)


def _ladder_of_csv(path: Path) -> Ladder:
    """Read a CSV table with the columns `model` and `rating`, and optionally `se`.

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
    if not {"model", "rating"}.issubset(rows.fieldnames or ()):
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
    standings = ranking.standings if ranking else ()
    tables = [table for table in standings if table.scale.is_elo]
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


def _are_rating(numbers: list[float]) -> bool:
    """Return whether numbers are one finite rating, alone or with a finite standard error >= 0.

    The rating comes first. The result is False for no number and for more than two.
    """
    if len(numbers) not in (1, 2) or not all(map(math.isfinite, numbers)):
        return False
    if len(numbers) == 1:
        return True
    _, standard_error = numbers
    return standard_error >= 0


def _build_ladder(rows: Iterable[tuple[Any, ...]], source: str = "") -> Ladder:
    """Build a ladder from rows of a name, a rating and, optionally, a standard error.

    Numbers may be texts; None is the same as absent. A rating without a standard error gets
    `USUAL_SE`, and its name is in `assumed`. `source` is the file that the rows come from, empty if
    the ratings were typed.

    Raises:
        UsageError: a row is impossible, or there is none. The message names the first such row.
    """
    ratings: dict[str, list[float]] = {}
    for row, (name, *values) in enumerate(rows, start=1):
        given_values = [value for value in values if value is not None]
        try:
            numbers = [float(value) for value in given_values]
        except (TypeError, ValueError):
            numbers = []
        if not name or name in ratings or not _are_rating(numbers):
            # The row as it is typed (`NAME:1500+-25`), without parts that are missing.
            number_text = "+-".join(map(str, given_values))
            row_text = ":".join(part for part in (name, number_text) if part)
            place = f"row {row}: " if source else "ratings="
            if name in ratings:
                raise UsageError(f"{place}{row_text}: {name} is rated twice; rate each model once")
            raise UsageError(f"{place}{row_text}: {RATINGS_FORM}")
        ratings[name] = numbers
    if not ratings:
        place = "" if source else "ratings is empty: "
        raise UsageError(f"{place}no rating: {RATINGS_FORM}")
    elo = []
    se = []
    assumed = []
    for name, (rating, *error) in ratings.items():
        # The standard error may not be given.
        if not error:
            assumed.append(name)
        elo.append(rating)
        se.append(error[0] if error else USUAL_SE)
    return Ladder(
        models=tuple(ratings),
        elo=tuple(elo),
        se=tuple(se),
        assumed=tuple(assumed),
        source=source,
    )
