"""Conversations in OpenAI's chat format as responses: JSON lines, and arena-hard answers."""

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcript_pieces import pieces_in

import podium
from podium.responses.answers import Record
from podium.responses.chat import NO_CHAT, ROLES, read_conversation
from podium.responses.preference_pairs import read_pairs
from podium.responses.read import read_responses
from podium.responses.transcripts import Show

CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
}
CHAT = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [{"type": "text", "text": "How warm"}, {"type": "text", "text": "is it?"}],
    },
    {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "c2"}]},
    {"role": "tool", "tool_call_id": "c2", "content": "13"},
    {"role": "tool", "tool_call_id": "c1", "content": "12"},
    {"role": "assistant", "content": "12 degrees."},
]
AUTO = Show("auto")


@pytest.mark.parametrize("column", ["response", "messages"])
def test_a_conversation_is_question_and_transcript(save, column):
    read = read_responses(save("a.jsonl", [{"id": "q1", "model": "wren", column: CHAT}]), show=AUTO)
    [item] = read.items
    assert (item.instruction, item.system) == ("How warm\nis it?", "Be brief.")
    assert pieces_in(read.texts["wren"]["q1"]) == [
        ("call 1.1", 'weather {"city": "Oslo"}'),
        ("call 1.2", 'weather {"city": "Oslo"}'),
        ("result 1.2", "13"),
        ("result 1.1", "12"),
        ("answer", "12 degrees."),
    ]


def test_the_answer_of_a_conversation_is_its_last_message(save):
    read = read_responses(save("a.jsonl", [{"id": "q1", "model": "wren", "response": CHAT}]))
    assert read.texts["wren"] == {"q1": "12 degrees."}
    assert read.work["wren"]["q1"].calls == 2


def test_messages_beside_a_response_are_the_prompt(save):
    row = {
        "id": "q1",
        "instruction": "Why?",
        "model": "wren",
        "response": "So.",
        "messages": CHAT[:2],
    }
    assert read_responses(save("a.jsonl", [row])).texts["wren"] == {"q1": "So."}


def test_calls_without_ids_get_the_results_in_their_order(save):
    """As in Plan-RewardBench, whose calls are messages of their own."""
    calls = [
        {"role": "tool_call", "content": "{'name': 'find', 'arguments': '{\"q\": 1}'}"},
        {"role": "tool_call", "content": '{"name": "open", "arguments": {"page": 2}}'},
        {"role": "tool_response", "content": "found"},
        {"role": "tool_response", "content": "opened"},
    ]
    chat = [CHAT[1], *calls, CHAT[-1]]
    read = read_responses(
        save("a.jsonl", [{"id": "q1", "model": "wren", "response": chat}]), show=AUTO
    )
    assert pieces_in(read.texts["wren"]["q1"])[:4] == [
        ("call 1.1", 'find {"q": 1}'),
        ("call 2.1", 'open {"page": 2}'),
        ("result 1.1", "found"),
        ("result 2.1", "opened"),
    ]


def test_an_older_function_call_is_a_call(save):
    chat = [
        CHAT[1],
        {"role": "assistant", "function_call": CALL["function"]},
        {"role": "function", "content": "12"},
    ]
    read = read_responses(
        save("a.jsonl", [{"id": "q1", "model": "wren", "response": chat}]), show=AUTO
    )
    assert [name for name, _ in pieces_in(read.texts["wren"]["q1"])] == ["call 1.1", "result 1.1"]


def test_arena_hard_answers_with_tool_calls_are_transcripts(save):
    row = {"uid": "u1", "ans_id": "a", "model": "wren", "messages": CHAT}
    assert "result 1.1" in read_responses(save("wren.jsonl", [row]), show=AUTO).texts["wren"]["u1"]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("Hi", "message 2 has the role None"),
        ({"content": "Hi"}, "message 2 has the role None"),
        ({"role": "boss", "content": "Hi"}, "message 2 has the role 'boss'"),
        ({"role": ["user"], "content": "Hi"}, "message 2 has the role"),
        (
            {"role": "assistant", "tool_calls": [{"id": "1"}]},
            "call 1 of message 2 names no function",
        ),
        ({"role": "assistant", "tool_calls": "weather"}, "call 1 of message 2 names no function"),
        (
            {"role": "assistant", "tool_calls": 7, "content": [{"type": "tool_use", "name": "f"}]},
            "call 1 of message 2",
        ),
        ({"role": "assistant", "content": 7}, "content is not text"),
    ],
)
def test_what_is_no_message_is_named_with_its_place(tmp_path, message, problem):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": "q1", "model": "wren", "response": [CHAT[1], message]}))
    with pytest.raises(podium.DataError, match="a.jsonl, line 1: " + problem):
        read_responses(path)


def test_an_answer_to_a_later_message_is_not_judged_alone(save):
    chat = [
        CHAT[1],
        {"role": "assistant", "content": "Where?"},
        {"role": "user", "content": "Oslo."},
        CHAT[-1],
    ]
    path = save("a.jsonl", [{"id": "q1", "model": "wren", "response": chat}])
    with pytest.raises(podium.DataError, match="the user wrote again after the first answer"):
        read_responses(path, show=AUTO)
    names = [
        name
        for name, _ in pieces_in(read_responses(path, show=Show("transcript")).texts["wren"]["q1"])
    ]
    assert names == ["turn 1", "user 2", "answer"]


def test_the_answer_stands_before_what_the_user_says_last(save):
    path = save(
        "a.jsonl",
        [
            {
                "id": "q1",
                "model": "wren",
                "response": [*CHAT, {"role": "user", "content": "Thanks."}],
            }
        ],
    )
    assert read_responses(path).texts["wren"] == {"q1": "12 degrees."}
    assert pieces_in(read_responses(path, show=AUTO).texts["wren"]["q1"])[-1] == (
        "answer",
        "12 degrees.",
    )


def test_system_messages_are_the_prompt_before_the_first_turn_and_shown_behind_it():
    chat = read_chat(CHAT[2], {"role": "developer", "content": "Hurry."}, CHAT[-1])
    assert (chat.system, [turn.role for turn in chat.turns]) == (
        None,
        ["assistant", "system", "assistant"],
    )


NAMES = ["role", "content", "tool_calls", "function", "name", "id", "text", "type"]
WORDS = ["assistant", "tool", "user", "text", "tool_use", "tool_result"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner),
    max_leaves=12,
)


@pytest.mark.slow
@given(
    st.lists(
        JSON
        | st.fixed_dictionaries(
            {"role": st.sampled_from(ROLES), "content": JSON, "tool_calls": JSON}
        )
    )
)
def test_any_json_is_a_conversation_or_an_error_that_names_its_place(messages):
    chat, problem = NO_CHAT, "a.jsonl, line 1"
    try:
        chat = read_conversation(Record("a.jsonl", "line 1", {}), messages)
    except podium.DataError as error:
        problem = str(error)
    assert "a.jsonl, line 1" in problem
    pieces_in(Show("transcript").build_response(chat.turns, chat.answer or "none", 0)[0])


def test_a_result_that_is_an_object_is_shown_as_json():
    asked = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "How warm is it?"},
        {"role": "assistant", "content": "", "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "c1", "content": {"temp": 12}},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": ""}, {"type": "text", "text": "12"}],
        },
    ]
    chat = read_conversation(Record("file", "1", {}), messages)
    assert [turn.text for turn in chat.turns] == ["", '{"temp": 12}', "\n12"]


def read_chat(*messages):
    """Read a conversation that a user begins."""
    return read_conversation(
        Record("file", "1", {}), [{"role": "user", "content": "How warm is it?"}, *messages]
    )


def test_calls_and_results_in_the_parts_of_anthropic_are_turns():
    said = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Oslo"}},
        {"type": "tool_use", "id": "t2", "name": "weather", "input": {"city": "Bergen"}},
    ]
    results = [
        {"type": "tool_result", "tool_use_id": "t2", "content": "no such city", "is_error": True},
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "12"}]},
    ]
    chat = read_chat(
        {"role": "assistant", "content": said},
        {"role": "user", "content": results},
        {"role": "assistant", "content": [{"type": "text", "text": "12 degrees."}]},
    )
    text, work = AUTO.build_response(chat.turns, chat.answer, 0)
    assert pieces_in(text) == [
        ("turn 1", "I look."),
        ("call 1.1", 'weather {"city": "Oslo"}'),
        ("call 1.2", 'weather {"city": "Bergen"}'),
        ("error 1.2", "no such city"),
        ("result 1.1", "12"),
        ("answer", "12 degrees."),
    ]
    assert work.calls == 2


def test_a_call_and_its_result_in_one_message_are_both_turns():
    used = {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Oslo"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "12"}
    chat = read_chat({"role": "assistant", "content": [used, result]}, CHAT[-1])
    assert pieces_in(AUTO.build_response(chat.turns, chat.answer, 0)[0]) == [
        ("call 1.1", 'weather {"city": "Oslo"}'),
        ("result 1.1", "12"),
        ("answer", "12 degrees."),
    ]


@pytest.mark.parametrize(
    "cut",
    [
        json.dumps(CHAT)[:-9],
        json.dumps({"messages": CHAT})[:-9],
        "[{'role': 'user', 'content': array(['Hi'])}]",
    ],
)
@pytest.mark.parametrize("columns", [("messages",), ("chosen", "rejected")])
def test_messages_that_cannot_be_parsed_are_no_answer(tmp_path, columns, cut):
    path = tmp_path / "a.jsonl"
    path.write_text(
        json.dumps(
            {"id": "q1", "instruction": "Why?", "model": "wren"} | dict.fromkeys(columns, cut)
        )
    )
    read = read_responses if len(columns) == 1 else lambda path: read_pairs([str(path)], AUTO)
    with pytest.raises(
        podium.DataError, match="line 1: the messages are neither JSON nor a Python literal"
    ):
        read(path)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": None, "refusal": "I can't."}, "I can't."),
        ({"content": [{"type": "refusal", "refusal": "I can't."}]}, "I can't."),
        ({"content": [{"type": "json", "json": {"temp": 12}}]}, '{"temp": 12}'),
        (
            {"content": [{"type": "image_url", "text": None}, {"type": "text", "text": "See."}]},
            "[image_url]\nSee.",
        ),
    ],
)
def test_parts_are_shown_by_their_type(message, text):
    assert read_chat({"role": "assistant", **message}).answer == text


def test_a_part_of_an_unknown_type_is_an_error():
    with pytest.raises(podium.DataError, match="a part of a message has the type 'citation'"):
        read_chat({"role": "assistant", "content": [{"type": "citation", "cited": "Oslo"}]})


def test_messages_may_be_json_text_or_arrays_of_parquet(tmp_path):
    rows = [
        {
            "id": "q1",
            "model": "wren",
            "messages": [{"role": "user", "content": "How warm is it?"}, *CHAT[2:]],
        }
    ]
    pd.DataFrame([{**row, "messages": json.dumps(row["messages"])} for row in rows]).to_csv(
        tmp_path / "a.csv"
    )
    pd.DataFrame(rows).to_parquet(tmp_path / "a.parquet")
    texts = [
        read_responses(tmp_path / name, show=AUTO).texts["wren"]["q1"]
        for name in ("a.csv", "a.parquet")
    ]
    for text in texts:
        assert [name for name, _ in pieces_in(text)][-1] == "answer"
        assert ("result 1.2", "13") in pieces_in(text)


def test_a_prompt_that_the_assistant_begins_names_no_empty_message():
    chat = read_conversation(Record("file", "1", {}), [CHAT[-1], CHAT[1]])
    assert chat.as_instruction() == "[assistant]\n12 degrees.\n\n[user]\nHow warm\nis it?"
