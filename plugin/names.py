"""Compare names of models and judges as people see them. It imports no NumPy."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

UNSEEN = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""Characters that take no space: soft hyphen, zero-width space, non-joiner and joiner, word joiner,
and byte order mark."""
_WITHOUT_UNSEEN = dict.fromkeys(map(ord, UNSEEN))
"""Argument of `str.translate` that removes the characters of `UNSEEN`."""


def seen_name(name: str) -> str:
    """Return a name as people see it.

    The result is in Unicode form NFC, without invisible characters and without blanks at the ends.
    It may be empty.
    """
    if name.isascii():
        # For speed: ASCII has none of these characters, and is in form NFC.
        return name.strip()
    return unicodedata.normalize("NFC", name.translate(_WITHOUT_UNSEEN)).strip()


def joined_name(name: str) -> str:
    """Return the name that stands for all names that look the same: `seen_name`.

    A name of invisible characters alone is returned unchanged.
    """
    return seen_name(name) or name


def names_alike(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the groups of names that look the same.

    Names are compared by `seen_name`.

    Returns:
        By the name that people see, the names that look so, sorted. Names that look like no other
        one are left out.
    """
    groups: dict[str, list[str]] = {}
    for name in sorted({*names}):
        groups.setdefault(seen_name(name), []).append(name)
    return {visible_name: group for visible_name, group in groups.items() if len(group) > 1}


def escaped_name(name: str) -> str:
    """Quote a name with escapes for what cannot be seen in it.

    Escaped are invisible characters, letters that Unicode writes in two forms, such as an e with an
    accent, and, as in Python, single quotes and backslashes.
    """
    return f"'{''.join(map(_escaped_sign, name))}'"


def _escaped_sign(sign: str) -> str:
    """Return a character as it stands in a quoted name.

    The character is escaped if people could not identify it: if it is invisible, has an accent, or
    cannot be printed. So are a single quote and a backslash.
    """
    if sign in "'\\":
        return f"\\{sign}"
    is_composed = unicodedata.normalize("NFD", sign) != sign
    has_accent = is_composed or unicodedata.combining(sign) != 0
    is_invisible = sign in UNSEEN or not sign.isprintable()
    if has_accent or is_invisible:
        return ascii(sign)[1:-1]
    return sign


def spelled_like(name: str, known_names: Collection[str]) -> list[str]:
    """Return the known names that a name stands for.

    If the name itself is known, it is the only one. Otherwise these are the names that look the
    same (`seen_name`), in their order; there may be none.
    """
    if name in known_names:
        return [name]
    visible_name = seen_name(name)
    return [other for other in known_names if seen_name(other) == visible_name]


def bare_and_prefixed(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the names `PROVIDER/NAME` of each bare NAME that is given, too.

    The lists are by bare name. A provider may have several parts. Names of two providers are names
    of two models, so that both are listed only if the bare name is given.
    """
    prefixed: dict[str, list[str]] = {}
    for name in names:
        provider, _, last = name.rpartition("/")
        if provider and last:
            prefixed.setdefault(last, []).append(name)
    return {name: prefixed[name] for name in names if name in prefixed}


def spellings_of_one_name(names: Iterable[str]) -> list[list[str]]:
    """Return the groups of names that differ in letter case, blanks, hyphens or underscores only.

    Each group is sorted. `gpt-4-1` and `gpt-41` are different names.
    """
    groups: dict[str, list[str]] = {}
    for name in sorted({*names}):
        plain = re.sub(r"[\s_-]+", " ", seen_name(name).casefold())
        groups.setdefault(plain, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def names_without_provider(names: Iterable[str]) -> dict[str, str]:
    """Return a short form of each name: its last part, or the whole name if others share it.

    >>> names_without_provider(["openai/gpt-5", "azure/gpt-5", "vllm/me/small"])
    {'openai/gpt-5': 'openai/gpt-5', 'azure/gpt-5': 'azure/gpt-5', 'vllm/me/small': 'small'}
    """
    last_parts = {name: name.rpartition("/")[2] for name in names}
    # Last parts and whole names together. A name without a provider is counted as both.
    counts = Counter([*last_parts.values(), *last_parts])
    short_names = {}
    for name, last_part in last_parts.items():
        own_count = 2 if last_part == name else 1
        is_unique = counts[last_part] == own_count
        short_names[name] = last_part if is_unique else name
    return short_names
