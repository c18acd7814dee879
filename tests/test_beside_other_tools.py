"""Whether podium can be installed in one environment with other tools for Inspect."""

import subprocess
import sys

import pytest
from places import ROOT

OTHERS = ("inspect-scout", "inspect-flow")


@pytest.mark.slow
def test_podium_resolves_beside_scout_and_flow(tmp_path):
    """Only that versions contradict each other fails the test; without an index it is skipped."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    pip = [tmp_path / "venv" / "bin" / "python", "-m", "pip"]
    command = [*pip, "install", "--dry-run", "--retries", "0", "--timeout", "20", ROOT, *OTHERS]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "ResolutionImpossible" not in done.stderr, done.stderr
    if done.returncode:
        pytest.skip("no package index can be reached")
    planned = done.stdout.splitlines()[-1]
    assert planned.startswith("Would install ")
    assert all(f" {name}" in planned.replace("_", "-") for name in ("podium", *OTHERS, "duckdb"))
