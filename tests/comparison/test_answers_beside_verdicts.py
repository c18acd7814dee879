"""Identical answers are counted where the file of verdicts holds the answers of both models."""

import json

import pandas as pd
import pytest

import podium as api

ITEMS = 12
IDENTICAL = 3


def answers(k):
    """Return the answers of m and base to an item; those of the first items are identical."""
    return ("same", "same") if k < IDENTICAL else (f"a{k}", f"b{k}")


def credit(k):
    return 0.5 if k < IDENTICAL else float(k % 3 > 0)


def winner(k, words):
    """Return the word for a win of m, a tie or a win of base."""
    return words[int(2 * credit(k))]


def own(k, names=("response_a", "response_b")):
    texts = dict(zip(names, answers(k), strict=True))
    return {"item": f"q{k}", "model_a": "m", "model_b": "base", "credit": credit(k)} | texts


def numbered(k):
    return own(k, ("output_1", "output_2"))


def wildbench(k):
    said, other = answers(k)
    return {
        "session_id": f"q{k}",
        "generator": "m",
        "ref_generator": "base",
        "assignment": {"A": "m", "B": "base"},
        "parsed_result": {"choice": winner(k, ("B+", "A=B", "A+"))},
        "model_output": [said],
        "ref_output": other,
    }


def wildbench_published(k):
    said, other = answers(k)
    return {
        "session_id": f"q{k}",
        "model_A": "m",
        "model_B": "base",
        "parsed_result": {"choice": winner(k, ("B+", "A=B", "A+"))},
        "model_outputs": {"m": said, "base": other},
    }


def alpaca(k):
    said, other = answers(k)
    row = {"instruction": f"q{k}", "generator_1": "base", "generator_2": "m", "annotator": "j"}
    return row | {"preference": 1 + credit(k), "output_1": other, "output_2": said}


def conversation(text, mark):
    """Return messages; what the user wrote and the facts about a message do not count."""
    asked = {"role": "user", "content": f"question {mark}"}
    return [asked, {"role": "assistant", "content": text, "metadata": {"id": mark}}]


def in_parts(text, mark):
    parts = [{"type": "text", "text": text}]
    asked = {"role": "user", "content": [{"type": "text", "text": f"question {mark}"}]}
    return [asked, {"role": "assistant", "content": parts}]


def arena(k, write=conversation):
    said, other = answers(k)
    return {
        "question_id": f"q{k}",
        "model_a": "m",
        "model_b": "base",
        "winner": winner(k, ("model_b", "tie", "model_a")),
        "judge": "j",
        "conversation_a": write(said, "a"),
        "conversation_b": write(other, "b"),
    }


def arena_in_parts(k):
    return arena(k, in_parts)


def comparia(k):
    said, other = answers(k)
    return {
        "id": f"q{k}",
        "model_a_name": "m",
        "model_b_name": "base",
        "chosen_model_name": winner(k, ("base", None, "m")),
        "both_equal": k < IDENTICAL,
        "conversation_a": conversation(said, "a"),
        "conversation_b": conversation(other, "b"),
    }


FORMS = (
    *(own, numbered, wildbench, wildbench_published, alpaca),
    *(arena, arena_in_parts, comparia),
)


def write(rows, path):
    if path.suffix == ".json":
        path.write_text(json.dumps(rows))
    elif path.suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    else:
        pd.DataFrame(rows).to_csv(path, index=False)
    return path


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("suffix", ["json", "parquet"])
@pytest.mark.parametrize("form", FORMS)
def test_identical_answers_are_counted(tmp_path, form, suffix):
    found = api.compare("m", "base", write([*map(form, range(ITEMS))], tmp_path / f"v.{suffix}"))
    assert found.findings[0].tally == (6, 3, 3)
    assert found.findings[0].identical == IDENTICAL
    assert found.unknown_answers is None


@pytest.mark.slow
@pytest.mark.parametrize("form", [own, numbered, alpaca, arena, arena_in_parts])
def test_identical_answers_are_counted_in_csv_and_data_frames(tmp_path, form):
    rows = [*map(form, range(ITEMS))]
    for source in (write(rows, tmp_path / "v.csv"), pd.DataFrame(rows)):
        assert api.compare("m", "base", source).findings[0].identical == IDENTICAL


def test_the_command_counts_them_and_tells_no_reason(podium, tmp_path):
    done = podium(
        "compare", "m", "base", write([*map(wildbench, range(ITEMS))], tmp_path / "v.json")
    )
    assert "on 3 of the ties the answers are identical" in " ".join(done.out.split())
    assert "not counted" not in done.out


def test_an_item_counts_only_if_all_its_rows_have_identical_answers(tmp_path):
    rows = [own(k) for k in range(ITEMS)]
    rows += [own(k) | {"repeat": 2, "response_b": "other"} for k in range(2)]
    path = write([{"repeat": 1} | row for row in rows], tmp_path / "v.json")
    assert api.compare("m", "base", path).findings[0].identical == IDENTICAL - 2


@pytest.mark.parametrize("missing", [None, ""])
def test_answers_that_are_missing_are_not_identical(tmp_path, missing):
    rows = [own(k) for k in range(ITEMS)]
    rows[0] |= {"response_a": missing, "response_b": missing}
    found = api.compare("m", "base", write(rows, tmp_path / "v.json"))
    assert found.findings[0].identical == IDENTICAL - 1


def test_without_answers_of_the_two_the_reason_stays(tmp_path):
    rows = [own(k) | {"response_a": None, "response_b": None} for k in range(ITEMS)]
    rows += [own(k) | {"model_b": "third"} for k in range(ITEMS)]
    found = api.compare("m", "base", write(rows, tmp_path / "v.json"))
    assert found.findings[0].identical is None
    assert "no answers were found" in found.unknown_answers


def test_the_comparison_of_conversations_leaves_no_column(tmp_path):
    path = write([*map(arena, range(ITEMS))], tmp_path / "v.json")
    columns = {*api.read_battles(path).to_frame()}
    assert not {"answers_are_the_same", "conversation_a"} & columns
    assert {"length_a", "length_b"} <= columns


@pytest.mark.slow
def test_a_malformed_line_beside_scores_does_not_hide_identical_answers(tmp_path):
    """The reader of scores leaves the line out and names it, and so does that of answers."""
    rows = []
    for k in range(120):
        for name, said in zip(("m", "base"), answers(k), strict=True):
            row = {"item": f"q{k}", "instruction": f"Say {k}.", "model": name}
            rows.append(row | {"score": float(k % 2), "response": said})
    lines = [json.dumps(row) for row in rows]
    path = tmp_path / "scores.jsonl"
    path.write_text("\n".join([*lines[:50], '{"item": "q9', *lines[50:]]))
    found = api.compare("m", "base", str(path))
    assert found.unknown_answers is None
    assert found.findings[0].identical == IDENTICAL
    assert [notice.code for notice in found.lost] == ["bad-rows"]
    with pytest.raises(api.DataError, match="line 51"):
        api.compare("m", "base", str(path), responses=str(path))
