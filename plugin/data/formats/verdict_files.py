"""Verdict files of other projects: one function per format returns its records as columns of the
battles table, and keeps unknown columns and the index, which names the rows in errors."""

import ast
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from podium.data.counting.relations import CRITERION
from podium.data.formats.records import row_name
from podium.errors import DataError
from podium.printable import shorten
from podium.scorers.judge_record import JudgeRecord
from podium.scorers.reply import reverse_label
from podium.text import EMPTY, as_categorical, as_text, parse_json, text_of

BLANK = frozenset({"", "nan", "null", "<na>"})
"""Spellings of an empty verdict, lower case; `none` is an error, because it may mean that neither
response won."""


def with_reversed(numbers: Mapping[str, float]) -> dict[str, float]:
    """Add the labels in the other order, as `B<A` beside `A>B`, with the same numbers."""
    return {**numbers, **{reverse_label(label): number for label, number in numbers.items()}}


FIVE_LEVELS = with_reversed({"A>>B": 2.0, "A>B": 1.0, "A=B": 0.0, "B>A": -1.0, "B>>A": -2.0})
"""Margin of A by label."""
TIES = (
    "tie",
    "tie (bothbad)",
    "tie(bothbad)",
    "tie (both bad)",
    "tie(all bad)",
    "both_bad",
    "bothbad",
)
NO_ERROR = frozenset({"", "false", "0", "0.0", "no", "none", "nan", "null"})
"""Values of Soft-Elo's `parse_error` that mean that there was none."""
MOST_CRITERIA = 100
"""With more criteria than this (for example a rubric per instruction), only their mean is kept."""
PYTHON_SCORES = re.compile(r"\{(?:'[^'\"\\]*': [-+.0-9e]+(?:, )?)*\}")
"""A dictionary of numbers as Python prints it: JSON, apart from its quotes."""


def read_alpaca_eval(records: pd.DataFrame) -> pd.DataFrame:
    """Read AlpacaEval annotations, with generator_2 as model_a: preference 2 is its win, 1 its
    loss, between both soft; 1.5 and 0 are ties, null, NaN and -1 unparsed. `index` counts from
    0."""
    preference = parse_numbers(records["preference"])
    unparsed, tie = np.isnan(preference) | (preference == -1), np.isin(preference, (0.0, 1.5))
    outside = ~unparsed & ~tie & ((preference < 1) | (preference > 2))
    remedy = "preferences lie between 1 and 2 (1.5 or 0 = tie, -1 = unparsed)"
    reject_cells(records["preference"], outside, "is not a preference", remedy)
    credit = np.where(unparsed, np.nan, np.where(tie, 0.5, preference - 1))
    frame = _rename(records, {"instruction": "item", "annotator": "judge", "dataset": "category"})
    frame = frame.assign(model_a=records["generator_2"], model_b=records["generator_1"])
    frame = frame.drop(columns=["preference", "generator_1", "generator_2"])
    for side, output in (("a", "output_2"), ("b", "output_1")):
        if output in records:
            length = records[output].map(
                lambda text: len(text) if isinstance(text, str) else np.nan
            )
            frame = frame.assign(**{f"length_{side}": length}).drop(columns=output)
    number = {} if "index" in records else {"index": np.arange(len(records))}
    return frame.assign(credit=credit, reason=reasons_where(unparsed, "no preference"), **number)


def read_arena(records: pd.DataFrame) -> pd.DataFrame:
    """Read battles of Arena or FastChat: the winner is a word (`both bad` is a tie), a model or
    three indicators."""
    if "winner" in records:
        credits = {"model_a": 1.0, "model_b": 0.0} | dict.fromkeys(TIES, 0.5)
        known = "known winners: model_a, model_b, tie, tie (bothbad), both_bad"
        remedy = f"{known}; translate others with --columns and --credit-map"
        winner = _side_of_winner(records, "model_a", "model_b")
        credit, unparsed = parse_words(
            winner, credits, frozenset({"error", "invalid"}), remedy=remedy
        )
        frame = records.drop(columns="winner")
    else:
        indicators = ["winner_model_a", "winner_tie", "winner_model_b"]
        flags = np.stack([parse_numbers(records[name]) for name in indicators])
        unparsed = np.isnan(flags).any(axis=0)
        odd = ~unparsed & (np.sort(flags, axis=0) != [[0.0], [0.0], [1.0]]).any(axis=0)
        if odd.any():
            column = pd.Series(flags.T.tolist(), index=records.index, name="winner indicators")
            remedy = "exactly one of winner_model_a, winner_model_b, winner_tie must be 1"
            reject_cells(column, odd, "do not name exactly one outcome", remedy)
        credit = np.where(unparsed, np.nan, flags[0] + flags[1] / 2)
        frame = records.drop(columns=indicators)
    item = "question_id" if "question_id" in records else "id"
    frame = _rename(frame, {item: "item", "language": "category"})
    if _has_turns_of_one_question(frame):
        frame = name_turns(frame)
    return frame.assign(credit=credit, reason=reasons_where(unparsed, "no winner"))


def _has_turns_of_one_question(frame: pd.DataFrame) -> bool:
    """Return whether a question has several turns, as in MT-bench's human votes; in Arena's battles
    `turn` is the length of a conversation."""
    if not {"item", "turn"} <= {*frame}:
        return False
    pairs = pd.DataFrame(
        {"item": as_text(frame["item"]), "turn": as_text(frame["turn"])}
    ).drop_duplicates()
    return bool(pairs["item"].duplicated().any())


def read_arena_hard(records: pd.DataFrame) -> pd.DataFrame:
    """Read a judgment per game of arena-hard, with the model as model_a: the first game shows the
    baseline as A."""
    games = _split_games(records, "games", "score", ("ba", "ab"))
    label, no_game = games["verdict"], games["played"].isna().to_numpy()
    shown_first = label.map(FIVE_LEVELS).to_numpy(dtype=np.float64)
    unknown = label.notna().to_numpy() & np.isnan(shown_first)
    remedy = "repair the label, or set it to null if the judge gave none"
    reject_cells(
        label.rename("score"), unknown, f"is not one of {', '.join([*FIVE_LEVELS][:5])}", remedy
    )
    margin = np.where(games["order"] == "ba", -shown_first, shown_first)
    reason = np.where(no_game, "no game", reasons_where(np.isnan(margin), "no verdict"))
    item = "uid" if "uid" in records else "question_id"
    frame = games.drop(columns=["played", "verdict"])
    frame = frame.rename(columns={item: "item", "model": "model_a", "baseline": "model_b"})
    if "baseline" not in records:
        frame["model_b"] = "baseline"
    return frame.assign(label=label, credit=(np.sign(margin) + 1) / 2, margin=margin, reason=reason)


def read_evalica(records: pd.DataFrame) -> pd.DataFrame:
    """Read evalica's battles, with `left` as model_a; the winner is left, right, tie or a model's
    name."""
    remedy = (
        "a winner is left, right, tie, or the name of one of the two; empty if no verdict was given"
    )
    winner = _side_of_winner(records, "left", "right")
    credit, unparsed = parse_words(winner, {"left": 1.0, "right": 0.0, "tie": 0.5}, remedy=remedy)
    frame = records.drop(columns="winner").rename(columns={"left": "model_a", "right": "model_b"})
    return frame.assign(credit=credit, reason=reasons_where(unparsed, "no winner"))


def read_judge_bench(records: pd.DataFrame) -> pd.DataFrame:
    """Read a judgment per order of JudgeBench; both responses are one model's: `correct` plays
    `incorrect`."""
    label = as_text(records["label"]).rename("label")
    sides = with_reversed({"A>B": 1.0, "B>A": 0.0})
    reject_cells(
        label, (~label.isin([*sides])).to_numpy(), "names no winner", "labels are A>B or B>A"
    )
    a_is_right = (label.map(sides) == 1).to_numpy()
    correct, incorrect = (
        np.where(a_is_right == is_first, "correct", "incorrect") for is_first in (True, False)
    )
    records = records.assign(model_a=correct, model_b=incorrect, human=a_is_right * 1.0)
    games = _split_games(records, "judgments", "decision", ("ab", "ba"))
    judges: dict[str, JudgeRecord] = {}
    if "judge_name" in records:
        ways, models = as_text(records["judge_name"]), _judge_bench_models(records["judgments"])
        judges = _judge_bench_judges(ways, models)
        games["judge_name"] = ways + models.map(lambda model: f" {model}" if model else "")
    credits = with_reversed({"A>B": 1.0, "B>A": 0.0, "A=B": 0.5})
    remedy = "known decisions: A>B, B>A, A=B, or null"
    shown_first, unparsed = parse_words(games["verdict"].rename("decision"), credits, remedy=remedy)
    credit = np.where(games["order"] == "ab", shown_first, 1 - shown_first)
    bulk = ["response_A", "response_B", "question", "label", "played", "verdict"]
    frame = games.drop(columns=[name for name in bulk if name in games])
    frame = frame.rename(columns={"pair_id": "item", "judge_name": "judge", "source": "category"})
    frame = frame.assign(credit=credit, reason=reasons_where(unparsed, "no decision"))
    frame.attrs["judges"] = judges
    return frame


def _judge_bench_models(judgments: pd.Series) -> pd.Series:
    """Return the judge's model of each row of JudgeBench, which only its judgments hold; empty
    text if they do not."""
    models = []
    for games in judgments:
        held = [(game or {}).get("judgment") for game in games]
        named = [own.get("judge_model") for own in held if isinstance(own, dict)]
        models.append(next((str(model) for model in named if model), ""))
    return pd.Series(models, index=judgments.index, dtype=object)


def _judge_bench_judges(ways: pd.Series, models: pd.Series) -> dict[str, JudgeRecord]:
    """Return the judges of JudgeBench by name: the way of asking, and the model if it is known."""
    asked = pd.DataFrame({"way": ways, "model": models}).dropna().drop_duplicates()
    judges = {}
    for way, model in asked.itertuples(index=False):
        name = f"{way} {model}" if model else way
        judges[name] = JudgeRecord(name, "model", model or None, realization=way)
    return judges


def read_900k_judgments(records: pd.DataFrame) -> pd.DataFrame:
    """Read 900K-Judgments, with the model shown first as model_a; an empty or INVALID verdict is
    unparsed."""
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


def read_mt_bench_pairs(records: pd.DataFrame) -> pd.DataFrame:
    """Read both judgments of an MT-bench row (g1 shows model_1 first, g2 second); a turn of a
    question is an item."""
    shared = _mt_bench_columns(records).drop(columns=["g1_winner", "g2_winner"])
    shared = shared.rename(columns={"model_1": "model_a", "model_2": "model_b"})
    credits, remedy = (
        {"model_1": 1.0, "model_2": 0.0, "tie": 0.5},
        "known winners: model_1, model_2, tie, error",
    )
    games = []
    for winner, order in (("g1_winner", "ab"), ("g2_winner", "ba")):
        credit, unparsed = parse_words(
            records[winner], credits, frozenset({"error"}), remedy=remedy
        )
        games.append(
            shared.assign(credit=credit, order=order, reason=reasons_where(unparsed, "judge error"))
        )
    return pd.concat(games)


def read_mt_bench_scores(records: pd.DataFrame) -> pd.DataFrame:
    """Read MT-bench grades of single answers, 1 to 10, as pointwise scores; -1 is unparsed."""
    score = parse_numbers(records["score"])
    score = np.where(score == -1, np.nan, score)
    return _mt_bench_columns(records).assign(
        score=score, reason=reasons_where(np.isnan(score), "no grade")
    )


def _mt_bench_columns(records: pd.DataFrame) -> pd.DataFrame:
    """Return the records with item, judge and template; a list as judge, `["gpt-4", "pair-v2"]`, is
    split."""
    parts = records["judge"].map(
        lambda judge: (
            [*map(str, judge)] if isinstance(judge, list | tuple | np.ndarray) else [text_of(judge)]
        )
    )
    frame = records.rename(columns={"question_id": "item"})
    frame["judge"], frame["template"] = (
        parts.str[0],
        parts.map(lambda part: " ".join(part[1:]) or None),
    )
    named = name_turns(frame)
    # A judge of which one text is given may be a human: MT-bench has verdicts of experts, too.
    models = parts[parts.str.len() > 1].str[0].unique()
    named.attrs["judges"] = {name: JudgeRecord(name, "model", name) for name in models}
    return named


def name_turns(frame: pd.DataFrame) -> pd.DataFrame:
    """Name the item of each row by question and turn, as `81 turn 2`, and keep the question in a
    column of its own: the turns of a question are different prompts, not repeats of the judge."""
    if "turn" not in frame:
        return frame
    question, turn = as_text(frame["item"]), as_text(frame["turn"])
    named = question + " turn " + turn
    own = {} if "question" in frame else {"question": question}
    return frame.assign(item=named.where(turn.notna(), question), **own)


def read_soft_elo(records: pd.DataFrame) -> pd.DataFrame:
    """Read Soft-Elo preferences, 0 for a win of model_a, 1 a loss, and the margins of its
    dictionaries of scores."""
    used = [
        name for name in ("judge_pref", "human_pref", "scores_a", "scores_b") if name in records
    ]
    names = {
        "instruction_id_hash": "item",
        "len_a": "length_a",
        "len_b": "length_b",
        "language": "category",
    }
    frame = records.drop(columns=used).rename(columns=names)
    if {"scores_a", "scores_b"} <= set(records):
        frame = frame.assign(**_margins_of_scores(records["scores_a"], records["scores_b"]))
    failed = np.zeros(len(records), dtype=bool)
    if "parse_error" in records:
        errors = as_text(records["parse_error"]).fillna("").astype(str).str.strip().str.lower()
        failed = ~errors.isin(NO_ERROR).to_numpy()
    for name, of in (("credit", "judge_pref"), ("human", "human_pref")):
        if of in records:
            loss, remedy = parse_numbers(records[of]), "0 = A wins, 0.5 = tie, 1 = B wins"
            reject_cells(records[of], (loss < 0) | (loss > 1), "is outside [0, 1]", remedy)
            frame[name] = 1 - loss if name == "human" else np.where(failed, np.nan, 1 - loss)
    return frame.assign(reason=reasons_where(failed, "parse error"))


def _margins_of_scores(scores_a: pd.Series, scores_b: pd.Series) -> dict[str, np.ndarray]:
    """Return the mean margin and the margin on each criterion, shape (rows,) each; NaN where a side
    has no score."""
    a, b = (
        [_parse_scores(column, row) for row in range(len(column))]
        for column in (scores_a, scores_b)
    )
    gaps = [
        {name: of_a[name] - of_b[name] for name in of_a if name in of_b}
        for of_a, of_b in zip(a, b, strict=True)
    ]
    means = [np.mean([gap[name] for name in sorted(gap)]) if gap else np.nan for gap in gaps]
    criteria = sorted(set().union(*a, *b))
    kept = criteria if len(criteria) <= MOST_CRITERIA else []
    margins = {
        "margin": means,
        **{CRITERION + name: [gap.get(name, np.nan) for gap in gaps] for name in kept},
    }
    return {name: np.array(values, dtype=np.float64) for name, values in margins.items()}


def _parse_scores(column: pd.Series, position: int) -> dict[str, float]:
    """Return the scores by criterion in a cell (JSON, a Python literal or a mapping); none if it is
    empty."""
    cell = scores = column.iloc[position]
    try:
        if isinstance(cell, str) and cell.strip().lower() in EMPTY:
            return {}
        if isinstance(cell, str):
            with suppress(ValueError):
                scores = parse_json(
                    cell.replace("'", '"') if PYTHON_SCORES.fullmatch(cell) else cell
                )
        if isinstance(scores, str):
            scores = ast.literal_eval(cell)
        if scores is None or scores is pd.NA or scores != scores:
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


def parse_numbers(column: pd.Series) -> np.ndarray:
    """Parse a column as numbers, shape (rows,); empty cells become NaN, other text is a
    DataError."""
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    if not pd.api.types.is_numeric_dtype(column):
        unclear = column[np.isnan(numbers)]
        empty = unclear.isna() | unclear.astype(str).str.strip().str.lower().isin(EMPTY)
        reject_cells(
            unclear,
            ~empty.to_numpy(),
            "is not a number",
            "write a number, as 0.5, or leave it empty",
        )
    return numbers


def parse_words(
    column: pd.Series,
    numbers: Mapping[str, float],
    unparsed: frozenset[str] = frozenset(),
    *,
    remedy: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Translate verdicts to credits or margins, NaN if blank or in `unparsed`; also return the mask
    of NaN."""
    words = as_categorical(column)
    known = {word: numbers.get(word, np.inf) for word in words.categories}
    known |= {word: np.nan for word in known if word in unparsed or word.strip().lower() in BLANK}
    # Code -1, an empty cell, is the last element.
    parsed = np.array([*known.values(), np.nan])[words.codes]
    reject_cells(column, np.isinf(parsed), "is not a known verdict", remedy)
    return parsed, np.isnan(parsed)


def reject_cells(column: pd.Series, bad: np.ndarray, problem: str, remedy: str) -> None:
    """Raise a DataError for the first cell of a mask, if any, with its row, its value and the
    number of such rows."""
    if bad.any():
        first = int(np.argmax(bad))
        value = column.iloc[first]
        value = value.item() if isinstance(value, np.generic) else value
        shown = (
            ""
            if text_of(value) is None and not isinstance(value, str)
            else f" {shorten(repr(value))}"
        )
        more = f" ({int(bad.sum())} such rows)" if bad.sum() > 1 else ""
        raise DataError(
            f"{column.name}{shown} {problem}{more}",
            remedy=remedy,
            row=row_name(column.index, first),
        )


def reasons_where(unparsed: np.ndarray, reason: str) -> np.ndarray:
    """Return the reason where a row is unparsed and None elsewhere, shape (rows,)."""
    return np.array([None, reason], dtype=object)[unparsed.astype(int)]


def _rename(records: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Rename columns, except where the new name is taken already."""
    return records.rename(columns={old: new for old, new in names.items() if new not in records})


def _side_of_winner(records: pd.DataFrame, first: str, second: str) -> pd.Series:
    """Return the column `winner` with a model's name replaced by its side, the name of one of the
    two columns."""
    words, a, b = (as_text(records[name]) for name in ("winner", first, second))
    for names, side in ((a, first), (b, second)):
        words = words.mask((words == names) & ~words.isin([first, second, "tie"]) & (a != b), side)
    return words.rename("winner")


def _split_games(
    records: pd.DataFrame, column: str, verdict: str, orders: tuple[str, str]
) -> pd.DataFrame:
    """Return a row per game of a column of lists, first games first, with columns `played`,
    `verdict`, `order`."""

    def has_verdict(game: Any) -> bool:
        """Return whether a game is an object whose verdict is a text, or missing."""
        return isinstance(game, Mapping) and isinstance(game.get(verdict), str | None)

    for position, games in enumerate(records[column]):
        is_list = isinstance(games, list | np.ndarray) and 1 <= len(games) <= 2
        if not is_list or any(game is not None and not has_verdict(game) for game in games):
            problem = (
                f"{column} {shorten(str(games))!r} is not a list of one or two judgments with a "
                f"{verdict}"
            )
            remedy = (
                "each record needs a list of one judgment per order, null where the judge failed"
            )
            raise DataError(problem, row=row_name(records.index, position), remedy=remedy)
    rest, parts = records.drop(columns=column), []
    for k, order in enumerate(orders):
        has_game = records[column].map(len).to_numpy() > k
        played = pd.Series(
            [games[k] for games in records[column][has_game]], records.index[has_game], dtype=object
        )
        words = played.map(lambda game: None if game is None else game.get(verdict)).astype(object)
        parts.append(rest[has_game].assign(order=order, played=played, verdict=words))
    return pd.concat([part for part in parts if len(part)] or parts)
