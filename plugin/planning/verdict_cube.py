"""Values of recorded battles by item and pair of models."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from podium.planning.replays import Recording


def cube_by_item(record: "Recording", values: np.ndarray) -> np.ndarray:
    """Arrange values of recorded battles by item and pair of models.

    Args:
        record: the recorded battles.
        values: a value per outcome of the record, for the model that is first by name.

    Returns:
        Shape (items, models, models): the value of a pair, with the opposite sign if the models
        change places; NaN where no battle is on record.
    """
    names = {name: k for k, name in enumerate(record.field.models)}
    items = {name: k for k, name in enumerate(record.field.items)}
    cube = np.full((len(items), len(names), len(names)), np.nan)
    positions = []
    for outcome in record.outcomes:
        pairing = outcome.pairing
        positions.append((items[pairing.item], names[pairing.a], names[pairing.b]))
    item, a, b = np.array(positions, dtype=np.int64).reshape(-1, 3).T
    cube[item, a, b] = values
    cube[item, b, a] = -values
    return cube
