"""The benchmarks still run against the code as it is; their figures are not tested."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("cold_start.py",),
        ("start_up.py", "--starts", "3", "--no-hosts"),
        ("leave_one_out.py", "--small", "--resamples", "20"),
        ("diagnose.py", "--judgments", "2100"),
        ("transitivity.py", "--small"),
        ("scale.py", "--rows", "1e5"),
        ("coverage.py", "--worlds", "2"),
        ("economy.py", "--models", "5", "--items", "60", "--worlds", "1"),
    ],
)
def test_a_short_benchmark_runs(command):
    done = subprocess.run([sys.executable, *command], cwd=BENCHMARKS, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_tournaments_are_measured_beside_bare_inspect_and_over_http():
    """Every run makes two calls a battle."""
    pytest.importorskip("inspect_ai")
    pytest.importorskip("openai")
    script = (
        "import tournament as benchmark\n"
        "if __name__ == '__main__':\n"
        "    benchmark.own_cost(benchmark.instantly(20)[:2], markdown=True)\n"
        "    benchmark.call_rate(benchmark.served(20)[:2], markdown=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=BENCHMARKS, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.split("|")] for line in done.stdout.splitlines()]
    found = [(row[1], row[2]) for row in rows if len(row) > 2 and row[1] in ("bare Inspect", "podium")]
    assert found == [("bare Inspect", "20"), ("podium", "20"), ("bare Inspect", "40"), ("podium", "40")]


@pytest.mark.slow
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


@pytest.mark.slow
def test_leaving_one_out_agrees_with_a_transcription_of_algorithm_1():
    """Both tools get a line, and every rating is the same to 1e-4 Elo points."""
    script = (
        "import leave_one_out as benchmark\n"
        "found = benchmark.compare(300, 6, 20)\n"
        "benchmark.speed([found], 20, False)\n"
        "print(*(found.apart(kind) for kind in ('human', 'hard', 'soft')))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=BENCHMARKS, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert {"podium", "transcription"} <= {line.split()[0] for line in lines if line}
    assert all(float(points) < 1e-4 for points in lines[-1].split())
