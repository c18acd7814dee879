"""The name of a column says whether it has answers, measures or categories of items."""

import pytest

from podium.diagnosis.column_names import is_of_answers, is_of_categories, is_of_measures


@pytest.mark.parametrize(
    "name",
    ["answer", "answerKey", "answer_index", "correct_option", "target", "gold", "Gold Label"],
)
def test_answers_are_known_by_name(name):
    assert is_of_answers(name)
    assert not is_of_measures(name)
    assert not is_of_categories(name)


@pytest.mark.parametrize(
    "name", ["level", "difficulty", "num_hops", "year", "prompt_length", "len_left"]
)
def test_measures_are_known_by_name(name):
    assert is_of_measures(name)
    assert not is_of_answers(name)
    assert not is_of_categories(name)


@pytest.mark.parametrize("name", ["subject", "subject_name", "question_type", "topicId", "Domain"])
def test_categories_are_known_by_name(name):
    assert is_of_categories(name)
    assert not is_of_answers(name)
    assert not is_of_measures(name)


@pytest.mark.parametrize(
    "name",
    ["passage", "passage_id", "gold_passage_id", "document", "title", "seed", "num_id", "id", "7"],
)
def test_groups_are_none_of_these(name):
    assert not is_of_answers(name)
    assert not is_of_measures(name)
    assert not is_of_categories(name)
