"""Sources in, battles out: find the files, recognise them, read, check, filter and merge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from glob import glob, has_magic, iglob
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from podium import plugins, table
from podium.battles import Battles
from podium.errors import DataError, UsageError
from podium.formats import pointwise
from podium.formats.containers import SUFFIXES, read_records
from podium.formats.detection import recognise, unrecognised
from podium.hookspecs import Format
from podium.merging import merge as merge_orders
from podium.merging import stand_in
from podium.text import as_categorical, as_text

Source = str | Path | pd.DataFrame
ORDER_SHOWN = {"a": "ab", "b": "ba"}


@dataclass(frozen=True, slots=True)
class Foreign:
    """How to read a table that is in no known format.

    Attributes:
        columns: the contract's name to the foreign one, for example `{"item": "prompt"}`.
        credit_map: foreign verdict to credit, for example `{"1": 1, "0": 0.5, "-1": 0}`; empty cells are unread.
        unknown: what a verdict outside the map is: an `error`, or `unread`.
        shown: whose response was shown first where no `order` column says it: `a`, `b` or `unknown`.
    """

    columns: Mapping[str, str] | None = None
    credit_map: Mapping[str, float] | None = None
    unknown: Literal["error", "unread"] = "error"
    shown: Literal["a", "b", "unknown"] | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """One file's content in the contract's terms, still unmerged."""

    source: str
    format: str
    frame: pd.DataFrame


def read_battles(
    *sources: Source,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    credit_map: Mapping[str, float] | None = None,
    unknown: Literal["error", "unread"] = "error",
    shown: Literal["a", "b", "unknown"] | None = None,
    where: Sequence[tuple[str, str]] = (),
    merge: bool = True,
    one_sided: Literal["unread", "keep"] = "unread",
) -> Battles:
    """Read recorded judgements of any known format.

    Args:
        sources: files, directories or globs, each optionally `label=path`; or data frames.
        format: the format's name; by default it is recognised by content.
        columns: contract's name to foreign name, for tables in no known format.
        credit_map: foreign verdict to credit in [0, 1].
        unknown: what a verdict outside `credit_map` is.
        shown: whose response came first, where no column says it.
        where: (column, value) pairs; only rows with all of them are kept.
        merge: average the two orders of a pair into one battle.
        one_sided: what a battle is of which one order could not be read.

    Raises:
        UsageError: a path, format or column that does not exist; files of different formats.
        DataError: a file or a value in it is not what it should be.
    """
    foreign = Foreign(columns, credit_map, unknown, shown)
    sheets, notes = _sheets(sources, format, foreign)
    _refuse_mixture(sheets)
    sheets = _filtered(sheets, where)
    rows, missing, more = _rows(sheets)
    notes += [*more, *_identical(rows)]
    if merge:
        rows, more = merge_orders(rows, keep_one_sided=one_sided == "keep")
        notes += more
    rows, more = stand_in(rows)
    notes += more
    return Battles(rows.reset_index(drop=True), missing, tuple(notes), tuple(sheet.source for sheet in sheets))


def _sheets(sources: Sequence[Source], format: str | None, foreign: Foreign) -> tuple[list[Sheet], list[str]]:
    chosen = plugins.format_named(format) if format else None
    sheets: list[Sheet] = []
    skipped: list[Path] = []
    alone: list[str] = []
    for source in sources:
        if isinstance(source, pd.DataFrame):
            sheets.append(_checked(_draft(_rows_named(source), "the data frame", None, chosen, foreign)))
            continue
        label, paths, is_folder = _expand(str(source))
        for path in paths:
            records = read_records(path)
            if is_folder and not (chosen or foreign.columns) and recognise(frozenset(records), label) is None:
                skipped.append(path)
                continue
            draft = _draft(records, str(path), label, chosen, foreign)
            if len(sources) + len(paths) > 2 and _only_against_itself(draft.frame):
                alone.append(draft.source)
                continue
            sheets.append(_checked(draft))
    if not sheets:
        raise UsageError(f"no file with verdicts in {', '.join(map(str, sources)) or 'nothing'}")
    notes = [f"{len(skipped)} files hold no verdicts and were skipped: {_some(skipped)}"] if skipped else []
    if alone:
        notes.append(f"files that compare a model only with itself were skipped: {_some(alone)}")
    return sheets, notes


def _only_against_itself(frame: pd.DataFrame) -> bool:
    """Recognise the baseline's own file in a results tree: nothing in it is a battle."""
    if not {"model_a", "model_b"} <= set(frame) or not len(frame):
        return False
    return bool((as_text(frame["model_a"]) == as_text(frame["model_b"])).all())


def _draft(records: pd.DataFrame, source: str, label: str | None, chosen: Format | None, foreign: Foreign) -> Sheet:
    name, frame = _translated(records, source, label, chosen, foreign)
    if foreign.credit_map is not None:
        frame = _credited(frame, foreign, source)
    if foreign.shown is not None and "order" not in frame:
        frame = frame.assign(order=ORDER_SHOWN.get(foreign.shown))
    return Sheet(source, name, frame)


def _checked(draft: Sheet) -> Sheet:
    check = pointwise.check_scores if pointwise.is_pointwise(draft.frame) else table.check
    return replace(draft, frame=check(draft.frame, draft.source))


def _translated(
    records: pd.DataFrame, source: str, label: str | None, chosen: Format | None, foreign: Foreign
) -> tuple[str, pd.DataFrame]:
    if foreign.columns:
        return "columns", _labelled(_renamed(records, foreign.columns, source), label, None)
    one = chosen or recognise(frozenset(records), label)
    if one is None:
        raise unrecognised(frozenset(records)).located(source)
    try:
        return one.name, plugins.reader(one)(_labelled(records, label, one.label_is))
    except DataError as error:
        raise error.located(source) from None
    except KeyError as error:
        raise DataError(
            f"no column {error}, which the format {one.name} needs",
            source=source,
            remedy="choose another --from",
        ) from None


def _labelled(records: pd.DataFrame, label: str | None, column: str | None) -> pd.DataFrame:
    """Write the label where the format keeps its one model's name, else into a column `source`."""
    if label is None:
        return records
    names_the_model = column is not None and (column not in records or records[column].nunique() <= 1)
    return records.assign(**{column if names_the_model and column else "source": label})


def _renamed(records: pd.DataFrame, columns: Mapping[str, str], source: str) -> pd.DataFrame:
    absent = [name for name in columns.values() if name not in records]
    if absent:
        raise UsageError(f"{source} has no column {absent[0]!r}; columns: {', '.join(map(str, records.columns))}")
    shadowed = [name for name in columns if name in records and name not in columns.values()]
    copied = [name for name in set(columns.values()) if list(columns.values()).count(name) > 1]
    renamed = records.drop(columns=shadowed).rename(columns={old: new for new, old in columns.items()})
    return renamed.assign(**{new: records[old] for new, old in columns.items() if old in copied})


def _credited(frame: pd.DataFrame, foreign: Foreign, source: str) -> pd.DataFrame:
    if "credit" not in frame:
        raise UsageError(f"--credit-map translates the column credit, and {source} has none; name it with --columns")
    credit_of = {_canonical(verdict): credit for verdict, credit in (foreign.credit_map or {}).items()}
    words = as_text(frame["credit"])
    mapped = words.map(lambda word: credit_of.get(_canonical(word)), na_action="ignore")
    credit = mapped.to_numpy(dtype=np.float64, na_value=np.nan)
    strange = np.isnan(credit) & words.notna().to_numpy()
    if foreign.unknown == "error":
        try:
            table.refuse(frame["credit"], strange, "is not in --credit-map", "add it, or pass --unknown unread")
        except DataError as error:
            raise error.located(source) from None
    reason = frame["reason"] if "reason" in frame else pd.Series(None, index=frame.index, dtype=object)
    return frame.assign(credit=credit, reason=reason.mask(pd.Series(strange, frame.index), "unknown verdict"))


def _canonical(word: str) -> str:
    """Write numbers one way, so that the map's 1 finds a file's 1.0."""
    try:
        return repr(float(word))
    except ValueError:
        return word


def _refuse_mixture(sheets: Sequence[Sheet]) -> None:
    seen = {sheet.format: sheet.source for sheet in sheets}
    if len(seen) > 1:
        found = ", ".join(f"{source} is {name}" for name, source in seen.items())
        raise UsageError(
            f"mixed formats: {found}; rank them one at a time, or `podium convert` each and rank the results together"
        )


def _filtered(sheets: Sequence[Sheet], where: Sequence[tuple[str, str]]) -> list[Sheet]:
    for column, value in where:
        sheets = _where(sheets, column, value)
    return list(sheets)


def _where(sheets: Sequence[Sheet], column: str, value: str) -> list[Sheet]:
    holders = [sheet for sheet in sheets if column in sheet.frame]
    if not holders:
        names = sorted({str(name) for sheet in sheets for name in sheet.frame})
        raise UsageError(f"no column {column!r} for --where; columns: {', '.join(names)}")
    texts = [as_text(sheet.frame[column]) for sheet in holders]
    kept = [
        Sheet(sheet.source, sheet.format, sheet.frame[(text == value).to_numpy()])
        for sheet, text in zip(holders, texts, strict=True)
    ]
    kept = [sheet for sheet in kept if len(sheet.frame)]
    if not kept:
        known = sorted({str(one) for text in texts for one in text.dropna().unique()})
        raise UsageError(f"no row has {column}={value!r}; values: {_some(known)}")
    return kept


def _rows(sheets: Sequence[Sheet]) -> tuple[pd.DataFrame, int | None, list[str]]:
    """Join the sheets into one table; scores become battles here, where all models meet."""
    if not pointwise.is_pointwise(sheets[0].frame):
        rows = _joined([sheet.frame for sheet in sheets])
        lost = [] if _has_items(rows) else ["no item column: each row counts as an item of its own"]
        return _only_known_entrants(rows), None, lost
    source = " and ".join(sheet.source for sheet in sheets[:3])
    paired = pointwise.pair_up(_joined([sheet.frame for sheet in sheets]), source)
    told = f"{paired.averaged} scores of a model already scored on the same item were averaged with it"
    return table.check(paired.frame, source), paired.missing, [told] if paired.averaged else []


def _has_items(rows: pd.DataFrame) -> bool:
    return "item" in rows and bool(rows["item"].notna().any())


def _joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    if len(frames) == 1:
        return frames[0]
    plain = [frame.astype(dict.fromkeys(frame.columns[frame.dtypes == "category"], object)) for frame in frames]
    rows = pd.concat(plain, ignore_index=True)
    names = {name for frame in frames for name in frame.columns[frame.dtypes == "category"]}
    return rows.assign(**{name: as_categorical(rows[name]) for name in rows.columns if name in names})


def _only_known_entrants(rows: pd.DataFrame) -> pd.DataFrame:
    """Let both sides share the entrants that are left, sorted."""
    names = sorted({*rows["model_a"].unique(), *rows["model_b"].unique()})
    return rows.assign(**{side: rows[side].cat.set_categories(names) for side in ("model_a", "model_b")})


def _identical(rows: pd.DataFrame) -> list[str]:
    """Warn of rows that repeat another in every column; they are kept as repeats."""
    if not _has_items(rows):
        return []
    entrants = len(rows["model_a"].cat.categories)
    item, a, b = (rows[name].cat.codes.to_numpy(dtype=np.int64) for name in ("item", "model_a", "model_b"))
    suspects = pd.Series((item * entrants + a) * entrants + b).duplicated(keep=False).to_numpy()
    if not suspects.any():
        return []
    candidates = rows[suspects]
    nested = [name for name in candidates if pd.api.types.is_object_dtype(candidates[name])]
    text = candidates.astype(dict.fromkeys(nested, str))
    twice = int(text.duplicated().sum())
    return [f"{twice} rows repeat another row in every column; they count as repeats"] if twice else []


def _expand(source: str) -> tuple[str | None, list[Path], bool]:
    """Split `label=path` and find the files of a directory or glob, sorted."""
    label, path = _split_label(source)
    if Path(path).is_dir():
        found = sorted(one for one in Path(path).rglob("*") if one.is_file() and one.name.endswith(SUFFIXES))
        if not found:
            raise UsageError(f"the directory {path} holds no {', '.join(SUFFIXES[:5])} file")
        return label or None, found, True
    if has_magic(path) and not Path(path).exists():
        found = sorted(Path(one) for one in glob(path, recursive=True))
        if not found:
            raise UsageError(f"no file matches {path}")
        return label or None, found, False
    if not Path(path).exists():
        raise UsageError(f"no such file or directory: {path}")
    return label or None, [Path(path)], False


def _split_label(source: str) -> tuple[str, str]:
    """Split at the first `=`, unless that is a part of the path (`judge=gpt-4/*.json`)."""
    label, equals, path = source.partition("=")
    is_path = Path(source).exists() or (has_magic(source) and any(iglob(source, recursive=True)))
    return (label, path) if equals and "/" not in label and not is_path else ("", source)


def _rows_named(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="row"))


def _some(names: Sequence[object]) -> str:
    return ", ".join(map(str, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
