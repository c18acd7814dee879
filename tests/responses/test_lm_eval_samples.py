"""lm-eval samples: a row per document and filter, the model named by the folder."""

import json

import pytest

import podium
from podium.responses.reading import read_responses

TIME = "2026-01-31T10-20-30.123456"


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
    } | more


def chat(*messages):
    return [json.dumps([{"role": role, "content": content} for role, content in messages])]


def test_the_folder_names_the_entrant_and_the_file_the_task(save):
    read = read_responses(save(f"org__wren/samples_ifeval_{TIME}.jsonl", [sample()]))
    assert (read.entrants, read.items[0].category) == (("org__wren",), "ifeval")


def test_prompt_target_and_response_are_read(save):
    read = read_responses(save(f"wren/samples_t_{TIME}.jsonl", [sample()]))
    item = read.items[0]
    assert (item.instruction, item.reference, read.texts["wren"][item.id]) == ("Say hi.", "Hello.", "Hi.")


def test_the_whole_response_is_read_not_what_a_filter_left_of_it(save):
    rows = [sample(text="It is 4.", filter="strict", filtered_resps=["4"])]
    assert list(read_responses(save(f"wren/samples_t_{TIME}.jsonl", rows)).texts["wren"].values()) == ["It is 4."]


def test_two_filters_of_one_document_are_one_item(save):
    rows = [sample(filter=name, filtered_resps=[name]) for name in ("strict", "flexible")]
    assert len(read_responses(save(f"wren/samples_t_{TIME}.jsonl", rows)).items) == 1


def test_the_older_list_of_arguments_is_read(save):
    rows = [sample(arguments=[["Say hi.", {"until": []}]])]
    assert read_responses(save(f"wren/samples_t_{TIME}.jsonl", rows)).items[0].instruction == "Say hi."


def test_of_a_chat_the_last_message_of_the_user_is_the_instruction(save):
    prompt = chat(("system", "Be brief."), ("user", "Say yo."), ("assistant", "Yo."), ("user", "Say hi."))
    item = read_responses(save(f"wren/samples_t_{TIME}.jsonl", [sample(prompt=prompt)])).items[0]
    assert (item.instruction, item.system) == ("Say hi.", "Be brief.")


def test_a_chat_run_and_a_plain_run_meet_on_the_document_and_it_is_said(save):
    one = save(f"wren/samples_t_{TIME}.jsonl", [sample(prompt="Question: Say hi.\nAnswer:")])
    other = save(f"lark/samples_t_{TIME}.jsonl", [sample(prompt=chat(("user", "Say hi.")), text="Hello.")])
    read = read_responses(one, other)
    assert [item.instruction for item in read.items] == ["Say hi."]
    assert "1 items were put to entrants in different words" in read.notes[0]


def test_another_target_of_the_same_document_is_an_error_that_names_both_files(save):
    one = save(f"wren/samples_t_{TIME}.jsonl", [sample()])
    other = save(f"lark/samples_t_{TIME}.jsonl", [sample(target="Bye.")])
    with pytest.raises(podium.DataError) as caught:
        read_responses(one, other)
    assert [part for part in ("wren/samples", "lark/samples", "Bye.", "Hello.") if part not in str(caught.value)] == []


def test_a_document_that_occurs_twice_is_two_items(save):
    rows = [sample(0, "Hi."), sample(1, "Ho.", doc_hash=sample()["doc_hash"])]
    assert len(read_responses(save(f"wren/samples_t_{TIME}.jsonl", rows)).items) == 2


def test_the_same_document_in_two_tasks_is_two_items(save, tmp_path):
    save(f"wren/samples_t_{TIME}.jsonl", [sample()])
    save(f"wren/samples_u_{TIME}.jsonl", [sample()])
    assert read_responses(tmp_path).categories == ("t", "u")


def test_two_runs_of_one_model_in_a_folder_are_refused_with_the_remedy(save, tmp_path):
    save("wren/samples_t_2026-01-31T10-20-30.123456.jsonl", [sample()])
    save("wren/samples_t_2026-02-01T10-20-30.123456.jsonl", [sample()])
    with pytest.raises(podium.DataError, match=r"2026-02-01.*second response of 'wren'.*2026-01-31.*labels"):
        read_responses(tmp_path / "wren")


def test_log_likelihoods_of_choices_are_no_responses(save):
    rows = [sample(resps=[[["-1.5", "False"]], [["-0.5", "True"]]])]
    with pytest.raises(podium.DataError, match="no responses in the columns"):
        read_responses(save(f"wren/samples_t_{TIME}.jsonl", rows))


def test_log_likelihoods_and_results_in_a_folder_are_skipped_and_said(save, tmp_path):
    save(f"wren/samples_mc_{TIME}.jsonl", [sample(resps=[[["-1.5", "False"]]])])
    save(f"wren/results_{TIME}.json", {"results": {"t": {"acc,none": 0.5}}, "git_hash": "x"})
    save(f"wren/samples_t_{TIME}.jsonl", [sample()])
    read = read_responses(tmp_path)
    assert (read.categories, "2 files hold no responses" in read.notes[0]) == (("t",), True)


def test_an_empty_generation_is_missing(save):
    read = read_responses(save(f"wren/samples_t_{TIME}.jsonl", [sample(0, ""), sample(1)]))
    assert list(read.missing["wren"].values()) == ["empty response"]


def test_a_row_without_a_prompt_names_its_place(save):
    with pytest.raises(podium.DataError, match=r"line 1: no prompt in arguments"):
        read_responses(save(f"wren/samples_t_{TIME}.jsonl", [sample(arguments={})]))
