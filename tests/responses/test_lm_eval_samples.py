"""lm-eval samples: a row per document and filter, the model named by the folder."""

import json

import pytest
from lm_eval_output import LATER, TIME, write_run

import podium
from podium.notices.notice_text import notice_texts
from podium.responses.read import read_responses
from podium.responses.transcripts import Show


def sample(doc_id=0, text="Hi.", prompt="Say hi.", **more):
    return {
        "doc_id": doc_id,
        "doc": {"prompt": "Say hi."},
        "target": "Hello.",
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {"until": []}}},
        "resps": [[text]],
        "filtered_resps": [text],
        "filter": "none",
        "doc_hash": f"{doc_id:064d}"[::-1],
        "metrics": [],
    } | more


def chat(*messages):
    return [json.dumps([{"role": role, "content": content} for role, content in messages])]


def test_the_folder_names_the_model_and_the_file_the_task(save):
    read = read_responses(save(f"org__wren/samples_ifeval_{TIME}.jsonl", [sample()]))
    assert (read.models, read.items[0].category) == (("org__wren",), "ifeval")


def test_the_field_category_of_a_document_is_a_column_beside_the_task(save):
    rows = [sample(k, doc={"prompt": "Say hi.", "category": "ab"[k % 2]}) for k in range(4)]
    read = read_responses(save(f"wren/samples_t_{TIME}.jsonl", rows))
    assert read.items[0].category == "t"
    assert sorted(read.dividing_columns()["document_category"]) == ["a", "b"]


def test_prompt_target_and_response_are_read(save):
    read = read_responses(save(f"wren/samples_t_{TIME}.jsonl", [sample()]))
    item = read.items[0]
    assert (item.instruction, item.reference, read.texts["wren"][item.id]) == (
        "Say hi.",
        "Hello.",
        "Hi.",
    )


def test_the_whole_response_is_read_not_what_a_filter_left_of_it(save):
    rows = [sample(text="It is 4.", filter="strict", filtered_resps=["4"])]
    assert list(
        read_responses(save(f"wren/samples_t_{TIME}.jsonl", rows)).texts["wren"].values()
    ) == ["It is 4."]


def test_two_filters_of_one_document_are_one_item(save):
    rows = [sample(filter=name, filtered_resps=[name]) for name in ("strict", "flexible")]
    assert len(read_responses(save(f"wren/samples_t_{TIME}.jsonl", rows)).items) == 1


def test_the_older_list_of_arguments_is_read(save):
    rows = [sample(arguments=[["Say hi.", {"until": []}]])]
    assert (
        read_responses(save(f"wren/samples_t_{TIME}.jsonl", rows)).items[0].instruction == "Say hi."
    )


def test_of_a_chat_the_last_message_of_the_user_is_the_instruction(save):
    prompt = chat(
        ("system", "Be brief."), ("user", "Say yo."), ("assistant", "Yo."), ("user", "Say hi.")
    )
    item = read_responses(save(f"wren/samples_t_{TIME}.jsonl", [sample(prompt=prompt)])).items[0]
    assert (item.instruction, item.system) == ("Say hi.", "Be brief.")


def test_chat_and_plain_runs_are_joined_by_document_and_reported(save):
    one = save(f"wren/samples_t_{TIME}.jsonl", [sample(prompt="Question: Say hi.\nAnswer:")])
    other = save(
        f"lark/samples_t_{TIME}.jsonl", [sample(prompt=chat(("user", "Say hi.")), text="Hello.")]
    )
    read = read_responses(one, other)
    assert [item.instruction for item in read.items] == ["Say hi."]
    assert "1 item was put to models in different words" in notice_texts(read.notes)[0]


def test_another_target_of_the_same_document_is_an_error_that_names_both_files(save):
    one = save(f"wren/samples_t_{TIME}.jsonl", [sample()])
    other = save(f"lark/samples_t_{TIME}.jsonl", [sample(target="Bye.")])
    with pytest.raises(podium.DataError) as caught:
        read_responses(one, other)
    assert [
        part
        for part in ("wren/samples", "lark/samples", "Bye.", "Hello.")
        if part not in str(caught.value)
    ] == []


def test_a_document_that_occurs_twice_is_two_items(save):
    rows = [sample(0, "Hi."), sample(1, "Ho.", doc_hash=sample()["doc_hash"])]
    assert len(read_responses(save(f"wren/samples_t_{TIME}.jsonl", rows)).items) == 2


def test_the_same_document_in_two_tasks_is_two_items(save, tmp_path):
    save(f"wren/samples_t_{TIME}.jsonl", [sample()])
    save(f"wren/samples_u_{TIME}.jsonl", [sample()])
    assert read_responses(tmp_path).categories == ("t", "u")


def test_newest_of_two_runs_of_a_model_is_read_and_reported(save, tmp_path):
    save("wren/samples_t_2026-01-31T10-20-30.123456.jsonl", [sample(text="Old.")])
    save("wren/samples_t_2026-02-01T10-20-30.123456.jsonl", [sample(text="New.")])
    read = read_responses(tmp_path / "wren")
    assert list(read.texts["wren"].values()) == ["New."]
    assert "wren was run 2 times on t: the newest counts" in notice_texts(read.notes)[0]
    assert notice_texts(read.notes)[0].index("2026-02-01") < notice_texts(read.notes)[0].index(
        "2026-01-31"
    )


def test_results_file_names_the_model_and_is_not_reported_as_skipped(tmp_path):
    write_run(tmp_path, "org/wren", {"t": [sample()]})
    read = read_responses(tmp_path)
    assert (read.models, notice_texts(read.notes)) == (("org/wren",), ())


def test_a_label_wins_over_the_results(tmp_path):
    home = write_run(tmp_path, "org/wren", {"t": [sample()]})
    assert read_responses(f"x={home}").models == ("x",)


def test_models_that_share_a_folder_are_distinguishable_by_their_results(tmp_path):
    for name, time in (("org/wren", TIME), ("org/lark", LATER)):
        write_run(tmp_path, name, {"t": [sample(text=name)]}, time=time, one_folder=True)
    read = read_responses(tmp_path)
    assert {name: list(texts.values()) for name, texts in read.texts.items()} == {
        "org/lark": ["org/lark"],
        "org/wren": ["org/wren"],
    }


def test_a_results_file_stands_for_its_run(tmp_path):
    for time, text in ((TIME, "Old."), (LATER, "New.")):
        home = write_run(
            tmp_path, "wren", {"t": [sample(text=text)], "u": [sample(text=text)]}, time=time
        )
    read = read_responses(f"old={home}/results_{TIME}.json", f"new={home}/results_{LATER}.json")
    assert {name: set(texts.values()) for name, texts in read.texts.items()} == {
        "old": {"Old."},
        "new": {"New."},
    }
    assert read.categories == ("t", "u")


def test_another_revision_in_the_same_folder_is_another_model(tmp_path):
    for revision, time in (("x", TIME), ("y", LATER)):
        write_run(
            tmp_path,
            "wren",
            {"t": [sample()]},
            time=time,
            arguments={"pretrained": "wren", "revision": revision},
        )
    assert read_responses(tmp_path).models == ("wren (revision=x)", "wren (revision=y)")


def test_one_model_in_two_folders_is_rejected_with_labels_as_remedy(tmp_path):
    for place in ("one", "two"):
        write_run(tmp_path / place, "wren", {"t": [sample()]})
    with pytest.raises(podium.UsageError, match=r"lies in two folders.*wren-1=.*wren-2="):
        read_responses(tmp_path)


def test_folders_without_samples_are_an_error_with_the_remedy(tmp_path):
    write_run(tmp_path, "wren", {"t": [sample()]}, samples=False)
    with pytest.raises(
        podium.UsageError, match=r"no responses in .*wren has no samples beside .*--log_samples"
    ):
        read_responses(tmp_path)


def test_repeated_responses_are_all_read_and_reported(tmp_path):
    write_run(
        tmp_path,
        "wren",
        {"t": [sample(resps=[["One.", "Two.", "Three."]], filtered_resps=["Two."])]},
    )
    read = read_responses(tmp_path)
    assert list(read.texts["wren"].values()) == ["One.", "Two.", "Three."]
    assert "1 item has up to 3 responses of a model" in notice_texts(read.notes)[0]


def test_truncated_last_line_is_reported_and_the_rest_is_read(tmp_path):
    home = write_run(tmp_path, "wren", {"t": [sample(0), sample(1)]})
    path = home / f"samples_t_{TIME}.jsonl"
    path.write_text(path.read_text()[:-9])
    read = read_responses(tmp_path)
    assert (len(read.items), notice_texts(read.notes)) == (
        1,
        (f"{path}, line 2: cut off, so its document is missing",),
    )


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(tmp_path):
    home = write_run(tmp_path, "wren", {"t": [sample(0), sample(1)]})
    path = home / f"samples_t_{TIME}.jsonl"
    path.write_text(path.read_text()[9:])
    with pytest.raises(podium.DataError, match=rf"{path}, line 1: not a whole JSON record"):
        read_responses(tmp_path)


def test_items_are_those_of_podium_rank(tmp_path):
    """What one reader calls an item the other does, too: tournaments and scores can be put side by
    side."""
    rows = [sample(k, doc_hash=f"{k % 2}" * 64, metrics=["acc"], acc=1.0) for k in range(3)]
    for name in ("wren", "lark"):
        write_run(tmp_path, name, {"t": rows})
    ranked = set(podium.read_battles(tmp_path).table["item"])
    assert ranked == {item.id for item in read_responses(tmp_path).items}
    assert ranked == {"t:" + "0" * 12, "t:" + "1" * 12, "t:" + "0" * 12 + "#2"}


def test_the_log_likelihood_of_a_whole_text_is_no_response(save):
    rows = [sample(resps=[["-12.5"]], arguments={"gen_args_0": {"arg_0": "A text."}})]
    with pytest.raises(podium.DataError, match="no responses in the columns"):
        read_responses(save(f"wren/samples_t_{TIME}.jsonl", rows))


def test_log_likelihoods_of_choices_are_no_responses(save):
    rows = [sample(resps=[[["-1.5", "False"]], [["-0.5", "True"]]])]
    with pytest.raises(podium.DataError, match="no responses in the columns"):
        read_responses(save(f"wren/samples_t_{TIME}.jsonl", rows))


def test_log_likelihoods_and_results_in_a_folder_are_skipped_and_reported(save, tmp_path):
    save(f"wren/samples_mc_{TIME}.jsonl", [sample(resps=[[["-1.5", "False"]]])])
    save(f"wren/results_{TIME}.json", {"results": {"t": {"acc,none": 0.5}}, "git_hash": "x"})
    save(f"wren/samples_t_{TIME}.jsonl", [sample()])
    read = read_responses(tmp_path)
    assert (read.categories, "2 files hold no responses" in notice_texts(read.notes)[0]) == (
        ("t",),
        True,
    )


def test_an_empty_generation_is_missing(save):
    read = read_responses(save(f"wren/samples_t_{TIME}.jsonl", [sample(0, ""), sample(1)]))
    assert list(read.missing["wren"].values()) == ["empty response"]


def test_a_row_without_a_prompt_names_its_place(save):
    with pytest.raises(podium.DataError, match=r"line 1: no prompt in arguments"):
        read_responses(save(f"wren/samples_t_{TIME}.jsonl", [sample(arguments={})]))


def test_documents_that_show_images_are_missing_with_the_reason(save):
    seen = {
        "gen_args_0": {
            "arg_0": "What is it?",
            "arg_1": {"until": []},
            "arg_2": {"visual": ["<PIL.Image>"]},
        }
    }
    read = read_responses(
        save(f"wren/samples_t_{TIME}.jsonl", [sample(arguments=seen), sample(doc_id=1)])
    )
    assert list(read.missing["wren"].values()) == ["media that are not in the file"]
    assert list(read.texts["wren"].values()) == ["Hi."]


TURNS = chat(("user", "Say hi."), ("assistant", "Hi."), ("user", "Louder."))


WHOLE = "[user]\nSay hi.\n\n[assistant]\nHi.\n\n[user]\nLouder."


@pytest.mark.parametrize(("mode", "instruction"), [("auto", "Louder."), ("transcript", WHOLE)])
def test_chat_turns_of_a_prompt_are_no_work_of_the_model(save, mode, instruction):
    """As with lm-eval's --fewshot_as_multiturn."""
    path = save(f"wren/samples_t_{TIME}.jsonl", [sample(prompt=TURNS, text="HI!")])
    read = read_responses(path, show=Show(mode))
    assert [*read.texts["wren"].values()] == ["HI!"]
    assert read.items[0].instruction == instruction
