"""Embed data, charts and scripts in a page.

Data are compact, and only scripts whose hash the page names can run.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from podium.show.pictures.style import load_extra
from podium.show.report.html import stylesheet
from podium.storage.kept_texts import kept_text
from podium.text import to_plain_values

POLICY = "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
"""The rest of the Content-Security-Policy header, after the scripts that may run."""
JSON_OPTIONS = {
    "ensure_ascii": False,
    "allow_nan": False,
    "separators": (",", ":"),
    "default": to_plain_values,
}
"""Arguments of `json.dumps` for the data of a page. The template escapes markup in them."""


def pack_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the values of rows by column name.

    A column in which any value is a text becomes a dictionary: `names` has its distinct values,
    and `codes` the index of each row's value in `names`. Other columns become lists of values.

    Args:
        rows: rows with the same keys. Without rows, the result is empty.
    """
    columns: dict[str, Any] = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        columns[name] = values
        if any(isinstance(value, str) for value in values):
            codes = {value: k for k, value in enumerate(dict.fromkeys(values))}
            columns[name] = {"names": list(codes), "codes": [codes[value] for value in values]}
    return columns


def chart_in_page(chart: Any) -> dict[str, Any]:
    """Return a chart's Vega-Lite specification for a page.

    The chart takes the width of its container, and `pack_columns` packs its data.

    Returns:
        The specification as a dictionary; the style is left to the page.
    """
    specification = chart.to_dict(validate=False)
    for name in ("config", "$schema", "width"):
        specification.pop(name, None)
    datasets = {name: pack_columns(rows) for name, rows in specification["datasets"].items()}
    return {
        **specification,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "datasets": datasets,
    }


@cache
def charting_library() -> str:
    """Return vega, vega-lite and vega-embed as one script, from vl-convert's copy.

    vl-convert takes more than a second to bundle it, so that it is kept on disk.

    Raises:
        UsageError: vl-convert is not installed.
    """
    bundler = load_extra("vl_convert")
    script = kept_text(f"charts-{bundler.__version__}.js", bundler.javascript_bundle)
    return script.replace("</script", "<\\/script")


def read_asset(name: str) -> str:
    """Read a template, style or script of this package as text.

    Args:
        name: name of the file, such as `page.css`.
    """
    return files("podium.show.page").joinpath(name).read_text(encoding="utf-8")


def render_page(kind: str, scripts: Sequence[str], data: Any, **context: Any) -> str:
    """Render the page of a kind.

    Args:
        kind: name of the template, without `.html`.
        scripts: texts of the scripts. The page allows no other scripts and no requests.
        data: values for the scripts, which are embedded as JSON.
        context: further values for the template, such as title, heading and answer. The template
            needs all values that it names.

    Returns:
        The page as an HTML document.

    Raises:
        UsageError: jinja2 is not installed.
    """
    jinja = load_extra("jinja2")
    digests = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts
    )
    allowed_scripts = " ".join(f"'sha256-{digest}'" for digest in digests)
    environment = jinja.Environment(
        loader=jinja.FunctionLoader(read_asset),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = JSON_OPTIONS
    page = environment.get_template(f"{kind}.html").render(
        **context,
        kind=kind,
        content_security_policy=f"default-src 'none'; script-src {allowed_scripts}; {POLICY}",
        styles=stylesheet() + read_asset("page.css"),
        scripts=scripts,
        data=data,
    )
    return str(page)
