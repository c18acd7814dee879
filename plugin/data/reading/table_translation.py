"""Translate the columns of a table by its format, and check them."""

from collections.abc import Sequence
from dataclasses import replace

from podium.data.counting.relations import sql_literal
from podium.data.formats.bad_rows import BadRow, sort_by_place
from podium.data.formats.foreign import name_columns, propose_map, translate_verdicts
from podium.data.formats.records import Column, Records, records_of
from podium.data.formats.row_facts import name_weights
from podium.data.formats.score_matrices import matrix_scores, name_rows_of_matrix
from podium.data.formats.win_matrix import (
    ambiguous_matrix_error,
    find_label_column,
    note_models_left_out,
    read_win_matrix,
)
from podium.data.query import Foreign
from podium.data.reading.format_recognition import recognise_format, unrecognised_error
from podium.data.reading.guessed_mapping import guess_mapping
from podium.data.reading.nested_names import may_hold_nested_names, require_plain_names
from podium.data.reading.rows import RecordTable
from podium.data.reading.rows_left_out import require_few
from podium.data.reading.table import FRAME, check
from podium.data.reading.units import name_items_of_scores
from podium.errors import DataError, UsageError, named_in_errors
from podium.hookspecs import Format, load_target
from podium.notices.notice import Notice
from podium.plugins import catalogue

WIN_MATRIX = "win-matrix"
"""Name of the format of tables of wins whose rows and columns are the same models."""
OWN_TABLE = "podium.data.formats.podium_table:read"
"""Reader of podium's own table. It needs no translation, so DuckDB reads it without Python."""


def translate_tables(
    opened: Sequence[RecordTable], chosen: Format | None, foreign: Foreign
) -> tuple[list[RecordTable], list[Notice]]:
    """Translate and check the tables that have verdicts.

    Args:
        opened: the tables.
        chosen: their format; None if it is recognised by content.
        foreign: the user's options for tables in no known format.

    Returns:
        The tables with verdicts, and notes on the tables and on the files that were left out. Of
        several tables, one is left out whose battles are all of a model with itself.

    Raises:
        UsageError: `--matrix` is given, and no table is a table of wins; or two formats fit the
            columns of a table equally well.
        DataError: a cell is not valid, too many rows are bad (`require_few`), or the format is
            unknown.
    """
    tables: list[RecordTable] = []
    # Names of files that are left out, by the code of the note on them.
    skipped: dict[str, list[str]] = {
        "files-without-verdicts": [],
        "win-matrices-skipped": [],
        "lone-models": [],
    }
    for record in opened:
        with named_in_errors(record.source):
            translated = _translate_table(record, chosen, foreign)
        if translated is None:
            is_matrix = find_label_column(record.records) is not None
            code = "win-matrices-skipped" if is_matrix else "files-without-verdicts"
            skipped[code].append(record.source)
            continue
        rows_alone: list[BadRow] = []
        checked = _check_table(translated.records, rows_alone, skip_alone=(len(opened) > 1))
        if checked is None:
            skipped["lone-models"].append(record.source)
        else:
            bad_rows = sort_by_place([*translated.bad_rows, *rows_alone])
            require_few(bad_rows, checked, translated.format)
            tables.append(replace(translated, records=checked, bad_rows=bad_rows))
    has_win_matrix = any(each.format == WIN_MATRIX for each in tables)
    if foreign.matrix is not None and not has_win_matrix:
        why = "no source is a table of wins with the same rows and columns"
        raise UsageError(f"--matrix {foreign.matrix}: {why}")
    notes = [note for each in tables for note in each.notes]
    notes += [Notice(code, {"files": files}) for code, files in skipped.items() if files]
    return tables, [*notes, *_note_shorter_files(tables)]


def _note_shorter_files(tables: Sequence[RecordTable]) -> list[Notice]:
    """Return a note on AlpacaEval files that have fewer annotations than the largest of them."""
    sizes = {
        each.source: each.records.number or 0 for each in tables if each.format == "alpaca-eval"
    }
    most = max(sizes.values(), default=0)
    few = {source: number for source, number in sizes.items() if number < most}
    return [Notice("few-annotations", {"files": few, "most": most})] if few else []


def _translate_table(
    record: RecordTable, chosen: Format | None, foreign: Foreign
) -> RecordTable | None:
    """Translate a table to the columns of the battles table, or of scores.

    A table in no known format may be a matrix of wins, or of scores. The user's label of the file
    becomes the name of the model if the format has one column with one model, and else the column
    `source`.

    Args:
        record: the table.
        chosen: its format; None if it is recognised by content.
        foreign: the user's options for tables in no known format.

    Returns:
        The table; None if its file was found in a folder and has no verdicts.

    Raises:
        UsageError: two formats fit the columns equally well.
        DataError: the file was named, and its format is unknown; or a cell is invalid in the
            format.
    """
    records = _name_columns_of(record, chosen, foreign)
    table_format = chosen or recognise_format(frozenset(records.columns), record.label)
    notes: list[Notice] = []
    if table_format is None:
        label = find_label_column(records, is_matrix=foreign.matrix is not None)
        if label is not None:
            return _translate_win_matrix(replace(record, records=records), label, foreign.matrix)
        if not record.optional:
            records, notes = name_rows_of_matrix(records)
        scores, more = matrix_scores(records)
        if scores is None and record.optional:
            return None
        if scores is None:
            guess = guess_mapping(records)
            raise unrecognised_error(frozenset(records.columns), record.source, guess)
        records = scores
        notes = [*notes, *more]
    if record.label is not None:
        column = "source"
        if table_format is not None and table_format.column_of_label:
            column = table_format.column_of_label
        # A column with several names is not replaced: the label names the source of them all.
        name = "source" if _has_different_texts(records, column) else column
        records = replace(
            records, columns={**records.columns, name: Column(sql_literal(record.label))}
        )
    if table_format is None:
        return replace(record, records=records, format="pointwise", notes=notes)
    record = replace(record, records=records)
    if table_format.read == OWN_TABLE:
        require_plain_names(records)
    else:
        record = _read_by_format(record, table_format)
        notes = [*notes, *record.notes]
    translated = translate_verdicts(record.records, foreign)
    return replace(record, records=translated, format=table_format.name, notes=notes)


def _has_different_texts(records: Records, name: str) -> bool:
    """Return whether records have a column with at least two different texts."""
    column = records.columns.get(name)
    if column is None:
        return False
    ((has_several,),) = records.rows(f"count(distinct {column.text}) > 1")
    return bool(has_several)


def _read_by_format(record: RecordTable, table_format: Format) -> RecordTable:
    """Return a table that a format has read, with the judges and notes in the `attrs` of its frame.

    Raises:
        DataError: a value is invalid, or a column that the format needs is missing.
    """
    records = record.records
    with catalogue.name_plugin_in_errors(table_format):
        try:
            rows = (
                load_target(table_format.selects)(records)
                if table_format.selects
                else records.frame()
            )
            if may_hold_nested_names(rows):
                require_plain_names(records)
            frame = catalogue.load_extension(table_format)(rows)
        except KeyError as error:
            problem = f"no column {error}, which the format {table_format.name} needs"
            raise DataError(problem, remedy="choose another --from") from None
    notes: list[Notice] = frame.attrs.get("notes", [])
    return replace(
        record,
        records=records_of(records.engine, frame, record.source),
        judges=frame.attrs.get("judges", {}),
        notes=[replace(note, fields={**note.fields, "source": record.source}) for note in notes],
    )


def _name_columns_of(record: RecordTable, chosen: Format | None, foreign: Foreign) -> Records:
    """Return the records of a table with podium's names of columns, as far as they are known.

    A text file in podium's own format is parsed here, once; in other formats, it is parsed when
    its records are read.
    """
    records = name_weights(name_columns(record.records, foreign))
    table_format = chosen or recognise_format(frozenset(records.columns), record.label)
    if table_format is not None and table_format.read == OWN_TABLE:
        records = records.parse_once()
    return name_items_of_scores(records)


def _translate_win_matrix(
    record: RecordTable, label: str, reading: str | None
) -> RecordTable | None:
    """Translate a matrix of wins.

    Args:
        record: the table.
        label: the column with the names of the rows.
        reading: whether a cell counts the wins of its row's model (`rows`) or of its column's
            model (`columns`); None if the user did not say.

    Returns:
        The battles; None if `reading` is None and the file was found in a folder.

    Raises:
        DataError: `reading` is None and the user named the file.
    """
    if reading is None and record.optional:
        return None
    if reading is None:
        raise ambiguous_matrix_error(record.records, label)
    battles = read_win_matrix(record.records, label, reading)
    whose = "row" if reading == "rows" else "column"
    notes = [Notice("win-matrix", {"source": record.source, "whose": whose})]
    notes += note_models_left_out(record.records, label)
    return replace(record, records=battles, format=WIN_MATRIX, notes=notes)


def _check_table(records: Records, bad_rows: list[BadRow], *, skip_alone: bool) -> Records | None:
    """Check a table, and return it with typed columns.

    Args:
        records: the table.
        bad_rows: takes the battles of a model with itself, which are left out.
        skip_alone: whether to return None if every battle is one of a model with itself.

    Raises:
        DataError: a row is not valid. If its credits are words, the error proposes a
            `--credit-map` that the user can copy.
    """
    try:
        return check(records, skip_alone=skip_alone, bad_rows=bad_rows)
    except DataError as error:
        option = None
        if error.column == "credit":
            option = propose_map(records, records.source == FRAME)
        if option is None:
            raise
        remedy = f"translate the words, for example {option}"
        raise DataError(error.problem, remedy=remedy, source=error.source, row=error.row) from None
