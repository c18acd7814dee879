"""Recognise the format of a table by its columns, or say what is missing."""

import shlex
from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path

from podium.data.formats.foreign import format_credit_map
from podium.data.reading.guessed_mapping import Guess
from podium.data.reading.mapping_files import format_mapping, name_of_mapping_file
from podium.data.reading.table import (
    FRAME,
    LIKELY_NAMES,
    LIKELY_OF_SCORES,
    lacks_only_items,
    may_be_figures_of_tasks,
    remedy_of_columns,
)
from podium.errors import DataError, UsageError
from podium.hookspecs import Format
from podium.notices.option_forms import are_assignable, format_assignments
from podium.plugins import catalogue

TASKS = {"response": "ring -T responses=FILES", "chosen": "recorded -T battles=FILE"}
"""For a column that files of responses have, the command that judges them, for messages."""
ONE_MODEL_COLUMNS = {
    "item": ("item", *LIKELY_OF_SCORES["item"]),
    "score": ("score", *LIKELY_OF_SCORES["score"]),
    "model": (
        "model",
        "model_a",
        "model_b",
        *LIKELY_OF_SCORES["model"],
        *LIKELY_NAMES["model_a"],
        *LIKELY_NAMES["model_b"],
    ),
}
"""Columns of a table with the scores of one model, and the names that they have, in lower case.

Such a table has no column `model`.
"""


def recognise_format(columns: frozenset[str], label: str | None = None) -> Format | None:
    """Return the format that fits the columns best; None if none fits.

    The signature of a format is a set of columns that its tables have. The format with the largest
    signature among the columns fits best.

    Args:
        columns: names of the columns.
        label: the user's label of the file; it can stand for a column (`Format.column_of_label`).

    Raises:
        UsageError: two formats fit equally well.
    """
    fits: dict[int, list[Format]] = {}
    for known in catalogue.formats():
        given = columns | {known.column_of_label} if label and known.column_of_label else columns
        fits.setdefault(known.specificity(frozenset(given)), []).append(known)
    best = max(fits)
    if best and len(fits[best]) > 1:
        names = " or ".join(sorted(known.name for known in fits[best]))
        raise UsageError(f"the columns fit {names}: say which with --from")
    return fits[best][0] if best else None


RANKING_KEYS = frozenset({"podium", "rankings"})
"""Keys of the JSON of a ranking."""


def unrecognised_error(columns: frozenset[str], source: str, guess: Guess) -> DataError:
    """Return the error to raise for a file in no known format.

    Of a ranking, its message names the commands that read rankings. Of other files, it names the
    most similar format, if the file has at least half of its columns, and guesses the options that
    name the columns and translate the verdicts, also as a mapping file.

    Args:
        columns: names of the columns of the file.
        source: its name for messages.
        guess: the options that may read the file.
    """
    if columns >= RANKING_KEYS:
        remedy = (
            "name the log or the verdicts that it was made from; `podium report`, `podium export` "
            "and `podium leaderboard` read rankings"
        )
        problem = "a ranking that podium wrote, which holds no verdicts"
        return DataError(problem, source=source, remedy=remedy)
    nearest, best = _nearest_signature(columns)
    names = [name or "(no name)" for name in sorted(columns)[:20]]
    problem = f"no known format has the columns {', '.join(names) or '(none)'}"
    if 2 * len(best & columns) >= len(best):
        problem += f" (nearest: {nearest}, which also needs {', '.join(sorted(best - columns))})"
    named = remedy_of_columns(sorted(columns), source, guess.columns)
    if guess.fill and source != FRAME:
        named += f" {format_assignments('fill', guess.fill)}"
    if guess.credit_map and source != FRAME:
        named += f" {format_credit_map(guess.credit_map)}"
    of_one_model = _command_for_files_of_models(guess.paths, source)
    if of_one_model is not None:
        named += f"; if it has the scores of one model, label a file per model: `{of_one_model}`"
    remedy = f"{named}; `podium list formats` shows what is known"
    lacks_items = lacks_only_items(columns, guess.columns)
    is_bad_guess = lacks_items or may_be_figures_of_tasks(guess.columns)
    if source != FRAME and not is_bad_guess:
        mapping = format_mapping(
            columns=guess.columns, credit_map=guess.credit_map, fill=guess.fill
        )
        saved = f"save the guess as {name_of_mapping_file(Path(source))}: {mapping}"
        typed = [*guess.columns.values(), *guess.fill.values(), *guess.credit_map]
        # If an option cannot hold such a name, only the file can.
        remedy = f"{remedy}; or {saved}" if are_assignable(typed) else saved
    for column, task in TASKS.items():
        if column in columns:
            command = f"`inspect eval podium/{task} --model-role judge=MODEL`"
            remedy += f"; if the file holds responses to judge, {command}"
    return DataError(problem, remedy=remedy)


def _nearest_signature(columns: frozenset[str]) -> tuple[str, frozenset[str]]:
    """Return the name of the most similar format, and its signature that is most similar.

    A signature is a set of columns. The most similar one has the largest share of its columns among
    `columns`.
    """
    signatures = []
    for known in catalogue.formats():
        for signature in known.signature:
            share = len(signature & columns) / len(signature)
            signatures.append((share, known.name, frozenset(signature)))
    _, name, best = max(signatures, key=itemgetter(0))
    return name, best


def _command_for_files_of_models(paths: Mapping[str, str], source: str) -> str | None:
    """Return the command that ranks models by tables of one model's scores each.

    Args:
        paths: the columns of such a table, and the paths into them, by their last part.
        source: its name.

    Returns:
        None if the table is a data frame, has no column of items or scores, or has one of models.
    """
    names = {name.lower(): path for name, path in paths.items()}
    columns_found = {}
    for own_name, words in ONE_MODEL_COLUMNS.items():
        columns_found[own_name] = next((names[word] for word in words if word in names), None)
    item = columns_found["item"]
    score = columns_found["score"]
    has_models = columns_found["model"] is not None
    if source == FRAME or item is None or score is None or has_models:
        return None
    typed = {
        own_name: name for own_name, name in (("item", item), ("score", score)) if own_name != name
    }
    named = f" {format_assignments('columns', typed)}" if typed else ""
    return f"podium rank {shlex.quote(f'NAME={source}')} OTHER=FILE{named}"
