"""Read and write podium's battles table, the only format that is written."""

import json
from typing import TYPE_CHECKING

from podium.errors import UsageError
from podium.storage.atomic_files import atomic_file
from podium.storage.remote import Place
from podium.text import as_text, to_plain_values

if TYPE_CHECKING:
    import pandas as pd


def read(records: "pd.DataFrame") -> "pd.DataFrame":
    """Return the records unchanged: they have the columns of the battles table already."""
    return records


def write(frame: "pd.DataFrame", place: Place) -> None:
    """Write a battles table atomically, as Parquet, CSV or JSONL, without its index.

    The suffix of the file decides the format. In a Parquet file, a column has one type. Therefore,
    a column with values of several types is written as text.

    Raises:
        UsageError: the suffix is another one.
    """
    import pandas as pd
    import pyarrow as pa

    if place.suffix not in (".parquet", ".csv", ".jsonl"):
        raise UsageError(f"cannot write {place.name!r}: name a .parquet, .csv or .jsonl file")
    with atomic_file(place) as temporary:
        if place.suffix == ".parquet":
            object_columns = [name for name in frame if pd.api.types.is_object_dtype(frame[name])]
            for name in object_columns:
                try:
                    pa.array(frame[name], from_pandas=True)
                except (pa.ArrowInvalid, pa.ArrowTypeError):
                    frame = frame.assign(**{name: as_text(frame[name])})
            frame.to_parquet(temporary, index=False)
        elif place.suffix == ".csv":
            frame.to_csv(temporary, index=False)
        else:
            # Written by `json`, because pandas' own writer rounds numbers.
            records = frame.astype(object).where(frame.notna(), None).to_dict("records")
            lines = (
                json.dumps(record, ensure_ascii=False, default=to_plain_values) + "\n"
                for record in records
            )
            with temporary.open("w", encoding="utf-8") as stream:
                stream.writelines(lines)
