"""Texts that take long to make are kept in the user's cache folder."""

from pathlib import Path

import pytest

from podium.storage.kept_texts import kept_text


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder on every system."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))
    monkeypatch.setattr("sys.platform", "linux")
    return tmp_path / "cache" / "podium"


def fail() -> str:
    raise AssertionError("the text was made again")


def test_a_text_is_made_once_and_its_characters_are_kept(cache: Path) -> None:
    assert kept_text("a-1.js", lambda: "α\nβ") == "α\nβ"
    assert kept_text("a-1.js", fail) == "α\nβ"
    assert [path.name for path in cache.iterdir()] == ["a-1.js"]


def test_another_name_is_another_text(cache: Path) -> None:
    assert kept_text("a-1.js", lambda: "one") == "one"
    assert kept_text("a-2.js", lambda: "two") == "two"
    assert {path.name for path in cache.iterdir()} == {"a-1.js", "a-2.js"}


def test_without_a_folder_that_can_be_written_the_text_is_made_each_time(cache: Path) -> None:
    cache.parent.write_text("a file where the folder should be")
    assert kept_text("a-1.js", lambda: "one") == "one"
    assert kept_text("a-1.js", lambda: "again") == "again"


def test_without_a_home_the_text_is_made_each_time(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    assert kept_text("a-1.js", lambda: "one") == "one"
    assert not cache.exists()


def test_a_damaged_file_is_replaced(cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "a-1.js").write_bytes(b"\xff")
    assert kept_text("a-1.js", lambda: "one") == "one"
    assert kept_text("a-1.js", fail) == "one"
