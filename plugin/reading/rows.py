"""Tables of several files become one: rows are kept by condition, joined, and looked over for what is odd."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from podium import table
from podium.errors import UsageError
from podium.formats import pointwise
from podium.text import as_categorical, as_text, some


@dataclass(frozen=True, slots=True)
class RecordTable:
    """One file's content.

    Attributes:
        source: what to call the file.
        frame: foreign records first, then columns of the contract, still unmerged.
        format: the format it was read by; empty before.
        label: the user's word for it, or None.
        optional: whether it may turn out to hold no verdicts.
        missing: battles that should be there and are not, where the file says it; None where it does not.
    """

    source: str
    frame: pd.DataFrame
    format: str = ""
    label: str | None = None
    optional: bool = False
    missing: int | None = None


def keep_rows(
    tables: Sequence[RecordTable], conditions: Sequence[tuple[str, str]], human_judge: str | None
) -> tuple[list[RecordTable], list[str]]:
    """Keep the rows that meet all conditions; one on the judge spares the human judge's rows. Return notes, too.

    Raises:
        UsageError: a column that no table has, or a value that no row has.
    """
    kept, notes = list(tables), []
    for column, value in conditions:
        lacking = [each.source for each in kept if column not in each.frame]
        notes += [f"no column {column!r} in {some(lacking)}: none of their rows kept"] if lacking else []
        spared = [human_judge] if column == "judge" and human_judge is not None else []
        kept = _rows_with(kept, column, value, spared)
    return kept, notes


def _rows_with(tables: Sequence[RecordTable], column: str, value: str, spared: Sequence[str]) -> list[RecordTable]:
    """Keep the rows with the value, which some row must have, and those with a spared one."""
    holders = [each for each in tables if column in each.frame]
    if not holders:
        names = sorted({str(name) for each in tables for name in each.frame})
        raise UsageError(f"no column {column!r} for --where; columns: {', '.join(names)}")
    texts = [as_text(each.frame[column]) for each in holders]
    if not any((text == value).any() for text in texts):
        known = sorted({str(word) for text in texts for word in text.dropna().unique()})
        raise UsageError(f"no row has {column}={value!r}; values: {some(known)}")
    kept = [
        replace(each, frame=each.frame[text.isin([value, *spared]).to_numpy()], missing=None)
        for each, text in zip(holders, texts, strict=True)
    ]
    return [each for each in kept if len(each.frame)]


def join_tables(tables: Sequence[RecordTable]) -> tuple[pd.DataFrame, int | None, list[str]]:
    """Join the tables; scores become battles here, where all models meet.

    Returns:
        The rows, how many battles are missing (None where no table says it), and notes.
    """
    rows = _concatenate([each.frame for each in tables])
    if pointwise.is_pointwise(tables[0].frame):
        source = " and ".join(each.source for each in tables[:3])
        paired = pointwise.pair_up(rows, source)
        return table.check(paired.frame, source), paired.missing, paired.notes()
    notes = [] if _has_items(rows) else ["no item column: each row counts as an item of its own"]
    missing = [each.missing for each in tables if each.missing is not None]
    # Both sides share the entrants that are left, sorted.
    names = sorted({*rows["model_a"].unique(), *rows["model_b"].unique()})
    sides = {side: rows[side].cat.set_categories(names) for side in ("model_a", "model_b")}
    return rows.assign(**sides), sum(missing) if missing else None, notes


def _concatenate(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    if len(frames) == 1:
        return frames[0]
    plain = [frame.astype(dict.fromkeys(frame.columns[frame.dtypes == "category"], object)) for frame in frames]
    rows = pd.concat(plain, ignore_index=True)
    if "weight" in rows:
        rows["weight"] = rows["weight"].fillna(1.0)
    names = {name for frame in frames for name in frame.columns[frame.dtypes == "category"]}
    return rows.assign(**{name: as_categorical(rows[name]) for name in rows.columns if name in names})


def _has_items(rows: pd.DataFrame) -> bool:
    return "item" in rows and bool(rows["item"].notna().any())
