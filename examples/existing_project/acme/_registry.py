"""What Inspect finds by the entry point of this package."""

from acme.compared import compared_advice
from acme.simulated import simulated
from acme.tasks import advice, arithmetic, files

__all__ = ["advice", "arithmetic", "compared_advice", "files", "simulated"]
