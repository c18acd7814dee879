"""The models of examples/tournament are as its README says."""

from pathlib import Path

import pytest

from podium.responses.read import read_responses
from podium.scorers.offline import demands, missed_demands

FOLDER = Path(__file__).parents[2] / "examples" / "tournament"


@pytest.fixture(scope="module")
def example():
    return read_responses(FOLDER)


def shares(example, model):
    asked = {item.id: demands(item.instruction) for item in example.items}
    texts = example.texts[model].items()
    return {
        item: 1 - len(missed_demands(text, asked[item])) / len(asked[item]) for item, text in texts
    }


def test_six_models_answer_fourteen_instructions_of_five_kinds(example):
    assert (len(example.models), len(example.items), len(example.categories)) == (6, 14, 5)


def test_one_response_is_empty_and_one_is_missing(example):
    assert example.missing_reasons() == {"nettle": {"empty response": 1, "no response": 1}}


def test_every_instruction_has_a_demand_that_a_rule_can_check(example):
    assert [one.id for one in example.items if len(demands(one.instruction)) < 2] == []


def test_every_instruction_distinguishes_models(example):
    by_item = {
        one.id: {shares(example, name).get(one.id) for name in example.models}
        for one in example.items
    }
    assert [item for item, found in by_item.items() if len(found) < 2] == []


def test_models_differ_in_quality_as_the_readme_says(example):
    means = {
        name: sum(found.values()) / len(found)
        for name in example.models
        if (found := shares(example, name))
    }
    assert sorted(means, key=means.__getitem__) == [
        "willow",
        "sorrel",
        "nettle",
        "linden",
        "alder",
        "rowan",
    ]


def test_no_model_is_best_on_every_category(example):
    best = [name for name in example.models if set(shares(example, name).values()) == {1.0}]
    assert best == []


def test_the_readme_names_every_model_and_the_command(example):
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    parts = [*example.models, "podium/offline", "podium/round_robin", "not a language model"]
    assert [part for part in parts if part not in text] == []
