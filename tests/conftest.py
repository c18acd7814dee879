"""One numerical thread per test process, no network, and a word about the tests that were left
out."""

import gc
import importlib.metadata
import os
import sys
import tempfile
import time
from collections import Counter
from datetime import date
from functools import cache
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, settings

# How long drawing an example takes says something of the machine, not of the code.
settings.register_profile("podium", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("podium")
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
# Set before Hugging Face's packages are imported: where there is no network, each of their
# questions waits for seconds.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# Inspect looks through all installed packages for that of a task, which takes a third of a second
# per eval of a test.
importlib.metadata.packages_distributions = cache(importlib.metadata.packages_distributions)
# What is imported stays to the end: to look through it for garbage again and again takes a
# twentieth of the time.
gc.disable()

pytest_plugins = ["shared_fixtures"]

DEADLINE = pytest.StashKey[float]()


def pytest_addoption(parser):
    """Add options for CI, whose time is limited and whose tests of the language model must run."""
    words = "skip what has not begun by then, and begin each day with other files"
    parser.addoption("--minutes", type=float, metavar="N", help=words)
    parser.addoption(
        "--require-llm",
        action="store_true",
        help="fail, not skip, where no language model is installed",
    )


def pytest_configure(config):
    """Note when the time is up."""
    minutes = config.getoption("minutes")
    config.stash[DEADLINE] = time.monotonic() + 60 * minutes if minutes else float("inf")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark the further cases of `fast_cases` as slow, before `-m` selects tests.

    Let each day begin with other files where not all may get their turn; those of the language
    model always do.
    """
    _mark_further_cases(items)
    if config.getoption("minutes"):
        today = date.today().isoformat()

        def turn(item):
            return item.get_closest_marker("llm") is None, sha256(
                f"{today} {item.path.name}".encode()
            ).digest()

        items.sort(key=turn)


def _mark_further_cases(items):
    """Mark all cases of a test as slow but the number that `fast_cases` names."""
    cases = Counter()
    for item in items:
        mark = item.get_closest_marker("fast_cases")
        if mark is not None:
            test = item.path, item.originalname
            cases[test] += 1
            if cases[test] > mark.args[0]:
                item.add_marker(pytest.mark.slow)


def pytest_collection_finish(session):
    """Look for garbage in what tests make; fork commands from a process that has the hosts, where
    slow tests ask."""
    gc.freeze()
    gc.enable()
    if "forked" in sys.modules:
        is_slow = any(item.get_closest_marker("slow") for item in session.items)
        sys.modules["forked"].preload(hosts=is_slow)


def pytest_unconfigure():
    """Let what was imported go: libraries complain of what is left at the end."""
    gc.unfreeze()


def pytest_runtest_setup(item):
    """Skip what has not begun when the time is up."""
    if time.monotonic() > item.config.stash[DEADLINE]:
        pytest.skip("the time is up: without --minutes it runs")


@pytest.fixture(scope="session", autouse=True)
def no_temporary_folder_is_left(tmp_path_factory):
    """Give all tests and what they start one place for temporary files; fail if podium leaves
    anything there."""
    from podium.storage import temporary_folders

    place = tmp_path_factory.mktemp("temporary")
    os.environ["TMPDIR"] = tempfile.tempdir = str(place)
    yield
    # As the next process does: tests kill some.
    temporary_folders._remove_abandoned()
    own = {path.name for path in temporary_folders._FOLDERS.values()}
    assert [path.name for path in place.glob("podium-*") if path.name not in own] == []


def pytest_terminal_summary(terminalreporter, config):
    """Say how to run the slow tests where they were left out."""
    deselected = terminalreporter.stats.get("deselected", ())
    left_out = sum(item.get_closest_marker("slow") is not None for item in deselected)
    if config.option.markexpr == "not slow" and left_out:
        words = f"{left_out} tests marked slow were left out: `pytest -m slow` runs them"
        terminalreporter.write_line(words)
