"""Documents of lm-eval's runs are paired by their hashes, and what does not fit is named."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from asked_runs import simple_run, write_lm_eval_run
from lm_eval_output import TIME, Row, sample, write_run

import podium
from podium.check_results import Check, Result
from podium.errors import OtherQuestionError
from podium.notices.notice_text import notice_texts

A = [1.0, 1.0, 1.0, 0.0, 1.0, 0.0]
B = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
QUESTIONS = [f"question {k}" for k in range(6)]


def asked(questions: list[str], values: list[float], start: int = 0, **more: Any) -> list[Row]:
    """Return rows of documents at consecutive places of the data set."""
    return [
        sample(question, {"acc": value}, place=place, **more)
        for place, (question, value) in enumerate(zip(questions, values, strict=True), start)
    ]


def change_results(folder: Path, model: str, **content: Any) -> None:
    """Change the results file of a run."""
    path = folder / model / f"results_{TIME}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | content))


def check_questions_of(battles: podium.Battles) -> Check:
    """Return the check that all models were asked the same."""
    checks = podium.rank(battles).standings[0].checks
    [check] = [own for own in checks if own.name == "same question"]
    return check


def test_equal_documents_at_equal_places_are_the_same_questions(tmp_path: Path) -> None:
    for name, values in (("a", A), ("b", B)):
        write_run(tmp_path, name, {"t": asked(QUESTIONS, values)})
    battles = podium.read_battles(tmp_path)
    assert check_questions_of(battles).result is Result.OK
    assert not any("paired" in text for text in notice_texts(battles.notes))


def test_documents_in_another_order_are_paired_by_their_hashes(tmp_path: Path) -> None:
    write_run(tmp_path, "a", {"t": asked(QUESTIONS, A)})
    write_run(tmp_path, "b", {"t": asked(QUESTIONS[::-1], A[::-1])})
    battles = podium.read_battles(tmp_path)
    assert check_questions_of(battles).result is Result.OK
    assert set(battles.table["credit"]) == {0.5}
    assert any("items are paired by input" in text for text in notice_texts(battles.notes))


@pytest.mark.slow
def test_other_limits_are_no_other_questions(tmp_path: Path) -> None:
    write_run(tmp_path, "a", {"t": asked(QUESTIONS, A)})
    write_run(tmp_path, "b", {"t": asked(QUESTIONS[:4], B[:4])})
    battles = podium.read_battles(tmp_path)
    assert check_questions_of(battles).result is Result.OK
    assert not any("paired" in text for text in notice_texts(battles.notes))


@pytest.mark.slow
def test_documents_that_changed_are_flagged_and_named(tmp_path: Path) -> None:
    changed = [*QUESTIONS[:4], "question 4, mended", "question 5, mended"]
    write_run(tmp_path, "a", {"t": asked(QUESTIONS, A)})
    write_run(tmp_path, "b", {"t": asked(changed, B)})
    battles = podium.read_battles(tmp_path)
    check = check_questions_of(battles)
    assert (check.is_flagged, check.number, len(battles)) == (True, 2, 4)
    assert "item 4: 'question 4' and 'question 4, mended'" in check.finding_text


@pytest.mark.slow
def test_a_data_set_without_one_document_is_named(tmp_path: Path) -> None:
    """All later documents have other places."""
    write_run(tmp_path, "a", {"t": asked(QUESTIONS, A)})
    write_run(tmp_path, "b", {"t": asked(QUESTIONS[1:], B[1:])})
    battles = podium.read_battles(tmp_path)
    assert len(battles) == 5
    said = " ".join(notice_texts(battles.notes))
    assert "not all have the same documents (a: 6, b: 5); 5 are common to all" in said
    assert check_questions_of(battles).result is Result.OK


@pytest.mark.slow
def test_changed_documents_of_a_shuffled_set_are_counted_alone(tmp_path: Path) -> None:
    turned = [*QUESTIONS[::-1][:5], "another question"]
    write_run(tmp_path, "a", {"t": asked(QUESTIONS, A)})
    write_run(tmp_path, "b", {"t": asked(turned, B)})
    battles = podium.read_battles(tmp_path)
    check = check_questions_of(battles)
    assert (check.is_flagged, check.number, len(battles)) == (True, 1, 5)
    assert "1 of 6 ids" in check.finding_text
    assert "'another question'" in check.finding_text


def test_another_version_explains_that_no_document_is_shared(tmp_path: Path) -> None:
    write_run(tmp_path, "a", {"t": asked(QUESTIONS, A)})
    write_run(tmp_path, "b", {"t": asked([f"{text}?" for text in QUESTIONS], B)})
    change_results(tmp_path, "b", versions={"t": 2.0})
    battles = podium.read_battles(tmp_path)
    assert len(battles) == 6
    said = " ".join(notice_texts(battles.notes))
    assert "t: inputs differ between runs (task version), so items are paired by id" in said


def test_other_numbers_of_examples_do_not_explain_other_documents(tmp_path: Path) -> None:
    for name, text, shots in (("a", "{}", 0), ("b", "{}?", 5)):
        write_run(tmp_path, name, {"t": asked([text.format(q) for q in QUESTIONS], A)})
        change_results(tmp_path, name, **{"n-shot": {"t": shots}})
    with pytest.raises(OtherQuestionError, match=r"b has another input .*\('question 0\?'\)"):
        podium.read_battles(tmp_path)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("target", ["yes", "no"])
def test_other_documents_that_are_accepted_are_paired_by_their_places(
    tmp_path: Path, target: str
) -> None:
    write_run(tmp_path, "a", {"t": asked(QUESTIONS, A)})
    write_run(tmp_path, "b", {"t": asked([f"{q}?" for q in QUESTIONS], B, target=target)})
    with pytest.raises(OtherQuestionError, match="one version of the dataset"):
        podium.read_battles(tmp_path)
    battles = podium.read_battles(tmp_path, allow="questions")
    assert (len(battles), battles.counts().items) == (6, 6)
    assert battles.accepted[0].startswith("Accepted with allow='questions': b has another input")


def test_prompts_of_accepted_documents_are_no_other_prompt(tmp_path: Path) -> None:
    """They differ because the documents do."""
    write_run(tmp_path, "a", {"t": asked(QUESTIONS, A)})
    write_run(tmp_path, "b", {"t": asked([f"other {k}" for k in range(6)], B)})
    battles = podium.read_battles(tmp_path, allow="questions")
    checks = {own.name: own for own in podium.rank(battles).standings[0].checks}
    assert checks["same settings"].result is Result.OK
    assert checks["same question"].result is Result.NOT_KNOWN


def test_disjoint_parts_of_a_data_set_are_no_other_questions(tmp_path: Path) -> None:
    write_run(tmp_path, "a", {"t": asked(QUESTIONS, A)})
    write_run(tmp_path, "b", {"t": asked(QUESTIONS, B)})
    later = [f"question {k}" for k in range(6, 12)]
    write_run(tmp_path, "c", {"t": asked(later, A, start=6)})
    battles = podium.read_battles(tmp_path)
    assert battles.models == ("a", "b")
    assert "no document or target of c is in another's" in notice_texts(battles.lost)[0]


@pytest.mark.slow
def test_rows_without_places_are_paired_by_their_hashes(tmp_path: Path) -> None:
    for name, values in (("a", A), ("b", B)):
        rows = [row | {"doc_id": 0} for row in asked(QUESTIONS, values)]
        write_run(tmp_path, name, {"t": rows})
    assert check_questions_of(podium.read_battles(tmp_path)).result is Result.OK


@pytest.mark.slow
def test_rows_of_lmms_eval_without_hashes_are_not_known_to_be_the_same(tmp_path: Path) -> None:
    for name, values in (("a", A), ("b", B)):
        folder = tmp_path / name
        folder.mkdir()
        rows = [
            {"doc_id": k, "target": "x", "filtered_resps": ["y"], "input": "Which?", "score": own}
            for k, own in enumerate(values)
        ]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "20250115_103000_samples_mme.jsonl").write_text(lines)
    check = check_questions_of(podium.read_battles(tmp_path))
    assert check.result is Result.NOT_KNOWN
    assert "do not hold the inputs" in check.reason


def with_wide_blanks(text):
    """Return a text in which two signs stand for each blank."""
    return text.replace(" ", "\u00a0 ")


@pytest.mark.slow
@pytest.mark.parametrize("change", [partial(normalize, "NFD"), with_wide_blanks])
@pytest.mark.parametrize("some", ["", "1"])
def test_documents_in_another_form_or_with_other_blanks_are_the_same(
    podium, tmp_path, change, some
):
    """Hashes of these documents, prompts and targets differ; the questions do not."""
    first = simple_run("lab/a", [1.0] * 20 + [0.0] * 10)
    first = replace(first, inputs=tuple(f"Is the caf\u00e9 {k} open?" for k in range(30)))
    inputs = tuple(change(given) if some in given else given for given in first.inputs)
    second = replace(simple_run("lab/b", [1.0] * 10 + [0.0] * 20), inputs=inputs)
    for run in (first, second):
        write_lm_eval_run([run], tmp_path)
    done = podium("rank", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "30 items" in done.out
    assert "All three checks passed" in done.out
    compared = podium("compare", "lab/a", "lab/b", tmp_path)
    assert "30 items with both, 20 identical" in compared.out
