"""Responses of tables and samples files are joined by what was asked, not by ids alone."""

import random
from dataclasses import replace
from hashlib import sha256

import pandas as pd
import pytest
from lm_eval_output import TIME

from podium.errors import DataError, OtherQuestionError, UsageError
from podium.notices.notice_text import notice_texts
from podium.responses.answers import QuestionRow, ResponseRow
from podium.responses.question_pairing import pair_rows
from podium.responses.read import read_responses

QUESTIONS = [f"What is {k} times 7?" for k in range(8)]
OTHERS = [f"Name {k} rivers." for k in range(8)]


def rows(model, questions=QUESTIONS, **more):
    return [
        {"id": f"q{k}", "instruction": asked, "response": f"{model}: {asked}", "model": model}
        | more
        for k, asked in enumerate(questions)
    ]


def asked_by_item(read):
    """Return, by model, the question in each answer by item."""
    return {
        name: {key: text.partition(": ")[2] for key, text in texts.items()}
        for name, texts in read.texts.items()
    }


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
@pytest.mark.parametrize("seed", range(3))
def test_shuffled_ids_of_tables_are_paired_by_instruction(save, seed, suffix):
    shuffled = random.Random(seed).sample(QUESTIONS, len(QUESTIONS))
    tables = {"a": rows("a"), "b": rows("b", shuffled)}
    if suffix == "csv":
        tables = {name: pd.DataFrame(own).to_csv(index=False) for name, own in tables.items()}
    paths = [save(f"{name}.{suffix}", own) for name, own in tables.items()]
    read = read_responses(*paths)
    asked = asked_by_item(read)
    assert asked["a"] == asked["b"] == {item.id: item.instruction for item in read.items}
    texts = notice_texts(read.notes)
    assert [text for text in texts if "so items are paired by input" in text] == [*texts]
    assert read.digest() == read_responses(*reversed(paths)).digest()


def test_names_of_models_and_files_do_not_change_the_ids_of_shuffled_items(save):
    shuffled = [*reversed(QUESTIONS)]
    one = read_responses(save("1/a.jsonl", rows("a")), save("1/b.jsonl", rows("b", shuffled)))
    two = read_responses(save("2/a.jsonl", rows("z")), save("2/b.jsonl", rows("b", shuffled)))
    assert {*one.items} == {*two.items}


def test_one_other_instruction_is_met_by_no_other_response(save):
    changed = [*QUESTIONS[:-1], "What is 7 times 9?"]
    read = read_responses(save("a.jsonl", rows("a")), save("b.jsonl", rows("b", changed)))
    asked = asked_by_item(read)
    shared = asked["a"].keys() & asked["b"].keys()
    assert {asked["a"][key] for key in shared} == {*QUESTIONS[:-1]}
    assert read.questions[0].unshared == {"a": 1, "b": 1}


def test_no_shared_instruction_is_an_error_that_names_files_id_and_both_texts(save):
    with pytest.raises(OtherQuestionError) as told:
        read_responses(save("a.jsonl", rows("a")), save("b.jsonl", rows("b", OTHERS)))
    assert told.value.exit_code == 1
    parts = ("a.jsonl", "b.jsonl", "line 1", "item 'q0'", "Name 0 rivers.", "What is 0 times 7?")
    assert [part for part in (*parts, "allow='questions'") if part not in str(told.value)] == []


def test_the_error_can_be_accepted_by_name_and_the_shortest_instruction_is_shown(save):
    paths = [save("a.jsonl", rows("a")), save("b.jsonl", rows("b", OTHERS, reference="Rhine"))]
    read = read_responses(*paths, allow=["questions"])
    assert [item.instruction for item in read.items] == OTHERS
    assert read.accepted[0].startswith("Accepted with allow='questions': ")
    assert any("8 items have different instructions" in text for text in notice_texts(read.notes))
    with pytest.raises(UsageError, match="no finding has this name"):
        read_responses(*paths, allow=["question"])


def test_another_reference_answer_stays_an_error(save):
    paths = [
        save("a.jsonl", rows("a", reference="7")),
        save("b.jsonl", rows("b", reference="8")),
    ]
    with pytest.raises(OtherQuestionError, match="another reference"):
        read_responses(*paths)


def test_a_system_prompt_of_each_model_is_a_setting(save):
    paths = [
        save("a.jsonl", rows("a", system="Be brief.")),
        save("b.jsonl", rows("b", system="Be exact, please.")),
    ]
    read = read_responses(*paths)
    assert {item.system for item in read.items} == {"Be brief."}
    assert (
        "models were run with different settings: system instruction of the responses: "
        "Be brief. (a), Be exact, please. (b)"
    ) in notice_texts(read.notes)


def test_a_system_prompt_that_differs_on_one_item_alone_is_an_error(save):
    changed = rows("b", system="Be brief.")
    changed[3]["system"] = "Be exact."
    with pytest.raises(DataError, match="another system"):
        read_responses(save("a.jsonl", rows("a", system="Be brief.")), save("b.jsonl", changed))


def test_clean_tables_change_nothing_and_say_nothing(save):
    read = read_responses(save("a.jsonl", rows("a")), save("b.jsonl", rows("b")))
    assert (read.notes, read.runs, read.questions, read.accepted) == ((), (), (), ())
    assert [item.id for item in read.items] == [f"q{k}" for k in range(8)]


def test_a_model_in_several_files_may_be_asked_a_question_twice(save, tmp_path):
    first = rows("a", QUESTIONS[:4])
    again = [row | {"id": f"r{k}"} for k, row in enumerate(rows("a", QUESTIONS[:4]))]
    save("runs/1.jsonl", first)
    save("runs/2.jsonl", again)
    assert len(read_responses(tmp_path / "runs").items) == 8


def test_prompts_that_models_are_asked_keep_their_ids(save):
    shuffled = [*reversed(QUESTIONS)]
    prompts = [QuestionRow(f"p{k}", asked, source="p.jsonl") for k, asked in enumerate(QUESTIONS)]
    read = read_responses(
        save("a.jsonl", rows("a", shuffled)), prompts=prompts, on_demand=["lab/b"]
    )
    assert {item.id: item.instruction for item in read.items} == {
        f"p{k}": asked for k, asked in enumerate(QUESTIONS)
    }
    assert asked_by_item(read)["a"] == {f"p{k}": asked for k, asked in enumerate(QUESTIONS)}


def samples(model, dataset=""):
    return [
        {
            "doc_id": k,
            "doc": {"q": asked},
            "target": "x",
            "arguments": {"gen_args_0": {"arg_0": f"Q: {asked}", "arg_1": {"until": []}}},
            "resps": [[f"{model}: {asked}"]],
            "filtered_resps": [f"{model}: {asked}"],
            "filter": "none",
            "doc_hash": sha256(f"{dataset} {k}".encode()).hexdigest(),
            "metrics": [],
        }
        for k, asked in enumerate(QUESTIONS)
    ]


def write_run(save, model, *, shots=0, version="1.0", template=None, task="gsm", dataset=""):
    """Write the samples and the results of a run of lm-eval."""
    folder = model.replace("/", "__")
    results = {
        "model_name": model,
        "results": {task: {}},
        "configs": {task: {"num_fewshot": shots}},
        "n-shot": {task: shots},
        "versions": {task: version},
        "chat_template_sha": template,
        "config": {"model_args": {}},
    }
    save(f"out/{folder}/results_{TIME}.json", results)
    return save(f"out/{folder}/samples_{task}_{TIME}.jsonl", samples(model, dataset))


def test_runs_of_lm_eval_with_other_shots_are_warned_of(save, tmp_path):
    write_run(save, "org/a")
    write_run(save, "org/b", shots=5)
    read = read_responses(tmp_path / "out")
    text = "models were run with different settings: shots of gsm: 0 (org/a), 5 (org/b)"
    assert text in notice_texts(read.notes)
    assert [run.shots for run in read.runs] == [0, 5]
    assert [own.pairing for own in read.questions] == ["id"]


def test_chat_templates_of_their_own_are_a_note(save, tmp_path):
    write_run(save, "org/a", template="a" * 64)
    write_run(save, "org/b", template="b" * 64)
    notes = read_responses(tmp_path / "out").notes
    assert [(note.code, note.severity) for note in notes] == [("settings-differ", "note")]


def test_documents_of_another_version_are_paired_by_their_place(save, tmp_path):
    write_run(save, "org/a")
    write_run(save, "org/b", version="2.0", dataset="second")
    read = read_responses(tmp_path / "out")
    asked = asked_by_item(read)
    assert asked["org/a"] == asked["org/b"]
    texts = notice_texts(read.notes)
    assert "gsm: inputs differ between runs (task version), so items are paired by id" in texts
    assert any("task version of gsm: 1.0 (org/a), 2.0 (org/b)" in text for text in texts)


def test_other_documents_at_the_same_places_are_an_error_until_they_are_accepted(save, tmp_path):
    write_run(save, "org/a")
    write_run(save, "org/b", dataset="second")
    with pytest.raises(OtherQuestionError, match="the runs of gsm share no input") as told:
        read_responses(tmp_path / "out")
    assert "allow='questions'" in told.value.remedy
    read = read_responses(tmp_path / "out", allow=["questions"])
    asked = asked_by_item(read)
    assert asked["org/a"] == asked["org/b"]
    assert len(read.accepted) == 1


def test_two_settings_of_one_model_in_two_sources_are_two_models(save, tmp_path):
    for shots in (0, 5):
        write_run(save, "org/a", shots=shots)
        (tmp_path / "out").rename(tmp_path / f"out{shots}")
    read = read_responses(tmp_path / "out0", tmp_path / "out5")
    assert read.models == ("org/a (shots=0)", "org/a (shots=5)")
    assert [run.model for run in read.runs] == [*read.models]
    assert not [note for note in read.notes if note.code == "models-differ-in-setting"]


def chosen(model, place, choices, source):
    """Return a response to the question of multiple choice with an id."""
    question = QuestionRow(
        f"{place}", "Which is right?", source=source, row=f"sample {place}", choices=choices
    )
    return ResponseRow(question, model, f"{choices[0]}, says {model}")


def on_choices(order, *, swapped=False):
    """Return the responses of two models whose samples of multiple choice have ids in an order."""
    rows = []
    for model, places in (("a", range(8)), ("b", order)):
        for item, place in enumerate(places):
            choices = (f"{place} is even", f"{place} is odd")
            if swapped and model == "b":
                choices = choices[::-1]
            rows.append(chosen(model, item, choices, f"{model}.x"))
    return rows


def items_of(rows, model):
    return [row.question.item for row in rows if row.model == model]


def test_choices_belong_to_the_question_of_a_response():
    order = [3, 1, 0, 2, 7, 6, 5, 4]
    paired = pair_rows(on_choices(order), {})
    assert [own.pairing for own in paired.findings] == []
    assert items_of(paired.rows, "b") == list(map(str, order))
    assert [note.code for note in paired.notes] == ["questions-by-input"]


def test_choices_of_other_questions_are_an_error_that_shows_them():
    with pytest.raises(OtherQuestionError, match="is even"):
        pair_rows(on_choices(range(100, 108)), {})


def test_choices_in_another_order_are_the_question_of_a_response():
    paired = pair_rows(on_choices(range(8), swapped=True), {})
    assert (paired.notes, items_of(paired.rows, "b")) == ((), list(map(str, range(8))))


def test_a_table_that_does_not_record_choices_is_paired_by_id():
    rows = on_choices(range(8))
    rows = [
        replace(row, question=replace(row.question, choices=())) if row.model == "b" else row
        for row in rows
    ]
    paired = pair_rows(rows, {})
    assert paired.notes == ()
    assert items_of(paired.rows, "b") == list(map(str, range(8)))


@pytest.mark.parametrize("column", ["category", "subset", "domain"])
def test_ids_that_begin_anew_in_each_category_are_named_by_it(save, column):
    paths = []
    for model in ("a", "b"):
        parts = [
            row | {column: name}
            for name, asked in (("times", QUESTIONS), ("rivers", OTHERS))
            for row in rows(model, asked)
        ]
        paths.append(save(f"{model}.jsonl", parts))
    read = read_responses(*paths)
    assert len(read.items) == 16
    assert {item.id for item in read.items} >= {"times:q0", "rivers:q0"}
    [note] = notice_texts(read.notes)
    assert "category and id together are the item (16 items)" in note


def test_an_id_with_two_questions_in_one_category_stays_an_error(save):
    parts = rows("a") + rows("a", OTHERS)
    with pytest.raises(DataError):
        read_responses(save("a.jsonl", [row | {"category": "one"} for row in parts]))
