"""Categories that are lists: a battle is in each of them."""

import json

import pandas as pd
import pytest

import podium
from podium.data.listed_values import values_in_cell


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        ("math", ("math",)),
        ('["math", "code"]', ("math", "code")),
        ("['math', 'code']", ("math", "code")),
        ('["math", "math", null, ""]', ("math",)),
        ("[]", ()),
        ("[1, true]", ("1", "True")),
        ("[math]", ("[math]",)),
        ('[["math"]]', ('[["math"]]',)),
        ("[" * 5000, ("[" * 5000,)),
    ],
)
def test_a_cell_lists_its_values_or_is_one_value(cell, values):
    assert values_in_cell(cell) == values


def battles():
    lists = [["math"], ["math", "code"], ["code"], [], ["math", "essay"], ["essay"]]
    return [
        {
            "item": f"q{k}",
            "model_a": "x",
            "model_b": "y",
            "credit": [1, 1, 0, 0.5][k % 4],
            "category": lists[k % 6],
        }
        for k in range(24)
    ]


def write(folder, kind):
    path = folder / f"battles.{kind}"
    frame = pd.DataFrame(battles())
    if kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, battles())))
    elif kind == "json":
        path.write_text(json.dumps(battles()))
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("kind", ["csv", "json", "jsonl", "parquet"])
def test_a_battle_is_in_the_slice_of_each_of_its_categories(tmp_path, kind):
    read = podium.read_battles(write(tmp_path, kind))
    sizes = {value: len(part) for value, part in read.slices("category")}
    assert sizes == {"code": 8, "essay": 8, "math": 12}


def test_a_data_frame_with_lists_has_the_same_slices():
    read = podium.read_battles(pd.DataFrame(battles()))
    assert {value: len(part) for value, part in read.slices("category")}["math"] == 12


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_another_column_may_list_values_too(tmp_path, kind):
    path = write(tmp_path, kind)
    read = podium.read_battles(path, columns={"category": "category"})
    tagged = read.to_frame().rename(columns={"category": "tags"})
    assert {value for value, _ in podium.read_battles(tagged).slices("tags")} == {
        "code",
        "essay",
        "math",
    }


@pytest.mark.slow
def test_the_heading_says_that_slices_overlap(podium, tmp_path):
    done = podium("rank", write(tmp_path, "jsonl"), "--by", "category")
    assert done.code == 0, done.err
    headings = [line for line in done.out.splitlines() if line.startswith("bradley-terry [")]
    assert [line.split(" · ")[1] for line in headings] == ["slices overlap"] * 3
    assert "8 of 24 battles are in several slices, which overlap" in done.err
    assert "4 of 24 battles have no category and are in no slice" in done.err


@pytest.mark.slow
def test_nothing_is_said_where_every_battle_has_one_category(podium, tmp_path):
    rows = [row | {"category": ["math", "code"][k % 2]} for k, row in enumerate(battles())]
    path = tmp_path / "battles.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    done = podium("rank", path, "--by", "category")
    assert "overlap" not in done.out + done.err


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_condition_keeps_the_battles_that_list_the_value(tmp_path, kind):
    assert len(podium.read_battles(write(tmp_path, kind), where={"category": "math"})) == 12


def test_two_columns_combine_lists(tmp_path):
    rows = [row | {"lang": ["en", "fr"][k % 2]} for k, row in enumerate(battles())]
    path = tmp_path / "battles.json"
    path.write_text(json.dumps(rows))
    read = podium.read_battles(path)
    sizes = {value: len(part) for value, part in read.slices("category,lang")}
    assert sum(sizes.values()) == 28
    assert read.count_slices_of_battles("category,lang").sum() == 28


@pytest.mark.slow
def test_compare_compares_on_each_category(podium, tmp_path):
    done = podium("compare", "x", "y", write(tmp_path, "jsonl"), "--by", "category")
    assert done.code == 0, done.err
    assert all(name in done.out for name in ("code", "essay", "math"))


@pytest.mark.slow
@pytest.mark.parametrize("style", ["md", "html", "latex", "json"])
def test_every_output_says_that_slices_overlap(podium, tmp_path, style):
    path = write(tmp_path, "jsonl")
    done = podium("rank", path, "--by", "category", "--format", style)
    said = '"slices-overlap"' if style == "json" else "slices overlap"
    assert done.out.count(said) == 3, done.err


@pytest.mark.slow
def test_the_page_says_in_each_heading_that_slices_overlap(podium, tmp_path):
    page = tmp_path / "page.html"
    done = podium("report", write(tmp_path, "jsonl"), "--by", "category", "-o", page)
    assert done.code == 0, done.err
    assert page.read_text().count("] · slices overlap</h3>") == 3
