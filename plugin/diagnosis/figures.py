"""Figures of a judge card: estimates with intervals, or why a figure is missing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np

from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.estimate import Estimate
from podium.tables import EMPTY, Table
from podium.wording import plural

Answer = TypeVar("Answer")


class Unit(Enum):
    """The unit of a figure, which sets its format."""

    SHARE = "share"
    NUMBER = "number"
    ELO = "elo"
    LOGITS = "logits"
    CORRELATION = "correlation"
    NATS = "nats"


PLAIN_STYLE = (1.0, 3, "")
"""Factor, decimals and suffix of the numbers of units that `STYLES` does not list."""
STYLES = {Unit.SHARE: (100.0, 1, "%"), Unit.ELO: (1.0, 1, " Elo"), Unit.NATS: (1.0, 5, " nats")}
"""Factor, decimals and suffix of the numbers of a unit. Other units have `PLAIN_STYLE`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic(Estimate):
    """An estimate of a judge card, with the method of its interval and its sample size.

    Raises:
        ValueError: the value or an end of its interval is NaN or infinite.

    Attributes:
        level: confidence level of the interval.
        method: description of how the interval is computed.
        n: sample size.
        of: what the sample size counts.
        clusters: number of independent clusters; None if unknown.
        cluster: what a cluster is: `item`, a group of items such as `passage`, or `row`.
        unit: unit of the value.
    """

    level: float
    method: str
    n: int
    of: str = "battles"
    clusters: int | None = None
    cluster: str = "item"
    unit: Unit = Unit.NUMBER

    def __post_init__(self) -> None:
        """Reject values that are not finite: a figure that cannot be computed is `Missing`."""
        numbers = [number for number in (self.value, self.low, self.high) if number is not None]
        if not np.isfinite(numbers).all():
            raise ValueError(f"{self!r}: not finite")

    @property
    def estimate(self) -> str:
        """The value as text with its unit, such as `62.0%` or `85.0 Elo`."""
        _, _, suffix = STYLES.get(self.unit, PLAIN_STYLE)
        return self._digits(self.value) + suffix

    @property
    def interval(self) -> str:
        """The interval as text, such as `1.0 … 2.0`, without the unit; a dash if there is none."""
        if self.low is None or self.high is None:
            return EMPTY
        return f"{self._digits(self.low)} … {self._digits(self.high)}"

    @property
    def brief(self) -> str:
        """Value and interval as one text, such as `62.0% (55.1 … 68.4)`."""
        return f"{self.estimate} ({self.interval})"

    @property
    def cells(self) -> tuple[str, ...]:
        """Value, interval, sample size and number of items, or their groups, as four texts.

        The last text is empty if the number of clusters is unknown, or if clusters are rows.
        """
        sample = f"{self.n:,} {self.of}"
        if self.clusters is None or self.cluster == "row":
            return self.estimate, self.interval, sample, ""
        clusters = f"{self.clusters:,} {plural(self.cluster, self.clusters)}"
        return self.estimate, self.interval, sample, clusters

    @property
    def opposite_figure(self) -> "Statistic":
        """The figure with the opposite sign, as how much lower a rating is that is higher by it.

        The ends of the interval change places.
        """
        low = None if self.high is None else -self.high
        high = None if self.low is None else -self.low
        return replace(self, value=-self.value, low=low, high=high)

    def _digits(self, value: float) -> str:
        """Format a number in the unit, without the unit's name; -0 loses its sign."""
        factor, decimals, _ = STYLES.get(self.unit, PLAIN_STYLE)
        text = f"{factor * value:.{decimals}f}"
        return text.removeprefix("-") if float(text) == 0 else text


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a figure cannot be computed, and what the user can do.

    The class has the text attributes of a `Statistic`: `estimate`, `interval` and `brief` are
    dashes, and `cells` are a dash and an empty text.
    """

    why: str
    remedy: str
    estimate: ClassVar[str] = EMPTY
    interval: ClassVar[str] = EMPTY
    brief: ClassVar[str] = EMPTY
    cells: ClassVar[tuple[str, ...]] = (EMPTY, "")


Figured: TypeAlias = Statistic | Missing
"""A figure, or why it is missing."""
Value: TypeAlias = Statistic | Missing | str
"""A figure, why it is missing, or a fact in words."""


def attempt(compute: Callable[[], Answer], remedy: str) -> Answer | Missing:
    """Call a function, and turn an error that the data cause into `Missing`.

    Args:
        compute: the function, called without arguments.
        remedy: what the user can do if it fails.

    Returns:
        The function's result. If it raises NotIdentifiedError or NotConvergedError, `Missing` with
        the message and the remedy; other errors are raised.
    """
    try:
        return compute()
    except (NotIdentifiedError, NotConvergedError) as error:
        return Missing(str(error), remedy)


class CardAnswer:
    """Base class of the answer of one section of a judge card: a frozen dataclass of figures."""

    __slots__ = ()

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        """Return the label and the value of each line of the section.

        By default, the lines are the fields with a label (see `labelled_figures`).
        """
        return labelled_figures(self)

    def tables(self) -> tuple[Table, ...]:
        """Return the tables below the lines of labelled values; none by default."""
        return ()


def labelled_figures(answer: Any) -> tuple[tuple[str, Figured], ...]:
    """Return label and value of each field that is annotated as `Annotated[Figured, label]`.

    Other fields are left out. The order is that of the fields.

    Args:
        answer: an instance of a dataclass.
    """
    labelled = []
    for part in fields(answer):
        labels = getattr(part.type, "__metadata__", None)
        if labels:
            labelled.append((labels[0], getattr(answer, part.name)))
    return tuple(labelled)


def as_dict(value: Any) -> Any:
    """Convert a section's answer, or a part of one, to JSON values.

    Dataclasses, named tuples and mappings become objects, with keys as text. Tuples and lists
    become arrays, enumeration members and NumPy scalars plain values. `Missing` becomes
    `{"missing": {"why": ..., "remedy": ...}}`. Other values are returned as they are.
    """
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        plain = {part.name: as_dict(getattr(value, part.name)) for part in fields(value)}
        return {"missing": plain} if isinstance(value, Missing) else plain
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(key): as_dict(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [as_dict(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value
