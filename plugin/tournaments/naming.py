"""Entrants as options name them."""

from collections.abc import Sequence

from podium.errors import unknown_name


def named(given: str | Sequence[str], entrants: Sequence[str]) -> tuple[str, ...]:
    """Return the entrants that an option names, each once: a sequence, or text with commas between names.

    >>> named("b,a", ("a", "b", "x,y")), named("x,y", ("a", "b", "x,y"))
    (('b', 'a'), ('x,y',))

    Raises:
        UsageError: one of them is no entrant; the nearest is suggested.
    """
    if isinstance(given, str):
        given = (given,) if given in entrants else [name.strip() for name in given.split(",")]
    names = tuple(dict.fromkeys(given))
    for name in names:
        if name not in entrants:
            raise unknown_name("entrant", name, entrants)
    return names
