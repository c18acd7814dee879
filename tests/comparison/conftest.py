"""Worlds to compare in."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def scores(tmp_path: Path) -> Callable[..., Path]:
    """Return `scores(name, values, ...)`, which writes a table of scores of one model."""

    def write(name: str, values: object, **columns: object) -> Path:
        array = np.asarray(values, dtype=float)
        frame = pd.DataFrame(
            {"item": [f"q{k:03d}" for k in range(len(array))], "score": array, **columns}
        )
        path = tmp_path / f"{name}.csv"
        frame.to_csv(path, index=False)
        return path

    return write
