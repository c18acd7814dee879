"""Texts of a page: responses that lie beside verdicts in a folder or glob."""

import pandas as pd

from podium.data.reading.judgments import read_battles
from podium.show.page.sources import collect_texts


def test_responses_in_a_glob_are_found_beside_files_of_verdicts(tmp_path):
    verdicts = pd.DataFrame(
        {"item": ["q0", "q1"], "model_a": "x", "model_b": "y", "credit": [1.0, 0.0]}
    )
    said = [
        {"item": item, "instruction": f"Say {item}.", "model": name, "response": f"{name} {item}"}
        for item in ("q0", "q1")
        for name in ("x", "y")
    ]
    verdicts.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    pd.DataFrame(said).to_csv(tmp_path / "b.csv", index=False)
    texts = collect_texts(read_battles(tmp_path / "a.jsonl"), [str(tmp_path / "*")])
    assert texts.responses["q1", 1, "y"] == "y q1"
    assert not texts.notes


def test_a_folder_without_responses_is_named(tmp_path):
    verdicts = pd.DataFrame({"item": ["q0"], "model_a": "x", "model_b": "y", "credit": [1.0]})
    verdicts.to_csv(tmp_path / "a.csv", index=False)
    texts = collect_texts(read_battles(tmp_path), [str(tmp_path)])
    assert texts.notes == [
        f"No texts of responses: none were found in {tmp_path} (--responses PATH adds them)."
    ]
