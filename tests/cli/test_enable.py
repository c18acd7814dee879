"""podium enable, podium disable, and what podium list says of them; in a site-packages that no
Python reads."""

import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podium.cli import enable

Podium = Callable[..., Any]


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the environment empty site-packages; return the folder above."""
    (tmp_path / "own").mkdir()
    monkeypatch.setattr(
        sysconfig, "get_path", lambda name: str(tmp_path / {"purelib": "own"}[name])
    )
    return tmp_path


def written(places: Path) -> list[str]:
    """Return all files, by folder and name."""
    return sorted(
        str(one.relative_to(places).as_posix()) for one in places.rglob("*") if one.is_file()
    )


def test_enable_writes_one_file_and_disable_removes_it(podium: Podium, places: Path) -> None:
    first = podium("enable")
    assert (first.code, first.out, written(places)) == (0, "", [f"own/{enable.NAME}"])
    assert str(places / "own" / enable.NAME) in first.err
    second = podium("disable")
    assert (second.code, second.out, written(places)) == (0, "", [])
    assert str(places / "own" / enable.NAME) in second.err


def test_enable_twice_is_enable(podium: Podium, places: Path) -> None:
    podium("enable")
    before = (places / "own" / enable.NAME).read_bytes()
    assert podium("enable").code == 0
    assert (written(places), (places / "own" / enable.NAME).read_bytes()) == (
        [f"own/{enable.NAME}"],
        before,
    )


def test_disable_where_it_was_off_says_so(podium: Podium, places: Path) -> None:
    answer = podium("disable")
    assert (answer.code, written(places)) == (0, [])
    assert "was not enabled" in answer.err


def test_site_packages_that_cannot_be_written_are_rejected_with_a_remedy(
    podium: Podium, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder below a file cannot be written, not even by root."""
    (places / "file").write_text("")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(places / "file" / name))
    answer = podium("enable")
    assert (answer.code, written(places)) == (2, ["file"])
    assert str(places / "file") in answer.err
    assert "as the owner of that folder" in answer.err


def test_a_write_that_fails_leaves_nothing_and_what_was_there(
    podium: Podium, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (places / "own" / enable.NAME).write_text("# of another podium\n")
    monkeypatch.setattr("os.replace", full)
    answer = podium("enable")
    assert (answer.code, written(places)) == (2, [f"own/{enable.NAME}"])
    assert (places / "own" / enable.NAME).read_text() == "# of another podium\n"
    assert "No space left on device" in answer.err


def test_list_reports_whether_podium_is_enabled_and_in_which_environment(podium: Podium) -> None:
    def hosts_line() -> str:
        [line] = [line for line in podium("list").out.splitlines() if line.startswith("hosts:")]
        return str(line)

    before = hosts_line()
    assert f" is off in {sys.prefix} (podium enable " in before
    podium("enable")
    assert f" is on in {sys.prefix} (podium disable " in hosts_line()
    podium("disable")
    assert hosts_line() == before


def test_list_reports_that_another_installation_is_enabled(podium: Podium, places: Path) -> None:
    (places / "own" / enable.NAME).write_text("import sys\n")
    assert "is on, by another podium" in podium("list", "hosts").out


def test_list_reports_the_installed_hosts(podium: Podium, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    def version(package: str) -> str:
        if package == "lm-eval":
            raise metadata.PackageNotFoundError(package)
        return "9.9"

    monkeypatch.setattr(metadata, "version", version)
    rows = [line.split() for line in podium("list", "hosts").out.splitlines()[1:]]
    assert rows == [
        ["inspect", "inspect-ai", "9.9"],
        ["lm_eval", "lm-eval", "is", "not", "installed"],
    ]


def test_the_file_is_ascii_wherever_podium_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python reads it in the locale's encoding; a quote or a backslash in the path must not end the
    text either."""
    path = Path('/home/Zoë\'s "tools"\\new {x}/on_start.py')
    monkeypatch.setattr(enable, "ON_START_FILE", path)
    lines = enable.startup_lines()
    assert (lines.isascii(), len(lines.splitlines())) == (True, 2)
    asked: list[str] = []
    monkeypatch.setattr(sys, "orig_argv", ["python", "/bin/inspect"])
    monkeypatch.setattr(
        "importlib.machinery.SourceFileLoader", lambda _, found: asked.append(found)
    )
    exec(lines)
    assert asked == [str(path)]
