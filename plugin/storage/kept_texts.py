"""Keep texts that take long to make in the user's cache folder."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from podium.storage.atomic_files import write_text


def kept_text(name: str, make: Callable[[], str]) -> str:
    """Return a text from the cache folder; the first time, make it and write it there.

    If the folder cannot be read or written, the text is made each time.

    Args:
        name: name of the file. It must change whenever the text does.
        make: makes the text.
    """
    folder = _cache_folder()
    if folder is None:
        return make()
    path = folder / name
    with suppress(OSError, UnicodeError):
        return path.read_text(encoding="utf-8")
    text = make()
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_text(path, text)
    return text


def _cache_folder() -> Path | None:
    """Return podium's folder for files that can be made again; None if the user has no home."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or str(home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(home / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(home / ".cache")
    return Path(base) / "podium"
