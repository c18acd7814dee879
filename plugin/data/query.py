"""The arguments of `podium.read_battles` as one object, a query.

Both the command line and the Python function build a query. This module does not import NumPy or
pandas, because `podium --help` loads it and must be fast.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

from podium.errors import UsageError
from podium.findings import check_findings
from podium.frames import is_frame

if TYPE_CHECKING:
    import pandas as pd

Source: TypeAlias = Union[str, Path, "pd.DataFrame"]
"""A file, folder, glob or URL, optionally as `label=path`; or a data frame."""
MATRIX_READINGS = ("rows", "columns")
"""Whether a cell of a win matrix counts the wins of its row's model or of its column's model."""
NAME_READINGS = ("exact", "joined")
"""Whether names of models that look the same are an error, or names of one model."""
ID_READINGS = ("auto", "global", "per-category")
"""Whether an id is one item in all categories, or another item in each; `auto` looks at the rows.
"""


@dataclass(frozen=True, slots=True)
class Foreign:
    """The user's options for foreign tables, which are in no known format.

    The attributes are arguments of `podium.read_battles`.
    """

    columns: Mapping[str, str] | None = None
    credit_map: Mapping[str, float] | None = None
    unknown: Literal["error", "unparsed"] = "error"
    shown: Literal["a", "b", "unknown"] | None = None
    fill: Mapping[str, str] | None = None
    matrix: Literal["rows", "columns"] | None = None

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            UsageError: `matrix` is unknown, or `unknown` is given without a credit map.
        """
        if self.unknown == "unparsed" and self.credit_map is None:
            raise UsageError(
                "unknown=unparsed is for verdicts outside the credit map: give one (--credit-map)"
            )
        if self.matrix is not None and self.matrix not in MATRIX_READINGS:
            readings = ", ".join(MATRIX_READINGS)
            raise UsageError(
                f"matrix={self.matrix!r}: say whose wins a cell counts, one of {readings}"
            )


@dataclass(frozen=True, slots=True)
class BattleQuery:
    """What to read, and how. Attributes that are not listed are described in `read_battles`.

    Attributes:
        sources: files, folders, globs, URLs or data frames.
        foreign: options for tables in no known format.
        where: pairs of a column and a value; only rows with all of these values are kept.
        metric: names of metrics; if empty, the format chooses.
        allow: names of findings that are not treated as errors.
        human_labels: files of human verdicts that become the labels of the battles.
        complete: whether only items on which every pair has a readable verdict are kept.
        cluster: the column with the groups of items; None if each item is independent.
        encoding: the encoding of text files that are not UTF-8; None if all are.
        mapping: the mapping file; `none` for none, and None for the one beside the sources.
        mapping_of_folder: whether `podium.yaml` in the folder of a file is a mapping file of the
            file. If not, a file has only its own one, such as `votes.podium.yaml`.
    """

    sources: Sequence[Source]
    format: str | None = None
    foreign: Foreign = field(default_factory=Foreign)
    where: Sequence[tuple[str, str]] = ()
    merge: bool = True
    one_sided: Literal["unparsed", "keep"] | None = None
    human_judge: str | None = None
    metric: Sequence[str] = ()
    runs: Literal["newest", "all"] = "newest"
    engine: str = "duckdb"
    memory: str | None = None
    scores_only: bool | None = False
    allow: Sequence[str] = ()
    names: Literal["exact", "joined"] = "exact"
    ids: Literal["auto", "global", "per-category"] = "auto"
    lower_is_better: bool | None = None
    human_labels: Sequence[str] = ()
    complete: bool = False
    cluster: str | None = None
    encoding: str | None = None
    mapping: str | None = None
    mapping_of_folder: bool = True

    def __post_init__(self) -> None:
        """Check the sources and the words of options, and drop repeated names from `allow`.

        Raises:
            UsageError: a source is neither a path nor a data frame, a name in `allow` is not the
                name of a finding, or `names`, `ids` or `encoding` is unknown.
        """
        for source in self.sources:
            if not isinstance(source, str | PurePath) and not is_frame(source):
                kind = type(source).__name__
                remedy = "give pandas.DataFrame(records)"
                raise UsageError(f"a source is a path or a data frame, not a {kind}: {remedy}")
        for option, value, allowed in (
            ("names", self.names, NAME_READINGS),
            ("ids", self.ids, ID_READINGS),
        ):
            if value not in allowed:
                raise UsageError(f"{option}={value!r}: take one of {', '.join(allowed)}")
        object.__setattr__(self, "allow", check_findings(self.allow))
        if self.encoding is not None:
            # Here, as the help of a command loads this module and no file is read for it.
            from podium.data.text_encodings import check_encoding

            check_encoding(self.encoding)

    def without_merging(self) -> "BattleQuery":
        """Return the query that reads the same judgments without merging their orders.

        Labels from other files are left out, and incomplete items are kept.
        """
        return replace(self, merge=False, one_sided=None, human_labels=(), complete=False)

    def changed_options(self) -> dict[str, Any]:
        """Return the options that decide which rows are read and that differ from their defaults.

        Returns:
            Values for JSON, by the argument's name in `podium.read_battles`.
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

    def recorded_options(self) -> dict[str, Any]:
        """Return `changed_options`, and the options of `FURTHER_OPTIONS` that were changed.

        These change battles after their rows were read.
        """
        recorded = self.changed_options()
        usual = BattleQuery(())
        for name in FURTHER_OPTIONS:
            value = getattr(self, name)
            if value != getattr(usual, name):
                recorded[name] = _plain_value(value)
        return recorded


FURTHER_OPTIONS = ("human_labels", "complete", "mapping")
"""Fields of a query that change battles after their rows are read; `compare` has its own."""
READING_OPTIONS = (
    "format",
    "where",
    "merge",
    "one_sided",
    "human_judge",
    "metric",
    "runs",
    "allow",
    "names",
    "ids",
    "lower_is_better",
    "cluster",
    "encoding",
)
"""Fields of a query, in addition to those of `Foreign`, that decide which rows are read."""


def _plain_value(value: Any) -> Any:
    """Convert a tuple or list, and all tuples in it, to lists; return any other value unchanged."""
    if not isinstance(value, tuple | list):
        return value
    return [_plain_value(part) for part in value]
