"""The examples in docstrings print what they say."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import podium

MODULES = [
    "podium",
    *(one.name for one in pkgutil.walk_packages(podium.__path__, "podium.") if "__main__" not in one.name),
]


def loaded(name: str):
    """Return a module; None where it is for a host, or a version of one, that is not installed."""
    try:
        return import_module(name)
    except ImportError:
        if not name.startswith("podium.hosts."):
            raise
        return None


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name):
    module = loaded(name)
    if module is None:
        pytest.skip("its host is not installed")
    assert doctest.testmod(module).failed == 0


def test_some_modules_have_examples():
    modules = [module for module in map(loaded, MODULES) if module is not None]
    assert sum(doctest.testmod(module).attempted for module in modules) >= 5
