"""Rows of a spreadsheet that are means or sums of the others are no items."""

import numpy as np
import pytest

import podium
from podium.notices.notice_text import notice_texts

SCORES = np.random.default_rng(0).random((12, 3)).round(2)


def table_with(tmp_path, name, cells):
    """Write a table of twelve items and a last row with this name and these cells."""
    rows = [f"q{k}," + ",".join(map(str, row)) for k, row in enumerate(SCORES)]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["item,a,b,c", *rows, f"{name}," + ",".join(map(str, cells))]))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("Mittelwert", SCORES.mean(0).round(2)),
        ("Average", np.floor(SCORES.mean(0) * 100) / 100),
        ("TOTAL", SCORES.sum(0).round(2)),
    ],
)
def test_a_row_of_means_or_sums_is_left_out_and_named(tmp_path, name, cells):
    battles = podium.read_battles(table_with(tmp_path, name, cells))
    assert battles.counts().items == 12
    assert any("1 row left out" in text and name in text for text in notice_texts(battles.notes))
    entries = podium.rank(battles, "mean").standings[0].entries
    means = dict(zip("abc", SCORES.mean(0), strict=True))
    assert {entry.model: entry.score for entry in entries} == pytest.approx(means)


def test_an_item_with_the_name_of_a_total_stays(tmp_path):
    battles = podium.read_battles(table_with(tmp_path, "total", [0.11, 0.12, 0.13]))
    assert battles.counts().items == 13
    assert not any("left out" in text for text in notice_texts(battles.notes))


def items_of(tmp_path, *lines):
    """Return how many items are read from a matrix of these lines, and its notes."""
    path = tmp_path / "matrix.csv"
    path.write_text("\n".join(lines))
    battles = podium.read_battles(path)
    return battles.counts().items, "\n".join(notice_texts(battles.notes))


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("cells", "last", "items"),
    [
        (["0,1"] * 3, "1,0", 4),  # The opposite of the means.
        (["0,1"] * 3, "0,1", 4),  # The means, and what an item would have.
        (["0,0", "0,1", "0,0"], "0,1", 4),  # The sums, and what an item would have.
        (["0,1", "1,1", "0,1"], "0.333,1", 3),
        (["0,1", "1,1", "0,1"], "0.335,1", 4),
        (["0,1", "1,1", "0,1"], "0.5,0.5", 4),
        (["0,1", "1,1", "0,1"], "1,3", 3),
    ],
)
def test_a_total_of_zeros_and_ones_matches_in_all_decimals(tmp_path, cells, last, items):
    """A row that any item could be stays; the means to three decimals and the sums do not."""
    rows = [f"q{k},{own}" for k, own in enumerate(cells)]
    found, notes = items_of(tmp_path, "item,a,b", *rows, f"total,{last}")
    assert found == items
    assert ("left out" in notes) == (items == len(cells))


def test_scores_below_the_decimals_that_are_counted_match_no_total(tmp_path):
    rows = ["q0,1e-9,3e-9", "q1,2e-9,1e-9", "q2,4e-9,5e-9", "total,9e-9,1e-9"]
    assert items_of(tmp_path, "item,a,b", *rows)[0] == 4


@pytest.mark.slow
def test_each_metric_has_its_own_total(tmp_path):
    """One metric has a row of means; in the other, the row of that name is an item."""
    rows = ["q0,f1,0.2,0.4", "q1,f1,0.6,0.9", "mean,f1,0.4,0.65"]
    rows += ["q0,bleu,20,30", "q1,bleu,50,70", "mean,bleu,11,90"]
    path = tmp_path / "metrics.csv"
    path.write_text("\n".join(["item,metric,a,b", *rows]))
    battles = podium.read_battles(path)
    kept = battles.table.groupby("metric", observed=True)["item"].agg(lambda own: sorted(set(own)))
    assert kept.to_dict() == {"f1": ["q0", "q1"], "bleu": ["mean", "q0", "q1"]}
    assert any("left out" in text and "mean" in text for text in notice_texts(battles.notes))


@pytest.mark.slow
def test_a_total_without_a_category_sums_up_all_categories(tmp_path):
    rows = ["q0,math,0.2,0.4", "q1,code,0.6,0.9", "q2,code,0.7,0.5", "average,,0.5,0.6"]
    assert items_of(tmp_path, "item,category,a,b", *rows)[0] == 3
