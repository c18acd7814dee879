"""Read verdict files of other projects.

One function per format converts its records to columns of the battles table. Unknown columns are
kept. The index is kept, too, since errors name rows by it.
"""

import ast
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.data.counting.relations import CRITERION
from podium.data.formats.records import row_name
from podium.data.formats.verdict_cells import (
    FIVE_LEVELS,
    NO_ERROR_VALUES,
    parse_numbers,
    parse_words,
    reasons_where,
    reject_cells,
    rename_unless_taken,
    side_of_winner,
    with_reversed,
)
from podium.errors import DataError
from podium.printable import shorten
from podium.scorers.judge_record import JudgeRecord
from podium.text import EMPTY, as_text, parse_json

if TYPE_CHECKING:
    import pandas as pd


MOST_CRITERIA_KEPT = 100
"""If there are more criteria than this, for example a rubric per instruction, only the mean margin
is kept."""
PYTHON_SCORES = re.compile(r"\{(?:'[^'\"\\]*': [-+.0-9e]+(?:, )?)*\}")
"""Matches a dictionary of numbers as Python prints it, such as `{'clarity': 7}`.

If its quotes are replaced by double quotes, it is JSON.
"""


def read_alpaca_eval(records: "pd.DataFrame") -> "pd.DataFrame":
    """Read AlpacaEval annotations, with generator_2 as model_a.

    A preference of 2 is a win of generator_2, and 1 is a loss. For a number p between them, the
    credit is p - 1. Both 1.5 and 0 are ties. Null, NaN and -1 are unparsed. The outputs become
    `response_a` and `response_b`, with their lengths. If there is no column `index`, one is added
    that counts from 0.

    Raises:
        DataError: a preference is another number, or no number.
    """
    preference = parse_numbers(records["preference"])
    unparsed = np.isnan(preference) | (preference == -1)
    is_tie = np.isin(preference, (0.0, 1.5))
    is_out_of_range = ~unparsed & ~is_tie & ((preference < 1) | (preference > 2))
    remedy = "preferences lie between 1 and 2 (1.5 or 0 = tie, -1 = unparsed)"
    reject_cells(records["preference"], is_out_of_range, "is not a preference", remedy)
    credit_if_parsed = np.where(is_tie, 0.5, preference - 1)
    credit = np.where(unparsed, np.nan, credit_if_parsed)
    frame = rename_unless_taken(
        records, {"instruction": "item", "annotator": "judge", "dataset": "category"}
    )
    frame = frame.assign(model_a=records["generator_2"], model_b=records["generator_1"])
    frame = frame.drop(columns=["preference", "generator_1", "generator_2"])
    for side, output in (("a", "output_2"), ("b", "output_1")):
        if output in records:
            frame = frame.drop(columns=output)
            frame[f"length_{side}"] = records[output].map(_length_of_text)
            frame[f"response_{side}"] = records[output].where(records[output].map(_is_text))
    frame = frame.assign(credit=credit, reason=reasons_where(unparsed, "no preference"))
    if "index" not in records:
        frame = frame.assign(index=np.arange(len(records)))
    return frame


def _length_of_text(text: Any) -> float:
    """Return the number of characters of a text; NaN for anything else."""
    return len(text) if isinstance(text, str) else np.nan


def _is_text(value: Any) -> bool:
    """Return whether a value is a text."""
    return isinstance(value, str)


def read_arena_hard(records: "pd.DataFrame") -> "pd.DataFrame":
    """Read the judgments of arena-hard, with the baseline as model_b.

    A row has two games, which are judgments in different orders. The first game shows the baseline
    as A. Each game becomes a row. The margin of a label is in `FIVE_LEVELS`. A failed game or one
    without a label is unparsed. Without a column `baseline`, the baseline is called `baseline`.

    Raises:
        DataError: a label is unknown, or a cell has no list of games.
    """
    games = _split_games(records, "games", verdict="score", orders=("ba", "ab"))
    label = games["verdict"]
    lacks_game = games["played"].isna().to_numpy()
    margin_of_first = label.map(FIVE_LEVELS).to_numpy(dtype=np.float64)
    is_unknown = label.notna().to_numpy() & np.isnan(margin_of_first)
    # The first five labels are followed by their reversed spellings.
    known_labels = ", ".join([*FIVE_LEVELS][:5])
    remedy = "repair the label, or set it to null if the judge gave none"
    reject_cells(label.rename("score"), is_unknown, f"is not one of {known_labels}", remedy)
    # The response shown first is the baseline's in order ba.
    margin = np.where(games["order"] == "ba", -margin_of_first, margin_of_first)
    reason = np.where(lacks_game, "no game", reasons_where(np.isnan(margin), "no verdict"))
    item = "uid" if "uid" in records else "question_id"
    frame = games.drop(columns=["played", "verdict"])
    frame = frame.rename(columns={item: "item", "model": "model_a", "baseline": "model_b"})
    if "baseline" not in records:
        frame["model_b"] = "baseline"
    return frame.assign(label=label, credit=(np.sign(margin) + 1) / 2, margin=margin, reason=reason)


def read_evalica(records: "pd.DataFrame") -> "pd.DataFrame":
    """Read evalica's battles, with `left` as model_a.

    The winner is left, right, tie, or the name of one of the two models. An empty one is unparsed.

    Raises:
        DataError: the winner is another word.
    """
    remedy = (
        "a winner is left, right, tie, or the name of one of the two; empty if no verdict was given"
    )
    winner = side_of_winner(records, first="left", second="right")
    credit, unparsed = parse_words(winner, {"left": 1.0, "right": 0.0, "tie": 0.5}, remedy=remedy)
    frame = records.drop(columns="winner").rename(columns={"left": "model_a", "right": "model_b"})
    return frame.assign(credit=credit, reason=reasons_where(unparsed, "no winner"))


def read_judge_bench(records: "pd.DataFrame") -> "pd.DataFrame":
    """Read the judgments of JudgeBench. Each of the two orders of a pair becomes a row.

    Both responses of a pair are of the same model. Therefore, the models are called `correct` and
    `incorrect`, and `human` is the credit of the label. A judge is named by its way of asking and
    its model. A decision of null is unparsed.

    Raises:
        DataError: a label or a decision is unknown, or a cell has no list of judgments.
    """
    label = as_text(records["label"]).rename("label")
    credit_of_label = with_reversed({"A>B": 1.0, "B>A": 0.0})
    is_unknown = (~label.isin([*credit_of_label])).to_numpy()
    reject_cells(label, is_unknown, "names no winner", "labels are A>B or B>A")
    a_is_right = (label.map(credit_of_label) == 1).to_numpy()
    records = records.assign(
        model_a=np.where(a_is_right, "correct", "incorrect"),
        model_b=np.where(a_is_right, "incorrect", "correct"),
        human=a_is_right * 1.0,
    )
    games = _split_games(records, "judgments", verdict="decision", orders=("ab", "ba"))
    judges: dict[str, JudgeRecord] = {}
    if "judge_name" in records:
        ways = as_text(records["judge_name"])
        models = _judge_bench_models(records["judgments"])
        judges = _judge_bench_judges(ways, models)
        games["judge_name"] = ways + models.map(lambda model: f" {model}" if model else "")
    credits = with_reversed({"A>B": 1.0, "B>A": 0.0, "A=B": 0.5})
    remedy = "known decisions: A>B, B>A, A=B, or null"
    shown_first, unparsed = parse_words(games["verdict"].rename("decision"), credits, remedy=remedy)
    credit = np.where(games["order"] == "ab", shown_first, 1 - shown_first)
    dropped = ["response_A", "response_B", "question", "label", "played", "verdict"]
    frame = games.drop(columns=[name for name in dropped if name in games])
    frame = frame.rename(columns={"pair_id": "item", "judge_name": "judge", "source": "category"})
    frame = frame.assign(credit=credit, reason=reasons_where(unparsed, "no decision"))
    frame.attrs["judges"] = judges
    return frame


def _judge_bench_models(judgments: "pd.Series") -> "pd.Series":
    """Return the judge's model of each row of JudgeBench; an empty text if it is unknown.

    The model is named only within the judgments of a row; the first one named counts.
    """
    import pandas as pd

    models = []
    for games in judgments:
        judgments_of_row = [(game or {}).get("judgment") for game in games]
        named_models = [
            answer.get("judge_model") for answer in judgments_of_row if isinstance(answer, dict)
        ]
        models.append(next((str(model) for model in named_models if model), ""))
    return pd.Series(models, index=judgments.index, dtype=object)


def _judge_bench_judges(ways: "pd.Series", models: "pd.Series") -> dict[str, JudgeRecord]:
    """Return the records of the judges of JudgeBench, by name (`WAY MODEL`, or `WAY` alone).

    Args:
        ways: the way of asking of each row, with which the name begins.
        models: the judge's model of each row, with which the name ends; empty if it is unknown.
    """
    import pandas as pd

    distinct_judges = pd.DataFrame({"way": ways, "model": models}).dropna().drop_duplicates()
    judges = {}
    for way, model in distinct_judges.itertuples(index=False):
        name = f"{way} {model}" if model else way
        judges[name] = JudgeRecord(name=name, kind="model", model=model or None, realization=way)
    return judges


def read_900k_judgments(records: "pd.DataFrame") -> "pd.DataFrame":
    """Read 900K-Judgments, with the model shown first as model_a.

    A verdict that is empty or INVALID is unparsed. The margin is 2 for `m1>>m2`, down to -2.

    Raises:
        DataError: a verdict is unknown.
    """
    margins = with_reversed(
        {"m1>>m2": 2.0, "m1>m2": 1.0, "m1=m2": 0.0, "m2>m1": -1.0, "m2>>m1": -2.0}
    )
    remedy = f"known verdicts: {', '.join(margins)}"
    margin, unparsed = parse_words(
        records["final_verdict"], margins, frozenset({"INVALID"}), remedy=remedy
    )
    names = {
        "uid": "item",
        "model_a_in_prompt": "model_a",
        "model_b_in_prompt": "model_b",
        "judge_model": "judge",
    }
    verdicts = {
        "credit": (np.sign(margin) + 1) / 2,
        "margin": margin,
        "reason": reasons_where(unparsed, "no verdict"),
    }
    return records.rename(columns=names).assign(**verdicts, order="ab")


def read_soft_elo(records: "pd.DataFrame") -> "pd.DataFrame":
    """Read Soft-Elo's preferences: 0 is a win of model_a, and 1 is a loss.

    The credit is 1 minus `judge_pref`, the human credit 1 minus `human_pref`. The credit of a row
    with a `parse_error` is empty. The margins are computed from the columns `scores_a` and
    `scores_b`, which have scores by criterion.

    Raises:
        DataError: a preference is outside [0, 1], or a cell is no dictionary of scores.
    """
    preference_and_score_columns = ("judge_pref", "human_pref", "scores_a", "scores_b")
    read_columns = [name for name in preference_and_score_columns if name in records]
    names = {
        "instruction_id_hash": "item",
        "len_a": "length_a",
        "len_b": "length_b",
        "language": "category",
    }
    frame = records.drop(columns=read_columns).rename(columns=names)
    if {"scores_a", "scores_b"} <= set(records):
        frame = frame.assign(**_margins_of_scores(records["scores_a"], records["scores_b"]))
    is_failed = np.zeros(len(records), dtype=bool)
    if "parse_error" in records:
        texts = as_text(records["parse_error"]).fillna("").astype(str)
        errors = texts.str.strip().str.lower()
        is_failed = ~errors.isin(NO_ERROR_VALUES).to_numpy()
    for name, source in (("credit", "judge_pref"), ("human", "human_pref")):
        if source in records:
            preference = parse_numbers(records[source])
            remedy = "0 = A wins, 0.5 = tie, 1 = B wins"
            reject_cells(
                records[source], (preference < 0) | (preference > 1), "is outside [0, 1]", remedy
            )
            credit = 1 - preference
            frame[name] = credit if name == "human" else np.where(is_failed, np.nan, credit)
    return frame.assign(reason=reasons_where(is_failed, "parse error"))


def _margins_of_scores(scores_a: "pd.Series", scores_b: "pd.Series") -> dict[str, np.ndarray]:
    """Return the mean margin and the margin on each criterion; arrays of shape (rows,), by column.

    A margin is NaN if one of the two responses has no score. The mean is over the criteria on which
    both have one. With more than `MOST_CRITERIA_KEPT` criteria, only the mean is returned.
    """
    parsed_a = [_parse_scores(scores_a, row) for row in range(len(scores_a))]
    parsed_b = [_parse_scores(scores_b, row) for row in range(len(scores_b))]
    margins_of_rows = []
    means = []
    for of_a, of_b in zip(parsed_a, parsed_b, strict=True):
        margins = {name: of_a[name] - of_b[name] for name in of_a if name in of_b}
        margins_of_rows.append(margins)
        # Sorted, so that rounding does not depend on the order of the criteria.
        sorted_margins = [margins[name] for name in sorted(margins)]
        means.append(np.mean(sorted_margins) if margins else np.nan)
    columns = {"margin": np.array(means, dtype=np.float64)}
    criteria = sorted(set().union(*parsed_a, *parsed_b))
    if len(criteria) <= MOST_CRITERIA_KEPT:
        for name in criteria:
            of_criterion = [margins.get(name, np.nan) for margins in margins_of_rows]
            columns[CRITERION + name] = np.array(of_criterion, dtype=np.float64)
    return columns


def _parse_scores(column: "pd.Series", position: int) -> dict[str, float]:
    """Return the scores in a cell, by criterion; empty if the cell is empty.

    The cell is JSON, a Python literal or a mapping. Criteria with null as score are left out.

    Raises:
        DataError: the cell is anything else.
    """
    import pandas as pd

    cell = column.iloc[position]
    scores = cell
    try:
        if isinstance(cell, str) and cell.strip().lower() in EMPTY:
            return {}
        if isinstance(cell, str):
            as_json = cell.replace("'", '"') if PYTHON_SCORES.fullmatch(cell) else cell
            with suppress(ValueError):
                scores = parse_json(as_json)
        if isinstance(scores, str):
            scores = ast.literal_eval(cell)
        # Only NaN differs from itself.
        is_nan = scores is pd.NA or scores != scores
        if scores is None or is_nan:
            return {}
        return {str(name): float(score) for name, score in scores.items() if score is not None}
    except (
        ValueError,
        SyntaxError,
        AttributeError,
        TypeError,
        OverflowError,
        RecursionError,
        MemoryError,
    ):
        problem = f"{column.name} {shorten(str(cell))!r} is not a dictionary of scores"
        remedy = 'write {"criterion": number, ...} as JSON, or leave the cell empty'
        raise DataError(problem, row=row_name(column.index, position), remedy=remedy) from None


def _split_games(
    records: "pd.DataFrame", column: str, *, verdict: str, orders: tuple[str, str]
) -> "pd.DataFrame":
    """Return a row per game, where each cell of a column has a list of games.

    The rows of all first games come first, then those of all second games.

    Args:
        records: the rows.
        column: the column. Its cells are lists of one or two games, with null for a failed game.
        verdict: the key of a game's verdict.
        orders: the orders of the responses in the first and in the second game.

    Returns:
        The rows, with the other columns and `played` (the game), `verdict` and `order`.

    Raises:
        DataError: a cell is not a list of games.
    """

    import pandas as pd

    def has_verdict(game: Any) -> bool:
        """Return whether a game is an object whose verdict is a text, or missing."""
        return isinstance(game, Mapping) and isinstance(game.get(verdict), str | None)

    for position, games in enumerate(records[column]):
        is_list = isinstance(games, list | np.ndarray) and 1 <= len(games) <= 2
        is_whole = is_list and all(game is None or has_verdict(game) for game in games)
        if not is_whole:
            problem = (
                f"{column} {shorten(str(games))!r} "
                f"is not a list of one or two judgments with a {verdict}"
            )
            remedy = (
                "each record needs a list of one judgment per order, null where the judge failed"
            )
            raise DataError(problem, row=row_name(records.index, position), remedy=remedy)
    other_columns = records.drop(columns=column)
    parts = []
    for k, order in enumerate(orders):
        has_game = records[column].map(len).to_numpy() > k
        kth_games = [games[k] for games in records[column][has_game]]
        played = pd.Series(kth_games, records.index[has_game], dtype=object)
        verdicts = [None if game is None else game.get(verdict) for game in kth_games]
        verdict_column = pd.Series(verdicts, played.index, dtype=object)
        columns = {"order": order, "played": played, "verdict": verdict_column}
        parts.append(other_columns[has_game].assign(**columns))
    # pandas warns of tables without rows, unless there is no other.
    parts_with_rows = [part for part in parts if len(part)]
    return pd.concat(parts_with_rows or parts)
