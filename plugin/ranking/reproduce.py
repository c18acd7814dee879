"""Make a ranking again from the options that its JSON records, and compare the numbers."""

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from glob import has_magic
from pathlib import Path
from typing import Any

from podium.data.formats.files import split_label
from podium.data.query import BattleQuery, Foreign
from podium.data.reading.judgments import read_query
from podium.errors import DataError, UsageError
from podium.rankers.json_files import read_ranking
from podium.rankers.ranking import Ranking, build_provenance
from podium.ranking.rank_battles import rank
from podium.storage.remote import place_of
from podium.wording import quantity, some

FOREIGN_OPTIONS = ("columns", "credit_map", "unknown", "shown", "fill", "matrix")
"""Options of reading that are fields of `Foreign`."""
NOT_OPTIONS = frozenset({"reading", "rankers", "rankers_by_default"})
"""Recorded options that are no arguments of `podium.rank`, or are given by their place."""
WORDS_COMPARED = frozenset({"model", "ranker", "slice", "scale"})
"""Keys of texts that say what a number is about. Other texts are words about the numbers."""
PARTS_COMPARED = ("rankings", "details")
"""Keys of the document that are compared."""
MOST_SHOWN = 5
"""At most this many differences are named."""
RANK_AGAIN = "rank the sources again (podium rank ... --format json)"
"""Remedy if a file is not a ranking that can be made again."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A number that is not the same.

    Attributes:
        place: where it stands in the document, as `rankings[0].models[amber].score`.
        recorded: the value in the file; None if it has none.
        now: the value now; None if there is none.
    """

    place: str
    recorded: Any
    now: Any

    def __str__(self) -> str:
        return f"{self.place} was {self.recorded} and is {self.now}"


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A ranking that was made again.

    Attributes:
        ranking: the ranking now.
        compared: number of values that were compared.
        differences: the values that are not the same.
        versions: packages whose version is another one now, with both versions.
    """

    ranking: Ranking
    compared: int
    differences: tuple[Difference, ...]
    versions: Mapping[str, tuple[str, str]]

    @property
    def sentence(self) -> str:
        """The result of the comparison, without a full stop.

        If numbers differ, the first ones are named, and the packages whose versions changed.
        """
        if not self.differences:
            return f"reproduced: all {self.compared:,} numbers are the same to the last digit"
        difference_texts = some(self.differences, separator="; ", most=MOST_SHOWN)
        number = quantity(len(self.differences), "number", "differs|differ")
        text = f"not reproduced: {number} of {self.compared:,} ({difference_texts})"
        if not self.versions:
            return f"{text}; the files or the options changed since, as the packages are the same"
        changed = [f"{name} {was} is now {now}" for name, (was, now) in self.versions.items()]
        return f"{text}; {', '.join(changed)}"


def reproduce(path: Path, sources: Sequence[str] = ()) -> Reproduction:
    """Read and rank the sources of a recorded ranking again.

    Args:
        path: the ranking, as `podium rank --format json` wrote it.
        sources: files to read in place of the recorded ones.

    Raises:
        DataError: the file is not such a ranking, or records no sources.
        UsageError: a recorded source is not where the record says; `sources` are not given.
        PodiumError: as of reading and ranking.
    """
    if read_ranking(path) is None:
        raise DataError("not a ranking in JSON", source=str(path), remedy=RANK_AGAIN)
    document = json.loads(path.read_bytes())
    provenance = document.get("provenance")
    recorded = provenance.get("options") if isinstance(provenance, Mapping) else None
    if not isinstance(recorded, Mapping):
        raise DataError("the ranking records no options", source=str(path), remedy=RANK_AGAIN)
    if not sources and not provenance.get("sources"):
        remedy = "name them after RANKING: podium rank --reproduce RANKING SOURCE..."
        raise DataError("the ranking records no sources", source=str(path), remedy=remedy)
    if not sources:
        with _damage_named(path):
            _check_sources_exist(path, provenance["sources"])
    with _damage_named(path):
        names = None if recorded.get("rankers_by_default") else recorded.get("rankers")
        reading = recorded.get("reading", {})
        query = query_of_record(reading, sources or provenance["sources"], names)
        recorded_options = {
            name: value for name, value in recorded.items() if name not in NOT_OPTIONS
        }
        ranking = rank(read_query(query), names, **recorded_options)
    # As text and back, so that both sides have the types of JSON.
    now = json.loads(ranking.to_json())
    values_before = dict(_compared_values(document))
    values_now = dict(_compared_values(now))
    places = list(dict.fromkeys([*values_before, *values_now]))
    differences = [
        Difference(place, values_before.get(place), values_now.get(place))
        for place in places
        if values_before.get(place) != values_now.get(place)
        or (place in values_before) != (place in values_now)
    ]
    return Reproduction(
        ranking=ranking,
        compared=len(places),
        differences=tuple(differences),
        versions=_changed_versions(provenance),
    )


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Name the ranking in errors about its record.

    Errors about the type of a recorded value become a DataError.

    Raises:
        DataError: the record has a value of another type, or reading it failed.
    """
    try:
        yield
    except DataError as error:
        raise error.with_place(str(path)) from None
    except (TypeError, ValueError, AttributeError) as error:
        problem = f"the ranking records an option or a source of another type: {error}"
        raise DataError(problem, source=str(path), remedy=RANK_AGAIN) from None


def _check_sources_exist(path: Path, sources: Sequence[str]) -> None:
    """Check that the local sources of a ranking are where its record says.

    The record has their paths as they were typed, and not the folder in which `podium rank` ran. So
    the folder of the ranking and those above it are searched for one that has all sources. Globs
    and remote sources are not checked.

    Args:
        path: the ranking.
        sources: its recorded sources.

    Raises:
        UsageError: a source is missing. It says which ones, and how to run the command.
    """
    places = [place for _, place in map(split_label, sources)]
    local = [name for name in places if isinstance(place_of(name), Path) and not has_magic(name)]
    missing = [name for name in local if not Path(name).exists()]
    if not missing:
        return
    number = quantity(len(local), "source")
    problem = f"{len(missing)} of {number} not found: {some(missing, most=MOST_SHOWN)}"
    home = None
    for folder_above in path.resolve().parents:
        if all((folder_above / name).exists() for name in local):
            home = folder_above
            break
    if home is not None:
        folder = os.path.relpath(home)
        typed = os.path.relpath(path.resolve(), home)
        command = shlex.join(["podium", "rank", "--reproduce", typed])
        remedy = f"they are in {folder}: cd {shlex.quote(folder)} && {command}"
    else:
        command = shlex.join(["podium", "rank", "--reproduce", str(path)])
        remedy = (
            "their paths are relative to the folder in which the ranking was made, which it does "
            f"not record: run the command there, or name the sources: {command} SOURCE..."
        )
    raise UsageError(f"{path}: {problem}; {remedy}")


def query_of_record(
    reading: Mapping[str, Any], sources: Sequence[str], rankers: Sequence[str] | None
) -> BattleQuery:
    """Return the query that reads the battles of a recorded ranking.

    Args:
        reading: the recorded options of reading.
        sources: the files.
        rankers: names of the rankers; None if the default ones ranked.

    Raises:
        DataError: the record has an option that does not exist.
    """
    known_options = {field.name for field in fields(BattleQuery)} | {*FOREIGN_OPTIONS}
    unknown = sorted(set(reading) - known_options)
    if unknown:
        raise DataError(f"the ranking records an unknown option {unknown[0]!r}", remedy=RANK_AGAIN)
    options = {name: value for name, value in reading.items() if name not in FOREIGN_OPTIONS}
    for name in ("where", "metric", "allow", "human_labels"):
        if name in options:
            values = options[name]
            options[name] = tuple(map(tuple, values)) if name == "where" else tuple(values)
    foreign = Foreign(**{name: reading[name] for name in FOREIGN_OPTIONS if name in reading})
    scores_only = None if rankers is None else {*rankers} <= {"mean", "median"}
    return BattleQuery(tuple(sources), foreign=foreign, scores_only=scores_only, **options)


def _compared_values(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield place and value of what is compared in a ranking as JSON (`_values_in`)."""
    for name in PARTS_COMPARED:
        yield from _values_in(document.get(name, []), name)


def _values_in(content: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield the place and value of each number, truth value, null and name in a JSON value.

    A text is yielded only as the value of a key in `WORDS_COMPARED`. The place is a path such as
    `rankings[0].models[amber].score`.
    """
    if isinstance(content, Mapping):
        for name, value in content.items():
            if not isinstance(value, str) or name in WORDS_COMPARED:
                yield from _values_in(value, f"{place}.{name}")
    elif isinstance(content, list):
        names = _names_of_entries(content)
        for name, value in zip(names, content, strict=True):
            if not isinstance(value, str):
                yield from _values_in(value, f"{place}[{name}]")
    else:
        yield place, content


def _names_of_entries(content: Sequence[Any]) -> list[Any]:
    """Return what tells the entries of a list apart, in their order.

    These are the names of the models if all entries have one and they are distinct, else the places
    from 0. Models that share a rank may stand in another order, which is no difference.
    """
    names = [entry.get("model") if isinstance(entry, Mapping) else None for entry in content]
    are_texts = all(isinstance(name, str) for name in names)
    is_named = are_texts and len(set(names)) == len(names)
    return names if is_named else [*range(len(content))]


def _changed_versions(provenance: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return the packages whose version is another one now: by name, the recorded and the present
    version.

    Packages that are not installed now are left out.
    """
    now = build_provenance(sources=(), options={})["versions"]
    before = provenance.get("versions", {})
    return {
        name: (str(before[name]), str(now[name]))
        for name in before
        if name in now and before[name] != now[name]
    }
