"""A field of lm-eval's documents as groups of items (`--cluster FIELD`)."""

import json

import pytest

import podium
from podium.data.formats.lm_eval_documents import columns_of_document, group_of_row
from podium.errors import UsageError

TIME = "2026-01-01T00-00-00.000000"


def write_runs(folder, models=("a", "b"), task="sums", fields_of=lambda _: {}, score_of=None):
    """Write samples of some models on 40 documents; the score and further fields are by document.

    `score_of` is a function of the number of the model and the document.
    """
    score_of = score_of or (lambda k, doc: (doc // 4 + k * doc) % 2)
    for k, model in enumerate(models):
        rows = []
        for doc in range(40):
            rows.append(
                {
                    "doc_id": doc,
                    "doc": {
                        "question": f"Question {doc}?",
                        "passage": f"p{doc // 4}",
                        **fields_of(doc),
                    },
                    "target": "x",
                    "doc_hash": f"{doc:012}" + "0" * 52,
                    "prompt_hash": f"{doc:012}" + "0" * 52,
                    "target_hash": "t",
                    "arguments": [],
                    "resps": [],
                    "filtered_resps": [],
                    "filter": "none",
                    "metrics": ["acc"],
                    "acc": float(score_of(k, doc)),
                }
            )
        place = folder / f"org__{model}"
        place.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (place / f"samples_{task}_{TIME}.jsonl").write_text(text)
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


CATEGORIES = ("prose", "code")


def category_of(doc):
    """Return the field `category` of a document."""
    return {"category": CATEGORIES[doc % 2]}


def test_tasks_and_the_field_category_of_documents_are_two_columns(tmp_path):
    for task in ("sums", "words"):
        write_runs(tmp_path, task=task, fields_of=category_of)
    battles = podium.read_battles(str(tmp_path))
    assert {*battles.values_of("category")} == {"sums", "words"}
    assert {*battles.values_of("document_category")} == {*CATEGORIES}
    slices = podium.rank(battles, by="document_category").standings
    assert {each.slice for each in slices} == {*CATEGORIES}
    by_task = podium.rank(battles, by="category").standings
    assert {each.slice for each in by_task} == {"sums", "words"}


def test_the_field_category_of_documents_groups_items(tmp_path):
    folder = write_runs(tmp_path, fields_of=category_of)
    counts = podium.read_battles(folder, cluster="document_category").counts()
    assert (counts.groups, counts.group) == (2, "document_category")


def test_an_order_that_depends_on_the_category_of_documents_names_the_column(tmp_path):
    """The first model is right on code alone, the second on prose alone, with some exceptions."""

    def score_of(model, doc):
        is_usual = doc % 8 > 1
        return is_usual == (model == doc % 2)

    folder = write_runs(tmp_path, fields_of=category_of, score_of=score_of)
    [standings] = podium.rank(podium.read_battles(folder)).standings
    [check] = [check for check in standings.checks if check.name == "categories"]
    assert check.is_flagged
    assert check.fields["column"] == "document_category"


def test_responses_keep_the_field_category_of_documents_beside_the_task():
    row = {"doc": {"category": "code", "topic": "loops"}}
    assert columns_of_document(row) == {"document_category": "code", "topic": "loops"}


@pytest.mark.parametrize(
    "fields", [("category", "document_category"), ("document_category", "category")]
)
def test_a_documents_own_field_counts_before_a_renamed_one(fields):
    row = {"doc": {name: f"value of {name}" for name in fields}}
    assert columns_of_document(row) == {"document_category": "value of document_category"}
    assert group_of_row(row, "document_category") == "value of document_category"
    assert group_of_row(row, "category") == "value of category"
