"""Options that say how files are read, in the commands that read them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

Podium = Callable[..., Any]
Table = Callable[..., Path]
HEADER = "item,model_a,model_b,credit,judge"
JUDGED = [
    f"{item},{pair},{credit},gpt"
    for item in "ij"
    for pair, credit in (("a,b", 1), ("b,c", 0.5), ("c,a", 1))
]
VOTES = ["i,a,b,1,crowd", "i,b,a,1,crowd", "i,b,a,0,crowd", "j,c,b,0,crowd"]


@pytest.fixture
def judges(table: Table) -> Path:
    """Return a table with a model judge's six battles and four human votes on two of them."""
    return table(*JUDGED, *VOTES, header=HEADER)


@pytest.mark.slow
def test_a_human_judge_beside_one_other_leaves_one_judge_to_rank(
    podium: Podium, judges: Path
) -> None:
    assert podium("rank", judges, "--human-judge", "crowd", "--ranker", "win-rate").code == 0


@pytest.mark.slow
def test_labels_found_are_reported_on_stderr(podium: Podium, judges: Path) -> None:
    reported = "4 votes by crowd, on 2 pairs of responses, label 2 of 6 battles; 4 have no label"
    assert reported in podium("rank", judges, "--human-judge", "crowd").err


@pytest.mark.slow
def test_where_judge_keeps_the_human_judge(podium: Podium, judges: Path, tmp_path: Path) -> None:
    words = ("--where", "judge=gpt", "--human-judge", "crowd", "-o", tmp_path / "battles.csv")
    podium("convert", judges, *words)
    human = pd.read_csv(tmp_path / "battles.csv")["human"]
    assert human.fillna(-1).round(3).tolist() == [0.667, -1, -1, -1, 1, -1]


@pytest.mark.slow
def test_converted_file_keeps_its_human_labels(
    podium: Podium, judges: Path, tmp_path: Path
) -> None:
    podium("convert", judges, "--human-judge", "crowd", "-o", tmp_path / "labelled.parquet")
    podium("convert", tmp_path / "labelled.parquet", "-o", tmp_path / "again.csv")
    assert pd.read_csv(tmp_path / "again.csv")["human"].notna().sum() == 2


@pytest.mark.slow
def test_the_human_judge_is_in_the_provenance(podium: Podium, judges: Path) -> None:
    answer = podium("rank", judges, "--human-judge", "crowd", "--format", "json")
    assert json.loads(answer.out)["provenance"]["options"]["reading"] == {"human_judge": "crowd"}


def test_a_misspelt_human_judge_exits_with_2_and_the_nearest(podium: Podium, judges: Path) -> None:
    answer = podium("rank", judges, "--human-judge", "crwod")
    assert (answer.code, "did you mean 'crowd'?" in answer.err) == (2, True)


def test_a_human_judge_with_nothing_in_common_exits_with_1(podium: Podium, table: Table) -> None:
    answer = podium(
        "rank", table(*JUDGED, "k,a,b,1,crowd", header=HEADER), "--human-judge", "crowd"
    )
    assert (answer.code, "in common are 0 items and 2 models" in answer.err) == (1, True)
