"""A damaged file among those of an option is told, and the exit code says that a part is missing,
as for a file of SOURCE."""

from pathlib import Path

import pandas as pd
import pytest
from asked_runs import simple_run, write_inspect_log

MODELS = ("amber", "birch", "cedar")
ITEMS = 12


@pytest.fixture
def files(tmp_path) -> Path:
    """Write verdicts of a judge, and a folder of logs of which one is damaged."""
    rows = [
        {
            "item": item,
            "model_a": first,
            "model_b": second,
            "judge": "j",
            "credit": float((item + len(first + second)) % 3 > 0),
        }
        for item in range(1, ITEMS + 1)
        for first, second in (("amber", "birch"), ("amber", "cedar"), ("birch", "cedar"))
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "verdicts.csv", index=False)
    folder = tmp_path / "logs"
    for number, model in enumerate(MODELS):
        values = [float((item + number) % 3 > 0) for item in range(ITEMS)]
        write_inspect_log(simple_run(model, values), folder)
    broken = write_inspect_log(simple_run("broken", values), folder, "broken.eval")
    content = broken.read_bytes()
    broken.write_bytes(content[: len(content) // 2])
    return tmp_path


@pytest.mark.slow
def test_a_damaged_log_of_the_gold_standard_is_told(podium, files):
    told = podium("diagnose", files / "verdicts.csv", "--gold", files / "logs")
    assert told.code == 3, told.err
    assert "warning: left out: " in told.err
    assert "broken" in told.err


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("label", "logs", "--number", 3, "-o", "sheet.csv"), id="label"),
        pytest.param(("report", "logs"), id="report"),
        pytest.param(("export", "logs", "--to", "preference", "-o", "pairs.jsonl"), id="export"),
    ],
)
def test_a_damaged_log_of_the_sources_leaves_the_texts_of_the_others(
    podium, files, words, monkeypatch
):
    monkeypatch.chdir(files)
    told = podium(*words)
    assert told.code == 3, told.err
    assert told.err.count("warning: left out: ") == 1
    assert "broken" in told.err


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("compare", "amber", "birch", "verdicts.csv"), id="compare"),
        pytest.param(("label", "verdicts.csv", "--number", 3, "-o", "sheet.csv"), id="label"),
        pytest.param(("report", "verdicts.csv"), id="report"),
        pytest.param(
            ("export", "verdicts.csv", "--to", "preference", "-o", "pairs.jsonl"), id="export"
        ),
    ],
)
def test_a_damaged_log_of_the_responses_is_told(podium, files, words, monkeypatch):
    monkeypatch.chdir(files)
    told = podium(*words, "--responses", "logs")
    assert told.code == 3, told.err
    assert told.err.count("warning: left out: ") == 1
    assert "broken" in told.err
