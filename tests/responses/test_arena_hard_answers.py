"""arena-hard: answers of v0.1 (choices with turns) and v2 (messages), and their questions."""

import pytest

import podium
from podium.notices.notice_text import notice_texts
from podium.responses.read import read_responses

OLD_QUESTION = {
    "question_id": "u1",
    "category": "arena-hard-v0.1",
    "cluster": "games",
    "turns": [{"content": "Play."}],
}
NEW_QUESTION = {"uid": "u1", "category": "hard_prompt", "subcategory": "coding", "prompt": "Play."}


def old(content, item="u1", model="wren"):
    turns = [{"content": content, "token_len": 2}]
    return {
        "question_id": item,
        "answer_id": "x",
        "model": model,
        "choices": [{"index": 0, "turns": turns}],
    }


def new(content, item="u1", model="wren", system=None):
    stated = [{"role": "system", "content": system}] if system else []
    stated += [{"role": "user", "content": "Play."}, {"role": "assistant", "content": content}]
    return {
        "uid": item,
        "ans_id": "x",
        "model": model,
        "messages": stated,
        "metadata": {"token_len": 2},
    }


def test_answers_of_v0_1_take_the_question_from_the_folder_above(save):
    save("bench/question.jsonl", [OLD_QUESTION])
    read = read_responses(save("bench/model_answer/wren.jsonl", [old("Done.")]))
    assert (read.texts["wren"]["u1"], read.items[0].instruction, read.items[0].category) == (
        "Done.",
        "Play.",
        "games",
    )


def test_answers_of_v0_1_without_questions_are_an_error_that_says_so(save):
    with pytest.raises(podium.DataError, match="give the questions too"):
        read_responses(save("model_answer/wren.jsonl", [old("Done.")]))


def test_answers_of_v2_bring_their_question(save):
    read = read_responses(save("wren.jsonl", [new({"answer": "Done."}, system="Be brief.")]))
    item = read.items[0]
    assert (read.texts["wren"]["u1"], item.instruction, item.system) == (
        "Done.",
        "Play.",
        "Be brief.",
    )


def test_a_message_may_be_plain_text(save):
    assert read_responses(save("wren.jsonl", [new("Done.")])).texts["wren"] == {"u1": "Done."}


def test_a_whole_bench_folder_is_read_with_its_categories(save, tmp_path):
    save("bench/question.jsonl", [NEW_QUESTION])
    save("bench/model_answer/wren.jsonl", [new({"answer": "Done."})])
    save("bench/model_answer/lark.jsonl", [new({"answer": "No."}, model="lark")])
    save("bench/model_judgment/judge/wren.jsonl", [{"uid": "u1", "model": "wren", "games": []}])
    read = read_responses(tmp_path / "bench")
    assert (read.models, read.items[0].category) == (("lark", "wren"), "hard_prompt")
    assert "1 file holds no responses" in notice_texts(read.notes)[0]


def test_a_provider_error_is_errored(save):
    rows = [new({"answer": "$ERROR$"}), new({"answer": "Done."}, item="u2")]
    assert read_responses(save("wren.jsonl", rows)).missing["wren"] == {"u1": "errored"}


def test_a_null_answer_is_an_empty_response(save):
    rows = [new({"answer": None}), new({"answer": "Done."}, item="u2")]
    assert read_responses(save("wren.jsonl", rows)).missing["wren"] == {"u1": "empty response"}


def test_a_conversation_of_two_turns_is_rejected_with_its_place(save):
    row = old("Done.")
    row["choices"][0]["turns"] *= 2
    with pytest.raises(podium.DataError, match=r"wren\.jsonl, line 1: 2 turns"):
        read_responses(save("wren.jsonl", [row]))


def test_a_label_names_the_model(save):
    assert read_responses(f"lark={save('wren.jsonl', [new('Done.')])}").models == ("lark",)
