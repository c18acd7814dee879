"""podium list: what is plugged in, and where it comes from."""

from typing import Any

import click

KINDS = ("rankers", "scorers", "tournaments", "formats")


@click.command("list", short_help="Show what is plugged in, and the package each comes from.")
@click.argument("kind", required=False, type=click.Choice(KINDS))
def list_(kind: str | None) -> None:
    """Show what is plugged in: rankers (with their options), scorers, tournaments, formats, or all in short."""
    from podium import plugins

    known: dict[str, dict[str, Any]] = {f"{noun}s": plugins.registered(of) for of, noun in plugins.KINDS.items()}
    for name in [kind] if kind else KINDS:
        rows = _rows(known.get(name, {}))
        click.echo(f"{name}:" if rows else f"{name}: none yet")
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            click.echo("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
            if kind in ("rankers", "tournaments"):
                click.echo(f"      --set {_options(kind, row[0])}")


def _options(kind: str, name: str) -> str:
    """Return the options of a ranker or a tournament as they are typed, with their defaults."""
    from podium import plugins
    from podium.options import options_of

    options = options_of(plugins.ranker_function(name) if kind == "rankers" else plugins.tournament_rule(name))
    return " ".join(f"{key}={'...' if one.default in (None, ()) else one.default}" for key, one in options.items())


def _rows(registered: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(name, one.extension.summary, one.origin) for name, one in registered.items()]
