"""Rank battles: choose the rankers, slice, hand out options, and keep going when one part cannot be answered."""

import inspect
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from podium import __version__, plugins
from podium.battles import Battles
from podium.errors import NotIdentifiedError, PodiumError, UsageError, unknown_name
from podium.options import options_of
from podium.ranking import Ranking, Standings
from podium.reading import read_battles

def rank(
    battles: Battles | pd.DataFrame,
    rankers: str | Sequence[str],
    *,
    level: float = 0.95,
    seed: int = 0,
    by: str | None = None,
    pool: bool = False,
    **options: Any,
) -> Ranking:
    """Rank battles by one or more rankers.

    Args:
        battles: from `read_battles`, or a data frame with the contract's columns.
        rankers: names, as a sequence or separated by commas.
        level: of intervals and rank sets, in (0, 1).
        seed: of everything random; the same seed gives the same output.
        by: rank each value of this column apart, on a scale centred on the entrants common to all.
        pool: rank the battles of several judges together.
        **options: of the rankers; `ranker.option` (through a dict) reaches one ranker only.

    Returns:
        A ranking with one table per ranker and slice, and the reasons of those that could not be answered.

    Raises:
        UsageError: an unknown ranker, option or column.
        NotIdentifiedError: several judges, and nothing says what to do with them; or nothing can be answered.
    """
    if isinstance(battles, pd.DataFrame):
        battles = read_battles(battles)
    names = rankers.split(",") if isinstance(rankers, str) else list(rankers)
    functions = {name: plugins.ranker(name).load() for name in names}
    settings = _settings(functions, options)
    _refuse_several_judges(battles, by, pool)
    standings, failures = _every(battles, functions, settings, by=by, level=level, seed=seed)
    return Ranking(standings, _provenance(battles, names, options, level, seed, by, pool), failures)


def _every(
    battles: Battles,
    functions: Mapping[str, Callable[..., Standings]],
    settings: Mapping[str, Mapping[str, Any]],
    *,
    by: str | None,
    level: float,
    seed: int,
) -> tuple[tuple[Standings, ...], tuple[str, ...]]:
    slices = list(battles.slices(by)) if by else [(None, battles)]
    centre = _common_entrants(slices) if by else None
    standings, errors = [], []
    for name, function in functions.items():
        for value, part in slices:
            try:
                standings.append(_one(function, part, value, settings[name], level, seed, centre))
            except UsageError:
                raise
            except PodiumError as error:
                errors.append((f"{name}{f', {by}={value}' if by else ''}: {error}", error))
    if not standings:
        raise errors[0][1] if len(errors) == 1 else NotIdentifiedError("; ".join(text for text, _ in errors))
    return tuple(standings), tuple(text for text, _ in errors)


def _one(
    function: Callable[..., Standings],
    battles: Battles,
    value: str | None,
    settings: Mapping[str, Any],
    level: float,
    seed: int,
    centre: tuple[str, ...] | None,
) -> Standings:
    extra = {"center": centre} if centre and "center" in inspect.signature(function).parameters else {}
    result = function(battles, level=level, rng=np.random.default_rng(seed), **settings, **extra)
    return replace(result, slice=value)


def _common_entrants(slices: Sequence[tuple[str | None, Battles]]) -> tuple[str, ...] | None:
    """Return the entrants of which every slice has a readable battle."""
    common = set.intersection(*(set(_with_verdict(part)) for _, part in slices))
    return tuple(sorted(common)) or None


def _with_verdict(battles: Battles) -> Iterator[str]:
    read = battles.table[battles.readable]
    yield from read["model_a"].unique()
    yield from read["model_b"].unique()


def _settings(
    functions: Mapping[str, Callable[..., Any]], options: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Give each ranker the options that are its own; one that nobody takes is an error."""
    settings: dict[str, dict[str, Any]] = {name: {} for name in functions}
    known = {name: options_of(function) for name, function in functions.items()}
    for key, value in options.items():
        ranker, _, option = key.rpartition(".")
        if ranker and ranker not in functions:
            raise unknown_name("ranker in this call", ranker, functions)
        takers = [name for name in functions if option in known[name] and ranker in ("", name)]
        if not takers:
            raise unknown_name("option", key, {one for name in functions for one in known[name]})
        for name in takers:
            settings[name][option] = value
    return settings


def _refuse_several_judges(battles: Battles, by: str | None, pool: bool) -> None:
    judges = battles.judges
    if len(judges) > 1 and not pool and by != "judge":
        shown = ", ".join(judges[:10]) + (", ..." if len(judges) > 10 else "")
        raise NotIdentifiedError(
            f"verdicts of {len(judges)} judges in one table ({shown}): choose one with --where judge=NAME, rank each "
            "with --by judge, or put them together with --pool"
        )


def _provenance(
    battles: Battles,
    names: Sequence[str],
    options: Mapping[str, Any],
    level: float,
    seed: int,
    by: str | None,
    pool: bool,
) -> dict[str, Any]:
    packages = {name: version(name) for name in ("numpy", "scipy", "pandas")}
    return {
        "sources": list(battles.sources),
        "options": {"rankers": list(names), "level": level, "seed": seed, "by": by, "pool": pool, **options},
        "versions": {"podium": __version__, "python": platform.python_version(), **packages},
    }
