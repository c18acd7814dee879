"""A row per response, in JSONL, JSON or CSV."""

from pathlib import Path

import pytest

import podium
from podium.notices.notice_text import notice_texts
from podium.responses.answers import QuestionRow, build_response, id_of, stem
from podium.responses.read import read_responses

ROWS = [
    {"id": "q1", "instruction": "Say hi.", "response": "Hi."},
    {"id": "q2", "instruction": "Count to three.", "response": "1 2 3"},
]


def test_a_file_without_a_model_column_is_the_model_that_its_name_says(save):
    read = read_responses(save("wren.jsonl", ROWS))
    assert read.models == ("wren",)
    assert read.texts["wren"] == {"q1": "Hi.", "q2": "1 2 3"}


def test_a_label_names_the_model(save):
    assert read_responses(f"lark={save('wren.jsonl', ROWS)}").models == ("lark",)


def test_a_label_wins_over_the_one_name_in_a_file(save):
    rows = [{**row, "model": "wren"} for row in ROWS]
    assert read_responses(f"lark={save('a.jsonl', rows)}").models == ("lark",)


def test_model_column_separates_models(save):
    rows = [{**row, "model": name} for row in ROWS for name in ("wren", "lark")]
    assert read_responses(save("all.jsonl", rows)).models == ("lark", "wren")


def test_a_label_on_a_file_of_two_models_is_rejected_with_the_remedy(save):
    rows = [{**row, "model": name} for row in ROWS for name in ("wren", "lark")]
    with pytest.raises(
        podium.UsageError, match=r"all\.jsonl.*'mine'.*lark, wren.*leave the label out"
    ):
        read_responses(f"mine={save('all.jsonl', rows)}")


def test_items_keep_the_order_of_the_file(save):
    read = read_responses(save("wren.jsonl", ROWS[::-1]))
    assert [one.id for one in read.items] == ["q2", "q1"]


def test_csv_is_read_like_jsonl(save):
    path = save("wren.csv", 'item,prompt,output,model\nq1,Say hi.,"Hi,\nyou.",wren\n')
    read = read_responses(path)
    assert (read.texts["wren"]["q1"], read.items[0].instruction) == ("Hi,\nyou.", "Say hi.")


def test_an_empty_cell_of_a_csv_is_an_empty_response(save):
    path = save("wren.csv", "id,instruction,response\nq1,Say hi.,\nq2,Say bye.,Bye.\n")
    assert read_responses(path).missing["wren"] == {"q1": "empty response"}


@pytest.mark.parametrize("response", ["", " \n", None])
def test_an_empty_response_is_missing_with_its_reason_and_no_text(save, response):
    read = read_responses(save("wren.jsonl", [ROWS[0], {**ROWS[1], "response": response}]))
    assert read.missing["wren"] == {"q2": "empty response"}
    assert "q2" not in read.texts["wren"]


def test_a_row_with_an_error_is_errored_whatever_its_response(save):
    rows = [{**ROWS[0], "error": None}, {**ROWS[1], "error": "429 Too Many Requests"}]
    read = read_responses(save("wren.jsonl", rows))
    assert (read.missing["wren"], list(read.texts["wren"])) == ({"q2": "errored"}, ["q1"])


def test_the_text_of_an_error_is_not_repeated(save):
    read = read_responses(save("wren.jsonl", [ROWS[0], {**ROWS[1], "error": "bad key sk-123"}]))
    assert "sk-123" not in repr(read) + str(read.missing) + str(notice_texts(read.notes))


def test_ids_that_are_numbers_are_written_as_such(save):
    rows = [{"id": k, "instruction": f"Say {k}.", "response": "x"} for k in (1, 2)]
    assert [one.id for one in read_responses(save("wren.jsonl", rows)).items] == ["1", "2"]


def test_without_ids_items_are_known_by_their_instruction(save):
    rows = [{key: row[key] for key in ("instruction", "response")} for row in ROWS]
    read = read_responses(save("wren.jsonl", rows), save("lark.jsonl", rows[::-1]))
    assert read.texts["wren"] == read.texts["lark"]


def test_category_reference_and_system_come_along(save):
    rows = [{**ROWS[0], "category": "chat", "reference": "Hello.", "system": "Be brief."}]
    item = read_responses(save("wren.jsonl", rows)).items[0]
    assert (item.category, item.reference, item.system) == ("chat", "Hello.", "Be brief.")


def test_a_response_that_is_no_text_names_file_row_value_and_remedy(save):
    with pytest.raises(podium.DataError) as caught:
        read_responses(save("wren.jsonl", [ROWS[0], {**ROWS[1], "response": {"text": "1 2 3"}}]))
    message = str(caught.value)
    assert [
        word
        for word in ("wren.jsonl", "line 2", "1 2 3", "Remedy", "string")
        if word not in message
    ] == []


def test_two_columns_that_could_be_the_instruction_are_rejected(save):
    with pytest.raises(
        podium.UsageError, match="instruction and input could each be the instruction"
    ):
        read_responses(save("wren.jsonl", [{**ROWS[0], "input": "more"}]))


def test_a_row_without_id_and_instruction_names_its_place(save):
    with pytest.raises(podium.DataError, match=r"line 2: no id and no instruction"):
        read_responses(save("wren.jsonl", [ROWS[0], {"response": "lost"}]))


def test_a_file_of_instructions_gives_what_the_responses_lack(save):
    asked = save("asked.jsonl", [{"id": "q1", "instruction": "Say hi.", "category": "chat"}])
    read = read_responses(asked, save("wren.jsonl", [{"id": "q1", "response": "Hi."}]))
    assert (read.items[0].instruction, read.items[0].category, read.models) == (
        "Say hi.",
        "chat",
        ("wren",),
    )


def test_responses_without_any_instruction_are_an_error_that_says_what_to_give(save):
    with pytest.raises(
        podium.DataError, match=r"wren\.jsonl.*'q1' has no instruction.*give the questions too"
    ):
        read_responses(save("wren.jsonl", [{"id": "q1", "response": "Hi."}]))


def test_items_without_responses_are_left_out_and_reported(save):
    asked = save("asked.jsonl", [{"id": f"q{k}", "instruction": f"Say {k}."} for k in (1, 2, 3)])
    read = read_responses(asked, save("wren.jsonl", [{"id": "q2", "response": "2"}]))
    assert [one.id for one in read.items] == ["q2"]
    assert notice_texts(read.notes) == ("2 questions without a response were left out: q1, q3",)


def test_a_file_of_something_else_says_its_columns_and_what_would_do(save):
    with pytest.raises(
        podium.DataError, match=r"b\.csv: no responses in the columns model_a, model_b.*Remedy"
    ):
        read_responses(save("b.csv", "model_a,model_b\nx,y\n"))


def test_a_file_of_a_header_alone_says_that_no_row_is_below_it(save):
    with pytest.raises(
        podium.DataError, match=r"b\.csv: no row below the header id, model, response.*Remedy"
    ):
        read_responses(save("b.csv", "id,response,model\n"))


def test_ids_and_names_of_models_are_made_of_texts_and_paths() -> None:
    assert build_response(QuestionRow("q1", "Say hi."), "wren", " ").reason == "empty response"
    assert id_of("Say hi.") == "i-e276e57b8ac9"
    assert stem(Path("runs/wren-1.5.jsonl.gz")) == "wren-1.5"


def test_a_folder_without_responses_names_the_columns_that_a_file_has(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("prompt_id,prompt,completion\n1,Why?,So.\n")
    with pytest.raises(podium.UsageError, match="no responses in") as error:
        podium.responses.read.read_responses(tmp_path)
    assert "no responses in the columns completion, prompt, prompt_id" in str(error.value)
    assert str(error.value).count("Remedy") == 1
