"""A field of lm-eval's documents as groups of items (`--cluster FIELD`)."""

import json

import pytest

import podium
from podium.errors import UsageError

TIME = "2026-01-01T00-00-00.000000"


def write_runs(folder, models=("a", "b")):
    for k, model in enumerate(models):
        rows = []
        for doc in range(40):
            rows.append(
                {
                    "doc_id": doc,
                    "doc": {"question": f"Question {doc}?", "passage": f"p{doc // 4}"},
                    "target": "x",
                    "doc_hash": f"{doc:012}" + "0" * 52,
                    "prompt_hash": f"{doc:012}" + "0" * 52,
                    "target_hash": "t",
                    "arguments": [],
                    "resps": [],
                    "filtered_resps": [],
                    "filter": "none",
                    "metrics": ["acc"],
                    "acc": float((doc // 4 + k * doc) % 2),
                }
            )
        place = folder / f"org__{model}"
        place.mkdir(parents=True)
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (place / f"samples_sums_{TIME}.jsonl").write_text(text)
    return str(folder)


def test_a_field_of_documents_groups_items(tmp_path):
    battles = podium.read_battles(write_runs(tmp_path), cluster="passage")
    counts = battles.counts()
    assert (counts.groups, counts.group, counts.items) == (10, "passage", 40)
    assert "passage" in battles.columns


def test_a_field_that_documents_lack_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="no such column"):
        podium.read_battles(write_runs(tmp_path), cluster="book")


def test_without_an_option_fields_that_group_documents_are_checked(tmp_path):
    battles = podium.read_battles(write_runs(tmp_path))
    assert battles.group is None
    assert "passage" in battles.columns
    assert "question" not in battles.columns
    [standings] = podium.rank(battles).standings
    [check] = [check for check in standings.checks if check.name == "groups"]
    assert check.fields["column"] == "passage"
