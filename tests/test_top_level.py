"""What lies at the top of the repository."""

import pytest
from places import ROOT, repository_files

FOLDERS = {".ci", "benchmarks", "docs", "examples", "plugin", "rankers", "scorers", "tests"}
FILES = {
    ".gitignore",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "pyproject.toml",
}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a copy without git")
def test_nothing_else_lies_at_the_top():
    """Commands write pages and figures beside what they read; none of them is committed."""
    found = repository_files()
    assert {name.parts[0] for name in found if len(name.parts) > 1} <= FOLDERS
    assert {name.name for name in found if len(name.parts) == 1} <= FILES
