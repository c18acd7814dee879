"""A tournament of another package: listed, replayed, and named when it is broken."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from podium import hookspecs
from podium.data.pairings import Field, Pairing
from podium.hookspecs import Tournament
from podium.plugins import catalogue
from podium.plugins.settings import options_of

ROOT = Path(__file__).parents[2]
BATTLES = ROOT / "examples" / "simulated" / "battles.csv"
CODE = '''
from dataclasses import dataclass

from podium import Tournament, hookimpl
from podium.data.pairings import pairing
from podium.tournaments.schedule import schedule_pairings


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Models that follow one another by name meet on every item."""

    step: int = 1

    def next(self, field, played):
        names = field.models
        pairs = [(one, other) for one, other in zip(names, names[self.step :])]
        pairings = [pairing(item, *pair) for item in field.items for pair in pairs]
        return schedule_pairings(field, pairings, played)

    def size(self, field):
        return len(self.next(field, ()).pairings)


@hookimpl
def podium_tournaments():
    return [Tournament("neighbours", RULE, "by name")]
'''


def install(folder: Path, rule: str = "Neighbours") -> None:
    """Write a package with one module and one entry point, as an installer would leave it."""
    (folder / "neighbourly.py").write_text(CODE.replace("RULE", rule), encoding="utf-8")
    about = folder / "neighbourly-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: neighbourly\nVersion: 1.2\n", encoding="utf-8"
    )
    (about / "entry_points.txt").write_text("[podium]\nmain = neighbourly\n", encoding="utf-8")


def run(packages: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run podium where the packages of a folder are installed too."""
    environment = os.environ | {"PYTHONPATH": str(packages)}
    command = [sys.executable, "-m", "podium", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", env=environment, check=False
    )


@pytest.mark.slow
def test_plugin_tournament_is_listed_with_package_and_options(tmp_path: Path) -> None:
    install(tmp_path)
    lines = run(tmp_path, "list", "tournaments").stdout.splitlines()
    position = next(k for k, line in enumerate(lines) if line.split()[0] == "neighbours")
    assert lines[position].split("  ")[-1].strip() == "neighbourly 1.2 (main = neighbourly)"
    assert lines[position + 1].split() == ["--set", "step=1"]


@pytest.mark.slow
def test_plugin_tournament_is_replayed_with_its_options(tmp_path: Path) -> None:
    install(tmp_path)
    words = ("--tournament", "neighbours", "--set", "step=2", "--ranker", "win-rate")
    answer = run(tmp_path, "replay", BATTLES, *words)
    assert (
        "replay of neighbours: 160 battles asked for, 320 judge calls, 4 pairs of models, 1 round"
        in answer.stdout
    )


@pytest.mark.slow
def test_plugin_tournament_is_listed_beside_the_builtin_ones(tmp_path: Path) -> None:
    install(tmp_path)
    answer = run(
        tmp_path,
        "replay",
        BATTLES,
        "--tournament",
        "neighbours,chain",
        "--seeds",
        "2",
        "--format",
        "csv",
    )
    assert [line.split(",")[0] for line in answer.stdout.splitlines()] == [
        "tournament",
        "neighbours",
        "chain",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ("'neighbourly:Absent'", "tournament 'neighbours' cannot be imported"),
        ("lambda: {}", "tournament 'neighbours' must have next and size, got {}"),
        ("7", "tournament 'neighbours' is no function but 7"),
    ],
)
def test_a_broken_rule_is_an_error_that_names_plugin_and_tournament(
    tmp_path: Path, rule: str, complaint: str
) -> None:
    install(tmp_path, rule)
    answer = run(tmp_path, "replay", BATTLES, "--tournament", "neighbours")
    named = [
        text in answer.stderr for text in ("plugin neighbourly 1.2 (main = neighbourly)", complaint)
    ]
    assert (answer.returncode, named) == (2, [True, True])


@pytest.mark.parametrize("name", catalogue.extensions_of(Tournament))
def test_every_option_of_podiums_own_has_a_default_and_is_in_the_docstring(name: str) -> None:
    rule = catalogue.tournament_rule(name)
    described = "\n".join(base.__doc__ or "" for base in rule.__mro__)
    for option, parameter in options_of(rule).items():
        assert parameter.default is not parameter.empty
        assert f"        {option}: " in described.replace("\n    ", "\n        ")


@pytest.mark.parametrize("name", catalogue.extensions_of(Tournament))
def test_builtin_tournaments_implement_the_protocol(name: str) -> None:
    settings = {"battles": (Pairing("q", "a", "b"),)} if name == "recorded" else {}
    rule = catalogue.extension(hookspecs.Tournament, name).load()(**settings)
    assert rule.next(Field(("a", "b"), ("q",), {}), ()).pairings


PLAY = """
import sys
from inspect_ai._cli.main import main
sys.argv = ["inspect", *sys.argv[1:]]
main()
"""


@pytest.mark.slow
def test_plugin_tournament_is_played_in_inspect_with_its_options(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    install(tmp_path)
    variables = {
        "PYTHONPATH": str(tmp_path),
        "INSPECT_LOG_DIR": str(tmp_path / "logs"),
        "INSPECT_DISPLAY": "plain",
    }

    def inspect(*options: str) -> subprocess.CompletedProcess[str]:
        words = (
            "-T",
            "name=neighbours",
            "-T",
            f"responses={ROOT / 'examples' / 'tournament'}",
            *options,
        )
        command = [sys.executable, "-c", PLAY, "eval", "podium/tournament", *words]
        command += ["--model-role", "judge=podium/offline", "--metadata", "ranker=win-rate"]
        environment = os.environ | variables
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            encoding="utf-8",
            env=environment,
            check=False,
        )

    done = inspect("-T", "step=2", "-T", "limit=5")
    assert (
        "podium neighbours: 6 models, 5 items; at most 20 battles (1 is a tie of identical "
        "responses, without a call), 38 calls per judge" in done.stderr
    )
    assert "20 battles: 19 judged, 1 tie of identical responses, 0 unparsed" in done.stderr
    assert len(list((tmp_path / "logs").glob("*.eval"))) == 1
    refused = inspect("-T", "stepp=2")
    assert "no option called 'stepp'; did you mean 'step'?" in refused.stdout + refused.stderr
