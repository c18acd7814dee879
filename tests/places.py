"""Where things lie in the checkout."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "simulated" / "battles.csv"
"""Six models, 40 items, both orders, one judge."""


def repository_files() -> list[Path]:
    """Return the repository's files, relative to it: those that git knows, or those that it would
    in a plain copy."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    names = (
        map(Path, listed.stdout.splitlines()) if listed.returncode == 0 else _files_of_plain_copy()
    )
    return [name for name in names if (ROOT / name).is_file()]


def _files_of_plain_copy() -> list[Path]:
    """Return the files of a copy without git, apart from those that were built or cached."""
    folders = ("plugin", "rankers", "scorers", "examples", "docs", "tests")
    inside = [
        *ROOT.glob("*.*"),
        ROOT / "LICENSE",
        *(path for name in folders for path in (ROOT / name).rglob("*")),
    ]
    return [path.relative_to(ROOT) for path in inside if "__pycache__" not in path.parts]


def copy_repository(folder: Path) -> None:
    """Copy the repository's files into a folder."""
    for name in repository_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
