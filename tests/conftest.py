"""One numerical thread per test process, and a word about the tests that were left out."""

import os

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")


def pytest_terminal_summary(terminalreporter, config):
    """Say how to run the slow tests where they were left out."""
    deselected = terminalreporter.stats.get("deselected", ())
    if config.option.markexpr != "not slow and not worlds":
        return
    for marker in ("slow", "worlds"):
        left_out = sum(item.get_closest_marker(marker) is not None for item in deselected)
        if left_out:
            words = f"{left_out} tests marked {marker} were left out: `pytest -m {marker} -n 2` runs them"
            terminalreporter.write_line(words)
