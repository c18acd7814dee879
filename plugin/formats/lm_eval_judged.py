"""Verdicts inside lm-eval's samples: what podium's judging filter leaves in `filtered_resps`, one text per document.

    {"podium_verdicts": 1, "item": ..., "entrant": ..., "credit": ..., "one_sided": ..., "missing": {opponent: why},
     "battles": [{"against": ..., "credit": ..., "margin": ..., "reason": ..., "length_a": ..., "length_b": ...,
                  "presentations": [{"order", "repeat", "judge", "credit", "margin", "reason", ..., "replies"}]}]}

Credit belongs to the entrant whose response the document's row holds.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

MARK = "podium_verdicts"
VERSION = 1
OWN = "this model"
"""What the entrant is called where nobody names it."""
ABOUT = ("category", "length_a", "length_b")
NOT_COLUMNS = frozenset({"replies", "error"})


def written(judged: Mapping[str, Any]) -> str:
    """Return the verdicts on one document as the text that lm-eval keeps."""
    return json.dumps({MARK: VERSION, **judged}, ensure_ascii=False, allow_nan=False)


def read(kept: Any) -> dict[str, Any] | None:
    """Return the verdicts that a filtered response holds; None where it is something else.

    >>> read("42"), read('{"answer": 1}'), read(None)
    (None, None, None)
    """
    if isinstance(kept, list | tuple) and len(kept) == 1:
        kept = kept[0]
    if not isinstance(kept, str) or not kept.startswith(f'{{"{MARK}"'):
        return None
    found = json.loads(kept)
    return found if found[MARK] == VERSION else None


def rows(judged: Mapping[str, Any], entrant: str | None = None) -> list[dict[str, Any]]:
    """Return the verdicts on one document as rows of the battles table: a row per presentation.

    Args:
        entrant: what to call the entrant; by default as the filter did.
    """
    return [
        {
            "item": judged["item"],
            "model_a": entrant or judged["entrant"],
            "model_b": battle["against"],
            **{name: battle[name] for name in ABOUT if battle.get(name) is not None},
            **{name: value for name, value in one.items() if name not in NOT_COLUMNS},
        }
        for battle in judged["battles"]
        for one in battle["presentations"]
    ]


def merged_rows(judged: Mapping[str, Any], entrant: str | None = None) -> list[dict[str, Any]]:
    """Return the verdicts on one document as a row per battle, all judges of a jury put together by its rule."""
    return [
        {
            "item": judged["item"],
            "model_a": entrant or judged["entrant"],
            "model_b": battle["against"],
            **{name: battle[name] for name in ABOUT if battle.get(name) is not None},
            **{name: battle[name] for name in ("credit", "margin", "reason")},
            "order": "merged",
        }
        for battle in judged["battles"]
    ]


def judges(documents: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the names of the judges, sorted."""
    return tuple(
        sorted(
            {one["judge"] for judged in documents for battle in judged["battles"] for one in battle["presentations"]}
        )
    )


def frame(documents: Iterable[Mapping[str, Any]], entrant: str | None = None) -> pd.DataFrame:
    """Return the verdicts on some documents as a battles table, not yet merged: rows of a jury are one per battle."""
    documents = list(documents)
    rows_of = merged_rows if len(judges(documents)) > 1 else rows
    return pd.DataFrame([row for judged in documents for row in rows_of(judged, entrant)])
