"""podium list: the rankers, scorers, tournaments, formats and hosts that are installed."""

import sys
from collections.abc import Mapping, Sequence
from inspect import Parameter
from typing import Any

import click

from podium.printable import printable

KINDS = ("rankers", "scorers", "tournaments", "formats", "hosts")


@click.command("list", short_help="List rankers, scorers, tournaments, formats and hosts.")
@click.argument("kind", required=False, type=click.Choice(KINDS))
def list_(kind: str | None) -> None:
    """List rankers (with their options), scorers, tournaments or formats with their packages, or
    all in short.

    `hosts` shows which hosts are installed, and whether `podium enable` was run in this
    environment.
    """
    for name in KINDS if kind is None else [kind]:
        if name == "hosts":
            click.echo(f"hosts: {_state_of_enabling()}")
            _print_rows(_hosts())
        else:
            _print_extensions(name, with_options=kind is not None)


def _print_extensions(name: str, *, with_options: bool) -> None:
    """Print the extensions of one kind; rankers and tournaments with their options if asked for."""
    from podium.plugins import catalogue
    from podium.plugins.settings import options_of

    kinds = {f"{noun}s": kind for kind, noun in catalogue.KINDS.items()}
    known: Mapping[str, catalogue.Registration[Any]] = catalogue.extensions_of(kinds[name])
    click.echo(f"{name}:" if known else f"{name}: none yet")
    find = {"rankers": catalogue.ranker_function, "tournaments": catalogue.tournament_rule}
    details = []
    if with_options and name in find:
        details = [_settings_text(options_of(find[name](own))) for own in known]
    rows = [(own, added.extension.summary, added.origin) for own, added in known.items()]
    _print_rows(rows, details)


def _print_rows(rows: Sequence[Sequence[str]], details: Sequence[str] = ()) -> None:
    """Print rows in aligned columns, each followed by its line of details, if there are any."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(printable("  " + "  ".join(cells).rstrip()))
        if details:
            click.echo(f"      {details[number]}")


def _settings_text(options: Mapping[str, Parameter]) -> str:
    """Return options with their defaults as they are typed; `...` for a default that is empty."""
    shown = []
    for key, option in options.items():
        default = "..." if option.default in (None, ()) else option.default
        shown.append(f"{key}={default}")
    return f"--set {' '.join(shown)}"


def _hosts() -> list[tuple[str, ...]]:
    """Return a table row per host: installed version, and whether `--ranker` is enabled."""
    from importlib.metadata import PackageNotFoundError, version

    rows: list[tuple[str, ...]] = []
    for command, package in (("inspect", "inspect-ai"), ("lm_eval", "lm-eval")):
        try:
            rows.append((command, f"{package} {version(package)}"))
        except PackageNotFoundError:
            rows.append((command, f"{package} is not installed"))
    return rows


def _state_of_enabling() -> str:
    """Return whether the bare commands take `--ranker`, and the command that changes it."""
    from podium.cli.enable import startup_file, startup_lines

    path = startup_file()
    state = f"on in {sys.prefix} (podium disable turns it off)"
    if not path.exists():
        state = f"off in {sys.prefix} (podium enable turns it on)"
    elif path.read_text(encoding="ascii", errors="replace") != startup_lines():
        state = f"on, by another podium: {path} (podium enable brings it up to date)"
    return f"--ranker on the bare commands is {state}"
