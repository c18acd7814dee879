"""Read JSON files of podium's own into validated records; imported only where a file is read, as pydantic is."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from podium.errors import DataError
from podium.format_version import require_format


class JsonRecord(BaseModel):
    """Base of file contents: types are not coerced, NaN is rejected, and fields of later versions are ignored."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class FileVersion(JsonRecord):
    """The format version of a JSON document; None if it says none."""

    podium: str | None = None


Record = TypeVar("Record", bound=JsonRecord)


def read_json_record(path: Path, kind: type[Record], what: str, remedy: str, old_remedy: str | None = None) -> Record:
    """Read a JSON file as a record; `what` is the kind of document with its article, as "a calibration".

    Raises:
        DataError: no JSON, another format version (`old_remedy`), or a field is missing or wrong (`remedy`).
    """
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
