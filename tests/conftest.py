"""One numerical thread per test process, and a word about the tests that were left out."""

import os

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")


def pytest_terminal_summary(terminalreporter, config):
    """Say how to run the slow tests where they were left out."""
    deselected = terminalreporter.stats.get("deselected", ())
    left_out = sum(item.get_closest_marker("slow") is not None for item in deselected)
    if config.option.markexpr == "not slow" and left_out:
        words = f"{left_out} tests marked slow were left out: `pytest -m slow -n 2` runs them"
        terminalreporter.write_line(words)
