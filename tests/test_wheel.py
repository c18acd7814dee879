"""The wheel holds what the folders hold: packages and data are listed by hand in pyproject.toml."""

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = {"plugin": "podium", "rankers": "podium/rankers", "scorers": "podium/scorers"}


def tracked() -> list[Path]:
    """Return the repository's files, relative to it: those that git knows, or all of the rooms in a plain copy."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = [Path(name) for name in listed.stdout.splitlines()]
    else:
        names = [path.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*")]
        names += [Path("pyproject.toml"), Path("README.md"), Path("LICENSE")]
    return [name for name in names if (ROOT / name).is_file() and "__pycache__" not in name.parts]


@pytest.fixture(scope="session")
def content(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Build the wheel from a copy, so that nothing is written into the repository; return the names in it."""
    source, output = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in tracked():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", output, source]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    with ZipFile(next(output.glob("*.whl"))) as wheel:
        return set(wheel.namelist())


def in_package(name: Path) -> str:
    """Return where a file of a room belongs in the wheel."""
    room, *rest = name.parts
    return "/".join([ROOMS[room], *rest])


@pytest.mark.slow
def test_every_module_of_the_rooms_is_in_the_wheel(content: set[str]) -> None:
    modules = {in_package(name) for name in tracked() if name.parts[0] in ROOMS and name.suffix == ".py"}
    assert (len(modules) > 30, sorted(modules - content)) == (True, [])


def test_every_data_file_of_the_rooms_is_in_the_wheel(content: set[str]) -> None:
    data = {in_package(name) for name in tracked() if name.parts[0] in ROOMS and name.suffix != ".py"}
    assert ("podium/py.typed" in data, sorted(data - content)) == (True, [])


def test_the_wheel_holds_nothing_but_the_rooms(content: set[str]) -> None:
    rooms = {in_package(name) for name in tracked() if name.parts[0] in ROOMS}
    assert sorted(name for name in content - rooms if ".dist-info/" not in name) == []


def test_the_wheel_brings_the_command_and_the_licence(content: set[str]) -> None:
    ends = ("entry_points.txt", "licenses/LICENSE")
    assert [end for end in ends if not any(name.endswith(end) for name in content)] == []
