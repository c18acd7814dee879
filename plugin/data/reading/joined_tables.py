"""Join the tables of several files: drop copies, pair scores, and note odd items.

A copy is a row of a file whose verdict another file has, too.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from podium.data.battles import COLUMNS, REPLIES, criterion_columns
from podium.data.counting.duck import Duck
from podium.data.counting.relations import ROW, ROWS_OF_A_FILE, quote_name
from podium.data.formats.records import TEXT, Records, columns_as, records_of_view
from podium.data.formats.score_pairs import pair_up
from podium.data.reading import table
from podium.data.reading.rows import RecordTable
from podium.errors import DataError
from podium.notices.notice import Notice
from podium.wording import some_paths

PLACE = f"({ROW} // {ROWS_OF_A_FILE})"
"""SQL for the number of the file that a row is from."""
JUDGE_MODELS = ("model", "judge_model")
"""Columns that name the model of the judge in tables of verdicts without a column `judge`."""
SAME_CREDIT = 9
"""Number of decimals to which credits and margins of different files are compared."""
CHANCE = 1e-6
"""Two files without items and with equal rows are copies if the probability that their rows are
equal by chance is below this."""
FEW_ROWS = 100_000
"""If the files have fewer rows than this in total, the rows are stored in a table. Otherwise, they
are read from the files for each query."""
COUNT_NAMES = frozenset(
    {"count", "counts", "n", "num", "number", "freq", "frequency", "times"}
    | {f"{start}{what}" for start in ("", "n_", "num_") for what in ("battles", "games", "votes")}
)
"""Names of columns, in lower case, that may say how many battles a row stands for."""
MOST_OPEN = 64
"""If there are more files than this, their rows are stored in a table in any case."""


@dataclass(frozen=True, slots=True)
class JoinedTables:
    """Tables of several files as one view of battles.

    Attributes:
        view: name of the view.
        missing: number of battles that should exist and have no row; None if unknown.
        notes: warnings made while joining.
        copies: number of verdicts that were left out because another file has them, too.
    """

    view: str
    missing: int | None
    notes: Sequence[Notice]
    copies: int


class UnitedRows(NamedTuple):
    """Rows of several files without copies.

    Attributes:
        view: name of the view with the rows.
        copies: number of rows that were left out.
        repeated_files: numbers of the files whose rows all stand in another file, if it is known of
            both how many battles are missing. What they miss, the other file misses or has.
    """

    view: str
    copies: int
    repeated_files: frozenset[int]


NO_ROWS = UnitedRows(view="", copies=0, repeated_files=frozenset())
"""The rows of no file."""


def join_tables(
    engine: Duck, tables: Sequence[RecordTable], *, scores_only: bool = False
) -> JoinedTables:
    """Join tables to one view of battles. Scores of models on an item are paired to battles.

    Args:
        engine: the database.
        tables: the tables of verdicts and of scores, in any order.
        scores_only: whether large sets of scores are paired to no more battles than the rankers
            `mean` and `median` need.

    Raises:
        DataError: scores make no battle, because no two models have a score of one item; or the
            scores of one trial have different weights.
    """
    # `scored` are the tables of scores, and `played` the tables of battles.
    scored = [each for each in tables if table.is_pointwise(each.records.columns)]
    played = [each for each in tables if not table.is_pointwise(each.records.columns)]
    played, copied_rows, notes = _without_copied_files(engine, played)
    view, copies, repeated_files = _union_once(engine, played) if played else NO_ROWS
    missing = []
    for number, each in enumerate(played):
        if each.missing is not None and number not in repeated_files:
            missing.append(each.missing)
    copies += copied_rows
    repeated = {"verdicts": copies}
    if scored:
        scores = _union_once(engine, scored)
        repeated["scores"] = scores.copies
        source = some_paths([each.source for each in scored])
        chances = frozenset[str]().union(*(each.chances for each in scored))
        made, absent, remarks = pair_up(
            records_of_view(engine, scores.view, source),
            scores_only=scores_only,
            probability_metrics=chances,
        )
        battles = _check_paired(made)
        parts = []
        places = []
        if played:
            parts.append(records_of_view(engine, view, ""))
            places.append(0)
        if battles:
            # The numbers of the tables of scores follow those of the tables of battles.
            parts.append(battles)
            places.append(len(played))
        view = _union(engine, parts, places)
        # Models that have no score at all, as their logs failed, are known to the tables alone.
        missing.append(absent + sum(each.missing or 0 for each in scored))
        notes = [*notes, *remarks]
    known_missing = sum(missing) if missing else None
    return JoinedTables(view, known_missing, [*_note_repeats(repeated), *notes], copies)


def _check_paired(battles: Records) -> Records | None:
    """Return battles that were made of scores, checked. The result is never None.

    Raises:
        DataError: there is no battle, because no two models have a score of one item.
    """
    try:
        return table.check(battles)
    except table.NoRowError:
        raise DataError(
            "no two models have a score of the same item",
            source=battles.source,
            remedy="score the models on the same items, or give the same id to equal items",
        ) from None


def _note_repeats(repeated: dict[str, int]) -> list[Notice]:
    """Return notes on verdicts or scores that stand in several files.

    Args:
        repeated: number of rows that were left out, by `verdicts` and `scores`.
    """
    return [
        Notice("copied-rows", {"rows": number, "what": what})
        for what, number in reversed(repeated.items())
        if number
    ]


def _without_copied_files(
    engine: Duck, tables: list[RecordTable]
) -> tuple[list[RecordTable], int, list[Notice]]:
    """Leave out files without items whose rows are equal to those of another file.

    They are kept if the rows may be equal by chance (`CHANCE`). One file that is given twice is
    left out in any case. Files with items are kept: their rows are compared one by one later. Files
    of unknown size are kept, too.

    Returns:
        The files that are kept, the number of rows left out, and a note on files that are kept
        although their rows are equal to those of another file.
    """
    first: dict[tuple[str, ...], RecordTable] = {}
    kept: list[RecordTable] = []
    alike: list[str] = []
    copies = 0
    sizes = Counter(each.records.number for each in tables)
    for each in tables:
        rows = each.records.number
        names = sorted(each.records.columns)
        # Files of different sizes have different rows.
        if "item" in names or rows is None or sizes[rows] < 2:
            kept.append(each)
            continue
        cells = ", ".join(each.records.columns[name].text for name in names)
        # Equal rows in the same order have equal fingerprints.
        ((fingerprint,),) = each.records.rows(f"cast(bit_xor(hash({ROW}, {cells})) as varchar)")
        original = first.setdefault((fingerprint, str(rows), *names), each)
        if original is each:
            kept.append(each)
            continue
        is_same_file = original.source == each.source and each.source != table.FRAME
        if is_same_file or _chance_of_equal_rows(engine, each.records) < CHANCE:
            copies += rows
        else:
            kept.append(each)
            alike.append(each.source)
    notes = [Notice("equal-files", {"files": alike})] if alike else []
    return kept, copies, notes


def _chance_of_equal_rows(engine: Duck, records: Records) -> float:
    """Return the probability that the rows of another file equal those of a file by chance.

    Its rows are assumed to be drawn at random from those of the file. The probability is s ** n,
    where n is the number of rows, and s is the probability that two random rows are equal in all
    columns except those of the models.
    """
    shown = [
        column.text
        for name, column in records.columns.items()
        if name not in ("model_a", "model_b")
    ]
    groups = f"(select count(*) as alike from {records.scan} group by {', '.join(shown)})"
    # The chance that two rows, drawn with replacement, are alike.
    chance = "sum(alike * alike) / (sum(alike) * sum(alike))"
    ((share,),) = engine.rows(f"select {chance} from {groups} as counted")
    return float(share) ** (records.number or 0)


def _union_once(engine: Duck, tables: Sequence[RecordTable]) -> UnitedRows:
    """Join tables of verdicts, or tables of scores, and leave out rows that are copies.

    If several files have equal rows, only those of one file are kept: the file that has them most
    often, or the first of these files. Nothing is left out if there is one table, or if there is no
    column `item`.
    """
    view = _union(engine, [each.records for each in tables])
    names = engine.columns(view)
    if len(tables) == 1 or "item" not in names:
        return UnitedRows(view=view, copies=0, repeated_files=frozenset())
    identity = _identity_columns(names)
    # A text in this column is the response itself, not its number.
    if names.get("response") == "BIGINT":
        identity.append("coalesce(response, 1)")
    of_verdict = REPLIES if "judge" in names else (*REPLIES, *JUDGE_MODELS)
    for name in of_verdict if "model_a" in names else REPLIES:
        if all(name in each.records.columns for each in tables):
            identity.append(quote_name(name))
    key = ", ".join(identity)
    # Files of scores often have a model each; models are grouped in a tenth of the time of rows.
    keys = ["model", key] if "model" in identity else [key]
    if not all(_has_row_of_two_places(engine, view, each) for each in keys):
        return UnitedRows(view=view, copies=0, repeated_files=frozenset())
    recurring = f"select item from {view} group by item having count(distinct {PLACE}) > 1"
    number = f"count(*) over (partition by {key}, {PLACE}) as copies"
    numbered = f"select *, {PLACE} as place, {number} from {view} where item in ({recurring})"
    chosen = f"first_value(place) over (partition by {key} order by copies desc, place)"
    query = f"select {ROW}, place, {chosen} as chosen from ({numbered}) as counted"
    extra = engine.fresh("extra")
    kept = engine.fresh("judgments")
    engine.store(extra, f"select {ROW} from ({query}) as copied where place <> chosen")
    ((copies,),) = engine.rows(f"select count(*) from {extra}")
    if not copies:
        return UnitedRows(view=view, copies=0, repeated_files=frozenset())
    engine.view(kept, f"select * from {view} where {ROW} not in (select {ROW} from {extra})")
    counted = [number for number, each in enumerate(tables) if each.missing is not None]
    return UnitedRows(
        view=kept,
        copies=int(copies),
        repeated_files=_files_within_others(engine, view, key, counted),
    )


def _files_within_others(
    engine: Duck, view: str, key: str, numbers: Sequence[int]
) -> frozenset[int]:
    """Return the numbers of the files whose rows all stand in another file.

    Of files with the same rows, the first one is left out of the result.

    Args:
        engine: the database.
        view: name of the view with the rows of all files.
        key: SQL expressions, separated by commas, whose values are the same for equal rows.
        numbers: numbers of the files that are compared.
    """
    if len(numbers) < 2:
        return frozenset()
    of_files = f"where {PLACE} in ({', '.join(map(str, numbers))})"
    counted_rows = (
        f"select {PLACE} as place, hash({key}) as code, count(*) as copies "
        f"from {view} {of_files} group by all"
    )
    size_of_file = "select place, count(*) as size from counted group by place"
    inside = engine.rows(
        f"with counted as materialized ({counted_rows}), sized as ({size_of_file}) "
        "select own.place, other.place from counted as own "
        "join counted as other on own.code = other.code and own.place <> other.place "
        "join sized on sized.place = own.place where own.copies <= other.copies "
        "group by own.place, other.place, size having count(*) = size"
    )
    pairs = {(inner, other) for inner, other in inside}
    return frozenset(
        inner for inner, other in pairs if (other, inner) not in pairs or other < inner
    )


def _has_row_of_two_places(engine: Duck, view: str, key: str) -> bool:
    """Return whether rows of several files may be equal; a hash of the rows is compared.

    Args:
        engine: the database.
        view: the rows of all files.
        key: SQL expressions, separated by commas, that equal rows have the same values of.
    """
    # Groups of one number take a third of the time of groups of several texts.
    hashes = f"select hash({key}) as hash, {PLACE} as place from {view}"
    copies = f"select 1 from ({hashes}) group by hash having min(place) < max(place) limit 1"
    return bool(engine.rows(copies))


def _identity_columns(names: Collection[str]) -> list[str]:
    """Return SQL expressions whose values are the same for a verdict, or a score, in all files.

    They do not depend on which model is called a.

    Args:
        names: names of the columns.
    """
    if "model_a" not in names:
        return [
            name
            for name in ("item", "judge", "metric", "repeat", "task", "model", "score")
            if name in names
        ]
    key = [name for name in ("item", "judge", "voter", "metric", "repeat") if name in names]
    forward = "model_a < model_b"
    shown = f"cast((\"order\" = 'ab') = ({forward}) as varchar)"
    order = f"case when \"order\" in ('ab', 'ba') then {shown} else \"order\" end"
    credit = f"round(case when {forward} then credit else 1 - credit end, {SAME_CREDIT})"
    key += ["least(model_a, model_b)", "greatest(model_a, model_b)", credit]
    if "order" in names:
        key.append(order)
    if "margin" in names:
        margin = f"round(case when {forward} then margin else -margin end, {SAME_CREDIT})"
        key.append(f"case when credit is null then {margin} end")
    return key


def _union(engine: Duck, parts: Sequence[Records], places: Sequence[int] | None = None) -> str:
    """Create a view or table with the rows of all parts, and return its name.

    Columns of the battles table come first. Cells of a column that a part lacks are null, and
    weights are 1.

    Args:
        engine: the database.
        parts: the parts; each has the rows of one or several files.
        places: number of the first file of each part; by default, each part is a file.
    """
    names = list(dict.fromkeys(name for part in parts for name in part.columns))
    names_of_battles = [*(name for name in COLUMNS if name in names), *criterion_columns(names)]
    types: dict[str, set[str]] = {name: set() for name in [*names_of_battles, *names]}
    for part in parts:
        for name, column in part.columns.items():
            types[name].add(column.type)
    queries = []
    selection = ""
    for place, part in zip(places or range(len(parts)), parts, strict=False):
        cells = {
            name: _cell_of_part(part, name, type_of_column)
            for name, type_of_column in types.items()
        }
        row = f"{place * ROWS_OF_A_FILE} + {ROW} as {ROW}"
        selection = f"{row}, {columns_as(cells)}"
        queries.append(f"select {selection} from {part.scan}")
    view = engine.fresh("judgments")
    # A part of unknown size may be large.
    rows = sum(part.number or FEW_ROWS for part in parts)
    if len(queries) <= MOST_OPEN and rows >= FEW_ROWS:
        engine.view(view, " union all ".join(queries))
        if len(parts) == 1:
            _keep_codes_of_part(engine, view, parts[0], selection)
        return view
    engine.store(view, queries[0])
    for query in queries[1:]:
        engine.rows(f"insert into {view} {query}")
    return view


def _keep_codes_of_part(engine: Duck, view: str, part: Records, selection: str) -> None:
    """Keep the codes of texts of a view of a whole data frame.

    Args:
        engine: the database.
        view: name of the view.
        part: its rows. No codes are known of other sources, or of some rows of a frame.
        selection: SQL of the selected expressions.
    """
    frame = engine.coded_frame(part.scan)
    if frame is None:
        return
    texts = {
        name: frame.texts[column.sql]
        for name, column in part.columns.items()
        if column.sql in frame.texts
    }
    engine.keep_codes(view, replace(frame, selection=selection, texts=texts))


def _cell_of_part(part: Records, name: str, types: Collection[str]) -> str:
    """Return the SQL expression of a column of a part.

    If the part lacks the column, it is null, and 1 for the column `weight`.

    Args:
        part: the part.
        name: name of the column.
        types: the types of the column in all parts. If they differ, the column becomes text.
    """
    is_mixed = len(types) > 1
    column = part.columns.get(name)
    if column is not None:
        return column.text if is_mixed else column.sql
    if name == "weight":
        return "1.0"
    type_of_column = TEXT if is_mixed else next(iter(types))
    return f"cast(null as {type_of_column})"


def _note_unnamed_columns(engine: Duck, view: str, likely_item: str | None) -> list[Notice]:
    """Return notes on rows without items, and on raters that count as one judge.

    If no row has an item, a note names the column that looks like the item, if any, and another one
    a column that may count battles. If some rows lack an item, a note has their number. Raters are
    the values of a column with a usual name of judges in a table without a judge and without
    voters.

    Args:
        engine: the database.
        view: name of the view with the battles.
        likely_item: the column that looks like the item; None if there is none.
    """
    names = engine.columns(view)
    notes = []
    if not _has_values(engine, view, "item"):
        fields = {"column": likely_item} if likely_item else {}
        code = "likely-item" if likely_item else "no-item-column"
        notes.append(Notice(code, fields))
        notes += _note_counts(engine, view, names)
    else:
        [(blank, number)] = engine.rows(
            f"select count(*) - count(item) as blank, count(*) as number from {view}"
        )
        if blank:
            notes.append(Notice("blank-items", {"blank": blank, "rows": number}))
    usual_names = {
        *table.LIKELY_NAMES["judge"],
        *(f"{name}_id" for name in table.LIKELY_NAMES["judge"]),
    }
    rater = next((name for name in names if name.lower() in usual_names), None)
    lacks_raters = not any(_has_values(engine, view, name) for name in ("judge", "voter"))
    if rater is not None and lacks_raters:
        ((number,),) = engine.rows(f"select count(distinct {quote_name(rater)}) from {view}")
        if number > 1:
            notes.append(Notice("no-judge-column", {"raters": number, "column": rater}))
    return notes


def _note_counts(engine: Duck, view: str, names: Iterable[str]) -> list[Notice]:
    """Return a note if a column may say how many battles a row stands for.

    It has a name of `COUNT_NAMES`, and whole numbers from 1 on that are not all 1.

    Args:
        engine: the database.
        view: name of the view with the battles, which have no items.
        names: its columns.
    """
    for name in names:
        if name.lower() not in COUNT_NAMES:
            continue
        number = f"try_cast({quote_name(name)} as double)"
        is_count = f"coalesce({number} >= 1 and {number} = floor({number}), false)"
        facts = f"bool_and({is_count}) as are_counts, coalesce(max({number}), 0) as largest"
        [(are_counts, largest)] = engine.rows(f"select {facts} from {view}")
        if are_counts and largest > 1:
            return [Notice("counts-unread", {"column": name, "largest": largest})]
    return []


def _has_values(engine: Duck, view: str, column: str) -> bool:
    """Return whether a view has a column with a cell that is not empty."""
    if column not in engine.columns(view):
        return False
    return bool(engine.rows(f"select 1 from {view} where {column} is not null limit 1"))


def note_odd_items(
    engine: Duck, view: str, likely_item: str | None = None, items: str | None = None
) -> list[Notice]:
    """Return notes on columns that may be the item or the judge, and on items that are alike.

    Items are alike if they differ only by white space, case or Unicode normalization (NFC). The
    note on them names two of them, and the number of groups of items that are alike.

    Args:
        engine: the database.
        view: name of the view with the battles.
        likely_item: the column that looks like the item; None if there is none.
        items: SQL of a relation of the different items, in a column `item`, that may stand after
            `from`; None to make it of the view.
    """
    notes = _note_unnamed_columns(engine, view, likely_item)
    if "item" not in engine.columns(view):
        return notes
    items = items or f"(select distinct item from {view} where item is not null)"
    plain_id = "nfc_normalize(lower(regexp_replace(item, '[\\s\\p{Z}]+', '', 'g')))"
    groups = engine.rows(
        f"select list(item order by item)[:2] from {items} group by {plain_id} having count(*) > 1"
    )
    if groups:
        # The first group by name, so that the example does not depend on the order of the rows.
        ((first, second),) = min(groups)
        fields = {"groups": len(groups), "first": first, "second": second}
        notes.append(Notice("items-alike", fields))
    return notes
