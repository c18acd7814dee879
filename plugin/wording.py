"""Build parts of sentences: plurals, lists of names, and options. It imports no numpy."""

import re
import shlex
from collections.abc import Sequence

MOST_NAMES = 5
"""A list of more names than this is cut in a sentence, and the rest is counted."""

MOST_PATHS = 3
"""A list of more paths than this is cut in a sentence, and the rest is counted."""

NUMBER_WORDS = (
    *("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)
"""The words for the numbers from 0 on, which are spelled in sentences and read in replies."""


def short_paths(paths: Sequence[str]) -> list[str]:
    """Return the paths without the first folders, as long as different paths stay different.

    All keep the same number of last parts: the names of the files if these differ, else the folders
    of the files as well, and so on.
    """
    parts = [path.split("/") for path in paths]
    longest = max(map(len, parts), default=0)
    for number in range(1, longest):
        short = ["/".join(parts_of_path[-number:]) for parts_of_path in parts]
        if len({*short}) == len({*paths}):
            return short
    return list(paths)


def capitalize_first(text: str) -> str:
    """Return a text with a capital first letter; the others are unchanged, unlike by `capitalize`.

    An empty text stays empty.
    """
    return text[:1].upper() + text[1:]


def plural(noun: str, number: float) -> str:
    """Return the noun in the singular for the number 1, else its regular plural (`y` as `ies`)."""
    if number == 1:
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def quantity(number: int, noun: str, verbs: str = "") -> str:
    """Return a number with its noun, and the verb that agrees with it.

    Args:
        number: the number.
        noun: the noun in the singular.
        verbs: the verb in the singular and the plural, as `is|are`; empty for none.

    Example:
        >>> quantity(1200, "item"), quantity(1, "item", "has|have")
        ('1,200 items', '1 item has')
    """
    number_and_noun = f"{number:,} {plural(noun, number)}"
    if not verbs:
        return number_and_noun
    singular, plural_ = verbs.split("|")
    return f"{number_and_noun} {word_for(number, singular, plural_)}"


def group_noun(column: str) -> str:
    """Return what a group of items is called in texts: the name of its column without `_id`.

    >>> group_noun("passage_id")
    'passage'
    """
    return re.sub(r"(?i)[_ ]?ids?$", "", column) or column


def number_word(number: int) -> str:
    """Spell a number from 0 to 12, and write a larger one in digits.

    0 is `no`; larger numbers have commas, such as `1,200`.
    """
    return NUMBER_WORDS[number] if number < len(NUMBER_WORDS) else f"{number:,}"


def word_for(number: int, singular: str, plural_form: str) -> str:
    """Return one of two words by a number, for example `is` for 1 and `are` otherwise."""
    return singular if number == 1 else plural_form


def some(names: Sequence[object], separator: str = ", ", most: int = 20) -> str:
    """Join the first names, and add the number of the others, such as `a, b, and 3 more`.

    Args:
        names: the names, as objects that `str` writes; there may be none.
        separator: stands between the parts, also before `and 3 more`.
        most: largest number of names that are written.
    """
    rest = [f"and {len(names) - most} more"] if len(names) > most else []
    return separator.join([*map(str, names[:most]), *rest])


def some_paths(paths: Sequence[object]) -> str:
    """Join the first three paths, and add the number of the others (`and 11 more`)."""
    return some(paths, most=MOST_PATHS)


def join_names(names: Sequence[str], word: str = "and") -> str:
    """Join names for a sentence, such as `a, b and c`.

    Of more than five names, four are named, and the others counted. There must be at least one
    name.

    Args:
        names: the names.
        word: the word before the last name.
            Of more than five names, `and` stands before the number of the others instead.
    """
    if len(names) > MOST_NAMES:
        return some(names, most=MOST_NAMES - 1)
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def join_item_names(names: Sequence[str], *, are_rows: bool, noun: str = "item") -> str:
    """Join names of items for a sentence, for example `item a` or `items a and b`.

    Args:
        names: the names.
        are_rows: whether the names already say that they are rows; then no noun is added.
        noun: what is named, in the singular: an item or a group of items.
    """
    joined = join_names(names)
    return joined if are_rows else f"{plural(noun, len(names))} {joined}"


def item_option(column: str | None) -> str:
    """Return the value of `--columns` that names a column as the item, quoted for a shell.

    If no column looks like the item (`column` is None), the value has the placeholder `COLUMN`.
    """
    return shlex.quote(f"item={column or 'COLUMN'}")


def shared_length(first: str, second: str) -> int:
    """Return the number of characters with which both texts begin."""
    shared_characters = 0
    different = min(len(first), len(second)) + 1
    while different - shared_characters > 1:
        middle = (shared_characters + different) // 2
        if first[shared_characters:middle] == second[shared_characters:middle]:
            shared_characters = middle
        else:
            different = middle
    return shared_characters
