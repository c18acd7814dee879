"""What Inspect finds by the entry point of this package."""

from acme.simulated import simulated
from acme.tasks import advice, arithmetic, files

__all__ = ["advice", "arithmetic", "files", "simulated"]
