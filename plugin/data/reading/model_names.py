"""Find names of models and judges that look the same, and join them if the user says so."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from podium.comparability.joined_names import note_names_joined
from podium.data.battles import Battles
from podium.data.counting.relations import ROW, sql_literal
from podium.data.counting.verdicts import Verdicts
from podium.data.formats.records import Column
from podium.data.reading.rows import RecordTable, distinct_texts
from podium.errors import DataError
from podium.names import (
    bare_and_prefixed,
    escaped_name,
    joined_name,
    names_alike,
    spellings_of_one_name,
)
from podium.notices.notice import Notice
from podium.notices.option_forms import option_text

MODELS = ("model", "model_a", "model_b")
"""Columns with names of models. A table has the first, or the two others."""
NAME_COLUMNS = (*MODELS, "judge")
"""Columns whose names are joined."""


def require_distinct_names(verdicts: Verdicts, tables: Sequence[RecordTable] = ()) -> Verdicts:
    """Return verdicts unchanged, if no two models and no two judges have names that look the same.

    Args:
        verdicts: the verdicts.
        tables: the tables that they are from, in which the names are looked for.

    Raises:
        DataError: two names look the same.
    """
    for kind, columns, names in (
        ("models", MODELS, verdicts.models),
        ("judges", ("judge",), verdicts.judges),
    ):
        alike = next(iter(names_alike(names).values()), None)
        if alike is not None:
            places = [_first_place_of(name, columns, tables) for name in alike[:2]]
            raise alike_error(kind, alike, places)
    return verdicts


def require_same_spelling(battles: Battles, labels: Battles) -> None:
    """Raise DataError if a model has another name in human labels that looks the same."""
    groups_alike = names_alike([*battles.models, *labels.models])
    alike = next(iter(groups_alike.values()), None)
    if alike is not None:
        raise alike_error("models", alike)


def alike_error(kind: str, alike: Sequence[str], places: Sequence[str] = ("", "")) -> DataError:
    """Return the error for two names that look the same.

    Args:
        kind: what has the names, in plural.
        alike: the names; the first two are shown, with escapes.
        places: where each of the two stands, shape (2,); an empty text if that is unknown.
    """
    shown = []
    for name, place in zip(alike, places, strict=False):
        name_in_message = escaped_name(name)
        shown.append(f"{name_in_message} ({place})" if place else name_in_message)
    differ = "differ only in Unicode form, invisible characters or blanks at the ends"
    remedy = (
        f"write the name in one way, or count them as one with {option_text('names', 'joined')}"
    )
    return DataError(f"the names of the {kind} {' and '.join(shown)} {differ}", remedy=remedy)


def _first_place_of(name: str, columns: Iterable[str], tables: Sequence[RecordTable]) -> str:
    """Return the first file and row with a name in one of the columns, as `votes.csv, row 3`.

    The text is empty if there is none.

    Args:
        name: the name.
        columns: the columns.
        tables: the tables, which are searched in their order.
    """
    for table in tables:
        held = [
            table.records.columns[column] for column in columns if column in table.records.columns
        ]
        if not held:
            continue
        condition = " or ".join(f"{column.text} = {sql_literal(name)}" for column in held)
        ((row,),) = table.records.rows(f"min({ROW})", f"where {condition}")
        if row is not None:
            return f"{table.source}, {table.records.name_row(row)}"
    return ""


def join_names_alike(tables: Sequence[RecordTable]) -> tuple[list[RecordTable], list[Notice]]:
    """Write every name of a model or judge as people see it, also in the records of judges.

    Returns:
        The tables, and a note on the names that became one.

    Raises:
        DataError: a battle is of two models whose names look the same.
    """
    known_names: set[str] = set()
    joined = []
    for table in tables:
        records = table.records
        columns = dict(records.columns)
        for name in (name for name in NAME_COLUMNS if name in columns):
            names = distinct_texts(records, name)
            known_names.update(names)
            columns[name] = _joined_column(columns[name], names)
        judges = {joined_name(name): judge for name, judge in table.judges.items()}
        renamed = {name: replace(judge, name=name) for name, judge in judges.items()}
        joined.append(replace(table, records=replace(records, columns=columns), judges=renamed))
    for each in joined:
        _reject_battles_with_itself(each)
    return joined, note_names_joined(known_names)


def _joined_column(column: Column, names: Iterable[str]) -> Column:
    """Return a column of names with each written as people see it.

    Args:
        column: the column.
        names: its distinct names.
    """
    changed = {name: joined_name(name) for name in names if joined_name(name) != name}
    if not changed:
        return column
    cases = " ".join(
        f"when {sql_literal(name)} then {sql_literal(new)}" for name, new in changed.items()
    )
    return Column(f"case {column.text} {cases} else {column.text} end")


def _reject_battles_with_itself(each: RecordTable) -> None:
    """Raise DataError if the two models of a battle became one; tables of scores have no battle."""
    columns = each.records.columns
    if not {"model_a", "model_b"} <= columns.keys():
        return
    condition = f"where {columns['model_a'].text} = {columns['model_b'].text}"
    ((row, name),) = each.records.rows(
        f"min({ROW}), arg_min({columns['model_a'].text}, {ROW})", condition
    )
    if row is not None:
        problem = f"{name!r} plays against itself, once names that look the same are joined"
        remedy = "remove battles of a model with itself"
        place = each.records.name_row(row)
        raise DataError(problem, remedy=remedy, source=each.source, row=place)


def note_doubtful_names(models: Sequence[str]) -> list[Notice]:
    """Return warnings of models that may be one.

    Their names are with and without a provider, or differ in letter case or separators only.
    """
    notes = []
    names = {name: " and ".join(prefixed) for name, prefixed in bare_and_prefixed(models).items()}
    if names:
        notes.append(Notice("bare-names", {"names": names}))
    spellings = [" and ".join(group) for group in spellings_of_one_name(models)]
    if spellings:
        notes.append(Notice("names-in-spellings", {"names": spellings}))
    return notes
