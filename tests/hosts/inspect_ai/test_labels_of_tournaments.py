"""Sheets for humans from the log of a tournament, which holds the texts of the responses."""

import json
from pathlib import Path

import pandas as pd
import pytest
from played_logs import place

from podium.hosts.inspect_ai.tasks import round_robin

ITEMS = 6


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_a_sheet_has_the_texts_that_the_judge_was_shown(
    play, record, write_responses, run_podium, tmp_path, pack
):
    paths = write_responses()
    log = play(round_robin(responses=paths, pack=pack), log_dir="logs")
    given = {}
    for path in paths:
        rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
        given |= {(row["instruction"], row["response"]): row["id"] for row in rows}
    code, _, err = run_podium("label", str(place(log)), "-o", str(tmp_path / "sheet.csv"))
    assert code == 0, err
    sheet = pd.read_csv(tmp_path / "sheet.csv")
    assert len(sheet) == ITEMS * len(paths) * (len(paths) - 1) / 2
    for row in sheet.to_dict("records"):
        shown = {(row["instruction"], row[f"response_{k}"]) for k in (1, 2)}
        assert {given[each] for each in shown} == {row["item"]}
        assert len(shown) == 2


def test_the_message_names_what_lacks_texts(run_podium, tmp_path):
    path = tmp_path / "verdicts.csv"
    rows = [(f"q{k}", "ash", "elm", k % 2, "j") for k in range(8)]
    columns = ["item", "model_a", "model_b", "credit", "judge"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    code, _, err = run_podium("label", str(path), "-o", str(tmp_path / "sheet.csv"))
    assert code == 2
    assert "a sheet needs the texts of the responses" in err
    assert "--responses PATH adds them" in err
    assert not (tmp_path / "sheet.csv").exists()
