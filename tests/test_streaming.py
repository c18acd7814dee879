"""Streaming gives what reading everything gives, up to the hashing of items."""

import numpy as np
import pandas as pd
import pytest

from podium import DataError, NotIdentifiedError, UsageError, rank, read_battles, simulate, streaming
from podium.streaming import rank_stream


@pytest.fixture
def frame():
    return simulate(6, 60, seed=1).presentations().drop(columns=["margin", "category", "length_a", "length_b"])


def in_pieces(frame, path):
    frame.to_parquet(path, index=False, row_group_size=97)
    return str(path)


def test_ratings_equal_those_of_reading_everything(frame, tmp_path):
    streamed = rank_stream([in_pieces(frame, tmp_path / "b.parquet")], ["bradley-terry"]).to_frame()
    whole = rank(read_battles(frame, merge=False), "bradley-terry").to_frame()
    assert streamed["model"].tolist() == whole["model"].tolist()
    assert streamed["score"].to_numpy() == pytest.approx(whole["score"].to_numpy(), abs=1e-9)
    assert streamed["win_rate"].to_numpy() == pytest.approx(whole["win_rate"].to_numpy(), abs=1e-12)


def test_standard_errors_are_equal_when_no_two_items_share_a_cluster(frame, tmp_path):
    """60 items in 4,096 clusters: these item names do not collide (checked first)."""
    import pyarrow as pa

    names = pa.array(sorted(frame["item"].unique()), pa.large_string())
    assert len(set(streaming._cluster_of(streaming._hashes(names)))) == 60
    streamed = rank_stream([in_pieces(frame, tmp_path / "b.parquet")], ["bradley-terry"]).to_frame()
    whole = rank(read_battles(frame, merge=False), "bradley-terry").to_frame()
    assert streamed["se"].to_numpy() == pytest.approx(whole["se"].to_numpy(), rel=1e-9)


def test_several_files_are_one_table(frame, tmp_path):
    half = len(frame) // 2
    in_pieces(frame[:half], tmp_path / "one.parquet")
    in_pieces(frame[half:], tmp_path / "two.parquet")
    streamed = rank_stream([str(tmp_path / "*.parquet")], ["bradley-terry"]).to_frame()
    whole = rank(read_battles(frame, merge=False), "bradley-terry").to_frame()
    assert streamed["score"].to_numpy() == pytest.approx(whole["score"].to_numpy(), abs=1e-9)


def test_unread_rows_are_counted(frame, tmp_path):
    frame.loc[:4, "credit"] = np.nan
    counts = rank_stream([in_pieces(frame, tmp_path / "b.parquet")], ["bradley-terry"]).standings[0].counts
    assert (counts.battles, counts.unread) == (len(frame), 5)


def test_hashing_into_clusters_is_said(frame, tmp_path):
    standings = rank_stream([in_pieces(frame, tmp_path / "b.parquet")], ["bradley-terry"]).standings[0]
    assert any("60 items hashed into 4,096 clusters" in text for text in standings.warnings)


def test_a_bad_value_names_its_row_across_pieces(frame, tmp_path):
    frame.loc[300, "credit"] = 7.0
    with pytest.raises(DataError, match=r"b\.parquet, row 301: credit is outside \[0, 1\] \(credit 7\.0"):
        rank_stream([in_pieces(frame, tmp_path / "b.parquet")], ["bradley-terry"])


def test_several_judges_are_refused(frame, tmp_path):
    frame.loc[:10, "judge"] = "another"
    with pytest.raises(NotIdentifiedError, match="2 judges"):
        rank_stream([in_pieces(frame, tmp_path / "b.parquet")], ["bradley-terry"])


def test_other_rankers_are_refused(frame, tmp_path):
    with pytest.raises(UsageError, match="bradley-terry only"):
        rank_stream([in_pieces(frame, tmp_path / "b.parquet")], ["win-rate"])


def test_foreign_columns_can_be_named(frame, tmp_path):
    foreign = frame.rename(columns={"item": "prompt", "credit": "vote"})
    named = rank_stream(
        [in_pieces(foreign, tmp_path / "f.parquet")], ["bradley-terry"], {"item": "prompt", "credit": "vote"}
    )
    plain = rank_stream([in_pieces(frame, tmp_path / "b.parquet")], ["bradley-terry"])
    assert named.to_frame()["score"].tolist() == plain.to_frame()["score"].tolist()


def test_hashes_spread_items_evenly():
    """Counts per cluster of 200,000 sequential names have the variance of a Poisson variable."""
    import pyarrow as pa

    names = pa.array([f"item-{k}" for k in range(200_000)], pa.large_string())
    counts = np.bincount(streaming._cluster_of(streaming._hashes(names)), minlength=4096)
    assert counts.var() / counts.mean() == pytest.approx(1, abs=0.1)


def test_a_hash_depends_on_the_whole_text():
    import pyarrow as pa

    names = pa.array(["x" * 40 + "a", "x" * 40 + "b", "x" * 40, "", "x"], pa.large_string())
    assert len(set(streaming._hashes(names))) == 5


def test_integer_items_are_read(frame, tmp_path):
    frame["item"] = pd.factorize(frame["item"])[0]
    standings = rank_stream([in_pieces(frame, tmp_path / "b.parquet")], ["bradley-terry"]).standings[0]
    assert standings.counts.items == 60


def test_a_row_without_an_item_is_refused(frame, tmp_path):
    frame.loc[200, "item"] = None
    with pytest.raises(DataError, match=r"row 201: item is empty.*without --stream"):
        rank_stream([in_pieces(frame, tmp_path / "b.parquet")], ["bradley-terry"])


def test_a_torn_file_is_named(tmp_path):
    path = tmp_path / "torn.parquet"
    path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(DataError, match=r"torn\.parquet: not a whole Parquet file"):
        rank_stream([str(path)], ["bradley-terry"])


def test_credits_in_words_are_refused(frame, tmp_path):
    words = frame.assign(credit=frame["credit"].map({0.0: "lost", 0.5: "tie", 1.0: "won"}))
    with pytest.raises(DataError, match=r"b\.parquet: not a number.*--credit-map"):
        rank_stream([in_pieces(words, tmp_path / "b.parquet")], ["bradley-terry"])
