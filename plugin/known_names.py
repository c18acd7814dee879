"""Find a known name, of a model or a section, by what a user typed."""

from collections.abc import Iterable

from podium.errors import UsageError, unknown_name_error
from podium.names import seen_name, spelled_like


def find_name(kind: str, name: str, known_names: Iterable[str]) -> str:
    """Return the known name that a typed name stands for.

    The first of these that exists is returned: the name itself; a name that looks the same, for
    example in another Unicode form; a name that ends with `/NAME`, as `openai/gpt-4o` for `gpt-4o`;
    a name with settings, as `gpt-4o (shots=0)`.

    Args:
        kind: what the names are of, for messages: `model` or `section`.
        name: the name as typed.
        known_names: the known names.

    Raises:
        UsageError: no known name matches, or several do in the same way.
    """
    names = sorted(set(known_names))
    ends = spelled_like(name, names)
    if not ends:
        ending = f"/{seen_name(name)}"
        ends = [whole for whole in names if seen_name(whole).endswith(ending)]
    if not ends:
        ends = [whole for whole in names if seen_name(whole).startswith(f"{seen_name(name)} (")]
    if len(ends) > 1:
        raise UsageError(f"{kind} {name!r} may be each of {', '.join(ends)}: write the whole name")
    if not ends:
        raise unknown_name_error(kind, name, names)
    return ends[0]
