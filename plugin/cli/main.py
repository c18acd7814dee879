"""The command `podium`."""

import sys

import click

from podium import __version__
from podium.cli.convert import convert
from podium.cli.list import list_
from podium.cli.rank import rank
from podium.errors import PodiumError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="podium")
def podium() -> None:
    """Rank models from pairwise verdicts, with honest error bars.

    \b
    podium rank verdicts.csv --ranker bradley-terry
    podium rank results/ --ranker win-rate,bradley-terry --format json
    podium convert annotations.json -o battles.parquet

    Exit codes: 0 done; 1 the data do not support the answer; 2 wrong usage; 3 partly done.
    """


for command in (rank, convert, list_):
    podium.add_command(command)


def main() -> None:
    """Run the command line; podium's own errors become a message and an exit code."""
    try:
        podium(standalone_mode=False)
    except PodiumError as error:
        click.echo(f"podium: {error}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("podium: stopped", err=True)
        sys.exit(130)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
