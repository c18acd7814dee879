"""A column `response`: battles of different responses to an item are neither one battle nor
repeats."""

import pandas as pd
import pytest

import podium
from podium.diagnosis.card import diagnose
from podium.diagnosis.figures import Missing
from podium.notices.notice_text import notice_texts


def shown(response, order, credit=1.0, item="q", judge="j", **more):
    return {
        "item": item,
        "model_a": "x",
        "model_b": "y",
        "order": order,
        "judge": judge,
        "credit": credit,
        "response": response,
        **more,
    }


def twice(*numbers, items=3):
    return [
        shown(number, order, float((k + i) % 2), f"q{i}")
        for k, number in enumerate(numbers)
        for i in range(items)
        for order in ("ab", "ba")
    ]


def read(rows, **options):
    return podium.read_battles(pd.DataFrame(rows), **options)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("numbers", [(1, 2), (None, 2), (0, 1), ("1", "2")])
def test_orders_merge_within_a_response_only_and_the_item_is_one_cluster(numbers):
    battles = read(twice(*numbers))
    assert (len(battles), battles.counts().items, battles.swaps().readable) == (6, 3, 6)
    assert not any("share item, pair" in note for note in notice_texts(battles.notes))


def test_two_responses_in_two_orders_are_two_battles_of_one_order_each():
    battles = read([shown(1, "ab"), shown(2, "ba", 0.0)])
    assert (len(battles), battles.swaps()) == (2, None)


@pytest.mark.slow
def test_another_response_is_no_retest():
    rows = twice(1, 2)
    [card] = diagnose(read(rows, merge=False), read(rows)).cards
    assert isinstance(card.answers["consistency"].retest, Missing)
    again = rows + [{**row, "repeat": 1} for row in rows]
    [card] = diagnose(read(again, merge=False), read(again)).cards
    assert card.answers["consistency"].retest.n == 12


@pytest.mark.slow
def test_a_column_of_texts_called_response_is_foreign_as_ever():
    rows = [shown("I choose A", "ab"), shown("B it is", "ba", 0.0)]
    battles = read(rows)
    assert (len(battles), battles.swaps().flip) == (1, 1)
    assert "response" in battles.table
    assert len(read(rows, where=[("response", "B it is")], merge=False)) == 1


@pytest.mark.slow
def test_copies_in_two_files_are_distinguishable_by_the_response(tmp_path):
    for name, numbers in (("one", (1, 2)), ("two", (2, 3))):
        pd.DataFrame([shown(number, "ab", item="q0") for number in numbers]).to_csv(
            tmp_path / f"{name}.csv"
        )
    battles = podium.read_battles(str(tmp_path), merge=False)
    assert (len(battles), battles.copies) == (3, 1)


@pytest.mark.slow
def test_human_labels_apply_to_the_response_shown():
    rows = [shown(number, "ab", 1.0, f"q{i}") for number in (1, 2) for i in range(3)]
    human = [
        shown(number, "ab", float(number == 1), f"q{i}", "human")
        for number in (1, 2)
        for i in range(3)
    ]
    labelled = read(rows + human, human_judge="human").table
    assert labelled.groupby("response")["human"].mean().to_dict() == {1: 1.0, 2: 0.0}
