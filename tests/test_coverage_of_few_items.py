"""Small versions of `benchmarks/coverage_length.py`: intervals cover, and those of before do not."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from coverage_length import coverage_of, kappa_world, length_world

pytestmark = pytest.mark.worlds


def test_length_controlled_rates_on_few_items_are_covered():
    answered, held, _, held_before, _ = coverage_of(length_world(12, 0.7, 1.5, 0.7), 250)
    assert answered > 150
    assert held > 0.92
    assert held_before < held - 0.03


def test_kappa_is_covered_whoever_is_listed_first():
    _, held, _, held_by_halves, _ = coverage_of(kappa_world(60, 0.8, 1.0), 200)
    assert held > 0.9
    assert held_by_halves < 0.88
