"""Settings of runs in columns of a table of scores, as `shots` or `temperature`.

Rows of one model with different settings are of different runs, as in a host's logs: the models are
named by what differs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from podium.comparability.run_settings import differences_of_models, name_runs
from podium.data.counting.duck import Duck
from podium.data.counting.relations import sql_literal
from podium.data.formats.records import Column
from podium.data.reading.rows import RecordTable
from podium.data.reading.table import is_pointwise
from podium.notices.notice import Notice
from podium.run_record import RunRecord, SettingKind
from podium.wording import short_paths, some

SETTING_COLUMNS: Mapping[str, tuple[SettingKind, str]] = {
    "shots": ("task argument", "shots"),
    "num_fewshot": ("task argument", "shots"),
    "n_shot": ("task argument", "shots"),
    "temperature": ("generation", "temperature"),
    "top_p": ("generation", "top_p"),
    "reasoning_effort": ("generation", "reasoning_effort"),
    "prompt_version": ("task argument", "prompt_version"),
    "prompt_template": ("task argument", "prompt_template"),
    "prompt_name": ("task argument", "prompt_name"),
    "system_prompt": ("task argument", "system_prompt"),
}
"""Kind and name of the setting in each column that is known to hold one."""
COMPARED_COLUMNS: Mapping[str, tuple[SettingKind, str]] = {
    **SETTING_COLUMNS,
    "filter": ("task argument", "filter"),
    "scorer": ("task argument", "scorer"),
    "dataset": ("task argument", "dataset"),
    "split": ("task argument", "split"),
    "task_version": ("task argument", "task_version"),
    "fewshot_seed": ("task argument", "fewshot_seed"),
    "system_instruction": ("task argument", "system_instruction"),
    "chat_template": ("generation", "chat_template"),
    "max_tokens": ("generation", "max_tokens"),
}
"""`SETTING_COLUMNS` and further columns: models are compared in these settings, too, but are never
named by them."""


@dataclass(frozen=True, slots=True)
class NamedTables:
    """Tables whose models are named by the settings in which their runs differ.

    Attributes:
        tables: the tables.
        notes: a note for each model whose runs are different models, and a note on settings that
            may differ between models.
        runs: a run for each model, if models differ in settings that should be the same, which is
            then checked; else empty.
    """

    tables: Sequence[RecordTable]
    notes: Sequence[Notice] = ()
    runs: Sequence[RunRecord] = ()


Values = tuple[str | None, ...]
"""The texts of the settings of a row, in the order of its table's setting columns."""


def name_models_by_settings(engine: Duck, tables: Sequence[RecordTable]) -> NamedTables:
    """Name the models of scores by the settings in which rows of one model differ.

    A model has other names only if it has scores of one item with several values of a setting.

    Args:
        engine: the database.
        tables: all tables. Those of battles and of a host's eval are left as they are.
    """
    columns = _differing_columns(engine, tables)
    runs: list[RunRecord] = []
    places: list[tuple[int, str, Values]] = []
    for place, table in enumerate(tables):
        for model, values in _combinations(table, columns):
            places.append((place, model, values))
            run = _run_of_rows(model, dict(zip(columns, values, strict=True)))
            # Runs of one source would be taken for runs of one model on several tasks.
            runs.append(replace(run, source=f"{table.source}#{len(runs)}"))
    if not runs:
        return _with_runs(NamedTables(tables), [])
    named = name_runs(runs)
    names: dict[int, dict[tuple[str, Values], str]] = {}
    for (place, model, values), run in zip(places, named, strict=True):
        names.setdefault(place, {})[model, values] = run.model
    renamed = [
        _with_names(each, columns, names.get(place, {})) for place, each in enumerate(tables)
    ]
    return _with_runs(NamedTables(renamed, _notes_on_settings(runs, named)), named)


def _differing_columns(engine: Duck, tables: Sequence[RecordTable]) -> list[str]:
    """Return the columns of `SETTING_COLUMNS` of which a model has several values on one item.

    The rows of all tables with scores of their own are compared together. Rows of several tasks,
    categories or metrics are of different items. Tables without items are left out.
    """
    differing = []
    for name in SETTING_COLUMNS:
        queries = []
        for table in filter(_has_own_scores, tables):
            columns = table.records.columns
            if name in columns and "item" in columns:
                # One id may stand for several items: of several tasks, or by several metrics.
                parts = [part for part in ("task", "category", "metric", "item") if part in columns]
                key = ", ".join(columns[part].text for part in parts)
                value = _one_spelling_of_setting(columns[name])
                queries.append(
                    f"select hash({key}) as item, {columns['model'].text} as model, "
                    f"{value} as value from {table.records.scan}"
                )
        if queries:
            with_several_values = "group by item, model having min(value) <> max(value) limit 1"
            rows = f"({' union all '.join(queries)}) as rows"
            if engine.rows(f"select 1 from {rows} {with_several_values}"):
                differing.append(name)
    return differing


def _one_spelling_of_setting(column: Column) -> str:
    """Return SQL of a setting as text; equal numbers have one text, so that 0.50 is 0.5."""
    as_number = f"cast(try_cast({column.text} as double) as varchar)"
    return f"regexp_replace(coalesce({as_number}, {column.text}), '\\.0$', '')"


def _has_own_scores(each: RecordTable) -> bool:
    """Return whether a table has pointwise scores, and is not of a host's eval."""
    return not each.is_of_host and is_pointwise(each.records.columns)


def _setting_cells(each: RecordTable, columns: Sequence[str]) -> list[str]:
    """Return SQL of the model, and then of each setting in the order of `columns`.

    A column that the table lacks is null.
    """
    own_columns = each.records.columns
    settings = [
        _one_spelling_of_setting(own_columns[name])
        if name in own_columns
        else "cast(null as varchar)"
        for name in columns
    ]
    return [own_columns["model"].text, *settings]


def _combinations(each: RecordTable, columns: Sequence[str]) -> list[tuple[str, Values]]:
    """Return the different pairs of a model and its settings in a table, sorted.

    The list is empty if no columns are given, or if the table has no scores of its own
    (`_has_own_scores`).
    """
    if not columns or not _has_own_scores(each):
        return []
    model, *settings = _setting_cells(each, columns)
    with_model = f"where {model} is not null"
    rows = each.records.rows(f"distinct {', '.join([model, *settings])}", with_model)
    return sorted([(name, tuple(values)) for name, *values in rows], key=repr)


def _run_of_rows(model: str, values: Mapping[str, str | None]) -> RunRecord:
    """Return the run of a model as a record that has only settings, without task and source.

    Args:
        model: name of the model.
        values: the value of each setting by column of `COMPARED_COLUMNS`; None is left out.
    """
    by_kind: dict[SettingKind, dict[str, str]] = {"task argument": {}, "generation": {}}
    for column, value in values.items():
        kind, name = COMPARED_COLUMNS[column]
        if value is not None:
            by_kind[kind][name] = value
    return RunRecord(
        model=model,
        task="",
        source="",
        is_described=False,
        task_arguments=tuple(sorted(by_kind["task argument"].items())),
        generation=tuple(sorted(by_kind["generation"].items())),
    )


def _with_names(
    each: RecordTable, columns: Sequence[str], names: Mapping[tuple[str, Values], str]
) -> RecordTable:
    """Return a table whose models have other names.

    Args:
        each: the table.
        columns: the columns with settings.
        names: the new name by model and settings.
    """
    changed = {key: name for key, name in names.items() if name != key[0]}
    if not changed:
        return each
    cells = _setting_cells(each, columns)
    cases = []
    for (model, values), name in changed.items():
        conditions = []
        for cell, value in zip(cells, (model, *values), strict=True):
            wanted = "null" if value is None else sql_literal(value)
            conditions.append(f"{cell} is not distinct from {wanted}")
        cases.append(f"when {' and '.join(conditions)} then {sql_literal(name)}")
    renamed = Column(f"case {' '.join(cases)} else {cells[0]} end")
    records = replace(each.records, columns={**each.records.columns, "model": renamed})
    return replace(each, records=records)


def _notes_on_settings(runs: Sequence[RunRecord], named: Sequence[RunRecord]) -> list[Notice]:
    """Return a note for each model whose runs are different models now, with their names.

    Args:
        runs: the runs, with the names in the tables.
        named: the same runs, named by settings.
    """
    names: dict[str, set[str]] = {}
    for run, other in zip(runs, named, strict=True):
        if other.model != run.model:
            names.setdefault(run.model, set()).add(other.model)
    return [
        Notice("settings-name-models", {"model": model, "names": sorted(names_of_columns)})
        for model, names_of_columns in names.items()
    ]


def _with_runs(read: NamedTables, named: Sequence[RunRecord]) -> NamedTables:
    """Return tables with the settings in which their models differ, in a note or as runs.

    The note names the differences that are not flagged. If any difference is flagged, `runs` has a
    run for each model, by which a check names it later.

    Args:
        read: the tables, with the final names of models.
        named: runs whose models are named by settings.
    """
    shown = {run.model: run.named_settings for run in named}
    runs = [
        replace(run, named_settings=shown.get(run.model, ()))
        for run in _runs_of_models(read.tables)
    ]
    differences = differences_of_models(runs)
    texts = []
    for difference in differences:
        if not difference.is_flagged:
            texts.append(f"{difference.setting.text} {difference.values_text}")
    notes = [*read.notes]
    if texts:
        sources = list(dict.fromkeys(each.source for each in filter(_has_own_scores, read.tables)))
        fields = {"task": some(short_paths(sources), most=2), "differences": texts}
        notes.append(Notice("settings-differ", fields))
    is_flagged = any(difference.is_flagged for difference in differences)
    return replace(read, notes=notes, runs=runs if is_flagged else ())


def _runs_of_models(tables: Sequence[RecordTable]) -> list[RunRecord]:
    """Return a run for each model with its settings in `COMPARED_COLUMNS`, by name of the model.

    A setting of which the rows of a model have several values is not a setting of the model. Models
    of tables without these columns have no run.
    """
    values: dict[str, dict[str, set[str]]] = {}
    for table in filter(_has_own_scores, tables):
        columns = table.records.columns
        model = columns["model"].text
        for name in [name for name in COMPARED_COLUMNS if name in columns]:
            value = _one_spelling_of_setting(columns[name])
            rows = table.records.rows(
                f"{model}, min({value}) as least, max({value}) as largest",
                f"where {model} is not null group by 1",
            )
            for model_of_row, least, largest in rows:
                known_values = {least, largest} - {None}
                values.setdefault(model_of_row, {}).setdefault(name, set()).update(known_values)
    runs = []
    for model, settings in sorted(values.items()):
        single = {
            name: min(values_of_column)
            for name, values_of_column in settings.items()
            if len(values_of_column) == 1
        }
        runs.append(_run_of_rows(model, single))
    return runs
