"""Find a known name, of a model or a section, by what a user typed."""

from collections.abc import Iterable

from podium.errors import UsageError, unknown_name
from podium.names import seen_name, spelled_like


def find_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the known name that equals `name`, or else the only one that ends with `/NAME`.

    So `gpt-4o` finds `openai/gpt-4o`. A name that looks the same is found, too, for example one in
    another Unicode form, and so is the only one with settings, as `gpt-4o (shots=0)`.

    Raises:
        UsageError: no known name matches, or several do.
    """
    names = sorted(set(known))
    ends = spelled_like(name, names)
    if not ends:
        ending = f"/{seen_name(name)}"
        ends = [whole for whole in names if seen_name(whole).endswith(ending)]
    if not ends:
        ends = [whole for whole in names if seen_name(whole).startswith(f"{seen_name(name)} (")]
    if len(ends) > 1:
        raise UsageError(f"{kind} {name!r} may be each of {', '.join(ends)}: write the whole name")
    if not ends:
        raise unknown_name(kind, name, names)
    return ends[0]
