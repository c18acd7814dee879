"""Guess from the names and values of columns how a table of battles in no known format is read.

Two columns hold the models if their names differ only in the side, such as `answer_1_model` and
`answer_2_model`, and if their values repeat as names of models do.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from podium.data.formats.foreign import (
    FIRST,
    KNOWN_COLUMNS,
    LIKELY_CREDIT,
    TO_FILL_IN,
    guess_credits,
    likely_credits,
)
from podium.data.formats.records import Records, column_called
from podium.data.formats.row_facts import is_fact
from podium.data.formats.verdict_cells import LABEL_CREDITS
from podium.data.reading.table import LIKELY_NAMES, LIKELY_OF_SCORES, guess_columns
from podium.text import text_of

SAMPLE = 1000
"""Number of rows, the first ones, whose values are looked at."""
DEEPEST_PATH = 3
"""Largest number of keys in a path into objects."""
LONGEST_NAME = 100
"""Largest number of characters of the name of a model."""
MOST_WORDS = 20
"""Largest number of different verdicts."""
SIDES = (
    ("a", "b"),
    ("1", "2"),
    ("0", "1"),
    ("left", "right"),
    ("first", "second"),
    ("one", "two"),
)
"""Words in the names of columns that say whose side a value is about."""
PAIRS_OF_WORDS = (("x", "y"),)
"""Further such words, which say so only beside another word: columns may be called `x` and `y`."""
WINNER_AND_LOSER = (("winner", "loser"), ("chosen", "rejected"), ("win", "lose"))
"""Such words in the names of columns with the models if the first of them won every battle."""
MODEL_WORDS = frozenset({"model", "models", "system", "method", "generator", "agent", "engine"})
"""Words in the names of columns with models, in lower case."""
SCORE_WORDS = frozenset({"score", "scores", "rating", "ratings", "points", "grade", "reward"})
"""Words in the names of columns with scores."""
WIN_WORDS = frozenset({"win", "wins", "won", "victories", "w"})
"""Words in the names of columns with counts of wins."""
TIE_WORDS = frozenset({"tie", "ties", "tied", "draw", "draws", "drawn", "d"})
"""Words in the names of columns with counts of ties."""
VERDICT_WORDS = frozenset({*LIKELY_NAMES["credit"], "preferred", "better", "best", "comparison"})
"""Words in the names of columns with verdicts."""
FIRST_WORDS = frozenset({"first", "a", "1", "left"})
"""Words in the name of a column with the model that was shown first, or as A."""
TRUTHS = frozenset({"true", "false", "yes", "no"})
"""Words that are verdicts only in a column whose name says so."""
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
"""Matches a word in the name of a column: `answer1Model` has three."""
Cells = Sequence[str | None]
"""The cells of a column as text; None for an empty cell."""


class Guess(NamedTuple):
    """Options that may read a table. A value is `?` if it is unknown.

    Attributes:
        columns: see `podium.read_battles`, and so `credit_map` and `fill`.
        paths: if no two columns hold models, all columns and paths into them by their last part.
    """

    columns: Mapping[str, str]
    credit_map: Mapping[str, str] = {}
    fill: Mapping[str, str] = {}
    paths: Mapping[str, str] = {}


def guess_mapping(records: Records) -> Guess:
    """Return a guess of the options that read a table in no known format.

    If two columns hold models (`_pair_of_models`), it is a table of battles. The verdict is then
    the first of these that it has: columns of a winner and a loser, a column of verdicts, counts of
    wins, scores of both models; else it is `?`. If no two columns hold models, the guess is that of
    `guess_columns`, or the column of items of a table with a column of scores per model.
    """
    cells = _sampled_cells(records)
    of_models = _pair_of_models(cells)
    if of_models is None:
        paths = _paths_by_last_part(cells)
        items = _column_of_items(cells)
        columns = _columns_in_paths(paths) if items is None else {"item": items}
        if items is None and _are_numbers_alone(cells, columns):
            columns = {"item": _column_of_numbered_items(cells) or TO_FILL_IN}
        return Guess(columns, _credits_of_likely_column(records), paths=paths)
    model_a, model_b = of_models
    names = [name for name in sorted(records.columns) if name not in of_models]
    # The columns of the models are known, and named so that only those of item and judge are
    # guessed.
    guessed = guess_columns(["model_a", "model_b", *names])
    old_names = {name: old for name, old in guessed.items() if name in ("item", "judge")}
    old_names |= {"model_a": model_a, "model_b": model_b}
    columns = {name: old for name, old in old_names.items() if name != old}
    if _have_side_words(of_models, WINNER_AND_LOSER):
        return Guess(columns, fill={"credit": "1"})
    models = {cell for cell in (*cells[model_a], *cells[model_b]) if cell is not None}
    verdict = _column_of_verdicts(cells, models, of_models)
    numbers = _columns_of_counts(cells) or _columns_of_scores(cells)
    if verdict is None and numbers:
        numbers = {name: old for name, old in numbers.items() if name != old}
        return Guess(columns | numbers)
    if verdict is None and names:
        return Guess(columns | {"credit": TO_FILL_IN})
    if verdict is None:
        return Guess(columns, fill={"credit": TO_FILL_IN})
    words = sorted({cell for cell in cells[verdict] if cell is not None} - models)
    if verdict != "credit":
        columns["credit"] = verdict
    credits = _guess_credits_of_words(words, of_models)
    first = _column_of_first(cells, of_models)
    if first is not None and {*credits.values()} & {"0", "1"}:
        columns[FIRST] = first
    return Guess(columns, credits or {"tie": "0.5"})


def _column_of_items(cells: Mapping[str, Cells]) -> str | None:
    """Return the column with the items of a table that may have a column of scores per model.

    It is the only one whose cells are not all numbers, and they are different names. There are at
    least two other columns that are not called as facts about rows, and no more of them than rows.
    None if there is no such column.
    """
    names = [path for path, column in cells.items() if not _are_all_numbers(column)]
    if len(names) != 1:
        return None
    (items,) = names
    scored = [path for path in cells if path != items and not is_fact(path)]
    is_name = [cell is not None and not _is_number(cell) for cell in cells[items]]
    is_unique = len({*cells[items]}) == len(is_name)
    has_scores = 2 <= len(scored) <= len(is_name)
    return items if all(is_name) and is_unique and has_scores else None


def _are_numbers_alone(cells: Mapping[str, Cells], guess: Mapping[str, str]) -> bool:
    """Return whether a table has only numbers, and no column whose name says what it is about.

    Guesses of `item`, `model_a` and `model_b` do not count: names of models are no numbers,
    whatever their column is called. The result is False if there are no columns.

    Args:
        cells: the columns.
        guess: the likely column for each missing column, by `guess_columns`; `?` if unknown.
    """
    is_named = not KNOWN_COLUMNS.isdisjoint(cells) or any(
        old != TO_FILL_IN
        for name, old in guess.items()
        if name not in ("item", "model_a", "model_b")
    )
    return bool(cells) and not is_named and all(map(_are_all_numbers, cells.values()))


def _column_of_numbered_items(cells: Mapping[str, Cells]) -> str | None:
    """Return the column that numbers the items of a table of numbers; None if there is none.

    It has one of the usual names for items, or it is the first column and counts the rows. The
    numbers are different, and there are at least two other columns that are not called as facts
    about rows, and no more of them than rows. All cells of the table must be numbers or empty.
    """
    paths = [path for path in cells if path]
    usual = [path for path in paths if path.lower() in LIKELY_OF_SCORES["item"]]
    first = next(iter(cells), "")
    numbers = [float(cell) for cell in cells.get(first, ()) if cell is not None]
    counted = []
    if numbers:
        counted = [numbers[0] + k for k in range(len(numbers))]
    if first and numbers == counted:
        usual.append(first)
    for path in usual:
        column = cells[path]
        scored = [name for name in cells if name != path and not is_fact(name)]
        is_unique = None not in column and len({*column}) == len(column)
        if is_unique and 2 <= len(scored) <= len(column):
            return path
    return None


def _are_all_numbers(column: Cells) -> bool:
    """Return whether a column has a number and, besides empty cells, nothing but numbers."""
    values = [cell for cell in column if cell is not None]
    return bool(values) and all(map(_is_number, values))


def _column_of_first(cells: Mapping[str, Cells], of_models: tuple[str, str]) -> str | None:
    """Return the column with the model that was shown first, or as A; None if there is none.

    In each row, it has one of the two models, and not always that of the same column. Its name has
    a word of `FIRST_WORDS`. Of several such columns, the one with the shortest name counts.
    """
    pairs = [*zip(*(cells[name] for name in of_models), strict=True)]
    likely = []
    for path, column in cells.items():
        if path in of_models or FIRST_WORDS.isdisjoint(_words_in_name(path)):
            continue
        sides = {pair.index(cell) for pair, cell in zip(pairs, column, strict=True) if cell in pair}
        is_one_of_both = all(cell in pair for pair, cell in zip(pairs, column, strict=True))
        if is_one_of_both and len(sides) > 1:
            likely.append((len(path), path))
    # The least entry is the most likely one; its last element is what is looked for.
    return min(likely)[-1] if likely else None


def _guess_credits_of_words(words: list[str], of_models: tuple[str, str]) -> dict[str, str]:
    """Return the likely credit of each verdict; `?` for a number, which may be any code.

    A verdict may also be the name of one of the columns with the models.

    Args:
        words: the verdicts.
        of_models: the columns of model_a and of model_b.
    """
    credits = likely_credits(words)
    for word in credits:
        if _is_number(word):
            credits[word] = TO_FILL_IN
        elif word in of_models:
            credits[word] = "1" if word == of_models[0] else "0"
    return credits


def _paths_by_last_part(cells: Mapping[str, Cells]) -> dict[str, str]:
    """Return columns and paths into objects by their last part: `data.correct` by `correct`.

    Of several with one last part, the shortest path counts.
    """
    paths: dict[str, str] = {}
    for path in sorted(cells, key=lambda path: (path.count("."), path)):
        paths.setdefault(path.rpartition(".")[2], path)
    return paths


def _columns_in_paths(paths: Mapping[str, str]) -> dict[str, str]:
    """Return the likely column or path for each missing column.

    It is the one of `guess_columns`, or a path whose last part is podium's name of a column. The
    value is `?` if no column is likely.

    Args:
        paths: columns and paths by their last part, as `_paths_by_last_part` returns them.
    """
    guess = {name: paths.get(old, old) for name, old in guess_columns(paths).items()}
    nested = {name: path for name, path in paths.items() if name in KNOWN_COLUMNS and path != name}
    return guess | nested


def _credits_of_likely_column(records: Records) -> dict[str, str]:
    """Return a guess of the credit map for the column that is the credit by its name.

    The names are those of `LIKELY_NAMES`, in upper or lower case. The result is empty if no column
    has such a name, or if there is a column `credit`.
    """
    names = {name.lower(): name for name in records.columns}
    likely = next((names[word] for word in LIKELY_NAMES["credit"] if word in names), None)
    if likely is None or "credit" in records.columns:
        return {}
    columns = {"credit": records.columns[likely]}
    return guess_credits(replace(records, columns=columns))


def _sampled_cells(records: Records) -> dict[str, Cells]:
    """Return the first cells of each column, and of each path into objects and pairs, as text.

    Paths are those that `--columns` takes, such as `answers.0.model`; other paths are left out.

    Returns:
        The cells by path. All lists have one cell per row for the first `SAMPLE` rows; the cell is
        None if the row has no value at this path. Empty if the table has no columns.
    """
    texts = ", ".join(column.text for column in records.columns.values())
    if not texts:
        return {}
    rows = records.rows(texts, f"limit {SAMPLE}")
    cells: dict[str, list[str | None]] = {}
    for number, row in enumerate(rows):
        for name, text in zip(records.columns, row, strict=True):
            for path, cell in _paths_in_cell(name, text):
                column = cells.setdefault(path, [])
                column.extend([None] * (number - len(column)))
                column.append(cell)
    for column in cells.values():
        column.extend([None] * (len(rows) - len(column)))
    return {path: column for path, column in cells.items() if column_called(records, path)}


def _paths_in_cell(path: str, text: str | None) -> Iterable[tuple[str, str | None]]:
    """Yield the cell itself, or each single value in a cell that is JSON, with its path.

    An empty cell, and a text that is no JSON object or list, are the cell itself. A list of more
    than two values yields nothing.
    """
    if text is None or not text.startswith(("[", "{")):
        return [(path, text)]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [(path, text)]
    return _values_with_paths(path, value, DEEPEST_PATH)


def _values_with_paths(path: str, value: Any, depth: int) -> Iterable[tuple[str, str | None]]:
    """Yield the single values in objects and in lists of two, with their paths.

    Longer lists, and keys that are empty or have a dot, are left out.

    Args:
        path: the path of the value.
        value: a value of JSON.
        depth: largest number of further keys in a path.
    """
    parts: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        parts = [(name, part) for name, part in value.items() if name and "." not in name]
    elif isinstance(value, list) and len(value) == 2:
        parts = [(str(number), part) for number, part in enumerate(value)]
    elif not isinstance(value, list):
        yield path, text_of(value)
    for name, part in parts if depth else []:
        yield from _values_with_paths(f"{path}.{name}", part, depth - 1)


def _words_in_name(path: str) -> list[str]:
    """Return the words in the name of a column (`WORD`), in lower case."""
    return [word.lower() for word in WORD.findall(path)]


def _pairs_of_columns(paths: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Yield the pairs of columns whose names differ only in the words of a side.

    The words are those of `SIDES` and `WINNER_AND_LOSER`, and those of `PAIRS_OF_WORDS` in names of
    several words. The column with the first word of the two comes first.
    """
    by_words: dict[tuple[str, ...], str] = {}
    for path in paths:
        by_words.setdefault(tuple(_words_in_name(path)), path)
    for words, path in by_words.items():
        more = PAIRS_OF_WORDS if len(words) > 1 else ()
        for place, word in enumerate(words):
            for first, second in (*SIDES, *WINNER_AND_LOSER, *more):
                other = (*words[:place], second, *words[place + 1 :])
                if word == first and other in by_words:
                    yield path, by_words[other]


def _have_side_words(pair: tuple[str, str], sides: Iterable[tuple[str, str]]) -> bool:
    """Return whether the first name has the first word of a side, and the second name the other.

    One pair of words among `sides` suffices. Words of names are those of `_words_in_name`.
    """
    first, second = map(_words_in_name, pair)
    return any(word in first and opposite in second for word, opposite in sides)


def _pair_of_models(cells: Mapping[str, Cells]) -> tuple[str, str] | None:
    """Return the columns with model_a and model_b; None if no two columns hold models.

    Of several such pairs, those whose names have a word for a model come first, then those with
    short names.
    """
    likely = []
    for first, second in _pairs_of_columns(cells):
        if _are_models(cells[first], cells[second]):
            names_no_model = MODEL_WORDS.isdisjoint(_words_in_name(first))
            likely.append((names_no_model, len(first), (first, second)))
    # The least entry is the most likely one; its last element is what is looked for.
    return min(likely)[-1] if likely else None


def _are_models(first: Cells, second: Cells) -> bool:
    """Return whether the values of two columns repeat as names of models do.

    There are at least two different ones, and no more than rows with both (or two). At least half
    of the rows have both. Not all are numbers, truth values or words for verdicts, and none is
    longer than `LONGEST_NAME`.
    """
    names = {cell for cell in (*first, *second) if cell is not None}
    rows = sum(None not in pair for pair in zip(first, second, strict=True))
    has_few_names = 2 <= len(names) <= max(rows, 2)
    if not has_few_names or 2 * rows < len(first):
        return False

    def is_no_name(cell: str) -> bool:
        """Return whether a cell is a number, a truth value or a word for a verdict."""
        return _is_number(cell) or _is_verdict(cell) or cell.lower() in TRUTHS

    if all(map(is_no_name, names)):
        return False
    return max(map(len, names)) <= LONGEST_NAME


def _columns_of_scores(cells: Mapping[str, Cells]) -> dict[str, str]:
    """Return the columns with the scores of both models, by podium's names for them.

    These are `score_a` and `score_b`. The name of the first column has a word of `SCORE_WORDS`, and
    all filled cells of both are numbers. The result is empty if no two columns have scores.
    """
    for first, second in _pairs_of_columns(cells):
        has_word = not SCORE_WORDS.isdisjoint(_words_in_name(first))
        if has_word and _are_all_numbers([*cells[first], *cells[second]]):
            return {"score_a": first, "score_b": second}
    return {}


def _columns_of_counts(cells: Mapping[str, Cells]) -> dict[str, str]:
    """Return the columns with the wins of both models, and with ties, by podium's names for them.

    These are `wins_a` and `wins_b`, and `ties` if there is such a column. The name of the first
    column has a word of `WIN_WORDS`, that of ties a word of `TIE_WORDS`, and their cells are counts
    (`_has_counts`). The result is empty if no two columns have counts of wins.
    """
    for first, second in _pairs_of_columns(cells):
        has_word = not WIN_WORDS.isdisjoint(_words_in_name(first))
        if has_word and _has_counts(cells[first]) and _has_counts(cells[second]):
            ties = [
                path
                for path, column in cells.items()
                if _has_counts(column) and not TIE_WORDS.isdisjoint(_words_in_name(path))
            ]
            of_ties = {"ties": min(ties, key=len)} if ties else {}
            return {"wins_a": first, "wins_b": second, **of_ties}
    return {}


def _has_counts(column: Cells) -> bool:
    """Return whether a column has counts: besides empty cells, only texts of digits.

    A text such as `3.0` is no count. The result is False if all cells are empty.
    """
    values = [cell for cell in column if cell is not None]
    return bool(values) and all(cell.isdecimal() for cell in values)


def _column_of_verdicts(
    cells: Mapping[str, Cells], models: set[str], of_models: Sequence[str]
) -> str | None:
    """Return the column with the verdicts; None if there is none.

    Its values are names of models or words for verdicts, and not only a single such word. A column
    whose name says that it has verdicts may have any values. Besides names of models, there are at
    most
    `MOST_WORDS` different values. Of several such columns, those with known values come first, then
    those whose name says so, then those with short names.

    Args:
        cells: the columns.
        models: the names of the models.
        of_models: the columns with the models.
    """
    likely = []
    for path, column in cells.items():
        values = {cell for cell in column if cell is not None}
        if path in of_models or not values or len(values - models) > MOST_WORDS:
            continue
        is_named = path == "credit" or not VERDICT_WORDS.isdisjoint(_words_in_name(path))
        words = {value for value in values - models if not _is_verdict(value)}
        is_telling = bool(values & models) or len(values) > 1
        is_known = is_telling and not words
        if is_known or is_named:
            likely.append((not is_known, not is_named, len(path), path))
    # The least entry is the most likely one; its last element is what is looked for.
    return min(likely)[-1] if likely else None


def _is_verdict(word: str) -> bool:
    """Return whether a word is one for a verdict, of `LIKELY_CREDIT` or `LABEL_CREDITS`.

    Numbers and truth values are none. Upper and lower case matter only for `LABEL_CREDITS`.
    """
    if _is_number(word) or word.lower() in TRUTHS:
        return False
    return word.lower() in LIKELY_CREDIT or word in LABEL_CREDITS


def _is_number(word: str) -> bool:
    """Return whether a text is a number as Python writes it: `nan` and `inf` are, too."""
    try:
        float(word)
    except ValueError:
        return False
    return True
