"""Messages about many files name three of them, and count the others."""

from pathlib import Path

import pytest

import podium
from podium.wording import some_paths


def test_of_more_than_three_paths_the_others_are_counted() -> None:
    paths = [Path(f"log{k}.eval") for k in range(14)]
    assert some_paths(paths) == "log0.eval, log1.eval, log2.eval, and 11 more"
    assert some_paths(paths[:3]) == "log0.eval, log1.eval, log2.eval"


def test_an_error_on_files_without_verdicts_names_three_places_and_three_files(
    tmp_path: Path,
) -> None:
    folders = []
    for k in range(5):
        folder = tmp_path / f"f{k}"
        folder.mkdir()
        (folder / "notes.csv").write_text("subject,remark\nx,y\n")
        folders.append(str(folder))
    with pytest.raises(podium.UsageError) as refusal:
        podium.read_battles(*folders)
    text = str(refusal.value)
    places = ", ".join(folders[:3])
    files = ", ".join(f"{folder}/notes.csv" for folder in folders[:3])
    assert f"no file with verdicts in {places}, and 2 more; " in text
    assert text.endswith(f"5 files hold no verdicts and were skipped: {files}, and 2 more")


def test_an_error_on_scores_of_one_model_names_three_files(tmp_path: Path) -> None:
    paths = []
    for k in range(5):
        path = tmp_path / f"s{k}.csv"
        path.write_text(f"item,model,score\nq{k},m,1\np{k},m,0\n")
        paths.append(str(path))
    with pytest.raises(podium.DataError) as refusal:
        podium.read_battles(*paths)
    assert f"{', '.join(paths[:3])}, and 2 more: scores of one model" in str(refusal.value)
