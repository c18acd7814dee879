"""Rank battles: choose the rankers, slice, hand out options, and keep going when one part cannot be answered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.battles import Battles
from podium.calibration import Calibration
from podium.calibration_file import read_calibration
from podium.errors import NotIdentifiedError, PluginError, PodiumError, UsageError, unknown_name
from podium.length_data import read_length_data
from podium.plugins import catalogue
from podium.plugins.settings import options_of, parameters_of, ranker_names, unknown_option
from podium.rankers.bradley_terry import bounded
from podium.rankers.coded import code
from podium.rankers.graph import graph_of
from podium.rankers.pairs import pair_sums
from podium.ranking import Ranking, Standings, provenance
from podium.reading.entrants import About, about_entrants
from podium.reading.judgements import read_battles
from podium.text import some

Slice = tuple[str | None, Battles]


def rank(
    battles: Battles | pd.DataFrame | str | Path,
    rankers: str | Sequence[str] = "bradley-terry",
    *,
    level: float = 0.95,
    seed: int = 0,
    by: str | None = None,
    pool: bool = False,
    calibration: Calibration | str | Path | None = None,
    entrants: About = None,
    **options: Any,
) -> Ranking:
    """Rank battles by one or more rankers.

    Args:
        battles: from `read_battles`; or what it reads: a data frame, or a path.
        rankers: names, as a sequence or separated by commas.
        level: of intervals and rank sets, in (0, 1).
        seed: of everything random; the same seed gives the same output.
        by: rank each value of this column apart, on a scale centred on the entrants common to all.
        pool: rank the battles of several judges together.
        calibration: of the judge, or the path of its file; for rankers that soften verdicts.
        entrants: a table with a column `model` and what is known of each (family, date), or its path.
        **options: of the rankers; `ranker.option` (through a dict) reaches one ranker only.

    Returns:
        A ranking with one table per ranker and slice, and the reasons of those that could not be answered.

    Raises:
        UsageError: an unknown ranker, option or column.
        NotIdentifiedError: several judges, and nothing says what to do with them; or nothing can be answered.
    """
    if not isinstance(battles, Battles):
        battles = read_battles(battles)
    names = ranker_names(rankers)
    functions = {name: catalogue.ranker_function(name) for name in names}
    settings = _settings(functions, options)
    if not pool:
        _one_judge_a_slice(battles, by)
    # A judge's temperature is its own: where judges are the slices, each slice stands alone.
    alone = by is not None and not pool and len(battles.judges) > 1
    given = _given(functions, None if by == "judge" or alone else battles, calibration, entrants)
    calls = [Asked(name, functions[name], {"level": level, **given[name], **settings[name]}, seed) for name in names]
    standings, failures = _every(battles, calls, by)
    asked = {
        "reading": dict(battles.reading),
        "rankers": names,
        "level": level,
        "seed": seed,
        "by": by,
        "pool": pool,
        **({"calibration": str(calibration)} if calibration is not None else {}),
        **({"entrants": str(entrants)} if isinstance(entrants, str | Path) else {}),
        **options,
    }
    return Ranking(standings, provenance(battles.sources, asked), failures)


@dataclass(frozen=True, slots=True)
class Asked:
    """A ranker and all that it is asked to do.

    Attributes:
        settings: level and options, by parameter.
        seed: of its generator; each call starts afresh.
        warnings: to add to what it says.
    """

    name: str
    function: Callable[..., Standings]
    settings: Mapping[str, Any]
    seed: int
    warnings: tuple[str, ...] = ()

    def __call__(self, battles: Battles) -> Standings:
        """Rank the battles.

        Raises:
            PluginError: the function returns something else than standings.
        """
        result = self.function(battles, rng=np.random.default_rng(self.seed), **self.settings)
        if not isinstance(result, Standings):
            origin = catalogue.rankers()[self.name].origin
            raise PluginError(
                f"plugin {origin}: ranker {self.name!r} must return Standings, got {type(result).__name__}"
            )
        return replace(result, warnings=(*result.warnings, *self.warnings))


def _every(battles: Battles, rankers: Sequence[Asked], by: str | None) -> tuple[tuple[Standings, ...], tuple[str, ...]]:
    """Rank every slice by every ranker; a part that cannot be answered does not stop the others."""
    slices = list(_told_unsliced(battles, by).slices(by)) if by else [(None, battles)]
    standings: list[Standings] = []
    errors: list[tuple[str, PodiumError]] = []
    for ranker in _centred(rankers, slices):
        done, lost = _over_slices(ranker, slices)
        standings += done
        errors += [(ranker.name + (f" [{value}]" if by else ""), error) for value, error in lost]
    failures = tuple(f"{part}: {error}" for part, error in errors)
    if not standings:
        raise errors[0][1] if len(errors) == 1 else NotIdentifiedError("; ".join(failures))
    return tuple(standings), failures


def _over_slices(
    ranker: Asked, slices: Sequence[Slice]
) -> tuple[list[Standings], list[tuple[str | None, PodiumError]]]:
    """Rank slice by slice.

    Raises:
        UsageError: what was asked fits no slice. What one slice does not know (its anchor) is only that slice's.
    """
    standings: list[Standings] = []
    errors: list[tuple[str | None, PodiumError]] = []
    for value, part in slices:
        try:
            standings.append(replace(ranker(part), slice=value))
        except PodiumError as error:
            errors.append((value, error))
    if not standings and all(isinstance(error, UsageError) for _, error in errors):
        raise errors[0][1]
    return standings, errors


def _centred(rankers: Sequence[Asked], slices: Sequence[Slice]) -> list[Asked]:
    """Give rankers with a free origin the entrants common to all slices, so that slices can be compared."""
    if len(slices) < 2:
        return list(rankers)
    common = _common_entrants(slices)
    return [_centred_on(common, one) if "center" in parameters_of(one.function) else one for one in rankers]


def _centred_on(common: tuple[str, ...], ranker: Asked) -> Asked:
    if common:
        return replace(ranker, settings={**ranker.settings, "center": common})
    told = "no entrant is in every slice: each slice is centred on its own entrants, compare scores within a slice only"
    return replace(ranker, warnings=(*ranker.warnings, told))


def _told_unsliced(battles: Battles, column: str) -> Battles:
    """Add a note of the battles that are in no slice, because their value is empty."""
    outside = int(battles.table[column].isna().sum()) if column in battles.table else 0
    if not outside:
        return battles
    note = f"{outside} of {len(battles)} battles have no {column} and are in no slice"
    return replace(battles, notes=(*battles.notes, note))


def _common_entrants(slices: Sequence[Slice]) -> tuple[str, ...]:
    """Return the entrants that the battles of every slice rate, unbounded ones left out."""
    present = [set(_rated(part)) for _, part in slices if part.readable.any()]
    return tuple(sorted(set.intersection(*present))) if present else ()


def _rated(battles: Battles) -> tuple[str, ...]:
    coded = code(battles)
    return bounded(coded.entrants, graph_of(pair_sums(coded)))


def _settings(functions: Mapping[str, Callable[..., Any]], options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Give each ranker the options that are its own; one that nobody takes is an error."""
    settings: dict[str, dict[str, Any]] = {name: {} for name in functions}
    known = {name: options_of(function) for name, function in functions.items()}
    # The general settings first: `win-rate.labels` overrides `labels`, whichever was typed first.
    for key, value in sorted(options.items(), key=lambda setting: "." in setting[0]):
        ranker, _, option = key.rpartition(".")
        if ranker and ranker not in functions:
            raise unknown_name("ranker in this call", ranker, functions)
        takers = [name for name in functions if option in known[name] and ranker in ("", name)]
        if not takers:
            raise unknown_option(key, known)
        for name in takers:
            settings[name][option] = _opened(option, value)
    return settings


def _opened(option: str, value: Any) -> Any:
    """Read what an option names, where that is a file: rankers read none."""
    return read_length_data(value) if option == "length_data" and isinstance(value, str | Path) else value


def _given(
    functions: Mapping[str, Callable[..., Any]],
    whole: Battles | None,
    calibration: Calibration | str | Path | None,
    entrants: About,
) -> dict[str, dict[str, Any]]:
    """Give each ranker what it has a parameter for: the calibration, facts about the entrants, the unsliced battles.

    Raises:
        UsageError: a calibration or a table of entrants that none of the rankers uses.
        DataError: the file is not what it should be.
    """
    if isinstance(calibration, str | Path):
        calibration = read_calibration(calibration)
    at_hand = {"calibration": calibration, "about": about_entrants(entrants) or None, "whole": whole}
    takes = {name: at_hand.keys() & parameters_of(function).keys() for name, function in functions.items()}
    for part, what in (("calibration", "a calibration"), ("about", "a table of entrants")):
        if at_hand[part] is not None and not any(part in taken for taken in takes.values()):
            raise UsageError(f"{what} was given, and {' and '.join(functions)} does not use one; soft-elo does")
    return {name: {part: at_hand[part] for part in sorted(taken)} for name, taken in takes.items()}


def _one_judge_a_slice(battles: Battles, by: str | None) -> None:
    """Refuse verdicts of several judges in one slice, or, without slices, in one table.

    Raises:
        NotIdentifiedError: there are several.
    """
    if by != "judge" and len(battles.judges) > 1:
        for part in [part for _, part in battles.slices(by)] if by else [battles]:
            one_judge(part)


def one_judge(battles: Battles) -> None:
    """Refuse verdicts of several judges in one table.

    Raises:
        NotIdentifiedError: there are several.
    """
    judges = battles.judges
    if len(judges) > 1:
        raise NotIdentifiedError(
            f"verdicts of {len(judges)} judges in one table ({some(judges, most=10)}): choose one with --where "
            "judge=NAME, rank each with --by judge, or put them together with --pool"
        )
