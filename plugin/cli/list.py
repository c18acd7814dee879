"""podium list: the rankers, scorers, tournaments, formats and hosts that are installed."""

import sys
from collections.abc import Mapping, Sequence
from inspect import Parameter
from typing import Any

import click

from podium.printable import printable

KINDS = ("rankers", "scorers", "tournaments", "formats", "hosts")
"""What the command can list, in the order in which it lists all."""


@click.command("list", short_help="List rankers, scorers, tournaments, formats and hosts.")
@click.argument("kind", required=False, type=click.Choice(KINDS))
def list_(kind: str | None) -> None:
    """List rankers (with their options), scorers, tournaments or formats with their packages, or
    all in short.

    `hosts` shows which hosts are installed, and whether `podium enable` was run in this
    environment.
    \f

    Args:
        kind: one of `KINDS`; None lists all of them, without options.
    """
    names = KINDS if kind is None else (kind,)
    for name in names:
        if name == "hosts":
            click.echo(f"hosts: {_state_of_enabling()}")
            _print_rows(_hosts())
        else:
            _print_extensions(name, with_options=kind is not None)


def _print_extensions(name: str, *, with_options: bool) -> None:
    """Print the installed extensions of one kind: name, summary and package in a line each.

    A line with the kind precedes them, which ends with `none yet` if there are none.

    Args:
        name: a kind of plug-in in the plural: a noun of `catalogue.KINDS` with an `s`.
        with_options: print the options of each ranker or tournament below it; no effect on
            scorers and formats.
    """
    from podium.plugins import catalogue
    from podium.plugins.settings import options_of

    kinds = {f"{noun}s": kind for kind, noun in catalogue.KINDS.items()}
    extensions: Mapping[str, catalogue.Registration[Any]] = catalogue.extensions_of(kinds[name])
    click.echo(f"{name}:" if extensions else f"{name}: none yet")
    loaders = {"rankers": catalogue.ranker_function, "tournaments": catalogue.tournament_rule}
    details = []
    if with_options and name in loaders:
        load = loaders[name]
        details = [_settings_text(options_of(load(extension))) for extension in extensions]
    rows = [
        (extension, registration.extension.summary, registration.origin)
        for extension, registration in extensions.items()
    ]
    _print_rows(rows, details)


def _print_rows(rows: Sequence[Sequence[str]], details: Sequence[str] = ()) -> None:
    """Print rows in aligned columns.

    Args:
        rows: the cells of each row.
        details: a line to print below each row, in the order of the rows; empty for no lines.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(printable("  " + "  ".join(cells).rstrip()))
        if details:
            click.echo(f"      {details[number]}")


def _settings_text(options: Mapping[str, Parameter]) -> str:
    """Return options with their defaults as `--set KEY=DEFAULT KEY=DEFAULT`.

    A default that is None or an empty tuple is written `...`.
    """
    option_texts = []
    for key, option in options.items():
        default = "..." if option.default in (None, ()) else option.default
        option_texts.append(f"{key}={default}")
    return f"--set {' '.join(option_texts)}"


def _hosts() -> list[tuple[str, ...]]:
    """Return a row per host: its command, and its package with the installed version, or that it is
    not installed."""
    from importlib.metadata import PackageNotFoundError, version

    rows: list[tuple[str, ...]] = []
    for command, package in (("inspect", "inspect-ai"), ("lm_eval", "lm-eval")):
        try:
            rows.append((command, f"{package} {version(package)}"))
        except PackageNotFoundError:
            rows.append((command, f"{package} is not installed"))
    return rows


def _state_of_enabling() -> str:
    """Return a sentence: whether the bare commands take `--ranker`, and how that is changed.

    A startup file of another podium counts as on.
    """
    from podium.cli.enable import startup_file, startup_lines

    path = startup_file()
    state = f"on in {sys.prefix} (podium disable turns it off)"
    if not path.exists():
        state = f"off in {sys.prefix} (podium enable turns it on)"
    elif path.read_text(encoding="ascii", errors="replace") != startup_lines():
        state = f"on, by another podium: {path} (podium enable brings it up to date)"
    return f"--ranker on the bare commands is {state}"
