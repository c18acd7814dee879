"""Figures of a judge card: numbers with intervals that are clustered by item, and what is missing with its remedy."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any, ClassVar, TypeAlias

import numpy as np

from podium.battles import Battles
from podium.rankers.intervals import FEWEST_DRAWS, t_reach
from podium.report.model import EMPTY, Measure, Table

UNBOUNDED = (-np.inf, np.inf)


class Unit(Enum):
    """How a figure is written."""

    SHARE = "share"
    NUMBER = "number"
    ELO = "elo"
    LOGITS = "logits"
    CORRELATION = "correlation"
    NATS = "nats"


STYLES = {Unit.SHARE: (100.0, 1, "%"), Unit.ELO: (1.0, 1, " Elo"), Unit.NATS: (1.0, 5, " nats")}
"""Factor, decimals and suffix; 1, 3 and none for other units."""


@dataclass(frozen=True, slots=True)
class Statistic:
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
            raise ValueError(f"{self!r}: not finite")

    @property
    def estimate(self) -> str:
        """The number as text.

        >>> Statistic(0.49, 0.48, 0.5, 0.95, "t", 100, unit=Unit.SHARE).estimate
        '49.0%'
        """
        return self._digits(self.value) + STYLES.get(self.unit, (1.0, 3, ""))[2]

    @property
    def interval(self) -> str:
        """The ends as text; a dash where there is none."""
        if self.low is None or self.high is None:
            return EMPTY
        return f"{self._digits(self.low)} … {self._digits(self.high)}"

    @property
    def brief(self) -> str:
        """Estimate and interval in one cell."""
        return f"{self.estimate} ({self.interval})"

    def measure(self) -> Measure:
        """Return the figure as text, apart in columns.

        >>> Statistic(0.5, None, None, 0.95, "a single item: no interval", 1200, "pairs", 1).measure().clusters
        '1 item'
        """
        alone = self.clusters is None or "row-clustered" in self.method
        clusters = "" if alone else f"{self.clusters:,} item{'' if self.clusters == 1 else 's'}"
        return Measure(self.estimate, self.interval, f"{self.n:,} {self.of}", clusters)

    def rescale(self, function: Callable[[float], float], **changes: Any) -> "Statistic":
        """Return estimate and ends sent through an increasing function, with other attributes changed."""
        value, low, high = (None if end is None else float(function(end)) for end in (self.value, self.low, self.high))
        return replace(self, value=value, low=low, high=high, **changes)

    def _digits(self, value: float) -> str:
        factor, decimals, _ = STYLES.get(self.unit, (1.0, 3, ""))
        text = f"{factor * value:.{decimals}f}"
        return text.removeprefix("-") if float(text) == 0 else text


@dataclass(frozen=True, slots=True)
class Missing:
    """A question that the data cannot answer; as text it is a dash.

    Attributes:
        what: the figure or section.
        why: what the data lack.
        remedy: what would supply it.
    """

    what: str
    why: str
    remedy: str
    estimate: ClassVar[str] = EMPTY
    interval: ClassVar[str] = EMPTY
    brief: ClassVar[str] = EMPTY

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON, under the single key `missing`."""
        return {"missing": {"what": self.what, "why": self.why, "remedy": self.remedy}}


Value: TypeAlias = Statistic | Missing | str
"""A figure, why there is none, or a fact in words."""


class Answer:
    """What a section says: a frozen dataclass of figures."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the section for JSON."""
        return as_dict(self)

    def lines(self) -> tuple[tuple[str, Value], ...]:
        """Return the lines that people read: label and value."""
        raise NotImplementedError

    def tables(self) -> tuple[Table, ...]:
        """Return the tables below them; by default none."""
        return ()


def as_dict(answer: Any) -> dict[str, Any]:
    """Write a dataclass for JSON; a `Missing` becomes an object with the single key `missing`."""
    if isinstance(answer, Missing):
        return answer.to_dict()
    return {field.name: _plain(getattr(answer, field.name)) for field in fields(answer)}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return as_dict(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    return value


def cell(value: float | None, style: str) -> str:
    """Write a number in a format; a dash where there is none."""
    return EMPTY if value is None else format(value, style)


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows in clusters that are taken for independent: items, or rows where no item is known.

    Attributes:
        code: cluster of each row, shape (rows,).
        unit: `item` or `row`.
        level: of intervals, in (0, 1).
    """

    code: np.ndarray
    unit: str
    level: float = 0.95

    def take(self, rows: np.ndarray) -> "Sample":
        """Return some rows, given by a mask or by positions."""
        return replace(self, code=self.code[rows])

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Add up values by cluster, clusters without a row left out, shape (clusters, ...)."""
        codes, place = np.unique(self.code, return_inverse=True)
        if values.ndim == 1:
            return np.bincount(place, values, len(codes))
        return np.stack([np.bincount(place, column, len(codes)) for column in values.T], axis=1)

    def share(
        self,
        hits: np.ndarray,
        of: str = "battles",
        what: str = "",
        remedy: str = "judge more pairs",
        *,
        among: np.ndarray | None = None,
        cells: np.ndarray | None = None,
    ) -> Statistic | Missing:
        """Return sum(hits) / sum(cells) with a Wilson interval for the effective sample size.

        The effective size is p (1 - p) over the clustered variance of the linearised ratio, and the number of clusters
        where that is 0; the t quantile has clusters - 1 degrees of freedom.

        Args:
            hits: 0 <= hits <= cells, shape (rows,).
            of: what the cells are, in the plural.
            what, remedy: of what there is nothing where there is no row; `of` by default.
            among: mask of the rows that count, shape (rows,); all by default.
            cells: that each row stands for, shape (rows,); one by default.

        Source: Franco, Little, Louis and Slud 2019, Comparative study of confidence intervals for proportions in
        complex sample surveys.
        """
        rows, hits, size = self._chosen(hits, among, cells)
        if not len(hits):
            return Missing(what or of, f"there are no {what or of}", remedy)
        total = float(np.sum(size))
        p = float(np.sum(hits) / total)
        sums = rows.sums((hits - p * size) / total)
        if len(sums) < 2:
            return rows._alone(p, int(total), of, Unit.SHARE)
        low, high = wilson(p, _variance(sums), len(sums), self.level)
        method = f"Wilson, {self.unit}-clustered effective sample size, t"
        return Statistic(p, float(low), float(high), self.level, method, int(total), of, len(sums), Unit.SHARE)

    def mean(
        self,
        values: np.ndarray,
        of: str = "battles",
        what: str = "",
        remedy: str = "judge more pairs",
        *,
        among: np.ndarray | None = None,
        cells: np.ndarray | None = None,
        within: tuple[float, float] = UNBOUNDED,
        unit: Unit = Unit.NUMBER,
    ) -> Statistic | Missing:
        """Return sum(values) / sum(cells) with a clustered t interval; other arguments as of `share`.

        Args:
            within: least and largest possible value, at which the interval ends.
        """
        rows, values, size = self._chosen(values, among, cells)
        if not len(values):
            return Missing(what or of, f"there are no {what or of}", remedy)
        total = float(np.sum(size))
        centre = float(np.sum(values) / total)
        method = "{}" if cells is None else "{}, linearised ratio"
        return rows.linear(centre, (values - centre * size) / total, int(total), of, unit, method, within)

    def linear(
        self,
        value: float,
        influence: np.ndarray,
        n: int,
        of: str = "battles",
        unit: Unit = Unit.NUMBER,
        method: str = "{}",
        within: tuple[float, float] = UNBOUNDED,
    ) -> Statistic:
        """Return an estimate with the t interval of its influence function, summed by cluster.

        Args:
            influence: what each row adds to the error of the estimate, shape (rows,).
            method: what to call the interval, around its usual name.
            within: least and largest possible value, at which the interval ends.
        """
        sums = self.sums(influence)
        if len(sums) < 2:
            return self._alone(value, n, of, unit)
        reach = float(t_reach(len(sums), self.level) * np.sqrt(_variance(sums)))
        low, high = max(within[0], value - reach), min(within[1], value + reach)
        name = method.format(f"{self.unit}-clustered t")
        return Statistic(value, low, high, self.level, name, n, of, len(sums), unit)

    def _chosen(
        self, values: np.ndarray, among: np.ndarray | None, cells: np.ndarray | None
    ) -> tuple["Sample", np.ndarray, np.ndarray]:
        """Return the rows that count, their values, and the cells that each stands for."""
        size = np.ones(len(values)) if cells is None else cells
        counted = among if cells is None else cells > 0
        return (self, values, size) if counted is None else (self.take(counted), values[counted], size[counted])

    def _alone(self, value: float, n: int, of: str, unit: Unit) -> Statistic:
        return Statistic(value, None, None, self.level, f"a single {self.unit}: no interval", n, of, 1, unit)


def sample_of(battles: Battles, level: float = 0.95) -> Sample:
    """Take items for independent; rows without one stand alone."""
    if not battles.has_items:
        return Sample(np.arange(len(battles)), "row", level)
    code = battles.table["item"].cat.codes.to_numpy(dtype=np.int64).copy()
    alone = code < 0
    code[alone] = code.max() + 1 + np.arange(alone.sum())
    return Sample(code, "item", level)


def column_of(battles: Battles, name: str) -> np.ndarray:
    """Return a column of numbers, NaN throughout where the table has none of this name, shape (rows,)."""
    table = battles.table
    return table[name].to_numpy(dtype=np.float64) if name in table else np.full(len(table), np.nan)


def wilson(
    share: np.ndarray | float, variance: np.ndarray | float, clusters: np.ndarray | int, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of Wilson intervals for effective sample sizes, any shape.

    Args:
        share: p, in [0, 1].
        variance: of p; where it is 0, the number of clusters is the sample size.
        clusters: at least 2.
    """
    share, variance = np.asarray(share, dtype=np.float64), np.asarray(variance, dtype=np.float64)
    spread = share * (1 - share)
    flat = (variance <= 1e-24) | (spread <= 0)
    size = np.where(flat, clusters, spread / np.where(flat, 1, variance))
    t2 = t_reach(clusters, level) ** 2
    middle = (share + t2 / (2 * size)) / (1 + t2 / size)
    reach = np.sqrt(t2 * (spread / size + t2 / (4 * size**2))) / (1 + t2 / size)
    return np.minimum(np.maximum(middle - reach, 0), share), np.maximum(np.minimum(middle + reach, 1), share)


def usable_draws(draws: np.ndarray) -> np.ndarray | None:
    """Return the resamples that are no NaN; None where they are too few for an interval."""
    usable = draws[~np.isnan(draws)]
    return usable if len(usable) >= max(2, FEWEST_DRAWS * len(draws)) else None


def reflected_interval(value: float, draws: np.ndarray, level: float) -> tuple[float, float, float] | None:
    """Return a corrected value and its interval from resamples, none of them below 0; None where too few are usable.

    Sampling noise adds to a mean of squares, and resampling adds as much again. So 2 value - mean(draws) removes it,
    and the basic (reflected) interval 2 value - quantiles has the right ends where a percentile one lies too high.

    Args:
        value: the estimate.
        draws: resampled, NaN where one is not usable, shape (draws,).

    Source: Davison and Hinkley 1997, Bootstrap methods and their application, sections 2.1 and 5.2.
    """
    usable = usable_draws(draws)
    if usable is None:
        return None
    low, high = np.quantile(usable, [(1 - level) / 2, (1 + level) / 2])
    ends = (2 * value - usable.mean(), 2 * value - high, 2 * value - low)
    centre, bottom, top = (max(0.0, float(end)) for end in ends)
    return centre, bottom, top


def agreement_interval(
    value: float, draws: np.ndarray, level: float, within: tuple[float, float]
) -> tuple[float, float] | None:
    """Return the interval of an agreement by its percentiles or their reflection; None where too few are usable.

    Args:
        value: the estimate.
        draws: resampled, NaN where one is not usable, shape (draws,).
        within: least and largest possible value.
    """
    usable = usable_draws(draws)
    if usable is None:
        return None
    low, high = np.quantile(usable, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return farther_ends(value, (low, high), within)


def farther_ends(value: float, interval: tuple[float, float], within: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of the percentile or of the reflected interval, whichever are farther.

    Noise hides agreement where it is complete and adds to it where there is little. Resampling does so once more, so
    that a percentile interval of an agreement may end below its true value: of rankings that agree completely, but of
    entrants that are close, it hardly ever held tau = 1. Where entrants are closer than so many items can tell, these
    ends fall short of complete agreement, too, though less often.

    >>> farther_ends(0.8, (0.5, 0.85), (-1, 1))
    (0.5, 1)
    """
    low, high = interval
    return max(within[0], min(low, value, 2 * value - high)), min(within[1], max(high, value, 2 * value - low))


def _variance(sums: np.ndarray) -> float:
    """Return G / (G - 1) times the centred sum of squares of the influence of G clusters."""
    clusters = len(sums)
    return float(np.sum((sums - sums.mean()) ** 2) * clusters / (clusters - 1))
