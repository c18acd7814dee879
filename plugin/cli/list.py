"""podium list: the rankers, scorers, tournaments, formats and hosts that are installed."""

import sys
from typing import Any

import click

KINDS = ("rankers", "scorers", "tournaments", "formats", "hosts")


@click.command("list", short_help="List rankers, scorers, tournaments, formats and hosts.")
@click.argument("kind", required=False, type=click.Choice(KINDS))
def list_(kind: str | None) -> None:
    """List rankers (with their options), scorers, tournaments or formats with their packages, or
    all in short.

    `hosts` shows which hosts are installed, and whether `podium enable` was run in this
    environment.
    """
    from podium.plugins import catalogue
    from podium.plugins.settings import options_of
    from podium.printable import printable

    known: dict[str, dict[str, Any]] = {
        f"{noun}s": catalogue.extensions_of(of) for of, noun in catalogue.KINDS.items()
    }
    for name in [kind] if kind else KINDS:
        rows = _hosts() if name == "hosts" else []
        rows += [
            (own, added.extension.summary, added.origin)
            for own, added in known.get(name, {}).items()
        ]
        click.echo(
            f"hosts: {_state_of_enabling()}"
            if name == "hosts"
            else f"{name}:"
            if rows
            else f"{name}: none yet"
        )
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            click.echo(printable("  " + "  ".join(cells).rstrip()))
            if kind in ("rankers", "tournaments"):
                find = catalogue.ranker_function if kind == "rankers" else catalogue.tournament_rule
                usual = {key: option.default for key, option in options_of(find(row[0])).items()}
                shown = (
                    f"{key}={'...' if default in (None, ()) else default}"
                    for key, default in usual.items()
                )
                click.echo(f"      --set {' '.join(shown)}")


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
    from podium.cli.enable import startup_file, startup_lines

    path = startup_file()
    state = f"on in {sys.prefix} (podium disable turns it off)"
    if not path.exists():
        state = f"off in {sys.prefix} (podium enable turns it on)"
    elif path.read_text(encoding="ascii", errors="replace") != startup_lines():
        state = f"on, by another podium: {path} (podium enable brings it up to date)"
    return f"--ranker on the bare commands is {state}"
