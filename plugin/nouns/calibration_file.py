"""Read calibration files."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

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
from podium.nouns.json_file import AtLeastZero, JsonRecord, read_json_record

REMEDY = "make the file again with `podium calibrate`"


def _check_conformal(conformal: Conformal) -> Conformal:
    """Validate the level."""
    if not 0 < conformal.level < 1:
        raise ValueError(f"its level {conformal.level!r} is not between 0 and 1")
    return conformal


def _check_held_out(held: HeldOut) -> HeldOut:
    """Validate that standard errors are at least 0, and factors above 0."""
    if any(error is not None and error < 0 for error in (held.hard_se, held.soft_se, held.human_se)):
        raise ValueError("a standard error is below 0")
    if min(held.factor("hard"), held.factor("soft")) <= 0:
        raise ValueError("a scale correction is not above 0")
    return held


def _check_scale_correction(correction: ScaleCorrection) -> ScaleCorrection:
    """Validate that the factor is above 0, and the spread at least 0."""
    if correction.mean <= 0 or correction.spread < 0:
        raise ValueError("its mean is not above 0, or its spread is below 0")
    return correction


def _check_provenance(provenance: dict[str, Any]) -> dict[str, Any]:
    """Validate that the hashes of the judge's prompts are a list."""
    if not isinstance(provenance.get("prompts", []), list):
        raise ValueError("its prompts are no list")
    return provenance


CheckedConformal = Annotated[Conformal, AfterValidator(_check_conformal)]


class TargetPart(JsonRecord):
    """The target, except beta and its interval."""

    kind: str
    weights: dict[str, float]
    covariance: tuple[tuple[float, ...], ...] | None = None
    ridge: float = 0.0


@dataclass
class AccuracyPart:
    """Accuracy by kind."""

    hard: Accuracy
    soft: Accuracy


@dataclass
class ConformalPart:
    """Conformal quantiles by kind."""

    hard: CheckedConformal
    soft: CheckedConformal


class CalibrationContent(JsonRecord):
    """The fields of a calibration file; the contract does not ask for those with defaults."""

    judge: str | None
    beta: Annotated[float, Field(gt=0)]
    beta_low: float | None
    beta_high: float | None
    beta_battles: int
    regularization: AtLeastZero
    se_method: Annotated[str, Field(pattern=r"^(sandwich|bootstrap:([2-9]|[1-9][0-9]+))$")]
    seed: int
    loo: AccuracyPart
    models: tuple[Annotated[HeldOut, AfterValidator(_check_held_out)], ...]
    anchors: tuple[AnchorStrengths, ...]
    conformal: ConformalPart
    agreement: Agreement
    provenance: Annotated[dict[str, Any], AfterValidator(_check_provenance)]
    target: TargetPart | None = None
    beta_level: float | None = None
    se_cluster: str = "row"
    scale_correction: dict[str, Annotated[ScaleCorrection, AfterValidator(_check_scale_correction)]] = Field(
        default_factory=dict
    )
    stability: tuple[Stability, ...] = ()
    warnings: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    tells_nothing: bool = False


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
        "accuracy": vars(content.loo),
        "conformal": vars(content.conformal),
    }
    return Calibration(**values)
