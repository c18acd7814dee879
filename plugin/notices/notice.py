"""The record of a warning: a code and figures.

`podium.notices.notice_text` writes its text when it is shown.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from podium.errors import DataError
from podium.notices.catalogue_of_notices import NOTES

Severity = Literal["note", "warning"]
"""`note`: says what was done with the data. `warning`: results may be wrong."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning or a note about data or a result. JSON lists both as warnings.

    Notices with the same code, fields and severity are equal.

    Attributes:
        code: what was found, for example `few-labels`. `podium.notices.catalogue_of_notices` has
            the text of each of podium's codes.
        fields: the figures and names in the text, by name: numbers, texts, lists of them, or
            mappings from a name to one of these.
        severity: `warning`, or `note` if results are right. For podium's own codes, the catalogue
            sets it.
        template: the text of a plug-in's warning, in the format of the catalogue; empty for
            podium's own codes.
    """

    code: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    severity: Severity = "warning"
    template: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Set the severity of the codes in `NOTES` to `note`."""
        if self.code in NOTES:
            object.__setattr__(self, "severity", "note")

    def __hash__(self) -> int:
        return hash(self.code)

    def map_texts(self, change: Callable[[str], str]) -> "Notice":
        """Return the notice with a function applied to every text in its fields.

        Keys of mappings are changed, too, but not the names of fields and not the template. Hosts
        use it to replace the path of a temporary copy by the place that the user knows.
        """
        fields = {name: _map_value(value, change) for name, value in self.fields.items()}
        return replace(self, fields=fields)


def select_codes(notices: Iterable[Notice], codes: Iterable[str]) -> tuple[Notice, ...]:
    """Return the notices whose code is one of `codes`, in their order."""
    wanted = frozenset(codes)
    return tuple(notice for notice in notices if notice.code in wanted)


def note_of_error(error: DataError, path: Path | None = None) -> Notice:
    """Return the note on a file that is left out because of an error, which names the file.

    Args:
        error: the error.
        path: the file, if JSON shows it as a field of its own.

    Returns:
        A notice with the code `left-out`.
    """
    place = {} if path is None else {"path": str(path)}
    return Notice("left-out", {**place, "why": error.placed_problem, "remedy": error.remedy})


def split_remedies(notices: Iterable[Notice]) -> tuple[list[Notice], list[str]]:
    """Return notices without their remedies, and the remedies of all.

    The remedies are in the order of the notices, each once. A notice without a remedy is returned
    as it is. A message that is put together from several notices so has each remedy once.
    """
    bare = []
    remedies: dict[str, None] = {}
    for notice in notices:
        if notice.fields.get("remedy"):
            remedies[notice.fields["remedy"]] = None
            notice = replace(notice, fields={**notice.fields, "remedy": ""})
        bare.append(notice)
    return bare, [*remedies]


def _map_value(value: Any, change: Callable[[str], str]) -> Any:
    """Apply a function to a text, or to the texts in a list or a mapping, keys included.

    Tuples become lists. Other values are returned as they are.
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return [_map_value(part, change) for part in value]
    if isinstance(value, Mapping):
        return {change(key): _map_value(part, change) for key, part in value.items()}
    return value
