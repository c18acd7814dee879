"""Say which names of models count as one, because the user joins names that look the same."""

from collections.abc import Iterable

from podium.names import escaped_name, names_alike
from podium.notices.notice import Notice


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
