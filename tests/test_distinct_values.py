"""Different values of an array are those of NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.distinct_values import distinct_values
from podium.package_versions import package_version


@given(st.lists(st.integers(-3, 3)))
def test_different_values_are_those_of_numpy(values: list[int]) -> None:
    array = np.array(values, dtype=np.int64)
    assert distinct_values(array).tolist() == np.unique(array).tolist()


def test_values_of_a_matrix_are_found_in_all_its_rows() -> None:
    assert distinct_values(np.array([[2.0, 1.0], [1.0, 3.0]])).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("name", ["podium", "numpy", "duckdb"])
def test_the_version_of_a_package_is_that_of_its_metadata(name: str) -> None:
    from importlib.metadata import version

    assert package_version(name) == version(name)
