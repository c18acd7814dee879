"""The unit of a table without `item`: a column that repeats as items do is read, or named, and
nothing is claimed."""

import hashlib
import itertools
import json

import numpy as np
import pandas as pd
import pytest

import podium as package
from podium.notices.notice_text import notice_texts
from podium.notices.option_forms import typed_as, typed_in_command

NAMES = ("item_id", "sample_id", "doc_id", "instance_id", "example_id", "query_id")


def battles_of(items=40, models=3, orders=("",), seed=0):
    """Return a round robin in which all battles of an item depend on one draw per model."""
    rng, rows = np.random.default_rng(seed), []
    for item in range(items):
        strength = rng.normal(0, 2, models) - 0.3 * np.arange(models)
        for a, b in itertools.combinations(range(models), 2):
            for order in orders:
                credit = float(strength[a] + rng.normal(0, 0.3) > strength[b])
                shown = {"order": order} if order else {}
                rows.append(
                    {
                        "key": f"q{item:03d}",
                        "model_a": f"m{a}",
                        "model_b": f"m{b}",
                        "credit": credit,
                        **shown,
                    }
                )
    return pd.DataFrame(rows)


def digest(*columns):
    return [
        hashlib.sha256("".join(map(str, cells)).encode()).hexdigest()
        for cells in zip(*columns, strict=True)
    ]


@pytest.fixture(scope="module")
def frame():
    return battles_of()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["qid", "item_id"])
def test_whole_numbers_are_items_however_they_are_stored(frame, name, tmp_path):
    numbers = frame["key"].str[1:].astype(int)
    rows = frame.drop(columns="key")
    texts = []
    for kind in (int, float, str):
        table = rows.assign(**{name: numbers.astype(kind)})
        table.to_json(tmp_path / "battles.jsonl", orient="records", lines=True)
        table.to_csv(tmp_path / "battles.csv", index=False)
        table.to_parquet(tmp_path / "battles.parquet")
        for suffix in ("jsonl", "csv", "parquet"):
            read = package.read_battles(tmp_path / f"battles.{suffix}")
            texts.append((read.counts(), notice_texts(read.notes)))
    assert len({*texts}) == 1
    assert name == "item_id" or "looks like the item" in str(texts[0])


def test_grades_with_decimals_are_no_items(frame):
    grades = frame.assign(key=(frame.index % 12) / 2)
    read = package.read_battles(grades.rename(columns={"key": "grade"}))
    assert "grade" not in str(notice_texts(read.notes))


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("name", [*NAMES, "Item_ID"])
def test_a_column_with_the_name_of_an_item_that_repeats_as_items_do_is_the_item(frame, name):
    read = package.read_battles(frame.rename(columns={"key": name}))
    same = package.read_battles(frame.rename(columns={"key": "item"}))
    assert read.counts() == same.counts()
    assert notice_texts(read.notes) == notice_texts(same.notes) == ()
    ours, theirs = (package.rank(battles).standings[0] for battles in (read, same))
    assert ours.entries == theirs.entries


@pytest.mark.parametrize(
    ("models", "items", "orders"), [(2, 12, ("ab", "ba")), (3, 6, ("",)), (6, 10, ("",))]
)
def test_the_item_is_found_in_other_designs(models, items, orders):
    frame = battles_of(items, models, orders)
    assert package.read_battles(frame.rename(columns={"key": "item_id"})).counts().items == items


def test_a_file_per_pair_repeats_the_items_across_files(frame, save):
    parts = frame.rename(columns={"key": "item_id"}).groupby(["model_a", "model_b"])
    paths = [save(f"{k}.csv", part.to_csv(index=False)) for k, (_, part) in enumerate(parts)]
    assert package.read_battles(*paths).counts().items == 40


def test_the_item_is_also_the_column_of_a_condition(frame):
    named = frame.rename(columns={"key": "item_id"})
    assert package.read_battles(named, where={"item_id": "q001"}).counts().items == 1


def test_a_number_of_the_row_is_no_item_whatever_its_name(frame):
    read = package.read_battles(frame.drop(columns="key").assign(sample_id=np.arange(len(frame))))
    assert not read.has_items
    assert read.likely_item is None
    assert notice_texts(read.notes) == ("no item column: rows counted as independent",)


def test_a_number_of_the_epoch_is_no_item(frame):
    epochs = pd.concat([frame.assign(sample_id=k) for k in range(4)])
    assert not package.read_battles(epochs.drop(columns="key")).has_items


def test_ids_that_begin_anew_in_each_task_are_named_not_read(frame):
    tasks = pd.concat(
        [frame.assign(task=f"t{k}", credit=battles_of(seed=k)["credit"]) for k in range(4)]
    )
    read = package.read_battles(tasks.rename(columns={"key": "doc_id"}))
    assert (read.has_items, read.likely_item) == (False, "doc_id")


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("name", ["prompt", "passage key", "input_hash", "id"])
def test_another_column_that_looks_like_the_item_is_named_with_the_option(frame, name):
    read = package.read_battles(frame.rename(columns={"key": name}))
    option = f"--columns 'item={name}'" if " " in name else f"--columns item={name}"
    assert read.likely_item == name
    with typed_as(typed_in_command):
        note = notice_texts(read.notes)[0]
    assert note.startswith(
        "no item column: rows counted as independent; nobody is called clearly ahead"
    )
    assert note.endswith(option)


DISTRACTORS = {
    "row": lambda frame: np.arange(len(frame)),
    "seconds": lambda frame: 1_700_000_000 + np.arange(len(frame)) // 4,
    "tstamp": lambda frame: 1.7e9 + np.arange(len(frame)) // 3,
    "created_at": lambda frame: np.arange(len(frame)) // 3,
    "minute": lambda frame: [f"2025-01-01 00:{k // 3:02d}" for k in range(len(frame))],
    "rater": lambda frame: np.random.default_rng(1).choice([*"abcdefgh"], len(frame)),
    "user": lambda frame: np.random.default_rng(2).integers(0, 30, len(frame)),
    "topic": lambda frame: frame["key"].str[1:].astype(int) % 5,
    "difficulty": lambda frame: frame["key"].str[1:].astype(int) % 3,
    "digest of a": lambda frame: digest(frame["key"], frame["model_a"]),
    "digest of b": lambda frame: digest(frame["key"], frame["model_b"]),
    "digest of winners": lambda frame: digest(
        frame["key"], np.where(frame["credit"] > 0.5, frame["model_a"], frame["model_b"])
    ),
    "tokens": lambda frame: np.random.default_rng(3).integers(50, 900, len(frame)),
    "latency": lambda frame: np.random.default_rng(4).random(len(frame)),
    "constant": lambda frame: ["x"] * len(frame),
    "flag": lambda frame: np.arange(len(frame)) % 2 == 0,
}


@pytest.mark.fast_cases(10)
@pytest.mark.parametrize("name", DISTRACTORS)
def test_what_is_no_item_is_not_taken_for_one(frame, name):
    read = package.read_battles(frame.assign(**{name: DISTRACTORS[name]}).drop(columns="key"))
    assert read.likely_item is None


@pytest.mark.slow
def test_the_item_is_named_among_columns_that_are_none(frame):
    others = {name: make(frame) for name, make in DISTRACTORS.items()}
    assert package.read_battles(frame.assign(**others)).likely_item == "key"


@pytest.mark.parametrize("name", ["rater_id", "Annotator"])
def test_a_rater_who_judges_every_pair_once_is_no_item(frame, name):
    read = package.read_battles(frame.rename(columns={"key": name}))
    assert read.likely_item is None
    assert "the 40 in" in notice_texts(read.notes)[1]


@pytest.mark.slow
def test_random_columns_are_seldom_taken_for_items():
    rng = np.random.default_rng(0)
    frame = battles_of(20, 4).drop(columns="key")
    found = sum(
        package.read_battles(frame.assign(noise=rng.integers(0, values, len(frame)))).likely_item
        is not None
        for values in (7, 15, 40, 80)
        for _ in range(10)
    )
    assert found <= 3


def test_a_named_item_ends_the_search(frame):
    read = package.read_battles(frame, columns={"item": "key"})
    assert (read.likely_item, read.counts().items) == (None, 40)


@pytest.fixture
def unnamed(frame, save):
    """Return a file whose items are in a column of another name, and whose models differ if rows
    are independent."""
    path = save("votes.csv", frame.rename(columns={"key": "passage"}).to_csv(index=False))
    assert any(
        entry.rank_low == entry.rank_high for entry in rank_sets_of(frame.drop(columns="key"))
    )
    return path


def rank_sets_of(source):
    return package.rank(package.read_battles(source)).standings[0].entries


def test_nobody_is_clearly_ahead_in_a_ranking(unnamed, podium):
    done = podium("rank", unnamed, "--format", "json")
    (ranking,) = json.loads(done.out)["rankings"]
    assert {(entry["rank_low"], entry["rank_high"]) for entry in ranking["models"]} == {(1, 3)}
    assert ranking["answer"][0].startswith("Nobody is called clearly ahead")
    assert "--columns item=passage" in ranking["answer"][1]
    assert any("rows counted as independent" in own["text"] for own in ranking["warnings"])


@pytest.mark.slow
def test_nobody_is_clearly_ahead_in_a_comparison(unnamed, podium):
    done = podium("compare", "m0", "m2", unnamed, "--require", "better", "--format", "json")
    document = json.loads(done.out)
    assert (done.code, document["gate"]["verdict"]) == (5, "UNDECIDED")
    assert "--columns item=passage" in document["answer"][1]
    assert not document["comparisons"][0]["distinguishable"]


@pytest.mark.slow
def test_a_requirement_is_not_refuted_either(unnamed, podium):
    assert podium("compare", "m2", "m0", unnamed, "--require", "not-worse=1elo").code == 5


@pytest.mark.slow
def test_the_column_is_named_by_diagnose(unnamed, podium):
    assert (
        "--columns item=passage"
        in json.loads(podium("diagnose", unnamed, "--format", "json").out)["cards"][0]["answer"][0]
    )


@pytest.mark.slow
def test_the_column_is_named_on_the_page(unnamed, podium, tmp_path):
    podium("report", unnamed, "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "Nobody is called clearly ahead" in page
    assert "--columns item=passage" in page


@pytest.mark.slow
def test_with_the_option_the_answer_is_that_of_a_table_with_items(unnamed, frame, podium):
    named = podium("rank", unnamed, "--columns", "item=passage", "--format", "json")
    same = package.rank(package.read_battles(frame.rename(columns={"key": "item"}))).to_dict()
    assert json.loads(named.out)["rankings"][0]["models"] == same["rankings"][0]["models"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_scores_are_read_with_these_names_of_items_too(name):
    rows = [
        (f"q{k}", model, score)
        for k in range(12)
        for model, score in (("x", 1.0), ("y", k % 2), ("z", 0.0))
    ]
    long = pd.DataFrame(rows, columns=[name, "model", "score"])
    assert package.read_battles(long).counts().items == 12
    wide = long.pivot(index=name, columns="model", values="score").reset_index()
    assert package.read_battles(wide).counts().items == 12


def repeated_battles(values, times, seed=3):
    """Return a round robin of three models with a column `key` of `values` distinct values, each
    judged `times` times by each pair; all rows of a value depend on one draw per model."""
    rng, rows = np.random.default_rng(seed), []
    for value in range(values):
        strength = rng.normal(0, 2, 3)
        for a, b in itertools.combinations(range(3), 2):
            won = rng.random(times) < 1 / (1 + np.exp(strength[b] - strength[a]))
            row = {"key": f"s{value}", "model_a": f"m{a}", "model_b": f"m{b}"}
            rows += [{**row, "credit": float(one)} for one in won]
    return pd.DataFrame(rows)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    ("name", "values", "times"),
    [("scenario", 12, 8), ("case_id", 12, 8), ("story", 8, 12), ("Passage", 12, 5), ("zzz", 25, 6)],
)
def test_a_column_of_units_with_several_rows_in_a_cell_is_named(name, values, times):
    table = repeated_battles(values, times).rename(columns={"key": name})
    read = package.read_battles(table)
    assert read.likely_item == name
    [standings] = package.rank(read).standings
    assert "Nobody is called clearly ahead" in " ".join(standings.answer)
    assert f"'{name}' looks like the item" in " ".join(standings.answer)


@pytest.fixture(scope="module")
def tickets():
    """Return battles of 14 tickets with 1 to 24 rows of a pair each, which depend on one draw per
    model and ticket; no column looks like the item by how its values repeat."""
    rng, rows = np.random.default_rng(3), []
    for ticket in range(14):
        strength = np.array([1.2, 0, -0.3]) + rng.normal(0, 1.2, 3)
        for a, b in itertools.combinations(range(3), 2):
            won = rng.random(rng.integers(1, 25)) < 1 / (1 + np.exp(strength[b] - strength[a]))
            row = {"ticket": f"t{ticket}", "model_a": f"m{a}", "model_b": f"m{b}"}
            rows += [{**row, "credit": float(one)} for one in won]
    return pd.DataFrame(rows)


def test_nobody_is_clearly_ahead_where_rows_without_items_are_alike_in_groups(tickets):
    read = package.read_battles(tickets)
    assert read.likely_item is None
    [unnamed] = package.rank(read.select(np.ones(len(read), bool)), answers=False).standings
    assert unnamed.entries[0].rank_high == 1, "the data do not show the fault"
    [standings] = package.rank(read).standings
    assert {(entry.rank_low, entry.rank_high) for entry in standings.entries} == {(1, 3)}
    assert standings.answer[0].startswith("Nobody is called clearly ahead")
    assert "cluster='ticket'" in standings.answer[1]


@pytest.mark.slow
def test_a_pair_of_rows_alike_in_groups_is_not_decided(tickets, podium, save):
    path = save("tickets.csv", tickets.to_csv(index=False))
    done = podium("compare", "m0", "m1", path, "--require", "better", "--format", "json")
    document = json.loads(done.out)
    assert (done.code, document["gate"]["verdict"]) == (5, "UNDECIDED")
    assert "--cluster ticket" in " ".join(document["answer"])
    assert not document["comparisons"][0]["distinguishable"]


@pytest.mark.slow
def test_with_the_groups_as_unit_or_with_groups_at_random_the_claims_stand(tickets):
    strong = tickets.assign(credit=lambda table: (table.model_a < table.model_b) * 1.0)
    [grouped] = package.rank(package.read_battles(strong, cluster="ticket")).standings
    assert grouped.entries[0].rank_high == 1
    mixed = tickets.assign(ticket=np.random.default_rng(0).permutation(tickets.ticket))
    [standings] = package.rank(package.read_battles(mixed)).standings
    assert standings.entries[0].rank_high == 1


@pytest.mark.slow
def test_a_column_of_counts_that_is_not_read_is_named():
    rows = [("x", "y", 1.0, 12), ("y", "x", 1.0, 3)]
    counted = pd.DataFrame(rows, columns=["model_a", "model_b", "credit", "count"])
    [_, note] = notice_texts(package.read_battles(counted).notes)
    assert "whatever is in the column count (up to 12)" in note
    ones = notice_texts(package.read_battles(counted.assign(count=1)).notes)
    items = notice_texts(package.read_battles(counted.assign(item=["1", "2"])).notes)
    assert "count" not in str(items)
    assert len(ones) == 1


def test_rows_without_an_item_among_others_are_counted(frame):
    blank = frame.assign(item=frame["key"].where(frame.index % 4 > 0)).drop(columns="key")
    [note] = notice_texts(package.read_battles(blank).notes)
    assert note.startswith("30 of 120 rows have no item")
