"""Groups of items in a pilot, such as passages, and how many more items they make necessary.

Items of a group favour the same models, so that a comparison takes more of them than of independent
items. The factor is the design effect 1 + (m - 1) rho (Kish 1965). Here m is the mean number of
items in an item's group, sum of m_g^2 / sum of m_g, and rho is the correlation of what a pair of
models earns on two items of a group, over all pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, floor, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from podium.errors import NotIdentifiedError
from podium.planning.verdict_cube import cube_by_item
from podium.rankers.errors.difference import sum_by_group
from podium.rankers.errors.intervals import t_quantile
from podium.rankers.estimate import Estimate
from podium.wording import quantity

if TYPE_CHECKING:
    from podium.planning.replays import Recording

FEWEST_GROUPS = 4
"""Fewest groups of a pilot from which the design effect is estimated."""
PARTS = 10
"""Number of parts of a pilot that a jackknife leaves out, one after the other."""


@dataclass(frozen=True, slots=True)
class PilotGroups:
    """The groups of a pilot's items.

    Attributes:
        column: the column with the groups.
        unit: what a group is called.
        number: number of groups.
        items: number of items.
        effect: design effect of the groups on the comparison of two models, 1 or more, with an
            interval.
    """

    column: str
    unit: str
    number: int
    items: int
    effect: Estimate

    @property
    def size(self) -> float:
        """Mean number of items of a group."""
        return self.items / self.number

    def number_for(self, items: float) -> int:
        """Return how many groups a number of items makes, at least 1.

        The groups are taken to be as large as the pilot's on average.
        """
        return max(1, round(items / self.size))

    def scale(self, items: Estimate) -> Estimate:
        """Return how many items in groups are needed where a number of independent ones is.

        The ends of both intervals are combined by the squares of their distances on the
        logarithmic scale. An end is None if it is unknown of either.

        Args:
            items: number of independent items, with its interval.

        Returns:
            The number times the design effect, rounded up, with an interval.
        """
        value = ceil(round(items.value * self.effect.value, 9))
        ratio_of_low = _combined_ratio(
            (items.value, items.low), (self.effect.value, self.effect.low)
        )
        ratio_of_high = _combined_ratio(
            (items.value, items.high), (self.effect.value, self.effect.high)
        )
        low = high = None
        if ratio_of_low is not None:
            low = float(floor(value / ratio_of_low))
        if ratio_of_high is not None:
            high = float(ceil(value * ratio_of_high))
        return Estimate(value, low, high)


def _combined_ratio(*factors: tuple[float, float | None]) -> float | None:
    """Return the ratio, 1 or more, of a product to an end of its interval.

    The squares of the factors' distances from their ends, on the logarithmic scale, are summed.

    Args:
        *factors: value and end of the interval of each factor.

    Returns:
        The ratio; None if an end is unknown or not above 0.
    """
    squares = 0.0
    for value, end in factors:
        if end is None or min(value, end) <= 0:
            return None
        squares += log(value / end) ** 2
    return exp(sqrt(squares))


def groups_of_pilot(record: "Recording | None", level: float) -> PilotGroups | None:
    """Return the groups of a pilot's items; None if there is no pilot or items have no groups.

    The interval of the design effect is that of a jackknife of its logarithm over parts of whole
    groups.

    Raises:
        NotIdentifiedError: the pilot has fewer than 4 groups.
    """
    if record is None or record.battles.group is None:
        return None
    field = record.field
    groups = code_groups(record, field.items)
    number = int(groups.max()) + 1
    if number < FEWEST_GROUPS:
        fewest = quantity(FEWEST_GROUPS, field.unit)
        raise NotIdentifiedError(
            f"how much the items of a {field.unit} vary together is known from {fewest} on, and "
            f"the pilot has {number}: play a pilot on more"
        )
    credit = np.array([outcome.credit for outcome in record.outcomes], dtype=np.float64)
    cube = cube_by_item(record, 2 * credit - 1)
    effects = [design_effect(cube, groups)]
    for part in parts_without(groups):
        effects.append(design_effect(cube[part], groups[part]))
    return PilotGroups(
        column=record.battles.group,
        unit=field.unit,
        number=number,
        items=len(field.items),
        effect=_raise_to_one(jackknife_of_log(effects[0], effects[1:], level)),
    )


def _raise_to_one(effect: Estimate) -> Estimate:
    """Return a design effect of at least 1, with an interval that is cut at 1.

    Groups do not make fewer items necessary. The interval is cut afterwards: if all effects without
    a part of the pilot were cut first, it would have no width.
    """
    low = None if effect.low is None else max(1.0, effect.low)
    high = None if effect.high is None else max(1.0, effect.high)
    return Estimate(value=max(1.0, effect.value), low=low, high=high)


def code_groups(record: "Recording", items: Sequence[str]) -> np.ndarray:
    """Return the number of each item's group, from 0, shape (items,).

    If items have no groups, each item is a group of its own.
    """
    groups = record.field.groups
    names = list(items)
    if groups:
        names = [groups[item] for item in items]
    _, code = np.unique(np.array(names, dtype=object).astype(str), return_inverse=True)
    return code


def parts_without(groups: np.ndarray) -> list[np.ndarray]:
    """Return boolean masks of the items without each of up to 10 parts, which are whole groups.

    Args:
        groups: number of each item's group, shape (items,).

    Returns:
        A mask of shape (items,) per part, True for the items that stay. There are `PARTS` masks, or
        as many as there are groups if these are fewer.
    """
    number = min(PARTS, int(groups.max()) + 1)
    return [groups % number != part for part in range(number)]


def design_effect(cube: np.ndarray, groups: np.ndarray) -> float:
    """Return the design effect of groups on the mean verdict of a pair of models.

    The effect is below 1 if the items of a group differ more than items of different groups. It is
    1 if verdicts do not vary or no group has two items.

    Args:
        cube: verdicts by item and pair, shape (items, models, models), NaN where unknown.
        groups: number of each item's group, shape (items,).
    """
    first, second = np.triu_indices(cube.shape[1], 1)
    verdicts = cube[:, first, second]
    is_known = ~np.isnan(verdicts)
    counts = np.maximum(is_known.sum(axis=0), 1)
    mean = np.nansum(verdicts, axis=0) / counts
    deviation = np.where(is_known, verdicts - mean, 0.0)
    sums = sum_by_group(deviation, groups)
    sizes = sum_by_group(is_known.astype(np.float64), groups)
    squares = float(np.sum(deviation**2))
    pairs_of_items = float(np.sum(sizes * (sizes - 1)))
    if not squares or not pairs_of_items:
        return 1.0
    variance = squares / is_known.sum()
    correlation = (float(np.sum(sums**2)) - squares) / pairs_of_items / variance
    return 1 + (items_per_group(groups) - 1) * correlation


def items_per_group(groups: np.ndarray) -> float:
    """Return the mean number of items in an item's group: sum of m^2 / sum of m over groups."""
    sizes = np.bincount(groups)
    return float(np.sum(sizes**2) / np.sum(sizes))


def jackknife_of_log(value: float, without_part: Sequence[float], level: float) -> Estimate:
    """Return a positive number with the interval of a jackknife of its logarithm.

    The interval is unknown if the number is not above 0, or is not above 0 without some part of the
    data (that part alone has all that varies). The interval then has no ends.

    Args:
        value: the number from all data.
        without_part: the numbers without each part of the data, two or more.
        level: confidence level, in (0, 1).
    """
    if value <= 0 or min(without_part) <= 0:
        return Estimate(value)
    logs = np.log(without_part)
    parts = len(logs)
    sum_of_squares = float(np.sum((logs - logs.mean()) ** 2))
    error = sqrt((parts - 1) / parts * sum_of_squares)
    half_width = t_quantile(parts, level) * error
    return Estimate(value=value, low=value * exp(-half_width), high=value * exp(half_width))
