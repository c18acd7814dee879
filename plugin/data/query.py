"""What to read, and how: the arguments of `podium.read_battles` as one record.

The command line fills it with what was typed, Python with the arguments of the function. This
module imports no library of numbers, because `podium --help` loads it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

from podium.errors import UsageError
from podium.findings import check_findings

if TYPE_CHECKING:
    import pandas as pd

Source: TypeAlias = Union[str, Path, "pd.DataFrame"]
MATRIX_READINGS = ("rows", "columns")
"""Whose wins a cell of a win matrix can count."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """The user's options for tables in no known format; see `podium.read_battles`."""

    columns: Mapping[str, str] | None = None
    credit_map: Mapping[str, float] | None = None
    unknown: Literal["error", "unparsed"] = "error"
    shown: Literal["a", "b", "unknown"] | None = None
    fill: Mapping[str, str] | None = None
    matrix: Literal["rows", "columns"] | None = None

    def __post_init__(self) -> None:
        """Raise UsageError for an unknown `matrix`, and for `unknown` without a credit map."""
        if self.unknown == "unparsed" and self.credit_map is None:
            raise UsageError(
                "unknown=unparsed is for verdicts outside the credit map: give one (--credit-map)"
            )
        if self.matrix is not None and self.matrix not in MATRIX_READINGS:
            known = ", ".join(MATRIX_READINGS)
            raise UsageError(
                f"matrix={self.matrix!r}: say whose wins a cell counts, one of {known}"
            )


@dataclass(frozen=True, slots=True)
class BattleQuery:
    """What to read, and how, as `podium.read_battles` describes it.

    Attributes:
        where: pairs of a column and a value.
        metric: names of metrics; empty if the format chooses.
        allow: names of findings that are no errors.
        human_labels: files of human verdicts, which become the labels of the battles.
        complete: keep only items on which every pair has a readable verdict.
    """

    sources: Sequence[Source]
    format: str | None = None
    foreign: Foreign = field(default_factory=Foreign)
    where: Sequence[tuple[str, str]] = ()
    merge: bool = True
    one_sided: Literal["unparsed", "keep"] = "unparsed"
    human_judge: str | None = None
    metric: Sequence[str] = ()
    runs: Literal["newest", "all"] = "newest"
    engine: str = "duckdb"
    memory: str | None = None
    scores_only: bool | None = False
    allow: Sequence[str] = ()
    human_labels: Sequence[str] = ()
    complete: bool = False

    def __post_init__(self) -> None:
        """Keep each allowed finding once; UsageError for one of no finding."""
        object.__setattr__(self, "allow", check_findings(self.allow))

    def judgments(self) -> "BattleQuery":
        """Return the query for the same judgments, unmerged, and without labels of other files."""
        return replace(self, merge=False, one_sided="unparsed", human_labels=(), complete=False)

    def changed_options(self) -> dict[str, Any]:
        """Return the arguments that decide which rows there are and differ from their defaults.

        Returns:
            values for JSON, by the argument's name in `podium.read_battles`.
        """
        usual = BattleQuery(())
        changed: dict[str, Any] = {}
        for option in fields(Foreign):
            value = getattr(self.foreign, option.name)
            if value != getattr(usual.foreign, option.name):
                changed[option.name] = value
        for name in READING_OPTIONS:
            value = getattr(self, name)
            if value != getattr(usual, name):
                changed[name] = _plain_value(value)
        return changed


READING_OPTIONS = (
    "format",
    "where",
    "merge",
    "one_sided",
    "human_judge",
    "metric",
    "runs",
    "allow",
)
"""Fields of a query, beside those of `Foreign`, that decide what rows there are."""


def _plain_value(value: Any) -> Any:
    """Return tuples as lists, also within others; anything else unchanged."""
    return [_plain_value(part) for part in value] if isinstance(value, tuple | list) else value
