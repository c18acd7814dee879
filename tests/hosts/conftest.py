"""Here so that `stand_in` and `environment`, beside it, can be imported by the tests of every
host."""

import pytest
from environment import Environment


@pytest.fixture(scope="session")
def off(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return an environment in which podium is installed, and not enabled."""
    return Environment.made(tmp_path_factory.mktemp("off"))


@pytest.fixture(scope="session")
def on(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return an environment in which podium is enabled."""
    made = Environment.made(tmp_path_factory.mktemp("on"))
    assert made.podium("enable").returncode == 0
    return made
