"""Small files in their native containers, and what was read from them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest


@pytest.fixture
def save(tmp_path: Path) -> Callable[[str, Any], str]:
    """Return a writer: text as it is; rows as JSON, JSONL or Parquet by the file's suffix."""

    def write(name: str, content: Any) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        elif path.suffix == ".parquet":
            pd.DataFrame(content).to_parquet(path)
        elif path.suffix == ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
        else:
            path.write_text(json.dumps(content), encoding="utf-8")
        return str(path)

    return write
