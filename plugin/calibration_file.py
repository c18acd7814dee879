"""Calibration files: read and checked, field by field, before anything is built on them."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from podium.calibration import Accuracy, Anchor, Calibration, Conformal, HeldOut, Stability, Target
from podium.errors import DataError, UsageError

REMEDY = "make the file anew with `podium calibrate`"


def read_calibration(path: str | Path) -> Calibration:
    """Read a calibration file.

    Raises:
        UsageError: there is no such file.
        DataError: it is no calibration file, or a field is not what it should be.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no calibration file {str(path)!r}; `podium calibrate` makes one") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"cannot be read as JSON ({error})", remedy=REMEDY, source=str(path)) from None
    try:
        return from_dict(content)
    except DataError as error:
        raise error.with_place(str(path)) from None


def from_dict(content: Any) -> Calibration:
    """Turn the contract's calibration file back into a calibration.

    Raises:
        DataError: a field is missing, or is not what it should be.
    """
    if not isinstance(content, Mapping):
        raise DataError("is not a calibration: no JSON object", remedy=REMEDY)
    try:
        return _calibration(content)
    except KeyError as error:
        raise DataError(f"is not a calibration: no field {error}", remedy=REMEDY) from None
    except (TypeError, ValueError, AttributeError) as error:
        raise DataError(f"is not a calibration: {error}", remedy=REMEDY) from None


def _calibration(content: Mapping[str, Any]) -> Calibration:
    method, loo, conformal = str(content["se_method"]), _object(content, "loo"), _object(content, "conformal")
    if not re.fullmatch(r"bootstrap:[0-9]+", method):
        raise DataError(f"se_method {method!r} is unknown", remedy="write bootstrap:N")
    if int(method.partition(":")[2]) < 2:
        raise ValueError(f"se_method is {method!r}, and a standard error needs at least 2 resamples")
    _text(content, "podium")
    return Calibration(
        judge=None if content["judge"] is None else _text(content, "judge"),
        target=_target(content),
        regularization=_least(content, "regularization", 0),
        se_method=method,
        se_cluster=content.get("se_cluster", "row"),
        seed=int(_number(content, "seed")),
        accuracy={kind: _accuracy(_object(loo, kind)) for kind in ("hard", "soft")},
        entrants=tuple(_held_out(one) for one in _list(content, "entrants")),
        anchors=tuple(_anchor(one) for one in _list(content, "anchors")),
        conformal={kind: _conformal(_object(conformal, kind)) for kind in ("hard", "soft")},
        agreement=_agreement(_object(content, "agreement")),
        stability=tuple(_known(Stability, one) for one in content.get("stability", [])),
        warnings=tuple(content.get("warnings", [])),
        provenance=_provenance(_object(content, "provenance")),
    )


def _target(content: Mapping[str, Any]) -> Target:
    beta = _number(content, "beta")
    if beta <= 0:
        raise ValueError(f"beta is {beta:g}, not above 0")
    told = content.get("target") or {"kind": "margin", "weights": {"margin": beta}}
    covariance = told.get("covariance")
    return Target(
        kind=str(told["kind"]),
        weights={name: _number(told["weights"], name) for name in told["weights"]},
        beta=beta,
        low=_maybe(content, "beta_low"),
        high=_maybe(content, "beta_high"),
        level=content.get("beta_level"),
        covariance=tuple(tuple(map(float, row)) for row in covariance) if covariance is not None else None,
        battles=int(_number(content, "beta_battles")),
        ridge=float(told.get("ridge", 0.0)),
    )


def _held_out(row: Mapping[str, Any]) -> HeldOut:
    _text(row, "model")
    for name in ("human_elo", "hard_elo", "soft_elo"):
        _maybe(row, name)
    for name in ("hard_se", "soft_se"):
        if row[name] is not None:
            _least(row, name, 0)
    _number(row, "battles")
    return _known(HeldOut, {**row, "separated": tuple(row.get("separated", ()))})


def _anchor(row: Mapping[str, Any]) -> Anchor:
    return Anchor(_text(row, "model"), *(_number(row, f"{kind}_theta") for kind in ("human", "hard", "soft")))


def _accuracy(row: Mapping[str, Any]) -> Accuracy:
    for name in ("mae", "spearman", "kendall"):
        _maybe(row, name)
    return _known(Accuracy, {"n": 0, **row})


def _conformal(row: Mapping[str, Any]) -> Conformal:
    if not 0 < _number(row, "level") < 1:
        raise ValueError(f"level is {row['level']!r}, not between 0 and 1")
    for name in ("q", "coverage", "median_width"):
        _maybe(row, name)
    pairs = {name: tuple(row[name]) for name in ("coverage_range", "width_range") if row.get(name) is not None}
    return _known(Conformal, {"needed": 0, **row, **pairs})


def _agreement(row: Mapping[str, Any]) -> dict[str, Any]:
    for name in ("kappa", "mean_abs_margin", "agreement", "auc", "ece"):
        _maybe(row, name)
    return dict(row)


def _provenance(row: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(row.get("prompts", []), list):
        raise TypeError(f"prompts is {row['prompts']!r}, not a list")
    return dict(row)


def _number(row: Mapping[str, Any], name: str) -> float:
    value = row[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{name} is {value!r}, not a finite number")
    return value


def _maybe(row: Mapping[str, Any], name: str) -> float | None:
    return None if row[name] is None else _number(row, name)


def _least(row: Mapping[str, Any], name: str, least: float) -> float:
    if _number(row, name) < least:
        raise ValueError(f"{name} is {row[name]!r}, below {least}")
    return row[name]


def _text(row: Mapping[str, Any], name: str) -> str:
    if not isinstance(row[name], str):
        raise TypeError(f"{name} is {row[name]!r}, not text")
    return row[name]


def _object(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    if not isinstance(row[name], dict):
        raise TypeError(f"{name} is {row[name]!r}, not an object")
    return row[name]


def _list(row: Mapping[str, Any], name: str) -> list[Any]:
    if not isinstance(row[name], list):
        raise TypeError(f"{name} is {row[name]!r}, not a list")
    return row[name]


def _known(noun: Any, row: Mapping[str, Any]) -> Any:
    """Make a noun of the fields that it knows; others are passed over, as later versions may add some."""
    return noun(**{item.name: row[item.name] for item in fields(noun) if item.name in row})
