"""What a section of the judge card may say: figures with intervals, and what is missing with its remedy."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any, Protocol, TypeAlias

import numpy as np


class Unit(Enum):
    """How a figure is written."""

    SHARE = "share"
    NUMBER = "number"
    ELO = "elo"
    LOGITS = "logits"
    CORRELATION = "correlation"
    NATS = "nats"


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with its interval.

    Attributes:
        value: the estimate.
        low, high: ends of the interval; None where there is none, and `method` says why.
        level: of the interval, in (0, 1).
        method: how the interval was made, and what it is clustered by.
        n: what the number is made of: presentations, battles, pairs of orders, entrants; `of` says which.
        of: the noun that n counts, in the plural.
        clusters: independent clusters (items) behind it; None where the interval is not clustered.
        unit: how to write it.
    """

    value: float
    low: float | None
    high: float | None
    level: float
    method: str
    n: int
    of: str = "battles"
    clusters: int | None = None
    unit: Unit = Unit.NUMBER

    def __post_init__(self) -> None:
        """Refuse numbers that are none: those are `Missing`."""
        ends = [end for end in (self.low, self.high) if end is not None]
        if not np.isfinite([self.value, *ends]).all():
            raise ValueError(f"{self}: not finite")

    def excludes(self, value: float) -> bool:
        """Whether the interval lies beside a value; never without an interval."""
        return self.low is not None and self.high is not None and not self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Missing:
    """A question that the data cannot answer.

    Attributes:
        what: the figure or section.
        why: what the data lack.
        remedy: what would supply it.
    """

    what: str
    why: str
    remedy: str


Value: TypeAlias = Figure | Missing | str
"""A figure, why there is none, or a fact in words."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a section as people read it."""

    label: str
    value: Value


@dataclass(frozen=True, slots=True)
class Grid:
    """A table inside a section as people read it; the first column is aligned to the left.

    Attributes:
        title: what to say above it; empty for nothing.
        header: names of the columns.
        rows: cells as text.
        words: whether the last column holds words, which are aligned to the left and may wrap.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: bool = False


class Answer(Protocol):
    """What the function of a section returns: a frozen dataclass of figures.

    `to_dict` is usually `return as_dict(self)`. `rows` are the lines that people read, `grids` the tables below them.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the section for JSON."""

    def rows(self) -> tuple[Row, ...]:
        """Return the lines of the section."""

    def grids(self) -> tuple[Grid, ...]:
        """Return the tables of the section; often none."""


def as_dict(answer: Any) -> dict[str, Any]:
    """Write a dataclass for JSON; a `Missing` becomes an object with the single key `missing`."""
    return {one.name: _plain(getattr(answer, one.name)) for one in fields(answer)}


def _plain(value: Any) -> Any:
    if isinstance(value, Missing):
        return {"missing": as_dict(value)}
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return as_dict(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    return value
