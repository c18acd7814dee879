"""A comparison of the same verdicts or scores in every container, with and without answers in
it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

import podium as api
from podium.comparison.inputs import find_responses

CONTAINERS = ("csv", "csv.gz", "txt", "tsv", "parquet", "json", "jsonl", "jsonl.gz")


def write(frame: pd.DataFrame, path: Path) -> Path:
    """Write a table in the container that the suffix names; `.txt` is comma-separated."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        frame.to_parquet(path)
    elif name.endswith((".json", ".jsonl")):
        frame.to_json(path, orient="records", lines=name.endswith("l"))
    else:
        frame.to_csv(path, index=False, sep="\t" if name.endswith(".tsv") else ",")
    return path


def verdicts() -> pd.DataFrame:
    credit = [1.0, 1.0, 0.0] * 8
    items = [f"q{k}" for k in range(len(credit))]
    return pd.DataFrame({"item": items, "model_a": "x", "model_b": "y", "credit": credit})


def scored_answers(said: Callable[[str, int], str] = lambda name, k: f"{name} {k}") -> pd.DataFrame:
    """Return twelve items with both models' scores and answers; the first three answers are
    identical."""
    rows = [
        {
            "item": f"q{k}",
            "instruction": f"Say {k}.",
            "model": name,
            "score": float((k + len(name)) % 2),
            "response": f"{k}" if k < 3 else said(name, k),
        }
        for k in range(12)
        for name in ("new", "older")
    ]
    return pd.DataFrame(rows)


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("suffix", CONTAINERS)
def test_verdicts_are_compared_alike_in_every_container(tmp_path, suffix):
    found = api.compare("x", "y", write(verdicts(), tmp_path / f"verdicts.{suffix}"))
    assert found.findings[0].tally == (16, 8, 0)
    assert (
        found.unknown_answers == "no answers were found in the sources (add them with --responses)"
    )


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("suffix", CONTAINERS)
def test_answers_in_a_table_of_scores_are_found_in_every_container(tmp_path, suffix):
    found = api.compare("new", "older", write(scored_answers(), tmp_path / f"scores.{suffix}"))
    assert found.unknown_answers is None
    assert found.findings[0].identical == 3


@pytest.mark.slow
@pytest.mark.parametrize("source", [".", "*"])
def test_verdicts_of_a_folder_or_glob_with_several_containers_are_compared(tmp_path, source):
    rows = verdicts()
    write(rows[:10], tmp_path / "one.jsonl")
    write(rows[10:], tmp_path / "two.csv")
    assert api.compare("x", "y", str(tmp_path / source)).findings[0].tally == (16, 8, 0)


def test_the_number_of_a_response_in_a_table_of_verdicts_is_no_answer(tmp_path):
    """Battles of items with several responses have a column `response` that counts them."""
    path = write(verdicts().assign(response=1), tmp_path / "verdicts.jsonl")
    assert api.compare("x", "y", path).findings[0].tally == (16, 8, 0)


@pytest.mark.slow
def test_answers_that_cannot_be_read_are_named_and_do_not_end_the_comparison(tmp_path):
    table = scored_answers().drop(columns="instruction")
    found = api.compare("new", "older", write(table, tmp_path / "scores.jsonl"))
    assert found.findings[0].identical is None
    assert "item 'q0' has no instruction" in found.unknown_answers


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_changed_question_is_not_compared_and_flagged(tmp_path, suffix):
    table = scored_answers()
    table.loc[5, "instruction"] = "Say something else."
    found = api.compare("new", "older", write(table, tmp_path / f"scores.{suffix}"))
    assert (sum(found.findings[0].tally), found.findings[0].identical) == (11, 2)
    [flagged] = [check for check in found.checks if check.is_flagged]
    assert flagged.name == "same question"
    assert "Say something else." in str(flagged.fields)


def test_rank_rejects_scores_beside_different_references_as_compare_does(tmp_path, podium):
    table = scored_answers().assign(reference="Said.")
    table.loc[5, "reference"] = "Say something else."
    path = write(table, tmp_path / "scores.csv")
    ranked, compared = podium("rank", path), podium("compare", "new", "older", path)
    assert (ranked.code, compared.code) == (1, 1)
    assert ranked.err == compared.err
    for said in ("another reference", "'q2'", "'Say something else.'", "were asked the same"):
        assert said in ranked.err


@pytest.mark.slow
def test_prompts_without_answers_beside_may_differ(tmp_path):
    """They may be what a judge was asked about each answer."""
    table = scored_answers().drop(columns="response").rename(columns={"instruction": "prompt"})
    table["prompt"] += table["model"]
    assert len(api.read_battles(write(table, tmp_path / "scores.csv")).table) == 12


def test_questions_that_differ_in_outer_blanks_are_one(tmp_path):
    table = scored_answers()
    table.loc[5, "instruction"] += " \r\n"
    assert len(api.read_battles(write(table, tmp_path / "scores.jsonl")).table) == 12


def test_answers_under_two_system_prompts_are_no_error(tmp_path):
    """The prompt may be what a comparison varies: it is a setting of the runs."""
    table = scored_answers().assign(system=["Be brief.", "Be exact."] * 12)
    answers, reason = find_responses([str(write(table, tmp_path / "answers.jsonl"))], None)
    assert (answers is not None, reason) == (True, None)
    assert {run.system_instruction for run in answers.runs} == {"Be brief.", "Be exact."}


def annotations() -> Iterator[dict[str, object]]:
    """Yield rows as AlpacaEval writes them: preference 2 is a win of generator_2."""
    for k in range(12):
        yield {
            "instruction": f"Say {k}.",
            "output_1": "a",
            "generator_1": "base",
            "output_2": "b",
            "generator_2": "new",
            "annotator": "judge",
            "preference": 1.0 + (k % 3 > 0),
        }


def test_alpaca_evals_annotations_are_compared(tmp_path, podium):
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(list(annotations())))
    answer = podium("compare", "new", "base", path)
    assert answer.code == 0
    assert "8 wins, 4 losses, 0 ties by item." in answer.out


@pytest.mark.slow
def test_arena_hards_judgments_are_compared(tmp_path, podium):
    games = [("A>B", "B>A"), ("B>A", "A>B"), ("A=B", "A=B")] * 4
    rows = [
        {
            "uid": f"u{k}",
            "category": "hard_prompt",
            "judge": "judge",
            "model": "new",
            "baseline": "base",
            "games": [
                {"score": score, "judgment": {"answer": score}, "prompt": []} for score in game
            ],
        }
        for k, game in enumerate(games)
    ]
    path = tmp_path / "judgments.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert "4 wins, 4 losses, 4 ties by item." in podium("compare", "new", "base", path).out


@pytest.mark.slow
def test_mt_benchs_judgments_are_compared(tmp_path, podium):
    winners = ["model_1", "model_1", "model_2", "tie"] * 3
    rows = [
        {
            "question_id": 80 + k,
            "model_1": "alpha",
            "model_2": "beta",
            "g1_winner": winner,
            "g2_winner": winner,
            "judge": ["judge", "pair-v2"],
            "turn": 1,
        }
        for k, winner in enumerate(winners)
    ]
    path = tmp_path / "judgments.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert "6 wins, 3 losses, 3 ties by item." in podium("compare", "alpha", "beta", path).out
