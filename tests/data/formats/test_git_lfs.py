"""A pointer of Git LFS is said to be one, whatever file it stands for."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lm_eval_output import TIME, scored, write_run

import podium
from podium.rankers.given_ratings import read_ladder
from podium.rankers.json_files import read_calibration

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.json", "x.parquet", "x.eval"])
def test_a_pointer_of_git_lfs_is_named_with_what_to_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(POINTER)
    with pytest.raises(podium.DataError) as refusal:
        podium.read_battles(path)
    assert str(refusal.value) == (
        f"{path}: only a pointer of Git LFS, not the file itself. "
        "Remedy: fetch the files with `git lfs pull`"
    )


def test_samples_of_lm_eval_that_are_pointers_are_named_with_what_to_do(tmp_path: Path) -> None:
    for model in ("org/a", "org/b"):
        write_run(tmp_path, model, {"t": scored([1.0, 0.0])})
    path = tmp_path / "org__a" / f"samples_t_{TIME}.jsonl"
    path.write_text(POINTER)
    with pytest.raises(podium.DataError, match="only a pointer of Git LFS") as refusal:
        podium.read_battles(tmp_path)
    assert str(path) in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "read"),
    [("x.json", read_calibration), ("x.json", read_ladder), ("x.csv", read_ladder)],
)
def test_pointers_of_calibrations_and_ratings_are_named_with_what_to_do(
    tmp_path: Path, name: str, read: Callable[[str], object]
) -> None:
    path = tmp_path / name
    path.write_text(POINTER)
    with pytest.raises(podium.DataError) as refusal:
        read(str(path))
    assert str(refusal.value) == (
        f"{path}: only a pointer of Git LFS, not the file itself. "
        "Remedy: fetch the files with `git lfs pull`"
    )
