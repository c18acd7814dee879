"""A category of responses is found by the last part of its name."""

import json
from dataclasses import replace

import pytest

from podium.errors import UsageError
from podium.responses.read import read_responses


@pytest.fixture
def responses(tmp_path):
    """Responses of two models to items of three tasks."""
    for model in ("ash", "elm"):
        rows = [
            {"id": f"{task}-1", "instruction": f"Do {task}.", "response": model, "category": task}
            for task in ("acme/advice", "acme/files", "other/files")
        ]
        text = "\n".join(map(json.dumps, rows))
        (tmp_path / f"{model}.jsonl").write_text(text)
    return read_responses(str(tmp_path))


def test_the_last_part_finds_the_only_category_that_ends_with_it(responses):
    chosen = responses.select(category="advice")
    assert [item.category for item in chosen.items] == ["acme/advice"]


@pytest.mark.parametrize("name", ["files", "vice", "advices"])
def test_several_categories_and_parts_of_words_are_not_found(responses, name):
    with pytest.raises(UsageError, match=r"acme/advice, acme/files, other/files"):
        responses.select(category=name)


@pytest.mark.parametrize("name", ["acme/advice", "advice"])
def test_the_only_task_stands_for_all_its_items(responses, name):
    bare = tuple(replace(item, category=None) for item in responses.items)
    of_one_task = replace(responses, items=bare, tasks=("acme/advice",))
    assert of_one_task.select(category=name).items == bare
    with pytest.raises(UsageError, match="no item has category 'files'; categories: acme/advice"):
        of_one_task.select(category="files")
