"""Sources in, battles out: recognise the files, read, check, filter and merge."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from podium import table
from podium.battles import Battles
from podium.errors import DataError, UsageError
from podium.formats import pointwise
from podium.formats.containers import read_records
from podium.formats.files import Found, find
from podium.formats.foreign import Foreign, filled, renamed, translated
from podium.hookspecs import Format, Reading
from podium.human_labels import check_judge, label_by
from podium.merging import merge as merge_orders
from podium.merging import stand_in
from podium.plugins import catalogue
from podium.reading.recognition import recognise, unrecognised
from podium.text import as_categorical, as_text, some

Source: TypeAlias = str | Path | pd.DataFrame


@dataclass(frozen=True, slots=True)
class Sheet:
    """One file's content.

    Attributes:
        source: what to call the file.
        label: the user's word for it, or None.
        optional: whether it may turn out to hold no verdicts.
        frame: foreign records first, then columns of the contract, still unmerged.
        format: the format it was read by; empty before.
        missing: battles that should be there and are not, where the file says it; None where it does not.
    """

    source: str
    label: str | None
    optional: bool
    frame: pd.DataFrame
    format: str = ""
    missing: int | None = None


def read_battles(
    *sources: Source,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    credit_map: Mapping[str, float] | None = None,
    unknown: Literal["error", "unread"] = "error",
    shown: Literal["a", "b", "unknown"] | None = None,
    fill: Mapping[str, str] | None = None,
    where: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    merge: bool = True,
    one_sided: Literal["unread", "keep"] = "unread",
    human_judge: str | None = None,
    metric: str | Sequence[str] = (),
    runs: Literal["newest", "all"] = "newest",
) -> Battles:
    """Read recorded judgements of any known format.

    Args:
        sources: files, directories or globs, each optionally `label=path`; or data frames.
        format: the format's name; by default it is recognised by content.
        columns: contract's name to foreign name, for tables in no known format.
        credit_map: foreign verdict to credit in [0, 1].
        unknown: what a verdict outside `credit_map` is.
        shown: whose response came first, where no column says it.
        fill: one value for every row, for columns that a table lacks, as `{"model_b": "baseline"}`.
        where: column to value, or pairs of both; only rows with all of them are kept.
        merge: average the two orders of a pair into one battle.
        one_sided: what a battle is of which one order could not be read.
        human_judge: the judge whose verdicts become the human labels of the others' battles of the same item and
            pair; conditions of `where` on the column `judge` spare its rows.
        metric: of lm-eval's samples: `metric,filter`, or the metric alone where a task has one filter, or several
            such names, or `all`; by default the only one there is.
        runs: of a model that lm-eval ran more than once on a task: the newest, or all, as repeats.

    Raises:
        UsageError: a path, format or column that does not exist; files of different formats.
        DataError: a file or a value in it is not what it should be.
        NotIdentifiedError: the human judge has nothing to label, or no label for it; several metrics, and nothing
            says which.
    """
    conditions = _conditions(where)
    chosen = catalogue.format_named(format) if format else None
    foreign = Foreign(columns, credit_map, unknown, shown, fill)
    metrics = (metric,) if isinstance(metric, str) else tuple(metric)
    places, whole = _gathered(sources, chosen, Reading(metrics, runs == "all", conditions))
    sheets, notes = _with_verdicts([one for place in places for one in _opened(place)], chosen, foreign)
    sheets, notes = whole.sheets + sheets, whole.notes + notes
    if not sheets:
        raise UsageError("; ".join([f"no file with verdicts in {some(sources) or 'nothing'}", *notes]))
    _refuse_mixture(sheets)
    if human_judge is not None:
        check_judge([sheet.frame for sheet in sheets], human_judge)
    sheets, more = _filtered(sheets, conditions, human_judge)
    notes += more
    rows, missing, more = _rows(sheets)
    notes += [*more, *_identical(rows), *_unsaid_order(rows)]
    if merge:
        rows, more = merge_orders(rows, keep_one_sided=one_sided == "keep")
        notes += more
    rows, more = stand_in(rows)
    notes += more
    reading = _reading(foreign, format, conditions, merge, one_sided, human_judge)
    reading |= {"metric": list(metrics)} if metrics else {}
    reading |= {"runs": runs} if runs != "newest" else {}
    names = tuple(sheet.source for sheet in sheets)
    lost = tuple(whole.lost)
    battles = Battles(rows.reset_index(drop=True), missing, (*lost, *notes), names, reading, lost)
    return battles if human_judge is None else label_by(battles, human_judge)


def _reading(
    foreign: Foreign,
    format: str | None,
    conditions: Sequence[tuple[str, str]],
    merge: bool,
    one_sided: str,
    human_judge: str | None,
) -> dict[str, Any]:
    """Return the options that differ from the defaults, for the record."""
    asked = {**asdict(foreign), "format": format, "where": [list(one) for one in conditions]}
    asked |= {"merge": merge, "one_sided": one_sided, "human_judge": human_judge}
    usual: tuple[Any, ...] = (None, [], "error", True, "unread")
    return {name: value for name, value in asked.items() if value not in usual}


def _conditions(where: Mapping[str, str] | Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    pairs = list(where.items() if isinstance(where, Mapping) else where)
    if any(isinstance(pair, str) or len(pair) != 2 for pair in pairs):
        raise UsageError(f"where={where!r}: write {{'column': 'value'}}, or a list of (column, value) pairs")
    return [(column, str(value)) for column, value in pairs]


@dataclass(frozen=True, slots=True)
class Whole:
    """What formats made of files that belong together; see `podium.hookspecs.Gathered`."""

    sheets: list[Sheet]
    notes: list[str]
    lost: list[str]


def _gathered(
    sources: Sequence[Source], chosen: Format | None, reading: Reading
) -> tuple[list[Found | pd.DataFrame], Whole]:
    """Let formats read what belongs together; return what is left of the sources, and what was read.

    Raises:
        UsageError: a metric is asked for, and no source has metrics; or no source is of the chosen format.
    """
    places = [source if isinstance(source, pd.DataFrame) else _located(str(source)) for source in sources]
    whole = Whole([], [], [])
    for one in [chosen] if chosen else [one.extension for one in catalogue.formats().values()]:
        gathered = one.gather([place for place in places if isinstance(place, Found)], reading)
        sheets = [Sheet(source, None, False, frame, one.name) for source, frame in gathered.sheets]
        whole.sheets.extend(map(_checked, sheets))
        whole.notes.extend(gathered.notes)
        whole.lost.extend(gathered.lost)
        places = [_without(place, gathered.claimed) for place in places]
    if not whole.sheets and (reading.metrics or reading.all_runs):
        raise UsageError(f"no lm-eval samples in {some(sources) or 'nothing'}: --metric and --runs choose among those")
    return places, whole


def _located(source: str) -> Found:
    return find(source, tuple(suffix for one in _openers() for suffix in one.suffixes))


def _openers() -> list[Format]:
    return [one.extension for one in catalogue.formats().values() if one.extension.opens is not None]


def _without(place: Found | pd.DataFrame, claimed: AbstractSet[Path]) -> Found | pd.DataFrame:
    if isinstance(place, pd.DataFrame) or not claimed:
        return place
    return replace(place, paths=tuple(path for path in place.paths if path not in claimed))


def _opened(place: Found | pd.DataFrame) -> list[Sheet]:
    """Read the records of a source, whatever they are."""
    if isinstance(place, pd.DataFrame):
        return [Sheet("the data frame", None, False, place.set_axis(pd.RangeIndex(1, len(place) + 1, name="row")))]
    openers = _openers()
    frames = ((path, _frame(path, openers)) for path in place.paths)
    return [
        Sheet(str(path), place.label, place.searched, frame, missing=frame.attrs.get("missing"))
        for path, frame in frames
    ]


def _frame(path: Path, openers: Sequence[Format]) -> pd.DataFrame:
    """Read a file by the first format that opens it, else as a table."""
    for one in openers:
        frame = one.open(path)
        if frame is not None:
            return frame
    return read_records(path)


def _with_verdicts(opened: Sequence[Sheet], chosen: Format | None, foreign: Foreign) -> tuple[list[Sheet], list[str]]:
    """Translate and check the files that hold verdicts; return them, and notes of the files left out."""
    sheets: list[Sheet] = []
    silent: list[str] = []
    alone: list[str] = []
    for one in (_named(sheet, foreign) for sheet in opened):
        known = _format_of(one, chosen)
        if known is None and one.optional:
            silent.append(one.source)
            continue
        sheet = _translated(one, known, foreign)
        if len(opened) > 1 and _only_against_itself(sheet.frame):
            alone.append(one.source)
            continue
        sheets.append(_checked(sheet))
    told = (
        (silent, f"{len(silent)} files hold no verdicts and were skipped"),
        (alone, "files that compare a model only with itself were skipped"),
    )
    return sheets, [f"{text}: {some(names)}" for names, text in told if names]


def _format_of(sheet: Sheet, chosen: Format | None) -> Format | None:
    """Return the format that was chosen, else the one that the columns (named or native) say."""
    return chosen or recognise(frozenset(map(str, sheet.frame)), sheet.label)


def _named(sheet: Sheet, foreign: Foreign) -> Sheet:
    """Give the columns that `--columns` names the contract's names, and add those of `--fill`."""
    try:
        return replace(sheet, frame=filled(renamed(sheet.frame, foreign.columns or {}), foreign.fill or {}))
    except UsageError as error:
        raise UsageError(f"{sheet.source}: {error}") from None


def _translated(sheet: Sheet, known: Format | None, foreign: Foreign) -> Sheet:
    """Turn foreign records into columns of the contract.

    Raises:
        DataError: the file is in no known format, or not in the one that was said.
        UsageError: a column that was named does not exist.
    """
    if known is None:
        raise unrecognised(frozenset(map(str, sheet.frame))).located(sheet.source)
    try:
        frame = catalogue.format_reader(known)(_labelled(sheet.frame, sheet.label, known.label_is))
        frame = translated(frame, foreign)
    except DataError as error:
        raise error.located(sheet.source) from None
    except UsageError as error:
        raise UsageError(f"{sheet.source}: {error}") from None
    except KeyError as error:
        problem = f"no column {error}, which the format {known.name} needs"
        raise DataError(problem, source=sheet.source, remedy="choose another --from") from None
    return replace(sheet, frame=frame, format=known.name)


def _only_against_itself(frame: pd.DataFrame) -> bool:
    """Recognise the baseline's own file in a results tree: nothing in it is a battle."""
    if not {"model_a", "model_b"} <= set(frame) or not len(frame):
        return False
    return bool((as_text(frame["model_a"]) == as_text(frame["model_b"])).all())


def _checked(sheet: Sheet) -> Sheet:
    check = pointwise.check_scores if pointwise.is_pointwise(sheet.frame) else table.check
    return replace(sheet, frame=check(sheet.frame, sheet.source))


def _labelled(records: pd.DataFrame, label: str | None, column: str | None) -> pd.DataFrame:
    """Write the label where the format keeps its one model's name, else into a column `source`."""
    if label is None:
        return records
    names_the_model = column is not None and (column not in records or records[column].nunique() <= 1)
    return records.assign(**{column if names_the_model and column else "source": label})


def _refuse_mixture(sheets: Sequence[Sheet]) -> None:
    seen = {sheet.format: sheet.source for sheet in sheets}
    if len(seen) > 1:
        found = ", ".join(f"{source} is {name}" for name, source in seen.items())
        raise UsageError(
            f"mixed formats: {found}; rank them one at a time, or `podium convert` each and rank the results together"
        )


def _filtered(
    sheets: Sequence[Sheet], conditions: Sequence[tuple[str, str]], human_judge: str | None
) -> tuple[list[Sheet], list[str]]:
    """Keep the rows that meet all conditions; one on the judge spares the human judge's rows. Return notes, too."""
    kept, notes = list(sheets), []
    for column, value in conditions:
        lacking = [sheet.source for sheet in kept if column not in sheet.frame]
        notes += [f"no column {column!r} in {some(lacking)}: none of their rows kept"] if lacking else []
        spared = [human_judge] if column == "judge" and human_judge is not None else []
        kept = _where(kept, column, value, spared)
    return kept, notes


def _where(sheets: Sequence[Sheet], column: str, value: str, spared: Sequence[str]) -> list[Sheet]:
    """Keep the rows with the value, which some row must have, and those with a spared one."""
    holders = [sheet for sheet in sheets if column in sheet.frame]
    if not holders:
        names = sorted({str(name) for sheet in sheets for name in sheet.frame})
        raise UsageError(f"no column {column!r} for --where; columns: {', '.join(names)}")
    texts = [as_text(sheet.frame[column]) for sheet in holders]
    if not any((text == value).any() for text in texts):
        known = sorted({str(one) for text in texts for one in text.dropna().unique()})
        raise UsageError(f"no row has {column}={value!r}; values: {some(known)}")
    kept = [
        replace(sheet, frame=sheet.frame[text.isin([value, *spared]).to_numpy()], missing=None)
        for sheet, text in zip(holders, texts, strict=True)
    ]
    return [sheet for sheet in kept if len(sheet.frame)]


def _rows(sheets: Sequence[Sheet]) -> tuple[pd.DataFrame, int | None, list[str]]:
    """Join the sheets into one table; scores become battles here, where all models meet."""
    if not pointwise.is_pointwise(sheets[0].frame):
        rows = _joined([sheet.frame for sheet in sheets])
        lost = [] if _has_items(rows) else ["no item column: each row counts as an item of its own"]
        told = [sheet.missing for sheet in sheets if sheet.missing is not None]
        return _only_known_entrants(rows), sum(told) if told else None, lost
    source = " and ".join(sheet.source for sheet in sheets[:3])
    paired = pointwise.pair_up(_joined([sheet.frame for sheet in sheets]), source)
    return table.check(paired.frame, source), paired.missing, paired.notes()


def _unsaid_order(rows: pd.DataFrame) -> list[str]:
    """Warn where a judge has a pair in both orders on one item and nothing says that those are orders shown."""
    if "order" in rows or not _has_items(rows):
        return []
    entrants = len(rows["model_a"].cat.categories)
    item, a, b = (rows[name].cat.codes.to_numpy(dtype=np.int64) for name in ("item", "model_a", "model_b"))
    if "judge" in rows:
        item = item * (len(rows["judge"].cat.categories) + 1) + rows["judge"].cat.codes.to_numpy()
    turned = pd.Series((item * entrants + b) * entrants + a)
    both = int(turned.isin(pd.unique((item * entrants + a) * entrants + b)).sum())
    if not both:
        return []
    return [
        f"{both} rows compare (a, b) on an item that also has (b, a): if model_a was shown first, say --shown a, and "
        "the two orders are merged"
    ]


def _has_items(rows: pd.DataFrame) -> bool:
    return "item" in rows and bool(rows["item"].notna().any())


def _joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    if len(frames) == 1:
        return frames[0]
    plain = [frame.astype(dict.fromkeys(frame.columns[frame.dtypes == "category"], object)) for frame in frames]
    rows = pd.concat(plain, ignore_index=True)
    if "weight" in rows:
        rows["weight"] = rows["weight"].fillna(1.0)
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
