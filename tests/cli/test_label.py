"""podium label from a shell: a sheet out, and its labels back into a ranking."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from podium import Judge, simulate

Podium = Callable[..., Any]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge's verdicts without labels."""
    path = tmp_path_factory.mktemp("label") / "verdicts.csv"
    simulate(5, 20, seed=1).presentations(Judge(scale=2), orders="ab").to_csv(path, index=False)
    return path


def test_a_sheet_goes_out_and_comes_back_into_a_ranking(podium: Podium, verdicts: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    done = podium("label", verdicts, "--number", "50", "-o", sheet)
    assert (done.code, "With these 50 labels ratings err about" in done.out) == (0, True)
    pd.read_csv(sheet).assign(verdict=["1", "2"] * 25).to_csv(sheet, index=False)
    words = ("--ranker", "structured-bradley-terry", "--human-labels", sheet, "--format", "json")
    ranked = podium("rank", verdicts, *words)
    [ranking] = json.loads(ranked.out)["rankings"]
    assert ranking["diagnostics"]["structured"]["labels"] == 50
    assert {"people", "judge", "labels", "pull"} <= ranking["models"][0].keys()


def test_by_uncertainty_exits_with_2_and_the_reason(podium: Podium, verdicts: Path) -> None:
    refused = podium("label", verdicts, "--by", "uncertainty")
    assert (refused.code, "three times as much" in refused.err) == (2, True)


def test_labels_of_other_battles_calibrate_nothing(podium: Podium, verdicts: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("item,model_a,model_b,credit\nelsewhere,model-01,model-02,1\n")
    refused = podium("calibrate", verdicts, "--human-labels", labels)
    assert (refused.code, "none of the" in refused.err) == (1, True)
