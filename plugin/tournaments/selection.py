"""Select models by name and items by seeded draws."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, TypeVar

import numpy as np

from podium.data.pairings import Field
from podium.errors import UsageError, find_name, unknown_name
from podium.text import some

Drawn = TypeVar("Drawn")


def generator(seed: int, *words: str) -> np.random.Generator:
    """Return a random generator for one purpose, independent of draws for other purposes."""
    if seed < 0:
        raise UsageError(f"seed={seed}: give 0 or more")
    purpose = sha256("\0".join(words).encode(errors="surrogatepass")).digest()
    return np.random.default_rng([seed, int.from_bytes(purpose[:8], "big")])


def order_of_visits(field: Field, number: int | None, seed: int) -> tuple[str, ...]:
    """Draw a sample of the items, all by default; the larger sample of a seed begins with the
    smaller one."""
    if number is not None and number < 1:
        raise UsageError(f"items={number}: give a number of items, 1 or more")
    ordered = sorted(field.items)
    return tuple(ordered[k] for k in generator(seed, "items").permutation(len(ordered))[:number])


def draw_items(field: Field, number: int | None, seed: int) -> tuple[str, ...]:
    """Return the items of `order_of_visits` in their original order."""
    if number is None:
        return field.items
    chosen = set(order_of_visits(field, number, seed))
    return tuple(item for item in field.items if item in chosen)


def draw_balanced(
    candidates: Sequence[tuple[Drawn, tuple[str, str]]],
    models: Sequence[str],
    number: int,
    rng: np.random.Generator,
    counts: np.ndarray | None = None,
    *,
    over_pairs: bool = False,
) -> tuple[list[tuple[Drawn, tuple[str, str]]], np.ndarray]:
    """Draw battles one at a time, each from the pair whose models have the fewest battles."""
    codes = {name: k for k, name in enumerate(models)}
    waiting: dict[tuple[str, str], list[Drawn]] = {}
    for k in rng.permutation(len(candidates)):
        own, pair = candidates[k]
        waiting.setdefault(pair, []).append(own)
    pairs = sorted(waiting)
    counts = np.zeros(len(codes), dtype=np.int64) if counts is None else counts.copy()
    a, b = np.array([[codes[name] for name in pair] for pair in pairs]).T
    left, times = np.array([len(waiting[pair]) for pair in pairs]), np.zeros(len(pairs))
    drawn: list[tuple[Drawn, tuple[str, str]]] = []
    for _ in range(number):
        load = np.where(
            left > 0,
            counts[a] + counts[b] + (times * 2 * (number + 1) if over_pairs else 0),
            np.inf,
        )
        chosen = int(rng.choice(np.flatnonzero(load == load.min())))
        drawn.append((waiting[pairs[chosen]].pop(), pairs[chosen]))
        left[chosen] -= 1
        times[chosen] += 1
        counts[[a[chosen], b[chosen]]] += 1
    return drawn, counts


def parse_model_names(given: str | Sequence[str], models: Sequence[str]) -> tuple[str, ...]:
    """Parse an option that names models: a sequence, or text with commas, unless the whole text is
    one model's name."""
    if isinstance(given, str):
        given = (given,) if given in models else [name.strip() for name in given.split(",")]
    return tuple(dict.fromkeys(find_name("model", name, models) for name in given))


def ranked_before(tournament: Any, field: Field) -> tuple[str, ...]:
    """Return the sorted names of the models that its `ratings` or `rated` name as ranked before,
    for newcomers."""
    ladder, names = getattr(tournament, "ratings", None), getattr(tournament, "rated", ())
    if ladder is not None:
        if unknown := ladder.unknown_names(field.models):
            raise unknown_name("model", unknown[0], field.models)
        if not (names := [name for name in ladder.models if name in field.models]):
            raise UsageError(
                f"ratings={ladder.source}: it has none of the models {some(sorted(field.models))}"
            )
    return tuple(sorted(parse_model_names(names, field.models))) if names else ()
