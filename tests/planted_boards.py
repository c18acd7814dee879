"""The boards of `benchmarks/audit.py`, for tests of what they should show."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from audit import CLEAN, KINDS, World, make_board

__all__ = ["CLEAN", "KINDS", "World", "make_board"]
