"""Read podium's own JSON files, calibrations and rankings, into validated records.

The module is imported only when such a file is read, because pydantic is slow to import.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import inf
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WrapValidator,
)
from typing_extensions import TypedDict

from podium.check_kinds import CHECKS
from podium.check_results import Check, check_from_json
from podium.data.battles import LARGEST
from podium.data.counts import Counts
from podium.data.formats.git_lfs import reject_lfs_pointer_file
from podium.data.measure import Measure
from podium.errors import DataError, UsageError, reject_stream
from podium.format_version import RANK_AGAIN, require_format
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_from_json
from podium.printable import shorten
from podium.rankers.calibration import calibration
from podium.rankers.ranking import Entry, Fit, Ranking, Standings
from podium.score_scale import Scale, Zero
from podium.storage.remote import named_file


class JsonRecord(BaseModel):
    """Base class of file contents.

    Values of another type are not converted, NaN is rejected, and unknown fields are ignored.
    """

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class FileVersion(JsonRecord):
    """The format version of a JSON document, which is checked first; None if it has none."""

    podium: str | None = None


class WarningContent(JsonRecord):
    """A warning in a file."""

    code: str
    fields: dict[str, Any]
    text: str


def _read_warnings(warnings: Iterable[WarningContent]) -> tuple[Notice, ...]:
    """Return the warnings of a file; each keeps the text that was written."""
    return tuple(notice_from_json(each.code, each.fields, each.text) for each in warnings)


Record = TypeVar("Record", bound=JsonRecord)


def read_json_record(
    path: Path, kind: type[Record], expected: str, remedy: str, old_remedy: str | None = None
) -> Record:
    """Read a JSON file as a record.

    Args:
        path: the file.
        kind: class of the record.
        expected: what the file should be, for messages; with an article, such as `a ranking`.
        remedy: what to do if the file cannot be read.
        old_remedy: what to do if it has another format version; by default `remedy`.

    Raises:
        DataError: the file cannot be read, has another format version, is not such a record, or
            has a number out of its range (`LIMITS`), or is a pointer of Git LFS.
        UsageError: the path is that of a stream (`reject_stream`).
    """
    reject_stream(path)
    reject_lfs_pointer_file(path)
    try:
        text = path.read_bytes()
        version = FileVersion.model_validate_json(text).podium
        require_format(version, expected, path, old_remedy or remedy)
        record = kind.model_validate_json(text)
        impossible_number = next(_impossible_numbers(record), None)
        if impossible_number is None:
            return record
        problem = f"is not {expected}: {impossible_number}"
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    except ValidationError as error:
        problem = _describe_problem(error, expected)
    raise DataError(problem, remedy=remedy, source=str(path))


def _describe_problem(error: ValidationError, expected: str) -> str:
    """Return a clause on the first problem of a document, to follow the name of the file.

    The clause has no full stop, as in `is not a ranking: no field 'level'`. The document is not
    JSON or nested too deeply, lacks a field, or has a wrong value. `expected` is what the document
    should be, with an article.
    """
    first_error = error.errors()[0]
    if "recursion limit" in first_error["msg"]:
        return "cannot be read as JSON: it is nested too deeply"
    field = ".".join(map(str, first_error["loc"]))
    message = first_error["msg"].removeprefix("Value error, ")
    if first_error["type"] == "json_invalid":
        return f"cannot be read as JSON ({message.removeprefix('Invalid JSON: ')})"
    if first_error["type"] == "value_error":
        place = f"{field}: " if field else ""
        return f"is not {expected}: {place}{message}"
    if not field:
        return f"is not {expected}: no JSON object"
    if first_error["type"] == "missing":
        return f"is not {expected}: no field {field!r}"
    value_text = shorten(repr(first_error["input"]))
    reason = message[0].lower() + message[1:]
    return f"is not {expected}: {field} is {value_text}: {reason}"


SMALLEST_POSITIVE = 1e-15
"""Smallest possible value of fields that must be above 0. A confidence level is between this and 1
minus this."""
LIMITS = {
    **dict.fromkeys(("rank", "rank_low", "rank_high", "components"), (1, LARGEST)),
    **dict.fromkeys(
        ("items", "judgments", "battles", "unparsed", "one_sided", "missing"), (0, inf)
    ),
    **dict.fromkeys(("without_margin", "identical"), (0, inf)),
    **dict.fromkeys(("n", "splits", "draws", "failed", "decisive", "beta_battles"), (0, inf)),
    **dict.fromkeys(
        ("se", "hard_se", "soft_se", "human_se", "sd", "spread", "median_se", "q", "t"),
        (0, LARGEST),
    ),
    **dict.fromkeys(
        ("win_rate", "coverage", "loo_coverage", "agreement", "auc", "auc_p", "ece"),
        (-1e-9, 1 + 1e-9),
    ),
    **dict.fromkeys(
        ("hard_scale_correction", "soft_scale_correction", "value"), (SMALLEST_POSITIVE, LARGEST)
    ),
    "level": (SMALLEST_POSITIVE, 1 - SMALLEST_POSITIVE),
}
"""Smallest and largest possible value of a field, by name. An end of `inf` stands for `LARGEST`.
Fields that are not listed may be up to `LARGEST` in absolute value."""


def _impossible_numbers(value: Any, path: str = "", name: str = "") -> Iterator[str]:
    """Yield a clause for each number that is out of its range or not finite.

    A clause is `fit.beta is -1: out of range`. Ranges by name (`LIMITS`) hold for fields of records
    only; keys of mappings and elements of lists have the general range. Booleans are no numbers.

    Args:
        value: a value of a document, with all that it contains.
        path: where the value is in the document, with dots between.
        name: the field that has the value; empty for an element of a list or mapping.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = LIMITS.get(name, (-LARGEST, LARGEST))
        if not max(low, -LARGEST) <= value <= min(high, LARGEST):
            yield f"{path} is {shorten(repr(value))}: out of range"
        return
    is_record = isinstance(value, BaseModel) or is_dataclass(value)
    if isinstance(value, BaseModel):
        value = dict(value)
    elif is_record:
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    named_parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        named_parts = value.items()
    elif isinstance(value, list | tuple):
        named_parts = enumerate(value)
    for key, part in named_parts:
        # The fields in `extra` are in the row itself in the file, and are named so.
        path_of_part = f"{path}.{key}".removeprefix(".").removesuffix(".extra")
        field_of_part = str(key) if is_record else ""
        yield from _impossible_numbers(part, path_of_part, field_of_part)


def _check_models_once(records: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the records; ValueError if two of them are of the same model."""
    counts = Counter(each.model for each in records)
    for model, count in counts.most_common(1):
        if count > 1:
            raise ValueError(f"{shorten(repr(model))} appears twice")
    return records


CALIBRATE_AGAIN = "make the file again with `podium calibrate`"
"""What to do if a calibration cannot be read."""
Value = TypeVar("Value")


def _keep_as_written(value: Any, validate: Callable[[Any], Any]) -> Any:
    """Validate a value, but return it as it was given: the result of `validate` is dropped.

    The ValidationError that `validate` raises for a wrong value is passed on.
    """
    validate(value)
    return value


KEPT_AS_WRITTEN = WrapValidator(_keep_as_written)
"""Marks a mapping whose known keys are checked, and whose other keys are kept in the order of the
file."""
EACH_MODEL_ONCE = AfterValidator(_check_models_once)
"""Marks a tuple of records in which no model may appear twice."""


class TargetPart(JsonRecord):
    """The target, except beta and its interval."""

    kind: str
    weights: dict[str, float]
    covariance: tuple[tuple[float, ...], ...] | None = None
    ridge: float = 0.0


class ByKind(JsonRecord, Generic[Value]):
    """One value for hard ratings and one for soft ratings."""

    hard: Value
    soft: Value


class OriginCounts(TypedDict, total=False):
    """The counts that the report of a calibration shows."""

    battles: int
    judged: int


class CalibrationOrigin(TypedDict, total=False):
    """The parts of a calibration's provenance that are read again; it may have others."""

    prompts: list[Any]
    counts: OriginCounts
    human: dict[str, int]


class CalibrationContent(JsonRecord):
    """The fields of a calibration file; those with defaults may be missing."""

    judge: str | None
    beta: Annotated[float, Field(gt=0)]
    beta_low: float | None
    beta_high: float | None
    beta_battles: int
    regularization: Annotated[float, Field(ge=0)]
    # `sandwich`, or `bootstrap:` and a number of resamples of at least 2.
    se_method: Annotated[str, Field(pattern=r"^(sandwich|bootstrap:([2-9]|[1-9][0-9]+))$")]
    seed: int
    loo: ByKind[calibration.Accuracy]
    models: Annotated[tuple[calibration.HeldOut, ...], EACH_MODEL_ONCE]
    anchors: Annotated[tuple[calibration.AnchorStrengths, ...], EACH_MODEL_ONCE]
    conformal: ByKind[calibration.Conformal]
    agreement: calibration.Agreement
    provenance: Annotated[CalibrationOrigin, KEPT_AS_WRITTEN]
    target: TargetPart | None = None
    beta_level: float | None = None
    se_cluster: str = "row"
    scale_correction: dict[str, calibration.ScaleCorrection] = Field(default_factory=dict)
    stability: tuple[calibration.Stability, ...] = ()
    warnings: tuple[WarningContent, ...] = ()
    answer: tuple[str, ...] = ()
    is_uninformative: bool = False


def read_calibration(path: str | Path) -> calibration.Calibration:
    """Read a calibration file.

    Fields of the file that a calibration does not have are ignored. A file without a target has
    the target `margin`, with beta as its weight. `path` may be the URL of a file.

    Raises:
        UsageError: there is no such file, or the path is that of a stream.
        DataError: the file is damaged, or has another format version.
    """
    file = named_file(str(path)) or Path(path)
    if not file.exists():
        raise UsageError(
            f"there is no calibration file {str(path)!r}; `podium calibrate` makes one"
        )
    content = read_json_record(file, CalibrationContent, "a calibration", CALIBRATE_AGAIN)
    target = content.target or TargetPart(kind="margin", weights={"margin": content.beta})
    names = [field.name for field in fields(calibration.Calibration)]
    values: dict[str, Any] = {name: getattr(content, name, None) for name in names}
    values |= {
        "target": calibration.Target(
            **dict(target),
            beta=content.beta,
            low=content.beta_low,
            high=content.beta_high,
            level=content.beta_level,
            battles=content.beta_battles,
        ),
        "accuracy": dict(content.loo),
        "conformal": dict(content.conformal),
        "warnings": _read_warnings(content.warnings),
    }
    return calibration.Calibration(**values)


SUFFIXES = (".json", ".ranking")
"""Ends of the names of files with rankings; `.ranking` are those beside Inspect's logs."""
REMEDY = "give what `podium rank --format json -o ranking.json` writes"
"""What to do if a ranking cannot be read."""
ENTRY_FIELDS = {field.name for field in fields(Entry)} - {"extra"}
"""Names of the fields of a row that `Entry` has; others are columns of the ranker."""


def _gather_extra(row: Any) -> Any:
    """Return a JSON row with the fields that `Entry` does not have in a field `extra`.

    The row is not changed. A value that is no object is returned as it is.
    """
    if not isinstance(row, dict):
        return row
    extra = {name: value for name, value in row.items() if name not in ENTRY_FIELDS}
    return {name: row[name] for name in row.keys() & ENTRY_FIELDS} | {"extra": extra}


class SwapCounts(TypedDict):
    """Battles by how their two orders agree."""

    same: int
    half: int
    flip: int


class Diagnostics(TypedDict, total=False):
    """The diagnostics that reports show; rankers may have others."""

    swap: SwapCounts
    unparsed_reasons: dict[str, int]
    informative_items: int


FormatSpecification = Annotated[str, Field(pattern=r"^\.[0-9]{1,2}[fg%]$")]
"""A format of numbers as Python writes it: `.0f`, `.3g` or `.1%`."""


class ScaleFields(TypedDict, total=False):
    """The fields of a scale that differ from the defaults, without its name."""

    kind: str
    heading: str
    unit: str
    unit_size: Annotated[float, Field(gt=0)]
    zero: Zero
    against: str | None
    format: FormatSpecification
    brief_format: FormatSpecification
    axis_format: FormatSpecification
    difference_format: FormatSpecification
    bounds: tuple[float, float] | None


class CheckContent(JsonRecord):
    """A check in a file; its threshold is that of this version."""

    code: str
    result: Literal["ok", "flagged", "not known"]
    number: int | float | None
    low: int | float | None
    high: int | float | None
    p: int | float | None
    fields: dict[str, Any]
    models: tuple[str, ...]
    text: str
    remedy: str


def _read_checks(checks: Iterable[CheckContent]) -> tuple[Check, ...]:
    """Return the checks of a file, without those that only a later version of podium has."""
    known_codes = {kind.code for kind in CHECKS.values()}
    return tuple(check_from_json(dict(check)) for check in checks if check.code in known_codes)


class StandingsContent(JsonRecord):
    """One element of the list `rankings`."""

    ranker: str
    slice: str | None
    slice_label: str | None = None
    scale: str
    scale_record: ScaleFields = Field(default_factory=ScaleFields)
    level: float
    interval: str | None
    models: Annotated[
        tuple[Annotated[Entry, BeforeValidator(_gather_extra)], ...],
        Field(min_length=1),
        EACH_MODEL_ONCE,
    ]
    fit: Fit
    counts: Counts
    diagnostics: Annotated[Diagnostics, KEPT_AS_WRITTEN] = Field(default_factory=Diagnostics)
    checks: tuple[CheckContent, ...] = ()
    warnings: tuple[WarningContent, ...] = ()
    answer: tuple[str, ...] = ()
    error_method: str | None = None
    tasks: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()


class RankingContent(JsonRecord):
    """The fields of a ranking file."""

    rankings: Annotated[tuple[StandingsContent, ...], Field(min_length=1)]
    provenance: dict[str, Any] = Field(default_factory=dict)
    failures: tuple[str, ...] = ()


def read_ranking(path: Path, remedy: str = REMEDY) -> Ranking | None:
    """Read the ranking in a JSON file; None if the file is something else.

    It is something else if there is no such file, its name does not end with one of `SUFFIXES`, it
    is not JSON, or it has no list `rankings`. `remedy` is what to do if the ranking cannot be read.

    Raises:
        DataError: the file is a ranking that is damaged, or has another format version; or its
            JSON is nested too deeply.
        OSError: the file cannot be read.
    """
    if path.suffix not in SUFFIXES or not path.is_file():
        return None
    try:
        document = json.loads(path.read_bytes(), parse_int=str)
    except RecursionError:
        raise DataError("nested too deeply", remedy=remedy, source=str(path)) from None
    except ValueError:
        return None
    if not isinstance(document, dict) or not isinstance(document.get("rankings"), list):
        return None
    content = read_json_record(
        path, kind=RankingContent, expected="a ranking", remedy=remedy, old_remedy=RANK_AGAIN
    )
    standings = tuple(_restore_standings(part) for part in content.rankings)
    return Ranking(standings, content.provenance, content.failures)


def _restore_standings(part: StandingsContent) -> Standings:
    """Return the standings that an element of the list `rankings` describes.

    They have no `separation`, which files do not have.
    """
    values = dict(part)
    del values["scale_record"]
    values["entries"] = values.pop("models")
    values["scale"] = Scale(part.scale, **part.scale_record)
    values["checks"] = _read_checks(part.checks)
    values["warnings"] = _read_warnings(part.warnings)
    return Standings(**values)
