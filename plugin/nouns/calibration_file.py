"""Read calibration files."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from pydantic import Field, model_validator

from podium.errors import UsageError
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
from podium.nouns.json_file import JsonRecord, read_json_record

REMEDY = "make the file again with `podium calibrate`"
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
    tells_nothing: bool = False

    @model_validator(mode="after")
    def check_ranges(self) -> "CalibrationContent":
        """Reject numbers that are impossible, naming their field."""
        errors = [error for held in self.models for error in (held.hard_se, held.soft_se, held.human_se) if error]
        factors = [factor for held in self.models for factor in (held.factor("hard"), held.factor("soft"))]
        corrections = self.scale_correction.values()
        problems = {
            "models: a standard error is below 0": min(errors, default=0.0) < 0,
            "models: a scale correction is not above 0": min(factors, default=1.0) <= 0,
            "scale_correction: a mean is not above 0": any(each.mean <= 0 for each in corrections),
            "scale_correction: a spread is below 0": any(each.spread < 0 for each in corrections),
            "conformal: a level is not between 0 and 1": not all(0 < each.level < 1 for _, each in self.conformal),
            "provenance: its prompts are no list": not isinstance(self.provenance.get("prompts", []), list),
        }
        for problem, is_true in problems.items():
            if is_true:
                raise ValueError(problem)
        return self


def read_calibration(path: str | Path) -> Calibration:
    """Read a calibration file.

    Raises:
        UsageError: there is no such file.
        DataError: it is no calibration of this format version, or a field is wrong.
    """
    if not Path(path).exists():
        raise UsageError(f"there is no calibration file {str(path)!r}; `podium calibrate` makes one")
    content = read_json_record(Path(path), CalibrationContent, "a calibration", REMEDY)
    target = content.target or TargetPart(kind="margin", weights={"margin": content.beta})
    beta = {name: getattr(content, f"beta_{name}") for name in ("low", "high", "level", "battles")}
    values: dict[str, Any] = {field.name: getattr(content, field.name, None) for field in fields(Calibration)}
    values |= {
        "target": Target(**dict(target), beta=content.beta, **beta),
        "accuracy": dict(content.loo),
        "conformal": dict(content.conformal),
    }
    return Calibration(**values)
