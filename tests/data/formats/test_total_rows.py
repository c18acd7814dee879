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
