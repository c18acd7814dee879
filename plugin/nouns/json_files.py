"""Read podium's own JSON files, calibrations and rankings, into validated records; imported only where one is read."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from podium.errors import DataError, UsageError
from podium.format_version import RANK_AGAIN, require_format
from podium.nouns.battles import Counts
from podium.nouns.calibration import (
    Accuracy,
    Agreement,
    AnchorStrengths,
    Calibration,
    Conformal,
    HeldOut,
    ScaleCorrection,
    Stability,
    Target,
)
from podium.nouns.ranking import Entry, Fit, Ranking, Standings


class JsonRecord(BaseModel):
    """Base of file contents: types are not coerced, NaN is rejected, and fields of later versions are ignored."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class FileVersion(JsonRecord):
    """The format version of a JSON document; None if it says none."""

    podium: str | None = None


Record = TypeVar("Record", bound=JsonRecord)


def read_json_record(path: Path, kind: type[Record], what: str, remedy: str, old_remedy: str | None = None) -> Record:
    """Read a JSON file as a record; `what` is the kind with its article, `old_remedy` for another format version."""
    try:
        text = path.read_bytes()
        version = FileVersion.model_validate_json(text).podium
        require_format(version, what, path, old_remedy or remedy)
        return kind.model_validate_json(text)
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    except ValidationError as error:
        problem = _describe_problem(error, what)
    raise DataError(problem, remedy=remedy, source=str(path))


def _describe_problem(error: ValidationError, what: str) -> str:
    """Return the sentence on the first problem of a document: no JSON, a missing field, or a wrong value."""
    first = error.errors()[0]
    field, message = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
    if first["type"] == "json_invalid":
        return f"cannot be read as JSON ({message.removeprefix('Invalid JSON: ')})"
    if not field:
        return f"is not {what}: {message if first['type'] == 'value_error' else 'no JSON object'}"
    if first["type"] == "missing":
        return f"is not {what}: no field {field!r}"
    value = repr(first["input"])[:50]
    return f"is not {what}: {field} is {value}: {message[0].lower()}{message[1:]}"


CALIBRATE_AGAIN = "make the file again with `podium calibrate`"
Noun = TypeVar("Noun")


class TargetPart(JsonRecord):
    """The target, except beta and its interval."""

    kind: str
    weights: dict[str, float]
    covariance: tuple[tuple[float, ...], ...] | None = None
    ridge: float = 0.0


class ByKind(JsonRecord, Generic[Noun]):
    """Figures of hard and of soft ratings."""

    hard: Noun
    soft: Noun


class CalibrationContent(JsonRecord):
    """The fields of a calibration file; the contract does not ask for those with defaults."""

    judge: str | None
    beta: Annotated[float, Field(gt=0)]
    beta_low: float | None
    beta_high: float | None
    beta_battles: int
    regularization: Annotated[float, Field(ge=0)]
    se_method: Annotated[str, Field(pattern=r"^(sandwich|bootstrap:([2-9]|[1-9][0-9]+))$")]
    seed: int
    loo: ByKind[Accuracy]
    models: tuple[HeldOut, ...]
    anchors: tuple[AnchorStrengths, ...]
    conformal: ByKind[Conformal]
    agreement: Agreement
    provenance: dict[str, Any]
    target: TargetPart | None = None
    beta_level: float | None = None
    se_cluster: str = "row"
    scale_correction: dict[str, ScaleCorrection] = Field(default_factory=dict)
    stability: tuple[Stability, ...] = ()
    warnings: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    is_uninformative: bool = False

    @model_validator(mode="after")
    def check_ranges(self) -> "CalibrationContent":
        """Reject numbers that are impossible, naming their field."""
        errors = [error for held in self.models for error in (held.hard_se, held.soft_se, held.human_se) if error]
        factors = [factor for held in self.models for factor in (held.factor("hard"), held.factor("soft"))]
        corrections = self.scale_correction.values()
        problems = {
            "models: a standard error is below 0": min(errors, default=0.0) < 0,
            "models: a scale correction is not above 0": min(factors, default=1.0) <= 0,
            "scale_correction: a value is not above 0": any(each.value <= 0 for each in corrections),
            "scale_correction: a spread is below 0": any(each.spread < 0 for each in corrections),
            "conformal: a level is not between 0 and 1": not all(0 < each.level < 1 for _, each in self.conformal),
            "provenance.prompts is not a list": not isinstance(self.provenance.get("prompts", []), list),
        }
        for problem, is_true in problems.items():
            if is_true:
                raise ValueError(problem)
        return self


def read_calibration(path: str | Path) -> Calibration:
    """Read a calibration file; UsageError if there is none, DataError if it is damaged or of another format version."""
    if not Path(path).exists():
        raise UsageError(f"there is no calibration file {str(path)!r}; `podium calibrate` makes one")
    content = read_json_record(Path(path), CalibrationContent, "a calibration", CALIBRATE_AGAIN)
    target = content.target or TargetPart(kind="margin", weights={"margin": content.beta})
    beta = {name: getattr(content, f"beta_{name}") for name in ("low", "high", "level", "battles")}
    values: dict[str, Any] = {field.name: getattr(content, field.name, None) for field in fields(Calibration)}
    values |= {
        "target": Target(**dict(target), beta=content.beta, **beta),
        "accuracy": dict(content.loo),
        "conformal": dict(content.conformal),
    }
    return Calibration(**values)


REMEDY = "give what `podium rank --format json -o ranking.json` writes"
KNOWN = {field.name for field in fields(Entry)} - {"extra"}


def _gather_extra(row: Any) -> Any:
    """Move the fields that an entry does not have into its `extra`."""
    if not isinstance(row, dict):
        return row
    extra = {name: value for name, value in row.items() if name not in KNOWN}
    return {name: row[name] for name in row.keys() & KNOWN} | {"extra": extra}


class StandingsContent(JsonRecord):
    """One element of the list `rankings`."""

    ranker: str
    slice: str | None
    scale: str
    level: float
    interval: str | None
    models: tuple[Annotated[Entry, BeforeValidator(_gather_extra)], ...]
    fit: Fit
    counts: Counts
    diagnostics: dict[str, Any] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()


class RankingContent(JsonRecord):
    """The fields of a ranking file."""

    rankings: tuple[StandingsContent, ...]
    provenance: dict[str, Any] = Field(default_factory=dict)
    failures: tuple[str, ...] = ()


def read_ranking(path: Path, remedy: str = REMEDY) -> Ranking | None:
    """Read the ranking in a JSON file; None if the file is something else, DataError if it is damaged or too old."""
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        document = json.loads(path.read_bytes())
    except ValueError:
        return None
    if not isinstance(document, dict) or not isinstance(document.get("rankings"), list):
        return None
    content = read_json_record(path, RankingContent, "a ranking", remedy, RANK_AGAIN)
    parts: list[dict[str, Any]] = [dict(part) for part in content.rankings]
    standings = tuple(Standings(entries=part.pop("models"), **part) for part in parts)
    return Ranking(standings, content.provenance, content.failures)
