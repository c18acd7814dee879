"""Read JSON files of podium's own into validated records; imported only where a file is read, as pydantic is."""

from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from podium.errors import DataError
from podium.format_version import require_format

AtLeastZero = Annotated[float, Field(ge=0)]


class JsonRecord(BaseModel):
    """Base of file contents: types are not coerced, NaN is rejected, and fields of later versions are ignored."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class FileVersion(JsonRecord):
    """The format version of a JSON document; None if it says none."""

    podium: str | None = None


Record = TypeVar("Record", bound=JsonRecord)


def read_json_record(path: Path, kind: type[Record], what: str, remedy: str, old_remedy: str | None = None) -> Record:
    """Read a JSON file as a record.

    Args:
        what: the kind of document, with its article: "a calibration".
        old_remedy: what to do about another format version; `remedy` by default.

    Raises:
        DataError: it is no JSON, of another format version, or a field is missing or wrong; the message names file and
            field.
    """
    try:
        text = path.read_bytes()
        version = FileVersion.model_validate_json(text)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", remedy=remedy, source=str(path)) from None
    except ValidationError as error:
        raise DataError(_describe_problem(error, what), remedy=remedy, source=str(path)) from None
    require_format(version.podium, what, path, old_remedy or remedy)
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise DataError(_describe_problem(error, what), remedy=remedy, source=str(path)) from None


def _describe_problem(error: ValidationError, what: str) -> str:
    """Return the sentence on the first problem of a document: no JSON, a missing field, or a wrong value."""
    first = error.errors()[0]
    field, message = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
    if first["type"] == "json_invalid":
        return f"cannot be read as JSON ({message.removeprefix('Invalid JSON: ')})"
    if not field:
        return f"is not {what}: no JSON object"
    if first["type"] == "missing":
        return f"is not {what}: no field {field!r}"
    value = "" if first["type"] == "value_error" else f" is {first['input']!r}"[:60]
    return f"is not {what}: {field}{value}: {message[0].lower()}{message[1:]}"
