"""The optional libraries behind pictures and pages: imported when asked for, and missed with the line that installs."""

from importlib import import_module
from types import ModuleType

from podium.errors import UsageError


def load_extra(name: str) -> ModuleType:
    """Import a library of the extra `report`.

    Raises:
        UsageError: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise UsageError(
            f"figures and pages need {name}, which is not installed: pip install 'podium[report]'"
        ) from None
