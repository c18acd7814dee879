"""Where things lie in the checkout."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "simulated" / "battles.csv"
"""Six models, 40 items, both orders, one judge."""
