"""Help in groups: what a command does first, the block of what to read the same everywhere."""

import click
import pytest
from click.testing import CliRunner

from podium.cli.main import podium
from podium.cli.options import GroupedCommand
from podium.errors import UsageError

COMMANDS = ("rank", "report", "diagnose", "plan", "calibrate", "replay", "label")


def groups_of(command: str) -> dict[str, list[str]]:
    """Return the options under each heading of a command's help."""
    groups: dict[str, list[str]] = {}
    heading = ""
    for line in CliRunner().invoke(podium, [command, "--help"]).output.splitlines():
        if line and not line.startswith(" "):
            heading = line.rstrip(":")
        elif line.startswith("  -"):
            groups.setdefault(heading, []).append(line.split()[0].rstrip(","))
    return groups


def test_the_common_options_of_rank_come_first() -> None:
    groups = groups_of("rank")
    assert list(groups) == ["How to rank", "What to show", "What to read"]
    assert groups["How to rank"][:3] == ["--ranker", "--by", "--set"]


@pytest.mark.parametrize("command", COMMANDS)
def test_what_to_read_begins_alike_in_every_command(command: str) -> None:
    assert groups_of(command)["What to read"][:5] == [
        "--from",
        "--where",
        "--human-judge",
        "--columns",
        "--credit-map",
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_stands_in_one_group(command: str) -> None:
    shown = [flag for flags in groups_of(command).values() for flag in flags]
    options = [
        param for param in podium.commands[command].params if param.param_type_name == "option"
    ]
    assert len(shown) == len(set(shown)) == len(options) + 1


@pytest.mark.parametrize("typed", [["--old"], ["--old", "3"], ["--old=3"]])
def test_a_removed_option_names_what_replaces_it(typed: list[str]) -> None:
    @click.command(cls=GroupedCommand, removed={"--old": "use --new"})
    @click.option("--new")
    def command(new: str) -> None:
        click.echo(new)

    error = CliRunner().invoke(command, typed).exception
    assert isinstance(error, UsageError)
    assert str(error) == "--old was removed: use --new"
    assert CliRunner().invoke(command, ["--other"]).exit_code == 2
