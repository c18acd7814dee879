"""What a page carries: data as JSON that no text can end, charts without their rows, scripts by their hashes."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from podium.pictures.style import load_extra
from podium.report.html import stylesheet
from podium.text import plain


def json_in_page(document: Any) -> str:
    """Write a document as JSON for a script element: `<` is escaped, so that nothing in it ends the element."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=plain)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def as_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return rows as columns; of texts each stands once, and the column holds codes.

    >>> as_columns([{"model": "wren", "rank": 1}, {"model": "wren", "rank": 2}])
    {'model': {'names': ['wren'], 'codes': [0, 0]}, 'rank': [1, 2]}
    """
    columns: dict[str, Any] = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        if any(isinstance(value, str) for value in values):
            names = list(dict.fromkeys(values))
            codes = {value: k for k, value in enumerate(names)}
            columns[name] = {"names": names, "codes": [codes[value] for value in values]}
        else:
            columns[name] = values
    return columns


def chart_in_page(chart: Any) -> dict[str, Any]:
    """Return a chart as a page carries it: a specification as wide as its column, rows as columns."""
    specification = chart.to_dict(validate=False)
    for name in ("config", "$schema", "width"):
        specification.pop(name, None)
    specification |= {"autosize": {"type": "fit-x", "contains": "padding"}}
    return dict(_with_columns(specification))


def _with_columns(part: Any) -> Any:
    if isinstance(part, Mapping):
        values = part.get("values") if len(part) == 1 else None
        if isinstance(values, list) and values and isinstance(values[0], Mapping):
            return {"columns": as_columns(values)}
        return {name: _with_columns(value) for name, value in part.items()}
    return [_with_columns(value) for value in part] if isinstance(part, list) else part


@cache
def charting_library() -> str:
    """Return vega, vega-lite and vega-embed as one script, from vl-convert's own copy.

    Raises:
        UsageError: vl-convert is not installed.
    """
    return str(load_extra("vl_convert").javascript_bundle()).replace("</script", "<\\/script")


def own_file(name: str) -> str:
    """Return a template, style or script of this room."""
    return files("podium.page").joinpath(name).read_text(encoding="utf-8")


def policy(scripts: Sequence[str]) -> str:
    """Return the content security policy of a page: these scripts run and no others, and no request is made."""
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def fill_template(template: str, scripts: Sequence[str], data: Any, **context: Any) -> str:
    """Fill in a template of this room, with its styles; what is no `Markup` is escaped.

    Args:
        scripts: that may run.
        data: for them.

    Raises:
        UsageError: jinja2 is not installed.
    """
    jinja = load_extra("jinja2")
    environment = jinja.Environment(
        autoescape=True, undefined=jinja.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.loader = jinja.FunctionLoader(own_file)
    markup = load_extra("markupsafe").Markup
    context |= {"styles": markup(stylesheet() + own_file("page.css")), "scripts": list(map(markup, scripts))}
    context |= {"policy": policy(scripts), "data": markup(json_in_page(data))}
    return str(environment.get_template(template).render(**context))
