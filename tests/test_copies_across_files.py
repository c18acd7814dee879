"""The same verdicts in several files: counted as often as in the file that has them most often."""

import json

import pandas as pd
import pytest

import podium
from podium.data.counting.duck import Duck
from podium.data.counting.relations import ROW
from podium.data.formats.records import records_of
from podium.data.reading import table
from podium.data.reading.joined_tables import join_tables
from podium.data.reading.rows import RecordTable
from podium.diagnosis.card import diagnose
from podium.diagnosis.figures import Missing
from podium.notices.notice_text import notice_texts

ANNOTATION = {
    "generator_1": "base",
    "generator_2": "wren",
    "annotator": "judge",
    "preference_price_per_example": 0.1,
}


def rows(*credits, **more):
    """Return a verdict on each item."""
    return pd.DataFrame(
        [
            {
                "item": f"q{k}",
                "model_a": "x",
                "model_b": "y",
                "order": "ab",
                "judge": "j",
                "credit": credit,
                **more,
            }
            for k, credit in enumerate(credits)
        ]
    )


def read(folder, *frames, **options):
    """Write frames as files of a folder and read it."""
    for number, frame in enumerate(frames):
        frame.to_csv(folder / f"part{number}.csv", index=False)
    return podium.read_battles(str(folder), **options)


def retest_of(folder, *frames):
    apart, merged = (read(folder, *frames, merge=merge) for merge in (False, True))
    [card] = diagnose(apart, merged).cards
    return card.answers["consistency"].retest


@pytest.mark.slow
def test_annotations_of_a_nested_folder_with_one_more_column_are_counted_once(tmp_path):
    reported = [
        {
            "instruction": f"Question {k}?",
            "output_1": "a",
            "output_2": "b",
            "preference": 1 + k % 2,
            **ANNOTATION,
        }
        for k in range(6)
    ]
    (tmp_path / "wren" / "again").mkdir(parents=True)
    (tmp_path / "wren" / "annotations.json").write_text(json.dumps(reported))
    more = [
        {**row, "preference_price_per_example": 0.2, "time": k} for k, row in enumerate(reported)
    ]
    (tmp_path / "wren" / "again" / "annotations.json").write_text(json.dumps(more))
    battles = podium.read_battles(str(tmp_path))
    assert (len(battles), battles.copies) == (6, 6)
    assert any("6 verdicts stand in several files" in note for note in notice_texts(battles.notes))
    [card] = diagnose(podium.read_battles(str(tmp_path), merge=False), battles).cards
    assert isinstance(card.answers["consistency"].retest, Missing)


@pytest.mark.slow
def test_a_verdict_counts_as_often_as_in_the_file_that_has_it_most_often(tmp_path):
    once, thrice = rows(1, 0), pd.concat([rows(1)] * 3)
    battles = read(tmp_path, once, thrice)
    assert sorted(battles.table["item"].astype(str)) == ["q0", "q0", "q0", "q1"]


def test_copies_of_verdicts_are_found_beside_a_column_model(tmp_path):
    """It does not name one of the models that are compared, and the judge is known."""
    verdicts = rows(1, 0, 1, 0.5)
    battles = read(tmp_path, verdicts.assign(model="gpt"), verdicts.assign(model="claude"))
    assert battles.counts().judgments == 4


@pytest.mark.slow
@pytest.mark.parametrize("column", ["model", "judge_model"])
def test_verdicts_of_two_models_of_judges_are_no_copies(tmp_path, column):
    verdicts = rows(1, 0, 1, 0.5).drop(columns="judge")
    battles = read(tmp_path, verdicts.assign(**{column: "gpt"}), verdicts.assign(**{column: "o"}))
    assert battles.counts().judgments == 8
    copied = read(tmp_path, *[verdicts.assign(**{column: "gpt"})] * 2)
    assert copied.counts().judgments == 4


@pytest.mark.slow
def test_another_verdict_or_repeat_or_judge_or_order_is_no_copy(tmp_path):
    others = [rows(0), rows(1, repeat=1), rows(1).assign(judge="k"), rows(1).assign(order="ba")]
    assert len(read(tmp_path, rows(1, repeat=0), *others, merge=False)) == 5


def test_a_copy_may_name_the_models_the_other_way_round_and_lack_columns(tmp_path):
    turned = rows(1, 0.25).rename(columns={"model_a": "model_b", "model_b": "model_a"})
    turned = turned.assign(credit=1 - turned["credit"], order="ba", category="new")
    assert len(read(tmp_path, rows(1, 0.25), turned)) == 2


@pytest.mark.slow
def test_another_reply_is_no_copy_where_all_files_have_the_replies(tmp_path):
    stated = [rows(1, 0).assign(raw_completion=text) for text in ("A", "A, I think")]
    assert len(read(tmp_path, *stated)) == 4
    assert len(read(tmp_path, *stated, rows(1, 0))) == 2


def test_scores_in_two_files_are_averaged_once(tmp_path):
    scores = pd.DataFrame({"item": ["q0"] * 2, "model": ["x", "y"], "score": [1.0, 2.0]})
    battles = read(tmp_path, scores, scores.assign(note="copy"))
    assert any("2 scores stand in several files" in note for note in notice_texts(battles.notes))
    assert len(battles) == 1


def test_rows_without_item_are_never_copies(tmp_path):
    assert len(read(tmp_path, *(rows(1, 1).drop(columns="item") for _ in range(2)))) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("frames", "known"),
    [
        ([pd.concat([rows(1, 0)] * 2)], False),
        ([pd.concat([rows(1, 0, repeat=0), rows(1, 0, repeat=1)])], True),
        ([pd.concat([rows(1, 0), rows(1, 1)])], True),
        ([rows(1, 0), rows(1, 1)], False),
        ([rows(1, 0, repeat=0), rows(1, 1, repeat=1)], True),
        ([rows(1, 0).assign(reply="A"), rows(1, 0).assign(reply="A.")], True),
    ],
)
def test_copies_count_as_retest_only_with_evidence_of_a_second_call(tmp_path, frames, known):
    assert isinstance(retest_of(tmp_path, *frames), Missing) is not known


def without_items(credits, **more):
    return rows(*credits, **more).drop(columns="item")


def test_a_file_without_items_that_holds_another_file_counts_once(tmp_path):
    credits = [k * 7 % 3 / 2 for k in range(30)]
    battles = read(tmp_path, without_items(credits), without_items(credits))
    assert (len(battles), battles.copies) == (30, 30)
    assert any("30 verdicts stand in several files" in note for note in notice_texts(battles.notes))


@pytest.mark.slow
def test_few_rows_that_may_agree_by_chance_count_separately_and_are_reported(tmp_path):
    battles = read(
        tmp_path, without_items([1, 0, 1]), without_items([1, 0, 1]), without_items([1, 1, 1])
    )
    assert (len(battles), battles.copies) == (9, 0)
    assert any(
        "1 file without items holds the rows of another" in note
        for note in notice_texts(battles.notes)
    )
    assert len(podium.read_battles(str(tmp_path / "part0.csv"), str(tmp_path / "part0.csv"))) == 3
    (tmp_path / "always").mkdir()
    assert len(read(tmp_path / "always", *[without_items([1.0] * 40)] * 2)) == 80


def test_files_without_items_of_other_rows_or_another_order_are_no_copies(tmp_path):
    credits = [k * 7 % 3 / 2 for k in range(30)]
    others = [without_items(credits[::-1]), without_items(credits, note="other")]
    battles = read(tmp_path, without_items(credits), *others)
    assert (len(battles), battles.copies) == (90, 0)


def test_rows_of_many_files_and_battles_made_of_scores_keep_places_of_their_own():
    engine = Duck()
    scores = pd.DataFrame(
        {"item": ["q0", "q1"] * 2, "model": ["x"] * 2 + ["y"] * 2, "score": [1.0, 2.0, 2.0, 2.0]}
    )
    frames = [rows(1, 0), rows(1, 0).assign(judge="k"), rows(1, 1).assign(judge="l"), scores]
    tables = [RecordTable(table.check(records_of(engine, frame, "it"))) for frame in frames]
    joined = join_tables(engine, tables)
    places = [place for (place,) in engine.rows(f"select {ROW} from {joined.view}")]
    assert len(places) == len({*places}) == 8


def missing_of(*parts):
    """Return how many battles are missing of files, each given by its rows and what it misses."""
    duck = Duck()
    tables = []
    for number, (frame, missing) in enumerate(parts):
        records = table.check(records_of(duck, frame, f"part {number}"))
        tables.append(RecordTable(records, missing=missing))
    return join_tables(duck, tables).missing


FIVE = rows(1.0, 1.0, 0.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("parts", "missing"),
    [
        ([(FIVE[:2], 2), (FIVE[:4], 4), (FIVE, 6)], 6),
        ([(FIVE, 6), (FIVE[:4], 4), (FIVE[:2], 2)], 6),
        ([(FIVE, 6), (FIVE, 6)], 6),
        ([(FIVE[:3], 2), (FIVE[2:], 3)], 5),
        ([(FIVE[:3], 2), (FIVE[3:], 3)], 5),
        ([(FIVE[:2], 2), (FIVE, None)], 2),
        ([(rows(0.0, 1.0), 1), (FIVE, 6)], 7),
    ],
    ids=[
        "each log repeats the one before",
        "in any order",
        "equal logs",
        "one verdict is in both",
        "shards",
        "a table does not say what it misses",
        "other verdicts on the same battles",
    ],
)
def test_what_a_log_misses_counts_once_with_the_log_that_repeats_it(parts, missing):
    assert missing_of(*parts) == missing
