"""Sources must agree on items; missing responses are reported; the responses have a hash."""

import json

import pytest

import podium
from podium.responses.answers import QuestionRow, ResponseRow
from podium.responses.read import read_responses
from podium.responses.response_files import FileReader


def rows(*texts, instruction="Say {}."):
    asked = [instruction.format(k) for k in range(len(texts))]
    pairs = zip(asked, texts, strict=True)
    return [
        {"id": f"q{k}", "instruction": ask, "response": text} for k, (ask, text) in enumerate(pairs)
    ]


def test_another_instruction_under_the_same_id_names_both_files_and_both_texts(save):
    one, other = (
        save("wren.jsonl", rows("a")),
        save("lark.jsonl", rows("a", instruction="Write {}.")),
    )
    with pytest.raises(podium.DataError) as caught:
        read_responses(one, other)
    parts = (
        *("wren.jsonl", "lark.jsonl", "line 1", "'q0'", "'Say 0.'", "'Write 0.'"),
        *("Remedy", "allow='questions'"),
    )
    assert [part for part in parts if part not in str(caught.value)] == []


@pytest.mark.parametrize(
    "instruction", ["Say caf\u00e9\r\n{}.\n", "Say cafe\u0301\n{}.", " Say  caf\u00e9\t{}."]
)
def test_white_space_and_unicode_forms_make_no_other_instruction(save, instruction):
    one, other = rows("a", instruction="Say caf\u00e9\n{}."), rows("a", instruction=instruction)
    assert len(read_responses(save("wren.jsonl", one), save("lark.jsonl", other)).items) == 1


def test_a_model_in_two_sources_is_rejected_with_labels_as_the_remedy(save):
    one, other = save("a/wren.jsonl", rows("a")), save("b/wren.jsonl", rows("b"))
    with pytest.raises(
        podium.UsageError, match=r"two sources hold a model 'wren'.*wren-1=.*wren-2="
    ):
        read_responses(one, other)


def test_one_label_on_two_sources_is_rejected(save):
    one, other = save("a.jsonl", rows("a")), save("b.jsonl", rows("b"))
    with pytest.raises(podium.UsageError, match=r"'x'"):
        read_responses(f"x={one}", f"x={other}")


def test_two_responses_of_one_model_to_one_item_name_both_places(save):
    with pytest.raises(
        podium.DataError, match=r"line 2: a second response of 'wren' to item 'q0'.*line 1"
    ):
        read_responses(save("wren.jsonl", [*rows("a"), *rows("b")]))


def test_an_item_that_a_model_has_no_row_for_is_missing(save):
    read = read_responses(save("wren.jsonl", rows("a", "b")), save("lark.jsonl", rows("a")))
    assert read.missing["lark"] == {"q1": "no response"}


def test_every_model_has_a_text_or_a_reason_for_every_item(save):
    read = read_responses(save("wren.jsonl", rows("a", "", "c")), save("lark.jsonl", rows("a")))
    cells = {name: sorted([*read.texts[name], *read.missing[name]]) for name in read.models}
    assert cells == {"lark": ["q0", "q1", "q2"], "wren": ["q0", "q1", "q2"]}


def test_missing_responses_are_counted_by_model_and_reason(save):
    read = read_responses(save("wren.jsonl", rows("a", "", "c")), save("lark.jsonl", rows("a")))
    assert read.missing_reasons() == {"lark": {"no response": 2}, "wren": {"empty response": 1}}


def test_the_field_says_who_cannot_play_what(save):
    field = read_responses(
        save("wren.jsonl", rows("a", "")), save("lark.jsonl", rows("a", "b"))
    ).field()
    assert (field.can_play("q0", "lark", "wren"), field.can_play("q1", "lark", "wren")) == (
        True,
        False,
    )


def test_a_glob_and_a_folder_find_the_same(save, tmp_path):
    for name in ("wren", "lark"):
        save(f"runs/{name}.jsonl", rows("a"))
    assert (
        read_responses(f"{tmp_path}/runs/*.jsonl").texts == read_responses(f"{tmp_path}/runs").texts
    )


def test_a_path_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(podium.UsageError, match="no such file or directory"):
        read_responses(tmp_path / "nowhere")


def test_questions_alone_are_no_responses(save):
    with pytest.raises(podium.UsageError, match="no responses in"):
        read_responses(save("asked.jsonl", [{"id": "q", "instruction": "Say."}]))


def test_the_order_of_sources_and_rows_changes_neither_hash_nor_texts(save):
    one, other = rows("a", "b"), rows("c", "d")
    straight = read_responses(save("1/wren.jsonl", one), save("1/lark.jsonl", other))
    turned = read_responses(save("2/lark.jsonl", other[::-1]), save("2/wren.jsonl", one[::-1]))
    assert (straight.digest(), straight.texts) == (turned.digest(), turned.texts)


def test_the_order_of_sources_does_not_change_the_order_of_items(save):
    one, other = save("wren.jsonl", rows("a", "b")), save("lark.jsonl", rows("a", "b", "c")[::-1])
    assert read_responses(one, other).items == read_responses(other, one).items


@pytest.mark.parametrize(
    "change",
    [
        {"response": "b"},
        {"response": ""},
        {"instruction": "Write."},
        {"id": "other"},
        {"reference": "b"},
        {"system": "b"},
    ],
)
def test_any_change_of_what_a_judge_sees_changes_the_hash(save, change):
    row = rows("a")[0]
    plain, changed = (
        read_responses(save(f"{k}/wren.jsonl", [one])) for k, one in enumerate((row, row | change))
    )
    assert plain.digest() != changed.digest()


def test_half_a_surrogate_pair_is_an_error_that_names_it_and_the_remedy(save):
    with pytest.raises(
        podium.DataError, match=r"wren\.jsonl, line 1: half a surrogate pair.*ud83d.*U\+FFFD"
    ):
        read_responses(save("wren.jsonl", rows("\ud83d")))


def test_a_limit_keeps_the_first_items_and_their_texts(save):
    read = read_responses(save("wren.jsonl", rows("a", "b", ""))).select(limit=2)
    assert (len(read.items), read.texts["wren"], read.missing["wren"]) == (
        2,
        {"q0": "a", "q1": "b"},
        {},
    )


def test_a_seed_draws_items_whatever_the_order_of_rows(save):
    some = rows(*"abcdefghij")
    one, other = (
        read_responses(save(f"{k}/wren.jsonl", given)) for k, given in enumerate((some, some[::-1]))
    )
    drawn = [{item.id for item in read.select(limit=4, seed=5).items} for read in (one, other)]
    assert (len(drawn[0]), drawn[0]) == (4, drawn[1])


def test_another_seed_draws_other_items(save):
    read = read_responses(save("wren.jsonl", rows(*"abcdefghij")))
    assert (
        len({tuple(one.id for one in read.select(limit=4, seed=seed).items) for seed in range(5)})
        > 1
    )


def test_drawn_items_keep_their_order(save):
    drawn = read_responses(save("wren.jsonl", rows(*"abcdefghij"))).select(limit=4, seed=5).items
    assert [one.id for one in drawn] == sorted(one.id for one in drawn)


def test_a_category_keeps_its_items(save):
    given = [
        row | {"category": name}
        for row, name in zip(rows("a", "b", "c"), ("x", "y", "x"), strict=True)
    ]
    read = read_responses(save("wren.jsonl", given)).select(category="x")
    assert [one.id for one in read.items] == ["q0", "q2"]


def test_an_unknown_category_names_those_there_are(save):
    with pytest.raises(podium.UsageError, match=r"no item has category 'z'; categories: x"):
        read_responses(save("wren.jsonl", [rows("a")[0] | {"category": "x"}])).select(category="z")


def test_a_limit_below_one_is_rejected(save):
    with pytest.raises(podium.UsageError, match="limit=0"):
        read_responses(save("wren.jsonl", rows("a"))).select(limit=0)


def test_models_can_be_chosen_and_a_misspelt_one_is_corrected(save):
    read = read_responses(save("wren.jsonl", rows("a")), save("lark.jsonl", rows("b")))
    assert read.select_models(["lark"]).models == ("lark",)
    with pytest.raises(podium.UsageError, match="did you mean 'lark'"):
        read.select_models(["larc"])


def log_reader(path, show):  # noqa: ARG001
    for item, text in json.loads(path.read_text())["log"].items():
        yield ResponseRow(QuestionRow(item, "Say.", source=str(path), row=item), "logged", text)


READER = FileReader((".eval", ".json"), lambda path: '"log"' in path.read_text(), log_reader)


def test_plugin_reader_reads_its_files_in_a_folder(save, tmp_path):
    save("logs/one.eval", json.dumps({"log": {"q0": "a"}}))
    assert read_responses(tmp_path / "logs", readers=[READER]).texts == {"logged": {"q0": "a"}}


def test_a_further_reader_leaves_other_files_to_the_known_shapes(save, tmp_path):
    save("logs/one.eval", json.dumps({"log": {"q0": "a"}}))
    save("logs/wren.json", [{"id": "q0", "instruction": "Say.", "response": "b"}])
    assert read_responses(tmp_path / "logs", readers=[READER]).models == ("logged", "wren")


def test_a_label_renames_what_a_further_reader_found(save):
    path = save("one.eval", json.dumps({"log": {"q0": "a"}}))
    assert read_responses(f"mine={path}", readers=[READER]).models == ("mine",)


def test_a_label_on_a_folder_of_logs_renames_them(save, tmp_path):
    save("logs/one.eval", json.dumps({"log": {"q0": "a"}}))
    assert read_responses(f"mine={tmp_path / 'logs'}", readers=[READER]).models == ("mine",)


def test_a_model_named_with_and_without_its_provider_is_a_warning(save):
    bare, prefixed = save("one.jsonl", rows("a")), save("two.jsonl", rows("b"))
    responses = read_responses(f"gpt-4o={bare}", f"openai/gpt-4o={prefixed}")
    notes = [note.fields["names"] for note in responses.notes if note.code == "bare-names"]
    assert notes == [{"gpt-4o": "openai/gpt-4o"}]
