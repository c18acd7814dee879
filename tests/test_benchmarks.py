"""The benchmarks still run against the code as it is; their figures are not tested."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize("command", [("streaming.py", "--rows", "2e5"), ("cold_start.py",)])
def test_a_short_benchmark_runs(command):
    done = subprocess.run([sys.executable, *command], cwd=BENCHMARKS, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_the_comparison_with_peers_still_knows_podium():
    """Its fit and its intervals on a small problem, without the peers."""
    script = (
        "import peers, contenders\n"
        "hard, soft = peers.drawn(4_000, 40, 6)\n"
        "tools = contenders.podium()\n"
        "peers.fits(tools, hard, soft, False)\n"
        "peers._podium_intervals(hard, 3, 4)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=BENCHMARKS, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
