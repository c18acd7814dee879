"""Where things lie in the checkout."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "simulated" / "battles.csv"
"""Six models, 40 items, both orders, one judge."""


def copy_repository(folder: Path) -> None:
    """Copy the files that git knows into a folder; skip the test in a plain copy without git."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not listed:
        pytest.skip("a plain copy of the repository, without git")
    for name in (name for name in listed if (ROOT / name).is_file()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
