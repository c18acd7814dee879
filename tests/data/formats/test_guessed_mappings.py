"""Files of battles in no known format: the mapping that the error prints reads them."""

import json
import random
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
import yaml

import podium

MODELS = ("alpha", "beta", "gamma")
CREDITS = {"a": 1.0, "b": 0.0, "t": 0.5}


def drawn_battles(outcomes="abt"):
    """Return 24 battles as tuples of number, model a, model b and outcome."""
    rng = random.Random(47)
    return [(k, *rng.sample(MODELS, 2), outcomes[k % len(outcomes)]) for k in range(24)]


BATTLES = drawn_battles()
DECIDED = drawn_battles("aab")


def of_log(k, a, b, won):
    word = {"a": "leftvote", "b": "rightvote", "t": "bothbad_vote"}[won]
    states = [{"model_name": a, "conv_id": f"x{k}"}, {"model_name": b, "conv_id": f"y{k}"}]
    return {"tstamp": k / 7, "type": word, "models": [a, b], "states": states}


def of_sides(k, a, b, won):
    word = {"a": "left", "b": "right", "t": "tie"}[won]
    return {"model_left": a, "model_right": b, "winner": word, "comment": f"no. {k}"}


def of_methods(k, a, b, won):
    word = {"a": "A", "b": "B", "t": "draw"}[won]
    return {"methodA": a, "methodB": b, "answerValue": word, "answerer": f"u{k % 4}"}


def of_score_lists(k, a, b, won):
    scores = {"a": [8, 5.5], "b": [3, 6], "t": [7, 7]}[won]
    return {"question_id": k, "answer1_body": f"{k} x", "answer2_body": f"{k} y"} | {
        "answer1_model_id": a,
        "answer2_model_id": b,
        "score": scores,
    }


def of_objects(k, a, b, won):
    sides = {"a": {"model": a, "text": f"{k} x"}, "b": {"model": b, "text": f"{k} y"}}
    return {"prompt": f"p{k}", **sides, "judgement": {"winner": {"t": "tie"}.get(won, won)}}


def of_columns(k, a, b, won):
    word = {"a": "System 1", "b": "System 2", "t": "tie"}[won]
    return {"id": k, "System 1": a, "System 2": b, "Preferred": word}


def of_labels(k, a, b, won):
    word = {"a": "left", "b": "right", "t": "both"}[won]
    return {"id": k, "answer_a_model": a, "answer_b_model": b, "comparison": word}


def of_names(k, a, b, won):
    return {
        "question": f"q{k}",
        "candidate_1": a,
        "candidate_2": b,
        "better": {"a": a, "b": b, "t": "tie"}[won],
    }


def of_winners(k, a, b, won):
    winner, loser = (b, a) if won == "b" else (a, b)
    return {"prompt_id": k, "winner": winner, "loser": loser}


def of_chosen(k, a, b, won):
    chosen, rejected = (b, a) if won == "b" else (a, b)
    return {"prompt": f"p{k}", "chosen_model": chosen, "rejected_model": rejected}


def of_comparia(k, a, b, won):
    row = {"model_a_name": a, "model_b_name": b, "conversation_pair_id": f"p{k}"}
    return {**row, "chosen_model_name": {"a": a, "b": b, "t": None}[won]}


def of_counts(_, a, b, won):
    counts = {"wins_x": int(won == "a"), "wins_y": int(won == "b"), "draws": int(won == "t")}
    return {"model_x": a, "model_y": b, **counts}


def of_short_counts(_, a, b, won):
    return {"player1": a, "player2": b, "w1": int(won == "a"), "w2": int(won == "b")}


SHAPES = {
    "log of votes": (of_log, BATTLES, "jsonl"),
    "sides": (of_sides, BATTLES, "csv"),
    "methods": (of_methods, BATTLES, "csv"),
    "lists of scores": (of_score_lists, BATTLES, "jsonl"),
    "objects": (of_objects, BATTLES, "json"),
    "objects in columns": (of_objects, BATTLES, "parquet"),
    "labels": (of_labels, BATTLES, "csv"),
    "names of columns": (of_columns, BATTLES, "csv"),
    "names": (of_names, BATTLES, "csv"),
    "winner and loser": (of_winners, DECIDED, "csv"),
    "chosen and rejected": (of_chosen, DECIDED, "jsonl"),
    "counts": (of_counts, BATTLES, "csv"),
    "counts without ties": (of_short_counts, DECIDED, "jsonl"),
    "winner by name without ties": (of_comparia, DECIDED, "csv"),
}


def in_one_order(battles):
    """Return the sorted battles with the names sorted, and the credit of the first name."""
    return sorted((a, b, c) if a < b else (b, a, 1 - c) for a, b, c in battles)


def truth_of(battles):
    return in_one_order((a, b, CREDITS[won]) for _, a, b, won in battles)


def printed_mapping(path):
    """Return the mapping in the error for a file, as text, and the options in it as typed."""
    with pytest.raises(podium.DataError) as caught:
        podium.read_battles(path)
    message = str(caught.value)
    return re.search(r"podium\.yaml: (\{.*\})", message)[1], message


def battles_in(path):
    table = podium.read_battles(path).to_frame()
    return in_one_order(zip(table["model_a"], table["model_b"], table["credit"], strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_the_mapping_in_the_error_reads_the_file(save, shape):
    row, battles, suffix = SHAPES[shape]
    rows = [row(*battle) for battle in battles]
    if suffix == "csv":
        lines = [",".join(rows[0])]
        lines += [",".join("" if one is None else str(one) for one in r.values()) for r in rows]
        rows = "\n".join(lines) + "\n"
    path = Path(save(f"votes.{suffix}", rows))
    mapping, _ = printed_mapping(path)
    assert "?" not in mapping
    path.with_name("votes.podium.yaml").write_text(mapping, encoding="utf-8")
    assert battles_in(path) == truth_of(battles)


def test_lists_of_two_names_leave_open_which_won(save):
    """The user writes 1 for the credit if the first of both won."""
    pairs = [[b, a] if won == "b" else [a, b] for _, a, b, won in DECIDED]
    path = Path(save("votes.json", pairs))
    mapping, message = printed_mapping(path)
    assert "--columns model_a=0,model_b=1 --fill 'credit=?'" in message
    filled = mapping.replace('"?"', "1")
    path.with_name("votes.podium.yaml").write_text(filled, encoding="utf-8")
    assert battles_in(path) == truth_of(DECIDED)


def test_lists_with_a_header_are_records(save):
    rows = [["model_a", "model_b", "credit"], ["x", "y", 1], ["y", "x", 0.5]]
    table = podium.read_battles(save("votes.json", rows)).to_frame()
    assert table["credit"].tolist() == [1.0, 0.5]


def test_numbers_as_verdicts_have_no_guessed_credit(save):
    """0 may be the place of the winner, and 3 the end of a scale."""
    rows = [{"pair": [a, b], "winner": {"a": 0, "b": 1}[won]} for _, a, b, won in DECIDED]
    mapping, _ = printed_mapping(save("votes.json", rows))
    assert yaml.safe_load(mapping)["credit_map"] == {0: "?", 1: "?"}


def test_texts_of_answers_are_no_models(save):
    rows = [
        {"prompt": f"p{k}", "response_a": f"{k} x", "response_b": f"{k} y", "label": "a"}
        for k in range(9)
    ]
    mapping, _ = printed_mapping(save("votes.json", rows))
    assert yaml.safe_load(mapping)["columns"]["model_a"] == "?"


def test_scores_in_objects_are_named_by_their_path(save):
    rows = [
        {"traceId": f"t{k // 2}", "value": k % 3, "metadata": {"model": MODELS[k % 2]}}
        for k in range(12)
    ]
    path = Path(save("scores.jsonl", rows))
    mapping, _ = printed_mapping(path)
    path.with_name("scores.podium.yaml").write_text(mapping, encoding="utf-8")
    table = podium.read_battles(path).to_frame()
    assert table["credit"].tolist() == [
        0.5 * (1 + (x > y) - (x < y)) for x, y in zip(*SCORES, strict=True)
    ]


SCORES = ([k % 3 for k in range(0, 12, 2)], [k % 3 for k in range(1, 12, 2)])
"""Scores of the first and of the second model."""


def test_the_scores_of_one_model_in_objects_have_a_command(save):
    rows = [{"sample_id": f"s{k}", "data": {"correct": k % 3 == 0}} for k in range(6)]
    path = Path(save("one.jsonl", rows))
    with pytest.raises(podium.DataError, match=r"--columns item=sample_id,score=data\.correct"):
        podium.read_battles(path)


def test_a_place_in_a_list_is_a_path(save):
    rows = [{"item": json.dumps(k), "pair": ["x", "y"], "credit": 1} for k in range(3)]
    columns = {"model_a": "pair.0", "model_b": "pair.1"}
    for suffix in ("jsonl", "parquet"):
        table = podium.read_battles(save(f"v.{suffix}", rows), columns=columns).to_frame()
        assert {*table["model_a"]} == {"x"}
        assert {*table["model_b"]} == {"y"}


def test_a_key_that_is_a_number_comes_before_a_place(save):
    rows = [{"item": k, "pair": {"0": "x", "1": "y"}, "credit": 1} for k in range(3)]
    columns = {"model_a": "pair.0", "model_b": "pair.1"}
    table = podium.read_battles(save("v.jsonl", rows), columns=columns).to_frame()
    assert {*table["model_a"]} == {"x"}


def test_truth_values_in_objects_are_scores(save):
    rows = [
        {"item": k // 2, "model": MODELS[k % 2], "data": {"correct": k % 4 == 0}} for k in range(8)
    ]
    columns = {"score": "data.correct"}
    table = podium.read_battles(save("v.jsonl", rows), columns=columns).to_frame()
    assert table["credit"].tolist() == [1.0, 0.5] * 2


@pytest.mark.slow
@pytest.mark.parametrize("column", ["shown_first", "assignment"])
def test_a_guess_turns_the_verdicts_where_the_second_model_is_a(tmp_path, column):
    rows = []
    for k, a, b, won in BATTLES:
        first, second = (a, b) if k % 2 else (b, a)
        side = {"t": "tie", "a": "A" if first == a else "B", "b": "A" if first == b else "B"}[won]
        shown = {"A": first, "B": second} if column == "assignment" else first
        rows.append({"prompt": f"p{k}", "sys1": a, "sys2": b, column: shown, "pick": side})
    path = tmp_path / "votes.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(podium.DataError) as error:
        podium.read_battles(path)
    mapping = str(error.value).partition("votes.podium.yaml: ")[2]
    (tmp_path / "votes.podium.yaml").write_text(mapping)
    frame = podium.read_battles(path).to_frame()
    expected = {f"p{k}": (a, CREDITS[won]) for k, a, _, won in BATTLES}
    for item, a, credit in zip(frame["item"], frame["model_a"], frame["credit"], strict=True):
        model, credit_of_model = expected[item]
        assert credit == (credit_of_model if a == model else 1 - credit_of_model)


def test_a_column_of_names_beside_numbers_is_guessed_to_be_the_items(save):
    rows = [{"Case": f"c{k}", "x": k / 8, "y": (k % 3) / 3} for k in range(8)]
    path = Path(save("scores.csv", "Case,x,y\n" + _lines(rows)))
    mapping, message = printed_mapping(path)
    assert "if each row is an item and each other column a model" in message
    path.with_name("scores.podium.yaml").write_text(mapping, encoding="utf-8")
    assert podium.read_battles(path).models == ("x", "y")


def test_names_that_repeat_are_not_guessed_to_be_items(save):
    rows = [{"group": f"g{k // 2}", "x": k / 8, "y": (k % 3) / 3} for k in range(8)]
    mapping, _ = printed_mapping(save("scores.csv", "group,x,y\n" + _lines(rows)))
    assert "item" not in mapping


def _lines(rows):
    return "".join(",".join(map(str, row.values())) + "\n" for row in rows)


@pytest.mark.parametrize(
    "names", [("Model 1", "Model 2", "The Winner"), ("it's 1", "it's 2", "winner; $x")]
)
def test_the_options_in_the_error_can_be_pasted_into_a_shell(save, names):
    first, second, verdict = names
    rows = [{first: a, second: b, verdict: won} for _, a, b, won in BATTLES]
    path = save("votes.jsonl", rows)
    _, message = printed_mapping(path)
    words = shlex.split(re.search(r"(--columns .*?); `podium list", message)[1])
    assert words[0] == "--columns"
    assert words[1] == f"model_a={first},model_b={second},credit={verdict}"


def test_no_option_is_printed_for_columns_that_it_cannot_name(save):
    words = {"a": "left", "b": "right", "t": "tie"}
    rows = [{"model, 1": a, "model, 2": b, "winner": words[won]} for _, a, b, won in BATTLES]
    path = Path(save("votes.jsonl", rows))
    mapping, message = printed_mapping(path)
    assert "--columns" not in message
    path.with_name("votes.podium.yaml").write_text(mapping, encoding="utf-8")
    assert battles_in(path) == truth_of(BATTLES)


NUMBERS = [[0.1 * k, 1 - 0.1 * k] for k in range(12)]


def save_numbers(tmp_path, names, rows, suffix):
    frame = pd.DataFrame(rows, columns=names)
    path = tmp_path / f"numbers.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records")
    return path


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("suffix", ["csv", "json"])
@pytest.mark.parametrize("names", [["x", "y"], ["gpt-4", "claude"], ["left", "right"]])
def test_a_table_of_numbers_alone_lacks_a_column_of_items(tmp_path, names, suffix):
    path = save_numbers(tmp_path, names, NUMBERS, suffix)
    with pytest.raises(podium.DataError) as caught:
        podium.read_battles(path)
    said = str(caught.value)
    assert "if each row is an item and each column a model, add a column item" in said
    assert "--columns" not in said
    assert "podium.yaml" not in said
    rows = [[f"q{k}", *row] for k, row in enumerate(NUMBERS)]
    named = save_numbers(tmp_path, ["item", *names], rows, suffix)
    assert podium.read_battles(named).models == tuple(sorted(names))


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("suffix", ["csv", "json"])
@pytest.mark.parametrize("name", ["id", "n"])
def test_numbered_items_of_a_table_of_numbers_are_a_mapping_that_works(tmp_path, name, suffix):
    rows = [[k, *row] for k, row in enumerate(NUMBERS)]
    path = save_numbers(tmp_path, [name, "x", "y"], rows, suffix)
    with pytest.raises(podium.DataError, match=f"name the items: --columns item={name}"):
        podium.read_battles(path)
    battles = podium.read_battles(path, columns={"item": name})
    assert (battles.models, len(battles)) == (("x", "y"), 12)
