"""The examples in docstrings print what they say."""

import doctest
import pkgutil
from functools import cache
from importlib import import_module

import pytest

import podium

MODULES = [
    "podium",
    *(
        one.name
        for one in pkgutil.walk_packages(podium.__path__, "podium.")
        if "__main__" not in one.name
    ),
]


def loaded(name: str):
    """Return a module; None where it is for a host, or a version of one, that is not installed."""
    try:
        return import_module(name)
    except ImportError:
        if not name.startswith("podium.hosts."):
            raise
        return None


@cache
def examples_of(module) -> list[doctest.DocTest]:
    """Return the docstrings of a module that have examples."""
    return [one for one in doctest.DocTestFinder().find(module) if one.examples]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name):
    module = loaded(name)
    if module is None:
        pytest.skip("its host is not installed")
    runner = doctest.DocTestRunner()
    assert sum(runner.run(one).failed for one in examples_of(module)) == 0


def test_some_modules_have_examples():
    modules = [module for module in map(loaded, MODULES) if module is not None]
    assert sum(len(one.examples) for module in modules for one in examples_of(module)) >= 5
