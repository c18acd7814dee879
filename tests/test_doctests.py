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


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name):
    assert doctest.testmod(import_module(name)).failed == 0


def test_some_modules_have_examples():
    assert sum(doctest.testmod(import_module(name)).attempted for name in MODULES) >= 5
