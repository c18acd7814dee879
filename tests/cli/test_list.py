"""podium list, podium --help and python -m podium."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import click
import pytest

from podium import __version__
from podium.hookspecs import Format, Ranker, Scorer
from podium.plugins import catalogue

Podium = Callable[..., Any]


def test_every_ranker_is_listed_with_its_summary_and_origin(podium: Podium) -> None:
    lines = [
        line.split()
        for line in podium("list", "rankers").out.splitlines()[1:]
        if "--set" not in line
    ]
    known = catalogue.extensions_of(Ranker).items()
    expected = [
        [name, *each.extension.summary.split(), *each.origin.split()] for name, each in known
    ]
    assert lines == expected


def test_every_rankers_options_are_listed_as_they_are_typed(podium: Podium) -> None:
    lines = podium("list", "rankers").out.splitlines()
    median = next(k for k, line in enumerate(lines) if line.split()[0] == "median")
    assert lines[median + 1].split() == ["--set", "resamples=1000"]


def test_every_format_is_listed(podium: Podium) -> None:
    names = [line.split()[0] for line in podium("list", "formats").out.splitlines()[1:]]
    assert names == list(catalogue.extensions_of(Format))


def test_every_scorer_is_listed_with_its_summary_and_origin(podium: Podium) -> None:
    lines = [line.split() for line in podium("list", "scorers").out.splitlines()[1:]]
    known = catalogue.extensions_of(Scorer).items()
    expected = [
        [name, *each.extension.summary.split(), *each.origin.split()] for name, each in known
    ]
    assert lines == expected


def test_without_a_kind_all_are_listed(podium: Podium) -> None:
    heads = [
        line.split(":")[0] for line in podium("list").out.splitlines() if not line.startswith(" ")
    ]
    assert heads == ["rankers", "scorers", "tournaments", "formats", "hosts"]


def test_an_unknown_kind_exits_with_2_and_the_known_ones(podium: Podium) -> None:
    answer = podium("list", "rankrs")
    assert (answer.code, "'tournaments'" in answer.err) == (2, True)


def test_an_unknown_command_exits_with_2_and_the_nearest_one(podium: Podium) -> None:
    answer = podium("rnk")
    assert (answer.code, "'rank'" in answer.err) == (2, True)


def test_the_bare_command_shows_its_help(podium: Podium) -> None:
    answer = podium()
    assert (answer.code, "Commands:" in answer.err) == (2, True)


@pytest.mark.parametrize("command", [(), ("rank",), ("convert",), ("list",)])
def test_help_exits_with_0(podium: Podium, command: tuple[str, ...]) -> None:
    assert podium(*command, "--help").code == 0


@pytest.mark.parametrize("command", ["rank", "convert"])
def test_every_option_says_what_it_does(command: str) -> None:
    from podium.cli.main import podium as group

    options = [one for one in group.commands[command].params if isinstance(one, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.slow
def test_python_dash_m_podium_is_the_command() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "podium", "--version"], capture_output=True, text=True, check=True
    )
    assert __version__ in shown.stdout


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("words", [["--help"], ["rank", "--help"], ["list"]])
def test_help_and_list_import_neither_numpy_nor_pandas(words: list[str]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "podium", *words]
    reported = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    imported = {line.rsplit("|", 1)[-1].strip() for line in reported.splitlines()}
    assert ("click" in imported, imported & {"numpy", "pandas", "scipy", "pyarrow", "rich"}) == (
        True,
        set(),
    )
