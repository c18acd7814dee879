"""Queries: which sources they take, and where these are on disk."""

from pathlib import Path

import pandas as pd
import pytest

import podium
from podium.data.formats.files import local_paths
from podium.data.query import BattleQuery


@pytest.mark.parametrize("source", [3, None, [{"item": "q1"}], {"item": ["q1"]}])
def test_a_source_that_is_neither_path_nor_frame_is_refused_where_the_query_is_made(source) -> None:
    kind = type(source).__name__
    with pytest.raises(podium.UsageError, match=f"a path or a data frame, not a {kind}: give"):
        BattleQuery(["votes.csv", source])


def test_text_path_and_frame_are_sources() -> None:
    frame = pd.DataFrame({"item": ["q1"]})
    sources = ["votes.csv", Path("votes.csv"), "https://example.org/votes.csv", frame]
    assert BattleQuery(sources).sources is sources


def test_local_paths_are_without_labels_and_globs_are_their_matches(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).touch()
    frame = pd.DataFrame({"item": ["q1"]})
    sources = [f"amber={tmp_path}/a.csv", f"{tmp_path}/*.csv", frame, "s3://bucket/c.csv"]
    found = [tmp_path / "a.csv", tmp_path / "a.csv", tmp_path / "b.csv"]
    assert sorted(local_paths(sources)) == found
    missing = str(tmp_path / "*.parquet")
    assert local_paths([missing, tmp_path]) == [Path(missing), tmp_path]
