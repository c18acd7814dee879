"""Select models by name and items by seeded draws."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, TypeVar

import numpy as np

from podium.data.pairings import Field
from podium.errors import UsageError, unknown_name_error
from podium.known_names import find_name
from podium.wording import some

Drawn = TypeVar("Drawn")


def generator(seed: int, *words: str) -> np.random.Generator:
    """Return a random generator for one purpose, independent of draws for other purposes.

    Args:
        seed: seed of all draws.
        words: words that identify the purpose.

    Raises:
        UsageError: the seed is negative.
    """
    if seed < 0:
        raise UsageError(f"seed={seed}: give 0 or more")
    joined = "\0".join(words)
    purpose = sha256(joined.encode(errors="surrogatepass")).digest()
    return np.random.default_rng([seed, int.from_bytes(purpose[:8], "big")])


def order_of_visits(field: Field, number: int | None, seed: int) -> tuple[str, ...]:
    """Draw a sample of the items in random order; all items if `number` is None.

    Samples of one seed are nested: a larger one begins with the smaller ones. A sample of more
    items than there are has all of them.

    Raises:
        UsageError: the number is below 1, or the seed is negative.
    """
    if number is not None and number < 1:
        raise UsageError(f"items={number}: give a number of items, 1 or more")
    ordered = sorted(field.items)
    in_random_order = [ordered[k] for k in generator(seed, "items").permutation(len(ordered))]
    return tuple(in_random_order[:number])


def draw_items(field: Field, number: int | None, seed: int) -> tuple[str, ...]:
    """Return the items of `order_of_visits` in their original order.

    Without a number, these are all items.

    Raises:
        UsageError: the number is below 1, or the seed is negative.
    """
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
    """Draw battles one at a time, each from the pair whose models have the fewest battles.

    Args:
        candidates: battles, each with its pair of models.
        models: names of the models.
        number: how many battles are drawn; it must not exceed the number of candidates.
        rng: random generator, which draws among equally good pairs and among the battles of a
            pair.
        counts: number of battles of each model before the draw, shape (models,); all 0 by default.
            It is not changed.
        over_pairs: whether to draw from the pairs that were drawn least often first, and only
            among these by the battles of their models.

    Returns:
        The drawn battles with their pairs, and the number of battles of each model after the draw.
    """
    codes = {name: k for k, name in enumerate(models)}
    battles_left: dict[tuple[str, str], list[Drawn]] = {}
    for k in rng.permutation(len(candidates)):
        battle, pair = candidates[k]
        battles_left.setdefault(pair, []).append(battle)
    pairs = sorted(battles_left)
    counts = np.zeros(len(codes), dtype=np.int64) if counts is None else counts.copy()
    a = np.array([codes[first] for first, _ in pairs])
    b = np.array([codes[second] for _, second in pairs])
    number_left = np.array([len(battles_left[pair]) for pair in pairs])
    times_drawn = np.zeros(len(pairs))
    drawn: list[tuple[Drawn, tuple[str, str]]] = []
    for _ in range(number):
        load = counts[a] + counts[b]
        if over_pairs:
            # One more draw of a pair outweighs any difference in the battles of its models.
            load = load + times_drawn * 2 * (number + 1)
        load = np.where(number_left > 0, load, np.inf)
        with_least_load = np.flatnonzero(load == load.min())
        chosen = int(rng.choice(with_least_load))
        battle = battles_left[pairs[chosen]].pop()
        drawn.append((battle, pairs[chosen]))
        number_left[chosen] -= 1
        times_drawn[chosen] += 1
        counts[[a[chosen], b[chosen]]] += 1
    return drawn, counts


def parse_model_names(names_given: str | Sequence[str], models: Sequence[str]) -> tuple[str, ...]:
    """Parse an option that names models, and return their full names.

    A name may be a short form that `find_name` knows, such as `gpt-4o` for `openai/gpt-4o`.

    Args:
        names_given: a sequence of names, or a text with names separated by commas. A text that is
            itself the full name of a model is not split. Any other text is split at its commas,
            even if it is the short form of a name with a comma; such a model needs its full name,
            or a sequence.
        models: full names of all models.

    Returns:
        The full names of the named models, each once, in the order given.

    Raises:
        UsageError: a name is not among the models, or is a short form of several.
    """
    names: Sequence[str]
    if not isinstance(names_given, str):
        names = names_given
    elif names_given in models:
        names = (names_given,)  # a name with commas
    else:
        names = [name.strip() for name in names_given.split(",")]
    return tuple(dict.fromkeys(find_name("model", name, models) for name in names))


def ranked_before(tournament: Any, field: Field) -> tuple[str, ...]:
    """Return the sorted names of the models that newcomers join; empty if there are none.

    These are the models in the option `ratings` of the tournament, or else in `rated`.

    Raises:
        UsageError: a name is not a model of the field, or the ratings have none of the models.
    """
    ladder = getattr(tournament, "ratings", None)
    names = getattr(tournament, "rated", ())
    if ladder is not None:
        unknown = ladder.unknown_names(field.models)
        if unknown:
            raise unknown_name_error("model", unknown[0], field.models)
        names = [name for name in ladder.models if name in field.models]
        if not names:
            raise UsageError(
                f"ratings={ladder.source}: it has none of the models {some(sorted(field.models))}"
            )
    if not names:
        return ()
    return tuple(sorted(parse_model_names(names, field.models)))
