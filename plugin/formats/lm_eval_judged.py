"""Verdicts inside lm-eval's samples: what podium's judging filter leaves in `filtered_resps`, one text per document.

    {"podium_verdicts": 1, "item": ..., "entrant": ..., "credit": ..., "one_sided": ..., "missing": {opponent: why},
     "battles": [{"model_a": ..., "model_b": ..., "credit": ..., "margin": ..., "reason": ..., "length_a": ..., ...,
                  "presentations": [{"order", "repeat", "judge", "credit", "margin", "reason", ..., "replies"}]}]}

The document's credit belongs to the entrant whose response the row holds, a battle's to `model_a`, as everywhere.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from podium.errors import DataError
from podium.formats.lm_eval_layout import Samples, opened
from podium.formats.lm_eval_layout import rows as samples_rows

MARK = "podium_verdicts"
VERSION = 1
OWN = "this model"
"""What the entrant is called where nobody names it."""
ABOUT = ("category", "length_a", "length_b")
NOT_COLUMNS = frozenset({"replies"})


def written(judged: Mapping[str, Any]) -> str:
    """Return the verdicts on one document as the text that lm-eval keeps."""
    return json.dumps({MARK: VERSION, **judged}, ensure_ascii=False, allow_nan=False)


def read(kept: Any) -> dict[str, Any] | None:
    """Return the verdicts that a filtered response holds; None where it is something else.

    >>> read("42"), read(['{"answer": 1}']), read(None)
    (None, None, None)
    """
    if isinstance(kept, list | tuple) and len(kept) == 1:
        return read(kept[0])
    if not isinstance(kept, str) or not kept.startswith(f'{{"{MARK}": {VERSION},'):
        return None
    try:
        return dict(json.loads(kept))
    except ValueError:
        return None


def rows(judged: Mapping[str, Any], entrant: str | None = None) -> list[dict[str, Any]]:
    """Return the verdicts on one document as rows of the battles table: a row per presentation.

    Args:
        entrant: what to call the entrant; by default as the filter did.
    """
    return [
        {**_about(judged, battle, entrant), **{name: cell for name, cell in one.items() if name not in NOT_COLUMNS}}
        for battle in judged["battles"]
        for one in battle["presentations"]
    ]


def merged_rows(judged: Mapping[str, Any], entrant: str | None = None) -> list[dict[str, Any]]:
    """Return the verdicts on one document as a row per battle: judges of a jury are put together by its rule."""
    verdict = ("credit", "margin", "reason")
    return [
        {**_about(judged, battle, entrant), **{name: battle[name] for name in verdict}, "order": "merged"}
        for battle in judged["battles"]
    ]


def _about(judged: Mapping[str, Any], battle: Mapping[str, Any], entrant: str | None) -> dict[str, Any]:
    names = {judged["entrant"]: entrant or judged["entrant"]}
    sides = {side: names.get(battle[side], battle[side]) for side in ("model_a", "model_b")}
    return {"item": judged["item"], **sides, **{name: battle[name] for name in ABOUT if name in battle}}


def judges(documents: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the names of the judges, sorted."""
    battles = [battle for judged in documents for battle in judged["battles"]]
    return tuple(sorted({one["judge"] for battle in battles for one in battle["presentations"]}))


def frame(documents: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the verdicts on some documents as a battles table, not yet merged: of a jury, a row per battle."""
    documents = list(documents)
    rows_of = merged_rows if len(judges(documents)) > 1 else rows
    return pd.DataFrame([row for judged in documents for row in rows_of(judged)])


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts in some samples files.

    Attributes:
        sheets: source and rows of the battles table, a row per presentation; a sheet per file that holds verdicts.
        notes: what people should know.
        lost: what could not be read.
    """

    sheets: tuple[tuple[str, pd.DataFrame], ...]
    notes: tuple[str, ...]
    lost: tuple[str, ...]


def judged_in(files: Sequence[Samples]) -> Judged:
    """Read the verdicts that samples files hold.

    Raises:
        DataError: a damaged file, or an opponent that is called as the file's own model.
    """
    marked = [one for one in files if _is_marked(one.path)]
    lost: list[str] = []
    read_files = [(str(one.path), pd.DataFrame(list(_told(one, lost)))) for one in marked]
    sheets = tuple((source, sheet.set_index("line")) for source, sheet in read_files if len(sheet))
    rest = len(files) - len(sheets)
    notes = (f"{rest} samples files without verdicts are left out",) if rest else ()
    return Judged(sheets, notes, tuple(lost))


def _is_marked(path: Path) -> bool:
    """Whether a file may hold verdicts: a look at its bytes spares reading most."""
    with opened(path) as stream:
        return any(MARK.encode() in line for line in stream)


def _told(file: Samples, lost: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, each with its line; add to `lost` what is cut off."""
    for place, row in samples_rows(file.path):
        if row is None:
            lost.append(f"{file.path}, {place}: cut off, so its document is missing")
            continue
        judged = None if _said_by_the_model(row) else read(row.get("filtered_resps"))
        for one in rows(judged, _entrant(file, judged)) if judged else ():
            if one["model_a"] == one["model_b"]:
                raise DataError(
                    f"{one['model_a']!r} is the name of both sides",
                    remedy=f"label the run (name={file.path.parent}), or its opponent in the filter's `against`",
                    source=str(file.path),
                    row=place,
                )
            yield {"line": place.removeprefix("line "), **one}


def _said_by_the_model(row: Mapping[str, Any]) -> bool:
    """Whether the model itself wrote what stands in `filtered_resps`: that is a response, whatever it looks like."""
    kept, said = row.get("filtered_resps"), list(_texts(row.get("resps")))
    return any(one in text for one in _texts(kept) for text in said)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _entrant(file: Samples, judged: Mapping[str, Any]) -> str:
    """Return the name of a file's model: the user's label, else what the filter calls it, else lm-eval's word."""
    return file.entrant if file.labelled or judged["entrant"] == OWN else str(judged["entrant"])
