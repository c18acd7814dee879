"""Calibration files: read and checked against the nouns that they hold, before anything is built on them."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from podium.errors import DataError, UsageError
from podium.format_version import require_format
from podium.nouns.calibration import Calibration

REMEDY = "make the file anew with `podium calibrate`"
BESIDE = {"se_cluster": "row", "n": 0, "needed": 0}
"""What stands in for fields that the contract does not ask for; single battles are what the paper draws."""
KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "text", bool: "true or false"}


def read_calibration(path: str | Path) -> Calibration:
    """Read a calibration file.

    Raises:
        UsageError: there is no such file.
        DataError: it is no calibration file, or a field is not what it should be.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(content, Mapping):
            raise DataError("is not a calibration: no JSON object", remedy=REMEDY)
        require_format(content["podium"], "a calibration", path, REMEDY)
        return _calibration(content)
    except FileNotFoundError:
        raise UsageError(f"there is no calibration file {str(path)!r}; `podium calibrate` makes one") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"cannot be read as JSON ({error})", remedy=REMEDY, source=str(path)) from None
    except DataError as error:
        raise error.with_place(str(path)) from None
    except KeyError as error:
        raise DataError(f"is not a calibration: no field {error}", remedy=REMEDY, source=str(path)) from None
    except (TypeError, ValueError, AttributeError) as error:
        raise DataError(f"is not a calibration: {error}", remedy=REMEDY, source=str(path)) from None


def _calibration(content: Mapping[str, Any]) -> Calibration:
    """Check the file's fields and ranges; most of what the target holds stands at the top of the file."""
    method = str(content["se_method"])
    if not re.fullmatch(r"sandwich|bootstrap:[0-9]+", method):
        raise DataError(f"se_method {method!r} is unknown", remedy="write sandwich, or bootstrap:N")
    if method != "sandwich" and int(method.partition(":")[2]) < 2:
        raise ValueError(f"se_method is {method!r}, and a standard error needs at least 2 resamples")
    given = content.get("target") or {"kind": "margin", "weights": {"margin": content["beta"]}}
    target = {
        **_check_kind(given, "target", dict),
        "beta": content["beta"],
        "level": content.get("beta_level"),
        **{name: content[f"beta_{name}"] for name in ("low", "high", "battles")},
    }
    by_kind = {name: content[place] for name, place in (("accuracy", "loo"), ("conformal", "conformal"))}
    nouns = {name: {kind: parts[kind] for kind in ("hard", "soft")} for name, parts in by_kind.items()}
    calibration = _noun(Calibration, {**content, **nouns, "target": target, "provenance": content["provenance"]})
    _check_ranges(calibration)
    return calibration


def _noun(kind: Any, row: Any) -> Any:
    """Make a noun of the fields that it knows; others are passed over, as later versions may add some."""
    hints, values = get_type_hints(kind), {**BESIDE, **_check_kind(row, kind.__name__, dict)}
    known = {
        item.name: values[item.name]
        for item in fields(kind)
        if item.name in values or (item.default is MISSING and item.default_factory is MISSING)
    }
    return kind(**{name: _value(value, name, hints[name]) for name, value in known.items()})


def _value(value: Any, name: str, kind: Any) -> Any:
    """Check a value against the annotation of its field, and make nouns and tuples of what is within."""
    if isinstance(kind, UnionType):
        return None if value is None else _value(value, name, get_args(kind)[0])
    if is_dataclass(kind):
        return _noun(kind, value)
    if get_origin(kind) is tuple:
        return tuple(_value(part, name, get_args(kind)[0]) for part in _check_kind(value, name, list))
    if get_origin(kind) is Mapping:
        content = _check_kind(value, name, dict)
        return {key: _value(part, key, get_args(kind)[1]) for key, part in content.items()}
    if kind in (str, bool):
        return _check_kind(value, name, kind)
    if kind in (int, float):
        _check_number(value, name)
        return int(value) if kind is int else value
    return value


def _check_kind(value: Any, name: str, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {value!r}, not {KINDS[kind]}")
    return value


def _check_number(value: Any, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{name} is {value!r}, not a finite number")


def _check_ranges(calibration: Calibration) -> None:
    """Refuse numbers that cannot be, and what is checked nowhere else because it is passed through."""
    if calibration.target.beta <= 0:
        raise ValueError(f"beta is {calibration.target.beta:g}, not above 0")
    held_errors = [(held.hard_se, held.soft_se, held.human_se) for held in calibration.models]
    errors = [error for errors in held_errors for error in errors if error is not None]
    spreads = [scale_correction.spread for scale_correction in calibration.scale_correction.values()]
    if min([calibration.regularization, *errors, *spreads]) < 0:
        raise ValueError("regularization, a standard error, or a spread, is below 0")
    factors = [scale_correction.mean for scale_correction in calibration.scale_correction.values()]
    factors += [factor for held in calibration.models for factor in (held.factor("hard"), held.factor("soft"))]
    if min(factors, default=1.0) <= 0:
        raise ValueError("a scale correction is not above 0")
    for conformal in calibration.conformal.values():
        if not 0 < conformal.level < 1:
            raise ValueError(f"level is {conformal.level!r}, not between 0 and 1")
    for name in ("kappa", "mean_abs_margin", "agreement", "auc", "ece"):
        if calibration.agreement[name] is not None:
            _check_number(calibration.agreement[name], name)
    _check_kind(calibration.provenance.get("prompts", []), "prompts", list)
