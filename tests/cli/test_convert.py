"""podium convert: any known format in, podium's battles table out."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

Podium = Callable[..., Any]

DUELS = "left,right,winner\na,b,left\nb,c,tie\nc,a,\n"


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Return a table in evalica's format with an unparsed row."""
    path = tmp_path / "duels.csv"
    path.write_text(DUELS, encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_foreign_table_becomes_podiums_own_in_each_format(
    podium: Podium, foreign: Path, tmp_path: Path, suffix: str
) -> None:
    output = tmp_path / f"battles.{suffix}"
    read = {
        "csv": pd.read_csv,
        "jsonl": lambda path: pd.read_json(path, lines=True),
        "parquet": pd.read_parquet,
    }
    podium("convert", foreign, "-o", output)
    assert read[suffix](output)["credit"].fillna(-1).tolist() == [1, 0.5, -1]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_margins_on_criteria_are_converted_and_read_back(
    podium: Podium, tmp_path: Path, suffix: str
) -> None:
    source, output, again = (
        tmp_path / name for name in ("soft.csv", f"battles.{suffix}", "again.csv")
    )
    scores = "\"{'tone': 9.1, 'depth': 8}\",\"{'tone': 7.0}\""
    source.write_text(
        f"model_a,model_b,judge_pref,scores_a,scores_b\nx,y,0,{scores}\n", encoding="utf-8"
    )
    podium("convert", source, "-o", output)
    podium("convert", output, "-o", again)
    row = pd.read_csv(again).iloc[0]
    assert (row["margin_tone"], row["margin"], pd.isna(row["margin_depth"])) == (
        9.1 - 7.0,
        9.1 - 7.0,
        True,
    )


@pytest.mark.slow
def test_what_was_written_ranks_as_the_original(
    podium: Podium, example: Path, tmp_path: Path
) -> None:
    def rankings(path: Path) -> Any:
        return json.loads(
            podium("rank", path, "--ranker", "bradley-terry", "--format", "json").out
        )["rankings"]

    podium("convert", example, "-o", tmp_path / "battles.parquet")
    assert rankings(tmp_path / "battles.parquet") == rankings(example)


@pytest.mark.slow
def test_every_judgment_stays_a_row(podium: Podium, example: Path, tmp_path: Path) -> None:
    podium("convert", example, "-o", tmp_path / "battles.csv")
    assert len(pd.read_csv(tmp_path / "battles.csv")) == 1200


@pytest.mark.slow
def test_merge_writes_one_row_per_battle(podium: Podium, example: Path, tmp_path: Path) -> None:
    podium("convert", example, "--merge", "-o", tmp_path / "battles.csv")
    assert len(pd.read_csv(tmp_path / "battles.csv")) == 600


def test_stdout_stays_empty_and_stderr_counts_the_rows_and_the_unparsed(
    podium: Podium, foreign: Path, tmp_path: Path
) -> None:
    answer = podium("convert", foreign, "-o", tmp_path / "battles.csv")
    assert (
        answer.out,
        f"wrote 3 rows to {tmp_path / 'battles.csv'}: 1 unparsed" in answer.err,
    ) == ("", True)


@pytest.mark.slow
def test_where_keeps_only_those_rows(podium: Podium, example: Path, tmp_path: Path) -> None:
    podium("convert", example, "--where", "category=code", "-o", tmp_path / "battles.csv")
    assert set(pd.read_csv(tmp_path / "battles.csv")["category"]) == {"code"}


def test_names_keep_their_characters(podium: Podium, tmp_path: Path) -> None:
    source = tmp_path / "duels.csv"
    source.write_text('left,right,winner\n"ünïcode, 模型","[b]|x",left\n', encoding="utf-8")
    podium("convert", source, "-o", tmp_path / "battles.csv")
    row = pd.read_csv(tmp_path / "battles.csv").iloc[0]
    assert (row["model_a"], row["model_b"]) == ("ünïcode, 模型", "[b]|x")


def test_an_unknown_suffix_exits_with_2_and_the_known_ones(
    podium: Podium, foreign: Path, tmp_path: Path
) -> None:
    answer = podium("convert", foreign, "-o", tmp_path / "battles.xls")
    assert (answer.code, "name a .parquet, .csv, .jsonl file" in answer.err) == (2, True)


def test_a_folder_that_is_not_there_exits_with_2(
    podium: Podium, foreign: Path, tmp_path: Path
) -> None:
    answer = podium("convert", foreign, "-o", tmp_path / "absent" / "battles.csv")
    assert (answer.code, "there is no folder" in answer.err) == (2, True)


def test_an_unknown_format_exits_with_2_and_the_nearest_name(
    podium: Podium, foreign: Path, tmp_path: Path
) -> None:
    answer = podium("convert", foreign, "--from", "evalika", "-o", tmp_path / "battles.csv")
    assert (answer.code, "did you mean 'evalica'?" in answer.err) == (2, True)


def test_an_impossible_verdict_exits_with_1_and_writes_nothing(
    podium: Podium, tmp_path: Path
) -> None:
    source = tmp_path / "wrong.csv"
    source.write_text("model_a,model_b,credit\na,b,7\n", encoding="utf-8")
    answer = podium("convert", source, "-o", tmp_path / "battles.csv")
    assert (answer.code, (tmp_path / "battles.csv").exists()) == (1, False)
