"""Versions of installed packages."""

import re
from importlib.metadata import distribution, version

VERSION_LINE = re.compile(r"^Version: *(\S+)", re.MULTILINE)
"""Matches the line `Version: 1.2` of a package's metadata; the only group is the version."""


def package_version(name: str) -> str:
    """Return the version of an installed package.

    Only the line with the version is read. `importlib.metadata.version` parses the whole file,
    which may hold the package's README.

    Raises:
        importlib.metadata.PackageNotFoundError: the package is not installed.
    """
    line = VERSION_LINE.search(distribution(name).read_text("METADATA") or "")
    return version(name) if line is None else line[1]
