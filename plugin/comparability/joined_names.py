"""Say which names look the same: that they are an error, or count as one if the user joins them."""

from collections.abc import Iterable, Sequence

from podium.errors import DataError
from podium.names import escaped_name, names_alike
from podium.notices.notice import Notice
from podium.notices.option_forms import option_text


def note_names_joined(names: Iterable[str]) -> list[Notice]:
    """Return a note on the names that look the same and count as one; empty if there are none.

    Names of invisible characters alone are left out.

    Args:
        names: the names as they are spelled in the files.
    """
    groups = names_alike(names)
    names_as_shown = {
        visible_name: " and ".join(map(escaped_name, group))
        for visible_name, group in groups.items()
        if visible_name
    }
    return [Notice("names-joined", {"names": names_as_shown})] if names_as_shown else []


def alike_error(kind: str, alike: Sequence[str], places: Sequence[str] = ("", "")) -> DataError:
    """Return the error for two names that look the same.

    Args:
        kind: what has the names, in plural.
        alike: the names; the first two are shown, with escapes.
        places: where each of the two stands, shape (2,); an empty text if that is unknown.
    """
    shown = []
    for name, place in zip(alike, places, strict=False):
        name_in_message = escaped_name(name)
        shown.append(f"{name_in_message} ({place})" if place else name_in_message)
    differ = "differ only in Unicode form, invisible characters or blanks at the ends"
    remedy = (
        f"write the name in one way, or count them as one with {option_text('names', 'joined')}"
    )
    return DataError(f"the names of the {kind} {' and '.join(shown)} {differ}", remedy=remedy)
