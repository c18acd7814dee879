"""The wheel holds what the folders hold: packages and data are listed by hand in pyproject.toml."""

import os
import resource
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml
from places import ROOT, copy_repository, repository_files

import podium

ROOMS = {"plugin": "podium", "rankers": "podium/rankers", "scorers": "podium/scorers"}


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build sdist and wheel from a copy, so that nothing is written into the repository; return
    their folder."""
    pytest.importorskip("build")
    source, output = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    copy_repository(source)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", output, source]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return output


@pytest.fixture(scope="session")
def content(distributions: Path) -> set[str]:
    """Return the names in the wheel."""
    with ZipFile(next(distributions.glob("*.whl"))) as wheel:
        return set(wheel.namelist())


def pip_install(*words: object, python: str | Path = sys.executable) -> None:
    """Install packages; skip the test where there is no network."""
    command = [
        python,
        "-m",
        "pip",
        "install",
        "-q",
        "--timeout",
        "15",
        "--retries",
        "0",
        *map(str, words),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"pip cannot install: {done.stderr[-300:]}")


def in_package(name: Path) -> str:
    """Return where a file of a room belongs in the wheel."""
    room, *rest = name.parts
    return "/".join([ROOMS[room], *rest])


def test_every_folder_of_modules_is_a_package_of_the_project() -> None:
    """A folder that is missing in `packages` is missing in an installed podium."""
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {
        in_package(name.parent).replace("/", ".")
        for name in repository_files()
        if name.parts[0] in ROOMS and name.name == "__init__.py"
    }
    assert len(folders) > 20
    assert folders == set(setuptools["packages"]) == set(setuptools["package-dir"])


@pytest.mark.slow
def test_every_module_of_the_rooms_is_in_the_wheel(content: set[str]) -> None:
    modules = {
        in_package(name)
        for name in repository_files()
        if name.parts[0] in ROOMS and name.suffix == ".py"
    }
    assert (len(modules) > 30, sorted(modules - content)) == (True, [])


@pytest.mark.slow
def test_every_data_file_of_the_rooms_is_in_the_wheel(content: set[str]) -> None:
    data = {
        in_package(name)
        for name in repository_files()
        if name.parts[0] in ROOMS and name.suffix != ".py"
    }
    assert ("podium/py.typed" in data, sorted(data - content)) == (True, [])


@pytest.mark.slow
def test_the_wheel_holds_nothing_but_the_rooms(content: set[str]) -> None:
    rooms = {in_package(name) for name in repository_files() if name.parts[0] in ROOMS}
    assert sorted(name for name in content - rooms if ".dist-info/" not in name) == []


@pytest.mark.slow
def test_the_wheel_brings_the_command_and_the_licence(content: set[str]) -> None:
    ends = ("entry_points.txt", "licenses/LICENSE")
    assert [end for end in ends if not any(name.endswith(end) for name in content)] == []


def test_the_citation_has_the_version_and_the_licence_of_the_package() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert podium.__version__ == project["version"]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_sdist_and_wheel_pass_the_checks_of_twine_and_check_wheel_contents(
    distributions: Path, tmp_path: Path
) -> None:
    pip_install("--target", tmp_path, "twine", "check-wheel-contents")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    sdist, wheel = next(distributions.glob("*.tar.gz")), next(distributions.glob("*.whl"))
    for words in (["twine", "check", "--strict", sdist, wheel], ["check_wheel_contents", wheel]):
        command = [sys.executable, "-m", *map(str, words)]
        checked = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.slow
def test_a_clean_environment_installs_the_wheel_and_ranks_within_a_minute_without_a_host(
    distributions: Path, tmp_path: Path
) -> None:
    """Seconds of CPU, so that what else the machine does makes no difference; about 22 were
    measured."""
    python = tmp_path / "bin" / "python"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True)
    pip_install(next(distributions.glob("*.whl")), python=python)
    table = ROOT / "examples" / "simulated" / "battles.csv"
    done = subprocess.run(
        [python, "-m", "podium", "rank", table], capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "amber, birch and cedar lead" in done.stdout
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime <= 60
    listed = subprocess.run(
        [python, "-m", "pip", "list"], capture_output=True, text=True, check=True
    ).stdout
    assert not {"inspect-ai", "inspect_ai", "lm-eval", "lm_eval"} & {*listed.split()}
