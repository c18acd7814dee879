"""Embed data, charts and scripts in a page safely: escaped JSON, columnar rows, script hashes."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from podium.pictures.style import load_extra
from podium.report.html import stylesheet
from podium.text import to_plain_values

POLICY = "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"


def json_in_page(document: Any) -> str:
    """Serialize a document as JSON for a script element, with `<` escaped."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=to_plain_values)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def pack_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Convert rows to columns; texts are stored once and referenced by code."""
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    for name, values in columns.items():
        if any(isinstance(value, str) for value in values):
            codes = {value: k for k, value in enumerate(dict.fromkeys(values))}
            columns[name] = {"names": list(codes), "codes": [codes[value] for value in values]}
    return columns


def chart_in_page(chart: Any) -> dict[str, Any]:
    """Return a chart's specification for embedding, at container width and with columnar data."""
    specification = chart.to_dict(validate=False)
    for name in ("config", "$schema", "width"):
        specification.pop(name, None)
    return dict(_with_columns(specification | {"autosize": {"type": "fit-x", "contains": "padding"}}))


def _with_columns(part: Any) -> Any:
    """Replace row data in a chart specification by columnar data, recursively."""
    if isinstance(part, list):
        return [_with_columns(value) for value in part]
    if not isinstance(part, Mapping):
        return part
    values = part.get("values") if len(part) == 1 else None
    if isinstance(values, list) and values and isinstance(values[0], Mapping):
        return {"columns": pack_columns(values)}
    return {name: _with_columns(value) for name, value in part.items()}


@cache
def charting_library() -> str:
    """Return vega, vega-lite and vega-embed as one script, from vl-convert's copy."""
    return str(load_extra("vl_convert").javascript_bundle()).replace("</script", "<\\/script")


def read_asset(name: str) -> str:
    """Read a template, style or script of this package."""
    return files("podium.page").joinpath(name).read_text(encoding="utf-8")


def render_page(template: str, scripts: Sequence[str], data: Any, **context: Any) -> str:
    """Render a template of this package with its styles and data; only its scripts may run, and no request is made."""
    jinja = load_extra("jinja2")
    environment = jinja.Environment(
        autoescape=True, undefined=jinja.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.loader = jinja.FunctionLoader(read_asset)
    markup = load_extra("markupsafe").Markup
    context |= {"styles": markup(stylesheet() + read_asset("page.css")), "scripts": list(map(markup, scripts))}
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    policy = f"default-src 'none'; script-src {allowed}; {POLICY}"
    context |= {"content_security_policy": policy, "data": markup(json_in_page(data))}
    return str(environment.get_template(template).render(**context))
