"""Simulations: data without faults rarely raise an alarm, and a planted fault is named.

`python benchmarks/answers.py` draws 400 data sets without faults and a hundred of each fault.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
import answers

pytestmark = pytest.mark.slow


def test_trust_checks_raise_false_alarms_in_at_most_10_percent_of_sound_simulations() -> None:
    """Of 100: six would be a true rate of 6%; with each test at 5% by itself it would be some
    15%."""
    assert answers.false_alarm_rate(100) <= 0.1


@pytest.mark.parametrize("fault", answers.FAULTS)
def test_a_planted_fault_is_named_in_80_percent(fault: str) -> None:
    assert answers.detection_rate(fault, 20) >= 0.8
