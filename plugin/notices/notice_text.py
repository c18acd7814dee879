"""Write the text of a warning from the catalogue, and warnings as JSON."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from string import Formatter
from typing import Any

from podium.notices.catalogue_of_notices import REMEDIES, TEMPLATES
from podium.notices.notice import Notice
from podium.notices.option_forms import option_text
from podium.wording import plural, some

LIST = re.compile(r"(?:most (\d+))?(;?)(?: (.*))?", re.DOTALL)
"""Matches the format of a list or a mapping, for example `most 5; # (@)`.

Its three groups, which may all be empty:
1. the number of elements that are shown at most;
2. `;` if semicolons separate the elements, not commas;
3. the text of one element. In it, `#` stands for the element (in a mapping, for the key), and `@`
   for the value of a mapping.
"""
KEY_OR_VALUE = re.compile("[#@]")
"""Matches the signs for key and value in the text of one element."""
KINDS = frozenset({"option", "setting", "argument"})
"""Field names in a template that stand for an option. Their format is `NAME` or `NAME=VALUE`."""


def notice_text(notice: Notice) -> str:
    """Return the text of a warning, with options written as the user types them.

    The text is written from the template of the notice or, if that is empty, from the catalogue's.

    Raises:
        KeyError: the catalogue has no such code, or the template names an unknown field.
    """
    template = notice.template or TEMPLATES[notice.code]
    return _NoticeFormatter(notice.fields).format(template)


def notice_texts(notices: Iterable[Notice]) -> tuple[str, ...]:
    """Return the text of each warning, in the same order."""
    return tuple(map(notice_text, notices))


def remedies_text(codes: Sequence[str], fields: Mapping[str, Any]) -> str:
    """Return the texts in `REMEDIES` of some codes, joined by semicolons.

    Options are written as the user types them.

    Args:
        codes: the codes.
        fields: fields that the texts name, such as `errors`.

    Raises:
        KeyError: a code is unknown, or a text names a field that is not given.
    """
    return str(_NoticeFormatter(fields).format_field(codes, "do"))


def notices_to_json(notices: Iterable[Notice]) -> list[dict[str, Any]]:
    """Return each warning as a dictionary with the keys `code`, `fields` and `text`.

    A field that is infinite or NaN becomes None; numbers in lists stay as they are.
    """
    rows = []
    for notice in notices:
        fields = {name: _json_value(value) for name, value in notice.fields.items()}
        rows.append({"code": notice.code, "fields": fields, "text": notice_text(notice)})
    return rows


def _json_value(value: Any) -> Any:
    """Return None for a number that is not finite, and other values, also lists, as they are."""
    return None if isinstance(value, float) and not isfinite(value) else value


def notice_from_json(code: str, fields: Mapping[str, Any], text: str) -> Notice:
    """Build the warning that JSON describes.

    The warning keeps the text that was written when it was saved, whatever the catalogue says now.
    For the codes in `NOTES` its severity is `note`.
    """
    template = text.replace("{", "{{").replace("}", "}}")
    return Notice(code, fields, template=template)


class _NoticeFormatter(Formatter):
    """`str.format` with formats for the values of notices.

    - A list or a mapping is joined with commas, up to 20 elements. `LIST` matches its formats.
    - `noun NOUN` gives the noun in singular or plural.
    - `one A|B` gives A for the number 1, and B for other numbers.
    - `len` gives the length of a list.
    - `?TEXT` gives the text with the value in place of `#`; nothing if the value is empty.
    - `do` gives the texts in `REMEDIES` of a list of codes.
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = fields

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:  # noqa: ARG002
        """Return the value of a field and its name, as `Formatter` asks for.

        For a name in `KINDS` the value is an `_OptionKind`.

        Raises:
            KeyError: the notice has no such field.
        """
        if field_name in KINDS:
            own = self.fields.get(field_name)
            return _OptionKind(field_name, own), field_name
        return self.fields[field_name], field_name

    def format_field(self, value: Any, format_spec: str) -> Any:
        """Format a value by a specification that the docstring of the class lists.

        Other specifications are those of Python, for example `.1%`.
        """
        if isinstance(value, _OptionKind):
            if not format_spec:
                return str(value.own)  # the option as a check has written it
            name, _, option_value = format_spec.partition("=")
            return option_text(name, option_value, value.kind)
        if format_spec.startswith("?"):
            text = format_spec.removeprefix("?")
            return text.replace("#", _value_text(value)) if value else ""
        keyword, _, words = format_spec.partition(" ")
        if keyword == "do":
            return "; ".join(self.format(REMEDIES[code]) for code in value)
        if keyword == "noun":
            return plural(words, _amount_of(value))
        if keyword == "one":
            if_one, if_other = words.split("|")
            return if_one if _amount_of(value) == 1 else if_other
        if keyword == "len":
            return f"{len(value):,}"
        if isinstance(value, list | tuple | Mapping):
            return _list_text(value, format_spec)
        return super().format_field(value, format_spec)


class _OptionKind:
    """Stands for the value of a field of `KINDS`, until `format_field` writes the option.

    Attributes:
        kind: name of the field.
        own: value of a field of the notice with this name, which is written if the template has no
            specification; None if there is none.
    """

    def __init__(self, kind: Any, own: Any) -> None:
        self.kind = kind
        self.own = own


def _amount_of(value: Any) -> float:
    """Return a number as it is, and the number of elements of a list or mapping."""
    return value if isinstance(value, int | float) else len(value)


def _value_text(value: Any) -> str:
    """Return the text of a value that stands in an element or after `?`.

    Whole numbers get commas between thousands. Of a list, at most three elements are shown.
    """
    if isinstance(value, int):
        return f"{value:,}"
    return some(value, most=3) if isinstance(value, list | tuple) else str(value)


def _list_text(value: Sequence[Any] | Mapping[str, Any], spec: str) -> str:
    """Join the elements of a list or a mapping by a format that `LIST` matches.

    By default, at most 20 elements are shown, separated by commas; of a mapping, only the keys.
    """
    most, semicolon, template = LIST.fullmatch(spec).groups()  # type: ignore[union-attr]
    if isinstance(value, Mapping):
        elements = [*value.items()]
    else:
        elements = [(element, None) for element in value]
    texts = [_element_text(template or "#", *element) for element in elements]
    separator = "; " if semicolon else ", "
    return some(texts, separator, most=int(most or 20))


def _element_text(template: str, key: Any, value: Any) -> str:
    """Fill in the text of one element.

    In the template, `#` stands for the key of a mapping or the element of a list, and `@` for the
    value of a mapping.
    """
    parts = {"#": _value_text(key), "@": _value_text(value)}
    return KEY_OR_VALUE.sub(lambda sign: parts[sign[0]], template)
