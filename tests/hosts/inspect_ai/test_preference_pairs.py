"""Pairs with a known preference, as in Plan-RewardBench: all are read, and accuracy is printed by
slices."""

import json
import re
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from played_logs import battles, place
from statsmodels.stats.proportion import proportion_confint
from transcript_pieces import pieces_in

import podium
from podium.diagnosis.human_agreement import preference_report
from podium.errors import DataError
from podium.hosts.inspect_ai.tasks import recorded_task
from podium.notices.notice_text import notice_texts
from podium.responses.preference_pairs import read_pairs
from podium.responses.transcripts import Show

SPLITS = {
    "planning_single_easy": 144,
    "planning_single_hard": 158,
    "planning_multi_easy": 109,
    "planning_multi_hard": 73,
    "robust_recovery": 361,
    "safety_refusal": 51,
    "tool_irrelevance": 275,
}
"""Rows by category of the published file; the rows here are made up."""
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "lookup",
            "description": "Look a page up.",
            "parameters": {"type": "object"},
        },
    }
]
TOOLS_TEXT = (
    'Tools that could be called:\n- lookup: Look a page up.\n  parameters: {"type": "object"}'
)


def chat(query, steps, answer):
    """Return the messages of an agent that looks up some pages."""
    messages = [{"role": "user", "content": query}]
    for k in range(steps):
        call = {
            "id": f"c{k}",
            "type": "function",
            "function": {"name": "lookup", "arguments": f'{{"page": {k}}}'},
        }
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{k}", "content": "page " * 150})
    return {"messages": [*messages, {"role": "assistant", "content": answer}]}


def write_pairs(path, splits, rejected="reject"):
    """Write pairs whose lengths cycle from no step to 24 steps."""
    rng, rows = np.random.default_rng(7), []
    for name, number in splits.items():
        for _ in range(number):
            query, k = f"Do task {len(rows)}.", len(rows)
            steps = rng.integers(0, 25, 2).tolist()
            sides = {
                "chosen": chat(query, steps[0], "Done well."),
                rejected: chat(query, steps[1], "Done badly."),
            }
            rows.append(
                {"query": query, "tools": TOOLS, "uuid": f"u{k:05}", "_lcp_bucket": name, **sides}
            )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def fallible(prompt):
    """Return the letter of the better response, or in a third of the prompts of the worse one."""
    good = "A" if prompt.index("Done well.") < prompt.index("Done badly.") else "B"
    wrong = sha256(prompt.encode()).digest()[0] % 3 == 0
    return {"A": "B", "B": "A"}[good] if wrong else good


def lines_of(printed):
    """Return accuracy, interval ends and number by slice, from the printed table."""
    pattern = r"^ (\S.*?) +([\d.]+)% +([\d.]+) … ([\d.]+) +([\d,]+)$"
    rows = re.findall(pattern, printed, re.MULTILINE)
    return {
        name: (*map(float, figures), int(number.replace(",", "")))
        for name, *figures, number in rows
    }


@pytest.mark.slow
def test_all_pairs_are_read_and_accuracy_is_by_category_and_length(
    tmp_path, play, behave, record, capsys
):
    path = write_pairs(tmp_path / "pairs.jsonl", SPLITS)
    log = play(recorded_task(battles=path), behave(scripted=fallible))
    printed = lines_of(capsys.readouterr().err)
    assert len(record.prompts) == 2 * 1_171
    right = {}
    for _, prompt in record.prompts:
        task = re.search(r"Do task (\d+)\.", prompt)[1]
        good = "A" if prompt.index("Done well.") < prompt.index("Done badly.") else "B"
        right[int(task)] = right.get(int(task), True) and fallible(prompt) == good
    names = [name for name, number in SPLITS.items() for _ in range(number)]
    for name, number in {"all": 1_171, **SPLITS}.items():
        hits = sum(right[k] for k in range(1_171) if name in ("all", names[k]))
        accuracy, low, high, counted = printed[name]
        assert counted == number
        assert accuracy == pytest.approx(100 * hits / number, abs=0.06)
        ends = proportion_confint(hits, number, method="wilson")
        assert (low, high) == (
            pytest.approx(100 * ends[0], abs=0.6),
            pytest.approx(100 * ends[1], abs=0.6),
        )
    bands = {name: row for name, row in printed.items() if "tokens" in name}
    assert len(bands) >= 3
    assert sum(row[3] for row in bands.values()) == 1_171
    table = podium.read_battles(str(place(log))).table
    assert set(table["human"]) == {1.0}


@pytest.mark.slow
@pytest.mark.parametrize("rejected", ["reject", "rejected"])
def test_a_pair_is_two_transcripts_of_one_query_in_both_orders(
    tmp_path, play, behave, record, rejected
):
    path = write_pairs(tmp_path / "pairs.jsonl", {"safety_refusal": 6}, rejected)
    log = play(recorded_task(battles=path), behave(scripted=fallible))
    [sample] = [sample for sample in battles(log) if sample.metadata["item"] == "u00001"]
    assert sample.metadata["instruction"] == f"Do task 1.\n\n{TOOLS_TEXT}"
    assert sample.metadata["category"] == "safety_refusal"
    assert (sample.metadata["model_a"], sample.metadata["model_b"]) == ("chosen", "rejected")
    assert pieces_in(sample.metadata["response_a"])[-1] == ("answer", "Done well.")
    assert len(record.prompts) == 12
    assert all(
        prompt.count("Done well.") == prompt.count("Done badly.") == 1
        for _, prompt in record.prompts
    )


@pytest.mark.slow
def test_pairs_of_plain_texts_have_bands_of_answers(tmp_path, play, behave):
    rows = [
        {
            "id": k,
            "prompt": "Why?",
            "subset": "chat",
            "chosen": "Done well.",
            "rejected": "Done badly.",
        }
        for k in range(5)
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    log = play(recorded_task(battles=str(path), show="answer"), behave(scripted=lambda prompt: "A"))
    table = preference_report(podium.read_battles(str(place(log)))).table
    assert [(row[0], row[1]) for row in table.rows] == [
        ("all", "0.0%"),
        ("chat", "0.0%"),
        ("up to 1,000 tokens", "0.0%"),
    ]


@pytest.mark.parametrize("form", ["lists", "json", "python", "json in an object", "parquet"])
def test_messages_may_be_text_and_the_system_prompt_is_kept(tmp_path, form):
    sides = {}
    for name, answer in (("chosen", "Done well."), ("rejected", "Done badly.")):
        messages = [
            {"role": "system", "content": "Be brief."},
            *chat("Do it.", 1, answer)["messages"],
        ]
        texts = {"json": json.dumps(messages), "python": repr(messages)}
        sides[name] = texts.get(form, {"messages": messages})
        sides[name] = json.dumps(sides[name]) if form == "json in an object" else sides[name]
    row = {
        "uuid": "u",
        "query": "Do it.",
        "tools": json.dumps(TOOLS) if "json" in form else TOOLS,
        **sides,
    }
    path = tmp_path / ("pairs.parquet" if form == "parquet" else "pairs.jsonl")
    if form == "parquet":
        pd.DataFrame([row]).to_parquet(path)
    else:
        path.write_text(json.dumps(row))
    pairs = read_pairs([str(path)], Show("auto"))
    [item] = pairs.items
    assert item.system == "Be brief."
    assert item.instruction == f"Do it.\n\n{TOOLS_TEXT}"
    names = ["call 1.1", "result 1.1", "answer"]
    assert all(
        [name for name, _ in pieces_in(pairs.texts[side]["u"])] == names
        for side in ("chosen", "rejected")
    )


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "shown"), [({}, True), ({"system": False}, False)])
def test_the_system_prompt_of_a_pair_is_part_of_the_question(
    tmp_path, play, behave, record, typed, shown
):
    sides = {
        name: chat("Do it.", 0, f"Done {name}.")["messages"] for name in ("chosen", "rejected")
    }
    rows = {
        name: [{"role": "system", "content": "Be brief."}, *messages]
        for name, messages in sides.items()
    }
    (tmp_path / "pairs.jsonl").write_text(json.dumps({"uuid": "u", "query": "Do it.", **rows}))
    play(
        recorded_task(battles=str(tmp_path / "pairs.jsonl"), **typed),
        behave(scripted=lambda prompt: "A"),
    )
    assert {"Be brief." in prompt for _, prompt in record.prompts} == {shown}


@pytest.mark.parametrize(
    ("query", "instruction"),
    [
        ("Do it.", "Do it."),
        (None, "Do it."),
        ("Do it. Now.", "Do it. Now."),
        ("Task 7:", "Task 7:\n\nDo it."),
    ],
)
def test_a_query_and_the_first_message_of_the_user_are_shown_once_each(
    tmp_path, query, instruction
):
    path = tmp_path / "pairs.jsonl"
    sides = {name: chat("Do it.", 0, "Done.") for name in ("chosen", "rejected")}
    path.write_text(json.dumps({"uuid": "u", "query": query, **sides}))
    assert [item.instruction for item in read_pairs([str(path)], Show("auto")).items] == [
        instruction
    ]


def test_pairs_that_share_an_id_are_items_of_their_own(tmp_path):
    path = tmp_path / "pairs.jsonl"
    rows = [
        {"uuid": "u", "query": f"Do {k}.", "chosen": "Yes.", "rejected": "No."} for k in range(3)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    pairs = read_pairs([str(path)], Show("auto"))
    assert {item.id: item.instruction for item in pairs.items} == {
        "u": "Do 0.",
        "u#2": "Do 1.",
        "u#3": "Do 2.",
    }
    assert notice_texts(pairs.notes) == (
        "2 pairs have the id of an earlier pair; each is an item of its own",
    )


def test_a_side_without_messages_is_named(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text(
        json.dumps(
            {"uuid": "u", "query": "Why?", "chosen": {"messages": [3]}, "reject": {"messages": []}}
        )
    )
    with pytest.raises(DataError, match=r"pairs.jsonl, line 1: message 1 has the role None"):
        recorded_task(battles=str(path))


@pytest.mark.parametrize(
    ("tools", "shown"),
    [
        ([json.dumps(tool) for tool in TOOLS], TOOLS_TEXT),
        (TOOLS[0], TOOLS_TEXT),
        (
            ["lookup", {"type": "web_search"}],
            'Tools that could be called:\nlookup\n{"type": "web_search"}',
        ),
        ("lookup(page)", "Tools that could be called:\nlookup(page)"),
        ([], ""),
        (None, ""),
        (" ", ""),
    ],
)
def test_no_tool_is_left_out_of_the_instruction(tmp_path, tools, shown):
    sides = {"chosen": "Done well.", "rejected": "Done badly."}
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps({"uuid": "u", "query": "Do it.", "tools": tools, **sides}))
    [item] = read_pairs([str(path)], Show("auto")).items
    assert item.instruction == "\n\n".join(filter(None, ["Do it.", shown]))
